/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the node says of its system events (docs/events.md). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "events_internal.h"

#define MOST_INFO 32
#define MOST_WORDS (INT64_C(1) << 48)

static const struct refusal refusals[] = {
    {"session", "another beamtop watches the events of this node: stop that first"},
    {"late", "a scheduler does not answer: a NIF or BIF does not yield, and setting system events "
             "would stop the whole node until it does. Try again later"},
    {NULL, NULL},
};

/* {refused, {monitored, Text}}: the cursor is at the answer's start. */
static bool read_owner(struct cursor *c, struct events_armed *out)
{
    struct cursor at = *c;
    struct slice owner;
    if (!cursor_tuple_of(&at, 2) || !cursor_atom_is(&at, "refused") || !cursor_tuple_of(&at, 2) ||
        !cursor_atom_is(&at, "monitored") || !cursor_binary(&at, &owner))
        return false;
    snprintf(out->refused, sizeof out->refused,
             "another process has the system monitor, of which a node before OTP 28 has one: "
             "%.*s. Stop it first",
             (int)(owner.len < 250 ? owner.len : 250), owner.s);
    out->code = ERR_REFUSED;
    return true;
}

int decode_events_armed(struct events_armed *out, const uint8_t *term, size_t len,
                        struct error *err)
{
    struct cursor c;
    size_t arity = 0;
    struct slice place;
    *out = (struct events_armed){0};
    cursor_init(&c, term, len);
    if (read_owner(&c, out))
        return 0;
    bool ok = cursor_tuple(&c, &arity);
    if (ok && arity == 2)
        return cursor_end(
            &c, decode_refusal(&c, refusals, out->refused, sizeof out->refused, &out->code),
            "events", err);
    ok = ok && (arity == 4 || cursor_fail(&c, "four elements")) && cursor_atom_is(&c, "armed") &&
         cursor_int64(&c, &out->wall_us) && cursor_number(&c, &out->arm_us) &&
         cursor_atom(&c, &place);
    out->session = ok && slice_is(place, "session");
    return cursor_end(&c, ok, "events", err);
}

/* ---- An event */

static bool read_kind(struct cursor *c, struct system_event *e, enum system_event_kind *kind)
{
    struct slice word;
    if (!cursor_atom(c, &word))
        return false;
    *kind = system_event_find(word);
    if (*kind == SYSTEM_EVENTS)
        return cursor_fail(c, "a system event");
    return answer_copy(word, e->event, sizeof e->event);
}

static bool read_who(struct cursor *c, struct system_event *e)
{
    struct slice text;
    if (cursor_kind(c) == ETF_KIND_BINARY)
        return cursor_binary(c, &text) && answer_copy(text, e->who, sizeof e->who);
    e->has_pid = cursor_pid(c, &e->pid, NULL);
    if (e->has_pid)
        snprintf(e->who, sizeof e->who, PID_FORMAT, PID_NUMBERS(&e->pid));
    return e->has_pid;
}

/* {M, F, A}, or `undefined`. */
static bool read_place(struct cursor *c, char *out, size_t size)
{
    struct mfa mfa;
    if (cursor_kind(c) != ETF_KIND_TUPLE)
        return cursor_skip(c);
    if (!trace_read_mfa(c, &mfa))
        return false;
    snprintf(out, size, "%.*s:%.*s/%" PRId64, (int)(mfa.module.len < 70 ? mfa.module.len : 70),
             mfa.module.s, (int)(mfa.function.len < 70 ? mfa.function.len : 70), mfa.function.s,
             mfa.arity);
    return true;
}

static bool add_words(struct cursor *c, int64_t *sum)
{
    int64_t n = 0;
    if (!cursor_int64(c, &n) || n < 0 || n > MOST_WORDS)
        return cursor_fail(c, "a number of words");
    *sum = (*sum < 0 ? 0 : *sum) + n;
    return true;
}

/* Blocks are what a large heap is judged by; the words in use are left. */
static bool read_item(struct cursor *c, struct system_event *e)
{
    struct slice key, word;
    if (!cursor_tuple_of(c, 2) || !cursor_atom(c, &key))
        return false;
    if (slice_is(key, "timeout"))
        return cursor_int64(c, &e->ms);
    if (slice_is(key, "heap_block_size") || slice_is(key, "old_heap_block_size"))
        return add_words(c, &e->words);
    if (slice_is(key, "in"))
        return read_place(c, e->in, sizeof e->in);
    if (slice_is(key, "out"))
        return read_place(c, e->out, sizeof e->out);
    if (slice_is(key, "port_op"))
        return cursor_atom(c, &word) && answer_copy(word, e->out, sizeof e->out);
    return cursor_skip(c);
}

static bool read_items(struct cursor *c, struct system_event *e)
{
    struct cursor_list list;
    if (!answer_list(c, &list, MOST_INFO))
        return false;
    for (size_t i = 0; i < list.count; i++)
        if (!read_item(c, e))
            return false;
    return cursor_list_end(c, &list);
}

/* {Port, Driver}, {Port, Node | undefined} */
static bool read_busy(struct cursor *c, struct system_event *e)
{
    struct slice port, of;
    if (!cursor_tuple_of(c, 2) || !cursor_binary(c, &port) ||
        !(cursor_kind(c) == ETF_KIND_ATOM ? cursor_atom(c, &of) : cursor_binary(c, &of)))
        return false;
    answer_copy(port, e->port, sizeof e->port);
    return slice_is(of, "undefined") || answer_copy(of, e->peer, sizeof e->peer);
}

static bool read_state(struct cursor *c, struct system_event *e)
{
    bool is_long;
    if (!cursor_bool(c, &is_long))
        return false;
    snprintf(e->state, sizeof e->state, "%s", is_long ? "long" : "short");
    return true;
}

/* A number, true, or {Low, High}, of which the high one counts. */
static bool read_limit(struct cursor *c, int64_t *out)
{
    int64_t low;
    *out = 1;
    if (cursor_kind(c) == ETF_KIND_ATOM)
        return cursor_atom_is(c, "true");
    if (cursor_kind(c) == ETF_KIND_TUPLE && !(cursor_tuple_of(c, 2) && cursor_int64(c, &low)))
        return false;
    return cursor_int64(c, out) && (*out > 0 || cursor_fail(c, "a limit"));
}

/* {off, Kind, Dropped, PauseMs, Limit}, {on, Kind, Limit} */
static bool read_notice(struct cursor *c, struct system_event *e)
{
    int64_t pause_ms;
    enum system_event_kind kind;
    const bool off = cursor_peek_atom(c, "off");
    e->kind = off ? EVENT_OFF : EVENT_ON;
    snprintf(e->state, sizeof e->state, off ? "off" : "on");
    if (!cursor_skip(c) || !read_kind(c, e, &kind))
        return false;
    if (off && !(cursor_int64(c, &e->dropped) && cursor_int64(c, &pause_ms)))
        return false;
    return read_limit(c, &e->limit);
}

static bool read_info(struct cursor *c, struct system_event *e)
{
    switch (e->kind) {
    case EVENT_LONG_QUEUE:
        return read_state(c, e);
    case EVENT_BUSY_PORT:
    case EVENT_BUSY_DIST_PORT:
        return read_busy(c, e);
    default:
        return read_items(c, e);
    }
}

/* {WallUs, {Kind, Who, Info} | notice} */
static bool read_event(struct cursor *c, struct system_event *e)
{
    size_t arity = 0;
    *e = system_event_unknown;
    if (!cursor_tuple_of(c, 2) || !cursor_int64(c, &e->wall_us) || !cursor_tuple(c, &arity))
        return false;
    const bool notice = cursor_peek_atom(c, "off") || cursor_peek_atom(c, "on");
    if (!notice && arity != 3)
        return cursor_fail(c, "an event");
    if (!(notice ? read_notice(c, e)
                 : read_kind(c, e, &e->kind) && read_who(c, e) && read_info(c, e)))
        return false;
    system_event_complete(e);
    return true;
}

/* One that cannot be read is counted as missed. */
static bool read_events(struct cursor *c, struct events_taken *out)
{
    struct cursor_list list;
    struct cursor event;
    if (!answer_list(c, &list, ARRAY_LEN(out->events)))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!cursor_apart(c, &event))
            return false;
        if (read_event(&event, &out->events[out->n]))
            out->n++;
        else
            out->unread++;
    }
    return cursor_list_end(c, &list);
}

static bool read_limits(struct cursor *c, struct events_taken *out)
{
    struct cursor_list list;
    struct slice word;
    if (!answer_list(c, &list, SYSTEM_EVENTS))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        int64_t limit;
        if (!cursor_tuple_of(c, 2) || !cursor_atom(c, &word) || !read_limit(c, &limit))
            return false;
        const enum system_event_kind kind = system_event_find(word);
        if (kind < SYSTEM_EVENTS)
            out->limits[kind] = limit;
    }
    return cursor_list_end(c, &list);
}

int decode_events_taken(struct events_taken *out, const uint8_t *term, size_t len,
                        struct error *err)
{
    struct cursor c;
    struct slice why;
    size_t arity = 0;
    out->end = EVENTS_RUNNING;
    out->n = 0;
    out->seen = out->missed = out->unread = 0;
    for (size_t i = 0; i < SYSTEM_EVENTS; i++)
        out->limits[i] = 0;
    cursor_init(&c, term, len);
    struct cursor peek = c;
    if (cursor_tuple(&peek, &arity) && arity == 2 && cursor_atom_is(&peek, "refused"))
        return error_set(err, ERR_TARGET, "a helper process on the node ended");
    bool ok = cursor_tuple_of(&c, 6) && cursor_atom_is(&c, "took") && cursor_atom(&c, &why) &&
              cursor_uint64(&c, &out->seen) && cursor_uint64(&c, &out->missed) &&
              read_limits(&c, out) && read_events(&c, out);
    while (ok && out->end < EVENTS_ENDS && !slice_is(why, events_end_key(out->end)))
        out->end++;
    if (out->end == EVENTS_ENDS)
        out->end = EVENTS_KILLED;
    return cursor_end(&c, ok, "events", err);
}

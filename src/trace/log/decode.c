/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"

/* ---- Reads that all use */

bool answer_list(struct cursor *c, struct cursor_list *list, size_t most)
{
    if (!cursor_list(c, list))
        return false;
    if (list->string || list->count > most)
        return cursor_fail(c, list->string ? "a list of terms" : "a shorter list");
    return true;
}

bool trace_read_mfa(struct cursor *c, struct mfa *out)
{
    return cursor_tuple_of(c, 3) && cursor_atom(c, &out->module) &&
           cursor_atom(c, &out->function) && cursor_int64(c, &out->arity);
}

bool answer_copy(struct slice from, char *out, size_t size)
{
    size_t len = from.len < size - 1 ? from.len : size - 1;
    memcpy(out, from.s, len);
    out[len] = '\0';
    return true;
}

/* An atom as a word of the protocol. */
static bool read_word(struct cursor *c, char *out, size_t size)
{
    struct slice name;
    return cursor_atom(c, &name) && answer_copy(name, out, size);
}

/* ---- Pushed messages */

static bool read_index(struct cursor *c, unsigned *out)
{
    uint64_t index = 0;
    if (!cursor_uint64(c, &index))
        return false;
    *out = (unsigned)index;
    return index < LIMIT_TRACE_PATTERNS || cursor_fail(c, "a pattern's number");
}

static bool read_status(struct cursor *c, struct push *out)
{
    struct trace_status *s = &out->status;
    struct cursor_list list;
    bool ok = cursor_tuple_of(c, 8) && cursor_int64(c, &s->mono) &&
              read_word(c, s->shut, sizeof s->shut) && cursor_uint64(c, &s->window) &&
              cursor_uint64(c, &s->rate) && cursor_uint64(c, &s->bytes) &&
              cursor_uint64(c, &s->heap) && cursor_uint64(c, &s->mailbox) &&
              answer_list(c, &list, LIMIT_TRACE_PATTERNS);
    for (size_t i = 0; ok && i < list.count; i++) {
        struct status_pattern *p = &s->patterns[i];
        ok = cursor_tuple_of(c, 8) && read_index(c, &p->index) && cursor_uint64(c, &p->seen) &&
             cursor_uint64(c, &p->sent) && cursor_uint64(c, &p->filtered) &&
             cursor_uint64(c, &p->cut) && cursor_uint64(c, &p->over) &&
             cursor_uint64(c, &p->lost) && cursor_uint64(c, &p->open);
    }
    s->n_patterns = ok ? list.count : 0;
    return ok && cursor_list_end(c, &list);
}

static bool read_stack(struct cursor *c, struct pushed_event *out)
{
    struct cursor_list list;
    if (!answer_list(c, &list, 100000))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        struct mfa frame;
        if (!trace_read_mfa(c, &frame))
            return false;
        if (i < LIMIT_TRACE_STACK)
            out->stack[i] = frame;
    }
    out->event.n_stack = list.count < LIMIT_TRACE_STACK ? list.count : LIMIT_TRACE_STACK;
    out->event.stack = out->stack;
    return cursor_list_end(c, &list);
}

/* The head that calls and messages share, and its id. */
static bool read_head(struct cursor *c, struct trace_event *e)
{
    return cursor_uint64(c, &e->id) && read_index(c, &e->pattern) && cursor_pid(c, &e->pid, NULL) &&
           cursor_int64(c, &e->mono_ns);
}

static bool read_call(struct cursor *c, struct pushed_event *out)
{
    struct trace_event *e = &out->event;
    e->kind = EVENT_CALL;
    uint64_t depth = 0;
    bool ok =
        read_head(c, e) && trace_read_mfa(c, &e->mfa) &&
        ((cursor_peek_atom(c, "undefined") && cursor_skip(c)) || trace_read_mfa(c, &e->caller)) &&
        cursor_raw(c, &e->args.bytes) && read_stack(c, out) && cursor_uint64(c, &depth) &&
        cursor_uint64(c, &e->args.full_bytes);
    e->depth = depth < UINT32_MAX ? (unsigned)depth : UINT32_MAX;
    return ok;
}

static bool read_result(struct cursor *c, struct pushed_event *out)
{
    struct trace_event *e = &out->event;
    const bool raised = out->kind == PUSHED_EXCEPTION;
    e->outcome = raised ? OUTCOME_EXCEPTION : OUTCOME_RETURN;
    return cursor_uint64(c, &e->id) && cursor_int64(c, &e->mono_ns) &&
           (!raised || cursor_atom(c, &e->class)) && cursor_raw(c, &e->result.bytes) &&
           cursor_uint64(c, &e->result.full_bytes);
}

static bool read_send(struct cursor *c, struct pushed_event *out)
{
    struct trace_event *e = &out->event;
    e->kind = EVENT_SEND;
    bool exists = true;
    bool ok = read_head(c, e) && cursor_raw(c, &e->to.bytes) && cursor_raw(c, &e->message.bytes) &&
              cursor_bool(c, &exists) && cursor_uint64(c, &e->message.full_bytes);
    e->no_receiver = !exists;
    return ok;
}

static bool read_receive(struct cursor *c, struct pushed_event *out)
{
    struct trace_event *e = &out->event;
    e->kind = EVENT_RECEIVE;
    return read_head(c, e) && cursor_raw(c, &e->message.bytes) &&
           cursor_uint64(c, &e->message.full_bytes);
}

static bool read_lost_time(struct cursor *c, struct pushed_event *out)
{
    struct trace_event *e = &out->event;
    e->kind = EVENT_LOST;
    return cursor_int64(c, &e->mono_ns) && cursor_int64(c, &e->until_ns) &&
           read_word(c, e->why, sizeof e->why);
}

static bool read_off_cpu(struct cursor *c, struct pushed_event *out)
{
    struct off_cpu *o = &out->off;
    return cursor_int64(c, &o->from_ns) && cursor_int64(c, &o->until_ns) &&
           (cursor_kind(c) == ETF_KIND_TUPLE ? trace_read_mfa(c, &o->mfa) : cursor_skip(c)) &&
           read_word(c, o->why, sizeof o->why) && cursor_uint64(c, &o->times) &&
           cursor_uint64(c, &o->total_ns);
}

static bool read_follow(struct cursor *c, struct pushed_event *out)
{
    return cursor_int64(c, &out->off.from_ns) && cursor_bool(c, &out->follow);
}

static const struct {
    const char *tag;
    size_t arity;
    enum pushed_kind kind;
    bool (*read)(struct cursor *c, struct pushed_event *out);
} events[] = {
    {"c", 11, PUSHED_CALL, read_call},       {"r", 5, PUSHED_RETURN, read_result},
    {"x", 6, PUSHED_EXCEPTION, read_result}, {"s", 9, PUSHED_SEND, read_send},
    {"v", 7, PUSHED_RECEIVE, read_receive},  {"l", 4, PUSHED_LOST, read_lost_time},
    {"o", 7, PUSHED_OFF_CPU, read_off_cpu},  {"q", 3, PUSHED_FOLLOW, read_follow},
};

static bool read_trace_event(struct cursor *c, struct pushed_event *out)
{
    out->event = (struct trace_event){0};
    out->off = (struct off_cpu){0};
    size_t arity = 0;
    char tag[8];
    if (!cursor_tuple(c, &arity) || !read_word(c, tag, sizeof tag))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        if (strcmp(events[i].tag, tag) == 0 && events[i].arity == arity) {
            out->kind = events[i].kind;
            return events[i].read(c, out);
        }
    }
    return cursor_fail(c, "an event");
}

bool decode_event(struct push *p, struct pushed_event *out)
{
    struct cursor event;
    return cursor_apart(&p->at, &event) && read_trace_event(&event, out);
}

bool decode_one_event(struct pushed_event *out, const uint8_t *term, size_t len)
{
    struct cursor c;
    *out = (struct pushed_event){0};
    cursor_init(&c, term, len);
    return read_trace_event(&c, out) && cursor_at_end(&c);
}

static bool read_batch(struct cursor *c, struct push *out)
{
    struct cursor_list list;
    if (!answer_list(c, &list, LIMIT_TRACE_EVENTS * 4))
        return false;
    out->at = *c;
    out->n_events = list.count;
    for (size_t i = 0; i < list.count; i++)
        if (!cursor_skip(c))
            return false;
    return cursor_list_end(c, &list) && read_status(c, out);
}

static bool read_numbers(struct cursor *c, bool is_time, counts_fn *fn, void *arg)
{
    struct cursor_list patterns, numbers;
    if (!answer_list(c, &patterns, LIMIT_TRACE_PATTERNS))
        return false;
    for (size_t i = 0; i < patterns.count; i++) {
        unsigned index = 0;
        if (!cursor_tuple_of(c, 2) || !read_index(c, &index) || !cursor_list(c, &numbers))
            return false;
        for (size_t nth = 0; nth < numbers.count; nth++) {
            int64_t n = 0;
            if (!cursor_list_int64(c, &numbers, &n))
                return false;
            if (fn)
                fn(arg, index, nth, is_time, n < 0 ? COUNT_GONE : (uint64_t)n);
        }
        if (!cursor_list_end(c, &numbers))
            return false;
    }
    return cursor_list_end(c, &patterns);
}

void decode_counts(struct push *p, counts_fn *fn, void *arg)
{
    struct cursor at = p->at;
    if (read_numbers(&at, false, fn, arg))
        read_numbers(&at, true, fn, arg);
}

static bool read_trace_counts(struct cursor *c, struct push *out)
{
    if (!cursor_int64(c, &out->mono))
        return false;
    out->at = *c;
    return read_numbers(c, false, NULL, NULL) && read_numbers(c, true, NULL, NULL);
}

static const struct {
    const char *word;
    enum trace_end end;
} ends[] = {
    {"time", END_TIME}, {"events", END_EVENTS},   {"rate", END_RATE}, {"bytes", END_BYTES},
    {"heap", END_HEAP}, {"stopped", END_STOPPED}, {"gone", END_GONE},
};

static bool read_ended(struct cursor *c, struct push *out)
{
    if (cursor_kind(c) == ETF_KIND_TUPLE) {
        struct slice why;
        out->end = END_KILLED;
        return cursor_tuple_of(c, 2) && cursor_atom_is(c, "killed") && cursor_binary(c, &why) &&
               answer_copy(why, out->end_text, sizeof out->end_text) && read_status(c, out);
    }
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        if (cursor_peek_atom(c, ends[i].word)) {
            out->end = ends[i].end;
            return cursor_skip(c) && read_status(c, out);
        }
    }
    return cursor_fail(c, "why the trace has ended");
}

static const struct {
    const char *tag;
    size_t arity;
    enum push_kind kind;
    bool (*read)(struct cursor *c, struct push *out);
} pushes[] = {
    {"batch", 3, PUSH_BATCH, read_batch},          {"status", 2, PUSH_STATUS, read_status},
    {"counts", 4, PUSH_COUNTS, read_trace_counts}, {"settled", 4, PUSH_SETTLED, read_trace_counts},
    {"ended", 3, PUSH_ENDED, read_ended},
};

static bool read_push(struct cursor *c, struct push *out)
{
    size_t arity = 0;
    char tag[16];
    if (!cursor_tuple_of(c, 4) || !cursor_atom_is(c, "t") || !cursor_uint64(c, &out->trace_id) ||
        !cursor_uint64(c, &out->seq) || !cursor_tuple(c, &arity) || !read_word(c, tag, sizeof tag))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(pushes); i++) {
        if (strcmp(pushes[i].tag, tag) == 0 && pushes[i].arity == arity) {
            out->kind = pushes[i].kind;
            return pushes[i].read(c, out);
        }
    }
    return cursor_fail(c, "a trace's message");
}

int decode_push(struct push *out, const uint8_t *term, size_t len, struct error *err)
{
    *out = (struct push){0};
    struct cursor c;
    cursor_init(&c, term, len);
    if (read_push(&c, out) && (cursor_at_end(&c) || cursor_fail(&c, "the end")))
        return 0;
    return error_set(err, ERR_FORMAT, "a message of the trace is not understood: %s", c.err.text);
}

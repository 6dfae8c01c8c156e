/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "event_term.h"

#include "beamtop/base/limits.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/check.h"
#include "tables.h"

static void put_atom(struct builder *b, struct slice name)
{
    build_atom_n(b, name.s ? name.s : "", name.len);
}

static void put_mfa(struct builder *b, const struct mfa *mfa)
{
    build_tuple(b, 3);
    put_atom(b, mfa->module);
    put_atom(b, mfa->function);
    build_int(b, mfa->arity);
}

static void put_raw(struct builder *b, struct slice term)
{
    if (term.s)
        build_raw(b, (const uint8_t *)term.s, term.len);
    else
        build_nil(b);
}

static void put_text(struct builder *b, struct slice text)
{
    if (text.s)
        build_binary(b, text.s, text.len);
    else
        build_nil(b);
}

static void put_value(struct builder *b, const struct kept_term *value, struct slice shown,
                      bool whole)
{
    if (whole)
        put_raw(b, value->bytes);
    else
        put_text(b, shown);
}

static void put_args(struct builder *b, const struct trace_event *e, const struct trace_line *line,
                     bool whole)
{
    if (whole) {
        put_raw(b, e->args.bytes);
        return;
    }
    build_list(b, line->n_args);
    for (size_t i = 0; i < line->n_args; i++)
        put_text(b, line->args[i]);
    build_nil(b);
}

static void put_head(struct builder *b, const char *tag, size_t arity, const char *node,
                     const struct trace_event *e)
{
    build_tuple(b, arity);
    build_atom(b, tag);
    build_int(b, (int64_t)e->id);
    build_int(b, e->pattern);
    build_pid(b, node, &e->pid);
    build_int(b, e->mono_ns);
}

static void put_call(struct builder *b, const char *node, const struct trace_event *e,
                     const struct trace_line *line, bool whole)
{
    put_head(b, "c", 11, node, e);
    put_mfa(b, &e->mfa);
    if (e->caller.module.len > 0)
        put_mfa(b, &e->caller);
    else
        build_atom(b, "undefined");
    put_args(b, e, line, whole);
    build_list(b, e->n_stack);
    for (size_t i = 0; i < e->n_stack; i++)
        put_mfa(b, &e->stack[i]);
    build_nil(b);
    build_int(b, e->depth);
    build_int(b, (int64_t)e->args.full_bytes);
}

static void put_result(struct builder *b, const struct trace_event *e,
                       const struct trace_line *line, bool whole)
{
    bool raised = e->outcome == OUTCOME_EXCEPTION;
    build_tuple(b, raised ? 6 : 5);
    build_atom(b, raised ? "x" : "r");
    build_int(b, (int64_t)e->id);
    build_int(b, e->mono_ns + (int64_t)e->latency_ns);
    if (raised)
        put_atom(b, e->class);
    put_value(b, &e->result, line->result, whole);
    build_int(b, (int64_t)e->result.full_bytes);
}

static void put_message(struct builder *b, const char *node, const struct trace_event *e,
                        const struct trace_line *line, bool whole)
{
    bool sent = e->kind == EVENT_SEND;
    put_head(b, sent ? "s" : "v", sent ? 9 : 7, node, e);
    if (sent)
        put_value(b, &e->to, line->to, whole);
    put_value(b, &e->message, line->message, whole);
    if (sent)
        build_bool(b, !e->no_receiver);
    build_int(b, (int64_t)e->message.full_bytes);
}

struct slice event_term_make(struct arena *arena, const char *node, const struct trace_event *e,
                             const struct trace_line *line, bool finished, bool whole)
{
    struct builder *b = builder_new();
    size_t len = 0;
    if (e->kind == EVENT_LOST) {
        build_tuple(b, 4);
        build_atom(b, "l");
        build_int(b, e->mono_ns);
        build_int(b, e->until_ns);
        build_atom(b, e->why);
    } else if (e->kind != EVENT_CALL) {
        put_message(b, node, e, line, whole);
    } else if (finished) {
        put_result(b, e, line, whole);
    } else {
        put_call(b, node, e, line, whole);
    }
    const char *bytes = (const char *)builder_bytes(b, &len);
    struct slice kept = slice_keep(arena, (struct slice){bytes + 1, len - 1});
    builder_free(b);
    return kept;
}

void event_term_without_values(struct trace_event *e)
{
    static const char none[] = "m\0\0\0\16(not recorded)"; /* BINARY_EXT, its length, 14 bytes */
    static const struct slice text = {none, sizeof none - 1};
    e->args.bytes = (struct slice){NULL, 0};
    e->result.bytes = e->message.bytes = text;
}

bool event_term_read(struct slice term, struct pushed_event *out)
{
    struct error ignored = {0};
    size_t used = 0;
    const uint8_t *bytes = (const uint8_t *)term.s;
    return term.len > 0 && term.len <= LIMIT_FRAME_BYTES &&
           etf_check_bare(bytes, term.len, &used, &ignored) == 0 && used == term.len &&
           decode_one_event(out, bytes, term.len) && time_is_sound(out->event.mono_ns) &&
           time_is_sound(out->event.until_ns);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a recorded trace, back to the events that they were. */
#include <math.h>
#include <stdio.h>

#include "beamtop/etf/build.h"
#include "recorded_log_internal.h"
#include "trace_columns.h"

static struct slice or_not_recorded(struct slice text)
{
    static const char none[] = "(not recorded)";
    return text.len > 0 ? text : (struct slice){none, sizeof none - 1};
}

/* In the arena, without the version byte. */
static struct kept_term kept(struct recorded_log *l, struct builder *b, int64_t full_bytes)
{
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(b, &len);
    const char *copy = arena_strndup(&l->arena, (const char *)bytes + 1, len - 1);
    builder_free(b);
    return (struct kept_term){.bytes = {copy, len - 1},
                              .full_bytes = full_bytes > 0 ? (uint64_t)full_bytes : 0};
}

static struct kept_term told(struct recorded_log *l, struct slice text, int64_t full_bytes)
{
    struct builder *b = builder_new();
    build_binary(b, text.s, text.len);
    return kept(l, b, full_bytes);
}

static struct kept_term told_args(struct recorded_log *l, const struct trace_line *line)
{
    struct builder *b = builder_new();
    if (line->n_args > 0)
        build_list(b, line->n_args);
    for (size_t i = 0; i < line->n_args; i++)
        build_binary(b, line->args[i].s ? line->args[i].s : "", line->args[i].len);
    build_nil(b);
    return kept(l, b, line->full_bytes);
}

struct mfa recorded_log_mfa(struct recorded_log *l, struct slice text)
{
    struct pattern *p = NULL;
    struct error ignored = {.code = ERR_NONE};
    struct mfa mfa = {.function = text};
    if (text.len == 0 || pattern_parse(&p, text.s, text.len, l->syntax, NULL, &ignored) != 0)
        return mfa;
    struct slice module = p->module.text, function = p->function.text;
    if (p->kind == PATTERN_CALL && p->module.kind == NAME_EXACT && p->function.kind == NAME_EXACT &&
        p->arity >= 0)
        mfa = (struct mfa){.module = slice_keep(&l->arena, module),
                           .function = slice_keep(&l->arena, function),
                           .arity = p->arity};
    pattern_free(p);
    return mfa;
}

static struct etf_pid read_pid(struct slice text)
{
    struct etf_pid pid = {.id = 0};
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)(text.len < 60 ? text.len : 60), text.s ? text.s : "");
    if (sscanf(copy, "<%*10u.%10u.%10u>", &pid.id, &pid.serial) != 2)
        pid = (struct etf_pid){.id = 0};
    return pid;
}

static uint64_t known(int64_t v)
{
    return v > 0 ? (uint64_t)v : 0;
}

static void read_call(struct recorded_log *l, struct trace_event *e, const struct trace_line *line)
{
    struct mfa *stack = arena_alloc(&l->arena, (line->n_stack + 1) * sizeof *stack);
    const struct pattern *p = e->pattern < l->n_patterns ? l->patterns[e->pattern] : NULL;
    e->kind = EVENT_CALL;
    e->mfa = recorded_log_mfa(l, line->mfa);
    e->caller = recorded_log_mfa(l, line->caller);
    e->depth = (unsigned)known(line->depth);
    e->shown_only = line->shown_only;
    e->outcome = p && p->actions & TRACE_RETURN ? OUTCOME_OPEN : OUTCOME_NONE;
    if (line->has_args)
        e->args = told_args(l, line);
    e->n_stack = line->n_stack < LIMIT_TRACE_STACK ? line->n_stack : LIMIT_TRACE_STACK;
    for (size_t i = 0; i < e->n_stack; i++)
        stack[i] = recorded_log_mfa(l, line->stack[i]);
    e->stack = stack;
}

static void read_message(struct recorded_log *l, struct trace_event *e,
                         const struct trace_line *line)
{
    e->kind = line->kind == LINE_SEND ? EVENT_SEND : EVENT_RECEIVE;
    e->message = told(l, or_not_recorded(line->message), line->full_bytes);
    e->no_receiver = line->no_receiver;
    if (line->kind == LINE_SEND)
        e->to = told(l, or_not_recorded(line->to), 0);
}

static void read_lost(struct trace_event *e, const struct trace_line *line)
{
    int64_t most_us = INT64_C(86400) * 1000000;
    int64_t us = line->duration_us < most_us ? line->duration_us : most_us;
    e->kind = EVENT_LOST;
    e->lost = known(line->lost);
    e->at_most = line->at_most;
    bool known_us = us > 0 && e->mono_ns < INT64_MAX - us * 1000;
    e->until_ns = known_us ? e->mono_ns + us * 1000 : e->mono_ns;
    snprintf(e->why, sizeof e->why, "%.*s", (int)(line->why.len < 31 ? line->why.len : 31),
             line->why.s ? line->why.s : "");
}

static void add_result(struct recorded_log *l, const struct trace_line *line)
{
    const struct trace_event *call = trace_log_find(l->log, known(line->id));
    struct kept_term value = told(l, or_not_recorded(line->result), line->full_bytes);
    enum event_outcome outcome = line->kind == LINE_RETURN ? OUTCOME_RETURN : OUTCOME_EXCEPTION;
    double us = line->latency_us;
    int64_t ns = us > 0 && us < 1e12 ? llround(us * 1000) : 0;
    if (call && call->kind == EVENT_CALL && call->mono_ns < INT64_MAX - ns)
        trace_log_finish(l->log, call->id, outcome, line->class, &value, call->mono_ns + ns);
}

static void add_line(struct recorded_log *l, const struct trace_line *line)
{
    struct trace_event e = {.id = known(line->id),
                            .wall_us = line->wall_us,
                            .mono_ns = line->mono_ns,
                            .pid = read_pid(line->pid),
                            .name = line->name,
                            .pattern = recorded_log_pattern(l, line->pattern_text)};
    switch (line->kind) {
    case LINE_RETURN:
    case LINE_EXCEPTION:
        add_result(l, line);
        return;
    case LINE_CALL:
        read_call(l, &e, line);
        break;
    case LINE_SEND:
    case LINE_RECEIVE:
        read_message(l, &e, line);
        break;
    case LINE_LOST:
    case LINE_KINDS:
        read_lost(&e, line);
        break;
    }
    trace_log_add(l->log, &e);
}

int recorded_log_events(struct recorded_log *l, struct recording *r, int64_t until,
                        struct error *err)
{
    sqlite3_stmt *s = NULL;
    struct buf sql;
    buf_init(&sql, 0);
    buf_puts(&sql, "SELECT ");
    trace_columns_select(&sql);
    buf_puts(&sql, " FROM event WHERE trace = ? AND tick > ? AND tick <= ? ORDER BY id");
    int rc = db_prepare(r->db, &s, buf_cstr(&sql), err);
    buf_clear(&sql);
    if (rc != 0)
        return rc;
    sqlite3_bind_int64(s, 1, l->trace);
    sqlite3_bind_int64(s, 2, l->tick);
    sqlite3_bind_int64(s, 3, until);
    while (recording_row(r, s)) {
        struct trace_line line;
        arena_reset(&l->arena);
        if (trace_columns_read(s, &line, &l->arena)) /* else of a later program */
            add_line(l, &line);
    }
    sqlite3_finalize(s);
    return recording_failed(r, err);
}

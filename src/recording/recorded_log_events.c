/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events of a recorded trace, by the decoder of a live one, into the log. */
#include "event_term.h"
#include "recorded_log_internal.h"

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

static void add_begun(struct recorded_log *l, struct trace_event *e)
{
    const struct pattern *p = e->pattern < l->n_patterns ? l->patterns[e->pattern] : NULL;
    e->outcome =
        e->kind == EVENT_CALL && p && p->actions & TRACE_RETURN ? OUTCOME_OPEN : OUTCOME_NONE;
    trace_log_add(l->log, e);
}

static void add_event(struct recorded_log *l, sqlite3_stmt *s)
{
    struct slice term = {sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0)};
    struct pushed_event pushed;
    struct trace_event *e = &pushed.event;
    if (!event_term_read(term, &pushed))
        return; /* of a later program, or damaged */
    e->wall_us = db_column_int(s, 1);
    e->name = db_column_text(s, 2);
    e->lost = (uint64_t)db_column_count(s, 3);
    e->at_most = sqlite3_column_int(s, 4) != 0;
    if (!l->has_values)
        e->args.bytes = (struct slice){NULL, 0};
    if (pushed.kind == PUSHED_RETURN || pushed.kind == PUSHED_EXCEPTION)
        trace_log_finish(l->log, e->id, e->outcome, e->class, &e->result, e->mono_ns);
    else
        add_begun(l, e);
}

static const char events_sql[] =
    "SELECT term, wall_us, (SELECT text FROM text WHERE id = event.name), lost, at_most"
    " FROM event WHERE trace = ? AND tick > ? AND tick <= ? ORDER BY id";

int recorded_log_events(struct recorded_log *l, struct recording *r, int64_t until,
                        struct error *err)
{
    sqlite3_stmt *s = NULL;
    l->has_values = r->info.values || r->info.redacted;
    l->has_terms = recording_ask(r, &s, events_sql);
    if (!l->has_terms)
        return recording_failed(r, err);
    sqlite3_bind_int64(s, 1, l->trace);
    sqlite3_bind_int64(s, 2, l->tick);
    sqlite3_bind_int64(s, 3, until);
    while (recording_row(r, s))
        add_event(l, s);
    sqlite3_finalize(s);
    return recording_failed(r, err);
}

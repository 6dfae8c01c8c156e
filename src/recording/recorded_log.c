/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which trace of a recording a tick has, and what was known of it then. */
#include "beamtop/recording/recorded_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/output/json.h"
#include "beamtop/output/trace_line.h"
#include "event_term.h"
#include "recording_internal.h"

struct recorded_log {
    struct trace_log *log; /* NULL: none */
    struct pattern *patterns[LIMIT_TRACE_PATTERNS];
    size_t n_patterns;
    enum syntax syntax;
    int64_t trace;      /* that it is of */
    bool has_values;    /* or their shapes */
    bool has_terms;     /* its events are terms: not before format 3 */
    int64_t tick;       /* up to which its events are in it; INT64_MAX: all */
    struct arena row;   /* of the row of `trace` that is read … */
    struct arena arena; /* … and of events and its end, until they are in the log */
};

struct recorded_log *recorded_log_new(void)
{
    struct recorded_log *l = alloc_zero(1, sizeof *l);
    arena_init(&l->row);
    arena_init(&l->arena);
    return l;
}

static void forget_trace(struct recorded_log *l)
{
    trace_log_free(l->log);
    for (size_t i = 0; i < l->n_patterns; i++)
        pattern_free(l->patterns[i]);
    l->log = NULL;
    l->n_patterns = 0;
    l->trace = 0;
    l->tick = 0;
}

void recorded_log_free(struct recorded_log *l)
{
    if (!l)
        return;
    forget_trace(l);
    arena_clear(&l->row);
    arena_clear(&l->arena);
    free(l);
}

const struct trace_log *recorded_log_trace(const struct recorded_log *l)
{
    return l->log;
}

/* ---- its patterns */

/* n_patterns: none. */
static unsigned find_pattern(const struct recorded_log *l, struct slice text)
{
    unsigned at = 0;
    while (at < l->n_patterns && !slice_equal(l->patterns[at]->typed, text))
        at++;
    return at;
}

/* Of a later program, or damaged: its text is all that is known of it. */
static struct pattern *unread_pattern(struct slice text)
{
    static const char stand_in[] = "any:any";
    struct pattern *p = NULL;
    struct error ignored = {0};
    if (pattern_parse(&p, stand_in, sizeof stand_in - 1, SYNTAX_ERLANG, NULL, &ignored) != 0)
        return NULL;
    p->typed = slice_keep(&p->arena, text);
    p->kind = slice_begins(text, "send(")      ? PATTERN_SEND
              : slice_begins(text, "receive(") ? PATTERN_RECEIVE
                                               : PATTERN_CALL;
    return p;
}

static struct pattern *read_pattern(const struct recorded_log *l, struct slice text)
{
    struct pattern *p = NULL;
    struct error ignored = {0};
    if (pattern_parse(&p, text.s, text.len, l->syntax, NULL, &ignored) == 0 ||
        pattern_parse(&p, text.s, text.len, SYNTAX_AUTO, NULL, &ignored) == 0)
        return p;
    return unread_pattern(text);
}

static void add_patterns(struct recorded_log *l, struct slice json)
{
    json_t *array = json.len == 0 ? NULL : json_loadb(json.s, json.len, 0, NULL);
    for (size_t i = 0; i < json_array_size(array) && l->n_patterns < LIMIT_TRACE_PATTERNS; i++) {
        struct slice text = json_read_slice(&l->arena, json_array_get(array, i));
        struct pattern *p = text.len > 0 ? read_pattern(l, text) : NULL;
        if (!p)
            continue;
        l->patterns[l->n_patterns++] = p;
        trace_log_add_pattern(l->log, p);
    }
    json_decref(array);
}

/* ---- its events, by the decoder of a live trace */

/* As the trace spelled it. What cannot be read is a function's name without a module. */
static struct mfa read_mfa(struct recorded_log *l, struct slice text)
{
    struct pattern *p = NULL;
    struct error ignored = {0};
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

static void log_event(struct recorded_log *l, sqlite3_stmt *s)
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
    e->shown_only = sqlite3_column_int(s, 5) != 0;
    if (!l->has_values)
        event_term_without_values(e);
    if (pushed.kind == PUSHED_RETURN || pushed.kind == PUSHED_EXCEPTION)
        trace_log_finish(l->log, e->id, e->outcome, e->class, &e->result, e->mono_ns);
    else
        add_begun(l, e);
}

static const char events_sql[] =
    "SELECT term, wall_us, (SELECT text FROM text WHERE id = event.name), lost, at_most,"
    " shown_only FROM event WHERE trace = ? AND tick > ? AND tick <= ? ORDER BY id";

static int add_events(struct recorded_log *l, struct recording *r, int64_t until, struct error *err)
{
    sqlite3_stmt *s = recording_ask(r, events_sql, NUMBERS(l->trace, l->tick, until));
    l->has_values = r->info.values || r->info.redacted;
    l->has_terms = s != NULL;
    while (recording_row(r, s))
        log_event(l, s);
    sqlite3_finalize(s);
    return recording_failed(r, err);
}

/* ---- its state */

static uint64_t known_count(int64_t v)
{
    return v > 0 ? (uint64_t)v : 0;
}

static void read_counts(struct trace_counts *c, const struct trace_tally *t)
{
    uint64_t *const counts[] = {&c->calls, &c->seen, &c->shown,  &c->filtered, &c->cut,
                                &c->over,  &c->lost, &c->missed, &c->open,     &c->time_us};
    *c = t->counts;
    c->calls_known = (int64_t)c->calls >= 0;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        *counts[i] = known_count((int64_t)*counts[i]);
}

static void set_functions(struct recorded_log *l, const struct trace_ending *e)
{
    struct trace_function *all = arena_alloc(&l->arena, (e->n_functions + 1) * sizeof *all);
    for (size_t i = 0; i < e->n_functions; i++)
        all[i] = (struct trace_function){.mfa = read_mfa(l, e->functions[i].mfa),
                                         .pattern = find_pattern(l, e->functions[i].pattern),
                                         .calls = known_count(e->functions[i].calls),
                                         .time_us = known_count(e->functions[i].time_us)};
    trace_log_set_functions(l->log, all, e->n_functions);
}

static enum trace_end read_reason(struct slice reason)
{
    for (enum trace_end end = END_TIME; end <= END_GONE; end++)
        if (slice_is(reason, trace_end_name(end)))
            return end;
    return END_NONE;
}

/* The caps are in its end, and held from its start. */
static void set_setup(struct recorded_log *l, const struct trace_ending *e)
{
    struct trace_state *s = trace_log_state_edit(l->log);
    s->caps = e->caps;
    s->isolated = e->isolated;
    s->preflight = e->preflight;
    slice_to_chars(e->note, s->note, sizeof s->note);
    for (size_t i = 0; i < e->n_patterns; i++) {
        unsigned at = find_pattern(l, e->patterns[i].pattern);
        if (at < l->n_patterns)
            trace_log_pattern_edit(l->log, at)->functions = known_count(e->patterns[i].functions);
    }
}

static void set_ending(struct recorded_log *l, const struct trace_ending *e)
{
    struct trace_state *s = trace_log_state_edit(l->log);
    bool armed = trace_ending_armed(e);
    s->status.phase = armed ? SESSION_ENDED : SESSION_FAILED;
    s->end = read_reason(e->reason);
    s->status.check = e->check;
    slice_to_chars(e->reason_text.len > 0 ? e->reason_text : e->reason, s->end_text,
                   sizeof s->end_text);
    if (!armed)
        error_set(&s->status.error, ERR_TARGET, "%s", s->end_text);
    s->used[CAP_TIME_MS] = known_count(e->elapsed_ms);
    s->used[CAP_BYTES] = known_count(e->bytes);
    read_counts(&s->total, &e->total);
    s->used[CAP_EVENTS] = s->total.shown;
    for (size_t i = 0; i < e->n_patterns; i++) {
        unsigned at = find_pattern(l, e->patterns[i].pattern);
        if (at < l->n_patterns)
            read_counts(&trace_log_pattern_edit(l->log, at)->counts, &e->patterns[i]);
    }
    set_functions(l, e);
}

static void set_running(struct recorded_log *l, const struct trace_row *f, int64_t wall_us,
                        bool is_last)
{
    struct trace_state *s = trace_log_state_edit(l->log);
    s->status.phase = SESSION_RUNNING;
    bool timed = f->wall_us > 0 && wall_us > f->wall_us;
    s->used[CAP_TIME_MS] = timed ? known_count((wall_us - f->wall_us) / 1000) : 0;
    s->used[CAP_EVENTS] = s->total.shown;
    if (is_last)
        snprintf(s->note, sizeof s->note, "the recording ends before it does");
}

/* ---- which it is */

static int find_trace(struct recorded_log *l, struct recording *r, int64_t tick,
                      struct trace_row *out, struct error *err)
{
    sqlite3_stmt *s =
        recording_select(r, TABLE_TRACE, " WHERE tick <= ? ORDER BY id DESC LIMIT 1", &tick);
    *out = (struct trace_row){0};
    if (recording_row(r, s))
        (void)tables_read(s, TABLE_TRACE, &l->row, out); /* a number that cannot be is unknown */
    sqlite3_finalize(s);
    return recording_failed(r, err);
}

static void begin_log(struct recorded_log *l, const struct trace_row *f, bool values)
{
    struct trace_log *log = trace_log_new(LIMIT_TRACE_EVENTS, LIMIT_TRACE_KEPT_BYTES);
    forget_trace(l); /* after that: its address may be that of the one before */
    l->trace = f->id;
    l->syntax = slice_is(f->syntax, "elixir") ? SYNTAX_ELIXIR : SYNTAX_ERLANG;
    l->log = log;
    struct trace_state *s = trace_log_state_edit(l->log);
    s->recorded = true;
    s->texts = !values;
    s->preflight.calls_per_s = NAN;
    memset(s->caps.value, 0, sizeof s->caps.value);
    slice_to_chars(f->procs, s->status.procs, sizeof s->status.procs);
    add_patterns(l, f->patterns);
}

static int read_ending(struct recorded_log *l, const struct trace_row *f, struct trace_ending *out,
                       struct error *err)
{
    if (f->ending.len == 0)
        return 0;
    int rc = trace_ending_read(out, &l->arena, f->ending.s, f->ending.len, err);
    if (rc == 0)
        set_setup(l, out);
    return rc;
}

int recorded_log_to(struct recorded_log *l, struct recording *r, int64_t tick, struct error *err)
{
    int64_t wall_us = recording_tick_wall_us(r, tick);
    bool is_last = recording_tick_after(r, tick) == 0;
    int64_t until = is_last ? INT64_MAX : tick; /* what came behind it is of no tick */
    struct trace_ending ending;
    struct trace_row f;
    arena_reset(&l->row);
    int rc = find_trace(l, r, until, &f, err);
    if (rc != 0 || f.id == 0) {
        forget_trace(l);
        return rc;
    }
    bool goes_on = f.id == l->trace && until >= l->tick;
    if (goes_on && trace_log_state(l->log)->status.phase != SESSION_RUNNING)
        return 0;
    if (!goes_on)
        begin_log(l, &f, r->info.values && !r->info.redacted);
    rc = add_events(l, r, until, err);
    if (rc != 0)
        return rc;
    l->tick = until;
    rc = read_ending(l, &f, &ending, err);
    if (rc == 0 && f.ending.len > 0 && (is_last || f.ended_us <= wall_us))
        set_ending(l, &ending);
    else
        set_running(l, &f, wall_us, is_last);
    if (!l->has_terms)
        snprintf(trace_log_state_edit(l->log)->note, sizeof trace_log_state(l->log)->note,
                 "its events are of an older format: beamtop 0.1.0 shows them here, "
                 "`beamtop trace FILE` prints them");
    return rc;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace that the recorder wrote, read back as the log that a screen shows at a tick. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>

#include "../../test.h"
#include "made.h"
#include "made_trace.h"

#include "beamtop/etf/cursor.h"
#include "beamtop/etf/print.h"
#include "beamtop/recording/recorded_log.h"
#include "beamtop/trace/values.h"

#define TICKS 6
#define BEGUN_AT 2 /* the tick that has the trace's start, and the call */
#define BACK_AT 3  /* … its result */
#define REST_AT 4  /* … all else */
#define ENDED_AT 5 /* the tick by whose time it had ended */

struct place {
    char dir[64], path[80];
};

static void put_tick(struct recorder *r, struct made_trace *t, int tick)
{
    const struct trace_log *log = t->log;
    size_t n = trace_log_len(log);
    if (tick == BEGUN_AT) {
        recorder_trace_begin(r, log, PRINT_ERLANG, MADE_TRACE_WALL_US);
        recorder_trace_event(r, log, trace_log_at(log, 0), false);
    } else if (tick == BACK_AT) {
        recorder_trace_event(r, log, trace_log_at(log, 0), true);
    }
    for (size_t i = 1; i < n && tick == REST_AT; i++) {
        recorder_trace_event(r, log, trace_log_at(log, i), false);
        if (trace_log_at(log, i)->outcome == OUTCOME_EXCEPTION)
            recorder_trace_event(r, log, trace_log_at(log, i), true);
    }
}

static void write_recording(struct place *p, bool redact, bool values, bool ended)
{
    const struct recorder_options options = {
        .node = "mq1@host", .label = "traces", .interval_s = 1, .redact = redact, .values = values};
    struct error err = {0};
    struct recorder *r = NULL;
    struct model *m = model_new();
    struct made_trace t;
    assert_true(temporary_dir(p->dir, sizeof p->dir, "log"));
    snprintf(p->path, sizeof p->path, "%s/a.btr", p->dir);
    assert_int_equal(recorder_open(&r, p->path, &options, &err), 0);
    made_trace_new(&t);
    for (int tick = 1; tick <= TICKS; tick++) {
        put_tick(r, &t, tick);
        if (ended && tick == ENDED_AT) {
            made_trace_end(&t);
            recorder_trace_end(r, t.log, model_system(m)->wall_us + 1);
        }
        made_tick(r, m, &made_healthy, tick);
    }
    made_trace_free(&t);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    model_free(m);
}

static struct recording *reopen(const struct place *p)
{
    struct error err = {0};
    struct recording *r = NULL;
    if (recording_open(&r, p->path, &err) != 0)
        fail_msg("%s", err.text);
    return r;
}

static void place_clear(const struct place *p)
{
    made_unlink(p->path);
    assert_int_equal(rmdir(p->dir), 0);
}

static const struct trace_log *log_at(struct recorded_log *l, struct recording *r, int64_t tick)
{
    struct error err = {0};
    if (recorded_log_to(l, r, tick, &err) != 0)
        fail_msg("tick %lld: %s", (long long)tick, err.text);
    return recorded_log_trace(l);
}

/* Of a whole value as it prints; else of the text that stands for it. */
static void assert_told(struct slice term, const char *text, bool whole)
{
    const struct print_limits limits = {.bytes = 1000, .syntax = PRINT_ERLANG};
    struct cursor c;
    struct slice got;
    if (whole) {
        struct buf b;
        buf_init(&b, 0);
        print_term(&b, (const uint8_t *)term.s, term.len, &limits);
        assert_string_equal(buf_cstr(&b), text);
        buf_clear(&b);
        return;
    }
    cursor_init(&c, (const uint8_t *)term.s, term.len);
    assert_true(cursor_binary(&c, &got));
    if (got.len != strlen(text) || memcmp(got.s, text, got.len) != 0)
        fail_msg("“%.*s”, not “%s”", (int)got.len, got.s, text);
}

static void assert_arg(const struct trace_event *e, size_t at, const char *text, bool whole)
{
    struct trace_values v;
    struct slice term = {NULL, 0};
    assert_true(trace_values_init(&v, e->args.bytes));
    for (size_t i = 0; i <= at; i++)
        assert_true(trace_values_next(&v, &term));
    assert_told(term, text, whole);
}

/* Each tick has what was recorded until then, wherever one comes from. */
TEST(test_ticks)
{
    static const struct {
        int64_t tick;
        int events; /* -1: no trace */
        enum session_phase phase;
        enum event_outcome first;
    } rows[] = {
        {1, -1, SESSION_RUNNING, OUTCOME_NONE},  {2, 1, SESSION_RUNNING, OUTCOME_OPEN},
        {3, 1, SESSION_RUNNING, OUTCOME_RETURN}, {4, 5, SESSION_RUNNING, OUTCOME_RETURN},
        {5, 5, SESSION_ENDED, OUTCOME_RETURN},   {6, 5, SESSION_ENDED, OUTCOME_RETURN},
        {3, 1, SESSION_RUNNING, OUTCOME_RETURN}, {6, 5, SESSION_ENDED, OUTCOME_RETURN},
        {2, 1, SESSION_RUNNING, OUTCOME_OPEN},   {1, -1, SESSION_RUNNING, OUTCOME_NONE},
        {4, 5, SESSION_RUNNING, OUTCOME_RETURN},
    };
    struct place p;
    write_recording(&p, false, true, true);
    struct recording *r = reopen(&p);
    struct recorded_log *l = recorded_log_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct trace_log *log = log_at(l, r, rows[i].tick);
        int events = log ? (int)trace_log_len(log) : -1;
        if (events != rows[i].events)
            fail_msg("row %zu: %d events, not %d", i, events, rows[i].events);
        if (events > 0 && (trace_log_state(log)->status.phase != rows[i].phase ||
                           trace_log_at(log, 0)->outcome != rows[i].first))
            fail_msg("row %zu: phase %d, outcome %d", i, (int)trace_log_state(log)->status.phase,
                     (int)trace_log_at(log, 0)->outcome);
    }
    recorded_log_free(l);
    recording_close(r);
    place_clear(&p);
}

/* What the log has of values, under each form of recording them. */
TEST(test_values)
{
    static const struct {
        bool redact, values;
        const char *arg, *result, *message; /* arg NULL: there are none */
    } rows[] = {
        {false, true, "{'" MADE_SECRET "',7,[1|b]}", "{ok,\"" MADE_SECRET "\",#{a => 1}}",
         "{token,<<\"" MADE_SECRET "\">>}"},
        {true, false, "{atom, integer, list:1}", "{atom, list:11, map:1}", "{atom, binary:11}"},
        {false, false, NULL, "(not recorded)", "(not recorded)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct place p;
        write_recording(&p, rows[i].redact, rows[i].values, true);
        struct recording *r = reopen(&p);
        struct recorded_log *l = recorded_log_new();
        const struct trace_log *log = log_at(l, r, TICKS);
        const struct trace_event *call = trace_log_find(log, 1), *sent = trace_log_find(log, 3);
        assert_true(trace_log_state(log)->recorded);
        assert_int_equal(trace_log_state(log)->texts, !rows[i].values);
        assert_int_equal(call->args.bytes.s != NULL, rows[i].arg != NULL);
        if (rows[i].arg)
            assert_arg(call, 0, rows[i].arg, rows[i].values);
        assert_told(call->result.bytes, rows[i].result, rows[i].values);
        assert_told(sent->message.bytes, rows[i].message, rows[i].values);
        assert_told(sent->to.bytes, "shop_cart", rows[i].values);
        recorded_log_free(l);
        recording_close(r);
        place_clear(&p);
    }
}

static void assert_text(struct slice got, const char *text)
{
    if (got.len != strlen(text) || memcmp(got.s, text, got.len) != 0)
        fail_msg("“%.*s”, not “%s”", (int)got.len, got.s, text);
}

/* All else of an event is what it was. */
TEST(test_events)
{
    struct place p;
    write_recording(&p, false, true, true);
    struct recording *r = reopen(&p);
    struct recorded_log *l = recorded_log_new();
    const struct trace_log *log = log_at(l, r, TICKS);
    const struct trace_event *call = trace_log_find(log, 1), *raised = trace_log_find(log, 2);
    const struct trace_event *lost = trace_log_at(log, 4);
    assert_text(call->mfa.module, "shop_cart");
    assert_text(call->mfa.function, "login");
    assert_int_equal(call->mfa.arity, 2);
    assert_text(call->caller.module, "shop");
    assert_int_equal(call->n_stack, 2);
    assert_text(call->stack[1].function, "init");
    assert_text(call->name, "cart");
    assert_int_equal(call->pid.id, 188);
    assert_int_equal(call->latency_ns, 1500000);
    assert_int_equal(call->wall_us, MADE_TRACE_WALL_US);
    assert_int_equal(call->pattern, 0);
    assert_int_equal(raised->outcome, OUTCOME_EXCEPTION);
    assert_text(raised->class, "error");
    assert_int_equal(raised->args.full_bytes, 9000);
    assert_int_equal(trace_log_find(log, 4)->kind, EVENT_RECEIVE);
    assert_int_equal(lost->kind, EVENT_LOST);
    assert_int_equal(lost->lost, 12);
    assert_true(lost->at_most);
    assert_string_equal(lost->why, "rate");
    assert_int_equal(lost->until_ns - lost->mono_ns, 3000000);
    assert_int_equal(trace_log_pattern(log, 0)->latency.total, 2);
    recorded_log_free(l);
    recording_close(r);
    place_clear(&p);
}

TEST(test_end)
{
    struct place p;
    write_recording(&p, false, false, true);
    struct recording *r = reopen(&p);
    struct recorded_log *l = recorded_log_new();
    const struct trace_log *log = log_at(l, r, ENDED_AT - 1);
    assert_int_equal(trace_log_state(log)->total.shown, 4);
    assert_int_equal(trace_log_state(log)->caps.value[CAP_EVENTS], 100); /* told by its end */
    assert_int_equal(trace_log_functions(log), 0);
    log = log_at(l, r, ENDED_AT);
    const struct trace_state *s = trace_log_state(log);
    assert_int_equal(s->end, END_EVENTS);
    assert_string_equal(s->end_text, "events: 4 of 4");
    assert_true(s->status.check.done && s->status.check.clean);
    assert_int_equal(s->total.calls, 1234);
    assert_int_equal(s->total.missed, 12);
    assert_int_equal(trace_log_patterns(log), 2);
    assert_true(trace_log_pattern(log, 1)->pattern->actions & TRACE_TIME);
    assert_int_equal(trace_log_functions(log), 2);
    assert_int_equal(trace_log_function(log, 1)->time_us, 5678);
    assert_int_equal(trace_log_function(log, 1)->pattern, 1);
    recorded_log_free(l);
    recording_close(r);
    place_clear(&p);
}

/* Cut off, it goes on for ever; what it was held to is not known. */
TEST(test_no_end)
{
    struct place p;
    write_recording(&p, false, false, false);
    struct recording *r = reopen(&p);
    struct recorded_log *l = recorded_log_new();
    assert_string_equal(trace_log_state(log_at(l, r, TICKS - 1))->note, "");
    const struct trace_state *s = trace_log_state(log_at(l, r, TICKS));
    assert_int_equal(s->status.phase, SESSION_RUNNING);
    assert_int_equal(s->caps.value[CAP_TIME_MS], 0);
    assert_string_equal(s->note, "the recording ends before it does");
    recorded_log_free(l);
    recording_close(r);
    place_clear(&p);
}

/* What another program, or nobody, has written. */
TEST(test_damaged)
{
    static const struct {
        const char *sql;
        bool fails;
        size_t events;
    } rows[] = {
        {"UPDATE trace SET patterns = '[\"of tomorrow <>\", \"send(to_all)\", 7]'", false, 5},
        {"UPDATE trace SET patterns = '', syntax = 'elixir', procs = NULL, wall_us = NULL", false,
         5},
        /* What people read is not read back. */
        {"UPDATE event SET latency_us = 9e300, caller = '{', class = x'00', pid = 'x',"
         " number = NULL, mfa = NULL, kind = 'of_tomorrow'",
         false, 5},
        {"UPDATE event SET term = NULL", false, 0},
        {"UPDATE event SET term = 7", false, 0},
        {"UPDATE event SET term = x'680464'", false, 0},
        {"UPDATE event SET term = x'68'", false, 0},
        /* Tuples in tuples, deeper than a term from the wire may be. */
        {"UPDATE event SET term = CAST(replace(hex(zeroblob(300)), '00', 'h' || char(1)) || 'j'"
         " AS BLOB)",
         false, 0},
        {"UPDATE event SET term = term || x'6a'", false, 0},
        /* {l, 2^62, 0, rate}: a time that no node has */
        {"UPDATE event SET term = x'680477016c6e080000000000000000406100770472617465'", false, 0},
        {"UPDATE event SET term = x'680477016c61016100770472617465', lost = 9e300", false, 7},
        {"ALTER TABLE event DROP COLUMN term", false, 0},
        /* Larger than any term from the wire. */
        {"UPDATE event SET term = zeroblob(17000000)", false, 0},
        {"UPDATE trace SET patterns = '[]'", false, 5},
        /* Each event twice, with the number that it has. */
        {"CREATE TEMP TABLE twice AS SELECT * FROM event; UPDATE twice SET id = id + 1000;"
         " INSERT INTO event SELECT * FROM twice",
         false, 10},
        {"UPDATE trace SET ending = '{'", true, 5},
        {"DELETE FROM event", false, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct place p;
        struct error err = {0};
        sqlite3 *db = NULL;
        write_recording(&p, false, true, true);
        assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
        if (sqlite3_exec(db, rows[i].sql, NULL, NULL, NULL) != SQLITE_OK)
            fail_msg("%s: %s", rows[i].sql, sqlite3_errmsg(db));
        sqlite3_close(db);
        struct recording *r = reopen(&p);
        struct recorded_log *l = recorded_log_new();
        bool failed = recorded_log_to(l, r, TICKS, &err) != 0;
        size_t events = trace_log_len(recorded_log_trace(l));
        if (failed != rows[i].fails || events != rows[i].events)
            fail_msg("%s: %zu events, %s", rows[i].sql, events, err.text);
        recorded_log_free(l);
        recording_close(r);
        place_clear(&p);
    }
}

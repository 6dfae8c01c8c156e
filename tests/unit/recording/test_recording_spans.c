/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captured causal spans: written, read back equal, bounded, thinned, and refused where they are
 * damaged. */
#include <math.h>
#include <sqlite3.h>

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "made_spans.h"
#include "ticks.h"

static void expect_text(struct slice a, struct slice b)
{
    if (!slice_equal(a, b))
        fail_msg("“%.*s” is not “%.*s”", (int)b.len, b.s, (int)a.len, a.s);
}

static void expect_process(const struct span_process *a, const struct span_process *b)
{
    expect_text(a->node, b->node);
    expect_text(a->name, b->name);
    assert_memory_equal(&a->pid, &b->pid, sizeof a->pid);
}

static void expect_wait(const struct span_wait *a, const struct span_wait *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->from_ns, b->from_ns);
    assert_int_equal(a->to_ns, b->to_ns);
    assert_int_equal(a->net_ns, b->net_ns);
    assert_int_equal(a->on, b->on);
    assert_int_equal(a->outcome, b->outcome);
    expect_process(&a->process, &b->process);
    expect_text(a->at, b->at);
}

static void expect_span(const struct spans *s, const struct spans *t, uint32_t i)
{
    const struct span *a = spans_at(s, i), *b = spans_at(t, i);
    assert_memory_equal(a->trace_id, b->trace_id, sizeof a->trace_id);
    assert_int_equal(a->span_id, b->span_id);
    assert_int_equal(a->parent_span_id, b->parent_span_id);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->outcome, b->outcome);
    expect_process(&a->process, &b->process);
    expect_text(a->operation, b->operation);
    expect_text(a->reason, b->reason);
    assert_int_equal(a->started_ns, b->started_ns);
    assert_int_equal(a->ended_ns, b->ended_ns);
    assert_int_equal(a->ended_at_least, b->ended_at_least);
    assert_int_equal(a->words, b->words);
    assert_int_equal(a->queued_ns, b->queued_ns);
    assert_int_equal(a->self_ns, b->self_ns);
    assert_int_equal(a->wait_ns, b->wait_ns);
    assert_int_equal(a->unattributed_ns, b->unattributed_ns);
    assert_int_equal(a->off_cpu_ns, b->off_cpu_ns);
    assert_int_equal(a->n_waits, b->n_waits);
    for (uint32_t k = 0; k < a->n_waits; k++)
        expect_wait(spans_wait(s, a->wait + k), spans_wait(t, b->wait + k));
}

static void expect_run(const struct spans_run *a, const struct spans_run *b)
{
    const struct spans_dropped x = spans_dropped(a->spans), y = spans_dropped(b->spans);
    assert_string_equal(a->patterns, b->patterns);
    assert_string_equal(a->status.procs, b->status.procs);
    assert_int_equal(a->status.phase, b->status.phase);
    assert_int_equal(a->status.check.done, b->status.check.done);
    assert_int_equal(a->status.check.clean, b->status.check.clean);
    assert_string_equal(a->status.check.text, b->status.check.text);
    assert_int_equal(a->full, b->full);
    assert_int_equal(a->roots_asked, b->roots_asked);
    assert_int_equal(a->every, b->every);
    assert_true(a->for_s == b->for_s && a->calls_per_s == b->calls_per_s && a->load == b->load);
    assert_int_equal(a->events_asked, b->events_asked);
    assert_int_equal(a->functions, b->functions);
    assert_int_equal(a->roots, b->roots);
    assert_int_equal(a->open, b->open);
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->skipped, b->skipped);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->mono_ns, b->mono_ns);
    assert_int_equal(a->wall_us, b->wall_us);
    assert_true(a->seconds == b->seconds && a->arm_us == b->arm_us);
    assert_true(a->disarm_us == b->disarm_us && a->target_us == b->target_us);
    assert_int_equal(a->bytes, b->bytes);
    assert_memory_equal(&x, &y, sizeof x);
    assert_int_equal(spans_events(a->spans), spans_events(b->spans));
    assert_int_equal(spans_count(a->spans), spans_count(b->spans));
    for (uint32_t i = 0; i < spans_count(a->spans); i++)
        expect_span(a->spans, b->spans, i);
}

/* ---- captures of real nodes */

static const struct {
    const char *file, *name;
} cases[] = {
    {"otp23.txt", "full chain"},    {"otp23.txt", "light task"}, {"otp25.txt", "full crash"},
    {"otp25.txt", "light timeout"}, {"otp27.txt", "full alias"}, {"otp27.txt", "light chain"},
    {"otp27.txt", "full remote"},   {"otp29.txt", "full pool"},  {"otp29.txt", "full task"},
    {"elixir.txt", "full exagent"}, {"elixir.txt", "full exgs"},
};

/* One a tick, from the second on. */
static void write_cases(const char *path)
{
    struct error err = {0};
    struct recorder *r = begin(path, 0, false);
    struct model *m = model_new();
    assert_int_equal(tick(r, m, 1, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct spans_run *run = made_spans(cases[i].file, cases[i].name);
        recorder_spans(r, run);
        spans_run_free(run); /* the recorder has a copy */
        assert_int_equal(tick(r, m, (int)i + 2, &err), 0);
    }
    model_free(m);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
}

TEST(test_read_back_equal)
{
    struct error err = {0};
    const int64_t *ids;
    struct place p;
    place_make(&p);
    write_cases(p.path);
    struct recording *f = reopen(p.path);
    assert_true(recording_info(f)->has_spans);
    assert_int_equal(recording_spans_id(f, 1), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct spans_run *wanted = made_spans(cases[i].file, cases[i].name), *got;
        assert_true(spans_count(wanted->spans) > 0);
        const int64_t id = recording_spans_id(f, (int64_t)i + 2);
        assert_int_equal(id, i + 1);
        if (recording_spans_of(f, id, &got, &err) != 0)
            fail_msg("%s %s: %s", cases[i].file, cases[i].name, err.text);
        expect_run(wanted, got);
        assert_int_equal(got->version, id);
        assert_string_equal(got->node, "mq1@host");
        spans_run_free(wanted);
        spans_run_free(got);
    }
    assert_int_equal(recording_spans(f, 3, 5, &ids), 3);
    assert_int_equal(ids[0], 2);
    assert_int_equal(ids[2], 4);
    struct spans_run *none;
    assert_int_equal(recording_spans_of(f, 99, &none, &err), ERR_NOT_FOUND);
    assert_null(none);
    recording_close(f);
    place_clear(&p);
}

/* What nobody knows, what was dropped before, and names and labels without events. */
TEST(test_unknown)
{
    struct error err = {0};
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    struct spans_run *run = spans_run_new(&(struct spans_options){.node = slice_of("shop@host"),
                                                                  .capture = UINT64_MAX}),
                     *got;
    event_feed(run->spans, "5 18446744073709551615 root <0.4.1> - <0.99.0> 0 0 - - -1 m:f/0");
    event_feed(run->spans, "9 2 send <0.4.1> b@host<0.7.0> <0.98.0> 0 18446744073709551615 call "
                           "#Ref<1.2.3.4.4294967295> 5 get");
    event_feed(run->spans, "9 2 send - - - 0 0 - - 0 -"); /* invalid */
    spans_name(run->spans, &(struct span_process){.pid = {.id = 77}}, slice_of("nobody\nhere"));
    run->mono_ns = -(INT64_C(1) << 60);
    run->wall_us = -1;
    run->end = SPANS_END_KILLED;
    run->status.phase = SESSION_ENDED;
    run->status.check = (struct session_check){.done = true, .text = "still there: 1 flag"};
    spans_build(run->spans);
    recorder_spans(r, run);
    assert_int_equal(tick(r, m, 1, &err), 0);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_spans_of(f, 1, &got, &err), 0);
    assert_true(isnan(got->seconds) && isnan(got->calls_per_s) && isnan(got->target_us));
    assert_int_equal(got->wall_us, -1);
    assert_int_equal(got->end, SPANS_END_KILLED);
    assert_string_equal(got->status.check.text, "still there: 1 flag");
    assert_false(got->status.check.clean);
    assert_int_equal(spans_dropped(got->spans).invalid, 1);
    assert_int_equal(spans_events(got->spans), 2);
    for (size_t i = 0; i < 2; i++) {
        struct span_event a, b;
        spans_event_at(run->spans, i, &a);
        spans_event_at(got->spans, i, &b);
        assert_int_equal(a.at_ns, b.at_ns);
        assert_true(a.order == b.order && a.serial == b.serial && a.words == b.words);
        assert_memory_equal(&a.label, &b.label, sizeof a.label);
        assert_memory_equal(&a.ref, &b.ref, sizeof a.ref);
        expect_process(&a.process, &b.process);
        expect_process(&a.peer, &b.peer);
    }
    spans_run_free(run);
    spans_run_free(got);
    recording_close(f);
    model_free(m);
    place_clear(&p);
}

/* ---- bounds */

static int64_t number(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    const int64_t n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return n;
}

static const char orphans[] =
    "SELECT (SELECT count(*) FROM span_event WHERE run NOT IN (SELECT id FROM span_run))"
    " + (SELECT count(*) FROM span_process WHERE run NOT IN (SELECT id FROM span_run))";

/* The newest stay. */
TEST(test_many)
{
    struct error err = {0};
    const int64_t *ids;
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    struct spans_run *run = made_spans("otp27.txt", "full alias");
    for (int i = 0; i < LIMIT_RECORDED_SPAN_RUNS + 3; i++)
        recorder_spans(r, run);
    assert_int_equal(tick(r, m, 1, &err), 0);
    spans_run_free(run);
    model_free(m);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_spans(f, 1, 1, &ids), LIMIT_RECORDED_SPAN_RUNS);
    assert_int_equal(ids[0], 4);
    recording_close(f);
    assert_int_equal(number(p.path, orphans), 0);
    assert_int_equal(number(p.path, "SELECT count(*) FROM span_run"), LIMIT_RECORDED_SPAN_RUNS);
    place_clear(&p);
}

/* Captures go with their ticks, and what belonged to them with them. */
TEST(test_thinned)
{
    struct error err = {0};
    const int64_t *ids;
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 300 * 1024, true);
    struct model *m = model_new();
    struct spans_run *run = made_spans("otp27.txt", "full chain");
    for (int i = 1; i <= 300; i++) {
        recorder_spans(r, run);
        if (tick(r, m, i, &err) != 0)
            fail_msg("tick %d: %s", i, err.text);
    }
    spans_run_free(run);
    model_free(m);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    struct recording *f = reopen(p.path);
    assert_true(recording_info(f)->thinned);
    const size_t n = recording_spans(f, 1, 300, &ids);
    if (n < 5 || n > 90)
        fail_msg("%zu captures", n);
    recording_close(f);
    assert_int_equal(number(p.path, orphans), 0);
    place_clear(&p);
}

/* A ring in memory forgets them with its ticks. */
TEST(test_in_a_ring)
{
    struct error err = {0};
    struct recording *f = NULL;
    const int64_t *ids;
    struct recorder *r = begin(":memory:", 0, false);
    struct model *m = model_new();
    struct spans_run *run = made_spans("otp27.txt", "full alias");
    for (int i = 1; i <= 9; i++) {
        recorder_spans(r, run);
        assert_int_equal(tick(r, m, i, &err), 0);
        assert_int_equal(recorder_keep(r, 3, &err), 0);
    }
    spans_run_free(run);
    assert_int_equal(recording_of_recorder(&f, r, &err), 0);
    assert_int_equal(recording_spans(f, 1, 9, &ids), 3);
    assert_int_equal(ids[0], 7);
    recording_close(f);
    model_free(m);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
}

/* Each damage by itself. */
TEST(test_damaged)
{
    static const char *const damages[] = {
        "UPDATE span_event SET kind = 'sent' WHERE event = 2",
        "UPDATE span_event SET kind = '' WHERE event = 2",
        "UPDATE span_event SET ns = 9223372036854775807 WHERE event = 2",
        "UPDATE span_event SET process = 0 WHERE event = 2",
        "UPDATE span_event SET process = 999 WHERE event = 2",
        "UPDATE span_event SET peer = -1 WHERE event = 2",
        "UPDATE span_event SET label = 9223372036854775807 WHERE event = 2",
        "UPDATE span_event SET tag = 'x' WHERE event = 2",
        "UPDATE span_event SET class = 'x' WHERE event = 2",
        "UPDATE span_event SET ref = x'00' WHERE event = 2",
        "UPDATE span_event SET ref = x'00000001' WHERE event = 2",
        "UPDATE span_event SET ref = zeroblob(28) WHERE event = 2",
        "UPDATE span_event SET text = 999 WHERE event = 1",
        "UPDATE span_process SET number = -1 WHERE process = 1",
        "UPDATE span_process SET serial = 1 << 40 WHERE process = 1",
        "UPDATE span_process SET process = 77 WHERE process = 1",
        "DELETE FROM span_process WHERE process = 1",
        "UPDATE span_process SET given = 999 WHERE process = 1",
        "UPDATE text SET text = text || hex(zeroblob(1024)) WHERE text = 'wl:root/1'",
        "UPDATE text SET text = text || hex(zeroblob(1024)) WHERE text = 'b'",
        "UPDATE span_run SET mono_ns = -9223372036854775808",
        "UPDATE span_run SET wall_us = 9223372036854775",
    };
    for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
        struct error err = {0};
        struct spans_run *run;
        struct place p;
        sqlite3 *db = NULL;
        place_make(&p);
        write_cases(p.path);
        assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, damages[i], NULL, NULL, NULL), SQLITE_OK);
        assert_true(sqlite3_changes(db) > 0);
        sqlite3_close(db);
        struct recording *f = reopen(p.path);
        if (recording_spans_of(f, 1, &run, &err) != ERR_FORMAT || run)
            fail_msg("%s: %s", damages[i], err.text);
        recording_close(f);
        place_clear(&p);
    }
}

/* Files of before have no such tables: they have no captures. */
TEST(test_none)
{
    struct error err = {0};
    const int64_t *ids;
    struct place p;
    sqlite3 *db = NULL;
    place_make(&p);
    write_cases(p.path);
    assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "DROP TABLE span_run; DROP TABLE span_event;"
                                  "DROP TABLE span_process",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    struct recording *f = reopen(p.path);
    assert_false(recording_info(f)->has_spans);
    assert_int_equal(recording_spans_id(f, 9), 0);
    assert_int_equal(recording_spans(f, 1, 9, &ids), 0);
    assert_int_equal(recording_failed(f, &err), 0);
    recording_close(f);
    place_clear(&p);
}

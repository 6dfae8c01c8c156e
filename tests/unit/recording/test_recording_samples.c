/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of the sampler: written, read, summed, bounded, thinned, and refused where they are damaged.
 */
#include <sqlite3.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "made_samples.h"
#include "ticks.h"

static const struct made_stack some[] = {{"plm", 60}, {"plhc", 30}, {"pl", 6}, {"", 4}};
static const struct made_stack other[] = {{"plm", 10}, {"pg", 5}};
static const struct made_stack yields[] = {{"pl", 50}};

/* "name self/total", in the order of their own weight. */
static void put_sums(struct buf *out, const struct stacks *s)
{
    size_t n;
    struct stacks_sum *sums = stacks_sums(s, &n);
    buf_reset(out);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%.*s %g/%g", i > 0 ? ", " : "", (int)sums[i].at->name.len,
                   sums[i].at->name.s, sums[i].self, sums[i].total);
    free(sums);
}

static void expect_places(const struct samples_source *of, const char *wanted)
{
    struct buf out;
    buf_init(&out, 0);
    for (size_t i = 0; i < of->n_places; i++)
        buf_printf(&out, "%.*s %d, ", (int)of->places[i].name.len, of->places[i].name.s,
                   (int)of->places[i].samples);
    buf_printf(&out, "%d moves", (int)of->moves);
    assert_string_equal(buf_cstr(&out), wanted);
    buf_clear(&out);
}

static void expect_sums(const struct stacks *s, const char *wanted)
{
    struct buf out;
    buf_init(&out, 0);
    put_sums(&out, s);
    assert_string_equal(buf_cstr(&out), wanted);
    buf_clear(&out);
}

static void record(struct recorder *r, const struct made_stack *list, size_t n, bool at_yields)
{
    struct stacks *s = made_stacks(list, n);
    struct samples_summary run = made_run(s);
    run.at_yields = at_yields;
    recorder_samples(r, &run);
    stacks_free(s);
}

/* Runs at the ticks 2, 3 (at yields), 4 of five. */
static void write_runs(const char *path)
{
    struct error err = {0};
    struct recorder *r = begin(path, 0, false);
    struct model *m = model_new();
    for (int i = 1; i <= 5; i++) {
        if (i == 2)
            record(r, some, ARRAY_LEN(some), false);
        if (i == 3)
            record(r, yields, ARRAY_LEN(yields), true);
        if (i == 4)
            record(r, other, ARRAY_LEN(other), false);
        assert_int_equal(tick(r, m, i, &err), 0);
    }
    model_free(m);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
}

static void expect_none(struct recording *f, int64_t from, int64_t to, bool at_yields)
{
    struct error err = {0};
    struct recorded_samples s;
    assert_int_equal(recording_samples(f, from, to, at_yields, &s, &err), 0);
    assert_int_equal(s.runs, 0);
    assert_int_equal(stacks_nodes(s.stacks), 1);
    recorded_samples_clear(&s);
}

TEST(test_written_and_read)
{
    struct error err = {0};
    struct recorded_samples s;
    struct place p;
    place_make(&p);
    write_runs(p.path);
    struct recording *f = reopen(p.path);
    assert_true(recording_info(f)->has_samples);
    assert_int_equal(recording_samples(f, 1, 5, false, &s, &err), 0);
    assert_int_equal(s.runs, 2);
    assert_int_equal(s.id, 3);
    assert_int_equal(s.tick, 4);
    assert_true(s.run.seconds == 20 && s.run.hz == 99 && !s.run.at_yields && s.left_out == 0);
    assert_int_equal(s.run.samples, 115);
    assert_int_equal(s.run.lost, 4);
    assert_int_equal(s.run.moved_on, 6);
    assert_int_equal(s.run.classes[SAMPLE_ERLANG], 115);
    assert_int_equal(s.run.classes[SAMPLE_GC], 0);
    assert_true(s.run.sampler_cpu_s == 0.04 && s.run.target_cpu_s == 19);
    assert_int_equal(s.run.wall_us, 1700000001500000);
    assert_true(slice_is(s.run.label, "mq1@host"));
    assert_true(stacks_total(s.stacks) == 115);
    expect_sums(s.stacks, "lists:map/2 70/70, copy_struct_x 30/30, shop:loop/1 6/106, "
                          "erts_garbage_collect_nobump 5/5, proc_lib:init_p_do_apply/3 0/111, "
                          "erlang:phash2/1 0/30");
    const struct sample_frame *loop = stacks_frame_at(s.stacks, stacks_node(s.stacks, 2)->frame);
    assert_true(slice_is(loop->file, "shop.erl") && loop->line == 42);
    assert_int_equal(s.run.n_processes, 2);
    assert_true(slice_is(s.run.processes[0].name, "<0.123.0>"));
    assert_true(slice_is(s.run.processes[0].about, "shop_cart"));
    assert_int_equal(s.run.processes[0].samples, 180);
    assert_int_equal(s.run.n_threads, 1);
    assert_int_equal(s.run.threads[0].samples, 198);
    expect_places(&s.run.threads[0], "CPU 0 120, CPU 1 78, 14 moves");
    expect_places(&s.run.processes[0], "scheduler 1 176, scheduler 2 4, 6 moves");
    expect_places(&s.run.processes[1], "0 moves");
    assert_int_equal(s.run.n_held, 4); /* of both runs, the longest first */
    assert_true(slice_is(s.run.held[1].call, "jose_sign") && s.run.held[1].seconds == 0.25);
    assert_true(slice_is(s.run.held[1].object, "jose_nif.so"));
    assert_true(slice_is(s.run.held[1].caller, "shop:sign/1"));
    assert_true(slice_is(s.run.held[1].process, "<0.123.0>"));
    assert_true(slice_is(s.run.held[1].name, "shop_cart") && s.run.held[1].samples == 26);
    assert_true(slice_is(s.run.held[2].call, "erlang:phash2/1"));
    assert_true(slice_is(s.run.held[2].thread, "scheduler 2") && s.run.held[2].caller.len == 0);
    recorded_samples_clear(&s);
    /* Of reductions: separate, and without classes. */
    assert_int_equal(recording_samples(f, 1, 5, true, &s, &err), 0);
    assert_int_equal(s.runs, 1);
    assert_true(s.run.at_yields && s.run.classes[SAMPLE_ERLANG] == -1 && !s.run.held);
    expect_sums(s.stacks, "shop:loop/1 50/50, proc_lib:init_p_do_apply/3 0/50");
    recorded_samples_clear(&s);
    expect_none(f, 5, 5, false);
    expect_none(f, 1, 2, true);
    recording_close(f);
    place_clear(&p);
}

TEST(test_the_last_run)
{
    static const struct {
        int64_t tick, id, samples;
    } rows[] = {{2, 1, 100}, {3, 2, 50}, {4, 3, 15}, {5, 3, 15}};
    struct error err = {0};
    struct place p;
    place_make(&p);
    write_runs(p.path);
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_samples_id(f, 1), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct recorded_samples s;
        int64_t id = recording_samples_id(f, rows[i].tick);
        assert_int_equal(id, rows[i].id);
        assert_int_equal(recording_samples_of(f, id, &s, &err), 0);
        assert_int_equal(s.runs, 1);
        assert_int_equal(s.run.samples, rows[i].samples);
        assert_true(s.run.at_yields == (id == 2));
        assert_true(stacks_total(s.stacks) == (double)rows[i].samples);
        recorded_samples_clear(&s);
    }
    recording_close(f);
    place_clear(&p);
}

/* The heaviest nodes stay, and what is left out is counted; names stand in the file once. */
TEST(test_bounded)
{
    struct error err = {0};
    struct recorded_samples out;
    struct samples_source many[3 * LIMIT_RECORDED_SOURCES];
    char names[ARRAY_LEN(many)][16];
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    struct stacks *s = stacks_new();
    for (uint32_t i = 0; i < 3 * LIMIT_RECORDED_NODES; i++) {
        struct sample_frame f = made_frame('m');
        f.line = i + 1;
        uint32_t id = stacks_frame(s, &f);
        stacks_add(s, &id, 1, i < 10 ? 100 : 1);
    }
    for (size_t i = 0; i < ARRAY_LEN(many); i++) {
        snprintf(names[i], sizeof names[i], "<0.%zu.0>", i);
        many[i] = (struct samples_source){.name = slice_of(names[i]), .samples = 1000 - (int64_t)i};
    }
    struct samples_summary run = made_run(s);
    run.processes = many;
    run.n_processes = ARRAY_LEN(many);
    for (int i = 1; i <= 3; i++) {
        recorder_samples(r, &run);
        assert_int_equal(tick(r, m, i, &err), 0);
    }
    stacks_free(s);
    model_free(m);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_samples(f, 1, 3, false, &out, &err), 0);
    assert_int_equal(stacks_nodes(out.stacks), LIMIT_RECORDED_NODES + 2); /* the root, and … */
    assert_int_equal(stacks_frames(out.stacks), LIMIT_RECORDED_NODES + 1);
    assert_true(stacks_total(out.stacks) == (double)out.run.samples);
    assert_true(out.left_out == 3.0 * (2 * LIMIT_RECORDED_NODES));
    assert_int_equal(out.run.n_processes, LIMIT_RECORDED_SOURCES);
    assert_int_equal(out.run.processes[0].samples, 3000);
    recorded_samples_clear(&out);
    recording_close(f);
    place_clear(&p);
}

/* A function of the tick, and others that it called once. */
static void record_wide(struct recorder *r, int i, uint32_t n)
{
    struct stacks *s = stacks_new();
    struct sample_frame f = made_frame('l');
    f.line = (uint32_t)i;
    uint32_t path[2] = {stacks_frame(s, &f)};
    f = made_frame('m');
    for (f.line = 1; f.line <= n; f.line++) {
        path[1] = stacks_frame(s, &f);
        stacks_add(s, path, 2, 1);
    }
    const struct samples_summary run = made_run(s);
    recorder_samples(r, &run);
    stacks_free(s);
}

/* Runs that have no room for all their nodes together: what is left out is counted, and is no
 * caller's. */
TEST(test_sum_is_bounded)
{
    enum { EACH = LIMIT_RECORDED_NODES - 1, ROOM = LIMIT_STACK_NODES - 2 /* the root, and … */ };
    enum { FULL = ROOM / (EACH + 1), RUNS = FULL + 3, KEPT = ROOM - FULL - 1 };
    struct error err = {0};
    struct recorded_samples out;
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 0, false);
    struct model *m = model_new();
    for (int i = 1; i <= RUNS; i++) {
        record_wide(r, i, EACH);
        assert_int_equal(tick(r, m, i, &err), 0);
    }
    model_free(m);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_samples(f, 1, RUNS, false, &out, &err), 0);
    assert_int_equal(stacks_nodes(out.stacks), LIMIT_STACK_NODES);
    assert_true(stacks_total(out.stacks) == (double)out.run.samples);
    assert_true(out.left_out == (double)(RUNS * EACH - KEPT));
    for (uint32_t i = 0; i < stacks_nodes(out.stacks); i++)
        assert_true(stacks_node(out.stacks, i)->child == 0 ||
                    stacks_node(out.stacks, i)->self == 0);
    recorded_samples_clear(&out);
    recording_close(f);
    place_clear(&p);
}

/* Runs go with their ticks, and what belonged to them with them. */
TEST(test_thinned)
{
    struct error err = {0};
    struct recorded_samples out;
    struct place p;
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    place_make(&p);
    struct recorder *r = begin(p.path, 400 * 1024, true);
    struct model *m = model_new();
    for (int i = 1; i <= 600; i++) {
        struct stacks *s = stacks_new();
        uint32_t path[12];
        for (uint32_t k = 0; k < 100; k++) {
            struct sample_frame f = made_frame('m');
            f.line = (uint32_t)i / 100 * 1000 + k + 1; /* code that is loaded again and again */
            path[k % 12] = stacks_frame(s, &f);
            stacks_add(s, path, k % 12 + 1, 1);
        }
        const struct samples_summary run = made_run(s);
        recorder_samples(r, &run);
        if (tick(r, m, i, &err) != 0)
            fail_msg("tick %d: %s", i, err.text);
        stacks_free(s);
    }
    assert_true(recorder_bytes(r) <= 400 * 1024);
    model_free(m);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    struct recording *f = reopen(p.path);
    assert_true(recording_info(f)->thinned);
    assert_int_equal(recording_samples(f, 1, 600, false, &out, &err), 0);
    assert_true(out.runs > 10 && out.runs < 600);
    assert_true(stacks_total(out.stacks) == (double)out.run.samples);
    assert_int_equal(out.run.samples, 100 * out.runs);
    recorded_samples_clear(&out);
    recording_close(f);
    assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db,
                           "SELECT (SELECT count(*) FROM sample_node WHERE run NOT IN (SELECT id"
                           " FROM sample_run)) + (SELECT count(*) FROM sample_source WHERE run NOT"
                           " IN (SELECT id FROM sample_run)) + (SELECT count(*) FROM sample_held"
                           " WHERE run NOT IN (SELECT id FROM sample_run))"
                           " + (SELECT count(*) FROM sample_frame"
                           " WHERE id NOT IN (SELECT frame FROM sample_node))",
                           -1, &q, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int64(q, 0), 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    place_clear(&p);
}

/* A ring in memory forgets them with its ticks. */
TEST(test_in_a_ring)
{
    struct error err = {0};
    struct recording *f = NULL;
    struct recorder *r = begin(":memory:", 0, false);
    struct model *m = model_new();
    for (int i = 1; i <= 9; i++) {
        record(r, i < 5 ? some : other, i < 5 ? ARRAY_LEN(some) : ARRAY_LEN(other), false);
        assert_int_equal(tick(r, m, i, &err), 0);
        assert_int_equal(recorder_keep(r, 3, &err), 0);
    }
    assert_int_equal(recording_of_recorder(&f, r, &err), 0);
    struct recorded_samples s;
    assert_int_equal(recording_samples(f, 1, 9, false, &s, &err), 0);
    assert_int_equal(s.runs, 3);
    expect_sums(s.stacks, "lists:map/2 30/30, erts_garbage_collect_nobump 15/15, "
                          "proc_lib:init_p_do_apply/3 0/45, shop:loop/1 0/30");
    recorded_samples_clear(&s);
    recording_close(f);
    model_free(m);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

/* Each damage by itself. */
TEST(test_damaged)
{
    static const char *const damages[] = {
        "UPDATE sample_node SET parent = node WHERE node = 2",
        "UPDATE sample_node SET parent = 3 WHERE node = 2",
        "UPDATE sample_node SET parent = -1 WHERE node = 2",
        "UPDATE sample_node SET parent = 9223372036854775807 WHERE node = 2",
        "UPDATE sample_node SET parent = 'x' WHERE node = 2; UPDATE sample_node SET node = -5 "
        "WHERE "
        "node = 1",
        "DELETE FROM sample_node WHERE node = 1",
        "UPDATE sample_node SET node = 1000000000 WHERE node = 2",
        "UPDATE sample_node SET frame = 999 WHERE node = 2",
        "UPDATE sample_node SET frame = -9223372036854775808 WHERE node = 2",
        "UPDATE sample_node SET samples = -1 WHERE node = 2",
        "UPDATE sample_node SET samples = 9e999 WHERE node = 2",
        "UPDATE sample_node SET samples = 1e300 WHERE node = 2",
        "UPDATE sample_node SET samples = -9e999 WHERE node = 0",
        "DELETE FROM sample_frame WHERE id = 2",
        "UPDATE sample_frame SET name = 999 WHERE id = 2",
        "UPDATE sample_frame SET object = -1 WHERE id = 2",
        "UPDATE sample_frame SET line = -7 WHERE id = 2",
        "UPDATE sample_frame SET line = 1 << 40 WHERE id = 2",
        "UPDATE sample_run SET samples = -5",
        "UPDATE sample_run SET samples = 9223372036854775807",
        "UPDATE sample_run SET samples = 1e300",
        "UPDATE sample_run SET lost = -1",
        "UPDATE sample_run SET truncated = 1000",
        "UPDATE sample_run SET gc = 1",
        "UPDATE sample_run SET erlang = -9223372036854775808",
        "UPDATE sample_run SET ns = -1",
        "UPDATE sample_run SET hz = 9e999",
        "UPDATE sample_run SET sampler_cpu_s = -0.5",
        "UPDATE sample_run SET left_out = 1e16",
        "UPDATE sample_source SET samples = -1",
        "UPDATE sample_source SET samples = 9223372036854775807",
        "UPDATE sample_held SET samples = -1",
        "UPDATE sample_held SET ns = -1",
        "UPDATE sample_held SET ns = 9223372036854775807",
    };
    for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
        struct error err = {0};
        struct recorded_samples s;
        struct place p;
        place_make(&p);
        write_runs(p.path);
        run_sql(p.path, damages[i]);
        struct recording *f = reopen(p.path);
        if (recording_samples(f, 1, 5, false, &s, &err) != ERR_FORMAT)
            fail_msg("%s: %s", damages[i], err.text);
        assert_non_null(strstr(err.text, "a run of the sampler in the recording is damaged"));
        assert_int_equal(s.runs, 0);
        assert_int_equal(stacks_nodes(s.stacks), 1);
        recorded_samples_clear(&s);
        recording_close(f);
        place_clear(&p);
    }
}

/* As many as a stack may have, in one line: a deeper one is refused. */
TEST(test_deep)
{
    for (int more = 0; more <= 1; more++) {
        struct error err = {0};
        struct recorded_samples s;
        struct place p;
        char sql[400];
        place_make(&p);
        write_runs(p.path);
        snprintf(sql, sizeof sql,
                 "DELETE FROM sample_node WHERE run = 1; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
                 " SELECT i + 1 FROM n WHERE i < %d) INSERT INTO sample_node SELECT 1, i, i - 1, 1,"
                 " 1 FROM n",
                 LIMIT_STACK_DEPTH + more);
        run_sql(p.path, sql);
        struct recording *f = reopen(p.path);
        assert_int_equal(recording_samples(f, 1, 3, false, &s, &err), more ? ERR_FORMAT : 0);
        assert_int_equal(stacks_nodes(s.stacks), more ? 1 : LIMIT_STACK_DEPTH + 1);
        recorded_samples_clear(&s);
        recording_close(f);
        place_clear(&p);
    }
}

/* Of a program that had no such tables; and of one that has kinds of frames more. */
TEST(test_other_versions)
{
    struct error err = {0};
    struct recorded_samples s;
    struct place p;
    place_make(&p);
    write_runs(p.path);
    run_sql(p.path, "UPDATE sample_frame SET kind = 'wasm' WHERE id = 2");
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_samples(f, 1, 5, false, &s, &err), 0);
    assert_int_equal(stacks_frame_at(s.stacks, 1)->kind, FRAME_UNKNOWN);
    recorded_samples_clear(&s);
    recording_close(f);
    run_sql(p.path, "DROP TABLE sample_held");
    f = reopen(p.path);
    assert_int_equal(recording_samples(f, 1, 5, false, &s, &err), 0);
    assert_true(s.runs == 2 && !s.run.held && s.run.n_held == 0);
    recorded_samples_clear(&s);
    recording_close(f);
    run_sql(p.path, "DROP TABLE sample_run; DROP TABLE sample_node; DROP TABLE sample_frame;"
                    "DROP TABLE sample_source");
    f = reopen(p.path);
    assert_false(recording_info(f)->has_samples);
    assert_int_equal(recording_samples_id(f, 5), 0);
    expect_none(f, 1, 5, false);
    recording_close(f);
    place_clear(&p);
}

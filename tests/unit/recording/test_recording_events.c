/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System events in a recording: written, read back equal, up to a tick, thinned, and left out where
 * they are damaged. */
#include <sqlite3.h>
#include <string.h>

#include "../../test.h"
#include "made_events.h"

struct taken {
    struct system_event events[8];
    size_t n;
};

static int take_one(void *arg, const struct system_event *e, struct error *err)
{
    struct taken *t = arg;
    (void)err;
    assert_true(t->n < ARRAY_LEN(t->events));
    t->events[t->n++] = *e;
    return 0;
}

TEST(test_read_back_equal)
{
    struct error err = {0};
    struct taken t = {0};
    int64_t *ids;
    struct place p;
    place_make(&p);
    write_events(p.path);
    struct recording *f = reopen(p.path);
    assert_true(recording_info(f)->has_events);
    assert_int_equal(recording_event_runs(f, 1, INT64_MAX, &ids), 1);
    assert_int_equal(ids[0], 1);
    free(ids);
    assert_int_equal(recording_system_events(f, 1, 1, INT64_MAX, take_one, &t, &err), 0);
    assert_int_equal(t.n, 5);
    const struct system_event wanted[] = {made_process(EVENT_LARGE_HEAP, 1),
                                          made_process(EVENT_LARGE_HEAP, 2), made_schedule(),
                                          made_cut(), made_process(EVENT_BUSY_PORT, 5)};
    for (size_t i = 0; i < t.n; i++) {
        struct system_event e = wanted[i];
        system_event_complete(&e);
        assert_int_equal(t.events[i].kind, e.kind);
        assert_int_equal(t.events[i].has_pid, e.has_pid);
        assert_memory_equal(&t.events[i].pid, &e.pid, sizeof e.pid);
        assert_int_equal(t.events[i].wall_us, e.wall_us);
        assert_int_equal(t.events[i].words, e.words);
        assert_int_equal(t.events[i].ms, e.ms);
        assert_int_equal(t.events[i].dropped, e.dropped);
        assert_string_equal(t.events[i].who, e.who);
        assert_string_equal(t.events[i].name, e.name);
        assert_string_equal(t.events[i].value, e.value);
        assert_string_equal(t.events[i].function, e.function);
        assert_string_equal(t.events[i].time, e.time);
    }
    recording_close(f);
    place_clear(&p);
}

/* Until a tick: what it came to is not known before its end. */
TEST(test_until_a_tick)
{
    struct events_run *run = calloc(1, sizeof *run);
    struct place p;
    place_make(&p);
    write_events(p.path);
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_events_id(f, 1), 0);
    assert_int_equal(recording_events_id(f, 2), 1);
    assert_false(recording_events_of(f, 9, 2, run));
    assert_true(recording_events_of(f, 1, 2, run));
    recording_events_kept(f, 1, 2, run);
    assert_int_equal(run->status.phase, SESSION_RUNNING);
    assert_int_equal(run->end, EVENTS_RUNNING);
    assert_int_equal(run->seen, 1);
    assert_int_equal(events_run_n(run), 1);
    assert_string_equal(events_run_event(run, 0)->name, "shop_1");
    assert_true(recording_events_of(f, 1, 3, run));
    recording_events_kept(f, 1, 3, run);
    assert_int_equal(run->status.phase, SESSION_ENDED);
    assert_int_equal(run->end, EVENTS_TIME);
    assert_int_equal(run->seen, 1005);
    assert_int_equal(run->missed, 1000);
    assert_true(run->session && run->status.check.done && run->status.check.clean);
    assert_int_equal(run->limits[EVENT_LARGE_HEAP], 300000);
    assert_int_equal(run->limits[EVENT_LONG_GC], 0);
    assert_int_equal(events_run_n(run), 5);
    assert_string_equal(events_run_event(run, 4)->name, "shop_5");
    recording_close(f);
    free(run);
    place_clear(&p);
}

static void change_file(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Files of before have no such tables. */
TEST(test_none)
{
    struct error err = {0};
    struct taken t = {0};
    int64_t *ids;
    struct place p;
    place_make(&p);
    write_events(p.path);
    change_file(p.path, "DROP TABLE system_event; DROP TABLE system_event_run");
    struct recording *f = reopen(p.path);
    assert_false(recording_info(f)->has_events);
    assert_int_equal(recording_event_runs(f, 1, 9, &ids), 0);
    free(ids);
    assert_int_equal(recording_events_id(f, 9), 0);
    assert_int_equal(recording_system_events(f, 1, 1, 9, take_one, &t, &err), 0);
    recording_close(f);
    place_clear(&p);
}

/* An event that is none is left out, and what the rows lack of a run's beginning is not in it. */
TEST(test_damaged)
{
    struct error err = {0};
    struct events_run *run = calloc(1, sizeof *run);
    struct taken t = {0};
    struct place p;
    place_make(&p);
    write_events(p.path);
    change_file(p.path, "UPDATE system_event SET event = 'other' WHERE number = 2;"
                        "UPDATE system_event SET wall_us = -9e18, words = 'x' WHERE number = 3;"
                        "UPDATE system_event_run SET long_gc = -5, reason = 'x';"
                        "DELETE FROM system_event WHERE number = 1;"
                        "UPDATE system_event SET number = 4000000000 + number");
    struct recording *f = reopen(p.path);
    assert_int_equal(recording_system_events(f, 1, 1, 9, take_one, &t, &err), 0);
    assert_int_equal(t.n, 3);
    assert_string_equal(t.events[0].time, "-");
    assert_true(recording_events_of(f, 1, 9, run));
    recording_events_kept(f, 1, 9, run);
    assert_int_equal(run->end, EVENTS_LOST);
    assert_int_equal(run->limits[EVENT_LONG_GC], 0);
    assert_int_equal(events_run_n(run), 3);
    assert_string_equal(events_run_event(run, 0)->who, "#Port<0.7>");
    assert_string_equal(events_run_event(run, 2)->name, "shop_5");
    recording_close(f);
    free(run);
    place_clear(&p);
}

/* Events go before ticks do; what the runs came to stays. */
TEST(test_thinned)
{
    struct error err = {0};
    struct place p;
    place_make(&p);
    struct recorder *r = begin(p.path, 400 * 1024, true);
    struct model *m = model_new();
    struct events_run *run = begin_run(r);
    for (int i = 1; i < 60; i++) {
        for (int k = 0; k < 100; k++) {
            const struct system_event e = made_process(EVENT_LARGE_HEAP, 100 * i + k);
            recorder_system_event(r, &e);
        }
        if (tick(r, m, i, &err) != 0)
            fail_msg("%s", err.text);
    }
    end_run(r, run, EVENTS_STOPPED);
    model_free(m);
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    struct recording *f = reopen(p.path);
    run = calloc(1, sizeof *run);
    assert_true(recording_events_of(f, 1, INT64_MAX, run));
    recording_events_kept(f, 1, INT64_MAX, run);
    assert_int_equal(run->end, EVENTS_STOPPED);
    assert_true(recording_events_thinned(f, 1));
    assert_int_equal(run->n_events, 5900);
    assert_int_equal(events_run_event(run, events_run_n(run) - 1)->words, 300000 + 5999);
    recording_close(f);
    free(run);
    place_clear(&p);
}

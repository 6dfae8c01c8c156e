/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watching for system events of a node that is played here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/events.h"
#include "played.h"

/* clang-format off */
#define NOTHING "{armed,1,0,[],{0,[]},{0,[]},[],0,<<>>,0}"
#define MONITOR "system_monitor <0.9.0> beamtop:events/0 [busy_port]"
#define LEFT "{armed,1,0,[],{0,[]},{0,[]},[<<\"" MONITOR "\">>],0,<<>>,0}"
#define ARMED "{armed,1000000,150,session}"
#define LIMITS "[{long_gc,100},{long_message_queue,{1000,5000}},{busy_port,true}]"
#define GC "{2000000,{long_gc,<0.80.0>,[{timeout,120},{heap_size,5},{heap_block_size,1000}," \
           "{old_heap_block_size,500}]}}"
#define QUEUE "{2000001,{long_message_queue,<0.80.0>,true}}"
#define PORT "{2000002,{busy_port,<0.80.0>,{<<\"#Port<0.6>\">>,<<\"tcp_inet\">>}}}"
#define SCHEDULE "{2000003,{long_schedule,<<\"#Port<0.7>\">>,[{timeout,101},{port_op,input}]}}"
#define CUT_OFF "{2000004,{off,large_heap,10552,10000,16000000}}"
/* clang-format on */
#define TOOK(WHY, EVENTS) "{took," WHY ",5,3," LIMITS ",[" EVENTS "]}"
#define ALL GC "," QUEUE "," PORT "," SCHEDULE "," CUT_OFF

struct world {
    struct played p;
    struct session *s;
    struct system_event events[8];
    size_t n;
};

static void take_event(void *arg, const struct system_event *e)
{
    struct world *w = arg;
    if (w->n < ARRAY_LEN(w->events))
        w->events[w->n++] = *e;
}

static struct world *open_world(int otp)
{
    static const struct session_handlers handlers = {.on_system_event = take_event};
    struct world *w = calloc(1, sizeof *w);
    struct events_options options;
    struct error err = {0};
    events_defaults(&options);
    w->p.now = 1000;
    const struct session_port port = played_port(&w->p, otp);
    if (events_open(&w->s, &options, &port, &handlers, w, &err) != 0)
        fail_msg("%s", err.text);
    return w;
}

static void free_world(struct world *w)
{
    session_free(w->s);
    played_clear(&w->p);
    free(w);
}

static enum session_phase phase(const struct world *w)
{
    return events_session_run(w->s)->status.phase;
}

static struct world *armed_world(void)
{
    struct world *w = open_world(29);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    played_answer(&w->p, QUESTION_EVENTS, ARMED);
    assert_int_equal(phase(w), SESSION_RUNNING);
    return w;
}

TEST(test_events_and_their_end)
{
    struct world *w = armed_world();
    played_answer(&w->p, QUESTION_EVENTS, TOOK("running", ALL));
    assert_int_equal(w->n, 0);
    played_error(&w->p, QUESTION_WHO, ERR_TIMEOUT); /* without names */
    assert_int_equal(w->n, 5);
    assert_string_equal(w->events[0].event, "long_gc");
    assert_int_equal(w->events[0].ms, 120);
    assert_int_equal(w->events[0].words, 1500);
    assert_string_equal(w->events[0].who, "<0.80.0>");
    assert_string_equal(w->events[1].state, "long");
    assert_string_equal(w->events[2].port, "#Port<0.6>");
    assert_string_equal(w->events[2].peer, "tcp_inet");
    assert_string_equal(w->events[3].who, "#Port<0.7>");
    assert_string_equal(w->events[3].out, "input");
    assert_int_equal(w->events[4].kind, EVENT_OFF);
    assert_int_equal(w->events[4].limit, 16000000);
    assert_int_equal(events_session_run(w->s)->limits[EVENT_LONG_QUEUE], 5000);
    session_stop(w->s);
    assert_string_equal(w->p.told[0], "stop");
    w->p.now += UINT64_C(1000000000);
    session_tick(w->s);
    played_answer(&w->p, QUESTION_EVENTS, TOOK("stopped", QUEUE));
    assert_int_equal(w->n, 6); /* the process is known as asked for */
    played_answer(&w->p, QUESTION_EVENTS, TOOK("stopped", ""));
    assert_int_equal(phase(w), SESSION_VERIFYING);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_int_equal(events_session_run(w->s)->end, EVENTS_STOPPED);
    assert_true(events_session_run(w->s)->status.check.clean);
    free_world(w);
}

TEST(test_what_cannot_be_read_stays_missed)
{
    struct world *w = armed_world();
    played_answer(&w->p, QUESTION_EVENTS, TOOK("running", "{1,{long_nap,<0.80.0>,[]}}"));
    assert_int_equal(events_session_run(w->s)->missed, 4);
    w->p.now += UINT64_C(1000000000);
    session_tick(w->s);
    played_answer(&w->p, QUESTION_EVENTS, TOOK("running", ""));
    assert_int_equal(events_session_run(w->s)->missed, 4);
    free_world(w);
}

TEST(test_an_end_with_ever_more_events_ends)
{
    struct world *w = armed_world();
    for (int i = 0; i < 30; i++) {
        assert_int_equal(phase(w), i > 0 ? SESSION_ENDING : SESSION_RUNNING);
        w->p.now += UINT64_C(1000000000);
        played_answer(&w->p, QUESTION_EVENTS, TOOK("time", SCHEDULE));
        if (phase(w) == SESSION_VERIFYING)
            break;
    }
    assert_int_equal(phase(w), SESSION_VERIFYING);
    free_world(w);
}

TEST(test_what_is_left_is_seen)
{
    struct world *w = armed_world();
    played_answer(&w->p, QUESTION_EVENTS, TOOK("time", ""));
    w->p.now += UINT64_C(10000000000);
    played_answer(&w->p, QUESTION_ARMED, LEFT);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_false(events_session_run(w->s)->status.check.clean);
    assert_int_equal(session_trouble(w->s).code, ERR_TARGET);
    free_world(w);
}

/* A trace that began meanwhile goes on; so do events while a trace ends. */
TEST(test_a_trace_beside_is_not_left)
{
    struct world *w = armed_world();
    played_answer(&w->p, QUESTION_EVENTS, TOOK("time", ""));
    played_answer(&w->p, QUESTION_ARMED,
                  "{armed,1,0,[],{1,[{<<>>,lists,seq,2,[{traced,local}]}]},"
                  "{1,[{<<>>,<0.5.0>,<<>>,[call],<<\"<0.9.0> beamtop:trace/0\">>}]},[],0,<<>>,0}");
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_true(events_session_run(w->s)->status.check.clean);
    free_world(w);
}

TEST(test_refusals)
{
    static const struct {
        const char *answer, *says;
    } rows[] = {
        {"{refused,{monitored,<<\"<0.4.0> sysmon_handler [busy_port]\">>}}", "sysmon_handler"},
        {"{refused,{session,beamtop_events}}", "another beamtop"},
        {"{refused,{late,1,500}}", "does not answer"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = open_world(25);
        played_answer(&w->p, QUESTION_ARMED, NOTHING);
        assert_null(strstr(played_last(&w->p, QUESTION_EVENTS)->text, "long_message_queue"));
        played_answer(&w->p, QUESTION_EVENTS, rows[i].answer);
        assert_int_equal(phase(w), SESSION_FAILED);
        assert_int_equal(events_session_run(w->s)->status.error.code, ERR_REFUSED);
        assert_non_null(strstr(events_session_run(w->s)->status.error.text, rows[i].says));
        free_world(w);
    }
}

static bool is_survived(const struct builder *answer, size_t at, bool cut, uint8_t byte)
{
    struct world *w = armed_world();
    const bool has = played_hostile(&w->p, QUESTION_EVENTS, answer, at, cut, byte);
    free_world(w);
    return has;
}

TEST(test_hostile_answers)
{
    static const uint8_t bytes[] = {0, 97, 104, 106, 108, 119, 255};
    struct builder *answer = played_term(TOOK("running", ALL));
    for (size_t at = 0; is_survived(answer, at, true, 0); at++)
        for (size_t i = 0; i < ARRAY_LEN(bytes); i++)
            is_survived(answer, at, false, bytes[i]);
    builder_free(answer);
}

TEST(test_groups)
{
    struct system_event_groups *groups = calloc(1, sizeof *groups);
    struct system_event e = {.kind = EVENT_LONG_GC, .ms = 5, .words = -1};
    for (int i = 0; i < EVENT_GROUPS + 3; i++) {
        snprintf(e.name, sizeof e.name, "p%d", i);
        system_event_group(groups, EVENTS_BY_PROCESS, &e);
    }
    system_event_group(groups, EVENTS_BY_PROCESS, &(struct system_event){.kind = EVENT_OFF});
    snprintf(e.name, sizeof e.name, "p7");
    system_event_group(groups, EVENTS_BY_PROCESS, &e);
    system_event_groups_sort(groups);
    assert_int_equal(groups->n, EVENT_GROUPS);
    assert_int_equal(groups->others, 3);
    assert_string_equal(groups->rows[0].key, "p7");
    assert_int_equal(groups->rows[0].of[EVENT_LONG_GC], 2);
    free(groups);
}

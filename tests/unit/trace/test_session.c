/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace's life against a target that is played: its phases, ends, errors and what can be done to
 * it. */
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "session_world.h"

static const struct trace_options plain = {0};

TEST(test_life)
{
    struct world *w = new_world("lists:seq(_, _) -> return", &plain);
    assert_int_equal(phase(w), SESSION_PREPARING);
    assert_has(w->asked[0].text, "{0,call,{name,<<\"lists\">>},{name,<<\"seq\">>},2}");
    answer(w, QUESTION_PREFLIGHT, FOUND);
    assert_has(w->asked[1].text, "{count,1000,[{lists,seq,2}]}");
    answer(w, QUESTION_TRACE, COUNTED);
    assert_int_equal((int)state(w)->preflight.calls_per_s, 150);
    assert_false(state(w)->preflight.expensive);
    answer(w, QUESTION_ARMED, NOTHING);
    const char *arm = w->asked[3].text;
    assert_has(arm, "procs => all");
    assert_has(arm, "credit => {512,32768}");
    assert_has(arm, "return => true");
    assert_has(arm, "mfas => [{lists,seq,2}]");
    arm_answer(w);
    push(w, "{batch,[" CALL "]," STATUS("open", "1", "0") "}");
    const struct trace_log *l = trace_session_log(w->t);
    assert_int_equal(trace_log_len(l), 1);
    const struct trace_event *e = trace_log_at(l, 0);
    assert_int_equal(e->outcome, OUTCOME_OPEN);
    assert_int_equal(e->wall_us, 1000001);
    assert_int_equal(e->n_stack, 1);
    assert_has(open_question(w, QUESTION_WHO)->text, "[<");
    answer(w, QUESTION_WHO,
           "{who,[{<0.9.0>,{worker,{erlang,apply,2},undefined,undefined,"
           "{erlang,apply,2}}}]}");
    assert_memory_equal(trace_log_at(l, 0)->name.s, "worker", 6);
    push(w, "{batch,[{r,1,7000,ok,0}]," STATUS("open", "1", "0") "}");
    e = trace_log_at(l, 0);
    assert_int_equal(e->outcome, OUTCOME_RETURN);
    assert_int_equal(e->latency_ns, 5000);
    assert_int_equal(w->events, 2);
    assert_int_equal(w->finished, 1);
    assert_has(last_told(w), "{credit,");
    push(w, "{counts,9000,[{0,[1]}],[]}");
    push(w, "{ended,time," STATUS("spent", "1", "0") "}");
    assert_int_equal(phase(w), SESSION_VERIFYING);
    w->now += 5000000;
    answer(w, QUESTION_ARMED, NOTHING);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_string_equal(state(w)->end_text, "time: 15 s");
    assert_true(state(w)->status.check.done && state(w)->status.check.clean);
    assert_int_equal(state(w)->status.check.after_us, 5000);
    assert_int_equal(state(w)->total.missed, 0);
    end_world(w);
}

TEST(test_held_until_armed)
{
    struct world *w = new_world("lists:seq(_, _)", &plain);
    to_arming(w);
    push(w, "{batch,[" CALL "]," STATUS("open", "1", "0") "}");
    push(w, "{ended,events," STATUS("spent", "1", "0") "}");
    assert_int_equal(trace_log_len(trace_session_log(w->t)), 0);
    arm_answer(w);
    assert_int_equal(trace_log_len(trace_session_log(w->t)), 1);
    assert_int_equal(phase(w), SESSION_VERIFYING);
    assert_string_equal(state(w)->end_text, "events: 1 of 100");
    end_world(w);
}

/* Of a clock that is far from the one of its start, or of no node. */
TEST(test_times_out_of_reach)
{
    static const char *const times[] = {"9223372036854775807", "-9223372036854775807", "0"};
    static const char *const clocks[] = {
        "mono=>1000,wall_us=>1000000,per_second=>1",
        "mono=>-9223372036854775807,wall_us=>9223372036854775807,per_second=>1000000000",
        "mono=>9223372036854775807,wall_us=>-9223372036854775807,per_second=>1000"};
    for (size_t i = 0; i < ARRAY_LEN(times) * ARRAY_LEN(clocks); i++) {
        struct world *w = new_world("lists:seq(_, _)", &plain);
        char text[300];
        to_arming(w);
        snprintf(text, sizeof text, "{armed,%llu,#{%s,session=>false}}", armed_id(w),
                 clocks[i % ARRAY_LEN(clocks)]);
        answer(w, QUESTION_TRACE, text);
        snprintf(text, sizeof text,
                 "{batch,[{c,1,0,<0.9.0>,%s,{lists,seq,2},{m,f,1},[1,2],[],0,0}]," STATUS(
                     "open", "1", "0") "}",
                 times[i / ARRAY_LEN(clocks)]);
        push(w, text);
        assert_int_equal(trace_log_len(trace_session_log(w->t)), 1);
        const struct trace_event *e = trace_log_at(trace_session_log(w->t), 0);
        assert_true(e->wall_us >= -INT64_C(9000000000000000) &&
                    e->wall_us <= INT64_C(9000000000000000));
        end_world(w);
    }
}

TEST(test_verify_asks_again)
{
    struct world *w = running_world("lists:seq(_, _)", &plain);
    push(w, "{ended,{killed,<<\"heap\">>}," STATUS("open", "0", "0") "}");
    assert_string_equal(state(w)->end_text, "killed: heap");
    /* Not what counted calls have set, which may go on. */
    assert_has(open_question(w, QUESTION_ARMED)->text, "session => <<\"beamtop\">>");
    answer(w, QUESTION_ARMED, "{armed,1,0,[],{0,[]},{0,[]},[],1,<<>>,0}");
    assert_int_equal(phase(w), SESSION_VERIFYING);
    w->now += 300000000;
    session_tick(w->t);
    answer(w, QUESTION_ARMED,
           "{armed,1,0,[{<<\"x\">>,false}],{1,[{<<\"x\">>,m,f,0,[]}]},{0,[]},[],0,<<>>,0}");
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_true(state(w)->status.check.clean);
    end_world(w);
    w = running_world("lists:seq(_, _)", &plain);
    push(w, "{ended,time," STATUS("open", "0", "0") "}");
    w->now += 2500000000u;
    answer(w, QUESTION_ARMED,
           "{armed,1,5,[{<<\"beamtop\">>,true}],"
           "{1,[{<<\"beamtop\">>,m,f,0,[]}]},{2,[{<<>>,<0.1.0>,<<>>,[call],<<>>}]},[],1,<<>>,0}");
    assert_int_equal(phase(w), SESSION_ENDED);
    const struct session_check *c = &state(w)->status.check;
    assert_true(c->done && !c->clean);
    assert_int_equal(c->breakpoints, 1);
    assert_int_equal(c->flags, 2);
    assert_int_equal(c->sessions, 1);
    assert_int_equal(c->control_word, 5);
    assert_has(c->text, "left on the node");
    end_world(w);
}

/* A system tracer of a beamtop that was not there before is not clean; another tool's is. */
TEST(test_system_tracer)
{
#define SYSTEM_TRACER(name) "{armed,1,0,[],{0,[]},{0,[]},[],0,<<\"<0.5.0> " name "\">>,7}"
    const struct {
        const char *before, *after;
        bool clean;
    } rows[] = {
        {NOTHING, SYSTEM_TRACER("beamtop:spans/0"), false},
        {NOTHING, SYSTEM_TRACER("ttb"), true},
        {NOTHING, "{armed,1,0,[],{0,[]},{0,[]},[],0,<<>>,7}", true},
        {SYSTEM_TRACER("beamtop:spans/0"), SYSTEM_TRACER("beamtop:spans/0"), true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world("lists:seq(_, _)", &plain);
        answer(w, QUESTION_PREFLIGHT, FOUND);
        answer(w, QUESTION_TRACE, COUNTED);
        answer(w, QUESTION_ARMED, rows[i].before);
        arm_answer(w);
        push(w, "{ended,time," STATUS("open", "0", "0") "}");
        w->now += 2500000000u;
        answer(w, QUESTION_ARMED, rows[i].after);
        const struct session_check *c = &state(w)->status.check;
        assert_true(c->done);
        if (c->clean != rows[i].clean || c->system_tracer == rows[i].clean)
            fail_msg("%s after %s", rows[i].after, rows[i].before);
        if (!rows[i].clean)
            assert_has(c->text, "the system tracer");
        end_world(w);
    }
}

TEST(test_baseline_of_others)
{
    struct world *w = new_world("lists:seq(_, _)", &plain);
    answer(w, QUESTION_PREFLIGHT, FOUND);
    answer(w, QUESTION_TRACE, COUNTED);
    const char *others = "{armed,1,0,[],{3,[{<<>>,m,f,0,[]}]},"
                         "{1,[{<<>>,<0.1.0>,<<>>,[call],<<>>}]},[],0,<<>>,0}";
    answer(w, QUESTION_ARMED, others);
    arm_answer(w);
    session_stop(w->t);
    assert_int_equal(phase(w), SESSION_ENDING);
    assert_has(last_told(w), "{stop,");
    push(w, "{ended,stopped," STATUS("open", "0", "0") "}");
    answer(w, QUESTION_ARMED, others);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_true(state(w)->status.check.clean);
    end_world(w);
}

TEST(test_stop_in_every_phase)
{
    for (int step = 0; step <= 5; step++) {
        struct world *w = new_world("lists:seq(_, _)", &plain);
        if (step > 0)
            answer(w, QUESTION_PREFLIGHT, FOUND);
        if (step > 1)
            answer(w, QUESTION_TRACE, COUNTED);
        if (step > 2)
            answer(w, QUESTION_ARMED, NOTHING);
        if (step > 3)
            arm_answer(w);
        session_stop(w->t);
        session_stop(w->t);
        if (step == 1)
            answer(w, QUESTION_TRACE, COUNTED);
        if (step == 3)
            arm_answer(w);
        if (step >= 3) {
            assert_int_equal(phase(w), SESSION_ENDING);
            if (step < 5) {
                push(w, "{ended,stopped," STATUS("open", "0", "0") "}");
            } else {
                w->now += 4000000000u; /* it tells no end: what is armed is asked anyway */
                session_tick(w->t);
            }
            answer(w, QUESTION_ARMED, NOTHING);
        }
        if (phase(w) != SESSION_ENDED || state(w)->end != END_STOPPED)
            fail_msg("step %d: %d", step, (int)phase(w));
        assert_int_equal(state(w)->status.check.unarmed, step < 3);
        end_world(w);
    }
}

TEST(test_link_lost_in_every_phase)
{
    for (int step = 0; step <= 5; step++) {
        struct world *w = new_world("lists:seq(_, _)", &plain);
        struct error why = {0};
        error_set(&why, ERR_LOST, "the node went away");
        if (step > 0)
            answer(w, QUESTION_PREFLIGHT, FOUND);
        if (step > 1)
            answer(w, QUESTION_TRACE, COUNTED);
        if (step > 2)
            answer(w, QUESTION_ARMED, NOTHING);
        if (step > 3)
            arm_answer(w);
        if (step > 4)
            push(w, "{ended,time," STATUS("open", "0", "0") "}");
        session_link_lost(w->t, &why);
        session_link_lost(w->t, &why);
        session_tick(w->t);
        session_stop(w->t);
        if (phase(w) != (step < 3 ? SESSION_FAILED : SESSION_ENDED))
            fail_msg("step %d: %d", step, (int)phase(w));
        assert_false(state(w)->status.check.done);
        if (step >= 3)
            assert_int_equal(state(w)->end, step == 5 ? END_TIME : END_LINK);
        assert_int_equal(session_trouble(w->t).code, step == 5 ? ERR_TARGET : ERR_LOST);
        end_world(w);
    }
}

/* Before OTP 27 any two, and then all but counted calls beside another kind. */
TEST(test_excludes)
{
    static const struct {
        int otp;
        enum question other;
        bool excludes;
    } rows[] = {
        {26, QUESTION_CALLS, true}, {26, QUESTION_SPANS, true},  {27, QUESTION_TRACE, true},
        {27, QUESTION_SPANS, true}, {27, QUESTION_CALLS, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world_of("lists:seq(_, _)", &plain, rows[i].otp);
        assert_int_equal(session_excludes(w->t, rows[i].other), rows[i].excludes);
        session_stop(w->t);
        assert_false(session_excludes(w->t, rows[i].other));
        end_world(w);
    }
    assert_false(session_excludes(NULL, QUESTION_TRACE));
}

/* Counts come each second, events at once: what was seen was called. */
TEST(test_link_lost_before_the_counts)
{
    struct world *w = new_world("lists:seq(_, _)", &plain);
    struct error why = {0};
    error_set(&why, ERR_LOST, "the node went away");
    answer(w, QUESTION_PREFLIGHT, FOUND);
    answer(w, QUESTION_TRACE, COUNTED);
    answer(w, QUESTION_ARMED, NOTHING);
    arm_answer(w);
    push(w, "{counts,8000,[{0,[20]}],[]}");
    push(w, "{status," STATUS("open", "21", "21") "}");
    session_link_lost(w->t, &why);
    const struct trace_counts *c = &trace_log_pattern(trace_session_log(w->t), 0)->counts;
    assert_int_equal(c->seen, 21);
    assert_int_equal(c->calls, 21);
    assert_int_equal(state(w)->total.calls, 21);
    end_world(w);
}

TEST(test_errors_of_answers)
{
    struct world *w = new_world("lists:seq(_, _)", &plain);
    answer_error(w, QUESTION_PREFLIGHT, ERR_TARGET);
    assert_int_equal(phase(w), SESSION_FAILED);
    end_world(w);
    w = new_world("lists:seq(_, _)", &plain);
    to_arming(w);
    answer_error(w, QUESTION_TRACE, ERR_TIMEOUT); /* it may be armed: told to stop, and looked at */
    assert_has(last_told(w), "{stop,");
    assert_int_equal(phase(w), SESSION_VERIFYING);
    answer_error(w, QUESTION_ARMED, ERR_TARGET);
    w->now += 2500000000u;
    session_tick(w->t);
    answer_error(w, QUESTION_ARMED, ERR_TARGET);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_false(state(w)->status.check.done);
    end_world(w);
    w = calloc(1, sizeof *w);
    w->refuse = true;
    struct error err = {0};
    assert_int_equal(open_world(w, "lists:seq(_, _)", &plain, &err), ERR_LOST);
    error_clear(&err);
    assert_int_equal(open_world(w, "lists:seq(_,", &plain, &err), ERR_USAGE);
    error_clear(&err);
    assert_int_equal(
        open_world(w, "lists:seq(_, _)", &(struct trace_options){.request.procs = "a,"}, &err),
        ERR_USAGE);
    free(w);
}

/* Of single events: test_session_counts.c. */
TEST(test_hostile_messages)
{
    const char *const bodies[] = {
        "nothing",
        "{batch,[]}",
        "{batch,x," STATUS("open", "0", "0") "}",
        "{batch,\"abc\"," STATUS("open", "0", "0") "}",
        "{counts,1,[{0,a}],[]}",
        "{counts,1,[{-1,[1]}],[]}",
        "{ended,why," STATUS("open", "0", "0") "}",
        "{status,{1,2}}",
        "{status,{1,open,-1,5,100,2000,0,[]}}",
        "{status," STATUS("open", "0", "0") ",more}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct world *w = running_world("lists:seq(_, _)", &plain);
        push(w, bodies[i]);
        if (phase(w) != SESSION_ENDING || state(w)->end != END_KILLED)
            fail_msg("%s: %d", bodies[i], (int)phase(w));
        assert_int_equal(trace_log_len(trace_session_log(w->t)), 0); /* no half of it */
        assert_has(last_told(w), "{stop,");
        end_world(w);
    }
    struct world *w = running_world("lists:seq(_, _)", &plain);
    struct builder *b = term_of("{t,1,1,{ended,time," STATUS("open", "0", "0") "}}");
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    w->listener(w->listener_arg, bytes + 1, len - 1); /* of an earlier trace */
    assert_int_equal(phase(w), SESSION_RUNNING);
    builder_free(b);
    /* Counts of functions that there are not, events of no call: nothing happens. */
    push(w, "{counts,9000,[{0,[1,2,3,4]},{7,[1]}],[{0,[5]}]}");
    assert_int_equal(state(w)->total.calls, 1);
    assert_int_equal(state(w)->total.time_us, 5);
    push(w, "{batch,[{r,77,7000,ok,0}]," STATUS("open", "1", "0") "}");
    assert_int_equal(w->events, 0);
    end_world(w);
}

/* What is still asked when a trace ends, or its connection, is for nobody. */
TEST(test_late_answers_are_dropped)
{
    struct error lost = {.code = ERR_LOST};
    struct world *w = new_world("lists:seq(_, _)", &plain);
    session_stop(w->t);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_int_equal(w->drops, 1);
    answer(w, QUESTION_PREFLIGHT, FOUND);
    assert_int_equal(phase(w), SESSION_ENDED);
    end_world(w);
    w = running_world("lists:seq(_, _)", &plain);
    session_link_lost(w->t, &lost);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_non_null(w->listener); /* nor is the port used to say so */
    end_world(w);
}

TEST(test_acts)
{
    struct world *w = running_world("lists:seq(_, _)", &plain);
    struct error err = {0};
    trace_pause(w->t, true);
    assert_has(last_told(w), ",true}");
    assert_int_equal(phase(w), SESSION_PAUSED);
    trace_pause(w->t, true);
    trace_pause(w->t, false);
    assert_int_equal(w->n_told, 2);
    assert_int_equal(phase(w), SESSION_RUNNING);
    assert_int_equal(trace_set_cap(w->t, CAP_TERM_BYTES, 4096, &err), 0);
    assert_has(last_told(w), ",term,4096}");
    assert_int_equal(trace_set_cap(w->t, CAP_EVENTS, 10001, &err), ERR_USAGE);
    error_clear(&err);
    assert_int_equal(trace_set_cap(w->t, CAP_FUNCTIONS, 10, &err), ERR_USAGE);
    error_clear(&err);
    assert_int_equal(trace_extend(w->t, &err), 0);
    assert_has(last_told(w), ",events,100}"); /* as much as at its start, after what came: none */
    trace_narrow_pid(w->t, &(struct etf_pid){.id = 9});
    assert_has(last_told(w), "{pid,<");
    trace_narrow_pattern(w->t, 0);
    assert_has(last_told(w), "{pattern,0}");
    trace_narrow_pattern(w->t, 1);
    assert_int_equal(w->n_told, 7);
    w->now += 16000000000u; /* no status for so long */
    session_tick(w->t);
    assert_int_equal(phase(w), SESSION_ENDING);
    assert_int_equal(state(w)->end, END_KILLED);
    assert_int_equal(session_trouble(w->t).code, ERR_TARGET);
    end_world(w);
}

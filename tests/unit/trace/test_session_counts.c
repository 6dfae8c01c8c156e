/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counters of a trace: what was missed and lost, and what the target may send. */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "session_world.h"

static const struct trace_options plain = {0};

TEST(test_missed)
{
    const struct {
        const char *pattern, *procs, *shut;
        uint64_t missed;
        bool at_most;
    } rows[] = {
        {"lists:seq(_, _)", NULL, "rate", 40, false},
        {"lists:seq(_, _)", NULL, "open", 0, false},
        {"lists:seq(_, _)", NULL, "spent", 0, false},
        {"lists:seq(1, _)", NULL, "rate", 40, true},
        {"lists:seq(_, _)", "new", "credit", 40, true},
        {"lists:seq(_, _) -> count", NULL, "rate", 0, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct trace_options o = {.request.procs = rows[i].procs};
        struct world *w = running_world(rows[i].pattern, &o);
        char status[200];
        snprintf(status, sizeof status, "{status,{1,%s,10,5,100,2000,0,[{0,60,2,0,0,0,0,0}]}}",
                 rows[i].shut);
        push(w, status);
        push(w, "{counts,9000,[{0,[100]}],[]}");
        assert_int_equal(state(w)->total.calls, 100);
        if (state(w)->total.missed != rows[i].missed ||
            state(w)->total.missed_at_most != rows[i].at_most)
            fail_msg("%s %s: %d", rows[i].pattern, rows[i].shut, (int)state(w)->total.missed);
        end_world(w);
    }
}

/* Numbers that stop being exact in mid-trace say so. */
TEST(test_missed_is_a_bound_later)
{
    struct world *w = running_world("lists:seq(_, _)", &plain);
    push(w, "{status," STATUS("rate", "60", "0") "}");
    push(w, "{counts,9000,[{0,[100]}],[]}");
    assert_false(state(w)->total.missed_at_most);
    assert_string_equal(state(w)->note, "");
    trace_narrow_pid(w->t, &(struct etf_pid){.id = 9});
    assert_has(state(w)->note, "narrowed to <");
    push(w, "{counts,9000,[{0,[120]}],[]}");
    assert_int_equal(state(w)->total.missed, 60);
    assert_true(state(w)->total.missed_at_most);
    end_world(w);
    w = running_world("lists:seq(_, _)", &plain);
    push(w, "{status," STATUS("rate", "60", "0") "}");
    push(w, "{counts,9000,[{0,[100]}],[]}");
    push(w, "{ended,events," STATUS("spent", "60", "0") "}");
    assert_int_equal(state(w)->total.missed, 40);
    assert_true(state(w)->total.missed_at_most); /* those behind the last event among them */
    end_world(w);
}

/* The VM counts calls by anyone, those of our own evaluation on the node too. */
TEST(test_own_calls)
{
    const struct {
        const char *pattern, *function;
        bool own;
    } rows[] = {
        {"lists:_", "lists,seq", false},      {"lists:_", "lists,map", true},
        {"lists:_", "lists,mapp", false},     {"lists:_", "lists,zipwith3", true},
        {"lists:_", "lists,all", true},       {"erlang:_", "erlang,send", false},
        {"erlang:_", "erlang,raise", true},   {"_:x", "erl_eval,x", true},
        {"_:x -> return", "orddict,x", true}, {"_:x -> count", "lists,x", false},
        {"_:x -> count", "maps,x", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world(rows[i].pattern, &plain);
        char found[200];
        snprintf(found, sizeof found, "{preflight,[{0,[{%s,2}],1,ok}],{all,40},{{0,0,[]},[],0},[]}",
                 rows[i].function);
        answer(w, QUESTION_PREFLIGHT, found);
        answer(w, QUESTION_TRACE, COUNTED);
        answer(w, QUESTION_ARMED, NOTHING);
        arm_answer(w);
        push(w, "{status," STATUS("rate", "60", "0") "}");
        push(w, "{counts,9000,[{0,[100]}],[]}");
        push(w, "{ended,time," STATUS("spent", "60", "0") "}");
        if ((*state(w)->note != '\0') != rows[i].own)
            fail_msg("%s: %s", rows[i].function, state(w)->note);
        if (state(w)->total.missed > 0 && state(w)->total.missed_at_most != rows[i].own)
            fail_msg("%s: at most %d", rows[i].function, state(w)->total.missed_at_most);
        end_world(w);
    }
}

/* Calls that a pattern refused, or that came behind the last event, while nothing was shut. */
TEST(test_missed_only_while_shut)
{
    struct world *w = running_world("lists:seq(1, _)", &plain);
    push(w, "{counts,8000,[{0,[1000]}],[]}");
    push(w, "{batch,[{l,2000,3000,window}]," STATUS("open", "16", "0") "}");
    push(w, "{counts,9000,[{0,[1020]}],[]}");
    assert_int_equal(w->last_lost, 4); /* the 1000 before were refused */
    push(w, "{counts,9100,[{0,[6000]}],[]}");
    assert_int_equal(state(w)->total.missed, 4);
    assert_true(state(w)->total.missed_at_most);
    end_world(w);
    w = running_world("lists:seq(_, _)", &plain);
    push(w, "{batch,[{l,2000,3000,window}]," STATUS("open", "16", "0") "}");
    push(w, "{counts,9000,[{0,[18]}],[]}");
    push(w, "{status," STATUS("spent", "24", "0") "}");
    push(w, "{counts,9100,[{0,[118]}],[]}");
    push(w, "{ended,events," STATUS("spent", "24", "0") "}");
    assert_int_equal(state(w)->total.missed, 2);
    assert_false(state(w)->total.missed_at_most);
    end_world(w);
}

/* A call between the counts of a loss and the next window is in none of the former; what comes
   while nothing was ever shut is not missed. */
TEST(test_missed_when_settled)
{
    struct world *w = running_world("lists:seq(_, _)", &plain);
    push(w, "{batch,[{l,2000,3000,window}]," STATUS("open", "16", "0") "}");
    push(w, "{counts,9000,[{0,[18]}],[]}");
    push(w, "{counts,9100,[{0,[19]}],[]}");
    assert_int_equal(state(w)->total.missed, 2); /* the last one may be under way */
    push(w, "{settled,9200,[{0,[19]}],[]}");
    assert_int_equal(state(w)->total.missed, 3);
    push(w, "{counts,9300,[{0,[25]}],[]}");
    assert_int_equal(state(w)->total.missed, 3);
    assert_int_equal(w->last_lost, 2);
    push(w, "{ended,time," STATUS("open", "16", "0") "}");
    assert_int_equal(state(w)->total.missed, 3);
    assert_int_equal(w->last_lost, 1); /* what the losses say is what was missed */
    end_world(w);
    w = running_world("lists:seq(_, _)", &plain);
    push(w, "{status," STATUS("open", "16", "0") "}");
    push(w, "{settled,9000,[{0,[18]}],[]}");
    assert_int_equal(state(w)->total.missed, 0);
    end_world(w);
}

/* Three calls are under way as the counts are read; three others are missed. */
TEST(test_missed_by_one_process)
{
    const struct trace_options of_one = {.one = true};
    struct world *w = running_world("lists:seq(_, _)", &of_one);
    push(w, "{status," STATUS("open", "97", "0") "}");
    push(w, "{counts,8000,[{0,[100]}],[]}");
    push(w, "{batch,[{l,2000,3000,window}]," STATUS("open", "100", "0") "}");
    push(w, "{counts,9000,[{0,[103]}],[]}");
    assert_int_equal(w->losses, 1);
    assert_int_equal(w->last_lost, 0); /* unknown */
    end_world(w);
}

TEST(test_module_loaded_anew)
{
    struct world *w = running_world("lists:seq(_, _)", &plain);
    push(w, "{counts,9000,[{0,[100]}],[]}");
    push(w, "{counts,9000,[{0,[100]}],[]}");
    assert_string_equal(state(w)->note, "");
    push(w, "{counts,9000,[{0,[0]}],[]}");
    assert_has(state(w)->note, "lists was reloaded");
    assert_int_equal(state(w)->total.calls, 100);
    end_world(w);
    /* Before the first call. */
    w = running_world("lists:seq(_, _)", &plain);
    push(w, "{counts,9000,[{0,[0]}],[]}");
    assert_string_equal(state(w)->note, "");
    push(w, "{counts,9000,[{0,[-1]}],[]}");
    assert_has(state(w)->note, "lists was reloaded");
    assert_int_equal(state(w)->total.calls, 0);
    end_world(w);
    /* Before the first counts: by counts that stay below what was seen, or at the end. */
    for (int again = 0; again < 2; again++) {
        w = running_world("lists:seq(_, _)", &plain);
        push(w, "{status," STATUS("open", "2", "0") "}");
        push(w, "{counts,9000,[{0,[0]}],[]}");
        assert_string_equal(state(w)->note, "");
        push(w,
             again ? "{counts,9100,[{0,[0]}],[]}" : "{ended,time," STATUS("spent", "2", "0") "}");
        assert_has(state(w)->note, "lists was reloaded");
        assert_int_equal(state(w)->total.calls, 2);
        assert_int_equal(trace_log_function(trace_session_log(w->t), 0)->calls, 2);
        end_world(w);
    }
}

/* The call of a function that two patterns name is one call. */
TEST(test_shared_calls)
{
    struct world *w = new_world("lists:seq(1, _) & lists:seq(2, _)", &plain);
    answer(w, QUESTION_PREFLIGHT,
           "{preflight,[{0,[{lists,seq,2}],1,ok},{1,[{lists,seq,2},"
           "{lists,seq,3}],2,ok}],{all,40},{{0,0,[]},[],0},[]}");
    answer(w, QUESTION_TRACE, COUNTED);
    answer(w, QUESTION_ARMED, NOTHING);
    arm_answer(w);
    assert_int_equal(phase(w), SESSION_RUNNING);
    push(w, "{status,{1,rate,10,5,100,2000,0,[{0,60,2,0,0,0,0,0},{1,10,2,0,0,0,0,0}]}}");
    push(w, "{counts,9000,[{0,[100]},{1,[100,7]}],[]}");
    assert_int_equal(state(w)->total.calls, 107);
    assert_int_equal(state(w)->total.missed, 37);
    end_world(w);
}

/* The first pattern that takes a call keeps it, also when its filter leaves the result out. */
TEST(test_shadowed_pattern_is_told)
{
    const struct {
        const char *patterns;
        bool told;
    } rows[] = {
        {"lists:seq -> raises & lists:seq -> returns []", true},
        {"lists:seq(1, _) -> raises & lists:seq -> returns []", false},
        {"lists:seq -> raises & lists:seq -> count", false},
        {"lists:seq -> count & lists:seq -> return", false},
        {"lists:seq & receive(_)", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world(rows[i].patterns, &plain);
        answer(
            w, QUESTION_PREFLIGHT,
            strstr(rows[i].patterns, "receive")
                ? "{preflight,[{0,[{lists,seq,2}],1,ok},{1,[],0,ok}],{all,40},{{0,0,[]},[],0},[]}"
                : "{preflight,[{0,[{lists,seq,2},{lists,seq,3}],2,ok},{1,[{lists,seq,2}],1,ok}],"
                  "{all,40},{{0,0,[]},[],0},[]}");
        answer(w, QUESTION_TRACE, i == 4 ? COUNTED : "{count,20000000,[3,0]}");
        answer(w, QUESTION_ARMED, NOTHING);
        arm_answer(w);
        if ((strstr(state(w)->note, "pattern 2 gets no events") != NULL) != rows[i].told)
            fail_msg("%s: %s", rows[i].patterns, state(w)->note);
        end_world(w);
    }
}

TEST(test_lost_is_told_with_its_number)
{
    struct world *w = running_world("lists:seq(_, _)", &plain);
    push(w, "{batch,[{l,2000,3000,rate}]," STATUS("open", "60", "0") "}");
    assert_int_equal(w->events, 0);
    push(w, "{counts,9000,[{0,[100]}],[]}");
    assert_int_equal(w->events, 1);
    assert_int_equal(w->last_lost, 40);
    const struct trace_event *e = trace_log_at(trace_session_log(w->t), 0);
    assert_string_equal(e->why, "rate");
    assert_int_equal(e->until_ns, 3000);
    push(w, "{batch,[{l,4000,5000,credit}]," STATUS("open", "70", "0") "}");
    push(w, "{counts,9000,[{0,[150]}],[]}");
    assert_int_equal(w->last_lost, 40); /* 80 missed, 40 of them told before */
    push(w, "{batch,[{l,6000,7000,rate}]," STATUS("open", "70", "0") "}");
    push(w, "{counts,9000,[{0,[150]}],[]}");
    assert_int_equal(w->events, 2); /* nobody called meanwhile */
    end_world(w);
}

static size_t credits(const struct world *w, uint64_t *bytes)
{
    size_t n = 0;
    *bytes = 0;
    for (size_t i = 0; i < w->n_told; i++) {
        unsigned long long id, events, b;
        if (sscanf(w->told[i], "{credit,%llu,%llu,%llu}", &id, &events, &b) == 3) {
            n++;
            *bytes += b;
        }
    }
    return n;
}

/* A batch of calls, with their bytes; `sent` is the sum so far. */
static void push_events(struct world *w, size_t n, uint64_t *sent, uint64_t bytes)
{
    char text[8000] = "{batch,[";
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s" CALL, i > 0 ? "," : "");
    *sent += bytes;
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "%s{r,1,7000,ok,0}],{1,open,10,5,%llu,0,0,[]}}", n > 0 ? "," : "",
             (unsigned long long)*sent);
    push(w, text);
}

/* One event that cannot be read ends no trace: it is dropped, counted and said. */
TEST(test_unread_events)
{
    static const char *const odd[] = {
        "{v,-1,0,<0.1.0>,2000,hello,0}",
        "{v,1,99,<0.1.0>,2000,hello,0}",
        "{l,2000,3000}",
        "{strange,1}",
        "odd",
        "{c,1}",
        "{r,1,a,b,0}",
        "{c,1,99,<0.9.0>,2000,{lists,seq,2},{m,f,1},[1,2],[],0,0}",
    };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct world *w = running_world("lists:seq(_, _)", &plain);
        char batch[300];
        snprintf(batch, sizeof batch,
                 "{batch,[%s,{l,2000,3000,window},%s]," STATUS("open", "16", "0") "}", odd[i],
                 odd[i]);
        push(w, batch);
        assert_true(state(w)->end == END_NONE);
        assert_int_equal(state(w)->total.lost, 2);
        assert_string_equal(state(w)->note, "2 events could not be read, and are dropped");
        push(w, "{counts,9000,[{0,[18]}],[]}");
        assert_int_equal(w->last_lost, 2); /* the event between them counts */
        end_world(w);
    }
}

TEST(test_credit)
{
    struct world *w = running_world("lists:seq(_, _)", &plain);
    uint64_t sent = 0, granted = 0;
    push(w, "{status,{1,open,10,5,0,0,0,[]}}");
    assert_int_equal(credits(w, &granted), 0);
    trace_hold(w->t, true);
    push_events(w, 10, &sent, 16384);
    assert_int_equal(credits(w, &granted), 0);
    trace_hold(w->t, false);
    assert_int_equal(credits(w, &granted), 1);
    assert_has(last_told(w), ",10,16384}");
    w->now += 100000000;
    push_events(w, 10, &sent, 16384); /* a full credit is back within 250 ms: as much again */
    assert_has(last_told(w), ",522,49152}");
    w->now += 300000000; /* and now it is not */
    push_events(w, 1, &sent, 65536);
    assert_has(last_told(w), ",1,65536}");
    push_events(w, 0, &sent, 100); /* a result takes no event's credit */
    assert_has(last_told(w), ",0,100}");
    for (int i = 0; i < 8; i++)
        push_events(w, 1, &sent, 131072);
    assert_has(last_told(w), ",1,131072}");
    credits(w, &granted);
    assert_int_equal(granted - sent + 32768, 192 * 1024); /* what is out there in the end */
    end_world(w);
}

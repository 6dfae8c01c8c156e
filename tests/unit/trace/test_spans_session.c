/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures of causal spans against a node that is played here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/spans.h"
#include "played.h"

#define PREFLIGHT "{preflight,[{0,[{shop,order,1}],1,ok}],{all,40},{{0,0,[]},[],0},[]}"
#define COUNTED "{count,500000000,[10]}"
#define NOTHING "{armed,1,0,[],{0,[]},{0,[]},[],0,<<>>,0}"
#define ARMED                                                                                      \
    "{armed,0,#{mono => 1000,wall_us => 1700000000000000,per_second => 1000000000,"                \
    "session => true,arm_us => 250}}"
#define ROOT "{{2000,1},root,<0.9.0>,none,<0.9.0>,0,none,none,0,{shop,order,1}}"
#define CALLED                                                                                     \
    "{{3000,2},send,<0.9.0>,cart,<0.9.0>,1,message,none,12,add},"                                  \
    "{{5000,3},'receive',<0.10.0>,<0.9.0>,<0.9.0>,1,message,none,12,add}"
#define RETURNED "{{9000,4},return,<0.9.0>,none,none,0,error,none,0,badarg}"
#define TOOK(why, counts, events) "{took," why ",{" counts ",0,0,0,0,0},2001000,800,[" events "]}"
#define NAMES                                                                                      \
    "{who,[{<0.9.0>,gone},{<0.10.0>,{cart,{erlang,apply,2},undefined,undefined,{erlang,apply,2}}}" \
    "]}"

struct world {
    struct played p;
    struct session *s;
    size_t changes;
};

static void on_change(void *arg)
{
    ((struct world *)arg)->changes++;
}

static const char *const pattern = "shop:order(_)";
static const struct spans_capture basic = {
    .patterns = &pattern,
    .n_patterns = 1,
    .request = {.for_ms = 10000, .roots = 2, .every = 3, .events = 100},
};
static const struct session_handlers handlers = {.on_change = on_change};

static struct world *new_world(const struct spans_capture *what)
{
    struct world *w = calloc(1, sizeof *w);
    const struct session_port port = played_port(&w->p, 27);
    struct error err = {0};
    w->p.now = 1000;
    if (spans_open(&w->s, what, &port, &handlers, w, NULL, NULL, &err) != 0)
        fail_msg("%s", err.text);
    return w;
}

static void free_world(struct world *w)
{
    session_free(w->s);
    played_clear(&w->p);
    free(w);
}

static const struct spans_run *run_of(const struct world *w)
{
    return spans_session_run(w->s);
}

static enum session_phase phase(const struct world *w)
{
    return run_of(w)->status.phase;
}

static void to_arming(struct world *w)
{
    played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
    played_answer(&w->p, QUESTION_TRACE, COUNTED);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
}

static struct world *running_world(void)
{
    struct world *w = new_world(&basic);
    to_arming(w);
    played_answer(&w->p, QUESTION_SPANS, ARMED);
    assert_int_equal(phase(w), SESSION_RUNNING);
    return w;
}

static void assert_root(const struct world *w)
{
    const struct spans *s = run_of(w)->spans;
    assert_int_equal(spans_count(s), 2);
    const struct span *root = spans_at(s, 0), *message = spans_at(s, 1);
    assert_int_equal(root->outcome, SPAN_EXCEPTION);
    assert_true(slice_is(root->reason, "badarg") && slice_is(root->operation, "shop:order/1"));
    assert_int_equal(root->started_ns, 2000);
    assert_int_equal(root->ended_ns, 9000);
    assert_true(slice_is(message->process.name, "cart"));
    assert_int_equal(message->queued_ns, 2000);
    assert_int_equal(message->words, 12);
}

TEST(test_capture)
{
    struct world *w = new_world(&basic);
    to_arming(w);
    const char *arm = played_last(&w->p, QUESTION_SPANS)->text;
    assert_non_null(strstr(arm, "roots => 2,every => 3,time => 10000,events => 100,"));
    assert_non_null(strstr(arm, "full => false"));
    assert_non_null(strstr(arm, "payloads => true"));
    assert_true(fabs(run_of(w)->calls_per_s - 20) < 1e-9);
    played_answer(&w->p, QUESTION_SPANS, ARMED);
    assert_string_equal(played_last(&w->p, QUESTION_SPANS)->text, "take");
    played_answer(&w->p, QUESTION_SPANS, TOOK("running", "1,1,3,0", ROOT "," CALLED));
    assert_int_equal(run_of(w)->open, 1);
    assert_int_equal(spans_count(run_of(w)->spans), 2);
    assert_string_equal(played_last(&w->p, QUESTION_WHO)->text, "[<0.9.0>,<0.10.0>]");
    played_answer(&w->p, QUESTION_WHO, NAMES);
    w->p.now += 250000000;
    session_tick(w->s);
    played_answer(&w->p, QUESTION_SPANS, TOOK("roots", "1,0,4,7", RETURNED));
    assert_int_equal(phase(w), SESSION_ENDING);
    played_answer(&w->p, QUESTION_SPANS, TOOK("roots", "1,0,4,7", ""));
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_true(run_of(w)->status.check.clean);
    assert_int_equal(run_of(w)->end, SPANS_END_ROOTS);
    assert_int_equal(run_of(w)->skipped, 7);
    assert_true(fabs(run_of(w)->seconds - 0.002) < 1e-9 && run_of(w)->disarm_us > 799);
    assert_int_equal(spans_run_wall_ns(run_of(w), 2000), INT64_C(1700000000000001000));
    assert_root(w);
    struct spans_run *kept = spans_session_take(w->s);
    free_world(w);
    assert_int_equal(kept->events, 4);
    spans_run_free(kept);
}

#define CONTEXT                                                                                    \
    "{{2000,1},caller,<0.9.0>,<0.12.0>,<0.9.0>,1,none,none,500,none},"                             \
    "{{2000,1},context,<0.9.0>,none,<0.9.0>,0,none,none,500,"                                      \
    "<<\"4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7\">>}"

/* Who called is asked for, and in no event but that one is a binary a text. */
TEST(test_context)
{
    struct spans_capture what = basic;
    struct world *w = running_world();
    assert_non_null(strstr(played_last(&w->p, QUESTION_SPANS)->text, "take"));
    free_world(w);
    what.request.context = true;
    w = new_world(&what);
    to_arming(w);
    assert_non_null(strstr(played_last(&w->p, QUESTION_SPANS)->text, "context => true"));
    assert_true(run_of(w)->context);
    played_answer(&w->p, QUESTION_SPANS, ARMED);
    played_answer(&w->p, QUESTION_SPANS, TOOK("running", "1,1,3,0", ROOT "," CONTEXT));
    const struct span *root = spans_at(run_of(w)->spans, 0);
    assert_true(root->context_read && root->n_callers == 1);
    assert_int_equal(spans_caller(run_of(w)->spans, root, 0).pid.id, 12);
    assert_true(slice_is(root->otel_span, "00f067aa0ba902b7"));
    assert_string_equal(played_last(&w->p, QUESTION_WHO)->text, "[<0.9.0>,<0.12.0>]");
    free_world(w);
    w = running_world();
    played_answer(&w->p, QUESTION_SPANS,
                  TOOK("running", "1,1,3,0",
                       "{{2000,1},root,<0.9.0>,none,<0.9.0>,0,none,none,0,<<\"shop\">>}"));
    assert_int_equal(run_of(w)->status.error.code, ERR_NONE);
    assert_int_equal(spans_dropped(run_of(w)->spans).invalid, 1);
    free_world(w);
    w = new_world(&what);
    to_arming(w);
    played_answer(&w->p, QUESTION_SPANS, "{refused,no_keys}");
    assert_int_equal(phase(w), SESSION_FAILED);
    assert_non_null(strstr(run_of(w)->status.error.text, "OTP 26.2"));
    free_world(w);
    struct played p = {0};
    struct session *s = NULL;
    struct error err = {0};
    const struct session_port port = played_port(&p, 25);
    assert_int_equal(spans_open(&s, &what, &port, &handlers, NULL, NULL, NULL, &err), ERR_REFUSED);
    assert_non_null(strstr(err.text, "OTP 26.2"));
    played_clear(&p);
}

#define PREFLIGHT_CALLS                                                                            \
    "{preflight,[{0,[{shop,order,1}],1,ok},{1,[{cart,add,2},{cart,sum,1}],2,ok}],{all,40},"        \
    "{{0,0,[]},[],0},[]}"
#define ENTERED                                                                                    \
    "{{2100,2},enter,<0.9.0>,none,<0.9.0>,0,none,none,0,{cart,add,2}},"                            \
    "{{2900,3},leave,<0.9.0>,none,none,0,error,none,0,{cart,add,2}}"

/* Calls within a root are armed apart from roots, and counted with them. */
TEST(test_calls_within)
{
    struct spans_capture what = basic;
    what.request.calls = "cart:_";
    struct world *w = new_world(&what);
    played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT_CALLS);
    assert_non_null(strstr(played_last(&w->p, QUESTION_TRACE)->text, "{cart,sum,1}"));
    played_answer(&w->p, QUESTION_TRACE, COUNTED);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    const char *arm = played_last(&w->p, QUESTION_SPANS)->text;
    const char *roots = strstr(arm, "patterns => [{[{shop,order,1}],");
    const char *calls = strstr(arm, "calls => [{[{cart,add,2},{cart,sum,1}],");
    assert_true(roots && calls && !strstr(calls, "shop,order"));
    assert_int_equal(run_of(w)->functions, 1);
    assert_int_equal(run_of(w)->called, 2);
    played_answer(&w->p, QUESTION_SPANS, ARMED);
    played_answer(&w->p, QUESTION_SPANS, TOOK("running", "1,1,3,0", ROOT "," ENTERED));
    const struct spans *s = run_of(w)->spans;
    assert_int_equal(spans_count(s), 2);
    const struct span *within = spans_at(s, 1);
    assert_int_equal(within->kind, SPAN_FUNCTION);
    assert_int_equal(within->outcome, SPAN_EXCEPTION);
    assert_int_equal(within->ended_ns - within->started_ns, 800);
    assert_true(slice_is(within->operation, "cart:add/2"));
    free_world(w);
}

TEST(test_too_many)
{
    static const struct {
        const char *preflight, *why;
    } rows[] = {
        {"{preflight,[{0,[{shop,order,1}],1,ok},{1,[],2000,too_many}],{all,40},{{0,0,[]},[],0},[]}",
         "2000 functions match, and a capture takes 1000 for --calls"},
        {"{preflight,[{0,[],2000,too_many},{1,[{cart,sum,1}],1,ok}],{all,40},{{0,0,[]},[],0},[]}",
         "2000 functions match, and a capture takes 100 roots' functions"},
        {"{preflight,[{0,[{shop,order,1}],1,ok},{1,[],0,no_module}],{all,40},{{0,0,[]},[],0},[]}",
         "no function for --calls: cart:_"},
    };
    struct spans_capture what = basic;
    what.request.calls = "cart:_";
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world(&what);
        played_answer(&w->p, QUESTION_PREFLIGHT, rows[i].preflight);
        assert_int_equal(phase(w), SESSION_FAILED);
        if (!strstr(run_of(w)->status.error.text, rows[i].why))
            fail_msg("%s", run_of(w)->status.error.text);
        free_world(w);
    }
}

/* The node looks for as many as both may be together. */
TEST(test_too_many_roots)
{
    char text[4096] = "{preflight,[{0,[{shop,order,0}";
    struct spans_capture what = basic;
    what.request.calls = "cart:_";
    for (unsigned i = 1; i <= 100; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",{shop,order,%u}", i);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s",
             "],101,ok},{1,[{cart,sum,1}],1,ok}],{all,40},{{0,0,[]},[],0},[]}");
    struct world *w = new_world(&what);
    played_answer(&w->p, QUESTION_PREFLIGHT, text);
    assert_int_equal(phase(w), SESSION_FAILED);
    assert_non_null(strstr(run_of(w)->status.error.text, "takes 100 roots' functions"));
    free_world(w);
}

/* Names are waited for before what is left is looked at. */
TEST(test_late_names)
{
    struct world *w = running_world();
    played_answer(&w->p, QUESTION_SPANS, TOOK("time", "1,0,4,0", ROOT "," CALLED "," RETURNED));
    struct played_question *names = &w->p.asked[w->p.n_asked - 1];
    assert_int_equal(names->question, QUESTION_WHO);
    struct played_question *take = &w->p.asked[w->p.n_asked - 2];
    assert_string_equal(take->text, "take");
    played_answer(&w->p, QUESTION_WHO, NAMES);
    assert_int_equal(phase(w), SESSION_ENDING);
    w->p.n_asked--; /* the one before is the last that is open */
    free(names->text);
    played_answer(&w->p, QUESTION_SPANS, TOOK("time", "1,0,4,0", ""));
    assert_int_equal(phase(w), SESSION_VERIFYING);
    assert_root(w);
    free_world(w);
}

TEST(test_refusals)
{
    static const struct {
        const char *answer, *text;
        enum err code;
    } rows[] = {
        {"{refused,{system_tracer,<<\"<0.80.0>\">>}}", "system tracer <0.80.0>", ERR_REFUSED},
        {"{refused,{control_word,9}}", "control word is 9", ERR_REFUSED},
        {"{refused,{session,beamtop}}", "another beamtop", ERR_REFUSED},
        {"{refused,too_many}", "too many functions", ERR_REFUSED},
        {"{refused,no_functions}", "none of the functions", ERR_NOT_FOUND},
        {"{refused,{late,2,500}}", "scheduler", ERR_REFUSED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world(&basic);
        to_arming(w);
        played_answer(&w->p, QUESTION_SPANS, rows[i].answer);
        assert_int_equal(phase(w), SESSION_FAILED);
        assert_int_equal(run_of(w)->status.error.code, rows[i].code);
        if (!strstr(run_of(w)->status.error.text, rows[i].text))
            fail_msg("%s", run_of(w)->status.error.text);
        assert_int_equal(w->p.n_told, 0);
        free_world(w);
    }
}

TEST(test_not_found)
{
    static const char *const answers[] = {
        "{preflight,[{0,[],0,no_module}],{all,40},{{0,0,[]},[],0},[]}",
        "{preflight,[{0,[{shop,order,1}],1,ok}],{none,<<\"nobody\">>},{{0,0,[]},[],0},[]}",
        "{preflight,[{0,[{shop,order,1}],1,ok}],{all,40},{{0,0,[]},[],0},[{<<\"nam\">>,[]}]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        static const char *const named = "shop:order(nam)";
        struct spans_capture what = basic;
        what.patterns = &named;
        struct world *w = new_world(&what);
        played_answer(&w->p, QUESTION_PREFLIGHT, answers[i]);
        assert_int_equal(phase(w), SESSION_FAILED);
        assert_int_equal(run_of(w)->status.error.code, ERR_NOT_FOUND);
        free_world(w);
    }
}

TEST(test_expensive)
{
    struct world *w = new_world(&basic);
    played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
    played_answer(&w->p, QUESTION_TRACE, "{count,500000000,[1000000]}");
    assert_int_equal(phase(w), SESSION_ASKING);
    assert_true(run_of(w)->expensive);
    session_stop(w->s);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_true(run_of(w)->status.check.unarmed);
    free_world(w);
}

/* Calls of gen are counted with those of the roots, at the price of all its breakpoints. */
TEST(test_no_payloads)
{
    struct spans_capture what = basic;
    what.request.no_payloads = true;
    struct world *w = new_world(&what);
    played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
    assert_non_null(strstr(played_last(&w->p, QUESTION_TRACE)->text, "{gen,do_call,4}"));
    played_answer(&w->p, QUESTION_TRACE, "{count,500000000,[10,5000]}");
    assert_int_equal(phase(w), SESSION_ARMING);
    assert_true(fabs(run_of(w)->load - 10020 * 2.2e-6) < 1e-9);
    assert_true(run_of(w)->no_payloads && !run_of(w)->expensive);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    assert_non_null(strstr(played_last(&w->p, QUESTION_SPANS)->text, "payloads => false"));
    free_world(w);
}

TEST(test_stop_and_loss)
{
    struct world *w = running_world();
    session_stop(w->s);
    session_stop(w->s);
    assert_int_equal(w->p.n_told, 1);
    assert_string_equal(w->p.told[0], "stop");
    played_answer(&w->p, QUESTION_SPANS, TOOK("stopped", "0,0,0,0", ""));
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    assert_int_equal(run_of(w)->end, SPANS_END_STOPPED);
    free_world(w);
    /* Freed while it runs: the node is told to forget it. */
    w = running_world();
    session_free(w->s);
    assert_string_equal(w->p.told[0], "forget");
    played_clear(&w->p);
    free(w);
    w = running_world();
    played_answer(&w->p, QUESTION_SPANS, TOOK("running", "1,1,1,0", ROOT));
    session_link_lost(w->s, &(struct error){.code = ERR_LOST, .text = "gone"});
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_false(run_of(w)->status.check.clean);
    assert_int_equal(session_trouble(w->s).code, ERR_LOST);
    assert_int_equal(spans_count(run_of(w)->spans), 1);
    free_world(w);
    w = new_world(&basic);
    w->p.refuse = true;
    played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
    assert_int_equal(phase(w), SESSION_FAILED);
    free_world(w);
}

/* A part that cannot be read ends the capture, and what is left is looked at. */
TEST(test_broken_part)
{
    struct world *w = running_world();
    played_answer(&w->p, QUESTION_SPANS, "{took,running}");
    assert_string_equal(w->p.told[0], "forget");
    played_answer(&w->p, QUESTION_ARMED, "{armed,1,0,[],{1,[]},{0,[]},[],1,<<>>,0}");
    w->p.now += UINT64_C(3000000000);
    session_tick(w->s);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_int_equal(run_of(w)->end, SPANS_END_KILLED);
    assert_int_equal(run_of(w)->status.error.code, ERR_FORMAT);
    free_world(w);
}

static void end_by_itself(struct world *w)
{
    w->p.now += 250000000;
    session_tick(w->s);
    played_answer(&w->p, QUESTION_SPANS, TOOK("roots", "1,0,4,0", ""));
    assert_int_equal(run_of(w)->status.error.code, ERR_NONE);
    assert_int_equal(run_of(w)->end, SPANS_END_ROOTS);
}

/* A serial that the VM gives may be negative. */
TEST(test_serials)
{
#define SENT(serial)                                                                               \
    "{{3000,2},send,<0.9.0>,cart,<0.9.0>," serial ",message,none,12,add},"                         \
    "{{5000,3},'receive',<0.10.0>,<0.9.0>,<0.9.0>," serial ",message,none,12,add}"
    static const char *const sent[] = {SENT("-1"), SENT("-576460752303423488"),
                                       SENT("576460752303423487"), SENT("-9223372036854775808")};
    for (size_t i = 0; i < ARRAY_LEN(sent); i++) {
        struct world *w = running_world();
        char took[800];
        snprintf(took, sizeof took, TOOK("running", "1,1,3,0", ROOT ",%s," RETURNED), sent[i]);
        played_answer(&w->p, QUESTION_SPANS, took);
        played_answer(&w->p, QUESTION_WHO, NAMES);
        end_by_itself(w);
        assert_root(w);
        free_world(w);
    }
}

/* One event that cannot be read does not end a capture: it is dropped and counted. */
TEST(test_unread_events)
{
    static const char *const odd[] = {
        "{{2500,9},send,<0.9.0>,cart,<0.9.0>,1.5,message,none,12,add}",
        "{{2500,9},send,<0.9.0>,cart,<0.9.0>,[x],message,none,12,add}",
        "{{2500,9},strange,<0.9.0>,cart,<0.9.0>,1,message,none,12,add}",
        "{{2500,9},send,[],cart,<0.9.0>,1,message,none,12,add}",
        "{{2500,9},send}",
        "odd",
        "7",
        "[]",
    };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct world *w = running_world();
        char took[800];
        snprintf(took, sizeof took, TOOK("running", "1,1,5,0", ROOT ",%s," CALLED ",%s," RETURNED),
                 odd[i], odd[i]);
        played_answer(&w->p, QUESTION_SPANS, took);
        played_answer(&w->p, QUESTION_WHO, NAMES);
        assert_int_equal(phase(w), SESSION_RUNNING);
        assert_int_equal(spans_dropped(run_of(w)->spans).invalid, 2);
        end_by_itself(w);
        assert_root(w);
        free_world(w);
    }
}

TEST(test_hostile_answers)
{
    static const char *const answers[] = {
        ARMED, TOOK("running", "1,0,4,0", ROOT "," CONTEXT "," CALLED "," RETURNED)};
    static const uint8_t bytes[] = {0, 88, 97, 104, 106, 108, 119, 255};
    for (size_t n = 0; n < ARRAY_LEN(answers); n++) {
        struct builder *answer = played_term(answers[n]);
        bool has = true;
        for (size_t at = 0; has; at++)
            for (size_t i = 0; i <= ARRAY_LEN(bytes); i++) {
                struct world *w = new_world(&basic);
                const bool cut = i == ARRAY_LEN(bytes);
                to_arming(w);
                if (n > 0)
                    played_answer(&w->p, QUESTION_SPANS, ARMED);
                has = played_hostile(&w->p, QUESTION_SPANS, answer, at, cut, cut ? 0 : bytes[i]);
                free_world(w);
            }
        builder_free(answer);
    }
}

TEST(test_wrong_words)
{
    static const struct {
        const char *text, *why;
        size_t offset;
    } rows[] = {
        {"send", "not messages", 0},
        {"shop:order(_) -> return", "no actions", 14},
        {"shop:", "expected", 5},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err = {0};
        size_t offset = 999;
        assert_int_equal(
            patterns_check(spans_pattern_check, rows[i].text, SYNTAX_AUTO, &offset, &err),
            ERR_USAGE);
        if (!strstr(err.text, rows[i].why))
            fail_msg("%s", err.text);
        assert_int_equal(offset, rows[i].offset);
    }
}

TEST(test_options)
{
    struct spans_capture rows[15];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        rows[i] = basic;
    rows[0].request.for_ms = 0;
    rows[1].request.roots = 1001;
    rows[2].request.every = 0;
    rows[3].request.events = 20001;
    rows[4].request.procs = "all+children";
    rows[5].n_patterns = 0;
    rows[6].request.procs = "<0.1";
    rows[7].request.calls = "shop:";
    rows[8].request.calls = "send";
    rows[9].request.calls = "shop:_";
    rows[9].request.process = "cart";
    rows[9].n_patterns = 0;
    for (size_t i = 10; i < 15; i++)
        rows[i].request.no_payloads = true;
    rows[10].request.full = true;
    rows[11].request.context = true;
    rows[12].request.calls = "shop:_";
    rows[13].request.procs = "all";
    rows[14].request.process = "cart";
    rows[14].n_patterns = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct played p = {0};
        const struct session_port port = played_port(&p, 25);
        struct session *s = NULL;
        struct error err = {0};
        assert_int_equal(spans_open(&s, &rows[i], &port, &handlers, NULL, NULL, NULL, &err),
                         ERR_USAGE);
        assert_int_equal(p.n_asked, 0);
    }
}

/* It waits although it is cheap: whoever opened it prepares something. */
TEST(test_it_is_held)
{
    struct spans_capture what = basic;
    what.hold = true;
    for (int stops = 0; stops < 2; stops++) {
        struct world *w = new_world(&what);
        played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
        played_answer(&w->p, QUESTION_TRACE, COUNTED);
        assert_int_equal(phase(w), SESSION_ASKING);
        assert_false(run_of(w)->expensive);
        if (stops)
            session_stop(w->s);
        else
            session_confirm(w->s);
        assert_int_equal(phase(w), stops ? SESSION_ENDED : SESSION_ARMING);
        assert_true(run_of(w)->status.check.unarmed == (stops == 1));
        free_world(w);
    }
}

/* ---- a side of another node's capture */

static const char *const first = "first@host";
static const struct spans_capture of_side = {
    .request = {.for_ms = 10000, .roots = 1000, .every = 1, .events = 100},
    .others = &first,
    .n_others = 1};

/* Nothing is looked for on the node, and nothing but the system tracer is set there. */
TEST(test_a_side)
{
    struct world *w = new_world(&of_side);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    const char *arm = played_last(&w->p, QUESTION_SPANS)->text;
    assert_non_null(strstr(arm, "patterns => [],calls => [],procs => new"));
    assert_non_null(strstr(arm, "origins => [<<\"first@host\">>]"));
    played_answer(&w->p, QUESTION_SPANS, ARMED);
    assert_int_equal(phase(w), SESSION_RUNNING);
    played_answer(&w->p, QUESTION_SPANS, TOOK("running", "0,0,1,0", CALLED));
    played_answer(&w->p, QUESTION_WHO, NAMES);
    w->p.now += 250000000;
    session_tick(w->s);
    played_answer(&w->p, QUESTION_SPANS, TOOK("stopped", "0,0,1,0", ""));
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_true(run_of(w)->status.check.clean);
    assert_int_equal(spans_events(run_of(w)->spans), 2);
    free_world(w);
}

TEST(test_what_a_side_does_not_take)
{
    const char *many[LIMIT_SPAN_NODES];
    struct spans_capture wrong[5];
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        wrong[i] = of_side;
    for (size_t i = 0; i < LIMIT_SPAN_NODES; i++)
        many[i] = first;
    wrong[0].others = many;
    wrong[0].n_others = LIMIT_SPAN_NODES;
    wrong[1].request.full = true;
    wrong[2].request.context = true;
    wrong[3].request.process = "shop";
    wrong[4].request.for_ms = SPANS_MOST_MS + 1;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct session *s = NULL;
        struct error err = {0};
        struct played p = {0};
        const struct session_port with = played_port(&p, 27);
        assert_int_equal(spans_open(&s, &wrong[i], &with, &handlers, NULL, NULL, NULL, &err),
                         ERR_USAGE);
        assert_null(s);
        played_clear(&p);
    }
}

/* ---- several nodes, on each of which requests may begin */

#define FITS_NOT "{preflight,[{0,[],0,module}],{all,40},{{0,0,[]},[],0},[]}"

static struct spans_capture of_several(void)
{
    struct spans_capture what = basic;
    what.hold = true;
    what.others = &first;
    what.n_others = 1;
    return what;
}

/* What a label of another node is, stays. */
#define FAR                                                                                        \
    "{{3000,2},'receive',<0.10.0>,{relay,'first@host'},<0.9.0>,1,message,none,12,add},"            \
    "{{4000,3},send,<0.10.0>,cart,none,1,message,none,12,add}"

TEST(test_several)
{
    const struct spans_capture what = of_several();
    struct world *w = new_world(&what);
    played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
    played_answer(&w->p, QUESTION_TRACE, COUNTED);
    assert_int_equal(phase(w), SESSION_ASKING);
    session_confirm(w->s);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    const char *arm = played_last(&w->p, QUESTION_SPANS)->text;
    assert_non_null(strstr(arm, "patterns => [{[{shop,order,1}],"));
    assert_non_null(strstr(arm, "procs => all"));
    assert_non_null(strstr(arm, "origins => [<<\"first@host\">>]"));
    played_answer(&w->p, QUESTION_SPANS, ARMED);
    spans_session_begin(w->s);
    spans_session_enough(w->s);
    assert_int_equal(w->p.n_told, 2);
    assert_string_equal(w->p.told[0], "open");
    assert_string_equal(w->p.told[1], "enough");
    played_answer(&w->p, QUESTION_SPANS, TOOK("running", "1,1,3,0", FAR));
    struct span_event e;
    assert_int_equal(spans_events(run_of(w)->spans), 2);
    spans_event_at(run_of(w)->spans, 0, &e);
    assert_true(slice_is(e.peer.node, "first@host") && e.label_node.len == 0 && e.label.id == 9);
    session_link_lost(w->s, &(struct error){.code = ERR_LOST, .text = "gone"});
    spans_session_enough(w->s);
    assert_int_equal(w->p.n_told, 2);
    free_world(w);
}

/* Where no function fits requests of the others go on, and nothing is seeded. */
TEST(test_several_without_a_function)
{
    const struct spans_capture what = of_several();
    struct world *w = new_world(&what);
    played_answer(&w->p, QUESTION_PREFLIGHT, FITS_NOT);
    assert_int_equal(phase(w), SESSION_ASKING);
    assert_int_equal(run_of(w)->functions, 0);
    session_confirm(w->s);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    assert_non_null(strstr(played_last(&w->p, QUESTION_SPANS)->text,
                           "patterns => [],calls => [],procs => new"));
    free_world(w);
    w = new_world(&basic);
    played_answer(&w->p, QUESTION_PREFLIGHT, FITS_NOT);
    assert_int_equal(phase(w), SESSION_FAILED);
    assert_int_equal(run_of(w)->status.error.code, ERR_NOT_FOUND);
    free_world(w);
}

TEST(test_what_several_do_not_take)
{
    struct spans_capture wrong[3];
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        wrong[i] = of_several();
    wrong[0].request.full = true;
    wrong[1].request.no_payloads = true;
    wrong[2].n_patterns = 0;
    wrong[2].request.process = "shop";
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct session *s = NULL;
        struct error err = {0};
        struct played p = {0};
        const struct session_port with = played_port(&p, 27);
        assert_int_equal(spans_open(&s, &wrong[i], &with, &handlers, NULL, NULL, NULL, &err),
                         ERR_USAGE);
        assert_null(s);
        played_clear(&p);
    }
}

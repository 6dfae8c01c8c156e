/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of counted calls against a target that is played here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/calls.h"
#include "played.h"

/* clang-format off */
#define PREFLIGHT "{preflight,[],{all,40},{{0,0,[]},[],0},[]}"
#define NOTHING "{armed,1,0,[],{0,[]},{0,[]},[],0,<<>>,0}"
#define SAMPLED "{sampled,20000000,2,3,2000,[3],1,[]}"
/* clang-format on */
#define COUNTED                                                                                    \
    "{counted,5,1000000,2000000000,15,3,2000,{0,[]},"                                              \
    "[{w,f,1,undefined,1200},{lists,map,2,stdlib,600},{w,g,0,undefined,200}],"                     \
    "[{w,undefined,2,1400},{lists,stdlib,1,600}],[{undefined,2,1400},{stdlib,1,600}],"             \
    "{1,2,3,4}}"
#define TIMED                                                                                      \
    "{timed,6,1000001,1000000000,40,[{w,f,1,100,5000,undefined},{lists,map,2,lost,undefined,"      \
    "undefined},{w,g,0,10,20,undefined}],{10,20,30,40}}"

struct world {
    struct played p;
    struct session *s;
    size_t windows, changes;
    struct calls_window last; /* without its rows */
    double own_us, change, us_per_call;
    bool second_lost;
    char first[64];
};

static void on_change(void *arg)
{
    ((struct world *)arg)->changes++;
}

static void on_window(void *arg, const struct calls_window *window)
{
    struct world *w = arg;
    w->windows++;
    w->last = *window;
    if (window->n_rows < 2)
        return;
    uint64_t own_us = window->rows[0].own_us;
    w->own_us = own_us == CALLS_UNKNOWN ? (double)NAN : (double)own_us;
    w->us_per_call = window->rows[0].us_per_call;
    w->change = window->rows[0].change;
    w->second_lost = window->rows[1].lost;
    snprintf(w->first, sizeof w->first, "%.*s:%.*s/%d", (int)window->rows[0].module.len,
             window->rows[0].module.s, (int)window->rows[0].function.len,
             window->rows[0].function.s, (int)window->rows[0].arity);
}

static const struct calls_options basic = {.for_ms = 2000, .windows = 1, .top = 100};

static struct world *new_world(void)
{
    struct world *w = calloc(1, sizeof *w);
    w->p.now = 1000;
    return w;
}

static void open_world(struct world *w, const struct calls_options *options)
{
    static const struct session_handlers handlers = {.on_change = on_change,
                                                     .on_window = on_window};
    const struct session_port port = played_port(&w->p, 27);
    struct error err = {0};
    if (calls_open(&w->s, options, &port, &handlers, w, NULL, NULL, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(w->changes, 0);
}

static void free_world(struct world *w)
{
    session_free(w->s);
    for (size_t i = 0; i < w->p.n_told; i++)
        assert_string_equal(w->p.told[i], "stop");
    played_clear(&w->p);
    free(w);
}

static enum session_phase phase(const struct world *w)
{
    return calls_session_state(w->s)->status.phase;
}

static void prepare(struct world *w, const char *sampled)
{
    played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    do /* the second look finds what the first one found */
        played_answer(&w->p, QUESTION_CALLS, sampled);
    while (phase(w) == SESSION_PREPARING);
}

static void close_clean(struct world *w)
{
    assert_string_equal(played_last(&w->p, QUESTION_CALLS)->text, "close");
    played_answer(&w->p, QUESTION_CALLS, "closed");
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_true(calls_session_state(w->s)->status.check.clean);
}

TEST(test_one_window)
{
    struct world *w = new_world();
    open_world(w, &basic);
    played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    assert_string_equal(played_last(&w->p, QUESTION_CALLS)->text, "{sample,20,all}");
    played_answer(&w->p, QUESTION_CALLS, SAMPLED);
    assert_string_equal(played_last(&w->p, QUESTION_CALLS)->text, "{sample,480,all}");
    played_answer(&w->p, QUESTION_CALLS, SAMPLED);
    const struct calls_state *s = calls_session_state(w->s);
    assert_int_equal(s->functions, 3);
    assert_true(fabs(s->calls_per_s - 100000) < 1 && fabs(s->load - 0.0005) < 1e-9 &&
                !s->expensive);
    assert_string_equal(played_last(&w->p, QUESTION_CALLS)->text, "{count,2000,all,100}");
    played_answer(&w->p, QUESTION_CALLS, COUNTED);
    assert_int_equal(w->windows, 1);
    assert_string_equal(w->first, "w:f/1");
    assert_int_equal(w->last.interval_us, 2000000);
    assert_int_equal(w->last.calls, 2000);
    assert_true(fabs(w->last.calls_per_s - 1000) < 1e-6);
    assert_int_equal(w->last.armed_us, 2);
    assert_int_equal(w->last.target_us, 100);
    assert_true(isnan(w->change) && isnan(w->own_us) && !w->last.cut && !w->last.timed);
    close_clean(w);
    assert_int_equal(w->p.n_told, 0);
    free_world(w);
}

/* A row that cannot be read is dropped and counted; the others are a window. */
TEST(test_unread_rows)
{
    struct calls_options options = basic;
    options.time = true;
    struct world *w = new_world();
    open_world(w, &options);
    prepare(w, SAMPLED);
    played_answer(&w->p, QUESTION_CALLS,
                  "{counted,5,1000000,2000000000,15,3,2000,{0,[]},"
                  "[{lists,map,2,stdlib,-600},{w,f,1,undefined,1200},odd,{w,g,999,undefined,2},"
                  "{w,g,0,undefined,200}],[],[],{1,2,3,4}}");
    played_answer(&w->p, QUESTION_CALLS,
                  "{timed,6,1000001,1000000000,40,[{w,f,1,100,5000,undefined},"
                  "{w,g,0,10,-20,undefined}],{10,20,30,40}}");
    assert_int_equal(calls_session_state(w->s)->status.error.code, ERR_NONE);
    assert_int_equal(w->windows, 1);
    assert_int_equal(w->last.n_rows, 2);
    assert_int_equal(w->last.lost, 4);
    assert_string_equal(w->first, "w:f/1");
    assert_true(fabs(w->own_us - 5000) < 1e-9);
    close_clean(w);
    free_world(w);
}

TEST(test_times)
{
    struct calls_options options = basic;
    options.time = options.memory = true;
    options.procs = "all+children";
    struct world *w = new_world();
    open_world(w, &options);
    prepare(w, SAMPLED);
    played_answer(&w->p, QUESTION_CALLS, COUNTED);
    assert_int_equal(w->windows, 0);
    assert_string_equal(played_last(&w->p, QUESTION_CALLS)->text,
                        "{time,2000,[call_time,call_memory],{all,children}}");
    played_answer(&w->p, QUESTION_CALLS, TIMED);
    assert_int_equal(w->windows, 1);
    assert_true(w->last.timed && w->last.has_time && w->last.has_memory);
    assert_int_equal(w->last.processes, 40);
    assert_true(fabs(w->own_us - 5000) < 1e-9 && fabs(w->us_per_call - 50) < 1e-9);
    assert_true(w->second_lost);
    assert_int_equal(w->last.disarmed_us, 44);
    close_clean(w);
    free_world(w);
}

/* A refused second window takes nothing from the first. */
TEST(test_times_refused)
{
    struct calls_options options = basic;
    options.time = true;
    struct world *w = new_world();
    open_world(w, &options);
    prepare(w, SAMPLED);
    played_answer(&w->p, QUESTION_CALLS, COUNTED);
    played_answer(&w->p, QUESTION_CALLS, "{refused,no_processes}");
    assert_int_equal(w->windows, 1);
    assert_false(w->last.timed);
    assert_string_equal(w->last.timed_why, "none of the chosen processes is alive any more");
    close_clean(w);
    free_world(w);
}

TEST(test_windows_and_changes)
{
    struct calls_options options = basic;
    options.windows = 2;
    options.every_ms = 10000;
    struct world *w = new_world();
    open_world(w, &options);
    prepare(w, SAMPLED);
    w->p.now += 2000000000;
    played_answer(&w->p, QUESTION_CALLS, COUNTED);
    assert_int_equal(phase(w), SESSION_WAITING);
    w->p.now += 7999999999;
    session_tick(w->s);
    assert_int_equal(phase(w), SESSION_WAITING);
    w->p.now += 1;
    session_tick(w->s);
    played_answer(&w->p, QUESTION_CALLS,
                  "{counted,5,2000000,1000000000,15,3,2000,{2,[m]},[{w,f,1,undefined,1200},"
                  "{x,y,0,undefined,1}],[],[],{1,2,3,4}}");
    assert_int_equal(w->last.number, 2);
    assert_int_equal(w->last.lost, 2);
    assert_true(fabs(w->change - 1) < 1e-9);
    close_clean(w);
    free_world(w);
}

/* One that is paced waits for the word, however long ago the last window was. */
TEST(test_paced)
{
    struct calls_options options = basic;
    options.windows = 2;
    options.paced = true;
    struct world *w = new_world();
    open_world(w, &options);
    prepare(w, SAMPLED);
    w->p.now += 20000000000;
    played_answer(&w->p, QUESTION_CALLS, COUNTED);
    session_tick(w->s);
    assert_int_equal(phase(w), SESSION_WAITING);
    assert_int_equal(calls_session_due_ms(w->s), 0);
    calls_session_next(w->s);
    assert_int_equal(phase(w), SESSION_RUNNING);
    played_answer(&w->p, QUESTION_CALLS, COUNTED);
    assert_int_equal(w->windows, 2);
    close_clean(w);
    free_world(w);
}

TEST(test_expensive)
{
    /* 100 M calls/s, of functions that are not known one by one. */
    static const char expensive[] = "{sampled,20000000,2,3,2000000,[3],1,[]}";
    struct calls_options options = basic;
    options.for_ms = 200;
    struct world *w = new_world();
    open_world(w, &options);
    prepare(w, expensive);
    assert_int_equal(phase(w), SESSION_ASKING);
    assert_true(calls_session_state(w->s)->expensive);
    session_confirm(w->s);
    assert_int_equal(phase(w), SESSION_RUNNING);
    played_answer(&w->p, QUESTION_CALLS, COUNTED);
    close_clean(w);
    free_world(w);
    options.force = true;
    w = new_world();
    open_world(w, &options);
    prepare(w, expensive);
    assert_int_equal(phase(w), SESSION_RUNNING);
    free_world(w);
    options.dry_run = true;
    w = new_world();
    open_world(w, &options);
    prepare(w, SAMPLED);
    assert_int_equal(phase(w), SESSION_ASKING);
    session_confirm(w->s); /* not in a dry run */
    assert_int_equal(phase(w), SESSION_ASKING);
    session_stop(w->s);
    close_clean(w);
    assert_int_equal(w->windows, 0);
    free_world(w);
}

/* Calls come in bursts: the second look is as long as its cost allows, and both count. */
TEST(test_looks)
{
    static const struct {
        unsigned for_ms;
        bool force;
        const char *first, *second, *asked;
        double calls_per_s;
    } rows[] = {
        {2000, false, "{sampled,20000000,2,3,0,[3],1,[]}",
         "{sampled,480000000,2,3,5000000,[3],1,[]}", "{sample,480,all}", 10e6},
        /* A burst: half of two schedulers, were it to go on. */
        {2000, false, "{sampled,20000000,2,3,2000000,[3],1,[]}",
         "{sampled,400000000,2,3,100000,[3],1,[]}", "{sample,400,all}", 5e6},
        {100, false, "{sampled,20000000,2,3,2000000,[3],1,[]}", NULL, NULL, 100e6},
        {2000, true, "{sampled,20000000,2,3,2000,[3],1,[]}", NULL, NULL, 1e5},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct calls_options options = basic;
        options.for_ms = rows[i].for_ms;
        options.force = rows[i].force;
        struct world *w = new_world();
        open_world(w, &options);
        played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
        played_answer(&w->p, QUESTION_ARMED, NOTHING);
        played_answer(&w->p, QUESTION_CALLS, rows[i].first);
        if (rows[i].second) {
            assert_string_equal(played_last(&w->p, QUESTION_CALLS)->text, rows[i].asked);
            assert_true(isnan(calls_session_state(w->s)->calls_per_s)); /* not half an estimate */
            played_answer(&w->p, QUESTION_CALLS, rows[i].second);
        }
        assert_true(fabs(calls_session_state(w->s)->calls_per_s - rows[i].calls_per_s) < 1);
        assert_int_equal(phase(w),
                         calls_session_state(w->s)->expensive ? SESSION_ASKING : SESSION_RUNNING);
        free_world(w);
    }
}

/* What the limit leaves of windows: 5 calls in 20 ms are 1e-6 of the two schedulers. */
TEST(test_fits)
{
    static const struct {
        unsigned for_ms, every_ms, window_ms, due_ms;
        const char *sampled, *asked;
    } rows[] = {
        {2000, 0, 2000, 0, "{sampled,20000000,2,3,400000,[3],1,[]}", "{count,2000,all,100}"},
        {2000, 0, 800, 1000, "{sampled,20000000,2,3,1000000,[3],1,[{w,f,1,undefined,999999}]}",
         "{count,800,all,100}"},
        {2000, 5000, 800, 4000, "{sampled,20000000,2,3,1000000,[3],1,[]}", "{count,800,all,100}"},
        {300, 0, 300, 0, "{sampled,20000000,2,3,2000000,[3],1,[{w,f,1,undefined,1900000}]}",
         "{count,300,all,100,[{w,f,1}]}"},
        {300, 0, 120, 0,
         "{sampled,20000000,2,3,4000000,[3],1,[{w,f,1,undefined,2000000},{w,'g "
         "h',0,undefined,1000000}"
         ",{w,i,0,undefined,9}]}",
         "{count,120,all,100,[{w,f,1},{w,'g h',0}]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct calls_options options = basic;
        options.for_ms = rows[i].for_ms;
        options.every_ms = rows[i].every_ms;
        options.windows = 2;
        struct world *w = new_world();
        open_world(w, &options);
        prepare(w, rows[i].sampled);
        assert_string_equal(played_last(&w->p, QUESTION_CALLS)->text, rows[i].asked);
        assert_int_equal(calls_session_state(w->s)->window_ms, rows[i].window_ms);
        w->p.now += 1000000000;
        played_answer(&w->p, QUESTION_CALLS, COUNTED);
        bool is_shorter = rows[i].window_ms < rows[i].for_ms;
        assert_true(w->last.asked_us ==
                    (is_shorter ? rows[i].for_ms * UINT64_C(1000) : CALLS_UNKNOWN));
        assert_int_equal(w->last.n_excluded, calls_session_state(w->s)->excluded);
        if (rows[i].due_ms > 0)
            assert_int_equal(calls_session_due_ms(w->s), rows[i].due_ms);
        free_world(w);
    }
}

TEST(test_stop)
{
    struct calls_options options = basic;
    options.windows = 0;
    options.time = true;
    struct world *w = new_world();
    open_world(w, &options);
    session_stop(w->s);
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_true(calls_session_state(w->s)->status.check.clean);
    free_world(w);
    w = new_world();
    open_world(w, &options);
    played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    session_stop(w->s);
    session_stop(w->s);
    assert_int_equal(w->p.n_told, 1);
    played_answer(&w->p, QUESTION_CALLS, SAMPLED);
    close_clean(w);
    assert_int_equal(w->windows, 0);
    free_world(w);
    /* In a window: it is told, as far as it came, without a second one. */
    w = new_world();
    open_world(w, &options);
    prepare(w, SAMPLED);
    session_stop(w->s);
    assert_int_equal(w->p.n_told, 1);
    played_answer(&w->p, QUESTION_CALLS,
                  "{counted,5,1,700000000,15,0,0,{0,[]},[],[],[],{1,2,3,4}}");
    assert_int_equal(w->windows, 1);
    assert_true(w->last.cut);
    close_clean(w);
    free_world(w);
    /* Freed in a window: the target is told. */
    w = new_world();
    open_world(w, &options);
    prepare(w, SAMPLED);
    free_world(w);
}

/* Answers that keep a run from its windows, and what is said then. */
TEST(test_refusals)
{
    static const struct {
        const char *name, *sampled;
        enum err code;
        const char *text;
    } rows[] = {
        {"others",
         "{refused,{in_use,[<<\"breakpoint on m:f/1\">>,<<\"<0.1.0> is traced by x\">>]}}",
         ERR_REFUSED, "(breakpoint on m:f/1; <0.1.0> is traced by x)"},
        {"another beamtop", "{refused,{session,beamtop_calls}}", ERR_REFUSED,
         "another beamtop counts"},
        {"an unknown reason", "{refused,{strange,1}}", ERR_REFUSED, "strange"},
        {"no module", "{sampled,0,2,0,0,[no_module],0,[]}", ERR_NOT_FOUND,
         "nothing to count: nomod: no such module"},
        {"a code server that hangs", "{sampled,0,2,0,0,[unknown],0,[]}", ERR_NOT_FOUND,
         "nothing to count: nomod: its module is not loaded, and the node's code server or disk "
         "does not answer"},
        {"no application", "{sampled,0,2,0,0,[no_application],0,[]}", ERR_NOT_FOUND, "application"},
        {"an invalid regex", "{sampled,0,2,0,0,[{bad_expression,<<\"x at 1\">>}],0,[]}",
         ERR_NOT_FOUND, "invalid regex: x at 1"},
        {"nonsense", "{sampled,0,2,0}", ERR_FORMAT, "not understood"},
        {"another answer", "[1,2]", ERR_FORMAT, "not understood"},
    };
    const char *patterns[] = {"nomod"};
    struct calls_options options = basic;
    options.patterns = patterns;
    options.n_patterns = 1;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("%s\n", rows[i].name);
        struct world *w = new_world();
        open_world(w, &options);
        prepare(w, rows[i].sampled);
        close_clean(w);
        assert_int_equal(w->windows, 0);
        assert_int_equal(calls_session_state(w->s)->status.error.code, rows[i].code);
        if (!strstr(calls_session_state(w->s)->status.error.text, rows[i].text))
            fail_msg("%s", calls_session_state(w->s)->status.error.text);
        free_world(w);
    }
}

TEST(test_failures)
{
    struct world *w = new_world();
    open_world(w, &basic);
    played_answer(&w->p, QUESTION_PREFLIGHT,
                  "{preflight,[],{none,<<\"no such name\">>},{{0,0,[]},[],0},[]}");
    assert_int_equal(phase(w), SESSION_FAILED);
    assert_int_equal(calls_session_state(w->s)->status.error.code, ERR_NOT_FOUND);
    free_world(w);
    /* The window itself goes wrong: what is armed is looked at all the same. */
    w = new_world();
    open_world(w, &basic);
    prepare(w, SAMPLED);
    played_error(&w->p, QUESTION_CALLS, ERR_TIMEOUT);
    played_answer(&w->p, QUESTION_CALLS, "closed");
    assert_non_null(
        strstr(played_last(&w->p, QUESTION_ARMED)->text, "session => <<\"beamtop_calls\">>"));
    played_answer(&w->p, QUESTION_ARMED,
                  "{armed,1,0,[{<<\"beamtop_calls\">>,true}],{3,[]},{0,[]},[],0,<<>>,0}");
    assert_int_equal(phase(w), SESSION_VERIFYING);
    w->p.now += 300000000;
    session_tick(w->s);
    played_answer(&w->p, QUESTION_ARMED,
                  "{armed,1,0,[{<<\"beamtop_calls\">>,true}],{3,[]},{0,[]},[],0,<<>>,0}");
    w->p.now += 2000000000;
    session_tick(w->s);
    played_answer(&w->p, QUESTION_ARMED,
                  "{armed,1,0,[{<<\"beamtop_calls\">>,true}],{3,[]},{0,[]},[],0,<<>>,0}");
    assert_int_equal(phase(w), SESSION_ENDED);
    assert_false(calls_session_state(w->s)->status.check.clean);
    assert_non_null(strstr(calls_session_state(w->s)->status.check.text, "3 breakpoints"));
    assert_int_equal(calls_session_state(w->s)->status.error.code, ERR_TIMEOUT);
    assert_int_equal(session_trouble(w->s).code, ERR_TARGET);
    assert_non_null(strstr(session_trouble(w->s).text, "3 breakpoints"));
    free_world(w);
    w = new_world();
    open_world(w, &basic);
    prepare(w, SAMPLED);
    session_link_lost(w->s, &(struct error){.code = ERR_LOST, .text = "gone"});
    assert_int_equal(phase(w), SESSION_FAILED);
    assert_string_equal(session_trouble(w->s).text, "gone");
    free_world(w);
    /* The link fails while questions are to be asked. */
    w = new_world();
    open_world(w, &basic);
    played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
    w->p.refuse = true;
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    assert_int_equal(phase(w), SESSION_FAILED);
    free_world(w);
}

/* Answers with a byte changed, or cut short: an error or a window, never a crash. */
static bool hostile(const char *const *before, size_t n_before, const struct builder *answer,
                    size_t at, bool cut, uint8_t byte)
{
    struct calls_options options = basic;
    struct world *w = new_world();
    options.time = true;
    open_world(w, &options);
    played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
    played_answer(&w->p, QUESTION_ARMED, NOTHING);
    for (size_t i = 0; i < n_before; i++)
        played_answer(&w->p, QUESTION_CALLS, before[i]);
    const size_t asked = w->p.n_asked;
    const bool has = played_hostile(&w->p, QUESTION_CALLS, answer, at, cut, byte);
    if (has)
        assert_true(phase(w) != SESSION_PREPARING || w->p.n_asked > asked);
    free_world(w);
    return has;
}

TEST(test_hostile_answers)
{
    static const char *const answers[] = {SAMPLED, SAMPLED, COUNTED, TIMED};
    static const uint8_t bytes[] = {0, 97, 104, 106, 108, 119, 255};
    for (size_t n = 0; n < ARRAY_LEN(answers); n++) {
        struct builder *answer = played_term(answers[n]);
        for (size_t at = 0; hostile(answers, n, answer, at, true, 0); at++)
            for (size_t i = 0; i < ARRAY_LEN(bytes); i++)
                hostile(answers, n, answer, at, false, bytes[i]);
        builder_free(answer);
    }
}

TEST(test_words)
{
    static const struct {
        const char *text, *chosen;
    } rows[] = {
        {"lists", "{sample,20,[{{name,<<\"lists\">>},any,any}]}"},
        {"lists:map/2", "{sample,20,[{{name,<<\"lists\">>},{name,<<\"map\">>},2}]}"},
        {"/^shop_/:_/3", "{sample,20,[{{re,<<\"^shop_\">>},any,3}]}"},
        {"app:kernel", "{sample,20,[{{app,<<\"kernel\">>},any,any}]}"},
        {"app:f/1", "{sample,20,[{{name,<<\"app\">>},{name,<<\"f\">>},1}]}"},
        {"Enum.map & _:start", "{sample,20,[{{name,<<\"Elixir.Enum\">>},{name,<<\"map\">>},any},"
                               "{any,{name,<<\"start\">>},any}]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("%s\n", rows[i].text);
        struct calls_options options = basic;
        options.patterns = &rows[i].text;
        options.n_patterns = 1;
        struct world *w = new_world();
        open_world(w, &options);
        played_answer(&w->p, QUESTION_PREFLIGHT, PREFLIGHT);
        played_answer(&w->p, QUESTION_ARMED, NOTHING);
        assert_string_equal(played_last(&w->p, QUESTION_CALLS)->text, rows[i].chosen);
        free_world(w);
    }
}

TEST(test_wrong_words)
{
    static const struct {
        const char *text;
        size_t offset;
        const char *why;
    } rows[] = {
        {"lists:map(F, _)", 10, "whole functions"},
        {"lists:map(_, _)", 10, "whole functions"},
        {"lists:reverse()", 13, "whole functions"},
        {"lists:map(F, L) when L =:= []", 10, "whole functions"},
        {"lists:map/2 -> return", 12, "whatever they do"},
        {"lists & lists:map/2 -> count", 20, "whatever they do"},
        {"send", 0, "not messages"},
        {"lists & receive", 8, "not messages"},
        {"lists:", 6, "expected"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err = {0};
        size_t offset = 999;
        print_message("%s\n", rows[i].text);
        int rc = patterns_check(calls_pattern_check, rows[i].text, SYNTAX_AUTO, &offset, &err);
        assert_int_equal(rc, ERR_USAGE);
        if (!strstr(err.text, rows[i].why))
            fail_msg("%s", err.text);
        assert_int_equal(offset, rows[i].offset);
    }
}

TEST(test_options)
{
    struct calls_options rows[4] = {basic, basic, basic, basic};
    rows[0].for_ms = 9;
    rows[1].for_ms = 45001;
    rows[2].top = 0;
    rows[3].top = 1001;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct session *s = NULL;
        struct error err = {0};
        struct world *w = new_world();
        const struct session_port port = played_port(&w->p, 25);
        const struct session_handlers handlers = {.on_change = on_change, .on_window = on_window};
        int rc = calls_open(&s, &rows[i], &port, &handlers, w, NULL, NULL, &err);
        assert_int_equal(rc, ERR_USAGE);
        struct calls_options memory = basic;
        memory.memory = true;
        error_clear(&err);
        rc = calls_open(&s, &memory, &port, &handlers, w, NULL, NULL, &err);
        assert_int_equal(rc, ERR_REFUSED);
        free(w);
    }
}

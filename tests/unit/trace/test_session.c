/* A trace's life against a target that is played here. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"
#include "beamtop/trace/session.h"

#define NODE "there@host"

struct question_asked {
    enum question question;
    char *text;
    answer_fn *fn;
    void *arg;
    bool answered;
};

struct world {
    int otp;
    struct trace_session *t;
    struct question_asked asked[64];
    size_t n_asked;
    char *told[64];
    size_t n_told;
    uint64_t now;
    size_t events, finished, changes;
    uint64_t last_lost;
    bool last_at_most;
    bool refuse; /* asks fail at once */
};

static char *print(const struct builder *b)
{
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    struct buf out;
    buf_init(&out, 0);
    print_term(&out, bytes, len, &(struct print_limits){0});
    return buf_take(&out);
}

static int fake_ask(void *ctx, enum question question, const struct builder *arg,
                    unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err)
{
    struct world *w = ctx;
    assert_true(deadline_ms > 0);
    if (w->refuse)
        return error_set(err, ERR_LOST, "no link");
    assert_true(w->n_asked < 64);
    w->asked[w->n_asked++] = (struct question_asked){question, print(arg), fn, fn_arg, false};
    return 0;
}

static int fake_tell(void *ctx, const struct builder *term, struct error *err)
{
    struct world *w = ctx;
    (void)err;
    assert_true(w->n_told < 64);
    w->told[w->n_told++] = print(term);
    return 0;
}

static uint64_t fake_now(void *ctx)
{
    return ((struct world *)ctx)->now;
}

static void on_change(void *arg)
{
    ((struct world *)arg)->changes++;
}

static void on_event(void *arg, const struct trace_event *event, bool finished)
{
    struct world *w = arg;
    w->events++;
    w->finished += finished ? 1 : 0;
    if (event->kind == EVENT_LOST) {
        w->last_lost = event->lost;
        w->last_at_most = event->at_most;
    }
}

static struct builder *term_of(const char *fmt, ...) ATTR_PRINTF(1, 2);
static struct builder *term_of(const char *fmt, ...)
{
    char text[8192];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct builder *b = builder_new();
    struct error err = {0};
    if (etf_parse(b, text, strlen(text), NODE, &err))
        fail_msg("%s: %s", text, err.text);
    return b;
}

static struct question_asked *open_question(struct world *w, enum question question)
{
    for (size_t i = 0; i < w->n_asked; i++)
        if (!w->asked[i].answered && w->asked[i].question == question)
            return &w->asked[i];
    fail_msg("%s is not asked", question_name(question));
    return NULL;
}

static void answer(struct world *w, enum question question, const char *text)
{
    struct question_asked *q = open_question(w, question);
    q->answered = true;
    struct builder *b = term_of("%s", text);
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    q->fn(q->arg, &(struct answer){.question = question, .value = bytes + 1, .len = len - 1});
    builder_free(b);
}

static void answer_error(struct world *w, enum question question, enum err code)
{
    struct question_asked *q = open_question(w, question);
    q->answered = true;
    struct answer a = {.question = question};
    error_set(&a.err, code, "it went wrong");
    q->fn(q->arg, &a);
}

/* What was asked to arm, and its number. */
static unsigned long long armed_id(struct world *w)
{
    for (size_t i = w->n_asked; i-- > 0;) {
        unsigned long long id;
        if (w->asked[i].question == QUESTION_TRACE &&
            sscanf(w->asked[i].text, "{arm,%llu,", &id) == 1)
            return id;
    }
    fail_msg("nothing was armed");
    return 0;
}

static void push(struct world *w, const char *body)
{
    struct builder *b = term_of("{t,%llu,1,%s}", armed_id(w), body);
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    trace_message(w->t, bytes + 1, len - 1);
    builder_free(b);
}

static const char *last_told(const struct world *w)
{
    return w->n_told > 0 ? w->told[w->n_told - 1] : "";
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("“%s” is not in “%s”", part, text);
}

static int open_world(struct world *w, const char *pattern, const struct trace_options *more,
                      struct error *err)
{
    struct trace_options o = *more;
    o.patterns = &pattern;
    o.n_patterns = 1;
    caps_init(&o.caps);
    struct trace_port port = {
        .ask = fake_ask, .tell = fake_tell, .now_ns = fake_now, .ctx = w,
        .node = NODE, .creation = 1, .otp = w->otp,
    };
    struct trace_handlers handlers = {on_change, on_event};
    w->now = 5000000000u;
    int rc = trace_open(&w->t, &o, &port, &handlers, w, NULL, NULL, err);
    assert_int_equal(w->changes, 0);
    return rc;
}

static struct world *new_world_of(const char *pattern, const struct trace_options *more, int otp)
{
    struct world *w = calloc(1, sizeof *w);
    struct error err = {0};
    w->otp = otp;
    if (open_world(w, pattern, more, &err))
        fail_msg("%s: %s", pattern, err.text);
    return w;
}

static struct world *new_world(const char *pattern, const struct trace_options *more)
{
    return new_world_of(pattern, more, 25);
}

static void end_world(struct world *w)
{
    trace_free(w->t);
    for (size_t i = 0; i < w->n_asked; i++)
        free(w->asked[i].text);
    for (size_t i = 0; i < w->n_told; i++)
        free(w->told[i]);
    free(w);
}

static const struct trace_state *state(const struct world *w)
{
    return trace_log_state(trace_session_log(w->t));
}

static const char *phase(const struct world *w)
{
    return trace_phase_name(state(w)->phase);
}

#define FOUND "{preflight,[{0,[{lists,seq,2}],1,ok}],{all,40},{{0,0,[]},[],0},[]}"
#define NOTHING "{armed,1,0,[],{0,[]},{0,[]},[],0}"
#define COUNTED "{count,20000000,[3]}"
#define STATUS(shut, seen, over) "{1,"shut",10,5,100,2000,0,[{0,"seen",2,0,0,"over",0,0}]}"
#define CALL "{c,1,0,<0.9.0>,2000,{lists,seq,2},{m,f,1},[1,2],[{a,b,1}],0,0}"

static void arm_answer(struct world *w)
{
    char text[200];
    snprintf(text, sizeof text,
             "{armed,%llu,#{mono=>1000,wall_us=>1000000,per_second=>1000000000,session=>false}}",
             armed_id(w));
    answer(w, QUESTION_TRACE, text);
}

static void to_arming(struct world *w)
{
    answer(w, QUESTION_PREFLIGHT, FOUND);
    answer(w, QUESTION_TRACE, COUNTED);
    answer(w, QUESTION_ARMED, NOTHING);
    assert_string_equal(phase(w), "arming");
}

static struct world *running_world(const char *pattern, const struct trace_options *more)
{
    struct world *w = new_world(pattern, more);
    to_arming(w);
    arm_answer(w);
    assert_string_equal(phase(w), "running");
    return w;
}

static const struct trace_options plain = {0};

static void test_life(void **unused)
{
    (void)unused;
    struct world *w = new_world("lists:seq(_, _) -> return", &plain);
    assert_string_equal(phase(w), "preparing");
    assert_has(w->asked[0].text, "{0,call,{name,<<\"lists\">>},{name,<<\"seq\">>},2}");
    answer(w, QUESTION_PREFLIGHT, FOUND);
    assert_has(w->asked[1].text, "{count,20,[{lists,seq,2}]}");
    answer(w, QUESTION_TRACE, COUNTED);
    assert_int_equal((int)state(w)->preflight.calls_per_s, 150);
    assert_false(state(w)->preflight.dear);
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
    assert_has(open_question(w, QUESTION_NAMES)->text, "[<");
    answer(w, QUESTION_NAMES, "{names,[{<0.9.0>,<<\"worker\">>}]}");
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
    assert_string_equal(phase(w), "verifying");
    w->now += 5000000;
    answer(w, QUESTION_ARMED, NOTHING);
    assert_string_equal(phase(w), "ended");
    assert_string_equal(state(w)->end_text, "time: 15 s");
    assert_true(state(w)->check.done && state(w)->check.clean);
    assert_int_equal(state(w)->check.after_us, 5000);
    assert_int_equal(state(w)->total.missed, 0);
    end_world(w);
}

static void test_dear_is_asked(void **unused)
{
    (void)unused;
    const struct {
        bool force, dry_run;
        const char *counted, *phase;
    } rows[] = {
        {false, false, "{count,20000000,[1700]}", "arming"}, /* 85,000/s: 2.98 % */
        {false, false, "{count,20000000,[1720]}", "asking"},
        {true, false, "{count,20000000,[1000000]}", "arming"},
        {false, true, COUNTED, "asking"},
        {true, true, "{count,20000000,[1000000]}", "asking"},
        {false, false, "{refused,busy}", "arming"},
        {false, false, "{count,20000000,[a]}", "failed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct trace_options o = {.force = rows[i].force, .dry_run = rows[i].dry_run};
        struct world *w = new_world("lists:seq(_, _)", &o);
        answer(w, QUESTION_PREFLIGHT, FOUND);
        answer(w, QUESTION_TRACE, rows[i].counted);
        if (strcmp(phase(w), rows[i].phase) != 0)
            fail_msg("%zu %s: %s", i, rows[i].counted, phase(w));
        trace_confirm(w->t);
        if (strcmp(rows[i].phase, "asking") == 0)
            assert_string_equal(phase(w), rows[i].dry_run ? "asking" : "arming");
        end_world(w);
    }
}

static void test_single_space_in_use(void **unused)
{
    (void)unused;
    struct world *w = new_world("lists:seq(_, _)", &plain);
    answer(w, QUESTION_PREFLIGHT,
           "{preflight,[{0,[{lists,seq,2}],1,ok}],{all,40},{{2,1,[<<\"a\">>]},[<<\"b\">>],7},[]}");
    assert_string_equal(state(w)->preflight.others,
                        "2 breakpoints; 1 traced process; a; session b; trace control word 7");
    answer(w, QUESTION_ARMED, "{armed,1,7,[],{2,[]},{1,[]},[],0}"); /* not counted */
    answer(w, QUESTION_TRACE, "{refused,{in_use,[<<\"breakpoint on m:f/1\">>]}}");
    assert_string_equal(phase(w), "failed");
    assert_int_equal(state(w)->error.code, ERR_REFUSED);
    assert_has(state(w)->error.text, "breakpoint on m:f/1");
    end_world(w);
}

/* A dry run says what keeps a trace from being armed, which the arming says otherwise. */
static void test_dry_run_among_others(void **unused)
{
    (void)unused;
#define AMONG(others) "{preflight,[{0,[{lists,seq,2}],1,ok}],{all,40}," others ",[]}"
    const struct {
        const char *answer;
        int otp;
        const char *want; /* "": nothing is in the way */
    } rows[] = {
        {AMONG("{{1,0,[<<\"m:f/1\">>]},[],0}"), 25, "somebody else traces this node (1 breakpoint; m:f/1)"},
        {AMONG("{{1,0,[<<\"m:f/1\">>]},[],0}"), 27, ""},
        {AMONG("{{0,0,[]},[],7}"), 25, "the trace control word is 7"},
        {AMONG("{{0,0,[]},[],7}"), 27, "the trace control word is 7"},
        {AMONG("{{0,0,[]},[<<\"theirs\">>],0}"), 27, ""},
        {AMONG("{{0,0,[]},[<<\"theirs\">>,<<\"beamtop\">>],0}"), 27, "another beamtop traces"},
        {AMONG("{{0,0,[]},[],0}"), 25, ""},
    };
    struct trace_options options = plain;
    options.dry_run = true;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world_of("lists:seq(_, _)", &options, rows[i].otp);
        answer(w, QUESTION_PREFLIGHT, rows[i].answer);
        if (rows[i].want[0] == '\0') {
            answer(w, QUESTION_TRACE, COUNTED);
            assert_string_equal(phase(w), "asking");
        } else {
            assert_string_equal(phase(w), "failed");
            assert_int_equal(state(w)->error.code, ERR_REFUSED);
            assert_has(state(w)->error.text, rows[i].want);
        }
        end_world(w);
    }
}

/* What is told of others is told whole, however much there is. */
static void test_others_are_cut_between_items(void **unused)
{
    (void)unused;
    const char *item = "<<\"breakpoint on a_long_module_name:a_long_function_name/3\">>";
    char text[2000];
    snprintf(text, sizeof text, "{refused,{in_use,[%s,%s,%s,%s,%s,%s,<<\"and 30 more\">>]}}", item,
             item, item, item, item, item);
    struct world *w = new_world("lists:seq(_, _)", &plain);
    to_arming(w);
    answer(w, QUESTION_TRACE, text);
    assert_has(state(w)->error.text,
               "(breakpoint on a_long_module_name:a_long_function_name/3; breakpoint on "
               "a_long_module_name:a_long_function_name/3; breakpoint on "
               "a_long_module_name:a_long_function_name/3; breakpoint on "
               "a_long_module_name:a_long_function_name/3; and 32 more)");
    assert_has(state(w)->error.text, "end that one first");
    end_world(w);
}

static void test_nothing_to_trace(void **unused)
{
    (void)unused;
    const struct {
        const char *answer, *part;
    } rows[] = {
        {"{preflight,[{0,[],0,{arities,[1,3]}}],{all,4},{{0,0,[]},[],0},[]}", "/1, /3"},
        {"{preflight,[{0,[{a,b,1}],2000,too_many}],{all,4},{{0,0,[]},[],0},[]}", "2000 functions"},
        {"{preflight,[{0,[{a,b,1}],1,ok}],{none,<<\"nobody\">>},{{0,0,[]},[],0},[]}", "nobody"},
        {"{preflight,[{0,[{a,b,1}],1,ok}],{pids,[<0.1.0>],20000},{{0,0,[]},[],0},[]}", "20000 proc"},
        {"{preflight,[],{all,4},{{0,0,[]},[],0},[]}", "not understood"},
        {"{preflight,[{1,[],0,ok}],{all,4},{{0,0,[]},[],0},[]}", "not understood"},
        {"{preflight,[{0,[{a,b}],1,ok}],{all,4},{{0,0,[]},[],0},[]}", "not understood"},
        {"{preflight,[{0,[{a,b,1}],1,ok}],{some,4},{{0,0,[]},[],0},[]}", "not understood"},
        {"nonsense", "not understood"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world("lists:seq(_, _)", &plain);
        answer(w, QUESTION_PREFLIGHT, rows[i].answer);
        if (strcmp(phase(w), "failed") != 0)
            fail_msg("%s: %s", rows[i].answer, phase(w));
        assert_has(state(w)->error.text, rows[i].part);
        end_world(w);
    }
}

#define NONE_OF(why) "{preflight,[{0,[],0," why "}],{all,4},{{0,0,[]},[],0},[]}"

/* One question more tells what may have been meant; without its answer the reason stands alone. */
static void test_near_misses(void **unused)
{
    (void)unused;
    const struct {
        const char *pattern, *preflight, *asked, *answer, *want;
    } rows[] = {
        {"shop_cart:ad(_)", NONE_OF("no_function"), "{functions,<<\"shop_cart\">>}",
         "{functions,<<\"shop_cart\">>,[{<<\"add\">>,2,true},{<<\"total\">>,1,true}]}",
         "nothing to trace: shop_cart:ad(_): shop_cart has no function ad; did you mean "
         "shop_cart:add/2?"},
        {"shop_cart:ad(_)", NONE_OF("no_function"), "{functions,<<\"shop_cart\">>}", NULL,
         "nothing to trace: shop_cart:ad(_): shop_cart has no function ad"},
        {"shop_cart:ad(_)", NONE_OF("no_function"), "{functions,<<\"shop_cart\">>}", "nonsense",
         "nothing to trace: shop_cart:ad(_): shop_cart has no function ad"},
        {"shop_cart:zork", NONE_OF("no_function"), "{functions,<<\"shop_cart\">>}",
         "{functions,<<\"shop_cart\">>,[{<<\"add\">>,2,true}]}",
         "nothing to trace: shop_cart:zork: shop_cart has no function zork; a local one may have "
         "been inlined by the compiler, so that nothing calls it any more"},
        {"shop_crat", NONE_OF("no_module"), "{modules,200000}",
         "{modules,[<<\"Elixir.Shop\">>,<<\"lists\">>,<<\"shop_car\">>,<<\"shop_cart\">>],4}",
         "nothing to trace: shop_crat: the node has no module shop_crat; did you mean shop_cart or "
         "shop_car?"},
        {"Sohp.add/2", NONE_OF("no_module"), "{modules,200000}",
         "{modules,[<<\"Elixir.Shop\">>,<<\"lists\">>],2}",
         "nothing to trace: Sohp.add/2: the node has no module Sohp; did you mean Shop?"},
        {"shop_cart:spawn_link", NONE_OF("no_function"), NULL, NULL,
         "nothing to trace: shop_cart:spawn_link: shop_cart has no function spawn_link: what it "
         "calls by that name is erlang:spawn_link"},
        {"lists:seq/7", NONE_OF("{arities,[2,3]}"), NULL, NULL,
         "nothing to trace: lists:seq/7: lists:seq does not take 7 arguments: there is /2, /3"},
        {"shop_tax:rate", NONE_OF("not_loaded"), NULL, NULL,
         "nothing to trace: shop_tax:rate: shop_tax is not loaded on the node: nobody has called "
         "it since the node started. To trace its first calls load it there, with "
         "code:ensure_loaded(shop_tax)"},
        {"erlang:length/1", NONE_OF("instruction"), NULL, NULL,
         "nothing to trace: erlang:length/1: compiled code does this without a call, as an "
         "instruction of the VM, so no trace sees it; trace the function that does it"},
        {"/(/:f", NONE_OF("{bad_expression,<<\"x\">>}"), NULL, NULL,
         "nothing to trace: /(/:f: the node's re cannot read that expression"},
        {"/^xyz_/:f", NONE_OF("no_module"), NULL, NULL,
         "nothing to trace: /^xyz_/:f: no loaded module's name matches that expression"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world(rows[i].pattern, &plain);
        answer(w, QUESTION_PREFLIGHT, rows[i].preflight);
        if (rows[i].asked != NULL) {
            assert_string_equal(phase(w), "preparing");
            assert_string_equal(open_question(w, QUESTION_FUNCTIONS)->text, rows[i].asked);
            if (rows[i].answer != NULL)
                answer(w, QUESTION_FUNCTIONS, rows[i].answer);
            else
                answer_error(w, QUESTION_FUNCTIONS, ERR_TIMEOUT);
        }
        assert_string_equal(phase(w), "failed");
        assert_string_equal(state(w)->error.text, rows[i].want);
        assert_has(rows[i].want, state(w)->preflight.why_none);
        end_world(w);
    }
}

#define NOBODY(why) "{preflight,[{0,[{a,b,1}],1,ok}],{none,<<\"" why "\">>},{{0,0,[]},[],0},[]}"
#define WHO "{who,[<<\"cart_sup\">>,<<\"rex\">>,<<\"shop\">>],[<<\"kernel\">>,<<\"shops\">>]}"

static void test_nobody(void **unused)
{
    (void)unused;
    const struct {
        const char *procs, *why, *answer, *want;
    } rows[] = {
        {"cart_spu", NOBODY("no process is registered as cart_spu"), WHO,
         "no process to trace: no process is registered as cart_spu; did you mean cart_sup?"},
        {"rex,shops", NOBODY("no process is registered as shops"), WHO,
         "no process to trace: no process is registered as shops; did you mean app:shops, the "
         "application?"},
        {"app:shop", NOBODY("no running application shop"), WHO,
         "no process to trace: no running application shop; did you mean shop, the process?"},
        {"app:kernl", NOBODY("no running application kernl"), WHO,
         "no process to trace: no running application kernl; did you mean app:kernel?"},
        {"app:zzz", NOBODY("no running application zzz"), WHO,
         "no process to trace: no running application zzz"},
        {"rexx", NOBODY("no process is registered as rexx"), NULL,
         "no process to trace: no process is registered as rexx"},
        {"call:/x/", NOBODY("call:/x/ matches no process"), NULL,
         "no process to trace: call:/x/ matches no process"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct trace_options options = plain;
        options.procs = rows[i].procs;
        struct world *w = new_world("lists:seq(_, _)", &options);
        answer(w, QUESTION_PREFLIGHT, rows[i].why);
        if (strncmp(rows[i].procs, "call:", 5) != 0) {
            assert_string_equal(open_question(w, QUESTION_FUNCTIONS)->text, "{who,200000}");
            if (rows[i].answer != NULL)
                answer(w, QUESTION_FUNCTIONS, rows[i].answer);
            else
                answer_error(w, QUESTION_FUNCTIONS, ERR_TIMEOUT);
        }
        assert_string_equal(phase(w), "failed");
        assert_int_equal(state(w)->error.code, ERR_NOT_FOUND);
        assert_string_equal(state(w)->error.text, rows[i].want);
        end_world(w);
    }
}

#define UNKNOWN(what) "{preflight,[{0,[{lists,seq,2}],1,ok}],{all,40},{{0,0,[]},[],0}," what "}"

/* A dry run says what the arming would say: nothing there can match. */
static void test_unknown_atoms(void **unused)
{
    (void)unused;
    const struct {
        const char *pattern, *unknown, *want;
        size_t offset;
    } rows[] = {
        {"lists:seq(sold_ut, ok)", "[{<<\"sold_ut\">>,[<<\"sold_out\">>,<<\"sold_uk\">>]}]",
         "the node does not know the atom sold_ut, so nothing there can match it; did you mean "
         "sold_out or sold_uk?", 10},
        {"lists:seq('Sold out', _)", "[{<<\"Sold out\">>,[]}]",
         "the node does not know the atom 'Sold out', so nothing there can match it", 11},
        {":lists.seq(:sold_ut, _)", "[{<<\"sold_ut\">>,[<<\"sold-out\">>]}]",
         "the node does not know the atom :sold_ut, so nothing there can match it; did you mean "
         ":\"sold-out\"?", 12},
        {":lists.seq(My.Crt, _)", "[{<<\"Elixir.My.Crt\">>,[]}]",
         "the node does not know the atom My.Crt, so nothing there can match it", 0},
        {"lists:seq(a, b)", "[{<<\"a\">>,[]},{<<\"b\">>,[]}]", "not understood", 0},
        {"lists:seq(a, b)", "[a]", "not understood", 0},
        {"lists:seq(a, b)", "[{<<\"a\">>,b}]", "not understood", 0},
    };
    for (int dry = 0; dry < 2; dry++) {
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            struct trace_options options = plain;
            options.dry_run = dry == 1;
            struct world *w = new_world(rows[i].pattern, &options);
            char text[400];
            snprintf(text, sizeof text, UNKNOWN("%s"), rows[i].unknown);
            assert_has(open_question(w, QUESTION_PREFLIGHT)->text, "atoms => [<<\"");
            answer(w, QUESTION_PREFLIGHT, text);
            assert_string_equal(phase(w), "failed");
            assert_has(state(w)->error.text, rows[i].want);
            bool said = strstr(rows[i].want, "not understood") == NULL;
            assert_int_equal(state(w)->wrong, said);
            assert_int_equal(state(w)->wrong_text, 0);
            if (said)
                assert_int_equal(state(w)->wrong_offset, rows[i].offset);
            end_world(w);
        }
    }
}

/* Stopped while names are asked for: the late answer changes nothing. */
static void test_stopped_at_near_misses(void **unused)
{
    (void)unused;
    struct world *w = new_world("shop_cart:ad(_)", &plain);
    answer(w, QUESTION_PREFLIGHT, NONE_OF("no_function"));
    trace_stop(w->t);
    assert_string_equal(phase(w), "ended");
    answer(w, QUESTION_FUNCTIONS, "{functions,<<\"shop_cart\">>,[{<<\"add\">>,2,true}]}");
    assert_string_equal(phase(w), "ended");
    end_world(w);
}

static void test_held_until_armed(void **unused)
{
    (void)unused;
    struct world *w = new_world("lists:seq(_, _)", &plain);
    to_arming(w);
    push(w, "{batch,[" CALL "]," STATUS("open", "1", "0") "}");
    push(w, "{ended,events," STATUS("spent", "1", "0") "}");
    assert_int_equal(trace_log_len(trace_session_log(w->t)), 0);
    arm_answer(w);
    assert_int_equal(trace_log_len(trace_session_log(w->t)), 1);
    assert_string_equal(phase(w), "verifying");
    assert_string_equal(state(w)->end_text, "events: 1 of 100");
    end_world(w);
}

static void test_missed(void **unused)
{
    (void)unused;
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
        struct trace_options o = {.procs = rows[i].procs};
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
static void test_missed_is_a_bound_later(void **unused)
{
    (void)unused;
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

/* Calls that a pattern refused, or that came behind the last event, while nothing was shut. */
static void test_missed_only_while_shut(void **unused)
{
    (void)unused;
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

static void test_module_loaded_anew(void **unused)
{
    (void)unused;
    struct world *w = running_world("lists:seq(_, _)", &plain);
    push(w, "{counts,9000,[{0,[100]}],[]}");
    push(w, "{counts,9000,[{0,[100]}],[]}");
    assert_string_equal(state(w)->note, "");
    push(w, "{counts,9000,[{0,[0]}],[]}");
    assert_has(state(w)->note, "lists was loaded anew");
    assert_int_equal(state(w)->total.calls, 100);
    end_world(w);
    /* Before the first counts: by counts that stay below what was seen, or at the end. */
    for (int again = 0; again < 2; again++) {
        w = running_world("lists:seq(_, _)", &plain);
        push(w, "{status," STATUS("open", "2", "0") "}");
        push(w, "{counts,9000,[{0,[0]}],[]}");
        assert_string_equal(state(w)->note, "");
        push(w, again ? "{counts,9100,[{0,[0]}],[]}"
                      : "{ended,time," STATUS("spent", "2", "0") "}");
        assert_has(state(w)->note, "lists was loaded anew");
        assert_int_equal(state(w)->total.calls, 2);
        end_world(w);
    }
}

/* The call of a function that two patterns name is one call. */
static void test_shared_calls(void **unused)
{
    (void)unused;
    struct world *w = new_world("lists:seq(1, _) & lists:seq(2, _)", &plain);
    answer(w, QUESTION_PREFLIGHT, "{preflight,[{0,[{lists,seq,2}],1,ok},{1,[{lists,seq,2},"
                                  "{lists,seq,3}],2,ok}],{all,40},{{0,0,[]},[],0},[]}");
    answer(w, QUESTION_TRACE, COUNTED);
    answer(w, QUESTION_ARMED, NOTHING);
    arm_answer(w);
    assert_string_equal(phase(w), "running");
    push(w, "{status,{1,rate,10,5,100,2000,0,[{0,60,2,0,0,0,0,0},{1,10,2,0,0,0,0,0}]}}");
    push(w, "{counts,9000,[{0,[100]},{1,[100,7]}],[]}");
    assert_int_equal(state(w)->total.calls, 107);
    assert_int_equal(state(w)->total.missed, 37);
    end_world(w);
}

/* Exit codes come of it: nothing can match is no refusal for safety. */
static void test_refusals_by_kind(void **unused)
{
    (void)unused;
    static const struct {
        const char *answer;
        enum err code;
    } rows[] = {
        {"{refused,{unknown_atom,<<\"shp\">>}}", ERR_NOT_FOUND},
        {"{refused,no_processes}", ERR_NOT_FOUND},
        {"{refused,no_functions}", ERR_NOT_FOUND},
        {"{refused,{control_word,7}}", ERR_REFUSED},
        {"{refused,{session,beamtop}}", ERR_REFUSED},
        {"{refused,busy}", ERR_REFUSED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world("lists:seq(_, _)", &plain);
        to_arming(w);
        answer(w, QUESTION_TRACE, rows[i].answer);
        assert_string_equal(phase(w), "failed");
        if (state(w)->error.code != rows[i].code)
            fail_msg("%s: %d", rows[i].answer, state(w)->error.code);
        end_world(w);
    }
}

static void test_lost_is_told_with_its_number(void **unused)
{
    (void)unused;
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
             "%s{r,1,7000,ok,0}],{1,open,10,5,%llu,0,0,[]}}",
             n > 0 ? "," : "", (unsigned long long)*sent);
    push(w, text);
}

static void test_credit(void **unused)
{
    (void)unused;
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

static void test_verify_asks_again(void **unused)
{
    (void)unused;
    struct world *w = running_world("lists:seq(_, _)", &plain);
    push(w, "{ended,{killed,<<\"heap\">>}," STATUS("open", "0", "0") "}");
    assert_string_equal(state(w)->end_text, "killed: heap");
    answer(w, QUESTION_ARMED, "{armed,1,0,[],{0,[]},{0,[]},[],1}");
    assert_string_equal(phase(w), "verifying");
    w->now += 300000000;
    trace_tick(w->t);
    answer(w, QUESTION_ARMED,
           "{armed,1,0,[{<<\"x\">>,false}],{1,[{<<\"x\">>,m,f,0,[]}]},{0,[]},[],0}");
    assert_string_equal(phase(w), "ended");
    assert_true(state(w)->check.clean);
    end_world(w);
    w = running_world("lists:seq(_, _)", &plain);
    push(w, "{ended,time," STATUS("open", "0", "0") "}");
    w->now += 2500000000u;
    answer(w, QUESTION_ARMED,
           "{armed,1,5,[{<<\"beamtop\">>,true}],"
           "{1,[{<<\"beamtop\">>,m,f,0,[]}]},{2,[{<<>>,<0.1.0>,<<>>,[call],<<>>}]},[],1}");
    assert_string_equal(phase(w), "ended");
    const struct trace_check *c = &state(w)->check;
    assert_true(c->done && !c->clean);
    assert_int_equal(c->breakpoints, 1);
    assert_int_equal(c->flags, 2);
    assert_int_equal(c->sessions, 1);
    assert_int_equal(c->control_word, 5);
    assert_has(c->text, "still there");
    end_world(w);
}

static void test_baseline_of_others(void **unused)
{
    (void)unused;
    struct world *w = new_world("lists:seq(_, _)", &plain);
    answer(w, QUESTION_PREFLIGHT, FOUND);
    answer(w, QUESTION_TRACE, COUNTED);
    const char *others = "{armed,1,0,[],{3,[{<<>>,m,f,0,[]}]},"
                         "{1,[{<<>>,<0.1.0>,<<>>,[call],<<>>}]},[],0}";
    answer(w, QUESTION_ARMED, others);
    arm_answer(w);
    trace_stop(w->t);
    assert_string_equal(phase(w), "ending");
    assert_has(last_told(w), "{stop,");
    push(w, "{ended,stopped," STATUS("open", "0", "0") "}");
    answer(w, QUESTION_ARMED, others);
    assert_string_equal(phase(w), "ended");
    assert_true(state(w)->check.clean);
    end_world(w);
}

static void test_stop_in_every_phase(void **unused)
{
    (void)unused;
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
        trace_stop(w->t);
        trace_stop(w->t);
        if (step == 1)
            answer(w, QUESTION_TRACE, COUNTED);
        if (step == 3)
            arm_answer(w);
        if (step >= 3) {
            assert_string_equal(phase(w), "ending");
            if (step < 5) {
                push(w, "{ended,stopped," STATUS("open", "0", "0") "}");
            } else {
                w->now += 4000000000u; /* it tells no end: what is armed is asked anyway */
                trace_tick(w->t);
            }
            answer(w, QUESTION_ARMED, NOTHING);
        }
        if (strcmp(phase(w), "ended") != 0 || state(w)->end != END_STOPPED)
            fail_msg("step %d: %s", step, phase(w));
        end_world(w);
    }
}

static void test_link_lost_in_every_phase(void **unused)
{
    (void)unused;
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
        trace_link_lost(w->t, &why);
        trace_link_lost(w->t, &why);
        trace_tick(w->t);
        trace_stop(w->t);
        if (strcmp(phase(w), step < 3 ? "failed" : "ended") != 0)
            fail_msg("step %d: %s", step, phase(w));
        assert_false(state(w)->check.done);
        if (step >= 3)
            assert_int_equal(state(w)->end, step == 5 ? END_TIME : END_LINK);
        end_world(w);
    }
}

static void test_errors_of_answers(void **unused)
{
    (void)unused;
    struct world *w = new_world("lists:seq(_, _)", &plain);
    answer_error(w, QUESTION_PREFLIGHT, ERR_TARGET);
    assert_string_equal(phase(w), "failed");
    end_world(w);
    w = new_world("lists:seq(_, _)", &plain);
    to_arming(w);
    answer_error(w, QUESTION_TRACE, ERR_TIMEOUT); /* it may be armed: told to stop, and looked at */
    assert_has(last_told(w), "{stop,");
    assert_string_equal(phase(w), "verifying");
    answer_error(w, QUESTION_ARMED, ERR_TARGET);
    w->now += 2500000000u;
    trace_tick(w->t);
    answer_error(w, QUESTION_ARMED, ERR_TARGET);
    assert_string_equal(phase(w), "ended");
    assert_false(state(w)->check.done);
    end_world(w);
    w = calloc(1, sizeof *w);
    w->refuse = true;
    struct error err = {0};
    assert_int_equal(open_world(w, "lists:seq(_, _)", &plain, &err), ERR_LOST);
    error_clear(&err);
    assert_int_equal(open_world(w, "lists:seq(_,", &plain, &err), ERR_USAGE);
    error_clear(&err);
    assert_int_equal(
        open_world(w, "lists:seq(_, _)", &(struct trace_options){.procs = "a,"}, &err), ERR_USAGE);
    free(w);
}

static void test_hostile_messages(void **unused)
{
    (void)unused;
    const char *const bodies[] = {
        "nothing", "{batch,[]}", "{batch,x," STATUS("open", "0", "0") "}",
        "{batch,[{c,1}]," STATUS("open", "0", "0") "}",
        "{batch,[" CALL ",{r,1,a,b,0}]," STATUS("open", "0", "0") "}",
        "{batch,[{c,1,99,<0.9.0>,2000,{lists,seq,2},{m,f,1},[1,2],[],0,0}],"
        STATUS("open", "0", "0") "}",
        "{batch,\"abc\"," STATUS("open", "0", "0") "}", "{counts,1,[{0,a}],[]}",
        "{counts,1,[{-1,[1]}],[]}", "{ended,why," STATUS("open", "0", "0") "}", "{status,{1,2}}",
        "{status,{1,open,-1,5,100,2000,0,[]}}", "{status," STATUS("open", "0", "0") ",more}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct world *w = running_world("lists:seq(_, _)", &plain);
        push(w, bodies[i]);
        if (strcmp(phase(w), "ending") != 0 || state(w)->end != END_KILLED)
            fail_msg("%s: %s", bodies[i], phase(w));
        assert_int_equal(trace_log_len(trace_session_log(w->t)), 0); /* no half of it */
        assert_has(last_told(w), "{stop,");
        end_world(w);
    }
    struct world *w = running_world("lists:seq(_, _)", &plain);
    struct builder *b = term_of("{t,1,1,{ended,time," STATUS("open", "0", "0") "}}");
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    trace_message(w->t, bytes + 1, len - 1); /* of an earlier trace */
    assert_string_equal(phase(w), "running");
    builder_free(b);
    /* Counts of functions that there are not, events of no call: nothing happens. */
    push(w, "{counts,9000,[{0,[1,2,3,4]},{7,[1]}],[{0,[5]}]}");
    assert_int_equal(state(w)->total.calls, 1);
    assert_int_equal(state(w)->total.time_us, 5);
    push(w, "{batch,[{r,77,7000,ok,0}]," STATUS("open", "1", "0") "}");
    assert_int_equal(w->events, 0);
    end_world(w);
}

static void test_acts(void **unused)
{
    (void)unused;
    struct world *w = running_world("lists:seq(_, _)", &plain);
    struct error err = {0};
    trace_pause(w->t, true);
    assert_has(last_told(w), ",true}");
    assert_string_equal(phase(w), "paused");
    trace_pause(w->t, true);
    trace_pause(w->t, false);
    assert_int_equal(w->n_told, 2);
    assert_string_equal(phase(w), "running");
    assert_int_equal(trace_set_cap(w->t, CAP_TERM_BYTES, 4096, &err), 0);
    assert_has(last_told(w), ",term,4096}");
    assert_int_equal(trace_set_cap(w->t, CAP_EVENTS, 10001, &err), ERR_USAGE);
    error_clear(&err);
    assert_int_equal(trace_set_cap(w->t, CAP_FUNCTIONS, 10, &err), ERR_USAGE);
    trace_narrow_pid(w->t, &(struct etf_pid){.id = 9});
    assert_has(last_told(w), "{pid,<");
    trace_narrow_pattern(w->t, 0);
    assert_has(last_told(w), "{pattern,0}");
    trace_narrow_pattern(w->t, 1);
    assert_int_equal(w->n_told, 5);
    w->now += 16000000000u; /* no status for so long */
    trace_tick(w->t);
    assert_string_equal(phase(w), "ending");
    assert_int_equal(state(w)->end, END_KILLED);
    end_world(w);
}

static void test_records_are_asked_for(void **unused)
{
    (void)unused;
    struct world *w = new_world("lists:seq(#point{x = 1}, _)", &plain);
    assert_has(open_question(w, QUESTION_RECORDS)->text, "{<<\"lists\">>,<<\"point\">>}");
    answer(w, QUESTION_RECORDS, "{records,[{<<\"lists\">>,<<\"point\">>,[<<\"x\">>,<<\"y\">>]}]}");
    open_question(w, QUESTION_PREFLIGHT);
    end_world(w);
    w = new_world("lists:seq(#point{x = 1}, _)", &plain);
    answer(w, QUESTION_RECORDS,
           "{records,[{<<\"lists\">>,<<\"point\">>,{missing,<<\"no debug information\">>}}]}");
    assert_string_equal(phase(w), "failed");
    assert_has(state(w)->error.text, "no debug information");
    end_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_dear_is_asked),
        cmocka_unit_test(test_single_space_in_use),
        cmocka_unit_test(test_dry_run_among_others),
        cmocka_unit_test(test_others_are_cut_between_items),
        cmocka_unit_test(test_nothing_to_trace),
        cmocka_unit_test(test_near_misses),
        cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_unknown_atoms),
        cmocka_unit_test(test_stopped_at_near_misses),
        cmocka_unit_test(test_held_until_armed),
        cmocka_unit_test(test_missed),
        cmocka_unit_test(test_missed_is_a_bound_later),
        cmocka_unit_test(test_missed_only_while_shut),
        cmocka_unit_test(test_module_loaded_anew),
        cmocka_unit_test(test_shared_calls),
        cmocka_unit_test(test_refusals_by_kind),
        cmocka_unit_test(test_lost_is_told_with_its_number),
        cmocka_unit_test(test_credit),
        cmocka_unit_test(test_verify_asks_again),
        cmocka_unit_test(test_baseline_of_others),
        cmocka_unit_test(test_stop_in_every_phase),
        cmocka_unit_test(test_link_lost_in_every_phase),
        cmocka_unit_test(test_errors_of_answers),
        cmocka_unit_test(test_hostile_messages),
        cmocka_unit_test(test_acts),
        cmocka_unit_test(test_records_are_asked_for),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}

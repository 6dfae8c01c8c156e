/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Before a trace is armed: what is found, asked, refused, and why nothing is. */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "session_world.h"

static const struct trace_options plain = {0};

TEST(test_expensive_is_asked)
{
    const struct {
        bool force, dry_run;
        const char *counted;
        enum session_phase phase;
    } rows[] = {
        {false, false, "{count,20000000,[1700]}", SESSION_ARMING}, /* 85,000/s: 2.98 % */
        {false, false, "{count,20000000,[1720]}", SESSION_ASKING},
        {true, false, "{count,20000000,[1000000]}", SESSION_ARMING},
        {false, true, COUNTED, SESSION_ASKING},
        {true, true, "{count,20000000,[1000000]}", SESSION_ASKING},
        {false, false, "{refused,busy}", SESSION_ARMING},
        {false, false, "{count,20000000,[a]}", SESSION_FAILED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct trace_options o = {.request.force = rows[i].force, .dry_run = rows[i].dry_run};
        struct world *w = new_world("lists:seq(_, _)", &o);
        answer(w, QUESTION_PREFLIGHT, FOUND);
        answer(w, QUESTION_TRACE, rows[i].counted);
        if (phase(w) != rows[i].phase)
            fail_msg("%zu %s: %d", i, rows[i].counted, (int)phase(w));
        session_confirm(w->t);
        if (rows[i].phase == SESSION_ASKING)
            assert_int_equal(phase(w), rows[i].dry_run ? SESSION_ASKING : SESSION_ARMING);
        end_world(w);
    }
}

TEST(test_single_space_in_use)
{
    struct world *w = new_world("lists:seq(_, _)", &plain);
    answer(w, QUESTION_PREFLIGHT,
           "{preflight,[{0,[{lists,seq,2}],1,ok}],{all,40},{{2,1,[<<\"a\">>]},[<<\"b\">>],7},[]}");
    assert_string_equal(state(w)->preflight.others,
                        "2 breakpoints; 1 traced process; a; session b; trace control word 7");
    answer(w, QUESTION_ARMED, "{armed,1,7,[],{2,[]},{1,[]},[],0,<<>>,0}"); /* not counted */
    answer(w, QUESTION_TRACE, "{refused,{in_use,[<<\"breakpoint on m:f/1\">>]}}");
    assert_int_equal(phase(w), SESSION_FAILED);
    assert_int_equal(state(w)->status.error.code, ERR_REFUSED);
    assert_has(state(w)->status.error.text, "breakpoint on m:f/1");
    end_world(w);
}

/* A dry run says what keeps a trace from being armed, which the arming says otherwise. */
TEST(test_dry_run_among_others)
{
#define AMONG(others) "{preflight,[{0,[{lists,seq,2}],1,ok}],{all,40}," others ",[]}"
    const struct {
        const char *answer;
        int otp;
        const char *want; /* "": nothing is in the way */
    } rows[] = {
        {AMONG("{{1,0,[<<\"m:f/1\">>]},[],0}"), 25,
         "another tool is tracing this node (1 breakpoint; m:f/1)"},
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
            assert_int_equal(phase(w), SESSION_ASKING);
        } else {
            assert_int_equal(phase(w), SESSION_FAILED);
            assert_int_equal(state(w)->status.error.code, ERR_REFUSED);
            assert_has(state(w)->status.error.text, rows[i].want);
        }
        end_world(w);
    }
}

/* What is told of others is told whole, however much there is. */
TEST(test_others_are_cut_between_items)
{
    const char *item = "<<\"breakpoint on a_long_module_name:a_long_function_name/3\">>";
    char text[2000];
    snprintf(text, sizeof text, "{refused,{in_use,[%s,%s,%s,%s,%s,%s,<<\"and 30 more\">>]}}", item,
             item, item, item, item, item);
    struct world *w = new_world("lists:seq(_, _)", &plain);
    to_arming(w);
    answer(w, QUESTION_TRACE, text);
    assert_has(state(w)->status.error.text,
               "(breakpoint on a_long_module_name:a_long_function_name/3; breakpoint on "
               "a_long_module_name:a_long_function_name/3; breakpoint on "
               "a_long_module_name:a_long_function_name/3; breakpoint on "
               "a_long_module_name:a_long_function_name/3; and 32 more)");
    assert_has(state(w)->status.error.text, "only one tool can trace: stop it first");
    end_world(w);
}

TEST(test_nothing_to_trace)
{
    const struct {
        const char *answer, *part;
    } rows[] = {
        {"{preflight,[{0,[],0,{arities,[1,3]}}],{all,4},{{0,0,[]},[],0},[]}", "/1, /3"},
        {"{preflight,[{0,[{a,b,1}],2000,too_many}],{all,4},{{0,0,[]},[],0},[]}", "2000 functions"},
        {"{preflight,[{0,[{a,b,1}],1,ok}],{none,<<\"nobody\">>},{{0,0,[]},[],0},[]}", "nobody"},
        {"{preflight,[{0,[{a,b,1}],1,ok}],{pids,[<0.1.0>],20000},{{0,0,[]},[],0},[]}",
         "20000 proc"},
        {"{preflight,[],{all,4},{{0,0,[]},[],0},[]}", "not understood"},
        {"{preflight,[{1,[],0,ok}],{all,4},{{0,0,[]},[],0},[]}", "not understood"},
        {"{preflight,[{0,[{a,b}],1,ok}],{all,4},{{0,0,[]},[],0},[]}", "not understood"},
        {"{preflight,[{0,[{a,b,1}],1,ok}],{some,4},{{0,0,[]},[],0},[]}", "not understood"},
        {"nonsense", "not understood"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world("lists:seq(_, _)", &plain);
        answer(w, QUESTION_PREFLIGHT, rows[i].answer);
        if (phase(w) != SESSION_FAILED)
            fail_msg("%s: %d", rows[i].answer, (int)phase(w));
        assert_has(state(w)->status.error.text, rows[i].part);
        end_world(w);
    }
}

#define NONE_OF(why) "{preflight,[{0,[],0," why "}],{all,4},{{0,0,[]},[],0},[]}"

/* One question more tells what may have been meant; without its answer the reason stands alone. */
TEST(test_near_misses)
{
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
         "nothing to trace: shop_tax:rate: shop_tax is not loaded on the node: it has not been "
         "called since the node started. To trace its first calls load it there, with "
         "code:ensure_loaded(shop_tax)"},
        {"shop_tax:rate", NONE_OF("unknown"), NULL, NULL,
         "nothing to trace: shop_tax:rate: shop_tax is not loaded on the node. Whether the node "
         "has its file is unknown: its code server or disk does not answer"},
        {"erlang:length/1", NONE_OF("instruction"), NULL, NULL,
         "nothing to trace: erlang:length/1: compiled code does this without a call, as an "
         "instruction of the VM, so no trace sees it; trace the function that does it"},
        {"/(/:f", NONE_OF("{bad_expression,<<\"x\">>}"), NULL, NULL,
         "nothing to trace: /(/:f: the node's re module rejects that regex"},
        {"/^xyz_/:f", NONE_OF("no_module"), NULL, NULL,
         "nothing to trace: /^xyz_/:f: no loaded module's name matches that regex"},
        {"/^MyApp/./f/", NONE_OF("no_module"), NULL, NULL,
         "nothing to trace: /^MyApp/./f/: no loaded module's name matches that regex; the "
         "names of Elixir's modules begin with Elixir. there: /^Elixir\\.…/"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world *w = new_world(rows[i].pattern, &plain);
        answer(w, QUESTION_PREFLIGHT, rows[i].preflight);
        if (rows[i].asked) {
            assert_int_equal(phase(w), SESSION_PREPARING);
            assert_string_equal(open_question(w, QUESTION_FUNCTIONS)->text, rows[i].asked);
            if (rows[i].answer)
                answer(w, QUESTION_FUNCTIONS, rows[i].answer);
            else
                answer_error(w, QUESTION_FUNCTIONS, ERR_TIMEOUT);
        }
        assert_int_equal(phase(w), SESSION_FAILED);
        assert_string_equal(state(w)->status.error.text, rows[i].want);
        assert_has(rows[i].want, state(w)->preflight.why_none);
        end_world(w);
    }
}

#define NOBODY(why) "{preflight,[{0,[{a,b,1}],1,ok}],{none,<<\"" why "\">>},{{0,0,[]},[],0},[]}"
#define WHO "{who,[<<\"cart_sup\">>,<<\"rex\">>,<<\"shop\">>],[<<\"kernel\">>,<<\"shops\">>]}"

TEST(test_nobody)
{
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
        options.request.procs = rows[i].procs;
        struct world *w = new_world("lists:seq(_, _)", &options);
        answer(w, QUESTION_PREFLIGHT, rows[i].why);
        if (strncmp(rows[i].procs, "call:", 5) != 0) {
            assert_string_equal(open_question(w, QUESTION_FUNCTIONS)->text, "{who,200000}");
            if (rows[i].answer)
                answer(w, QUESTION_FUNCTIONS, rows[i].answer);
            else
                answer_error(w, QUESTION_FUNCTIONS, ERR_TIMEOUT);
        }
        assert_int_equal(phase(w), SESSION_FAILED);
        assert_int_equal(state(w)->status.error.code, ERR_NOT_FOUND);
        assert_string_equal(state(w)->status.error.text, rows[i].want);
        end_world(w);
    }
}

#define UNKNOWN(what) "{preflight,[{0,[{lists,seq,2}],1,ok}],{all,40},{{0,0,[]},[],0}," what "}"

/* A dry run says what the arming would say: nothing there can match. */
TEST(test_unknown_atoms)
{
    const struct {
        const char *pattern, *unknown, *want;
        size_t offset;
    } rows[] = {
        {"lists:seq(sold_ut, ok)", "[{<<\"sold_ut\">>,[<<\"sold_out\">>,<<\"sold_uk\">>]}]",
         "the node does not know the atom sold_ut, so nothing there can match it; did you mean "
         "sold_out or sold_uk?",
         10},
        {"lists:seq('Sold out', _)", "[{<<\"Sold out\">>,[]}]",
         "the node does not know the atom 'Sold out', so nothing there can match it", 11},
        {":lists.seq(:sold_ut, _)", "[{<<\"sold_ut\">>,[<<\"sold-out\">>]}]",
         "the node does not know the atom :sold_ut, so nothing there can match it; did you mean "
         ":\"sold-out\"?",
         12},
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
            assert_int_equal(phase(w), SESSION_FAILED);
            assert_has(state(w)->status.error.text, rows[i].want);
            bool said = !strstr(rows[i].want, "not understood");
            assert_int_equal(state(w)->status.wrong, said);
            assert_int_equal(state(w)->status.wrong_text, 0);
            if (said)
                assert_int_equal(state(w)->status.wrong_offset, rows[i].offset);
            end_world(w);
        }
    }
}

/* Stopped while names are asked for: the late answer changes nothing. */
TEST(test_stopped_at_near_misses)
{
    struct world *w = new_world("shop_cart:ad(_)", &plain);
    answer(w, QUESTION_PREFLIGHT, NONE_OF("no_function"));
    session_stop(w->t);
    assert_int_equal(phase(w), SESSION_ENDED);
    answer(w, QUESTION_FUNCTIONS, "{functions,<<\"shop_cart\">>,[{<<\"add\">>,2,true}]}");
    assert_int_equal(phase(w), SESSION_ENDED);
    end_world(w);
}

/* Exit codes come of it: nothing can match is no refusal for safety. */
TEST(test_refusals_by_kind)
{
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
        assert_int_equal(phase(w), SESSION_FAILED);
        if (state(w)->status.error.code != rows[i].code)
            fail_msg("%s: %d", rows[i].answer, state(w)->status.error.code);
        end_world(w);
    }
}

TEST(test_records_are_asked_for)
{
    struct world *w = new_world("lists:seq(#point{x = 1}, _)", &plain);
    assert_has(open_question(w, QUESTION_RECORDS)->text, "{<<\"lists\">>,<<\"point\">>}");
    answer(w, QUESTION_RECORDS, "{records,[{<<\"lists\">>,<<\"point\">>,[<<\"x\">>,<<\"y\">>]}]}");
    open_question(w, QUESTION_PREFLIGHT);
    end_world(w);
    w = new_world("lists:seq(#point{x = 1}, _)", &plain);
    answer(w, QUESTION_RECORDS,
           "{records,[{<<\"lists\">>,<<\"point\">>,{missing,<<\"no debug information\">>}}]}");
    assert_int_equal(phase(w), SESSION_FAILED);
    assert_has(state(w)->status.error.text, "no debug information");
    end_world(w);
}

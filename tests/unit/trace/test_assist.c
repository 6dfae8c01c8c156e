/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a prompt is told of its line by a target that is played here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/trace.h"
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"
#include "beamtop/trace/assist.h"

#define NODE "there@host"

/* At most one question is open. */
struct target {
    struct assist *assist;
    bool open;
    enum question question;
    char arg[1000];
    answer_fn *fn;
    void *fn_arg;
    unsigned asked, changes;
    uint64_t now;
};

static int fake_ask(void *ctx, enum question question, const struct builder *arg,
                    unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err)
{
    struct target *t = ctx;
    struct buf text;
    size_t len;
    const uint8_t *bytes = builder_bytes(arg, &len);
    (void)err;
    assert_false(t->open);
    assert_true(deadline_ms > 0);
    buf_init(&text, 0);
    print_term(&text, bytes, len, &(struct print_limits){0});
    snprintf(t->arg, sizeof t->arg, "%s", buf_cstr(&text));
    buf_clear(&text);
    t->open = true;
    t->question = question;
    t->fn = fn;
    t->fn_arg = fn_arg;
    t->asked++;
    return 0;
}

static int fake_tell(void *ctx, enum question question, const struct builder *term,
                     struct error *err)
{
    (void)ctx;
    (void)question;
    (void)term;
    (void)err;
    fail();
    return 0;
}

static void fake_drop(void *ctx, const void *fn_arg)
{
    (void)ctx;
    (void)fn_arg;
}

static uint64_t fake_now(void *ctx)
{
    return ((struct target *)ctx)->now;
}

static void on_change(void *arg)
{
    ((struct target *)arg)->changes++;
}

static void expect_open(const struct target *t, enum question question, const char *arg)
{
    assert_true(t->open);
    assert_string_equal(question_name(t->question), question_name(question));
    assert_non_null(strstr(t->arg, arg));
}

static void answer(struct target *t, const char *text)
{
    struct builder *b = builder_new();
    struct error err = {0};
    size_t len;
    assert_true(t->open);
    if (etf_parse(b, text, strlen(text), NODE, &err))
        fail_msg("%s: %s", text, err.text);
    const uint8_t *bytes = builder_bytes(b, &len);
    t->open = false;
    t->fn(t->fn_arg, &(struct answer){.question = t->question, .value = bytes + 1, .len = len - 1});
    builder_free(b);
}

static void answer_error(struct target *t)
{
    struct answer a = {.question = t->question};
    assert_true(t->open);
    error_set(&a.err, ERR_TIMEOUT, "no answer in time");
    t->open = false;
    t->fn(t->fn_arg, &a);
}

static int set_up(void **state)
{
    struct target *t = calloc(1, sizeof *t);
    const struct session_port port = {.ask = fake_ask,
                                      .tell = fake_tell,
                                      .drop = fake_drop,
                                      .now_ns = fake_now,
                                      .ctx = t,
                                      .node = NODE,
                                      .creation = 3,
                                      .otp = 27};
    t->now = 1;
    t->assist = assist_new(on_change, t);
    assist_set_port(t->assist, &port);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct target *t = *state;
    assist_free(t->assist);
    free(t);
    return 0;
}

static const struct assist_line *look(struct target *t, const char *line)
{
    struct trace_request defaults = {.syntax = SYNTAX_AUTO};
    caps_init(&defaults.caps);
    assist_look(t->assist, &defaults, line);
    return assist_line(t->assist);
}

static void expect_sentence(const struct assist_line *l, const char *pattern)
{
    struct error err = {0};
    struct pattern *p;
    struct buf text;
    assert_int_equal(pattern_parse(&p, pattern, strlen(pattern), SYNTAX_AUTO, &(size_t){0}, &err),
                     0);
    buf_init(&text, 0);
    pattern_describe(&text, p);
    assert_string_equal(l->sentence, buf_cstr(&text));
    buf_clear(&text);
    pattern_free(p);
}

TEST_WITH(test_errors, set_up, tear_down)
{
    static const struct {
        const char *line, *text;
        size_t offset;
        bool unfinished;
    } rows[] = {
        {"lists:", "function", 6, true},
        {"lists:map(_, ", "", 12, true},
        {"lists:map(_, _) -> retrun", "retrun", 19, false},
        {"lists:map(_, _) -> return --events none", "events", 35, false},
        {"lists:map(_, _) --procs app: --time 5s", "", 28, false},
        {"lists:map(_, _) when X > 1", "X", 21, false},
        {"--events 5", "pattern", 0, false},
    };
    struct target *t = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct assist_line *l = look(t, rows[i].line);
        if (!l->known || !l->wrong || l->offset != rows[i].offset ||
            l->unfinished != rows[i].unfinished || !strstr(l->text, rows[i].text))
            fail_msg("%s: known %d wrong %d offset %zu unfinished %d: %s", rows[i].line, l->known,
                     l->wrong, l->offset, l->unfinished, l->text);
    }
    assert_int_equal(t->asked, 0);
}

TEST_WITH(test_what_matches, set_up, tear_down)
{
    struct target *t = *state;
    const struct assist_line *l = look(t, "lists:map(F, [_|_]) -> return --procs app:shop");
    assert_false(l->known);
    expect_open(t, QUESTION_PREFLIGHT, "lists");
    assert_non_null(strstr(t->arg, "shop"));
    assert_non_null(strstr(l->spec, "exception_trace"));
    assert_null(strchr(l->spec, '\n'));
    expect_sentence(l, "lists:map(F, [_|_]) -> return");
    answer(t, "{preflight, [{0, [{lists, map, 2}], 1, ok}], {pids, [<0.9.0>, <0.10.0>], 2}, "
              "{{0, 0, []}, [], 0}, []}");
    assert_true(l->known && !l->wrong);
    assert_string_equal(l->text, "1 function: lists:map/2; 2 processes (app:shop)");
    assert_int_equal(t->asked, 1);
    assert_int_equal(t->changes, 1);
}

/* One pattern's words are those of `explain`; several stand behind one another. */
TEST_WITH(test_sentence_of_several, set_up, tear_down)
{
    struct target *t = *state;
    const struct assist_line *l = look(t, "lists:map/2 & ets:insert(_, _)");
    const char *second = strstr(l->sentence, " & calls of ets:insert/2");
    assert_true(strncmp(l->sentence, "calls of lists:map/2", 20) == 0);
    assert_non_null(second);
    while (t->open)
        answer_error(t);
}

TEST_WITH(test_functions_to_count, set_up, tear_down)
{
    static const struct {
        const char *line, *found, *text;
    } rows[] = {
        {"lists", "{0, [{lists, all, 2}], 117, too_many}", "117 functions"},
        {"lists:map/2", "{0, [{lists, map, 2}], 1, ok}", "1 function"},
        {"_:_", "{0, [{lists, all, 2}], 9000, too_many}", "at least 9,000 functions"},
        {"app:shop, lists", "{0, [{shop, add, 2}], 41, too_many}, {1, [], 117, too_many}",
         "at most 158 functions"},
        {"app:shop", "{0, [{shop, add, 2}], 41, too_many}", "41 functions"},
        {"app:shpo", "{0, [], 0, no_application}",
         "nothing to count: app:shpo: no such application is loaded"},
        {"lists, maps", "{0, [{lists, all, 2}], 117, too_many}, {1, [], 26, too_many}",
         "at most 143 functions"},
        {"lists:mapp/2", "{0, [], 0, instruction}", "nothing to count: lists:mapp/2: "},
    };
    struct target *t = *state;
    const struct assist_line *l = assist_line(t->assist);
    char text[300];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assist_count(t->assist, SYNTAX_AUTO, rows[i].line);
        expect_open(t, QUESTION_PREFLIGHT, "{0,call,");
        snprintf(text, sizeof text, "{preflight, [%s], {all, 2}, {{0, 0, []}, [], 0}, []}",
                 rows[i].found);
        answer(t, text);
        if (!l->known || l->wrong || strncmp(l->text, rows[i].text, strlen(rows[i].text)) != 0)
            fail_msg("%s: %s", rows[i].line, l->text);
        assert_false(t->open);
    }
    assist_count(t->assist, SYNTAX_AUTO, "app:shop");
    expect_open(t, QUESTION_PREFLIGHT, "{0,call,{app,<<\"shop\">>},any,any}");
    answer_error(t);
    assist_count(t->assist, SYNTAX_AUTO, "lists:map(_, _) -> return");
    assert_true(l->wrong && !l->unfinished && !t->open);
}

TEST_WITH(test_only_the_last_line_counts, set_up, tear_down)
{
    struct target *t = *state;
    look(t, "lists:map/2");
    look(t, "lists:ma");
    const struct assist_line *l = look(t, "lists:mapfoldl/3");
    assert_int_equal(t->asked, 1);
    answer(t, "{preflight, [{0, [{lists, map, 2}], 1, ok}], {all, 2}, {{0, 0, []}, [], 0}, []}");
    assert_false(l->known);
    assert_string_equal(l->text, "");
    expect_open(t, QUESTION_PREFLIGHT, "mapfoldl");
    answer(t,
           "{preflight, [{0, [{lists, mapfoldl, 3}], 1, ok}], {all, 2}, {{0, 0, []}, [], 0}, []}");
    assert_string_equal(l->text, "1 function: lists:mapfoldl/3; 2 processes (all)");
}

#define NOTHING(why) "{preflight, [{0, [], 0, " why "}], {all, 2}, {{0, 0, []}, [], 0}, []}"

TEST_WITH(test_near_misses_of_a_function, set_up, tear_down)
{
    struct target *t = *state;
    const struct assist_line *l = look(t, "lists:mapp/2");
    answer(t, NOTHING("no_function"));
    expect_open(t, QUESTION_FUNCTIONS, "lists");
    assert_false(l->known);
    answer(t, "{functions, <<\"lists\">>, [{<<\"map\">>, 2, true}, {<<\"zip\">>, 2, true}]}");
    assert_true(l->known && l->nothing && !l->wrong);
    assert_string_equal(l->text, "nothing to trace: lists:mapp/2: lists has no function mapp; "
                                 "did you mean lists:map/2?");
    assert_false(t->open);
}

TEST_WITH(test_near_misses_of_a_module, set_up, tear_down)
{
    struct target *t = *state;
    const struct assist_line *l = look(t, "MyApp.Crt.add/2");
    answer(t, NOTHING("no_module"));
    expect_open(t, QUESTION_FUNCTIONS, "modules");
    answer(t, "{modules, [<<\"Elixir.MyApp.Cart\">>, <<\"lists\">>], 2}");
    assert_true(l->known);
    assert_string_equal(l->text, "nothing to trace: MyApp.Crt.add/2: the node has no module "
                                 "MyApp.Crt; did you mean MyApp.Cart?");
}

TEST_WITH(test_an_unknown_atom, set_up, tear_down)
{
    struct target *t = *state;
    const struct assist_line *l = look(t, "  lists:map(F, [sold_ut]) -> return");
    expect_open(t, QUESTION_PREFLIGHT, "sold_ut");
    answer(t, "{preflight, [{0, [{lists, map, 2}], 1, ok}], {all, 2}, {{0, 0, []}, [], 0}, "
              "[{<<\"sold_ut\">>, []}]}");
    assert_true(l->known && l->nothing && !l->wrong);
    assert_int_equal(l->offset, 16);
    assert_string_equal(l->text, "the node does not know the atom sold_ut, so nothing there can "
                                 "match it");
    assert_false(t->open);
}

TEST_WITH(test_near_misses_of_a_process, set_up, tear_down)
{
    struct target *t = *state;
    const struct assist_line *l = look(t, "lists:map/2 --procs rx");
    answer(t, "{preflight, [{0, [{lists, map, 2}], 1, ok}], "
              "{none, <<\"no process is registered as rx\">>}, {{0, 0, []}, [], 0}, []}");
    expect_open(t, QUESTION_FUNCTIONS, "who");
    answer(t, "{who, [<<\"init\">>, <<\"rex\">>], []}");
    assert_true(l->known && l->nothing);
    assert_int_equal(l->offset, 20);
    assert_string_equal(l->text, "no process to trace: no process is registered as rx; did you "
                                 "mean rex?");
    l = look(t, "lists:map/2 --procs rx2");
    answer(t, "{preflight, [{0, [{lists, map, 2}], 1, ok}], "
              "{none, <<\"no process is registered as rx2\">>}, {{0, 0, []}, [], 0}, []}");
    assert_true(l->known);
    assert_false(t->open);
}

/* An answer that fails is not asked for for ever. */
TEST_WITH(test_failures_end, set_up, tear_down)
{
    struct target *t = *state;
    const struct assist_line *l = look(t, "lists:mapp/2");
    answer(t, NOTHING("no_function"));
    for (int i = 0; t->open && i < 100; i++)
        answer_error(t);
    assert_false(t->open);
    assert_true(l->known);
    look(t, "lists:map(#cart{id = 1}, _)");
    expect_open(t, QUESTION_RECORDS, "cart");
    answer_error(t);
    assert_false(t->open);
    assert_true(l->known);
    assert_non_null(strstr(l->text, "no answer in time"));
    look(t, "lists:map/2");
    answer_error(t);
    assert_non_null(strstr(l->text, "no answer in time"));
    assert_true(l->known);
}

TEST_WITH(test_records_are_asked_for_once, set_up, tear_down)
{
    struct target *t = *state;
    const struct assist_line *l = look(t, "shop:add(#cart{id = 1}, _)");
    expect_open(t, QUESTION_RECORDS, "shop");
    answer(t, "{records, [{<<\"shop\">>, <<\"cart\">>, [<<\"id\">>, <<\"items\">>]}]}");
    expect_open(t, QUESTION_PREFLIGHT, "add");
    assert_non_null(strstr(l->spec, "{cart,1,'_'}"));
    answer(t, NOTHING("not_loaded"));
    assert_true(l->known);
    assert_false(t->open);
    const struct slice *fields;
    size_t n;
    assert_true(assist_fields(t->assist, "shop", "cart", &fields, &n));
    assert_int_equal(n, 2);
    while (t->open)
        answer_error(t);
    l = look(t, "shop:add(#cart{name = 1}, _)");
    assert_false(t->open);
    assert_true(l->wrong);
    assert_non_null(strstr(l->text, "name"));
}

TEST_WITH(test_names_are_asked_for_anew_when_old, set_up, tear_down)
{
    struct target *t = *state;
    assist_begin(t->assist);
    expect_open(t, QUESTION_FUNCTIONS, "modules");
    assert_false(assist_modules(t->assist));
    assert_int_equal(t->asked, 1);
    answer(t, "{modules, [<<\"lists\">>], 1}");
    assert_true(assist_modules(t->assist));
    assist_begin(t->assist);
    assert_int_equal(t->asked, 1);
    t->now += UINT64_C(61000000000);
    assist_begin(t->assist);
    assert_int_equal(t->asked, 2);
    answer_error(t);
}

/* Names that wait behind another question are still on their way when that one is answered. */
TEST_WITH(test_names_wait_behind_the_line, set_up, tear_down)
{
    struct target *t = *state;
    assist_begin(t->assist);
    answer(t, "{modules, [<<\"lists\">>], 1}");
    look(t, "lists:map/2");
    expect_open(t, QUESTION_PREFLIGHT, "lists");
    assert_false(assist_is_asking(t->assist));
    assert_false(assist_functions(t->assist, "lists"));
    assert_true(assist_is_asking(t->assist));
    answer_error(t);
    expect_open(t, QUESTION_FUNCTIONS, "functions");
    assert_true(assist_is_asking(t->assist));
    answer_error(t);
    assert_false(assist_is_asking(t->assist));
}

TEST_WITH(test_without_a_target, set_up, tear_down)
{
    struct target *t = *state;
    assist_set_port(t->assist, NULL);
    const struct assist_line *l = look(t, "lists:map/2");
    assert_true(l->known && !l->wrong);
    assert_non_null(strstr(l->spec, "get_tcw"));
    assert_false(assist_modules(t->assist));
    assert_false(assist_functions(t->assist, "lists"));
    assert_int_equal(t->asked, 0);
}

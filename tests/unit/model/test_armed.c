/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is armed on a node, from the target's answer. */

#include "../../test.h"
#include "answers.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/detail.h"

static void assert_slice(const char *name, struct slice is, const char *text)
{
    if (is.len != strlen(text) || memcmp(is.s, text, is.len) != 0)
        fail_msg("%s: \"%.*s\" is not \"%s\"", name, (int)is.len, is.s, text);
}

static struct model *model_of(const char *text)
{
    struct model *m = model_new();
    struct error err = {0};
    if (give(m, ANSWER_ARMED, text, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return m;
}

static const char *answer(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        if (strcmp(answers[i].name, name) == 0)
            return answers[i].text;
    fail_msg("there is no answer %s", name);
    return "";
}

static const struct {
    enum armed_kind kind;
    const char *what, *where, *pid, *session, *tracer, *traced, *text;
    bool beamtop;
    int64_t count, time_us, words;
} rows[] = {
    {ARMED_SESSION, "session", "theirs", "", "theirs", "", "", "", false, -1, -1, -1},
    {ARMED_SESSION, "session", "beamtop", "", "beamtop", "", "", "", true, -1, -1, -1},
    {ARMED_CONTROL_WORD, "control_word", "trace_control_word", "", "", "", "", "", true, -1, -1,
     -1},
    {ARMED_SYSTEM_TRACER, "system_tracer", "seq_trace", "", "", "<0.9.0> theirs", "", "", false, -1,
     -1, -1},
    {ARMED_TOKENS, "tokens", "seq_trace", "", "", "", "", "", false, -1, -1, -1},
    {ARMED_MONITOR, "monitor", "system_monitor", "", "", "<0.9.0> theirs", "", "[{long_gc,100}]",
     false, -1, -1, -1},
    {ARMED_MONITOR, "monitor", "odd", "", "", "", "", "", false, -1, -1, -1},
    {ARMED_BREAKPOINT, "breakpoint", "send", "", "", "", "global", "[{[x],[],[]}]", false, -1, -1,
     -1},
    {ARMED_BREAKPOINT, "breakpoint", "shop_cart:'add item'/2", "", "", "", "local", "", false, 12,
     345, 6},
    {ARMED_BREAKPOINT, "breakpoint", "lists:seq/2", "", "theirs", "<0.9.0> theirs", "global", "[]",
     false, -1, -1, -1},
    {ARMED_BREAKPOINT, "breakpoint", "shop_cart:add/2", "", "beamtop", "", "local", "[{'_',[],[]}]",
     true, 0, -1, -1},
    {ARMED_FLAGS, "flags", "new_processes", "", "", "<0.9.0> theirs", "", "procs, call", false, -1,
     -1, -1},
    {ARMED_FLAGS, "flags", "shop_cart", "<0.41.0>", "beamtop", "<0.50.0> beamtop:trace/0", "",
     "call", true, -1, -1, -1},
    {ARMED_FLAGS, "flags", "<0.42.1>", "<0.42.1>", "theirs", "", "", "", false, -1, -1, -1},
};

TEST(test_rows)
{
    struct model *m = model_of(answer("armed"));
    const struct armed_detail *a = model_armed(m);
    assert_int_equal(a->n_rows, ARRAY_LEN(rows));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct armed_row *r = &a->rows[i];
        assert_int_equal(r->kind, rows[i].kind);
        assert_slice("what", r->what, rows[i].what);
        assert_slice("where", r->where, rows[i].where);
        assert_slice(rows[i].where, r->pid_text, rows[i].pid);
        assert_slice(rows[i].where, r->session, rows[i].session);
        assert_slice(rows[i].where, r->tracer, rows[i].tracer);
        assert_slice(rows[i].where, r->traced, rows[i].traced);
        assert_slice(rows[i].where, r->text, rows[i].text);
        if (r->beamtop != rows[i].beamtop)
            fail_msg("%s: whose it is", rows[i].where);
        assert_int_equal(r->call_count, rows[i].count);
        assert_int_equal(r->call_time_us, rows[i].time_us);
        assert_int_equal(r->call_memory_words, rows[i].words);
        assert_int_equal(r->has_pid, *rows[i].pid != '\0');
    }
    assert_int_equal(a->rows[12].pid.id, 41);
    assert_int_equal(a->rows[2].value, 17);
    static const struct {
        size_t row;
        const char *text;
    } details[] = {{1, "1 process"},
                   {2, "17"},
                   {3, ""},
                   {4, "3 processes"},
                   {5, "[{long_gc,100}]"},
                   {6, ""},
                   {7, "global [{[x],[],[]}]"},
                   {8, "local, 12 calls, 345 µs, 6 words"},
                   {10, "local [{'_',[],[]}], 0 calls"},
                   {11, "procs, call"}};
    for (size_t i = 0; i < ARRAY_LEN(details); i++)
        assert_slice("details", a->rows[details[i].row].details, details[i].text);
    model_free(m);
}

/* Four of seven breakpoints came, all flags did. */
TEST(test_totals)
{
    struct model *m = model_of(answer("armed"));
    const struct armed_detail *a = model_armed(m);
    assert_int_equal(a->sessions, 2);
    assert_int_equal(a->control_word, 17);
    assert_int_equal(a->monitors, 2);
    assert_int_equal(a->breakpoints, 7);
    assert_int_equal(a->breakpoints_shown, 4);
    assert_int_equal(a->flags, 3);
    assert_int_equal(a->flags_shown, 3);
    assert_int_equal(a->processes, 2);
    assert_int_equal(a->ours, 1);
    assert_int_equal(a->tokens, 3);
    assert_slice("system tracer", a->system_tracer, "<0.9.0> theirs");
    assert_int_equal(a->rows[0].breakpoints, -1);
    assert_int_equal(a->rows[0].processes, 1);
    model_free(m);
    m = model_of(answer("nothing armed"));
    a = model_armed(m);
    assert_int_equal(a->n_rows, 0);
    assert_int_equal(a->breakpoints + a->flags + a->sessions + a->ours + a->processes, 0);
    model_free(m);
}

#define POINT "{1, [{<<>>, lists, seq, 2, [{local, <<>>}]}]}"
#define FLAG(tracer) "{<<>>, <0.41.0>, <<>>, [call], <<\"<0.5.0> " tracer "\">>}"

/* In the single space a breakpoint does not say whose it is: the tracers of that space do. */
TEST(test_whose_in_the_single_space)
{
    static const struct {
        const char *name, *text;
        bool beamtop;
    } cases[] = {
        {"no flags", "{armed, 5, 0, [], " POINT ", {0, []}, [], 0, <<>>, 0}", false},
        {"a beamtop's flag",
         "{armed, 5, 0, [], " POINT ", {1, [" FLAG("beamtop:trace/0") "]}, [], 0, <<>>, 0}", true},
        {"another's flag", "{armed, 5, 0, [], " POINT ", {1, [" FLAG("dbg") "]}, [], 0, <<>>, 0}",
         false},
        {"both",
         "{armed, 5, 0, [], " POINT
         ", {2, [" FLAG("beamtop:trace/0") "," FLAG("dbg") "]}, [], 0, <<>>, 0}",
         false},
        {"a signature of nothing",
         "{armed, 5, 0, [], " POINT ", {1, [" FLAG("beamtop:") "]}, [], 0, <<>>, 0}", false},
        {"a name that has it within",
         "{armed, 5, 0, [], " POINT ", {1, [" FLAG("x beamtop:trace/0") "]}, [], 0, <<>>, 0}",
         false},
        {"a name that only looks like it",
         "{armed, 5, 0, [], " POINT ", {1, [" FLAG("xbeamtop:trace/0") "]}, [], 0, <<>>, 0}",
         false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct model *m = model_of(cases[i].text);
        if (model_armed(m)->rows[0].beamtop != cases[i].beamtop)
            fail_msg("%s", cases[i].name);
        model_free(m);
    }
}

/* Without a system tracer the tokens are nobody's: they stay when what set them has ended. */
TEST(test_whose_sequential_tracing_is)
{
    static const struct {
        const char *text;
        size_t rows;
        bool beamtop;
    } cases[] = {
        {"{armed, 5, 0, [], {0, []}, {0, []}, [], 1, <<\"<0.50.0> beamtop:spans/0\">>, 4}", 2,
         true},
        {"{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<\"<0.50.0> beamtop:spans/0\">>, 0}", 1,
         true},
        {"{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<\"<0.9.0> ttb\">>, 4}", 2, false},
        {"{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<\"#Port<0.5>\">>, 4}", 2, false},
        {"{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<>>, 4}", 1, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct model *m = model_of(cases[i].text);
        const struct armed_detail *a = model_armed(m);
        assert_int_equal(a->n_rows, cases[i].rows);
        for (size_t k = 0; k < a->n_rows; k++)
            if (a->rows[k].beamtop != cases[i].beamtop)
                fail_msg("%s: row %zu", cases[i].text, k);
        model_free(m);
    }
}

TEST(test_a_traced_supervisor_has_its_name)
{
    struct model *m = model_of("{armed, 5, 0, [], {0, []}, {1, [{<<>>, <0.41.0>, "
                               "<<\"supervisor:shop_sup/1\">>, [call], <<>>}]}, [], 0, <<>>, 0}");
    assert_slice("where", model_armed(m)->rows[0].where, "shop_sup");
    model_free(m);
}

/* Recordings of before have no such list: unknown, not none. */
TEST(test_connections)
{
    static const struct {
        const char *text;
        int64_t beamtops;
        const char *details;
    } cases[] = {
        {"{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<>>, 0}", -1, ""},
        {"{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<>>, 0, [], false}", 0, ""},
        {"{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<>>, 0, [{<<\"beamtop2@h\">>, <0.60.0>, "
         "18}], true}",
         1, "18 processes"},
        {"{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<>>, 0, [{<<\"beamtop2@h\">>, <0.60.0>, "
         "18, <<\"#Port<0.7>\">>}], true}",
         1, "#Port<0.7>, 18 processes"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct model *m = model_of(cases[i].text);
        const struct armed_detail *a = model_armed(m);
        assert_int_equal(a->beamtops, cases[i].beamtops);
        assert_int_equal(a->own_counts, cases[i].beamtops > 0);
        assert_int_equal(a->n_rows, cases[i].beamtops > 0);
        if (a->n_rows > 0) {
            assert_int_equal(a->rows->kind, ARMED_CONNECTION);
            assert_true(a->rows->beamtop);
            assert_slice("where", a->rows->where, "beamtop2@h");
            assert_slice("pid", a->rows->pid_text, "<0.60.0>");
            assert_slice("details", a->rows->details, cases[i].details);
        }
        model_free(m);
    }
}

TEST(test_more_than_asked_for_is_refused)
{
    struct buf text;
    struct error err = {0};
    struct model *m = model_of(answer("armed"));
    buf_init(&text, 0);
    buf_puts(&text, "{armed, 5, 0, [{<<>>, false}");
    for (int i = 0; i < LIMIT_ARMED; i++)
        buf_puts(&text, ",{<<>>, false}");
    buf_puts(&text, "], {0, []}, {0, []}, [], 0, <<>>, 0}");
    assert_true(give(m, ANSWER_ARMED, buf_cstr(&text), &err) < 0);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_int_equal(model_armed(m)->sessions, 2);
    buf_clear(&text);
    model_free(m);
}

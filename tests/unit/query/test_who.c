/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who processes are, made of what native asks say. */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "query/who/who_above.h"
#include "query/who/who_known.h"
#include "query/who/who_leaders.h"
#include "query/who/who_terms.h"
#include "terms.h"

static struct who_node node_by(enum who_way way)
{
    return (struct who_node){.name = NODE, .way = way, .has_labels = way == WHO_BY_KEYS};
}

static struct slice bare_of(const struct builder *b)
{
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(b, &len);
    return (struct slice){(const char *)bytes + 1, len - 1};
}

static struct builder *bare_term(const char *text, struct slice *out)
{
    struct builder *b = term_of(text, out);
    *out = bare_of(b);
    return b;
}

static void expect_term(struct slice term, const char *expected)
{
    static const struct print_limits limits = {.depth = 20, .items = 300, .bytes = 4000};
    struct buf text;
    buf_init(&text, 0);
    if (term.len > 0)
        print_term(&text, (const uint8_t *)term.s, term.len, &limits);
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
}

/* ---- terms */

#define BASE "{proc_lib,init_p_do_apply,3,[]}"

TEST(test_stacks)
{
    static const struct {
        const char *stack, *call; /* "": it does not say */
    } cases[] = {
        {"[{gen_server,loop,7,[]}," BASE "]", "{gen_server,loop,7}"},
        {"[{timer,sleep,1,[{file,\"timer.erl\"},{line,219}]}," BASE "]", "{timer,sleep,1}"},
        {"[{m,work,2,[]},{m,handle_cast,2,[]},{gen_server,try_dispatch,4,[]},"
         "{gen_server,handle_msg,6,[]}," BASE "]",
         "{m,init,1}"},
        {"[{m,handle_event,4,[]},{gen_statem,loop,3,[]}," BASE "]", "{m,init,1}"},
        {"[{m,init,1,[]},{gen_server,init_it,2,[]},{gen,init_it,6,[]}," BASE "]", "{m,init,1}"},
        {"[{m,other,1,[]},{gen_server,handle_msg,6,[]}," BASE "]", "{gen_server,handle_msg,6}"},
        {"[{m,handle_cast,3,[]},{gen_server,handle_msg,6,[]}," BASE "]",
         "{gen_server,handle_msg,6}"},
        {"[{gen_server,loop,7,[]},{gen,x,1,[]}," BASE "]", "{gen,x,1}"},
        {"[" BASE "]", ""},
        {"[{erlang,hibernate,3,[]}]", ""},
        {"[{a,b,1,[]},{c,d,2,[]}]", ""},
        {"[]", ""},
        {"x", ""},
        {"\"text\"", ""},
        {"[{a,b,1}," BASE "]", ""},
        {"[{a,b,[1,2],[]}," BASE "]", ""},
        {"[x," BASE "]", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice stack;
        struct builder *a = bare_term(cases[i].stack, &stack), *b = builder_new();
        const bool told = who_call_of_stack(b, stack);
        expect_term(told ? bare_of(b) : (struct slice){0}, cases[i].call);
        builder_free(a);
        builder_free(b);
    }
}

TEST(test_settled)
{
    static const struct {
        const char *call;
        bool settled;
    } cases[] = {{"{m,init,1}", true},
                 {"{gen_server,init,1}", true},
                 {"{erlang,apply,2}", true},
                 {"{gen_server,loop,7}", false},
                 {"{proc_lib,init_p,5}", false},
                 {"undefined", false},
                 {"{m,f}", false}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice call;
        struct builder *b = bare_term(cases[i].call, &call);
        assert_int_equal(who_is_settled(call), cases[i].settled);
        builder_free(b);
    }
}

TEST(test_supervisors)
{
    static const struct {
        const char *name, *call;
        enum who_way way;
        const char *supervisor; /* "": it is none */
    } cases[] = {
        {"a", "{supervisor,m,1}", WHO_BY_KEYS, "a"},
        {NULL, "{supervisor,m,1}", WHO_BY_KEYS, "m"},
        {"a", "{supervisor_bridge,m,1}", WHO_BY_KEYS, "a"},
        {"a", "{supervisor,init,1}", WHO_BY_PARENTS, "a"},
        {NULL, "{supervisor,init,1}", WHO_BY_PARENTS, ""},
        {NULL, "{m_sup,init,1}", WHO_BY_KEYS, "m_sup"},
        {"a", "{'Elixir.DynamicSupervisor',init,1}", WHO_BY_KEYS, "a"},
        {"a_sup", "{gen_server,loop,7}", WHO_BY_KEYS, ""},
        {"a_sup", "{gen_server,loop,7}", WHO_BY_PARENTS, "a_sup"},
        {"a_supervisor", "{gen_server,loop,7}", WHO_BY_PARENTS, "a_supervisor"},
        {NULL, "{m_sup,init,1}", WHO_BY_PARENTS, ""},
        {"a", "{m,init,1}", WHO_BY_KEYS, ""},
        {"a_sup", "undefined", WHO_BY_PARENTS, ""},
        {"sup", "{m,init,1}", WHO_BY_PARENTS, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice name = {0}, call, out = {0};
        struct builder *a = cases[i].name ? bare_term(cases[i].name, &name) : NULL;
        struct builder *b = bare_term(cases[i].call, &call);
        if (!who_read_supervisor(name, call, cases[i].way, &out))
            out = (struct slice){0};
        expect_term(out, cases[i].supervisor);
        builder_free(a);
        builder_free(b);
    }
}

TEST(test_labels)
{
    static const struct {
        const char *label, *text; /* NULL: the node makes it */
    } cases[] = {
        {"<<\"a b\">>", "a b"}, {"<<195,164,255,65>>", "\xc3\xa4"},
        {"\"text\"", "text"},   {"[8364,246]", "€ö"},
        {"[0,1]", NULL},        {"[a]", NULL},
        {"[97|98]", NULL},      {"[127]", NULL},
        {"[55296]", NULL},      {"[27,8,97]", "\x1b\b\x61"},
        {"[1114112]", NULL},    {"[]", NULL},
        {"worker", "worker"},   {"'A b'", NULL},
        {"'else'", NULL},       {"'maybe'", NULL},
        {"'end'", NULL},        {"''", NULL},
        {"{a,b}", NULL},        {"17", NULL},
        {"<<\"\">>", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice label;
        struct builder *b = bare_term(cases[i].label, &label);
        struct buf text;
        buf_init(&text, 0);
        assert_int_equal(who_put_label(&text, label), cases[i].text != NULL);
        assert_string_equal(buf_cstr(&text), cases[i].text ? cases[i].text : "");
        buf_clear(&text);
        builder_free(b);
    }
}

/* 200 bytes, and no half of a character. */
TEST(test_long_labels)
{
    struct builder *b = builder_new();
    struct buf text;
    buf_init(&text, 0);
    build_list(b, 300);
    for (int i = 0; i < 300; i++)
        build_int(b, 0x20ac);
    build_nil(b);
    assert_true(who_put_label(&text, bare_of(b)));
    assert_int_equal(text.len, 198);
    buf_clear(&text);
    builder_free(b);
}

TEST(test_release)
{
    static const struct {
        const char *value;
        bool with_key;
        enum who_way way;
        bool has_labels, refused;
    } cases[] = {
        {"[0,\"29\",{x,y},1]", true, WHO_BY_KEYS, true, false},
        {"[0,\"26\",undefined,1]", true, WHO_BY_KEYS, false, false},
        {"[0,\"26\",1]", false, WHO_BY_PARENTS, false, false},
        {"[0,\"25\",1]", false, WHO_BY_PARENTS, false, false},
        {"[0,\"24\",1]", false, WHO_BY_LINKS, false, false},
        {"[0,\"29\",1]", false, WHO_BY_LINKS, false, true},
        {"[0,\"\",1]", false, WHO_BY_LINKS, false, true},
        {"[0,\"2x\",1]", false, WHO_BY_LINKS, false, true},
        {"[0,[300,1],1]", false, WHO_BY_LINKS, false, true},
        {"[0,\"25\"]", false, WHO_BY_LINKS, false, true},
        {"x", false, WHO_BY_LINKS, false, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct who_node node = {.name = NODE};
        struct slice value;
        double us;
        struct builder *b = bare_term(cases[i].value, &value);
        assert_int_equal(who_read_release(value, cases[i].with_key, &node, &us), !cases[i].refused);
        if (!cases[i].refused) {
            assert_int_equal(node.way, cases[i].way);
            assert_int_equal(node.has_labels, cases[i].has_labels);
        }
        builder_free(b);
    }
}

TEST(test_parts)
{
    static const struct etf_pid pids[2] = {{.id = 1}, {.id = 2}};
    static const struct who_part parts[] = {{WHO_BASE, pids, 2}, {WHO_LABEL_SIZE, pids, 2}};
    static const char *const refused[] = {"[0,[a,b],[1,2,3],9]", "[0,[a,b],9]", "[0,[a,b],x,9]",
                                          "[a,[a,b],[1,2],9]", "[]"};
    struct slice value;
    struct cursor c[2];
    double us = 0;
    int64_t size = 0;
    struct builder *b = bare_term("[0,[a,b],[30,2000],9000]", &value);
    assert_true(who_read_parts(value, parts, 2, c, &us));
    assert_true(us > 8.9 && us < 9.1);
    assert_true(cursor_int64(&c[1], &size) && size == 30);
    assert_true(cursor_int64(&c[1], &size) && size == 2000);
    builder_free(b);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        b = bare_term(refused[i], &value);
        assert_false(who_read_parts(value, parts, 2, c, &us));
        builder_free(b);
    }
}

/* Each is in one part that passes, or alone in one that fails. */
TEST(test_spans)
{
    struct who_span s;
    size_t seen = 0, failed = 0;
    who_span_start(&s, 1100);
    while (s.at < s.n) {
        const bool bad = s.at <= 707 && 707 < s.at + s.len;
        failed += bad;
        if (bad && who_span_cut(&s))
            continue;
        assert_true(!bad || s.len == 1);
        seen += s.len;
        (void)who_span_pass(&s);
    }
    assert_int_equal(seen, 1100);
    assert_int_equal(failed, 4);
    who_span_start(&s, 0);
    assert_int_equal(s.len, 0);
}

/* ---- leaders */

TEST(test_leaders)
{
    const struct who_node node = node_by(WHO_BY_KEYS);
    const struct etf_pid pid = {.id = 5}, other = {.id = 6};
    struct who_leaders l;
    struct slice value;
    double us;
    struct builder *b = bare_term(
        "[0,[[kernel,<0.5.0>],x,[stdlib],\"ab\",[{y},<0.6.0>],[z,<0.7.0>,1]],1000]", &value);
    who_leaders_init(&l);
    who_leaders_take(&l, value, &node, &us);
    expect_term(who_leaders_find(&l, &pid), "kernel");
    expect_term(who_leaders_find(&l, &other), "");
    who_leaders_take(&l, (struct slice){0}, &node, &us);
    expect_term(who_leaders_find(&l, &pid), "");
    who_leaders_clear(&l);
    builder_free(b);
}

/* ---- one process */

static void take(struct who_known *k, const struct who_node *node, enum who_column column,
                 const char *text)
{
    struct slice term;
    struct cursor c;
    struct builder *b = bare_term(text, &term);
    cursor_init(&c, (const uint8_t *)term.s, term.len);
    assert_true(who_known_take(k, node, column, &c));
    builder_free(b);
}

#define BASE_OF(name, call)                                                                        \
    "[{registered_name," name "},{group_leader,<0.9.0>},{initial_call," call "}]"

TEST(test_known_by_keys)
{
    const struct who_node node = node_by(WHO_BY_KEYS);
    struct who_known *k = who_known_new(&(struct etf_pid){.id = 3});
    who_known_begin(k);
    assert_true(who_known_needs(k, &node, WHO_CALL) && !who_known_needs(k, &node, WHO_STACK));
    take(k, &node, WHO_BASE, BASE_OF("[]", "{proc_lib,init_p,5}"));
    take(k, &node, WHO_LABEL, "[]");
    take(k, &node, WHO_CALL, "{m,init,1}");
    assert_true(who_known_needs(k, &node, WHO_LABEL_SIZE));
    take(k, &node, WHO_LABEL_SIZE, "60");
    assert_true(who_known_needs(k, &node, WHO_LABEL_TERM));
    take(k, &node, WHO_LABEL_TERM, "{{dictionary,'$process_label'},\"text\"}");
    who_known_end(k, 1000, true);
    const struct who_entry *e = who_known_entry(k);
    expect_term(e->name, "undefined");
    expect_term(e->call, "{m,init,1}");
    expect_term(e->label, "<<\"text\">>");
    expect_term(e->mfa, "{proc_lib,init_p,5}");
    expect_term(e->supervisor, "undefined");
    who_known_begin(k);
    assert_false(who_known_needs(k, &node, WHO_CALL));
    take(k, &node, WHO_BASE, BASE_OF("a", "{proc_lib,init_p,5}"));
    take(k, &node, WHO_LABEL, "undefined");
    expect_term(who_known_entry(k)->name, "a");
    expect_term(who_known_entry(k)->label, "undefined");
    expect_term(who_known_entry(k)->call, "{m,init,1}");
    who_known_free(k);
}

TEST(test_known_labels)
{
    static const char term[] = "{{dictionary,'$process_label'},{a,1}}";
    const struct who_node node = node_by(WHO_BY_KEYS);
    struct who_known *k = who_known_new(&(struct etf_pid){.id = 3});
    for (int i = 0; i < 2; i++) {
        who_known_begin(k);
        take(k, &node, WHO_BASE, BASE_OF("[]", "{erlang,apply,2}"));
        take(k, &node, WHO_LABEL, "[]");
        take(k, &node, WHO_LABEL_SIZE, i == 1 ? "5000" : "60");
        if (i == 0)
            take(k, &node, WHO_LABEL_TERM, term);
        expect_term(who_known_entry(k)->label,
                    i == 1 ? "<<\"(a label of 5000 bytes)\">>" : "<<\"{a,1}\">>");
        who_known_end(k, 1000, true);
    }
    who_known_free(k);
}

TEST(test_known_by_stacks)
{
#define LOOP "{gen_server,loop,7}"
#define MFA "{proc_lib,init_p,5}"
    static const struct {
        const char *both, *call; /* one after the other */
    } steps[] = {
        {"{[{gen_server,loop,7,[]}," BASE "]," LOOP "}", LOOP},
        {"{[{gen_server,loop,7,[]}," BASE "]," LOOP "}", LOOP},
        {"{[{erlang,hibernate,3,[]}],{erlang,hibernate,3}}", LOOP},
        {"{[{a,b,1,[]}],{a,b,1}}", MFA},
        {"{[{m,handle_info,2,[]},{gen_server,x,1,[]}," BASE "],{m,handle_info,2}}", "{m,init,1}"},
    };
    const struct who_node node = node_by(WHO_BY_PARENTS);
    struct who_known *k = who_known_new(&(struct etf_pid){.id = 3});
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        who_known_begin(k);
        assert_true(who_known_needs(k, &node, WHO_STACK));
        take(k, &node, WHO_BASE, BASE_OF("[]", MFA));
        take(k, &node, WHO_STACK, steps[i].both);
        who_known_end(k, 1000, true);
        expect_term(who_known_entry(k)->call, steps[i].call);
    }
    who_known_begin(k);
    assert_false(who_known_needs(k, &node, WHO_STACK));
    who_known_free(k);
}

TEST(test_known_gone)
{
    static const char *const none[] = {"undefined", "[]", "[{registered_name,a}]", "\"abc\"",
                                       BASE_OF("a", "undefined")};
    const struct who_node node = node_by(WHO_BY_KEYS);
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        struct who_known *k = who_known_new(&(struct etf_pid){.id = 3});
        who_known_begin(k);
        take(k, &node, WHO_BASE, none[i]);
        take(k, &node, WHO_CALL, "undefined");
        assert_true(k->gone && !k->needs_supervisor);
        who_known_free(k);
    }
}

/* Above 2 KiB it is not kept. */
TEST(test_known_long)
{
    struct who_known *k = who_known_new(&(struct etf_pid){.id = 3});
    struct builder *b = builder_new();
    static const char text[3000];
    build_binary(b, text, sizeof text);
    who_known_keep(k, KEPT_MFA, bare_of(b));
    expect_term(who_known_term(k, KEPT_MFA), "undefined");
    builder_free(b);
    who_known_free(k);
}

/* ---- supervisors */

/* Answers each ask in turn, NULL: it fails; then what is found. */
static void expect_above(enum who_way way, const char *ancestors, const char *const *answers,
                         const char *expected)
{
    const struct who_node node = node_by(way);
    const struct etf_pid pid = {.id = 3};
    struct who_above *a = who_above_new(&node);
    struct slice list, name = {0}, value;
    struct builder *b = bare_term(ancestors, &list);
    struct native_call call;
    enum who_found found;
    double us;
    for (size_t i = 0; (found = who_above_find(a, &pid, list, &name)) == WHO_TO_ASK;)
        while (who_above_call(a, &call)) {
            native_call_clear(&call);
            struct builder *answer = answers[i] ? bare_term(answers[i], &value) : NULL;
            if (answer)
                assert_true(who_above_take(a, value, &us));
            else
                who_above_fail(a);
            builder_free(answer);
            i++;
        }
    expect_term(found == WHO_FOUND ? name : (struct slice){0}, expected);
    assert_false(who_above_call(a, &call));
    who_above_free(a);
    builder_free(b);
}

#define NAMED(name, call) "[{registered_name," name "},{initial_call," call "}]"

TEST(test_by_keys)
{
    static const char *const named[] = {"[0,[<0.5.0>],1]",
                                        "[0,[" NAMED("a_name", MFA) "],[{supervisor,m,1}],1]"};
    static const char *const second[] = {"[0,[" NAMED("[]", MFA) "],[{m,init,1}],1]",
                                         "[0,[" NAMED("[]", "{supervisor,m,1}") "],[undefined],1]"};
    static const char *const gone[] = {"[0,[undefined],1]", "[0,[undefined],[undefined],1]"};
    static const char *const fails[] = {NULL, NULL};
    expect_above(WHO_BY_KEYS, "[a_name]", named, "a_name");
    expect_above(WHO_BY_KEYS, "[1,<0.5.0>,<0.6.0>]", second, "m");
    expect_above(WHO_BY_KEYS, "[a_name,<0.6.0>]", gone, "");
    expect_above(WHO_BY_KEYS, "[a_name,<0.6.0>]", fails, "");
    expect_above(WHO_BY_KEYS, "[]", NULL, "");
    expect_above(WHO_BY_KEYS, "none", NULL, "");
    expect_above(WHO_BY_KEYS, "\"abc\"", NULL, "");
}

#define PARENT(name, stack, parent)                                                                \
    "[0,[[{registered_name," name "},{initial_call," MFA "},{current_stacktrace," stack            \
    "},{parent," parent "}]],1]"

TEST(test_by_parents)
{
    static const char *const up[] = {PARENT("[]", "[]", "<0.4.0>"), PARENT("[]", "[]", "<0.5.0>"),
                                     PARENT("a_sup", "[]", "undefined")};
    static const char *const works[] = {
        PARENT("[]", "[]", "<0.4.0>"),
        PARENT("a", "[{supervisor,init,1,[]},{gen_server,init_it,2,[]}," BASE "]", "undefined")};
    static const char *const itself[] = {PARENT("a_sup", "[]", "undefined")};
    static const char *const circle[] = {PARENT("[]", "[]", "<0.3.0>")};
    expect_above(WHO_BY_PARENTS, "[]", up, "a_sup");
    expect_above(WHO_BY_PARENTS, "[]", works, "a");
    expect_above(WHO_BY_PARENTS, "[]", itself, "");
    expect_above(WHO_BY_PARENTS, "[]", circle, "");
}

#define WAITING(name, call, n)                                                                     \
    "[{registered_name," name "},{initial_call," call "},{message_queue_len," n "}]"
#define SMALL "[0,[{memory,3000}],1]"

TEST(test_by_links)
{
    static const char *const one[] = {
        "[0,[" WAITING("[]", MFA, "0") "],1]", SMALL, "[0,[[<0.4.0>,<0.5.0>,a]],1]",
        "[0,[" WAITING("b", MFA, "0") "," WAITING("a_sup", MFA, "0") "],1]"};
    static const char *const further[] = {
        "[0,[" WAITING("[]", MFA, "0") "],1]",   SMALL, "[0,[[<0.4.0>]],1]",
        "[0,[" WAITING("b", MFA, "0") "],1]",    SMALL, "[0,[[<0.5.0>]],1]",
        "[0,[" WAITING("a_sup", MFA, "0") "],1]"};
    static const char *const two[] = {
        "[0,[" WAITING("[]", MFA, "0") "],1]", SMALL, "[0,[[<0.4.0>,<0.5.0>]],1]",
        "[0,[" WAITING("b_sup", MFA, "0") "," WAITING("a_sup", MFA, "0") "],1]"};
    static const char *const plain[] = {"[0,[" WAITING("[]", "{erlang,apply,2}", "0") "],1]"};
    static const char *const full[] = {"[0,[" WAITING("[]", MFA, "60000") "],1]"};
    static const char *const large[] = {"[0,[" WAITING("[]", MFA, "0") "],1]",
                                        "[0,[{memory,3000000}],1]"};
    static const char *const fails[] = {"[0,[" WAITING("[]", MFA, "0") "],1]", NULL};
    expect_above(WHO_BY_LINKS, "[]", one, "a_sup");
    expect_above(WHO_BY_LINKS, "[]", further, "a_sup");
    expect_above(WHO_BY_LINKS, "[]", two, "");
    expect_above(WHO_BY_LINKS, "[]", plain, "");
    expect_above(WHO_BY_LINKS, "[]", full, "");
    expect_above(WHO_BY_LINKS, "[]", large, "");
    expect_above(WHO_BY_LINKS, "[]", fails, "");
}

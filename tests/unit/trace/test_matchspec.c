/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"
#include "beamtop/trace/matchspec.h"

/* Trees by hand: what the parser would make of the text in each row's name. */
static struct arena trees;

static int clear_trees(void **state)
{
    (void)state;
    arena_clear(&trees);
    return 0;
}
TESTS_WITH(NULL, clear_trees);

static struct node *leaf(enum node_kind kind, const char *text)
{
    struct node *n = arena_alloc(&trees, sizeof(*n));
    n->kind = kind;
    n->text = (struct slice){text, strlen(text)};
    n->bits = 8 * n->text.len;
    return n;
}

static struct node *of(enum node_kind kind, const char *text, size_t count, ...)
{
    struct node *n = leaf(kind, text);
    va_list args;
    va_start(args, count);
    n->n_items = count;
    n->items = arena_alloc(&trees, (count + 1) * sizeof(struct node *));
    for (size_t i = 0; i < count; i++)
        n->items[i] = va_arg(args, struct node *);
    va_end(args);
    return n;
}

static struct node *with_tail(struct node *n, struct node *tail)
{
    n->tail = tail;
    return n;
}

static struct node *binary_of(const char *text, size_t gap, unsigned unit, struct node *tail)
{
    struct node *n = with_tail(leaf(NODE_BINARY, text), tail);
    n->gap = gap;
    n->unit = unit;
    return n;
}

static struct node *number(int64_t v)
{
    struct node *n = leaf(NODE_INTEGER, "");
    n->number = v;
    return n;
}

#define VAR(name) leaf(NODE_VAR, name)
#define ATOM(name) leaf(NODE_ATOM, name)
#define ANY leaf(NODE_ANY, "_")
#define OP(text, a, b) of(NODE_OP, text, 2, a, b)
#define CALL(name, a) of(NODE_CALL, name, 1, a)

static struct pattern call_pattern(size_t arity, struct node **args, struct node *guard)
{
    struct pattern p = {.kind = PATTERN_CALL, .arity = (int)arity, .has_args = true};
    p.module = (struct pattern_name){.kind = NAME_EXACT, .text = {"m", 1}};
    p.args = args;
    p.n_args = arity;
    p.guard = guard;
    return p;
}

static char *printed(const struct matchspec *m)
{
    struct buf out;
    buf_init(&out, 0);
    matchspec_print(&out, m);
    return buf_take(&out);
}

/* What the spec is, with the tap written as TAP, its taking as TAKE and the message as MESSAGE. */
static char *expected(const char *text)
{
    static const char *const words[][2] = {
        {"TAP", "{'>',{get_tcw},0}"},
        {"TAKE", "{set_tcw,{'-',{get_tcw},1}},\n   {message,{{3"},
        {"MESSAGE", ",{caller},'$_',[]}}}"},
    };
    struct buf out;
    buf_init(&out, 0);
    while (*text) {
        size_t i = 0;
        while (i < ARRAY_LEN(words) && strncmp(text, words[i][0], strlen(words[i][0])) != 0)
            i++;
        if (i < ARRAY_LEN(words)) {
            buf_puts(&out, words[i][1]);
            text += strlen(words[i][0]);
        } else {
            buf_put(&out, text++, 1);
        }
    }
    return buf_take(&out);
}

static const struct slice fields[] = {{"name", 4}, {"age", 3}};
static const struct record_def records[] = {
    {.module = {"m", 1}, .name = {"user", 4}, .fields = fields, .n_fields = 2},
    {.module = {"m", 1}, .name = {"gone", 4}, .missing = {"no debug information", 20}},
    {.module = {"Elixir.Item", 11}},
};

static struct matchspec_options options_of(int otp)
{
    return (struct matchspec_options){.index = 3,
                                      .otp = otp,
                                      .node = "n@h",
                                      .records = records,
                                      .n_records = ARRAY_LEN(records),
                                      .stack_depth = 7};
}

static void check(const char *name, int otp, struct pattern p, const char *want_text)
{
    struct matchspec m;
    struct matchspec_options options = options_of(otp);
    struct error err = {0};
    size_t offset = 0;
    if (matchspec_build(&m, &p, &options, &offset, &err) < 0)
        fail_msg("%s: %s", name, err.text);
    char *got = printed(&m), *want = expected(want_text);
    if (strcmp(got, want) != 0)
        fail_msg("%s:\n%swanted:\n%s", name, got, want);
    free(got);
    free(want);
    matchspec_clear(&m);
}

#define ACT "  [TAKEMESSAGE]}]\n"

TEST(test_heads)
{
    struct node *alias = of(NODE_ALIAS, "", 2, of(NODE_TUPLE, "", 1, VAR("A")), VAR("X"));
    struct node *tail = with_tail(of(NODE_LIST, "", 1, VAR("H")), VAR("T"));
    struct node *binary = binary_of("ab\xff", 0, 8, ANY);
    struct node *rest = binary_of("", 3, 1, VAR("R")), *exact = binary_of("b", 11, 0, NULL);
    struct node *odd_rest = binary_of("", 4, 8, ANY);
    struct node *map = of(NODE_MAP, "", 2, ATOM("k"), of(NODE_TUPLE, "", 2, ATOM("ok"), ANY));
    struct node *odd = of(NODE_MAP, "", 2, number(1), VAR("V"));
    struct node *record = of(NODE_RECORD, "user", 2, ATOM("age"), number(5));
    const struct {
        const char *name;
        struct node *arg;
        const char *want;
    } rows[] = {
        {"f(a)", ATOM("a"), "[{[a],\n  [TAP],\n" ACT},
        {"f('$1')", ATOM("$1"), "[{['$1'],\n  [TAP,\n   {'=:=','$1',{const,'$1'}}],\n" ACT},
        {"f([H|T])", tail, "[{[['$1'|'$2']],\n  [TAP],\n" ACT},
        {"f({A}=X)", alias,
         "[{['$1'],\n  [TAP,\n   {is_tuple,'$1'},\n   {'=:=',{size,'$1'},1}],\n" ACT},
        {"f(<<\"ab\\xff\", _/binary>>)", binary,
         "[{['$1'],\n  [TAP,\n   {is_binary,'$1'},\n   {'>=','$1',<<97,98,255>>},\n"
         "   {'<','$1',<<\"ac\">>}],\n" ACT},
        {"f(<<_:3, R/bitstring>>)", rest,
         "[{['$1'],\n  [TAP,\n   {'>=',{bit_size,'$1'},3}],\n" ACT},
        {"f(<<\"b\", _:11>>)", exact,
         "[{['$1'],\n  [TAP,\n   {'=:=',{bit_size,'$1'},19},\n   {'>=','$1',<<\"b\">>},\n"
         "   {'<','$1',<<\"c\">>}],\n" ACT},
        {"f(<<_:4, _/binary>>)", odd_rest,
         "[{['$1'],\n  [TAP,\n   {'>=',{bit_size,'$1'},4},\n"
         "   {'=:=',{'rem',{'-',{bit_size,'$1'},4},8},0}],\n" ACT},
        {"f(#{k := {ok, _}})", map, "[{[#{k => {ok,'_'}}],\n  [TAP],\n" ACT},
        {"f(#{1 := V})", odd,
         "[{['$1'],\n  [TAP,\n   {is_map,'$1'},\n   {is_map_key,{const,1},'$1'}],\n" ACT},
        {"f(#user{age = 5})", record, "[{[{user,'_',5}],\n  [TAP],\n" ACT},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct node *args[] = {rows[i].arg};
        check(rows[i].name, 27, call_pattern(1, args, NULL), rows[i].want);
    }
    struct node *twice[] = {VAR("X"), of(NODE_TUPLE, "", 1, VAR("X"))};
    check("f(X, {X})", 27, call_pattern(2, twice, NULL), "[{['$1',{'$1'}],\n  [TAP],\n" ACT);
    struct pattern none = call_pattern(0, NULL, NULL);
    none.has_args = false;
    check("m:f", 27, none, "[{'_',\n  [TAP],\n" ACT);
}

TEST(test_guards)
{
    struct node *pair = of(NODE_TUPLE, "", 2, VAR("X"), ATOM("a"));
    const struct {
        const char *name;
        int otp;
        struct node *guard;
        const char *want;
    } rows[] = {
        {"X > 1, is_atom(X)", 27,
         OP("andalso", OP(">", VAR("X"), number(1)), CALL("is_atom", VAR("X"))),
         "[{['$1'],\n  [TAP,\n   {'>','$1',1},\n   {is_atom,'$1'}],\n" ACT},
        {"hd(X) == 1; true", 27, OP(";", OP("==", CALL("hd", VAR("X")), number(1)), ATOM("true")),
         "[{['$1'],\n  [TAP,\n   {'==',{hd,'$1'},1}],\n  [TAKEMESSAGE]},\n"
         " {['$1'],\n  [TAP,\n   true],\n" ACT},
        {"{X, a} == {'$1', a}", 27, OP("==", pair, of(NODE_TUPLE, "", 1, ATOM("$1"))),
         "[{['$1'],\n  [TAP,\n   {'==',{{'$1',a}},{const,{'$1'}}}],\n" ACT},
        {"byte_size(X) > 1", 23, OP(">", CALL("byte_size", VAR("X")), number(1)),
         "[{['$1'],\n  [TAP,\n   {'>',{'div',{'+',{bit_size,'$1'},7},8},1}],\n" ACT},
        {"byte_size(X) > 1", 25, OP(">", CALL("byte_size", VAR("X")), number(1)),
         "[{['$1'],\n  [TAP,\n   {'>',{byte_size,'$1'},1}],\n" ACT},
    };
    struct node *args[] = {VAR("X")};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(rows[i].name, rows[i].otp, call_pattern(1, args, rows[i].guard), rows[i].want);
}

TEST(test_actions)
{
    struct node *args[] = {VAR("X")}, *show[] = {CALL("length", VAR("X")), VAR("X")};
    struct pattern p = call_pattern(1, args, NULL);
    p.actions = TRACE_RETURN | TRACE_STACK | TRACE_SHOW;
    p.show = show;
    p.n_show = 2;
    check("return, stack, show: 27", 27, p,
          "[{['$1'],\n  [TAP],\n  [TAKE,{caller},[{length,'$1'},'$1'],{current_stacktrace,7}}}},\n"
          "   {exception_trace}]}]\n");
    check("return, stack, show: 25", 25, p,
          "[{['$1'],\n  [TAP],\n  [TAKE,{caller},[{length,'$1'},'$1'],{process_dump}}}},\n"
          "   {exception_trace}]}]\n");
    p.actions = TRACE_COUNT;
    check("count", 27, p, "no match specification: the VM counts all calls of the functions\n");
    p.actions = TRACE_RETURNS;
    p.returns = of(NODE_TUPLE, "", 2, ATOM("error"), VAR("Why"));
    p.returns_guard = OP("=/=", VAR("Why"), ATOM("enoent"));
    check("returns {error, Why} when Why =/= enoent", 27, p,
          "[{['$1'],\n  [TAP],\n  [TAKEMESSAGE,\n   {exception_trace}]}]\n"
          "of results:\n[{{{error,'$1'}},\n  [{'=/=','$1',enoent}],\n  [true]}]\n");
    struct pattern receive = call_pattern(1, args, CALL("is_atom", VAR("X")));
    receive.kind = PATTERN_RECEIVE;
    check("receive(X) when is_atom(X)", 27, receive,
          "[{['_','_','$1'],\n  [TAP,\n   {is_atom,'$1'}],\n  [TAKE}}}]}]\n");
}

TEST(test_errors)
{
    struct node *prefix = binary_of("ab", 0, 8, VAR("T"));
    struct node *bits = binary_of("ab", 0, 1, VAR("T"));
    const struct {
        int otp;
        struct node *arg, *guard;
        const char *want;
    } rows[] = {
        {27, VAR("X"), CALL("is_atom", VAR("Y")), "Y is not bound: no pattern before has it"},
        {27, VAR("X"), CALL("self_destroy", VAR("X")),
         "the VM knows no self_destroy/1 while it traces"},
        {25, VAR("X"), of(NODE_CALL, "is_function", 2, VAR("X"), number(1)),
         "OTP before 27 knows no is_function/2 while it traces"},
        {27, bits, CALL("is_atom", VAR("T")),
         "the VM cannot cut bits out of a bit string: its rest can only be _"},
        {23, prefix, CALL("is_atom", VAR("T")),
         "OTP before 25 cannot cut a binary while it traces: remove the variable of its tail"},
        {27, of(NODE_RECORD, "user", 2, ATOM("size"), ANY), NULL,
         "user has no field size; it has name, age"},
        {27, of(NODE_STRUCT, "Elixir.Item", 2, ATOM("price"), ANY), NULL,
         "the node has no struct Item with fields; aliases are not known here: write its whole "
         "name, "
         "as in %MyApp.Cart.Item{…}"},
        {27, of(NODE_RECORD, "gone", 0), NULL,
         "no definition of the record gone in m: no debug information"},
        {27, of(NODE_RECORD, "other", 0), NULL, "no definition of the record other in m"},
        {27, CALL("abs", number(1)), NULL,
         "this cannot be part of a pattern; it can be in a guard"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct node *args[] = {rows[i].arg};
        struct pattern p = call_pattern(1, args, rows[i].guard);
        struct matchspec m;
        struct matchspec_options options = options_of(rows[i].otp);
        struct error err = {0};
        size_t offset;
        assert_int_equal(matchspec_build(&m, &p, &options, &offset, &err), ERR_USAGE);
        if (strcmp(err.text, rows[i].want) != 0)
            fail_msg("row %zu: %s; wanted %s", i, err.text, rows[i].want);
        assert_null(m.clauses);
    }
}

/* A guard whose stand-ins double their arguments again and again stays bounded. */
TEST(test_too_large)
{
    struct node *args[] = {VAR("X")}, *guard = VAR("X");
    for (int i = 0; i < 60; i++)
        guard = CALL("floor", guard);
    struct pattern p = call_pattern(1, args, guard);
    struct matchspec m;
    struct matchspec_options options = options_of(23);
    struct error err = {0};
    assert_int_equal(matchspec_build(&m, &p, &options, NULL, &err), ERR_LIMIT);
    matchspec_clear(&m);
}

TEST(test_names_and_narrow)
{
    struct node *args[] = {VAR("X"), ANY};
    struct pattern p = call_pattern(2, args, NULL);
    struct matchspec m;
    struct matchspec_options options = options_of(27);
    struct error err = {0};
    assert_int_equal(matchspec_build(&m, &p, &options, NULL, &err), 0);
    assert_false(m.narrow);
    assert_int_equal(m.n_atoms, 0);
    matchspec_clear(&m);
    args[1] = of(NODE_TUPLE, "", 2, ATOM("blue"), ATOM("blue"));
    assert_int_equal(matchspec_build(&m, &p, &options, NULL, &err), 0);
    assert_true(m.narrow);
    assert_int_equal(m.n_atoms, 1);
    assert_int_equal(m.atoms[0].len, 4);
    assert_memory_equal(m.atoms[0].s, "blue", 4);
    matchspec_clear(&m);
}

static void check_literal(struct node *n, const char *want)
{
    struct node *args[] = {n};
    struct pattern p = call_pattern(1, args, NULL);
    struct buf text;
    buf_init(&text, 0);
    buf_printf(&text, "[{[%s],\n  [TAP],\n" ACT, want);
    check(want, 27, p, buf_cstr(&text));
    buf_clear(&text);
}

TEST(test_literals)
{
    struct node *pid = number(41), *port = number(6);
    pid->kind = NODE_PID;
    port->kind = NODE_PORT;
    check_literal(pid, "<0.41.0>");
    check_literal(port, "#Port<0.6>");
    check_literal(leaf(NODE_REF, "#Ref<0.4.5.6>"), "#Ref<0.4.5.6>");
    check_literal(leaf(NODE_STRING, "h\xC3\xA9"), "\"h\xC3\xA9\"");
    check_literal(leaf(NODE_STRING, ""), "[]");
    check_literal(leaf(NODE_INTEGER, "123456789012345678901234567890"),
                  "123456789012345678901234567890");
    check_literal(leaf(NODE_INTEGER, "-18446744073709551616"), "-18446744073709551616");
}

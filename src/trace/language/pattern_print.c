/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pattern for people: its tree, and what it asks for in a sentence. */
#include <inttypes.h>

#include "beamtop/base/text.h"
#include "parse.h"

enum { INDENT = 2 };

/* clang-format off */
static const char *const kind_names[] = {
    [NODE_INTEGER] = "integer", [NODE_FLOAT] = "float", [NODE_ATOM] = "atom",
    [NODE_STRING] = "string", [NODE_BINARY] = "binary", [NODE_VAR] = "var", [NODE_ANY] = "any",
    [NODE_ALL] = "all arguments", [NODE_LIST] = "list", [NODE_TUPLE] = "tuple",
    [NODE_MAP] = "map", [NODE_RECORD] = "record", [NODE_STRUCT] = "struct", [NODE_PID] = "pid",
    [NODE_PORT] = "port", [NODE_REF] = "ref", [NODE_OP] = "op", [NODE_CALL] = "call",
    [NODE_TEST_RECORD] = "is_record", [NODE_ALIAS] = "alias",
};
/* clang-format on */

static void put_slice(struct buf *out, struct slice s)
{
    text_put_safe(out, s.s, s.len, false);
}

static void put_word_line(struct buf *out, unsigned indent, const char *word)
{
    buf_printf(out, "%*s%s\n", (int)(indent * INDENT), "", word);
}

static void put_bits(struct buf *out, const struct node *n)
{
    bool plain = n->bits % 8 == 0 && text_is_utf8(n->text.s, n->text.len);
    for (size_t i = 0; i < n->text.len; i++)
        plain &= (unsigned char)n->text.s[i] >= ' ' && n->text.s[i] != '\177';
    if (plain) {
        buf_puts(out, " \"");
        put_slice(out, n->text);
        buf_puts(out, "\"");
        return;
    }
    for (size_t i = 0; i < n->text.len; i++)
        buf_printf(out, " %02x", (unsigned char)n->text.s[i]);
    if (n->bits % 8 != 0)
        buf_printf(out, ":%zu", n->bits % 8);
}

static void put_literal(struct buf *out, const struct node *n)
{
    switch (n->kind) {
    case NODE_INTEGER:
        if (n->text.len == 0)
            buf_printf(out, " %" PRId64, n->number);
        else
            buf_printf(out, " %.*s", (int)n->text.len, n->text.s);
        break;
    case NODE_FLOAT:
        buf_printf(out, " %.17g", n->real);
        break;
    case NODE_PID:
        buf_printf(out, " <0.%" PRId64 ".%u>", n->number, n->serial);
        break;
    case NODE_PORT:
        buf_printf(out, " #Port<0.%" PRId64 ">", n->number);
        break;
    case NODE_STRING:
        buf_puts(out, " \"");
        put_slice(out, n->text);
        buf_puts(out, "\"");
        break;
    case NODE_BINARY:
        put_bits(out, n);
        if (n->gap > 0)
            buf_printf(out, " any %zu bits", n->gap);
        break;
    case NODE_RECORD:
    case NODE_TEST_RECORD:
        buf_puts(out, " ");
        put_slice(out, n->module);
        buf_puts(out, "#");
        put_slice(out, n->text);
        break;
    default:
        if (n->kind == NODE_ATOM || n->text.len > 0) {
            buf_puts(out, " ");
            put_slice(out, n->text);
        }
    }
}

static void put_node(struct buf *out, const struct node *n, unsigned indent)
{
    buf_printf(out, "%*s%s", (int)(indent * INDENT), "", kind_names[n->kind]);
    put_literal(out, n);
    buf_puts(out, "\n");
    for (size_t i = 0; i < n->n_items; i++)
        put_node(out, n->items[i], indent + 1);
    if (!n->tail)
        return;
    put_word_line(out, indent + 1, n->unit == 1 ? "tail of bits" : "tail");
    put_node(out, n->tail, indent + 2);
}

static void put_nodes(struct buf *out, const char *word, struct node *const *nodes, size_t n)
{
    put_word_line(out, 1, word);
    for (size_t i = 0; i < n; i++)
        put_node(out, nodes[i], 2);
}

static void put_part(struct buf *out, const char *word, struct node *n)
{
    if (n)
        put_nodes(out, word, &n, 1);
}

static void put_name(struct buf *out, const struct pattern_name *name)
{
    if (name->kind == NAME_ANY) {
        buf_puts(out, "any");
        return;
    }
    const char *slash = name->kind == NAME_REGEX ? "/" : "";
    buf_puts(out, slash);
    put_slice(out, name->text);
    buf_puts(out, slash);
}

static void put_actions(struct buf *out, const struct pattern *p)
{
    static const struct {
        unsigned bit;
        const char *word;
    } words[] = {
        {TRACE_RETURN, "return"}, {TRACE_STACK, "stack"},   {TRACE_TIME, "time"},
        {TRACE_COUNT, "count"},   {TRACE_CALLER, "caller"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if ((p->actions & words[i].bit) != 0)
            put_word_line(out, 1, words[i].word);
    if ((p->actions & TRACE_SHOW) != 0)
        put_nodes(out, "show", p->show, p->n_show);
    if ((p->actions & TRACE_SLOWER) != 0)
        buf_printf(out, "  slower %" PRIu64 " us\n", p->slower_us);
    if ((p->actions & TRACE_RAISES) != 0 && !p->raises)
        put_word_line(out, 1, "raises");
    put_part(out, "returns", p->returns);
    put_part(out, "returns when", p->returns_guard);
    put_part(out, "raises", p->raises);
    put_part(out, "raises when", p->raises_guard);
}

void pattern_print_tree(struct buf *out, const struct pattern *p)
{
    static const char *const words[] = {"call", "send", "receive"};
    buf_puts(out, words[p->kind]);
    if (p->kind == PATTERN_CALL) {
        buf_puts(out, "\n  module ");
        put_name(out, &p->module);
        buf_puts(out, "\n  function ");
        put_name(out, &p->function);
        if (p->arity >= 0)
            buf_printf(out, "\n  arity %d", p->arity);
    }
    buf_puts(out, "\n");
    if (p->n_args > 0)
        put_nodes(out, "arguments", p->args, p->n_args);
    put_part(out, "guard", p->guard);
    put_actions(out, p);
}

/* As written: a name with its quotes, slashes or dots. */
static void put_source(struct buf *out, const struct pattern *p, size_t from, size_t to)
{
    text_put_safe(out, p->typed.s + from - p->at, to - from, false);
}

static void describe_calls(struct buf *out, const struct pattern *p)
{
    bool any_module = p->module.kind == NAME_ANY, any_function = p->function.kind == NAME_ANY;
    buf_puts(out, "calls of ");
    if (any_function) {
        buf_puts(out, any_module ? "every function" : "every function of ");
        if (p->module.kind == NAME_REGEX)
            buf_puts(out, "modules like ");
    } else if (any_module) {
        buf_puts(out, "any module's function ");
    }
    if (!any_module)
        put_source(out, p, p->module.from, p->module.to);
    if (!any_function) {
        buf_puts(out, any_module ? "" : p->syntax == SYNTAX_ELIXIR ? "." : ":");
        put_source(out, p, p->function.from, p->function.to);
        if (p->arity >= 0)
            buf_printf(out, "/%d", p->arity);
    } else if (p->arity >= 0) {
        buf_printf(out, " with %d argument%s", p->arity, p->arity == 1 ? "" : "s");
    }
}

static void describe_condition(struct buf *out, const struct pattern *p, const char *word,
                               const struct node *value, const struct node *guard)
{
    buf_puts(out, word);
    if (value) {
        buf_puts(out, " ");
        put_source(out, p, value->from, value->to);
    }
    if (guard) {
        buf_puts(out, " when ");
        put_source(out, p, guard->from, guard->to);
    }
}

static void describe_actions(struct buf *out, const struct pattern *p)
{
    if ((p->actions & TRACE_SLOWER) != 0) {
        char time[32];
        buf_printf(out, ", if slower than %s",
                   text_duration(time, sizeof(time), (double)p->slower_us / 1e6));
    }
    if ((p->actions & TRACE_RETURNS) != 0)
        describe_condition(out, p, ", if the result is like", p->returns, p->returns_guard);
    if ((p->actions & TRACE_RAISES) != 0)
        describe_condition(out, p, p->raises ? ", if they raise" : ", if they raise an exception",
                           p->raises, p->raises_guard);
    if ((p->actions & TRACE_COUNT) != 0)
        buf_puts(out, ", only counted");
    if ((p->actions & TRACE_TIME) != 0)
        buf_puts(out, ", only their number and time");
    if ((p->actions & TRACE_SHOW) != 0) {
        buf_puts(out, ", showing only ");
        for (size_t i = 0; i < p->n_show; i++) {
            buf_puts(out, i == 0 ? "" : ", ");
            put_source(out, p, p->show[i]->from, p->show[i]->to);
        }
    }
    bool first = (p->actions & TRACE_SHOW) == 0;
    static const struct {
        unsigned bit;
        const char *what;
    } shown[] = {
        {TRACE_RETURN, "the result"},
        {TRACE_CALLER, "the caller"},
        {TRACE_STACK, "the stack"},
    };
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        if ((p->actions & shown[i].bit) == 0)
            continue;
        buf_printf(out, "%s%s", first ? ", showing " : " and ", shown[i].what);
        first = false;
    }
}

void pattern_describe(struct buf *out, const struct pattern *p)
{
    static const char *const messages[] = {NULL, "messages sent", "messages received"};
    if (p->kind == PATTERN_CALL)
        describe_calls(out, p);
    else
        buf_puts(out, messages[p->kind]);
    for (size_t i = 0; i < p->n_args; i++) {
        buf_puts(out, i > 0 ? ", " : p->kind == PATTERN_CALL ? " with (" : " like (");
        put_source(out, p, p->args[i]->from, p->args[i]->to);
    }
    if (p->n_args > 0)
        buf_puts(out, ")");
    if (p->guard) {
        buf_puts(out, " when ");
        put_source(out, p, p->guard->from, p->guard->to);
    }
    describe_actions(out, p);
}

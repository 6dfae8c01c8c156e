/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why no function matches a pattern, and what may have been meant: read in a hurry. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/print.h"
#include "trace/language/parse.h"
#include "prepare.h"

/* BIFs that code calls without `erlang:`. Those that are instructions are the guards' ones. */
/* clang-format off */
static const char *const auto_imported[] = {
    "apply", "atom_to_binary", "atom_to_list", "binary_to_atom", "binary_to_existing_atom",
    "binary_to_float", "binary_to_integer", "binary_to_list", "binary_to_term", "cancel_timer",
    "date", "demonitor", "erase", "error", "exit", "float_to_binary", "float_to_list",
    "garbage_collect", "get", "get_keys", "group_leader", "halt", "integer_to_binary",
    "integer_to_list", "iolist_size", "iolist_to_binary", "is_alive", "is_process_alive", "link",
    "list_to_atom", "list_to_binary", "list_to_bitstring", "list_to_existing_atom",
    "list_to_float", "list_to_integer", "list_to_pid", "list_to_tuple", "make_ref", "monitor",
    "monitor_node", "nodes", "now", "open_port", "pid_to_list", "port_close", "port_command",
    "process_flag", "process_info", "processes", "put", "register", "registered", "send",
    "send_after", "setelement", "spawn", "spawn_link", "spawn_monitor", "spawn_opt",
    "spawn_request", "split_binary", "start_timer", "statistics", "term_to_binary",
    "term_to_iovec", "throw", "time", "tuple_to_list", "unlink", "unregister", "whereis",
};
/* clang-format on */

static bool is_auto_imported(struct slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(auto_imported); i++)
        if (slice_is(name, auto_imported[i]))
            return true;
    return guard_bif_find(name) != NULL;
}

/* A name in the pattern's spelling. */
static void put_module(struct buf *out, const struct pattern *p, struct slice name)
{
    struct slice alias = slice_without(name, "Elixir.");
    if (p->syntax != SYNTAX_ELIXIR)
        print_atom(out, name.s, name.len);
    else if (alias.len < name.len)
        buf_put(out, alias.s, alias.len);
    else
        buf_printf(out, ":%.*s", (int)name.len, name.s);
}

static void put_name(struct buf *out, const struct pattern *p, struct slice name)
{
    if (p->syntax == SYNTAX_ELIXIR)
        buf_put(out, name.s, name.len);
    else
        print_atom(out, name.s, name.len);
}

static void put_function(struct buf *out, const struct pattern *p, struct slice module,
                         struct slice name)
{
    put_module(out, p, module);
    buf_puts(out, p->syntax == SYNTAX_ELIXIR ? "." : ":");
    put_name(out, p, name);
}

static void put_near_modules(struct buf *out, const struct pattern *p, const struct names *names)
{
    struct slice near[PREPARE_MOST_NEAR];
    size_t n = names_near_modules(names, p->module.text, near, PREPARE_MOST_NEAR);
    for (size_t i = 0; i < n; i++) {
        prepare_put_before(out, i, n);
        put_module(out, p, near[i]);
    }
    buf_puts(out, n > 0 ? "?" : "");
}

static void put_near_functions(struct buf *out, const struct pattern *p, const struct names *names)
{
    struct names_function near[PREPARE_MOST_NEAR];
    size_t n =
        names_near_functions(names, p->module.text, p->function.text, near, PREPARE_MOST_NEAR);
    for (size_t i = 0; i < n; i++) {
        prepare_put_before(out, i, n);
        put_function(out, p, p->module.text, near[i].name);
        buf_printf(out, "/%d", near[i].arity);
    }
    buf_puts(out, n > 0 ? "?" : "");
}

/* ^MyApp: what you know a module of Elixir by is not its name. */
static bool is_of_elixir(struct slice expression)
{
    return expression.len > 1 && expression.s[0] == '^' && expression.s[1] >= 'A' &&
           expression.s[1] <= 'Z' && !slice_begins(expression, "^Elixir");
}

static void put_no_module(struct buf *out, const struct pattern *p, const struct names *names)
{
    if (p->module.kind == NAME_REGEX) {
        buf_puts(out, "no loaded module's name matches that regex");
        if (is_of_elixir(p->module.text))
            buf_puts(out, "; the names of Elixir's modules begin with Elixir. there: "
                          "/^Elixir\\.…/");
        return;
    }
    buf_puts(out, "the node has no module ");
    put_module(out, p, p->module.text);
    if (names)
        put_near_modules(out, p, names);
}

static void put_not_loaded(struct buf *out, const struct pattern *p)
{
    put_module(out, p, p->module.text);
    buf_puts(out, " is not loaded on the node: it has not been called since the node started. To "
                  "trace its first calls load it there, with ");
    bool elixir = p->syntax == SYNTAX_ELIXIR;
    buf_puts(out, elixir ? "Code.ensure_loaded(" : "code:ensure_loaded(");
    put_module(out, p, p->module.text);
    buf_puts(out, ")");
}

static void put_unknown(struct buf *out, const struct pattern *p)
{
    put_module(out, p, p->module.text);
    buf_puts(out, " is not loaded on the node. Whether the node has its file is unknown: its code "
                  "server or disk does not answer");
}

static void put_no_function(struct buf *out, const struct pattern *p, const struct names *names)
{
    bool exact = p->function.kind == NAME_EXACT && p->module.kind == NAME_EXACT;
    if (p->function.kind == NAME_REGEX) {
        buf_puts(out, "no function's name matches that regex");
        return;
    }
    if (!exact) {
        buf_puts(out, p->arity < 0 ? "no loaded module has such a function"
                                   : "no loaded module has such a function of that arity");
        return;
    }
    put_module(out, p, p->module.text);
    buf_puts(out, " has no function ");
    put_name(out, p, p->function.text);
    if (is_auto_imported(p->function.text)) {
        buf_puts(out, ": what it calls by that name is ");
        put_function(out, p, (struct slice){"erlang", 6}, p->function.text);
        return;
    }
    if (!names)
        return;
    size_t before = out->len;
    put_near_functions(out, p, names);
    if (out->len == before)
        buf_puts(out, "; a local one may have been inlined by the compiler, so that nothing "
                      "calls it any more");
}

static void put_arities(struct buf *out, const struct pattern *p, const char *arities)
{
    if (p->function.kind == NAME_EXACT && p->module.kind == NAME_EXACT)
        put_function(out, p, p->module.text, p->function.text);
    else
        buf_puts(out, "what matches");
    buf_printf(out, " does not take %d argument%s: there is ", p->arity, p->arity == 1 ? "" : "s");
    for (const char *at = arities; *at != '\0';) {
        size_t n = strcspn(at, ",");
        const char *digits = at + strspn(at, " ");
        buf_printf(out, "%s/%.*s", at == arities ? "" : ", ", (int)(n - (size_t)(digits - at)),
                   digits);
        at += n + (at[n] == ',');
    }
}

void prepare_why_none(char *out, size_t size, const struct pattern *p,
                      const struct preflight_pattern *found, const struct names *names)
{
    *out = '\0';
    if (p->kind != PATTERN_CALL || found->n > 0)
        return;
    struct buf text;
    buf_init(&text, 0);
    if (strcmp(found->why, "arities") == 0)
        put_arities(&text, p, found->arities);
    else if (strcmp(found->why, "no_module") == 0)
        put_no_module(&text, p, names);
    else if (strcmp(found->why, "no_own") == 0)
        buf_puts(&text, "its modules are not known: it waits in a loop of OTP, and before OTP 26.2 "
                        "a waiting server shows no more. Name functions, such as 'shop_cart:_'");
    else if (strcmp(found->why, "no_application") == 0)
        buf_puts(&text, "no such application is loaded");
    else if (strcmp(found->why, "not_loaded") == 0)
        put_not_loaded(&text, p);
    else if (strcmp(found->why, "unknown") == 0)
        put_unknown(&text, p);
    else if (strcmp(found->why, "instruction") == 0)
        buf_puts(&text, "compiled code does this without a call, as an instruction of the VM, so "
                        "no trace sees it; trace the function that does it");
    else if (strcmp(found->why, "bad_expression") == 0)
        buf_puts(&text, "the node's re module rejects that regex");
    else
        put_no_function(&text, p, names);
    snprintf(out, size, "%s", buf_cstr(&text));
    buf_clear(&text);
}

enum prepare_near prepare_near(const struct pattern *p, const struct preflight_pattern *found)
{
    if (p->kind != PATTERN_CALL || found->n > 0 || p->module.kind != NAME_EXACT)
        return NEAR_NOTHING;
    if (strcmp(found->why, "no_module") == 0)
        return NEAR_MODULES;
    bool function = p->function.kind == NAME_EXACT && strcmp(found->why, "no_function") == 0;
    return function && !is_auto_imported(p->function.text) ? NEAR_FUNCTIONS : NEAR_NOTHING;
}

struct builder *prepare_near_arg(const struct pattern *p, const struct preflight_pattern *found)
{
    enum prepare_near near = prepare_near(p, found);
    return near == NEAR_MODULES     ? prepare_names_arg("modules")
           : near == NEAR_FUNCTIONS ? prepare_functions_arg(p->module.text)
                                    : NULL;
}

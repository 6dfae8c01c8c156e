/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "growth_calls.h"

#include <assert.h>

#include "beamtop/base/attr.h"
#include "growth_terms.h"
#include "query/native/args.h"
#include "query/native/values.h"

#define INNER_MOST 3

struct builder *growth_text_args(const char *text)
{
    struct builder *b = builder_new();
    args_build_text(b, text);
    return b;
}

/* ---- calls within calls */

/* A call within one; its arguments are freed with it. */
struct inner {
    const char *module, *function;
    unsigned arity;
    struct builder *args;
};

static struct builder *compose(const char *module, const char *function, unsigned arity,
                               const struct inner *inner, size_t n)
{
    const struct args_fun outer = {module, function, arity, NULL};
    struct args_fun funs[INNER_MOST] = {{0}};
    assert(n <= INNER_MOST);
    for (size_t i = 0; i < n; i++)
        funs[i] =
            (struct args_fun){inner[i].module, inner[i].function, inner[i].arity, inner[i].args};
    struct builder *b = args_of_composed(&outer, funs, n);
    for (size_t i = 0; i < n; i++)
        builder_free(inner[i].args);
    return b;
}

static struct inner call_plain(const char *module, const char *function)
{
    return (struct inner){module, function, 0, growth_text_args("[]")};
}

static struct inner call_composed(struct builder *composed)
{
    return (struct inner){"lists", "foldl", 3, composed};
}

/* A constant: hd/1 hands it on. Text as "[[5]]". */
static struct inner hand_on(const char *text)
{
    return (struct inner){"erlang", "hd", 1, growth_text_args(text)};
}

static struct inner hand_fun_on(const char *module, const char *function, unsigned arity)
{
    struct builder *b = builder_new();
    build_list(b, 1);
    build_list(b, 1);
    build_export(b, module, function, arity);
    build_nil(b);
    build_nil(b);
    return (struct inner){"erlang", "hd", 1, b};
}

/* spec: a match specification, with version byte, freed. */
static struct builder *filter_args(struct inner list, struct builder *spec)
{
    struct builder *args = builder_new();
    build_list(args, 1);
    build_term(args, spec);
    build_nil(args);
    builder_free(spec);
    const struct inner inner[] = {list, {"ets", "match_spec_compile", 1, args}};
    return compose("ets", "match_spec_run", 2, inner, ARRAY_LEN(inner));
}

static struct builder *cut_args(struct inner list, const char *most)
{
    const struct inner inner[] = {list, hand_on(most)};
    return compose("lists", "sublist", 2, inner, ARRAY_LEN(inner));
}

_Static_assert(GROWTH_TABLES == 1000 && GROWTH_LOOKED == 200 && GROWTH_LINKS == 1000 &&
                   GROWTH_LATER == 1000 && GROWTH_EXAMPLES == 5 && GROWTH_TIMES == 8,
               "as the texts have it");

struct builder *growth_modules_args(void)
{
    const struct inner inner[] = {call_plain("erlang", "loaded")};
    return compose("erlang", "length", 1, inner, ARRAY_LEN(inner));
}

struct builder *growth_newest_modules_args(void)
{
    return cut_args(call_plain("erlang", "loaded"), "[[5]]");
}

struct builder *growth_newest_port_args(void)
{
    const struct inner inner[] = {hand_fun_on("erlang", "max", 2), hand_on("[[0]]"),
                                  call_plain("erlang", "ports")};
    return compose("lists", "foldl", 3, inner, ARRAY_LEN(inner));
}

struct builder *growth_tables_args(void)
{
    return cut_args(call_plain("ets", "all"), "[[1001]]");
}

struct builder *growth_messages_args(void)
{
    const struct inner inner[] = {call_plain("erlang", "self"), hand_on("[[messages]]")};
    return compose("erlang", "process_info", 2, inner, ARRAY_LEN(inner));
}

/* [{'$1', [{'>', '$1', {const, Than}}], ['$1']}] */
struct builder *growth_later_args(const char *function, struct builder *than)
{
    struct builder *spec = builder_new();
    build_list(spec, 1);
    build_tuple(spec, 3);
    build_atom(spec, "$1");
    build_list(spec, 1);
    build_tuple(spec, 3);
    build_atom(spec, ">");
    build_atom(spec, "$1");
    build_tuple(spec, 2);
    build_atom(spec, "const");
    build_term(spec, than);
    build_nil(spec);
    args_build_text(spec, "['$1']");
    build_nil(spec);
    builder_free(than);
    return cut_args(call_composed(filter_args(call_plain("erlang", function), spec)), "[[1000]]");
}

/* From OTP 24 on `owner`. */
struct builder *growth_socket_owners_args(void)
{
    const struct inner inner[] = {
        hand_fun_on("socket", "info", 1),
        call_composed(cut_args(call_plain("socket", "which_sockets"), "[[200]]"))};
    struct builder *infos = compose("lists", "map", 2, inner, ARRAY_LEN(inner));
    return filter_args(call_composed(infos), growth_text_args("[{#{owner => '$1'},[],['$1']},"
                                                              "{#{ctrl => '$1'},[],['$1']}]"));
}

struct builder *growth_links_args(const char *node, const struct etf_pid *pids, size_t n)
{
    struct builder *item = growth_text_args("links");
    const struct inner zip = {"lists", "zipwith", 3, args_of_infos(node, pids, n, item)};
    builder_free(item);
    return filter_args(zip, growth_text_args("[{{'_','$1'},[{'=<',{length,'$1'},1000}],['$1']},"
                                             "{'_',[],[[]]}]"));
}

/* lists:duplicate(8, Term) */
static struct inner repeat_term(const struct builder *term)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_int(b, GROWTH_TIMES);
    build_term(b, term);
    build_nil(b);
    return (struct inner){"lists", "duplicate", 2, b};
}

/* [fun erlang:apply/2, [Wait, Look, …], [Arguments of each …]]: when the others of the run queue
 * had their turn, and when a timer fires, as it does for many who spawn. */
static struct builder *build_unit(const struct builder *look)
{
    struct builder *b = builder_new();
    build_list(b, 3);
    build_export(b, "erlang", "apply", 2);
    build_list(b, 6);
    for (int i = 0; i < 3; i++) {
        build_export(b, "erlang", i < 2 ? "yield" : "delay_trap", i < 2 ? 0 : 2);
        build_export(b, "lists", "zipwith", 3);
    }
    build_nil(b);
    build_list(b, 6);
    for (int i = 0; i < 3; i++) {
        args_build_text(b, i < 2 ? "[]" : "[true,1]");
        build_term(b, look);
    }
    build_nil(b);
    build_nil(b);
    return b;
}

struct builder *growth_looks_args(const char *node, const struct etf_pid *pids, size_t n,
                                  const char *items)
{
    struct builder *item = growth_text_args(items), *zip = builder_new();
    struct builder *look = args_of_infos(node, pids, n, item), *unit = build_unit(look);
    build_export(zip, "lists", "zipwith", 3);
    const struct inner inner[] = {hand_fun_on("erlang", "apply", 2), repeat_term(zip),
                                  repeat_term(unit)};
    struct builder *all[] = {item, zip, look, unit};
    struct builder *b = compose("lists", "zipwith", 3, inner, ARRAY_LEN(inner));
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        builder_free(all[i]);
    return b;
}

/* ---- plain ones */

struct builder *growth_fixed_args(const char *node, uint32_t creation)
{
    static const uint32_t any[] = {1, 2, 3};
    struct builder *b = builder_new();
    const struct etf_ref ref = {creation, {any[0], any[1], any[2]}, ARRAY_LEN(any)};
    build_list(b, 1);
    build_tuple(b, 3);
    build_atom(b, "memory_internal");
    build_ref(b, node, &ref);
    args_build_text(b, "[fix_alloc]");
    build_nil(b);
    return b;
}

struct builder *growth_each_args(const char *module, const char *function,
                                 const struct slice *terms, size_t n, const char *item)
{
    struct builder *b = builder_new();
    build_list(b, 3);
    build_export(b, module, function, 2);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        values_build(b, terms[i]);
    build_nil(b);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_atom(b, item);
    build_nil(b);
    build_nil(b);
    return b;
}

/* An index of an atom, as the VM writes one for itself. */
#define INTERNAL_REF3 75

struct builder *growth_atoms_args(const int64_t *places, size_t n)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_export(b, "erlang", "binary_to_term", 1);
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = (uint64_t)places[i];
        const uint8_t bytes[] = {ETF_VERSION, INTERNAL_REF3, (uint8_t)(at >> 16),
                                 (uint8_t)(at >> 8), (uint8_t)at};
        build_binary(b, bytes, sizeof bytes);
    }
    build_nil(b);
    build_nil(b);
    return b;
}

struct builder *growth_monitor_args(const char *node, const struct etf_pid *pid)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_atom(b, "process");
    build_pid(b, node, pid);
    build_nil(b);
    return b;
}

struct builder *growth_term_args(struct slice term, const char *item)
{
    struct builder *b = builder_new();
    build_list(b, item ? 2 : 1);
    values_build(b, term);
    if (item)
        build_atom(b, item);
    build_nil(b);
    return b;
}

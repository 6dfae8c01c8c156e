/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "growth_calls.h"

#include "beamtop/base/attr.h"
#include "growth_terms.h"
#include "query/native/args.h"
#include "query/native/values.h"

/* ---- calls within calls */

_Static_assert(GROWTH_TABLES == 1000 && GROWTH_LOOKED == 200 && GROWTH_LINKS == 1000 &&
                   GROWTH_LATER == 1000 && GROWTH_EXAMPLES == 5 && GROWTH_TIMES == 8,
               "as the texts have it");

struct builder *growth_modules_args(void)
{
    const struct args_call inner[] = {args_plain_call("erlang", "loaded")};
    return args_of_calls("erlang", "length", 1, inner, ARRAY_LEN(inner));
}

struct builder *growth_newest_modules_args(void)
{
    return args_of_cut(args_plain_call("erlang", "loaded"), "[[5]]");
}

struct builder *growth_newest_port_args(void)
{
    const struct args_call inner[] = {args_fun_call("erlang", "max", 2),
                                      args_constant_call("[[0]]"),
                                      args_plain_call("erlang", "ports")};
    return args_of_calls("lists", "foldl", 3, inner, ARRAY_LEN(inner));
}

struct builder *growth_tables_args(void)
{
    return args_of_cut(args_plain_call("ets", "all"), "[[1001]]");
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
    return args_of_cut(
        args_composed_call(args_of_filter(args_plain_call("erlang", function), spec)), "[[1000]]");
}

/* From OTP 24 on `owner`. */
struct builder *growth_socket_owners_args(void)
{
    const struct args_call inner[] = {
        args_fun_call("socket", "info", 1),
        args_composed_call(args_of_cut(args_plain_call("socket", "which_sockets"), "[[200]]"))};
    struct builder *infos = args_of_calls("lists", "map", 2, inner, ARRAY_LEN(inner));
    return args_of_filter(args_composed_call(infos), args_of_text("[{#{owner => '$1'},[],['$1']},"
                                                                  "{#{ctrl => '$1'},[],['$1']}]"));
}

struct builder *growth_links_args(const char *node, const struct etf_pid *pids, size_t n)
{
    struct builder *item = args_of_text("links");
    const struct args_call zip = {"lists", "zipwith", 3, NULL, args_of_infos(node, pids, n, item)};
    builder_free(item);
    return args_of_filter(zip, args_of_text("[{{'_','$1'},[{'=<',{length,'$1'},1000}],['$1']},"
                                            "{'_',[],[[]]}]"));
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
    struct builder *item = args_of_text(items), *zip = builder_new();
    struct builder *look = args_of_infos(node, pids, n, item), *unit = build_unit(look);
    build_export(zip, "lists", "zipwith", 3);
    const struct args_call inner[] = {args_fun_call("erlang", "apply", 2),
                                      args_repeated_call(GROWTH_TIMES, zip),
                                      args_repeated_call(GROWTH_TIMES, unit)};
    struct builder *all[] = {item, look};
    struct builder *b = args_of_calls("lists", "zipwith", 3, inner, ARRAY_LEN(inner));
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

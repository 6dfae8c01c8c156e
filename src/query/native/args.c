/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "args.h"

#include <assert.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/etf/parse.h"

void args_build_text(struct builder *b, const char *text)
{
    struct error err = {0};
    int rc = etf_parse(b, text, strlen(text), NULL, &err);
    assert(rc == 0);
    (void)rc;
}

struct builder *args_of_text(const char *text)
{
    struct builder *b = builder_new();
    args_build_text(b, text);
    return b;
}

struct builder *args_of_info(const char *node, const struct etf_pid *pid, const char *items)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_pid(b, node, pid);
    args_build_text(b, items);
    build_nil(b);
    return b;
}

/* n times. */
static void build_same(struct builder *b, const struct builder *term, size_t n)
{
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_term(b, term);
    build_nil(b);
}

struct builder *args_of_infos(const char *node, const struct etf_pid *pids, size_t n,
                              const struct builder *items)
{
    struct builder *b = builder_new();
    build_list(b, 3);
    build_export(b, "erlang", "process_info", 2);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_pid(b, node, &pids[i]);
    build_nil(b);
    build_same(b, items, n);
    build_nil(b);
    return b;
}

struct builder *args_of_zip(const char *module, const char *function, const struct slice *terms,
                            size_t n, const char *second)
{
    struct builder *b = builder_new(), *same = args_of_text(second);
    build_list(b, 3);
    build_export(b, module, function, 2);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_raw(b, (const uint8_t *)terms[i].s, terms[i].len);
    build_nil(b);
    build_same(b, same, n);
    build_nil(b);
    builder_free(same);
    return b;
}

struct args_call args_fun_call(const char *module, const char *function, unsigned arity)
{
    struct builder *b = builder_new();
    build_list(b, 1);
    build_list(b, 1);
    build_export(b, module, function, arity);
    build_nil(b);
    build_nil(b);
    return (struct args_call){"erlang", "hd", 1, NULL, b};
}

struct builder *args_of_calls(const char *module, const char *function, unsigned arity,
                              const struct args_call *inner, size_t n)
{
    struct builder *b = builder_new();
    build_list(b, 3);
    build_export(b, "erlang", "apply", 2);
    build_list(b, 3);
    build_export(b, "erlang", "apply", 2);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_export(b, inner[i].module, inner[i].function, inner[i].arity);
    build_nil(b);
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        if (inner[i].text)
            args_build_text(b, inner[i].text);
        else
            build_term(b, inner[i].term);
        builder_free(inner[i].term);
    }
    build_nil(b);
    build_nil(b);
    build_list(b, 2);
    build_export(b, "lists", "zipwith", 3);
    build_export(b, module, function, arity);
    build_nil(b);
    build_nil(b);
    return b;
}

struct args_call args_plain_call(const char *module, const char *function)
{
    return (struct args_call){module, function, 0, "[]", NULL};
}

struct args_call args_composed_call(struct builder *composed)
{
    return (struct args_call){"lists", "foldl", 3, NULL, composed};
}

struct args_call args_repeated_call(size_t n, struct builder *term)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_int(b, (int64_t)n);
    build_term(b, term);
    build_nil(b);
    builder_free(term);
    return (struct args_call){"lists", "duplicate", 2, NULL, b};
}

struct args_call args_constant_call(const char *text)
{
    return (struct args_call){"erlang", "hd", 1, text, NULL};
}

struct builder *args_of_filter(struct args_call list, struct builder *spec)
{
    struct builder *args = builder_new();
    build_list(args, 1);
    build_term(args, spec);
    build_nil(args);
    builder_free(spec);
    const struct args_call inner[] = {list, {"ets", "match_spec_compile", 1, NULL, args}};
    return args_of_calls("ets", "match_spec_run", 2, inner, 2);
}

struct builder *args_of_cut(struct args_call list, const char *most)
{
    const struct args_call inner[] = {list, args_constant_call(most)};
    return args_of_calls("lists", "sublist", 2, inner, 2);
}

struct builder *args_of_messages(void)
{
    static const struct args_call inner[] = {{"erlang", "self", 0, "[]", NULL},
                                             {"erlang", "hd", 1, "[[messages]]", NULL}};
    return args_of_calls("erlang", "process_info", 2, inner, 2);
}

struct builder *args_of_matches(const char *node, const struct etf_pid *pids, size_t n,
                                const char *items, struct builder *spec)
{
    struct builder *terms = args_of_text(items);
    const struct args_call inner[] = {
        {"lists", "zipwith", 3, NULL, args_of_infos(node, pids, n, terms)},
        {"ets", "match_spec_compile", 1, NULL, spec}};
    struct builder *b = args_of_calls("ets", "match_spec_run", 2, inner, ARRAY_LEN(inner));
    builder_free(terms);
    return b;
}

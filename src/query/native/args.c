/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "args.h"

#include <assert.h>
#include <string.h>

#include "beamtop/etf/parse.h"

void args_build_text(struct builder *b, const char *text)
{
    struct error err = {0};
    int rc = etf_parse(b, text, strlen(text), NULL, &err);
    assert(rc == 0);
    (void)rc;
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
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_term(b, items);
    build_nil(b);
    build_nil(b);
    return b;
}

struct builder *args_of_zip(const char *module, const char *function, const struct slice *terms,
                            size_t n, const char *second)
{
    struct builder *b = builder_new();
    build_list(b, 3);
    build_export(b, module, function, 2);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_raw(b, (const uint8_t *)terms[i].s, terms[i].len);
    build_nil(b);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        args_build_text(b, second);
    build_nil(b);
    build_nil(b);
    return b;
}

static void build_fun(struct builder *b, const struct args_fun *f)
{
    build_export(b, f->module, f->function, f->arity);
}

struct builder *args_of_composed(const struct args_fun *outer, const struct args_fun *inner,
                                 size_t n)
{
    static const struct args_fun apply = {"erlang", "apply", 2, NULL},
                                 zipwith = {"lists", "zipwith", 3, NULL};
    struct builder *b = builder_new();
    build_list(b, 3);
    build_fun(b, &apply);
    build_list(b, 3);
    build_fun(b, &apply);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_fun(b, &inner[i]);
    build_nil(b);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_term(b, inner[i].args);
    build_nil(b);
    build_nil(b);
    build_list(b, 2);
    build_fun(b, &zipwith);
    build_fun(b, outer);
    build_nil(b);
    build_nil(b);
    return b;
}

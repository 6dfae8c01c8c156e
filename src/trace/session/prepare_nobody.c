/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that are not atoms on the node, and why no process would be traced: as text. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/limits.h"
#include "beamtop/etf/print.h"
#include "prepare.h"

void prepare_put_before(struct buf *out, size_t i, size_t n)
{
    buf_puts(out, i == 0 ? "; did you mean " : i + 1 < n ? ", " : " or ");
}

/* ---- atoms */

static bool is_plain_atom(struct slice name)
{
    if (name.len == 0 || !(name.s[0] == '_' || (name.s[0] >= 'a' && name.s[0] <= 'z')))
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!isalnum((unsigned char)name.s[i]) && name.s[i] != '_' && name.s[i] != '@')
            return false;
    return true;
}

static void put_spelled_atom(struct buf *out, enum syntax syntax, struct slice name)
{
    struct slice alias = slice_without(name, "Elixir.");
    if (syntax != SYNTAX_ELIXIR)
        print_atom(out, name.s, name.len);
    else if (alias.len < name.len)
        buf_put(out, alias.s, alias.len);
    else
        buf_printf(out, is_plain_atom(name) ? ":%.*s" : ":\"%.*s\"", (int)name.len, name.s);
}

size_t prepare_unknown(const struct matchspec *specs, size_t n, const struct preflight *found)
{
    for (size_t i = 0; i < n && found->unknown.s; i++)
        for (size_t k = 0; k < specs[i].n_atoms; k++)
            if (slice_equal(specs[i].atoms[k], found->unknown))
                return i;
    return n;
}

size_t prepare_place(const struct pattern *p, struct slice name)
{
    for (size_t i = 0; i + name.len <= p->typed.len; i++)
        if (name.len > 0 && memcmp(p->typed.s + i, name.s, name.len) == 0)
            return p->at + i;
    return p->at;
}

void prepare_why_unknown(char *out, size_t size, enum syntax syntax, const struct preflight *found)
{
    struct buf text;
    buf_init(&text, 0);
    buf_puts(&text, "the node does not know the atom ");
    put_spelled_atom(&text, syntax, found->unknown);
    buf_puts(&text, ", so nothing there can match it");
    for (size_t i = 0; i < found->n_near; i++) {
        prepare_put_before(&text, i, found->n_near);
        put_spelled_atom(&text, syntax, found->near[i]);
    }
    buf_puts(&text, found->n_near > 0 ? "?" : "");
    snprintf(out, size, "%s", buf_cstr(&text));
    buf_clear(&text);
}

/* ---- processes */

/* The item that `why` says is not there, a name or an application; NULL: none of these. */
static const struct procs_item *missing_item(const struct procs *procs, const char *why)
{
    size_t len = strlen(why);
    for (size_t i = 0; i < procs->n; i++) {
        const struct procs_item *item = &procs->items[i];
        size_t n = strlen(item->text);
        bool app = strncmp(why, "no running application ", 23) == 0 && item->kind == PROCS_APP;
        bool name = strncmp(why, "no process is registered", 24) == 0 && item->kind == PROCS_NAME;
        if ((app || name) && len > n && why[len - n - 1] == ' ' &&
            strcmp(why + len - n, item->text) == 0)
            return item;
    }
    return NULL;
}

bool prepare_nobody_named(const struct procs *procs, const char *why)
{
    return missing_item(procs, why) != NULL;
}

struct builder *prepare_names_arg(const char *of)
{
    struct builder *b = builder_new();
    build_tuple(b, 2);
    build_atom(b, of);
    build_int(b, LIMIT_NAMES);
    return b;
}

struct builder *prepare_functions_arg(struct slice module)
{
    struct builder *b = builder_new();
    build_tuple(b, 2);
    build_atom(b, "functions");
    build_binary(b, module.s, module.len);
    return b;
}

static bool has_name(const struct slice *names, size_t n, struct slice name)
{
    for (size_t i = 0; i < n; i++)
        if (slice_equal(names[i], name))
            return true;
    return false;
}

static void put_near(struct buf *out, const struct procs_item *item, const struct names *names)
{
    const struct slice *apps, *registered, word = slice_of(item->text);
    struct slice near[PREPARE_MOST_NEAR];
    size_t n_apps = names_apps(names, &apps), n_registered = names_registered(names, &registered);
    bool app = item->kind == PROCS_APP;
    if (app ? has_name(registered, n_registered, word) : has_name(apps, n_apps, word)) {
        buf_printf(out, "; did you mean %s%s, the %s?", app ? "" : "app:", item->text,
                   app ? "process" : "application");
        return;
    }
    size_t n = names_near(app ? apps : registered, app ? n_apps : n_registered, word, near,
                          PREPARE_MOST_NEAR);
    for (size_t i = 0; i < n; i++) {
        prepare_put_before(out, i, n);
        buf_puts(out, app ? "app:" : "");
        print_atom(out, near[i].s, near[i].len);
    }
    buf_puts(out, n > 0 ? "?" : "");
}

void prepare_why_nobody(char *out, size_t size, const struct procs *procs, const char *why,
                        const struct names *names)
{
    const struct procs_item *item = missing_item(procs, why);
    struct buf text;
    buf_init(&text, 0);
    buf_printf(&text, "no process to trace: %s", why);
    if (item && names)
        put_near(&text, item, names);
    snprintf(out, size, "%s", buf_cstr(&text));
    buf_clear(&text);
}

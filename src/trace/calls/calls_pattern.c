/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What counting takes of the trace language: names of functions, nothing about their calls. */
#include <string.h>

#include "calls_internal.h"

static bool is_application(const struct pattern *p)
{
    return p->kind == PATTERN_CALL && p->module.kind == NAME_EXACT &&
           slice_is(p->module.text, "app") && p->function.kind == NAME_EXACT && p->arity < 0 &&
           !p->has_args;
}

/* Where the arrow of the actions is, or the end of the pattern. */
static size_t arrow(const char *text, size_t at)
{
    const char *found = strstr(text + at, "->");
    return found ? (size_t)(found - text) : at;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

int calls_pattern_check(struct pattern *p, const char *text, size_t *offset, struct error *err)
{
    size_t end = min_size(p->function.to, strlen(text));
    p->application = is_application(p);
    if (p->kind != PATTERN_CALL) {
        *offset = p->at;
        return error_set(err, ERR_USAGE,
                         "calls counts calls of functions, not messages; use trace");
    }
    if (p->has_args)
        *offset = p->n_args > 0 ? p->args[0]->from : end;
    else if (p->guard)
        *offset = p->guard->from;
    else if (p->actions != 0)
        *offset = arrow(text, end);
    else
        return 0;
    return error_set(err, ERR_USAGE, "calls counts whole functions, whatever %s; use trace",
                     p->has_args || p->guard ? "their arguments" : "they do");
}

static void build_name(struct builder *b, const struct pattern_name *name, const char *exact)
{
    if (name->kind == NAME_ANY) {
        build_atom(b, "any");
        return;
    }
    build_tuple(b, 2);
    build_atom(b, name->kind == NAME_EXACT ? exact : "re");
    build_binary(b, name->text.s, name->text.len);
}

void calls_build_chosen(struct builder *b, struct pattern *const *patterns, size_t n)
{
    if (n == 0) {
        build_atom(b, "all");
        return;
    }
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        const struct pattern *p = patterns[i];
        const bool application = p->application;
        build_tuple(b, 3);
        build_name(b, application ? &p->function : &p->module, application ? "app" : "name");
        if (application)
            build_atom(b, "any");
        else
            build_name(b, &p->function, "name");
        if (p->arity < 0)
            build_atom(b, "any");
        else
            build_int(b, p->arity);
    }
    build_nil(b);
}

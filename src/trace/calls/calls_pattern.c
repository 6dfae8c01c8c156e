/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What counting takes of the trace language: names of functions, nothing about their calls. */
#include <string.h>

#include "calls_internal.h"
#include "trace/session/prepare.h"

static bool is_application(const struct pattern *p)
{
    return p->kind == PATTERN_CALL && p->module.kind == NAME_EXACT &&
           slice_is(p->module.text, "app") && p->function.kind == NAME_EXACT && p->arity < 0 &&
           !p->has_args;
}

/* Where the arrow of the actions is, or the end of the pattern. */
static size_t find_arrow(const char *text, size_t at)
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
        *offset = find_arrow(text, end);
    else
        return 0;
    return error_set(err, ERR_USAGE, "calls counts whole functions, whatever %s; use trace",
                     p->has_args || p->guard ? "their arguments" : "they do");
}

void calls_build_chosen(struct builder *b, struct pattern *const *patterns, size_t n)
{
    if (n == 0) {
        build_atom(b, "all");
        return;
    }
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        build_tuple(b, 3);
        prepare_functions(b, patterns[i]);
    }
    build_nil(b);
}

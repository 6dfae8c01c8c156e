/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/matchspec.h"

#include <assert.h>
#include <stdlib.h>

#include "matchspec_internal.h"

#define WITH_RESULT (TRACE_RETURN | TRACE_SLOWER | TRACE_RETURNS | TRACE_RAISES)
#define STACKTRACE_RELEASE 27 /* the first that has the stack as a term */

static void scope_init(struct scope *s, struct matchspec *out, const struct pattern *p,
                       const struct matchspec_options *options, size_t *offset, struct error *err)
{
    *s = (struct scope){.pattern = p, .options = options, .out = out, .offset = offset, .err = err};
    arena_init(&s->arena);
}

static bool is_operator(const struct node *n, const char *text)
{
    return n->kind == NODE_OP && n->n_items == 2 && slice_is(n->text, text);
}

/* Conjunctions become guards of their own: easier to read, and nothing else changes. */
static bool add_conjunction(struct scope *s, const struct node *n, struct spec_list *guards)
{
    if (is_operator(n, "andalso") || is_operator(n, ","))
        return add_conjunction(s, n->items[0], guards) && add_conjunction(s, n->items[1], guards);
    struct spec *guard = spec_expression(s, n);
    if (guard)
        spec_add(s, guards, guard);
    return guard != NULL;
}

/*
 * A clause for each alternative of the guard, since one that raises only fails itself. `head` and
 * `body` are shared; s->guards come before the guard of the user, as they test the pattern. */
static bool add_clauses(struct scope *s, struct spec_list *clauses, struct spec *head,
                        const struct node *guard, struct spec *body)
{
    if (guard && is_operator(guard, ";"))
        return add_clauses(s, clauses, head, guard->items[0], body) &&
               add_clauses(s, clauses, head, guard->items[1], body);
    struct spec_list guards = {0};
    for (size_t i = 0; i < s->guards.n; i++)
        spec_add(s, &guards, s->guards.items[i]);
    if (guard && !add_conjunction(s, guard, &guards))
        return false;
    struct spec *clause[] = {head, spec_items(s, SPEC_LIST, guards.items, guards.n), body};
    spec_add(s, clauses, spec_tuple(s, clause, 3));
    return true;
}

static struct builder *encode_clauses(struct scope *s, const struct spec_list *clauses)
{
    struct builder *b = builder_new();
    if (spec_encode(s, b, spec_items(s, SPEC_LIST, clauses->items, clauses->n)) < 0) {
        builder_free(b);
        return NULL;
    }
    return b;
}

/* The VM gives {To, Message} of a send, {Node, Sender, Message} of a receive. */
static struct spec *head_arguments(struct scope *s)
{
    const struct pattern *p = s->pattern;
    struct spec_list items = {0};
    if (p->kind == PATTERN_CALL ? !p->has_args : p->n_args == 0)
        return spec_atom(s, "_");
    for (size_t i = 0; p->kind == PATTERN_RECEIVE && i < 2; i++)
        spec_add(s, &items, spec_atom(s, "_"));
    for (size_t i = 0; i < p->n_args; i++) {
        struct spec *item = spec_head(s, p->args[i]);
        if (!item)
            return NULL;
        spec_add(s, &items, item);
    }
    return spec_items(s, SPEC_LIST, items.items, items.n);
}

static struct spec *all_arguments(struct scope *s)
{
    struct spec *all = spec_atom(s, "$_");
    if (s->pattern->kind != PATTERN_RECEIVE)
        return all;
    return spec_call(s, "tl", spec_call(s, "tl", all, NULL), NULL);
}

static struct spec *body_shown(struct scope *s)
{
    const struct node shown = {.items = s->pattern->show, .n_items = s->pattern->n_show};
    if (!(s->pattern->actions & TRACE_SHOW))
        return spec_atom(s, "$_");
    return spec_compound(s, SPEC_LIST, &shown, spec_expression);
}

static struct spec *body_stack(struct scope *s)
{
    if (!(s->pattern->actions & TRACE_STACK))
        return spec_new(s, SPEC_LIST);
    if (scope_lacks(s, STACKTRACE_RELEASE))
        return spec_call(s, "process_dump", NULL);
    return spec_call(s, "current_stacktrace", spec_integer(s, s->options->stack_depth), NULL);
}

static struct spec *clause_body(struct scope *s)
{
    struct spec *message[4] = {spec_integer(s, s->options->index)};
    size_t n = 1;
    bool call = s->pattern->kind == PATTERN_CALL;
    if (call) {
        message[1] = spec_call(s, "caller", NULL);
        message[2] = body_shown(s);
        message[3] = body_stack(s);
        n = 4;
        if (!message[2])
            return NULL;
    }
    struct spec *tuple = spec_tuple(s, message, n);
    struct spec *one_less =
        spec_call(s, "-", spec_call(s, "get_tcw", NULL), spec_integer(s, 1), NULL);
    struct spec *actions[] = {spec_call(s, "set_tcw", one_less, NULL),
                              spec_call(s, "message", spec_tuple(s, &tuple, 1), NULL),
                              spec_call(s, "exception_trace", NULL)};
    bool result = call && s->pattern->actions & WITH_RESULT;
    return spec_items(s, SPEC_LIST, actions, result ? 3 : 2);
}

static int build_clauses(struct scope *s)
{
    struct spec_list clauses = {0};
    s->all = all_arguments(s);
    spec_add(s, &s->guards,
             spec_call(s, ">", spec_call(s, "get_tcw", NULL), spec_integer(s, 0), NULL));
    struct spec *head = head_arguments(s);
    struct spec *actions = head ? clause_body(s) : NULL;
    if (!actions || !add_clauses(s, &clauses, head, s->pattern->guard, actions))
        return s->err->code;
    s->out->narrow = s->narrow || s->pattern->guard;
    s->out->counted = (s->pattern->actions & (TRACE_COUNT | TRACE_TIME)) != 0;
    s->out->clauses = encode_clauses(s, &clauses);
    return s->out->clauses ? 0 : s->err->code;
}

/* The specification with which ets:match_spec_run/2 filters values after the call. */
static int build_filter(struct scope *s, struct builder **out, const struct node *pattern,
                        const struct node *guard)
{
    struct spec_list clauses = {0};
    struct spec *value = spec_head(s, pattern), *yes = spec_atom(s, "true");
    if (!value)
        return s->err->code;
    struct spec *head = spec_tuple(s, &value, 1);
    if (!add_clauses(s, &clauses, head, guard, spec_items(s, SPEC_LIST, &yes, 1)))
        return s->err->code;
    *out = encode_clauses(s, &clauses);
    return *out ? 0 : s->err->code;
}

int matchspec_build(struct matchspec *out, const struct pattern *p,
                    const struct matchspec_options *options, size_t *offset, struct error *err)
{
    const struct {
        const struct node *pattern, *guard;
        struct builder **out;
    } filters[] = {{p->returns, p->returns_guard, &out->results},
                   {p->raises, p->raises_guard, &out->raises}};
    struct scope s;
    *out = (struct matchspec){0};
    arena_init(&out->names);
    scope_init(&s, out, p, options, offset, err);
    int rc = build_clauses(&s);
    arena_clear(&s.arena);
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        if (!filters[i].pattern)
            continue;
        scope_init(&s, out, p, options, offset, err);
        rc = build_filter(&s, filters[i].out, filters[i].pattern, filters[i].guard);
        arena_clear(&s.arena);
    }
    if (rc < 0)
        matchspec_clear(out);
    return rc;
}

void matchspec_clear(struct matchspec *m)
{
    builder_free(m->clauses);
    builder_free(m->results);
    builder_free(m->raises);
    arena_clear(&m->names);
    free(m->atoms);
    *m = (struct matchspec){0};
}

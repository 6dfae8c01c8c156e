/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace before it is armed: definitions, functions and processes, what it will cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "trace_internal.h"

#define GUARD_S 0.35e-6 /* what a call of a traced function costs when it does not pass */
#define NEAR_MS 1000    /* a suggestion is worth no longer wait */

/* ---- What was found */

static void explain_nothing_traced(struct trace_session *t, size_t i, const struct names *names)
{
    const struct preflight_pattern *found = &t->prep.preflight.patterns[i];
    const struct slice source = t->s.patterns[i]->typed;
    char *out = t->state->preflight.why_none;
    size_t size = sizeof t->state->preflight.why_none;
    size_t len = strlen(out);
    len += (size_t)snprintf(out + len, size - len, "%s%.*s: ", len > 0 ? "; " : "",
                            (int)(source.len < 100 ? source.len : 100), source.s);
    if (len >= size)
        return;
    prepare_why_none(out + len, size - len, t->s.patterns[i], found, names);
}

static int check_trace_functions(struct trace_session *t, const struct names *names,
                                 struct error *err)
{
    struct trace_preflight *p = &t->state->preflight;
    uint64_t total = 0;
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        const struct preflight_pattern *found = &t->prep.preflight.patterns[i];
        total += found->total;
        trace_log_pattern_edit(t->log, i)->functions = found->n;
        p->functions += found->n;
        if (strcmp(found->why, "too_many") == 0)
            p->functions_cut = true;
        else if (t->s.patterns[i]->kind == PATTERN_CALL && found->n == 0)
            explain_nothing_traced(t, i, names);
    }
    if (p->functions_cut)
        return error_set(err, ERR_LIMIT,
                         "%llu functions match, and a trace takes %llu: narrow the pattern, or "
                         "raise `functions`",
                         (unsigned long long)total,
                         (unsigned long long)t->state->caps.value[CAP_FUNCTIONS]);
    if (p->why_none[0] != '\0')
        return error_set(err, ERR_NOT_FOUND, "nothing to trace: %s", p->why_none);
    return 0;
}

static int check_atoms(struct trace_session *t, struct error *err)
{
    char why[sizeof err->text];
    const struct preflight *p = &t->prep.preflight;
    size_t index = prepare_unknown(t->prep.specs, t->s.n_patterns, p);
    if (index == t->s.n_patterns)
        return 0;
    const struct pattern *of = t->s.patterns[index];
    trace_wrong(&t->s, index, prepare_place(of, p->unknown));
    prepare_why_unknown(why, sizeof why, of->syntax, p);
    if (t->s.n_patterns == 1)
        return error_set(err, ERR_NOT_FOUND, "%s", why);
    return error_set(err, ERR_NOT_FOUND, "%.*s: %s",
                     (int)(of->typed.len < 100 ? of->typed.len : 100), of->typed.s, why);
}

static int check_procs(struct trace_session *t, const struct names *names, struct error *err)
{
    const struct preflight *p = &t->prep.preflight;
    uint64_t most = t->state->caps.value[CAP_PROCESSES];
    char why[sizeof err->text];
    t->state->preflight.processes = p->n_procs;
    if (p->procs == PREFLIGHT_NONE) {
        prepare_why_nobody(why, sizeof why, &t->s.procs, p->procs_why, names);
        return error_set(err, ERR_NOT_FOUND, "%s", why);
    }
    if (t->one && p->procs == PREFLIGHT_PIDS && p->n_procs > 1)
        return error_set(err, ERR_USAGE,
                         "%llu processes fit: choose one by its pid or registered name",
                         (unsigned long long)p->n_procs);
    if (p->procs == PREFLIGHT_PIDS && p->n_procs > most)
        return error_set(err, ERR_LIMIT,
                         "%llu processes fit, and a trace takes %llu one by one: narrow them, or "
                         "raise `processes`",
                         (unsigned long long)p->n_procs, (unsigned long long)most);
    return 0;
}

int trace_mfa_order(const struct mfa *m, const struct mfa *n)
{
    int order = slice_order(m->module, n->module);
    order = order ? order : slice_order(m->function, n->function);
    return order ? order : (m->arity > n->arity) - (m->arity < n->arity);
}

static int by_mfa(const void *a, const void *b)
{
    const struct trace_function *const *x = a, *const *y = b;
    return trace_mfa_order(&(*x)->mfa, &(*y)->mfa);
}

/* All but one of each function. */
static void mark_again(struct trace_function *functions, size_t n)
{
    struct trace_function **sorted = alloc_zero(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &functions[i];
    qsort(sorted, n, sizeof *sorted, by_mfa);
    for (size_t i = 1; i < n; i++)
        sorted[i]->again = by_mfa(&sorted[i - 1], &sorted[i]) == 0;
    free(sorted);
}

static void keep_functions(struct trace_session *t)
{
    const struct preflight *p = &t->prep.preflight;
    t->functions = alloc_zero(p->n_functions + 1, sizeof *t->functions);
    for (size_t i = 0; i < p->n_patterns; i++)
        for (size_t k = 0; k < p->patterns[i].n; k++)
            t->functions[p->patterns[i].first + k] = (struct trace_function){
                .mfa = p->functions[p->patterns[i].first + k].mfa, .pattern = (unsigned)i};
    mark_again(t->functions, p->n_functions);
    trace_log_set_functions(t->log, t->functions, p->n_functions);
}

/* ---- What the preparation leads to */

static bool take_trace_counted(struct session *s, double calls_per_s, double count_ms)
{
    struct trace_preflight *p = &((struct trace_session *)s)->state->preflight;
    p->count_ms = count_ms;
    p->calls_per_s = calls_per_s;
    p->load = calls_per_s * GUARD_S;
    return p->expensive = p->load > EXPENSIVE_LOAD; /* not when it is NaN */
}

static void decide_preflight(struct trace_session *t, const struct names *names)
{
    struct error err = {0};
    /* Of one process the functions may follow from it. */
    (void)((t->one && check_procs(t, names, &err)) || check_trace_functions(t, names, &err) ||
           check_atoms(t, &err) || check_procs(t, names, &err) ||
           ((t->s.dry_run || t->s.hold) &&
            preflight_refuses(&t->prep.preflight, session_port_is_shared(&t->s.port), &err)));
    preparation_checked(&t->s, &err);
}

static void on_near(void *arg, const struct answer *answer)
{
    struct trace_session *t = arg;
    struct error ignored = {0}; /* it costs the suggestion, no more */
    struct names *names = names_new();
    bool known = answer->err.code == ERR_NONE &&
                 names_take(names, answer->value, answer->len, &ignored) == 0;
    decide_preflight(t, known ? names : NULL);
    names_free(names);
}

/* Names like the first that is not there; false when nothing would help or can be asked. */
static bool ask_near(struct trace_session *t)
{
    struct builder *b = NULL;
    struct error ignored = {0};
    for (size_t i = 0; i < t->s.n_patterns && !b; i++)
        b = prepare_near_arg(t->s.patterns[i], &t->prep.preflight.patterns[i]);
    if (!b && t->prep.preflight.procs == PREFLIGHT_NONE &&
        prepare_nobody_named(&t->s.procs, t->prep.preflight.procs_why))
        b = prepare_names_arg("who");
    if (!b)
        return false;
    return session_ask(&t->s, QUESTION_FUNCTIONS, b, NEAR_MS, on_near, &ignored) == 0;
}

static void take_trace_found(struct session *s)
{
    struct trace_session *t = (struct trace_session *)s;
    memcpy(t->state->preflight.others, t->prep.preflight.others, sizeof t->prep.preflight.others);
    keep_functions(t);
    if (!ask_near(t))
        decide_preflight(t, NULL);
}

const struct preparation_kind trace_preparation = {.stack_depth = PREPARE_STACK_FRAMES,
                                                   .count_ms = 1000,
                                                   .ask_ms = 30000, /* of a slow machine, too */
                                                   .ask_function_ms = 2,
                                                   .wrong = trace_wrong,
                                                   .found = take_trace_found,
                                                   .counted = take_trace_counted};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace before it is armed: definitions, functions and processes, what it will cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "trace_internal.h"

#define COUNT_MS 1000       /* bursts are seen; many calls end it sooner */
#define FORCED_COUNT_MS 20  /* where nothing depends on it */
#define GUARD_S 0.35e-6     /* what a call of a traced function costs when it does not pass */
#define EXPENSIVE_LOAD 0.03 /* of a core: above it a person is asked */
#define NEAR_MS 1000        /* a suggestion is worth no longer wait */

/* ---- What was found */

static void explain_none(struct trace_session *t, size_t i, const struct names *names)
{
    const struct preflight_pattern *found = &t->preflight.patterns[i];
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

static int check_functions(struct trace_session *t, const struct names *names, struct error *err)
{
    struct trace_preflight *p = &t->state->preflight;
    uint64_t total = 0;
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        const struct preflight_pattern *found = &t->preflight.patterns[i];
        total += found->total;
        trace_log_pattern_edit(t->log, i)->functions = found->n;
        p->functions += found->n;
        if (strcmp(found->why, "too_many") == 0)
            p->functions_cut = true;
        else if (t->s.patterns[i]->kind == PATTERN_CALL && found->n == 0)
            explain_none(t, i, names);
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
    const struct preflight *p = &t->preflight;
    size_t index = prepare_unknown(t->specs, t->s.n_patterns, p);
    if (index == t->s.n_patterns)
        return 0;
    const struct pattern *of = t->s.patterns[index];
    trace_wrong(t, index, prepare_place(of, p->unknown));
    prepare_why_unknown(why, sizeof why, of->syntax, p);
    if (t->s.n_patterns == 1)
        return error_set(err, ERR_NOT_FOUND, "%s", why);
    return error_set(err, ERR_NOT_FOUND, "%.*s: %s",
                     (int)(of->typed.len < 100 ? of->typed.len : 100), of->typed.s, why);
}

static int check_procs(struct trace_session *t, const struct names *names, struct error *err)
{
    uint64_t most = t->state->caps.value[CAP_PROCESSES];
    char why[sizeof err->text];
    t->state->preflight.processes = t->preflight.n_procs;
    if (t->preflight.procs == PREFLIGHT_NONE) {
        prepare_why_nobody(why, sizeof why, &t->s.procs, t->preflight.procs_why, names);
        return error_set(err, ERR_NOT_FOUND, "%s", why);
    }
    if (t->one && t->preflight.procs == PREFLIGHT_PIDS && t->preflight.n_procs > 1)
        return error_set(err, ERR_USAGE,
                         "%llu processes fit: choose one by its pid or registered name",
                         (unsigned long long)t->preflight.n_procs);
    if (t->preflight.procs == PREFLIGHT_PIDS && t->preflight.n_procs > most)
        return error_set(err, ERR_LIMIT,
                         "%llu processes fit, and a trace takes %llu one by one: narrow them, or "
                         "raise `processes`",
                         (unsigned long long)t->preflight.n_procs, (unsigned long long)most);
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
    const struct preflight *p = &t->preflight;
    t->functions = alloc_zero(p->n_functions + 1, sizeof *t->functions);
    for (size_t i = 0; i < p->n_patterns; i++)
        for (size_t k = 0; k < p->patterns[i].n; k++)
            t->functions[p->patterns[i].first + k] = (struct trace_function){
                .mfa = p->functions[p->patterns[i].first + k].mfa, .pattern = (unsigned)i};
    mark_again(t->functions, p->n_functions);
    trace_log_set_functions(t->log, t->functions, p->n_functions);
}

/* ---- The estimate */

static void estimated(struct trace_session *t)
{
    struct trace_preflight *p = &t->state->preflight;
    p->expensive = p->load > EXPENSIVE_LOAD; /* not when it is NaN */
    session_estimated(&t->s, p->expensive);
}

static void on_counted(void *arg, const struct answer *answer)
{
    struct trace_session *t = arg;
    struct error err = answer->err;
    struct counted counted;
    t->s.touched = false;
    if (err.code != ERR_NONE || decode_counted(&counted, answer->value, answer->len, &err)) {
        session_fail(&t->s, &err);
        return;
    }
    struct trace_preflight *p = &t->state->preflight;
    if (counted.refused[0] == '\0' && counted.interval_ns > 0) {
        p->count_ms = (double)counted.interval_ns / 1e6;
        p->calls_per_s = (double)counted.calls * 1e9 / (double)counted.interval_ns;
        p->load = p->calls_per_s * GUARD_S;
    }
    estimated(t);
}

/* Without trace sessions counting would change the breakpoints of other tools. */
static bool may_count(const struct trace_session *t)
{
    const struct preflight *p = &t->preflight;
    return p->n_functions > 0 &&
           (!session_port_is_shared(&t->s.port) || (p->breakpoints == 0 && p->flags == 0));
}

static void estimate(struct trace_session *t)
{
    struct trace_preflight *p = &t->state->preflight;
    p->calls_per_s = p->load = (double)NAN;
    if (!may_count(t)) {
        estimated(t);
        return;
    }
    t->s.touched = true;
    session_step(&t->s, SESSION_PREPARING, QUESTION_TRACE,
                 trace_count_arg(t, t->s.force ? FORCED_COUNT_MS : COUNT_MS), trace_ask_ms(t),
                 on_counted);
}

/* ---- Preflight */

static int take_preflight(struct trace_session *t, const struct answer *answer, struct error *err)
{
    t->preflight_bytes = alloc_zero(answer->len + 1, 1);
    memcpy(t->preflight_bytes, answer->value, answer->len);
    int rc = decode_preflight(&t->preflight, t->s.n_patterns, t->preflight_bytes, answer->len, err);
    if (rc)
        return rc;
    memcpy(t->state->preflight.others, t->preflight.others, sizeof t->preflight.others);
    keep_functions(t);
    return 0;
}

static void decide(struct trace_session *t, const struct names *names)
{
    struct error err = {0};
    /* Of one process the functions may follow from it. */
    if ((t->one && check_procs(t, names, &err)) || check_functions(t, names, &err) ||
        check_atoms(t, &err) || check_procs(t, names, &err) ||
        (t->s.dry_run && preflight_refuses(&t->preflight, t->s.port.otp, &err)))
        session_fail(&t->s, &err);
    else
        estimate(t);
}

static void on_near(void *arg, const struct answer *answer)
{
    struct trace_session *t = arg;
    struct error ignored = {0}; /* it costs the suggestion, no more */
    struct names *names = names_new();
    bool known = answer->err.code == ERR_NONE &&
                 names_take(names, answer->value, answer->len, &ignored) == 0;
    decide(t, known ? names : NULL);
    names_free(names);
}

/* Names like the first that is not there; false when nothing would help or can be asked. */
static bool ask_near(struct trace_session *t)
{
    struct builder *b = NULL;
    struct error ignored = {0};
    for (size_t i = 0; i < t->s.n_patterns && !b; i++)
        b = prepare_near_arg(t->s.patterns[i], &t->preflight.patterns[i]);
    if (!b && t->preflight.procs == PREFLIGHT_NONE &&
        prepare_nobody_named(&t->s.procs, t->preflight.procs_why))
        b = prepare_who_arg();
    if (!b)
        return false;
    return session_ask(&t->s, QUESTION_FUNCTIONS, b, NEAR_MS, on_near, &ignored) == 0;
}

static void on_preflight(void *arg, const struct answer *answer)
{
    struct trace_session *t = arg;
    struct error err = answer->err;
    if (err.code != ERR_NONE || take_preflight(t, answer, &err))
        session_fail(&t->s, &err);
    else if (!ask_near(t))
        decide(t, NULL);
}

static int ask_preflight(struct trace_session *t, struct error *err)
{
    return session_ask(&t->s, QUESTION_PREFLIGHT, trace_preflight_arg(t), trace_ask_ms(t),
                       on_preflight, err);
}

/* ---- Definitions of records and structs */

static void on_records(void *arg, const struct answer *answer)
{
    struct trace_session *t = arg;
    struct error err = answer->err;
    size_t pattern = 0, offset = 0;
    if (err.code == ERR_NONE &&
        record_store_take(&t->records, answer->value, answer->len, &err) == 0) {
        if (trace_compile(t, &pattern, &offset, &err) != 0)
            trace_wrong(t, pattern, offset);
        else
            (void)ask_preflight(t, &err);
    }
    if (err.code != ERR_NONE)
        session_fail(&t->s, &err);
    else
        session_changed(&t->s);
}

int trace_prepare(struct trace_session *t, size_t *pattern, size_t *offset, struct error *err)
{
    struct record_name names[PREPARE_RECORDS];
    size_t n = prepare_records(t->s.patterns, t->s.n_patterns, names, PREPARE_RECORDS);
    if (n == 0) {
        int rc = trace_compile(t, pattern, offset, err);
        return rc ? rc : ask_preflight(t, err);
    }
    return session_ask(&t->s, QUESTION_RECORDS, prepare_records_arg(names, n), trace_ask_ms(t),
                       on_records, err);
}

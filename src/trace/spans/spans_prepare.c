/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A capture before it is armed: definitions, functions and processes, what it will cost. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/trace/caps.h"
#include "spans_internal.h"

#define GUARD_S 0.5e-6 /* a call that begins no root: four clauses; one within a root has two */
/* Without payloads: what all breakpoints of a call cost one that belongs to no root. */
#define BARE_CALL_S 2.2e-6

/* ---- Patterns */

int spans_pattern_check(struct pattern *p, const char *text, size_t *offset, struct error *err)
{
    const char *arrow = strstr(text, "->");
    if (p->kind != PATTERN_CALL) {
        *offset = p->at;
        return error_set(err, ERR_USAGE, "spans follows calls of functions, not messages");
    }
    if (p->actions == 0)
        return 0;
    *offset = arrow ? (size_t)(arrow - text) : p->at;
    return error_set(err, ERR_USAGE,
                     "spans takes no actions: a root has its return value's class and time anyway");
}

/* ---- Preflight */

static int too_many_functions(uint64_t n, bool root, struct error *err)
{
    return error_set(err, ERR_LIMIT, "%llu functions match, and a capture takes %d%s: narrow %s",
                     (unsigned long long)n, root ? SPANS_MOST_FUNCTIONS : SPANS_MOST_CALLED,
                     root ? " roots' functions" : " for --calls", root ? "the pattern" : "it");
}

static int check_span_functions(struct spans_session *t, struct error *err)
{
    char why[200];
    for (size_t i = 0; i < t->s.n_patterns; i++) {
        const struct preflight_pattern *found = &t->prep.preflight.patterns[i];
        const struct slice source = t->s.patterns[i]->typed;
        const bool root = i < t->n_roots;
        if (strcmp(found->why, "too_many") == 0)
            return too_many_functions(found->total, root, err);
        if (found->n == 0 && t->what.n_others > 0)
            continue; /* it may be on one of them */
        if (found->n == 0) {
            prepare_why_none(why, sizeof why, t->s.patterns[i], found, NULL);
            return error_set(err, ERR_NOT_FOUND, "no %s: %.*s: %s",
                             root ? "root function" : "function for --calls",
                             (int)(source.len < 100 ? source.len : 100), source.s, why);
        }
        *(root ? &t->run->functions : &t->run->called) += found->n;
    }
    if (t->run->functions > SPANS_MOST_FUNCTIONS)
        return too_many_functions(t->run->functions, true, err);
    return t->run->called > SPANS_MOST_CALLED ? too_many_functions(t->run->called, false, err) : 0;
}

static int check_rest(struct spans_session *t, struct error *err)
{
    char why[sizeof err->text];
    const struct preflight *p = &t->prep.preflight;
    const size_t unknown = prepare_unknown(t->prep.specs, t->s.n_patterns, p);
    if (unknown < t->s.n_patterns && (t->what.n_others == 0 || p->patterns[unknown].n > 0)) {
        prepare_why_unknown(why, sizeof why, t->s.patterns[unknown]->syntax, p);
        return error_set(err, ERR_NOT_FOUND, "%s", why);
    }
    if (p->procs == PREFLIGHT_NONE && (t->what.n_others == 0 || p->n_functions > 0)) {
        prepare_why_nobody(why, sizeof why, &t->s.procs, p->procs_why, NULL);
        return error_set(err, ERR_NOT_FOUND, "%s", why);
    }
    if (prepare_procs_fit(p, t->caps.value[CAP_PROCESSES], err) != 0)
        return err->code;
    if (t->root_process && (p->procs != PREFLIGHT_PIDS || p->n_procs != 1))
        return error_set(err, ERR_USAGE, "%llu processes fit, and one is the root of a capture",
                         (unsigned long long)p->n_procs);
    return (t->s.dry_run || t->s.hold) &&
                   preflight_refuses(p, session_port_is_shared(&t->s.port), err)
               ? ERR_REFUSED
               : 0;
}

static void take_spans_found(struct session *s)
{
    struct spans_session *t = (struct spans_session *)s;
    struct error err = {0};
    snprintf(t->run->others, sizeof t->run->others, "%s", t->prep.preflight.others);
    if (check_span_functions(t, &err) == 0)
        check_rest(t, &err);
    preparation_checked(s, &err);
}

static bool take_spans_counted(struct session *s, double calls_per_s, double count_ms)
{
    struct spans_session *t = (struct spans_session *)s;
    (void)count_ms;
    t->run->calls_per_s = calls_per_s;
    t->run->load = calls_per_s * (t->what.request.no_payloads ? BARE_CALL_S : GUARD_S);
    return t->run->expensive = t->run->load > EXPENSIVE_LOAD; /* not when it is NaN */
}

const struct preparation_kind spans_preparation = {.count_ms = 500,
                                                   .ask_ms = SPANS_ASK_MS,
                                                   .found = take_spans_found,
                                                   .counted = take_spans_counted};

int spans_prepare(struct spans_session *t, size_t *pattern, size_t *offset, struct error *err)
{
    static const struct mfa do_call = {{"gen", 3}, {"do_call", 7}, 4};
    caps_init(&t->caps);
    t->caps.value[CAP_FUNCTIONS] =
        SPANS_MOST_FUNCTIONS + (t->s.n_patterns > t->n_roots ? SPANS_MOST_CALLED : 0);
    t->prep.beside = t->what.request.no_payloads ? &do_call : NULL;
    return preparation_start(&t->s, pattern, offset, err);
}

/* ---- Arming */

/* [{[Mfa], {Atoms, Bytes}}], of those that fit a function here */
static void build_patterns(struct builder *b, const struct spans_session *t, size_t from, size_t to)
{
    const struct preflight_pattern *patterns = t->prep.preflight.patterns;
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        n += patterns[i].n > 0;
    if (n > 0)
        build_list(b, n);
    for (size_t i = from; i < to; i++) {
        const struct slice mfas = patterns[i].mfas;
        if (patterns[i].n == 0)
            continue;
        build_tuple(b, 2);
        build_raw(b, (const uint8_t *)mfas.s, mfas.len);
        prepare_spec(b, &t->prep.specs[i], t->prep.specs[i].clauses);
    }
    build_nil(b);
}

struct builder *spans_arm_arg(const struct spans_session *t)
{
    struct builder *b = builder_new();
    const bool nothing = t->what.n_others > 0 && t->prep.preflight.n_functions == 0;
    build_tuple(b, 2);
    build_atom(b, "arm");
    build_map(b, 13);
    build_atom(b, "patterns");
    build_patterns(b, t, 0, t->n_roots);
    build_atom(b, "calls");
    build_patterns(b, t, t->n_roots, t->s.n_patterns);
    build_atom(b, "procs");
    if (nothing)
        build_atom(b, "new");
    else
        session_build_procs(b, &t->prep.preflight);
    build_atom(b, "origins");
    if (t->what.n_others > 0)
        build_list(b, t->what.n_others);
    for (size_t i = 0; i < t->what.n_others; i++)
        build_binary(b, t->others[i], strlen(t->others[i]));
    build_nil(b);
    prepare_number(b, "roots", t->what.request.roots);
    prepare_number(b, "every", t->what.request.every);
    prepare_number(b, "time", t->what.request.for_ms);
    prepare_number(b, "events", t->what.request.events);
    prepare_number(b, "participants", SPANS_PARTICIPANTS);
    build_atom(b, "full");
    build_bool(b, t->what.request.full);
    build_atom(b, "force");
    build_bool(b, t->what.request.force);
    build_atom(b, "context");
    build_bool(b, t->what.request.context);
    build_atom(b, "payloads");
    build_bool(b, !t->what.request.no_payloads);
    return b;
}

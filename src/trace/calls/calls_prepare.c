/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counted calls before the first window: the words, who is there, what it will cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/trace/caps.h"
#include "calls_internal.h"
#include "trace/session/prepare.h"

#define FIRST_LOOK_MS 20
#define LOOKS_MS 500       /* both together: calls come in bursts */
#define EXPENSIVE_LOAD 0.1 /* of all schedulers, over the time of the windows asked for */
#define LEAST_MS 100u      /* of a window that is shortened for it */

/* ---- Before the first window */

/* Names the pattern without functions, and why it has none. */
static void explain_nothing_counted(const struct calls_session *s,
                                    const struct calls_sample *sample, struct error *err)
{
    struct slice source = {"every function", 14};
    if (sample->none < s->s.n_patterns)
        source = s->s.patterns[sample->none]->typed;
    error_set(err, ERR_NOT_FOUND, "nothing to count: %.*s: %s",
              (int)(source.len < 100 ? source.len : 100), source.s, sample->why);
}

static double load_of(const struct calls_session *s, double calls_per_s)
{
    return calls_per_s * CALLS_CALL_S / (double)s->state.schedulers;
}

/* Names of the functions called most, which are not counted. */
static void exclude_functions(struct calls_session *s, size_t n)
{
    s->state.excluded = n;
    s->excluded = arena_alloc(&s->hot.arena, (n + 1) * sizeof *s->excluded);
    for (size_t i = 0; i < n; i++) {
        const struct calls_function *f = &s->hot.rows[i];
        char *name = arena_printf(&s->hot.arena, "%.*s:%.*s/%u", (int)f->module.len, f->module.s,
                                  (int)f->function.len, f->function.s, (unsigned)f->arity);
        s->excluded[i] = slice_of(name);
    }
}

/* Fits the windows to the cost limit: shorter ones; where these would be too short, without the
 * functions called most. False: neither is enough. */
static bool fit_windows(struct calls_session *s, const struct calls_sample *sample)
{
    unsigned asked_ms = s->options.for_ms, least_ms = asked_ms < LEAST_MS ? asked_ms : LEAST_MS;
    double limit_ms = asked_ms * EXPENSIVE_LOAD, load = s->state.load;
    size_t n = 0;
    for (; load * least_ms > limit_ms && n < s->hot.window.n_rows; n++)
        load -= load_of(s, (double)s->hot.rows[n].calls * 1e9 / (double)sample->interval_ns);
    if (load * least_ms > limit_ms || (n > 0 && (s->options.whole || n >= s->state.functions)))
        return false;
    if (load * asked_ms > limit_ms)
        s->state.window_ms = (unsigned)(limit_ms / load);
    exclude_functions(s, n);
    return true;
}

/* The length of a second sample, which sees more bursts, at the windows' cost at most. 0: none. */
static unsigned second_look_ms(const struct calls_session *s, double load)
{
    const double most_ms = LOOKS_MS - FIRST_LOOK_MS;
    const double limit_ms = s->options.for_ms * EXPENSIVE_LOAD;
    const double ms = load * most_ms > limit_ms ? limit_ms / load : most_ms;
    const bool wanted = s->looks == 1 && !s->s.force && !s->s.stopping;
    return wanted && ms >= 2 * FIRST_LOOK_MS ? (unsigned)ms : 0;
}

static void ask_look(struct calls_session *s, unsigned ms);

/* Adds a sample to the estimate. False: asks for another one first. */
static bool take_look(struct calls_session *s, const struct calls_sample *sample)
{
    s->looks++;
    s->looked_calls += (double)sample->calls;
    s->looked_ns += (double)sample->interval_ns;
    const double calls_per_s = s->looked_calls * 1e9 / s->looked_ns;
    const unsigned ms = second_look_ms(s, load_of(s, calls_per_s));
    if (ms > 0) {
        ask_look(s, ms);
        return false;
    }
    s->state.calls_per_s = calls_per_s;
    s->state.load = load_of(s, calls_per_s);
    return true;
}

static void on_sampled(void *arg, const struct answer *answer)
{
    struct calls_session *s = arg;
    struct calls_state *state = &s->state;
    struct calls_sample sample = {.none = SIZE_MAX};
    struct error err = answer->err;
    if (err.code == ERR_NONE)
        decode_calls_sample(&sample, &s->hot, answer->value, answer->len, &err);
    if (sample.refused[0] != '\0')
        error_set(&err, ERR_REFUSED, "%s", sample.refused);
    else if (sample.none != SIZE_MAX)
        explain_nothing_counted(s, &sample, &err);
    state->functions = sample.functions;
    state->schedulers = sample.schedulers;
    state->arms = (double)sample.arms;
    if (err.code != ERR_NONE) {
        state->status.error = err;
        s->s.kind->close(&s->s);
        return;
    }
    if (sample.interval_ns > 0 && sample.schedulers > 0) {
        if (!take_look(s, &sample))
            return;
        state->expensive = state->load > EXPENSIVE_LOAD && !s->s.force && !fit_windows(s, &sample);
    }
    session_estimated(&s->s, state->expensive);
}

static void ask_look(struct calls_session *s, unsigned ms)
{
    struct builder *b = builder_new();
    build_tuple(b, 3);
    build_atom(b, "sample");
    build_int(b, ms);
    calls_build_chosen(b, s->s.patterns, s->s.n_patterns);
    s->s.touched = true;
    session_step(&s->s, SESSION_PREPARING, QUESTION_CALLS, b, CALLS_ASK_MS, on_sampled);
}

static void ask_sample(struct session *base)
{
    ask_look((struct calls_session *)base, FIRST_LOOK_MS);
}

/* The processes, with the word that children are followed. */
static struct builder *build_who(const struct calls_session *s, const struct preflight *p)
{
    struct builder *b = builder_new();
    if (s->s.procs.children)
        build_tuple(b, 2);
    session_build_procs(b, p);
    if (s->s.procs.children)
        build_atom(b, "children");
    return b;
}

static int take_preflight(struct calls_session *s, const struct answer *answer, struct error *err)
{
    struct preflight p;
    int rc = decode_preflight(&p, 0, answer->value, answer->len, err);
    if (rc)
        return rc;
    snprintf(s->state.others, sizeof s->state.others, "%s", p.others);
    if (p.procs == PREFLIGHT_NONE)
        rc = error_set(err, ERR_NOT_FOUND, "no process to time: %s", p.procs_why);
    else
        rc = prepare_procs_fit(&p, cap_table[CAP_PROCESSES].value, err);
    if (rc == 0)
        s->who = build_who(s, &p);
    preflight_clear(&p);
    return rc;
}

static void on_calls_preflight(void *arg, const struct answer *answer)
{
    struct calls_session *s = arg;
    struct error err = answer->err;
    if (err.code == ERR_NONE && take_preflight(s, answer, &err) == 0)
        session_baseline(&s->s, SESSION_PREPARING, ask_sample);
    else
        session_fail(&s->s, &err);
}

static int ask_calls_preflight(struct calls_session *s, struct error *err)
{
    struct caps caps;
    caps_init(&caps);
    return session_ask(&s->s, QUESTION_PREFLIGHT,
                       prepare_preflight_arg(NULL, NULL, 0, &s->s.procs, &caps, false),
                       CALLS_ASK_MS, on_calls_preflight, err);
}

/* ---- Opening */

static int check_options(const struct calls_options *o, int otp, struct error *err)
{
    if (o->for_ms < 10 || o->for_ms > LIMIT_CALLS_WINDOW_MS)
        return error_set(err, ERR_USAGE, "a window is 10 ms to %u s long",
                         LIMIT_CALLS_WINDOW_MS / 1000);
    if (o->top < 1 || o->top > LIMIT_CALLS_ROWS)
        return error_set(err, ERR_USAGE, "--top takes 1 to %d functions", LIMIT_CALLS_ROWS);
    if (o->memory && otp < 26)
        return error_set(err, ERR_REFUSED, "heap words need OTP 26 or later; this is OTP %d", otp);
    return 0;
}

static int open_counting(struct calls_session *s, size_t *pattern, size_t *offset,
                         struct error *err)
{
    const struct calls_options *o = &s->options;
    int rc = session_parse(&s->s, o->patterns, o->n_patterns, o->syntax, calls_pattern_check,
                           pattern, offset, err);
    if (rc == 0)
        rc = check_options(o, s->s.port.otp, err);
    if (rc == 0)
        rc = session_parse_procs(&s->s, o->procs, err);
    s->state.calls_per_s = s->state.load = (double)NAN;
    s->state.asked_ms = s->state.window_ms = o->for_ms;
    return rc == 0 ? ask_calls_preflight(s, err) : rc;
}

int calls_open(struct session **out, const struct calls_options *options,
               const struct session_port *port, const struct session_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err)
{
    size_t unused_pattern, unused_offset = 0;
    struct calls_session *s = alloc_zero(1, sizeof *s);
    session_init(&s->s, &calls_kind, port, handlers, arg, &s->state.status);
    s->s.calls_per_s = &s->state.calls_per_s;
    s->s.load = &s->state.load;
    s->options = *options;
    s->s.force = options->force;
    s->s.dry_run = options->dry_run;
    s->s.hold = options->hold;
    for (size_t i = 0; i < 2; i++)
        arena_init(&s->kept[i].arena);
    arena_init(&s->hot.arena);
    int rc = open_counting(s, pattern ? pattern : &unused_pattern, offset ? offset : &unused_offset,
                           err);
    return session_opened(out, &s->s, rc);
}

const char *calls_limits_text(char *out, size_t size, const struct calls_state *s)
{
    char without[64] = "";
    if (s->excluded > 0)
        snprintf(without, sizeof without, ", without the %zu called most", s->excluded);
    *out = '\0';
    if (s->window_ms < s->asked_ms || s->excluded > 0)
        snprintf(out, size, " and slows these calls; counted for %.2g of %.2g s%s",
                 s->window_ms / 1000.0, s->asked_ms / 1000.0, without);
    else if (s->load > EXPENSIVE_LOAD)
        snprintf(out, size, " and slows these calls");
    return out;
}

const struct calls_state *calls_session_state(const struct session *base)
{
    return &((const struct calls_session *)base)->state;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counted calls before the first window: the words, who is there, what it will cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/trace/caps.h"
#include "calls_internal.h"

#define SAMPLE_MS 20
#define DEAR_LOAD 0.1 /* of all schedulers: above it a person is asked */

/* ---- Before the first window */

/* Which of the patterns gives no function. */
static void explain_none(const struct calls_session *s, const struct calls_sample *sample,
                         struct error *err)
{
    struct slice source = {"every function", 14};
    if (sample->none < s->n_all)
        source = s->all[sample->none]->source;
    error_set(err, ERR_NOT_FOUND, "nothing to count: %.*s: %s",
              (int)(source.len < 100 ? source.len : 100), source.s, sample->why);
}

static void on_sampled(void *arg, const struct answer *answer)
{
    struct calls_session *s = arg;
    struct calls_state *state = &s->state;
    struct calls_sample sample = {.none = SIZE_MAX};
    struct error err = answer->err;
    if (s->stage != CALLS_STAGE_SAMPLE)
        return;
    if (err.code == ERR_NONE)
        decode_calls_sample(&sample, answer->value, answer->len, &err);
    if (sample.refused[0] != '\0')
        error_set(&err, ERR_REFUSED, "%s", sample.refused);
    else if (sample.none != SIZE_MAX)
        explain_none(s, &sample, &err);
    state->functions = sample.functions;
    state->schedulers = sample.schedulers;
    state->arms = (double)sample.arms;
    if (sample.interval_ns > 0 && sample.schedulers > 0) {
        state->calls_per_s = (double)sample.calls * 1e9 / (double)sample.interval_ns;
        state->load = state->calls_per_s * CALLS_CALL_S / (double)sample.schedulers;
        state->dear = state->load > DEAR_LOAD;
    }
    if (err.code != ERR_NONE || s->stopping) {
        calls_close(s, err.code != ERR_NONE ? &err : NULL);
    } else if (s->options.dry_run || (state->dear && !s->options.force)) {
        calls_enter(s, CALLS_STAGE_ASK, CALLS_ASKING);
        calls_changed(s);
    } else {
        calls_next_window(s);
    }
}

static void ask_sample(struct calls_session *s)
{
    struct error err = {0};
    struct builder *b = builder_new();
    build_tuple(b, 3);
    build_atom(b, "sample");
    build_int(b, SAMPLE_MS);
    calls_build_chosen(b, s->all, s->n_all);
    calls_enter(s, CALLS_STAGE_SAMPLE, CALLS_PREPARING);
    if (calls_ask(s, QUESTION_CALLS, b, CALLS_ASK_MS, on_sampled, &err) != 0)
        calls_fail(s, &err);
}

static void on_baseline(void *arg, const struct answer *answer)
{
    struct calls_session *s = arg;
    struct error err = answer->err;
    if (s->stage != CALLS_STAGE_BASELINE)
        return;
    if (err.code != ERR_NONE || decode_armed(&s->baseline, answer->value, answer->len, &err) != 0)
        calls_fail(s, &err);
    else
        ask_sample(s);
}

/* {pids, [Pid]} or all, running, new; with the word that children are followed. */
static struct builder *build_who(const struct calls_session *s, const struct preflight *p)
{
    struct builder *b = builder_new();
    if (s->procs.children)
        build_tuple(b, 2);
    if (p->procs == PREFLIGHT_PIDS) {
        build_tuple(b, 2);
        build_atom(b, "pids");
    }
    build_raw(b, (const uint8_t *)p->procs_raw.s, p->procs_raw.len);
    if (s->procs.children)
        build_atom(b, "children");
    return b;
}

static int take_preflight(struct calls_session *s, const struct answer *answer, struct error *err)
{
    struct preflight p;
    uint64_t most = cap_table[CAP_PROCESSES].value;
    int rc = decode_preflight(&p, 0, answer->value, answer->len, err);
    if (rc)
        return rc;
    snprintf(s->state.others, sizeof s->state.others, "%s", p.others);
    if (p.procs == PREFLIGHT_NONE)
        rc = error_set(err, ERR_NOT_FOUND, "no process to time: %s", p.procs_why);
    else if (p.procs == PREFLIGHT_PIDS && p.n_procs > most)
        rc = error_set(err, ERR_LIMIT, "%llu processes fit, and %llu are taken one by one: narrow "
                       "them", (unsigned long long)p.n_procs, (unsigned long long)most);
    else
        s->who = build_who(s, &p);
    preflight_clear(&p);
    return rc;
}

static void on_preflight(void *arg, const struct answer *answer)
{
    struct calls_session *s = arg;
    struct error err = answer->err;
    if (s->stage != CALLS_STAGE_PREFLIGHT)
        return;
    calls_enter(s, CALLS_STAGE_BASELINE, CALLS_PREPARING);
    if (err.code == ERR_NONE && take_preflight(s, answer, &err) == 0)
        calls_ask_armed(s, on_baseline, &err);
    if (err.code != ERR_NONE)
        calls_fail(s, &err);
}

static int ask_preflight(struct calls_session *s, struct error *err)
{
    struct builder *b = builder_new();
    build_map(b, 4);
    build_atom(b, "patterns");
    build_nil(b);
    build_atom(b, "procs");
    procs_build(b, &s->procs);
    build_atom(b, "most_functions");
    build_int(b, 1);
    build_atom(b, "most_processes");
    build_int(b, (int64_t)cap_table[CAP_PROCESSES].value);
    return calls_ask(s, QUESTION_PREFLIGHT, b, CALLS_ASK_MS, on_preflight, err);
}

/* ---- Opening and freeing */

static int parse_texts(struct calls_session *s, size_t *pattern, size_t *offset,
                       struct error *err)
{
    for (size_t i = 0; i < s->options.n_patterns; i++) {
        *pattern = i;
        *offset = 0;
        if (i == LIMIT_TRACE_PATTERNS)
            return error_set(err, ERR_USAGE, "at most %d patterns", LIMIT_TRACE_PATTERNS);
        int rc = calls_patterns_parse(&s->patterns[i], &s->n_patterns[i],
                                      s->options.patterns[i], s->options.syntax, offset, err);
        if (rc)
            return rc;
        s->n_texts++;
        for (size_t k = 0; k < s->n_patterns[i]; k++) {
            if (s->n_all == LIMIT_TRACE_PATTERNS)
                return error_set(err, ERR_USAGE, "at most %d patterns", LIMIT_TRACE_PATTERNS);
            s->all[s->n_all++] = s->patterns[i][k];
        }
    }
    return 0;
}

static int check_options(const struct calls_options *o, int otp, struct error *err)
{
    if (o->for_ms < 10 || o->for_ms > LIMIT_CALLS_WINDOW_MS)
        return error_set(err, ERR_USAGE, "a window is 10 ms to %u s long",
                         LIMIT_CALLS_WINDOW_MS / 1000);
    if (o->top < 1 || o->top > LIMIT_CALLS_ROWS)
        return error_set(err, ERR_USAGE, "1 to %d functions are told", LIMIT_CALLS_ROWS);
    if (o->memory && otp < 26)
        return error_set(err, ERR_REFUSED, "words are counted from OTP 26 on; this is OTP %d", otp);
    return 0;
}

static int open_all(struct calls_session *s, size_t *pattern, size_t *offset, struct error *err)
{
    int rc = parse_texts(s, pattern, offset, err);
    if (rc == 0)
        rc = check_options(&s->options, s->port.otp, err);
    if (rc == 0)
        rc = procs_parse(&s->procs, s->options.procs, NULL, err);
    if (rc)
        return rc;
    struct buf text;
    buf_init(&text, sizeof s->state.procs - 1);
    procs_print(&text, &s->procs);
    snprintf(s->state.procs, sizeof s->state.procs, "%s", buf_cstr(&text));
    buf_clear(&text);
    s->state.calls_per_s = s->state.load = (double)NAN;
    return ask_preflight(s, err);
}

static void free_all(struct calls_session *s)
{
    for (size_t i = 0; i < s->n_texts; i++)
        patterns_free(s->patterns[i], s->n_patterns[i]);
    for (size_t i = 0; i < 2; i++)
        arena_clear(&s->kept[i].arena);
    builder_free(s->who);
    free(s);
}

int calls_open(struct calls_session **out, const struct calls_options *options,
               const struct calls_port *port, const struct calls_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err)
{
    size_t unused_pattern, unused_offset = 0;
    struct calls_session *s = alloc_zero(1, sizeof *s);
    s->port = *port;
    s->options = *options;
    s->handlers = *handlers;
    s->arg = arg;
    for (size_t i = 0; i < 2; i++)
        arena_init(&s->kept[i].arena);
    int rc = open_all(s, pattern != NULL ? pattern : &unused_pattern,
                      offset != NULL ? offset : &unused_offset, err);
    if (rc) {
        free_all(s);
        return rc;
    }
    *out = s;
    return 0;
}

void calls_free(struct calls_session *s)
{
    if (s == NULL)
        return;
    if (s->stage == CALLS_STAGE_SAMPLE || s->stage == CALLS_STAGE_COUNT || s->stage == CALLS_STAGE_TIME)
        calls_tell_stop(s);
    free_all(s);
}

const struct calls_state *calls_session_state(const struct calls_session *s)
{
    return &s->state;
}

const struct calls_options *calls_session_options(const struct calls_session *s)
{
    return &s->options;
}

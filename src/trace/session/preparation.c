/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "preparation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

#define FORCED_COUNT_MS 20 /* where nothing depends on it */

void preparation_init(struct preparation *p, struct session *s, const struct preparation_kind *kind,
                      const struct caps *caps)
{
    p->kind = kind;
    p->caps = caps;
    record_store_init(&p->records);
    s->preparation = p;
}

void preparation_clear(struct preparation *p)
{
    for (size_t i = 0; i < LIMIT_TRACE_PATTERNS; i++)
        matchspec_clear(&p->specs[i]);
    preflight_clear(&p->preflight);
    free(p->preflight_bytes);
    record_store_clear(&p->records);
}

unsigned preparation_ask_ms(const struct preparation *p)
{
    return p->kind->ask_ms + p->kind->ask_function_ms * (unsigned)p->preflight.n_functions;
}

/* ---- The estimate */

static void on_calls_counted(void *arg, const struct answer *answer)
{
    struct session *s = arg;
    struct error err = answer->err;
    struct counted counted;
    bool expensive = false;
    s->touched = false;
    if (err.code != ERR_NONE || decode_counted(&counted, answer->value, answer->len, &err)) {
        session_fail(s, &err);
        return;
    }
    if (counted.refused[0] == '\0' && counted.interval_ns > 0)
        expensive = s->preparation->kind->counted(
            s, (double)counted.calls * 1e9 / (double)counted.interval_ns,
            (double)counted.interval_ns / 1e6);
    session_estimated(s, expensive);
}

static struct builder *count_arg(const struct session *s)
{
    const struct preparation *p = s->preparation;
    struct builder *b = builder_new();
    build_tuple(b, 3);
    build_atom(b, "count");
    build_int(b, s->force ? FORCED_COUNT_MS : p->kind->count_ms);
    build_list(b, p->preflight.n_functions + (p->beside != NULL));
    if (p->beside)
        prepare_mfa(b, p->beside);
    for (size_t i = 0; i < p->preflight.n_functions; i++) {
        const struct slice raw = p->preflight.functions[i].raw;
        build_raw(b, (const uint8_t *)raw.s, raw.len);
    }
    build_nil(b);
    return b;
}

/* Without trace sessions counting would change the breakpoints of other tools. */
static bool may_count(const struct session *s)
{
    const struct preflight *p = &s->preparation->preflight;
    return p->n_functions > 0 &&
           (!session_port_is_shared(&s->port) || (p->breakpoints == 0 && p->flags == 0));
}

void preparation_checked(struct session *s, const struct error *err)
{
    if (err->code != ERR_NONE) {
        session_fail(s, err);
        return;
    }
    (void)s->preparation->kind->counted(s, (double)NAN, 0);
    if (!may_count(s)) {
        session_estimated(s, false);
        return;
    }
    s->touched = true;
    session_step(s, SESSION_PREPARING, QUESTION_TRACE, count_arg(s),
                 preparation_ask_ms(s->preparation), on_calls_counted);
}

/* ---- Preflight */

static void on_preflight(void *arg, const struct answer *answer)
{
    struct session *s = arg;
    struct preparation *p = s->preparation;
    struct error err = answer->err;
    if (err.code == ERR_NONE) {
        p->preflight_bytes = alloc_zero(answer->len + 1, 1);
        memcpy(p->preflight_bytes, answer->value, answer->len);
        decode_preflight(&p->preflight, s->n_patterns, p->preflight_bytes, answer->len, &err);
    }
    if (err.code != ERR_NONE)
        session_fail(s, &err);
    else
        p->kind->found(s);
}

/* ---- Definitions of records and structs */

static int compile_specs(struct session *s, size_t *pattern, size_t *offset, struct error *err)
{
    struct preparation *p = s->preparation;
    for (size_t i = 0; i < s->n_patterns; i++) {
        const struct matchspec_options options = {
            .index = (unsigned)i,
            .otp = s->port.otp,
            .node = s->port.node,
            .creation = s->port.creation,
            .records = p->records.defs,
            .n_records = p->records.n,
            .stack_depth = p->kind->stack_depth,
        };
        int rc = matchspec_build(&p->specs[i], s->patterns[i], &options, offset, err);
        if (rc) {
            *pattern = i;
            return rc;
        }
    }
    return 0;
}

static int ask_preflight(struct session *s, struct error *err)
{
    struct preparation *p = s->preparation;
    return session_ask(
        s, QUESTION_PREFLIGHT,
        prepare_preflight_arg(s->patterns, p->specs, s->n_patterns, &s->procs, p->caps, true),
        preparation_ask_ms(p), on_preflight, err);
}

static void on_records(void *arg, const struct answer *answer)
{
    struct session *s = arg;
    struct preparation *p = s->preparation;
    struct error err = answer->err;
    size_t pattern = 0, offset = 0;
    if (err.code == ERR_NONE &&
        record_store_take(&p->records, answer->value, answer->len, &err) == 0) {
        if (compile_specs(s, &pattern, &offset, &err) == 0)
            (void)ask_preflight(s, &err);
        else if (p->kind->wrong)
            p->kind->wrong(s, pattern, offset);
    }
    if (err.code != ERR_NONE)
        session_fail(s, &err);
    else
        session_changed(s);
}

int preparation_start(struct session *s, size_t *pattern, size_t *offset, struct error *err)
{
    struct record_name names[PREPARE_RECORDS];
    const size_t n = prepare_records(s->patterns, s->n_patterns, names, PREPARE_RECORDS);
    if (n > 0)
        return session_ask(s, QUESTION_RECORDS, prepare_records_arg(names, n),
                           preparation_ask_ms(s->preparation), on_records, err);
    int rc = compile_specs(s, pattern, offset, err);
    return rc ? rc : ask_preflight(s, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is sent to arm a trace. */
#include <stdio.h>

#include "trace_internal.h"

static void build_optional_spec(struct builder *b, const struct matchspec *m,
                                const struct builder *term)
{
    if (!term)
        build_atom(b, "none");
    else
        prepare_spec(b, m, term);
}

/* Only counters: nothing is emitted. */
static void build_no_clauses(struct builder *b)
{
    struct builder *none = builder_new();
    build_nil(none);
    size_t len;
    const uint8_t *bytes = builder_bytes(none, &len);
    build_tuple(b, 2);
    build_nil(b);
    build_binary(b, bytes, len);
    builder_free(none);
}

static const char *counters_of(const struct pattern *p)
{
    if (p->kind != PATTERN_CALL)
        return "none";
    return p->actions & TRACE_TIME ? "time" : "count";
}

static void build_pattern(struct builder *b, const struct trace_session *t, size_t i)
{
    const struct pattern *p = t->s.patterns[i];
    const struct matchspec *m = &t->prep.specs[i];
    const struct slice mfas = t->prep.preflight.patterns[i].mfas;
    build_map(b, 9);
    prepare_number(b, "index", i);
    build_atom(b, "kind");
    build_atom(b, prepare_kind_atom(p->kind));
    build_atom(b, "mfas");
    build_raw(b, (const uint8_t *)mfas.s, mfas.len);
    build_atom(b, "clauses");
    if (p->actions & (TRACE_TIME | TRACE_COUNT))
        build_no_clauses(b);
    else
        prepare_spec(b, m, m->clauses);
    build_atom(b, "counters");
    build_atom(b, counters_of(p));
    build_atom(b, "return");
    build_bool(b, (p->actions & TRACE_RETURN) != 0);
    prepare_number(b, "slower_ns", p->actions & TRACE_SLOWER ? p->slower_us * 1000 : 0);
    build_atom(b, "results");
    build_optional_spec(b, m, m->results);
    build_atom(b, "raises");
    if (p->actions & TRACE_RAISES && !m->raises)
        build_atom(b, "any");
    else
        build_optional_spec(b, m, m->raises);
}

static void build_caps(struct builder *b, const struct trace_session *t)
{
    size_t n = 0;
    for (size_t i = 0; i < CAPS; i++)
        n += cap_table[i].atom != NULL;
    build_map(b, n);
    for (size_t i = 0; i < CAPS; i++)
        if (cap_table[i].atom)
            prepare_number(b, cap_table[i].atom, t->state->caps.value[i]);
}

struct builder *trace_arm_arg(const struct trace_session *t)
{
    struct builder *b = builder_new();
    build_tuple(b, 3);
    build_atom(b, "arm");
    build_int(b, (int64_t)t->id);
    build_map(b, 7);
    build_atom(b, "one");
    build_bool(b, t->one);
    build_atom(b, "patterns");
    build_list(b, t->s.n_patterns);
    for (size_t i = 0; i < t->s.n_patterns; i++)
        build_pattern(b, t, i);
    build_nil(b);
    build_atom(b, "procs");
    session_build_procs(b, &t->prep.preflight);
    build_atom(b, "children");
    build_bool(b, t->s.procs.children);
    build_atom(b, "on_rate");
    build_atom(b, t->state->on_rate_stop ? "stop" : "shed");
    build_atom(b, "caps");
    build_caps(b, t);
    build_atom(b, "credit");
    build_tuple(b, 2);
    build_int(b, (int64_t)t->credit.events);
    build_int(b, (int64_t)t->credit.bytes);
    return b;
}

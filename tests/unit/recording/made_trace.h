/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of a trace with events of every kind, as a session would have filled it. */
#ifndef BEAMTOP_TESTS_UNIT_RECORDING_MADE_TRACE_H
#define BEAMTOP_TESTS_UNIT_RECORDING_MADE_TRACE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/etf/build.h"
#include "beamtop/etf/parse.h"
#include "beamtop/trace/log.h"

#define MADE_SECRET "hunter2-x9q"
#define MADE_TRACE_WALL_US INT64_C(1700000000123456)

struct made_trace {
    struct trace_log *log;
    struct pattern **patterns;
    size_t n_patterns;
    struct builder *builders[8];
    size_t n_builders;
};

static struct kept_term made_term(struct made_trace *t, const char *text)
{
    struct error err = {0};
    struct builder *b = t->builders[t->n_builders++] = builder_new();
    size_t len = 0;
    if (etf_parse(b, text, strlen(text), "a@b", &err) < 0)
        abort();
    const uint8_t *bytes = builder_bytes(b, &len);
    return (struct kept_term){.bytes = {(const char *)bytes + 1, len - 1}};
}

static void made_message(struct made_trace *t, enum event_kind kind, uint64_t id)
{
    struct trace_event e = {.id = id,
                            .kind = kind,
                            .pid = {188, 0, 1},
                            .name = {"cart", 4},
                            .wall_us = MADE_TRACE_WALL_US + 3000,
                            .mono_ns = -576460000000000000};
    e.message = made_term(t, "{token, <<\"" MADE_SECRET "\">>}");
    if (kind == EVENT_SEND)
        e.to = made_term(t, "shop_cart");
    trace_log_add(t->log, &e);
}

static void made_call(struct made_trace *t, uint64_t id, enum event_outcome outcome,
                      const char *result)
{
    static const struct mfa stack[] = {{{"shop", 4}, {"loop", 4}, 1},
                                       {{"shop", 4}, {"init", 4}, 0}};
    struct trace_event e = {.id = id,
                            .kind = EVENT_CALL,
                            .pid = {188, 0, 1},
                            .name = {"cart", 4},
                            .wall_us = MADE_TRACE_WALL_US,
                            .mono_ns = -576460000000000000,
                            .mfa = {{"shop_cart", 9}, {"login", 5}, 2},
                            .caller = stack[0],
                            .stack = stack,
                            .n_stack = 2,
                            .outcome = OUTCOME_OPEN};
    e.args = made_term(t, "[{'" MADE_SECRET "', 7, [1|b]}, <<\"" MADE_SECRET "\">>]");
    e.args.full_bytes = id == 2 ? 9000 : 0;
    trace_log_add(t->log, &e);
    struct kept_term value = made_term(t, result);
    trace_log_finish(t->log, id, outcome,
                     (struct slice){"error", outcome == OUTCOME_EXCEPTION ? 5 : 0}, &value,
                     e.mono_ns + 1500000);
}

static inline void made_trace_end(struct made_trace *t)
{
    struct trace_state *s = trace_log_state_edit(t->log);
    s->status.phase = SESSION_ENDED;
    s->end = END_EVENTS;
    snprintf(s->end_text, sizeof s->end_text, "events: 4 of 4");
    snprintf(s->status.procs, sizeof s->status.procs, "all");
    caps_init(&s->caps);
    s->total = (struct trace_counts){.calls = 1234,
                                     .calls_known = true,
                                     .seen = 6,
                                     .shown = 4,
                                     .over = 2,
                                     .missed = 12,
                                     .missed_at_most = true};
    s->preflight = (struct trace_preflight){.functions = 1, .calls_per_s = 17.5, .load = NAN};
    s->status.check = (struct session_check){.done = true, .clean = true, .after_us = 3100};
}

static inline void made_trace_new(struct made_trace *t)
{
    struct error ignored = {0};
    static const char text[] =
        "shop_cart:login/2 -> return; stack; caller & shop_cart:add/2 -> time";
    *t = (struct made_trace){0};
    if (patterns_parse(&t->patterns, &t->n_patterns, text, sizeof text - 1, SYNTAX_AUTO, NULL,
                       &ignored) != 0)
        abort();
    t->log = trace_log_new(100, 1000000);
    for (size_t i = 0; i < t->n_patterns; i++)
        trace_log_add_pattern(t->log, t->patterns[i]);
    made_call(t, 1, OUTCOME_RETURN, "{ok, \"" MADE_SECRET "\", #{a => 1}}");
    made_call(t, 2, OUTCOME_EXCEPTION, "{badmatch, '" MADE_SECRET "'}");
    made_message(t, EVENT_SEND, 3);
    made_message(t, EVENT_RECEIVE, 4);
    struct trace_event lost = {.kind = EVENT_LOST,
                               .lost = 12,
                               .at_most = true,
                               .why = "rate",
                               .wall_us = MADE_TRACE_WALL_US,
                               .until_ns = 3000000};
    trace_log_add(t->log, &lost);
    const struct trace_function f[] = {
        {.mfa = {{"shop_cart", 9}, {"login", 5}, 2}, .calls = 1234},
        {.mfa = {{"shop_cart", 9}, {"add", 3}, 2}, .pattern = 1, .calls = 99, .time_us = 5678}};
    trace_log_set_functions(t->log, f, 2);
}

static inline void made_trace_free(struct made_trace *t)
{
    trace_log_free(t->log);
    patterns_free(t->patterns, t->n_patterns);
    for (size_t i = 0; i < t->n_builders; i++)
        builder_free(t->builders[i]);
}

#endif

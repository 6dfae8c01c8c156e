/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces on their way into a recording: laid out when they come, written with their tick. */

#include "beamtop/base/buf.h"
#include "event_term.h"
#include "recorder_internal.h"
#include "recording_internal.h"

static struct trace_layout layout_of(struct recorder *r)
{
    const struct recorder_options *o = &r->options;
    return (struct trace_layout){.arena = &r->scratch,
                                 .syntax = r->syntax,
                                 .values = o->redact   ? VALUES_SHAPES
                                           : o->values ? VALUES_WHOLE
                                                       : VALUES_NONE};
}

void recorder_trace_begin(struct recorder *r, const struct trace_log *log, enum print_syntax syntax,
                          int64_t wall_us)
{
    if (r->ended)
        return;
    r->traces++;
    r->trace_events = 0;
    r->syntax = syntax;
    size_t n = trace_log_patterns(log);
    struct slice *texts = arena_alloc(&r->scratch, (n + 1) * sizeof *texts);
    for (size_t i = 0; i < n; i++)
        texts[i] = trace_log_pattern(log, i)->pattern->typed;
    const struct trace_row row = {.id = r->traces,
                                  .wall_us = wall_us,
                                  .ended_us = -1,
                                  .events = -1,
                                  .clean = -1,
                                  .syntax = slice_of(syntax == PRINT_ELIXIR ? "elixir" : "erlang"),
                                  .patterns = trace_texts_json(&r->scratch, texts, n),
                                  .procs = slice_of(trace_log_state(log)->status.procs)};
    (void)recorder_add(r, TABLE_TRACE, &row);
    arena_reset(&r->scratch);
}

void recorder_trace_event(struct recorder *r, const struct trace_log *log,
                          const struct trace_event *event, bool finished)
{
    const struct trace_layout how = layout_of(r);
    struct event_row row = {.trace = r->traces};
    if (r->ended)
        return;
    trace_line_make(&row.line, &how, log, event, finished);
    row.kind = slice_of(trace_line_kind_name(row.line.kind));
    row.term = event_term_make(&r->scratch, r->options.node, event, &row.line, finished,
                               how.values == VALUES_WHOLE);
    (void)recorder_add(r, TABLE_EVENT, &row);
    r->trace_events++;
    arena_reset(&r->scratch);
}

void recorder_trace_end(struct recorder *r, const struct trace_log *log, int64_t wall_us)
{
    const struct trace_layout how = layout_of(r);
    struct trace_ending e;
    struct buf json;
    if (r->ended)
        return;
    trace_ending_make(&e, &how, log);
    buf_init(&json, 0);
    trace_json_end(&json, &e, slice_of(r->options.node));
    const struct trace_row row = {.id = r->traces,
                                  .ended_us = wall_us,
                                  .events = r->trace_events,
                                  .clean = e.check.done ? e.check.clean : -1,
                                  .reason = e.reason,
                                  .ending = {(const char *)json.data, json.len}};
    (void)recorder_add(r, TABLE_TRACE_END, &row);
    buf_clear(&json);
    for (size_t i = 0; i < e.n_patterns; i++) {
        const struct pattern_row pattern = {
            .trace = r->traces, .number = (int64_t)i + 1, .tally = e.patterns[i]};
        (void)recorder_add(r, TABLE_TRACE_PATTERN, &pattern);
    }
    arena_reset(&r->scratch);
}

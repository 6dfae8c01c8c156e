/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/output/trace_sink.h"

#include "beamtop/output/trace_line.h"

static int write_trace(struct trace_sink *s, struct buf *out, struct error *err)
{
    int rc = sink_output_put(&s->output, (const char *)out->data, out->len, err);
    buf_clear(out);
    return rc;
}

static struct slice node_of(const struct trace_sink *s)
{
    return slice_of(s->options.node ? s->options.node : "");
}

int trace_sink_put_line(struct trace_sink *s, const struct trace_line *line, struct error *err)
{
    struct buf out;
    buf_init(&out, 0);
    struct trace_line timed = *line;
    const int64_t when_ns = line->place ? line->place->here_ns : line->mono_ns;
    s->first_ns = s->begun ? s->first_ns : when_ns;
    s->begun = true;
    timed.since_us = (double)(int64_t)((uint64_t)when_ns - (uint64_t)s->first_ns) / 1000;
    if (s->options.format == SINK_JSON)
        trace_json_put(&out, &timed, line->place ? line->place->node : node_of(s));
    else
        trace_text_put(&out, &timed, s->options.ascii);
    return write_trace(s, &out, err);
}

int trace_sink_put_end(struct trace_sink *s, const struct trace_ending *e, struct error *err)
{
    struct buf out;
    buf_init(&out, 0);
    if (s->options.format == SINK_JSON)
        trace_json_end(&out, e, node_of(s));
    else
        trace_text_end(&out, e, s->options.ascii);
    return write_trace(s, &out, err);
}

int trace_sink_event(struct trace_sink *s, const struct trace_log *log,
                     const struct trace_event *event, bool finished, struct error *err)
{
    struct trace_line line;
    struct arena arena;
    arena_init(&arena);
    trace_line_make(&line, &(struct trace_layout){&arena, s->options.syntax, VALUES_WHOLE}, log,
                    event, finished);
    const struct trace_place place = {.node = event->node,
                                      .here_us = line.wall_us,
                                      .here_ns = line.mono_ns,
                                      .bound_us = event->bound_us,
                                      .same_time = event->same_time,
                                      .late = event->late};
    line.place = event->node.len > 0 ? &place : NULL;
    int rc = trace_sink_put_line(s, &line, err);
    arena_clear(&arena);
    return rc;
}

int trace_sink_end(struct trace_sink *s, const struct trace_log *log, struct error *err)
{
    struct trace_ending e;
    struct arena arena;
    arena_init(&arena);
    trace_ending_make(&e, &(struct trace_layout){&arena, s->options.syntax, VALUES_WHOLE}, log);
    int rc = trace_sink_put_end(s, &e, err);
    arena_clear(&arena);
    return rc;
}

int trace_sink_log(struct trace_sink *s, const struct trace_log *log, struct error *err)
{
    for (size_t i = 0; i < trace_log_len(log); i++) {
        const struct trace_event *event = trace_log_at(log, i);
        int rc = trace_sink_event(s, log, event, false, err);
        bool back = event->outcome == OUTCOME_RETURN || event->outcome == OUTCOME_EXCEPTION;
        if (rc == 0 && event->kind == EVENT_CALL && back)
            rc = trace_sink_event(s, log, event, true, err);
        if (rc != 0)
            return rc;
    }
    return trace_sink_end(s, log, err);
}

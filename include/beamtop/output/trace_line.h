/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the writers of traces share: an event laid out, in no format yet. */
#ifndef BEAMTOP_OUTPUT_TRACE_LINE_H
#define BEAMTOP_OUTPUT_TRACE_LINE_H

#include "beamtop/base/arena.h"
#include "beamtop/output/trace_sink.h"
#include "beamtop/output/fields.h"

/* clang-format off */
enum trace_line_kind {
    LINE_CALL, LINE_RETURN, LINE_EXCEPTION, LINE_SEND, LINE_RECEIVE, LINE_LOST, LINE_KINDS,
};
/* clang-format on */
const char *trace_line_kind_name(enum trace_line_kind kind); /* "call": JSON's `kind` */

/* What becomes of arguments, results and messages. */
enum trace_values_kept {
    VALUES_WHOLE,
    VALUES_SHAPES, /* their types and sizes */
    VALUES_NONE,
    VALUES_TEXTS, /* of a recording: each is a binary, the text that stands for it */
};

/* Of a line of one of several nodes: when it was by the clocks of this host. */
struct trace_place {
    struct slice node;
    int64_t here_us; /* of the day */
    int64_t here_ns; /* monotonic */
    double bound_us; /* how much both may be wrong, either way; NaN: they are when it came */
    bool same_time;  /* as a line of another node before it: their order is not known */
    bool late;       /* it came after lines of a later time */
};

/* Numbers below zero are unknown, but for mono_ns. Texts are in the arena, or the log's. */
struct trace_line {
    const struct trace_place *place; /* NULL: all are of one node */
    enum trace_line_kind kind;
    struct slice pattern_text;
    bool shows_caller; /* text: the pattern asks for it */
    int64_t id, wall_us, mono_ns;
    double since_us; /* the first line; of the sink */
    struct slice pid, name, mfa, caller;
    const struct slice *args; /* the values, a text each */
    size_t n_args;
    bool has_args, shown_only, cut;
    const struct slice *stack;
    size_t n_stack;
    int64_t depth, full_bytes;
    struct slice result, class, message, to;
    double latency_us;
    bool no_receiver;
    int64_t lost, duration_us;
    bool at_most;
    struct slice why;
};

/* Of a pattern, or of all together. A count of UINT64_MAX is unknown. */
struct trace_tally {
    struct slice pattern;
    int64_t functions;
    struct trace_counts counts;
    double p50_us, p90_us, p99_us, max_us;
};

struct trace_counter {
    struct slice mfa, pattern;
    int64_t calls, time_us;
    unsigned actions; /* of its pattern */
};

/* What a trace came to, without the log that it is of. Texts are in the arena, or the log's. */
struct trace_ending {
    struct slice
        reason; /* "events", "stopped", …; "failed" and "not_started" when nothing was set */
    struct slice reason_text, note, procs;
    int64_t elapsed_ms, bytes;
    bool isolated;
    struct caps caps;
    struct trace_tally total, *patterns;
    size_t n_patterns;
    struct trace_counter *functions;
    size_t n_functions;
    struct trace_preflight preflight;
    struct session_check check;
};

/* How it is laid out. */
struct trace_layout {
    struct arena *arena;
    enum print_syntax syntax;
    enum trace_values_kept values;
};

/* log: with the event's pattern; NULL: the line has none. */
void trace_line_make(struct trace_line *out, const struct trace_layout *layout,
                     const struct trace_log *log, const struct trace_event *event, bool finished);
/* Copies what is the log's into the arena, for a line that outlives its event. */
void trace_line_keep(struct trace_line *line, struct arena *arena);
void trace_ending_make(struct trace_ending *out, const struct trace_layout *layout,
                       const struct trace_log *log);
bool trace_ending_armed(const struct trace_ending *e);

extern const struct field_list trace_place_fields, trace_line_fields, trace_call_fields,
    trace_result_fields, trace_send_fields, trace_receive_fields, trace_lost_fields,
    trace_tally_fields, trace_pattern_fields, trace_function_fields, trace_preflight_fields,
    trace_check_fields;

int trace_sink_put_line(struct trace_sink *s, const struct trace_line *line, struct error *err);
int trace_sink_put_end(struct trace_sink *s, const struct trace_ending *e, struct error *err);

/* Each appends to out. */
void trace_json_put(struct buf *out, const struct trace_line *line, struct slice node);
void trace_json_end(struct buf *out, const struct trace_ending *e, struct slice node);
void trace_text_put(struct buf *out, const struct trace_line *line, bool ascii);
void trace_text_end(struct buf *out, const struct trace_ending *e, bool ascii);
/* The actions of a pattern by its text; 0 when it is none. */
unsigned trace_pattern_actions(struct slice text);
/* Reads what trace_json_end() wrote; texts are copied to the arena. ERR_FORMAT. */
int trace_ending_read(struct trace_ending *out, struct arena *arena, const char *json, size_t len,
                      struct error *err);

#endif

/* What the writers of traces share: an event laid out, in no format yet. */
#ifndef BEAMTOP_STORE_TRACE_LINE_H
#define BEAMTOP_STORE_TRACE_LINE_H

#include "beamtop/base/arena.h"
#include "beamtop/store/trace_sink.h"
#include "internal.h"

enum trace_line_kind {
    LINE_CALL, LINE_RETURN, LINE_EXCEPTION, LINE_SEND, LINE_RECEIVE, LINE_LOST, LINE_KINDS,
};
const char *trace_line_kind_name(enum trace_line_kind kind); /* "call": JSON's `kind` */

/* Numbers below zero are unknown, but for mono_ns. Texts live in the arena. */
struct trace_line {
    enum trace_line_kind kind;
    const struct trace_event *event;
    const struct pattern *pattern; /* NULL: unknown */
    struct slice pattern_text;
    int64_t id, wall_us, mono_ns;
    struct slice pid, name, mfa, caller;
    const struct slice *args; /* the values, a text each */
    size_t n_args;
    bool has_args, shown_only, cut;
    const struct slice *stack;
    int64_t depth, full_bytes;
    struct slice result, class, message, to;
    double latency_us;
    bool no_receiver;
    int64_t lost, duration_us;
    bool at_most;
    struct slice why;
};

/* Of a pattern, or of all together. */
struct trace_tally {
    struct slice pattern;
    int64_t functions;
    int64_t calls, seen, shown, filtered, cut, over, lost, missed, open, time_us;
    bool missed_at_most;
    double p50_us, p90_us, p99_us, max_us;
};

struct trace_counter {
    struct slice mfa;
    int64_t calls, time_us;
};

void trace_line_make(struct trace_line *out, struct arena *arena, enum print_syntax syntax,
                     const struct trace_log *log, const struct trace_event *event, bool finished);
void trace_tally_total(struct trace_tally *out, const struct trace_log *log);
void trace_tally_pattern(struct trace_tally *out, const struct trace_pattern_info *info);
void trace_counter_make(struct trace_counter *out, struct arena *arena,
                        enum print_syntax syntax, const struct trace_function *function);
/* "events", "stopped", …; "failed" and "not_armed" when nothing was armed. */
const char *trace_reason(const struct trace_state *state);

extern const struct field_list trace_line_fields, trace_call_fields, trace_result_fields,
    trace_send_fields, trace_receive_fields, trace_lost_fields, trace_tally_fields,
    trace_pattern_fields, trace_function_fields, trace_preflight_fields, trace_check_fields;

/* Each appends to out. */
void trace_json_put(struct buf *out, const struct trace_line *line, struct slice node);
void trace_json_end(struct buf *out, const struct trace_log *log, struct slice node,
                    enum print_syntax syntax);
void trace_text_put(struct buf *out, const struct trace_line *line, bool ascii);
void trace_text_end(struct buf *out, const struct trace_log *log, enum print_syntax syntax,
                    bool ascii);

#endif

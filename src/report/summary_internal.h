/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of reports share: all that is asked of a recording, taken once. */
#ifndef BEAMTOP_REPORT_SUMMARY_INTERNAL_H
#define BEAMTOP_REPORT_SUMMARY_INTERNAL_H

#include <jansson.h>

#include "beamtop/model/column.h"
#include "beamtop/report/evaluate.h"
#include "beamtop/report/summary.h"
#include "paper.h"

#define SESSIONS_MOST 14 /* columns of a comparison */
#define OWNER_KINDS 5    /* application, supervisor, module, name, label */
#define OWNERS_BY_MODULE 2

/* A number of the node that reports show. */
struct metric {
    const char *key, *title;
    enum column_type type;
    bool chart;
};
extern const struct metric summary_metrics[];
#define METRICS 16

struct summary {
    const struct summary_input *input;
    const struct recording_info *info;
    struct arena arena;
    int64_t first_us, last_us; /* of the span; -1 unknown */
    double duration_s;
    int64_t ticks, gaps;
    struct span_cost cost;
    struct span_stats stats[METRICS];
    const struct span_owner *owners[OWNER_KINDS];
    size_t n_owners[OWNER_KINDS];
    const struct recorded_call *calls;
    const struct call_spread *spreads; /* of each of calls */
    size_t n_calls;
    struct recorded_window sums;
    const struct span_pattern *patterns; /* of traces */
    size_t n_patterns;
    const struct recording_mark *marks;
    size_t n_marks;
    struct findings findings;
};

extern const char *const summary_owner_keys[OWNER_KINDS];

/* before: the session that comes before it; NULL: none. */
int summary_take(struct summary *s, const struct summary *before, const struct summary_input *input,
                 struct error *err);
void summary_clear(struct summary *s);

/* Whether two means differ by more than ticks vary. Noise: three standard errors of
 * the difference. */
struct change {
    double before, after, noise;
    bool known; /* enough ticks on both sides */
    bool real;  /* more than noise, and more than one percent */
};
struct change change_of(double before, double spread_before, double n_before, double after,
                        double spread_after, double n_after);
struct change change_of_stats(const struct span_stats *before, const struct span_stats *after);

/* The numbers of a function that are compared. */
enum call_number { CALLS_PER_S, CALL_SHARE, CALL_NUMBERS };
extern const char *const summary_call_keys[CALL_NUMBERS];
/* Between windows of counted calls; not known where it was not among the leaders of all of them. */
struct change change_of_call(const struct summary *before, const struct summary *after,
                             const struct recorded_call *like, enum call_number number);
const struct recorded_call *call_in(const struct summary *s, const struct recorded_call *like);
/* The functions that led in any of the sessions, in the order in which they are met. */
size_t leading_calls(const struct summary *s, size_t n, size_t each,
                     const struct recorded_call **out, size_t most);

void summary_one(struct paper *p, const struct summary *s, const struct summary_options *o);
void summary_many(struct paper *p, const struct summary *s, size_t n,
                  const struct summary_options *o);
void summary_json(struct buf *out, const struct summary *s, size_t n,
                  const struct summary_options *o);

const char *effort_word(enum finding_effort effort); /* "a setting" */
/* For people, of the paper's arena; a dash when unknown. */
const char *number_text(struct arena *a, enum column_type type, double v);
const char *slice_text(struct arena *a, struct slice s);
const char *time_text(struct arena *a, int64_t wall_us);
const char *call_text(struct arena *a, const struct recorded_call *c); /* m:f/a */
/* Of all counted calls; and what is said when that is much. */
double evaluating_share(const struct summary *s);
void put_evaluating(struct paper *p, double share);
/* Of all reductions, what the shares of owners are not of (model/owners.h); said where it
 * is much. */
double left_out_share(const struct summary *s);
void put_left_out(struct paper *p, double share, const char *how);
/* Shares leave out what beamtop did on the node: not where that was not recorded. */
bool leaves_us_out(const struct summary *s);
void put_rest(struct paper *p, size_t without_us, size_t n); /* so many of n sessions do */

#endif

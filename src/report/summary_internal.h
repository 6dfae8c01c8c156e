/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of reports share: all that is asked of a recording, taken once. */
#ifndef BEAMTOP_REPORT_SUMMARY_INTERNAL_H
#define BEAMTOP_REPORT_SUMMARY_INTERNAL_H

#include <jansson.h>

#include "beamtop/model/column.h"
#include "beamtop/model/samples_fields.h"
#include "beamtop/report/evaluate.h"
#include "beamtop/report/summary.h"
#include "paper.h"
#include "report/rules/requests.h"
#include "report/rules/work.h"

#define RECORDINGS_MOST 14 /* columns of a comparison */
#define NODES_MOST 64      /* of one that has a row each */
#define SHOWN 10           /* owners of a kind, functions, requests: those that lead */

static inline void json_set(json_t *o, const char *key, json_t *value)
{
    json_object_set_new(o, key, value);
}

/* A number of the node that reports show. */
struct metric {
    const char *key, *title;
    enum column_type type;
    bool chart;
};
extern const struct metric summary_metrics[];
#define METRICS 16

/* Shares of all samples; of a function by what it is, wherever in it a sample was. */
struct function_share {
    struct slice function, kind, object, name; /* name: with the object */
    double self, self_error, total, total_error;
    const struct sample_frame *at;
};

/* Runs of the sampler of one kind: of CPU time, or taken at yields. */
enum sample_kind { OF_CPU, AT_YIELDS, SAMPLE_KINDS };
struct summary_samples {
    struct recorded_samples all;
    struct stacks *functions;    /* the same stacks without files and lines */
    struct function_share *rows; /* of these, most self first */
    size_t n;
};

/* System events of the period. */
struct summary_events {
    size_t runs; /* 0: the node was not watched for them, and all else is empty */
    struct system_event_groups *kinds, *processes; /* most events first */
    int64_t seen, missed;                          /* rows; events that have none */
    bool thinned;                                  /* some are in the recording no longer */
};

/* What the node had at the end, by the last answers: summary_state.c. */
#define STATE_KINDS 18  /* that are compared */
#define STATE_COLUMNS 4 /* of each */
struct state_value {
    double number; /* NaN: unknown, or a text */
    struct slice text;
    bool unknown; /* the text is empty, and that says nothing */
};
struct state_item {
    const char *name;
    size_t at;
    struct state_value values[STATE_COLUMNS];
};
struct state {
    struct state_items {
        struct state_item *items; /* by name, each once */
        size_t n;
        bool recorded, partial;
    } kinds[STATE_KINDS];
};

struct summary {
    const struct summary_input *input;
    const struct recording_info *info;
    struct arena arena;
    int64_t first_us, last_us; /* of the period; -1 unknown */
    double duration_s;
    int64_t ticks, gaps;
    struct period_cost cost;
    struct period_stats stats[METRICS];
    struct owner_list owners[OWNER_SORTS];
    struct recorded_window sums; /* of counted calls */
    struct summary_samples samples[SAMPLE_KINDS];
    struct requests requests; /* of captured spans */
    struct summary_events events;
    const struct period_pattern *patterns; /* of traces */
    size_t n_patterns;
    const struct recording_mark *marks;
    size_t n_marks;
    struct findings findings;
    struct state state; /* where several are compared */
};

/* ---- rows of a report, and their fields: summary_fields.c */

struct summary_call {
    struct recorded_call call;
    struct slice name;
    double us_per_call;
};
extern const struct field_list summary_owner_fields, summary_call_fields, summary_pattern_fields,
    summary_class_fields, summary_process_fields, summary_kind_fields, summary_event_fields,
    summary_self_fields, summary_total_fields;
/* Those that are shown; words: for people. */
struct owner_list summary_owners(const struct summary *s, enum owner_sort sort, bool words,
                                 struct arena *a);
const struct summary_call *summary_calls(const struct summary *s, struct arena *a, size_t *n);

/* ---- samples: summary_samples.c */

void samples_take(struct summary_samples *s, struct recording *r, enum sample_kind kind,
                  int64_t from, int64_t to, struct error *err);
void samples_clear(struct summary_samples *s);
/* A share that is compared: of a class (OF_CPU only), or of a function, by self or by total. */
enum share_by { BY_CLASS, BY_SELF, BY_TOTAL, SHARE_WAYS };
struct sample_share {
    enum sample_kind kind;
    enum share_by by;
    enum sample_class in;
    const struct sample_frame *frame; /* of a function; its file and line do not count */
};
/* The first by self or by total; how many. The frame "…" is none. */
size_t samples_leaders(const struct summary_samples *s, enum share_by by,
                       struct function_share out[SHOWN]);
void samples_one(struct paper *p, const struct summary *s);
json_t *samples_json(const struct summary *s, enum sample_kind kind);

/* ---- comparing: summary_compare.c */

enum stat { STAT_MEAN, STAT_P95, STAT_MAX, STATS };

struct mean {
    double value, spread, n; /* of so many independent numbers; NaN, 0: unknown */
    bool recorded;           /* numbers of its kind were */
    bool proportion;         /* the spread follows from the value: the test of two proportions */
};
struct mean mean_of_stats(const struct period_stats *v, enum stat stat);
/* NULL: 0, where there are others. */
struct mean mean_of_share(const struct period_owner *owner, bool are_others, int64_t ticks);
/* Whether two means differ by more than ticks vary. Noise: three standard errors of the
 * difference. */
struct change {
    double before, after, noise;
    bool known; /* enough ticks on both sides */
    bool real;  /* more than noise, and more than one percent */
};
struct change change_of(struct mean before, struct mean after);

enum subject_kind { OF_NODE, OF_OWNER, OF_CALL, OF_CALL_SHARE, OF_SAMPLES, OF_RUNS };
/* A number that recordings are compared by. */
struct subject {
    enum subject_kind kind;
    const char *what, *by; /* in JSON: a key or name, and what it is of; by NULL: the node */
    const char *name;      /* in the table of recordings below that heading; NULL: in none */
    const char *heading;
    const char *title; /* among changes; NULL: not there */
    enum column_type type;
    int metric;
    enum stat stat; /* of the metric */
    enum owner_sort sort;
    struct slice owner; /* empty: the rest */
    const struct recorded_call *call;
    struct sample_share share;
};
struct subjects {
    struct arena *arena;
    size_t owners; /* so many of each recording, with that share at least; NaN: any */
    double least;
    struct subject *items;
    size_t n, begin; /* begin: of those of the last kind */
};
/* What leads in any of the recordings, in the order in which it is met. */
void subjects_find(struct subjects *l, const struct summary *s, size_t n);
struct mean subject_mean(const struct summary *s, const struct subject *of);
struct mean samples_mean(const struct summary *s, const struct sample_share *of);
/* False: there is nothing to compare. */
bool subject_change(const struct subject *of, const struct summary *a, const struct summary *b,
                    struct change *out);

/* ---- what a node had: summary_state.c */

struct difference {
    const struct field *field;
    const char *name, *key, *title; /* title: for people, with the name */
    enum column_type type;
    const struct state_value *before, *after; /* NULL: there is no such item */
    bool or_none;                             /* an empty text says that there is none */
    double weight;
    size_t at;
};
struct differences {
    struct difference *items;
    size_t n;
};
/* Of the last answers at or before a tick; texts are the arena's. */
void state_take(struct state *out, struct arena *a, struct recording *r, int64_t to,
                struct error *err);
/* Of one kind, largest first. What only one of the two has counts where the other's list is
 * whole. */
struct differences state_differences(size_t kind, const struct state *x, const struct state *y,
                                     struct arena *a);
const char *state_heading(size_t kind);
enum question state_question(size_t kind);
/* For people, and as JSON; v: one of the two, or NULL. */
const char *state_value_text(struct arena *a, const struct difference *d,
                             const struct state_value *v);
const char *state_change_text(struct arena *a, const struct difference *d);
json_t *state_value_json(const struct difference *d, const struct state_value *v);
void state_many(struct paper *p, const struct summary *s, size_t n);
json_t *state_json(const struct summary *s, size_t n);
json_t *state_missing_json(const struct summary *s);
bool state_is_setting(size_t kind); /* not a size that grows */

/* ---- settings that are not the same on all nodes: summary_settings.c */

void state_nodes(struct paper *p, const struct summary *s, size_t n);
json_t *state_nodes_json(const struct summary *s, size_t n);

/* ---- nodes: summary_nodes.c */

struct shared_finding { /* those of one rule with the same words are one */
    const struct finding *worst;
    const struct summary *of;
    const struct summary **nodes; /* that have it */
    size_t n;
};
bool finding_is_like(const struct finding *a, const struct finding *b);
/* All of one severity: put is called for each. */
void findings_share(const struct summary *s, size_t n, enum finding_severity severity,
                    struct arena *a, void (*put)(void *arg, const struct shared_finding *f),
                    void *arg);
void findings_put_shared(struct paper *p, const struct summary *s, size_t n);
json_t *findings_shared_json(const struct shared_finding *f);

/* ---- captured spans: summary_requests.c */

void requests_one(struct paper *p, const struct summary *s);
json_t *requests_json(const struct summary *s);

/* ---- system events: summary_events.c */

int events_take(struct summary_events *s, struct recording *r, struct arena *arena, int64_t from,
                int64_t to, struct error *err);
void events_one(struct paper *p, const struct summary *s);
json_t *events_json(const struct summary *s);

void summary_one(struct paper *p, const struct summary *s);
void summary_many(struct paper *p, const struct summary *s, size_t n);
void summary_nodes(struct paper *p, const struct summary *s, size_t n);
void summary_pairs(struct paper *p, const struct summary *s, size_t n,
                   const struct summary_pairs *of);
void summary_json(struct buf *out, const struct summary *s, size_t n,
                  const struct summary_options *options);
json_t *summary_recording_json(const struct summary *s); /* one of several */
void summary_nodes_json(json_t *root, const struct summary *s, size_t n);
void summary_pairs_json(json_t *root, const struct summary *s, size_t n,
                        const struct summary_pairs *of);
/* A share is compared by points, other numbers by percent of what they were. */
const char *difference_text(struct arena *a, enum column_type type, const struct change *change);
const char *noise_text(struct arena *a, enum column_type type, const struct change *change);
/* Without numbers, which are a recording's own. */
bool summary_same_words(const char *a, const char *b);

/* For people; a dash when unknown. */
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
void put_rest(struct paper *p, size_t without_us, size_t n); /* so many of n recordings do */

#endif

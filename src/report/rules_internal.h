/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What judge functions are given, and what they say. A judge that has the numbers and sees nothing
 * says nothing. */
#ifndef BEAMTOP_REPORT_RULES_INTERNAL_H
#define BEAMTOP_REPORT_RULES_INTERNAL_H

#include <jansson.h>

#include "beamtop/base/attr.h"
#include "beamtop/report/finding.h"

enum owner_sort { BY_APPLICATION, BY_SUPERVISOR, BY_MODULE, BY_NAME, BY_LABEL, OWNER_SORTS };

/* What must have been recorded; a judge is not asked before it is there. */
enum rule_needs {
    NEEDS_SYSTEM = 1 << 0,
    NEEDS_OWNERS = 1 << 1, /* with shares: two ticks of a scan */
    NEEDS_PROCESSES = 1 << 2,
    NEEDS_CALLS = 1 << 3,
    NEEDS_NODE = 1 << 4, /* the fact `node` */
};

struct owner_list {
    const struct span_owner *items;
    size_t n;
};

struct judge {
    struct recording *recording;
    int64_t from, to;
    struct findings *out;
    const struct rule *rule;
    struct owner_list owners[OWNER_SORTS];
    const struct span_process *processes;
    size_t n_processes;
    struct span_turnover turnover;
    /* The same of the second half: what holds in both halves is no burst, and no start-up. */
    struct owner_list late_owners[OWNER_SORTS];
    const struct span_process *late_processes;
    size_t n_late_processes;
    const struct findings *before; /* of the judgement before this one, or NULL */
    const struct recorded_call *calls;
    size_t n_calls;
    struct recorded_window sums;
    double left_out;   /* calls of functions that are not among `calls` */
    json_t *node;      /* NULL: not recorded */
    json_t *kin;       /* what anonymous processes are near to; NULL: not recorded */
    double schedulers; /* online; NaN unknown */
    double duration_s;
    int64_t ticks; /* that have the node's numbers */
    bool said;     /* this rule has a finding, or why it is not known */
};

struct rule {
    struct rule_info info;
    unsigned needs;
    void (*judge)(struct judge *j);
};

/* The finding is the judge's to fill in; titles and texts by judge_text. sure: 0..1. */
struct finding *judge_find(struct judge *j, enum finding_severity severity, double sure);
void judge_unknown(struct judge *j, const char *fmt, ...) ATTR_PRINTF(2, 3);
const char *judge_text(struct judge *j, const char *fmt, ...) ATTR_PRINTF(2, 3);
void judge_evidence(struct judge *j, struct finding *f, const char *key, double value,
                    const char *unit, const char *fmt, ...) ATTR_PRINTF(6, 7);
/* How sure: by how far value is above limit (both > 0), and by how many ticks there are. */
double judge_sure(const struct judge *j, double value, double limit);
struct span_stats judge_stats(const struct judge *j, const char *system_key);
/* A fact as JSON, the caller's to decref; NULL (and said to be not known) when it is not there. */
json_t *judge_fact(struct judge *j, const char *key);
double judge_node(const struct judge *j, const char *key); /* of the fact `node`; NaN unknown */
/* A process by the name that all texts use (model/process_name.h); of a fact's row the same. */
const char *judge_process(struct judge *j, const struct span_process *p);
const char *judge_process_of(struct judge *j, const json_t *row);
/* What has the largest share of the reductions, an application or a module; NULL: none has much. */
const struct span_owner *judge_leader(const struct judge *j);
const char *judge_slice(struct judge *j, struct slice text);
/* Numbers of a JSON object; NaN where there is none. Texts: "" where there is none. */
double fact_number(const json_t *object, const char *key);
const char *fact_text(const json_t *object, const char *key);
/* "31%", "1.3 GiB", "1.2k", "62,010", "4 min 58 s": of the findings' arena. */
const char *judge_percent(struct judge *j, double share);
const char *judge_bytes(struct judge *j, double bytes);
const char *judge_count(struct judge *j, double n);
const char *judge_number(struct judge *j, double n);
const char *judge_period(struct judge *j); /* the span's length */

/*
 * Limits. A finding that the judgement before this one had stays until its number is clearly below
 * the limit: what lies on it does not come
 * and go. */
double judge_limit(const struct judge *j, double limit);
/* At which part of the ticks a number of the node is above a limit. */
double judge_over(const struct judge *j, const char *system_key, double limit);
/* Whether a share is at least half of the limit in either half of the span too. */
bool judge_lasts(double share, double late_share, double limit);
/* Cores' worth of work that a share of the reductions is; NaN: unknown. */
double judge_cores(const struct judge *j, double share);
/* The line through a number of the node. Steady: it rises in each quarter of the span, so that it
   is neither a step nor a level that is being reached. */
struct trend {
    double first, last, fit; /* by the line; fit: -1..1 */
    bool steady;
};
struct trend judge_trend(const struct judge *j, const char *system_key);
/* A process in the second half of the span; NULL: it was not recorded there. */
const struct span_process *judge_late(const struct judge *j, const struct span_process *p);
/* The share of all that was recognised as that kind; in the second half as well. */
double judge_kind(const struct judge *j, const char *kind, double *spread, double *late);

/* rules_system.c */
void judge_contention(struct judge *j);
void judge_headroom(struct judge *j);
void judge_one_scheduler(struct judge *j);
void judge_memory_growth(struct judge *j);
/* rules_memory.c */
void judge_carriers(struct judge *j);
void judge_near_limit(struct judge *j);
void judge_busy_distribution(struct judge *j);
void judge_gc(struct judge *j);
void judge_binaries(struct judge *j);
/* rules_late.c */
void judge_late_scheduler(struct judge *j);
/* rules_logger.c */
void judge_logger(struct judge *j);
/* rules_owners.c */
void judge_mailbox(struct judge *j);
void judge_serialised(struct judge *j);
void judge_asleep(struct judge *j);
void judge_churn(struct judge *j);
void judge_code_server(struct judge *j);
/* rules_growth.c */
void judge_process_growth(struct judge *j);
void judge_short_lived(struct judge *j);
void judge_atom_growth(struct judge *j);
void judge_ets_growth(struct judge *j);
void judge_port_growth(struct judge *j);
void judge_socket_growth(struct judge *j);
void judge_code_growth(struct judge *j);
/* rules_calls.c */
void judge_repository(struct judge *j);
void judge_read_write(struct judge *j);
void judge_overhead(struct judge *j);
void judge_hot_reads(struct judge *j);
void judge_dynamic_repo(struct judge *j);

extern const struct rule rule_rows[];
extern const size_t rule_rows_len;

#endif

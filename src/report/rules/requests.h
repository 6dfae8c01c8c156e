/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Captured causal spans of a part of a recording, summed: the requests of each root function, how
 * long they took, and what their critical paths go through. */
#ifndef BEAMTOP_REPORT_REQUESTS_H
#define BEAMTOP_REPORT_REQUESTS_H

#include "beamtop/recording/recording.h"
#include "beamtop/trace/spans_run.h"

#define REQUEST_KINDS_MOST 1000  /* root functions */
#define REQUEST_PARTS_MOST 20000 /* parts of all paths */

/* What one process did, or what was waited for in it, on the critical paths. */
struct request_part {
    struct slice process;   /* name, else "unnamed"; of another node with it; empty: `own` */
    struct slice operation; /* of its span: first atom of the message, or MFA; may be empty */
    struct slice at;        /* of a wait that nobody explains: M:F/A; may be empty */
    bool own;               /* the process of the request itself */
    enum span_step_kind kind;
    double ns;
};

struct requests_of { /* one root function */
    struct slice operation;
    int64_t roots, outcomes[SPAN_OUTCOMES];
    double ns;         /* of those that have ended: their paths cover it */
    double *durations; /* of these, in ns, ascending */
    size_t n_durations;
    struct request_part *parts; /* most time first */
    size_t n_parts;
    double left_out_ns; /* of parts beyond REQUEST_PARTS_MOST */
};

struct requests {
    int64_t captures, light;  /* light: of them, without CPU time and waits for no reply */
    int64_t roots, left_out;  /* left_out: of functions beyond REQUEST_KINDS_MOST */
    double events, skipped;   /* skipped: events that captures did not keep */
    int64_t ends[SPANS_ENDS]; /* of captures, by why they ended */
    int64_t lost;             /* captures that were due and not made */
    const char *lost_why;     /* the last one; NULL: none was lost */
    struct requests_of *list; /* most time first */
    size_t n;
    struct arena arena;
};

/* ERR_FORMAT: a capture is damaged. Clear it in any case. */
int requests_take(struct requests *out, struct recording *r, int64_t from, int64_t to,
                  struct error *err);
void requests_clear(struct requests *q);
int64_t requests_early(const struct requests *q); /* captures that a cap or another one ended */
/* Below or at it are so many of the ended ones (0 to 1), in ns; NaN: none has ended. */
double requests_quantile(const struct requests_of *of, double part);

#endif

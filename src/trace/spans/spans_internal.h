/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of capturing spans share. */
#ifndef BEAMTOP_TRACE_SPANS_SPANS_INTERNAL_H
#define BEAMTOP_TRACE_SPANS_SPANS_INTERNAL_H

#include "beamtop/trace/spans.h"
#include "trace/log/decode.h"
#include "trace/session/name_queue.h"
#include "trace/session/preparation.h"

#define SPANS_ASK_MS 15000u
#define SPANS_MOST_FUNCTIONS 100 /* of roots */
#define SPANS_MOST_CALLED 1000   /* of calls within them */
#define SPANS_PARTICIPANTS 50    /* processes of one root */

struct spans_session {
    struct session s;
    struct spans_capture what; /* its texts are not kept */
    struct spans_run *run;
    bool root_process; /* the root is a process, and there are no patterns */
    char (*others)[LIMIT_NODE_NAME_BYTES + 1]; /* of what.n_others nodes */
    size_t n_roots; /* the first patterns; the others are of calls within */
    struct preparation prep;
    struct caps caps; /* of the preflight */
    uint64_t per_second;
    bool asked;                  /* a question about events is under way */
    uint64_t asked_ns, armed_ns; /* when; 0: not yet */
    bool drained;                /* the node has no more events */
    size_t received;             /* events */
    struct name_queue names;
};

/* ---- spans_prepare.c */

extern const struct preparation_kind spans_preparation;
int spans_prepare(struct spans_session *t, size_t *pattern, size_t *offset, struct error *err);
struct builder *spans_arm_arg(const struct spans_session *t);

/* ---- spans_decode.c */

/* A part of what was captured. */
struct spans_taken {
    enum spans_end end; /* SPANS_END_NONE: it goes on */
    bool counted;       /* the next five are known */
    uint64_t roots, open, events, skipped;
    struct spans_skipped by;
    int64_t mono; /* native */
    double disarm_us;
    size_t n;        /* events */
    uint64_t unread; /* of them, dropped: nothing that an event can be */
};
/* Each event of the answer `took`, its time in native units; borrowed for the call. */
typedef void spans_event_fn(void *arg, struct span_event *event);
int decode_spans(struct spans_taken *out, const char *node, spans_event_fn *fn, void *arg,
                 const uint8_t *term, size_t len, struct error *err);

#endif

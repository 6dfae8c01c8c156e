/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to assist.c (questions) and assist_line.c (what a line means). */
#ifndef BEAMTOP_TRACE_ASSIST_ASSIST_INTERNAL_H
#define BEAMTOP_TRACE_ASSIST_ASSIST_INTERNAL_H

#include "beamtop/trace/assist.h"
#include "beamtop/trace/session.h"
#include "trace/session/prepare.h"

/* clang-format off */
enum assist_question {
    ASSIST_NONE, ASSIST_MODULES, ASSIST_FUNCTIONS, ASSIST_WHO, ASSIST_RECORDS, ASSIST_MATCH,
};
/* clang-format on */

/* A line taken apart. */
struct typed_line {
    struct trace_request request;
    struct pattern **patterns;
    size_t n;
    bool counts;                                  /* of functions to count */
    struct matchspec specs[LIMIT_TRACE_PATTERNS]; /* compiled, of the first n_specs */
    size_t n_specs;
    struct procs procs;
    bool pending;                   /* the question what it matches is due */
    bool records_asked;             /* records still missing after the question are an error */
    const struct pattern *none;     /* without matches, while near misses are searched */
    struct preflight_pattern found; /* what the node found for it */
    char nobody[400];    /* why no process is traced, while names are looked up; else empty */
    unsigned near_looks; /* searches for near misses so far */
};

struct assist {
    void (*on_change)(void *arg);
    void *arg;
    struct session_port port;
    bool has_port;
    uint64_t named_ns; /* when the modules were asked for; 0: never */
    struct names *names;
    struct record_store records;

    enum assist_question asked; /* the open one */
    bool want_modules, want_who;
    bool want_functions;
    char module[256]; /* of want_functions, and of the question while it is open */
    bool want_record;
    char record_module[256], record[256];

    struct typed_line typed;
    uint64_t looked, asked_for; /* numbers of lines: the one there is, the one that was asked for */
    struct assist_line line;
};

void assist_pump(struct assist *a); /* asks what is wanted next, unless a question is open */

/* ---- assist_line.c */

void typed_clear(struct typed_line *t);
/* Definitions that its patterns need and that are not here yet: how many, in `out`. */
size_t typed_records(const struct assist *a, struct record_name *out, size_t most);
/* Compiles the line once its records are there: the specification, or the error. */
void typed_compile(struct assist *a);
/* What the target said of it. */
void typed_matched(struct assist *a, const struct answer *answer);
/* Near misses of a name that is not there, when names are. */
void typed_near(struct assist *a);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the writer share. */
#ifndef BEAMTOP_RECORDING_RECORDER_INTERNAL_H
#define BEAMTOP_RECORDING_RECORDER_INTERNAL_H

#include "beamtop/base/arena.h"
#include "beamtop/recording/recording.h"
#include "sqlite.h"

/* clang-format off */
enum statement {
    STMT_TICK, STMT_SYSTEM, STMT_TEXT, STMT_TEXT_ID, STMT_PROCESS, STMT_OWNER, STMT_ANSWER,
    STMT_FACT, STMT_TRACE, STMT_EVENT, STMT_TRACE_END, STMT_TRACE_PATTERN, STMT_MARK, STMT_GAP,
    STMT_WINDOW, STMT_CALL, STMT_SAMPLES, STMT_FRAME, STMT_FRAME_ID, STMT_NODE, STMT_SOURCE,
    STMT_HELD, STMT_SPANS, STMT_SPAN_PROCESS, STMT_SPAN_EVENT, STMT_META, STATEMENTS,
};
/* clang-format on */

/* Something that waits for its tick. */
struct pending {
    enum statement what;
    struct slice key, text, blob; /* of the arena */
    int64_t here_us, wall_us, bytes;
    struct recorded_window window;
    const struct recorder_trace_part *trace; /* of the three statements of traces */
    const struct recorder_run *run;          /* of a run of the sampler */
    const struct recorder_spans *spans;
    struct pending *next;
};

/* As it was kept last. */
struct known_fact {
    const char *key;
    char *json;
    struct known_fact *next;
};

/* When answers were kept, by the node's monotonic clock; 0: not yet. */
struct fact_times {
    uint64_t first_ns, last_ns;
};

struct recorder {
    sqlite3 *db;
    sqlite3_stmt *stmts[STATEMENTS];
    struct recorder_options options;
    struct arena arena; /* what waits for its tick */
    struct pending *first, **last;
    struct arena kept; /* what lives as long as the recorder: last facts */
    struct known_fact *facts;
    int64_t ticks, traces, trace_events; /* events: of the trace that runs */
    enum print_syntax syntax;            /* of that */
    bool kept_node, ended;
    int64_t locked_us; /* since when by here_us another has the file; 0: it has not */
    uint64_t last_mono_ns;
    uint64_t alloc_mono_ns; /* when the allocators were kept last; 0: not yet */
    struct fact_times facts_kept[QUESTIONS];
};

/* Something that waits for its tick, behind what waits already. */
struct pending *recorder_add(struct recorder *r, enum statement what);
/* Writes it, as part of the tick behind the last one that was written. */
int recorder_put(struct recorder *r, const struct pending *p, struct error *err);
int recorder_put_trace(struct recorder *r, const struct pending *p, struct error *err);
int recorder_put_samples(struct recorder *r, const struct pending *p, struct error *err);
int recorder_put_spans(struct recorder *r, const struct pending *p, struct error *err);
/* For INSERT INTO event and trace_pattern. */
int recorder_prepare_trace(struct recorder *r, struct error *err);

/* The id of a text, made when it is new. Of an empty one it is 0, and binds NULL. */
int recorder_text_id(struct recorder *r, struct slice text, int64_t *id, struct error *err);
int recorder_bind_text(struct recorder *r, sqlite3_stmt *stmt, int at, struct slice text,
                       struct error *err);
int recorder_put_processes(struct recorder *r, const struct model *m, struct error *err);
int recorder_put_owners(struct recorder *r, const struct model *m, struct error *err);
/* Facts that the model knows: what the node is, and its allocators where they were asked for. */
void recorder_note(struct recorder *r, const struct model *m);
/* Rows of runs and captures that are gone. */
void recorder_drop_orphans(struct recorder *r, struct error *err);
/* Gives up old ticks; false: there is nothing left to give up. */
bool recorder_thin(struct recorder *r, struct error *err);

#endif

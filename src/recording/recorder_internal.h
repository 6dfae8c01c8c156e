/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the writer share. */
#ifndef BEAMTOP_RECORDING_RECORDER_INTERNAL_H
#define BEAMTOP_RECORDING_RECORDER_INTERNAL_H

#include "beamtop/base/arena.h"
#include "beamtop/etf/build.h"
#include "recent.h"
#include "tables.h"

/* A row that waits for its tick. */
struct pending {
    enum recording_table table;
    void *row; /* of the arena */
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

#define JUDGED_FACTS 3 /* recorder_facts.c */

struct recorder {
    sqlite3 *db; /* in memory: NULL until something comes that `recent` has no place for */
    struct recent *recent; /* NULL: it is a file */
    struct {
        sqlite3_stmt *put, *find; /* NULL: not prepared yet */
    } stmts[TABLES];
    struct recorder_options options;
    struct arena arena;   /* what waits for its tick */
    struct arena scratch; /* of what is laid out to become a row */
    struct pending *first, **last;
    struct arena kept; /* what lives as long as the recorder: last facts */
    struct known_fact *facts;
    int64_t ticks, traces, trace_events; /* events: of the trace that runs */
    int64_t event_runs, system_events;   /* events: of the run for them that goes on */
    enum print_syntax syntax;            /* of that */
    bool kept_node, ended;
    int64_t locked_us; /* since when by here_us another has the file; 0: it has not */
    uint64_t last_mono_ns;
    uint64_t alloc_mono_ns;                /* when the allocators were kept last; 0: not yet */
    uint64_t judged_mono_ns[JUDGED_FACTS]; /* of the answers that facts were made of; 0: none */
    struct fact_times facts_kept[QUESTIONS];
};

/* Adds a copy of the row behind what waits for the tick already, and returns it: its id is known
 * when it is written. */
void *recorder_add(struct recorder *r, enum recording_table table, const void *row);
/* Writes a row, as part of the tick behind the last one that was written. After an error nothing is
 * written, here and below. */
int recorder_put(struct recorder *r, enum recording_table table, void *row, struct error *err);
/* The same of one that waited. */
/* The answer `terms`, without names of atoms; the caller's. NULL: it has another form. */
struct builder *recorder_hide_atoms(const uint8_t *term, size_t len);
void recorder_put_pending(struct recorder *r, const struct pending *p, struct error *err);
/* Rows of an old capture of spans, when a newer one is written. */
void recorder_drop_spans(struct recorder *r, int64_t newest, struct error *err);
void recorder_put_processes(struct recorder *r, const struct model *m, struct error *err);
void recorder_put_owners(struct recorder *r, const struct model *m, struct error *err);
/* Facts that the model knows: what the node is, and its allocators where they were asked for. */
void recorder_note(struct recorder *r, const struct model *m);
/* Gives up old ticks; false: there is nothing left to give up. */
bool recorder_thin(struct recorder *r, struct error *err);

#endif

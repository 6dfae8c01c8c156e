/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The newest ticks of a recorder in memory: those tables that findings read each few seconds, as
 * rows in the order of ticks. They are numbered as in a file, from 1 on. Rows are borrowed until
 * the next change. One thread. */
#ifndef BEAMTOP_RECORDING_RECENT_H
#define BEAMTOP_RECORDING_RECENT_H

#include "beamtop/base/buf.h"
#include "tables.h"

struct recent_tick {
    int64_t here_us, wall_us, mono_ns; /* as in the columns of `tick`; 0: unknown, of mono_ns */
    double interval_us;
    size_t processes_end, owners_end; /* behind its last row, counted from the first tick on */
};

/* Texts are ids; 0: none. Unknown numbers are NaN. */
struct recent_process {
    struct etf_pid pid;
    uint32_t name, application, initial_call, label, current_function;
    float share, reductions_per_s, message_queue_len;
    double memory_bytes;
    uint8_t kind; /* enum proc_kind */
    bool hibernates;
};
struct recent_owner {
    uint32_t name; /* 0: the rest */
    uint8_t by, kind;
    float share, reductions_per_s, memory_bytes, message_queue_len, processes;
};

struct recent_text;
struct recent_fact;

struct recent {
    int64_t first;                                /* the oldest tick that is kept */
    struct buf ticks, systems, processes, owners; /* systems: a double for each of system_fields */
    size_t processes_gone, owners_gone;           /* rows of ticks before the first */
    struct recent_text *texts;                    /* they stay */
    struct recent_text **by_id;
    struct recent_fact *facts, **last_fact;
    size_t n_texts, text_bytes, fact_bytes;
};

struct recent *recent_new(void);
void recent_free(struct recent *r); /* NULL is fine */

/* A tick, with its sample (NULL: none); rows are added to the last one. */
void recent_add_tick(struct recent *r, const struct tick_row *row,
                     const struct system_sample *sample);
void recent_add_process(struct recent *r, const struct proc_row *row);
void recent_add_owner(struct recent *r, enum owner_by by, const struct owner *row);
void recent_add_fact(struct recent *r, struct slice key, struct slice json);
/* Gives up ticks until that one, and facts that were not the last at the one behind it. */
void recent_drop(struct recent *r, int64_t upto);

int64_t recent_last(const struct recent *r);                                 /* 0: none */
size_t recent_bytes(const struct recent *r);                                 /* of its memory */
const struct recent_tick *recent_tick(const struct recent *r, int64_t tick); /* NULL: no such */
double recent_system(const struct recent *r, int64_t tick, size_t field); /* of a tick there is */
const struct recent_process *recent_processes(const struct recent *r, int64_t tick, size_t *n);
const struct recent_owner *recent_owners(const struct recent *r, int64_t tick, size_t *n);
struct slice recent_text(const struct recent *r, int64_t id); /* -1: none */
/* The last value at or before a tick; NULL: none. */
const char *recent_fact(const struct recent *r, const char *key, int64_t tick);
/* As recording_period_s(), and how many times the monotonic clock went back. */
double recent_period_s(const struct recent *r, int64_t from, int64_t to, int64_t *restarts);
/* The last tick whose wall clock is at or before that; 0: none. */
int64_t recent_tick_at(const struct recent *r, int64_t wall_us);

#endif

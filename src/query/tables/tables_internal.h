/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a question `tables` has read. */
#ifndef BEAMTOP_QUERY_TABLES_INTERNAL_H
#define BEAMTOP_QUERY_TABLES_INTERNAL_H

#include "tables.h"
#include "tables_list.h"
#include "query/who/who_terms.h"

#define TABLES_BATCH 1000
#define TABLES_COLUMNS 21 /* of a row: as `tables_fields` of the model has them */

#define TABLES_FILES 1000 /* dets tables and disk logs */

/* A dets table or a disk log, whose process is `pid`. */
struct kept_table {
    const char *type;
    struct slice name; /* bare term */
    bool has_pid;
    struct etf_pid pid;
};

struct tables_read {
    struct who_node node; /* whose pids owners have */
    struct ets_list list;
    struct ets_table **ranked; /* all of the list, while a question is out */
    struct ets_table **asked;  /* of the ask that is out, TABLES_BATCH at most */
    size_t n_asked, n_named;   /* of these, known by a name */
    /* Of a step that repeats: which of the ranked it asks for, the next of them, how many more. */
    bool (*part)(const struct tables_read *t, const struct ets_table *table);
    size_t at, budget;
    size_t turn;                          /* of a large node, the first that is read again next */
    size_t spread_most;                   /* fewer after one that was late */
    uint64_t now_ms, listed_ms, tried_ms; /* 0: never */
    uint64_t failed_ms;                   /* so long after a list that failed */
    uint64_t kept_ms;                     /* when what follows was read; 0: never */
    struct arena kept;                    /* of these: */
    struct kept_table files[TABLES_FILES];
    size_t n_files;
    bool has_mnesia, files_left_out;
    int64_t n_dets, n_logs; /* -1: there is no such registry */
    int64_t count, listed_count, word_bytes;
    bool left_out;  /* some were not looked at */
    bool is_ranked; /* with what this question has read */
};

/* ---- tables.c: parts of the list */

typedef bool wants_fn(const struct tables_read *t, const struct ets_table *table);
/* The next of the ranked that want it, `most` in one ask: t->asked. false: there is none. */
bool tables_choose(struct tables_read *t, wants_fn *wants, size_t most);

/* ---- tables_kept.c: steps about what other modules say of tables, each TABLES_DETAIL_MS at most
 */

#define TABLES_DETAIL_MS 30000
bool tables_ask_keepers(void *own, struct run_calls *calls);
void tables_take_keepers(void *own, const struct slice *values, size_t n);
bool tables_ask_files(void *own, struct run_calls *calls);
void tables_take_files(void *own, const struct slice *values, size_t n);
bool tables_ask_mnesia(void *own, struct run_calls *calls);
void tables_take_mnesia(void *own, const struct slice *values, size_t n);
bool tables_ask_copies(void *own, struct run_calls *calls);
void tables_take_copies(void *own, const struct slice *values, size_t n);

/* {tables, MonoNs, Rows, Partial} */
void tables_build(struct builder *b, void *read, int64_t mono_ns, const struct stepped_who *who);

#endif

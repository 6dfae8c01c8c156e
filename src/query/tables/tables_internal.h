/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a question `tables` has read. */
#ifndef BEAMTOP_QUERY_TABLES_INTERNAL_H
#define BEAMTOP_QUERY_TABLES_INTERNAL_H

#include "tables.h"
#include "tables_list.h"
#include "query/who/who_terms.h"

#define TABLES_BATCH 1000
#define TABLES_COLUMNS 21 /* of a row: as `tables_fields` of the model has them */

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
    int64_t count, listed_count, word_bytes;
    bool left_out;  /* some were not looked at */
    bool is_ranked; /* with what this question has read */
};

/* {tables, MonoNs, Rows, Partial} */
void tables_build(struct builder *b, void *read, int64_t mono_ns, const struct stepped_who *who);

#endif

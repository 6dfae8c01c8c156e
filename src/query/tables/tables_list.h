/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of the tables of a node, from look to look. Pure: no clock, no connection. */
#ifndef BEAMTOP_QUERY_TABLES_LIST_H
#define BEAMTOP_QUERY_TABLES_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/term.h"

/* More are not looked at. */
#define TABLES_MOST 100000
/* Those with a row each in an answer; the others are added up by owner. */
#define TABLES_ROWS 1000

struct ets_table {
    struct slice id;   /* bare term: an atom or a reference */
    struct slice name; /* bare atom; len 0: not known */
    struct etf_pid owner, heir;
    int64_t words, objects, key_position; /* -1: not known */
    uint64_t read_ms;                     /* when words and objects were; 0: never */
    struct etf_ref tid;                   /* of one with a name; n 0: not known */
    uint64_t detail_ms;                   /* when what follows was; 0: never */
    struct slice type, protection, write; /* atoms of the program; empty: not known */
    struct slice copies; /* of Mnesia's: an atom of the program; empty: not known, or not its */
    int64_t copy_nodes, active_nodes;
    uint64_t copies_ms; /* when these were read; 0: never */
    bool is_mnesia;
    bool has_owner, has_heir, is_base_known, is_spread, compressed, read_concurrency, fixed;
    bool is_another; /* than the one that had its name when it was looked at */
};

struct ets_list {
    struct arena arena;    /* ids and names */
    struct ets_table *all; /* by id */
    size_t n;
};

void ets_list_clear(struct ets_list *l);
/* These are all: a list of atoms and references; what is known of them stays. false: of another
 * form, and nothing has changed. *left_out: there are more than TABLES_MOST. */
bool ets_list_take(struct ets_list *l, struct slice list, bool *left_out);
/* NULL: it is not among them. */
struct ets_table *ets_list_find(const struct ets_list *l, struct slice id);
/* The tables by words, the largest first, those of unknown size last. out: room for all. */
void ets_list_rank(const struct ets_list *l, struct ets_table **out);

#endif

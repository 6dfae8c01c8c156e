/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is kept of one process, and what of it is read next. Pure: no clock, no connection. */
#ifndef BEAMTOP_QUERY_WHO_KNOWN_H
#define BEAMTOP_QUERY_WHO_KNOWN_H

#include "beamtop/base/hash.h"
#include "who.h"
#include "who_terms.h"

/* Bare terms; the first six are those of struct who_entry. */
enum who_kept {
    KEPT_NAME,
    KEPT_CALL,
    KEPT_LABEL,
    KEPT_APPLICATION,
    KEPT_MFA,
    KEPT_SUPERVISOR,
    KEPT_ANCESTORS, /* of WHO_ANCESTORS; until the supervisor is found */
    KEPT_TERMS
};

enum who_label { LABEL_DONE, LABEL_ODD, LABEL_SMALL };

struct who_known {
    UT_hash_handle hh;
    struct who_entry entry; /* of who_known_entry() */
    struct buf terms[KEPT_TERMS];
    bool complete; /* all of it was read */
    bool has_base; /* name, leader and initial call were */
    bool gone;
    bool is_heavy; /* its dictionary is above the heap limit: read no more */
    bool is_late;  /* it did not answer in time */
    uint64_t read_ms;
    /* of one learn */
    bool listed;
    bool is_new, needs_call, was_read, has_leader, needs_supervisor;
    struct etf_pid leader;
    enum who_label label;
};

struct who_known *who_known_new(const struct etf_pid *pid);
void who_known_free(struct who_known *k);

/* len 0: none. */
struct slice who_known_term(const struct who_known *k, enum who_kept kept);
/* One that is empty or too long is kept as `undefined`, or not at all if it is none of the entry.
 */
void who_known_keep(struct who_known *k, enum who_kept kept, struct slice term);

void who_known_begin(struct who_known *k); /* a learn that reads it */
void who_known_end(struct who_known *k, uint64_t now_ms, bool complete);
/* As it is now; its terms until the next that is kept. */
const struct who_entry *who_known_entry(struct who_known *k);

/* Whether it takes part in a column, by what was known before the column was asked. */
bool who_known_needs(const struct who_known *k, const struct who_node *node,
                     enum who_column column);
/* Reads its element; false: another form. */
bool who_known_take(struct who_known *k, const struct who_node *node, enum who_column column,
                    struct cursor *c);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which application a group leader is of. Pure: no clock, no connection. */
#ifndef BEAMTOP_QUERY_WHO_LEADERS_H
#define BEAMTOP_QUERY_WHO_LEADERS_H

#include "beamtop/base/arena.h"
#include "who_terms.h"

struct who_leader;

/* Of ets:match/2; fails where there is no application controller. */
#define WHO_LEADERS_ARGS "[ac_tab,{{application_master,'$1'},'$2'}]"

struct who_leaders {
    struct arena arena;
    struct who_leader *all;
    size_t n;
};

void who_leaders_init(struct who_leaders *l);
void who_leaders_clear(struct who_leaders *l);
/* What who_call_applications() said; of another form, and len 0: there are none. */
void who_leaders_take(struct who_leaders *l, struct slice value, const struct who_node *node,
                      double *us);
/* The same, of the value of that call without clocks. */
void who_leaders_keep(struct who_leaders *l, struct slice pairs, const struct who_node *node);
struct slice who_leaders_at(const struct who_leaders *l, size_t i); /* as who_leaders_find() */
/* An atom as term, until the next take; len 0: none. */
struct slice who_leaders_find(const struct who_leaders *l, const struct etf_pid *leader);

#endif

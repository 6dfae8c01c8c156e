/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two files of joining captures share: events of several nodes, and their clocks. */
#ifndef BEAMTOP_MODEL_SPANS_JOIN_H
#define BEAMTOP_MODEL_SPANS_JOIN_H

#include "internal.h"

/* A capture that is joined; the first one is that which the others go to. */
struct party {
    const struct spans *spans;
    int64_t since; /* its first event */
    double slope;  /* ns a second that its clock is faster than the first one's */
    bool sloped;   /* that is settled */
    double ahead;  /* of the first one's clock, at `since` */
    double within; /* that may be wrong by so much; negative: the bounds contradict */
    bool placed;   /* both are settled */
};

/* A message between two of them, by their clocks. */
struct passed {
    uint32_t from, to;
    int64_t sent, taken;
};

/* Finds how the clocks of all parties stand to that of the first. known: bounds of each of the
 * others that do not come from messages. */
void join_clocks(struct party *parties, size_t n, const struct passed *messages, size_t n_messages,
                 const struct spans_joined *known);
/* A time of a party, by the first one's clock. */
int64_t join_time(const struct party *p, int64_t at);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The header's lines of several nodes: sums, and how far apart the nodes are. */
#ifndef BEAMTOP_UI_SCREEN_HEADER_NODES_H
#define BEAMTOP_UI_SCREEN_HEADER_NODES_H

#include "beamtop/model/detail.h"
#include "beamtop/ui/header.h"

/* NULL: the header is of one node. */
const struct table_detail *header_nodes(const struct model *m, const struct header_state *state);

/* Each is in one of these. */
struct nodes_counts {
    int64_t answer, connecting, silent;
    int64_t recorded;  /* and read: the others of a directory are silent */
    double cost_share; /* the most that one of them costs; NaN: unknown */
};
void header_count_nodes(struct nodes_counts *out, const struct table_detail *nodes);

/* Below the first line, of those that answer. */
void header_draw_nodes(const struct table_detail *nodes, struct canvas *c, struct rect r);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of several nodes see each other, made of the `links` of each: pairs and groups (mesh.c),
 * what one node has that others have not (mesh_nodes.c), what was otherwise before (mesh_seen.c),
 * all pairs as signs (mesh_matrix.c), Mnesia (mesh_mnesia.c), Raft groups (mesh_raft.c).
 * Pure but for is_odd of the members and what the fleet has seen. Nothing of one node is sent to
 * another. */
#ifndef BEAMTOP_APP_FLEET_MESH_H
#define BEAMTOP_APP_FLEET_MESH_H

#include "beamtop/base/arena.h"
#include "beamtop/model/detail.h"
#include "fleet_internal.h"

#define MESH_ROWS 2000 /* of the answer; what is odd first */

/* In the order of the rows of one level. */
enum mesh_kind {
    MESH_PARTITION,
    MESH_MNESIA,
    MESH_NO_MAJORITY,
    MESH_NO_LEADER,
    MESH_LEADERS,
    MESH_MEMBERS,
    MESH_ONE_SIDED,
    MESH_FLAPPING,
    MESH_RESTARTS,
    MESH_BUSY,
    MESH_MISSING,
    MESH_RELEASE,
    MESH_SETTING,
    MESH_UNLIKE,
    MESH_UNKNOWN,
    MESH_HIDDEN,
    MESH_OUTSIDE,
    MESH_LINK,
};
enum mesh_level { MESH_FIX, MESH_CHECK, MESH_INFO, MESH_FINE };

struct mesh_node {
    struct member *member;
    size_t place;                  /* in the fleet */
    uint64_t life;                 /* another one after each start; 0: unknown */
    struct slice name;             /* as it says itself, now or before, else as it was given */
    const struct links_row *self;  /* NULL: it does not answer; borrowed of its model */
    const struct links_row *links; /* connected ones, then known ones, each by name */
    size_t n_connected, n;
    bool may_be_hidden; /* no connection is visible: it is connected to those that it has chosen */
    size_t group; /* of nodes that are connected, also by others: the place of its first one */
};

/* A connection of a node to one that does not answer, or was not named. */
struct mesh_other {
    const struct links_row *link;
    size_t node;
    bool is_named;
};

struct mesh_made {
    enum mesh_level level;
    enum mesh_kind kind;
    struct slice node, peer, note;
    const char *about;                         /* what is compared, or the Raft group; else NULL */
    const struct links_row *of_peer, *of_node; /* what node says of peer, and the other way */
    size_t reconnects;                         /* 0: none was seen */
};

struct mesh {
    struct arena arena;
    struct mesh_seen *seen; /* the fleet's */
    uint64_t now_ms;        /* of the newest answer of all */
    struct mesh_node *nodes;
    size_t n;
    double apart_ms;           /* answers that are further apart may differ without a fault */
    struct mesh_other *others; /* by their names */
    size_t n_others;
    struct mesh_made *rows;
    size_t n_rows;
    char *signs; /* n * n: of a node's row each other one */
    bool is_cut;
};

void mesh_add(struct mesh *x, const struct mesh_made *row); /* copies it; there are limits */
/* Settings and releases of each node that differ, and nodes with much more load, memory or longer
 * queues than the others. */
void mesh_compare_nodes(struct mesh *x);
/* What earlier answers have said, with room for n members; NULL: nothing yet. */
struct mesh_seen *mesh_seen_of(struct mesh_seen *seen, size_t n);
/* Both have answered: what the links have become since the answers before. True: they flap. */
bool mesh_compare_before(struct mesh *x, struct mesh_made *row, const struct mesh_node *a,
                         const struct mesh_node *b);
/* NULL: it does not know that name. */
const struct links_row *mesh_find_link(const struct mesh_node *of, struct slice name);
/* Nodes on which Mnesia runs, and which others count as down. */
void mesh_compare_mnesia(struct mesh *x);
/* Raft groups without a leader, whose members name several, or are not connected. */
void mesh_find_raft(struct mesh *x);
/* Nodes that were started again and again. */
void mesh_find_restarts(struct mesh *x);
/* mesh_matrix.c: what the row of a pair says, as a sign each way. */
void mesh_sign_pair(struct mesh *x, const struct mesh_made *row, const struct mesh_node *a,
                    const struct mesh_node *b, bool flaps);
struct builder *mesh_build_matrix(const struct mesh *x);

/* The answers of `mesh` and `matrix`, with their version bytes. The caller frees them. */
struct builder *mesh_build(struct fleet *f, struct builder **matrix);

#endif

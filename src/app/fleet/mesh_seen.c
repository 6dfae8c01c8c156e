/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links and nodes that come and go. A link is of another connection after each time that it was
 * lost; where a node was started again in between, its life says so, and that counts as a start. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "mesh.h"

#define WINDOW_MS 600000u
#define OFTEN 3  /* times in it: a finding */
#define TIMES 16 /* kept of each */
#define TEXT(slice) (int)(slice).len, (slice).s

struct times {
    uint64_t ms[TIMES]; /* a ring */
    size_t n;
};

struct seen_link {
    int64_t connection;
    uint64_t peer_life;  /* 0: it was not seen yet */
    struct times *again; /* NULL: it has not come again */
};

struct seen_node {
    uint64_t life;
    struct times starts;
    struct seen_link *links; /* by places in the fleet */
    size_t n;
};

struct mesh_seen {
    struct seen_node *nodes; /* by places in the fleet */
    size_t n;
};

/* ---- what is kept */

static void clear_links(struct seen_node *node)
{
    for (size_t i = 0; i < node->n; i++)
        free(node->links[i].again);
    free(node->links);
    node->links = NULL;
    node->n = 0;
}

void mesh_seen_free(struct mesh_seen *seen)
{
    for (size_t i = 0; seen && i < seen->n; i++)
        clear_links(&seen->nodes[i]);
    if (seen)
        free(seen->nodes);
    free(seen);
}

struct mesh_seen *mesh_seen_of(struct mesh_seen *seen, size_t n)
{
    struct mesh_seen *of = seen ? seen : alloc_zero(1, sizeof *of);
    if (n > of->n) {
        of->nodes = alloc_resize(of->nodes, n, sizeof *of->nodes);
        memset(of->nodes + of->n, 0, (n - of->n) * sizeof *of->nodes);
        of->n = n;
    }
    return of;
}

static struct seen_link *find_seen(const struct mesh *x, const struct mesh_node *from,
                                   const struct mesh_node *to)
{
    struct seen_node *node = &x->seen->nodes[from->place];
    if (node->n < x->seen->n) {
        node->links = alloc_resize(node->links, x->seen->n, sizeof *node->links);
        memset(node->links + node->n, 0, (x->seen->n - node->n) * sizeof *node->links);
        node->n = x->seen->n;
    }
    return &node->links[to->place];
}

static void add_time(struct times *t, uint64_t ms)
{
    t->ms[t->n++ % TIMES] = ms;
}

static size_t count_times(const struct times *t, uint64_t now_ms)
{
    size_t n = 0;
    for (size_t i = 0; t && i < TIMES && i < t->n; i++)
        n += t->ms[i] + WINDOW_MS >= now_ms;
    return n;
}

/* ---- one look */

/* The other must have answered since: else it may have been started again, and the loss of
 * beamtop's connection to it is still on its way. */
static void see_link(const struct mesh *x, const struct mesh_node *from, const struct mesh_node *to,
                     const struct links_row *link)
{
    if (!link || link->connection < 0 || !slice_is(link->state, "up") || from->life == 0 ||
        to->life == 0 || to->member->heard_ms < from->member->links_ms)
        return;
    struct seen_link *seen = find_seen(x, from, to);
    if (seen->peer_life != 0 && seen->connection == link->connection)
        return;
    if (seen->peer_life == to->life) {
        if (!seen->again)
            seen->again = alloc_zero(1, sizeof *seen->again);
        add_time(seen->again, from->member->links_ms);
    }
    seen->connection = link->connection;
    seen->peer_life = to->life;
}

bool mesh_compare_before(struct mesh *x, struct mesh_made *row, const struct mesh_node *a,
                         const struct mesh_node *b)
{
    see_link(x, a, b, row->of_peer);
    see_link(x, b, a, row->of_node);
    const size_t ab = count_times(find_seen(x, a, b)->again, x->now_ms);
    const size_t ba = count_times(find_seen(x, b, a)->again, x->now_ms);
    const struct mesh_node *says = ab >= ba ? a : b;
    row->reconnects = ab >= ba ? ab : ba;
    if (row->reconnects > 0)
        a->member->is_odd = b->member->is_odd = true;
    if (row->reconnects < OFTEN)
        return false;
    struct mesh_made flapping = *row;
    flapping.kind = MESH_FLAPPING;
    flapping.level = MESH_CHECK;
    flapping.note = slice_of(arena_printf(
        &x->arena,
        "connected again at least %zu times in 10 min, as %.*s says; restarts are not counted",
        flapping.reconnects, TEXT(says->name)));
    mesh_add(x, &flapping);
    return true;
}

/* The first life that is known was no start. */
void mesh_find_restarts(struct mesh *x)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct mesh_node *node = &x->nodes[i];
        struct seen_node *seen = &x->seen->nodes[node->place];
        if (node->life != 0 && node->life != seen->life) {
            if (seen->life >> 32 != node->life >> 32)
                seen->starts.n = 0;
            else
                add_time(&seen->starts, node->member->links_ms);
            clear_links(seen);
            seen->life = node->life;
        }
        const size_t n = count_times(&seen->starts, x->now_ms);
        const struct mesh_made row = {
            .level = MESH_CHECK,
            .kind = MESH_RESTARTS,
            .node = node->name,
            .note = slice_of(arena_printf(
                &x->arena, "started again at least %zu times in 10 min, or its distribution was",
                n))};
        if (n >= OFTEN)
            mesh_add(x, &row);
    }
}

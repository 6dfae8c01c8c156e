/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mnesia across nodes: one on which it runs, and which another one counts as down. */
#include <string.h>

#include "mesh.h"

#define TEXT(slice) (int)(slice).len, (slice).s

/* NULL: it does not run there, or that is unknown. */
static const struct mnesia_row *running_on(const struct mesh_node *node)
{
    return node->self && node->member->mnesia_since_ms > 0 ? mesh_mnesia_of(node->member) : NULL;
}

const struct mnesia_row *mesh_mnesia_of(const struct member *m)
{
    const struct table_detail *table = m->mnesia_ms > 0 ? model_mnesia(m->model) : NULL;
    const struct mnesia_row *row = table && table->n_rows > 0 ? table->rows : NULL;
    return row && slice_is(row->status, "running") ? row : NULL;
}

/* Names, with a space between. */
static bool is_listed(struct slice names, struct slice name)
{
    for (size_t from = 0, to; from < names.len; from = to + 1) {
        for (to = from; to < names.len && names.s[to] != ' ';)
            to++;
        if (slice_equal((struct slice){names.s + from, to - from}, name))
            return true;
    }
    return false;
}

/* It has said what it counts since Mnesia was seen to run on the other. */
static bool is_newer(const struct mesh_node *node, const struct mesh_node *than)
{
    return node->member->mnesia_ms >= than->member->mnesia_since_ms;
}

static void compare_two(struct mesh *x, const struct mesh_node *a, const struct mnesia_row *of_a,
                        const struct mesh_node *b, const struct mnesia_row *of_b)
{
    const bool ab = is_listed(of_a->down_nodes, b->name), ba = is_listed(of_b->down_nodes, a->name);
    const struct mesh_node *says = ab ? a : b, *other = ab ? b : a;
    struct mesh_made row = {.level = MESH_FIX,
                            .kind = MESH_MNESIA,
                            .node = a->name,
                            .peer = b->name,
                            .of_peer = mesh_find_link(a, b->name),
                            .of_node = mesh_find_link(b, a->name)};
    if (!(ab && is_newer(a, b)) && !(ba && is_newer(b, a)))
        return;
    row.note = slice_of(
        ab && ba ? arena_printf(&x->arena, "Mnesia runs on both, and each counts the other as down")
                 : arena_printf(
                       &x->arena,
                       "Mnesia runs on both; %.*s counts %.*s as down, which does not count it so",
                       TEXT(says->name), TEXT(other->name)));
    mesh_add(x, &row);
}

void mesh_compare_mnesia(struct mesh *x)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct mnesia_row *of_a = running_on(&x->nodes[i]);
        for (size_t k = i + 1; of_a && k < x->n; k++) {
            const struct mnesia_row *of_b = running_on(&x->nodes[k]);
            if (of_b && (of_a->down_nodes.len > 0 || of_b->down_nodes.len > 0))
                compare_two(x, &x->nodes[i], of_a, &x->nodes[k], of_b);
        }
    }
}

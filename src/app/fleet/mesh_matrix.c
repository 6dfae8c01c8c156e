/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All pairs of some nodes as signs, a row each: the answer of `matrix`. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/etf/build.h"
#include "mesh.h"

static bool is_up(const struct links_row *l)
{
    return l && slice_is(l->state, "up");
}

/* Of one node's row. Where one side is older than the other nothing is known. */
static char sign_of(const struct mesh_made *row, bool flaps, const struct links_row *says)
{
    switch (row->kind) {
    case MESH_ONE_SIDED:
        return row->level == MESH_INFO ? '?' : is_up(says) ? '>' : '<';
    case MESH_MISSING:
        return '-';
    case MESH_BUSY:
        return says && says->busy ? '#' : 'o';
    case MESH_HIDDEN:
        return flaps ? '~' : 'h';
    default:
        return flaps ? '~' : 'o';
    }
}

void mesh_sign_pair(struct mesh *x, const struct mesh_made *row, const struct mesh_node *a,
                    const struct mesh_node *b, bool flaps)
{
    const size_t i = (size_t)(a - x->nodes), k = (size_t)(b - x->nodes);
    x->signs[i * x->n + k] = sign_of(row, flaps, row->of_peer);
    x->signs[k * x->n + i] = sign_of(row, flaps, row->of_node);
}

/* Of more than have room those that stand out, then the first others; in their order. */
static size_t choose_nodes(const struct mesh *x, size_t *out)
{
    size_t odd = 0, others = 0, n = 0;
    for (size_t i = 0; i < x->n; i++)
        odd += x->nodes[i].member->is_odd;
    odd = odd < MATRIX_NODES ? odd : MATRIX_NODES;
    others = MATRIX_NODES - odd;
    for (size_t i = 0; i < x->n; i++) {
        size_t *left = x->nodes[i].member->is_odd ? &odd : &others;
        if (*left == 0)
            continue;
        (*left)--;
        out[n++] = i;
    }
    return n;
}

static void build_signs(struct builder *b, const struct mesh *x, const size_t *of, size_t n,
                        size_t row)
{
    char signs[MATRIX_NODES];
    for (size_t k = 0; k < n; k++) {
        const char sign = x->signs[of[row] * x->n + of[k]];
        signs[k] = sign ? sign : k == row ? '.' : '?';
    }
    build_tuple(b, 3);
    build_known_text(b, x->nodes[of[row]].name);
    build_int(b, (int64_t)row + 1);
    build_binary(b, signs, n);
}

struct builder *mesh_build_matrix(const struct mesh *x)
{
    size_t of[MATRIX_NODES];
    const size_t n = choose_nodes(x, of);
    struct builder *b = builder_new();
    build_tuple(b, 4);
    build_atom(b, "matrix");
    build_int(b, (int64_t)clock_mono_ns());
    if (n > 0)
        build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_signs(b, x, of, n, i);
    build_nil(b);
    build_bool(b, n < x->n);
    return b;
}

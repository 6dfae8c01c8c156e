/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raft groups of the library ra across nodes. Groups of one name are one where a node of it is
 * among the members that another one of it knows: two clusters may have groups of the same name. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "mesh.h"

#define SEATS_MOST 50000
#define NAMES 5 /* that a note lists */
#define TEXT(slice) (int)(slice).len, (slice).s

/* A group as one node has it. */
struct seat {
    const struct raft_row *row;
    const struct mesh_node *node;
    size_t group; /* the place of its first seat */
};

struct raft {
    struct mesh *mesh;
    struct seat *seats; /* by the group's name, then as the nodes are */
    size_t n;
};

static int order_seats(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    const int by_name = slice_order(x->row->group, y->row->group);
    return by_name ? by_name : (x->node > y->node) - (x->node < y->node);
}

static void add_seats(struct raft *r, const struct mesh_node *node)
{
    const struct member *m = node->member;
    const struct table_detail *table = m->raft_ms > 0 && node->self ? model_raft(m->model) : NULL;
    const struct raft_row *rows = table ? table->rows : NULL;
    for (size_t i = 0; table && i < table->n_rows && r->n < SEATS_MOST; i++) {
        r->seats = alloc_grow(r->seats, r->n, sizeof *r->seats);
        r->seats[r->n++] = (struct seat){.row = &rows[i], .node = node};
    }
    r->mesh->is_cut = r->mesh->is_cut || r->n == SEATS_MOST || (table && table->partial);
}

/* The next of names with a space between; false: there is none. */
static bool next_name(struct slice *names, struct slice *name)
{
    const char *space = names->len > 0 ? memchr(names->s, ' ', names->len) : NULL;
    const size_t len = space ? (size_t)(space - names->s) : names->len;
    *name = (struct slice){names->s, len};
    *names = space ? (struct slice){space + 1, names->len - len - 1} : (struct slice){"", 0};
    return len > 0;
}

static bool has_member(const struct seat *s, struct slice node)
{
    struct slice names = s->row->nodes, name;
    while (next_name(&names, &name))
        if (slice_equal(name, node))
            return true;
    return false;
}

static bool are_one_group(const struct seat *a, const struct seat *b)
{
    return slice_equal(a->row->group, b->row->group) &&
           (has_member(a, b->node->name) || has_member(b, a->node->name));
}

/* Each seat that is none of an earlier group begins one. */
static void find_groups(struct raft *r)
{
    if (r->n > 0)
        qsort(r->seats, r->n, sizeof *r->seats, order_seats);
    for (size_t i = 0; i < r->n; i++)
        r->seats[i].group = i;
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = i + 1; r->seats[i].group == i && k < r->n &&
                               slice_equal(r->seats[k].row->group, r->seats[i].row->group);
             k++)
            if (r->seats[k].group == k && are_one_group(&r->seats[i], &r->seats[k]))
                r->seats[k].group = i;
}

/* ---- leaders */

static bool has_leader(const struct seat *s)
{
    return !slice_is(s->row->leader_node, "none");
}

/* In two looks or more. */
static bool is_settled(const struct seat *s)
{
    return s->row->leader_s > 0;
}

static void put_name(struct buf *text, struct slice name, size_t n)
{
    if (n < NAMES)
        buf_printf(text, "%s%.*s", n > 0 ? ", " : "", TEXT(name));
    else if (n == NAMES)
        buf_puts(text, ", …");
}

static void add_row(struct raft *r, enum mesh_level level, enum mesh_kind kind,
                    const struct seat *s, struct buf *note)
{
    struct arena *arena = &r->mesh->arena;
    const struct mesh_made row = {.level = level,
                                  .kind = kind,
                                  .node = s->node->name,
                                  .about = arena_printf(arena, " %.*s", TEXT(s->row->group)),
                                  .note = slice_of(arena_printf(arena, "%s", buf_cstr(note)))};
    mesh_add(r->mesh, &row);
}

static void say_no_leader(struct raft *r, const struct seat *first, size_t n)
{
    struct buf note;
    size_t named = 0;
    buf_init(&note, 0);
    buf_printf(&note, "Raft group %.*s has no leader, as %zu of its %lld nodes say: ",
               TEXT(first->row->group), n, (long long)first->row->members);
    for (const struct seat *s = first; named < n; s++)
        if (s->group == first->group)
            put_name(&note, s->node->name, named++);
    add_row(r, MESH_FIX, MESH_NO_LEADER, first, &note);
    buf_clear(&note);
}

static void say_leaders(struct raft *r, const struct seat *first, const struct seat *end)
{
    struct buf note;
    size_t n = 0;
    buf_init(&note, 0);
    buf_printf(&note, "nodes of Raft group %.*s name different leaders: ", TEXT(first->row->group));
    for (const struct seat *s = first; s < end; s++)
        if (s->group == first->group && is_settled(s)) {
            put_name(&note, s->node->name, n);
            if (n++ < NAMES)
                buf_printf(&note, " says %.*s", TEXT(s->row->leader_node));
        }
    add_row(r, MESH_CHECK, MESH_LEADERS, first, &note);
    buf_clear(&note);
}

static void judge_group(struct raft *r, size_t at)
{
    const struct seat *first = &r->seats[at], *end = r->seats + r->n, *settled = NULL;
    size_t n = 0, without = 0;
    bool differ = false;
    for (const struct seat *s = first; s < end && slice_equal(s->row->group, first->row->group);
         s++) {
        if (s->group != at)
            continue;
        n++;
        without += is_settled(s) && !has_leader(s);
        if (is_settled(s) && settled)
            differ = differ || !slice_equal(s->row->leader_node, settled->row->leader_node);
        settled = is_settled(s) ? s : settled;
    }
    if (without == n)
        say_no_leader(r, first, n);
    else if (differ)
        say_leaders(r, first, end);
}

/* ---- members that are not connected */

/* What several seats, or groups, have in common: a row for all of them. */
struct absence {
    struct slice node;       /* that is missed; of a lost majority: that of `says` */
    const struct seat *says; /* first */
    size_t times;
};

struct absences {
    struct absence *all;
    size_t n;
};

static void note_absent(struct absences *a, struct slice node, const struct seat *s)
{
    for (size_t i = 0; i < a->n; i++)
        if (slice_equal(a->all[i].node, node)) {
            a->all[i].times++;
            return;
        }
    a->all = alloc_grow(a->all, a->n, sizeof *a->all);
    a->all[a->n++] = (struct absence){node, s, 1};
}

static bool is_connected(const struct mesh_node *node, struct slice to)
{
    const struct links_row *link = mesh_find_link(node, to);
    return link && slice_is(link->state, "up");
}

static void note_absent_of(struct absences *a, const struct seat *s)
{
    struct slice names = s->row->nodes, name;
    while (next_name(&names, &name))
        if (!slice_equal(name, s->node->name) && !is_connected(s->node, name))
            note_absent(a, name, s);
}

static void say_absent(struct raft *r, const struct absence *a)
{
    struct arena *arena = &r->mesh->arena;
    const struct mesh_node *node = a->says->node;
    struct mesh_made row = {.level = MESH_CHECK,
                            .kind = MESH_MEMBERS,
                            .node = node->name,
                            .peer = a->node,
                            .of_peer = mesh_find_link(node, a->node)};
    row.note = slice_of(
        arena_printf(arena, "Raft group %.*s has a member on %.*s, to which %.*s is not connected",
                     TEXT(a->says->row->group), TEXT(a->node), TEXT(node->name)));
    if (a->times > 1)
        row.note =
            slice_of(arena_printf(arena, "%.*s; so have %zu more, as this and other nodes say",
                                  TEXT(row.note), a->times - 1));
    mesh_add(r->mesh, &row);
}

/* ---- majorities */

/* Members that the node reaches, with its server; 0: not all are known, or it runs none. */
static size_t count_reached(const struct seat *s)
{
    struct slice names = s->row->nodes, name;
    size_t reached = 0;
    int64_t listed = 0;
    for (; next_name(&names, &name); listed++)
        reached += slice_equal(name, s->node->name) || is_connected(s->node, name);
    return listed == s->row->members && s->row->state.len > 0 && has_member(s, s->node->name)
               ? reached
               : 0;
}

/* A leader that loses its followers stays leader: only connections show it. */
static void note_no_majority(const struct raft *r, struct absences *a, size_t at)
{
    const struct seat *first = &r->seats[at], *end = r->seats + r->n, *says = NULL;
    for (const struct seat *s = first; s < end && slice_equal(s->row->group, first->row->group);
         s++) {
        const size_t reached = s->group == at ? count_reached(s) : 0;
        if (reached > 0 && 2 * (int64_t)reached > s->row->members)
            return;
        if (reached > 0 && !says)
            says = s;
    }
    if (says)
        note_absent(a, says->node->name, says);
}

static void say_no_majority(struct raft *r, const struct absence *a)
{
    struct arena *arena = &r->mesh->arena;
    struct mesh_made row = {
        .level = MESH_FIX, .kind = MESH_NO_MAJORITY, .node = a->says->node->name};
    row.note = slice_of(
        arena_printf(arena, "Raft group %.*s has no majority: %.*s reaches %zu of its %lld members",
                     TEXT(a->says->row->group), TEXT(row.node), count_reached(a->says),
                     (long long)a->says->row->members));
    if (a->times > 1)
        row.note = slice_of(
            arena_printf(arena, "%.*s; nor have %zu more groups", TEXT(row.note), a->times - 1));
    mesh_add(r->mesh, &row);
}

void mesh_find_raft(struct mesh *x)
{
    struct raft r = {.mesh = x};
    struct absences absent = {0}, minor = {0};
    for (size_t i = 0; i < x->n; i++)
        add_seats(&r, &x->nodes[i]);
    find_groups(&r);
    for (size_t i = 0; i < r.n; i++) {
        if (r.seats[i].group == i) {
            judge_group(&r, i);
            note_no_majority(&r, &minor, i);
        }
        note_absent_of(&absent, &r.seats[i]);
    }
    for (size_t i = 0; i < minor.n; i++)
        say_no_majority(&r, &minor.all[i]);
    for (size_t i = 0; i < absent.n; i++)
        say_absent(&r, &absent.all[i]);
    free(minor.all);
    free(absent.all);
    free(r.seats);
}

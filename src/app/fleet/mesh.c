/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/build.h"

#define KEPT 5000     /* rows, and as many of what is odd */
#define NAMES 5       /* that a note lists */
#define OUTSIDE 200   /* nodes that were not named */
#define OTHERS 200000 /* connections to those, and to nodes that do not answer */
#define TEXT(slice) (int)(slice).len, (slice).s

/* ---- what a node says */

static int compare_name(const void *key, const void *row)
{
    return slice_order(*(const struct slice *)key, ((const struct links_row *)row)->node);
}

const struct links_row *mesh_find_link(const struct mesh_node *of, struct slice name)
{
    const struct links_row *found =
        bsearch(&name, of->links, of->n_connected, sizeof *of->links, compare_name);
    return found ? found
                 : bsearch(&name, of->links + of->n_connected, of->n - of->n_connected,
                           sizeof *of->links, compare_name);
}

static bool is_up(const struct links_row *l)
{
    return l && !slice_is(l->how, "known") && slice_is(l->state, "up");
}

/* Of one that does not answer: as it said itself before, else its full name, as far as it is known.
 */
static struct slice name_of(const struct member *m)
{
    const struct node_info *info = m->was_up ? model_node(m->model) : NULL;
    return info && info->name.len > 0    ? info->name
           : strchr(m->target.name, '@') ? slice_of(m->target.name)
                                         : slice_of(m->name);
}

static void read_node(struct mesh_node *node, struct member *m)
{
    const struct table_detail *table = m->links_ms > 0 ? model_links(m->model) : NULL;
    const struct links_row *rows = table ? table->rows : NULL;
    const char *text;
    const bool answers = m->state == MEMBER_UP && model_link(m->model, &text) != LINK_STALE &&
                         rows && table->n_rows > 0;
    *node = (struct mesh_node){.member = m, .name = name_of(m)};
    m->is_odd = false;
    if (!answers || !slice_is(rows[0].how, "self"))
        return;
    node->life = m->life == 0 ? 0 : (uint64_t)m->number << 32 | m->life;
    node->self = rows;
    node->name = rows[0].node;
    node->links = rows + 1;
    node->n = table->n_rows - 1;
    node->may_be_hidden = node->n > 0 && slice_is(node->links[0].how, "hidden");
    while (node->n_connected < node->n && !slice_is(node->links[node->n_connected].how, "known"))
        if (!slice_is(node->links[node->n_connected++].how, "hidden"))
            node->may_be_hidden = false;
}

void mesh_add(struct mesh *x, const struct mesh_made *row)
{
    const size_t most = row->level < MESH_INFO ? 2 * KEPT : KEPT;
    x->is_cut = x->is_cut || x->n_rows >= most;
    if (x->n_rows >= most)
        return;
    x->rows = alloc_grow(x->rows, x->n_rows, sizeof *x->rows);
    x->rows[x->n_rows++] = *row;
}

/* ---- connections to nodes that do not answer, or were not named */

static int order_nodes(const void *a, const void *b)
{
    return slice_order((*(const struct mesh_node *const *)a)->name,
                       (*(const struct mesh_node *const *)b)->name);
}

static int compare_node(const void *name, const void *node)
{
    return slice_order(*(const struct slice *)name, (*(const struct mesh_node *const *)node)->name);
}

static int order_others(const void *a, const void *b)
{
    return slice_order(((const struct mesh_other *)a)->link->node,
                       ((const struct mesh_other *)b)->link->node);
}

static void add_other(struct mesh *x, size_t node, const struct links_row *link,
                      const struct mesh_node *const *by_name)
{
    const struct mesh_node *const *found =
        bsearch(&link->node, by_name, x->n, sizeof(struct mesh_node *), compare_node);
    if (!is_up(link) || (found && (*found)->self))
        return;
    x->is_cut = x->is_cut || x->n_others == OTHERS;
    if (x->n_others == OTHERS)
        return;
    x->others = alloc_grow(x->others, x->n_others, sizeof *x->others);
    x->others[x->n_others++] = (struct mesh_other){link, node, found != NULL};
}

/* By their names. */
static void list_others(struct mesh *x)
{
    const struct mesh_node **by_name = alloc_zero(x->n + 1, sizeof(struct mesh_node *));
    for (size_t i = 0; i < x->n; i++)
        by_name[i] = &x->nodes[i];
    qsort(by_name, x->n, sizeof(struct mesh_node *), order_nodes);
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < x->nodes[i].n_connected; k++)
            add_other(x, i, &x->nodes[i].links[k], by_name);
    free(by_name);
    if (x->n_others > 0)
        qsort(x->others, x->n_others, sizeof *x->others, order_others);
}

/* ---- groups of nodes that are connected */

static void join_groups(struct mesh *x, size_t a, size_t b)
{
    const size_t from =
        x->nodes[a].group > x->nodes[b].group ? x->nodes[a].group : x->nodes[b].group;
    const size_t to = x->nodes[a].group + x->nodes[b].group - from;
    for (size_t i = 0; from != to && i < x->n; i++)
        if (x->nodes[i].group == from)
            x->nodes[i].group = to;
}

static void find_groups(struct mesh *x)
{
    for (size_t i = 0; i < x->n; i++)
        x->nodes[i].group = i;
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < i; k++)
            if (x->nodes[i].self && x->nodes[k].self &&
                (is_up(mesh_find_link(&x->nodes[i], x->nodes[k].name)) ||
                 is_up(mesh_find_link(&x->nodes[k], x->nodes[i].name))))
                join_groups(x, i, k);
    for (size_t i = 1; i < x->n_others; i++)
        if (slice_is(x->others[i].link->how, "visible") &&
            slice_is(x->others[i - 1].link->how, "visible") &&
            slice_equal(x->others[i].link->node, x->others[i - 1].link->node))
            join_groups(x, x->others[i].node, x->others[i - 1].node);
}

static size_t put_group(struct buf *text, const struct mesh *x, size_t group)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++)
        if (x->nodes[i].self && x->nodes[i].group == group && n++ < NAMES)
            buf_printf(text, "%s%.*s", n > 1 ? ", " : "", TEXT(x->nodes[i].name));
    if (n > NAMES)
        buf_printf(text, " and %zu more", n - NAMES);
    return n;
}

/* They have heard of each other, so it was otherwise. */
static bool knew_others(const struct mesh *x)
{
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; x->nodes[i].self && k < x->n; k++)
            if (x->nodes[k].self && x->nodes[k].group != x->nodes[i].group &&
                mesh_find_link(&x->nodes[i], x->nodes[k].name))
                return true;
    return false;
}

static void find_partition(struct mesh *x)
{
    struct buf names;
    size_t groups = 0, largest = 0;
    struct mesh_made row = {.kind = MESH_PARTITION};
    buf_init(&names, 0);
    for (size_t i = 0; i < x->n; i++) {
        if (!x->nodes[i].self || x->nodes[i].group != i)
            continue;
        if (++groups <= 2)
            *(groups == 1 ? &row.node : &row.peer) = x->nodes[i].name;
        if (groups <= NAMES)
            buf_puts(&names, groups > 1 ? " | " : "");
        const size_t n = groups <= NAMES ? put_group(&names, x, i) : 1;
        largest = n > largest ? n : largest;
    }
    const bool knew = groups > 1 && knew_others(x);
    if (groups > 1 && (knew || largest > 1)) {
        row.level = knew ? MESH_FIX : MESH_INFO;
        row.note = slice_of(arena_printf(&x->arena, "%zu groups apart%s: %s", groups,
                                         knew ? "" : ", unknown to each other", buf_cstr(&names)));
        mesh_add(x, &row);
    }
    buf_clear(&names);
}

/* ---- pairs */

static struct slice about_one_side(struct mesh *x, const struct mesh_node *sees,
                                   const struct mesh_node *other)
{
    return slice_of(arena_printf(&x->arena,
                                 "%.*s is connected to %.*s, which is not connected to "
                                 "it",
                                 TEXT(sees->name), TEXT(other->name)));
}

static struct slice about_busy(struct mesh *x, const struct mesh_node *from,
                               const struct mesh_node *to, const struct links_row *link)
{
    char queued[32], limit[32];
    return slice_of(arena_printf(
        &x->arena, "%.*s does not take what %.*s sends: %s queued; senders wait from %s on",
        TEXT(to->name), TEXT(from->name),
        text_bytes(queued, sizeof queued, (double)link->queue_bytes),
        text_bytes(limit, sizeof limit,
                   from->self->busy_limit_bytes >= 0 ? (double)from->self->busy_limit_bytes
                                                     : (double)NAN)));
}

static void judge_missing(struct mesh *x, struct mesh_made *row, const struct mesh_node *a,
                          const struct mesh_node *b)
{
    const struct mesh_node *knows = row->of_peer ? a : b, *other = row->of_peer ? b : a;
    const bool knew = row->of_peer || row->of_node;
    row->kind = MESH_MISSING;
    row->level = knew && a->group == b->group && !a->may_be_hidden && !b->may_be_hidden ? MESH_CHECK
                                                                                        : MESH_INFO;
    if (row->level == MESH_CHECK)
        row->note = slice_of(arena_printf(&x->arena,
                                          "%.*s knows %.*s and is not connected to it; by way of "
                                          "others both are connected",
                                          TEXT(knows->name), TEXT(other->name)));
}

/* One may have answered before the connection came or went: both are asked again. */
static bool are_at_one_time(const struct mesh *x, const struct mesh_node *a,
                            const struct mesh_node *b)
{
    return fabs((double)a->member->links_ms - (double)b->member->links_ms) <= x->apart_ms;
}

static void judge_pair(struct mesh *x, struct mesh_made *row, const struct mesh_node *a,
                       const struct mesh_node *b)
{
    const struct links_row *ab = row->of_peer, *ba = row->of_node;
    if (is_up(ab) != is_up(ba)) {
        row->level = are_at_one_time(x, a, b) ? MESH_CHECK : MESH_INFO;
        row->kind = MESH_ONE_SIDED;
        row->note = about_one_side(x, is_up(ab) ? a : b, is_up(ab) ? b : a);
    } else if (!is_up(ab)) {
        judge_missing(x, row, a, b);
    } else if (ab->busy || ba->busy) {
        row->level = MESH_CHECK;
        row->kind = MESH_BUSY;
        row->note = ab->busy ? about_busy(x, a, b, ab) : about_busy(x, b, a, ba);
    } else if (slice_is(ab->how, "hidden") || slice_is(ba->how, "hidden")) {
        row->level = MESH_INFO;
        row->kind = MESH_HIDDEN;
    }
}

static void add_pair(struct mesh *x, struct mesh_node *a, struct mesh_node *b)
{
    struct mesh_made row = {.level = MESH_FINE,
                            .kind = MESH_LINK,
                            .node = a->name,
                            .peer = b->name,
                            .of_peer = mesh_find_link(a, b->name),
                            .of_node = mesh_find_link(b, a->name)};
    judge_pair(x, &row, a, b);
    const bool is_odd = row.level == MESH_CHECK || row.kind == MESH_ONE_SIDED;
    a->member->is_odd = a->member->is_odd || is_odd;
    b->member->is_odd = b->member->is_odd || is_odd;
    mesh_sign_pair(x, &row, a, b, mesh_compare_before(x, &row, a, b));
    mesh_add(x, &row);
}

static void add_silent(struct mesh *x, const struct mesh_node *silent, size_t answering)
{
    size_t seen = 0;
    for (size_t i = 0; i < x->n; i++)
        seen += x->nodes[i].self && is_up(mesh_find_link(&x->nodes[i], silent->name));
    const struct mesh_made row = {
        .level = MESH_INFO,
        .kind = MESH_UNKNOWN,
        .node = silent->name,
        .note = slice_of(arena_printf(&x->arena,
                                      "does not answer; %zu of the %zu that do are "
                                      "connected to it",
                                      seen, answering))};
    mesh_add(x, &row);
}

static void add_unread(struct mesh *x, const struct mesh_node *node)
{
    const struct mesh_made row = {
        .level = MESH_INFO,
        .kind = MESH_UNKNOWN,
        .node = node->name,
        .note = slice_of(arena_printf(&x->arena, "%s", node->member->unread_why))};
    mesh_add(x, &row);
}

static void find_silent(struct mesh *x, size_t answering)
{
    for (size_t i = 0; i < x->n; i++)
        if (!x->nodes[i].self)
            add_silent(x, &x->nodes[i], answering);
        else if (x->nodes[i].member->unread)
            add_unread(x, &x->nodes[i]);
}

static void compare_pairs(struct mesh *x)
{
    for (size_t i = 0; i < x->n; i++) {
        struct mesh_node *a = &x->nodes[i];
        for (size_t k = i + 1; a->self && k < x->n; k++)
            if (x->nodes[k].self && !slice_equal(a->name, x->nodes[k].name))
                add_pair(x, a, &x->nodes[k]);
    }
}

/* ---- nodes that were not named */

static void find_outsiders(struct mesh *x, size_t answering)
{
    size_t rows = 0;
    for (size_t i = 0, to; i < x->n_others; i = to) {
        const struct links_row *link = x->others[i].link;
        for (to = i; to < x->n_others && slice_equal(x->others[to].link->node, link->node);)
            to++;
        if (x->others[i].is_named)
            continue;
        x->is_cut = x->is_cut || rows == OUTSIDE;
        if (rows++ >= OUTSIDE)
            return;
        const struct mesh_made row = {
            .level = MESH_INFO,
            .kind = MESH_OUTSIDE,
            .node = link->node,
            .note = slice_of(arena_printf(&x->arena, "not named; %sconnected to %zu of %zu",
                                          slice_is(link->how, "hidden") ? "hidden, " : "", to - i,
                                          answering))};
        mesh_add(x, &row);
    }
}

/* ---- the answer */

static const char *const kinds[] = {
    [MESH_PARTITION] = "partition", [MESH_ONE_SIDED] = "one-sided",
    [MESH_BUSY] = "busy",           [MESH_MNESIA] = "mnesia",
    [MESH_FLAPPING] = "flapping",   [MESH_RESTARTS] = "restarts",
    [MESH_MISSING] = "missing",     [MESH_RELEASE] = "release",
    [MESH_SETTING] = "setting",     [MESH_UNLIKE] = "unlike",
    [MESH_UNKNOWN] = "unknown",     [MESH_HIDDEN] = "hidden",
    [MESH_OUTSIDE] = "outside",     [MESH_LINK] = "link",
    [MESH_NO_LEADER] = "no-leader", [MESH_LEADERS] = "leaders",
    [MESH_MEMBERS] = "members",     [MESH_NO_MAJORITY] = "no-majority",
};
static const char *const levels[] = {
    [MESH_FIX] = "fix", [MESH_CHECK] = "check", [MESH_INFO] = "info", [MESH_FINE] = ""};

static struct slice word_of(enum mesh_kind kind, const struct links_row *l)
{
    const bool is_pair = kind == MESH_MNESIA || kind == MESH_ONE_SIDED || kind == MESH_FLAPPING ||
                         kind == MESH_BUSY || kind == MESH_MISSING || kind == MESH_HIDDEN ||
                         kind == MESH_LINK;
    return !is_pair                    ? (struct slice){"", 0}
           : !l                        ? slice_of("none")
           : is_up(l)                  ? l->how
           : slice_is(l->how, "known") ? l->how
                                       : l->state;
}

static void build_id(struct builder *b, const struct mesh_made *row)
{
    struct buf id;
    buf_init(&id, 0);
    buf_printf(&id, "%s %.*s %.*s%s", kinds[row->kind], TEXT(row->node), TEXT(row->peer),
               row->about ? row->about : "");
    build_binary(b, id.data, id.len);
    buf_clear(&id);
}

static void build_row(struct builder *b, const struct mesh_made *row)
{
    const struct links_row *ab = row->of_peer, *ba = row->of_node;
    build_tuple(b, 13);
    build_id(b, row);
    build_known_text(b, row->node);
    build_known_text(b, row->peer);
    build_known_text(b, slice_of(levels[row->level]));
    build_known_text(b, slice_of(kinds[row->kind]));
    build_known_text(b, word_of(row->kind, ab));
    build_known_text(b, word_of(row->kind, ba));
    build_known_int(b, ab ? ab->queue_bytes : -1);
    build_known_int(b, ba ? ba->queue_bytes : -1);
    build_known_int(b, ab ? fleet_count_of(ab->out_per_s) : -1);
    build_known_int(b, ba ? fleet_count_of(ba->out_per_s) : -1);
    build_known_int(b, row->reconnects > 0 ? (int64_t)row->reconnects : -1);
    build_known_text(b, row->note);
}

static int order_rows(const void *a, const void *b)
{
    const struct mesh_made *x = a, *y = b;
    const int by_node = slice_order(x->node, y->node);
    return x->level != y->level ? (int)x->level - (int)y->level
           : x->kind != y->kind ? (int)x->kind - (int)y->kind
           : by_node            ? by_node
                                : slice_order(x->peer, y->peer);
}

static void make_rows(struct mesh *x, struct fleet *f)
{
    size_t answering = 0;
    x->nodes = alloc_zero(f->n + 1, sizeof *x->nodes);
    x->apart_ms = FLEET_ODD_LINKS_MS + 1000 * f->setup.interval_s;
    for (size_t i = 0; i < f->n; i++) {
        struct member *m = f->members[i];
        if (m->removed || m->resolves || m->is_twin)
            continue;
        read_node(&x->nodes[x->n], m);
        x->nodes[x->n].place = i;
        x->now_ms = m->heard_ms > x->now_ms ? m->heard_ms : x->now_ms;
        answering += x->nodes[x->n++].self != NULL;
    }
    list_others(x);
    find_groups(x);
    find_partition(x);
    find_silent(x, answering);
    find_outsiders(x, answering);
    mesh_compare_nodes(x);
    mesh_compare_mnesia(x);
    mesh_find_raft(x);
    mesh_find_restarts(x);
    x->signs = alloc_zero(x->n * x->n + 1, 1);
    compare_pairs(x); /* of many nodes there are more than have room */
    if (x->n_rows > 0)
        qsort(x->rows, x->n_rows, sizeof *x->rows, order_rows);
}

static bool names(const struct mesh_made *row, const struct mesh_node *node)
{
    return slice_equal(row->node, node->name) || slice_equal(row->peer, node->name);
}

/* Of each node how many rows that are odd name it. */
static void count_findings(struct mesh *x)
{
    for (size_t k = 0; k < x->n; k++)
        x->nodes[k].member->findings = x->nodes[k].self ? 0 : -1;
    for (size_t i = 0; i < x->n_rows; i++)
        for (size_t k = 0; x->rows[i].level <= MESH_CHECK && k < x->n; k++)
            if (x->nodes[k].self && names(&x->rows[i], &x->nodes[k]))
                x->nodes[k].member->findings++;
}

struct builder *mesh_build(struct fleet *f, struct builder **matrix)
{
    struct mesh x = {0};
    struct builder *b = builder_new();
    arena_init(&x.arena);
    f->seen = mesh_seen_of(f->seen, f->n);
    x.seen = f->seen;
    make_rows(&x, f);
    count_findings(&x);
    const size_t n = x.n_rows < MESH_ROWS ? x.n_rows : MESH_ROWS;
    build_tuple(b, 4);
    build_atom(b, "mesh");
    build_int(b, (int64_t)clock_mono_ns());
    if (n > 0)
        build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_row(b, &x.rows[i]);
    build_nil(b);
    build_bool(b, n < x.n_rows || x.is_cut);
    *matrix = mesh_build_matrix(&x);
    arena_clear(&x.arena);
    free(x.signs);
    free(x.nodes);
    free(x.others);
    free(x.rows);
    return b;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"

/* While a VM corrects its clock, the monotonic one is up to 1% wrong (ERTS User's Guide, "Time and
 * Time Correction"). */
#define CORRECTION 100
#define CLOCK_MOST (INT64_C(1) << 60) /* ns: no VM's clock is beyond */
#define UNKNOWN_BOUND (INT64_MAX / 4)

struct merge {
    const struct node_clock *clocks;
    size_t nodes;
    int64_t *until_ns;         /* of each node: the latest that a line taken may have been */
    int64_t last_ns;           /* of the line taken last; both INT64_MIN: none was */
    struct merge_line **lines; /* in order of their arrival */
    size_t n, room;
    struct merge_line **ready; /* in their order, from next_ready on */
    size_t n_ready, next_ready;
    uint64_t number;
};

/* ---- clocks */

static bool is_sane(int64_t ns)
{
    return ns > -CLOCK_MOST && ns < CLOCK_MOST;
}

void node_clock_add(struct node_clock *c, const struct clock_round *round)
{
    if (is_sane(round->offset_ns) && is_sane(round->here_ns))
        c->rounds[c->n++ % CLOCK_ROUNDS] = *round;
}

static int64_t absolute(int64_t n)
{
    return n < 0 ? -n : n;
}

static int64_t node_time(const struct clock_round *round)
{
    return round->here_ns + round->offset_ns;
}

/* Between two rounds: on the line through both. It may bend anywhere between them. */
static void between_rounds(const struct clock_round *a, const struct clock_round *b,
                           int64_t node_ns, int64_t *here_ns, int64_t *bound_ns)
{
    const double all = (double)(node_time(b) - node_time(a));
    const double part = all > 0 ? (double)(node_ns - node_time(a)) / all : 0;
    const int64_t bent = b->offset_ns - a->offset_ns;
    *here_ns = node_ns - a->offset_ns - (int64_t)(part * (double)bent);
    *bound_ns = (a->bound_ns > b->bound_ns ? a->bound_ns : b->bound_ns) + absolute(bent);
}

/* Before the first round, or after the last. */
static void beside_round(const struct clock_round *round, int64_t node_ns, int64_t *here_ns,
                         int64_t *bound_ns)
{
    *here_ns = node_ns - round->offset_ns;
    *bound_ns = round->bound_ns + absolute(node_ns - node_time(round)) / CORRECTION;
}

bool node_clock_here(const struct node_clock *c, int64_t node_ns, int64_t *here_ns,
                     int64_t *bound_ns)
{
    const size_t kept = c->n < CLOCK_ROUNDS ? c->n : CLOCK_ROUNDS, first = c->n - kept;
    const struct clock_round *before = NULL, *after = NULL;
    for (size_t i = first; is_sane(node_ns) && i < c->n && !after; i++) {
        const struct clock_round *round = &c->rounds[i % CLOCK_ROUNDS];
        if (node_time(round) <= node_ns)
            before = round;
        else
            after = round;
    }
    if (before && after)
        between_rounds(before, after, node_ns, here_ns, bound_ns);
    else if (before || after)
        beside_round(before ? before : after, node_ns, here_ns, bound_ns);
    return before || after;
}

/* ---- lines */

struct merge *merge_new(const struct node_clock *clocks, size_t nodes)
{
    struct merge *m = alloc_zero(1, sizeof *m);
    m->clocks = clocks;
    m->nodes = nodes;
    m->until_ns = alloc_zero(nodes + 1, sizeof *m->until_ns);
    for (size_t i = 0; i < nodes; i++)
        m->until_ns[i] = INT64_MIN;
    m->last_ns = INT64_MIN;
    return m;
}

void merge_line_free(struct merge_line *line)
{
    if (line)
        arena_clear(&line->arena);
    free(line);
}

void merge_free(struct merge *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        merge_line_free(m->lines[i]);
    for (size_t i = m->next_ready; i < m->n_ready; i++)
        merge_line_free(m->ready[i]);
    free(m->lines);
    free(m->ready);
    free(m->until_ns);
    free(m);
}

void merge_add(struct merge *m, struct merge_line *line)
{
    line->number = m->number++;
    if (m->n == m->room) {
        m->room = m->room * 2 + 64;
        m->lines = alloc_resize(m->lines, m->room, sizeof(struct merge_line *));
    }
    m->lines[m->n++] = line;
}

size_t merge_len(const struct merge *m)
{
    return m->n + m->n_ready - m->next_ready;
}

/* Lines of one node keep their order, whatever its clock does: a clock that goes on puts them so.
 */
static int compare_lines(const void *a, const void *b)
{
    const struct merge_line *x = *(struct merge_line *const *)a,
                            *y = *(struct merge_line *const *)b;
    const int order = (x->here_ns > y->here_ns) - (x->here_ns < y->here_ns);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Of a node whose clock was never compared: when it came. */
static void place_line(const struct merge *m, struct merge_line *line)
{
    if (line->placed || node_clock_here(&m->clocks[line->node], line->line.mono_ns, &line->here_ns,
                                        &line->bound_ns))
        return;
    line->here_ns = line->arrived_ns;
    line->bound_ns = UNKNOWN_BOUND;
}

void merge_settle(struct merge *m, int64_t arrived_ns)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->lines[i]->arrived_ns > arrived_ns)
            continue;
        place_line(m, m->lines[i]);
        m->lines[i]->placed = true;
    }
}

/* Whether its order to what was taken is unknown, or wrong. */
static void compare_with_taken(struct merge *m, struct merge_line *line)
{
    const int64_t until_ns = line->here_ns + line->bound_ns;
    line->late = line->here_ns < m->last_ns;
    for (size_t i = 0; i < m->nodes; i++)
        line->same_time = line->same_time ||
                          (i != line->node && m->until_ns[i] >= line->here_ns - line->bound_ns);
    if (m->until_ns[line->node] < until_ns)
        m->until_ns[line->node] = until_ns;
    if (!line->late)
        m->last_ns = line->here_ns;
}

/* All that happened by then, in order. */
static void gather_ready(struct merge *m, int64_t by_ns)
{
    size_t kept = 0;
    m->ready = alloc_resize(m->ready, m->n + 1, sizeof(struct merge_line *));
    m->n_ready = m->next_ready = 0;
    for (size_t i = 0; i < m->n; i++) {
        place_line(m, m->lines[i]);
        if (m->lines[i]->here_ns <= by_ns)
            m->ready[m->n_ready++] = m->lines[i];
        else
            m->lines[kept++] = m->lines[i];
    }
    m->n = kept;
    qsort(m->ready, m->n_ready, sizeof(struct merge_line *), compare_lines);
}

struct merge_line *merge_take(struct merge *m, int64_t by_ns)
{
    if (m->next_ready == m->n_ready)
        gather_ready(m, by_ns);
    if (m->next_ready == m->n_ready)
        return NULL;
    struct merge_line *line = m->ready[m->next_ready++];
    compare_with_taken(m, line);
    return line;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one of several nodes has that the others have not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"
#include "mesh.h"

#define UNLIKE_OF 4 /* nodes, at least, of which one may be unlike the others */
#define TEXT(slice) (int)(slice).len, (slice).s

/* ---- settings: texts, the same on most */

static void put_release(struct buf *out, const struct mesh_node *node)
{
    const struct node_info *info = node->self ? model_node(node->member->model) : NULL;
    if (info && info->otp.len > 0)
        buf_printf(out, "%.*s", TEXT(info->otp));
}

static void put_tick(struct buf *out, const struct mesh_node *node)
{
    if (node->self && node->self->net_tick_s >= 0)
        buf_printf(out, "%lld s", (long long)node->self->net_tick_s);
}

static void put_overlap(struct buf *out, const struct mesh_node *node)
{
    if (node->self)
        buf_printf(out, "%.*s", TEXT(node->self->prevents_overlap));
}

static void put_limit(struct buf *out, const struct mesh_node *node)
{
    char limit[32];
    if (node->self && node->self->busy_limit_bytes >= 0)
        buf_puts(out, text_bytes(limit, sizeof limit, (double)node->self->busy_limit_bytes));
}

/* Hidden nodes have names of their own. */
static void put_names(struct buf *out, const struct mesh_node *node)
{
    if (node->self && node->n_connected > 0 && node->self->global_names >= 0)
        buf_printf(out, "%lld", (long long)node->self->global_names);
}

static void put_groups(struct buf *out, const struct mesh_node *node)
{
    if (node->self && node->n_connected > 0 && node->self->pg_groups >= 0)
        buf_printf(out, "%lld", (long long)node->self->pg_groups);
}

static const struct setting {
    const char *words;
    void (*put)(struct buf *out, const struct mesh_node *node);
    enum mesh_level level;
    enum mesh_kind kind;
} settings[] = {
    {"OTP release", put_release, MESH_CHECK, MESH_RELEASE},
    {"net tick", put_tick, MESH_CHECK, MESH_SETTING},
    {"prevents overlapping partitions", put_overlap, MESH_CHECK, MESH_SETTING},
    {"distribution buffer limit", put_limit, MESH_INFO, MESH_SETTING},
    {"names of global", put_names, MESH_INFO, MESH_SETTING},
    {"groups of pg", put_groups, MESH_INFO, MESH_SETTING},
};

/* values, sorted: room for the text of each. */
static void compare_setting(struct mesh *x, const struct setting *s, struct slice *values,
                            struct slice *sorted)
{
    struct slice common;
    struct buf text;
    size_t most, known = 0;
    buf_init(&text, 0);
    for (size_t i = 0; i < x->n; i++) {
        buf_reset(&text);
        s->put(&text, &x->nodes[i]);
        values[i] = slice_keep(&x->arena, (struct slice){(const char *)text.data, text.len});
        known += text.len > 0;
    }
    buf_clear(&text);
    memcpy(sorted, values, x->n * sizeof *sorted);
    (void)fleet_find_common(sorted, x->n, &common, &most);
    for (size_t i = 0; i < x->n; i++) {
        if (values[i].len == 0 || slice_equal(values[i], common))
            continue;
        const struct mesh_made row = {
            .level = s->level,
            .kind = s->kind,
            .about = s->words,
            .node = x->nodes[i].name,
            .note = slice_of(arena_printf(&x->arena, "%s %.*s; %.*s on %zu of %zu nodes", s->words,
                                          TEXT(values[i]), TEXT(common), most, known))};
        mesh_add(x, &row);
    }
}

/* ---- numbers: far from the median of the others */

static double read_load(const struct member *m)
{
    const struct system_sample *s = model_system(m->model);
    return s ? s->use_normal : (double)NAN;
}

static double read_memory(const struct member *m)
{
    const struct system_sample *s = model_system(m->model);
    return s ? s->memory_bytes[MEMORY_TOTAL] : (double)NAN;
}

static double read_queue(const struct member *m)
{
    uint64_t mono_ns;
    const struct proc_row *row = model_longest_queue(m->model, &mono_ns);
    return row && row->message_queue_len >= 0 ? (double)row->message_queue_len : (double)NAN;
}

/* It is unlike them where it is further from their median than three times what half of them lie
 * apart, and than `least` and `times` the median. */
static const struct measure {
    const char *words;
    double (*read)(const struct member *m);
    char *(*put)(char *out, size_t size, double value);
    double least, times;
    bool below; /* a small value is odd, too */
} measures[] = {
    {"scheduler utilisation", read_load, text_percent, 0.25, 0.5, true},
    {"memory", read_memory, text_bytes, 64.0 * 1024 * 1024, 1, false},
    {"longest message queue", read_queue, text_count, 1000, 9, false},
};

static int order_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The k-th of n in order, as if the one at `without` were not there. */
static double pick_other(const double *sorted, size_t without, size_t k)
{
    return sorted[k < without ? k : k + 1];
}

static bool is_unlike(const struct measure *m, double value, const double *sorted, size_t n,
                      double *median)
{
    size_t at = 0;
    while (at + 1 < n && sorted[at] < value)
        at++;
    const size_t others = n - 1;
    const double half = pick_other(sorted, at, others * 3 / 4) - pick_other(sorted, at, others / 4);
    *median = pick_other(sorted, at, others / 2);
    const double away = m->below ? fabs(value - *median) : value - *median;
    return away > 3 * half && away > m->least && away > m->times * *median;
}

static void compare_measure(struct mesh *x, const struct measure *m, double *values, double *sorted)
{
    char value[32], median[32];
    double of_others;
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        values[i] = x->nodes[i].self ? m->read(x->nodes[i].member) : (double)NAN;
        if (!isnan(values[i]))
            sorted[n++] = values[i];
    }
    qsort(sorted, n, sizeof *sorted, order_reals);
    for (size_t i = 0; n >= UNLIKE_OF && i < x->n; i++) {
        if (isnan(values[i]) || !is_unlike(m, values[i], sorted, n, &of_others))
            continue;
        const struct mesh_made row = {
            .level = MESH_CHECK,
            .kind = MESH_UNLIKE,
            .about = m->words,
            .node = x->nodes[i].name,
            .note = slice_of(arena_printf(&x->arena, "%s %s; median of the others %s", m->words,
                                          m->put(value, sizeof value, values[i]),
                                          m->put(median, sizeof median, of_others)))};
        mesh_add(x, &row);
    }
}

void mesh_compare_nodes(struct mesh *x)
{
    struct slice *texts = alloc_zero(2 * x->n + 1, sizeof *texts);
    double *values = alloc_zero(x->n + 1, sizeof *values);
    double *sorted = alloc_zero(x->n + 1, sizeof *sorted);
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        compare_setting(x, &settings[i], texts, texts + x->n);
    for (size_t i = 0; i < ARRAY_LEN(measures); i++)
        compare_measure(x, &measures[i], values, sorted);
    free(texts);
    free(values);
    free(sorted);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <math.h>

#include "beamtop/base/known.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/base/trend.h"

void history_init(struct history *h, size_t most)
{
    for (int i = 0; i < HISTORY_LINES; i++)
        ring_init(&h->lines[i], most);
}

void history_clear(struct history *h)
{
    for (int i = 0; i < HISTORY_LINES; i++)
        ring_clear(&h->lines[i]);
}

void history_gap(struct history *h)
{
    if (h->second == 0)
        return;
    for (int i = 0; i < HISTORY_LINES; i++)
        ring_push(&h->lines[i], NAN);
    h->second++;
    h->gap = true;
}

/* Extends the lines to this second with their last values. A gap stays a gap, however short. */
static void advance_history(struct history *h, uint64_t second)
{
    bool first = h->second == 0 || second < h->second;
    uint64_t passed = first ? 1 : second - h->second;
    passed = h->gap && passed == 0 ? 1 : passed > LIMIT_HISTORY ? LIMIT_HISTORY : passed;
    for (int i = 0; i < HISTORY_LINES; i++) {
        double last = first || h->gap ? NAN : ring_at(&h->lines[i], 0);
        for (uint64_t k = 0; k < passed; k++)
            ring_push(&h->lines[i], last);
    }
    h->second = second;
    h->gap = false;
}

/* Recordings ask for allocators once a minute. */
#define ALLOC_HOLDS_NS UINT64_C(120000000000)

void history_push(struct history *h, const struct system_sample *s,
                  const struct alloc_detail *alloc)
{
    bool holds = alloc && alloc->n_rows > 0 &&
                 s->mono_ns - alloc->mono_ns + ALLOC_HOLDS_NS < 2 * ALLOC_HOLDS_NS;
    const struct {
        enum history_line line;
        double value;
    } now[] = {
        {HISTORY_MEMORY_TOTAL, s->memory_bytes[MEMORY_TOTAL]},
        {HISTORY_MEMORY_PROCESSES, s->memory_bytes[MEMORY_PROCESSES]},
        {HISTORY_MEMORY_BINARY, s->memory_bytes[MEMORY_BINARY]},
        {HISTORY_MEMORY_ETS, s->memory_bytes[MEMORY_ETS]},
        {HISTORY_MEMORY_CODE, s->memory_bytes[MEMORY_CODE]},
        {HISTORY_MEMORY_ATOM, s->memory_bytes[MEMORY_ATOM]},
        {HISTORY_MEMORY_OTHER, s->memory_bytes[MEMORY_OTHER]},
        {HISTORY_RSS, s->rss_bytes},
        {HISTORY_RUN_QUEUE, known_or_nan(s->run_queue)},
        {HISTORY_USE_NORMAL, s->use_normal},
        {HISTORY_USE_DIRTY_CPU, s->use_dirty_cpu},
        {HISTORY_USE_DIRTY_IO, s->use_dirty_io},
        {HISTORY_REDUCTIONS, s->reductions_per_s},
        {HISTORY_GCS, s->gcs_per_s},
        {HISTORY_SWITCHES, s->context_switches_per_s},
        {HISTORY_IN, s->in_bytes_per_s},
        {HISTORY_OUT, s->out_bytes_per_s},
        {HISTORY_PROCESSES, known_or_nan(s->processes)},
        {HISTORY_ALLOC_USE, holds ? alloc->utilisation : (double)NAN},
        {HISTORY_FRAGMENTED, holds ? known_or_nan(alloc->fragmented_bytes) : (double)NAN},
    };
    advance_history(h, s->mono_ns / 1000000000);
    for (size_t i = 0; i < ARRAY_LEN(now); i++)
        ring_set(&h->lines[now[i].line], now[i].value);
}

/* ---- when resident memory reaches the limit of its cgroup */

#define LEAST_S 60     /* of history: a start, or a cache that warms up, is over by then */
#define LEAST_FIT 0.9  /* as findings of growth have it */
#define FARTHEST_S 3e9 /* a century */

static struct vm_row *find_setting(struct table_detail *vm, const char *id)
{
    struct vm_row *rows = vm->rows;
    for (size_t i = 0; i < vm->n_rows; i++)
        if (slice_is(rows[i].id, id))
            return &rows[i];
    return NULL;
}

/* Since the last gap, the oldest first. Returns how many; one is a second. */
static size_t read_history(const struct ring *ring, double out[LIMIT_HISTORY])
{
    size_t n = 0;
    while (n < LIMIT_HISTORY && !isnan(ring_at(ring, n)))
        n++;
    for (size_t i = 0; i < n; i++)
        out[i] = ring_at(ring, n - 1 - i);
    return n;
}

static void put_time(struct vm_row *row, double limit, const struct trend *t, size_t seconds,
                     struct arena *arena)
{
    char size[32], past[32], left[32];
    const double per_s = (t->last - t->first) / (double)(seconds - 1);
    const double s = fmax((limit - t->last) / per_s, 0);
    if (!(s < FARTHEST_S)) {
        row->note = slice_of("farther than a century at this rate");
        return;
    }
    row->number = (int64_t)s;
    row->value = slice_of(arena_strdup(arena, text_duration(left, sizeof left, s)));
    row->note = slice_of(arena_printf(
        arena, "at most: resident memory grows %s/min (r = %.2f, %s); others in it are not counted",
        text_bytes(size, sizeof size, per_s * 60), t->fit,
        text_duration(past, sizeof past, (double)seconds)));
}

void history_tell_limit(const struct history *h, struct table_detail *vm, struct arena *arena)
{
    struct vm_row *row = find_setting(vm, "cgroup.time until limit");
    const struct vm_row *memory = find_setting(vm, "cgroup.memory");
    double values[LIMIT_HISTORY];
    if (!row || !memory || memory->limit_number <= 0)
        return;
    const size_t n = read_history(&h->lines[HISTORY_RSS], values);
    const struct trend t = trend_of(values, n);
    if (n < LEAST_S)
        row->note = slice_of("unknown before 1 min of resident memory");
    else if (!(t.last > t.first))
        row->note = slice_of("resident memory does not grow");
    else if (t.fit < LEAST_FIT || !t.steady)
        row->note = slice_of(arena_printf(
            arena, "unknown: resident memory does not grow on a line (r = %.2f)", t.fit));
    else
        put_time(row, (double)memory->limit_number, &t, n, arena);
}

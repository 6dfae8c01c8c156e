/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan_walks.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/etf/cursor.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

/* Measured: what a message, and a link or monitor, costs at most. */
#define MESSAGE_NS 20
#define LINK_NS 100
#define LINK_BYTES 40 /* the least of one */
#define SLOW_NS 1000000
#define LITTLE_NS 20000
#define QUEUE_MOST INT64_C(10000000000)

/* Reads take a 500th of a core, those of one process as well; so much of it at once. */
#define PAUSE_TIMES 500
#define AHEAD_MS 20000

/* What was read no longer ago than that is not older. */
#define RECENT_MS 1000

#define WORD_BYTES 8
#define MESSAGE_WORDS 5 /* the least that a message takes */

static int64_t queue_ns(const struct scan_proc *p)
{
    return (p->queue < QUEUE_MOST ? p->queue : QUEUE_MOST) * MESSAGE_NS;
}

static int64_t walk_ns(const struct scan_proc *p)
{
    return queue_ns(p) + p->links_ns;
}

bool scan_walk_is_slow(const struct scan_proc *p, int64_t *sum_ns)
{
    const int64_t ns = walk_ns(p);
    if (ns > SLOW_NS || p->is_suspect || (sum_ns && ns > LITTLE_NS && *sum_ns + ns > SLOW_NS))
        return true;
    if (sum_ns)
        *sum_ns += ns;
    return false;
}

static uint64_t pause_ms(int64_t ns)
{
    return (uint64_t)ns * PAUSE_TIMES / 1000000;
}

bool scan_walk_has_turn(const struct scan_proc *p, uint64_t *paid_ms, uint64_t now_ms)
{
    const uint64_t pause = pause_ms(walk_ns(p));
    if (*paid_ms > now_ms + AHEAD_MS || (p->walked_ms != 0 && now_ms < p->walked_ms + pause))
        return false;
    *paid_ms = (*paid_ms > now_ms ? *paid_ms : now_ms) + pause;
    return true;
}

static struct slice info_of(const struct scan_proc *p)
{
    return (struct slice){(const char *)p->info.data, p->info.len};
}

/* As many as could be there. */
static int64_t excess_ns(const struct scan_proc *p)
{
    const int64_t bytes = p->memory - p->words * WORD_BYTES;
    return bytes > 0 ? bytes / LINK_BYTES * LINK_NS : 0;
}

static void read_sizes(struct scan_proc *p, struct slice info)
{
    p->memory = values_find_integer(info, "memory");
    p->words = values_find_integer(info, "total_heap_size");
}

void scan_walk_suspect(struct scan_proc *p)
{
    read_sizes(p, info_of(p));
    p->is_suspect = excess_ns(p) > SLOW_NS && p->memory / 3 * 2 > p->cleared_bytes;
    if (p->is_suspect)
        p->walked_ms = p->info_ms;
}

/* ---- the ask: a clock between two */

void scan_walk_call(struct native_call *call, const char *node, struct scan_proc *const *procs,
                    size_t n, bool sure)
{
    struct native_step *steps = alloc_zero(2 * n + 1, sizeof *steps);
    struct builder **args = alloc_zero(n + 1, sizeof *args);
    steps[0] = (struct native_step)NATIVE_CLOCK;
    for (size_t i = 0; i < n; i++) {
        args[i] = args_of_info(node, &procs[i]->pid, "[memory,total_heap_size]");
        steps[2 * i + 1] = (struct native_step){"erlang", "process_info", NULL, args[i]};
        steps[2 * i + 2] = (struct native_step)NATIVE_CLOCK;
    }
    native_batch_init(call, steps, 2 * n + 1, sure);
    for (size_t i = 0; i < n; i++)
        builder_free(args[i]);
    free(args);
    free(steps);
}

void scan_walk_take(struct scan_proc *p, struct slice info, int64_t took_ns, uint64_t now_ms)
{
    if (who_term_is(info, "undefined")) {
        scan_proc_end(p);
        return;
    }
    read_sizes(p, info);
    const int64_t most = excess_ns(p), ns = most < took_ns ? most : took_ns;
    p->links_ns = ns > SLOW_NS && took_ns > 4 * queue_ns(p) ? ns : 0;
    p->cleared_bytes = p->links_ns == 0 ? p->memory : 0;
    p->is_suspect = false;
    p->walked_ms = now_ms;
    p->stale |= !scan_walk_is_slow(p, NULL);
    p->signals++;
}

bool scan_walk_read(struct slice value, struct scan_proc *const *procs, size_t n, uint64_t now_ms,
                    double *us)
{
    struct cursor c = values_cursor(value);
    struct cursor_list list;
    struct slice info;
    int64_t before = 0, now = 0, first;
    if (value.len == 0 || !cursor_list(&c, &list) || list.string || list.count != 2 * n + 1 ||
        !cursor_int64(&c, &before))
        return false;
    first = now = before;
    for (size_t i = 0; i < n; i++, before = now) {
        if (!cursor_raw(&c, &info) || !cursor_int64(&c, &now) || now < before)
            return false;
        scan_walk_take(procs[i], info, now - before, now_ms);
    }
    *us = values_between_us(first, now);
    return true;
}

void scan_walk_copy(struct scan_proc *to, const struct scan_proc *from)
{
    if (from->walked_ms <= to->walked_ms)
        return;
    to->is_suspect = from->is_suspect;
    to->links_ns = from->links_ns;
    to->cleared_bytes = from->cleared_bytes;
    to->memory = from->memory;
    to->words = from->words;
    to->walked_ms = from->walked_ms;
}

/* ---- the answer */

int64_t scan_walk_value(const struct scan_proc *p, bool memory, uint64_t now_ms, int64_t *age_ms)
{
    const int64_t heap = values_find_integer(info_of(p), "heap_size");
    const int64_t words = heap > 0 ? heap : 0;
    *age_ms = SCAN_AGE_NEVER;
    if (p->walked_ms == 0)
        return memory ? WORD_BYTES * (words + MESSAGE_WORDS * queue_ns(p) / MESSAGE_NS) : words;
    const int64_t age = (int64_t)(now_ms - p->walked_ms);
    *age_ms = age < RECENT_MS ? SCAN_AGE_NONE : age;
    return memory ? p->memory : p->words;
}

void scan_age_build(struct builder *b, int64_t value, int64_t age_ms)
{
    if (age_ms != SCAN_AGE_NONE) {
        build_tuple(b, 3);
        build_atom(b, "older");
    }
    build_int(b, value);
    if (age_ms == SCAN_AGE_NEVER)
        build_atom(b, "undefined");
    else if (age_ms != SCAN_AGE_NONE)
        build_int(b, age_ms);
}

void scan_walk_build(struct builder *b, const struct scan_proc *p, bool memory, uint64_t now_ms)
{
    int64_t age_ms;
    const int64_t value = scan_walk_value(p, memory, now_ms, &age_ms);
    scan_age_build(b, value, age_ms);
}

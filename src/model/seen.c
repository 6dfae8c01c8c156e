/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is remembered of processes between sights of them: bounded, the one unseen for longest goes
 * first. uthash keeps the order of insertion, so a sight moves its process to the end. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/hash.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/model/process_name.h"

/* Sights at which the mailbox must have grown while the process stood still. */
#define STUCK_SIGHTS 3
#define SEEN_CALL_BYTES 600 /* fits two atoms of 255 characters, unless many need several bytes */

/* A number and the target's time when it was read. */
struct sight {
    uint64_t mono_ns;
    int64_t value; /* -1: not seen */
};

struct seen_process {
    struct etf_pid pid;
    uint64_t first_ns; /* our clock */
    struct sight reductions, messages, memory, gcs;
    uint64_t function_hash;
    uint8_t grown; /* sights in a row, up to STUCK_SIGHTS */
    bool born, restarted, memory_older;
    UT_hash_handle hh;
};

struct seen_name {
    struct etf_pid pid;
    UT_hash_handle hh;
    char name[256];
};

struct seen_call {
    struct etf_pid pid;
    UT_hash_handle hh;
    struct slice call; /* behind it */
};

struct seen {
    struct seen_process *processes;
    struct seen_name *names;
    struct seen_call *calls;
    size_t max_pids;
    bool complete; /* the scan before this one listed every process */
};

struct seen *seen_new(size_t max_pids)
{
    struct seen *s = alloc_zero(1, sizeof *s);
    s->max_pids = max_pids;
    return s;
}

void seen_forget(struct seen *s)
{
    struct seen_process *p, *next;
    struct seen_name *n, *next_name;
    struct seen_call *c, *next_call;
    HASH_ITER (hh, s->processes, p, next) {
        HASH_DEL(s->processes, p);
        free(p);
    }
    HASH_ITER (hh, s->names, n, next_name) {
        HASH_DEL(s->names, n);
        free(n);
    }
    HASH_ITER (hh, s->calls, c, next_call) {
        HASH_DEL(s->calls, c);
        free(c);
    }
    s->complete = false;
}

void seen_free(struct seen *s)
{
    if (!s)
        return;
    seen_forget(s);
    free(s);
}

static void sight_clear(struct seen_process *p)
{
    const struct sight none = {.value = -1};
    p->reductions = p->messages = p->memory = p->gcs = none;
    p->grown = 0;
}

void seen_gap(struct seen *s)
{
    struct seen_process *p, *next;
    HASH_ITER (hh, s->processes, p, next) {
        sight_clear(p);
    }
    s->complete = false;
}

size_t seen_len(const struct seen *s)
{
    return HASH_COUNT(s->processes);
}

void seen_scan_end(struct seen *s, bool complete)
{
    s->complete = complete;
}

static struct seen_process *process_of(struct seen *s, const struct proc_row *row, uint64_t now_ns)
{
    struct seen_process *p;
    HASH_FIND(hh, s->processes, &row->pid, sizeof row->pid, p);
    if (p) {
        HASH_DEL(s->processes, p);
    } else {
        if (HASH_COUNT(s->processes) >= s->max_pids) {
            struct seen_process *oldest = s->processes;
            HASH_DEL(s->processes, oldest);
            free(oldest);
        }
        p = alloc_zero(1, sizeof *p);
        p->pid = row->pid;
        p->first_ns = now_ns;
        p->born = s->complete;
        sight_clear(p);
    }
    HASH_ADD(hh, s->processes, pid, sizeof p->pid, p);
    return p;
}

static bool same_pid(const struct etf_pid *a, const struct etf_pid *b)
{
    return a->id == b->id && a->serial == b->serial && a->creation == b->creation;
}

/* True when the registered name of this row was another process's when we last saw it. */
static bool name_moved(struct seen *s, const struct proc_row *row)
{
    struct seen_name *n;
    if (row->name.len == 0 || row->name.len >= sizeof n->name)
        return false;
    HASH_FIND(hh, s->names, row->name.s, row->name.len, n);
    bool moved = n && !same_pid(&n->pid, &row->pid);
    if (n) {
        HASH_DEL(s->names, n);
    } else {
        if (HASH_COUNT(s->names) >= LIMIT_SEEN_NAMES) {
            struct seen_name *oldest = s->names;
            HASH_DEL(s->names, oldest);
            free(oldest);
        }
        n = alloc_zero(1, sizeof *n);
        memcpy(n->name, row->name.s, row->name.len);
    }
    n->pid = row->pid;
    HASH_ADD_KEYPTR(hh, s->names, n->name, row->name.len, n);
    return moved;
}

static void remember_call(struct seen *s, const struct etf_pid *pid, struct slice call)
{
    if (HASH_COUNT(s->calls) >= LIMIT_SEEN_NAMES) {
        struct seen_call *oldest = s->calls;
        HASH_DEL(s->calls, oldest);
        free(oldest);
    }
    struct seen_call *c = alloc_zero(1, sizeof *c + call.len);
    c->pid = *pid;
    c->call = (struct slice){(char *)(c + 1), call.len};
    memcpy(c + 1, call.s, call.len);
    HASH_ADD(hh, s->calls, pid, sizeof c->pid, c);
}

void seen_call(struct seen *s, const struct etf_pid *pid, struct slice *call, struct arena *arena)
{
    static const char from_callback[] = ":init/1";
    const size_t end = sizeof from_callback - 1;
    const bool is_loop = process_call_is_loop(*call);
    struct seen_call *c;
    if (!is_loop && (call->len <= end || call->len > SEEN_CALL_BYTES ||
                     memcmp(call->s + call->len - end, from_callback, end) != 0))
        return;
    HASH_FIND(hh, s->calls, pid, sizeof *pid, c);
    if (is_loop && c)
        *call = slice_keep(arena, c->call);
    else if (!is_loop && !c)
        remember_call(s, pid, *call);
}

static void note_stuck(struct seen_process *p, const struct proc_row *row)
{
    uint64_t function = text_identity(row->current_function.s, row->current_function.len);
    bool still = row->current_function.len > 0 && function == p->function_hash &&
                 row->reductions >= 0 && row->reductions == p->reductions.value;
    if (!still || p->messages.value < 0 || row->message_queue_len < p->messages.value)
        p->grown = 0;
    else if (row->message_queue_len > p->messages.value && p->grown < STUCK_SIGHTS)
        p->grown++;
    p->function_hash = function;
}

/* A value not asked for this time leaves the last sight of it as it was. */
static void sight_take(struct sight *s, int64_t value, uint64_t mono_ns)
{
    if (value >= 0)
        *s = (struct sight){.mono_ns = mono_ns, .value = value};
}

static double rate_of(const struct sight *before, int64_t now, uint64_t mono_ns,
                      const struct sweep_delta *sweep, const char *attr,
                      double (*rate)(int64_t before, int64_t now, double interval_s))
{
    if (sweep->known && sweep->attr && strcmp(sweep->attr, attr) == 0) {
        bool back = rate == rate_counter && sweep->delta < 0;
        return back || !(sweep->interval_s > 0) ? NAN : (double)sweep->delta / sweep->interval_s;
    }
    return rate(before->value, now, rate_interval(before->mono_ns, mono_ns));
}

/* Unknown while it is older. After that it is since it was read, not since the sweep before. */
static double memory_rate(const struct seen_process *p, const struct proc_row *row,
                          uint64_t mono_ns, const struct sweep_delta *sweep)
{
    const struct sweep_delta none = {0};
    if ((row->older >> ITEM_MEMORY) & 1)
        return NAN;
    return rate_of(&p->memory, row->memory_bytes, mono_ns, p->memory_older ? &none : sweep,
                   "memory", rate_gauge);
}

void seen_row(struct seen *s, struct proc_row *row, uint64_t mono_ns, uint64_t now_ns,
              const struct sweep_delta *sweep)
{
    struct seen_process *p = process_of(s, row, now_ns);
    if (name_moved(s, row))
        p->restarted = p->born = true;
    row->reductions_per_s =
        rate_of(&p->reductions, row->reductions, mono_ns, sweep, "reductions", rate_counter);
    row->message_queue_per_s = rate_of(&p->messages, row->message_queue_len, mono_ns, sweep,
                                       "message_queue_len", rate_gauge);
    row->memory_per_s = memory_rate(p, row, mono_ns, sweep);
    row->minor_gcs_per_s =
        rate_of(&p->gcs, row->minor_gcs, mono_ns, sweep, "garbage_collection", rate_counter);
    note_stuck(p, row);
    row->stuck = p->grown >= STUCK_SIGHTS;
    row->restarted = p->restarted;
    row->age_s = now_ns > p->first_ns ? (double)(now_ns - p->first_ns) / 1e9 : 0;
    row->age_is_minimum = !p->born;
    sight_take(&p->reductions, row->reductions, mono_ns);
    sight_take(&p->messages, row->message_queue_len, mono_ns);
    p->memory_older = (row->older >> ITEM_MEMORY) & 1;
    if (!p->memory_older)
        sight_take(&p->memory, row->memory_bytes, mono_ns);
    sight_take(&p->gcs, row->minor_gcs, mono_ns);
}

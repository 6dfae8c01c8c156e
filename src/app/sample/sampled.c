/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampled.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/attr.h"
#include "held.h"
#include "spread.h"

struct process {
    struct {
        uint64_t number, serial;
    } key;
    int64_t samples;
    double weight; /* at yield points: reductions */
    char pid[48], name[128];
    struct spread threads;
    UT_hash_handle hh;
};

struct of_thread {
    struct thread thread;
    struct stacks *stacks; /* NULL: not kept */
    int64_t samples;
    char name[48];
    struct spread cpus;
    struct held_call call; /* of its last sample */
};

struct sampled {
    struct sampled_options o;
    struct stacks *stacks, *prologues; /* NULL: not kept */
    uint32_t *frames;                  /* by the number that the sampler gave */
    size_t n_frames;
    struct of_thread *threads;
    size_t n_threads;
    struct process *processes;
    int64_t samples, classes[SAMPLE_CLASSES], moved_on, truncated, unresolved, complete;
    int64_t in_prologue;
    bool at_yields;
    struct held held;
    struct samples_source *process_rows, *thread_rows; /* of the summary … */
    struct samples_part *parts;
    struct arena texts; /* … and what they refer to */
};

struct sampled *sampled_new(const struct sampled_options *o)
{
    struct sampled *s = alloc_zero(1, sizeof *s);
    s->o = *o;
    s->stacks = stacks_new();
    s->prologues = o->prologues ? stacks_new() : NULL;
    arena_init(&s->texts);
    return s;
}

void sampled_free(struct sampled *s)
{
    struct process *p, *next;
    if (!s)
        return;
    HASH_ITER (hh, s->processes, p, next) {
        HASH_DEL(s->processes, p);
        spread_clear(&p->threads);
        free(p);
    }
    for (size_t i = 0; i < s->n_threads; i++) {
        stacks_free(s->threads[i].stacks);
        spread_clear(&s->threads[i].cpus);
    }
    stacks_free(s->stacks);
    stacks_free(s->prologues);
    free(s->threads);
    free(s->frames);
    free(s->process_rows);
    free(s->thread_rows);
    free(s->parts);
    arena_clear(&s->texts);
    free(s);
}

static void take_thread(struct sampled *s, const struct thread *t)
{
    s->threads = alloc_grow(s->threads, s->n_threads, sizeof *s->threads);
    struct of_thread *of = s->threads + s->n_threads++;
    *of = (struct of_thread){.thread = *t, .stacks = s->o.by_thread ? stacks_new() : NULL};
    thread_title(of->name, sizeof of->name, t);
}

static void take_sampled_frame(struct sampled *s, const struct sample_frame *f)
{
    s->frames = alloc_grow(s->frames, s->n_frames, sizeof *s->frames);
    s->frames[s->n_frames++] = stacks_frame(s->stacks, f);
}

/* NULL: none. */
static struct process *sampled_process(const struct sampled *s, uint64_t number, uint64_t serial)
{
    struct process *p = NULL, key = {.key = {number, serial}};
    HASH_FIND(hh, s->processes, &key.key, sizeof key.key, p);
    return p;
}

/* NULL: there are too many. */
static struct process *count_process(struct sampled *s, uint64_t number, uint64_t serial,
                                     int64_t samples, double weight)
{
    struct process *p = sampled_process(s, number, serial);
    if (!p) {
        if (HASH_COUNT(s->processes) >= LIMIT_SAMPLED_PROCESSES)
            return NULL;
        p = alloc_zero(1, sizeof *p);
        p->key.number = number;
        p->key.serial = serial;
        snprintf(p->pid, sizeof p->pid, "<0.%" PRIu64 ".%" PRIu64 ">", number, serial);
        HASH_ADD(hh, s->processes, key, sizeof p->key, p);
    }
    p->samples += samples;
    p->weight += weight;
    return p;
}

size_t sampled_frames(const struct sampled *s, const struct sample *sample, uint32_t *ids,
                      uint64_t *addresses)
{
    size_t n = 0;
    for (size_t i = 0; i < sample->n_frames; i++) {
        uint32_t id = s->frames[sample->frames[i]];
        if (s->o.only_erlang && !frame_is_function(stacks_frame_at(s->stacks, id)->kind))
            continue;
        if (addresses)
            addresses[n] = sample->addresses ? sample->addresses[i] : 0;
        ids[n++] = id;
    }
    return n;
}

static void take_prologue(struct sampled *s, uint32_t leaf)
{
    s->in_prologue++;
    if (!s->prologues)
        return;
    leaf = stacks_frame(s->prologues, stacks_frame_at(s->stacks, leaf));
    stacks_add(s->prologues, &leaf, 1, 1);
}

/* The frame of a native call: the BIF, else the library's entry, else the frame that the Erlang
 * function called. */
static void name_call(const struct sampled *s, const struct sample *sample, struct held_call *call)
{
    enum frame_kind named = FRAME_UNKNOWN;
    for (size_t i = sample->n_frames; i-- > 0;) {
        const uint32_t id = s->frames[sample->frames[i]];
        const enum frame_kind kind = stacks_frame_at(s->stacks, id)->kind;
        if (kind == FRAME_ERLANG) {
            call->caller = id;
            return;
        }
        if (kind == FRAME_BIF || (named != FRAME_BIF && kind == FRAME_NIF) ||
            (named != FRAME_BIF && named != FRAME_NIF)) {
            call->frame = id;
            named = kind;
        }
    }
}

static void take_places(struct sampled *s, const struct sample *sample, struct process *p)
{
    struct of_thread *of = s->threads + sample->thread;
    if (sample->cpu >= 0)
        spread_add(&of->cpus, (uint32_t)sample->cpu);
    if (p)
        spread_add(&p->threads, sample->thread);
    if (of->thread.kind == THREAD_SCHEDULER && held_take(&s->held, &of->call, sample))
        name_call(s, sample, &of->call);
}

static bool count_sample(struct sampled *s, const struct sample *sample)
{
    uint32_t ids[LIMIT_SAMPLE_FRAMES];
    struct of_thread *of = s->threads + sample->thread;
    struct process *p = NULL;
    if (s->o.one_process &&
        (sample->pid_number != s->o.pid_number || sample->pid_serial != s->o.pid_serial))
        return false;
    const size_t n = sampled_frames(s, sample, ids, NULL);
    stacks_add(s->stacks, ids, n, 1);
    s->samples++;
    s->classes[sample->in]++;
    s->moved_on += (sample->flags & SAMPLE_MOVED_ON) != 0;
    s->truncated += (sample->flags & SAMPLE_TRUNCATED) != 0;
    s->unresolved += (sample->flags & SAMPLE_UNRESOLVED) != 0;
    s->complete += (sample->flags & SAMPLE_COMPLETE) != 0;
    if (sample->flags & SAMPLE_IN_PROLOGUE && n > 0)
        take_prologue(s, ids[n - 1]);
    of->samples++;
    if (of->stacks) {
        for (size_t i = 0; i < n; i++)
            ids[i] = stacks_frame(of->stacks, stacks_frame_at(s->stacks, ids[i]));
        stacks_add(of->stacks, ids, n, 1);
    }
    if (sample->pid_number > 0)
        p = count_process(s, sample->pid_number, sample->pid_serial, 1, 1);
    take_places(s, sample, p);
    return true;
}

void sampled_at_yields(struct sampled *s)
{
    s->at_yields = true;
}

void sampled_add(struct sampled *s, const struct sample_frame *frames, size_t n,
                 const struct etf_pid *pid, int64_t samples, double weight)
{
    uint32_t ids[LIMIT_SAMPLE_FRAMES];
    if (s->o.one_process && (pid->id != s->o.pid_number || pid->serial != s->o.pid_serial))
        return;
    n = n < LIMIT_SAMPLE_FRAMES ? n : LIMIT_SAMPLE_FRAMES;
    for (size_t i = 0; i < n; i++)
        ids[i] = stacks_frame(s->stacks, frames + i);
    stacks_add(s->stacks, ids, n, weight);
    s->samples += samples;
    count_process(s, pid->id, pid->serial, samples, weight);
}

bool sampled_take(struct sampled *s, const struct record *r)
{
    if (r->type == RECORD_THREAD)
        take_thread(s, &r->u.thread);
    else if (r->type == RECORD_FRAME)
        take_sampled_frame(s, &r->u.frame);
    return r->type == RECORD_SAMPLE && count_sample(s, &r->u.sample);
}

const struct stacks *sampled_stacks(const struct sampled *s)
{
    return s->stacks;
}

size_t sampled_threads(const struct sampled *s)
{
    return s->n_threads;
}

const struct thread *sampled_thread(const struct sampled *s, size_t i)
{
    return &s->threads[i].thread;
}

int64_t sampled_count(const struct sampled *s)
{
    return s->samples;
}

/* ---- names */

static int by_weight_down(const void *a, const void *b)
{
    const struct process *x = *(struct process *const *)a, *y = *(struct process *const *)b;
    if (x->weight < y->weight || x->weight > y->weight)
        return x->weight < y->weight ? 1 : -1;
    return memcmp(&x->key, &y->key, sizeof x->key);
}

size_t sampled_pids(struct sampled *s, struct etf_pid *pids, size_t most)
{
    const size_t all = HASH_COUNT(s->processes);
    struct process **ranked = alloc_zero(all + 1, sizeof(struct process *)), *p, *next;
    size_t n = 0;
    HASH_ITER (hh, s->processes, p, next)
        ranked[n++] = p;
    qsort(ranked, n, sizeof(struct process *), by_weight_down);
    n = n < most ? n : most;
    for (size_t i = 0; i < n; i++)
        pids[i] = (struct etf_pid){.id = (uint32_t)ranked[i]->key.number,
                                   .serial = (uint32_t)ranked[i]->key.serial};
    free(ranked);
    return n;
}

void sampled_name(struct sampled *s, const struct etf_pid *pid, struct slice name)
{
    struct process *p = sampled_process(s, pid->id, pid->serial);
    if (p)
        snprintf(p->name, sizeof p->name, "%.*s", (int)name.len, name.s);
}

struct slice sampled_name_of(const struct sampled *s, const struct sample *sample)
{
    const struct process *p = sampled_process(s, sample->pid_number, sample->pid_serial);
    return slice_of(p ? p->name : "");
}

/* ---- the summary */

static int by_samples(const void *a, const void *b)
{
    const struct samples_source *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return slice_order(x->name, y->name);
}

/* At yield points a share is of reductions: so many of all samples as that share says. */
static int64_t samples_of(const struct sampled *s, const struct process *p)
{
    const double whole = stacks_total(s->stacks);
    return s->at_yields && whole > 0 ? llround(p->weight / whole * (double)s->samples) : p->samples;
}

static struct slice cpu_name(struct sampled *s, uint32_t cpu)
{
    return slice_of(arena_printf(&s->texts, "CPU %" PRIu32, cpu));
}

static struct slice thread_name(struct sampled *s, uint32_t thread)
{
    return slice_of(s->threads[thread].name);
}

static void sum_places(struct sampled *s, struct samples_source *row, struct spread *spread,
                       struct slice (*name)(struct sampled *s, uint32_t place))
{
    struct samples_place *places = arena_alloc(&s->texts, (spread->n + 1) * sizeof *places);
    spread_sort(spread);
    for (size_t i = 0; i < spread->n; i++)
        places[i] = (struct samples_place){name(s, spread->list[i].place), spread->list[i].samples};
    row->places = places;
    row->n_places = spread->n;
    row->moves = spread->moves;
}

static void sum_held(struct sampled *s, struct samples_summary *out)
{
    struct held held = s->held; /* with the calls that last */
    struct samples_held *rows = arena_alloc(&s->texts, LIMIT_SAMPLED_HELD * sizeof *rows);
    for (size_t i = 0; i < s->n_threads; i++)
        held_keep(&held, &s->threads[i].call);
    for (size_t i = 0; i < held.n; i++) {
        const struct held_call *c = &held.list[i];
        const struct process *p = sampled_process(s, c->pid_number, c->pid_serial);
        const struct sample_frame *f = stacks_frame_at(s->stacks, c->frame);
        const struct sample_frame *caller = stacks_frame_at(s->stacks, c->caller);
        rows[i] = (struct samples_held){
            .call = f ? f->name : slice_of("[unknown]"),
            .object = f && f->kind == FRAME_NIF ? f->object : (struct slice){0},
            .caller = caller ? caller->name : (struct slice){0},
            .process = slice_of(p ? p->pid : ""),
            .name = slice_of(p ? p->name : ""),
            .thread = slice_of(s->threads[c->thread].name),
            .seconds = (double)(c->last_ns - c->first_ns) / 1e9,
            .samples = c->samples,
        };
    }
    out->held = rows;
    out->n_held = held.n;
}

static void sum_rows(struct sampled *s, struct samples_summary *out)
{
    struct process *p, *next;
    size_t n = 0, parts = 0;
    s->process_rows =
        alloc_resize(s->process_rows, HASH_COUNT(s->processes) + 1, sizeof *s->process_rows);
    HASH_ITER (hh, s->processes, p, next) {
        struct samples_source *row = &s->process_rows[n++];
        *row = (struct samples_source){
            .name = slice_of(p->pid), .about = slice_of(p->name), .samples = samples_of(s, p)};
        if (!s->at_yields)
            sum_places(s, row, &p->threads, thread_name);
    }
    s->thread_rows = alloc_resize(s->thread_rows, s->n_threads + 1, sizeof *s->thread_rows);
    s->parts = alloc_resize(s->parts, s->n_threads + 1, sizeof *s->parts);
    out->n_threads = 0;
    for (size_t i = 0; i < s->n_threads; i++) {
        struct of_thread *of = s->threads + i;
        if (of->samples == 0)
            continue;
        struct samples_source *row = &s->thread_rows[out->n_threads++];
        *row = (struct samples_source){.name = slice_of(of->name),
                                       .about = slice_of(thread_kind_key(of->thread.kind)),
                                       .samples = of->samples};
        sum_places(s, row, &of->cpus, cpu_name);
        if (of->stacks)
            s->parts[parts++] =
                (struct samples_part){.name = slice_of(of->name), .stacks = of->stacks};
    }
    qsort(s->process_rows, n, sizeof *s->process_rows, by_samples);
    qsort(s->thread_rows, out->n_threads, sizeof *s->thread_rows, by_samples);
    out->processes = s->process_rows;
    out->n_processes = n;
    out->threads = s->thread_rows;
    out->parts = s->parts;
    out->n_parts = parts;
}

void sampled_summary(struct sampled *s, struct samples_summary *out)
{
    out->samples = s->samples;
    out->moved_on = s->moved_on;
    out->truncated = s->truncated;
    out->unresolved = s->unresolved;
    out->complete = s->complete;
    out->in_prologue = s->in_prologue;
    out->prologues = s->prologues;
    memcpy(out->classes, s->classes, sizeof out->classes);
    out->stacks = s->stacks;
    if (s->at_yields)
        out->moved_on = out->truncated = out->unresolved = out->complete = -1;
    out->at_yields = s->at_yields;
    arena_reset(&s->texts);
    sum_rows(s, out);
    out->held = NULL;
    if (!s->at_yields)
        sum_held(s, out);
}

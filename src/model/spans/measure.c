/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Durations, children and ids of finished spans, and their weighted stacks. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/model/stacks.h"
#include "internal.h"

/* ---- time that waits cover */

struct run {
    int64_t from, to;
};
struct cover { /* disjoint, by time */
    struct run *runs;
    size_t n;
};

/* A kind covers what comes after it: an attributed wait hides the sleep within it. */
static int rank_of(enum span_wait_kind kind)
{
    return kind == SPAN_WAIT_OTHER ? 1 : kind == SPAN_WAIT_OFF_CPU ? 2 : 0;
}

static int waits_by_start(const void *a, const void *b)
{
    const struct span_wait *x = a, *y = b;
    int order = ORDER(x->span, y->span);
    order = order ? order : ORDER(x->from_ns, y->from_ns);
    order = order ? order : ORDER(x->to_ns, y->to_ns);
    order = order ? order : ORDER(x->kind, y->kind);
    return order ? order : ORDER(x->on, y->on);
}

/* The part of a run that is not covered, in ns; *at: the first run to compare, for runs by time. */
static int64_t uncovered_ns(const struct cover *cover, struct run r, size_t *at)
{
    int64_t left = r.to - r.from;
    while (*at < cover->n && cover->runs[*at].to <= r.from)
        ++*at;
    for (size_t i = *at; i < cover->n && cover->runs[i].from < r.to; i++) {
        int64_t from = cover->runs[i].from > r.from ? cover->runs[i].from : r.from;
        int64_t to = cover->runs[i].to < r.to ? cover->runs[i].to : r.to;
        left -= to > from ? to - from : 0;
    }
    return left;
}

static int run_by_time(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return ORDER(x->from, y->from);
}

static void merge_runs(struct cover *cover)
{
    size_t n = 0;
    qsort(cover->runs, cover->n, sizeof *cover->runs, run_by_time);
    for (size_t i = 0; i < cover->n; i++) {
        struct run r = cover->runs[i];
        if (n > 0 && r.from <= cover->runs[n - 1].to)
            cover->runs[n - 1].to = r.to > cover->runs[n - 1].to ? r.to : cover->runs[n - 1].to;
        else
            cover->runs[n++] = r;
    }
    cover->n = n;
}

/* The net time of the waits of one rank, in *cover after: their sum. */
static int64_t measure_rank(struct span_wait *waits, size_t n, int rank, struct cover *cover)
{
    size_t at = 0, before = cover->n;
    int64_t sum = 0, end = INT64_MIN;
    const struct cover above = {cover->runs, before};
    for (size_t i = 0; i < n; i++) {
        struct span_wait *wait = &waits[i];
        if (rank_of(wait->kind) != rank)
            continue;
        struct run r = {wait->from_ns > end ? wait->from_ns : end, wait->to_ns};
        wait->net_ns = r.to > r.from ? uncovered_ns(&above, r, &at) : 0;
        sum += wait->net_ns;
        end = wait->to_ns > end ? wait->to_ns : end;
        cover->runs[cover->n++] = (struct run){wait->from_ns, wait->to_ns};
    }
    merge_runs(cover);
    return sum;
}

/* Value: how long it waited for one process at a time, -1: never. */
static int64_t measure_span(struct span *span, struct span_wait *waits, struct run *room)
{
    struct cover cover = {room, 0};
    int64_t sums[3], longest = -1, nested = 0, duration = span_duration(span);
    for (int rank = 0; rank < 3; rank++)
        sums[rank] = measure_rank(waits, span->n_waits, rank, &cover);
    for (size_t i = 0; i < span->n_waits; i++)
        if (waits[i].kind == SPAN_WAIT_NESTED) {
            nested += waits[i].net_ns;
        } else if (rank_of(waits[i].kind) == 0 && waits[i].to_ns - waits[i].from_ns > longest) {
            longest = waits[i].to_ns - waits[i].from_ns;
            span->waiting_on = waits[i].process;
        }
    if (span->leaf) {
        span->self_ns = span->wait_ns = span->nested_ns = -1;
        return longest;
    }
    span->nested_ns = nested;
    span->wait_ns = sums[0] - nested;
    span->self_ns = duration - sums[0] - sums[1] - sums[2];
    if (span->unattributed_ns >= 0) {
        span->unattributed_ns = sums[1];
        span->off_cpu_ns = sums[2];
    }
    return longest;
}

/* A wait of a function is also one of the span that it is in. */
static void lift_waits(struct spans *s, int64_t *longest)
{
    for (uint32_t i = s->n_spans; i-- > 0;) {
        uint32_t parent = s->spans[i].parent;
        if (s->spans[i].kind != SPAN_FUNCTION || longest[i] <= longest[parent])
            continue;
        longest[parent] = longest[i];
        s->spans[parent].waiting_on = s->spans[i].waiting_on;
    }
}

/* Waits within their spans, sorted; those of no time are dropped unless they say an outcome. */
static void cut_waits(struct spans *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n_waits; i++) {
        struct span_wait wait = s->waits[i];
        const struct span *span = &s->spans[wait.span];
        if (wait.from_ns < span->started_ns)
            wait.from_ns = span->started_ns;
        if (wait.to_ns > span->ended_ns)
            wait.to_ns = span->ended_ns;
        if (wait.to_ns < wait.from_ns)
            continue;
        s->waits[kept++] = wait;
    }
    s->n_waits = kept;
    if (kept > 0)
        qsort(s->waits, kept, sizeof *s->waits, waits_by_start);
}

const struct span_wait *spans_largest_wait(const struct spans *s, const struct span *span)
{
    const struct span_wait *largest = NULL;
    for (uint32_t i = 0; i < span->n_waits; i++) {
        const struct span_wait *wait = &s->waits[span->wait + i];
        if (wait->kind != SPAN_WAIT_NESTED && wait->kind != SPAN_WAIT_OFF_CPU &&
            wait->net_ns > (largest ? largest->net_ns : 0))
            largest = wait;
    }
    /* As deep as LIMIT_SPAN_DEPTH. */
    for (uint32_t i = span->child; i != SPAN_NONE; i = s->spans[i].next) {
        const struct span_wait *within =
            s->spans[i].kind == SPAN_FUNCTION ? spans_largest_wait(s, &s->spans[i]) : NULL;
        if (within && (!largest || within->net_ns > largest->net_ns))
            largest = within;
    }
    return largest;
}

static void measure_all(struct spans *s)
{
    struct run *room = alloc_zero((size_t)s->n_waits + 1, sizeof *room);
    int64_t *longest = alloc_zero((size_t)s->n_spans + 1, sizeof *longest);
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->n_spans; i++) {
        struct span *span = &s->spans[i];
        span->wait = at;
        while (at < s->n_waits && s->waits[at].span == i)
            at++;
        span->n_waits = at - span->wait;
        longest[i] = measure_span(span, span->n_waits > 0 ? s->waits + span->wait : NULL, room);
    }
    lift_waits(s, longest);
    free(longest);
    free(room);
}

/* ---- children, ids */

struct start {
    int64_t at;
    uint32_t span;
};

static int last_first(const void *a, const void *b)
{
    const struct start *x = a, *y = b;
    return x->at != y->at ? ORDER(y->at, x->at) : ORDER(y->span, x->span);
}

static void link_children(struct spans *s)
{
    struct start *order = alloc_zero((size_t)s->n_spans + 1, sizeof *order);
    for (uint32_t i = 0; i < s->n_spans; i++) {
        order[i] = (struct start){s->spans[i].started_ns, i};
        s->spans[i].child = s->spans[i].next = SPAN_NONE;
    }
    qsort(order, s->n_spans, sizeof *order, last_first);
    for (uint32_t i = 0; i < s->n_spans; i++) {
        struct span *span = &s->spans[order[i].span];
        if (span->parent == SPAN_NONE)
            continue;
        span->next = s->spans[span->parent].child;
        s->spans[span->parent].child = order[i].span;
    }
    free(order);
}

static uint64_t mix_bytes(uint64_t h, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < len; i++)
        h = (h ^ at[i]) * UINT64_C(0x100000001b3);
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

static uint64_t mix_number(uint64_t h, uint64_t n)
{
    return mix_bytes(h, &n, sizeof n);
}

/* Ids are hashes of what they name, so that the same capture has the same ones; never 0. */
static void set_ids(struct spans *s)
{
    uint64_t seed = mix_bytes(UINT64_C(0xcbf29ce484222325), s->options.node.s, s->options.node.len);
    seed = mix_number(seed, s->options.capture);
    for (uint32_t i = 0; i < s->n_spans; i++) {
        struct span *span = &s->spans[i];
        if (span->parent == SPAN_NONE) {
            uint64_t h = mix_number(seed, span->process.pid.creation);
            h = mix_number(h, span->process.pid.id);
            h = mix_number(h, span->process.pid.serial);
            h = mix_number(h, (uint64_t)span->started_ns);
            span->trace_id[0] = h | 1;
            span->trace_id[1] = mix_number(h, i);
        } else {
            memcpy(span->trace_id, s->spans[span->root].trace_id, sizeof span->trace_id);
            span->parent_span_id = s->spans[span->parent].span_id;
        }
        span->span_id = mix_number(span->trace_id[0], i) | 1;
    }
}

void spans_measure(struct spans *s)
{
    cut_waits(s);
    measure_all(s);
    link_children(s);
    set_ids(s);
}

/* ---- stacks */

static uint32_t frame_of(struct stacks *stacks, enum frame_kind kind, struct buf *name)
{
    const struct sample_frame frame = {.kind = kind, .name = {buf_cstr(name), name->len}};
    uint32_t id = stacks_frame(stacks, &frame);
    buf_clear(name);
    return id;
}

static void put_slice(struct buf *b, struct slice text)
{
    buf_put(b, text.s, text.len);
}

int64_t span_self_ns(const struct span *span)
{
    return span->ended_at_least && span->unattributed_ns < 0 ? -1 : span->self_ns;
}

void span_put_process(struct buf *out, const struct span_process *process)
{
    if (process->name.len > 0)
        put_slice(out, process->name);
    else if (process->pid.id != 0 || process->pid.serial != 0)
        buf_printf(out, PID_FORMAT, PID_NUMBERS(&process->pid));
    else
        buf_puts(out, "-");
    if (process->node.len > 0) {
        buf_puts(out, " ");
        put_slice(out, process->node);
    }
}

void span_put_name(struct buf *out, const struct span *span)
{
    if (span_is_function(span)) {
        put_slice(out, span->operation);
        return;
    }
    buf_printf(out, "%s ", span_kind_key(span->kind));
    span_put_process(out, &span->process);
}

void span_put_at(struct buf *out, const char *what, struct slice at)
{
    buf_puts(out, what);
    if (at.len > 0) {
        buf_puts(out, "(");
        put_slice(out, at);
        buf_puts(out, ")");
    }
}

void span_put_wait(struct buf *out, const struct span_wait *wait, bool raw)
{
    bool other = wait->kind >= SPAN_WAIT_OTHER;
    if (other || raw)
        span_put_at(out, span_wait_key(other ? wait->kind : SPAN_WAIT_OTHER),
                    wait->kind == SPAN_WAIT_OTHER ? wait->at : wait->in);
    if (other)
        return;
    buf_puts(out, raw ? " for " : "waiting for ");
    span_put_process(out, &wait->process);
}

static uint32_t frame_of_span(struct stacks *stacks, const struct span *span)
{
    struct buf name;
    buf_init(&name, 0);
    span_put_name(&name, span);
    return frame_of(stacks, FRAME_ERLANG, &name);
}

/* NULL: a message in its queue. */
static uint32_t frame_of_wait(struct stacks *stacks, const struct span_wait *wait)
{
    struct buf name;
    buf_init(&name, 0);
    if (wait)
        span_put_wait(&name, wait, true);
    else
        buf_puts(&name, "QUEUED");
    return frame_of(stacks, FRAME_RUNTIME, &name);
}

/* Its own time goes where its samples were, where there are any. */
static void add_self(const struct spans *s, struct stacks *stacks, uint32_t span,
                     const uint32_t *frames, size_t n, double self_us)
{
    size_t n_sampled, all = 0;
    const struct span_stack *sampled = spans_sampled(s, span, &n_sampled);
    const struct sample_frame *within[LIMIT_STACK_DEPTH];
    for (size_t i = 0; i < n_sampled; i++)
        all += sampled[i].samples;
    for (size_t i = 0; i < n_sampled; i++) {
        uint32_t at = 0;
        for (size_t k = 0; k < n; k++)
            at = stacks_step(stacks, at, frames[k]);
        const size_t depth = span_stack_frames(s, &sampled[i], within);
        for (size_t k = 0; k < depth; k++)
            at = stacks_step(stacks, at, stacks_frame(stacks, within[k]));
        stacks_weigh(stacks, at, self_us * sampled[i].samples / (double)all);
    }
    if (n_sampled == 0)
        stacks_add(stacks, frames, n, self_us);
}

static void add_stacks(const struct spans *s, struct stacks *stacks, const struct span *span,
                       bool raw_waits)
{
    uint32_t frames[LIMIT_SPAN_DEPTH + 1];
    size_t n = span->depth + 1, at = n;
    for (const struct span *up = span;; up = &s->spans[up->parent]) {
        frames[--at] = frame_of_span(stacks, up);
        if (up->parent == SPAN_NONE)
            break;
    }
    int64_t self = span->leaf ? span_duration(span) : span->self_ns;
    add_self(s, stacks, (uint32_t)(span - s->spans), frames, n, (double)self / 1e3);
    if (span->queued_ns > 0 && span->kind == SPAN_CALL) {
        frames[n] = frame_of_wait(stacks, NULL);
        stacks_add(stacks, frames, n + 1, (double)span->queued_ns / 1e3);
    }
    for (uint32_t i = 0; i < span->n_waits; i++) {
        const struct span_wait *wait = &s->waits[span->wait + i];
        bool raw = raw_waits && wait->kind != SPAN_WAIT_NESTED;
        if ((!raw && wait->kind < SPAN_WAIT_OTHER) || wait->net_ns <= 0)
            continue;
        frames[n] = frame_of_wait(stacks, wait);
        stacks_add(stacks, frames, n + 1, (double)wait->net_ns / 1e3);
    }
}

struct stacks *spans_stacks(const struct spans *s, uint32_t root, bool raw_waits)
{
    struct stacks *stacks = stacks_new();
    for (uint32_t i = 0; i < s->n_spans; i++)
        if (root == SPAN_NONE || s->spans[i].root == root)
            add_stacks(s, stacks, &s->spans[i], raw_waits);
    return stacks;
}

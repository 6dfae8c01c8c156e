/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/timeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/hash.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/stacks.h"

#define REASON_BYTES 256u /* of an exception */
#define TIME_MOST (INT64_C(1) << 61)
#define OUTSIDE "[outside these calls]"
#define OUTSIDE_UNKNOWN "[outside these calls, off CPU unknown]"

struct entry {
    enum timeline_kind kind;
    uint64_t id;    /* of calls; else in the order of feeding */
    uint32_t frame; /* function, of `names` */
    int64_t from_ns, until_ns, total_ns;
    bool ended, at_most;
    uint64_t n; /* times off CPU, calls missing */
    enum timeline_outcome outcome;
    enum timeline_why why;
    struct slice text; /* reason; why of a gap */
    UT_hash_handle hh; /* calls, by id */
};

struct timeline {
    struct arena arena;   /* entries and texts */
    struct stacks *names; /* each function once, as a frame */
    struct entry **entries, *calls;
    size_t n_entries;
    uint64_t dropped;
    bool any_follow, any_unfollow;
    int64_t follow_from, follow_until;
    struct timeline_row *rows;
    size_t n_rows;
    struct timeline_function *functions;
    size_t n_functions;
    struct timeline_sums sums;
};

#define TIMELINE_KEY(name, key) [name] = (key),
static const char *const kinds[] = {TIMELINE_KIND_LIST(TIMELINE_KEY)};
static const char *const outcomes[] = {TIMELINE_OUTCOME_LIST(TIMELINE_KEY)};

const char *timeline_kind_key(enum timeline_kind kind)
{
    return kinds[kind];
}

const char *timeline_outcome_key(enum timeline_outcome outcome)
{
    return outcomes[outcome];
}

struct timeline *timeline_new(void)
{
    struct timeline *t = alloc_zero(1, sizeof *t);
    arena_init(&t->arena);
    t->names = stacks_new();
    return t;
}

void timeline_free(struct timeline *t)
{
    if (!t)
        return;
    HASH_CLEAR(hh, t->calls);
    stacks_free(t->names);
    free(t->entries);
    free(t->rows);
    free(t->functions);
    arena_clear(&t->arena);
    free(t);
}

/* ---- events */

static bool is_time(int64_t from, int64_t until)
{
    return from >= -TIME_MOST && until <= TIME_MOST && from <= until;
}

static bool count_dropped(struct timeline *t)
{
    t->dropped++;
    return false;
}

static struct entry *add_timeline_entry(struct timeline *t, enum timeline_kind kind, int64_t from,
                                        int64_t until)
{
    if (!is_time(from, until) || t->n_entries >= LIMIT_TIMELINE_EVENTS) {
        count_dropped(t);
        return NULL;
    }
    t->entries = alloc_grow(t->entries, t->n_entries, sizeof *t->entries);
    struct entry *e = arena_alloc(&t->arena, sizeof *e);
    e->kind = kind;
    e->id = t->n_entries;
    e->from_ns = from;
    e->until_ns = until;
    t->entries[t->n_entries++] = e;
    return e;
}

static uint32_t name_of(struct timeline *t, struct slice function)
{
    const struct sample_frame frame = {.kind = FRAME_ERLANG, .name = function};
    return stacks_frame(t->names, &frame);
}

static struct entry *find_call(const struct timeline *t, uint64_t id)
{
    struct entry *e;
    HASH_FIND(hh, t->calls, &id, sizeof id, e);
    return e;
}

bool timeline_call(struct timeline *t, uint64_t id, int64_t at_ns, struct slice function)
{
    struct entry *e = find_call(t, id) ? NULL : add_timeline_entry(t, TIMELINE_CALL, at_ns, at_ns);
    if (!e)
        return find_call(t, id) ? count_dropped(t) : false;
    e->id = id;
    e->frame = name_of(t, function);
    e->outcome = TIMELINE_OPEN;
    HASH_ADD(hh, t->calls, id, sizeof e->id, e);
    return true;
}

static struct slice keep_in_timeline(struct timeline *t, struct slice text)
{
    if (text.len > REASON_BYTES)
        text.len = REASON_BYTES;
    return slice_keep(&t->arena, text);
}

bool timeline_end(struct timeline *t, uint64_t id, int64_t at_ns, bool raised, struct slice reason)
{
    struct entry *e = find_call(t, id);
    if (!e || e->ended || !is_time(e->from_ns, at_ns))
        return count_dropped(t);
    e->ended = true;
    e->until_ns = at_ns;
    e->outcome = raised ? TIMELINE_RAISED : TIMELINE_RETURNED;
    if (raised)
        e->text = keep_in_timeline(t, reason);
    return true;
}

bool timeline_off(struct timeline *t, int64_t from_ns, int64_t until_ns, int64_t total_ns,
                  uint64_t times, struct slice function, enum timeline_why why)
{
    struct entry *e = add_timeline_entry(t, TIMELINE_OFF_CPU, from_ns, until_ns);
    if (!e)
        return false;
    const int64_t most = until_ns - from_ns;
    e->ended = true;
    e->total_ns = total_ns < 0 ? 0 : total_ns > most ? most : total_ns;
    e->n = times;
    e->frame = name_of(t, function);
    e->why = why;
    return true;
}

bool timeline_gap(struct timeline *t, int64_t from_ns, int64_t until_ns, uint64_t calls,
                  bool at_most, struct slice why)
{
    struct entry *e = add_timeline_entry(t, TIMELINE_GAP, from_ns, until_ns);
    if (!e)
        return false;
    e->ended = true;
    e->n = calls;
    e->at_most = at_most;
    e->text = keep_in_timeline(t, why);
    return true;
}

void timeline_follow(struct timeline *t, int64_t at_ns, bool on)
{
    bool *any = on ? &t->any_follow : &t->any_unfollow;
    if (*any || !is_time(at_ns, at_ns)) /* it begins once, and ends once */
        return;
    *any = true;
    *(on ? &t->follow_from : &t->follow_until) = at_ns;
}

/* ---- nesting */

struct build {
    struct timeline *t;
    bool *waits;        /* by frame: the process was seen waiting there */
    uint32_t *function; /* by frame: of t->functions, from 1 */
    uint32_t *inside;   /* by frame: open calls of it */
    uint32_t *frame;    /* by row */
    uint32_t *open;     /* rows */
    size_t depth;
};

static int by_start(const void *a, const void *b)
{
    const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    const bool x_call = x->kind == TIMELINE_CALL, y_call = y->kind == TIMELINE_CALL;
    if (x_call != y_call)
        return x_call ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Functions of OTP and Elixir that wait: the same as of causal spans. */
static bool is_known_wait(struct slice function)
{
    static const char *const known[] = {"timer:sleep/",
                                        "gen:",
                                        "gen_server:loop/",
                                        "gen_statem:loop",
                                        "gen_event:fetch_msg/",
                                        "erlang:hibernate/",
                                        "prim_inet:",
                                        "proc_lib:sync_start",
                                        "Elixir.Process:sleep/",
                                        "Elixir.Task:await",
                                        "Elixir.Task:yield"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (slice_begins(function, known[i]))
            return true;
    return false;
}

static struct timeline_function *function_of(struct build *b, uint32_t frame)
{
    struct timeline *t = b->t;
    if (b->function[frame] == 0) {
        t->functions[t->n_functions].name = stacks_frame_at(t->names, frame)->name;
        t->functions[t->n_functions].off_known = true;
        b->function[frame] = (uint32_t)++t->n_functions;
    }
    return &t->functions[b->function[frame] - 1];
}

/* Hostile times may add up to more than fits. */
static void grow_sum(int64_t *sum, int64_t by)
{
    if (by > 0 ? *sum > INT64_MAX - by : *sum < INT64_MIN - by)
        *sum = by > 0 ? INT64_MAX : INT64_MIN;
    else
        *sum += by;
}

/* The innermost call ends: its sums go to its function and to the call around it. */
static void close_call(struct build *b)
{
    struct timeline *t = b->t;
    struct timeline_row *r = &t->rows[b->open[--b->depth]];
    const uint32_t frame = b->frame[r - t->rows];
    struct timeline_function *f = function_of(b, frame);
    const int64_t took = r->until_ns - r->from_ns;
    r->own_ns = r->own_ns < 0 ? 0 : r->own_ns; /* what was lost may have stood elsewhere */
    r->off_known =
        r->from_ns >= t->sums.followed_from_ns && r->until_ns <= t->sums.followed_until_ns;
    f->calls++;
    f->open += r->outcome == TIMELINE_OPEN;
    f->raised += r->outcome == TIMELINE_RAISED;
    f->lost += r->outcome == TIMELINE_LOST;
    grow_sum(&f->own_ns, r->own_ns);
    f->off_known = f->off_known && r->off_known;
    f->max_ns = took > f->max_ns ? took : f->max_ns;
    if (--b->inside[frame] == 0)
        grow_sum(&f->total_ns, took);
    if (b->depth == 0) {
        grow_sum(&t->sums.calls_ns, took);
        return;
    }
    struct timeline_row *around = &t->rows[b->open[b->depth - 1]];
    grow_sum(&around->own_ns, -took);
    grow_sum(&around->waiting_ns, r->waiting_ns);
    grow_sum(&around->off_cpu_ns, r->off_cpu_ns);
}

static void close_until(struct build *b, int64_t at_ns)
{
    while (b->depth > 0) {
        const struct timeline_row *r = &b->t->rows[b->open[b->depth - 1]];
        if (r->outcome == TIMELINE_OPEN || r->until_ns > at_ns)
            return;
        close_call(b);
    }
}

static struct timeline_row *add_timeline_row(struct build *b, const struct entry *e)
{
    struct timeline *t = b->t;
    struct timeline_row *r = &t->rows[t->n_rows];
    b->frame[t->n_rows++] = e->frame;
    *r = (struct timeline_row){
        .kind = e->kind,
        .parent = b->depth > 0 ? b->open[b->depth - 1] : TIMELINE_NONE,
        .depth = (uint32_t)b->depth,
        .function = e->kind == TIMELINE_GAP ? e->text : stacks_frame_at(t->names, e->frame)->name,
        .from_ns = e->from_ns,
        .until_ns = e->until_ns,
    };
    return r;
}

/* A call that is open beyond the end of the one around it has lost its own end. */
static void put_timeline_call(struct build *b, const struct entry *e)
{
    struct timeline *t = b->t;
    struct timeline_row *r = add_timeline_row(b, e);
    const struct timeline_row *around = r->parent != TIMELINE_NONE ? &t->rows[r->parent] : NULL;
    r->outcome = e->outcome;
    r->reason = e->text;
    if (!e->ended)
        r->until_ns = t->sums.until_ns > e->from_ns ? t->sums.until_ns : e->from_ns;
    if (around && around->outcome != TIMELINE_OPEN && r->until_ns > around->until_ns) {
        r->until_ns = around->until_ns;
        r->outcome = TIMELINE_LOST;
    }
    r->own_ns = r->until_ns - r->from_ns;
    t->sums.calls++;
    t->sums.open += r->outcome == TIMELINE_OPEN;
    t->sums.raised += r->outcome == TIMELINE_RAISED;
    t->sums.lost += r->outcome == TIMELINE_LOST;
    b->inside[e->frame]++;
    b->open[b->depth++] = (uint32_t)(r - t->rows);
}

/* Of a process that computes: it goes on where it was as soon as others had their turn. */
static bool is_slice(int64_t total_ns, uint64_t times)
{
    enum { SLICE_NS = 200000 };
    return times > 0 && (uint64_t)total_ns / times < SLICE_NS;
}

/* It is ready again in the call where it was before, and did nothing else in between: time slices
   at any function, longer times at the same one, are one row, of the function of the longest. */
static bool fold_off(struct build *b, const struct entry *e)
{
    struct timeline *t = b->t;
    const uint32_t parent = b->depth > 0 ? b->open[b->depth - 1] : TIMELINE_NONE;
    struct timeline_row *r = t->n_rows > 0 ? &t->rows[t->n_rows - 1] : NULL;
    if (!r || r->kind != TIMELINE_OFF_CPU || r->parent != parent || e->from_ns < r->until_ns)
        return false;
    const struct slice function = stacks_frame_at(t->names, e->frame)->name;
    const bool slice = is_slice(e->total_ns, e->n), follows = is_slice(r->total_ns, r->times);
    if (!slice && !follows && !slice_equal(function, r->function))
        return false;
    if (follows && !slice)
        r->function = function;
    r->until_ns = e->until_ns;
    r->times = r->times < UINT64_MAX - e->n ? r->times + e->n : UINT64_MAX;
    grow_sum(&r->total_ns, e->total_ns);
    return true;
}

static void put_off(struct build *b, const struct entry *e)
{
    struct timeline *t = b->t;
    const bool seen = e->why == TIMELINE_WAITS;
    const struct slice function = stacks_frame_at(t->names, e->frame)->name;
    /* Ready in a function that only waits: it had waited before. */
    const bool waits =
        seen || is_known_wait(function) || (e->why == TIMELINE_UNKNOWN && b->waits[e->frame]);
    if (waits || !fold_off(b, e)) {
        struct timeline_row *r = add_timeline_row(b, e);
        r->kind = waits ? TIMELINE_WAITING : TIMELINE_OFF_CPU;
        r->inferred = waits && !seen;
        r->times = e->n;
        r->total_ns = e->total_ns;
    }
    grow_sum(waits ? &t->sums.waiting_ns : &t->sums.off_cpu_ns, e->total_ns);
    if (b->depth == 0)
        return;
    struct timeline_row *around = &t->rows[b->open[b->depth - 1]];
    struct timeline_function *f = function_of(b, b->frame[around - t->rows]);
    grow_sum(&around->own_ns, -e->total_ns);
    grow_sum(waits ? &around->waiting_ns : &around->off_cpu_ns, e->total_ns);
    grow_sum(waits ? &f->waiting_ns : &f->off_cpu_ns, e->total_ns);
}

static void put_gap(struct build *b, const struct entry *e)
{
    struct timeline_row *r = add_timeline_row(b, e);
    r->calls = e->n;
    r->at_most = e->at_most;
    b->t->sums.gaps++;
    b->t->sums.missing += e->n < UINT32_MAX ? e->n : UINT32_MAX;
}

static int by_own(const void *a, const void *b)
{
    const struct timeline_function *x = a, *y = b;
    if (x->own_ns != y->own_ns)
        return x->own_ns < y->own_ns ? 1 : -1;
    return slice_order(x->name, y->name);
}

static void begin_sums(struct timeline *t, int64_t from_ns, int64_t until_ns)
{
    const bool ok = is_time(from_ns, until_ns);
    t->sums = (struct timeline_sums){.from_ns = ok ? from_ns : 0, .until_ns = ok ? until_ns : 0};
    t->sums.followed_from_ns = t->any_follow ? t->follow_from : t->sums.until_ns;
    t->sums.followed_until_ns = t->any_unfollow ? t->follow_until : t->sums.until_ns;
    if (t->sums.followed_until_ns < t->sums.followed_from_ns)
        t->sums.followed_until_ns = t->sums.followed_from_ns;
    t->sums.dropped = t->dropped;
}

static void walk_entries(struct build *b)
{
    struct timeline *t = b->t;
    for (size_t i = 0; i < t->n_entries; i++)
        if (t->entries[i]->kind == TIMELINE_OFF_CPU && t->entries[i]->why == TIMELINE_WAITS)
            b->waits[t->entries[i]->frame] = true;
    for (size_t i = 0; i < t->n_entries; i++) {
        const struct entry *e = t->entries[i];
        close_until(b, e->from_ns);
        if (e->kind == TIMELINE_CALL)
            put_timeline_call(b, e);
        else if (e->kind == TIMELINE_GAP)
            put_gap(b, e);
        else
            put_off(b, e);
    }
    while (b->depth > 0)
        close_call(b);
}

void timeline_build(struct timeline *t, int64_t from_ns, int64_t until_ns)
{
    const size_t frames = stacks_frames(t->names) + 1;
    struct build b = {.t = t,
                      .waits = alloc_zero(frames, sizeof *b.waits),
                      .function = alloc_zero(frames, sizeof *b.function),
                      .inside = alloc_zero(frames, sizeof *b.inside),
                      .frame = alloc_zero(t->n_entries + 1, sizeof *b.frame),
                      .open = alloc_zero(t->n_entries + 1, sizeof *b.open)};
    free(t->rows);
    free(t->functions);
    t->rows = alloc_zero(t->n_entries + 1, sizeof *t->rows);
    t->functions = alloc_zero(frames, sizeof *t->functions);
    t->n_rows = t->n_functions = 0;
    begin_sums(t, from_ns, until_ns);
    if (t->n_entries > 0)
        qsort(t->entries, t->n_entries, sizeof *t->entries, by_start);
    walk_entries(&b);
    if (t->n_functions > 0)
        qsort(t->functions, t->n_functions, sizeof *t->functions, by_own);
    free(b.waits);
    free(b.function);
    free(b.inside);
    free(b.frame);
    free(b.open);
}

size_t timeline_rows(const struct timeline *t)
{
    return t->n_rows;
}

const struct timeline_row *timeline_row(const struct timeline *t, size_t i)
{
    assert(i < t->n_rows);
    return &t->rows[i];
}

size_t timeline_functions(const struct timeline *t)
{
    return t->n_functions;
}

const struct timeline_function *timeline_function(const struct timeline *t, size_t i)
{
    assert(i < t->n_functions);
    return &t->functions[i];
}

struct timeline_sums timeline_sums(const struct timeline *t)
{
    return t->sums;
}

/* ---- stacks */

static uint32_t off_frame(struct stacks *s, const struct timeline_row *r)
{
    char name[LIMIT_STACK_NAME_BYTES];
    struct sample_frame named = {.kind = FRAME_RUNTIME, .name = {name, 0}};
    const char *key = timeline_kind_key(r->kind);
    const size_t head = strlen(key);
    const size_t len =
        r->function.len < sizeof name - head - 2 ? r->function.len : sizeof name - head - 2;
    memcpy(name, key, head);
    name[head] = '(';
    memcpy(name + head + 1, r->function.s, len);
    name[head + 1 + len] = ')';
    named.name.len = head + len + 2;
    return stacks_frame(s, &named);
}

static void weigh_outside(struct stacks *s, const char *name, int64_t ns)
{
    const struct sample_frame frame = {.kind = FRAME_RUNTIME, .name = slice_of(name)};
    if (ns > 0)
        stacks_weigh(s, stacks_step(s, 0, stacks_frame(s, &frame)), (double)ns / 1e3);
}

struct stacks *timeline_stacks(const struct timeline *t)
{
    struct stacks *s = stacks_new();
    uint32_t *nodes = alloc_zero(t->n_rows + 1, sizeof *nodes);
    int64_t inside = t->sums.calls_ns;
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct timeline_row *r = &t->rows[i];
        const uint32_t parent = r->parent != TIMELINE_NONE ? nodes[r->parent] : 0;
        const bool deep = r->depth >= LIMIT_STACK_DEPTH - 2; /* such calls weigh on the one above */
        const struct sample_frame call = {.kind = FRAME_ERLANG, .name = r->function};
        nodes[i] = parent;
        if (r->kind == TIMELINE_GAP)
            continue;
        const uint32_t frame = r->kind == TIMELINE_CALL ? stacks_frame(s, &call) : off_frame(s, r);
        const uint32_t node =
            deep && r->kind == TIMELINE_CALL ? parent : stacks_step(s, parent, frame);
        nodes[i] = node;
        stacks_weigh(s, node, (double)(r->kind == TIMELINE_CALL ? r->own_ns : r->total_ns) / 1e3);
        if (r->kind != TIMELINE_CALL && r->parent == TIMELINE_NONE)
            grow_sum(&inside, r->total_ns);
    }
    const int64_t all = t->sums.until_ns - t->sums.from_ns;
    const int64_t unfollowed = all - (t->sums.followed_until_ns - t->sums.followed_from_ns);
    const int64_t rest = all - inside;
    const int64_t unknown = unfollowed < rest ? unfollowed : rest;
    weigh_outside(s, OUTSIDE, rest - unknown);
    weigh_outside(s, OUTSIDE_UNKNOWN, unknown);
    free(nodes);
    return s;
}

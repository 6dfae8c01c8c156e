/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of the sampler, read back and summed. A file may be anyone's: what no recorder writes is
 * refused, since sums and trees are made of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "recording_internal.h"

#define MOST 1e15 /* of any number of a run, above all that a sampler counts */

/* Which runs: of a period of ticks and a kind, or (0: any) the one of that id. */
struct asked {
    int64_t from, to;
    bool at_yields;
    int64_t id;
};
#define OF_RUNS " r.tick BETWEEN ?1 AND ?2 AND r.at_yields = ?3 AND (?4 = 0 OR r.id = ?4)"

static bool ask(struct recording *r, sqlite3_stmt **s, const char *sql, const struct asked *a)
{
    if (!recording_ask(r, s, sql))
        return false;
    sqlite3_bind_int64(*s, 1, a->from);
    sqlite3_bind_int64(*s, 2, a->to);
    sqlite3_bind_int64(*s, 3, a->at_yields);
    sqlite3_bind_int64(*s, 4, a->id);
    return true;
}

static void refuse(struct recording *r)
{
    recording_refuse(r, "a run of the sampler in the recording is damaged");
}

/* NULL: NaN, which makes a sum unknown. */
static double number_at(struct recording *r, sqlite3_stmt *s, int at)
{
    if (sqlite3_column_type(s, at) == SQLITE_NULL)
        return NAN;
    double v = sqlite3_column_double(s, at);
    if (!(v >= 0 && v <= MOST))
        refuse(r);
    return v;
}

/* NULL: -1. */
static int64_t count_at(struct recording *r, sqlite3_stmt *s, int at)
{
    double v = number_at(r, s, at);
    return v >= 0 && v <= MOST ? (int64_t)v : -1;
}

static void add_count(struct recording *r, int64_t *sum, int64_t v)
{
    *sum = *sum < 0 || v < 0 ? -1 : *sum + v;
    if (*sum > (int64_t)MOST)
        refuse(r);
}

/* ---- the runs */

static const char runs_sql[] =
    "SELECT id, tick, wall_us, ns, hz, samples, lost, moved_on, truncated, unresolved, complete,"
    " sampler_cpu_s, target_cpu_s, left_out, erlang, bif, gc, runtime, nif, scheduler, other"
    " FROM sample_run r WHERE" OF_RUNS " ORDER BY id";
enum { AT_COUNTS = 5, AT_CPU = 11, AT_CLASSES = 14 };

static void add_run(struct recording *r, sqlite3_stmt *s, struct recorded_samples *out)
{
    struct samples_summary *run = &out->run;
    int64_t *const counts[] = {&run->samples,   &run->lost,       &run->moved_on,
                               &run->truncated, &run->unresolved, &run->complete};
    const double hz = number_at(r, s, 4), samples = number_at(r, s, AT_COUNTS);
    out->id = db_column_count(s, 0);
    out->tick = db_column_count(s, 1);
    if (out->runs == 0)
        run->wall_us = db_column_int(s, 2);
    run->hz = out->runs == 0 || run->hz == hz ? hz : (double)NAN;
    run->seconds += number_at(r, s, 3) / 1e9;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        int64_t v = count_at(r, s, AT_COUNTS + (int)i);
        if (i != 1 && (double)v > samples) /* lost ones are not among them */
            refuse(r);
        add_count(r, counts[i], v);
    }
    run->sampler_cpu_s += number_at(r, s, AT_CPU);
    run->target_cpu_s += number_at(r, s, AT_CPU + 1);
    out->left_out += number_at(r, s, AT_CPU + 2);
    double classes = 0;
    for (int i = 0; i < SAMPLE_CLASSES; i++) {
        int64_t v = count_at(r, s, AT_CLASSES + i);
        add_count(r, &run->classes[i], v);
        classes += (double)v;
    }
    if (!(samples >= 0) || classes > samples)
        refuse(r);
    out->runs++;
}

static void read_runs(struct recording *r, const struct asked *a, struct recorded_samples *out)
{
    sqlite3_stmt *s = NULL;
    if (!ask(r, &s, runs_sql, a))
        return;
    while (recording_row(r, s))
        add_run(r, s, out);
    sqlite3_finalize(s);
}

/* ---- their stacks */

struct frame_ids {
    struct frame_id {
        int64_t id; /* of the file */
        uint32_t frame;
    } * list; /* sorted: as they were read */
    size_t n;
};

static int by_id(const void *a, const void *b)
{
    const struct frame_id *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static enum frame_kind kind_of(struct slice key)
{
    int kind = 0;
    while (kind < FRAME_KINDS && !slice_is(key, frame_kind_key((enum frame_kind)kind)))
        kind++;
    return kind < FRAME_KINDS ? (enum frame_kind)kind : FRAME_UNKNOWN;
}

static const char frames_sql[] =
    "SELECT f.id, f.kind, f.line, n.text, o.text, s.text, (n.text NOT NULL)"
    " AND (f.object = 0 OR o.text NOT NULL) AND (f.file = 0 OR s.text NOT NULL)"
    " FROM sample_frame f LEFT JOIN text n ON n.id = f.name LEFT JOIN text o ON o.id = f.object"
    " LEFT JOIN text s ON s.id = f.file WHERE f.id IN (SELECT d.frame FROM sample_node d"
    " JOIN sample_run r ON r.id = d.run WHERE" OF_RUNS ") ORDER BY f.id";

static void read_frames(struct recording *r, const struct asked *a, struct stacks *to,
                        struct frame_ids *out)
{
    sqlite3_stmt *s = NULL;
    size_t cap = 0;
    if (!ask(r, &s, frames_sql, a))
        return;
    while (recording_row(r, s)) {
        int64_t line = db_column_int(s, 2);
        if (line < 0 || line > UINT32_MAX || sqlite3_column_int(s, 6) != 1)
            refuse(r);
        const struct sample_frame f = {kind_of(db_column_text(s, 1)), db_column_text(s, 3),
                                       db_column_text(s, 4), db_column_text(s, 5), (uint32_t)line};
        if (out->n == cap) {
            cap = cap > 0 ? 2 * cap : 256;
            out->list = alloc_resize(out->list, cap, sizeof *out->list);
        }
        out->list[out->n++] = (struct frame_id){sqlite3_column_int64(s, 0), stacks_frame(to, &f)};
    }
    sqlite3_finalize(s);
}

/* The tree of one run, while its rows come: where each of its nodes is in the sum. */
struct tree {
    int64_t run;
    uint32_t rest; /* in the sum, for what finds no room: "…" below the root; 0: not needed yet */
    size_t n, cap;
    struct place {
        uint32_t index, depth;
    } * places;
};

/* The last node there is room for stands for all that have none. What a run itself left out is
 * counted with the run. */
static uint32_t add_child(struct tree *t, struct recorded_samples *out, uint32_t parent,
                          uint32_t frame, double weight)
{
    const uint32_t rest = stacks_frame_of_rest(out->stacks);
    if (t->rest == 0 && stacks_nodes(out->stacks) + 1 == LIMIT_STACK_NODES)
        t->rest = stacks_step(out->stacks, 0, rest);
    uint32_t child = stacks_step(out->stacks, parent, frame);
    if (child == parent) {
        child = t->rest;
        out->left_out += frame != rest ? weight : 0;
    }
    stacks_weigh(out->stacks, child, weight);
    return child;
}

/* A node comes behind its parent, and numbers go up by one: so there is no circle, and no gap. */
static bool add_node(struct tree *t, sqlite3_stmt *s, const struct frame_ids *frames,
                     struct recorded_samples *out)
{
    const int64_t node = sqlite3_column_int64(s, 1), parent = sqlite3_column_int64(s, 2);
    const struct frame_id key = {.id = sqlite3_column_int64(s, 3)};
    const double weight = sqlite3_column_double(s, 4);
    const struct frame_id *f =
        frames->n > 0 ? bsearch(&key, frames->list, frames->n, sizeof key, by_id) : NULL;
    if (!(weight >= 0 && weight <= MOST) || node < 0 || (node != 0 && node != (int64_t)t->n))
        return false;
    if (node == 0) {
        stacks_weigh(out->stacks, 0, weight);
        return t->n == 1;
    }
    if (!f || parent < 0 || parent >= node || t->n >= LIMIT_STACK_NODES ||
        t->places[parent].depth >= LIMIT_STACK_DEPTH)
        return false;
    if (t->n == t->cap) {
        t->cap = 2 * t->cap;
        t->places = alloc_resize(t->places, t->cap, sizeof *t->places);
    }
    const struct place *up = &t->places[parent];
    const struct place own = {add_child(t, out, up->index, f->frame, weight), up->depth + 1};
    t->places[t->n++] = own;
    return true;
}

static const char nodes_sql[] =
    "SELECT d.run, d.node, d.parent, d.frame, d.samples FROM sample_run r JOIN sample_node d"
    " ON d.run = r.id WHERE" OF_RUNS " ORDER BY d.run, d.node";

static void read_stacks(struct recording *r, const struct asked *a, struct recorded_samples *out)
{
    sqlite3_stmt *s = NULL;
    struct frame_ids frames = {0};
    struct tree t = {.run = -1, .cap = 256};
    t.places = alloc_zero(t.cap, sizeof *t.places);
    read_frames(r, a, out->stacks, &frames);
    if (ask(r, &s, nodes_sql, a)) {
        while (recording_row(r, s)) {
            if (sqlite3_column_int64(s, 0) != t.run) {
                t.run = sqlite3_column_int64(s, 0);
                t.n = 1; /* the root, which has no row where nothing ends there */
            }
            if (!add_node(&t, s, &frames, out))
                refuse(r);
        }
        sqlite3_finalize(s);
    }
    free(frames.list);
    free(t.places);
}

/* ---- their processes and threads */

static const char sources_sql[] =
    "SELECT s.name, max(t.text), total(s.samples), min(s.samples) FROM sample_run r"
    " JOIN sample_source s ON s.run = r.id LEFT JOIN text t ON t.id = s.about"
    " WHERE" OF_RUNS " AND s.kind = ?5 GROUP BY s.name ORDER BY 3 DESC, 1 LIMIT ?6";

/* Where they were; the row without a place has their moves. Runs that are older have none. */
static const char places_sql[] =
    "SELECT s.name, t.text, total(s.samples), min(s.samples) FROM sample_run r"
    " JOIN sample_source s ON s.run = r.id LEFT JOIN text t ON t.id = s.about"
    " WHERE" OF_RUNS " AND s.kind = ?5 GROUP BY s.name, t.text ORDER BY 1, 3 DESC, 2";

static void add_place(struct arena *arena, struct samples_source *of, struct slice name,
                      int64_t samples)
{
    struct samples_place *places = arena_alloc(arena, (of->n_places + 1) * sizeof *places);
    if (of->n_places > 0)
        memcpy(places, of->places, of->n_places * sizeof *places);
    places[of->n_places++] = (struct samples_place){slice_keep(arena, name), samples};
    of->places = places;
}

static void read_places(struct recording *r, const struct asked *a, const char *kind,
                        struct arena *arena, struct samples_source *sources, size_t n)
{
    sqlite3_stmt *s = NULL;
    if (!ask(r, &s, places_sql, a))
        return;
    sqlite3_bind_text(s, 5, kind, -1, SQLITE_STATIC);
    while (recording_row(r, s)) {
        const struct slice name = db_column_text(s, 0), place = db_column_text(s, 1);
        size_t i = 0;
        if (sqlite3_column_double(s, 3) < 0)
            refuse(r);
        while (i < n && !slice_equal(sources[i].name, name))
            i++;
        if (i < n && sqlite3_column_type(s, 1) == SQLITE_NULL)
            sources[i].moves = count_at(r, s, 2);
        else if (i < n && sources[i].n_places < LIMIT_RECORDED_PLACES)
            add_place(arena, &sources[i], place, count_at(r, s, 2));
    }
    sqlite3_finalize(s);
}

static size_t read_sources(struct recording *r, const struct asked *a, const char *kind,
                           const char *place_kind, struct arena *arena,
                           const struct samples_source **out)
{
    sqlite3_stmt *s = NULL;
    size_t n = 0;
    struct samples_source *to = arena_alloc(arena, LIMIT_RECORDED_SOURCES * sizeof *to);
    *out = to;
    if (!ask(r, &s, sources_sql, a))
        return 0;
    sqlite3_bind_text(s, 5, kind, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 6, LIMIT_RECORDED_SOURCES);
    while (n < LIMIT_RECORDED_SOURCES && recording_row(r, s)) {
        if (sqlite3_column_double(s, 3) < 0)
            refuse(r);
        to[n++] = (struct samples_source){.name = slice_keep(arena, db_column_text(s, 0)),
                                          .about = slice_keep(arena, db_column_text(s, 1)),
                                          .samples = count_at(r, s, 2)};
    }
    sqlite3_finalize(s);
    read_places(r, a, place_kind, arena, to, n);
    return n;
}

/* ---- native calls that held a scheduler */

static const char held_sql[] =
    "SELECT c.text, o.text, b.text, h.process, n.text, h.thread, h.ns, h.samples FROM sample_run r"
    " JOIN sample_held h ON h.run = r.id LEFT JOIN text c ON c.id = h.call"
    " LEFT JOIN text o ON o.id = h.object LEFT JOIN text b ON b.id = h.caller"
    " LEFT JOIN text n ON n.id = h.name WHERE" OF_RUNS " ORDER BY h.ns DESC, 1, h.run LIMIT ?5";

/* Files that are older have no such table: not known. */
static void read_held(struct recording *r, const struct asked *a, struct arena *arena,
                      struct samples_summary *run)
{
    sqlite3_stmt *s = NULL;
    if (a->at_yields || !ask(r, &s, held_sql, a))
        return;
    struct samples_held *to = arena_alloc(arena, LIMIT_SAMPLED_HELD * sizeof *to);
    run->held = to;
    sqlite3_bind_int64(s, 5, LIMIT_SAMPLED_HELD);
    while (run->n_held < LIMIT_SAMPLED_HELD && recording_row(r, s)) {
        struct samples_held *held = &to[run->n_held++];
        *held = (struct samples_held){.seconds = number_at(r, s, 6) / 1e9};
        held->samples = count_at(r, s, 7);
        struct slice *const texts[] = {&held->call,    &held->object, &held->caller,
                                       &held->process, &held->name,   &held->thread};
        for (size_t k = 0; k < ARRAY_LEN(texts); k++)
            *texts[k] = slice_keep(arena, db_column_text(s, (int)k));
    }
    sqlite3_finalize(s);
}

/* ---- the whole */

static void begin(struct recorded_samples *out, const struct recording_info *info, bool at_yields)
{
    *out = (struct recorded_samples){.stacks = stacks_new()};
    arena_init(&out->arena);
    out->run = (struct samples_summary){.label = slice_keep(&out->arena, slice_of(info->node)),
                                        .otp = slice_keep(&out->arena, slice_of(info->otp)),
                                        .at_yields = at_yields,
                                        .wall_us = -1,
                                        .stacks = out->stacks};
}

static int read_all(struct recording *r, const struct asked *a, struct recorded_samples *out,
                    struct error *err)
{
    begin(out, &r->info, a->at_yields);
    read_runs(r, a, out);
    if (out->runs > 0) {
        struct samples_summary *run = &out->run;
        read_stacks(r, a, out);
        run->n_processes =
            read_sources(r, a, "process", "process_on", &out->arena, &run->processes);
        run->n_threads = read_sources(r, a, "thread", "thread_on", &out->arena, &run->threads);
        read_held(r, a, &out->arena, run);
    }
    if (recording_failed(r, err) == 0)
        return 0;
    recorded_samples_clear(out);
    begin(out, &r->info, a->at_yields);
    return (int)err->code;
}

int recording_samples(struct recording *r, int64_t from, int64_t to, bool at_yields,
                      struct recorded_samples *out, struct error *err)
{
    return read_all(r, &(struct asked){from, to, at_yields, 0}, out, err);
}

int64_t recording_samples_id(struct recording *r, int64_t tick)
{
    return recording_int(r, "SELECT max(id) FROM sample_run WHERE tick <= ?", tick, 0);
}

int recording_samples_of(struct recording *r, int64_t id, struct recorded_samples *out,
                         struct error *err)
{
    int64_t kind = recording_int(r, "SELECT at_yields FROM sample_run WHERE id = ?", id, 0);
    return read_all(r, &(struct asked){0, INT64_MAX, kind == 1, id}, out, err);
}

void recorded_samples_clear(struct recorded_samples *s)
{
    stacks_free(s->stacks);
    arena_clear(&s->arena);
    *s = (struct recorded_samples){0};
}

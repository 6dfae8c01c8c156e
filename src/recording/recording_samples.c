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

/* Which runs: of a period of ticks and a kind, or (0: any) the one of that id. */
enum { ASKED_FROM, ASKED_TO, ASKED_AT_YIELDS, ASKED_ID, ASKED };
#define OF_RUNS " tick BETWEEN ?1 AND ?2 AND at_yields = ?3 AND (?4 = 0 OR id = ?4)"
#define OF_THESE_RUNS " WHERE run IN (SELECT id FROM sample_run WHERE" OF_RUNS ")"

static void refuse_run(struct recording *r)
{
    recording_refuse(r, "a run of the sampler in the recording is damaged");
}

static void add_count(struct recording *r, int64_t *sum, int64_t v)
{
    *sum = *sum < 0 || v < 0 ? -1 : *sum + v;
    if (!number_is_sound((double)*sum) && *sum != -1)
        refuse_run(r);
}

/* ---- the runs: a number that is not known makes a sum unknown */

static void add_run(struct recording *r, const struct sample_run_row *row,
                    struct recorded_samples *out)
{
    const struct samples_summary *of = &row->of;
    struct samples_summary *run = &out->run;
    const int64_t counts[] = {of->moved_on, of->truncated, of->unresolved, of->complete};
    int64_t *const sums[] = {&run->moved_on, &run->truncated, &run->unresolved, &run->complete};
    out->id = row->id;
    out->tick = row->tick;
    if (out->runs == 0)
        run->wall_us = of->wall_us;
    run->hz = out->runs == 0 || run->hz == of->hz ? of->hz : (double)NAN;
    run->seconds += of->seconds;
    add_count(r, &run->samples, of->samples);
    add_count(r, &run->lost, of->lost); /* these are not among the samples */
    int64_t classes = 0;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        if (counts[i] > of->samples)
            refuse_run(r);
        add_count(r, sums[i], counts[i]);
    }
    run->sampler_cpu_s += of->sampler_cpu_s;
    run->target_cpu_s += of->target_cpu_s;
    out->left_out += row->left_out;
    for (int i = 0; i < SAMPLE_CLASSES; i++) {
        add_count(r, &run->classes[i], of->classes[i]);
        classes += of->classes[i];
    }
    if (of->samples < 0 || classes > of->samples)
        refuse_run(r);
    out->runs++;
}

static void read_runs(struct recording *r, const int64_t *asked, struct recorded_samples *out)
{
    sqlite3_stmt *s =
        recording_select(r, TABLE_SAMPLE_RUN, " WHERE" OF_RUNS " ORDER BY sample_run.id", asked);
    while (recording_row(r, s)) {
        struct sample_run_row row = {0};
        if (!tables_read(s, TABLE_SAMPLE_RUN, &out->arena, &row))
            refuse_run(r);
        add_run(r, &row, out);
    }
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

FIND_KEY(frame_kind_key, frame_kind, FRAME_KINDS)

static void read_frames(struct recording *r, const int64_t *asked, struct stacks *to,
                        struct frame_ids *out)
{
    sqlite3_stmt *s = recording_select(r, TABLE_SAMPLE_FRAME,
                                       " WHERE id IN (SELECT frame FROM sample_node" OF_THESE_RUNS
                                       ") ORDER BY sample_frame.id",
                                       asked);
    struct arena arena;
    size_t cap = 0;
    arena_init(&arena);
    while (recording_row(r, s)) {
        struct sample_frame_row row = {0};
        arena_reset(&arena);
        if (!tables_read(s, TABLE_SAMPLE_FRAME, &arena, &row))
            refuse_run(r);
        row.of.kind = frame_kind_key_find(row.kind);
        row.of.kind = row.of.kind < FRAME_KINDS ? row.of.kind : FRAME_UNKNOWN;
        if (out->n == cap) {
            cap = cap > 0 ? 2 * cap : 256;
            out->list = alloc_resize(out->list, cap, sizeof *out->list);
        }
        out->list[out->n++] = (struct frame_id){row.id, stacks_frame(to, &row.of)};
    }
    sqlite3_finalize(s);
    arena_clear(&arena);
}

/* The tree of one run, while its rows come: where each of its nodes is in the sum. */
struct tree {
    int64_t run;
    uint32_t rest; /* in the sum, for what finds no room: "…" below the root; 0: not needed yet */
    size_t n;
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
static bool add_node(struct tree *t, const struct sample_node_row *row,
                     const struct frame_ids *frames, struct recorded_samples *out)
{
    const struct frame_id key = {.id = row->frame.id};
    const struct frame_id *f =
        frames->n > 0 ? bsearch(&key, frames->list, frames->n, sizeof key, by_id) : NULL;
    if (row->node == 0) {
        stacks_weigh(out->stacks, 0, row->samples);
        return t->n == 1;
    }
    if (!f || row->node != (int64_t)t->n || row->parent < 0 || row->parent >= row->node ||
        t->n >= LIMIT_STACK_NODES || t->places[row->parent].depth >= LIMIT_STACK_DEPTH)
        return false;
    const struct place *up = &t->places[row->parent];
    const struct place own = {add_child(t, out, up->index, f->frame, row->samples), up->depth + 1};
    t->places[t->n++] = own;
    return true;
}

static void read_stacks(struct recording *r, const int64_t *asked, struct recorded_samples *out)
{
    struct frame_ids frames = {0};
    struct tree t = {.run = -1};
    t.places = alloc_zero(LIMIT_STACK_NODES, sizeof *t.places); /* most are never touched */
    read_frames(r, asked, out->stacks, &frames);
    sqlite3_stmt *s =
        recording_select(r, TABLE_SAMPLE_NODE, OF_THESE_RUNS " ORDER BY run, node", asked);
    while (recording_row(r, s)) {
        struct sample_node_row row = {0};
        bool sound = tables_read(s, TABLE_SAMPLE_NODE, &out->arena, &row);
        if (row.run.id != t.run) {
            t.run = row.run.id;
            t.n = 1; /* the root, which has no row where nothing ends there */
        }
        if (!sound || !(row.samples >= 0) || !add_node(&t, &row, &frames, out))
            refuse_run(r);
    }
    sqlite3_finalize(s);
    free(frames.list);
    free(t.places);
}

/* ---- their processes and threads, and where these were: the row without a place has their moves
 */

#define SOURCES(columns, kind, by)                                                                 \
    "SELECT " columns ", total(samples), min(samples) FROM sample_source s"                        \
    " LEFT JOIN text t ON t.id = about" OF_THESE_RUNS " AND kind = '" kind "' GROUP BY " by

static int64_t samples_at(struct recording *r, sqlite3_stmt *s)
{
    double sum = sqlite3_column_double(s, 2);
    if (number_is_sound(sum) && !(sqlite3_column_double(s, 3) < 0))
        return (int64_t)sum;
    refuse_run(r);
    return -1;
}

static void read_places(struct recording *r, const int64_t *asked, const char *sql,
                        struct arena *arena, struct samples_source *sources, size_t n)
{
    sqlite3_stmt *s = recording_ask(r, sql, asked);
    struct samples_place(*places)[LIMIT_RECORDED_PLACES] =
        arena_alloc(arena, (n + 1) * sizeof *places);
    for (size_t i = 0; i < n; i++)
        sources[i].places = places[i];
    while (recording_row(r, s)) {
        const struct slice name = db_column_text(s, 0), place = db_column_text(s, 1);
        const int64_t samples = samples_at(r, s);
        size_t i = 0;
        while (i < n && !slice_equal(sources[i].name, name))
            i++;
        if (i < n && sqlite3_column_type(s, 1) == SQLITE_NULL)
            sources[i].moves = samples;
        else if (i < n && sources[i].n_places < LIMIT_RECORDED_PLACES)
            places[i][sources[i].n_places++] =
                (struct samples_place){slice_keep(arena, place), samples};
    }
    sqlite3_finalize(s);
}

static size_t read_sources(struct recording *r, const int64_t *asked, const char *sql,
                           const char *places_sql, struct arena *arena,
                           const struct samples_source **out)
{
    size_t n = 0;
    struct samples_source *to = arena_alloc(arena, LIMIT_RECORDED_SOURCES * sizeof *to);
    sqlite3_stmt *s = recording_ask(r, sql, asked);
    *out = to;
    while (n < LIMIT_RECORDED_SOURCES && recording_row(r, s))
        to[n++] = (struct samples_source){.name = slice_keep(arena, db_column_text(s, 0)),
                                          .about = slice_keep(arena, db_column_text(s, 1)),
                                          .samples = samples_at(r, s)};
    sqlite3_finalize(s);
    read_places(r, asked, places_sql, arena, to, n);
    return n;
}

#define READ_SOURCES(kind, out)                                                                    \
    read_sources(r, asked, SOURCES("name, max(text)", kind, "name ORDER BY 3 DESC, 1"),            \
                 SOURCES("name, text", kind "_on", "name, text ORDER BY 1, 3 DESC, 2"), arena,     \
                 out)

/* ---- native calls that held a scheduler */

/* Files that are older have no such table: not known. */
static void read_held(struct recording *r, const int64_t *asked, struct arena *arena,
                      struct samples_summary *run)
{
    sqlite3_stmt *s =
        recording_select(r, TABLE_SAMPLE_HELD, OF_THESE_RUNS " ORDER BY ns DESC, 3, run", asked);
    struct samples_held *to = s ? arena_alloc(arena, LIMIT_SAMPLED_HELD * sizeof *to) : NULL;
    run->held = to;
    while (run->n_held < LIMIT_SAMPLED_HELD && recording_row(r, s)) {
        struct sample_held_row row = {0};
        if (!tables_read(s, TABLE_SAMPLE_HELD, arena, &row))
            refuse_run(r);
        to[run->n_held++] = row.of;
    }
    sqlite3_finalize(s);
}

/* ---- the whole */

static void begin_samples(struct recorded_samples *out, const struct recording_info *info,
                          bool at_yields)
{
    *out = (struct recorded_samples){.stacks = stacks_new()};
    arena_init(&out->arena);
    out->run = (struct samples_summary){.label = slice_keep(&out->arena, slice_of(info->node)),
                                        .otp = slice_keep(&out->arena, slice_of(info->otp)),
                                        .at_yields = at_yields,
                                        .wall_us = -1,
                                        .stacks = out->stacks};
}

static int read_all(struct recording *r, const int64_t *asked, struct recorded_samples *out,
                    struct error *err)
{
    const bool at_yields = asked[ASKED_AT_YIELDS] == 1;
    begin_samples(out, &r->info, at_yields);
    if (!r->db)
        return 0;
    read_runs(r, asked, out);
    if (out->runs > 0) {
        struct samples_summary *run = &out->run;
        struct arena *arena = &out->arena;
        read_stacks(r, asked, out);
        run->n_processes = READ_SOURCES("process", &run->processes);
        run->n_threads = READ_SOURCES("thread", &run->threads);
        if (!at_yields)
            read_held(r, asked, arena, run);
    }
    if (recording_failed(r, err) == 0)
        return 0;
    recorded_samples_clear(out);
    begin_samples(out, &r->info, at_yields);
    return (int)err->code;
}

int recording_samples(struct recording *r, int64_t from, int64_t to, bool at_yields,
                      struct recorded_samples *out, struct error *err)
{
    return read_all(r, (const int64_t[ASKED]){from, to, at_yields, 0}, out, err);
}

int64_t recording_samples_id(struct recording *r, int64_t tick)
{
    return recording_int(r, "SELECT max(id) FROM sample_run WHERE tick <= ?", tick, 0);
}

int recording_samples_of(struct recording *r, int64_t id, struct recorded_samples *out,
                         struct error *err)
{
    int64_t kind = recording_int(r, "SELECT at_yields FROM sample_run WHERE id = ?", id, 0);
    return read_all(r, (const int64_t[ASKED]){0, INT64_MAX, kind == 1, id}, out, err);
}

void recorded_samples_clear(struct recorded_samples *s)
{
    stacks_free(s->stacks);
    arena_clear(&s->arena);
    *s = (struct recorded_samples){0};
}

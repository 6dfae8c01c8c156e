/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of the sampler on their way into a recording: pruned when they come, written with a tick. */
#include <math.h>

#include "beamtop/base/limits.h"
#include "recorder_internal.h"

struct run_node {
    uint32_t parent, frame; /* frame: index into those of the run */
    double samples;
};

/* A copy that waits for its tick. */
struct recorder_run {
    struct samples_summary of; /* its sources: those that are kept */
    double left_out;
    struct sample_frame *frames;
    size_t n_frames;
    struct run_node *nodes; /* [0]: the root */
    size_t n_nodes;
};

static void keep_places(struct arena *a, struct samples_source *of)
{
    struct samples_place *to = arena_alloc(a, (of->n_places + 1) * sizeof *to);
    if (of->n_places > LIMIT_RECORDED_PLACES)
        of->n_places = LIMIT_RECORDED_PLACES;
    for (size_t i = 0; i < of->n_places; i++)
        to[i] = (struct samples_place){slice_keep(a, of->places[i].name), of->places[i].samples};
    of->places = to;
}

/* Those with most samples come first. */
static void keep_sources(struct arena *a, const struct samples_source **list, size_t *n)
{
    const struct samples_source *from = *list;
    *n = *n < LIMIT_RECORDED_SOURCES ? *n : LIMIT_RECORDED_SOURCES;
    struct samples_source *to = arena_alloc(a, (*n + 1) * sizeof *to);
    for (size_t i = 0; i < *n; i++) {
        to[i] = from[i];
        to[i].name = slice_keep(a, from[i].name);
        to[i].about = slice_keep(a, from[i].about);
        keep_places(a, &to[i]);
    }
    *list = to;
}

/* The longest come first. */
static void keep_held(struct arena *a, struct samples_summary *of)
{
    of->n_held = of->n_held < LIMIT_SAMPLED_HELD ? of->n_held : LIMIT_SAMPLED_HELD;
    struct samples_held *to = arena_alloc(a, (of->n_held + 1) * sizeof *to);
    for (size_t i = 0; i < of->n_held; i++) {
        to[i] = of->held[i];
        struct slice *const texts[] = {&to[i].call,    &to[i].object, &to[i].caller,
                                       &to[i].process, &to[i].name,   &to[i].thread};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            *texts[k] = slice_keep(a, *texts[k]);
    }
    of->held = to;
}

static void keep_tree(struct arena *a, struct recorder_run *run, const struct stacks *s)
{
    run->n_frames = stacks_frames(s);
    run->n_nodes = stacks_nodes(s);
    run->frames = arena_alloc(a, (run->n_frames + 1) * sizeof *run->frames);
    run->nodes = arena_alloc(a, run->n_nodes * sizeof *run->nodes);
    for (uint32_t id = 0; id < run->n_frames; id++) {
        struct sample_frame *f = &run->frames[id];
        *f = *stacks_frame_at(s, id);
        f->name = slice_keep(a, f->name);
        f->object = slice_keep(a, f->object);
        f->file = slice_keep(a, f->file);
    }
    for (uint32_t i = 0; i < run->n_nodes; i++) {
        const struct stacks_node *node = stacks_node(s, i);
        run->nodes[i] = (struct run_node){node->parent, node->frame, node->self};
    }
}

void recorder_samples(struct recorder *r, const struct samples_summary *run)
{
    if (r->ended)
        return;
    struct recorder_run *kept = arena_alloc(&r->arena, sizeof *kept);
    struct stacks *pruned = stacks_pruned(run->stacks, LIMIT_RECORDED_NODES, 0, &kept->left_out);
    kept->of = *run;
    keep_sources(&r->arena, &kept->of.processes, &kept->of.n_processes);
    keep_sources(&r->arena, &kept->of.threads, &kept->of.n_threads);
    keep_held(&r->arena, &kept->of);
    keep_tree(&r->arena, kept, pruned);
    stacks_free(pruned);
    recorder_add(r, STMT_SAMPLES)->run = kept;
}

/* ---- written with a tick */

static int put_run(struct recorder *r, const struct recorder_run *run, struct error *err)
{
    const struct samples_summary *of = &run->of;
    const int64_t counts[] = {of->samples > 0 ? of->samples : 0,
                              of->lost,
                              of->moved_on,
                              of->truncated,
                              of->unresolved,
                              of->complete};
    sqlite3_stmt *s = r->stmts[STMT_SAMPLES];
    int at = 1;
    sqlite3_bind_int64(s, at++, r->ticks + 1);
    db_bind_int(s, at++, of->wall_us);
    sqlite3_bind_int64(s, at++, of->seconds > 0 ? llround(of->seconds * 1e9) : 0);
    db_bind_real(s, at++, of->hz);
    sqlite3_bind_int64(s, at++, of->at_yields);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        db_bind_int(s, at++, counts[i]);
    db_bind_real(s, at++, of->sampler_cpu_s);
    db_bind_real(s, at++, of->target_cpu_s);
    for (int i = 0; i < SAMPLE_CLASSES; i++)
        db_bind_int(s, at++, of->at_yields ? -1 : of->classes[i]);
    db_bind_real(s, at, run->left_out);
    return db_run(r->db, s, err);
}

/* Of the file: frames are the same in many runs. */
static int put_frame(struct recorder *r, const struct sample_frame *f, int64_t *id,
                     struct error *err)
{
    sqlite3_stmt *const stmts[] = {r->stmts[STMT_FRAME_ID], r->stmts[STMT_FRAME]};
    int64_t name, object, file;
    if (recorder_text_id(r, f->name, &name, err) != 0 ||
        recorder_text_id(r, f->object, &object, err) != 0 ||
        recorder_text_id(r, f->file, &file, err) != 0)
        return (int)err->code;
    for (size_t i = 0; i < 2; i++) {
        sqlite3_bind_text(stmts[i], 1, frame_kind_key(f->kind), -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmts[i], 2, name);
        sqlite3_bind_int64(stmts[i], 3, object);
        sqlite3_bind_int64(stmts[i], 4, file);
        sqlite3_bind_int64(stmts[i], 5, f->line);
    }
    bool known = sqlite3_step(stmts[0]) == SQLITE_ROW;
    *id = known ? sqlite3_column_int64(stmts[0], 0) : 0;
    sqlite3_reset(stmts[0]);
    if (known)
        return 0;
    int rc = db_run(r->db, stmts[1], err);
    *id = sqlite3_last_insert_rowid(r->db);
    return rc;
}

static int put_nodes(struct recorder *r, const struct recorder_run *run, int64_t id,
                     struct error *err)
{
    sqlite3_stmt *s = r->stmts[STMT_NODE];
    int64_t *ids = arena_alloc(&r->arena, (run->n_frames + 1) * sizeof *ids);
    int rc = 0;
    for (size_t i = 0; i < run->n_frames && rc == 0; i++)
        rc = put_frame(r, &run->frames[i], &ids[i], err);
    for (size_t i = 0; i < run->n_nodes && rc == 0; i++) {
        const struct run_node *node = &run->nodes[i];
        if (i == 0 && node->samples <= 0)
            continue; /* of most runs nothing ends at the root */
        sqlite3_bind_int64(s, 1, id);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        sqlite3_bind_int64(s, 3, node->parent);
        sqlite3_bind_int64(s, 4, i > 0 ? ids[node->frame] : 0);
        sqlite3_bind_double(s, 5, node->samples);
        rc = db_run(r->db, s, err);
    }
    return rc;
}

static int put_source(struct recorder *r, int64_t id, const char *kind, size_t rank,
                      const struct samples_source *of, struct error *err)
{
    sqlite3_stmt *s = r->stmts[STMT_SOURCE];
    sqlite3_bind_int64(s, 1, id);
    sqlite3_bind_text(s, 2, kind, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 3, (int64_t)rank);
    db_bind_text(s, 4, of->name);
    if (recorder_bind_text(r, s, 5, of->about, err) != 0)
        return (int)err->code;
    db_bind_int(s, 6, of->samples);
    return db_run(r->db, s, err);
}

/* Rows of two kinds: the sources, and where these were. */
static int put_sources(struct recorder *r, int64_t id, const char *kind, const char *place_kind,
                       const struct samples_source *list, size_t n, struct error *err)
{
    size_t rank = 0;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct samples_source moves = {.name = list[i].name, .samples = list[i].moves};
        rc = put_source(r, id, kind, i, &list[i], err);
        if (list[i].n_places > 0 && rc == 0)
            rc = put_source(r, id, place_kind, rank++, &moves, err);
        for (size_t k = 0; k < list[i].n_places && rc == 0; k++) {
            const struct samples_place *place = &list[i].places[k];
            const struct samples_source there = {list[i].name, place->name, place->samples,
                                                 NULL,         0,           0};
            rc = put_source(r, id, place_kind, rank++, &there, err);
        }
    }
    return rc;
}

static int put_held(struct recorder *r, int64_t id, const struct samples_summary *of,
                    struct error *err)
{
    sqlite3_stmt *s = r->stmts[STMT_HELD];
    int rc = 0;
    for (size_t i = 0; i < of->n_held && rc == 0; i++) {
        const struct samples_held *held = &of->held[i];
        sqlite3_bind_int64(s, 1, id);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        db_bind_text(s, 6, held->process);
        db_bind_text(s, 8, held->thread);
        sqlite3_bind_int64(s, 9, held->seconds > 0 ? llround(held->seconds * 1e9) : 0);
        sqlite3_bind_int64(s, 10, held->samples);
        if (recorder_bind_text(r, s, 3, held->call, err) != 0 ||
            recorder_bind_text(r, s, 4, held->object, err) != 0 ||
            recorder_bind_text(r, s, 5, held->caller, err) != 0 ||
            recorder_bind_text(r, s, 7, held->name, err) != 0)
            return (int)err->code;
        rc = db_run(r->db, s, err);
    }
    return rc;
}

int recorder_put_samples(struct recorder *r, const struct pending *p, struct error *err)
{
    const struct recorder_run *run = p->run;
    if (put_run(r, run, err) != 0)
        return (int)err->code;
    const int64_t id = sqlite3_last_insert_rowid(r->db);
    if (put_nodes(r, run, id, err) != 0 || put_held(r, id, &run->of, err) != 0 ||
        put_sources(r, id, "process", "process_on", run->of.processes, run->of.n_processes, err) !=
            0)
        return (int)err->code;
    return put_sources(r, id, "thread", "thread_on", run->of.threads, run->of.n_threads, err);
}

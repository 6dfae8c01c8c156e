/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet_recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/build.h"
#include "beamtop/recording/recording.h"
#include "fleet_index.h"
#include "fleet_internal.h"

struct recorded_row {
    char name[LIMIT_NODE_NAME_BYTES + 1]; /* of a node that has two: its file */
    char *path;
    char otp[64], note[300];
    bool is_readable;
    double memory, utilisation, run_queue, processes, reductions_per_s, cost_share;
};

struct fleet_recorded {
    struct fleet_index index;
    struct recorded_row *rows; /* one for each of its nodes */
};

bool fleet_recorded_is_asked(const char *target)
{
    struct stat st;
    char *path = target ? alloc_printf("%s/" FLEET_INDEX_FILE, target) : NULL;
    const bool is_asked = path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
    free(path);
    return is_asked;
}

/* ---- reading */

/* NaN: unknown. */
static double read_mean(struct recording *r, const char *key)
{
    struct period_stats stats = {.mean = NAN};
    struct error ignored = {0};
    (void)recording_stats(r, key, 1, recording_info(r)->ticks, &stats, &ignored);
    return stats.mean;
}

static void note_period(struct recorded_row *row, const struct recording_info *info,
                        const struct recorded_node *node)
{
    char from[40], to[40];
    (void)text_date_time(from, sizeof from, info->first_us, ' ', 0);
    (void)text_date_time(to, sizeof to, info->last_us, ' ', 0);
    snprintf(row->note, sizeof row->note, "%lld ticks, %s to %s UTC%s%.200s",
             (long long)info->ticks, from, to, *node->why ? ": " : "", node->why);
}

static void read_recorded(struct recorded_row *row, const struct recorded_node *node)
{
    struct recording *r = NULL;
    struct error err = {0};
    if (recording_open(&r, row->path, &err) != 0) {
        snprintf(row->note, sizeof row->note, "%.299s", *node->why ? node->why : err.text);
        return;
    }
    row->is_readable = true;
    snprintf(row->otp, sizeof row->otp, "%s", recording_info(r)->otp);
    note_period(row, recording_info(r), node);
    row->memory = read_mean(r, "memory_total_bytes");
    row->utilisation = read_mean(r, "scheduler_utilisation");
    row->run_queue = read_mean(r, "run_queue");
    row->processes = read_mean(r, "processes");
    row->reductions_per_s = read_mean(r, "reductions_per_s");
    row->cost_share = recording_cost(r, 1, recording_info(r)->ticks).share;
    recording_close(r);
}

static bool is_name_twice(const struct fleet_recorded *r, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(r->index.nodes[i].name, r->index.nodes[at].name) == 0)
            return true;
    return false;
}

int fleet_recorded_open(struct fleet_recorded **out, const char *dir, struct error *err)
{
    struct fleet_recorded *r = alloc_zero(1, sizeof *r);
    if (fleet_index_open(&r->index, dir, err) != 0) {
        fleet_recorded_close(r);
        return err->code;
    }
    r->rows = alloc_zero(r->index.n, sizeof *r->rows);
    for (size_t i = 0; i < r->index.n; i++) {
        const struct recorded_node *node = &r->index.nodes[i];
        struct recorded_row *row = &r->rows[i];
        snprintf(row->name, sizeof row->name, "%s", is_name_twice(r, i) ? node->file : node->name);
        row->path = alloc_printf("%s/%s", dir, node->file);
        read_recorded(row, node);
    }
    *out = r;
    return 0;
}

void fleet_recorded_close(struct fleet_recorded *r)
{
    if (!r)
        return;
    for (size_t i = 0; r->rows && i < r->index.n; i++)
        free(r->rows[i].path);
    free(r->rows);
    fleet_index_clear(&r->index);
    free(r);
}

const char *fleet_recorded_path(const struct fleet_recorded *r, const char *name)
{
    for (size_t i = 0; i < r->index.n; i++)
        if (strcmp(r->rows[i].name, name) == 0)
            return r->rows[i].path;
    return NULL;
}

/* ---- rows */

/* What is not of a moment is a mean. */
static struct fleet_row row_of(const struct recorded_row *row, const struct recorded_node *node)
{
    struct fleet_row out = fleet_row_unknown(node->name);
    out.node = slice_of(row->name);
    out.state = slice_of(row->is_readable ? "recorded" : "failed");
    out.otp = slice_of(row->otp);
    out.note = slice_of(row->note);
    if (!row->is_readable)
        return out;
    out.memory_bytes = fleet_count_of(row->memory);
    out.utilisation = row->utilisation;
    out.run_queue = fleet_count_of(row->run_queue);
    out.processes = fleet_count_of(row->processes);
    out.reductions_per_s = row->reductions_per_s;
    out.cost_share = row->cost_share;
    if (node->end.wall_us > 0) {
        out.offset_us = node->end.offset_us;
        out.bound_us = fleet_count_of(node->end.bound_us);
    }
    return out;
}

int fleet_recorded_take(const struct fleet_recorded *r, struct model *m, struct error *err)
{
    struct builder *b = builder_new();
    size_t len;
    build_tuple(b, 4);
    build_atom(b, "fleet");
    build_int(b, (int64_t)clock_mono_ns());
    build_list(b, r->index.n);
    for (size_t i = 0; i < r->index.n; i++) {
        const struct fleet_row row = row_of(&r->rows[i], &r->index.nodes[i]);
        fleet_build_row(b, &row);
    }
    build_nil(b);
    build_bool(b, false);
    const uint8_t *bytes = builder_bytes(b, &len);
    const int rc = model_take(m, QUESTION_FLEET, bytes + 1, len - 1, NULL, clock_mono_ns(), err);
    builder_free(b);
    return rc;
}

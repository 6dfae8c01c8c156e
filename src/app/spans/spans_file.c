/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spans_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/cli/exit_code.h"
#include "app/cli/output.h"
#include "app/cli/tell.h"
#include "app/source/replay.h"
#include "beamtop/base/alloc.h"
#include "beamtop/model/model.h"
#include "beamtop/recording/recording.h"

#define BESIDE_MOST 10000u /* system events of the time of a capture */
#define LATE_US 100000     /* they are taken up to so long after */

static enum spans_format format_of(enum cli_format format)
{
    return format == FORMAT_JSON          ? SPANS_JSON
           : format == FORMAT_FOLDED      ? SPANS_FOLDED
           : format == FORMAT_SPEEDSCOPE  ? SPANS_SPEEDSCOPE
           : format == FORMAT_TRACE_EVENT ? SPANS_TRACE_EVENT
           : format == FORMAT_OTLP        ? SPANS_OTLP
                                          : SPANS_TEXT;
}

struct spans_sink_options spans_file_options(const struct cli_options *o, const struct app_env *env)
{
    return (struct spans_sink_options){
        .format = format_of(o->format),
        .ascii = o->ascii || !env->utf8,
        .slower_ns = (int64_t)(o->slower_s * 1e9),
        .raw_waits = o->raw_waits,
        .rows = o->top_given ? (size_t)o->top : 0,
    };
}

/* ---- system events of its time */

struct events_beside {
    struct system_event *list;
    size_t n;
    int64_t from_us, to_us;
};

static int keep_event(void *arg, const struct system_event *e, struct error *err)
{
    struct events_beside *b = arg;
    (void)err;
    if (e->wall_us >= b->from_us && e->wall_us <= b->to_us && b->n < BESIDE_MOST)
        b->list[b->n++] = *e;
    return 0;
}

/* A capture is in the tick at which it had ended. */
static void find_beside(struct recording *r, const struct spans_run *run, struct events_beside *out)
{
    int64_t *ids;
    const int64_t from = recording_tick_at(r, out->from_us), to = INT64_MAX;
    struct error ignored = {0}; /* the recording keeps it */
    if (run->wall_us <= 0)
        return;
    const size_t n = recording_event_runs(r, from, to, &ids);
    out->list = alloc_zero(BESIDE_MOST, sizeof *out->list); /* most are never touched */
    for (size_t i = 0; i < n; i++)
        (void)recording_system_events(r, ids[i], from, to, keep_event, out, &ignored);
    free(ids);
}

static void put_capture(struct recording *r, const struct spans_run *run,
                        struct spans_sink_options options)
{
    struct sink_output output = {.writer = sink_writer_of(stdout)};
    struct error err = {0};
    const double seconds = run->seconds > 0 && run->seconds < 1e6 ? run->seconds : 0;
    struct events_beside beside = {.from_us = run->wall_us,
                                   .to_us = run->wall_us + (int64_t)(seconds * 1e6) + LATE_US};
    if (options.format == SPANS_TRACE_EVENT && recording_info(r)->has_events)
        find_beside(r, run, &beside);
    options.events = beside.list;
    options.n_events = beside.n;
    spans_put(&output, run, &options, &err); /* a write that failed is found by output_check() */
    free(beside.list);
}

/* ---- the command */

static int check_words(const struct cli_options *o, struct error *err)
{
    if (o->n_rest > 0 || o->request.process || o->request.calls || o->with || o->samples)
        return error_set(err, ERR_USAGE,
                         "%s is a recording: it has the captures that were recorded; patterns, "
                         "--process, --calls, --with and --samples are for live nodes",
                         o->target);
    return 0;
}

/* The last capture until then. */
static int print_capture(struct replay *replay, const struct cli_options *o,
                         const struct app_env *env, struct error *err)
{
    struct recording *r = replay_recording(replay);
    struct spans_run *run = NULL;
    int64_t tick = INT64_MAX;
    if (o->at && replay_find(replay, o->at, &tick, err) != 0)
        return (int)err->code;
    recording_begin(r);
    const int64_t id = recording_info(r)->has_spans ? recording_spans_id(r, tick) : 0;
    if (id <= 0)
        return error_set(err, ERR_NOT_FOUND, "%s: no spans were captured%s (record --spans)",
                         o->target, o->at ? " until then" : "");
    if (recording_spans_of(r, id, &run, err) != 0)
        return (int)err->code;
    put_capture(r, run, spans_file_options(o, env));
    spans_run_free(run);
    return recording_failed(r, err);
}

int spans_file(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct replay *r = NULL;
    struct model *m = model_new();
    if (check_words(o, &err) == 0 && replay_open(&r, o->target, m, &err) == 0)
        (void)print_capture(r, o, env, &err);
    replay_close(r);
    model_free(m);
    if (err.code == ERR_FORMAT) /* bad input */
        err.code = ERR_USAGE;
    return output_check(err.code == ERR_NONE ? EXIT_DONE : tell_error(&err));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/cli/tell.h"
#include "app/source/replay.h"
#include "beamtop/base/alloc.h"
#include "beamtop/model/model.h"
#include "beamtop/output/trace_sink.h"
#include "beamtop/recording/recording.h"

/* Patterns are for live nodes. */
static int check_patterns(const struct cli_options *o, const char *what, struct error *err)
{
    if (o->n_rest == 0)
        return 0;
    return error_set(err, ERR_USAGE,
                     "%s is a recording: it has the %s, patterns are for live nodes", o->target,
                     what);
}

/* A recording that cannot be read is bad input. */
static int end_file(struct error *err)
{
    if (err->code == ERR_FORMAT)
        err->code = ERR_USAGE;
    return err->code == ERR_NONE ? EXIT_DONE : tell_error(err);
}

/* ---- calls */

/* From which tick on, and how many: 0 is the last one at or before it. */
static int choose_windows(struct replay *r, const struct cli_options *o, int64_t *tick,
                          int64_t *most, struct error *err)
{
    bool many = o->windows_given;
    *tick = many ? 1 : INT64_MAX;
    *most = !many ? 0 : o->windows > 0 ? o->windows : INT64_MAX;
    return o->at ? replay_find(r, o->at, tick, err) : 0;
}

static int print_windows(struct replay *r, const struct cli_options *o, struct calls_sink *sink,
                         struct error *err)
{
    int64_t tick = 0, most = 0, n = 0;
    recording_begin(replay_recording(r));
    int rc = choose_windows(r, o, &tick, &most, err);
    if (rc == 0 && !replay_info(r)->has_calls)
        rc = error_set(err, ERR_NOT_FOUND, "%s: no calls were counted (record --calls)", o->target);
    else if (rc == 0 && !replay_info(r)->has_windows)
        rc = error_set(err, ERR_NOT_FOUND,
                       "%s: it was recorded by a version that kept only the sums of windows "
                       "per function: `beamtop report` and `export` show them",
                       o->target);
    if (rc == 0)
        rc = recording_windows_put(replay_recording(r), tick, most, sink, &n, err);
    if (rc == 0 && n == 0)
        rc = error_set(err, ERR_NOT_FOUND, "%s: no calls were counted there", o->target);
    return sink->output.write_errno == EPIPE ? 0 : rc;
}

int session_file_calls(const struct cli_options *o, struct calls_sink_options options)
{
    struct error err = {0};
    struct replay *r = NULL;
    struct model *m = model_new();
    if (check_patterns(o, "calls that were counted", &err) == 0 &&
        replay_open(&r, o->target, m, &err) == 0) {
        options.node = replay_info(r)->node;
        struct calls_sink sink = {.output.writer = sink_writer_of(stdout), .options = options};
        if (print_windows(r, o, &sink, &err) == 0)
            error_clear(&err);
    }
    replay_close(r);
    model_free(m);
    return end_file(&err);
}

/* ---- traces */

/* What the recording lacks of it is said. */
static void tell_lack(const char *file, const struct recorded_trace *t)
{
    if (t->events < 0)
        fprintf(stderr,
                "beamtop: %s ends before the trace %lld does: what it came to is not recorded\n",
                file, (long long)t->id);
    else if (t->kept < t->events)
        fprintf(stderr, "beamtop: %s was thinned: %lld of %lld lines of the trace %lld are left\n",
                file, (long long)t->kept, (long long)t->events, (long long)t->id);
}

static int print_traces(struct recording *r, const struct cli_options *o, const struct app_env *env,
                        struct error *err)
{
    struct trace_sink sink = {
        .output.writer = sink_writer_of(stdout),
        .options = {.format = o->format == FORMAT_JSON ? SINK_JSON : SINK_TEXT,
                    .node = recording_info(r)->node,
                    .ascii = o->ascii || !env->utf8}};
    const struct recorded_trace *list;
    recording_begin(r);
    size_t n = recording_traces(r, &list);
    struct recorded_trace *traces = alloc_zero(n + 1, sizeof *traces);
    for (size_t i = 0; i < n; i++)
        traces[i] = list[i];
    int rc = recording_failed(r, err);
    if (rc == 0 && n == 0)
        rc = error_set(err, ERR_NOT_FOUND, "%s: no trace was recorded (record --trace)", o->target);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        tell_lack(o->target, &traces[i]);
        rc = recording_trace_put(r, traces[i].id, &sink, err);
    }
    if (sink.output.write_errno == EPIPE) {
        error_clear(err);
        rc = 0;
    }
    free(traces);
    return rc;
}

int session_file_traces(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct recording *r = NULL;
    if (check_patterns(o, "traces that were recorded", &err) == 0 &&
        recording_open(&r, o->target, &err) == 0)
        (void)print_traces(r, o, env, &err);
    recording_close(r);
    return end_file(&err);
}

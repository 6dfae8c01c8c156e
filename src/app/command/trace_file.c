/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/recording/recording.h"
#include "beamtop/output/trace_sink.h"

/* What the recording lacks of it is said. */
static void tell(const char *file, const struct recorded_trace *t)
{
    if (t->events < 0)
        fprintf(stderr,
                "beamtop: %s ends before the trace %lld does: what it came to is not recorded\n",
                file, (long long)t->id);
    else if (t->kept < t->events)
        fprintf(stderr, "beamtop: %s was thinned: %lld of %lld lines of the trace %lld are left\n",
                file, (long long)t->kept, (long long)t->events, (long long)t->id);
}

static int put_traces(struct recording *r, const struct cli_options *o, const struct app_env *env,
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
        tell(o->target, &traces[i]);
        rc = recording_trace_put(r, traces[i].id, &sink, err);
    }
    if (sink.output.write_errno == EPIPE) {
        error_clear(err);
        rc = 0;
    }
    free(traces);
    return rc;
}

int trace_file_print(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct recording *r = NULL;
    if (o->n_rest > 0)
        error_set(&err, ERR_USAGE,
                  "%s is a recording: it has the traces that were recorded, patterns "
                  "are for live nodes",
                  o->target);
    else if (recording_open(&r, o->target, &err) == 0)
        (void)put_traces(r, o, env, &err);
    if (err.code == ERR_FORMAT)
        err.code = ERR_USAGE; /* bad input */
    recording_close(r);
    if (err.code == ERR_NONE)
        return EXIT_DONE;
    fprintf(stderr, "beamtop: %s\n", err.text);
    return exit_code_of_error(err.code);
}

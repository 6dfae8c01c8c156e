/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calls_file.h"

#include <errno.h>
#include <stdio.h>

#include "beamtop/model/model.h"
#include "app/source/replay.h"

/* From which tick on, and how many: 0 is the last one at or before it. */
static int choose(struct replay *r, const struct cli_options *o, int64_t *tick, int64_t *most,
                  struct error *err)
{
    bool many = o->windows_given;
    *tick = many ? 1 : INT64_MAX;
    *most = !many ? 0 : o->windows > 0 ? o->windows : INT64_MAX;
    return o->at ? replay_find(r, o->at, tick, err) : 0;
}

static int put(struct replay *r, const struct cli_options *o, struct calls_sink *sink,
               struct error *err)
{
    int64_t tick = 0, most = 0, n = 0;
    recording_begin(replay_recording(r));
    int rc = choose(r, o, &tick, &most, err);
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

int calls_file_print(const struct cli_options *o, struct calls_sink_options options)
{
    struct error err = {0};
    struct replay *r = NULL;
    struct model *m = model_new();
    if (o->n_rest > 0) {
        error_set(&err, ERR_USAGE,
                  "%s is a recording: it has the calls that were counted, patterns "
                  "are for live nodes",
                  o->target);
    } else if (replay_open(&r, o->target, m, &err) == 0) {
        options.node = replay_info(r)->node;
        struct calls_sink sink = {.output.writer = sink_writer_of(stdout), .options = options};
        if (put(r, o, &sink, &err) == 0)
            error_clear(&err);
    }
    if (err.code == ERR_FORMAT)
        err.code = ERR_USAGE; /* bad input */
    replay_close(r);
    model_free(m);
    if (err.code == ERR_NONE)
        return EXIT_DONE;
    fprintf(stderr, "beamtop: %s\n", err.text);
    return exit_code_of_error(err.code);
}

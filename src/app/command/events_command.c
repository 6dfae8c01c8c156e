/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop events`: system events of a node without a screen, until the check that nothing is left;
 * or those of a recording. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/output/events_sink.h"
#include "beamtop/recording/recording.h"
#include "app/cli/commands.h"
#include "app/cli/tell.h"
#include "app/source/replay.h"
#include "batch.h"
#include "app/cli/event_options.h"

#define TICK_MS 50u

struct watching {
    const struct cli_options *options;
    const struct app_env *env;
    struct batch *run; /* from open_watch on */
    struct events_sink sink;
    enum events_by by; /* EVENTS_BYS: events, no groups */
    struct system_event_groups *groups;
    bool begun;
};

static void put_limit(char *out, size_t size, const struct events_run *run, int kind)
{
    const struct system_event_row *row = &system_event_rows[kind];
    const size_t len = strlen(out);
    if (run->limits[kind] == 0)
        return;
    snprintf(out + len, size - len, "%s%s", len > 0 ? ", " : "", row->word);
    if (*row->unit)
        snprintf(out + strlen(out), size - strlen(out), " %" PRId64 " %s", run->limits[kind],
                 row->unit);
}

static void tell_begun(void *arg)
{
    struct watching *t = arg;
    const struct events_run *run = events_session_run(t->run->session);
    char limits[240] = "";
    if (t->begun || run->status.phase != SESSION_RUNNING)
        return;
    t->begun = true;
    for (int i = 0; i < SYSTEM_EVENTS; i++)
        put_limit(limits, sizeof limits, run, i);
    if (t->options->format == FORMAT_TEXT)
        tell_line("watching for %s (%s, set in %.1f ms)", limits,
                  run->session ? "trace session" : "system monitor", run->arm_us / 1000);
}

static int put_event(void *arg, const struct system_event *e, struct error *err)
{
    struct watching *t = arg;
    if (t->by == EVENTS_BYS)
        return events_sink_event(&t->sink, e, err);
    system_event_group(t->groups, t->by, e);
    return 0;
}

static void on_system_event(void *arg, const struct system_event *e)
{
    struct watching *t = batch_arg(arg);
    struct error err = {0};
    if (put_event(t, e, &err) != 0)
        batch_output_failed(t->run, t->sink.output.write_errno, &err);
}

static int put_groups(struct watching *t, struct error *err)
{
    if (t->groups->others > 0)
        tell_line("%" PRId64 " events are in no group: there are %d at most", t->groups->others,
                  EVENT_GROUPS);
    system_event_groups_sort(t->groups);
    return t->by != EVENTS_BYS ? events_sink_groups(&t->sink, t->groups, t->by, err) : 0;
}

static void tell_counts(const struct watching *t, const struct events_run *run)
{
    if (t->options->format == FORMAT_TEXT)
        tell_line("%s: %" PRIu64 " events, %" PRIu64 " of them not shown",
                  events_end_text(run->end), run->seen, run->missed);
}

static void end_watch(void *arg)
{
    struct watching *t = arg;
    const struct events_run *run = events_session_run(t->run->session);
    struct error err = batch_trouble(t->run), failed = {0};
    int rc = put_groups(t, &failed);
    if (rc == 0)
        rc = events_sink_end(&t->sink, run, &failed);
    if (rc != 0 && err.code == ERR_NONE)
        err = failed;
    tell_counts(t, run);
    batch_tell_verified(t->run, &run->status.check, "the node");
    batch_end(t->run, &err);
}

static struct events_sink make_sink(const struct watching *t, const char *node)
{
    const enum cli_format format = t->options->format;
    return (struct events_sink){.output.writer = sink_writer_of(stdout),
                                .options = {.format = format == FORMAT_JSON  ? EVENTS_JSON
                                                      : format == FORMAT_CSV ? EVENTS_CSV
                                                                             : EVENTS_TEXT,
                                            .node = node,
                                            .ascii = t->options->ascii || !t->env->utf8,
                                            .spreadsheet = t->options->spreadsheet}};
}

static int open_watch(void *arg, struct batch *run, const struct session_port *port,
                      struct error *err)
{
    struct watching *t = arg;
    static const struct session_handlers handlers = {.on_change = batch_session_changed,
                                                     .on_system_event = on_system_event};
    struct events_options options = event_options_of(t->options);
    if (t->options->for_given)
        options.for_ms = (unsigned)(t->options->for_s * 1000 + 0.5);
    t->run = run;
    int rc = events_open(&run->session, &options, port, &handlers, run, err);
    if (rc != 0)
        return rc;
    t->sink = make_sink(t, session_port(run->session)->node);
    return 0;
}

/* ---- of a recording */

static int print_runs(struct watching *t, struct recording *r, struct error *err)
{
    struct events_run *run = alloc_zero(1, sizeof *run);
    int64_t *ids;
    recording_begin(r);
    const size_t n = recording_event_runs(r, 1, INT64_MAX, &ids);
    int rc = n == 0 ? error_set(err, ERR_NOT_FOUND,
                                "%s: no system events were recorded (record --system-events)",
                                t->options->target)
                    : 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = recording_system_events(r, ids[i], 1, INT64_MAX, put_event, t, err);
        if (rc == 0 && recording_events_of(r, ids[i], INT64_MAX, run)) {
            rc = t->by == EVENTS_BYS ? events_sink_end(&t->sink, run, err) : 0;
            tell_counts(t, run);
        }
    }
    free(ids);
    free(run);
    return rc == 0 ? put_groups(t, err) : rc;
}

static int print_file(struct watching *t)
{
    struct error err = {0};
    struct recording *r = NULL;
    if (recording_open(&r, t->options->target, &err) == 0) {
        t->sink = make_sink(t, recording_info(r)->node);
        (void)print_runs(t, r, &err);
    }
    if (t->sink.output.write_errno == EPIPE)
        error_clear(&err);
    recording_close(r);
    if (err.code == ERR_FORMAT) /* bad input */
        err.code = ERR_USAGE;
    return err.code == ERR_NONE ? EXIT_DONE : tell_error(&err);
}

int command_events(const struct cli_options *o, const struct app_env *env)
{
    struct watching t = {.options = o, .env = env, .by = EVENTS_BYS};
    if (o->by && (t.by = events_by_key(o->by)) == EVENTS_BYS) {
        fprintf(stderr, "beamtop: --by: “%s” is not process, function or event\n", o->by);
        return EXIT_USAGE;
    }
    t.groups = alloc_zero(1, sizeof *t.groups);
    if (replay_is_file(o->target)) {
        const int rc = print_file(&t);
        free(t.groups);
        return rc;
    }
    const struct batch_job job = {.options = o,
                                  .env = env,
                                  .open = open_watch,
                                  .changed = tell_begun,
                                  .ended = end_watch,
                                  .turn_ms = TICK_MS,
                                  .arg = &t};
    int code = batch_run(&job);
    free(t.groups);
    return code;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop events`: system events of a node without a screen, until the check that nothing is left.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/output/events_sink.h"
#include "beamtop/trace/events.h"
#include "app/cli/commands.h"
#include "app/cli/tell.h"
#include "app/source/replay.h"
#include "batch.h"

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

static void on_system_event(void *arg, const struct system_event *e)
{
    struct watching *t = batch_arg(arg);
    struct error err = {0};
    if (t->by != EVENTS_BYS)
        system_event_group(t->groups, t->by, e);
    else if (events_sink_event(&t->sink, e, &err) != 0)
        batch_output_failed(t->run, t->sink.output.write_errno, &err);
}

static void end_watch(void *arg)
{
    struct watching *t = arg;
    const struct events_run *run = events_session_run(t->run->session);
    struct error err = batch_trouble(t->run), failed = {0};
    int rc = 0;
    if (t->by != EVENTS_BYS) {
        system_event_groups_sort(t->groups);
        rc = events_sink_groups(&t->sink, t->groups, t->by, &failed);
    }
    if (t->groups->others > 0)
        tell_line("%" PRId64 " events are in no group: there are %d at most", t->groups->others,
                  EVENT_GROUPS);
    if (rc == 0)
        rc = events_sink_end(&t->sink, run, &failed);
    if (rc != 0 && err.code == ERR_NONE)
        err = failed;
    if (t->options->format == FORMAT_TEXT)
        tell_line("%s: %" PRIu64 " events, %" PRIu64 " of them not shown",
                  events_end_text(run->end), run->seen, run->missed);
    batch_tell_verified(t->run, &run->status.check, "the node");
    batch_end(t->run, &err);
}

static struct events_options watch_options(const struct cli_options *o)
{
    struct events_options options;
    events_defaults(&options);
    for (int i = 0; i < SYSTEM_EVENTS; i++) {
        if (o->event_limits[i] > 0)
            options.limits[i] = o->event_limits[i];
        if (o->event_left[i])
            options.limits[i] = 0;
    }
    if (o->for_given)
        options.for_ms = (unsigned)(o->for_s * 1000 + 0.5);
    options.events = (unsigned)o->event_cap;
    return options;
}

static int open_watch(void *arg, struct batch *run, const struct session_port *port,
                      struct error *err)
{
    struct watching *t = arg;
    static const struct session_handlers handlers = {.on_change = batch_session_changed,
                                                     .on_system_event = on_system_event};
    const struct events_options options = watch_options(t->options);
    t->run = run;
    int rc = events_open(&run->session, &options, port, &handlers, run, err);
    if (rc != 0)
        return rc;
    t->sink.output.writer = sink_writer_of(stdout);
    t->sink.options = (struct events_sink_options){
        .format = t->options->format == FORMAT_JSON  ? EVENTS_JSON
                  : t->options->format == FORMAT_CSV ? EVENTS_CSV
                                                     : EVENTS_TEXT,
        .node = session_port(run->session)->node,
        .ascii = t->options->ascii || !t->env->utf8,
        .spreadsheet = t->options->spreadsheet,
    };
    return 0;
}

int command_events(const struct cli_options *o, const struct app_env *env)
{
    struct watching t = {.options = o, .env = env, .by = EVENTS_BYS};
    if (replay_is_file(o->target)) {
        fputs("beamtop: a recording has no system events: name a node\n", stderr);
        return EXIT_USAGE;
    }
    if (o->by && (t.by = events_by_key(o->by)) == EVENTS_BYS) {
        fprintf(stderr, "beamtop: --by: “%s” is not process, function or event\n", o->by);
        return EXIT_USAGE;
    }
    t.groups = alloc_zero(1, sizeof *t.groups);
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

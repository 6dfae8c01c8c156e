/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watching for system events from the screen, once you have confirmed it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/trace/events.h"
#include "tui_owners.h"
#include "tui_session.h"

#define EVENTS_VIEW "events"

struct tui_events {
    struct tui_session s; /* first */
};

/* ---- what it says */

static void estimate_events(void *arg, char *text, size_t size)
{
    (void)arg;
    snprintf(text, size, "Setting system events stops all schedulers for a moment");
}

static void events_begun(void *arg)
{
    struct tui_events *e = arg;
    const struct events_run *run = events_session_run(e->s.session);
    tui_journal(e->s.tui, false, "system events watched (%s, set in %.1f ms)",
                run->session ? "trace session" : "system monitor", run->arm_us / 1000);
}

static void events_ended(void *arg)
{
    struct tui_events *e = arg;
    const struct events_run *run = events_session_run(e->s.session);
    char did[80];
    snprintf(did, sizeof did, "%s: %" PRIu64 " system events", events_end_text(run->end),
             run->seen);
    tui_session_end(&e->s, "events were not watched", did, NULL);
}

/* ---- beginning */

static int start_events(void *arg, const char *words, size_t *offset, struct error *err)
{
    struct tui_events *e = arg;
    static const struct session_handlers handlers = {.on_change = tui_session_changed};
    struct session *session = NULL;
    struct session_port port;
    struct events_options options;
    (void)words;
    *offset = 0;
    events_defaults(&options);
    options.hold = true;
    int rc = live_port(e->s.tui->live, &port, err);
    if (rc == 0)
        rc = events_open(&session, &options, &port, &handlers, &e->s, err);
    if (rc != 0)
        return rc;
    model_set_events(e->s.tui->model, events_session_run(session));
    tui_session_start(&e->s, session);
    return 0;
}

static void begin_events(void *arg, const char *words)
{
    struct tui_events *e = arg;
    tui_session_begin(&e->s, words);
}

/* There is nothing to type. */
static void refuse_words(void *arg, const char *words)
{
    (void)arg;
    (void)words;
}

/* Shows the view; there, starts. */
static void act_events(void *own, const char *arg)
{
    struct tui_events *e = own;
    struct tui *t = e->s.tui;
    (void)arg;
    if (strcmp(screen_view(t->screen), EVENTS_VIEW) != 0)
        tui_act(t, ACTION_VIEW, EVENTS_VIEW);
    else if (!t->live)
        tui_message(t, STYLE_ERROR,
                    "system events are watched only on a live node: connect to one");
    else if (session_runs(e->s.session))
        tui_message(t, STYLE_MESSAGE, "system events are watched already");
    else
        begin_events(e, "");
}

/* ---- life */

static void *make_events(struct tui *t)
{
    static const struct tui_session_kind kind = {.node_question = QUESTION_EVENTS,
                                                 .view = EVENTS_VIEW,
                                                 .ending = "ending the watch for events…",
                                                 .over = "",
                                                 .verb = "Watch",
                                                 .idle = "system events are not watched",
                                                 .estimate = estimate_events,
                                                 .begun = events_begun,
                                                 .ended = events_ended,
                                                 .begin = begin_events,
                                                 .start = start_events,
                                                 .prompt = refuse_words};
    struct tui_events *e = alloc_zero(1, sizeof *e);
    tui_session_init(&e->s, t, &kind);
    return e;
}

const struct tui_owner tui_events_owner = {
    .acts = {[ACTION_EVENTS] = {.run = act_events},
             [ACTION_EVENTS_STOP] = {.run = tui_session_act_stop}},
    .make = make_events,
    .at = {[TUI_FREES] = free}};

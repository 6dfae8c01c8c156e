/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui_trace_start.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"

const struct trace_state *tui_trace_state(const struct tui_trace *tr)
{
    return tr->s.session ? trace_log_state(trace_session_log(tr->s.session)) : NULL;
}

void tui_trace_tell_none(const struct tui_trace *tr, const char *none, const char *it)
{
    char key[64];
    tui_message(tr->s.tui, STYLE_MESSAGE, "%s: %s starts %s", none,
                tui_key(tr->s.tui, ACTION_TRACE, NULL, key, sizeof key), it);
}

bool tui_trace_is_several(const struct tui_trace *tr, enum action action)
{
    const struct tui *t = tr->s.tui;
    return t->several && t->several->takes(t->own[TUI_SEVERAL], action);
}

const struct trace_event *tui_trace_event(const struct tui_trace *tr, const struct view_link *link)
{
    const struct trace_log *log = tr->s.session ? trace_session_log(tr->s.session) : NULL;
    /* Else the id is of the log of several nodes. */
    return link->kind == TARGET_EVENT && log && model_trace(tr->s.tui->model) == log
               ? trace_log_find(log, link->id)
               : NULL;
}

/* ---- beginning */

/* The words are looked at before the trace that is on the screen makes room. */
static int open_screen_trace(struct tui_trace *tr, struct session **out,
                             const struct trace_request *r, size_t *offset, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = tui_session_changed};
    const struct trace_options options = {.patterns = &r->pattern, .n_patterns = 1, .request = *r};
    struct session_port port;
    struct procs procs;
    size_t at = 0;
    int rc = 0;
    if (r->procs && procs_parse(&procs, r->procs, &at, err) != 0) {
        *offset = r->procs_at + at;
        return err->code;
    }
    *offset = r->pattern_at;
    if (r->first > 0)
        return error_set(err, ERR_USAGE, "--first is for several nodes: use --events");
    rc = live_port(tr->s.tui->live, &port, err);
    if (rc == 0)
        rc = trace_open(out, &options, &port, &handlers, &tr->s, NULL, &at, err);
    *offset = r->pattern_at + at;
    return rc;
}

int tui_trace_start(struct tui_trace *tr, const char *line, size_t *offset, struct error *err)
{
    struct trace_request request;
    struct session *session = NULL;
    settings_request(&tr->s.tui->settings, false, &request);
    int rc = trace_request_parse(&request, REQUEST_TRACE, line, offset, err);
    if (rc != 0)
        return rc;
    rc = open_screen_trace(tr, &session, &request, offset, err);
    trace_request_clear(&request);
    if (rc != 0)
        return rc;
    char *copy = alloc_strdup(line); /* the line may be tr->line */
    free(tr->line);
    tr->line = copy;
    tr->paused_by_us = false;
    model_set_trace(tr->s.tui->model, trace_session_log(session));
    tui_session_start(&tr->s, session);
    return 0;
}

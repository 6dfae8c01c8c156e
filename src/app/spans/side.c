/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/tell.h"
#include "app/live/live.h"
#include "app/source/source.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"

struct side {
    struct side_setup setup;
    struct cli_options options;
    char node[LIMIT_NODE_NAME_BYTES + 1], origin[LIMIT_NODE_NAME_BYTES + 1];
    struct model *model;
    struct source *source;
    struct session *session; /* NULL: not yet */
    bool over;
    struct error err;
};

static void end_side(struct side *s, const struct error *why)
{
    if (s->over)
        return;
    s->over = true;
    if (why && why->code != ERR_NONE)
        error_set(&s->err, why->code, "%.100s: %.300s", s->node, why->text);
    s->setup.on_change(s->setup.arg);
}

/* ---- its session */

static void on_side_session(void *arg)
{
    struct side *s = arg;
    const struct error err = session_trouble(s->session);
    if (session_runs(s->session))
        s->setup.on_change(s->setup.arg);
    else
        end_side(s, &err);
}

static void begin_side_session(struct side *s, struct live *live)
{
    static const struct session_handlers handlers = {.on_change = on_side_session};
    struct session_port port;
    struct error err = {0};
    const struct spans_capture what = {
        .request = {.for_ms = s->setup.for_ms,
                    .events = s->setup.events,
                    .roots = LIMIT_SPAN_ROOTS,
                    .every = 1,
                    .force = s->setup.options->request.force},
        .others = &(const char *){s->origin},
        .n_others = 1,
    };
    live_pause(live, true); /* no tick is needed after that */
    int rc = live_port(live, &port, &err);
    if (rc == 0 && strcmp(port.node, s->origin) == 0)
        rc = error_set(&err, ERR_USAGE, "--with takes another node");
    if (rc == 0)
        rc = spans_open(&s->session, &what, &port, &handlers, s, NULL, NULL, &err);
    if (rc != 0)
        end_side(s, &err);
}

/* ---- its connection */

static void on_side_change(void *arg, bool facts)
{
    struct side *s = arg;
    struct live *live = s->source ? source_live(s->source) : NULL;
    (void)facts;
    if (!s->over && !s->session && live && live_is_up(live) && model_node(s->model))
        begin_side_session(s, live);
}

static void on_side_trouble(void *arg, const struct error *err)
{
    struct side *s = arg;
    if (!s->session)
        end_side(s, err);
}

static void on_side_notice(void *arg, bool trouble, const char *text)
{
    (void)arg;
    (void)trouble;
    tell_line("%s", text);
}

static void on_side_end(void *arg, bool had_tick, const struct error *err)
{
    struct side *s = arg;
    (void)had_tick;
    if (s->session)
        session_link_lost(s->session, err);
    end_side(s, err);
}

int side_open(struct side **out, const struct side_setup *setup, struct error *err)
{
    static const struct source_handlers handlers = {.on_change = on_side_change,
                                                    .on_trouble = on_side_trouble,
                                                    .on_notice = on_side_notice,
                                                    .on_end = on_side_end};
    struct side *s = alloc_zero(1, sizeof *s);
    s->setup = *setup;
    s->options = *setup->options;
    s->options.host = NULL;
    s->options.port = 0;
    snprintf(s->node, sizeof s->node, "%s", setup->node);
    snprintf(s->origin, sizeof s->origin, "%s", setup->origin);
    s->model = model_new();
    const struct source_setup of = {
        .cli = &s->options,
        .env = setup->env,
        .loop = setup->loop,
        .model = s->model,
        .interval_s = s->options.interval_s,
        .budget = s->options.budget,
        .handlers = &handlers,
        .arg = s,
    };
    int rc = source_open(&s->source, setup->node, &of, err);
    if (rc != 0) {
        side_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

/* ---- what it is, and its end */

bool side_captures(const struct side *s)
{
    return s->session && !s->over && session_status(s->session)->phase == SESSION_RUNNING;
}

bool side_is_over(const struct side *s)
{
    return s->over;
}

const struct error *side_error(const struct side *s)
{
    return &s->err;
}

const struct spans_run *side_run(const struct side *s)
{
    return s->session ? spans_session_run(s->session) : NULL;
}

void side_turn(struct side *s)
{
    if (s->session && !s->over)
        session_tick(s->session);
}

void side_stop(struct side *s)
{
    if (s->session && !s->over)
        session_stop(s->session);
    else
        end_side(s, NULL);
}

void side_close(struct side *s)
{
    if (!s)
        return;
    session_free(s->session);
    source_close(s->source, NULL, NULL);
    model_free(s->model);
    free(s);
}

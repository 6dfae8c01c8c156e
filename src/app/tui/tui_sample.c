/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/model/detail.h"
#include "app/sample/local_target.h"
#include "app/sample/sample_log.h"
#include "tui_internal.h"

#define SAMPLES_VIEW "samples"
#define TURN_MS 100u
#define DRAW_TURNS 5
#define YIELDS_S 3600.0 /* what the node does for it ends then */

struct tui_sample {
    struct tui *tui;
    struct sample_log *log; /* of the run that is shown; NULL: none */
    uv_timer_t timer;       /* while it runs */
    unsigned turns;
    double for_s; /* as asked for */
    bool outside; /* the VM is looked at; else it looks at itself */
};

/* ---- what is shown */

static void show(struct tui_sample *s)
{
    struct tui *t = s->tui;
    model_set_samples(t->model, sample_log_now(s->log));
    if (!t->paused)
        screen_update(t->screen);
    tui_touch(t);
}

/* The page on the screen has frames of the run: it is made again before they go. */
static void replace(struct tui_sample *s, struct sample_log *log)
{
    struct tui *t = s->tui;
    struct sample_log *before = s->log;
    s->log = log;
    model_set_samples(t->model, log ? sample_log_now(log) : NULL);
    screen_update(t->screen);
    tui_touch(t);
    sample_log_free(before);
}

static void on_timer(uv_timer_t *timer)
{
    struct tui_sample *s = timer->data;
    sample_log_turn(s->log);
    if (!sample_log_runs(s->log))
        uv_timer_stop(timer);
    else if (++s->turns % DRAW_TURNS == 0)
        show(s);
}

/* ---- a run */

static void ended(void *arg, const struct error *why);
static void named(void *arg);
static const struct sample_log_handlers handlers_of_run = {.ended = ended, .named = named};

static void run(struct tui_sample *s, struct sample_log *log)
{
    replace(s, log);
    uv_timer_start(&s->timer, on_timer, TURN_MS, TURN_MS);
}

static struct sample_log_options options_of(struct tui_sample *s, char *otp, size_t size)
{
    struct tui *t = s->tui;
    const struct node_info *node = model_node(t->model);
    snprintf(otp, size, "%.*s", node ? (int)node->otp.len : 0, node ? node->otp.s : "");
    return (struct sample_log_options){
        .sampler = {.hz = (unsigned)option_int(&t->settings.options, OPTION_SAMPLE_HZ),
                    .for_s = s->for_s},
        .label = live_peer_node(t->live),
        .otp = otp,
    };
}

static int begin_outside(struct tui_sample *s, struct error *err)
{
    struct tui *t = s->tui;
    struct sample_log *log = NULL;
    char otp[32];
    struct sample_log_options options = options_of(s, otp, sizeof otp);
    int rc = local_target_find(&options.sampler.pid, options.label, t->cli, t->env, err);
    if (rc == 0)
        rc = sample_log_start(&log, &t->rt.loop, &options, &handlers_of_run, s, err);
    if (rc != 0)
        return rc;
    s->outside = true;
    run(s, log);
    model_journal(t->model, clock_wall_us(), false,
                  "OS process %d is sampled from outside, %u times a second of CPU time",
                  (int)options.sampler.pid, options.sampler.hz);
    return 0;
}

static int begin_yields(struct tui_sample *s, const char *why, struct error *err)
{
    struct tui *t = s->tui;
    struct session_port port;
    char otp[32];
    int rc = live_port(t->live, &port, err);
    if (rc != 0)
        return rc;
    const struct sample_log_options options = options_of(s, otp, sizeof otp);
    const struct yields_options yields = {
        .for_s = s->for_s > 0 ? s->for_s : YIELDS_S,
        .budget = option_double(&t->settings.options, OPTION_BUDGET) / 100,
    };
    s->outside = false;
    run(s, sample_log_start_yields(&port, &yields, &options, why, &handlers_of_run, s));
    model_journal(t->model, clock_wall_us(), false,
                  "the node looks at its busiest processes where they yield: %.300s", why);
    return 0;
}

/* From outside where that is possible, else the node itself. */
static int begin(struct tui_sample *s, double for_s, struct error *err)
{
    struct tui *t = s->tui;
    s->for_s = for_s;
    if (!t->live)
        return error_set(err, ERR_USAGE, "a recording cannot be sampled");
    if (!live_peer_node(t->live))
        return error_set(err, ERR_LOST, "there is no connection to a node yet");
    if (begin_outside(s, err) == 0)
        return 0;
    const struct error outside = *err;
    return begin_yields(s, outside.text, err);
}

static void tell_end(struct tui_sample *s, const struct error *why)
{
    struct tui *t = s->tui;
    const struct samples_summary *summary = &sample_log_now(s->log)->run;
    if (why)
        tui_message(t, STYLE_ERROR, "%.300s", why->text);
    else
        tui_findings_samples(t->findings, summary);
    model_journal(t->model, clock_wall_us(), why != NULL, "sampling ended%s%.300s: %lld samples",
                  why ? ": " : "", why ? why->text : "", (long long)summary->samples);
    show(s);
}

/* What the kernel refused from outside the node can still do; one that is gone cannot. */
static void ended(void *arg, const struct error *why)
{
    struct tui_sample *s = arg;
    struct tui *t = s->tui;
    struct error err = {.code = ERR_NONE};
    const bool refused =
        why && why->code != ERR_USAGE && s->outside && sample_log_count(s->log) == 0;
    if (refused && t->live && begin_yields(s, why->text, &err) == 0)
        return;
    struct session_port port;
    tell_end(s, why);
    if (t->live && live_port(t->live, &port, &err) == 0)
        (void)sample_log_ask_names(s->log, &port);
}

static void named(void *arg)
{
    show(arg);
}

/* ---- what a person does */

static void act_sample(struct tui_sample *s, const char *arg)
{
    struct tui *t = s->tui;
    struct error err = {.code = ERR_NONE};
    double for_s = option_double(&t->settings.options, OPTION_SAMPLE_TIME);
    const bool here = strcmp(screen_view(t->screen), SAMPLES_VIEW) == 0;
    if (*arg && (text_parse_duration(arg, &for_s) != 0 || for_s < 0.1 || for_s > 86400)) {
        tui_message(t, STYLE_ERROR, "sample takes a duration from 0.1s to 24h, not \"%.40s\"", arg);
        return;
    }
    if (here && !*arg && sample_log_runs(s->log))
        tui_message(t, STYLE_MESSAGE, "it is sampled; stop it first to begin again");
    else if (screen_act(t->screen, t->model, ACTION_VIEW, SAMPLES_VIEW, &err) < 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
    else if ((*arg || !s->log || here) && (t->live || *arg) && begin(s, for_s, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
}

static void act_stop(struct tui_sample *s, const char *arg)
{
    (void)arg;
    if (sample_log_runs(s->log))
        sample_log_stop(s->log);
    else
        tui_message(s->tui, STYLE_MESSAGE, "nothing is sampled");
}

static void (*const handlers[ACTIONS])(struct tui_sample *s, const char *arg) = {
    [ACTION_SAMPLE] = act_sample,
    [ACTION_SAMPLE_STOP] = act_stop,
};

bool tui_sample_has(enum action action)
{
    return handlers[action] != NULL;
}

void tui_sample_act(struct tui *t, enum action action, const char *arg)
{
    handlers[action](t->sample, arg);
}

/* ---- life */

struct tui_sample *tui_sample_new(struct tui *t)
{
    struct tui_sample *s = alloc_zero(1, sizeof *s);
    s->tui = t;
    runtime_timer(&t->rt, &s->timer, s);
    return s;
}

void tui_sample_leave(struct tui_sample *s)
{
    uv_timer_stop(&s->timer);
    if (s->log)
        replace(s, NULL);
}

void tui_sample_lost(struct tui_sample *s)
{
    struct error err = {.code = ERR_NONE};
    error_set(&err, ERR_LOST, "the connection is lost");
    if (s->log)
        sample_log_lost(s->log, &err);
}

void tui_sample_free(struct tui_sample *s)
{
    free(s);
}

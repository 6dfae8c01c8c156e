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
#define DRAW_MS 500u

struct tui_sample {
    struct tui *tui;
    struct sample_log *log; /* of the run that is shown; NULL: none */
    uv_timer_t timer;       /* while it runs */
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
    show(timer->data);
}

/* ---- a run */

static void ended(void *arg, const struct error *why)
{
    struct tui_sample *s = arg;
    struct tui *t = s->tui;
    const struct samples_summary *run = &sample_log_now(s->log)->run;
    uv_timer_stop(&s->timer);
    if (why) {
        model_journal(t->model, clock_wall_us(), true, "sampling failed: %.300s", why->text);
        tui_message(t, STYLE_ERROR, "%.300s", why->text);
    } else {
        model_journal(t->model, clock_wall_us(), false,
                      "sampling ended: %lld samples in %.1f s, %.1f ms of CPU time for it",
                      (long long)run->samples, run->seconds, run->sampler_cpu_s * 1e3);
    }
    show(s);
}

static int begin(struct tui_sample *s, double for_s, struct error *err)
{
    static const struct sample_log_handlers handlers = {.ended = ended};
    struct tui *t = s->tui;
    const struct options *o = &t->settings.options;
    const struct node_info *node = model_node(t->model);
    const char *name = t->live ? live_peer_node(t->live) : NULL;
    char otp[32] = "";
    struct sample_log *log = NULL;
    struct sample_log_options options = {
        .sampler = {.hz = (unsigned)option_int(o, OPTION_SAMPLE_HZ), .for_s = for_s},
        .otp = otp,
    };
    if (!t->live)
        return error_set(err, ERR_USAGE, "a recording cannot be sampled");
    if (!name)
        return error_set(err, ERR_LOST, "there is no connection to a node yet");
    if (node)
        snprintf(otp, sizeof otp, "%.*s", (int)node->otp.len, node->otp.s);
    options.label = name;
    int rc = local_target_find(&options.sampler.pid, name, t->cli, t->env, err);
    if (rc == 0)
        rc = sample_log_start(&log, &t->rt.loop, &options, &handlers, s, err);
    if (rc != 0)
        return rc;
    replace(s, log);
    uv_timer_start(&s->timer, on_timer, DRAW_MS, DRAW_MS);
    model_journal(t->model, clock_wall_us(), false,
                  "OS process %d is sampled from outside, %u times a second of CPU time",
                  (int)options.sampler.pid, options.sampler.hz);
    return 0;
}

/* ---- what a person does */

static void act_sample(struct tui_sample *s, const char *arg)
{
    struct tui *t = s->tui;
    struct error err = {.code = ERR_NONE};
    double for_s = option_double(&t->settings.options, OPTION_SAMPLE_TIME);
    const bool here = strcmp(screen_view(t->screen), SAMPLES_VIEW) == 0;
    if (*arg && text_parse_duration(arg, &for_s) != 0) {
        tui_message(t, STYLE_ERROR, "sample takes a duration, like 30s, not \"%.40s\"", arg);
        return;
    }
    if (screen_act(t->screen, t->model, ACTION_VIEW, SAMPLES_VIEW, &err) < 0)
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

void tui_sample_free(struct tui_sample *s)
{
    free(s);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "batch.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "app/source/replay.h"
#include "app/source/source.h"
#include "app/cli/tell.h"

#define PROGRESS_MS 500u

struct batch {
    const struct batch_job *job;
    uv_loop_t loop;
    struct model *model;
    struct source *source;
    uv_signal_t interrupt[2];
    uv_timer_t progress;
    int64_t done;
    bool ended;
    bool failed; /* an answer that was wanted */
    bool shown_progress;
    uint64_t started_ms;
    int exit_code;
    struct error err;
};

/* ---- progress: only on a terminal, only when one waits */

static void clear_progress(struct batch *b)
{
    if (b->shown_progress)
        fputs("\r\033[K", stderr);
    b->shown_progress = false;
}

static void on_progress(uv_timer_t *timer)
{
    struct batch *b = timer->data;
    const char *text = NULL;
    char since[32];
    double waited_s = (double)(uv_now(&b->loop) - b->started_ms) / 1000.0;
    if (model_link(b->model, &text) != LINK_LIVE)
        tell_progress("%s… %s", *text ? text : "connecting",
                text_duration(since, sizeof since, waited_s));
    else if (b->job->ticks > 0)
        fprintf(stderr, "\r\033[Ktick %lld of %lld, every %s", (long long)b->done + 1,
                (long long)b->job->ticks,
                text_duration(since, sizeof since, model_interval(b->model).real_s));
    else
        fprintf(stderr, "\r\033[Ktick %lld", (long long)b->done + 1);
    b->shown_progress = true;
}

/* ---- the end */

static void end(struct batch *b, int exit_code, const struct error *err)
{
    if (b->ended)
        return;
    b->ended = true;
    b->exit_code = exit_code;
    if (err)
        b->err = *err;
    uv_stop(&b->loop);
}

/* ---- what the source tells */

static void on_tick(void *arg)
{
    struct batch *b = arg;
    struct error err = {.code = ERR_NONE};
    if (b->ended)
        return;
    if (b->failed) {
        end(b, exit_code_of_error(b->err.code), NULL);
        return;
    }
    clear_progress(b);
    int rc = b->job->on_tick(b->job->arg, b->model, &err);
    if (rc == ERR_CANCELLED)
        end(b, EXIT_DONE, NULL);
    else if (rc != 0)
        end(b, exit_code_of_error(err.code), &err);
    else if (++b->done == b->job->ticks)
        end(b, EXIT_DONE, NULL);
}

/* A batch run that cannot give what it was asked for fails; the header's question may be late. */
static void on_trouble(void *arg, const struct error *err)
{
    struct batch *b = arg;
    b->failed = true;
    if (b->err.code == ERR_NONE)
        b->err = *err;
}

static void on_notice(void *arg, bool trouble, const char *text)
{
    (void)trouble;
    clear_progress(arg);
    tell_line("%s", text);
}

static void on_end(void *arg, bool had_tick, const struct error *err)
{
    end(arg, !err ? EXIT_DONE : had_tick ? EXIT_LOST : EXIT_CONNECT, err);
}

static void on_interrupt(uv_signal_t *handle, int number)
{
    struct batch *b = handle->data;
    /* Ctrl-C is the way to end a run without -n. */
    end(b, number == SIGINT && b->job->ticks == 0 ? EXIT_DONE : 128 + number, NULL);
}

/* ---- run */

static int start(struct batch *b, struct error *err)
{
    static const struct source_handlers handlers = {
        .on_tick = on_tick, .on_trouble = on_trouble, .on_notice = on_notice, .on_end = on_end};
    const struct cli_options *o = b->job->options;
    const struct source_setup setup = {
        .cli = o,
        .env = b->job->env,
        .loop = &b->loop,
        .model = b->model,
        .interval_s = o->interval_s,
        .budget = o->budget,
        .batch = true,
        .rates = b->job->rates,
        .most_s = b->job->ticks > 0 ? LIMIT_BATCH_APART_S : 0,
        .handlers = &handlers,
        .arg = b,
    };
    size_t offset = 0;
    int rc = source_open(&b->source, o->target, &setup, err);
    if (rc == 0)
        rc = source_set_want(b->source, &b->job->want, err);
    if (rc == 0 && b->job->filter && *b->job->filter)
        rc = source_set_filter(b->source, b->job->filter, &offset, err);
    return rc;
}

static void stop(struct batch *b)
{
    uv_close((uv_handle_t *)&b->progress, NULL);
    for (size_t i = 0; i < ARRAY_LEN(b->interrupt); i++)
        uv_close((uv_handle_t *)&b->interrupt[i], NULL);
    source_close(b->source, NULL, NULL);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    uv_loop_close(&b->loop);
}

int batch_run(const struct batch_job *job)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct batch b = {.job = job};
    struct error err = {.code = ERR_NONE};
    uv_loop_init(&b.loop);
    uv_timer_init(&b.loop, &b.progress);
    b.progress.data = &b;
    b.started_ms = uv_now(&b.loop);
    for (size_t i = 0; i < ARRAY_LEN(b.interrupt); i++) {
        uv_signal_init(&b.loop, &b.interrupt[i]);
        b.interrupt[i].data = &b;
        /* Of a recording nothing is left to undo, and a question to it is not interrupted by the loop. */
        if (!replay_is_file(job->options->target))
            uv_signal_start(&b.interrupt[i], on_interrupt, signals[i]);
        uv_unref((uv_handle_t *)&b.interrupt[i]);
    }
    b.model = model_new();
    if (start(&b, &err) != 0) {
        /* Not by end(): a loop told to stop before it runs would not run for stop() either. */
        b.ended = true;
        b.exit_code = exit_code_of_error(err.code);
        b.err = err;
    } else {
        if (job->env->err_tty)
            uv_timer_start(&b.progress, on_progress, PROGRESS_MS, PROGRESS_MS);
        uv_unref((uv_handle_t *)&b.progress);
        uv_run(&b.loop, UV_RUN_DEFAULT);
    }
    clear_progress(&b);
    stop(&b);
    if (b.err.code != ERR_NONE)
        fprintf(stderr, "beamtop: %s\n", b.err.text);
    model_free(b.model);
    return b.exit_code;
}

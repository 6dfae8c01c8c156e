#include "batch.h"
#include "commands.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "replay.h"
#include "target.h"

#define PROGRESS_MS 500u
/*
 * Rates need two sights, and the use of schedulers is counted only from the first one on: two quick
 * ticks go before the first that is printed, which then spans a whole interval.
 */
#define PRIMING_TICKS 2
/* A busy target takes a little longer to count the use of its schedulers. */
#define PRIMING_TICKS_MOST 5

struct batch {
    const struct batch_job *job;
    uv_loop_t loop;
    struct target target;
    struct model *model;
    struct live *live;
    uv_signal_t interrupt[2];
    uv_timer_t progress;
    int64_t done;
    int primed;
    bool was_live;
    bool ended;
    bool shown_progress;
    uint64_t started_ms;
    unsigned failed; /* mask of wanted questions whose last answer failed */
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
        fprintf(stderr, "\r\033[K%s… %s", *text ? text : "connecting",
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

static bool is_priming(const struct batch *b)
{
    const struct system_sample *s = model_system(b->model);
    bool has_use = s && !isnan(s->use_normal);
    return b->primed < PRIMING_TICKS || (!has_use && b->primed < PRIMING_TICKS_MOST);
}

static void on_tick(void *arg)
{
    struct batch *b = arg;
    struct error err = {.code = ERR_NONE};
    b->was_live = true;
    if (b->ended)
        return;
    if (b->failed) {
        end(b, exit_code_of_error(b->err.code), NULL);
        return;
    }
    if (b->job->rates && is_priming(b)) {
        b->primed++;
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
static void on_trouble(void *arg, enum question question, const struct error *err)
{
    struct batch *b = arg;
    b->failed |= 1u << question;
    if (b->err.code == ERR_NONE)
        b->err = *err;
}

static void on_notice(void *arg, const char *text)
{
    clear_progress(arg);
    fprintf(stderr, "beamtop: %s\n", text);
}

static void on_end(void *arg, enum conn_failure why, const struct error *err)
{
    struct batch *b = arg;
    (void)why;
    end(b, b->was_live ? EXIT_LOST : EXIT_CONNECT, err);
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
    static const struct live_handlers handlers = {
        .on_tick = on_tick, .on_trouble = on_trouble, .on_notice = on_notice, .on_end = on_end};
    const struct cli_options *o = b->job->options;
    size_t offset = 0;
    int rc = target_init(&b->target, o->target, o, b->job->env, NULL, err);
    if (rc != 0)
        return rc;
    const struct live_options options = {
        .conn = b->target.conn,
        .interval_s = o->interval_s,
        .budget = o->budget,
        .together = true,
    };
    rc = live_open(&b->live, &b->loop, &options, b->model, &handlers, b, err);
    if (rc != 0)
        return rc;
    live_set_want(b->live, &b->job->want);
    if (b->job->filter && *b->job->filter)
        rc = live_set_filter(b->live, b->job->filter, &offset, err);
    return rc;
}

static void stop(struct batch *b)
{
    uv_close((uv_handle_t *)&b->progress, NULL);
    for (size_t i = 0; i < ARRAY_LEN(b->interrupt); i++)
        uv_close((uv_handle_t *)&b->interrupt[i], NULL);
    live_close(b->live, NULL, NULL);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    uv_loop_close(&b->loop);
}

/* ---- a recording in the place of a node */

static int print_recorded(const struct batch_job *job, const struct model *m, bool *seen_enough,
                          struct error *err)
{
    int rc = job->on_tick(job->arg, m, err);
    *seen_enough = rc == ERR_CANCELLED;
    return *seen_enough ? 0 : rc;
}

/* Without -n and --at the last tick, which is the node as it was at the end; with -n the first. */
static int first_tick(const struct batch_job *job, struct replay *r, int64_t *tick,
                      struct error *err)
{
    const struct cli_options *o = job->options;
    *tick = o->ticks_given ? 1 : replay_info(r)->ticks;
    int rc = o->at ? replay_find(r, o->at, tick, err) : 0;
    /* Rates need the tick before. */
    if (rc == 0 && job->rates && *tick == 1 && replay_info(r)->ticks > 1)
        *tick = recording_tick_after(replay_recording(r), 1);
    return rc;
}

static int show_recorded(const struct batch_job *job, struct replay *r, struct model *m,
                         struct error *err)
{
    int64_t tick = 0;
    bool enough = false;
    replay_set_rows(r, (int)job->options->rows);
    int rc = replay_check(r, &job->want, err);
    if (rc == 0 && job->filter && *job->filter)
        rc = error_set(err, ERR_USAGE, "a filter looks at all processes of a node; of a recording "
                                       "there are the busiest only");
    if (rc == 0)
        rc = first_tick(job, r, &tick, err);
    for (int64_t n = 1; rc == 0 && tick > 0 && !enough; n++) {
        rc = replay_to(r, tick, err);
        if (rc == 0)
            rc = print_recorded(job, m, &enough, err);
        enough = enough || n == job->ticks;
        tick = replay_next(r);
    }
    return rc;
}

static int batch_replay(const struct batch_job *job)
{
    struct error err = {.code = ERR_NONE};
    struct replay *r = NULL;
    struct model *m = model_new();
    int rc = replay_open(&r, job->options->target, m, &err);
    if (rc == 0)
        rc = show_recorded(job, r, m, &err);
    if (rc != 0)
        fprintf(stderr, "beamtop: %s\n", err.text);
    replay_close(r);
    model_free(m);
    return rc != 0 ? exit_code_of_error(err.code) : EXIT_DONE;
}

int batch_run(const struct batch_job *job)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct batch b = {.job = job};
    if (replay_is_file(job->options->target))
        return batch_replay(job);
    struct error err = {.code = ERR_NONE};
    uv_loop_init(&b.loop);
    uv_timer_init(&b.loop, &b.progress);
    b.progress.data = &b;
    b.started_ms = uv_now(&b.loop);
    for (size_t i = 0; i < ARRAY_LEN(b.interrupt); i++) {
        uv_signal_init(&b.loop, &b.interrupt[i]);
        b.interrupt[i].data = &b;
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
    target_clear(&b.target);
    return b.exit_code;
}

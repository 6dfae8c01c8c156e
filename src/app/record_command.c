/* `beamtop record`: a live run that is kept. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/model/column.h"
#include "beamtop/store/recording.h"
#include "commands.h"
#include "live.h"
#include "target.h"

#define PROGRESS_MS 500u
/* Processes asked for at a tick: the busiest, which are nearly all of the work. */
#define RECORD_ROWS 60

struct recording_run {
    const struct cli_options *options;
    const struct app_env *env;
    uv_loop_t loop;
    struct target target;
    struct model *model;
    struct live *live;
    struct recorder *recorder;
    uv_signal_t signals[3];
    uv_timer_t progress, until;
    bool was_up, is_down, over, shown_progress;
    const char *why; /* the recording's end */
    int exit_code;
    uint64_t started_ms;
    struct error err;
};

static void finish(struct recording_run *t, const char *why, int exit_code,
                   const struct error *err)
{
    if (t->over)
        return;
    t->over = true;
    t->why = why;
    t->exit_code = exit_code;
    if (err)
        t->err = *err;
    uv_stop(&t->loop);
}

/* ---- what the source tells */

static void on_answer(void *arg, enum question question, const uint8_t *term, size_t len,
                      const struct want_scan *asked)
{
    struct recording_run *t = arg;
    recorder_answer(t->recorder, question_name(question), term, len, asked);
}

static void on_tick(void *arg)
{
    struct recording_run *t = arg;
    struct error err = {.code = ERR_NONE};
    if (t->over)
        return;
    t->was_up = true;
    t->is_down = false;
    if (recorder_tick(t->recorder, t->model, clock_wall_us(), &err) == 0)
        return;
    finish(t, err.code == ERR_LIMIT ? "full" : "error", EXIT_FAILED, &err);
}

static void clear_progress(struct recording_run *t)
{
    if (t->shown_progress)
        fputs("\r\033[K", stderr);
    t->shown_progress = false;
}

static void on_trouble(void *arg, enum question question, const struct error *err)
{
    struct recording_run *t = arg;
    (void)question;
    clear_progress(t);
    fprintf(stderr, "beamtop: %s\n", err->text);
}

static void on_notice(void *arg, const char *text)
{
    clear_progress(arg);
    fprintf(stderr, "beamtop: %s\n", text);
}

/* A node that goes away for a while is a gap; the recording goes on when it is back. */
static void on_link(void *arg, bool up)
{
    struct recording_run *t = arg;
    if (up || !t->was_up || t->is_down)
        return;
    t->is_down = true;
    recorder_gap(t->recorder, clock_wall_us(), "link lost");
}

static void on_end(void *arg, enum conn_failure why, const struct error *err)
{
    struct recording_run *t = arg;
    (void)why;
    finish(t, "link", t->was_up ? EXIT_LOST : EXIT_CONNECT, err);
}

/* ---- timers and signals */

static void on_progress(uv_timer_t *timer)
{
    struct recording_run *t = timer->data;
    char bytes[32], since[32];
    const char *link = NULL;
    if (model_link(t->model, &link) != LINK_LIVE && *link)
        fprintf(stderr, "\r\033[K%s", link);
    else
        fprintf(stderr, "\r\033[Krecording %s: %lld ticks, %s, %s; Ctrl-C ends it", t->options->output,
                (long long)recorder_ticks(t->recorder),
                text_bytes(bytes, sizeof bytes, (double)recorder_bytes(t->recorder)),
                text_duration(since, sizeof since, (double)(uv_now(&t->loop) - t->started_ms) / 1000));
    t->shown_progress = true;
}

static void on_until(uv_timer_t *timer)
{
    finish(timer->data, "time", EXIT_DONE, NULL);
}

static void on_signal(uv_signal_t *handle, int number)
{
    finish(handle->data, "stopped", number == SIGINT ? EXIT_DONE : 128 + number, NULL);
}

static void start_handles(struct recording_run *t)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    uv_loop_init(&t->loop);
    uv_timer_init(&t->loop, &t->progress);
    uv_timer_init(&t->loop, &t->until);
    t->progress.data = t->until.data = t;
    t->started_ms = uv_now(&t->loop);
    if (t->env->err_tty)
        uv_timer_start(&t->progress, on_progress, PROGRESS_MS, PROGRESS_MS);
    if (t->options->for_given)
        uv_timer_start(&t->until, on_until, (uint64_t)(t->options->for_s * 1000), 0);
    for (size_t i = 0; i < ARRAY_LEN(t->signals); i++) {
        uv_signal_init(&t->loop, &t->signals[i]);
        t->signals[i].data = t;
        uv_signal_start(&t->signals[i], on_signal, numbers[i]);
    }
}

/* ---- run */

/* The busiest processes with what tells whose they are, and all applications. */
static struct want want_of_recording(void)
{
    const struct proc_column *columns[COLUMNS_MAX];
    int n = 0;
    struct error ignored = {.code = ERR_NONE};
    (void)proc_columns_parse("pid,name,label,initial_call,application,reductions_per_s,"
                             "memory_bytes,message_queue_len,current_function",
                             columns, &n, &ignored);
    const struct proc_column *sort = proc_column_find("reductions_per_s");
    struct want want = {.needs = NEED_SYSTEM | NEED_SCAN | NEED_APPS};
    want.scan = (struct want_scan){.sort_key = sort->key, .by_delta = true, .rows = RECORD_ROWS,
                                   .items = proc_columns_items(columns, n, sort)};
    return want;
}

static int start(struct recording_run *t, struct error *err)
{
    static const struct live_handlers handlers = {
        .on_tick = on_tick, .on_trouble = on_trouble, .on_notice = on_notice, .on_link = on_link,
        .on_answer = on_answer, .on_end = on_end};
    const struct cli_options *o = t->options;
    const struct want want = want_of_recording();
    double interval_s = o->interval_given ? o->interval_s : 5;
    const struct recorder_options options = {
        .node = o->target, .label = o->label, .interval_s = interval_s,
        .max_bytes = (uint64_t)o->max_size, .thin = o->thin, .redact = o->redact};
    int rc = target_init(&t->target, o->target, o, t->env, NULL, err);
    if (rc == 0)
        rc = recorder_open(&t->recorder, o->output, &options, err);
    if (rc != 0)
        return rc;
    const struct live_options live = {.conn = t->target.conn, .interval_s = interval_s,
                                      .budget = o->budget, .reconnect = true, .together = true};
    rc = live_open(&t->live, &t->loop, &live, t->model, &handlers, t, err);
    if (rc == 0)
        live_set_want(t->live, &want);
    return rc;
}

static void stop(struct recording_run *t)
{
    struct error err = {.code = ERR_NONE};
    int64_t ticks = t->recorder ? recorder_ticks(t->recorder) : 0;
    clear_progress(t);
    live_close(t->live, NULL, NULL);
    uv_close((uv_handle_t *)&t->progress, NULL);
    uv_close((uv_handle_t *)&t->until, NULL);
    for (size_t i = 0; i < ARRAY_LEN(t->signals); i++)
        uv_close((uv_handle_t *)&t->signals[i], NULL);
    uv_run(&t->loop, UV_RUN_DEFAULT);
    uv_loop_close(&t->loop);
    bool made = t->recorder != NULL;
    if (recorder_close(t->recorder, t->why, &err) != 0 && t->err.code == ERR_NONE)
        t->err = err;
    /* Of a node that was never reached nothing is kept. */
    if (made && ticks == 0)
        unlink(t->options->output);
    target_clear(&t->target);
    model_free(t->model);
    if (t->err.code != ERR_NONE)
        fprintf(stderr, "beamtop: %s\n", t->err.text);
    if (ticks > 0)
        fprintf(stderr, "beamtop: %s has %lld ticks; `beamtop report %s` tells what they say\n",
                t->options->output, (long long)ticks, t->options->output);
}

int command_record(const struct cli_options *o, const struct app_env *env)
{
    struct recording_run t = {.options = o, .env = env, .why = "error"};
    if (!o->output) {
        fputs("beamtop: record needs -o FILE\n", stderr);
        return EXIT_USAGE;
    }
    t.model = model_new();
    start_handles(&t);
    if (start(&t, &t.err) != 0)
        t.exit_code = t.err.code == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
    else
        uv_run(&t.loop, UV_RUN_DEFAULT);
    stop(&t);
    return t.exit_code;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/sample/sample_log.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "newest.h"
#include "reading.h"

#define EVERY_MS 1000u
#define FIRST_RATES_MS 300u /* between the first two looks, at least */
#define ONCE_TURN_MS 50u
#define MANY_THREADS 1000u             /* of more only schedulers are sampled */
#define LATE_MS 1000u                  /* /proc has so long */
#define RECENT_NS UINT64_C(1500000000) /* a thread without a sample for longer does not run */
#define REST 3u                        /* times as long as a look has taken */
#define ONCE_HZ SAMPLER_HZ_MAX
#define LIVE_HZ 19 /* a thread stands still for 25 µs each time */

struct look {
    struct look_options options;
    uv_loop_t *loop;
    uv_timer_t *timer;
    struct reading *reading;
    struct sample_log *log; /* NULL: not sampled yet, or never */
    struct newest newest;
    bool sampled;  /* the sampler was started; once */
    bool second;   /* of a single one: the last look is on its way */
    bool complete; /* … and has come back */
    uint64_t began_ms, asked_ms;
    uint64_t took_ms;  /* the last look */
    uint64_t rests_ms; /* until then no look is taken, but for the second: many threads take long */
    struct outside now;
};

/* ---- what its threads run */

static void on_look_sample(void *arg, const struct sample *sample)
{
    struct look *l = arg;
    newest_take(&l->newest, sample_log_sampled(l->log), sample);
}

static void on_look_sampled(void *arg, const struct error *why)
{
    struct look *l = arg;
    if (why)
        snprintf(l->now.why_no_stacks, sizeof l->now.why_no_stacks, "%.399s", why->text);
}

/* What is stopped has nothing to sample. */
static bool may_run(const struct outside *o)
{
    return !o->ended && !o->frozen && !strchr("ZXTt?", o->state);
}

static void begin_sampling(struct look *l)
{
    static const struct sample_log_handlers handlers = {.sample = on_look_sample,
                                                        .ended = on_look_sampled};
    struct error err = {0};
    const unsigned schedulers = 1u << THREAD_SCHEDULER | 1u << THREAD_DIRTY_CPU;
    l->now.only_schedulers = l->now.n_threads + l->now.threads_left > MANY_THREADS;
    const struct sample_log_options options = {
        .sampler = {.pid = (pid_t)l->now.os_pid,
                    .hz = l->options.once_ms > 0 ? ONCE_HZ : LIVE_HZ,
                    .for_s = l->options.once_ms > 0 ? FIRST_RATES_MS / 1000.0 : 0,
                    .kinds = l->now.only_schedulers ? schedulers : 0,
                    .lines = true},
        .label = l->now.node,
    };
    if (l->sampled || !may_run(&l->now))
        return;
    l->sampled = true;
    if (sample_log_start(&l->log, l->loop, &options, &handlers, l, &err) != 0) {
        l->log = NULL;
        snprintf(l->now.why_no_stacks, sizeof l->now.why_no_stacks, "%.399s", err.text);
    }
}

/* ---- looks */

static void report(struct look *l)
{
    const uint64_t since_ns = l->options.once_ms > 0 ? 0 : clock_mono_ns() - RECENT_NS;
    free(l->now.stacks);
    l->now.stacks = NULL;
    l->now.n_stacks = 0;
    if (l->log)
        l->now.n_stacks =
            newest_stacks(&l->newest, sample_log_sampled(l->log), since_ns, &l->now.stacks);
    l->options.looked(l->options.arg, &l->now);
}

static void report_late(struct look *l, uint64_t waited_ms)
{
    l->now.late_s = waited_ms >= LATE_MS ? (double)waited_ms / 1000 : 0;
    report(l);
}

/* The second look is not kept waiting by samples: under load they take all of the time. */
static void turn_once(struct look *l, uint64_t now_ms)
{
    const uint64_t since_ms = now_ms - l->began_ms;
    const bool over = since_ms >= l->options.once_ms;
    const bool sampling = l->log && sample_log_runs(l->log);
    if (!l->second && since_ms >= FIRST_RATES_MS && reading_ask(l->reading)) {
        l->second = true;
        l->asked_ms = now_ms;
    }
    if (!over && (sampling || !l->complete))
        return;
    if (sampling)
        snprintf(l->now.why_no_stacks, sizeof l->now.why_no_stacks,
                 "not read within %.1f s: `beamtop pstack %lld` waits for them",
                 (double)since_ms / 1000, (long long)l->now.os_pid);
    report_late(l, l->complete ? 0 : now_ms - l->asked_ms);
}

static void on_look_timer(uv_timer_t *timer)
{
    struct look *l = timer->data;
    const uint64_t now_ms = uv_now(l->loop);
    if (l->options.once_ms > 0)
        turn_once(l, now_ms);
    else if (now_ms < l->rests_ms)
        return;
    else if (reading_ask(l->reading))
        l->asked_ms = now_ms;
    else if (now_ms - l->asked_ms >= 2 * EVERY_MS)
        report_late(l, now_ms - l->asked_ms);
}

/* The first look gives no rates; the sampler needs to know whether anything runs. */
static void on_read(void *arg)
{
    struct look *l = arg;
    reading_take(l->reading, &l->now);
    l->now.late_s = 0;
    if (l->now.period_s > 0)
        l->rests_ms = uv_now(l->loop) + REST * (uv_now(l->loop) - l->asked_ms);
    begin_sampling(l);
    l->complete = l->second;
    if (l->options.once_ms == 0 || l->now.ended)
        report(l);
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle);
}

int look_start(struct look **out, uv_loop_t *loop, const struct look_options *options,
               struct error *err)
{
    struct look *l = alloc_zero(1, sizeof *l);
    *out = NULL;
    if (reading_open(&l->reading, loop, options->vm, on_read, l, err) != 0) {
        free(l);
        return err->code;
    }
    l->options = *options;
    l->options.vm = NULL;
    l->loop = loop;
    l->timer = alloc_zero(1, sizeof *l->timer);
    uv_timer_init(loop, l->timer);
    l->timer->data = l;
    reading_take(l->reading, &l->now);
    uv_update_time(loop);
    l->began_ms = uv_now(loop);
    l->asked_ms = l->began_ms;
    (void)reading_ask(l->reading);
    const bool once = options->once_ms > 0;
    uv_timer_start(l->timer, on_look_timer, once ? ONCE_TURN_MS : FIRST_RATES_MS,
                   once ? ONCE_TURN_MS : EVERY_MS);
    *out = l;
    return 0;
}

void look_stop(struct look *l)
{
    if (!l)
        return;
    reading_close(l->reading);
    if (sample_log_runs(l->log)) { /* twice: at once, also while it reads symbols */
        sample_log_stop(l->log);
        sample_log_stop(l->log);
    }
    sample_log_free(l->log);
    newest_clear(&l->newest);
    uv_close((uv_handle_t *)l->timer, on_timer_closed);
    outside_clear(&l->now);
    free(l);
}

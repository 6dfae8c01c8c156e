/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "batch.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "app/fleet/fleet.h"
#include "app/live/live.h"
#include "app/source/nodes.h"
#include "app/source/replay.h"
#include "app/source/source.h"
#include "app/cli/error_at.h"
#include "app/cli/tell.h"

#define PROGRESS_MS 500u

/* ---- progress: only on a terminal, only when one waits */

static void clear_batch_progress(struct batch *b)
{
    if (b->shown_progress)
        fputs("\r\033[K", stderr);
    b->shown_progress = false;
}

static void on_batch_progress(uv_timer_t *timer)
{
    struct batch *b = timer->data;
    const char *text = NULL;
    char since[32];
    double waited_s = (double)(uv_now(&b->rt.loop) - b->rt.started_ms) / 1000.0;
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

/* ---- the end of its ticks */

struct batch_member {
    struct batch batch; /* first */
    struct batch_job job;
    struct cli_options options; /* with its name as the target */
    char name[LIMIT_NODE_NAME_BYTES + 1];
};

/* Several nodes that print the same. */
struct batch_group {
    const struct batch_job *job;
    struct runtime rt;
    struct discover_list vms;
    struct fleet_names names;
    struct batch_member **members;
    size_t n, begun, over;
    int code; /* the first that is not 0 */
    bool begins;
};

static void begin_more(struct batch_group *g);

static void end_ticks(struct batch *b, int code, const struct error *err)
{
    struct batch_group *g = b->group;
    if (!g) {
        runtime_end(&b->rt, code, err);
        return;
    }
    if (b->over)
        return;
    b->over = true;
    if (b->source)
        source_pause(b->source, true);
    const struct error *why = err ? err : &b->rt.err;
    if (why->code != ERR_NONE)
        tell_line("%s: %s", b->job->options->target, why->text);
    g->code = g->code == EXIT_DONE ? code : g->code;
    if (++g->over == g->n)
        runtime_end(&g->rt, g->code, NULL);
    else
        begin_more(g);
}

static bool has_ended(const struct batch *b)
{
    return b->rt.ended || b->over;
}

/* ---- a session */

/* With its place, where that is in a pattern. */
static void end_at_pattern(struct batch *b, size_t pattern, size_t offset, const struct error *err)
{
    const bool marked = pattern < b->job->n_patterns;
    if (marked)
        error_at_print(b->job->patterns[pattern], offset, err);
    runtime_end(&b->rt, exit_code_of_error(err->code), marked ? NULL : err);
}

static void on_batch_change(void *arg, bool facts)
{
    struct batch *b = arg;
    struct error err = {0};
    struct session_port port;
    (void)facts;
    struct live *live = b->source ? source_live(b->source) : NULL;
    if (!b->job->open || b->opened || b->rt.ended || !live || !live_is_up(live) ||
        !model_node(b->model))
        return;
    b->opened = true;
    live_pause(live, true); /* no tick is needed after that */
    int rc = live_port(live, &port, &err);
    if (rc == 0)
        rc = b->job->open(b->job->arg, b, &port, &err);
    if (rc != 0)
        end_at_pattern(b, rc == ERR_USAGE ? b->wrong_pattern : SIZE_MAX, b->wrong_offset, &err);
}

static void refuse_cost(struct batch *b)
{
    if (!b->job->options->dry_run)
        session_refuse_cost(&b->rt.err, b->session);
    session_stop(b->session);
}

void batch_session_changed(void *run)
{
    struct batch *b = run;
    const struct batch_job *job = b->job;
    if (b->rt.ended || !b->session)
        return;
    const struct session_status *status = session_status(b->session);
    if (job->changed)
        job->changed(job->arg);
    if (status->phase == SESSION_ASKING && !(job->asking && job->asking(job->arg)))
        refuse_cost(b);
    else if (status->phase < SESSION_ENDED || (job->is_over && !job->is_over(job->arg)))
        return;
    else if (status->phase == SESSION_ENDED)
        job->ended(job->arg);
    else
        end_at_pattern(b, status->wrong ? status->wrong_text : SIZE_MAX, status->wrong_offset,
                       &status->error);
}

void batch_output_failed(struct batch *b, int write_errno, const struct error *err)
{
    if (write_errno != EPIPE && b->rt.err.code == ERR_NONE)
        b->rt.err = *err;
    session_stop(b->session);
}

static void on_batch_turn(uv_timer_t *timer)
{
    struct batch *b = timer->data;
    if (b->session && !b->rt.ended)
        session_tick(b->session);
    if (b->job->turn && b->opened && !b->rt.ended)
        b->job->turn(b->job->arg);
}

/* Ctrl-C ends the session, which takes a moment; once more ends us, and the node cleans up. A
 * session that has ended, but waits for others, ends without them. */
static void interrupt_session(struct batch *b, int number)
{
    const bool stands = b->session || (b->job->interrupt && b->opened);
    const bool over = b->session && !session_runs(b->session);
    if (!stands || (b->signal != 0 && !over))
        runtime_end(&b->rt, 128 + number, NULL);
    b->signal = number;
    b->signals++;
    if (b->session && !b->rt.ended)
        session_stop(b->session);
    else if (!b->rt.ended)
        b->job->interrupt(b->job->arg);
}

/* ---- events of the source */

static void on_batch_tick(void *arg)
{
    struct batch *b = arg;
    struct error err = {0};
    if (has_ended(b) || b->job->open)
        return;
    if (b->failed) {
        end_ticks(b, exit_code_of_error(b->rt.err.code), NULL);
        return;
    }
    clear_batch_progress(b);
    if (b->job->passes && b->job->passes(b->job->arg, b->model))
        return;
    int rc = b->job->on_tick(b->job->arg, b->model, &err);
    if (rc == ERR_CANCELLED)
        end_ticks(b, EXIT_DONE, NULL);
    else if (rc != 0)
        end_ticks(b, exit_code_of_error(err.code), &err);
    else if (++b->done == b->job->ticks)
        end_ticks(b, EXIT_DONE, NULL);
    else if (b->group && b->done == 1)
        begin_more(b->group);
}

/* A batch run that cannot give what it was asked for fails; the header's question may be late. */
static void on_batch_trouble(void *arg, const struct error *err)
{
    struct batch *b = arg;
    b->failed = true;
    if (b->job->open && !b->opened)
        runtime_end(&b->rt, exit_code_of_error(err->code), err);
    else if (!b->job->open && b->rt.err.code == ERR_NONE)
        b->rt.err = *err;
}

static void on_batch_notice(void *arg, bool trouble, const char *text)
{
    (void)trouble;
    clear_batch_progress(arg);
    tell_line("%s", text);
}

static void on_batch_end(void *arg, bool had_tick, const struct error *err)
{
    struct batch *b = arg;
    if (b->session && !b->rt.ended) {
        if (b->rt.err.code == ERR_NONE)
            b->rt.err = *err;
        session_link_lost(b->session, err);
    }
    if (b->job->lost && b->opened && !b->rt.ended)
        b->job->lost(b->job->arg, err);
    if (b->job->open)
        runtime_end(&b->rt, b->opened ? EXIT_LOST : EXIT_CONNECT, err);
    end_ticks(b, !err ? EXIT_DONE : had_tick ? EXIT_LOST : EXIT_CONNECT, err);
}

static void on_batch_interrupt(uv_signal_t *handle, int number)
{
    struct batch *b = handle->data;
    if (b->job->open)
        interrupt_session(b, number);
    else /* Ctrl-C is the way to end a run without -n. */
        runtime_end(&b->rt, number == SIGINT && b->job->ticks == 0 ? EXIT_DONE : 128 + number,
                    NULL);
}

/* ---- run */

static int start_source(struct batch *b, struct error *err)
{
    static const struct source_handlers handlers = {.on_change = on_batch_change,
                                                    .on_tick = on_batch_tick,
                                                    .on_trouble = on_batch_trouble,
                                                    .on_notice = on_batch_notice,
                                                    .on_end = on_batch_end};
    const struct cli_options *o = b->job->options;
    const struct source_setup setup = {
        .cli = o,
        .env = b->job->env,
        .vms = b->group ? &b->group->vms : NULL,
        .lent = b->lent,
        .loop = b->group ? &b->group->rt.loop : &b->rt.loop,
        .model = b->model,
        .interval_s = o->interval_s,
        .budget = o->budget,
        .batch = !b->job->open,
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

int batch_run(const struct batch_job *job)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct batch b = {.job = job};
    struct error err = {0};
    runtime_init(&b.rt);
    runtime_timer(&b.rt, &b.timer, &b);
    /* Of a recording nothing is left to undo, and a question to it is not interrupted by the loop.
     */
    if (!replay_is_file(job->options->target))
        runtime_catch(&b.rt, signals, ARRAY_LEN(signals), on_batch_interrupt, &b);
    b.model = model_new();
    if (start_source(&b, &err) != 0) {
        (void)runtime_ends(&b.rt, exit_code_of_error(err.code), &err);
    } else {
        if (job->open)
            uv_timer_start(&b.timer, on_batch_turn, job->turn_ms, job->turn_ms);
        else if (job->env->err_tty)
            uv_timer_start(&b.timer, on_batch_progress, PROGRESS_MS, PROGRESS_MS);
        uv_unref((uv_handle_t *)&b.timer);
        uv_run(&b.rt.loop, UV_RUN_DEFAULT);
    }
    clear_batch_progress(&b);
    if (job->lost && b.opened)
        job->lost(job->arg, &b.rt.err);
    session_free(b.session); /* before the source that it asks */
    source_close(b.source, NULL, NULL);
    runtime_close(&b.rt);
    if (b.rt.err.code != ERR_NONE)
        tell_error(&b.rt.err);
    model_free(b.model);
    return b.rt.exit_code;
}

/* ---- several nodes */

static void add_to_group(struct batch_group *g, size_t i)
{
    const char *name = g->names.names[i];
    struct batch_member *m = alloc_zero(1, sizeof *m);
    snprintf(m->name, sizeof m->name, "%s", name);
    m->options = *g->job->options;
    m->options.target = m->name;
    m->job = *g->job;
    m->job.options = &m->options;
    m->batch.job = &m->job;
    m->batch.group = g;
    m->batch.lent = fleet_lent(&g->names, i);
    m->batch.model = model_new();
    g->members[g->n++] = m;
}

/* The next ones, as others have their first tick, or have ended. */
static void begin_more(struct batch_group *g)
{
    size_t opening = 0;
    if (g->begins) /* one of them has failed at once: the loop below goes on */
        return;
    g->begins = true;
    for (size_t i = 0; i < g->begun; i++)
        opening += !g->members[i]->batch.over && g->members[i]->batch.done == 0;
    while (g->begun < g->n && opening < FLEET_OPENING && !g->rt.ended) {
        struct batch *b = &g->members[g->begun++]->batch;
        struct error err = {0};
        opening++;
        if (start_source(b, &err) != 0)
            end_ticks(b, exit_code_of_error(err.code), &err);
        opening -= b->over;
    }
    g->begins = false;
}

static void on_group_interrupt(uv_signal_t *handle, int number)
{
    struct batch_group *g = handle->data;
    runtime_end(&g->rt, number == SIGINT && g->job->ticks == 0 ? EXIT_DONE : 128 + number, NULL);
}

static void close_group(struct batch_group *g)
{
    for (size_t i = 0; i < g->n; i++) {
        source_close(g->members[i]->batch.source, NULL, NULL);
        g->members[i]->batch.source = NULL;
    }
    runtime_close(&g->rt);
    for (size_t i = 0; i < g->n; i++) {
        model_free(g->members[i]->batch.model);
        free(g->members[i]);
    }
    free(g->members);
    fleet_names_clear(&g->names);
    discover_clear(&g->vms);
}

int batch_run_each(const struct batch_job *job)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct batch_group g = {.job = job};
    struct error err = {0}, ignored = {0};
    fleet_prepare();
    runtime_init(&g.rt);
    runtime_catch(&g.rt, signals, ARRAY_LEN(signals), on_group_interrupt, &g);
    (void)nodes_find(&g.vms, job->options, job->env, NODES_EPMD_MS, &ignored);
    if (fleet_resolve(&g.names, job->options, job->env, &g.vms, &err) != 0) {
        (void)runtime_ends(&g.rt, exit_code_of_error(err.code), &err);
    } else {
        g.members = alloc_zero(g.names.n, sizeof(struct batch_member *));
        for (size_t i = 0; i < g.names.n; i++)
            add_to_group(&g, i);
        begin_more(&g);
        if (!g.rt.ended)
            uv_run(&g.rt.loop, UV_RUN_DEFAULT);
    }
    close_group(&g);
    if (g.rt.err.code != ERR_NONE)
        tell_error(&g.rt.err);
    return g.rt.exit_code;
}

struct error batch_trouble(const struct batch *b)
{
    const struct error trouble = session_trouble(b->session);
    return b->rt.err.code == ERR_NONE || trouble.code == ERR_TARGET ? trouble : b->rt.err;
}

int batch_exit_code(const struct batch *b)
{
    return b->signal == SIGTERM ? 128 + SIGTERM : EXIT_DONE;
}

void batch_tell_verified(const struct batch *b, const struct session_check *check,
                         const char *where)
{
    char text[sizeof check->text];
    if (b->job->options->format != FORMAT_TEXT || !check->done || !check->clean)
        return;
    session_check_text(text, sizeof text, check, where);
    tell_line("%s", text);
}

void batch_end(struct batch *b, const struct error *err)
{
    if (err->code != ERR_NONE)
        runtime_end(&b->rt, exit_code_of_error(err->code), err);
    else
        runtime_end(&b->rt, batch_exit_code(b), NULL);
}

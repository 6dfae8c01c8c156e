/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sampling from the screen: one run at a time, of the VM of the node that is shown; from outside,
 * or where that is refused by the node itself. The last run stays on the screen. From outside it
 * goes on when the connection is lost. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "app/sample/sample_log.h"
#include "app/sample/where.h"
#include "app/search/local_search.h"
#include "tui_findings.h"
#include "tui_owners.h"
#include "tui_trace_start.h"

#define SAMPLES_VIEW "samples"
#define TURN_MS 100u
#define DRAW_TURNS 5

struct tui_sample {
    struct tui *tui;
    struct sample_log *log; /* of the run that is shown; NULL: none */
    uv_timer_t timer;       /* while it runs */
    unsigned turns;
    struct local_search *search; /* of the VM in which a function is looked for; NULL: none */
    char *function;              /* … that is looked for then */
    struct where_run *where;     /* NULL: nothing is looked for */
};

/* ---- what is shown */

static void show_sample(struct tui_sample *s)
{
    struct tui *t = s->tui;
    model_set_samples(t->model, sample_log_now(s->log));
    if (!t->paused)
        screen_update(t->screen);
    tui_touch(t);
}

/* The page on the screen has frames of the run: it is made again before they go. */
static void replace_sample(struct tui_sample *s, struct sample_log *log)
{
    struct tui *t = s->tui;
    struct sample_log *before = s->log;
    s->log = log;
    model_set_samples(t->model, log ? sample_log_now(log) : NULL);
    screen_update(t->screen);
    tui_touch(t);
    sample_log_free(before);
}

static void on_sample_timer(uv_timer_t *timer)
{
    struct tui_sample *s = timer->data;
    sample_log_turn(s->log);
    if (!sample_log_runs(s->log))
        uv_timer_stop(timer);
    else if (++s->turns % DRAW_TURNS == 0)
        show_sample(s);
}

/* ---- a run */

static void sample_begun(void *arg, pid_t pid, const char *why)
{
    struct tui_sample *s = arg;
    struct tui *t = s->tui;
    if (pid != 0)
        tui_journal(t, false,
                    "OS process %d is sampled from outside, %d times a second of CPU time",
                    (int)pid, option_int(&t->settings.options, OPTION_SAMPLE_HZ));
    else
        tui_journal(t, false, "the node samples its busiest processes where they yield: %.300s",
                    why);
}

static void tell_sample_end(struct tui_sample *s, const struct error *why)
{
    struct tui *t = s->tui;
    const struct samples_summary *summary = &sample_log_now(s->log)->run;
    if (why)
        tui_message(t, STYLE_ERROR, "%.300s", why->text);
    else
        tui_findings_samples(t, summary);
    tui_journal(t, why != NULL, "sampling ended%s%.300s: %lld samples", why ? ": " : "",
                why ? why->text : "", (long long)summary->samples);
    show_sample(s);
}

static void sample_ended(void *arg, const struct error *why)
{
    struct tui_sample *s = arg;
    tell_sample_end(s, why);
    if (s->tui->live)
        (void)sample_log_ask_names(s->log, NULL);
}

static void sample_named(void *arg)
{
    show_sample(arg);
}

static int begin_sample(struct tui_sample *s, double for_s, struct error *err)
{
    static const struct sample_log_handlers handlers = {
        .ended = sample_ended, .named = sample_named, .begun = sample_begun};
    struct tui *t = s->tui;
    const struct options *o = &t->settings.options;
    const struct sample_node node = {.loop = &t->rt.loop,
                                     .live = t->live,
                                     .model = t->model,
                                     .cli = t->cli,
                                     .env = t->env,
                                     .hz = (unsigned)option_int(o, OPTION_SAMPLE_HZ),
                                     .for_s = for_s,
                                     .budget = option_double(o, OPTION_BUDGET) / 100};
    struct sample_log *log = NULL;
    if (!t->live)
        return error_set(err, ERR_USAGE, "a recording cannot be sampled");
    if (!live_peer_node(t->live))
        return error_set(err, ERR_LOST, "there is no connection to a node yet");
    int rc = sample_log_start_node(&log, &node, &handlers, s, err);
    if (rc != 0)
        return rc;
    replace_sample(s, log);
    uv_timer_start(&s->timer, on_sample_timer, TURN_MS, TURN_MS);
    return 0;
}

/* ---- what the user does */

static void act_sample(void *own, const char *arg)
{
    struct tui_sample *s = own;
    struct tui *t = s->tui;
    struct error err = {0};
    double for_s = option_double(&t->settings.options, OPTION_SAMPLE_TIME);
    const bool here = strcmp(screen_view(t->screen), SAMPLES_VIEW) == 0;
    if (*arg && (text_parse_duration(arg, &for_s) != 0 || for_s < 0.1 || for_s > 86400)) {
        tui_message(t, STYLE_ERROR, "sample takes a duration from 0.1s to 24h, not \"%.40s\"", arg);
        return;
    }
    if (here && !*arg && sample_log_runs(s->log)) {
        tui_message(t, STYLE_MESSAGE, "it is sampled; stop it first to begin again");
        return;
    }
    tui_act(t, ACTION_VIEW, SAMPLES_VIEW);
    if ((*arg || !s->log || here) && (t->live || *arg) && begin_sample(s, for_s, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
}

static void act_sample_stop(void *own, const char *arg)
{
    struct tui_sample *s = own;
    (void)arg;
    if (sample_log_runs(s->log))
        sample_log_stop(s->log);
    else
        tui_message(s->tui, STYLE_MESSAGE, "nothing is sampled");
}

/* ---- source lines */

/* "shop:checkout/1  shop.erl:42" */
static void on_where_found(void *arg, bool found, const char *line, size_t lines)
{
    struct tui_sample *s = arg;
    const char *prefix = "beamtop: ";
    s->where = NULL;
    if (!found && strncmp(line, prefix, strlen(prefix)) == 0)
        line += strlen(prefix);
    if (found && lines > 1)
        tui_message(s->tui, STYLE_MESSAGE, "%s, and %zu more: `beamtop where` lists them", line,
                    lines - 1);
    else if (*line)
        tui_message(s->tui, found ? STYLE_MESSAGE : STYLE_ERROR, "%s", line);
    else
        tui_message(s->tui, STYLE_ERROR, "the process that reads the VM has failed");
}

static void leave_where(struct tui_sample *s)
{
    local_search_stop(s->search);
    s->search = NULL;
    free(s->function);
    s->function = NULL;
    where_leave(s->where);
    s->where = NULL;
}

static void on_where_vm(void *arg, const struct discover_vm *vm, const struct error *why)
{
    struct tui_sample *s = arg;
    struct error err = *why;
    if (vm)
        (void)where_start(&s->where, &s->tui->rt.loop, vm->pid, s->function, WHERE_SECONDS,
                          on_where_found, s, &err);
    if (err.code != ERR_NONE)
        tui_message(s->tui, STYLE_ERROR, "%s", err.text);
    local_search_stop(s->search);
    s->search = NULL;
}

static int start_where(struct tui_sample *s, const char *function, struct error *err)
{
    struct tui *t = s->tui;
    if (!t->live)
        return error_set(err, ERR_USAGE, "a recording has no source lines: the node has them");
    if (!live_peer_node(t->live))
        return error_set(err, ERR_LOST, "there is no connection to a node yet");
    const struct local_wanted wanted = {.target = live_peer_node(t->live),
                                        .os_pid = node_os_pid(model_node(t->model)),
                                        .cli = t->cli,
                                        .env = t->env};
    leave_where(s);
    s->function = alloc_strdup(function);
    return local_search_start(&s->search, &t->rt.loop, &wanted, on_where_vm, s, err);
}

static void act_where(void *own, const char *arg)
{
    struct tui_sample *s = own;
    struct tui *t = s->tui;
    struct error err = {0};
    struct buf function;
    buf_init(&function, 0);
    if (*arg)
        buf_puts(&function, arg);
    else
        tui_trace_function(t, &function);
    if (function.len == 0)
        tui_message(t, STYLE_MESSAGE,
                    "put the cursor on a function, a span, an event or a "
                    "process");
    else if (start_where(s, buf_cstr(&function), &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
    buf_clear(&function);
}

/* ---- life */

static void *make_sample(struct tui *t)
{
    struct tui_sample *s = alloc_zero(1, sizeof *s);
    s->tui = t;
    runtime_timer(&t->rt, &s->timer, s);
    return s;
}

static void leave_sample(void *own)
{
    struct tui_sample *s = own;
    uv_timer_stop(&s->timer);
    leave_where(s);
    if (s->log)
        replace_sample(s, NULL);
}

/* What the node does for it ends; from outside it goes on. */
static void lose_sample_link(void *own)
{
    struct tui_sample *s = own;
    struct error err = {0};
    error_set(&err, ERR_LOST, "connection lost");
    if (s->log)
        sample_log_lost(s->log, &err);
}

const struct tui_owner tui_sample_owner = {.acts = {[ACTION_SAMPLE] = {.run = act_sample},
                                                    [ACTION_SAMPLE_STOP] = {.run = act_sample_stop},
                                                    [ACTION_WHERE] = {.run = act_where}},
                                           .make = make_sample,
                                           .at = {[TUI_LOST] = lose_sample_link,
                                                  [TUI_LEAVES] = leave_sample,
                                                  [TUI_CLOSES] = leave_sample,
                                                  [TUI_FREES] = free}};

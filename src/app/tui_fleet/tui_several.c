/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui_several.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/tell.h"
#include "app/tui/tui_names.h"
#include "app/tui/tui_trace_start.h"
#include "beamtop/base/alloc.h"
#include "beamtop/trace/trace.h"

#define TURN_MS 100u
#define COUNT_TURNS 10u    /* the nodes count once a second */
#define QUIT_WAIT_MS 2000u /* for the check of each node, when the program is left */

static bool runs(const struct tui_several_trace *s)
{
    for (size_t i = 0; i < s->trace.all.n; i++)
        if (session_runs(s->trace.all.parts[i].session))
            return true;
    return s->trace.all.n > 0 && s->trace.all.phase != FLEET_ENDED;
}

static bool was_set(const struct tui_several_trace *s)
{
    for (size_t i = 0; i < s->trace.all.n; i++) {
        const struct session *session = s->trace.all.parts[i].session;
        const struct session_status *status = session ? session_status(session) : NULL;
        if (status && status->phase != SESSION_FAILED && !status->check.unarmed)
            return true;
    }
    return false;
}

/* ---- its lines */

static struct merge_line *keep_event(void *user, const struct fleet_part *p,
                                     const struct trace_log *log, const struct trace_event *event,
                                     bool finished)
{
    struct tui_several_trace *s = user;
    (void)log;
    return fleet_log_keep(s->log, p->index, event, finished);
}

static void put_event(void *user, const struct merge_line *line, const struct trace_place *place)
{
    struct tui_several_trace *s = user;
    const struct session *session = s->trace.all.parts[line->node].session;
    if (session)
        fleet_log_put(s->log, trace_session_log(session), line, place);
}

static void take_estimates(void *user, size_t ready)
{
    (void)user; /* the view has them */
    (void)ready;
}

static void end_trace(void *user)
{
    struct tui_several_trace *s = user;
    fleet_sessions_end(&s->trace.all);
}

/* ---- what it says */

static void say_in_journal(struct fleet_sessions *all, const char *line)
{
    const struct fleet_trace *t = all->arg;
    const struct tui_several_trace *s = t->user;
    tui_journal(s->tui, false, "trace: %s", line);
}

/* Those that were meant were left out one after the other; NULL: none was. */
static const struct error *why_left_out(const struct fleet_sessions *all)
{
    const struct error *why = NULL;
    for (size_t i = 0; i < all->n; i++) {
        if (all->parts[i].session)
            return NULL;
        if (!why && all->parts[i].why.code != ERR_NONE)
            why = &all->parts[i].why;
    }
    return why;
}

static void note_end(struct fleet_sessions *all, int code, const struct error *err)
{
    const struct fleet_trace *t = all->arg;
    struct tui_several_trace *s = t->user;
    const struct error stopped = {.code = ERR_REFUSED, .text = "stopped before it was set"};
    const struct error *why = why_left_out(all);
    if (err->code == ERR_NONE && code == EXIT_REFUSED && why)
        err = why;
    if (err->code != ERR_NONE)
        tui_message(s->tui, STYLE_ERROR, "%s", err->text);
    if (!all->told_set)
        fleet_log_fail(s->log, err->code != ERR_NONE ? err : &stopped);
}

/* Of the others: how many; of the cost: which is the dearest. */
static void note_question(struct fleet_sessions *all, size_t ready, size_t node,
                          const struct error *why)
{
    const struct fleet_trace *t = all->arg;
    struct tui_several_trace *s = t->user;
    const struct session *session = all->parts[node].session;
    const bool costs = session && why->code == ERR_REFUSED && all->kind->is_expensive(session) &&
                       fleet_part_phase(&all->parts[node]) == SESSION_ASKING;
    s->ask = costs ? SEVERAL_COST : SEVERAL_PARTIAL;
    if (costs)
        snprintf(s->question, sizeof s->question, "%.60s: %.180s. Trace anyway? (y/n) ",
                 fleet_name(all->fleet, node), why->text);
    else
        snprintf(s->question, sizeof s->question,
                 "%.60s cannot take part: %.160s. Trace the other %zu anyway? (y/n) ",
                 fleet_name(all->fleet, node), why->text, ready);
}

static void question_answered(void *arg, bool yes)
{
    struct tui_several_trace *s = arg;
    const enum several_ask of = s->ask;
    s->ask = SEVERAL_NOT;
    if (yes && of == SEVERAL_PARTIAL)
        s->trace.all.partial = true;
    if (yes && of == SEVERAL_COST)
        s->trace.all.force = true;
    fleet_sessions_answer(&s->trace.all, yes);
}

/* Once more where another prompt took the place of the question. */
static void ask_question(struct tui_several_trace *s)
{
    if (s->ask == SEVERAL_NOT || s->trace.all.phase != FLEET_ASKS || prompt_is_open(s->tui->prompt))
        return;
    tui_ask(s->tui, s->question, question_answered, s);
}

/* How many were verified, and who was not. */
static void tell_verified(struct tui_several_trace *s)
{
    size_t set = 0, clean = 0;
    const char *odd = "";
    for (size_t i = 0; i < s->trace.all.n; i++) {
        const struct fleet_part *p = &s->trace.all.parts[i];
        const struct session_check *check = p->session ? &session_status(p->session)->check : NULL;
        if (!check || check->unarmed || fleet_part_phase(p) == SESSION_FAILED)
            continue;
        set++;
        clean += check->done && check->clean;
        if (!check->clean && !*odd)
            odd = fleet_name(s->trace.all.fleet, i);
    }
    const uint64_t more = fleet_trace_more(&s->trace);
    if (more > 0)
        tui_journal(s->tui, false, "trace: %llu more events came before all nodes had ended",
                    (unsigned long long)more);
    if (set == 0)
        return;
    tui_journal(s->tui, clean < set, "trace ended: %zu of %zu nodes verified, nothing left%s%s",
                clean, set, *odd ? "; not verified: " : "", odd);
    tui_message(s->tui, clean < set ? STYLE_ERROR : STYLE_MESSAGE,
                "trace ended: %zu of %zu nodes verified, nothing left%s%s", clean, set,
                *odd ? "; not verified: " : "", odd);
}

/* ---- turns */

static void follow_logs(struct tui_several_trace *s)
{
    struct fleet_sessions *all = &s->trace.all;
    if (s->turns++ % COUNT_TURNS == 0 || !runs(s))
        fleet_log_count(s->log);
    for (size_t i = 0; i < all->n; i++) {
        const struct fleet_part *p = &all->parts[i];
        if (p->session)
            fleet_log_take(s->log, i, trace_session_log(p->session));
        else if (p->why.code != ERR_NONE)
            fleet_log_leave_out(s->log, i, p->why.text);
    }
    if (all->phase != FLEET_ENDED || all->told_set)
        fleet_log_sum(s->log);
    else
        fleet_log_refused(s->log);
    if (!s->tui->paused)
        screen_update(s->tui->screen);
    tui_touch(s->tui);
}

/* What nobody can see is not fetched. */
static void hold_parts(void *own)
{
    struct tui_several_trace *s = own;
    const bool hold = s->tui->paused || !tui_terminal_is_ready();
    for (size_t i = 0; i < s->trace.all.n; i++)
        if (session_runs(s->trace.all.parts[i].session))
            trace_hold(s->trace.all.parts[i].session, hold);
}

static void on_several_turn(uv_timer_t *timer)
{
    struct tui_several_trace *s = timer->data;
    const bool late = s->quit_by_ms != 0 && uv_now(&s->tui->rt.loop) >= s->quit_by_ms;
    hold_parts(s);
    fleet_sessions_turn(&s->trace.all);
    ask_question(s);
    follow_logs(s);
    if (!s->began && s->trace.all.told_set && was_set(s)) {
        s->began = true;
        tui_journal(s->tui, false, "trace started on several nodes: %.120s", s->line);
    }
    if (runs(s) && !late)
        return;
    uv_timer_stop(timer);
    if (!s->over)
        tell_verified(s);
    s->over = true;
    if (s->quit_by_ms != 0)
        tui_leave(s->tui);
}

/* ---- beginning */

static void close_trace(struct tui_several_trace *s)
{
    if (s->log && model_trace(s->tui->model) == fleet_log_trace(s->log))
        model_set_trace(s->tui->model, NULL);
    uv_timer_stop(&s->timer);
    fleet_sessions_close(&s->trace.all);
    fleet_trace_clear(&s->trace);
    fleet_log_free(s->log);
    trace_request_clear(&s->request);
    s->trace = (struct fleet_trace){0};
    s->log = NULL;
}

static void open_parts(struct tui_several_trace *s)
{
    static const struct fleet_sessions_host host = {
        .say = say_in_journal, .end = note_end, .ask = note_question};
    static const struct fleet_trace_user use = {
        .keep = keep_event, .put = put_event, .estimated = take_estimates, .ended = end_trace};
    struct tui *t = s->tui;
    s->trace = (struct fleet_trace){.all = {.options = t->cli,
                                            .env = t->env,
                                            .force = s->request.force,
                                            .host = &host,
                                            .rt = &t->rt,
                                            .fleet = tui_fleet(t)},
                                    .use = &use,
                                    .user = s,
                                    .request = &s->request,
                                    .patterns = &s->request.pattern,
                                    .n_patterns = 1,
                                    .first = s->request.first};
    fleet_trace_init(&s->trace);
    fleet_sessions_open(&s->trace.all);
    for (size_t i = 0; i < s->trace.all.n; i++) {
        const char *name = fleet_name(s->trace.all.fleet, i);
        s->trace.all.parts[i].left_out = !several_means(s, name);
        if (!s->trace.all.parts[i].left_out)
            fleet_log_name(s->log, i, name);
    }
}

static int check_request(const struct trace_request *r, size_t *offset, struct error *err)
{
    struct procs procs;
    size_t at = 0;
    if (r->procs && procs_parse(&procs, r->procs, &at, err) != 0) {
        *offset = r->procs_at + at;
        return err->code;
    }
    return 0;
}

static int start_several(void *own, const char *line, bool prompted, size_t *offset,
                         struct error *err)
{
    struct tui_several_trace *s = own;
    struct trace_request request;
    struct fleet_log *log = NULL;
    char key[64];
    if (runs(s))
        return error_set(err, ERR_REFUSED, "a trace of several nodes is running: %s stops it",
                         tui_key(s->tui, ACTION_TRACE_STOP, NULL, key, sizeof key));
    if ((prompted ? s->meant.n : several_choose(s)) == 0)
        return error_set(err, ERR_NOT_FOUND, "there is no node to trace");
    settings_request(&s->tui->settings, false, &request);
    int rc = trace_request_parse(&request, REQUEST_TRACE, line, offset, err);
    if (rc != 0)
        return rc;
    rc = check_request(&request, offset, err);
    if (rc == 0) {
        size_t at = 0;
        rc = fleet_log_new(&log, &request, fleet_size(tui_fleet(s->tui)), &at, err);
        *offset = rc == 0 ? *offset : request.pattern_at + at;
    }
    if (rc != 0) {
        trace_request_clear(&request);
        return rc;
    }
    char *copy = alloc_strdup(line); /* it may be s->line */
    close_trace(s);
    free(s->line);
    several_keep(s);
    s->line = copy;
    s->request = request;
    s->log = log;
    s->began = s->over = s->paused_by_us = false;
    s->ask = SEVERAL_NOT;
    s->quit_by_ms = 0; /* a quit that was declined in the end */
    open_parts(s);
    model_set_trace(s->tui->model, fleet_log_trace(s->log));
    uv_timer_start(&s->timer, on_several_turn, TURN_MS, TURN_MS);
    tui_act(s->tui, ACTION_VIEW, "trace");
    return 0;
}

/* ---- what the user does to it */

static void pause_parts(struct tui_several_trace *s, bool paused)
{
    for (size_t i = 0; i < s->trace.all.n; i++)
        if (session_runs(s->trace.all.parts[i].session))
            trace_pause(s->trace.all.parts[i].session, paused);
}

static bool is_paused(const struct tui_several_trace *s)
{
    return s->log && trace_log_state(fleet_log_trace(s->log))->status.phase == SESSION_PAUSED;
}

static void stop_parts(struct tui_several_trace *s)
{
    if (s->trace.all.phase == FLEET_RUNS) {
        fleet_sessions_stop(&s->trace.all);
        return;
    }
    if (s->trace.all.phase == FLEET_ENDED) /* what it has refused is being cleared */
        return;
    s->trace.all.phase = FLEET_ASKS; /* as if it had been asked, and declined */
    fleet_sessions_answer(&s->trace.all, false);
}

static bool stops_several(void *own)
{
    struct tui_several_trace *s = own;
    const bool any = runs(s);
    if (any)
        stop_parts(s);
    return any;
}

/* ---- of one that runs */

static void act_stop(struct tui_several_trace *s, const char *arg)
{
    (void)arg;
    stop_parts(s);
}

static void act_pause(struct tui_several_trace *s, const char *arg)
{
    (void)arg;
    pause_parts(s, !is_paused(s));
}

static void act_extend(struct tui_several_trace *s, const char *arg)
{
    struct error err = {0};
    const size_t n = fleet_trace_extend(&s->trace, &err);
    (void)arg;
    if (err.code != ERR_NONE)
        tui_message(s->tui, STYLE_ERROR, "%s", err.text);
    else
        tui_message(s->tui, STYLE_MESSAGE, "%zu node%s may send as much again, from now on", n,
                    n == 1 ? "" : "s");
}

static void act_set(struct tui_several_trace *s, const char *words)
{
    struct error err = {0};
    if (fleet_trace_set(&s->trace, words, &err) != 0)
        tui_message(s->tui, STYLE_ERROR, "%s", err.text);
}

/* NULL, with a message: the cursor is on none. */
static const struct trace_event *event_here(const struct tui_several_trace *s)
{
    const struct view_link link = screen_link(s->tui->screen);
    const struct trace_event *e =
        link.kind == TARGET_EVENT ? trace_log_find(fleet_log_trace(s->log), link.id) : NULL;
    if (!e)
        tui_message(s->tui, STYLE_MESSAGE, "put the cursor on an event");
    return e;
}

static void act_only_process(struct tui_several_trace *s, const char *arg)
{
    const struct trace_event *e = event_here(s);
    struct error err = {0};
    (void)arg;
    if (!e)
        return;
    if (fleet_trace_narrow_pid(&s->trace, e->node, &e->pid, &err) != 0)
        tui_message(s->tui, STYLE_ERROR, "%s", err.text);
    else
        tui_message(s->tui, STYLE_MESSAGE, "from now on only this process of %.*s",
                    (int)e->node.len, e->node.s);
}

static void act_only_pattern(struct tui_several_trace *s, const char *arg)
{
    const struct trace_event *e = event_here(s);
    (void)arg;
    if (!e)
        return;
    fleet_trace_narrow_pattern(&s->trace, e->pattern);
    tui_message(s->tui, STYLE_MESSAGE, "from now on only the pattern of this event");
}

/* NULL: it means nothing of several nodes. */
static void (*const act_running[ACTIONS])(struct tui_several_trace *s, const char *arg) = {
    [ACTION_TRACE_STOP] = act_stop,
    [ACTION_TRACE_PAUSE] = act_pause,
    [ACTION_TRACE_EXTEND] = act_extend,
    [ACTION_TRACE_SET] = act_set,
    [ACTION_TRACE_ONLY_PROCESS] = act_only_process,
    [ACTION_TRACE_ONLY_PATTERN] = act_only_pattern,
};

static void act_several(void *own, enum action action, const char *arg)
{
    struct tui_several_trace *s = own;
    struct error err = {0};
    size_t offset = 0;
    if (action == ACTION_TRACE_SAVE) {
        tui_trace_save(s->tui->own[OWNER_TRACE], arg);
    } else if (action == ACTION_TRACE_AGAIN && s->line) {
        if (start_several(s, s->line, false, &offset, &err) != 0)
            tui_message(s->tui, STYLE_ERROR, "%s", err.text);
    } else if (action == ACTION_TRACE_ROW || action == ACTION_TRACE_PROCESS) {
        tui_act(s->tui, ACTION_TRACE, "");
    } else if (!act_running[action]) {
        tui_message(s->tui, STYLE_MESSAGE,
                    "%s works only with one node: open it, and trace it separately",
                    action_table[action].name);
    } else if (!runs(s)) {
        tui_message(s->tui, STYLE_MESSAGE, "no trace of several nodes is running");
    } else {
        act_running[action](s, arg);
    }
}

/* Of the nodes in their view; elsewhere of the trace that is shown. */
static bool takes_action(const void *own, enum action action)
{
    const struct tui_several_trace *s = own;
    const char *view = screen_view(s->tui->screen);
    const bool is_shown = s->log && model_trace(s->tui->model) == fleet_log_trace(s->log);
    (void)action;
    if (!tui_fleet(s->tui))
        return false;
    return strcmp(view, "fleet") == 0 || strcmp(view, "mesh") == 0 || !s->tui->source ||
           (is_shown && strcmp(view, "trace") == 0);
}

static void put_mark(void *own, char *out, size_t size)
{
    struct tui_several_trace *s = own;
    const size_t n = several_choose(s);
    const bool all = strcmp(s->meant.which, "all ") == 0;
    snprintf(out, size, "trace %s%zu %snode%s> ", all ? s->meant.which : "", n,
             all ? "" : s->meant.which, n == 1 ? "" : "s");
}

static struct live *live_of_names(void *own, const struct live *now)
{
    return several_live(own, now);
}

/* ---- the end */

static void quit_now(struct tui_several_trace *s)
{
    s->quit_by_ms = uv_now(&s->tui->rt.loop) + QUIT_WAIT_MS;
    stop_parts(s);
    tui_message(s->tui, STYLE_MESSAGE, "ending the trace of several nodes…");
}

static void quit_confirmed(void *arg, bool yes)
{
    struct tui_several_trace *s = arg;
    if (yes && runs(s))
        quit_now(s);
    else if (yes)
        tui_leave(s->tui);
}

static bool quits_several(void *own)
{
    struct tui_several_trace *s = own;
    if (!runs(s) || s->quit_by_ms != 0)
        return false;
    tui_ask(s->tui, "A trace of several nodes is running. Stop it and quit? (y/n) ", quit_confirmed,
            s);
    return true;
}

static void print_end(void *own)
{
    const struct tui_several_trace *s = own;
    if (s->quit_by_ms != 0)
        tell_line("the trace of several nodes was ended%s",
                  s->over ? "" : "; each node clears what is left with the connection");
}

/* ---- news of the program */

static void lose_part(void *arg, size_t node, const struct error *why)
{
    struct tui_several_trace *s = arg;
    tui_trace_prompt_lost(s->tui->own[OWNER_TRACE]);
    fleet_sessions_lost(&s->trace.all, node, why);
}

/* All of them are about to be closed. */
static void lose_all(void *arg)
{
    struct tui_several_trace *s = arg;
    tui_names_lost(s->tui);
    close_trace(s);
}

/* The screen of one node was opened: what it has brought stays in sight. */
static void keep_shown(void *own)
{
    struct tui_several_trace *s = own;
    if (s->log)
        model_set_trace(s->tui->model, fleet_log_trace(s->log));
}

static void suspend_parts(void *own)
{
    struct tui_several_trace *s = own;
    s->paused_by_us = runs(s) && s->trace.all.phase == FLEET_RUNS && !is_paused(s);
    if (s->paused_by_us)
        pause_parts(s, true);
}

static void resume_parts(void *own)
{
    struct tui_several_trace *s = own;
    if (s->paused_by_us)
        pause_parts(s, false);
    s->paused_by_us = false;
}

/* ---- life */

static void *make_several(struct tui *t)
{
    static const struct tui_several several = {.takes = takes_action,
                                               .act = act_several,
                                               .mark = put_mark,
                                               .live = live_of_names,
                                               .start = start_several,
                                               .stops = stops_several,
                                               .quits = quits_several};
    struct tui_several_trace *s = alloc_zero(1, sizeof *s);
    s->tui = t;
    runtime_timer(&t->rt, &s->timer, s);
    tui_fleet_follow(t, lose_part, lose_all, s);
    t->several = &several;
    return s;
}

static void free_several(void *own)
{
    struct tui_several_trace *s = own;
    free(s->line);
    several_forget(&s->meant);
    several_forget(&s->traced);
    free(s);
}

const struct tui_owner tui_several_owner = {.make = make_several,
                                            .at = {[TUI_OPENS] = keep_shown,
                                                   [TUI_PAUSED] = hold_parts,
                                                   [TUI_SUSPENDS] = suspend_parts,
                                                   [TUI_RESUMES] = resume_parts,
                                                   [TUI_ENDED] = print_end,
                                                   [TUI_FREES] = free_several}};

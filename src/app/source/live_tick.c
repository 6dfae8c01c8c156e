/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ticks: which questions are due, their arguments, their answers, what they cost. */
#include <math.h>
#include <string.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "encode.h"
#include "live_internal.h"

/* The header's second tick comes early, so that rates are there soon after the start. */
#define SECOND_TICK_MS 300u
/* After that long a header is a tick of a recording, whether or not the first one is over. */
#define FIRST_TICK_MS 2000u
/* An expensive question may take this long on the node before it is stopped there. */
#define EXPENSIVE_DEADLINE_MS 30000u
/* Rows that a process which does not yield holds up are given up when the next are due. */
#define ROWS_DEADLINE_MS 1900u
/* Without an answer to the header's question for so long, what is shown is old. */
#define SILENT_MS 1000u
/* A batch run whose ticks are so far apart says why: else it is silent for that long. */
#define WORTH_WAITING_S 2.0
/* Of the header's interval: what is due that much later is asked with it. */
#define EARLY 0.1
/* So many times further apart than the log says, the reason is logged again. */
#define WORTH_LOGGING 2.0

#define BIT(question) QUESTION_BIT(question)

/* A scan that no view shows: so often at most, and for so much of the cost limit. */
#define SELDOM_MS 10000.0
#define SELDOM_SHARE 0.25

/* Whether a scan that no view shows is due: the more it costs, the longer the wait. Before the
 * first one its cost is estimated from the number of processes. */
static bool seldom_is_due(struct live *l, uint64_t now)
{
    const struct system_sample *s = model_system(l->model);
    if (!live_is_seldom(&l->want) || !s || l->governor.budget <= 0)
        return false;
    governor_expect(&l->governor, s->processes);
    const double paid_ms =
        l->governor.cost_us[QUESTION_SCAN] / 1000 / (l->governor.budget * SELDOM_SHARE);
    if (l->seldom_due_ms == 0)
        l->seldom_due_ms = now + (uint64_t)(2 * paid_ms); /* the first starts the parts, too */
    if (now < l->seldom_due_ms)
        return false;
    const double every_ms = fmax(paid_ms, SELDOM_MS);
    l->seldom_due_ms = now + (uint64_t)every_ms;
    l->governor.seldom_us = l->governor.cost_us[QUESTION_SCAN] / (every_ms / 1000);
    return true;
}

/* What decides how far apart ticks are: what sweeps processes, without it what is asked apart. */
static question_mask pace_of(const struct live *l)
{
    question_mask swept = live_wanted(&l->want) & question_paced(PACE_TICK);
    return swept ? swept : live_wanted(&l->want) & question_paced(PACE_APART);
}

static void make_plan(const struct live *l, struct governor_plan *plan)
{
    governor_plan(&l->governor, live_wanted(&l->want) | (l->want.needs & NEED(ROWS)), plan);
}

void live_reset_tick(struct live *l)
{
    l->had_tick = false;
    l->asked = l->pending = l->deferred = l->again = l->reported = l->holding = 0;
    l->spent_next = 0;
    l->rows_due_ms = l->seldom_due_ms = 0;
    governor_begin(&l->governor);
    memset(l->spent, 0, sizeof l->spent);
}

/* ---- cost */

void live_arm(struct live *l, uint64_t due_ms)
{
    uint64_t now = uv_now(l->loop);
    uv_timer_start(l->timer, l->on_timer, due_ms > now ? due_ms - now : 0, 0);
}

static void arm_next(struct live *l)
{
    uint64_t due = l->header_due_ms < l->others_due_ms ? l->header_due_ms : l->others_due_ms;
    if (l->rows_due_ms != 0 && l->rows_due_ms < due)
        due = l->rows_due_ms;
    uint64_t silent_ms = l->asked_at_ms + SILENT_MS;
    if (l->pending & BIT(QUESTION_SYSTEM) && silent_ms > uv_now(l->loop) && silent_ms < due)
        due = silent_ms;
    live_arm(l, due);
}

static uint64_t after_s(uint64_t ms, double seconds)
{
    return ms + (uint64_t)(seconds * 1000.0);
}

/* Moves due times by the costs that the answers brought. Questions that are due now stay due. */
static void plan_again(struct live *l, const struct governor_plan *plan)
{
    uint64_t now = uv_now(l->loop);
    if (l->phase != PHASE_RUNNING || l->header_due_ms <= now || l->others_due_ms <= now ||
        !l->had_second)
        return;
    l->others_due_ms = after_s(l->others_began_ms, plan->others_s);
    l->header_due_ms = after_s(l->header_began_ms, plan->header_s);
    if (plan->others_s <= plan->header_s)
        l->header_due_ms = l->others_due_ms;
    arm_next(l);
}

static void log_why(struct live *l, const struct governor_plan *plan)
{
    double logged_s = l->logged_s;
    bool waits =
        l->options.together && plan->why_s >= WORTH_WAITING_S && logged_s < WORTH_WAITING_S;
    if (plan->why_s > 0 && !waits && logged_s > 0 && plan->why_s < logged_s * WORTH_LOGGING)
        return;
    l->logged_s = plan->why_s;
    if (plan->why_s > 0)
        model_journal(l->model, clock_wall_us(), true, "%s", plan->why);
    if (waits && l->handlers.on_notice)
        l->handlers.on_notice(l->arg, plan->why);
}

static void end_tick(struct live *l)
{
    struct governor_plan plan;
    make_plan(l, &plan);
    const double real_s = pace_of(l) & question_paced(PACE_APART) ? plan.apart_s : plan.others_s;
    if (l->tick_full || pace_of(l) == 0 || l->options.recorded)
        live_take_cost(l);
    l->cost.share = live_spent_share(l, fmax(plan.others_s, plan.apart_s));
    plan_again(l, &plan);
    log_why(l, &plan);
    model_set_cost(l->model, &l->cost);
    model_set_interval(l->model, &(struct interval_info){l->governor.interval_s, real_s,
                                                         l->governor.budget, plan.why, plan.idle});
    if (l->handlers.on_tick)
        l->handlers.on_tick(l->arg);
}

/* ---- asking */

/* Small enough to send a signal to every process at each tick. */
static bool is_small(const struct live *l)
{
    const struct system_sample *s = model_system(l->model);
    return s && s->processes >= 0 && s->processes <= LIMIT_FILTER_CALLS;
}

unsigned live_deadline_ms(const struct live *l, enum question question)
{
    unsigned own = l->options.conn.timeout_ms;
    if (own > LIMIT_QUERY_MS) /* --timeout may be longer: for connecting */
        own = LIMIT_QUERY_MS;
    enum question_pace pace = question_rows[question].pace;
    if (pace == PACE_HEADER || pace == PACE_ONCE)
        return own;
    return own > EXPENSIVE_DEADLINE_MS ? own : EXPENSIVE_DEADLINE_MS;
}

static void ask_question(struct live *l, enum question question)
{
    struct error err = {0};
    if (question == QUESTION_SCAN) {
        filter_set_calls(l->filter, is_small(l));
        l->asked_scan = l->want.scan;
        l->asked_scan.filtered = filter_is_on(l->filter);
    }
    const bool of_place = question == QUESTION_SYSTEM || question == QUESTION_ALLOC;
    if (question == QUESTION_SYSTEM) {
        l->asked_at_ms = uv_now(l->loop);
        live_clock_asked(l);
    }
    struct builder *b =
        of_place ? encode_place(live_is_here(l))
                 : encode_question(question, &l->want, l->filter, conn_peer_node(l->conn));
    if (query_ask(l->query, question, b, live_deadline_ms(l, question), live_on_answer, l, &err) ==
        0) {
        if (question == QUESTION_PROCESS)
            model_asked(l->model, question, &l->want.process);
        l->asked |= BIT(question);
        l->holding |= question_rows[question].sets ? BIT(question) : 0;
        l->pending |= BIT(question);
    } else if (l->handlers.on_trouble) {
        l->handlers.on_trouble(l->arg, question, &err);
    }
    builder_free(b);
}

/* ---- the rows shown, between two scans. They are part of no tick: what they cost is. */

static void on_rows(void *arg, const struct answer *answer);

static void ask_rows(struct live *l)
{
    const struct proc_scan *scan = model_scan(l->model);
    struct error ignored = {0}; /* asked again when they are due */
    if (l->paused || l->held || !scan || scan->n_rows == 0 ||
        query_pending(l->query, QUESTION_ROWS))
        return;
    l->asked_rows = l->asked_scan;
    struct builder *b = encode_rows(scan, l->asked_rows.items, conn_peer_node(l->conn));
    (void)query_ask(l->query, QUESTION_ROWS, b, ROWS_DEADLINE_MS, on_rows, l, &ignored);
    builder_free(b);
}

/* The next time, from now on: from a scan's answer, or when they are asked. */
static void plan_rows(struct live *l)
{
    struct governor_plan plan;
    make_plan(l, &plan);
    l->rows_due_ms = plan.rows_s > 0 ? after_s(uv_now(l->loop), plan.rows_s) : 0;
}

/* Ends questions that hold something on the node and that no view wants, once they are answered. */
static void end_unwanted(struct live *l)
{
    struct error ignored = {0}; /* of a lost connection: then it ends by itself */
    for (unsigned q = 0; q < QUESTIONS; q++) {
        if (!(l->holding & BIT(q) & ~l->want.needs & ~l->pending) || l->phase != PHASE_RUNNING)
            continue;
        l->holding &= ~BIT(q);
        (void)query_end(l->query, (enum question)q, &ignored);
    }
}

/* One after the other: side by side each would count the time that it waits for the other; and how
 * a scan is asked depends on how many processes there are. Where all answers are waited for, what
 * the node is comes first: then this host may know its memory. */
static bool is_behind(const struct live *l, enum question question)
{
    if (question == QUESTION_SYSTEM)
        return l->options.together && (l->pending & BIT(QUESTION_NODE));
    return question != QUESTION_NODE && (l->pending & BIT(QUESTION_SYSTEM));
}

/* It is under way beside the ticks: the model has its answer soon. */
static bool is_asked_beside(const struct live *l, enum question question)
{
    return question_rows[question].judged && query_pending(l->query, question);
}

/* Starts a tick with these questions; those still without an answer are left out. */
static void start_tick(struct live *l, question_mask questions)
{
    if (l->pending == 0) {
        l->asked = 0;
        l->tick_full = false;
        live_begin_cost(l);
    }
    if (questions & BIT(QUESTION_SYSTEM) && !(l->pending & BIT(QUESTION_SYSTEM)))
        l->asked_at_ms = uv_now(l->loop);
    l->tick_full |= (questions & ~l->pending & pace_of(l)) != 0;
    for (unsigned q = 0; q < QUESTIONS; q++) {
        if (!(questions & BIT(q)) || (l->pending & BIT(q)) || is_asked_beside(l, (enum question)q))
            continue;
        if (is_behind(l, (enum question)q)) {
            l->deferred |= BIT(q);
            l->pending |= BIT(q);
        } else {
            ask_question(l, (enum question)q);
        }
    }
}

/* Two sweeps of so many processes with an interval between them take more than WORTH_WAITING_S. */
#define MANY 500000

/* Says why a batch run prints nothing yet. */
static void tell_first_sweep(const struct live *l, const struct system_sample *s)
{
    char text[100], n[32];
    if (s->processes < MANY || !(live_wanted(&l->want) & question_paced(PACE_TICK)) ||
        !l->handlers.on_notice)
        return;
    snprintf(text, sizeof text, "%s processes: the first answer takes several seconds",
             text_integer(n, sizeof n, (int64_t)s->processes));
    l->handlers.on_notice(l->arg, text);
}

/* The second sweep may not come as early as the header's second tick. The first sweep has not
 * been measured yet, so its cost is estimated from the number of processes. */
static void space_out(struct live *l)
{
    struct governor_plan plan;
    const struct system_sample *s = model_system(l->model);
    if (l->had_tick || l->had_second || !s)
        return;
    if (l->options.together) {
        tell_first_sweep(l, s);
        return;
    }
    governor_expect(&l->governor, s->processes);
    make_plan(l, &plan);
    l->others_due_ms = after_s(l->others_began_ms, plan.second_s);
    arm_next(l);
}

static void ask_deferred(struct live *l)
{
    if (l->deferred & BIT(QUESTION_SYSTEM)) {
        l->deferred &= ~BIT(QUESTION_SYSTEM);
        l->pending &= ~BIT(QUESTION_SYSTEM);
        ask_question(l, QUESTION_SYSTEM);
    }
    if (l->pending & BIT(QUESTION_SYSTEM))
        return; /* its answer asks the others */
    question_mask questions = l->deferred;
    l->deferred = 0;
    l->pending &= ~questions;
    for (unsigned q = 0; q < QUESTIONS; q++)
        if (questions & BIT(q) && q != QUESTION_ROWS)
            ask_question(l, (enum question)q);
    if (questions & BIT(QUESTION_ROWS))
        ask_rows(l);
}

/* What is shown is old, and the screen says so. */
static void note_silence(struct live *l)
{
    if (uv_now(l->loop) < l->asked_at_ms + SILENT_MS)
        return;
    model_set_link(l->model, LINK_STALE, "");
    if (l->handlers.on_change)
        l->handlers.on_change(l->arg, 0);
}

/* Uses the costs of the current plan, not of the plan when the questions were last asked. */
static bool apart_is_due(const struct live *l, const struct governor_plan *plan, uint64_t now)
{
    return after_s(now, plan->header_s * EARLY) >= after_s(l->apart_began_ms, plan->apart_s);
}

/* The first tick of a recording has all answers, unless one of them takes long. */
static bool waits_for_all(const struct live *l)
{
    return l->options.together ||
           (l->options.recorded && !l->had_tick && uv_now(l->loop) < l->first_until_ms);
}

void live_tick_timer(struct live *l)
{
    struct governor_plan plan;
    question_mask all = live_wanted(&l->want), questions = 0;
    uint64_t now = uv_now(l->loop);
    make_plan(l, &plan);

    if (l->pending & BIT(QUESTION_SYSTEM))
        note_silence(l);
    /* All answers are of one moment: ask again only when all have come. */
    if (waits_for_all(l) && l->pending != 0) {
        if (!l->options.together)
            live_arm(l, l->first_until_ms);
        return;
    }
    if (now >= l->header_due_ms) {
        questions |= BIT(QUESTION_SYSTEM);
        l->header_began_ms = now;
        l->header_due_ms = after_s(now, plan.header_s);
    }
    if (now >= l->others_due_ms) {
        questions |= all & ~question_paced(PACE_APART);
        l->others_began_ms = now;
        l->others_due_ms = after_s(now, plan.others_s);
        /* Ask them together while they have the same interval. */
        if (plan.others_s <= plan.header_s)
            l->header_due_ms = l->others_due_ms;
        l->had_second = true;
    }
    if (questions && !l->paused && !l->held && seldom_is_due(l, now))
        questions |= BIT(QUESTION_SCAN);
    if (questions && (l->options.together || apart_is_due(l, &plan, now))) {
        questions |= all & question_paced(PACE_APART);
        l->apart_began_ms = now;
    }
    if (!l->paused && !l->held)
        start_tick(l, questions);
    if (l->rows_due_ms != 0 && now >= l->rows_due_ms) {
        plan_rows(l);
        l->deferred |= l->rows_due_ms != 0 ? BIT(QUESTION_ROWS) : 0;
        if (!(l->pending & BIT(QUESTION_SYSTEM)))
            ask_deferred(l);
    }
    arm_next(l);
}

void live_tick_start(struct live *l)
{
    struct governor_plan plan;
    make_plan(l, &plan);
    l->header_due_ms = l->others_due_ms = uv_now(l->loop) + SECOND_TICK_MS;
    l->others_began_ms = uv_now(l->loop);
    l->apart_began_ms = plan.apart_s > plan.header_s ? uv_now(l->loop) : 0;
    l->first_until_ms = uv_now(l->loop) + FIRST_TICK_MS;
    l->had_second = false;
    start_tick(l, BIT(QUESTION_NODE) | live_wanted(&l->want));
    arm_next(l);
}

void live_tick_now(struct live *l)
{
    if (l->phase != PHASE_RUNNING || l->paused || l->held)
        return;
    l->header_due_ms = l->others_due_ms = uv_now(l->loop);
    l->apart_began_ms = 0;
    arm_next(l);
}

void live_refresh(struct live *l)
{
    if (l->phase == PHASE_RUNNING)
        start_tick(l, live_wanted(&l->want));
}

/* ---- answers */

static void tell_first(struct live *l, enum question question)
{
    if (l->reported & BIT(question))
        return;
    l->reported |= BIT(question);
    model_journal(l->model, clock_wall_us(), false, "%s", question_rows[question].log);
}

static void tell_trouble(struct live *l, enum question question, const struct error *err)
{
    model_journal(l->model, clock_wall_us(), true, "%s", err->text);
    if (l->handlers.on_trouble)
        l->handlers.on_trouble(l->arg, question, err);
}

static void tell_live_filter(const struct live *l)
{
    const char *text = filter_trouble(l->filter);
    if (text && l->handlers.on_notice)
        l->handlers.on_notice(l->arg, text);
}

/* New names for the filter: judge them, and scan again with the verdicts. */
static void judge_labels(struct live *l, const struct answer *a, struct error *err)
{
    const struct filter_maps *maps = filter_maps(l->filter);
    if (!maps)
        return;
    uint64_t before = maps->revision;
    size_t labels = filter_labels(l->filter);
    if (filter_take(l->filter, a->value, a->len, err) == 0 &&
        (filter_maps(l->filter)->revision != before || filter_labels(l->filter) != labels) &&
        !live_is_seldom(&l->want))
        l->again |= BIT(QUESTION_SCAN);
    tell_live_filter(l);
}

static void on_rows(void *arg, const struct answer *answer)
{
    struct live *l = arg;
    struct error err = answer->err;
    live_note_answer(l, answer);
    if (!answer->value) {
        if (err.code != ERR_TIMEOUT)
            tell_trouble(l, QUESTION_ROWS, &err);
        return;
    }
    tell_first(l, QUESTION_ROWS);
    if (model_take(l->model, QUESTION_ROWS, answer->value, answer->len, &l->asked_rows,
                   clock_mono_ns(), &err) != 0)
        tell_trouble(l, QUESTION_ROWS, &err);
    else if (l->handlers.on_change)
        l->handlers.on_change(l->arg, BIT(QUESTION_ROWS));
}

/* The header's answer is a separate tick while questions of an earlier tick have no answer. */
static bool is_alone(const struct live *l, enum question question)
{
    const question_mask others = l->pending & ~l->deferred;
    return question == QUESTION_SYSTEM && (l->had_tick || l->options.recorded) &&
           !waits_for_all(l) && others != 0 && !(others & BIT(QUESTION_NODE));
}

static void take_live_answer(struct live *l, const struct answer *answer)
{
    enum question question = answer->question;
    struct error err = answer->err;
    bool of_tick = l->pending & BIT(question);

    l->pending &= ~BIT(question);
    bool alone = is_alone(l, question);
    end_unwanted(l);
    if (question == QUESTION_SYSTEM)
        ask_deferred(l);
    live_note_answer(l, answer);
    if (answer->value) {
        tell_first(l, question);
        if (model_take(l->model, question, answer->value, answer->len, &l->asked_scan,
                       clock_mono_ns(), &err) == 0) {
            if (l->handlers.on_answer)
                l->handlers.on_answer(l->arg, question, answer->value, answer->len,
                                      question == QUESTION_SCAN ? &l->asked_scan : NULL);
            if (question == QUESTION_SCAN) {
                judge_labels(l, answer, &err);
                plan_rows(l);
                if (l->rows_due_ms != 0)
                    arm_next(l);
            }
        }
        model_set_link(l->model, LINK_LIVE, "");
        if (question == QUESTION_NODE)
            live_look_for_host(l);
        if (question == QUESTION_SYSTEM) {
            if (err.code == ERR_NONE)
                live_clock_answered(l);
            live_look_for_work(l);
            space_out(l);
        }
    } else if (err.code == ERR_TIMEOUT && question == QUESTION_SYSTEM) {
        note_silence(l);
    }
    if (question == QUESTION_NODE)
        ask_deferred(l);
    if (err.code != ERR_NONE)
        tell_trouble(l, question, &err);
    if (l->handlers.on_change)
        l->handlers.on_change(l->arg, err.code == ERR_NONE ? BIT(question) : 0);
    if (alone && answer->value && err.code == ERR_NONE)
        live_end_header(l);
    if (l->pending != 0 || !of_tick)
        return;
    question_mask again = l->again;
    l->again = 0;
    if (again && l->options.together) {
        /* Every tick of a batch run spans an interval. Names are judged before the first is over;
           those that come later show from the next one on. */
        if (!l->had_tick)
            ask_question(l, QUESTION_SCAN);
        again = 0;
    }
    if (l->pending != 0)
        return;
    const bool waited = waits_for_all(l);
    l->had_tick = true;
    end_tick(l);
    if (waited)
        arm_next(l);
    if (again)
        start_tick(l, again);
}

void live_on_answer(void *arg, const struct answer *answer)
{
    struct answer whole = *answer;
    struct builder *b = live_complete(arg, &whole);
    take_live_answer(arg, &whole);
    builder_free(b);
}

/* ---- what the user changes */

/* Asks these now, or once the answers on their way are here. */
static void ask_soon(struct live *l, question_mask questions)
{
    if (l->phase != PHASE_RUNNING)
        return;
    l->again |= questions & l->pending;
    questions &= ~l->pending;
    if (questions)
        start_tick(l, questions);
}

void live_set_want(struct live *l, const struct want *want)
{
    struct want before = l->want;
    l->want = *want;
    l->want.needs |= NEED(SYSTEM);
    if (!live_is_seldom(&l->want))
        l->governor.seldom_us = 0;
    end_unwanted(l);
    if (live_wants_more(&l->want, &before))
        ask_soon(l, live_wanted(&l->want) & ~BIT(QUESTION_SYSTEM));
}

int live_set_filter(struct live *l, const char *expression, size_t *error_offset, struct error *err)
{
    int rc = filter_set(l->filter, expression, error_offset, err);
    tell_live_filter(l);
    if (rc == 0 && (live_wanted(&l->want) & NEED(SCAN)))
        ask_soon(l, BIT(QUESTION_SCAN));
    return rc;
}

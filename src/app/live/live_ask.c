/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks: which of those that are due go out now, in which order, with which deadline. */
#include "beamtop/base/limits.h"
#include "encode.h"
#include "live_internal.h"

/* An expensive question may take this long on the node before it is stopped there. */
#define EXPENSIVE_DEADLINE_MS 30000u
/* Rows that a process which does not yield holds up are given up when the next are due. */
#define ROWS_DEADLINE_MS 1900u

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

void live_ask_one(struct live *l, enum question question)
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
        l->asked |= QUESTION_BIT(question);
        l->holding |= question_rows[question].sets ? QUESTION_BIT(question) : 0;
        l->pending |= QUESTION_BIT(question);
    } else if (l->handlers.on_trouble) {
        l->handlers.on_trouble(l->arg, question, &err);
    }
    builder_free(b);
}

/* ---- the rows shown, between two scans. They are part of no tick: what they cost is. */

static void ask_rows(struct live *l)
{
    const struct proc_scan *scan = model_scan(l->model);
    struct error ignored = {0}; /* asked again when they are due */
    if (l->paused || l->held || !scan || scan->n_rows == 0 ||
        query_pending(l->query, QUESTION_ROWS))
        return;
    l->asked_rows = l->asked_scan;
    struct builder *b = encode_rows(scan, l->asked_rows.items, conn_peer_node(l->conn));
    (void)query_ask(l->query, QUESTION_ROWS, b, ROWS_DEADLINE_MS, live_on_rows, l, &ignored);
    builder_free(b);
}

/* ---- those of a tick */

void live_end_unwanted(struct live *l)
{
    struct error ignored = {0}; /* of a lost connection: then it ends by itself */
    for (unsigned q = 0; q < QUESTIONS; q++) {
        if (!(l->holding & QUESTION_BIT(q) & ~l->want.needs & ~l->pending) ||
            l->phase != PHASE_RUNNING)
            continue;
        l->holding &= ~QUESTION_BIT(q);
        (void)query_end(l->query, (enum question)q, &ignored);
    }
}

/* One after the other: side by side each would count the time that it waits for the other; and how
 * a scan is asked depends on how many processes there are. Where all answers are waited for, what
 * the node is comes first: then this host may know its memory. */
static bool is_behind(const struct live *l, enum question question)
{
    if (question == QUESTION_SYSTEM)
        return l->options.together && (l->pending & QUESTION_BIT(QUESTION_NODE));
    return question != QUESTION_NODE && (l->pending & QUESTION_BIT(QUESTION_SYSTEM));
}

/* It is under way beside the ticks: the model has its answer soon. */
static bool is_asked_beside(const struct live *l, enum question question)
{
    return question_rows[question].judged && query_pending(l->query, question);
}

void live_ask_all(struct live *l, question_mask questions)
{
    if (l->pending == 0) {
        l->asked = 0;
        l->tick_full = false;
        live_begin_cost(l);
    }
    if (questions & QUESTION_BIT(QUESTION_SYSTEM) && !(l->pending & QUESTION_BIT(QUESTION_SYSTEM)))
        l->asked_at_ms = uv_now(l->loop);
    l->tick_full |= (questions & ~l->pending & live_paced_by(l)) != 0;
    for (unsigned q = 0; q < QUESTIONS; q++) {
        if (!(questions & QUESTION_BIT(q)) || (l->pending & QUESTION_BIT(q)) ||
            is_asked_beside(l, (enum question)q))
            continue;
        if (is_behind(l, (enum question)q)) {
            l->deferred |= QUESTION_BIT(q);
            l->pending |= QUESTION_BIT(q);
        } else {
            live_ask_one(l, (enum question)q);
        }
    }
}

void live_ask_deferred(struct live *l)
{
    if (l->deferred & QUESTION_BIT(QUESTION_SYSTEM)) {
        l->deferred &= ~QUESTION_BIT(QUESTION_SYSTEM);
        l->pending &= ~QUESTION_BIT(QUESTION_SYSTEM);
        live_ask_one(l, QUESTION_SYSTEM);
    }
    if (l->pending & QUESTION_BIT(QUESTION_SYSTEM))
        return; /* its answer asks the others */
    question_mask questions = l->deferred;
    l->deferred = 0;
    l->pending &= ~questions;
    for (unsigned q = 0; q < QUESTIONS; q++)
        if (questions & QUESTION_BIT(q) && q != QUESTION_ROWS)
            live_ask_one(l, (enum question)q);
    if (questions & QUESTION_BIT(QUESTION_ROWS))
        ask_rows(l);
}

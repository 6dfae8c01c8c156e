/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes answers: into the model, to who listens; what follows from each, and the end of a tick. */
#include "beamtop/base/clock.h"
#include "live_internal.h"

static void tell_first(struct live *l, enum question question)
{
    if (l->reported & QUESTION_BIT(question))
        return;
    l->reported |= QUESTION_BIT(question);
    model_journal(l->model, clock_wall_us(), false, "%s", question_rows[question].log);
}

static void tell_trouble(struct live *l, enum question question, const struct error *err)
{
    model_journal(l->model, clock_wall_us(), true, "%s", err->text);
    if (l->handlers.on_trouble)
        l->handlers.on_trouble(l->arg, question, err);
}

void live_tell_filter(const struct live *l)
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
        l->again |= QUESTION_BIT(QUESTION_SCAN);
    live_tell_filter(l);
}

void live_on_rows(void *arg, const struct answer *answer)
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
        l->handlers.on_change(l->arg, QUESTION_BIT(QUESTION_ROWS));
}

/* The header's answer is a separate tick while questions of an earlier tick have no answer. */
static bool is_alone(const struct live *l, enum question question)
{
    const question_mask others = l->pending & ~l->deferred;
    return question == QUESTION_SYSTEM && (l->had_tick || l->options.recorded) &&
           !live_waits_for_all(l) && others != 0 && !(others & QUESTION_BIT(QUESTION_NODE));
}

/* What the model has taken of it. */
static void pass_on(struct live *l, const struct answer *answer, struct error *err)
{
    const enum question question = answer->question;
    if (l->handlers.on_answer)
        l->handlers.on_answer(l->arg, question, answer->value, answer->len,
                              question == QUESTION_SCAN ? &l->asked_scan : NULL);
    if (question != QUESTION_SCAN)
        return;
    judge_labels(l, answer, err);
    live_plan_rows(l);
    if (l->rows_due_ms != 0)
        live_arm_next(l);
}

static void take_value(struct live *l, const struct answer *answer, struct error *err)
{
    const enum question question = answer->question;
    tell_first(l, question);
    if (model_take(l->model, question, answer->value, answer->len, &l->asked_scan, clock_mono_ns(),
                   err) == 0)
        pass_on(l, answer, err);
    model_set_link(l->model, LINK_LIVE, "");
    if (question == QUESTION_NODE)
        live_look_for_host(l);
    if (question != QUESTION_SYSTEM)
        return;
    if (err->code == ERR_NONE)
        live_clock_answered(l);
    live_look_for_work(l);
    live_space_out(l);
}

/* Its last answer is here, unless something of it is asked once more. */
static void take_last(struct live *l)
{
    question_mask again = l->again;
    l->again = 0;
    if (again && l->options.together) {
        /* Every tick of a batch run spans an interval. Names are judged before the first is over;
           those that come later show from the next one on. */
        if (!l->had_tick)
            live_ask_one(l, QUESTION_SCAN);
        again = 0;
    }
    if (l->pending != 0)
        return;
    const bool waited = live_waits_for_all(l);
    l->had_tick = true;
    live_end_tick(l);
    if (waited)
        live_arm_next(l);
    if (again)
        live_ask_all(l, again);
}

static void take_live_answer(struct live *l, const struct answer *answer)
{
    const enum question question = answer->question;
    const bool of_tick = l->pending & QUESTION_BIT(question);
    struct error err = answer->err;

    l->pending &= ~QUESTION_BIT(question);
    const bool alone = is_alone(l, question);
    live_end_unwanted(l);
    if (question == QUESTION_SYSTEM)
        live_ask_deferred(l);
    live_note_answer(l, answer);
    if (answer->value)
        take_value(l, answer, &err);
    else if (err.code == ERR_TIMEOUT && question == QUESTION_SYSTEM)
        live_note_silence(l);
    if (question == QUESTION_NODE)
        live_ask_deferred(l);
    if (err.code != ERR_NONE)
        tell_trouble(l, question, &err);
    if (l->handlers.on_change)
        l->handlers.on_change(l->arg, err.code == ERR_NONE ? QUESTION_BIT(question) : 0);
    if (alone && answer->value && err.code == ERR_NONE)
        live_end_header(l);
    if (l->pending == 0 && of_tick)
        take_last(l);
}

void live_on_answer(void *arg, const struct answer *answer)
{
    struct answer whole = *answer;
    struct builder *b = live_complete(arg, &whole);
    take_live_answer(arg, &whole);
    builder_free(b);
}

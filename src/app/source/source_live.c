/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A live node as a source. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "app/live/live.h"
#include "source_internal.h"
#include "target.h"

/* Rates need two samples, and scheduler utilisation is counted only from the first one on. So
 * two quick ticks come before batch's first, which then spans a whole interval. */
#define PRIMING_TICKS 2
/* A busy node takes a little longer to count scheduler utilisation. */
#define PRIMING_TICKS_MOST 5

struct source_live {
    struct source base; /* first: what is handed out */
    struct target target;
    struct model *model;
    struct source_handlers handlers;
    void *arg;
    bool rates, batch, had_tick, failed;
    int primed;
};

/* ---- events of the connection */

static void on_live_change(void *arg, question_mask questions)
{
    struct source_live *s = arg;
    if (s->handlers.on_change)
        s->handlers.on_change(s->arg, questions != 0);
}

static bool is_priming(const struct source_live *s)
{
    const struct system_sample *sample = model_system(s->model);
    bool has_use = sample && !isnan(sample->use_normal);
    return s->primed < PRIMING_TICKS || (!has_use && s->primed < PRIMING_TICKS_MOST);
}

static void on_live_tick(void *arg)
{
    struct source_live *s = arg;
    s->had_tick = true;
    /* A failure is reported at once: it may never get better. */
    if (s->rates && !s->failed && is_priming(s))
        s->primed++;
    else if (s->handlers.on_tick)
        s->handlers.on_tick(s->arg);
}

static void on_live_trouble(void *arg, enum question question, const struct error *err)
{
    struct source_live *s = arg;
    s->failed = true;
    if (!s->batch && question == QUESTION_SYSTEM && err->code == ERR_TIMEOUT)
        return; /* the screen's header says that nothing is answered, and for how long */
    s->handlers.on_trouble(s->arg, err);
}

static void on_live_notice(void *arg, const char *text)
{
    struct source_live *s = arg;
    s->handlers.on_notice(s->arg, true, text);
}

static void on_live_link(void *arg, bool up)
{
    struct source_live *s = arg;
    if (s->handlers.on_link)
        s->handlers.on_link(s->arg, up);
}

static void on_live_end(void *arg, enum conn_failure why, const struct error *err)
{
    struct source_live *s = arg;
    (void)why;
    s->handlers.on_end(s->arg, s->had_tick, err);
}

/* ---- its life */

void source_live_close(struct source *base, void (*closed)(void *arg), void *arg)
{
    struct source_live *s = (struct source_live *)(void *)base;
    live_close(base->live, closed, arg);
    target_clear(&s->target);
    free(s);
}

int source_live_open(struct source **out, const char *node, const struct source_setup *setup,
                     struct error *err)
{
    static const struct live_handlers handlers = {.on_change = on_live_change,
                                                  .on_tick = on_live_tick,
                                                  .on_trouble = on_live_trouble,
                                                  .on_notice = on_live_notice,
                                                  .on_link = on_live_link,
                                                  .on_end = on_live_end};
    struct source_live *s = alloc_zero(1, sizeof *s);
    s->model = setup->model;
    s->handlers = *setup->handlers;
    s->arg = setup->arg;
    s->rates = setup->rates;
    s->batch = setup->batch;
    int rc = target_init(&s->target, node, setup->cli, setup->env, setup->vms, setup->os_pid, err);
    if (rc == 0) {
        target_lend(&s->target, setup->lent);
        const struct live_options options = {
            .conn = s->target.conn,
            .interval_s = setup->interval_s,
            .budget = setup->budget,
            .reconnect = setup->reconnect,
            .together = setup->batch,
            .most_s = setup->most_s,
        };
        rc = live_open(&s->base.live, setup->loop, &options, s->model, &handlers, s, err);
    }
    if (rc != 0) {
        target_clear(&s->target);
        free(s);
        return rc;
    }
    *out = &s->base;
    return 0;
}

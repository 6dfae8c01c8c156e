/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_samples.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/sample/sample_log.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "record_retry.h"

#define EVERY_S 60.0

struct record_samples {
    struct record_samples_setup setup;
    struct sample_log *log; /* of the run; NULL: none */
    bool waits;             /* it has ended, and its processes have no names yet */
    bool over;              /* it is kept, or failed, and is freed at the next tick */
    bool stopping;
    bool told_yields; /* that the node samples itself */
    uint64_t next_ns; /* when the next one may begin */
    struct record_retry retry;
};

static double every_s(const struct record_samples *r)
{
    const struct cli_options *o = r->setup.options;
    const double asked = o->sample_every_s > 0 ? o->sample_every_s : EVERY_S;
    return asked > o->sample_s ? asked : o->sample_s;
}

static void refused(struct record_samples *r, const struct error *why)
{
    char text[RECORD_RETRY_BYTES + 80];
    if (record_retry_refused(&r->retry, why->text, every_s(r), clock_mono_ns()))
        r->setup.tell(r->setup.arg,
                      record_retry_text(text, sizeof text, &r->retry, "not sampled", !r->stopping));
}

static void over(struct record_samples *r)
{
    r->waits = false;
    r->over = true;
    if (r->stopping)
        r->setup.on_ended(r->setup.arg);
}

static void keep(void *arg)
{
    struct record_samples *r = arg;
    recorder_samples(r->setup.recorder, &sample_log_now(r->log)->run);
    over(r);
}

static void ended(void *arg, const struct error *why)
{
    struct record_samples *r = arg;
    if (why) {
        refused(r, why);
        over(r);
        return;
    }
    if (record_retry_works(&r->retry))
        r->setup.tell(r->setup.arg, "sampled now");
    r->waits = sample_log_ask_names(r->log, NULL);
    if (!r->waits)
        keep(r);
}

static void begun(void *arg, pid_t pid, const char *why)
{
    struct record_samples *r = arg;
    char text[RECORD_RETRY_BYTES + 80];
    snprintf(text, sizeof text, "the node samples itself, at yield points: %s", why);
    if (pid == 0 && !r->told_yields)
        r->setup.tell(r->setup.arg, text);
    r->told_yields = r->told_yields || pid == 0;
}

static int begin(struct record_samples *r, struct error *err)
{
    static const struct sample_log_handlers handlers = {
        .ended = ended, .named = keep, .begun = begun};
    const struct record_samples_setup *setup = &r->setup;
    const struct cli_options *o = setup->options;
    const struct sample_node node = {.loop = setup->loop,
                                     .live = setup->live,
                                     .model = setup->model,
                                     .cli = o,
                                     .env = setup->env,
                                     .hz = (unsigned)(o->hz > 0 ? o->hz : SAMPLER_HZ),
                                     .for_s = o->sample_s,
                                     .budget = o->budget};
    return sample_log_start_node(&r->log, &node, &handlers, r, err);
}

struct record_samples *record_samples_new(const struct record_samples_setup *setup)
{
    struct record_samples *r = alloc_zero(1, sizeof *r);
    r->setup = *setup;
    return r;
}

void record_samples_tick(struct record_samples *r)
{
    struct error err = {0};
    const uint64_t now = clock_mono_ns();
    if (r && !r->over)
        sample_log_turn(r->log);
    if (r && r->over) {
        sample_log_free(r->log);
        r->log = NULL;
        r->over = false;
    }
    if (!r || r->stopping || r->log || now < r->next_ns || !record_retry_is_due(&r->retry, now) ||
        !live_peer_node(r->setup.live) || !model_node(r->setup.model))
        return;
    r->next_ns = now + (uint64_t)(every_s(r) * 1e9);
    if (begin(r, &err) != 0)
        refused(r, &err);
}

void record_samples_link_lost(struct record_samples *r, const struct error *why)
{
    if (!r || !r->log)
        return;
    sample_log_lost(r->log, why);
    if (r->waits)
        keep(r);
}

bool record_samples_stop(struct record_samples *r)
{
    if (!r || !r->log || r->over)
        return false;
    r->stopping = true;
    sample_log_stop(r->log);
    return !r->over;
}

void record_samples_free(struct record_samples *r)
{
    if (!r)
        return;
    sample_log_free(r->log);
    free(r);
}

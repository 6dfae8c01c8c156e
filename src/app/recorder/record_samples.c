/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_samples.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/sample/local_target.h"
#include "app/sample/sample_log.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/model/detail.h"
#include "record_retry.h"

#define EVERY_S 60.0

struct record_samples {
    struct record_samples_setup setup;
    struct sample_log *log; /* of the run; NULL: none */
    bool waits;             /* it has ended, and its processes have no names yet */
    bool over;              /* it is kept, or failed, and is freed at the next tick */
    bool stopping;
    bool outside;     /* the VM is looked at; else it looks at itself */
    bool told_yields; /* and that was reported */
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
                      record_retry_text(text, sizeof text, &r->retry, "not sampled", true));
}

static void over(struct record_samples *r)
{
    r->waits = false;
    r->over = true;
    if (r->stopping)
        r->setup.on_ended(r->setup.arg);
}

static void ended(void *arg, const struct error *why);
static void keep(void *arg);
static const struct sample_log_handlers handlers_of_run = {.ended = ended, .named = keep};
static int begin_yields(struct record_samples *r, const char *why, struct error *err);

static void keep(void *arg)
{
    struct record_samples *r = arg;
    recorder_samples(r->setup.recorder, &sample_log_now(r->log)->run);
    over(r);
}

static void ended(void *arg, const struct error *why)
{
    struct record_samples *r = arg;
    struct session_port port;
    struct error ignored = {.code = ERR_NONE};
    struct sample_log *before = r->log;
    if (why && r->outside && !r->stopping && sample_log_count(before) == 0 &&
        live_peer_node(r->setup.live) && begin_yields(r, why->text, &ignored) == 0) {
        sample_log_free(before);
        return;
    }
    if (why) {
        refused(r, why);
        over(r);
        return;
    }
    if (record_retry_works(&r->retry))
        r->setup.tell(r->setup.arg, "sampled now");
    r->waits =
        live_port(r->setup.live, &port, &ignored) == 0 && sample_log_ask_names(r->log, &port);
    if (!r->waits)
        keep(r);
}

static struct sample_log_options options_of(const struct record_samples *r, char *otp, size_t size)
{
    const struct cli_options *o = r->setup.options;
    const struct node_info *node = model_node(r->setup.model);
    snprintf(otp, size, "%.*s", (int)node->otp.len, node->otp.s);
    return (struct sample_log_options){
        .sampler = {.hz = (unsigned)(o->hz > 0 ? o->hz : SAMPLER_HZ), .for_s = o->sample_s},
        .label = live_peer_node(r->setup.live),
        .otp = otp,
    };
}

static int begin_outside(struct record_samples *r, struct error *err)
{
    char otp[32];
    struct sample_log_options options = options_of(r, otp, sizeof otp);
    int rc =
        local_target_find(&options.sampler.pid, options.label, r->setup.options, r->setup.env, err);
    if (rc == 0)
        rc = sample_log_start(&r->log, r->setup.loop, &options, &handlers_of_run, r, err);
    r->outside = rc == 0;
    return rc;
}

static int begin_yields(struct record_samples *r, const char *why, struct error *err)
{
    char otp[32], text[RECORD_RETRY_BYTES + 80];
    struct session_port port;
    int rc = live_port(r->setup.live, &port, err);
    if (rc != 0)
        return rc;
    const struct sample_log_options options = options_of(r, otp, sizeof otp);
    const struct yields_options yields = {.for_s = r->setup.options->sample_s,
                                          .budget = r->setup.options->budget};
    snprintf(text, sizeof text, "the node samples itself, at yield points: %s", why);
    if (!r->told_yields)
        r->setup.tell(r->setup.arg, text);
    r->told_yields = true;
    r->outside = false;
    r->log = sample_log_start_yields(&port, &yields, &options, why, &handlers_of_run, r);
    return 0;
}

/* From outside where that is possible, else by the node. */
static int begin(struct record_samples *r, struct error *err)
{
    if (begin_outside(r, err) == 0)
        return 0;
    const struct error outside = *err;
    return begin_yields(r, outside.text, err);
}

struct record_samples *record_samples_new(const struct record_samples_setup *setup)
{
    struct record_samples *r = alloc_zero(1, sizeof *r);
    r->setup = *setup;
    return r;
}

void record_samples_tick(struct record_samples *r)
{
    struct error err = {.code = ERR_NONE};
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

void record_samples_link_lost(struct record_samples *r)
{
    struct error why = {.code = ERR_NONE};
    if (!r || !r->log)
        return;
    error_set(&why, ERR_LOST, "the connection is lost");
    sample_log_lost(r->log, &why);
    if (r->waits)
        keep(r);
}

bool record_samples_stop(struct record_samples *r)
{
    if (!r || !r->log || r->over)
        return false;
    r->stopping = true;
    sample_log_stop(r->log);
    return true;
}

void record_samples_free(struct record_samples *r)
{
    if (!r)
        return;
    sample_log_free(r->log);
    free(r);
}

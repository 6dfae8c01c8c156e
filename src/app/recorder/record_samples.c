/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of the sampler in a recording, while the node is there: of its VM, from outside, or by the
   node where that is refused. */
#include "app/sample/sample_log.h"
#include "record_series.h"
#include "record_state.h"

static void samples_refused(struct record_series *r, const struct error *why)
{
    (void)record_series_refused(r, why);
}

static void keep_run(void *arg)
{
    struct record_series *r = arg;
    recorder_samples(r->run->recorder, &sample_log_now(r->log)->run);
    r->waits = false;
    record_series_done(r);
}

static void run_ended(void *arg, const struct error *why)
{
    struct record_series *r = arg;
    if (why) {
        samples_refused(r, why);
        record_series_done(r);
        return;
    }
    record_series_works(r);
    r->waits = sample_log_ask_names(r->log, NULL);
    if (!r->waits)
        keep_run(r);
}

static void run_begun(void *arg, pid_t pid, const char *why)
{
    struct record_series *r = arg;
    if (pid == 0 && !r->told_yields)
        record_run_tell(r->run, "the node samples itself, at yield points: %s", why);
    r->told_yields = r->told_yields || pid == 0;
}

/* ---- the kind */

static int open_samples(struct record_series *r, const struct session_port *port, struct error *err)
{
    static const struct sample_log_handlers handlers = {
        .ended = run_ended, .named = keep_run, .begun = run_begun};
    const struct cli_options *o = r->run->options;
    const struct sample_node node = {.loop = &r->run->rt.loop,
                                     .live = r->run->live,
                                     .model = r->run->model,
                                     .cli = o,
                                     .env = r->run->setup->env,
                                     .hz = (unsigned)(o->hz > 0 ? o->hz : SAMPLER_HZ),
                                     .for_s = o->sample_s,
                                     .budget = o->budget};
    (void)port;
    return sample_log_start_node(&r->log, &node, &handlers, r, err);
}

static bool turn_samples(struct record_series *r)
{
    sample_log_turn(r->log);
    return false; /* there is no session */
}

/* From outside a run goes on. */
static void lose_samples_link(struct record_series *r, const struct error *why)
{
    static const struct error lost = {.code = ERR_LOST, .text = "connection lost"};
    sample_log_lost(r->log, why ? why : &lost);
    if (r->waits)
        keep_run(r);
}

static void free_samples(struct record_series *r)
{
    sample_log_free(r->log);
    r->log = NULL;
}

const struct record_kind record_samples_kind = {.not_set = "not sampled",
                                                .works = "sampled now",
                                                .open = open_samples,
                                                .refused = samples_refused,
                                                .may_tick = turn_samples,
                                                .lost = lose_samples_link,
                                                .free = free_samples};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run of the sampler that is followed, and its sums in the form that the model shows. Owner: the
 * caller. Thread: that of the loop. */
#ifndef BEAMTOP_APP_SAMPLE_SAMPLE_LOG_H
#define BEAMTOP_APP_SAMPLE_SAMPLE_LOG_H

#include "beamtop/model/samples.h"
#include "sampled.h"
#include "sampling.h"

struct sample_log;

struct sample_log_options {
    struct sampler_options sampler;
    struct sampled_options sums;
    const char *label; /* both copied; otp may be NULL */
    const char *otp;
};

/* Any but ended may be NULL. */
struct sample_log_handlers {
    void (*note)(void *arg, const char *text);
    void (*sample)(void *arg, const struct sample *sample); /* that counted */
    /* Once, the last call: SAMPLING_ENDED, or SAMPLING_FAILED with why. */
    void (*ended)(void *arg, const struct error *why);
};

int sample_log_start(struct sample_log **out, uv_loop_t *loop, const struct sample_log_options *o,
                     const struct sample_log_handlers *handlers, void *arg, struct error *err);
bool sample_log_runs(const struct sample_log *l); /* NULL: no */
void sample_log_stop(struct sample_log *l);       /* it ends soon, with what it has */
void sample_log_free(struct sample_log *l);       /* NULL is fine; ends a run unheard */

/* What there is, with the sums of this moment; lives as long as the log. */
const struct samples_log *sample_log_now(struct sample_log *l);
const struct sampled *sample_log_sampled(const struct sample_log *l);
int64_t sample_log_count(const struct sample_log *l);
const struct record_begin *sample_log_begin(const struct sample_log *l);

#endif

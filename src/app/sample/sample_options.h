/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of `sample` and `pstack`, as what the sampler and its sums take. */
#ifndef BEAMTOP_APP_SAMPLE_SAMPLE_OPTIONS_H
#define BEAMTOP_APP_SAMPLE_SAMPLE_OPTIONS_H

#include "app/cli/cli.h"
#include "beamtop/local/sampler.h"
#include "sampled.h"

/* --thread: a kind, or the number of a thread; --scheduler; --pid. ERR_USAGE. */
int sample_options_of(struct sampler_options *sampler, struct sampled_options *sampled,
                      const struct cli_options *o, struct error *err);

#endif

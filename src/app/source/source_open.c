/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay.h"
#include "source.h"

int source_open(struct source **out, const char *target, const struct source_setup *setup,
                struct error *err)
{
    return replay_is_file(target) ? source_replay_open(out, target, setup, err)
                                  : source_live_open(out, target, setup, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When to capture by itself: every so often, when a threshold is crossed, or both. */
#ifndef BEAMTOP_APP_COMMAND_TRIGGER_H
#define BEAMTOP_APP_COMMAND_TRIGGER_H

#include <stdint.h>

#include "condition.h"

struct trigger {
    struct condition condition;
    bool has_condition;
    double every_s; /* 0: once, or once a crossing */
    bool held;      /* the condition held at the tick before */
    bool has_fired;
    uint64_t fired_ns;
};

/* `when` may be NULL or "". */
int trigger_init(struct trigger *t, const char *when, double every_s, struct error *err);

/*
 * Whether it fires at this tick: at the first one and then every every_s; with a condition, when it
 * begins to hold, and every every_s while it goes on to. */
bool trigger_fires(struct trigger *t, const struct system_sample *s, uint64_t now_ns);

#endif

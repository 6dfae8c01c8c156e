/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines above every view: who is watched, whether that is live, what it costs, and the node's
 * vital numbers, or those of several nodes. Fewer lines on low terminals, fewer cells on narrow
 * ones. What is not live is drawn stale. */
#ifndef BEAMTOP_UI_HEADER_H
#define BEAMTOP_UI_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/model/model.h"
#include "beamtop/ui/canvas.h"

/* A recording of this node, by whoever keeps it. */
enum header_recording_state { RECORDING_NONE, RECORDING_STARTS, RECORDING_RUNS, RECORDING_STOPS };
struct header_recording {
    enum header_recording_state state;
    double running_s;
    int64_t ticks;
    double bytes;
    char problem[160]; /* why it takes no ticks now; "": none */
};

struct header_state {
    const char *clock; /* "10:42:07" or "" */
    bool paused;
    double frozen_s; /* since the last answer; 0: not frozen; NaN: nothing is asked */
    double next_s;   /* until the next tick, shown where ticks are rare; NaN: unknown */
    const struct header_recording *recording; /* NULL: none */
    bool several; /* of the nodes in rows, where there are some; so too where none is open */
};

int header_rows(int screen_rows); /* how many lines a screen of that height spends on it */
void header_draw(const struct model *m, const struct header_state *state, struct canvas *c,
                 struct rect r);
/* True when numbers are what the node just said: live and not paused. */
bool header_is_live(const struct model *m);

#endif

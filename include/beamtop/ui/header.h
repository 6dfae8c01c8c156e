/*
 * The lines above every view: who is watched, whether that is live, what it costs, and the node's
 * vital numbers. Fewer lines on low terminals, fewer cells on narrow ones. What is not live is
 * drawn stale.
 */
#ifndef BEAMTOP_UI_HEADER_H
#define BEAMTOP_UI_HEADER_H

#include <stdbool.h>

#include "beamtop/model/model.h"
#include "beamtop/ui/canvas.h"

struct header_state {
    const char *clock; /* "10:42:07" or "" */
    bool paused;
    double frozen_s; /* since the last answer; 0: not told; NaN: nothing is asked */
};

int header_rows(int screen_rows); /* how many lines a screen of that height spends on it */
void header_draw(const struct model *m, const struct header_state *state, struct canvas *c,
                 struct rect r);
/* True when numbers are what the node just said: live and not paused. */
bool header_is_live(const struct model *m);

#endif

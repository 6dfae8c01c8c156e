/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where samples of one thread or process were taken: counts by place, and moves between them. */
#ifndef BEAMTOP_APP_SAMPLE_SPREAD_H
#define BEAMTOP_APP_SAMPLE_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spread {
    struct spread_place {
        uint32_t place;
        int64_t samples;
    } * list; /* owned; LIMIT_SAMPLED_PLACES at most */
    size_t n;
    uint32_t last; /* place of the sample before */
    int64_t samples, moves;
};

void spread_add(struct spread *s, uint32_t place);
void spread_clear(struct spread *s);
/* Most samples first, then by place. */
void spread_sort(struct spread *s);

#endif

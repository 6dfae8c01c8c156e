/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of system events share. */
#ifndef BEAMTOP_TRACE_EVENTS_EVENTS_INTERNAL_H
#define BEAMTOP_TRACE_EVENTS_EVENTS_INTERNAL_H

#include "beamtop/trace/events.h"
#include "trace/log/decode.h"

#define EVENTS_BATCH 1000 /* what one answer has at most */

struct events_armed {
    bool session;
    int64_t wall_us;
    double arm_us;
    char refused[400];
    enum err code;
};
int decode_events_armed(struct events_armed *out, const uint8_t *term, size_t len,
                        struct error *err);

struct events_taken {
    enum events_end end;
    uint64_t seen, missed;
    uint64_t unread; /* of this answer: rows that cannot be read */
    int64_t limits[SYSTEM_EVENTS];
    struct system_event events[EVENTS_BATCH];
    size_t n;
};
int decode_events_taken(struct events_taken *out, const uint8_t *term, size_t len,
                        struct error *err);

#endif

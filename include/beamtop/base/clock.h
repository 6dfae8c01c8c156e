/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The only readers of a clock. Model code takes time as an argument. */
#ifndef BEAMTOP_BASE_CLOCK_H
#define BEAMTOP_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

uint64_t clock_mono_ns(void);  /* CLOCK_MONOTONIC */
int64_t clock_wall_us(void);   /* CLOCK_REALTIME, since the epoch */
long clock_utc_offset_s(void); /* of local time, now */

#define CLOCK_TEXT_BYTES 20
char *clock_time_text(char out[CLOCK_TEXT_BYTES],
                      int64_t wall_us); /* "10:42:07", local; returns out */
char *clock_stamp_text(char out[CLOCK_TEXT_BYTES],
                       int64_t wall_us); /* "20260131-104207", local; returns out */

#endif

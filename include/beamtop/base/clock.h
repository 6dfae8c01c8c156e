/* The only readers of a clock. Model code takes time as an argument. */
#ifndef BEAMTOP_BASE_CLOCK_H
#define BEAMTOP_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_mono_ns(void); /* CLOCK_MONOTONIC */
int64_t clock_wall_us(void);  /* CLOCK_REALTIME, since the epoch */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/clock.h"

#include <time.h>

uint64_t clock_mono_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int64_t clock_wall_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

long clock_utc_offset_s(void)
{
    struct tm tm;
    time_t now = (time_t)(clock_wall_us() / 1000000);
    localtime_r(&now, &tm);
    return tm.tm_gmtoff;
}

char *clock_time_text(char out[CLOCK_TEXT_BYTES], int64_t wall_us)
{
    struct tm tm;
    time_t at = (time_t)(wall_us / 1000000);
    localtime_r(&at, &tm);
    strftime(out, CLOCK_TEXT_BYTES, "%H:%M:%S", &tm);
    return out;
}

char *clock_stamp_text(char out[CLOCK_TEXT_BYTES], int64_t wall_us)
{
    struct tm tm;
    time_t at = (time_t)(wall_us / 1000000);
    out[0] = '\0';
    if (localtime_r(&at, &tm))
        strftime(out, CLOCK_TEXT_BYTES, "%Y%m%d-%H%M%S", &tm);
    return out;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the forms of a VM seen from outside share. Private to the room. */
#ifndef BEAMTOP_OUTPUT_OUTSIDE_OUTSIDE_H
#define BEAMTOP_OUTPUT_OUTSIDE_OUTSIDE_H

#include "beamtop/base/slice.h"
#include "beamtop/output/outside_sink.h"

/* A thread as its fields have it (outside_thread_fields). */
struct outside_thread_row {
    struct slice thread, state, waits_in;
    int64_t tid;
    double cpu, ready;
};
struct outside_thread_row outside_thread_row_of(const struct outside_thread *t);

#endif

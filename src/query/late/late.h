/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `late`: schedulers that do not answer, asked natively. */
#ifndef BEAMTOP_QUERY_LATE_H
#define BEAMTOP_QUERY_LATE_H

#include "query/stepped/stepped.h"

#define LATE_SCHEDULERS 1024

struct late_read {
    int64_t online;
    bool is_known; /* who has answered */
    bool answered[LATE_SCHEDULERS];
};

extern const struct stepped late_question; /* its `read`: struct late_read */

#endif

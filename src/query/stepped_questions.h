/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The questions that are one run each (stepped/stepped.h). Constant. */
#ifndef BEAMTOP_QUERY_STEPPED_QUESTIONS_H
#define BEAMTOP_QUERY_STEPPED_QUESTIONS_H

#include <stddef.h>

#include "query/stepped/stepped.h"

extern const struct stepped *const stepped_questions[];
extern const size_t stepped_questions_count;

#endif

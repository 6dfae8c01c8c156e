/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `suspenders`: which processes hold one suspended (docs/queries.md). */
#ifndef BEAMTOP_QUERY_SUSPENDERS_H
#define BEAMTOP_QUERY_SUSPENDERS_H

#include "query/stepped/stepped.h"

extern const struct stepped suspenders_question;

#endif

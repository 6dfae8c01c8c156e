/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `terms`: persistent terms, atoms, modules and timers (docs/queries.md). */
#ifndef BEAMTOP_QUERY_TERMS_H
#define BEAMTOP_QUERY_TERMS_H

#include "query/stepped/stepped.h"

extern const struct stepped terms_question;

#endif

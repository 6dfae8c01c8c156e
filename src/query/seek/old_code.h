/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `old_code`: which processes run old code of a module (docs/queries.md). */
#ifndef BEAMTOP_QUERY_OLD_CODE_H
#define BEAMTOP_QUERY_OLD_CODE_H

#include "query/stepped/stepped.h"

extern const struct stepped old_code_question;

#endif

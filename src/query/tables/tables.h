/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `tables`: ETS tables, the largest of them and the sums of the rest. */
#ifndef BEAMTOP_QUERY_TABLES_H
#define BEAMTOP_QUERY_TABLES_H

#include "query/stepped/stepped.h"

extern const struct stepped tables_question;

#endif

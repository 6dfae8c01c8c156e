/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `raft`: groups of the library `ra`, as its tables on a node have them. */
#ifndef BEAMTOP_QUERY_RAFT_H
#define BEAMTOP_QUERY_RAFT_H

#include "query/stepped/stepped.h"

extern const struct stepped raft_question;

#endif

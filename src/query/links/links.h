/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `links`: the other nodes that a node is connected to, or has heard of. */
#ifndef BEAMTOP_QUERY_LINKS_H
#define BEAMTOP_QUERY_LINKS_H

#include "query/stepped/stepped.h"

extern const struct stepped links_question;

#endif

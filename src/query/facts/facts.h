/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `facts`: {facts, MonoNs, #{Key => Value}}. Its `read` is a struct facts_read. */
#ifndef BEAMTOP_QUERY_FACTS_H
#define BEAMTOP_QUERY_FACTS_H

#include "query/stepped/stepped.h"

extern const struct stepped facts_question;

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `ports`: {ports, MonoNs, Rows, Partial}. Its `read` is a struct ports_read. */
#ifndef BEAMTOP_QUERY_PORTS_H
#define BEAMTOP_QUERY_PORTS_H

#include "query/stepped/stepped.h"

extern const struct stepped ports_question;

#endif

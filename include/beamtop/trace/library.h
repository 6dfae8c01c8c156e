/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Patterns worth having at hand, in both spellings: what the picker of the trace prompt shows. A
 * constant table; a NULL title ends it. */
#ifndef BEAMTOP_TRACE_LIBRARY_H
#define BEAMTOP_TRACE_LIBRARY_H

#include "beamtop/trace/pattern.h"

struct library_row {
    const char *title;           /* what it shows, in a few words */
    const char *erlang, *elixir; /* texts for patterns_parse() in that syntax */
};

extern const struct library_row library_table[];

/* The text of a row in that spelling; AUTO is Erlang's. */
const char *library_text(const struct library_row *row, enum syntax syntax);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion of a line at the prompts of traces, counted calls and captures of spans: names of the
 * target, and the language's own words. */
#ifndef BEAMTOP_UI_COMPLETE_TRACE_H
#define BEAMTOP_UI_COMPLETE_TRACE_H

#include "beamtop/trace/assist.h"
#include "beamtop/ui/complete.h"

/*
 * The words that fit at `point` bytes of the line. False when names are wanted that are not known
 * yet: they have been asked for, and completing again when the assist reports a change may bring
 * them. `syntax` is that of patterns where the line does not show it. */
bool complete_trace(struct completion *out, struct assist *a, enum syntax syntax, const char *line,
                    size_t point);
/* Likewise of calls that begin a request, and its options. */
bool complete_spans(struct completion *out, struct assist *a, enum syntax syntax, const char *line,
                    size_t point);
/* Likewise of functions to count: names of modules, functions and applications, arities. */
bool complete_calls(struct completion *out, struct assist *a, enum syntax syntax, const char *line,
                    size_t point);

#endif

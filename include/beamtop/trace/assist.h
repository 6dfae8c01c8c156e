/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a trace prompt knows of the target while a line is typed: names of modules and functions,
 * fields of records, and what the line would match. Asks through a port, never more than one
 * question at a time, and keeps the answers. One thread. */
#ifndef BEAMTOP_TRACE_ASSIST_H
#define BEAMTOP_TRACE_ASSIST_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/error.h"
#include "beamtop/trace/names.h"
#include "beamtop/trace/request.h"

struct assist;
struct session_port; /* beamtop/trace/session.h */

/* What is known of a line. */
struct assist_line {
    bool known;      /* complete; else more follows */
    bool wrong;      /* `text` is an error, at byte `offset` of the line … */
    bool unfinished; /* … which is its end, so that what follows may put it right */
    bool nothing;    /* no function matches the pattern at byte `offset`: `text` says why */
    size_t offset;
    char sentence[1024]; /* what the line asks for, as `explain` says it, maybe cut */
    char spec[1024];     /* the match specification of the last pattern, on one line, maybe cut */
    char text[900];      /* the error, or what matches, or why nothing does */
};

/* on_change: what is known of the line, or of names, has changed. Never from within a call. */
struct assist *assist_new(void (*on_change)(void *arg), void *arg);
void assist_free(struct assist *a); /* its port is NULL by then */

/* The way to the target, copied; NULL: there is none, and what was known is forgotten. A question
   that is open is dropped, so the port before must still be there. */
void assist_set_port(struct assist *a, const struct session_port *port);
/* A line is about to be typed: asks for names, and again for old ones. */
void assist_begin(struct assist *a);

/* The line as it stands; defaults: what options that it does not give are. */
void assist_look(struct assist *a, const struct trace_request *defaults, const char *line);
/* A line of functions to count: `text` is how many match. */
void assist_count(struct assist *a, enum syntax syntax, const char *line);
const struct assist_line *assist_line(const struct assist *a);

/*
 * For completion. Each is true when what it names is known, false when it has been asked for or
 * cannot be. Fields of a struct have an empty record. */
const struct names *assist_names(const struct assist *a);
bool assist_modules(struct assist *a);
bool assist_who(struct assist *a); /* registered processes, running applications */
bool assist_functions(struct assist *a, const char *module);
bool assist_fields(struct assist *a, const char *module, const char *record,
                   const struct slice **fields, size_t *n);
bool assist_is_asking(const struct assist *a); /* some of these are on their way */

/* Names as you type them: quoted where they must be. */
void assist_spell_module(struct buf *out, enum syntax syntax, struct slice module);
void assist_spell_function(struct buf *out, enum syntax syntax, struct slice function);

#endif

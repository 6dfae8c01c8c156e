/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a pattern's tree to the match specification that the VM runs (ERTS User's Guide, "Match
 * Specifications in Erlang"). Pure. Every clause draws on the trace's one budget, the VM's trace
 * control word: it matches only while that is above zero, and takes one from it. */
#ifndef BEAMTOP_TRACE_MATCHSPEC_H
#define BEAMTOP_TRACE_MATCHSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/etf/build.h"
#include "beamtop/trace/pattern.h"

/* The definition of a record or struct, as the node returned it (docs/tracing.md, `records`). */
struct record_def {
    struct slice module, name; /* as asked for; a struct has an empty name */
    const struct slice *fields;
    size_t n_fields;
    struct slice missing; /* why there is none; empty: it is there */
};

struct matchspec_options {
    unsigned index;   /* of the pattern in its trace, from 0: part of every event */
    int otp;          /* of the target; 0: the newest known (for explain) */
    const char *node; /* the target's name, of pids; NULL: pids are refused */
    unsigned creation;
    const struct record_def *records;
    size_t n_records;
    unsigned stack_depth; /* frames of the action `stack` */
};

/*
 * A compiled pattern. `clauses` is [{Head, Guards, Body}] as trace_pattern/3 takes it, with the
 * budget's guard and body. The body of a call's clause ends in
 *   {message, {{Index, {caller}, Args, Stack}}}
 * where Args is '$_', a list of the values to show, or []; Stack is [], {process_dump} or
 * {current_stacktrace, N} by release; then {exception_trace} when the result is wanted.
 * Of send and receive: {message, {{Index}}}.
 * `results` filters the value of a call: [{{Pattern}, Guards, [true]}] over {Value}, for
 * ets:match_spec_compile/1; `raises` the reason of an exception likewise. NULL: everything passes.
 * `atoms` are the names in them that the user typed, so that the target can say which it does not
 * know. */
struct matchspec {
    struct builder *clauses, *results, *raises;
    struct slice *atoms;
    size_t n_atoms;
    struct arena names; /* holds the bytes of atoms */
    bool narrow;  /* the head or guard lets only some calls pass, so calls that were not seen are
                     not all missed ones */
    bool counted; /* only the VM's counters: the clauses check the pattern and are not set */
};

/* ERR_USAGE with *offset: unbound variable, a form that the VM lacks, an unknown field. */
int matchspec_build(struct matchspec *out, const struct pattern *p,
                    const struct matchspec_options *options, size_t *offset, struct error *err);
void matchspec_clear(struct matchspec *m);
/* As an Erlang term, with line breaks. */
void matchspec_print(struct buf *out, const struct matchspec *m);

/* The release that a guard needs in one of its arities at least; 0: every one can have it. */
int matchspec_guard_since(const char *name);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a trace asks of the target before it is armed, and what a line at the prompt asks as it is
 * typed: definitions of records, the functions and processes that match. */
#ifndef BEAMTOP_TRACE_SESSION_PREPARE_H
#define BEAMTOP_TRACE_SESSION_PREPARE_H

#include "beamtop/base/arena.h"
#include "beamtop/trace/caps.h"
#include "beamtop/trace/matchspec.h"
#include "beamtop/trace/names.h"
#include "beamtop/trace/pattern.h"
#include "beamtop/trace/procs.h"
#include "trace/log/decode.h"

#define PREPARE_RECORDS 64 /* definitions asked for at once */
#define PREPARE_STACK_FRAMES 20

/* Definitions from the node, with all their texts. */
struct record_store {
    struct arena arena;
    struct record_def *defs;
    size_t n;
};
void record_store_init(struct record_store *s);
void record_store_clear(struct record_store *s);
/* Takes the answer of `records`; on a bad one what came before it stays. */
int record_store_take(struct record_store *s, const uint8_t *term, size_t len, struct error *err);
const struct record_def *record_store_find(const struct record_store *s, struct slice module,
                                           struct slice name);

/* The records and structs whose fields the patterns name; one without a module is of the
   pattern's. Returns how many, at most `most`. */
size_t prepare_records(struct pattern *const *patterns, size_t n, struct record_name *out,
                       size_t most);
struct builder *prepare_records_arg(const struct record_name *names, size_t n);

/* The functions of a pattern: the module, the name, the arity. */
void prepare_functions(struct builder *b, const struct pattern *p);
void prepare_number(struct builder *b, const char *key, uint64_t value); /* of a map */
void prepare_mfa(struct builder *b, const struct mfa *m);                /* {M, F, A} */
/* `specs` of the patterns, whose atoms are asked for; `near`: with what one that is not there may
   have been meant to be. */
struct builder *prepare_preflight_arg(struct pattern *const *patterns,
                                      const struct matchspec *specs, size_t n,
                                      const struct procs *procs, const struct caps *caps,
                                      bool near);
/* ERR_LIMIT: more processes fit than are taken one by one. */
int prepare_procs_fit(const struct preflight *found, uint64_t most, struct error *err);
/* {Atoms, Bytes}: the names that were typed, and the term in a binary. */
void prepare_spec(struct builder *b, const struct matchspec *m, const struct builder *term);
/* Why no function matches, as text, with similar names out of `names` (may be NULL);
   empty when some do match. */
void prepare_why_none(char *out, size_t size, const struct pattern *p,
                      const struct preflight_pattern *found, const struct names *names);
/* Which pattern has a name that is not an atom on the node; n: none. */
size_t prepare_unknown(const struct matchspec *specs, size_t n, const struct preflight *found);
/* Where the name is in the patterns' text, if it stands there as it is; else the pattern. */
size_t prepare_place(const struct pattern *p, struct slice name);
/* That nothing can match `name`, with the names like it. */
void prepare_why_unknown(char *out, size_t size, enum syntax syntax, const struct preflight *found);

#define PREPARE_MOST_NEAR 3 /* names that are suggested */
/* What stands before the i-th of n: "; did you mean ", a comma, "or". */
void prepare_put_before(struct buf *out, size_t i, size_t n);
/* Why no process would be traced, with similar names out of `names` (may be NULL). */
void prepare_why_nobody(char *out, size_t size, const struct procs *procs, const char *why,
                        const struct names *names);
/* Whether names of processes and applications would help there. */
bool prepare_nobody_named(const struct procs *procs, const char *why);
/* Of `functions`: "modules", or "who": processes that a trace can follow. */
struct builder *prepare_names_arg(const char *of);
struct builder *prepare_functions_arg(struct slice module); /* of `functions`: those of one */

/* The names to search for similar ones. */
enum prepare_near { NEAR_NOTHING, NEAR_MODULES, NEAR_FUNCTIONS /* of the pattern's module */ };
enum prepare_near prepare_near(const struct pattern *p, const struct preflight_pattern *found);
/* What to ask (`functions`) for them; NULL: nothing would help. */
struct builder *prepare_near_arg(const struct pattern *p, const struct preflight_pattern *found);
const char *prepare_kind_atom(enum pattern_kind kind);

#endif

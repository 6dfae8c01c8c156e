/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the parts of the compiler of match specifications. */
#ifndef BEAMTOP_TRACE_MATCHSPEC_MATCHSPEC_INTERNAL_H
#define BEAMTOP_TRACE_MATCHSPEC_MATCHSPEC_INTERNAL_H

#include "beamtop/base/arena.h"
#include "beamtop/trace/matchspec.h"

/* A term of a specification, before it is encoded. Subterms may be shared: it is a graph. */
enum spec_kind {
    SPEC_ATOM,
    SPEC_INTEGER,
    SPEC_FLOAT,
    SPEC_LEAF, /* what `node` says: a large integer, string, binary, pid, port, reference */
    SPEC_BITS, /* bits of text */
    SPEC_TUPLE,
    SPEC_LIST, /* items, then tail; NULL: [] */
    SPEC_MAP,  /* key, value, … */
};

struct spec {
    enum spec_kind kind;
    struct slice text;
    int64_t number; /* of bits: how many */
    double real;
    const struct node *node;
    struct spec **items;
    size_t n_items;
    struct spec *tail;
};

struct spec_list {
    struct spec **items;
    size_t n, cap;
};

struct spec_variable {
    struct slice name;
    struct spec *value; /* '$N', or the expression that yields it */
    const char *why;    /* not NULL: it matches, but its value cannot be had, for this reason */
};

/* What one head binds and tests. */
struct scope {
    struct arena arena;
    const struct pattern *pattern;
    const struct matchspec_options *options;
    struct matchspec *out; /* takes the names */
    size_t *offset;
    struct error *err;
    struct spec_variable *variables;
    size_t n_variables, cap_variables;
    unsigned last; /* of '$N' */
    struct spec_list guards;
    struct spec *all; /* what '$_' stands for; NULL: nothing */
    bool narrow;
};

/* Fills the error for a part of the pattern. NULL always, so that `return scope_fail(…)` works. */
void *scope_fail(struct scope *s, const struct node *at, const char *fmt, ...) ATTR_PRINTF(3, 4);
bool scope_lacks(const struct scope *s, int release); /* the target is older than that */
void scope_guard(struct scope *s, struct spec *guard);
struct spec *scope_fresh(struct scope *s); /* the next '$N' */
struct spec_variable *scope_find(struct scope *s, struct slice name);
void scope_bind(struct scope *s, struct slice name, struct spec *value, const char *why);

void spec_add(struct scope *s, struct spec_list *list, struct spec *item);
struct spec *spec_new(struct scope *s, enum spec_kind kind);
struct spec *spec_atom(struct scope *s, const char *name);
struct spec *spec_name(struct scope *s, struct slice name); /* an atom that comes from the user */
struct spec *spec_integer(struct scope *s, int64_t v);
struct spec *spec_bits(struct scope *s, const char *bytes, size_t bits);
/* {Items…}; a guard's {Name, Arguments…}: of the arguments up to NULL. */
struct spec *spec_tuple(struct scope *s, struct spec **items, size_t n);
struct spec *spec_call(struct scope *s, const char *name, ...);
struct spec *spec_items(struct scope *s, enum spec_kind kind, struct spec **items, size_t n);
/* The items and the tail of a node, each made by a function that returns NULL when it fails. */
struct spec *spec_compound(struct scope *s, enum spec_kind kind, const struct node *n,
                           struct spec *(*make)(struct scope *s, const struct node *n));
bool spec_equal(const struct spec *a, const struct spec *b);

/* The term itself, as data; the node is a literal. */
bool node_is_literal(const struct node *n);
struct spec *spec_literal(struct scope *s, const struct node *n);
/* Atoms that mean something to a match specification: '_', '$_', '$$', '$7'. */
bool spec_is_special(struct slice atom);

/* A pattern of the head. */
struct spec *spec_head(struct scope *s, const struct node *n);
/* Guards that the value of an expression matches a pattern. False: it failed. */
bool spec_match(struct scope *s, const struct node *n, struct spec *value);
/* A guard's or action's expression. */
struct spec *spec_expression(struct scope *s, const struct node *n);
/* The fields of a record in their order, NULL where none is given; NULL when it failed. */
const struct node **record_fields(struct scope *s, const struct node *n, size_t *count);
const struct record_def *record_find(struct scope *s, const struct node *n);

/* ERR_LIMIT when it is too large. */
int spec_encode(struct scope *s, struct builder *b, const struct spec *spec);

#endif

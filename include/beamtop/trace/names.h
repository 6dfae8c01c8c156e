/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Modules and functions of the target, as far as they have been asked for: what completion and
 * "did you mean" read, with the processes that a trace can follow. Filled from answers to the
 * question `functions`. One thread. */
#ifndef BEAMTOP_TRACE_NAMES_H
#define BEAMTOP_TRACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/etf/term.h"

struct names;

struct names_function {
    struct slice name;
    int arity;
    bool exported;
};

/* What is known of a module. */
enum names_known {
    NAMES_UNKNOWN,    /* not asked yet, or forgotten */
    NAMES_LOADED,     /* its functions are known */
    NAMES_NOT_LOADED, /* it has no function that can be traced; the node may have its file */
    NAMES_NO_MODULE,
};

struct names *names_new(void);
void names_free(struct names *n);

/*
 * The answer of `functions` (docs/tracing.md): modules, the functions of one, or the processes a
 * trace can follow; it replaces what was known of them. Past LIMIT_NAMES functions the modules that
 * were asked for first are forgotten. ERR_FORMAT or ERR_LIMIT, and nothing has changed then. What
 * was borrowed ends here. */
int names_take(struct names *n, const uint8_t *term, size_t len, struct error *err);

bool names_has_modules(const struct names *n);
size_t names_modules(const struct names *n, const struct slice **out); /* sorted; borrowed */
/* Registered processes and running applications; sorted; borrowed. */
bool names_has_who(const struct names *n);
size_t names_registered(const struct names *n, const struct slice **out);
size_t names_apps(const struct names *n, const struct slice **out);
enum names_known names_known(const struct names *n, struct slice module);
/* The functions of a module, sorted by name and arity (none of one that is not loaded); false: not
   known yet. */
bool names_functions(const struct names *n, struct slice module, const struct names_function **out,
                     size_t *len);

/*
 * The nearest names by edit distance, best first; returns how many. Letters put in, left out,
 * changed or swapped with their neighbour count 1 each, and at most a third of the longer name.
 * Modules are compared without "Elixir.". Functions come with every arity, exported ones first
 * among equals. */
size_t names_near(const struct slice *sorted, size_t n, struct slice word, struct slice *out,
                  size_t most);
/* "; did you mean NAME?", with the nearest of the names; "" where none is near. Returns out. */
const char *names_suggest(char *out, size_t size, const struct slice *sorted, size_t n,
                          struct slice word);
size_t names_near_modules(const struct names *n, struct slice word, struct slice *out, size_t most);
size_t names_near_functions(const struct names *n, struct slice module, struct slice word,
                            struct names_function *out, size_t most);

#endif

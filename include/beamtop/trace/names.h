/*
 * Modules and functions of the target, as far as they have been asked for: what completion and
 * "did you mean" read. Filled from answers to the question `functions`. One thread.
 */
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

struct names *names_new(void);
void names_free(struct names *n);

/* The answer of `functions` (docs/tracing.md): modules, or the functions of one. */
int names_take(struct names *n, const uint8_t *term, size_t len, struct error *err);

bool names_has_modules(const struct names *n);
size_t names_modules(const struct names *n, const struct slice **out); /* sorted; borrowed */
/* The functions of a module, sorted by name and arity; false: not known yet. */
bool names_functions(const struct names *n, struct slice module, const struct names_function **out,
                     size_t *len);

/* The nearest names by edit distance (at most a third of the length), best first. */
size_t names_near_modules(const struct names *n, struct slice word, struct slice *out, size_t most);
size_t names_near_functions(const struct names *n, struct slice module, struct slice word,
                            struct names_function *out, size_t most);

#endif

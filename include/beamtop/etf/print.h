/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Terms as text, in Erlang's or Elixir's spelling: bounded in depth, in list length and in bytes,
 * and safe (control bytes escaped as the language does, the rest made safe at the canvas). Elixir's
 * spelling is that of inspect/2 without its protocol: every struct prints as %Name{…}, charlists as
 * ~c"…", and a local fun without the name of the function that made it. */
#ifndef BEAMTOP_ETF_PRINT_H
#define BEAMTOP_ETF_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/etf/term.h"

enum print_syntax { PRINT_ERLANG, PRINT_ELIXIR };

struct print_limits {
    unsigned depth; /* nesting shown before "..."; 0: LIMIT_TERM_DEPTH */
    unsigned items; /* elements of one list, tuple or map before "..."; 0: all */
    size_t bytes;   /* text before "..."; 0: LIMIT_TERM_TEXT_BYTES */
    enum print_syntax syntax;
    /* The term may have been cut on the target (docs/tracing.md): '...' prints as an ellipsis, and
       {'$cut', FullBytes, Head} as the head, an ellipsis and "(FullBytes bytes)". */
    bool cuts;
};

/* Appends one checked term (with or without version byte). Unreadable bytes print as "#Bad". */
void print_term(struct buf *out, const uint8_t *bytes, size_t len,
                const struct print_limits *limits);

/* An atom as Erlang writes it, quoted where it must be. */
void print_atom(struct buf *out, const char *name, size_t len);
/* mod:fun/arity, each part quoted where it must be. */
void print_mfa(struct buf *out, struct slice mod, struct slice fun, int64_t arity);
/* The same in the spelling asked for: Foo.bar/1, :lists.map/2. */
void print_mfa_as(struct buf *out, enum print_syntax syntax, struct slice mod, struct slice fun,
                  int64_t arity);
void print_pid(struct buf *out, const struct etf_pid *pid);

#endif

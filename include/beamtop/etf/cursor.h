/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Typed reads over checked bytes. Every read is also bounded by itself: a cursor cannot leave its
 * bytes, whatever they are. A read that finds another type sets the sticky error and returns false;
 * later reads return false at once, so a decoder reads straight through and looks once. Borrowed
 * slices live as long as the bytes. */
#ifndef BEAMTOP_ETF_CURSOR_H
#define BEAMTOP_ETF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/etf/term.h"

struct cursor {
    const uint8_t *start;
    const uint8_t *at;
    const uint8_t *end;
    size_t string_left; /* elements of an entered STRING_EXT still to be read: single bytes */
    struct error err;   /* sticky: offset, expected, found */
};

enum etf_kind {
    ETF_KIND_NONE, /* at the end, or broken */
    ETF_KIND_INTEGER,
    ETF_KIND_FLOAT,
    ETF_KIND_ATOM,
    ETF_KIND_PID,
    ETF_KIND_PORT,
    ETF_KIND_REF,
    ETF_KIND_TUPLE,
    ETF_KIND_NIL,
    ETF_KIND_LIST, /* LIST_EXT; a STRING_EXT is ETF_KIND_STRING */
    ETF_KIND_STRING,
    ETF_KIND_BINARY, /* bit strings too */
    ETF_KIND_MAP,
    ETF_KIND_FUN,
    ETF_KIND_RECORD, /* a native record of OTP 29; skipped or kept raw, not entered */
};

/* Starts at a term with its version byte (skipped when there). */
void cursor_init(struct cursor *c, const uint8_t *bytes, size_t len);
enum etf_kind cursor_kind(const struct cursor *c);
bool cursor_failed(const struct cursor *c);
bool cursor_at_end(const struct cursor *c);

bool cursor_tuple(struct cursor *c, size_t *arity);   /* enters; then read arity terms */
bool cursor_tuple_of(struct cursor *c, size_t arity); /* enters; fails on another arity */
bool cursor_map(struct cursor *c, size_t *pairs);     /* enters; then key, value, … */
/*
 * Enters a list: *count elements follow, then the tail, which cursor_list_end() reads (it must be
 * [] there). NIL gives 0 elements and has no tail to read: cursor_list_end knows. A STRING_EXT is
 * entered too: its elements read as integers by cursor_int64 (and cursor_skip). */
struct cursor_list {
    size_t count;
    bool string; /* the elements are single bytes */
    bool nil;
};
bool cursor_list(struct cursor *c, struct cursor_list *list);
/* An element, whichever form the list has. */
bool cursor_list_int64(struct cursor *c, const struct cursor_list *list, int64_t *v);
bool cursor_list_end(struct cursor *c, const struct cursor_list *list);

bool cursor_int64(struct cursor *c, int64_t *v);   /* bignums that do not fit fail */
bool cursor_uint64(struct cursor *c, uint64_t *v); /* negative ones fail */
bool cursor_number(struct cursor *c, double *v);   /* integer (bignums rounded) or float */
bool cursor_atom(struct cursor *c, struct slice *name);
bool cursor_atom_is(struct cursor *c, const char *name); /* reads it and fails on another atom */
/* True when that atom is next; reads nothing. */
bool cursor_peek_atom(const struct cursor *c, const char *name);
bool cursor_bool(struct cursor *c, bool *v);
bool cursor_pid(struct cursor *c, struct etf_pid *pid, struct slice *node); /* node may be NULL */
bool cursor_ref(struct cursor *c,
                struct etf_ref *ref); /* REFERENCE_EXT and NEW_REFERENCE_EXT too */
bool cursor_binary(struct cursor *c, struct slice *bytes);
bool cursor_skip(struct cursor *c);
/* The bytes of the next term, skipped: for keeping a raw term. */
bool cursor_raw(struct cursor *c, struct slice *bytes);
/* The next term, skipped, as a separate cursor: what cannot be read of it leaves *c readable. */
bool cursor_apart(struct cursor *c, struct cursor *term);

/* For a decoder that expects more than a type: sets the sticky error, and returns false. */
bool cursor_fail(struct cursor *c, const char *expected);
/* Of a node's answer that was read well (ok): nothing may follow. `what`: its question. */
int cursor_end(struct cursor *c, bool ok, const char *what, struct error *err);

#endif

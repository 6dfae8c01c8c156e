/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where printed text goes: a buffer with an end that "..." marks. Private to etf/. */
#ifndef BEAMTOP_ETF_PRINT_PRIVATE_H
#define BEAMTOP_ETF_PRINT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/print.h"
#include "beamtop/etf/term.h"

#define PRINT_ELLIPSIS "\xE2\x80\xA6"

struct print_spelling;

struct printer {
    struct buf *out;
    const struct print_spelling *spelling;
    size_t left; /* bytes of text that still fit */
    bool full;   /* "..." has been printed: nothing more is */
    bool cuts;   /* what the target left out prints as "..." */
    unsigned depth, max_depth, max_items;
};

/* What differs between the languages. The functions read the whole of what the cursor is at. */
struct print_spelling {
    const char *comma;
    const char *bar;             /* before the tail of an improper list */
    const char *more;            /* at the end of a list of which not all is shown */
    const char *pid, *reference; /* up to the first number */
    const char *bits, *bits_end; /* around the size of a segment that is not a whole byte */
    const char *characters;      /* up to the first character of a list of them */
    const char *base_16;         /* before an integer's digits */
    bool empty_text;             /* an empty binary is text */
    bool plain_floats;           /* from 1 up to 1e16 always without an exponent */
    bool (*is_list_text)(int32_t codepoint);
    bool (*is_binary_text)(int32_t codepoint);
    /* Within quotes; `next` is the character behind it, or -1. */
    void (*character)(struct printer *p, int32_t codepoint, int32_t next, char quote);
    void (*atom)(struct printer *p, struct slice name, bool latin1);
    void (*text_binary)(struct printer *p, struct slice bytes, bool ascii);
    bool (*is_pairs)(const struct printer *p, const struct cursor *c); /* a list shown as pairs */
    void (*pairs)(struct printer *p, struct cursor *c);
    void (*map)(struct printer *p, struct cursor *c);
    void (*fun)(struct printer *p, struct cursor *c);
    void (*record)(struct printer *p, struct cursor *c);
    void (*mfa)(struct printer *p, struct slice mod, struct slice fun, int64_t arity);
};
extern const struct print_spelling print_spelling_elixir;

/* Prints the next term, as far as it fits; bytes that are not a term end the text. */
void print_value(struct printer *p, struct cursor *c);
/* True when the next term is '...', or the next key and value are, where `cuts` is set. */
bool print_is_left_out(const struct printer *p, const struct cursor *c);
bool print_is_pair_left_out(const struct printer *p, const struct cursor *c);

/* A native record's tag, number of fields and flags: taken; then come its module, its name, and a
   name and a value for each field. False when they are not all there. */
bool printer_record(struct cursor *c, size_t *fields);

void printer_puts(struct printer *p, const char *s);
void printer_printf(struct printer *p, const char *fmt, ...) ATTR_PRINTF(2, 3); /* short texts */
/* One character as UTF-8, or false when a terminal is not safe with it. */
bool printer_safe(struct printer *p, int32_t codepoint);
/* Prints UTF-8 within quotes, escaped as the language has it; other bytes are taken as Latin-1. */
void printer_quoted(struct printer *p, struct slice text, bool latin1, char quote);
/* Reads a character of a text, in Latin-1 where it is not UTF-8. Returns its bytes. */
size_t print_decode(struct slice text, size_t at, bool latin1, int32_t *codepoint);
/* As Erlang does. */
void printer_character(struct printer *p, int32_t codepoint, int32_t next, char quote);
void printer_atom(struct printer *p, struct slice name, bool latin1);
void printer_float(struct printer *p, double v);
/* The integer whose magnitude is `bytes`, least significant first. */
void printer_integer(struct printer *p, bool negative, const uint8_t *bytes, size_t len);

/* What io_lib calls printable: letters, marks, and the white space that has an escape. */
bool print_is_printable(int32_t codepoint);

#endif

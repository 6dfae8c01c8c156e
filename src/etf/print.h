/* Where printed text goes: a buffer with an end that "..." marks. Private to etf/. */
#ifndef BEAMTOP_ETF_PRINT_PRIVATE_H
#define BEAMTOP_ETF_PRINT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/term.h"

struct printer {
    struct buf *out;
    size_t left; /* bytes of text that still fit */
    bool full;   /* "..." has been printed: nothing more is */
    unsigned depth, max_depth, max_items;
};

void printer_put(struct printer *p, const char *s, size_t len);
void printer_puts(struct printer *p, const char *s);
void printer_printf(struct printer *p, const char *fmt, ...) ATTR_PRINTF(2, 3); /* short texts */
/* One character within quotes, escaped as Erlang does. */
void printer_character(struct printer *p, int32_t codepoint, char quote);
void printer_atom(struct printer *p, struct slice name, bool latin1);
void printer_float(struct printer *p, double v);
/* The integer whose magnitude is `bytes`, least significant first. */
void printer_integer(struct printer *p, bool negative, const uint8_t *bytes, size_t len);

/* What io_lib calls printable: letters, marks, and the white space that has an escape. */
bool print_is_printable(int32_t codepoint);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors in files of the user, with their place: `file:line:column: what is wrong`, the line, and a
 * caret. Collected, bounded, and printed by app; reading goes on after each. */
#ifndef BEAMTOP_UI_DIAG_H
#define BEAMTOP_UI_DIAG_H

#include <stddef.h>

#include "beamtop/base/attr.h"

struct buf;

struct diag {
    char *file;      /* owned */
    size_t line;     /* from 1 */
    size_t column;   /* from 1, in bytes */
    char *line_text; /* owned: the line as it stands, without its end */
    char *text;      /* owned: what is wrong and what would be right */
};

struct diags {
    struct diag *items;
    size_t len;
    size_t dropped; /* beyond LIMIT_CONFIG_ERRORS */
};

void diags_init(struct diags *d);
void diags_clear(struct diags *d);
void diags_add(struct diags *d, const char *file, size_t line, size_t column, const char *line_text,
               size_t line_len, const char *fmt, ...) ATTR_PRINTF(7, 8);
/* For a terminal or a log: every byte is safe, the caret stands under the column. */
void diags_print(const struct diags *d, struct buf *out);

#endif

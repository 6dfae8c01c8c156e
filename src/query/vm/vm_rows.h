/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the answer `vm`, in the order of vm_fields of the model. Pure. */
#ifndef BEAMTOP_QUERY_VM_ROWS_H
#define BEAMTOP_QUERY_VM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/build.h"

#define VM_TEXT_MOST 200 /* characters of a text of the node's that are shown */

struct vm_rows {
    struct builder *terms; /* one after the other, behind the version byte */
    size_t n;
    bool partial;
};

/* One row. Texts are borrowed; NULL: none. Numbers below 0 are not known, or there is none. */
struct vm_line {
    const char *section, *item;
    const char *value; /* NULL: the number */
    const char *unit;  /* of the numbers: "bytes"; NULL: a count */
    int64_t number, limit;
    const char *note; /* of an unknown value: the reason */
    size_t index;     /* from 1, where an item may come again; 0: it is there once */
};
/* As a text, and as a number with its limit. */
#define VM_TEXT(SECTION, ITEM, ...)                                                                \
    (&(struct vm_line){                                                                            \
        .section = (SECTION), .item = (ITEM), .number = -1, .limit = -1, __VA_ARGS__})
#define VM_NUMBER(SECTION, ITEM, NUMBER, LIMIT, ...)                                               \
    (&(struct vm_line){                                                                            \
        .section = (SECTION), .item = (ITEM), .number = (NUMBER), .limit = (LIMIT), __VA_ARGS__})

void vm_rows_init(struct vm_rows *rows);
void vm_rows_add(struct vm_rows *rows, const struct vm_line *row);
/* {vm, MonoNs, Rows, Partial}, and frees them. */
void vm_rows_end(struct vm_rows *rows, struct builder *b, int64_t mono_ns);

/* A text of the node (a list, a binary, an atom) or an integer, VM_TEXT_MOST characters of it, with
 * control characters as escapes. false: it is something else. */
bool vm_put_term(struct buf *out, struct slice term);
/* Appends text as vm_put_term() has it. */
void vm_put_safe(struct buf *out, struct slice text);

#endif

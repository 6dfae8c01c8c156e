/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from the rows of an answer of QUESTION_LISTS. Pure: no clock, no allocation beyond
 * the arena. */
#ifndef BEAMTOP_MODEL_TABLE_H
#define BEAMTOP_MODEL_TABLE_H

#include "beamtop/base/arena.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/field.h"

void table_clear_row(const struct field_list *list, void *row); /* zeroed: numbers unknown */
/* The text that identifies a row: the first on the wire. */
struct slice table_key(const struct field_list *list, const void *row);

/* Fields with `rate_of`, per second since the answer before, which is kept in `now`, and with
 * `lasts`. A row of several has none: they may be others. */
void table_rate(struct table_detail *now, const struct table_detail *before,
                const struct field_list *list);

/* The largest first, those without a number last; table: gets rows in the arena. */
void table_order(struct table_detail *table, const struct field_list *list, const struct field *by,
                 struct arena *arena);

/* Keeps the rows that have this text in `of`, also of the answer before; table: gets rows in the
 * arena. */
void table_choose(struct table_detail *table, const struct field_list *list, const struct field *of,
                  struct slice text, struct arena *arena);

/* Rows that have the same text in `by` as one: numbers of fields that add up are sums, of what is
 * known, all else is unknown. By the first field that adds up and is of bytes, the largest first.
 * out: its rows are in the arena, their texts those of `table`. */
void table_group(struct table_detail *out, const struct table_detail *table,
                 const struct field_list *list, const struct field *by, struct arena *arena);
bool table_adds(const struct field_list *list); /* it has fields that add up */
/* `by`, and what adds up, data: with the ages of that; at most `most`. */
size_t table_group_columns(const struct field_list *list, const struct field *by, bool data,
                           const struct field *out[], size_t most);

#endif

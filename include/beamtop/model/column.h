/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The columns of a process list: one row each, for the screen, `--sort`, `--columns`, JSON, CSV,
 * the manual and completion. Keys
 * are stable. */
#ifndef BEAMTOP_MODEL_COLUMN_H
#define BEAMTOP_MODEL_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/model/field.h"

const char *proc_item_name(enum proc_item item); /* the atom asked for; a recording's name of it */
enum proc_item proc_item_find(const char *name); /* PROC_ITEMS: there is none */

extern const struct field proc_columns[];
extern const int proc_columns_len;
extern const struct field_list proc_fields; /* the same, as a list */
const struct field *
proc_column_find(const char *key); /* NULL: none; "msgq"-like short names are accepted too */

/* The column that a list is in order of when sorted by `sort`, by change or not. NULL: there is
 * none. */
const struct field *proc_column_ranked(const struct field *sort, bool by_delta);

/* Whether that value was read some time ago, row->older_s; whether it is this or more. */
bool proc_column_is_older(const struct field *column, const struct proc_row *row);
bool proc_column_is_least(const struct field *column, const struct proc_row *row);

/* How a process is called for people: registered name, else label, else initial call. */
struct slice proc_row_display_name(const struct proc_row *row);
/* Of text columns, as people read them: of the name, the above. */
struct slice proc_column_text(const struct field *column, const struct proc_row *row);

#define COLUMNS_MAX 64

/* The columns of a first start, in order. Returns how many. */
int proc_columns_default(const struct field *out[COLUMNS_MAX]);
/* "pid,name,memory": ERR_USAGE names the unknown word and the columns. */
int proc_columns_parse(const char *list, const struct field *out[COLUMNS_MAX], int *n,
                       struct error *err);
/* The items that these columns need, the sort column's (may be NULL) among them. */
uint32_t proc_columns_items(const struct field *const *columns, int n, const struct field *sort);

#endif

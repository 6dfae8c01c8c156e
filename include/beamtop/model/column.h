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
#include "beamtop/model/snapshot.h"

const char *proc_item_name(enum proc_item item); /* the atom asked for; a recording's name of it */
enum proc_item proc_item_find(const char *name); /* PROC_ITEMS: there is none */

enum column_type {
    COLUMN_TEXT,
    COLUMN_PID,
    COLUMN_COUNT,
    COLUMN_BYTES,
    COLUMN_RATE,
    COLUMN_BYTE_RATE,
    COLUMN_SHARE,
    COLUMN_SECONDS,
    COLUMN_BOOL
};

struct proc_column {
    const char *key;   /* "memory_bytes": JSON, --sort, --columns */
    const char *title; /* "MEMORY" */
    const char *help;
    enum column_type type;
    uint32_t items;      /* what must be asked for */
    const char *sweep;   /* attribute swept when sorted by it (docs/queries.md); NULL: sorted here,
                            among the busiest */
    bool sweep_by_delta; /* ranked by change: a rate */
    bool expensive;      /* a signal to every process when sorted by it */
    int width;
    bool is_default;                                  /* among the columns of a first start */
    struct slice (*text)(const struct proc_row *row); /* text columns; as data: empty is unknown */
    struct slice (*display)(
        const struct proc_row *row);              /* text for people where it differs, else NULL */
    double (*number)(const struct proc_row *row); /* others; NaN unknown */
    const struct etf_pid *(*pid)(const struct proc_row *row); /* pid columns; NULL unknown */
};

extern const struct proc_column proc_columns[];
extern const int proc_columns_len;
const struct proc_column *
proc_column_find(const char *key); /* NULL: none; "msgq"-like short names are accepted too */

/* The column that a list is in order of when sorted by `sort`, by change or not. NULL: there is
 * none. */
const struct proc_column *proc_column_ranked(const struct proc_column *sort, bool by_delta);

/* Whether that value was read some time ago, row->older_s; whether it is this or more. */
bool proc_column_is_older(const struct proc_column *column, const struct proc_row *row);
bool proc_column_is_least(const struct proc_column *column, const struct proc_row *row);

/* How a process is called for people: registered name, else label, else initial call. */
struct slice proc_row_display_name(const struct proc_row *row);

#define COLUMNS_MAX 64

/* The columns of a first start, in order. Returns how many. */
int proc_columns_default(const struct proc_column *out[COLUMNS_MAX]);
/* "pid,name,memory": ERR_USAGE names the unknown word and the columns. */
int proc_columns_parse(const char *list, const struct proc_column *out[COLUMNS_MAX], int *n,
                       struct error *err);
/* The items that these columns need, the sort column's (may be NULL) among them. */
uint32_t proc_columns_items(const struct proc_column *const *columns, int n,
                            const struct proc_column *sort);

#endif

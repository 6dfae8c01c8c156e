/* Columns of a process list from the command line, and the scan that they add up to. */
#ifndef BEAMTOP_APP_COLUMNS_H
#define BEAMTOP_APP_COLUMNS_H

#include "beamtop/base/error.h"
#include "beamtop/model/column.h"
#include "beamtop/model/source.h"
#include "cli.h"

#define COLUMNS_MOST 64

struct column_choice {
    const struct proc_column *columns[COLUMNS_MOST];
    int n;
};

/* "pid,name,memory_bytes"; NULL: the default ones. */
int columns_choose(struct column_choice *out, const char *list, struct error *err);
/* The scan for these columns, sorted and cut as the options say. */
int columns_want(const struct column_choice *c, const struct cli_options *o,
                 struct want_scan *want, struct error *err);

#endif

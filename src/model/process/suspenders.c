/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/suspenders.h"

#include <stdio.h>

#include "beamtop/base/text.h"

const struct suspenders_row *suspenders_of(const struct table_detail *answer,
                                           const struct etf_pid *pid)
{
    const struct suspenders_row *rows = answer ? answer->rows : NULL;
    return answer && answer->n_rows > 0 && rows->has_pid && pid_same(&rows->pid, pid) ? rows : NULL;
}

const char *suspenders_none(char *to, size_t size, const struct suspenders_row *row)
{
    char read[32], all[32];
    text_integer(read, sizeof read, row->read);
    text_integer(all, sizeof all, row->processes);
    if (row->processes >= 0 && row->read >= row->processes)
        snprintf(to, size, "no process: probably a send to a busy port or node");
    else if (row->processes >= 0)
        snprintf(to, size, "not found among %s of %s processes", read, all);
    else
        snprintf(to, size, "unknown: the node listed no processes");
    return to;
}

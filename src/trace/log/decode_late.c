/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A refusal that traces and counted calls share: flags of all processes would stop the node. */
#include <inttypes.h>
#include <stdio.h>

#include "decode.h"

bool decode_late(struct cursor *c, char *out, size_t size)
{
    int64_t scheduler = 0, ms = 0;
    if (!cursor_int64(c, &scheduler) || !cursor_int64(c, &ms))
        return false;
    char which[24] = "";
    if (scheduler > 0)
        snprintf(which, sizeof which, " %" PRId64, scheduler);
    snprintf(out, size,
             "%s%s did not answer for %" PRId64 " ms: a NIF or BIF does not yield, and "
             "trace flags for all processes would stop the whole node until it does. Try again "
             "later, or name processes (--procs)",
             scheduler > 0 ? "scheduler" : "a scheduler", which, ms);
    return true;
}

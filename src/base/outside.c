/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/outside.h"

#include <stdlib.h>

void outside_clear(struct outside *o)
{
    free(o->threads);
    free(o->sockets);
    free(o->stacks);
    o->threads = NULL;
    o->sockets = NULL;
    o->stacks = NULL;
    o->n_threads = o->n_sockets = o->n_stacks = 0;
}

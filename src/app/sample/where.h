/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop where` run by the screen: the source line of a function, in a sentence. Thread: that of
 * the loop. */
#ifndef BEAMTOP_APP_SAMPLE_WHERE_H
#define BEAMTOP_APP_SAMPLE_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

#include "beamtop/base/error.h"

struct where_run;

/* What `where` itself has, and a little more. */
enum { WHERE_SECONDS = 65 };

/* Once: the first line that it printed, of so many, or the error; "": it said nothing. The process
 * is gone afterwards. */
typedef void where_fn(void *arg, bool found, const char *line, size_t lines);

/* One that has not answered in so many seconds, as one that is stopped (SIGSTOP), is ended. */
int where_start(struct where_run **out, uv_loop_t *loop, pid_t pid, const char *function,
                unsigned seconds, where_fn *fn, void *arg, struct error *err);
/* fn is not called any more; it frees itself. NULL is fine. */
void where_leave(struct where_run *w);

#endif

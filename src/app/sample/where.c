/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "where.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/job/child.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"

enum { LINE_BYTES = 2048 };

struct where_run {
    struct child *child;
    unsigned ticks; /* that are left */
    where_fn *fn;   /* NULL: not wanted any more */
    void *arg;
    bool is_late;
    struct buf line; /* the first one */
    size_t lines;    /* that have ended */
};

static void where_ended(void *arg, int64_t status, int signal)
{
    struct where_run *w = arg;
    const bool found = status == 0 && signal == 0 && w->lines > 0;
    if (w->fn && w->is_late)
        w->fn(w->arg, false,
              "the process that reads the VM was ended: it had not answered in time. It was "
              "stopped, or the host is overloaded",
              1);
    else if (w->fn)
        w->fn(w->arg, found, buf_cstr(&w->line), w->lines);
    buf_clear(&w->line);
    free(w);
}

static void where_tick(void *arg)
{
    struct where_run *w = arg;
    if (w->is_late || --w->ticks > 0)
        return;
    w->is_late = true;
    child_kill(w->child);
}

static void where_read(void *arg, const char *bytes, size_t n)
{
    struct where_run *w = arg;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n')
            w->lines++;
        else if (w->lines == 0 && w->line.len < LINE_BYTES)
            buf_put_u8(&w->line, (uint8_t)bytes[i]);
    }
}

int where_start(struct where_run **out, uv_loop_t *loop, pid_t pid, const char *function,
                unsigned seconds, where_fn *fn, void *arg, struct error *err)
{
    static const struct child_handlers handlers = {where_read, where_tick, where_ended};
    struct where_run *w = alloc_zero(1, sizeof *w);
    char digits[24];
    snprintf(digits, sizeof digits, "%ld", (long)pid);
    const struct child_start start = {
        .purpose = "that reads the VM",
        .words = (const char *const[]){"where", "--", digits, function, NULL},
        .flags = CHILD_OUTPUT | CHILD_ERRORS,
    };
    w->ticks = seconds;
    w->fn = fn;
    w->arg = arg;
    buf_init(&w->line, 0);
    const int rc = child_start(&w->child, loop, &start, &handlers, w, err);
    if (rc == 0)
        *out = w;
    else
        free(w);
    return rc;
}

void where_leave(struct where_run *w)
{
    if (!w)
        return;
    w->fn = NULL;
    child_kill(w->child);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/clock.h"
#include "app/cli/tell.h"

void record_run_clear_progress(struct recording_run *t)
{
    if (t->shown_progress)
        fputs("\r\033[K", stderr);
    t->shown_progress = false;
}

/* FILE.log: a node that comes and goes for months would fill the disk. */
static bool has_room(struct recording_run *t)
{
    struct stat st;
    if (!t->setup->detached || t->log_is_full)
        return !t->log_is_full;
    t->log_is_full = fstat(STDERR_FILENO, &st) == 0 && S_ISREG(st.st_mode) &&
                     st.st_size >= (off_t)LIMIT_RECORD_LOG_BYTES;
    if (t->log_is_full)
        fputs("beamtop: this log is full: from here on only the end is reported\n", stderr);
    return !t->log_is_full;
}

void record_run_tell(struct recording_run *t, const char *format, ...)
{
    va_list args;
    record_run_clear_progress(t);
    if (!has_room(t))
        return;
    va_start(args, format);
    tell_line_list(format, args);
    va_end(args);
}

void record_run_tell_ready(struct recording_run *t, const char *text)
{
    if (t->reported_ready || t->setup->ready_fd < 0)
        return;
    t->reported_ready = true;
    ssize_t n = write(t->setup->ready_fd, text, strlen(text));
    (void)n; /* it may have gone */
    close(t->setup->ready_fd);
}

int64_t record_run_node_wall_us(const struct recording_run *t)
{
    return t->was_up ? clock_wall_us() + (int64_t)t->wall_less_here_us : -1;
}

void record_run_verified(struct recording_run *t)
{
    if (!t->asking_to_end && --t->waiting == 0)
        uv_stop(&t->rt.loop);
}

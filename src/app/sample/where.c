/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "where.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"

/* The program that runs, also when a newer one has taken its name. */
#define OWN_PROGRAM "/proc/self/exe"

enum { LINE_BYTES = 2048, READ_BYTES = 4096, TICK_MS = 1000 };

enum { HANDLES_WITHOUT_PROCESS = 2 };

struct where_run {
    uv_process_t process;
    uv_pipe_t from; /* its standard output and error */
    uv_timer_t clock;
    unsigned ticks; /* that are left */
    where_fn *fn;   /* NULL: not wanted any more */
    void *arg;
    int open_handles;
    bool has_exited, is_silent, found, is_late;
    struct buf line; /* the first one */
    size_t lines;    /* that have ended */
    char bytes[READ_BYTES];
};

#define LATE                                                                                       \
    "the process that reads the VM was ended: it had not answered in time. It was stopped, or "    \
    "the "                                                                                         \
    "host is overloaded"

static void on_close(uv_handle_t *handle)
{
    struct where_run *w = handle->data;
    if (--w->open_handles > 0)
        return;
    buf_clear(&w->line);
    free(w);
}

/* Without a process there is no handle of it. */
static void close_all(struct where_run *w)
{
    if (w->open_handles > HANDLES_WITHOUT_PROCESS)
        uv_close((uv_handle_t *)&w->process, on_close);
    uv_close((uv_handle_t *)&w->from, on_close);
    uv_close((uv_handle_t *)&w->clock, on_close);
}

static void end_if_over(struct where_run *w)
{
    if (!w->has_exited || !w->is_silent)
        return;
    if (w->fn && w->is_late)
        w->fn(w->arg, false, LATE, 1);
    else if (w->fn)
        w->fn(w->arg, w->found && w->lines > 0, buf_cstr(&w->line), w->lines);
    close_all(w);
}

static void on_exit_code(uv_process_t *process, int64_t status, int signal)
{
    struct where_run *w = process->data;
    w->has_exited = true;
    w->found = status == 0 && signal == 0;
    end_if_over(w);
}

/* Ticks, not time: when we were stopped ourselves, with it, many seconds are one tick. What it has
 * started may hold the pipe, and is not waited for. */
static void on_tick(uv_timer_t *clock)
{
    struct where_run *w = clock->data;
    if (--w->ticks > 0)
        return;
    uv_timer_stop(clock);
    uv_read_stop((uv_stream_t *)&w->from);
    w->is_late = w->is_silent = true;
    if (!w->has_exited)
        (void)uv_process_kill(&w->process, SIGKILL);
    end_if_over(w);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct where_run *w = handle->data;
    (void)suggested;
    *buf = uv_buf_init(w->bytes, sizeof w->bytes);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct where_run *w = stream->data;
    for (ssize_t i = 0; i < n; i++) {
        if (buf->base[i] == '\n')
            w->lines++;
        else if (w->lines == 0 && w->line.len < LINE_BYTES)
            buf_put_u8(&w->line, (uint8_t)buf->base[i]);
    }
    w->is_silent = n < 0;
    if (n < 0)
        uv_read_stop(stream);
    end_if_over(w);
}

static int spawn(struct where_run *w, uv_loop_t *loop, pid_t pid, const char *function)
{
    char name[] = "beamtop", command[] = "where", end[] = "--", digits[24];
    char *words = alloc_printf("%s", function);
    char *args[] = {name, command, end, digits, words, NULL};
    uv_file fds[2];
    int rc = uv_pipe(fds, UV_NONBLOCK_PIPE, 0);
    snprintf(digits, sizeof digits, "%ld", (long)pid);
    if (rc == 0) {
        uv_stdio_container_t stdio[3] = {
            {.flags = UV_IGNORE},
            {.flags = UV_INHERIT_FD, .data.fd = fds[1]},
            {.flags = UV_INHERIT_FD, .data.fd = fds[1]},
        };
        const uv_process_options_t options = {.file = OWN_PROGRAM,
                                              .args = args,
                                              .exit_cb = on_exit_code,
                                              .stdio = stdio,
                                              .stdio_count = 3};
        w->open_handles++;
        rc = uv_spawn(loop, &w->process, &options);
        close(fds[1]);
        if (rc != 0)
            close(fds[0]);
        else
            rc = uv_pipe_open(&w->from, fds[0]);
    }
    free(words);
    return rc;
}

int where_start(struct where_run **out, uv_loop_t *loop, pid_t pid, const char *function,
                unsigned seconds, where_fn *fn, void *arg, struct error *err)
{
    struct where_run *w = alloc_zero(1, sizeof *w);
    w->open_handles = HANDLES_WITHOUT_PROCESS;
    w->ticks = seconds;
    buf_init(&w->line, 0);
    uv_pipe_init(loop, &w->from, 0);
    uv_timer_init(loop, &w->clock);
    w->process.data = w->from.data = w->clock.data = w;
    int rc = spawn(w, loop, pid, function);
    if (rc == 0)
        rc = uv_read_start((uv_stream_t *)&w->from, on_alloc, on_read);
    if (rc != 0) {
        close_all(w);
        return error_set(err, ERR_SYSTEM, "no process that reads the VM: %s", uv_strerror(rc));
    }
    uv_timer_start(&w->clock, on_tick, TICK_MS, TICK_MS);
    w->fn = fn;
    w->arg = arg;
    *out = w;
    return 0;
}

void where_leave(struct where_run *w)
{
    if (!w)
        return;
    w->fn = NULL;
    (void)uv_process_kill(&w->process, SIGTERM);
}

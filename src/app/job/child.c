/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "child.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/spawn.h"

enum { TICK_MS = 1000, MOST_WORDS = 32 };

extern char **environ;

struct child {
    uv_process_t process;
    uv_timer_t clock;
    uv_pipe_t to, from; /* its standard input; output and errors */
    const struct child_handlers *handlers;
    void *arg;
    int open_handles;
    int64_t status;
    int signal;
    bool has_exited, is_silent; /* is_silent: all that it prints has been read */
    char bytes[65536];
};

/* ---- its end */

static void on_close(uv_handle_t *handle)
{
    struct child *c = handle->data;
    if (--c->open_handles == 0)
        free(c);
}

static void close_child(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_close);
}

void child_leave(struct child *c)
{
    close_child((uv_handle_t *)&c->process);
    close_child((uv_handle_t *)&c->clock);
    close_child((uv_handle_t *)&c->to);
    close_child((uv_handle_t *)&c->from);
}

void child_end_input(struct child *c)
{
    close_child((uv_handle_t *)&c->to);
}

void child_kill(struct child *c)
{
    uv_read_stop((uv_stream_t *)&c->from);
    c->is_silent = true;
    if (!c->has_exited)
        uv_process_kill(&c->process, SIGKILL);
}

static void end_if_over(struct child *c)
{
    if (!c->has_exited || !c->is_silent || uv_is_closing((uv_handle_t *)&c->process))
        return;
    child_leave(c);
    c->handlers->ended(c->arg, c->status, c->signal);
}

/* ---- what the loop says */

static void on_exit_code(uv_process_t *process, int64_t status, int signal)
{
    struct child *c = process->data;
    c->has_exited = true;
    c->status = status;
    c->signal = signal;
    end_if_over(c);
}

static void on_child_tick(uv_timer_t *clock)
{
    struct child *c = clock->data;
    if (c->handlers->tick)
        c->handlers->tick(c->arg);
    end_if_over(c);
}

static void on_child_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct child *c = handle->data;
    (void)suggested;
    *buf = uv_buf_init(c->bytes, sizeof c->bytes);
}

static void on_child_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct child *c = stream->data;
    if (n > 0)
        c->handlers->read(c->arg, buf->base, (size_t)n);
    if (n < 0) {
        uv_read_stop(stream);
        c->is_silent = true;
    }
    end_if_over(c);
}

/* ---- its start */

static int spawn_program(struct child *c, uv_loop_t *loop, const struct child_start *start,
                         char **environment, int output)
{
    char *words[MOST_WORDS + 2] = {alloc_strdup("beamtop")};
    uv_stdio_container_t stdio[3] = {0};
    const uv_process_options_t options = {
        .file = SPAWN_OWN_PROGRAM,
        .args = words,
        .env = environment,
        .exit_cb = on_exit_code,
        .flags = start->flags & CHILD_OUTLIVES ? UV_PROCESS_DETACHED : 0,
        .stdio = stdio,
        .stdio_count = 3,
    };
    for (size_t i = 0; i < MOST_WORDS && start->words[i]; i++)
        words[i + 1] = alloc_strdup(start->words[i]);
    if (start->flags & CHILD_INPUT) {
        stdio[0].flags = UV_CREATE_PIPE | UV_READABLE_PIPE;
        stdio[0].data.stream = (uv_stream_t *)&c->to;
    }
    for (unsigned i = 1; i < 3; i++)
        if (start->flags & (i == 1 ? CHILD_OUTPUT : CHILD_ERRORS)) {
            stdio[i].flags = UV_INHERIT_FD;
            stdio[i].data.fd = output;
        }
    const int rc = uv_spawn(loop, &c->process, &options);
    for (size_t i = 0; words[i]; i++)
        free(words[i]);
    return rc;
}

static int spawn_with_variable(struct child *c, uv_loop_t *loop, const struct child_start *start,
                               int output)
{
    size_t n = 0;
    if (!start->variable)
        return spawn_program(c, loop, start, NULL, output);
    while (environ[n])
        n++;
    char **all = alloc_zero(n + 2, sizeof *all);
    memcpy(all, environ, n * sizeof *all);
    all[n] = alloc_strdup(start->variable);
    const int rc = spawn_program(c, loop, start, all, output);
    explicit_bzero(all[n], strlen(all[n]));
    free(all[n]);
    free(all);
    return rc;
}

int child_start(struct child **out, uv_loop_t *loop, const struct child_start *start,
                const struct child_handlers *handlers, void *arg, struct error *err)
{
    uv_file fds[2];
    int rc = uv_pipe(fds, UV_NONBLOCK_PIPE, 0);
    if (rc != 0)
        return error_set(err, ERR_SYSTEM, "no process %s: %s", start->purpose, uv_strerror(rc));
    struct child *c = alloc_zero(1, sizeof *c);
    c->handlers = handlers;
    c->arg = arg;
    c->open_handles = 4;
    uv_timer_init(loop, &c->clock);
    uv_pipe_init(loop, &c->to, 0);
    uv_pipe_init(loop, &c->from, 0);
    c->process.data = c->clock.data = c->to.data = c->from.data = c;
    rc = spawn_with_variable(c, loop, start, fds[1]);
    close(fds[1]);
    if (uv_pipe_open(&c->from, fds[0]) != 0)
        close(fds[0]);
    if (rc == 0)
        rc = uv_read_start((uv_stream_t *)&c->from, on_child_alloc, on_child_read);
    if (rc == 0)
        rc = uv_timer_start(&c->clock, on_child_tick, TICK_MS, TICK_MS);
    if (rc == 0) {
        *out = c;
        return 0;
    }
    child_leave(c);
    return error_set(err, ERR_SYSTEM, "no process %s: %s", start->purpose,
                     rc == UV_ENOENT ? "no /proc is mounted here. mount -t proc proc /proc"
                                     : uv_strerror(rc));
}

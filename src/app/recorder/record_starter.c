/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_starter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "record_status.h"

#define PRINTED_BYTES 4096u
#define COOKIE "BEAMTOP_COOKIE="
/* The program that runs, also when a newer one has taken its name. */
#define OWN_PROGRAM "/proc/self/exe"

extern char **environ;

struct record_starter {
    uv_process_t process;
    uv_pipe_t complaints; /* its stderr */
    struct buf printed;
    char bytes[1024];
    record_started_fn *fn; /* NULL: not wanted any more */
    void *arg;
    int open_handles;
    int64_t exit_code; /* -1: it runs */
    bool silent;       /* all that it prints has been read */
    bool ended;
};

/* ---- its words */

#define ARGUMENTS 32
struct arguments {
    char *all[ARGUMENTS + 1];
    int n;
};

static void add(struct arguments *a, const char *text)
{
    a->all[a->n++] = alloc_strdup(text);
}

static void add_number(struct arguments *a, const char *option, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.10g", value);
    add(a, option);
    add(a, text);
}

static void add_text(struct arguments *a, const char *option, const char *value)
{
    add(a, option);
    add(a, value);
}

/* No cookie is among them: others can read the arguments of a process. */
static void put_arguments(struct arguments *a, const struct record_start *start)
{
    const struct options *o = start->options;
    const struct cli_options *cli = start->cli;
    const char *calls = option_text(o, OPTION_RECORD_CALLS);
    *a = (struct arguments){0};
    add(a, "beamtop");
    add(a, "record");
    add(a, "start");
    add_text(a, "--output", start->file);
    add_number(a, "--interval", option_double(o, OPTION_RECORD_INTERVAL));
    add_number(a, "--max-size", option_double(o, OPTION_RECORD_MAX_SIZE));
    add_number(a, "--budget", option_double(o, OPTION_BUDGET));
    add_number(a, "--timeout", cli->timeout_s);
    if (cli->cookie_file)
        add_text(a, "--cookie-file", cli->cookie_file);
    if (cli->host)
        add_text(a, "--host", cli->host);
    if (cli->port > 0)
        add_number(a, "--port", (double)cli->port);
    if (cli->epmd_port > 0)
        add_number(a, "--epmd-port", (double)cli->epmd_port);
    if (*calls)
        add_text(a, "--calls", calls);
    add_text(a, "--", start->node);
}

static void clear_arguments(struct arguments *a)
{
    for (int i = 0; i < a->n; i++)
        free(a->all[i]);
}

/* Our environment; a cookie that was given on our command line goes through it. */
static char **put_environment(const struct record_start *start)
{
    size_t n = 0, at = 0;
    while (environ[n])
        n++;
    char **out = alloc_zero(n + 2, sizeof *out);
    /* As cookie_find(): the file and the environment go before it. */
    const char *cookie = start->cli->cookie_file || start->env->cookie ? NULL : start->cli->cookie;
    for (size_t i = 0; i < n; i++)
        out[at++] = alloc_strdup(environ[i]);
    if (cookie) {
        const size_t size = sizeof COOKIE + strlen(cookie);
        out[at] = alloc_zero(size, 1);
        snprintf(out[at], size, COOKIE "%s", cookie);
    }
    return out;
}

static void clear_environment(char **all)
{
    for (size_t i = 0; all[i]; i++) {
        explicit_bzero(all[i], strlen(all[i]));
        free(all[i]);
    }
    free(all);
}

/* ---- its life */

static void on_closed(uv_handle_t *handle)
{
    struct record_starter *s = handle->data;
    if (--s->open_handles > 0)
        return;
    buf_clear(&s->printed);
    free(s);
}

static void end(struct record_starter *s, const struct error *err)
{
    s->ended = true;
    if (s->fn)
        s->fn(s->arg, err);
    uv_close((uv_handle_t *)&s->process, on_closed);
    uv_close((uv_handle_t *)&s->complaints, on_closed);
}

/* When it is gone, and all that it has said is here. */
static void end_if_over(struct record_starter *s)
{
    struct error err = {0};
    struct buf complaint;
    if (s->ended || s->exit_code < 0 || !s->silent)
        return;
    buf_init(&complaint, 0);
    record_complaint(&complaint, buf_cstr(&s->printed));
    if (s->exit_code != 0)
        error_set(&err, ERR_SYSTEM, "%s",
                  complaint.len > 0 ? buf_cstr(&complaint)
                                    : "the recorder ended without a message");
    buf_clear(&complaint);
    end(s, err.code == ERR_NONE ? NULL : &err);
}

static void on_exit_code(uv_process_t *process, int64_t status, int signal)
{
    struct record_starter *s = process->data;
    s->exit_code = signal != 0 ? 128 + signal : status;
    end_if_over(s);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct record_starter *s = handle->data;
    (void)suggested;
    *buf = uv_buf_init(s->bytes, sizeof s->bytes);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct record_starter *s = stream->data;
    if (n > 0 && s->printed.len + (size_t)n <= PRINTED_BYTES)
        buf_put(&s->printed, buf->base, (size_t)n);
    s->silent = s->silent || n < 0;
    end_if_over(s);
}

/* A new terminal session: it outlives this terminal. */
static int spawn(struct record_starter *s, uv_loop_t *loop, char **args, char **env)
{
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_IGNORE},
        {.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&s->complaints},
    };
    const uv_process_options_t options = {.file = OWN_PROGRAM,
                                          .args = args,
                                          .env = env,
                                          .exit_cb = on_exit_code,
                                          .flags = UV_PROCESS_DETACHED,
                                          .stdio = stdio,
                                          .stdio_count = 3};
    return uv_spawn(loop, &s->process, &options);
}

struct record_starter *record_starter_new(uv_loop_t *loop, const struct record_start *start,
                                          record_started_fn *fn, void *arg, struct error *err)
{
    struct record_starter *s = alloc_zero(1, sizeof *s);
    struct arguments args;
    s->fn = fn;
    s->arg = arg;
    s->exit_code = -1;
    s->open_handles = 2;
    buf_init(&s->printed, 0);
    uv_pipe_init(loop, &s->complaints, 0);
    s->process.data = s->complaints.data = s;
    put_arguments(&args, start);
    char **env = put_environment(start);
    int rc = spawn(s, loop, args.all, env);
    clear_arguments(&args);
    clear_environment(env);
    if (rc == 0)
        rc = uv_read_start((uv_stream_t *)&s->complaints, on_alloc, on_read);
    if (rc == 0)
        return s;
    error_set(err, ERR_SYSTEM, "no process for the recorder: %s", uv_strerror(rc));
    record_starter_leave(s);
    return NULL;
}

void record_starter_leave(struct record_starter *s)
{
    if (!s)
        return;
    s->fn = NULL;
    end(s, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampling.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

/* The program that runs, also when a newer one has taken its name. */
#define OWN_PROGRAM "/proc/self/exe"

enum {
    TICK_MS = 1000,
    SETUP_TICKS = 60, /* until it has parsed the VM's files */
    LATE_TICKS = 5,   /* after its time, silent */
    LAST_TICKS = 30,  /* after its time */
};

struct sampling {
    uv_process_t process;
    uv_timer_t clock;
    uv_pipe_t to, from; /* its standard input, and output */
    struct records *records;
    const struct sampling_handlers *handlers; /* NULL: not wanted any more */
    void *arg;
    int open_handles;
    bool has_end, read_all, exited, stopped, killed, begun, late;
    unsigned for_ticks;           /* 0: until it is stopped */
    unsigned ticks, silent, over; /* since it began; since its last word; after its time */
    struct record_end end;
    struct error err;
    char bytes[65536];
};

/* ---- words */

void sampler_words(char words[SAMPLER_WORDS][24], const struct sampler_options *o)
{
    const long values[SAMPLER_WORDS] = {
        o->pid,          (long)o->hz,  (long)(o->for_s * 1000),
        o->lines,        o->addresses, o->kinds,
        (long)o->number, o->tid,       0,
    };
    for (size_t i = 0; i < SAMPLER_WORDS; i++)
        snprintf(words[i], sizeof words[i], "%ld", values[i]);
}

int sampler_words_parse(struct sampler_options *o, const char *const *words, size_t n,
                        struct error *err)
{
    static const long most[SAMPLER_WORDS] = {
        INT32_MAX, SAMPLER_HZ_MAX, INT32_MAX, 1, 1, 1 << THREAD_KINDS, 65536, INT32_MAX, 0,
    };
    long values[SAMPLER_WORDS] = {0};
    for (size_t i = 0; i < SAMPLER_WORDS; i++) {
        char *end = NULL;
        errno = 0;
        values[i] = i < n ? strtol(words[i], &end, 10) : -1;
        if (values[i] < 0 || values[i] > most[i] || errno != 0 || *end != '\0')
            return error_set(err, ERR_USAGE, "sampler: not the words of this program");
    }
    if (n != SAMPLER_WORDS || values[0] == 0 || values[1] == 0)
        return error_set(err, ERR_USAGE, "sampler: not the words of this program");
    *o = (struct sampler_options){
        .pid = (pid_t)values[0],
        .hz = (unsigned)values[1],
        .for_s = (double)values[2] / 1000,
        .lines = values[3] != 0,
        .addresses = values[4] != 0,
        .kinds = (unsigned)values[5],
        .number = (unsigned)values[6],
        .tid = (pid_t)values[7],
    };
    return 0;
}

/* ---- its end */

static void on_close(uv_handle_t *handle)
{
    struct sampling *s = handle->data;
    if (--s->open_handles > 0)
        return;
    records_free(s->records);
    free(s);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_close);
}

static void close_all(struct sampling *s)
{
    close_handle((uv_handle_t *)&s->clock);
    close_handle((uv_handle_t *)&s->process);
    close_handle((uv_handle_t *)&s->to);
    close_handle((uv_handle_t *)&s->from);
}

/* When it has exited and all of its words are read. */
static void end_if_over(struct sampling *s)
{
    if (!s->read_all || !s->exited)
        return;
    const struct sampling_handlers *handlers = s->handlers;
    s->handlers = NULL;
    if (!s->has_end)
        error_set(&s->err, ERR_SYSTEM, "the sampler ended without an answer");
    if (handlers)
        handlers->ended(s->arg, s->has_end ? &s->end : NULL, s->has_end ? NULL : &s->err);
    close_all(s);
}

static void on_exit_code(uv_process_t *process, int64_t status, int signal)
{
    struct sampling *s = process->data;
    (void)status;
    if (s->killed)
        error_set(&s->err, ERR_CANCELLED, "stopped twice: the sampler was ended at once");
    else if (s->late)
        error_set(&s->err, ERR_TIMEOUT,
                  "the sampler was ended: it had not answered %u s after its time. It was stopped, "
                  "or the host is overloaded",
                  s->begun ? s->over : s->ticks);
    else if (signal != 0)
        error_set(&s->err, ERR_SYSTEM, "the sampler was ended by signal %d (%s)", signal,
                  strsignal(signal));
    s->exited = true;
    end_if_over(s);
}

/* ---- its deadline */

/*
 * Ticks, not time: when we were stopped ourselves, with it, many seconds are one tick. One that is
 * stopped (SIGSTOP), or hangs, is not waited for. */
static void on_tick(uv_timer_t *clock)
{
    struct sampling *s = clock->data;
    s->ticks++;
    s->silent++;
    const bool is_over = s->stopped || (s->begun && s->for_ticks > 0 && s->ticks > s->for_ticks);
    s->over += is_over;
    s->late = s->begun || s->stopped
                  ? s->over >= LAST_TICKS || (s->over >= LATE_TICKS && s->silent >= LATE_TICKS)
                  : s->ticks >= SETUP_TICKS;
    if (!s->late)
        return;
    uv_timer_stop(clock);
    uv_process_kill(&s->process, SIGKILL);
}

/* ---- its words */

static void take_record(struct sampling *s, const struct record *r)
{
    if (r->type == RECORD_BEGIN) {
        s->begun = true;
        s->ticks = 0;
    }
    if (r->type == RECORD_END) {
        s->has_end = true;
        s->end = r->u.end;
    } else if (r->type == RECORD_FAILED) {
        error_set(&s->err, r->u.failed.code, "%s", r->u.failed.text);
    } else if (s->handlers) {
        s->handlers->record(s->arg, r);
    }
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct sampling *s = handle->data;
    (void)suggested;
    *buf = uv_buf_init(s->bytes, sizeof s->bytes);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct sampling *s = stream->data;
    struct record r;
    int rc = 0;
    if (n > 0) {
        s->silent = 0;
        records_feed(s->records, buf->base, (size_t)n);
        while ((rc = records_next(s->records, &r, &s->err)) > 0)
            take_record(s, &r);
    }
    if (rc < 0)
        uv_process_kill(&s->process, SIGKILL);
    s->read_all = s->read_all || n < 0 || rc < 0;
    if (s->read_all)
        uv_read_stop(stream);
    end_if_over(s);
}

/* ---- its life */

static int spawn(struct sampling *s, uv_loop_t *loop, const struct sampler_options *o)
{
    char words[SAMPLER_WORDS][24], name[] = "beamtop", command[] = "sampler";
    char *args[SAMPLER_WORDS + 3] = {name, command};
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&s->to},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&s->from},
        {.flags = UV_IGNORE},
    };
    sampler_words(words, o);
    for (size_t i = 0; i < SAMPLER_WORDS; i++)
        args[i + 2] = words[i];
    const uv_process_options_t options = {.file = OWN_PROGRAM,
                                          .args = args,
                                          .exit_cb = on_exit_code,
                                          .stdio = stdio,
                                          .stdio_count = 3};
    return uv_spawn(loop, &s->process, &options);
}

int sampling_start(struct sampling **out, uv_loop_t *loop, const struct sampler_options *o,
                   const struct sampling_handlers *handlers, void *arg, struct error *err)
{
    struct sampling *s = alloc_zero(1, sizeof *s);
    s->handlers = handlers;
    s->arg = arg;
    s->open_handles = 4;
    s->for_ticks = o->for_s > 0 ? (unsigned)o->for_s + 1 : 0;
    uv_timer_init(loop, &s->clock);
    s->records = records_new();
    uv_pipe_init(loop, &s->to, 0);
    uv_pipe_init(loop, &s->from, 0);
    s->clock.data = s->process.data = s->to.data = s->from.data = s;
    int rc = spawn(s, loop, o);
    if (rc == 0)
        rc = uv_read_start((uv_stream_t *)&s->from, on_alloc, on_read);
    if (rc != 0) {
        s->handlers = NULL;
        close_all(s);
        return error_set(err, ERR_SYSTEM, "no process for the sampler: %s", uv_strerror(rc));
    }
    uv_timer_start(&s->clock, on_tick, TICK_MS, TICK_MS);
    *out = s;
    return 0;
}

static void stop(struct sampling *s)
{
    close_handle((uv_handle_t *)&s->to);
    s->stopped = true;
}

void sampling_stop(struct sampling *s)
{
    if (s && s->stopped)
        s->killed = uv_process_kill(&s->process, SIGKILL) == 0;
    else if (s)
        stop(s);
}

void sampling_leave(struct sampling *s)
{
    if (!s)
        return;
    s->handlers = NULL;
    if (!s->stopped)
        stop(s);
}

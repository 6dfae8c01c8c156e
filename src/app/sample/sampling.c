/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampling.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/job/child.h"
#include "beamtop/base/alloc.h"

enum {
    SETUP_TICKS = 60, /* until it has parsed the VM's files */
    LATE_TICKS = 5,   /* after its time, silent */
    LAST_TICKS = 30,  /* after its time */
};

struct sampling {
    struct child *child;
    struct records *records;
    const struct sampling_handlers *handlers; /* NULL: not wanted any more */
    void *arg;
    bool has_end, stopped, killed, begun, late;
    unsigned for_ticks;           /* 0: until it is stopped */
    unsigned ticks, silent, over; /* since it began; since its last word; after its time */
    struct record_end end;
    struct error err;
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

/* ---- what the child says */

static void sampling_ended(void *arg, int64_t status, int signal)
{
    struct sampling *s = arg;
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
    if (!s->has_end)
        error_set(&s->err, ERR_SYSTEM, "the sampler ended without an answer");
    if (s->handlers)
        s->handlers->ended(s->arg, s->has_end ? &s->end : NULL, s->has_end ? NULL : &s->err);
    records_free(s->records);
    free(s);
}

/* One that is stopped (SIGSTOP), or hangs, is not waited for. */
static void sampling_tick(void *arg)
{
    struct sampling *s = arg;
    s->ticks++;
    s->silent++;
    const bool is_over = s->stopped || (s->begun && s->for_ticks > 0 && s->ticks > s->for_ticks);
    s->over += is_over;
    if (s->late)
        return;
    s->late = s->begun || s->stopped
                  ? s->over >= LAST_TICKS || (s->over >= LATE_TICKS && s->silent >= LATE_TICKS)
                  : s->ticks >= SETUP_TICKS;
    if (s->late)
        child_kill(s->child);
}

static void take_sampler_record(struct sampling *s, const struct record *r)
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

static void sampling_read(void *arg, const char *bytes, size_t n)
{
    struct sampling *s = arg;
    struct record r;
    int rc;
    s->silent = 0;
    records_feed(s->records, bytes, n);
    while ((rc = records_next(s->records, &r, &s->err)) > 0)
        take_sampler_record(s, &r);
    if (rc < 0)
        child_kill(s->child);
}

/* ---- its life */

int sampling_start(struct sampling **out, uv_loop_t *loop, const struct sampler_options *o,
                   const struct sampling_handlers *handlers, void *arg, struct error *err)
{
    static const struct child_handlers child = {sampling_read, sampling_tick, sampling_ended};
    char words[SAMPLER_WORDS][24];
    const char *all[SAMPLER_WORDS + 2] = {"sampler"};
    struct sampling *s = alloc_zero(1, sizeof *s);
    sampler_words(words, o);
    for (size_t i = 0; i < SAMPLER_WORDS; i++)
        all[i + 1] = words[i];
    const struct child_start start = {
        .purpose = "for the sampler", .words = all, .flags = CHILD_INPUT | CHILD_OUTPUT};
    s->handlers = handlers;
    s->arg = arg;
    s->for_ticks = o->for_s > 0 ? (unsigned)o->for_s + 1 : 0;
    const int rc = child_start(&s->child, loop, &start, &child, s, err);
    if (rc != 0) {
        free(s);
        return rc;
    }
    s->records = records_new();
    *out = s;
    return 0;
}

void sampling_stop(struct sampling *s)
{
    if (s && s->stopped) {
        s->killed = true;
        child_kill(s->child);
    } else if (s) {
        s->stopped = true;
        child_end_input(s->child);
    }
}

void sampling_leave(struct sampling *s)
{
    if (!s)
        return;
    s->handlers = NULL;
    if (!s->stopped)
        sampling_stop(s);
}

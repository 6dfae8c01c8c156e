/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop pstack`: what each scheduler of a VM does at this moment, seen from outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/tell.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/output/samples_sink.h"
#include "sample_run.h"

/* A thread that runs has a sample within a few ms of CPU time, on a busy host within a few more. */
#define LOOK_S 0.1
#define WAIT_S 10.0

/* The first stacks of the threads, by their number. */
struct first_stacks {
    struct sample *samples; /* mono_ns is 0: none yet; the frames are ours */
    size_t n;
};

static bool is_scheduler(enum thread_kind kind)
{
    return kind == THREAD_SCHEDULER || kind == THREAD_DIRTY_CPU || kind == THREAD_DIRTY_IO;
}

static bool has_stack(const struct first_stacks *f, size_t thread)
{
    return thread < f->n && f->samples[thread].frames;
}

/* With --wait: each scheduler ran once. */
static bool all_ran(const struct sample_run *t, const struct first_stacks *f)
{
    for (size_t i = 0; i < sampled_threads(t->sampled); i++)
        if (sampled_thread(t->sampled, i)->kind == THREAD_SCHEDULER && !has_stack(f, i))
            return false;
    return true;
}

static bool keep_first(struct sample_run *t, const struct sample *sample)
{
    struct first_stacks *f = t->arg;
    const size_t n = sampled_threads(t->sampled);
    if (f->n < n) {
        f->samples = alloc_resize(f->samples, n, sizeof *f->samples);
        memset(f->samples + f->n, 0, (n - f->n) * sizeof *f->samples);
        f->n = n;
    }
    if (has_stack(f, sample->thread) || (sample->flags & SAMPLE_MOVED_ON))
        return true;
    uint32_t *frames = alloc_zero(sample->n_frames + 1, sizeof *frames);
    f->samples[sample->thread] = *sample;
    f->samples[sample->thread].n_frames = sampled_frames(t->sampled, sample, frames, NULL);
    f->samples[sample->thread].frames = frames;
    f->samples[sample->thread].addresses = NULL;
    return !t->options->wait || !all_ran(t, f);
}

/* ---- what is printed */

struct line {
    char name[48], why[96];
};

static void why_idle(char *out, size_t size, pid_t pid, pid_t tid)
{
    struct thread_times times;
    thread_times_read(&times, pid, tid);
    if (times.state == 'R')
        snprintf(out, size, "ready, but it had no CPU");
    else
        snprintf(out, size, "%s%s%s", times.state == 'D' ? "blocked in the kernel" : "idle",
                 times.waits_in[0] ? ": waits in " : "", times.waits_in);
}

static void put_stacks(struct sample_run *t, const struct thread_stack *all, size_t n,
                       struct buf *out)
{
    const struct sample_frames frames = sample_frames_of(sampled_stacks(t->sampled));
    if (t->options->format == FORMAT_JSON)
        stack_json(out, slice_of(t->options->target), t->summary.wall_us, all, n, &frames);
    for (size_t i = 0; t->options->format != FORMAT_JSON && i < n; i++)
        stack_text(out, all + i, &frames, t->options->ascii || !t->env->utf8);
}

static int put_thread_stacks(struct sample_run *t)
{
    const struct first_stacks *f = t->arg;
    const size_t threads = sampled_threads(t->sampled);
    struct thread_stack *all = alloc_zero(threads + 1, sizeof *all);
    struct line *lines = alloc_zero(threads + 1, sizeof *lines);
    struct buf text;
    size_t n = 0;
    for (size_t i = 0; i < threads; i++) {
        const struct thread *thread = sampled_thread(t->sampled, i);
        const bool ran = has_stack(f, i);
        if (!t->options->all && (!ran || !is_scheduler(thread->kind)))
            continue;
        thread_title(lines[n].name, sizeof lines[n].name, thread);
        if (!ran)
            why_idle(lines[n].why, sizeof lines[n].why, t->sampler.pid, thread->tid);
        all[n] = (struct thread_stack){.thread = slice_of(lines[n].name),
                                       .why = slice_of(lines[n].why),
                                       .tid = thread->tid,
                                       .sample = ran ? f->samples + i : NULL};
        if (ran)
            all[n].name = sampled_name_of(t->sampled, f->samples + i);
        n++;
    }
    buf_init(&text, 0);
    put_stacks(t, all, n, &text);
    if (n == 0)
        tell_line("no scheduler ran within %.1f s: --all lists all threads, --wait waits for each",
                  t->sampler.for_s);
    int code = output_put(&text);
    buf_clear(&text);
    free(all);
    free(lines);
    return code;
}

int command_pstack(const struct cli_options *o, const struct app_env *env)
{
    struct first_stacks f = {0};
    struct sample_run t = {.options = o, .env = env, .on_sample = keep_first, .arg = &f};
    struct error err = {0};
    if (sample_run_options(&t, &err) != 0)
        return tell_error(&err);
    t.sampler.hz = SAMPLER_HZ_MAX;
    t.sampler.for_s = o->wait ? WAIT_S : LOOK_S;
    t.sampler.lines = true;
    int code = sample_run(&t, put_thread_stacks);
    for (size_t i = 0; i < f.n; i++)
        free((void *)(uintptr_t)f.samples[i].frames);
    free(f.samples);
    return code;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop sample`: where the CPU time of a VM of this host goes, seen from outside. */
#include <stdio.h>
#include <string.h>

#include "app/fleet/fleet.h"
#include "app/cli/commands.h"
#include "app/cli/output_file.h"
#include "app/cli/tell.h"
#include "app/source/replay.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/local/ladder.h"
#include "beamtop/output/samples_sink.h"
#include "sample_run.h"

/* Event by event: with `perf script` the time line is what is wanted. */
static bool put_sample_event(struct sample_run *t, const struct sample *sample)
{
    uint32_t ids[LIMIT_SAMPLE_FRAMES];
    uint64_t addresses[LIMIT_SAMPLE_FRAMES];
    struct error err = {0};
    struct sample event = *sample;
    struct buf text;
    const struct sample_frames frames = sample_frames_of(sampled_stacks(t->sampled));
    event.n_frames = sampled_frames(t->sampled, sample, ids, addresses);
    event.frames = ids;
    event.addresses = addresses;
    buf_init(&text, 0);
    samples_perf_script(&text, sampled_thread(t->sampled, sample->thread)->name,
                        (int)t->sampler.pid, &event, &frames);
    int rc = sink_output_put(t->arg, (const char *)text.data, text.len, &err);
    buf_clear(&text);
    return rc == 0;
}

static enum samples_format sample_format_of(enum cli_format format)
{
    return format == FORMAT_JSON         ? SAMPLES_JSON
           : format == FORMAT_FOLDED     ? SAMPLES_FOLDED
           : format == FORMAT_SPEEDSCOPE ? SAMPLES_SPEEDSCOPE
           : format == FORMAT_HTML       ? SAMPLES_HTML
                                         : SAMPLES_TEXT;
}

#define UNNAMED_SHARE 0.2 /* that is said */

/* Samples that end in the VM's own code where no symbol names it: "[beam.smp]". */
static double unnamed_share(const struct samples_summary *run)
{
    double sum = 0;
    for (uint32_t i = 1; i < stacks_nodes(run->stacks); i++) {
        const struct stacks_node *node = stacks_node(run->stacks, i);
        const struct sample_frame *f = stacks_frame_at(run->stacks, node->frame);
        if (f->kind == FRAME_RUNTIME && slice_begins(f->name, "["))
            sum += node->self;
    }
    return run->samples > 0 ? sum / (double)run->samples : 0;
}

static void tell_unnamed(const struct sample_run *t)
{
    const double share = unnamed_share(&t->summary);
    if (t->begin.stripped && share >= UNNAMED_SHARE)
        tell_line("%.0f%% of the samples end in functions of the VM without a name: its symbols "
                  "are stripped. Garbage collection, copies and BIFs may be among them. Install "
                  "its debug symbols",
                  share * 100);
}

static int put_sample_run(struct sample_run *t)
{
    struct error err = {0};
    const struct samples_options options = {
        .format = sample_format_of(t->options->format),
        .ascii = t->options->ascii || !t->env->utf8,
        .callers = t->options->callers,
        .rows = t->options->top_given ? (size_t)t->options->top : 0,
    };
    if (t->options->format == FORMAT_PERF_SCRIPT)
        return EXIT_DONE;
    samples_put(t->arg, &t->summary, &options, &err);
    tell_unnamed(t);
    if (t->options->pid && t->summary.samples == 0)
        tell_line("%s was not seen: it did not run in that time, or there is no such process",
                  t->options->pid);
    return EXIT_DONE; /* a write that failed is found by output_check() */
}

static const char *native_names(const struct record_begin *b)
{
    if (!b->symbols)
        return "of libraries only: the VM has no symbol table";
    return b->stripped
               ? "of functions that the VM exports: its symbols are stripped, and its other "
                 "functions are [beam.smp] (install its debug symbols)"
               : "of the VM's own functions too";
}

static int put_sample_check(struct sample_run *t)
{
    const struct record_begin *b = &t->begin;
    const struct samples_summary *run = &t->summary;
    char took[32];
    const double all = run->samples > 0 ? (double)run->samples : 1;
    const double complete = (double)run->complete / all;
    printf("compiled code   %u functions%s\n", b->functions,
           b->functions == 0 ? ""
           : b->by_symbol    ? ", listed by a symbol of the VM"
                             : ", list found in the VM's memory");
    if (b->functions > 0)
        printf("Erlang stacks   %s; stack pointer at offset %u of a process\n",
               b->frame_pointers ? "with frame pointers" : "return addresses only", b->stop_offset);
    printf("native names    %s\n", native_names(b));
    printf("readers         %u CPUs, %s, %s\n", b->cpus,
           b->pinned ? "one pinned to each" : "not pinned: samples move on more often",
           b->real_time ? "before all others (SCHED_FIFO)"
                        : "as any thread (SCHED_FIFO needs CAP_SYS_NICE)");
    printf("set up in       %s\n", text_duration(took, sizeof took, (double)b->setup_us / 1e6));
    printf("samples         %lld of %u threads, %lld lost\n", (long long)run->samples, b->threads,
           (long long)run->lost);
    printf("stacks          %.1f%% complete, %.1f%% moved on, %.1f%% truncated, %.1f%% "
           "unresolved\n",
           complete * 100, (double)run->moved_on / all * 100, (double)run->truncated / all * 100,
           (double)run->unresolved / all * 100);
    if (run->samples == 0)
        puts("warning: the VM used no CPU time while it was sampled");
    else if (complete < 0.5)
        puts("warning: fewer than half of the stacks are complete; trust self shares only");
    return EXIT_DONE;
}

static int check_sample(const struct cli_options *o, struct error *err)
{
    if (o->check && o->output)
        return error_set(err, ERR_USAGE,
                         "what --check shows goes to standard output: leave out -o");
    if ((o->check || o->skid) && o->format != FORMAT_TEXT)
        return error_set(err, ERR_USAGE, "%s is printed as text only: leave out --format",
                         o->check ? "--check" : "--skid-summary");
    return 0;
}

/* What only a look from outside knows. */
static int check_remote(const struct cli_options *o, struct error *err)
{
    const char *word = o->lines                          ? "--lines"
                       : o->scheduler > 0                ? "--scheduler"
                       : o->thread                       ? "--thread"
                       : o->pid                          ? "--pid"
                       : o->check                        ? "--check"
                       : o->hz != SAMPLER_HZ             ? "--hz"
                       : o->skid                         ? "--skid-summary"
                       : o->format == FORMAT_PERF_SCRIPT ? "--format perf-script"
                                                         : NULL;
    if (o->remote && word)
        return error_set(err, ERR_USAGE, "%s is not known with --remote: the node itself looks",
                         word);
    if (!o->remote && fleet_is_meant(o->target) && !replay_is_file(o->target))
        return error_set(err, ERR_USAGE, "several nodes are sampled with --remote");
    if (o->remote && replay_is_file(o->target))
        return error_set(err, ERR_USAGE, "%s is a recording: only a live node is sampled",
                         o->target);
    return 0;
}

static void put_step(const char *name, const struct error *why, const char *yes)
{
    printf("%-16s%s%s\n", name, why->code ? "no: " : "yes", why->code ? why->text : yes);
}

/* The ways to look at it, the one that shows most first. */
static void put_ladder(const char *target, pid_t pid)
{
    struct ladder ladder;
    char from_proc[LIMIT_NODE_NAME_BYTES + 80];
    if (!strchr(target, '@'))
        target = "NODE";
    ladder_try(&ladder, pid);
    snprintf(from_proc, sizeof from_proc, ": `beamtop cpus %s`, CPU time of each scheduler thread",
             target);
    if (strcmp(ladder.stacks.text, ladder.addresses.text) == 0 && ladder.addresses.code)
        snprintf(ladder.addresses.text, sizeof ladder.addresses.text, "for the same reason");
    put_step("with stacks", &ladder.stacks, "");
    put_step("by address", &ladder.addresses, ", where there are no stacks");
    printf("by the node     `beamtop sample %s --remote`: stacks of its busiest processes, at "
           "yield points\n",
           target);
    put_step("from /proc", &ladder.times, from_proc);
}

/* With -o nothing stands under that name until the run is complete. */
static int run_into_file(struct sample_run *t, struct sink_output *output)
{
    const struct cli_options *o = t->options;
    struct output_file out;
    struct error err = {0};
    if (output_file_open(&out, o->output, &err) != 0)
        return tell_error(&err);
    output->writer = sink_writer_of(out.to);
    int code = sample_run(t, o->check ? put_sample_check : put_sample_run);
    if (!t->ended)
        error_set(&err, ERR_CANCELLED, "nothing was sampled");
    if (!o->output) /* sample_run() has said what became of it */
        return code;
    if (output_file_close(&out, &err) != 0 && t->ended)
        code = tell_error(&err);
    return code;
}

int command_sample(const struct cli_options *o, const struct app_env *env)
{
    struct sink_output output = {0};
    struct sample_run t = {.options = o, .env = env, .arg = &output};
    struct error err = {0};
    if (check_sample(o, &err) != 0 || check_remote(o, &err) != 0 ||
        sample_run_options(&t, &err) != 0)
        return tell_error(&err);
    t.may_be_remote = strchr(o->target, '@') != NULL;
    t.sums.prologues = o->skid;
    t.sums.by_thread = o->format == FORMAT_SPEEDSCOPE;
    t.sampler.addresses = o->format == FORMAT_PERF_SCRIPT;
    t.on_sample = o->format == FORMAT_PERF_SCRIPT ? put_sample_event : NULL;
    int code = run_into_file(&t, &output);
    if (o->check && t.sampler.pid > 0)
        put_ladder(o->target, t.sampler.pid);
    return code;
}

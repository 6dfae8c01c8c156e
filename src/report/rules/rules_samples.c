/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules over samples: shares of the VM's CPU time. What counts is the lower end of the share's 95%
 * interval, so few samples find nothing that more of them would not. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/model/frame_group.h"
#include "report/rules/rules_internal.h"

#define LEAST_SAMPLES 400 /* a share of a quarter is known to ±4.2 points then */
#define GC_SHARE 0.25
#define COPY_SHARE 0.15
#define NIF_SHARE 0.20
#define CALLERS 3 /* that are named */

static bool are_enough(struct judge *j)
{
    if (j->samples.run.samples >= LEAST_SAMPLES)
        return true;
    judge_unknown(j, "only %lld samples were recorded, %d are needed",
                  (long long)j->samples.run.samples, LEAST_SAMPLES);
    return false;
}

/* The Erlang functions that are next above: the heaviest, each with its share. */
static void name_callers(struct judge *j, struct finding *f, frame_test *test, const void *of)
{
    const struct stacks *s = j->samples.stacks;
    const size_t n = stacks_frames(s);
    double *callers = alloc_zero(n + 1, sizeof *callers);
    (void)frames_weight(s, test, of, callers, NULL);
    for (int k = 0; k < CALLERS; k++) {
        uint32_t most = 0;
        for (uint32_t i = 1; i < n; i++)
            most = callers[i] > callers[most] ? i : most;
        const double share = n > 0 ? callers[most] / (double)j->samples.run.samples : 0;
        if (!(share >= 0.01))
            break;
        const char *name = judge_slice(j, stacks_frame_at(s, most)->name);
        judge_evidence(j, f, "caller", share, "share", "called by %s: %s of the CPU time", name,
                       judge_percent(j, share));
        callers[most] = 0;
    }
    free(callers);
}

/* NULL: the share is not certainly above the limit. */
static struct finding *find_share(struct judge *j, double weight, double limit, const char *what,
                                  const char *title)
{
    const double n = (double)j->samples.run.samples, share = weight / n;
    const double error = sample_error(share, n);
    if (!(share - error >= judge_limit(j, limit)))
        return NULL;
    struct finding *f = judge_find(j, FINDING_LOOK, share, limit);
    f->title = judge_text(j, "%s: %s of the CPU time", title, judge_percent(j, share));
    judge_evidence(j, f, "share", share, "share",
                   "%s: %.1f%% ± %.1f of %s samples (95%% interval, %lld %s, %.0f s)", what,
                   share * 100, error * 100, judge_number(j, n), (long long)j->samples.runs,
                   j->samples.runs == 1 ? "run" : "runs", j->samples.run.seconds);
    return f;
}

/* "[beam.smp]" stands for all functions of a file without a symbol table. Those that libraries call
 * have names there too, since the dynamic linker needs them: they say nothing of the others. */
static bool are_named(const struct stacks *s)
{
    static const char *const for_libraries[] = {"[", "enif_", "erl_", "driver_"};
    for (uint32_t i = 1; i < stacks_nodes(s); i++) {
        const struct sample_frame *f = stacks_frame_at(s, stacks_node(s, i)->frame);
        bool named = f->kind == FRAME_RUNTIME;
        for (size_t k = 0; named && k < ARRAY_LEN(for_libraries); k++)
            named = !slice_begins(f->name, for_libraries[k]);
        if (named)
            return true;
    }
    return false;
}

/* Dirty schedulers collect for processes with large heaps, and only names show that there. */
static bool may_hide_gc(const struct judge *j, int64_t gc)
{
    const int64_t runtime = j->samples.run.classes[SAMPLE_RUNTIME];
    return runtime > 0 && !are_named(j->samples.stacks) &&
           (double)(gc + runtime) / (double)j->samples.run.samples >= judge_limit(j, GC_SHARE);
}

void judge_gc_cpu(struct judge *j)
{
    if (!are_enough(j))
        return;
    const int64_t gc = j->samples.run.classes[SAMPLE_GC];
    if (gc < 0) {
        judge_unknown(j, "the class of the samples was not recorded");
        return;
    }
    struct finding *f = find_share(j, (double)gc, GC_SHARE, "in garbage collection",
                                   "Garbage collection is expensive");
    if (!f && may_hide_gc(j, gc))
        judge_unknown(j, "the VM's own functions have no names in the samples, and work of dirty "
                         "schedulers may be garbage collection");
    if (!f)
        return;
    f->action = "Build fewer and smaller terms in the top callers (beamtop blame NODE gc). Then "
                "give processes that allocate much a larger min_heap_size";
    f->ruled_out_if =
        "The share is below 25% in a later run (beamtop sample NODE): a burst or a start-up";
    name_callers(j, f, frame_group_has, frame_group_find("gc"));
}

void judge_copy_cpu(struct judge *j)
{
    if (!are_enough(j))
        return;
    if (!are_named(j->samples.stacks)) {
        judge_unknown(j, "the VM's own functions have no names in the samples");
        return;
    }
    const struct frame_group *copies = frame_group_find("copies");
    const double weight = frames_weight(j->samples.stacks, frame_group_has, copies, NULL, NULL);
    struct finding *f = find_share(j, weight, COPY_SHARE, "in copies of messages and terms",
                                   "Copying of messages and terms is expensive");
    if (!f)
        return;
    f->action = "Send and store less: keys, references or refc binaries instead of large terms "
                "(beamtop blame NODE copies names the callers)";
    f->ruled_out_if = "The callers copy on purpose: a snapshot or an export that ends (beamtop "
                      "blame NODE copies)";
    name_callers(j, f, frame_group_has, copies);
}

/* The library with the largest weight of stacks in which it is the first one below Erlang code:
 * that is what was called, whatever other libraries it calls; of the findings. */
static const char *leading_library(struct judge *j, double *weight)
{
    const struct stacks *s = j->samples.stacks;
    struct stacks *libraries = stacks_new(); /* for its frames: an id for each library */
    double *sums = alloc_zero(stacks_frames(s) + 1, sizeof *sums);
    uint32_t *below = alloc_zero(stacks_nodes(s), sizeof *below); /* id + 1; 0: none until there */
    uint32_t most = 0;
    for (uint32_t i = 1; i < stacks_nodes(s); i++) {
        const struct stacks_node *node = stacks_node(s, i);
        const struct sample_frame *f = stacks_frame_at(s, node->frame);
        const struct sample_frame library = {.kind = FRAME_NIF, .name = f->object};
        below[i] = f->kind == FRAME_ERLANG ? 0 : below[node->parent];
        if (f->kind == FRAME_NIF && below[i] == 0)
            below[i] = stacks_frame(libraries, &library) + 1;
        if (below[i] > 0)
            sums[below[i] - 1] += node->self;
    }
    for (uint32_t id = 1; id < stacks_frames(libraries); id++)
        most = sums[id] > sums[most] ? id : most;
    *weight = sums[most];
    const char *name = *weight > 0 ? judge_slice(j, stacks_frame_at(libraries, most)->name) : "";
    free(below);
    free(sums);
    stacks_free(libraries);
    return name;
}

static bool is_of_library(const void *name, const struct sample_frame *f)
{
    return f->kind == FRAME_NIF && slice_is(f->object, name);
}

void judge_nif_cpu(struct judge *j)
{
    double weight;
    if (!are_enough(j))
        return;
    const char *name = leading_library(j, &weight);
    struct finding *f = find_share(j, weight, NIF_SHARE, judge_text(j, "in NIF library %s", name),
                                   judge_text(j, "NIF library %s is busy", name));
    if (!f)
        return;
    f->subject = name;
    f->action = judge_text(j,
                           "Call it less: batch calls, or keep its results (beamtop blame NODE %s "
                           "names the callers). Calls above 1 ms belong on dirty schedulers",
                           name);
    f->ruled_out_if = "This work is what the node is for, and its calls are short";
    name_callers(j, f, is_of_library, name);
}

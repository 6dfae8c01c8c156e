/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A finished run as one object. The tree is a list of nodes that name their parent: however deep
 * it is, no reader has to recurse. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/output/json.h"
#include "samples.h"

#define ROW struct samples_summary
static const struct field run_table[] = {
    FIELD("node", TEXT, label, "the node, or \"OS process N\""),
    FIELD("otp", TEXT, otp, "its OTP release"),
    FIELD("wall_us", COUNT, wall_us, "the start by this host's clock, µs since the epoch"),
    FIELD("seconds", SECONDS, seconds, "how long it was sampled"),
    FIELD("hz", RATE, hz, "samples per second of a thread's CPU time"),
    FIELD("at_yields", BOOL, at_yields,
          "taken by the node where processes yield: `self` and `total` are reductions"),
    FIELD("samples", COUNT, samples, "of all threads"),
    FIELD("lost", COUNT, lost, "that the kernel had no room for; not in `samples`"),
    FIELD("moved_on", COUNT, moved_on,
          "of `samples`, without Erlang frames: the thread ran on while its stack was read"),
    FIELD("truncated", COUNT, truncated,
          "of `samples`, with a stack deeper than what was copied: its root is missing"),
    FIELD("unresolved", COUNT, unresolved,
          "of `samples`, with native frames that could not be followed to Erlang code"),
    FIELD("complete", COUNT, complete,
          "of `samples`, with the stack down to the first function of the process or thread"),
    FIELD("sampler_cpu_s", SECONDS, sampler_cpu_s, "CPU time of the sampler"),
    FIELD("target_cpu_s", SECONDS, target_cpu_s, "CPU time of the VM"),
};
FIELD_LIST(samples_run_fields, "run", run_table);
#undef ROW

/* A row of what samples are summed by. */
struct sum {
    struct slice name, more;
    int64_t samples;
    double share;
    int64_t moves; /* -1: not known */
};
#define ROW struct sum
#define SUM                                                                                        \
    FIELD("samples", COUNT, samples, "its samples"), FIELD("share", SHARE, share, "of all samples"),
#define MOVES(place)                                                                               \
    FIELD("moves", COUNT, moves, "samples that were on another " place " than the one before"),
static const struct field class_table[] = {
    FIELD("class", TEXT, name,
          "`erlang`, `bif`, `gc`, `runtime`, `nif`, `scheduler` (no process) or `other`"),
    SUM};
FIELD_LIST(samples_class_fields, "classes", class_table);

static const struct field code_table[] = {FIELD("code", TEXT, name,
                                                "what the innermost frame is: `erlang`, `jit`, "
                                                "`bif`, `runtime`, `nif`, `libc` or `unknown`"),
                                          SUM};
FIELD_LIST(samples_code_fields, "codes", code_table);

static const struct field kind_table[] = {
    FIELD("kind", TEXT, name, "of threads: `scheduler`, `dirty_cpu`, …"), SUM};
FIELD_LIST(samples_kind_fields, "thread_kinds", kind_table);

static const struct field process_table[] = {
    FIELD("pid", TEXT, name, "the Erlang process"),
    FIELD("name", TEXT, more, "its registered name or label"), SUM MOVES("thread")};
FIELD_LIST(samples_process_fields, "processes", process_table);

static const struct field thread_table[] = {FIELD("thread", TEXT, name, "a thread of the VM"),
                                            FIELD("kind", TEXT, more, "its kind"),
                                            SUM MOVES("CPU")};
FIELD_LIST(samples_thread_fields, "threads", thread_table);

static const struct field place_table[] = {
    FIELD("place", TEXT, name, "of a thread: `CPU 0`; of a process: the thread, `scheduler 1`"),
    FIELD("samples", COUNT, samples, "its samples there"),
    FIELD("share", SHARE, share, "of its samples"),
};
FIELD_LIST(samples_place_fields, "places", place_table);
#undef MOVES
#undef SUM
#undef ROW

#define ROW struct samples_held
static const struct field held_table[] = {
    FIELD("call", TEXT, call,
          "the BIF, the function of the NIF library, or `global::garbage_collect`"),
    FIELD("object", TEXT, object, "of a NIF: its library"),
    FIELD("caller", TEXT, caller, "the Erlang function that called it"),
    FIELD("pid", TEXT, process, "the Erlang process"),
    FIELD("name", TEXT, name, "its registered name or label"),
    FIELD("thread", TEXT, thread, "the normal scheduler that it held"),
    FIELD("seconds", SECONDS, seconds, "from its first sample to its last: it lasted longer"),
    FIELD("samples", COUNT, samples, "of that one call, 2 or more"),
};
FIELD_LIST(samples_held_fields, "held", held_table);
#undef ROW

struct function {
    struct slice name, kind, object, file;
    int64_t line, self, total;
    double self_share, self_error, total_share;
};
#define ROW struct function
#define FRAME                                                                                      \
    FIELD("function", TEXT, name,                                                                  \
          "`module:function/arity`, `global::fragment` or a native symbol"),                       \
        FIELD("kind", TEXT, kind,                                                                  \
              "`erlang`, `jit`, `bif`, `runtime`, `nif`, `libc` or `unknown`"),                    \
        FIELD("object", TEXT, object, "of native code: its file"),                                 \
        FIELD("file", TEXT, file, "of Erlang code, where it is known"),                            \
        FIELD("line", COUNT, line, "the line there")
static const struct field function_table[] = {
    FRAME,
    FIELD("self", COUNT, self, "samples in it"),
    FIELD("total", COUNT, total, "samples in it or in what it called"),
    FIELD("self_share", SHARE, self_share, "`self` over all samples"),
    FIELD("self_error", SHARE, self_error, "half of the 95% interval of `self_share`"),
    FIELD("total_share", SHARE, total_share, "`total` over all samples"),
};
FIELD_LIST(samples_function_fields, "functions", function_table);
static const struct field frame_table[] = {FRAME};
FIELD_LIST(stack_frame_fields, "frames", frame_table);
#undef FRAME
#undef ROW

struct tree_row {
    int64_t parent, function, self, total;
};
#define ROW struct tree_row
static const struct field tree_table[] = {
    FIELD("parent", COUNT, parent,
          "index in this list, below its own; null: the root of all stacks"),
    FIELD("function", COUNT, function, "index in `functions`; null: of the root"),
    FIELD("self", COUNT, self, "samples of which the stack ends here"),
    FIELD("total", COUNT, total, "with all below"),
};
FIELD_LIST(samples_tree_fields, "tree", tree_table);
#undef ROW

static void add(json_t *array, const struct field_list *list, const void *row)
{
    const struct section section = {list, list->name, row};
    json_array_append_new(array, json_section(&section));
}

static void add_sum(json_t *array, const struct field_list *list, struct slice name, double samples,
                    double whole)
{
    const struct sum row = {
        .name = name, .samples = llround(samples), .share = samples_share(samples, whole)};
    add(array, list, &row);
}

static json_t *classes_of(const struct samples_summary *run)
{
    json_t *array = json_array();
    for (int i = 0; !run->at_yields && i < SAMPLE_CLASSES; i++)
        add_sum(array, &samples_class_fields, slice_of(sample_class_key((enum sample_class)i)),
                (double)run->classes[i], (double)run->samples);
    return array;
}

static json_t *codes_of(const struct samples_summary *run)
{
    json_t *array = json_array();
    double codes[FRAME_KINDS];
    samples_by_code(run, codes);
    for (int i = 0; !run->at_yields && i < FRAME_KINDS; i++)
        add_sum(array, &samples_code_fields, slice_of(frame_kind_key((enum frame_kind)i)), codes[i],
                stacks_total(run->stacks));
    return array;
}

static json_t *thread_kinds_of(const struct samples_summary *run)
{
    json_t *array = json_array();
    struct samples_source kinds[SAMPLES_THREAD_KINDS];
    const size_t n = samples_by_thread_kind(run, kinds);
    for (size_t i = 0; i < n; i++)
        add_sum(array, &samples_kind_fields, kinds[i].name, (double)kinds[i].samples,
                (double)run->samples);
    return array;
}

static json_t *places_of(const struct samples_source *of)
{
    json_t *array = json_array();
    for (size_t i = 0; i < of->n_places; i++) {
        const struct sum row = {
            .name = of->places[i].name,
            .samples = of->places[i].samples,
            .share = samples_share((double)of->places[i].samples, (double)of->samples)};
        add(array, &samples_place_fields, &row);
    }
    return array;
}

static json_t *sources_of(const struct field_list *list, const struct samples_source *sources,
                          size_t n, int64_t all)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct samples_source *of = &sources[i];
        const struct sum row = {of->name, of->about, of->samples,
                                samples_share((double)of->samples, (double)all),
                                of->n_places > 0 ? of->moves : -1};
        const struct section section = {list, list->name, &row};
        json_t *object = json_section(&section);
        json_object_set_new(object, "places", places_of(of));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *held_of(const struct samples_summary *run)
{
    if (!run->held)
        return json_null();
    json_t *array = json_array();
    for (size_t i = 0; i < run->n_held; i++)
        add(array, &samples_held_fields, &run->held[i]);
    return array;
}

static struct function function_of(const struct sample_frame *f)
{
    return (struct function){.name = f->name,
                             .kind = slice_of(frame_kind_key(f->kind)),
                             .object = f->object,
                             .file = f->file,
                             .line = f->line > 0 ? (int64_t)f->line : -1};
}

/* index_of: by the frame's id, where it stands in the list. */
static json_t *functions_of(const struct samples_summary *run, int64_t *index_of)
{
    json_t *array = json_array();
    size_t n;
    struct stacks_sum *sums = stacks_sums(run->stacks, &n);
    double whole = stacks_total(run->stacks);
    for (size_t i = 0; i < n; i++) {
        struct function row = function_of(sums[i].at);
        row.self = llround(sums[i].self);
        row.total = llround(sums[i].total);
        row.self_share = samples_share(sums[i].self, whole);
        row.self_error = samples_error(run, row.self_share);
        row.total_share = samples_share(sums[i].total, whole);
        add(array, &samples_function_fields, &row);
        index_of[sums[i].frame] = (int64_t)i;
    }
    free(sums);
    return array;
}

static json_t *tree_of(const struct stacks *s, const int64_t *index_of)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < stacks_nodes(s); i++) {
        const struct stacks_node *node = stacks_node(s, i);
        const struct tree_row row = {i > 0 ? (int64_t)node->parent : -1,
                                     i > 0 ? index_of[node->frame] : -1, llround(node->self),
                                     llround(node->total)};
        add(array, &samples_tree_fields, &row);
    }
    return array;
}

void samples_json_put(struct sink_pieces *out, const struct samples_summary *run)
{
    json_t *root = json_object();
    const struct section fields = {&samples_run_fields, "run", run};
    int64_t *index_of = alloc_zero(stacks_frames(run->stacks) + 1, sizeof *index_of);
    json_object_set_new(root, "schema", json_string("beamtop.sample/1"));
    json_add_section(root, &fields);
    json_object_set_new(root, "shortened", json_integer(llround(stacks_shortened(run->stacks))));
    json_object_set_new(root, "classes", classes_of(run));
    json_object_set_new(root, "codes", codes_of(run));
    json_object_set_new(root, "thread_kinds", thread_kinds_of(run));
    json_object_set_new(
        root, "processes",
        sources_of(&samples_process_fields, run->processes, run->n_processes, run->samples));
    json_object_set_new(
        root, "threads",
        sources_of(&samples_thread_fields, run->threads, run->n_threads, run->samples));
    json_object_set_new(root, "held", held_of(run));
    json_object_set_new(root, "functions", functions_of(run, index_of));
    json_object_set_new(root, "tree", tree_of(run->stacks, index_of));
    free(index_of);
    json_put_line(&out->buf, root);
}

/* ---- stacks of this moment */

static json_t *frames_of(const struct sample *sample, const struct sample_frames *frames)
{
    json_t *array = json_array();
    for (size_t i = sample->n_frames; i-- > 0;) {
        const struct sample_frame *f = frames->at(frames->ctx, sample->frames[i]);
        const struct sample_frame none = {.kind = FRAME_UNKNOWN, .name = slice_of("[unknown]")};
        const struct function row = function_of(f ? f : &none);
        add(array, &stack_frame_fields, &row);
    }
    return array;
}

struct thread_row {
    struct slice thread, pid, name, in, why;
    int64_t tid;
    bool complete, truncated, moved_on, unresolved;
};
#define ROW struct thread_row
static const struct field stack_table[] = {
    FIELD("thread", TEXT, thread, "a thread of the VM"),
    FIELD("tid", COUNT, tid, "its number in the operating system"),
    FIELD("pid", TEXT, pid, "the Erlang process that it runs"),
    FIELD("name", TEXT, name, "its registered name or label"),
    FIELD("class", TEXT, in, "as in `classes` of `sample`"),
    FIELD("why", TEXT, why, "why there is no stack; null: there is one"),
    FIELD("complete", BOOL, complete,
          "whether the stack goes down to the first function of the process or thread"),
    FIELD("truncated", BOOL, truncated, "whether it is deeper than what was copied"),
    FIELD("moved_on", BOOL, moved_on,
          "whether the thread ran on while its Erlang stack was read: it is missing"),
    FIELD("unresolved", BOOL, unresolved,
          "whether its native frames could not be followed to Erlang code"),
};
FIELD_LIST(stack_thread_fields, "threads", stack_table);
#undef ROW

static json_t *thread_of(const struct thread_stack *t, const struct sample_frames *frames)
{
    static const struct sample none = {0};
    char pid[SAMPLES_PID_BYTES];
    const struct sample *sample = t->sample ? t->sample : &none;
    const struct thread_row row = {
        .thread = t->thread,
        .pid = slice_of(samples_pid(sample, pid)),
        .name = t->name,
        .in = t->sample ? slice_of(sample_class_key(sample->in)) : (struct slice){0},
        .why = t->why,
        .tid = t->tid,
        .complete = sample->flags & SAMPLE_COMPLETE,
        .truncated = sample->flags & SAMPLE_TRUNCATED,
        .moved_on = sample->flags & SAMPLE_MOVED_ON,
        .unresolved = sample->flags & SAMPLE_UNRESOLVED,
    };
    const struct section fields = {&stack_thread_fields, "threads", &row};
    json_t *object = json_section(&fields);
    json_object_set_new(object, "frames", frames_of(sample, frames));
    return object;
}

void stack_json(struct buf *out, struct slice label, int64_t wall_us,
                const struct thread_stack *stacks, size_t n, const struct sample_frames *frames)
{
    json_t *root = json_object(), *threads = json_array();
    json_object_set_new(root, "schema", json_string("beamtop.pstack/1"));
    json_object_set_new(root, "node", json_slice(label));
    json_object_set_new(root, "wall_us", json_known(wall_us));
    for (size_t i = 0; i < n; i++)
        json_array_append_new(threads, thread_of(&stacks[i], frames));
    json_object_set_new(root, "threads", threads);
    json_put_line(out, root);
}

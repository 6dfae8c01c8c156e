/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A finished run as one object. The tree is a list of nodes that name their parent: however deep
 * it is, no reader has to recurse. */
#include <math.h>

#include "beamtop/model/samples_fields.h"
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

#define ROW struct samples_row
static const struct field place_table[] = {
    FIELD("place", TEXT, name, "of a thread: `CPU 0`; of a process: the thread, `scheduler 1`"),
    FIELD("samples", COUNT, samples, "its samples there"),
    FIELD("share", SHARE, share, "of its samples"),
};
FIELD_LIST(samples_place_fields, "places", place_table);
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

static json_t *places_of(const struct samples_source *of)
{
    json_t *array = json_array();
    for (size_t i = 0; i < of->n_places; i++) {
        const struct samples_row row = {
            .name = of->places[i].name,
            .samples = of->places[i].samples,
            .share = samples_share((double)of->places[i].samples, (double)of->samples)};
        json_array_append_new(array, json_row(&samples_place_fields, &row));
    }
    return array;
}

static void set_sums(json_t *root, const struct samples_summary *run, enum samples_by by,
                     struct arena *arena)
{
    const struct field_list *list = samples_fields_by[by];
    size_t n;
    const struct samples_row *rows = samples_rows(run, by, false, arena, &n);
    json_t *array = json_rows(list, rows, n, sizeof *rows);
    for (size_t i = 0; i < n && (by == SAMPLES_BY_PROCESS || by == SAMPLES_BY_THREAD); i++)
        json_object_set_new(json_array_get(array, i), "places", places_of(rows[i].of));
    json_object_set_new(root, list->name, array);
}

/* index_of: by the frame's id, where it stands in the list. */
static json_t *functions_json(const struct samples_summary *run, int64_t *index_of,
                              struct arena *arena)
{
    size_t n;
    const struct samples_function *rows =
        samples_functions(run, run->stacks, stacks_total(run->stacks), arena, &n);
    for (size_t i = 0; i < n; i++)
        index_of[rows[i].frame] = (int64_t)i;
    return json_rows(&samples_function_fields, rows, n, sizeof *rows);
}

static json_t *tree_of(const struct stacks *s, const int64_t *index_of)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < stacks_nodes(s); i++) {
        const struct stacks_node *node = stacks_node(s, i);
        const struct tree_row row = {i > 0 ? (int64_t)node->parent : -1,
                                     i > 0 ? index_of[node->frame] : -1, llround(node->self),
                                     llround(node->total)};
        json_array_append_new(array, json_row(&samples_tree_fields, &row));
    }
    return array;
}

void samples_json_put(struct sink_pieces *out, const struct samples_summary *run)
{
    json_t *root = json_object();
    static const enum samples_by sums[] = {SAMPLES_BY_CLASS, SAMPLES_BY_CODE, SAMPLES_BY_KIND,
                                           SAMPLES_BY_PROCESS, SAMPLES_BY_THREAD};
    struct arena arena;
    arena_init(&arena);
    int64_t *index_of = arena_alloc(&arena, (stacks_frames(run->stacks) + 1) * sizeof *index_of);
    json_object_set_new(root, "schema", json_string("beamtop.sample/1"));
    json_add_fields(root, &samples_run_fields, run);
    json_object_set_new(root, "shortened", json_integer(llround(stacks_shortened(run->stacks))));
    for (size_t i = 0; i < ARRAY_LEN(sums); i++)
        set_sums(root, run, sums[i], &arena);
    json_object_set_new(
        root, "held",
        run->held ? json_rows(&samples_held_fields, run->held, run->n_held, sizeof *run->held)
                  : json_null());
    json_object_set_new(root, "functions", functions_json(run, index_of, &arena));
    json_object_set_new(root, "tree", tree_of(run->stacks, index_of));
    arena_clear(&arena);
    json_put_line(&out->buf, root);
}

/* ---- stacks of this moment */

static json_t *frames_of(const struct sample *sample, const struct sample_frames *frames)
{
    json_t *array = json_array();
    for (size_t i = sample->n_frames; i-- > 0;) {
        const struct sample_frame *f = frames->at(frames->ctx, sample->frames[i]);
        const struct sample_frame none = {.kind = FRAME_UNKNOWN, .name = slice_of("[unknown]")};
        const struct samples_function row = samples_function_of(f ? f : &none);
        json_array_append_new(array, json_row(&stack_frame_fields, &row));
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

static json_t *thread_json(const struct thread_stack *t, const struct sample_frames *frames)
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
    json_t *object = json_row(&stack_thread_fields, &row);
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
        json_array_append_new(threads, thread_json(&stacks[i], frames));
    json_object_set_new(root, "threads", threads);
    json_put_line(out, root);
}

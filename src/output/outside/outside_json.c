/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "beamtop/model/outside.h"
#include "beamtop/output/json.h"
#include "output/object_fields.h"
#include "outside.h"

struct outside_row {
    struct slice node, command, user, otp, state, verdict, next;
    int64_t os_pid, wall_us, parent, tracer;
    int64_t resident, peak, swap, limit, limit_used, descriptors, descriptor_limit;
    double uptime, period, cpu, kernel, late;
    int64_t threads_left;
    bool frozen;
};
#define ROW struct outside_row
static const struct field outside_table[] = {
    FIELD("node", TEXT, node, "its name; null: it has none, or none is known"),
    FIELD("os_pid", COUNT, os_pid, "the OS process"),
    FIELD("wall_us", COUNT, wall_us, "this host's clock, µs since the epoch"),
    FIELD("command", TEXT, command, "release, boot script or program"),
    FIELD("user", TEXT, user, "whose process it is"),
    FIELD("otp", TEXT, otp, "its OTP release"),
    FIELD("state", TEXT, state,
          "`running`, `sleeping`, `blocked in the kernel`, `stopped`, `traced` (by a debugger), "
          "`ended` (a zombie, or no longer there), `idle` or `unknown`"),
    FIELD("verdict", TEXT, verdict, "the first line for people"),
    FIELD("next", TEXT, next, "a command to go on with"),
    FIELD("frozen", BOOL, frozen, "whether its cgroup is frozen"),
    FIELD("parent", COUNT, parent, "OS process that started it; 0: it is in another PID namespace"),
    FIELD("tracer", COUNT, tracer, "OS process that traces it as a debugger; 0: none"),
    FIELD("late_s", SECONDS, late, "for so long `/proc` has not answered; 0: it has"),
    FIELD("uptime_s", SECONDS, uptime, "since its start"),
    FIELD("period_s", SECONDS, period, "what `cpu` and rates are measured over"),
    FIELD("cpu", SHARE, cpu, "CPU time in that period; 1: one CPU"),
    FIELD("cpu_kernel", SHARE, kernel, "of that, in the kernel"),
    FIELD("resident_bytes", BYTES, resident, "resident memory"),
    FIELD("peak_bytes", BYTES, peak, "its largest resident memory"),
    FIELD("swap_bytes", BYTES, swap, "in swap"),
    FIELD("limit_bytes", BYTES, limit,
          "the tightest memory limit of its cgroups; null: none was found"),
    FIELD("limit_used_bytes", BYTES, limit_used, "what counts towards it"),
    FIELD("descriptors", COUNT, descriptors, "open files and sockets; null: unknown"),
    FIELD("descriptor_limit", COUNT, descriptor_limit, "how many there may be"),
    FIELD("threads_left", COUNT, threads_left, "threads that were not read in time"),
};
FIELD_LIST(outside_fields, "outside", outside_table);
#undef ROW

struct dump_row {
    struct slice path;
    int64_t bytes;
    double per_s;
    bool regular;
};
#define ROW struct dump_row
static const struct field dump_table[] = {
    FIELD("path", TEXT, path, "the end of its path"),
    FIELD("regular", BOOL, regular, "a file; false: a FIFO"),
    FIELD("bytes", BYTES, bytes, "its size; null of a FIFO"),
    FIELD("bytes_per_s", BYTE_RATE, per_s, "how fast it grows; of a FIFO what the VM writes"),
};
FIELD_LIST(outside_dump_fields, "dump", dump_table);
#undef ROW

#define ROW struct outside_socket
static const struct field socket_table[] = {
    FIELD("address", TEXT, address, "where it listens"),
    FIELD("port", COUNT, port, "its TCP port"),
};
FIELD_LIST(outside_socket_fields, "sockets", socket_table);
#undef ROW

#define ROW struct outside_thread_row
static const struct field thread_table[] = {
    FIELD("thread", TEXT, thread, "`scheduler 1`, or as the kernel has it"),
    FIELD("tid", COUNT, tid, "its number in the operating system"),
    FIELD("state", TEXT, state, "as of the process"),
    FIELD("cpu", SHARE, cpu, "CPU time in the period; 1: one CPU"),
    FIELD("ready", SHARE, ready, "time in which it was ready to run, and had no CPU"),
    FIELD("waits_in", TEXT, waits_in,
          "function of the kernel; null: it runs, or this may not be read"),
};
FIELD_LIST(outside_thread_fields, "threads", thread_table);
#undef ROW

#define ROW struct outside_stack
static const struct field stack_table[] = {
    FIELD("thread", TEXT, thread, "a thread that ran"),
    FIELD("pid", TEXT, process, "the Erlang process that it ran"),
};
FIELD_LIST(outside_stack_fields, "stacks", stack_table);
#undef ROW

#define ROW struct outside_frame
static const struct field frame_table[] = {
    FIELD("function", TEXT, text, "a function, the newest call first"),
    FIELD("place", TEXT, place, "file and line, or the library"),
};
FIELD_LIST(outside_frame_fields, "frames", frame_table);
#undef ROW

struct outside_thread_row outside_thread_row_of(const struct outside_thread *t)
{
    return (struct outside_thread_row){.thread = slice_of(t->name),
                                       .state = slice_of(outside_state_word(t->state)),
                                       .waits_in = slice_of(t->waits_in),
                                       .tid = t->tid,
                                       .cpu = t->cpu,
                                       .ready = t->ready};
}

static void add_head(json_t *root, const struct outside *o)
{
    struct outside_line verdict;
    outside_verdict(o, &verdict);
    const struct outside_row row = {
        .node = slice_of(o->node),
        .command = slice_of(o->command),
        .user = slice_of(o->user),
        .otp = slice_of(o->otp),
        .state = slice_of(outside_state_word(o->ended ? 'X' : o->state)),
        .verdict = slice_of(verdict.text),
        .next = slice_of(verdict.next),
        .os_pid = o->os_pid,
        .wall_us = o->wall_us,
        .parent = o->parent,
        .tracer = o->tracer,
        .resident = o->resident_bytes,
        .peak = o->peak_bytes,
        .swap = o->swap_bytes,
        .limit = o->limit_bytes,
        .limit_used = o->limit_used_bytes,
        .descriptors = o->descriptors > 0 ? o->descriptors : -1,
        .descriptor_limit = o->descriptor_limit > 0 ? o->descriptor_limit : -1,
        .uptime = o->uptime_s,
        .period = o->period_s,
        .cpu = o->cpu,
        .kernel = o->kernel,
        .late = o->late_s,
        .threads_left = (int64_t)o->threads_left,
        .frozen = o->frozen,
    };
    json_add_fields(root, &outside_fields, &row);
}

static json_t *dump_of(const struct outside *o)
{
    const struct dump_row row = {slice_of(o->dump_path), o->dump_bytes, o->dump_per_s,
                                 o->dump_regular};
    return o->dump == OUTSIDE_DUMP_WRITING ? json_row(&outside_dump_fields, &row) : json_null();
}

static json_t *threads_of(const struct outside *o)
{
    json_t *array = json_array();
    for (size_t i = 0; i < o->n_threads; i++) {
        const struct outside_thread_row row = outside_thread_row_of(&o->threads[i]);
        json_array_append_new(array, json_row(&outside_thread_fields, &row));
    }
    return array;
}

static json_t *stacks_of(const struct outside *o)
{
    json_t *array = json_array();
    for (size_t i = 0; i < o->n_stacks; i++) {
        const struct outside_stack *s = &o->stacks[i];
        json_t *object = json_row(&outside_stack_fields, s);
        json_object_set_new(
            object, "frames",
            json_rows(&outside_frame_fields, s->frames, s->n_frames, sizeof s->frames[0]));
        json_object_set_new(object, "more", json_integer((json_int_t)s->more));
        json_array_append_new(array, object);
    }
    return array;
}

/* null where it could not be read; the reason is beside it. */
static void add_unless(json_t *root, const char *key, json_t *value, const char *why_key,
                       const char *why)
{
    json_object_set_new(root, key, why[0] ? json_null() : json_incref(value));
    json_decref(value);
    json_object_set_new(root, why_key, json_chars(why));
}

void outside_json_put(struct buf *out, const struct outside *o)
{
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string("beamtop.outside/1"));
    add_head(root, o);
    json_object_set_new(root, "dump_known", json_boolean(o->dump != OUTSIDE_DUMP_UNKNOWN));
    json_object_set_new(root, "dump", dump_of(o));
    add_unless(root, "sockets",
               json_rows(&outside_socket_fields, o->sockets, o->n_sockets, sizeof *o->sockets),
               "sockets_why", o->why_no_sockets);
    json_object_set_new(root, "threads", threads_of(o));
    add_unless(root, "stacks", stacks_of(o), "stacks_why", o->why_no_stacks);
    json_put_line(out, root);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vm.h"

#include "beamtop/base/attr.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "vm_internal.h"

#define APPLICATIONS_EVERY_MS 60000
#define FILES_EVERY_MS 5000
#define FILES_HOLD_MS 20000 /* older ones are not shown */
#define FILES_MS 1000
#define QUEUES_MS 500
#define CONNECTIONS 200

/* As enum vm_term has them. */
static const char *const base_items[] = {
    "[otp_release]",
    "[version]",
    "[system_version]",
    "[build_type]",
    "[system_architecture]",
    "[wordsize]",
    "[os_type]",
    "[smp_support]",
    "[threads]",
    "[thread_pool_size]",
    "[kernel_poll]",
    "[scheduler_bind_type]",
    "[schedulers]",
    "[dirty_cpu_schedulers]",
    "[dirty_io_schedulers]",
    "[logical_processors_available]",
    "[fullsweep_after]",
    "[min_heap_size]",
    "[time_warp_mode]",
    "[time_correction]",
    "[process_limit]",
    "[port_limit]",
    "[atom_limit]",
    "[ets_limit]",
    "[dist_buf_busy_limit]",
};
_Static_assert(ARRAY_LEN(base_items) == VM_PROCESSES - VM_OTP, "a place for each");

static const char *const count_items[] = {
    "[process_count]", "[port_count]",        "[atom_count]",
    "[ets_count]",     "[schedulers_online]", "[time_offset]",
};
_Static_assert(ARRAY_LEN(count_items) == VM_RUN_QUEUES - VM_PROCESSES, "a place for each");

/* ---- what is kept */

void vm_expect(struct vm_read *v, enum vm_term first)
{
    v->out = first;
}

struct slice vm_kept(const struct vm_read *v, enum vm_term term)
{
    return (struct slice){(const char *)v->kept[term].data, v->kept[term].len};
}

bool vm_keep_number(const struct vm_read *v, enum vm_term term, int64_t *out)
{
    return v->kept[term].len > 0 && values_read_integer(vm_kept(v, term), out);
}

static void take_values(void *own, const struct slice *values, size_t n)
{
    struct vm_read *v = own;
    if (values && v->out == VM_FILES)
        v->read_ms = v->now_ms;
    for (size_t i = 0; values && i < n; i++) {
        buf_reset(&v->kept[v->out + i]);
        buf_put(&v->kept[v->out + i], values[i].s, values[i].len);
    }
}

/* ---- asks */

static bool ask_base(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    vm_expect(v, VM_OTP);
    for (size_t i = 0; i < ARRAY_LEN(base_items); i++)
        run_add_text(calls, "erlang", "system_info", base_items[i]);
    return v->kept[VM_OTP].len == 0;
}

static bool ask_numbers(void *own, struct run_calls *calls)
{
    vm_expect(own, VM_PROCESSES);
    for (size_t i = 0; i < ARRAY_LEN(count_items); i++)
        run_add_text(calls, "erlang", "system_info", count_items[i]);
    run_add_text(calls, "erlang", "statistics", "[run_queue_lengths_all]");
    return true;
}

/* Copies them all: it fails where they are above the ask's heap, and is not repeated. */
static bool ask_args(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    const bool asks = !v->asked_args;
    v->asked_args = true;
    vm_expect(v, VM_ARGS);
    run_add_text(calls, "erlang", "system_info", "[emu_args]");
    return asks;
}

static bool ask_applications(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    if (v->applications_ms != 0 && v->now_ms < v->applications_ms + APPLICATIONS_EVERY_MS)
        return false;
    v->applications_ms = v->now_ms;
    vm_expect(v, VM_APPLICATIONS);
    run_add_text(calls, "application", "loaded_applications", "[]");
    return true;
}

static bool ask_controllers(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    vm_expect(v, VM_CONTROLLERS);
    run_add_text(calls, "erlang", "system_info", "[dist_ctrl]");
    return v->reads_files;
}

/* A port that is busy answers when it is its turn. */
static bool ask_queues(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    struct slice nodes[CONNECTIONS], ports[CONNECTIONS];
    const size_t n = values_read_ports(vm_kept(v, VM_CONTROLLERS), nodes, ports, CONNECTIONS);
    buf_reset(&v->kept[VM_QUEUES]);
    vm_expect(v, VM_QUEUES);
    run_add(calls, "lists", "zipwith", args_of_zip("erlang", "port_info", ports, n, "queue_size"));
    return v->reads_files && n > 0;
}

/* ---- the question */

static const struct run_step steps[] = {
    {ask_base, take_values, 0, false},
    {ask_numbers, take_values, 0, false},
    {ask_args, take_values, 0, false},
    {ask_applications, take_values, 0, false},
    {ask_controllers, take_values, 0, false},
    {ask_queues, take_values, QUEUES_MS, false},
    {vm_ask_idle, take_values, 0, true},
    {vm_ask_own, take_values, FILES_MS, false},
    {vm_ask_probe, take_values, FILES_MS, false},
    {vm_ask_files, take_values, FILES_MS, false},
    {vm_ask_descriptors, take_values, FILES_MS, false},
    {vm_ask_polls, take_values, FILES_MS, false},
};

static void init_vm(void *read)
{
    struct vm_read *v = read;
    for (size_t i = 0; i < VM_TERMS; i++)
        buf_init(&v->kept[i], 0);
}

static void begin_vm(void *read, const struct stepped_now *now)
{
    struct vm_read *v = read;
    v->now_ms = now->ms;
    v->looks = 0;
    if (v->now_ms > v->read_ms + FILES_HOLD_MS)
        for (size_t i = VM_FILES; i < VM_TERMS; i++)
            buf_reset(&v->kept[i]);
    v->reads_files = v->files_ms == 0 || v->now_ms >= v->files_ms + FILES_EVERY_MS;
}

static void clear_vm(void *read)
{
    struct vm_read *v = read;
    for (size_t i = 0; i < VM_TERMS; i++)
        buf_clear(&v->kept[i]);
}

const struct stepped vm_question = {
    .question = QUESTION_VM,
    .bytes = sizeof(struct vm_read),
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_vm,
    .begin = begin_vm,
    .build = vm_build,
    .clear = clear_vm,
};

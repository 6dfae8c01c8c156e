/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vm.h"

#include <stdio.h>

#include "beamtop/base/attr.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"
#include "vm_internal.h"

#define APPLICATIONS_EVERY_MS 60000
#define FILES_EVERY_MS 5000
#define FILES_HOLD_MS 20000 /* older ones are not shown */
#define FILES_MS 1000
#define QUEUES_MS 500
#define ARGS_AGAIN_MS 60000 /* after an ask that failed */
#define INIT_MS 500         /* a process of the node answers */
#define WORDS_MOST 100000   /* of the command line */
#define WORD_US 0.5
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

/* ---- start arguments: a cookie is among them, and stays there */

#define EMU_ARGS                                                                                   \
    {                                                                                              \
        "erlang", "system_info", 1, "[emu_args]", NULL                                             \
    }
#define INIT_ARGS                                                                                  \
    {                                                                                              \
        "init", "get_arguments", 0, "[]", NULL                                                     \
    }

static bool ask_words(void *own, struct run_calls *calls)
{
    static const struct args_call all[] = {EMU_ARGS};
    struct vm_read *v = own;
    const bool asks = !v->asked_words;
    v->asked_words = true;
    vm_expect(v, VM_WORDS);
    run_add(calls, "lists", "foldl", args_of_calls("erlang", "length", 1, all, 1));
    return asks;
}

/* lists:zipwith(fun erlang:'=:='/2, emu_args, lists:duplicate(Words, "--")) */
static bool ask_ends(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    char same[60];
    int64_t words;
    if (v->asked_ends || !vm_keep_number(v, VM_WORDS, &words) || words < 1 || words > WORDS_MOST)
        return false;
    v->asked_ends = true;
    snprintf(same, sizeof same, "[%lld,\"--\"]", (long long)words);
    const struct args_call columns[] = {
        args_fun_call("erlang", "=:=", 2), EMU_ARGS, {"lists", "duplicate", 2, same, NULL}};
    vm_expect(v, VM_ENDS);
    run_add(calls, "lists", "foldl", args_of_calls("lists", "zipwith", 3, columns, 3));
    calls->most_us = WORD_US * (double)words + PRICE_BATCH_US;
    return true;
}

/* Before the first "--"; 0: there is none. */
static size_t count_flags(const struct vm_read *v)
{
    struct cursor c;
    struct slice term;
    size_t n;
    if (values_enter_list(vm_kept(v, VM_ENDS), &c, &n))
        for (size_t i = 0; i < n && cursor_raw(&c, &term); i++)
            if (who_term_is(term, "true"))
                return i;
    return 0;
}

static bool ask_flags(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    const size_t n = v->kept[VM_FLAGS].len > 0 ? 0 : count_flags(v);
    char count[40];
    snprintf(count, sizeof count, "[%zu]", n);
    const struct args_call part[] = {EMU_ARGS, {"erlang", "abs", 1, count, NULL}};
    vm_expect(v, VM_FLAGS);
    run_add(calls, "lists", "foldl", args_of_calls("lists", "sublist", 2, part, 2));
    return n > 0;
}

/* Those but setcookie, and whether that is among them. It fails where they are above the ask's
 * heap. */
static bool ask_args(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    const bool asks =
        v->kept[VM_ARGS].len == 0 && (v->args_ms == 0 || v->now_ms >= v->args_ms + ARGS_AGAIN_MS);
    const struct args_call others[] = {
        INIT_ARGS,
        {"ets", "match_spec_compile", 1, "[[{{'$1','_'},[{'=/=','$1',setcookie}],['$_']}]]", NULL}};
    const struct args_call cookies[] = {
        {"erlang", "hd", 1, "[[setcookie]]", NULL}, {"erlang", "abs", 1, "[1]", NULL}, INIT_ARGS};
    if (asks)
        v->args_ms = v->now_ms;
    vm_expect(v, VM_ARGS);
    run_add(calls, "lists", "foldl", args_of_calls("ets", "match_spec_run", 2, others, 2));
    run_add(calls, "lists", "foldl", args_of_calls("lists", "keymember", 3, cookies, 3));
    return asks;
}

/* ---- the rest */

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
    if (v->reads_files) /* else they stay for that long, as files do */
        buf_reset(&v->kept[VM_QUEUES]);
    vm_expect(v, VM_QUEUES);
    run_add(calls, "lists", "zipwith", args_of_zip("erlang", "port_info", ports, n, "queue_size"));
    return v->reads_files && n > 0;
}

/* ---- the question */

static const struct run_step steps[] = {
    {ask_base, take_values, 0, false},
    {ask_numbers, take_values, 0, false},
    {ask_words, take_values, 0, false},
    {ask_ends, take_values, 0, false},
    {ask_flags, take_values, 0, false},
    {ask_args, take_values, INIT_MS, false},
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

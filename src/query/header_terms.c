/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "header_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/cursor.h"
#include "query/native/files.h"
#include "query/native/values.h"

/* ---- what is asked */

static const struct native_step count_steps[] = {
    NATIVE_CLOCK,
    {"erlang", "system_info", "[process_count]", NULL},
    {"erlang", "system_info", "[port_count]", NULL},
    {"erlang", "system_info", "[atom_count]", NULL},
    {"erlang", "system_info", "[ets_count]", NULL},
    {"erlang", "statistics", "[reductions]", NULL},
    {"erlang", "statistics", "[context_switches]", NULL},
    {"erlang", "statistics", "[total_run_queue_lengths]", NULL},
    {"erlang", "statistics", "[run_queue_lengths_all]", NULL},
    {"erlang", "system_time", "[microsecond]", NULL},
    {"erlang", "monotonic_time", "[]", NULL},
    {"erlang", "system_info", "[start_time]", NULL},
    {"erlang", "convert_time_unit", "[1,second,native]", NULL},
    {"erlang", "nodes", "[hidden]", NULL},
    NATIVE_CLOCK,
};
/* Their places in the value; the counters follow. */
enum {
    COUNT_BEGAN,
    COUNT_PROCESSES,
    COUNT_PORTS,
    COUNT_ATOMS,
    COUNT_TABLES,
    COUNT_REDUCTIONS,
    COUNT_SWITCHES,
    COUNT_QUEUED,
    COUNT_QUEUES,
    COUNT_WALL_US,
    COUNT_NOW,
    COUNT_STARTED,
    COUNT_SECOND,
    COUNT_NODES,
    COUNT_MONO_NS,
    COUNTS
};

static const char *const memory_types[] = {
    "total", "processes", "processes_used", "system", "atom", "atom_used", "binary", "code", "ets"};
#define MEMORY_ARGS "[[total,processes,processes_used,system,atom,atom_used,binary,code,ets]]"

/* The clock in between says how long each waited. Memory is last, so that it can be left out. */
static const struct native_step wait_steps[] = {
    NATIVE_CLOCK, {"erlang", "statistics", "[garbage_collection]", NULL},
    NATIVE_CLOCK, {"erlang", "statistics", "[io]", NULL},
    NATIVE_CLOCK, {"erlang", "statistics", "[scheduler_wall_time_all]", NULL},
    NATIVE_CLOCK, {"erlang", "memory", MEMORY_ARGS, NULL},
    NATIVE_CLOCK,
};
enum { WAIT_GC = 1, WAIT_IO = 3, WAIT_TIMES = 5, WAIT_MEMORY = 7, WAITS = 9 };
#define WAITS_WITHOUT_MEMORY WAIT_MEMORY

/* Nobody sends it a message, and it keeps no stack. */
static const struct native_step flag_steps[] = {
    {"erlang", "system_flag", "[scheduler_wall_time,true]", NULL},
    {"erlang", "hibernate", "[erlang,exit,[normal]]", NULL},
};

static const struct native_step resident_steps[] = {
    {"prim_file", "read_file", "[<<\"/proc/self/status\">>]", NULL},
};

/* [Counter, 1]: counters:get/2 of it. */
static struct builder *counter_arguments(struct slice counter)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_raw(b, (const uint8_t *)counter.s, counter.len);
    build_int(b, 1);
    build_nil(b);
    return b;
}

void header_call_counts(struct native_call *call, const struct slice *counters, size_t n)
{
    struct native_step steps[COUNTS + HEADER_COUNTERS];
    struct builder *args[HEADER_COUNTERS];
    memcpy(steps, count_steps, sizeof count_steps);
    for (size_t i = 0; i < n; i++) {
        args[i] = counter_arguments(counters[i]);
        steps[COUNTS + i] = (struct native_step){"counters", "get", NULL, args[i]};
    }
    native_batch_init(call, steps, COUNTS + n, n == 0);
    call->priority = "high";
    for (size_t i = 0; i < n; i++)
        builder_free(args[i]);
}

void header_call_waits(struct native_call *call, bool with_memory)
{
    native_batch_init(call, wait_steps, with_memory ? WAITS : WAITS_WITHOUT_MEMORY, !with_memory);
    call->priority = "high";
    call->patient = true;
}

void header_call_flag(struct native_call *call)
{
    native_batch_init(call, flag_steps, ARRAY_LEN(flag_steps), true);
}

void header_call_resident(struct native_call *call)
{
    native_batch_init(call, resident_steps, ARRAY_LEN(resident_steps), true);
    call->patient = true;
}

/* ---- what came */

/* 30,000 years; and more reductions than one can have done. */
#define UPTIME_MOST_MS 1e15
#define COUNTER_MOST INT64_C(1000000000000000)

bool header_read_counts(struct slice value, size_t counters, struct header_counts *out)
{
    struct slice e[COUNTS + HEADER_COUNTERS];
    int64_t began, ended, processes;
    if (!values_read_list(value, e, COUNTS + counters) ||
        !values_read_integer(e[COUNT_BEGAN], &began) ||
        !values_read_integer(e[COUNT_MONO_NS], &ended) ||
        !values_read_integer(e[COUNT_PROCESSES], &processes))
        return false;
    *out = (struct header_counts){.processes = processes,
                                  .us = values_between_us(began, ended),
                                  .dirty_io_queue = files_count_waiting(e[COUNT_QUEUES]),
                                  .nodes = e[COUNT_NODES]};
    for (size_t i = 0; i < counters; i++)
        if (!values_read_integer(e[COUNTS + i], &out->counters[i]) || out->counters[i] < 0 ||
            out->counters[i] > COUNTER_MOST)
            return false;
    return true;
}

/* The clock's readings are in every other place. */
bool header_read_waits(struct slice value, double *longest_us)
{
    struct slice e[WAITS];
    int64_t before = 0, now;
    const size_t n = values_read_list(value, e, WAITS) ? WAITS : WAITS_WITHOUT_MEMORY;
    *longest_us = 0;
    if (!values_read_list(value, e, n))
        return false;
    for (size_t i = 0; i < n; i += 2) {
        if (!values_read_integer(e[i], &now))
            return false;
        if (i > 0)
            *longest_us = fmax(*longest_us, values_between_us(before, now));
        before = now;
    }
    return true;
}

bool header_read_memory(struct slice value, struct header_memory *out)
{
    struct slice file, text;
    if (!values_read_list(value, &file, 1))
        return false;
    text = files_text_of(file);
    *out = (struct header_memory){.resident = files_find_kib(text, "\nVmRSS:"),
                                  .virtual = files_find_kib(text, "\nVmSize:")};
    return out->resident > 0 && out->virtual > 0;
}

/* ---- the answer */

/* [{Type, Bytes}], in the order in which they were asked for. */
static bool build_memory(struct builder *b, struct slice term)
{
    struct cursor c = values_cursor(term);
    struct cursor_list list;
    if (!cursor_list(&c, &list) || list.count != ARRAY_LEN(memory_types))
        return false;
    build_tuple(b, ARRAY_LEN(memory_types));
    for (size_t i = 0; i < list.count; i++) {
        struct slice bytes;
        if (!cursor_tuple_of(&c, 2) || !cursor_atom_is(&c, memory_types[i]) ||
            !cursor_raw(&c, &bytes))
            return false;
        values_build(b, bytes);
    }
    return true;
}

struct times {
    int64_t id;
    struct slice term;
};

static int compare_times(const void *a, const void *b)
{
    const struct times *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* [{Id, Active, Total}], by id; `undefined` until the flag is on. */
static bool build_times(struct builder *b, struct slice term)
{
    struct cursor c = values_cursor(term);
    struct cursor_list list;
    if (cursor_kind(&c) == ETF_KIND_ATOM) {
        build_unknown(b, 1);
        return true;
    }
    if (!cursor_list(&c, &list) || list.count == 0 || list.count > LIMIT_SCHEDULERS)
        return false;
    struct times *all = alloc_zero(list.count, sizeof *all);
    bool ok = true;
    for (size_t i = 0; i < list.count && ok; i++) {
        struct slice id;
        ok = cursor_raw(&c, &all[i].term) && values_read_tuple(all[i].term, 3, &id, 1) &&
             values_read_integer(id, &all[i].id);
    }
    if (ok) {
        qsort(all, list.count, sizeof *all, compare_times);
        build_list(b, list.count);
        for (size_t i = 0; i < list.count; i++)
            values_build(b, all[i].term);
        build_nil(b);
    }
    free(all);
    return ok;
}

static bool build_uptime(struct builder *b, const struct slice *counts)
{
    int64_t now, started, second;
    if (!values_read_integer(counts[COUNT_NOW], &now) ||
        !values_read_integer(counts[COUNT_STARTED], &started) ||
        !values_read_integer(counts[COUNT_SECOND], &second) || second <= 0)
        return false;
    const double ms = ((double)now - (double)started) / (double)second * 1000;
    if (!(ms >= 0 && ms < UPTIME_MOST_MS))
        return false;
    build_int(b, (int64_t)ms);
    return true;
}

/* {Reductions, ContextSwitches, Gcs, GcWords, InBytes, OutBytes, OwnReductions} */
static bool build_work(struct builder *b, const struct slice *counts, const struct slice *waits,
                       int64_t own)
{
    struct slice reductions, switches, gc[2] = {{0}}, io[2] = {{0}}, in[2] = {{0}}, out[2] = {{0}};
    if (!values_read_tuple(counts[COUNT_REDUCTIONS], 2, &reductions, 1) ||
        !values_read_tuple(counts[COUNT_SWITCHES], 2, &switches, 1))
        return false;
    if (waits && !(values_read_tuple(waits[WAIT_GC], 3, gc, 2) &&
                   values_read_tuple(waits[WAIT_IO], 2, io, 2) &&
                   values_read_tuple(io[0], 2, in, 2) && values_read_tuple(io[1], 2, out, 2)))
        return false;
    const struct slice late[] = {gc[0], gc[1], in[1], out[1]};
    build_tuple(b, 7);
    values_build(b, reductions);
    values_build(b, switches);
    for (size_t i = 0; i < ARRAY_LEN(late); i++)
        if (late[i].len > 0)
            values_build(b, late[i]);
        else
            build_unknown(b, 1);
    build_int(b, own);
    return true;
}

static void build_last(struct builder *b, const struct header_values *v)
{
    if (v->memory) {
        build_tuple(b, 2);
        build_int(b, v->memory->resident);
        build_int(b, v->memory->virtual);
    } else {
        build_unknown(b, 1);
    }
    build_tuple(b, 2);
    build_int(b, v->late_ms);
    if (v->late.len > 0)
        values_build(b, v->late);
    else
        build_nil(b);
}

static bool build_memory_or_none(struct builder *b, const struct slice *waits, size_t n)
{
    if (waits && n == WAITS)
        return build_memory(b, waits[WAIT_MEMORY]);
    build_unknown(b, 1);
    return true;
}

bool header_build(struct builder *b, const struct header_values *v)
{
    static const int counted[] = {COUNT_PROCESSES, COUNT_PORTS, COUNT_ATOMS, COUNT_TABLES};
    struct slice counts[COUNTS], all_waits[WAITS];
    const struct slice *waits = v->waits.len > 0 ? all_waits : NULL;
    const size_t n = values_read_list(v->waits, all_waits, WAITS) ? WAITS : WAITS_WITHOUT_MEMORY;
    if (!values_read_list(v->counts, counts, COUNTS) ||
        (waits && !values_read_list(v->waits, all_waits, n)))
        return false;
    build_tuple(b, 11);
    build_atom(b, "system");
    values_build(b, counts[COUNT_MONO_NS]);
    values_build(b, counts[COUNT_WALL_US]);
    if (!build_uptime(b, counts) || !build_memory_or_none(b, waits, n))
        return false;
    build_tuple(b, ARRAY_LEN(counted));
    for (size_t i = 0; i < ARRAY_LEN(counted); i++)
        values_build(b, counts[counted[i]]);
    build_tuple(b, 2);
    values_build(b, counts[COUNT_QUEUED]);
    values_build(b, counts[COUNT_QUEUES]);
    if (!build_work(b, counts, waits, v->own_reductions))
        return false;
    if (!waits)
        build_unknown(b, 1);
    else if (!build_times(b, waits[WAIT_TIMES]))
        return false;
    build_last(b, v);
    return true;
}

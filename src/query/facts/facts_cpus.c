/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the normal schedulers ran, and waited for a CPU, since the VM's start: files of its threads,
 * of the host and of the cgroup, read there. */
#include <string.h>

#include "beamtop/base/attr.h"
#include "facts_terms.h"
#include "query/native/files.h"
#include "query/native/values.h"

#define THREADS_MOST 1024 /* the first */
#define LOOKS 5           /* for a dirty I/O scheduler without work, which each file needs */
#define FILE_US 40.0
#define GROUPS 4 /* where the file of the cgroup may be */
#define PATH_BYTES (FILES_GROUP_MOST + 40)
#define SCHEDULERS_MOST 1024
#define HOST_TICKS 8 /* user, nice, system, idle, iowait, irq, softirq, steal */

/* ---- texts */

/* "erts_sched_3", or of OTP 23 "3_scheduler". */
static bool is_scheduler(struct slice name)
{
    static const char prefix[] = "erts_sched_";
    const bool is_new = slice_begins(name, prefix);
    struct slice rest = is_new ? slice_without(name, prefix) : name;
    int64_t n;
    return files_take_number(&rest, &n) && n >= 1 && n <= SCHEDULERS_MOST &&
           (is_new || slice_begins(rest, "_scheduler"));
}

/* ---- asks */

static bool is_idle(const struct facts_read *f)
{
    return files_count_waiting(facts_kept(f, FACTS_RUN_QUEUES)) == 0;
}

bool facts_ask_idle(void *own, struct run_calls *calls)
{
    struct facts_read *f = own;
    if (is_idle(f) || f->looks == LOOKS)
        return false;
    f->looks++;
    facts_expect(f, FACTS_RUN_QUEUES);
    run_add_text(calls, "erlang", "statistics", "[run_queue_lengths_all]");
    return true;
}

bool facts_ask_threads(void *own, struct run_calls *calls)
{
    struct facts_read *f = own;
    if (!is_idle(f) || f->kept[FACTS_THREADS].len > 0)
        return false;
    facts_expect(f, FACTS_THREADS);
    run_add_text(calls, "prim_file", "list_dir", "[\"/proc/self/task\"]");
    run_add_text(calls, "prim_file", "read_file", "[<<\"/proc/self/cgroup\">>]");
    return true;
}

/* Of all threads; none where there is no such directory, not on Linux. */
static size_t read_threads(const struct facts_read *f, int64_t out[THREADS_MOST])
{
    struct cursor c;
    struct slice name;
    size_t n = 0, count;
    if (!values_enter_list(values_of_pair(facts_kept(f, FACTS_THREADS), "ok"), &c, &count))
        return 0;
    for (size_t i = 0; i < count && n < THREADS_MOST && cursor_raw(&c, &name); i++) {
        struct buf text;
        buf_init(&text, 0);
        const bool is_text = values_put_chars(&text, name);
        struct slice digits = {(const char *)text.data, text.len};
        n += is_text && files_take_number(&digits, &out[n]);
        buf_clear(&text);
    }
    return n;
}

static size_t read_schedulers(const struct facts_read *f, int64_t out[THREADS_MOST])
{
    struct slice names[THREADS_MOST];
    size_t n = 0;
    const size_t all = read_threads(f, out);
    if (facts_list(f, FACTS_KINDS, names, THREADS_MOST) != all)
        return 0;
    for (size_t i = 0; i < all; i++) {
        out[n] = out[i];
        n += is_scheduler(files_text_of(names[i]));
    }
    return n;
}

/* lists:map(fun prim_file:read_file/1, Paths): a file of each thread, and those paths. */
static void add_reads(struct run_calls *calls, const int64_t *threads, size_t n, const char *file,
                      char paths[][PATH_BYTES], size_t n_paths)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_export(b, "prim_file", "read_file", 1);
    build_list(b, n + n_paths);
    for (size_t i = 0; i < n; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "/proc/self/task/%lld/%s", (long long)threads[i], file);
        build_binary(b, path, strlen(path));
    }
    for (size_t i = 0; i < n_paths; i++)
        build_binary(b, paths[i], strlen(paths[i]));
    build_nil(b);
    build_nil(b);
    run_add(calls, "lists", "map", b);
    calls->most_us = FILE_US * (double)(n + n_paths);
}

bool facts_ask_kinds(void *own, struct run_calls *calls)
{
    struct facts_read *f = own;
    int64_t threads[THREADS_MOST];
    const size_t n = read_threads(f, threads);
    if (n == 0 || !is_idle(f) || f->kept[FACTS_KINDS].len > 0)
        return false;
    facts_expect(f, FACTS_KINDS);
    add_reads(calls, threads, n, "comm", NULL, 0);
    return true;
}

/* Without one of its name the node sees its own as the root of the tree. */
bool facts_ask_files(void *own, struct run_calls *calls)
{
    struct facts_read *f = own;
    int64_t schedulers[THREADS_MOST];
    const struct slice text = files_text_of(facts_kept(f, FACTS_GROUP));
    const struct slice groups[GROUPS] = {
        files_find_group(text, "cpu"), {0}, files_find_group(text, ""), {0}};
    char paths[1 + GROUPS][PATH_BYTES] = {"/proc/stat"};
    const size_t n = read_schedulers(f, schedulers);
    if (n == 0 || !is_idle(f))
        return false;
    facts_expect(f, FACTS_FILES);
    for (size_t i = 0; i < GROUPS; i++)
        snprintf(paths[1 + i], PATH_BYTES, "/sys/fs/cgroup%s%.*s/cpu.stat",
                 i < GROUPS / 2 ? "/cpu" : "", (int)groups[i].len,
                 groups[i].len ? groups[i].s : "");
    add_reads(calls, schedulers, n, "schedstat", paths, 1 + GROUPS);
    return true;
}

/* ---- the answer */

static void build_number(struct builder *b, const char *key, bool known, int64_t n)
{
    build_atom(b, key);
    if (known)
        build_int(b, n);
    else
        build_atom(b, "undefined");
}

static void build_host(struct builder *b, struct slice text)
{
    struct slice line = files_find_behind(text, "cpu ");
    int64_t ticks = 0, sum = 0;
    size_t n = 0;
    while (n < HOST_TICKS && files_take_number(&line, &ticks) &&
           !__builtin_add_overflow(sum, ticks, &sum))
        n++;
    build_number(b, "host_ticks", n == HOST_TICKS, sum);
    build_number(b, "steal_ticks", n == HOST_TICKS, ticks); /* the last of these */
}

static void build_line(struct builder *b, const char *key, struct slice text, const char *name)
{
    struct slice line = files_find_behind(text, name);
    int64_t n = 0;
    const bool known = files_take_number(&line, &n);
    build_number(b, key, known, n);
}

/* The files of n schedulers, of the host, and the first of the cgroup that is there. */
void facts_build_cpus(struct builder *b, const struct facts_read *f)
{
    struct slice files[THREADS_MOST + 1 + GROUPS], group = {0};
    const size_t all = facts_list(f, FACTS_FILES, files, ARRAY_LEN(files));
    const size_t n = all > GROUPS ? all - 1 - GROUPS : 0;
    int64_t run = 0, waited = 0, known = 0;
    for (size_t i = 0; i < n; i++) {
        struct slice text = files_text_of(files[i]);
        int64_t ran_ns, waited_ns;
        known += files_take_number(&text, &ran_ns) && files_take_number(&text, &waited_ns) &&
                 !__builtin_add_overflow(run, ran_ns, &run) &&
                 !__builtin_add_overflow(waited, waited_ns, &waited);
    }
    if (known == 0) {
        build_atom(b, "undefined");
        return;
    }
    for (size_t i = n + 1; i < all && group.len == 0; i++)
        group = files_text_of(files[i]);
    build_map(b, 8);
    build_number(b, "mono_us", true, f->mono_ns / 1000);
    build_number(b, "schedulers", true, known);
    build_number(b, "run_us", true, run / 1000);
    build_number(b, "wait_us", true, waited / 1000);
    build_host(b, files_text_of(files[n]));
    build_line(b, "periods", group, "nr_periods ");
    build_line(b, "throttled_periods", group, "nr_throttled ");
}

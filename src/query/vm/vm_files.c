/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of /proc and of the cgroup, as the node reads them: so they are there of a node on another
 * host, too, and of one of another user. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "query/native/args.h"
#include "query/native/files.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"
#include "vm_internal.h"

#define LOOKS 5 /* for a dirty I/O scheduler without work, which each file needs */
#define FILE_US 40.0
#define LISTED_MOST 16384 /* descriptors that are listed to be counted; FDSize says how many */
#define LISTED_US 40000
#define POLLS_US 10000 /* a million descriptors */
#define PATH_BYTES (FILES_GROUP_MOST + 60)
#define DIRECTORIES 4 /* where a cgroup may be; from DIRECTORY_2 on of version 2 */
#define DIRECTORY_2 2

/* Each named cgroup, then the root, as which a container sees its own. */
static const struct {
    const char *controller; /* also the directory of version 1 */
    const char *probe[2];   /* of version 1, of version 2 */
} controllers[] = {{"memory", {"memory.usage_in_bytes", "memory.current"}},
                   {"cpu", {"cpu.stat", "cpu.stat"}}};
enum { OF_MEMORY, OF_CPU, OF_PROC };

static const struct {
    unsigned of;
    const char *name[2];
} files[VM_FILES_COUNT] = {
    [VM_FILE_STATUS] = {OF_PROC, {"status", "status"}},
    [VM_FILE_OOM_SCORE] = {OF_PROC, {"oom_score", "oom_score"}},
    [VM_FILE_OOM_ADJUST] = {OF_PROC, {"oom_score_adj", "oom_score_adj"}},
    [VM_FILE_MEMORY] = {OF_MEMORY, {"memory.usage_in_bytes", "memory.current"}},
    [VM_FILE_MEMORY_LIMIT] = {OF_MEMORY, {"memory.limit_in_bytes", "memory.max"}},
    [VM_FILE_MEMORY_EVENTS] = {OF_MEMORY, {"memory.oom_control", "memory.events"}},
    [VM_FILE_CPU] = {OF_CPU, {"cpu.stat", "cpu.stat"}},
    [VM_FILE_CPU_QUOTA] = {OF_CPU, {"cpu.cfs_quota_us", "cpu.max"}},
    [VM_FILE_CPU_PERIOD] = {OF_CPU, {"cpu.cfs_period_us", NULL}},
};

/* ---- directories */

static struct slice list_element(struct slice list, size_t at)
{
    struct cursor c;
    struct slice value = {0};
    size_t n;
    if (!values_enter_list(list, &c, &n) || at >= n)
        return value;
    for (size_t i = 0; i <= at; i++)
        if (!cursor_raw(&c, &value))
            return (struct slice){0};
    return value;
}

static struct slice own_text(const struct vm_read *v, size_t at)
{
    return files_text_of(list_element(vm_kept(v, VM_OWN_FILES), at));
}

static void put_directory(char out[PATH_BYTES], const struct vm_read *v, unsigned of, unsigned at)
{
    const bool is_named = at % 2 == 0, is_second = at >= DIRECTORY_2;
    const char *controller = is_second ? "" : controllers[of].controller;
    const struct slice group =
        is_named ? files_find_group(own_text(v, 0), controller) : (struct slice){0};
    snprintf(out, PATH_BYTES, "/sys/fs/cgroup%s%s%.*s", is_second ? "" : "/", controller,
             (int)group.len, group.len > 1 ? group.s : "");
}

/* DIRECTORIES: none has such files. */
static unsigned find_directory(const struct vm_read *v, unsigned of)
{
    for (unsigned i = 0; i < DIRECTORIES; i++)
        if (files_text_of(list_element(vm_kept(v, VM_PROBED), of * DIRECTORIES + i)).len > 0)
            return i;
    return DIRECTORIES;
}

void vm_put_group(struct buf *out, const struct vm_read *v, bool memory)
{
    char path[PATH_BYTES];
    const unsigned of = memory ? OF_MEMORY : OF_CPU, at = find_directory(v, of);
    if (at == DIRECTORIES)
        return;
    put_directory(path, v, of, at);
    vm_put_safe(out, slice_of(path));
}

/* ---- asks */

static bool is_idle(const struct vm_read *v)
{
    return files_count_waiting(vm_kept(v, VM_RUN_QUEUES)) == 0;
}

bool vm_ask_idle(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    if (!v->reads_files || is_idle(v) || v->looks == LOOKS)
        return false;
    v->looks++;
    vm_expect(v, VM_RUN_QUEUES);
    run_add_text(calls, "erlang", "statistics", "[run_queue_lengths_all]");
    return true;
}

/* lists:map(fun prim_file:read_file/1, Paths) */
static void add_reads(struct run_calls *calls, char paths[][PATH_BYTES], size_t n)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_export(b, "prim_file", "read_file", 1);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_binary(b, paths[i], strlen(paths[i]));
    build_nil(b);
    build_nil(b);
    run_add(calls, "lists", "map", b);
    calls->most_us += FILE_US * (double)n;
}

bool vm_ask_own(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    char paths[][PATH_BYTES] = {"/proc/self/cgroup", "/proc/self/limits"};
    vm_expect(v, VM_OWN_FILES);
    add_reads(calls, paths, ARRAY_LEN(paths));
    return v->reads_files && is_idle(v) && v->kept[VM_OWN_FILES].len == 0;
}

bool vm_ask_probe(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    char paths[2 * DIRECTORIES][PATH_BYTES];
    for (unsigned i = 0; i < 2 * DIRECTORIES; i++) {
        const unsigned of = i / DIRECTORIES, at = i % DIRECTORIES;
        put_directory(paths[i], v, of, at);
        const size_t len = strlen(paths[i]);
        snprintf(paths[i] + len, PATH_BYTES - len, "/%s", controllers[of].probe[at >= DIRECTORY_2]);
    }
    vm_expect(v, VM_PROBED);
    add_reads(calls, paths, 2 * DIRECTORIES);
    return v->reads_files && is_idle(v) && own_text(v, 0).len > 0 && v->kept[VM_PROBED].len == 0;
}

/* Its path; false: there is no such file. */
static bool path_of(const struct vm_read *v, enum vm_file file, char out[PATH_BYTES])
{
    const unsigned of = files[file].of, at = of == OF_PROC ? 0 : find_directory(v, of);
    const char *name = files[file].name[at >= DIRECTORY_2];
    if (at == DIRECTORIES || !name)
        return false;
    if (of == OF_PROC)
        snprintf(out, PATH_BYTES, "/proc/self");
    else
        put_directory(out, v, of, at);
    const size_t len = strlen(out);
    snprintf(out + len, PATH_BYTES - len, "/%s", name);
    return true;
}

bool vm_ask_files(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    char paths[VM_FILES_COUNT][PATH_BYTES];
    size_t n = 0;
    for (unsigned i = 0; i < VM_FILES_COUNT; i++)
        n += path_of(v, i, paths[n]);
    vm_expect(v, VM_FILES);
    add_reads(calls, paths, n);
    run_add_text(calls, "prim_file", "read_file_info", "[<<\"/proc/self/fd\">>,[{time,posix}]]");
    if (!v->reads_files || !is_idle(v) || own_text(v, 0).len == 0)
        return false;
    v->files_ms = v->now_ms;
    return true;
}

struct slice vm_file(const struct vm_read *v, enum vm_file file)
{
    char path[PATH_BYTES];
    size_t at = 0;
    if (!path_of(v, file, path))
        return (struct slice){0};
    for (unsigned i = 0; i < file; i++)
        at += path_of(v, i, path);
    return files_text_of(list_element(vm_kept(v, VM_FILES), at));
}

const char *vm_why_no_files(const struct vm_read *v)
{
    if (v->kept[VM_OWN_FILES].len > 0 && own_text(v, 0).len == 0)
        return "the node has no /proc to read: not Linux, or not mounted";
    return is_idle(v) ? "the node did not read it in 1 s"
                      : "not read: processes wait for a dirty I/O scheduler";
}

/* ---- descriptors */

/* The size of the directory, which Linux 6.2 and later has there; 0: an earlier one. */
static int64_t directory_size(const struct vm_read *v)
{
    const struct slice info = values_of_pair(vm_kept(v, VM_FD_INFO), "ok");
    struct cursor c = values_cursor(info);
    int64_t n = 0;
    size_t arity;
    if (cursor_kind(&c) != ETF_KIND_TUPLE || !cursor_tuple(&c, &arity) || arity < 2 ||
        !cursor_atom_is(&c, "file_info") || !cursor_int64(&c, &n))
        return 0;
    return n > 0 && n <= VALUES_MOST ? n : 0;
}

/* length(element(2, prim_file:list_dir("/proc/self/fd"))): the names stay there. */
bool vm_ask_descriptors(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    struct slice room = files_find_behind(vm_file(v, VM_FILE_STATUS), "FDSize:");
    int64_t n;
    if (!v->reads_files || v->files_ms != v->now_ms || directory_size(v) > 0 ||
        !files_take_number(&room, &n) || n > LISTED_MOST)
        return false;
    const struct args_call list[] = {{"erlang", "abs", 1, "[2]", NULL},
                                     {"prim_file", "list_dir", 1, "[\"/proc/self/fd\"]", NULL}};
    const struct args_call names = {"lists", "foldl", 3, NULL,
                                    args_of_calls("erlang", "element", 2, list, 2)};
    vm_expect(v, VM_FD_COUNT);
    run_add(calls, "lists", "foldl", args_of_calls("erlang", "length", 1, &names, 1));
    calls->most_us = LISTED_US;
    return true;
}

static bool has_limits(const struct vm_read *v, int64_t *most)
{
    struct slice line = files_find_behind(own_text(v, 1), "Max open files");
    return files_take_number(&line, most);
}

/* It takes all locks of the VM's table of descriptors, and goes through that: only where no file
 * says it, and once. */
bool vm_ask_polls(void *own, struct run_calls *calls)
{
    struct vm_read *v = own;
    int64_t n;
    if (v->asked_polls || v->kept[VM_OWN_FILES].len == 0 || has_limits(v, &n))
        return false;
    v->asked_polls = true;
    vm_expect(v, VM_POLLS);
    run_add_text(calls, "erlang", "system_info", "[check_io]");
    calls->most_us = POLLS_US;
    return true;
}

int64_t vm_descriptors(const struct vm_read *v)
{
    int64_t n = directory_size(v);
    if (n > 0)
        return n;
    return vm_keep_number(v, VM_FD_COUNT, &n) && n >= 0 && n <= VALUES_MOST ? n : -1;
}

int64_t vm_descriptor_limit(const struct vm_read *v)
{
    int64_t n;
    if (has_limits(v, &n))
        return n;
    return values_find_integer(list_element(vm_kept(v, VM_POLLS), 0), "max_fds");
}

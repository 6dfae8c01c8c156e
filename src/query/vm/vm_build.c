/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "query/native/files.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"
#include "vm_args.h"
#include "vm_internal.h"

#define APPLICATIONS_MOST 500
#define CONNECTIONS 200
/* Version 1 has this where there is no limit, less a page. */
#define NO_LIMIT (INT64_C(1) << 60)

/* ---- what the VM says of itself */

/* Values as they are; `plain`: what it is unless somebody has set it. */
static const struct {
    const char *section, *item;
    enum vm_term term;
    const char *plain, *note;
} settings[] = {
    {"emulator", "build type", VM_BUILD_TYPE, "opt", NULL},
    {"emulator", "architecture", VM_ARCHITECTURE, NULL, NULL},
    {"emulator", "word size", VM_WORD_BYTES, NULL, "bytes"},
    {"emulator", "SMP", VM_SMP, "true", NULL},
    {"emulator", "threads", VM_THREADS, "true", NULL},
    {"emulator", "async threads", VM_ASYNC_THREADS, "1", NULL},
    {"emulator", "kernel poll", VM_KERNEL_POLL, "true", NULL},
    {"emulator", "scheduler binding", VM_BIND_TYPE, "unbound", NULL},
    {"emulator", "full sweep after", VM_FULLSWEEP, "65535", "collections, of new processes"},
    {"emulator", "minimum heap", VM_MIN_HEAP, "233", "words, of new processes"},
    {"time", "warp mode", VM_WARP_MODE, NULL, NULL},
    {"time", "offset", VM_OFFSET, NULL, NULL},
    {"time", "correction", VM_CORRECTION, "true", NULL},
};

/* {fullsweep_after, N} and such: the value. */
static struct slice plain_value(struct slice term)
{
    struct slice of_pair[2];
    return values_read_tuple(term, 2, of_pair, 2) ? of_pair[1] : term;
}

static const char *not_said(const char *text, struct buf *out, const char *plain)
{
    if (!plain || strcmp(text, plain) == 0)
        return NULL;
    buf_printf(out, "default: %s", plain);
    return buf_cstr(out);
}

static void add_settings(struct vm_rows *rows, const struct vm_read *v)
{
    struct buf text, note;
    buf_init(&text, 0);
    buf_init(&note, 0);
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        buf_reset(&text);
        buf_reset(&note);
        const bool known = vm_put_term(&text, plain_value(vm_kept(v, settings[i].term)));
        const char *differs = known ? not_said(buf_cstr(&text), &note, settings[i].plain) : NULL;
        vm_rows_add(rows, VM_TEXT(settings[i].section, settings[i].item,
                                  .value = known ? buf_cstr(&text) : NULL,
                                  .note = !known    ? "the node did not say it"
                                          : differs ? differs
                                                    : settings[i].note));
    }
    buf_clear(&text);
    buf_clear(&note);
}

static void add_term(struct vm_rows *rows, const char *section, const char *item, struct slice term)
{
    struct buf text;
    buf_init(&text, 0);
    if (vm_put_term(&text, term))
        vm_rows_add(rows, VM_TEXT(section, item, .value = buf_cstr(&text)));
    else
        vm_rows_add(rows, VM_TEXT(section, item, .note = "the node did not say it"));
    buf_clear(&text);
}

static void add_schedulers(struct vm_rows *rows, const struct vm_read *v)
{
    static const struct {
        const char *item;
        enum vm_term term;
        const char *note;
    } kinds[] = {{"schedulers", VM_SCHEDULERS, "that were started"},
                 {"schedulers online", VM_ONLINE, NULL},
                 {"dirty CPU schedulers", VM_DIRTY_CPU, NULL},
                 {"dirty I/O schedulers", VM_DIRTY_IO, NULL},
                 {"CPUs", VM_CPUS, "that the VM may use"}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        int64_t n;
        const bool known = vm_keep_number(v, kinds[i].term, &n) && n >= 0;
        vm_rows_add(rows, VM_NUMBER("emulator", kinds[i].item, known ? n : -1, -1,
                                    .note = known ? kinds[i].note : "the node did not say it"));
    }
}

/* ---- applications */

/* {Name, Description, Version}; false: it is something else. */
static bool read_application(struct slice term, struct slice *name, struct slice *version)
{
    struct slice of[3];
    if (!values_read_tuple(term, 3, of, 3) || who_atom_of(of[0]).len == 0)
        return false;
    *name = of[0];
    *version = of[2];
    return true;
}

static struct slice find_version(const struct vm_read *v, const char *name)
{
    struct cursor c;
    struct slice term, atom, version;
    size_t n;
    if (values_enter_list(vm_kept(v, VM_APPLICATIONS), &c, &n))
        for (size_t i = 0; i < n && cursor_raw(&c, &term); i++)
            if (read_application(term, &atom, &version) && who_term_is(atom, name))
                return version;
    return (struct slice){0};
}

static void add_versions(struct vm_rows *rows, const struct vm_read *v)
{
    const struct slice elixir = find_version(v, "elixir");
    add_term(rows, "versions", "OTP", vm_kept(v, VM_OTP));
    add_term(rows, "versions", "ERTS", vm_kept(v, VM_ERTS));
    add_term(rows, "versions", "kernel", find_version(v, "kernel"));
    add_term(rows, "versions", "stdlib", find_version(v, "stdlib"));
    if (elixir.len > 0)
        add_term(rows, "versions", "Elixir", elixir);
    if (vm_kept(v, VM_VERSION).len == 0)
        add_term(rows, "emulator", "flavour", vm_kept(v, VM_VERSION));
    else
        vm_rows_add(
            rows, VM_TEXT("emulator", "flavour",
                          .value = values_is_jit(vm_kept(v, VM_VERSION)) ? "JIT" : "interpreter"));
}

static void add_applications(struct vm_rows *rows, const struct vm_read *v)
{
    struct cursor c;
    struct slice term, name, version;
    struct buf text;
    size_t n;
    if (!values_enter_list(vm_kept(v, VM_APPLICATIONS), &c, &n)) {
        vm_rows_add(rows, VM_TEXT("applications", "all", .note = "the node did not list them"));
        return;
    }
    rows->partial = rows->partial || n > APPLICATIONS_MOST;
    buf_init(&text, 0);
    for (size_t i = 0; i < n && i < APPLICATIONS_MOST && cursor_raw(&c, &term); i++) {
        if (!read_application(term, &name, &version))
            continue;
        buf_reset(&text);
        vm_put_safe(&text, who_atom_of(name));
        add_term(rows, "applications", buf_cstr(&text), version);
    }
    buf_clear(&text);
}

/* ---- limits */

static void add_limits(struct vm_rows *rows, const struct vm_read *v)
{
    static const struct {
        const char *item;
        enum vm_term count, limit;
        int64_t plain; /* 0: it differs between releases */
        const char *note;
    } limits[] = {{"processes", VM_PROCESSES, VM_PROCESS_LIMIT, 0, NULL},
                  {"ports", VM_PORTS, VM_PORT_LIMIT, 65536, NULL},
                  {"atoms", VM_ATOMS, VM_ATOM_LIMIT, 1048576, NULL},
                  {"ETS tables", VM_TABLES, VM_ETS_LIMIT, 0, "not enforced: memory is the limit"}};
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        char note[60];
        int64_t n, limit;
        const bool known = vm_keep_number(v, limits[i].count, &n) && n >= 0;
        const bool limited = vm_keep_number(v, limits[i].limit, &limit) && limit >= 0;
        const bool differs = limited && limits[i].plain > 0 && limit != limits[i].plain;
        snprintf(note, sizeof note, "limit by default: %" PRId64, limits[i].plain);
        vm_rows_add(rows, VM_NUMBER("limits", limits[i].item, known ? n : -1, limited ? limit : -1,
                                    .note = !known    ? "the node did not say it"
                                            : differs ? note
                                                      : limits[i].note));
    }
}

/* No function says what waits in that buffer; behind it the queue of a port stays short: it is busy
 * from 8 KiB on, so it has no share of that limit. */
static void add_distribution(struct vm_rows *rows, const struct vm_read *v)
{
    struct slice nodes[CONNECTIONS], ports[CONNECTIONS], queue;
    const size_t all = values_read_ports(vm_kept(v, VM_CONTROLLERS), nodes, ports, CONNECTIONS);
    struct cursor c;
    struct buf note;
    char size[32];
    int64_t limit, most = -1, bytes;
    size_t n, at = 0;
    if (values_enter_list(vm_kept(v, VM_QUEUES), &c, &n))
        for (size_t i = 0; i < n && i < all && cursor_raw(&c, &queue); i++)
            if (values_read_integer(values_of_pair(queue, "queue_size"), &bytes) && bytes > most) {
                most = bytes;
                at = i;
            }
    buf_init(&note, 0);
    if (most >= 0) {
        buf_printf(&note, "the VM does not say it; fullest of %zu ports: %s to ", all,
                   text_bytes(size, sizeof size, (double)most));
        vm_put_safe(&note, who_atom_of(nodes[at]));
    } else {
        buf_puts(&note, all > 0                              ? "the ports to nodes did not answer"
                        : vm_kept(v, VM_CONTROLLERS).len > 0 ? "not connected to a node by a port"
                                                             : "the node did not say it");
    }
    vm_rows_add(rows, VM_NUMBER("limits", "distribution buffer", -1,
                                vm_keep_number(v, VM_BUSY_LIMIT, &limit) && limit >= 0 ? limit : -1,
                                .unit = "bytes", .note = buf_cstr(&note)));
    buf_clear(&note);
}

/* ---- the OS process */

static void add_descriptors(struct vm_rows *rows, const struct vm_read *v)
{
    const int64_t n = vm_descriptors(v);
    const bool is_read = vm_file(v, VM_FILE_STATUS).len > 0;
    vm_rows_add(rows, VM_NUMBER("limits", "file descriptors", n, vm_descriptor_limit(v),
                                .note = n >= 0    ? NULL
                                        : is_read ? "not counted: too many to list"
                                                  : vm_why_no_files(v)));
}

static void add_os_process(struct vm_rows *rows, const struct vm_read *v)
{
    static const struct {
        const char *item, *key;
    } sizes[] = {{"resident memory", "VmRSS:"},
                 {"largest resident", "VmHWM:"},
                 {"swapped out", "VmSwap:"},
                 {"virtual memory", "VmSize:"}};
    const struct slice status = vm_file(v, VM_FILE_STATUS);
    struct slice threads = files_find_behind(status, "Threads:");
    struct slice score = vm_file(v, VM_FILE_OOM_SCORE);
    struct buf adjust;
    int64_t n;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        vm_rows_add(rows,
                    VM_NUMBER("os", sizes[i].item, files_find_kib(status, sizes[i].key), -1,
                              .unit = "bytes", .note = status.len > 0 ? NULL : vm_why_no_files(v)));
    n = files_take_number(&threads, &n) ? n : -1;
    vm_rows_add(rows,
                VM_NUMBER("os", "threads", n, -1, .note = n >= 0 ? NULL : vm_why_no_files(v)));
    buf_init(&adjust, 0);
    buf_puts(&adjust, "0 to 2,000; the highest is killed first; oom_score_adj ");
    vm_put_safe(&adjust, files_find_behind(vm_file(v, VM_FILE_OOM_ADJUST), ""));
    n = files_take_number(&score, &n) ? n : -1;
    vm_rows_add(rows, VM_NUMBER("os", "OOM score", n, -1,
                                .note = n < 0 ? vm_why_no_files(v) : buf_cstr(&adjust)));
    buf_clear(&adjust);
}

/* ---- the cgroup */

/* -1: none, or not known. */
static int64_t memory_limit(const struct vm_read *v)
{
    struct slice text = vm_file(v, VM_FILE_MEMORY_LIMIT);
    int64_t n;
    return files_take_number(&text, &n) && n < NO_LIMIT ? n : -1;
}

static void add_memory(struct vm_rows *rows, const struct vm_read *v)
{
    struct slice use = vm_file(v, VM_FILE_MEMORY), killed;
    struct buf note;
    int64_t n = files_take_number(&use, &n) ? n : -1, limit = memory_limit(v), kills;
    buf_init(&note, 0);
    if (vm_file(v, VM_FILE_STATUS).len == 0) {
        buf_puts(&note, vm_why_no_files(v));
    } else if (n < 0) {
        buf_puts(&note, "the node sees no cgroup that counts memory");
    } else {
        buf_printf(&note, "%sof ", limit < 0 ? "no limit; " : "page cache too; ");
        vm_put_group(&note, v, true);
    }
    vm_rows_add(rows,
                VM_NUMBER("cgroup", "memory", n, limit, .unit = "bytes", .note = buf_cstr(&note)));
    /* The model works it out, with its history. */
    vm_rows_add(rows, VM_TEXT("cgroup", "time until limit", .unit = "s",
                              .note = n < 0 ? buf_cstr(&note) : "no limit"));
    killed = files_find_behind(vm_file(v, VM_FILE_MEMORY_EVENTS), "oom_kill ");
    kills = files_take_number(&killed, &kills) ? kills : -1;
    vm_rows_add(rows, VM_NUMBER("cgroup", "OOM kills", kills, -1,
                                .note = kills >= 0 ? NULL : buf_cstr(&note)));
    buf_clear(&note);
}

/* Version 2: "50000 100000" or "max 100000"; version 1: a file for each, -1 without one. */
static bool read_quota(const struct vm_read *v, double *cpus)
{
    struct slice quota = vm_file(v, VM_FILE_CPU_QUOTA);
    struct slice apart = vm_file(v, VM_FILE_CPU_PERIOD);
    int64_t us, period_us;
    if (!files_take_number(&quota, &us) ||
        !files_take_number(apart.len > 0 ? &apart : &quota, &period_us) || period_us <= 0)
        return false;
    *cpus = (double)us / (double)period_us;
    return true;
}

static void add_quota(struct vm_rows *rows, const struct vm_read *v)
{
    struct slice stat = vm_file(v, VM_FILE_CPU);
    struct slice periods = files_find_behind(stat, "nr_periods ");
    struct slice throttled = files_find_behind(stat, "nr_throttled ");
    const char *why =
        vm_file(v, VM_FILE_STATUS).len == 0 ? vm_why_no_files(v) : "the node sees no CPU cgroup";
    int64_t n, of;
    double cpus;
    char value[40];
    struct buf group;
    buf_init(&group, 0);
    vm_put_group(&group, v, false);
    const bool has_quota = stat.len > 0 && read_quota(v, &cpus) && cpus < 1e9;
    if (has_quota)
        snprintf(value, sizeof value, "%.2f CPUs", cpus);
    vm_rows_add(rows, VM_TEXT("cgroup", "CPU quota",
                              .value = has_quota      ? value
                                       : stat.len > 0 ? "none"
                                                      : NULL,
                              .note = stat.len > 0 ? buf_cstr(&group) : why));
    of = files_take_number(&periods, &of) ? of : -1;
    n = files_take_number(&throttled, &n) ? n : -1;
    vm_rows_add(rows, VM_NUMBER("cgroup", "CPU throttled", n, of,
                                .note = n >= 0         ? "periods in which the quota was used up"
                                        : stat.len > 0 ? "the cgroup counts no periods of a quota"
                                                       : why));
    buf_clear(&group);
}

void vm_build(struct builder *b, void *read, int64_t mono_ns, const struct stepped_who *who)
{
    const struct vm_read *v = read;
    struct vm_rows rows;
    (void)who;
    vm_rows_init(&rows);
    add_limits(&rows, v);
    add_distribution(&rows, v);
    add_descriptors(&rows, v);
    add_memory(&rows, v);
    add_quota(&rows, v);
    add_os_process(&rows, v);
    add_versions(&rows, v);
    add_schedulers(&rows, v);
    add_settings(&rows, v);
    vm_add_flags(&rows, vm_kept(v, VM_FLAGS));
    vm_add_args(&rows, vm_kept(v, VM_ARGS), who_term_is(vm_kept(v, VM_HAS_COOKIE), "true"));
    add_applications(&rows, v);
    vm_rows_end(&rows, b, mono_ns);
}

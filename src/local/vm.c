/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/local/vm.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "maps.h"

enum { RANGES_MOST = 16 };

struct ranges {
    struct jit_range ranges[RANGES_MOST];
    size_t n;
};

static int refused(pid_t pid, int why, struct error *err)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (why == ENOENT || why == ESRCH || stat(path, &st) != 0)
        return error_set(err, ERR_NOT_FOUND, "process %d has ended", (int)pid);
    if (st.st_uid != geteuid())
        return error_set(err, ERR_SYSTEM,
                         "the memory of process %d cannot be read (%s): it runs as another user, "
                         "uid %u. Run beamtop as that user or as root",
                         (int)pid, strerror(why), (unsigned)st.st_uid);
    return error_set(
        err, ERR_SYSTEM,
        "the memory of process %d cannot be read (%s): the system probably allows "
        "that only with CAP_SYS_PTRACE (kernel.yama.ptrace_scope). Run beamtop as root",
        (int)pid, strerror(why));
}

/* Data of the executable: its writable mappings, and the anonymous one right behind (.bss). */
static int find_ranges(struct ranges *out, pid_t pid, struct error *err)
{
    char link[32], executable[PATH_MAX] = "";
    struct error ignored = {.code = ERR_NONE};
    struct maps maps;
    struct map map;
    uint64_t end = 0; /* of the last one of the file */
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    out->n = 0;
    if (readlink(link, executable, sizeof executable - 1) < 0 ||
        maps_open(&maps, pid, &ignored) != 0)
        return refused(pid, errno, err);
    while (out->n < RANGES_MOST && maps_next(&maps, &map)) {
        bool is_file = strcmp(map.path, executable) == 0;
        if (map.writable && map.is_private &&
            (is_file || (map.path[0] == '\0' && map.start == end)))
            out->ranges[out->n++] = (struct jit_range){map.start, map.end};
        end = is_file ? map.end : 0;
    }
    maps_close(&maps);
    return 0;
}

int vm_jit(struct jit **out, pid_t pid, const struct memory *m, struct error *err)
{
    struct ranges data;
    uint64_t word = 0;
    *out = NULL;
    int rc = find_ranges(&data, pid, err);
    if (rc != 0)
        return rc;
    if (data.n > 0 && !memory_read(m, data.ranges[0].start, &word, sizeof word))
        return refused(pid, errno, err);
    uint64_t descriptor = jit_scan(m, data.ranges, data.n);
    if (descriptor == 0)
        return error_set(err, ERR_NOT_FOUND,
                         "no JIT in process %d: compiled functions can be read on x86-64 with OTP "
                         "25 and later, not with emulators built without the JIT",
                         (int)pid);
    return jit_read(out, m, descriptor, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/local/ladder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "beamtop/local/memory.h"
#include "beamtop/local/rights.h"
#include "beamtop/local/threads.h"
#include "beamtop/local/vm.h"
#include "perf.h"

enum { TRIED_HZ = 1 };

/* The first mapped file's address: readable wherever reading the process is permitted. */
static int first_mapped(pid_t pid, uint64_t *at)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return errno;
    errno = 0;
    const int why = fscanf(maps, "%" SCNx64, at) == 1 ? 0 : errno ? errno : ESRCH;
    fclose(maps);
    return why;
}

static int try_memory(pid_t pid, uint64_t at)
{
    const struct memory memory = memory_of_process(&pid);
    uint64_t word;
    errno = 0;
    return memory_read(&memory, at, &word, sizeof word) ? 0 : errno ? errno : EFAULT;
}

static void try_samples(struct error *out, pid_t pid)
{
    struct perf_ring ring;
    perf_ring_init(&ring, 0);
    perf_ring_add(&ring, pid, TRIED_HZ, out);
    perf_ring_close(&ring);
}

void ladder_try(struct ladder *out, pid_t pid)
{
    struct error samples = {0};
    struct thread_times times;
    uint64_t at = 0;
    *out = (struct ladder){.stacks = {0}};
    try_samples(&samples, pid);
    const int maps = first_mapped(pid, &at), memory = maps ? maps : try_memory(pid, at);
    if (maps)
        vm_refused(pid, maps, &out->addresses);
    else
        out->addresses = samples;
    if (memory)
        vm_refused(pid, memory, &out->memory);
    out->stacks = memory ? out->memory : samples;
    errno = 0;
    if (thread_times_read(&times, pid, pid) != 0)
        error_set_errno(&out->times, errno ? errno : ESRCH,
                        "/proc/%d/task cannot be read: probably " RIGHTS_HIDDEN, (int)pid);
}

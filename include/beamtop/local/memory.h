/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of another process, read. Everything above reads it through this table, so that tests
 * and fuzzers give bytes of their own. What is read may change at any moment and is never
 * believed. */
#ifndef BEAMTOP_LOCAL_MEMORY_H
#define BEAMTOP_LOCAL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory {
    /* All len bytes at that address, or false. */
    bool (*read)(void *arg, uint64_t at, void *out, size_t len);
    void *arg;
};

static inline bool memory_read(const struct memory *m, uint64_t at, void *out, size_t len)
{
    return m->read(m->arg, at, out, len);
}

/* That of a process of this host, by process_vm_readv(2); *pid must live as long. */
struct memory memory_of_process(pid_t *pid);

#endif

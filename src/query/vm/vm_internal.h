/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of `vm` share. Pure: no clock, no connection. */
#ifndef BEAMTOP_QUERY_VM_INTERNAL_H
#define BEAMTOP_QUERY_VM_INTERNAL_H

#include "beamtop/base/buf.h"
#include "query/native/run.h"
#include "query/stepped/stepped.h"
#include "vm_rows.h"

/* Values, as the node sent them; those of one ask in the order of its calls. */
enum vm_term {
    /* of vm_base, once */
    VM_OTP,
    VM_ERTS,
    VM_VERSION,
    VM_BUILD_TYPE,
    VM_ARCHITECTURE,
    VM_WORD_BYTES,
    VM_OS_TYPE,
    VM_SMP,
    VM_THREADS,
    VM_ASYNC_THREADS,
    VM_KERNEL_POLL,
    VM_BIND_TYPE,
    VM_SCHEDULERS,
    VM_DIRTY_CPU,
    VM_DIRTY_IO,
    VM_CPUS,
    VM_FULLSWEEP,
    VM_MIN_HEAP,
    VM_WARP_MODE,
    VM_CORRECTION,
    VM_PROCESS_LIMIT,
    VM_PORT_LIMIT,
    VM_ATOM_LIMIT,
    VM_ETS_LIMIT,
    VM_BUSY_LIMIT,
    /* of vm_counts, each time */
    VM_PROCESSES,
    VM_PORTS,
    VM_ATOMS,
    VM_TABLES,
    VM_ONLINE,
    VM_OFFSET,
    VM_RUN_QUEUES,
    /* from here on by separate asks */
    VM_WORDS, /* how many arguments the OS process has */
    VM_ENDS,  /* which of them are "--" */
    VM_FLAGS,
    VM_ARGS,
    VM_HAS_COOKIE,
    VM_POLLS,
    VM_APPLICATIONS,
    VM_CONTROLLERS,
    VM_QUEUES,
    VM_OWN_FILES, /* once */
    VM_PROBED,    /* once: the directories of the cgroup */
    VM_FILES,
    VM_FD_INFO,
    VM_FD_COUNT,
    VM_TERMS
};

enum vm_file {
    VM_FILE_STATUS,
    VM_FILE_OOM_SCORE,
    VM_FILE_OOM_ADJUST,
    VM_FILE_MEMORY,
    VM_FILE_MEMORY_LIMIT,
    VM_FILE_MEMORY_EVENTS,
    VM_FILE_CPU,
    VM_FILE_CPU_QUOTA,
    VM_FILE_CPU_PERIOD,
    VM_FILES_COUNT
};

struct vm_read {
    struct buf kept[VM_TERMS];                  /* empty: not asked, or it failed */
    enum vm_term out;                           /* the first of the last ask */
    uint64_t now_ms, applications_ms, files_ms; /* asked; 0: never */
    uint64_t read_ms;                           /* when files were read */
    unsigned looks;                             /* for a dirty I/O scheduler without work */
    uint64_t args_ms;                           /* asked; 0: never */
    bool asked_words, asked_ends, asked_polls, reads_files;
};

void vm_expect(struct vm_read *v, enum vm_term first);
struct slice vm_kept(const struct vm_read *v, enum vm_term term);
bool vm_keep_number(const struct vm_read *v, enum vm_term term, int64_t *out);

/* ---- vm_files.c: what the node reads of its OS process and cgroup */

bool vm_ask_idle(void *own, struct run_calls *calls);
bool vm_ask_own(void *own, struct run_calls *calls);
bool vm_ask_probe(void *own, struct run_calls *calls);
bool vm_ask_files(void *own, struct run_calls *calls);
bool vm_ask_descriptors(void *own, struct run_calls *calls);
bool vm_ask_polls(void *own, struct run_calls *calls);
/* The text of a file; len 0: it was not read, or is not there. */
struct slice vm_file(const struct vm_read *v, enum vm_file file);
/* What the kernel allows a process; -1: not known, or no limit. */
int64_t vm_descriptor_limit(const struct vm_read *v);
int64_t vm_descriptors(const struct vm_read *v);
/* The cgroup's directory of memory, or of the CPU; "": none was found. */
void vm_put_group(struct buf *out, const struct vm_read *v, bool memory);
/* Why files have not been read. */
const char *vm_why_no_files(const struct vm_read *v);

/* ---- vm_build.c */

void vm_build(struct builder *b, void *read, int64_t mono_ns, const struct stepped_who *who);

#endif

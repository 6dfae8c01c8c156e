/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/local/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/local/rights.h"
#include "beamtop/local/threads.h"
#include "local/jit/erl_pid.h"

enum { RANGES = 16 };

struct vm {
    pid_t pid;
    struct memory memory;
    struct images *images;
    struct jit *jit;
    uint64_t descriptor;
    bool by_symbol;
    struct error why_no_code;
    int release; /* of OTP; 0: unknown */
    unsigned pid_bits;
};

/* The start of its command line, words that end with NUL; the bytes. */
static size_t read_command_line(pid_t pid, char *out, size_t size)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, out, size - 1);
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* The process limit among the emulator's own words, before "--": erlexec hands +P N on as -P N.
 * 0: not given. */
static uint64_t process_limit(const char *words, size_t len)
{
    for (size_t at = 0; at < len && strcmp(words + at, "--") != 0; at += strlen(words + at) + 1)
        if (strncmp(words + at, "-P", 2) == 0) {
            const size_t next = at + (words[at + 2] ? 2 : 3);
            return next < len ? strtoull(words + next, NULL, 10) : 0;
        }
    return 0;
}

/* From its command line: the directory of its emulator, erts-13.1.5 for OTP 25, and the process
 * limit. Without such a directory, from what it calls its threads. */
static void read_layout(struct vm *v)
{
    char words[8192];
    struct thread *threads = NULL;
    struct error err = {0};
    size_t n = 0;
    const size_t len = read_command_line(v->pid, words, sizeof words);
    const char *at = memmem(words, len, "/erts-", 6);
    const uint64_t erts = at ? strtoull(at + 6, NULL, 10) : 0;
    if (erts >= 5 && erts < 100)
        v->release = (int)erts + 12;
    else if (threads_list(&threads, &n, v->pid, &err) == 0)
        v->release = n > 0 && strncmp(threads[0].name, "erts_", 5) == 0 ? 27 : 25;
    free(threads);
    v->pid_bits = erl_pid_bits(v->release, process_limit(words, len));
}

int vm_refused(pid_t pid, int why, struct error *err)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (why == ENOENT || why == ESRCH || stat(path, &st) != 0)
        return error_set(err, ERR_NOT_FOUND, "process %d has ended", (int)pid);
    if (st.st_uid != geteuid())
        return error_set(err, ERR_SYSTEM,
                         "the memory of process %d cannot be read (%s): it runs as another user, "
                         "uid %u. Run beamtop as that user, as root, or with CAP_SYS_PTRACE",
                         (int)pid, strerror(why), (unsigned)st.st_uid);
    return error_set(err, ERR_SYSTEM, "the memory of process %d cannot be read (%s): %s", (int)pid,
                     strerror(why), rights_refusal());
}

int vm_open(struct vm **out, pid_t pid, struct error *err)
{
    struct vm *v = *out = alloc_zero(1, sizeof *v);
    v->pid = pid;
    v->memory = memory_of_process(&v->pid);
    read_layout(v);
    if (images_open(&v->images, pid, err) != 0) {
        const int why = errno;
        struct error first = *err;
        if (first.code != ERR_SYSTEM || (why != EACCES && why != EPERM))
            return first.code;
        error_clear(err);
        return vm_refused(pid, why, err);
    }
    return 0;
}

void vm_close(struct vm *v)
{
    if (v) {
        jit_free(v->jit);
        images_free(v->images);
    }
    free(v);
}

void vm_parse(struct vm *v)
{
    struct jit_range ranges[RANGES];
    uint64_t word = 0;
    images_parse(v->images, &v->memory);
    const size_t n = images_writable(v->images, ranges, ARRAY_LEN(ranges));
    if (n > 0 && !memory_read(&v->memory, ranges[0].start, &word, sizeof word)) {
        vm_refused(v->pid, errno, &v->why_no_code);
        return;
    }
    v->descriptor = images_find(v->images, "__jit_debug_descriptor");
    v->by_symbol = v->descriptor != 0;
    if (!v->by_symbol)
        v->descriptor = jit_scan(&v->memory, ranges, n);
    if (v->descriptor == 0 && images_is_denied(v->images))
        error_set(&v->why_no_code, ERR_SYSTEM,
                  "the program of process %d cannot be read: it is probably on fuse-overlayfs of a "
                  "rootless container, which only its user namespace can read. `podman unshare "
                  "beamtop …` reads its compiled functions there",
                  (int)v->pid);
    else if (v->descriptor == 0)
        error_set(&v->why_no_code, ERR_NOT_FOUND,
                  "no JIT in process %d: compiled functions can be read on x86-64 and aarch64 with "
                  "OTP 25 and later, not with emulators built without the JIT",
                  (int)v->pid);
    else
        jit_read(&v->jit, machine_of_host(), &v->memory, v->descriptor, &v->why_no_code);
}

const struct jit *vm_jit(const struct vm *v)
{
    return v->jit;
}

const char *vm_why_no_code(const struct vm *v)
{
    return v->why_no_code.text;
}

struct images *vm_images(const struct vm *v)
{
    return v->images;
}

const struct memory *vm_memory(const struct vm *v)
{
    return &v->memory;
}

bool vm_read_again(struct vm *v, struct jit **out)
{
    struct error err = {0};
    return v->jit && jit_changed(v->jit, &v->memory) &&
           jit_read(out, machine_of_host(), &v->memory, v->descriptor, &err) == 0;
}

struct jit *vm_exchange(struct vm *v, struct jit *now)
{
    struct jit *before = v->jit;
    v->jit = now;
    return before;
}

struct images *vm_exchange_images(struct vm *v, struct images *now)
{
    struct images *before = v->images;
    v->images = now;
    return before;
}

void vm_erl_pid(const struct vm *v, uint64_t first_word, uint64_t *number, uint64_t *serial)
{
    struct erl_pid pid = {0};
    erl_pid_of_word(&pid, first_word, v->release, v->pid_bits);
    *number = pid.number;
    *serial = pid.serial;
}

void vm_describe(const struct vm *v, struct record_begin *out)
{
    out->symbols = images_has_symbols(v->images);
    out->stripped = images_is_stripped(v->images);
    out->by_symbol = v->by_symbol;
    if (!v->jit)
        return;
    out->functions = (uint32_t)jit_count(v->jit);
    out->frame_pointers = jit_layout(v->jit) == JIT_FRAME_POINTERS;
    out->stop_offset = jit_htop_offset(v->jit) + (jit_htop_offset(v->jit) ? 8 : 0);
}

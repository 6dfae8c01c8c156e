/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "local_read.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/spawn.h"
#include "beamtop/local/rights.h"
#include "beamtop/local/vm.h"

enum { WAIT_MS = 1000 };

struct reading {
    pid_t pid;
    void (*put)(struct buf *out, const struct jit *j, const void *arg);
    const void *arg;
};

static void parse_vm(struct buf *out, const struct reading *r, struct error *err)
{
    struct vm *v = NULL;
    struct rights_user user;
    if (rights_read(&user, r->pid, err) == 0 && vm_open(&v, r->pid, err) == 0 &&
        rights_become(&user, r->pid, err) == 0) {
        vm_parse(v);
        if (vm_jit(v))
            r->put(out, vm_jit(v), r->arg);
        else
            error_set(err, ERR_NOT_FOUND, "%s", vm_why_no_code(v));
    }
    vm_close(v);
}

/* In a process that has become the user of the VM: the error, and behind it the text. */
static void run_child(int fd, const void *arg)
{
    const struct reading *r = arg;
    struct error err = {0};
    struct buf text;
    buf_init(&text, 0);
    parse_vm(&text, r, &err);
    const struct buf failed = {.data = (uint8_t *)&err, .len = sizeof err};
    _exit(buf_write(&failed, fd) && buf_write(&text, fd) ? 0 : 1);
}

/* ---- its other end */

/* Waits up to *left_ms for data or the end. A longer wait means that this process was stopped. */
static bool is_readable(int fd, uint64_t *left_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int n = 0;
    while (n == 0 && *left_ms > 0) {
        const uint64_t most = *left_ms < WAIT_MS ? *left_ms : WAIT_MS;
        const uint64_t began = clock_mono_ns();
        n = poll(&p, 1, (int)most);
        const uint64_t took = (clock_mono_ns() - began) / 1000000;
        *left_ms -= n == 0 || took > most ? most : took;
        if (n < 0 && errno == EINTR)
            n = 0;
    }
    return n != 0;
}

/* False: not in time. */
static bool read_child(struct buf *all, int fd, uint64_t within_ms)
{
    uint8_t bytes[65536];
    ssize_t n = 1;
    while (n != 0 && all->len <= LIMIT_JIT_BYTES) {
        if (!is_readable(fd, &within_ms))
            return false;
        n = read(fd, bytes, sizeof bytes);
        if (n > 0)
            buf_put(all, bytes, (size_t)n);
        else if (n < 0 && errno != EINTR)
            break;
    }
    return true;
}

int local_read_child(struct buf *out, local_run_fn *run, const void *arg, uint64_t within_ms,
                     struct error *err)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return error_set_errno(err, errno, "no pipe");
    const pid_t child = fork();
    if (child == 0)
        run(fds[1], arg);
    close(fds[1]);
    const bool in_time = child < 0 || read_child(out, fds[0], within_ms);
    close(fds[0]);
    if (!in_time)
        kill(child, SIGKILL);
    const bool ended_well = child > 0 && spawn_wait(child) == 0;
    if (!in_time)
        return error_set(err, ERR_TIMEOUT,
                         "the process that reads the VM was ended: it had not answered in %.0f s. "
                         "It was stopped, or the host is overloaded",
                         (double)within_ms / 1000);
    return ended_well ? 0 : error_set(err, ERR_SYSTEM, "the process that reads the VM has failed");
}

int local_read(struct buf *out, pid_t pid,
               void (*put)(struct buf *out, const struct jit *j, const void *arg), const void *arg,
               struct error *err)
{
    const struct reading reading = {pid, put, arg};
    struct error theirs;
    struct buf all;
    buf_init(&all, 0);
    int rc = local_read_child(&all, run_child, &reading, LOCAL_READ_MS, err);
    if (rc == 0 && all.len < sizeof theirs) {
        error_set(err, ERR_SYSTEM, "the process that reads the VM has failed");
    } else if (rc == 0) {
        memcpy(&theirs, all.data, sizeof theirs);
        theirs.text[sizeof theirs.text - 1] = '\0';
        if (theirs.code == ERR_NONE)
            buf_put(out, all.data + sizeof theirs, all.len - sizeof theirs);
        else
            error_set(err, ERR_SYSTEM, "%s", theirs.text);
    }
    buf_clear(&all);
    return err->code;
}

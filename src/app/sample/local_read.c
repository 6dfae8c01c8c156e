/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "local_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beamtop/base/limits.h"
#include "beamtop/local/rights.h"
#include "beamtop/local/vm.h"

struct reading {
    void (*put)(struct buf *out, const struct jit *j, const void *arg);
    const void *arg;
};

static void parse(struct buf *out, pid_t pid, const struct reading *r, struct error *err)
{
    struct vm *v = NULL;
    struct rights_user user;
    if (rights_read(&user, pid, err) == 0 && vm_open(&v, pid, err) == 0 &&
        rights_become(&user, pid, err) == 0) {
        vm_parse(v);
        if (vm_jit(v))
            r->put(out, vm_jit(v), r->arg);
        else
            error_set(err, ERR_NOT_FOUND, "%s", vm_why_no_code(v));
    }
    vm_close(v);
}

/* In a process that has become the user of the VM: the error, and behind it the text. */
static void run_child(int fd, pid_t pid, const struct reading *r)
{
    struct error err = {0};
    struct buf text;
    buf_init(&text, 0);
    parse(&text, pid, r, &err);
    const struct buf failed = {.data = (uint8_t *)&err, .len = sizeof err};
    _exit(buf_write(&failed, fd) && buf_write(&text, fd) ? 0 : 1);
}

int local_read(struct buf *out, pid_t pid,
               void (*put)(struct buf *out, const struct jit *j, const void *arg), const void *arg,
               struct error *err)
{
    int fds[2], status = 0;
    uint8_t bytes[65536];
    ssize_t n = 0;
    const struct reading reading = {put, arg};
    struct error theirs;
    struct buf all;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return error_set_errno(err, errno, "no pipe");
    const pid_t child = fork();
    if (child == 0)
        run_child(fds[1], pid, &reading);
    close(fds[1]);
    buf_init(&all, 0);
    while (child > 0 && all.len <= LIMIT_JIT_BYTES &&
           ((n = read(fds[0], bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            buf_put(&all, bytes, (size_t)n);
    close(fds[0]);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 ||
        all.len < sizeof theirs) {
        error_set(err, ERR_SYSTEM, "the process that reads the VM has failed");
    } else {
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

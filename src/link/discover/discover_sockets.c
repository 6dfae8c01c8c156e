/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sockets on which a VM listens, for people: all of them. */
#include "beamtop/link/discover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "link/sockets/listener.h"
#include "link/proc.h"

struct found {
    const struct listening *all;
    size_t count;
    struct discover_socket *out;
    size_t n, most;
};

/* Takes each; none is the one that is looked for. */
static bool take_socket(void *arg, uint64_t inode)
{
    struct found *f = arg;
    for (size_t i = 0; i < f->count && f->n < f->most; i++)
        if (f->all[i].inode == inode) {
            struct discover_socket *to = &f->out[f->n++];
            to->port = f->all[i].port;
            snprintf(to->address, sizeof to->address, "%s",
                     f->all[i].any ? "*" : f->all[i].address);
            return false;
        }
    return false;
}

static int by_port(const void *a, const void *b)
{
    const struct discover_socket *x = a, *y = b;
    return x->port < y->port ? -1 : x->port > y->port;
}

long discover_sockets(struct discover_socket *out, size_t most, const char *proc_root, pid_t pid,
                      uid_t uid)
{
    char tree[4096];
    struct proc p;
    const char *proc = proc_root ? proc_root : "/proc";
    if (proc_open_pid(&p, proc, pid) != 0)
        return -1;
    const int fds = openat(p.dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC), why = errno;
    const bool is_other = fds >= 0 && proc_other_network(&p);
    proc_close(&p);
    errno = why;
    if (fds < 0)
        return -1;
    close(fds);
    snprintf(tree, sizeof tree, "%.4000s/%ld", proc, (long)pid);
    struct listening *all = alloc_zero(LIMIT_LISTENING, sizeof *all);
    struct found f = {.all = all,
                      .count = listener_list(all, LIMIT_LISTENING, is_other ? tree : proc, uid),
                      .out = out,
                      .most = most};
    (void)proc_first_socket(proc, pid, take_socket, &f);
    if (f.n > 1)
        qsort(out, f.n, sizeof *out, by_port);
    free(all);
    return (long)f.n;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "start.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "beamtop/base/files.h"

enum {
    MOST_FILES = 65536, /* 512 streams need 2,048 */
    FILES = 24,  /* of a screen with its terminal, loop, workers, connection, and some to spare */
    WORKERS = 4, /* of libuv, which are started together, and abort when one is not */
};

static int check_files(struct error *err)
{
    int fds[FILES], n = 0, why = 0;
    while (n < FILES && (fds[n] = dup(STDIN_FILENO)) >= 0)
        n++;
    why = errno;
    for (int i = 0; i < n; i++)
        close(fds[i]);
    if (n == FILES)
        return 0;
    return error_set(err, ERR_SYSTEM,
                     "only %d file descriptors are left, and beamtop needs %d (%s): raise the "
                     "limit (ulimit -n)",
                     n, FILES, strerror(why));
}

static void wait_for(void *arg)
{
    uv_sem_wait(arg);
}

/* Without a loop: what libuv keeps for all loops does not stand a recorder's fork(). */
static int check_threads(struct error *err)
{
    uv_thread_t threads[WORKERS];
    uv_sem_t end;
    int n = 0, rc = uv_sem_init(&end, 0);
    while (rc == 0 && n < WORKERS && (rc = uv_thread_create(&threads[n], wait_for, &end)) == 0)
        n++;
    for (int i = 0; i < n; i++)
        uv_sem_post(&end);
    for (int i = 0; i < n; i++)
        uv_thread_join(&threads[i]);
    uv_sem_destroy(&end);
    if (rc == 0)
        return 0;
    return error_set(err, ERR_SYSTEM,
                     "%d threads cannot be started (%s): the limit of memory, stack or "
                     "processes is too low (ulimit -v, -s, -u, or the cgroup)",
                     WORKERS, uv_strerror(rc));
}

int start_check(struct error *err)
{
    files_raise(MOST_FILES); /* a node that is reached by another program needs several */
    return check_files(err) == 0 ? check_threads(err) : (int)err->code;
}

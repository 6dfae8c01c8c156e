/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A new private directory for a test, which removes it. */
#ifndef TESTS_TEMPORARY_H
#define TESTS_TEMPORARY_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes its path to out; false: none could be made. In memory where that is possible: nothing is
 * waited for when a file is written through. */
static inline bool temporary_dir(char *out, size_t size, const char *name)
{
    const char *where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    for (int i = 0; i < 1000; i++) {
        snprintf(out, size, "%s/beamtop-%s-%ld-%d", where, name, (long)getpid(), i);
        if (mkdir(out, 0700) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    return false;
}

#endif

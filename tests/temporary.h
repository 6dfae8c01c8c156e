/* A new private directory for a test, which removes it. */
#ifndef TESTS_TEMPORARY_H
#define TESTS_TEMPORARY_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes its path to out; false: none could be made. */
static inline bool temporary_dir(char *out, size_t size, const char *name)
{
    for (int i = 0; i < 1000; i++) {
        snprintf(out, size, "/tmp/beamtop-%s-%ld-%d", name, (long)getpid(), i);
        if (mkdir(out, 0700) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    return false;
}

#endif

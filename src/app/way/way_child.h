/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that the process of streams has started. One thread. */
#ifndef BEAMTOP_APP_WAY_WAY_CHILD_H
#define BEAMTOP_APP_WAY_WAY_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "way_methods.h"
#include "way_wire.h"

#define WAY_SAID_BYTES 4096 /* the last ones that a program has said are kept */

struct way_child {
    pid_t pid;
    struct way_ask ask;
    struct way_url url;
    size_t method;    /* of a stream: which one is tried */
    char before[300]; /* why the method before did not serve; "" */
    int status;       /* the socket of the asker; -1: it has closed it */
    int errors;       /* what the program says; -1: closed */
    int out;          /* what it prints, of WAY_OPENS_PORT; else -1 */
    int ours;         /* the asker's end of the stream, until that is open */
    int theirs;       /* held until the end has been reported: so the asker sees that first */
    bool is_open, has_exited;
    int exit_status;
    uint64_t end_ms; /* when it is killed; 0: not yet */
    bool was_asked;  /* to end, by SIGTERM */
    char said[WAY_SAID_BYTES];
    size_t said_len;
};

/*
 * Starts a program: `in` is its standard input (-1: none), and its output unless `out` is not NULL,
 * which then gets what it prints. in_front: it may use the terminal. 0 or an errno value. */
int way_spawn(pid_t *pid, char *const *words, int in, int *out, int *errors, bool in_front);
/* Reads what is there of fd, and closes it at its end. Keeps the last of it in said. */
void way_child_read(struct way_child *c, int *fd);
void way_child_close(struct way_child *c); /* its descriptors */

#endif

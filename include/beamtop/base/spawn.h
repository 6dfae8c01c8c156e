/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Child processes that run a program without a loop (in a loop: app/job/child.h). No signal is
 * ignored or blocked in them; other descriptors go as they are, so those of beamtop close. */
#ifndef BEAMTOP_BASE_SPAWN_H
#define BEAMTOP_BASE_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

/* The program that runs, also when a newer one has taken its name. */
#define SPAWN_OWN_PROGRAM "/proc/self/exe"

struct spawn {
    char *const *words;  /* its arguments, the name first; NULL ends them */
    const char *path;    /* NULL: words[0], which PATH finds */
    int in, out, errors; /* -1: /dev/null */
    bool own_group;      /* it may not read of the terminal, nor is it stopped with us */
    bool outlives;       /* it goes on when we are killed; what it starts itself always does */
};

/* 0 or an errno value. The caller reaps it. Unless it outlives us, it is killed when the thread
 * that has started it ends: that one waits for it. */
int spawn_start(pid_t *pid, const struct spawn *s);
/* The program itself, silent; *socket is our end of its standard input, which keeps messages apart.
 * 0 or an errno value. */
int spawn_own(pid_t *pid, char *const *words, int *socket);
/* Reaps it: the status of waitpid(), or -1 when it was no child. */
int spawn_wait(pid_t pid);
void spawn_kill(pid_t pid); /* SIGKILL, and reaps it */

#endif

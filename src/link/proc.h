/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small reads from a /proc tree. Private to the layer. */
#ifndef BEAMTOP_LINK_PROC_H
#define BEAMTOP_LINK_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One process's directory in a /proc tree. */
struct proc {
    int dir; /* of the process; -1: gone */
    const char *tree;
};

/* A list of strings that end with NUL, as in cmdline and environ. */
struct proc_strings {
    char *bytes; /* owned; wiped and freed by proc_strings_clear */
    size_t len;
};

int proc_open(struct proc *p, const char *tree, const char *pid);
int proc_open_pid(struct proc *p, const char *tree, pid_t pid); /* tree NULL: /proc */
void proc_close(struct proc *p);

/* Whose process it is, and whether it runs as no other user and in no other group than those of its
 * user: a program with set-user-ID or set-group-ID does. False: unreadable. */
bool proc_user(const struct proc *p, uid_t *uid, bool *one_user);
/* The same of what its file `status` had at one moment: pure. */
bool proc_parse_user(const char *status, uid_t *uid, bool *one_user);

/* When it started, in ticks since boot; 0: unreadable. */
uint64_t proc_started(const struct proc *p);

/* The start of a file, NUL-terminated; the bytes, or -1. */
long proc_read(int dir, const char *path, char *out, size_t size);
bool proc_read_strings(const struct proc *p, const char *file, struct proc_strings *out);
void proc_strings_clear(struct proc_strings *s);
/* The string after `at` (NULL: the first), or NULL. */
const char *proc_strings_next(const struct proc_strings *s, const char *at);

/* A regular file as the process sees it: symbolic links cannot lead out of its root directory. What
 * is not one is not opened. -1: none. */
int proc_open_inside(const struct proc *p, const char *path);
/* The same in two steps, so that the rights over the file can be others than those over the
 * process. -1 with errno. */
int proc_open_root(const struct proc *p);
int proc_open_below(int root, const char *path);
/* The start of such a file, NUL-terminated, when anybody may read it; "" else. */
void proc_read_public(const struct proc *p, const char *path, char *out, size_t size);
/* The lowest descriptor of a process that is a meant socket, or -1; of LIMIT_PROC_FDS at most. */
int proc_first_socket(const char *tree, pid_t pid, bool (*is_meant)(void *arg, uint64_t inode),
                      void *arg);
/* Whether a process has that socket open. */
bool proc_has_socket(const char *tree, pid_t pid, uint64_t inode);
/* Whether a link of the process (ns/net, root…) reads as that of another. Unreadable: false. */
bool proc_link_differs(const struct proc *p, const char *link, const char *other_pid);
/* The same of a file; anybody may read uid_map, but not ns/user. */
bool proc_file_differs(const struct proc *p, const char *file, const char *other_pid);
/* Whether it is another file there: net/tcp has one inode in each network namespace, and anybody
 * may look at it, but not at ns/net. */
bool proc_inode_differs(const struct proc *p, const char *file, const char *other_pid);
/* Whether its network namespace is another one than ours. Unreadable: false. */
bool proc_other_network(const struct proc *p);
/* The text of a link, NUL-terminated. False: unreadable, or longer. */
bool proc_read_link(const struct proc *p, const char *link, char *out, size_t size);
bool proc_link_is(const struct proc *p, const char *link, const char *target);

#endif

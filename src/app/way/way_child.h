/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that the process of streams has started. One thread. */
#ifndef BEAMTOP_APP_WAY_WAY_CHILD_H
#define BEAMTOP_APP_WAY_WAY_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "way_carry.h"
#include "way_methods.h"
#include "way_wire.h"

#define WAY_CHILDREN 512
#define WAY_SAID_BYTES 4096               /* the last ones that a program has said are kept */
#define WAY_SAID_MOST (16u * 1024 * 1024) /* of all: one that says more is ended */

struct way_child {
    pid_t pid; /* 0: not started */
    struct way_ask ask;
    struct way_url url;
    size_t method;    /* of a stream: which one is tried */
    char before[300]; /* why the method before did not serve; "" */
    int status;       /* the socket of the asker; -1: it has closed it */
    int errors;       /* what the program says; -1: closed */
    int out;          /* what it prints, of WAY_OPENS_PORT and WAY_OPENS_PRINTED; else -1 */
    int ours;         /* the asker's end of the stream, until that is open */
    int theirs;       /* held until the end has been reported: so the asker sees that first */
    bool waits;       /* for a login to its host (way_logins.h) */
    bool starts;      /* it has waited: its program is to be started */
    bool checks;      /* of a login: whether the user has a shared connection already */
    bool is_open, has_exited;
    int exit_status;
    uint64_t end_ms; /* when it is killed; 0: not yet */
    bool was_asked;  /* to end, by SIGTERM */
    char said[WAY_SAID_BYTES];
    size_t said_len;
    size_t said_all; /* bytes, with those that are not kept */
    size_t told;     /* … of which a person has these already */
    struct way_carry carry;
    off_t log_from; /* what ssh's shared connection logs from there on may be about this */
};

struct way_children {
    struct way_child *all[WAY_CHILDREN];
    size_t n;
};

/* NULL: there are too many. status: of the asker, taken over; -1: none. */
struct way_child *way_children_add(struct way_children *all, const struct way_ask *ask, int status);
void way_children_forget_ended(struct way_children *all);

/*
 * Starts a program: `in` is its standard input (-1: none), and its output unless `out` is not NULL,
 * which then gets what it prints. how: flags. 0 or an errno value. */
enum {
    WAY_IN_FRONT = 1, /* it may use the terminal */
    WAY_OUTLIVES = 2, /* a stream that stands goes on when the process of streams is killed */
};
int way_spawn(pid_t *pid, char *const *words, int in, int *out, int *errors, unsigned how);
/* One whose end and errors do not matter; frees the words. */
void way_spawn_unheard(struct way_words *words);
void way_spawn_explain(int errnum, const char *program, struct error *err);
/* Reads what is there of *fd, and closes it at its end. Keeps the last size - 1 bytes, of which
 * *len are there: as text, without NUL. How many have come. */
size_t way_read_last(char *kept, size_t size, size_t *len, int *fd);
/* The same, into said. */
void way_child_read(struct way_child *c, int *fd);
/* What it prints goes to its stream, from where that begins; what is before it into said. */
void way_child_carry(struct way_child *c);
void way_child_forget(struct way_child *c); /* what it has said */
void way_child_close(struct way_child *c);  /* its descriptors */

/* Answers to the asker, if it is still there. */
void way_child_say(struct way_child *c, enum way_state state, enum conn_failure why, bool prompts,
                   const struct error *err, int fd);
void way_child_say_open(struct way_child *c, int fd);
/* … and it is over. prompts: it may succeed where ssh can ask a person. */
void way_child_fail(struct way_child *c, enum conn_failure why, bool prompts,
                    const struct error *err);
void way_child_fail_start(struct way_child *c, int errnum, const char *program);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A native question that is one run (run.h): its steps read, and its answer is made of that. One
 * thread: the loop's. */
#ifndef BEAMTOP_QUERY_STEPPED_H
#define BEAMTOP_QUERY_STEPPED_H

#include "query/native/internal.h"
#include "query/native/run.h"

struct who_entry;

/* Who processes are (who.h); NULL: not known. */
struct stepped_who {
    const struct who_entry *(*find)(const void *arg, const struct etf_pid *pid);
    const void *arg;
};

/* When it is asked, by our clock; name and creation of the node's pids. */
struct stepped_now {
    uint64_t ms;
    const char *node;
    uint32_t creation;
};

/* Constant. `read` is of `bytes`, zeroed, and lives as long as the connection, or as the question
 * that is out: there may be hundreds of nodes. */
struct stepped {
    enum question question;
    size_t bytes;
    bool forgets; /* nothing of `read` is used by the next question; without takes() */
    const struct run_step *steps; /* their `own`: read */
    size_t n_steps;
    void (*init)(void *read); /* once */
    /* arg: of struct native_way's takes(). NULL: it takes all. */
    bool (*takes)(void *read, const uint8_t *arg, size_t len);
    void (*begin)(void *read, const struct stepped_now *now); /* a question */
    /* After the steps: whose names the answer has, WHO_MOST at most. NULL: nobody's. */
    size_t (*whom)(void *read, struct etf_pid *out);
    /* There is no answer, for this reason. NULL: there always is one. */
    bool (*refuses)(void *read, struct error *err);
    void (*build)(struct builder *b, void *read, int64_t mono_ns,
                  const struct stepped_who *who); /* its answer */
    void (*clear)(void *read);
};

/* It asks in the places NATIVE_QUESTION + 4 * question and the three behind. */
struct native_way stepped_way(const struct stepped *kind, const struct way_setup *setup);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the program under test (BEAMTOP) and keeps what it said. Not for more than one thread. */
#ifndef BEAMTOP_TESTS_RUN_H
#define BEAMTOP_TESTS_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RUN_ARGS_MAX 40

struct run {
    pid_t pid;          /* 0: not running */
    int out_fd, err_fd; /* -1: ended */
    bool has_line;      /* of run_line */
    uint64_t started_ns;
    /* after run_wait */
    int exit_code;   /* -signal when one ended it */
    unsigned ms;     /* it took */
    char *out, *err; /* NUL behind */
    size_t out_len, err_len;
};

/*
 * Starts `beamtop ARGS…`, words separated by spaces, filled in as by printf; a word in single
 * quotes may have spaces. env: "NAME=VALUE", up to NULL, added to an environment with PATH, HOME
 * (an empty directory) and a UTF-8 locale only; may
 * be NULL. */
void run_start(struct run *r, const char *const *env, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Reads until it ends. Kills it and fails when that takes more than limit_ms. */
void run_wait(struct run *r, unsigned limit_ms);
/* Waits until its standard output has another line; 0, or -1 when there was none in time. The
   line is what r->out begins with; the next call takes it away. */
int run_line(struct run *r, unsigned limit_ms);
void run_close_out(struct run *r); /* as `| head` does */
/* Starts it, and waits for at most a minute. */
void run_program(struct run *r, const char *const *env, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void run_clear(struct run *r);

/* Nothing on stderr but that a query runs less often: on a busy machine it costs more. */
bool run_is_quiet(const struct run *r);
/* Asserts, and shows the command's output when it does not hold. */
void run_expect(const struct run *r, int exit_code);
/* Data on stdout only, or words on stderr only, with these in them. */
void run_expect_error(const struct run *r, int exit_code, const char *words);

/* Line `index` as an object; negative: from the end. Owned by the caller. */
json_t *run_json(const struct run *r, int index);
size_t run_lines(const struct run *r);
/* A member by path: "system.processes", "rows.3.pid". Borrowed; fails when it is not there. */
json_t *at(json_t *root, const char *path);
double number_at(json_t *root, const char *path);
const char *text_at(json_t *root, const char *path); /* NULL: null */

#endif

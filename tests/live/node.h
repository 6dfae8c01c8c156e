/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Real Erlang nodes for the live tests: each has its own stdin and stdout as a control pipe, dies
 * with the test, and is ended by its pid. Not for more than
 * one thread. */
#ifndef BEAMTOP_TESTS_NODE_H
#define BEAMTOP_TESTS_NODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <cmocka.h>

#define NODE_RELEASES 4

struct node_options {
    const char *root; /* of another OTP, entered by chroot; NULL, empty: the one on this system */
    const char *name; /* as given to -name or -sname */
    bool long_name;
    const char *cookie;    /* NULL: "secret" */
    uint16_t epmd_port;    /* of node_epmd_start */
    const char *flags[16]; /* more arguments for erl, up to the first NULL */
};

struct node {
    pid_t pid; /* 0: not running */
    int in;
    int out;
    char name[256]; /* as the node itself says it */
    char pending[65536];
    size_t pending_len;
};

/* Whether there is an erl (in that root, when one is given). */
bool node_available(const char *root);

/* Whether what differs between OTP releases is tried on this one ("25"): on 23 and 29, on each with
   BEAMTOP_CHECK=all, on others where BEAMTOP_RELEASES says so (which.sh). */
bool node_is_chosen(const char *release);
/* The same for what only needs a node, of any release (`same` there): on 25. */
bool node_is_chosen_once(const char *release);
/* Root directory of a release, for node_options.root: empty for this system's own, 25. false: not
   here, and a line says so. */
bool node_find_root(const char *release, char *root, size_t size);
/* Runs a group of tests: one for each release that is chosen, which is its state (const char *).
   Returns as cmocka_run_group_tests does. */
int node_run_on_releases(const char *group, CMUnitTestFunction test);
/* Prints that the program is skipped, and gives true, where it has no program to test or no Erlang.
 */
bool node_has_nothing_to_test(void);
extern const char *const node_releases[NODE_RELEASES];

/* An epmd of our own on a free port, which it then listens at. Returns its pid, or 0. */
pid_t node_epmd_start(uint16_t *port);
/* Ends a child of ours. */
void node_kill(pid_t pid);

/* A port of 127.0.0.1 at which nobody listens, nor will until the descriptor is closed. */
int node_closed_port(uint16_t *port);

/* Starts and waits until it is up. 0, or -1 with a line on stderr. */
int node_start(struct node *n, const struct node_options *o);
/* Evaluates expressions (with the full stop, on one line) and gives the value as ~w prints it,
   or {'EXIT',Class,Reason}. 0, or -1 when there was no answer within two minutes. */
int node_eval(struct node *n, const char *expressions, char *out, size_t size);
/* Its two halves, for a test that has a loop to run in between. */
int node_ask(struct node *n, const char *expressions);
int node_answer(struct node *n, char *out, size_t size);
bool node_has_said(const struct node *n); /* something to read for node_answer */
/* Asserts through cmocka that the value prints as `expected`. */
void node_expect(struct node *n, const char *expressions, const char *expected);
/* Waits until it does: asks again for at most a minute. */
void node_await(struct node *n, const char *expressions, const char *expected);
/* Waits until the node knows of no connection: of those that were closed it hears when it gets to
 * run. */
void node_await_alone(struct node *n);
/* SIGSTOP, and waits until all of it stands; SIGCONT. */
void node_freeze(struct node *n);
void node_thaw(struct node *n);
void node_stop(struct node *n); /* SIGKILL; fine on one that is not running */

#endif

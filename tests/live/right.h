/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A node of a release that says of itself, as JSON in a file, what the program is to print of it:
 * what the parts of
 * test_right share. */
#ifndef BEAMTOP_TESTS_RIGHT_H
#define BEAMTOP_TESTS_RIGHT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "node.h"
#include "run.h"

#define TOP_ROWS 20
#define WORKERS 26  /* r_1 … r_26 of the workload */
#define SLEEPERS 30 /* spawned as timer:sleep(infinity) */
#define TRIES 12    /* where the best of several counts: the machine may stand still in any */
#define QUICK "-i 0.25 --format json "

struct target {
    const char *release;
    char root[512];
    char facts_path[600], facts_path_inside[64];
    struct node node;
    pid_t epmd;
    uint16_t epmd_port;
    bool ready;
};

/* Starts the release's node with the workload at its first test; skips where it is not here. */
struct target *target_of(void **state);
void target_end(struct target *t);
void start_node(struct target *t, const char *const *flags); /* flags: up to NULL */
void say(struct target *t, const char *expression, const char *expected);
double node_number(struct target *t, const char *expression);
void await_quiet(struct target *t); /* nobody is connected, and no process comes or goes */
json_t *facts(struct target *t);    /* one look, owned */

/* `beamtop COMMAND right@127.0.0.1 ARGS…` that must succeed. Of several at once AT_ONCE: a node has
   eight names of ours. */
#define AT_ONCE 5
void start_on(struct target *t, struct run *r, const char *command, const char *args);
void wait_on(struct run *r);
void run_on(struct target *t, struct run *r, const char *command, const char *args);
json_t *json_on(struct target *t, const char *command, const char *args); /* its last line, owned */

/* Between the two, in any order, or so little beside them. */
bool is_near(double v, double before, double after, double slack);
void expect_near(const char *what, double v, double before, double after, double slack);
json_t *row_named(json_t *top, const char *name);
json_t *row_of(json_t *line, const char *key, const char *value); /* value NULL: null */

/* Columns of `top`, and what the node calls the same: times factor. */
enum { FACT_COLUMNS = 10 };
struct fact_column {
    const char *key, *fact;
    double factor;
};
extern const struct fact_column fact_columns[FACT_COLUMNS];

bool fact_of(json_t *look, const char *pid, const char *fact, double factor, double *out);

/* The tests: each takes its target as state. */
void test_top_by_every_column(void **state);
void test_rates(void **state);
void test_reversed(void **state);
void test_filters(void **state);
void test_own(void **state);
void test_info(void **state);
void test_busy(void **state);
void test_schedulers(void **state);
void test_memory(void **state);
void test_apps(void **state);
void test_process(void **state);
void test_hostile_names(void **state);
void test_crowd(void **state);
void test_company(void **state);
void test_embedded(void **state);
void test_elixir(void **state);

#endif

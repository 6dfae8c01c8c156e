/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One connection under test and what came of it. */
#ifndef BEAMTOP_TESTS_PROBE_H
#define BEAMTOP_TESTS_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "beamtop/link/conn.h"

#define TIMEOUT_MS 1500   /* for a peer that will not answer */
#define PATIENT_MS 600000 /* for one that does: much longer than we wait for it */
#define WAIT_MS 60000

struct probe {
    uv_loop_t loop;
    struct conn *conn;
    bool up;
    bool down;
    bool closed;
    bool expired;
    enum conn_failure why;
    struct error err;
    unsigned messages;
    unsigned exits;
    unsigned skipped;
    char text[4096]; /* the last message, printed */
    uint64_t started_ns;
    unsigned elapsed_ms; /* until up or down */
};

extern const struct conn_handlers probe_handlers; /* their argument is the struct probe */

/* The cookie "secret" and PATIENT_MS. */
struct conn_options probe_options(const char *target, uint16_t epmd_port);
/* Opens and runs until it is up or down, for no more than WAIT_MS or its short deadline. */
void probe_open(struct probe *p, const struct conn_options *o);
/* Runs the loop until something happens; false: nothing did for ms. */
bool probe_run(struct probe *p, unsigned ms);
/* Closes, and asserts that nothing is left of it: no deadline either. */
void probe_close(struct probe *p);

void expect_up(struct probe *p);
/* Down for that reason, with that part in its text. */
void expect_down(const struct probe *p, enum conn_failure why, const char *part);
/* So, and told without a deadline: PATIENT_MS is longer than we wait. */
void expect_failure(const struct conn_options *o, enum conn_failure why, const char *part);
/* So, by the deadline, which is short. BEAMTOP_CHECK=all: at it, in the best of several tries. */
void expect_no_answer(const struct conn_options *o, enum conn_failure why, const char *part);

#endif

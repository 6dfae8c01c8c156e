/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `process` asked natively (native.h), of a process that is not large: of others the
 * keeper's helpers read lists that end at their heap limit. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_PROCESS_H
#define BEAMTOP_QUERY_PROCESS_H

#include <uv.h>

#include "beamtop/link/conn.h"
#include "query/native/internal.h"
#include "query/native/native.h"
#include "query/native/price.h"

struct process_ask;

/* query_reply() comes once for each process_ask_start(), from the loop, unless process_ask_cancel()
 * is first; or query_pass(), where the process is large: then also the next times. */
struct process_ask *process_ask_new(struct query *q, const struct price *price,
                                    struct native *native, struct conn *conn, uv_loop_t *loop);
void process_ask_free(struct process_ask *p); /* before `native`, which may have asks of it */
/* arg: with version byte, borrowed until it has ended. false: it is for the keeper. */
bool process_ask_is_native(struct process_ask *p, const uint8_t *arg, size_t len);
/* The one of process_ask_is_native(). */
int process_ask_start(struct process_ask *p, unsigned deadline_ms, struct error *err);
void process_ask_cancel(struct process_ask *p); /* its deadline has passed */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The question `scan` of a small node, asked natively (native.h): the program keeps what each
 * process has done, ranks, and reads the rest of the rows that are shown and that have moved. One
 * thread: the loop's. */
#ifndef BEAMTOP_QUERY_SCAN_H
#define BEAMTOP_QUERY_SCAN_H

#include <uv.h>

#include "beamtop/link/conn.h"
#include "query/native/internal.h"
#include "query/native/native.h"
#include "query/native/price.h"
#include "query/who/who.h"

struct scan;

/* query_reply() comes once for each scan_ask(), from the loop, unless scan_cancel() is first; or
 * query_pass(), where there are too many processes. */
struct scan *scan_new(struct query *q, const struct price *price, struct native *native,
                      struct who *who, struct conn *conn, uv_loop_t *loop);
void scan_free(struct scan *s);
/* Whether that scan of a node of so many processes (-1: not known) is one of these. What was known
 * is forgotten where it is not. arg: with version byte. */
bool scan_is_native(struct scan *s, const uint8_t *arg, size_t len, int64_t processes);
/* The one of scan_is_native(). */
int scan_ask(struct scan *s, unsigned deadline_ms, struct error *err);
void scan_cancel(struct scan *s); /* its deadline has passed */

#endif

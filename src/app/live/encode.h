/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The questions' arguments (docs/queries.md) as terms. Each returns an owned builder. */
#ifndef BEAMTOP_APP_LIVE_ENCODE_H
#define BEAMTOP_APP_LIVE_ENCODE_H

#include <stdbool.h>

#include "beamtop/etf/build.h"
#include "beamtop/model/filter.h"
#include "beamtop/local/resident.h"
#include "beamtop/model/want.h"

#define LEADERS_MOST 5 /* of each sort */

/*
 * The argument of a question of a tick or beside it. want: NULL beside ticks. filter may be NULL or
 * empty. Pids are local to the node: `node` is its full name. */
struct builder *encode_question(enum question q, const struct want *want,
                                const struct filter *filter, const char *node);
/* Of a question that reads the VM's resident memory, `system` or `alloc`. local: without files,
   since it is read here. */
struct builder *encode_place(bool local);
/* Its answer with what was read here; NULL: it is of another question, or another term. */
struct builder *encode_resident(enum question q, const uint8_t *value, size_t len,
                                const struct resident *r);
/* Of the scan's rows those of these items that are asked again. */
struct builder *encode_rows(const struct proc_scan *scan, uint32_t items, const char *node);
/* busiest: a scan whose rows are the node's busiest processes; NULL: the node looks for them.
   first: only of the longest message queues. */
struct builder *encode_leaders(const struct proc_scan *busiest, bool first, const char *node);
/* Of a mailbox or a state. number: how many messages, or milliseconds to wait for the state. */
struct builder *encode_peek(const struct etf_pid *pid, const char *node, int number, int bytes,
                            bool agreed);
/* pid: node is its node's name; NULL: node is who it is, a pid or name as text. */
struct builder *encode_collect(const struct etf_pid *pid, const char *node, bool agreed);

#endif

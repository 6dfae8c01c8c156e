/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The questions' arguments (docs/queries.md) as terms. Each returns an owned builder. */
#ifndef BEAMTOP_APP_SOURCE_ENCODE_H
#define BEAMTOP_APP_SOURCE_ENCODE_H

#include <stdbool.h>

#include "beamtop/etf/build.h"
#include "beamtop/model/filter.h"
#include "beamtop/model/source.h"

/* Names of pids are local to the target: `node` is its full name. filter may be NULL or empty. */
struct builder *encode_scan(const struct want_scan *want, const struct filter *filter,
                            const char *node);
struct builder *encode_process(const struct want *want, const char *node);
struct builder *encode_mailbox(const struct etf_pid *pid, const char *node, int first,
                               int bytes_each, bool agreed);
struct builder *encode_state(const struct etf_pid *pid, const char *node, int timeout_ms,
                             int bytes, bool agreed);
struct builder *encode_tree(const char *app, int max_nodes, int ms);
struct builder *encode_armed(int most);
struct builder *encode_nothing(void);     /* [] */
struct builder *encode_empty_map(void); /* #{} */
struct builder *encode_leaders(int most);
struct builder *encode_growth(void);

#endif

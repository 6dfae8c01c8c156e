/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arguments of the calls by which `growth` is asked natively. Each builder is the caller's. Pure.
 */
#ifndef BEAMTOP_QUERY_GROWTH_CALLS_H
#define BEAMTOP_QUERY_GROWTH_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/slice.h"
#include "beamtop/etf/build.h"

/* Of erlang:memory_internal: the bytes of fix_alloc, which each scheduler sends. */
struct builder *growth_fixed_args(const char *node, uint32_t creation);

/* ---- of lists:foldl/3 */

struct builder *growth_modules_args(void);        /* how many are loaded */
struct builder *growth_newest_modules_args(void); /* names, the newest first: GROWTH_EXAMPLES */
struct builder *growth_newest_port_args(void);    /* or 0 */
struct builder *growth_tables_args(void);         /* GROWTH_TABLES + 1 at most */
/* What erlang:Function() lists and is larger: spawned or opened later. GROWTH_LATER at most; `than`
 * is freed. */
struct builder *growth_later_args(const char *function, struct builder *than);
struct builder *growth_socket_owners_args(void); /* of GROWTH_LOOKED at most */
/* Links of each, [] of one that has more than GROWTH_LINKS, or has ended. */
struct builder *growth_links_args(const char *node, const struct etf_pid *pids, size_t n);
/* What process_info/2 says of each, again and again: GROWTH_TIMES lists of six, of which every
 * second one is a list with an element for each. */
struct builder *growth_looks_args(const char *node, const struct etf_pid *pids, size_t n,
                                  const char *items);

/* ---- of others */

/* Of lists:map/2: the atoms of these places in the table. */
struct builder *growth_atoms_args(const int64_t *places, size_t n);
/* [process, Pid] */
struct builder *growth_monitor_args(const char *node, const struct etf_pid *pid);
struct builder *growth_term_args(struct slice term,
                                 const char *item); /* [Term, Item]; NULL: [Term] */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls and values of the native asks of `leaders`. Pure. Each builder is the caller's; values are
 * bare terms, checked, borrowed. */
#ifndef BEAMTOP_QUERY_LEADERS_READ_H
#define BEAMTOP_QUERY_LEADERS_READ_H

#include "leaders_table.h"
#include "query/native/args.h"
#include "query/native/values.h"

/* Arguments of lists:zipwith/3: process_info/2 of each. items: as text. */
struct builder *leaders_infos(const char *node, struct leader *const *of, size_t n,
                              const char *items);
/* The heap of an ask that makes lists of one process: 48 MiB on 64 bits. */
#define LEADERS_LISTS_WORDS (UINT64_C(6) << 20)

/* Arguments of lists:foldl/3. How many monitors, monitors of others and links: a list of three
 * numbers for each. Lists of binaries, of up to 2,000. The lists themselves stay there. */
struct builder *leaders_counts(const char *node, struct leader *const *of, size_t n);
/* Links of those that have 1,000 at most. */
struct builder *leaders_links(const char *node, struct leader *const *of, size_t n);
struct builder *leaders_binaries(const char *node, struct leader *const *of, size_t n);

/* Where a process is that works: 1 it runs or is ready to, 2 it waits for the logger, 3 it waits in
 * another call. Arguments of lists:foldl/3, whose value is a list of these. */
struct builder *leaders_moment(const char *node, struct leader *const *of, size_t n);
struct leaders_waits {
    int64_t moments, logger, calls, running;
};
void leaders_take_moment(struct leaders_waits *sums, struct slice value);

/* {M,F,A} is that function; module or name NULL: any. */
bool leaders_is_in(struct slice mfa, const char *module, const char *function);
/* It hibernates, or was suspended (sys:suspend/1). */
bool leaders_is_asleep(struct slice mfa);
/* It was suspended in a send to another node: amid the fragments of a message, behind the last one,
 * in the demonitor of a call, in a spawn request. */
bool leaders_is_sending(struct slice mfa);
/* [memory, garbage_collection_info] of one. */
void leaders_take_look(struct leader *l, struct slice infos);
/* minor_gcs of garbage_collection; -1: unknown. */
int64_t leaders_minor_gcs(struct slice pair);
/* Of leaders_counts(); `all`: the numbers too, else only which are most. */
bool leaders_take_counts(struct leader *l, struct slice counts, bool all);
/* {binary, [{Id, Bytes, _}]}: one that comes several times counts once. */
void leaders_take_binaries(struct leader *l, struct slice pair);
/* The first pids of the node in a list, `most` at most. */
size_t leaders_read_pids(struct slice list, const char *node, struct etf_pid *out, size_t most);

#endif

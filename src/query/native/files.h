/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that the node reads of its host, by prim_file: what is read of such a text. Pure. */
#ifndef BEAMTOP_QUERY_FILES_H
#define BEAMTOP_QUERY_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/slice.h"

/* The text of {ok, Text}; len 0: it was not read. */
struct slice files_text_of(struct slice value);
/* The next number of a line. */
bool files_take_number(struct slice *text, int64_t *out);
/* What stands behind that in its line; len 0: it is not there. */
struct slice files_find_behind(struct slice text, const char *key);
/* The path of the cgroup of a controller ("": of version 2), of the text of /proc/self/cgroup:
 * lines such as "4:cpu,cpuacct:/a" and "0::/a". len 0: none, or not one of FILES_GROUP_MOST bytes.
 */
#define FILES_GROUP_MOST 400
struct slice files_find_group(struct slice text, const char *controller);
/* Bytes of a line such as "VmRSS:\t  1234 kB"; -1: it is not there. */
int64_t files_find_kib(struct slice text, const char *key);
/* Processes that wait for a dirty I/O scheduler, of statistics(run_queue_lengths_all); -1: not
 * known. A read that waits there ends after beamtop, and the next beamtop must not add one. */
int64_t files_count_waiting(struct slice queues);

#endif

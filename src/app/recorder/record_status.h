/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a recording that runs, and the words about its name and its end. Pure. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_STATUS_H
#define BEAMTOP_APP_RECORDER_RECORD_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/snapshot.h"
#include "record_retry.h"

#define RECORD_FILE_BYTES 4096

/* One life of a node: who connects to it gets the same numbers. 0: not known. */
struct record_life {
    int64_t creation; /* of its pids */
    int64_t os_pid, start_us;
};

struct record_status {
    struct record_life life; /* of the node, while the recorder has it */
    char node[LIMIT_NODE_NAME_BYTES + 1];
    char file[RECORD_FILE_BYTES];
    char link[RECORD_RETRY_BYTES]; /* why it is without the node; "": it has it */
    char calls_refused[RECORD_RETRY_BYTES], trace_refused[RECORD_RETRY_BYTES]; /* why there are
                                                                                   none, or "" */
    double running_s;
    int64_t ticks, bytes, marks, windows, traces, pid;
    bool detached;
};

/* The answer to "status"; false: it is none. */
bool record_status_parse(struct record_status *s, const char *json);
/* info: NULL while it is not known. */
struct record_life record_life_of(uint32_t creation, const struct node_info *info);
/* Not two lives, of one node or of two of the same name, as far as both sides know. */
bool record_life_may_be(const struct record_life *a, const struct record_life *b);
/* Of that node, NAME@HOST, in that life; a recorder may know its node without the host. */
bool record_status_is_of(const struct record_status *s, const char *node,
                         const struct record_life *life);

/* DIR/NODE-YYYYMMDD-HHMMSS.btr, by the local clock; where that exists, …-HHMMSS-2.btr, and so on.
 */
void record_default_name(struct buf *out, const char *dir, const char *node, int64_t wall_us);
/* What went wrong, of a command's output: its first line, without the program's name. */
void record_complaint(struct buf *out, const char *printed);

/* How it ended, for the message line. `end` is the file's own word ("": it was cut off; NULL: the
   file cannot be read), `log` the last lines of a detached recorder. */
void record_end_text(struct buf *out, const struct record_status *s, const char *end,
                     const char *log);
/* Whether it was stopped on purpose. */
bool record_end_is_good(const char *end);

#endif

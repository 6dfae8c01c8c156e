/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schedulers and applications. */
#include "beamtop/model/fields.h"
#include "beamtop/model/owners.h"

#define ROW struct scheduler
static const struct field scheduler[] = {
    FIELD("id", COUNT, id, "the VM's number of it"),
    FIELD("kind", TEXT, kind, "\"normal\", \"dirty_cpu\" or \"dirty_io\""),
    FIELD("utilisation", SHARE, use, "share of the interval that it worked, 0 to 1",
          .title = "UTIL"),
    FIELD("queue_len", COUNT, queue_len, "its run queue; dirty schedulers share one",
          .title = "QUEUE"),
};
FIELD_LIST(scheduler_fields, "rows", scheduler);
#undef ROW

#define ROW struct table_detail
static const struct field table[] = {
    FIELD("partial", BOOL, partial,
          "whether rows are left out: the deadline came, or there are too many"),
};
FIELD_LIST(table_fields, "table", table);
#undef ROW

#define ROW struct app_row
static const struct field app[] = {
    FIELD("application", TEXT, name, "its name; null: the processes of none", .look = LOOK_NAME,
          .width = 20, .grows = true),
    FIELD("version", TEXT, version, "its version", .look = LOOK_ASIDE, .width = 9),
    FIELD("processes", COUNT, processes, "how many it has", .title = "PROCS", .width = 8),
    FIELD("memory_bytes", BYTES, memory_bytes, "of its processes", .title = "MEMORY", .width = 9,
          .aged = true),
    FIELD("memory_older", BOOL, memory_older,
          "whether that of one of them was read some time ago: its message queue is long, or it "
          "has many links or monitors"),
    FIELD("memory_age_s", SECONDS, memory_age_s,
          "how long ago that of the oldest was read; null: one never was"),
    FIELD("memory_bytes_per_s", BYTE_RATE, memory_per_s, "growth per second", .title = "MEM/s",
          .look = LOOK_CHANGE, .width = 10, .rate_of = "memory_bytes"),
    FIELD("reductions", COUNT, reductions, "of the processes it has now"),
    FIELD("reductions_per_s", RATE, reductions_per_s,
          "per second; null when processes with more of them have ended", .title = "RED/s",
          .width = 7, .rate_of = "reductions"),
    FIELD("reductions_share", SHARE, reductions_share, "of all the node's reductions, 0 to 1",
          .title = "SHARE", .width = 7),
    FIELD("message_queue_len", COUNT, message_queue_len, "messages in all its message queues",
          .title = "MSGQ", .look = LOOK_SHORT, .width = 8),
    FIELD("description", TEXT, description, "what it says of itself", .look = LOOK_ASIDE,
          .width = 16, .grows = true),
};
FIELD_TABLE(apps_fields, app,
            "application processes reductions_per_s reductions_share memory_bytes "
            "memory_bytes_per_s message_queue_len version description",
            "application description version processes memory_bytes reductions message_queue_len");
#undef ROW

#define ROW struct owner
static const struct field load[] = {
    FIELD("owner", TEXT, name, "whose processes these are", .look = LOOK_NAME, .width = 30,
          .grows = true),
    FIELD_DRAWN("kind", "what its processes are recognised as", .look = LOOK_MARK, .width = 13),
    FIELD("processes", COUNT, processes, "processes of it that were ranked", .title = "PROCS",
          .width = 8),
    FIELD("share", SHARE, share, "of the reductions but beamtop's and the VM's for dirty signals",
          .width = 7),
    FIELD("reductions_per_s", RATE, reductions_per_s, "reductions per second", .title = "RED/s",
          .width = 7),
    FIELD("memory_bytes", BYTES, memory_bytes, "of its processes", .title = "MEMORY", .width = 9),
    FIELD("message_queue_len", COUNT, message_queue_len, "queue length of its processes",
          .title = "MSGQ", .look = LOOK_SHORT, .width = 8),
    FIELD_DRAWN("bar", "its share as a bar", .title = "", .width = 16),
};
FIELD_LIST(load_fields, "load", load);
#undef ROW

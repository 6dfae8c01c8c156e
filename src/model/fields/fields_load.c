/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schedulers and applications. */
#include "beamtop/model/fields.h"

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

#define ROW struct apps_detail
static const struct field apps[] = {
    FIELD("partial", BOOL, partial, "whether the deadline cut the count short"),
};
FIELD_LIST(apps_fields, "applications", apps);
#undef ROW

#define ROW struct app_row
static const struct field app[] = {
    FIELD("application", TEXT, name, "its name; null: the processes of none"),
    FIELD("version", TEXT, version, "its version"),
    FIELD("processes", COUNT, processes, "how many it has"),
    FIELD("memory_bytes", BYTES, memory_bytes, "of its processes", .title = "MEMORY"),
    FIELD("memory_older", BOOL, memory_older,
          "whether that of one of them was read some time ago: its message queue is long, or it "
          "has many links or monitors",
          .title = "OLDER"),
    FIELD("memory_age_s", SECONDS, memory_age_s,
          "how long ago that of the oldest was read; null: one never was", .title = "MEM AGE"),
    FIELD("memory_bytes_per_s", BYTE_RATE, memory_per_s, "growth per second", .title = "MEM/s"),
    FIELD("reductions", COUNT, reductions, "of the processes it has now"),
    FIELD("reductions_per_s", RATE, reductions_per_s,
          "per second; null when processes with more of them have ended", .title = "RED/s"),
    FIELD("reductions_share", SHARE, reductions_share, "of all the node's reductions, 0 to 1",
          .title = "SHARE"),
    FIELD("message_queue_len", COUNT, message_queue_len, "messages in all its message queues",
          .title = "MSGQ"),
    FIELD("description", TEXT, description, "what it says of itself"),
};
FIELD_LIST(app_fields, "rows", app);
#undef ROW

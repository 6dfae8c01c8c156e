/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schedulers and applications. */
#include "beamtop/model/fields.h"
#include "beamtop/model/owners.h"
#include "beamtop/model/waits.h"

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
    FIELD("processes", COUNT, processes, "how many it has", .title = "PROCS", .width = 8,
          .adds = true),
    FIELD("memory_bytes", BYTES, memory_bytes, "of its processes", .title = "MEMORY", .width = 9,
          .aged = true, .adds = true),
    FIELD("memory_older", BOOL, memory_older,
          "whether that of one of them was read some time ago: its message queue is long, or it "
          "has many links or monitors"),
    FIELD("memory_age_s", SECONDS, memory_age_s,
          "how long ago that of the oldest was read; null: one never was"),
    FIELD("memory_bytes_per_s", BYTE_RATE, memory_per_s, "growth per second", .title = "MEM/s",
          .look = LOOK_CHANGE, .width = 10, .rate_of = "memory_bytes", .adds = true),
    FIELD("reductions", COUNT, reductions, "of the processes it has now"),
    FIELD("reductions_per_s", RATE, reductions_per_s,
          "per second; null when processes with more of them have ended", .title = "RED/s",
          .width = 7, .rate_of = "reductions", .adds = true),
    FIELD("reductions_share", SHARE, reductions_share, "of all the node's reductions, 0 to 1",
          .title = "SHARE", .width = 7),
    FIELD("message_queue_len", COUNT, message_queue_len, "messages in all its message queues",
          .title = "MSGQ", .look = LOOK_SHORT, .width = 8, .adds = true),
    FIELD("description", TEXT, description, "what it says of itself", .look = LOOK_ASIDE,
          .width = 16, .grows = true),
};
FIELD_TABLE(apps_fields, app,
            "application processes reductions_per_s reductions_share memory_bytes "
            "memory_bytes_per_s message_queue_len version description",
            "application description version processes memory_bytes reductions message_queue_len");
#undef ROW

#define ROW struct waits_row
static const struct field wait[] = {
    FIELD("pid", PID, pid, "a process that waits, or is waited for", .look = LOOK_PID, .width = 12),
    FIELD("name", TEXT, name, "registered name", .look = LOOK_NAME, .width = 20),
    FIELD("label", TEXT, label, "its label", .look = LOOK_NAME, .width = 16),
    FIELD("initial_call", TEXT, initial_call, "the function it was spawned with",
          .look = LOOK_FUNCTION, .width = 24),
    FIELD("deadlock", COUNT, deadlock,
          "number of the cycle of processes that wait for each other; null: none", .width = 8),
    FIELD("waiters", COUNT, waiters, "processes that wait for it", .width = 7),
    FIELD("behind", COUNT, behind, "processes that wait for it, for these, and so on", .width = 7),
    FIELD("kind", TEXT, kind, "what kind of call it waits in; null: it waits in none",
          .look = LOOK_MARK, .width = 8),
    FIELD("waits_for", PID, for_pid, "the process that it waits for", .title = "WAITS FOR",
          .look = LOOK_PID, .width = 12, .known = offsetof(struct waits_row, has_for)),
    FIELD("waits_for_name", TEXT, for_name,
          "its name or label; a port, a lock, or a process of another node", .title = "NAME OF IT",
          .look = LOOK_NAME, .width = 20),
    FIELD("node", TEXT, node, "the other node that it waits for", .look = LOOK_NAME, .width = 16),
    FIELD("among", COUNT, among,
          "how many processes it monitors that it may wait for; 1: the one is known"),
    FIELD("seen_s", SECONDS, seen_s, "how long beamtop has seen it wait so, at every answer",
          .title = "SEEN FOR", .width = 8),
    FIELD("message_queue_len", COUNT, message_queue_len, "messages waiting", .title = "MSGQ",
          .look = LOOK_SHORT, .width = 7),
    FIELD("status", TEXT, status, "as process_info/2 says it"),
    FIELD("suspended", BOOL, suspended, "whether sys:suspend/1 holds it"),
    FIELD("steady", BOOL, steady, "whether it did not move between two looks"),
    FIELD("function", TEXT, function, "its current function", .look = LOOK_FUNCTION, .width = 24),
    FIELD("caller", TEXT, caller, "the function that calls", .look = LOOK_FUNCTION, .width = 24,
          .grows = true),
    FIELD("reductions", COUNT, reductions, "since its start"),
};
FIELD_TABLE(waits_fields, wait,
            "pid name deadlock waiters behind kind waits_for waits_for_name node seen_s "
            "message_queue_len function caller",
            "pid name label initial_call kind waits_for waits_for_name node among function caller "
            "status message_queue_len reductions steady suspended");
#undef ROW

#define ROW struct waits_sums
static const struct field waits_sum[] = {
    FIELD("waiting", COUNT, waiting, "processes that wait in calls"),
    FIELD("deadlocks", COUNT, deadlocks, "cycles of processes that wait for each other"),
    FIELD("deadlock", TEXT, deadlock, "the first of them; null: none"),
    FIELD("longest_chain", TEXT, chain,
          "the longest chain of processes that wait for each other, who waits first; null: nobody "
          "waits for one that waits"),
    FIELD("for_other_nodes", COUNT, elsewhere, "processes that wait for another node"),
    FIELD("for_unknown", COUNT, unknown,
          "processes of which beamtop does not know for which one of several they wait"),
};
FIELD_LIST(waits_sums_fields, "chains", waits_sum);
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

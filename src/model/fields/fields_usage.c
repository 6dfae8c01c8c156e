/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heaps of processes, threads of schedulers, their states. */
#include "beamtop/model/fields.h"

#define ROW struct heaps_detail
static const struct field heaps[] = {
    FIELD("processes", COUNT, total, "how many there are"),
    FIELD("looked_at", COUNT, looked_at,
          "processes whose memory was read: all, or with `--running` those that ran or were ready "
          "to"),
    FIELD("looked_at_bytes", BYTES, looked_at_bytes, "memory of those", .title = "their memory"),
    FIELD("rows_bytes", BYTES, rows_bytes, "memory of the processes in `rows`",
          .title = "memory of these rows"),
    FIELD("rows_share", SHARE, share,
          "`rows_bytes` over what is allocated for processes (`memory_processes_bytes`)",
          .title = "share of all processes"),
    FIELD("over_s", SECONDS, over_s,
          "seconds since the first measurement, which growth is counted from; null: this is the "
          "first",
          .title = "growth over"),
    FIELD("partial", BOOL, partial, "whether the deadline cut the sweep short"),
};
FIELD_LIST(heaps_fields, "heaps", heaps);
#undef ROW

#define ROW struct heap_row
static const struct field heap_row[] = {
    FIELD("pid", TEXT, pid_text, "its pid", .look = LOOK_PID, .width = 11),
    FIELD("name", TEXT, who, "registered name, else label, else initial call", .look = LOOK_NAME,
          .width = 20, .grows = true),
    FIELD("registered_name", TEXT, row.name, "registered name"),
    FIELD("label", TEXT, row.label, "label (OTP 27 and later)"),
    FIELD("initial_call", TEXT, row.initial_call, "function it began with, behind proc_lib"),
    FIELD("application", TEXT, row.application, "application of its group leader"),
    FIELD("status", TEXT, row.status, "status when its row was read"),
    FIELD("memory_bytes", BYTES, row.memory_bytes,
          "its memory: heaps, stack, message queue, internal structures", .title = "MEMORY",
          .width = 9),
    FIELD("young_bytes", BYTES, young_bytes, "used in the young heap", .title = "YOUNG",
          .width = 9),
    FIELD("young_block_bytes", BYTES, young_block_bytes,
          "the young heap's block, with the stack and what is free", .title = "BLOCK", .width = 9),
    FIELD("old_bytes", BYTES, old_bytes, "used in the old heap", .title = "OLD", .width = 9),
    FIELD("stack_bytes", BYTES, stack_bytes, "used by the stack", .title = "STACK", .width = 9),
    FIELD("fragment_bytes", BYTES, fragment_bytes,
          "heap fragments: what messages and BIFs brought and no collection has taken in yet",
          .title = "FRAGS", .width = 9),
    FIELD("binary_bytes", BYTES, binary_bytes,
          "refc binaries (off-heap); without `binaries` as the collector counts them",
          .title = "BINARIES", .width = 9),
    FIELD("message_queue_len", COUNT, row.message_queue_len, "messages in its queue",
          .title = "MSGQ", .look = LOOK_SHORT, .width = 8),
    FIELD("old_block_bytes", BYTES, old_block_bytes, "the old heap's block"),
    FIELD("binaries", COUNT, binaries,
          "how many refc binaries; null: not listed, it is not among the 20 that hold most, or "
          "larger than 16 MiB",
          .title = "REFC", .look = LOOK_SHORT, .width = 7),
    FIELD("total_bytes", BYTES, total_bytes,
          "`memory_bytes` and `binary_bytes`; binaries that several processes refer to count for "
          "each"),
    FIELD("older", BOOL, older,
          "whether the sizes were read some time ago, or are the least that they can be: its "
          "message queue is long, or it has many links or monitors"),
    FIELD("memory_age_s", SECONDS, row.older_s, "how long ago the sizes were read; null: never"),
    FIELD("before_bytes", BYTES, before_bytes, "memory at the first measurement"),
    FIELD("growth_bytes", BYTES, growth_bytes,
          "memory since the first measurement; null: it was not among the 1,000 largest then",
          .title = "GROWTH", .look = LOOK_CHANGE, .width = 10),
};
FIELD_COLUMNS(heap_row_fields, "rows", heap_row, 0,
              "pid name memory_bytes growth_bytes young_bytes young_block_bytes old_bytes "
              "stack_bytes fragment_bytes binary_bytes binaries message_queue_len");
#undef ROW

#define ROW struct heap_owner
static const struct field heap_owner[] = {
    FIELD("owner", TEXT, name, "the owner; null: those without one", .look = LOOK_NAME, .width = 30,
          .grows = true),
    FIELD("processes", COUNT, processes, "its processes in the rows", .title = "PROCS",
          .look = LOOK_SHORT, .width = 8),
    FIELD("memory_bytes", BYTES, memory_bytes, "their memory", .title = "MEMORY", .width = 9),
    FIELD("binary_bytes", BYTES, binary_bytes,
          "refc binaries (off-heap); shared ones count for each", .title = "BINARIES", .width = 9),
    FIELD("message_queue_len", COUNT, message_queue_len, "messages in their queues",
          .title = "MSGQ", .look = LOOK_SHORT, .width = 8),
    FIELD("growth_bytes", BYTES, growth_bytes,
          "memory since the first measurement, of those that were among the 1,000 largest then",
          .title = "GROWTH", .look = LOOK_CHANGE, .width = 10),
};
FIELD_COLUMNS(heap_owner_fields, "rows", heap_owner, 0,
              "owner processes memory_bytes growth_bytes binary_bytes message_queue_len");
#undef ROW

#define ROW struct threads_detail
static const struct field threads[] = {
    FIELD("allowed_cpus", COUNT, allowed_cpus, "CPUs that the VM may use; null: not Linux",
          .title = "allowed CPUs"),
    FIELD("bind_type", TEXT, bind_type, "`erlang:system_info(scheduler_bind_type)`"),
    FIELD("steal", SHARE, steal,
          "share of the time of the host's CPUs that the hypervisor took, 0 to 1"),
    FIELD_AS(FIELD_CPUS, "quota_cpus", RATE, quota_cpus,
             "CPUs that the cgroup may use; null: no quota, or not known", .title = "quota"),
    FIELD("throttled", SHARE, throttled,
          "share of the quota's periods in which it was used up, 0 to 1"),
    FIELD("throttled_s_per_s", RATE, throttled_per_s,
          "seconds a second that threads were held back by the quota, added over the CPUs",
          .title = "held back/s"),
};
FIELD_LIST(threads_fields, "cpus", threads);
#undef ROW

#define ROW struct scheduler_thread
static const struct field thread[] = {
    FIELD("id", COUNT, id, "the VM's number of the scheduler"),
    FIELD("kind", TEXT, kind, "\"normal\", \"dirty_cpu\" or \"dirty_io\""),
    FIELD("tid", TEXT, tid, "its thread"),
    FIELD("utilisation", SHARE, use,
          "share of the interval that it was busy by the VM's count, 0 to 1", .title = "UTIL"),
    FIELD("run", SHARE, run, "share that it ran on a CPU, 0 to 1"),
    FIELD("wait", SHARE, wait, "share that it was ready to run, but without a CPU, 0 to 1",
          .title = "WAIT CPU"),
    FIELD("involuntary_per_s", RATE, involuntary_per_s,
          "involuntary context switches per second: another thread took its CPU",
          .title = "FORCED/s"),
    FIELD("voluntary_per_s", RATE, voluntary_per_s,
          "voluntary context switches per second: it waited", .title = "YIELD/s"),
    FIELD("cpu", TEXT, cpu, "the CPU it ran on last"),
    FIELD("migrations", COUNT, migrations,
          "changes of `cpu` seen from tick to tick, since the first", .title = "MOVES"),
    FIELD("bound", TEXT, bound, "the CPU it is bound to (`+sbt`)"),
};
FIELD_LIST(thread_fields, "rows", thread);
#undef ROW

#define ROW struct msacc_detail
static const struct field msacc[] = {
    FIELD("on_before", BOOL, on_before, "whether another tool had switched it on; it stays on then",
          .title = "on before beamtop"),
    FIELD(
        "switched_off", BOOL, switched_off,
        "whether somebody switched it off within the interval; shares are of the time before that"),
};
FIELD_LIST(msacc_fields, "msacc", msacc);
#undef ROW

#define ROW struct msacc_row
#define STATE(id, name, help) FIELD(#name, SHARE, share[MSACC_##id], help, .title = #name),
static const struct field msacc_row[] = {
    FIELD("type", TEXT, type, "type of the thread, as the VM names it"),
    FIELD("id", TEXT, id, "the VM's number of it; null: all of the type"),
    FIELD("threads", COUNT, threads, "how many threads"),
    MSACC_STATES(STATE) FIELD("counted", SHARE, counted,
                              "share of the interval that was counted, 0 to 1", .title = "counted"),
};
/* People see the states that every VM has. */
FIELD_COLUMNS(msacc_row_fields, "rows", msacc_row, 0,
              "type id threads emulator gc port aux check_io other sleep");
#undef STATE
#undef ROW

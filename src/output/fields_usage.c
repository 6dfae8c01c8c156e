/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of where memory and time go: heaps of processes, threads of schedulers, their states. */
#include "beamtop/output/fields.h"

#define AT(member) offsetof(struct heaps_detail, member)
static const struct field heaps[] = {
    {"processes", "processes", FIELD_INT, COLUMN_COUNT, AT(total), "how many there are"},
    {"looked_at", "looked at", FIELD_INT, COLUMN_COUNT, AT(looked_at),
     "processes whose memory was read: all, or with `--running` those that ran or were ready to"},
    {"looked_at_bytes", "their memory", FIELD_REAL, COLUMN_BYTES, AT(looked_at_bytes),
     "memory of those"},
    {"rows_bytes", "memory of these rows", FIELD_REAL, COLUMN_BYTES, AT(rows_bytes),
     "memory of the processes in `rows`"},
    {"rows_share", "share of all processes", FIELD_REAL, COLUMN_SHARE, AT(share),
     "`rows_bytes` over what is allocated for processes (`memory_processes_bytes`)"},
    {"over_s", "growth over", FIELD_REAL, COLUMN_SECONDS, AT(over_s),
     "seconds since the first measurement, which growth is counted from; null: this is the first"},
    {"partial", "partial", FIELD_BOOL, COLUMN_BOOL, AT(partial),
     "whether the deadline cut the sweep short"},
};
FIELD_LIST(heaps_fields, "heaps", heaps);
#undef AT

#define AT(member) offsetof(struct heap_row, member)
#define HEAP_PID                                                                                   \
    {                                                                                              \
        "pid", "PID", FIELD_SLICE, COLUMN_TEXT, AT(pid_text), "its pid"                            \
    }
#define HEAP_NAME                                                                                  \
    {                                                                                              \
        "name", "NAME", FIELD_SLICE, COLUMN_TEXT, AT(who),                                         \
            "registered name, else label, else initial call"                                       \
    }
#define HEAP_SIZES                                                                                 \
    {"memory_bytes",                                                                               \
     "MEMORY",                                                                                     \
     FIELD_INT,                                                                                    \
     COLUMN_BYTES,                                                                                 \
     AT(row.memory_bytes),                                                                         \
     "its memory: heaps, stack, message queue, internal structures"},                              \
        {"young_bytes", "YOUNG",         FIELD_INT,                                                \
         COLUMN_BYTES,  AT(young_bytes), "used in the young heap"},                                \
        {"young_block_bytes",                                                                      \
         "BLOCK",                                                                                  \
         FIELD_INT,                                                                                \
         COLUMN_BYTES,                                                                             \
         AT(young_block_bytes),                                                                    \
         "the young heap's block, with the stack and what is free"},                               \
        {"old_bytes", "OLD", FIELD_INT, COLUMN_BYTES, AT(old_bytes), "used in the old heap"},      \
        {"stack_bytes", "STACK", FIELD_INT, COLUMN_BYTES, AT(stack_bytes), "used by the stack"},   \
        {"fragment_bytes",                                                                         \
         "FRAGMENTS",                                                                              \
         FIELD_INT,                                                                                \
         COLUMN_BYTES,                                                                             \
         AT(fragment_bytes),                                                                       \
         "heap fragments: what messages and BIFs brought and no collection has taken in yet"},     \
        {"binary_bytes",                                                                           \
         "BINARIES",                                                                               \
         FIELD_INT,                                                                                \
         COLUMN_BYTES,                                                                             \
         AT(binary_bytes),                                                                         \
         "refc binaries (off-heap); without `binaries` as the collector counts them"},             \
    {                                                                                              \
        "message_queue_len", "MSGQ", FIELD_INT, COLUMN_COUNT, AT(row.message_queue_len),           \
            "messages in its queue"                                                                \
    }
#define HEAP_GROWTH                                                                                \
    {                                                                                              \
        "growth_bytes", "GROWTH", FIELD_REAL, COLUMN_BYTES, AT(growth_bytes),                      \
            "memory since the first measurement; null: it was not among the 1,000 largest then"    \
    }
#define HEAP_OLDER                                                                                 \
    {                                                                                              \
        "older", "OLDER", FIELD_BOOL, COLUMN_BOOL, AT(older),                                      \
            "whether the sizes were read some time ago, or are the least that they can be: its "   \
            "message queue is long, or it has many links or monitors"                              \
    }
#define HEAP_AGE                                                                                   \
    {                                                                                              \
        "memory_age_s", "MEM AGE", FIELD_REAL, COLUMN_SECONDS, AT(row.older_s),                    \
            "how long ago the sizes were read; null: never"                                        \
    }
static const struct field heap_row[] = {
    HEAP_PID,
    HEAP_NAME,
    {"registered_name", "REGISTERED", FIELD_SLICE, COLUMN_TEXT, AT(row.name), "registered name"},
    {"label", "LABEL", FIELD_SLICE, COLUMN_TEXT, AT(row.label), "label (OTP 27 and later)"},
    {"initial_call", "INITIAL CALL", FIELD_SLICE, COLUMN_TEXT, AT(row.initial_call),
     "function it began with, behind proc_lib"},
    {"application", "APPLICATION", FIELD_SLICE, COLUMN_TEXT, AT(row.application),
     "application of its group leader"},
    {"status", "STATUS", FIELD_SLICE, COLUMN_TEXT, AT(row.status), "status when its row was read"},
    HEAP_SIZES,
    {"old_block_bytes", "OLD BLOCK", FIELD_INT, COLUMN_BYTES, AT(old_block_bytes),
     "the old heap's block"},
    {"binaries", "REFC", FIELD_INT, COLUMN_COUNT, AT(binaries),
     "how many refc binaries; null: not listed, it is not among the 20 that hold most, or larger "
     "than 16 MiB"},
    {"total_bytes", "TOTAL", FIELD_INT, COLUMN_BYTES, AT(total_bytes),
     "`memory_bytes` and `binary_bytes`; binaries that several processes refer to count for each"},
    HEAP_OLDER,
    HEAP_AGE,
    {"before_bytes", "BEFORE", FIELD_INT, COLUMN_BYTES, AT(before_bytes),
     "memory at the first measurement"},
    HEAP_GROWTH,
};
FIELD_LIST(heap_row_fields, "rows", heap_row);
static const struct field heap_text[] = {HEAP_PID, HEAP_SIZES,  HEAP_OLDER,
                                         HEAP_AGE, HEAP_GROWTH, HEAP_NAME};
FIELD_LIST(heap_text_fields, "rows", heap_text);
#undef AT

#define AT(member) offsetof(struct heap_owner, member)
static const struct field heap_owner[] = {
    {"owner", "OWNER", FIELD_SLICE, COLUMN_TEXT, AT(name), "the owner; null: those without one"},
    {"processes", "PROCESSES", FIELD_INT, COLUMN_COUNT, AT(processes), "its processes in the rows"},
    {"memory_bytes", "MEMORY", FIELD_REAL, COLUMN_BYTES, AT(memory_bytes), "their memory"},
    {"binary_bytes", "BINARIES", FIELD_REAL, COLUMN_BYTES, AT(binary_bytes),
     "refc binaries (off-heap); shared ones count for each"},
    {"message_queue_len", "MSGQ", FIELD_INT, COLUMN_COUNT, AT(message_queue_len),
     "messages in their queues"},
    {"growth_bytes", "GROWTH", FIELD_REAL, COLUMN_BYTES, AT(growth_bytes),
     "memory since the first measurement, of those that were among the 1,000 largest then"},
};
FIELD_LIST(heap_owner_fields, "rows", heap_owner);
#undef AT

#define AT(member) offsetof(struct threads_detail, member)
static const struct field threads[] = {
    {"allowed_cpus", "allowed CPUs", FIELD_INT, COLUMN_COUNT, AT(allowed_cpus),
     "CPUs that the VM may use; null: not Linux"},
    {"bind_type", "bind type", FIELD_SLICE, COLUMN_TEXT, AT(bind_type),
     "`erlang:system_info(scheduler_bind_type)`"},
    {"steal", "steal", FIELD_REAL, COLUMN_SHARE, AT(steal),
     "share of the time of the host's CPUs that the hypervisor took, 0 to 1"},
    {"quota_cpus", "quota", FIELD_CPUS, COLUMN_RATE, AT(quota_cpus),
     "CPUs that the cgroup may use; null: no quota, or not known"},
    {"throttled", "throttled", FIELD_REAL, COLUMN_SHARE, AT(throttled),
     "share of the quota's periods in which it was used up, 0 to 1"},
    {"throttled_s_per_s", "held back/s", FIELD_REAL, COLUMN_RATE, AT(throttled_per_s),
     "seconds a second that threads were held back by the quota, added over the CPUs"},
};
FIELD_LIST(threads_fields, "cpus", threads);
#undef AT

#define AT(member) offsetof(struct scheduler_thread, member)
static const struct field thread[] = {
    {"id", "ID", FIELD_INT, COLUMN_COUNT, AT(id), "the VM's number of the scheduler"},
    {"kind", "KIND", FIELD_SCHEDULER_KIND, COLUMN_TEXT, AT(kind),
     "\"normal\", \"dirty_cpu\" or \"dirty_io\""},
    {"tid", "TID", FIELD_INT, COLUMN_TEXT, AT(tid), "its thread"},
    {"utilisation", "UTIL", FIELD_REAL, COLUMN_SHARE, AT(use),
     "share of the interval that it was busy by the VM's count, 0 to 1"},
    {"run", "RUN", FIELD_REAL, COLUMN_SHARE, AT(run), "share that it ran on a CPU, 0 to 1"},
    {"wait", "WAIT CPU", FIELD_REAL, COLUMN_SHARE, AT(wait),
     "share that it was ready to run, but without a CPU, 0 to 1"},
    {"involuntary_per_s", "FORCED/s", FIELD_REAL, COLUMN_RATE, AT(involuntary_per_s),
     "involuntary context switches per second: another thread took its CPU"},
    {"voluntary_per_s", "YIELD/s", FIELD_REAL, COLUMN_RATE, AT(voluntary_per_s),
     "voluntary context switches per second: it waited"},
    {"cpu", "CPU", FIELD_INT, COLUMN_TEXT, AT(cpu), "the CPU it ran on last"},
    {"migrations", "MOVES", FIELD_INT, COLUMN_COUNT, AT(migrations),
     "changes of `cpu` seen from tick to tick, since the first"},
    {"bound", "BOUND", FIELD_INT, COLUMN_TEXT, AT(bound), "the CPU it is bound to (`+sbt`)"},
};
FIELD_LIST(thread_fields, "rows", thread);
#undef AT

#define AT(member) offsetof(struct msacc_detail, member)
static const struct field msacc[] = {
    {"on_before", "on before beamtop", FIELD_BOOL, COLUMN_BOOL, AT(on_before),
     "whether another tool had switched it on; it stays on then"},
    {"switched_off", "switched off", FIELD_BOOL, COLUMN_BOOL, AT(switched_off),
     "whether somebody switched it off within the interval; shares are of the time before that"},
};
FIELD_LIST(msacc_fields, "msacc", msacc);
#undef AT

#define AT(member) offsetof(struct msacc_row, member)
#define STATE(id, name, help)                                                                      \
    {#name, #name, FIELD_REAL, COLUMN_SHARE, AT(share) + MSACC_##id * sizeof(double), help},
static const struct field msacc_row[] = {
    {"type", "TYPE", FIELD_SLICE, COLUMN_TEXT, AT(type), "type of the thread, as the VM names it"},
    {"id", "ID", FIELD_INT, COLUMN_TEXT, AT(id), "the VM's number of it; null: all of the type"},
    {"threads", "THREADS", FIELD_INT, COLUMN_COUNT, AT(threads), "how many threads"},
    MSACC_STATES(STATE){"counted", "counted", FIELD_REAL, COLUMN_SHARE, AT(counted),
                        "share of the interval that was counted, 0 to 1"},
};
FIELD_LIST(msacc_row_fields, "rows", msacc_row);
/* The states that every VM has. */
const struct field_list msacc_text_fields = {"rows", msacc_row, 3 + MSACC_ALLOC};
#undef STATE
#undef AT

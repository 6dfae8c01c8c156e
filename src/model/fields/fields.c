/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node as a whole, each tick. */
#include "beamtop/model/fields.h"
#include "model/internal.h"

#define ROW struct tick_cost
static const struct field cost[] = {
    FIELD("target_us", COUNT, target_us,
          "µs that beamtop's processes worked on the node for this tick", .title = "TARGET"),
    FIELD("bytes", BYTES, bytes, "bytes on the connection, in both directions"),
    FIELD("share", SHARE, share,
          "`target_us` over the interval: the share of one scheduler, 0 to 1"),
};
FIELD_LIST(cost_fields, "cost", cost);
#undef ROW

#define ROW struct system_sample
static const struct field system_table[] = {
    FIELD_AS(FIELD_MS, "uptime_ms", COUNT, uptime_ms, "since the VM's start", .title = "uptime"),
    FIELD("memory_total_bytes", BYTES, memory_bytes[MEMORY_TOTAL], "`erlang:memory(total)`",
          .title = "memory"),
    FIELD("memory_processes_bytes", BYTES, memory_bytes[MEMORY_PROCESSES],
          "allocated for processes", .title = "processes memory"),
    FIELD("memory_processes_used_bytes", BYTES, memory_bytes[MEMORY_PROCESSES_USED],
          "used by processes", .title = "processes used"),
    FIELD("memory_system_bytes", BYTES, memory_bytes[MEMORY_SYSTEM],
          "memory that is not of processes", .title = "system memory"),
    FIELD("memory_atom_bytes", BYTES, memory_bytes[MEMORY_ATOM], "allocated for atoms",
          .title = "atom"),
    FIELD("memory_atom_used_bytes", BYTES, memory_bytes[MEMORY_ATOM_USED], "used by atoms",
          .title = "atom used"),
    FIELD("memory_binary_bytes", BYTES, memory_bytes[MEMORY_BINARY], "refc (off-heap) binaries",
          .title = "binary"),
    FIELD("memory_code_bytes", BYTES, memory_bytes[MEMORY_CODE], "loaded code", .title = "code"),
    FIELD("memory_ets_bytes", BYTES, memory_bytes[MEMORY_ETS], "ETS tables", .title = "ets"),
    FIELD("rss_bytes", BYTES, rss_bytes,
          "resident memory of the VM, as its operating system says (Linux)", .title = "rss"),
    FIELD("virtual_bytes", BYTES, virtual_bytes, "virtual memory of the VM (Linux)",
          .title = "virtual"),
    FIELD("processes", COUNT, processes, "how many processes"),
    FIELD("ports", COUNT, ports, "how many ports"),
    FIELD("atoms", COUNT, atoms, "how many atoms"),
    FIELD("ets_tables", COUNT, ets_tables, "how many ETS tables"),
    FIELD("run_queue", COUNT, run_queue, "processes in the run queues of normal schedulers"),
    FIELD("run_queue_highest", COUNT, run_queue_highest, "longest run queue of a normal scheduler",
          .title = "longest run queue"),
    FIELD("run_queue_dirty_cpu", COUNT, run_queue_dirty_cpu, "waiting for a dirty CPU scheduler",
          .title = "dirty CPU queue"),
    FIELD("run_queue_dirty_io", COUNT, run_queue_dirty_io, "waiting for a dirty I/O scheduler",
          .title = "dirty I/O queue"),
    FIELD("scheduler_utilisation", SHARE, use_normal,
          "mean utilisation of the normal schedulers online, 0 to 1", .title = "utilisation"),
    FIELD("dirty_cpu_utilisation", SHARE, use_dirty_cpu,
          "mean utilisation of the dirty CPU schedulers online", .title = "dirty CPU"),
    FIELD("dirty_io_utilisation", SHARE, use_dirty_io,
          "mean utilisation of the dirty I/O schedulers", .title = "dirty I/O"),
    FIELD("reductions_per_s", RATE, reductions_per_s, "reductions per second",
          .title = "reductions/s"),
    FIELD("own_reductions_per_s", RATE, own_reductions_per_s, "of them, by beamtop's own processes",
          .title = "own reductions/s"),
    FIELD("context_switches_per_s", RATE, context_switches_per_s, "context switches per second",
          .title = "switches/s"),
    FIELD("gcs_per_s", RATE, gcs_per_s, "garbage collections per second", .title = "gcs/s"),
    FIELD("gc_words_per_s", RATE, gc_words_per_s, "words reclaimed per second",
          .title = "gc words/s"),
    FIELD("in_bytes_per_s", BYTE_RATE, in_bytes_per_s, "bytes read through ports per second",
          .title = "in"),
    FIELD("out_bytes_per_s", BYTE_RATE, out_bytes_per_s, "bytes written through ports per second",
          .title = "out"),
    FIELD_AS(FIELD_MS, "late_ms", COUNT, late_ms,
             "longest wait of a call for a scheduler that does not yield, since the previous tick",
             .title = "late"),
    FIELD("late_scheduler", COUNT, late_scheduler,
          "a scheduler that did not answer, where a call is late and it is known which"),
};
FIELD_LIST(system_fields, "system", system_table);
#undef ROW

#define ROW struct node_info
static const struct field info[] = {
    FIELD("otp", TEXT, otp, "OTP release, \"25\" or \"25.2.3\""),
    FIELD("erts", TEXT, erts, "version of the runtime system"),
    FIELD("emulator", TEXT, emulator, "\"jit\" or \"emu\""),
    FIELD("elixir", TEXT, elixir, "version of Elixir where it is there", .title = "Elixir"),
    FIELD("os", TEXT, os, "operating system and its version", .title = "operating system"),
    FIELD("os_pid", TEXT, os_pid, "process id of the VM on its host"),
    FIELD("code_mode", TEXT, code_mode, "\"interactive\" or \"embedded\"", .title = "code loading"),
    FIELD("word_bytes", BYTES, word_bytes, "bytes of a word", .title = "word"),
    FIELD_AS(FIELD_WALL_US, "start_wall_us", COUNT, start_wall_us,
             "the VM's start, µs since the epoch", .title = "started"),
    FIELD("cpus", COUNT, cpus, "logical processors available to it", .title = "processors"),
    FIELD("schedulers", COUNT, schedulers, "normal schedulers"),
    FIELD("schedulers_online", COUNT, schedulers_online, "normal schedulers online",
          .title = "online"),
    FIELD("dirty_cpu_schedulers", COUNT, dirty_cpu, "dirty CPU schedulers", .title = "dirty CPU"),
    FIELD("dirty_cpu_schedulers_online", COUNT, dirty_cpu_online, "dirty CPU schedulers online",
          .title = "dirty CPU online"),
    FIELD("dirty_io_schedulers", COUNT, dirty_io, "dirty I/O schedulers", .title = "dirty I/O"),
    FIELD("process_limit", COUNT, process_limit, "most processes there can be"),
    FIELD("port_limit", COUNT, port_limit, "most ports there can be"),
    FIELD("atom_limit", COUNT, atom_limit, "most atoms there can be"),
    FIELD("ets_limit", COUNT, ets_limit, "ETS tables the VM was set up for"),
    FIELD("net_tick_s", COUNT, net_tick_s, "seconds after which a silent connection counts as lost",
          .title = "net tick"),
};
FIELD_LIST(info_fields, "info", info);
#undef ROW

#define ROW struct proc_scan
static const struct field scan[] = {
    FIELD("total", COUNT, total, "processes swept, without beamtop's own", .title = "scanned"),
    FIELD("matching", COUNT, matching, "those that the filter lets pass; all without one"),
    FIELD("own", COUNT, own, "processes of beamtop on the node"),
    FIELD("sweep_us", COUNT, sweep_us, "µs that the sweep took"),
    FIELD("by_delta", BOOL, by_delta,
          "ranked by change within the interval; false at the first tick", .title = "by change"),
    FIELD("filtered", BOOL, filtered, "whether a filter was on"),
    FIELD(
        "recorded", COUNT, recorded,
        "of a recording: rows recorded at this tick, the busiest ones; filters search only these"),
    FIELD("sorted_among", COUNT, sorted_among,
          "ranked by beamtop among this many of the busiest; null: by the node, among all"),
};
FIELD_LIST(scan_fields, "scan", scan);
#undef ROW

const struct field_list *const table_lists[QUESTIONS] = {
#define TABLE_LIST(id, name, ...) [QUESTION_##id] = &name##_fields,
    QUESTION_LISTS(TABLE_LIST)
#undef TABLE_LIST
};

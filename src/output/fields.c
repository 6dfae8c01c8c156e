/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every key of the output but those of process rows, which are model/column.c's, and those of heaps
 * and threads (fields_usage.c). */
#include "beamtop/output/fields.h"

#include <math.h>

#define AT(member) offsetof(struct tick_cost, member)
static const struct field cost[] = {
    {"target_us", "TARGET", FIELD_REAL, COLUMN_COUNT, AT(target_us),
     "µs that beamtop's processes worked on the node for this tick"},
    {"bytes", "BYTES", FIELD_REAL, COLUMN_BYTES, AT(bytes),
     "bytes on the connection, in both "
     "directions"},
    {"share", "SHARE", FIELD_REAL, COLUMN_SHARE, AT(share),
     "`target_us` over the interval: the share of one scheduler, 0 to 1"},
};
FIELD_LIST(cost_fields, "cost", cost);
#undef AT

/* clang-format off */
#define AT(member) offsetof(struct system_sample, member)
#define MEM(type) (AT(memory_bytes) + (type) * sizeof(double))
/* clang-format on */
static const struct field system_table[] = {
    {"uptime_ms", "uptime", FIELD_MS, COLUMN_COUNT, AT(uptime_ms), "since the VM's start"},
    {"memory_total_bytes", "memory", FIELD_REAL, COLUMN_BYTES, MEM(MEMORY_TOTAL),
     "`erlang:memory(total)`"},
    {"memory_processes_bytes", "processes memory", FIELD_REAL, COLUMN_BYTES, MEM(MEMORY_PROCESSES),
     "allocated for processes"},
    {"memory_processes_used_bytes", "processes used", FIELD_REAL, COLUMN_BYTES,
     MEM(MEMORY_PROCESSES_USED), "used by processes"},
    {"memory_system_bytes", "system memory", FIELD_REAL, COLUMN_BYTES, MEM(MEMORY_SYSTEM),
     "memory that is not of processes"},
    {"memory_atom_bytes", "atom", FIELD_REAL, COLUMN_BYTES, MEM(MEMORY_ATOM),
     "allocated for atoms"},
    {"memory_atom_used_bytes", "atom used", FIELD_REAL, COLUMN_BYTES, MEM(MEMORY_ATOM_USED),
     "used by atoms"},
    {"memory_binary_bytes", "binary", FIELD_REAL, COLUMN_BYTES, MEM(MEMORY_BINARY),
     "refc (off-heap) binaries"},
    {"memory_code_bytes", "code", FIELD_REAL, COLUMN_BYTES, MEM(MEMORY_CODE), "loaded code"},
    {"memory_ets_bytes", "ets", FIELD_REAL, COLUMN_BYTES, MEM(MEMORY_ETS), "ETS tables"},
    {"rss_bytes", "rss", FIELD_REAL, COLUMN_BYTES, AT(rss_bytes),
     "resident memory of the VM, as its operating system says (Linux)"},
    {"virtual_bytes", "virtual", FIELD_REAL, COLUMN_BYTES, AT(virtual_bytes),
     "virtual memory of the VM (Linux)"},
    {"processes", "processes", FIELD_INT, COLUMN_COUNT, AT(processes), "how many processes"},
    {"ports", "ports", FIELD_INT, COLUMN_COUNT, AT(ports), "how many ports"},
    {"atoms", "atoms", FIELD_INT, COLUMN_COUNT, AT(atoms), "how many atoms"},
    {"ets_tables", "ets tables", FIELD_INT, COLUMN_COUNT, AT(ets_tables), "how many ETS tables"},
    {"run_queue", "run queue", FIELD_INT, COLUMN_COUNT, AT(run_queue),
     "processes in the run queues of normal schedulers"},
    {"run_queue_highest", "longest run queue", FIELD_INT, COLUMN_COUNT, AT(run_queue_highest),
     "longest run queue of a normal scheduler"},
    {"run_queue_dirty_cpu", "dirty CPU queue", FIELD_INT, COLUMN_COUNT, AT(run_queue_dirty_cpu),
     "waiting for a dirty CPU scheduler"},
    {"run_queue_dirty_io", "dirty I/O queue", FIELD_INT, COLUMN_COUNT, AT(run_queue_dirty_io),
     "waiting for a dirty I/O scheduler"},
    {"scheduler_utilisation", "utilisation", FIELD_REAL, COLUMN_SHARE, AT(use_normal),
     "mean utilisation of the normal schedulers online, 0 to 1"},
    {"dirty_cpu_utilisation", "dirty CPU", FIELD_REAL, COLUMN_SHARE, AT(use_dirty_cpu),
     "mean utilisation of the dirty CPU schedulers online"},
    {"dirty_io_utilisation", "dirty I/O", FIELD_REAL, COLUMN_SHARE, AT(use_dirty_io),
     "mean utilisation of the dirty I/O schedulers"},
    {"reductions_per_s", "reductions/s", FIELD_REAL, COLUMN_RATE, AT(reductions_per_s),
     "reductions per second"},
    {"own_reductions_per_s", "own reductions/s", FIELD_REAL, COLUMN_RATE, AT(own_reductions_per_s),
     "of them, by beamtop's own processes"},
    {"context_switches_per_s", "switches/s", FIELD_REAL, COLUMN_RATE, AT(context_switches_per_s),
     "context switches per second"},
    {"gcs_per_s", "gcs/s", FIELD_REAL, COLUMN_RATE, AT(gcs_per_s),
     "garbage collections per second"},
    {"gc_words_per_s", "gc words/s", FIELD_REAL, COLUMN_RATE, AT(gc_words_per_s),
     "words reclaimed per second"},
    {"in_bytes_per_s", "in", FIELD_REAL, COLUMN_BYTE_RATE, AT(in_bytes_per_s),
     "bytes read through ports per second"},
    {"out_bytes_per_s", "out", FIELD_REAL, COLUMN_BYTE_RATE, AT(out_bytes_per_s),
     "bytes written through ports per second"},
    {"late_ms", "late", FIELD_MS, COLUMN_COUNT, AT(late_ms),
     "longest wait of a call for a scheduler that does not yield, since the previous tick"},
    {"late_scheduler", "late scheduler", FIELD_INT, COLUMN_COUNT, AT(late_scheduler),
     "a scheduler that did not answer, where a call is late and it is known which"},
};
FIELD_LIST(system_fields, "system", system_table);
#undef AT

#define AT(member) offsetof(struct node_info, member)
static const struct field info[] = {
    {"otp", "OTP", FIELD_SLICE, COLUMN_TEXT, AT(otp), "OTP release, \"25\" or \"25.2.3\""},
    {"erts", "ERTS", FIELD_SLICE, COLUMN_TEXT, AT(erts), "version of the runtime system"},
    {"emulator", "emulator", FIELD_SLICE, COLUMN_TEXT, AT(emulator), "\"jit\" or \"emu\""},
    {"elixir", "Elixir", FIELD_SLICE, COLUMN_TEXT, AT(elixir),
     "version of Elixir where it is there"},
    {"os", "operating system", FIELD_SLICE, COLUMN_TEXT, AT(os),
     "operating system and its version"},
    {"os_pid", "os pid", FIELD_SLICE, COLUMN_TEXT, AT(os_pid), "process id of the VM on its host"},
    {"code_mode", "code loading", FIELD_SLICE, COLUMN_TEXT, AT(code_mode),
     "\"interactive\" or \"embedded\""},
    {"word_bytes", "word", FIELD_INT, COLUMN_BYTES, AT(word_bytes), "bytes of a word"},
    {"start_wall_us", "started", FIELD_WALL_US, COLUMN_COUNT, AT(start_wall_us),
     "the VM's start, µs since the epoch"},
    {"cpus", "processors", FIELD_INT, COLUMN_COUNT, AT(cpus), "logical processors available to it"},
    {"schedulers", "schedulers", FIELD_INT, COLUMN_COUNT, AT(schedulers), "normal schedulers"},
    {"schedulers_online", "online", FIELD_INT, COLUMN_COUNT, AT(schedulers_online),
     "normal schedulers online"},
    {"dirty_cpu_schedulers", "dirty CPU", FIELD_INT, COLUMN_COUNT, AT(dirty_cpu),
     "dirty CPU schedulers"},
    {"dirty_cpu_schedulers_online", "dirty CPU online", FIELD_INT, COLUMN_COUNT,
     AT(dirty_cpu_online), "dirty CPU schedulers online"},
    {"dirty_io_schedulers", "dirty I/O", FIELD_INT, COLUMN_COUNT, AT(dirty_io),
     "dirty I/O schedulers"},
    {"process_limit", "process limit", FIELD_INT, COLUMN_COUNT, AT(process_limit),
     "most processes there can be"},
    {"port_limit", "port limit", FIELD_INT, COLUMN_COUNT, AT(port_limit),
     "most ports there can be"},
    {"atom_limit", "atom limit", FIELD_INT, COLUMN_COUNT, AT(atom_limit),
     "most atoms there can be"},
    {"ets_limit", "ets limit", FIELD_INT, COLUMN_COUNT, AT(ets_limit),
     "ETS tables the VM was set up for"},
    {"net_tick_s", "net tick", FIELD_INT, COLUMN_COUNT, AT(net_tick_s),
     "seconds after which a silent connection counts as lost"},
};
static FIELD_LIST(info_fields, "info", info);
#undef AT

#define AT(member) offsetof(struct proc_scan, member)
static const struct field scan[] = {
    {"total", "scanned", FIELD_INT, COLUMN_COUNT, AT(total),
     "processes swept, without beamtop's own"},
    {"matching", "matching", FIELD_INT, COLUMN_COUNT, AT(matching),
     "those that the filter lets pass; all without one"},
    {"own", "own", FIELD_INT, COLUMN_COUNT, AT(own), "processes of beamtop on the node"},
    {"sweep_us", "sweep us", FIELD_REAL, COLUMN_COUNT, AT(sweep_us), "µs that the sweep took"},
    {"by_delta", "by change", FIELD_BOOL, COLUMN_BOOL, AT(by_delta),
     "ranked by change within the interval; false at the first tick"},
    {"filtered", "filtered", FIELD_BOOL, COLUMN_BOOL, AT(filtered), "whether a filter was on"},
    {"recorded", "recorded", FIELD_INT, COLUMN_COUNT, AT(recorded),
     "of a recording: rows recorded at this tick, the busiest ones; filters search only these"},
    {"sorted_among", "sorted among", FIELD_INT, COLUMN_COUNT, AT(sorted_among),
     "ranked by beamtop among this many of the busiest; null: by the node, among all"},
};
static FIELD_LIST(scan_fields, "scan", scan);
#undef AT

#define AT(member) offsetof(struct alloc_detail, member)
static const struct field alloc[] = {
    {"block_bytes", "blocks", FIELD_INT, COLUMN_BYTES, AT(block_bytes), "in use in all allocators"},
    {"carrier_bytes", "carriers", FIELD_INT, COLUMN_BYTES, AT(carrier_bytes),
     "taken from the system by all allocators"},
    {"utilisation", "utilisation", FIELD_REAL, COLUMN_SHARE, AT(utilisation),
     "`block_bytes` over `carrier_bytes`"},
    {"mseg_hits", "mseg hits", FIELD_INT, COLUMN_COUNT, AT(mseg_hits),
     "segments served from the cache"},
    {"mseg_calls", "mseg calls", FIELD_INT, COLUMN_COUNT, AT(mseg_calls), "segments asked for"},
    {"rss_bytes", "rss", FIELD_INT, COLUMN_BYTES, AT(rss_bytes),
     "resident memory of the VM when the allocators were read (Linux)"},
    {"anonymous_bytes", "anonymous", FIELD_INT, COLUMN_BYTES, AT(anon_bytes),
     "of it, memory that is not of files (Linux)"},
    {"swap_bytes", "swapped", FIELD_INT, COLUMN_BYTES, AT(swap_bytes), "swapped out (Linux)"},
    {"rss_peak_bytes", "rss peak", FIELD_INT, COLUMN_BYTES, AT(hwm_bytes),
     "largest resident memory since the VM's start (Linux)"},
    {"fragmented_bytes", "fragmented", FIELD_INT, COLUMN_BYTES, AT(fragmented_bytes),
     "`carrier_bytes` - `block_bytes`, at most `rss_bytes`: taken from the system and not in use"},
    {"fragmented_share", "of rss", FIELD_REAL, COLUMN_SHARE, AT(fragmented_share),
     "`fragmented_bytes` over `rss_bytes`"},
    {"outside_bytes", "outside allocators", FIELD_INT, COLUMN_BYTES, AT(outside_bytes),
     "`rss_bytes` beyond `carrier_bytes`: code of the VM, libraries, stacks of threads, NIFs"},
    {"untouched_bytes", "untouched", FIELD_INT, COLUMN_BYTES, AT(untouched_bytes),
     "`carrier_bytes` beyond `rss_bytes`: pages of carriers that are not resident"},
};
static FIELD_LIST(alloc_fields, "allocation", alloc);
#undef AT

#define AT(member) offsetof(struct allocator_row, member)
static const struct field allocator[] = {
    {"allocator", "ALLOCATOR", FIELD_SLICE, COLUMN_TEXT, AT(name),
     "its name; blocks count for the allocator whose carrier they are in, also where all share a "
     "pool of "
     "carriers (OTP 23) and a block is another's"},
    {"instances", "INSTANCES", FIELD_INT, COLUMN_COUNT, AT(instances), "how many there are"},
    {"mbcs_blocks", "BLOCKS", FIELD_INT, COLUMN_COUNT, AT(mbcs.blocks),
     "blocks in multiblock carriers"},
    {"mbcs_block_bytes", "IN USE", FIELD_INT, COLUMN_BYTES, AT(mbcs.block_bytes), "their bytes"},
    {"mbcs_carriers", "CARRIERS", FIELD_INT, COLUMN_COUNT, AT(mbcs.carriers),
     "multiblock carriers"},
    {"mbcs_carrier_bytes", "TAKEN", FIELD_INT, COLUMN_BYTES, AT(mbcs.carrier_bytes), "their bytes"},
    {"sbcs_blocks", "SINGLE", FIELD_INT, COLUMN_COUNT, AT(sbcs.blocks),
     "blocks in single-block carriers"},
    {"sbcs_block_bytes", "IN USE", FIELD_INT, COLUMN_BYTES, AT(sbcs.block_bytes), "their bytes"},
    {"sbcs_carriers", "CARRIERS", FIELD_INT, COLUMN_COUNT, AT(sbcs.carriers),
     "single-block carriers"},
    {"sbcs_carrier_bytes", "TAKEN", FIELD_INT, COLUMN_BYTES, AT(sbcs.carrier_bytes), "their bytes"},
    {"pool_carriers", "POOL", FIELD_INT, COLUMN_COUNT, AT(pool_carriers),
     "carriers abandoned to the pool"},
    {"pool_carrier_bytes", "POOL TAKEN", FIELD_INT, COLUMN_BYTES, AT(pool_carrier_bytes),
     "their bytes"},
    {"pool_block_bytes", "POOL IN USE", FIELD_INT, COLUMN_BYTES, AT(pool_block_bytes),
     "bytes in use in them"},
    {"utilisation", "UTIL", FIELD_REAL, COLUMN_SHARE, AT(utilisation),
     "bytes in use over bytes taken, the pool included"},
    {"unused_bytes", "UNUSED", FIELD_INT, COLUMN_BYTES, AT(unused_bytes),
     "bytes taken and not in use"},
    {"worst_instance", "WORST", FIELD_INT, COLUMN_COUNT, AT(worst_instance),
     "its instance with most unused bytes (0: of all threads, N: of scheduler N); null: not among "
     "the 100 of all allocators"},
    {"worst_unused_bytes", "ITS UNUSED", FIELD_INT, COLUMN_BYTES, AT(worst_unused_bytes),
     "unused bytes of that instance"},
    {"worst_utilisation", "ITS USE", FIELD_REAL, COLUMN_SHARE, AT(worst_utilisation),
     "bytes in use over bytes taken in it"},
};
static FIELD_LIST(allocator_fields, "rows", allocator);
#undef AT

#define AT(member) offsetof(struct allocator_instance, member)
static const struct field instance[] = {
    {"allocator", "ALLOCATOR", FIELD_SLICE, COLUMN_TEXT, AT(name), "its name"},
    {"instance", "INSTANCE", FIELD_INT, COLUMN_COUNT, AT(instance),
     "0: of all threads, N: of scheduler N"},
    {"blocks", "BLOCKS", FIELD_INT, COLUMN_COUNT, AT(blocks), "blocks in its carriers"},
    {"block_bytes", "IN USE", FIELD_INT, COLUMN_BYTES, AT(block_bytes), "bytes in use in them"},
    {"carriers", "CARRIERS", FIELD_INT, COLUMN_COUNT, AT(carriers),
     "its carriers, those in the pool too"},
    {"carrier_bytes", "TAKEN", FIELD_INT, COLUMN_BYTES, AT(carrier_bytes), "their bytes"},
    {"utilisation", "UTIL", FIELD_REAL, COLUMN_SHARE, AT(utilisation),
     "bytes in use over bytes taken"},
    {"unused_bytes", "UNUSED", FIELD_INT, COLUMN_BYTES, AT(unused_bytes),
     "bytes taken and not in use"},
};
static FIELD_LIST(instance_fields, "instances", instance);
#undef AT

#define AT(member) offsetof(struct scheduler, member)
static const struct field scheduler[] = {
    {"id", "ID", FIELD_INT, COLUMN_COUNT, AT(id), "the VM's number of it"},
    {"kind", "KIND", FIELD_SCHEDULER_KIND, COLUMN_TEXT, AT(kind),
     "\"normal\", \"dirty_cpu\" or \"dirty_io\""},
    {"utilisation", "UTIL", FIELD_REAL, COLUMN_SHARE, AT(use),
     "share of the interval that it worked, 0 to 1"},
    {"queue_len", "QUEUE", FIELD_INT, COLUMN_COUNT, AT(queue_len),
     "its run queue; dirty schedulers share one"},
};
static FIELD_LIST(scheduler_fields, "rows", scheduler);
#undef AT

#define AT(member) offsetof(struct apps_detail, member)
static const struct field apps[] = {
    {"partial", "partial", FIELD_BOOL, COLUMN_BOOL, AT(partial),
     "whether the deadline cut the count short"},
};
static FIELD_LIST(apps_fields, "applications", apps);
#undef AT

#define AT(member) offsetof(struct app_row, member)
static const struct field app[] = {
    {"application", "APPLICATION", FIELD_SLICE, COLUMN_TEXT, AT(name),
     "its name; null: the processes of none"},
    {"version", "VERSION", FIELD_SLICE, COLUMN_TEXT, AT(version), "its version"},
    {"processes", "PROCESSES", FIELD_INT, COLUMN_COUNT, AT(processes), "how many it has"},
    {"memory_bytes", "MEMORY", FIELD_INT, COLUMN_BYTES, AT(memory_bytes), "of its processes"},
    {"memory_older", "OLDER", FIELD_BOOL, COLUMN_BOOL, AT(memory_older),
     "whether that of one of them was read some time ago: its message queue is long, "
     "or it has many links or monitors"},
    {"memory_age_s", "MEM AGE", FIELD_REAL, COLUMN_SECONDS, AT(memory_age_s),
     "how long ago that of the oldest was read; null: one never was"},
    {"memory_bytes_per_s", "MEM/s", FIELD_REAL, COLUMN_BYTE_RATE, AT(memory_per_s),
     "growth per second"},
    {"reductions", "REDUCTIONS", FIELD_INT, COLUMN_COUNT, AT(reductions),
     "of the processes it has now"},
    {"reductions_per_s", "RED/s", FIELD_REAL, COLUMN_RATE, AT(reductions_per_s),
     "per second; null when processes with more of them have ended"},
    {"reductions_share", "SHARE", FIELD_REAL, COLUMN_SHARE, AT(reductions_share),
     "of all the node's reductions, 0 to 1"},
    {"message_queue_len", "MSGQ", FIELD_INT, COLUMN_COUNT, AT(message_queue_len),
     "messages in all its message queues"},
    {"description", "DESCRIPTION", FIELD_SLICE, COLUMN_TEXT, AT(description),
     "what it says of itself"},
};
static FIELD_LIST(app_fields, "rows", app);
#undef AT

#define AT(member) offsetof(struct armed_detail, member)
static const struct field armed[] = {
    {"sessions", "sessions", FIELD_INT, COLUMN_COUNT, AT(sessions),
     "trace sessions, without the default one (OTP 27 and later)"},
    {"breakpoints", "breakpoints", FIELD_INT, COLUMN_COUNT, AT(breakpoints),
     "functions with a breakpoint, and message patterns, in all sessions together"},
    {"breakpoints_shown", "of them shown", FIELD_INT, COLUMN_COUNT, AT(breakpoints_shown),
     "how many of them are in `rows`"},
    {"processes", "traced processes", FIELD_INT, COLUMN_COUNT, AT(processes),
     "processes with trace flags, in all sessions together"},
    {"flags", "trace flags", FIELD_INT, COLUMN_COUNT, AT(flags),
     "the same with what is set for new processes and new ports"},
    {"flags_shown", "of them shown", FIELD_INT, COLUMN_COUNT, AT(flags_shown),
     "how many of them are in `rows`"},
    {"monitors", "monitors", FIELD_INT, COLUMN_COUNT, AT(monitors),
     "`system_monitor` and `system_profile`, where they are set"},
    {"control_word", "control word", FIELD_INT, COLUMN_COUNT, AT(control_word),
     "the VM's trace control word; zero when it is not used"},
    {"system_tracer", "system tracer", FIELD_SLICE, COLUMN_TEXT, AT(system_tracer),
     "of `seq_trace`: pid and name of the process, or the port; null: none"},
    {"tokens", "tokens", FIELD_INT, COLUMN_COUNT, AT(tokens),
     "processes with a sequential trace token"},
    {"beamtops", "other beamtops", FIELD_INT, COLUMN_COUNT, AT(beamtops),
     "other beamtops that are connected, such as a recorder"},
};
static FIELD_LIST(armed_fields, "armed", armed);
#undef AT

#define AT(member) offsetof(struct armed_row, member)
static const struct field armed_row[] = {
    {"what", "WHAT", FIELD_SLICE, COLUMN_TEXT, AT(what),
     "\"connection\", \"session\", \"control_word\", \"system_tracer\", \"tokens\", \"monitor\", "
     "\"breakpoint\" or "
     "\"flags\""},
    {"where", "WHERE", FIELD_SLICE, COLUMN_TEXT, AT(where),
     "node name of the other beamtop; name of the session or monitor; \"seq_trace\"; function, "
     "\"send\", \"receive\", \"on_load\"; "
     "process by "
     "name or pid, \"new_processes\", \"new_ports\""},
    {"pid", "PID", FIELD_SLICE, COLUMN_TEXT, AT(pid_text),
     "of `flags`: the process; of `connection`: its keeper"},
    {"session", "SESSION", FIELD_SLICE, COLUMN_TEXT, AT(session),
     "trace session; null: legacy tracing"},
    {"tracer", "TRACER", FIELD_SLICE, COLUMN_TEXT, AT(tracer),
     "pid and name of the process that gets the events, where the VM says it"},
    {"beamtop", "BEAMTOP", FIELD_BOOL, COLUMN_BOOL, AT(beamtop),
     "whether a beamtop set it, or is it"},
    {"traced", "TRACED", FIELD_SLICE, COLUMN_TEXT, AT(traced),
     "of a breakpoint: \"local\", \"global\" or \"meta\"; null: only counters"},
    {"text", "TEXT", FIELD_SLICE, COLUMN_TEXT, AT(text),
     "match specification (truncated at 200 bytes), flags, or what is monitored"},
    {"value", "VALUE", FIELD_INT, COLUMN_COUNT, AT(value), "of the control word"},
    {"call_count", "CALLS", FIELD_INT, COLUMN_COUNT, AT(call_count), "counted so far"},
    {"call_time_us", "TIME", FIELD_INT, COLUMN_COUNT, AT(call_time_us),
     "µs counted so far, over all processes"},
    {"call_memory_words", "WORDS", FIELD_INT, COLUMN_COUNT, AT(call_memory_words),
     "words counted so far, over all processes"},
    {"breakpoints", "BREAKPOINTS", FIELD_INT, COLUMN_COUNT, AT(breakpoints),
     "of a session; null when not all were looked through"},
    {"processes", "PROCESSES", FIELD_INT, COLUMN_COUNT, AT(processes),
     "of a session: those that it follows; null when not all were looked through. Of `tokens`: "
     "those that have one. Of `connection`: its own"},
};
static FIELD_LIST(armed_row_fields, "rows", armed_row);

static const struct field armed_text[] = {
    {"what", "WHAT", FIELD_SLICE, COLUMN_TEXT, AT(what), "what it is"},
    {"where", "WHERE", FIELD_SLICE, COLUMN_TEXT, AT(where), "where it is set"},
    {"pid", "PID", FIELD_SLICE, COLUMN_TEXT, AT(pid_text), "the process"},
    {"session", "SESSION", FIELD_SLICE, COLUMN_TEXT, AT(session), "the session it is in"},
    {"tracer", "TRACER", FIELD_SLICE, COLUMN_TEXT, AT(tracer), "process that gets the events"},
    {"beamtop", "BEAMTOP", FIELD_BOOL, COLUMN_BOOL, AT(beamtop), "whether a beamtop set it"},
    {"details", "DETAILS", FIELD_SLICE, COLUMN_TEXT, AT(details), "specification, flags, counters"},
};
static FIELD_LIST(armed_text_fields, "rows", armed_text);
#undef AT

#define AT(member) offsetof(struct sink_node, member)
static const struct field node[] = {
    {"name", "NODE", FIELD_SLICE, COLUMN_TEXT, AT(name), "alive@host; null: no node"},
    {"form", "NAMES", FIELD_SLICE, COLUMN_TEXT, AT(form), "\"short\" or \"long\" names"},
    {"user", "USER", FIELD_SLICE, COLUMN_TEXT, AT(user), "who it runs as"},
    {"os_pid", "OS PID", FIELD_INT, COLUMN_TEXT, AT(os_pid), "its process id"},
    {"otp", "OTP", FIELD_SLICE, COLUMN_TEXT, AT(otp), "its release"},
    {"uptime_s", "UP", FIELD_REAL, COLUMN_SECONDS, AT(uptime_s), "seconds since its start"},
    {"rss_bytes", "RSS", FIELD_REAL, COLUMN_BYTES, AT(rss_bytes), "resident memory"},
    {"port", "PORT", FIELD_INT, COLUMN_TEXT, AT(port), "where it takes connections"},
    {"in_epmd", "EPMD", FIELD_BOOL, COLUMN_BOOL, AT(in_epmd), "whether epmd knows it"},
    {"cookie", "COOKIE", FIELD_SLICE, COLUMN_TEXT, AT(cookie),
     "where a cookie was found: \"argument\", \"owner_home\"; never the cookie"},
    {"command", "COMMAND", FIELD_SLICE, COLUMN_TEXT, AT(command), "what was started"},
};
static FIELD_LIST(node_fields, "rows", node);
#undef AT

/* ---- what the commands show of them */

#define ROWS_OF(type, member, n)                                                                   \
    .rows_at = offsetof(struct type, member), .n_rows_at = offsetof(struct type, n),               \
    .row_bytes = sizeof *((struct type *)NULL)->member

/* clang-format off */
const struct sink_kind sink_kinds[] = {
    {.name = "top", .question = QUESTION_SCAN, .rates = true, .fill = sink_fill_top,
     .section = &scan_fields, .interval_at = offsetof(struct proc_scan, interval_s)},
    {.name = "info", .question = QUESTION_NODE, .rates = true, .system = true,
     .section = &info_fields},
    {.name = "process", .question = QUESTION_PROCESS, .rates = true, .fill = sink_fill_process},
    {.name = "memory", .question = QUESTION_ALLOC, .system = true, .section = &alloc_fields,
     .grid = &allocator_fields, ROWS_OF(alloc_detail, rows, n_rows), .more = &instance_fields,
     .more_at = offsetof(struct alloc_detail, instances),
     .n_more_at = offsetof(struct alloc_detail, n_instances),
     .more_bytes = sizeof(struct allocator_instance)},
    {.name = "schedulers", .question = QUESTION_SYSTEM, .rates = true, .grid = &scheduler_fields,
     ROWS_OF(system_sample, schedulers, n_schedulers)},
    {.name = "apps", .question = QUESTION_APPS, .rates = true, .section = &apps_fields,
     .grid = &app_fields, .interval_at = offsetof(struct apps_detail, interval_s),
     ROWS_OF(apps_detail, rows, n_rows)},
    /* People get a table that fits a terminal; programs get all that there is. */
    {.name = "armed", .question = QUESTION_ARMED, .section = &armed_fields,
     .grid = &armed_row_fields, .text_grid = &armed_text_fields,
     .text_empty = "No active tracing on this node.\n", ROWS_OF(armed_detail, rows, n_rows)},
    {.name = "heapsample", .question = QUESTION_HEAPS, .section = &heaps_fields,
     .grid = &heap_row_fields, .text_grid = &heap_text_fields,
     ROWS_OF(heaps_detail, rows, n_rows), .fill = sink_fill_heaps},
    {.name = "cpus", .question = QUESTION_THREADS, .rates = true, .section = &threads_fields,
     .grid = &thread_fields, .interval_at = offsetof(struct threads_detail, interval_s),
     .text_empty = "The node found no scheduler threads in /proc: it does not run on Linux, "
                   "or its dirty I/O schedulers are not free.\n",
     ROWS_OF(threads_detail, rows, n_rows)},
    {.name = "msacc", .question = QUESTION_MSACC, .rates = true, .section = &msacc_fields,
     .grid = &msacc_row_fields, .text_grid = &msacc_text_fields,
     .interval_at = offsetof(struct msacc_detail, interval_s),
     ROWS_OF(msacc_detail, rows, n_rows)},
    {.name = "nodes", .question = QUESTIONS, .grid = &node_fields},
    {.name = NULL},
};
/* clang-format on */

struct value text_value(struct slice text)
{
    return (struct value){.kind = text.len > 0 ? VALUE_TEXT : VALUE_NONE, .text = text};
}

struct value pid_value(const struct etf_pid *pid)
{
    if (!pid)
        return (struct value){.kind = VALUE_NONE};
    return (struct value){.kind = VALUE_PID, .type = COLUMN_PID, .pid = *pid};
}

static struct value scheduler_kind_value(enum scheduler_kind kind)
{
    switch (kind) {
    case SCHEDULER_NORMAL:
        return text_value((struct slice){"normal", 6});
    case SCHEDULER_DIRTY_CPU:
        return text_value((struct slice){"dirty_cpu", 9});
    case SCHEDULER_DIRTY_IO:
        return text_value((struct slice){"dirty_io", 8});
    }
    return (struct value){.kind = VALUE_NONE};
}

/* Numbers that count things are integers in the data, whatever keeps them here. */
static struct value number_value(double v, enum column_type type)
{
    if (isnan(v) || isinf(v))
        return (struct value){.kind = VALUE_NONE, .type = type};
    bool counts = type == COLUMN_COUNT || type == COLUMN_BYTES || type == COLUMN_WORDS;
    struct value out = {.kind = VALUE_NUMBER, .type = type, .number = v};
    if (counts && fabs(v) < 9e15) {
        out.is_integer = true;
        out.integer = (int64_t)v;
    }
    return out;
}

struct value field_value(const struct field *f, const void *base)
{
    const void *at = (const char *)base + f->offset;
    struct value v = {.kind = VALUE_NONE};
    switch (f->form) {
    case FIELD_SLICE:
        v = text_value(*(const struct slice *)at);
        break;
    case FIELD_INT:
    case FIELD_MS:
    case FIELD_WALL_US:
        v.integer = *(const int64_t *)at;
        v.kind = v.integer < 0 ? VALUE_NONE : VALUE_NUMBER;
        v.is_integer = true;
        v.number = (double)v.integer;
        break;
    case FIELD_SIGNED:
        v.integer = *(const int64_t *)at;
        v.kind = VALUE_NUMBER;
        v.is_integer = true;
        v.number = (double)v.integer;
        break;
    case FIELD_REAL:
    case FIELD_CPUS:
        v = number_value(*(const double *)at, f->type);
        break;
    case FIELD_BOOL:
        v.kind = VALUE_BOOL;
        v.boolean = *(const bool *)at;
        break;
    case FIELD_SCHEDULER_KIND:
        v = scheduler_kind_value(*(const enum scheduler_kind *)at);
        break;
    }
    v.type = f->type;
    v.form = f->form;
    return v;
}

struct value column_value(const struct proc_column *column, const struct proc_row *row)
{
    struct value v;
    if (column->pid) {
        v = pid_value(column->pid(row));
    } else if (column->text) {
        v = text_value(column->text(row));
    } else {
        v = number_value(column->number(row), column->type);
        v.at_least = proc_column_is_least(column, row);
        v.older = proc_column_is_older(column, row);
        v.age_s = row->older_s;
        if (column->type == COLUMN_BOOL && v.kind == VALUE_NUMBER) {
            v.kind = VALUE_BOOL;
            v.boolean = v.number > 0;
        }
    }
    v.type = column->type;
    return v;
}

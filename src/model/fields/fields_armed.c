/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tools have set on the node. */
#include "beamtop/model/fields.h"

#define ROW struct armed_detail
static const struct field armed[] = {
    FIELD("sessions", COUNT, sessions,
          "trace sessions, without the default one (OTP 27 and later)"),
    FIELD("breakpoints", COUNT, breakpoints,
          "functions with a breakpoint, and message patterns, in all sessions together"),
    FIELD("breakpoints_shown", COUNT, breakpoints_shown, "how many of them are in `rows`",
          .title = "of them shown"),
    FIELD("processes", COUNT, processes, "processes with trace flags, in all sessions together",
          .title = "traced processes"),
    FIELD("flags", COUNT, flags, "the same with what is set for new processes and new ports",
          .title = "trace flags"),
    FIELD("flags_shown", COUNT, flags_shown, "how many of them are in `rows`",
          .title = "of them shown"),
    FIELD("monitors", COUNT, monitors, "`system_monitor` and `system_profile`, where they are set"),
    FIELD("control_word", COUNT, control_word,
          "the VM's trace control word; zero when it is not used"),
    FIELD("system_tracer", TEXT, system_tracer,
          "of `seq_trace`: pid and name of the process, or the port; null: none"),
    FIELD("tokens", COUNT, tokens, "processes with a sequential trace token"),
    FIELD("beamtops", COUNT, beamtops, "other beamtops that are connected, such as a recorder",
          .title = "other beamtops"),
};
FIELD_LIST(armed_fields, "armed", armed);
#undef ROW

#define ROW struct armed_row
static const struct field armed_row[] = {
    FIELD("what", TEXT, what,
          "\"connection\", \"session\", \"control_word\", \"system_tracer\", \"tokens\", "
          "\"monitor\", \"breakpoint\" or \"flags\"",
          .width = 13),
    FIELD("where", TEXT, where,
          "node name of the other beamtop; name of the session or monitor; \"seq_trace\"; "
          "function, \"send\", \"receive\", \"on_load\"; process by name or pid, "
          "\"new_processes\", \"new_ports\"",
          .width = 24, .grows = true),
    FIELD("pid", TEXT, pid_text, "of `flags`: the process; of `connection`: its keeper"),
    FIELD("session", TEXT, session, "trace session; null: legacy tracing", .look = LOOK_NAME,
          .width = 8),
    FIELD("tracer", TEXT, tracer,
          "pid and name of the process that gets the events, where the VM says it",
          .look = LOOK_PID, .width = 14, .grows = true),
    FIELD("beamtop", BOOL, beamtop, "whether a beamtop set it, or is it"),
    FIELD("traced", TEXT, traced,
          "of a breakpoint: \"local\", \"global\" or \"meta\"; null: only counters"),
    FIELD("text", TEXT, text,
          "match specification (truncated at 200 bytes), flags, or what is monitored"),
    FIELD("value", COUNT, value, "of the control word"),
    FIELD("call_count", COUNT, call_count, "counted so far", .title = "CALLS"),
    FIELD("call_time_us", COUNT, call_time_us, "µs counted so far, over all processes",
          .title = "TIME"),
    FIELD("call_memory_words", COUNT, call_memory_words, "words counted so far, over all processes",
          .title = "WORDS"),
    FIELD("breakpoints", COUNT, breakpoints, "of a session; null when not all were looked through"),
    FIELD("processes", COUNT, processes,
          "of a session: those that it follows; null when not all were looked through. Of "
          "`tokens`: those that have one. Of `connection`: its own"),
    FIELD("owner", TEXT, owner, "self: this beamtop; beamtop: another one; empty: another tool",
          .width = 7),
    FIELD("details", TEXT, details, "match specification, flags, counters", .width = 16,
          .grows = true),
};
FIELD_COLUMNS(armed_row_fields, "rows", armed_row, 2,
              "what where pid owner session tracer details");
#undef ROW

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options and the commands: what each takes, and its words in the help. */
#include "cli_table.h"

#include <assert.h>
#include <stdio.h>

#include "beamtop/base/text.h"
#include "beamtop/local/sampler.h"
#include "commands.h"

#define AT(field) offsetof(struct cli_options, field)

const struct cli_option cli_option_table[] = {
    {"cookie", 0, FOR_CONNECT, TYPE_TEXT, AT(cookie), 0, 0, 0, "COOKIE",
     "cookie of the node; wiped from the process list at once"},
    {"cookie-file", 0, FOR_CONNECT, TYPE_TEXT, AT(cookie_file), 0, 0, 0, "FILE",
     "read the cookie from FILE"},
    {"timeout", 't', FOR_CONNECT, TYPE_SECONDS, AT(timeout_s), 0, 0.05, 600, "SECONDS",
     "time limit for connecting and for the header, 0.05 to 600 (5)"},
    {"host", 0, FOR_CONNECT, TYPE_TEXT, AT(host), 0, 0, 0, "HOST",
     "connect to HOST instead of the host in the node's name"},
    {"port", 0, FOR_CONNECT, TYPE_INTEGER, AT(port), 0, 1, 65535, "PORT",
     "distribution port of the node; epmd is not used"},
    {"epmd-port", 0, FOR_CONNECT | FOR_LOCAL, TYPE_INTEGER, AT(epmd_port), 0, 1, 65535, "PORT",
     "port of epmd (ERL_EPMD_PORT, else 4369)"},
    {"interval", 'i', FOR_TICKS | FOR_SCREEN | FOR_RECORD, TYPE_SECONDS, AT(interval_s),
     AT(interval_given), 0.25, 3600, "SECONDS", "time between ticks, 0.25 to 3600 (1; record: 5)"},
    {"budget", 'b', FOR_TICKS | FOR_SCREEN | FOR_RECORD | FOR_SAMPLE, TYPE_SHARE, AT(budget),
     AT(budget_given), 0.0001, 1, "PERCENT",
     "cost limit, in percent of one scheduler, 0.01 to 100 (2)"},
    {"ticks", 'n', FOR_TICKS, TYPE_INTEGER, AT(ticks), AT(ticks_given), 0, 1e9, "TICKS",
     "ticks to print; 0: until interrupted"},
    {"at", 0, FOR_TICKS | FOR_SCREEN | FOR_CALLS, TYPE_TEXT, AT(at), 0, 0, 0, "WHEN",
     "with a recording: where to start (time of day, 10m, a mark, #TICK)"},
    {"sort", 's', FOR_TOP | FOR_SCREEN, TYPE_TEXT, AT(sort), 0, 0, 0, "COLUMN",
     "column to sort processes by (reductions_per_s)"},
    {"reverse", 'r', FOR_TOP | FOR_SCREEN, TYPE_FLAG, AT(reverse), 0, 0, 0, NULL, "smallest first"},
    {"rows", 'R', FOR_TOP, TYPE_INTEGER, AT(rows), 0, 1, 1000, "ROWS",
     "rows to print, 1 to 1000 (20)"},
    {"filter", 'f', FOR_TOP | FOR_SCREEN, TYPE_TEXT, AT(filter), 0, 0, 0, "REGEX",
     "only processes whose name, initial call, current function, application or pid matches"},
    {"columns", 'c', FOR_TOP | FOR_SCREEN, TYPE_TEXT, AT(columns), 0, 0, 0, "A,B,…",
     "columns to show, by their JSON keys"},
    {"own", 0, FOR_TOP | FOR_SCREEN, TYPE_FLAG, AT(own), 0, 0, 0, NULL,
     "show beamtop's own processes on the node too"},
    {"format", 'F', FOR_FORMAT | FOR_CAPTURE, TYPE_FORMAT, AT(format), AT(format_given), 0, 0,
     "FORMAT", "format of what is printed"},
    {"spreadsheet", 0, FOR_CSV, TYPE_FLAG, AT(spreadsheet), 0, 0, 0, NULL,
     "csv: put ' before texts that start with = + - or @"},
    {"view", 'v', FOR_SCREEN | FOR_CAPTURE, TYPE_TEXT, AT(view), 0, 0, 0, "VIEW",
     "first view (processes)"},
    {"theme", 0, FOR_SCREEN | FOR_CAPTURE, TYPE_TEXT, AT(theme), 0, 0, 0, "THEME",
     "theme, by name or as a file"},
    {"config", 0, FOR_SCREEN | FOR_CAPTURE | FOR_TRACE | FOR_RECORD, TYPE_TEXT, AT(config), 0, 0, 0,
     "FILE", "read FILE instead of the configuration in the home directory"},
    {"no-config", 0, FOR_SCREEN | FOR_CAPTURE | FOR_TRACE | FOR_RECORD, TYPE_FLAG, AT(no_config), 0,
     0, 0, NULL, "use the built-in defaults only"},
    {"ascii", 0, FOR_SCREEN | FOR_CAPTURE | FOR_FORMAT, TYPE_FLAG, AT(ascii), 0, 0, 0, NULL,
     "use ASCII characters only"},
    {"mono", 0, FOR_SCREEN, TYPE_FLAG, AT(mono), 0, 0, 0, NULL, "no colour (also NO_COLOR)"},
    {"size", 0, FOR_CAPTURE, TYPE_TEXT, AT(size), 0, 0, 0, "COLUMNSxROWS",
     "size of the captured screen (120x40)"},
    {"output", 'o', FOR_CAPTURE | FOR_RECORD | FOR_REPORT | FOR_SAMPLE, TYPE_TEXT, AT(output), 0, 0,
     0, "FILE", "write to FILE (standard output); in captures %t stands for the time"},
    {"output", 'o', FOR_PERF_MAP, TYPE_TEXT, AT(output), 0, 0, 0, "FILE",
     "write to FILE, - is standard output (perf-map: /tmp/perf-OSPID.map)"},
    {"every", 0, FOR_CAPTURE | FOR_CALLS | FOR_RECORD, TYPE_SECONDS, AT(every_s), 0, 0.25, 86400,
     "SECONDS", "repeat, from start to start, 0.25 to 86400"},
    {"when", 0, FOR_CAPTURE, TYPE_TEXT, AT(when), 0, 0, 0, "CONDITION",
     "capture when it becomes true, such as 'run_queue > 8'"},
    {"syntax", 0, FOR_PATTERN, TYPE_REQUEST, 0, AT(syntax_given), 0, 0, "SYNTAX", NULL},
    {"roots", 0, FOR_SPANS, TYPE_REQUEST, 0, 0, 0, 0, "N", NULL},
    {"every", 0, FOR_SPANS, TYPE_REQUEST, 0, 0, 0, 0, "K", NULL},
    {"time", 0, FOR_SPANS, TYPE_REQUEST, 0, AT(for_given), 0, 0, "TIME", NULL},
    {"events", 0, FOR_SPANS, TYPE_REQUEST, 0, 0, 0, 0, "N", NULL},
    {"calls", 0, FOR_SPANS, TYPE_REQUEST, 0, 0, 0, 0, "PATTERN", NULL},
    {"process", 0, FOR_SPANS, TYPE_REQUEST, 0, 0, 0, 0, "WHO", NULL},
    {"with", 0, FOR_SPANS, TYPE_TEXT, AT(with), 0, 0, 0, "NODE",
     "also what the requests do on this node, with the same cookie; not with --full"},
    {"full", 0, FOR_SPANS, TYPE_REQUEST, 0, 0, 0, 0, NULL, NULL},
    {"procs", 0, FOR_TRACE | FOR_RECORD | FOR_CALLS | FOR_SPANS, TYPE_REQUEST, 0, 0, 0, 0, "WHO",
     NULL},
    {"time", 0, FOR_TRACE, TYPE_REQUEST, 0, 0, 0, 0, "TIME", NULL},
    {"events", 0, FOR_TRACE | FOR_RECORD, TYPE_REQUEST, 0, 0, 0, 0, "N", NULL},
    {"rate", 0, FOR_TRACE | FOR_RECORD, TYPE_REQUEST, 0, 0, 0, 0, "N", NULL},
    {"on-rate", 0, FOR_TRACE | FOR_RECORD, TYPE_REQUEST, 0, AT(on_rate_given), 0, 0, "WHAT", NULL},
    {"term-size", 0, FOR_TRACE | FOR_RECORD, TYPE_REQUEST, 0, 0, 0, 0, "BYTES", NULL},
    {"bytes", 0, FOR_TRACE | FOR_RECORD, TYPE_REQUEST, 0, 0, 0, 0, "BYTES", NULL},
    {"window", 0, FOR_TRACE, TYPE_REQUEST, 0, 0, 0, 0, "N", NULL},
    {"window-bytes", 0, FOR_TRACE, TYPE_REQUEST, 0, 0, 0, 0, "BYTES", NULL},
    {"heap", 0, FOR_TRACE, TYPE_REQUEST, 0, 0, 0, 0, "BYTES", NULL},
    {"functions", 0, FOR_TRACE | FOR_RECORD | FOR_STACKS, TYPE_REQUEST, 0, 0, 0, 0, "N", NULL},
    {"processes", 0, FOR_TRACE, TYPE_REQUEST, 0, 0, 0, 0, "N", NULL},
    {"context", 0, FOR_SPANS, TYPE_REQUEST, 0, 0, 0, 0, NULL, NULL},
    {"samples", 0, FOR_SPANS, TYPE_FLAG, AT(samples), 0, 0, 0, NULL,
     "also sample the VM, of this host: what each span was doing on a CPU"},
    {"no-payloads", 0, FOR_SPANS, TYPE_REQUEST, 0, 0, 0, 0, NULL, NULL},
    {"slower", 0, FOR_SPANS, TYPE_SECONDS, AT(slower_s), 0, 0, 600, "TIME",
     "show only roots that took at least this long"},
    {"raw-waits", 0, FOR_SPANS, TYPE_FLAG, AT(raw_waits), 0, 0, 0, NULL,
     "show also waits that the span of another process explains"},
    {"top", 0, FOR_SPANS, TYPE_INTEGER, AT(top), AT(top_given), 1, LIMIT_SPAN_ROOTS, "N",
     "roots whose tree is printed, the slowest first (10)"},
    {"slower", 0, FOR_TRACE | FOR_RECORD, TYPE_REQUEST, 0, 0, 0, 0, "TIME", NULL},
    {"for", 0, FOR_STACKS, TYPE_SECONDS, AT(for_s), AT(for_given), 0.01, 600, "TIME",
     "stop after this time, 10ms to 10min (10s)"},
    {"events", 0, FOR_STACKS, TYPE_INTEGER, AT(stack_events), 0, 1, 10000, "N",
     "stop after so many calls, 1 to 10000 (2000)"},
    {"rate", 0, FOR_STACKS, TYPE_INTEGER, AT(stack_rate), 0, 1, 5000, "N",
     "calls per second, 1 to 5000 (5000); more are skipped and counted"},
    {"top", 0, FOR_STACKS, TYPE_INTEGER, AT(top), AT(top_given), 1, LIMIT_TIMELINE_EVENTS, "N",
     "rows of the timeline to print (all)"},
    {"dry-run", 0, FOR_TRACE | FOR_CALLS | FOR_SPANS | FOR_STACKS, TYPE_FLAG, AT(dry_run), 0, 0, 0,
     NULL, "show what would be traced, and set nothing"},
    {"force", 0, FOR_TRACE | FOR_CALLS | FOR_RECORD | FOR_SPANS | FOR_STACKS, TYPE_REQUEST, 0, 0, 0,
     0, NULL, "go on where the cost is refused; the caps stay"},
    {"for", 0, FOR_RECORD, TYPE_SECONDS, AT(for_s), AT(for_given), 0.01, 31536000, "TIME",
     "duration (until interrupted)"},
    {"label", 0, FOR_RECORD, TYPE_TEXT, AT(label), 0, 0, 0, "TEXT",
     "name of the recording in reports"},
    {"max-size", 0, FOR_RECORD, TYPE_BYTES, AT(max_size), 0, 1048576, 1099511627776.0, "BYTES",
     "largest size of the file (1GiB)"},
    {"thin", 0, FOR_RECORD, TYPE_FLAG, AT(thin), 0, 0, 0, NULL,
     "at the largest size drop old ticks instead of stopping"},
    {"calls", 0, FOR_RECORD, TYPE_TEXT, AT(calls), 0, 0, 0, "PATTERN",
     "count calls of these functions; more patterns may follow; all: every function"},
    {"window", 0, FOR_RECORD, TYPE_SECONDS, AT(window_s), 0, 0.01, LIMIT_CALLS_WINDOW_MS / 1000.0,
     "TIME", "length of a counting window, up to 45s (2s); --every: from start to start (10s)"},
    {"trace", 0, FOR_RECORD, TYPE_TEXT, AT(trace), 0, 0, 0, "PATTERN",
     "trace these calls and messages, once or with --every repeatedly; more patterns may follow"},
    {"trace-time", 0, FOR_RECORD, TYPE_REQUEST, 0, 0, 0, 0, "TIME", "duration of a trace (15s)"},
    {"values", 0, FOR_RECORD, TYPE_FLAG, AT(values), 0, 0, 0, NULL,
     "record arguments, results and messages of traces (only functions, times and callers)"},
    {"redact", 0, FOR_RECORD, TYPE_FLAG, AT(redact), 0, 0, 0, NULL,
     "record only types and sizes of arguments, results and messages"},
    {"for", 0, FOR_CALLS, TYPE_SECONDS, AT(window_s), 0, 0.01, LIMIT_CALLS_WINDOW_MS / 1000.0,
     "TIME", "length of a counting window, up to 45s (2s)"},
    {"windows", 0, FOR_CALLS, TYPE_INTEGER, AT(windows), AT(windows_given), 0, 1e9, "N",
     "windows; 0: until interrupted (1; with --every: 0)"},
    {"top", 0, FOR_CALLS | FOR_RECORD, TYPE_INTEGER, AT(top), AT(top_given), 1, LIMIT_CALLS_ROWS,
     "N",
     "functions to show, and to measure with --time or --memory (50; record without them: 1000)"},
    {"time", 0, FOR_CALLS | FOR_RECORD, TYPE_FLAG, AT(time), 0, 0, 0, NULL,
     "measure own time of the top functions, in another window"},
    {"memory", 0, FOR_CALLS | FOR_RECORD, TYPE_FLAG, AT(memory), 0, 0, 0, NULL,
     "measure heap words that they allocate (OTP 26 and later)"},
    {"fail-on", 0, FOR_DIFF, TYPE_FAIL_ON, AT(fail_on), 0, 0, 0, "LIMIT",
     "exit with 1 above it: memory_total_bytes+10%, run_queue.p95>16, module:NAME>30%, "
     "finding:fix; repeatable"},
    {"for", 0, FOR_SAMPLE | FOR_BLAME, TYPE_SECONDS, AT(for_s), AT(for_given), 0.1, 86400, "TIME",
     "duration (10s)"},
    {"for", 0, FOR_INTERVAL, TYPE_SECONDS, AT(interval_s), AT(interval_given), 0.25, 3600, "TIME",
     "period to measure, 0.25s to 1h (1s)"},
    {"sample", 0, FOR_RECORD, TYPE_SECONDS, AT(sample_s), 0, 1, 3600, "TIME",
     "sample where the CPU time goes, from outside or by the node: runs of this length, 1s to 1h"},
    {"sample-every", 0, FOR_RECORD, TYPE_SECONDS, AT(sample_every_s), 0, 1, 86400, "TIME",
     "from the start of such a run to the next (60s)"},
    {"spans", 0, FOR_RECORD, TYPE_TEXT, AT(spans), 0, 0, 0, "PATTERN",
     "follow calls of these functions across processes: 20 in up to 10 s, again and again"},
    {"spans-every", 0, FOR_RECORD, TYPE_SECONDS, AT(spans_every_s), 0, 1, 86400, "TIME",
     "from the start of such a capture to the next (60s)"},
    {"hz", 0, FOR_SAMPLE | FOR_BLAME | FOR_RECORD | FOR_SPANS, TYPE_INTEGER, AT(hz), 0, 1,
     SAMPLER_HZ_MAX, "N", "samples for each second of a thread's CPU time, 1 to 999 (99)"},
    {"pid", 0, FOR_SAMPLE | FOR_BLAME, TYPE_TEXT, AT(pid), 0, 0, 0, "ERLPID",
     "only while this process runs, such as '<0.123.0>'"},
    {"scheduler", 0, FOR_SAMPLE | FOR_BLAME | FOR_PSTACK, TYPE_INTEGER, AT(scheduler), 0, 1, 1024,
     "N", "only this scheduler"},
    {"thread", 0, FOR_SAMPLE | FOR_BLAME | FOR_PSTACK, TYPE_TEXT, AT(thread), 0, 0, 0, "TID|KIND",
     "only this thread, or these: scheduler, dirty_cpu, dirty_io, aux, poll, async, other"},
    {"remote", 0, FOR_SAMPLE, TYPE_FLAG, AT(remote), 0, 0, 0, NULL,
     "the node samples its busiest processes where they yield: for other hosts, and where the VM "
     "cannot be sampled from outside; shares are of reductions"},
    {"only-erlang", 0, FOR_SAMPLE | FOR_PSTACK, TYPE_FLAG, AT(only_erlang), 0, 0, 0, NULL,
     "only Erlang functions; native time belongs to the function that called it"},
    {"lines", 0, FOR_SAMPLE | FOR_BLAME, TYPE_FLAG, AT(lines), 0, 0, 0, NULL,
     "tell lines of a function apart"},
    {"callers", 0, FOR_SAMPLE, TYPE_FLAG, AT(callers), 0, 0, 0, NULL,
     "the tree goes from each function to its callers"},
    {"names", 0, FOR_SAMPLE | FOR_PSTACK, TYPE_FLAG, AT(names), 0, 0, 0, NULL,
     "connect to the node for the names of its processes; without it there are pids"},
    {"skid-summary", 0, FOR_SAMPLE, TYPE_FLAG, AT(skid), 0, 0, 0, NULL,
     "show in whose breakpoint prologue samples stood: they count for that function"},
    {"check", 0, FOR_SAMPLE, TYPE_FLAG, AT(check), 0, 0, 0, NULL,
     "show how well this VM can be sampled, instead of the samples"},
    {"top", 0, FOR_SAMPLE | FOR_BLAME, TYPE_INTEGER, AT(top), AT(top_given), 1, LIMIT_CALLS_ROWS,
     "N", "functions to show (20; blame: 50)"},
    {"top", 0, FOR_HEAPS, TYPE_INTEGER, AT(top), AT(top_given), 1, HEAPS_MOST, "N",
     "processes to show, 1 to 200 (20)"},
    {"running", 0, FOR_HEAPS, TYPE_FLAG, AT(running), 0, 0, 0, NULL,
     "only running and runnable processes"},
    {"gc", 0, FOR_HEAPS, TYPE_TEXT, AT(collect), 0, 0, 0, "PID|NAME",
     "collect the garbage of this process, after saying what that costs; asks first"},
    {"yes", 0, FOR_HEAPS, TYPE_FLAG, AT(yes), 0, 0, 0, NULL, "--gc: do not ask"},
    {"by", 0, FOR_HEAPS, TYPE_TEXT, AT(by), 0, 0, 0, "OWNER",
     "add these up by application, module, name, label, kin or kind"},
    {"for", 0, FOR_HEAPS, TYPE_SECONDS, AT(for_s), AT(for_given), 0.25, 3600, "TIME",
     "measure twice, this far apart, and show the growth, 0.25 to 3600"},
    {"by", 0, FOR_TABLE, TYPE_TEXT, AT(by), 0, 0, 0, "COLUMN",
     "add the rows up by this column, a text"},
    {"sort", 's', FOR_TABLE, TYPE_TEXT, AT(table_sort), 0, 0, 0, "COLUMN",
     "largest first by this column, a number"},
    {"top", 0, FOR_TABLE, TYPE_INTEGER, AT(top), AT(top_given), 1, LIMIT_TABLE_ROWS, "N",
     "rows to print (all)"},
    {"stacks", 0, FOR_BLAME, TYPE_FLAG, AT(stacks), 0, 0, 0, NULL,
     "whole stacks, folded, instead of callers"},
    {"all", 0, FOR_PSTACK, TYPE_FLAG, AT(all), 0, 0, 0, NULL,
     "idle threads too, and why they are idle"},
    {"wait", 0, FOR_PSTACK, TYPE_FLAG, AT(wait), 0, 0, 0, NULL,
     "wait until each scheduler has run, up to 10 s"},
    {"help", 'h', FOR_ALL, TYPE_FLAG, AT(help), 0, 0, 0, NULL, "this text"},
    {"version", 'V', FOR_ALL, TYPE_FLAG, AT(version), 0, 0, 0, NULL, "version"},
};

static_assert(ARRAY_LEN(cli_option_table) <= CLI_OPTIONS_MAX, "too many options");
const size_t cli_option_table_len = ARRAY_LEN(cli_option_table);

/* ---- formats */

/* clang-format off */
const char *const cli_format_names[FORMATS] = {
    [FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", [FORMAT_CSV] = "csv",
    [FORMAT_ANSI] = "ansi", [FORMAT_HTML] = "html", [FORMAT_SVG] = "svg",
    [FORMAT_FOLDED] = "folded", [FORMAT_MARKDOWN] = "markdown",
    [FORMAT_OPENMETRICS] = "openmetrics", [FORMAT_PERF_SCRIPT] = "perf-script",
    [FORMAT_SPEEDSCOPE] = "speedscope", [FORMAT_TRACE_EVENT] = "trace-event",
    [FORMAT_OTLP] = "otlp",
};
/* clang-format on */

const char *cli_formats(char *out, size_t size, unsigned formats)
{
    size_t len = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < FORMATS && len < size; i++)
        if (formats >> i & 1)
            len += (size_t)snprintf(out + len, size - len, "%s%s", len > 0 ? ", " : "",
                                    cli_format_names[i]);
    return out;
}

/* ---- commands */

#define FOR_BATCH (FOR_ALL | FOR_CONNECT | FOR_FORMAT)
#define F(format) (1u << FORMAT_##format)
#define ROWS (F(TEXT) | F(JSON) | F(CSV))
#define TEXT_JSON (F(TEXT) | F(JSON))
#define PAPER (F(TEXT) | F(MARKDOWN) | F(HTML) | F(JSON))
#define TREES (TEXT_JSON | F(FOLDED) | F(SPEEDSCOPE))

bool cli_takes(const struct cli_command *command, const struct cli_option *option)
{
    unsigned groups = command->options | (command->formats & F(CSV) ? FOR_CSV : 0);
    return (option->groups & groups) != 0;
}

/* clang-format off */
const struct cli_command cli_commands[] = {
    {"", "[NODE]", "live screen; without NODE: the only node of this host, or a list to choose "
                   "from",
     FOR_ALL | FOR_CONNECT | FOR_SCREEN, 0, 0, 1, COMMANDS_SCREEN, command_screen},
    {"top", "NODE", "top processes and the numbers of the node, tick by tick",
     FOR_BATCH | FOR_TICKS | FOR_TOP, ROWS, 1, 1, COMMANDS_NODE, command_top},
    {"info", "NODE", "releases, limits, counts and memory of the node",
     FOR_BATCH, ROWS, 1, 1, COMMANDS_NODE, command_answer},
    {"process", "NODE PID|NAME", "one process in detail, without its dictionary and messages",
     FOR_BATCH, ROWS, 2, 2, COMMANDS_NODE, command_process},
    {"memory", "NODE", "memory by type, allocators and resident size",
     FOR_BATCH | FOR_TICKS, ROWS, 1, 1, COMMANDS_NODE, command_answer},
    {"schedulers", "NODE", "utilisation and run queue of each scheduler",
     FOR_BATCH | FOR_TICKS, ROWS, 1, 1, COMMANDS_NODE, command_answer},
    {"apps", "NODE", "processes, memory, reductions and queue lengths by application",
     FOR_BATCH | FOR_TICKS | FOR_TABLE, ROWS, 1, 1, COMMANDS_NODE, command_table},
    {"tables", "NODE", "memory, objects, growth and owners of ETS tables",
     FOR_BATCH | FOR_TICKS | FOR_TABLE, ROWS, 1, 1, COMMANDS_NODE, command_table},
    {"heapsample", "NODE", "heaps, stack, binaries and message queue of the largest processes",
     FOR_BATCH | FOR_HEAPS, ROWS, 1, 1, COMMANDS_NODE, command_heapsample},
    {"cpus", "NODE", "CPU time of each scheduler thread, and its waits for a CPU",
     FOR_BATCH | FOR_INTERVAL, ROWS, 1, 1, COMMANDS_NODE, command_answer},
    {"msacc", "NODE", "microstate accounting: what each thread of the VM does",
     FOR_BATCH | FOR_INTERVAL, ROWS, 1, 1, COMMANDS_NODE, command_msacc},
    {"armed", "NODE", "active tracing of all tools: sessions, breakpoints, flags, monitors",
     FOR_BATCH, ROWS, 1, 1, COMMANDS_NODE, command_answer},
    {"nodes", "", "VMs on this host", FOR_ALL | FOR_CONNECT | FOR_FORMAT, ROWS, 0, 0, COMMANDS_NODE,
     command_nodes},
    {"capture", "NODE", "a view as text, ANSI, HTML or SVG, without a terminal",
     FOR_ALL | FOR_CONNECT | FOR_TICKS | FOR_TOP | FOR_SCREEN | FOR_CAPTURE,
     F(TEXT) | F(ANSI) | F(HTML) | F(SVG), 1, 1, COMMANDS_NODE, command_capture},
    {"explain", "PATTERN", "a trace pattern as a sentence, as a tree and as a match "
                           "specification",
     FOR_ALL | FOR_PATTERN, 0, 1, 1, COMMANDS_TRACING, command_explain},
    {"trace", "NODE PATTERN…", "calls and messages that match patterns, within caps",
     FOR_BATCH | FOR_PATTERN | FOR_TRACE, TEXT_JSON, 1, 1 + LIMIT_TRACE_PATTERNS, COMMANDS_TRACING,
     command_trace},
    {"record", "NODE | start NODE | status | mark TEXT | stop",
     "record a node in a file, tick by tick; start: in the background",
     FOR_BATCH | FOR_PATTERN | FOR_RECORD, TEXT_JSON, 1, 2 + LIMIT_TRACE_PATTERNS,
     COMMANDS_RECORDINGS,
     command_record},
    {"calls", "NODE [PATTERN…]", "call counts of functions, and their time and memory, window "
                                 "by window", FOR_BATCH | FOR_PATTERN | FOR_CALLS, ROWS | F(FOLDED),
     1, 1 + LIMIT_TRACE_PATTERNS, COMMANDS_TRACING, command_calls},
    {"spans", "NODE [PATTERN…]", "spans of processes for calls of a function, or for requests of a "
                                 "process: who waits for which process, how long, and why",
     FOR_BATCH | FOR_PATTERN | FOR_SPANS, TREES | F(TRACE_EVENT) | F(OTLP),
     1, 1 + LIMIT_TRACE_PATTERNS, COMMANDS_TRACING, command_spans},
    {"stacks", "NODE PROCESS|PATTERN [PATTERN…]",
     "what one process calls in time, and when it waits or does not run; folded stacks",
     FOR_BATCH | FOR_PATTERN | FOR_STACKS, TREES, 2, 2 + LIMIT_TRACE_PATTERNS, COMMANDS_TRACING,
     command_stacks},
    {"report", "FILE…", "numbers, load, functions, findings and actions of recordings; several "
                        "are compared",
     FOR_ALL | FOR_FORMAT | FOR_REPORT, PAPER, 1, 14, COMMANDS_RECORDINGS,
                        command_report},
    {"diff", "A B", "significant changes from one recording to another",
     FOR_ALL | FOR_FORMAT | FOR_REPORT | FOR_DIFF, PAPER, 2, 2, COMMANDS_RECORDINGS, command_diff},
    {"export", "FILE [TABLE]", "a recording for other tools, as csv (system, processes, "
                               "owners, calls, samples, span_events, events, marks) or openmetrics",
                               FOR_ALL | FOR_FORMAT | FOR_REPORT,
                               F(CSV) | F(OPENMETRICS), 1, 2, COMMANDS_RECORDINGS, command_export},
    {"replay", "FILE", "the screen over a recording: play, pause, step, seek",
     FOR_ALL | FOR_SCREEN, 0, 1, 1, COMMANDS_RECORDINGS, command_replay},
    {"perf-map", "OSPID|NODE", "write names and addresses of compiled functions for perf(1), from "
                               "a VM of this host", FOR_ALL | FOR_LOCAL | FOR_PERF_MAP, 0, 1, 1,
                               COMMANDS_HOST, command_perf_map},
    {"sample", "NODE|OSPID", "where the CPU time of a VM of this host goes: functions, call tree, "
                             "processes, threads, from outside",
     FOR_BATCH | FOR_SAMPLE, TREES | F(HTML) | F(PERF_SCRIPT), 1, 1, COMMANDS_HOST, command_sample},
    {"pstack", "NODE|OSPID", "the stack of each scheduler of a VM of this host, now",
     FOR_BATCH | FOR_PSTACK, TEXT_JSON, 1, 1, COMMANDS_HOST, command_pstack},
    {"blame", "NODE|OSPID FUNCTION", "which Erlang functions are behind a native function, "
                                     "library, BIF, or: copies, gc, nifs",
     FOR_ALL | FOR_FORMAT | FOR_LOCAL | FOR_BLAME, TEXT_JSON | F(FOLDED), 2, 2, COMMANDS_HOST,
     command_blame},
    {"where", "NODE|OSPID FUNCTION", "source file and line of a function, from a VM of this host",
     FOR_ALL | FOR_LOCAL, 0, 2, 2, COMMANDS_HOST, command_where},
    {"sampler", "", "the process that samples, for sample, pstack and blame", FOR_ALL, 0, 1, 9,
     COMMANDS_HIDDEN, command_sampler},
    {"generate", "WHAT", "tables of the program for its manual", FOR_ALL, 0, 1, 1, COMMANDS_HIDDEN,
     command_generate},
};
/* clang-format on */
static_assert(ARRAY_LEN(cli_commands) <= CLI_COMMANDS_MAX, "too many commands");
const size_t cli_commands_len = ARRAY_LEN(cli_commands);

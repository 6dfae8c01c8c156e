/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Golden screens: text and styles of every view in several sizes. BEAMTOP_GOLDEN=update writes
 * them anew; look at what changed before
 * committing it. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/ui/config.h"
#include "beamtop/ui/screen.h"
#include "golden.h"
#include "world.h"
#include "world_spans.h"
#include "world_trace.h"
#include "world_views.h"

struct step {
    enum action action;
    const char *arg;
};

struct scene {
    const char *name;
    enum world world;
    enum trace_world trace;
    enum calls_world calls;
    enum found_world found;
    enum sampled_world sampled;
    enum spanned_world spanned;
    const char *view;
    int rows, columns;
    bool ascii;
    const char *line, *hint, *error; /* the trace prompt, open; the error is at the line's end */
    struct step steps[8];            /* after the first answers; STEP_TICK takes the next ones */
    const char *filter;
    long filter_error_at;
    const char *lost; /* why the connection is lost; NULL: it was reset */
    double next_s;    /* until the next tick */
};

/* clang-format off */
#define STEP_TICK ((enum action)1000)
#define STEP_MAILBOX ((enum action)1001)
#define STEP_STATE ((enum action)1002)
#define STEP_MAILBOX_ASK ((enum action)1003)
#define STEP_MESSAGE ((enum action)1004)
#define STEP_PAUSE ((enum action)1005)
#define STEP_CHOOSE ((enum action)1006)
#define STEP_RECORDING ((enum action)1007)
#define STEP_STATE_ASK ((enum action)1008)
#define STEP_COLLECT ((enum action)1011)
#define STEP_CHOOSE_NODE ((enum action)1009)
#define STEP_BETWEEN ((enum action)1010)
#define STEP_MAILBOX_REFUSED ((enum action)1012)
#define STEP_PROCESS_IS_LARGE ((enum action)1013)
#define STEP_CONFIRM ((enum action)1014) /* what was asked before is agreed to */
/* clang-format on */

#define ALL_SIZES(name, ...)                                                                       \
    {name "-60x16", __VA_ARGS__, .rows = 16, .columns = 60},                                       \
        {name "-80x24", __VA_ARGS__, .rows = 24, .columns = 80},                                   \
        {name "-120x40", __VA_ARGS__, .rows = 40, .columns = 120},                                 \
        {name "-200x50", __VA_ARGS__, .rows = 50, .columns = 200},                                 \
    {                                                                                              \
        name "-80x24-ascii", __VA_ARGS__, .rows = 24, .columns = 80, .ascii = true                 \
    }

#define SAMPLE_SIZES(name, ...)                                                                    \
    {name "-80x24", .view = "samples", __VA_ARGS__, .rows = 24, .columns = 80},                    \
        {name "-120x40", .view = "samples", __VA_ARGS__, .rows = 40, .columns = 120},              \
        {name "-200x60", .view = "samples", __VA_ARGS__, .rows = 60, .columns = 200},              \
    {                                                                                              \
        name "-80x24-ascii", .view = "samples", __VA_ARGS__, .rows = 24, .columns = 80,            \
                             .ascii = true                                                         \
    }

#define SPAN_SIZES(name, ...)                                                                      \
    {name "-80x24", .view = "spans", __VA_ARGS__, .rows = 24, .columns = 80},                      \
        {name "-60x16", .view = "spans", __VA_ARGS__, .rows = 16, .columns = 60},                  \
        {name "-160x40", .view = "spans", __VA_ARGS__, .rows = 40, .columns = 160},                \
    {                                                                                              \
        name "-80x24-ascii", .view = "spans", __VA_ARGS__, .rows = 24, .columns = 80,              \
                             .ascii = true                                                         \
    }

#define TRACE_SIZES(name, ...)                                                                     \
    {name "-120x30", .view = "trace", __VA_ARGS__, .rows = 30, .columns = 120},                    \
        {name "-80x24", .view = "trace", __VA_ARGS__, .rows = 24, .columns = 80},                  \
    {                                                                                              \
        name "-40x24", .view = "trace", __VA_ARGS__, .rows = 24, .columns = 40                     \
    }

/* clang-format off */
static const struct scene scenes[] = {
    ALL_SIZES("top", .view = "top"),
    ALL_SIZES("process", .view = "process",
              .steps = {{ACTION_VIEW, "process <0.81.0>"},
                        {STEP_TICK, ""},
                        {STEP_TICK, ""},
                        {STEP_TICK, ""},
                        {STEP_TICK, ""}}),
    ALL_SIZES("memory", .view = "memory"),
    ALL_SIZES("schedulers", .view = "schedulers"),
    ALL_SIZES("cpus", .view = "cpus", .steps = {{STEP_TICK, ""}}),
    {.name = "cpus-price", .view = "cpus", .rows = 20, .columns = 110,
     .steps = {{STEP_TICK, ""}, {ACTION_MSACC, ""}}},
    {.name = "cpus-microstates", .view = "cpus", .rows = 24, .columns = 110,
     .steps = {{ACTION_MSACC, ""}, {ACTION_MSACC, ""}, {STEP_TICK, ""}, {STEP_TICK, ""}}},
    ALL_SIZES("apps", .view = "apps"),
    ALL_SIZES("ports", .view = "ports", .steps = {{STEP_TICK, ""}}),
    {.name = "ports-by-state", .view = "ports", .rows = 24, .columns = 120,
     .steps = {{ACTION_BY, "state"}, {STEP_TICK, ""}, {ACTION_ENTER, ""}}},
    {.name = "mesh-80x24", .view = "mesh", .rows = 24, .columns = 80},
    {.name = "mesh-120x40", .view = "mesh", .rows = 40, .columns = 120},
    {.name = "mesh-matrix-80x24", .view = "mesh", .rows = 24, .columns = 80,
     .steps = {{ACTION_BY, "matrix"}, {ACTION_DOWN, ""}, {ACTION_RIGHT, ""}, {ACTION_RIGHT, ""}}},
    {.name = "mesh-matrix-120x40", .view = "mesh", .rows = 40, .columns = 120,
     .steps = {{ACTION_BY, "matrix"}}},
    ALL_SIZES("holders", .view = "holders", .steps = {{STEP_TICK, ""}}),
    {.name = "holders-all", .view = "holders", .rows = 24, .columns = 120,
     .steps = {{ACTION_BY, "all"}, {STEP_TICK, ""}, {STEP_TICK, ""}}},
    ALL_SIZES("system", .view = "system", .steps = {{STEP_TICK, ""}}),
    ALL_SIZES("tables", .view = "tables", .steps = {{STEP_TICK, ""}}),
    {.name = "tables-by-owner", .view = "tables", .rows = 24, .columns = 120,
     .steps = {{ACTION_BY, "owner_name"}, {STEP_TICK, ""}, {ACTION_ENTER, ""}}},
    ALL_SIZES("table", .view = "tables",
              .steps = {{ACTION_DOWN, ""}, {ACTION_ENTER, ""},
                        {STEP_TICK, ""}, {STEP_TICK, ""}, {STEP_TICK, ""}}),
    {.name = "table-keys", .view = "tables", .rows = 40, .columns = 100,
     .steps = {{ACTION_DOWN, ""}, {ACTION_ENTER, ""}, {STEP_TICK, ""},
               {ACTION_KEYS, ""}, {STEP_CONFIRM, "keys"}, {STEP_TICK, ""}}},
    {.name = "tables-mnesia", .view = "tables", .world = WORLD_SMALL, .rows = 24, .columns = 120,
     .steps = {{STEP_TICK, ""}}},
    ALL_SIZES("terms", .view = "terms", .steps = {{STEP_TICK, ""}}),
    {.name = "terms-by-kind", .view = "terms", .rows = 24, .columns = 120,
     .steps = {{ACTION_BY, "kind"}, {STEP_TICK, ""}, {ACTION_ENTER, ""}}},
    {.name = "terms-modules", .view = "terms", .rows = 24, .columns = 120,
     .steps = {{ACTION_BY, "modules"}}},
    ALL_SIZES("fleet", .world = WORLD_NODES, .view = "fleet"),
    {.name = "fleet-by-otp", .world = WORLD_NODES, .view = "fleet", .rows = 24, .columns = 120,
     .steps = {{ACTION_BY, "otp"}}},
    {.name = "fleet-of-one", .view = "fleet", .rows = 24, .columns = 80},
    ALL_SIZES("tree", .view = "tree", .steps = {{ACTION_DOWN, ""}}),
    ALL_SIZES("armed", .view = "armed"),
    ALL_SIZES("log", .view = "log"),
    ALL_SIZES("waits", .view = "waits", .steps = {{STEP_TICK, ""}, {ACTION_DOWN, ""}}),
    {.name = "waits-folded", .view = "waits", .rows = 24, .columns = 100,
     .steps = {{ACTION_LEFT, ""}}},
    ALL_SIZES("help", .view = "help"),
    ALL_SIZES("calls", .view = "calls", .calls = COUNTED_CALLS),
    ALL_SIZES("owners", .view = "owners", .steps = {{ACTION_BY, "module"}, {STEP_TICK, ""}}),
    ALL_SIZES("findings", .view = "findings", .found = FOUND_SOME, .steps = {{ACTION_FOLD, ""}}),
    SPAN_SIZES("spans", .spanned = SPANNED_MANY),
    SPAN_SIZES("spans-tree", .spanned = SPANNED_CHAIN, .steps = {{ACTION_ENTER, ""}}),
    SPAN_SIZES("spans-tree-light", .spanned = SPANNED_LIGHT, .steps = {{ACTION_BY, "tree"}}),
    SPAN_SIZES("spans-path", .spanned = SPANNED_CHAIN, .steps = {{ACTION_BY, "path"}}),
    SPAN_SIZES("spans-parts", .spanned = SPANNED_MANY, .steps = {{ACTION_BY, "parts"}}),
    SPAN_SIZES("spans-hostile", .spanned = SPANNED_HOSTILE, .steps = {{ACTION_BY, "tree"}}),
    {.name = "spans-hostile-roots", .view = "spans", .rows = 16, .columns = 160,
     .spanned = SPANNED_HOSTILE},
    {.name = "spans-hostile-parts", .view = "spans", .rows = 16, .columns = 160,
     .spanned = SPANNED_HOSTILE, .steps = {{ACTION_BY, "parts"}}},
    {.name = "spans-crash", .view = "spans", .rows = 20, .columns = 120,
     .spanned = SPANNED_CRASH, .steps = {{ACTION_BY, "tree"}}},
    {.name = "spans-flame", .view = "spans", .rows = 20, .columns = 120, .spanned = SPANNED_CHAIN,
     .steps = {{ACTION_VIEW, "spans flame"}}},
    {.name = "spans-filter", .view = "spans", .rows = 16, .columns = 100,
     .spanned = SPANNED_MANY, .filter = "timeout|exit", .filter_error_at = -1},
    {.name = "spans-not", .view = "spans", .rows = 16, .columns = 80},
    {.name = "spans-asks", .view = "spans", .rows = 16, .columns = 80, .spanned = SPANNED_ASKS},
    {.name = "spans-waits", .view = "spans", .rows = 16, .columns = 80, .spanned = SPANNED_WAITS},
    {.name = "spans-none", .view = "spans", .rows = 16, .columns = 80, .spanned = SPANNED_NONE,
     .steps = {{ACTION_BY, "parts"}}},
    {.name = "spans-failed", .view = "spans", .rows = 16, .columns = 60,
     .spanned = SPANNED_FAILED},
    SAMPLE_SIZES("samples", .sampled = SAMPLED_RUNS),
    SAMPLE_SIZES("samples-tree", .sampled = SAMPLED_ENDED,
                 .steps = {{ACTION_BY, "tree"}, {ACTION_DOWN, ""}, {ACTION_DOWN, ""}}),
    SAMPLE_SIZES("samples-callers", .sampled = SAMPLED_ENDED, .steps = {{ACTION_BY, "callers"}}),
    SAMPLE_SIZES("samples-flame", .sampled = SAMPLED_ENDED,
                 .steps = {{ACTION_BY, "flame"}, {ACTION_DOWN, ""}, {ACTION_DOWN, ""},
                           {ACTION_DOWN, ""}, {ACTION_RIGHT, ""}}),
    {.name = "samples-flame-zoom", .view = "samples", .rows = 24, .columns = 100,
     .sampled = SAMPLED_ENDED,
     .steps = {{ACTION_VIEW, "samples flame"}, {ACTION_DOWN, ""}, {ACTION_DOWN, ""},
               {ACTION_DOWN, ""}, {ACTION_DOWN, ""}, {ACTION_ENTER, ""}, {ACTION_DOWN, ""}}},
    {.name = "samples-flame-filter", .view = "samples", .rows = 24, .columns = 100,
     .sampled = SAMPLED_RUNS, .filter = "memmove|price", .filter_error_at = -1,
     .steps = {{ACTION_BY, "flame"}, {ACTION_SORT_REVERSE, ""}, {ACTION_NEXT_MATCH, ""}}},
    {.name = "samples-flame-starts", .view = "samples", .rows = 16, .columns = 80,
     .sampled = SAMPLED_STARTS, .steps = {{ACTION_BY, "flame"}}},
    {.name = "samples-not", .view = "samples", .rows = 16, .columns = 80},
    {.name = "samples-starts", .view = "samples", .rows = 16, .columns = 80,
     .sampled = SAMPLED_STARTS},
    {.name = "samples-failed", .view = "samples", .rows = 16, .columns = 60,
     .sampled = SAMPLED_FAILED},
    {.name = "samples-processes", .view = "samples", .rows = 20, .columns = 100,
     .sampled = SAMPLED_ENDED, .steps = {{ACTION_BY, "process"}}},
    {.name = "samples-threads", .view = "samples", .rows = 20, .columns = 100,
     .sampled = SAMPLED_ENDED, .steps = {{ACTION_BY, "thread"}}},
    {.name = "samples-classes", .view = "samples", .rows = 24, .columns = 100,
     .sampled = SAMPLED_ENDED, .steps = {{ACTION_BY, "class"}}},
    {.name = "samples-kinds", .view = "samples", .rows = 20, .columns = 100,
     .sampled = SAMPLED_ENDED, .steps = {{ACTION_BY, "kind"}}},
    {.name = "samples-codes", .view = "samples", .rows = 20, .columns = 100,
     .sampled = SAMPLED_ENDED, .steps = {{ACTION_BY, "code"}}},
    {.name = "samples-longest", .view = "samples", .rows = 20, .columns = 120,
     .sampled = SAMPLED_ENDED, .steps = {{ACTION_BY, "longest"}}},
    {.name = "samples-folded", .view = "samples", .rows = 24, .columns = 100,
     .sampled = SAMPLED_ENDED,
     .steps = {{ACTION_BY, "tree"}, {ACTION_DOWN, ""}, {ACTION_DOWN, ""}, {ACTION_LEFT, ""}}},
    {.name = "samples-yields", .view = "samples", .rows = 20, .columns = 80,
     .sampled = SAMPLED_YIELDS},
    {.name = "samples-yields-threads", .view = "samples", .rows = 16, .columns = 80,
     .sampled = SAMPLED_YIELDS, .steps = {{ACTION_BY, "thread"}}},
    {.name = "samples-filter", .view = "samples", .rows = 20, .columns = 100,
     .sampled = SAMPLED_ENDED, .filter = "shop", .filter_error_at = -1,
     .steps = {{ACTION_SORT, "total_share"}}},
    {.name = "calls-not", .view = "calls", .rows = 16, .columns = 100},
    {.name = "calls-first", .view = "calls", .rows = 16, .columns = 100, .calls = COUNTED_FIRST},
    {.name = "calls-time", .view = "calls", .rows = 24, .columns = 140, .calls = COUNTED_TIME,
     .steps = {{ACTION_SORT, "own_us"}}},
    {.name = "calls-modules", .view = "calls", .rows = 24, .columns = 120, .calls = COUNTED_CALLS,
     .steps = {{ACTION_BY, ""}}},
    {.name = "calls-applications", .view = "calls", .rows = 24, .columns = 120,
     .calls = COUNTED_CALLS, .steps = {{ACTION_BY, "application"}, {ACTION_SORT, "functions"}}},
    {.name = "calls-ended", .view = "calls", .rows = 24, .columns = 120, .calls = COUNTED_ENDED,
     .filter = "get", .filter_error_at = -1},
    {.name = "calls-failed", .view = "calls", .rows = 16, .columns = 100, .calls = COUNTED_FAILED},
    {.name = "calls-refused", .view = "calls", .rows = 16, .columns = 80, .calls = COUNTED_REFUSED},
    {.name = "calls-costly", .view = "calls", .rows = 16, .columns = 60, .calls = COUNTED_COSTLY},
    ALL_SIZES("heaps", .view = "heaps", .steps = {{STEP_TICK, ""}}),
    {.name = "heaps-by", .view = "heaps", .rows = 24, .columns = 120,
     .steps = {{STEP_TICK, ""}, {ACTION_BY, ""}}},
    {.name = "owners-applications", .view = "owners", .rows = 24, .columns = 120},
    {.name = "owners-kinds", .view = "owners", .rows = 24, .columns = 120,
     .steps = {{ACTION_BY, "kind"}, {STEP_TICK, ""}}},
    {.name = "owners-kin", .view = "owners", .rows = 24, .columns = 120,
     .steps = {{ACTION_BY, "kin"}, {STEP_TICK, ""}, {ACTION_SORT, "processes"},
               {ACTION_ENTER, ""}}},
    {.name = "owners-supervisors", .view = "owners", .rows = 24, .columns = 120,
     .steps = {{ACTION_BY, "supervisor"}, {STEP_TICK, ""}}},
    {.name = "findings-not-judged", .view = "findings", .rows = 16, .columns = 100},
    {.name = "findings-none", .view = "findings", .rows = 16, .columns = 100,
     .found = FOUND_NOTHING},
    {.name = "findings-second", .view = "findings", .rows = 30, .columns = 120, .found = FOUND_SOME,
     .steps = {{ACTION_FOLD, ""}, {ACTION_DOWN, ""}, {ACTION_FOLD, ""}}},
    {.name = "findings-told", .view = "top", .rows = 16, .columns = 120, .found = FOUND_SOME},
    TRACE_SIZES("trace-none", .trace = TRACED_NOT),
    TRACE_SIZES("trace-preparing", .trace = TRACED_PREPARING),
    TRACE_SIZES("trace-asking", .trace = TRACED_ASKING),
    TRACE_SIZES("trace-running", .trace = TRACED_RUNNING),
    TRACE_SIZES("trace-tripped", .trace = TRACED_TRIPPED),
    TRACE_SIZES("trace-left", .trace = TRACED_LEFT),
    TRACE_SIZES("trace-failed", .trace = TRACED_FAILED),
    TRACE_SIZES("trace-opened", .trace = TRACED_TRIPPED,
                .steps = {{ACTION_FIRST, ""}, {ACTION_DOWN, ""}, {ACTION_DOWN, ""}, {ACTION_FOLD,
                ""}}),
    TRACE_SIZES("trace-ascii", .trace = TRACED_RUNNING, .ascii = true),
    TRACE_SIZES("trace-opened-ascii", .trace = TRACED_TRIPPED, .ascii = true,
                .steps = {{ACTION_FIRST, ""}, {ACTION_ENTER, ""}, {ACTION_FOLD_SHALLOWER, ""}}),
    {.name = "trace-latency", .view = "trace", .trace = TRACED_TRIPPED, .rows = 30, .columns = 120,
     .steps = {{ACTION_SORT, "latency"}, {ACTION_FIRST, ""}}},
    {.name = "trace-filter", .view = "trace", .trace = TRACED_TRIPPED, .rows = 30, .columns = 120,
     .filter = "out_of|audit", .filter_error_at = -1},
    {.name = "trace-elixir", .view = "trace", .trace = TRACED_ELIXIR, .rows = 24, .columns = 120},
    {.name = "trace-silent", .view = "trace", .trace = TRACED_SILENT, .rows = 24, .columns = 100},
    {.name = "trace-counted", .view = "trace", .trace = TRACED_COUNTED, .rows = 24, .columns = 100},
    TRACE_SIZES("trace-several", .trace = TRACED_SEVERAL),
    {.name = "trace-several-opened", .view = "trace", .trace = TRACED_SEVERAL, .rows = 30,
     .columns = 120, .steps = {{ACTION_FIRST, ""}, {ACTION_DOWN, ""}, {ACTION_FOLD, ""}}},
    {.name = "trace-several-filter", .view = "trace", .trace = TRACED_SEVERAL, .rows = 30,
     .columns = 120, .filter = "shop_b@", .filter_error_at = -1},
    {.name = "trace-60x50", .view = "trace", .trace = TRACED_TRIPPED, .rows = 50, .columns = 60},
    {.name = "trace-low", .view = "trace", .trace = TRACED_RUNNING, .rows = 14, .columns = 120},
    {.name = "top-120x30", .view = "top", .rows = 30, .columns = 120},
    {.name = "top-200x60", .view = "top", .rows = 60, .columns = 200},
    {.name = "top-filter",
     .view = "top",
     .rows = 24,
     .columns = 120,
     .filter = "rabbit",
     .filter_error_at = -1},
    {.name = "top-filter-wrong",
     .view = "top",
     .rows = 24,
     .columns = 120,
     .filter = "^rab[",
     .filter_error_at = 4},
    {.name = "top-places",
     .view = "top",
     .rows = 24,
     .columns = 100,
     .steps = {{ACTION_DOWN, ""}, {ACTION_DOWN, ""}, {ACTION_MARK, ""}, {STEP_TICK, ""}}},
    {.name = "top-columns",
     .view = "top",
     .rows = 24,
     .columns = 100,
     .steps = {{ACTION_COLUMNS, "pid,name,age,heap,links,trap_exit,group_leader,binary"},
               {STEP_TICK, ""}}},
    {.name = "top-scrolled",
     .view = "top",
     .rows = 24,
     .columns = 80,
     .steps = {{ACTION_COLUMNS, "pid,name,reds,mem,heap,links,gc,binary,age"},
               {STEP_TICK, ""},
               {ACTION_RIGHT, ""},
               {ACTION_RIGHT, ""}}},
    {.name = "top-sort-memory",
     .view = "top",
     .rows = 24,
     .columns = 100,
     .steps = {{ACTION_SORT, "memory"}, {STEP_TICK, ""}}},
    {.name = "top-between-80x24",
     .view = "top",
     .rows = 24,
     .columns = 80,
     .steps = {{STEP_BETWEEN, ""}},
     .next_s = 11.2},
    {.name = "top-between-160x50",
     .view = "top",
     .rows = 50,
     .columns = 160,
     .steps = {{ACTION_SORT, "message_queue_len"}, {STEP_TICK, ""}, {STEP_BETWEEN, ""}},
     .next_s = 11.2},
    {.name = "top-follow",
     .view = "top",
     .rows = 24,
     .columns = 120,
     .steps = {{ACTION_DOWN, ""},
               {ACTION_DOWN, ""},
               {ACTION_DOWN, ""},
               {ACTION_FOLLOW, ""},
               {STEP_TICK, ""}}},
    {.name = "top-stuck",
     .view = "top",
     .rows = 24,
     .columns = 120,
     .steps = {{STEP_TICK, ""}, {STEP_TICK, ""}, {STEP_TICK, ""}}},
    {.name = "top-paused",
     .view = "top",
     .rows = 24,
     .columns = 80,
     .steps = {{STEP_PAUSE, ""}},
     .next_s = 11.2},
    {.name = "top-message",
     .view = "top",
     .rows = 24,
     .columns = 80,
     .steps = {{STEP_MESSAGE, "no such column \"memry\"\x1b[31m"}}},
    {.name = "top-message-long",
     .view = "top",
     .rows = 16,
     .columns = 60,
     .steps = {{STEP_MESSAGE,
     "mq@db1 at port 25672 rejected the cookie: give the node's own "
                              "with --cookie-file FILE or BEAMTOP_COOKIE"}}},
    {.name = "trace-prompt",
     .view = "top",
     .rows = 24,
     .columns = 80,
     .line = "shop:add(_, X) when X > 3 -> return",
     .hint = "calls of shop:add/2 with (_, X) when X > 3, showing the result\n"
             "1 function: shop:add/2; 3,412 processes (all)   C-o: match specification"},
    {.name = "trace-prompt-spec",
     .view = "top",
     .rows = 24,
     .columns = 80,
     .line = "shop:add(_, X) when X > 3 -> return",
     .hint = "calls of shop:add/2 with (_, X) when X > 3, showing the result\n"
             "[{['_','$1'], [{'>',{get_tcw},0},{'>','$1',3}], [{set_tcw,{'-',{get_tcw},1}}, "
             "{message,{{0,'$1'}}}, {return_trace}]}]\n"
             "1 function: shop:add/2; 3,412 processes (all)"},
    {.name = "trace-prompt-wrong",
     .view = "top",
     .rows = 16,
     .columns = 60,
     .line = "shop:add(_, X) -> retrun",
     .hint = "\nthere is no action retrun; did you mean return?",
     .error = ""},
    {.name = "trace-prompt-nothing",
     .view = "top",
     .rows = 16,
     .columns = 60,
     .line = "shop:ad/2",
     .hint = "calls of shop:ad/2\n…",
     .error = "nothing to trace: shop:ad/2: shop has no function ad; did you "
                "mean shop:add/2?"},
    {.name = "trace-library", .view = "top", .rows = 24, .columns = 100, .steps = {{STEP_CHOOSE,
     ""}}},
    {.name = "recording-60x16", .view = "top", .rows = 16, .columns = 60,
     .steps = {{STEP_RECORDING, "1"}}},
    {.name = "recording-80x24", .view = "memory", .rows = 24, .columns = 80,
     .steps = {{STEP_RECORDING, "1"}}},
    {.name = "recording-160x24", .view = "apps", .rows = 24, .columns = 160,
     .steps = {{STEP_RECORDING, "1"}}},
    {.name = "recording-starts", .view = "top", .rows = 24, .columns = 80, .ascii = true,
     .steps = {{STEP_RECORDING, "0"}}},
    {.name = "recording-lost", .view = "top", .rows = 24, .columns = 160, .world = WORLD_LOST,
     .steps = {{STEP_RECORDING, "2"}}},
    {.name = "recording-lost-80x24", .view = "top", .rows = 24, .columns = 80, .world = WORLD_LOST,
     .steps = {{STEP_RECORDING, "2"}}},
    {.name = "recording-stops", .view = "top", .rows = 24, .columns = 120,
     .steps = {{STEP_RECORDING, "3"}}},
    {.name = "small-80x24", .world = WORLD_SMALL, .view = "top", .rows = 24, .columns = 80},
    {.name = "small-80x23", .world = WORLD_SMALL, .view = "top", .rows = 23, .columns = 80},
    {.name = "small-memory", .world = WORLD_SMALL, .view = "memory", .rows = 24, .columns = 80},
    {.name = "small-armed", .world = WORLD_SMALL, .view = "armed", .rows = 24, .columns = 80},
    {.name = "armed-anothers", .world = WORLD_ANOTHERS, .view = "armed", .rows = 14,
     .columns = 110},
    {.name = "armed-120x30",
     .view = "armed",
     .rows = 30,
     .columns = 120,
     .steps = {{ACTION_SORT, "details"}, {STEP_TICK, ""}, {ACTION_DOWN, ""}}},
    {.name = "armed-scrolled",
     .view = "armed",
     .rows = 24,
     .columns = 80,
     .steps = {{ACTION_RIGHT, ""}, {ACTION_RIGHT, ""}}},
    {.name = "small-schedulers",
     .world = WORLD_SMALL,
     .view = "schedulers",
     .rows = 24,
     .columns = 80},
    {.name = "wide-schedulers",
     .world = WORLD_WIDE,
     .view = "schedulers",
     .rows = 50,
     .columns = 160},
    {.name = "lost-80x24", .world = WORLD_LOST, .view = "top", .rows = 24, .columns = 80},
    {.name = "lost-160x50", .world = WORLD_LOST, .view = "memory", .rows = 50, .columns = 160},
    {.name = "lost-120x24", .world = WORLD_LOST, .view = "top", .rows = 24, .columns = 120,
     .lost = "no node rabbit@mq1: epmd on host mq1 knows no node at all: probably it was started "
             "without -name and -sname; next try in 10 s"},
    {.name = "nothing-80x24", .world = WORLD_NOTHING, .view = "top", .rows = 24, .columns = 80},
    {.name = "sweeping-80x24", .world = WORLD_SWEEPING, .view = "top", .rows = 24, .columns = 80},
    {.name = "sweeping-load",
     .world = WORLD_SWEEPING,
     .view = "owners",
     .rows = 16,
     .columns = 60},
    {.name = "process-mailbox",
     .view = "process",
     .rows = 40,
     .columns = 100,
     .steps = {{ACTION_VIEW, "process <0.81.0>"},
               {STEP_TICK, ""},
               {ACTION_MAILBOX, ""},
               {STEP_MAILBOX, ""},
               {ACTION_STATE, ""},
               {STEP_STATE, ""}}},
    {.name = "process-near",
     .view = "waits",
     .rows = 40,
     .columns = 100,
     .steps = {{STEP_TICK, ""}, {ACTION_VIEW, "process <0.81.0>"}, {STEP_TICK, ""}}},
    {.name = "process-collects",
     .view = "process",
     .rows = 30,
     .columns = 100,
     .steps = {{ACTION_VIEW, "process <0.81.0>"},
               {STEP_TICK, ""},
               {ACTION_COLLECT, ""},
               {STEP_COLLECT, ""}}},
    {.name = "process-asks",
     .view = "process",
     .rows = 30,
     .columns = 80,
     .steps = {{ACTION_VIEW, "process <0.81.0>"},
               {STEP_TICK, ""},
               {ACTION_MAILBOX, ""},
               {STEP_MAILBOX_ASK, ""},
               {ACTION_STATE, ""},
               {STEP_STATE_ASK, ""}}},
    {.name = "process-refused",
     .view = "process",
     .rows = 24,
     .columns = 80,
     .steps = {{ACTION_VIEW, "process <0.81.0>"},
               {STEP_TICK, ""},
               {ACTION_MAILBOX, ""},
               {STEP_MAILBOX_REFUSED, ""}}},
    {.name = "process-large",
     .view = "process",
     .rows = 40,
     .columns = 80,
     .steps = {{ACTION_VIEW, "process <0.81.0>"}, {STEP_TICK, ""}, {STEP_PROCESS_IS_LARGE, ""}}},
    {.name = "choose-sort",
     .view = "top",
     .rows = 30,
     .columns = 100,
     .steps = {{ACTION_CHOOSE_SORT, ""}}},
    {.name = "choose-columns",
     .view = "top",
     .rows = 30,
     .columns = 100,
     .steps =
         {{ACTION_CHOOSE_COLUMNS, ""}, {ACTION_DOWN, ""}, {ACTION_DOWN, ""}, {ACTION_MARK, ""}}},
    {.name = "pick-node",
     .view = "top",
     .rows = 24,
     .columns = 100,
     .steps = {{STEP_CHOOSE_NODE, ""}}},
    {.name = "pick-node-80x24",
     .view = "top",
     .rows = 24,
     .columns = 80,
     .steps = {{STEP_CHOOSE_NODE, ""}, {ACTION_LAST, ""}}},
    {.name = "split",
     .view = "top",
     .rows = 40,
     .columns = 160,
     .steps = {{ACTION_SPLIT, "below"},
               {ACTION_VIEW, "memory"},
               {ACTION_SPLIT, "right"},
               {ACTION_VIEW, "schedulers"},
               {STEP_TICK, ""}}},
    {.name = "tiny-20x8", .view = "top", .rows = 8, .columns = 20},
};
/* clang-format on */

static const struct screen_node picks[] = {
    {"rabbit@mq1", "25.2.3", "1.14.0", "from the command line", "", NULL, 4711, 1051892,
     1632087572},
    {"a-node-with-a-very-long-name@host.example.org", "29", "", "~/.erlang.cookie", "embedded mode",
     NULL, 991, 12, 64e6},
    {"b\x1b[2Jad@mq1", "", "", "none readable", "no answer", NULL, -1, 0.0 / 0.0, 0.0 / 0.0},
    {"start_erl", "25", "", "", "no distribution", "no distribution: start it with -sname", 812,
     3600, 3.2e7},
};

/* Keys that stay as they are, whatever the program's own defaults become. */
static const char keys[] = "bind global ? help\n"
                           "bind global / filter\n"
                           "bind global <Home> first\n"
                           "bind global : command\n"
                           "bind global 1 view processes\n"
                           "bind global 2 view process\n"
                           "bind global 3 view memory\n"
                           "bind global 4 view schedulers\n"
                           "bind global 5 view applications\n"
                           "bind global 6 view tree\n"
                           "bind global 7 view log\n"
                           "bind global 8 view trace\n"
                           "bind global 9 view active-tracing\n"
                           "bind global 0 view help\n"
                           "bind global V views\n"
                           "bind global W view load\n"
                           "bind global U view heaps\n"
                           "bind global K view cpus\n"
                           "bind global t trace\n"
                           "bind global C calls\n"
                           "bind global H sample\n"
                           "bind global Y spans\n"
                           "bind global q leave\n"
                           "bind global x stop\n"
                           "bind picker <Enter> enter\n"
                           "bind picker <Space> mark-row\n"
                           "bind global f view findings\n"
                           "bind global T trace-row\n"
                           "bind doc m mailbox\n"
                           "bind doc $ msacc\n"
                           "bind doc <Space> fold\n"
                           "bind global p pause\n"
                           "bind global <Esc> back\n"
                           "bind table <Enter> enter\n"
                           "bind doc <Enter> enter\n"
                           "bind trace t trace\n"
                           "bind trace L trace-library\n"
                           "bind trace T trace-row\n"
                           "bind trace a armed\n"
                           "bind table j down\n"
                           "bind table <Down> down\n"
                           "bind table o choose-sort\n"
                           "bind table c choose-columns\n";

static void take_tick(struct screen *s, struct model *m, enum world world, int tick)
{
    struct want want;
    want = (struct want){0};
    screen_want(s, &want);
    if (world != WORLD_NOTHING && world != WORLD_NODES && world != WORLD_SWEEPING)
        world_answer(m, world, &want, tick);
    screen_update(s);
}

static const struct screen_choice choices[] = {
    {"typed before", "shop:add(_, X) when X > 3 -> return"},
    {"calls to a GenServer that take long", "gen_server:call('NAME', _) -> slower 10ms;caller"},
    {"exits of linked processes", "receive({'EXIT', _, _})"},
};

static const struct header_recording recordings[] = {
    {.state = RECORDING_STARTS},
    {.state = RECORDING_RUNS, .running_s = 250.4, .ticks = 50, .bytes = 421888},
    {.state = RECORDING_RUNS,
     .running_s = 36000,
     .ticks = 7100,
     .bytes = 6.2e7,
     .problem = "connection refused; next try in 4 s"},
    {.state = RECORDING_STOPS, .running_s = 251, .ticks = 51, .bytes = 421888},
};

static void between(struct screen *s, struct model *m, enum world world)
{
    struct want want = {0};
    screen_want(s, &want);
    assert_true(want.needs & NEED(ROWS));
    model_set_interval(m, &(struct interval_info){1.0, 16.0, 0.02, .why = "scan every 16 s"});
    world_between(m, world, &want, 14);
    screen_update(s);
}

static void do_step(struct screen *s, struct model *m, const struct scene *scene, int step,
                    int *tick, struct canvas *c)
{
    struct error err = {0};
    struct tty_cursor cursor;
    const char *arg = scene->steps[step].arg;
    const struct etf_pid shown = {.id = 81};
    switch ((int)scene->steps[step].action) {
    case 1000:
        take_tick(s, m, scene->world, ++*tick);
        break;
    case 1001:
        world_mailbox(m, &shown, false);
        screen_update(s);
        break;
    case 1002:
        world_state(m, &shown, false);
        screen_update(s);
        break;
    case 1003:
        world_mailbox(m, &shown, true);
        screen_update(s);
        break;
    case 1012:
        world_mailbox_refused(m, &shown);
        screen_update(s);
        break;
    case 1013:
        world_process_is_large(m);
        screen_update(s);
        break;
    case 1008:
        world_state(m, &shown, true);
        screen_update(s);
        break;
    case 1011:
        world_collect(m, &shown, false);
        screen_update(s);
        break;
    case 1004:
        screen_set_message(s, STYLE_ERROR, arg);
        break;
    case 1005:
        screen_set_paused(s, true);
        break;
    case 1006:
        screen_choose(s, "Trace", choices, ARRAY_LEN(choices));
        break;
    case 1007:
        screen_set_recording(s, &recordings[*arg - '0']);
        break;
    case 1014:
        if (screen_confirm(s, m, (enum action)action_find(arg, strlen(arg)), &err) != 1)
            fail_msg("%s: step %d: %s", scene->name, step, err.text);
        break;
    case 1010:
        between(s, m, scene->world);
        break;
    case 1009:
        screen_choose_node(s, picks, ARRAY_LEN(picks));
        break;
    default:
        if (screen_act(s, m, scene->steps[step].action, arg, &err) != 1)
            fail_msg("%s: step %d: %s", scene->name, step, err.text);
    }
    screen_draw(s, m, c, &cursor);
}

/* What is typed at the trace prompt, and what is known of it. */
static struct prompt *open_prompt(const struct scene *scene, struct screen *s)
{
    static const struct prompt_calls calls = {0};
    if (!scene->line)
        return NULL;
    struct prompt *p = prompt_new(NULL);
    prompt_open(p, PROMPT_TRACE, "trace> ", scene->line, &calls);
    prompt_set_hint(p, scene->error && !*scene->error ? STYLE_ERROR : STYLE_MESSAGE, scene->hint);
    if (scene->error)
        prompt_mark_error(p, strlen(scene->line) - 1, scene->error);
    screen_set_prompt(s, p);
    return p;
}

static void play(const struct scene *scene, struct buf *out)
{
    struct error err = {0};
    struct model *m = world_new(scene->world);
    struct screen *s = screen_new(scene->view, &err);
    struct regex *re = NULL;
    struct traced traced = {0};
    struct calls_log calls;
    struct findings_shown found;
    struct samples_log samples;
    size_t offset;
    struct canvas c;
    struct tty_cursor cursor;
    int tick = 2;
    assert_non_null(s);
    canvas_init(&c, scene->rows, scene->columns, scene->ascii);
    screen_set_clock(s, "10:42:07");
    if (scene->trace != TRACED_NOT) {
        world_trace(&traced, scene->trace);
        model_set_trace(m, traced.log);
    }
    calls_log_init(&calls);
    if (scene->calls != COUNTED_NOT) {
        world_calls(&calls, scene->calls);
        model_set_calls(m, &calls);
    }
    struct spans_run *spans = world_spans(scene->spanned);
    model_set_spans(m, spans);
    struct stacks *stacks = world_samples(&samples, scene->sampled);
    if (scene->sampled != SAMPLED_NOT)
        model_set_samples(m, &samples);
    world_findings(&found, scene->found);
    model_set_findings(m, &found);
    struct options options;
    struct keymap keymap;
    struct theme theme;
    options_init(&options);
    keymap_init(&keymap);
    theme_init(&theme);
    struct diags diags;
    diags_init(&diags);
    struct config config = {
        .diags = &diags, .options = &options, .keymap = &keymap, .theme = &theme};
    config_parse(&config, "keys", keys, sizeof keys - 1);
    screen_set_keymap(s, &keymap);
    if (scene->filter) {
        regex_new(&re, scene->filter_error_at >= 0 ? "rabbit" : scene->filter, &offset, &err);
        screen_set_filter(s, scene->filter, re, scene->filter_error_at);
    }
    screen_draw(s, m, &c, &cursor);
    take_tick(s, m, scene->world, 1);
    take_tick(s, m, scene->world, 2);
    screen_draw(s, m, &c, &cursor);
    for (int i = 0; scene->steps[i].arg; i++)
        do_step(s, m, scene, i, &tick, &c);
    if (scene->world == WORLD_LOST) {
        model_set_link(m, LINK_LOST,
                       scene->lost ? scene->lost : "connection reset by the node; next try in 4 s");
        screen_set_frozen_s(s, 12);
        screen_update(s);
    }
    struct prompt *prompt = open_prompt(scene, s);
    screen_set_next_s(s, scene->next_s);
    screen_draw(s, m, &c, &cursor);
    golden_dump(&c, out);
    prompt_free(prompt);
    canvas_clear(&c);
    screen_free(s);
    keymap_clear(&keymap);
    options_clear(&options);
    diags_clear(&diags);
    regex_free(re);
    model_free(m);
    if (traced.log)
        world_trace_clear(&traced);
    calls_log_clear(&calls);
    stacks_free(stacks);
    spans_run_free(spans);
}

/* ---- comparing */

/* No byte below a space and no lone C1 byte can be in a cell, whatever the names hold. */
static void check_bytes(const struct scene *scene, const struct buf *out)
{
    for (size_t at = 0; at < out->len; at++)
        if (out->data[at] < ' ' && out->data[at] != '\n')
            fail_msg("%s: byte %02x at %zu", scene->name, out->data[at], at);
}

TEST(test_golden_screens)
{
    const char *only = getenv("BEAMTOP_SCENE");
    for (size_t i = 0; i < ARRAY_LEN(scenes); i++) {
        struct buf out;
        if (only && strcmp(only, scenes[i].name) != 0)
            continue;
        buf_init(&out, 0);
        play(&scenes[i], &out);
        check_bytes(&scenes[i], &out);
        golden_compare(scenes[i].name, &out);
        buf_clear(&out);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits that the end of a process ended: monitors, tasks, erpc. */

#include "../../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/model/spans.h"
#include "events.h"
#include "tree.h"

#define ROOT "0 0 root <0.1.0> - <0.1.0> 0 0 - - 0 m:root/0"
#define RETURNS "14000000 90 return <0.1.0> - - 0 0 - - 0 -"
#define SPAWNS(process) SPAWNS_AT("2", process)
#define SPAWNS_AT(ms, process)                                                                     \
    ms "000000 4 send " process " <0.3.0> <0.1.0> 1 2 spawn #Ref<0.7> 9 m:helps/0",                \
        ms "000001 5 receive <0.3.0> " process " <0.1.0> 1 2 spawn #Ref<0.7> 9 m:helps/0"
#define CALLS                                                                                      \
    "1000000 1 send <0.1.0> <0.2.0> <0.1.0> 0 1 call #Ref<0.1> 5 work",                            \
        "1000001 2 out <0.1.0> - - 0 0 - - 0 gen:do_call/4",                                       \
        "1000002 3 receive <0.2.0> <0.1.0> <0.1.0> 0 1 call #Ref<0.1> 5 work"
#define REPLIES                                                                                    \
    "13000000 60 send <0.2.0> <0.1.0> <0.1.0> 2 3 reply #Ref<0.1> 5 -",                            \
        "13000001 61 in <0.1.0> - - 0 0 - - 0 gen:do_call/4",                                      \
        "13000002 62 arrival <0.1.0> <0.2.0> - 0 0 - #Ref<0.1> 0 -",                               \
        "13000003 63 receive <0.1.0> <0.2.0> <0.1.0> 2 3 reply #Ref<0.1> 5 -"
#define WAITS(process, at)                                                                         \
    "2000002 20 out " process " - - 0 0 - - 0 " at, "12000000 21 in " process " - - 0 0 - - 0 " at
#define ENDED(process, whose, ref, why)                                                            \
    "12000001 22 down " process " " whose " - 0 0 - " ref " 0 " why

static const struct {
    const char *what, *events[20], *tree;
} rows[] = {
    {"a server waits for the end of what it spawned, whose own end nobody shows",
     {ROOT, CALLS, SPAWNS("<0.2.0>"), WAITS("<0.2.0>", "m:handle_call/3"),
      ENDED("<0.2.0>", "<0.3.0>", "#Ref<0.9>", "normal"), REPLIES, RETURNS},
     "root m:root/0 ok 14.000 {call pid ok 12.000} (call pid work ok 12.000 {message pid ok 10.000}"
     " (spawn pid m:helps/0 ok 10.000))"},
    {"a task ends without an answer",
     {ROOT, SPAWNS("<0.1.0>"), "2000001 6 send <0.1.0> <0.3.0> <0.1.0> 0 3 message #Ref<0.9> 5 -",
      "2000002 7 receive <0.3.0> <0.1.0> <0.1.0> 0 3 message #Ref<0.9> 5 -",
      WAITS("<0.1.0>", "m:await/1"), ENDED("<0.1.0>", "<0.3.0>", "#Ref<0.9>", "boom"), RETURNS},
     "root m:root/0 ok 14.000 {call pid boom exit 10.000} (spawn pid m:helps/0 exit boom 10.000)"},
    {"erpc on another node",
     {ROOT, "2000000 1 send <0.1.0> - <0.1.0> 0 1 spawn #Ref<0.9> 9 erpc:execute_call/4",
      WAITS("<0.1.0>", "erpc:call/5"), ENDED("<0.1.0>", "o@h<0.9.0>", "#Ref<0.9>", "normal"),
      RETURNS},
     "root m:root/0 ok 14.000 {call pid@o@h ok 10.000} (spawn pid@o@h - ok 10.000 leaf)"},
    {"erpc that takes too long",
     {ROOT, "2000000 1 send <0.1.0> - <0.1.0> 0 1 spawn #Ref<0.9> 9 erpc:execute_call/4",
      WAITS("<0.1.0>", "erpc:call/5"), RETURNS},
     "root m:root/0 ok 14.000 {call - timeout 10.000}"},
    {"another one's end, while it waits for a reply",
     {ROOT, SPAWNS_AT("0", "<0.1.0>"), CALLS, "3000000 30 in <0.1.0> - - 0 0 - - 0 gen:do_call/4",
      "3000001 31 down <0.1.0> <0.3.0> - 0 0 - #Ref<0.9> 0 normal",
      "3000002 32 out <0.1.0> - - 0 0 - - 0 gen:do_call/4", REPLIES, RETURNS},
     "root m:root/0 ok 14.000 {call pid ok 12.000} (spawn pid m:helps/0 ok 3.000) "
     "(call pid work ok 12.000)"},
    {"the end of who worked for nobody here",
     {ROOT, WAITS("<0.1.0>", "m:await/1"), ENDED("<0.1.0>", "<0.8.0>", "#Ref<0.9>", "normal"),
      RETURNS},
     "root m:root/0 ok 14.000 {WAITING m:await/1 10.000}"},
};

/* The same, where times are rounded. */
static void put_rounded(struct buf *out, const char *tree)
{
    while (*tree) {
        char *after;
        if (*tree == '~') {
            buf_printf(out, "%.3f", strtod(tree + 1, &after));
            tree = after;
        } else {
            buf_put(out, tree++, 1);
        }
    }
}

TEST(ends_explain_waits)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct spans_options options = {.full = true, .node = slice_of("n@h"), .capture = 7};
        struct spans *s = spans_new(&options);
        struct buf tree, rounded;
        for (size_t k = 0; rows[i].events[k]; k++)
            event_feed(s, rows[i].events[k]);
        spans_build(s);
        buf_init(&tree, 0);
        buf_init(&rounded, 0);
        tree_put_roots(&tree, s);
        put_rounded(&rounded, buf_cstr(&tree));
        if (strcmp(rows[i].tree, buf_cstr(&rounded)) != 0)
            fail_msg("%s: %s", rows[i].what, buf_cstr(&rounded));
        buf_clear(&tree);
        buf_clear(&rounded);
        spans_free(s);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers as targets give them, one good one or more of each kind, as text for etf_parse. */
#ifndef TESTS_MODEL_ANSWERS_H
#define TESTS_MODEL_ANSWERS_H

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/etf/build.h"
#include "beamtop/etf/parse.h"
#include "beamtop/model/column.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/model.h"

enum answer_kind {
#define ANSWER_ENUM(id, ...) ANSWER_##id,
    QUESTION_ANSWERS(ANSWER_ENUM)
#undef ANSWER_ENUM
        ANSWER_KINDS
};

static inline const struct app_row *app_rows(const struct model *m)
{
    return model_apps(m)->rows;
}

#define NODE_ANSWER                                                                                \
    "{node, 'mq1@host', <<\"25\">>, <<\"13.1.5\">>, <<\"jit\">>, 8, 2, 2, 2, 1, 2, "               \
    "{262144, 65536, 1048576, 8192}, <<\"unix/linux 6.1.0\">>, <<\"4711\">>, 1700000000000000, "   \
    "60, interactive, <<>>, 2}"

/* Mono seconds, wall, uptime ms, reductions, active of scheduler 1, total. */
#define SYSTEM_ANSWER(mono_s, uptime, reductions, active, total)                                   \
    "{system, -576460" mono_s "000000000, 1700000100000000, " uptime                               \
    ", {1000, 600, 500, 400, 50, 40, 30, 20, 10}, {41, 2, 9000, 12}, {3, [2,1,4,5]}, {" reductions \
    ", 10, 20, 30, 40, 50}, [{1," active "," total "},{2,0," total "},{3,0," total "},{4,0," total \
    "},{5,0," total "},{6,0," total "}], {2048, 4096}}"

/* Own: reductions of ours. */
#define SYSTEM_OWN_ANSWER(mono_s, uptime, reductions, own)                                         \
    "{system, -576460" mono_s "000000000, 1700000100000000, " uptime                               \
    ", undefined, {41, 2, 9000, 12}, {0, [0,0,0]}, {" reductions ", 10, 20, 30, 40, 50, " own      \
    "}, undefined, undefined}"

/* Mono seconds, schedstat of scheduler 1, its CPU, its involuntary switches, ticks of steal. */
#define THREADS_ANSWER(mono_s, schedstat, cpu, involuntary, steal)                                 \
    "{threads, -576460" mono_s "000000000, no_spread, <<\"0-1,4\">>, "                             \
    "<<\"cpu  100 0 50 840 0 0 0 " steal " 0 0\\ncpu0 1\">>, [<<\"150000 100000\\n\">>], "         \
    "<<\"usage_usec 7\\nnr_periods 10\\nnr_throttled 4\\nthrottled_usec 500000\\n\">>, "           \
    "[{0, 1, 4711, 1, <<\"" schedstat                                                              \
    "\\n\">>, <<\"4711 (1_sch) (x) S 1 1 1 0 -1 4 1 1 1 1 1 1 1 "                                  \
    "1 39 19 20 0 6 7 8 9 10 11 12 13 14 15 16 17 18 19 0 0 17 " cpu " 0 0 0 0\\n\">>, "           \
    "<<\"list:\\t0\\nvoluntary_ctxt_switches:\\t30\\nnonvoluntary_ctxt_switches:\\t" involuntary   \
    "\\n\">>}, {1, 1, 4712, undefined, <<>>, <<\"(\">>, <<\"voluntary_ctxt_switches:\">>}]}"

/* Mono seconds, and µs that scheduler 1 was in the emulator and slept; the rest stands. */
#define MSACC_ANSWER(mono_s, emulator, sleep)                                                      \
    "{msacc, -576460" mono_s "000000000, false, 1000000, ["                                        \
    "#{type => scheduler, id => 2, counters => #{emulator => 0, gc => 7, sleep => " sleep "}}, "   \
    "#{type => async, id => 0, counters => #{other => 5, what_comes_next => 6}, more => []}, "     \
    "#{type => scheduler, id => 1, counters => #{emulator => " emulator ", gc => 7, nif => 3, "    \
    "sleep => " sleep "}}]}"

#define SCAN_ITEMS                                                                                 \
    (1u << ITEM_ID | 1u << ITEM_REDUCTIONS | 1u << ITEM_MESSAGE_QUEUE_LEN | 1u << ITEM_MEMORY |    \
     1u << ITEM_CURRENT_FUNCTION)

static const struct answer_row {
    const char *name;
    enum answer_kind kind;
    const char *text;
} answers[] = {
    {"node", ANSWER_NODE, NODE_ANSWER},
    {"system", ANSWER_SYSTEM, SYSTEM_ANSWER("100", "5000", "1000", "10", "100")},
    {"system without what a VM may lack", ANSWER_SYSTEM,
     "{system, 5, 6, 7, undefined, {1,2,3,undefined}, {0, [0,0,0]}, "
     "{1,2,3,4,5,6}, undefined, undefined}"},
    {"scan", ANSWER_SCAN,
     "{scan, -576460100000000000, 1000000000, 1234, 50, 50, 2, "
     "[{<0.41.0>, 9000, 500, {{shop_cart, {shop_cart,init,1}, <<\"cart\">>, shop, "
     "{proc_lib,init_p,5}}, 9000, 3, 4096, {gen_server,loop,7}}}, "
     "{<0.42.1>, 8000, undefined, {{undefined, {shop_api,'handle-it',2}, undefined, undefined, "
     "{erlang,apply,2}}, 8000, 0, 2048, undefined}}], "
     "[{1,{name,shop_cart}},{2,{initial_call,{shop_cart,init,1}}},{3,{label,<<\"cart\">>}},"
     "{4,{application,shop}},{5,{label,{worker,7}}},{6,{name,kernel_sup}}]}"},
    {"system with reductions of ours", ANSWER_SYSTEM,
     SYSTEM_OWN_ANSWER("100", "5000", "1000", "700")},
    {"first scan, of nothing", ANSWER_SCAN, "{scan, 1, 0, 0, 0, 0, 0, [], []}"},
    {"rows", ANSWER_ROWS,
     "{rows, -576460098000000000, [{<0.41.0>, {9600, 5, 4096, {shop_cart,add,2}}}, "
     "{<0.42.1>, gone}]}"},
    {"rows, of nothing", ANSWER_ROWS, "{rows, 1, []}"},
    {"process", ANSWER_PROCESS,
     "{process, -576460100000000000, <0.41.0>, {shop_cart, {shop_cart,init,1}, <<\"cart\">>, shop, "
     "{proc_lib,init_p,5}}, [{status,waiting},{priority,normal},{trap_exit,true},"
     "{group_leader,{<0.30.0>,undefined}},{ancestors,[shop_sup,<0.31.0>]},{parent,<0.31.0>},"
     "{reductions,9000},{message_queue_len,3},{message_queue_data,on_heap},{memory,4096},"
     "{total_heap_size,300},{heap_size,200},{stack_size,11},{heap_fragments,0},"
     "{garbage_collection,[{minor_gcs,3},{fullsweep_after,65535},{min_heap_size,233}]},"
     "{current_function,{gen_server,loop,7}},"
     "{current_location,{gen_server,loop,7,<<\"gen_server.erl\">>,437}},"
     "{stack,[{gen_server,loop,7,<<\"gen_server.erl\">>,437},{proc_lib,init_p_do_apply,3,<<>>,0}]},"
     "{links,{2,[{<0.31.0>,shop_sup}]}},"
     "{monitors,{1,[{process,{db,'db@host'},undefined}]}},"
     "{monitored_by,{1,[{<0.50.0>,undefined}]}},"
     "{dictionary,{1,[{<<\"'$ancestors'\">>,48}]}},{binary,{2,700,[{600,1},{100,4}]}},"
     "{suspending,0}]}"},
    {"process gone", ANSWER_PROCESS, "gone"},
    {"mailbox", ANSWER_MAILBOX, "{mailbox, 2, 4096, [{100,<<\"{a,1}\">>},{9000,<<\"{b\">>}]}"},
    {"mailbox to agree to", ANSWER_MAILBOX, "{ask, 20000, 99999}"},
    {"mailbox refused", ANSWER_MAILBOX, "{refused, 200000, 99999}"},
    {"mailbox gone", ANSWER_MAILBOX, "gone"},
    {"state", ANSWER_STATE, "{state, 1000, <<\"{state,[]}\">>}"},
    {"state to agree to", ANSWER_STATE, "{ask, 2720}"},
    {"no state", ANSWER_STATE, "{no_state, <<\"timeout\">>}"},
    {"state gone", ANSWER_STATE, "gone"},
    {"alloc", ANSWER_ALLOC,
     "{alloc, 5, [{eheap_alloc, 3, {10, 600, 2, 1000}, {1, 300, 1, 400}, {1, 600, 100}},"
     "{sys_alloc, 1, {0,0,0,0}, {0,0,0,0}, {0,0,0}}], {70, 100}}"},
    {"alloc without mseg", ANSWER_ALLOC, "{alloc, 5, [], undefined}"},
    {"alloc with instances", ANSWER_ALLOC,
     "{alloc, 5, [{eheap_alloc, 3, {10, 600, 2, 1000}, {1, 300, 1, 400}, {1, 600, 100}}], {70, "
     "100}, [{eheap_alloc, 2, 4, 200, 2, 900}, {eheap_alloc, 1, 8, 500, 1, 700}], {1500, 1200, "
     "undefined, "
     "1600}}"},
    {"alloc without /proc", ANSWER_ALLOC, "{alloc, 5, [], undefined, [], undefined}"},
    {"process with a long queue, and lists that are too long", ANSWER_PROCESS,
     "{process, -576460100000000000, <0.41.0>, {shop_cart, {shop_cart,init,1}, <<\"cart\">>, shop, "
     "{proc_lib,init_p,5}}, [{message_queue_len,70000},{memory,{older,9000000,12500}},"
     "{total_heap_size,{older,300,12500}},{links,{0,[]}},{monitors,undefined},{binary,undefined}]"
     "}"},
    {"apps", ANSWER_APPS,
     "{apps, 1000000000, [{shop, <<\"A shop\">>, <<\"1.0\">>, 5, 4096, 1000, 7},"
     "{undefined, <<>>, <<>>, 3, 100, 50, 0}], false}"},
    {"tables", ANSWER_TABLES,
     "{tables, 1000000000, [{<<\"#Ref<0.1.2.3>\">>, session_cache, <0.41.0>, shop_cart, shop, 1, "
     "20, 4096, <<\"set\">>, <<\"public\">>, <<\"auto\">>, true, false, false, true, 1, <0.42.0>, "
     "<<\"#Ref<0.1.2.3>\">>, "
     "<<\"disc_copies\">>, 2, 1},"
     "{<<\"names\">>, names, undefined, undefined, undefined, 1, undefined, undefined, "
     "<<\"bag\">>, "
     "<<\"private\">>, <<\"false\">>, false, true, true, false, 2, undefined, undefined, "
     "undefined, undefined, undefined},"
     "{<<\"rest of <0.41.0>\">>, undefined, <0.41.0>, shop_cart, shop, 30, 600, {older, 9000, "
     "1500}, undefined, undefined, undefined, undefined, undefined, undefined, undefined, "
     "undefined, undefined, undefined, undefined, undefined, undefined}], "
     "true}"},
    {"one table", ANSWER_ONE_TABLE,
     "{one_table, 1000000000, [{<<\"sessions\">>, true, sessions, <<\"#Ref<0.1.2.3>\">>, "
     "<<\"set\">>, <<\"public\">>, <0.41.0>, shop_cart, shop, <0.42.0>, shop_heir, 4096, 20, "
     "<<\"auto\">>, true, false, false, 1, true, 1500, 1, <0.43.0>, {shop_api,init,1}, "
     "<<\"disc_copies\">>, <<\"a@h b@h\">>, <<\"a@h\">>, <<\"{index,set,[]}\">>, 25}], false}"},
    {"no such table", ANSWER_ONE_TABLE,
     "{one_table, 1000000000, [{<<\"nothing\">>, false, undefined, undefined, undefined, "
     "undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined, "
     "undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined, "
     "undefined, undefined, undefined, undefined, undefined, undefined, undefined}], false}"},
    {"keys", ANSWER_TABLE_KEYS,
     "{table_keys, 1000000000, [{<<\"{user,7}\">>}, {<<\"8\">>}], false}"},
    {"suspenders", ANSWER_SUSPENDERS,
     "{suspenders, 1000000000, [{<<\"<0.50.0>\">>, <0.41.0>, <0.50.0>, shop_debugger, 2, 949, "
     "949}], false}"},
    {"suspenders that were not found", ANSWER_SUSPENDERS,
     "{suspenders, 1000000000, [{<<\"nobody\">>, <0.41.0>, undefined, undefined, undefined, 20000, "
     "84000}], true}"},
    {"old code", ANSWER_OLD_CODE,
     "{old_code, 1000000000, [{<<\"all\">>, <<\"shop_cart\">>, true, undefined, undefined, 1, 949, "
     "949}, {<<\"<0.41.0>\">>, <<\"shop_cart\">>, true, <0.41.0>, shop_cart, 1, undefined, "
     "undefined}], false}"},
    {"mnesia", ANSWER_MNESIA,
     "{mnesia, 1000000000, [{<<\"4.21\">>, running, 1, 2, <<\"b@h\">>, <<\"b@h\">>, 12, 3, 15, "
     "1000, 4, 2, 900, "
     "100}], false}"},
    {"mnesia of a recording of before cut_nodes", ANSWER_MNESIA,
     "{mnesia, 1000000000, [{<<\"4.21\">>, running, 1, 2, <<\"b@h\">>, 12, 3, 15, 1000, 4, 2, 900, "
     "100}], false}"},
    {"raft", ANSWER_RAFT,
     "{raft, 1000000000, [{<<\"shop_orders\">>, <<\"a@h\">>, shop_orders, follower, voter, 3, "
     "<<\"a@h b@h c@h\">>}, {<<\"shop_stock\">>, <<\"none\">>, undefined, undefined, undefined, 1, "
     "<<\"b@h\">>}], false}"},
    {"no mnesia", ANSWER_MNESIA, "{mnesia, 1000000000, [], false}"},
    {"ports", ANSWER_PORTS,
     "{ports, 1000000000, [{<<\"#Port<0.6>\">>, <<\"port\">>, <<\"tcp\">>, undefined, <0.41.0>, "
     "shop, "
     "shop, <<\"127.0.0.1:80\">>, <<\"10.0.0.7:5500\">>, <<\"80\">>, <<\"10.0.0.7\">>, "
     "<<\"close_wait\">>, 1, 1, true, 1000, 2000, 10, 20, 195488, 3, <0.42.0>, {shop_api,init,1}, "
     "1500, undefined}, {<<\"#Port<0.7>\">>, <<\"port\">>, <<\"program\">>, <<\"sleep 1\">>, "
     "undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined, 1, "
     "0, "
     "false, 0, 0, undefined, undefined, 0, 0, undefined, undefined, undefined, 4711}], false}"},
    {"terms", ANSWER_TERMS,
     "{terms, 1000000000, [{<<\"persistent {shop,prices}\">>, <<\"persistent\">>, "
     "<<\"{shop,prices}\">>, shop, 1, undefined, undefined, 4096, false, undefined}, "
     "{<<\"atoms others\">>, <<\"atoms\">>, <<\"others\">>, undefined, 14000, 1048576, 400000, "
     "undefined, undefined, undefined}, {<<\"modules shop\">>, <<\"modules\">>, <<\"shop\">>, "
     "shop, "
     "1, undefined, 20000, undefined, undefined, 9000}], false}"},
    {"holders", ANSWER_HOLDERS,
     "{holders, 1000000000, [{<<\"shop_cart:init/1 in gen_server:loop/7\">>, {shop_cart,init,1}, "
     "shop, shop_sup, <<\"cart\">>, {gen_server,loop,7}, 40, {older, 90000, 1500}, 5000000, 12, "
     "80000, 70, 90, 40, 1200, 3, 4096, -200, 12, 1, 70000, <0.41.0>, shop_cart, 60},"
     "{<<\"erlang:apply/2\">>, undefined, undefined, undefined, undefined, undefined, 0, 0, 0, 0, "
     "0, 0, 0, 0, undefined, -1, -2640, 0, 0, 0, undefined, undefined, undefined, 60}], true}"},
    {"vm", ANSWER_VM,
     "{vm, 1000000000, [{<<\"cgroup.memory\">>, <<\"cgroup\">>, <<\"memory\">>, <<\"1.00 GiB\">>, "
     "<<\"2.00 GiB\">>, 1073741824, 2147483648, <<\"bytes\">>, <<\"of /sys/fs/cgroup\">>}, "
     "{<<\"cgroup.time until limit\">>, <<\"cgroup\">>, <<\"time until limit\">>, undefined, "
     "undefined, undefined, undefined, <<\"s\">>, undefined}, "
     "{<<\"arguments.1.-eval\">>, <<\"arguments\">>, <<\"-eval\">>, <<\"a, b\">>, undefined, "
     "undefined, undefined, undefined, undefined}], false}"},
    {"links", ANSWER_LINKS,
     "{links, 1000000000, [{<<\"a@one\">>, self, undefined, undefined, undefined, undefined, "
     "undefined, undefined, undefined, false, 60, <<\"true\">>, 1048576, 3, 2, undefined}, "
     "{<<\"b@two\">>, "
     "visible, <<\"up\">>, <<\"tcp\">>, <<\"two\">>, 7000, 9000, 19080, undefined, true, "
     "undefined, undefined, undefined, undefined, undefined, 4383028}], false}"},
    {"mesh", ANSWER_MESH,
     "{mesh, 1000000000, [{<<\"one-sided a@one b@two\">>, <<\"a@one\">>, <<\"b@two\">>, "
     "<<\"check\">>, "
     "<<\"one-sided\">>, <<\"visible\">>, <<\"none\">>, 19080, undefined, 1200, undefined, "
     "undefined, <<\"a@one is connected to b@two, which is not connected to it\">>}], false}"},
    {"matrix", ANSWER_MATRIX,
     "{matrix, 1000000000, [{<<\"a@one\">>, 1, <<\".>\">>}, {<<\"b@two\">>, 2, <<\"<.\">>}], "
     "false}"},
    {"fleet", ANSWER_FLEET,
     "{fleet, 1000000000, [{<<\"a1@one\">>, <<\"up\">>, <<\"one\">>, <<\"a\">>, 1, 1, <<\"25\">>, "
     "<<\"apps\">>, <<\"shop 1.3 (most: 1.2)\">>, 3600, 50000000, 100000000, 600000, 250000, 2, "
     "60, "
     "120000, 12, <<\"shop_mailer\">>, 9000, <<\"b@two\">>, 1, 700, -1500, 350, 2, 1200, "
     "undefined}, "
     "{<<\"b@two\">>, <<\"failed\">>, <<\"two\">>, <<\"b\">>, 1, 0, undefined, undefined, "
     "undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined, "
     "undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined, "
     "undefined, undefined, undefined, <<\"no node b@two\">>}], false}"},
    {"waits", ANSWER_WAITS,
     "{waits, 1000000000, [{<0.41.0>, shop_cart, undefined, {shop_cart,init,1}, call, <0.42.1>, "
     "undefined, undefined, 1, {gen,do_call,4}, {shop_cart,add,2}, waiting, 3, 900, true, false},"
     "{<0.42.1>, undefined, <<\"api\">>, {shop_api,init,1}, undefined, undefined, undefined, "
     "undefined, 0, {sys,suspend_loop,6}, undefined, waiting, 12, 80, false, true},"
     "{<0.43.0>, undefined, undefined, undefined, rpc, undefined, <<\"<0.9.0>\">>, 'b@host', 1, "
     "{erpc,call,5}, undefined, waiting, 0, 70, false, false}], false}"},
    {"heaps", ANSWER_HEAPS,
     "{heaps, 5000000000, 1046, 3, 30000, false, [{<0.41.0>, {shop_cart, {shop_cart,init,1}, "
     "undefined, shop, {proc_lib,init_p,5}}, waiting, 7, {20000, 1000, 2000, 9000, 12000, 80, "
     "16}, {700, 2}}, {<0.42.1>, {undefined, {shop_api,'handle-it',2}, <<\"api\">>, undefined, "
     "{erlang,apply,2}}, running, 0, {6000, 500, 600, 0, 0, 8, 0}, {90000, undefined}}], "
     "[{<0.43.0>, 4000}]}"},
    {"heaps, one with a long queue", ANSWER_HEAPS,
     "{heaps, 5000000000, 1046, 3, 30000, false, [{<0.41.0>, {shop_cart, {shop_cart,init,1}, "
     "undefined, shop, {proc_lib,init_p,5}}, waiting, 70000, {older, {20000, 1000, 2000, 9000, "
     "12000, 80, 16}, 7250}, {700, 2}}], []}"},
    {"heaps, of nothing", ANSWER_HEAPS, "{heaps, 1, 1046, 0, 0, true, [], []}"},
    {"collect", ANSWER_COLLECT, "{collected, 1500, {20000, 18000, 700}, {6000, 4000, 0}}"},
    {"collect to agree to", ANSWER_COLLECT, "{ask, 7, {20000, 18000, 700}}"},
    {"collect late", ANSWER_COLLECT, "{late, 5000}"},
    {"collect gone", ANSWER_COLLECT, "gone"},
    {"tree", ANSWER_TREE,
     "{tree, shop, [{0, <0.30.0>, <<\"shop\">>, root, {undefined, {application_master,init,4}, 0, "
     "100}}, {1, <0.31.0>, <<\"shop_sup\">>, supervisor, {shop_sup, {shop_sup,init,1}, 0, 200}},"
     "{2, undefined, <<\"cart\">>, worker, undefined}, {2, <0.33.0>, <<\"db\">>, busy, "
     "{undefined, undefined, undefined, undefined}}], true}"},
    {"armed", ANSWER_ARMED,
     "{armed, 5, 17, [{<<\"theirs\">>, false}, {<<\"beamtop\">>, true}], "
     "{7, [{<<>>, send, 0, 0, [{global, <<\"[{[x],[],[]}]\">>}]}, "
     "{<<>>, shop_cart, 'add item', 2, [{local, <<>>}, {call_count, 12}, {call_time, 345}, "
     "{call_memory, 6}]}, "
     "{<<\"theirs\">>, lists, seq, 2, [{meta, <<\"<0.9.0> theirs\">>}, {global, <<\"[]\">>}]}, "
     "{<<\"beamtop\">>, shop_cart, add, 2, [{local, <<\"[{'_',[],[]}]\">>}, {call_count, 0}]}]}, "
     "{3, [{<<>>, new_processes, <<>>, [procs, call], <<\"<0.9.0> theirs\">>}, "
     "{<<\"beamtop\">>, <0.41.0>, <<\"shop_cart\">>, [call], <<\"<0.50.0> beamtop:trace/0\">>}, "
     "{<<\"theirs\">>, <0.42.1>, <<>>, [], <<>>}]}, "
     "[<<\"system_monitor <0.9.0> theirs [{long_gc,100}]\">>, <<\"odd\">>], 1, "
     "<<\"<0.9.0> theirs\">>, 3}"},
    {"nothing armed", ANSWER_ARMED, "{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<>>, 0}"},
    {"threads", ANSWER_THREADS, THREADS_ANSWER("100", "400000000 100000000 500", "1", "20", "10")},
    {"msacc", ANSWER_MSACC, MSACC_ANSWER("100", "100", "0")},
    {"no threads", ANSWER_THREADS, "{threads, 5, unbound, <<>>, <<>>, [], <<>>, []}"},
};

struct term {
    struct builder *builder;
    const uint8_t *bytes;
    size_t len;
};

static inline struct term term_of(const char *text)
{
    struct term t = {.builder = builder_new()};
    struct error err = {0};
    if (etf_parse(t.builder, text, strlen(text), "mq1@host", &err) < 0) {
        fprintf(stderr, "%s\n%s\n", text, err.text);
        abort();
    }
    t.bytes = builder_bytes(t.builder, &t.len);
    return t;
}

static inline void term_free(struct term *t)
{
    builder_free(t->builder);
}

static inline int give_bytes(struct model *m, enum answer_kind kind, const uint8_t *bytes,
                             size_t len, const struct want_scan *scan, uint64_t now_ns,
                             struct error *err)
{
    return model_take(m, (enum question)kind, bytes, len, scan, now_ns, err);
}

static const struct want_scan scan_want = {
    .sort_key = "reductions_per_s", .by_delta = true, .rows = 20, .items = SCAN_ITEMS};

static inline int give(struct model *m, enum answer_kind kind, const char *text, struct error *err)
{
    struct term t = term_of(text);
    int rc = give_bytes(m, kind, t.bytes, t.len, &scan_want, 0, err);
    term_free(&t);
    return rc;
}

#endif

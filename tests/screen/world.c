/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/parse.h"
#include "beamtop/model/column.h"

#define SECOND INT64_C(1000000000)
enum { PAST_TICKS = 300 };

static void parse(struct builder *b, struct buf *text)
{
    struct error err = {0};
    if (etf_parse(b, buf_cstr(text), text->len, "mq1@host", &err) < 0) {
        fprintf(stderr, "%s\n%s\n", buf_cstr(text), err.text);
        abort();
    }
}

static void done(struct builder *b, struct buf *text, int status, const struct error *err)
{
    if (status < 0) {
        fprintf(stderr, "%.400s\n%s\n", buf_cstr(text), err->text);
        abort();
    }
    builder_free(b);
    buf_clear(text);
}

static void give(struct model *m, enum question q, struct buf *text)
{
    struct error err = {0};
    struct builder *b = builder_new();
    size_t len;
    parse(b, text);
    const uint8_t *bytes = builder_bytes(b, &len);
    done(b, text, model_take(m, q, bytes, len, NULL, 0, &err), &err);
}

/* ---- the processes */

struct proc {
    int id, serial;
    const char *name, *initial, *label, *app, *current, *status;
    int64_t reductions, reductions_per_s, messages, messages_per_s, memory;
};

#define LONG_NAME                                                                                  \
    "'Elixir.Shop.Warehouse.Inventory.Synchronisation.Coordinator.With.A.Name.That.Is.Longer"      \
    ".Than.Any.Terminal.Is.Wide.And.Then.Some'"

static const struct proc procs[] = {
    {41, 0, "rabbit_msg_store_persistent", "{rabbit_msg_store,init,1}", NULL, "rabbit",
     "{file_handle_cache,write,2}", "running", 91823772115, 9214000, 118, 9, 43201234},
    {8812, 3, NULL, "{rabbit_amqqueue_process,init,1}", "q.orders", "rabbit",
     "{gen_server2,process_next_msg,1}", "waiting", 4112233445, 4100321, 0, 0, 8493465},
    {9120, 3, NULL, "{rabbit_reader,init,3}", NULL, "rabbit", "{prim_inet,recv0,3}", "waiting",
     998877, 2200000, 0, 0, 933888},
    {77, 0, "'Elixir.Shop.Cart.Supervisor'", "{supervisor,'Elixir.Shop.Cart.Supervisor',1}", NULL,
     "shop", "{gen_server,loop,7}", "waiting", 120044, 120000, 2, -3, 68304},
    {78, 0, "'evil\\e[31m\\nname\\x{7}'", "{shop,'in\\tit',0}", NULL, "shop", "{gen_server,loop,7}",
     "waiting", 88000, 88000, 0, 0, 4096},
    {79, 1, "'注文処理プロセス'", "{shop,init,0}", NULL, "'小売'", "{gen_server,loop,7}",
     "runnable", 77000, 77000, 1, 0, 21000},
    {80, 0, LONG_NAME, "{shop_sync,init,1}", NULL, "shop_warehouse_service",
     "{'Elixir.Shop.Warehouse.Inventory.Synchronisation',wait_for_the_next_delivery,3}", "waiting",
     66000, 66000, 41234567, 12345, 987654321098765},
    {81, 0, "shop_mailbox", "{shop_mailbox,init,1}", NULL, "shop", "{shop_mailbox,busy_wait,1}",
     "running", 5000, 0, 120044, 250, 88000000},
    {82, 0, NULL, "{erlang,apply,2}", NULL, NULL, "{timer,sleep,1}", "waiting", 612, 612, 0, 0,
     2688},
    {83, 0, "'e\u0301clair_\U0001F469\u200D\U0001F4BB'", "{proc_lib,init_p,5}", NULL, "shop",
     "{gen_server,loop,7}", "suspended", 500, 500, 0, 0, 2688},
};

static void mfa_or_undefined(struct buf *t, const char *term)
{
    buf_puts(t, term ? term : "undefined");
}

static const struct proc *proc_at(int i, struct proc *made, char *text)
{
    int fixed = (int)(sizeof procs / sizeof procs[0]);
    if (i < fixed)
        return &procs[i];
    snprintf(text, 40, "pool_worker_%d", i - fixed + 1);
    *made = (struct proc){100 + i,
                          2,
                          i % 3 ? text : NULL,
                          "{pool_worker,init,1}",
                          NULL,
                          "pool",
                          "{gen_server,loop,7}",
                          "waiting",
                          1000 - i,
                          400 - i,
                          0,
                          0,
                          2688 + 8 * i};
    return made;
}

static void item(struct buf *t, enum proc_item item, const struct proc *p, int tick)
{
    int64_t messages = p->messages + p->messages_per_s * tick;
    switch (item) {
    case ITEM_ID:
        buf_printf(t, "{%s,%s,", p->name ? p->name : "undefined", p->initial);
        if (p->label)
            buf_printf(t, "<<\"%s\">>,", p->label);
        else
            buf_puts(t, "undefined,");
        mfa_or_undefined(t, p->app);
        buf_puts(t, ",{proc_lib,init_p,5}}");
        break;
    case ITEM_REDUCTIONS:
        buf_printf(t, "%" PRId64, p->reductions + p->reductions_per_s * tick);
        break;
    case ITEM_MESSAGE_QUEUE_LEN:
        buf_printf(t, "%" PRId64, messages < 0 ? 0 : messages);
        break;
    case ITEM_MEMORY:
        buf_printf(t, "%" PRId64, p->memory + 128 * tick);
        break;
    case ITEM_STATUS:
        buf_puts(t, p->status);
        break;
    case ITEM_PRIORITY:
        buf_puts(t, "normal");
        break;
    case ITEM_CURRENT_FUNCTION:
        buf_puts(t, p->current);
        break;
    case ITEM_SUPERVISOR:
        mfa_or_undefined(t, p->app);
        break;
    case ITEM_BINARY:
        buf_puts(t, "{3,4096}");
        break;
    case ITEM_GARBAGE_COLLECTION:
        buf_puts(t, "{12,65535}");
        break;
    case ITEM_GROUP_LEADER:
        buf_puts(t, "<0.30.0>");
        break;
    case ITEM_TRAP_EXIT:
        buf_puts(t, "true");
        break;
    case ITEM_MESSAGE_QUEUE_DATA:
        buf_puts(t, "off_heap");
        break;
    default: /* numbers */
        buf_printf(t, "%d", 100 + p->id);
        break;
    }
}

static void values(struct buf *t, const struct proc *p, uint32_t items, int tick)
{
    bool comma = false;
    for (int i = 0; i < PROC_ITEMS; i++)
        if (items >> i & 1) {
            buf_puts(t, comma ? "," : "{");
            item(t, (enum proc_item)i, p, tick);
            comma = true;
        }
    buf_puts(t, "}}");
}

static void row(struct buf *t, const struct proc *p, uint32_t items, int tick, bool first)
{
    buf_printf(t, "%s{<0.%d.%d>,%" PRId64 ",", first ? "" : ",", p->id, p->serial, p->reductions);
    if (tick > 1)
        buf_printf(t, "%" PRId64 ",", p->reductions_per_s);
    else
        buf_puts(t, "undefined,");
    values(t, p, items, tick);
}

static void give_scan(struct model *m, enum world world, const struct want_scan *want, int tick)
{
    struct error err = {0};
    struct builder *b = builder_new();
    struct buf t;
    size_t len;
    int total = world == WORLD_SMALL ? 3 : 48211, n = want->rows < 60 ? want->rows : 60;
    n = n > total ? total : n;
    if (want->filtered && n > 3)
        n = 3;
    buf_init(&t, 0);
    buf_printf(&t, "{scan,%" PRId64 ",%" PRId64 ",18000,%d,%d,2,[", (tick + 1298) * SECOND,
               tick > 1 ? SECOND : 0, total, want->filtered ? 3 : total);
    for (int i = 0; i < n; i++) {
        struct proc made;
        char name[40];
        row(&t, proc_at(i, &made, name), want->items, tick, i == 0);
    }
    buf_puts(&t, "],[]}");
    parse(b, &t);
    const uint8_t *bytes = builder_bytes(b, &len);
    done(b, &t, model_take(m, QUESTION_SCAN, bytes, len, want, (uint64_t)(tick * SECOND), &err),
         &err);
}

/* ---- the node */

static int64_t wave(int tick, int64_t low, int64_t high)
{
    static const int shape[] = {0, 1, 2, 4, 6, 7, 8, 7, 5, 3, 2, 1};
    return low + (high - low) * shape[tick / 5 % 12] / 8 + tick % 7 * (high - low) / 80;
}

static void give_node(struct model *m, enum world world)
{
    struct buf t;
    int n = world == WORLD_WIDE ? 1024 : world == WORLD_SMALL ? 1 : 8;
    buf_init(&t, 0);
    buf_printf(
        &t,
        "{node,'rabbit@mq1',<<\"25.2.3\">>,<<\"13.1.5\">>,<<\"jit\">>,8,%d,%d,%d,%d,%d,"
        "{1048576,65536,1048576,8192},<<\"unix/linux 6.1.0\">>,<<\"4711\">>,1700000000000000,"
        "60,interactive,<<\"1.14.0\">>,8}",
        n, world == WORLD_BUSY ? 6 : n, n, n, n > 8 ? n : 2);
    give(m, QUESTION_NODE, &t);
}

static void memory(struct buf *t, enum world world, int tick)
{
    if (world == WORLD_SMALL) {
        buf_puts(t, "undefined");
        return;
    }
    int64_t processes = wave(tick, 590, 642) * 1048576, binary = (380 + tick / 6) * 1048576LL;
    int64_t system = binary + 299892736;
    buf_printf(t,
               "{%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",1677721,1600000,%" PRId64
               ",50331648,%d}",
               processes + system, processes, processes - 4096, system, binary, 126877696);
}

static void schedulers(struct buf *t, int n, int io, int tick)
{
    for (int id = 1; id <= 2 * n + io; id++) {
        int64_t share = id > 2 * n ? id * 3 % 8 : id > n ? 0 : id * 37 % 101;
        if (id == 3)
            share = 99;
        buf_printf(t, "%s{%d,%" PRId64 ",%" PRId64 "}", id > 1 ? "," : "", id,
                   share * 10000000 * tick, SECOND * tick);
    }
}

static void system_text(struct buf *t, enum world world, int tick)
{
    int n = world == WORLD_WIDE ? 1024 : world == WORLD_SMALL ? 1 : 8, io = n > 8 ? n : 2;
    int64_t k = tick;
    buf_printf(t, "{system,%" PRId64 ",%" PRId64 ",%" PRId64 ",", (1000 + k) * SECOND,
               INT64_C(1700000000000000) + k * 1000000, INT64_C(1051892000) + k * 1000);
    memory(t, world, tick);
    if (world == WORLD_SMALL)
        buf_puts(t, ",{1048000,53000,900000,12},{0,[");
    else
        buf_printf(t, ",{%" PRId64 ",1204,61022,612},{%" PRId64 ",[", wave(tick, 48000, 48400),
                   wave(tick, 0, 9));
    for (int i = 0; i < n; i++)
        buf_printf(t, "%s%d", i ? "," : "", i == 2 ? tick % 5 : i % 17 == 5);
    buf_printf(t,
               ",0,1]},{%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "},",
               k * 41200000 + wave(tick, 0, 9000000), k * 122000, k * 8100, k * 9000000,
               k * 12582912, k * 31457280);
    if (world == WORLD_SMALL) {
        buf_puts(t, "undefined,undefined}");
    } else {
        buf_puts(t, "[");
        schedulers(t, n, io, tick);
        buf_puts(t, "],{1632087572,4294967296}}");
    }
}

static void give_system(struct model *m, enum world world, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    system_text(&t, world, tick);
    give(m, QUESTION_SYSTEM, &t);
}

/* The first 300 ticks of a node of 8 schedulers: each answer is parsed once for all worlds. */
static void give_past(struct model *m, enum world world, int tick)
{
    static struct {
        uint8_t *bytes;
        size_t len;
    } past[PAST_TICKS + 1];
    struct error err = {0};
    if (!past[tick].bytes) {
        struct builder *b = builder_new();
        struct buf t;
        buf_init(&t, 0);
        system_text(&t, world, tick);
        parse(b, &t);
        const uint8_t *bytes = builder_bytes(b, &past[tick].len);
        past[tick].bytes = malloc(past[tick].len);
        memcpy(past[tick].bytes, bytes, past[tick].len);
        done(b, &t, 0, &err);
    }
    if (model_take(m, QUESTION_SYSTEM, past[tick].bytes, past[tick].len, NULL, 0, &err) < 0)
        abort();
}

static void give_nodes(struct model *m)
{
    struct buf t;
    buf_init(&t, 0);
    buf_puts(
        &t,
        "{fleet, 1000000000, [{<<\"mq-1@10.0.0.1\">>, <<\"up\">>, <<\"10.0.0.1\">>, "
        "<<\"mq\">>, 1, 1, <<\"27\">>, undefined, <<\"same\">>, 360000, 1500000000, "
        "2000000000, 850000, 250000, 2, 1060, 1200000, 12, <<\"rabbit_reader\">>, 0, "
        "<<\"mq-2@10.0.0.2\">>, 0, 700, -1500, 350, 0, 1200, undefined}, "
        "{<<\"mq-2@10.0.0.2\">>, <<\"up\">>, <<\"10.0.0.2\">>, <<\"mq\">>, 1, 1, "
        "<<\"27\">>, <<\"apps\">>, <<\"shop 1.3 (most: 1.2)\">>, 360000, 1300000000, "
        "2000000000, 970000, 310000, 0, 1100, 1300000, 0, undefined, 19080, "
        "<<\"mq-1@10.0.0.1\">>, 1, 650, 900, 325, 2, 1100, undefined}, "
        "{<<\"shop@10.0.0.3\">>, <<\"up\">>, <<\"10.0.0.3\">>, <<\"shop\">>, 1, 1, "
        "<<\"25\">>, <<\"otp\">>, <<\"same\">>, 600, 9700000000, undefined, undefined, "
        "990000, 41, 48211, 91000000, 62010, <<\"shop_mailer\">>, undefined, undefined, "
        "0, 2100, 5000000, 1050, 1, 3100, undefined}, {<<\"shop@10.0.0.4\">>, <<\"late\">>, "
        "<<\"10.0.0.4\">>, <<\"shop\">>, 1, 0, <<\"27\">>, undefined, undefined, 7200, "
        "99000000000, undefined, undefined, 1000000, 900, 90000, 1, undefined, undefined, "
        "undefined, undefined, undefined, 900, 10, 450, 0, 1000, <<\"no answer for 3 s\">>}, "
        "{<<\"shop@10.0.0.5\">>, <<\"connecting\">>, <<\"10.0.0.5\">>, <<\"shop\">>, 1, "
        "0, undefined, undefined, undefined, undefined, undefined, undefined, undefined, "
        "undefined, undefined, undefined, undefined, undefined, undefined, undefined, "
        "undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined}], "
        "false}");
    give(m, QUESTION_FLEET, &t);
}

struct model *world_new(enum world world)
{
    struct model *m = model_new();
    if (world == WORLD_NOTHING || world == WORLD_NODES) {
        model_set_link(m, LINK_CONNECTING, "rabbit@mq1");
        if (world == WORLD_NODES)
            give_nodes(m);
        return m;
    }
    give_node(m, world);
    model_set_link(m, LINK_LIVE, "");
    model_set_interval(m, &(struct interval_info){1.0, 1.0, 0.02, .why = ""});
    if (world == WORLD_SMALL)
        model_set_interval(
            m, &(struct interval_info){1.0, 2.4, 0.02, .why = "memory of every process"});
    model_set_cost(m, &(struct tick_cost){.target_us = 3100, .bytes = 6348, .share = 0.0031});
    if (world == WORLD_SWEEPING) {
        give_system(m, world, 1);
        model_set_sweep(m, 420987, 1000000);
        return m;
    }
    if (world == WORLD_SMALL)
        give_system(m, world, 1);
    for (int tick = 1; world != WORLD_SMALL && tick <= PAST_TICKS; tick++) {
        if (tick == 250)
            model_gap(m);
        (world == WORLD_WIDE ? give_system : give_past)(m, world, tick);
    }
    model_journal(m, 1700000000123456, false, "connected to rabbit@mq1 as beamtop@mq1");
    model_journal(m, 1700000001000456, false, "started the keeper <0.9000.3>");
    model_journal(m, 1700000299000456, true,
                  "no answer to scan for 5.0 s: \x1b[31mred\x1b[0m\nand a second line");
    return m;
}

/* ---- details */

static void give_process(struct model *m, int tick)
{
    struct buf t;
    struct error err = {0};
    struct builder *b = builder_new();
    size_t len;
    buf_init(&t, 0);
    buf_printf(
        &t,
        "{process,%" PRId64 ",<0.81.0>,{shop_mailbox,{shop_mailbox,init,1},undefined,shop,"
        "{proc_lib,init_p,5}},[{status,running},{priority,normal},{trap_exit,true},"
        "{group_leader,{<0.30.0>,undefined}},{ancestors,[shop_sup,<0.31.0>]},"
        "{parent,<0.31.0>},{reductions,5000},{message_queue_len,%d},"
        "{message_queue_data,on_heap},{memory,%d},{total_heap_size,10318000},"
        "{heap_size,6772000},{stack_size,11},{heap_fragments,0},"
        "{garbage_collection,[{max_heap_size,0},{min_bin_vheap_size,46422},{min_heap_size,233},"
        "{fullsweep_after,65535},{minor_gcs,3}]},{current_function,{shop_mailbox,busy_wait,1}},"
        "{current_location,{shop_mailbox,busy_wait,1,<<\"shop_mailbox.erl\">>,61}},",
        (1000 + tick) * SECOND, 120044 + 250 * tick, 88000000 + 250 * 104 * tick);
    buf_puts(
        &t, "{stack,[{shop_mailbox,busy_wait,1,<<\"shop_mailbox.erl\">>,61},"
            "{gen_server,try_handle_cast,3,<<\"gen_server.erl\">>,1121},"
            "{gen_server,handle_msg,6,<<\"gen_server.erl\">>,1183},"
            "{proc_lib,init_p_do_apply,3,<<>>,0}]},"
            "{links,{12,[{<0.31.0>,shop_sup},{<0.812.0>,undefined}]}},"
            "{monitors,{2,[{process,{db,'db@far.example'},undefined},{process,<0.90.0>,logger}]}},"
            "{monitored_by,{1,[{<0.50.0>,'evil\\e[31m\\nname'}]}},"
            "{dictionary,{3,[{<<\"'$initial_call'\">>,48},{<<\"'$ancestors'\">>,48},"
            "{<<\"{cache,\\e[2J}\">>,1048576}]}},{binary,{2041,25165824,[{20971520,1},{65536,4}]}},"
            "{suspending,0}]}");
    parse(b, &t);
    const uint8_t *bytes = builder_bytes(b, &len);
    done(b, &t, model_take(m, QUESTION_PROCESS, bytes, len, NULL, (uint64_t)(tick * SECOND), &err),
         &err);
}

static void give_alloc(struct model *m)
{
    struct buf t;
    buf_init(&t, 0);
    buf_puts(
        &t,
        "{alloc,5,[{binary_alloc,9,{4011,220200960,60,377487360},{12,190000000,12,192937984},"
        "{3,4194304,100}},{eheap_alloc,9,{48230,530000000,402,671088640},{8,61000000,8,62914560},"
        "{14,29360128,800000}},{ets_alloc,9,{90211,118000000,44,125829120},{1,2097152,1,2097152},"
        "{0,0,0}},{ll_alloc,1,{30012,51000000,12,52428800},{0,0,0,0},{0,0,0}},"
        "{temp_alloc,9,{0,0,9,1179648},{0,0,0,0},{0,0,0}},"
        "{exec_alloc,1,{0,0,0,0},{0,0,0,0},{0,0,0}}],{70,100},[{binary_alloc,2,210,9000000,31,"
        "190000000},"
        "{eheap_alloc,1,16021,200000000,140,240000000}],{1500000000,1400000000,0,1600000000}}");
    give(m, QUESTION_ALLOC, &t);
}

static void give_heaps(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(&t,
               "{heaps,%" PRId64 ",48211,48211,612000000,%s,["
               "{<0.412.0>,{undefined,{shop_cart,init,1},<<\"cart \\e[5m 7\">>,shop,"
               "{proc_lib,init_p,5}},waiting,120052,{%d,1200000,2400000,88000000,90000000,"
               "512,3100000},{41000000,undefined}},"
               "{<0.87.0>,{rabbit_queue,{rabbit_queue,init,1},undefined,rabbit,"
               "{proc_lib,init_p,5}},running,3,{61000000,31000000,40000000,0,0,8096,0},"
               "{910000000,5000}},"
               "{<0.99.0>,{'小売',{a,b,0},undefined,'小売',{erlang,apply,2}},waiting,0,"
               "{2100,900,1864,0,0,24,0},{0,0}}],[{<0.5.0>,2000}]}",
               (1000 + tick) * SECOND, tick > 2 ? "true" : "false", 120000000 + tick * 1000000);
    give(m, QUESTION_HEAPS, &t);
}

static void give_apps(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(&t,
               "{apps,%" PRId64 ",[{rabbit,<<\"RabbitMQ\">>,<<\"3.11.9\">>,40122,471859200,%" PRId64
               ",130},"
               "{shop,<<\"A shop \\e[5m with\\nodd "
               "words\">>,<<\"1.0.0-rc.1+build.20231114\">>,812,97517568,%d,120052},"
               "{'小売',<<\"小売アプリケーション\"/utf8>>,<<\"2\">>,3,21000,%d,0},"
               "{kernel,<<\"ERTS  CXC 138 10\">>,<<\"8.5.4\">>,61,4194304,1200,0},"
               "{undefined,<<>>,<<>>,7213,41943040,%d,41234567}],%s}",
               (1000 + tick) * SECOND, INT64_C(40000000) * tick, 600000 * tick, 77000 * tick,
               3000 * tick, tick > 2 ? "true" : "false");
    give(m, QUESTION_APPS, &t);
}

/* 26 nodes: the first three are apart from the others, the fourth is hidden, the last is silent. */
static char sign_between(int from, int to)
{
    const bool is_apart = (from < 3) != (to < 3);
    return from == to               ? '.'
           : from == 25 || to == 25 ? '?'
           : from == 3 || to == 3   ? (is_apart ? '-' : 'h')
           : is_apart               ? '-'
           : from + to == 15        ? '~'
           : from == 6 && to == 7   ? '#'
           : from == 8 && to == 10  ? '>'
           : from == 10 && to == 8  ? '<'
                                    : 'o';
}

static void give_mesh(struct model *m)
{
    struct buf t;
    buf_init(&t, 0);
    buf_puts(&t, "{matrix,1000,[");
    for (int i = 0; i < 26; i++) {
        buf_printf(&t, "%s{<<\"shop%d@host%d.example\">>,%d,<<\"", i > 0 ? "," : "", i + 1, i % 7,
                   i + 1);
        for (int k = 0; k < 26; k++)
            buf_printf(&t, "%c", sign_between(i, k));
        buf_puts(&t, "\">>}");
    }
    buf_puts(&t, "],false}");
    give(m, QUESTION_MATRIX, &t);
    buf_init(&t, 0);
    buf_puts(&t, "{mesh,1000,[{<<\"partition shop1 shop4\">>,<<\"shop1@host0.example\">>,"
                 "<<\"shop4@host3.example\">>,<<\"fix\">>,<<\"partition\">>,undefined,undefined,"
                 "undefined,undefined,undefined,undefined,undefined,<<\"2 groups apart\">>},"
                 "{<<\"flapping shop5 shop12\">>,<<\"shop5@host4.example\">>,"
                 "<<\"shop12@host4.example\">>,<<\"check\">>,<<\"flapping\">>,<<\"visible\">>,"
                 "<<\"visible\">>,0,0,1200,900,4,<<\"have connected again at least 4 times\">>},"
                 "{<<\"link shop5 shop6\">>,<<\"shop5@host4.example\">>,"
                 "<<\"shop6@host5.example\">>,undefined,<<\"link\">>,<<\"visible\">>,"
                 "<<\"visible\">>,0,19080,1200,900,undefined,undefined}],false}");
    give(m, QUESTION_MESH, &t);
}

static void give_ports(struct model *m, int tick)
{
#define NOT "undefined"
    struct buf t;
    buf_init(&t, 0);
    buf_printf(
        &t,
        "{ports,%" PRId64 ",[{<<\"#Port<0.41>\">>,<<\"port\">>,<<\"tcp\">>," NOT ",<0.41.0>,"
        "rabbit_writer,rabbit,<<\"10.0.0.5:5672\">>,<<\"10.0.0.17:41022\">>,<<\"5672\">>,"
        "<<\"10.0.0.17\">>,<<\"established\">>,1,0,true,%d,%d,%d,%d,195488,3,<0.42.0>,"
        "{shop,'小売',1},%d," NOT "},"
        "{<<\"#Port<0.9>\">>,<<\"port\">>,<<\"distribution\">>,<<\"mq2@host\">>,<0.43.0>," NOT
        ",kernel,"
        "<<\"10.0.0.5:9100\">>,<<\"10.0.0.6:40112\">>,<<\"9100\">>,<<\"10.0.0.6\">>,"
        "<<\"established\">>,1,0,false,%d,1000,20,10,0,0," NOT "," NOT ",12," NOT "},"
        "{<<\"#Socket<0.2006903245.2595880961.76853>\">>,<<\"socket\">>,<<\"tcp\">>," NOT
        ",<0.42.0>,"
        "{shop,init,1},shop,<<\"[fe80::1]:80\">>,<<\"[fe80::2]:50000\">>,<<\"80\">>,<<\"[fe80::2]"
        "\">>,"
        "<<\"close_wait\">>,1,1,false,900,4000,9,40," NOT ",0," NOT "," NOT ",86400000," NOT "},"
        "{<<\"#Port<0.12>\">>,<<\"port\">>,<<\"program\">>,<<\"sh -c \\\"odd "
        "\\e[5m\\n\\\"\">>,<0.44.0>,"
        "os_runner,shop," NOT "," NOT "," NOT "," NOT "," NOT ",1,0,false,0,0," NOT "," NOT
        ",0,0," NOT "," NOT "," NOT ",4711}],%s}",
        (1000 + tick) * SECOND, 1000 * tick, 250000 * tick, 3 * tick, 50 * tick, 1500 + tick,
        90000 * tick, tick > 2 ? "true" : "false");
    give(m, QUESTION_PORTS, &t);
#undef NOT
}

static void give_vm(struct model *m, int tick)
{
#define NOT "undefined"
    struct buf t;
    buf_init(&t, 0);
    buf_printf(
        &t,
        "{vm,%" PRId64 ",[{<<\"limits.processes\">>,<<\"limits\">>,<<\"processes\">>,"
        "<<\"260,000\">>,<<\"262,144\">>,260000,262144," NOT "," NOT "},"
        "{<<\"cgroup.memory\">>,<<\"cgroup\">>,<<\"memory\">>,<<\"1.75 GiB\">>,<<\"2.00 GiB\">>,"
        "1879048192,2147483648,<<\"bytes\">>,<<\"page cache too; of /sys/fs/cgroup\">>},"
        "{<<\"cgroup.time until limit\">>,<<\"cgroup\">>,<<\"time until limit\">>," NOT "," NOT
        "," NOT "," NOT ",<<\"s\">>," NOT "},"
        "{<<\"os.threads\">>,<<\"os\">>,<<\"threads\">>," NOT "," NOT "," NOT "," NOT "," NOT
        ",<<\"the node has no /proc to read: not Linux, or not mounted\">>},"
        "{<<\"versions.OTP\">>,<<\"versions\">>,<<\"OTP\">>,<<\"27\">>," NOT "," NOT "," NOT "," NOT
        "," NOT "},"
        "{<<\"flags.+S.1\">>,<<\"flags\">>,<<\"+S\">>,<<\"4:4\">>," NOT "," NOT "," NOT "," NOT
        "," NOT "},"
        "{<<\"arguments.-setcookie.2\">>,<<\"arguments\">>,<<\"-setcookie\">>,<<\"(hidden)\">>," NOT
        "," NOT "," NOT "," NOT ",<<\"may be a secret: not shown\">>},"
        "{<<\"arguments.-eval.3\">>,<<\"arguments\">>,<<\"-eval\">>,<<\"odd \\\\x1b[5m\">>," NOT
        "," NOT "," NOT "," NOT "," NOT "}],false}",
        (1000 + tick) * SECOND);
    give(m, QUESTION_VM, &t);
#undef NOT
}

static void give_tables(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(
        &t,
        "{tables,%" PRId64 ",[{<<\"sessions\">>,sessions,<0.41.0>,rabbit_cache,rabbit,1,%d,%d,"
        "<<\"set\">>,<<\"public\">>,<<\"auto\">>,true,true,false,false,1,undefined,undefined,"
        "undefined,undefined,undefined},"
        "{<<\"#Ref<0.1.2.3>\">>,'小売',<0.42.0>,{shop,init,1},shop,1,7,{older,9000000,12500},"
        "<<\"ordered_set\">>,<<\"private\">>,<<\"false\">>,false,false,true,true,2,<0.41.0>,"
        "undefined,undefined,undefined,undefined},"
        "{<<\"#Ref<0.1.2.4>\">>,session,<0.42.0>,{shop,init,1},shop,1,0,2400,<<\"bag\">>,"
        "<<\"protected\">>,<<\"true\">>,false,false,false,false,1,undefined,undefined,undefined,"
        "undefined,undefined},"
        "{<<\"rest of <0.42.0>\">>,undefined,<0.42.0>,{shop,init,1},shop,5118,20472,224395264,"
        "undefined,undefined,undefined,undefined,undefined,undefined,undefined,undefined,undefined,"
        "undefined,undefined,undefined,undefined}"
        "],true}",
        (1000 + tick) * SECOND, 40000 + 700 * tick, 97517568 + 600000 * tick);
    give(m, QUESTION_TABLES, &t);
}

static void give_one_table(struct model *m, const struct want *want, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(
        &t,
        "{one_table,%" PRId64 ",[{<<\"%s\">>,true,sessions,<<\"#Ref<0.1.2.9>\">>,"
        "<<\"ordered_set\">>,<<\"public\">>,<0.41.0>,rabbit_cache,rabbit,<0.42.0>,'小売',%d,%d,"
        "<<\"auto\">>,true,true,false,1,true,62500,3,<0.44.0>,{shop,init,1},"
        "<<\"disc_copies\">>,<<\"shop@a shop@b\">>,<<\"shop@a\">>,<<\"{index,set,[]}\">>,"
        "304}],false}",
        (1000 + tick) * SECOND, want->table, 97517568 + 600000 * tick * tick, 40000 + 700 * tick);
    give(m, QUESTION_ONE_TABLE, &t);
}

static void give_keys(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(&t,
               "{table_keys,%" PRId64 ",[{<<\"{user,7}\">>},{<<\"<<\\\"a key\\\">>\">>},"
               "{<<\"\\e[31m\\n会話\"/utf8>>}],true}",
               (1000 + tick) * SECOND);
    give(m, QUESTION_TABLE_KEYS, &t);
}

static void give_mnesia(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(&t,
               "{mnesia,%" PRId64
               ",[{<<\"4.21.3\">>,running,2,3,<<\"shop@c\">>,<<\"shop@c\">>,12,3,15,%d,4,2,"
               "900,100}],false}",
               (1000 + tick) * SECOND, 5000 + 90 * tick);
    give(m, QUESTION_MNESIA, &t);
}

#define TERM(kind, name, rest)                                                                     \
    "{<<\"" kind " " name "\">>,<<\"" kind "\">>,<<\"" name "\">>," rest "},"
static void give_terms(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(
        &t,
        "{terms,%" PRId64 ",[" TERM("persistent", "others; memory of all",
                                    "undefined,0,undefined,913408,undefined,undefined,undefined")
            TERM("atoms", "others; memory of all",
                 "undefined,%d,1048576,1802240,undefined,undefined,undefined")
                TERM("modules", "others", "undefined,0,undefined,0,undefined,undefined,0")
                    TERM("timers", "start_timer, send_after",
                         "undefined,%d,undefined,%d,undefined,undefined,undefined")
                        TERM("persistent", "{shop_prices,euro}",
                             "shop,1,undefined,undefined,851968,false,undefined")
                            TERM("persistent", "{shop_rules, ...} of 2 elements",
                                 "shop,1,undefined,undefined,undefined,undefined,undefined")
                                TERM("atoms", "session_%d",
                                     "undefined,1,undefined,undefined,undefined,undefined,"
                                     "undefined") TERM("modules", "shop_cart",
                                                       "shop,1,undefined,61440,undefined,undefined,"
                                                       "20480") "{"
                                                                "<<\"modules "
                                                                "lists\">>,<<\"modules\">>,lists,"
                                                                "stdlib,1,undefined,52224,"
                                                                "undefined,undefined,0}],"
                                                                "false}",
        (1000 + tick) * SECOND, 61000 + 240 * tick, 2000 + 10 * tick, 152 * (2000 + 10 * tick),
        tick, tick);
    give(m, QUESTION_TERMS, &t);
}

static void give_holders(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(
        &t,
        "{holders,%" PRId64 ",[{<<\"shop:wait/1 in gen_server:loop/7\">>,{shop,wait,1},shop,"
        "shop_sup,undefined,{gen_server,loop,7},500,1310720,%d,0,931840,500,500,0,12,%d,%d,-4096,0,"
        "0,2800000,<0.41.0>,rabbit_cache,%d},"
        "{<<\"shop:wait/1 in lists:map/2\">>,{shop,wait,1},shop,shop_sup,<<\"odd "
        "\\e[5m\">>,{lists,map,2},2,{older,900000,12500},0,70000,80000,0,2,0,undefined,2,0,0,7,1,"
        "700000,<0.42.0>,undefined,%d},"
        "{<<\"odd:init/"
        "1\">>,{'小売',init,1},undefined,undefined,undefined,undefined,0,0,0,0,0,0,0,"
        "0,undefined,-3,-9000,0,0,0,undefined,undefined,undefined,%d}],%s}",
        (1000 + tick) * SECOND, 100048576 + 1000 * tick, tick, 4096 * tick, 10 * tick, 10 * tick,
        10 * tick, tick > 2 ? "true" : "false");
    give(m, QUESTION_HOLDERS, &t);
}

#define WAITS_FOR(pid, name, call, target, caller, reductions)                                     \
    "{" pid "," name ",undefined," call ",call," target ",1,{gen,do_call,4}," caller               \
    ",waiting,2," reductions ",true,false},"
#define WAITS_LEFT                                                                                 \
    WAITS_FOR("<0.101.0>", "shop_cart", "{shop_cart,init,1}", "<0.102.0>,undefined,undefined",     \
              "{shop_cart,total,1}", "900")
#define WAITS_RIGHT                                                                                \
    WAITS_FOR("<0.102.0>", "shop_price", "{shop_price,init,1}", "<0.101.0>,undefined,undefined",   \
              "{shop_price,of,2}", "800")
#define WAITS_THIRD                                                                                \
    WAITS_FOR("<0.103.0>", "undefined", "{shop_api,'handle-it',2}",                                \
              "<0.101.0>,undefined,undefined", "{shop_api,'handle-it',2}", "70")
#define WAITS_HELD                                                                                 \
    WAITS_FOR("<0.105.0>", "undefined", "{erlang,apply,2}", "<0.104.0>,undefined,undefined",       \
              "undefined", "60")
#define WAITS_SHOWN                                                                                \
    WAITS_FOR("<0.81.0>", "shop_mailbox", "{shop_mailbox,init,1}",                                 \
              "<0.104.0>,undefined,undefined", "{shop_mailbox,take,1}", "60")
#define WAITS_BEHIND                                                                               \
    WAITS_FOR("<0.109.0>", "undefined", "{shop_api,'handle-it',2}",                                \
              "<0.81.0>,shop_mailbox,undefined", "{shop_api,'handle-it',2}", "70")
#define WAITS_OTHER                                                                                \
    WAITS_FOR("<0.107.0>", "undefined", "{erlang,apply,2}", "undefined,store,'b@\\e[5mhost'",      \
              "{shop_sync,run,0}", "60")

/* A deadlock, a suspended server, another node, one of several. */
static void give_waits(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(
        &t,
        "{waits,%" PRId64
        ",[" WAITS_LEFT WAITS_RIGHT WAITS_THIRD WAITS_HELD WAITS_OTHER WAITS_SHOWN WAITS_BEHIND
        "{<0.104.0>,undefined,<<\"held \\e[5m\">>,{shop_stock,init,1},undefined,undefined,"
        "undefined,undefined,0,{sys,suspend_loop,6},undefined,waiting,120052,44,false,true},"
        "{<0.108.0>,'小売',undefined,undefined,pool,undefined,undefined,undefined,4,"
        "{'Elixir.NimblePool','checkout!',4},undefined,waiting,0,44,false,false}],%s}",
        (1000 + tick) * SECOND, tick > 2 ? "true" : "false");
    give(m, QUESTION_WAITS, &t);
}

/* From WORLD_LATE on, a cart more. */
static void give_tree(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(
        &t,
        "{tree,shop,[{0,<0.30.0>,<<\"shop\">>,root,{undefined,{application_master,init,4},0,2688}},"
        "{1,<0.31.0>,<<\"shop_sup\">>,supervisor,{undefined,{supervisor,shop_sup,1},0,21000,"
        "undefined}},"
        "{2,<0.77.0>,<<\"cart_sup\">>,supervisor,{'Elixir.Shop.Cart.Supervisor',{supervisor,x,1},2,"
        "68304}},"
        "{3,<0.512.0>,<<\"{cart,1}\">>,worker,{undefined,{shop_cart,init,1},0,8784,"
        "<<\"cart 1\">>}},%s"
        "{3,undefined,<<\"{cart,2}\">>,worker,undefined},"
        "{3,<0.79.1>,<<\"注文処理\"/utf8>>,worker,{'注文処理プロセス',{shop,init,0},1,21000}},"
        "{2,<0.81.0>,<<\"mailbox\">>,worker,{shop_mailbox,{shop_mailbox,init,1},120044,88000000}},"
        "{2,<0.33.0>,<<\"db\">>,busy,{undefined,undefined,undefined,undefined}}],true}",
        tick < WORLD_LATE ? ""
                          : "{3,<0.600.0>,<<\"{cart,9}\">>,worker,{undefined,undefined,0,8784}},");
    give(m, QUESTION_TREE, &t);
}

/* A VM of two schedulers on one CPU, which it shares, with a quota of which half is used up. */
static void give_threads(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(&t,
               "{threads,%" PRId64 ",default_bind,<<\"0-3\">>,<<\"cpu  0 0 0 %d 0 0 0 %d 0 0\">>,"
               "[<<\"150000 100000\">>],<<\"nr_periods %d\\nnr_throttled %d\\n"
               "throttled_usec %d\\n\">>,[",
               (1000 + tick) * SECOND, 370 * tick, 30 * tick, 10 * tick, 5 * tick, 640000 * tick);
    for (int i = 1; i <= 3; i++)
        buf_printf(&t,
                   "{0,%d,47%d,%s,<<\"%d000000 %d000000 %d\">>,<<\"(x) S %s %d 0 0\">>,"
                   "<<\"voluntary_ctxt_switches:\\t%d\\nnonvoluntary_ctxt_switches:\\t%d\\n\">>},",
                   i, i, i == 1 ? "0" : "undefined", 300 * tick, 200 * i * tick, 9 * tick,
                   "1 2 3 4 5 6 7 8 9 10 1 2 3 4 5 6 7 8 9 20 1 2 3 4 5 6 7 8 9 30 1 2 3 4 5",
                   i == 3 ? tick % 4 : i, 1400 * tick, 250 * i * tick);
    buf_puts(&t, "{1,1,480,undefined,<<\"7 8 9\">>,<<>>,<<>>},"
                 "{2,1,490,undefined,<<>>,<<\"注文\"/utf8>>,<<\"\\e[31m\">>}]}");
    give(m, QUESTION_THREADS, &t);
}

static void give_msacc(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(&t,
               "{msacc,%" PRId64 ",false,1000,[#{type=>scheduler,id=>1,counters=>#{emulator=>%d,"
               "gc=>%d,port=>%d,aux=>0,check_io=>7,other=>0,sleep=>%d}},#{type=>async,id=>0,"
               "counters=>#{emulator=>0,gc=>0,port=>0,aux=>0,check_io=>0,other=>0,sleep=>%d}}]}",
               (1000 + tick) * SECOND, 420 * tick, 310 * tick, 20 * tick, 250 * tick, 1000 * tick);
    give(m, QUESTION_MSACC, &t);
}

/* Three tools at once, and this program's own trace; of many breakpoints the first came. */
static void give_armed(struct model *m, int tick)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(
        &t,
        "{armed,%" PRId64
        ",7,[{<<\"beamtop\">>,true},{<<\"profiler \\e[31m\\n会話\"/utf8>>,false}],"
        "{1204,[{<<>>,send,0,0,[{global,<<\"[{['_',{order,'_'}],[],[]}]\">>}]},"
        "{<<>>,rabbit_channel,handle_method,3,[{local,<<\"[{['$1','_','_'],[{'>',{byte_size,'$1'},"
        "4096}],"
        "[{return_trace}]}]\">>}]},{<<>>,shop_cart,'add item',2,[{call_count,%d},{call_time,%d}]},"
        "{<<>>,'Elixir.Shop.Cart',add,2,[{meta,<<\"<0.412.0> Elixir.Shop.Recorder\">>}]},"
        "{<<>>,on_load,0,0,[{local,<<>>}]},"
        "{<<\"beamtop\">>,shop_cart,add,2,[{local,<<\"[{['_','$1'],[{'>',{get_tcw},0}],[{set_tcw,{'"
        "-',{get_tcw},1}}]}]\">>},"
        "{call_count,%d}]},"
        "{<<\"profiler \\e[31m\\n会話\"/utf8>>,'小売',start,0,[{call_memory,88012}]}]},"
        "{4,[{<<>>,new_processes,<<>>,[procs,call,return_to],<<\"<0.91.0> dbg\">>},"
        "{<<>>,<0.81.0>,<<\"shop_mailbox\">>,[call,timestamp],<<\"<0.91.0> dbg\">>},"
        "{<<\"beamtop\">>,<0.77.0>,<<\"Elixir.Shop.Cart.Supervisor\">>,[call],<<\"<0.9120.4> "
        "beamtop:trace/0\">>},"
        "{<<\"profiler \\e[31m\\n会話\"/utf8>>,<0.512.0>,<<>>,[running,garbage_collection],<<>>}]},"
        "[<<\"system_monitor <0.60.0> rabbit_alarm "
        "[{long_gc,500},{large_heap,1000000},busy_port]\">>],1,<<\"<0.61.0> sequencer\">>,2140}",
        (1000 + tick) * SECOND, 48211 + 7 * tick, 9120044 + 1000 * tick, 41 + tick);
    give(m, QUESTION_ARMED, &t);
}

/* Another beamtop's trace, in the single space; nothing is ours. */
static void give_anothers_armed(struct model *m)
{
    struct buf t;
    buf_init(&t, 0);
    buf_puts(&t, "{armed,5,3,[],{1,[{<<>>,shop_cart,add,2,[{local,<<\"[{'_',[{'>',{get_tcw},0}],"
                 "[{set_tcw,{'-',{get_tcw},1}}]}]\">>},{call_count,41}]}]},"
                 "{1,[{<<>>,<0.77.0>,<<\"Elixir.Shop.Cart.Supervisor\">>,[call,arity],"
                 "<<\"<0.9120.4> beamtop:trace/0\">>}]},[],0,<<>>,0,"
                 "[{<<\"beamtop2@shop.example.net\">>,<0.9101.4>,31}],false}");
    give(m, QUESTION_ARMED, &t);
}

void world_counters(struct model *m, bool ours)
{
    struct buf t;
    buf_init(&t, 0);
    buf_printf(&t,
               "{armed,9,0,[],{1,[{<<>>,shop,sell,1,[{call_count,41}]}]},{0,[]},[],0,<<>>,0,[],%s}",
               ours ? "true" : "false");
    give(m, QUESTION_ARMED, &t);
}

static void give_nothing_armed(struct model *m)
{
    struct buf t;
    buf_init(&t, 0);
    buf_puts(&t, "{armed,5,0,[],{0,[]},{0,[]},[],0,<<>>,0}");
    give(m, QUESTION_ARMED, &t);
}

static void give_text(struct model *m, enum question question, const char *text)
{
    struct buf t;
    buf_init(&t, 0);
    buf_puts(&t, text);
    give(m, question, &t);
}

static void give_copy(struct model *m, enum question question, const struct etf_pid *pid,
                      const char *text)
{
    model_asked(m, question, &(struct process_ref){.pid = *pid});
    give_text(m, question, text);
}

void world_process_ends(struct model *m)
{
    give_text(m, QUESTION_PROCESS, "gone");
}

void world_process_is_large(struct model *m)
{
    give_text(m, QUESTION_PROCESS,
              "{process,1002000000000,<0.81.0>,{shop_mailbox,{shop_mailbox,init,1},undefined,shop,"
              "{proc_lib,init_p,5}},[{status,waiting},{priority,normal},{trap_exit,true},"
              "{group_leader,{<0.30.0>,undefined}},{ancestors,[shop_sup]},{parent,<0.31.0>},"
              "{reductions,5000},{message_queue_len,120544},{message_queue_data,on_heap},"
              "{memory,{older,88000000,42700}},{total_heap_size,{older,10318000,42700}},{heap_size,"
              "6772000},"
              "{stack_size,11},{heap_fragments,0},{garbage_collection,[{minor_gcs,3}]},"
              "{current_function,{gen_server,loop,7}},"
              "{current_location,{gen_server,loop,7,<<>>,0}},{stack,[]},"
              "{links,{1,[{<0.31.0>,shop_sup}]}},{monitors,undefined},{monitored_by,{0,[]}},"
              "{dictionary,undefined},{binary,undefined},{suspending,0}]}");
}

void world_mailbox(struct model *m, const struct etf_pid *pid, bool ask)
{
    give_copy(m, QUESTION_MAILBOX, pid,
              ask ? "{ask,12044,880000}"
                  : "{mailbox,120044,88000000,[{104,<<\"{'$gen_cast',{add,1}}\">>},"
                    "{9000,<<\"{blob,<<\\e[31m1,2,3\">>},{72,<<\"日本語\"/utf8>>}]}");
}

void world_mailbox_refused(struct model *m, const struct etf_pid *pid)
{
    give_copy(m, QUESTION_MAILBOX, pid, "{refused,1204400,88123000}");
}

void world_state(struct model *m, const struct etf_pid *pid, bool ask)
{
    give_copy(m, QUESTION_STATE, pid,
              ask ? "{ask,2720}"
                  : "{state,1048,<<\"#{orders => [{order,1,<<\\\"tea\\\">>},"
                    "{order,2,<<\\\"coffee\\\">>},"
                    "{order,3,<<\\\"日本茶\\\">>}],\\n  total => 41,\\n  limits => "
                    "{limits,100,200,300,400,500}}\"/utf8>>}");
}

void world_collect(struct model *m, const struct etf_pid *pid, bool ask)
{
    give_copy(m, QUESTION_COLLECT, pid,
              ask ? "{ask,3,{27998504,27990000,2000000}}"
                  : "{collected,10400,{27998504,27990000,2000000},{11516520,11515744,500}}");
}

void world_answer(struct model *m, enum world world, const struct want *want, int tick)
{
    if (want->needs & NEED(SCAN))
        give_scan(m, world, &want->scan, tick);
    if (want->needs & NEED(PROCESS)) {
        model_asked(m, QUESTION_PROCESS, &want->process);
        give_process(m, tick);
    }
    if (want->needs & NEED(ALLOC))
        give_alloc(m);
    if (want->needs & NEED(APPS))
        give_apps(m, tick);
    if (world == WORLD_BUSY)
        give_mesh(m);
    if (want->needs & NEED(PORTS))
        give_ports(m, tick);
    if (want->needs & NEED(VM))
        give_vm(m, tick);
    if (want->needs & NEED(TABLES))
        give_tables(m, tick);
    if (want->needs & NEED(ONE_TABLE))
        give_one_table(m, want, tick);
    if (want->needs & NEED(TABLE_KEYS))
        give_keys(m, tick);
    if (want->needs & NEED(MNESIA) && world == WORLD_SMALL)
        give_mnesia(m, tick);
    if (want->needs & NEED(TERMS))
        give_terms(m, tick);
    if (want->needs & NEED(HOLDERS))
        give_holders(m, tick);
    if (want->needs & NEED(WAITS))
        give_waits(m, tick);
    if (want->needs & NEED(HEAPS))
        give_heaps(m, tick);
    if (want->needs & NEED(TREE))
        give_tree(m, tick);
    if (want->needs & NEED(MSACC))
        give_msacc(m, tick);
    if (want->needs & NEED(THREADS))
        give_threads(m, tick);
    if (want->needs & NEED(ARMED) && world == WORLD_SMALL)
        give_nothing_armed(m);
    else if (want->needs & NEED(ARMED) && world == WORLD_ANOTHERS)
        give_anothers_armed(m);
    else if (want->needs & NEED(ARMED))
        give_armed(m, tick);
}

const char *world_row(const struct canvas *c, int row)
{
    static char text[1024];
    size_t at = 0;
    for (int column = 1; column < c->columns && at + 32 < sizeof text; column++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s", canvas_at(c, row, column)->text);
    return text;
}

void world_between(struct model *m, enum world world, const struct want *want, int seconds)
{
    struct error err = {0};
    struct builder *b = builder_new();
    struct buf t;
    size_t len;
    const struct proc_scan *scan = model_scan(m);
    give_system(m, world, 300 + seconds);
    buf_init(&t, 0);
    buf_printf(&t, "{rows,%" PRId64 ",[", (1300 + seconds) * SECOND);
    for (size_t i = 0; i < scan->n_rows; i++) {
        struct proc made;
        char name[40];
        const struct proc *p = proc_at((int)i, &made, name);
        buf_printf(&t, "%s{<0.%d.%d>,", i ? "," : "", p->id, p->serial);
        if (i == 1)
            buf_puts(&t, "gone}");
        else
            values(&t, p, want->scan.items & PROC_ITEMS_AGAIN, 2 + 2 * seconds);
    }
    buf_puts(&t, "]}");
    parse(b, &t);
    const uint8_t *bytes = builder_bytes(b, &len);
    done(b, &t, model_take(m, QUESTION_ROWS, bytes, len, &want->scan, 0, &err), &err);
}

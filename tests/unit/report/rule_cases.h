/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workloads that trigger a rule, and ones close to them that must not: the healthy gateway,
 * changed. */
#ifndef TESTS_STORE_RULE_CASES_H
#define TESTS_STORE_RULE_CASES_H

#include "beamtop/base/attr.h"
#include "beamtop/report/evaluate.h"
#include "../recording/made.h"

#define MIB (1024.0 * 1024)

/* ---- what differs from the healthy gateway */

static void set_fact(struct made *w, const char *key, const char *json)
{
    for (int i = 0; i < w->n_facts; i++)
        if (strcmp(w->facts[i].key, key) == 0) {
            w->facts[i].json = json;
            return;
        }
    w->facts[w->n_facts].key = key;
    w->facts[w->n_facts++].json = json;
}

#define HANDLER(mode, sync, drop)                                                                  \
    "{\"handlers\":[{\"id\":\"default\",\"module\":\"logger_std_h\",\"mode\":" mode                \
    ",\"sync_mode_qlen\":" sync ",\"drop_mode_qlen\":" drop ",\"flush_qlen\":1000}]}"

static void logger_sync(struct made *w)
{
    w->busy[2].share = 0.31;
    w->busy[2].queue = 1;
    set_fact(w, "logger", HANDLER("\"sync\"", "0", "200"));
}
static void logger_async(struct made *w)
{
    w->busy[2].share = 0.08;
    set_fact(w, "logger", HANDLER("\"async\"", "200", "200"));
}
static void logger_overloaded(struct made *w)
{
    w->busy[2].share = 0.25;
    w->busy[2].queue = 12;
    set_fact(w, "logger", HANDLER("\"async\"", "10", "200"));
}
static void logger_in_callers(struct made *w)
{
    w->busy[2].share = 0.2;
    set_fact(w, "logger", HANDLER("null", "null", "null"));
}
#define ELIXIRS(sync)                                                                              \
    "{\"elixir\":{\"version\":\"1.14.0\",\"sync_threshold\":" sync ",\"discard_threshold\":500},"  \
    "\"handlers\":[{\"id\":\"Elixir.Logger\",\"module\":\"Elixir.Logger.Handler\","                \
    "\"process\":\"Elixir.Logger\",\"mode\":null,\"sync_mode_qlen\":null}]}"

static void logger_elixirs(struct made *w)
{
    w->busy[2].share = 0.25;
    set_fact(w, "logger", ELIXIRS("20"));
}
static void logger_elixirs_sync(struct made *w)
{
    w->busy[2].share = 0.25;
    set_fact(w, "logger", ELIXIRS("0"));
}
static void logger_elixirs_overloaded(struct made *w)
{
    logger_elixirs(w);
    w->busy[2].queue = 25;
}
/* The work is that of the first handler's process; the second one counts in its callers. */
static void logger_beside(struct made *w)
{
    w->busy[2].share = 0.25;
    w->busy[2].name = "logger_std_h_default";
    set_fact(w, "logger",
             "{\"handlers\":[{\"id\":\"default\",\"module\":\"logger_std_h\",\"mode\":\"async\","
             "\"process\":\"logger_std_h_default\",\"sync_mode_qlen\":200,\"drop_mode_qlen\":200},"
             "{\"id\":\"counts\",\"module\":\"counts\",\"mode\":null,\"sync_mode_qlen\":null}]}");
}
#define WAITED_FOR(waiters, for_s)                                                                 \
    "{\"deadlocks\":[],\"processes\":[{\"pid\":\"<0.90.0>\",\"name\":\"shop_pool\",\"kind\":null," \
    "\"function\":\"gen_server:loop/7\",\"waiters\":" waiters                                      \
    ",\"behind\":20,\"message_queue_len\":0,"                                                      \
    "\"for_s\":" for_s "}],\"waiting\":20,\"for_unknown\":0,\"partial\":false}"
#define DEADLOCK(for_s)                                                                            \
    "{\"deadlocks\":[{\"pid\":\"<0.91.0>\",\"cycle\":\"shop_cart -> shop_stock -> shop_cart\","    \
    "\"processes\":2,\"behind\":3,\"for_s\":" for_s "}],\"processes\":[]}"

static void one_is_waited_for(struct made *w)
{
    set_fact(w, "waited_for", WAITED_FOR("14", "20.7"));
}
static void few_wait_for_one(struct made *w)
{
    set_fact(w, "waited_for", WAITED_FOR("10", "20.7"));
}
static void waited_for_once(struct made *w)
{
    set_fact(w, "waited_for", WAITED_FOR("14", "0"));
}
static void two_wait_for_each_other(struct made *w)
{
    set_fact(w, "waited_for", DEADLOCK("10.1"));
}
static void cycle_is_new(struct made *w)
{
    set_fact(w, "waited_for", DEADLOCK("4.9"));
}
static void nobody_looked(struct made *w)
{
    set_fact(w, "waited_for", "{}");
}
#define CLOSED(sockets)                                                                            \
    "{\"owners\":[{\"pid\":\"\",\"owner\":\"cowboy_clear:init/1\",\"application\":\"shop\","       \
    "\"remote_host\":\"10.0.0.7\",\"sockets\":" sockets ",\"for_s\":61}],\"partial\":false}"
static void sockets_are_closed(struct made *w)
{
    set_fact(w, "closed_sockets", CLOSED("40"));
}
static void few_sockets_are_closed(struct made *w)
{
    set_fact(w, "closed_sockets", CLOSED("30"));
}
static void nobody_looked_at_ports(struct made *w)
{
    set_fact(w, "closed_sockets", "{}");
}
#define MNESIA_CUT(for_s)                                                                          \
    "{\"cut_nodes\":\"b@h\",\"running_nodes\":1,\"schema_nodes\":2,\"for_s\":" for_s "}"
static void mnesia_is_cut(struct made *w)
{
    set_fact(w, "mnesia", MNESIA_CUT("60"));
}
static void mnesia_joins(struct made *w)
{
    set_fact(w, "mnesia", MNESIA_CUT("30"));
}
static void nobody_looked_at_mnesia(struct made *w)
{
    set_fact(w, "mnesia", "{}");
}
static void set_waits(struct made *w, const char *json)
{
    set_fact(w, "waits", json);
    w->facts[w->n_facts - 1].tick = 3;
}
/* The work is elsewhere; what callers wait for is the log. */
static void logger_waited_for(struct made *w)
{
    w->busy[2].share = 0.03;
    set_fact(w, "logger", HANDLER("\"async\"", "10", "200"));
    set_waits(w, "{\"moments\":120,\"logger\":90,\"calls\":60,\"running\":50}");
}
/* Most callers wait for something else. */
static void logger_hidden(struct made *w)
{
    w->busy[2].share = 0.03;
    set_waits(w, "{\"moments\":120,\"logger\":90,\"calls\":900,\"running\":50}");
}
/* Nearly all do. */
static void logger_hidden_by_more(struct made *w)
{
    w->busy[2].share = 0.03;
    set_waits(w, "{\"moments\":120,\"logger\":90,\"calls\":9000,\"running\":50}");
}
static void logger_alone(struct made *w)
{
    w->busy[2].share = 0.09;
    set_fact(w, "logger", HANDLER("\"sync\"", "0", "200"));
}
/* The process that writes its file has no name. */
static void logger_and_file(struct made *w)
{
    logger_alone(w);
    w->busy[4] = w->busy[3];
    w->busy[4].pid = "<0.45.0>";
    w->busy[4].name = "undefined";
    w->busy[4].call = "erlang,apply,2";
    w->busy[4].share = 0.037;
    w->n_busy = 5;
    set_fact(w, "kin",
             "{\"processes\":[{\"pid\":\"<0.45.0>\","
             "\"near\":\"linked to logger_std_h_default\"}]}");
}
/* Nothing of its process is known. */
static void logger_out_of_sight(struct made *w)
{
    logger_waited_for(w);
    w->n_busy = 2;
}
static void logger_waited_for_little(struct made *w)
{
    set_waits(w, "{\"moments\":1200,\"logger\":30,\"calls\":20,\"running\":20}");
}
static void logger_among_much(struct made *w)
{
    set_waits(w, "{\"moments\":120,\"logger\":30,\"calls\":300,\"running\":200}");
}
static void logger_busy_async(struct made *w)
{
    w->busy[2].share = 0.25;
}

static void queue_long(struct made *w)
{
    w->run_queue = 9;
    w->longest = 5;
    w->use = 0.95;
}
static void queue_full(struct made *w)
{
    w->run_queue = 2;
    w->longest = 1;
    w->use = 0.95;
}
static void idle(struct made *w)
{
    w->run_queue = w->longest = 0;
    w->use = 0.1;
}
static void starve(struct made *w, const char *then)
{
    for (int i = 0; i < w->n_facts; i++)
        if (strcmp(w->facts[i].key, "cpus") == 0 && w->facts[i].tick > 0)
            w->facts[i].json = then;
}
static void starved_by_others(struct made *w)
{
    starve(w, MADE_CPUS("100000000", "50000000", "0", "0"));
}
static void starved_by_quota(struct made *w)
{
    starve(w, MADE_CPUS("100000000", "50000000", "20000000", "40000000"));
}
static void starved_by_steal(struct made *w)
{
    starve(w, MADE_CPUS("100000000", "5000000", "30000000", "0"));
}
static void starved_little(struct made *w)
{
    starve(w, MADE_CPUS("100000000", "16000000", "8000000", "7000000"));
}
static void starved_for_a_moment(struct made *w)
{
    starve(w, MADE_CPUS("20000000", "20000000", "8000000", "7000000"));
}

/* Active in 90% of the time, on a CPU in half of it; and ready to run in the rest. */
static void blocked_within(struct made *w)
{
    w->use = 0.9;
}
static void ready_for_the_rest(struct made *w)
{
    blocked_within(w);
    starve(w, MADE_CPUS("100000000", "60000000", "0", "0"));
}
static void stolen_for_the_rest(struct made *w)
{
    blocked_within(w);
    starve(w, MADE_CPUS("100000000", "5000000", "30000000", "0"));
}
static void two_of_four_online(struct made *w)
{
    blocked_within(w);
    starve(w, "{\"mono_us\":100000000,\"schedulers\":4,\"run_us\":170000000,\"wait_us\":5000000}");
}

static void late_often(struct made *w)
{
    w->late_ms = 1200;
    w->late_every = 2;
}
static void late_once(struct made *w)
{
    w->late_ms = 2000;
    w->late_every = w->ticks;
}
static void late_half(struct made *w)
{
    w->late_ms = 600;
    w->late_every = w->ticks;
}
static void late_on_a_full_host(struct made *w)
{
    late_often(w);
    starve(w, MADE_CPUS("100000000", "150000000", "0", "0"));
}
static void late_for_long_on_a_full_host(struct made *w)
{
    w->late_ms = 25000;
    w->late_every = w->ticks;
    starve(w, MADE_CPUS("100000000", "150000000", "0", "0"));
}
/* Whether the host lacked CPUs is known a minute later. */
static void in_the_first_minute(struct made *w)
{
    for (int i = 0; i < w->n_facts; i++)
        if (strcmp(w->facts[i].key, "cpus") == 0 && w->facts[i].tick > 0)
            w->facts[i].key = "unused";
}
static void late_in_the_first_minute(struct made *w)
{
    late_often(w);
    in_the_first_minute(w);
}
static void late_little(struct made *w)
{
    w->late_ms = 400;
    w->late_every = 1;
}
static void io_blocked(struct made *w)
{
    w->blocked_from = 6;
    w->blocked_to = w->ticks;
}
static void io_was_blocked(struct made *w)
{
    w->blocked_from = 4;
    w->blocked_to = 10;
}
static void io_blocked_for_long(struct made *w)
{
    w->ticks = 40;
    w->blocked_from = 4;
    w->blocked_to = 37;
}
static void io_blocked_for_a_moment(struct made *w)
{
    w->blocked_from = 4;
    w->blocked_to = 6;
}
static void one_queue(struct made *w)
{
    w->run_queue = 8;
    w->longest = 8;
    w->busy[1].share = 0.1;
}
/* The work is even: the host may have kept the other scheduler from its core. */
static void one_queue_of_equals(struct made *w)
{
    one_queue(w);
    w->busy[1].share = 0.3;
}
static void one_queue_at_first(struct made *w)
{
    one_queue(w);
    in_the_first_minute(w);
}
static void one_queue_of_a_full_host(struct made *w)
{
    one_queue(w);
    starved_by_others(w);
}
/* Of little work a third waits. */
static void starved_at_little_work(struct made *w)
{
    starve(w, "{\"mono_us\":100000000,\"schedulers\":2,\"run_us\":30000000,\"wait_us\":15000000}");
}
/* More schedulers than CPUs, and next to nothing to do. */
static void logger_waited_for_at_rest(struct made *w)
{
    logger_waited_for(w);
    starve(w, "{\"mono_us\":100000000,\"schedulers\":16,\"run_us\":24000000,\"wait_us\":8000000}");
}
static void one_queue_at_little_work(struct made *w)
{
    one_queue(w);
    starved_at_little_work(w);
}
static void one_queue_for_a_moment(struct made *w)
{
    one_queue(w);
    starved_for_a_moment(w);
}
static void queue_long_on_a_full_host(struct made *w)
{
    queue_long(w);
    starved_by_others(w);
}
static void logger_waited_for_on_a_full_host(struct made *w)
{
    logger_waited_for(w);
    starved_by_others(w);
}
static void logger_overloaded_on_a_full_host(struct made *w)
{
    logger_overloaded(w);
    starved_by_others(w);
}
/* Busy by itself, and it lacks an eighth of what it could use. */
static void queue_long_that_lacks_a_little(struct made *w)
{
    queue_long(w);
    starve(w, "{\"mono_us\":100000000,\"schedulers\":2,\"run_us\":170000000,\"wait_us\":24000000}");
}
static void queue_long_at_first(struct made *w)
{
    queue_long(w);
    in_the_first_minute(w);
}
static void logger_waited_for_at_first(struct made *w)
{
    logger_waited_for(w);
    in_the_first_minute(w);
}
static void logger_overloaded_at_first(struct made *w)
{
    logger_overloaded(w);
    in_the_first_minute(w);
}
static void logger_sync_at_first(struct made *w)
{
    logger_sync(w);
    in_the_first_minute(w);
}
static void forget_fact(struct made *w, const char *key)
{
    for (int i = 0; i < w->n_facts; i++)
        if (strcmp(w->facts[i].key, key) == 0)
            w->facts[i--] = w->facts[--w->n_facts];
}
/* As an earlier version recorded it, or another system. */
static void queue_long_without_cpus(struct made *w)
{
    queue_long(w);
    forget_fact(w, "cpus");
}
static void logger_waited_for_without_cpus(struct made *w)
{
    logger_waited_for(w);
    forget_fact(w, "cpus");
}
static void logger_sync_on_a_full_host(struct made *w)
{
    logger_sync(w);
    starved_by_others(w);
}
static void even_queues(struct made *w)
{
    w->run_queue = 8;
    w->longest = 4;
}

static void mailbox_grows(struct made *w)
{
    w->busy[0].queue = 10;
    w->busy[0].queue_step = 500;
}
static void mailbox_of_nobody_grows(struct made *w)
{
    mailbox_grows(w);
    w->busy[0].call = "erlang,apply,2";
    set_fact(w, "kin",
             "{\"processes\":[{\"pid\":\"<0.41.0>\","
             "\"near\":\"linked to logger_std_h_default\"}]}");
}
/* A burst at the start, and one that is emptied now and then. */
static void mailbox_was_long(struct made *w)
{
    w->busy[0].queue = 6000;
    w->busy[0].queue_step = -500;
}
static void mailbox_explodes(struct made *w)
{
    w->busy[0].queue_step = 5000;
}
static void mailbox_short(struct made *w)
{
    w->busy[0].queue_step = 2;
}
static void serialised(struct made *w)
{
    w->busy[0].queue = 40;
    w->busy[0].share = 0.7;
    w->use = 0.7;
}
static void serialised_on_a_full_host(struct made *w)
{
    serialised(w);
    starved_by_others(w);
}
static void mailbox_grows_on_a_full_host(struct made *w)
{
    mailbox_grows(w);
    starved_by_others(w);
}
static void handles_nothing(struct made *w)
{
    w->busy[0].queue = 20000;
    w->busy[0].share = 0;
}
static void many_at_few_looks(struct made *w)
{
    handles_nothing(w);
    w->ticks = 60;
    w->scan_every = 20;
}
static void less_at_few_looks(struct made *w)
{
    many_at_few_looks(w);
    w->busy[0].queue = 5000;
}
static void huge_at_two_looks(struct made *w)
{
    many_at_few_looks(w);
    w->scan_every = 30;
    w->busy[0].queue = 200000;
}
static void less_at_two_looks(struct made *w)
{
    huge_at_two_looks(w);
    w->busy[0].queue = 50000;
}
static void works_at_two_looks(struct made *w)
{
    huge_at_two_looks(w);
    w->busy[0].share = 0.3;
}
/* With few rows, as it does nothing. */
static void huge_of_another(struct made *w)
{
    w->busy[1] = w->busy[0];
    w->busy[1].pid = "<0.42.0>";
    w->busy[1].queue = 200000;
    w->busy[1].share = 0;
    w->n_busy = 2;
    w->ticks = 60;
    w->scan_every = 5;
    w->second_away = 10;
    w->second_back = 60;
}
/* Maybe two batches. */
static void huge_now_and_then(struct made *w)
{
    huge_of_another(w);
    w->busy[1].share = 0.3;
}
/* A recording of a node that starts: the next rows would be later than its end. */
static void many_at_first(struct made *w)
{
    handles_nothing(w);
    w->ticks = 60;
    w->scan_until = 3;
}
static void drains_at_few_looks(struct made *w)
{
    many_at_few_looks(w);
    w->busy[0].queue = 100000;
    w->busy[0].queue_step = -1000;
}
static void grows_at_few_looks(struct made *w)
{
    many_at_few_looks(w);
    w->busy[0].queue_step = 1000;
}
static void waits_in_a_call(struct made *w)
{
    w->busy[0].queue = 20000;
    w->busy[0].share = 0;
    w->busy[0].current = "gen,do_call,4";
}
static void suspended(struct made *w)
{
    handles_nothing(w);
    w->busy[0].current = "sys,suspend_loop_hib,6";
}
static void suspended_on_a_full_host(struct made *w)
{
    suspended(w);
    starved_by_others(w);
}
static void suspended_with_few(struct made *w)
{
    suspended(w);
    w->busy[0].queue = 2;
    w->busy[0].current = "sys,suspend_loop,6";
}
static void suspended_with_none(struct made *w)
{
    suspended_with_few(w);
    w->busy[0].queue = 0;
}
static void few_before_an_idle_one(struct made *w)
{
    handles_nothing(w);
    w->busy[0].queue = 7;
}
/* For the last half minute; the other for less. */
static void few_before_one_seen_late(struct made *w)
{
    w->ticks = 60;
    w->busy[1].queue = 7;
    w->busy[1].share = 0;
    w->second_from = 30;
}
static void few_before_one_seen_later(struct made *w)
{
    few_before_one_seen_late(w);
    w->second_from = 40;
}
static void few_before_one_that_works(struct made *w)
{
    w->busy[0].queue = 3;
}
static void waits_for_one_that_is_known(struct made *w)
{
    waits_in_a_call(w);
    set_fact(w, "kin",
             "{\"processes\":[],\"callers\":[{\"pid\":\"<0.41.0>\",\"waits_for\":\"shop_db\"}]}");
}
static void waits_for_another_node(struct made *w)
{
    waits_in_a_call(w);
    set_fact(w, "kin",
             "{\"processes\":[],\"callers\":[{\"pid\":\"<0.41.0>\",\"waits_for\":\"db\","
             "\"node\":\"other@host\"}]}");
}
static void waits_for_a_label(struct made *w)
{
    waits_in_a_call(w);
    set_fact(w, "kin",
             "{\"processes\":[],\"callers\":[{\"pid\":\"<0.41.0>\",\"waits_for\":\"{db,1}\","
             "\"called\":\"<0.99.0>\"}]}");
}
/* Each request asks a slow process, and others come as fast as it answers. */
static void waits_for_one_that_is_slow(struct made *w)
{
    waits_for_one_that_is_known(w);
    w->busy[0].queue = 20;
    w->busy[0].share = 0.02;
    w->seed = 1;
    w->jitter = 0.2;
}
static void calls_one_that_is_quick(struct made *w)
{
    waits_for_one_that_is_slow(w);
    w->busy[0].share = 0.6;
}
static void holds_much_and_handles_nothing(struct made *w)
{
    handles_nothing(w);
    w->busy[0].memory = 20 * MIB;
}
static void mailbox_of_large_messages_grows(struct made *w)
{
    mailbox_grows(w);
    w->busy[0].memory = 20 * MIB;
}
static void too_many_that_are_not_handled(struct made *w)
{
    handles_nothing(w);
    w->busy[0].queue = 60000;
}
static void mailbox_of_suspended(struct made *w)
{
    mailbox_grows(w);
    w->busy[0].current = "sys,suspend_loop_hib,6";
}
static void mailbox_of_a_caller(struct made *w)
{
    mailbox_grows(w);
    w->busy[0].current = "gen,do_call,4";
}
static void waiting_little(struct made *w)
{
    w->busy[0].queue = 2;
}

static void sleeps_on(struct made *w)
{
    w->busy[0].queue = 12;
    w->busy[0].share = 0;
    w->busy[0].current = "erlang,hibernate,3";
}
static void sleeps_and_is_sent_more(struct made *w)
{
    sleeps_on(w);
    w->busy[0].queue_step = 100;
}
static void sleeps_on_27(struct made *w)
{
    sleeps_on(w);
    w->busy[0].queue = 1;
    w->otp = "27";
    w->erts = "15.2.7";
}
static void sleeps_on_28(struct made *w)
{
    sleeps_on(w);
    w->otp = "28";
    w->erts = "16.2";
    w->busy[0].current = "gen_server,loop_hibernate,4";
}
static void sleeps_on_mended_27(struct made *w)
{
    sleeps_on(w);
    w->otp = "27";
    w->erts = "15.2.7.6";
}
static void sleeps_on_mended_28(struct made *w)
{
    sleeps_on(w);
    w->otp = "28";
    w->erts = "16.2.1";
}
static void sleeps_for_nobody(struct made *w)
{
    sleeps_on(w);
    w->busy[0].queue = 0;
}
static void waits_for_its_answer(struct made *w)
{
    sleeps_on(w);
    w->busy[0].current = "gen,do_call,4";
}
static void wakes_now_and_then(struct made *w)
{
    sleeps_on(w);
    w->busy[0].share = 2000 / w->reductions_per_s;
}
static void suspended_asleep(struct made *w)
{
    sleeps_on(w);
    w->busy[0].share = 0.3;
}

static void ets_grows(struct made *w)
{
    w->ets_step = w->total_step = 4 * MIB;
    set_fact(w, "ets",
             "{\"tables\":[{\"name\":\"sessions\",\"owner\":\"shop\",\"memory_bytes\":50000000}]}");
}
#define SESSIONS(bytes) "{\"name\":\"sessions\",\"owner\":\"shop\",\"memory_bytes\":" bytes "}"
static void ets_is_held(struct made *w)
{
    w->ets = 110e6;
    w->total = 300e6;
    set_fact(w, "ets", "{\"tables\":[" SESSIONS("97000000") "]}");
}
static void ets_is_held_by_several(struct made *w)
{
    ets_is_held(w);
    set_fact(w, "ets", "{\"tables\":[" SESSIONS("30000000") "," SESSIONS("20000000") "]}");
}
/* Many small parts of large ones. */
#define SMALL_PARTS(bytes)                                                                         \
    "{\"looked_at\":4500,\"partial\":false,\"memory\":[],\"binaries\":[{\"initial_call\":"         \
    "\"erlang:apply/2\",\"function\":\"shop:wait/1\",\"supervisor\":null,\"processes\":500,"       \
    "\"memory_bytes\":1300000,\"binaries\":500,\"pid\":\"<0.90.0>\",\"name\":null,"                \
    "\"binary_bytes\":" bytes "}]}"
static void binaries_are_held(struct made *w)
{
    w->binary = 101e6;
    w->total = 300e6;
    set_fact(w, "held", SMALL_PARTS("100000000"));
}
static void binaries_are_of_many(struct made *w)
{
    binaries_are_held(w);
    set_fact(w, "held", SMALL_PARTS("33000000"));
}
/* 500 refer to one binary, so it counts 500 times. */
static void binaries_are_shared(struct made *w)
{
    binaries_are_held(w);
    set_fact(w, "held", SMALL_PARTS("4000000000"));
}
static void ets_is_of_many(struct made *w)
{
    ets_is_held(w);
    set_fact(w, "ets", "{\"tables\":[" SESSIONS("33000000") "]}");
}
static void binaries_grow(struct made *w)
{
    w->binary_step = w->total_step = 4 * MIB;
    set_fact(w, "binaries",
             "{\"bytes\":50000000,\"holders\":[{\"pid\":\"<0.41.0>\",\"name\":\"cache\","
             "\"initial_call\":\"cache:init/1\",\"bytes\":10000000,\"binaries\":9}]}");
}
/* Of 48 MiB none has much. */
static void binaries_of_none_grow(struct made *w)
{
    binaries_grow(w);
    set_fact(w, "binaries",
             "{\"bytes\":50000000,\"holders\":[{\"pid\":\"<0.41.0>\",\"name\":\"cache\","
             "\"initial_call\":\"cache:init/1\",\"bytes\":3000000,\"binaries\":9}]}");
}
static void processes_grow(struct made *w)
{
    w->of_processes_step = w->total_step = 4 * MIB;
    w->busy[0].memory_step = 2 * MIB;
    w->busy[1].memory_step = 4 * MIB;
}
/* Persistent terms, or memory of a NIF: in no type. */
static void untyped_grows(struct made *w)
{
    w->total_step = 4 * MIB;
}
static void untyped_grows_less_than_ets(struct made *w)
{
    w->ets_step = 4 * MIB;
    w->total_step = 6 * MIB;
}
/* Timers: no process has them. */
static void timers_grow(struct made *w)
{
    w->of_processes_step = w->total_step = 4 * MIB;
    w->busy[0].memory_step = 50e3;
}
/* An eighth of it is of one process, and an eighth makes nobody the cause. */
static void timers_grow_beside(struct made *w)
{
    timers_grow(w);
    w->busy[0].memory_step = 500e3;
}
/* 18 like the one that is given. */
static void add_alike(struct made *w, struct made_process like)
{
    for (int i = 0; i < 18; i++) {
        static const char *const pids[] = {
            "<0.51.0>", "<0.52.0>", "<0.53.0>", "<0.54.0>", "<0.55.0>", "<0.56.0>",
            "<0.57.0>", "<0.58.0>", "<0.59.0>", "<0.60.0>", "<0.61.0>", "<0.62.0>",
            "<0.63.0>", "<0.64.0>", "<0.65.0>", "<0.66.0>", "<0.67.0>", "<0.68.0>"};
        w->busy[w->n_busy] = like;
        w->busy[w->n_busy++].pid = pids[i];
    }
}
/* None by itself, all of a kin. */
static void kin_grows(struct made *w)
{
    w->of_processes_step = w->total_step = 4 * MIB;
    for (int i = 0; i < 2; i++)
        w->busy[i].memory_step = MIB / 20;
    struct made_process like = w->busy[1];
    like.share = 0.01;
    like.memory_step = MIB / 5;
    add_alike(w, like);
}
/* Half of them were started by one function of the module, half by another. */
static void module_grows(struct made *w)
{
    kin_grows(w);
    for (int i = 0; i < w->n_busy; i += 2)
        if (w->busy[i].memory_step > 0)
            w->busy[i].call = "gateway,accept,1";
}
static struct made_process a_fun(double share)
{
    return (struct made_process){
        "", "undefined", "erlang,apply,2", "undefined", "shop,spin,1", share, 0, 0, 1e5, 0};
}
/* Of no application; the module `erlang` says nothing. */
static void kin_of_funs_grows(struct made *w)
{
    w->of_processes_step = w->total_step = 4 * MIB;
    struct made_process like = a_fun(0.01);
    w->funs = "<<\"shop_worker\">>";
    like.memory_step = MIB / 5;
    add_alike(w, like);
}
/* Less than a third of all growth, all that its module grows, which is that of any server. */
static void one_of_a_module_grows(struct made *w)
{
    w->of_processes_step = w->total_step = 4 * MIB;
    w->busy[1].call = "gen_server,loop,7";
    w->busy[1].memory_step = MIB;
}
/* Memory that comes at the start and stays. */
static void memory_grows_little(struct made *w)
{
    w->ets_step = w->total_step = 10000;
}

static void few_holders(struct made *w)
{
    w->binary = 200 * MIB;
    set_fact(w, "binaries",
             "{\"bytes\":209715200,\"holders\":[{\"pid\":\"<0.41.0>\",\"name\":\"cache\","
             "\"initial_call\":\"cache:init/1\",\"bytes\":180000000,\"binaries\":900}]}");
}
static void carriers_empty(struct made *w)
{
    set_fact(w, "allocators",
             "{\"allocators\":[{\"name\":\"binary_alloc\",\"blocks_bytes\":40000000,"
             "\"carriers_bytes\":900000000}]}");
}
static void carriers_of_rss(struct made *w)
{
    w->rss = 1200 * MIB;
    set_fact(w, "allocators",
             "{\"allocators\":[{\"name\":\"eheap_alloc\",\"blocks_bytes\":100000000,"
             "\"carriers_bytes\":1000000000},{\"name\":\"ll_alloc\",\"blocks_bytes\":9000000,"
             "\"carriers_bytes\":10000000}],\"instances\":[{\"name\":\"eheap_alloc\","
             "\"instance\":2,\"blocks_bytes\":10000000,\"carriers_bytes\":800000000}],"
             "\"rss_bytes\":1258291200,\"fragmented_bytes\":901000000}");
}
/* As much, of a node that has four times as much resident. */
static void carriers_of_more_rss(struct made *w)
{
    carriers_of_rss(w);
    w->rss = 4800 * MIB;
    set_fact(w, "allocators",
             "{\"allocators\":[{\"name\":\"eheap_alloc\",\"blocks_bytes\":3000000000,"
             "\"carriers_bytes\":3900000000}]}");
}
static void carriers_small(struct made *w)
{
    set_fact(w, "allocators",
             "{\"allocators\":[{\"name\":\"binary_alloc\",\"blocks_bytes\":1000000,"
             "\"carriers_bytes\":9000000}]}");
}
static void little_resident(struct made *w)
{
    forget_fact(w, "allocators");
}
static void much_resident(struct made *w)
{
    forget_fact(w, "allocators");
    w->rss = 2 * 1024 * MIB;
}
static void processes_near(struct made *w)
{
    w->processes = 250000;
}
/* The limit of tables is a hint. */
static void tables_beyond(struct made *w)
{
    w->tables = 50023;
}
static void atoms_soon(struct made *w)
{
    w->atoms = 600000;
    w->atoms_step = 100;
}
static void atoms_steady(struct made *w)
{
    w->atoms = 700000;
}

static void set_call(struct made *w, const char *module, const char *function, int64_t arity,
                     int64_t calls)
{
    w->calls[w->n_calls++] = (struct made_call){module, function, arity, calls};
}
static void registry_in_database(struct made *w)
{
    set_call(w, "Elixir.Gateway.Schemas", "get", 1, 4000);
    set_call(w, "Elixir.Gateway.Schemas", "prepare_query", 3, 4000);
    set_call(w, "Elixir.Gateway.Schemas", "default_options", 1, 4000);
    set_call(w, "Elixir.Gateway.Schemas", "prepare_opts", 2, 4000);
}
static void registry_in_ets(struct made *w)
{
    set_call(w, "Elixir.Gateway.Schemas", "get", 1, 2900);
}
/* The model case: a registry that is a front of a repository, 87 % reads. */
static void registry_in_front(struct made *w)
{
    w->n_calls = 1;
    set_call(w, "gateway_schemas", "fetch", 3, 870);
    set_call(w, "gateway_schemas", "register", 4, 130);
    set_call(w, "'Elixir.Gateway.Repo'", "get", 3, 870);
    set_call(w, "'Elixir.Gateway.Repo'", "insert", 2, 130);
    set_call(w, "gen_server", "call", 2, 1000);
    set_call(w, "logger_config", "get", 2, 860);
    set_call(w, "my_config", "get", 1, 600);
    set_fact(w, "repositories", "[\"Elixir.Gateway.Repo\"]");
}
/* A get that calls one: the same reads, counted by two functions. */
static void registry_gets_one(struct made *w)
{
    w->n_calls = 1;
    set_call(w, "Elixir.Gateway.Schemas", "get", 1, 904);
    set_call(w, "Elixir.Gateway.Schemas", "one", 1, 904);
    set_call(w, "Elixir.Gateway.Schemas", "insert", 1, 135);
    set_fact(w, "repositories", "[\"Elixir.Gateway.Schemas\"]");
}
/* As many of each, but not of one another. */
static void registry_prepares(struct made *w)
{
    registry_gets_one(w);
    set_call(w, "Elixir.Gateway.Schemas", "all", 2, 1100);
    set_call(w, "Elixir.Gateway.Schemas", "prepare_query", 3, 1100);
    set_call(w, "Elixir.Gateway.Schemas", "default_options", 1, 1235);
}
/* Two reads in each request, neither of which calls the other. */
static void registry_reads_twice(struct made *w)
{
    w->n_calls = 1;
    set_call(w, "Elixir.Gateway.Schemas", "prepare_query", 3, 1600);
    set_call(w, "Elixir.Gateway.Schemas", "default_options", 1, 2000);
    set_call(w, "Elixir.Gateway.Schemas", "all", 2, 800);
    set_call(w, "Elixir.Gateway.Schemas", "aggregate", 4, 800);
    set_call(w, "Elixir.Gateway.Schemas", "insert", 1, 400);
    set_fact(w, "repositories", "[\"Elixir.Gateway.Schemas\"]");
}
/* The least that is to be found: a hundred operations a second. */
static void registry_at_a_low_rate(struct made *w)
{
    w->n_calls = 1;
    set_call(w, "gateway_schemas", "fetch", 3, 87);
    set_call(w, "'Elixir.Gateway.Repo'", "get", 3, 87);
    set_call(w, "'Elixir.Gateway.Repo'", "one", 2, 87);
    set_call(w, "'Elixir.Gateway.Repo'", "insert", 2, 13);
    set_fact(w, "repositories", "[\"Elixir.Gateway.Repo\"]");
}
static void registry_before_table(struct made *w)
{
    w->n_calls = 1;
    set_call(w, "gateway_schemas", "fetch", 3, 870);
    set_call(w, "gateway_schemas", "register", 4, 130);
    set_call(w, "ets", "lookup", 2, 870);
    set_call(w, "'Elixir.Gateway.Repo'", "insert", 2, 130);
    set_fact(w, "repositories", "[\"Elixir.Gateway.Repo\"]");
}
static void requests(struct made *w)
{
    set_call(w, "gateway_http", "handle", 1, 460);
    set_call(w, "io", "request", 2, 9000);
    set_call(w, "gateway_out", "request", 2, 9000);
}
static void no_reads(struct made *w)
{
    w->n_calls = 1; /* stages alone */
    w->calls[0].calls = 50;
}
static void many_stages(struct made *w)
{
    w->calls[0].calls = 80000;
}
static void few_stages(struct made *w)
{
    w->calls[0].calls = 30;
}
static void asked_process(struct made *w)
{
    set_call(w, "settings", "get", 1, 30000);
    set_call(w, "gen_server", "call", 2, 30000);
}
static void written_often(struct made *w)
{
    set_call(w, "settings", "get", 1, 30000);
    set_call(w, "settings", "put", 2, 9000);
    set_call(w, "gen_server", "call", 2, 39000);
}
static void switched(struct made *w)
{
    set_call(w, "Elixir.Gateway.Repo", "put_dynamic_repo", 1, 2000);
}
/* Once for each of its 1,000 operations. */
static void switched_for_each(struct made *w)
{
    set_call(w, "Elixir.Gateway.Repo", "put_dynamic_repo", 1, 1000);
}
static void switched_seldom(struct made *w)
{
    set_call(w, "Elixir.Gateway.Repo", "put_dynamic_repo", 1, 20);
}

static void link_busy(struct made *w)
{
    set_fact(w, "distribution",
             "{\"busy_limit_bytes\":1048576,\"nodes\":[{\"node\":\"b@h\","
             "\"queue_bytes\":2000000}]}");
}
static void link_some(struct made *w)
{
    set_fact(w, "distribution",
             "{\"busy_limit_bytes\":1048576,\"nodes\":[{\"node\":\"b@h\","
             "\"queue_bytes\":2000}]}");
}
#define SENDERS(looks, held, now)                                                                  \
    "{\"looks\":" looks ",\"suspended_looks\":" held ",\"suspended\":" now                         \
    ",\"nodes\":[\"b@h\"],\"processes\":[{\"pid\":\"<0.90.0>\","                                   \
    "\"name\":\"publisher\",\"initial_call\":\"erlang:apply/2\"}]}"

static void senders_suspended(struct made *w)
{
    set_fact(w, "senders", SENDERS("12", "9", "7"));
    w->facts[w->n_facts - 1].tick = 3;
}
static void senders_suspended_before(struct made *w)
{
    set_fact(w, "senders", SENDERS("12", "9", "0"));
    w->facts[w->n_facts - 1].tick = 3;
}
static void senders_suspended_once(struct made *w)
{
    set_fact(w, "senders", SENDERS("12", "1", "7"));
    w->facts[w->n_facts - 1].tick = 3;
}
static void much_garbage(struct made *w)
{
    w->gcs_per_s = 150000;
}
/* A server whose heap is small: one for each thousand reductions. */
static void garbage_usual(struct made *w)
{
    w->gcs_per_s = 16000;
}
static void garbage_idle(struct made *w)
{
    much_garbage(w);
    w->use = 0.05;
}
static void churn(struct made *w)
{
    w->churn = true;
}
/* What the node says of it comes later. */
static void churn_at_first(struct made *w)
{
    churn(w);
    set_fact(w, "growth", "{}");
}
/* Others at each tick, of processes that stay. */
static void churn_of_many(struct made *w)
{
    churn(w);
    set_fact(w, "growth", "{\"over_s\":12,\"spawned_per_s\":1,\"spawned_lately_per_s\":1}");
}
static void churn_of_a_leak(struct made *w)
{
    churn(w);
    w->processes_step = 10;
}
static void same_processes(struct made *w)
{
    for (int i = 0; i < 10; i++) {
        static const char *const pids[] = {"<0.71.0>", "<0.72.0>", "<0.73.0>", "<0.74.0>",
                                           "<0.75.0>", "<0.76.0>", "<0.77.0>", "<0.78.0>",
                                           "<0.79.0>", "<0.80.0>"};
        w->busy[w->n_busy] = w->busy[1];
        w->busy[w->n_busy].share = 0.01;
        w->busy[w->n_busy++].pid = pids[i];
    }
}
/* ---- single processes */

static void terms_replaced(struct made *w)
{
    w->busy[2] = (struct made_process){"<0.2.0>",
                                       "undefined",
                                       "erts_literal_area_collector,start,0",
                                       "undefined",
                                       "erts_literal_area_collector,msg_loop,4",
                                       0.30,
                                       0,
                                       0,
                                       1e6,
                                       0};
}
static void terms_replaced_by(struct made *w)
{
    terms_replaced(w);
    w->busy[1].name = "span_attrs";
    w->busy[1].current = "persistent_term,put,2";
}
static void terms_replaced_at_a_start(struct made *w)
{
    terms_replaced(w);
    w->busy[2].share = 0.05;
}
static void code_purged(struct made *w)
{
    terms_replaced(w);
    w->busy[2].name = "erts_code_purger";
    w->busy[2].call = "erts_code_purger,start,0";
}
static void code_purged_for(struct made *w)
{
    code_purged(w);
    w->busy[1].name = "plugins";
    w->busy[1].current = "code_server,call,1";
}
/* Half of all reductions are beamtop's. */
static void code_purged_on_an_idle_node(struct made *w)
{
    code_purged(w);
    w->busy[2].share = 0.08;
    w->own_per_s = w->reductions_per_s / 2;
}
static void code_purged_seldom(struct made *w)
{
    code_purged(w);
    w->busy[2].share = 0.08;
}
/* 0.75 of the reductions, at 0.6 of 2 schedulers. */
static void one_process_works(struct made *w)
{
    w->busy[0].share = 0.75;
    w->busy[1].share = 0.10;
}
static void two_share(struct made *w)
{
    w->busy[0].share = 0.45;
    w->busy[1].share = 0.45;
}
/* Funs of all kinds of processes: one of them is the cause, and not the module `erlang`. */
static void queue_long_by_one(struct made *w)
{
    queue_long(w);
    w->busy[0] = (struct made_process){
        "<0.41.0>", "undefined", "erlang,apply,2", "undefined", "shop,spin,1", 0.55, 0, 0, 1e6, 0};
    w->busy[1] = (struct made_process){
        "<0.42.0>", "undefined", "erlang,apply,2", "undefined", "shop,spin,1", 0.20, 0, 0, 1e6, 0};
}
static void queue_long_by_funs(struct made *w)
{
    queue_long_by_one(w);
    w->busy[0].share = w->busy[1].share = 0.25;
}

static void queue_long_by_a_kin(struct made *w)
{
    queue_long(w);
    w->busy[0].share = w->busy[1].share = 0.04;
    w->funs = "<<\"shop_worker\">>";
    add_alike(w, a_fun(0.045));
}

static void code_hot(struct made *w)
{
    w->busy[3].share = 0.08;
    set_call(w, "error_handler", "undefined_function", 3, 500);
}
static void code_some(struct made *w)
{
    w->busy[3].share = 0.01;
}
/* ---- shares of samples */

static void set_run(struct made *w, enum sample_class in, double other, const char *stack,
                    double samples)
{
    w->runs[0] = (struct made_samples){.stacks = {{"plm", other}, {"phc", 1}, {stack, samples}},
                                       .classes = {[SAMPLE_ERLANG] = (int64_t)other + 1}};
    w->runs[0].classes[in] = (int64_t)samples;
}
static void gc_much(struct made *w)
{
    set_run(w, SAMPLE_GC, 699, "plg", 300);
}
/* 26% ± 2.7: may be below the limit. */
static void gc_on_the_limit(struct made *w)
{
    set_run(w, SAMPLE_GC, 739, "plg", 260);
}
static void waits_for_one(struct made *w)
{
    w->requests = (struct made_requests){.n = 20, .own = 4, .queued = 1, .served = 15};
}
static void waits_little(struct made *w)
{
    w->requests = (struct made_requests){.n = 20, .own = 11, .served = 9};
}
static void waits_in_a_queue(struct made *w)
{
    w->requests = (struct made_requests){.n = 60, .own = 4, .queued = 30, .served = 2};
}
static void waits_asleep(struct made *w)
{
    w->requests = (struct made_requests){.n = 20, .own = 4, .served = 1, .slept = 40};
}
static void waits_of_few(struct made *w)
{
    w->requests = (struct made_requests){.n = 12, .served = 40, .open = 3};
}
static void copies_much(struct made *w)
{
    set_run(w, SAMPLE_BIF, 799, "plsct", 200);
}
static void copies_some(struct made *w)
{
    set_run(w, SAMPLE_BIF, 839, "plsct", 160);
}
static void nif_much(struct made *w)
{
    set_run(w, SAMPLE_NIF, 699, "plnt", 300);
}
static void nif_some(struct made *w)
{
    set_run(w, SAMPLE_NIF, 799, "plnt", 200);
}

/* ---- counts that grow: of a minute, with what the node said of their owners */

#define WHO(pid, name, call) "{\"pid\":\"" pid "\",\"name\":" name ",\"initial_call\":\"" call "\"}"
#define GROUP(function, example, spawner)                                                          \
    "{\"alive\":900,\"sampled\":100,\"seen\":95,\"function\":\"" function                          \
    "\",\"example\":" example ",\"spawner\":" spawner ",\"spawned\":90}"
/* clang-format off */
#define SESSION WHO("<0.900.0>", "null", "shop_session:init/1")
#define LOBBY WHO("<0.77.0>", "\"shop_lobby\"", "shop_lobby:init/1")
/* clang-format on */

static void of_a_minute(struct made *w)
{
    w->ticks = 60;
}
static void processes_leak(struct made *w)
{
    of_a_minute(w);
    w->processes_step = 10;
    set_fact(w, "growth", "{\"processes\":" GROUP("gen_server:loop/7", SESSION, LOBBY) "}");
}
static void processes_leak_on_23(struct made *w)
{
    processes_leak(w);
    set_fact(w, "growth", "{\"processes\":" GROUP("shop_session:wait/0", "null", "null") "}");
}
/* Some of each kind, none of which is half. */
static void processes_of_kinds_leak(struct made *w)
{
    processes_leak(w);
    set_fact(w, "growth",
             "{\"processes\":{\"sampled\":100,\"seen\":37,\"function\":\"gen_server:loop/7\","
             "\"example\":" SESSION ",\"spawner\":null,\"spawned\":0}}");
}
static void processes_leak_unseen(struct made *w)
{
    of_a_minute(w);
    w->processes_step = 10;
    w->n_facts--; /* as in a recording of an earlier version */
}
static void processes_leak_fast(struct made *w)
{
    processes_leak(w);
    w->processes_step = 100;
}
static void processes_come(struct made *w)
{
    of_a_minute(w);
    w->processes_step = 1;
}
static void short_ones(struct made *w)
{
    set_fact(w, "growth",
             "{\"over_s\":60,\"spawned_per_s\":2400,\"spawned_lately_per_s\":2300,"
             "\"short_lived\":" GROUP("shop_step:run/0", SESSION, LOBBY) "}");
}
static void short_ones_unseen(struct made *w)
{
    set_fact(w, "growth", "{\"over_s\":60,\"spawned_per_s\":2400,\"spawned_lately_per_s\":2300}");
}
static void short_ones_before(struct made *w)
{
    set_fact(w, "growth", "{\"over_s\":60,\"spawned_per_s\":2400,\"spawned_lately_per_s\":3}");
}
/* Fewer, which do a third of the work. */
static void short_ones_that_work(struct made *w)
{
    set_fact(w, "growth",
             "{\"over_s\":60,\"spawned_per_s\":120,\"spawned_lately_per_s\":110,"
             "\"short_lived\":" GROUP("shop_step:run/0", SESSION, LOBBY) "}");
    set_fact(w, "ended", "{\"reductions\":900000,\"of_ended\":310000}");
}
static void short_ones_that_work_little(struct made *w)
{
    short_ones_that_work(w);
    set_fact(w, "ended", "{\"reductions\":900000,\"of_ended\":50000}");
}
static void short_ones_on_an_idle_node(struct made *w)
{
    short_ones_that_work(w);
    w->use = 0.01;
    w->noise = 0;
}
/* Of 120 a second 60 are of the kind that is named: the work may be that of the others. */
static void short_ones_of_two_kinds(struct made *w)
{
    short_ones_that_work(w);
    set_fact(w, "growth",
             "{\"over_s\":60,\"spawned_per_s\":120,\"spawned_lately_per_s\":110,\"short_lived\":"
             "{\"alive\":900,\"sampled\":100,\"seen\":50,\"function\":\"shop_step:run/"
             "0\",\"example\":" SESSION ",\"spawner\":" LOBBY ",\"spawned\":50}}");
}
static void few_short_ones(struct made *w)
{
    short_ones_that_work(w);
    set_fact(w, "growth",
             "{\"over_s\":60,\"spawned_per_s\":60,\"spawned_lately_per_s\":60,"
             "\"short_lived\":" GROUP("shop_step:run/0", SESSION, LOBBY) "}");
}
#define RESTARTS(per_s, ends)                                                                      \
    "{\"restarts\":{\"per_s\":" per_s ends ",\"children\":4,\"example\":\"<0.901.0>\","            \
    "\"supervisor\":{\"pid\":\"<0.86.0>\",\"name\":\"device_sup\","                                \
    "\"initial_call\":\"gen_server:loop/7\"}}}"

static void restarts(struct made *w)
{
    set_fact(w, "growth", RESTARTS("58.6", ",\"normal\":3,\"failed\":8"));
}
static void restarts_of_a_pool(struct made *w)
{
    set_fact(w, "growth", RESTARTS("58.6", ",\"normal\":11,\"failed\":0"));
}
static void restarts_unseen(struct made *w)
{
    set_fact(w, "growth", RESTARTS("58.6", ""));
}
static void restarts_now_and_then(struct made *w)
{
    set_fact(w, "growth", RESTARTS("3", ""));
}
static void atoms_leak(struct made *w)
{
    of_a_minute(w);
    w->atoms_step = 100;
    set_fact(w, "growth",
             "{\"atoms\":{\"prefix\":\"user_\",\"examples\":[\"user_1\",\"user_9\"]}}");
}
static void atoms_leak_slowly(struct made *w)
{
    atoms_leak(w);
    w->atoms_step = 3;
}
/* As beamtop itself makes them while its views are opened for the first time. */
static void atoms_of_ours(struct made *w)
{
    of_a_minute(w);
    w->atoms_step = 11;
    set_fact(w, "growth", "{\"atoms\":{\"prefix\":\"M\",\"examples\":[\"MaxHeap\"]}}");
}
static void atoms_come(struct made *w)
{
    of_a_minute(w);
    w->atoms_step = 0.5;
}
static void table_leaks(struct made *w)
{
    of_a_minute(w);
    w->ets_step = 400e3;
    set_fact(w, "growth",
             "{\"ets\":{\"tables\":9000,\"measured\":5000,\"growing\":[{\"name\":\"carts\","
             "\"id\":\"#Ref<0.1.2.3>\",\"owner\":" LOBBY ",\"memory_bytes\":48000000,"
             "\"grown_bytes\":24000000}]}}");
}
static void table_grows_little(struct made *w)
{
    table_leaks(w);
    w->ets_step = 20e3;
}
static void tables_leak(struct made *w)
{
    of_a_minute(w);
    w->tables_step = 2;
    set_fact(w, "growth",
             "{\"ets\":{\"growing\":[],\"most_new\":{\"name\":\"visit\",\"seen\":90,"
             "\"owner\":" LOBBY "}}}");
}
/* An older recording has the most frequent pair of name and owner, however few they are. */
static void tables_of_many_leak(struct made *w)
{
    of_a_minute(w);
    w->tables_step = 2;
    set_fact(w, "growth",
             "{\"ets\":{\"growing\":[],\"new\":118,\"most_new\":{\"name\":\"visit\",\"seen\":2,"
             "\"owner\":" LOBBY "}}}");
}
static void tables_come(struct made *w)
{
    of_a_minute(w);
    w->tables_step = 0.3;
}
/* 118 new ports, of which so many have one name; owned: of these, by the owner. */
#define PORTS(seen, owned)                                                                         \
    "{\"ports\":{\"new\":118,\"sampled\":118,\"seen\":" seen ",\"name\":\"tcp_inet\"," owned       \
    "\"owner\":" LOBBY "}}"
static void leak_ports(struct made *w, const char *growth)
{
    of_a_minute(w);
    w->ports_step = 2;
    set_fact(w, "growth", growth);
}
static void ports_leak(struct made *w) /* as older recordings have it */
{
    leak_ports(w, PORTS("110", ""));
}
/* A process each, as servers have it. */
static void connections_leak(struct made *w)
{
    leak_ports(w, PORTS("110", "\"owned\":1,"));
}
/* Half are of one name, and half of those of one owner. */
static void ports_of_some_leak(struct made *w)
{
    leak_ports(w, PORTS("80", "\"owned\":50,"));
}
static void most_ports_leak(struct made *w)
{
    leak_ports(w, PORTS("110", "\"owned\":70,"));
}
static void ports_come(struct made *w)
{
    of_a_minute(w);
    w->ports_step = 0.2;
}
static void rise(struct made *w, const char *key, const char *json, int from, int step)
{
    of_a_minute(w);
    w->rising.key = key;
    w->rising.json = json;
    w->rising.from = from;
    w->rising.step = step;
}
static void sockets_leak(struct made *w)
{
    rise(w, "growth", "{\"sockets\":{\"count\":#}}", 10, 3);
}
static void sockets_come(struct made *w)
{
    rise(w, "growth", "{\"sockets\":{\"count\":#}}", 10, 1);
}
static void sockets_of_one_leak(struct made *w)
{
    rise(w, "growth",
         "{\"sockets\":{\"count\":#,\"sampled\":190,\"seen\":170,\"owner\":" LOBBY "}}", 10, 3);
}
#define TIMERS "{\"kept\":{\"timers\":#,\"timer_bytes\":#000}}"
static void timers_leak(struct made *w)
{
    rise(w, "growth", TIMERS, 5000, 100);
}
/* Their memory is that of processes, and no process has it. */
static void timers_leak_and_grow(struct made *w)
{
    timers_leak(w);
    w->of_processes_step = w->total_step = MIB / 4;
    w->busy[0].memory_step = 5e3;
}
static void timers_come(struct made *w)
{
    rise(w, "growth", TIMERS, 5000, 20);
}
/* One for each of the processes. */
static void timers_of_sessions(struct made *w)
{
    rise(w, "growth", TIMERS, 5000, 30);
    w->processes_step = 10;
}
static void timers_level_off(struct made *w)
{
    timers_leak(w);
    w->level_from = 30;
}
#define TIED(monitors, by)                                                                         \
    "{\"processes\":[{\"pid\":\"<0.86.0>\",\"name\":\"shop_lobby\",\"initial_call\":"              \
    "\"gen_server:init_it/6\",\"bytes\":#00,\"monitors\":" monitors ",\"monitored_by\":" by        \
    ",\"links\":4},{\"pid\":\"<0.87.0>\",\"name\":\"shop_db\",\"initial_call\":null,"              \
    "\"bytes\":#00,\"monitors\":3,\"monitored_by\":#,\"links\":4}]}"
static void monitors_leak(struct made *w)
{
    rise(w, "monitors", TIED("#", "2"), 2000, 50);
}
static void monitors_come(struct made *w)
{
    rise(w, "monitors", TIED("#", "2"), 2000, 10);
}
/* Of sessions that stay. */
static void monitors_of_sessions(struct made *w)
{
    rise(w, "monitors", TIED("#", "2"), 2000, 30);
    w->processes_step = 10;
}
static void monitors_of_others_leak(struct made *w)
{
    rise(w, "monitors", TIED("3", "2"), 2000, 50);
}
/* Too many to list. */
static void monitors_beyond_counting(struct made *w)
{
    rise(w, "monitors",
         "{\"processes\":[{\"pid\":\"<0.86.0>\",\"name\":\"shop_lobby\",\"initial_call\":null,"
         "\"bytes\":#00,\"monitors\":null,\"monitored_by\":null,\"links\":null}]}",
         40000, 1000);
}
/* Who is monitored grows as much. */
static void monitors_of_two_beyond_counting(struct made *w)
{
    rise(w, "monitors",
         "{\"processes\":[{\"pid\":\"<0.86.0>\",\"name\":\"shop_lobby\",\"initial_call\":null,"
         "\"bytes\":#00,\"monitors\":null,\"mostly\":\"monitored_by\"},"
         "{\"pid\":\"<0.87.0>\",\"name\":\"shop_cart\",\"initial_call\":null,"
         "\"bytes\":#00,\"monitors\":null,\"mostly\":\"monitors\"}]}",
         40000, 1000);
}
static void code_leaks(struct made *w)
{
    of_a_minute(w);
    w->code_step = 100e3;
    set_fact(w, "growth", "{\"code\":{\"new\":20,\"examples\":[\"template_17\",\"template_16\"]}}");
}
static void code_comes(struct made *w)
{
    of_a_minute(w);
    w->code_step = 2e3;
}

static void same(struct made *w)
{
    (void)w;
}

static const struct {
    const char *rule;
    void (*bad)(struct made *);
    enum finding_severity severity;
    const char *says; /* in its title, action or evidence */
    void (*good)(struct made *);
} rows[] = {
    {"sync_logger", logger_sync, FINDING_ACT,
     "Logger logger_std_h_default is synchronous and blocks its callers: 31% of reductions",
     logger_async},
    {"sync_logger", logger_overloaded, FINDING_ACT, "sync_mode_qlen 10", logger_async},
    {"sync_logger", logger_in_callers, FINDING_ACT, "works in the process that logs", logger_async},
    {"sync_logger", logger_busy_async, FINDING_LOOK, "Log less", same},
    {"sync_logger", logger_elixirs, FINDING_LOOK, "sync_threshold 20, discard_threshold 500", same},
    {"sync_logger", logger_elixirs_sync, FINDING_ACT, "Logger.configure(sync_threshold: 500)",
     same},
    {"sync_logger", logger_elixirs_overloaded, FINDING_ACT,
     "synchronous under this load and blocks its callers", same},
    {"sync_logger", logger_beside, FINDING_LOOK, "Log less", same},
    {"sync_logger", logger_waited_for, FINDING_ACT,
     "Logger logger_std_h_default blocks its callers: 64% of their time", logger_waited_for_little},
    {"sync_logger", logger_waited_for, FINDING_ACT,
     "90 of 140 samples of busy processes (left out: 60 that", logger_among_much},
    {"sync_logger", logger_out_of_sight, FINDING_ACT,
     "Logger handler default blocks its callers: 64% of their time", same},
    {"sync_logger", logger_sync_on_a_full_host, FINDING_ACT, "is synchronous and blocks",
     logger_waited_for_on_a_full_host},
    {"sync_logger", logger_overloaded_on_a_full_host, FINDING_LOOK, "is busy: 25% of reductions",
     same},
    {"sync_logger", logger_overloaded_at_first, FINDING_LOOK, "is busy: 25% of reductions", same},
    {"sync_logger", logger_sync_at_first, FINDING_ACT, "is synchronous and blocks",
     logger_waited_for_at_first},
    {"sync_logger", logger_waited_for_without_cpus, FINDING_ACT, "blocks its callers: 64%", same},
    {"sync_logger", logger_waited_for_at_rest, FINDING_ACT, "blocks its callers: 64%", same},
    {"sync_logger", logger_hidden, FINDING_ACT,
     "blocks its callers: 64% of their time outside other calls", logger_among_much},
    {"sync_logger", logger_hidden_by_more, FINDING_LOOK, "blocks its callers: 64%",
     logger_among_much},
    {"sync_logger", logger_and_file, FINDING_ACT, "blocks its callers: 13% of reductions",
     logger_alone},
    {"sync_logger", logger_and_file, FINDING_ACT,
     "erlang:apply/2 (linked to logger_std_h_default) <0.45.0>: 3.7% of reductions", logger_alone},
    {"one_scheduler", one_queue, FINDING_LOOK, "in one run queue", one_queue_of_a_full_host},
    {"contention", queue_long, FINDING_LOOK, "overloads", queue_long_on_a_full_host},
    {"contention", queue_long_that_lacks_a_little, FINDING_LOOK,
     "schedulers were without a CPU in 12% of the time", same},
    {"contention", queue_long_without_cpus, FINDING_LOOK, "overloads", queue_long_at_first},
    {"contention", queue_long, FINDING_LOOK,
     "gateway (60% of reductions) overloads 2 schedulers: mean run queue 9.0", queue_full},
    {"headroom", idle, FINDING_NOTE,
     "Schedulers are mostly idle: utilisation 10%, mean run queue 0.0", same},
    {"one_scheduler", one_queue, FINDING_LOOK,
     "gateway:init/1 <0.41.0> probably blocks a scheduler: 8.0 of 8.0", even_queues},
    {"starved", starved_by_others, FINDING_NOTE, "Schedulers wait for a CPU: 25% of the time",
     starved_little},
    {"starved", starved_by_quota, FINDING_LOOK,
     "The cgroup quota stops the schedulers: in 40% of its periods", starved_for_a_moment},
    {"starved", starved_by_steal, FINDING_LOOK, "The hypervisor takes the CPUs: 30% of their time",
     starved_little},
    {"starved", one_queue_at_little_work, FINDING_NOTE,
     "Schedulers wait for a CPU: 33% of the time when they are ready to run",
     starved_at_little_work},
    {"starved", one_queue_for_a_moment, FINDING_LOOK, "The cgroup quota stops the schedulers: in",
     starved_for_a_moment},
    {"blocked_schedulers", blocked_within, FINDING_LOOK,
     "Schedulers wait inside the VM: 38% of the time", ready_for_the_rest},
    {"blocked_schedulers", blocked_within, FINDING_LOOK, "schedulers on a CPU: 50% (mean)",
     two_of_four_online},
    {"blocked_schedulers", blocked_within, FINDING_LOOK, "Schedulers wait", stolen_for_the_rest},
    {"late_scheduler", late_often, FINDING_ACT, "Scheduler 2 did not yield for 1.2 s", late_little},
    {"late_scheduler", late_often, FINDING_ACT, "beamtop pstack NODE --all", late_little},
    {"late_scheduler", late_once, FINDING_LOOK, "Scheduler 2 did not yield for 2.0 s", late_little},
    {"late_scheduler", late_half, FINDING_NOTE, "600 ms", late_little},
    {"late_scheduler", late_on_a_full_host, FINDING_NOTE, "Scheduler 2 did not yield for 1.2 s",
     late_little},
    {"late_scheduler", late_in_the_first_minute, FINDING_NOTE,
     "Scheduler 2 did not yield for 1.2 s", late_little},
    {"late_scheduler", late_for_long_on_a_full_host, FINDING_LOOK,
     "Scheduler 2 did not yield for 25 s", late_little},
    {"blocked_io", io_blocked, FINDING_LOOK,
     "All 2 dirty I/O schedulers are blocked since 2023-11-14 22:13:25 UTC",
     io_blocked_for_a_moment},
    {"blocked_io", io_blocked, FINDING_LOOK, "for 8.0 s, since 2023-11-14 22:13:25 UTC",
     io_blocked_for_a_moment},
    {"blocked_io", io_blocked, FINDING_LOOK, "beamtop pstack NODE --all", io_blocked_for_a_moment},
    {"blocked_io", io_was_blocked, FINDING_LOOK,
     "All 2 dirty I/O schedulers were blocked for 7.0 s", io_blocked_for_a_moment},
    {"blocked_io", io_blocked_for_long, FINDING_ACT, "were blocked for 34 s",
     io_blocked_for_a_moment},
    {"one_scheduler", one_queue_at_first, FINDING_NOTE, "One scheduler is overloaded: ", same},
    {"one_scheduler", one_queue_of_equals, FINDING_NOTE,
     "One scheduler is overloaded: 8.0 of 8.0 queued", even_queues},
    {"mailbox_growth", mailbox_grows, FINDING_LOOK,
     "Message queue of gateway:init/1 <0.41.0> is growing: +6,000 in 12 s, now 6,010",
     mailbox_short},
    {"mailbox_growth", mailbox_of_nobody_grows, FINDING_LOOK,
     "erlang:apply/2 (linked to logger_std_h_default) <0.41.0> is growing", mailbox_was_long},
    {"mailbox_growth", mailbox_explodes, FINDING_ACT, "now 60,000", mailbox_short},
    {"mailbox_growth", mailbox_grows_on_a_full_host, FINDING_NOTE,
     "it follows at least in part: Schedulers wait for a CPU: 25% of the time", mailbox_short},
    {"serialised", serialised_on_a_full_host, FINDING_LOOK, "is a bottleneck", waiting_little},
    {"serialised", suspended_on_a_full_host, FINDING_LOOK, "is suspended, with 20,000",
     waiting_little},
    {"mailbox_growth", mailbox_explodes, FINDING_ACT,
     "beamtop trace NODE receive --procs '<0.41.0>'", mailbox_short},
    {"mailbox_growth", mailbox_of_large_messages_grows, FINDING_LOOK,
     "beamtop trace NODE receive --procs '<0.41.0>'", mailbox_short},
    {"mailbox_growth", mailbox_of_suspended, FINDING_LOOK,
     "gateway:init/1 <0.41.0> is suspended, its message queue is growing: +6,000", mailbox_short},
    {"mailbox_growth", mailbox_of_suspended, FINDING_LOOK, "Resume it (sys:resume/1)",
     mailbox_short},
    {"mailbox_growth", mailbox_of_a_caller, FINDING_LOOK,
     "its monitors have the process that it called", mailbox_short},
    {"serialised", suspended, FINDING_LOOK,
     "gateway:init/1 <0.41.0> is suspended, with 20,000 messages queued", waiting_little},
    {"serialised", suspended_with_few, FINDING_LOOK,
     "gateway:init/1 <0.41.0> is suspended, with 2 messages queued", suspended_with_none},
    {"serialised", few_before_an_idle_one, FINDING_LOOK,
     "gateway:init/1 <0.41.0> does not handle its 7 messages", few_before_one_that_works},
    {"serialised", few_before_one_seen_late, FINDING_LOOK, "does not handle its 7 messages",
     few_before_one_seen_later},
    {"serialised", waits_for_one_that_is_known, FINDING_LOOK,
     "gateway:init/1 <0.41.0> waits for an answer of shop_db, with 20,000 messages queued",
     waiting_little},
    {"serialised", waits_for_one_that_is_known, FINDING_LOOK, "beamtop process NODE 'shop_db'",
     waiting_little},
    {"serialised", waits_for_another_node, FINDING_LOOK,
     "gateway:init/1 <0.41.0> waits for an answer of db on other@host, with 20,000", same},
    {"serialised", waits_for_another_node, FINDING_LOOK, "(beamtop process other@host 'db')", same},
    {"serialised", waits_for_a_label, FINDING_LOOK,
     "See what {db,1} does (beamtop process NODE '<0.99.0>')", same},
    {"serialised", waits_for_one_that_is_slow, FINDING_LOOK,
     "waits for an answer of shop_db, with 21 messages queued on average", same},
    {"serialised", waits_for_one_that_is_slow, FINDING_LOOK,
     "See what shop_db does (beamtop process NODE 'shop_db'). Each message waits for its answer",
     same},
    {"serialised", calls_one_that_is_quick, FINDING_LOOK,
     "is a bottleneck: its queue never empties", same},
    {"serialised", many_at_few_looks, FINDING_LOOK, "does not handle its 20,000 messages",
     less_at_few_looks},
    {"serialised", many_at_few_looks, FINDING_LOOK, "does not handle its 20,000 messages",
     many_at_first},
    {"serialised", many_at_few_looks, FINDING_LOOK, "does not handle its 20,000 messages",
     drains_at_few_looks},
    {"serialised", huge_at_two_looks, FINDING_LOOK, "does not handle its 200,000 messages",
     less_at_two_looks},
    {"serialised", huge_at_two_looks, FINDING_LOOK, "does not handle its 200,000 messages",
     works_at_two_looks},
    {"serialised", huge_of_another, FINDING_LOOK, "does not handle its 200,000 messages",
     huge_now_and_then},
    {"mailbox_growth", grows_at_few_looks, FINDING_ACT, "is growing: +40,000", drains_at_few_looks},
    {"serialised", holds_much_and_handles_nothing, FINDING_LOOK,
     "beamtop trace NODE receive --procs '<0.41.0>'", same},
    {"serialised", too_many_that_are_not_handled, FINDING_LOOK,
     "beamtop trace NODE receive --procs '<0.41.0>'", same},
    {"serialised", serialised, FINDING_ACT,
     "gateway:init/1 <0.41.0> is a bottleneck: its queue never empties (mean 40.0)",
     waiting_little},
    {"serialised", serialised, FINDING_ACT, "0.98 of the 1 core", mailbox_grows},
    {"serialised", handles_nothing, FINDING_LOOK,
     "gateway:init/1 <0.41.0> does not handle its 20,000 messages", waiting_little},
    {"serialised", waits_in_a_call, FINDING_LOOK,
     "gateway:init/1 <0.41.0> waits for the answer to a call, with 20,000 messages queued",
     waiting_little},
    {"asleep", sleeps_on, FINDING_LOOK,
     "gateway:init/1 <0.41.0> hibernates with 12 messages queued: probably a lost wake-up",
     sleeps_for_nobody},
    {"asleep", sleeps_and_is_sent_more, FINDING_LOOK, "not among those", waits_for_its_answer},
    {"asleep", sleeps_on_27, FINDING_ACT, "update OTP to 27.3.4.8", wakes_now_and_then},
    {"asleep", sleeps_on_27, FINDING_ACT, "hibernates with 1 message queued", same},
    {"asleep", sleeps_on_28, FINDING_ACT, "OTP 28, erts 16.2", waiting_little},
    {"asleep", sleeps_on_mended_27, FINDING_LOOK, "OTP 27, erts 15.2.7.6", same},
    {"asleep", sleeps_on_mended_28, FINDING_LOOK, "OTP 28, erts 16.2.1", same},
    {"asleep", suspended_asleep, FINDING_LOOK, "sys:resume/1", same},
    {"memory_growth", ets_grows, FINDING_LOOK,
     "ETS memory is growing: +48.0 MiB in 12 s; largest: ETS table sessions (shop)",
     memory_grows_little},
    {"memory_growth", binaries_grow, FINDING_LOOK,
     "Refc binary memory is growing: +48.0 MiB in 12 s; largest: cache", memory_grows_little},
    {"memory_growth", binaries_of_none_grow, FINDING_LOOK,
     "Refc binary memory is growing: +48.0 MiB in 12 s", memory_grows_little},
    {"memory_growth", binaries_of_none_grow, FINDING_LOOK, "cache: 2.86 MiB", memory_grows_little},
    {"memory_growth", binaries_of_none_grow, FINDING_LOOK, "is untouched or swapped",
     memory_grows_little},
    {"memory_growth", processes_grow, FINDING_LOOK,
     "gateway:init/1 <0.42.0> is growing: +48.0 MiB in 12 s; process memory +48.0 MiB",
     memory_grows_little},
    {"memory_growth", kin_grows, FINDING_LOOK, "Kin gateway:init/1 is growing: +",
     memory_grows_little},
    {"memory_growth", kin_of_funs_grows, FINDING_LOOK, "Kin shop_worker is growing: +",
     memory_grows_little},
    {"memory_growth", module_grows, FINDING_LOOK, "Module gateway is growing: +",
     memory_grows_little},
    {"memory_growth", timers_grow, FINDING_LOOK,
     "Process memory is growing: +48.0 MiB in 12 s, 47.4 MiB of it in no process seen",
     memory_grows_little},
    {"memory_growth", timers_grow, FINDING_LOOK, "erlang:send_after/3", memory_grows_little},
    {"memory_growth", timers_grow_beside, FINDING_LOOK,
     "Process memory is growing: +48.0 MiB in 12 s, 42.3 MiB of it in no process seen",
     memory_grows_little},
    {"memory_growth", one_of_a_module_grows, FINDING_LOOK,
     "gen_server:loop/7 <0.42.0> leads growing process memory: +48.0 MiB in 12 s",
     memory_grows_little},
    {"memory_growth", untyped_grows, FINDING_LOOK,
     "Memory of no type is growing: +48.0 MiB in 12 s", memory_grows_little},
    {"memory_growth", untyped_grows, FINDING_LOOK, "memory of no type: from 85.8 MiB to 134 MiB",
     memory_grows_little},
    {"memory_growth", untyped_grows_less_than_ets, FINDING_LOOK, "ETS memory is growing: +48.0",
     memory_grows_little},
    {"waited_for", one_is_waited_for, FINDING_LOOK, "shop_pool is waited for by 14 processes",
     few_wait_for_one},
    {"waited_for", one_is_waited_for, FINDING_LOOK, "at each look: for 21 s", waited_for_once},
    {"deadlock", two_wait_for_each_other, FINDING_ACT,
     "Deadlock: shop_cart -> shop_stock -> shop_cart", cycle_is_new},
    {"deadlock", two_wait_for_each_other, FINDING_ACT, "waiting behind it: 3", nobody_looked},
    {"closed_sockets", sockets_are_closed, FINDING_LOOK,
     "cowboy_clear:init/1 processes keep 40 closed connections: CLOSE_WAIT",
     few_sockets_are_closed},
    {"closed_sockets", sockets_are_closed, FINDING_LOOK, "all closed by 10.0.0.7",
     nobody_looked_at_ports},
    {"mnesia_cut", mnesia_is_cut, FINDING_LOOK, "Mnesia runs without b@h, which is connected",
     mnesia_joins},
    {"mnesia_cut", mnesia_is_cut, FINDING_LOOK, "as this one sees it: 1 of 2",
     nobody_looked_at_mnesia},
    {"memory_held", ets_is_held, FINDING_NOTE,
     "ETS table sessions (shop) has 92.5 MiB, 88% of ETS memory", ets_is_of_many},
    {"memory_held", ets_is_held_by_several, FINDING_NOTE,
     "2 of the largest ETS tables, sessions (shop), have 47.7 MiB, 45% of ETS memory",
     ets_is_of_many},
    {"memory_held", binaries_are_held, FINDING_NOTE,
     "500 processes in shop:wait/1 hold 95.4 MiB, 99% of binary memory", binaries_are_of_many},
    {"memory_held", binaries_are_held, FINDING_NOTE,
     "500 processes in shop:wait/1 hold 95.4 MiB, 99% of binary memory", binaries_are_shared},
    {"binary_holders", few_holders, FINDING_LOOK, "cache holds 172 MiB of refc binaries", same},
    {"binary_holders", few_holders, FINDING_LOOK, ": 172 MiB in 900 binaries", same},
    {"carriers", carriers_empty, FINDING_LOOK,
     "binary_alloc is fragmented: 4.4% of 858 MiB in carriers is used", carriers_small},
    {"carriers", carriers_of_rss, FINDING_LOOK,
     "Memory is fragmented: 859 MiB of 1.17 GiB RSS is unused in carriers", carriers_of_more_rss},
    {"carriers", much_resident, FINDING_LOOK, "above what the VM allocates: 2.00 GiB",
     little_resident},
    {"near_limit", processes_near, FINDING_ACT, "Process table is 95% full: 250,000 of 262,144",
     same},
    {"near_limit", tables_beyond, FINDING_LOOK, "(start with +e 131072)", same},
    {"near_limit", atoms_soon, FINDING_LOOK, "Atom table is 57% full: 601,200 of 1,048,576",
     atoms_steady},
    {"repository_lookup", registry_in_database, FINDING_ACT,
     "Gateway.Schemas is an Ecto repository: 4,000 database lookups/s", registry_in_ets},
    {"repository_lookup", registry_in_front, FINDING_ACT,
     "gateway_schemas queries the database on every lookup: 870/s via Gateway.Repo",
     registry_before_table},
    {"read_write", registry_in_front, FINDING_NOTE, "Repositories: 87% reads of 1,000 operations/s",
     no_reads},
    {"repository_lookup", registry_gets_one, FINDING_ACT,
     "Gateway.Schemas is an Ecto repository: 904 database lookups/s", registry_in_ets},
    {"read_write", registry_gets_one, FINDING_NOTE, "Repositories: 87% reads of 1,039 operations/s",
     no_reads},
    {"read_write", registry_prepares, FINDING_NOTE, "Repositories: 89% reads of 1,235 operations/s",
     no_reads},
    {"read_write", registry_reads_twice, FINDING_NOTE,
     "Repositories: 80% reads of 2,000 operations/s", no_reads},
    {"repository_lookup", registry_at_a_low_rate, FINDING_ACT,
     "gateway_schemas queries the database on every lookup: 87/s via", registry_before_table},
    {"read_write", registry_at_a_low_rate, FINDING_NOTE, "Repositories: 87% reads of 100",
     no_reads},
    {"dynamic_repo", switched_for_each, FINDING_LOOK, "1.00 switches per operation",
     switched_seldom},
    {"pipeline_overhead", registry_in_front, FINDING_NOTE,
     "runs 1.38 pipeline stages per operation", few_stages},
    {"pipeline_overhead", registry_before_table, FINDING_NOTE,
     "runs 1.38 pipeline stages per operation", few_stages},
    {"read_write", same, FINDING_NOTE, "Repositories: 87% reads of", no_reads},
    {"pipeline_overhead", same, FINDING_NOTE, "runs 1.38 pipeline stages per operation",
     few_stages},
    {"pipeline_overhead", requests, FINDING_NOTE, "3.00 pipeline stages", few_stages},
    {"pipeline_overhead", many_stages, FINDING_LOOK,
     "Gateway.Stage runs 80.00 pipeline stages per operation: too many", few_stages},
    {"hot_reads", asked_process, FINDING_LOOK,
     "settings is read-mostly: 30,000 reads/s, 0.0 writes/s", written_often},
    {"dynamic_repo", switched, FINDING_LOOK, "Gateway.Repo switches repositories 2,000 times/s",
     switched_seldom},
    {"busy_distribution", link_busy, FINDING_ACT,
     "Connection to b@h is busy: 1.91 MiB queued, limit 1.00 MiB", link_some},
    {"busy_distribution", senders_suspended, FINDING_ACT,
     "Senders to b@h are suspended: 7 processes, at 75% of looks", senders_suspended_once},
    {"busy_distribution", senders_suspended, FINDING_ACT, "suspended: publisher", same},
    {"busy_distribution", senders_suspended_before, FINDING_ACT,
     "Senders to b@h are suspended at 75% of looks", senders_suspended_once},
    {"garbage", much_garbage, FINDING_LOOK, "gateway leads frequent GC: one per 133 reductions",
     garbage_usual},
    {"garbage", much_garbage, FINDING_LOOK, "GCs: 150,000 per second", garbage_idle},
    {"churn", churn, FINDING_NOTE, "shop_task:init/1 processes are short-lived: 97%",
     same_processes},
    {"churn", churn, FINDING_NOTE, "seen at one tick only: 130 of 134", churn_of_many},
    {"churn", churn, FINDING_NOTE, "Keep a process for each request", churn_at_first},
    {"churn", churn, FINDING_NOTE, "new processes: 10 of 14 per tick", churn_of_a_leak},
    {"process_growth", processes_leak, FINDING_LOOK,
     "shop_lobby spawns processes that stay: +590 shop_session:init/1 in", processes_come},
    {"process_growth", processes_leak_on_23, FINDING_LOOK,
     "shop_session:wait/0 processes are accumulating: +590", same},
    {"process_growth", processes_of_kinds_leak, FINDING_LOOK, "Processes are accumulating: +590",
     same},
    {"process_growth", processes_of_kinds_leak, FINDING_LOOK,
     "shop_session:init/1: 37 of 100 sampled", processes_come},
    {"process_growth", processes_leak_unseen, FINDING_LOOK, "owner: unknown, not recorded", same},
    {"process_growth", processes_leak_fast, FINDING_ACT, "limit: 262,144, reached in 43 min", same},
    {"short_lived", short_ones, FINDING_LOOK,
     "shop_lobby spawns short-lived processes: 2,400/s, shop_session:init/1", short_ones_before},
    {"short_lived", short_ones_unseen, FINDING_NOTE, "2,400 spawned/s", same},
    {"short_lived", short_ones_that_work, FINDING_NOTE,
     "shop_lobby spawns short-lived processes: 114/s, shop_session:init/1, 34% of reductions",
     short_ones_that_work_little},
    {"short_lived", short_ones_that_work, FINDING_NOTE, "between two looks: 34%",
     short_ones_on_an_idle_node},
    {"short_lived", short_ones_that_work, FINDING_NOTE, "spawned: 120/s", few_short_ones},
    {"short_lived", short_ones_that_work, FINDING_NOTE, "95 of 100 sampled",
     short_ones_of_two_kinds},
    {"restart_loop", restarts, FINDING_LOOK,
     "device_sup restarts its children again and again: 59/s", restarts_now_and_then},
    {"restart_loop", restarts, FINDING_LOOK, "ended next: 8 failed, 3 ended normally",
     restarts_now_and_then},
    {"restart_loop", restarts_of_a_pool, FINDING_NOTE, "which end normally: 59/s",
     restarts_now_and_then},
    {"restart_loop", restarts_unseen, FINDING_LOOK, "restarts its children again and again: 59/s",
     restarts_now_and_then},
    {"atom_growth", atoms_leak, FINDING_ACT,
     "Atoms user_… are leaking: +5,900 in 59 s, full in 2.8 h", atoms_come},
    {"atom_growth", atoms_leak, FINDING_ACT, "new atom: user_9", same},
    {"atom_growth", atoms_leak, FINDING_ACT, "half or more of the new atoms begin with: user_",
     atoms_of_ours},
    {"atom_growth", atoms_leak_slowly, FINDING_LOOK, "full in 4 d", atoms_come},
    {"ets_growth", table_leaks, FINDING_LOOK, "ETS table carts is growing: +22.5 MiB in",
     table_grows_little},
    {"ets_growth", table_leaks, FINDING_LOOK, "5000 of 9000 tables were measured", same},
    {"ets_growth", tables_leak, FINDING_LOOK,
     "shop_lobby creates ETS tables that stay: +118 named visit in", tables_come},
    {"ets_growth", tables_of_many_leak, FINDING_LOOK, "ETS tables are accumulating: +118 in",
     tables_come},
    {"port_growth", connections_leak, FINDING_LOOK, "Ports tcp_inet are accumulating: +118 in",
     ports_come},
    {"port_growth", connections_leak, FINDING_LOOK, "110 of 118 sampled are tcp_inet", ports_come},
    {"port_growth", connections_leak, FINDING_LOOK, "tcp_inet, of many owners, such as shop_lobby",
     ports_come},
    {"port_growth", ports_of_some_leak, FINDING_LOOK,
     "80 of 118 sampled are tcp_inet, of many owners, such as shop_lobby (50)", ports_come},
    {"port_growth", ports_of_some_leak, FINDING_LOOK, "Ports tcp_inet are accumulating: +118 in",
     ports_come},
    {"port_growth", most_ports_leak, FINDING_LOOK,
     "110 of 118 sampled are tcp_inet, 70 of them of shop_lobby", ports_come},
    {"port_growth", ports_leak, FINDING_LOOK, "shop_lobby opens ports that stay: +118 tcp_inet in",
     ports_come},
    {"socket_growth", sockets_leak, FINDING_LOOK,
     "Sockets (module socket) are accumulating: +120 in 40 s", sockets_come},
    {"socket_growth", sockets_of_one_leak, FINDING_LOOK,
     "shop_lobby opens sockets (module socket) that stay: +120 in", sockets_come},
    {"socket_growth", sockets_of_one_leak, FINDING_LOOK, "shop_lobby has 170 of 190 sampled",
     sockets_come},
    {"timer_growth", timers_leak, FINDING_LOOK,
     "Timers are accumulating: +4,000 in 40 s, now 11,000", timers_come},
    {"timer_growth", timers_leak, FINDING_LOOK, "in no process: +3.81 MiB, now 10.5 MiB",
     timers_of_sessions},
    {"timer_growth", timers_leak, FINDING_LOOK, "more processes in 59 s: 0", timers_level_off},
    {"timer_growth", timers_leak_and_grow, FINDING_LOOK, "of it in no process: timers", same},
    {"monitor_growth", monitors_leak, FINDING_LOOK,
     "shop_lobby keeps monitors that stay: +2,000 in 40 s, now 5,000", monitors_come},
    {"monitor_growth", monitors_leak, FINDING_LOOK, "its memory beside its heaps: +195 KiB",
     monitors_of_sessions},
    {"monitor_growth", monitors_of_others_leak, FINDING_LOOK,
     "shop_db is monitored more and more: +2,000 in 40 s, now 5,000", monitors_come},
    {"monitor_growth", monitors_beyond_counting, FINDING_LOOK,
     "shop_lobby grows beside its heaps (monitors or links): +3.81 MiB in 40 s", monitors_come},
    {"monitor_growth", monitors_of_two_beyond_counting, FINDING_LOOK,
     "shop_cart keeps monitors that stay: +3.81 MiB in 40 s, now 9.54 MiB", monitors_come},
    {"code_growth", code_leaks, FINDING_LOOK, "newest module template_17", code_comes},
    {"gc_cpu", gc_much, FINDING_LOOK, "Garbage collection is expensive: 30% of the CPU time",
     gc_on_the_limit},
    {"gc_cpu", gc_much, FINDING_LOOK, "30.0% ± 2.8 of 1,000 samples (95% interval, 1 run, 10 s)",
     same},
    {"gc_cpu", gc_much, FINDING_LOOK, "called by shop:loop/1: 30% of the CPU time", same},
    {"copy_cpu", copies_much, FINDING_LOOK,
     "Copying of messages and terms is expensive: 20% of the CPU time", copies_some},
    {"nif_cpu", nif_much, FINDING_LOOK, "NIF library jose_nif.so is busy: 30% of the CPU time",
     nif_some},
    {"nif_cpu", nif_much, FINDING_LOOK, "beamtop blame NODE jose_nif.so names", same},
    {"request_wait", waits_for_one, FINDING_LOOK,
     "Requests of shop_web:handle/2 mostly wait for shop_db: 80% of their time", waits_little},
    {"request_wait", waits_for_one, FINDING_LOOK,
     "80% of 20 ms, the mean of 20 requests (critical path; median 20 ms, p99 20 ms)", same},
    {"request_wait", waits_for_one, FINDING_LOOK, "get, self: 75%, 15 ms a request", waits_of_few},
    {"request_wait", waits_for_one, FINDING_LOOK, "get, queued: 5.0%, 1.0 ms a request", same},
    {"request_wait", waits_in_a_queue, FINDING_LOOK, "stand in the message queue of shop_db", same},
    {"request_wait", waits_asleep, FINDING_LOOK, "mostly wait in timer:sleep/1: 89%", same},
    {"collectors", terms_replaced, FINDING_LOOK,
     "erts_literal_area_collector takes 30% of reductions: persistent terms are replaced",
     terms_replaced_at_a_start},
    {"collectors", terms_replaced, FINDING_LOOK, "persistent_term:put(_, _) -> caller", same},
    {"collectors", terms_replaced_by, FINDING_LOOK,
     "span_attrs replaces persistent terms: erts_literal_area_collector takes 30%", same},
    {"collectors", code_purged, FINDING_LOOK,
     "erts_code_purger takes 30% of reductions: code is loaded and purged", same},
    {"collectors", code_purged_for, FINDING_LOOK,
     "plugins loads code: erts_code_purger takes 30% of reductions", same},
    {"collectors", code_purged_on_an_idle_node, FINDING_LOOK,
     "erts_code_purger takes 16% of reductions", code_purged_seldom},
    {"whole_core", one_process_works, FINDING_NOTE,
     "gateway:init/1 <0.41.0> takes a scheduler: 0.90 of the 1 core", two_share},
    {"whole_core", one_process_works, FINDING_NOTE, "beamtop stacks NODE '<0.41.0>'", two_share},
    {"contention", queue_long_by_one, FINDING_LOOK,
     "erlang:apply/2 <0.41.0> (55% of reductions) overloads", queue_full},
    {"contention", queue_long_by_a_kin, FINDING_LOOK,
     "shop_worker (72% of reductions) overloads 2 schedulers", queue_full},
    {"contention", queue_long_by_funs, FINDING_LOOK, "Schedulers are overloaded: mean", queue_full},
    {"code_server", code_hot, FINDING_LOOK, "code_server is busy: 8.0% of reductions", code_some},
};

#endif

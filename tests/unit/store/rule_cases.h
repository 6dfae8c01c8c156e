/* Workloads that trigger a rule, and ones close to them that must not: the healthy gateway, changed. */
#ifndef TESTS_STORE_RULE_CASES_H
#define TESTS_STORE_RULE_CASES_H

#include "beamtop/base/attr.h"
#include "beamtop/store/finding.h"
#include "made.h"

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
    "{\"elixir\":{\"version\":\"1.14.0\",\"sync_threshold\":" sync ",\"discard_threshold\":500},"     \
    "\"handlers\":[{\"id\":\"Elixir.Logger\",\"module\":\"Elixir.Logger.Handler\","                  \
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
static void one_queue(struct made *w)
{
    w->run_queue = 8;
    w->longest = 8;
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
    set_fact(w, "ets", "{\"tables\":[{\"name\":\"sessions\",\"owner\":\"shop\",\"memory_bytes\":50000000}]}");
}
static void binaries_grow(struct made *w)
{
    w->binary_step = w->total_step = 4 * MIB;
    set_fact(w, "binaries", "{\"bytes\":50000000,\"holders\":[{\"pid\":\"<0.41.0>\",\"name\":\"cache\","
                            "\"initial_call\":\"cache:init/1\",\"bytes\":10000000,\"binaries\":9}]}");
}
static void processes_grow(struct made *w)
{
    w->of_processes_step = w->total_step = 4 * MIB;
    w->busy[0].memory_step = 2 * MIB;
    w->busy[1].memory_step = 4 * MIB;
}
static void memory_grows_little(struct made *w)
{
    w->ets_step = w->total_step = 10000;
}

static void few_holders(struct made *w)
{
    w->binary = 200 * MIB;
    set_fact(w, "binaries", "{\"bytes\":209715200,\"holders\":[{\"pid\":\"<0.41.0>\",\"name\":\"cache\","
                            "\"initial_call\":\"cache:init/1\",\"bytes\":180000000,\"binaries\":900}]}");
}
static void carriers_empty(struct made *w)
{
    set_fact(w, "allocators", "{\"allocators\":[{\"name\":\"binary_alloc\",\"blocks_bytes\":40000000,"
                              "\"carriers_bytes\":900000000}]}");
}
static void carriers_small(struct made *w)
{
    set_fact(w, "allocators", "{\"allocators\":[{\"name\":\"binary_alloc\",\"blocks_bytes\":1000000,"
                              "\"carriers_bytes\":9000000}]}");
}
static void forget_fact(struct made *w, const char *key)
{
    for (int i = 0; i < w->n_facts; i++)
        if (strcmp(w->facts[i].key, key) == 0)
            w->facts[i] = w->facts[--w->n_facts];
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
    w->calls[0].calls = 20000;
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
static void switched_seldom(struct made *w)
{
    set_call(w, "Elixir.Gateway.Repo", "put_dynamic_repo", 1, 20);
}

static void link_busy(struct made *w)
{
    set_fact(w, "distribution", "{\"busy_limit_bytes\":1048576,\"nodes\":[{\"node\":\"b@h\","
                                "\"queue_bytes\":2000000}]}");
}
static void link_some(struct made *w)
{
    set_fact(w, "distribution", "{\"busy_limit_bytes\":1048576,\"nodes\":[{\"node\":\"b@h\","
                                "\"queue_bytes\":2000}]}");
}
static void much_garbage(struct made *w)
{
    w->gcs_per_s = 40000;
}
static void garbage_idle(struct made *w)
{
    w->gcs_per_s = 40000;
    w->use = 0.05;
}
static void churn(struct made *w)
{
    w->churn = true;
}
static void same_processes(struct made *w)
{
    for (int i = 0; i < 10; i++) {
        static const char *const pids[] = {"<0.71.0>", "<0.72.0>", "<0.73.0>", "<0.74.0>", "<0.75.0>",
                                           "<0.76.0>", "<0.77.0>", "<0.78.0>", "<0.79.0>", "<0.80.0>"};
        w->busy[w->n_busy] = w->busy[1];
        w->busy[w->n_busy].share = 0.01;
        w->busy[w->n_busy++].pid = pids[i];
    }
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
    {"sync_logger", logger_sync, FINDING_ACT, "#{sync_mode_qlen => 200", logger_async},
    {"sync_logger", logger_overloaded, FINDING_ACT, "sync_mode_qlen 10", logger_async},
    {"sync_logger", logger_in_callers, FINDING_ACT, "works in the process that logs", logger_async},
    {"sync_logger", logger_busy_async, FINDING_LOOK, "Log less", same},
    {"sync_logger", logger_elixirs, FINDING_LOOK, "sync_threshold 20, discard_threshold 500", same},
    {"sync_logger", logger_elixirs_sync, FINDING_ACT, "Logger.configure(sync_threshold: 500)", same},
    {"sync_logger", logger_elixirs_overloaded, FINDING_ACT, "synchronous under this load", same},
    {"sync_logger", logger_beside, FINDING_LOOK, "Log less", same},
    {"contention", queue_long, FINDING_LOOK, "2 schedulers", queue_full},
    {"headroom", idle, FINDING_NOTE, "10.0 %", same},
    {"one_scheduler", one_queue, FINDING_LOOK, "8.0 of the 8.0", even_queues},
    {"mailbox_growth", mailbox_grows, FINDING_LOOK, "gateway:serve/2", mailbox_short},
    {"mailbox_growth", mailbox_explodes, FINDING_ACT, "60000", mailbox_short},
    {"serialised", serialised, FINDING_ACT, "0.98 of the one core", waiting_little},
    {"serialised", serialised, FINDING_ACT, "gateway:init/1", mailbox_grows},
    {"asleep", sleeps_on, FINDING_LOOK, "while 12 messages wait", sleeps_for_nobody},
    {"asleep", sleeps_and_is_sent_more, FINDING_LOOK, "not among those", waits_for_its_answer},
    {"asleep", sleeps_on_27, FINDING_ACT, "update OTP to 27.3.4.8", wakes_now_and_then},
    {"asleep", sleeps_on_27, FINDING_ACT, "while 1 message waits for it", same},
    {"asleep", sleeps_on_28, FINDING_ACT, "OTP 28, erts 16.2", waiting_little},
    {"asleep", sleeps_on_mended_27, FINDING_LOOK, "OTP 27, erts 15.2.7.6", same},
    {"asleep", sleeps_on_mended_28, FINDING_LOOK, "OTP 28, erts 16.2.1", same},
    {"asleep", suspended_asleep, FINDING_LOOK, "sys:resume/1", same},
    {"memory_growth", ets_grows, FINDING_LOOK, "table sessions of shop", memory_grows_little},
    {"memory_growth", binaries_grow, FINDING_LOOK, "<0.41.0> cache refers to 9.54 MiB",
     memory_grows_little},
    {"memory_growth", processes_grow, FINDING_LOOK, "<0.42.0>", memory_grows_little},
    {"binary_holders", few_holders, FINDING_LOOK, "cache:init/1", same},
    {"carriers", carriers_empty, FINDING_LOOK, "+MBas ageffcbf", carriers_small},
    {"carriers", much_resident, FINDING_LOOK, "2.00 GiB are resident", little_resident},
    {"near_limit", processes_near, FINDING_ACT, "+P 524288", same},
    {"near_limit", atoms_soon, FINDING_LOOK, "full in", atoms_steady},
    {"repository_lookup", registry_in_database, FINDING_ACT, "Elixir.Gateway.Schemas", registry_in_ets},
    {"repository_lookup", registry_in_front, FINDING_ACT, "Serve gateway_schemas:fetch",
     registry_before_table},
    {"read_write", registry_in_front, FINDING_NOTE, "87.0 %", no_reads},
    {"pipeline_overhead", registry_in_front, FINDING_NOTE, "1.38 calls", few_stages},
    {"pipeline_overhead", registry_before_table, FINDING_NOTE, "1.38 calls", few_stages},
    {"read_write", same, FINDING_NOTE, "87.0 %", no_reads},
    {"pipeline_overhead", same, FINDING_NOTE, "1.38 calls", few_stages},
    {"pipeline_overhead", requests, FINDING_NOTE, "3.00 calls", few_stages},
    {"pipeline_overhead", many_stages, FINDING_LOOK, "20.00 calls", few_stages},
    {"hot_reads", asked_process, FINDING_LOOK, "each read asks a process", written_often},
    {"dynamic_repo", switched, FINDING_LOOK, "2.00 switches", switched_seldom},
    {"busy_distribution", link_busy, FINDING_ACT, "+zdbbl 4096", link_some},
    {"garbage", much_garbage, FINDING_LOOK, "every 500 reductions", garbage_idle},
    {"churn", churn, FINDING_LOOK, "130 of 134", same_processes},
    {"code_server", code_hot, FINDING_LOOK, "embedded", code_some},
};

#endif

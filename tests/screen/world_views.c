/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "world_views.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"

#define TEXT(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

/* clang-format off */
static const struct calls_function counted[] = {
    {.module = TEXT("Elixir.Shop.Schema.Registry"), .function = TEXT("get"), .arity = 1,
     .application = TEXT("shop"), .calls = 48211, .calls_per_s = 48190.5, .share = 0.31,
     .change = 0.02},
    {.module = TEXT("lists"), .function = TEXT("map"), .arity = 2, .application = TEXT("stdlib"),
     .calls = 31002, .calls_per_s = 30988, .share = 0.199, .change = -0.4},
    {.module = TEXT("Elixir.Shop.Schema.Registry"), .function = TEXT("prepare_query"), .arity = 3,
     .application = TEXT("shop"), .calls = 12011, .calls_per_s = 12006, .share = 0.077,
     .change = 14.2},
    {.module = TEXT("odd mod\x1b"), .function = TEXT("-f/0-fun-1-"), .arity = 0, .calls = 7,
     .calls_per_s = 7, .share = 0.00004, .change = NAN},
};

static const struct calls_sum modules[] = {
    {.module = TEXT("Elixir.Shop.Schema.Registry"), .application = TEXT("shop"), .functions = 6,
     .calls = 74010, .calls_per_s = 73990, .share = 0.47, .change = 0.1},
    {.module = TEXT("lists"), .application = TEXT("stdlib"), .functions = 21, .calls = 40100,
     .calls_per_s = 40080, .share = 0.26, .change = -0.2},
    {.module = TEXT("odd mod\x1b"), .functions = 1, .calls = 7, .calls_per_s = 7,
     .share = 0.00004, .change = NAN},
};

static const struct calls_sum applications[] = {
    {.application = TEXT("shop"), .functions = 88, .calls = 90112, .calls_per_s = 90087,
     .share = 0.58, .change = 0},
    {.application = TEXT("stdlib"), .functions = 130, .calls = 65331, .calls_per_s = 65300,
     .share = 0.42, .change = -0.01},
    {.functions = 1, .calls = 7, .calls_per_s = 7, .share = 0.00004, .change = NAN},
};
/* clang-format on */

static void take_window(struct calls_log *log, bool timed)
{
    struct calls_function rows[ARRAY_LEN(counted)];
    static const struct slice excluded[] = {TEXT("shop_rate:limit/2"), TEXT("lists:map/2")};
    static const struct slice lost[] = {TEXT("shop_reloaded")};
    for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
        rows[i] = counted[i];
        rows[i].timed_calls = rows[i].own_us = rows[i].words = CALLS_UNKNOWN;
        rows[i].us_per_call = rows[i].words_per_call = rows[i].own_share = NAN;
        if (!timed || i == 3)
            continue;
        rows[i].lost = i == 2;
        if (rows[i].lost)
            continue;
        rows[i].timed_calls = rows[i].calls;
        rows[i].own_us = i == 0 ? 412345 : 9120;
        rows[i].own_share = i == 0 ? 0.412 : 0.009;
        rows[i].us_per_call = i == 0 ? 8.55 : 0.294;
        rows[i].words = i == 0 ? 1928440 : 248016;
        rows[i].words_per_call = i == 0 ? 40 : 8;
    }
    const struct calls_window w = {.number = 3,
                                   .functions = 15201,
                                   .called = 1204,
                                   .calls = 155450,
                                   .calls_per_s = 155400,
                                   .load = 0.0004,
                                   .interval_us = 800000,
                                   .asked_us = timed ? 2000000 : CALLS_UNKNOWN,
                                   .excluded = excluded,
                                   .n_excluded = timed ? ARRAY_LEN(excluded) : 0,
                                   .lost = 12,
                                   .lost_modules = lost,
                                   .n_lost_modules = 1,
                                   .timed = timed,
                                   .has_time = timed,
                                   .has_memory = timed,
                                   .rows = rows,
                                   .n_rows = ARRAY_LEN(rows),
                                   .modules = modules,
                                   .n_modules = ARRAY_LEN(modules),
                                   .applications = applications,
                                   .n_applications = ARRAY_LEN(applications)};
    calls_log_window(log, &w);
}

void world_calls(struct calls_log *log, enum calls_world world)
{
    struct calls_state state = {.status.phase = SESSION_WAITING,
                                .functions = 15201,
                                .schedulers = 4,
                                .calls_per_s = 155400,
                                .load = 0.0004};
    calls_log_init(log);
    calls_log_begin(log, world == COUNTED_CALLS ? "app:shop" : "");
    if (world == COUNTED_FIRST)
        state.status.phase = SESSION_RUNNING;
    else if (world == COUNTED_FAILED)
        state.status.phase = SESSION_FAILED;
    else if (world == COUNTED_REFUSED || world == COUNTED_COSTLY)
        state.status.phase = SESSION_ENDED;
    else
        take_window(log, world == COUNTED_TIME);
    if (world == COUNTED_FAILED)
        error_set(&state.status.error, ERR_REFUSED, "others trace here: <0.99.0> (recon_trace)");
    if (world == COUNTED_REFUSED)
        error_set(&state.status.error, ERR_REFUSED,
                  "breakpoints of others stand there, whose counters it "
                  "would overwrite: lists:map/2, lists:seq/2, shop_cart:add/2, shop_front:page/1");
    if (world == COUNTED_COSTLY) {
        state.calls_per_s = 5.8e7;
        state.load = 0.145;
        state.expensive = state.status.check.clean = true;
    }
    if (world == COUNTED_ENDED) {
        state.status.phase = SESSION_ENDED;
        state.status.check.done = state.status.check.clean = true;
        state.windows = 3;
    }
    calls_log_state(log, &state);
}

/* ---- findings */

static const struct evidence of_logger[] = {
    {"share", 0.31, "share", "share of reductions: 31% (mean, ± 2.0% between ticks)"},
    {"mode", NAN, "",
     "handler default (logger_std_h): mode sync, sync_mode_qlen 0, drop_mode_qlen 200, "
     "flush_qlen 1000"},
};
static const struct evidence of_mailbox[] = {
    {"growth", 190, "per_s",
     "message queue: from 112 to 57,112, +190.0/s (linear trend, r = 0.99)"},
};

/* clang-format off */
static struct finding found[] = {
    {.rule = "sync_logger", .severity = FINDING_ACT, .effort = EFFORT_SETTING, .confidence = 0.9,
     .impact = 0.31, .title = "Logger logger_std_h_default blocks its callers: 31% of their time",
     .action = "Make it asynchronous: logger:update_handler_config(default, config, "
               "#{sync_mode_qlen => 200, drop_mode_qlen => 200})",
     .ruled_out_if = "The share falls in the next period: a burst of errors that is over",
     .subject = "logger_std_h_default", .process = "", .application = "", .trace = "",
     .evidence = of_logger, .n_evidence = 2},
    {.rule = "mailbox_growth", .severity = FINDING_LOOK, .effort = EFFORT_SMALL, .confidence = 0.6,
     .impact = 0.12,
     .title = "Message queue of shop_pricing is growing: +57,000 in 5 min, now 57,112",
     .action = "Add back-pressure (call instead of cast)",
     .ruled_out_if = "The queue drops to 0 between batches",
     .subject = "<0.41.0>", .process = "<0.41.0>", .application = "", .trace = "",
     .evidence = of_mailbox, .n_evidence = 1},
    {.rule = "ets_growth", .severity = FINDING_LOOK, .effort = EFFORT_SMALL, .confidence = 0.7,
     .impact = NAN,
     .title = "ETS table shop_carts is growing: +48.0 MiB in 5 min (owner shop_pricing)",
     .action = "Delete what is no longer used", .ruled_out_if = "The table stops growing",
     .subject = "shop_carts", .process = "<0.41.0>", .application = "",
     .trace = "ets:insert(shop_carts, _) -> caller"},
    {.rule = "contention", .severity = FINDING_LOOK, .effort = EFFORT_LARGE, .confidence = 0.7,
     .impact = 0.4, .title = "shop (40% of reductions) overloads 8 schedulers: mean run queue 9.1",
     .action = "Reduce the load of the top applications (W)",
     .ruled_out_if = "Other OS processes on the host take the cores", .subject = "shop",
     .process = "", .application = "shop", .trace = ""},
    {.rule = "repository_lookup", .severity = FINDING_LOOK, .effort = EFFORT_SMALL,
     .confidence = 0.7, .impact = NAN,
     .title = "shop_repo queries the database on every lookup: 1,200/s",
     .action = "Serve shop_repo:get from an ETS table", .ruled_out_if = "A trace shows no query",
     .subject = "shop_repo", .process = "", .application = "", .trace = "shop_repo:get"},
    {.rule = "headroom", .severity = FINDING_NOTE, .effort = EFFORT_LARGE, .confidence = 0.8,
     .impact = NAN, .title = "Schedulers are mostly idle: utilisation 22%, mean run queue 0.3",
     .action = "Look outside the VM", .ruled_out_if = "", .subject = "",
     .process = "", .application = "", .trace = ""},
};
/* clang-format on */

static const char *const not_evaluated[] = {
    "repository_lookup: no calls were counted",
};

void world_findings(struct findings_shown *shown, enum found_world world)
{
    *shown = (struct findings_shown){0};
    arena_init(&shown->found.arena);
    if (world == FOUND_NOT_JUDGED)
        return;
    shown->ticks = 60;
    shown->period_s = 298;
    shown->found.not_evaluated = not_evaluated;
    shown->found.n_not_evaluated = 1;
    if (world == FOUND_SOME) {
        shown->found.items = found;
        shown->found.len = ARRAY_LEN(found);
    }
}

/* ---- samples */

enum { INIT, LOOP, MAP, ADD, PRICE, HASH, GC, COPY, NIF, POLL, MEMCPY, ODD };

/* clang-format off */
static const struct sample_frame frames[] = {
    [INIT] = {FRAME_ERLANG, TEXT("proc_lib:init_p_do_apply/3"), TEXT(""), TEXT("proc_lib.erl"),
              329},
    [LOOP] = {FRAME_ERLANG, TEXT("shop_cart:loop/1"), TEXT(""), TEXT("shop_cart.erl"), 42},
    [MAP] = {FRAME_ERLANG, TEXT("lists:map/2"), TEXT(""), TEXT("lists.erl"), 2082},
    [ADD] = {FRAME_ERLANG, TEXT("'Elixir.Shop.Cart':add/2"), TEXT(""), TEXT("lib/cart.ex"), 17},
    [PRICE] = {FRAME_ERLANG, TEXT("shop_price:of/1"), TEXT(""), TEXT("shop_price.erl"), 8},
    [HASH] = {FRAME_BIF, TEXT("erlang:phash2/1"), TEXT("beam.smp"), TEXT(""), 0},
    [GC] = {FRAME_SHARED, TEXT("global::garbage_collect"), TEXT(""), TEXT(""), 0},
    [COPY] = {FRAME_RUNTIME, TEXT("copy_struct_x"), TEXT("beam.smp"), TEXT(""), 0},
    [NIF] = {FRAME_NIF, TEXT("shop_crypt_sign"), TEXT("shop_crypt.so"), TEXT(""), 0},
    [POLL] = {FRAME_RUNTIME, TEXT("erts_schedule"), TEXT("beam.smp"), TEXT(""), 0},
    [MEMCPY] = {FRAME_LIBC, TEXT("__memmove_avx_unaligned_erms"), TEXT("libc.so.6"), TEXT(""), 0},
    [ODD] = {FRAME_UNKNOWN, TEXT("bad\x1b[2Jname\xff"), TEXT(""), TEXT(""), 0},
};

static const struct {
    double weight;
    uint32_t n, frames[8];
} sampled[] = {
    {310, 5, {INIT, LOOP, MAP, ADD, PRICE}}, {120, 6, {INIT, LOOP, MAP, ADD, PRICE, HASH}},
    {90, 5, {INIT, LOOP, MAP, ADD, GC}},     {75, 4, {INIT, LOOP, MAP, MAP}},
    {140, 3, {INIT, LOOP, NIF}},             {61, 5, {INIT, LOOP, NIF, COPY, MEMCPY}},
    {22, 4, {INIT, LOOP, COPY, MEMCPY}},     {160, 1, {POLL}},
    {12, 2, {POLL, ODD}},                    {4, 2, {POLL, MEMCPY}},
    {3, 3, {INIT, LOOP, ODD}},               {2, 0, {0}},
};

static const struct samples_place ran_on[] = {
    {TEXT("scheduler 1"), 401}, {TEXT("scheduler 2"), 240},
};
static const struct samples_place on_cpus[] = {
    {TEXT("CPU 1"), 400}, {TEXT("CPU 0"), 140}, {TEXT("CPU 12"), 11},
};
static const struct samples_source sampled_processes[] = {
    {TEXT("<0.412.0>"), TEXT("shop_cart"), 641, ran_on, ARRAY_LEN(ran_on), 17},
    {TEXT("<0.77.0>"), TEXT("cart worker\x1b"), 177, NULL, 0, 0},
    {TEXT("<0.9120.3>"), {NULL, 0}, 3, NULL, 0, 0},
};
static const struct samples_source sampled_threads[] = {
    {TEXT("scheduler 1"), TEXT("scheduler"), 551, on_cpus, ARRAY_LEN(on_cpus), 33},
    {TEXT("scheduler 2"), TEXT("scheduler"), 432, on_cpus, 1, 0},
    {TEXT("dirty CPU scheduler 1"), TEXT("dirty CPU scheduler"), 16, NULL, 0, 0},
};
static const struct samples_held sampled_held[] = {
    {TEXT("erlang:phash2/1"), {NULL, 0}, TEXT("shop:price/2"), TEXT("<0.412.0>"), TEXT("shop_cart"),
     TEXT("scheduler 1"), 0.182, 19},
    {TEXT("jose_sign"), TEXT("jose_nif.so"), TEXT("shop:loop/1"), TEXT("<0.77.0>"),
     TEXT("cart worker\x1b"), TEXT("scheduler 2"), 0.0103, 2},
};
/* clang-format on */

static struct stacks *stacks_of_world(void)
{
    struct stacks *s = stacks_new();
    for (size_t i = 0; i < ARRAY_LEN(sampled); i++) {
        uint32_t ids[8];
        for (uint32_t k = 0; k < sampled[i].n; k++)
            ids[k] = stacks_frame(s, &frames[sampled[i].frames[k]]);
        stacks_add(s, ids, sampled[i].n, sampled[i].weight);
    }
    return s;
}

struct stacks *world_samples(struct samples_log *log, enum sampled_world world)
{
    bool none = world == SAMPLED_STARTS || world == SAMPLED_FAILED;
    struct stacks *stacks = none ? stacks_new() : stacks_of_world();
    *log = (struct samples_log){.phase = SAMPLING_ENDED, .for_s = 10};
    log->run = (struct samples_summary){.seconds = none ? NAN : 10.02,
                                        .hz = 99,
                                        .sampler_cpu_s = none ? NAN : 0.031,
                                        .target_cpu_s = none ? NAN : 10.1,
                                        .stacks = stacks};
    if (world == SAMPLED_STARTS)
        log->phase = SAMPLING_STARTS;
    if (world == SAMPLED_FAILED) {
        log->phase = SAMPLING_FAILED;
        snprintf(log->why, sizeof log->why,
                 "perf_event_open is refused (EACCES): set kernel.perf_event_paranoid to 1");
    }
    if (none)
        return stacks;
    struct samples_summary *run = &log->run;
    static const int64_t classes[SAMPLE_CLASSES] = {385, 120, 90, 22, 201, 176, 5};
    run->samples = 999;
    run->processes = sampled_processes;
    run->n_processes = ARRAY_LEN(sampled_processes);
    run->threads = sampled_threads;
    run->n_threads = ARRAY_LEN(sampled_threads);
    run->held = sampled_held;
    run->n_held = ARRAY_LEN(sampled_held);
    memcpy(run->classes, classes, sizeof classes);
    if (world == SAMPLED_RUNS) {
        log->phase = SAMPLING_RUNS;
        run->seconds = 4.5;
        run->lost = 3;
        run->moved_on = 2;
        run->unresolved = 17;
        snprintf(log->note, sizeof log->note, "not pinned (EPERM)");
    }
    if (world == SAMPLED_YIELDS) {
        run->at_yields = true;
        run->n_threads = 0;
        run->held = NULL;
        run->hz = run->sampler_cpu_s = run->target_cpu_s = NAN;
    }
    return stacks;
}

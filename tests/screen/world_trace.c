/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "world_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/etf/build.h"
#include "beamtop/etf/parse.h"

/* clang-format off */
#define WALL_US INT64_C(1763721727123456) /* 10:42:07.123456 */
#define MONO_NS INT64_C(5000000000)
#define SLICE(text) {text, sizeof(text) - 1}
/* clang-format on */

/* The term's bytes; freed by the caller. */
static struct kept_term term(const char *text, uint64_t full_bytes)
{
    struct error err = {0};
    struct builder *b = builder_new();
    size_t len;
    if (etf_parse(b, text, strlen(text), "mq1@host", &err) < 0) {
        fprintf(stderr, "%s\n%s\n", text, err.text);
        abort();
    }
    const uint8_t *bytes = builder_bytes(b, &len);
    char *copy = malloc(len);
    memcpy(copy, bytes, len);
    builder_free(b);
    return (struct kept_term){{copy, len}, full_bytes};
}

/* A line of what a trace brings; NULL texts are not there. */
struct told {
    enum event_kind kind;
    unsigned pattern;
    uint32_t pid;
    const char *name, *module, *function;
    const char *args; /* or the message */
    uint64_t full_bytes;
    const char *caller; /* module; the function is handle_post/2 */
    unsigned depth;
    enum event_outcome outcome;
    const char *class, *result;
    uint64_t latency_us;
    const char *to, *why;
    uint64_t lost;
};

#define CART "{cart,17,[{item,<<\"tea\">>,3},{item,<<\"coffee\">>,1}],#{currency=>eur}}"

static const struct told shop[] = {
    {EVENT_CALL, 0, 912, "cart_worker_3", "shop_cart", "add", "[" CART ",120]", 0, "shop_api", 0,
     OUTCOME_RETURN, NULL, "{ok,7}", 38, NULL, NULL, 0},
    {EVENT_CALL, 0, 914, "cart_worker_5", "shop_cart", "add", "[" CART ",4000]", 0, "shop_api", 0,
     OUTCOME_EXCEPTION, "error", "{out_of_stock,4000}", 212, NULL, NULL, 0},
    {EVENT_CALL, 0, 914, "cart_worker_5", "shop_cart", "add",
     "[{'$cut',1258291,<<\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA\">>},"
     "[first,second|'...']]",
     1258291, "shop_api", 1, OUTCOME_RETURN, NULL,
     "{ok,#{order=>4711,lines=>[{line,1,<<\"tea\">>,300,eur},{line,2,<<\"coffee\">>,950,eur}],"
     "address=>{address,<<\"Hauptstrasse 1\">>,<<\"10115\">>,<<\"Berlin\">>}}}",
     2130, NULL, NULL, 0},
    {EVENT_LOST, 0, 0, NULL, NULL, NULL, NULL, 0, NULL, 0, OUTCOME_NONE, NULL, NULL, 0, NULL,
     "rate", 132},
    {EVENT_SEND, 1, 77, "shop_events", NULL, NULL, "{order_placed,4711,{eur,1250}}", 0, NULL, 0,
     OUTCOME_NONE, NULL, NULL, 0, "shop_audit", NULL, 0},
    {EVENT_RECEIVE, 1, 78, "注文処理プロセス", NULL, NULL,
     "{'$gen_call',{<0.77.0>,[alias|9]},flush}", 0, NULL, 0, OUTCOME_NONE, NULL, NULL, 0, NULL,
     NULL, 0},
    {EVENT_CALL, 0, 48211, "", "shop_cart", "add", "[\"a cart\",7]", 0, "shop_api", 2, OUTCOME_OPEN,
     NULL, NULL, 0, NULL, NULL, 0},
};

/* node: of several; NULL: there is one. */
static void add_of(struct trace_log *log, const struct told *t, size_t nth, const char *node)
{
    struct trace_event e = {
        .node = {node, node ? strlen(node) : 0},
        .bound_us = nth == 0 ? (double)NAN : 140 + (double)nth,
        .same_time = node && nth == 1,
        .late = node && nth == 2,
        .id = t->kind == EVENT_LOST ? 0 : nth + 1,
        .kind = t->kind,
        .pattern = t->pattern,
        .pid = {.id = t->pid},
        .mono_ns = MONO_NS + (int64_t)nth * 554321000,
        .wall_us = WALL_US + (int64_t)nth * 554321,
        .depth = t->depth,
        .outcome = t->outcome,
        .latency_ns = t->latency_us * 1000,
        .lost = t->lost,
        .at_most = t->lost > 0,
    };
    struct kept_term none = {{NULL, 0}, 0};
    struct kept_term args = t->args ? term(t->args, t->full_bytes) : none;
    struct kept_term to = t->to ? term(t->to, 0) : none;
    e.result = t->result ? term(t->result, 0) : none;
    *(t->kind == EVENT_CALL ? &e.args : &e.message) = args;
    e.to = to;
    e.no_receiver = t->to != NULL;
    if (t->name)
        e.name = (struct slice){t->name, strlen(t->name)};
    if (t->module) {
        e.mfa = (struct mfa){{t->module, strlen(t->module)}, {t->function, strlen(t->function)}, 2};
        e.caller = (struct mfa){{t->caller, strlen(t->caller)}, SLICE("handle_post"), 2};
    }
    if (t->class)
        e.class = (struct slice){t->class, strlen(t->class)};
    if (t->why)
        snprintf(e.why, sizeof e.why, "%s", t->why);
    if (t->lost)
        e.until_ns = e.mono_ns + 1200000000;
    trace_log_add(log, &e);
    free((char *)(uintptr_t)args.bytes.s);
    free((char *)(uintptr_t)to.bytes.s);
    free((char *)(uintptr_t)e.result.bytes.s);
}

static void add(struct trace_log *log, const struct told *t, size_t nth)
{
    add_of(log, t, nth, NULL);
}

static void parse(struct traced *t, const char *text)
{
    struct error err = {0};
    size_t at;
    if (patterns_parse(&t->patterns, &t->n_patterns, text, strlen(text), SYNTAX_AUTO, &at, &err) <
        0) {
        fprintf(stderr, "%s\n%s at %zu\n", text, err.text, at);
        abort();
    }
    for (size_t i = 0; i < t->n_patterns; i++)
        trace_log_add_pattern(t->log, t->patterns[i]);
}

static void set_used(struct trace_state *s)
{
    s->used[CAP_TIME_MS] = 9134;
    s->used[CAP_EVENTS] = s->total.shown;
    s->used[CAP_RATE_PER_S] = 193;
    s->used[CAP_WINDOW] = 8;
    s->used[CAP_TERM_BYTES] = 1258291;
    s->used[CAP_BYTES] = 12345;
    s->used[CAP_HEAP_BYTES] = 29 * 1024 * 1024;
}

static void set_counts(struct traced *t)
{
    struct trace_pattern_info *cart = trace_log_pattern_edit(t->log, 0);
    cart->functions = 1;
    cart->counts.seen = 45;
    cart->counts.filtered = 2;
    cart->counts.cut = 1;
    cart->counts.over = 3;
    cart->counts.lost = 1;
    cart->counts.missed = 132;
    cart->counts.missed_at_most = true;
    cart->rate_per_s = 12.5;
    for (uint64_t i = 0; i < 40; i++)
        histogram_add(&cart->latency, 20000 + i * i * 1500);
    for (size_t i = 1; i < t->n_patterns; i++)
        trace_log_pattern_edit(t->log, i)->counts.seen = 1;
}

static void run(struct traced *t)
{
    struct trace_state *s = trace_log_state_edit(t->log);
    parse(t, "shop_cart:add(_, Item) when Item > 100 -> return;caller & "
             "send(shop_audit, _) & receive({'$gen_call', _, _})");
    for (int lost = 0; lost < 2; lost++) /* as a node reports it: late */
        for (size_t i = 0; i < sizeof shop / sizeof shop[0]; i++)
            if ((shop[i].kind == EVENT_LOST) == lost)
                add(t->log, &shop[i], i);
    set_counts(t);
    s->status.phase = SESSION_RUNNING;
    s->isolated = true;
    s->shut = true;
    snprintf(s->shut_why, sizeof s->shut_why, "rate");
    s->preflight.functions = 1;
    s->preflight.processes = 3412;
    set_used(s);
}

static void end(struct traced *t, bool clean)
{
    struct trace_state *s = trace_log_state_edit(t->log);
    run(t);
    s->status.phase = SESSION_ENDED;
    s->shut = false;
    s->end = END_EVENTS;
    s->used[CAP_EVENTS] = 100;
    snprintf(s->end_text, sizeof s->end_text, "events: 100 of 100");
    s->status.check = (struct session_check){.done = true, .clean = clean, .after_us = 4012};
    if (!clean)
        s->status.check.breakpoints = 3;
    if (!clean)
        snprintf(s->status.check.text, sizeof s->status.check.text,
                 "shop_cart:add/2 and 2 more are still traced");
}

static void before(struct traced *t, bool asking)
{
    struct trace_state *s = trace_log_state_edit(t->log);
    parse(t, "lists -> return");
    s->status.phase = asking ? SESSION_ASKING : SESSION_PREPARING;
    if (!asking)
        return;
    s->preflight.functions = 146;
    s->preflight.functions_cut = false;
    s->preflight.calls_per_s = 2140000;
    s->preflight.count_ms = 250;
    s->preflight.load = 0.34;
    s->preflight.expensive = true;
    trace_log_pattern_edit(t->log, 0)->functions = 146;
    snprintf(s->preflight.others, sizeof s->preflight.others, "2 breakpoints, session observer");
}

static void fail(struct traced *t)
{
    struct trace_state *s = trace_log_state_edit(t->log);
    parse(t, "shop_crat:ad/2 -> return");
    s->status.phase = SESSION_FAILED;
    snprintf(s->preflight.why_none, sizeof s->preflight.why_none,
             "shop_crat is not loaded; did you mean shop_cart? It has add/2, add/3 and all/0");
    error_set(&s->status.error, ERR_NOT_FOUND, "nothing to trace: %s", s->preflight.why_none);
}

static void elixir(struct traced *t)
{
    static const struct told calls[] = {
        {EVENT_CALL, 0, 912, "MyApp.Cart.Worker", "Elixir.MyApp.Cart", "add",
         "[#{'__struct__'=>'Elixir.MyApp.Cart',id=>17},[{price,120},{qty,2}]]", 0,
         "Elixir.MyApp.Api", 0, OUTCOME_RETURN, NULL, "{ok,<<\"seven\">>}", 38, NULL, NULL, 0}};
    struct trace_state *s = trace_log_state_edit(t->log);
    parse(t, "MyApp.Cart.add(_, _) :: return;caller");
    add(t->log, &calls[0], 0);
    s->status.phase = SESSION_RUNNING;
    s->preflight.functions = 1;
    set_used(s);
}

static void silent(struct traced *t)
{
    static const struct trace_function function = {
        {SLICE("shop_cart"), SLICE("add"), 2}, 0, 1204, 0, false};
    struct trace_state *s = trace_log_state_edit(t->log);
    parse(t, "shop_cart:add(_, Item) when Item > 100 -> slower 1s");
    trace_log_set_functions(t->log, &function, 1);
    s->status.phase = SESSION_RUNNING;
    s->preflight.functions = 1;
    s->total = (struct trace_counts){.calls = 1204, .calls_known = true, .seen = 54};
    s->total.filtered = 54;
    s->used[CAP_TIME_MS] = 3000;
}

static void count(struct traced *t)
{
    static const struct trace_function functions[] = {
        {{SLICE("lists"), SLICE("map"), 2}, 0, 48211, 91200, false},
        {{SLICE("lists"), SLICE("keyfind"), 3}, 0, 1200400, 4100000, false},
        {{SLICE("lists"), SLICE("never"), 3}, 0, 0, 0, false}};
    struct trace_state *s = trace_log_state_edit(t->log);
    parse(t, "lists -> count;time");
    trace_log_set_functions(t->log, functions, 3);
    trace_log_pattern_edit(t->log, 0)->counts.calls = 1248611;
    trace_log_pattern_edit(t->log, 0)->counts.calls_known = true;
    s->status.phase = SESSION_RUNNING;
    s->preflight.functions = 146;
    s->used[CAP_TIME_MS] = 3000;
}

static void on_several(struct traced *t)
{
    static const char *const names[] = {"shop_a@host1", "shop_b@host2"};
    static const struct trace_node nodes[] = {
        {.name = "shop_a@host1",
         .phase = SESSION_RUNNING,
         .counts = {.seen = 4, .missed = 132, .missed_at_most = true},
         .says = "skipping calls"},
        {.name = "shop_b@host2",
         .phase = SESSION_ENDED,
         .counts = {.seen = 1203, .over = 2},
         .says = "connection lost"},
        {.name = "shop_c@host3",
         .phase = SESSION_FAILED,
         .says = "another tool is tracing this node (redbug)"},
    };
    struct trace_state *s = trace_log_state_edit(t->log);
    parse(t, "shop_cart:add(_, Item) when Item > 100 -> return;caller & send(shop_audit, _)");
    for (size_t i = 0; i < sizeof shop / sizeof shop[0]; i++)
        if (shop[i].kind != EVENT_RECEIVE)
            add_of(t->log, &shop[i], i, names[i % 2]);
    set_counts(t);
    s->status.phase = SESSION_RUNNING;
    s->preflight.functions = 1;
    s->preflight.processes = 6824;
    set_used(s);
    trace_log_set_nodes(t->log, nodes, sizeof nodes / sizeof nodes[0]);
}

void world_trace(struct traced *t, enum trace_world world)
{
    *t = (struct traced){.log = trace_log_new(1000, 1000000)};
    switch (world) {
    case TRACED_NOT:
        break;
    case TRACED_PREPARING:
    case TRACED_ASKING:
        before(t, world == TRACED_ASKING);
        break;
    case TRACED_RUNNING:
        run(t);
        break;
    case TRACED_TRIPPED:
    case TRACED_LEFT:
        end(t, world == TRACED_TRIPPED);
        break;
    case TRACED_FAILED:
        fail(t);
        break;
    case TRACED_ELIXIR:
        elixir(t);
        break;
    case TRACED_SILENT:
        silent(t);
        break;
    case TRACED_COUNTED:
        count(t);
        break;
    case TRACED_SEVERAL:
        on_several(t);
        break;
    }
}

void world_trace_clear(struct traced *t)
{
    trace_log_free(t->log);
    patterns_free(t->patterns, t->n_patterns);
    *t = (struct traced){0};
}

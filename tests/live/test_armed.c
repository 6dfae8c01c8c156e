/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `beamtop armed` tells of real nodes of each release: what another tool armed in the node's
 * single space and in a session, whose it is, and that asking leaves it alone; and our
 * own trace. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../temporary.h"
#include "beamtop/base/attr.h"
#include "node.h"
#include "run.h"

/* clang-format off */
#define COOKIE "armed-cookie"
#define CLEAN_TRIES 200 /* each a question to the node */
#define OWN_LEAST 2       /* processes of a beamtop with a helper */
/* clang-format on */

struct target {
    struct node node;
    pid_t epmd;
    uint16_t epmd_port;
    bool has_sessions;
};

static void begin(struct target *t, const char *release)
{
    char root[512], name[64];
    *t = (struct target){.has_sessions = atoi(release) >= 27};
    if (!node_find_root(release, root, sizeof root))
        skip();
    snprintf(name, sizeof name, "armed%s@127.0.0.1", release);
    t->epmd = node_epmd_start(&t->epmd_port);
    const struct node_options options = {
        .root = root,
        .name = name,
        .long_name = true,
        .cookie = COOKIE,
        .epmd_port = t->epmd_port,
    };
    assert_int_equal(node_start(&t->node, &options), 0);
}

static void end(struct target *t)
{
    node_stop(&t->node);
    node_kill(t->epmd);
}

/* ---- asking */

static json_t *ask(const struct target *t)
{
    struct run r;
    run_program(&r, NULL, "armed %s --timeout 30 --cookie " COOKIE " --epmd-port %u --format json",
                t->node.name, t->epmd_port);
    run_expect(&r, 0);
    assert_int_equal(run_lines(&r), 1);
    json_t *line = run_json(&r, 0);
    assert_string_equal(text_at(line, "schema"), "beamtop.armed/2");
    run_clear(&r);
    return line;
}

/* NULL: there is none. Borrowed. */
static json_t *row_of(json_t *line, const char *what, const char *where, const char *session)
{
    json_t *row;
    size_t i;
    json_array_foreach (at(line, "rows"), i, row) {
        const char *in = text_at(row, "session");
        if (strcmp(text_at(row, "what"), what) == 0 && strcmp(text_at(row, "where"), where) == 0 &&
            strcmp(in ? in : "", session) == 0)
            return row;
    }
    return NULL;
}

static json_t *need(json_t *line, const char *what, const char *where, const char *session,
                    bool beamtop)
{
    json_t *row = row_of(line, what, where, session);
    if (!row) {
        char *text = json_dumps(line, JSON_INDENT(1));
        fail_msg("there is no %s %s in session '%s': %s", what, where, session, text);
    }
    if (json_is_true(at(row, "beamtop")) != beamtop)
        fail_msg("%s %s: whose it is, with tracer '%s'", what, where, text_at(row, "tracer"));
    return row;
}

static void expect_sum(json_t *line, const char *key, double value)
{
    char path[64];
    snprintf(path, sizeof path, "armed.%s", key);
    if (number_at(line, path) != value)
        fail_msg("%s is %g, not %g", key, number_at(line, path), value);
}

/* Waits until nothing is told: what a session had goes some time after it. */
static void await_nothing(const struct target *t)
{
    bool clean = false;
    for (int i = 0; i < CLEAN_TRIES && !clean; i++) {
        json_t *line = ask(t);
        clean = json_array_size(at(line, "rows")) == 0;
        json_decref(line);
    }
    if (!clean)
        fail_msg("something is still armed");
}

static void expect_nothing(const struct target *t)
{
    static const char *const sums[] = {"sessions", "breakpoints",  "processes", "flags",
                                       "monitors", "control_word", "tokens"};
    json_t *line = ask(t);
    for (size_t i = 0; i < ARRAY_LEN(sums); i++)
        expect_sum(line, sums[i], 0);
    assert_int_equal(json_array_size(at(line, "rows")), 0);
    json_decref(line);
}

/* ---- cases */

static void test_nothing(struct target *t)
{
    struct run r;
    expect_nothing(t);
    run_program(&r, NULL, "armed %s --cookie " COOKIE " --timeout 30 --epmd-port %u", t->node.name,
                t->epmd_port);
    run_expect(&r, 0);
    assert_non_null(strstr(r.out, "No active tracing on this node."));
    run_clear(&r);
}

/* As an older tool does it, and as it says it is afterwards: the same before and after we asked. */
static const char foreign_state[] =
    "{erlang:trace_info({lists,seq,2}, all), erlang:trace_info({lists,seq,3}, call_count), "
    "erlang:trace_info(whereis(kernel_sup), all), erlang:system_monitor(), "
    "erlang:system_info(trace_control_word)}.";

static void arm_single_space(struct target *t)
{
    node_expect(&t->node,
                "H = spawn(fun() -> receive stop -> ok end end), register(holder, H), "
                "erlang:trace_pattern({lists,seq,2}, [{['$1','_'],[{'>','$1',5}],[]}], [local]), "
                "erlang:trace_pattern({lists,seq,3}, true, [call_count]), "
                "erlang:trace_pattern({lists,suffix,2}, true, [call_time]), "
                "erlang:trace_pattern({lists,prefix,2}, true, [{meta,H}]), "
                "erlang:trace_pattern(send, [{['_',{foo,'_'}],[],[]}], []), "
                "erlang:trace(whereis(kernel_sup), true, [call,{tracer,H}]), "
                "erlang:trace(new_processes, true, [procs,{tracer,H}]), "
                "erlang:system_monitor(H, [{long_gc,100000}]), "
                "erlang:system_flag(trace_control_word, 17), "
                "lists:seq(1,9,2), lists:seq(1,9,2), lists:suffix([], [a]), ok.",
                "ok");
}

static void disarm_single_space(struct target *t)
{
    node_expect(&t->node,
                "[erlang:trace_pattern({lists,F,2}, false, [O]) || F <- [seq,suffix,prefix], "
                "O <- [local,call_count,call_time,meta]], "
                "erlang:trace_pattern({lists,seq,3}, false, [call_count]), "
                "erlang:trace_pattern(send, true, []), "
                "erlang:trace(all, false, [all]), erlang:trace(new_processes, false, [all]), "
                "erlang:system_monitor(undefined), erlang:system_flag(trace_control_word, 0), "
                "holder ! stop, ok.",
                "ok");
}

static void test_single_space(struct target *t)
{
    char before[4096], after[4096], holder[64], sup[64];
    arm_single_space(t);
    node_eval(&t->node, foreign_state, before, sizeof before);
    node_eval(&t->node, "whereis(holder).", holder, sizeof holder);
    node_eval(&t->node, "whereis(kernel_sup).", sup, sizeof sup);
    json_t *line = ask(t);
    expect_sum(line, "sessions", 0);
    expect_sum(line, "breakpoints", 5);
    expect_sum(line, "breakpoints_shown", 5);
    /* Those that the connection starts are new ones, and followed like them. */
    assert_true(number_at(line, "armed.processes") >= 1);
    expect_sum(line, "flags", number_at(line, "armed.processes") + 1);
    expect_sum(line, "monitors", 1);
    expect_sum(line, "control_word", 17);
    json_t *row = need(line, "breakpoint", "lists:seq/2", "", false);
    assert_string_equal(text_at(row, "traced"), "local");
    assert_string_equal(text_at(row, "text"), "[{['$1','_'],[{'>','$1',5}],[]}]");
    row = need(line, "breakpoint", "lists:seq/3", "", false);
    assert_true(number_at(row, "call_count") >= 2);
    assert_null(text_at(row, "traced"));
    row = need(line, "breakpoint", "lists:suffix/2", "", false);
    assert_true(number_at(row, "call_time_us") >= 0);
    row = need(line, "breakpoint", "lists:prefix/2", "", false);
    assert_string_equal(text_at(row, "traced"), "meta");
    assert_non_null(strstr(text_at(row, "tracer"), " holder"));
    row = need(line, "breakpoint", "send", "", false);
    assert_non_null(strstr(text_at(row, "text"), "foo"));
    row = need(line, "flags", "kernel_sup", "", false);
    assert_string_equal(text_at(row, "pid"), sup);
    assert_string_equal(text_at(row, "text"), "call");
    assert_non_null(strstr(text_at(row, "tracer"), holder));
    need(line, "flags", "new_processes", "", false);
    row = need(line, "monitor", "system_monitor", "", false);
    assert_non_null(strstr(text_at(row, "tracer"), " holder"));
    assert_non_null(strstr(text_at(row, "text"), "long_gc"));
    row = need(line, "control_word", "trace_control_word", "", false);
    assert_int_equal(number_at(row, "value"), 17);
    json_decref(line);
    node_eval(&t->node, foreign_state, after, sizeof after);
    assert_string_equal(after, before);
    disarm_single_space(t);
    expect_nothing(t);
}

/* A system tracer and a token, each set and cleared: the sum and a row say so. */
static void test_sequential(struct target *t)
{
    char holder[64];
    node_expect(&t->node,
                "Q = spawn(fun() -> receive stop -> ok end end), register(sequencer, Q), "
                "seq_trace:set_system_tracer(Q), "
                "P = spawn(fun() -> seq_trace:set_token(label, 17), "
                "receive stop -> ok end end), register(tokened, P), "
                "W = fun W() -> case process_info(P, sequential_trace_token) of "
                "{_, []} -> erlang:yield(), W(); _ -> ok end end, W().",
                "ok");
    node_eval(&t->node, "whereis(sequencer).", holder, sizeof holder);
    json_t *line = ask(t);
    expect_sum(line, "tokens", 1);
    assert_non_null(strstr(text_at(line, "armed.system_tracer"), holder));
    json_t *row = need(line, "system_tracer", "seq_trace", "", false);
    assert_non_null(strstr(text_at(row, "tracer"), " sequencer"));
    row = need(line, "tokens", "seq_trace", "", false);
    assert_int_equal(number_at(row, "processes"), 1);
    json_decref(line);
    node_expect(&t->node, "seq_trace:set_system_tracer(false), ok.", "ok");
    line = ask(t);
    assert_null(text_at(line, "armed.system_tracer"));
    expect_sum(line, "tokens", 1); /* a token outlives its tracer */
    assert_null(row_of(line, "system_tracer", "seq_trace", ""));
    json_decref(line);
    node_expect(&t->node, "sequencer ! stop, seq_trace:reset_trace(), tokened ! stop, ok.", "ok");
    expect_nothing(t);
}

static void test_session(struct target *t)
{
    if (!t->has_sessions)
        return;
    node_expect(&t->node,
                "Me = self(), P = spawn(fun() -> S = trace:session_create(theirs, self(), []), "
                "trace:function(S, {lists,seq,2}, true, [local]), "
                "trace:function(S, {lists,seq,2}, true, [call_count]), "
                "trace:process(S, whereis(kernel_sup), true, [call]), Me ! up, "
                "receive stop -> trace:session_destroy(S) end end), register(theirs, P), "
                "receive up -> ok end.",
                "ok");
    json_t *line = ask(t);
    expect_sum(line, "sessions", 1);
    expect_sum(line, "breakpoints", 1);
    expect_sum(line, "processes", 1);
    json_t *row = need(line, "session", "theirs", "theirs", false);
    assert_int_equal(number_at(row, "breakpoints"), 1);
    assert_int_equal(number_at(row, "processes"), 1);
    row = need(line, "breakpoint", "lists:seq/2", "theirs", false);
    assert_string_equal(text_at(row, "traced"), "local");
    assert_true(number_at(row, "call_count") >= 0);
    row = need(line, "flags", "kernel_sup", "theirs", false);
    assert_non_null(strstr(text_at(row, "tracer"), " theirs"));
    json_decref(line);
    node_expect(&t->node, "length([x || {theirs, _} <- trace:session_info(all)]).", "1");
    node_expect(&t->node,
                "M = monitor(process, theirs), theirs ! stop, "
                "receive {'DOWN', M, _, _, _} -> ok end.",
                "ok");
    await_nothing(t);
    expect_nothing(t);
}

/* While a beamtop traces, another one sees whose that is; afterwards there is nothing. */
static void test_own(struct target *t)
{
    const char *session = t->has_sessions ? "beamtop" : "";
    struct run trace;
    char until[400];
    run_start(&trace, NULL,
              "trace %s lists:seq/2 --procs kernel_sup --time 300s --timeout 30 --cookie " COOKIE
              " --epmd-port %u",
              t->node.name, t->epmd_port);
    /* Asked once it stands: two that connect at the same moment get in each other's way. */
    snprintf(until, sizeof until,
             "F = fun F(0) -> late; F(N) -> case %s of true -> ok; false -> timer:sleep(20), "
             "F(N - 1) end end, F(1000).",
             t->has_sessions
                 ? "lists:all(fun(On) -> lists:keymember(beamtop, 1, trace:session_info(On)) end, "
                   "[whereis(kernel_sup), {lists,seq,2}])"
                 : "erlang:trace_info(whereis(kernel_sup), flags) =/= {flags,[]} andalso "
                   "erlang:trace_info({lists,seq,2}, traced) =:= {traced,local}");
    node_expect(&t->node, until, "ok");
    json_t *line = ask(t);
    json_t *row = need(line, "flags", "kernel_sup", session, true);
    assert_non_null(strstr(text_at(row, "tracer"), " beamtop:"));
    row = need(line, "breakpoint", "lists:seq/2", session, true);
    assert_string_equal(text_at(row, "traced"), "local");
    assert_non_null(strstr(text_at(row, "text"), "get_tcw"));
    if (t->has_sessions)
        need(line, "session", "beamtop", "beamtop", true);
    expect_sum(line, "sessions", t->has_sessions);
    json_decref(line);
    kill(trace.pid, SIGTERM);
    run_wait(&trace, 30000);
    run_clear(&trace);
    await_nothing(t);
    expect_nothing(t);
}

/* On the node: what a connection of a hidden node carries, found by the links of all processes, and
 * what holds that of a beamtop. */
static const char carried[] =
    "Ls = fun(P) -> case process_info(P, links) of {_, L} -> [X || X <- L, is_pid(X)]; _ -> [] end "
    "end, Ks = [P || P <- processes(), lists:any(fun(X) -> node(X) =/= node() end, Ls(P))], "
    "Cs = lists:usort(lists:append([Ls(P) || P <- Ks])), "
    "Hs = [element(5, C) || C <- ets:tab2list(sys_dist), "
    "lists:prefix(\"beamtop\", atom_to_list(element(2, C)))], "
    "lists:usort([P || P <- Hs ++ Ks ++ Cs ++ "
    "lists:append([Ls(P) || P <- Cs, node(P) =:= node()]), node(P) =:= node()]).";

/* How many rows of the last line are among these pids, each of which must say that it is ours. */
static size_t rows_of(const char *pids, struct run *r, bool marked)
{
    size_t n = 0, i;
    json_t *row, *line = run_json(r, -1);
    json_array_foreach (at(line, "rows"), i, row) {
        const char *pid = text_at(row, "pid");
        const char *call = marked ? text_at(row, "initial_call") : NULL;
        n += strstr(pids, pid) != NULL;
        if (marked && strstr(pids, pid) && strcmp(call ? call : "", "beamtop:keeper/0") != 0)
            fail_msg("%s is %s", pid, call);
    }
    json_decref(line);
    return n;
}

/* Another beamtop is no load of the node: in no list, and `armed` says that it is connected, where
 * it has processes there, as for lists of links. */
static void test_beamtop_beside(struct target *t)
{
    static const struct {
        const char *command, *options;
        bool shown;
    } asks[] = {
        {"top", "-n 2 -i 0.5 -R 1000", false},
        {"top", "-n 2 -i 0.5 -R 1000 --own -c pid,initial_call", true},
        {"heapsample", "--top 100", false},
    };
    struct run other, r;
    char pids[4096];
    run_start(&other, NULL,
              "top %s -n 0 -i 0.5 -c pid,links --timeout 30 --cookie " COOKIE " --epmd-port %u",
              t->node.name, t->epmd_port);
    node_await(&t->node, "length(nodes(hidden)).", "1");
    json_t *line = ask(t);
    /* Its processes on the node come one after the other. */
    for (int i = 0; i < CLEAN_TRIES && (number_at(line, "armed.beamtops") == 0 ||
                                        number_at(line, "rows.0.processes") < OWN_LEAST);
         i++) {
        json_decref(line);
        line = ask(t);
    }
    expect_sum(line, "beamtops", 1);
    json_t *row = at(line, "rows.0");
    assert_string_equal(text_at(row, "what"), "connection");
    assert_true(strncmp(text_at(row, "where"), "beamtop", 7) == 0);
    assert_true(number_at(row, "processes") >= OWN_LEAST);
    assert_true(strncmp(text_at(row, "text"), "#Port<", 6) == 0);
    json_decref(line);
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        run_program(&r, NULL, "%s %s %s -F json --timeout 30 --cookie " COOKIE " --epmd-port %u",
                    asks[i].command, t->node.name, asks[i].options, t->epmd_port);
        run_expect(&r, 0);
        node_eval(&t->node, carried, pids, sizeof pids);
        size_t n = rows_of(pids, &r, asks[i].shown);
        if (asks[i].shown ? n < OWN_LEAST : n > 0)
            fail_msg("%s %s: %zu rows of the other beamtop: %s", asks[i].command, asks[i].options,
                     n, r.out);
        run_clear(&r);
    }
    kill(other.pid, SIGTERM);
    run_wait(&other, 30000);
    run_clear(&other);
    await_nothing(t);
}

static void test_release(void **state)
{
    struct target t;
    begin(&t, *state);
    test_nothing(&t);
    test_single_space(&t);
    test_sequential(&t);
    test_session(&t);
    test_own(&t);
    test_beamtop_beside(&t);
    end(&t);
}

int main(void)
{
    return node_run_on_releases("armed", test_release);
}

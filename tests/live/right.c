/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/attr.h"
#include "right.h"

/*
 * Processes that differ in everything that can be ranked, each column in another order (multiples
 * modulo 27), and that stand still. One mailbox that grows, one process that works at a steady
 * pace. Four with a dictionary so large that copies of all would not fit into a heap of ours: none
 * is read. Keys of dictionaries are numbers: no atom is made. It is over when all of
 * them wait. */
static const char workload[] =
    "Idle = [spawn(timer, sleep, [infinity]) || _ <- lists:seq(1, 30)] "
    "  ++ [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 30)], "
    "Deep = fun Deep(0) -> receive stop -> ok end; Deep(N) -> 1 + Deep(N - 1) end, "
    "Start = fun(I) -> Mix = fun(K) -> (I * K) rem 27 end, "
    "  P = spawn(fun() -> "
    "    [put(N, N) || N <- lists:seq(1, 10 * Mix(2))], "
    "    [link(Q) || Q <- lists:sublist(Idle, 2 * Mix(4))], "
    "    [erlang:monitor(process, Q) || Q <- lists:sublist(Idle, 2 * Mix(5))], "
    "    put(0, [binary:copy(<<N:8>>, 70000) || N <- lists:seq(1, Mix(7))]), "
    "    put(-1, lists:seq(1, 3000 * Mix(8))), garbage_collect(), Deep(200 * Mix(10)) end), "
    "  register(list_to_atom(\"r_\" ++ integer_to_list(I)), P), "
    "  [P ! {m, N} || N <- lists:seq(1, 100 * I)] end, "
    "[Start(I) || I <- lists:seq(1, 26)], "
    "Others = [proc_lib:spawn(timer, tc, [fun timer:sleep/1, [infinity]]) || _ <- lists:seq(1, 5)] "
    "++ [spawn(fun() -> put(0, lists:seq(1, 600000)), garbage_collect(), receive stop -> ok end "
    "end) "
    "  || _ <- lists:seq(1, 4)], "
    "register(grow, spawn(fun() -> receive stop -> ok end end)), "
    "timer:send_interval(5, whereis(grow), more), "
    "register(work, spawn(fun() -> (fun W() -> length(lists:seq(1, 20000)), "
    "  erlang:send_after(20, self(), go), receive stop -> ok; go -> W() end end)() end)), "
    "register(tables, spawn(fun() -> [begin T = ets:new(t, [public]), "
    "  [ets:insert(T, {K, K}) || K <- lists:seq(1, 1000)] end || _ <- lists:seq(1, 12)], "
    "  receive stop -> ok end end)), "
    "Still = [tables | [list_to_atom(\"r_\" ++ integer_to_list(I)) || I <- lists:seq(1, 26)]], "
    "Stand = Idle ++ Others ++ [whereis(N) || N <- Still], "
    "Await = fun Await(0) -> late; Await(N) -> "
    "  case lists:usort([process_info(P, status) || P <- Stand]) of [{status, waiting}] -> ok; "
    "  _ -> timer:sleep(50), Await(N - 1) end end, Await(800).";

/* Everything that is compared, in one look, by a process that is gone and forgotten afterwards. */
static const char facts_of_node[] =
    "{_, R} = spawn_monitor(fun() -> Pids = processes() -- [self()], "
    "Keys = [reductions, message_queue_len, memory, total_heap_size, heap_size, stack_size, links, "
    "  monitors, binary, garbage_collection, current_function, status, "
    "  registered_name, monitored_by], "
    "Proc = fun(P) -> case process_info(P, Keys) of undefined -> []; I -> "
    "  V = fun(K) -> element(2, lists:keyfind(K, 1, I)) end, "
    "  {_, Sizes, _} = lists:unzip3(V(binary)), "
    "  Mfa = case V(current_function) of {M, F, A} -> io_lib:format(\"~w:~w/~w\", [M, F, A]); "
    "    _ -> \"\" end, "
    "  App = case application:get_application(P) of {ok, N} -> atom_to_list(N); _ -> \"\" end, "
    "  [io_lib:format(\"\\\"~s\\\":{\\\"reductions\\\":~w,\\\"message_queue_len\\\":~w,"
    "\\\"memory\\\":~w,\\\"total_heap_size\\\":~w,\\\"heap_size\\\":~w,\\\"stack_size\\\":~w,"
    "\\\"links\\\":~w,\\\"monitors\\\":~w,\\\"monitored_by\\\":~w,\\\"binaries\\\":~w,"
    "\\\"binary_bytes\\\":~w,"
    "\\\"minor_gcs\\\":~w,\\\"fn\\\":\\\"~s\\\",\\\"app\\\":\\\"~s\\\"}\", "
    "    [pid_to_list(P), V(reductions), V(message_queue_len), V(memory), V(total_heap_size), "
    "     V(heap_size), V(stack_size), length(V(links)), length(V(monitors)), "
    "     length(V(monitored_by)), length(Sizes), "
    "     lists:sum(Sizes), "
    "     proplists:get_value(minor_gcs, V(garbage_collection)), Mfa, App])] end end, "
    "Ints = lists:join(\",\", [io_lib:format(\"\\\"~w\\\":~w\", [K, N]) || {K, N} <- "
    "  erlang:memory() ++ [{processes_count, erlang:system_info(process_count)}, "
    "  {ports, erlang:system_info(port_count)}, {atoms, erlang:system_info(atom_count)}, "
    "  {ets_tables, length(ets:all())}, {mono_us, erlang:monotonic_time(microsecond)}, "
    "  {wall_us, erlang:system_time(microsecond)}, "
    "  {uptime_ms, element(1, erlang:statistics(wall_clock))}, "
    "  {run_queue, erlang:statistics(total_run_queue_lengths)}, "
    "  {reductions, element(1, erlang:statistics(reductions))}]]), "
    "Procs = lists:join(\",\", lists:append([Proc(P) || P <- Pids])), "
    "ok = file:write_file(\"%s\", [\"{\", Ints, \",\\\"procs\\\":{\", Procs, \"}}\"]) end), "
    "receive {'DOWN', R, _, _, normal} -> ok end.";

/* ---- the target */

void say(struct target *t, const char *expression, const char *expected)
{
    char value[4096];
    assert_int_equal(node_eval(&t->node, expression, value, sizeof value), 0);
    if (strcmp(value, expected) != 0)
        fail_msg("%.300s gives %.2000s", expression, value);
}

double node_number(struct target *t, const char *expression)
{
    char value[256];
    assert_int_equal(node_eval(&t->node, expression, value, sizeof value), 0);
    return strtod(value, NULL);
}

void start_node(struct target *t, const char *const *flags)
{
    struct node_options o = {
        .root = t->root,
        .name = "right@127.0.0.1",
        .long_name = true,
        .epmd_port = t->epmd_port,
    };
    for (size_t i = 0; flags[i]; i++)
        o.flags[i] = flags[i];
    assert_int_equal(node_start(&t->node, &o), 0);
}

struct target *target_of(void **state)
{
    static const char *const flags[] = {"+S", "2:2", "+sbwt", "none", NULL};
    struct target *t = *state;
    if (t->ready)
        return t;
    if (!node_find_root(t->release, t->root, sizeof t->root))
        skip();
    snprintf(t->facts_path_inside, sizeof t->facts_path_inside, "/tmp/beamtop-right-%d.json",
             (int)getpid());
    snprintf(t->facts_path, sizeof t->facts_path, "%s%s", t->root, t->facts_path_inside);
    if (t->epmd == 0)
        t->epmd = node_epmd_start(&t->epmd_port);
    start_node(t, flags);
    say(t, workload, "ok");
    t->ready = true;
    return t;
}

void target_end(struct target *t)
{
    node_stop(&t->node);
    node_kill(t->epmd);
    unlink(t->facts_path);
}

/* Of programs that have ended, processes and all: each is gone when the node gets to it. */
void await_quiet(struct target *t)
{
    node_await_alone(&t->node);
    node_await(&t->node,
               "Count = fun() -> erlang:system_info(process_count) end, N = Count(), "
               "timer:sleep(100), case Count() of N -> quiet; M -> {N, M} end.",
               "quiet");
}

json_t *facts(struct target *t)
{
    char expression[8192];
    json_error_t err;
    snprintf(expression, sizeof expression, facts_of_node, t->facts_path_inside);
    say(t, expression, "ok");
    json_t *root = json_load_file(t->facts_path, 0, &err);
    if (!root)
        fail_msg("facts: %s", err.text);
    return root;
}

/* Without a cost limit: on a busy machine it would say on stderr how seldom it can ask. */
static const char *budget_of(const char *command)
{
    static const char *const with_ticks[] = {"top", "memory", "schedulers", "apps"};
    for (size_t i = 0; i < ARRAY_LEN(with_ticks); i++)
        if (strcmp(with_ticks[i], command) == 0)
            return "--budget 100";
    return "";
}

void start_on(struct target *t, struct run *r, const char *command, const char *args)
{
    run_start(r, NULL, "%s right@127.0.0.1 --cookie secret --timeout 60 --epmd-port %u %s %s",
              command, t->epmd_port, budget_of(command), args);
}

void wait_on(struct run *r)
{
    run_wait(r, 120000);
    run_expect(r, 0);
}

void run_on(struct target *t, struct run *r, const char *command, const char *args)
{
    start_on(t, r, command, args);
    wait_on(r);
}

json_t *json_on(struct target *t, const char *command, const char *args)
{
    struct run r;
    run_on(t, &r, command, args);
    json_t *root = run_json(&r, -1);
    run_clear(&r);
    return root;
}

bool is_near(double v, double before, double after, double slack)
{
    return v >= fmin(before, after) - slack && v <= fmax(before, after) + slack;
}

void expect_near(const char *what, double v, double before, double after, double slack)
{
    if (!is_near(v, before, after, slack))
        fail_msg("%s: %.0f, the node says %.0f and %.0f", what, v, before, after);
}

json_t *row_of(json_t *line, const char *key, const char *value)
{
    json_t *rows = at(line, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *v = text_at(json_array_get(rows, i), key);
        if ((!v && !value) || (v && value && strcmp(v, value) == 0))
            return json_array_get(rows, i);
    }
    fail_msg("no row with %s %s", key, value ? value : "null");
    return NULL;
}

const struct fact_column fact_columns[FACT_COLUMNS] = {
    {"memory_bytes", "memory", 1},
    {"message_queue_len", "message_queue_len", 1},
    {"reductions", "reductions", 1},
    {"total_heap_bytes", "total_heap_size", 8},
    {"heap_bytes", "heap_size", 8},
    {"stack_bytes", "stack_size", 8},
    {"links", "links", 1},
    {"monitors", "monitors", 1},
    {"binary_bytes", "binary_bytes", 1},
    {"minor_gcs", "minor_gcs", 1},
};

bool fact_of(json_t *look, const char *pid, const char *fact, double factor, double *out)
{
    json_t *v = json_object_get(json_object_get(at(look, "procs"), pid), fact);
    *out = v ? json_number_value(v) * factor : (double)NAN;
    return v != NULL;
}

json_t *row_named(json_t *top, const char *name)
{
    json_t *rows = at(top, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *n = text_at(json_array_get(rows, i), "name");
        if (n && strcmp(n, name) == 0)
            return json_array_get(rows, i);
    }
    char *text = json_dumps(top, JSON_COMPACT);
    fail_msg("no %s in %.4000s", name, text);
    return NULL;
}

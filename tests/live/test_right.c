/*
 * What the program prints of a node agrees with what the node says of itself just before and just
 * after: every number between the two, the top 20 by every column, filters, counts, names. On every
 * release that is here. The node writes its own view as JSON into a file.
 */
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
#include "node.h"
#include "run.h"

#define TOP_ROWS 20
#define WORKERS 26     /* r_1 … r_26 of the workload */
#define SLEEPERS 30    /* spawned as timer:sleep(infinity) */
#define BUSY 6         /* endless loops, on 2 schedulers */
#define AT_ONCE 5        /* programs; a node has eight names of ours */
#define CROWD 20000
#define MOVING_MAX 6   /* rows of 20 that may have moved between the two looks of the node */

struct target {
    const char *release, *root_name;
    char root[512];
    char facts_path[600], facts_path_inside[64];
    struct node node;
    pid_t epmd;
    uint16_t epmd_port;
    bool ready;
};

/*
 * Processes that differ in everything that can be ranked, each column in another order (multiples
 * modulo 27), and that stand still. One mailbox that grows, one process that works at a steady
 * pace. Four with a dictionary so large that copies of all would not fit into a heap of ours. Keys
 * of dictionaries are numbers: no atom is made.
 */
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
    "[proc_lib:spawn(lists, foreach, [fun timer:sleep/1, [infinity]]) || _ <- lists:seq(1, 5)], "
    "[spawn(fun() -> put(0, lists:seq(1, 600000)), garbage_collect(), receive stop -> ok end end) "
    "  || _ <- lists:seq(1, 4)], "
    "register(grow, spawn(fun() -> receive stop -> ok end end)), "
    "timer:send_interval(5, whereis(grow), more), "
    "register(work, spawn(fun() -> (fun W() -> length(lists:seq(1, 20000)), "
    "  receive stop -> ok after 20 -> W() end end)() end)), "
    "register(tables, spawn(fun() -> [begin T = ets:new(t, [public]), "
    "  [ets:insert(T, {K, K}) || K <- lists:seq(1, 1000)] end || _ <- lists:seq(1, 12)], "
    "  receive stop -> ok end end)), "
    "timer:sleep(800), ok.";

/* Everything that is compared, in one look, by a process that is gone and forgotten afterwards. */
static const char facts_of_node[] =
    "{_, R} = spawn_monitor(fun() -> Pids = processes() -- [self()], "
    "Keys = [reductions, message_queue_len, memory, total_heap_size, heap_size, stack_size, links, "
    "  monitors, binary, dictionary, garbage_collection, current_function, status, "
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
    "\\\"dictionary\\\":~w,\\\"minor_gcs\\\":~w,\\\"fn\\\":\\\"~s\\\",\\\"app\\\":\\\"~s\\\"}\", "
    "    [pid_to_list(P), V(reductions), V(message_queue_len), V(memory), V(total_heap_size), "
    "     V(heap_size), V(stack_size), length(V(links)), length(V(monitors)), "
    "     length(V(monitored_by)), length(Sizes), "
    "     lists:sum(Sizes), length(V(dictionary)), "
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

static void say(struct target *t, const char *expression, const char *expected)
{
    char value[4096];
    assert_int_equal(node_eval(&t->node, expression, value, sizeof value), 0);
    if (strcmp(value, expected) != 0)
        fail_msg("%.300s gives %.2000s", expression, value);
}

static double node_number(struct target *t, const char *expression)
{
    char value[256];
    assert_int_equal(node_eval(&t->node, expression, value, sizeof value), 0);
    return strtod(value, NULL);
}

static void start_node(struct target *t, const char *const *flags)
{
    struct node_options o = {
        .root = t->root_name ? t->root : NULL,
        .name = "right@127.0.0.1",
        .long_name = true,
        .epmd_port = t->epmd_port,
    };
    for (size_t i = 0; flags[i]; i++)
        o.flags[i] = flags[i];
    assert_int_equal(node_start(&t->node, &o), 0);
}

/* Starts the release's node at its first test; skips where the release is not here. */
static struct target *target_of(void **state)
{
    static const char *const flags[] = {"+S", "2:2", "+sbwt", "none", NULL};
    struct target *t = *state;
    const char *cache = getenv("BEAMTOP_CACHE");
    snprintf(t->root, sizeof t->root, "%s/%s", cache ? cache : "/var/cache/beamtop",
             t->root_name ? t->root_name : "");
    if (!node_available(t->root_name ? t->root : NULL)) {
        print_message("OTP %s is not here\n", t->release);
        skip();
    }
    if (t->ready)
        return t;
    snprintf(t->facts_path_inside, sizeof t->facts_path_inside, "/tmp/beamtop-right-%d.json",
             (int)getpid());
    snprintf(t->facts_path, sizeof t->facts_path, "%s%s", t->root_name ? t->root : "",
             t->facts_path_inside);
    if (t->epmd == 0)
        t->epmd = node_epmd_start(&t->epmd_port);
    start_node(t, flags);
    say(t, workload, "ok");
    t->ready = true;
    return t;
}

static void test_end(void **state)
{
    struct target *t = *state;
    node_stop(&t->node);
    node_kill(t->epmd);
    unlink(t->facts_path);
    t->epmd = 0;
    t->ready = false;
}

static json_t *facts(struct target *t)
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

/* `beamtop COMMAND right@127.0.0.1 ARGS…` that must succeed. */
static void run_on(struct target *t, struct run *r, const char *command, const char *args)
{
    run_program(r, NULL, "%s right@127.0.0.1 --cookie secret --epmd-port %u %s", command,
                t->epmd_port, args);
    run_expect(r, 0);
}

#define QUICK "-i 0.25 --budget 100 --format json "

static json_t *json_on(struct target *t, const char *command, const char *args)
{
    struct run r;
    run_on(t, &r, command, args);
    json_t *root = run_json(&r, -1);
    run_clear(&r);
    return root;
}

/* ---- numbers of processes */

static void expect_near(const char *what, double v, double before, double after, double slack)
{
    double low = (before < after ? before : after) - slack;
    double high = (before < after ? after : before) + slack;
    if (!(v >= low && v <= high))
        fail_msg("%s: %.0f, the node says %.0f and %.0f", what, v, before, after);
}

static const struct {
    const char *key, *fact;
    double factor;
} columns[] = {
    {"memory_bytes", "memory", 1},
    {"message_queue_len", "message_queue_len", 1},
    {"reductions", "reductions", 1},
    {"total_heap_bytes", "total_heap_size", 8},
    {"heap_bytes", "heap_size", 8},
    {"stack_bytes", "stack_size", 8},
    {"links", "links", 1},
    {"monitors", "monitors", 1},
    {"binary_bytes", "binary_bytes", 1},
    {"dictionary_len", "dictionary", 1},
    {"minor_gcs", "minor_gcs", 1},
};

static bool is_within(double v, double a, double b)
{
    double low = a < b ? a : b, high = a < b ? b : a;
    return v >= low && v <= high;
}

static bool fact_of(json_t *look, const char *pid, const char *fact, double factor, double *out)
{
    json_t *v = json_object_get(json_object_get(at(look, "procs"), pid), fact);
    *out = v ? json_number_value(v) * factor : (double)NAN;
    return v != NULL;
}

/* Every process that the node has both times and that is not shown is not better than the last. */
static void expect_none_missing(json_t *rows, size_t column, json_t *before, json_t *after)
{
    const char *pid;
    json_t *ignored;
    char path[80];
    snprintf(path, sizeof path, "%zu.%s", json_array_size(rows) - 1, columns[column].key);
    double last = number_at(rows, path);
    unsigned missing = 0;
    json_object_foreach(at(before, "procs"), pid, ignored) {
        double b, a;
        bool shown = false;
        if (!fact_of(before, pid, columns[column].fact, columns[column].factor, &b) ||
            !fact_of(after, pid, columns[column].fact, columns[column].factor, &a))
            continue;
        for (size_t i = 0; i < json_array_size(rows); i++)
            shown |= strcmp(text_at(json_array_get(rows, i), "pid"), pid) == 0;
        /* One that moves may have been lower between the looks. */
        if (!shown && a > last && b > last && ++missing > 1)
            fail_msg("by %s: %s with %.0f … %.0f is not among the best, last is %.0f",
                     columns[column].key, pid, b, a, last);
    }
}

static void expect_ranked(struct target *t, size_t column)
{
    char args[200];
    unsigned moved = 0, workers = 0;
    snprintf(args, sizeof args, QUICK "-s %s -c pid,name,%s", columns[column].key,
             columns[column].key);
    json_t *before = facts(t);
    json_t *top = json_on(t, "top", args);
    json_t *after = facts(t);
    json_t *rows = at(top, "rows");
    double above = (double)INFINITY;
    assert_int_equal(json_array_size(rows), TOP_ROWS);
    for (size_t i = 0; i < TOP_ROWS; i++) {
        json_t *row = json_array_get(rows, i);
        const char *pid = text_at(row, "pid"), *name = text_at(row, "name");
        double v = number_at(row, columns[column].key), b, a;
        bool worker = name && strncmp(name, "r_", 2) == 0;
        /* Ranked by the sweep, read again for the row: what moves may be out of order. */
        if (worker && v > above)
            fail_msg("by %s: row %zu with %.0f stands under %.0f", columns[column].key, i, v, above);
        if (worker)
            above = v;
        workers += worker;
        bool known = fact_of(before, pid, columns[column].fact, columns[column].factor, &b) &&
                     fact_of(after, pid, columns[column].fact, columns[column].factor, &a);
        if (known && is_within(v, a, b))
            continue;
        if (worker)
            fail_msg("by %s: %s has %.0f, the node says %.0f and %.0f", columns[column].key, name,
                     v, b, a);
        moved++;
    }
    if (moved > MOVING_MAX)
        fail_msg("by %s: %u rows are not between what the node says", columns[column].key, moved);
    expect_none_missing(rows, column, before, after);
    /* What the workload was made for: it fills the list, with room for the node's own. */
    if (strcmp(columns[column].key, "reductions") != 0 &&
        strcmp(columns[column].key, "minor_gcs") != 0 && workers < TOP_ROWS - 6)
        fail_msg("by %s: only %u of the workload", columns[column].key, workers);
    json_decref(before);
    json_decref(top);
    json_decref(after);
}

static void test_top_by_every_column(void **state)
{
    struct target *t = target_of(state);
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        expect_ranked(t, i);
}

static json_t *row_named(json_t *top, const char *name)
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

struct rate_case {
    const char *sort, *key, *process;
};

/* Rates: the change that the absolute numbers show, over the time that the node measured. */
static bool rate_agrees(json_t *one, json_t *two, const struct rate_case *c, char *why, size_t size)
{
    double seconds = number_at(two, "interval_us") / 1e6;
    double change = number_at(row_named(two, c->process), c->key) -
                    number_at(row_named(one, c->process), c->key);
    double rate = number_at(row_named(two, c->process), c->sort);
    /* Value and sweep are two looks at the process, some milliseconds apart. */
    double near = fabs(change / seconds) * 0.2 + 1000;
    bool grows = rate > 0 || strcmp(c->process, "grow") == 0;
    snprintf(why, size, "%s of %s: %.1f, but %.1f in %.3f s", c->sort, c->process, rate,
             change / seconds, seconds);
    return grows && fabs(rate - change / seconds) <= near;
}

static bool rates_agree(struct target *t, const struct rate_case *c, char *why, size_t size)
{
    char args[300];
    struct run r;
    bool agree = true;
    snprintf(args, sizeof args, QUICK "-n 3 -i 0.5 -s %s -c pid,name,%s,%s -f ^%s$", c->sort,
             c->sort, c->key, c->process);
    run_on(t, &r, "top", args);
    assert_int_equal(run_lines(&r), 3);
    for (int line = 1; line < 3 && agree; line++) {
        json_t *one = run_json(&r, line - 1), *two = run_json(&r, line);
        agree = rate_agrees(one, two, c, why, size);
        json_decref(one);
        json_decref(two);
    }
    run_clear(&r);
    return agree;
}

static void test_top_by_change(void **state)
{
    static const struct rate_case rates[] = {
        {"reductions_per_s", "reductions", "work"},
        {"message_queue_len_per_s", "message_queue_len", "grow"},
        {"memory_bytes_per_s", "memory_bytes", "grow"},
    };
    struct target *t = target_of(state);
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        char why[200];
        /* A busy machine can come between the two looks: that does not happen each time. */
        int tries = 4;
        while (!rates_agree(t, &rates[i], why, sizeof why) && --tries > 0)
            ;
        if (tries == 0)
            fail_msg("%s", why);
    }
    /* A message every 5 ms; the machine may be late, never early. */
    json_t *top = json_on(t, "top", QUICK "-i 1 -s message_queue_len_per_s");
    assert_string_equal(text_at(top, "rows.0.name"), "grow");
    double grows = number_at(top, "rows.0.message_queue_len_per_s");
    if (grows < 100 || grows > 230)
        fail_msg("the mailbox grows by %.1f in a second", grows);
    json_decref(top);
}

static void test_reversed(void **state)
{
    struct target *t = target_of(state);
    json_t *top = json_on(t, "top", QUICK "-r -s message_queue_len -f ^r_ -R 26");
    json_t *rows = at(top, "rows");
    assert_int_equal(json_array_size(rows), WORKERS);
    for (size_t i = 0; i < WORKERS; i++) {
        double len = number_at(json_array_get(rows, i), "message_queue_len");
        if (len != 100.0 * (double)(i + 1))
            fail_msg("row %zu has %.0f messages", i, len);
    }
    json_decref(top);
}

/* ---- filters */

static void test_filters(void **state)
{
    static const struct {
        const char *filter;
        const char *count; /* of the node, as an expression */
        const char *key, *prefix; /* what every row then has */
    } filters[] = {
        {"^r_1", "11.", "name", "r_1"},
        {"name=^r_2$", "1.", "name", "r_2"},
        {"R_26", "0.", NULL, NULL},
        {"^r_(3|4|5)$|^grow$", "4.", NULL, NULL},
        {"app=^kernel$",
         "length([P || P <- processes(), application:get_application(P) =:= {ok, kernel}]).",
         "application", "kernel"},
        {"init=^lists:foreach/2$", "5.", "initial_call", "lists:foreach/2"},
        {"^lists:foreach/2$", "5.", "initial_call", "lists:foreach/2"},
        {"fn=^timer:sleep/1$",
         "length([P || P <- processes(), "
         "process_info(P, current_function) =:= {current_function, {timer, sleep, 1}}]).",
         "current_function", "timer:sleep/1"},
        {"pid=^<0.0.0>$", "1.", "name", "init"},
        {"no such thing", "0.", NULL, NULL},
    };
    struct target *t = target_of(state);
    struct run runs[ARRAY_LEN(filters)];
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        /* Some at a time. */
        for (size_t k = i; i % AT_ONCE == 0 && k < i + AT_ONCE && k < ARRAY_LEN(filters); k++)
            run_start(&runs[k], NULL, "top right@127.0.0.1 --cookie secret --epmd-port %u " QUICK
                      "-R 200 -c pid,name,application,initial_call,current_function -f '%s'",
                      t->epmd_port, filters[k].filter);
        run_wait(&runs[i], 30000);
        run_expect(&runs[i], 0);
        json_t *top = run_json(&runs[i], -1);
        run_clear(&runs[i]);
        double expected = node_number(t, filters[i].count);
        json_t *rows = at(top, "rows");
        /* The node has a process for each of our connections while we look. */
        double more = (double)json_array_size(rows) - expected;
        bool moves = strstr(filters[i].filter, "kernel") != NULL;
        double gone = number_at(top, "scan.matching") - (double)json_array_size(rows);
        if (gone < 0 || gone > (moves ? AT_ONCE : 0) || more < 0 || more > (moves ? AT_ONCE : 0))
            fail_msg("%s: %.0f match, %zu rows, the node says %.0f", filters[i].filter,
                     number_at(top, "scan.matching"), json_array_size(rows), expected);
        for (size_t k = 0; filters[i].key && k < json_array_size(rows); k++) {
            const char *text = text_at(json_array_get(rows, k), filters[i].key);
            if (!text || strncmp(text, filters[i].prefix, strlen(filters[i].prefix)) != 0)
                fail_msg("%s: a row with %s %s", filters[i].filter, filters[i].key,
                         text ? text : "null");
        }
        json_decref(top);
    }
}

static void test_own(void **state)
{
    struct target *t = target_of(state);
    json_t *without = json_on(t, "top", QUICK "-R 1000");
    json_t *with = json_on(t, "top", QUICK "-R 1000 --own");
    double own = number_at(with, "scan.own");
    assert_true(own >= 2);
    assert_true(number_at(without, "scan.own") >= 2);
    /* One or two of the node's own may end between sweep and row. */
    double listed = (double)json_array_size(at(without, "rows"));
    expect_near("listed", listed, number_at(without, "scan.total"),
                number_at(without, "scan.total"), 2);
    double shown = (double)json_array_size(at(with, "rows")) - number_at(with, "scan.total");
    /* One that answers another question of the same tick may have ended meanwhile. */
    if (shown > own || shown < own - 2)
        fail_msg("%.0f more rows, but %.0f own processes", shown, own);
    /* Nothing else comes or goes: with ours it is the VM's own count. */
    double vm = number_at(without, "system.processes");
    double seen = number_at(without, "scan.total") + number_at(without, "scan.own");
    if (fabs(vm - seen) > 4)
        fail_msg("the VM counts %.0f, we see %.0f", vm, seen);
    json_decref(without);
    json_decref(with);
}

/* ---- the system's numbers */

static void expect_system(json_t *line, json_t *before, json_t *after)
{
    /* Our own processes and their answers are part of what the node has while we look. */
    static const struct {
        const char *key, *fact;
        double slack;
    } numbers[] = {
        {"system.memory_total_bytes", "total", 10e6},
        {"system.memory_processes_bytes", "processes", 10e6},
        {"system.memory_processes_used_bytes", "processes_used", 10e6},
        {"system.memory_system_bytes", "system", 2e6},
        {"system.memory_atom_bytes", "atom", 1e5},
        {"system.memory_atom_used_bytes", "atom_used", 1e5},
        {"system.memory_binary_bytes", "binary", 1e6},
        {"system.memory_code_bytes", "code", 5e5},
        {"system.memory_ets_bytes", "ets", 5e4},
        {"system.processes", "processes_count", 10},
        {"system.ports", "ports", 1},
        {"system.atoms", "atoms", 400},
        {"system.ets_tables", "ets_tables", 1},
        {"system.uptime_ms", "uptime_ms", 1000},
        {"wall_us", "wall_us", 1000},
    };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        expect_near(numbers[i].key, number_at(line, numbers[i].key),
                    number_at(before, numbers[i].fact), number_at(after, numbers[i].fact),
                    numbers[i].slack);
    double sum = number_at(line, "system.memory_processes_bytes") +
                 number_at(line, "system.memory_system_bytes");
    expect_near("total", sum, number_at(line, "system.memory_total_bytes"),
                number_at(line, "system.memory_total_bytes"), 1e5);
}

static void test_system(void **state)
{
    static const char *const commands[] = {"top", "info"};
    struct target *t = target_of(state);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        json_t *before = facts(t);
        json_t *line = json_on(t, commands[i], "--format json");
        json_t *after = facts(t);
        char schema[64];
        snprintf(schema, sizeof schema, "beamtop.%s/1", commands[i]);
        assert_string_equal(text_at(line, "schema"), schema);
        assert_string_equal(text_at(line, "node"), "right@127.0.0.1");
        expect_system(line, before, after);
        json_decref(before);
        json_decref(line);
        json_decref(after);
    }
}

static void test_info(void **state)
{
    static const struct {
        const char *key, *expression; /* a text or a number of the node */
    } infos[] = {
        {"otp", "list_to_atom(erlang:system_info(otp_release))."},
        {"erts", "list_to_atom(erlang:system_info(version))."},
        {"emulator", "try erlang:system_info(emu_flavor) catch _:_ -> emu end."},
        {"os_pid", "list_to_atom(os:getpid())."},
        {"code_mode", "code:get_mode()."},
        {"word_bytes", "erlang:system_info(wordsize)."},
        {"cpus", "erlang:system_info(logical_processors_available)."},
        {"schedulers", "erlang:system_info(schedulers)."},
        {"schedulers_online", "erlang:system_info(schedulers_online)."},
        {"dirty_cpu_schedulers", "erlang:system_info(dirty_cpu_schedulers)."},
        {"dirty_cpu_schedulers_online", "erlang:system_info(dirty_cpu_schedulers_online)."},
        {"dirty_io_schedulers", "erlang:system_info(dirty_io_schedulers)."},
        {"process_limit", "erlang:system_info(process_limit)."},
        {"port_limit", "erlang:system_info(port_limit)."},
        {"atom_limit", "erlang:system_info(atom_limit)."},
        {"ets_limit", "erlang:system_info(ets_limit)."},
        {"net_tick_s", "net_kernel:get_net_ticktime()."},
    };
    struct target *t = target_of(state);
    json_t *line = json_on(t, "info", "--format json");
    for (size_t i = 0; i < ARRAY_LEN(infos); i++) {
        char said[256], shown[256];
        json_t *v = at(at(line, "info"), infos[i].key);
        assert_int_equal(node_eval(&t->node, infos[i].expression, said, sizeof said), 0);
        size_t len = strlen(said);
        if (said[0] == '\'') {
            memmove(said, said + 1, len - 2);
            said[len - 2] = '\0';
        }
        if (json_is_string(v))
            snprintf(shown, sizeof shown, "%s", json_string_value(v));
        else
            snprintf(shown, sizeof shown, "%lld", (long long)json_integer_value(v));
        /* "25.2.3" of the release "25" */
        if (strncmp(shown, said, strlen(said)) != 0 ||
            (shown[strlen(said)] && shown[strlen(said)] != '.'))
            fail_msg("%s: %s, the node says %s", infos[i].key, shown, said);
    }
    assert_true(strncmp(text_at(line, "info.otp"), t->release, 2) == 0);
    json_decref(line);
}

/* Two schedulers with six endless loops: four wait, and both work all the time. */
static void test_busy(void **state)
{
    struct target *t = target_of(state);
    json_t *idle = json_on(t, "schedulers", "-i 1 --format json");
    say(t,
        "[register(list_to_atom(\"busy_\" ++ integer_to_list(I)), spawn(fun() -> "
        "(fun L() -> length(lists:seq(1, 1000)), L() end)() end)) || I <- lists:seq(1, 6)], ok.",
        "ok");
    struct run r;
    run_on(t, &r, "schedulers", "-n 5 -i 0.4 --budget 100 --format json");
    json_t *top = json_on(t, "top", "-i 1 --budget 100 --format json");
    say(t, "[exit(whereis(list_to_atom(\"busy_\" ++ integer_to_list(I))), kill) "
           "|| I <- lists:seq(1, 6)], ok.", "ok");

    double queues = 0, use = 1;
    size_t lines = run_lines(&r);
    for (size_t i = 0; i < lines; i++) {
        json_t *line = run_json(&r, (int)i);
        json_t *rows = at(line, "rows");
        double queue = 0;
        for (size_t k = 0; k < 2; k++) {
            json_t *row = json_array_get(rows, k);
            assert_string_equal(text_at(row, "kind"), "normal");
            queue += number_at(row, "queue_len");
            use = fmin(use, number_at(row, "use"));
        }
        double total = number_at(line, "system.run_queue");
        if (fabs(queue - total) > 3)
            fail_msg("queues of %.0f, but %.0f in all", queue, total);
        assert_true(number_at(line, "system.run_queue_highest") <= queue);
        queues += queue;
        json_decref(line);
    }
    queues /= (double)lines;
    if (queues < BUSY - 4 || queues > BUSY + 2)
        fail_msg("%.1f wait on average", queues);
    if (use < 0.9)
        fail_msg("a scheduler works %.3f of the time", use);
    if (number_at(idle, "system.scheduler_use") > 0.7)
        fail_msg("the idle node works %.3f of the time", number_at(idle, "system.scheduler_use"));
    for (int i = 0; i < BUSY; i++) {
        char path[40];
        snprintf(path, sizeof path, "rows.%d.name", i);
        const char *name = text_at(top, path);
        assert_true(name && strncmp(name, "busy_", 5) == 0);
    }
    double share = 0;
    for (int i = 0; i < BUSY; i++) {
        char path[40];
        snprintf(path, sizeof path, "rows.%d.reductions_share", i);
        share += number_at(top, path);
    }
    if (share < 0.7 || share > 1.05)
        fail_msg("the loops have %.3f of all reductions", share);
    run_clear(&r);
    json_decref(idle);
    json_decref(top);
}

static void test_schedulers(void **state)
{
    static const struct {
        const char *kind, *expression;
    } kinds[] = {
        {"normal", "erlang:system_info(schedulers)."},
        {"dirty_cpu", "erlang:system_info(dirty_cpu_schedulers)."},
        {"dirty_io", "erlang:system_info(dirty_io_schedulers)."},
    };
    struct target *t = target_of(state);
    json_t *line = json_on(t, "schedulers", "--format json");
    json_t *rows = at(line, "rows");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        double n = 0;
        for (size_t k = 0; k < json_array_size(rows); k++) {
            json_t *row = json_array_get(rows, k);
            if (strcmp(text_at(row, "kind"), kinds[i].kind) != 0)
                continue;
            n++;
            assert_true(number_at(row, "id") == (double)(k + 1));
            assert_true(number_at(row, "use") >= 0 && number_at(row, "use") <= 1);
        }
        if (n != node_number(t, kinds[i].expression))
            fail_msg("%.0f schedulers of kind %s", n, kinds[i].kind);
    }
    json_decref(line);
}

/* ---- allocators, applications, one process */

static json_t *row_of(json_t *line, const char *key, const char *value)
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

static double blocks_of(json_t *line, const char *allocator)
{
    json_t *row = row_of(line, "allocator", allocator);
    return number_at(row, "mbcs_block_bytes") + number_at(row, "sbcs_block_bytes") +
           number_at(row, "pool_block_bytes");
}

static void test_memory(void **state)
{
    struct target *t = target_of(state);
    json_t *before = facts(t);
    json_t *line = json_on(t, "memory", "--format json");
    json_t *after = facts(t);
    json_t *rows = at(line, "rows");
    double blocks = 0, carriers = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        char expression[200];
        snprintf(expression, sizeof expression,
                 "length([1 || {instance, _, _} <- erlang:system_info({allocator, %s})]).",
                 text_at(row, "allocator"));
        if (number_at(row, "instances") != node_number(t, expression))
            fail_msg("%s: %.0f instances", text_at(row, "allocator"), number_at(row, "instances"));
        blocks += blocks_of(line, text_at(row, "allocator"));
        carriers += number_at(row, "mbcs_carrier_bytes") + number_at(row, "sbcs_carrier_bytes") +
                    number_at(row, "pool_carrier_bytes");
    }
    assert_true(blocks == number_at(line, "allocation.block_bytes"));
    assert_true(carriers == number_at(line, "allocation.carrier_bytes"));
    assert_true(blocks < carriers);
    /* erlang:memory/1 adds up the same blocks. */
    expect_near("ets_alloc", blocks_of(line, "ets_alloc"), number_at(before, "ets"),
                number_at(after, "ets"), 0.1 * number_at(after, "ets") + 3e5);
    expect_near("binary_alloc", blocks_of(line, "binary_alloc"), number_at(before, "binary"),
                number_at(after, "binary"), 0.1 * number_at(after, "binary"));
    if (!t->root_name) { /* the others have no /proc */
        double rss = node_number(t, "1024 * list_to_integer(string:trim(os:cmd(\"grep VmRSS /proc/\""
                                    " ++ os:getpid() ++ \"/status | tr -dc 0-9\"))).");
        expect_near("rss", number_at(line, "system.rss_bytes"), rss, rss, 0.3 * rss);
    }
    json_decref(before);
    json_decref(line);
    json_decref(after);
}

struct app_sum {
    double processes, memory, messages;
};

static struct app_sum sum_app(json_t *look, const char *app)
{
    struct app_sum s = {0, 0, 0};
    const char *pid;
    json_t *p;
    json_object_foreach(at(look, "procs"), pid, p) {
        if (strcmp(text_at(p, "app"), app) != 0)
            continue;
        s.processes++;
        s.memory += number_at(p, "memory");
        s.messages += number_at(p, "message_queue_len");
    }
    return s;
}

static void test_apps(void **state)
{
    static const char *const apps[] = {"kernel", ""};
    struct target *t = target_of(state);
    json_t *before = facts(t);
    json_t *line = json_on(t, "apps", "--format json");
    json_t *after = facts(t);
    assert_true(json_is_false(at(line, "applications.partial")));
    for (size_t i = 0; i < ARRAY_LEN(apps); i++) {
        struct app_sum b = sum_app(before, apps[i]), a = sum_app(after, apps[i]);
        json_t *row = row_of(line, "application", *apps[i] ? apps[i] : NULL);
        expect_near("processes", number_at(row, "processes"), b.processes, a.processes, 2);
        expect_near("memory", number_at(row, "memory_bytes"), b.memory, a.memory,
                    0.2 * a.memory + 2e6);
        expect_near("messages", number_at(row, "message_queue_len"), b.messages, a.messages, 3);
    }
    json_decref(before);
    json_decref(line);
    json_decref(after);
}

static void expect_process(json_t *p, json_t *before, json_t *after, const char *pid)
{
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        double b, a, v = number_at(p, columns[i].key);
        assert_true(fact_of(before, pid, columns[i].fact, columns[i].factor, &b));
        assert_true(fact_of(after, pid, columns[i].fact, columns[i].factor, &a));
        if (!is_within(v, b, a))
            fail_msg("%s: %.0f, the node says %.0f and %.0f", columns[i].key, v, b, a);
    }
}

static void test_process(void **state)
{
    struct target *t = target_of(state);
    char pid[64], args[200];
    assert_int_equal(node_eval(&t->node, "whereis(r_5).", pid, sizeof pid), 0);
    snprintf(args, sizeof args, "'%s' --format json", pid);
    json_t *before = facts(t);
    json_t *by_pid = json_on(t, "process", args);
    json_t *by_name = json_on(t, "process", "r_5 --format json");
    json_t *after = facts(t);
    json_t *both[] = {by_pid, by_name};
    for (size_t i = 0; i < 2; i++) {
        json_t *line = both[i];
        assert_string_equal(text_at(line, "process.pid"), pid);
        assert_string_equal(text_at(line, "process.name"), "r_5");
        assert_string_equal(text_at(line, "process.status"), "waiting");
        assert_string_equal(text_at(line, "process.priority"), "normal");
        assert_string_equal(text_at(line, "process.message_queue_data"), "on_heap");
        expect_process(at(line, "process"), before, after, pid);
        /* (5 * K) rem 27 of the workload */
        assert_true(number_at(line, "dictionary.count") == 102);
        assert_true(number_at(line, "links.count") == 40);
        assert_true(number_at(line, "monitors.count") == 50);
        assert_true(json_array_size(at(line, "largest_binaries")) == 8);
        assert_true(number_at(line, "largest_binaries.0.bytes") == 70000);
        assert_true(number_at(line, "process.message_queue_len") == 500);
        assert_true(json_array_size(at(line, "stack")) > 0);
        assert_string_equal(text_at(line, "stack.0.function"),
                            text_at(line, "process.current_function"));
    }
    json_decref(before);
    json_decref(after);
    json_decref(by_pid);
    json_decref(by_name);

    static const char *const gone[] = {"nosuch", "'<0.9999.0>'", "'<0.0.77>'"};
    for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
        struct run r;
        run_program(&r, NULL, "process right@127.0.0.1 --cookie secret --epmd-port %u %s",
                    t->epmd_port, gone[i]);
        run_expect_error(&r, 1, "");
        run_clear(&r);
    }
}

/* ---- names */

/* Neither text nor CSV has a byte that could steer a terminal. */
static void expect_tame(const struct run *r)
{
    for (size_t i = 0; i < r->out_len; i++) {
        unsigned char c = (unsigned char)r->out[i];
        if ((c < 0x20 && c != '\n' && c != '\r') || c == 0x7f ||
            (c == 0xc2 && (unsigned char)r->out[i + 1] < 0xa0))
            fail_msg("byte %02x at %zu of: %.3000s", c, i, r->out);
    }
}

static void test_hostile_names(void **state)
{
    static const struct {
        const char *erlang, *name; /* the name that JSON then says */
    } names[] = {
        {"'h_\\e[31mred'", "h_\x1b[31mred"},
        {"'h_new\\nline'", "h_new\nline"},
        {"'h_\\x{65e5}\\x{672c}\\x{8a9e}'", "h_日本語"},
        {"'h_\\xe9\\xff'", "h_éÿ"},
        {"'h_\\\"quoted,\\\\\\\\'", "h_\"quoted,\\\\"},
        {"'h_\\x{9b}31m'", "h_\xc2\x9b" "31m"},
        {"'h_\\x{202e}txt'", "h_\u202etxt"},
        {"'h_nul\\0end'", NULL},
    };
    static const char *const formats[] = {"json", "csv", "text"};
    struct target *t = target_of(state);
    char expression[400];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(expression, sizeof expression,
                 "register(%s, spawn(timer, sleep, [infinity])), ok.", names[i].erlang);
        say(t, expression, "ok");
    }
    bool labels = atoi(t->release) >= 27;
    if (labels)
        say(t, "[spawn(fun() -> proc_lib:set_label(L), receive stop -> ok end end) || L <- "
               "[\"lab\\e[1m\\n\", <<\"lab\\xff\\xfe\">>, {lab, \"\\x{65e5}\"}, <<\"lab_plain\">>]], "
               "ok.", "ok");
    for (size_t k = 0; k < ARRAY_LEN(formats); k++) {
        struct run r;
        char args[200];
        snprintf(args, sizeof args,
                 "-i 0.25 --budget 100 -R 100 -c pid,name,label -f '^h_|lab' --format %s",
                 formats[k]);
        run_on(t, &r, "top", args);
        expect_tame(&r);
        if (k == 0) {
            json_t *top = run_json(&r, 0);
            assert_int_equal(json_array_size(at(top, "rows")),
                             ARRAY_LEN(names) + (labels ? 4 : 0));
            for (size_t i = 0; i < ARRAY_LEN(names); i++)
                if (names[i].name)
                    row_named(top, names[i].name);
            if (labels)
                row_of(top, "label", "lab_plain");
            json_decref(top);
        }
        run_clear(&r);
    }
    struct run r;
    run_on(t, &r, "process", "'h_new\nline' --format json");
    json_t *line = run_json(&r, 0);
    assert_string_equal(text_at(line, "process.name"), "h_new\nline");
    json_decref(line);
    run_clear(&r);
}

/* ---- crowds and company */

static void expect_lines(struct run *r, size_t n)
{
    if (run_lines(r) != n)
        fail_msg("%zu lines, not %zu: %.1000s", run_lines(r), n, r->err);
    for (size_t i = 0; i < n; i++)
        json_decref(run_json(r, (int)i));
}

static void test_births_and_deaths(void **state)
{
    static const char *const sorts[] = {"reductions_per_s", "memory_bytes", "binary_bytes"};
    struct target *t = target_of(state);
    say(t, "register(churn, spawn(fun() -> (fun C() -> [spawn(timer, sleep, [N]) || "
           "N <- lists:seq(1, 40)], receive stop -> ok after 5 -> C() end end)() end)), ok.", "ok");
    for (size_t i = 0; i < ARRAY_LEN(sorts); i++) {
        struct run r;
        char args[200];
        snprintf(args, sizeof args, QUICK "-n 4 -R 100 -s %s -f 'sleep|r_'", sorts[i]);
        run_on(t, &r, "top", args);
        expect_lines(&r, 4);
        run_clear(&r);
    }
    say(t, "churn ! stop, ok.", "ok");
}

static void test_crowd(void **state)
{
    struct target *t = target_of(state);
    say(t, "register(crowd, spawn(fun() -> put(0, [spawn_link(timer, sleep, [infinity]) || "
           "_ <- lists:seq(1, 20000)]), receive stop -> exit(done) end end)), "
           "timer:sleep(300), ok.", "ok");
    double before = node_number(t, "erlang:system_info(process_count).");
    struct run r;
    run_on(t, &r, "top", QUICK "-n 3 -s message_queue_len -f '^r_'");
    expect_lines(&r, 3);
    json_t *top = run_json(&r, -1);
    expect_near("processes", number_at(top, "scan.total"), before, before, 5);
    assert_true(number_at(top, "scan.matching") == WORKERS);
    assert_string_equal(text_at(top, "rows.0.name"), "r_26");
    assert_string_equal(text_at(top, "rows.19.name"), "r_7");
    json_decref(top);
    run_clear(&r);
    top = json_on(t, "top", QUICK "-f fn=timer:sleep");
    assert_true(number_at(top, "scan.matching") >= CROWD + SLEEPERS);
    json_decref(top);
    say(t, "exit(whereis(crowd), kill), timer:sleep(800), ok.", "ok");
}

/* Several at once: each has its own numbers and ends without the others noticing. */
static void test_company(void **state)
{
    enum { N = 3 };
    struct target *t = target_of(state);
    struct run runs[N];
    double before = node_number(t, "erlang:system_info(process_count).");
    for (int i = 0; i < N; i++)
        run_start(&runs[i], NULL,
                  "top right@127.0.0.1 --cookie secret --epmd-port %u -n %d -i 0.3 --budget 100 "
                  "--format json -s %s -f ^r_",
                  t->epmd_port, 2 + 2 * i, i % 2 ? "message_queue_len" : "links");
    for (int i = 0; i < N; i++) {
        run_wait(&runs[i], 30000);
        run_expect(&runs[i], 0);
        expect_lines(&runs[i], (size_t)(2 + 2 * i));
        for (int line = 0; line < 2 + 2 * i; line++) {
            json_t *tick = run_json(&runs[i], line);
            assert_true(number_at(tick, "interval_us") > 150000);
            assert_true(json_is_number(at(tick, "system.scheduler_use")));
            json_decref(tick);
        }
        json_t *top = run_json(&runs[i], -1);
        assert_true(number_at(top, "scan.matching") == WORKERS);
        /* 4 * 20 rem 27 is 26: the most links */
        assert_string_equal(text_at(top, "rows.0.name"), i % 2 ? "r_26" : "r_20");
        json_decref(top);
        run_clear(&runs[i]);
    }
    say(t, "timer:sleep(200), ok.", "ok");
    assert_true(node_number(t, "erlang:system_info(process_count).") == before);
}

static void test_head(void **state)
{
    struct target *t = target_of(state);
    struct run r;
    run_start(&r, NULL, "top right@127.0.0.1 --cookie secret --epmd-port %u -n 0 -i 0.25 "
                        "--budget 100 --format json", t->epmd_port);
    assert_int_equal(run_line(&r, 10000), 0);
    json_decref(run_json(&r, 0));
    run_close_out(&r);
    run_wait(&r, 10000);
    run_expect(&r, 0);
    run_clear(&r);
}

/* ---- other ways to start a node */

static void expect_all_commands(struct target *t, const char *code_mode)
{
    static const char *const commands[] = {"top", "info", "memory", "schedulers", "apps"};
    double modules = node_number(t, "length(code:all_loaded()).");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        json_t *line = json_on(t, commands[i], "--format json");
        if (strcmp(commands[i], "info") == 0)
            assert_string_equal(text_at(line, "info.code_mode"), code_mode);
        json_decref(line);
    }
    json_decref(json_on(t, "process", "kernel_sup --format json"));
    if (strcmp(code_mode, "embedded") == 0)
        assert_true(node_number(t, "length(code:all_loaded()).") == modules);
}

static void test_bare_and_embedded(void **state)
{
    static const struct {
        const char *flags[8], *mode;
    } ways[] = {
        {{"-mode", "embedded", NULL}, "embedded"},
        {{"-boot", "start_clean", "-mode", "interactive", NULL}, "interactive"},
    };
    struct target *t = target_of(state);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        node_stop(&t->node);
        start_node(t, ways[i].flags);
        expect_all_commands(t, ways[i].mode);
    }
    t->ready = false;
    node_stop(&t->node);
}

static void test_elixir(void **state)
{
    static const char *const elixir_flags[] = {"-pa", "/usr/lib/elixir/lib/elixir/ebin", NULL};
    struct target *t = target_of(state);
    if (t->root_name) {
        print_message("# Elixir is tried with this system's own release\n");
        return;
    }
    if (access("/usr/lib/elixir/lib/elixir/ebin/elixir.app", F_OK) != 0) {
        print_message("# no Elixir on this machine\n");
        skip();
    }
    node_stop(&t->node);
    t->ready = false;
    start_node(t, elixir_flags);
    say(t, "{ok, _} = application:ensure_all_started(elixir), io:setopts([list]), ok.", "ok");
    say(t, "{ok, A} = 'Elixir.Agent':start(fun() -> 7 end), register('Elixir.Shop.Cart', A), ok.",
        "ok");
    char version[64];
    node_eval(&t->node, "list_to_atom(binary_to_list('Elixir.System':version())).", version,
              sizeof version);
    json_t *line = json_on(t, "info", "--format json");
    assert_non_null(strstr(version, text_at(line, "info.elixir")));
    assert_true(*text_at(line, "info.elixir") != '\0');
    json_decref(line);
    line = json_on(t, "top", QUICK "-f Shop.Cart");
    assert_int_equal(json_array_size(at(line, "rows")), 1);
    assert_non_null(strstr(text_at(line, "rows.0.name"), "Shop.Cart"));
    json_decref(line);
    json_decref(json_on(t, "process", "Elixir.Shop.Cart --format json"));
    node_stop(&t->node);
}

static struct target targets[] = {
    {.release = "25"},
    {.release = "23", .root_name = "otp-23"},
    {.release = "27", .root_name = "otp-27"},
    {.release = "29", .root_name = "otp-29"},
};

int main(void)
{
    static const struct {
        const char *name;
        CMUnitTestFunction function;
    } checks[] = {
        {"top by every column", test_top_by_every_column},
        {"top by change", test_top_by_change},
        {"reversed", test_reversed},
        {"filters", test_filters},
        {"own processes", test_own},
        {"system", test_system},
        {"info", test_info},
        {"busy", test_busy},
        {"schedulers", test_schedulers},
        {"memory", test_memory},
        {"apps", test_apps},
        {"process", test_process},
        {"hostile names", test_hostile_names},
        {"births and deaths", test_births_and_deaths},
        {"crowd", test_crowd},
        {"company", test_company},
        {"head", test_head},
        {"bare and embedded", test_bare_and_embedded},
        {"elixir", test_elixir},
        {"end", test_end},
    };
    static struct CMUnitTest tests[ARRAY_LEN(targets) * ARRAY_LEN(checks)];
    static char names[ARRAY_LEN(targets) * ARRAY_LEN(checks)][64];
    if (!getenv("BEAMTOP") || !node_available(NULL)) {
        puts("1..0 # SKIP needs BEAMTOP (the program) and an Erlang on this machine");
        return 77;
    }
    for (size_t t = 0; t < ARRAY_LEN(targets); t++)
        for (size_t c = 0; c < ARRAY_LEN(checks); c++) {
            size_t i = t * ARRAY_LEN(checks) + c;
            snprintf(names[i], sizeof names[i], "OTP %s: %s", targets[t].release, checks[c].name);
            tests[i] = (struct CMUnitTest){names[i], checks[c].function, NULL, NULL, &targets[t]};
        }
    const char *only = getenv("BEAMTOP_TEST_ONLY"); /* by hand: a part of a name, with * */
    if (only)
        cmocka_set_test_filter(only);
    return _cmocka_run_group_tests("right", tests, ARRAY_LEN(tests), NULL, NULL);
}

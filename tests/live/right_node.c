/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node as a whole: its numbers, schedulers, allocators, applications, one process. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "right.h"

#define BUSY 6 /* endless loops, on 2 schedulers */

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
        {"system.processes", "processes_count", 19}, /* keeper, waiters, a worker and holders */
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

void test_info(void **state)
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
        {"os", "begin {F, N} = os:type(), {A, B, C} = os:version(), list_to_atom(lists:flatten("
               "io_lib:format(\"~w/~w ~w.~w.~w\", [F, N, A, B, C]))) end."},
        {"start_wall_us", "erlang:convert_time_unit(erlang:system_info(start_time) + "
                          "erlang:time_offset(), native, microsecond)."},
    };
    struct target *t = target_of(state);
    json_t *before = facts(t);
    json_t *line = json_on(t, "info", "--format json");
    /* Where the node had too little time for its memory. */
    for (int i = 0; i < TRIES && json_is_null(at(line, "system.memory_total_bytes")); i++) {
        json_decref(before);
        json_decref(line);
        before = facts(t);
        line = json_on(t, "info", "--format json");
    }
    json_t *after = facts(t);
    assert_string_equal(text_at(line, "schema"), "beamtop.info/2");
    assert_string_equal(text_at(line, "node"), "right@127.0.0.1");
    expect_system(line, before, after);
    json_decref(before);
    json_decref(after);
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

/* The queues of the schedulers, asked for at a moment of their own. */
static double queues_of(json_t *line)
{
    json_t *rows = at(line, "rows");
    double queue = 0;
    for (size_t k = 0; k < 2; k++) {
        json_t *row = json_array_get(rows, k);
        assert_string_equal(text_at(row, "kind"), "normal");
        queue += number_at(row, "queue_len");
    }
    return queue;
}

static double least_use(json_t *line)
{
    json_t *rows = at(line, "rows");
    return fmin(number_at(json_array_get(rows, 0), "utilisation"),
                number_at(json_array_get(rows, 1), "utilisation"));
}

/* Five looks at the busy schedulers. Whoever else is runnable for a moment, after the machine stood
   still, may be in one of them: the mean counts, and most of the looks. */
static bool schedulers_are_busy(struct target *t, char *why, size_t size)
{
    struct run r;
    double queues = 0, use = 1;
    size_t alike = 0;
    run_on(t, &r, "schedulers", "-n 5 -i 0.4 --format json");
    size_t lines = run_lines(&r);
    for (size_t i = 0; i < lines; i++) {
        json_t *line = run_json(&r, (int)i);
        double queue = queues_of(line);
        alike += fabs(queue - number_at(line, "system.run_queue")) <= 3 &&
                 number_at(line, "system.run_queue_highest") <= queue;
        use = fmin(use, least_use(line));
        queues += queue;
        json_decref(line);
    }
    queues /= (double)lines;
    snprintf(why, size,
             "%.1f wait on average, a scheduler works %.3f of the time, %zu of %zu alike", queues,
             use, alike, lines);
    run_clear(&r);
    return queues >= BUSY - 4 && queues <= BUSY + 2 && use >= 0.9 && 2 * alike > lines;
}

/* Once of several times: a processor that somebody else has is not ours to measure. */
static bool holds(struct target *t, bool (*claim)(struct target *t, char *why, size_t size),
                  char *why, size_t size)
{
    for (int i = 0; i < TRIES; i++)
        if (claim(t, why, size))
            return true;
    return false;
}

/* Two schedulers with six endless loops: four wait, and both work all the time. */
void test_busy(void **state)
{
    struct target *t = target_of(state);
    char why[200];
    say(t,
        "[register(list_to_atom(\"busy_\" ++ integer_to_list(I)), spawn(fun() -> "
        "(fun L() -> length(lists:seq(1, 1000)), L() end)() end)) || I <- lists:seq(1, 6)], ok.",
        "ok");
    bool held = holds(t, schedulers_are_busy, why, sizeof why);
    say(t,
        "[exit(whereis(list_to_atom(\"busy_\" ++ integer_to_list(I))), kill) "
        "|| I <- lists:seq(1, 6)], ok.",
        "ok");
    if (!held)
        fail_msg("%s", why);
}

void test_schedulers(void **state)
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
            assert_true(number_at(row, "utilisation") >= 0 && number_at(row, "utilisation") <= 1);
        }
        if (n != node_number(t, kinds[i].expression))
            fail_msg("%.0f schedulers of kind %s", n, kinds[i].kind);
    }
    json_decref(line);
}

/* ---- allocators, applications, one process */

static double blocks_of(json_t *line, const char *allocator)
{
    json_t *row = row_of(line, "allocator", allocator);
    return number_at(row, "mbcs_block_bytes") + number_at(row, "sbcs_block_bytes") +
           number_at(row, "pool_block_bytes");
}

/* What its carriers hold, added up by the node. */
static double blocks_on_node(struct target *t, const char *allocator)
{
    char expression[500];
    snprintf(expression, sizeof expression,
             "lists:sum([element(2, lists:keyfind(size, 1, Counts)) || "
             "{instance, _, I} <- erlang:system_info({allocator, %s}), "
             "{Kind, Props} <- I, lists:member(Kind, [mbcs, sbcs, mbcs_pool]), "
             "{blocks, Types} <- Props, {_, Counts} <- Types]).",
             allocator);
    return node_number(t, expression);
}

/* OTP 23: all allocators share one pool of carriers, so that blocks of one type are in those of
 * another. That of no scheduler, the first instance, is not part of it. */
static bool shares_carriers(struct target *t)
{
    return node_number(t, "length([I || {instance, I, P} <- erlang:system_info({allocator, "
                          "ets_alloc}), {options, O} <- P, lists:member({cp, '@'}, O)]).") > 0;
}

/* What it has before and after, by its carriers, and as erlang:memory/1 says. */
static bool blocks_agree(struct target *t, json_t *line, const char *allocator, double held_before,
                         double before, double after)
{
    double held = blocks_of(line, allocator), held_after = blocks_on_node(t, allocator);
    return is_near(held, held_before, held_after, 0.1 * held_after + 3e5) &&
           /* The same blocks added up, where each is in a carrier of its type. */
           (shares_carriers(t) || is_near(held, before, after, 0.1 * after + 3e5));
}

/* A carrier on its way to the pool, or from it, is counted nowhere at that moment. */
static bool allocators_agree(struct target *t, char *why, size_t size)
{
    json_t *before = facts(t);
    double ets = blocks_on_node(t, "ets_alloc"), binary = blocks_on_node(t, "binary_alloc");
    json_t *line = json_on(t, "memory", "--format json");
    json_t *after = facts(t);
    bool agree = blocks_agree(t, line, "ets_alloc", ets, number_at(before, "ets"),
                              number_at(after, "ets")) &&
                 blocks_agree(t, line, "binary_alloc", binary, number_at(before, "binary"),
                              number_at(after, "binary"));
    snprintf(why, size, "ets_alloc %.0f, before %.0f, after %.0f; binary_alloc %.0f, before %.0f",
             blocks_of(line, "ets_alloc"), ets, number_at(after, "ets"),
             blocks_of(line, "binary_alloc"), binary);
    json_decref(before);
    json_decref(line);
    json_decref(after);
    return agree;
}

/* As this host says: a root of another release has no /proc. */
static double rss_on_host(struct target *t)
{
    char path[64], line[256];
    double kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)t->node.pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (kib == 0 && fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %lf", &kib);
    fclose(f);
    assert_true(kib > 0);
    return 1024 * kib;
}

void test_memory(void **state)
{
    struct target *t = target_of(state);
    double rss = rss_on_host(t);
    json_t *line = json_on(t, "memory", "--format json");
    json_t *rows = at(line, "rows");
    double blocks = 0, carriers = 0;
    char why[200];
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
    double rss_after = rss_on_host(t);
    expect_near("rss", number_at(line, "system.rss_bytes"), rss, rss_after, 0.1 * rss_after);
    json_decref(line);
    if (!holds(t, allocators_agree, why, sizeof why))
        fail_msg("%s", why);
}

struct app_sum {
    double processes, memory, messages;
};

static struct app_sum sum_app(json_t *look, const char *app)
{
    struct app_sum s = {0, 0, 0};
    const char *pid;
    json_t *p;
    json_object_foreach (at(look, "procs"), pid, p) {
        if (strcmp(text_at(p, "app"), app) != 0)
            continue;
        s.processes++;
        s.memory += number_at(p, "memory");
        s.messages += number_at(p, "message_queue_len");
    }
    return s;
}

void test_apps(void **state)
{
    static const char *const apps[] = {"kernel", ""};
    struct target *t = target_of(state);
    json_t *before = facts(t);
    json_t *line = json_on(t, "apps", "--format json");
    /* The node stops after two seconds of its own, which a machine that stands still may take. */
    for (int i = 0; i < TRIES && json_is_true(at(line, "applications.partial")); i++) {
        json_decref(line);
        line = json_on(t, "apps", "--format json");
    }
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
    for (size_t i = 0; i < FACT_COLUMNS; i++) {
        double b, a, v = number_at(p, fact_columns[i].key);
        assert_true(fact_of(before, pid, fact_columns[i].fact, fact_columns[i].factor, &b));
        assert_true(fact_of(after, pid, fact_columns[i].fact, fact_columns[i].factor, &a));
        if (!is_near(v, b, a, 0))
            fail_msg("%s: %.0f, the node says %.0f and %.0f", fact_columns[i].key, v, b, a);
    }
}

/* It runs for a moment when it is asked. */
static void ask_until_waiting(struct target *t, struct run *r, const char *args)
{
    bool waits = false;
    for (int i = 0; i < 20 && !waits; i++) {
        if (i > 0)
            run_clear(r);
        start_on(t, r, "process", args);
        wait_on(r);
        json_t *line = run_json(r, -1);
        waits = strcmp(text_at(line, "process.status"), "waiting") == 0;
        json_decref(line);
    }
    assert_true(waits);
}

void test_process(void **state)
{
    struct target *t = target_of(state);
    char pid[64], args[200];
    assert_int_equal(node_eval(&t->node, "whereis(r_5).", pid, sizeof pid), 0);
    snprintf(args, sizeof args, "'%s' --format json", pid);
    struct run runs[2];
    json_t *before = facts(t);
    ask_until_waiting(t, &runs[0], args);
    ask_until_waiting(t, &runs[1], "r_5 --format json");
    json_t *after = facts(t);
    for (size_t i = 0; i < 2; i++) {
        json_t *line = run_json(&runs[i], -1);
        assert_string_equal(text_at(line, "process.pid"), pid);
        assert_string_equal(text_at(line, "process.name"), "r_5");
        assert_string_equal(text_at(line, "process.priority"), "normal");
        assert_string_equal(text_at(line, "process.message_queue_data"), "on_heap");
        expect_process(at(line, "process"), before, after, pid);
        /* (5 * K) rem 27 of the workload */
        assert_true(json_is_null(at(line, "dictionary.count")));
        assert_true(number_at(line, "links.count") == 40);
        assert_true(number_at(line, "monitors.count") == 50);
        assert_true(json_array_size(at(line, "largest_binaries")) == 8);
        assert_true(number_at(line, "largest_binaries.0.bytes") == 70000);
        assert_true(number_at(line, "process.message_queue_len") == 500);
        assert_true(json_array_size(at(line, "stack")) > 0);
        assert_string_equal(text_at(line, "stack.0.function"),
                            text_at(line, "process.current_function"));
        json_decref(line);
        run_clear(&runs[i]);
    }
    json_decref(before);
    json_decref(after);
}

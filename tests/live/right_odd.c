/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hostile names, crowds, company, other ways to start a node. */
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

#define CROWD 20000

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

void test_hostile_names(void **state)
{
    static const struct {
        const char *erlang, *name; /* the name that JSON then says */
    } names[] = {
        {"'h_\\e[31mred'", "h_\x1b[31mred"},
        {"'h_new\\nline'", "h_new\nline"},
        {"'h_\\x{65e5}\\x{672c}\\x{8a9e}'", "h_日本語"},
        {"'h_\\xe9\\xff'", "h_éÿ"},
        {"'h_\\\"quoted,\\\\\\\\'", "h_\"quoted,\\\\"},
        {"'h_\\x{9b}31m'", "h_\xc2\x9b"
                           "31m"},
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
        say(t,
            "Me = self(), [begin spawn(fun() -> proc_lib:set_label(L), Me ! labelled, "
            "receive stop -> ok end end), receive labelled -> ok end end || L <- "
            "[\"lab\\e[1m\\n\", <<\"lab\\xff\\xfe\">>, {lab, \"\\x{65e5}\"}, <<\"lab_plain\">>]], "
            "ok.",
            "ok");
    for (size_t k = 0; k < ARRAY_LEN(formats); k++) {
        struct run r;
        char args[200];
        snprintf(args, sizeof args, "-i 0.25 -R 100 -c pid,name,label -f '^h_|lab' --format %s",
                 formats[k]);
        run_on(t, &r, "top", args);
        expect_tame(&r);
        if (k == 0) {
            json_t *top = run_json(&r, 0);
            assert_int_equal(json_array_size(at(top, "rows")), ARRAY_LEN(names) + (labels ? 4 : 0));
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

void test_births_and_deaths(void **state)
{
    static const char *const sorts[] = {"reductions_per_s", "memory_bytes", "binary_bytes"};
    struct target *t = target_of(state);
    say(t,
        "register(churn, spawn(fun() -> (fun C() -> [spawn(timer, sleep, [N]) || "
        "N <- lists:seq(1, 40)], receive stop -> ok after 5 -> C() end end)() end)), ok.",
        "ok");
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

void test_crowd(void **state)
{
    struct target *t = target_of(state);
    await_quiet(t);
    say(t,
        "Me = self(), register(crowd, spawn(fun() -> put(0, [spawn_link(timer, sleep, [infinity]) "
        "|| "
        "_ <- lists:seq(1, 20000)]), Me ! there, receive stop -> exit(done) end end)), "
        "receive there -> ok end.",
        "ok");
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
    say(t, "exit(whereis(crowd), kill), ok.", "ok");
    node_await(&t->node, "erlang:system_info(process_count) < 20000.", "true");
    await_quiet(t);
}

/* Several at once: each has its own numbers and ends without the others noticing. */
void test_company(void **state)
{
    enum { N = 3 };
    struct target *t = target_of(state);
    struct run runs[N];
    await_quiet(t);
    double before = node_number(t, "erlang:system_info(process_count).");
    for (int i = 0; i < N; i++)
        run_start(&runs[i], NULL,
                  "top right@127.0.0.1 --cookie secret --timeout 30 --epmd-port %u -n %d -i 0.3 "
                  "--budget 100 "
                  "--format json -s %s -f ^r_",
                  t->epmd_port, 2 + 2 * i, i % 2 ? "message_queue_len" : "links");
    for (int i = 0; i < N; i++) {
        double longest_us = 0;
        run_wait(&runs[i], 60000);
        run_expect(&runs[i], 0);
        expect_lines(&runs[i], (size_t)(2 + 2 * i));
        for (int line = 0; line < 2 + 2 * i; line++) {
            json_t *tick = run_json(&runs[i], line);
            /* One that comes late shortens the one behind it. */
            longest_us = fmax(longest_us, number_at(tick, "interval_us"));
            assert_true(json_is_number(at(tick, "system.scheduler_utilisation")));
            json_decref(tick);
        }
        assert_true(longest_us > 150000);
        json_t *top = run_json(&runs[i], -1);
        assert_true(number_at(top, "scan.matching") == WORKERS);
        /* 4 * 20 rem 27 is 26: the most links */
        assert_string_equal(text_at(top, "rows.0.name"), i % 2 ? "r_26" : "r_20");
        json_decref(top);
        run_clear(&runs[i]);
    }
    await_quiet(t);
    assert_true(node_number(t, "erlang:system_info(process_count).") == before);
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

void test_bare_and_embedded(void **state)
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

void test_elixir(void **state)
{
    static const char *const elixir_flags[] = {"-pa", "/usr/lib/elixir/lib/elixir/ebin", NULL};
    struct target *t = target_of(state);
    if (*t->root)
        return; /* tried with this system's own release */
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

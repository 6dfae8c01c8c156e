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

/* ---- a crowd */

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
    json_t *top = json_on(t, "top", QUICK "-n 3 -s message_queue_len -f '^r_'");
    expect_near("processes", number_at(top, "scan.total"), before, before, 5);
    assert_true(number_at(top, "scan.matching") == WORKERS);
    assert_string_equal(text_at(top, "rows.0.name"), "r_26");
    assert_string_equal(text_at(top, "rows.19.name"), "r_7");
    json_decref(top);
    top = json_on(t, "top", QUICK "-f fn=timer:sleep");
    assert_true(number_at(top, "scan.matching") >= CROWD + SLEEPERS);
    json_decref(top);
    say(t, "exit(whereis(crowd), kill), ok.", "ok");
    node_await(&t->node, "erlang:system_info(process_count) < 20000.", "true");
    await_quiet(t);
}

/* (4 * 20) rem 27 is 26: r_20 has the most links, r_26 the most messages. */
static void expect_of_company(struct run *r, const char *first)
{
    json_t *top = NULL;
    /* Of two ticks in a row each may have come without it where the node had too little time. */
    for (int line = 0; line < 20; line++) {
        json_decref(top);
        assert_int_equal(run_line(r, 60000), 0);
        top = run_json(r, 0);
        if (json_is_number(at(top, "system.scheduler_utilisation")))
            break;
    }
    assert_true(json_is_number(at(top, "system.scheduler_utilisation")));
    assert_true(number_at(top, "scan.matching") == WORKERS);
    assert_string_equal(text_at(top, "rows.0.name"), first);
    json_decref(top);
}

/* Three programs at once: each has its own ticks, its own order and its own numbers, and none is
   seen by another. */
void test_company(void **state)
{
    enum { N = 3 };
    struct target *t = target_of(state);
    struct run runs[N];
    char args[120];
    await_quiet(t);
    double before = node_number(t, "erlang:system_info(process_count).");
    for (int i = 0; i < N; i++) {
        snprintf(args, sizeof args, QUICK "-n 0 -s %s -f ^r_",
                 i % 2 ? "message_queue_len" : "links");
        start_on(t, &runs[i], "top", args);
    }
    for (int line = 0; line < 4; line++) {
        for (int i = 0; i < N; i++)
            expect_of_company(&runs[i], i % 2 ? "r_26" : "r_20");
        node_expect(&t->node, "length(nodes(hidden)).", "3"); /* at once */
    }
    for (int i = 0; i < N; i++)
        run_clear(&runs[i]);
    await_quiet(t);
    assert_true(node_number(t, "erlang:system_info(process_count).") == before);
}

/* ---- other ways to start a node */

/* Everything is asked for, and no module is loaded: none would be found. */
void test_embedded(void **state)
{
    static const char *const flags[] = {"-mode", "embedded", NULL};
    static const struct {
        const char *command, *args;
    } asked[] = {
        {"top", QUICK},
        {"memory", QUICK},
        {"apps", QUICK},
        {"process", "kernel_sup --format json"},
    };
    struct target *t = target_of(state);
    node_stop(&t->node);
    t->ready = false;
    start_node(t, flags);
    double modules = node_number(t, "length(code:all_loaded()).");
    for (size_t i = 0; i < ARRAY_LEN(asked); i++)
        json_decref(json_on(t, asked[i].command, asked[i].args));
    json_t *line = json_on(t, "info", "--format json");
    assert_string_equal(text_at(line, "info.code_mode"), "embedded");
    json_decref(line);
    assert_true(node_number(t, "length(code:all_loaded()).") == modules);
    node_stop(&t->node);
}

void test_elixir(void **state)
{
    static const char *const elixir_flags[] = {"-pa", "/usr/lib/elixir/lib/elixir/ebin", NULL};
    struct target *t = target_of(state);
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `waits`, made of what its native asks say, and what they ask. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/print.h"
#include "query/waits/waits_internal.h"
#include "terms.h"

#define ASKS 8

/* Values of the asks of a node, one after the other; "!": it fails; NULL: there are no more. */
struct said {
    const char *of[ASKS];
    const char *rows; /* the answer's, and whether it is partial */
};

static struct buf asked; /* the last one, as text */

static void note_asked(const struct run_calls *calls)
{
    static const struct print_limits limits = {.bytes = 100000};
    size_t len;
    buf_reset(&asked);
    for (size_t i = 0; i < calls->n; i++) {
        const uint8_t *bytes = builder_bytes(calls->terms[i], &len);
        buf_printf(&asked, "%s:%s ", calls->steps[i + 1].module, calls->steps[i + 1].function);
        print_term(&asked, bytes, len, &limits);
        builder_free(calls->terms[i]);
    }
}

static void give_value(struct waits_ask *a, const struct run_step *step, const char *text)
{
    struct slice value;
    const bool fails = strcmp(text, "!") == 0;
    struct builder *b = term_of(fails ? NULL : text, &value);
    step->take(a, fails ? NULL : &value, 1);
    builder_free(b);
}

/* All steps; those that ask get the next value. */
static size_t run_steps(struct waits_ask *a, const char *const *of)
{
    size_t n = 0;
    for (size_t i = 0; i < waits_steps_count; i++)
        for (bool asks = true; asks;) {
            struct run_calls calls = {0};
            asks = waits_steps[i].ask(a, &calls);
            if (asks) {
                note_asked(&calls);
                assert_true(n < ASKS && of[n]);
                give_value(a, &waits_steps[i], of[n++]);
            }
            asks = asks && waits_steps[i].repeats;
        }
    return n;
}

static void say_answer(const struct waits_ask *a, struct buf *out)
{
    static const struct print_limits limits = {.bytes = 100000};
    struct builder *b = builder_new();
    size_t len;
    waits_table_build(b, &a->table, NULL, 5, NODE, a->is_partial || a->is_part);
    const uint8_t *bytes = builder_bytes(b, &len);
    print_term(out, bytes, len, &limits);
    builder_free(b);
}

/* {Status, Queue, Reductions, Function, Monitors, Stack} of one. */
#define CALL "{gen,do_call,4}"
#define LOOK(monitors, stack) "[waiting,0,100," CALL "," monitors ",[" CALL stack "]]"
#define HELD "[{status,running},{message_queue_len,3},{reductions,7},{current_function,{b,run,1}}]"
#define AGAIN(reductions)                                                                          \
    "[{status,waiting},{message_queue_len,0},{reductions," reductions "},{current_function," CALL  \
    "}]"
#define NAMES "undefined,undefined,undefined,"
#define ROW(pid, target, among, caller, steady)                                                    \
    "{" pid "," NAMES "call," target "," among "," CALL "," caller ",waiting,0,100," steady        \
    ",false}"
#define ROW_HELD(pid)                                                                              \
    "{" pid "," NAMES "undefined,undefined,undefined,undefined,0,{b,run,1},undefined,running,3,7," \
    "false,false}"
#define START "{proc_lib,sync_start_link,2}"
#define NOBODY "undefined,undefined,undefined"

#define BOTH "[true,true]", "[true,true]"

static const struct said answers[] = {
    {{"[]"}, "[],false"},
    {{"!"}, "[],true"},
    {{"[<0.1.0>]", "[false]"}, "[],false"},
    {{"[<0.1.0>,<0.2.0>]", "[false,true]", "[false]"}, "[],false"},
    {{"[<0.1.0>]", "!"}, "[],true"},
    {{"[<0.1.0>]", "[true]", "!"}, "[],true"},
    {{"[<0.1.0>,<0.2.0>]", BOTH, "[undefined,[running,0,1," CALL ",[],[]]]"}, "[],false"},
    {{"[<0.1.0>,<0.2.0>]", "[true,false]", "[true]",
      "[" LOOK("[{process,<0.2.0>}]", ",{gen_server,call,2},{a,run,0}") "]", "[" HELD "]"},
     "[" ROW("<0.1.0>", "<0.2.0>,undefined,undefined", "1", "{a,run,0}",
             "false") "," ROW_HELD("<0.2.0>") "],false"},
    /* one of several, more than are looked at, one twice */
    {{"[<0.1.0>,<0.2.0>,<0.3.0>]", "[true,true,true]", "[true,true,true]",
      "[" LOOK("[{process,<0.4.0>},{process,<0.5.0>}]",
               "") "," LOOK("21", "") "," LOOK("[{process,<0.4.0>},{process,<0.4.0>}]", "") "]",
      "[undefined]"},
     "[" ROW("<0.1.0>", NOBODY, "2", "undefined",
             "false") "," ROW("<0.2.0>", NOBODY, "21", "undefined",
                              "false") "," ROW("<0.3.0>", "<0.4.0>,undefined,undefined", "1",
                                               "undefined", "false") "],false"},
    /* a cycle; one of the two has moved in between */
    {{"[<0.1.0>,<0.2.0>]", BOTH,
      "[" LOOK("[{process,<0.2.0>}]", "") "," LOOK("[{process,<0.1.0>}]", "") "]",
      "[" AGAIN("103") "," AGAIN("115") "]"},
     "[" ROW("<0.1.0>", "<0.2.0>,undefined,undefined", "1", "undefined", "true") "," ROW(
         "<0.2.0>", "<0.1.0>,undefined,undefined", "1", "undefined", "false") "],false"},
    /* a name, of this node and of another */
    {{"[<0.1.0>,<0.2.0>]", BOTH,
      "[" LOOK("[{process,{code_server,n@h}}]", "") "," LOOK("[{process,{store,m@h}}]", "") "]",
      "[<0.9.0>]", "[" HELD "]"},
     "[" ROW("<0.1.0>", "<0.9.0>,code_server,undefined", "1", "undefined",
             "false") "," ROW("<0.2.0>", "undefined,store,m@h", "1", "undefined",
                              "false") "," ROW_HELD("<0.9.0>") "],false"},
    /* a look at all of them is too large: each again, and one without its monitors */
    {{"[<0.1.0>,<0.2.0>]", BOTH, "!", "!", "[" LOOK("27", "") "]", "[" LOOK("0", "") "]"},
     "[" ROW("<0.1.0>", NOBODY, "0", "undefined", "false") "," ROW("<0.2.0>", NOBODY, "27",
                                                                   "undefined", "false") "],false"},
    {{"[<0.1.0>,<0.2.0>]", BOTH, "!", "!", "[" LOOK("27", "") "]", "!"},
     "[" ROW("<0.2.0>", NOBODY, "27", "undefined", "false") "],true"},
    /* who is waited for does not say so in time: the row of who waits stays */
    {{"[<0.1.0>,<0.2.0>]", "[true,false]", "[true]", "[" LOOK("[{process,<0.2.0>}]", "") "]", "!"},
     "[" ROW("<0.1.0>", "<0.2.0>,undefined,undefined", "1", "undefined", "false") "],true"},
    /* a start: the only one that it is linked to, and that does not wait for it; no deadlock */
    {{"[<0.1.0>,<0.2.0>]", BOTH,
      "[[waiting,0,100," START ",[],[]]," LOOK("[{process,<0.1.0>}]", "") "]",
      "[[<0.2.0>,<0.9.0>]]", "[" HELD "]", "[" AGAIN("101") "]"},
     "[{<0.1.0>," NAMES "start,<0.9.0>,undefined,undefined,1," START
     ",undefined,waiting,0,100,false,false}," ROW("<0.2.0>", "<0.1.0>,undefined,undefined", "1",
                                                  "undefined",
                                                  "true") "," ROW_HELD("<0.9.0>") "],false"},
};

static bool check_answer(const struct said *s)
{
    struct waits_ask *a = alloc_zero(1, sizeof *a);
    struct buf said, wanted;
    size_t n = 0;
    buf_init(&said, 0);
    buf_init(&wanted, 0);
    waits_init(a);
    waits_begin(a, NODE, 0);
    while (n < ASKS && s->of[n])
        n++;
    const bool all = run_steps(a, s->of) == n;
    say_answer(a, &said);
    buf_printf(&wanted, "{waits,5,%s}", s->rows);
    const bool ok = all && strcmp(buf_cstr(&said), buf_cstr(&wanted)) == 0;
    if (!ok)
        print_message("%s\n%s\n", buf_cstr(&said), buf_cstr(&wanted));
    buf_clear(&said);
    buf_clear(&wanted);
    waits_clear(a);
    free(a);
    return ok;
}

TEST(test_answers)
{
    size_t bad = 0;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        bad += !check_answer(&answers[i]);
    assert_int_equal(bad, 0);
    buf_clear(&asked);
}

/* ---- places */

static const struct {
    const char *function, *monitors, *stack;
    const char *kind, *caller; /* kind NULL: it does not wait */
    enum wait_for target;
    int64_t among;
} looks[] = {
    {"{gen,loop,4}", "[]", "[]", NULL, NULL, FOR_NOBODY, 0},
    {"{erpc,call,5}", "[{process,<0.4.0>}]", "[{erpc,call,5},{rpc,call,5},{shop,f,1}]", "rpc",
     "{shop,f,1}", FOR_PROCESS, 1},
    {"{'Elixir.Task',await,2}", "[{process,<0.4.0>}]", "[{'Elixir.Task',await,2}]", "task", NULL,
     FOR_PROCESS, 1},
    {"{gen,do_call,4}", "[{process,<0.4.0>}]",
     "[{gen,do_call,4},{gen_server,call,3},{poolboy,checkout,3},{shop,f,1}]", "pool", "{shop,f,1}",
     FOR_PROCESS, 1},
    {"{gen,do_call,4}", "[{process,<0.4.0>}]",
     "[{gen,do_call,4},{gen_server,call,2},{logger_olp,"
     "call,2}]",
     "logger", NULL, FOR_PROCESS, 1},
    {"{code_server,call,1}", "[{process,<0.4.0>},{process,<0.5.0>}]", "[]", "code", NULL, FOR_NAME,
     1},
    {"{global,random_sleep,1}", "[]", "[]", "lock", NULL, FOR_NOBODY, 0},
    {"{proc_lib,sync_start,2}", "[{process,<0.4.0>}]", "[{proc_lib,sync_start,2}]", "start", NULL,
     FOR_PROCESS, 1},
    {"{prim_inet,send,4}", "[{process,<0.4.0>}]", "[]", "send", NULL, FOR_NOBODY, 0},
    {"{gen,do_call,4}", "odd", "odd", "call", NULL, FOR_NOBODY, 0},
    {"odd", "[]", "[]", NULL, NULL, FOR_NOBODY, 0},
    {"{gen,do_call,4}", "-1", "[]", "call", NULL, FOR_NOBODY, 0},
    {"{gen,do_call,4}", "9223372036854775807", "[]", "call", NULL, FOR_NOBODY, 0},
};

static void check_look(size_t i)
{
    char text[1000];
    struct slice term, caller;
    struct wait_look look;
    snprintf(text, sizeof text, "[waiting,0,1,%s,%s,%s]", looks[i].function, looks[i].monitors,
             looks[i].stack);
    struct builder *b = term_of(text, &term), *c = term_of(looks[i].caller, &caller);
    const bool waits = waits_read_look(term, NODE, &look);
    assert_int_equal(waits, looks[i].kind != NULL);
    if (waits) {
        assert_string_equal(look.kind, looks[i].kind);
        assert_int_equal(look.target.kind, looks[i].target);
        assert_int_equal(look.among, looks[i].among);
        assert_int_equal(look.caller.len > 0, looks[i].caller != NULL);
        if (looks[i].caller)
            assert_memory_equal(look.caller.s, caller.s + 1, look.caller.len);
    }
    builder_free(b);
    builder_free(c);
}

TEST(test_places)
{
    for (size_t i = 0; i < ARRAY_LEN(looks); i++)
        check_look(i);
}

/* The node says what it likes. */
TEST(test_numbers_have_a_range)
{
    static const char *const numbers[] = {"-1,1", "1,-9223372036854775808", "1,9223372036854775807",
                                          "a,1"};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        char text[200];
        struct slice term;
        struct wait_look look;
        snprintf(text, sizeof text, "[waiting,%s,{gen,do_call,4},[],[]]", numbers[i]);
        struct builder *b = term_of(text, &term);
        assert_false(waits_read_look(term, NODE, &look));
        builder_free(b);
    }
}

/* Each place is found, and none is there twice. */
TEST(test_places_are_distinct)
{
    for (size_t i = 0; i < waits_places_count; i++)
        assert_ptr_equal(
            waits_find_place(slice_of(waits_places[i].module), slice_of(waits_places[i].function)),
            &waits_places[i]);
}

/* ---- links */

static const struct {
    const char *function, *links;
    enum wait_for target;
    uint32_t pid;
    int64_t among;
} links[] = {
    {"{proc_lib,sync_start_link,2}", "[<0.7.0>,<0.9.0>]", FOR_PROCESS, 9, 1},
    {"{proc_lib,sync_start_link,2}", "[<0.7.0>,<0.9.0>,<0.8.0>]", FOR_NOBODY, 0, 2},
    {"{proc_lib,sync_start_link,2}", "[]", FOR_NOBODY, 0, 0},
    {"{proc_lib,sync_start_link,2}", "undefined", FOR_NOBODY, 0, 0},
    {"{prim_inet,send_recv_reply,2}", "[<0.7.0>]", FOR_NOBODY, 0, 0},
};

static bool is_not_seven(void *own, const struct etf_pid *pid)
{
    (void)own;
    return pid->id != 7;
}

TEST(test_links)
{
    for (size_t i = 0; i < ARRAY_LEN(links); i++) {
        char text[200];
        struct slice term, list;
        struct wait_look look;
        snprintf(text, sizeof text, "[waiting,0,1,%s,[],[]]", links[i].function);
        struct builder *b = term_of(text, &term), *l = term_of(links[i].links, &list);
        assert_true(waits_read_look(term, NODE, &look));
        waits_read_links(list, NODE, is_not_seven, NULL, &look);
        assert_int_equal(look.target.kind, links[i].target);
        assert_int_equal(look.target.pid.id, links[i].pid);
        assert_int_equal(look.among, links[i].among);
        builder_free(b);
        builder_free(l);
    }
}

/* ---- a large node */

static void say_pids(struct buf *to, int from, int n)
{
    buf_reset(to);
    buf_puts(to, "[");
    for (int i = 0; i < n; i++)
        buf_printf(to, "%s<0.%d.0>", i > 0 ? "," : "", from + i);
    buf_puts(to, "]");
}

/* Where the time is over, the next answer goes on; so it does with the next part of the node. */
TEST(test_a_large_node_is_listed_in_parts)
{
    struct waits_ask *a = alloc_zero(1, sizeof *a);
    struct run_calls calls = {0};
    struct buf pids;
    buf_init(&pids, 0);
    waits_init(a);
    waits_begin(a, NODE, 0);
    assert_true(waits_steps[0].ask(a, &calls));
    note_asked(&calls);
    assert_non_null(strstr(buf_cstr(&asked), "[[],[1],")); /* no arguments, First, … */
    say_pids(&pids, 1, WAITS_LIST_MOST);
    give_value(a, &waits_steps[0], buf_cstr(&pids));
    assert_true(a->is_part);
    assert_int_equal(a->first, WAITS_LIST_MOST + 1);
    assert_int_equal(a->n_list, WAITS_LIST_MOST);
    a->next = 2000;
    waits_begin(a, NODE, 0);
    assert_true(a->is_partial);
    assert_false(waits_steps[0].ask(a, &calls));
    a->next = a->n_list;
    waits_begin(a, NODE, 0);
    calls = (struct run_calls){0};
    assert_true(waits_steps[0].ask(a, &calls));
    note_asked(&calls);
    assert_null(strstr(buf_cstr(&asked), "[[],[1],"));
    give_value(a, &waits_steps[0], "!"); /* there are no longer so many */
    assert_int_equal(a->first, 1);
    assert_true(a->is_part);
    buf_clear(&pids);
    buf_clear(&asked);
    waits_clear(a);
    free(a);
}

/* Some are left out until each part has been looked through once. */
TEST(test_a_round_is_complete)
{
    static const struct {
        int64_t first;
        size_t next;
        bool has_round, is_partial;
    } begins[] = {
        {WAITS_LIST_MOST + 1, 10, false, false},
        {1, 5, false, true},
        {1, 10, true, false},
        {WAITS_LIST_MOST + 1, 5, true, false},
    };
    struct waits_ask *a = alloc_zero(1, sizeof *a);
    waits_init(a);
    a->is_part = true;
    a->n_list = 10;
    for (size_t i = 0; i < ARRAY_LEN(begins); i++) {
        a->first = begins[i].first;
        a->next = begins[i].next;
        waits_begin(a, NODE, 0);
        assert_int_equal(a->has_round, begins[i].has_round);
        assert_int_equal(a->is_partial, begins[i].is_partial);
    }
    waits_clear(a);
    free(a);
}

/* What has very many monitors or links is left alone; the oldest is forgotten first. */
TEST(test_spared_are_not_asked_twice)
{
    struct waits_ask *a = alloc_zero(1, sizeof *a);
    const char *const of[] = {"[<0.1.0>]", "[true]", "[true]", "[" LOOK("27", "") "]"};
    const char *const again[] = {"[<0.1.0>]", "[true]", "[true]", "[" LOOK("0", "") "]"};
    waits_init(a);
    waits_begin(a, NODE, 0);
    assert_int_equal(run_steps(a, of), 4);
    assert_non_null(strstr(buf_cstr(&asked), "monitors"));
    waits_begin(a, NODE, 0);
    assert_int_equal(run_steps(a, again), 4);
    assert_null(strstr(buf_cstr(&asked), "monitors"));
    assert_int_equal(a->table.all[0].look.among, 27);
    assert_int_equal(a->n_spared, 1);
    buf_clear(&asked);
    waits_clear(a);
    free(a);
}

/* More wait than an answer holds. */
TEST(test_a_full_table_says_so)
{
    struct waits_table t;
    waits_table_init(&t);
    for (uint32_t i = 0; i <= LIMIT_TABLE_ROWS; i++)
        waits_table_add(&t, &(struct etf_pid){.id = i});
    assert_true(t.is_full);
    assert_int_equal(t.n, LIMIT_TABLE_ROWS);
    waits_table_clear(&t);
}

/* Of one that many wait for there is one row, and room for others. */
TEST(test_many_that_wait_for_one)
{
    enum { CALLERS = 2500, OTHERS = 3 };
    struct waits_ask *a = alloc_zero(1, sizeof *a);
    waits_init(a);
    waits_begin(a, NODE, 0);
    for (uint32_t i = 1; i <= CALLERS + OTHERS; i++) {
        waits_table_add(&a->table, &(struct etf_pid){.id = i});
        a->table.all[i - 1].known = true;
        a->table.all[i - 1].look = (struct wait_look){
            .place = &waits_places[0],
            .target = {.kind = FOR_PROCESS, .pid = {.id = i <= CALLERS ? 9001 : 9002}}};
    }
    a->part_of = PART_NAMES;
    struct run_calls calls = {0};
    assert_true(waits_steps[waits_steps_count - 2].ask(a, &calls));
    note_asked(&calls);
    assert_false(a->table.is_full);
    assert_int_equal(a->table.n, CALLERS + OTHERS + 2);
    assert_int_equal(a->n_out, 2);
    buf_clear(&asked);
    waits_clear(a);
    free(a);
}

/* Those that were found twice make it full no sooner. */
TEST(test_duplicates_leave_a_full_table)
{
    struct waits_table t;
    waits_table_init(&t);
    for (uint32_t i = 0; i < LIMIT_TABLE_ROWS + 5; i++)
        waits_table_add(&t, &(struct etf_pid){.id = i / 2});
    assert_false(t.is_full);
    assert_int_equal(t.n, LIMIT_TABLE_ROWS / 2 + 5);
    waits_table_clear(&t);
}

TEST(test_those_that_waited_are_looked_at_again)
{
    struct waits_table t;
    waits_table_init(&t);
    for (uint32_t i = 0; i < 3; i++)
        waits_table_add(&t, &(struct etf_pid){.id = i});
    t.all[1].look.place = &waits_places[0];
    t.all[1].known = true;
    waits_table_again(&t);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.all[0].pid.id, 1);
    assert_false(t.all[0].known);
    waits_table_clear(&t);
}

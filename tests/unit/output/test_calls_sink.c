/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of counted calls made by hand, in each form. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/output/calls_sink.h"

struct kept {
    struct buf bytes;
    int error;
};

static int keep(void *ctx, const char *bytes, size_t len)
{
    struct kept *k = ctx;
    if (k->error == 0)
        buf_put(&k->bytes, bytes, len);
    return k->error;
}

#define S(text)                                                                                    \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }
#define UNTIMED                                                                                    \
    .timed_calls = CALLS_UNKNOWN, .own_us = CALLS_UNKNOWN, .words = CALLS_UNKNOWN,                 \
    .us_per_call = NAN, .words_per_call = NAN, .own_share = NAN

static const struct slice excluded[] = {S("lists:map/2"), S("shop:bad\033[1m/0")};
static const struct slice lost_modules[] = {S("shop_cart"), S("bad\033[1m")};

static const struct calls_function plain[] = {
    {S("Elixir.Shop.Cart"), S("add"), S("shop"), 2, 1200, 600, 0.6, NAN, UNTIMED, .name = {0}},
    {S("lists"), S("odd;name\033"), S(""), 1, 800, 400, 0.4, NAN, UNTIMED, .name = {0}},
};
static const struct calls_function timed[] = {
    {S("Elixir.Shop.Cart"), S("add"), S("shop"), 2, 1200, 600, 0.6, -0.25, 100, 5000, 2000, 50, 20,
     0.0025, .name = {0}},
    {S("lists"), S("map"), S("stdlib"), 2, 800, 400, 0.4, 11, UNTIMED, .lost = true},
};
static const struct calls_sum modules[] = {
    {S("Elixir.Shop.Cart"), S("shop"), 1, 1200, 600, 0.6, NAN, .name = {0}},
    {S("lists"), S(""), 1, 800, 400, 0.4, NAN, .name = {0}},
};
static const struct calls_sum applications[] = {
    {S(""), S("shop"), 1, 1200, 600, 0.6, NAN, .name = {0}},
    {S(""), S(""), 1, 800, 400, 0.4, NAN, .name = {0}},
};

static struct calls_window a_window(void)
{
    return (struct calls_window){.number = 1,
                                 .wall_us = 1700000000123456,
                                 .interval_us = 2000000,
                                 .functions = 15021,
                                 .called = 2,
                                 .calls = 2000,
                                 .calls_per_s = 1000,
                                 .load = 0.00001,
                                 .timed_interval_us = CALLS_UNKNOWN,
                                 .asked_us = CALLS_UNKNOWN,
                                 .processes = CALLS_UNKNOWN,
                                 .rows = plain,
                                 .n_rows = 2,
                                 .modules = modules,
                                 .n_modules = 2,
                                 .applications = applications,
                                 .n_applications = 2,
                                 .listed_us = 1,
                                 .armed_us = 2,
                                 .read_us = 3,
                                 .disarmed_us = 4,
                                 .target_us = 10,
                                 .bytes = 300};
}

static struct calls_window a_timed_window(void)
{
    struct calls_window w = a_window();
    w.number = 2;
    w.rows = timed;
    w.timed = w.has_time = w.has_memory = true;
    w.timed_interval_us = 2000000;
    w.processes = 40;
    w.lost = 3;
    w.lost_modules = lost_modules;
    w.n_lost_modules = 2;
    w.cut = true;
    w.asked_us = 5000000;
    w.excluded = excluded;
    w.n_excluded = 2;
    return w;
}

static void put(struct kept *k, enum calls_format format, bool ascii, const struct calls_window *w,
                size_t n)
{
    const struct sink_writer writer = {keep, k};
    const struct calls_sink_options options = {
        .format = format, .syntax = PRINT_ELIXIR, .node = "shop@host", .ascii = ascii};
    struct calls_sink on = {.output.writer = writer, .options = options}, *s = &on;
    struct error err = {0};
    buf_init(&k->bytes, 0);
    for (size_t i = 0; i < n; i++)
        if (calls_sink_window(s, &w[i], &err) != 0)
            fail_msg("%s", err.text);
}

static void expect(struct kept *k, const char *wanted)
{
    assert_string_equal(buf_cstr(&k->bytes), wanted);
    buf_clear(&k->bytes);
}

TEST(test_text)
{
    struct kept k = {0};
    struct calls_window w = a_window();
    put(&k, CALLS_TEXT, false, &w, 1);
    expect(&k, "window 1, 22:13:20Z: 2.0 s, 2,000 calls (1.00k/s) of 2 of 15,021 functions; "
               "counting cost about 0.0% of the node\n"
               "\n"
               "FUNCTION               CALLS  CALLS/s  SHARE  CHANGE  APPLICATION\n"
               "Shop.Cart.add/2        1,200      600  60.0%       –  shop\n"
               ":lists.\"odd;name\\e\"/1    800      400  40.0%       –  –\n"
               "\n"
               "MODULE     CALLS  CALLS/s  SHARE  CHANGE  FUNCS  APPLICATION\n"
               "Shop.Cart  1,200      600  60.0%       –      1  shop\n"
               "lists        800      400  40.0%       –      1  –\n"
               "\n"
               "APPLICATION  CALLS  CALLS/s  SHARE  CHANGE  FUNCS\n"
               "shop         1,200      600  60.0%       –      1\n"
               "(none)         800      400  40.0%       –      1\n");
}

TEST(test_text_with_times)
{
    struct kept k = {0};
    struct calls_window w = a_timed_window();
    w.n_modules = w.n_applications = 0;
    put(&k, CALLS_TEXT, true, &w, 1);
    const char *text = buf_cstr(&k.bytes);
    static const char *const parts[] = {
        "\nwindow 2, 22:13:20Z: 2.0 s (stopped early), 2,000 calls",
        ("lost: counts of 3 functions, reloaded in the window or not readable: "
         "shop_cart, bad?[1m\n"),
        "times of 40 processes, in a second window of 2.0 s;",
        "FUNCTION         CALLS  CALLS/s  SHARE  CHANGE     OWN  OWN %  A CALL  WORDS  W/CALL  "
        "APPLICATION\n",
        "Shop.Cart.add/2  1,200      600  60.0%    -25%  5.0 ms   0.2%   50 us  2.00k      20  "
        "shop\n",
        ":lists.map/2       800      400  40.0%     x12    lost   lost    lost   lost    lost  "
        "stdlib\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (!strstr(text, parts[i]))
            fail_msg("no “%s” in:\n%s", parts[i], text);
    buf_clear(&k.bytes);
}

TEST(test_no_change)
{
    static const double rows[] = {0, -0.0, 0.0049, -0.0049};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kept k = {0};
        struct calls_window w = a_timed_window();
        struct calls_function f = timed[0];
        f.change = rows[i];
        w.rows = &f;
        w.n_rows = 1;
        w.n_modules = w.n_applications = 0;
        put(&k, CALLS_TEXT, true, &w, 1);
        if (!strstr(buf_cstr(&k.bytes), "60.0%      0%"))
            fail_msg("%g is not 0%%:\n%s", rows[i], buf_cstr(&k.bytes));
        buf_clear(&k.bytes);
    }
}

TEST(test_csv)
{
    struct kept k = {0};
    struct calls_window w[] = {a_window(), a_timed_window()};
    w[0].n_rows = 1;
    w[1].n_rows = 1;
    put(&k, CALLS_CSV, false, w, 2);
    expect(&k, "wall_us,node,window,interval_us,module,function,arity,application,calls,"
               "calls_per_s,share,change,timed_calls,own_us,us_per_call,own_share,words,words_per_"
               "call,lost\n"
               "1700000000123456,shop@host,1,2000000,Elixir.Shop.Cart,add,2,shop,1200,600.000000,"
               "0.600000,,,,,,,,false\n"
               "1700000000123456,shop@host,2,2000000,Elixir.Shop.Cart,add,2,shop,1200,600.000000,"
               "0.600000,-0.250000,100,5000,50.000000,0.002500,2000,20.000000,false\n");
}

TEST(test_folded)
{
    struct kept k = {0};
    struct calls_window w = a_window();
    put(&k, CALLS_FOLDED, false, &w, 1);
    expect(&k, "shop;Elixir.Shop.Cart;add/2 1200\n(no application);lists;odd,name\uFFFD/1 800\n");
}

TEST(test_json)
{
    static const struct {
        const char *key, *value;
    } rows[] = {
        {"schema", "\"beamtop.calls/2\""},
        {"node", "\"shop@host\""},
        {"window", "2"},
        {"interval_us", "2000000"},
        {"stopped_early", "true"},
        {"functions_counted", "15021"},
        {"functions_lost", "3"},
        {"calls", "2000"},
        {"timed_interval_us", "2000000"},
        {"processes", "40"},
        {"asked_us", "5000000"},
        {"excluded", "[\"lists:map/2\",\"shop:bad\\u001B[1m/0\"]"},
        {"timed_why", "null"},
        {"lost_modules", "[\"shop_cart\",\"bad\\u001B[1m\"]"},
        {"cost", "{\"target_us\":10,\"bytes\":300,\"listed_us\":1,\"armed_us\":2,\"read_us\":3,"
                 "\"disarmed_us\":4}"},
    };
    struct kept k = {0};
    struct calls_window w = a_timed_window();
    put(&k, CALLS_JSON, false, &w, 1);
    json_error_t error;
    json_t *root = json_loads(buf_cstr(&k.bytes), 0, &error);
    if (!root)
        fail_msg("%s: %s", error.text, buf_cstr(&k.bytes));
    assert_int_equal(k.bytes.data[k.bytes.len - 1], '\n');
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *found =
            json_dumps(json_object_get(root, rows[i].key), JSON_COMPACT | JSON_ENCODE_ANY);
        if (strcmp(found, rows[i].value) != 0)
            fail_msg("%s: %s", rows[i].key, found);
        free(found);
    }
    json_t *function = json_array_get(json_object_get(root, "functions"), 0);
    assert_int_equal(json_integer_value(json_object_get(function, "own_us")), 5000);
    assert_int_equal(json_integer_value(json_object_get(function, "arity")), 2);
    assert_true(fabs(json_real_value(json_object_get(function, "change")) + 0.25) < 1e-9);
    function = json_array_get(json_object_get(root, "functions"), 1);
    assert_true(json_is_null(json_object_get(function, "own_us")));
    assert_true(json_is_true(json_object_get(function, "lost")));
    assert_int_equal(json_array_size(json_object_get(root, "modules")), 2);
    json_t *none = json_array_get(json_object_get(root, "applications"), 1);
    assert_true(json_is_null(json_object_get(none, "application")));
    json_decref(root);
    buf_clear(&k.bytes);
}

/* What a recording keeps of a window is its JSON: it prints as before. */
TEST(test_read_back)
{
    const struct calls_window windows[] = {a_window(), a_timed_window()};
    for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
        struct calls_window w;
        struct kept was = {0}, is = {0}, json = {0};
        struct arena arena;
        struct error err = {0};
        arena_init(&arena);
        put(&json, CALLS_JSON, false, &windows[i], 1);
        assert_int_equal(calls_window_read(&w, &arena, buf_cstr(&json.bytes), json.bytes.len, &err),
                         0);
        for (enum calls_format f = CALLS_TEXT; f <= CALLS_FOLDED; f++) {
            put(&was, f, false, &windows[i], 1);
            put(&is, f, false, &w, 1);
            expect(&is, buf_cstr(&was.bytes));
            buf_clear(&was.bytes);
        }
        static const char old[] = "{\"cut\":true}"; /* as 0.1.0 wrote it */
        assert_int_equal(calls_window_read(&w, &arena, old, strlen(old), &err), 0);
        assert_true(w.cut);
        assert_int_equal(calls_window_read(&w, &arena, "[1", 2, &err), ERR_FORMAT);
        buf_clear(&json.bytes);
        arena_clear(&arena);
    }
}

TEST(test_failed_writes)
{
    struct kept k = {.error = EPIPE};
    const struct sink_writer writer = {keep, &k};
    const struct calls_sink_options options = {.format = CALLS_TEXT, .node = "a@b"};
    struct calls_sink on = {.output.writer = writer, .options = options}, *s = &on;
    struct calls_window w = a_window();
    buf_init(&k.bytes, 0);
    for (int i = 0; i < 2; i++) {
        struct error err = {0};
        assert_int_equal(calls_sink_window(s, &w, &err), ERR_SYSTEM);
        assert_int_equal(s->output.write_errno, EPIPE);
        k.error = 0;
    }
}

/* ---- several nodes */

static void put_several(struct kept *k, enum calls_format format)
{
    const struct sink_writer writer = {keep, k};
    struct calls_sink s = {.output.writer = writer,
                           .options = {.format = format,
                                       .syntax = PRINT_ELIXIR,
                                       .ascii = format == CALLS_TEXT,
                                       .by_node = true}};
    const struct calls_window here = a_window(), there = a_timed_window();
    const struct calls_part parts[] = {{S("a@host"), &here, true, {0}},
                                       {S("b@host\033[1m"), &there, true, {0}},
                                       {S("c@host"), NULL, false, S("left out")}};
    struct calls_several window;
    struct arena arena;
    struct error err = {0};
    buf_init(&k->bytes, 0);
    arena_init(&arena);
    calls_several_make(&window, &arena, 1, parts, 3, 10);
    if (calls_sink_several(&s, &window, parts, &err) != 0)
        fail_msg("%s", err.text);
    arena_clear(&arena);
}

TEST(test_text_of_several)
{
    struct kept k = {0};
    put_several(&k, CALLS_TEXT);
    const char *text = buf_cstr(&k.bytes);
    assert_non_null(strstr(text, "window 1, 2 of 3 nodes: 4,000 calls (2.00k/s)\n"));
    assert_non_null(strstr(text, "left out\n"));
    assert_non_null(strstr(text, "Shop.Cart.add/2        2,400"));
    assert_non_null(strstr(text, "FUNCTION               NODE "));
    assert_null(strchr(text, '\033'));
    buf_clear(&k.bytes);
}

TEST(test_json_of_several)
{
    struct kept k = {0};
    put_several(&k, CALLS_JSON);
    json_t *root = json_loads(buf_cstr(&k.bytes), 0, NULL);
    const json_t *first = json_array_get(json_object_get(root, "functions"), 0);
    assert_string_equal(json_string_value(json_object_get(root, "schema")),
                        "beamtop.calls_nodes/1");
    assert_int_equal(json_integer_value(json_object_get(root, "nodes_counted")), 2);
    assert_int_equal(json_array_size(json_object_get(root, "nodes")), 3);
    assert_int_equal(json_integer_value(json_object_get(first, "calls")), 2400);
    assert_int_equal(json_array_size(json_object_get(first, "nodes")), 2);
    json_decref(root);
    buf_clear(&k.bytes);
}

TEST(test_lines_of_several)
{
    struct kept k = {0};
    put_several(&k, CALLS_CSV);
    const char *text = buf_cstr(&k.bytes);
    assert_non_null(strstr(text, "\n1700000000123456,a@host,1,2000000,Elixir.Shop.Cart,add,2,"));
    assert_null(strstr(strstr(text, "wall_us") + 1, "wall_us"));
    assert_null(strstr(text, "c@host"));
    buf_clear(&k.bytes);
    put_several(&k, CALLS_FOLDED);
    assert_int_equal(strncmp(buf_cstr(&k.bytes), "a@host;shop;Elixir.Shop.Cart;add/2 1200\n", 40),
                     0);
    buf_clear(&k.bytes);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/model/owners.h"

#define TEXT(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

/* Two handlers of logger, a worker twice, one of ours, one that is nobody's. */
/* clang-format off */
static struct proc_row scanned[] = {
    {.name = TEXT("logger_std_h_default"), .initial_call = TEXT("logger_olp:init/1"),
     .application = TEXT("kernel"), .supervisor = TEXT("logger_sup"), .reductions_share = 0.20,
     .reductions_per_s = 200,
     .memory_bytes = 100, .message_queue_len = 5},
    {.name = TEXT("file_h"), .initial_call = TEXT("logger_olp:init/1"),
     .application = TEXT("kernel"), .supervisor = TEXT("logger_sup"), .reductions_share = 0.10,
     .reductions_per_s = 100,
     .memory_bytes = 50, .message_queue_len = -1},
    {.initial_call = TEXT("'a:\\'b':init/1"), .application = TEXT("shop"), .reductions_share = 0.25,
     .reductions_per_s = 250, .memory_bytes = 10, .message_queue_len = 1,
     .supervisor = TEXT("shop_sup")},
    {.initial_call = TEXT("'a:\\'b':run/0"), .label = TEXT("cart"), .application = TEXT("shop"),
     .reductions_share = 0.25, .reductions_per_s = 250, .memory_bytes = 10},
    {.name = TEXT("ours"), .initial_call = TEXT("erl_eval:expr/2"), .own = true,
     .reductions_share = 0.05, .reductions_per_s = 50},
    {.name = TEXT("idle"), .initial_call = TEXT("proc_lib:init/1"), .reductions_share = 0.001},
};
/* clang-format on */

static const struct {
    enum owner_by by;
    double least;
    const char *owners; /* name, kind, processes, share in percent; then the rest's */
} rows[] = {
    {OWNER_APPLICATION, 0, "shop::2:50 kernel:logger:2:30 rest:6:20"},
    {OWNER_SUPERVISOR, 0, "logger_sup:logger:2:30 shop_sup::1:25 rest:7:45"},
    {OWNER_MODULE, 0, "a:\\'b::2:50 logger_olp:logger:2:30 proc_lib::1:0 rest:5:20"},
    {OWNER_MODULE, 0.002, "a:\\'b::2:50 logger_olp:logger:2:30 rest:6:20"},
    {OWNER_NAME, 0.15, "logger_std_h_default:logger:1:20 rest:9:80"},
    {OWNER_LABEL, 0, "cart::1:25 rest:9:75"},
    {OWNER_KIN, 0.2,
     "'a:\\'b':init/1::1:25 'a:\\'b':run/0::1:25 logger_std_h_default:logger:1:20 rest:7:30"},
    {OWNER_KIND, 0, "logger:logger:2:30 rest:8:70"},
};

static void tell(char *out, size_t size, const struct owners *o)
{
    size_t used = 0;
    for (size_t i = 0; i < o->len; i++)
        used += (size_t)snprintf(out + used, size - used, "%.*s:%s:%lld:%.0f ",
                                 (int)o->items[i].name.len, o->items[i].name.s,
                                 proc_kind_name(o->items[i].kind), (long long)o->items[i].processes,
                                 o->items[i].share * 100);
    snprintf(out + used, size - used, "rest:%lld:%.0f", (long long)o->rest_processes,
             o->rest_share * 100);
}

TEST(test_sums_by_owner)
{
    const struct proc_scan scan = {.rows = scanned, .n_rows = ARRAY_LEN(scanned), .total = 10};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena arena;
        struct owners o;
        char text[400];
        arena_init(&arena);
        owners_of_scan(&o, &arena, &scan, rows[i].by, rows[i].least);
        tell(text, sizeof text, &o);
        if (strcmp(text, rows[i].owners) != 0)
            fail_msg("row %zu: %s, not %s", i, text, rows[i].owners);
        arena_clear(&arena);
    }
}

/* A name is one process; others add up by the first of initial call, label and supervisor that says
 * anything. */
TEST(test_kin_adds_up)
{
    struct proc_row alike[] = {
        {.initial_call = TEXT("cart:init/1"), .label = TEXT("cart 1"), .reductions_share = 0.05},
        {.initial_call = TEXT("cart:init/1"),
         .label = TEXT("cart 2"),
         .reductions_share = 0.25,
         .memory_bytes = 7,
         .message_queue_len = 3},
        {.name = TEXT("till"), .initial_call = TEXT("cart:init/1"), .reductions_share = 0.02},
        {.initial_call = TEXT("gen_server:loop/7"),
         .label = TEXT("till"),
         .reductions_share = 0.03},
        {.initial_call = TEXT("gen_server:loop/7"),
         .supervisor = TEXT("a_sup"),
         .reductions_share = 0.1},
        {.initial_call = TEXT("gen_server:loop/7"),
         .supervisor = TEXT("b_sup"),
         .reductions_share = 0.16},
        {.initial_call = TEXT("gen_server:loop/7"),
         .supervisor = TEXT("a_sup"),
         .reductions_share = 0.1},
        {.initial_call = TEXT("supervisor:shop_sup/1"), .reductions_share = 0.01},
    };
    const struct proc_scan scan = {
        .rows = alike, .n_rows = ARRAY_LEN(alike), .total = ARRAY_LEN(alike), .own_share = 0.2};
    struct arena arena;
    struct owners o;
    char text[400];
    arena_init(&arena);
    owners_of_scan(&o, &arena, &scan, OWNER_KIN, 0);
    tell(text, sizeof text, &o);
    assert_string_equal(text, "cart:init/1::2:37 gen_server:loop/7 (under a_sup)::2:25 "
                              "gen_server:loop/7 (under b_sup)::1:20 till::2:6 "
                              "shop_sup:supervisor:1:1 rest:0:10");
    assert_true(o.items[0].first == &alike[0]);
    const struct owner one = owner_alone(&o, &alike[1]);
    assert_true(fabs(one.share - 0.25 / 0.8) < 1e-9);
    assert_true(one.processes == 1 && one.memory_bytes == 7 && one.message_queue_len == 3);
    arena_clear(&arena);
}

/* The VM's own handlers of signals have no share, and are no part of what shares are of. */
TEST(test_what_shares_are_not_of)
{
    struct proc_row busy[] = {
        {.initial_call = TEXT("erts_dirty_process_signal_handler:start/0"),
         .reductions_share = 0.5,
         .reductions_per_s = 500},
        {.initial_call = TEXT("erts_dirty_process_signal_handler:start/0"),
         .reductions_share = 0.1,
         .reductions_per_s = 100},
        {.initial_call = TEXT("log:init/1"), .application = TEXT("shop"), .reductions_share = 0.3},
        {.initial_call = TEXT("small:init/1"),
         .application = TEXT("shop"),
         .reductions_share = 0.02},
    };
    struct app_row apps[] = {{.processes = 3, .reductions_share = 0.6},
                             {.name = TEXT("shop"), .processes = 2, .reductions_share = 0.32}};
    const struct table_detail detail = {.rows = apps, .n_rows = ARRAY_LEN(apps)};
    const struct proc_scan scan = {.rows = busy, .n_rows = ARRAY_LEN(busy), .total = 5};
    struct arena arena;
    struct owners o;
    char text[400];
    arena_init(&arena);
    owners_of_scan(&o, &arena, &scan, OWNER_MODULE, 0.002);
    assert_int_equal(o.len, 3);
    assert_string_equal(proc_kind_name(o.items[2].kind), "dirty_signals");
    assert_true(isnan(o.items[2].share));
    assert_true(fabs(o.items[2].reductions_per_s - 600) < 1e-9);
    o.items[2].share = 0;
    tell(text, sizeof text, &o);
    assert_string_equal(text,
                        "log::1:75 small::1:5 erts_dirty_process_signal_handler:dirty_signals:2:0 "
                        "rest:1:20");
    owners_of_apps(&o, &arena, &detail, &scan, 0.002);
    tell(text, sizeof text, &o);
    assert_string_equal(text, "shop::2:80 rest:3:20");
    struct proc_scan beside_us = scan; /* 4 of the 40 % that are left are beamtop's */
    beside_us.own_share = 0.04;
    owners_of_scan(&o, &arena, &beside_us, OWNER_APPLICATION, 0.002);
    tell(text, sizeof text, &o);
    assert_string_equal(text, "shop::2:89 rest:3:11");
    struct table_detail apps_beside_us = detail;
    apps_beside_us.own_share = 0.04;
    owners_of_apps(&o, &arena, &apps_beside_us, &scan, 0.002);
    tell(text, sizeof text, &o);
    assert_string_equal(text, "shop::2:89 rest:3:11");
    beside_us.own_share = 0.3; /* some of it is of the interval before: no more than all */
    owners_of_scan(&o, &arena, &beside_us, OWNER_APPLICATION, 0.002);
    tell(text, sizeof text, &o);
    assert_string_equal(text, "shop::2:100 rest:3:0");
    apps_beside_us.own_share = 1; /* of what is told no less, whichever rows were ranked */
    owners_of_apps(&o, &arena, &apps_beside_us, NULL, 0.002);
    tell(text, sizeof text, &o);
    assert_string_equal(text, "shop::2:100 rest:3:0");
    busy[0].reductions_share =
        1; /* by clocks that differ a little: nothing is known of the others */
    owners_of_scan(&o, &arena, &scan, OWNER_APPLICATION, 0.002);
    assert_false(o.has_shares);
    assert_true(isnan(o.rest_share));
    arena_clear(&arena);
}

/* Nearly all is ours: what little is left is of a tenth, and an owner is told by its part
 * of that. */
TEST(test_hardly_anything_beside_us)
{
    struct proc_row little[] = {
        {.initial_call = TEXT("a:init/1"), .reductions_share = 0.004},
        {.initial_call = TEXT("b:init/1"), .reductions_share = 0.0003},
        {.initial_call = TEXT("c:init/1"), .reductions_share = 0.0001},
    };
    static const double own[] = {0.995, 1};
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        const struct proc_scan scan = {
            .rows = little, .n_rows = ARRAY_LEN(little), .total = 3, .own_share = own[i]};
        struct arena arena;
        struct owners o;
        char text[400];
        arena_init(&arena);
        owners_of_scan(&o, &arena, &scan, OWNER_MODULE, 0.002);
        assert_true(o.has_shares);
        tell(text, sizeof text, &o);
        assert_string_equal(text, "a::1:4 b::1:0 rest:1:96");
        arena_clear(&arena);
    }
}

TEST(test_sums_of_one_owner)
{
    const struct proc_scan scan = {.rows = scanned, .n_rows = ARRAY_LEN(scanned), .total = 6};
    struct arena arena;
    struct owners o;
    arena_init(&arena);
    owners_of_scan(&o, &arena, &scan, OWNER_MODULE, 0);
    assert_true(fabs(o.items[1].reductions_per_s - 300) < 1e-9);
    assert_true(fabs(o.items[1].memory_bytes - 150) < 1e-9);
    assert_true(fabs(o.items[1].message_queue_len - 5) < 1e-9); /* one is not known */
    arena_clear(&arena);
}

TEST(test_a_first_sight_has_no_shares)
{
    struct proc_row row = {
        .initial_call = TEXT("m:f/0"), .reductions_share = NAN, .reductions_per_s = NAN};
    const struct proc_scan scan = {.rows = &row, .n_rows = 1, .total = 1};
    struct arena arena;
    struct owners o;
    arena_init(&arena);
    owners_of_scan(&o, &arena, &scan, OWNER_MODULE, 0);
    assert_false(o.has_shares);
    assert_true(isnan(o.rest_share));
    assert_int_equal(o.len, 1);
    arena_clear(&arena);
}

TEST(test_applications_are_over_all_processes)
{
    struct app_row apps[] = {
        {.name = TEXT("small"), .processes = 3, .memory_bytes = -1, .reductions_share = 0.1},
        {.processes = 5, .reductions_share = 0.2},
        {.name = TEXT("big"), .processes = 40, .memory_bytes = 9, .reductions_share = 0.6},
    };
    const struct table_detail detail = {.rows = apps, .n_rows = ARRAY_LEN(apps)};
    struct arena arena;
    struct owners o;
    char text[200];
    arena_init(&arena);
    owners_of_apps(&o, &arena, &detail, NULL, 0);
    tell(text, sizeof text, &o);
    assert_string_equal(text, "big::40:60 small::3:10 rest:5:30");
    assert_true(isnan(o.items[1].memory_bytes));
    arena_clear(&arena);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/model/column.h"
#include "beamtop/model/process_name.h"
#include "beamtop/model/shown_name.h"
#include "beamtop/model/model.h"
#include "model/internal.h"

TEST(test_the_table_is_whole)
{
    uint32_t items = 0;
    assert_true(proc_columns_len <= COLUMNS_MAX);
    for (int i = 0; i < proc_columns_len; i++) {
        const struct field *c = &proc_columns[i];
        print_message("%s\n", c->key);
        assert_true(c->title[0] != '\0' && c->help[0] != '\0' && c->width > 0);
        assert_true((c->type == COLUMN_TEXT) == (c->form == FIELD_SLICE));
        assert_true((c->type == COLUMN_PID) == (c->form == FIELD_PID));
        assert_true((c->form == FIELD_MADE) == (c->number != NULL));
        assert_true(strspn(c->key, "abcdefghijklmnopqrstuvwxyz_") == strlen(c->key));
        assert_true(c->sweep || (!c->sweep_by_delta && !c->expensive));
        assert_ptr_equal(proc_column_find(c->key), c);
        items |= c->items;
    }
    assert_int_equal(items, (1u << PROC_ITEMS) - 1); /* nothing is asked for and never shown */
}

/* A rate is ranked by change, and units are in the names. */
TEST(test_keys_tell_their_units)
{
    for (int i = 0; i < proc_columns_len; i++) {
        const struct field *c = &proc_columns[i];
        size_t len = strlen(c->key);
        bool per_s = len > 6 && strcmp(c->key + len - 6, "_per_s") == 0;
        print_message("%s\n", c->key);
        assert_true(per_s == (c->type == COLUMN_RATE || c->type == COLUMN_BYTE_RATE));
        assert_true(!per_s || c->sweep_by_delta);
        assert_true((c->type == COLUMN_BYTES || c->type == COLUMN_BYTE_RATE) ==
                    (strstr(c->key, "_bytes") != NULL));
    }
}

TEST(test_unknown_values_are_unknown)
{
    struct proc_row row;
    proc_row_clear(&row);
    for (int i = 0; i < proc_columns_len; i++) {
        const struct field *c = &proc_columns[i];
        print_message("%s\n", c->key);
        assert_int_equal(field_text(c, &row).len, 0);
        if (c->form != FIELD_BOOL)
            assert_true(isnan(field_number(c, &row)));
    }
    const struct field *heap = proc_column_find("total_heap_bytes");
    assert_null(field_pid(proc_column_find("group_leader"), &row));
    row.total_heap_words = 10;
    assert_true(isnan(field_number(heap, &row)));
    row.word_bytes = 8;
    assert_true(field_number(heap, &row) == 80);
}

TEST(test_short_names)
{
    static const struct {
        const char *word, *key;
    } rows[] = {{"msgq", "message_queue_len"},
                {"memory", "memory_bytes"},
                {"reds", "reductions_per_s"},
                {"pid", "pid"},
                {"nonsense", NULL},
                {"", NULL}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct field *c = proc_column_find(rows[i].word);
        print_message("%s\n", rows[i].word);
        if (!rows[i].key)
            assert_null(c);
        else
            assert_string_equal(c->key, rows[i].key);
    }
}

TEST(test_lists)
{
    const struct field *columns[COLUMNS_MAX];
    struct error err = {0};
    int n;
    assert_int_equal(proc_columns_parse("pid, name ,msgq", columns, &n, &err), 0);
    assert_int_equal(n, 3);
    assert_string_equal(columns[2]->key, "message_queue_len");
    assert_int_equal(proc_columns_items(columns, n, proc_column_find("memory")),
                     1u << ITEM_ID | 1u << ITEM_MESSAGE_QUEUE_LEN | 1u << ITEM_MEMORY);
    assert_int_equal(proc_columns_parse("pid,colour", columns, &n, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "\"colour\""));
    error_clear(&err);
    assert_int_equal(proc_columns_parse("", columns, &n, &err), ERR_USAGE);
    error_clear(&err);
    assert_int_equal(proc_columns_parse("pid,", columns, &n, &err), ERR_USAGE);
    char many[400] = "pid";
    for (int i = 0; i < COLUMNS_MAX; i++)
        strcat(many, ",pid");
    error_clear(&err);
    assert_int_equal(proc_columns_parse(many, columns, &n, &err), ERR_USAGE);
    assert_int_equal(proc_columns_default(columns), 10);
    assert_string_equal(columns[0]->key, "pid");
}

TEST(test_display_name)
{
    struct proc_row row;
    proc_row_clear(&row);
    assert_int_equal(proc_row_display_name(&row).len, 0);
    row.initial_call = (struct slice){"m:f/1", 5};
    assert_string_equal(proc_row_display_name(&row).s, "m:f/1");
    row.label = (struct slice){"label", 5};
    assert_string_equal(proc_row_display_name(&row).s, "label");
    row.name = (struct slice){"name", 4};
    assert_string_equal(proc_row_display_name(&row).s, "name");
}

/* As it is said as the supervisor of others. */
TEST(test_supervisors_have_one_name)
{
    static const struct {
        const char *call, *name;
    } rows[] = {
        {"supervisor:shop_sup/1", "shop_sup"},
        {"supervisor:'Elixir.Shop.Tree'/1", "Elixir.Shop.Tree"},
        {"supervisor_bridge:user_sup/1", "user_sup"},
        {"'Elixir.DynamicSupervisor':init/1", "Elixir.DynamicSupervisor"},
        {"my_supervisor:init/1", "my_supervisor"},
        {"shop_cart:init/1", "shop_cart:init/1"},
        {"supervisor:init/1", "supervisor:init/1"},
        {"supervisor:/1", "supervisor:/1"},
        {"my_sup:run/0", "my_sup:run/0"},
        {"gen_server:loop/7", "gen_server:loop/7"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct proc_row row;
        proc_row_clear(&row);
        row.initial_call = slice_of(rows[i].call);
        if (!slice_is(proc_row_display_name(&row), rows[i].name))
            fail_msg("%s", rows[i].call);
    }
}

static struct slice slice(const char *s)
{
    return (struct slice){s, strlen(s)};
}

/* The one name that rows, reports and findings have for a process. */
TEST(test_process_name)
{
    static const struct {
        const char *name, *label, *call, *near, *pid, *says;
    } names[] = {
        {"shop_api", "", "shop:init/1", "", "<0.1.0>", "shop_api"},
        {"", "worker 3", "erlang:apply/2", "linked to a", "<0.1.0>", "worker 3 <0.1.0>"},
        {"", "", "shop:init/1", "linked to a", "<0.1.0>", "shop:init/1 <0.1.0>"},
        {"", "", "erlang:apply/2", "linked to logger_std_h_default", "<0.1.0>",
         "erlang:apply/2 (linked to logger_std_h_default) <0.1.0>"},
        {"", "", "gen_server:loop/7", "started by shop_sup", "<0.1.0>",
         "gen_server:loop/7 (started by shop_sup) <0.1.0>"},
        {"", "", "proc_lib:init_p/5", "", "<0.1.0>", "proc_lib:init_p/5 <0.1.0>"},
        {"", "", "", "", "<0.1.0>", "<0.1.0>"},
        {"", "", "", "", "", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct process_names n = {slice(names[i].name), slice(names[i].label),
                                        slice(names[i].call), slice(names[i].near),
                                        slice(names[i].pid)};
        struct buf b;
        buf_init(&b, 0);
        process_name_put(&b, &n);
        assert_string_equal(buf_cstr(&b), names[i].says);
        buf_clear(&b);
    }
}

TEST(test_shown_names)
{
    static const struct {
        const char *name, *shown;
    } names[] = {
        {"shop_cart:add/2", "shop_cart:add/2"},
        {"Elixir.Logger", "Logger"},
        {"'Elixir.Shop.Cart'", "Shop.Cart"},
        {"'Elixir.Shop.Cart':add/2", "Shop.Cart.add/2"},
        {"Elixir.Shop.Cart:add/2", "Shop.Cart.add/2"},
        {"'Elixir.Shop Cart':add/2", "'Elixir.Shop Cart':add/2"},
        {"'Elixir.Shop.Cart", "'Elixir.Shop.Cart"},
        {"Elixir.", "Elixir."},
        {"Elixir.foo", "Elixir.foo"},
        {"'Elixir.foo':add/2", "'Elixir.foo':add/2"},
        {"", ""},
    };
    static const struct {
        const char *text, *shown;
    } texts[] = {
        {"Logger Elixir.Logger blocks its callers", "Logger Logger blocks its callers"},
        {"870/s via 'Elixir.Gateway.Repo'", "870/s via Gateway.Repo"},
        {"'Elixir.A.B':all/2, Elixir.C:get!/1.", "A.B.all/2, C.get!/1."},
        {"'Elixir.Gateway.Repo': 870/s", "Gateway.Repo: 870/s"},
        {"Elixir.Gateway.Repo: 870/s", "Gateway.Repo: 870/s"},
        {"{ok,'Elixir.A'}", "{ok,A}"},
        {"my_Elixir.A of an Elixir program", "my_Elixir.A of an Elixir program"},
        {"'Elixir.A b' 'Elixir.C", "'Elixir.A b' 'Elixir.C"},
        {"Elixir.", "Elixir."},
        {"", ""},
    };
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct slice shown = shown_name(&arena, slice(names[i].name));
        if (!slice_is(shown, names[i].shown))
            fail_msg("%s: %.*s", names[i].name, (int)shown.len, shown.s);
    }
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const struct slice shown = shown_names(&arena, slice(texts[i].text));
        if (!slice_is(shown, texts[i].shown) || shown.s[shown.len])
            fail_msg("%s: %.*s", texts[i].text, (int)shown.len, shown.s);
    }
    arena_clear(&arena);
}

/* Calls that name no module of the process's own. */
TEST(test_generic_calls)
{
    static const struct {
        const char *call;
        bool loop, generic;
    } rows[] = {
        {"gen_server:loop/7", true, true},    {"gen_statem:loop_receive/3", true, true},
        {"proc_lib:init_p/5", true, true},    {"erlang:apply/2", false, true},
        {"gen_server2:init/1", false, false}, {"", false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(process_call_is_loop(slice(rows[i].call)), rows[i].loop);
        assert_int_equal(process_call_is_generic(slice(rows[i].call)), rows[i].generic);
    }
}

TEST(test_wants_add_up)
{
    struct want a = {.needs = NEED(SYSTEM) | NEED(SCAN)};
    struct want b = {.needs = NEED(SCAN) | NEED(TREE), .tree_app = "shop"};
    struct etf_pid one = {.id = 1};
    a.scan = (struct want_scan){.sort_key = "memory_bytes", .rows = 10, .items = 1};
    b.scan = (struct want_scan){.sort_key = "links", .rows = 30, .items = 6, .own = true};
    assert_true(want_add_pid(&b.scan, &one));
    assert_true(want_add_pid(&b.scan, &one));
    assert_int_equal(b.scan.n_pids, 1);
    want_merge(&a, &b);
    assert_int_equal(a.needs, NEED(SYSTEM) | NEED(SCAN) | NEED(TREE));
    assert_string_equal(a.scan.sort_key, "memory_bytes");
    assert_string_equal(a.tree_app, "shop");
    assert_int_equal(a.scan.rows, 30);
    assert_int_equal(a.scan.items, 7);
    assert_true(a.scan.own && a.scan.n_pids == 1);
    for (uint32_t id = 2; id <= WANT_PIDS; id++) {
        struct etf_pid pid = {.id = id};
        assert_true(want_add_pid(&a.scan, &pid));
    }
    struct etf_pid last = {.id = 1000};
    assert_false(want_add_pid(&a.scan, &last));
}

/* Keys are read only of the table that they were asked for. */
TEST(test_keys_of_another_table_are_not_wanted)
{
    struct want shown = {.needs = NEED(ONE_TABLE), .table = "shown"};
    struct want asked = {.needs = NEED(ONE_TABLE) | NEED(TABLE_KEYS), .table = "x", .keys = 20};
    struct want none = {0};
    want_merge(&shown, &asked);
    assert_int_equal(shown.needs, NEED(ONE_TABLE));
    want_merge(&none, &asked);
    assert_int_equal(none.needs, NEED(ONE_TABLE) | NEED(TABLE_KEYS));
    assert_int_equal(none.keys, 20);
}

TEST(test_journal)
{
    struct model *m = model_new();
    assert_null(model_journal_at(m, 0));
    for (int i = 0; i < LIMIT_JOURNAL + 5; i++)
        model_journal(m, i, i % 2 == 0, "line %d", i);
    assert_int_equal(model_journal_len(m), LIMIT_JOURNAL);
    assert_int_equal(model_journal_at(m, 0)->wall_us, LIMIT_JOURNAL + 4);
    assert_string_equal(model_journal_at(m, LIMIT_JOURNAL - 1)->text, "line 5");
    assert_null(model_journal_at(m, LIMIT_JOURNAL));
    model_free(m);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growth of the rows of a table, their order, and rows added up. */
#include "beamtop/model/table.h"

#include <math.h>
#include <string.h>

#include "../../test.h"
#include "answers.h"
#include "beamtop/model/fields.h"

/* A row of `tables`: its id, owner's name, objects and memory as terms. */
#define ROW(id, owner, objects, memory)                                                            \
    "{<<\"" id "\">>, session, undefined, " owner ", undefined, 1, " objects ", " memory           \
    ", <<\"set\">>, undefined, undefined, false, false, false, false, 1, undefined, "              \
    "undefined, undefined, undefined, undefined}"

static const struct table_detail *take(struct model *m, const char *mono, const char *rows)
{
    char text[2000];
    struct error err = {0};
    snprintf(text, sizeof text, "{tables, %s000000000, [%s], false}", mono, rows);
    if (give(m, ANSWER_TABLES, text, &err) < 0)
        fail_msg("%s", err.text);
    return model_answer(m, QUESTION_TABLES);
}

TEST(test_growth_is_of_the_same_table)
{
    struct model *m = model_new();
    const struct table_detail *t =
        take(m, "1", ROW("a", "x", "10", "100") "," ROW("b", "x", "5", "900"));
    const struct tables_row *rows = t->rows;
    assert_true(isnan(rows[0].memory_per_s));
    t = take(m, "3",
             ROW("b", "x", "5", "500") "," ROW("a", "x", "30",
                                               "{older, 700, 9000}") "," ROW("c", "x", "1", "1"));
    rows = t->rows;
    assert_true(fabs(rows[0].memory_per_s + 200) < 1e-9);
    assert_true(fabs(rows[0].objects_per_s) < 1e-9);
    assert_true(isnan(rows[1].memory_per_s)); /* read earlier than its moment */
    assert_true(isnan(rows[1].objects_per_s));
    assert_true(isnan(rows[2].objects_per_s)); /* new */
    model_free(m);
}

/* One of many nodes: growth is there, the answer before is not. */
TEST(test_a_small_model_keeps_one_answer)
{
    struct model *m = model_new_small();
    const struct table_detail *t = take(m, "1", ROW("a", "x", "10", "100"));
    for (int i = 0; i < 3; i++) {
        const char *const moments[] = {"3", "5", "7"}, *const sizes[] = {"300", "700", "100"};
        static const double growth[] = {100, 200, -300};
        char row[400];
        snprintf(row, sizeof row, ROW("a", "x", "10", "%s"), sizes[i]);
        t = take(m, moments[i], row);
        const struct tables_row *rows = t->rows;
        assert_true(fabs(rows[0].memory_per_s - growth[i]) < 1e-9);
        assert_null(t->before);
    }
    model_free(m);
}

#define SOCKET(id, state, n)                                                                       \
    "{<<\"" id "\">>, <<\"port\">>, <<\"tcp\">>, undefined, undefined, undefined, undefined, "     \
    "undefined, undefined, undefined, undefined, " state ", " n ", 0, false, undefined, "          \
    "undefined, undefined, undefined, 0, 0, undefined, undefined, undefined, undefined}"

/* Of one port by its name, from the first answer that says so. */
TEST(test_state_lasts)
{
    static const struct {
        const char *rows;
        double a_s, b_s; /* NaN: not known */
    } takes[] = {
        {SOCKET("a", "<<\"close_wait\">>", "1") "," SOCKET("b", "<<\"established\">>", "1"), NAN,
         NAN},
        {SOCKET("b", "<<\"close_wait\">>", "1") "," SOCKET("a", "<<\"close_wait\">>", "1"), 30, 0},
        {SOCKET("a", "<<\"close_wait\">>", "1") "," SOCKET("b", "<<\"close_wait\">>", "1"), 60, 30},
        {SOCKET("a", "undefined", "1") "," SOCKET("b", "<<\"close_wait\">>", "9"), NAN, NAN},
    };
    struct model *m = model_new();
    struct error err = {0};
    for (size_t i = 0; i < ARRAY_LEN(takes); i++) {
        char text[2000];
        snprintf(text, sizeof text, "{ports, %zu0000000000, [%s], false}", 3 * (i + 1),
                 takes[i].rows);
        if (give(m, ANSWER_PORTS, text, &err) < 0)
            fail_msg("%s", err.text);
        const struct table_detail *t = model_answer(m, QUESTION_PORTS);
        for (size_t k = 0; k < t->n_rows; k++) {
            const struct ports_row *row = (const struct ports_row *)t->rows + k;
            const double s = slice_is(row->id, "a") ? takes[i].a_s : takes[i].b_s;
            assert_true(isnan(s) ? isnan(row->state_s) : fabs(row->state_s - s) < 1e-9);
        }
    }
    model_free(m);
}

#define NAMED(objects, tid)                                                                        \
    "{<<\"a\">>, a, undefined, undefined, undefined, 1, " objects                                  \
    ", 100, undefined, undefined, undefined, undefined, undefined, undefined, undefined, "         \
    "undefined, undefined, " tid ", undefined, undefined, undefined}"

/* One made again under its name. */
TEST(test_growth_is_not_of_the_table_before)
{
    static const struct {
        const char *row;
        bool grows;
    } next[] = {{NAMED("20", "<<\"#Ref<0.1.1.1>\">>"), true},
                {NAMED("30", "<<\"#Ref<0.1.1.2>\">>"), false},
                {NAMED("40", "<<\"#Ref<0.1.1.2>\">>"), true},
                {NAMED("50", "undefined"), true}};
    struct model *m = model_new();
    take(m, "1", NAMED("10", "<<\"#Ref<0.1.1.1>\">>"));
    for (size_t i = 0; i < ARRAY_LEN(next); i++) {
        char mono[2] = {(char)('2' + i), '\0'};
        const struct tables_row *row = take(m, mono, next[i].row)->rows;
        assert_int_equal(!isnan(row->objects_per_s), next[i].grows);
    }
    model_free(m);
}

static const struct field *field_of(const char *key)
{
    return field_find(&tables_fields, slice_of(key));
}

TEST(test_rows_are_added_up)
{
    struct model *m = model_new();
    struct table_detail groups;
    struct arena arena;
    const struct field *columns[24];
    const struct table_detail *t =
        take(m, "1",
             ROW("a", "x", "10", "100") "," ROW("b", "y", "5", "900") "," ROW(
                 "c", "x", "undefined", "50") "," ROW("d", "undefined", "1", "undefined"));
    arena_init(&arena);
    table_group(&groups, t, &tables_fields, field_of("owner_name"), &arena);
    const struct tables_row *rows = groups.rows;
    assert_int_equal(groups.n_rows, 3);
    assert_true(slice_is(rows[0].owner_name, "y") && slice_is(rows[1].owner_name, "x"));
    assert_int_equal(rows[1].tables, 2);
    assert_int_equal(rows[1].memory_bytes, 150);
    assert_int_equal(rows[1].objects, 10);
    assert_int_equal(rows[1].id.len, 0);
    assert_int_equal(rows[1].key_position, -1);
    assert_int_equal(rows[2].owner_name.len, 0);
    assert_int_equal(rows[2].memory_bytes, -1);
    const size_t n =
        table_group_columns(&tables_fields, field_of("owner_name"), false, columns, 24);
    assert_int_equal(n, 6);
    assert_string_equal(columns[0]->key, "owner_name");
    arena_clear(&arena);
    model_free(m);
}

/* That of one that is new counts; that of one that was read earlier is not known. */
TEST(test_growth_of_a_group)
{
    static const struct {
        const char *rows;
        double per_s; /* NaN: not known */
    } second[] = {
        {ROW("a", "x", "10", "100") "," ROW("n", "x", "1", "700"), 350},
        {ROW("a", "x", "10", "{older, 100, 5000}") "," ROW("n", "x", "1", "700"), NAN},
        {ROW("a", "x", "10", "undefined"), NAN},
    };
    for (size_t i = 0; i < ARRAY_LEN(second); i++) {
        struct model *m = model_new();
        struct table_detail groups;
        struct arena arena;
        arena_init(&arena);
        (void)take(m, "1", ROW("a", "x", "10", "100"));
        table_group(&groups, take(m, "3", second[i].rows), &tables_fields, field_of("owner_name"),
                    &arena);
        const struct tables_row *row = groups.rows;
        assert_int_equal(groups.n_rows, 1);
        assert_true(isnan(second[i].per_s) ? isnan(row->memory_per_s)
                                           : fabs(row->memory_per_s - second[i].per_s) < 1e-9);
        assert_int_equal(row->memory_older, isnan(second[i].per_s));
        arena_clear(&arena);
        model_free(m);
    }
}

/* The largest stands for all, with its pid and name; growth may be below zero. */
TEST(test_the_largest_of_a_group)
{
    struct holders_row rows[3];
    struct table_detail groups;
    const struct table_detail t = {.rows = rows, .n_rows = ARRAY_LEN(rows)};
    struct arena arena;
    arena_init(&arena);
    memset(rows, 0, sizeof rows);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        table_clear_row(&holders_fields, &rows[i]);
        rows[i].initial_call = slice_of("a:b/1");
        rows[i].processes = 2;
        rows[i].memory_growth = i == 0 ? -700 : 200;
        rows[i].has_largest = i < 2;
        rows[i].largest_bytes = i == 0 ? 100 : i == 1 ? 900 : -1;
        rows[i].largest = (struct etf_pid){.id = (uint32_t)i};
        rows[i].largest_name = slice_of(i == 1 ? "one" : "other");
    }
    table_group(&groups, &t, &holders_fields, field_find(&holders_fields, slice_of("initial_call")),
                &arena);
    const struct holders_row *row = groups.rows;
    assert_int_equal(groups.n_rows, 1);
    assert_int_equal(row->processes, 6);
    assert_true(fabs(row->memory_growth + 300) < 1e-9);
    assert_int_equal(row->largest_bytes, 900);
    assert_true(row->has_largest && row->largest.id == 1);
    assert_true(slice_is(row->largest_name, "one"));
    arena_clear(&arena);
}

TEST(test_order)
{
    struct model *m = model_new();
    struct arena arena;
    struct table_detail t = *take(m, "1",
                                  ROW("a", "x", "1", "100") "," ROW(
                                      "b", "x", "undefined", "900") "," ROW("c", "x", "7", "50"));
    arena_init(&arena);
    table_order(&t, &tables_fields, field_of("objects"), &arena);
    const struct tables_row *rows = t.rows;
    assert_true(slice_is(rows[0].id, "c") && slice_is(rows[1].id, "a") &&
                slice_is(rows[2].id, "b"));
    arena_clear(&arena);
    model_free(m);
}

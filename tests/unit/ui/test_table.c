/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "ui/widgets/doc.h"
#include "ui/widgets/page.h"
#include "ui/widgets/table.h"

static const struct view_column columns[] = {
    {.key = "name", .title = "NAME", .width = 8, .grows = true, .sortable = true},
    {.key = "n", .title = "N", .width = 4, .right = true, .sortable = true},
};

/* A page with a row for each letter. */
static void fill(struct view_page *page, const char *letters)
{
    page_reset(page);
    page_columns(page, columns, ARRAY_LEN(columns));
    for (const char *at = letters; *at; at++) {
        struct view_row *row = page_row(page);
        row->id = (uint64_t)*at;
        page_cell(page, row, 0, STYLE_NAME, at, 1);
        page_cell_printf(page, row, 1, STYLE_NORMAL, "%d", *at - 'a');
    }
}

/* The first cells of the rows; those that have left in capitals. */
static const char *order_of(const struct view_page *page, char *out)
{
    for (size_t i = 0; i < page->n_rows; i++)
        out[i] = (char)(page->rows[i].cells[0].s[0] - (page->rows[i].dim ? 'a' - 'A' : 0));
    out[page->n_rows] = '\0';
    return out;
}

TEST(test_places_are_kept)
{
    static const struct {
        const char *name, *first, *next, *wanted;
        size_t cursor;
        bool resort;
        size_t cursor_then;
    } rows[] = {
        {"at the top the order is taken", "abcd", "dcba", "dcba", 0, false, 0},
        {"inside, rows keep their places", "abcd", "dcba", "abcd", 2, false, 2},
        {"what left stays, dim", "abcd", "dba", "abCd", 1, false, 1},
        {"the cursor's own row left", "abcd", "dca", "aBcd", 1, false, 1},
        {"what came is last", "abcd", "xdcba", "abcdx", 3, false, 3},
        {"asked for, the order is taken and the cursor goes along", "abcd", "dcba", "dcba", 1, true,
         2},
        {"asked for, and the row has left", "abcd", "dca", "dca", 3, true, 0},
        {"everything left", "ab", "", "AB", 1, false, 1},
        {"the same identity twice", "aab", "aab", "aab", 2, false, 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct table t;
        struct view_page pages[2];
        char order[32];
        table_init(&t);
        page_init(&pages[0]);
        page_init(&pages[1]);
        fill(&pages[0], rows[i].first);
        table_take(&t, &pages[0], NULL);
        table_goto(&t, &pages[0], rows[i].cursor);
        if (rows[i].resort)
            table_ask_order(&t);
        fill(&pages[1], rows[i].next);
        table_take(&t, &pages[1], &pages[0]);
        if (strcmp(order_of(&pages[1], order), rows[i].wanted) != 0)
            fail_msg("%s: %s, not %s", rows[i].name, order, rows[i].wanted);
        if (t.cursor != rows[i].cursor_then)
            fail_msg("%s: cursor at %zu", rows[i].name, t.cursor);
        table_clear(&t);
        page_clear(&pages[0]);
        page_clear(&pages[1]);
    }
}

static const char *row_text(const struct canvas *c, int row, char *out)
{
    size_t used = 0;
    for (int i = 0; i < c->columns; i++)
        used += (size_t)sprintf(out + used, "%s", canvas_at(c, row, i)->text);
    return out;
}

/* Names that begin alike are cut at the left, others at the right; what is left out leaves its
 * room to them. */
TEST(test_texts_that_are_cut)
{
    static const struct view_column wide[] = {
        {.key = "name", .title = "NAME", .width = 8, .grows = true},
        {.key = "a", .title = "A", .width = 1, .right = true},
        {.key = "b", .title = "B", .width = 1, .right = true},
        {.key = "n", .title = "N", .width = 20, .right = true},
    };
    static const char *const names[] = {"Elixir.Shop.Warehouse.Reader",
                                        "Elixir.Shop.Warehouse.Writer", "a_name_of_its_own_length"};
    static const struct {
        int columns;
        const char *rows[3];
    } cases[] = {
        {16, {"…use.Reader 1", "…use.Writer 1", "a_name_of_… 1"}},
        {32, {"Shop.Warehouse.Reader ", "Shop.Warehouse.Writer ", "a_name_of_its_own_length 1"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct table t;
        struct view_page page;
        struct canvas c;
        const struct table_look look = {.focused = true};
        char text[200];
        table_init(&t);
        page_init(&page);
        page_columns(&page, wide, ARRAY_LEN(wide));
        for (size_t k = 0; k < 3; k++) {
            struct view_row *row = page_row(&page);
            row->id = k + 1;
            page_cell(&page, row, 0, STYLE_NAME, names[k], strlen(names[k]));
            for (size_t column = 1; column < ARRAY_LEN(wide); column++)
                page_cell(&page, row, column, STYLE_NORMAL, "1", 1);
        }
        table_take(&t, &page, NULL);
        canvas_init(&c, 5, cases[i].columns, false);
        table_draw(&t, &page, &c, (struct rect){0, 0, 5, cases[i].columns}, &look);
        for (int k = 0; k < 3; k++)
            if (!strstr(row_text(&c, k + 1, text), cases[i].rows[k]))
                fail_msg("%d columns: “%s” lacks “%s”", cases[i].columns, text, cases[i].rows[k]);
        canvas_clear(&c);
        page_clear(&page);
        table_clear(&t);
    }
}

/* The end of a list of which the node has more rows than were asked for. */
TEST(test_the_end_of_a_list_that_goes_on)
{
    static const struct {
        int asked;
        enum move then;
        size_t cursor;
    } rows[] = {{0, MOVE_LAST, 3}, {10, MOVE_LAST, 3}, {4, MOVE_LAST, 7}, {4, MOVE_UP, 2}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct table t;
        struct view_page pages[2];
        table_init(&t);
        page_init(&pages[0]);
        page_init(&pages[1]);
        fill(&pages[0], "abcd");
        table_take(&t, &pages[0], NULL);
        t.asked = rows[i].asked;
        table_move(&t, &pages[0], MOVE_LAST, 10);
        if (rows[i].then != MOVE_LAST)
            table_move(&t, &pages[0], rows[i].then, 10);
        fill(&pages[1], "abcdefgh");
        table_take(&t, &pages[1], &pages[0]);
        assert_int_equal(t.cursor, rows[i].cursor);
        assert_false(t.to_end);
        page_clear(&pages[0]);
        page_clear(&pages[1]);
        table_clear(&t);
    }
}

TEST(test_moves_stay_inside)
{
    static const struct {
        const char *name;
        enum move move;
        size_t from, to;
    } rows[] = {
        {"up from the first", MOVE_UP, 0, 0},  {"down from the last", MOVE_DOWN, 9, 9},
        {"a page down", MOVE_PAGE_DOWN, 0, 4}, {"a page beyond", MOVE_PAGE_DOWN, 8, 9},
        {"a page up", MOVE_PAGE_UP, 9, 5},     {"to the last", MOVE_LAST, 2, 9},
        {"to the first", MOVE_FIRST, 5, 0},
    };
    struct table t;
    struct view_page page;
    struct error err = {0};
    table_init(&t);
    page_init(&page);
    fill(&page, "abcdefghij");
    table_take(&t, &page, NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        table_goto(&t, &page, rows[i].from);
        table_move(&t, &page, rows[i].move, 5);
        if (t.cursor != rows[i].to)
            fail_msg("%s: %zu", rows[i].name, t.cursor);
    }
    fill(&page, "");
    table_take(&t, &page, NULL);
    assert_false(table_move(&t, &page, MOVE_DOWN, 5));
    assert_int_equal(table_mark(&t, &page, &err), ERR_NOT_FOUND);
    table_clear(&t);
    page_clear(&page);
}

/* As many as a list of nodes has; of processes as many as a node is asked for beside the first. */
TEST(test_marks)
{
    static const struct {
        enum link_kind kind;
        size_t most;
        const char *says;
    } rows[] = {{TARGET_NODE, TABLE_MARKS, "rows"}, {TARGET_PROCESS, WANT_PIDS, "processes"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct table t;
        struct view_page page;
        struct error err = {0};
        table_init(&t);
        page_init(&page);
        page_columns(&page, columns, ARRAY_LEN(columns));
        for (size_t k = 0; k <= rows[i].most; k++) {
            struct view_row *row = page_row(&page);
            row->id = k + 1;
            row->link = (struct view_link){.kind = rows[i].kind, .pid = {.id = (uint32_t)k + 1}};
        }
        table_take(&t, &page, NULL);
        for (size_t k = 0; k < rows[i].most; k++) {
            table_goto(&t, &page, k);
            assert_int_equal(table_mark(&t, &page, &err), 0);
        }
        table_goto(&t, &page, rows[i].most);
        assert_int_equal(table_mark(&t, &page, &err), ERR_LIMIT);
        assert_non_null(strstr(err.text, rows[i].says));
        assert_false(page.rows[rows[i].most].marked);
        table_goto(&t, &page, 3); /* the last one takes its place */
        assert_int_equal(table_mark(&t, &page, &err), 0);
        for (size_t k = 0; k <= rows[i].most; k++)
            page.rows[k].marked = false;
        table_take(&t, &page, NULL);
        for (size_t k = 0; k <= rows[i].most; k++)
            assert_int_equal(page.rows[k].marked, k != 3 && k < rows[i].most);
        table_clear(&t);
        page_clear(&page);
    }
}

TEST(test_hits)
{
    struct table t;
    struct view_page page;
    struct canvas c;
    struct rect r = {2, 3, 5, 40};
    struct table_look look = {.focused = true, .match = NULL};
    table_init(&t);
    page_init(&page);
    canvas_init(&c, 10, 50, false);
    fill(&page, "abcdefghij");
    table_take(&t, &page, NULL);
    table_goto(&t, &page, 6);
    table_draw(&t, &page, &c, r, &look);
    assert_int_equal(table_hit_row(&t, &page, r, 2), -1); /* the titles */
    assert_int_equal(table_hit_row(&t, &page, r, 3), 3);
    assert_int_equal(table_hit_row(&t, &page, r, 6), 6);
    assert_int_equal(table_hit_row(&t, &page, r, 7), -1);
    assert_int_equal(table_hit_title(&t, &page, r, 2, 4), 0);
    assert_int_equal(table_hit_title(&t, &page, r, 2, 16), 1);
    assert_int_equal(table_hit_title(&t, &page, r, 2, 39), -1);
    assert_int_equal(table_hit_title(&t, &page, r, 3, 4), -1);
    canvas_clear(&c);
    table_clear(&t);
    page_clear(&page);
}

TEST(test_find_goes_round)
{
    struct table t;
    struct view_page page;
    struct regex *re;
    struct error err = {0};
    size_t offset;
    table_init(&t);
    page_init(&page);
    fill(&page, "abcabc");
    table_take(&t, &page, NULL);
    assert_int_equal(regex_new(&re, "b", &offset, &err), 0);
    assert_true(table_find(&t, &page, re, 1));
    assert_int_equal(t.cursor, 1);
    assert_true(table_find(&t, &page, re, 1));
    assert_int_equal(t.cursor, 4);
    assert_true(table_find(&t, &page, re, 1));
    assert_int_equal(t.cursor, 1);
    assert_true(table_find(&t, &page, re, -1));
    assert_int_equal(t.cursor, 4);
    regex_free(re);
    table_clear(&t);
    page_clear(&page);
}

static void doc_fill(struct view_page *page, int lines, const int *links, size_t n)
{
    page_reset(page);
    for (int i = 0; i < lines; i++) {
        struct view_line *line = page_line(page);
        for (size_t k = 0; k < n; k++)
            if (links[k] == i) {
                char name[16];
                int len = snprintf(name, sizeof name, "link%zu", k);
                link_name(&line->link, TARGET_NAME, (struct slice){name, (size_t)len});
            }
        page_printf(page, STYLE_NORMAL, "line %d", i);
    }
}

TEST(test_doc_cursor_follows_links)
{
    struct doc d;
    struct view_page page;
    doc_init(&d);
    page_init(&page);
    doc_fill(&page, 30, (int[]){2, 20, 25}, 3);
    doc_take(&d, &page);
    assert_int_equal(d.cursor, 2);
    for (int i = 0; i < 11; i++) /* the next link is out of sight: the text scrolls first */
        doc_move(&d, &page, MOVE_DOWN, 10);
    assert_int_equal(d.cursor, 20);
    assert_true(d.top <= 20 && d.top + 10 > 20);
    doc_fill(&page, 33, (int[]){5, 23, 28}, 3); /* lines came before it */
    doc_take(&d, &page);
    assert_int_equal(d.cursor, 23);
    doc_move(&d, &page, MOVE_LAST, 10);
    assert_int_equal(d.cursor, 28);
    assert_int_equal(d.top, 23);
    doc_move(&d, &page, MOVE_FIRST, 10);
    assert_int_equal(d.cursor, 5);
    assert_int_equal(d.top, 0);
    doc_fill(&page, 3, NULL, 0);
    doc_take(&d, &page);
    assert_int_equal(d.cursor, -1);
    assert_false(doc_move(&d, &page, MOVE_DOWN, 10));
    page_clear(&page);
}

/* Something comes above the line that the user reads: Enter opens what it would have opened. */
TEST(test_doc_keeps_the_line)
{
    static const struct {
        enum page_hold hold;
        size_t scrolled;
        const char *link;
        long cursor;
        size_t top;
    } rows[] = {
        {HOLD_LINE, 0, "link0", 7, 0},
        {HOLD_LINE, 1, "link0", 7, 6},
        {HOLD_FIRST, 0, "link9", 2, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct doc d;
        struct view_page page;
        doc_init(&d);
        page_init(&page);
        doc_fill(&page, 30, (int[]){2, 20}, 2);
        page.hold = rows[i].hold;
        doc_take(&d, &page);
        d.top = rows[i].scrolled;
        doc_fill(&page, 35, (int[]){7, 25}, 2);
        link_name(&page.lines[2].link, TARGET_NAME, (struct slice){"link9", 5});
        page.hold = rows[i].hold;
        doc_take(&d, &page);
        assert_string_equal(d.link.name, rows[i].link);
        assert_int_equal(d.cursor, rows[i].cursor);
        assert_int_equal(d.top, rows[i].top);
        page_clear(&page);
    }
}

/* A tree: a digit is the depth of a row. */
static void fill_tree(struct view_page *page, const char *depths, struct table *t)
{
    char letters[32];
    size_t n = strlen(depths);
    for (size_t i = 0; i <= n; i++)
        letters[i] = (char)(i < n ? 'a' + (char)i : '\0');
    fill(page, letters);
    page->in_place = true;
    for (size_t i = 0; i < n; i++)
        page->rows[i].indent = 2 * (depths[i] - '0');
    table_hide_folded(t, page);
    table_take(t, page, NULL);
}

TEST(test_trees_fold)
{
    static const struct {
        const char *name, *moves; /* l left, r right, d down */
        const char *order, *first;
        size_t cursor;
    } rows[] = {
        {"nothing folded", "", "abcdef", "a", 0},
        {"the root", "l", "af", "a  +4", 0},
        {"and back", "lr", "abcdef", "a", 0},
        {"an inner row", "dl", "abef", "a", 1},
        {"a leaf goes to its parent, which folds", "ddll", "abef", "a", 1},
        {"a folded one goes to its parent", "dll", "abef", "a", 0},
        {"one within another", "dlll", "af", "a  +4", 0},
        {"which is folded still", "dlllr", "abef", "a", 0},
        {"a root without children stays", "ldl", "af", "a  +4", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct table t;
        struct view_page page;
        char order[32];
        table_init(&t);
        page_init(&page);
        fill_tree(&page, "012210", &t); /* a has b (with c, d) and e; f is alone */
        for (const char *m = rows[i].moves; *m; m++) {
            const enum move move = *m == 'l' ? MOVE_LEFT : *m == 'r' ? MOVE_RIGHT : MOVE_DOWN;
            if (!table_fold(&t, &page, move))
                table_move(&t, &page, move, 20);
            fill_tree(&page, "012210", &t);
        }
        const struct text_span *first = &page.rows[0].cells[0];
        if (strcmp(order_of(&page, order), rows[i].order) != 0 || t.cursor != rows[i].cursor ||
            first->len != strlen(rows[i].first) || memcmp(first->s, rows[i].first, first->len) != 0)
            fail_msg("%s: %s, cursor at %zu, %.*s", rows[i].name, order, t.cursor, (int)first->len,
                     first->s);
        table_clear(&t);
        page_clear(&page);
    }
}

/* Where rows are no tree, left and right mean what they did. */
TEST(test_lists_do_not_fold)
{
    struct table t;
    struct view_page page;
    table_init(&t);
    page_init(&page);
    fill(&page, "abc");
    page.rows[1].indent = 2;
    table_take(&t, &page, NULL);
    assert_false(table_fold(&t, &page, MOVE_LEFT));
    page.in_place = true;
    t.left = 1; /* scrolled: back first */
    assert_false(table_fold(&t, &page, MOVE_LEFT));
    assert_false(table_fold(&t, &page, MOVE_RIGHT));
    table_clear(&t);
    page_clear(&page);
}

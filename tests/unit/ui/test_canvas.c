/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "beamtop/ui/canvas.h"

static void row_text(const struct canvas *c, int row, char *out)
{
    *out = '\0';
    for (int i = 0; i < c->columns; i++)
        strcat(out, canvas_at(c, row, i)->text);
}

TEST(test_put)
{
    static const struct {
        const char *name;
        bool ascii;
        int column;
        const char *text, *shown;
        int used;
    } rows[] = {
        {"plain", false, 0, "abc", "..abc...", 3},
        {"clipped right", false, 0, "abcdef", "..abcd..", 4},
        {"clipped left", false, -2, "abcde", "..cde...", 5},
        {"escape", false, 0, "a\x1b[m", "..a\xef\xbf\xbd[m..", 4},
        {"escape, ascii", true, 0, "a\x1b[m", "..a?[m..", 4},
        {"newline", true, 0, "a\nb", "..a?b...", 3},
        {"bad UTF-8", true, 0, "\xff", "..?.....", 1},
        {"wide", false, 0,
         "\xe4\xb8\xad"
         "a",
         "..\xe4\xb8\xad"
         "a...",
         3},
        {"wide, ascii", true, 0,
         "\xe4\xb8\xad"
         "a",
         "..?a....", 2},
        {"wide cut right", false, 0, "abc\xe4\xb8\xad", "..abc ..", 4},
        {"wide cut left", false, -1,
         "\xe4\xb8\xad"
         "a",
         ".. a....", 3},
        {"combining", false, 0, "e\xcc\x81x", "..e\xcc\x81x....", 2},
        {"bidi override", true, 0,
         "a\xe2\x80\xae"
         "b",
         "..a?b...", 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct canvas c;
        char shown[200];
        canvas_init(&c, 3, 8, rows[i].ascii);
        struct rect all = {0, 0, 3, 8}, r = {1, 2, 1, 4};
        canvas_fill(&c, all, STYLE_NORMAL, '.');
        int used =
            canvas_put(&c, r, 0, rows[i].column, STYLE_NAME, rows[i].text, strlen(rows[i].text));
        row_text(&c, 1, shown);
        if (used != rows[i].used || strcmp(shown, rows[i].shown) != 0)
            fail_msg("%s: used %d, shown '%s'", rows[i].name, used, shown);
        canvas_clear(&c);
    }
}

TEST(test_wide_halves_are_never_left_alone)
{
    struct canvas c;
    char shown[64];
    canvas_init(&c, 1, 6, false);
    struct rect r = {0, 0, 1, 6};
    canvas_puts(&c, r, 0, 0, STYLE_NORMAL, "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad");
    canvas_puts(&c, r, 0, 1, STYLE_NORMAL, "ab");
    row_text(&c, 0, shown);
    assert_string_equal(shown, " ab \xe4\xb8\xad");
    canvas_clear(&c);
}

TEST(test_outside)
{
    struct canvas c;
    canvas_init(&c, 2, 4, false);
    struct rect far = {5, 5, 3, 3}, before = {-3, -3, 2, 2}, wide = {0, 0, 100, 100};
    assert_int_equal(canvas_puts(&c, far, 0, 0, STYLE_NORMAL, "x"), 0);
    assert_int_equal(canvas_puts(&c, before, 0, 0, STYLE_NORMAL, "x"), 0);
    canvas_fill(&c, wide, STYLE_OK, 'z');
    canvas_restyle(&c, wide, 1, -5, 50, STYLE_CURSOR);
    assert_int_equal(canvas_at(&c, 1, 3)->style, STYLE_CURSOR);
    assert_int_equal(canvas_at(&c, 0, 3)->style, STYLE_OK);
    canvas_clear(&c);
}

TEST(test_sizes_are_clamped)
{
    struct canvas c;
    canvas_init(&c, 0, 1000000, false);
    assert_int_equal(c.rows, 1);
    assert_int_equal(c.columns, LIMIT_CANVAS_COLUMNS);
    canvas_clear(&c);
}

TEST(test_rule)
{
    struct canvas c;
    char shown[200];
    canvas_init(&c, 1, 12, true);
    struct rect r = {0, 0, 1, 12};
    canvas_rule(&c, r, 0, STYLE_TITLE, "top");
    row_text(&c, 0, shown);
    assert_string_equal(shown, "-- top -----");
    canvas_rule(&c, r, 0, STYLE_TITLE, "a longer title");
    row_text(&c, 0, shown);
    assert_string_equal(shown, "-- a longe -");
    canvas_clear(&c);
}

TEST(test_styles)
{
    for (int i = 0; i < STYLES; i++) {
        assert_int_equal(style_find(style_name((enum style)i)), i);
        assert_true(strlen(style_help((enum style)i)) > 0);
    }
    assert_int_equal(style_find("nothing"), -1);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/base/embed.h"
#include "beamtop/ui/theme.h"

extern const struct embedded embedded_themes[];

TEST(test_built_in_themes_are_whole)
{
    size_t n = 0;
    for (; theme_builtin(n); n++) {
        struct theme t;
        struct error err = {0};
        theme_init(&t);
        if (theme_use(&t, theme_builtin(n), &err) < 0)
            fail_msg("%s: %s", theme_builtin(n), err.text);
    }
    size_t files = 0;
    for (; embedded_themes[files].name; files++) {
        struct theme t;
        struct diags diags;
        theme_init(&t);
        diags_init(&diags);
        theme_parse(&t, "x", embedded_themes[files].text, embedded_themes[files].len, &diags);
        if (diags.len > 0)
            fail_msg("%s:%zu: %s", embedded_themes[files].name, diags.items[0].line,
                     diags.items[0].text);
        for (int i = 0; i < STYLES; i++) {
            char line[64] = "\ncolor ";
            strcat(strcat(line, style_name((enum style)i)), " ");
            if (!strstr(embedded_themes[files].text, line))
                fail_msg("%s lacks%s", embedded_themes[files].name, line);
        }
        diags_clear(&diags);
    }
    assert_int_equal(files, n);
}

/* Backgrounds of terminals with their text, and what they say of them; of dark and light ones also
   the last before they count as neither. */
static const struct terminal {
    uint32_t background, text;
    enum theme_background says;
    bool pure; /* of terminals that may have fewer than 256 colours */
} terminals[] = {
    {0x000000, 0xe5e5e5, BACKGROUND_DARK, true},
    {0xffffff, 0x000000, BACKGROUND_LIGHT, true},
    {0x000000, 0xe5e5e5, BACKGROUND_UNKNOWN, true},
    {0xffffff, 0x000000, BACKGROUND_UNKNOWN, true},
    {0x1e1e1e, 0xd4d4d4, BACKGROUND_DARK, false},
    {0x353535, 0xd4d4d4, BACKGROUND_DARK, false},
    {0xfdf6e3, 0x333333, BACKGROUND_LIGHT, false},
    {0xe8e8e8, 0x333333, BACKGROUND_LIGHT, false},
    {0x1e1e1e, 0xd4d4d4, BACKGROUND_UNKNOWN, false},
    {0xfdf6e3, 0x333333, BACKGROUND_UNKNOWN, false},
    {0x3f3f3f, 0xdcdccc, BACKGROUND_UNKNOWN, false},
    {0xd3d3d3, 0x000000, BACKGROUND_UNKNOWN, false},
};

/* As most terminals show dim text. */
static uint32_t dimmed(uint32_t rgb)
{
    return (rgb >> 16) * 2 / 3 << 16 | (rgb >> 8 & 0xff) * 2 / 3 << 8 | (rgb & 0xff) * 2 / 3;
}

static double contrast_of(const struct look *l, const struct terminal *on)
{
    uint32_t fg = l->fg == COLOR_DEFAULT ? on->text : theme_rgb(l->fg);
    uint32_t bg = l->bg == COLOR_DEFAULT ? on->background : theme_rgb(l->bg);
    return theme_contrast(l->attributes & ATTRIBUTE_DIM ? dimmed(fg) : fg, bg);
}

TEST(test_contrast)
{
    assert_true(theme_contrast(0, 0xffffff) == 21 && theme_contrast(0xffffff, 0) == 21);
    assert_true(theme_contrast(0x777777, 0xffffff) > 4.4 &&
                theme_contrast(0x777777, 0xffffff) < 4.5);
}

static void check_contrast(const struct theme *t, const struct terminal *on, enum color_depth depth)
{
    static const int colors[] = {[DEPTH_8] = 8, [DEPTH_16] = 16, [DEPTH_256] = 256};
    for (int i = 0; i < STYLES; i++) {
        const struct look l = theme_look(t, (enum style)i, depth);
        if (contrast_of(&l, on) < 4.5 || l.fg >= colors[depth] || l.bg >= colors[depth])
            fail_msg("%s on %06x (%d), %d colours: %s (%d on %d) has a contrast of %.2f", t->name,
                     on->background, (int)on->says, colors[depth], style_name((enum style)i), l.fg,
                     l.bg, contrast_of(&l, on));
    }
}

/* Each theme on every background, whatever the terminal says of it, with as many colours as it
   has. */
TEST(test_text_stands_out)
{
    static const enum color_depth depths[] = {DEPTH_256, DEPTH_16, DEPTH_8};
    for (size_t n = 0; theme_builtin(n); n++)
        for (size_t i = 0; i < ARRAY_LEN(terminals) * ARRAY_LEN(depths); i++) {
            const struct terminal *on = &terminals[i / ARRAY_LEN(depths)];
            const enum color_depth depth = depths[i % ARRAY_LEN(depths)];
            struct theme t;
            struct error err = {0};
            theme_init(&t);
            assert_int_equal(theme_use(&t, theme_builtin(n), &err), 0);
            theme_set_terminal(&t, on->says);
            if (depth == DEPTH_256 || on->pure)
                check_contrast(&t, on, depth);
        }
}

/* What a terminal says of its background is true: no theme is shown where it cannot be read. */
TEST(test_backgrounds)
{
    for (size_t i = 0; i < ARRAY_LEN(terminals); i++)
        if (terminals[i].says != BACKGROUND_UNKNOWN)
            assert_int_equal(theme_background_of(terminals[i].background), terminals[i].says);
    assert_int_equal(theme_background_of(0x363636), BACKGROUND_UNKNOWN);
    assert_int_equal(theme_background_of(0xe7e7e7), BACKGROUND_UNKNOWN);
}

/* The terminal's own colours stay where they suit the theme, and in captures. */
TEST(test_backgrounds_of_themes)
{
    static const struct {
        const char *theme;
        enum theme_background terminal;
        int16_t fg, bg;
    } rows[] = {
        {"default", BACKGROUND_ANY, -1, -1},        {"default", BACKGROUND_DARK, -1, -1},
        {"default", BACKGROUND_LIGHT, 252, 16},     {"default", BACKGROUND_UNKNOWN, 252, 16},
        {"light", BACKGROUND_LIGHT, -1, -1},        {"light", BACKGROUND_DARK, 16, 231},
        {"light", BACKGROUND_ANY, -1, -1},          {"mono", BACKGROUND_UNKNOWN, -1, -1},
        {"high-contrast", BACKGROUND_LIGHT, 15, 0},
    };
    static const char bad[] = "background grey\nbackground\nbackground dark light\n";
    struct theme t;
    struct error err = {0};
    struct diags diags;
    theme_init(&t);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(theme_use(&t, rows[i].theme, &err), 0);
        theme_set_terminal(&t, rows[i].terminal);
        const struct look l = theme_look(&t, STYLE_NORMAL, DEPTH_256);
        if (l.fg != rows[i].fg || l.bg != rows[i].bg)
            fail_msg("%s, %d: %d on %d", rows[i].theme, (int)rows[i].terminal, l.fg, l.bg);
    }
    diags_init(&diags);
    theme_parse(&t, "x", bad, sizeof bad - 1, &diags);
    assert_int_equal(diags.len, 3);
    assert_int_equal(t.suits, BACKGROUND_ANY);
    diags_clear(&diags);
}

/* Without colours a row that needs to stand out still does, in every theme. */
TEST(test_meaning_without_colour)
{
    static const enum style needed[] = {STYLE_CURSOR, STYLE_HEADING_SORT, STYLE_TITLE, STYLE_ALARM,
                                        STYLE_WARN,   STYLE_MARK,         STYLE_MATCH};
    for (size_t n = 0; theme_builtin(n); n++) {
        struct theme t;
        struct error err = {0};
        theme_init(&t);
        assert_int_equal(theme_use(&t, theme_builtin(n), &err), 0);
        for (size_t i = 0; i < ARRAY_LEN(needed); i++)
            if (theme_look(&t, needed[i], DEPTH_NONE).attributes == 0)
                fail_msg("%s: %s has no attribute", theme_builtin(n), style_name(needed[i]));
    }
}

/* In a flame graph the cursor and what matches stand out among boxes of every kind. */
TEST(test_boxes_of_a_flame_graph)
{
    static const enum style marks[] = {STYLE_CURSOR, STYLE_CURSOR_IDLE, STYLE_MATCH};
    static const enum color_depth depths[] = {DEPTH_NONE, DEPTH_256};
    for (size_t n = 0; theme_builtin(n); n++) {
        struct theme t;
        struct error err = {0};
        theme_init(&t);
        assert_int_equal(theme_use(&t, theme_builtin(n), &err), 0);
        for (size_t i = 0; i < ARRAY_LEN(marks) * ARRAY_LEN(depths); i++)
            for (int box = STYLE_FLAME_ERLANG; box <= STYLE_FLAME_OTHER; box++) {
                enum color_depth depth = depths[i % ARRAY_LEN(depths)];
                struct look a = theme_look(&t, marks[i / ARRAY_LEN(depths)], depth),
                            b = theme_look(&t, (enum style)box, depth);
                if (a.bg == b.bg && a.attributes == b.attributes)
                    fail_msg("%s: %s looks like %s", theme_builtin(n),
                             style_name(marks[i / ARRAY_LEN(depths)]), style_name((enum style)box));
            }
    }
}

/* A key goes through all of them and comes back. */
TEST(test_next_themes)
{
    const char *name = THEME_AUTO;
    for (size_t i = 0; theme_builtin(i); i++)
        assert_string_equal(name = theme_next(name), theme_builtin(i));
    assert_string_equal(theme_next(name), THEME_AUTO);
    assert_string_equal(theme_next("mine"), THEME_AUTO);
}

TEST(test_colors)
{
    static const struct {
        const char *name;
        int color;
    } rows[] = {
        {"default", -1},     {"red", 1},      {"bright-white", 15}, {"0", 0},
        {"255", 255},        {"256", -2},     {"-1", -2},           {"", -2},
        {"0255", -2},        {"#000000", 16}, {"#ffffff", 231},     {"#ff0000", 196},
        {"#808080", 244},    {"#fff", -2},    {"#gggggg", -2},      {"Red", -2},
        {"99999999999", -2},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (theme_color_find(rows[i].name) != rows[i].color)
            fail_msg("%s: %d", rows[i].name, theme_color_find(rows[i].name));
    for (int i = 16; i < 256; i++)
        assert_int_equal(theme_rgb(theme_nearest(theme_rgb(i))), theme_rgb(i));
}

TEST(test_fewer_colors)
{
    static const struct {
        const char *fg, *bg, *attribute;
        enum color_depth depth;
        struct look look;
    } rows[] = {
        {"196", "default", "bold", DEPTH_256, {196, -1, ATTRIBUTE_BOLD}},
        {"196", "default", "bold", DEPTH_16, {9, -1, ATTRIBUTE_BOLD}},
        {"196", "default", "bold", DEPTH_8, {3, -1, ATTRIBUTE_BOLD}},
        {"88", "default", "bold", DEPTH_8, {1, -1, ATTRIBUTE_BOLD}},
        {"231", "24", "bold", DEPTH_16, {0, 6, ATTRIBUTE_BOLD}},
        {"245", "default", "bold", DEPTH_16, {-1, -1, ATTRIBUTE_DIM | ATTRIBUTE_BOLD}},
        {"196", "231", "bold", DEPTH_NONE, {-1, -1, ATTRIBUTE_BOLD}},
        {"244", "default", "bold", DEPTH_8, {-1, -1, ATTRIBUTE_BOLD | ATTRIBUTE_DIM}},
        {"231", "236", "bold", DEPTH_8, {-1, -1, ATTRIBUTE_BOLD | ATTRIBUTE_REVERSE}},
        {"231", "15", "bold", DEPTH_16, {-1, -1, ATTRIBUTE_BOLD | ATTRIBUTE_REVERSE}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct theme t;
        struct error err = {0};
        size_t bad;
        char ok[] = "ok", fg[16], bg[16], attribute[16];
        char *words[] = {ok, strcpy(fg, rows[i].fg), strcpy(bg, rows[i].bg),
                         strcpy(attribute, rows[i].attribute)};
        theme_init(&t);
        assert_int_equal(theme_color(&t, words, 4, &bad, &err), 0);
        struct look l = theme_look(&t, STYLE_OK, rows[i].depth), want = rows[i].look;
        if (l.fg != want.fg || l.bg != want.bg || l.attributes != want.attributes)
            fail_msg("row %zu: %d %d %x", i, l.fg, l.bg, l.attributes);
    }
}

TEST(test_overrides_outlive_a_theme)
{
    struct theme t;
    struct error err = {0};
    size_t bad;
    char name[] = "cursor", fg[] = "1", bg[] = "2", mono[] = "mono", bold[] = "bold";
    char *words[] = {name, fg, bg, mono, bold};
    theme_init(&t);
    assert_int_equal(theme_color(&t, words, 5, &bad, &err), 0);
    assert_int_equal(theme_use(&t, "light", &err), 0);
    assert_int_equal(theme_look(&t, STYLE_CURSOR, DEPTH_256).fg, 1);
    assert_int_equal(theme_look(&t, STYLE_CURSOR, DEPTH_256).attributes, 0);
    assert_int_equal(theme_look(&t, STYLE_CURSOR, DEPTH_NONE).attributes, ATTRIBUTE_BOLD);
    assert_int_equal(theme_use(&t, "nothing", &err), ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "colour-blind"));
    assert_string_equal(t.name, "light");
}

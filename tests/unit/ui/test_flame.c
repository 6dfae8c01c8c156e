/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "ui/widgets/flame.h"

/* A frame with this name. */
static uint32_t frame(struct stacks *s, const char *name, size_t len)
{
    const struct sample_frame f = {.kind = FRAME_ERLANG, .name = {name, len}};
    return stacks_frame(s, &f);
}

/* A stack with a frame for each letter. */
static void add(struct stacks *s, const char *letters, double weight)
{
    uint32_t ids[16];
    size_t n = strlen(letters);
    for (size_t i = 0; i < n; i++)
        ids[i] = frame(s, &letters[i], 1);
    stacks_add(s, ids, n, weight);
}

static struct stacks *known(void)
{
    struct stacks *s = stacks_new();
    add(s, "abc", 30);
    add(s, "ab", 10);
    add(s, "ad", 20);
    add(s, "e", 39);
    add(s, "ef", 0.4);
    add(s, "eg", 0.6);
    return s;
}

static void take(struct flame *f, const struct stacks *s, int columns)
{
    flame_take(f, s, "samples", columns, NULL);
}

/* The letters down to the cursor's box. */
static const char *cursor(const struct flame *f)
{
    static char way[64];
    const struct flame_box *b = &f->boxes[f->cursor];
    size_t level = b->level;
    way[level] = '\0';
    for (; b->level > 0; b = &f->boxes[b->parent])
        way[b->level - 1] = b->text->frame.name.s[0];
    return way;
}

static void move(struct flame *f, const char *keys)
{
    for (; *keys; keys++)
        (void)flame_move(f,
                         *keys == '<'   ? MOVE_LEFT
                         : *keys == '>' ? MOVE_RIGHT
                         : *keys == 'v' ? MOVE_DOWN
                         : *keys == 'g' ? MOVE_FIRST
                         : *keys == 'G' ? MOVE_LAST
                                        : MOVE_UP,
                         20);
}

TEST(test_boxes_of_known_stacks)
{
    static const struct {
        size_t level, parent;
        int from, to;
        uint32_t merged;
        const char *name;
    } wanted[] = {
        {0, 0, 0, 100, 0, ""}, {1, 0, 0, 60, 0, "a"},  {1, 0, 60, 100, 0, "e"},
        {2, 1, 0, 40, 0, "b"}, {2, 1, 40, 60, 0, "d"}, {2, 2, 60, 61, 2, ""},
        {3, 3, 0, 30, 0, "c"},
    };
    struct flame f;
    struct stacks *s = known();
    flame_init(&f);
    take(&f, s, 100);
    assert_int_equal(f.n_boxes, ARRAY_LEN(wanted));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        const struct flame_box *b = &f.boxes[i];
        assert_int_equal(b->level, wanted[i].level);
        assert_int_equal(b->parent, wanted[i].parent);
        assert_int_equal(b->from, wanted[i].from);
        assert_int_equal(b->to, wanted[i].to);
        assert_int_equal(b->merged, wanted[i].merged);
        if (*wanted[i].name)
            assert_string_equal(b->text->frame.name.s, wanted[i].name);
        else
            assert_null(b->text);
    }
    flame_clear(&f);
    stacks_free(s);
}

/* 400 stacks that look random, the same each time. */
static struct stacks *many(void)
{
    struct stacks *s = stacks_new();
    uint32_t seed = 7;
    for (int i = 0; i < 400; i++) {
        char letters[16];
        size_t n = 1 + (size_t)i % 9;
        for (size_t k = 0; k < n; k++) {
            seed = seed * 1664525 + 1013904223;
            letters[k] = (char)('a' + (seed >> 24) % 5);
        }
        letters[n] = '\0';
        add(s, letters, 1 + (seed >> 20) % 50);
    }
    return s;
}

TEST(test_boxes_lie_within_their_parents)
{
    struct flame f;
    struct stacks *s = many();
    flame_init(&f);
    for (int columns = 20; columns <= 200; columns++) {
        take(&f, s, columns);
        for (size_t i = 1; i < f.n_boxes; i++) {
            const struct flame_box *b = &f.boxes[i], *before = b - 1, *parent = &f.boxes[b->parent];
            assert_true(b->level == parent->level + 1 && b->level >= before->level);
            assert_true(b->from >= parent->from && b->to <= parent->to && b->from < b->to);
            assert_true(b->level > before->level || b->from >= before->to);
            double exact = b->total / f.total * columns;
            assert_true(fabs(b->to - b->from - exact) <= 1);
            assert_true(b->merged > 0 || exact > 0.999);
        }
    }
    flame_clear(&f);
    stacks_free(s);
}

TEST(test_nothing_to_show)
{
    struct stacks *s = stacks_new();
    struct canvas c;
    struct flame f;
    const struct table_look look = {.focused = true};
    canvas_init(&c, 10, 40, false);
    flame_init(&f);
    flame_draw(&f, &c, (struct rect){0, 0, 10, 40}, &look); /* before anything was taken */
    add(s, "a", 0);
    for (int columns = 0; columns < 40; columns++) {
        take(&f, s, columns);
        move(&f, "v<>^gG");
        flame_zoom(&f);
        assert_false(flame_zoom_out(&f));
        for (int rows = 0; rows < 10; rows++)
            flame_draw(&f, &c, (struct rect){0, 0, rows, columns}, &look);
    }
    assert_int_equal(f.n_boxes, 1);
    flame_clear(&f);
    canvas_clear(&c);
    stacks_free(s);
}

/* 99 parents of 1000 frames each. */
static struct stacks *bushy(double weight)
{
    struct stacks *s = stacks_new();
    for (int i = 0; i < 99000; i++) {
        char names[2][16];
        uint32_t ids[3] = {frame(s, "bushy", 5)};
        for (int k = 0; k < 2; k++) {
            int len = snprintf(names[k], sizeof names[k], "%c%d", "fg"[k], k ? i % 1000 : i / 1000);
            ids[k + 1] = frame(s, names[k], (size_t)len);
        }
        stacks_add(s, ids, 3, weight);
    }
    return s;
}

TEST(test_work_is_bounded)
{
    struct stacks *s = bushy(1);
    struct flame f;
    flame_init(&f);
    take(&f, s, 200);
    assert_int_equal(f.visited, 99100);
    assert_int_equal(f.n_boxes, 1 + 1 + 99 + 99); /* each "…" below its parent */
    stacks_free(s);
    s = bushy(1e-9);
    add(s, "wide", 1);
    take(&f, s, 200);
    assert_int_equal(f.n_boxes, 5);
    assert_int_equal(f.visited, 5); /* nothing below what is too narrow to be drawn */
    flame_clear(&f);
    stacks_free(s);
}

static struct stacks *deep(size_t levels)
{
    struct stacks *s = stacks_new();
    uint32_t ids[LIMIT_STACK_DEPTH];
    char name[16];
    for (size_t i = 0; i < levels; i++) {
        int len = snprintf(name, sizeof name, "f%zu", i);
        ids[i] = frame(s, name, (size_t)len);
    }
    stacks_add(s, ids, levels, 3);
    return s;
}

static bool on_canvas(const struct canvas *c, enum style style)
{
    for (int row = 0; row < c->rows; row++)
        if (canvas_at(c, row, 1)->style == style)
            return true;
    return false;
}

TEST(test_deep_stacks_scroll)
{
    struct stacks *s = deep(LIMIT_STACK_DEPTH);
    const struct table_look look = {.focused = true};
    struct rect all = {0, 0, 20, 30};
    struct canvas c;
    struct flame f;
    canvas_init(&c, 20, 30, true);
    flame_init(&f);
    for (int turned = 0; turned < 2; turned++) {
        f.root_below = turned;
        take(&f, s, 30);
        assert_int_equal(f.n_boxes, LIMIT_STACK_DEPTH + 1);
        move(&f, "G");
        flame_draw(&f, &c, all, &look);
        assert_true(on_canvas(&c, STYLE_CURSOR));
        assert_int_equal(f.boxes[f.cursor].level, LIMIT_STACK_DEPTH);
        assert_int_equal(f.top, LIMIT_STACK_DEPTH + 1 - 18);
        (void)flame_move(&f, turned ? MOVE_PAGE_DOWN : MOVE_PAGE_UP, 20);
        assert_int_equal(f.boxes[f.cursor].level, LIMIT_STACK_DEPTH - 18);
        move(&f, "g");
        canvas_erase(&c, STYLE_NORMAL);
        flame_draw(&f, &c, all, &look);
        assert_true(on_canvas(&c, STYLE_CURSOR));
        assert_int_equal(f.top, 0);
    }
    flame_clear(&f);
    canvas_clear(&c);
    stacks_free(s);
}

TEST(test_moving)
{
    static const struct {
        const char *keys, *at;
        bool root_below;
    } rows[] = {
        {"v", "a", false},    {"vv", "ab", false},   {"vvv", "abc", false}, {"vvvv", "abc", false},
        {"vv>", "ad", false}, {"vv>v", "ad", false}, {"vv>>", "ad", false}, {"v>", "e", false},
        {"v>v", "e", false},  {"v><", "a", false},   {"vv^", "a", false},   {"vv>^v", "ad", false},
        {"G", "abc", false},  {"Gg", "", false},     {"^^", "ab", true},    {"^^v", "a", true},
        {"<>^", "", false},
    };
    struct stacks *s = known();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct flame f;
        flame_init(&f);
        f.root_below = rows[i].root_below;
        take(&f, s, 100);
        move(&f, rows[i].keys);
        if (strcmp(cursor(&f), rows[i].at) != 0)
            fail_msg("%s: at \"%s\", not \"%s\"", rows[i].keys, cursor(&f), rows[i].at);
        take(&f, s, 80);
        assert_string_equal(cursor(&f), rows[i].at);
        flame_clear(&f);
    }
    stacks_free(s);
}

TEST(test_cursor_stays_on_its_frames)
{
    struct stacks *s = known(), *others = stacks_new();
    struct flame f;
    flame_init(&f);
    take(&f, s, 100);
    move(&f, "vv>");
    assert_string_equal(cursor(&f), "ad");
    assert_int_equal(f.boxes[f.cursor].from, 40);
    add(s, "ad", 900); /* now before its sibling */
    take(&f, s, 100);
    assert_string_equal(cursor(&f), "ad");
    assert_int_equal(f.boxes[f.cursor].from, 0);
    flame_zoom(&f);
    add(s, "z", 1e6); /* its box would be less than a cell without the zoom */
    take(&f, s, 100);
    assert_string_equal(cursor(&f), "ad");
    assert_true(flame_zoom_out(&f));
    take(&f, s, 100);
    assert_string_equal(cursor(&f), "");
    add(others, "qx", 5); /* other ids, other order */
    add(others, "ad", 1);
    take(&f, others, 100);
    assert_string_equal(cursor(&f), "ad");
    add(others, "w", 1);
    stacks_free(s);
    s = stacks_new();
    add(s, "a", 1);
    take(&f, s, 100); /* without its frame */
    assert_string_equal(cursor(&f), "a");
    flame_clear(&f);
    stacks_free(s);
    stacks_free(others);
}

TEST(test_zoom)
{
    struct stacks *s = known();
    struct flame f;
    flame_init(&f);
    take(&f, s, 100);
    move(&f, "v");
    flame_zoom(&f);
    take(&f, s, 100);
    assert_int_equal(f.boxes[f.cursor].to, 100);
    move(&f, "v");
    assert_string_equal(cursor(&f), "ab");
    assert_int_equal(f.boxes[f.cursor].to, 67);
    flame_zoom(&f);
    take(&f, s, 100);
    assert_int_equal(f.boxes[f.cursor].to, 100);
    assert_int_equal(f.boxes[1].to, 100); /* what called it */
    assert_true(flame_zoom_out(&f));
    take(&f, s, 100);
    assert_string_equal(cursor(&f), "ab");
    assert_int_equal(f.boxes[f.cursor].to, 67);
    assert_true(flame_zoom_out(&f));
    take(&f, s, 100);
    assert_int_equal(f.boxes[f.cursor].to, 60);
    assert_false(flame_zoom_out(&f));
    move(&f, "vv"); /* zoomed to the leaf, then to the root */
    flame_zoom(&f);
    take(&f, s, 100);
    move(&f, "^^^");
    assert_string_equal(cursor(&f), "");
    flame_zoom(&f);
    assert_false(flame_zoom_out(&f));
    flame_clear(&f);
    stacks_free(s);
}

TEST(test_matches)
{
    static const struct {
        const char *pattern;
        double matched;
        const char *next, *before;
    } rows[] = {
        {"b", 40, "ab", "ab"},  {"a|b", 60, "a", "ab"}, {"c|d", 50, "ad", "abc"},
        {"f|g", 1, NULL, NULL}, {"x", 0, NULL, NULL},
    };
    struct stacks *s = known();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct flame f;
        struct regex *re;
        size_t at;
        struct error err = {0};
        assert_int_equal(regex_new(&re, rows[i].pattern, &at, &err), 0);
        flame_init(&f);
        flame_take(&f, s, "samples", 100, re);
        assert_true(fabs(f.matched - rows[i].matched) < 1e-9);
        assert_int_equal(flame_find(&f, 1), rows[i].next != NULL);
        assert_string_equal(cursor(&f), rows[i].next ? rows[i].next : "");
        flame_take(&f, s, "samples", 100, re);
        (void)flame_find(&f, -1);
        assert_string_equal(cursor(&f), rows[i].before ? rows[i].before : "");
        flame_clear(&f);
        regex_free(re);
    }
    stacks_free(s);
}

/* Boxes that touch are apart without colours: each begins with an edge. */
TEST(test_drawn_boxes)
{
    static const char *const wanted[] = {
        "|all",
        "|a                       |e",
        "|b               |d      ~|",
        "|c           |",
    };
    struct stacks *s = known();
    struct canvas c;
    struct flame f;
    const struct table_look look = {.focused = true};
    struct rect r = {0, 0, 8, 42};
    canvas_init(&c, 8, 42, true);
    flame_init(&f);
    take(&f, s, 42);
    flame_draw(&f, &c, r, &look);
    for (size_t row = 0; row < ARRAY_LEN(wanted); row++) {
        char text[43] = "";
        for (int i = 0; i < 42; i++)
            strcat(text, canvas_at(&c, (int)row, i)->text);
        for (size_t len = strlen(text); len > 0 && text[len - 1] == ' ';)
            text[--len] = '\0';
        assert_string_equal(text, wanted[row]);
    }
    assert_int_equal(flame_hit(&f, r, 2, 3), 3);
    assert_int_equal(flame_hit(&f, r, 3, 30), -1);
    flame_goto(&f, (size_t)flame_hit(&f, r, 2, 20));
    assert_string_equal(cursor(&f), "ad");
    assert_int_equal(flame_link(&f).kind, TARGET_FUNCTION);
    assert_string_equal(flame_link(&f).name, "d");
    f.root_below = true;
    assert_int_equal(flame_hit(&f, r, 5, 3), 0);
    flame_clear(&f);
    canvas_clear(&c);
    stacks_free(s);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/ui/capture.h"
#include "../../temporary.h"

static void draw(struct canvas *c)
{
    canvas_init(c, 2, 12, false);
    struct rect r = {0, 0, 2, 12};
    canvas_puts(c, r, 0, 0, STYLE_NORMAL, "a<b>&\"c\" \x1b");
    canvas_puts(c, r, 1, 0, STYLE_ALARM, "\xe4\xb8\xad!");
}

static void take(struct buf *out, enum capture_format format, enum color_depth depth)
{
    struct canvas c;
    struct theme t;
    draw(&c);
    theme_init(&t);
    buf_init(out, 0);
    struct capture_setup setup = {format, &t, depth, "<n@h>"};
    capture_put(out, &c, (struct rect){0, 0, 50, 50}, &setup);
    canvas_clear(&c);
}

TEST(test_text)
{
    struct buf b;
    take(&b, CAPTURE_TEXT, DEPTH_256);
    assert_string_equal(buf_cstr(&b), "a<b>&\"c\" \xef\xbf\xbd\n\xe4\xb8\xad!\n");
    buf_clear(&b);
}

TEST(test_ansi)
{
    struct buf b;
    take(&b, CAPTURE_ANSI, DEPTH_256);
    assert_non_null(strstr(buf_cstr(&b), "\x1b[0;1;38;5;231;48;5;160m\xe4\xb8\xad!\x1b[0m"));
    buf_clear(&b);
    take(&b, CAPTURE_ANSI, DEPTH_NONE);
    assert_non_null(strstr(buf_cstr(&b), "\x1b[0;1;7m\xe4\xb8\xad!"));
    assert_null(strstr(buf_cstr(&b), "38;5"));
    buf_clear(&b);
}

/* A node may be called anything: what steers, turns text round or is no UTF-8 is not in a title. */
TEST(test_title_is_safe)
{
    static const enum capture_format formats[] = {CAPTURE_HTML, CAPTURE_SVG};
    static const char *const titles[] = {"n@\xc2\x9bh", "n@\xe2\x80\xaeh", "n@\xe9h", "n@\x1bh"};
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < ARRAY_LEN(titles); k++) {
            struct canvas canvas;
            struct theme theme;
            struct buf b;
            canvas_init(&canvas, 1, 4, false);
            theme_init(&theme);
            buf_init(&b, 0);
            const struct capture_setup setup = {
                .format = formats[i], .theme = &theme, .depth = DEPTH_256, .title = titles[k]};
            capture_put(&b, &canvas, (struct rect){0, 0, 1, 4}, &setup);
            assert_non_null(strstr(buf_cstr(&b), "<title>n@\xef\xbf\xbdh</title>"));
            buf_clear(&b);
            canvas_clear(&canvas);
        }
    }
}

TEST(test_markup_is_escaped)
{
    static const enum capture_format formats[] = {CAPTURE_HTML, CAPTURE_SVG};
    for (size_t i = 0; i < 2; i++) {
        struct buf b;
        take(&b, formats[i], DEPTH_256);
        const char *s = buf_cstr(&b);
        assert_non_null(strstr(s, "a&lt;b&gt;&amp;&quot;c&quot;"));
        assert_non_null(strstr(s, "<title>&lt;n@h&gt;</title>"));
        assert_null(strstr(s, "<b>"));
        assert_null(memchr(s, 0x1b, b.len));
        assert_non_null(strstr(s, "class=\"alarm\""));
        assert_null(strstr(s, "href"));
        if (formats[i] == CAPTURE_SVG) /* blanks between columns must not run together */
            assert_non_null(strstr(s, "xml:space=\"preserve\""));
        buf_clear(&b);
    }
}

TEST(test_names)
{
    assert_int_equal(capture_format_of_path("a/b.SVG"), CAPTURE_SVG);
    assert_int_equal(capture_format_of_path("a.svg/b"), -1);
    assert_int_equal(capture_format_of_path("b.txt"), CAPTURE_TEXT);
    struct buf b;
    buf_init(&b, 0);
    capture_name(&b, "/x", "a b/../c@h", 0, CAPTURE_ANSI);
    assert_int_equal(strncmp(buf_cstr(&b), "/x/beamtop-a_b_.._c@h-19", 24), 0);
    buf_clear(&b);
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

TEST(test_write)
{
    umask(022);
    char dir[60], path[100], line[20];
    struct error err = {0};
    struct buf b;
    assert_true(temporary_dir(dir, sizeof dir, "capture"));
    snprintf(path, sizeof path, "%s/a.txt", dir);
    buf_init(&b, 0);
    buf_puts(&b, "one");
    assert_int_equal(capture_write(path, &b, false, false, &err), 0);
    buf_puts(&b, "two");
    assert_int_equal(capture_write(path, &b, false, false, &err), ERR_REFUSED);
    error_clear(&err);
    FILE *f = fopen(path, "r");
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    assert_string_equal(line, "one");
    assert_int_equal(capture_write(path, &b, true, false, &err), 0);
    assert_int_equal(mode_of(path), 0644);
    assert_int_equal(capture_write(path, &b, true, true, &err), 0);
    assert_int_equal(mode_of(path), 0600);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0); /* nothing else was left there */
    assert_int_equal(capture_write(path, &b, true, false, &err), ERR_SYSTEM);
    buf_clear(&b);
}

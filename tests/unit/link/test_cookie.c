/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../test.h"
#include "beamtop/link/cookie.h"
#include "../../temporary.h"

static char home[64];
static char file[128];

static void write_file(const char *path, const char *text, size_t len)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    fclose(f);
}

static int make_home(void **state)
{
    (void)state;
    umask(022);
    if (!temporary_dir(home, sizeof home, "cookie")) {
        return -1;
    }
    snprintf(file, sizeof file, "%s/file", home);
    return 0;
}

static int remove_home(void **state)
{
    static const char *const names[] = {
        "/file",           "/.erlang.cookie", "/.config/erlang/.erlang.cookie",
        "/.config/erlang", "/.config",        ""};
    char path[256];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s%s", home, names[i]);
        if (unlink(path) != 0) {
            (void)rmdir(path);
        }
    }
    return 0;
}

TEST(test_file_text)
{
    static const struct {
        const char *name;
        const char *text;
        int rc;
        const char *expected;
    } cases[] = {
        {"plain", "SECRET", 0, "SECRET"},
        {"newline", "SECRET\n", 0, "SECRET"},
        {"blanks", "  SECRET \t\r\n", 0, "SECRET"},
        {"second line", "SECRET\nmore\n", 0, "SECRET"},
        {"inner blank", "two words\n", 0, "two words"},
        {"empty", "", ERR_USAGE, NULL},
        {"blank", " \n", ERR_USAGE, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cookie c = {0};
        struct error err = {0};
        print_message("# %s\n", cases[i].name);
        write_file(file, cases[i].text, strlen(cases[i].text));
        assert_int_equal(cookie_read_file(&c, file, &err), cases[i].rc);
        if (cases[i].rc == 0) {
            assert_string_equal(c.text, cases[i].expected);
        } else {
            assert_non_null(strstr(err.text, file));
        }
    }
}

TEST(test_sizes)
{
    char text[LIMIT_COOKIE_BYTES + 200];
    struct cookie c = {0};
    struct error err = {0};
    memset(text, 'c', sizeof text);
    write_file(file, text, LIMIT_COOKIE_BYTES);
    assert_int_equal(cookie_read_file(&c, file, &err), 0);
    assert_int_equal(strlen(c.text), LIMIT_COOKIE_BYTES);
    write_file(file, text, sizeof text);
    assert_int_equal(cookie_read_file(&c, file, &err), ERR_USAGE);
    assert_null(strstr(err.text, "cccc"));
    error_clear(&err);
    assert_int_equal(cookie_set(&c, "a\0b", 3, COOKIE_ENV, &err), ERR_USAGE);
}

TEST(test_precedence)
{
    static const struct {
        const char *name;
        bool file, env, option, discovered, home, config;
        enum cookie_origin origin;
        const char *text;
    } cases[] = {
        {"all", true, true, true, true, true, true, COOKIE_FILE, "from-file"},
        {"no file", false, true, true, true, true, true, COOKIE_ENV, "from-env"},
        {"no environment", false, false, true, true, true, true, COOKIE_OPTION, "from-option"},
        {"discovered", false, false, false, true, true, true, COOKIE_DISCOVERED, "from-target"},
        {"home", false, false, false, false, true, true, COOKIE_HOME, "from-home"},
        {"configuration", false, false, false, false, false, true, COOKIE_HOME, "from-config"},
        {"none", false, false, false, false, false, false, COOKIE_NONE, NULL},
    };
    char at_home[128];
    char config[256];
    write_file(file, "from-file\n", 10);
    snprintf(at_home, sizeof at_home, "%s/.erlang.cookie", home);
    snprintf(config, sizeof config, "%s/.config", home);
    mkdir(config, 0700);
    snprintf(config, sizeof config, "%s/.config/erlang", home);
    mkdir(config, 0700);
    snprintf(config, sizeof config, "%s/.config/erlang/.erlang.cookie", home);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cookie c = {0};
        struct error err = {0};
        struct cookie_places s = {
            .file = cases[i].file ? file : NULL,
            .env = cases[i].env ? "from-env" : NULL,
            .option = cases[i].option ? "from-option" : NULL,
            .discovered = cases[i].discovered ? "from-target" : NULL,
            .home = home,
        };
        unlink(at_home);
        unlink(config);
        if (cases[i].home) {
            write_file(at_home, "from-home", 9);
        }
        if (cases[i].config) {
            write_file(config, "from-config", 11);
        }
        print_message("# %s\n", cases[i].name);
        int rc = cookie_find(&c, &s, &err);
        assert_int_equal(c.origin, cases[i].origin);
        if (cases[i].text) {
            assert_int_equal(rc, 0);
            assert_string_equal(c.text, cases[i].text);
        } else {
            assert_int_equal(rc, ERR_NOT_FOUND);
            assert_non_null(strstr(err.text, "--cookie-file"));
        }
    }
}

/* A source that was given is never passed over. */
TEST(test_given_but_unusable)
{
    struct cookie c = {0};
    struct error err = {0};
    struct cookie_places s = {.file = "/proc/nonexistent/cookie", .env = "other"};
    assert_int_equal(cookie_find(&c, &s, &err), ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "/proc/nonexistent/cookie"));
    error_clear(&err);
    s = (struct cookie_places){.env = "", .option = "other"};
    assert_int_equal(cookie_find(&c, &s, &err), ERR_USAGE);
    error_clear(&err);
    s = (struct cookie_places){.file = home};
    assert_int_equal(cookie_find(&c, &s, &err), ERR_SYSTEM);
    assert_int_equal(c.origin, COOKIE_NONE);
}

static const struct {
    const char *text, *cookie; /* NULL: there is none, for this reason */
    int rc;
    const char *says;
} patterns[] = {
    {"# the shop\n\nshop@db1 FIRST\n", "FIRST", 0, NULL},
    {"other@* NONE\r\nshop@*\t two words \r\n* LAST", "two words", 0, NULL},
    {"*@db? BY HOST\nshop@db1 LATER\n", "BY HOST", 0, NULL},
    {"shop@db1 #=[\n", "#=[", 0, NULL},
    {"shop@db2 NONE\nshop NONE\n", NULL, ERR_NOT_FOUND, "no line of"},
    {"", NULL, ERR_NOT_FOUND, "no line of"},
    {"* FIRST\nSECRET\n", "FIRST", 0, NULL},
    {"\nSECRET\n", NULL, ERR_USAGE, "line 2"},
};

TEST(test_patterns)
{
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        struct cookie c = {0};
        struct error err = {0};
        write_file(file, patterns[i].text, strlen(patterns[i].text));
        assert_int_equal(chmod(file, 0600), 0);
        const int rc = cookie_match_file(&c, file, "shop@db1", &err);
        print_message("# %zu: %s\n", i, err.text);
        assert_int_equal(rc, patterns[i].rc);
        assert_int_equal(c.origin, patterns[i].cookie ? COOKIE_PATTERNS : COOKIE_NONE);
        assert_string_equal(c.text, patterns[i].cookie ? patterns[i].cookie : "");
        assert_null(strstr(err.text, "SECRET"));
        if (patterns[i].says)
            assert_non_null(strstr(err.text, patterns[i].says));
    }
}

static void refuse_patterns(const char *path, const char *says)
{
    struct cookie c = {0};
    struct error err = {0};
    assert_int_equal(cookie_match_file(&c, path, "shop@db1", &err), ERR_USAGE);
    print_message("# %s\n", err.text);
    assert_non_null(strstr(err.text, says));
    assert_int_equal(c.origin, COOKIE_NONE);
}

/* What others can read, what is no file, too long a cookie, too much. */
TEST(test_patterns_that_are_refused)
{
    char text[70000] = "* ";
    write_file(file, "* SECRET\n", 9);
    assert_int_equal(chmod(file, 0640), 0);
    refuse_patterns(file, "chmod 600");
    assert_int_equal(chmod(file, 0600), 0);
    memset(text + 2, 'x', sizeof text - 2);
    write_file(file, text, 2 + LIMIT_COOKIE_BYTES + 1);
    refuse_patterns(file, "longer than");
    write_file(file, text, sizeof text);
    refuse_patterns(file, "or more");
    write_file(file, "* A\0B\n", 7);
    refuse_patterns(file, "NUL");
    refuse_patterns(home, "is not a file");
    refuse_patterns("/does/not/exist", "No such file");
}

TEST(test_wipe)
{
    struct cookie c = {0};
    struct error err = {0};
    static const char zeros[sizeof c.text];
    assert_int_equal(cookie_set(&c, "SECRET", 6, COOKIE_OPTION, &err), 0);
    cookie_wipe(&c);
    assert_memory_equal(c.text, zeros, sizeof zeros);
}

TESTS_WITH(make_home, remove_home);

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of several nodes, from a list and from a file. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../temporary.h"
#include "../../test.h"
#include "app/fleet/fleet_internal.h"

static int note_name(void *arg, const char *name, struct error *err)
{
    char *all = arg;
    (void)err;
    snprintf(all + strlen(all), 4000 - strlen(all), "%s|", name);
    return 0;
}

static int read_all(const char *target, char all[4000], struct error *err)
{
    all[0] = '\0';
    return fleet_read_names(target, note_name, all, err);
}

/* Of a file that begins with the text, `times` times. */
static int read_file(const char *text, int times, char all[4000], struct error *err)
{
    char dir[100], target[140];
    assert_true(temporary_dir(dir, sizeof dir, "names"));
    snprintf(target, sizeof target, "@%s/names", dir);
    FILE *file = fopen(target + 1, "w");
    assert_non_null(file);
    for (int i = 0; i < times; i++)
        fputs(text, file);
    fclose(file);
    const int rc = read_all(target, all, err);
    unlink(target + 1);
    rmdir(dir);
    return rc;
}

static const struct {
    const char *target, *names; /* NULL: refused */
} lists[] = {
    {"a@one,b@two", "a@one|b@two|"},
    {" a@one , b@two,", "a@one|b@two|"},
    {"a@one,b", "a@one|b|"},
    {",", ""},
    {"a@one,b c@two", NULL},
    {"a@one,@two", NULL},
    {"a@one,b@two@three", NULL},
    {"a@one,\x1b[31m@two", NULL},
    {"a@dns:one", "a@dns:one|"},
    {"a@dns:", NULL},
    {"a@srv:_x._tcp.one", "a@srv:_x._tcp.one|"},
    {"a@srv:", NULL},
};

TEST(test_lists)
{
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        char all[4000];
        struct error err = {0};
        const int rc = read_all(lists[i].target, all, &err);
        print_message("%zu\n", i);
        assert_int_equal(rc, lists[i].names ? 0 : ERR_USAGE);
        if (lists[i].names)
            assert_string_equal(all, lists[i].names);
    }
}

TEST(test_what_is_meant)
{
    assert_true(fleet_is_meant("a@one,b@two"));
    assert_true(fleet_is_meant("@names"));
    assert_true(fleet_is_meant("a@dns:one"));
    assert_true(fleet_is_meant("a@srv:one"));
    assert_false(fleet_is_meant("dns:a@one"));
    assert_false(fleet_is_meant("a@one"));
    assert_false(fleet_is_meant(NULL));
}

static const struct {
    const char *text, *names; /* NULL: refused */
    const char *says;
} files[] = {
    {"a@one\nb@two\n", "a@one|b@two|", NULL},
    {"# the shop\n\n  a@one # the first\r\nb@two", "a@one|b@two|", NULL},
    {"", "", NULL},
    {"a@one\nb two@three\n", NULL, "line 2"},
};

TEST(test_files)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        char all[4000];
        struct error err = {0};
        const int rc = read_file(files[i].text, 1, all, &err);
        print_message("%zu: %s\n", i, err.text);
        assert_int_equal(rc, files[i].names ? 0 : ERR_USAGE);
        if (files[i].names)
            assert_string_equal(all, files[i].names);
        else
            assert_non_null(strstr(err.text, files[i].says));
    }
}

TEST(test_long_lines_are_refused)
{
    char all[4000];
    struct error err = {0};
    assert_int_equal(read_file("0123456789", 300, all, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "line 1"));
}

/* The longest that is taken, with an end of line and without. */
TEST(test_lines_of_the_greatest_length)
{
    char all[4000], line[1024] = "a@one #";
    struct error err = {0};
    memset(line + 7, 'x', 1022 - 7);
    assert_int_equal(read_file(line, 1, all, &err), 0);
    line[1022] = '\n';
    assert_int_equal(read_file(line, 2, all, &err), 0);
    assert_string_equal(all, "a@one|a@one|");
    line[1022] = 'x';
    assert_int_equal(read_file(line, 1, all, &err), ERR_USAGE);
}

TEST(test_a_missing_file_is_named)
{
    char all[4000];
    struct error err = {0};
    assert_int_equal(read_all("@/does/not/exist", all, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "/does/not/exist"));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files in a directory where others write, too. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../temporary.h"
#include "../../test.h"
#include "app/sample/map_file.h"

static char tree[64];
static int dir = -1;

static int make_tree(void **state)
{
    (void)state;
    if (!temporary_dir(tree, sizeof tree, "map"))
        return -1;
    dir = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir < 0 ? -1 : 0;
}

static int remove_tree(void **state)
{
    (void)state;
    close(dir);
    return rmdir(tree); /* nothing is left in it */
}

static int put(const char *text, bool replace)
{
    struct buf b;
    buf_init(&b, 0);
    buf_puts(&b, text);
    errno = 0;
    const int rc = map_file_put(dir, "map", &b, replace);
    const int why = errno;
    buf_clear(&b);
    errno = why;
    return rc;
}

static void has(const char *text)
{
    char got[16] = "";
    struct stat st;
    int fd = openat(dir, "map", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    assert_int_equal(read(fd, got, sizeof got - 1), strlen(text));
    assert_string_equal(got, text);
    close(fd);
}

/* Where nothing has the name: the file, which is not replaced then but when that is meant. */
TEST(test_put)
{
    assert_int_equal(put("first", false), 0);
    has("first");
    assert_int_equal(put("second", false), -1);
    assert_int_equal(errno, EEXIST);
    has("first");
    assert_int_equal(put("third", true), 0);
    has("third");
    assert_int_equal(unlinkat(dir, "map", 0), 0);
}

TEST(test_link)
{
    assert_int_equal(symlinkat("elsewhere", dir, "map"), 0);
    assert_int_equal(put("text", false), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(put("text", true), 0);
    has("text");
    assert_int_equal(unlinkat(dir, "map", 0), 0);
    assert_int_equal(faccessat(dir, "elsewhere", F_OK, 0), -1);
}

TESTS_WITH(make_tree, remove_tree);

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file of cookies, each for the nodes whose names fit a pattern. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/link/cookie.h"

#define PATTERNS_BYTES 65536u
#define BLANKS " \t\r"

/* Who else can read it has them all. */
static int check_owner(int fd, const char *path, struct cookie *out, struct error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return error_set(err, ERR_USAGE, "%.300s is not a file of cookies", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return error_set(err, ERR_USAGE, "the file of cookies %.300s belongs to another user",
                         path);
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        return error_set(err, ERR_USAGE,
                         "others can read the file of cookies %.300s: chmod 600 makes it yours",
                         path);
    out->uid = st.st_uid;
    return 0;
}

/* With a NUL behind; not through stdio: its buffers are not wiped. */
static int read_patterns(int fd, const char *path, char *text, struct error *err)
{
    size_t have = 0;
    ssize_t n = 0;
    while (have < PATTERNS_BYTES && (n = read(fd, text + have, PATTERNS_BYTES - have)) > 0)
        have += (size_t)n;
    text[have < PATTERNS_BYTES ? have : 0] = '\0';
    if (n < 0)
        return error_set_errno(err, errno, "the file of cookies %.300s cannot be read", path);
    if (have == PATTERNS_BYTES)
        return error_set(err, ERR_USAGE, "the file of cookies %.300s has %u bytes or more", path,
                         PATTERNS_BYTES);
    return strlen(text) < have
               ? error_set(err, ERR_USAGE, "the file of cookies %.300s has a NUL byte in it", path)
               : 0;
}

/* 1: it fits, and out has its cookie; 0: it does not. No text repeats what the line has. */
static int match_line(struct cookie *out, char *line, const char *node, struct error *err)
{
    line += strspn(line, BLANKS);
    const size_t len = strcspn(line, BLANKS);
    char *cookie = line + len + strspn(line + len, BLANKS);
    size_t cookie_len = strlen(cookie);
    if (*line == '\0' || *line == '#')
        return 0;
    while (cookie_len > 0 && strchr(BLANKS, cookie[cookie_len - 1]))
        cookie_len--;
    if (cookie_len == 0)
        return error_set(err, ERR_USAGE, "a line is a pattern of names, a blank and a cookie");
    line[len] = '\0';
    if (fnmatch(line, node, 0) != 0)
        return 0;
    const int rc = cookie_set(out, cookie, cookie_len, COOKIE_PATTERNS, err);
    return rc != 0 ? rc : 1;
}

static int match_lines(struct cookie *out, char *text, const char *node, const char *path,
                       struct error *err)
{
    int rc, number = 0;
    do {
        char *line = text;
        number++;
        text = strchr(line, '\n');
        if (text)
            *text++ = '\0';
        rc = match_line(out, line, node, err);
        if (rc < 0)
            error_context(err, "%.300s, line %d", path, number);
    } while (rc == 0 && text);
    return rc;
}

int cookie_match_file(struct cookie *out, const char *path, const char *node, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return error_set(err, ERR_USAGE, "the file of cookies %.300s: %s", path, strerror(errno));
    char *text = alloc_zero(1, PATTERNS_BYTES + 1);
    int rc = check_owner(fd, path, out, err);
    if (rc == 0)
        rc = read_patterns(fd, path, text, err);
    if (rc == 0)
        rc = match_lines(out, text, node, path, err);
    explicit_bzero(text, PATTERNS_BYTES);
    free(text);
    close(fd);
    if (rc == 0)
        return error_set(err, ERR_NOT_FOUND, "no line of %.300s fits the name", path);
    return rc < 0 ? rc : 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/link/cookie.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

void cookie_wipe(struct cookie *c)
{
    explicit_bzero(c->text, sizeof c->text);
    c->origin = COOKIE_NONE;
}

const char *cookie_origin_text(enum cookie_origin s)
{
    switch (s) {
    case COOKIE_NONE:
        return "none";
    case COOKIE_PATTERNS:
        return "--cookies";
    case COOKIE_FILE:
        return "--cookie-file";
    case COOKIE_ENV:
        return "BEAMTOP_COOKIE";
    case COOKIE_OPTION:
        return "--cookie";
    case COOKIE_DISCOVERED:
        return "the one found on this host";
    case COOKIE_FAR:
        return "the one found there";
    case COOKIE_HOME:
        return "~/.erlang.cookie";
    }
    return "none";
}

bool cookie_is_guarded(const struct cookie *c)
{
    return c->origin == COOKIE_DISCOVERED || c->origin == COOKIE_HOME;
}

int cookie_set(struct cookie *out, const char *text, size_t len, enum cookie_origin origin,
               struct error *err)
{
    if (len == 0)
        return error_set(err, ERR_USAGE, "the cookie of %s is empty", cookie_origin_text(origin));
    if (len > LIMIT_COOKIE_BYTES) {
        return error_set(err, ERR_USAGE, "the cookie of %s is longer than %u bytes",
                         cookie_origin_text(origin), LIMIT_COOKIE_BYTES);
    }
    if (memchr(text, '\0', len)) {
        return error_set(err, ERR_USAGE, "the cookie of %s has a NUL byte in it",
                         cookie_origin_text(origin));
    }
    cookie_wipe(out);
    memcpy(out->text, text, len);
    out->origin = origin;
    return 0;
}

static bool is_space(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n';
}

/* The slice of the first line without white space around it. */
static const char *first_line(const char *s, size_t *len)
{
    const char *nl = memchr(s, '\n', *len);
    size_t n = nl ? (size_t)(nl - s) : *len;
    while (n > 0 && is_space(s[n - 1]))
        n--;
    while (n > 0 && is_space(*s)) {
        s++;
        n--;
    }
    *len = n;
    return s;
}

/* Not through stdio: its buffers are not wiped. */
int cookie_read_fd(struct cookie *out, int fd, const char *path, struct error *err)
{
    char bytes[LIMIT_COOKIE_BYTES + 64];
    struct stat st;
    size_t have = 0;
    ssize_t n = 0;
    while (have < sizeof bytes && (n = read(fd, bytes + have, sizeof bytes - have)) > 0)
        have += (size_t)n;
    if (n < 0)
        return error_set_errno(err, errno, "the cookie file %.300s cannot be read", path);
    size_t len = have;
    const char *line = first_line(bytes, &len);
    int rc = cookie_set(out, line, len, COOKIE_FILE, err);
    out->uid = fstat(fd, &st) == 0 ? st.st_uid : 0;
    if (rc != 0)
        error_context(err, "%.300s", path);
    explicit_bzero(bytes, sizeof bytes);
    return rc;
}

int cookie_read_file(struct cookie *out, const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        int e = errno;
        if (e == ENOENT)
            return error_set(err, ERR_NOT_FOUND, "the cookie file %.300s does not exist", path);
        return error_set_errno(err, e, "the cookie file %.300s cannot be read", path);
    }
    int rc = cookie_read_fd(out, fd, path, err);
    close(fd);
    return rc;
}

/* Where Erlang itself looks: ~/.erlang.cookie, then (OTP 25 on) the user's configuration. */
static int read_home(struct cookie *out, const struct cookie_places *s, struct error *err)
{
    char path[4096];
    struct error first = {0};
    snprintf(path, sizeof path, "%.4000s/.erlang.cookie", s->home);
    int rc = cookie_read_file(out, path, &first);
    if (rc == ERR_NOT_FOUND) {
        struct error second = {0};
        if (s->xdg_config_home && s->xdg_config_home[0] != '\0')
            snprintf(path, sizeof path, "%.4000s/erlang/.erlang.cookie", s->xdg_config_home);
        else
            snprintf(path, sizeof path, "%.4000s/.config/erlang/.erlang.cookie", s->home);
        rc = cookie_read_file(out, path, &second);
        if (rc != 0 && rc != ERR_NOT_FOUND)
            first = second;
    }
    if (rc == 0)
        out->origin = COOKIE_HOME;
    else if (rc != ERR_NOT_FOUND)
        return error_set(err, first.code, "%s", first.text);
    return rc;
}

int cookie_find(struct cookie *out, const struct cookie_places *s, struct error *err)
{
    const struct {
        const char *value;
        enum cookie_origin origin;
    } values[] = {
        {s->env, COOKIE_ENV},
        {s->option, COOKIE_OPTION},
        {s->discovered, COOKIE_DISCOVERED},
    };

    if (s->file)
        return cookie_read_file(out, s->file, err);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (values[i].value) {
            out->uid = s->discovered_uid;
            return cookie_set(out, values[i].value, strlen(values[i].value), values[i].origin, err);
        }
    }
    int rc = s->home && s->home[0] != '\0' ? read_home(out, s, err) : ERR_NOT_FOUND;
    if (rc == ERR_NOT_FOUND) {
        return error_set(err, ERR_NOT_FOUND,
                         "no cookie: give --cookie-file FILE or BEAMTOP_COOKIE, or put the "
                         "node's cookie into ~/.erlang.cookie");
    }
    return rc;
}

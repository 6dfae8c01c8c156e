/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "beamtop/base/clock.h"

#define WAIT_MS 60000u

struct words {
    char text[8192];
    char *args[RUN_ARGS_MAX];
    size_t n;
};

static void split(struct words *w)
{
    char *at = w->text;
    w->args[w->n++] = (char *)(uintptr_t) "beamtop";
    for (;;) {
        while (*at == ' ')
            at++;
        if (*at == '\0')
            break;
        assert_true(w->n + 1 < RUN_ARGS_MAX);
        char stop = ' ';
        if (*at == '\'')
            stop = *at++;
        w->args[w->n++] = at;
        while (*at && *at != stop)
            at++;
        if (*at)
            *at++ = '\0';
    }
    w->args[w->n] = NULL;
}

static void child(const struct words *w, const char *const *env, int out, int err, pid_t parent)
{
    char *vars[RUN_ARGS_MAX];
    char path[4096];
    size_t n = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL); /* ignored by what runs in the background */
    if (getppid() != parent)
        _exit(127);
    for (size_t i = 0; env && env[i] && n + 4 < RUN_ARGS_MAX; i++)
        vars[n++] = (char *)(uintptr_t)env[i]; /* the first of a name counts */
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
    vars[n++] = path;
    vars[n++] = (char *)(uintptr_t) "HOME=/proc/nonexistent";
    vars[n++] = (char *)(uintptr_t) "LC_ALL=C.UTF-8";
    vars[n] = NULL;
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(out, 1);
    dup2(err, 2);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    execve(getenv("BEAMTOP"), w->args, vars);
    _exit(127);
}

__attribute__((format(printf, 3, 0))) static void start(struct run *r, const char *const *env,
                                                        const char *fmt, va_list args)
{
    struct words w = {0};
    int out[2], err[2];
    *r = (struct run){0};
    assert_true(vsnprintf(w.text, sizeof w.text, fmt, args) < (int)sizeof w.text);
    split(&w);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    pid_t parent = getpid();
    r->started_ns = clock_mono_ns();
    r->pid = fork();
    assert_true(r->pid >= 0);
    if (r->pid == 0)
        child(&w, env, out[1], err[1], parent);
    close(out[1]);
    close(err[1]);
    r->out_fd = out[0];
    r->err_fd = err[0];
}

void run_start(struct run *r, const char *const *env, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    start(r, env, fmt, args);
    va_end(args);
}

/* What is there of one stream; its end closes it. */
static void drain(int *fd, char **text, size_t *len)
{
    char piece[16384];
    ssize_t n = read(*fd, piece, sizeof piece);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        close(*fd);
        *fd = -1;
        return;
    }
    *text = realloc(*text, *len + (size_t)n + 1);
    assert_non_null(*text);
    memcpy(*text + *len, piece, (size_t)n);
    *len += (size_t)n;
    (*text)[*len] = '\0';
}

/* Reads what comes until both streams have ended, a line is there (when asked for), or too late. */
static bool pump(struct run *r, unsigned limit_ms, bool line)
{
    uint64_t limit = clock_mono_ns() + (uint64_t)limit_ms * 1000000u;
    while (r->out_fd >= 0 || r->err_fd >= 0) {
        if (line && r->out && memchr(r->out, '\n', r->out_len))
            return true;
        uint64_t now = clock_mono_ns();
        if (now >= limit)
            return false;
        struct pollfd fds[2] = {{.fd = r->out_fd, .events = POLLIN},
                                {.fd = r->err_fd, .events = POLLIN}};
        if (poll(fds, 2, (int)((limit - now) / 1000000u) + 1) <= 0)
            continue;
        if (fds[0].revents)
            drain(&r->out_fd, &r->out, &r->out_len);
        if (fds[1].revents)
            drain(&r->err_fd, &r->err, &r->err_len);
    }
    return !line;
}

int run_line(struct run *r, unsigned limit_ms)
{
    if (r->has_line) {
        char *rest = (char *)memchr(r->out, '\n', r->out_len) + 1;
        r->out_len -= (size_t)(rest - r->out);
        memmove(r->out, rest, r->out_len + 1);
    }
    r->has_line = pump(r, limit_ms, true);
    return r->has_line ? 0 : -1;
}

void run_close_out(struct run *r)
{
    close(r->out_fd);
    r->out_fd = -1;
}

void run_wait(struct run *r, unsigned limit_ms)
{
    int status = 0;
    bool ended = pump(r, limit_ms, false);
    if (!ended)
        kill(r->pid, SIGKILL);
    while (waitpid(r->pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    r->ms = (unsigned)((clock_mono_ns() - r->started_ns) / 1000000u);
    r->pid = 0;
    r->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (!r->out)
        r->out = calloc(1, 1);
    if (!r->err)
        r->err = calloc(1, 1);
    if (!ended)
        fail_msg("did not end within %u ms\nout: %.2000s\nerr: %.2000s", limit_ms, r->out, r->err);
}

void run_program(struct run *r, const char *const *env, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    start(r, env, fmt, args);
    va_end(args);
    run_wait(r, WAIT_MS);
}

void run_clear(struct run *r)
{
    if (r->pid > 0) {
        kill(r->pid, SIGKILL);
        waitpid(r->pid, NULL, 0);
    }
    if (r->pid > 0 && r->out_fd >= 0)
        close(r->out_fd);
    if (r->pid > 0 && r->err_fd >= 0)
        close(r->err_fd);
    free(r->out);
    free(r->err);
    *r = (struct run){0};
}

bool run_is_quiet(const struct run *r)
{
    for (const char *line = r->err; line && *line;) {
        const char *end = strchr(line, '\n');
        const char *often = strstr(line, " every ");
        const char *price = strstr(line, ": costs the node ");
        if (!often || !price || often > price || (end && price > end))
            return false;
        line = end ? end + 1 : NULL;
    }
    return true;
}

void run_expect(const struct run *r, int exit_code)
{
    if (r->exit_code != exit_code)
        fail_msg("exit code %d, not %d\nout: %.2000s\nerr: %.6000s", r->exit_code, exit_code,
                 r->out, r->err);
    if (exit_code == 0 && !run_is_quiet(r))
        fail_msg("words on stderr: %.4000s", r->err);
}

void run_expect_error(const struct run *r, int exit_code, const char *words)
{
    run_expect(r, exit_code);
    if (r->out_len > 0)
        fail_msg("data on stdout: %.2000s", r->out);
    if (strncmp(r->err, "beamtop: ", 9) != 0 || !strstr(r->err, words))
        fail_msg("“%s” is not in: %.2000s", words, r->err);
}

/* ---- JSON */

size_t run_lines(const struct run *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->out_len; i++)
        n += r->out[i] == '\n';
    return n;
}

json_t *run_json(const struct run *r, int index)
{
    json_error_t err;
    const char *line = r->out;
    if (index < 0)
        index += (int)run_lines(r);
    for (int i = 0; i < index && line; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    const char *end = line ? strchr(line, '\n') : NULL;
    if (!end)
        fail_msg("there is no line %d in: %.4000s\nerr: %.4000s", index, r->out, r->err);
    json_t *root =
        json_loadb(line, (size_t)(end - line), JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &err);
    if (!root)
        fail_msg("%s at %d of: %.4000s", err.text, err.position, line);
    return root;
}

json_t *at(json_t *root, const char *path)
{
    json_t *j = root;
    for (const char *p = path; *p;) {
        char key[64];
        size_t len = strcspn(p, ".");
        snprintf(key, sizeof key, "%.*s", (int)len, p);
        j = json_is_array(j) ? json_array_get(j, (size_t)strtoul(key, NULL, 10))
                             : json_object_get(j, key);
        if (!j) {
            char *text = json_dumps(root, JSON_COMPACT);
            fail_msg("no %s in %.6000s", path, text);
        }
        p += len;
        p += *p == '.';
    }
    return j;
}

double number_at(json_t *root, const char *path)
{
    json_t *j = at(root, path);
    if (!json_is_number(j))
        fail_msg("%s is no number", path);
    return json_number_value(j);
}

const char *text_at(json_t *root, const char *path)
{
    json_t *j = at(root, path);
    if (!json_is_null(j) && !json_is_string(j))
        fail_msg("%s is no text", path);
    return json_string_value(j);
}

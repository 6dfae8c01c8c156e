/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_control.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utlist.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "app/job/process_stat.h"

#define PREFIX "record-"
#define SUFFIX ".sock"
#define SOCKET_NAME_BYTES 32

/* ---- where the sockets are */

static int socket_dir_name(char out[RECORD_SOCKET_BYTES], const struct app_env *env,
                           struct error *err)
{
    const char *state = env->xdg_state_home, *home = env->home;
    int n = -1;
    if (state && *state == '/')
        n = snprintf(out, RECORD_SOCKET_BYTES, "%s/beamtop/run", state);
    else if (home && *home == '/')
        n = snprintf(out, RECORD_SOCKET_BYTES, "%s/.local/state/beamtop/run", home);
    /* Room for the socket's own name. */
    if (n < 0 || n + 1 + SOCKET_NAME_BYTES > RECORD_SOCKET_BYTES)
        return error_set(err, ERR_USAGE, "no socket to control the recording by: %s",
                         n < 0 ? "neither XDG_STATE_HOME nor HOME is set"
                               : "the path of the state directory is too long (XDG_STATE_HOME)");
    return 0;
}

/* Nobody else may put a socket there. */
static int check_dir(const char *dir, struct error *err)
{
    struct stat st;
    if (lstat(dir, &st) != 0)
        return error_set_errno(err, errno, "%s", dir);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return error_set(err, ERR_REFUSED,
                         "%s must be a directory of yours that no other user can enter "
                         "(chmod 700)",
                         dir);
    return 0;
}

/* Made with its parents, only for us. */
static int socket_dir(char out[RECORD_SOCKET_BYTES], const struct app_env *env, struct error *err)
{
    int rc = socket_dir_name(out, env, err);
    if (rc != 0)
        return rc;
    for (char *slash = strchr(out + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(out, 0700);
        *slash = '/';
    }
    if (mkdir(out, 0700) != 0 && errno != EEXIST)
        return error_set_errno(err, errno, "%s", out);
    return check_dir(out, err);
}

/* There is room: socket_dir() has seen to it. */
static void put_socket_path(char out[RECORD_SOCKET_BYTES], const char *dir, const char *name)
{
    size_t n = strlen(dir);
    assert(n + 1 + strlen(name) < RECORD_SOCKET_BYTES);
    memcpy(out, dir, n);
    out[n] = '/';
    memcpy(out + n + 1, name, strlen(name) + 1);
}

/* ---- what is recorded */

int record_whole_path(char out[PATH_MAX], const char *file, struct error *err)
{
    char dir[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    int n = slash == file ? snprintf(dir, sizeof dir, "/")
                          : snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - file) : 1,
                                     slash ? file : ".");
    if (n < 0 || (size_t)n >= sizeof dir || *base == '\0')
        return error_set(err, ERR_USAGE, "%s is not a file", file);
    if (!realpath(dir, real))
        return error_set_errno(err, errno, "%s", dir);
    size_t len = strlen(real);
    /* Room for ".log". */
    if (len + strlen(base) + 6 > PATH_MAX)
        return error_set(err, ERR_USAGE, "%s: the path is too long", file);
    memcpy(out, real, len);
    snprintf(out + len, PATH_MAX - len, "%s%s", len > 1 ? "/" : "", base);
    return 0;
}

/* ---- the recorder's side */

struct client {
    uv_pipe_t pipe; /* first: freed by it */
    struct record_control *control;
    size_t len;
    char line[LIMIT_RECORD_REQUEST_BYTES];
    struct client *prev, *next;
};

struct record_control {
    uv_pipe_t pipe; /* first: freed by it */
    struct record_control_handlers handlers;
    void *arg;
    char path[RECORD_SOCKET_BYTES];
    struct client *clients;
    int stopper; /* a copy of the connection that asked for the end, kept until the process is gone;
                    -1 */
};

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

static void drop_client(struct client *c)
{
    DL_DELETE(c->control->clients, c);
    uv_close((uv_handle_t *)&c->pipe, free_handle);
}

static void send_reply(struct client *c, const char *text, size_t len)
{
    uv_buf_t parts[] = {uv_buf_init((char *)(uintptr_t)text, (unsigned)len),
                        uv_buf_init((char[]){'\n'}, 1)};
    (void)uv_try_write((uv_stream_t *)&c->pipe, parts, 2); /* a line fits into an empty socket */
}

static void serve_request(struct client *c)
{
    struct record_control *control = c->control;
    static const char done[] = "{\"ok\":true}", unknown[] = "{\"ok\":false}";
    uv_os_fd_t fd = -1;
    if (strcmp(c->line, "status") == 0) {
        struct buf out;
        buf_init(&out, 0);
        control->handlers.status(control->arg, &out);
        send_reply(c, buf_cstr(&out), out.len);
        buf_clear(&out);
    } else if (strncmp(c->line, "mark ", 5) == 0 && c->line[5]) {
        control->handlers.mark(control->arg, c->line + 5);
        send_reply(c, done, sizeof done - 1);
    } else if (strcmp(c->line, "stop") == 0) {
        send_reply(c, done, sizeof done - 1);
        if (control->stopper < 0 && uv_fileno((uv_handle_t *)&c->pipe, &fd) == 0)
            control->stopper = dup(fd);
        control->handlers.stop(control->arg);
    } else {
        send_reply(c, unknown, sizeof unknown - 1);
    }
    drop_client(c);
}

static void on_request_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct client *c = (struct client *)handle;
    (void)suggested;
    *buf = uv_buf_init(c->line + c->len, (unsigned)(sizeof c->line - 1 - c->len));
}

static void on_request_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct client *c = (struct client *)stream;
    (void)buf;
    if (n < 0) {
        drop_client(c);
        return;
    }
    c->len += (size_t)n;
    c->line[c->len] = '\0';
    char *end = strchr(c->line, '\n');
    if (!end && c->len < sizeof c->line - 1)
        return;
    if (end)
        *end = '\0';
    else
        c->line[0] = '\0'; /* longer than any request */
    serve_request(c);
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct record_control *control = (struct record_control *)stream;
    if (status != 0)
        return;
    struct client *c = alloc_zero(1, sizeof *c);
    c->control = control;
    uv_pipe_init(stream->loop, &c->pipe, 0);
    DL_APPEND(control->clients, c);
    if (uv_accept(stream, (uv_stream_t *)&c->pipe) != 0 ||
        uv_read_start((uv_stream_t *)&c->pipe, on_request_alloc, on_request_read) != 0)
        drop_client(c);
}

int record_control_open(struct record_control **out, uv_loop_t *loop, const struct app_env *env,
                        const struct record_control_handlers *handlers, void *arg,
                        struct error *err)
{
    char dir[RECORD_SOCKET_BYTES], name[SOCKET_NAME_BYTES];
    int rc = socket_dir(dir, env, err);
    if (rc != 0)
        return rc;
    snprintf(name, sizeof name, PREFIX "%ld" SUFFIX, (long)getpid());
    struct record_control *c = alloc_zero(1, sizeof *c);
    c->handlers = *handlers;
    c->arg = arg;
    c->stopper = -1;
    put_socket_path(c->path, dir, name);
    uv_pipe_init(loop, &c->pipe, 0);
    unlink(c->path); /* of a process of the same number, long gone */
    rc = uv_pipe_bind(&c->pipe, c->path);
    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&c->pipe, LIMIT_RECORD_CLIENTS, on_connection);
    if (rc != 0) {
        error_set(err, ERR_SYSTEM, "%s: %s", c->path, uv_strerror(rc));
        record_control_close(c);
        return (int)err->code;
    }
    uv_unref((uv_handle_t *)&c->pipe);
    *out = c;
    return 0;
}

void record_control_close(struct record_control *c)
{
    struct client *client, *next;
    if (!c)
        return;
    DL_FOREACH_SAFE(c->clients, client, next)
    drop_client(client);
    unlink(c->path);
    uv_close((uv_handle_t *)&c->pipe, free_handle);
}

/* ---- the other side */

long record_socket_pid(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    bool ours = strncmp(name, PREFIX, sizeof PREFIX - 1) == 0;
    return ours ? strtol(name + sizeof PREFIX - 1, NULL, 10) : 0;
}

bool record_is_stopped(const char *socket)
{
    char line[512];
    const char *stat = process_stat(record_socket_pid(socket), line, sizeof line);
    return stat && strncmp(stat, " T", 2) == 0;
}

int record_silent_error(struct error *err, const char *path)
{
    long pid = record_socket_pid(path);
    if (pid > 0 && record_is_stopped(path))
        return error_set(
            err, ERR_TIMEOUT,
            "recorder process %ld does not answer: a signal stopped it. `kill -CONT %ld` "
            "resumes it",
            pid, pid);
    return error_set(err, ERR_TIMEOUT,
                     "recorder process %ld does not answer: its disk or this machine is probably "
                     "overloaded. Try again, or stop it with `kill %ld`",
                     pid, pid);
}

static int compare_paths(const void *a, const void *b)
{
    const char *p = a, *q = b;
    size_t m = strlen(p), n = strlen(q);
    return m != n ? (m < n ? -1 : 1) : strcmp(p, q);
}

int record_sockets_list(char out[LIMIT_RECORD_PEERS][RECORD_SOCKET_BYTES], size_t *n,
                        const struct app_env *env, struct error *err)
{
    char dir[RECORD_SOCKET_BYTES];
    const struct dirent *entry;
    *n = 0;
    int rc = socket_dir_name(dir, env, err);
    DIR *d = rc == 0 ? opendir(dir) : NULL;
    if (d)
        rc = check_dir(dir, err);
    while (d && rc == 0 && *n < LIMIT_RECORD_PEERS && (entry = readdir(d))) {
        const char *name = entry->d_name;
        if (strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 && strlen(name) < SOCKET_NAME_BYTES)
            put_socket_path(out[(*n)++], dir, name);
    }
    if (d)
        closedir(d);
    qsort(out, *n, sizeof out[0], compare_paths);
    return rc;
}

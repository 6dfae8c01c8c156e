/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "way_child.h"
#include "way_masters.h"

#define MOST_CHILDREN 512
#define GRACE_MS 1500  /* for the last bytes of a stream whose asker has gone */
#define ENDING_MS 200  /* the same when all end */
#define KILL_MS 700    /* from SIGTERM to SIGKILL */
#define FDS_OF_CHILD 3 /* status, errors, out */

struct server {
    int asks, signals;
    struct way_masters masters;
    struct way_child *children[MOST_CHILDREN];
    size_t n;
    bool ending;
};

static uint64_t now_ms(void)
{
    return clock_mono_ns() / 1000000u;
}

/* ---- answers */

static void say(struct way_child *c, enum way_state state, enum conn_failure why,
                const struct error *err, int fd)
{
    struct way_say message = {.state = state, .why = why};
    if (err)
        snprintf(message.text, sizeof message.text, "%.*s", (int)sizeof message.text - 1,
                 err->text);
    if (c->status >= 0)
        (void)way_wire_send(c->status, &message, sizeof message, fd);
}

static void say_failed(struct way_child *c, enum conn_failure why, const struct error *err)
{
    say(c, WAY_SAYS_FAILED, why, err, -1);
    way_child_close(c);
    c->has_exited = true;
}

static void say_open(struct way_child *c, int fd)
{
    c->is_open = true;
    say(c, WAY_SAYS_OPEN, CONN_FAILED_WAY, NULL, fd);
}

static void fail_system(struct way_child *c, int errnum, const char *program)
{
    struct error err = {0};
    if (errnum == ENOENT)
        error_set(&err, ERR_CONNECT, "there is no %s on this host: install it, or add it to PATH",
                  program);
    else
        error_set_errno(&err, errnum, "%s cannot be started", program);
    say_failed(c, CONN_FAILED_WAY, &err);
}

/* ---- starts */

static void start_master(struct server *s, struct way_child *c)
{
    struct way_words words = {0};
    struct way_stop stop = {.url = &c->url,
                            .terminal = c->ask.terminal != 0,
                            .timeout_s = (c->ask.timeout_ms + 999) / 1000};
    struct error err = {0};
    if (way_masters_serves(&s->masters, &stop)) {
        say_open(c, -1);
        way_child_close(c);
        c->has_exited = true;
        return;
    }
    if (way_masters_add(&s->masters, &stop, &err) != 0) {
        say_failed(c, CONN_FAILED_WAY, &err);
        return;
    }
    way_put_master(&words, &stop);
    const int rc = way_spawn(&c->pid, words.all, -1, NULL, &c->errors, stop.terminal);
    if (rc != 0)
        fail_system(c, rc, words.all[0]);
    way_words_clear(&words);
}

static int make_stream(struct way_child *c)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    c->ours = ends[0];
    c->theirs = ends[1];
    return fcntl(c->ours, F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
}

static void open_stream(struct way_child *c)
{
    const int fd = c->ours;
    c->ours = -1;
    say_open(c, fd);
    close(fd);
}

static void start_stream(struct server *s, struct way_child *c)
{
    const struct way_method *m = way_method(c->url.scheme, c->method);
    const bool prints = m->opens == WAY_OPENS_PORT;
    struct way_words words = {0};
    struct way_stop stop = {.url = &c->url,
                            .address = c->ask.address,
                            .port = c->ask.port,
                            .timeout_s = (c->ask.timeout_ms + 999) / 1000};
    way_masters_find(&s->masters, &stop, true);
    m->put(&words, &stop);
    int rc = prints ? 0 : make_stream(c);
    if (rc == 0)
        rc = way_spawn(&c->pid, words.all, c->theirs, prints ? &c->out : NULL, &c->errors, false);
    if (rc != 0)
        fail_system(c, rc, words.all[0]);
    else if (m->opens == WAY_OPENS_AT_ONCE)
        open_stream(c);
    way_words_clear(&words);
}

static void start_child(struct server *s, const struct way_ask *ask, int status)
{
    struct way_child *c = alloc_zero(1, sizeof *c);
    struct error err = {0};
    c->ask = *ask;
    c->status = status;
    c->errors = c->out = c->ours = c->theirs = -1;
    c->ask.url[sizeof c->ask.url - 1] = c->ask.address[sizeof c->ask.address - 1] = '\0';
    s->children[s->n++] = c;
    if (way_url_parse(&c->url, c->ask.url, &err) != 0)
        say_failed(c, CONN_FAILED_WAY, &err);
    else if (c->ask.kind == WAY_ASKS_MASTER)
        start_master(s, c);
    else
        start_stream(s, c);
}

/* ---- a port of the loopback, once it is printed */

static void connect_port(struct way_child *c)
{
    const char *line = strstr(c->said, WAY_PORT_LINE);
    struct sockaddr_in to = {.sin_family = AF_INET};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const char *digits = line ? line + strlen(WAY_PORT_LINE) : "";
    const size_t n = strspn(digits, "0123456789");
    const long port = strtol(digits, NULL, 10);
    if (n == 0 || digits[n] == '\0' || port < 1 || port > 65535)
        return; /* not all of the line is there */
    to.sin_port = htons((uint16_t)port);
    /* The listener may be full, and others wait for this process. */
    const struct timeval limit = {.tv_sec = 1};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 &&
        fcntl(fd, F_SETFL, O_NONBLOCK) == 0) {
        say_open(c, fd);
    } else {
        struct error err = {0};
        error_set_errno(&err, errno == EINPROGRESS ? ETIMEDOUT : errno,
                        "the forwarded port %ld of this host", port);
        say(c, WAY_SAYS_FAILED, CONN_FAILED_WAY, &err, -1);
        c->is_open = true; /* it is not tried again: the asker ends it */
    }
    if (fd >= 0)
        close(fd);
}

static void look_whether_open(struct way_child *c)
{
    if (c->is_open || c->has_exited || c->ask.kind != WAY_ASKS_STREAM)
        return;
    const struct way_method *m = way_method(c->url.scheme, c->method);
    if (m->opens == WAY_OPENS_SAID && strstr(c->said, WAY_OPEN_LINE))
        open_stream(c);
    else if (m->opens == WAY_OPENS_PORT)
        connect_port(c);
}

/* ---- ends */

static void end_child(struct way_child *c, unsigned grace_ms)
{
    const uint64_t end_ms = now_ms() + grace_ms;
    if (c->end_ms == 0 || (!c->was_asked && end_ms < c->end_ms))
        c->end_ms = end_ms;
}

/* Streams have a process group each. */
static void end_late(struct way_child *c, uint64_t now)
{
    if (c->has_exited || c->end_ms == 0 || now < c->end_ms)
        return;
    const pid_t whose = c->ask.kind == WAY_ASKS_STREAM ? -c->pid : c->pid;
    (void)kill(whose, c->was_asked ? SIGKILL : SIGTERM);
    c->was_asked = true;
    c->end_ms = now + KILL_MS;
}

static void end_master_start(struct server *s, struct way_child *c)
{
    static const struct way_method ssh = {.scheme = WAY_SSH, .name = "ssh to"};
    struct way_stop stop = {.url = &c->url};
    enum conn_failure why;
    struct error err = {0};
    bool another;
    if (c->exit_status == 0) {
        way_masters_ready(&s->masters, &stop);
        say_open(c, -1);
        way_child_close(c);
        return;
    }
    int log = way_masters_log(&s->masters, &stop);
    way_child_read(c, &log);
    way_masters_forget(&s->masters, &stop);
    way_explain_said(&ssh, &c->url, c->said, &why, &another, &err);
    say_failed(c, why, &err);
}

static void end_stream(struct server *s, struct way_child *c)
{
    const struct way_method *m = way_method(c->url.scheme, c->method);
    struct way_stop stop = {.url = &c->url};
    enum conn_failure why;
    struct error err = {0};
    bool another = false;
    /* ssh's exit code is 0 then, as when the node closes the stream. */
    const bool lost = way_masters_lost(&s->masters, &stop);
    int log = way_masters_log(&s->masters, &stop);
    if (lost || c->exit_status != 0)
        way_child_read(c, &log);
    else if (log >= 0)
        close(log);
    if (lost && c->said_len == 0)
        error_set(&err, ERR_CONNECT, "ssh to %s: the SSH connection is lost", c->url.host);
    way_explain_said(m, &c->url, c->said, &why, &another, &err);
    if (c->is_open && (lost || c->exit_status != 0))
        say(c, WAY_SAYS_ENDED, why, &err, -1);
    if (!c->is_open && another && way_method(c->url.scheme, c->method + 1) && !s->ending) {
        const int status = c->status;
        c->status = -1;
        way_child_close(c);
        c->status = status;
        snprintf(c->before, sizeof c->before, "%.*s", (int)sizeof c->before - 1, err.text);
        c->said_len = 0;
        c->has_exited = false;
        c->end_ms = 0;
        c->method++;
        start_stream(s, c);
    } else if (!c->is_open) {
        struct error all = {0};
        error_set(&all, err.code, "%s%s%s", c->before, *c->before ? "; " : "", err.text);
        say_failed(c, why, &all);
    } else {
        way_child_close(c);
    }
}

static struct way_child *child_of(struct server *s, pid_t pid)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->children[i]->pid == pid && !s->children[i]->has_exited)
            return s->children[i];
    return NULL;
}

static void on_exit_of(struct server *s, struct way_child *c, int status)
{
    c->has_exited = true;
    c->exit_status = status;
    way_child_read(c, &c->errors);
    if (c->ask.kind == WAY_ASKS_MASTER)
        end_master_start(s, c);
    else
        end_stream(s, c);
}

/* What a stream's program has started ends with it, as long as its group cannot be another's. */
static void reap(struct server *s)
{
    struct signalfd_siginfo info;
    siginfo_t who = {0};
    int status = 0;
    while (read(s->signals, &info, sizeof info) > 0)
        ;
    while (waitid(P_ALL, 0, &who, WEXITED | WNOHANG | WNOWAIT) == 0 && who.si_pid > 0) {
        const pid_t pid = who.si_pid;
        struct way_child *c = child_of(s, pid);
        if (c && c->ask.kind == WAY_ASKS_STREAM)
            (void)kill(-pid, SIGKILL);
        (void)waitpid(pid, &status, 0); /* ssh's shared connections, too */
        if (c)
            on_exit_of(s, c, status);
        who.si_pid = 0;
    }
}

static void forget_ended(struct server *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->children[i]->has_exited) {
            way_child_close(s->children[i]);
            free(s->children[i]);
        } else {
            s->children[kept++] = s->children[i];
        }
    }
    s->n = kept;
}

/* ---- the loop */

static void take_asks(struct server *s)
{
    struct way_ask ask;
    int status, rc;
    while ((rc = way_wire_receive(s->asks, &ask, sizeof ask, &status)) == 0) {
        if (status >= 0 && s->n == MOST_CHILDREN)
            close(status);
        else if (status >= 0)
            start_child(s, &ask, status);
    }
    s->ending = rc != EAGAIN;
}

static void look_at_child(struct way_child *c, const struct pollfd *fds)
{
    if (fds[0].revents != 0 && c->status >= 0) {
        close(c->status);
        c->status = -1;
        if (c->ours >= 0)
            close(c->ours);
        c->ours = -1;
        end_child(c, c->is_open ? GRACE_MS : 0);
    }
    if (fds[1].revents != 0)
        way_child_read(c, &c->errors);
    if (fds[2].revents != 0)
        way_child_read(c, &c->out);
    look_whether_open(c);
}

/* Turns until something happens, or a child is due to end. */
static void turn(struct server *s)
{
    static struct pollfd fds[2 + FDS_OF_CHILD * MOST_CHILDREN];
    const size_t n = s->n; /* others come behind these */
    uint64_t now = now_ms(), due = UINT64_MAX;
    fds[0] = (struct pollfd){.fd = s->ending ? -1 : s->asks, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = s->signals, .events = POLLIN};
    for (size_t i = 0; i < n; i++) {
        const struct way_child *c = s->children[i];
        struct pollfd *of = &fds[2 + FDS_OF_CHILD * i];
        of[0] = (struct pollfd){.fd = c->status};
        of[1] = (struct pollfd){.fd = c->errors, .events = POLLIN};
        of[2] = (struct pollfd){.fd = c->out, .events = POLLIN};
        if (c->end_ms != 0 && c->end_ms < due)
            due = c->end_ms;
    }
    const int wait = due == UINT64_MAX ? -1 : due > now ? (int)(due - now) : 0;
    if (poll(fds, 2 + FDS_OF_CHILD * n, wait) > 0) {
        for (size_t i = 0; i < n; i++)
            look_at_child(s->children[i], &fds[2 + FDS_OF_CHILD * i]);
        if (fds[0].revents != 0)
            take_asks(s);
    }
    reap(s);
    forget_ended(s);
    now = now_ms();
    for (size_t i = 0; i < s->n; i++)
        end_late(s->children[i], now);
}

static int block_signals(void)
{
    static const int ignored[] = {SIGINT,  SIGQUIT, SIGHUP,  SIGTERM, SIGPIPE,
                                  SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ};
    sigset_t children;
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &children, NULL);
    return signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

void way_server_run(int asks, const char *runtime_dir)
{
    struct server s = {.asks = asks, .signals = block_signals()};
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* ssh goes into the background */
    way_masters_init(&s.masters, runtime_dir);
    while (!s.ending)
        turn(&s);
    for (size_t i = 0; i < s.n; i++)
        end_child(s.children[i], ENDING_MS);
    while (s.n > 0)
        turn(&s);
    way_masters_end(&s.masters);
    close(s.signals);
}

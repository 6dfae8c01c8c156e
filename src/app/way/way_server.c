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

#include "beamtop/base/clock.h"
#include "way_child.h"
#include "way_logins.h"
#include "way_masters.h"

#define GRACE_MS 1500  /* for the last bytes of a stream whose asker has gone */
#define ENDING_MS 200  /* the same when all end */
#define KILL_MS 700    /* from SIGTERM to SIGKILL */
#define WORDS_MS 50    /* between looks at what ssh says while it asks a person */
#define FDS_OF_CHILD 3 /* status, errors, out */

struct server {
    int asks, signals;
    int spare; /* held for the next ask's descriptor: so that one can be refused, too */
    struct way_masters masters;
    struct way_children children;
    bool ending;
};

static uint64_t now_ms(void)
{
    return clock_mono_ns() / 1000000u;
}

/* ---- starts */

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
    way_child_say_open(c, fd);
    close(fd);
}

/* One whose first method has failed has its socket already, with what the asker has written. */
static void start_stream(struct server *s, struct way_child *c)
{
    const struct way_method *m = way_method(c->url.scheme, c->method);
    const bool prints = m->opens == WAY_OPENS_PORT || m->opens == WAY_OPENS_PRINTED;
    struct way_words words = {0};
    struct way_stop stop = {.url = &c->url,
                            .address = c->ask.address,
                            .port = c->ask.port,
                            .timeout_s = (c->ask.timeout_ms + 999) / 1000};
    c->starts = false;
    way_masters_find(&s->masters, &stop, true);
    const int log = way_masters_log(&s->masters, &stop, &c->log_from);
    if (log >= 0)
        close(log);
    m->put(&words, &stop);
    int rc = m->opens == WAY_OPENS_PORT || c->theirs >= 0 ? 0 : make_stream(c);
    if (rc == 0)
        rc = way_spawn(&c->pid, words.all, c->theirs, prints ? &c->out : NULL, &c->errors,
                       WAY_OUTLIVES);
    if (rc != 0)
        way_child_fail_start(c, rc, words.all[0]);
    else if (m->opens == WAY_OPENS_AT_ONCE)
        open_stream(c);
    way_words_clear(&words);
}

static void start_streams(struct server *s)
{
    for (size_t i = 0; i < s->children.n; i++)
        if (s->children.all[i]->starts && !s->children.all[i]->has_exited)
            start_stream(s, s->children.all[i]);
}

static void start_child(struct server *s, const struct way_ask *ask, int status)
{
    struct way_child *c = way_children_add(&s->children, ask, status);
    struct error err = {0};
    if (way_url_parse(&c->url, c->ask.url, &err) != 0)
        way_child_fail(c, CONN_FAILED_WAY, false, &err);
    else if (c->url.scheme == WAY_SSH)
        way_logins_want(&s->masters, &s->children, c);
    else
        c->starts = true;
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
        way_child_say_open(c, fd);
    } else {
        struct error err = {0};
        error_set_errno(&err, errno == EINPROGRESS ? ETIMEDOUT : errno,
                        "the forwarded port %ld of this host", port);
        way_child_say(c, WAY_SAYS_FAILED, CONN_FAILED_WAY, false, &err, -1);
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
    if ((m->opens == WAY_OPENS_SAID && strstr(c->said, WAY_OPEN_LINE)) || c->carry.found)
        open_stream(c);
    else if (m->opens == WAY_OPENS_PORT)
        connect_port(c);
}

/* ---- ends */

static void end_child(struct way_child *c, unsigned grace_ms)
{
    const uint64_t end_ms = now_ms() + grace_ms;
    if (c->pid == 0)
        c->has_exited = true;
    else if (c->end_ms == 0 || (!c->was_asked && end_ms < c->end_ms))
        c->end_ms = end_ms;
}

/* Each program has a process group, unless it is in front of the terminal. */
static void end_late(struct way_child *c, uint64_t now)
{
    if (c->has_exited || c->end_ms == 0 || now < c->end_ms)
        return;
    (void)kill(c->ask.terminal ? c->pid : -c->pid, c->was_asked ? SIGKILL : SIGTERM);
    c->was_asked = true;
    c->end_ms = now + KILL_MS;
}

/* Goes on with the next method, where there is one. Nothing was carried: ssh reads of the socket
 * once its stream stands, so what the asker has written is still there. */
static bool try_another(struct server *s, struct way_child *c, const struct error *why)
{
    const bool at_once = way_method(c->url.scheme, c->method)->opens == WAY_OPENS_AT_ONCE;
    if (!way_method(c->url.scheme, c->method + 1) || s->ending || c->status < 0 ||
        (c->is_open && !at_once))
        return false;
    const int status = c->status, theirs = c->theirs;
    c->status = -1;
    if (at_once)
        c->theirs = -1;
    way_child_close(c);
    c->status = status;
    if (at_once)
        c->theirs = theirs;
    snprintf(c->before, sizeof c->before, "%.*s", (int)sizeof c->before - 1, why->text);
    c->pid = 0;
    way_child_forget(c);
    c->has_exited = false;
    c->end_ms = 0;
    c->method++;
    c->starts = true;
    return true;
}

static bool is_carried(const struct way_child *c)
{
    return c->ask.kind == WAY_ASKS_STREAM &&
           way_method(c->url.scheme, c->method)->opens == WAY_OPENS_PRINTED;
}

/* What it says comes from the far side, and costs time here. */
static bool says_too_much(const struct way_child *c)
{
    return c->said_all > WAY_SAID_MOST || c->carry.skipped > WAY_BEFORE_MOST;
}

static void explain_much(const struct way_child *c, const char *name, struct error *err)
{
    if (c->carry.skipped > WAY_BEFORE_MOST)
        error_set(err, ERR_CONNECT,
                  "%s %s: its login shell prints more than %u KiB before the stream begins. Make "
                  "it silent where it has no terminal (~/.bashrc, ~/.profile)",
                  name, c->url.host, WAY_BEFORE_MOST / 1024);
    else if (says_too_much(c))
        error_set(err, ERR_CONNECT, "%s %s: ended after %u MiB of errors. Run it there to see them",
                  name, c->url.host, WAY_SAID_MOST / (1024 * 1024));
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
    if (lost || c->exit_status != 0) {
        int log = way_masters_log(&s->masters, &stop, &c->log_from);
        way_child_read(c, &log);
    }
    explain_much(c, m->name, &err);
    if (lost && c->said_len == 0)
        error_set(&err, ERR_CONNECT, "ssh to %s: the SSH connection is lost", c->url.host);
    way_explain_said(m, &c->url, c->said, &why, &another, &err);
    struct error all = {0};
    error_set(&all, err.code, "%s%s%s", c->before, *c->before ? "; " : "", err.text);
    if (c->exit_status != 0)
        way_masters_doubt(&s->masters, &stop);
    if (another && try_another(s, c, &err))
        return;
    if (!c->is_open) {
        way_child_fail(c, why, false, &all);
        return;
    }
    if (lost || c->exit_status != 0)
        way_child_say(c, WAY_SAYS_ENDED, why, false, &err, -1);
    way_child_close(c);
}

static struct way_child *child_of(struct server *s, pid_t pid)
{
    for (size_t i = 0; i < s->children.n; i++)
        if (s->children.all[i]->pid == pid && !s->children.all[i]->has_exited)
            return s->children.all[i];
    return NULL;
}

static void on_exit_of(struct server *s, struct way_child *c, int status)
{
    c->has_exited = true;
    c->exit_status = status;
    way_child_read(c, &c->errors);
    if (is_carried(c))
        way_child_carry(c);
    if (c->ask.kind == WAY_LOGS_IN)
        way_logins_ended(&s->masters, &s->children, c);
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

/* ---- the loop */

static void refuse(int status, bool is_full)
{
    struct way_child c = {.status = status, .errors = -1, .out = -1, .ours = -1, .theirs = -1};
    struct error err = {0};
    if (is_full)
        error_set(&err, ERR_LIMIT, "no more than %d streams at a time: name fewer nodes",
                  WAY_CHILDREN);
    else
        error_set_errno(&err, EMFILE, "no more streams");
    way_child_fail(&c, CONN_FAILED_WAY, false, &err);
}

static void close_spare(struct server *s)
{
    if (s->spare >= 0)
        close(s->spare);
    s->spare = -1;
}

static void take_spare(struct server *s)
{
    if (s->spare < 0)
        s->spare = fcntl(s->asks, F_DUPFD_CLOEXEC, 0);
}

static int take_ask(struct server *s)
{
    struct way_ask ask;
    int status;
    close_spare(s);
    const int rc = way_wire_receive(s->asks, &ask, sizeof ask, &status);
    take_spare(s);
    const bool is_full = s->children.n == WAY_CHILDREN;
    if (status >= 0 && (is_full || s->spare < 0))
        refuse(status, is_full);
    else if (status >= 0)
        start_child(s, &ask, status);
    take_spare(s);
    return rc;
}

static void take_asks(struct server *s)
{
    int rc;
    while ((rc = take_ask(s)) == 0)
        ;
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
    if (fds[2].revents != 0 && is_carried(c))
        way_child_carry(c);
    else if (fds[2].revents != 0)
        way_child_read(c, &c->out);
    look_whether_open(c);
    if (says_too_much(c))
        end_child(c, 0);
}

/* Turns until something happens, or a child is due to end. */
static void turn(struct server *s)
{
    static struct pollfd fds[2 + FDS_OF_CHILD * WAY_CHILDREN];
    const size_t n = s->children.n; /* others come behind these */
    uint64_t now = now_ms(), due = UINT64_MAX;
    fds[0] = (struct pollfd){.fd = s->ending ? -1 : s->asks, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = s->signals, .events = POLLIN};
    for (size_t i = 0; i < n; i++) {
        const struct way_child *c = s->children.all[i];
        struct pollfd *of = &fds[2 + FDS_OF_CHILD * i];
        of[0] = (struct pollfd){.fd = c->status};
        of[1] = (struct pollfd){.fd = c->errors, .events = POLLIN};
        of[2] = way_carry_waits(&c->carry) ? (struct pollfd){.fd = c->theirs, .events = POLLOUT}
                                           : (struct pollfd){.fd = c->out, .events = POLLIN};
        if (c->end_ms != 0 && c->end_ms < due)
            due = c->end_ms;
    }
    if (way_logins_ask(&s->children) && now + WORDS_MS < due)
        due = now + WORDS_MS;
    const int wait = due == UINT64_MAX ? -1 : due > now ? (int)(due - now) : 0;
    if (poll(fds, 2 + FDS_OF_CHILD * n, wait) > 0) {
        for (size_t i = 0; i < n; i++)
            look_at_child(s->children.all[i], &fds[2 + FDS_OF_CHILD * i]);
        if (fds[0].revents != 0)
            take_asks(s);
    }
    way_logins_tell(&s->masters, &s->children);
    reap(s);
    if (!s->ending)
        way_logins_go_on(&s->masters, &s->children);
    start_streams(s);
    way_children_forget_ended(&s->children);
    now = now_ms();
    for (size_t i = 0; i < s->children.n; i++)
        end_late(s->children.all[i], now);
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
    struct server s = {.asks = asks, .signals = block_signals(), .spare = -1};
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* ssh goes into the background */
    way_masters_init(&s.masters, runtime_dir);
    take_spare(&s);
    while (!s.ending)
        turn(&s);
    close_spare(&s);
    for (size_t i = 0; i < s.children.n; i++)
        end_child(s.children.all[i], ENDING_MS);
    while (s.children.n > 0)
        turn(&s);
    way_masters_end(&s.masters);
    close(s.signals);
}

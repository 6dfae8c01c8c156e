/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_fleet_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/cli/output_file.h"
#include "app/cli/tell.h"
#include "app/way/reach.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "record_detach.h"

#define RETRY_S 30 /* of a node that was named and does not answer */

/* ---- the index */

void record_fleet_write(struct record_fleet *f)
{
    struct buf text, path;
    struct output_file file;
    struct error err = {0};
    if (f->index.n == 0)
        return;
    buf_init(&text, 0);
    buf_init(&path, 0);
    for (size_t i = 0; i < f->index.n; i++) {
        f->index.nodes[i].ticks = f->clocks[i].ticks;
        f->index.nodes[i].begin = f->clocks[i].begin;
        f->index.nodes[i].end = f->clocks[i].end;
    }
    fleet_index_put(&text, &f->index);
    buf_printf(&path, "%s/" FLEET_INDEX_FILE, f->setup->file);
    if (output_file_open(&file, buf_cstr(&path), &err) == 0) {
        fwrite(text.data, 1, text.len, file.to);
        (void)output_file_close(&file, &err);
    }
    if (err.code != ERR_NONE)
        tell_line("the index is not written: %s", err.text);
    f->written_us = clock_wall_us();
    buf_clear(&text);
    buf_clear(&path);
}

/* ---- a recorder: in its own process */

/* Its turn: false, there is none any more. */
static bool wait_for_turn(const struct record_fleet *f)
{
    char byte;
    close(f->turns[1]);
    return prctl(PR_SET_PDEATHSIG, SIGINT) == 0 && getppid() == f->pid &&
           read(f->turns[0], &byte, 1) == 1;
}

static void say_failure(int to, const char *text)
{
    dprintf(to, "%s", text);
    _exit(EXIT_FAILED);
}

/* Never returns. It ends as by Ctrl-C when the process that has started it is gone. */
static void be_fleet_recorder(const struct record_fleet *f, size_t node, int ready)
{
    struct record_setup setup = *f->setup;
    struct cli_options options = f->options;
    struct record_log log;
    struct error err = {0};
    char log_path[PATH_MAX + 8];
    if (!wait_for_turn(f))
        _exit(EXIT_DONE);
    options.for_s = f->children[node].for_s;
    setup.options = &options;
    setup.lent = &f->children[node].lent;
    setup.node = f->index.nodes[node].name;
    setup.file = f->children[node].path;
    setup.detached = true;
    setup.ready_fd = ready;
    setup.clocks = &f->clocks[node];
    snprintf(log_path, sizeof log_path, "%s.log", setup.file);
    if (record_log_open(&log, log_path, &err) != 0)
        say_failure(ready, err.text);
    reach_leave(setup.env->reach);
    if (!record_detach(log.fd, ready))
        say_failure(ready, "the recorder cannot detach from the terminal");
    signal(SIGINT, SIG_DFL); /* a shell's background ignores it, and it may have come already */
    sigprocmask(SIG_SETMASK, &f->before, NULL);
    setvbuf(stderr, NULL, _IOLBF, 0);
    const int code = record_run(&setup);
    fflush(NULL);
    _exit(code);
}

/* Of --for, which ends all of them together. */
double record_fleet_time_left(const struct record_fleet *f)
{
    const double began_s = (double)(clock_wall_us() - f->index.begin_us) / 1e6;
    return f->options.for_given ? fmax(f->options.for_s - (f->known ? began_s : 0), 0.01) : 0;
}

int record_fleet_start(struct record_fleet *f, size_t node, struct error *err)
{
    struct recorder_child *c = &f->children[node];
    int fds[2];
    c->for_s = record_fleet_time_left(f);
    f->index.nodes[node].from_us = clock_wall_us();
    if (pipe2(fds, O_CLOEXEC) != 0)
        return error_set_errno(err, errno, "no pipe to a recorder");
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0)
        be_fleet_recorder(f, node, fds[1]);
    const int errnum = errno;
    close(fds[1]);
    if (c->pid < 0) {
        close(fds[0]);
        return error_set_errno(err, errnum, "no process for a recorder");
    }
    c->ready = fds[0];
    return 0;
}

/* ---- how each goes */

/* Once, though it is tried again. */
static void fail_node(struct recorded_node *node, const char *why)
{
    const bool is_new = strcmp(node->why, why) != 0;
    node->state = RECORDED_FAILED;
    snprintf(node->why, sizeof node->why, "%.*s", (int)sizeof node->why - 1, why);
    if (is_new)
        tell_line("%s: %s", node->name, node->why);
}

/* Who was ready or has failed makes room for another. */
static void end_start(struct record_fleet *f, size_t node)
{
    struct recorder_child *c = &f->children[node];
    const bool ok = strcmp(c->said, "ok") == 0;
    if (f->turns[1] >= 0 && write(f->turns[1], "", 1) != 1)
        tell_line("the next recorder does not start: %s", strerror(errno));
    close(c->ready);
    c->ready = -1;
    if (ok && f->index.nodes[node].state == RECORDED_STARTING) {
        f->index.nodes[node].state = RECORDED_RUNNING;
        *f->index.nodes[node].why = '\0';
    } else if (!ok && *c->said) {
        fail_node(&f->index.nodes[node], c->said);
    }
    record_fleet_write(f);
}

void record_fleet_read(struct record_fleet *f, size_t node)
{
    struct recorder_child *c = &f->children[node];
    char byte;
    ssize_t n;
    do
        n = read(c->ready, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n == 1 && c->said_len + 1 < sizeof c->said)
        c->said[c->said_len++] = byte;
    else if (n <= 0)
        end_start(f, node);
}

static void judge_end(struct record_fleet *f, size_t node, int status)
{
    const struct recorder_child *c = &f->children[node];
    struct recorded_node *of = &f->index.nodes[node];
    char why[80];
    const bool stopped = c->code == EXIT_DONE || (f->signal != 0 && c->code == 128 + f->signal) ||
                         (c->has_left && c->code == 128 + SIGINT);
    if (of->state == RECORDED_FAILED)
        return;
    if (WIFSIGNALED(status) && !stopped)
        snprintf(why, sizeof why, "its recorder was killed by signal %d", WTERMSIG(status));
    else if (!stopped)
        snprintf(why, sizeof why, "ended with exit code %d; see its log", c->code);
    else
        snprintf(why, sizeof why, "stopped before its first tick");
    if (stopped && f->clocks[node].ticks > 0) {
        of->state = RECORDED_COMPLETE;
        snprintf(of->why, sizeof of->why, "%s", c->left);
    } else {
        fail_node(of, why);
    }
}

static void end_recorder(struct record_fleet *f, size_t node, int status)
{
    struct recorder_child *c = &f->children[node];
    while (c->ready >= 0)
        record_fleet_read(f, node);
    c->ended = true;
    c->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    f->index.nodes[node].until_us = f->idle_us = clock_wall_us();
    judge_end(f, node, status);
    f->ended_by_itself = f->index.nodes[node].state == RECORDED_COMPLETE && !c->has_left;
    if (c->is_followed && !c->has_left && f->clocks[node].ticks == 0)
        c->retry_us = f->idle_us + RETRY_S * SECOND_US;
    record_fleet_write(f);
}

void record_fleet_reap(struct record_fleet *f)
{
    for (size_t i = 0; i < f->index.n; i++) {
        int status;
        if (f->children[i].pid > 0 && !f->children[i].ended &&
            waitpid(f->children[i].pid, &status, WNOHANG) == f->children[i].pid)
            end_recorder(f, i, status);
    }
}

/* ---- nodes that come and go */

/* Two names may give one: the second has its number. */
static void name_file(struct record_fleet *f, size_t node, const char *name)
{
    struct recorded_node *of = &f->index.nodes[node];
    struct buf file;
    buf_init(&file, 0);
    if (*name == '.')
        buf_puts(&file, "_");
    text_put_file_name(&file, name);
    for (size_t i = 0; i < node; i++)
        if (strncmp(f->index.nodes[i].file, buf_cstr(&file), file.len) == 0 &&
            strcmp(f->index.nodes[i].file + file.len, ".btr") == 0) {
            buf_printf(&file, "-%zu", node + 1);
            i = SIZE_MAX; /* another may have that name */
        }
    snprintf(of->name, sizeof of->name, "%s", name);
    snprintf(of->file, sizeof of->file, "%s.btr", buf_cstr(&file));
    snprintf(f->children[node].path, sizeof f->children[node].path, "%s/%s", f->setup->file,
             of->file);
    buf_clear(&file);
}

size_t record_fleet_add(struct record_fleet *f, const char *name)
{
    const size_t node = f->index.n++;
    f->children[node].ready = -1;
    name_file(f, node, name);
    return node;
}

/* The one of that name that has not left. */
static size_t find_node(const struct record_fleet *f, const char *name)
{
    size_t i = 0;
    while (i < f->index.n && (f->children[i].has_left || strcmp(f->index.nodes[i].name, name) != 0))
        i++;
    return i;
}

static void join_node(struct record_fleet *f, const struct fleet_news *news)
{
    size_t node = find_node(f, news->name);
    struct error err = {0};
    if (node < f->index.n) {
        f->children[node].is_followed = true;
        return;
    }
    if (f->index.n == FLEET_INDEX_NODES) {
        if (!f->full)
            tell_line("%s is not recorded: the index has %d recordings, and has room for no more",
                      news->name, FLEET_INDEX_NODES);
        f->full = true;
        return;
    }
    node = record_fleet_add(f, news->name);
    f->children[node].is_followed = true;
    f->children[node].lent = news->lent;
    if (record_fleet_start(f, node, &err) != 0)
        fail_node(&f->index.nodes[node], err.text);
    else if (f->known)
        tell_line("%s joins", news->name);
    record_fleet_write(f);
}

/* Its file ends as by Ctrl-C. */
static void leave_node(struct record_fleet *f, const struct fleet_news *news)
{
    const size_t node = find_node(f, news->name);
    if (node == f->index.n)
        return;
    struct recorder_child *c = &f->children[node];
    c->has_left = true;
    c->retry_us = 0;
    snprintf(c->left, sizeof c->left, "%s", news->why);
    tell_line("%s: %s", news->name, news->why);
    if (c->pid > 0 && !c->ended)
        kill(c->pid, SIGINT);
}

void record_fleet_take_news(struct record_fleet *f)
{
    struct fleet_news news;
    if (!fleet_follow_read(&f->follow, &news)) {
        tell_line("nodes that come and go are not followed any more");
        f->known = true;
        return;
    }
    if (news.kind == NEWS_NAMED)
        join_node(f, &news);
    else if (news.kind == NEWS_LEFT)
        leave_node(f, &news);
    else
        f->known = true;
    if (news.kind == NEWS_KNOWN && *news.why) {
        snprintf(f->known_why, sizeof f->known_why, "%s", news.why);
        tell_line("%s", news.why);
    }
    cookie_wipe(&news.lent);
}

void record_fleet_retry(struct record_fleet *f)
{
    const int64_t now = clock_wall_us();
    for (size_t i = 0; i < f->index.n && f->signal == 0; i++) {
        struct recorder_child *c = &f->children[i];
        struct error err = {0};
        if (c->retry_us == 0 || c->retry_us > now)
            continue;
        c->retry_us = 0;
        c->ended = false;
        c->pid = 0;
        c->said_len = 0;
        memset(c->said, 0, sizeof c->said);
        f->index.nodes[i].state = RECORDED_STARTING;
        f->index.nodes[i].until_us = 0;
        if (record_fleet_start(f, i, &err) != 0)
            fail_node(&f->index.nodes[i], err.text);
    }
}

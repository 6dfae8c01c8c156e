/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_fleet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/cli/output_file.h"
#include "app/cli/tell.h"
#include "app/fleet/fleet.h"
#include "app/fleet/fleet_index.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "record_detach.h"

#define TURN_MS 500
#define INDEX_EVERY_S 10

struct recorder_child {
    pid_t pid;
    int ready; /* its word about its first tick; -1: said */
    char path[PATH_MAX];
    char said[256];
    size_t said_len;
    bool ended;
    int code;
};

struct record_fleet {
    const struct record_setup *setup;
    struct cli_options options;
    char cookie_file[PATH_MAX], cookies[PATH_MAX];
    pid_t pid; /* this process */
    struct fleet_index index;
    struct recorder_child *children;
    struct record_clocks *clocks; /* shared with them */
    int turns[2];                 /* a pipe: a byte for each recorder that may start */
    int signals;
    sigset_t before;
    int signal; /* that asked for the end, or 0 */
    bool told;  /* who waits for all first ticks */
    int64_t written_us;
};

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
    struct record_log log;
    struct error err = {0};
    char log_path[PATH_MAX + 8];
    if (!wait_for_turn(f))
        _exit(EXIT_DONE);
    setup.options = &f->options;
    setup.node = f->index.nodes[node].name;
    setup.file = f->children[node].path;
    setup.detached = true;
    setup.ready_fd = ready;
    setup.clocks = &f->clocks[node];
    snprintf(log_path, sizeof log_path, "%s.log", setup.file);
    if (record_log_open(&log, log_path, &err) != 0)
        say_failure(ready, err.text);
    if (!record_detach(log.fd, ready))
        say_failure(ready, "the recorder cannot detach from the terminal");
    signal(SIGINT, SIG_DFL); /* a shell's background ignores it, and it may have come already */
    sigprocmask(SIG_SETMASK, &f->before, NULL);
    setvbuf(stderr, NULL, _IOLBF, 0);
    const int code = record_run(&setup);
    fflush(NULL);
    _exit(code);
}

static int start_recorder(struct record_fleet *f, size_t node, struct error *err)
{
    struct recorder_child *c = &f->children[node];
    int fds[2];
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

/* ---- the index */

static void write_index(struct record_fleet *f)
{
    struct buf text, path;
    struct output_file file;
    struct error err = {0};
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

/* ---- how each goes */

static void fail_node(struct recorded_node *node, const char *why)
{
    node->state = RECORDED_FAILED;
    snprintf(node->why, sizeof node->why, "%s", why);
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
    if (ok && f->index.nodes[node].state == RECORDED_STARTING)
        f->index.nodes[node].state = RECORDED_RUNNING;
    else if (!ok && *c->said)
        fail_node(&f->index.nodes[node], c->said);
    write_index(f);
}

static void read_word(struct record_fleet *f, size_t node)
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
    const bool stopped = c->code == EXIT_DONE || (f->signal != 0 && c->code == 128 + f->signal);
    if (of->state == RECORDED_FAILED)
        return;
    if (WIFSIGNALED(status) && !stopped)
        snprintf(why, sizeof why, "its recorder was killed by signal %d", WTERMSIG(status));
    else if (!stopped)
        snprintf(why, sizeof why, "ended with exit code %d; see its log", c->code);
    else
        snprintf(why, sizeof why, "stopped before its first tick");
    if (stopped && f->clocks[node].ticks > 0)
        of->state = RECORDED_COMPLETE;
    else
        fail_node(of, why);
}

static void end_recorder(struct record_fleet *f, size_t node, int status)
{
    struct recorder_child *c = &f->children[node];
    while (c->ready >= 0)
        read_word(f, node);
    c->ended = true;
    c->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    judge_end(f, node, status);
    write_index(f);
}

static void reap_recorders(struct record_fleet *f)
{
    for (size_t i = 0; i < f->index.n; i++) {
        int status;
        if (f->children[i].pid > 0 && !f->children[i].ended &&
            waitpid(f->children[i].pid, &status, WNOHANG) == f->children[i].pid)
            end_recorder(f, i, status);
    }
}

static size_t count_running(const struct record_fleet *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->index.n; i++)
        n += f->children[i].pid > 0 && !f->children[i].ended;
    return n;
}

/* ---- signals, and who waits */

/* Each ends as a single recording does; once more, and the proof is not waited for. */
static void stop_recorders(struct record_fleet *f, int number)
{
    f->signal = number;
    if (f->turns[1] >= 0)
        close(f->turns[1]); /* who waits for a turn ends */
    f->turns[1] = -1;
    for (size_t i = 0; i < f->index.n; i++)
        if (f->children[i].pid > 0 && !f->children[i].ended)
            kill(f->children[i].pid, number == SIGTERM ? SIGTERM : SIGINT);
}

static void take_signals(struct record_fleet *f)
{
    struct signalfd_siginfo info;
    while (read(f->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD)
            stop_recorders(f, (int)info.ssi_signo);
    reap_recorders(f);
}

static void tell_ready(struct record_fleet *f)
{
    size_t up = 0;
    for (size_t i = 0; i < f->index.n; i++) {
        if (f->children[i].ready >= 0)
            return;
        up += f->index.nodes[i].state != RECORDED_FAILED;
    }
    if (f->told)
        return;
    f->told = true;
    if (f->setup->ready_fd < 0)
        return;
    if (up > 0)
        dprintf(f->setup->ready_fd, "ok");
    else
        dprintf(f->setup->ready_fd, "%s: %s", f->index.nodes[0].name, f->index.nodes[0].why);
    close(f->setup->ready_fd);
}

static void show_progress(const struct record_fleet *f)
{
    char since[32];
    int64_t ticks = 0;
    if (!f->setup->env->err_tty || f->setup->detached)
        return;
    for (size_t i = 0; i < f->index.n; i++)
        ticks += f->clocks[i].ticks;
    tell_progress(
        "recording %zu of %zu nodes: %lld ticks, %s; Ctrl-C stops it", count_running(f), f->index.n,
        (long long)ticks,
        text_duration(since, sizeof since, (double)(clock_wall_us() - f->index.begin_us) / 1e6));
}

static void follow_recorders(struct record_fleet *f)
{
    struct pollfd *polled = alloc_zero(f->index.n + 1, sizeof *polled);
    while (count_running(f) > 0) {
        polled[0] = (struct pollfd){.fd = f->signals, .events = POLLIN};
        for (size_t i = 0; i < f->index.n; i++) /* poll() passes over -1 */
            polled[i + 1] = (struct pollfd){.fd = f->children[i].ready, .events = POLLIN};
        (void)poll(polled, f->index.n + 1, TURN_MS);
        for (size_t i = 0; i < f->index.n; i++)
            if (polled[i + 1].revents != 0 && f->children[i].ready >= 0)
                read_word(f, i);
        take_signals(f);
        tell_ready(f);
        show_progress(f);
        if (clock_wall_us() - f->written_us > INDEX_EVERY_S * INT64_C(1000000))
            write_index(f);
    }
    free(polled);
}

/* ---- its life */

int record_fleet_make(const char *dir, struct error *err)
{
    char path[PATH_MAX + sizeof FLEET_INDEX_FILE];
    struct stat st;
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return error_set_errno(err, errno, "%s", dir);
    snprintf(path, sizeof path, "%s/" FLEET_INDEX_FILE, dir);
    if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
        return error_set(err, ERR_USAGE,
                         "%s is not a directory, which recordings of several nodes "
                         "need",
                         dir);
    if (access(path, F_OK) == 0)
        return error_set(err, ERR_USAGE,
                         "%s has recordings; a recording is never written over another", dir);
    return 0;
}

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
            strcmp(f->index.nodes[i].file + file.len, ".btr") == 0)
            buf_printf(&file, "-%zu", node + 1);
    snprintf(of->name, sizeof of->name, "%s", name);
    snprintf(of->file, sizeof of->file, "%s.btr", buf_cstr(&file));
    snprintf(f->children[node].path, sizeof f->children[node].path, "%s/%s", f->setup->file,
             of->file);
    buf_clear(&file);
}

static int prepare_fleet(struct record_fleet *f, struct error *err)
{
    struct fleet_names names;
    int rc = fleet_names_take(&names, f->setup->node, err);
    if (rc == 0 && names.n > FLEET_INDEX_NODES)
        rc = error_set(err, ERR_LIMIT, "%zu nodes: at most %d are recorded together", names.n,
                       FLEET_INDEX_NODES);
    if (rc == 0) {
        f->index.nodes = alloc_zero(names.n, sizeof *f->index.nodes);
        f->children = alloc_zero(names.n, sizeof *f->children);
        for (f->index.n = 0; f->index.n < names.n; f->index.n++) {
            f->children[f->index.n].ready = -1;
            name_file(f, f->index.n, names.names[f->index.n]);
        }
        f->clocks = mmap(NULL, names.n * sizeof *f->clocks, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (f->clocks == MAP_FAILED)
            rc = error_set_errno(err, errno, "no memory to share with recorders");
    }
    fleet_names_clear(&names);
    return rc;
}

static int open_handles(struct record_fleet *f, struct error *err)
{
    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGINT);
    sigaddset(&taken, SIGTERM);
    sigaddset(&taken, SIGCHLD);
    if (!f->setup->detached)
        sigaddset(&taken, SIGHUP);
    sigprocmask(SIG_BLOCK, &taken, NULL);
    f->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    if (f->signals < 0 || pipe2(f->turns, O_CLOEXEC) != 0)
        return error_set_errno(err, errno, "no signals for the recorders");
    return write(f->turns[1], "0123456789", FLEET_OPENING) == FLEET_OPENING
               ? 0
               : error_set_errno(err, errno, "no turns for the recorders");
}

static int start_recorders(struct record_fleet *f, struct error *err)
{
    int rc = prepare_fleet(f, err);
    if (rc == 0)
        rc = open_handles(f, err);
    if (rc == 0)
        write_index(f);
    for (size_t i = 0; i < f->index.n && rc == 0; i++)
        rc = start_recorder(f, i, err);
    if (rc != 0)
        stop_recorders(f, SIGINT);
    return rc;
}

static int end_fleet_recording(struct record_fleet *f, const struct error *err)
{
    int code = err->code == ERR_NONE ? EXIT_DONE : exit_code_of_error(err->code);
    size_t complete = 0;
    for (size_t i = 0; i < f->index.n; i++) {
        complete += f->index.nodes[i].state == RECORDED_COMPLETE;
        if (code == EXIT_DONE && f->children[i].pid > 0)
            code = f->children[i].code;
    }
    f->index.end_us = clock_wall_us();
    if (err->code != ERR_NONE)
        tell_error(err);
    if (f->setup->env->err_tty && !f->setup->detached)
        fputs("\r\033[K", stderr);
    if (f->written_us > 0) {
        write_index(f);
        tell_line("%s has %zu of %zu complete; `beamtop report %s` compares them", f->setup->file,
                  complete, f->index.n, f->setup->file);
    }
    return code;
}

int record_fleet_run(const struct record_setup *setup)
{
    struct record_fleet f = {.setup = setup,
                             .options = *setup->options,
                             .pid = getpid(),
                             .turns = {-1, -1},
                             .signals = -1,
                             .index = {.begin_us = clock_wall_us()}};
    struct error err = {0};
    sigprocmask(SIG_BLOCK, NULL, &f.before);
    /* The recorders leave this directory. */
    if (f.options.cookie_file && realpath(f.options.cookie_file, f.cookie_file))
        f.options.cookie_file = f.cookie_file;
    if (f.options.cookies && realpath(f.options.cookies, f.cookies))
        f.options.cookies = f.cookies;
    (void)start_recorders(&f, &err);
    follow_recorders(&f);
    tell_ready(&f);
    const int code = end_fleet_recording(&f, &err);
    if (f.clocks && f.clocks != MAP_FAILED)
        munmap(f.clocks, f.index.n * sizeof *f.clocks);
    for (size_t i = 0; i < ARRAY_LEN(f.turns); i++)
        if (f.turns[i] >= 0)
            close(f.turns[i]);
    if (f.signals >= 0)
        close(f.signals);
    sigprocmask(SIG_SETMASK, &f.before, NULL);
    fleet_index_clear(&f.index);
    free(f.children);
    return code;
}

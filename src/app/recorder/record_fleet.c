/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_fleet_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/cli/tell.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"

#define TURN_MS 500
#define INDEX_EVERY_S 10
#define IDLE_S 600 /* without a recorder: nobody could stop it */
#define CLOCKS_BYTES (FLEET_INDEX_NODES * sizeof(struct record_clocks))

/* ---- signals, and who waits */

static size_t count_running(const struct record_fleet *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->index.n; i++)
        n += f->children[i].pid > 0 && !f->children[i].ended;
    return n;
}

/* Each ends as a single recording does; once more, and the proof is not waited for. */
static void stop_recorders(struct record_fleet *f, int number)
{
    f->signal = number;
    fleet_follow_stop(&f->follow);
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
    record_fleet_reap(f);
}

static void tell_ready(struct record_fleet *f)
{
    size_t up = 0;
    if (f->follows && !f->known)
        return;
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
    else if (f->index.n > 0)
        dprintf(f->setup->ready_fd, "%s: %s", f->index.nodes[0].name, f->index.nodes[0].why);
    else
        dprintf(f->setup->ready_fd, "%s", f->known_why);
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

/* Where nodes come and go it waits for others, but not for ever. */
static bool is_over(const struct record_fleet *f)
{
    bool any = false;
    if (count_running(f) > 0)
        return false;
    if (f->follow.from < 0)
        return true;
    for (size_t i = 0; i < f->index.n; i++)
        any = any || f->clocks[i].ticks > 0;
    const int64_t idle_us = clock_wall_us() - f->idle_us;
    return f->known && (!any || f->ended_by_itself || idle_us > IDLE_S * SECOND_US ||
                        (f->options.for_given && record_fleet_time_left(f) <= 0.01));
}

/* ---- turns */

static void follow_recorders(struct record_fleet *f)
{
    struct pollfd polled[FLEET_INDEX_NODES + 2];
    while (!is_over(f)) {
        const size_t n = f->index.n;
        polled[0] = (struct pollfd){.fd = f->signals, .events = POLLIN};
        polled[1] = (struct pollfd){.fd = f->follow.from, .events = POLLIN};
        for (size_t i = 0; i < n; i++) /* poll() passes over -1 */
            polled[i + 2] = (struct pollfd){.fd = f->children[i].ready, .events = POLLIN};
        (void)poll(polled, n + 2, TURN_MS);
        for (size_t i = 0; i < n; i++)
            if (polled[i + 2].revents != 0 && f->children[i].ready >= 0)
                record_fleet_read(f, i);
        if (polled[1].revents != 0)
            record_fleet_take_news(f);
        take_signals(f);
        record_fleet_retry(f);
        tell_ready(f);
        show_progress(f);
        if (clock_wall_us() - f->written_us > INDEX_EVERY_S * SECOND_US)
            record_fleet_write(f);
    }
    fleet_follow_stop(&f->follow);
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
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return error_set(err, ERR_USAGE,
                         "%s has recordings; a recording is never written over another", dir);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", path);
    close(fd);
    return 0;
}

void record_fleet_unmake(const char *dir)
{
    char path[PATH_MAX + sizeof FLEET_INDEX_FILE];
    struct stat st;
    snprintf(path, sizeof path, "%s/" FLEET_INDEX_FILE, dir);
    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        unlink(path);
}

static int prepare_fleet(struct record_fleet *f, struct error *err)
{
    struct fleet_names names;
    int rc = fleet_names_take(&names, f->setup->node, err);
    f->follows = rc == 0 && fleet_follows(&names, &f->options);
    if (rc == 0 && names.n > FLEET_INDEX_NODES)
        rc = error_set(err, ERR_LIMIT, "%zu nodes: at most %d are recorded together", names.n,
                       FLEET_INDEX_NODES);
    if (rc == 0) {
        f->index.nodes = alloc_zero(FLEET_INDEX_NODES, sizeof *f->index.nodes);
        f->children = alloc_zero(FLEET_INDEX_NODES, sizeof *f->children);
        for (size_t i = 0; i < names.n; i++)
            if (!fleet_is_meant(names.names[i]))
                (void)record_fleet_add(f, names.names[i]);
        f->clocks =
            mmap(NULL, CLOCKS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
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
        record_fleet_write(f);
    const int unused[] = {f->turns[0], f->turns[1], f->signals, f->setup->ready_fd, -1};
    if (rc == 0 && f->follows)
        rc = fleet_follow_start(&f->follow, f->setup->node, &f->options, f->setup->env, unused,
                                &f->before, err);
    for (size_t i = 0; i < f->index.n && rc == 0; i++)
        rc = record_fleet_start(f, i, err);
    if (rc != 0)
        stop_recorders(f, SIGINT);
    return rc;
}

static int end_fleet_recording(struct record_fleet *f, const struct error *err)
{
    const int none = f->signal != 0 ? 128 + f->signal : EXIT_CONNECT;
    int code = err->code != ERR_NONE ? exit_code_of_error(err->code)
               : f->index.n == 0     ? none
                                     : EXIT_DONE;
    size_t complete = 0;
    for (size_t i = 0; i < f->index.n; i++) {
        complete += f->index.nodes[i].state == RECORDED_COMPLETE;
        if (code == EXIT_DONE && f->children[i].pid > 0 && !f->children[i].has_left)
            code = f->children[i].code;
    }
    f->index.end_us = clock_wall_us();
    if (err->code != ERR_NONE)
        tell_error(err);
    if (f->setup->env->err_tty && !f->setup->detached)
        fputs("\r\033[K", stderr);
    if (f->written_us > 0) {
        record_fleet_write(f);
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
                             .follow.from = -1,
                             .index = {.begin_us = clock_wall_us()}};
    struct error err = {0};
    sigprocmask(SIG_BLOCK, NULL, &f.before);
    /* The recorders leave this directory. */
    cli_place_files(&f.options, &f.places);
    (void)start_recorders(&f, &err);
    follow_recorders(&f);
    tell_ready(&f);
    const int code = end_fleet_recording(&f, &err);
    if (f.clocks && f.clocks != MAP_FAILED)
        munmap(f.clocks, CLOCKS_BYTES);
    for (size_t i = 0; i < ARRAY_LEN(f.turns); i++)
        if (f.turns[i] >= 0)
            close(f.turns[i]);
    if (f.signals >= 0)
        close(f.signals);
    sigprocmask(SIG_SETMASK, &f.before, NULL);
    for (size_t i = 0; i < f.index.n; i++)
        cookie_wipe(&f.children[i].lent);
    if (f.written_us == 0)
        record_fleet_unmake(setup->file);
    fleet_index_clear(&f.index);
    free(f.children);
    return code;
}

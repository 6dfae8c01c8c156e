/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet_follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "app/source/runtime.h"
#include "app/way/reach.h"
#include "beamtop/base/spawn.h"
#include "fleet_internal.h"

#define FOLLOW_TURN_MS 200u

struct following {
    struct runtime rt;
    uv_timer_t timer;
    struct fleet *fleet;
    int to;
    uint64_t most_ms;         /* that the first answers may take */
    bool is_told[FLEET_MOST]; /* that it is named */
    bool is_known;
};

static void tell_news(struct following *f, enum fleet_news_kind kind, const struct member *m,
                      const char *why)
{
    struct fleet_news news = {.kind = kind};
    if (m)
        snprintf(news.name, sizeof news.name, "%s", m->name);
    if (m && kind == NEWS_NAMED)
        news.lent = m->lent;
    snprintf(news.why, sizeof news.why, "%s", why);
    if (write(f->to, &news, sizeof news) != (ssize_t)sizeof news)
        runtime_end(&f->rt, 0, NULL);
    cookie_wipe(&news.lent);
}

static void on_follow_turn(uv_timer_t *timer)
{
    struct following *f = timer->data;
    for (size_t i = 0; i < f->fleet->n; i++) {
        const struct member *m = f->fleet->members[i];
        const bool is_named = !m->left;
        if (m->resolves || is_named == f->is_told[i])
            continue;
        f->is_told[i] = is_named;
        tell_news(f, is_named ? NEWS_NAMED : NEWS_LEFT, m, is_named ? "" : m->left);
    }
    const bool is_late = uv_now(&f->rt.loop) - f->rt.started_ms > f->most_ms;
    if (f->is_known || (!is_late && !fleet_is_resolved(f->fleet)))
        return;
    struct error why = {0};
    f->is_known = true;
    fleet_why_unnamed(f->fleet, &why);
    tell_news(f, NEWS_KNOWN, NULL, why.text);
}

static void follow_nodes(const char *target, const struct cli_options *cli,
                         const struct app_env *env, int to)
{
    struct following f = {.to = to, .most_ms = (uint64_t)(cli->timeout_s * 1000) + 500};
    struct fleet_setup setup = fleet_setup_of(cli, env, NULL, &f.rt.loop);
    struct error err = {0};
    setup.interval_s = FLEET_CLUSTER_MS / 1000.0;
    runtime_init(&f.rt);
    runtime_timer(&f.rt, &f.timer, &f);
    if (fleet_open(&f.fleet, target, &setup, &err) == 0) {
        f.fleet->names_only = true;
        uv_timer_start(&f.timer, on_follow_turn, FOLLOW_TURN_MS, FOLLOW_TURN_MS);
        uv_run(&f.rt.loop, UV_RUN_DEFAULT);
    } else {
        tell_news(&f, NEWS_KNOWN, NULL, err.text);
    }
    fleet_close(f.fleet);
    runtime_close(&f.rt);
}

/* ---- its process */

/* Never returns. It sets nothing on a node, so it may end at any time. A terminal's signals are
 * those of the recording, which ends it. */
static void be_follower(const char *target, const struct cli_options *cli,
                        const struct app_env *env, const int *unused, const sigset_t *before,
                        pid_t parent, int to)
{
    for (; *unused >= 0; unused++)
        close(*unused);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent) {
        sigprocmask(SIG_SETMASK, before, NULL);
        reach_leave(env->reach);
        follow_nodes(target, cli, env, to);
    }
    _exit(0);
}

int fleet_follow_start(struct fleet_follow *out, const char *target, const struct cli_options *cli,
                       const struct app_env *env, const int *unused, const sigset_t *before,
                       struct error *err)
{
    const pid_t parent = getpid();
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return error_set_errno(err, errno, "no pipe to follow the nodes");
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        be_follower(target, cli, env, unused, before, parent, fds[1]);
    }
    const int errnum = errno;
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return error_set_errno(err, errnum, "no process to follow the nodes");
    }
    *out = (struct fleet_follow){pid, fds[0]};
    return 0;
}

bool fleet_follow_read(struct fleet_follow *f, struct fleet_news *out)
{
    ssize_t n;
    do
        n = read(f->from, out, sizeof *out); /* it is written as a whole */
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof *out)
        return true;
    close(f->from);
    f->from = -1;
    return false;
}

void fleet_follow_stop(struct fleet_follow *f)
{
    if (f->from >= 0)
        close(f->from);
    f->from = -1;
    if (f->pid <= 0)
        return;
    spawn_kill(f->pid);
    f->pid = 0;
}

bool fleet_follows(const struct fleet_names *names, const struct cli_options *cli)
{
    bool follows = cli->cluster;
    for (size_t i = 0; i < names->n; i++)
        follows = follows || fleet_name_resolves(names->names[i]);
    return follows;
}

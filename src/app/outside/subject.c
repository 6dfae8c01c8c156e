/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/job/process_stat.h"
#include "app/sample/local_target.h"
#include "beamtop/base/alloc.h"
#include "beamtop/link/aside.h"

#define EPMD_S 1.0

/* A process that has ended has no command line by which a VM is known. */
static bool is_zombie(const char *target, pid_t *pid)
{
    char line[1024], state = '?';
    const long number = strtol(target, NULL, 10);
    if (target[strspn(target, "0123456789")] != '\0' || number < 1 || number > INT32_MAX)
        return false;
    const char *behind = process_stat(number, line, sizeof line);
    if (behind && behind[0] == ' ')
        state = behind[1];
    *pid = (pid_t)number;
    return state == 'Z' || state == 'X';
}

int outside_subject_find(struct discover_vm *out, const char *target, const struct cli_options *o,
                         const struct app_env *env, struct error *err)
{
    const struct discover_options options = {0};
    struct discover_list list = {0};
    struct error ignored = {0};
    pid_t pid = 0;
    *out = (struct discover_vm){.uptime_s = -1};
    if (!is_zombie(target, &pid) && local_target_find(&pid, target, o, env, err) != 0)
        return err->code;
    out->pid = pid;
    if (discover_scan(&list, &options, &ignored) == 0)
        for (size_t i = 0; i < list.count; i++)
            if (list.vms[i].pid == pid)
                *out = list.vms[i];
    cookie_wipe(&out->cookie);
    discover_clear(&list);
    /* One that is named after its start has no name on its command line. */
    if (out->node[0] == '\0' && strchr(target, '@') && strlen(target) < sizeof out->node)
        memcpy(out->node, target, strlen(target) + 1);
    return 0;
}

/* ---- on another thread */

/* What a search needs, and has found: the thread's until it is done. */
struct search {
    char target[LIMIT_NODE_NAME_BYTES + 1];
    struct cli_options options;
    struct app_env env;
    struct discover_vm vm;
    struct error err;
};

struct subject_search {
    struct search *search;
    struct aside *aside;
    subject_found_fn *found;
    void *arg;
};

static void run_search(void *work)
{
    struct search *w = work;
    (void)outside_subject_find(&w->vm, w->target, &w->options, &w->env, &w->err);
}

static void on_searched(void *arg)
{
    const struct subject_search *s = arg;
    const struct discover_vm vm = s->search->vm;
    const struct error err = s->search->err;
    s->found(s->arg, err.code == ERR_NONE ? &vm : NULL, &err);
}

static struct search *search_new(const char *target, const struct cli_options *o,
                                 const struct app_env *env)
{
    struct search *w = alloc_zero(1, sizeof *w);
    snprintf(w->target, sizeof w->target, "%s", target);
    w->options.epmd_port = o->epmd_port;
    w->options.timeout_s = o->timeout_s < EPMD_S ? o->timeout_s : EPMD_S;
    w->env.epmd_port = env->epmd_port;
    return w;
}

int subject_search_start(struct subject_search **out, uv_loop_t *loop, const char *target,
                         const struct cli_options *o, const struct app_env *env,
                         subject_found_fn *found, void *arg, struct error *err)
{
    static const struct aside_kind kind = {.run = run_search, .done = on_searched, .release = free};
    struct subject_search *s = alloc_zero(1, sizeof *s);
    *out = NULL;
    *s = (struct subject_search){.search = search_new(target, o, env), .found = found, .arg = arg};
    int rc = aside_open(&s->aside, loop, &kind, s->search, s);
    if (rc != 0) {
        free(s);
        return error_set(err, ERR_SYSTEM, "no VM can be looked for: %s", uv_strerror(rc));
    }
    rc = aside_run(s->aside);
    if (rc != 0) {
        subject_search_stop(s);
        return error_set_errno(err, rc, "no VM can be looked for");
    }
    *out = s;
    return 0;
}

void subject_search_stop(struct subject_search *s)
{
    if (!s)
        return;
    aside_close(s->aside);
    free(s);
}

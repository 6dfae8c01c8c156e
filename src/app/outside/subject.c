/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "subject.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/job/process_stat.h"
#include "app/sample/local_target.h"
#include "beamtop/base/alloc.h"

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

/* Shared by the loop and the thread; the last of the two frees it. */
struct shared {
    pthread_mutex_t lock;
    unsigned holders;
    struct subject_search *owner; /* NULL: it is stopped */
    char target[LIMIT_NODE_NAME_BYTES + 1];
    struct cli_options options; /* what a search needs, as is the next */
    struct app_env env;
    struct discover_vm vm; /* the thread's until it has sent */
    struct error err;
};

struct subject_search {
    struct shared *shared;
    uv_async_t async;
    subject_found_fn *found;
    void *arg;
};

static void release(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    const unsigned left = --s->holders;
    pthread_mutex_unlock(&s->lock);
    if (left > 0)
        return;
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void *run_search(void *arg)
{
    struct shared *s = arg;
    (void)outside_subject_find(&s->vm, s->target, &s->options, &s->env, &s->err);
    pthread_mutex_lock(&s->lock);
    if (s->owner)
        uv_async_send(&s->owner->async);
    pthread_mutex_unlock(&s->lock);
    release(s);
    return NULL;
}

static void on_searched(uv_async_t *async)
{
    const struct subject_search *s = async->data;
    const struct discover_vm vm = s->shared->vm;
    const struct error err = s->shared->err;
    s->found(s->arg, err.code == ERR_NONE ? &vm : NULL, &err);
}

static void on_search_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static struct shared *shared_new(const char *target, const struct cli_options *o,
                                 const struct app_env *env)
{
    struct shared *s = alloc_zero(1, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    s->holders = 2;
    snprintf(s->target, sizeof s->target, "%s", target);
    s->options.epmd_port = o->epmd_port;
    s->options.timeout_s = o->timeout_s < EPMD_S ? o->timeout_s : EPMD_S;
    s->env.epmd_port = env->epmd_port;
    return s;
}

static int thread_start(struct shared *s)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    const int rc = pthread_create(&thread, &attr, run_search, s);
    pthread_attr_destroy(&attr);
    return rc;
}

int subject_search_start(struct subject_search **out, uv_loop_t *loop, const char *target,
                         const struct cli_options *o, const struct app_env *env,
                         subject_found_fn *found, void *arg, struct error *err)
{
    struct subject_search *s = alloc_zero(1, sizeof *s);
    *out = NULL;
    *s = (struct subject_search){.found = found, .arg = arg};
    int rc = uv_async_init(loop, &s->async, on_searched);
    if (rc != 0) {
        free(s);
        return error_set(err, ERR_SYSTEM, "no VM can be looked for: %s", uv_strerror(rc));
    }
    s->async.data = s;
    s->shared = shared_new(target, o, env);
    s->shared->owner = s;
    rc = thread_start(s->shared);
    if (rc != 0) {
        s->shared->holders--;
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
    pthread_mutex_lock(&s->shared->lock);
    s->shared->owner = NULL;
    pthread_mutex_unlock(&s->shared->lock);
    release(s->shared);
    uv_close((uv_handle_t *)&s->async, on_search_closed);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "local_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/job/process_stat.h"
#include "app/source/target.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "beamtop/link/aside.h"

#define EPMD_S 1.0

/* A process that has ended has no command line by which a VM is known. */
static bool is_zombie(long number)
{
    char line[1024];
    const char *behind = process_stat(number, line, sizeof line);
    return behind && (strncmp(behind, " Z", 2) == 0 || strncmp(behind, " X", 2) == 0);
}

/* Of one whose arguments were not read in time. */
static uid_t owner_of(long number)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%ld", number);
    return stat(path, &st) == 0 ? st.st_uid : (uid_t)-1;
}

static int find_number(struct discover_vm *out, const struct local_wanted *wanted,
                       struct error *err)
{
    struct discover_list list = {0};
    struct error ignored = {0};
    const long number = strtol(wanted->target, NULL, 10);
    out->pid = (pid_t)number;
    if (!is_zombie(number) && target_find_process(&out->pid, wanted->target, err) != 0)
        return err->code;
    const struct discover_options options = {.only = out->pid};
    (void)discover_scan(&list, &options, &ignored);
    if (list.count > 0)
        *out = list.vms[0];
    else
        out->uid = owner_of(number);
    discover_clear(&list);
    return 0;
}

int local_search_find(struct discover_vm *out, const struct local_wanted *wanted, struct error *err)
{
    struct discover_list list = {0};
    const struct discover_vm *vm = NULL;
    *out = (struct discover_vm){.uptime_s = -1};
    int rc = 0;
    if (text_is_number(wanted->target))
        rc = find_number(out, wanted, err);
    else
        rc = local_target_choose(&vm, &list, wanted, err);
    if (rc == 0 && vm)
        *out = *vm;
    cookie_wipe(&out->cookie);
    discover_clear(&list);
    return rc;
}

/* ---- on another thread */

/* What a search needs, and has found: the thread's until it is done. */
struct search {
    char target[LIMIT_NODE_NAME_BYTES + 1];
    struct local_wanted wanted;
    struct cli_options options;
    struct app_env env;
    struct discover_vm vm;
    struct error err;
};

struct local_search {
    struct search *search;
    struct aside *aside;
    local_found_fn *found;
    void *arg;
};

static void run_search(void *work)
{
    struct search *w = work;
    (void)local_search_find(&w->vm, &w->wanted, &w->err);
}

static void on_searched(void *arg)
{
    const struct local_search *s = arg;
    const struct discover_vm vm = s->search->vm;
    const struct error err = s->search->err;
    s->found(s->arg, err.code == ERR_NONE ? &vm : NULL, &err);
}

static struct search *search_new(const struct local_wanted *wanted)
{
    const double timeout_s = wanted->cli->timeout_s;
    struct search *w = alloc_zero(1, sizeof *w);
    snprintf(w->target, sizeof w->target, "%s", wanted->target);
    w->options.epmd_port = wanted->cli->epmd_port;
    w->options.timeout_s = timeout_s < EPMD_S ? timeout_s : EPMD_S;
    w->env.epmd_port = wanted->env->epmd_port;
    w->wanted = (struct local_wanted){w->target, wanted->os_pid, &w->options, &w->env};
    return w;
}

int local_search_start(struct local_search **out, uv_loop_t *loop,
                       const struct local_wanted *wanted, local_found_fn *found, void *arg,
                       struct error *err)
{
    static const struct aside_kind kind = {.run = run_search, .done = on_searched, .release = free};
    struct local_search *s = alloc_zero(1, sizeof *s);
    *out = NULL;
    *s = (struct local_search){.search = search_new(wanted), .found = found, .arg = arg};
    int rc = aside_open(&s->aside, loop, &kind, s->search, s);
    if (rc != 0) {
        free(s);
        return error_set(err, ERR_SYSTEM, "no VM can be looked for: %s", uv_strerror(rc));
    }
    rc = aside_run(s->aside);
    if (rc != 0) {
        local_search_stop(s);
        return error_set_errno(err, rc, "no VM can be looked for");
    }
    *out = s;
    return 0;
}

void local_search_stop(struct local_search *s)
{
    if (!s)
        return;
    aside_close(s->aside);
    free(s);
}

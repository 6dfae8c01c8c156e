/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "local_target.h"

#include <string.h>

#include "app/source/nodes.h"
#include "app/source/target.h"
#include "app/way/container.h"
#include "app/way/reach.h"
#include "app/way/way_methods.h"
#include "beamtop/base/text.h"
#include "beamtop/local/rights.h"

static int fail_no_vm(const char *name, const struct discover_list *list, struct error *err)
{
    const char *at = strchr(name, '@');
    char left[160];
    if (nodes_left_out(left, sizeof left, list))
        return error_set(err, ERR_TIMEOUT, "no node %.300s was found on this host. %s", name, left);
    if (at && !target_host_is_here(at + 1))
        return error_set(err, ERR_USAGE,
                         "%.300s is not a node of this host: its VM is looked at from outside, so "
                         "run beamtop on its own host, or `sample --remote`",
                         name);
    if (list->hidden)
        return error_set(err, ERR_REFUSED,
                         "this user runs no node %.300s on this host: " RIGHTS_HIDDEN, name);
    return error_set(err, ERR_NOT_FOUND,
                     "there is no node %.300s on this host: `beamtop nodes` lists the VMs", name);
}

int local_target_choose(const struct discover_vm **vm, struct discover_list *list,
                        const struct local_wanted *wanted, struct error *err)
{
    const char *name = wanted->target;
    struct target_choice c;
    int rc = target_check_name(name, err);
    if (rc != 0)
        return rc;
    target_look_for(list, name, wanted->cli, wanted->env);
    target_choose(&c, list, name, wanted->os_pid);
    *vm = c.vm;
    if (!c.vm)
        return fail_no_vm(name, list, err);
    if (!c.sure)
        return target_several(list, name, err);
    return c.vm->pid != 0
               ? 0
               : error_set(err, ERR_NOT_FOUND,
                           "only epmd knows %.300s: its process is not visible here. Give its OS "
                           "pid, or run beamtop as root",
                           name);
}

static int find_node(pid_t *pid, const struct local_wanted *wanted, struct error *err)
{
    const struct discover_vm *vm = NULL;
    struct discover_list list = {0};
    const int rc = local_target_choose(&vm, &list, wanted, err);
    if (rc == 0)
        *pid = vm->pid;
    discover_clear(&list);
    return rc;
}

static int find_in_container(pid_t *pid, const char *text, const struct cli_options *o,
                             const struct app_env *env, struct error *err)
{
    struct discover_vm vm;
    struct way_url url;
    int rc = way_url_parse(&url, text, err);
    if (rc == 0 && !way_engine(url.scheme))
        rc = error_set(err, ERR_USAGE, "%.300s is not of this host", text);
    if (rc == 0)
        rc = container_find_vm(&vm, &url, reach_container_answer(env->reach), cli_timeout_ms(o),
                               err);
    if (rc == 0)
        *pid = vm.pid;
    return rc;
}

int local_target_find(pid_t *pid, const char *argument, const struct cli_options *o,
                      const struct app_env *env, struct error *err)
{
    if (text_is_number(argument))
        return target_find_process(pid, argument, err);
    if (way_is_url(argument))
        return find_in_container(pid, argument, o, env, err);
    const struct local_wanted wanted = {.target = argument, .cli = o, .env = env};
    return find_node(pid, &wanted, err);
}

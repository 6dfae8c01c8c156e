/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "subject.h"

#include <stdlib.h>
#include <string.h>

#include "app/job/process_stat.h"
#include "app/sample/local_target.h"

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

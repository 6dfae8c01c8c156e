/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding a node to open: the only one of this host, or a picker. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "app/source/nodes.h"
#include "tui_internal.h"

static void refuse(char *out, size_t size, const struct discover_vm *vm)
{
    if (!*vm->node)
        snprintf(out, size,
                 "OS process %lld (%s) runs without distribution: start it with -sname or -name, "
                 "or sample it as it is: beamtop sample %lld",
                 (long long)vm->pid, vm->command, (long long)vm->pid);
}

static void show_rows(struct tui *t)
{
    struct screen_node *rows = alloc_zero(t->vms.count + 1, sizeof *rows);
    char(*notes)[160] = alloc_zero(t->vms.count + 1, sizeof *notes);
    char(*refusals)[400] = alloc_zero(t->vms.count + 1, sizeof *refusals);
    size_t n = 0;
    for (size_t i = 0; i < t->vms.count; i++) {
        const struct discover_vm *vm = &t->vms.vms[i];
        nodes_note(notes[n], sizeof notes[n], vm);
        refuse(refusals[n], sizeof refusals[n], vm);
        rows[n] = (struct screen_node){
            .name = *vm->node ? vm->node : vm->command,
            .otp = vm->otp,
            .elixir = "",
            .cookie = nodes_cookie_word(vm),
            .note = notes[n],
            .refusal = refusals[n],
            .os_pid = vm->pid,
            .uptime_s = vm->uptime_s < 0 ? NAN : vm->uptime_s,
            .memory_bytes = vm->rss_bytes ? (double)vm->rss_bytes : NAN,
        };
        n++;
    }
    screen_choose_node(t->screen, rows, n);
    free(refusals);
    free(notes);
    free(rows);
}

static int look(struct tui *t, struct error *err)
{
    discover_clear(&t->vms);
    return nodes_find(&t->vms, t->cli, t->env, NODES_EPMD_MS, err);
}

void tui_pick(struct tui *t)
{
    struct error err = {0};
    if (look(t, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
    else
        show_rows(t);
}

int tui_find_node(struct tui *t, struct error *err)
{
    const struct discover_vm *only = NULL;
    size_t nodes = 0;
    int rc = look(t, err);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < t->vms.count; i++) {
        if (!*t->vms.vms[i].node)
            continue;
        only = &t->vms.vms[i];
        nodes++;
    }
    if (t->vms.count == 0)
        return error_set(
            err, ERR_NOT_FOUND,
            "no BEAM VM was found on this host; give a node's name: beamtop NAME@HOST");
    if (nodes == 1)
        return tui_connect(t, only->node, only->pid, err);
    show_rows(t);
    return 0;
}

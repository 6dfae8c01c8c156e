/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/link/discover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "link/proc.h"

#define FILE_BYTES 65536u /* of mountinfo: a layer of an image has some 60 in it */

/* An engine names the container's cgroup by its id, and files that it mounts over the image's. */
static bool names_container(const struct proc *p, const char *id)
{
    static const char *const files[] = {"cgroup", "mountinfo"};
    char *text = alloc_zero(FILE_BYTES, 1);
    bool names = false;
    for (size_t i = 0; i < ARRAY_LEN(files) && !names; i++)
        names = proc_read(p->dir, files[i], text, FILE_BYTES) > 0 && strstr(text, id);
    free(text);
    return names;
}

/* The mount namespace of a container's first process. All is read of one process, also when its pid
 * is another's by now. */
static int read_place(char *out, size_t size, const struct discover_options *o, pid_t first,
                      const char *id, struct error *err)
{
    struct proc p;
    ssize_t n = -1;
    const bool is_it = proc_open_pid(&p, o->proc_root, first) == 0 && names_container(&p, id);
    if (is_it)
        n = readlinkat(p.dir, "ns/mnt", out, size - 1);
    const int why = errno;
    proc_close(&p);
    if (!is_it || (n < 0 && (why == ESRCH || why == ENOENT)))
        return error_set(err, ERR_NOT_FOUND,
                         "its process %d is not one of this host: its engine runs on another one, "
                         "or beamtop in a container itself",
                         (int)first);
    if (n < 0)
        return error_set(err, ERR_REFUSED,
                         "its OS process %d is another user's: run beamtop as root (sudo beamtop)",
                         (int)first);
    out[n] = '\0';
    return 0;
}

static bool is_there(const struct discover_vm *vm, const struct discover_options *o,
                     const char *place)
{
    struct proc p;
    const bool is = proc_open_pid(&p, o->proc_root, vm->pid) == 0 &&
                    proc_started(&p) == vm->started && proc_link_is(&p, "ns/mnt", place);
    proc_close(&p);
    return is;
}

int discover_keep_container(struct discover_list *list, const struct discover_options *o,
                            pid_t first, const char *id, struct error *err)
{
    char place[64] = "";
    size_t kept = 0;
    const int rc = read_place(place, sizeof place, o, first, id, err);
    for (size_t i = 0; i < list->count; i++) {
        struct discover_vm *vm = &list->vms[i];
        if (rc == 0 && is_there(vm, o, place))
            list->vms[kept++] = *vm;
        else
            cookie_wipe(&vm->cookie);
    }
    for (size_t i = kept; i < list->count; i++) /* copies of those that have moved */
        cookie_wipe(&list->vms[i].cookie);
    list->count = kept;
    if (rc == 0 && kept == 0)
        return error_set(err, ERR_NOT_FOUND, "none of its processes is known as a BEAM VM");
    return rc;
}

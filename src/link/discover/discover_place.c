/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "discover_place.h"

/* Who makes a user namespace chooses among thousands of uids in it: all these are one owner. */
static bool same_owner(const struct discover_vm *a, const struct discover_vm *b)
{
    if (a->other_users || b->other_users)
        return a->other_users && b->other_users;
    return (a->pid == 0) == (b->pid == 0) && a->uid == b->uid;
}

static size_t owner_share(const struct discover_list *list, const struct discover_vm *vm)
{
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++)
        n += same_owner(&list->vms[i], vm);
    return n;
}

static bool is_lesser(const struct discover_vm *a, const struct discover_vm *b)
{
    if (a->in_epmd != b->in_epmd)
        return b->in_epmd;
    return a->node[0] == '\0' && b->node[0] != '\0';
}

/* A VM that can make room, of the owner with most, and how many that owner has. */
static struct discover_vm *least_of_most(struct discover_list *list, size_t *most)
{
    struct discover_vm *found = NULL;
    *most = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct discover_vm *vm = &list->vms[i];
        if (found && same_owner(found, vm)) {
            found = is_lesser(vm, found) ? vm : found;
            continue;
        }
        const size_t n = owner_share(list, vm);
        if (n > *most) {
            *most = n;
            found = vm;
        }
    }
    return found;
}

struct discover_vm *discover_place(struct discover_list *list, const struct discover_vm *vm)
{
    size_t most = 0;
    struct discover_vm *place = NULL;
    if (list->count < LIMIT_DISCOVER_VMS) {
        place = &list->vms[list->count++];
    } else {
        list->truncated = true;
        const size_t own = owner_share(list, vm);
        if (2 * own >= list->count)
            return NULL;
        place = least_of_most(list, &most);
        if (most <= own + 1)
            return NULL;
        cookie_wipe(&place->cookie);
    }
    *place = *vm;
    return place;
}

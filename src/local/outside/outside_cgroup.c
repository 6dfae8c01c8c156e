/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What limits the memory of a process, and whether its cgroup is frozen: cgroups(7), of version 2
 * and of version 1. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "outside_file.h"

#define CGROUP_PATH 4096

struct level_files {
    const char *below, *limit, *used;
};

static const struct level_files files_of[] = {
    {"", "memory.max", "memory.current"},
    {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
};

/* A number in a file of a cgroup; -1: none. */
static int64_t read_level(const char *tree, const char *below, const char *path, const char *file)
{
    char name[CGROUP_PATH + 512], text[64];
    snprintf(name, sizeof name, "%.255s%s%s/%s", tree, below, strcmp(path, "/") ? path : "", file);
    return outside_file(AT_FDCWD, name, text, sizeof text) ? outside_parse_limit(text) : -1;
}

/* The tightest limit counts: that with the least room. */
static void take_level(struct outside *o, const char *tree, const struct level_files *files,
                       const char *path)
{
    const int64_t limit = read_level(tree, files->below, path, files->limit);
    const int64_t used = limit < 0 ? -1 : read_level(tree, files->below, path, files->used);
    const bool tighter = o->limit_bytes < 0 || limit - used < o->limit_bytes - o->limit_used_bytes;
    if (limit >= 0 && used >= 0 && tighter) {
        o->limit_bytes = limit;
        o->limit_used_bytes = used;
    }
}

/* One level up; false: it was the top. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash == path && path[1] == '\0')
        return false;
    slash[slash == path] = '\0';
    return true;
}

struct freezer_files {
    const char *below;
    const char *state, *frozen;     /* of the level and those above, and what it says then */
    const char *own, *thaw, *value; /* whether the level itself is; what is written where to thaw */
};

static const struct freezer_files freezers[] = {
    {"", "cgroup.events", "frozen 1", "cgroup.freeze", "cgroup.freeze", "0"},
    {"/freezer", "freezer.state", "FR", "freezer.self_freezing", "freezer.state", "THAWED"},
}; /* FR: FROZEN or FREEZING */

/* A name is chosen by whoever may make cgroups, and the command is meant to be copied. */
static bool is_plain(const char *text)
{
    return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                             "/._-:@")] == '\0';
}

/* The level that was frozen, this one or one above it; nothing where its command has no room. */
static void find_thaw(struct outside *o, const char *tree, const struct freezer_files *f,
                      char *path)
{
    char thaw[CGROUP_PATH + 512];
    for (int i = 0; i < LIMIT_CGROUP_LEVELS; i++) {
        if (read_level(tree, f->below, path, f->own) == 1) {
            const int n = snprintf(thaw, sizeof thaw, "echo %s > %.255s%s%s/%s", f->value, tree,
                                   f->below, path, f->thaw);
            if (n < (int)sizeof o->thaw && is_plain(path) && is_plain(tree))
                snprintf(o->thaw, sizeof o->thaw, "%.255s", thaw);
            return;
        }
        if (!go_up(path))
            return;
    }
}

static void read_freezer(struct outside *o, const char *list, const char *tree)
{
    char path[CGROUP_PATH], name[CGROUP_PATH + 512], text[256];
    bool is_first = false;
    o->frozen = false;
    o->thaw[0] = '\0';
    if (!outside_parse_cgroup(list, "freezer", path, sizeof path, &is_first))
        return;
    const struct freezer_files *f = &freezers[is_first];
    snprintf(name, sizeof name, "%.255s%s%s/%s", tree, f->below, path, f->state);
    o->frozen = outside_file(AT_FDCWD, name, text, sizeof text) && strstr(text, f->frozen);
    if (o->frozen)
        find_thaw(o, tree, f, path);
}

void outside_read_cgroup(struct outside *o, int dir, const char *tree)
{
    char text[CGROUP_PATH * 2], path[CGROUP_PATH];
    bool is_first = false;
    o->limit_bytes = o->limit_used_bytes = -1;
    (void)outside_file(dir, "cgroup", text, sizeof text);
    read_freezer(o, text, tree);
    if (!outside_parse_cgroup(text, "memory", path, sizeof path, &is_first))
        return;
    for (int i = 0; i < LIMIT_CGROUP_LEVELS; i++) {
        take_level(o, tree, &files_of[is_first], path);
        if (!go_up(path))
            return;
    }
}

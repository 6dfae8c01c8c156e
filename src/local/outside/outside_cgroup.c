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

static bool is_frozen(const char *tree, const char *path)
{
    char name[CGROUP_PATH + 512], text[256];
    snprintf(name, sizeof name, "%.255s%s/cgroup.events", tree, path);
    if (outside_file(AT_FDCWD, name, text, sizeof text) && outside_parse_key(text, "frozen ") == 1)
        return true;
    snprintf(name, sizeof name, "%.255s/freezer%s/freezer.state", tree, path);
    return outside_file(AT_FDCWD, name, text, sizeof text) && strncmp(text, "FROZEN", 6) == 0;
}

void outside_read_cgroup(struct outside *o, int dir, const char *tree)
{
    char text[CGROUP_PATH * 2], path[CGROUP_PATH];
    bool is_first = false;
    o->limit_bytes = o->limit_used_bytes = -1;
    o->frozen = false;
    if (!outside_file(dir, "cgroup", text, sizeof text) ||
        !outside_parse_cgroup(text, path, sizeof path, &is_first))
        return;
    o->frozen = is_frozen(tree, path);
    for (int i = 0; i < LIMIT_CGROUP_LEVELS; i++) {
        take_level(o, tree, &files_of[is_first], path);
        char *slash = strrchr(path, '/');
        if (slash == path && path[1] == '\0')
            return;
        slash[slash == path] = '\0';
    }
}

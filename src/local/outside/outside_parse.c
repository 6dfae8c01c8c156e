/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of /proc and of cgroups, some of which the owner of the process chooses. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/local/outside.h"

#define LIMIT_NONE (INT64_C(1) << 60) /* version 1 writes a number near 2^63 for "none" */

bool outside_parse_stat(struct outside_stat *out, const char *text)
{
    /* Fields 3 to 22 of proc(5); the second is a name in brackets. */
    static const char form[] = ") %c %" SCNd64 " %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64
                               " %" SCNu64 " %*d %*d %*d %*d %*d %*d %" SCNu64;
    const char *behind = strrchr(text, ')');
    *out = (struct outside_stat){.state = '?', .parent = -1};
    return behind && sscanf(behind, form, &out->state, &out->parent, &out->user_ticks,
                            &out->kernel_ticks, &out->start_ticks) == 5;
}

int64_t outside_parse_key(const char *text, const char *key)
{
    const size_t len = strlen(key);
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, key, len) != 0)
            continue;
        char *end = NULL;
        const long long n = strtoll(at + len, &end, 10);
        return end != at + len && n >= 0 ? n : -1;
    }
    return -1;
}

int64_t outside_parse_limit(const char *text)
{
    char *end = NULL;
    errno = 0;
    const long long n = strtoll(text, &end, 10);
    return end != text && errno == 0 && n >= 0 && n < LIMIT_NONE ? n : -1;
}

static bool has_controller(const char *list, size_t len, const char *name)
{
    for (const char *at = list; at < list + len; at += strcspn(at, ",:") + 1)
        if (strncmp(at, name, strlen(name)) == 0 && strchr(",:", at[strlen(name)]))
            return true;
    return false;
}

/* No part of it is "..", as a cgroup above that of beamtop's is called. */
static bool stays_inside(const char *path, size_t len)
{
    for (size_t i = 0; i + 2 < len; i++)
        if (memcmp(path + i, "/..", 3) == 0 && (i + 3 == len || path[i + 3] == '/'))
            return false;
    return len > 0 && path[0] == '/';
}

bool outside_parse_cgroup(const char *text, const char *controller, char *path, size_t size,
                          bool *is_first)
{
    bool found = false;
    *is_first = false;
    for (const char *at = text; *at && !*is_first; at += strcspn(at, "\n"), at += *at == '\n') {
        const size_t line = strcspn(at, "\n");
        const char *list = memchr(at, ':', line);
        const char *from = list ? memchr(list + 1, ':', line - (size_t)(list + 1 - at)) : NULL;
        if (!from)
            continue;
        const size_t len = line - (size_t)(from + 1 - at);
        const bool has = has_controller(list + 1, (size_t)(from - list - 1), controller);
        if ((!has && from != list + 1) || len >= size || !stays_inside(from + 1, len))
            continue;
        memcpy(path, from + 1, len);
        path[len] = '\0';
        found = true;
        *is_first = has;
    }
    return found;
}

/* The VM may have another root directory: the link begins with that, then. */
static bool has_path(const char *link, size_t len, const char *path)
{
    const size_t n = strlen(path);
    return n <= len && memcmp(link + len - n, path, n) == 0;
}

bool outside_is_dump(const char *link, const char *dump, const char *cwd)
{
    static const char usual[] = "/erl_crash.dump", gone[] = " (deleted)";
    char path[8192];
    size_t len = strlen(link);
    if (text_ends_with(link, gone))
        len -= sizeof gone - 1;
    if (dump[0] == '/')
        return has_path(link, len, dump);
    if (dump[0] == '\0' || cwd[0] != '/')
        return has_path(link, len, usual);
    snprintf(path, sizeof path, "%.4000s/%.4000s", cwd, dump + (strncmp(dump, "./", 2) ? 0 : 2));
    return has_path(link, len, path);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "beamtop/base/limits.h"

bool map_parse(struct map *out, const char *line)
{
    char rights[5];
    int path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &out->start,
               &out->end, rights, &out->offset, &out->device_major, &out->device_minor, &out->inode,
               &path) != 7 ||
        path == 0 || strlen(rights) != 4 || out->start >= out->end)
        return false;
    out->readable = rights[0] == 'r';
    out->writable = rights[1] == 'w';
    out->executable = rights[2] == 'x';
    out->is_private = rights[3] == 'p';
    snprintf(out->path, sizeof out->path, "%s", line + path);
    return true;
}

int maps_open(struct maps *out, pid_t pid, struct error *err)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    *out = (struct maps){fopen(path, "re"), LIMIT_MAPS};
    if (out->file)
        return 0;
    int why = errno;
    (void)error_set_errno(err, why, "%s", path);
    errno = why;
    return ERR_SYSTEM;
}

/* The file has newlines in paths as \012, so a line is one mapping. */
bool maps_next(struct maps *m, struct map *out)
{
    char line[sizeof out->path + 128];
    for (; m->left > 0 && fgets(line, sizeof line, m->file); m->left--) {
        line[strcspn(line, "\n")] = '\0';
        if (map_parse(out, line)) {
            m->left--;
            return true;
        }
    }
    return false;
}

void maps_close(struct maps *m)
{
    if (m->file)
        fclose(m->file);
    m->file = NULL;
}

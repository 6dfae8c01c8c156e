/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "local/image/image_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/alloc.h"

/* The numbers of a line are some 73 bytes; the path may be of any length. */
enum { NUMBERS = 128 };

static bool parse_map_line(struct slice line, struct image_map *out)
{
    char text[NUMBERS], permissions[5];
    int used = 0;
    size_t len = line.len < sizeof text - 1 ? line.len : sizeof text - 1;
    memcpy(text, line.s, len);
    text[len] = '\0';
    if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 "%n", &out->start,
               &out->end, permissions, &out->offset, &out->major, &out->minor, &out->inode,
               &used) != 7 ||
        out->end <= out->start)
        return false;
    out->executable = strchr(permissions, 'x') != NULL;
    size_t at = (size_t)used;
    while (at < line.len && line.s[at] == ' ')
        at++;
    out->path = (struct slice){line.s + at, line.len - at};
    return true;
}

bool image_map_next(struct slice *text, struct image_map *out)
{
    while (text->len > 0) {
        const char *newline = memchr(text->s, '\n', text->len);
        struct slice line = {text->s, newline ? (size_t)(newline - text->s) : text->len};
        size_t used = line.len + (newline != NULL);
        text->s += used;
        text->len -= used;
        if (parse_map_line(line, out))
            return true;
    }
    return false;
}

static bool is_octal(const char *s)
{
    return s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
           s[3] >= '0' && s[3] <= '7';
}

char *image_map_path(const struct image_map *m)
{
    static const char deleted[] = " (deleted)";
    size_t cut = sizeof deleted - 1, len = m->path.len;
    if (len > cut && memcmp(m->path.s + len - cut, deleted, cut) == 0)
        len -= cut;
    char *path = alloc_strndup(m->path.s, len), *to = path;
    for (const char *from = path; *from;) {
        if (is_octal(from)) {
            *to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return path;
}

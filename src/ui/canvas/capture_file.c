/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures on disk: their names, and writing them. */
#include "beamtop/ui/capture.h"

#include <string.h>
#include <time.h>

#include "ui/files/file.h"

int capture_write(const char *path, const struct buf *content, bool replace, bool is_private,
                  struct error *err)
{
    if (content->overflow)
        return error_set(err, ERR_LIMIT, "%s would be larger than a capture may be", path);
    return file_write(path, content, replace, is_private, err);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-_.@", c);
}

void capture_name(struct buf *out, const char *dir, const char *what, int64_t wall_us,
                  enum capture_format format)
{
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm tm;
    char when[32] = "";
    if (localtime_r(&seconds, &tm))
        strftime(when, sizeof when, "%Y%m%d-%H%M%S", &tm);
    buf_printf(out, "%s/beamtop-", dir[0] != '\0' ? dir : ".");
    for (size_t i = 0; what[i] && i < 100; i++)
        buf_put_u8(out, (uint8_t)(is_plain(what[i]) ? what[i] : '_'));
    buf_printf(out, "-%s.%s", when, capture_suffix(format));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures on disk: their names, and writing them. */
#include "beamtop/ui/capture.h"

#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "ui/files/file.h"

int capture_write(const char *path, const struct buf *content, bool replace, bool is_private,
                  struct error *err)
{
    if (content->overflow)
        return error_set(err, ERR_LIMIT, "%s would be larger than a capture may be", path);
    return file_write(path, content, replace, is_private, err);
}

void capture_name(struct buf *out, const char *dir, const char *what, int64_t wall_us,
                  enum capture_format format)
{
    char when[CLOCK_TEXT_BYTES];
    buf_printf(out, "%s/beamtop-", dir[0] != '\0' ? dir : ".");
    text_put_file_name(out, what);
    buf_printf(out, "-%s.%s", clock_stamp_text(when, wall_us), capture_suffix(format));
}

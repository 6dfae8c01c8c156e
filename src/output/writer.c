/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/output/writer.h"

#include <errno.h>

static int write_file(void *ctx, const char *bytes, size_t len)
{
    FILE *file = ctx;
    errno = 0;
    if ((len == 0 || fwrite(bytes, 1, len, file) == len) && fflush(file) == 0)
        return 0;
    return errno != 0 ? errno : EIO;
}

struct sink_writer sink_writer_of(FILE *file)
{
    return (struct sink_writer){.write = write_file, .ctx = file};
}

int sink_output_put(struct sink_output *o, const char *bytes, size_t len, struct error *err)
{
    if (o->write_errno == 0 && len > 0)
        o->write_errno = o->writer.write(o->writer.ctx, bytes, len);
    if (o->write_errno != 0)
        return error_set_errno(err, o->write_errno, "write error");
    return 0;
}

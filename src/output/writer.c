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

void sink_pieces_flush(struct sink_pieces *out, size_t from_bytes)
{
    if (out->rc != 0)
        buf_reset(&out->buf);
    if (out->buf.len == 0 || out->buf.len < from_bytes)
        return;
    out->rc = sink_output_put(out->output, (const char *)out->buf.data, out->buf.len, out->err);
    buf_reset(&out->buf);
}

int sink_pieces_end(struct sink_pieces *out)
{
    sink_pieces_flush(out, 0);
    buf_clear(&out->buf);
    return out->rc;
}

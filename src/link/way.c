/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/link/way.h"

#include <assert.h>
#include <unistd.h>

void way_init(struct conn_way *way, const struct conn_way_class *class)
{
    *way = (struct conn_way){.class = class, .refs = 1};
}

struct conn_way *way_take(struct conn_way *way)
{
    if (way)
        way->refs++;
    return way;
}

void way_drop(struct conn_way *way)
{
    if (!way)
        return;
    assert(way->refs > 0);
    if (--way->refs == 0)
        way->class->release(way);
}

void way_end(struct conn_way *way, struct way_stream *stream)
{
    if (stream->fd >= 0)
        close(stream->fd);
    stream->fd = -1;
    if (way && way->class->end && stream->id != 0)
        way->class->end(way, stream->id);
    stream->id = 0;
}

bool way_explain(struct conn_way *way, const struct way_stream *stream, enum conn_failure *why,
                 struct error *err)
{
    return way && way->class->explain && stream->id != 0 &&
           way->class->explain(way, stream->id, why, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "frame.h"

#include "beamtop/base/limits.h"
#include "beamtop/etf/check.h"

#define LENGTH_BYTES 4u
#define PASS_THROUGH 112
#define KEEP_BYTES (256u * 1024) /* memory kept between frames */

void frame_reader_init(struct frame_reader *r, size_t max_bytes)
{
    *r = (struct frame_reader){0};
    buf_init(&r->in, 0);
    r->max_bytes = max_bytes;
}

void frame_reader_clear(struct frame_reader *r)
{
    buf_clear(&r->in);
    r->used = 0;
}

/* Forgets what is done with; a large frame's memory goes back once it is. */
static void compact_reader(struct frame_reader *r)
{
    if (r->used == r->in.len)
        if (r->in.cap > KEEP_BYTES)
            buf_clear(&r->in);
        else
            buf_reset(&r->in);
    else if (r->used > 0)
        buf_drop_front(&r->in, r->used);
    r->used = 0;
}

void frame_feed(struct frame_reader *r, const uint8_t *bytes, size_t len)
{
    if (r->err.code != ERR_NONE)
        return;
    compact_reader(r);
    if (r->skip_left > 0 && r->in.len == 0) {
        size_t n = len < r->skip_left ? len : (size_t)r->skip_left;
        r->skip_left -= n;
        bytes += n;
        len -= n;
    }
    if (len > 0)
        buf_put(&r->in, bytes, len);
}

static uint32_t read_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static enum frame_event break_reader(struct frame_reader *r)
{
    error_context(&r->err, "the node sent a frame that cannot be read");
    frame_reader_clear(r);
    return FRAME_BROKEN;
}

static enum frame_event read_body(struct frame_reader *r, const uint8_t *body, size_t len,
                                  struct frame *out)
{
    size_t used = 0;
    if (body[0] != PASS_THROUGH) {
        error_set(&r->err, ERR_FORMAT, "it starts with %u in place of %d", body[0], PASS_THROUGH);
        return break_reader(r);
    }
    body++;
    len--;
    if (etf_check(body, len, &used, &r->err) != 0)
        return break_reader(r);
    out->control = (struct slice){(const char *)body, used};
    body += used;
    len -= used;
    if (len == 0)
        return FRAME_MESSAGE;
    if (etf_check(body, len, &used, &r->err) != 0)
        return break_reader(r);
    if (used != len) {
        error_set(&r->err, ERR_FORMAT, "%zu bytes follow its payload", len - used);
        return break_reader(r);
    }
    out->payload = (struct slice){(const char *)body, used};
    return FRAME_MESSAGE;
}

/* Starts to skip a frame of `bytes` beyond its length field. */
static enum frame_event start_skip(struct frame_reader *r, uint32_t bytes)
{
    if (bytes > LIMIT_FRAME_SKIP_BYTES) {
        error_set(&r->err, ERR_LIMIT, "it says it is %u bytes long", bytes);
        return break_reader(r);
    }
    size_t here = r->in.len - r->used - LENGTH_BYTES;
    size_t n = here < bytes ? here : bytes;
    r->skip_bytes = bytes;
    r->skip_left = bytes - n;
    r->used += LENGTH_BYTES + n;
    return FRAME_SKIPPED;
}

enum frame_event frame_next(struct frame_reader *r, struct frame *out)
{
    *out = (struct frame){0};
    if (r->err.code != ERR_NONE)
        return FRAME_BROKEN;
    if (r->skip_bytes > 0) {
        if (r->skip_left > 0)
            return FRAME_MORE;
        out->bytes = r->skip_bytes + LENGTH_BYTES;
        r->skip_bytes = 0;
        return FRAME_SKIPPED;
    }
    size_t have = r->in.len - r->used;
    if (have < LENGTH_BYTES)
        return FRAME_MORE;
    const uint8_t *at = r->in.data + r->used;
    uint32_t len = read_u32(at);
    if (len == 0) {
        out->bytes = LENGTH_BYTES;
        r->used += LENGTH_BYTES;
        return FRAME_TICK;
    }
    if (len > r->max_bytes) {
        enum frame_event e = start_skip(r, len);
        return e == FRAME_SKIPPED ? frame_next(r, out) : e;
    }
    if (have - LENGTH_BYTES < len)
        return FRAME_MORE;
    out->bytes = (uint64_t)len + LENGTH_BYTES;
    r->used += LENGTH_BYTES + len;
    return read_body(r, at + LENGTH_BYTES, len, out);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "frame.h"

#include "beamtop/base/limits.h"
#include "beamtop/etf/check.h"

#define LENGTH_BYTES 4u
#define PASS_THROUGH 112
#define KEEP_BYTES 8192u /* memory kept between frames: of hundreds of nodes each keeps it */

void frame_reader_init(struct frame_reader *r, size_t max_bytes)
{
    *r = (struct frame_reader){0};
    buf_init(&r->in, 0);
    buf_init(&r->control, max_bytes);
    buf_init(&r->payload, max_bytes);
    r->max_bytes = max_bytes;
}

void frame_reader_expand(struct frame_reader *r, struct atom_cache *atoms)
{
    r->atoms = atoms;
}

void frame_reader_clear(struct frame_reader *r)
{
    buf_clear(&r->in);
    buf_clear(&r->control);
    buf_clear(&r->payload);
    r->used = 0;
}

/* Forgets what is done with; a large frame's memory goes back once it is. */
static void compact_reader(struct frame_reader *r)
{
    if (r->used == r->in.len)
        buf_recycle(&r->in, KEEP_BYTES);
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

/* What stands before the terms of a message of `len` bytes, of which `there` are there. *used 0:
 * more of them are needed. */
static int take_header(struct frame_reader *r, const uint8_t *body, size_t there, size_t len,
                       size_t *used)
{
    if (!r->atoms) {
        *used = 1;
        if (body[0] == PASS_THROUGH)
            return 0;
        return error_set(&r->err, ERR_FORMAT, "it starts with %u in place of %d", body[0],
                         PASS_THROUGH);
    }
    int rc = atom_cache_take(r->atoms, body, there, used, &r->err);
    if (rc == 0 && *used == 0 && there == len)
        return error_set(&r->err, ERR_FORMAT, "its header is truncated");
    return rc;
}

static int take_term(struct frame_reader *r, const uint8_t *body, size_t len, size_t *used,
                     struct buf *plain, struct slice *out)
{
    int rc = r->atoms ? atom_cache_expand(r->atoms, body, len, used, plain, &r->err)
                      : etf_check(body, len, used, &r->err);
    if (r->atoms)
        *out = (struct slice){(const char *)plain->data, plain->len};
    else
        *out = (struct slice){(const char *)body, *used};
    return rc;
}

static int read_body(struct frame_reader *r, const uint8_t *body, size_t len, struct frame *out)
{
    size_t at = 0, used = 0;
    buf_recycle(&r->control, KEEP_BYTES);
    buf_recycle(&r->payload, KEEP_BYTES);
    int rc = take_header(r, body, len, len, &at);
    if (rc == 0)
        rc = take_term(r, body + at, len - at, &used, &r->control, &out->control);
    at += used;
    if (rc != 0 || at == len)
        return rc;
    rc = take_term(r, body + at, len - at, &used, &r->payload, &out->payload);
    if (rc == 0 && used != len - at)
        return error_set(&r->err, ERR_FORMAT, "%zu bytes follow its payload", len - at - used);
    return rc;
}

static enum frame_event read_message(struct frame_reader *r, const uint8_t *body, size_t len,
                                     struct frame *out)
{
    if (read_body(r, body, len, out) == 0)
        return FRAME_MESSAGE;
    *out = (struct frame){.bytes = out->bytes};
    if (!r->control.overflow && !r->payload.overflow)
        return break_reader(r);
    error_clear(&r->err);
    return FRAME_SKIPPED;
}

/* Starts to skip a frame of `bytes` beyond its length field. Its header is of use to later ones. */
static enum frame_event start_skip(struct frame_reader *r, uint32_t bytes)
{
    if (bytes > LIMIT_FRAME_SKIP_BYTES) {
        error_set(&r->err, ERR_LIMIT, "it says it is %u bytes long", bytes);
        return break_reader(r);
    }
    size_t here = r->in.len - r->used - LENGTH_BYTES, header = 0;
    size_t n = here < bytes ? here : bytes;
    if (r->atoms && take_header(r, r->in.data + r->used + LENGTH_BYTES, n, bytes, &header) != 0)
        return break_reader(r);
    if (r->atoms && header == 0)
        return FRAME_MORE;
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
    return read_message(r, at + LENGTH_BYTES, len, out);
}

bool frame_is_open(const struct frame_reader *r)
{
    return r->skip_left > 0 || r->in.len > r->used;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/local/records.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

enum { HEAD_BYTES = 5, TEXT_BYTES = 4096 };

/* ---- writing: type, length of what follows, fields */

static void put_u64(struct buf *out, uint64_t v)
{
    buf_put_u32be(out, (uint32_t)(v >> 32));
    buf_put_u32be(out, (uint32_t)v);
}

static void put_record_text(struct buf *out, const char *s, size_t len)
{
    size_t kept = len < TEXT_BYTES ? len : TEXT_BYTES;
    buf_put_u16be(out, (uint16_t)kept);
    if (kept > 0)
        buf_put(out, s, kept);
}

/* A record whole or not at all: `out` may be at its cap. */
static void put_record(struct buf *out, enum record_type type, struct buf *body)
{
    if (out->max == 0 || out->len + HEAD_BYTES + body->len <= out->max) {
        buf_put_u8(out, (uint8_t)type);
        buf_put_u32be(out, (uint32_t)body->len);
        buf_put(out, body->data, body->len);
    } else {
        out->overflow = true;
    }
    buf_clear(body);
}

static struct buf body_new(void)
{
    struct buf body;
    buf_init(&body, LIMIT_SAMPLER_RECORD_BYTES);
    return body;
}

void record_put_begin(struct buf *out, const struct record_begin *b)
{
    struct buf body = body_new();
    buf_put_u32be(&body, b->functions);
    buf_put_u8(&body, (uint8_t)(b->by_symbol | b->frame_pointers << 1 | b->symbols << 2 |
                                b->real_time << 3 | b->pinned << 4 | b->stripped << 5));
    buf_put_u32be(&body, b->cpus);
    buf_put_u32be(&body, b->threads);
    buf_put_u32be(&body, b->stop_offset);
    put_u64(&body, b->setup_us);
    put_record(out, RECORD_BEGIN, &body);
}

void record_put_thread(struct buf *out, const struct thread *t)
{
    struct buf body = body_new();
    buf_put_u32be(&body, (uint32_t)t->tid);
    buf_put_u8(&body, (uint8_t)t->kind);
    buf_put_u32be(&body, t->number);
    put_record_text(&body, t->name, strlen(t->name));
    put_record(out, RECORD_THREAD, &body);
}

void record_put_frame(struct buf *out, const struct sample_frame *f)
{
    struct buf body = body_new();
    buf_put_u8(&body, (uint8_t)f->kind);
    put_record_text(&body, f->name.s, f->name.len);
    put_record_text(&body, f->object.s, f->object.len);
    put_record_text(&body, f->file.s, f->file.len);
    buf_put_u32be(&body, f->line);
    put_record(out, RECORD_FRAME, &body);
}

void record_put_sample(struct buf *out, const struct sample *s)
{
    struct buf body = body_new();
    assert(s->n_frames <= LIMIT_SAMPLE_FRAMES);
    put_u64(&body, s->mono_ns);
    buf_put_u32be(&body, (uint32_t)s->tid);
    buf_put_u32be(&body, (uint32_t)s->cpu);
    buf_put_u32be(&body, s->thread);
    buf_put_u8(&body, (uint8_t)s->in);
    buf_put_u8(&body, (uint8_t)s->flags);
    put_u64(&body, s->pid_number);
    put_u64(&body, s->pid_serial);
    put_u64(&body, s->call);
    buf_put_u8(&body, s->addresses != NULL);
    buf_put_u16be(&body, (uint16_t)s->n_frames);
    for (size_t i = 0; i < s->n_frames; i++)
        buf_put_u32be(&body, s->frames[i]);
    for (size_t i = 0; s->addresses && i < s->n_frames; i++)
        put_u64(&body, s->addresses[i]);
    put_record(out, RECORD_SAMPLE, &body);
}

void record_put_note(struct buf *out, const char *text)
{
    struct buf body = body_new();
    put_record_text(&body, text, strlen(text));
    put_record(out, RECORD_NOTE, &body);
}

void record_put_failed(struct buf *out, const struct error *err)
{
    struct buf body = body_new();
    buf_put_u8(&body, (uint8_t)-err->code);
    put_record_text(&body, err->text, strlen(err->text));
    put_record(out, RECORD_FAILED, &body);
}

void record_put_end(struct buf *out, const struct record_end *e)
{
    struct buf body = body_new();
    put_u64(&body, e->lost);
    put_u64(&body, e->cpu_us);
    put_u64(&body, e->wall_us);
    put_u64(&body, e->target_us);
    put_u64(&body, e->kernel_us);
    put_record(out, RECORD_END, &body);
}

/* ---- reading */

struct records {
    struct buf in;
    size_t used; /* of in: the record that was given last */
    uint32_t frames, threads;
    uint64_t unread; /* samples that were dropped */
    bool begun, ended, bad;
    uint32_t ids[LIMIT_SAMPLE_FRAMES];
    uint64_t addresses[LIMIT_SAMPLE_FRAMES];
};

struct records *records_new(void)
{
    struct records *r = alloc_zero(1, sizeof *r);
    buf_init(&r->in, 0);
    return r;
}

void records_free(struct records *r)
{
    if (r)
        buf_clear(&r->in);
    free(r);
}

void records_feed(struct records *r, const void *bytes, size_t len)
{
    if (r->bad)
        return;
    buf_drop_front(&r->in, r->used);
    r->used = 0;
    buf_put(&r->in, bytes, len);
}

/* What is left of a record; bad once a field was missing. */
struct body {
    const uint8_t *at;
    size_t left;
    bool bad;
};

static uint64_t get_number(struct body *b, size_t bytes)
{
    uint64_t v = 0;
    if (b->left < bytes) {
        b->bad = true;
        b->left = 0;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        v = v << 8 | b->at[i];
    b->at += bytes;
    b->left -= bytes;
    return v;
}

static uint32_t get_u32(struct body *b)
{
    return (uint32_t)get_number(b, 4);
}

static struct slice get_text(struct body *b)
{
    size_t len = (size_t)get_number(b, 2);
    struct slice s = {(const char *)b->at, len};
    if (b->left < len || len > TEXT_BYTES) {
        b->bad = true;
        return (struct slice){"", 0};
    }
    b->at += len;
    b->left -= len;
    return s;
}

/* A number of an enum; others are bad. */
static unsigned get_below(struct body *b, unsigned below)
{
    uint64_t v = get_number(b, 1);
    if (v >= below)
        b->bad = true;
    return v < below ? (unsigned)v : 0;
}

static void get_begin(struct records *r, struct body *b, struct record_begin *out)
{
    out->functions = get_u32(b);
    unsigned flags = (unsigned)get_number(b, 1);
    out->by_symbol = flags & 1;
    out->frame_pointers = flags & 2;
    out->symbols = flags & 4;
    out->real_time = flags & 8;
    out->pinned = flags & 16;
    out->stripped = flags & 32;
    out->cpus = get_u32(b);
    out->threads = get_u32(b);
    out->stop_offset = get_u32(b);
    out->setup_us = get_number(b, 8);
    b->bad |= r->begun;
    r->begun = true;
}

static void get_thread(struct records *r, struct body *b, struct thread *out)
{
    out->tid = (pid_t)get_number(b, 4);
    out->kind = (enum thread_kind)get_below(b, THREAD_KINDS);
    out->number = get_u32(b);
    struct slice name = get_text(b);
    if (name.len >= sizeof out->name || r->threads >= LIMIT_THREADS || out->tid <= 0)
        b->bad = true;
    else
        memcpy(out->name, name.s, name.len);
    r->threads++;
}

static void get_frame(struct records *r, struct body *b, struct sample_frame *out)
{
    out->kind = (enum frame_kind)get_below(b, FRAME_KINDS);
    out->name = get_text(b);
    out->object = get_text(b);
    out->file = get_text(b);
    out->line = get_u32(b);
    b->bad |= out->name.len == 0 || r->frames >= LIMIT_SAMPLER_FRAMES;
    r->frames++;
}

static bool is_native(enum frame_kind kind)
{
    return kind == FRAME_RUNTIME || kind == FRAME_NIF || kind == FRAME_LIBC;
}

void record_put_renamed(struct buf *out, const struct buf *records, record_name_fn *fn, void *arg)
{
    struct body all = {.at = records->data, .left = records->len};
    while (all.left >= HEAD_BYTES) {
        const uint8_t *begin = all.at;
        const enum record_type type = (enum record_type)get_number(&all, 1);
        const size_t len = get_u32(&all);
        struct body body = {.at = all.at, .left = len};
        struct records any = {0};
        struct sample_frame frame = {0};
        if (type == RECORD_FRAME)
            get_frame(&any, &body, &frame);
        if (type == RECORD_FRAME && is_native(frame.kind)) {
            frame.name = fn(arg, frame.name);
            record_put_frame(out, &frame);
        } else {
            buf_put(out, begin, HEAD_BYTES + len);
        }
        all.at += len;
        all.left -= len;
    }
}

static void get_sample(struct records *r, struct body *b, struct sample *out)
{
    out->mono_ns = get_number(b, 8);
    out->tid = (int32_t)get_u32(b);
    out->cpu = (int32_t)get_u32(b);
    out->thread = get_u32(b);
    out->in = (enum sample_class)get_below(b, SAMPLE_CLASSES);
    out->flags = (unsigned)get_number(b, 1);
    out->pid_number = get_number(b, 8);
    out->pid_serial = get_number(b, 8);
    out->call = get_number(b, 8);
    bool addresses = get_number(b, 1) != 0;
    out->n_frames = (size_t)get_number(b, 2);
    if (out->n_frames > LIMIT_SAMPLE_FRAMES || out->thread >= r->threads) {
        b->bad = true;
        return;
    }
    for (size_t i = 0; i < out->n_frames; i++)
        b->bad |= (r->ids[i] = get_u32(b)) >= r->frames;
    for (size_t i = 0; addresses && i < out->n_frames; i++)
        r->addresses[i] = get_number(b, 8);
    out->frames = r->ids;
    out->addresses = addresses ? r->addresses : NULL;
}

static void get_record(struct records *r, struct body *b, struct record *out)
{
    b->bad |= r->ended || (!r->begun && out->type != RECORD_BEGIN && out->type != RECORD_FAILED);
    switch (out->type) {
    case RECORD_BEGIN:
        get_begin(r, b, &out->u.begin);
        break;
    case RECORD_THREAD:
        get_thread(r, b, &out->u.thread);
        break;
    case RECORD_FRAME:
        get_frame(r, b, &out->u.frame);
        break;
    case RECORD_SAMPLE:
        get_sample(r, b, &out->u.sample);
        break;
    case RECORD_NOTE:
        out->u.note = get_text(b);
        break;
    case RECORD_FAILED: {
        unsigned code = get_below(b, (unsigned)-ERR_CANCELLED + 1);
        struct slice text = get_text(b);
        b->bad |= code == 0;
        if (code != 0)
            error_set(&out->u.failed, (enum err) - (int)code, "%.*s", (int)text.len, text.s);
        r->ended = true;
        break;
    }
    case RECORD_END:
        out->u.end.lost = get_number(b, 8) + r->unread;
        out->u.end.cpu_us = get_number(b, 8);
        out->u.end.wall_us = get_number(b, 8);
        out->u.end.target_us = get_number(b, 8);
        out->u.end.kernel_us = get_number(b, 8);
        r->ended = true;
        break;
    }
    b->bad |= b->left != 0;
}

/* A sample between its begin and its end can be left out: it names what others have announced. */
static bool may_drop(const struct records *r, enum record_type type)
{
    return type == RECORD_SAMPLE && r->begun && !r->ended;
}

/* As records_next(); 0 with used: a sample was dropped. */
static int take_record(struct records *r, struct record *out)
{
    struct body head = {.at = r->in.data, .left = r->in.len};
    if (head.left < HEAD_BYTES)
        return 0;
    unsigned type = (unsigned)get_number(&head, 1);
    size_t len = get_u32(&head);
    r->bad = type < RECORD_BEGIN || type > RECORD_END || len > LIMIT_SAMPLER_RECORD_BYTES;
    if (r->bad || head.left < len)
        return 0;
    struct body body = {.at = head.at, .left = len};
    *out = (struct record){.type = (enum record_type)type};
    get_record(r, &body, out);
    r->used = HEAD_BYTES + len;
    if (body.bad && may_drop(r, out->type))
        r->unread++;
    else
        r->bad = body.bad;
    return body.bad ? 0 : 1;
}

int records_next(struct records *r, struct record *out, struct error *err)
{
    int rc = 0;
    do {
        buf_drop_front(&r->in, r->used);
        r->used = 0;
        rc = r->bad ? 0 : take_record(r, out);
    } while (rc == 0 && r->used > 0 && !r->bad);
    return r->bad ? error_set(err, ERR_FORMAT, "the sampler's answer is not understood") : rc;
}

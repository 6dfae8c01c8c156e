/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "atom_cache.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/etf/check.h"
#include "beamtop/etf/term.h"

#define SLOTS 2048u
#define SEGMENT_SLOTS 256u
#define REFS 255u       /* of one message */
#define HEADER_TAG 68   /* after the version byte */
#define HEADER_FIXED 3u /* version, tag, number of refs */
#define ATOM_BYTES (4u * 255u)
#define FRAME_FIXED 5u     /* length, pass-through */
#define SHORTEST_PACKED 4u /* an atom of two characters: a shorter one is longer as a ref */
#define KEEP_BYTES 8192u   /* memory kept between messages: of hundreds of nodes each keeps it */

/* A half byte of the header's flags, the lower half of a byte first. */
enum { FLAG_SEGMENT = 7, FLAG_NEW = 8, FLAG_LONG = 1 /* in the one behind those of the refs */ };

struct slot {
    uint8_t *atom; /* as a plain term, without version byte */
    uint16_t len;
    int16_t ref; /* outbound: in the message that is being packed, or -1 */
};

struct ref {
    uint16_t slot;
    bool fresh; /* outbound: its text goes with it */
};

struct atom_cache {
    uint16_t places[SLOTS]; /* one more than that in `slots`; 0: no atom yet */
    struct slot *slots;     /* those that have an atom */
    size_t n_slots;
    struct ref refs[REFS]; /* of the message at hand */
    size_t n_refs;
    struct buf body;  /* outbound: the packed terms */
    struct buf frame; /* outbound: with header */
};

/* A term that is being written again. */
struct rewrite {
    struct atom_cache *cache;
    const uint8_t *bytes;
    size_t copied;
    struct buf *out;
};

struct atom_cache *atom_cache_new(void)
{
    struct atom_cache *c = alloc_zero(1, sizeof *c);
    buf_init(&c->body, 0);
    buf_init(&c->frame, 0);
    return c;
}

void atom_cache_free(struct atom_cache *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_slots; i++)
        free(c->slots[i].atom);
    free(c->slots);
    buf_clear(&c->body);
    buf_clear(&c->frame);
    free(c);
}

/* Writes a number of four bytes over those at `at`. */
static void set_u32be(struct buf *b, size_t at, size_t v)
{
    for (size_t i = 0; i < 4; i++)
        b->data[at + i] = (uint8_t)(v >> (8 * (3 - i)));
}

static bool has_slot(const struct atom_cache *c, size_t number)
{
    return c->places[number] > 0;
}

static struct slot *slot_at(const struct atom_cache *c, size_t number)
{
    return &c->slots[c->places[number] - 1];
}

static void set_slot(struct atom_cache *c, size_t number, const uint8_t *atom, size_t len)
{
    if (!has_slot(c, number)) {
        c->slots = alloc_grow(c->slots, c->n_slots, sizeof *c->slots);
        c->slots[c->n_slots++] = (struct slot){.ref = -1};
        c->places[number] = (uint16_t)c->n_slots;
    }
    struct slot *slot = slot_at(c, number);
    if (len > slot->len)
        slot->atom = alloc_resize(slot->atom, len, 1);
    memcpy(slot->atom, atom, len);
    slot->len = (uint16_t)len;
}

/* ---- the header that came */

static unsigned half_byte(const uint8_t *flags, size_t i)
{
    return (unsigned)flags[i / 2] >> (i % 2 * 4) & 15u;
}

/* Keeps a new atom as the term that it is. */
static int keep_atom(struct atom_cache *c, size_t number, const uint8_t *text, size_t len,
                     struct error *err)
{
    uint8_t atom[3 + ATOM_BYTES];
    const size_t head = len > UINT8_MAX ? 3 : 2;
    size_t used = 0;
    atom[0] = head == 3 ? ETF_ATOM_UTF8 : ETF_SMALL_ATOM_UTF8;
    atom[1] = (uint8_t)(head == 3 ? len >> 8 : len);
    if (head == 3)
        atom[2] = (uint8_t)len;
    memcpy(atom + head, text, len);
    if (etf_check_bare(atom, head + len, &used, err) != 0) {
        error_context(err, "an atom of its header");
        return err->code;
    }
    set_slot(c, number, atom, head + len);
    return 0;
}

/* A new atom's length and text. *used as in atom_cache_take. */
static int take_text(struct atom_cache *c, size_t number, const uint8_t *bytes, size_t there,
                     bool wide, size_t *used, struct error *err)
{
    const size_t width = wide ? 2 : 1;
    *used = 0;
    if (there < width)
        return 0;
    const size_t len = wide ? (size_t)bytes[0] << 8 | bytes[1] : bytes[0];
    if (len > ATOM_BYTES)
        return error_set(err, ERR_FORMAT, "an atom of %zu bytes in its header", len);
    if (there < width + len)
        return 0;
    *used = width + len;
    return keep_atom(c, number, bytes + width, len, err);
}

static int take_refs(struct atom_cache *c, const uint8_t *bytes, size_t len, size_t *used,
                     struct error *err)
{
    const size_t n = bytes[HEADER_FIXED - 1];
    const uint8_t *flags = bytes + HEADER_FIXED;
    size_t at = HEADER_FIXED + (n > 0 ? n / 2 + 1 : 0);
    if (len < at)
        return 0;
    for (c->n_refs = 0; c->n_refs < n; c->n_refs++) {
        const unsigned flag = half_byte(flags, c->n_refs);
        if (at == len)
            return 0;
        const size_t i = (flag & FLAG_SEGMENT) * SEGMENT_SLOTS + bytes[at++];
        if (flag & FLAG_NEW) {
            size_t text = 0;
            int rc =
                take_text(c, i, bytes + at, len - at, half_byte(flags, n) & FLAG_LONG, &text, err);
            if (rc != 0 || text == 0)
                return rc;
            at += text;
        } else if (!has_slot(c, i)) {
            return error_set(err, ERR_FORMAT, "its header names atom %zu, which never came", i);
        }
        c->refs[c->n_refs].slot = (uint16_t)i;
    }
    *used = at;
    return 0;
}

int atom_cache_take(struct atom_cache *c, const uint8_t *bytes, size_t len, size_t *used,
                    struct error *err)
{
    *used = 0;
    if (len > 0 && bytes[0] != ETF_VERSION)
        return error_set(err, ERR_FORMAT, "it starts with %u in place of %d", bytes[0],
                         ETF_VERSION);
    if (len > 1 && bytes[1] != HEADER_TAG)
        return error_set(err, ERR_FORMAT, "its header has tag %u in place of %d", bytes[1],
                         HEADER_TAG);
    return len < HEADER_FIXED ? 0 : take_refs(c, bytes, len, used, err);
}

/* ---- terms */

static void copy_until(struct rewrite *r, size_t at)
{
    buf_put(r->out, r->bytes + r->copied, at - r->copied);
    r->copied = at;
}

static size_t note_fun(void *arg, size_t at)
{
    const struct rewrite *r = arg;
    return r->out->len + (at - r->copied);
}

/* The fun has another size now. */
static void patch_fun(void *arg, size_t mark, size_t end)
{
    struct rewrite *r = arg;
    copy_until(r, end);
    if (!r->out->overflow)
        set_u32be(r->out, mark, r->out->len - mark);
}

static int expand_atom(void *arg, size_t at, size_t len, struct error *err)
{
    struct rewrite *r = arg;
    const struct atom_cache *c = r->cache;
    if (r->bytes[at] == ETF_ATOM_CACHE_REF) {
        const size_t i = r->bytes[at + 1];
        if (i >= c->n_refs)
            return error_set(err, ERR_FORMAT,
                             "malformed term at byte %zu: atom %zu of a header with %zu", at, i,
                             c->n_refs);
        copy_until(r, at);
        const struct slot *slot = slot_at(c, c->refs[i].slot);
        buf_put(r->out, slot->atom, slot->len);
        r->copied = at + len;
    }
    return r->out->overflow ? error_set(err, ERR_LIMIT, "a term above %zu bytes", r->out->max) : 0;
}

int atom_cache_expand(struct atom_cache *c, const uint8_t *bytes, size_t len, size_t *used,
                      struct buf *out, struct error *err)
{
    struct rewrite r = {.cache = c, .bytes = bytes, .out = out};
    const struct etf_atoms atoms = {&r, true, expand_atom, note_fun, patch_fun};
    buf_put_u8(out, ETF_VERSION);
    int rc = etf_check_atoms(bytes, len, &atoms, used, err);
    if (rc != 0)
        return rc;
    copy_until(&r, *used);
    return out->overflow ? error_set(err, ERR_LIMIT, "a term above %zu bytes", out->max) : 0;
}

/* ---- packing */

/* FNV-1a */
static size_t number_of(const uint8_t *atom, size_t len)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ atom[i]) * 16777619u;
    return (hash ^ hash >> 16) % SLOTS;
}

/* The atom's number in this message, or -1: it goes as it is. */
static int number_atom(struct atom_cache *c, const uint8_t *atom, size_t len)
{
    if (atom[0] != ETF_SMALL_ATOM_UTF8 || len < SHORTEST_PACKED)
        return -1;
    const size_t number = number_of(atom, len);
    const struct slot *found = has_slot(c, number) ? slot_at(c, number) : NULL;
    const bool same = found && found->len == len && memcmp(found->atom, atom, len) == 0;
    if (found && found->ref >= 0)
        return same ? found->ref : -1;
    if (c->n_refs == REFS)
        return -1;
    if (!same)
        set_slot(c, number, atom, len);
    struct slot *slot = slot_at(c, number);
    slot->ref = (int16_t)c->n_refs;
    c->refs[c->n_refs++] = (struct ref){(uint16_t)number, !same};
    return slot->ref;
}

static int pack_atom(void *arg, size_t at, size_t len, struct error *err)
{
    struct rewrite *r = arg;
    const int ref = number_atom(r->cache, r->bytes + at, len);
    (void)err;
    if (ref >= 0) {
        copy_until(r, at);
        buf_put_u8(r->out, ETF_ATOM_CACHE_REF);
        buf_put_u8(r->out, (uint8_t)ref);
        r->copied = at + len;
    }
    return 0;
}

/* Appends a term to the body; `bytes` has its version byte. Returns its bytes. */
static size_t pack_term(struct atom_cache *c, const uint8_t *bytes, size_t len)
{
    struct rewrite r = {.cache = c, .bytes = bytes + 1, .out = &c->body};
    const struct etf_atoms atoms = {&r, false, pack_atom, note_fun, patch_fun};
    const size_t start = c->body.len;
    struct error err = {0};
    size_t used = 0;
    if (etf_check_atoms(r.bytes, len - 1, &atoms, &used, &err) != 0) {
        c->body.len = start; /* deeper than what we read: it goes as it is */
        r.copied = 0;
        used = len - 1;
    }
    copy_until(&r, used);
    return 1 + used;
}

static void put_ref(const struct atom_cache *c, size_t i, struct buf *out)
{
    const struct ref *ref = &c->refs[i];
    const struct slot *slot = slot_at(c, ref->slot);
    buf_put_u8(out, (uint8_t)(ref->slot % SEGMENT_SLOTS));
    if (ref->fresh)
        buf_put(out, slot->atom + 1, slot->len - 1u); /* its length and text */
}

static void put_header(const struct atom_cache *c, struct buf *out)
{
    uint8_t flags[REFS / 2 + 1] = {0};
    buf_put_u8(out, ETF_VERSION);
    buf_put_u8(out, HEADER_TAG);
    buf_put_u8(out, (uint8_t)c->n_refs);
    for (size_t i = 0; i < c->n_refs; i++) {
        const unsigned flag =
            c->refs[i].slot / SEGMENT_SLOTS | (c->refs[i].fresh ? (unsigned)FLAG_NEW : 0);
        flags[i / 2] |= (uint8_t)(flag << (i % 2 * 4));
    }
    if (c->n_refs > 0)
        buf_put(out, flags, c->n_refs / 2 + 1);
    for (size_t i = 0; i < c->n_refs; i++)
        put_ref(c, i, out);
}

/* Forgets the message. */
static void end_message(struct atom_cache *c)
{
    for (size_t i = 0; i < c->n_refs; i++)
        slot_at(c, c->refs[i].slot)->ref = -1;
    c->n_refs = 0;
}

const struct buf *atom_cache_pack(struct atom_cache *c, const struct buf *frame)
{
    size_t at = FRAME_FIXED;
    if (frame->len < FRAME_FIXED) /* a tick */
        return frame;
    buf_recycle(&c->body, KEEP_BYTES);
    buf_recycle(&c->frame, KEEP_BYTES);
    at += pack_term(c, frame->data + at, frame->len - at);
    if (at < frame->len)
        pack_term(c, frame->data + at, frame->len - at);
    buf_put_u32be(&c->frame, 0);
    put_header(c, &c->frame);
    buf_put(&c->frame, c->body.data, c->body.len);
    set_u32be(&c->frame, 0, c->frame.len - 4);
    end_message(c);
    return &c->frame;
}

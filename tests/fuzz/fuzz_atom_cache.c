/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of a connection with an atom cache: in pieces or at once they give the same, and each
 * message of them is the same again when it is packed for a second connection. */
#include <string.h>

#include "beamtop/etf/check.h"
#include "fuzz.h"
#include "link/atom_cache.h"
#include "link/control.h"
#include "link/frame.h"

#define MAX_BYTES 4096u
#define PIECE_BYTES 7u
#define HEADER_BYTES (3u + 128u + 255u * (3u + 4u * 255u)) /* the longest */

struct tally {
    uint64_t count[FRAME_BROKEN + 1];
    uint64_t bytes; /* of all frames, so that their borders are compared as well */
    uint64_t sum;   /* of what was read */
};

struct repeater {
    struct atom_cache *out, *in;
    struct frame_reader reader;
};

static void count_bytes(struct tally *t, struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        t->sum = t->sum * 31 + (uint8_t)s.s[i];
}

static void require_term(struct slice s)
{
    struct error err = {0};
    size_t used = 0;
    FUZZ_REQUIRE(s.len <= MAX_BYTES);
    FUZZ_REQUIRE(etf_check((const uint8_t *)s.s, s.len, &used, &err) == 0 && used == s.len);
}

static void repeat_message(struct repeater *r, const struct frame *f)
{
    struct buf plain;
    struct frame again;
    buf_init(&plain, 0);
    buf_put_u32be(&plain, (uint32_t)(1 + f->control.len + f->payload.len));
    buf_put_u8(&plain, 112);
    buf_put(&plain, f->control.s, f->control.len);
    buf_put(&plain, f->payload.s, f->payload.len);
    const struct buf *packed = atom_cache_pack(r->out, &plain);
    frame_feed(&r->reader, packed->data, packed->len);
    FUZZ_REQUIRE(frame_next(&r->reader, &again) == FRAME_MESSAGE);
    FUZZ_REQUIRE(slice_equal(again.control, f->control));
    FUZZ_REQUIRE(slice_equal(again.payload, f->payload));
    buf_clear(&plain);
}

static void take_message(struct repeater *r, const struct frame *f)
{
    struct control m;
    struct error err = {0};
    require_term(f->control);
    if (f->payload.len > 0)
        require_term(f->payload);
    (void)control_decode(&m, (const uint8_t *)f->control.s, f->control.len, &err);
    repeat_message(r, f);
}

static void read_all(struct repeater *repeater, struct frame_reader *r, struct tally *t)
{
    struct frame f;
    enum frame_event e;
    while ((e = frame_next(r, &f)) != FRAME_MORE) {
        t->bytes += f.bytes;
        t->count[e]++;
        count_bytes(t, f.control);
        count_bytes(t, f.payload);
        if (e == FRAME_MESSAGE)
            take_message(repeater, &f);
        if (e == FRAME_BROKEN) {
            t->count[e] = 1;
            return;
        }
    }
}

static struct tally run(const uint8_t *data, size_t size, size_t piece)
{
    struct tally t = {0};
    struct frame_reader r;
    struct atom_cache *in = atom_cache_new();
    struct repeater repeater = {.out = atom_cache_new(), .in = atom_cache_new()};
    frame_reader_init(&r, MAX_BYTES);
    frame_reader_expand(&r, in);
    frame_reader_init(&repeater.reader, 2 * MAX_BYTES + HEADER_BYTES);
    frame_reader_expand(&repeater.reader, repeater.in);
    for (size_t at = 0; at < size; at += piece) {
        frame_feed(&r, data + at, size - at < piece ? size - at : piece);
        read_all(&repeater, &r, &t);
        FUZZ_REQUIRE(r.in.len <= MAX_BYTES + HEADER_BYTES + 4 + piece);
    }
    frame_reader_clear(&r);
    frame_reader_clear(&repeater.reader);
    atom_cache_free(in);
    atom_cache_free(repeater.in);
    atom_cache_free(repeater.out);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tally whole = run(data, size, size + 1);
    struct tally pieces = run(data, size, PIECE_BYTES);
    FUZZ_REQUIRE(memcmp(&whole, &pieces, sizeof whole) == 0);
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of a connection: in pieces or at once they give the same events, and nothing is overrun. */
#include <string.h>

#include "link/control.h"
#include "link/frame.h"
#include "beamtop/etf/check.h"
#include "fuzz.h"

#define MAX_BYTES 4096u
#define PIECE_BYTES 7u

struct tally {
    uint64_t count[FRAME_BROKEN + 1];
    uint64_t bytes; /* of all frames, so that their borders are compared as well */
};

/* What a signal asks for is answered with both ends as they came: a term again, whatever
 * they are. */
static void answer(const struct control *m)
{
    const struct control_end us = {.term = m->to_term}, them = {.term = m->from_term};
    struct error err = {0};
    struct buf out;
    size_t used = 0;
    buf_init(&out, 0);
    if (m->op == CONTROL_LINK) {
        control_put_exit(&out, us, them, "noproc");
    } else if (m->op == CONTROL_MONITOR) {
        control_put_monitor_exit(&out, us, them, m->ref, "noproc");
    } else if (m->op == CONTROL_UNLINK_ID) {
        control_put_unlink_id_ack(&out, m->unlink_id, us, them);
    }
    if (out.len > 0) {
        FUZZ_REQUIRE(out.len > 5 && etf_check(out.data + 5, out.len - 5, &used, &err) == 0);
        FUZZ_REQUIRE(used == out.len - 5);
    }
    buf_clear(&out);
}

static void read_control(const struct frame *f)
{
    struct control m;
    struct error err = {0};
    FUZZ_REQUIRE(f->control.len > 1);
    if (control_decode(&m, (const uint8_t *)f->control.s, f->control.len, &err) != 0) {
        FUZZ_REQUIRE(err.code == ERR_FORMAT && err.text[0] != '\0');
        return;
    }
    const char *end = f->control.s + f->control.len;
    FUZZ_REQUIRE(m.name.len == 0 || m.name.s + m.name.len <= end);
    FUZZ_REQUIRE(m.ref.len == 0 || m.ref.s + m.ref.len <= end);
    FUZZ_REQUIRE(m.reason.len == 0 || m.reason.s + m.reason.len <= end);
    answer(&m);
}

static struct tally run(const uint8_t *data, size_t size, size_t piece)
{
    struct tally t = {0};
    struct frame_reader r;
    struct frame f;
    frame_reader_init(&r, MAX_BYTES);
    for (size_t at = 0; at < size; at += piece) {
        enum frame_event e;
        frame_feed(&r, data + at, size - at < piece ? size - at : piece);
        while ((e = frame_next(&r, &f)) != FRAME_MORE) {
            t.bytes += f.bytes;
            if (e == FRAME_BROKEN) {
                t.count[e] = 1;
                break;
            }
            t.count[e]++;
            if (e == FRAME_MESSAGE)
                read_control(&f);
        }
        FUZZ_REQUIRE(r.in.len <= MAX_BYTES + 4 + piece);
    }
    frame_reader_clear(&r);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tally whole = run(data, size, size + 1);
    struct tally pieces = run(data, size, PIECE_BYTES);
    FUZZ_REQUIRE(memcmp(&whole, &pieces, sizeof whole) == 0);
    return 0;
}

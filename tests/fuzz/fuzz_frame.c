/* Bytes of a connection: in pieces or at once they give the same events, and nothing is overrun. */
#include <string.h>

#include "beamtop/dist/control.h"
#include "beamtop/dist/frame.h"
#include "fuzz.h"

#define MAX_BYTES 4096u
#define PIECE_BYTES 7u

struct tally {
    uint64_t count[FRAME_BROKEN + 1];
    uint64_t bytes; /* of all frames, so that their borders are compared as well */
};

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

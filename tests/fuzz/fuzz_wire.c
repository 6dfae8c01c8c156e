/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node says in the handshake, over TCP and inside TLS: the first byte chooses, the second
 * how many bytes come at once. A stage never goes back, and until beamtop has to speak the verdict
 * is the same however bytes are divided. */
#include <stdio.h>

#include "fuzz.h"
#include "link/wire.h"

struct outcome {
    enum verdict verdict;
    enum stage stage;
    enum conn_failure why;
};

static struct outcome run(const uint8_t *data, size_t size, size_t header, size_t step)
{
    struct handshake h = {.target = {.full = "a@b", .alive = "a", .host = "b"}, .port = 1};
    struct wire w = {.h = &h, .fd = -1, .header = header, .stage = STAGE_STATUS};
    snprintf(h.own.host, sizeof h.own.host, "b");
    while (size > 0 && w.verdict == VERDICT_NONE) {
        const size_t n = size < step ? size : step;
        const enum stage before = w.stage;
        wire_read_along(&w, data, n);
        FUZZ_REQUIRE(w.stage >= before && w.in_len <= sizeof w.in);
        if (w.stage == STAGE_REPLY)
            w.stage = STAGE_ACK; /* as after the answer to the challenge */
        data += n;
        size -= n;
    }
    return (struct outcome){w.verdict, w.stage, h.why};
}

/* By one byte at a time: the same, where nobody has to speak in between. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const size_t header = data[0] & 1 ? WIRE_TLS_HEADER_BYTES : WIRE_HEADER_BYTES;
    const struct outcome some = run(data + 2, size - 2, header, 1u + data[1]);
    const struct outcome one = run(data + 2, size - 2, header, 1);
    FUZZ_REQUIRE(some.stage > STAGE_CHALLENGE ||
                 (some.verdict == one.verdict && some.stage == one.stage && some.why == one.why));
    return 0;
}

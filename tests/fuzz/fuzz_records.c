/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of a sampler: in pieces or at once they give the same records, and ids that were announced.
 */
#include "beamtop/local/records.h"
#include "fuzz.h"

static unsigned run(const uint8_t *data, size_t size, size_t piece)
{
    struct records *r = records_new();
    struct error err = {0};
    struct record record;
    uint32_t frames = 0, threads = 0;
    unsigned n = 0;
    int rc = 0;
    for (size_t at = 0; at < size && rc >= 0; at += piece) {
        records_feed(r, data + at, size - at < piece ? size - at : piece);
        while ((rc = records_next(r, &record, &err)) > 0) {
            n++;
            frames += record.type == RECORD_FRAME;
            threads += record.type == RECORD_THREAD;
            if (record.type != RECORD_SAMPLE)
                continue;
            FUZZ_REQUIRE(record.u.sample.thread < threads);
            for (size_t i = 0; i < record.u.sample.n_frames; i++)
                FUZZ_REQUIRE(record.u.sample.frames[i] < frames);
        }
    }
    FUZZ_REQUIRE((rc < 0) == (err.code != ERR_NONE));
    records_free(r);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_REQUIRE(run(data, size, size + 1) == run(data, size, 7));
    return 0;
}

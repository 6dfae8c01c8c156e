/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Term text: what parses is a whole term, and its printed form parses to the same bytes again. */
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/etf/check.h"
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"
#include "fuzz.h"

/* A printed text that was cut to size, here or by a target, does not parse. */
static bool is_whole(const struct buf *text, const uint8_t *bytes, size_t len)
{
    static const char cut[] = "$cut";
    for (size_t i = 0; i + strlen(cut) <= len; i++)
        if (memcmp(bytes + i, cut, strlen(cut)) == 0)
            return false;
    return text->len < LIMIT_TERM_TEXT_BYTES;
}

static void parse_again(const uint8_t *bytes, size_t len)
{
    struct buf text;
    buf_init(&text, 0);
    print_term(&text, bytes, len, NULL);
    if (is_whole(&text, bytes, len)) {
        struct builder *again = builder_new();
        struct error err = {0};
        size_t again_len;
        FUZZ_REQUIRE(etf_parse(again, (const char *)text.data, text.len, "x@y", &err) == 0);
        const uint8_t *again_bytes = builder_bytes(again, &again_len);
        FUZZ_REQUIRE(again_len == len && memcmp(again_bytes, bytes, len) == 0);
        builder_free(again);
    }
    buf_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct builder *b = builder_new();
    struct error err = {0};
    int rc = etf_parse(b, (const char *)data, size, "x@y", &err);
    size_t len, used = 0;
    const uint8_t *bytes = builder_bytes(b, &len);
    if (rc == 0) {
        struct error check = {0};
        FUZZ_REQUIRE(etf_check(bytes, len, &used, &check) == 0 && used == len);
        parse_again(bytes, len);
    } else {
        FUZZ_REQUIRE(err.code == ERR_USAGE && strncmp(err.text, "line ", 5) == 0);
        FUZZ_REQUIRE(len == 1);
    }
    builder_free(b);

    char text[64];
    struct etf_pid pid;
    size_t n = size < sizeof(text) - 1 ? size : sizeof(text) - 1;
    if (n > 0)
        memcpy(text, data, n);
    text[n] = '\0';
    etf_parse_pid(text, &pid);
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expression up to the first newline, the subject behind it: bounded, ranges within it. */
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/regex.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t pattern_len = newline ? (size_t)(newline - data) : size;
    const char *subject = newline ? (const char *)newline + 1 : "";
    size_t len = newline ? size - pattern_len - 1 : 0;
    char *pattern = alloc_strndup((const char *)data, pattern_len);

    struct regex *re = NULL;
    struct error err = {0};
    size_t offset = SIZE_MAX;
    if (regex_new(&re, pattern, &offset, &err) == 0) {
        size_t from = 0, to = 0;
        bool found = regex_find(re, subject, len, &from, &to);
        if (found)
            FUZZ_REQUIRE(from <= to && to <= len);
        FUZZ_REQUIRE(!(found && regex_gave_up(re)));
        FUZZ_REQUIRE(regex_match(re, subject, len) == found);
        regex_free(re);
    } else {
        FUZZ_REQUIRE(err.code == ERR_USAGE && offset <= strlen(pattern));
    }
    free(pattern);
    return 0;
}

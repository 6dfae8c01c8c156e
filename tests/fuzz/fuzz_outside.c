/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of /proc and of cgroups: numbers are known or -1, and no path leads out of its tree. */
#include <string.h>

#include "beamtop/local/outside.h"
#include "fuzz.h"

#define TEXT_BYTES 8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[TEXT_BYTES];
    char path[256];
    struct outside_stat stat;
    bool is_first = false;
    const size_t len = size < TEXT_BYTES - 1 ? size : TEXT_BYTES - 1;
    memcpy(text, data, len);
    text[len] = '\0';
    (void)outside_parse_stat(&stat, text);
    FUZZ_REQUIRE(outside_parse_key(text, "VmRSS:") >= -1);
    FUZZ_REQUIRE(outside_parse_limit(text) >= -1);
    if (outside_parse_cgroup(text, "memory", path, sizeof path, &is_first))
        FUZZ_REQUIRE(path[0] == '/' && !strstr(path, "/../") && !strchr(path, '\n'));
    const char *line = strchr(text, '\n');
    (void)outside_is_dump(text, line ? line + 1 : "", "/srv");
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of DNS: targets are names of hosts, each has its end, and there are no more than bytes.
 */
#include <string.h>

#include "link/dns/srv.h"
#include "fuzz.h"

static int take_target(void *arg, const char *target)
{
    size_t *n = arg;
    const size_t len = strlen(target);
    FUZZ_REQUIRE(len > 0 && len < SRV_TARGET_BYTES && target[len - 1] != '.');
    FUZZ_REQUIRE(!strpbrk(target, "@,:/\\ \n\033"));
    ++*n;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n = 0;
    (void)srv_each(data, size, take_target, &n);
    FUZZ_REQUIRE(n <= size);
    return 0;
}

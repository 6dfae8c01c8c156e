/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A node's file of TLS options: refused, or its texts end within their fields. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "link/tls/optfile.h"

static void check_section(const struct tls_section *s)
{
    FUZZ_REQUIRE(memchr(s->cert, '\0', sizeof s->cert) && memchr(s->key, '\0', sizeof s->key));
    FUZZ_REQUIRE(memchr(s->cacert, '\0', sizeof s->cacert));
    FUZZ_REQUIRE(memchr(s->password, '\0', sizeof s->password));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tls_options *o = calloc(1, sizeof *o);
    struct error err = {0};
    if (!o)
        return 0;
    const int rc = tls_options_parse(o, (const char *)bytes, len, &err);
    FUZZ_REQUIRE(rc == 0 || rc == ERR_FORMAT);
    check_section(&o->client);
    check_section(&o->server);
    free(o);
    return 0;
}

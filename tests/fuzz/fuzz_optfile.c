/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A node's file of TLS options: refused, or its texts end within their fields and its terms are
 * PEM. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "link/tls/optfile.h"

/* As OpenSSL gets it. */
static void check_pem(const char *pem)
{
    const char *border = "-----\n";
    const size_t len = pem ? strlen(pem) : strlen(border);
    FUZZ_REQUIRE(!pem || strncmp(pem, "-----BEGIN ", 11) == 0);
    FUZZ_REQUIRE(!pem || strcmp(pem + len - strlen(border), border) == 0);
}

static void check_pair(const struct tls_pair *p)
{
    check_pem(p->cert);
    check_pem(p->key);
    FUZZ_REQUIRE(memchr(p->certfile, '\0', sizeof p->certfile));
    FUZZ_REQUIRE(memchr(p->keyfile, '\0', sizeof p->keyfile));
    FUZZ_REQUIRE(memchr(p->password, '\0', sizeof p->password));
}

static void check_section(const struct tls_section *s)
{
    char names[128];
    size_t n = 0;
    const struct tls_pair *pairs = tls_section_pairs(s, &n);
    FUZZ_REQUIRE(n <= TLS_IDENTITIES);
    for (size_t i = 0; i < n; i++)
        FUZZ_REQUIRE(pairs[i].cert || pairs[i].certfile[0]);
    for (size_t i = 0; i < n; i++)
        check_pair(&pairs[i]);
    check_pem(s->cacerts);
    FUZZ_REQUIRE(memchr(s->cacertfile, '\0', sizeof s->cacertfile));
    tls_options_name(names, sizeof names, s->unused);
    FUZZ_REQUIRE(strlen(names) < sizeof names - 1); /* whole */
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
    tls_options_clear(o);
    free(o);
    return 0;
}

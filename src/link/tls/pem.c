/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pem.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/alloc.h"

#define LINE_BYTES 48u /* of DER: 64 characters */
#define BORDERS_BYTES 64u

/* Source: RFC 4648, section 4. */
static char *put_base64(char *out, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < len; i += 3) {
        const size_t n = len - i < 3 ? len - i : 3;
        const uint32_t group = (uint32_t)bytes[i] << 16 |
                               (n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                               (n > 2 ? (uint32_t)bytes[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            *out++ = k <= n ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

/* In new memory each time, so that nothing of a key stays in what was too small. */
void tls_pem_add(char **pem, const char *label, struct slice der)
{
    const size_t before = *pem ? strlen(*pem) : 0;
    const size_t lines = der.len / LINE_BYTES + 1;
    char *all =
        alloc_zero(1, before + der.len / 3 * 4 + 4 + lines + BORDERS_BYTES + 2 * strlen(label));
    char *at = all + before;
    if (*pem)
        memcpy(all, *pem, before);
    alloc_free_wiped(*pem, before);
    at += sprintf(at, "-----BEGIN %s-----\n", label);
    for (size_t i = 0; i < der.len; i += LINE_BYTES) {
        const size_t n = der.len - i < LINE_BYTES ? der.len - i : LINE_BYTES;
        at = put_base64(at, (const uint8_t *)der.s + i, n);
        *at++ = '\n';
    }
    sprintf(at, "-----END %s-----\n", label);
    *pem = all;
}

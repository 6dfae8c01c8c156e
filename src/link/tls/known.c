/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "known.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/link/tls.h"

static char (*known)[LIMIT_NODE_NAME_BYTES + 1]; /* LIMIT_TLS_KNOWN, once there is one; "": free */
static size_t next;

static char *find_known(const char *node)
{
    for (size_t i = 0; known && i < LIMIT_TLS_KNOWN; i++)
        if (strcmp(known[i], node) == 0)
            return known[i];
    return NULL;
}

bool tls_is_known(const char *node)
{
    return find_known(node) != NULL;
}

void tls_remember(const char *node, bool by_tls)
{
    char *found = find_known(node);
    if (found && !by_tls)
        *found = '\0';
    if (found || !by_tls)
        return;
    if (!known)
        known = alloc_zero(LIMIT_TLS_KNOWN, sizeof *known);
    snprintf(known[next++ % LIMIT_TLS_KNOWN], sizeof *known, "%s", node);
}

bool tls_verify_of(const char *word, enum tls_verify *out)
{
    static const char *const words[] = {
        [TLS_VERIFY_NONE] = "none", [TLS_VERIFY_CA] = "ca", [TLS_VERIFY_FULL] = "full"};
    for (size_t i = TLS_VERIFY_NONE; i < ARRAY_LEN(words); i++) {
        if (strcmp(word, words[i]) == 0) {
            *out = (enum tls_verify)i;
            return true;
        }
    }
    return false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Terms of text, as the node n@h would send them. */
#ifndef TESTS_QUERY_TERMS_H
#define TESTS_QUERY_TERMS_H

#include <string.h>

#include "../../test.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/parse.h"

#define NODE "n@h"

/* *out: with version byte, as long as the builder lives; empty where text is NULL. */
static inline struct builder *term_of(const char *text, struct slice *out)
{
    struct builder *b = builder_new();
    struct error err = {0};
    *out = (struct slice){0};
    if (!text)
        return b;
    if (etf_parse(b, text, strlen(text), NODE, &err) != 0)
        fail_msg("%s: %s", text, err.text);
    out->s = (const char *)builder_bytes(b, &out->len);
    return b;
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Terms as a node sends them, in hexadecimal, and how they print: tests of both spellings. */
#ifndef BEAMTOP_TESTS_WIRE_FORMS_H
#define BEAMTOP_TESTS_WIRE_FORMS_H

#include <stdlib.h>
#include <string.h>

#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"

struct wire_form {
    const char *name, *bytes, *printed;
};

static size_t unhex(const char *hex, uint8_t *out)
{
    size_t n = 0;
    for (; hex[0] && hex[1]; hex += 2) {
        char pair[3] = {hex[0], hex[1], '\0'};
        out[n++] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return n;
}

static void print_text(struct buf *out, const char *text, const struct print_limits *limits)
{
    struct builder *b = builder_new();
    struct error err = {0};
    if (etf_parse(b, text, strlen(text), "x@y", &err) != 0)
        fail_msg("%s: %s", text, err.text);
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    print_term(out, bytes, len, limits);
    builder_free(b);
}

static void check_wire_forms(const struct wire_form *rows, size_t n,
                             const struct print_limits *limits)
{
    for (; n > 0; n--, rows++) {
        uint8_t bytes[256];
        struct buf out;
        buf_init(&out, 0);
        print_term(&out, bytes, unhex(rows->bytes, bytes), limits);
        if (strcmp(buf_cstr(&out), rows->printed) != 0)
            fail_msg("%s: expected %s, found %s", rows->name, rows->printed, buf_cstr(&out));
        buf_clear(&out);
    }
}

#endif

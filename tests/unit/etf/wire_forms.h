/* Terms as a node sends them, in hexadecimal, and how they print: tests of both spellings. */
#ifndef BEAMTOP_TESTS_WIRE_FORMS_H
#define BEAMTOP_TESTS_WIRE_FORMS_H

#include <stdlib.h>
#include <string.h>

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

/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "../../test.h"
#include "app/cli/error_at.h"

static const struct {
    const char *name, *text;
    size_t offset;
    const char *wanted;
} rows[] = {
    {"in the middle", "a:b(", 2, "beamtop: no\n    a:b(\n      ^\n"},
    {"at the end", "a:b(", 4, "beamtop: no\n    a:b(\n        ^\n"},
    {"beyond the end", "a", 99, "beamtop: no\n    a\n     ^\n"},
    {"columns, not bytes", "\xc3\xa9:\xe6\x97\xa5 x", 7,
     "beamtop: no\n    \xc3\xa9:\xe6\x97\xa5 x\n         ^\n"},
    {"what could steer a terminal", "a\033b", 2,
     "beamtop: no\n    a\xef\xbf\xbd"
     "b\n      ^\n"},
    {"late in a long text",
     "0123456789012345678901234567890123456789012345678901234567890123456789(x", 71,
     "beamtop: no\n    ...34567890123456789012345678901234567890123456789(x\n"
     "                                                       ^\n"},
    {"early in a long text",
     "a:b(12345678901234567890123456789012345678901234567890123456789012345678901234567890", 3,
     "beamtop: no\n    a:b(123456789012345678901234567890123456789012345678901234567890123456"
     "...\n       ^\n"},
    {"many lines", "a\nb", 2, "beamtop: no\n"},
    {"nothing", "", 0, "beamtop: no\n"},
};

TEST(test_errors)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err = {0};
        struct buf out;
        error_set(&err, ERR_USAGE, "no");
        buf_init(&out, 0);
        error_at_put(&out, rows[i].text, rows[i].offset, &err);
        print_message("# %s\n", rows[i].name);
        assert_string_equal(buf_cstr(&out), rows[i].wanted);
        buf_clear(&out);
    }
}

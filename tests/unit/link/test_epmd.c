/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/link/epmd.h"

TEST(test_port)
{
    static const struct {
        const char *name;
        size_t len;
        const char *bytes;
        int rc;
        int result;
        uint16_t port;
    } cases[] = {
        {"nothing", 0, "", 1, 0, 0},
        {"begun", 1, "\167", 1, 0, 0},
        {"port is missing", 3, "\167\0\22", 1, 0, 0},
        {"found", 12, "\167\0\22\64\115\0\0\5\0\5\0\1", 0, 0, 0x1234},
        {"high port", 4, "\167\0\377\376", 0, 0, 0xfffe},
        {"no such name", 2, "\167\1", 0, 1, 0},
        {"not epmd", 4, "HTTP", -1, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint16_t port = 0;
        int result = 0;
        print_message("# %s\n", cases[i].name);
        assert_int_equal(
            epmd_parse_port((const uint8_t *)cases[i].bytes, cases[i].len, &port, &result),
            cases[i].rc);
        assert_int_equal(result, cases[i].result);
        assert_int_equal(port, cases[i].port);
    }
}

TEST(test_names)
{
    static const struct {
        const char *name;
        const char *text; /* behind the four bytes of the port */
        int rc;
        size_t count;
    } cases[] = {
        {"none", "", 0, 0},
        {"one", "name a at port 4000\n", 0, 1},
        {"more", "name a at port 4000\nname b-1 at port 65535\n", 0, 2},
        {"more than asked for", "name a at port 1\nname b at port 2\nname c at port 3\n", 0, 2},
        {"odd name", "name at port at port 9\n", 0, 1},
        {"no newline", "name a at port 4000", -1, 0},
        {"no port", "name a at port \n", -1, 0},
        {"port 0", "name a at port 0\n", -1, 0},
        {"port too large", "name a at port 65536\n", -1, 0},
        {"huge port", "name a at port 99999999999999999999999999\n", -1, 0},
        {"letters", "name a at port 12x\n", -1, 0},
        {"no name", "name  at port 12\n", -1, 0},
        {"something else", "hello\n", -1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct epmd_name names[2];
        size_t count = 0;
        size_t len = 4 + strlen(cases[i].text);
        uint8_t *bytes = malloc(len);
        memcpy(bytes, "\0\0\21\21", 4);
        memcpy(bytes + 4, cases[i].text, len - 4);
        print_message("# %s\n", cases[i].name);
        assert_int_equal(epmd_parse_names(bytes, len, names, 2, &count), cases[i].rc);
        if (cases[i].rc == 0) {
            assert_int_equal(count, cases[i].count);
        }
        free(bytes);
    }
}

TEST(test_names_values)
{
    static const char text[] = "\0\0\21\21name a at port 4000\nname b-1 at port 65535\n";
    struct epmd_name names[4];
    size_t count = 0;
    assert_int_equal(epmd_parse_names((const uint8_t *)text, sizeof text - 1, names, 4, &count), 0);
    assert_int_equal(count, 2);
    assert_string_equal(names[0].alive, "a");
    assert_int_equal(names[0].port, 4000);
    assert_string_equal(names[1].alive, "b-1");
    assert_int_equal(names[1].port, 65535);
    assert_int_equal(epmd_parse_names((const uint8_t *)"\0\0", 2, names, 4, &count), 1);
}

/* A name that does not fit in an atom is refused rather than cut. */
TEST(test_long_name)
{
    char text[400] = "\0\0\21\21name ";
    struct epmd_name names[1];
    size_t count = 0;
    memset(text + 9, 'x', 256);
    memcpy(text + 9 + 256, " at port 7\n", 11);
    assert_int_equal(epmd_parse_names((const uint8_t *)text, 9 + 256 + 11, names, 1, &count), -1);
}

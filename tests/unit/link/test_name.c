/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/link/name.h"

#define X16 "xxxxxxxxxxxxxxxx"
#define X128 X16 X16 X16 X16 X16 X16 X16 X16

TEST(test_parse)
{
    static const struct {
        const char *text;
        int rc;
        const char *full;
        const char *alive;
        const char *host;
        bool host_given;
    } cases[] = {
        {"shop@vm", 0, "shop@vm", "shop", "vm", true},
        {"shop@10.0.0.1", 0, "shop@10.0.0.1", "shop", "10.0.0.1", true},
        {"shop@::1", 0, "shop@::1", "shop", "::1", true},
        {"shop", 0, "shop@here", "shop", "here", false},
        {"caf\xc3\xa9@vm", 0, "caf\xc3\xa9@vm", "caf\xc3\xa9", "vm", true},
        {"", ERR_USAGE, "", "", "", false},
        {"@", ERR_USAGE, "", "", "", false},
        {"shop@", ERR_USAGE, "", "", "", false},
        {"@vm", ERR_USAGE, "", "", "", false},
        {"a@b@c", ERR_USAGE, "", "", "", false},
        {"a b@c", ERR_USAGE, "", "", "", false},
        {"a\x1b[31m@c", ERR_USAGE, "", "", "", false},
        {"caf\xe9@vm", ERR_USAGE, "", "", "", false},
        {"shop@vm\xc3", ERR_USAGE, "", "", "", false},
        {"shop@\xed\xa0\x80", ERR_USAGE, "", "", "", false},
        {X128 "@" X128, ERR_USAGE, "", "", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct name n;
        struct error err = {0};
        print_message("# %s\n", cases[i].rc == 0 ? cases[i].text : "refused");
        assert_int_equal(name_parse(&n, cases[i].text, "here", &err), cases[i].rc);
        assert_int_equal(err.code, cases[i].rc);
        if (cases[i].rc == 0) {
            assert_string_equal(n.full, cases[i].full);
            assert_string_equal(n.alive, cases[i].alive);
            assert_string_equal(n.host, cases[i].host);
            assert_int_equal(n.host_given, cases[i].host_given);
        } else {
            assert_null(strchr(err.text, '\x1b'));
        }
    }
}

TEST(test_own_host)
{
    static const struct {
        const char *target;
        bool here;
        const char *this_host;
        const char *expected;
    } cases[] = {
        {"localhost", true, "vm.example.org", "localhost"},
        {"127.0.0.1", true, "vm", "127.0.0.1"},
        {"db", false, "vm.example.org", "vm"},
        {"db", false, "vm", "vm"},
        {"db.example.org", false, "vm.example.org", "vm.example.org"},
        {"db.example.org", false, "vm", "10.0.0.7"},
        {"fe80::1", false, "vm", "10.0.0.7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[256];
        name_own_host(out, sizeof out, cases[i].target, cases[i].here, cases[i].this_host,
                      "10.0.0.7");
        print_message("# %s from %s\n", cases[i].target, cases[i].this_host);
        assert_string_equal(out, cases[i].expected);
        assert_int_equal(name_host_is_long(out), name_host_is_long(cases[i].target));
    }
}

TEST(test_pool)
{
    struct name n;
    struct error err = {0};
    assert_int_equal(name_own(&n, 0, "vm", &err), 0);
    assert_string_equal(n.full, "beamtop@vm");
    assert_int_equal(name_own(&n, LIMIT_NAME_POOL - 1, "10.0.0.1", &err), 0);
    assert_string_equal(n.full, "beamtop-8@10.0.0.1");
    assert_string_equal(n.alive, "beamtop-8");
}

TEST(test_wire_form)
{
    static const struct {
        const char *text, *wire;
    } cases[] = {
        {"a@b", "a@b"},
        {"a@caf\xc3\xa9", "a@caf\xe9"},
        {"a@\xc2\x9b\xc3\xbf", "a@\x9b\xff"},
        {"a@\xe2\x82\xac\xc3\xa9", "a@\xe2\x82\xac\xc3\xa9"},
    };
    char out[16], few[5];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(name_to_wire(out, sizeof out, cases[i].text));
        assert_string_equal(out, cases[i].wire);
        assert_true(name_from_wire(out, sizeof out, cases[i].wire, strlen(cases[i].wire)));
        assert_string_equal(out, cases[i].text);
    }
    assert_false(name_from_wire(few, sizeof few, "a@\xe9\xe9", 4));
    assert_false(name_from_wire(few, sizeof few, "a@bcd", 5));
    assert_true(name_from_wire(few, sizeof few, "a@bc", 4));
    assert_true(name_to_wire(few, sizeof few, "a@bc"));
    assert_false(name_to_wire(few, sizeof few, "a@bcd"));
}

TEST(test_host_is_here)
{
    static const struct {
        const char *host;
        bool here;
    } cases[] = {
        {"vm.example.org", true}, {"vm", true},           {"localhost", true}, {"127.0.0.1", true},
        {"vm.evil.org", false},   {"vmx", false},         {"v", false},        {"", false},
        {"192.0.2.1", false},     {"2001:db8::1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("# %s\n", cases[i].host);
        assert_int_equal(name_host_is_here(cases[i].host, "vm.example.org"), cases[i].here);
    }
}

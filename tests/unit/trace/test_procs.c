/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/etf/print.h"
#include "beamtop/trace/procs.h"

static const struct {
    const char *text, *printed, *built;
} good[] = {
    {NULL, "all", "{1,false,[all]}"},
    {"", "all", "{1,false,[all]}"},
    {"  all ", "all", "{1,false,[all]}"},
    {"new", "new", "{1,false,[new]}"},
    {"running,new", "running,new", "{1,false,[running,new]}"},
    {"<0.41.3>", "<0.41.3>", "{1,false,[{pid,<<\"<0.41.3>\">>}]}"},
    {"0.41.0", "<0.41.0>", "{1,false,[{pid,<<\"<0.41.0>\">>}]}"},
    {"code_server", "code_server", "{1,false,[{name,<<\"code_server\">>}]}"},
    {"'a b'", "'a b'", "{1,false,[{name,<<\"a b\">>}]}"},
    {":logger", "logger", "{1,false,[{name,<<\"logger\">>}]}"},
    {"My.Server", "'Elixir.My.Server'", "{1,false,[{name,<<\"Elixir.My.Server\">>}]}"},
    {"Elixir.My.Server", "'Elixir.My.Server'", "{1,false,[{name,<<\"Elixir.My.Server\">>}]}"},
    {"allocator", "allocator", "{1,false,[{name,<<\"allocator\">>}]}"},
    {"app:kernel", "app:kernel", "{1,false,[{app,<<\"kernel\">>}]}"},
    {"label:/a,b/ , new", "label:/a,b/,new", "{1,false,[{label,<<\"a,b\">>},new]}"},
    {"call:/gen_server:loop\\/7/", "call:/gen_server:loop\\/7/",
     "{1,false,[{call,<<\"gen_server:loop\\\\/7\">>}]}"},
    {"1/10", "running,1/10", "{10,false,[running]}"},
    {"all,1/10", "running,1/10", "{10,false,[running]}"},
    {"app:ssl,1/4+children", "app:ssl,1/4+children", "{4,true,[{app,<<\"ssl\">>}]}"},
    {"new +children", "new+children", "{1,true,[new]}"},
    {"+children", "all+children", "{1,true,[all]}"},
    {"1/1", "all", "{1,false,[all]}"},
};

TEST(test_good)
{
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct procs p, again;
        struct error err = {0};
        size_t offset = 999;
        if (procs_parse(&p, good[i].text, &offset, &err))
            fail_msg("%s: %s at %zu", good[i].text, err.text, offset);
        struct buf out;
        buf_init(&out, 0);
        procs_print(&out, &p);
        if (strcmp(buf_cstr(&out), good[i].printed) != 0)
            fail_msg("%s: printed as %s", good[i].text, buf_cstr(&out));
        /* What is printed means the same. */
        assert_int_equal(procs_parse(&again, buf_cstr(&out), NULL, &err), 0);
        assert_int_equal(again.n, p.n);
        struct builder *b = builder_new();
        procs_build(b, &p);
        size_t len;
        const uint8_t *bytes = builder_bytes(b, &len);
        buf_reset(&out);
        print_term(&out, bytes, len, &(struct print_limits){0});
        if (strcmp(buf_cstr(&out), good[i].built) != 0)
            fail_msg("%s: built as %s", good[i].text, buf_cstr(&out));
        builder_free(b);
        buf_clear(&out);
    }
}

static const struct {
    const char *text;
    size_t offset;
    const char *part; /* of the error's text */
} bad[] = {
    {"a,", 2, "after the comma"},
    {"a b", 2, "comma"},
    {",a", 0, "name is expected"},
    {"app:", 4, "name is expected"},
    {"label:x", 6, "slashes"},
    {"label:/x", 8, "closing slash"},
    {"new,label:/a(/", 0, ""},
    {"<0.1", 0, "<0.123.0>"},
    {"12x", 0, "<0.123.0>"},
    {"1/0", 2, "1 to 1000000"},
    {"1/2,1/3", 4, "once"},
    {"new,1/2", 0, "exist"},
    {"'abc", 4, "closing quote"},
    {"all+child", 3, "+children"},
    {"all+children,new", 12, "+children"},
};

TEST(test_bad)
{
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct procs p;
        struct error err = {0};
        size_t offset = 999;
        if (procs_parse(&p, bad[i].text, &offset, &err) != ERR_USAGE)
            fail_msg("%s: taken", bad[i].text);
        if (!strstr(err.text, bad[i].part))
            fail_msg("%s: %s", bad[i].text, err.text);
        if (bad[i].part[0] != '\0' && offset != bad[i].offset)
            fail_msg("%s: offset %zu", bad[i].text, offset);
        if (offset > strlen(bad[i].text))
            fail_msg("%s: offset %zu is beyond the text", bad[i].text, offset);
    }
}

TEST(test_one)
{
    static const struct {
        const char *text, *name; /* NULL: a pid */
    } rows[] = {
        {"shop_cart", "shop_cart"},
        {":shop_cart", "shop_cart"},
        {"'shop cart'", "shop cart"},
        {"Shop.Cart", "Elixir.Shop.Cart"},
        {"Elixir.Shop.Cart", "Elixir.Shop.Cart"},
        {"'Elixir.Shop.Cart'", "Elixir.Shop.Cart"},
        {"all", "all"},
        {"a,b", "a,b"},
        {"<0.12.0>", NULL},
        {"<0.12", "<0.12"},
        {"a\nb\tc", "a\nb\tc"},
        {"'cart", "'cart"},
    };
    char name[1021], longest[1021];
    struct etf_pid pid;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(procs_read_one(rows[i].text, &pid, name, sizeof name), !rows[i].name);
        assert_string_equal(name, rows[i].name ? rows[i].name : "");
        if (!rows[i].name)
            assert_int_equal(pid.id, 12);
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_false(procs_read_one(longest, &pid, name, sizeof name));
    assert_string_equal(name, longest);
}

TEST(test_bounds)
{
    struct procs p;
    struct error err = {0};
    char text[400];
    memset(text, 'a', sizeof text);
    text[256] = '\0';
    assert_int_equal(procs_parse(&p, text, NULL, &err), ERR_USAGE);
    text[255] = '\0';
    error_clear(&err);
    assert_int_equal(procs_parse(&p, text, NULL, &err), 0);
    text[0] = 'A'; /* an alias has seven bytes more */
    assert_int_equal(procs_parse(&p, text, NULL, &err), ERR_USAGE);
    error_clear(&err);
    memset(text, '\'', 1);
    memset(text + 1, 'b', 300);
    text[301] = '\0';
    assert_int_equal(procs_parse(&p, text, NULL, &err), ERR_USAGE);
    char many[200] = "";
    for (int i = 0; i < PROCS_ITEMS + 1; i++)
        strcat(many, i > 0 ? ",p" : "p");
    error_clear(&err);
    assert_int_equal(procs_parse(&p, many, NULL, &err), ERR_USAGE);
}

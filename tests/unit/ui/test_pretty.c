/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "ui/widgets/pretty.h"

static void take_line(void *arg, const struct pretty_line *line)
{
    struct buf *out = arg;
    buf_printf(out, "%*s", line->indent, "");
    buf_put(out, line->s, line->len);
    buf_puts(out, "\n");
}

TEST(test_layout)
{
    static const struct {
        const char *name, *text;
        int columns;
        unsigned levels, deepest;
        const char *wanted;
    } rows[] = {
        {"fits", "{ok,7}", 20, 9, 0, "{ok,7}\n"},
        {"hangs", "{ok,#{order => 4711,lines => 12}}", 24, 9, 2,
         "{ok,\n #{order => 4711,\n   lines => 12}}\n"},
        {"a long head", "#{lines => [{aaaaaaaaaaaaaaa,1},{b,2}]}", 30, 9, 2,
         "#{lines => [\n    {aaaaaaaaaaaaaaa,1},\n    {b,2}]}\n"},
        {"filled", "[10000,20000,30000,40000,50000]", 20, 9, 1,
         "[10000,20000,30000,\n 40000,50000]\n"},
        {"bytes", "<<1,2,3,4,5,6,7,8,9,10,11>>", 20, 9, 1, "<<1,2,3,4,5,6,7,8,9,\n  10,11>>\n"},
        {"folded", "{ok,#{order => 4711,lines => 12}}", 24, 1, 2,
         "{ok,\n #{order => 4711,line…}}\n"},
        {"nothing opened", "{ok,#{order => 4711,lines => 12}}", 24, 0, 1,
         "{ok,#{order => 4711,li…}\n"},
        {"brackets in a text", "{\"[{(\",'}',aaaaaaaaaaaaaaaaaaaaaaaaa}", 24, 9, 1,
         "{\"[{(\",\n '}',\n aaaaaaaaaaaaaaaaaaaaaaa\n   aa}\n"},
        {"a quote in a text", "{\"a\\\"]b\",<<\"}\">>,ccccccccccccccc}", 24, 9, 1,
         "{\"a\\\"]b\",<<\"}\">>,\n ccccccccccccccc}\n"},
        {"a long text", "\"abcdefghijklmnopqrstuvwxyz\"", 20, 9, 0,
         "\"abcdefghijklmnopqrs\n  tuvwxyz\"\n"},
        {"elixir", "%MyApp.Cart{id: 17, lines: [1, 2]}", 24, 9, 1,
         "%MyApp.Cart{\n  id: 17,\n  lines: [1, 2]}\n"},
        {"what is behind", "[aaaaaaaaaaaaaa,bbbbbbbbbbbbbbbbbb|…]… (4000 bytes)", 24, 9, 1,
         "[aaaaaaaaaaaaaa,\n bbbbbbbbbbbbbbbbbb|…]… \n   (4000 bytes)\n"},
        {"not closed", "{a,{bbbbbbbbbbbbbbbbbbbbbbbbbbb", 20, 9, 0,
         "{a,{bbbbbbbbbbbbbbbb\n  bbbbbbbbbbb\n"},
        {"empty", "", 20, 9, 0, "\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out;
        buf_init(&out, 0);
        const struct pretty setup = {rows[i].columns, rows[i].levels, take_line, NULL, &out};
        unsigned deepest = pretty_print(&setup, rows[i].text, strlen(rows[i].text));
        if (strcmp(buf_cstr(&out), rows[i].wanted) != 0 || deepest != rows[i].deepest)
            fail_msg("%s: %u levels\n%s\nwanted %u\n%s", rows[i].name, deepest, buf_cstr(&out),
                     rows[i].deepest, rows[i].wanted);
        buf_clear(&out);
    }
}

/* Whatever the text: every byte of it comes out, in lines that are no wider than they may be. */
TEST(test_nothing_is_left_out)
{
    static const char bits[] = "{}[]()<>\"',| ab=#%\\";
    uint32_t random = 1;
    for (int round = 0; round < 3000; round++) {
        char text[120];
        struct buf out;
        size_t len = (size_t)(round % 119), put = 0, wanted = 0;
        for (size_t i = 0; i < len; i++) {
            random = random * 1103515245u + 12345u;
            text[i] = bits[(random >> 16) % (sizeof bits - 1)];
        }
        buf_init(&out, 0);
        const struct pretty setup = {30, 99, take_line, NULL, &out};
        pretty_print(&setup, text, len);
        for (size_t i = 0; i < out.len; i++)
            put += out.data[i] != ' ' && out.data[i] != '\n';
        for (size_t i = 0; i < len; i++)
            wanted += text[i] != ' ';
        if (put != wanted)
            fail_msg("%.*s\n%s", (int)len, text, buf_cstr(&out));
        buf_clear(&out);
    }
}

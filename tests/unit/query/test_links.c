/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `links`, made of what its native asks say, and what they ask. */
#include "query/links/links.h"
#include "stepped.h"

enum step { CONNECTIONS, PORTS, CONTROLLERS };

#define ADDRESS(protocol) "{net_address,{{127,0,0,1},4000},\"two\"," protocol ",inet}"
#define FACTS "1048576", "{ok,60}", "{ok,true}", "3", "undefined"
#define NOTHING "undefined,undefined,undefined,undefined,undefined"

/* A port has no form as text: in texts it is the atom port8. */
static struct slice put_ports(struct buf *out, struct slice term)
{
    static const char name[] = "\x77\x05port8";
    static const uint8_t port[] = {102, 119, 3, 'n', '@', 'h', 0, 0, 0, 8, 1};
    const char *at;
    buf_reset(out);
    while ((at = memmem(term.s, term.len, name, 7))) {
        buf_put(out, term.s, (size_t)(at - term.s));
        buf_put(out, port, sizeof port);
        term.len -= (size_t)(at + 7 - term.s);
        term.s = at + 7;
    }
    buf_put(out, term.s, term.len);
    return (struct slice){(const char *)out->data + 1, out->len - 1};
}

static void hear(void *read, const struct stepped_said *said)
{
    struct builder *kept[STEP_VALUES];
    struct slice values[STEP_VALUES];
    struct buf bytes[STEP_VALUES];
    const size_t n = stepped_ask(&links_question, read, said->step, NULL);
    assert_true(n > 0 && n <= STEP_VALUES);
    for (size_t i = 0; i < n; i++) {
        kept[i] = term_of(said->values[i], &values[i]);
        buf_init(&bytes[i], 0);
        if (said->values[i])
            values[i] = put_ports(&bytes[i], values[i]);
    }
    links_question.steps[said->step].take(read, said->values[0] ? values : NULL, n);
    for (size_t i = 0; i < n; i++) {
        builder_free(kept[i]);
        buf_clear(&bytes[i]);
    }
}

static void expect_links(const struct stepped_said *said, size_t n, const char *answer)
{
    const struct stepped_now now = {1000, NODE, 0};
    void *read = stepped_start(&links_question);
    links_question.begin(read, &now);
    for (size_t i = 0; i < n; i++)
        hear(read, &said[i]);
    stepped_expect(&links_question, read, answer);
    stepped_end(&links_question, read);
}

TEST(test_links)
{
    const struct stepped_said said[] = {
        {CONNECTIONS,
         {"{[{'c@two',up,<0.9.0>," ADDRESS(
              "tls") ",hidden,{7,y}},"
                     "{'beamtop@h',up,port8," ADDRESS(
                         "tcp") ",hidden,{8,y}},"
                                "{'b@two',up,port8," ADDRESS(
                                    "tcp") ",normal,{9,y}},"
                                           "{'d@two',pending,undefined,undefined,normal,{10,y}}],'$"
                                           "end_of_"
                                           "table'}",
          "['z@two','b@two',nonode@nohost,'beamtop@h','n@h']", FACTS}},
        {PORTS, {"[{ok,[{recv_oct,700},{send_oct,900},{send_pend,19080}]}]"}},
        {CONTROLLERS, {"[[{message_queue_len,4}]]"}}};
    expect_links(said, ARRAY_LEN(said),
                 "{links,7000000,[{<<\"n@h\">>,<<\"self\">>,undefined,undefined," NOTHING
                 ",false,60,<<\"true\">>,1048576,3,undefined,undefined},"
                 "{<<\"b@two\">>,<<\"visible\">>,<<\"up\">>,<<\"tcp\">>,<<\"two\">>,700,900,19080,"
                 "undefined,true," NOTHING ",9},"
                 "{<<\"c@two\">>,<<\"hidden\">>,<<\"up\">>,<<\"tls\">>,<<\"two\">>,undefined,"
                 "undefined,undefined,4,false," NOTHING ",7},"
                 "{<<\"d@two\">>,<<\"visible\">>,<<\"pending\">>,undefined,undefined,undefined,"
                 "undefined,undefined,undefined,false," NOTHING ",10},"
                 "{<<\"z@two\">>,<<\"known\">>,<<\"not connected\">>,undefined,undefined,undefined,"
                 "undefined,undefined,undefined,false," NOTHING ",undefined}],false}");
}

TEST(test_alone)
{
    const struct stepped_said said[] = {{CONNECTIONS,
                                         {"'$end_of_table'", "[nonode@nohost,'n@h']", "1048576",
                                          "undefined", "undefined", "undefined", "undefined"}}};
    expect_links(said, ARRAY_LEN(said),
                 "{links,7000000,[{<<\"n@h\">>,<<\"self\">>,undefined,undefined," NOTHING
                 ",false,60,<<\"false\">>,1048576,undefined,undefined,undefined}],false}");
}

/* What is of another form says nothing, and the rest is still read. */
TEST(test_odd)
{
    const struct stepped_said odd[] = {
        {CONNECTIONS,
         {"{[x,{1,2,3,4,5},{1,2,3,4,5,6},{'b@two',9,port8,{net_address,1,2,3,4},7,{-1,y}},"
          "{'c@two',9,8,7,6,5}],y}",
          "\"abc\"", "x", "{ok,-1}", "{ok,7}", "-3", "{}"}},
        {PORTS, {"[{error,einval}]"}}};
    const struct stepped_said failed[] = {{CONNECTIONS, {NULL}}};
    expect_links(odd, ARRAY_LEN(odd),
                 "{links,7000000,[{<<\"n@h\">>,<<\"self\">>,undefined,undefined," NOTHING
                 ",false,undefined,undefined,undefined,undefined,undefined,undefined},"
                 "{<<\"b@two\">>,<<\"visible\">>,undefined,undefined,undefined,undefined,undefined,"
                 "undefined,undefined,false," NOTHING ",undefined},"
                 "{<<\"c@two\">>,<<\"visible\">>,undefined,undefined,undefined,undefined,undefined,"
                 "undefined,undefined,false," NOTHING ",undefined}],false}");
    expect_links(failed, ARRAY_LEN(failed), "{links,7000000,[],true}");
}

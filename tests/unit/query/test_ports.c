/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `ports`, made of what its native asks say, and what they ask. */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "query/ports/ports.h"
#include "query/ports/ports_internal.h"
#include "query/who/who.h"
#include "terms.h"

/* As in ports_question; of those that are there twice the first. */
enum step {
    LIST,
    SWEEP,
    SOCKETS,
    NAMES,
    COUNTS,
    KERNEL,
    PLAIN,
    INFOS = 11,
    ADDRESSES,
    SOCKET_KERNEL,
    MONITORS,
    PROCESSES,
    STATUSES,
    FUNCTIONS,
    STEPS
};
#define VALUES 4
#define TEXT 4000

static struct ports_read ports;
static char asked[STEPS][TEXT]; /* the last ask of each step, as text; empty: nothing */

/* A port of the node n@h, which has no form as text: in texts 'port N'. */
static void build_port(struct builder *b, int number)
{
    const uint8_t port[] = {102, 119, 3, 'n', '@', 'h', 0, 0, 0, (uint8_t)number, 1};
    build_raw(b, port, sizeof port);
}

static void build_ports(struct builder *b, int first, int last)
{
    build_list(b, (size_t)(last - first + 1));
    for (int i = first; i <= last; i++)
        build_port(b, i);
    build_nil(b);
}

/* [{Node, Port}] */
static void build_links(struct builder *b, const char *node, int number)
{
    build_list(b, 1);
    build_tuple(b, 2);
    build_atom(b, node);
    build_port(b, number);
    build_nil(b);
}

static struct slice bytes_of(const struct builder *b)
{
    struct slice s;
    s.s = (const char *)builder_bytes(b, &s.len) + 1;
    s.len--;
    return s;
}

static size_t ask(enum step step)
{
    struct run_calls calls = {0};
    struct buf text;
    buf_init(&text, 0);
    const bool asks = ports_question.steps[step].ask(&ports, &calls);
    for (size_t i = 0; i < calls.n; i++) {
        size_t len;
        const uint8_t *bytes = calls.terms[i] ? builder_bytes(calls.terms[i], &len) : NULL;
        if (bytes)
            print_term(&text, bytes, len, &(struct print_limits){.bytes = TEXT});
        builder_free(calls.terms[i]);
    }
    snprintf(asked[step], TEXT, "%s", asks ? buf_cstr(&text) : "");
    buf_clear(&text);
    return asks ? calls.n : 0;
}

/* The step asks, and hears that; the first NULL: it failed. */
static void hear(enum step step, const char *a, const char *b, const char *c, const char *d)
{
    const char *const texts[VALUES] = {a, b, c, d};
    struct builder *kept[VALUES] = {0};
    struct slice values[VALUES];
    const size_t n = ask(step);
    assert_true(n > 0 && n <= VALUES);
    for (size_t i = 0; i < n && a; i++) {
        assert_non_null(texts[i]);
        kept[i] = term_of(texts[i], &values[i]);
        values[i].s++;
        values[i].len--;
    }
    ports_question.steps[step].take(&ports, a ? values : NULL, n);
    for (size_t i = 0; i < VALUES; i++)
        builder_free(kept[i]);
}

static void begin(uint64_t ms)
{
    const struct stepped_now now = {ms, NODE, 1};
    ports_question.begin(&ports, &now);
}

static void start(void)
{
    memset(&ports, 0, sizeof ports);
    ports_question.init(&ports);
    begin(1000);
}

static void list(int last, const char *node, bool sockets)
{
    struct builder *all = builder_new(), *links = builder_new(), *yes = builder_new();
    assert_int_equal(ask(LIST), 4);
    build_ports(all, 1, last);
    build_links(links, node, 2);
    build_bool(yes, sockets);
    const struct slice values[] = {bytes_of(all), bytes_of(links), bytes_of(yes), bytes_of(yes)};
    ports_question.steps[LIST].take(&ports, values, ARRAY_LEN(values));
    builder_free(all);
    builder_free(links);
    builder_free(yes);
}

/* Who <0.41.0> is. */
static const struct who_entry *find_some(const void *arg, const struct etf_pid *pid)
{
    static const char shop[] = {119, 4, 's', 'h', 'o', 'p'};
    static struct who_entry entry;
    (void)arg;
    entry = (struct who_entry){.name = {shop, sizeof shop}, .application = {shop, sizeof shop}};
    return pid->id == 41 ? &entry : NULL;
}

static void expect_answer(const char *wanted)
{
    struct builder *b = builder_new();
    struct buf text;
    size_t len;
    buf_init(&text, 0);
    ports_question.build(b, &ports, 77, &(struct stepped_who){find_some, NULL});
    const uint8_t *bytes = builder_bytes(b, &len);
    print_term(&text, bytes, len, &(struct print_limits){.bytes = 100000});
    assert_string_equal(buf_cstr(&text), wanted);
    buf_clear(&text);
    builder_free(b);
}

#define NOBODY "undefined,undefined"

/* A connection whose other end has closed, one to a node, and a program. */
static void hear_numbers(void)
{
    hear(SWEEP, "[{queue_size,900},{queue_size,0},{queue_size,0}]",
         "[{output,1},{output,2},{output,3}]", NULL, NULL);
    assert_int_equal(ask(SWEEP), 0);
    hear(NAMES, "[{name,\"tcp_inet\"},{name,\"tcp_inet\"},{name,\"sleep 1\"}]", NULL, NULL, NULL);
    hear(COUNTS,
         "[{ok,[{recv_oct,10},{send_oct,20},{recv_cnt,1},{send_cnt,2}]},"
         "{ok,[{recv_oct,11},{send_oct,21},{recv_cnt,3},{send_cnt,-4}]}]",
         "[{ok,[busy,connected,open]},{ok,[connected,open]}]",
         "[{connected,<0.41.0>},{connected,<0.42.0>}]", NULL);
    hear(
        KERNEL,
        "[{ok,[{raw,6,11,<<8,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
        "0,0,0,0,0,0,0,0,9,0,0,0,0,0,0,0,7,0,0,0,0,0,0,0>>}]},{ok,[]}]",
        NULL, NULL, NULL);
    hear(PLAIN, "[{input,5}]", "[{os_pid,4711}]", "[{connected,<0.41.0>}]", NULL);
    assert_int_equal(ask(NAMES), 0);
}

static void hear_rows(void)
{
    hear(ADDRESSES, "[{ok,{{127,0,0,1},80}},{ok,{{0,0,0,0,0,0,0,1},81}}]",
         "[{ok,{{10,0,0,7},5500}},{error,enotconn}]", NULL, NULL);
}

TEST(test_ports_are_told_apart)
{
    start();
    list(3, "m@h", false);
    ports.table.ports[2].is_busy = true; /* by an answer before */
    hear_numbers();
    hear_rows();
    hear(MONITORS, "[{monitored_by,[<0.44.0>]}]", NULL, NULL, NULL);
    hear(PROCESSES, "[<0.43.0>,<0.44.0>,<0.45.0>,<0.46.0>]", NULL, NULL, NULL);
    assert_non_null(strstr(asked[PROCESSES], "sublist"));
    hear(STATUSES,
         "[[{status,waiting}],[{status,suspended}],[{status,waiting}],[{status,running}],"
         "undefined]",
         NULL, NULL, NULL);
    assert_non_null(strstr(asked[STATUSES], "[<0.41.0>,<0.43.0>,<0.44.0>,<0.45.0>,<0.46.0>]"));
    hear(FUNCTIONS,
         "[[{current_function,{gen_server,loop,7}}],"
         "[{current_function,{erts_internal,port_command,3}}],"
         "[{current_function,{prim_inet,send,4}}]]",
         NULL, NULL, NULL);
    assert_non_null(strstr(asked[FUNCTIONS], "[<0.41.0>,<0.43.0>,<0.44.0>]"));
    struct etf_pid named[WHO_MOST];
    assert_int_equal(ports_question.whom(&ports, named), 3);
    assert_int_equal(named[2].id, 43);
    expect_answer(
        "{ports,77,[{<<\"#Port<0.1>\">>,<<\"port\">>,<<\"tcp\">>,undefined,<0.41.0>,shop,shop,"
        "<<\"127.0.0.1:80\">>,<<\"10.0.0.7:5500\">>,<<\"80\">>,<<\"10.0.0.7\">>,<<\"close_wait\">>,"
        "1,"
        "1,true,10,20,1,2,900,2,<0.43.0>,undefined,7000,undefined},"
        "{<<\"#Port<0.2>\">>,<<\"port\">>,<<\"distribution\">>,<<\"m@h\">>,<0.42.0>,undefined,"
        "undefined,<<\"[::1]:81\">>,undefined,<<\"81\">>,undefined,<<\"established\">>,1,0,false,"
        "11,"
        "21,3,undefined,0,0," NOBODY ",undefined,undefined},"
        "{<<\"#Port<0.3>\">>,<<\"port\">>,<<\"program\">>,<<\"sleep 1\">>,<0.41.0>,shop,shop,"
        "undefined,undefined,undefined,undefined,undefined,1,0,false,5,3,undefined,undefined,0,"
        "0," NOBODY ",undefined,4711}],false}");
    ports_question.clear(&ports);
}

/* What waits for a connection to a node is in other functions, and is suspended. */
TEST(test_senders_to_a_node)
{
    start();
    list(2, "m@h", false);
    hear(SWEEP, "[{queue_size,0},{queue_size,7}]", "[{output,1},{output,2}]", NULL, NULL);
    hear(NAMES, "[{name,\"2/2\"},{name,\"tcp_inet\"}]", NULL, NULL, NULL);
    hear(COUNTS, "[{error,einval}]", "[{error,einval}]", "[{connected,<0.41.0>}]", NULL);
    hear(PLAIN, NULL, NULL, NULL, NULL);
    ask(ADDRESSES);
    hear(MONITORS, "[{monitored_by,[]}]", NULL, NULL, NULL);
    hear(PROCESSES, "[<0.43.0>,<0.44.0>]", NULL, NULL, NULL);
    hear(STATUSES, "[[{status,waiting}],[{status,suspended}],[{status,suspended}]]", NULL, NULL,
         NULL);
    hear(FUNCTIONS,
         "[[{current_function,{net_kernel,loop,1}}],"
         "[{current_function,{erts_internal,dsend_continue_trap,1}}],"
         "[{current_function,{erts_internal,port_command,3}}]]",
         NULL, NULL, NULL);
    assert_int_equal(ports.rows[0]->writers, 1);
    assert_false(ports.rows[0]->is_busy);
    assert_int_equal(ports.rows[0]->sender.id, 43);
    assert_int_equal(ports.rows[1]->kind, PORT_DESCRIPTOR);
    assert_int_equal(ports.rows[1]->writers, 0);
    ports_question.clear(&ports);
}

/* Which of two connections they wait for nobody says. */
TEST(test_senders_are_not_guessed)
{
    start();
    list(2, "m@h", false);
    ports.table.ports[1].link = 0;
    hear(SWEEP, "[{queue_size,9},{queue_size,7}]", "[{output,1},{output,2}]", NULL, NULL);
    hear(NAMES, "[{name,\"tcp_inet\"},{name,\"tcp_inet\"}]", NULL, NULL, NULL);
    hear(COUNTS, NULL, NULL, NULL, NULL);
    ask(ADDRESSES);
    hear(MONITORS, NULL, NULL, NULL, NULL);
    hear(PROCESSES, "[<0.43.0>]", NULL, NULL, NULL);
    hear(STATUSES, "[[{status,suspended}]]", NULL, NULL, NULL);
    hear(FUNCTIONS, "[[{current_function,{erts_internal,port_command,3}}]]", NULL, NULL, NULL);
    assert_int_equal(ports.rows[0]->writers, -1);
    assert_int_equal(ports.rows[1]->writers, -1);
    ports_question.clear(&ports);
}

/* One connection is held; <0.43.0> has another one, where it may be in a send as well. */
TEST(test_owners_of_others_are_not_named)
{
    start();
    list(2, "m@h", false);
    ports.table.ports[1].link = 0;
    hear(SWEEP, "[{queue_size,9},{queue_size,0}]", "[{output,1},{output,2}]", NULL, NULL);
    hear(NAMES, "[{name,\"tcp_inet\"},{name,\"tcp_inet\"}]", NULL, NULL, NULL);
    hear(COUNTS, "[{ok,[]},{ok,[]}]", "[{ok,[open]},{ok,[open]}]",
         "[{connected,<0.41.0>},{connected,<0.43.0>}]", NULL);
    ask(ADDRESSES);
    hear(MONITORS, "[{monitored_by,[]}]", NULL, NULL, NULL);
    hear(PROCESSES, "[<0.41.0>,<0.43.0>]", NULL, NULL, NULL);
    hear(STATUSES, "[[{status,running}],[{status,waiting}]]", NULL, NULL, NULL);
    hear(FUNCTIONS, "[[{current_function,{prim_inet,send,4}}]]", NULL, NULL, NULL);
    assert_int_equal(ports.rows[0]->writers, -1);
    assert_false(ports.rows[0]->has_sender);
    ports_question.clear(&ports);
}

/* Those without a row are added up by owner, kind and state. */
TEST(test_the_rest_is_added_up)
{
    start();
    list(3, "m@h", false);
    hear_numbers();
    hear_rows();
    ports.table.ports[0].queue_bytes = 0;
    ports.table.ports[0].kernel = NULL;
    ports.table.ports[1].link = 0;
    ports.table.ports[1].has_owner = ports.table.ports[0].has_owner = false;
    ports.n_rows = 0;
    expect_answer("{ports,77,[{<<\"rest of tcp established\">>,<<\"port\">>,<<\"tcp\">>,"
                  "undefined," NOBODY ",undefined," NOBODY "," NOBODY ",<<\"established\">>,2,0,"
                  "false," NOBODY "," NOBODY ",0,undefined," NOBODY "," NOBODY "},"
                  "{<<\"rest of <0.41.0> program\">>,<<\"port\">>,<<\"program\">>,undefined,"
                  "<0.41.0>,shop,shop," NOBODY "," NOBODY ",undefined,1,0,false," NOBODY "," NOBODY
                  ",0,undefined," NOBODY "," NOBODY "}],false}");
    ports_question.clear(&ports);
}

static void hear_sockets(const char *refs, const char *infos, const char *locals,
                         const char *remotes)
{
    struct builder *b = builder_new(), *of[3];
    struct slice value, texts[3];
    static const uint8_t ref[] = {114, 0, 3, 119, 3, 'n', '@', 'h', 1, 0, 0,
                                  0,   7, 0, 0,   0, 8,   0,   0,   0, 9};
    assert_int_equal(ask(SOCKETS), 1);
    of[0] = term_of(infos, &texts[0]);
    of[1] = term_of(locals, &texts[1]);
    of[2] = term_of(remotes, &texts[2]);
    build_list(b, 4);
    build_list(b, 1);
    build_list(b, 2);
    build_atom(b, refs);
    build_raw(b, ref, sizeof ref);
    build_nil(b);
    build_nil(b);
    for (size_t i = 0; i < ARRAY_LEN(of); i++)
        build_term(b, of[i]);
    build_nil(b);
    value = bytes_of(b);
    ports_question.steps[SOCKETS].take(&ports, &value, 1);
    for (size_t i = 0; i < ARRAY_LEN(of); i++)
        builder_free(of[i]);
    builder_free(b);
}

TEST(test_sockets)
{
    start();
    list(0, "m@h", true);
    hear_sockets("$socket", "[{<0.41.0>,inet6,stream,tcp,1,0,100,200,3,4}]",
                 "[{ok,#{family => inet6, addr => {0,0,0,0,0,0,0,1}, port => 80}}]",
                 "[{ok,#{family => inet6, addr => {65152,0,0,0,0,0,0,2}, port => 90}}]");
    assert_int_equal(ask(SOCKETS), 0);
    assert_int_equal(ask(NAMES), 0);
    assert_int_equal(ask(ADDRESSES), 0);
    hear(SOCKET_KERNEL, NULL, NULL, NULL, NULL);
    assert_int_equal(ask(SOCKET_KERNEL), 0);
    assert_int_equal(ask(MONITORS), 0);
    expect_answer("{ports,77,[{<<\"#Socket<0.9.8.7>\">>,<<\"socket\">>,<<\"tcp\">>,undefined,"
                  "<0.41.0>,shop,shop,<<\"[::1]:80\">>,<<\"[fe80::2]:90\">>,<<\"80\">>,"
                  "<<\"[fe80::2]\">>,undefined,1,0,true,100,200,3,4,undefined,1," NOBODY
                  ",undefined,undefined}],false}");
    begin(2000);
    hear_sockets("$socket", "[[]]", "[{ok,#{family => local, path => <<\"/s\">>}}]", "[x]");
    assert_int_equal(ask(SOCKET_KERNEL), 0);
    expect_answer("{ports,77,[],false}");
    ports_question.clear(&ports);
}

/* A node that does not say what its sockets are. */
TEST(test_what_is_not_known_is_partial)
{
    start();
    list(0, "m@h", true);
    hear(SOCKETS, NULL, NULL, NULL, NULL);
    assert_int_equal(ask(SOCKETS), 0);
    expect_answer("{ports,77,[],true}");
    begin(2000);
    hear(LIST, NULL, NULL, NULL, NULL);
    hear(SOCKETS, "[[[x]],[],[],[]]", NULL, NULL, NULL);
    expect_answer("{ports,77,[],true}");
    ports_question.clear(&ports);
}

/* Those that lead are the first; a port that was closed is none. */
TEST(test_rank)
{
    struct port *rows[4];
    start();
    list(4, "m@h", false);
    hear(SWEEP, "[{queue_size,0},{queue_size,5},{queue_size,9},undefined]",
         "[{output,1},{output,1},{output,1},undefined]", NULL, NULL);
    assert_int_equal(port_table_rank(&ports.table, 0, rows, 4), 3);
    assert_int_equal(rows[0]->key[1], 3);
    begin(2000);
    hear(SWEEP, "[{queue_size,0},{queue_size,0},{queue_size,0}]",
         "[{output,1},{output,501},{output,2}]", NULL, NULL);
    assert_int_equal(port_table_rank(&ports.table, 0, rows, 4), 3);
    assert_int_equal(rows[0]->key[1], 2);
    assert_true(port_rate(rows[0]) == 500);
    assert_int_equal(port_table_rank(&ports.table, 7, rows, 4), 0);
    list(1, "m@h", false);
    assert_int_equal(ports.table.n_ports, 1);
    assert_true(port_rate(&ports.table.ports[0]) == 0);
    ports_question.clear(&ports);
}

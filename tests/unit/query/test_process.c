/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `process`, made of what its native asks say. */
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"
#include "query/process/process_terms.h"
#include "query/native/values.h"

static struct slice term_of(struct builder *b, const char *text)
{
    struct error err = {0};
    struct slice out = {0};
    if (etf_parse(b, text, strlen(text), "n@h", &err) != 0)
        fail_msg("%s: %s", text, err.text);
    out.s = (const char *)builder_bytes(b, &out.len);
    out.s++; /* the version */
    out.len--;
    return out;
}

/* ---- the argument */

static bool read_question(const char *text, struct process_question *q)
{
    struct builder *b = builder_new();
    const struct slice arg = term_of(b, text);
    const bool ok = process_read_question((const uint8_t *)arg.s - 1, arg.len + 1, q);
    q->name.s = q->node.s = NULL;
    builder_free(b);
    return ok;
}

TEST(test_questions)
{
    static const char *const odd[] = {"{<<\"\">>,#{stack => 1,links => 2}}",
                                      "{a,#{stack => 1,links => 2}}",
                                      "{<<\"a\">>,#{stack => 1}}",
                                      "{<<\"a\">>,#{stack => 1,links => 1001}}",
                                      "{<<\"a\">>,#{stack => -1,links => 2}}",
                                      "{<<\"a\">>,#{stack => 1,links => b}}",
                                      "{<<\"a\">>,#{stack => 1,other => 2}}",
                                      "{<<\"a\">>,#{stack => 1,links => 2},3}",
                                      "{<<\"a\">>,#{stack => 1,links => 2,x => 3}}",
                                      "gone"};
    struct process_question q;
    assert_true(read_question("{<<\"a\">>,#{links => 200,stack => 60}}", &q));
    assert_int_equal(q.name.len, 1);
    assert_int_equal(q.stack, 60);
    assert_int_equal(q.links, 200);
    assert_true(read_question("{<0.7.1>,#{links => 0,stack => 0}}", &q));
    assert_int_equal(q.name.len, 0);
    assert_int_equal(q.pid.id, 7);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        if (read_question(odd[i], &q))
            fail_msg("%s is taken", odd[i]);
}

/* ---- what was found */

#define ITEMS(memory, words, file, rest)                                                           \
    "[{status,waiting},{priority,normal},{trap_exit,false},{reductions,9},{message_queue_len,2},"  \
    "{message_queue_data,on_heap},{memory," memory "},{total_heap_size," words                     \
    "},{heap_size,233},{stack_size,4},{current_function,{a,b,2}},{group_leader,<0.5.0>},"          \
    "{current_stacktrace,[{a,b,2,[" file "{line,7}]},{c,d,[x,y,z],[]},{e,f,0,[]}]},"               \
    "{garbage_collection,[{max_heap_size,#{size => 0}},{fullsweep_after,65535},{minor_gcs,3}]},"   \
    "{garbage_collection_info,[{mbuf_size,11}]}" rest "]"
#define FILE_OF_A "{file,\"a.erl\"},"
#define LISTS_OF(links, monitors, binary, rest)                                                    \
    "[" links "," monitors ",[<0.9.0>]," binary ",[{<0.8.0>,1,0}]" rest "]"
#define LINKS "[<0.8.0>,<0.9.0>,<0.10.0>]"
#define MONITORS "[{process,<0.9.0>},{process,{n,m@h}},{time_offset,clock_service}]"
#define BINARY "[{7,100,1},{8,200,2},{7,100,1}]"

static enum process_found check(enum process_found (*by)(struct slice), const char *text)
{
    struct builder *b = builder_new();
    const enum process_found found = by(term_of(b, text));
    builder_free(b);
    return found;
}

TEST(test_found)
{
    static const struct {
        enum process_found (*by)(struct slice value);
        const char *text;
        enum process_found expected;
    } cases[] = {
        {process_check_queue, "{message_queue_len,50000}", PROCESS_FOUND},
        {process_check_queue, "{message_queue_len,50001}", PROCESS_LARGE},
        {process_check_queue, "undefined", PROCESS_GONE},
        {process_check_queue, "{message_queue_len,a}", PROCESS_ODD},
        {process_check_queue, "[]", PROCESS_ODD},
        {process_check_items, ITEMS("400000", "50", "", ""), PROCESS_FOUND},
        {process_check_items, ITEMS("400400", "50", "", ",{parent,<0.1.0>}"), PROCESS_LARGE},
        {process_check_items, ITEMS("4194303", "500000", "", ""), PROCESS_FOUND},
        {process_check_items, ITEMS("4194304", "500000", "", ""), PROCESS_LARGE},
        {process_check_items, ITEMS("9223372036854775807", "0", "", ""), PROCESS_LARGE},
        {process_check_items, ITEMS("1", "9223372036854775807", "", ""), PROCESS_FOUND},
        {process_check_items, ITEMS("-1", "0", "", ""), PROCESS_ODD},
        {process_check_items, ITEMS("a", "0", "", ""), PROCESS_ODD},
        {process_check_items, "undefined", PROCESS_GONE},
        {process_check_items, "[{status,waiting}]", PROCESS_ODD},
        {process_check_lists, LISTS_OF(LINKS, MONITORS, BINARY, ""), PROCESS_FOUND},
        {process_check_lists, LISTS_OF(LINKS, "1001", BINARY, ""), PROCESS_LARGE},
        {process_check_lists, LISTS_OF(LINKS, MONITORS, BINARY, ",2000"), PROCESS_LARGE},
        {process_check_lists, "[[],[]]", PROCESS_ODD},
        {process_check_lists, "undefined", PROCESS_ODD},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (check(cases[i].by, cases[i].text) != cases[i].expected)
            fail_msg("%s", cases[i].text);
}

/* ---- the answer */

#define NAMES "[{registered_name,eight},[],undefined,{registered_name,nine},{registered_name,five}]"

static struct cursor enter_names(struct slice names)
{
    struct cursor c = values_cursor(names);
    struct cursor_list list;
    assert_true(cursor_list(&c, &list));
    return c;
}

/* expected "": it is refused. */
static void expect_answer(const char *items, const char *lists, size_t shown, const char *expected)
{
    static const struct print_limits limits = {.depth = 20, .items = 100, .bytes = 4000};
    static const struct who_node node = {.name = "n@h", .way = WHO_BY_KEYS};
    static const struct who_entry who = {.name = {"\x77\x01n", 3}};
    static const struct etf_pid pid = {.id = 7};
    struct etf_pid named[16];
    struct builder *kept[] = {builder_new(), builder_new(), builder_new(), builder_new()};
    const struct process_question q = {.stack = 2, .links = shown};
    const struct process_values v = {.question = &q,
                                     .node = &node,
                                     .pid = &pid,
                                     .who = &who,
                                     .mono_ns = 12,
                                     .items = term_of(kept[0], items),
                                     .lists = term_of(kept[1], lists),
                                     .names = enter_names(term_of(kept[2], NAMES))};
    struct buf text;
    buf_init(&text, 4096);
    assert_true(process_named_most(shown) <= ARRAY_LEN(named));
    assert_true(process_read_named(v.items, v.lists, &node, shown, named) <=
                process_named_most(shown));
    if (process_build(kept[3], &v)) {
        size_t len = 0;
        const uint8_t *bytes = builder_bytes(kept[3], &len);
        print_term(&text, bytes, len, &limits);
    }
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        builder_free(kept[i]);
}

#define ANSWER(links, monitors, by, leader, ancestors, parent)                                     \
    "{process,12,<0.7.0>,{n,undefined,undefined,undefined,undefined},[{status,waiting},"           \
    "{priority,normal},{trap_exit,false},{reductions,9},{message_queue_len,2},"                    \
    "{message_queue_data,on_heap},{memory,3000},{total_heap_size,300},{heap_size,233},"            \
    "{stack_size,4},{current_function,{a,b,2}},{links," links "},{monitors," monitors              \
    "},{monitored_by," by "},{binary,{2,300,[{200,2},{100,1}]}},{group_leader,{<0.5.0>," leader    \
    "}},{ancestors," ancestors "},{parent," parent "},{heap_fragments,11},"                        \
    "{garbage_collection,[{fullsweep_after,65535},{minor_gcs,3}]},{current_location,"              \
    "{a,b,2,<<\"a.erl\">>,7}},{stack,[{a,b,2,<<\"a.erl\">>,7},{c,d,3,<<>>,0}]},"                   \
    "{dictionary,undefined},{suspending,1}]}"

TEST(test_whole)
{
    expect_answer(ITEMS("3000", "300", FILE_OF_A, ",{parent,<0.1.0>}"),
                  LISTS_OF(LINKS, MONITORS, BINARY, ",[<0.1.0>,{odd},sup]"), 3,
                  ANSWER("{3,[{<0.8.0>,eight},{<0.9.0>,undefined},{<0.10.0>,undefined}]}",
                         "{3,[{process,<0.9.0>,nine},{process,{n,m@h},undefined},"
                         "{time_offset,clock_service,undefined}]}",
                         "{1,[{<0.9.0>,five}]}", "undefined", "[<0.1.0>,sup]", "<0.1.0>"));
}

/* Before OTP 25; of more links than are shown the first have names. */
static void expect_part(const char *lists)
{
    expect_answer(ITEMS("3000", "300", FILE_OF_A, ""), lists, 1,
                  ANSWER("{3,[{<0.8.0>,eight}]}", "{3,[{process,<0.9.0>,undefined}]}",
                         "{1,[{<0.9.0>,undefined}]}", "nine", "[]", "undefined"));
}

TEST(test_parts)
{
    expect_part(LISTS_OF(LINKS, MONITORS, BINARY, ""));
    expect_part(LISTS_OF(LINKS, MONITORS, BINARY, ",\"ab\""));
    expect_part(LISTS_OF(LINKS, MONITORS, BINARY, ",none"));
}

TEST(test_odd)
{
    static const char *const lists[] = {LISTS_OF("none", MONITORS, BINARY, ""),
                                        LISTS_OF(LINKS, "[{a,b,c}]", BINARY, ""),
                                        LISTS_OF(LINKS, MONITORS, "[{7,100}]", ""),
                                        LISTS_OF(LINKS, MONITORS, "[{7,a,1}]", ""),
                                        LISTS_OF(LINKS, MONITORS, "[{7,-1,1}]", ""),
                                        LISTS_OF(LINKS, MONITORS, "\"ab\"", ""),
                                        "[[],[],[],[],0]",
                                        "[]"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        expect_answer(ITEMS("3000", "300", FILE_OF_A, ""), lists[i], 3, "");
    expect_answer("[]", LISTS_OF(LINKS, MONITORS, BINARY, ""), 3, "");
    expect_answer(ITEMS("3000", "300", "{file,none},", ""), "[[],[],[],[],none]", 3, "");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The index of recordings of several nodes: what is written is read, and nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "app/fleet/fleet_index.h"

static int read_text(struct fleet_index *index, const char *text)
{
    struct error err = {0};
    return fleet_index_read(index, text, strlen(text), &err);
}

TEST(test_what_is_written_is_read)
{
    struct recorded_node nodes[] = {
        {"a@h",
         "a@h.btr",
         RECORDED_COMPLETE,
         "",
         12,
         {5000, -1.5, 200},
         {9000, 2.25, 100},
         4000,
         9500},
        {"b@h", "b@h.btr", RECORDED_FAILED, "no node b at h", 0, {0, 0, 0}, {0, 0, 0}, 4000, 0},
    };
    struct fleet_index index = {1000, 0, nodes, 2}, again;
    struct error err = {0};
    struct buf text;
    buf_init(&text, 0);
    fleet_index_put(&text, &index);
    assert_int_equal(fleet_index_read(&again, buf_cstr(&text), text.len, &err), 0);
    assert_true(again.begin_us == 1000 && again.end_us == 0 && again.n == 2);
    assert_string_equal(again.nodes[0].name, "a@h");
    assert_true(again.nodes[0].ticks == 12 && again.nodes[0].begin.offset_us == -1.5);
    assert_true(again.nodes[0].end.wall_us == 9000 && again.nodes[1].begin.wall_us == 0);
    assert_true(again.nodes[1].state == RECORDED_FAILED);
    assert_true(again.nodes[0].from_us == 4000 && again.nodes[0].until_us == 9500);
    assert_true(again.nodes[1].from_us == 4000 && again.nodes[1].until_us == 0);
    assert_string_equal(again.nodes[1].why, "no node b at h");
    fleet_index_clear(&again);
    buf_clear(&text);
}

#define HEAD "{\"schema\":\"beamtop.recordings/1\",\"begin_us\":1,\"end_us\":null,\"nodes\":["
#define NODE(name, file, state, more)                                                              \
    "{\"name\":\"" name "\",\"file\":\"" file "\",\"state\":\"" state "\",\"ticks\":1" more "}"
#define GOOD NODE("a@h", "a.btr", "complete", "")

static const char *const bad[] = {
    "",
    "[]",
    "{}",
    "{\"schema\":\"beamtop.recordings/2\",\"begin_us\":1,\"nodes\":[" GOOD "]}",
    "{\"schema\":\"beamtop.recordings/1\",\"begin_us\":\"1\",\"nodes\":[" GOOD "]}",
    HEAD "]}",
    HEAD "3]}",
    HEAD "{}]}",
    HEAD NODE("", "a.btr", "complete", "") "]}",
    HEAD NODE("a@h", "", "complete", "") "]}",
    HEAD NODE("a@h", "../a.btr", "complete", "") "]}",
    HEAD NODE("a@h", "/etc/passwd", "complete", "") "]}",
    HEAD NODE("a@h", "..", "complete", "") "]}",
    HEAD NODE("a@h", ".hidden", "complete", "") "]}",
    HEAD NODE("a@h", "a\\u0000b", "complete", "") "]}",
    HEAD NODE("a@h", "a.btr", "unheard", "") "]}",
    HEAD NODE("a@h", "a.btr", "complete", ",\"why\":3") "]}",
    HEAD NODE("a@h", "a.btr", "complete", ",\"from_us\":-1") "]}",
    HEAD NODE("a@h", "a.btr", "complete", ",\"until_us\":1.5") "]}",
    HEAD NODE("a@h", "a.btr", "complete", ",\"clock_begin\":3") "]}",
    HEAD NODE("a@h", "a.btr", "complete",
              ",\"clock_begin\":{\"wall_us\":1,\"offset_us\":1e300,\"bound_us\":1}") "]}",
    HEAD NODE("a@h", "a.btr", "complete",
              ",\"clock_end\":{\"wall_us\":1,\"offset_us\":1,\"bound_us\":-1}") "]}",
    HEAD NODE("a@h", "a.btr", "complete",
              ",\"clock_end\":{\"wall_us\":1,\"offset_us\":\"1\",\"bound_us\":1}") "]}",
    HEAD NODE("a@h", "a.btr", "complete", ",\"clock_end\":{\"wall_us\":1,\"offset_us\":1}") "]}",
    HEAD GOOD "," NODE("b@h", "a.btr", "complete", "") "]}",
    HEAD GOOD "]} and more",
};

TEST(test_what_is_not_one_is_refused)
{
    struct fleet_index index;
    assert_int_equal(read_text(&index, HEAD GOOD "]}"), 0);
    fleet_index_clear(&index);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (read_text(&index, bad[i]) != ERR_FORMAT)
            fail_msg("is read: %s", bad[i]);
        fleet_index_clear(&index);
    }
}

TEST(test_words_are_of_one_line)
{
    struct fleet_index index;
    assert_int_equal(read_text(&index, HEAD NODE("a\\n@h", "a.btr", "failed",
                                                 ",\"why\":\"no\\nbeamtop: ok\"") "]}"),
                     0);
    assert_string_equal(index.nodes[0].name, "a @h");
    assert_string_equal(index.nodes[0].why, "no beamtop: ok");
    fleet_index_clear(&index);
}

TEST(test_long_ones)
{
    struct fleet_index index;
    struct buf text;
    buf_init(&text, 0);
    buf_puts(&text, HEAD);
    for (int i = 0; i <= FLEET_INDEX_NODES; i++)
        buf_printf(&text, "%s{\"name\":\"a\",\"file\":\"%d\",\"state\":\"complete\",\"ticks\":1}",
                   i > 0 ? "," : "", i);
    buf_puts(&text, "]}");
    assert_int_equal(read_text(&index, buf_cstr(&text)), ERR_FORMAT);
    fleet_index_clear(&index);
    buf_reset(&text);
    buf_puts(&text, HEAD "{\"file\":\"a\",\"state\":\"complete\",\"ticks\":1,\"name\":\"");
    for (int i = 0; i < 2000; i++)
        buf_puts(&text, "a");
    buf_puts(&text, "\"}]}");
    assert_int_equal(read_text(&index, buf_cstr(&text)), ERR_FORMAT);
    fleet_index_clear(&index);
    buf_clear(&text);
}

TEST(test_a_directory_without_one)
{
    struct fleet_index index;
    struct error err = {0};
    assert_int_equal(fleet_index_open(&index, "/proc", &err), ERR_NOT_FOUND);
    fleet_index_clear(&index);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Status lines of recorders, names of recordings, and the words about their ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../test.h"
#include "app/recorder/record_status.h"

TEST(test_status)
{
    struct record_status s;
    assert_true(record_status_parse(
        &s, "{\"pid\":7,\"node\":\"mq@db1\",\"file\":\"/a/b.btr\",\"ticks\":12,\"bytes\":4096,"
            "\"marks\":2,\"link\":\"refused\",\"detached\":true,\"running_s\":61.5}\n"));
    assert_string_equal(s.node, "mq@db1");
    assert_string_equal(s.file, "/a/b.btr");
    assert_string_equal(s.link, "refused");
    assert_int_equal(s.pid, 7);
    assert_int_equal(s.ticks, 12);
    assert_int_equal(s.bytes, 4096);
    assert_int_equal(s.marks, 2);
    assert_true(s.detached && s.running_s == 61.5);
}

TEST(test_no_status)
{
    static const char *const rows[] = {
        "",
        "{}",
        "[1]",
        "{\"node\":\"a@b\"}",
        "{\"file\":\"/x\"}",
        "{\"node\":7,\"file\":8}",
        "{\"ok\":true}",
        "not JSON",
        "{\"node\":\"a@b\",\"file\":\"/x\"",
    };
    struct record_status s;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (record_status_parse(&s, rows[i]))
            fail_msg("%s is taken", rows[i]);
}

TEST(test_whose)
{
    static const struct {
        const char *theirs, *node;
        bool same;
    } rows[] = {
        {"mq@db1", "mq@db1", true},   {"mq", "mq@db1", true},  {"mq@db1", "mq@db10", false},
        {"mq@db10", "mq@db1", false}, {"m", "mq@db1", false},  {"mq2", "mq@db1", false},
        {"", "mq@db1", false},        {"mq@db1", "mq", false}, {"mq@db1", "mq@db1@x", false},
    };
    const struct record_life unknown = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct record_status s = {0};
        strcpy(s.node, rows[i].theirs);
        if (record_status_is_of(&s, rows[i].node, &unknown) != rows[i].same)
            fail_msg("%s of %s", rows[i].theirs, rows[i].node);
    }
}

TEST(test_life)
{
    static const char pid[] = "77";
    const struct node_info info = {.os_pid = {pid, 2}, .start_wall_us = 900};
    struct record_life life = record_life_of(5, &info);
    assert_int_equal(life.creation, 5);
    assert_int_equal(life.os_pid, 77);
    assert_int_equal(life.start_us, 900);
    life = record_life_of(5, NULL);
    assert_true(life.creation == 5 && life.os_pid == 0 && life.start_us == 0);
    life = record_life_of(5, &(struct node_info){.start_wall_us = 1});
    assert_int_equal(life.os_pid, 0);
}

/* Nodes of the same name under different epmds, and one that was restarted. */
TEST(test_same_name)
{
    static const struct {
        const char *json; /* of the recorder */
        bool same;
    } rows[] = {
        {"\"node_creation\":5,\"node_os_pid\":77,\"node_start_us\":1000000900", true},
        {"\"node_creation\":6,\"node_os_pid\":77,\"node_start_us\":1000000900", false},
        {"\"node_creation\":5,\"node_os_pid\":78,\"node_start_us\":1000000900", false},
        {"\"node_creation\":5,\"node_os_pid\":77,\"node_start_us\":1003000900", true},
        {"\"node_creation\":5,\"node_os_pid\":77,\"node_start_us\":1100000900", false},
        {"\"node_creation\":5,\"node_os_pid\":77,\"node_start_us\":900000900", false},
        {"\"node_creation\":null,\"node_os_pid\":null,\"node_start_us\":null", true},
        {"\"node_creation\":6,\"node_os_pid\":null,\"node_start_us\":null", false},
        {"\"link\":\"of an older beamtop\"", true},
    };
    const struct record_life life = {.creation = 5, .os_pid = 77, .start_us = 1000000900};
    const struct record_life unknown = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct record_status s;
        char json[300];
        snprintf(json, sizeof json, "{\"node\":\"mq@db1\",\"file\":\"/a\",%s}", rows[i].json);
        assert_true(record_status_parse(&s, json));
        if (record_status_is_of(&s, "mq@db1", &life) != rows[i].same)
            fail_msg("%s", rows[i].json);
        if (record_status_is_of(&s, "mq@db2", &life) ||
            !record_status_is_of(&s, "mq@db1", &unknown))
            fail_msg("%s: by its name", rows[i].json);
    }
}

TEST(test_names)
{
    static const struct {
        const char *dir, *node, *wanted;
    } rows[] = {
        {"", "mq@db1", "./mq@db1-20010909-014640.btr"},
        {".", "mq@db1", "./mq@db1-20010909-014640.btr"},
        {"/var/rec", "a-b_c.d@10.0.0.1", "/var/rec/a-b_c.d@10.0.0.1-20010909-014640.btr"},
        {"x", "../é b\x1b", "x/..____b_-20010909-014640.btr"},
    };
    setenv("TZ", "UTC", 1);
    tzset();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b;
        buf_init(&b, 0);
        record_default_name(&b, rows[i].dir, rows[i].node, INT64_C(1000000000) * 1000000);
        assert_string_equal(buf_cstr(&b), rows[i].wanted);
        buf_clear(&b);
    }
}

/* Two recordings that begin in the same second. */
TEST(test_name_is_new)
{
    char dir[64], taken[2][128];
    snprintf(dir, sizeof dir, "/tmp/record_status.%ld", (long)getpid());
    assert_int_equal(mkdir(dir, 0700), 0);
    for (int i = 0; i < 3; i++) {
        struct buf b;
        buf_init(&b, 0);
        record_default_name(&b, dir, "shop@db1", INT64_C(1000000000) * 1000000);
        const char *name = buf_cstr(&b);
        assert_int_not_equal(access(name, F_OK), 0);
        assert_true((strstr(name, "-2.btr") != NULL) == (i == 1));
        assert_true((strstr(name, "-3.btr") != NULL) == (i == 2));
        if (i < 2) {
            snprintf(taken[i], sizeof taken[i], "%s", name);
            fclose(fopen(name, "w"));
        }
        buf_clear(&b);
    }
    unlink(taken[0]);
    unlink(taken[1]);
    rmdir(dir);
}

TEST(test_complaints)
{
    static const struct {
        const char *printed, *wanted;
    } rows[] = {
        {"beamtop: /x/a.btr exists\n", "/x/a.btr exists"},
        {"beamtop: one\nbeamtop: two\n", "one"},
        {"Segmentation fault", "Segmentation fault"},
        {"\n\nbeamtop: late", "late"},
        {"", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b;
        buf_init(&b, 0);
        record_complaint(&b, rows[i].printed);
        assert_string_equal(buf_cstr(&b), rows[i].wanted);
        buf_clear(&b);
    }
}

TEST(test_ends)
{
    static const char of_file[] = "beamtop: /a.btr has 3 ticks; `beamtop report /a.btr` tells\n";
    static const struct {
        const char *end, *log, *wanted;
        bool good;
    } rows[] = {
        {"stopped", of_file,
         "/a.btr is complete: 3 ticks, 4.00 KiB; `beamtop report` and `replay` read it", true},
        {"time", of_file,
         "/a.btr is complete: 3 ticks, 4.00 KiB, its time is over; `beamtop report` and "
         "`replay` read it",
         true},
        {"full", "beamtop: /a.btr: the disk is full\nbeamtop: /a.btr has 3 ticks; `beamtop\n",
         "/a.btr: the disk is full", false},
        {"full", "beamtop: earlier\nbeamtop: the last", "the last", false},
        {"full", "",
         "the recording has ended after 3 ticks: the disk is full, or it has reached its "
         "largest size (record-max-size) (/a.btr)",
         false},
        {"", "beamtop: calls are not counted\n",
         "the recording has ended after 3 ticks: its recorder "
         "was killed; at most the last tick is missing (/a.btr)",
         false},
        {"link", of_file,
         "the recording has ended after 3 ticks: the connection to the node is lost (/a.btr)",
         false},
        {"new word", "", "the recording has ended after 3 ticks: new word (/a.btr)", false},
        {NULL, "", "the recording has ended, and /a.btr cannot be read; see /a.btr.log", false},
    };
    const struct record_status s = {.file = "/a.btr", .ticks = 3, .bytes = 4096};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b;
        buf_init(&b, 0);
        record_end_text(&b, &s, rows[i].end, rows[i].log);
        assert_string_equal(buf_cstr(&b), rows[i].wanted);
        assert_int_equal(record_end_is_good(rows[i].end), rows[i].good);
        buf_clear(&b);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/caps.h"

TEST(test_defaults_are_in_range)
{
    struct caps caps;
    caps_init(&caps);
    for (size_t i = 0; i < CAPS; i++) {
        const struct cap_row *row = &cap_table[i];
        enum cap found = CAPS;
        print_message("# %s\n", row->key);
        assert_true(row->least <= row->value && row->value <= row->ceiling);
        assert_int_equal(caps.value[i], row->value);
        assert_int_equal(cap_find(row->key, &found), 0);
        assert_int_equal(found, i);
    }
    enum cap none = CAP_RATE_PER_S;
    assert_int_equal(cap_find("nonesuch", &none), -1);
    assert_int_equal(none, CAP_RATE_PER_S);
}

TEST(test_typed)
{
    static const struct {
        enum cap cap;
        const char *text;
        uint64_t value; /* 0: refused */
    } rows[] = {
        {CAP_TIME_MS, "5", 5000},
        {CAP_TIME_MS, "250ms", 250},
        {CAP_TIME_MS, "1.5s", 1500},
        {CAP_TIME_MS, "2 m", 120000},
        {CAP_TIME_MS, "10min", 600000},
        {CAP_TIME_MS, "601s", 0},
        {CAP_TIME_MS, "0", 0},
        {CAP_TIME_MS, "-1", 0},
        {CAP_TIME_MS, "5x", 0},
        {CAP_TIME_MS, "", 0},
        {CAP_TIME_MS, "inf", 0},
        {CAP_TIME_MS, "nan", 0},
        {CAP_EVENTS, "10", 10},
        {CAP_EVENTS, "10k", 10000},
        {CAP_EVENTS, "10001", 0},
        {CAP_EVENTS, "1e300", 0},
        {CAP_RATE_PER_S, "500/s", 500},
        {CAP_RATE_PER_S, "5k/s", 5000},
        {CAP_RATE_PER_S, "6k", 0},
        {CAP_TERM_BYTES, "2KiB", 2048},
        {CAP_TERM_BYTES, "256k", 262144},
        {CAP_TERM_BYTES, "1MiB", 0},
        {CAP_BYTES, "64MiB", 67108864},
        {CAP_BYTES, "65M", 0},
        {CAP_BYTES, "2MB", 2000000}, /* as --max-size and `set max-size` take it */
        {CAP_BYTES, "0x100000", 0},
        {CAP_RATE_PER_S, "5/", 0},
        {CAP_EVENTS, "5/s", 0},
        {CAP_HEAP_BYTES, "33MiB", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct caps caps;
        struct error err = {0};
        caps_init(&caps);
        print_message("# %s %s\n", cap_table[rows[i].cap].key, rows[i].text);
        int rc = caps_parse(&caps, rows[i].cap, rows[i].text, &err);
        if (rows[i].value == 0) {
            assert_int_equal(rc, ERR_USAGE);
            assert_non_null(strstr(err.text, cap_table[rows[i].cap].key));
            assert_int_equal(caps.value[rows[i].cap], cap_table[rows[i].cap].value);
        } else {
            assert_int_equal(rc, 0);
            assert_int_equal(caps.value[rows[i].cap], rows[i].value);
        }
    }
}

TEST(test_words)
{
    struct caps caps;
    struct error err = {0};
    enum cap cap;
    caps_init(&caps);
    assert_int_equal(caps_parse_words(&caps, "events  7", &cap, &err), 0);
    assert_int_equal(cap, CAP_EVENTS);
    assert_int_equal(caps.value[CAP_EVENTS], 7);
    assert_int_equal(caps_parse_words(&caps, "eventsandmanyotherthings 7", &cap, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "use time, events"));
    for (size_t i = 0; i < CAPS; i++)
        assert_int_equal(strstr(err.text, cap_table[i].key) != NULL, cap_table[i].atom != NULL);
    error_clear(&err);
    assert_int_equal(caps_parse_words(&caps, "time", &cap, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "time"));
}

TEST(test_texts)
{
    static const struct {
        enum cap cap;
        uint64_t value;
        const char *text;
    } rows[] = {
        {CAP_TIME_MS, 250, "250 ms"},   {CAP_TIME_MS, 15000, "15 s"},
        {CAP_TIME_MS, 1500, "1.5 s"},   {CAP_EVENTS, 100, "100"},
        {CAP_RATE_PER_S, 200, "200/s"}, {CAP_TERM_BYTES, 2048, "2.0 KiB"},
        {CAP_TERM_BYTES, 64, "64 B"},   {CAP_BYTES, 1048576, "1.0 MiB"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[32];
        assert_string_equal(cap_format(text, sizeof text, rows[i].cap, rows[i].value),
                            rows[i].text);
    }
}

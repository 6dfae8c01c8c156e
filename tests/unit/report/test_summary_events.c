/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System events in a report. */
#include "../../test.h"
#include "../recording/opened.h"
#include "../recording/made_events.h"

/* Kinds and processes of the period; what has no row is counted. */
TEST(test_report)
{
    struct opened o = {0};
    struct place p;
    place_make(&p);
    write_events(p.path);
    buf_init(&o.text, 0);
    struct recording *f = reopen(p.path);
    o.sources[o.n++] = (struct summary_input){.recording = f, .name = "before", .from = 1, .to = 3};
    const char *text = report(&o, SUMMARY_TEXT, true);
    assert_says(text, "System events");
    assert_says(text, "4 events.");
    assert_says(text, "1,000 more were dropped");
    assert_says(text, "shop_2");
    json_t *root = parse(&o);
    const json_t *events = json_object_get(root, "system_events");
    assert_int_equal(json_integer_value(json_object_get(events, "seen")), 1004);
    assert_int_equal(json_integer_value(json_object_get(events, "missed")), 1000);
    assert_int_equal(json_array_size(json_object_get(events, "kinds")), 3);
    const json_t *first = json_array_get(json_object_get(events, "kinds"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "key")), "large_heap");
    assert_int_equal(json_integer_value(json_object_get(first, "events")), 2);
    json_decref(root);
    done(&o);
    place_clear(&p);
}

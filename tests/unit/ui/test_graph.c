/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "../../test.h"
#include "ui/canvas/graph.h"

TEST(test_sparks)
{
    static const struct {
        const char *name;
        double values[12];
        int n, columns;
        size_t window;
        double max;
        const char *wanted;
    } rows[] = {
        {"nothing yet", {0}, 0, 4, 4, 1, "    "},
        {"zero is drawn", {0, 0}, 2, 4, 4, 1, "  ▁▁"},
        {"a gap stays", {1, NAN, 1}, 3, 3, 3, 1, "█ █"},
        {"steps", {0, 1, 2, 3, 4, 5, 6, 7}, 8, 8, 8, 7, "▁▂▃▄▅▆▇█"},
        {"above the highest", {9}, 1, 1, 1, 1, "█"},
        {"below zero", {-9}, 1, 1, 1, 1, "▁"},
        {"peaks survive folding", {0, 7, 0, 0}, 4, 2, 4, 7, "█▁"},
        {"a short gap survives folding", {7, NAN, 7, 7}, 4, 2, 4, 7, " █"},
        {"a small change is not a storm", {1000, 1001}, 2, 2, 2, NAN, "▄▅"},
        {"all zero", {0, 0, 0}, 3, 3, 3, NAN, "▁▁▁"},
        {"infinity", {INFINITY}, 1, 1, 1, 1, "█"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ring ring;
        char out[64];
        ring_init(&ring, 900);
        for (int k = 0; k < rows[i].n; k++)
            ring_push(&ring, rows[i].values[k]);
        graph_spark(out, sizeof out, &ring, rows[i].columns, rows[i].window, rows[i].max, false);
        if (strcmp(out, rows[i].wanted) != 0)
            fail_msg("%s: [%s], not [%s]", rows[i].name, out, rows[i].wanted);
        ring_clear(&ring);
    }
}

TEST(test_bars)
{
    static const struct {
        double fraction;
        int cells;
    } rows[] = {{NAN, 0}, {-1, 0}, {0, 0}, {0.001, 1}, {0.5, 5}, {0.999, 10}, {1, 10}, {7, 10}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (graph_bar_cells(10, rows[i].fraction) != rows[i].cells)
            fail_msg("%g: %d", rows[i].fraction, graph_bar_cells(10, rows[i].fraction));
}

TEST(test_limits)
{
    assert_int_equal(graph_limit_style(0.7999), STYLE_OK);
    assert_int_equal(graph_limit_style(0.80), STYLE_WARN);
    assert_int_equal(graph_limit_style(0.9499), STYLE_WARN);
    assert_int_equal(graph_limit_style(0.95), STYLE_ALARM);
    assert_int_equal(graph_limit_style(NAN), STYLE_OK);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph.h"

#include <math.h>
#include <string.h>

static const char *const levels_utf8[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const levels_ascii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
#define LEVELS 8

enum style graph_limit_style(double fraction)
{
    if (fraction >= 0.95)
        return STYLE_ALARM;
    if (fraction >= 0.80)
        return STYLE_WARN;
    return STYLE_OK;
}

static size_t append_cell(char *out, size_t size, size_t at, const char *cell)
{
    size_t len = strlen(cell);
    if (at + len + 1 > size)
        return at;
    memcpy(out + at, cell, len + 1);
    return at + len;
}

/* Highest sample of the ages [from, to); NaN when all are gaps. */
static double highest_sample(const struct ring *ring, size_t from, size_t to)
{
    double best = NAN;
    for (size_t age = from; age < to && age < ring->len; age++) {
        double v = ring_at(ring, age);
        if (!isnan(v) && !(v <= best))
            best = v;
    }
    return best;
}

double graph_peak(const struct ring *ring, size_t window)
{
    return highest_sample(ring, 0, window);
}

/* As highest_sample(), but a gap among the samples is a gap: however short, it is not hidden. */
static double peak_or_gap(const struct ring *ring, size_t from, size_t to)
{
    for (size_t age = from; age < to && age < ring->len; age++)
        if (isnan(ring_at(ring, age)))
            return NAN;
    return highest_sample(ring, from, to);
}

/* The value of a cell, counted from the right; cells are aligned to the ring's own count. */
static double cell_value(const struct ring *ring, int from_right, size_t per_cell)
{
    size_t newest = per_cell ? ring->next % per_cell : 0;
    if (newest == 0)
        newest = per_cell;
    if (from_right == 0)
        return peak_or_gap(ring, 0, newest);
    size_t from = newest + (size_t)(from_right - 1) * per_cell;
    return peak_or_gap(ring, from, from + per_cell);
}

/* A short history fills all cells, so that it shows at once, and is compressed as it grows. */
static size_t samples_per_cell(const struct ring *ring, int columns, size_t window)
{
    size_t cells = columns > 0 ? (size_t)columns : 1;
    size_t samples = ring->len < window ? ring->len : window;
    return samples > cells ? (samples + cells - 1) / cells : 1;
}

/*
 * The range of a line without a fixed highest: what its samples span, but at least a quarter of the
 * highest, so that small changes show and noise does not look like a storm. */
static void fit_range(const struct ring *ring, size_t window, double *low, double *high)
{
    double top = highest_sample(ring, 0, window), bottom = top;
    for (size_t age = 0; age < window && age < ring->len; age++)
        if (ring_at(ring, age) < bottom)
            bottom = ring_at(ring, age);
    double span = top - bottom > top / 4 ? top - bottom : top / 4;
    *low = (top + bottom) / 2 - span / 2;
    *low = *low > 0 ? *low : 0;
    *high = *low + span;
}

size_t graph_spark_span(const struct ring *ring, int columns, size_t window)
{
    size_t span = samples_per_cell(ring, columns, window) * (size_t)(columns > 0 ? columns : 0);
    return span < ring->len ? span : ring->len;
}

char *graph_spark(char *out, size_t size, const struct ring *ring, int columns, size_t window,
                  double max, bool ascii)
{
    const char *const *levels = ascii ? levels_ascii : levels_utf8;
    size_t per_cell = samples_per_cell(ring, columns, window), at = 0;
    double low = 0, high = max;
    if (isnan(max))
        fit_range(ring, per_cell * (size_t)(columns > 0 ? columns : 0), &low, &high);
    out[0] = '\0';
    for (int i = columns - 1; i >= 0; i--) {
        double v = cell_value(ring, i, per_cell);
        if (isnan(v)) {
            at = append_cell(out, size, at, " ");
            continue;
        }
        double share = high > low ? (v - low) / (high - low) : 0;
        share = share < 0 ? 0 : share > 1 ? 1 : share;
        at = append_cell(out, size, at, levels[(int)lround(share * (LEVELS - 1))]);
    }
    return out;
}

char *graph_area(char *out, size_t size, const struct ring *ring, int columns, size_t window,
                 double max, int rows, int row, bool ascii)
{
    const char *const *levels = ascii ? levels_ascii : levels_utf8;
    size_t per_cell = samples_per_cell(ring, columns, window), at = 0;
    double base = (rows - 1 - row) * LEVELS; /* eighths below this row */
    out[0] = '\0';
    for (int i = columns - 1; i >= 0; i--) {
        double v = cell_value(ring, i, per_cell);
        double eighths = isnan(v) || !(max > 0) ? 0 : v / max * rows * LEVELS - base;
        bool bottom = row == rows - 1 && !isnan(v);
        if (eighths < 0.5 && !bottom)
            at = append_cell(out, size, at, " ");
        else
            at = append_cell(out, size, at,
                             levels[eighths >= LEVELS ? LEVELS - 1
                                    : eighths < 1     ? 0
                                                      : (int)lround(eighths) - 1]);
    }
    return out;
}

int graph_bar_cells(int columns, double fraction)
{
    if (isnan(fraction) || fraction <= 0 || columns <= 0)
        return 0;
    int cells = fraction >= 1 ? columns : (int)lround(fraction * columns);
    return cells < 1 ? 1 : cells;
}

char *graph_bar(char *out, size_t size, int cells, bool filled, bool ascii)
{
    const char *mark = filled ? (ascii ? "#" : "━") : (ascii ? "." : "─");
    size_t at = 0;
    out[0] = '\0';
    for (int i = 0; i < cells; i++)
        at = append_cell(out, size, at, mark);
    return out;
}

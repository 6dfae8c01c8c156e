/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Graphs made of characters: sparklines, bars, areas. A gap (NaN) stays an empty cell; a zero is
 * the lowest mark. With `ascii` they keep to ASCII. */
#ifndef BEAMTOP_UI_CANVAS_GRAPH_H
#define BEAMTOP_UI_CANVAS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/ring.h"
#include "beamtop/ui/style.h"

#define GRAPH_CELL_BYTES 3 /* of the longest character used */

/* OK below 80 % of a limit, WARN from there, ALARM from 95 %; OK for NaN. */
enum style graph_limit_style(double fraction);

/*
 * The newest `window` samples in `columns` cells, newest at the right, each cell the highest of its
 * samples, between 0 and `max`. With NaN the range is what the samples span, but at least a quarter
 * of the highest. Cells keep their samples while new ones come in: the line moves by whole cells.
 * While there are fewer samples than cells, each sample has its own. `out` holds columns *
 * GRAPH_CELL_BYTES + 1. */
/* Seconds that its cells stand for: fewer than the window where the history is shorter. */
size_t graph_spark_span(const struct ring *ring, int columns, size_t window);
char *graph_spark(char *out, size_t size, const struct ring *ring, int columns, size_t window,
                  double max, bool ascii);

/* One text row of an area graph `rows` high; row 0 is the top one. */
char *graph_area(char *out, size_t size, const struct ring *ring, int columns, size_t window,
                 double max, int rows, int row, bool ascii);

/* The highest of the newest `window` samples, NaN when all are gaps. */
double graph_peak(const struct ring *ring, size_t window);

/* How many of `columns` cells a bar fills: a fraction above 0 fills at least one. */
int graph_bar_cells(int columns, double fraction);
/* `cells` times the filled (or empty) mark of a bar. */
char *graph_bar(char *out, size_t size, int cells, bool filled, bool ascii);

#endif

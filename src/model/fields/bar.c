/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/bar.h"

#include <math.h>
#include <stdbool.h>

const char *const bar_signs[BAR_MARKS][2] = {
    [BAR_QUEUED] = {"·", "."}, [BAR_RAN] = {"█", "#"}, [BAR_WAITED] = {"─", "-"},
    [BAR_LOST] = {"▒", "="},   [BAR_ON] = {">", ">"},
};

void bar_cells(const struct bar *bar, int width, int *first, int *end)
{
    const bool within = bar->mark == BAR_WAITED;
    const double from = bar->from * width, to = bar->to * width;
    *first = (int)(within ? ceil(from) : floor(from));
    *end = (int)(within ? floor(to) : ceil(to));
    *first = *first < 0 ? 0 : *first < width || within ? *first : width - 1;
    *end = *end > width ? width : !within && *end <= *first ? *first + 1 : *end;
}

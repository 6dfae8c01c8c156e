/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ways.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "node.h"
#include "query/apps/apps.h"
#include "query/growth/growth.h"
#include "query/holders/holders.h"
#include "query/leaders/leaders.h"
#include "query/process/process.h"
#include "query/scan/scan.h"
#include "query/waits/waits.h"
#include "stepped_questions.h"

struct ways {
    struct way_setup setup;
    struct native_way all[QUESTIONS]; /* ask NULL: not made yet, or only the keeper's */
};

typedef struct native_way way_fn(const struct way_setup *setup);

/* Those that are more than one run. */
static way_fn *const makers[QUESTIONS] = {
    [QUESTION_NODE] = node_way,       [QUESTION_SCAN] = scan_way,
    [QUESTION_PROCESS] = process_way, [QUESTION_LEADERS] = leaders_way,
    [QUESTION_APPS] = apps_way,       [QUESTION_GROWTH] = growth_way,
    [QUESTION_WAITS] = waits_way,     [QUESTION_HOLDERS] = holders_way,
    [QUESTION_HELD] = holders_way,
};

static struct native_way make_way(const struct way_setup *setup)
{
    if (makers[setup->question])
        return makers[setup->question](setup);
    for (size_t i = 0; i < stepped_questions_count; i++)
        if (stepped_questions[i]->question == setup->question)
            return stepped_way(stepped_questions[i], setup);
    return (struct native_way){0};
}

const struct native_way *ways_find(struct ways *ways, enum question question)
{
    struct native_way *way = &ways->all[question];
    if (!way->ask) {
        struct way_setup setup = ways->setup;
        setup.question = question;
        *way = make_way(&setup);
    }
    return way->ask ? way : NULL;
}

struct ways *ways_new(const struct way_setup *setup, struct header *header)
{
    struct ways *ways = alloc_zero(1, sizeof *ways);
    ways->setup = *setup;
    ways->all[QUESTION_SYSTEM] = header_way(header);
    ways->setup.scan = ways_find(ways, QUESTION_SCAN)->own;
    return ways;
}

void ways_free(struct ways *ways)
{
    for (size_t i = 0; i < QUESTIONS; i++)
        if (ways->all[i].ask)
            ways->all[i].free(ways->all[i].own);
    free(ways);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/style.h"

#include <string.h>

static const char *const names[STYLES] = {
#define STYLE_NAME(id, name, help) [STYLE_##id] = name,
    STYLE_LIST(STYLE_NAME)
#undef STYLE_NAME
};

static const char *const helps[STYLES] = {
#define STYLE_HELP(id, name, help) [STYLE_##id] = help,
    STYLE_LIST(STYLE_HELP)
#undef STYLE_HELP
};

const char *style_name(enum style s)
{
    return names[s];
}

const char *style_help(enum style s)
{
    return helps[s];
}

int style_find(const char *name)
{
    for (int i = 0; i < STYLES; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "event_options.h"

struct events_options event_options_of(const struct cli_options *o)
{
    struct events_options options;
    events_defaults(&options);
    for (int i = 0; i < SYSTEM_EVENTS; i++) {
        if (o->event_limits[i] > 0)
            options.limits[i] = o->event_limits[i];
        if (o->event_left[i])
            options.limits[i] = 0;
    }
    options.events = (unsigned)o->event_cap;
    return options;
}

bool event_options_given(const struct cli_options *o)
{
    bool any = false;
    for (int i = 0; i < SYSTEM_EVENTS; i++)
        any = any || o->event_limits[i] > 0 || o->event_left[i];
    return any;
}

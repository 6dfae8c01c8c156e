/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trigger.h"

/* A tick that is a little early counts: they are not exactly an interval apart. */
#define SLACK_S 0.1

int trigger_init(struct trigger *t, const char *when, double every_s, struct error *err)
{
    *t = (struct trigger){.every_s = every_s, .has_condition = when && *when};
    return t->has_condition ? condition_parse(&t->condition, when, err) : 0;
}

bool trigger_fires(struct trigger *t, const struct system_sample *s, uint64_t now_ns)
{
    bool holds = !t->has_condition || (s && condition_holds(&t->condition, s));
    bool begins = holds && (t->has_condition ? !t->held : !t->has_fired);
    double since_s = (double)(now_ns - t->fired_ns) / 1e9;
    bool again = holds && t->has_fired && t->every_s > 0 && since_s >= t->every_s - SLACK_S;
    t->held = holds;
    if (!begins && !again)
        return false;
    t->has_fired = true;
    t->fired_ns = now_ns;
    return true;
}

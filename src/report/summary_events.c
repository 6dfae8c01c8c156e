/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System events in a report: which kinds, how many, the processes with the most. */
#include <stdlib.h>

#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "beamtop/output/json.h"
#include "summary_internal.h"

static int add_event(void *arg, const struct system_event *e, struct error *err)
{
    struct summary_events *s = arg;
    (void)err;
    s->seen += e->kind < SYSTEM_EVENTS;
    s->missed = known_plus(s->missed, e->dropped > 0 ? e->dropped : 0);
    system_event_group(s->kinds, EVENTS_BY_EVENT, e);
    system_event_group(s->processes, EVENTS_BY_PROCESS, e);
    return 0;
}

static struct system_event_groups *new_groups(struct arena *arena)
{
    struct system_event_groups *groups = arena_alloc(arena, sizeof *groups);
    groups->n = 0;
    groups->others = 0;
    return groups;
}

int events_take(struct summary_events *s, struct recording *r, struct arena *arena, int64_t from,
                int64_t to, struct error *err)
{
    int64_t *ids;
    if (!recording_info(r)->has_events)
        return 0;
    s->kinds = new_groups(arena);
    s->processes = new_groups(arena);
    s->runs = recording_event_runs(r, from, to, &ids);
    for (size_t i = 0; i < s->runs && err->code == ERR_NONE; i++) {
        s->thinned = recording_events_thinned(r, ids[i]) || s->thinned;
        (void)recording_system_events(r, ids[i], from, to, add_event, s, err);
    }
    free(ids);
    system_event_groups_sort(s->kinds);
    system_event_groups_sort(s->processes);
    return (int)err->code;
}

static size_t shown_groups(const struct system_event_groups *groups)
{
    return groups->n < SHOWN ? groups->n : SHOWN;
}

void events_one(struct paper *p, const struct summary *s)
{
    const struct summary_events *e = &s->events;
    char seen[32], missed[32];
    if (e->runs == 0)
        return;
    paper_heading(p, 2, "System events");
    if (e->thinned)
        paper_put(p, "Earlier ones were removed from the recording to save space.");
    if (e->seen == 0 && e->missed == 0) {
        if (!e->thinned)
            paper_put(p, "None came while the node was watched for them.");
        return;
    }
    paper_put(p, "%s event%s.", text_integer(seen, sizeof seen, e->seen), e->seen == 1 ? "" : "s");
    if (e->missed > 0)
        paper_put(p, "%s more were dropped: too many came at once.",
                  text_integer(missed, sizeof missed, e->missed));
    paper_rows(p, &summary_kind_fields, e->kinds->rows, e->kinds->n, sizeof *e->kinds->rows);
    paper_rows(p, &summary_event_fields, e->processes->rows, shown_groups(e->processes),
               sizeof *e->processes->rows);
    if (e->processes->others > 0)
        paper_put(p, "%s events are of other processes: only the first %d were counted.",
                  text_integer(seen, sizeof seen, e->processes->others), EVENT_GROUPS);
}

json_t *events_json(const struct summary *s)
{
    const struct summary_events *e = &s->events;
    if (e->runs == 0)
        return json_null();
    json_t *o = json_object();
    json_set(o, "seen", json_integer((json_int_t)known_plus(e->seen, e->missed)));
    json_set(o, "missed", json_integer((json_int_t)e->missed));
    json_set(
        o, "kinds",
        json_rows(&system_event_group_fields, e->kinds->rows, e->kinds->n, sizeof *e->kinds->rows));
    json_set(o, "processes",
             json_rows(&system_event_group_fields, e->processes->rows, shown_groups(e->processes),
                       sizeof *e->processes->rows));
    return o;
}

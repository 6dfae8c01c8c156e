/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System events of the node, the newest first, or their groups. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/events_run.h"
#include "ui/widgets/rows.h"
#include "views.h"

#define MOST_SHOWN 500

enum shown_by { SHOWN_EVENTS, SHOWN_BY_PROCESS, SHOWN_BY_FUNCTION, SHOWN_BY_EVENT };
static const struct rows_of events_rows[] = {
    [SHOWN_EVENTS] = {"none", &system_event_fields, "", NULL, NULL, false},
    [SHOWN_BY_PROCESS] = {"process", &system_event_group_fields, "events", NULL, NULL, false},
    [SHOWN_BY_FUNCTION] = {"function", &system_event_group_fields, "events", NULL, NULL, false},
    [SHOWN_BY_EVENT] = {"event", &system_event_group_fields, "events", NULL, NULL, false},
};

/* The run goes on, and its rows with it: the page has copies. */
static void add_events(const struct rows *s, struct view_page *page, const struct events_run *run)
{
    const size_t n = events_run_n(run), shown = n < MOST_SHOWN ? n : MOST_SHOWN;
    struct system_event *copies = arena_alloc(&page->arena, (shown + 1) * sizeof *copies);
    for (size_t i = 0; i < shown; i++) {
        copies[i] = *events_run_event(run, n - 1 - i);
        struct view_row *row = rows_add(s, page, &copies[i]);
        row->id = run->n_events - i;
        if (copies[i].has_pid)
            link_process(&row->link, &copies[i].pid, slice_of(copies[i].name));
    }
}

static void add_groups(const struct rows *s, struct view_page *page, const struct events_run *run,
                       enum events_by by)
{
    struct system_event_groups *groups = arena_alloc(&page->arena, sizeof *groups);
    groups->n = 0;
    groups->others = 0;
    for (size_t i = 0; i < events_run_n(run); i++)
        system_event_group(groups, by, events_run_event(run, i));
    for (size_t i = 0; i < groups->n; i++) {
        const struct slice key = slice_of(groups->rows[i].key);
        rows_add(s, page, &groups->rows[i])->id = text_identity(key.s, key.len);
    }
}

/* What the rows are of, where more have come. */
static void put_beyond(const struct rows *s, struct view_page *page, const struct events_run *run)
{
    const bool groups = s->by != SHOWN_EVENTS;
    const size_t n = events_run_n(run), most = groups ? EVENTS_KEPT : MOST_SHOWN;
    const size_t shown = n < most ? n : most, len = strlen(page->summary);
    char last[32];
    if (run->n_events > shown)
        snprintf(page->summary + len, sizeof page->summary - len, ", %s the last %s",
                 groups ? "groups of" : "here", text_integer(last, sizeof last, (int64_t)shown));
}

static void put_summary(struct view_page *page, const struct events_run *run)
{
    const struct session_status *status = &run->status;
    char seen[32], missed[32];
    const char *state = status->phase == SESSION_RUNNING  ? "watching"
                        : status->phase == SESSION_ASKING ? "press y or n"
                        : session_status_runs(status)     ? "preparing or verifying"
                        : status->phase == SESSION_FAILED ? "failed"
                                                          : events_end_text(run->end);
    snprintf(page->summary, sizeof page->summary, "%s, %s events, %s not shown%s", state,
             text_integer(seen, sizeof seen, (int64_t)run->seen),
             text_integer(missed, sizeof missed, (int64_t)run->missed),
             status->check.done && status->check.clean ? ", nothing left" : "");
}

static void tell_empty(struct view_page *page, const struct model *m, const struct events_run *run)
{
    char key[64];
    page_key(page, CONTEXT_TABLE, ACTION_EVENTS, key, sizeof key);
    if (model_recorded(m) && run && run->seen > run->missed)
        snprintf(page->empty, sizeof page->empty,
                 "Its events were removed from the recording to save space.");
    else if (model_recorded(m) && run)
        snprintf(page->empty, sizeof page->empty, "No event until this moment.");
    else if (model_recorded(m))
        page_missing(page, m, "system events");
    else if (run && run->status.phase == SESSION_FAILED)
        snprintf(page->empty, sizeof page->empty, "Not watched: %.400s", run->status.error.text);
    else if (run && session_status_runs(&run->status))
        snprintf(page->empty, sizeof page->empty, "No event yet.");
    else
        snprintf(page->empty, sizeof page->empty,
                 "%s. %s %s to watch for long garbage collections and schedules, large heaps, long "
                 "message queues and busy ports.",
                 run ? "There was no event" : "System events are not watched",
                 key[0] == ':' && key[1] ? "Type" : "Press", key);
}

static void events_page(void *state, const struct model *m, struct view_page *page)
{
    struct rows *s = state;
    const struct events_run *run = model_events(m);
    rows_begin(s, page, NULL);
    tell_empty(page, m, run);
    if (!run)
        page->order[0] = '\0';
    else if (s->by == SHOWN_EVENTS)
        add_events(s, page, run);
    else
        add_groups(s, page, run, (enum events_by)(s->by - SHOWN_BY_PROCESS));
    if (run) {
        put_summary(page, run);
        put_beyond(s, page, run);
    }
    page_sort(page);
}

static bool events_run_now(const struct model *m)
{
    const struct events_run *run = model_events(m);
    return run && session_status_runs(&run->status);
}

static const struct view_act events_acts[] = {{ACTION_BY, .run = rows_by}, {.run = NULL}};

static const struct view_hint events_hints[] = {
    {ACTION_STOP, "stop"}, {ACTION_ENTER, "open"}, {ACTION_BY, "by"},
    {ACTION_BACK, "back"}, {.does = NULL},
};

const struct view_ops view_events = {
    .name = "events",
    .title = "Events",
    .help = "Long garbage collections and schedules, large heaps, long queues, busy ports.",
    .kind = VIEW_TABLE,
    .stop = ACTION_EVENTS_STOP,
    .shown_by = ACTION_EVENTS,
    .state_bytes = sizeof(struct rows),
    .rows = events_rows,
    .n_rows = ARRAY_LEN(events_rows),
    .page = events_page,
    .sort = rows_sort,
    .hints = events_hints,
    .acts = events_acts,
    .runs = events_run_now,
};

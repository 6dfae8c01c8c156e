/* A trace: what is asked for, how near its caps are, and what it has brought. */
#include "views.h"

#include <stdio.h>

#include "beamtop/trace/log.h"

#define OPENED 64 /* events open at a time; the oldest is closed for one more */

struct opened {
    uint64_t id;
    int levels;
};

struct trace_view {
    struct opened opened[OPENED];
    size_t n_opened;
    bool by_latency;
};

static void trace_want(const void *state, int rows, struct want *want)
{
    (void)state;
    (void)rows;
    want->needs |= NEED_SYSTEM;
}

void trace_fold(void *state, uint64_t id, int levels)
{
    struct trace_view *v = state;
    size_t at = 0;
    while (at < v->n_opened && v->opened[at].id != id)
        at++;
    if (at < v->n_opened && levels != 0) {
        v->opened[at].levels += levels;
    } else if (at < v->n_opened) {
        v->opened[at] = v->opened[--v->n_opened];
    } else {
        if (v->n_opened == OPENED)
            v->opened[0] = v->opened[--v->n_opened];
        v->opened[v->n_opened++] = (struct opened){.id = id, .levels = levels};
    }
}

static void trace_page(void *state, const struct model *m, int rows, int columns,
                       struct view_page *page)
{
    const struct trace_log *log = model_trace(m);
    (void)state;
    (void)rows;
    (void)columns;
    if (!log) {
        snprintf(page->empty, sizeof page->empty,
                 "No trace yet. t asks for a pattern, L shows useful ones.");
        return;
    }
    page_line(page);
    page_puts(page, STYLE_VALUE, trace_phase_name(trace_log_state(log)->phase));
    for (size_t i = 0; i < trace_log_len(log); i++) {
        const struct trace_event *e = trace_log_at(log, i);
        struct view_line *line = page_line(page);
        line->link.kind = TARGET_EVENT;
        line->link.pid = e->pid;
        line->link.id = e->id;
        page_slice(page, STYLE_FUNCTION, e->mfa.module);
        page_puts(page, STYLE_NORMAL, ":");
        page_slice(page, STYLE_FUNCTION, e->mfa.function);
    }
}

const struct view_ops view_trace = {
    .name = "trace",
    .title = "Trace",
    .key = '8',
    .help = "Calls and messages of a trace, its caps, its end.",
    .kind = VIEW_DOC,
    .filters_page = true,
    .state_bytes = sizeof(struct trace_view),
    .want = trace_want,
    .page = trace_page,
};

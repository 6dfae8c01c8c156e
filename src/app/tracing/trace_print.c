/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace_print.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"

#define HOLD_MS 200u   /* for a name */
#define HELD_MOST 256u /* lines; then the oldest goes out as it is */

struct held {
    uint64_t id, since_ms;
    bool finished;
    struct trace_event lost; /* of that kind; these have no id to be found by */
};

struct trace_print {
    trace_print_fn *put;
    void *arg;
    struct held held[HELD_MOST]; /* a ring, the oldest at `first` */
    size_t first, n;
};

struct trace_print *trace_print_new(trace_print_fn *put, void *arg)
{
    struct trace_print *p = alloc_zero(1, sizeof *p);
    p->put = put;
    p->arg = arg;
    return p;
}

void trace_print_free(struct trace_print *p)
{
    free(p);
}

static const struct trace_event *first_event(const struct trace_print *p,
                                             const struct trace_log *log)
{
    const struct held *h = &p->held[p->first];
    return h->lost.kind == EVENT_LOST ? &h->lost : trace_log_find(log, h->id);
}

static bool is_due(const struct trace_print *p, const struct trace_event *event, uint64_t now_ms)
{
    return !event || event->kind == EVENT_LOST || event->name.len > 0 ||
           now_ms - p->held[p->first].since_ms >= HOLD_MS;
}

static int print_first(struct trace_print *p, const struct trace_log *log,
                       const struct trace_event *event, struct error *err)
{
    bool finished = p->held[p->first].finished;
    p->first = (p->first + 1) % HELD_MOST;
    p->n--;
    return event ? p->put(p->arg, log, event, finished, err) : 0;
}

int trace_print_due(struct trace_print *p, const struct trace_log *log, uint64_t now_ms, bool all,
                    struct error *err)
{
    while (p->n > 0) {
        const struct trace_event *event = first_event(p, log);
        if (!all && !is_due(p, event, now_ms))
            return 0;
        int rc = print_first(p, log, event, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int trace_print_event(struct trace_print *p, const struct trace_log *log,
                      const struct trace_event *event, bool finished, uint64_t now_ms,
                      struct error *err)
{
    int rc = 0;
    if (p->n == HELD_MOST)
        rc = print_first(p, log, first_event(p, log), err);
    struct held *h = &p->held[(p->first + p->n++) % HELD_MOST];
    *h = (struct held){.id = event->id, .since_ms = now_ms, .finished = finished};
    if (event->kind == EVENT_LOST)
        h->lost = *event;
    return rc != 0 ? rc : trace_print_due(p, log, now_ms, false, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tree as text: "root wl:root/1 ok ~58.1 {wait b ~50.2 ok} (call b chain ok ~50.1 …)" */
#ifndef BEAMTOP_TESTS_SPANS_TREE_H
#define BEAMTOP_TESTS_SPANS_TREE_H

#include "beamtop/base/buf.h"
#include "beamtop/model/spans.h"

static void tree_put(struct buf *out, struct slice text)
{
    buf_put(out, text.s, text.len);
}

static void tree_put_process(struct buf *out, const struct span_process *p)
{
    if (p->name.len > 0)
        tree_put(out, p->name);
    else
        buf_puts(out, p->pid.id != 0 ? "pid" : "-");
    if (p->node.len > 0) {
        buf_puts(out, "@");
        tree_put(out, p->node);
    }
}

static double tree_ms(int64_t ns)
{
    return (double)ns / 1e6;
}

/* Waits of less than half a millisecond and preemptions depend on the machine. */
static void tree_put_wait(struct buf *out, const struct span_wait *w)
{
    if (w->kind == SPAN_WAIT_OFF_CPU || w->net_ns < 500000)
        return;
    buf_printf(out, " {%s ", span_wait_key(w->kind));
    if (w->kind != SPAN_WAIT_OTHER)
        tree_put_process(out, &w->process);
    if (w->at.len > 0) {
        buf_puts(out, w->kind == SPAN_WAIT_OTHER ? "" : " ");
        tree_put(out, w->at);
    }
    if (w->kind != SPAN_WAIT_OTHER)
        buf_printf(out, " %s", span_outcome_key(w->outcome));
    buf_printf(out, " ~%.3f%s}", tree_ms(w->to_ns - w->from_ns), w->at_most ? " at-most" : "");
}

static void tree_put_span(struct buf *out, const struct spans *s, uint32_t index)
{
    const struct span *span = spans_at(s, index);
    buf_printf(out, "%s ", span_kind_key(span->kind));
    if (span->kind != SPAN_ROOT) {
        tree_put_process(out, &span->process);
        buf_puts(out, " ");
    }
    tree_put(out, span->operation.len > 0 ? span->operation : slice_of("-"));
    buf_printf(out, " %s", span_outcome_key(span->outcome));
    if (span->reason.len > 0) {
        buf_puts(out, " ");
        tree_put(out, span->reason);
    }
    buf_printf(out, " ~%.3f%s%s", tree_ms(span->ended_ns - span->started_ns),
               span->ended_at_least ? "+" : "", span->leaf ? " leaf" : "");
    for (uint32_t i = 0; i < span->n_waits; i++)
        tree_put_wait(out, spans_wait(s, span->wait + i));
    for (int casts = 0; casts < 2; casts++) /* last: they run beside */
        for (uint32_t at = span->child; at != SPAN_NONE; at = spans_at(s, at)->next)
            if ((spans_at(s, at)->kind == SPAN_CAST) == (casts == 1)) {
                buf_puts(out, " (");
                tree_put_span(out, s, at);
                buf_puts(out, ")");
            }
}

static void tree_put_roots(struct buf *out, const struct spans *s)
{
    for (uint32_t i = 0; i < spans_count(s); i++)
        if (spans_at(s, i)->parent == SPAN_NONE) {
            buf_puts(out, out->len > 0 ? "; " : "");
            tree_put_span(out, s, i);
        }
}

#endif

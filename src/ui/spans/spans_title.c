/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands beside the title of the view of causal spans, and why it is empty. */
#include "spans_title.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"

#define TITLE 30 /* columns of the title */

static const char *phase_text(const struct spans_run *run, bool recorded)
{
    static const char *const phases[] = {
        [SESSION_PREPARING] = "preparing", [SESSION_ASKING] = "waits for y or n",
        [SESSION_ARMING] = "starting",     [SESSION_RUNNING] = "running",
        [SESSION_PAUSED] = "running",      [SESSION_TIMING] = "running",
        [SESSION_WAITING] = "running",     [SESSION_ENDING] = "ending",
        [SESSION_VERIFYING] = "verifying", [SESSION_ENDED] = "ended",
        [SESSION_FAILED] = "failed",
    };
    bool over = recorded || run->status.phase == SESSION_ENDED;
    if (over && run->end != SPANS_END_NONE && run->end < SPANS_ENDS)
        return spans_end_text(run->end);
    return recorded ? "recorded" : phases[run->status.phase];
}

static void summarise_spans(struct view_page *page, const struct spans_run *run,
                            const struct spans_sum *sum, bool recorded, int columns)
{
    const struct spans_dropped dropped = spans_dropped(run->spans);
    const struct {
        const char *what;
        uint64_t n;
    } flaws[] = {
        {"open", run->open},
        {"skipped", run->skipped + dropped.beyond},
        {"too deep", dropped.deep},
        {"invalid", dropped.invalid},
        {"of no request", dropped.leaked},
    };
    char text[48];
    page_summary(page, columns, TITLE, "%s", phase_text(run, recorded));
    page_summary(page, columns, TITLE, "%u of %u requests", run->roots, run->roots_asked);
    if (sum && sum->n_roots > 0)
        page_summary(page, columns, TITLE, "slowest 1%%: %zu, from %s", sum->n_slow,
                     page_duration(page, text, sizeof text, (double)sum->slow_from_ns / 1e9));
    for (size_t i = 0; i < ARRAY_LEN(flaws); i++)
        if (flaws[i].n > 0)
            page_summary(page, columns, TITLE, "%s %s",
                         text_integer(text, sizeof text, (int64_t)flaws[i].n), flaws[i].what);
    if (run->every > 1)
        page_summary(page, columns, TITLE, "1 of %u calls", run->every);
    if (run->seconds > 0)
        page_summary(page, columns, TITLE, "%s",
                     page_duration(page, text, sizeof text, run->seconds));
    page_summary(page, columns, TITLE, "%s events",
                 text_integer(text, sizeof text, (int64_t)run->events));
    if (run->status.phase == SESSION_ENDED && run->status.check.done)
        page_summary(page, columns, TITLE, "%s",
                     run->status.check.clean ? "nothing left on the node" : run->status.check.text);
}

/* What the numbers cannot say comes first: patterns may be long. */
static void put_note(struct view_page *page, const struct spans_run *run)
{
    snprintf(page->note, sizeof page->note, "%s; calls of %.200s",
             run->full          ? "full: CPU, preemption and waits are known"
             : run->no_payloads ? "without payloads: only calls of gen_server and gen_statem"
                                : "light: CPU, preemption, uncaptured waits unknown",
             run->patterns);
}

void spans_title(struct view_page *page, const struct spans_run *run, const struct spans_sum *sum,
                 bool recorded, int columns)
{
    summarise_spans(page, run, sum, recorded, columns);
    put_note(page, run);
}

static void explain_none(char *out, size_t size, const struct spans_run *run)
{
    char n[32], rate[32], time[48];
    const uint64_t functions = run->functions + run->called;
    switch (run->status.phase) {
    case SESSION_PREPARING:
        snprintf(out, size, "The node is asked for the functions, and for other tools.");
        break;
    case SESSION_ASKING:
        snprintf(out, size, "Waits for y or n: %s function%s, about %s calls/s, %s.",
                 text_integer(n, sizeof n, (int64_t)functions), functions == 1 ? "" : "s",
                 text_count(rate, sizeof rate, run->calls_per_s),
                 session_share_text(time, sizeof time, run->load, SPANS_COST));
        break;
    case SESSION_FAILED:
        snprintf(out, size, "Nothing was captured: %.400s", run->status.error.text);
        break;
    case SESSION_ENDED:
        if (run->status.check.unarmed)
            snprintf(out, size, "Nothing was captured: it was stopped before it began.");
        else
            snprintf(out, size, "No call of %.200s in %s: no request was captured.", run->patterns,
                     text_duration_as(time, sizeof time, run->seconds, true));
        break;
    case SESSION_ARMING:
        snprintf(out, size, "The capture is being set on the node.");
        break;
    case SESSION_RUNNING:
    case SESSION_PAUSED:
    case SESSION_TIMING:
    case SESSION_WAITING:
    case SESSION_ENDING:
    case SESSION_VERIFYING:
        snprintf(out, size, "No call of %.200s yet.", run->patterns);
        break;
    }
}

void spans_empty(struct view_page *page, const struct spans_run *run)
{
    char key[64];
    if (run)
        explain_none(page->empty, sizeof page->empty, run);
    else
        snprintf(page->empty, sizeof page->empty,
                 "No requests were captured yet. Press %s to choose the calls that begin them.",
                 page_key(page, CONTEXT_TABLE, ACTION_SPANS, key, sizeof key));
}

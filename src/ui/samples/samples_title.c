/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands beside the title of the view of samples, and why it is empty. */
#include "samples_title.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"

#define TITLE 36 /* columns of the title */

static void time_piece(struct view_page *page, const struct samples_log *log, bool recorded,
                       int columns)
{
    static const char *const phases[] = {
        [SAMPLING_STARTS] = "starting",
        [SAMPLING_RUNS] = "running",
        [SAMPLING_ENDED] = "ended",
        [SAMPLING_FAILED] = "failed",
    };
    const struct samples_summary *run = &log->run;
    char took[48], all_s[48];
    page_duration(page, took, sizeof took, run->seconds);
    page_duration(page, all_s, sizeof all_s, log->for_s);
    const char *phase = recorded ? "recorded" : phases[log->phase];
    if (!(run->seconds > 0))
        page_summary(page, columns, TITLE, "%s", phase);
    else if (log->phase == SAMPLING_RUNS && log->for_s > 0)
        page_summary(page, columns, TITLE, "%s, %s of %s", phase, took, all_s);
    else
        page_summary(page, columns, TITLE, "%s, %s", phase, took);
}

void samples_title(struct view_page *page, const struct samples_log *log, bool recorded,
                   int columns)
{
    const struct samples_summary *run = &log->run;
    const struct {
        const char *what;
        int64_t n;
    } flaws[] = {
        {"lost", run->lost},
        {"moved on", run->moved_on},
        {"truncated", run->truncated},
        {"unresolved", run->unresolved},
    };
    char text[48];
    time_piece(page, log, recorded, columns);
    if (run->at_yields)
        page_summary(page, columns, TITLE, "at yield points, by reductions");
    page_summary(page, columns, TITLE, "%s samples", text_integer(text, sizeof text, run->samples));
    for (size_t i = 0; i < ARRAY_LEN(flaws); i++)
        if (flaws[i].n > 0)
            page_summary(page, columns, TITLE, "%s %s", text_integer(text, sizeof text, flaws[i].n),
                         flaws[i].what);
    if (run->hz > 0)
        page_summary(page, columns, TITLE, "%g Hz", run->hz);
    if (run->seconds > 0 && run->target_cpu_s >= 0)
        page_summary(page, columns, TITLE, "VM %s CPU",
                     text_percent(text, sizeof text, run->target_cpu_s / run->seconds));
    if (run->seconds > 0 && run->sampler_cpu_s >= 0)
        page_summary(page, columns, TITLE, "sampler %s",
                     text_percent(text, sizeof text, run->sampler_cpu_s / run->seconds));
    const double shortened =
        samples_share(stacks_shortened(run->stacks), stacks_total(run->stacks));
    if (shortened > 0)
        page_summary(page, columns, TITLE, "%s shortened",
                     text_percent(text, sizeof text, shortened));
    page_summary(page, columns, TITLE, "%s", log->why);
    page_summary(page, columns, TITLE, "%s", log->note);
}

void samples_empty(struct view_page *page, const struct samples_log *log, bool from_outside)
{
    char *out = page->empty;
    size_t size = sizeof page->empty;
    if (!log)
        snprintf(out, size, "Nothing was sampled yet: the action `sample` starts it.");
    else if (log->phase == SAMPLING_FAILED)
        snprintf(out, size, "Not sampled: %s", log->why);
    else if (log->phase == SAMPLING_STARTS)
        snprintf(out, size, "The sampler starts.");
    else if (log->run.at_yields && from_outside)
        snprintf(out, size,
                 "Not known: the node took these samples itself, at yield points. "
                 "Threads, classes and long calls need samples taken from outside.");
    else if (log->phase == SAMPLING_RUNS)
        snprintf(out, size, "No samples yet: no thread of the VM was seen on a CPU.");
    else
        snprintf(out, size, "No samples: no thread of the VM was seen on a CPU.");
}

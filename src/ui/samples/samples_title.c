/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands beside the title of the view of samples, and why it is empty. */
#include "samples_title.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"

/* Appends to the summary what there is room for beside the title. */
static void piece(struct view_page *page, int columns, const char *fmt, ...) ATTR_PRINTF(3, 4);
static void piece(struct view_page *page, int columns, const char *fmt, ...)
{
    char text[256];
    size_t used = strlen(page->summary);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t width = text_width(page->summary, used) + text_width(text, strlen(text));
    if (*text && (int)width + 36 <= columns && used + strlen(text) + 3 < sizeof page->summary)
        snprintf(page->summary + used, sizeof page->summary - used, "%s%s", used ? ", " : "", text);
}

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
    (page->ascii ? text_ascii_duration : text_duration)(took, sizeof took, run->seconds);
    (page->ascii ? text_ascii_duration : text_duration)(all_s, sizeof all_s, log->for_s);
    const char *phase = recorded ? "recorded" : phases[log->phase];
    if (!(run->seconds > 0))
        piece(page, columns, "%s", phase);
    else if (log->phase == SAMPLING_RUNS && log->for_s > 0)
        piece(page, columns, "%s, %s of %s", phase, took, all_s);
    else
        piece(page, columns, "%s, %s", phase, took);
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
        piece(page, columns, "at yield points, by reductions");
    piece(page, columns, "%s samples", text_integer(text, sizeof text, run->samples));
    for (size_t i = 0; i < ARRAY_LEN(flaws); i++)
        if (flaws[i].n > 0)
            piece(page, columns, "%s %s", text_integer(text, sizeof text, flaws[i].n),
                  flaws[i].what);
    if (run->hz > 0)
        piece(page, columns, "%g Hz", run->hz);
    if (run->seconds > 0 && run->target_cpu_s >= 0)
        piece(page, columns, "VM %s CPU",
              text_percent(text, sizeof text, run->target_cpu_s / run->seconds));
    if (run->seconds > 0 && run->sampler_cpu_s >= 0)
        piece(page, columns, "sampler %s",
              text_percent(text, sizeof text, run->sampler_cpu_s / run->seconds));
    if (stacks_shortened(run->stacks) > 0)
        piece(
            page, columns, "%s shortened",
            text_percent(text, sizeof text,
                         samples_share(stacks_shortened(run->stacks), stacks_total(run->stacks))));
    piece(page, columns, "%s", log->why);
    piece(page, columns, "%s", log->note);
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

/* The trace prompt. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "tui_trace_internal.h"

#define MARK "trace> "

static void accepted(void *ctx, const char *line)
{
    tui_trace_submit(ctx, line);
}

void tui_trace_prompt(struct tui_trace *tr, const char *initial)
{
    const struct prompt_calls calls = {.accepted = accepted, .ctx = tr};
    prompt_open(tr->tui->prompt, PROMPT_TRACE, MARK, initial, &calls);
    tui_touch(tr->tui);
}

static void replace_answered(struct tui *t, bool yes)
{
    struct tui_trace *tr = t->trace;
    if (yes && tui_trace_runs(tr)) {
        tr->next_agreed = true; /* the timer starts it when this one has ended */
        trace_stop(tr->session);
        return;
    }
    char *next = tr->next;
    tr->next = NULL;
    if (yes)
        tui_trace_submit(tr, next);
    else
        tui_trace_prompt(tr, next);
    free(next);
}

void tui_trace_submit(struct tui_trace *tr, const char *line)
{
    struct error err = {.code = ERR_NONE};
    size_t offset = 0;
    if (line[strspn(line, " ")] == '\0')
        return;
    if (tui_trace_runs(tr)) {
        free(tr->next);
        tr->next = alloc_strdup(line);
        tr->next_agreed = false;
        tui_ask(tr->tui, "a trace is running: end it and start this one? (y/n) ",
                replace_answered);
        return;
    }
    if (tui_trace_start(tr, line, &offset, &err) == 0)
        return;
    tui_trace_prompt(tr, line);
    prompt_mark_error(tr->tui->prompt, offset, err.text);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What findings are, for reports and for the screen. The rules that make them are of
 * report/evaluate.h. */
#ifndef BEAMTOP_MODEL_FINDING_H
#define BEAMTOP_MODEL_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/arena.h"

/* What it asks of you. */
enum finding_severity {
    FINDING_NOTE, /* worth knowing; nothing to do: headroom, an overhead that is structural */
    FINDING_LOOK, /* wants a look: the numbers fit, the cause is not certain */
    FINDING_ACT,  /* change this */
};
/* "fix", "check", "info": on the screen and in reports. Static. */
const char *finding_severity_word(enum finding_severity severity);
/* "act", "look", "note": the value in JSON. Static. */
const char *finding_severity_value(enum finding_severity severity);
/* Of a word or a value; false: it is neither. */
bool finding_severity_find(const char *text, enum finding_severity *out);

enum finding_effort { EFFORT_SETTING, EFFORT_SMALL, EFFORT_LARGE };
const char *finding_effort_word(enum finding_effort effort); /* "config change" */

struct evidence {
    const char *key;  /* "share", "run_queue_mean": stable, for JSON */
    double value;     /* NaN: only a text */
    const char *unit; /* "", "share", "bytes", "per_s", "us" */
    const char *text; /* in words, with the number */
};

struct finding {
    const char *rule; /* key of its row: "sync_logger" */
    enum finding_severity severity;
    enum finding_effort effort;
    double confidence; /* 0..1, from how far the numbers are from the rule's limits and how many
                    ticks there are */
    double impact;     /* share of the node's work that it is about, 0..1; NaN: not of that kind */
    const char
        *title; /* "Logger default blocks its callers: 31% of their time": the culprit first */
    const char *action;       /* what to change, as exactly as is known: the setting, its value */
    const char *ruled_out_if; /* what one would see if this were wrong */
    const char *subject;      /* pid, module, table; "" none */
    /* What it names, "" none: the pid of a process, an application, and a pattern of the trace
       language that shows the cause at work. */
    const char *process, *application, *trace;
    const char *view;  /* that shows more than what it names; NULL: none */
    const char *cause; /* findings of one cause are one; "": only this one has it */
    int rank;          /* among these: the lowest gives the title */
    size_t place;      /* in the order found: that of findings of one rule that weigh the same */
    const struct evidence *evidence;
    size_t n_evidence;
};
/* Of its rule and subject, never 0: the same from one judgement to the next. */
uint64_t finding_identity(const struct finding *f);

#define FINDINGS_MOST 200

struct findings {
    struct arena arena;    /* owns all texts */
    struct finding *items; /* most severe first, then by impact; FINDINGS_MOST at most */
    size_t len;
    const char *const *not_evaluated; /* rules that could not be judged, with why: "ets_hot_read: no
                                         calls recorded" */
    size_t n_not_evaluated;
    const char
        *calls_refused; /* why calls were not counted, or not always; NULL: nothing was refused */
};

/* What the screen shows of them: the findings of the last minutes. */
struct findings_shown {
    struct findings found;
    int64_t ticks;   /* that were judged, 0: none yet */
    double period_s; /* from the first of them to the last; NaN unknown */
    char why[160];   /* why nothing can be judged; "": it can */
};
/* How many ask for something: not those that only say what was seen. shown NULL: 0. */
size_t findings_asking(const struct findings_shown *shown);
/* NULL: it is not among them. shown may be NULL. */
const struct finding *findings_find(const struct findings_shown *shown, uint64_t identity);

#endif

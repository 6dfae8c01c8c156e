/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prompts for patterns of functions: what is known of the line as it is typed, after a pause, and
 * completion with names of the node. One is open at a time. */
#ifndef BEAMTOP_APP_TUI_TUI_NAMES_H
#define BEAMTOP_APP_TUI_TUI_NAMES_H

#include "beamtop/trace/assist.h"
#include "beamtop/ui/complete.h"
#include "tui_internal.h"

enum tui_names_line {
    NAMES_TRACE,   /* a trace, with its options */
    NAMES_PATTERN, /* one pattern, then options of another kind */
    NAMES_LIST,    /* patterns of functions to count */
};

/* A prompt. Each function gets the arg of tui_names_open(). */
struct tui_names {
    enum prompt_kind kind;
    enum tui_names_line line;
    const char *mark;
    bool (*complete)(struct completion *out, struct assist *a, enum syntax syntax, const char *line,
                     size_t point);
    void (*accepted)(void *arg, const char *line);
    struct live *of;           /* the node whose names they are; NULL: the one on the screen */
    void (*choose)(void *arg); /* before it is asked: tui_names_follow() of another; NULL: never */
    bool (*held)(void *arg);   /* nothing may be asked of the node now; NULL: never */

    /* Where a hint shows what is known: its first line, and what follows the second in place of
       that the cost is measured first; NULL: nothing. */
    const char *syntax;
    void (*cost)(void *arg, char *out, size_t size);

    /* Else. */
    void (*show)(void *arg);    /* what is known; looked at is also the line that it opens with */
    void (*changed)(void *arg); /* the line has, or is about to open: nothing is known of it */
    void (*listed)(void *arg, size_t n); /* so many words go on from the cursor */
    void (*spec)(void *arg);             /* ACTION_PROMPT_SPEC */
};

/* t->own[TUI_NAMES]. */
struct tui_naming {
    struct tui *tui;
    struct assist *assist;         /* what is known of the node */
    const struct live *assisted;   /* whose port it has; NULL: none */
    const struct tui_names *names; /* of the last prompt, with arg */
    void *arg;
    uv_timer_t pause;     /* until what is typed is looked at, then until it has settled */
    bool looked, settled; /* nothing was typed since for a while: an error may be shown */
    bool completing;      /* words were asked for that are on their way */
};

/* Opens one with a line in it; names stays. */
void tui_names_open(struct tui *t, const struct tui_names *names, void *arg, const char *line);
/* The line is looked at after the next pause, as if it had been typed. */
void tui_names_look(struct tui *t);
/* The prompt that is open goes on with the names of this node; NULL: of none. */
void tui_names_follow(struct tui *t, struct live *of);
/* A connection is gone whose names may be asked for. */
void tui_names_lost(struct tui *t);

#endif

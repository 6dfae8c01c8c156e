/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole screen: header, panes, overlay, message line or prompt. It takes actions and mouse
 * events, says what it wants of the target, and draws itself from the model into a canvas.
 * It never talks to a target: what needs one is a request that the owner takes.
 * One thread. */
#ifndef BEAMTOP_UI_SCREEN_H
#define BEAMTOP_UI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/base/regex.h"
#include "beamtop/model/model.h"
#include "beamtop/model/want.h"
#include "beamtop/ui/action.h"
#include "beamtop/ui/canvas.h"
#include "beamtop/ui/header.h"
#include "beamtop/ui/keymap.h"
#include "beamtop/ui/prompt.h"
#include "beamtop/ui/tty.h"
#include "beamtop/ui/view.h"

struct screen;

enum screen_request_kind {
    REQUEST_REFRESH,        /* other facts are wanted than before: ask now, not at the next tick */
    REQUEST_MAILBOX,        /* peek at the mailbox of pid, in text as printed */
    REQUEST_STATE,          /* sys:get_state of pid. Older answers of a kind are dropped */
    REQUEST_COLLECT,        /* a garbage collection of pid */
    REQUEST_NODE,           /* the picker chose node `text`, the VM os_pid */
    REQUEST_CHOICE,         /* a text of screen_choose() was chosen: screen_chosen() */
    REQUEST_ACT,            /* carry out `action`, another owner's */
    REQUEST_STOP_RECORDING, /* the user has not confirmed it yet */
    REQUEST_CONFIRM,        /* ask `text`; after a yes screen_confirm() with `action` */
    REQUEST_UNFILTER,       /* clear the filter */
};
struct screen_request {
    enum screen_request_kind kind;
    enum action action;
    struct etf_pid pid;
    int64_t os_pid; /* 0: unknown */
    char text[512];
};

/* A node to pick, given by the owner; strings are copied. Unknown numbers are NaN. */
struct screen_node {
    const char *name, *otp, *elixir, *cookie, *note;
    const char *refusal; /* why it cannot be opened, and what to do; NULL or "": it can */
    int64_t os_pid;
    double uptime_s, memory_bytes;
};

/* A text to choose, given by the owner; strings are copied. */
struct screen_choice {
    const char *title, *text;
};

/* The user has said yes to REQUEST_CONFIRM. Errors as of screen_act(). */
int screen_confirm(struct screen *s, const struct model *m, enum action action, struct error *err);

struct screen *screen_new(const char *view,
                          struct error *err); /* NULL: no such view; err lists them */
void screen_free(struct screen *s);

/* ---- what the owner knows; texts are copied unless stated otherwise */
/* "10:42:07", at the right end of the header */
void screen_set_clock(struct screen *s, const char *clock);
void screen_set_paused(struct screen *s, bool paused);
/* Since the last answer; shown while not live. */
void screen_set_frozen_s(struct screen *s, double seconds);
/* Until the next tick, shown where ticks are rare; NaN: unknown. */
void screen_set_next_s(struct screen *s, double seconds);
void screen_set_recording(struct screen *s, const struct header_recording *recording);
void screen_set_message(struct screen *s, enum style style,
                        const char *text); /* NULL or "": none */
void screen_end_notice(struct screen *s);  /* a message of STYLE_MESSAGE goes; others stay */
/* Borrowed; drawn while it is open. */
void screen_set_prompt(struct screen *s, const struct prompt *prompt);
void screen_set_keymap(struct screen *s,
                       const struct keymap *keymap); /* borrowed; for the help view */
/*
 * The filter of the focused view. `pattern` is what stands there, `re` its last good compilation
 * (borrowed until the next call; NULL: none), error_at the byte where the pattern is wrong, or -1.
 */
void screen_set_filter(struct screen *s, const char *pattern, struct regex *re, long error_at);
/* The focused view's filter where another one applies, to be set next; NULL: it applies. Each view
   of a pane has one, and a view that is opened has none. */
const char *screen_filter_due(const struct screen *s);
/* Whether the target applies the filter of the view in focus; and the pattern that the target is to
 * apply: of the list in focus, else of the first one in sight; "": none. */
bool screen_filters_on_target(const struct screen *s);
const char *screen_target_filter(const struct screen *s);
/* Another node: no process was shown. */
void screen_forget_process(struct screen *s);
/* Shows beamtop's own processes in lists of processes, or hides them. */
void screen_set_own(struct screen *s, bool shown);

/* Opens a picker of nodes; REQUEST_NODE names the chosen one. */
void screen_choose_node(struct screen *s, const struct screen_node *nodes, size_t n);
/* Opens a picker of texts under a heading (static); REQUEST_CHOICE: one was chosen. */
void screen_choose(struct screen *s, const char *heading, const struct screen_choice *choices,
                   size_t n);
const char *screen_chosen(const struct screen *s); /* borrowed until the next screen_choose() */

/* ---- going on */
/* The model has taken answers: the next draw builds the pages again. */
void screen_update(struct screen *s);
/* The syntax of traces. AUTO, the initial value: as their first pattern. */
void screen_set_syntax(struct screen *s, enum syntax syntax);
/* Adds up what the visible views want. Start with a zeroed struct. */
void screen_want(const struct screen *s, struct want *want);
/*
 * Does an action of OWNER_SCREEN or OWNER_VIEW. arg may be "" or NULL. Returns 1 when done, 0 when
 * it is another owner's, a negative enum err when it cannot be
 * done here. */
int screen_act(struct screen *s, const struct model *m, enum action action, const char *arg,
               struct error *err);
/*
 * Reads a line of the `:` prompt, as action_parse(). A view's name opens the view. Without
 * more words it does so also where an action of another owner has that name, unless the view has
 * the focus. */
int screen_command(const struct screen *s, const char *line, struct action_call *out,
                   struct error *err);
/* ERR_USAGE: the action means nothing in the focused view, see view_takes(). */
int screen_takes(const struct screen *s, enum action action, struct error *err);
/* A key that a menu takes as text, before it is looked up. */
bool screen_type(struct screen *s, struct key key);
bool screen_has(enum action action); /* OWNER_SCREEN has a handler for it */
bool screen_take_request(struct screen *s, struct screen_request *out); /* oldest first */

/* Mouse, in canvas coordinates. twice: the second of a double click, which goes in where the first
   has put the cursor. */
void screen_click(struct screen *s, const struct model *m, int row, int column, bool twice);
void screen_wheel(struct screen *s, const struct model *m, int row, int column, int lines);

/* ---- what is there */
/* Where keys go: a table, a document, a trace, or a picker while one lies over the panes. */
enum context screen_context(const struct screen *s);
const char *screen_view(const struct screen *s); /* name of the focused pane's view; static */
/* What `sort` takes in the focused pane. */
void screen_orders(const struct screen *s, word_put *put, void *out);
/* The row under the cursor of the focused pane; kind TARGET_NONE when there is none. */
struct view_link screen_link(const struct screen *s);
/* Those of its rows that are shown, or also marked: how many, of which `most` are put. */
size_t screen_rows(const struct screen *s, bool marked, struct view_link *out, size_t most);
/* The process that the focused pane's view is of; TARGET_NONE: nobody knows its pid yet. False:
   that view is of no process. */
bool screen_process(const struct screen *s, const struct model *m, struct view_link *link);

/* Draws all of it to the canvas' whole size. */
void screen_draw(struct screen *s, const struct model *m, struct canvas *c,
                 struct tty_cursor *cursor);
/* Draws only the focused pane into the whole canvas: captures of one pane. */
void screen_draw_pane(struct screen *s, const struct model *m, struct canvas *c);

#endif

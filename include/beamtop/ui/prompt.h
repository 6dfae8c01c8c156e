/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A one-line prompt with readline's editing, history and our completion. Readline never touches
 * the terminal: keys are handed to it, and its line is drawn into a canvas. Readline's state is
 * global, so one prompt exists at a time in a program
 * (an assert). */
#ifndef BEAMTOP_UI_PROMPT_H
#define BEAMTOP_UI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/error.h"
#include "beamtop/ui/canvas.h"
#include "beamtop/ui/complete.h"
#include "beamtop/ui/keymap.h"
#include "beamtop/ui/tty.h"

struct prompt;

enum prompt_kind {
    PROMPT_COMMAND, /* ':' an action or a setting */
    PROMPT_FILTER,  /* '/' an expression, passed on while it is typed */
    PROMPT_SEARCH,  /* '/' likewise, among events, which have values of the target in them */
    PROMPT_TEXT,    /* a word or a file name */
    PROMPT_ASK,     /* one key answers: y, n; no history */
    PROMPT_TRACE,   /* what to trace, and options */
    PROMPT_CALLS,   /* which functions to count */
    PROMPT_SPANS,   /* which calls begin a request, and options */
    PROMPT_KINDS,
};

/* Called from within prompt_key and prompt_paste; they may open the next prompt. */
struct prompt_calls {
    void (*changed)(void *ctx, const char *line);  /* the line differs from before; may be NULL */
    void (*accepted)(void *ctx, const char *line); /* the prompt is closed; ASK: "y" or "n" */
    void (*cancelled)(void *ctx);                  /* closed without an answer; may be NULL */
    void (*complete)(void *ctx, const char *line, size_t point,
                     struct completion *out); /* may be NULL */
    void (*spec)(void *ctx);                  /* shows or hides it; may be NULL */
    void *ctx;
};

struct prompt *prompt_new(const struct keymap *keymap); /* borrowed; NULL: built-in keys only */
void prompt_free(struct prompt *p);

/* `mark` stands before the line (":", "filter /", "peek 12,000 messages? (y/n) "). */
void prompt_open(struct prompt *p, enum prompt_kind kind, const char *mark, const char *initial,
                 const struct prompt_calls *calls);
void prompt_close(struct prompt *p); /* without a call */
bool prompt_is_open(const struct prompt *p);
enum prompt_kind prompt_kind(const struct prompt *p);
const char *prompt_line(const struct prompt *p, size_t *point); /* borrowed until the next key */

bool prompt_has(enum action action); /* OWNER_PROMPT has a handler for it */
void prompt_key(struct prompt *p, struct key key);
/* Ends of lines become blanks, control bytes go. */
void prompt_paste(struct prompt *p, const char *s, size_t len);

/* Marks a byte of the line as wrong and says why (in a separate row, unless it is ""), until the
   line changes; also from `changed`. */
void prompt_mark_error(struct prompt *p, size_t offset, const char *text);

/*
 * What is known of the line: lines of text above it, NULL for none; the last is in that style. It
 * stays when the line changes, dimmed until it is set again, so that nothing jumps while you type.
 */
void prompt_set_hint(struct prompt *p, enum style style, const char *text);
/* Completes as if asked for again: words have come that were not known when it was. */
void prompt_complete_again(struct prompt *p);

/* Rows that it needs: one, and those of the list of completions, of what is known of the line, and
   of the error's text. */
int prompt_rows(const struct prompt *p, int columns, int most);
void prompt_draw(const struct prompt *p, struct canvas *c, struct rect r,
                 struct tty_cursor *cursor);

/* A line of history, 0 the newest; NULL: no more. Borrowed until the next line is accepted. */
const char *prompt_history_line(const struct prompt *p, enum prompt_kind kind, size_t age);

/* History of one kind: a line a line. A missing file is an empty history. */
int prompt_load_history(struct prompt *p, enum prompt_kind kind, const char *path,
                        struct error *err);
/* Readable by the owner only, without the lines for which `leave_out` (may be NULL) is true. */
int prompt_save_history(const struct prompt *p, enum prompt_kind kind, const char *path,
                        size_t most, bool (*leave_out)(const char *line), struct error *err);

#endif

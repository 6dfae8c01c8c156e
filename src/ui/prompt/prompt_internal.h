/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The prompt's state, shared by its editing and its drawing. */
#ifndef BEAMTOP_UI_PROMPT_PROMPT_INTERNAL_H
#define BEAMTOP_UI_PROMPT_PROMPT_INTERNAL_H

#include "beamtop/ui/prompt.h"

struct prompt_history {
    char **lines; /* oldest first */
    size_t len;
};

struct prompt {
    const struct keymap *keymap; /* borrowed; may be NULL */
    bool open;
    enum prompt_kind kind;
    char *mark; /* owned while open */
    struct prompt_calls calls;
    char *reported_line; /* the line that `changed` got last */
    size_t error_at;     /* SIZE_MAX: none */
    char *error_text;
    char *hint; /* owned; NULL: none */
    enum style hint_style;
    bool hint_old;          /* the line has changed since */
    struct completion list; /* shown above the line while it has items */
    struct prompt_history histories[PROMPT_KINDS];
    size_t at;                /* the line of history that is shown; its len: the one being typed */
    char *draft;              /* owned while a line of history is shown: what was typed before */
    void *null_in, *null_out; /* FILE: readline's streams lead nowhere */
    const char *input;        /* bytes that readline has not read yet */
    size_t input_len;
    bool ended, accepted; /* readline itself ended the line */
};

#endif

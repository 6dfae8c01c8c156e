/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words: what a place in a command can be filled with. Completion, help and the shells' completion
 * ask for words by kind; tables of this layer answer for themselves, a struct word_source for the
 * rest. */
#ifndef BEAMTOP_UI_WORD_H
#define BEAMTOP_UI_WORD_H

enum word_kind {
    WORD_NONE, /* takes nothing */
    WORD_TEXT, /* free text: nothing to complete */
    WORD_NUMBER,
    WORD_DURATION, /* 5s, 250ms, 2m, 1h, 0.5 */
    WORD_BYTES,
    WORD_FILE,
    WORD_REGEX,
    WORD_ACTION,
    WORD_OPTION,
    WORD_SET, /* an option, then its value */
    WORD_STYLE,
    WORD_PLACE, /* of keymap.h */
    WORD_BIND,  /* context, key, action, its argument */
    WORD_COLOR, /* style, colours, attributes */
    WORD_THEME,
    WORD_VIEW,
    WORD_COLUMN,    /* one column key */
    WORD_COLUMNS,   /* column keys with commas between */
    WORD_CHOICE,    /* one of an option's own values: yes and no, or its choices */
    WORD_DIRECTION, /* below, right */
    WORD_KINDS,
};

typedef void word_put(void *out, const char *word, const char *help);

/* Who knows the words of WORD_VIEW, WORD_COLUMN, WORD_THEME of files, WORD_FILE: the screen.
   `each` calls put once for every word of the kind; it may know none. */
struct word_provider {
    void (*each)(void *ctx, enum word_kind kind, word_put *put, void *out);
    void *ctx;
};

#endif

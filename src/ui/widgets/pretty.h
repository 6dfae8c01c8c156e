/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of a term laid out in lines. It uses only the text: brackets, quotes and commas are the
 * same in Erlang's and in Elixir's spelling. */
#ifndef BEAMTOP_UI_WIDGETS_PRETTY_H
#define BEAMTOP_UI_WIDGETS_PRETTY_H

#include <stdbool.h>
#include <stddef.h>

#define PRETTY_NONE ((size_t)-1)

struct pretty_line {
    int indent;
    const char *s; /* borrowed for the call */
    size_t len;
    /* Where the bracket stands in the text that begins on this line and does not end on it, or that
       is folded here; of several the outermost. PRETTY_NONE: there is none. */
    size_t bracket;
    bool folded;
};

struct pretty {
    int columns;     /* of a line, indent included */
    unsigned levels; /* of brackets that are opened; deeper ones stay on one line, cut to it */
    void (*line)(void *arg, const struct pretty_line *line);
    /* Whether the bracket at that place is the other way round than `levels` say; may be NULL. */
    bool (*turned)(void *arg, size_t bracket);
    void *arg;
};

/* Returns how many levels there were to open: those beyond `levels` count as one. */
unsigned pretty_print(const struct pretty *setup, const char *s, size_t len);

#endif

/*
 * The text of a term laid out in lines. It goes by the text alone: brackets, quotes and commas are
 * the same in Erlang's and in Elixir's spelling.
 */
#ifndef BEAMTOP_UI_PRETTY_H
#define BEAMTOP_UI_PRETTY_H

#include <stddef.h>

struct pretty {
    int columns;     /* of a line, indent included */
    unsigned levels; /* of brackets that are opened; deeper ones stay on one line, cut to it */
    /* Takes a line; s is borrowed for the call. */
    void (*line)(void *arg, int indent, const char *s, size_t len);
    void *arg;
};

/* Returns how many levels there were to open: those beyond `levels` count as one. */
unsigned pretty_print(const struct pretty *setup, const char *s, size_t len);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A terminal: where a canvas is shown and keys come from. One thread; a draw waits for a terminal
 * that takes nothing for parts of a second, and nothing else waits. */
#ifndef BEAMTOP_UI_TTY_H
#define BEAMTOP_UI_TTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#include "beamtop/base/error.h"
#include "beamtop/ui/canvas.h"
#include "beamtop/ui/key.h"
#include "beamtop/ui/theme.h"

enum tty_event_kind {
    TTY_NONE, /* nothing more for now */
    TTY_KEY,
    TTY_MOUSE,
    TTY_PASTE,
    TTY_RESIZE,
    TTY_BACKGROUND, /* the terminal says whether it is light */
    TTY_CLOSED,     /* the terminal is gone (end of input) */
};

/* A double click comes after the click that was the first of its two. */
enum mouse_kind { MOUSE_CLICK, MOUSE_DOUBLE_CLICK, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };

struct tty_event {
    enum tty_event_kind kind;
    struct key key;
    struct {
        enum mouse_kind kind;
        int row, column; /* from 0 */
    } mouse;
    const char *paste; /* borrowed until the next event; any bytes */
    size_t paste_len;
    int rows, columns;                /* RESIZE */
    enum theme_background background; /* BACKGROUND; unknown: it does not answer */
};

/* The place of the terminal's cursor; row -1 hides it. */
struct tty_cursor {
    int row, column;
};

/* What a signal handler writes to give a broken terminal back. Made once, then constant. */
struct tty_rescue {
    int fd;
    bool armed; /* false while suspended or closed */
    struct termios saved;
    size_t len;
    char bytes[192];
};

struct tty;

struct tty_ops {
    void (*size)(struct tty *t, int *rows, int *columns);
    struct tty_event (*event)(struct tty *t); /* the next one; TTY_NONE when there is none */
    void (*draw)(struct tty *t, const struct canvas *c, const struct theme *theme,
                 struct tty_cursor cursor);
    void (*redraw)(struct tty *t);  /* the next draw writes all of the screen */
    void (*resized)(struct tty *t); /* after SIGWINCH: a RESIZE event follows */
    void (*suspend)(struct tty *t); /* gives the terminal back as it was */
    void (*resume)(struct tty *t);
    void (*beep)(struct tty *t);
    void (*mouse)(struct tty *t, bool on);
    void (*close)(struct tty *t); /* restores the terminal and frees t */
};

/* First in every implementation's struct. */
struct tty {
    const struct tty_ops *ops;
    enum color_depth depth;
    bool ascii;        /* canvases shown here keep to ASCII */
    int fd;            /* becomes readable when there are events; -1: none */
    uint64_t now_ms;   /* any clock's; whoever asks for an event sets it before */
    bool asked;        /* for its background: an event says what it is, or that no answer came */
    unsigned again_ms; /* ask for an event again after this long, fd readable or not; 0: no need */
    struct tty_rescue rescue;
};

struct tty_setup {
    int in_fd, out_fd;
    const char *term;      /* TERM; NULL: unknown, treated as dumb */
    enum color_depth most; /* no more colours than this */
    bool ascii;            /* no UTF-8 (locale, option) */
    bool mouse;
    bool ask_background; /* with 256 colours only; the answer is an event */
};

/* ERR_SYSTEM: not a terminal, unknown TERM. The caller has called setlocale. */
int tty_curses_open(struct tty **out, const struct tty_setup *setup, struct error *err);

/*
 * Async-signal-safe: writes the rescue's bytes and restores the modes. App's handlers of fatal
 * signals call it with the address they were given by app at
 * start (&tty->rescue). */
void tty_rescue_now(const struct tty_rescue *rescue);

/* What COLORFGBG says, of which the last number is the background's colour; NULL: nothing. */
enum theme_background tty_background(const char *colorfgbg);

#endif

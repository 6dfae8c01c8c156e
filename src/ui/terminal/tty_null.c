/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A terminal without one: events that were given, the canvas that was shown. For tests. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/ui/tty.h"

struct tty_null {
    struct tty tty; /* first */
    struct tty_event *events;
    size_t len, next;
    struct canvas shown;
    bool drawn, all;
    struct tty_cursor cursor;
    int rows, columns;
    size_t changed;
};

static struct tty_null *null_of(struct tty *t)
{
    return (struct tty_null *)t;
}

static const struct tty_null *null_of_const(const struct tty *t)
{
    return (const struct tty_null *)t;
}

static void null_size(struct tty *t, int *rows, int *columns)
{
    *rows = null_of(t)->rows;
    *columns = null_of(t)->columns;
}

static struct tty_event null_event(struct tty *t)
{
    struct tty_null *n = null_of(t);
    if (n->next == n->len)
        return (struct tty_event){.kind = TTY_NONE};
    struct tty_event event = n->events[n->next++];
    if (event.kind == TTY_RESIZE) {
        n->rows = event.rows;
        n->columns = event.columns;
    }
    return event;
}

static void null_draw(struct tty *t, const struct canvas *c, const struct theme *theme,
                      struct tty_cursor cursor)
{
    struct tty_null *n = null_of(t);
    (void)theme;
    bool same_size =
        n->drawn && !n->all && n->shown.rows == c->rows && n->shown.columns == c->columns;
    size_t cells = (size_t)c->rows * (size_t)c->columns;
    if (!same_size)
        canvas_resize(&n->shown, c->rows, c->columns);
    n->changed = 0;
    for (size_t i = 0; i < cells; i++)
        if (!same_size || memcmp(&n->shown.cells[i], &c->cells[i], sizeof *c->cells) != 0)
            n->changed++;
    memcpy(n->shown.cells, c->cells, cells * sizeof *c->cells);
    n->drawn = true;
    n->all = false;
    n->cursor = cursor;
}

static void null_redraw(struct tty *t)
{
    null_of(t)->all = true;
}

static void null_nothing(struct tty *t)
{
    (void)t;
}

static void null_beep(struct tty *t)
{
    (void)t;
}

static void null_mouse(struct tty *t, bool on)
{
    (void)t;
    (void)on;
}

static void null_close(struct tty *t)
{
    struct tty_null *n = null_of(t);
    for (size_t i = 0; i < n->len; i++)
        free((void *)(uintptr_t)n->events[i].paste);
    free(n->events);
    canvas_clear(&n->shown);
    free(n);
}

static const struct tty_ops null_ops = {
    .size = null_size,
    .event = null_event,
    .draw = null_draw,
    .redraw = null_redraw,
    .resized = null_nothing,
    .suspend = null_nothing,
    .resume = null_redraw,
    .beep = null_beep,
    .mouse = null_mouse,
    .close = null_close,
};

struct tty *tty_null_new(int rows, int columns, enum color_depth depth, bool ascii)
{
    struct tty_null *n = alloc_zero(1, sizeof *n);
    n->tty = (struct tty){.ops = &null_ops, .depth = depth, .ascii = ascii, .fd = -1};
    n->rows = rows;
    n->columns = columns;
    n->cursor = (struct tty_cursor){-1, 0};
    canvas_init(&n->shown, rows, columns, ascii);
    return &n->tty;
}

void tty_null_give(struct tty *t, const struct tty_event *event)
{
    struct tty_null *n = null_of(t);
    n->events = alloc_resize(n->events, n->len + 1, sizeof *n->events);
    n->events[n->len] = *event;
    n->events[n->len].paste = event->paste ? alloc_strndup(event->paste, event->paste_len) : NULL;
    n->len++;
}

void tty_null_keys(struct tty *t, const char *names)
{
    while (*(names += strspn(names, " ")) != '\0') {
        size_t len = strcspn(names, " ");
        struct tty_event event = {.kind = TTY_KEY};
        bool ok = key_parse(names, len, &event.key);
        assert(ok);
        if (ok)
            tty_null_give(t, &event);
        names += len;
    }
}

const struct canvas *tty_null_canvas(const struct tty *t)
{
    const struct tty_null *n = null_of_const(t);
    return n->drawn ? &n->shown : NULL;
}

struct tty_cursor tty_null_cursor(const struct tty *t)
{
    return null_of_const(t)->cursor;
}

size_t tty_null_changed(const struct tty *t)
{
    return null_of_const(t)->changed;
}

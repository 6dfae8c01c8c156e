/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The real terminal, by ncurses. Curses' own state is global: one is open at a time. */
#include <curses.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/ui/tty.h"
#include "tty_background.h"
#include "tty_colors.h"
#include "tty_frame.h"
#include "tty_keys.h"
#include "tty_mouse.h"
#include "tty_paste.h"

#define ESC_DELAY_MS 25         /* a lone Esc is separated from a key's sequence after this long */
#define CHARACTERS_AT_ONCE 4096 /* in one turn of the loop: endless input does not hold it */
#define PASTE_ON "\x1b[?2004h"
#define PASTE_OFF "\x1b[?2004l"

enum own_key { PASTE_BEGIN = KEY_MAX + 1, PASTE_END, BEGIN_SGR, BEGIN_X10, BEGIN_BACKGROUND };

struct tty_curses {
    struct tty tty; /* first */
    SCREEN *screen;
    FILE *in, *out;
    struct tty_frame frame;
    struct canvas shown;
    bool all; /* the next draw writes every cell */
    bool cut; /* the last frame was, anywhere */
    bool modern;
    struct tty_colors colors;
    bool resize_pending, suspended;
    struct paste paste;
    bool wants_mouse;
    struct mouse mouse;
    struct background background;
    mbstate_t part; /* of a character whose last bytes are still to come */
};

static struct tty_curses *curses_of(struct tty *t)
{
    return (struct tty_curses *)t;
}

static void send_raw(struct tty_curses *t, const char *s)
{
    fputs(s, t->out);
    fflush(t->out);
}

/* ---- what gives the terminal back */

/* Without padding; what is beyond the cap is left out. */
static void put_unpadded(struct buf *to, const char *s)
{
    for (size_t i = 0; s[i]; i++) {
        const char *padding = s[i] == '$' && s[i + 1] == '<' ? strchr(s + i, '>') : NULL;
        if (padding)
            i = (size_t)(padding - s);
        else
            buf_put_u8(to, (uint8_t)s[i]);
    }
}

static void put_capability(struct buf *to, const char *name)
{
    const char *s = tigetstr(name);
    if (s && s != (const char *)-1) /* terminfo's "not a string capability" */
        put_unpadded(to, s);
}

static void make_rescue(struct tty_curses *t, int out_fd, const struct termios *saved)
{
    static const char *const capabilities[] = {"sgr0", "op", "rmkx", "cnorm", "rmcup"};
    struct tty_rescue *r = &t->tty.rescue;
    struct buf bytes;
    buf_init(&bytes, sizeof r->bytes);
    r->saved = *saved;
    r->fd = out_fd; /* in a frame that of t->out is not the terminal */
    if (t->modern)
        put_unpadded(&bytes, PASTE_OFF MOUSE_OFF);
    for (size_t i = 0; i < ARRAY_LEN(capabilities); i++)
        put_capability(&bytes, capabilities[i]);
    r->len = bytes.len;
    memcpy(r->bytes, buf_cstr(&bytes), bytes.len);
    buf_clear(&bytes);
    r->armed = true;
}

/* ---- drawing */

static void put_cell(struct tty_curses *t, int row, int column, const struct canvas_cell *cell,
                     const struct look looks[])
{
    wchar_t text[CCHARW_MAX + 1];
    size_t n = 0;
    size_t len = strlen(cell->text);
    for (size_t at = 0; at < len && n < CCHARW_MAX;) {
        uint32_t code = '?';
        size_t used = key_char_decode(cell->text + at, len - at, &code);
        text[n++] = (wchar_t)code;
        at += used > 0 ? used : 1;
    }
    text[n] = L'\0';
    cchar_t cc;
    short pair = (short)(t->tty.depth == DEPTH_NONE ? 0 : cell->style + 1);
    if (n > 0 && setcchar(&cc, text, colors_attributes(looks[cell->style]), pair, NULL) == OK)
        mvadd_wch(row, column, &cc);
}

static bool same_cell(const struct canvas_cell *a, const struct canvas_cell *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void curses_redraw(struct tty *tty)
{
    curses_of(tty)->all = true;
    clearok(curscr, TRUE);
}

/* Curses takes attributes and colours to be those at the end of its last frame. */
static void put_plain(struct tty_curses *t)
{
    struct buf bytes;
    buf_init(&bytes, 64);
    put_capability(&bytes, "sgr0");
    put_capability(&bytes, "op");
    send_raw(t, buf_cstr(&bytes));
    buf_clear(&bytes);
}

static void curses_draw(struct tty *tty, const struct canvas *c, const struct theme *theme,
                        struct tty_cursor cursor)
{
    struct tty_curses *t = curses_of(tty);
    struct look looks[STYLES];
    if (t->suspended)
        return;
    if (colors_set(&t->colors, theme, tty->depth))
        t->all = true;
    for (int i = 0; i < STYLES; i++)
        looks[i] = theme_look(theme, (enum style)i, tty->depth);
    if (t->shown.rows != c->rows || t->shown.columns != c->columns) {
        canvas_resize(&t->shown, c->rows, c->columns);
        t->all = true;
    }
    if (t->all)
        erase();
    for (int row = 0; row < c->rows && row < LINES; row++) {
        for (int column = 0; column < c->columns && column < COLS; column++) {
            size_t at = (size_t)row * (size_t)c->columns + (size_t)column;
            if (t->all || !same_cell(&t->shown.cells[at], &c->cells[at]))
                put_cell(t, row, column, &c->cells[at], looks);
        }
    }
    memcpy(t->shown.cells, c->cells, (size_t)c->rows * (size_t)c->columns * sizeof *c->cells);
    t->all = false;
    bool visible = cursor.row >= 0 && cursor.row < LINES && cursor.column < COLS;
    frame_begin(&t->frame);
    if (t->cut)
        put_plain(t);
    curs_set(visible ? 1 : 0);
    if (visible)
        move(cursor.row, cursor.column);
    refresh();
    t->cut = !frame_end(&t->frame);
    if (t->cut)
        curses_redraw(tty);
}

/* ---- events */

static struct tty_event resize_event(struct tty_curses *t)
{
    t->resize_pending = false;
    t->all = true;
    return (struct tty_event){.kind = TTY_RESIZE, .rows = LINES, .columns = COLS};
}

static struct tty_event paste_event(struct tty_curses *t)
{
    t->paste.open = false;
    struct tty_event event = {.kind = TTY_PASTE, .paste_len = t->paste.kept.len};
    event.paste = buf_cstr(&t->paste.kept);
    return event;
}

/* Curses says ERR both for no input and for the end of it. */
static struct tty_event nothing_or_end(struct tty_curses *t)
{
    struct pollfd p = {.fd = t->tty.fd, .events = POLLIN};
    int waiting = 1;
    bool gone =
        poll(&p, 1, 0) > 0 &&
        ((p.revents & (POLLHUP | POLLERR | POLLNVAL)) ||
         ((p.revents & POLLIN) && ioctl(t->tty.fd, FIONREAD, &waiting) == 0 && waiting == 0));
    return (struct tty_event){.kind = gone ? TTY_CLOSED : TTY_NONE};
}

/* A sequence that a curses key starts and bytes continue. */
static bool begin_sequence(struct tty_curses *t, int code)
{
    t->mouse.open = MOUSE_CLOSED;
    t->background.part = BACKGROUND_CLOSED;
    if (code == PASTE_BEGIN)
        paste_begin(&t->paste, t->tty.now_ms);
    else if (t->paste.open)
        return false;
    else if (code == BEGIN_SGR || code == BEGIN_X10)
        mouse_begin(&t->mouse, code == BEGIN_SGR ? MOUSE_SGR : MOUSE_X10, t->tty.now_ms);
    else if (code == BEGIN_BACKGROUND)
        background_begin(&t->background, t->tty.now_ms);
    else
        return false;
    return true;
}

/* One more byte of a character; false: it is not whole yet, or no character. */
static bool take_byte(struct tty_curses *t, unsigned char byte, wint_t *ch)
{
    wchar_t wide = 0;
    bool inside = !mbsinit(&t->part);
    size_t rc = mbrtowc(&wide, (const char *)&byte, 1, &t->part);
    if (rc == (size_t)-1) {
        t->part = (mbstate_t){0};
        rc = inside ? mbrtowc(&wide, (const char *)&byte, 1, &t->part) : rc;
        if (rc == (size_t)-1)
            t->part = (mbstate_t){0};
    }
    *ch = (wint_t)wide;
    return rc != (size_t)-1 && rc != (size_t)-2;
}

/* A character that is there at once after Esc was typed with Meta. */
static void join_meta(struct tty_curses *t, struct key *key)
{
    wint_t ch = 0;
    struct key next;
    int got = getch();
    bool is_code = got >= KEY_MIN;
    if (got == ERR || (is_code && begin_sequence(t, got)))
        return;
    for (int i = 0; !is_code && got != ERR && !take_byte(t, (unsigned char)got, &ch); i++)
        got = i < MB_LEN_MAX ? getch() : ERR;
    if (got != ERR && tty_key_of(is_code ? (wint_t)got : ch, is_code, &next)) {
        *key = next;
        key->mods |= KEY_MOD_META;
    }
}

/* What a key of curses means; TTY_NONE: nothing by itself, read on. */
static struct tty_event code_event(struct tty_curses *t, int code)
{
    struct tty_event event = {.kind = TTY_NONE};
    t->part = (mbstate_t){0};
    if (begin_sequence(t, code))
        return event;
    if (code == PASTE_END && t->paste.open)
        event = paste_event(t);
    else if (code == KEY_RESIZE)
        event = resize_event(t);
    else if (!t->paste.open && tty_key_of((wint_t)code, true, &event.key))
        event.kind = TTY_KEY;
    return event;
}

/* The same of a byte. */
static struct tty_event byte_event(struct tty_curses *t, unsigned char byte)
{
    struct tty_event event = {.kind = TTY_NONE};
    wint_t ch;
    if (!take_byte(t, byte, &ch))
        return event;
    if (t->paste.open) {
        if (!paste_put(&t->paste, (uint32_t)ch, t->tty.now_ms))
            event = paste_event(t);
    } else if (tty_key_of(ch, false, &event.key)) {
        event.kind = TTY_KEY;
        if (event.key.code == KEYS_ESC)
            join_meta(t, &event.key);
    }
    return event;
}

/* Within a report of the mouse, Backspace is a place. */
static struct tty_event event_of_key(struct tty_curses *t, int got)
{
    struct tty_event event = {.kind = TTY_NONE};
    int byte = got == KEY_BACKSPACE && t->mouse.open == MOUSE_X10 ? 0x7f : got;
    if (byte < KEY_MIN && t->mouse.open != MOUSE_CLOSED &&
        mouse_put(&t->mouse, (unsigned char)byte, t->tty.now_ms, &event))
        return event;
    if (got < KEY_MIN && t->background.part != BACKGROUND_CLOSED &&
        background_put(&t->background, (unsigned char)got, t->tty.now_ms, &event))
        return event;
    return got >= KEY_MIN ? code_event(t, got) : byte_event(t, (unsigned char)got);
}

/* There is nothing to read: a paste, or a report of the mouse, may have lost its end, and an answer
   may never come. */
static struct tty_event idle_event(struct tty_curses *t)
{
    struct tty_event event = nothing_or_end(t);
    unsigned mouse_ms = mouse_idle(&t->mouse, t->tty.now_ms);
    t->tty.again_ms = mouse_ms ? mouse_ms : background_idle(&t->background, t->tty.now_ms);
    if (t->tty.again_ms == 0)
        t->tty.again_ms = background_left(&t->background, t->tty.now_ms, &event);
    if (event.kind != TTY_NONE || !t->paste.open)
        return event;
    t->tty.again_ms = paste_idle(&t->paste, t->tty.now_ms);
    return t->paste.open ? event : paste_event(t);
}

/* Bytes, not characters: get_wch() swallows some behind one that is in no character. */
static struct tty_event curses_event(struct tty *tty)
{
    struct tty_curses *t = curses_of(tty);
    tty->again_ms = 0;
    if (t->suspended)
        return (struct tty_event){.kind = TTY_NONE};
    background_wait(&t->background, tty->now_ms);
    if (t->resize_pending)
        return resize_event(t);
    for (int i = 0; i < CHARACTERS_AT_ONCE; i++) {
        int got = getch();
        if (got == ERR)
            return idle_event(t);
        struct tty_event event = event_of_key(t, got);
        if (event.kind != TTY_NONE)
            return event;
    }
    tty->again_ms = 1;
    return (struct tty_event){.kind = TTY_NONE};
}

/* ---- the rest of the table */

static void curses_size(struct tty *tty, int *rows, int *columns)
{
    (void)tty;
    *rows = LINES;
    *columns = COLS;
}

static bool size_of(const struct tty_curses *t, struct winsize *size)
{
    return ioctl(fileno(t->out), TIOCGWINSZ, size) == 0 && size->ws_row > 0 && size->ws_col > 0;
}

static bool is_drawable(const struct winsize *size)
{
    return size->ws_row <= LIMIT_CANVAS_ROWS && size->ws_col <= LIMIT_CANVAS_COLUMNS;
}

/* A terminal may say any size: curses fails with some, and overflows. */
static void fit_curses(const struct tty_curses *t)
{
    struct winsize size;
    if (size_of(t, &size))
        resize_term(size.ws_row < LIMIT_CANVAS_ROWS ? size.ws_row : LIMIT_CANVAS_ROWS,
                    size.ws_col < LIMIT_CANVAS_COLUMNS ? size.ws_col : LIMIT_CANVAS_COLUMNS);
}

static void curses_resized(struct tty *tty)
{
    struct tty_curses *t = curses_of(tty);
    fit_curses(t);
    t->resize_pending = true;
    /* Output for the old size landed anywhere on a terminal that has the new one already. */
    curses_redraw(tty);
}

static void curses_mouse(struct tty *tty, bool on)
{
    struct tty_curses *t = curses_of(tty);
    t->wants_mouse = on && t->modern;
    if (t->modern && !t->suspended)
        send_raw(t, t->wants_mouse ? MOUSE_ON : MOUSE_OFF);
}

/* An answer that comes after the end would be typed to the shell. */
static void drop_answer(struct tty_curses *t)
{
    struct pollfd p = {.fd = t->tty.fd, .events = POLLIN};
    if (t->background.due && poll(&p, 1, LIMIT_BACKGROUND_END_MS) > 0)
        tcflush(t->tty.fd, TCIFLUSH);
    t->background.due = false;
}

static void curses_suspend(struct tty *tty)
{
    struct tty_curses *t = curses_of(tty);
    if (t->suspended)
        return;
    t->suspended = true;
    drop_answer(t);
    if (t->modern)
        send_raw(t, t->wants_mouse ? PASTE_OFF MOUSE_OFF : PASTE_OFF);
    /* Where there is no alternate screen, the shell goes on in the last line: an empty one. */
    (void)move(LINES - 1, 0);
    (void)clrtoeol();
    (void)refresh();
    endwin();
    tty->rescue.armed = false;
}

static void curses_resume(struct tty *tty)
{
    struct tty_curses *t = curses_of(tty);
    if (!t->suspended)
        return;
    t->suspended = false;
    tty->rescue.armed = true;
    refresh(); /* also takes the terminal's modes back */
    if (t->modern)
        send_raw(t, t->wants_mouse ? PASTE_ON MOUSE_ON : PASTE_ON);
    curses_resized(tty);
}

static void curses_beep(struct tty *tty)
{
    (void)tty;
    beep();
}

static void curses_close(struct tty *tty)
{
    struct tty_curses *t = curses_of(tty);
    curses_suspend(tty);
    delscreen(t->screen);
    frame_clear(&t->frame);
    fclose(t->in);
    fclose(t->out);
    canvas_clear(&t->shown);
    paste_clear(&t->paste);
    free(t);
}

static const struct tty_ops curses_ops = {
    .size = curses_size,
    .event = curses_event,
    .draw = curses_draw,
    .redraw = curses_redraw,
    .resized = curses_resized,
    .suspend = curses_suspend,
    .resume = curses_resume,
    .beep = curses_beep,
    .mouse = curses_mouse,
    .close = curses_close,
};

/* ---- opening */

static FILE *open_copy(int fd, const char *mode)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *f = copy < 0 ? NULL : fdopen(copy, mode);
    if (!f && copy >= 0)
        close(copy);
    return f;
}

static void set_modes(struct tty_curses *t, const struct tty_setup *setup)
{
    raw(); /* C-c and C-z are keys; app decides what they do */
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESC_DELAY_MS);
    t->modern = tigetstr("kmous") && tigetstr("kmous") != (char *)-1;
    if (t->modern) {
        define_key("\x1b[200~", PASTE_BEGIN);
        define_key("\x1b[201~", PASTE_END);
        define_key(NULL, KEY_MOUSE); /* curses does not read the mouse */
        define_key(MOUSE_SGR_BEGIN, BEGIN_SGR);
        define_key(MOUSE_X10_BEGIN, BEGIN_X10);
        define_key(BACKGROUND_BEGIN, BEGIN_BACKGROUND);
        send_raw(t, PASTE_ON);
    }
    t->tty.depth = colors_begin(&t->colors, setup->most);
    curses_mouse(&t->tty, setup->mouse);
    t->tty.asked = setup->ask_background && t->modern && t->tty.depth != DEPTH_NONE;
    t->background.due = t->background.waits = t->tty.asked;
    if (t->background.due)
        send_raw(t, BACKGROUND_ASK);
}

static int open_screen(struct tty_curses *t, const struct tty_setup *setup, struct error *err)
{
    struct termios saved;
    if (tcgetattr(setup->in_fd, &saved) < 0)
        return error_set_errno(err, errno, "no terminal to draw on (batch forms need none)");
    t->in = open_copy(setup->in_fd, "r");
    t->out = open_copy(setup->out_fd, "w");
    if (!t->in || !t->out)
        return error_set_errno(err, errno, "the terminal cannot be opened");
    /* The terminal's own size counts, not LINES and COLUMNS. Curses learns it at once, so that it
       leaves from the last row, unless it is one to be cut first. */
    struct winsize size;
    use_env(FALSE);
    use_tioctl(size_of(t, &size) && is_drawable(&size));
    t->screen = newterm(setup->term ? setup->term : "dumb", t->out, t->in);
    if (!t->screen)
        return error_set(err, ERR_SYSTEM,
                         "the terminal type “%s” is unknown here: set TERM, for "
                         "example TERM=xterm-256color",
                         setup->term ? setup->term : "");
    const char *place = tigetstr("cup");
    if (!place || place == (const char *)-1) {
        endwin();
        return error_set(err, ERR_SYSTEM,
                         "a terminal of type “%s” cannot place its cursor: set TERM",
                         setup->term ? setup->term : "dumb");
    }
    fit_curses(t);
    set_modes(t, setup);
    make_rescue(t, setup->out_fd, &saved);
    frame_init(&t->frame, fileno(t->out));
    return 0;
}

int tty_curses_open(struct tty **out, const struct tty_setup *setup, struct error *err)
{
    struct tty_curses *t = alloc_zero(1, sizeof *t);
    t->tty = (struct tty){.ops = &curses_ops, .ascii = setup->ascii, .fd = setup->in_fd};
    t->all = true;
    paste_init(&t->paste);
    canvas_init(&t->shown, 1, 1, setup->ascii);
    int rc = open_screen(t, setup, err);
    if (rc == 0) {
        *out = &t->tty;
        return 0;
    }
    if (t->screen)
        delscreen(t->screen);
    if (t->in)
        fclose(t->in);
    if (t->out)
        fclose(t->out);
    canvas_clear(&t->shown);
    paste_clear(&t->paste);
    free(t);
    return rc;
}

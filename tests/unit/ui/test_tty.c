/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../test.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/ui/tty.h"
#include "ui/terminal/tty_frame.h"
#include "ui/terminal/tty_paste.h"

#define WAIT_MS 20000

/* Curses keeps one block between screens, which nothing frees. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:new_prescr\n";
}

static char screen_bytes[65536]; /* what the terminal under test was sent */

struct pair {
    int master, slave;
    struct termios before;
};

static void open_pair(struct pair *p)
{
    struct winsize size = {.ws_row = 16, .ws_col = 60};
    assert_int_equal(openpty(&p->master, &p->slave, NULL, NULL, &size), 0);
    fcntl(p->master, F_SETFL, O_NONBLOCK);
    tcgetattr(p->slave, &p->before);
}

/* Everything until now: what is written behind it comes last, whenever the system passes it on. */
static const char *sent(struct pair *p)
{
    static const char mark[] = "<all of it>";
    size_t len = 0;
    char *end = NULL;
    struct pollfd ready = {.fd = p->master, .events = POLLIN};
    assert_int_equal(write(p->slave, mark, sizeof mark - 1), sizeof mark - 1);
    while (!end && len < sizeof screen_bytes - 1 && poll(&ready, 1, WAIT_MS) > 0) {
        ssize_t n = read(p->master, screen_bytes + len, sizeof screen_bytes - 1 - len);
        if (n <= 0)
            break;
        len += (size_t)n;
        screen_bytes[len] = '\0';
        end = strstr(screen_bytes, mark);
    }
    if (!end) {
        fail_msg("the terminal does not pass on what it was sent: %zu bytes", len);
        return "";
    }
    *end = '\0';
    return screen_bytes;
}

static struct tty *open_tty(struct pair *p, const char *term, enum color_depth most)
{
    struct tty *t = NULL;
    struct error err = {0};
    struct tty_setup setup = {p->slave, p->slave, term, most, false, true, false};
    if (tty_curses_open(&t, &setup, &err) < 0)
        fail_msg("%s: %s", term, err.text);
    return t;
}

static struct tty_event wait_event(struct tty *t)
{
    struct tty_event e = {0};
    uint64_t limit_ns = clock_mono_ns() + WAIT_MS * UINT64_C(1000000);
    while (clock_mono_ns() < limit_ns) {
        e = t->ops->event(t);
        if (e.kind != TTY_NONE)
            break;
        struct pollfd ready = {.fd = t->fd, .events = POLLIN};
        poll(&ready, 1, 20);
    }
    return e;
}

static void type(struct pair *p, const char *bytes)
{
    ssize_t n = write(p->master, bytes, strlen(bytes));
    assert_int_equal(n, (ssize_t)strlen(bytes));
}

/* Each write to such a socket is a message. */
TEST(test_a_frame_is_one_write)
{
    struct tty_frame f;
    char text[3000], got[20000];
    int ends[2];
    memset(text, 'x', sizeof text);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    frame_init(&f, ends[0]);
    for (size_t n = 1; n < 5; n++) {
        frame_begin(&f);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(write(ends[0], text, sizeof text), sizeof text);
        assert_int_equal(recv(ends[1], got, sizeof got, MSG_DONTWAIT), -1);
        assert_true(frame_end(&f));
        assert_int_equal(recv(ends[1], got, sizeof got, MSG_DONTWAIT), n * sizeof text);
    }
    assert_int_equal(write(ends[0], "out", 3), 3);
    assert_int_equal(recv(ends[1], got, sizeof got, MSG_DONTWAIT), 3);
    frame_clear(&f);
    close(ends[0]);
    close(ends[1]);
}

/* Curses' own writes too. A terminal that cannot be asked for its size has 24 rows and 80 columns.
 */
TEST(test_a_draw_is_one_write)
{
    struct pair p;
    struct tty *t = NULL;
    struct error err = {0};
    struct theme theme;
    struct canvas c;
    int ends[2];
    theme_init(&theme);
    open_pair(&p);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    struct tty_setup setup = {p.slave, ends[0], "xterm-256color", DEPTH_256, false, false, false};
    if (tty_curses_open(&t, &setup, &err) < 0)
        fail_msg("%s", err.text);
    while (recv(ends[1], screen_bytes, sizeof screen_bytes, MSG_DONTWAIT) > 0)
        continue;
    canvas_init(&c, 24, 80, false);
    for (int row = 0; row < 24; row += 2)
        canvas_puts(&c, (struct rect){0, 0, 24, 80}, row, row, STYLE_OK, "drawn");
    t->ops->draw(t, &c, &theme, (struct tty_cursor){-1, 0});
    ssize_t n = recv(ends[1], screen_bytes, sizeof screen_bytes, MSG_DONTWAIT);
    assert_true(n > 0);
    assert_non_null(memmem(screen_bytes, (size_t)n, "drawn", 5));
    assert_int_equal(recv(ends[1], screen_bytes, sizeof screen_bytes, MSG_DONTWAIT), -1);
    canvas_clear(&c);
    t->ops->close(t);
    close(ends[0]);
    close(ends[1]);
    close(p.master);
    close(p.slave);
}

/* A draw does not wait for ever, and the next one that gets through has all. */
TEST(test_a_terminal_that_stops)
{
    struct pair p;
    struct theme theme;
    struct canvas c;
    theme_init(&theme);
    open_pair(&p);
    struct tty *t = open_tty(&p, "xterm-256color", DEPTH_256);
    canvas_init(&c, 16, 60, false);
    canvas_puts(&c, (struct rect){0, 0, 16, 60}, 2, 3, STYLE_OK, "drawn before");
    t->ops->draw(t, &c, &theme, (struct tty_cursor){-1, 0});
    assert_non_null(strstr(sent(&p), "drawn before"));
    fcntl(p.slave, F_SETFL, O_NONBLOCK);
    struct pollfd room = {.fd = p.slave, .events = POLLOUT};
    do { /* the kernel passes some of it on, and has room again */
        while (write(p.slave, "x", 1) == 1)
            continue;
    } while (poll(&room, 1, 200) > 0);
    fcntl(p.slave, F_SETFL, 0); /* as the program has it */
    canvas_puts(&c, (struct rect){0, 0, 16, 60}, 4, 3, STYLE_OK, "drawn then");
    t->ops->draw(t, &c, &theme, (struct tty_cursor){-1, 0});
    assert_int_equal(tcflush(p.slave, TCOFLUSH), 0);
    t->ops->draw(t, &c, &theme, (struct tty_cursor){-1, 0});
    const char *all =
        strstr(sent(&p), "\x1b(B\x1b[m"); /* the frame that was cut ends in any colours */
    assert_non_null(all);
    assert_non_null(strstr(all, "drawn before"));
    assert_non_null(strstr(all, "drawn then"));
    canvas_clear(&c);
    t->ops->close(t);
    close(p.master);
    close(p.slave);
}

TEST(test_keys)
{
    static const struct {
        const char *bytes, *key;
    } rows[] = {
        {"j", "j"},
        {"\r", "<Enter>"},
        {"\x1b", "<Esc>"},
        {"\x03", "C-c"},
        {"\x1a", "C-z"},
        {"\x7f", "<Backspace>"},
        {"\t", "<Tab>"},
        {"\x1b[Z", "S-<Tab>"},
        {"\x1bOA", "<Up>"},
        {"\x1b[6~", "<PgDn>"},
        {"\x1b[15~", "<F5>"},
        {"\x1bx", "M-x"},
        {"\x1b[1;5C", "C-<Right>"},
        {"\xc3\xa9", "\xc3\xa9"},
        {"\x1b[3~", "<Delete>"},
    };
    struct pair p;
    open_pair(&p);
    struct tty *t = open_tty(&p, "xterm-256color", DEPTH_256);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char name[KEY_TEXT_BYTES];
        type(&p, rows[i].bytes);
        struct tty_event e = wait_event(t);
        if (e.kind != TTY_KEY || strcmp(key_format(e.key, name), rows[i].key) != 0)
            fail_msg("%s: kind %d '%s'", rows[i].key, (int)e.kind, key_format(e.key, name));
    }
    type(&p, "\x1b[200~two\nlines\x1b[201~");
    struct tty_event e = wait_event(t);
    assert_int_equal(e.kind, TTY_PASTE);
    assert_int_equal(e.paste_len, 9);
    type(&p, "\x1b[<0;5;3M");
    e = wait_event(t);
    assert_int_equal(e.kind, TTY_MOUSE);
    assert_int_equal(e.mouse.kind, MOUSE_CLICK);
    assert_int_equal(e.mouse.row * 100 + e.mouse.column, 204);
    type(&p, "\x1b[<64;1;1M");
    e = wait_event(t);
    assert_int_equal(e.mouse.kind, MOUSE_WHEEL_UP);
    struct winsize size = {.ws_row = 30, .ws_col = 90};
    ioctl(p.master, TIOCSWINSZ, &size);
    t->ops->resized(t);
    e = wait_event(t);
    assert_int_equal(e.kind, TTY_RESIZE);
    assert_int_equal(e.rows * 1000 + e.columns, 30090);
    close(p.master);
    assert_int_equal(wait_event(t).kind, TTY_CLOSED);
    t->ops->close(t);
    close(p.slave);
}

/* What was typed has arrived on the other side. */
static void wait_bytes(const struct tty *t, int n)
{
    uint64_t limit_ns = clock_mono_ns() + WAIT_MS * UINT64_C(1000000);
    int waiting = 0;
    while (ioctl(t->fd, FIONREAD, &waiting) == 0 && waiting < n && clock_mono_ns() < limit_ns)
        poll(NULL, 0, 5);
    assert_int_equal(waiting, n);
}

static void wait_silent(struct tty *t, uint64_t now_ms)
{
    t->now_ms = now_ms;
    struct tty_event e = t->ops->event(t);
    if (e.kind != TTY_NONE || t->again_ms == 0)
        fail_msg("at %d: kind %d, again %u", (int)now_ms, (int)e.kind, t->again_ms);
}

/* What the events until the key q are, with a blank behind each. */
static void events_until_q(struct tty *t, char *out, size_t size)
{
    static const char *const kinds[] = {
        [MOUSE_CLICK] = "click",
        [MOUSE_DOUBLE_CLICK] = "double",
        [MOUSE_WHEEL_UP] = "up",
        [MOUSE_WHEEL_DOWN] = "down",
    };
    static const char *const backgrounds[] = {"any", "dark", "light", "unknown"};
    char key[KEY_TEXT_BYTES] = "";
    for (size_t len = 0; len < size; len = strlen(out)) {
        struct tty_event e = wait_event(t);
        if (e.kind == TTY_BACKGROUND)
            snprintf(out + len, size - len, "%s ", backgrounds[e.background]);
        else if (e.kind == TTY_MOUSE)
            snprintf(out + len, size - len, "%s@%d,%d ", kinds[e.mouse.kind], e.mouse.row,
                     e.mouse.column);
        else
            snprintf(out + len, size - len, "%s ",
                     e.kind == TTY_KEY ? key_format(e.key, key) : "other");
        if (e.kind != TTY_KEY || e.key.code == 'q')
            t->now_ms += 1000; /* the next click is of another pair */
        if (e.kind == TTY_NONE || (e.kind == TTY_KEY && e.key.code == 'q'))
            return;
    }
}

/* Nothing of the mouse holds what follows it, whichever way the terminal reports. */
TEST(test_the_mouse)
{
    static const struct {
        const char *bytes, *events;
    } rows[] = {
        {"\x1b[<0;5;3M\x1b[<0;5;3mq", "click@2,4 q "},               /* SGR: press, release */
        {"\x1b[M %#\x1b[M#%#q", "click@2,4 q "},                     /* X10 */
        {"\x1b[<2;5;3M\x1b[<2;5;3m\x1b[<1;5;3M\x1b[<1;5;3mq", "q "}, /* other buttons */
        {"\x1b[M\"%#\x1b[M#%#\x1b[M!%#\x1b[M#%#q", "q "},
        {"\x1b[<0;5;3M\x1b[<32;6;3M\x1b[<32;7;4M\x1b[<0;7;4mq", "click@2,4 q "}, /* a drag */
        {"\x1b[M %#\x1b[M@&#\x1b[M@'$\x1b[M#'$q", "click@2,4 q "},
        {"\x1b[<35;9;9M\x1b[MC))q", "q "}, /* a move without a button */
        {"\x1b[<64;1;1M\x1b[<65;1;2M\x1b[M`!!\x1b[Ma!\"q", "up@0,0 down@1,0 up@0,0 down@1,0 q "},
        {"\x1b[<66;1;1M\x1b[<67;1;1M\x1b[<128;1;1Mq", "q "},
        {"\x1b[<16;5;3M\x1b[<4;5;3mq", "click@2,4 q "}, /* with Ctrl */
        {"\x1b[<0;300;120Mq", "click@119,299 q "},
        {"\x1b[M \x7f\x7fq", "click@94,94 q "}, /* a place that is Backspace elsewhere */
        {"\x1b[M \xc3\xffq", "click@222,162 q "},
        {"\x1b[M \xc3#\xc3\xa9q", "click@2,162 \xc3\xa9 q "},
        {"\x1b[<0;0;3M\x1b[<;;M\x1b[<M\x1b[<0;5Mq", "q "}, /* garbage */
        {"\x1b[<0;5;3;7M\x1b[<-1;5;3M\x1b[<0;5;3!q\x1b[<?;5;3mq", "q "},
        {"\x1b[<0;99999999999;3M\x1b[<99999999;1;1Mq", "q "},
        {"\x1b[<0;5q", "q "},
        {"\x1b[M \x03q", "C-c q "},
        {"\x1b[<0;5\x1b[<0;5;3Mq", "click@2,4 q "},
        {"\xff\xc3q", "q "},
        {"\xc3\x1bOA\xe2\x82\x1b[<0;5;3M\xa9\xe2\x82\xacq", "<Up> click@2,4 \xe2\x82\xac q "},
    };
    struct pair p;
    open_pair(&p);
    struct tty *t = open_tty(&p, "xterm-256color", DEPTH_256);
    assert_non_null(strstr(sent(&p), "\x1b[?1000h\x1b[?1006h"));
    t->now_ms = 1000;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char got[200] = "";
        alarm(2 * WAIT_MS / 1000); /* it may not come back at all */
        type(&p, rows[i].bytes);
        events_until_q(t, got, sizeof got);
        if (strcmp(got, rows[i].events) != 0)
            fail_msg("row %zu: '%s', not '%s'", i, got, rows[i].events);
        if (t->ops->event(t).kind != TTY_NONE)
            fail_msg("row %zu: something follows", i);
    }
    alarm(0);
    t->ops->suspend(t);
    assert_non_null(strstr(sent(&p), "\x1b[?1006l\x1b[?1000l"));
    t->ops->resume(t);
    assert_non_null(strstr(sent(&p), "\x1b[?1000h\x1b[?1006h"));
    t->ops->mouse(t, false);
    assert_non_null(strstr(sent(&p), "\x1b[?1006l\x1b[?1000l"));
    t->ops->close(t);
    close(p.master);
    close(p.slave);
}

/* Nothing follows the release: whoever asks for an event is told so, and does not wait. */
TEST(test_a_click_holds_nothing)
{
    static const char *const clicks[] = {"\x1b[<0;5;3M\x1b[<0;5;3m", "\x1b[M %#\x1b[M#%#"};
    struct pair p;
    open_pair(&p);
    struct tty *t = open_tty(&p, "xterm-256color", DEPTH_256);
    for (size_t i = 0; i < ARRAY_LEN(clicks); i++) {
        alarm(2 * WAIT_MS / 1000);
        type(&p, clicks[i]);
        wait_bytes(t, (int)strlen(clicks[i]));
        t->now_ms += 1000;
        assert_int_equal(t->ops->event(t).kind, TTY_MOUSE);
        assert_int_equal(t->ops->event(t).kind, TTY_NONE);
    }
    alarm(0);
    t->ops->close(t);
    close(p.master);
    close(p.slave);
}

/* What the terminal answers, and what it looks like to the program; nothing of it is typed. */
TEST(test_the_background)
{
    static const struct {
        const char *bytes, *says;
    } rows[] = {
        {"\x1b]11;rgb:ffff/ffff/ffff\x07q", "light q "},
        {"\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\q", "light q "},
        {"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\q", "dark q "},
        {"\x1b]11;rgba:ff/ff/ff/ff\x07q", "light q "},
        {"\x1b]11;rgb:0/0/3\x07q", "dark q "},
        {"\x1b]11;rgb:3f/3f/3f\x07q", "unknown q "},
        {"\x1b]11;rgb:800/800/800\x07q", "unknown q "},
        {"\x1b]11;red\x07q", "q "},
        {"\x1b]11;\x1b]11;rgb:ffff/ffff/ffff\x07q", "light q "},
        {"\x1b]11;rgb:ffff/ffff/fffff\x1b\\\x1bOAq", "<Up> q "},
    };
    static const struct {
        const char *colors;
        enum theme_background background;
    } environment[] = {
        {"15;0", BACKGROUND_DARK},          {"0;15", BACKGROUND_LIGHT},
        {"0;default;15", BACKGROUND_LIGHT}, {"12;8", BACKGROUND_DARK},
        {"0;7", BACKGROUND_LIGHT},          {"0;4", BACKGROUND_UNKNOWN},
        {"0;99", BACKGROUND_UNKNOWN},       {"0;default", BACKGROUND_UNKNOWN},
        {"", BACKGROUND_UNKNOWN},           {"0;", BACKGROUND_UNKNOWN},
        {"15", BACKGROUND_UNKNOWN},         {NULL, BACKGROUND_UNKNOWN},
    };
    struct pair p;
    struct tty *t = NULL;
    struct error err = {0};
    for (size_t i = 0; i < ARRAY_LEN(environment); i++)
        if (tty_background(environment[i].colors) != environment[i].background)
            fail_msg("COLORFGBG=%s", environment[i].colors);
    open_pair(&p);
    struct tty_setup setup = {p.slave, p.slave, "xterm-256color", DEPTH_256, false, false, true};
    assert_int_equal(tty_curses_open(&t, &setup, &err), 0);
    assert_non_null(strstr(sent(&p), "\x1b]11;?\x07"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char got[200] = "";
        type(&p, rows[i].bytes);
        events_until_q(t, got, sizeof got);
        if (strcmp(got, rows[i].says) != 0)
            fail_msg("row %zu: '%s', not '%s'", i, got, rows[i].says);
    }
    t->ops->close(t);
    close(p.master);
    close(p.slave);
}

/* A terminal that does not answer: the program is told once, and an answer that comes later
   counts. */
TEST(test_no_answer_about_the_background)
{
    struct pair p;
    struct tty *t = NULL;
    struct error err = {0};
    open_pair(&p);
    struct tty_setup setup = {p.slave, p.slave, "xterm-256color", DEPTH_256, false, false, true};
    assert_int_equal(tty_curses_open(&t, &setup, &err), 0);
    assert_true(t->asked);
    t->now_ms = 1000;
    assert_int_equal(t->ops->event(t).kind, TTY_NONE);
    assert_int_equal(t->again_ms, LIMIT_BACKGROUND_ANSWER_MS);
    t->now_ms += LIMIT_BACKGROUND_ANSWER_MS - 1;
    assert_int_equal(t->ops->event(t).kind, TTY_NONE);
    t->now_ms++;
    struct tty_event e = t->ops->event(t);
    assert_int_equal(e.kind, TTY_BACKGROUND);
    assert_int_equal(e.background, BACKGROUND_UNKNOWN);
    assert_int_equal(t->ops->event(t).kind, TTY_NONE);
    assert_int_equal(t->again_ms, 0);
    type(&p, "\x1b]11;rgb:ff/ff/ff\x07");
    e = wait_event(t);
    assert_int_equal(e.kind, TTY_BACKGROUND);
    assert_int_equal(e.background, BACKGROUND_LIGHT);
    t->ops->close(t);
    close(p.master);
    close(p.slave);
}

/* Two clicks are one double click only where they are, and soon. */
TEST(test_a_double_click)
{
    static const struct {
        int row, column;
        unsigned later_ms;
        enum mouse_kind kind;
    } rows[] = {
        {3, 5, 9000, MOUSE_CLICK}, {3, 5, 300, MOUSE_DOUBLE_CLICK}, {3, 5, 100, MOUSE_CLICK},
        {4, 5, 100, MOUSE_CLICK},  {4, 6, 100, MOUSE_DOUBLE_CLICK}, {7, 5, 100, MOUSE_CLICK},
        {7, 9, 100, MOUSE_CLICK},  {7, 9, 401, MOUSE_CLICK},        {7, 9, 400, MOUSE_DOUBLE_CLICK},
    };
    struct pair p;
    open_pair(&p);
    struct tty *t = open_tty(&p, "xterm-256color", DEPTH_256);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char bytes[64];
        t->now_ms += rows[i].later_ms;
        snprintf(bytes, sizeof bytes, "\x1b[<0;%d;%dM\x1b[<0;%d;%dm", rows[i].column, rows[i].row,
                 rows[i].column, rows[i].row);
        type(&p, bytes);
        struct tty_event e = wait_event(t);
        if (e.kind != TTY_MOUSE || e.mouse.kind != rows[i].kind)
            fail_msg("row %zu: %d %d", i, (int)e.kind, (int)e.mouse.kind);
    }
    t->ops->close(t);
    close(p.master);
    close(p.slave);
}

/* A paste without its end holds the keys until the terminal is silent, by the clock given. */
TEST(test_paste_without_end)
{
    struct pair p;
    open_pair(&p);
    struct tty *t = open_tty(&p, "xterm-256color", DEPTH_256);
    type(&p, "\x1b[200~quiet");
    wait_bytes(t, 11);
    wait_silent(t, 1000);
    wait_silent(t, 1999);
    assert_int_equal(t->again_ms, 1);
    t->now_ms = 2000;
    struct tty_event e = t->ops->event(t);
    assert_int_equal(e.kind, TTY_PASTE);
    assert_int_equal(e.paste_len, 5);
    assert_int_equal(t->again_ms, 0);
    type(&p, "j\x1b[201~k"); /* its end comes late: nothing is pasted a second time */
    e = wait_event(t);
    assert_int_equal(e.kind, TTY_KEY);
    assert_int_equal(e.key.code, 'j');
    e = wait_event(t);
    assert_int_equal(e.kind, TTY_KEY);
    assert_int_equal(e.key.code, 'k');
    t->ops->close(t);
    close(p.master);
    close(p.slave);
}

/* So does a report of the mouse. */
TEST(test_a_report_without_end)
{
    struct pair p;
    open_pair(&p);
    struct tty *t = open_tty(&p, "xterm-256color", DEPTH_256);
    type(&p, "\x1b[<0;5");
    wait_bytes(t, 6);
    wait_silent(t, 1000);
    wait_silent(t, 1199);
    t->now_ms = 1200;
    assert_int_equal(t->ops->event(t).kind, TTY_NONE);
    assert_int_equal(t->again_ms, 0);
    type(&p, "7");
    struct tty_event e = wait_event(t);
    assert_int_equal(e.kind, TTY_KEY);
    assert_int_equal(e.key.code, '7');
    t->ops->close(t);
    close(p.master);
    close(p.slave);
}

/* One that never falls silent ends by its length. */
TEST(test_paste_too_long)
{
    struct paste p;
    paste_init(&p);
    paste_begin(&p, 5);
    size_t n = 1;
    while (paste_put(&p, 'x', 5) && n <= 2 * (size_t)LIMIT_PASTE_TAKEN)
        n++;
    assert_int_equal(n, LIMIT_PASTE_TAKEN);
    assert_false(p.open);
    assert_int_equal(p.kept.len, LIMIT_PASTE_BYTES);
    paste_clear(&p);
}

/* A terminal says its size, true or not: what is drawn has a bound, at the start and later. */
TEST(test_sizes)
{
    static const struct {
        unsigned short rows, columns;
        int rows_drawn, columns_drawn;
    } rows[] = {
        {65535, 65535, LIMIT_CANVAS_ROWS, LIMIT_CANVAS_COLUMNS},
        {32767, 32767, LIMIT_CANVAS_ROWS, LIMIT_CANVAS_COLUMNS},
        {1, 65535, 1, LIMIT_CANVAS_COLUMNS},
        {65535, 1, LIMIT_CANVAS_ROWS, 1},
        {1, 1, 1, 1},
        {50, 132, 50, 132},
    };
    setenv("COLUMNS", "2147483647", 1);
    setenv("LINES", "2147483647", 1);
    for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
        const size_t at = i / 2;
        struct winsize size = {.ws_row = rows[at].rows, .ws_col = rows[at].columns};
        struct pair p;
        int height, width;
        open_pair(&p);
        if (i % 2 == 0)
            ioctl(p.master, TIOCSWINSZ, &size);
        struct tty *t = open_tty(&p, "xterm-256color", DEPTH_256);
        ioctl(p.master, TIOCSWINSZ, &size);
        t->ops->resized(t);
        t->ops->size(t, &height, &width);
        assert_int_equal(height, rows[at].rows_drawn);
        assert_int_equal(width, rows[at].columns_drawn);
        t->ops->close(t);
        close(p.master);
        close(p.slave);
    }
    unsetenv("COLUMNS");
    unsetenv("LINES");
}

static void draw_text(struct tty *t, const struct theme *theme, const char *text)
{
    struct canvas c;
    canvas_init(&c, 16, 60, t->ascii);
    canvas_puts(&c, (struct rect){0, 0, 16, 60}, 3, 5, STYLE_ALARM, text);
    t->ops->draw(t, &c, theme, (struct tty_cursor){-1, 0});
    canvas_clear(&c);
}

static void draw_alarm(struct tty *t, const char *text)
{
    struct theme theme;
    theme_init(&theme);
    draw_text(t, &theme, text);
}

TEST(test_colours)
{
    static const struct {
        const char *term;
        enum color_depth most, depth;
        const char *has, *has_not;
    } rows[] = {
        {"xterm-256color", DEPTH_256, DEPTH_256, "48;5;160m", NULL},
        {"xterm-256color", DEPTH_16, DEPTH_16, "\x1b[", "48;5;160m"},
        {"xterm-256color", DEPTH_NONE, DEPTH_NONE, "\x1b[", "48;5"},
        {"xterm", DEPTH_256, DEPTH_8, "\x1b[", "48;5;160m"},
        {"vt100", DEPTH_256, DEPTH_NONE, "\x1b[", "\x1b[4"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pair p;
        open_pair(&p);
        struct tty *t = open_tty(&p, rows[i].term, rows[i].most);
        assert_int_equal(t->depth, rows[i].depth);
        draw_alarm(t, "gone");
        const char *s = sent(&p);
        if (!strstr(s, "gone") || !strstr(s, rows[i].has) ||
            (rows[i].has_not && strstr(s, rows[i].has_not)))
            fail_msg("row %zu: %s", i, s);
        draw_alarm(t, "done"); /* only what changed is sent */
        s = sent(&p);
        if (!strstr(s, "d") || strlen(s) > 60)
            fail_msg("row %zu: %zu bytes for two cells", i, strlen(s));
        t->ops->close(t);
        close(p.master);
        close(p.slave);
    }
}

/* As `set colors` does it: the theme is the same. */
TEST(test_fewer_colours_at_once)
{
    struct pair p;
    struct theme theme;
    theme_init(&theme);
    open_pair(&p);
    struct tty *t = open_tty(&p, "xterm-256color", DEPTH_256);
    draw_text(t, &theme, "gone");
    assert_non_null(strstr(sent(&p), "48;5;160m"));
    t->depth = DEPTH_8;
    t->ops->redraw(t);
    draw_text(t, &theme, "done");
    const char *s = sent(&p);
    if (!strstr(s, "done") || strstr(s, "48;5;160m"))
        fail_msg("%s", s);
    t->ops->close(t);
    close(p.master);
    close(p.slave);
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
    return a->c_lflag == b->c_lflag && a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag;
}

TEST(test_given_back)
{
    struct pair p;
    struct termios now;
    open_pair(&p);
    struct tty *t = open_tty(&p, "xterm-256color", DEPTH_256);
    draw_alarm(t, "x");
    sent(&p);
    tcgetattr(p.slave, &now);
    assert_false(same_modes(&now, &p.before));
    t->ops->suspend(t);
    tcgetattr(p.slave, &now);
    assert_true(same_modes(&now, &p.before));
    assert_non_null(strstr(sent(&p), "\x1b[?1049l"));
    t->ops->resume(t);
    tcgetattr(p.slave, &now);
    assert_false(same_modes(&now, &p.before));
    draw_alarm(t, "y");
    assert_non_null(strstr(sent(&p), "y"));
    tty_rescue_now(&t->rescue);
    tcgetattr(p.slave, &now);
    assert_true(same_modes(&now, &p.before));
    const char *s = sent(&p);
    assert_non_null(strstr(s, "\x1b[?1049l"));
    assert_non_null(strstr(s, "\x1b[?1000l"));
    assert_non_null(strstr(s, "\x1b[?2004l"));
    t->ops->close(t);
    close(p.master);
    close(p.slave);
}

TEST(test_refused)
{
    struct pair p;
    struct tty *t = NULL;
    open_pair(&p);
    int file = open("/dev/null", O_RDWR);
    struct tty_setup setup = {file, file, "xterm", DEPTH_256, false, false, false};
    struct error err = {0};
    assert_int_equal(tty_curses_open(&t, &setup, &err), ERR_SYSTEM);
    error_clear(&err);
    setup =
        (struct tty_setup){p.slave, p.slave, "no-such-terminal", DEPTH_256, false, false, false};
    assert_int_equal(tty_curses_open(&t, &setup, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "TERM"));
    error_clear(&err);
    setup.term = NULL;
    assert_int_equal(tty_curses_open(&t, &setup, &err), ERR_SYSTEM);
    close(file);
    close(p.master);
    close(p.slave);
}

static int begin(void **state)
{
    (void)state;
    setlocale(LC_CTYPE, "C.UTF-8");
    return 0;
}
TESTS_WITH(begin, NULL);

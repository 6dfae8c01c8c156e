/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terminal of the screen program: its keys, its size, the signals of its shell. */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
#include <fcntl.h>
#include <signal.h>

#include "app/job/crash.h"
#include "app/job/suspend.h"
#include "app/way/reach_login.h"
#include "tui_internal.h"

/* Events taken before the screen is drawn: a paste does not starve it. */
#define EVENTS_AT_ONCE 256

static void on_tty_key(struct tui *t, struct key key)
{
    if (prompt_is_open(t->prompt)) {
        prompt_key(t->prompt, key);
        return;
    }
    screen_set_message(t->screen, STYLE_MESSAGE, NULL);
    if (screen_type(t->screen, key))
        return;
    const struct binding *b = keymap_lookup(&t->settings.keymap, screen_context(t->screen), key);
    struct error err = {0};
    if (b && screen_takes(t->screen, b->action, &err) < 0) {
        tui_message(t, STYLE_ERROR, "%s", err.text);
        return;
    }
    if (b) {
        tui_act(t, b->action, b->arg);
        return;
    }
    char name[KEY_TEXT_BYTES], help[64];
    tui_message(t, STYLE_MESSAGE, "%s does nothing here; %s lists the keys", key_format(key, name),
                tui_key(t, ACTION_HELP, NULL, help, sizeof help));
}

static void on_tty_mouse(struct tui *t, const struct tty_event *e)
{
    int row = e->mouse.row, column = e->mouse.column;
    bool clicked = e->mouse.kind == MOUSE_CLICK || e->mouse.kind == MOUSE_DOUBLE_CLICK;
    if (clicked && prompt_is_open(t->prompt))
        return; /* what was typed, or asked, stays */
    if (clicked)
        screen_set_message(t->screen, STYLE_MESSAGE, NULL);
    switch (e->mouse.kind) {
    case MOUSE_CLICK:
    case MOUSE_DOUBLE_CLICK:
        screen_click(t->screen, t->model, row, column, e->mouse.kind == MOUSE_DOUBLE_CLICK);
        tui_follow_filter(t);
        break;
    case MOUSE_WHEEL_UP:
        screen_wheel(t->screen, t->model, row, column, -3);
        break;
    case MOUSE_WHEEL_DOWN:
        screen_wheel(t->screen, t->model, row, column, 3);
        break;
    }
}

static bool on_tty_event(struct tui *t, const struct tty_event *e)
{
    switch (e->kind) {
    case TTY_NONE:
        return false;
    case TTY_KEY:
        on_tty_key(t, e->key);
        break;
    case TTY_MOUSE:
        on_tty_mouse(t, e);
        break;
    case TTY_PASTE:
        if (prompt_is_open(t->prompt))
            prompt_paste(t->prompt, e->paste, e->paste_len);
        break;
    case TTY_RESIZE:
        canvas_resize(&t->canvas, e->rows, e->columns);
        screen_update(t->screen);
        break;
    case TTY_BACKGROUND:
        if (e->background != BACKGROUND_UNKNOWN || t->settings.theme.terminal == BACKGROUND_ANY)
            config_set_background(&t->settings.config, e->background);
        break;
    case TTY_CLOSED:
        tui_quit(t, EXIT_DONE, NULL);
        return false;
    }
    return true;
}

static void on_input_timer(uv_timer_t *timer);

static void take_events(struct tui *t)
{
    bool any = false;
    t->tty->now_ms = uv_now(&t->rt.loop);
    for (int i = 0; i < EVENTS_AT_ONCE && t->tty && !t->rt.ended; i++) {
        struct tty_event e = t->tty->ops->event(t->tty);
        if (!on_tty_event(t, &e))
            break;
        any = true;
    }
    if (t->tty && t->tty->again_ms > 0)
        uv_timer_start(&t->input_timer, on_input_timer, t->tty->again_ms, 0);
    if (t->rt.ended || !any)
        return;
    tui_announce(t, TUI_TYPED);
    /* A key is on the screen at once, whatever the target does. */
    if (t->tty && !t->rt.ended)
        tui_draw(t);
}

static void on_input_timer(uv_timer_t *timer)
{
    struct tui *t = timer->data;
    if (t->tty && !t->rt.ended)
        take_events(t);
}

static void on_tty_readable(uv_poll_t *poll, int status, int events)
{
    struct tui *t = poll->data;
    (void)events;
    if (status < 0)
        tui_quit(t, EXIT_DONE, NULL);
    else
        take_events(t);
}

/* libuv makes what it polls non-blocking, and with it the shell's own standard input, which is the
 * same open file. Curses polls before it reads: the flags go back to what they were at once, so
 * that no end of the program, however sudden, leaves them changed. */
static int watch_tty(struct tui *t)
{
    int flags = fcntl(t->tty->fd, F_GETFL);
    uv_poll_init(&t->rt.loop, &t->tty_poll, t->tty->fd);
    if (flags >= 0)
        fcntl(t->tty->fd, F_SETFL, flags);
    t->tty_poll.data = t;
    if (t->tty->asked) /* what never answers makes nothing readable */
        uv_timer_start(&t->input_timer, on_input_timer, 1, 0);
    return uv_poll_start(&t->tty_poll, UV_READABLE, on_tty_readable);
}

int tui_open_terminal(struct tui *t, struct error *err)
{
    const struct tty_setup setup = {
        .in_fd = 0,
        .out_fd = 1,
        .term = t->env->term,
        .most = settings_depth(&t->settings, t->env, t->cli->mono),
        .ascii = settings_ascii(&t->settings, t->env),
        .mouse = option_bool(&t->settings.options, OPTION_MOUSE),
        .ask_background = true,
    };
    int rows = 0, columns = 0;
    const enum theme_background background = tty_background(t->env->colorfgbg);
    int rc = tty_curses_open(&t->tty, &setup, err);
    if (rc != 0)
        return rc;
    if (background != BACKGROUND_UNKNOWN || !t->tty->asked)
        config_set_background(&t->settings.config, background);
    crash_protect(&t->tty->rescue);
    t->tty->ops->size(t->tty, &rows, &columns);
    canvas_init(&t->canvas, rows, columns, t->tty->ascii);
    return watch_tty(t);
}

static void leave_screen(struct tui *t)
{
    tui_announce(t, TUI_SUSPENDS);
    t->tty->ops->suspend(t->tty);
}

static void enter_screen(struct tui *t)
{
    t->tty->ops->resume(t->tty);
    tui_announce(t, TUI_RESUMES);
    uv_update_time(&t->rt.loop);
    take_events(t);
    tui_draw(t);
}

void tui_suspend(struct tui *t)
{
    if (!suspend_is_possible()) {
        tui_message(t, STYLE_WARN, "cannot suspend: no shell to return to");
        return;
    }
    leave_screen(t);
    suspend_job();
    enter_screen(t);
}

/* The terminal is ssh's as long as it asks there, and so is Ctrl-C. */
void tui_login(struct tui *t)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction ours;
    struct error err = {0};
    if (!t->tty || !reach_ssh_place(t->env->reach, 0)) {
        tui_message(t, STYLE_WARN, "no node of this screen is reached by ssh");
        return;
    }
    leave_screen(t);
    fputs("beamtop: ssh logs in. Ctrl-C cancels\n", stderr);
    sigaction(SIGINT, &ignore, &ours);
    const int hosts = reach_login_again(t->env->reach, cli_timeout_ms(t->cli), &err);
    sigaction(SIGINT, &ours, NULL);
    if (hosts < 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
    else
        tui_message(t, STYLE_MESSAGE, "logged in to %d host%s by ssh", hosts,
                    hosts == 1 ? "" : "s");
    enter_screen(t);
}

bool tui_terminal_is_ready(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) != 0;
}

/* ---- signals */

/* After a SIGSTOP, of which nothing was known before: the shell has set modes of its line editor,
 * and written over the screen. In the background this stops the job again, as it has to. */
static void take_terminal_back(struct tui *t)
{
    t->tty->ops->suspend(t->tty);
    t->tty->ops->resume(t->tty);
    take_events(t);
    tui_touch(t);
}

void tui_on_signal(uv_signal_t *signal, int number)
{
    struct tui *t = signal->data;
    switch (number) {
    case SIGWINCH:
        t->tty->ops->resized(t->tty);
        take_events(t);
        break;
    case SIGTSTP:
        tui_suspend(t);
        break;
    case SIGCONT:
        take_terminal_back(t);
        break;
    default:
        tui_quit(t, 128 + number, NULL);
    }
}

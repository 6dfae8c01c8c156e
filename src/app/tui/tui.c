/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screen program: one loop for terminal, target, timers and signals. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "app/cli/commands.h"
#include "app/job/crash.h"
#include "app/job/suspend.h"
#include "tui_internal.h"
#include "tui_owners.h"

#define DRAW_GAP_MS (1000u / LIMIT_FRAMES_PER_S)
#define SETTLE_MS 10u  /* the answers of a tick come one after the other: one draw has them all */
#define CLOCK_MS 1100u /* from a draw to the next where nothing changes: more than a tick */
/* Events taken before the screen is drawn: a paste does not starve it. */
#define EVENTS_AT_ONCE 256
#define NOTICE_MS 6000u /* what needs no answer of the user stands so long */

/* ---- drawing */

static void set_clock(struct tui *t)
{
    char text[CLOCK_TEXT_BYTES];
    int64_t wall_us = t->source ? source_wall_us(t->source) : clock_wall_us();
    screen_set_clock(t->screen, clock_time_text(text, wall_us));
    double frozen_s = t->source ? (double)(uv_now(&t->rt.loop) - t->changed_ms) / 1000.0 : NAN;
    screen_set_frozen_s(t->screen, frozen_s);
}

static void end_notice(struct tui *t)
{
    if (t->notice_until_ms == 0 || uv_now(&t->rt.loop) < t->notice_until_ms)
        return;
    screen_end_notice(t->screen);
    t->notice_until_ms = 0;
}

static void draw_now(struct tui *t)
{
    struct tty_cursor cursor = {.row = -1};
    struct filter *filter = model_filter(t->model);
    if (!t->tty)
        return;
    tui_follow_filter(t);
    end_notice(t);
    set_clock(t);
    if (filter_is_on(filter))
        regex_allow(filter_regex(filter), LIMIT_REGEX_DRAW_STEPS);
    if (filter_is_on(t->filter))
        regex_allow(filter_regex(t->filter), LIMIT_REGEX_DRAW_STEPS);
    screen_draw(t->screen, t->model, &t->canvas, &cursor);
    t->tty->ops->draw(t->tty, &t->canvas, &t->settings.theme, cursor);
    t->dirty = false;
    uv_update_time(&t->rt.loop); /* it may have waited for the terminal */
    t->drawn_ms = uv_now(&t->rt.loop);
    uv_timer_again(&t->clock_timer);
    const char *trouble = filter_trouble(filter), *own = filter_trouble(t->filter);
    if (!trouble)
        trouble = own;
    if (trouble)
        tui_message(t, STYLE_WARN, "%s", trouble);
    tui_want(t);
}

static void on_draw_timer(uv_timer_t *timer)
{
    struct tui *t = timer->data;
    if (t->dirty)
        draw_now(t);
}

/* In so many milliseconds; earlier where that is due, later where frames would come too fast. */
static void draw_in(struct tui *t, uint64_t ms)
{
    uint64_t now = uv_now(&t->rt.loop), next = t->drawn_ms + DRAW_GAP_MS;
    if (next > now + ms)
        ms = next - now;
    if (!t->tty || (t->dirty && uv_timer_get_due_in(&t->draw_timer) <= ms))
        return;
    t->dirty = true;
    uv_timer_start(&t->draw_timer, on_draw_timer, ms, 0);
}

void tui_touch(struct tui *t)
{
    draw_in(t, 0);
}

void tui_message(struct tui *t, enum style style, const char *fmt, ...)
{
    char text[900];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    screen_set_message(t->screen, style, text);
    t->notice_until_ms = style == STYLE_MESSAGE ? uv_now(&t->rt.loop) + NOTICE_MS : 0;
    tui_touch(t);
}

/* ---- owners */

static void make_owners(struct tui *t)
{
    t->owners = tui_owners;
    for (size_t i = 0; i < TUI_OWNERS; i++)
        if (t->owners[i]->make)
            t->own[i] = t->owners[i]->make(t);
}

void tui_announce(struct tui *t, enum tui_event event)
{
    for (size_t i = 0; i < TUI_OWNERS; i++)
        if (t->owners[i]->at[event] && t->own[i])
            t->owners[i]->at[event](t->own[i]);
}

/* ---- the target */

void tui_want(struct tui *t)
{
    struct want want = {0};
    struct error err = {0};
    if (!t->source)
        return;
    screen_want(t->screen, &want);
    want.steady = t->has_trigger; /* what it waits for may last a second */
    for (size_t i = 0; t->live && i < TUI_OWNERS; i++)
        if (t->owners[i]->want)
            t->owners[i]->want(t->own[i], &want);
    if (source_set_want(t->source, &want, &err) != 0)
        tui_message(t, STYLE_WARN, "%s", err.text);
}

static void on_change(void *arg, bool facts)
{
    struct tui *t = arg;
    if (facts)
        t->changed_ms = uv_now(&t->rt.loop);
    if (!t->paused || !facts || source_can(t->source, SOURCE_SEEKS))
        screen_update(t->screen);
    tui_announce(t, TUI_CHANGED);
    draw_in(t, SETTLE_MS);
}

static void on_tick(void *arg)
{
    tui_announce(arg, TUI_TICK);
}

static void on_trouble(void *arg, const struct error *err)
{
    tui_message(arg, STYLE_ERROR, "%s", err->text);
}

static void on_notice(void *arg, bool trouble, const char *text)
{
    tui_message(arg, trouble ? STYLE_WARN : STYLE_MESSAGE, "%s", text);
}

static void on_link(void *arg, bool up)
{
    struct tui *t = arg;
    if (up) {
        /* Findings name pids: those of a node that was started again are of other processes. */
        uint32_t life = live_peer_creation(t->live);
        if (t->life != 0 && t->life != life) {
            tui_announce(t, TUI_RESTARTED);
            screen_forget_process(t->screen);
        }
        t->life = life;
        return;
    }
    t->copy_waits = false;
    tui_announce(t, TUI_LOST);
}

static void close_source(struct tui *t)
{
    if (!t->source)
        return;
    tui_announce(t, TUI_LEAVES);
    source_close(t->source, NULL, NULL);
    t->source = NULL;
    t->live = NULL;
}

/* `beamtop ndoes` names a node. */
static void tell_command(const struct tui *t, struct error *err)
{
    const char *target = t->cli->target;
    struct slice near = {NULL, 0};
    if (target && !strchr(target, '@'))
        near = cli_near_command(target);
    if (near.len > 0)
        error_context(err, "there is no command “%s” (did you mean `beamtop %.*s`?), and as a node",
                      target, (int)near.len, near.s);
}

static void on_end(void *arg, bool had_tick, const struct error *err)
{
    struct tui *t = arg;
    struct error copy = *err;
    if (t->picked || (t->vms.count > 1 && !t->cli->target)) {
        /* Chosen from the picker: say why, and let the user choose another. */
        close_source(t);
        tui_message(t, STYLE_ERROR, "%s", err->text);
        return;
    }
    if (!had_tick)
        tell_command(t, &copy);
    tui_quit(t, EXIT_CONNECT, &copy);
}

int tui_connect(struct tui *t, const char *target, int64_t os_pid, struct error *err)
{
    static const struct source_handlers handlers = {.on_change = on_change,
                                                    .on_tick = on_tick,
                                                    .on_trouble = on_trouble,
                                                    .on_notice = on_notice,
                                                    .on_link = on_link,
                                                    .on_end = on_end};
    const struct options *o = &t->settings.options;
    const struct source_setup setup = {
        .cli = t->cli,
        .env = t->env,
        .vms = t->vms.count ? &t->vms : NULL,
        .os_pid = os_pid,
        .loop = &t->rt.loop,
        .model = t->model,
        .interval_s = option_double(o, OPTION_INTERVAL),
        .budget = option_double(o, OPTION_BUDGET) / 100,
        .reconnect = option_bool(o, OPTION_RECONNECT),
        .handlers = &handlers,
        .arg = t,
    };
    char filter[sizeof t->filter_text]; /* of a start, or of the node before */
    close_source(t);
    tui_announce(t, TUI_OPENS);
    t->copy_waits = false;
    screen_forget_process(t->screen);
    t->changed_ms = uv_now(&t->rt.loop);
    int rc = source_open(&t->source, target, &setup, err);
    if (rc != 0)
        return rc;
    t->live = source_live(t->source);
    memcpy(filter, t->filter_text, sizeof filter);
    t->target_filter[0] = '\n'; /* not known: it is set again */
    rc = tui_set_filter(t, filter, NULL, err);
    if (rc == 0)
        tui_want(t);
    return rc;
}

/* ---- the terminal */

static void on_key(struct tui *t, struct key key)
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

static void on_mouse(struct tui *t, const struct tty_event *e)
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

static bool on_event(struct tui *t, const struct tty_event *e)
{
    switch (e->kind) {
    case TTY_NONE:
        return false;
    case TTY_KEY:
        on_key(t, e->key);
        break;
    case TTY_MOUSE:
        on_mouse(t, e);
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
        if (!on_event(t, &e))
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
        draw_now(t);
}

static void on_input_timer(uv_timer_t *timer)
{
    struct tui *t = timer->data;
    if (t->tty && !t->rt.ended)
        take_events(t);
}

static void on_tty(uv_poll_t *poll, int status, int events)
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
    return uv_poll_start(&t->tty_poll, UV_READABLE, on_tty);
}

static int open_tty(struct tui *t, struct error *err)
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

void tui_suspend(struct tui *t)
{
    if (!suspend_is_possible()) {
        tui_message(t, STYLE_WARN, "cannot suspend: no shell to return to");
        return;
    }
    tui_announce(t, TUI_SUSPENDS);
    t->tty->ops->suspend(t->tty);
    suspend_job();
    t->tty->ops->resume(t->tty);
    tui_announce(t, TUI_RESUMES);
    uv_update_time(&t->rt.loop);
    take_events(t);
    draw_now(t);
}

/* ---- signals */

static void on_signal(uv_signal_t *signal, int number)
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
        t->tty->ops->redraw(t->tty);
        tui_touch(t);
        break;
    default:
        tui_quit(t, 128 + number, NULL);
    }
}

/* ---- life */

static void on_clock(uv_timer_t *timer)
{
    tui_touch(timer->data);
}

void tui_quit(struct tui *t, int exit_code, const struct error *err)
{
    runtime_end(&t->rt, exit_code, err);
}

static void close_all(struct tui *t)
{
    crash_protect(NULL);
    if (t->tty) {
        uv_close((uv_handle_t *)&t->tty_poll, NULL);
        t->tty->ops->close(t->tty);
        t->tty = NULL;
    }
    tui_announce(t, TUI_CLOSES);
    source_close(t->source, NULL, NULL);
    t->source = NULL;
    t->live = NULL;
    runtime_close(&t->rt);
}

static int start(struct tui *t, struct error *err)
{
    t->filter = filter_new();
    t->screen = screen_new(option_text(&t->settings.options, OPTION_VIEW), err);
    if (!t->screen)
        return err->code;
    t->prompt = prompt_new(&t->settings.keymap);
    tui_load_history(t);
    screen_set_prompt(t->screen, t->prompt);
    screen_set_keymap(t->screen, &t->settings.keymap);
    if (tui_start_options(t, err) != 0)
        return err->code;
    if (!t->cli->target)
        return tui_find_node(t, err);
    return tui_connect(t, t->cli->target, 0, err);
}

static void clear(struct tui *t)
{
    tui_announce(t, TUI_FREES);
    screen_free(t->screen);
    filter_free(t->filter);
    prompt_free(t->prompt);
    model_free(t->model);
    if (t->canvas.cells)
        canvas_clear(&t->canvas);
    discover_clear(&t->vms);
    settings_clear(&t->settings);
}

int command_screen(const struct cli_options *o, const struct app_env *env)
{
    static const int signals[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT};
    struct tui *t = alloc_zero(1, sizeof *t);
    struct error err = {0};
    t->cli = o;
    t->env = env;
    t->model = model_new();
    runtime_init(&t->rt);
    runtime_timer(&t->rt, &t->draw_timer, t);
    runtime_timer(&t->rt, &t->input_timer, t);
    runtime_timer(&t->rt, &t->clock_timer, t);
    make_owners(t);
    int rc = settings_init(&t->settings, o, env, &err);
    if (rc == 0 && (!env->in_tty || !env->out_tty))
        rc = error_set(&err, ERR_USAGE,
                       "the screen needs a terminal; `beamtop top NODE` prints without one");
    if (rc == 0)
        rc = start(t, &err);
    if (rc == 0)
        rc = open_tty(t, &err);
    if (rc == 0) {
        runtime_catch(&t->rt, signals, ARRAY_LEN(signals), on_signal, t);
        uv_timer_start(&t->clock_timer, on_clock, CLOCK_MS, CLOCK_MS);
        if (t->settings.diags.len)
            tui_message(t, STYLE_ERROR,
                        "%zu errors in the configuration: printed when beamtop ends",
                        t->settings.diags.len);
        draw_now(t);
        uv_run(&t->rt.loop, UV_RUN_DEFAULT);
    }
    close_all(t);
    if (rc == 0)
        tui_save_history(t);
    settings_print_errors(&t->settings);
    const struct error *reported = rc != 0 ? &err : &t->rt.err;
    if (reported->code != ERR_NONE)
        fprintf(stderr, "beamtop: %s\n", reported->text);
    tui_announce(t, TUI_ENDED);
    int exit_code = rc == 0 ? t->rt.exit_code : rc == ERR_USAGE ? EXIT_USAGE : EXIT_CONNECT;
    clear(t);
    free(t);
    return exit_code;
}

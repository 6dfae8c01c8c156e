/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screen program: one loop for terminal, target, timers and signals. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "app/cli/commands.h"
#include "crash.h"
#include "suspend.h"
#include "tui_internal.h"

#define DRAW_GAP_MS (1000u / LIMIT_FRAMES_PER_S)
/* Events taken before the screen is drawn: a paste does not starve it. */
#define EVENTS_AT_ONCE 256
#define READING_MS 3000u

/* ---- drawing */

static void set_clock(struct tui *t)
{
    char text[CLOCK_TEXT_BYTES];
    int64_t wall_us = t->source ? source_wall_us(t->source) : clock_wall_us();
    screen_set_clock(t->screen, clock_time_text(text, wall_us));
    double frozen_s = t->source ? (double)(uv_now(&t->loop) - t->changed_ms) / 1000.0 : NAN;
    screen_set_frozen_s(t->screen, frozen_s);
}

/* Once for each expression; what it did not look at does not match. */
static void tell_expensive(struct tui *t)
{
    if (t->reported_expensive)
        return;
    t->reported_expensive = true;
    tui_message(t, STYLE_WARN,
                "filter too expensive for this view: some of it counts as not "
                "matching. Avoid nested repeats such as (a+)+");
}

void tui_draw_now(struct tui *t)
{
    struct tty_cursor cursor = {.row = -1};
    if (!t->tty)
        return;
    set_clock(t);
    if (t->highlight)
        regex_allow(t->highlight, LIMIT_REGEX_DRAW_STEPS);
    screen_draw(t->screen, t->model, &t->canvas, &cursor);
    t->tty->ops->draw(t->tty, &t->canvas, &t->settings.theme, cursor);
    t->dirty = false;
    t->drawn_ms = uv_now(&t->loop);
    if (t->highlight && regex_is_spent(t->highlight))
        tell_expensive(t);
    tui_want(t);
}

static void on_draw_timer(uv_timer_t *timer)
{
    struct tui *t = timer->data;
    if (t->dirty)
        tui_draw_now(t);
}

void tui_touch(struct tui *t)
{
    if (t->dirty || !t->tty)
        return;
    uint64_t now = uv_now(&t->loop), next = t->drawn_ms + DRAW_GAP_MS;
    t->dirty = true;
    uv_timer_start(&t->draw_timer, on_draw_timer, next > now ? next - now : 0, 0);
}

void tui_message(struct tui *t, enum style style, const char *fmt, ...)
{
    char text[900];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    screen_set_message(t->screen, style, text);
    t->message_ms = uv_now(&t->loop);
    tui_touch(t);
}

/* ---- the target */

void tui_want(struct tui *t)
{
    struct want want = {.needs = 0};
    struct error err = {.code = ERR_NONE};
    if (!t->source)
        return;
    screen_want(t->screen, &want);
    if (t->live)
        tui_findings_want(t->findings, &want);
    if (source_set_want(t->source, &want, &err) != 0)
        tui_message(t, STYLE_WARN, "%s", err.text);
}

static void on_change(void *arg, bool facts)
{
    struct tui *t = arg;
    if (facts)
        t->changed_ms = uv_now(&t->loop);
    if (t->live && live_peer_node(t->live))
        tui_trace_history(t->trace, live_peer_node(t->live));
    if (!t->paused || !facts || source_can(t->source, SOURCE_SEEKS))
        screen_update(t->screen);
    tui_touch(t);
}

/* Why a view is slower than asked for stands in the message line until a key is pressed. */
static void tell_stretch(struct tui *t)
{
    const char *why = model_interval(t->model).why;
    /* The last message may answer a key: leave time to read it. */
    if (uv_now(&t->loop) - t->message_ms < READING_MS)
        return;
    if (*why && !t->stretched)
        tui_message(t, STYLE_WARN, "%s", why);
    t->stretched = *why != '\0';
}

static void on_tick(void *arg)
{
    struct tui *t = arg;
    tell_stretch(t);
    tui_findings_tick(t->findings);
    if (t->has_trigger && trigger_fires(&t->trigger, model_system(t->model), clock_mono_ns()))
        tui_capture(t, true, "");
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
    tui_trace_link(t->trace, up);
    tui_calls_link(t->calls, up);
    tui_findings_link(t->findings, up);
}

/* What was asked of the source stays without an answer. */
static void close_source(struct tui *t)
{
    if (t->source == NULL)
        return;
    tui_trace_leave(t->trace);
    tui_calls_leave(t->calls);
    source_close(t->source, NULL, NULL);
    t->source = NULL;
    t->live = NULL;
    tui_findings_left(t->findings);
    tui_record_left(t->record);
}

static void on_end(void *arg, bool had_tick, const struct error *err)
{
    struct tui *t = arg;
    (void)had_tick;
    if (t->picked || (t->vms.count > 1 && !t->cli->target)) {
        /* Chosen from the picker: say why, and let the person choose another. */
        close_source(t);
        tui_message(t, STYLE_ERROR, "%s", err->text);
        return;
    }
    tui_quit(t, EXIT_CONNECT, err);
}

int tui_connect(struct tui *t, const char *target, struct error *err)
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
        .loop = &t->loop,
        .model = t->model,
        .interval_s = option_double(o, OPTION_INTERVAL),
        .budget = option_double(o, OPTION_BUDGET) / 100,
        .reconnect = option_bool(o, OPTION_RECONNECT),
        .handlers = &handlers,
        .arg = t,
    };
    size_t offset;
    close_source(t);
    t->changed_ms = uv_now(&t->loop);
    int rc = source_open(&t->source, target, &setup, err);
    if (rc != 0)
        return rc;
    t->live = source_live(t->source);
    /* The filter of a start, or of the node before. */
    rc = source_set_filter(t->source, t->filter_text, &offset, err);
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
    const struct binding *b = keymap_lookup(&t->settings.keymap, screen_context(t->screen), key);
    if (b) {
        tui_act(t, b->action, b->arg);
        return;
    }
    char name[KEY_TEXT_BYTES];
    tui_message(t, STYLE_MESSAGE, "%s does nothing here; ? lists the keys", key_format(key, name));
}

static void on_mouse(struct tui *t, const struct tty_event *e)
{
    int row = e->mouse.row, column = e->mouse.column;
    switch (e->mouse.kind) {
    case MOUSE_CLICK:
    case MOUSE_DOUBLE_CLICK:
        screen_click(t->screen, t->model, row, column);
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
    t->tty->now_ms = uv_now(&t->loop);
    for (int i = 0; i < EVENTS_AT_ONCE && t->tty && !t->quitting; i++) {
        struct tty_event e = t->tty->ops->event(t->tty);
        if (!on_event(t, &e))
            break;
        any = true;
    }
    if (t->tty && t->tty->again_ms > 0)
        uv_timer_start(&t->input_timer, on_input_timer, t->tty->again_ms, 0);
    if (t->quitting || !any)
        return;
    tui_take_requests(t);
    tui_apply_options(t);
    /* A key is on the screen at once, whatever the target does. */
    if (t->tty && !t->quitting)
        tui_draw_now(t);
}

static void on_input_timer(uv_timer_t *timer)
{
    struct tui *t = timer->data;
    if (t->tty && !t->quitting)
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

static int open_tty(struct tui *t, struct error *err)
{
    const struct tty_setup setup = {
        .in_fd = 0,
        .out_fd = 1,
        .term = t->env->term,
        .most = settings_depth(&t->settings, t->env, t->cli->mono),
        .ascii = settings_ascii(&t->settings, t->env),
        .mouse = option_bool(&t->settings.options, OPTION_MOUSE),
    };
    int rows = 0, columns = 0;
    int rc = tty_curses_open(&t->tty, &setup, err);
    if (rc != 0)
        return rc;
    crash_protect(&t->tty->rescue);
    t->tty->ops->size(t->tty, &rows, &columns);
    canvas_init(&t->canvas, rows, columns, t->tty->ascii);
    uv_poll_init(&t->loop, &t->tty_poll, t->tty->fd);
    t->tty_poll.data = t;
    return uv_poll_start(&t->tty_poll, UV_READABLE, on_tty);
}

void tui_suspend(struct tui *t)
{
    if (!suspend_is_possible()) {
        tui_message(t, STYLE_WARN, "cannot suspend: no shell to return to");
        return;
    }
    tui_trace_suspend(t->trace, true);
    t->tty->ops->suspend(t->tty);
    suspend_job();
    t->tty->ops->resume(t->tty);
    tui_trace_suspend(t->trace, false);
    take_events(t);
    uv_update_time(&t->loop);
    tui_draw_now(t);
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

static void catch_signals(struct tui *t)
{
    static const int numbers[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        uv_signal_init(&t->loop, &t->signals[i]);
        t->signals[i].data = t;
        uv_signal_start(&t->signals[i], on_signal, numbers[i]);
        t->n_signals++;
    }
}

/* ---- life */

static void on_clock(uv_timer_t *timer)
{
    struct tui *t = timer->data;
    tui_touch(t);
}

static void on_closed(void *arg)
{
    struct tui *t = arg;
    t->closed = true;
}

void tui_quit(struct tui *t, int exit_code, const struct error *err)
{
    if (t->quitting)
        return;
    t->quitting = true;
    t->exit_code = exit_code;
    if (err)
        t->end = *err;
    uv_stop(&t->loop);
}

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void close_all(struct tui *t)
{
    crash_protect(NULL);
    if (t->tty) {
        uv_poll_stop(&t->tty_poll);
        uv_close((uv_handle_t *)&t->tty_poll, NULL);
        t->tty->ops->close(t->tty);
        t->tty = NULL;
    }
    uv_close((uv_handle_t *)&t->draw_timer, NULL);
    uv_close((uv_handle_t *)&t->input_timer, NULL);
    uv_close((uv_handle_t *)&t->clock_timer, NULL);
    for (size_t i = 0; i < t->n_signals; i++)
        uv_close((uv_handle_t *)&t->signals[i], NULL);
    tui_trace_close(t->trace);
    tui_calls_close(t->calls);
    tui_record_close(t->record);
    source_close(t->source, on_closed, t);
    t->source = NULL;
    t->live = NULL;
    /* The connection's goodbye is bounded by conn_close; nothing else holds the loop. */
    uv_run(&t->loop, UV_RUN_DEFAULT);
    uv_walk(&t->loop, close_handle, NULL);
    uv_run(&t->loop, UV_RUN_DEFAULT);
    uv_loop_close(&t->loop);
}

static int start(struct tui *t, struct error *err)
{
    t->model = model_new();
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
    return tui_connect(t, t->cli->target, err);
}

static void clear(struct tui *t)
{
    tui_trace_free(t->trace);
    tui_calls_free(t->calls);
    tui_record_free(t->record);
    tui_findings_free(t->findings);
    screen_free(t->screen);
    prompt_free(t->prompt);
    regex_free(t->highlight);
    model_free(t->model);
    if (t->canvas.cells)
        canvas_clear(&t->canvas);
    discover_clear(&t->vms);
    settings_clear(&t->settings);
}

int command_screen(const struct cli_options *o, const struct app_env *env)
{
    struct tui *t = alloc_zero(1, sizeof *t);
    struct error err = {.code = ERR_NONE};
    t->cli = o;
    t->env = env;
    uv_loop_init(&t->loop);
    uv_timer_init(&t->loop, &t->draw_timer);
    uv_timer_init(&t->loop, &t->input_timer);
    uv_timer_init(&t->loop, &t->clock_timer);
    t->draw_timer.data = t->input_timer.data = t->clock_timer.data = t;
    t->trace = tui_trace_new(t);
    t->calls = tui_calls_new(t);
    t->findings = tui_findings_new(t);
    t->record = tui_record_new(t);
    int rc = settings_init(&t->settings, o, env, &err);
    if (rc == 0 && (!env->in_tty || !env->out_tty))
        rc = error_set(&err, ERR_USAGE,
                       "the screen needs a terminal; `beamtop top NODE` prints without one");
    if (rc == 0)
        rc = start(t, &err);
    if (rc == 0)
        rc = open_tty(t, &err);
    if (rc == 0) {
        catch_signals(t);
        uv_timer_start(&t->clock_timer, on_clock, 1000, 1000);
        tui_record_watch(t->record);
        if (t->settings.diags.len)
            tui_message(t, STYLE_ERROR,
                        "%zu errors in the configuration: printed when beamtop ends",
                        t->settings.diags.len);
        tui_draw_now(t);
        uv_run(&t->loop, UV_RUN_DEFAULT);
    }
    close_all(t);
    if (rc == 0)
        tui_save_history(t);
    settings_print_mistakes(&t->settings);
    const struct error *reported = rc != 0 ? &err : &t->end;
    if (reported->code != ERR_NONE)
        fprintf(stderr, "beamtop: %s\n", reported->text);
    tui_trace_print_end(t->trace);
    tui_calls_print_end(t->calls);
    tui_record_print_end(t->record);
    int exit_code = rc == 0 ? t->exit_code : rc == ERR_USAGE ? EXIT_USAGE : EXIT_CONNECT;
    clear(t);
    free(t);
    return exit_code;
}

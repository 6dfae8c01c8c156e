/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of the screen program: one loop for terminal, node, timers and signals. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "app/cli/commands.h"
#include "app/fleet/fleet.h"
#include "app/fleet/fleet_recorded.h"
#include "app/job/crash.h"
#include "app/source/replay.h"
#include "tui_owners.h"

#define CLOCK_MS 1100u /* from a draw to the next where nothing changes: more than a tick */

static void on_clock(uv_timer_t *timer)
{
    tui_touch(timer->data);
}

static void make_owners(struct tui *t)
{
    t->owners = tui_owners;
    for (size_t i = 0; i < TUI_OWNERS; i++)
        if (!t->own[i]) /* the sessions have joined as they were made */
            t->own[i] = t->owners[i]->make ? t->owners[i]->make(t) : t;
}

static void close_screen_program(struct tui *t)
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

static int start_screen(struct tui *t, struct error *err)
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
    if (!t->cli->target && t->cli->cluster)
        return error_set(err, ERR_USAGE, "--cluster needs a node: beamtop NODE --cluster");
    if (!t->cli->target)
        return tui_find_node(t, err);
    if (fleet_is_asked(t->cli) && !replay_is_file(t->cli->target))
        return tui_fleet_open(t, t->cli->target, err);
    if (fleet_recorded_is_asked(t->cli->target))
        return tui_recorded_open(t, t->cli->target, err);
    return replay_is_file(t->cli->target) ? tui_connect(t, t->cli->target, 0, err)
                                          : tui_open_named(t, t->cli->target, err);
}

static void clear_screen_program(struct tui *t)
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
        rc = start_screen(t, &err);
    if (rc == 0)
        rc = tui_open_terminal(t, &err);
    if (rc == 0) {
        runtime_catch(&t->rt, signals, ARRAY_LEN(signals), tui_on_signal, t);
        uv_timer_start(&t->clock_timer, on_clock, CLOCK_MS, CLOCK_MS);
        if (t->settings.diags.len)
            tui_message(t, STYLE_ERROR,
                        "%zu errors in the configuration: printed when beamtop ends",
                        t->settings.diags.len);
        tui_draw(t);
        uv_run(&t->rt.loop, UV_RUN_DEFAULT);
    }
    close_screen_program(t);
    if (rc == 0)
        tui_save_history(t);
    settings_print_errors(&t->settings);
    const struct error *reported = rc != 0 ? &err : &t->rt.err;
    if (reported->code != ERR_NONE)
        fprintf(stderr, "beamtop: %s\n", reported->text);
    tui_announce(t, TUI_ENDED);
    int exit_code = rc == 0 ? t->rt.exit_code : rc == ERR_USAGE ? EXIT_USAGE : EXIT_CONNECT;
    clear_screen_program(t);
    free(t);
    return exit_code;
}

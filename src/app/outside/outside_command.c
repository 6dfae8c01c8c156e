/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop outside`: a VM of this host that is not asked anything; and the same after a connection
 * that has failed. */
#include "outside_command.h"

#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/tell.h"
#include "app/fleet/fleet.h"
#include "app/search/local_search.h"
#include "app/source/replay.h"
#include "app/source/runtime.h"
#include "app/way/reach.h"
#include "beamtop/output/outside_sink.h"
#include "look.h"

#define COMMAND_MS 5000u    /* the search before it, and the end, take up to 1 s more */
#define AFTER_MS 1500u      /* all of what follows an error */
#define AFTER_LEAST_MS 500u /* a look needs so long */

struct single {
    const struct cli_options *options;
    const struct app_env *env;
    struct runtime rt;
    struct look *look;
    struct local_search *search;
    uv_timer_t timer;
    bool brief; /* behind an error */
    pid_t pid;
    struct buf text;
};

static void on_single_looked(void *arg, const struct outside *o)
{
    struct single *s = arg;
    const bool ascii = s->options->ascii || !s->env->utf8;
    if (s->rt.ended)
        return;
    if (s->brief)
        outside_text_put(&s->text, o, true, ascii);
    else if (s->options->format == FORMAT_JSON)
        outside_json_put(&s->text, o);
    else if (s->options->format == FORMAT_CSV)
        outside_csv_put(&s->text, o, s->options->spreadsheet);
    else
        outside_text_put(&s->text, o, false, ascii);
    runtime_end(&s->rt, EXIT_DONE, NULL);
}

static int begin_look(struct single *s, const struct discover_vm *vm, unsigned most_ms,
                      struct error *err)
{
    const struct look_options options = {
        .vm = vm, .once_ms = most_ms, .looked = on_single_looked, .arg = s};
    return look_start(&s->look, &s->rt.loop, &options, err);
}

int command_outside(const struct cli_options *o, const struct app_env *env)
{
    struct single s = {.options = o, .env = env};
    struct discover_vm vm;
    struct error err = {0};
    const struct local_wanted wanted = {.target = o->target, .cli = o, .env = env};
    if (local_search_find(&vm, &wanted, &err) != 0)
        return tell_error(&err);
    buf_init(&s.text, 0);
    runtime_init(&s.rt);
    if (begin_look(&s, &vm, COMMAND_MS, &err) == 0)
        uv_run(&s.rt.loop, UV_RUN_DEFAULT);
    look_stop(s.look);
    runtime_close(&s.rt);
    const int code = err.code != ERR_NONE ? tell_error(&err) : output_put(&s.text);
    buf_clear(&s.text);
    return code;
}

/* ---- after an error */

/* A program reads an error, not a page behind it, and does not wait for that. */
static bool is_asked(const struct cli_options *o, const struct app_env *env, int exit_code)
{
    return env->out_tty && env->err_tty && (exit_code == EXIT_CONNECT || exit_code == EXIT_LOST) &&
           o->target && !fleet_is_asked(o) && !replay_is_file(o->target) && !o->host &&
           o->port == 0;
}

static void on_after_found(void *arg, const struct discover_vm *vm, const struct error *why)
{
    struct single *s = arg;
    struct error ignored = {0};
    const uint64_t took_ms = uv_now(&s->rt.loop) - s->rt.started_ms;
    if (!vm && why->code == ERR_TIMEOUT) /* it may be one that was left out */
        tell_line("%s", why->text);
    s->pid = vm ? vm->pid : 0;
    if (!vm || took_ms + AFTER_LEAST_MS > AFTER_MS ||
        begin_look(s, vm, AFTER_MS - (unsigned)took_ms, &ignored) != 0)
        runtime_end(&s->rt, EXIT_DONE, NULL);
}

static void on_after_late(uv_timer_t *timer)
{
    struct single *s = timer->data;
    if (!s->look)
        runtime_end(&s->rt, EXIT_DONE, NULL);
}

void outside_after(const struct cli_command *command, const struct cli_options *o,
                   const struct app_env *env, int exit_code)
{
    struct single s = {.options = o, .env = env, .brief = true};
    struct error ignored = {0};
    if (!is_asked(o, env, exit_code) || command->group != COMMANDS_NODE)
        return;
    buf_init(&s.text, 0);
    runtime_init(&s.rt);
    runtime_timer(&s.rt, &s.timer, &s);
    uv_timer_start(&s.timer, on_after_late, AFTER_MS, 0);
    const struct local_wanted wanted = {.target = o->target, .cli = o, .env = env};
    if (local_search_start(&s.search, &s.rt.loop, &wanted, on_after_found, &s, &ignored) == 0)
        uv_run(&s.rt.loop, UV_RUN_DEFAULT);
    local_search_stop(s.search);
    look_stop(s.look);
    runtime_close(&s.rt);
    if (s.text.len > 0) {
        tell_line("seen from outside, OS process %ld:", (long)s.pid);
        fputs(buf_cstr(&s.text), stderr);
    }
    buf_clear(&s.text);
}

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
#include "app/source/replay.h"
#include "app/source/runtime.h"
#include "app/way/way_url.h"
#include "beamtop/output/outside_sink.h"
#include "look.h"
#include "subject.h"

struct single {
    const struct cli_options *options;
    const struct app_env *env;
    struct runtime rt;
    struct look *look;
    bool brief; /* behind an error */
    struct buf text;
};

static void on_single_looked(void *arg, const struct outside *o)
{
    struct single *s = arg;
    const bool ascii = s->options->ascii || !s->env->utf8;
    if (s->options->format == FORMAT_JSON)
        outside_json_put(&s->text, o);
    else if (s->options->format == FORMAT_CSV && !s->brief)
        outside_csv_put(&s->text, o, s->options->spreadsheet);
    else
        outside_text_put(&s->text, o, s->brief, ascii);
    runtime_end(&s->rt, EXIT_DONE, NULL);
}

/* Returns the exit code; text is owned by the caller then. */
static int look_once(struct single *s, const struct discover_vm *vm, struct error *err)
{
    const struct look_options options = {
        .vm = vm, .once = true, .looked = on_single_looked, .arg = s};
    buf_init(&s->text, 0);
    runtime_init(&s->rt);
    const int rc = look_start(&s->look, &s->rt.loop, &options, err);
    if (rc == 0)
        uv_run(&s->rt.loop, UV_RUN_DEFAULT);
    look_stop(s->look);
    runtime_close(&s->rt);
    return rc == 0 ? EXIT_DONE : exit_code_of_error(err->code);
}

int command_outside(const struct cli_options *o, const struct app_env *env)
{
    struct single s = {.options = o, .env = env};
    struct discover_vm vm;
    struct error err = {0};
    if (outside_subject_find(&vm, o->target, o, env, &err) != 0)
        return tell_error(&err);
    int code = look_once(&s, &vm, &err);
    if (err.code != ERR_NONE)
        tell_error(&err);
    else
        code = output_put(&s.text);
    buf_clear(&s.text);
    return code;
}

static bool is_asked(const struct cli_options *o, int exit_code)
{
    return (exit_code == EXIT_CONNECT || exit_code == EXIT_LOST) && o->target &&
           !fleet_is_asked(o) && !way_is_url(o->target) && !replay_is_file(o->target) && !o->host &&
           o->port == 0;
}

void outside_after(const struct cli_command *command, const struct cli_options *o,
                   const struct app_env *env, int exit_code)
{
    struct single s = {.options = o, .env = env, .brief = true};
    struct discover_vm vm;
    struct error ignored = {0};
    if (!is_asked(o, exit_code) || command->group != COMMANDS_NODE ||
        outside_subject_find(&vm, o->target, o, env, &ignored) != 0 ||
        look_once(&s, &vm, &ignored) != EXIT_DONE)
        return;
    if (o->format == FORMAT_JSON) {
        (void)output_put(&s.text);
    } else {
        tell_line("seen from outside, OS process %ld:", (long)vm.pid);
        fputs(buf_cstr(&s.text), stderr);
    }
    buf_clear(&s.text);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* beamtop: looks inside live BEAM nodes. Reads the environment, parses, runs a command. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/link/conn.h"
#include "beamtop/link/inside.h"
#include "app/cli/cli.h"
#include "app/cli/cli_table.h"
#include "app/cli/output.h"
#include "app/outside/outside_command.h"
#include "app/cli/tell.h"
#include "app/job/start.h"
#include "app/command/reach_prepare.h"
#include "app/command/settings.h"
#include "app/way/way_far.h"

static void read_env(struct app_env *env)
{
    *env = (struct app_env){
        .cookie = getenv("BEAMTOP_COOKIE"),
        .tls_cacert = getenv("BEAMTOP_TLS_CACERT"),
        .tls_cert = getenv("BEAMTOP_TLS_CERT"),
        .tls_key = getenv("BEAMTOP_TLS_KEY"),
        .tls_key_password = getenv("BEAMTOP_TLS_KEY_PASSWORD"),
        .debug_image = getenv("BEAMTOP_DEBUG_IMAGE"),
        .home = getenv("HOME"),
        .xdg_config_home = getenv("XDG_CONFIG_HOME"),
        .xdg_state_home = getenv("XDG_STATE_HOME"),
        .xdg_runtime_dir = getenv("XDG_RUNTIME_DIR"),
        .ssh_askpass = getenv("SSH_ASKPASS"),
        .term = getenv("TERM"),
        .no_color = getenv("NO_COLOR"),
        .colorfgbg = getenv("COLORFGBG"),
        .epmd_port = getenv("ERL_EPMD_PORT"),
        .config = getenv("BEAMTOP_CONFIG"),
        .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
        .in_tty = isatty(0),
        .out_tty = isatty(1),
        .err_tty = isatty(2),
    };
}

/* A locale that has no files here, as in a container, has the encoding in its name. */
static void use_locale(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *name = NULL;
    if (!setlocale(LC_ALL, ""))
        for (size_t i = 0; (!name || !*name) && i < sizeof variables / sizeof variables[0]; i++)
            name = getenv(variables[i]);
    if (name && (strcasestr(name, ".UTF-8") || strcasestr(name, ".utf8")))
        setlocale(LC_CTYPE, "C.UTF-8");
    setlocale(LC_NUMERIC, "C"); /* numbers are printed and read the same everywhere */
}

static int print_usage(const struct cli_command *command)
{
    struct buf out;
    buf_init(&out, 0);
    cli_usage(&out, command);
    int code = output_put(&out);
    buf_clear(&out);
    return code;
}

/* Nodes named by a URL are reached first, as long as the terminal can be asked for a password. */
static int run_with_ways(const struct cli_command *command, struct cli_options *options,
                         struct app_env *env)
{
    struct error err = {0};
    struct tls_lines tls = {0};
    int rc = command->options & FOR_CONNECT ? settings_read_tls(&tls, options, env, &err) : 0;
    env->tls_lines = &tls;
    if (rc == 0)
        rc = reach_prepare_command(env->reach, command, options, env, &err);
    const int code = rc != 0 ? tell_error(&err) : command->run(options, env);
    outside_after(command, options, env, code);
    tls_lines_clear(&tls);
    return code;
}

static int run_command(const struct cli_command *command, struct cli_options *options,
                       struct app_env *env, char **argv)
{
    struct error err = {0};
    if (options->help)
        return print_usage(command);
    if (options->version) {
        puts(PACKAGE_STRING);
        return EXIT_DONE;
    }
    if (start_check(&err) != 0 || conn_global_init(&err) != 0) {
        tell_error(&err);
        return EXIT_FAILED;
    }
    env->reach = reach_new();
    const int code = way_far_is_asked(command, options, env->reach)
                         ? way_far_run(options, argv)
                         : run_with_ways(command, options, env);
    reach_free(env->reach); /* with the texts of options that it has put there */
    return code;
}

/*
 * What is closed gets a file that it cannot be used with: else the first file or socket that is
 * opened takes its place, and what is printed goes there. Output that is lost is an
 * error then. */
static void open_standard_files(void)
{
    static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            _exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
    const struct cli_command *command = NULL;
    struct cli_options options;
    struct app_env env;
    struct error err = {0};

    open_standard_files();
    if (inside_is_meant(argc, argv))
        return inside_main(argc, argv);
    use_locale();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);  /* a file that may not grow is an error of its write */
    unsetenv("EI_TRACELEVEL"); /* libei would print to the screen */
    read_env(&env);
    int code = EXIT_USAGE;
    if (cli_parse(argc, argv, &command, &options, &err) != 0)
        fprintf(stderr, "beamtop: %s\n(beamtop --help lists commands and options)\n", err.text);
    else
        code = output_check(run_command(command, &options, &env, argv));
    cli_options_clear(&options);
    return code;
}

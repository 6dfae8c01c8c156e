/* beamtop: looks inside live BEAM nodes. Reads the environment, parses, runs a command. */
#include "config.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/dist/conn.h"
#include "cli.h"

static void read_env(struct app_env *env)
{
    *env = (struct app_env){
        .cookie = getenv("BEAMTOP_COOKIE"),
        .home = getenv("HOME"),
        .xdg_config_home = getenv("XDG_CONFIG_HOME"),
        .xdg_state_home = getenv("XDG_STATE_HOME"),
        .term = getenv("TERM"),
        .no_color = getenv("NO_COLOR"),
        .epmd_port = getenv("ERL_EPMD_PORT"),
        .config = getenv("BEAMTOP_CONFIG"),
        .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
        .in_tty = isatty(0),
        .out_tty = isatty(1),
        .err_tty = isatty(2),
    };
}

static int print_usage(const struct cli_command *command)
{
    struct buf out;
    buf_init(&out, 0);
    cli_usage(&out, command);
    fwrite(out.data, 1, out.len, stdout);
    buf_clear(&out);
    return EXIT_DONE;
}

static int run(const struct cli_command *command, const struct cli_options *options,
               const struct app_env *env)
{
    struct error err = {.code = ERR_NONE};
    if (options->help)
        return print_usage(command);
    if (options->version) {
        puts(PACKAGE_STRING);
        return EXIT_DONE;
    }
    if (conn_global_init(&err) != 0) {
        fprintf(stderr, "beamtop: %s\n", err.text);
        return EXIT_FAILED;
    }
    return command->run(options, env);
}

int main(int argc, char **argv)
{
    const struct cli_command *command = NULL;
    struct cli_options options;
    struct app_env env;
    struct error err = {.code = ERR_NONE};

    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* numbers are printed and read the same everywhere */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of its write */
    unsetenv("EI_TRACELEVEL"); /* libei would print to the screen */
    read_env(&env);
    int code = EXIT_USAGE;
    if (cli_parse(argc, argv, &command, &options, &err) != 0)
        fprintf(stderr, "beamtop: %s\n(beamtop --help lists commands and options)\n", err.text);
    else
        code = run(command, &options, &env);
    cli_options_clear(&options);
    return code;
}

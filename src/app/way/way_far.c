/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_far.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/cli/tell.h"
#include "beamtop/base/spawn.h"
#include "container.h"
#include "way_methods.h"

#define NO_COMMAND 127 /* of shells, and of containers */
#define CANNOT_RUN 126 /* of containers: there is no such program */
#define SSH_FAILED 255

/* A container's VM is looked at from here where it is visible. */
bool way_far_is_asked(const struct cli_command *command, const struct cli_options *o,
                      const struct reach *reach)
{
    struct error why = {0};
    if (!way_is_url(o->target) || o->remote ||
        (command->group != COMMANDS_HOST && strcmp(command->name, "nodes") != 0) ||
        container_is_here(o->target, reach_container_answer(reach), cli_timeout_ms(o), &why))
        return false;
    if (why.code != ERR_NONE)
        tell_line("runs in the container, not here: %s", why.text);
    return true;
}

/* The command line with the node in the URL's place. */
static int put_command(struct way_words *words, const struct way_url *url,
                       const struct cli_options *o, char **argv, struct error *err)
{
    const char *command[WAY_FAR_WORDS] = {"beamtop"};
    size_t n = 1;
    const bool lists = strcmp(o->command, "nodes") == 0;
    if (o->output && strcmp(o->output, "-") != 0)
        return error_set(err, ERR_USAGE,
                         "--output would be a file on the other host: leave it out, and redirect "
                         "the output (> FILE)");
    if (*url->node == '\0' && !lists)
        return error_set(err, ERR_USAGE, "the URL lacks the node: `beamtop nodes URL` lists them");
    for (char **word = argv + 1; *word; word++) {
        const bool is_url = *word == o->target;
        if (is_url && lists)
            continue;
        if (n == WAY_FAR_WORDS)
            return error_set(err, ERR_USAGE, "more than %d arguments", WAY_FAR_WORDS);
        command[n++] = is_url ? url->node : *word;
    }
    way_put_far(words, url, command, n);
    return 0;
}

static int run(char *const *words, struct error *err)
{
    pid_t pid;
    const struct spawn program = {
        .words = words, .in = STDIN_FILENO, .out = STDOUT_FILENO, .errors = STDERR_FILENO};
    const int rc = spawn_start(&pid, &program);
    if (rc == ENOENT)
        return error_set(err, ERR_CONNECT,
                         "there is no %s on this host: install it, or add it to PATH", words[0]);
    if (rc != 0)
        return error_set_errno(err, rc, "%s cannot be started", words[0]);
    const int status = spawn_wait(pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* How it gets there, where that is one command. */
static void put_copy(struct buf *out, const struct way_url *url)
{
    char program[256];
    const ssize_t len = readlink("/proc/self/exe", program, sizeof program);
    if (url->scheme != WAY_SSH || len <= 0 || (size_t)len == sizeof program) {
        buf_puts(out, "Copy the program there, into its PATH");
        return;
    }
    const bool six = strchr(url->host, ':') != NULL;
    buf_puts(out, "Copy it to your home there (the static one of a release runs anywhere): scp ");
    if (url->port != 0)
        buf_printf(out, "-P %u ", url->port);
    buf_printf(out, "%.*s %s%s%s%s%s:beamtop", (int)len, program, url->user, *url->user ? "@" : "",
               six ? "[" : "", url->host, six ? "]" : "");
}

static void tell_absent(const struct way_url *url, const char *command)
{
    struct buf copy;
    buf_init(&copy, 0);
    put_copy(&copy, url);
    tell_line("there is no beamtop on %s: `beamtop %s` looks at a VM from outside, so it runs "
              "there. %s",
              url->host, command, buf_cstr(&copy));
    buf_clear(&copy);
}

int way_far_run(const struct cli_options *o, char **argv)
{
    struct way_words words = {0};
    struct way_url url;
    struct error err = {0};
    int code = way_url_parse(&url, o->target, &err);
    if (code == 0)
        code = put_command(&words, &url, o, argv, &err);
    if (code == 0)
        code = run(words.all, &err);
    way_words_clear(&words);
    if (code < 0)
        return tell_error(&err);
    if (code == NO_COMMAND || code == CANNOT_RUN) {
        tell_absent(&url, o->command);
        return EXIT_FAILED;
    }
    if (code == SSH_FAILED && url.scheme == WAY_SSH)
        return EXIT_CONNECT; /* ssh has said why */
    return code;
}

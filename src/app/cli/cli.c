/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "beamtop/local/sampler.h"
#include "beamtop/trace/names.h"
#include "cli_table.h"
#include "commands.h"

/* ---- values */

static int bad_value(struct error *err, const struct cli_option *opt, const char *text)
{
    if (opt->type == TYPE_BYTES) {
        char least[32], most[32];
        return error_set(err, ERR_USAGE, "--%s: “%s” is not between %s and %s", opt->name, text,
                         text_bytes(least, sizeof least, opt->min),
                         text_bytes(most, sizeof most, opt->max));
    }
    return error_set(err, ERR_USAGE, "--%s: “%s” is not between %g and %g", opt->name, text,
                     opt->type == TYPE_SHARE ? opt->min * 100 : opt->min,
                     opt->type == TYPE_SHARE ? opt->max * 100 : opt->max);
}

static int set_option_number(const struct cli_option *opt, void *field, const char *text,
                             struct error *err)
{
    char *end = NULL;
    double v = 0;
    if (opt->type == TYPE_SECONDS || opt->type == TYPE_BYTES) {
        if ((opt->type == TYPE_SECONDS ? text_parse_duration : text_parse_bytes)(text, &v) != 0)
            return bad_value(err, opt, text);
    } else {
        errno = 0;
        v = strtod(text, &end);
        while (*end == ' ' || *end == '%')
            end++;
        if (end == text || *end || errno || isnan(v))
            return bad_value(err, opt, text);
    }
    if (opt->type == TYPE_SHARE)
        v /= 100;
    if (!(v >= opt->min && v <= opt->max) || (opt->type == TYPE_INTEGER && v != floor(v)))
        return bad_value(err, opt, text);
    if (opt->type == TYPE_INTEGER || opt->type == TYPE_BYTES)
        *(int64_t *)field = (int64_t)v;
    else
        *(double *)field = v;
    return 0;
}

/* The first command that prints the format; NULL: none does, or many do. */
static const struct cli_command *printer_of(size_t format)
{
    for (size_t i = 0; format > FORMAT_CSV && format < FORMATS && i < cli_commands_len; i++)
        if (cli_commands[i].formats >> format & 1)
            return &cli_commands[i];
    return NULL;
}

static int set_format(const struct cli_command *command, enum cli_format *out, const char *text,
                      struct error *err)
{
    char formats[160];
    size_t format = 0;
    while (format < FORMATS && strcmp(cli_format_names[format], text) != 0)
        format++;
    if (format < FORMATS && command->formats >> format & 1) {
        *out = (enum cli_format)format;
        return 0;
    }
    const struct cli_command *other = printer_of(format);
    return error_set(err, ERR_USAGE, "--format: “%s” is not a format of `beamtop %s`: %s%s%s%s",
                     text, command->name, cli_formats(formats, sizeof formats, command->formats),
                     other ? ". `beamtop " : "", other ? other->name : "",
                     other ? "` prints it" : "");
}

/* Range and error are the row's. */
static int set_request(const struct cli_option *opt, struct cli_options *o, const char *text,
                       struct error *err)
{
    struct error own = {0};
    struct request_option request;
    const bool found = cli_option_request(&request, opt);
    assert(found);
    (void)found;
    if (request.type == REQUEST_TEXT && *text == '\0') /* of a script, an unset variable */
        return error_set(err, ERR_USAGE, "--%s is empty%s", opt->name,
                         strcmp(opt->name, "procs") == 0     ? ": `all` is every process"
                         : strcmp(opt->name, "process") == 0 ? ": it takes one process"
                                                             : "");
    if (request.type == REQUEST_CAP)
        o->cap_given[request.offset] = true;
    if (trace_request_set(&o->request, &request, text, &own) == 0)
        return 0;
    return error_set(err, ERR_USAGE, "--%s", own.text);
}

static int add_fail_on(struct cli_options *o, const char *text, struct error *err)
{
    if (o->n_fail_on == CLI_FAIL_ON)
        return error_set(err, ERR_USAGE, "--fail-on: at most %d limits are checked", CLI_FAIL_ON);
    o->fail_on[o->n_fail_on++] = text;
    return 0;
}

static int set_value(const struct cli_option *opt, const struct cli_command *command,
                     struct cli_options *o, const char *text, struct error *err)
{
    void *field = (char *)o + opt->offset;
    if (opt->given_offset)
        *(bool *)((char *)o + opt->given_offset) = true;
    switch (opt->type) {
    case TYPE_FLAG:
        *(bool *)field = true;
        return 0;
    case TYPE_TEXT:
        *(const char **)field = text;
        return 0;
    case TYPE_FORMAT:
        return set_format(command, field, text, err);
    case TYPE_REQUEST:
        return set_request(opt, o, text, err);
    case TYPE_FAIL_ON:
        return add_fail_on(o, text, err);
    case TYPE_BYTES:
    case TYPE_SECONDS:
    case TYPE_SHARE:
    case TYPE_INTEGER:
        return set_option_number(opt, field, text, err);
    }
    return 0;
}

/* ---- parsing */

#define LONG_BASE 1000 /* getopt's value of cli_option_table[i] is LONG_BASE + i */

/* Some options of different commands have one name: then the command's own counts. */
static bool is_anothers_option(size_t index, const struct cli_command *command)
{
    const struct cli_option *opt = &cli_option_table[index];
    for (size_t i = 0; i < cli_option_table_len; i++)
        if (i != index && strcmp(cli_option_table[i].name, opt->name) == 0 &&
            cli_takes(command, &cli_option_table[i]))
            return !cli_takes(command, opt);
    return false;
}

static void make_getopt(struct option *longs, char *shorts, const struct cli_command *command)
{
    size_t s = 0, l = 0;
    shorts[s++] = ':';
    for (size_t i = 0; i < cli_option_table_len; i++) {
        const bool arg = cli_option_table[i].arg != NULL;
        if (is_anothers_option(i, command))
            continue;
        longs[l++] =
            (struct option){cli_option_table[i].name, arg ? required_argument : no_argument, NULL,
                            (int)(LONG_BASE + i)};
        if (cli_option_table[i].letter) {
            shorts[s++] = cli_option_table[i].letter;
            if (arg)
                shorts[s++] = ':';
        }
    }
    shorts[s] = '\0';
}

static const struct cli_option *find_option(int value, const struct cli_command *command)
{
    if (value >= LONG_BASE)
        return &cli_option_table[value - LONG_BASE];
    for (size_t i = 0; i < cli_option_table_len; i++)
        if (cli_option_table[i].letter && cli_option_table[i].letter == value &&
            !is_anothers_option(i, command))
            return &cli_option_table[i];
    return NULL;
}

static const struct cli_command *command_named(const char *name)
{
    for (size_t i = 1; i < cli_commands_len; i++)
        if (strcmp(cli_commands[i].name, name) == 0)
            return &cli_commands[i];
    return NULL;
}

static void set_defaults(struct cli_options *o)
{
    *o = (struct cli_options){
        .timeout_s = 5,
        .interval_s = 1,
        .budget = 0.02,
        .ticks = 1,
        .sort = "reductions_per_s",
        .rows = 20,
        .view = "processes",
        .size = "120x40",
        .every_s = 0,
        .window_s = 2,
        .windows = 1,
        .top = 50,
        .hz = SAMPLER_HZ,
        .stack_events = 2000,
        .event_cap = 10000,
        .stack_rate = 5000,
    };
    trace_request_init(&o->request);
}

void cli_options_clear(struct cli_options *o)
{
    if (o->cookie)
        explicit_bzero(o->cookie, strlen(o->cookie));
    free(o->cookie);
    o->cookie = NULL;
}

void cli_config_dir(char *out, size_t size, const struct app_env *env)
{
    if (env->xdg_config_home && *env->xdg_config_home)
        snprintf(out, size, "%s/beamtop", env->xdg_config_home);
    else if (env->home && *env->home)
        snprintf(out, size, "%s/.config/beamtop", env->home);
    else
        *out = '\0';
}

/* Links are not followed: they are how files are renewed. */
void cli_place_files(struct cli_options *o, struct cli_places *places)
{
    const char **const files[CLI_READ_FILES] = {
        &o->cookie_file,           &o->cookies, &o->tls_cacert, &o->tls_cert, &o->tls_key,
        &o->tls_key_password_file, &o->tls_crl};
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return;
    for (size_t i = 0; i < CLI_READ_FILES; i++) {
        const size_t size = sizeof places->text[i];
        if (*files[i] && **files[i] != '/' &&
            (size_t)snprintf(places->text[i], size, "%s/%s", here, *files[i]) < size)
            *files[i] = places->text[i];
    }
}

/* Copies the cookie, and overwrites the one that ps shows. */
static void take_cookie(struct cli_options *o, char *given)
{
    cli_options_clear(o);
    o->cookie = alloc_strdup(given);
    memset(given, 'x', strlen(given));
}

/* The nearest of the options that the command takes, or that another one takes. */
static struct slice near_option(struct slice word, const struct cli_command *command, bool taken)
{
    struct slice names[CLI_OPTIONS_MAX], near = {NULL, 0};
    size_t n = 0;
    for (size_t i = 0; i < cli_option_table_len; i++)
        if (cli_takes(command, &cli_option_table[i]) == taken)
            names[n++] = slice_of(cli_option_table[i].name);
    return names_near(names, n, word, &near, 1) > 0 ? near : (struct slice){NULL, 0};
}

/* Not what follows a '=': it may be a secret. */
static int fail_no_option(const char *given, const struct cli_command *command, struct error *err)
{
    const size_t len = strcspn(given, "=");
    const bool is_long = len > 2 && strncmp(given, "--", 2) == 0;
    const struct slice word = {given + 2, len - 2};
    struct slice near = is_long ? near_option(word, command, true) : (struct slice){NULL, 0};
    const bool own = near.len > 0;
    if (is_long && !own)
        near = near_option(word, command, false);
    if (near.len == 0)
        return error_set(err, ERR_USAGE, "there is no option %.*s", (int)len, given);
    return error_set(err, ERR_USAGE, "there is no option %.*s; did you mean --%.*s%s", (int)len,
                     given, (int)near.len, near.s, own ? "?" : ", of another command?");
}

struct slice cli_near_command(const char *given)
{
    struct slice names[CLI_COMMANDS_MAX], near;
    size_t n = 0;
    for (size_t i = 1; i < cli_commands_len; i++)
        if (cli_commands[i].group != COMMANDS_HIDDEN)
            names[n++] = slice_of(cli_commands[i].name);
    return names_near(names, n, slice_of(given), &near, 1) > 0 ? near : (struct slice){NULL, 0};
}

/* Names of views, and words of other tools. */
static const struct {
    const char *word, *instead;
} other_words[] = {
    {"findings", "beamtop record NODE --for 2m -o FILE`, then `beamtop report FILE"},
    {"processes", "beamtop top NODE"},
    {"ps", "beamtop top NODE"},
    {"ets", "beamtop tables NODE"},
    {"sockets", "beamtop ports NODE"},
    {"tree", "beamtop capture NODE --view tree"},
    {"connect", "beamtop NODE"},
    {"observer", "beamtop NODE"},
};

static int fail_no_command(const char *given, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(other_words); i++)
        if (strcmp(given, other_words[i].word) == 0)
            return error_set(err, ERR_USAGE, "there is no command “%s”: use `%s`", given,
                             other_words[i].instead);
    const struct slice near = cli_near_command(given);
    if (near.len == 0)
        return error_set(err, ERR_USAGE, "there is no command “%s”", given);
    return error_set(err, ERR_USAGE, "there is no command “%s”; did you mean `beamtop %.*s`?",
                     given, (int)near.len, near.s);
}

/* Tracing commands limit time by --time, measuring ones by --for. */
static int fail_no_option_of(const struct cli_option *opt, const struct cli_command *command,
                             struct error *err)
{
    const char *other = strcmp(opt->name, "time") == 0  ? "for"
                        : strcmp(opt->name, "for") == 0 ? "time"
                                                        : "";
    bool has = false;
    for (size_t i = 0; i < cli_option_table_len; i++)
        has = has || (strcmp(cli_option_table[i].name, other) == 0 &&
                      cli_takes(command, &cli_option_table[i]));
    return error_set(err, ERR_USAGE, "--%s is not an option of `beamtop %s`%s%s", opt->name,
                     command->name, has ? ": use --" : "", has ? other : "");
}

static int parse_options(int argc, char **argv, const struct cli_command *command,
                         struct cli_options *o, struct error *err)
{
    struct option longs[CLI_OPTIONS_MAX + 1] = {{0}};
    char shorts[2 * CLI_OPTIONS_MAX + 2];
    int value;

    make_getopt(longs, shorts, command);
    opterr = 0;
    optind = 0; /* musl would go on behind 1 where an earlier parse stopped */
    while ((value = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (value == ':')
            return error_set(err, ERR_USAGE, "%s needs a value", argv[optind - 1]);
        const struct cli_option *opt = value == '?' ? NULL : find_option(value, command);
        if (!opt)
            return fail_no_option(argv[optind - 1], command, err);
        if (!cli_takes(command, opt))
            return fail_no_option_of(opt, command, err);
        if (opt->offset == offsetof(struct cli_options, cookie)) {
            take_cookie(o, optarg);
            continue;
        }
        int rc = set_value(opt, command, o, optarg, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int cli_parse(int argc, char **argv, const struct cli_command **command, struct cli_options *o,
              struct error *err)
{
    set_defaults(o);
    *command = &cli_commands[0];
    const struct cli_command *named = argc > 1 ? command_named(argv[1]) : NULL;
    if (named) {
        *command = named;
        argc--;
        argv++;
    }
    o->command = (*command)->name;
    int rc = parse_options(argc, argv, *command, o, err);
    if (rc != 0 || o->help || o->version)
        return rc;
    int n = argc - optind;
    if (n > 0 && !named && command_named(argv[optind]))
        return error_set(err, ERR_USAGE, "options follow the command: beamtop %s … OPTIONS",
                         argv[optind]);
    if (n > (*command)->max_args && !named && !strchr(argv[optind], '@'))
        return fail_no_command(argv[optind], err);
    if (n > (*command)->max_args)
        return error_set(err, ERR_USAGE, "unexpected argument “%s”. usage: beamtop %s %s",
                         argv[optind + (*command)->max_args], (*command)->name, (*command)->args);
    if (n < (*command)->min_args)
        return error_set(err, ERR_USAGE, "usage: beamtop %s %s", (*command)->name,
                         (*command)->args);
    o->target = n > 0 ? argv[optind] : NULL;
    o->second = n > 1 ? argv[optind + 1] : NULL;
    o->n_rest = n > 1 ? (size_t)n - 1 : 0;
    o->rest = n > 1 ? (const char *const *)&argv[optind + 1] : NULL;
    return 0;
}

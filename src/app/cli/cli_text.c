/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Usage, and the command line's tables for the manual and completion. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/ui/describe.h"
#include "beamtop/ui/option.h"
#include "cli_table.h"

#define LINE_COLUMNS 80 /* of a line of the help */
#define HELP_AT 30      /* where explanations begin */

static void option_name(char *out, size_t size, const struct cli_option *opt)
{
    char letter[8] = "    ";
    if (opt->letter)
        snprintf(letter, sizeof letter, "-%c, ", opt->letter);
    snprintf(out, size, "%s--%s%s%s", letter, opt->name, opt->arg ? " " : "",
             opt->arg ? opt->arg : "");
}

bool cli_option_request(struct request_option *out, const struct cli_option *opt)
{
    /* Where a command has another option of its name, it is "trace-…". */
    const char *name = strncmp(opt->name, "trace-", 6) == 0 ? opt->name + 6 : opt->name;
    return opt->type == TYPE_REQUEST &&
           trace_request_find(out, opt->groups == FOR_SPANS ? REQUEST_SPANS : REQUEST_TRACE, name);
}

const char *cli_option_help(const struct cli_option *opt)
{
    struct request_option request;
    return opt->help || !cli_option_request(&request, opt) ? opt->help : request.help;
}

/* Of a cap, with the ceiling and what a trace in batch starts with: "…, up to 600 s (15s)"; of
   the format, those of the command: "text, json, csv". */
static const char *help_in(char *out, size_t size, const struct cli_option *opt,
                           const struct cli_command *command)
{
    char setting[64], ceiling[32];
    struct request_option request;
    if (opt->type == TYPE_FORMAT && command)
        return cli_formats(out, size, command->formats);
    if (opt->help || !cli_option_request(&request, opt) || request.type != REQUEST_CAP)
        return cli_option_help(opt);
    const enum cap cap = (enum cap)request.offset;
    snprintf(setting, sizeof setting, "trace-batch-%s", opt->name);
    int option = option_find(setting, strlen(setting));
    if (option < 0) {
        snprintf(setting, sizeof setting, "trace-%s", opt->name);
        option = option_find(setting, strlen(setting));
    }
    snprintf(out, size, "%s, up to %s (%s)", cli_option_help(opt),
             cap_format(ceiling, sizeof ceiling, cap, cap_table[cap].ceiling),
             option < 0 ? "" : option_table[option].initial);
    return out;
}

/* Text from column `at` on, where its first line begins already. */
static void put_wrapped_help(struct buf *out, const char *text, size_t at)
{
    size_t left = strlen(text), next;
    do {
        size_t part = text_break(text, left, LINE_COLUMNS - at, &next);
        buf_put(out, text, part);
        buf_puts(out, "\n");
        text += next;
        left -= next;
        if (left > 0)
            buf_printf(out, "%*s", (int)at, "");
    } while (left > 0);
}

/* Padded by columns: an ellipsis is three bytes and one column. Behind a long name the explanation
   begins on the next line. */
static void put_help_row(struct buf *out, const char *name, const char *help)
{
    int room = HELP_AT - 2 - (int)text_width(name, strlen(name));
    buf_printf(out, "  %s%s%*s", name, room > 0 ? "" : "\n", room > 0 ? room : HELP_AT, "");
    put_wrapped_help(out, help, HELP_AT);
}

/* Sections of the help. An option that many commands share stands in the shared one; else in the
 * first that has one of its groups. Shared sections come last. */
static const struct {
    const char *title;
    unsigned groups;
    bool shared;
} sections[] = {
    {"Ticks and process lists", FOR_TICKS | FOR_TOP | FOR_INTERVAL, false},
    {"Screen and captures", FOR_SCREEN | FOR_CAPTURE, false},
    {"Patterns and traces", FOR_PATTERN | FOR_TRACE, false},
    {"Counted calls", FOR_CALLS, false},
    {"Causal spans, and one process in time", FOR_SPANS | FOR_STACKS, false},
    {"Heaps", FOR_HEAPS, false},
    {"Recordings", FOR_RECORD | FOR_REPORT | FOR_DIFF, false},
    {"From outside", FOR_SAMPLE | FOR_BLAME | FOR_PSTACK | FOR_PERF_MAP, false},
    {"Connection", FOR_CONNECT, true},
    {"Output", FOR_FORMAT | FOR_CSV, true},
    {"Help", FOR_ALL, true},
};

static size_t section_of(const struct cli_option *opt)
{
    for (int shared = 1; shared >= 0; shared--)
        for (size_t i = 0; i < ARRAY_LEN(sections); i++)
            if (sections[i].shared == (shared == 1) && opt->groups & sections[i].groups)
                return i;
    return 0;
}

/* Of a command, those that it does not share are one section. */
static void put_help_section(struct buf *out, size_t first, size_t last, const char *title,
                             const struct cli_command *command)
{
    bool any = false;
    for (size_t i = 0; i < cli_option_table_len; i++) {
        const struct cli_option *opt = &cli_option_table[i];
        const size_t section = section_of(opt);
        char name[64], help[200];
        if (section < first || section > last || (command && !cli_takes(command, opt)))
            continue;
        if (!any)
            buf_printf(out, "\n%s:\n", title);
        any = true;
        option_name(name, sizeof name, opt);
        put_help_row(out, name, help_in(help, sizeof help, opt, command));
    }
}

static void put_options(struct buf *out, const struct cli_command *command) /* NULL: of all */
{
    size_t own = 0;
    for (; command && !sections[own].shared; own++)
        ;
    if (command)
        put_help_section(out, 0, own - 1, "Options", command);
    for (size_t i = own; i < ARRAY_LEN(sections); i++)
        put_help_section(out, i, i, sections[i].title, command);
}

static const char *const group_titles[] = {
    [COMMANDS_NODE] = "A node",
    [COMMANDS_TRACING] = "Tracing and counting",
    [COMMANDS_RECORDINGS] = "Recordings",
    [COMMANDS_HOST] = "A VM of this host, from outside",
};

static void put_commands(struct buf *out, enum cli_group group)
{
    buf_printf(out, "\n%s:\n", group_titles[group]);
    for (size_t i = 0; i < cli_commands_len; i++) {
        const struct cli_command *c = &cli_commands[i];
        char line[64];
        if (c->group != group)
            continue;
        snprintf(line, sizeof line, "%s %s", c->name, c->args);
        put_help_row(out, line, c->help);
    }
}

static void put_all_commands(struct buf *out)
{
    buf_puts(out, "usage: beamtop [NODE]            live screen\n"
                  "       beamtop COMMAND [ARGUMENTS] [OPTIONS]\n\n");
    put_help_row(out, cli_commands[0].args, cli_commands[0].help);
    for (enum cli_group group = COMMANDS_NODE; group <= COMMANDS_HOST; group++)
        put_commands(out, group);
    buf_puts(out, "\n`beamtop COMMAND --help` lists the options of a command. All options:\n");
    put_options(out, NULL);
    buf_puts(out, "\nKeys of the screen: press ? there. Exit codes: 0 done, 1 failed,\n"
                  "2 usage or invalid input, 3 could not connect, 4 connection lost,\n"
                  "5 refused for safety.\n");
}

void cli_usage(struct buf *out, const struct cli_command *command)
{
    if (!command || command == &cli_commands[0]) {
        put_all_commands(out);
        return;
    }
    buf_printf(out, "usage: beamtop %s %s [OPTIONS]\n", command->name, command->args);
    put_wrapped_help(out, command->help, 0);
    put_options(out, command);
}

/* ---- tables for the manual and completion */

void cli_mdoc_commands(struct buf *out)
{
    for (size_t i = 0; i < cli_commands_len; i++) {
        const struct cli_command *c = &cli_commands[i];
        if (c->group == COMMANDS_HIDDEN)
            continue;
        buf_puts(out, ".It Nm");
        if (*c->name)
            buf_printf(out, " Cm %s", c->name);
        if (*c->args)
            buf_printf(out, " Ar %s", c->args);
        buf_puts(out, "\n");
        describe_put_roff(out, c->help);
        buf_puts(out, "\n");
    }
}

/* Which commands print what; those alike stand together: "capture: text, ansi, html, svg". */
static void mdoc_formats(struct buf *out)
{
    char formats[160];
    unsigned command = 0;
    for (size_t i = 0; i < cli_commands_len; i++) {
        const unsigned mask = cli_commands[i].formats;
        size_t before = 0;
        while (cli_commands[before].formats != mask)
            before++;
        if (mask == 0 || before < i)
            continue;
        buf_puts(out, command++ ? "; " : ": ");
        for (size_t k = i; k < cli_commands_len; k++)
            if (cli_commands[k].formats == mask)
                buf_printf(out, "%s%s", k > i ? ", " : "", cli_commands[k].name);
        buf_printf(out, ": %s", cli_formats(formats, sizeof formats, mask));
    }
}

void cli_mdoc_options(struct buf *out)
{
    for (size_t i = 0; i < cli_option_table_len; i++) {
        const struct cli_option *opt = &cli_option_table[i];
        char help[200];
        buf_puts(out, ".It");
        if (opt->letter)
            buf_printf(out, " Fl %c ,", opt->letter);
        buf_puts(out, " Fl Fl ");
        describe_put_roff(out, opt->name);
        if (opt->arg)
            buf_printf(out, " Ar %s", opt->arg);
        buf_puts(out, "\n");
        describe_put_roff(out, help_in(help, sizeof help, opt, NULL));
        if (opt->type == TYPE_FORMAT)
            mdoc_formats(out);
        buf_puts(out, "\n");
    }
}

void cli_words_commands(struct buf *out)
{
    for (size_t i = 0; i < cli_commands_len; i++)
        if (cli_commands[i].group != COMMANDS_HIDDEN && *cli_commands[i].name)
            buf_printf(out, "%s\t%s\n", cli_commands[i].name, cli_commands[i].help);
}

/* name, letter or "-", "arg" or "-", help, commands that take it */
void cli_words_options(struct buf *out)
{
    for (size_t i = 0; i < cli_option_table_len; i++) {
        const struct cli_option *opt = &cli_option_table[i];
        buf_printf(out, "%s\t%c\t%s\t%s\t", opt->name, opt->letter ? opt->letter : '-',
                   opt->arg ? opt->arg : "-", cli_option_help(opt));
        for (size_t k = 0; k < cli_commands_len; k++)
            if (cli_commands[k].group != COMMANDS_HIDDEN && cli_takes(&cli_commands[k], opt))
                buf_printf(out, "%s ", *cli_commands[k].name ? cli_commands[k].name : "screen");
        buf_puts(out, "\n");
    }
}

void cli_words_formats(struct buf *out)
{
    for (size_t i = 0; i < FORMATS; i++)
        buf_printf(out, "%s\n", cli_format_names[i]);
}

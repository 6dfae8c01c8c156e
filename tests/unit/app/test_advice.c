/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands in the actions of findings are commands: with options and as many arguments as they
 * take. */
#include <ctype.h>

#include "../../test.h"
#include "../report/rule_cases.h"
#include "app/cli/cli.h"

#define MOST_WORDS 12

/* A command as it is typed. `least`: words that it needs; prose follows without a mark. */
struct advised {
    char text[256];
    char *argv[MOST_WORDS + 1];
    int argc, least;
    bool ended;
};

static const struct cli_command *command_of(const char *name)
{
    for (size_t i = 1; i < cli_commands_len; i++)
        if (strcmp(cli_commands[i].name, name) == 0)
            return &cli_commands[i];
    return NULL;
}

/* 'quoted', NODE, PID, other@host, --option: no word of prose is like these. */
static bool is_argument(const char *word, bool quoted)
{
    return quoted || strncmp(word, "--", 2) == 0 || strchr(word, '@') ||
           isupper((unsigned char)*word);
}

/* The next word, up to a blank or behind its quote; marks of prose behind it end the command. */
static const char *take_word(struct advised *a, const char *s, char **to)
{
    const bool quoted = *s == '\'';
    const char *end = quoted ? strchr(s + 1, '\'') : s + strcspn(s, " ");
    if (!end)
        fail_msg("a quote without an end: %s", s);
    size_t len = (size_t)(end - s) - quoted;
    const char *next = end + quoted;
    if (!quoted)
        while (len > 0 && strchr(".,;:)", s[len - 1])) {
            a->ended = true;
            len--;
        }
    a->ended = a->ended || (*next && strchr(".,;:)", *next));
    memcpy(*to, s + quoted, len);
    (*to)[len] = '\0';
    const bool taken = a->argc < 2 || is_argument(*to, quoted) || a->argc < a->least;
    if (!taken || strcmp(*to, "or") == 0 || strcmp(*to, "and") == 0) {
        a->ended = true;
        return next;
    }
    a->argv[a->argc++] = *to;
    *to += len + 1;
    return next;
}

static void check_command(const char *rule, const char *at)
{
    struct advised a = {.least = 2};
    char *to = a.text;
    for (const char *s = at; *s && !a.ended && a.argc < MOST_WORDS; s += strspn(s, " ")) {
        s = take_word(&a, s, &to);
        if (a.argc == 2) {
            const struct cli_command *c = command_of(a.argv[1]);
            if (!c)
                fail_msg("%s: “beamtop %s” is no command", rule, a.argv[1]);
            else
                a.least = 2 + c->min_args;
        }
    }
    const struct cli_command *command;
    struct cli_options o;
    struct error err = {0};
    if (cli_parse(a.argc, a.argv, &command, &o, &err) != 0)
        fail_msg("%s: %.80s: %s", rule, at, err.text);
    cli_options_clear(&o);
}

static void check_text(const char *rule, const char *text)
{
    for (const char *s = text; (s = strstr(s, "beamtop ")); s++)
        check_command(rule, s);
}

TEST(test_commands_in_actions)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct made w = made_healthy;
        struct findings f;
        struct error err = {0};
        if (i > 0 && rows[i].bad == rows[i - 1].bad)
            continue;
        rows[i].bad(&w);
        struct recording *r = made_open(&w);
        assert_int_equal(findings_evaluate(&f, r, 1, recording_info(r)->ticks, &err), 0);
        recording_close(r);
        for (size_t k = 0; k < f.len; k++) {
            check_text(f.items[k].rule, f.items[k].action);
            check_text(f.items[k].rule, f.items[k].ruled_out_if);
        }
        findings_clear(&f);
    }
}

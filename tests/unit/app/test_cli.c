/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "app/cli/cli.h"
#include "app/cli/cli_table.h"
#include "app/cli/commands.h"
#include "beamtop/base/text.h"

/* The commands are not run here; their table needs their names. */
#define COMMAND(name)                                                                              \
    int command_##name(const struct cli_options *o, const struct app_env *env)                     \
    {                                                                                              \
        (void)o;                                                                                   \
        (void)env;                                                                                 \
        return 0;                                                                                  \
    }
COMMAND(screen)
COMMAND(top)
COMMAND(answer)
COMMAND(table)
COMMAND(fleet)
COMMAND(tables)
COMMAND(holders)
COMMAND(terms)
COMMAND(msacc)
COMMAND(process)
COMMAND(heapsample)
COMMAND(nodes)
COMMAND(capture)
COMMAND(calls)
COMMAND(spans)
COMMAND(stacks)
COMMAND(explain)
COMMAND(record)
COMMAND(replay)
COMMAND(report)
COMMAND(diff)
COMMAND(export)
COMMAND(blame)
COMMAND(perf_map)
COMMAND(pstack)
COMMAND(sample)
COMMAND(sampler)
COMMAND(trace)
COMMAND(where)
COMMAND(generate)

#define MOST_ARGS 20

struct line {
    char text[256];
    char *argv[MOST_ARGS + 1];
    int argc;
};

static void split(struct line *l, const char *text)
{
    l->argc = 0;
    strcpy(l->text, text);
    for (char *w = strtok(l->text, " "); w; w = strtok(NULL, " "))
        l->argv[l->argc++] = w;
    l->argv[l->argc] = NULL;
}

static const struct {
    const char *text, *command, *target;
} good[] = {
    {"beamtop", "", NULL},
    {"beamtop shop@host", "", "shop@host"},
    {"beamtop top shop@host -n 5 -i 2 --sort memory_bytes", "top", "shop@host"},
    {"beamtop top -n5 -i2s shop@host", "top", "shop@host"},
    {"beamtop armed shop@host --format json", "armed", "shop@host"},
    {"beamtop process shop 0.41.0 --format json", "process", "shop"},
    {"beamtop nodes --format csv", "nodes", NULL},
    {"beamtop shop --budget 5%", "", "shop"},
    {"beamtop capture shop --size 80x24 --format svg -o x.svg", "capture", "shop"},
    {"beamtop top --help", "top", NULL},
    {"beamtop explain lists:map/2 --syntax erlang", "explain", "lists:map/2"},
    {"beamtop calls shop", "calls", "shop"},
};

static const struct {
    const char *text, *says;
} bad[] = {
    {"beamtop top", "usage: beamtop top NODE"},
    {"beamtop process shop", "NODE PID|NAME"},
    {"beamtop top shop -i 0.1", "--interval: “0.1” is not between 0.25 and 3600"},
    {"beamtop top shop -i abc", "“abc”"},
    {"beamtop top shop -n 1.5", "“1.5”"},
    {"beamtop top shop --rows 0", "between 1 and 1000"},
    {"beamtop top shop --budget 500", "between 0.01 and 100"},
    {"beamtop top shop --nonsense", "there is no option --nonsense"},
    {"beamtop top shop --intervl 2", "there is no option --intervl; did you mean --interval?"},
    {"beamtop top shop --colums=a", "there is no option --colums; did you mean --columns?"},
    {"beamtop info shop --colums=a",
     "there is no option --colums; did you mean --columns, of another command?"},
    {"beamtop tarce shop lists:seq/2",
     "there is no command “tarce”; did you mean `beamtop trace`?"},
    {"beamtop top shop -n", "-n needs a value"},
    {"beamtop info shop --rows 5", "--rows is not an option of `beamtop info`"},
    {"beamtop top shop --format yaml", "“yaml” is not a format of `beamtop top`: text, json, csv"},
    {"beamtop stacks shop x --format otlp",
     "text, json, folded, speedscope. `beamtop spans` prints"},
    {"beamtop export a.btr --format text", "“text” is not a format of `beamtop export`: csv, "},
    {"beamtop top shop another", "unexpected argument “another”. usage: "},
    {"beamtop explain", "usage: beamtop explain PATTERN"},
    {"beamtop explain a:b --syntax lfe", "--syntax: “lfe” is not auto, erlang or elixir"},
    {"beamtop trace shop a:b --events 0", "--events must be between 1 and 10000"},
    {"beamtop trace shop a:b --time soon", "--time: “soon” is not a value such as 15s"},
    {"beamtop trace shop a:b --on-rate go", "--on-rate: “go” is not stop or shed"},
    {"beamtop record shop --max-size 1KiB",
     "--max-size: “1KiB” is not between 1.00 MiB and 1.00 TiB"},
    {"beamtop calls shop --for 46", "--for: “46” is not between 0.01 and 45"},
    {"beamtop calls shop --top 0", "between 1 and 1000"},
    {"beamtop calls shop --events 5", "--events is not an option of `beamtop calls`"},
    {"beamtop top shop --time 5s", "--time is not an option of `beamtop top`"},
    {"beamtop stacks shop cart --time 5s", "not an option of `beamtop stacks`: use --for"},
    {"beamtop trace shop cart:add --for 5s", "not an option of `beamtop trace`: use --time"},
    {"beamtop trace shop a:b --procs=", "--procs is empty"},
    {"beamtop --ascii trace shop a:b", "options follow the command: beamtop trace … OPTIONS"},
    {"beamtop --no-config nodes", "options follow the command: beamtop nodes … OPTIONS"},
    {"beamtop a b", "there is no command “a”"},
    {"beamtop ps a@b", "there is no command “ps”: use `beamtop top NODE`"},
    {"beamtop a@b c", "unexpected argument “c”. usage: "},
};

TEST(test_good)
{
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct line l;
        struct cli_options o;
        const struct cli_command *c = NULL;
        struct error err = {0};
        split(&l, good[i].text);
        if (cli_parse(l.argc, l.argv, &c, &o, &err) != 0)
            fail_msg("%s: %s", good[i].text, err.text);
        assert_string_equal(c->name, good[i].command);
        if (good[i].target)
            assert_string_equal(o.target, good[i].target);
        else
            assert_null(o.target);
    }
}

TEST(test_bad)
{
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct line l;
        struct cli_options o;
        const struct cli_command *c = NULL;
        struct error err = {0};
        split(&l, bad[i].text);
        if (cli_parse(l.argc, l.argv, &c, &o, &err) != ERR_USAGE)
            fail_msg("%s is taken", bad[i].text);
        if (!strstr(err.text, bad[i].says))
            fail_msg("%s says: %s", bad[i].text, err.text);
    }
}

TEST(test_values)
{
    struct line l;
    struct cli_options o;
    const struct cli_command *c = NULL;
    struct error err = {0};
    split(&l, "beamtop top shop -n 7 -i 250ms --budget 5 -r --rows 3 --filter ^ssl");
    assert_int_equal(cli_parse(l.argc, l.argv, &c, &o, &err), 0);
    assert_int_equal(o.ticks, 7);
    assert_true(fabs(o.interval_s - 0.25) < 1e-9 && o.interval_given);
    assert_true(fabs(o.budget - 0.05) < 1e-9);
    assert_true(o.reverse);
    assert_int_equal(o.rows, 3);
    assert_string_equal(o.filter, "^ssl");
}

TEST(test_a_trace)
{
    struct line l;
    struct cli_options o;
    const struct cli_command *c = NULL;
    struct error err = {0};
    split(&l, "beamtop trace shop a:b c:d --time 5s --term-size 4KiB --slower 5ms --on-rate shed");
    assert_int_equal(cli_parse(l.argc, l.argv, &c, &o, &err), 0);
    assert_string_equal(o.target, "shop");
    assert_int_equal(o.n_rest, 2);
    assert_string_equal(o.rest[0], "a:b");
    assert_string_equal(o.rest[1], "c:d");
    assert_int_equal(o.request.caps.value[CAP_TIME_MS], 5000);
    assert_true(o.cap_given[CAP_TIME_MS]);
    assert_false(o.cap_given[CAP_EVENTS]);
    assert_int_equal(o.request.caps.value[CAP_TERM_BYTES], 4096);
    assert_true(o.request.slower_us == 5000 && !o.request.on_rate_stop && !o.request.force);
}

/* Every cap of a trace is an option, and keeps to its ceiling there. */
TEST(test_every_cap_is_an_option)
{
    for (int i = 0; i < CAPS; i++) {
        struct line l;
        struct cli_options o;
        const struct cli_command *c = NULL;
        struct error err = {0};
        const struct cap_row *row = &cap_table[i];
        char text[100];
        snprintf(text, sizeof text, "beamtop trace shop a:b --%s %llu%s", row->key,
                 (unsigned long long)row->least, row->unit == UNIT_MS ? "ms" : "");
        split(&l, text);
        assert_int_equal(cli_parse(l.argc, l.argv, &c, &o, &err), 0);
        assert_true(o.cap_given[i] && o.request.caps.value[i] == row->least);
        snprintf(text, sizeof text, "beamtop trace shop a:b --%s %llu", row->key,
                 (unsigned long long)row->ceiling + 1);
        split(&l, text);
        assert_int_equal(cli_parse(l.argc, l.argv, &c, &o, &err), ERR_USAGE);
        assert_non_null(strstr(err.text, "must be between"));
    }
}

/* The same name is a cap of a trace, and a switch of counted calls. */
TEST(test_calls)
{
    struct line l;
    struct cli_options o;
    const struct cli_command *c = NULL;
    struct error err = {0};
    split(&l, "beamtop calls shop --time lists --for 500ms --every 10s --windows 3 --memory");
    assert_int_equal(cli_parse(l.argc, l.argv, &c, &o, &err), 0);
    assert_true(o.time && o.memory && o.windows_given && o.windows == 3 && o.top == 50);
    assert_false(o.top_given);
    assert_true(fabs(o.window_s - 0.5) < 1e-9 && fabs(o.every_s - 10) < 1e-9);
    assert_int_equal(o.n_rest, 1);
    assert_string_equal(o.rest[0], "lists");
    assert_false(o.cap_given[CAP_TIME_MS]);
    split(&l, "beamtop calls shop lists --cluster");
    assert_int_equal(cli_parse(l.argc, l.argv, &c, &o, &err), 0);
    assert_true(o.cluster && !o.by_node);
}

TEST(test_a_recording)
{
    struct line l;
    struct cli_options o;
    const struct cli_command *c = NULL;
    struct error err = {0};
    split(&l, "beamtop record shop -o f --max-size 2MiB --for 10m --thin");
    assert_int_equal(cli_parse(l.argc, l.argv, &c, &o, &err), 0);
    assert_int_equal(o.max_size, 2097152);
    assert_int_equal(o.n_fail_on, 0);
    assert_true(fabs(o.for_s - 600) < 1e-9 && o.for_given && o.thin);
}

/* The process list must not show it; the option keeps it. */
TEST(test_cookie_is_wiped)
{
    static const char *const lines[] = {"beamtop shop --cookie verysecret",
                                        "beamtop top --cookie=verysecret shop",
                                        "beamtop top --cookie topsecret --cookie verysecret shop"};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct line l;
        struct cli_options o;
        const struct cli_command *c = NULL;
        struct error err = {0};
        split(&l, lines[i]);
        assert_int_equal(cli_parse(l.argc, l.argv, &c, &o, &err), 0);
        assert_string_equal(o.cookie, "verysecret");
        for (int k = 0; k < l.argc; k++)
            assert_null(strstr(l.argv[k], "secret"));
        cli_options_clear(&o);
        assert_null(o.cookie);
    }
}

/* Lines as one, with one blank between words. */
static void join_lines(const char *text, struct buf *out)
{
    buf_reset(out);
    for (; *text; text++)
        if (*text != '\n' && (*text != ' ' || text[1] != ' '))
            buf_put_u8(out, (uint8_t)*text);
        else if (*text == '\n' && text[1] != ' ')
            buf_put_u8(out, ' ');
}

/* Every option is taken by a command, and has its text. */
TEST(test_tables)
{
    struct buf lines, out;
    buf_init(&lines, 0);
    buf_init(&out, 0);
    cli_usage(&lines, NULL);
    join_lines(buf_cstr(&lines), &out);
    buf_clear(&lines);
    for (size_t i = 0; i < cli_option_table_len; i++) {
        size_t command = 0;
        while (!cli_takes(&cli_commands[command], &cli_option_table[i]))
            assert_true(++command < cli_commands_len);
        if (!strstr(buf_cstr(&out), cli_option_help(&cli_option_table[i])))
            fail_msg("--%s is not in the usage", cli_option_table[i].name);
    }
    buf_clear(&out);
}

/* The help of each command, and of all, is for a terminal of 80 columns. */
TEST(test_lines_of_80_columns)
{
    for (size_t i = 0; i < cli_commands_len; i++) {
        struct buf out;
        buf_init(&out, 0);
        cli_usage(&out, &cli_commands[i]);
        for (const char *line = buf_cstr(&out), *end; *line; line = end + 1) {
            end = line + strcspn(line, "\n");
            assert_true(*end == '\n');
            if (text_width(line, (size_t)(end - line)) > 80)
                fail_msg("beamtop %s --help: %.*s", cli_commands[i].name, (int)(end - line), line);
        }
        buf_clear(&out);
    }
}

static size_t times(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* A command's own options come before those that many share; each command stands in one group. */
TEST(test_groups)
{
    const char *argv[] = {"beamtop", "top", "--help"};
    const struct cli_command *command = NULL;
    struct cli_options o;
    struct error err = {0};
    struct buf out;
    buf_init(&out, 0);
    assert_int_equal(cli_parse(3, (char **)(uintptr_t)argv, &command, &o, &err), 0);
    cli_usage(&out, command);
    const char *text = buf_cstr(&out), *own = strstr(text, "\nOptions:\n");
    const char *connection = strstr(text, "\nConnection:\n"), *output = strstr(text, "\nOutput:\n");
    assert_true(own && connection && output && own < connection && connection < output);
    assert_true(strstr(text, "--sort") < connection);
    assert_true(strstr(text, "--cookie ") > connection && strstr(text, "--format") > output);
    buf_clear(&out);
    buf_init(&out, 0);
    cli_usage(&out, NULL);
    for (size_t i = 1; i < cli_commands_len; i++) {
        char line[64];
        snprintf(line, sizeof line, "\n  %s ", cli_commands[i].name);
        if (times(buf_cstr(&out), line) != (cli_commands[i].group == COMMANDS_HIDDEN ? 0 : 1))
            fail_msg("%s stands %zu times in the usage", line + 3, times(buf_cstr(&out), line));
    }
    buf_clear(&out);
}

/* Explanations stand in one column, behind names with an ellipsis too. */
TEST(test_columns)
{
    struct buf out;
    buf_init(&out, 0);
    cli_usage(&out, NULL);
    const char *line = strstr(buf_cstr(&out), "  trace NODE PATTERN");
    assert_non_null(line);
    const char *help = strstr(line, "calls and messages");
    assert_non_null(help);
    assert_int_equal(text_width(line, (size_t)(help - line)), 30);
    buf_clear(&out);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/ui/config.h"
#include "ui/files/embedded.h"

/* Files of the tests, instead of a file system. */
static const struct {
    const char *path, *text;
} files[] = {
    {"conf/inner.conf", "set own yes\nset nonsense 1\n"},
    {"conf/self.conf", "source self.conf\n"},
    {"conf/a.conf", "source b.conf\n"},
    {"conf/b.conf", "source a.conf\n"},
    {"themes/mine.theme", "color ok 1 2 bold\ncolor nostyle 1 2\n"},
};

static int read_fake(void *ctx, const char *path, struct buf *out, struct error *err)
{
    (void)ctx;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        if (strcmp(files[i].path, path) == 0) {
            buf_puts(out, files[i].text);
            return 0;
        }
    }
    return error_set(err, ERR_NOT_FOUND, "%s is not there", path);
}

struct fixture {
    struct options options;
    struct keymap keymap;
    struct theme theme;
    struct diags diags;
    struct tls_lines tls;
    struct config config;
};

static void set_up(struct fixture *f)
{
    options_init(&f->options);
    keymap_init(&f->keymap);
    theme_init(&f->theme);
    diags_init(&f->diags);
    f->tls = (struct tls_lines){0};
    f->config = (struct config){.options = &f->options,
                                .keymap = &f->keymap,
                                .theme = &f->theme,
                                .diags = &f->diags,
                                .tls = &f->tls,
                                .read = read_fake,
                                .theme_dirs = {"themes", NULL}};
}

static void tear_down(struct fixture *f)
{
    options_clear(&f->options);
    keymap_clear(&f->keymap);
    diags_clear(&f->diags);
    tls_lines_clear(&f->tls);
}

static void parse(struct fixture *f, const char *text)
{
    config_parse(&f->config, "conf/test.conf", text, strlen(text));
}

/* Keys with actions of two names: why they mean the same, or cannot be mistaken. */
static const struct {
    const char *key, *action, *other, *why;
} same_meaning[] = {
    {"p", "pause", "trace-pause", "pauses what is shown: the ticks, the events of a trace"},
    {"<Space>", "mark-row", "fold", "turns the line under the cursor; pages have no rows to mark"},
    {"E", "sort", "trace-process", "of a list its queues, of one process its messages and calls"},
    {"<Space>", "fold", "fold-event", "unfolds; of an event any line will do"},
    {"<Space>", "mark-row", "fold-event", "as with fold"},
    {"<Enter>", "enter", "prompt-accept", "goes on with what is chosen or typed"},
    {"<Esc>", "back", "prompt-cancel", "goes back"},
    {"<Tab>", "next-pane", "prompt-complete", "completes in every shell; a prompt has no panes"},
    {"C-c", "quit", "prompt-cancel", "ends what is in front, as in every shell"},
};

static bool means_the_same(const char *key, const char *action, const char *other, bool used[])
{
    for (size_t i = 0; i < ARRAY_LEN(same_meaning); i++)
        if (strcmp(same_meaning[i].key, key) == 0 &&
            ((strcmp(same_meaning[i].action, action) == 0 &&
              strcmp(same_meaning[i].other, other) == 0) ||
             (strcmp(same_meaning[i].action, other) == 0 &&
              strcmp(same_meaning[i].other, action) == 0)))
            return used[i] = true;
    return false;
}

/* One key does one thing, in lists, pages, traces, pickers and the prompt. */
TEST(test_each_key_has_one_meaning)
{
    struct fixture f;
    bool used[ARRAY_LEN(same_meaning)] = {false};
    set_up(&f);
    config_defaults(&f.config);
    for (size_t n = 0; n < f.keymap.len * f.keymap.len; n++) {
        const struct binding *a = &f.keymap.bindings[n / f.keymap.len];
        const struct binding *b = &f.keymap.bindings[n % f.keymap.len];
        const char *action = action_table[a->action].name, *other = action_table[b->action].name;
        char key[KEY_TEXT_BYTES];
        if (a < b && key_equal(a->key, b->key) &&
            (a->action != b->action || strcmp(a->arg, b->arg) != 0) &&
            !means_the_same(key_format(a->key, key), action, other, used))
            fail_msg("%s is %s %s (%s) and %s %s (%s)", key, action, a->arg,
                     context_name(a->context), other, b->arg, context_name(b->context));
    }
    for (size_t i = 0; i < ARRAY_LEN(used); i++)
        if (!used[i])
            fail_msg("no key is %s: %s and %s", same_meaning[i].key, same_meaning[i].action,
                     same_meaning[i].other);
    tear_down(&f);
}

TEST(test_built_in_defaults_are_whole)
{
    struct fixture f;
    set_up(&f);
    config_defaults(&f.config);
    struct buf text;
    buf_init(&text, 0);
    diags_print(&f.diags, &text);
    if (f.diags.len > 0)
        fail_msg("%s", buf_cstr(&text));
    for (int i = 0; i < OPTIONS; i++) { /* every option stands there with its default */
        char line[200];
        buf_reset(&text);
        option_print(&f.options, (enum option)i, &text);
        snprintf(line, sizeof line, "\nset %s ", option_table[i].name);
        if (!strstr(embedded_config[0].text, line))
            fail_msg("etc/beamtop.conf lacks%s", line);
    }
    assert_true(f.keymap.len > 50);
    buf_clear(&text);
    tear_down(&f);
}

TEST(test_errors)
{
    static const struct {
        const char *text;
        size_t line, column;
        const char *says;
    } rows[] = {
        {"nonsense", 1, 1, "unknown command"},
        {"\n  set intervall 1s", 2, 7, "unknown option “intervall”; did you mean interval?"},
        {"set interval 0.1s", 1, 14, "from 250ms to 3600s"},
        {"set interval", 1, 5, "too little"},
        {"set interval 1s 2s", 1, 17, "too much"},
        {"set own maybe", 1, 9, "yes or no"},
        {"set colors 17", 1, 12, "one of auto, 256"},
        {"set rows 1.5", 1, 10, "whole number"},
        {"set filter \"abc", 1, 12, "not closed"},
        {"bind nowhere a up", 1, 6, "invalid context"},
        {"bind table nokey up", 1, 12, "unknown key"},
        {"bind table a nothing", 1, 14, "unknown action “nothing”: Tab"},
        {"bind table a sort-rigt", 1, 14, "did you mean sort-right?"},
        {"bind table a up x", 1, 17, "takes nothing"},
        {"unbind table a", 1, 14, "not bound"},
        {"color ok red", 1, 10, "too little"},
        {"color nothing red blue", 1, 7, "unknown style"},
        {"color ok red bleu", 1, 14, "unknown colour"},
        {"color ok red blue blod", 1, 19, "unknown attribute"},
        {"source none.conf", 1, 8, "not there"},
        {"source self.conf", 1, 8, "sources itself"},
        {"source a.conf", 1, 8, "sources itself"},
        {"set theme none", 1, 11, "built in are"},
        {"set theme ../x", 1, 11, "folder"},
        {"set trace-time 11m", 1, 16, "a duration from 1 ms to 600 s"},
        {"set trace-events 0", 1, 18, "a whole number from 1 to 10000"},
        {"set trace-term-size 1GiB", 1, 21, "a size in bytes from 64 B to 256.0 KiB"},
        {"set trace-rate fast", 1, 16, "a rate from 1/s to 5000/s"},
        {"set trace-on-rate wait", 1, 19, "one of auto, shed, stop"},
        {"set trace-syntax rust", 1, 18, "one of auto, erlang, elixir"},
        {"set syntax rust", 1, 12, "one of auto, erlang, elixir"},
        {"set view \x01", 1, 10, "control byte"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture f;
        set_up(&f);
        parse(&f, rows[i].text);
        if (f.diags.len != 1)
            fail_msg("'%s': %zu errors", rows[i].text, f.diags.len);
        const struct diag *d = &f.diags.items[0];
        bool here = strcmp(d->file, "conf/test.conf") == 0;
        if ((here && (d->line != rows[i].line || d->column != rows[i].column)) ||
            !strstr(d->text, rows[i].says))
            fail_msg("'%s': %s:%zu:%zu: %s", rows[i].text, d->file, d->line, d->column, d->text);
        tear_down(&f);
    }
}

TEST(test_goes_on_after_an_error)
{
    struct fixture f;
    set_up(&f);
    parse(
        &f,
        "# a comment\r\nset interval soon\nset interval 2s # slow\nsource inner.conf\n"
        "bind global x view \"process abc\"\nset filter 'a b'\nset capture-when \"q \\\" \\\\\"\n");
    assert_int_equal(f.diags.len, 2);
    assert_string_equal(f.diags.items[1].file, "conf/inner.conf");
    assert_true(option_double(&f.options, OPTION_INTERVAL) == 2);
    assert_true(option_bool(&f.options, OPTION_OWN));
    assert_string_equal(option_text(&f.options, OPTION_FILTER), "a b");
    assert_string_equal(option_text(&f.options, OPTION_CAPTURE_WHEN), "q \" \\");
    assert_string_equal(f.keymap.bindings[0].arg, "process abc");
    tear_down(&f);
}

TEST(test_caret)
{
    struct fixture f;
    struct buf text;
    set_up(&f);
    buf_init(&text, 0);
    parse(&f, "\tset \xe4\xb8\xad 1\n");
    diags_print(&f.diags, &text);
    assert_string_equal(buf_cstr(&text), "conf/test.conf:1:6: unknown option “\xe4\xb8\xad”\n"
                                         "     set \xe4\xb8\xad 1\n"
                                         "         ^\n");
    buf_clear(&text);
    tear_down(&f);
}

TEST(test_errors_are_bounded)
{
    struct fixture f;
    set_up(&f);
    for (int i = 0; i < LIMIT_CONFIG_ERRORS + 7; i++)
        parse(&f, "x\n");
    assert_int_equal(f.diags.len, LIMIT_CONFIG_ERRORS);
    assert_int_equal(f.diags.dropped, 7);
    tear_down(&f);
}

/* Also one that was chosen by name. */
TEST(test_themes_follow_the_background)
{
    struct fixture f;
    struct error err = {0};
    struct theme light;
    size_t offset = 0;
    set_up(&f);
    theme_init(&light);
    assert_int_equal(config_command(&f.config, "set theme colour-blind", &offset, &err), 0);
    const struct look dark = theme_look(&f.theme, STYLE_WARN, DEPTH_256);
    config_set_background(&f.config, BACKGROUND_LIGHT);
    assert_int_equal(theme_use(&light, "colour-blind-light", &err), 0);
    assert_int_equal(theme_look(&f.theme, STYLE_WARN, DEPTH_256).fg,
                     theme_look(&light, STYLE_WARN, DEPTH_256).fg);
    assert_string_equal(option_text(&f.options, OPTION_THEME), "colour-blind");
    config_set_background(&f.config, BACKGROUND_DARK);
    assert_int_equal(theme_look(&f.theme, STYLE_WARN, DEPTH_256).fg, dark.fg);
    config_set_background(&f.config, BACKGROUND_LIGHT);
    assert_int_equal(config_command(&f.config, "set theme default", &offset, &err), 0);
    assert_int_equal(theme_look(&f.theme, STYLE_WARN, DEPTH_256).fg, 220);
    assert_int_equal(theme_look(&f.theme, STYLE_NORMAL, DEPTH_256).bg, 16);
    assert_int_equal(config_command(&f.config, "set theme auto", &offset, &err), 0);
    assert_int_equal(theme_look(&f.theme, STYLE_NORMAL, DEPTH_256).bg, COLOR_DEFAULT);
    config_set_background(&f.config, BACKGROUND_UNKNOWN);
    assert_int_equal(theme_look(&f.theme, STYLE_WARN, DEPTH_256).fg, 220);
    assert_int_equal(theme_look(&f.theme, STYLE_NORMAL, DEPTH_256).bg, 16);
    tear_down(&f);
}

/* The first line that fits counts; its files are beside the file with the line. */
TEST(test_tls)
{
    struct fixture f;
    set_up(&f);
    parse(&f, "tls *@db? cacert ca.pem cert /c.pem key k/me.pem verify full\n"
              "tls * use never\n");
    assert_int_equal(f.diags.len, 0);
    const struct tls_line *line = tls_lines_find(&f.tls, "shop@db1");
    assert_non_null(line);
    assert_string_equal(line->place, "conf/test.conf, line 1");
    assert_string_equal(line->values[TLS_WORD_CACERT], "conf/ca.pem");
    assert_string_equal(line->values[TLS_WORD_CERT], "/c.pem");
    assert_string_equal(line->values[TLS_WORD_KEY], "conf/k/me.pem");
    assert_string_equal(line->values[TLS_WORD_VERIFY], "full");
    assert_null(line->values[TLS_WORD_USE]);
    assert_string_equal(tls_lines_find(&f.tls, "shop@db10")->values[TLS_WORD_USE], "never");
    assert_int_equal(f.tls.invalid.code, ERR_NONE);
    tear_down(&f);
}

TEST(test_tls_errors)
{
    static const struct {
        const char *line, *text;
    } cases[] = {
        {"tls *@db", "too little: tls NODES WORD VALUE…"},
        {"tls *@db certfile /x", "unknown word “certfile”: use cacert, cert, key, "
                                 "key-password-file, crl, verify or use"},
        {"tls *@db verify yes", "verify takes none, ca or full, not “yes”"},
        {"tls *@db use always cert", "cert lacks its value"},
        {"tls *@db cert /x cert /y", "cert is given twice"},
        {"tls *@db key /x", "key lacks its certificate: cert FILE"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct buf out;
        set_up(&f);
        buf_init(&out, 0);
        parse(&f, cases[i].line);
        diags_print(&f.diags, &out);
        if (!strstr(buf_cstr(&out), cases[i].text))
            fail_msg("%s: %s", cases[i].line, buf_cstr(&out));
        assert_int_equal(f.tls.n, 0);
        assert_non_null(strstr(f.tls.invalid.text, "conf/test.conf, line 1: "));
        assert_non_null(strstr(f.tls.invalid.text, cases[i].text));
        buf_clear(&out);
        tear_down(&f);
    }
}

TEST(test_prompt_commands)
{
    struct fixture f;
    struct error err = {0};
    size_t offset = 0;
    set_up(&f);
    assert_int_equal(config_command(&f.config, "set theme light", &offset, &err), 0);
    assert_string_equal(f.theme.name, "light");
    assert_string_equal(option_text(&f.options, OPTION_THEME), "light");
    assert_int_equal(config_command(&f.config, "set theme mine", &offset, &err), 0);
    assert_int_equal(theme_look(&f.theme, STYLE_OK, DEPTH_256).bg, 2);
    assert_int_equal(f.diags.len, 1);
    assert_string_equal(f.diags.items[0].file, "themes/mine.theme");
    assert_int_equal(config_command(&f.config, "set budget 190", &offset, &err), ERR_USAGE);
    assert_int_equal(offset, 11);
    assert_int_equal(f.diags.len, 1);
    tear_down(&f);
}

TEST(test_options)
{
    static const struct {
        enum option option;
        const char *text, *printed;
    } rows[] = {
        {OPTION_INTERVAL, "250ms", "250ms"},
        {OPTION_INTERVAL, "2m", "120s"},
        {OPTION_MAILBOX_BYTES, "2KiB", "2048"},
        {OPTION_OWN, "ON", "yes"},
        {OPTION_COLORS, "none", "none"},
        {OPTION_BUDGET, "0.5", "0.5"},
        {OPTION_BUDGET, "100", "100"},
        {OPTION_COLUMNS, "pid,name", "pid,name"},
        {OPTION_TRACE_TIME, "500ms", "500ms"},
        {OPTION_TRACE_TIME, "2m", "120s"},
        {OPTION_TRACE_EVENTS, "1k", "1000"},
        {OPTION_TRACE_RATE, "50/s", "50"},
        {OPTION_TRACE_TERM_SIZE, "4KiB", "4096"},
        {OPTION_TRACE_SYNTAX, "elixir", "elixir"},
    };
    struct options o;
    struct error err = {0};
    struct buf text;
    options_init(&o);
    buf_init(&text, 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t before = o.generation;
        assert_int_equal(option_set(&o, rows[i].option, rows[i].text, &err), 0);
        buf_reset(&text);
        option_print(&o, rows[i].option, &text);
        if (strcmp(buf_cstr(&text), rows[i].printed) != 0 || o.generation != before + 1)
            fail_msg("%s: %s", rows[i].text, buf_cstr(&text));
        assert_int_equal(option_set(&o, rows[i].option, rows[i].printed, &err), 0);
        assert_int_equal(o.generation, before + 1);
    }
    assert_int_equal(option_toggle(&o, OPTION_OWN, &err), 0);
    assert_false(option_bool(&o, OPTION_OWN));
    assert_int_equal(option_toggle(&o, OPTION_COLORS, &err), 0);
    assert_int_equal(option_int(&o, OPTION_COLORS), COLORS_AUTO);
    assert_int_equal(option_toggle(&o, OPTION_INTERVAL, &err), ERR_USAGE);
    buf_clear(&text);
    options_clear(&o);
}

/* Each cap has its setting, whose default is the cap's own; batch shows fewer events. */
TEST(test_caps)
{
    struct options o;
    options_init(&o);
    for (int cap = 0; cap < CAPS; cap++) {
        char name[64];
        snprintf(name, sizeof name, "trace-%s", cap_table[cap].key);
        int option = option_find(name, strlen(name));
        if (option < 0 || option_table[option].type != OPTION_TYPE_CAP ||
            (int)option_table[option].cap != cap)
            fail_msg("no setting %s", name);
        if (option_cap(&o, (enum option)option) != cap_table[cap].value)
            fail_msg("%s has another default than the cap", name);
    }
    assert_int_equal(option_cap(&o, OPTION_TRACE_BATCH_EVENTS), 10);
    options_clear(&o);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "generate.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/model/column.h"
#include "beamtop/report/evaluate.h"
#include "beamtop/trace/caps.h"
#include "beamtop/trace/matchspec.h"
#include "beamtop/trace/pattern.h"
#include "beamtop/ui/config.h"
#include "beamtop/ui/describe.h"
#include "beamtop/ui/view.h"
#include "app/cli/cli.h"

static void mdoc_actions(struct buf *out)
{
    describe_actions(out, DESCRIBE_MDOC);
}

static void mdoc_settings(struct buf *out)
{
    describe_options(out, DESCRIBE_MDOC);
}

static void mdoc_styles(struct buf *out)
{
    describe_styles(out, DESCRIBE_MDOC);
}

static void mdoc_themes(struct buf *out)
{
    describe_themes(out, DESCRIBE_MDOC);
}

static void words_themes(struct buf *out)
{
    describe_themes(out, DESCRIBE_WORDS);
}

/* The keys of a first start. */
static void mdoc_keys(struct buf *out)
{
    struct options options;
    struct keymap keymap;
    struct theme theme;
    struct diags diags;
    struct config config = {
        .options = &options, .keymap = &keymap, .theme = &theme, .diags = &diags};

    options_init(&options);
    keymap_init(&keymap);
    theme_init(&theme);
    diags_init(&diags);
    config_defaults(&config);
    describe_keys(out, DESCRIBE_MDOC, &keymap);
    diags_clear(&diags);
    keymap_clear(&keymap);
    options_clear(&options);
}

static void mdoc_columns(struct buf *out)
{
    for (int i = 0; i < proc_columns_len; i++)
        buf_printf(out, ".It Cm %s\n%s\n", proc_columns[i].key, proc_columns[i].help);
}

static void words_columns(struct buf *out)
{
    for (int i = 0; i < proc_columns_len; i++)
        buf_printf(out, "%s\t%s\n", proc_columns[i].key, proc_columns[i].help);
}

static void mdoc_views(struct buf *out)
{
    for (size_t i = 0; view_registry[i]; i++)
        buf_printf(out, ".It Cm %s\n%s\n", view_registry[i]->name, view_registry[i]->help);
}

static void words_views(struct buf *out)
{
    for (size_t i = 0; view_registry[i]; i++)
        buf_printf(out, "%s\t%s\n", view_registry[i]->name, view_registry[i]->help);
}

static void mdoc_caps(struct buf *out)
{
    for (int i = 0; i < CAPS; i++) {
        const struct cap_row *row = &cap_table[i];
        char value[32], least[32], ceiling[32];
        buf_printf(out, ".It Cm %s\n%s\n.Pq %s, from %s to %s\n", row->key, row->help,
                   cap_format(value, sizeof value, (enum cap)i, row->value),
                   cap_format(least, sizeof least, (enum cap)i, row->least),
                   cap_format(ceiling, sizeof ceiling, (enum cap)i, row->ceiling));
    }
}

static void mdoc_words(struct buf *out, const struct pattern_word *words)
{
    for (; words->word; words++) {
        buf_printf(out, ".It Ic %s\n", words->word);
        for (const char *s = words->help; *s; s++)
            buf_printf(out, "%s%c", *s == '(' && s[1] == ')' ? "\\&" : "", *s);
        buf_puts(out, "\n");
        int since = matchspec_guard_since(words->word);
        if (since > 0)
            buf_printf(out, "(OTP %d and later)\n", since);
    }
}

static void mdoc_rules(struct buf *out)
{
    for (size_t i = 0; rule_list[i]; i++)
        buf_printf(out, ".It Cm %s\n%s\n(Needs %s.)\n", rule_list[i]->key, rule_list[i]->help,
                   rule_list[i]->needs);
}

static void mdoc_guards(struct buf *out)
{
    mdoc_words(out, pattern_guards);
}

static void mdoc_trace_actions(struct buf *out)
{
    mdoc_words(out, pattern_actions);
}

static const struct {
    const char *what;
    void (*put)(struct buf *out);
} tables[] = {
    {"mdoc-actions", mdoc_actions},   {"mdoc-caps", mdoc_caps},
    {"mdoc-columns", mdoc_columns},   {"mdoc-guards", mdoc_guards},
    {"mdoc-keys", mdoc_keys},         {"mdoc-rules", mdoc_rules},
    {"mdoc-settings", mdoc_settings}, {"mdoc-styles", mdoc_styles},
    {"mdoc-themes", mdoc_themes},     {"mdoc-trace-actions", mdoc_trace_actions},
    {"mdoc-views", mdoc_views},       {"words-columns", words_columns},
    {"words-themes", words_themes},   {"words-views", words_views},
};

int generate_put(struct buf *out, const char *what, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (strcmp(tables[i].what, what) != 0)
            continue;
        tables[i].put(out);
        return 0;
    }
    return cli_generate(out, what, err);
}

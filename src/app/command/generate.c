/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop generate`: the tables of the whole program for its manual and for shell completion. */
#include <string.h>

#include "app/way/way_url.h"
#include "app/cli/cli_table.h"
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/tell.h"
#include "app/source/nodes.h"
#include "beamtop/base/attr.h"
#include "beamtop/model/column.h"
#include "beamtop/report/evaluate.h"
#include "beamtop/trace/caps.h"
#include "beamtop/trace/matchspec.h"
#include "beamtop/trace/pattern.h"
#include "beamtop/ui/config.h"
#include "beamtop/ui/describe.h"
#include "beamtop/ui/view.h"

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

static void describe_name(struct buf *out, enum describe_form form, const char *name,
                          const char *help)
{
    buf_printf(out, form == DESCRIBE_MDOC ? ".It Cm %s\n%s\n" : "%s\t%s\n", name, help);
}

static void describe_columns(struct buf *out, enum describe_form form)
{
    for (int i = 0; i < proc_columns_len; i++)
        describe_name(out, form, proc_columns[i].key, proc_columns[i].help);
}

static void describe_views(struct buf *out, enum describe_form form)
{
    for (size_t i = 0; view_registry[i]; i++)
        describe_name(out, form, view_registry[i]->name, view_registry[i]->help);
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
    void (*put)(struct buf *out); /* NULL: it is described in that form */
    void (*describe)(struct buf *out, enum describe_form form);
    enum describe_form form;
} tables[] = {
    {"mdoc-actions", NULL, describe_actions, DESCRIBE_MDOC},
    {"mdoc-caps", mdoc_caps, NULL, 0},
    {"mdoc-columns", NULL, describe_columns, DESCRIBE_MDOC},
    {"mdoc-commands", cli_mdoc_commands, NULL, 0},
    {"mdoc-guards", mdoc_guards, NULL, 0},
    {"mdoc-keys", mdoc_keys, NULL, 0},
    {"mdoc-options", cli_mdoc_options, NULL, 0},
    {"mdoc-rules", mdoc_rules, NULL, 0},
    {"mdoc-settings", NULL, describe_options, DESCRIBE_MDOC},
    {"mdoc-styles", NULL, describe_styles, DESCRIBE_MDOC},
    {"mdoc-themes", NULL, describe_themes, DESCRIBE_MDOC},
    {"mdoc-trace-actions", mdoc_trace_actions, NULL, 0},
    {"mdoc-views", NULL, describe_views, DESCRIBE_MDOC},
    {"words-columns", NULL, describe_columns, DESCRIBE_WORDS},
    {"words-commands", cli_words_commands, NULL, 0},
    {"words-formats", cli_words_formats, NULL, 0},
    {"words-options", cli_words_options, NULL, 0},
    {"words-themes", NULL, describe_themes, DESCRIBE_WORDS},
    {"words-views", NULL, describe_views, DESCRIBE_WORDS},
};

static int generate_table(struct buf *out, const char *what, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (strcmp(tables[i].what, what) != 0)
            continue;
        if (tables[i].put)
            tables[i].put(out);
        else
            tables[i].describe(out, tables[i].form);
        return 0;
    }
    return error_set(err, ERR_USAGE, "nothing is generated under the name “%s”", what);
}

/* Not a table, but what completion needs: the nodes that are there now. */
static int generate_nodes(struct buf *out, const struct cli_options *o, const struct app_env *env,
                          struct error *err)
{
    struct discover_list list;
    int rc = nodes_find(&list, o, env, NODES_EPMD_MS, err);
    if (rc == 0)
        nodes_put_words(out, &list);
    for (size_t i = 0; rc == 0 && i < WAY_SCHEMES; i++)
        buf_printf(out, "%s\n", way_schemes[i]);
    discover_clear(&list);
    return rc;
}

int command_generate(const struct cli_options *o, const struct app_env *env)
{
    struct buf out;
    struct error err = {0};
    buf_init(&out, 0);
    int rc = strcmp(o->target, "words-nodes") == 0 ? generate_nodes(&out, o, env, &err)
                                                   : generate_table(&out, o->target, &err);
    int code = output_put(&out);
    buf_clear(&out);
    return rc == 0 ? code : tell_usage(&err);
}

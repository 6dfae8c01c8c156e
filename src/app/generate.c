#include "generate.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/model/column.h"
#include "beamtop/ui/config.h"
#include "beamtop/ui/describe.h"
#include "beamtop/ui/view.h"
#include "cli.h"

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

static const struct {
    const char *what;
    void (*put)(struct buf *out);
} tables[] = {
    {"mdoc-actions", mdoc_actions},   {"mdoc-columns", mdoc_columns}, {"mdoc-keys", mdoc_keys},
    {"mdoc-settings", mdoc_settings}, {"mdoc-styles", mdoc_styles},   {"mdoc-themes", mdoc_themes},
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

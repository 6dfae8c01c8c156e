/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/describe.h"

#include <stdio.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"
#include "beamtop/ui/option.h"
#include "beamtop/ui/theme.h"

#define NAME_COLUMNS 30 /* DESCRIBE_TEXT: where the help begins */

void describe_put_roff(struct buf *out, const char *s)
{
    if (*s == '.' || *s == '\'')
        buf_puts(out, "\\&");
    for (; *s; s++) {
        if (*s == '\\')
            buf_puts(out, "\\e");
        else if (*s == '-')
            buf_puts(out, "\\-");
        else
            buf_put_u8(out, (uint8_t)*s);
    }
}

/* One row in each form: a name, what follows it, a phrase. */
static void describe_row(struct buf *out, enum describe_form form, const char *name,
                         const char *args, const char *help)
{
    switch (form) {
    case DESCRIBE_TEXT: {
        size_t start = out->len;
        buf_printf(out, "  %s%s%s", name, args[0] ? " " : "", args);
        size_t width = text_width((const char *)out->data + start, out->len - start);
        for (; width < NAME_COLUMNS; width++)
            buf_put_u8(out, ' ');
        buf_printf(out, "%s%s\n", width > NAME_COLUMNS ? "  " : " ", help);
        return;
    }
    case DESCRIBE_MDOC:
        buf_puts(out, ".It \\fB");
        describe_put_roff(out, name);
        buf_puts(out, "\\fP");
        if (args[0]) {
            buf_puts(out, " \\fI");
            describe_put_roff(out, args);
            buf_puts(out, "\\fP");
        }
        buf_puts(out, "\n");
        describe_put_roff(out, help);
        buf_puts(out, ".\n");
        return;
    case DESCRIBE_WORDS:
        buf_printf(out, "%s\t%s\n", name, help);
        return;
    }
}

static void describe_title(struct buf *out, enum describe_form form, const char *title)
{
    switch (form) {
    case DESCRIBE_TEXT:
        buf_printf(out, "%s%s\n", out->len > 0 ? "\n" : "", title);
        return;
    case DESCRIBE_MDOC:
        buf_puts(out, ".It Em \"");
        describe_put_roff(out, title);
        buf_puts(out, "\"\n");
        return;
    case DESCRIBE_WORDS:
        return;
    }
}

/* "duration, 250ms to 3600s, default 1s": what `set` takes. */
static void put_values(struct buf *out, const struct option_row *row)
{
    if (row->type == OPTION_TYPE_ENUM) {
        for (size_t i = 0; row->choices[i]; i++)
            buf_printf(out, "%s%s", i > 0 ? ", " : "", row->choices[i]);
    } else if (row->type == OPTION_TYPE_CAP) {
        option_cap_range(row, out);
    } else {
        buf_puts(out, option_type_name(row->type));
        if (row->high > 0)
            buf_printf(out, " from %.10g to %.10g", row->low, row->high);
        if (row->type == OPTION_TYPE_DURATION)
            buf_puts(out, " s");
        if (row->unit)
            buf_printf(out, " (%s)", row->unit);
    }
    buf_printf(out, "; default %s", row->initial[0] ? row->initial : "empty");
}

void describe_options(struct buf *out, enum describe_form form)
{
    for (int i = 0; i < OPTIONS; i++) {
        const struct option_row *row = &option_table[i];
        struct buf help;
        buf_init(&help, 0);
        buf_puts(&help, option_help((enum option)i));
        if (form != DESCRIBE_WORDS) {
            buf_puts(&help, " (");
            put_values(&help, row);
            buf_puts(&help, ")");
        }
        describe_row(out, form, row->name, "", buf_cstr(&help));
        buf_clear(&help);
    }
}

void describe_actions(struct buf *out, enum describe_form form)
{
    for (int group = 0; group < ACTION_GROUPS; group++) {
        describe_title(out, form, action_group_title((enum action_group)group));
        for (int i = 0; i < ACTIONS; i++)
            if ((int)action_table[i].group == group)
                describe_row(out, form, action_table[i].name, action_table[i].args,
                             action_table[i].help);
    }
}

void describe_keys(struct buf *out, enum describe_form form, const struct keymap *keymap)
{
    for (int context = 0; context < CONTEXTS; context++) {
        char title[80];
        snprintf(title, sizeof title, "%s: %s", context_name((enum context)context),
                 context_help((enum context)context));
        describe_title(out, form, title);
        for (size_t i = 0; i < keymap->len; i++) {
            const struct binding *b = &keymap->bindings[i];
            char key[KEY_TEXT_BYTES];
            struct buf what;
            if ((int)b->context != context)
                continue;
            buf_init(&what, 0);
            buf_printf(&what, "%s%s%s: %s", action_table[b->action].name, b->arg[0] ? " " : "",
                       b->arg, action_table[b->action].help);
            describe_row(out, form, key_format(b->key, key), "", buf_cstr(&what));
            buf_clear(&what);
        }
    }
}

void describe_styles(struct buf *out, enum describe_form form)
{
    for (int i = 0; i < STYLES; i++)
        describe_row(out, form, style_name((enum style)i), "", style_help((enum style)i));
}

void describe_themes(struct buf *out, enum describe_form form)
{
    describe_row(out, form, THEME_AUTO, "", THEME_AUTO_HELP);
    for (size_t i = 0; theme_builtin(i); i++)
        describe_row(out, form, theme_builtin(i), "", "built in");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/complete.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/ui/action.h"
#include "beamtop/ui/keymap.h"
#include "beamtop/ui/option.h"
#include "beamtop/ui/theme.h"

/* What the words must begin with, and where they go. */
struct filter {
    struct completion *out;
    const char *prefix;
    size_t len;
};

void completion_init(struct completion *c)
{
    *c = (struct completion){0};
}

void completion_clear(struct completion *c)
{
    for (size_t i = 0; i < c->len; i++)
        free(c->items[i].word);
    free(c->items);
    completion_init(c);
}

static size_t same_bytes(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

size_t completion_common(const struct completion *c)
{
    if (c->len == 0)
        return 0;
    size_t common = strlen(c->items[0].word);
    for (size_t i = 1; i < c->len; i++) {
        size_t same = same_bytes(c->items[0].word, c->items[i].word);
        common = same < common ? same : common;
    }
    return common;
}

void completion_add(struct completion *c, const char *word, const char *help)
{
    if (c->len == LIMIT_COMPLETIONS) {
        const char *first = c->items[0].word, *last = c->items[c->len - 1].word;
        if (same_bytes(first, word) >= same_bytes(first, last))
            return;
        free(c->items[--c->len].word);
    }
    c->items = alloc_resize(c->items, c->len + 1, sizeof *c->items);
    c->items[c->len++] = (struct completion_item){alloc_strdup(word), help ? help : ""};
}

static void put_matching(void *to, const char *word, const char *help)
{
    struct filter *f = to;
    if (strncmp(word, f->prefix, f->len) == 0)
        completion_add(f->out, word, help);
}

static int by_word(const void *a, const void *b)
{
    const struct completion_item *x = a, *y = b;
    return strcmp(x->word, y->word);
}

void completion_sort(struct completion *c)
{
    size_t kept = 0;
    if (c->len > 1)
        qsort(c->items, c->len, sizeof *c->items, by_word);
    for (size_t i = 0; i < c->len; i++) {
        if (kept > 0 && strcmp(c->items[kept - 1].word, c->items[i].word) == 0)
            free(c->items[i].word);
        else
            c->items[kept++] = c->items[i];
    }
    c->len = kept;
}

/* ---- words of our own tables */

static void each_action(struct filter *f)
{
    for (int i = 0; i < ACTIONS; i++)
        if (action_table[i].where != WHERE_PROMPT)
            put_matching(f, action_table[i].name, action_table[i].help);
}

static void each_option(struct filter *f)
{
    for (int i = 0; i < OPTIONS; i++)
        put_matching(f, option_table[i].name, option_help((enum option)i));
}

static void each_choice(struct filter *f, const struct option_row *row)
{
    if (row->type == OPTION_TYPE_BOOL) {
        put_matching(f, "yes", "");
        put_matching(f, "no", "");
    }
    for (size_t i = 0; row->choices && row->choices[i]; i++)
        put_matching(f, row->choices[i], "");
}

static void each_color(struct filter *f)
{
    for (size_t i = 0; theme_color_name(i); i++)
        put_matching(f, theme_color_name(i), "");
}

static void each_attribute(struct filter *f)
{
    for (size_t i = 0; theme_attribute_name(i); i++)
        put_matching(f, theme_attribute_name(i), "");
    put_matching(f, "mono", "those of a screen without colours follow");
}

static void each_of_kind(struct filter *f, enum word_kind kind, const struct word_provider *more)
{
    switch (kind) {
    case WORD_ACTION:
        each_action(f);
        break;
    case WORD_OPTION:
    case WORD_SET:
        each_option(f);
        break;
    case WORD_STYLE:
    case WORD_COLOR:
        for (int i = 0; i < STYLES; i++)
            put_matching(f, style_name((enum style)i), style_help((enum style)i));
        break;
    case WORD_PLACE:
    case WORD_BIND:
        for (int i = 0; i < CONTEXTS; i++)
            put_matching(f, context_name((enum context)i), context_help((enum context)i));
        break;
    case WORD_THEME:
        put_matching(f, THEME_AUTO, THEME_AUTO_HELP);
        for (size_t i = 0; theme_builtin(i); i++)
            put_matching(f, theme_builtin(i), "built in");
        break;
    case WORD_DIRECTION:
        put_matching(f, "below", "one above the other");
        put_matching(f, "right", "side by side");
        break;
    case WORD_NONE:
    case WORD_TEXT:
    case WORD_NUMBER:
    case WORD_DURATION:
    case WORD_BYTES:
    case WORD_FILE:
    case WORD_REGEX:
    case WORD_VIEW:
    case WORD_COLUMN:
    case WORD_COLUMNS:
    case WORD_CHOICE:
    case WORD_KINDS:
        break;
    }
    if (more && more->each && kind != WORD_NONE)
        more->each(more->ctx, kind == WORD_COLUMNS ? WORD_COLUMN : kind, put_matching, f);
}

/* The words of a kind that begin with the bytes of line from `from` to `point`. */
static void complete_with(struct completion *out, const char *line, size_t from, size_t point,
                          enum word_kind kind, const struct word_provider *more)
{
    if (kind == WORD_COLUMNS)
        for (size_t i = from; i < point; i++)
            if (line[i] == ',')
                from = i + 1;
    out->from = from;
    out->to = point;
    struct filter f = {out, line + from, point - from};
    each_of_kind(&f, kind, more);
    completion_sort(out);
}

/* ---- a command line */

#define WORDS 8 /* as many as a command's form looks at */

/* The words before the one at point: starts and lengths; the one at point begins at *from. */
struct before {
    const char *words[WORDS];
    size_t lens[WORDS];
    size_t len;
    size_t from;
};

static struct before words_before(const char *line, size_t point)
{
    struct before b = {.from = point};
    size_t at = 0;
    for (;;) {
        while (at < point && text_is_blank(line[at]))
            at++;
        size_t start = at;
        while (at < point && !text_is_blank(line[at]))
            at++;
        if (at == point) {
            b.from = start;
            return b;
        }
        if (b.len < WORDS) {
            b.words[b.len] = line + start;
            b.lens[b.len] = at - start;
        }
        b.len++;
    }
}

static enum word_kind action_arg(const struct before *b, size_t at)
{
    int action = at < WORDS ? action_find(b->words[at], b->lens[at]) : -1;
    return action < 0 ? WORD_NONE : action_table[action].arg;
}

/* What stands after `set NAME `. */
static void complete_value(struct completion *out, const struct before *b, const char *line,
                           size_t point, const struct word_provider *more)
{
    int option = option_find(b->words[1], b->lens[1]);
    if (option < 0)
        return;
    const struct option_row *row = &option_table[option];
    if (row->words != WORD_CHOICE) {
        complete_with(out, line, b->from, point, row->words, more);
        return;
    }
    struct filter f = {out, line + b->from, point - b->from};
    out->from = b->from;
    out->to = point;
    each_choice(&f, row);
}

static enum word_kind kind_at(const struct before *b, enum word_kind arg)
{
    size_t nth = b->len - 1; /* of the argument's words, from 0 */
    switch (arg) {
    case WORD_BIND: /* PLACE KEY ACTION ARG */
        return nth == 0   ? WORD_PLACE
               : nth == 2 ? WORD_ACTION
               : nth == 3 ? action_arg(b, 3)
                          : WORD_NONE;
    default:
        return nth == 0 ? arg : WORD_NONE;
    }
}

static void complete_color(struct completion *out, const struct before *b, const char *line,
                           size_t point)
{
    struct filter f = {out, line + b->from, point - b->from};
    out->from = b->from;
    out->to = point;
    if (b->len <= 3)
        each_color(&f);
    else
        each_attribute(&f);
    completion_sort(out);
}

void complete_command(struct completion *out, const char *line, size_t point,
                      const struct word_provider *more)
{
    struct before b = words_before(line, point);
    if (b.len == 0) {
        complete_with(out, line, b.from, point, WORD_ACTION, more);
        return;
    }
    enum word_kind arg = action_arg(&b, 0);
    if (arg == WORD_SET && b.len == 2)
        complete_value(out, &b, line, point, more);
    else if (arg == WORD_COLOR && b.len > 1)
        complete_color(out, &b, line, point);
    else
        complete_with(out, line, b.from, point, kind_at(&b, arg), more);
}

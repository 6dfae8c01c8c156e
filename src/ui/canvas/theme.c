/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/theme.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "ui/files/embedded.h"
#include "ui/files/line.h"

static const struct {
    const char *name;
    uint8_t bit;
} attributes[] = {
    {"bold", ATTRIBUTE_BOLD},           {"dim", ATTRIBUTE_DIM},
    {"underline", ATTRIBUTE_UNDERLINE}, {"reverse", ATTRIBUTE_REVERSE},
    {"italic", ATTRIBUTE_ITALIC},       {"blink", ATTRIBUTE_BLINK},
};

static const char *const builtin[] = {"default",       "light",        "mono",
                                      "high-contrast", "colour-blind", "colour-blind-light"};

static const struct theme_entry plain = {COLOR_DEFAULT, COLOR_DEFAULT, 0, 0};

const char *theme_attribute_name(size_t index)
{
    return index < ARRAY_LEN(attributes) ? attributes[index].name : NULL;
}

const char *theme_builtin(size_t index)
{
    return index < ARRAY_LEN(builtin) ? builtin[index] : NULL;
}

const char *theme_next(const char *name)
{
    if (strcmp(name, THEME_AUTO) == 0)
        return builtin[0];
    for (size_t i = 0; i + 1 < ARRAY_LEN(builtin); i++)
        if (strcmp(name, builtin[i]) == 0)
            return builtin[i + 1];
    return THEME_AUTO;
}

void theme_init(struct theme *t)
{
    *t = (struct theme){0};
    struct error err = {0};
    int rc = theme_use(t, "default", &err);
    (void)rc; /* it is embedded: a test reads every built-in theme */
}

static const struct embedded *find_embedded(const char *name)
{
    char file[80];
    snprintf(file, sizeof file, "%s.theme", name);
    for (const struct embedded *e = embedded_themes; e->name; e++)
        if (strcmp(e->name, file) == 0)
            return e;
    return NULL;
}

int theme_use(struct theme *t, const char *name, struct error *err)
{
    const struct embedded *e = find_embedded(name);
    if (!e) {
        struct buf names;
        buf_init(&names, 0);
        for (size_t i = 0; theme_builtin(i); i++)
            buf_printf(&names, "%s%s", i > 0 ? ", " : "", theme_builtin(i));
        int rc = error_set(err, ERR_NOT_FOUND, "unknown theme “%s”: built in are %s", name,
                           buf_cstr(&names));
        buf_clear(&names);
        return rc;
    }
    struct diags none;
    diags_init(&none);
    theme_parse(t, name, e->text, e->len, &none);
    diags_clear(&none);
    return 0;
}

static int find_attribute(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++)
        if (strcmp(attributes[i].name, word) == 0)
            return attributes[i].bit;
    return -1;
}

static int read_attributes(char *const words[], size_t n, struct theme_entry *e, size_t *bad,
                           struct error *err)
{
    bool mono = false;
    for (size_t i = 3; i < n; i++) {
        *bad = i;
        int bit = find_attribute(words[i]);
        if (strcmp(words[i], "mono") == 0 && !mono)
            mono = true;
        else if (bit < 0)
            return error_set(
                err, ERR_USAGE,
                "unknown attribute “%s”: use bold, dim, underline, reverse, italic, blink, "
                "or mono before those of a screen without colours",
                words[i]);
        else if (mono)
            e->mono |= (uint8_t)bit;
        else
            e->attributes |= (uint8_t)bit;
    }
    if (!mono)
        e->mono = e->attributes;
    return 0;
}

/* STYLE FG BG [ATTR…] [mono ATTR…] */
static int read_entry(char *const words[], size_t n, enum style *style, struct theme_entry *e,
                      size_t *bad, struct error *err)
{
    int16_t *parts[] = {&e->fg, &e->bg};
    *e = plain;
    *bad = n > 0 ? n - 1 : 0;
    if (n < 3)
        return error_set(err, ERR_USAGE, "color takes a style, a colour and a background's colour");
    int found = style_find(words[0]);
    *bad = 0;
    if (found < 0)
        return error_set(err, ERR_USAGE, "unknown style “%s”", words[0]);
    *style = (enum style)found;
    for (size_t i = 0; i < 2; i++) {
        int color = theme_color_find(words[i + 1]);
        *bad = i + 1;
        if (color < COLOR_DEFAULT)
            return error_set(
                err, ERR_USAGE,
                "unknown colour “%s”: use default, red, bright-red …, 0 to 255, or #rrggbb",
                words[i + 1]);
        *parts[i] = (int16_t)color;
    }
    return read_attributes(words, n, e, bad, err);
}

int theme_color(struct theme *t, char *const words[], size_t n, size_t *bad_word, struct error *err)
{
    enum style style;
    struct theme_entry e;
    int rc = read_entry(words, n, &style, &e, bad_word, err);
    if (rc < 0)
        return rc;
    t->overrides[style] = e;
    t->overridden[style] = true;
    t->generation++;
    return 0;
}

struct reading {
    const char *file;
    struct theme_entry entries[STYLES];
    bool seen[STYLES];
    enum theme_background suits;
    struct diags *diags;
};

/* color …, background …: the words of a line. *bad is the index of the wrong one. */
static int read_words(struct reading *in, char *const words[], size_t n, size_t *bad,
                      struct error *err)
{
    enum style style;
    struct theme_entry e;
    *bad = 0;
    if (strcmp(words[0], "background") == 0) {
        *bad = n > 2 ? 2 : n - 1;
        if (n != 2 || (strcmp(words[1], "dark") != 0 && strcmp(words[1], "light") != 0))
            return error_set(err, ERR_USAGE, "background takes dark or light");
        in->suits = words[1][0] == 'd' ? BACKGROUND_DARK : BACKGROUND_LIGHT;
        return 0;
    }
    if (strcmp(words[0], "color") != 0)
        return error_set(err, ERR_USAGE,
                         "“%s” is not for themes: they hold lines of color and background",
                         words[0]);
    int rc = read_entry(words + 1, n - 1, &style, &e, bad, err);
    *bad = *bad + 1 < n ? *bad + 1 : n - 1;
    if (rc == 0) {
        in->entries[style] = e;
        in->seen[style] = true;
    }
    return rc;
}

static void read_theme_line(struct reading *in, size_t number, const char *s, size_t len)
{
    struct line line;
    struct error err = {0};
    size_t bad = 0;
    const char *wrong = line_split(&line, s, len, &bad);
    if (wrong) {
        diags_add(in->diags, in->file, number, bad + 1, s, len, "%s", wrong);
    } else if (line.len > 0 && read_words(in, line.words, line.len, &bad, &err) < 0) {
        diags_add(in->diags, in->file, number, line.offset[bad] + 1, s, len, "%s", err.text);
    }
    line_clear(&line);
}

void theme_parse(struct theme *t, const char *name, const char *text, size_t len,
                 struct diags *diags)
{
    struct reading in = {.file = name, .diags = diags};
    struct slice line;
    for (size_t number = 1, at = 0; line_next((struct slice){text, len}, &at, &line); number++)
        read_theme_line(&in, number, line.s, line.len);
    for (int i = 0; i < STYLES; i++) {
        const struct theme_entry *normal =
            in.seen[STYLE_NORMAL] ? &in.entries[STYLE_NORMAL] : &plain;
        t->entries[i] = in.seen[i] ? in.entries[i] : *normal;
    }
    snprintf(t->name, sizeof t->name, "%s", name);
    t->suits = in.suits;
    t->generation++;
}

void theme_set_terminal(struct theme *t, enum theme_background background)
{
    if (t->terminal != background)
        t->generation++;
    t->terminal = background;
}

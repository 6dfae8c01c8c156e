/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Colours: names, the xterm palette, and what is left of one with fewer colours. */
#include "beamtop/ui/theme.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"

static const struct {
    const char *name;
    int16_t index;
    /* clang-format off */
} colors[] = {
    {"default", COLOR_DEFAULT}, {"black", 0},        {"red", 1},           {"green", 2},
    {"yellow", 3},              {"blue", 4},         {"magenta", 5},       {"cyan", 6},
    {"white", 7},               {"bright-black", 8}, {"bright-red", 9},    {"bright-green", 10},
    {"bright-yellow", 11},      {"bright-blue", 12}, {"bright-magenta", 13}, {"bright-cyan", 14},
    {"bright-white", 15},
};
/* clang-format on */

/* xterm's own sixteen. */
static const uint32_t base_rgb[16] = {
    0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
    0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
};

#define LEAST_CONTRAST 4.5 /* of text */
#define GREY_SPREAD 16     /* between red, green and blue */
/* Luminance of backgrounds: the themes' text stands out from all that are darker, or lighter. */
#define LIGHTEST_DARK 0.036
#define DARKEST_LIGHT 0.8
/* Luminance of grey that is dim text, not black or white. */
#define DARKEST_GREY 0.02
#define LIGHTEST_GREY 0.7

static const uint8_t cube_level[6] = {0, 95, 135, 175, 215, 255};

const char *theme_color_name(size_t index)
{
    return index < ARRAY_LEN(colors) ? colors[index].name : NULL;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_rgb(const char *s)
{
    uint32_t rgb = 0;
    if (strlen(s) != 6)
        return -2;
    for (size_t i = 0; i < 6; i++) {
        int digit = hex_digit(s[i]);
        if (digit < 0)
            return -2;
        rgb = rgb << 4 | (uint32_t)digit;
    }
    return theme_nearest(rgb);
}

int theme_color_find(const char *name)
{
    if (name[0] == '#')
        return parse_rgb(name + 1);
    for (size_t i = 0; i < ARRAY_LEN(colors); i++)
        if (strcmp(colors[i].name, name) == 0)
            return colors[i].index;
    size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > 3 || name[digits] != '\0')
        return -2;
    int n = atoi(name);
    return n <= 255 ? n : -2;
}

uint32_t theme_rgb(int index)
{
    if (index < 16)
        return base_rgb[index < 0 ? 0 : index];
    if (index >= 232) {
        uint32_t grey = (uint32_t)(8 + 10 * (index - 232));
        return grey << 16 | grey << 8 | grey;
    }
    int i = index - 16;
    return (uint32_t)cube_level[i / 36] << 16 | (uint32_t)cube_level[i / 6 % 6] << 8 |
           cube_level[i % 6];
}

static int rgb_diff(uint32_t a, uint32_t b)
{
    int sum = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        int d = (int)(a >> shift & 0xff) - (int)(b >> shift & 0xff);
        sum += d * d;
    }
    return sum;
}

static int nearest_of(uint32_t rgb, int from, int to)
{
    int best = from;
    for (int i = from; i <= to; i++)
        if (rgb_diff(rgb, theme_rgb(i)) < rgb_diff(rgb, theme_rgb(best)))
            best = i;
    return best;
}

int theme_nearest(uint32_t rgb)
{
    return nearest_of(rgb, 16, 255);
}

/* ---- what is readable, as WCAG counts it */

static double rgb_luminance(uint32_t rgb)
{
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double part = (double)(rgb >> (16 - 8 * i) & 0xff) / 255;
        sum += weights[i] * (part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double theme_contrast(uint32_t a, uint32_t b)
{
    const double x = rgb_luminance(a) + 0.05, y = rgb_luminance(b) + 0.05;
    return x > y ? x / y : y / x;
}

enum theme_background theme_background_of(uint32_t rgb)
{
    const double l = rgb_luminance(rgb);
    return l <= LIGHTEST_DARK   ? BACKGROUND_DARK
           : l >= DARKEST_LIGHT ? BACKGROUND_LIGHT
                                : BACKGROUND_UNKNOWN;
}

/* Of text without a background: the one of black and white that it stands out from. */
static uint32_t background_of(int16_t fg)
{
    const uint32_t rgb = theme_rgb(fg);
    return theme_contrast(rgb, 0) > theme_contrast(rgb, 0xffffff) ? 0 : 0xffffff;
}

static bool is_grey(uint32_t rgb)
{
    const int r = (int)(rgb >> 16), g = (int)(rgb >> 8 & 0xff), b = (int)(rgb & 0xff);
    return abs(r - g) < GREY_SPREAD && abs(g - b) < GREY_SPREAD && abs(r - b) < GREY_SPREAD;
}

/* ---- fewer colours */

/* The nearest of the first n that can be read on that background; COLOR_DEFAULT: none can. */
static int16_t readable_color(int16_t fg, uint32_t background, int n)
{
    const uint32_t rgb = theme_rgb(fg);
    int16_t best = COLOR_DEFAULT;
    for (int i = 0; i < n; i++)
        if (theme_contrast(theme_rgb(i), background) >= LEAST_CONTRAST &&
            (best == COLOR_DEFAULT || rgb_diff(rgb, theme_rgb(i)) < rgb_diff(rgb, theme_rgb(best))))
            best = (int16_t)i;
    return best;
}

static int16_t to_16(int16_t color)
{
    return color < 16 ? color : (int16_t)nearest_of(theme_rgb(color), 0, 15);
}

/* A bright background is the plain one. */
static int16_t background_to_8(int16_t bg)
{
    return (int16_t)(bg == 8 ? COLOR_DEFAULT : bg > 8 ? bg - 8 : bg);
}

/* Terminals differ too much in the grey of their sixteen colours. */
static bool is_dim(int16_t fg)
{
    const double l = rgb_luminance(theme_rgb(fg));
    return is_grey(theme_rgb(fg)) && l > DARKEST_GREY && l < LIGHTEST_GREY;
}

/* The text of a look whose background is one of n colours already. */
static void text_of_fewer(struct look *l, int16_t n)
{
    const int16_t own = l->fg;
    if (l->bg == COLOR_DEFAULT && (own == COLOR_DEFAULT || own < n))
        return;
    if (own == COLOR_DEFAULT || (l->bg != COLOR_DEFAULT && own >= n && is_grey(theme_rgb(own)))) {
        const int16_t white = (int16_t)(n - 1);
        const uint32_t bg = theme_rgb(l->bg);
        l->fg = theme_contrast(0, bg) > theme_contrast(theme_rgb(white), bg) ? 0 : white;
    } else if (l->bg == COLOR_DEFAULT && is_dim(own)) {
        l->fg = COLOR_DEFAULT;
        l->attributes |= ATTRIBUTE_DIM;
    } else {
        const uint32_t bg = l->bg == COLOR_DEFAULT ? background_of(own) : theme_rgb(l->bg);
        if (own >= n || theme_contrast(theme_rgb(own), bg) < LEAST_CONTRAST)
            l->fg = readable_color(own, bg, n);
        if (own >= n && n == 8)
            l->attributes |= ATTRIBUTE_BOLD;
    }
}

static struct look look_of(const struct theme_entry *e, enum color_depth depth)
{
    struct look l = {e->fg, e->bg, e->attributes};
    if (depth == DEPTH_256)
        return l;
    bool had_bg = l.bg != COLOR_DEFAULT;
    l.bg = to_16(l.bg);
    if (l.bg == 0 && e->bg > 0 && theme_rgb(e->bg) != 0)
        l.bg = 8; /* a dark shade is not black, or the row would vanish on a black screen */
    if (depth == DEPTH_8)
        l.bg = background_to_8(l.bg);
    const bool same = had_bg && to_16(l.fg) == l.bg && e->fg != e->bg;
    text_of_fewer(&l, depth == DEPTH_8 ? 8 : 16);
    bool bg_lost = had_bg && (l.bg == COLOR_DEFAULT || l.fg == COLOR_DEFAULT);
    if (bg_lost || same) /* text must stay readable, rows distinct */
        l = (struct look){COLOR_DEFAULT, COLOR_DEFAULT,
                          (uint8_t)(e->attributes | ATTRIBUTE_REVERSE)};
    return l;
}

/* ---- backgrounds that a theme is not for */

struct plain {
    int16_t fg, bg;
};

/* The substitutes for the terminal's own colours. NULL: the theme can use those. */
static const struct plain *plain_of(const struct theme *t, enum color_depth depth)
{
    static const struct plain dark[] = {
        [DEPTH_8] = {7, 0}, [DEPTH_16] = {7, 0}, [DEPTH_256] = {252, 16}};
    static const struct plain light[] = {
        [DEPTH_8] = {0, 7}, [DEPTH_16] = {0, 15}, [DEPTH_256] = {16, 231}};
    if (t->suits == BACKGROUND_ANY || t->terminal == BACKGROUND_ANY || t->terminal == t->suits)
        return NULL;
    return t->suits == BACKGROUND_DARK ? &dark[depth] : &light[depth];
}

static void stand_in(const struct plain *plain, int16_t *fg, int16_t *bg)
{
    if (plain && *fg == COLOR_DEFAULT)
        *fg = plain->fg;
    if (plain && *bg == COLOR_DEFAULT)
        *bg = plain->bg;
}

struct look theme_look(const struct theme *t, enum style style, enum color_depth depth)
{
    struct theme_entry e = t->overridden[style] ? t->overrides[style] : t->entries[style];
    if (depth == DEPTH_NONE)
        return (struct look){COLOR_DEFAULT, COLOR_DEFAULT, e.mono};
    stand_in(plain_of(t, depth), &e.fg, &e.bg);
    struct look l = look_of(&e, depth);
    stand_in(plain_of(t, depth), &l.fg, &l.bg);
    return l;
}

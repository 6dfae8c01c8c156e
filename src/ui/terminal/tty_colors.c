/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tty_colors.h"

#include "beamtop/base/attr.h"

enum color_depth colors_begin(struct tty_colors *t, enum color_depth most)
{
    if (most == DEPTH_NONE || !has_colors() || start_color() == ERR || COLOR_PAIRS <= STYLES)
        return DEPTH_NONE;
    t->has_default = use_default_colors() == OK;
    enum color_depth depth = COLORS >= 256  ? DEPTH_256
                             : COLORS >= 16 ? DEPTH_16
                             : COLORS >= 8  ? DEPTH_8
                                            : DEPTH_NONE;
    return depth < most ? depth : most;
}

static short color_for(const struct tty_colors *t, int16_t color, short otherwise)
{
    return color == COLOR_DEFAULT && !t->has_default ? otherwise : color;
}

bool colors_set(struct tty_colors *t, const struct theme *theme, enum color_depth depth)
{
    if (t->theme == theme && t->generation == theme->generation && t->depth == depth)
        return false;
    t->depth = depth;
    t->theme = theme;
    t->generation = theme->generation;
    for (int i = 0; i < STYLES && depth != DEPTH_NONE; i++) {
        struct look look = theme_look(theme, (enum style)i, depth);
        init_pair((short)(i + 1), color_for(t, look.fg, COLOR_WHITE),
                  color_for(t, look.bg, COLOR_BLACK));
    }
    return true;
}

attr_t colors_attributes(struct look look)
{
    static const struct {
        uint8_t bit;
        attr_t attribute;
    } all[] = {{ATTRIBUTE_BOLD, A_BOLD},           {ATTRIBUTE_DIM, A_DIM},
               {ATTRIBUTE_UNDERLINE, A_UNDERLINE}, {ATTRIBUTE_REVERSE, A_REVERSE},
               {ATTRIBUTE_ITALIC, A_ITALIC},       {ATTRIBUTE_BLINK, A_BLINK}};
    attr_t attributes = A_NORMAL;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (look.attributes & all[i].bit)
            attributes |= all[i].attribute;
    return attributes;
}

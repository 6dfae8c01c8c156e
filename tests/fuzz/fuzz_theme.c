/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A theme file: every style has a look at every depth, within the depth's colours, and none of the
   terminal's own where its background is unknown. */
#include "beamtop/ui/theme.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int most[] = {
        [DEPTH_NONE] = -1, [DEPTH_8] = 7, [DEPTH_16] = 15, [DEPTH_256] = 255};
    struct theme theme;
    struct diags diags;
    theme_init(&theme);
    diags_init(&diags);
    theme_parse(&theme, "fuzz", (const char *)data, size, &diags);
    for (int n = 0; n < STYLES * (DEPTH_256 + 1) * (BACKGROUND_UNKNOWN + 1); n++) {
        const enum theme_background terminal =
            (enum theme_background)(n % (BACKGROUND_UNKNOWN + 1));
        const int depth = n / (BACKGROUND_UNKNOWN + 1) % (DEPTH_256 + 1);
        const enum style style = (enum style)(n / (BACKGROUND_UNKNOWN + 1) / (DEPTH_256 + 1));
        theme_set_terminal(&theme, terminal);
        struct look l = theme_look(&theme, style, (enum color_depth)depth);
        FUZZ_REQUIRE(l.fg >= COLOR_DEFAULT && l.fg <= most[depth]);
        FUZZ_REQUIRE(l.bg >= COLOR_DEFAULT && l.bg <= most[depth]);
        if (terminal == BACKGROUND_UNKNOWN && theme.suits != BACKGROUND_ANY && depth != DEPTH_NONE)
            FUZZ_REQUIRE(l.fg != COLOR_DEFAULT && l.bg != COLOR_DEFAULT);
    }
    diags_clear(&diags);
    return 0;
}

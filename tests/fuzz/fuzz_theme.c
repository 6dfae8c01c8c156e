/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A theme file: every style has a look at every depth, within the depth's colours. */
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
    for (int i = 0; i < STYLES; i++) {
        for (int depth = DEPTH_NONE; depth <= DEPTH_256; depth++) {
            struct look l = theme_look(&theme, (enum style)i, (enum color_depth)depth);
            FUZZ_REQUIRE(l.fg >= COLOR_DEFAULT && l.fg <= most[depth]);
            FUZZ_REQUIRE(l.bg >= COLOR_DEFAULT && l.bg <= most[depth]);
        }
    }
    diags_clear(&diags);
    return 0;
}

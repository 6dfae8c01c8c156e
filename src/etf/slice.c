/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/arena.h"
#include "beamtop/etf/term.h"

struct slice slice_keep(struct arena *arena, struct slice s)
{
    return (struct slice){arena_strndup(arena, s.s, s.len), s.len};
}

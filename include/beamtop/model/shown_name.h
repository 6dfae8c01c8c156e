/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names as the screen, tables of commands and findings show them: without "Elixir.". Commands and
 * patterns keep names as Erlang writes them, and so does what programs read. Pure. */
#ifndef BEAMTOP_MODEL_SHOWN_NAME_H
#define BEAMTOP_MODEL_SHOWN_NAME_H

#include "beamtop/base/arena.h"
#include "beamtop/base/slice.h"

/* 'Elixir.Shop.Cart':add/2 is Shop.Cart.add/2. Borrowed from the name, or in the arena. */
struct slice shown_name(struct arena *arena, struct slice name);
/* Each name of a text. */
struct slice shown_names(struct arena *arena, struct slice text);

#endif

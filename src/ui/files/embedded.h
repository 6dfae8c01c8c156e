/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text files of this layer that src/embed.sh put into the program. */
#ifndef BEAMTOP_UI_FILES_EMBEDDED_H
#define BEAMTOP_UI_FILES_EMBEDDED_H

#include "beamtop/base/embed.h"

extern const struct embedded embedded_themes[];
extern const struct embedded embedded_config[];

#endif

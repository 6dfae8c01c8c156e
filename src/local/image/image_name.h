/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEAMTOP_LOCAL_IMAGE_NAME_H
#define BEAMTOP_LOCAL_IMAGE_NAME_H

#include "beamtop/base/arena.h"
#include "beamtop/base/slice.h"

/*
 * The name as its author wrote it (C++, Rust), without parameters; else as it is. Kept there. One
 * that takes longer than 10 ms of CPU time stays as it is, and takes one from *slow: at 0 all do.
 * Thread: any; it uses SIGVTALRM, and sets its handler. */
struct slice image_demangle(struct arena *arena, const char *name, unsigned *slow);

#endif

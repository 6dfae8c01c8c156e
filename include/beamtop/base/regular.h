/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening files that others have chosen. */
#ifndef BEAMTOP_BASE_REGULAR_H
#define BEAMTOP_BASE_REGULAR_H

/*
 * Opens for reading the regular file that an O_PATH descriptor is of, and closes that one. -1 with
 * errno: it is something else (EINVAL), which is not opened, or it cannot be read. */
int regular_open(int place);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* File descriptors of this process. Any thread. */
#ifndef BEAMTOP_BASE_FILES_H
#define BEAMTOP_BASE_FILES_H

/* The soft limit becomes the hard one; programs that are started have it, too. */
void files_raise(void);

#endif

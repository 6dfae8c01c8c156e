/* SPDX-License-Identifier: GPL-3.0-or-later */
/* File descriptors of this process. Any thread. */
#ifndef BEAMTOP_BASE_FILES_H
#define BEAMTOP_BASE_FILES_H

/* Raises the soft limit to `most`, or to the hard one, which can be a thousand million: programs
 * that are started have it, too, and some close all descriptors up to it. It is never lowered. */
void files_raise(unsigned long most);

#endif

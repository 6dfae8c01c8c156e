/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file of -o: written beside its name, which it takes when it is complete. */
#ifndef BEAMTOP_APP_CLI_OUTPUT_FILE_H
#define BEAMTOP_APP_CLI_OUTPUT_FILE_H

#include <stdio.h>

#include "beamtop/base/error.h"

struct output_file {
    FILE *to;
    const char *name; /* as it was given; NULL: standard output */
    char *path;       /* the file itself, behind links; NULL: written in place */
    char *beside;
};

/* name is borrowed; NULL is standard output. What is not a regular file, or has a directory where
 * no file may be made, is written in place. Another user's file is not replaced where all may make
 * files. */
int output_file_open(struct output_file *f, const char *name, struct error *err);
/* Closes it. What stood there stays when `err` is set already, or writing failed. A reader of
 * standard output that closes early is not a failure. */
int output_file_close(struct output_file *f, struct error *err);

#endif

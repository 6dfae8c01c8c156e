/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines on standard error. What they name (nodes, paths, terms) may come from anywhere: control
 * characters, what turns text round and bytes that are not UTF-8 become U+FFFD. */
#ifndef BEAMTOP_APP_CLI_TELL_H
#define BEAMTOP_APP_CLI_TELL_H

#include <stdarg.h>
#include <stdio.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/error.h"

/* "beamtop: ", the text and the end of the line. */
void tell_line(const char *format, ...) ATTR_PRINTF(1, 2);
void tell_line_list(const char *format, va_list args) ATTR_PRINTF(1, 0);
/* The same of an error. Returns its exit code … */
int tell_error(const struct error *err);
/* … or EXIT_USAGE, whatever it is. */
int tell_usage(const struct error *err);
/* Replaces the line before, which has no end. */
void tell_progress(const char *format, ...) ATTR_PRINTF(1, 2);
/* Only the text, to any file. Line feeds stay. */
void tell_to(FILE *to, const char *format, ...) ATTR_PRINTF(2, 3);

#endif

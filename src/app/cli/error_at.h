/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An error in a text of the user, with a caret under the byte where it is. */
#ifndef BEAMTOP_APP_CLI_ERROR_AT_H
#define BEAMTOP_APP_CLI_ERROR_AT_H

#include <stddef.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/trace/pattern.h"

/* Three lines: the error, the text, a caret. Of a text of many lines only the error. */
void error_at_put(struct buf *out, const char *text, size_t offset, const struct error *err);
void error_at_print(const char *text, size_t offset, const struct error *err); /* to stderr */

/* Checks patterns of a command line, and processes (NULL is fine), before anything is asked: the
   exit code; what is wrong is printed. */
int error_at_patterns(const char *const *texts, size_t n, enum syntax syntax,
                      pattern_check_fn *check);
int error_at_procs(const char *who);

#endif

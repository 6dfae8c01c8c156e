/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of native asks: bare terms, checked, borrowed. What is of another form is refused. Pure.
 */
#ifndef BEAMTOP_QUERY_VALUES_H
#define BEAMTOP_QUERY_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/cursor.h"

struct cursor values_cursor(struct slice term);
/* The elements of a list of n or more, the first n. */
bool values_read_list(struct slice term, struct slice *out, size_t n);
/* The first n elements of a tuple of `arity`. */
bool values_read_tuple(struct slice term, size_t arity, struct slice *out, size_t n);
bool values_read_integer(struct slice term, int64_t *out);
/* A list of characters, a thousand at most, as UTF-8. */
bool values_put_chars(struct buf *out, struct slice term);
/* Of system_info(system_version), "… [jit:ns]": OTP 24 brought the JIT. */
bool values_is_jit(struct slice version);

void values_build(struct builder *b, struct slice term);

#endif

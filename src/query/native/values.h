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
#include "beamtop/etf/print.h"

struct cursor values_cursor(struct slice term); /* len 0: at its end */
/* Enters a list of n terms; false: it is none, or one of bytes. */
bool values_enter_list(struct slice term, struct cursor *c, size_t *n);
/* The elements of a list of n or more, the first n. */
bool values_read_list(struct slice term, struct slice *out, size_t n);
/* The first n elements of a tuple of `arity`. */
bool values_read_tuple(struct slice term, size_t arity, struct slice *out, size_t n);
bool values_read_integer(struct slice term, int64_t *out);
int64_t values_count(struct slice term); /* 0 to VALUES_MOST; -1: it is another term */
/* The value of {Key, Value}; len 0: it is another term. */
struct slice values_of_pair(struct slice pair, const char *key);
/* Of [{Node, Port}], of system_info(dist_ctrl), the first `most`, but those to beamtops; a
 * connection by TLS has a process, and is left out. */
size_t values_read_ports(struct slice controllers, struct slice *nodes, struct slice *ports,
                         size_t most);
/* The value of a key in a list of pairs, such as process_info/2 gives; len 0: it is not there. */
struct slice values_find(struct slice list, const char *key);
/* The same of a map; the key is an atom. */
struct slice values_find_in_map(struct slice map, const char *key);
/* As values_find(), of an integer of VALUES_MOST at most; else -1. */
int64_t values_find_integer(struct slice list, const char *key);
/* More than a process can have done, or hold. */
#define VALUES_MOST (INT64_C(1) << 50)
/* The sum, VALUES_MOST at most; what is below 0, so unknown, counts nothing. */
int64_t values_add(int64_t sum, int64_t n);
/* µs from one clock to a later one, in ns; 0: it is not later. */
double values_between_us(int64_t from_ns, int64_t until_ns);
/* A list of characters, a thousand at most, as UTF-8. */
bool values_put_chars(struct buf *out, struct slice term);
/* Of system_info(system_version), "… [jit:ns]": OTP 24 brought the JIT. */
bool values_is_jit(struct slice version);

void values_build(struct builder *b, struct slice term);
void values_build_known(struct builder *b, struct slice term); /* len 0: `undefined` */
void values_build_words(struct builder *b, const char *text);  /* NULL: `undefined` */
/* The term as Erlang writes it, a text. */
void values_build_printed(struct builder *b, struct slice term, const struct print_limits *limits);
/* known false: `undefined` */
void values_build_pid(struct builder *b, const char *node, bool known, const struct etf_pid *pid);

#endif

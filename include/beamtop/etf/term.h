/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The external term format's tags and the few composite values that are kept by value. Source: OTP,
 * erts/doc "External Term Format". */
#ifndef BEAMTOP_ETF_TERM_H
#define BEAMTOP_ETF_TERM_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/slice.h"

#include "beamtop/base/limits.h"

enum etf_tag {
    ETF_VERSION = 131,
    ETF_RECORD = 67, /* a native record, OTP 29 */
    ETF_NEW_FLOAT = 70,
    ETF_BIT_BINARY = 77,
    ETF_COMPRESSED = 80,     /* refused: not used on connections */
    ETF_ATOM_CACHE_REF = 82, /* expanded by src/link; refused elsewhere */
    ETF_NEW_PID = 88,
    ETF_NEW_PORT = 89,
    ETF_NEWER_REFERENCE = 90,
    ETF_SMALL_INTEGER = 97,
    ETF_INTEGER = 98,
    ETF_FLOAT = 99,
    ETF_ATOM_LATIN1 = 100,
    ETF_REFERENCE = 101,
    ETF_PORT = 102,
    ETF_PID = 103,
    ETF_SMALL_TUPLE = 104,
    ETF_LARGE_TUPLE = 105,
    ETF_NIL = 106,
    ETF_STRING = 107,
    ETF_LIST = 108,
    ETF_BINARY = 109,
    ETF_SMALL_BIG = 110,
    ETF_LARGE_BIG = 111,
    ETF_NEW_FUN = 112,
    ETF_EXPORT = 113,
    ETF_NEW_REFERENCE = 114,
    ETF_SMALL_ATOM_LATIN1 = 115,
    ETF_MAP = 116,
    ETF_ATOM_UTF8 = 118,
    ETF_SMALL_ATOM_UTF8 = 119,
    ETF_V4_PORT = 120,
};

/* A process identifier without its node's name. */
struct etf_pid {
    uint32_t id;
    uint32_t serial;
    uint32_t creation;
};
/* As its own node prints it, for printf: a format and its arguments. */
#define PID_FORMAT "<0.%" PRIu32 ".%" PRIu32 ">"
#define PID_NUMBERS(pid) (pid)->id, (pid)->serial

/* A reference without its node's name. */
struct etf_ref {
    uint32_t creation, words[5];
    uint32_t n; /* words that count: 1 to 5 */
};

/* One that was typed, or is a finding's, has no creation: it is of the node's present life. */
static inline bool pid_same(const struct etf_pid *a, const struct etf_pid *b)
{
    return a->id == b->id && a->serial == b->serial &&
           (a->creation == b->creation || !a->creation || !b->creation);
}

#endif

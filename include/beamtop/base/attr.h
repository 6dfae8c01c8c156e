/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiler attributes: the only place that names them. */
#ifndef BEAMTOP_BASE_ATTR_H
#define BEAMTOP_BASE_ATTR_H

#define ATTR_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define ATTR_MUST_USE __attribute__((warn_unused_result))
#define ATTR_NORETURN __attribute__((noreturn))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif

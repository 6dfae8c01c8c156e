/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The targets of SRV records in an answer of DNS. The bytes may be anyone's. Pure. */
#ifndef BEAMTOP_LINK_DNS_SRV_H
#define BEAMTOP_LINK_DNS_SRV_H

#include <stddef.h>
#include <stdint.h>

#define SRV_TARGET_BYTES 254 /* as text, with its end */

/* Calls take for each target that is a host's name, in order, without a dot at its end, until it
 * returns other than 0. Returns 0, or -1: the answer breaks off or is none; what came before was
 * taken. */
int srv_each(const uint8_t *message, size_t len, int (*take)(void *arg, const char *target),
             void *arg);

#endif

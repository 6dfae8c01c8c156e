/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes have answered in TLS, so that the next connection begins with it. In memory, for the
 * life of the program; the loop's thread. Private to the layer. */
#ifndef BEAMTOP_LINK_TLS_KNOWN_H
#define BEAMTOP_LINK_TLS_KNOWN_H

#include <stdbool.h>

bool tls_is_known(const char *node);
/* LIMIT_TLS_KNOWN nodes at most: the oldest makes room. */
void tls_remember(const char *node, bool by_tls);

#endif

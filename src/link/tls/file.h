/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of certificates and options. Private to the layer. */
#ifndef BEAMTOP_LINK_TLS_FILE_H
#define BEAMTOP_LINK_TLS_FILE_H

#include <stddef.h>

/* All of an open file, which it closes, and of a longer one LIMIT_TLS_FILE_BYTES + 1. 0 or an errno
 * value. *text, with a NUL behind, is to be freed in any case, by alloc_free_wiped(). */
int tls_file_read(int fd, char **text, size_t *len);

#endif

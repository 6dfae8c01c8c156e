/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file.h"

#include <errno.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"

int tls_file_read(int fd, char **text, size_t *len)
{
    ssize_t n = 0;
    *text = alloc_zero(1, LIMIT_TLS_FILE_BYTES + 2);
    *len = 0;
    while (*len <= LIMIT_TLS_FILE_BYTES &&
           (n = read(fd, *text + *len, LIMIT_TLS_FILE_BYTES + 1 - *len)) > 0)
        *len += (size_t)n;
    const int why = n < 0 ? errno : 0;
    close(fd);
    return why;
}

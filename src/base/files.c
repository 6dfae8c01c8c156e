/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/files.h"

#include <sys/resource.h>

void files_raise(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

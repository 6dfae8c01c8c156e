/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/files.h"

#include <sys/resource.h>

void files_raise(unsigned long most)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= most)
        return;
    files.rlim_cur = files.rlim_max < most ? files.rlim_max : most;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

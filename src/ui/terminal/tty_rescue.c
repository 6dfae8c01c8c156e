/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Giving a terminal back from within a signal handler. */
#include <errno.h>
#include <termios.h>
#include <unistd.h>

#include "beamtop/ui/tty.h"

void tty_rescue_now(const struct tty_rescue *rescue)
{
    if (!rescue->armed)
        return;
    int saved_errno = errno;
    for (size_t done = 0; done < rescue->len;) {
        ssize_t n = write(rescue->fd, rescue->bytes + done, rescue->len - done);
        if (n < 0 && errno != EINTR)
            break;
        if (n > 0)
            done += (size_t)n;
    }
    tcsetattr(rescue->fd, TCSANOW, &rescue->saved);
    errno = saved_errno;
}

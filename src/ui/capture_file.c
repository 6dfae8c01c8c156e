/* Captures on disk: whole or not at all. */
#include "beamtop/ui/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"

static int write_all(int fd, const struct buf *content)
{
    for (size_t done = 0; done < content->len;) {
        ssize_t n = write(fd, content->data + done, content->len - done);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0)
            done += (size_t)n;
    }
    return fsync(fd) < 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

/* link() does not replace; where a file system has none, a look before rename() has to do. */
static int put_in_place(const char *temporary, const char *path, bool replace)
{
    if (replace)
        return rename(temporary, path) < 0 ? errno : 0;
    if (link(temporary, path) == 0) {
        unlink(temporary);
        return 0;
    }
    if (errno == EEXIST)
        return EEXIST;
    struct stat st;
    if (lstat(path, &st) == 0)
        return EEXIST;
    return rename(temporary, path) < 0 ? errno : 0;
}

int capture_write(const char *path, const struct buf *content, bool replace, struct error *err)
{
    if (content->overflow)
        return error_set(err, ERR_LIMIT, "%s would be larger than a capture may be", path);
    char *temporary = alloc_printf("%s.XXXXXX", path);
    int rc = 0;
    int fd = mkstemp(temporary);
    if (fd < 0) {
        rc = error_set_errno(err, errno, "%s cannot be written", path);
        goto out;
    }
    int failed = write_all(fd, content);
    mode_t mask = umask(0);
    umask(mask);
    if (!failed && fchmod(fd, 0666 & ~mask) < 0)
        failed = errno;
    if (close(fd) < 0 && !failed)
        failed = errno;
    if (!failed)
        failed = put_in_place(temporary, path, replace);
    if (failed)
        unlink(temporary);
    if (failed == EEXIST)
        rc = error_set(err, ERR_REFUSED, "%s is there already: give another name", path);
    else if (failed)
        rc = error_set_errno(err, failed, "%s cannot be written", path);
out:
    free(temporary);
    return rc;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-_.@", c) != NULL;
}

void capture_name(struct buf *out, const char *dir, const char *what, int64_t wall_us,
                  enum capture_format format)
{
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm tm;
    char when[32] = "";
    if (localtime_r(&seconds, &tm))
        strftime(when, sizeof when, "%Y%m%d-%H%M%S", &tm);
    buf_printf(out, "%s/beamtop-", dir[0] != '\0' ? dir : ".");
    for (size_t i = 0; what[i] && i < 100; i++)
        buf_put_u8(out, (uint8_t)(is_plain(what[i]) ? what[i] : '_'));
    buf_printf(out, "-%s.%s", when, capture_suffix(format));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A crash dump that is being written: the VM has it open. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "outside_file.h"

#define LINK_BYTES 4096

static bool read_link(int dir, const char *name, char *out, size_t size)
{
    const ssize_t n = readlinkat(dir, name, out, size - 1);
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* The value of ERL_CRASH_DUMP, where the VM was started with one; "": it was not, or that may not
 * be read. */
static void read_dump_name(int dir, char *out, size_t size)
{
    static const char key[] = "ERL_CRASH_DUMP=";
    char *text = alloc_zero(LIMIT_PROC_CMDLINE_BYTES, 1);
    const int fd = openat(dir, "environ", O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n = 0;
    while (fd >= 0 && len < LIMIT_PROC_CMDLINE_BYTES - 1 &&
           (n = read(fd, text + len, LIMIT_PROC_CMDLINE_BYTES - 1 - len)) > 0)
        len += (size_t)n;
    if (fd >= 0)
        close(fd);
    out[0] = '\0';
    for (const char *at = text; at < text + len && out[0] == '\0'; at += strlen(at) + 1)
        if (strncmp(at, key, sizeof key - 1) == 0)
            snprintf(out, size, "%s", at + sizeof key - 1);
    explicit_bzero(text, len); /* a cookie may be among the rest */
    free(text);
}

static bool is_written(int dir, const char *fd)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "fdinfo/%.20s", fd);
    if (!outside_file(dir, path, text, sizeof text))
        return false;
    const char *flags = strstr(text, "flags:");
    return flags && (strtol(flags + strlen("flags:"), NULL, 8) & O_ACCMODE) != O_RDONLY;
}

/* A device (ERL_CRASH_DUMP=/dev/null) keeps nothing, and many have it open. */
static bool take_dump(struct outside *o, int fds, const char *fd, const char *link)
{
    struct stat st;
    if (fstatat(fds, fd, &st, 0) != 0 || (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)))
        return false;
    const size_t len = strlen(link), most = sizeof o->dump_path - 1;
    snprintf(o->dump_path, sizeof o->dump_path, "%.255s", link + (len > most ? len - most : 0));
    o->dump = OUTSIDE_DUMP_WRITING;
    o->dump_regular = S_ISREG(st.st_mode);
    o->dump_bytes = o->dump_regular ? st.st_size : -1;
    return true;
}

static void find_dump(struct outside *o, int dir, DIR *fds)
{
    char link[LINK_BYTES], dump[LINK_BYTES], cwd[LINK_BYTES];
    int n = 0;
    read_dump_name(dir, dump, sizeof dump);
    (void)read_link(dir, "cwd", cwd, sizeof cwd);
    o->dump = OUTSIDE_DUMP_NONE;
    for (const struct dirent *e = readdir(fds); e && n < LIMIT_PROC_FDS; e = readdir(fds), n++)
        if (read_link(dirfd(fds), e->d_name, link, sizeof link) &&
            outside_is_dump(link, dump, cwd) && is_written(dir, e->d_name) &&
            take_dump(o, dirfd(fds), e->d_name, link))
            return;
}

static int64_t read_written(int dir)
{
    char text[512];
    return outside_file(dir, "io", text, sizeof text) ? outside_parse_key(text, "wchar: ") : -1;
}

void outside_read_dump(struct outside *o, int dir, double period_s)
{
    const bool was = o->dump == OUTSIDE_DUMP_WRITING && o->dump_regular;
    const int64_t size_before = o->dump_bytes, written_before = o->written_bytes;
    const int at = openat(dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *fds = at >= 0 ? fdopendir(at) : NULL;
    o->dump = OUTSIDE_DUMP_UNKNOWN;
    o->dump_per_s = NAN;
    if (!fds) {
        if (at >= 0)
            close(at);
        return;
    }
    find_dump(o, dir, fds);
    closedir(fds);
    o->written_bytes = read_written(dir);
    if (o->dump != OUTSIDE_DUMP_WRITING || !(period_s > 0))
        return;
    if (o->dump_regular && was)
        o->dump_per_s = (double)(o->dump_bytes - size_before) / period_s;
    else if (!o->dump_regular && o->written_bytes >= 0 && written_before >= 0)
        o->dump_per_s = (double)(o->written_bytes - written_before) / period_s;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"

/* The name that the file takes in the end; NULL: it is written in place. */
static char *final_path(const char *name, struct stat *before)
{
    struct stat link;
    if (stat(name, before) == 0)
        return S_ISREG(before->st_mode) ? realpath(name, NULL) : NULL;
    before->st_mode = 0;
    return lstat(name, &link) != 0 && errno == ENOENT ? alloc_strdup(name) : NULL;
}

/* Where all may make files, as in /tmp: somebody else made one of that name, who would get what is
 * written. */
static bool is_planted(const char *path, uid_t owner)
{
    struct stat directory;
    char *parent = alloc_strdup(path), *slash = strrchr(parent, '/');
    const char *in = slash == parent ? "/" : slash ? parent : ".";
    if (slash)
        *slash = '\0';
    const bool known = stat(in, &directory) == 0;
    free(parent);
    return known && directory.st_mode & S_ISVTX && directory.st_mode & (S_IWGRP | S_IWOTH) &&
           owner != geteuid() && owner != directory.st_uid;
}

/* The link that has the name, or the file, where it was looked at before. */
static bool is_anothers(const struct output_file *f, const struct stat *before)
{
    struct stat link;
    return (lstat(f->name, &link) == 0 && is_planted(f->name, link.st_uid)) ||
           (before->st_mode != 0 && is_planted(f->path ? f->path : f->name, before->st_uid));
}

/* With the owner and the rights of the file that it replaces. */
static FILE *open_temporary(struct output_file *f, const struct stat *before)
{
    f->beside = alloc_printf("%s.%ld.tmp", f->path, (long)getpid());
    int fd = open(f->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
    const int why = errno;
    if (fd >= 0 && before->st_mode != 0 &&
        (fchown(fd, before->st_uid, before->st_gid) != 0 ||
         fchmod(fd, before->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)) != 0))
        errno = why; /* then they are those of a new file */
    return to;
}

static void forget_paths(struct output_file *f)
{
    free(f->path);
    free(f->beside);
    f->path = f->beside = NULL;
}

int output_file_open(struct output_file *f, const char *name, struct error *err)
{
    struct stat before = {0};
    *f = (struct output_file){.to = stdout, .name = name};
    if (!name)
        return 0;
    f->path = final_path(name, &before);
    if (is_anothers(f, &before)) {
        forget_paths(f);
        return error_set(err, ERR_REFUSED,
                         "%s is another user's, in a directory where all may make files: choose "
                         "another name, or remove it",
                         name);
    }
    f->to = f->path ? open_temporary(f, &before) : NULL;
    if (!f->to && (!f->path || (before.st_mode != 0 && (errno == EACCES || errno == EPERM)))) {
        forget_paths(f);
        f->to = fopen(name, "we");
    }
    if (f->to)
        return 0;
    error_set_errno(err, errno, "%s cannot be written", name);
    forget_paths(f);
    return (int)err->code;
}

int output_file_close(struct output_file *f, struct error *err)
{
    bool failed = fflush(f->to) != 0 || ferror(f->to);
    int why = errno;
    if (f->name && fclose(f->to) != 0 && !failed) {
        failed = true;
        why = errno;
    }
    if (!failed && err->code == ERR_NONE && f->path && rename(f->beside, f->path) != 0) {
        failed = true;
        why = errno;
    }
    if (f->path && (failed || err->code != ERR_NONE))
        unlink(f->beside);
    forget_paths(f);
    if (!failed || err->code != ERR_NONE || (!f->name && why == EPIPE))
        return (int)err->code;
    return f->name ? error_set_errno(err, why, "%s cannot be written", f->name)
                   : error_set_errno(err, why, "write error");
}

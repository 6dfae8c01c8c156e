/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `beamtop perf-map`: the compiled functions of a VM as its `+JPperf map` writes them. perf(1)
 * reads it from /tmp of the process and by the pid that the process has there. Root writes only
 * into the /tmp and under the pid that it has in common with the VM. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/output_file.h"
#include "app/cli/tell.h"
#include "beamtop/base/text.h"
#include "beamtop/local/rights.h"
#include "local_read.h"
#include "app/search/local_target.h"
#include "map_file.h"

enum { NAME_BYTES = 64 };

/* What is printed is safe: names come from the memory of another process. */
static void put_map(struct buf *out, const struct jit *j, const void *arg)
{
    (void)arg;
    for (size_t i = 0; i < jit_count(j); i++) {
        const struct jit_function *f = jit_function(j, i);
        buf_printf(out, "0x%" PRIx64 " %" PRIx64 " $", f->start, f->end - f->start);
        text_put_safe(out, f->name.s, f->name.len, false);
        buf_puts(out, f->prologue ? "-CodeInfoPrologue\n" : "\n");
    }
}

/* ---- the file */

/* /tmp as the process sees it, which is not a link; -1: none. */
static int open_tmp(pid_t pid)
{
    char path[NAME_BYTES];
    const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                                 .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS};
    snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -1;
    int tmp = (int)syscall(SYS_openat2, root, "tmp", &how, sizeof how);
    if (tmp < 0 && errno == ENOSYS)
        tmp = openat(root, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int why = errno;
    close(root);
    errno = why;
    return tmp;
}

/* The pid that the process has in its own namespace: the last number behind NSpid. */
static pid_t own_pid(pid_t pid)
{
    char line[256], path[NAME_BYTES];
    pid_t own = pid;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        const char *last = strrchr(line, '\t');
        if (strncmp(line, "NSpid:", 6) == 0 && last && atoi(last) > 0)
            own = (pid_t)atoi(last);
    }
    if (f)
        fclose(f);
    return own;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_our_tmp(int dir)
{
    struct stat theirs, ours;
    return fstat(dir, &theirs) == 0 && stat("/tmp", &ours) == 0 && same_file(&theirs, &ours);
}

static bool is_in_our_pids(pid_t pid)
{
    char path[NAME_BYTES];
    struct stat theirs, ours;
    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    return stat(path, &theirs) == 0 && stat("/proc/self/ns/pid", &ours) == 0 &&
           same_file(&theirs, &ours);
}

/* Nobody but root can take away or replace another's file there. */
static bool is_roots(int dir)
{
    struct stat st;
    return fstat(dir, &st) == 0 && st.st_uid == 0 &&
           ((st.st_mode & S_ISVTX) || !(st.st_mode & (S_IWGRP | S_IWOTH)));
}

/* Root's, or the VM's own: nobody else can put another one in its place. */
static bool may_replace(const struct stat *st, pid_t pid)
{
    struct rights_user user;
    struct error ignored = {0};
    return st->st_uid == 0 || (rights_read(&user, pid, &ignored) == 0 && user.uid == st->st_uid);
}

/* Why root must not write the map, or NULL. Whoever started the VM chose where its /tmp leads,
 * its pid in a private namespace, and the names in the map. *replace: a file of that name may be
 * replaced. */
static const char *why_not(int dir, const char *name, pid_t pid, bool *replace)
{
    struct stat st;
    *replace = geteuid() != 0;
    if (*replace)
        return NULL;
    if (!is_our_tmp(dir))
        return "the VM has another /tmp, which its user may have chosen";
    if (!is_in_our_pids(pid))
        return "the VM has another PID namespace, whose numbers its user may have chosen";
    if (!is_roots(dir))
        return "/tmp is not root's, or not sticky";
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return NULL;
    *replace = may_replace(&st, pid);
    return *replace ? NULL : "a file of another user has that name";
}

static int write_for_perf(const struct buf *text, size_t functions, pid_t pid, struct error *err)
{
    char name[NAME_BYTES], prefix[NAME_BYTES] = "";
    snprintf(name, sizeof name, "perf-%d.map", (int)own_pid(pid));
    int dir = open_tmp(pid);
    if (dir < 0 || !is_our_tmp(dir))
        snprintf(prefix, sizeof prefix, "/proc/%d/root", (int)pid);
    bool replace = false;
    const char *why = dir < 0 ? NULL : why_not(dir, name, pid, &replace);
    if (why)
        error_set(err, ERR_REFUSED,
                  "root does not write %s/tmp/%s: %s. -o FILE writes the map elsewhere", prefix,
                  name, why);
    else if (dir < 0 || map_file_put(dir, name, text, replace) != 0)
        error_set_errno(err, errno, "%s/tmp/%s cannot be written (-o FILE writes elsewhere)",
                        prefix, name);
    else
        tell_line("%zu functions in %s/tmp/%s", functions, prefix, name);
    if (dir >= 0)
        close(dir);
    return err->code;
}

static int write_map_file(const struct buf *text, const char *path, struct error *err)
{
    struct output_file out;
    if (output_file_open(&out, path, err) == 0) {
        if (text->len > 0)
            fwrite(text->data, 1, text->len, out.to);
        (void)output_file_close(&out, err);
    }
    return err->code;
}

int command_perf_map(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct buf text;
    size_t functions = 0;
    pid_t pid = 0;
    int code = EXIT_DONE;
    buf_init(&text, 0);
    int rc = local_target_find(&pid, o->target, o, env, &err);
    if (rc == 0)
        rc = local_read(&text, pid, put_map, NULL, &err);
    for (size_t i = 0; i < text.len; i++)
        functions += text.data[i] == '\n';
    if (rc == 0 && !o->output)
        rc = write_for_perf(&text, functions, pid, &err);
    else if (rc == 0 && strcmp(o->output, "-") == 0)
        code = output_put(&text);
    else if (rc == 0)
        rc = write_map_file(&text, o->output, &err);
    if (rc != 0)
        code = tell_error(&err);
    buf_clear(&text);
    return code;
}

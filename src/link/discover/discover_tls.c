/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates of a VM of this host: of the files that its arguments and its optfile name. */
#include "beamtop/link/discover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "link/tls/optfile.h"
#include "link/proc.h"

struct look {
    struct proc proc;
    const struct discover_vm *vm;
    char optfile[TLS_PATH_BYTES]; /* "" not given */
    struct tls_options options;
    struct error *why;
};

static void wipe_text(char *text, size_t len)
{
    if (text)
        explicit_bzero(text, len);
    free(text);
}

/* ---- files, as the VM sees them */

/* A path that is relative is so to the directory of the VM, which can be named in our root only. */
static bool full_path(const struct look *l, const char *path, char *out, size_t size)
{
    char dir[TLS_PATH_BYTES];
    if (path[0] == '/') {
        snprintf(out, size, "%s", path);
        return true;
    }
    const ssize_t n = readlinkat(l->proc.dir, "cwd", dir, sizeof dir - 1);
    if (n <= 0 || (size_t)n == sizeof dir - 1 || !proc_link_is(&l->proc, "root", "/"))
        return false;
    dir[n] = '\0';
    snprintf(out, size, "%s/%s", dir, path);
    return true;
}

/*
 * As with cookies: whoever starts a VM chooses what its arguments name, so another user than that
 * of the VM reads only files that belong to it. */
static bool may_read(const struct look *l, int fd)
{
    struct stat st;
    return l->vm->uid == geteuid() || (fstat(fd, &st) == 0 && st.st_uid == l->vm->uid);
}

static int read_inside(const struct look *l, const char *path, char **text, size_t *len)
{
    char whole[2 * TLS_PATH_BYTES + 2];
    const int fd = full_path(l, path, whole, sizeof whole) ? proc_open_inside(&l->proc, whole) : -1;
    ssize_t n = 0;
    if (fd < 0)
        return error_set(l->why, ERR_NOT_FOUND, "%.300s cannot be read", path);
    if (!may_read(l, fd)) {
        close(fd);
        return error_set(l->why, ERR_REFUSED,
                         "%.300s belongs to another user than the node, so beamtop does not read "
                         "it for you",
                         path);
    }
    *text = alloc_zero(1, LIMIT_TLS_FILE_BYTES + 1);
    while (*len <= LIMIT_TLS_FILE_BYTES &&
           (n = read(fd, *text + *len, LIMIT_TLS_FILE_BYTES + 1 - *len)) > 0)
        *len += (size_t)n;
    close(fd);
    if (n < 0 || *len == 0 || *len > LIMIT_TLS_FILE_BYTES)
        return error_set(l->why, ERR_LIMIT, "%.300s is empty, or longer than 1 MiB", path);
    return 0;
}

static int read_optfile(struct look *l)
{
    char *text = NULL;
    size_t len = 0;
    int rc = read_inside(l, l->optfile, &text, &len);
    if (rc == 0)
        rc = tls_options_parse(&l->options, text, len, l->why);
    wipe_text(text, len);
    if (rc == ERR_FORMAT)
        error_context(l->why, "%.300s", l->optfile);
    return rc;
}

/* ---- its arguments */

static void take_arguments(struct look *l, const struct proc_strings *cmdline)
{
    const char *flag = "";
    for (const char *at = proc_strings_next(cmdline, NULL); at;
         at = proc_strings_next(cmdline, at)) {
        if (strcmp(at, "-extra") == 0)
            return;
        if (at[0] == '-') {
            flag = at;
        } else if (strcmp(flag, "-ssl_dist_optfile") == 0) {
            snprintf(l->optfile, sizeof l->optfile, "%s", at);
        } else if (strcmp(flag, "-ssl_dist_opt") == 0) {
            const char *value = proc_strings_next(cmdline, at);
            if (!value || value[0] == '-')
                continue;
            tls_options_take(&l->options, at, value);
            at = value;
        }
    }
}

static int read_arguments(struct look *l)
{
    struct proc_strings cmdline = {0};
    uid_t uid = 0;
    bool one_user = false;
    if (!proc_user(&l->proc, &uid, &one_user) || !proc_read_strings(&l->proc, "cmdline", &cmdline))
        return error_set(l->why, ERR_NOT_FOUND, "its OS process cannot be read");
    take_arguments(l, &cmdline);
    proc_strings_clear(&cmdline);
    if (!one_user || uid != l->vm->uid)
        return error_set(l->why, ERR_REFUSED, "it runs as several users");
    return 0;
}

/* ---- what a client of it shows */

static int load_section(struct look *l, struct tls_context **out)
{
    const struct tls_options *o = &l->options;
    const struct tls_section *s = o->client.cert[0] ? &o->client : &o->server;
    const char *cacert = o->client.cacert[0] ? o->client.cacert : o->server.cacert;
    char *texts[3] = {0};
    size_t sizes[3] = {0};
    const char *const paths[3] = {s->cert, s->key, cacert};
    int rc = 0;
    if (!s->cert[0] && (o->client.is_inline || s->is_inline))
        return error_set(l->why, ERR_NOT_FOUND, "its certificates are not in files");
    if (!s->cert[0] && !cacert[0])
        return 0;
    for (size_t i = 0; rc == 0 && i < 3; i++)
        if (paths[i][0])
            rc = read_inside(l, paths[i], &texts[i], &sizes[i]);
    const struct tls_material m = {
        .cert = {texts[0], sizes[0]},
        .key = {texts[1], sizes[1]},
        .cacert = {texts[2], sizes[2]},
        .password = s->password[0] ? s->password : NULL,
        .verify = o->client.verify_peer ? TLS_VERIFY_CA : TLS_VERIFY_NONE,
    };
    if (rc == 0)
        rc = tls_context_new(out, &m, "its files of certificates", l->why);
    for (size_t i = 0; i < 3; i++)
        wipe_text(texts[i], sizes[i]);
    return rc;
}

int discover_tls(struct tls_context **out, const struct discover_vm *vm,
                 const struct discover_options *o, struct error *why)
{
    char pid[16];
    *out = NULL;
    if (vm->pid == 0)
        return 0;
    struct look *l = alloc_zero(1, sizeof *l);
    l->vm = vm;
    l->why = why;
    snprintf(pid, sizeof pid, "%d", (int)vm->pid);
    int rc = proc_open(&l->proc, o->proc_root ? o->proc_root : "/proc", pid);
    rc = rc != 0 ? error_set(why, ERR_NOT_FOUND, "its OS process is gone") : read_arguments(l);
    if (rc == 0 && l->optfile[0])
        rc = read_optfile(l);
    if (rc == 0)
        rc = load_section(l, out);
    proc_close(&l->proc);
    explicit_bzero(l, sizeof *l);
    free(l);
    return rc;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates of a VM of this host: of the files that its arguments and its optfile name. */
#include "beamtop/link/discover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "as_user.h"
#include "link/tls/file.h"
#include "link/tls/optfile.h"
#include "link/proc.h"

#define NOT_THERE "its OS process has ended"
#define LOOK_GONE 1

struct look {
    struct proc proc;
    uid_t uid;
    int root;                     /* of the VM; -1 with root_error */
    int root_error;               /* an errno value */
    char status[8192];            /* its file of /proc */
    char optfile[TLS_PATH_BYTES]; /* "" not given */
    struct tls_options options;
    struct error *why;
};

/* A VM to look at for each connection, and its name for when it has been started again. */
struct vm_source {
    struct tls_source source; /* first */
    pid_t pid;
    uid_t uid;
    char node[LIMIT_NODE_NAME_BYTES + 1];
    const char *proc_root;
};

/* ---- files, as the VM sees them */

/* A path that is relative is so to the directory of the VM, whose name has that of its root in
 * front unless this is a mount of its namespace. */
static bool full_path(const struct look *l, const char *path, char *out, size_t size)
{
    char dir[TLS_PATH_BYTES], root[TLS_PATH_BYTES];
    if (path[0] == '/') {
        snprintf(out, size, "%s", path);
        return true;
    }
    if (!proc_read_link(&l->proc, "cwd", dir, sizeof dir) ||
        !proc_read_link(&l->proc, "root", root, sizeof root))
        return false;
    const size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(dir, root, len) != 0 || (dir[len] != '/' && dir[len] != '\0'))
        return false;
    snprintf(out, size, "%s/%s", dir + len, path);
    return true;
}

/* As the user of the VM, whoever runs beamtop: with the rights of another one, root above all, a
 * VM's flags could name any file. -1 with errno. */
static int open_for_vm(const struct look *l, const char *path)
{
    char whole[2 * TLS_PATH_BYTES + 2];
    struct as_user rights;
    errno = l->root_error;
    if (l->root < 0)
        return -1;
    errno = ENOENT;
    if (!full_path(l, path, whole, sizeof whole))
        return -1;
    errno = as_user_begin(&rights, l->uid, l->status);
    if (errno != 0)
        return -1;
    const int fd = proc_open_below(l->root, whole);
    const int why = errno;
    as_user_end(&rights);
    errno = why;
    return fd;
}

static int fail_unread(const struct look *l, const char *path, int why)
{
    if (l->root < 0 && (why == EACCES || why == EPERM))
        return error_set(l->why, ERR_REFUSED,
                         "%.300s cannot be read: only root and the node's user (uid %lu) can", path,
                         (unsigned long)l->uid);
    if (why == EPERM)
        return error_set(l->why, ERR_REFUSED,
                         "%.300s is not read with root's rights, and beamtop may not take those of "
                         "the node's user (uid %lu): it lacks CAP_SETUID or CAP_SETGID",
                         path, (unsigned long)l->uid);
    return error_set(l->why, ERR_NOT_FOUND, "%.300s cannot be read%s: %s", path,
                     l->uid == geteuid() ? "" : " by the node's user",
                     why == EINVAL ? "it is not a file" : strerror(why));
}

static int read_inside(const struct look *l, const char *path, char **text, size_t *len)
{
    const int fd = open_for_vm(l, path);
    if (fd < 0)
        return fail_unread(l, path, errno);
    const int why = tls_file_read(fd, text, len);
    if (why != 0 || *len == 0 || *len > LIMIT_TLS_FILE_BYTES)
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
    tls_file_wipe(text, len);
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
    /* Once: between two reads it could start a program that has other groups. */
    if (proc_read(l->proc.dir, "status", l->status, sizeof l->status) <= 0 ||
        !proc_parse_user(l->status, &uid, &one_user) ||
        !proc_read_strings(&l->proc, "cmdline", &cmdline))
        return error_set(l->why, ERR_NOT_FOUND, NOT_THERE);
    take_arguments(l, &cmdline);
    proc_strings_clear(&cmdline);
    if (!one_user || uid != l->uid)
        return error_set(l->why, ERR_REFUSED, "it runs as several users or groups");
    l->root = proc_open_root(&l->proc);
    l->root_error = errno;
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
        tls_file_wipe(texts[i], sizes[i]);
    return rc;
}

static int look_at(const struct vm_source *s, pid_t pid, struct tls_context **out,
                   struct error *why)
{
    struct look *l = alloc_zero(1, sizeof *l);
    l->uid = s->uid;
    l->why = why;
    l->root = -1;
    int rc = proc_open_pid(&l->proc, s->proc_root, pid);
    rc = rc != 0 ? error_set(why, ERR_NOT_FOUND, NOT_THERE) : read_arguments(l);
    const bool gone = rc == ERR_NOT_FOUND;
    if (rc == 0 && l->optfile[0])
        rc = read_optfile(l);
    if (rc == 0)
        rc = load_section(l, out);
    if (l->root >= 0)
        close(l->root);
    proc_close(&l->proc);
    explicit_bzero(l, sizeof *l);
    free(l);
    return gone ? LOOK_GONE : rc;
}

/* ---- a source */

/* After its node has been started again. 0: not found. */
static pid_t find_again(const struct vm_source *s)
{
    const struct discover_options o = {.proc_root = s->proc_root};
    struct discover_list list = {0};
    struct error ignored = {0};
    pid_t pid = 0;
    if (s->node[0] && discover_scan(&list, &o, &ignored) == 0)
        for (size_t i = 0; pid == 0 && i < list.count; i++)
            if (list.vms[i].uid == s->uid && strcmp(list.vms[i].node, s->node) == 0)
                pid = list.vms[i].pid;
    discover_clear(&list);
    return pid;
}

static int load_of_vm(struct tls_source *source, struct tls_context **out, struct error *why)
{
    const struct vm_source *s = (const struct vm_source *)source;
    *out = NULL;
    int rc = look_at(s, s->pid, out, why);
    const pid_t pid = rc == LOOK_GONE ? find_again(s) : 0;
    if (pid != 0) {
        *why = (struct error){0};
        rc = look_at(s, pid, out, why);
    }
    return rc == LOOK_GONE ? ERR_NOT_FOUND : rc;
}

static void release_vm(struct tls_source *source)
{
    free(source);
}

struct tls_source *discover_tls(const struct discover_vm *vm, const struct discover_options *o)
{
    static const struct tls_source_class class = {.load = load_of_vm, .release = release_vm};
    struct vm_source *s = alloc_zero(1, sizeof *s);
    tls_source_init(&s->source, &class);
    s->source.is_found = true;
    s->pid = vm->pid;
    s->uid = vm->uid;
    s->proc_root = o->proc_root;
    snprintf(s->node, sizeof s->node, "%s", vm->node);
    return &s->source;
}

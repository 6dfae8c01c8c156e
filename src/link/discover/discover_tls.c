/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates of a VM of this host: in its optfile, or in files that this or its arguments name.
 */
#include "beamtop/link/discover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
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
    alloc_free_wiped(text, len);
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

/* Of a term, or of a file. *text is to be wiped in any case. */
static int read_part(struct look *l, const char *pem, const char *path, char **text, size_t *len)
{
    if (!pem && !*path)
        return 0;
    if (!pem)
        return read_inside(l, path, text, len);
    *text = alloc_strdup(pem);
    *len = strlen(pem);
    return 0;
}

struct parts {
    char *texts[2 * TLS_IDENTITIES + 1]; /* certificates and keys, by turns, and CAs */
    size_t sizes[2 * TLS_IDENTITIES + 1];
    struct tls_identity identities[TLS_IDENTITIES];
};

static int read_parts(struct look *l, struct parts *p, const struct tls_pair *pairs, size_t n,
                      const struct tls_section *cas)
{
    int rc = read_part(l, cas->cacerts, cas->cacertfile, &p->texts[2 * n], &p->sizes[2 * n]);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct tls_pair *pair = &pairs[i];
        char **texts = &p->texts[2 * i];
        size_t *sizes = &p->sizes[2 * i];
        rc = read_part(l, pair->cert, pair->certfile, &texts[0], &sizes[0]);
        if (rc == 0)
            rc = read_part(l, pair->key, pair->keyfile, &texts[1], &sizes[1]);
        p->identities[i] =
            (struct tls_identity){.cert = {texts[0], sizes[0]},
                                  .key = {texts[1], sizes[1]},
                                  .password = pair->password[0] ? pair->password : NULL};
    }
    return rc;
}

/* What the client section says of checks counts in any case, the rest where it is used. */
static void name_unused(char *out, size_t size, const struct tls_options *o,
                        const struct tls_section *own)
{
    const unsigned checks = 1U << TLS_OPTION_VERIFY_FUN | 1U << TLS_OPTION_PARTIAL_CHAIN;
    char names[128];
    tls_options_name(names, sizeof names, o->client.unused | (own->unused & ~checks));
    *out = '\0';
    if (*names)
        snprintf(out, size, "%s (a function, or not readable)", names);
}

static int load_parts(struct look *l, struct parts *p, struct tls_context **out)
{
    const struct tls_options *o = &l->options;
    const bool has_cas = o->client.cacerts || o->client.cacertfile[0];
    const struct tls_section *own = &o->client;
    size_t n = 0;
    const struct tls_pair *pairs = tls_section_pairs(own, &n);
    if (n == 0)
        pairs = tls_section_pairs(own = &o->server, &n);
    char unused[160];
    name_unused(unused, sizeof unused, o, own);
    int rc = read_parts(l, p, pairs, n, has_cas ? &o->client : &o->server);
    const struct tls_material m = {
        .identities = p->identities,
        .identity_count = n,
        .cacert = {p->texts[2 * n], p->sizes[2 * n]},
        .verify = o->client.verify_peer ? TLS_VERIFY_CA : TLS_VERIFY_NONE,
        .note = unused,
    };
    if (rc == 0 && n == 0 && *unused)
        return error_set(l->why, ERR_NOT_FOUND, "no certificate is in them, beside %s", unused);
    if (rc == 0 && n + m.cacert.len > 0)
        rc = tls_context_new(out, &m, "its certificates", l->why);
    if (rc != 0 && *unused)
        error_context(l->why, "without its %s", unused);
    return rc;
}

static int load_section(struct look *l, struct tls_context **out)
{
    struct parts *p = alloc_zero(1, sizeof *p);
    const int rc = load_parts(l, p, out);
    for (size_t i = 0; i < ARRAY_LEN(p->texts); i++)
        alloc_free_wiped(p->texts[i], p->sizes[i]);
    free(p);
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
    tls_options_clear(&l->options);
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates of files that the user names. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/link/tls.h"
#include "file.h"

/* ---- any source */

void tls_source_init(struct tls_source *s, const struct tls_source_class *class)
{
    *s = (struct tls_source){.class = class};
    atomic_init(&s->users, 1);
}

struct tls_source *tls_source_hold(struct tls_source *s)
{
    if (s)
        atomic_fetch_add(&s->users, 1);
    return s;
}

void tls_source_drop(struct tls_source *s)
{
    if (s && atomic_fetch_sub(&s->users, 1) == 1)
        s->class->release(s);
}

/* ---- one of files */

enum file { FILE_CACERT, FILE_CERT, FILE_KEY, FILE_PASSWORD, FILE_CRL, FILES };

/* As an option, and as a word of the configuration. */
static const char *const file_words[FILES] = {
    [FILE_CACERT] = "--tls-cacert", [FILE_CERT] = "--tls-cert",
    [FILE_KEY] = "--tls-key",       [FILE_PASSWORD] = "--tls-key-password-file",
    [FILE_CRL] = "--tls-crl",
};
#define OPTION_START "--tls-"

struct file_source {
    struct tls_source source; /* first */
    char *paths[FILES];       /* owned, as the next two; NULL: none */
    char *password, *place;
    enum tls_verify verify;
};

static char *copy_text(const char *text)
{
    return text ? alloc_strdup(text) : NULL;
}

static int fail_file(const struct file_source *f, enum file file, const char *what, const char *why,
                     struct error *err)
{
    const char *word = file_words[file] + (f->place ? strlen(OPTION_START) : 0);
    error_set(err, ERR_USAGE, "%s: %.300s %s%s", word, f->paths[file], what, why);
    if (f->place)
        error_context(err, "%.300s", f->place);
    return ERR_USAGE;
}

/* -1 with errno; EINVAL: not a file. Without /proc, too, as in an empty container. */
static int open_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

/* *out has a NUL behind. */
static int read_file(const struct file_source *f, enum file file, struct slice *out,
                     struct error *err)
{
    const int fd = open_file(f->paths[file]);
    if (fd < 0)
        return fail_file(f, file,
                         "cannot be read: ", errno == EINVAL ? "it is not a file" : strerror(errno),
                         err);
    char *text;
    size_t len;
    const int why = tls_file_read(fd, &text, &len);
    *out = (struct slice){text, len};
    if (why != 0)
        return fail_file(f, file, "cannot be read: ", strerror(why), err);
    if (len == 0 || len > LIMIT_TLS_FILE_BYTES)
        return fail_file(f, file, "is ", len == 0 ? "empty" : "longer than 1 MiB", err);
    return 0;
}

/* The first line, with a NUL behind it. */
static int take_password(const struct file_source *f, const struct slice *file, const char **out,
                         struct error *err)
{
    char *line = (char *)(uintptr_t)file->s;
    *out = line ? line : f->password;
    if (!line)
        return 0;
    line[strcspn(line, "\r\n")] = '\0';
    return *line ? 0 : fail_file(f, FILE_PASSWORD, "has ", "an empty first line", err);
}

static int load_files(struct tls_source *s, struct tls_context **out, struct error *err)
{
    const struct file_source *f = (const struct file_source *)s;
    struct slice texts[FILES] = {{0}};
    struct tls_identity own = {0};
    int rc = 0;
    *out = NULL;
    for (size_t i = 0; rc == 0 && i < FILES; i++)
        if (f->paths[i])
            rc = read_file(f, (enum file)i, &texts[i], err);
    if (rc == 0)
        rc = take_password(f, &texts[FILE_PASSWORD], &own.password, err);
    own.cert = texts[FILE_CERT];
    own.key = texts[FILE_KEY];
    const struct tls_material m = {
        .cacert = texts[FILE_CACERT],
        .crl = texts[FILE_CRL],
        .identities = &own,
        .identity_count = own.cert.len > 0,
        .verify = f->verify,
    };
    if (rc == 0 && f->paths[FILE_KEY] && !f->paths[FILE_CERT])
        rc = fail_file(f, FILE_KEY, "needs its certificate", "", err);
    if (rc == 0)
        rc =
            tls_context_new(out, &m, f->place ? f->place : "the files of the options --tls-…", err);
    for (size_t i = 0; i < FILES; i++)
        alloc_free_wiped((char *)(uintptr_t)texts[i].s, texts[i].len);
    return rc;
}

static void release_files(struct tls_source *s)
{
    struct file_source *f = (struct file_source *)s;
    for (size_t i = 0; i < FILES; i++)
        free(f->paths[i]);
    alloc_free_wiped(f->password, f->password ? strlen(f->password) : 0);
    free(f->place);
    free(f);
}

struct tls_source *tls_source_files(const struct tls_files *files)
{
    static const struct tls_source_class class = {.load = load_files, .release = release_files};
    struct file_source *f = alloc_zero(1, sizeof *f);
    tls_source_init(&f->source, &class);
    f->paths[FILE_CACERT] = copy_text(files->cacert);
    f->paths[FILE_CERT] = copy_text(files->cert);
    f->paths[FILE_KEY] = copy_text(files->key);
    f->paths[FILE_PASSWORD] = copy_text(files->password_file);
    f->paths[FILE_CRL] = copy_text(files->crl);
    f->password = copy_text(files->password);
    f->place = copy_text(files->place);
    f->verify = files->verify;
    return &f->source;
}

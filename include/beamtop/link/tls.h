/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TLS of connections: whether a node is spoken to by it, and with which certificates. Contexts and
 * sources are shared by reference, also between threads; all else is of the thread that calls.
 * Errors say which option or file to change. Without OpenSSL tls_available() is false, and loading
 * fails. */
#ifndef BEAMTOP_LINK_TLS_H
#define BEAMTOP_LINK_TLS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "beamtop/base/error.h"
#include "beamtop/base/slice.h"

enum tls_use {
    TLS_FIND_OUT, /* TCP first, TLS where the node answers so, or did before */
    TLS_ALWAYS,   /* never TCP: a cookie's digest leaves only inside TLS */
    TLS_NEVER,
};

/* What is checked of the node's certificate. */
enum tls_verify {
    TLS_VERIFY_USUAL, /* its CA, where one is given, or a CRL */
    TLS_VERIFY_NONE,
    TLS_VERIFY_CA,
    TLS_VERIFY_FULL, /* and its name, against the host of the node */
};

/* PEM files; NULL where there is none. */
struct tls_files {
    const char *cacert;
    const char *cert;          /* with the chain behind it */
    const char *key;           /* NULL: in cert's file */
    const char *password;      /* of the key */
    const char *password_file; /* its first line goes before `password` */
    const char *crl;           /* revocation lists; with one, the node's certificate is checked */
    enum tls_verify verify;
    const char *place; /* where they are named, as "FILE, line 3"; NULL: by the options --tls-… */
};

#define TLS_IDENTITIES 8u /* certificates of which one is shown, at most */

/* PEM, as bytes that were read. */
struct tls_identity {
    struct slice cert; /* with the chain behind it */
    struct slice key;  /* len 0: in cert */
    const char *password;
};

/* Of several identities the one is shown that OTP's ssl would show: the first whose signature the
 * node takes and whose issuer it names, or else whose signature it takes, in the order Ed25519,
 * Ed448, ECDSA, RSA-PSS, RSA, and the larger key first. */
struct tls_material {
    struct slice cacert, crl;
    const struct tls_identity *identities;
    size_t identity_count; /* TLS_IDENTITIES at most */
    enum tls_verify verify;
    const char *note; /* NULL, or which options of the node were not used */
};

/* Who shows which certificate, and what is checked. */
struct tls_context;

bool tls_available(void);
/* "none", "ca", "full". False: another word. */
bool tls_verify_of(const char *word, enum tls_verify *out);

/* Copies nothing of m that it keeps. `whose` begins the error, as in "the node's optfile". */
int tls_context_new(struct tls_context **out, const struct tls_material *m, const char *whose,
                    struct error *err);
const char *tls_context_note(const struct tls_context *c);   /* of its material, or "" */
struct tls_context *tls_context_hold(struct tls_context *c); /* NULL is fine, here and below */
void tls_context_drop(struct tls_context *c);

/* Where certificates come from. They are read for each connection, so that renewed files count, and
 * on a thread that may be left behind: their file system can hang. */
struct tls_source {
    const struct tls_source_class *class;
    atomic_uint users;
    bool is_found; /* not given by the user: a connection that cannot have them goes on without */
};

struct tls_source_class {
    /* Blocks; several may run at once. 0 and *out (NULL: there are none), or a negative enum err.
     */
    int (*load)(struct tls_source *s, struct tls_context **out, struct error *err);
    void (*release)(struct tls_source *s); /* the last reference is gone */
};

/* With one reference, the caller's. */
void tls_source_init(struct tls_source *s, const struct tls_source_class *class);
struct tls_source *tls_source_hold(struct tls_source *s); /* NULL is fine, here and below */
void tls_source_drop(struct tls_source *s);

/* Of files, LIMIT_TLS_FILE_BYTES each at most; copies the names. Loading: ERR_USAGE with the place
 * and the option's name. */
struct tls_source *tls_source_files(const struct tls_files *files);

#endif

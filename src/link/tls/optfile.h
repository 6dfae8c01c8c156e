/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A node's options for TLS distribution: of its optfile, read as one Erlang term and never
 * evaluated, or of its arguments. Pure. Private to the layer. */
#ifndef BEAMTOP_LINK_TLS_OPTFILE_H
#define BEAMTOP_LINK_TLS_OPTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/error.h"
#include "beamtop/link/tls.h"

#define TLS_PATH_BYTES 4096
#define TLS_PASSWORD_BYTES 1024 /* longer ones are not used, as PEM readers take no more */

/* A certificate and its key. */
struct tls_pair {
    char *cert, *key; /* of terms, as PEM; NULL: in the files; owned */
    char certfile[TLS_PATH_BYTES], keyfile[TLS_PATH_BYTES];
    char password[TLS_PASSWORD_BYTES];
};

/* Options that say what a client shows and checks. */
enum tls_option {
    TLS_OPTION_CERT,
    TLS_OPTION_CERTFILE,
    TLS_OPTION_KEY,
    TLS_OPTION_KEYFILE,
    TLS_OPTION_PASSWORD,
    TLS_OPTION_CERTS_KEYS,
    TLS_OPTION_CACERTS,
    TLS_OPTION_CACERTFILE,
    TLS_OPTION_VERIFY,
    TLS_OPTION_VERIFY_FUN,
    TLS_OPTION_PARTIAL_CHAIN,
    TLS_OPTIONS
};

/* The section `client` or `server`; "" and NULL where there is nothing. */
struct tls_section {
    bool given;
    bool verify_peer;
    unsigned unused; /* 1 << enum tls_option: a function, or another value that is not taken */
    struct tls_pair one;
    struct tls_pair many[TLS_IDENTITIES]; /* of certs_keys, which go before `one` */
    size_t many_count;
    char *cacerts; /* as PEM; owned */
    char cacertfile[TLS_PATH_BYTES];
};

struct tls_options {
    struct tls_section client, server;
};

/* Text of the file. ERR_FORMAT: it is not one term, or no list of these sections. Clear it also
 * then. */
int tls_options_parse(struct tls_options *out, const char *text, size_t len, struct error *err);
/* A word of -ssl_dist_opt and its value: "client_certfile" … Others are passed over. */
void tls_options_take(struct tls_options *out, const char *word, const char *value);
void tls_options_clear(struct tls_options *o); /* wipes it, too */

/* Those with a certificate. */
const struct tls_pair *tls_section_pairs(const struct tls_section *s, size_t *count);
/* "password, verify_fun", of bits as in `unused`. */
void tls_options_name(char *out, size_t size, unsigned options);

#endif

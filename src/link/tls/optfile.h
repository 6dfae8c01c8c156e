/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A node's options for TLS distribution: of its optfile, read as one Erlang term and never
 * evaluated, or of its arguments. Pure. Private to the layer. */
#ifndef BEAMTOP_LINK_TLS_OPTFILE_H
#define BEAMTOP_LINK_TLS_OPTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/error.h"

#define TLS_PATH_BYTES 4096
#define TLS_PASSWORD_BYTES 1024 /* longer ones are left out, as PEM readers take no more */

/* Of the section `client`, or `server`; "" where there is none. */
struct tls_section {
    bool given;
    bool verify_peer;
    bool is_inline; /* certificates as terms, in certs_keys or of another kind: not read */
    char cert[TLS_PATH_BYTES], key[TLS_PATH_BYTES], cacert[TLS_PATH_BYTES];
    char password[TLS_PASSWORD_BYTES];
};

struct tls_options {
    struct tls_section client, server;
};

/* Text of the file. ERR_FORMAT: it is not one term, or no list of these sections. */
int tls_options_parse(struct tls_options *out, const char *text, size_t len, struct error *err);
/* A word of -ssl_dist_opt and its value: "client_certfile" … Others are passed over. */
void tls_options_take(struct tls_options *out, const char *word, const char *value);

#endif

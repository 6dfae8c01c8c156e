/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of a connection's way up share. Private to the layer. */
#ifndef BEAMTOP_LINK_INTERNAL_H
#define BEAMTOP_LINK_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/link/conn.h"
#include "beamtop/link/cookie.h"
#include "beamtop/link/lookup.h"
#include "beamtop/link/name.h"
#include "beamtop/link/way.h"
#include "link/tls/session.h"

/* A connection that something on the way has refused, with the error's own words. */
#define NO_WAY_TEXT                                                                                \
    "cannot be reached (%s): a firewall rejects it, or there is no route to its host"
static inline bool is_no_way(int errnum)
{
    return errnum == EHOSTUNREACH || errnum == ENETUNREACH || errnum == EACCES || errnum == EPERM;
}

#define DIAL_ADDRESSES 8 /* of one host: more are not tried */

/* As cookie_read_file, from an open file; path is for the text. */
int cookie_read_fd(struct cookie *out, int fd, const char *path, struct error *err);

/*
 * ---- claim: one of our names for a target, as it stands between the processes of this host. A
 * node that gets a second handshake under a name ends the first, so two of us must not try the
 * same. */

/* A descriptor that holds the name until it is closed, or -1: another process of this host holds
   it, or nothing can be known. */
int claim_take(const char *target, unsigned index, bool *held_by_other);
void claim_drop(int *fd); /* -1 is fine */

/* ---- load_tls: certificates of a source, on a thread that is left behind after timeout_ms */

struct tls_load;

/* The context is the receiver's; NULL: there are none, or err says why. */
typedef void tls_load_fn(void *arg, struct tls_context *context, const struct error *err);

/* ERR_LIMIT: LIMIT_TLS_LOADS others hang. */
int tls_load_start(struct tls_load **out, uv_loop_t *loop, struct tls_source *source,
                   unsigned timeout_ms, tls_load_fn *done, void *arg, struct error *err);
void tls_load_cancel(struct tls_load *l); /* `done` is not called any more; NULL is fine */

/* ---- handshake: blocking, for the worker pool */

struct handshake {
    /* in */
    struct name target;
    struct address addresses[DIAL_ADDRESSES];
    size_t address_count;
    uint16_t port;
    struct conn_way *way;    /* the dial's; NULL: TCP from here, to the addresses */
    const char *way_address; /* of the node there; NULL: the loopback */
    char this_host[LIMIT_NODE_NAME_BYTES + 1];
    struct cookie cookie; /* wiped by handshake_run */
    uint64_t deadline_mono_ns;
    unsigned timeout_ms; /* for the texts */
    int cancel_fd;       /* readable: give up */
    enum tls_use tls_use;
    struct tls_context *tls_context; /* held; may be NULL */
    struct error tls_error;          /* why the certificates that were given are not used */
    char tls_note[256];              /* "" or why the node's own ones are not */
    bool by_tls;                     /* begin with TLS; out: what it came to */
    /* out */
    struct way_stream stream; /* its socket is -1 unless it went well; the caller's then */
    struct tls_session *tls;  /* over it; NULL: in the clear */
    int claim; /* of the name, or -1: the caller's, for as long as the connection lives */
    enum conn_failure why;
    struct error err;
    struct name own;
    char peer[LIMIT_NODE_NAME_BYTES + 1];
    uint32_t creation; /* ours */
    bool atom_cache;   /* the peer has one, as we have */
    bool tls_guessed;  /* TLS was tried on a peer that only closed */
    char notice[512];
};

/* 0 or a negative enum err, with why and err set. */
int handshake_run(struct handshake *h);

/* ---- dial: from a name to a socket that is through the handshake */

struct dial_result {
    struct way_stream stream; /* its socket is -1: failed; else the receiver's */
    struct tls_session *tls;  /* the receiver's; NULL: in the clear */
    int claim;                /* the receiver's; may be -1 */
    enum conn_failure why;
    struct error err;
    const struct handshake *handshake;
};

struct dial;

int dial_start(struct dial **out, uv_loop_t *loop, const struct conn_options *options,
               void (*done)(void *arg, const struct dial_result *result), void *arg,
               struct error *err);
void dial_cancel(struct dial *d); /* `done` is not called any more; NULL is fine */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One connection to one node, as a hidden node. The loop's thread owns it; the handshake runs on
 * libuv's worker pool. A connection that went down stays down: open another.
 *
 * The process ignores SIGPIPE and has no EI_TRACELEVEL in its environment (the application sees
 * to both). */
#ifndef BEAMTOP_LINK_CONN_H
#define BEAMTOP_LINK_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/link/cookie.h"
#include "beamtop/link/tls.h"
#include "beamtop/etf/term.h"

/* Why a connection could not be made or ended. */
enum conn_failure {
    CONN_FAILED_NAME,         /* the target's name cannot be one: ERR_USAGE */
    CONN_FAILED_HOST,         /* the host is not found */
    CONN_FAILED_LOOKUP,       /* the host's lookup took longer than the deadline */
    CONN_FAILED_NO_EPMD,      /* epmd's port is closed */
    CONN_FAILED_EPMD_SILENT,  /* epmd cannot be reached (filtered) or does not answer */
    CONN_FAILED_NOT_EPMD,     /* something else listens at epmd's port */
    CONN_FAILED_NO_NAME,      /* epmd knows no such name; the text lists what it knows */
    CONN_FAILED_REFUSED,      /* the node's port refuses */
    CONN_FAILED_FILTERED,     /* the node's port does not answer to connect */
    CONN_FAILED_SILENT,       /* accepts, but does not answer: frozen */
    CONN_FAILED_NOT_ERLANG,   /* answers something else than the handshake */
    CONN_FAILED_INCOMPATIBLE, /* the node requires a capability that beamtop lacks */
    CONN_FAILED_COOKIE,       /* wrong cookie */
    CONN_FAILED_NO_COOKIE,    /* the node is there, and no cookie to send it */
    CONN_FAILED_NOT_ALLOWED,  /* net_kernel:allow/1 there excludes beamtop */
    CONN_FAILED_NAME_TAKEN,   /* every name of our pool is connected there already */
    CONN_FAILED_OTHER_NODE,   /* what answers is a node of another name */
    CONN_FAILED_OTHER_USER,   /* what listens is not the cookie's user's: it was not sent */
    CONN_FAILED_WAY,          /* the way to the host failed: ssh, another namespace */
    CONN_FAILED_TLS_NEEDED,   /* speaks TLS, and beamtop may or can not */
    CONN_FAILED_TLS_FILES,    /* certificates that were given cannot be used: ERR_USAGE */
    CONN_FAILED_NOT_TLS,      /* asked by TLS, it does not answer in it */
    CONN_FAILED_TLS_NO_CERT,  /* wants a certificate of ours, and there is none */
    CONN_FAILED_TLS_CA,       /* does not know the CA of our certificate */
    CONN_FAILED_TLS_EXPIRED,  /* our certificate is not valid now */
    CONN_FAILED_TLS_REVOKED,  /* our certificate is in a revocation list there */
    CONN_FAILED_TLS_UNFIT,    /* our certificate is not one for clients */
    CONN_FAILED_TLS_VERSION,  /* no common version of TLS */
    CONN_FAILED_TLS_PEER_CA,  /* its certificate is of no CA of ours */
    CONN_FAILED_TLS_PEER_EXPIRED,
    CONN_FAILED_TLS_PEER_REVOKED,
    CONN_FAILED_TLS_PEER_NAME, /* its certificate has another host name */
    CONN_FAILED_TLS,           /* TLS failed otherwise */
    CONN_FAILED_SYSTEM,        /* a system call failed */
    CONN_LOST,                 /* the peer closed, or the network did */
    CONN_LOST_STALLED,         /* the peer took nothing more, LIMIT_OUT_QUEUE_BYTES are waiting */
    CONN_LOST_GARBAGE,         /* the peer sent something other than distribution traffic */
};

struct conn;
struct conn_way;

/* What is known of the node's VM when that runs on this host: the way to it where neither the
   host's name nor epmd lead there. */
struct conn_local {
    int64_t os_pid;      /* 0: no such VM is known */
    uid_t uid;           /* its user */
    bool is_meant;       /* by that pid: epmd's port counts only if the process listens there */
    uint16_t epmd_port;  /* of the epmd that it uses; 0: not known */
    uint16_t port;       /* where it listens; 0: not known */
    const char *address; /* … and at which address; NULL: the loopback; copied */
};

struct conn_options {
    const char *target;   /* "name@host" or "name" */
    bool any_host;        /* its host only names the way: no notice where the node has another */
    struct conn_way *way; /* to the node's host; NULL: TCP from here (way.h) */
    /* Where to connect to in place of the name's host; NULL: there, or the loopback at the far end
       of a way. */
    const char *dial_host;
    uint16_t port;         /* of the node; 0: ask epmd */
    uint16_t epmd_port;    /* 0: EPMD_PORT */
    const char *cookie;    /* copied; the copy is wiped after the handshake */
    const char *no_cookie; /* without one: why, said when the node has been found; copied */
    /* Where it comes from (COOKIE_NONE: it was given) and whose it is: see cookie_is_guarded(). A
       guarded one goes to no socket of this host but its own user's and root's. */
    enum cookie_origin cookie_origin;
    uid_t cookie_uid;
    struct conn_local local;
    enum tls_use tls;
    struct tls_source *tls_source; /* NULL: no certificates; held while the way up takes */
    const char *this_host;         /* NULL: gethostname() */
    unsigned timeout_ms;           /* for the whole way to on_up; 0: 5000 */
};

struct conn_message {
    struct etf_pid to;    /* the pid of ours it was sent to */
    struct slice to_name; /* or the registered name; len 0: to a pid */
    const uint8_t *term;  /* checked, with version byte; borrowed during the call */
    size_t len;
};

/* A process for the node to spawn, linked to our pid: it ends with the connection. */
struct conn_spawn {
    uint64_t id; /* of this request on the connection, below 2^50 */
    const char *module, *function;
    unsigned arity;
    const uint8_t *args; /* a list of that many terms, with version byte; copied */
    size_t len;
    const char *priority;    /* "normal", "high" */
    uint64_t max_heap_words; /* the node kills it above that, and logs nothing */
};

/* Called from the loop, never from inside conn_open. Any may be NULL but on_down. Each may call
   conn_send… and conn_close. */
struct conn_handlers {
    void (*on_up)(struct conn *c, void *arg);
    void (*on_message)(struct conn *c, void *arg, const struct conn_message *m);
    /* A process that was linked to our pid ended; reason is a checked bare or versioned term. */
    void (*on_link_exit)(struct conn *c, void *arg, const struct etf_pid *from,
                         struct slice reason);
    /* The answer to conn_spawn(), before the end of the link. pid is NULL where the node refused:
       then `error` is why, an atom. */
    void (*on_spawned)(struct conn *c, void *arg, uint64_t id, const struct etf_pid *pid,
                       struct slice error);
    /* A frame larger than LIMIT_FRAME_BYTES was thrown away. */
    void (*on_skipped)(struct conn *c, void *arg, uint64_t bytes);
    /* The end, in place of on_up or after it. Nothing is called afterwards; conn_close frees. */
    void (*on_down)(struct conn *c, void *arg, enum conn_failure why, const struct error *err);
};

struct conn_stats {
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t ticks_in;
    uint64_t ignored; /* control messages that we have no use for */
    uint64_t skipped; /* frames beyond the cap */
    uint64_t last_in_mono_ns;
};

/* Once, before the first conn_open (erl_interface's own set-up). */
int conn_global_init(struct error *err);

/* Starts connecting. Fails at once only with ERR_USAGE (name, cookie) or ERR_SYSTEM; then *out is
   NULL. Handlers and arg are used until on_down or conn_close. */
int conn_open(struct conn **out, uv_loop_t *loop, const struct conn_options *options,
              const struct conn_handlers *handlers, void *arg, struct error *err);

/*
 * Gives the connection back, up or down or on the way. What was sent before is flushed (for at most
 * a second) when it is up. No handler is called any more; `closed` (may be NULL) is called from the
 * loop when everything is freed. */
void conn_close(struct conn *c, void (*closed)(void *arg), void *arg);

/* Payloads have their version byte, as builder_bytes() gives them; they are copied. ERR_LOST when
   the connection is not up, ERR_LIMIT when LIMIT_OUT_QUEUE_BYTES would be passed (on_down with
   CONN_LOST_STALLED follows from the loop). */
int conn_send(struct conn *c, const struct etf_pid *to, const uint8_t *payload, size_t len,
              struct error *err);
int conn_send_name(struct conn *c, const char *name, const uint8_t *payload, size_t len,
                   struct error *err);

/* Asks the node to spawn; errors as of conn_send(). on_spawned follows, and on_link_exit with the
   reason when the process ends. Every node from OTP 23 on can. */
int conn_spawn(struct conn *c, const struct conn_spawn *s, struct error *err);
/* Asks the node to end that process. What waits for schedulers ends when they have answered. */
int conn_kill(struct conn *c, const struct etf_pid *pid, struct error *err);

/* Messages, ends of links and answers to spawns go on to these handlers, with this arg; the others
   stay. */
void conn_receive(struct conn *c, const struct conn_handlers *handlers, void *arg);

const struct etf_pid *conn_self(const struct conn *c); /* our one pid */
const char *conn_own_node(const struct conn *c);       /* beamtop@host, once up; "" before */
const char *conn_peer_node(const struct conn *c);      /* what the peer calls itself */
/* Whether a process of this host, as this one counts them, has the other end; false also where its
 * sockets cannot be seen. Reads /proc. */
bool conn_peer_is(const struct conn *c, pid_t pid);
const struct conn_stats *conn_stats(const struct conn *c);
bool conn_is_tls(const struct conn *c);
/* Why certificates that were found were not used; "" if they were, or none were found. */
const char *conn_tls_note(const struct conn *c);
/* A notice though it connected: the peer's name is not the one asked for, its certificate was not
   checked. "" if none. */
const char *conn_notice(const struct conn *c);

#endif

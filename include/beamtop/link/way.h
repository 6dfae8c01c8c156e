/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A way to a node's host where TCP from here does not lead: a child process that carries a stream
 * (ssh), or a socket made in another network namespace. Who makes one embeds struct conn_way, and
 * gives it with conn_options.way; the connection holds it for as long as it needs it.
 *
 * References are taken and dropped on the loop's thread. */
#ifndef BEAMTOP_LINK_WAY_H
#define BEAMTOP_LINK_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/link/conn.h"

struct conn_way;

/* A stream to open. */
struct way_request {
    const char *address; /* as the far side knows it; NULL: its loopback */
    uint16_t port;
    unsigned timeout_ms;
    int cancel_fd; /* readable: give up, with ECANCELED */
};

struct way_stream {
    int fd;      /* a stream socket, non-blocking, close-on-exec: the receiver closes it */
    uint64_t id; /* of this stream on its way, never 0; 0: TCP from here */
};

struct conn_way_class {
    /*
     * Blocks, on a worker thread; several may run at once. 0 and *out; an errno value, as connect()
     * and socket() give them, or ETIMEDOUT, which gets the texts of a TCP connection; or a negative
     * enum err with *why and err. */
    int (*open)(struct conn_way *way, const struct way_request *request, struct way_stream *out,
                enum conn_failure *why, struct error *err);
    /* The stream ended before it should have: true and the reason, where the way knows it. Does not
       block; any thread. NULL: it never knows. */
    bool (*explain)(struct conn_way *way, uint64_t id, enum conn_failure *why, struct error *err);
    /* The stream's receiver has closed its socket. Any thread. NULL: nothing to do. */
    void (*end)(struct conn_way *way, uint64_t id);
    /* The last reference is gone: on the loop's thread. */
    void (*release)(struct conn_way *way);
};

struct conn_way {
    const struct conn_way_class *class;
    unsigned refs;
    const char *text; /* for errors: "ssh to HOST"; lives as long as the way */
    const char *note; /* a notice once connected: why by this way; NULL; lives as long as the way */
    /* Where the far side is on this host, seen by another namespace: the directory of one of its
       processes ("/proc/PID"), by which a cookie is guarded (cookie_is_guarded). NULL: another
       host. Lives as long as the way. */
    const char *proc_tree;
};

/* With one reference, the caller's. */
void way_init(struct conn_way *way, const struct conn_way_class *class);
struct conn_way *way_take(struct conn_way *way); /* another reference; NULL is fine */
void way_drop(struct conn_way *way);             /* NULL is fine */

/* Closes the stream's socket, unless that is -1 already, and says so to the way. NULL: TCP. */
void way_end(struct conn_way *way, struct way_stream *stream);
bool way_explain(struct conn_way *way, const struct way_stream *stream, enum conn_failure *why,
                 struct error *err);

#endif

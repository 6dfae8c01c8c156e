/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line to a recorder that runs, from within a loop: its answer comes later. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_CLIENT_H
#define BEAMTOP_APP_RECORDER_RECORD_CLIENT_H

#include <uv.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "record_control.h"

struct record_client;

/*
 * err NULL: `reply` is all that came until the other side closed. ERR_NOT_FOUND: no listener,
 * ERR_TIMEOUT: no end of an answer for three seconds (a stop: thirty). The client is gone
 * afterwards. */
typedef void record_client_fn(void *arg, const char *reply, const struct error *err);

/* Never calls fn before it has returned. */
struct record_client *record_client_ask(uv_loop_t *loop, const char *path, const char *line,
                                        record_client_fn *fn, void *arg);
/* fn is not called; the loop frees it. NULL is fine. */
void record_client_cancel(struct record_client *c);

/* Without a loop: waits for the answer, and appends it. Of a recorder that a signal has stopped it
   waits for none; else five seconds (a stop: thirty). */
int record_peer_ask(const char *path, const char *line, struct buf *reply, struct error *err);

struct record_peer {
    char path[RECORD_SOCKET_BYTES];
    char *status; /* JSON, owned; NULL: its recorder does not answer */
};

/* By the number of their process, those that do not answer too; sockets without a listener are
 * removed. */
int record_peers_find(struct record_peer **out, size_t *n, const struct app_env *env,
                      struct error *err);
void record_peers_free(struct record_peer *peers, size_t n);

#endif

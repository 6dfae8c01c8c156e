/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The socket of a running recorder, in a private directory. A request is a line: "status", "mark
   TEXT" or "stop"; so is its answer, an object of JSON. The connection of a "stop" closes when the
   recorder has ended: its file is complete then. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_CONTROL_H
#define BEAMTOP_APP_RECORDER_RECORD_CONTROL_H

#include <limits.h>
#include <stddef.h>
#include <uv.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/base/limits.h"
#include "app/cli/cli.h"

/* The absolute path of a recording, whose directory must exist. */
int record_whole_path(char out[PATH_MAX], const char *file, struct error *err);

/* ---- the recorder's side; one thread: the loop's */

struct record_control;

struct record_control_handlers {
    void (*status)(void *arg, struct buf *out); /* appends an object of JSON, without a newline */
    void (*mark)(void *arg, const char *text);
    void (*stop)(void *arg);
};

/* Recording goes on without a socket: the error has the reason. */
int record_control_open(struct record_control **out, uv_loop_t *loop, const struct app_env *env,
                        const struct record_control_handlers *handlers, void *arg,
                        struct error *err);
/* Removes the socket; the loop frees the rest. NULL is fine. */
void record_control_close(struct record_control *c);

/* ---- the other side: record_client.h asks */

#define RECORD_SOCKET_BYTES 108 /* of sun_path */

/* Sets ERR_TIMEOUT: which process listens on the socket, why it does not answer, what to do. */
int record_silent_error(struct error *err, const char *path);
long record_socket_pid(const char *path); /* 0: none is in its name */
bool record_is_stopped(const char *path); /* its process stands still, by a signal */

/* Where recorders listen, or did before they were killed, by the number of their process. */
int record_sockets_list(char out[LIMIT_RECORD_PEERS][RECORD_SOCKET_BYTES], size_t *n,
                        const struct app_env *env, struct error *err);

#endif

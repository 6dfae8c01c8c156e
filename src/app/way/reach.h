/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ways to nodes that are named by a URL (way_url.h): `struct conn_way`s over the process of
 * streams (way_server.h), which is started with the first one. Owner: main. Thread: main's, which
 * is the loop's; what the connections call of a way may run on any. */
#ifndef BEAMTOP_APP_WAY_REACH_H
#define BEAMTOP_APP_WAY_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "app/cli/cli.h"
#include "beamtop/link/cookie.h"
#include "beamtop/link/way.h"
#include "way_url.h"

struct reach;

struct reach *reach_new(void);
/* Ends the process of streams and all children of it, 3 s at most. No connection has a way then.
   NULL is fine. */
void reach_free(struct reach *w);
/* In a process made by fork(): the process of streams is its parent's, and the next URL starts one
   for this. NULL is fine. */
void reach_leave(struct reach *w);

/*
 * A login to the host of a URL by ssh, which its streams share; none is needed where there is one.
 * at: where ssh may ask for what it needs, which may take a person any time. *login is where the
 * answer comes, for reach_login_end(). ERR_SYSTEM. */
enum reach_asks { REACH_ASKS_NOBODY, REACH_ASKS_PERSON };
int reach_login_start(struct reach *w, const char *url, enum reach_asks asks, unsigned timeout_ms,
                      int *login, struct error *err);
/* Waits for the answer; ERR_TIMEOUT: it has not come yet, and the login goes on. Errors are ssh's;
 *prompts: ssh could ask nobody, and where it can it may succeed. Closes the login. */
int reach_login_end(int login, int timeout_ms, bool *prompts, struct error *err);
/* Waits for why a stream has ended: way_explain() may know then. False: not within the time. */
bool reach_await_end(struct conn_way *way, const struct way_stream *stream, int timeout_ms);
/* A node's cookie that was found there, and NULL where none was; a copy, until w is freed. */
void reach_lend(struct conn_way *way, const char *node, const struct cookie *cookie);
const struct cookie *reach_lent(const struct conn_way *way, const char *node);
/* Why a host was not reached before the command ran, where the command says so itself; of code
   ERR_NONE: all were. */
void reach_note(struct reach *w, const struct error *err);
const struct error *reach_failed(const struct reach *w);
/* The URL of the i-th way by ssh, without a node; NULL: there are no more. */
const char *reach_ssh_place(const struct reach *w, size_t i);
struct container_answer *reach_container_answer(const struct reach *w); /* of this command */
/* Takes over a text, for the life of w: two at most. */
const char *reach_keep(struct reach *w, char *text);

/* The way of a URL, borrowed for the life of w, and the URL. ERR_USAGE, ERR_SYSTEM. */
int reach_find(struct reach *w, struct conn_way **way, struct way_url *url, const char *text,
               struct error *err);
/* Why that way is taken, and not one through the container's process: a notice of connections. */
void reach_say_why(struct conn_way *way, const struct error *why);
/* "name@host" as patterns of cookies and messages have it: the URL's node, at its host. */
void reach_node_name(char *out, size_t size, const struct way_url *url);

#endif

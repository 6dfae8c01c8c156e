/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The programs that carry a stream to a port at the far side: one table of their command lines, one
 * of what their errors mean. Another program or error is another row. Pure; any thread. */
#ifndef BEAMTOP_APP_WAY_WAY_METHODS_H
#define BEAMTOP_APP_WAY_WAY_METHODS_H

#include <stddef.h>
#include <stdint.h>

#include "beamtop/link/conn.h"
#include "way_url.h"

#define WAY_WORDS 64 /* of a command line, with the NULL at its end */

struct way_words {
    char *all[WAY_WORDS]; /* NULL ends them */
    size_t n;
};

#define WAY_FAR_WORDS 40

/* Ephemeral containers that beamtop has started in a pod: by their names it knows what they have.
   Each ends by itself when no stream was there for a while, which it looks for now and then. */
#define WAY_DEBUG_BY_PROGRAM "beamtop-relay-" /* only the program, of beamtop's image … */
#define WAY_DEBUG_PROGRAM "/beamtop"
#define WAY_DEBUG_BY_SHELL "beamtop-shell-" /* … or a shell with what carries streams */
#define WAY_DEBUG_IDLE_S 600
#define WAY_DEBUG_LOOK_S 15
#define WAY_RELAY_VARIABLE "BEAMTOP_RELAY=1" /* in the environment of a shell's streams */

/* What a method is asked for. */
struct way_stop {
    const struct way_url *url;
    const char *address; /* at the far side */
    uint16_t port;
    const char *control; /* the socket of ssh's master connection; NULL: none */
    const char *log;     /* … and the file of its errors */
    bool terminal;       /* ssh may ask there for a password */
    unsigned timeout_s;  /* of the connection to the host */
};

/* When a stream stands. */
enum way_opens {
    WAY_OPENS_AT_ONCE, /* its end shows a failure */
    WAY_OPENS_SAID,    /* its errors have the line WAY_OPEN_LINE */
    WAY_OPENS_PRINTED, /* its output has that line, which the stream follows (way_carry.h) */
    WAY_OPENS_PORT,    /* it prints a port of the loopback here, to connect to */
};

#define WAY_OPEN_LINE "beamtop: open"
#define WAY_PORT_LINE "Forwarding from 127.0.0.1:"

struct way_method {
    enum way_scheme scheme;
    enum way_opens opens;
    const char *name; /* for errors: "ssh to", "Docker container" */
    void (*put)(struct way_words *words, const struct way_stop *stop);
};

/* The n-th method of a scheme, in the order of trying; NULL: none is left. */
const struct way_method *way_method(enum way_scheme scheme, size_t n);

void way_words_add(struct way_words *words, const char *format, ...) ATTR_PRINTF(2, 3);
void way_words_clear(struct way_words *words);
/* kubectl with its context, the namespace and a verb. */
void way_put_kubectl(struct way_words *words, const struct way_url *url, const char *verb);
/* The URL's container is one of ours that has only the program. */
bool way_has_program(const struct way_url *url);
/* Whether the user has a connection of ssh that others share: it ends with 0 then. */
void way_put_check(struct way_words *words, const struct way_stop *stop);
/* One of beamtop's: `-f -M`, how it is ended, and how it ends with its last stream. */
void way_put_master(struct way_words *words, const struct way_stop *stop);
void way_put_master_end(struct way_words *words, const struct way_stop *stop);
void way_put_master_stop(struct way_words *words, const struct way_stop *stop);
/* The program of a container's engine; NULL: of another scheme. */
const char *way_engine(enum way_scheme scheme);
/* What prints the id of a container, a blank and the OS pid of its first process, 0 if none. */
void way_put_inspect(struct way_words *words, const struct way_url *url);
/* A command of at most WAY_FAR_WORDS at the far side, where `beamtop` is the first word. */
void way_put_far(struct way_words *words, const struct way_url *url, const char *const *command,
                 size_t n);

/*
 * What the errors of a program mean, by a method's scheme; said is all that it has printed, as text
 * from anywhere. *another: a method that is left may do better. */
void way_explain_said(const struct way_method *method, const struct way_url *url, const char *said,
                      enum conn_failure *why, bool *another, struct error *err);
/* The same, of a program that is named so in errors: err's code. */
int way_fail_said(const char *name, const struct way_url *url, const char *said, struct error *err);

/* ssh failed with these words, and may succeed where it can ask a person. */
bool way_may_prompt(const char *said);

#endif

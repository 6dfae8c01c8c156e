/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of one handshake, read along as libei reads them. Private to the layer. */
#ifndef BEAMTOP_LINK_WIRE_H
#define BEAMTOP_LINK_WIRE_H

#include <ei.h>
#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

/*
 * libei runs the handshake over callbacks of ours, which keep one deadline for the whole of it and
 * read along, so that each way to fail has its own verdict. The packets have two bytes of length in
 * front, inside TLS four. Source: OTP, erts/doc "Distribution Protocol", "Distribution Handshake".
 */
enum stage {
    STAGE_NAME,      /* nothing sent yet */
    STAGE_STATUS,    /* our name sent, the peer's status is awaited */
    STAGE_CHALLENGE, /* the peer takes us, its challenge is awaited */
    STAGE_REPLY,     /* its challenge is here */
    STAGE_ACK,       /* our digest is sent, its own is awaited */
    STAGE_DONE,
};

enum verdict {
    VERDICT_NONE,   /* nothing read that ends it: see the stage */
    VERDICT_FAILED, /* why and the error are set */
    VERDICT_TAKEN,  /* the peer has a connection under our name: try the next */
    VERDICT_SHUT,   /* closed at our name without an answer: another one may be in the middle of a
                       handshake under it; try the next */
    VERDICT_PUSHED, /* closed after the peer took our name: another one came with it; try the next
                     */
    VERDICT_FORM,   /* its host part is of the other form: once more with ours as it has it */
    VERDICT_TLS,    /* it speaks TLS: once more by that */
    VERDICT_PLAIN,  /* it does not answer in TLS, which nobody asked for: once more by TCP */
};

#define WIRE_HEADER_BYTES 2u
#define WIRE_TLS_HEADER_BYTES 4u
#define WIRE_PACKET_BYTES 1100u /* the longest: a challenge with a name of 255 characters */

struct wire {
    struct handshake *h;
    int fd;
    struct tls_session *tls; /* NULL: TCP */
    size_t header;           /* bytes of length before a packet: 2, inside TLS 4 */
    enum stage stage;
    enum verdict verdict;
    bool eof;
    bool timed_out;
    bool cancelled;
    int errnum;
    uint8_t in[WIRE_PACKET_BYTES + WIRE_TLS_HEADER_BYTES]; /* the packet that is being read */
    size_t in_len;
};

/* The rest of the whole deadline. */
int wire_ms_left(const struct handshake *h);
/* 0 when fd is ready, else ETIMEDOUT, ECANCELED or what poll says. */
int wire_wait(const struct handshake *h, int fd, short events, int timeout_ms);

/* Ends the handshake with a text about the target. Returns code. */
int wire_fail(struct handshake *h, enum conn_failure why, enum err code, const char *text);
void wire_refuse(struct wire *w, enum conn_failure why, const char *text);

/* The same for the socket of w, within the whole deadline: sets its flags. */
int wire_wait_for(struct wire *w, short events);
/* All of it, as it is. 0 or an errno value. */
int wire_send(struct wire *w, const void *bytes, size_t len);
/* What has come; *n is 0 at its end. 0 or an errno value, EAGAIN when nothing has. */
int wire_receive(struct wire *w, void *bytes, size_t size, size_t *n);

/* Bytes of the peer: sets the next stage, or the verdict. */
void wire_read_along(struct wire *w, const uint8_t *bytes, size_t len);

/* ---- TLS, over any descriptor */

/* Shakes hands of TLS. 0, or -1 with the verdict or what explains it. */
int wire_tls_start(struct wire *w);
/* As send and receive of all, through TLS: 0 or an errno value. *n is 0 at the end. */
int wire_tls_send(struct wire *w, const void *bytes, size_t len);
int wire_tls_receive(struct wire *w, void *bytes, size_t size, size_t *n);
/* Whether to try the peer once more by the other way after that verdict: sets h->by_tls. */
bool wire_tls_turns(struct handshake *h, enum verdict verdict);
/* The verdict about a peer that answered TCP in TLS. */
void wire_tls_needed(struct wire *w);

ei_socket_callbacks wire_callbacks(void); /* their set-up context is the struct wire */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The byte stream of a connection after the handshake, cut into frames; no socket in here. A frame:
 * four bytes of length, then nothing (a tick) or 112, a control tuple and, for some, a payload; in
 * place of 112 a header, where both ends have an atom cache. Terms that leave here have passed
 * etf_check. An oversized frame is never buffered: it is skipped
 * as it streams and reported. Source: OTP, erts/doc "Distribution Protocol". */
#ifndef BEAMTOP_LINK_FRAME_H
#define BEAMTOP_LINK_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/etf/term.h"
#include "atom_cache.h"

enum frame_event {
    FRAME_MORE,    /* nothing whole is there: feed */
    FRAME_TICK,    /* the peer asks for a sign of life */
    FRAME_MESSAGE, /* control, and payload where there is one */
    FRAME_SKIPPED, /* a frame beyond the cap, as it came or expanded, went by; bytes says how long
                      it was */
    FRAME_BROKEN,  /* not distribution traffic: close. Sticky. */
};

struct frame {
    struct slice control; /* with version byte; borrowed until the next feed or next */
    struct slice payload; /* with version byte; len 0: none */
    uint64_t bytes;       /* of the whole frame */
};

struct frame_reader {
    struct buf in;
    size_t used; /* bytes of `in` that are done with */
    size_t max_bytes;
    uint64_t skip_left; /* of an oversized frame */
    uint64_t skip_bytes;
    struct atom_cache *atoms;    /* borrowed; NULL: the connection has none */
    struct buf control, payload; /* expanded, with atoms */
    struct error err;            /* why it is broken */
};

void frame_reader_init(struct frame_reader *r, size_t max_bytes); /* LIMIT_FRAME_BYTES */
/* Before the first byte: messages have the header of an atom cache, which outlives the reader. */
void frame_reader_expand(struct frame_reader *r, struct atom_cache *atoms);
void frame_reader_clear(struct frame_reader *r);

/* Take everything out by frame_next before feeding again: what is kept is at most one frame, or the
 * header of one that is skipped (256 KiB). */
void frame_feed(struct frame_reader *r, const uint8_t *bytes, size_t len);
enum frame_event frame_next(struct frame_reader *r, struct frame *out);
/* After FRAME_MORE: whether a part of a frame has come. */
bool frame_is_open(const struct frame_reader *r);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the bytes of a sink go. Thread: any, one at a time. */
#ifndef BEAMTOP_OUTPUT_WRITER_H
#define BEAMTOP_OUTPUT_WRITER_H

#include <stddef.h>
#include <stdio.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"

/* 0 or an errno. Called once for each line (JSON, CSV) or each table (text). */
struct sink_writer {
    int (*write)(void *ctx, const char *bytes, size_t len);
    void *ctx;
};

/* Onto a stream, which stays the caller's and is flushed with every write. */
struct sink_writer sink_writer_of(FILE *file);

/* A writer and what became of it: once it has failed nothing more is written. */
struct sink_output {
    struct sink_writer writer;
    int write_errno;
};

/* ERR_SYSTEM when the bytes could not be written, now or earlier. */
int sink_output_put(struct sink_output *o, const char *bytes, size_t len, struct error *err);

/* Long output on its way out, written in pieces. Start with buf_init(). */
struct sink_pieces {
    struct buf buf;
    struct sink_output *output;
    struct error *err;
    int rc; /* of the writes until now */
};
#define SINK_PIECE_BYTES (64u * 1024)
void sink_pieces_flush(struct sink_pieces *out, size_t from_bytes); /* once so many wait */
int sink_pieces_end(struct sink_pieces *out); /* writes the rest, frees; returns rc */

#endif

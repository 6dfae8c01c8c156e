/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows of counted calls as they are written out: tables for people, JSON for programs (a window
 * an object, docs/json.md), CSV (a function a line), or folded stacks for flame graphs. */
#ifndef BEAMTOP_OUTPUT_CALLS_SINK_H
#define BEAMTOP_OUTPUT_CALLS_SINK_H

#include <stdbool.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/error.h"
#include "beamtop/etf/print.h"
#include "beamtop/output/writer.h"
#include "beamtop/trace/calls_several.h"

enum calls_format { CALLS_TEXT, CALLS_JSON, CALLS_CSV, CALLS_FOLDED };

struct calls_sink_options {
    enum calls_format format;
    enum print_syntax syntax; /* of functions in text */
    const char *node;         /* borrowed */
    bool ascii;               /* text: nothing beyond ASCII */
    bool spreadsheet;         /* csv: as in sink.h */
    bool by_node;             /* of several nodes; text, folded: also what each of them has */
};

/* The writer and the options are the caller's to fill in, all else is zero. Nothing to free. */
struct calls_sink {
    struct sink_output output;
    struct calls_sink_options options;
    bool header_written; /* of CSV */
};

/* ERR_SYSTEM when the bytes could not be written; from then on every call fails in the same way. */
int calls_sink_window(struct calls_sink *s, const struct calls_window *window, struct error *err);

/* A window of several nodes, made of these parts. CSV and folded have what each node of the sums
 * has. Errors as before. */
int calls_sink_several(struct calls_sink *s, const struct calls_several *window,
                       const struct calls_part *parts, struct error *err);

/* The forms: each appends to out. */
void calls_json_put(struct buf *out, const struct calls_window *w, struct slice node);
/* Reads what calls_json_put() wrote; texts are copied to the arena. ERR_FORMAT. */
int calls_window_read(struct calls_window *out, struct arena *arena, const char *json, size_t len,
                      struct error *err);
void calls_several_json(struct buf *out, const struct calls_several *w);
void calls_several_text(struct buf *out, const struct calls_several *w,
                        const struct calls_sink_options *options);
void calls_text_put(struct buf *out, const struct calls_window *w,
                    const struct calls_sink_options *options);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the forms of counted calls share. */
#ifndef BEAMTOP_OUTPUT_CALLS_FIELDS_H
#define BEAMTOP_OUTPUT_CALLS_FIELDS_H

#include "beamtop/output/calls_sink.h"
#include "beamtop/output/fields.h"
#include "beamtop/trace/calls_fields.h"

void calls_json_put(struct buf *out, const struct calls_window *w, struct slice node);
/* Reads what calls_json_put() wrote; texts are copied to the arena. ERR_FORMAT. */
int calls_window_read(struct calls_window *out, struct arena *arena, const char *json, size_t len,
                      struct error *err);
void calls_text_put(struct buf *out, const struct calls_window *w, enum print_syntax syntax,
                    bool ascii);

#endif

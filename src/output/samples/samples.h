/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the forms of samples share. */
#ifndef BEAMTOP_OUTPUT_SAMPLES_H
#define BEAMTOP_OUTPUT_SAMPLES_H

#include "beamtop/output/samples_sink.h"
#include "beamtop/output/writer.h"
#include "output/object_fields.h"

#define SAMPLES_PID_BYTES 48
/* "<0.123.0>" to `to`, which it returns; empty: of no process. */
char *samples_pid(const struct sample *sample, char *to);
/* " at lists.erl:1243", " from beam.smp", or nothing. */
void samples_place(struct buf *out, const struct sample_frame *f, bool ascii);

void samples_text_put(struct sink_pieces *out, const struct samples_summary *run,
                      const struct samples_options *options);
void samples_json_put(struct sink_pieces *out, const struct samples_summary *run);
void samples_html_put(struct sink_pieces *out, const struct samples_summary *run);

#endif

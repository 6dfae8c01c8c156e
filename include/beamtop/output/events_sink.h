/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System events as they are written out: a line an event for people, JSON (an object a line,
 * docs/json.md), CSV; or their groups at the end. */
#ifndef BEAMTOP_OUTPUT_EVENTS_SINK_H
#define BEAMTOP_OUTPUT_EVENTS_SINK_H

#include "beamtop/base/error.h"
#include "beamtop/output/writer.h"
#include "beamtop/trace/events_run.h"

enum events_format { EVENTS_TEXT, EVENTS_JSON, EVENTS_CSV };

struct events_sink_options {
    enum events_format format;
    const char *node; /* borrowed */
    bool ascii;       /* text: nothing beyond ASCII */
    bool spreadsheet; /* csv: as in sink.h */
};

/* The writer and the options are the caller's to fill in, all else is zero. Nothing to free. */
struct events_sink {
    struct sink_output output;
    struct events_sink_options options;
    bool header_written; /* of CSV and text */
};

/* Each ERR_SYSTEM when the bytes could not be written; from then on every call fails so. */
int events_sink_event(struct events_sink *s, const struct system_event *e, struct error *err);
int events_sink_groups(struct events_sink *s, const struct system_event_groups *groups,
                       enum events_by by, struct error *err);
/* JSON: how it ended. */
int events_sink_end(struct events_sink *s, const struct events_run *run, struct error *err);

#endif

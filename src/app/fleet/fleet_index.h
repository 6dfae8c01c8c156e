/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The index of a directory with recordings of several nodes: which file is whose, how each went,
 * and how far the nodes' clocks were from that of the recording host (docs/recording.md). What is
 * read may come from anyone: names of files stay in the directory. */
#ifndef BEAMTOP_APP_FLEET_FLEET_INDEX_H
#define BEAMTOP_APP_FLEET_FLEET_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/base/limits.h"

#define FLEET_INDEX_FILE "index.json"
#define FLEET_INDEX_NODES 64 /* of LIMIT_RECORD_PEERS: there may be other recordings */
#define FLEET_INDEX_BYTES (1024u * 1024)

enum recorded_state {
    RECORDED_STARTING, /* no tick yet */
    RECORDED_RUNNING,
    RECORDED_COMPLETE, /* stopped, or its time is over; or it has left, and `why` says so */
    RECORDED_FAILED,   /* `why`; its file has what came until then */
};

/* The time of day of a node less that of this host, wrong by the bound at most. */
struct recorded_clock {
    int64_t wall_us; /* of this host, when it was measured; 0: it was not */
    double offset_us, bound_us;
};

struct recorded_node {
    char name[LIMIT_NODE_NAME_BYTES + 1];
    char file[256]; /* in the directory */
    enum recorded_state state;
    char why[300];
    int64_t ticks;
    struct recorded_clock begin, end; /* at the first tick and the last */
    int64_t from_us, until_us;        /* of its recorder, this host's time of day; 0: unknown */
};

struct fleet_index {
    int64_t begin_us, end_us; /* wall clock; end 0: it has not ended, or was cut off */
    struct recorded_node *nodes;
    size_t n;
};

void fleet_index_put(struct buf *out, const struct fleet_index *index);
/* ERR_FORMAT: it is none. The caller clears it either way. */
int fleet_index_read(struct fleet_index *out, const char *text, size_t len, struct error *err);
/* Of a directory. ERR_NOT_FOUND: it has none. */
int fleet_index_open(struct fleet_index *out, const char *dir, struct error *err);
void fleet_index_clear(struct fleet_index *index);

#endif

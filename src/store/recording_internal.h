/* What the files of the reader share. */
#ifndef BEAMTOP_STORE_RECORDING_INTERNAL_H
#define BEAMTOP_STORE_RECORDING_INTERNAL_H

#include "beamtop/base/arena.h"
#include "beamtop/base/buf.h"
#include "beamtop/store/recording.h"
#include "sqlite.h"

#define SPAN_SORTS 5 /* application, supervisor, module, name, label */

struct owner_sum;

/* What was summed of the span that was asked for last, as long as the file does not change. */
struct span_cache {
    int64_t from, to; /* -1: none */
    int64_t version, changes;
    struct known_stats {
        bool known;
        struct span_stats value;
    } *stats; /* as numbers are listed; NULL: none yet */
    bool owners_known;
    double owner_weight[SPAN_SORTS]; /* seconds of the ticks that count: who is not there had 0 then */
    struct owner_sum *owners;
    struct arena arena;
};

struct recording {
    sqlite3 *db;
    bool shared; /* the connection is a recorder's */
    struct recording_info info;
    struct arena arena;  /* texts of info */
    struct arena result; /* what was handed out last */
    struct buf term;     /* the answer that is handed out */
    struct span_cache cache;
};

/* A copy that is handed out: until the next question. */
struct slice recording_keep(struct recording *r, struct slice text);

struct span_cache *span_cache_of(struct recording *r, int64_t from, int64_t to);
void span_cache_clear(struct span_cache *c); /* to one of nothing */

#endif

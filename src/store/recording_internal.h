/* What the files of the reader share. */
#ifndef BEAMTOP_STORE_RECORDING_INTERNAL_H
#define BEAMTOP_STORE_RECORDING_INTERNAL_H

#include "beamtop/base/arena.h"
#include "beamtop/base/buf.h"
#include "beamtop/store/recording.h"
#include "sqlite.h"

struct recording {
    sqlite3 *db;
    bool shared; /* the connection is a recorder's */
    struct recording_info info;
    struct arena arena;  /* texts of info */
    struct arena result; /* what was handed out last */
    struct buf term;     /* the answer that is handed out */
};

#endif

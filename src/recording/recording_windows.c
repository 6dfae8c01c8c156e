/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The windows of counted calls of a recording, written out as they were when they were live. */
#include "beamtop/base/limits.h"
#include "beamtop/output/calls_sink.h"
#include "recording_internal.h"

static int put_windows(struct recording *r, sqlite3_stmt *s, struct calls_sink *sink, int64_t *n,
                       struct error *err)
{
    struct arena arena;
    struct buf json;
    int rc = 0;
    arena_init(&arena);
    buf_init(&json, 0);
    while (rc == 0 && recording_row(r, s)) {
        struct calls_window w;
        arena_reset(&arena);
        rc = db_column_inflate(s, 1, "a window of calls in the recording", &json, err);
        if (rc == 0)
            rc = calls_window_read(&w, &arena, (const char *)json.data, json.len, err);
        if (rc == 0)
            rc = calls_sink_window(sink, &w, err);
        *n += rc == 0;
    }
    buf_clear(&json);
    arena_clear(&arena);
    return rc;
}

static const char all_sql[] =
    "SELECT bytes, line FROM call_window WHERE tick >= ? AND line NOT NULL ORDER BY id LIMIT ?";
static const char last_sql[] = "SELECT bytes, line FROM call_window WHERE tick <= ? AND line NOT "
                               "NULL ORDER BY id DESC LIMIT ?";

int recording_windows_put(struct recording *r, int64_t tick, int64_t most, struct calls_sink *sink,
                          int64_t *n, struct error *err)
{
    sqlite3_stmt *s =
        recording_ask(r, most == 0 ? last_sql : all_sql, NUMBERS(tick, most == 0 ? 1 : most));
    *n = 0;
    int rc = put_windows(r, s, sink, n, err);
    sqlite3_finalize(s);
    return rc == 0 ? recording_failed(r, err) : rc;
}

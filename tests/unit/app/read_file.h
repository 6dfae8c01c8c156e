/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file read in every way, as a report and as a screen reads it. */
#ifndef TESTS_READ_FILE_H
#define TESTS_READ_FILE_H

#include "../../fuzz/read_all.h"
#include "app/source/replay.h"

enum { READ_FILE_TICKS = 12 };

static void replay_all(struct replay *replay)
{
    static const char *const places[] = {"+1m",   "-1m", "1h",  "12:30", "+mark",
                                         "-mark", "+#5", "-#5", "deploy"};
    replay_show_traces(replay);
    for (int64_t tick = replay_first(replay), n = 0; tick > 0 && n < READ_FILE_TICKS; n++) {
        struct error why = {0};
        (void)replay_to(replay, tick, &why);
        for (size_t i = 0; i < ARRAY_LEN(places); i++) {
            int64_t found;
            error_clear(&why);
            (void)replay_find(replay, places[i], &found, &why);
        }
        tick = replay_next(replay);
    }
}

/* Whether a screen could open it. */
static bool read_file(const char *path, unsigned ways, size_t which)
{
    struct error err = {0};
    struct recording *r = NULL;
    struct replay *replay = NULL;
    struct model *m = model_new();
    const bool is_replay = replay_open(&replay, path, m, &err) == 0;
    error_clear(&err);
    if (is_replay) {
        read_ways(replay_recording(replay), ways, which);
        recording_begin(replay_recording(replay));
        replay_all(replay);
        replay_close(replay);
    } else if (recording_open(&r, path, &err) == 0) {
        read_ways(r, ways, which);
        recording_close(r);
    }
    model_free(m);
    return is_replay;
}

#endif

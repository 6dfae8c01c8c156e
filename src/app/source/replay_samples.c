/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay_samples.h"

#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/model/samples.h"

struct replay_samples {
    struct samples_log log;
    struct recorded_samples kept; /* what the log borrows */
    int64_t id;                   /* of the run in the log; 0: none yet */
};

struct replay_samples *replay_samples_new(void)
{
    return alloc_zero(1, sizeof(struct replay_samples));
}

void replay_samples_free(struct replay_samples *s)
{
    if (!s)
        return;
    recorded_samples_clear(&s->kept);
    free(s);
}

static void take_run(struct replay_samples *s, struct recording *r, int64_t id)
{
    struct error ignored = {0}; /* the recording keeps it */
    recorded_samples_clear(&s->kept);
    s->id = recording_samples_of(r, id, &s->kept, &ignored) == 0 ? id : 0;
    s->log = (struct samples_log){
        .phase = SAMPLING_ENDED, .run = s->kept.run, .for_s = s->kept.run.seconds};
    const double whole = stacks_total(s->kept.run.stacks);
    if (s->kept.left_out > 0 && whole > 0)
        snprintf(s->log.note, sizeof s->log.note,
                 "%.1f%% of the samples end in \"…\": recorded are "
                 "the heaviest stacks",
                 s->kept.left_out / whole * 100);
}

void replay_samples_show(struct replay_samples *s, struct recording *r, int64_t tick,
                         struct model *m)
{
    const int64_t id = recording_info(r)->has_samples ? recording_samples_id(r, tick) : 0;
    model_set_samples(m, NULL);
    if (id > 0 && id != s->id)
        take_run(s, r, id);
    model_set_samples(m, id > 0 && s->id == id ? &s->log : NULL);
}

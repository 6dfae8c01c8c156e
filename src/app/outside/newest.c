/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "newest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"

struct newest_of {
    struct sample sample;            /* mono_ns 0: none yet; its frames are the next */
    uint32_t frames[OUTSIDE_FRAMES]; /* the newest calls, the newest last */
    size_t more;
};

void newest_take(struct newest *k, const struct sampled *run, const struct sample *sample)
{
    uint32_t ids[LIMIT_SAMPLE_FRAMES];
    if (sample->thread >= k->n) {
        const size_t n = sampled_threads(run);
        k->threads = alloc_resize(k->threads, n, sizeof *k->threads);
        memset(k->threads + k->n, 0, (n - k->n) * sizeof *k->threads);
        k->n = n;
    }
    if (sample->flags & SAMPLE_MOVED_ON)
        return;
    struct newest_of *of = &k->threads[sample->thread];
    const size_t n = sampled_frames(run, sample, ids, NULL);
    of->more = n > OUTSIDE_FRAMES ? n - OUTSIDE_FRAMES : 0;
    of->sample = *sample;
    of->sample.n_frames = n - of->more;
    of->sample.frames = NULL;
    memcpy(of->frames, ids + of->more, of->sample.n_frames * sizeof *ids);
}

static void put_frame(struct outside_frame *to, const struct sample_frame *f)
{
    char place[FRAME_PLACE_BYTES];
    if (!f) {
        snprintf(to->text, sizeof to->text, "[unknown]");
        return;
    }
    snprintf(to->text, sizeof to->text, "%.*s", (int)f->name.len, f->name.s);
    frame_place(place, sizeof place, f);
    snprintf(to->place, sizeof to->place, "%.63s", place);
}

static void put_stack(struct outside_stack *to, const struct newest_of *of,
                      const struct sampled *run)
{
    const struct sample *s = &of->sample;
    thread_title(to->thread, sizeof to->thread, sampled_thread(run, s->thread));
    if (s->pid_number > 0)
        snprintf(to->process, sizeof to->process, "<0.%" PRIu32 ".%" PRIu32 ">",
                 (uint32_t)s->pid_number, (uint32_t)s->pid_serial);
    to->n_frames = s->n_frames;
    to->more = of->more;
    for (size_t i = 0; i < s->n_frames; i++)
        put_frame(&to->frames[i],
                  stacks_frame_at(sampled_stacks(run), of->frames[s->n_frames - 1 - i]));
}

static int rank(const char *thread)
{
    return strncmp(thread, "scheduler", 9) == 0 ? 0 : strstr(thread, "scheduler") ? 1 : 2;
}

/* Schedulers in their order; the sampler announces threads as they run. */
static int by_thread(const void *a, const void *b)
{
    const struct outside_stack *x = a, *y = b;
    const size_t number = strcspn(x->thread, "0123456789");
    if (rank(x->thread) != rank(y->thread))
        return rank(x->thread) - rank(y->thread);
    if (strncmp(x->thread, y->thread, number) == 0)
        return atoi(x->thread + number) - atoi(y->thread + number);
    return strcmp(x->thread, y->thread);
}

size_t newest_stacks(const struct newest *k, const struct sampled *run, uint64_t since_ns,
                     struct outside_stack **out)
{
    size_t n = 0;
    *out = NULL;
    for (size_t i = 0; i < k->n && n < LIMIT_OUTSIDE_STACKS; i++) {
        if (k->threads[i].sample.mono_ns == 0 || k->threads[i].sample.mono_ns < since_ns)
            continue;
        *out = alloc_grow(*out, n, sizeof **out);
        (*out)[n] = (struct outside_stack){0};
        put_stack(&(*out)[n++], &k->threads[i], run);
    }
    if (n > 1)
        qsort(*out, n, sizeof **out, by_thread);
    return n;
}

void newest_clear(struct newest *k)
{
    free(k->threads);
    *k = (struct newest){0};
}

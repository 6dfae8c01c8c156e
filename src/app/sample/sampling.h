/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sampler that runs (local/sampler.h): the program itself, as a hidden command, with a pipe from
 * it for its records and one to it whose end ends it. Thread: that of the loop. */
#ifndef BEAMTOP_APP_SAMPLE_SAMPLING_H
#define BEAMTOP_APP_SAMPLE_SAMPLING_H

#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/local/records.h"
#include "beamtop/local/sampler.h"

struct sampling;

struct sampling_handlers {
    /* Each record but the last, in order; borrowed. */
    void (*record)(void *arg, const struct record *r);
    /* Once, the last call. end is NULL when it failed: it was refused, killed, or not understood.
     */
    void (*ended)(void *arg, const struct record_end *end, const struct error *err);
};

int sampling_start(struct sampling **out, uv_loop_t *loop, const struct sampler_options *o,
                   const struct sampling_handlers *handlers, void *arg, struct error *err);
/* It ends soon, with what it has; again: at once, with nothing, which may still be parsing. */
void sampling_stop(struct sampling *s);
/* No handler is called any more; it is ended, and frees itself. NULL is fine. */
void sampling_leave(struct sampling *s);

/* The hidden command's words, "sampler PID HZ …", and back. ERR_USAGE. */
#define SAMPLER_WORDS 9
void sampler_words(char words[SAMPLER_WORDS][24], const struct sampler_options *o);
int sampler_words_parse(struct sampler_options *o, const char *const *words, size_t n,
                        struct error *err);

#endif

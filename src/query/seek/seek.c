/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "seek.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define LIST_US 20000
#define LIST_HEAP_WORDS (UINT64_C(6) << 20) /* 48 MiB: two lists of a million and more */
#define STATUS_US 2.0                       /* each, measured 0.5 to 0.7 */

void seek_init(struct seek *s)
{
    s->list = alloc_zero(SEEK_MOST, sizeof *s->list);
}

void seek_clear(struct seek *s)
{
    free(s->list);
}

void seek_begin(struct seek *s, const char *node)
{
    s->node = node;
    s->n_list = s->next = s->n_later = s->n_out = 0;
    s->phase = SEEK_STATUS;
    s->processes = -1;
    s->read = 0;
}

/* ---- all processes */

void seek_add_list(struct seek *s, struct run_calls *calls)
{
    char most[32];
    (void)s;
    snprintf(most, sizeof most, "[[%d]]", SEEK_MOST);
    run_add_text(calls, "erlang", "system_info", "[process_count]");
    run_add(calls, "lists", "foldl", args_of_cut(args_plain_call("erlang", "processes"), most));
    calls->most_us = LIST_US;
    calls->heap_words = LIST_HEAP_WORDS;
}

void seek_take_list(struct seek *s, const struct slice *values, size_t n)
{
    struct cursor c;
    struct slice of;
    size_t count = 0;
    if (!values || n != 2 || !values_enter_list(values[1], &c, &count))
        return;
    s->processes = values_count(values[0]);
    for (size_t i = 0; i < count && s->n_list < SEEK_MOST; i++)
        if (cursor_pid(&c, &s->list[s->n_list], &of) && slice_is(of, s->node))
            s->n_list++;
}

/* ---- slices */

static void take_slice(struct seek *s, size_t *at, size_t end, size_t most)
{
    s->n_out = end - *at < most ? end - *at : most;
    memcpy(s->out, &s->list[*at], s->n_out * sizeof *s->out);
    *at += s->n_out;
}

/* The status needs no signal, so nobody is waited for. */
static void add_status(const struct seek *s, struct run_calls *calls)
{
    run_add(calls, "lists", "foldl",
            args_of_matches(s->node, s->out, s->n_out, "status",
                            args_of_text("[[{{status,waiting},[],[true]},"
                                         "{{status,suspended},[],[true]},{'_',[],[false]}]]")));
    calls->most_us = PRICE_BATCH_US + STATUS_US * (double)s->n_out;
}

static bool next_running(struct seek *s)
{
    if (s->phase != SEEK_RUNNING) {
        s->phase = SEEK_RUNNING;
        s->next = 0;
    }
    take_slice(s, &s->next, s->n_later, SEEK_FEW);
    return s->n_out > 0;
}

bool seek_next(struct seek *s, bool may_run, struct run_calls *calls)
{
    if (may_run)
        return next_running(s);
    if (s->phase == SEEK_WAITING)
        return s->n_out > 0;
    if (s->phase != SEEK_STATUS || s->next == s->n_list)
        return false;
    take_slice(s, &s->next, s->n_list, SEEK_SLICE);
    add_status(s, calls);
    return true;
}

/* Leaves those that wait in s->out; the others are kept for later where the list has been read. */
static void part_slice(struct seek *s, const struct slice *values)
{
    struct cursor c;
    struct slice is;
    size_t count, waiting = 0;
    const bool ok = values && values_enter_list(values[0], &c, &count) && count == s->n_out;
    for (size_t i = 0; ok && i < s->n_out && cursor_raw(&c, &is); i++)
        if (who_term_is(is, "true"))
            s->out[waiting++] = s->out[i];
        else
            s->list[s->n_later++] = s->out[i];
    s->n_out = waiting;
    s->phase = waiting > 0 ? SEEK_WAITING : SEEK_STATUS;
}

bool seek_take(struct seek *s, const struct slice *values)
{
    if (s->phase == SEEK_STATUS) {
        part_slice(s, values);
        return false;
    }
    if (s->phase == SEEK_WAITING)
        s->phase = SEEK_STATUS;
    return values;
}

void seek_give_up(struct seek *s)
{
    s->n_list = s->next;
    s->n_later = s->n_out = 0;
    s->phase = SEEK_STATUS;
}

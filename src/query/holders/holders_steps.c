/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of processes; and of a slice of them, by what a read costs: who can be read at once,
 * message queues, memory where nothing long is walked, lists where they are known to be short. */
#include "holders_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/scan/scan_table.h"
#include "query/scan/scan_walks.h"

#define LIST_MOST 100000 /* of one ask */
#define LIST_US 20000
#define LIST_HEAP_WORDS (UINT64_C(6) << 20) /* 48 MiB: two lists of a million and more */
#define READ_MS 2000                        /* it waits for who does not yield */
#define RUNNING_MS 300
#define RUNNING_MOST 16 /* of those that run; others are unknown this time */
#define SWEPT_US 5      /* each */
#define READ_US 15
#define WAY_US 1.5 /* of a pid and its items there, and an answer back */
#define COUNTED_US 20

#define WORD_BYTES 8
#define LINK_BYTES 40 /* the least of a link or monitor */
#define LINK_NS 100
#define LINK_WORDS 6      /* of one in a list, at most */
#define REFC_BYTES 65     /* the least of a refc binary */
#define REFC_HEAP_WORDS 3 /* the least that refers to one */
#define REFC_WORDS 9      /* of one in a list, at most */
#define LISTS_WORDS                                                                                \
    200000                  /* of an ask, of what its heap may be a fifth; a collection doubles it \
                             */
#define ALONE_WORDS 1000000 /* of one process; of one with more they are not counted */
#define ALONE_HEAP_WORDS (UINT64_C(4) << 20)
#define COPIED_US 20000

/* ---- the list */

void holders_begin_list(struct holders_read *r)
{
    r->n_list = 0;
    r->first = 1;
    r->has_failed = r->is_cut = false;
    free(r->list);
    r->list = NULL;
}

/* lists:sublist(processes(), First, LIST_MOST); abs/1 hands numbers on. */
static bool ask_all(void *own, struct run_calls *calls)
{
    const struct holders_read *r = own;
    char first[40], most[40];
    snprintf(first, sizeof first, "[%lld]", (long long)r->first);
    snprintf(most, sizeof most, "[%d]", LIST_MOST);
    const struct args_call inner[] = {{"erlang", "processes", 0, "[]", NULL},
                                      {"erlang", "abs", 1, first, NULL},
                                      {"erlang", "abs", 1, most, NULL}};
    if (r->first == 0)
        return false;
    run_add(calls, "lists", "foldl", args_of_calls("lists", "sublist", 3, inner, ARRAY_LEN(inner)));
    calls->most_us = LIST_US;
    calls->heap_words = LIST_HEAP_WORDS;
    return true;
}

static void take_all(void *own, const struct slice *values, size_t n)
{
    struct holders_read *r = own;
    struct cursor c;
    struct slice each;
    size_t count = 0;
    (void)n;
    /* A later part: fewer processes by now than it begins with, or it is not known. */
    r->has_failed = (!values || !values_enter_list(values[0], &c, &count)) && r->first == 1;
    struct etf_pid *list = alloc_zero(r->n_list + count + 1, sizeof *list);
    if (r->n_list > 0)
        memcpy(list, r->list, r->n_list * sizeof *list);
    free(r->list);
    r->list = list;
    for (size_t i = 0; i < count && cursor_raw(&c, &each); i++)
        if (who_read_pid(each, &r->node, &r->list[r->n_list]))
            r->n_list++;
    r->is_cut = r->n_list >= HOLDERS_MOST || (!values && r->first > 1);
    r->first = count == LIST_MOST && !r->is_cut ? r->first + LIST_MOST : 0;
}

/* ---- slices */

bool holders_next_slice(struct holders_read *r)
{
    struct holders_table *t = &r->table;
    size_t n = 0;
    while (r->next < t->n && !t->all[r->next].listed)
        r->next++;
    for (r->end = r->next; r->end < t->n && n < HOLDERS_SLICE; r->end++)
        n += t->all[r->end].listed;
    for (size_t i = r->next; i < r->end; i++)
        t->all[i].state = t->all[i].listed ? HOLDER_NEW : HOLDER_DONE;
    return n > 0;
}

/* Those of the slice that are so far, `most` at most. */
static bool choose_next(struct holders_read *r, enum holder_state state, size_t most)
{
    r->n_out = 0;
    for (size_t i = r->next; i < r->end && r->n_out < most; i++)
        if (r->table.all[i].state == state) {
            r->pids[r->n_out] = r->table.all[i].pid;
            r->out[r->n_out++] = &r->table.all[i];
        }
    return r->n_out > 0;
}

static void add_matches(const struct holders_read *r, struct run_calls *calls, const char *items,
                        const char *spec)
{
    if (r->n_out > 0)
        run_add(calls, "lists", "foldl",
                args_of_matches(r->node.name, r->pids, r->n_out, items, args_of_text(spec)));
    calls->way_us = WAY_US * (double)r->n_out;
}

/* It was looked at, and its numbers stay as they were: none, where it was never read. */
static void leave_unread(const struct holders_read *r, struct holder *h)
{
    h->uncounted = true;
    h->is_walked = !h->is_read || h->walked_ms != r->now_ms;
    holder_look(h);
}

static bool read_number(struct slice term, int64_t most, int64_t *out)
{
    return values_read_integer(term, out) && *out >= 0 && *out <= most;
}

typedef void take_fn(struct holders_read *r, struct holder *h, struct slice each);

/* A value for each of those that are out. An ask that failed leaves them as they were. */
static void take_each(struct holders_read *r, const struct slice *value, take_fn *take)
{
    struct cursor c;
    struct slice each = {0};
    size_t count = 0;
    const bool ok = value && values_enter_list(*value, &c, &count) && count == r->n_out;
    for (size_t i = 0; i < r->n_out; i++) {
        r->out[i]->reads++;
        if (!ok || !cursor_raw(&c, &each))
            leave_unread(r, r->out[i]);
        else if (who_term_is(each, "undefined"))
            holder_end(r->out[i]);
        else
            take(r, r->out[i], each);
    }
}

/* ---- who can be read: the status needs no signal, and waits for nobody */

static bool ask_status(struct holders_read *r, struct run_calls *calls, enum holder_state state)
{
    choose_next(r, state, HOLDERS_SLICE);
    add_matches(r, calls, "status",
                "[[{{status,running},[],[false]},{{status,garbage_collecting},[],[false]},"
                "{{status,'_'},[],[true]},{'_',[],[undefined]}]]");
    calls->most_us = SWEPT_US * (double)r->n_out;
    return r->n_out > 0;
}

static bool ask_new(void *own, struct run_calls *calls)
{
    return ask_status(own, calls, HOLDER_NEW);
}

static bool ask_moving(void *own, struct run_calls *calls)
{
    return ask_status(own, calls, HOLDER_MOVES);
}

static void take_one_status(struct holders_read *r, struct holder *h, struct slice each)
{
    (void)r;
    h->state = who_term_is(each, "true") ? HOLDER_STILL : HOLDER_MOVES;
}

static void take_status(void *own, const struct slice *values, size_t n)
{
    (void)n;
    take_each(own, values, take_one_status);
}

/* ---- message queues and work */

static bool add_work(struct holders_read *r, struct run_calls *calls)
{
    add_matches(r, calls, "[message_queue_len,reductions]",
                "[[{[{'_','$1'},{'_','$2'}],[],[['$1','$2',true]]},{'_',[],[undefined]}]]");
    run_add_text(calls, "erlang", "monotonic_time", "[nanosecond]");
    calls->most_us = SWEPT_US * (double)r->n_out;
    return r->n_out > 0;
}

static bool ask_work(void *own, struct run_calls *calls)
{
    choose_next(own, HOLDER_STILL, HOLDERS_SLICE);
    return add_work(own, calls);
}

/* Those that have run at both looks. */
static bool ask_running(void *own, struct run_calls *calls)
{
    choose_next(own, HOLDER_MOVES, RUNNING_MOST);
    return add_work(own, calls);
}

/* What a read of its memory walks is long, as it was when its memory was last read. */
static void choose_read(struct holders_read *r, struct holder *h)
{
    const struct scan_proc p = {
        .queue = h->now[HOLDS_QUEUE], .links_ns = h->links_ns, .walked_ms = h->walked_ms};
    h->state = !scan_walk_is_slow(&p, NULL)                    ? HOLDER_SHORT
               : scan_walk_has_turn(&p, r->paid_ms, r->now_ms) ? HOLDER_TURN
                                                               : HOLDER_LONG;
}

static void take_work_of(void *own, const struct slice *values, size_t n)
{
    struct holders_read *r = own;
    struct cursor c;
    int64_t mono_ns, queue, reductions;
    size_t count = 0;
    const bool ok = values && n == 2 && values_read_integer(values[1], &mono_ns) &&
                    values_enter_list(values[0], &c, &count) && count == r->n_out;
    for (size_t i = 0; i < r->n_out; i++) {
        struct holder *h = r->out[i];
        struct slice each = {0}, of[2];
        if (!ok || !cursor_raw(&c, &each)) {
            leave_unread(r, h);
        } else if (!values_read_list(each, of, ARRAY_LEN(of)) ||
                   !read_number(of[0], VALUES_MOST, &queue) ||
                   !read_number(of[1], INT64_MAX, &reductions)) {
            holder_end(h);
        } else {
            h->now[HOLDS_QUEUE] = queue;
            holder_work(h, reductions, mono_ns);
            choose_read(r, h);
        }
    }
}

/* ---- memory; of binaries what the collector's state says of their words: no list is made */

#define HEAPS "{memory,'$1'},{total_heap_size,'$2'},{current_function,'$3'}"
#define FUNCTION_SPEC                                                                              \
    "[[{[" HEAPS ",{garbage_collection_info,['_','_','_','_','_','_','_',{bin_vheap_size,'$4'},"   \
    "'_',{bin_old_vheap_size,'$5'}|'_']}],[],[['$1','$2',{'+','$4','$5'},'$3']]},"                 \
    "{[" HEAPS ",'_'],[],[['$1','$2',-1,'$3']]},{'_',[],[undefined]}]]"

static bool ask_memory(struct holders_read *r, struct run_calls *calls, enum holder_state state,
                       size_t most)
{
    choose_next(r, state, most);
    add_matches(r, calls, "[memory,total_heap_size,current_function,garbage_collection_info]",
                FUNCTION_SPEC);
    calls->most_us = READ_US * (double)r->n_out;
    return r->n_out > 0;
}

static bool ask_short(void *own, struct run_calls *calls)
{
    return ask_memory(own, calls, HOLDER_SHORT, HOLDERS_SLICE);
}

static bool ask_turn(void *own, struct run_calls *calls)
{
    const bool asks = ask_memory(own, calls, HOLDER_TURN, 1);
    calls->most_us = HUGE_VAL; /* all of it is work */
    return asks;
}

static void take_one_memory(struct holders_read *r, struct holder *h, struct slice each)
{
    struct slice of[4];
    int64_t memory, words, binary_words;
    if (!values_read_list(each, of, ARRAY_LEN(of)) || !read_number(of[0], VALUES_MOST, &memory) ||
        !read_number(of[1], VALUES_MOST / WORD_BYTES, &words)) {
        leave_unread(r, h);
        return;
    }
    h->uncounted = !read_number(of[2], VALUES_MOST / WORD_BYTES, &binary_words);
    h->now[HOLDS_MEMORY] = memory;
    h->now[HOLDS_HEAP] = words * WORD_BYTES;
    h->now[HOLDS_BINARY_BYTES] = h->uncounted ? 0 : binary_words * WORD_BYTES;
    h->text[OF_FUNCTION] = holders_text_of(&r->table, of[3]);
    const int64_t beside = memory - h->now[HOLDS_HEAP];
    h->links_ns = beside > 0 ? beside / LINK_BYTES * LINK_NS : 0;
    h->is_read = true;
    h->is_walked = false;
    h->walked_ms = r->now_ms;
    h->state = HOLDER_LISTS;
}

static void take_memory(void *own, const struct slice *values, size_t n)
{
    (void)n;
    take_each(own, values, take_one_memory);
}

/* Of one that is not read now what it was before, or the least that it can be. */
static bool ask_long(void *own, struct run_calls *calls)
{
    struct holders_read *r = own;
    choose_next(r, HOLDER_LONG, HOLDERS_SLICE);
    add_matches(r, calls, "[heap_size,current_function]",
                "[[{[{heap_size,'$1'},{current_function,'$2'}],[],[['$1','$2']]},"
                "{'_',[],[undefined]}]]");
    calls->most_us = READ_US * (double)r->n_out;
    return r->n_out > 0;
}

#define MESSAGE_WORDS 5 /* the least that one takes */

static void take_one_long(struct holders_read *r, struct holder *h, struct slice each)
{
    struct slice of[2];
    int64_t words;
    h->is_walked = h->uncounted = true;
    if (values_read_list(each, of, ARRAY_LEN(of)) &&
        read_number(of[0], VALUES_MOST / WORD_BYTES, &words)) {
        h->text[OF_FUNCTION] = holders_text_of(&r->table, of[1]);
        if (!h->is_read) {
            h->now[HOLDS_HEAP] = words * WORD_BYTES;
            h->now[HOLDS_MEMORY] = values_add(h->now[HOLDS_HEAP],
                                              h->now[HOLDS_QUEUE] < VALUES_MOST / 64
                                                  ? h->now[HOLDS_QUEUE] * MESSAGE_WORDS * WORD_BYTES
                                                  : VALUES_MOST);
        }
    }
    holder_look(h);
}

static void take_long(void *own, const struct slice *values, size_t n)
{
    (void)n;
    take_each(own, values, take_one_long);
}

/* ---- how many binaries, links, monitors: lengths of lists that are made on the node */

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Words that its lists take at most: each of what is in them takes room that is known. */
static int64_t list_words(const struct holder *h, bool with_binaries)
{
    const int64_t beside = h->now[HOLDS_MEMORY] - h->now[HOLDS_HEAP];
    const int64_t links = beside > 0 ? beside / LINK_BYTES : 0;
    const int64_t binaries = least_of(h->now[HOLDS_HEAP] / WORD_BYTES / REFC_HEAP_WORDS,
                                      h->now[HOLDS_BINARY_BYTES] / REFC_BYTES);
    return links * LINK_WORDS + (with_binaries ? binaries * REFC_WORDS : 0);
}

static bool has_binaries(const struct holder *h)
{
    return h->now[HOLDS_BINARY_BYTES] > 0;
}

/* Those that have binaries come last. */
static void choose_lists(struct holders_read *r)
{
    int64_t words = 0;
    r->n_out = 0;
    for (int pass = 0; pass < 2 && r->n_out == 0; pass++) {
        r->with_binaries = pass == 1;
        for (size_t i = r->next; i < r->end; i++) {
            struct holder *h = &r->table.all[i];
            if (h->state != HOLDER_LISTS || has_binaries(h) != r->with_binaries)
                continue;
            words += list_words(h, r->with_binaries);
            if (words > LISTS_WORDS && r->n_out > 0)
                return;
            r->pids[r->n_out] = h->pid;
            r->out[r->n_out++] = h;
        }
    }
}

static void leave_long_lists(struct holders_read *r)
{
    for (size_t i = r->next; i < r->end; i++) {
        struct holder *h = &r->table.all[i];
        if (h->state == HOLDER_LISTS && list_words(h, has_binaries(h)) > ALONE_WORDS)
            leave_unread(r, h);
    }
}

static bool ask_lists(void *own, struct run_calls *calls)
{
    struct holders_read *r = own;
    leave_long_lists(r);
    choose_lists(r);
    if (r->with_binaries)
        add_matches(r, calls, "[links,monitors,binary]",
                    "[[{[{'_','$1'},{'_','$2'},{'_','$3'}],[],"
                    "[[{length,'$1'},{length,'$2'},{length,'$3'},true]]},{'_',[],[undefined]}]]");
    else
        add_matches(r, calls, "[links,monitors]",
                    "[[{[{'_','$1'},{'_','$2'}],[],[[{length,'$1'},{length,'$2'},0,true]]},"
                    "{'_',[],[undefined]}]]");
    calls->most_us = COUNTED_US * (double)r->n_out + COPIED_US;
    if (r->n_out == 1)
        calls->heap_words = ALONE_HEAP_WORDS;
    return r->n_out > 0;
}

static void take_one_list(struct holders_read *r, struct holder *h, struct slice each)
{
    static const enum holder_number numbers[] = {HOLDS_LINKS, HOLDS_MONITORS, HOLDS_BINARIES};
    struct slice of[ARRAY_LEN(numbers)];
    (void)r;
    if (!values_read_list(each, of, ARRAY_LEN(of)))
        h->uncounted = true;
    else
        for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
            if (!read_number(of[i], VALUES_MOST, &h->now[numbers[i]]))
                h->now[numbers[i]] = 0;
    holder_look(h);
}

static void take_lists(void *own, const struct slice *values, size_t n)
{
    (void)n;
    take_each(own, values, take_one_list);
}

/* ---- the rest of those that run */

static bool leave_moving(void *own, struct run_calls *calls)
{
    struct holders_read *r = own;
    (void)calls;
    for (size_t i = r->next; i < r->end; i++)
        if (r->table.all[i].state != HOLDER_DONE)
            leave_unread(r, &r->table.all[i]);
    return false;
}

/* ---- in this order: those that wait, those that do by now, some of those that run */

#define READ_STEPS                                                                                 \
    {.ask = ask_short, .take = take_memory, .waits_ms = READ_MS},                                  \
        {.ask = ask_turn, .take = take_memory, .waits_ms = READ_MS, .repeats = true},              \
        {.ask = ask_long, .take = take_long, .waits_ms = READ_MS},                                 \
    {                                                                                              \
        .ask = ask_lists, .take = take_lists, .waits_ms = READ_MS, .repeats = true                 \
    }

const struct run_step holders_list_steps[] = {
    {.ask = ask_all, .take = take_all, .waits_ms = READ_MS, .repeats = true}};
const size_t holders_list_count = ARRAY_LEN(holders_list_steps);

const struct run_step holders_slice_steps[] = {
    {.ask = ask_new, .take = take_status},
    {.ask = ask_work, .take = take_work_of, .waits_ms = READ_MS},
    READ_STEPS,
    {.ask = ask_moving, .take = take_status},
    {.ask = ask_work, .take = take_work_of, .waits_ms = READ_MS},
    READ_STEPS,
    {.ask = ask_running, .take = take_work_of, .waits_ms = RUNNING_MS},
    READ_STEPS,
    {.ask = leave_moving},
};
const size_t holders_slice_count = ARRAY_LEN(holders_slice_steps);

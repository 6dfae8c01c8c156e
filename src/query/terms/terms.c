/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "terms.h"

#include "beamtop/base/attr.h"
#include "query/growth/growth_calls.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "terms_internal.h"

#define KEYS_EVERY_MS 30000
#define KEYS_CHANGED_MS 5000 /* where their number is another */
#define LISTED_MOST 200000   /* persistent_term:get/0 lists all there are */
#define LIST_WORDS (UINT64_C(8) << 20)
#define LIST_US 0.9 /* of each, measured */
#define INFO_US 0.06
#define KEY_US 2.0 /* of each with a row: a match specification, and its way */
/* A walk that takes longer is ended, and all values of that ask stay unknown. */
#define WALK_MS 50
#define LISTED_IN_MS 1000    /* persistent terms; where the host is busy a tenth */
#define SMALL_BYTES 67108864 /* of all: so none is large, and the walk may have that time */
#define AGAIN_MS 600000      /* until one that took so long by itself is tried again */
#define SIZES_MOST 6         /* asks of one question */
#define SIZES_STEP 8         /* so many times more, or fewer, in the next ask */
#define MODULES_EVERY_MS 10000
#define OWNERS_EVERY_MS 60000
#define MODULE_US 5.0
#define WAITS_MS 500
#define FIXED_MS 10 /* until each scheduler has sent its bytes, and a timer fires so late */
#define FIXED_MS_TEXT "[true,10]"
#define ATOMS_NAMED (INT64_C(1) << 24) /* what is beyond has no name in this form */

/* ---- counts */

static bool ask_totals(void *own, struct run_calls *calls)
{
    const struct terms_read *t = own;
    run_add_text(calls, "erlang", "system_info", "[wordsize]");
    run_add_text(calls, "erlang", "system_info", "[atom_count]");
    run_add_text(calls, "erlang", "system_info", "[atom_limit]");
    run_add_text(calls, "persistent_term", "info", "[]");
    run_add_text(calls, "erlang", "module_loaded", "[erts_debug]");
    if (t->persistent > 0) /* it goes through all */
        calls->most_us += INFO_US * (double)t->persistent;
    return true;
}

static void take_totals(void *own, const struct slice *values, size_t n)
{
    struct terms_read *t = own;
    t->word_bytes = t->atoms = t->atom_limit = t->persistent = t->persistent_bytes = -1;
    if (!values || n != 5)
        return;
    t->word_bytes = values_count(values[0]);
    t->atoms = values_count(values[1]);
    t->atom_limit = values_count(values[2]);
    t->persistent = values_count(values_find_in_map(values[3], "count"));
    t->persistent_bytes = values_count(values_find_in_map(values[3], "memory"));
    t->is_external = !who_term_is(values[4], "true");
}

/* ---- persistent terms */

static bool is_due(uint64_t now_ms, uint64_t last_ms, uint64_t every_ms)
{
    return last_ms == 0 || now_ms - last_ms >= every_ms;
}

static bool ask_keys(void *own, struct run_calls *calls)
{
    struct terms_read *t = own;
    const bool is_same = t->keys_ms > 0 && t->keys_count == t->persistent;
    if (t->persistent > LISTED_MOST) { /* those of before are not what there is */
        terms_keys_clear(&t->keys);
        t->keys_ms = t->keys_tried_ms = 0;
    }
    if (t->persistent < 0 || t->persistent > LISTED_MOST ||
        !is_due(t->now_ms, t->keys_tried_ms, is_same ? KEYS_EVERY_MS : KEYS_CHANGED_MS))
        return false;
    t->keys_tried_ms = t->now_ms;
    run_add(calls, "lists", "foldl", terms_keys_args());
    calls->most_us = PRICE_BATCH_US + LIST_US * (double)t->persistent + KEY_US * TERMS_KEYS;
    calls->heap_words = LIST_WORDS;
    return true;
}

static void take_keys(void *own, const struct slice *values, size_t n)
{
    struct terms_read *t = own;
    if (!values || n != 1 || !terms_take_keys(&t->keys, values[0]))
        return;
    t->keys_ms = t->now_ms;
    t->keys_count = t->persistent;
    t->size_at = t->bad_end = 0;
}

/* It took too long by itself, not long ago. */
static bool is_endless(const struct terms_read *t, size_t at)
{
    const uint64_t late_ms = t->keys.all[at].late_ms;
    return late_ms > 0 && t->now_ms - late_ms < AGAIN_MS;
}

/* Up to the next that is endless. */
static size_t part_of_sizes(const struct terms_read *t)
{
    size_t n = 1;
    while (n < t->size_n && t->size_at + n < t->keys.n && !is_endless(t, t->size_at + n))
        n++;
    return n;
}

static bool ask_value_sizes(void *own, struct run_calls *calls)
{
    struct terms_read *t = own;
    while (t->size_at < t->keys.n && is_endless(t, t->size_at))
        t->size_at++;
    const size_t n = t->size_at < t->keys.n ? part_of_sizes(t) : 0;
    if (n == 0 || t->sizes_left == 0 || t->persistent < 0 || t->keys_count != t->persistent)
        return false;
    t->sizes_left--;
    run_add(calls, "lists", "foldl", terms_sizes_args(t->size_at, n, t->is_external));
    const int64_t listed_in_ms =
        t->persistent_bytes <= SMALL_BYTES ? LISTED_IN_MS / 10 : LISTED_IN_MS;
    calls->ends_ms = WALK_MS + (unsigned)(t->persistent / listed_in_ms);
    calls->most_us = calls->ends_ms * 1000.0; /* all of it may be work */
    calls->heap_words = LIST_WORDS;
    return true;
}

/* Where it failed fewer, until one is left out; then the others. */
static void take_value_sizes(void *own, const struct slice *values, size_t n)
{
    struct terms_read *t = own;
    const size_t part = part_of_sizes(t);
    if (!values && n == 0) {
        t->sizes_left = 0; /* no value was too large */
    } else if (!values) {
        t->sizes_left = 0;
        t->bad_end = t->size_at + part;
        if (part == 1) {
            t->keys.all[t->size_at].bytes = -1;
            t->keys.all[t->size_at++].late_ms = t->now_ms;
        }
        t->size_n = part > SIZES_STEP ? part / SIZES_STEP : 1;
    } else if (n == 1 && terms_take_sizes(&t->keys, t->size_at, part, values[0],
                                          t->is_external ? 0 : t->word_bytes)) {
        t->size_at += part;
        if (t->size_at >= t->bad_end)
            t->size_n = t->size_n * SIZES_STEP < TERMS_KEYS ? t->size_n * SIZES_STEP : TERMS_KEYS;
    } else {
        t->sizes_left = 0; /* the list is another, and comes again */
        t->size_at = t->keys.n;
        t->keys_count = -1;
    }
}

/* ---- atoms */

static bool ask_atoms(void *own, struct run_calls *calls)
{
    struct terms_read *t = own;
    int64_t places[TERMS_ATOMS];
    size_t n = 0;
    for (int64_t at = t->atoms - 1; at >= 0 && at < ATOMS_NAMED && n < TERMS_ATOMS; at--)
        places[n++] = at;
    if (n == 0)
        return false;
    run_add(calls, "lists", "map", growth_atoms_args(places, n));
    return true;
}

static void take_atoms(void *own, const struct slice *values, size_t n)
{
    struct terms_read *t = own;
    struct cursor c;
    struct slice atom;
    size_t count;
    t->n_newest = 0;
    arena_reset(&t->atom_arena);
    if (!values || n != 1 || !values_enter_list(values[0], &c, &count))
        return;
    while (count-- > 0 && t->n_newest < TERMS_ATOMS && cursor_raw(&c, &atom))
        if (who_atom_of(atom).len > 0)
            t->newest[t->n_newest++] = slice_keep(&t->atom_arena, atom);
}

/* ---- modules */

static bool ask_modules(void *own, struct run_calls *calls)
{
    struct terms_read *t = own;
    if (!is_due(t->now_ms, t->modules_ms, MODULES_EVERY_MS))
        return false;
    run_add_text(calls, "erlang", "system_info", "[loaded]");
    calls->most_us = PRICE_BATCH_US + MODULE_US * (double)t->modules.n;
    return true;
}

static void take_modules(void *own, const struct slice *values, size_t n)
{
    struct terms_read *t = own;
    if (values && n == 1 && terms_take_modules(&t->modules, values[0]))
        t->modules_ms = t->now_ms;
}

/* Of #appl_data in #appl. */
#define OWNERS_SPEC "[ac_tab,[{{{loaded,'$1'},'$2'},[],[{{'$1',{element,6,{element,3,'$2'}}}}]}]]"

static bool ask_owners(void *own, struct run_calls *calls)
{
    struct terms_read *t = own;
    if (!is_due(t->now_ms, t->owners_ms, OWNERS_EVERY_MS))
        return false;
    t->owners_ms = t->now_ms;
    run_add_text(calls, "ets", "select", OWNERS_SPEC);
    calls->most_us = PRICE_BATCH_US + MODULE_US * (double)t->modules.n;
    return true;
}

static void take_owners(void *own, const struct slice *values, size_t n)
{
    struct terms_read *t = own;
    if (values && n == 1)
        (void)terms_take_owners(&t->owners, values[0]);
}

/* ---- timers */

static bool ask_timers(void *own, struct run_calls *calls)
{
    const struct terms_read *t = own;
    run_add(calls, "erlang", "system_info", growth_fixed_args(t->node.name, t->node.creation));
    /* Waits for all schedulers, so their bytes are there behind it. */
    run_add_text(calls, "erlang", "memory", "[[atom_used,ets]]");
    run_add_text(calls, "erlang", "system_info", "[schedulers]");
    run_add_text(calls, "erlang", "delay_trap", FIXED_MS_TEXT);
    run_add(calls, "lists", "foldl", args_of_messages());
    calls->waited_us = (FIXED_MS + 1) * 1000.0;
    calls->waits = 2;
    return true;
}

static void take_timers(void *own, const struct slice *values, size_t n)
{
    struct terms_read *t = own;
    int64_t schedulers;
    t->timers = (struct growth_kept){0};
    t->atom_bytes = -1;
    if (!values || n != 5)
        return;
    t->atom_bytes = values_find_integer(values[1], "atom_used");
    if (t->word_bytes == 8 && values_read_integer(values[2], &schedulers))
        t->timers = growth_read_kept(values[4], schedulers);
}

/* ---- the question */

static const struct run_step steps[] = {
    {ask_totals, take_totals, 0, false},
    {ask_timers, take_timers, WAITS_MS, false},
    {ask_atoms, take_atoms, 0, false},
    {ask_modules, take_modules, 0, false},
    {ask_owners, take_owners, 0, false},
    {ask_keys, take_keys, 0, false},
    {ask_value_sizes, take_value_sizes, WALK_MS, true},
};

static void init_terms(void *read)
{
    struct terms_read *t = read;
    arena_init(&t->keys.arena);
    arena_init(&t->atom_arena);
    arena_init(&t->modules.arena);
    arena_init(&t->owners.arena);
    t->size_n = TERMS_KEYS;
    t->persistent = -1;
}

static void begin_terms(void *read, const struct stepped_now *now)
{
    struct terms_read *t = read;
    t->now_ms = now->ms;
    t->node = (struct who_node){.name = now->node, .creation = now->creation};
    t->sizes_left = SIZES_MOST;
}

static void clear_terms(void *read)
{
    struct terms_read *t = read;
    terms_keys_clear(&t->keys);
    terms_modules_clear(&t->modules);
    terms_owners_clear(&t->owners);
    arena_clear(&t->atom_arena);
}

const struct stepped terms_question = {
    .question = QUESTION_TERMS,
    .bytes = sizeof(struct terms_read),
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_terms,
    .begin = begin_terms,
    .build = terms_build,
    .clear = clear_terms,
};

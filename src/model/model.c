/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_state.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/filter.h"
#include "beamtop/model/table.h"
#include "beamtop/model/waits.h"

/* ---- answers */

/* The answer that rates of the next one are worked out from. */
static const void *answer_before(const struct model *m, enum question question)
{
    return m->slots[question].gap ? NULL : model_answer(m, question);
}

static void all_gap(struct model *m)
{
    for (int q = 0; q < QUESTIONS; q++)
        m->slots[q].gap = true;
}

static void forget_counted(struct model *m)
{
    seen_forget(m->seen);
    seen_forget(m->seen_process);
    m->until_scan = m->until_apps = (struct node_work){0};
    heaps_base_clear(&m->heaps_base);
}

/* Forgets all counts and answers of another VM. After a gap, answers that came before `node` are
 * of the new VM already. */
static void forget_vm(struct model *m)
{
    forget_counted(m);
    if (!m->slots[QUESTION_NODE].gap)
        all_gap(m);
    for (int q = 0; q < QUESTIONS; q++)
        if (q != QUESTION_NODE && m->slots[q].gap)
            m->slots[q].known = false;
}

static void take_node(struct model *m, void *next, const struct taking *t)
{
    const struct node_info *node = next, *last = model_node(m);
    (void)t;
    if (last && node->start_wall_us != last->start_wall_us)
        forget_vm(m);
}

static void take_system(struct model *m, void *next, const struct taking *t)
{
    (void)t;
    m->is_silent = false;
    rate_system(next, answer_before(m, QUESTION_SYSTEM), model_node(m));
    history_push(&m->history, next, model_alloc(m));
}

/* Its numbers so far are of another. */
static void follow_process(struct model *m, const struct etf_pid *pid)
{
    struct ring *const rings[] = {&m->process_memory, &m->process_messages, &m->process_reductions};
    for (size_t i = 0; i < ARRAY_LEN(rings); i++) {
        const size_t samples = rings[i]->cap;
        ring_clear(rings[i]);
        ring_init(rings[i], samples);
    }
    m->process_pid = *pid;
}

static void push_process(struct model *m, const struct proc_row *row)
{
    if (memcmp(&m->process_pid, &row->pid, sizeof row->pid) != 0)
        follow_process(m, &row->pid);
    bool unknown = row->memory_bytes < 0 || (row->older >> ITEM_MEMORY) & 1;
    ring_push(&m->process_memory, unknown ? NAN : (double)row->memory_bytes);
    ring_push(&m->process_messages,
              row->message_queue_len < 0 ? NAN : (double)row->message_queue_len);
    ring_push(&m->process_reductions, row->reductions_per_s);
}

static void take_process(struct model *m, void *next, const struct taking *t)
{
    static const struct sweep_delta none = {0};
    struct process_detail *p = next;
    if (!p->gone) {
        seen_row(m->seen_process, &p->row, p->mono_ns, t->now_ns, &none);
        seen_call(m->seen, &p->row.pid, &p->row.initial_call, t->d->arena);
        finish_row(m, &p->row, node_reductions_per_s(m));
        push_process(m, &p->row);
    }
    p->memory_history = &m->process_memory;
    p->message_queue_history = &m->process_messages;
    p->reductions_history = &m->process_reductions;
}

static void take_apps(struct model *m, void *next, const struct taking *t)
{
    struct table_detail *apps = next;
    double all_per_s, own_per_s;
    (void)t;
    work_since(m, &m->until_apps, &all_per_s, &own_per_s);
    rate_apps(apps, answer_before(m, QUESTION_APPS), all_per_s);
    apps->own_share = rate_share(own_per_s, all_per_s);
}

static void take_waits(struct model *m, void *next, const struct taking *t)
{
    waits_follow(next, answer_before(m, QUESTION_WAITS), t->d->arena);
}

static void take_vm(struct model *m, void *next, const struct taking *t)
{
    history_tell_limit(&m->history, next, t->d->arena);
}

static void take_tree(struct model *m, void *next, const struct taking *t)
{
    struct tree_detail *tree = next;
    for (size_t i = 0; i < tree->n_nodes; i++)
        if (tree->nodes[i].has_pid)
            seen_call(m->seen, &tree->nodes[i].pid, &tree->nodes[i].initial_call, t->d->arena);
}

static void take_threads(struct model *m, void *next, const struct taking *t)
{
    (void)t;
    rate_threads(next, answer_before(m, QUESTION_THREADS), model_system(m));
}

static void take_msacc(struct model *m, void *next, const struct taking *t)
{
    (void)t;
    rate_msacc(next, answer_before(m, QUESTION_MSACC));
}

static const struct {
    size_t bytes;
    void (*decode)(struct decoder *d, void *to);
} answers[QUESTIONS] = {
#define ANSWER(id, name, type, ...) [QUESTION_##id] = {sizeof(type), decode_##name},
    QUESTION_DETAILS(ANSWER)
#undef ANSWER
#define TABLE(id, name, type, ...) [QUESTION_##id] = {sizeof(type), NULL},
        QUESTION_LISTS(TABLE)
#undef TABLE
};

/* What follows from an answer that was read: rates, history. Those before are still there. */
static void (*const follow[QUESTIONS])(struct model *m, void *next, const struct taking *t) = {
    [QUESTION_NODE] = take_node,   [QUESTION_SYSTEM] = take_system,
    [QUESTION_SCAN] = take_scan,   [QUESTION_PROCESS] = take_process,
    [QUESTION_APPS] = take_apps,   [QUESTION_ROWS] = take_rows_again,
    [QUESTION_HEAPS] = take_heaps, [QUESTION_THREADS] = take_threads,
    [QUESTION_MSACC] = take_msacc, [QUESTION_TREE] = take_tree,
    [QUESTION_WAITS] = take_waits, [QUESTION_VM] = take_vm,
};

/* What was last known of a process that has ended stays, marked as such. */
static bool keeps_last(struct model *m, const void *next)
{
    struct slot *slot = &m->slots[QUESTION_PROCESS];
    struct process_detail *last = slot->values[slot->current];
    if (!slot->known || !((const struct process_detail *)next)->gone ||
        (slot->of && !process_ref_same(&slot->of->last, &slot->of->asked)) ||
        (last->gone && !last->kept))
        return false;
    last->gone = last->kept = true;
    return true;
}

/* The answer before the last one makes room for the next. */
static void forget_before(struct slot *slot)
{
    struct table_detail *last = slot->values[slot->current];
    last->before = NULL;
    arena_reset(&slot->arenas[!slot->current]);
}

/* Sums of a table are compared with those before. */
static void forget_last(struct model *m, enum question question)
{
    struct slot *slot = &m->slots[question];
    struct table_detail *next = slot->values[!slot->current];
    if (table_lists[question] && !m->is_small)
        return;
    if (table_lists[question])
        next->before = NULL;
    if (m->is_small)
        arena_clear(&slot->arenas[slot->current]);
    else
        arena_reset(&slot->arenas[slot->current]);
}

int model_take(struct model *m, enum question question, const uint8_t *term, size_t len,
               const struct want_scan *asked, uint64_t now_ns, struct error *err)
{
    struct slot *slot = &m->slots[question];
    struct arena *arena = &slot->arenas[!slot->current];
    void *next = slot->values[!slot->current];
    struct decoder d = {.node = model_node(m), .items = asked ? asked->items : 0};
    const struct taking t = {&d, asked, now_ns};
    if (!next)
        return 0;
    if (table_lists[question])
        forget_before(slot);
    decoder_init(&d, arena, term, len);
    if (table_lists[question])
        decode_table(&d, question_name(question), table_lists[question], next);
    else
        answers[question].decode(&d, next);
    int rc = decoder_end(&d, question_name(question), err);
    if (rc < 0) {
        arena_reset(arena);
        return rc;
    }
    if (question == QUESTION_PROCESS && keeps_last(m, next)) {
        arena_reset(arena);
        return 0;
    }
    if (follow[question])
        follow[question](m, next, &t);
    else if (table_lists[question])
        table_rate(next, answer_before(m, question), table_lists[question]);
    forget_last(m, question);
    slot->current = !slot->current;
    slot->known = true;
    slot->gap = false;
    if (slot->of)
        slot->of->last = slot->of->asked;
    slot->round++;
    return 0;
}

void model_asked(struct model *m, enum question question, const struct process_ref *of)
{
    struct slot *slot = &m->slots[question];
    if (!slot->of)
        slot->of = alloc_zero(1, sizeof *slot->of);
    slot->of->asked = *of;
}

uint64_t model_round(const struct model *m, enum question question)
{
    return m->slots[question].round;
}

const struct process_ref *model_answer_of(const struct model *m, enum question question)
{
    static const struct process_ref nobody = {0};
    const struct slot_of *of = m->slots[question].of;
    return of ? &of->last : &nobody;
}

const void *model_answer(const struct model *m, enum question question)
{
    const struct slot *slot = &m->slots[question];
    return slot->known ? slot->values[slot->current] : NULL;
}

/* ---- life */

static struct model *new_sized(size_t history, size_t journal)
{
    struct model *m = alloc_zero(1, sizeof *m);
    for (int q = 0; q < QUESTIONS; q++)
        for (int i = 0; i < 2 && answers[q].bytes > 0; i++) {
            arena_init(&m->slots[q].arenas[i]);
            m->slots[q].values[i] = alloc_zero(1, answers[q].bytes);
        }
    m->filter = filter_new();
    m->seen = seen_new(LIMIT_SEEN_PIDS);
    m->seen_process = seen_new(1);
    history_init(&m->history, history);
    ring_init(&m->process_memory, history);
    ring_init(&m->process_messages, history);
    ring_init(&m->process_reductions, history);
    journal_init(&m->journal, journal);
    m->link = LINK_CONNECTING;
    m->cost = (struct tick_cost){.target_us = NAN, .bytes = NAN, .share = NAN};
    m->interval =
        (struct interval_info){.asked_s = NAN, .real_s = NAN, .budget = NAN, .why = m->why};
    return m;
}

struct model *model_new(void)
{
    return new_sized(LIMIT_HISTORY, LIMIT_JOURNAL);
}

struct model *model_new_small(void)
{
    struct model *m = new_sized(1, 1);
    m->is_small = true;
    return m;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    for (int q = 0; q < QUESTIONS; q++)
        for (int i = 0; i < 2 && answers[q].bytes > 0; i++) {
            arena_clear(&m->slots[q].arenas[i]);
            free(m->slots[q].values[i]);
        }
    for (int q = 0; q < QUESTIONS; q++)
        free(m->slots[q].of);
    filter_free(m->filter);
    seen_free(m->seen);
    seen_free(m->seen_process);
    history_clear(&m->history);
    ring_clear(&m->process_memory);
    ring_clear(&m->process_messages);
    ring_clear(&m->process_reductions);
    journal_clear(&m->journal);
    heaps_base_clear(&m->heaps_base);
    free(m);
}

struct filter *model_filter(const struct model *m)
{
    return m->filter;
}

/* ---- link, cost, journal */

void model_gap(struct model *m)
{
    history_gap(&m->history);
    ring_push(&m->process_memory, NAN);
    ring_push(&m->process_messages, NAN);
    ring_push(&m->process_reductions, NAN);
    seen_gap(m->seen);
    seen_gap(m->seen_process);
    all_gap(m);
}

void model_forget(struct model *m)
{
    forget_counted(m);
    all_gap(m);
    for (int q = 0; q < QUESTIONS; q++)
        m->slots[q].known = false;
    follow_process(m, &(struct etf_pid){0});
    m->is_silent = false;
    const size_t samples = m->history.lines[0].cap;
    history_clear(&m->history);
    m->history = (struct history){0};
    history_init(&m->history, samples);
    m->cost = (struct tick_cost){.target_us = NAN, .bytes = NAN, .share = NAN};
    m->way[0] = '\0';
}

bool model_is_silent(const struct model *m)
{
    return m->is_silent;
}

void model_set_link(struct model *m, enum link_state state, const char *text)
{
    if (state == LINK_LOST && m->link != LINK_LOST)
        model_gap(m);
    m->link = state;
    m->is_silent = m->is_silent || state == LINK_STALE;
    if (state != LINK_LIVE && state != LINK_STALE)
        m->to_sweep = 0;
    snprintf(m->link_text, sizeof m->link_text, "%s", text ? text : "");
}

void model_set_way(struct model *m, const char *text)
{
    snprintf(m->way, sizeof m->way, "%s", text);
}

void model_set_cost(struct model *m, const struct tick_cost *cost)
{
    m->cost = *cost;
}

void model_set_interval(struct model *m, const struct interval_info *interval)
{
    m->interval = *interval;
    snprintf(m->why, sizeof m->why, "%s", interval->why ? interval->why : "");
    m->interval.why = m->why;
}

void model_set_sweep(struct model *m, int64_t done, int64_t all)
{
    m->swept = done;
    m->to_sweep = all;
}

bool model_sweep(const struct model *m, int64_t *done, int64_t *all)
{
    *done = m->swept;
    *all = m->to_sweep;
    return m->to_sweep > 0;
}

void model_journal(struct model *m, int64_t wall_us, bool trouble, const char *fmt, ...)
{
    struct journal_entry *e = journal_add(&m->journal);
    va_list args;
    e->wall_us = wall_us;
    e->trouble = trouble;
    va_start(args, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, args);
    va_end(args);
}

void model_set_recorded(struct model *m, const struct recorded_position *place)
{
    m->is_recorded = place != NULL;
    if (place)
        m->place = *place;
}

const struct recorded_position *model_recorded(const struct model *m)
{
    return m->is_recorded ? &m->place : NULL;
}

void model_set_utc_offset(struct model *m, long seconds)
{
    m->utc_offset_s = seconds;
}

/* ---- reading */

long model_utc_offset(const struct model *m)
{
    return m->utc_offset_s;
}

const struct ring *model_history(const struct model *m, enum history_line line)
{
    return &m->history.lines[line];
}

enum link_state model_link(const struct model *m, const char **text)
{
    if (text)
        *text = m->link_text;
    return m->link;
}

const char *model_way(const struct model *m)
{
    return m->way;
}

const struct tick_cost *model_cost(const struct model *m)
{
    return &m->cost;
}

struct interval_info model_interval(const struct model *m)
{
    return m->interval;
}

size_t model_journal_len(const struct model *m)
{
    return m->journal.len;
}

const struct journal_entry *model_journal_at(const struct model *m, size_t age)
{
    return journal_at(&m->journal, age);
}

/* What the program shows beside the node's answers. */
#define SHOWN(SET, GET, MEMBER, TYPE)                                                              \
    void SET(struct model *m, const struct TYPE *shown)                                            \
    {                                                                                              \
        m->MEMBER = shown;                                                                         \
    }                                                                                              \
    const struct TYPE *GET(const struct model *m)                                                  \
    {                                                                                              \
        return m->MEMBER;                                                                          \
    }
SHOWN(model_set_trace, model_trace, trace, trace_log)
SHOWN(model_set_calls, model_calls, calls, calls_log)
SHOWN(model_set_spans, model_spans, spans, spans_run)
SHOWN(model_set_events, model_events, events, events_run)
SHOWN(model_set_outside, model_outside, outside, outside)
SHOWN(model_set_samples, model_samples, samples, samples_log)
SHOWN(model_set_findings, model_findings, findings, findings_shown)

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_state.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"

struct model *model_new(void)
{
    struct model *m = alloc_zero(1, sizeof *m);
    struct slot *const slots[] = {&m->node_slot,    &m->system_slot,  &m->scan_slot,
                                  &m->process_slot, &m->mailbox_slot, &m->state_slot,
                                  &m->alloc_slot,   &m->apps_slot,    &m->tree_slot,
                                  &m->armed_slot};
    for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
        arena_init(&slots[i]->arenas[0]);
        arena_init(&slots[i]->arenas[1]);
    }
    m->seen = seen_new(LIMIT_SEEN_PIDS);
    m->seen_process = seen_new(1);
    history_init(&m->history);
    ring_init(&m->process_memory, LIMIT_HISTORY);
    ring_init(&m->process_messages, LIMIT_HISTORY);
    ring_init(&m->process_reductions, LIMIT_HISTORY);
    journal_init(&m->journal);
    m->link = LINK_CONNECTING;
    m->cost = (struct tick_cost){.target_us = NAN, .bytes = NAN, .share = NAN};
    m->asked_s = m->real_s = m->budget = NAN;
    return m;
}

void model_free(struct model *m)
{
    if (m == NULL)
        return;
    struct slot *const slots[] = {&m->node_slot,    &m->system_slot,  &m->scan_slot,
                                  &m->process_slot, &m->mailbox_slot, &m->state_slot,
                                  &m->alloc_slot,   &m->apps_slot,    &m->tree_slot,
                                  &m->armed_slot};
    for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
        arena_clear(&slots[i]->arenas[0]);
        arena_clear(&slots[i]->arenas[1]);
    }
    seen_free(m->seen);
    seen_free(m->seen_process);
    history_clear(&m->history);
    ring_clear(&m->process_memory);
    ring_clear(&m->process_messages);
    ring_clear(&m->process_reductions);
    journal_clear(&m->journal);
    free(m);
}

struct arena *slot_next(struct slot *slot)
{
    return &slot->arenas[!slot->current];
}

int slot_end(struct slot *slot, int rc)
{
    if (rc < 0) {
        arena_reset(slot_next(slot));
        return rc;
    }
    arena_reset(&slot->arenas[slot->current]);
    slot->current = !slot->current;
    slot->known = true;
    return rc;
}

/* ---- answers */

/*
 * Nothing that was counted on one VM means anything on another. Behind a gap the samples that came
 * before the node's answer are the new VM's already.
 */
static void forget_vm(struct model *m)
{
    seen_forget(m->seen);
    seen_forget(m->seen_process);
    if (!m->gap_since_node)
        m->system_gap = m->apps_gap = true;
}

int model_take_node(struct model *m, const uint8_t *term, size_t len, struct error *err)
{
    struct node_info next;
    int rc = decode_node(slot_next(&m->node_slot), term, len, &next, err);
    if (rc == 0) {
        if (m->node_slot.known && next.start_wall_us != m->node.start_wall_us)
            forget_vm(m);
        m->gap_since_node = false;
        m->node = next;
    }
    return slot_end(&m->node_slot, rc);
}

int model_take_system(struct model *m, const uint8_t *term, size_t len, struct error *err)
{
    struct system_sample next;
    const struct node_info *node = model_node(m);
    int rc = decode_system(slot_next(&m->system_slot), term, len, node, &next, err);
    if (rc == 0) {
        const struct system_sample *before = model_system(m);
        rate_system(&next, m->system_gap ? NULL : before, node);
        m->system_gap = false;
        m->system = next;
        history_push(&m->history, &next);
    }
    return slot_end(&m->system_slot, rc);
}

static void push_process(struct model *m, const struct proc_row *row)
{
    if (memcmp(&m->process_pid, &row->pid, sizeof row->pid) != 0) {
        struct ring *const rings[] = {&m->process_memory, &m->process_messages,
                                      &m->process_reductions};
        for (size_t i = 0; i < ARRAY_LEN(rings); i++) {
            ring_clear(rings[i]);
            ring_init(rings[i], LIMIT_HISTORY);
        }
        m->process_pid = row->pid;
    }
    ring_push(&m->process_memory, row->memory_bytes < 0 ? NAN : (double)row->memory_bytes);
    ring_push(&m->process_messages,
              row->message_queue_len < 0 ? NAN : (double)row->message_queue_len);
    ring_push(&m->process_reductions, row->reductions_per_s);
}

int model_take_process(struct model *m, const uint8_t *term, size_t len, uint64_t now_ns,
                       struct error *err)
{
    static const struct sweep_delta none = {0};
    struct process_detail next;
    int rc = decode_process(slot_next(&m->process_slot), term, len, &next, err);
    if (rc == 0) {
        if (!next.gone) {
            seen_row(m->seen_process, &next.row, next.mono_ns, now_ns, &none);
            finish_row(m, &next.row);
            push_process(m, &next.row);
        }
        next.memory_history = &m->process_memory;
        next.message_queue_history = &m->process_messages;
        next.reductions_history = &m->process_reductions;
        m->process = next;
    }
    return slot_end(&m->process_slot, rc);
}

int model_take_mailbox(struct model *m, const uint8_t *term, size_t len, struct error *err)
{
    struct mailbox_detail next;
    int rc = decode_mailbox(slot_next(&m->mailbox_slot), term, len, &next, err);
    next.round = m->mailbox.round + 1;
    if (rc == 0)
        m->mailbox = next;
    return slot_end(&m->mailbox_slot, rc);
}

int model_take_state(struct model *m, const uint8_t *term, size_t len, struct error *err)
{
    struct state_detail next;
    int rc = decode_state(slot_next(&m->state_slot), term, len, &next, err);
    next.round = m->state.round + 1;
    if (rc == 0)
        m->state = next;
    return slot_end(&m->state_slot, rc);
}

int model_take_alloc(struct model *m, const uint8_t *term, size_t len, struct error *err)
{
    struct alloc_detail next;
    int rc = decode_alloc(slot_next(&m->alloc_slot), term, len, &next, err);
    if (rc == 0)
        m->alloc = next;
    return slot_end(&m->alloc_slot, rc);
}

int model_take_apps(struct model *m, const uint8_t *term, size_t len, struct error *err)
{
    struct apps_detail next;
    int rc = decode_apps(slot_next(&m->apps_slot), term, len, &next, err);
    if (rc == 0) {
        const struct system_sample *system = model_system(m);
        rate_apps(&next, m->apps_gap ? NULL : model_apps(m),
                  system == NULL ? NAN : system->reductions_per_s);
        next.own_share = own_share_of(m);
        m->apps_gap = false;
        m->apps = next;
    }
    return slot_end(&m->apps_slot, rc);
}

int model_take_tree(struct model *m, const uint8_t *term, size_t len, struct error *err)
{
    struct tree_detail next;
    int rc = decode_tree(slot_next(&m->tree_slot), term, len, &next, err);
    if (rc == 0)
        m->tree = next;
    return slot_end(&m->tree_slot, rc);
}

int model_take_armed(struct model *m, const uint8_t *term, size_t len, struct error *err)
{
    struct armed_detail next;
    int rc = decode_armed_rows(slot_next(&m->armed_slot), term, len, &next, err);
    if (rc == 0)
        m->armed = next;
    return slot_end(&m->armed_slot, rc);
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
    m->system_gap = m->apps_gap = m->gap_since_node = true;
}

void model_set_link(struct model *m, enum link_state state, const char *text)
{
    if (state == LINK_LOST && m->link != LINK_LOST)
        model_gap(m);
    m->link = state;
    snprintf(m->link_text, sizeof m->link_text, "%s", text == NULL ? "" : text);
}

void model_set_cost(struct model *m, const struct tick_cost *cost)
{
    m->cost = *cost;
    ring_push(&m->history.lines[HISTORY_COST_US], cost->target_us);
}

void model_set_interval(struct model *m, double asked_s, double real_s, double budget,
                        const char *why_stretched)
{
    m->asked_s = asked_s;
    m->real_s = real_s;
    m->budget = budget;
    snprintf(m->why, sizeof m->why, "%s", why_stretched == NULL ? "" : why_stretched);
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

void model_set_recorded(struct model *m, const struct recorded_place *place)
{
    m->is_recorded = place != NULL;
    if (place != NULL)
        m->place = *place;
}

const struct recorded_place *model_recorded(const struct model *m)
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

const struct node_info *model_node(const struct model *m)
{
    return m->node_slot.known ? &m->node : NULL;
}

const struct system_sample *model_system(const struct model *m)
{
    return m->system_slot.known ? &m->system : NULL;
}

const struct proc_scan *model_scan(const struct model *m)
{
    return m->scan_slot.known ? &m->scan : NULL;
}

const struct ring *model_history(const struct model *m, enum history_line line)
{
    return &m->history.lines[line];
}

enum link_state model_link(const struct model *m, const char **text)
{
    if (text != NULL)
        *text = m->link_text;
    return m->link;
}

const struct tick_cost *model_cost(const struct model *m)
{
    return &m->cost;
}

struct interval_info model_interval(const struct model *m)
{
    return (struct interval_info){m->asked_s, m->real_s, m->budget, m->why};
}

size_t model_journal_len(const struct model *m)
{
    return m->journal.len;
}

const struct journal_entry *model_journal_at(const struct model *m, size_t age)
{
    return journal_at(&m->journal, age);
}

const struct process_detail *model_process(const struct model *m)
{
    return m->process_slot.known ? &m->process : NULL;
}

const struct mailbox_detail *model_mailbox(const struct model *m)
{
    return m->mailbox_slot.known ? &m->mailbox : NULL;
}

const struct state_detail *model_state(const struct model *m)
{
    return m->state_slot.known ? &m->state : NULL;
}

const struct alloc_detail *model_alloc(const struct model *m)
{
    return m->alloc_slot.known ? &m->alloc : NULL;
}

const struct apps_detail *model_apps(const struct model *m)
{
    return m->apps_slot.known ? &m->apps : NULL;
}

const struct tree_detail *model_tree(const struct model *m)
{
    return m->tree_slot.known ? &m->tree : NULL;
}

const struct armed_detail *model_armed(const struct model *m)
{
    return m->armed_slot.known ? &m->armed : NULL;
}

void model_set_trace(struct model *m, const struct trace_log *log)
{
    m->trace = log;
}

const struct trace_log *model_trace(const struct model *m)
{
    return m->trace;
}

void model_set_calls(struct model *m, const struct calls_log *log)
{
    m->calls = log;
}

const struct calls_log *model_calls(const struct model *m)
{
    return m->calls;
}

void model_set_findings(struct model *m, const struct findings_shown *findings)
{
    m->findings = findings;
}

const struct findings_shown *model_findings(const struct model *m)
{
    return m->findings;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/limits.h"

/* ---- node */

int64_t node_os_pid(const struct node_info *node)
{
    char digits[20] = "";
    if (node && node->os_pid.len < sizeof digits)
        snprintf(digits, sizeof digits, "%.*s", (int)node->os_pid.len,
                 node->os_pid.len ? node->os_pid.s : "");
    return strtoll(digits, NULL, 10);
}

void decode_node(struct decoder *d, void *to)
{
    struct node_info *out = to;
    struct cursor *c = &d->c;
    *out = (struct node_info){.word_bytes = -1};
    cursor_tuple_of(c, 19);
    cursor_atom_is(c, "node");
    decode_atom(d, &out->name);
    decode_binary(d, &out->otp);
    decode_binary(d, &out->erts);
    decode_binary(d, &out->emulator);
    cursor_int64(c, &out->word_bytes);
    cursor_int64(c, &out->schedulers);
    cursor_int64(c, &out->schedulers_online);
    cursor_int64(c, &out->dirty_cpu);
    cursor_int64(c, &out->dirty_cpu_online);
    cursor_int64(c, &out->dirty_io);
    cursor_tuple_of(c, 4);
    decode_int(d, &out->process_limit);
    decode_int(d, &out->port_limit);
    decode_int(d, &out->atom_limit);
    decode_int(d, &out->ets_limit);
    decode_binary(d, &out->os);
    decode_binary(d, &out->os_pid);
    cursor_int64(c, &out->start_wall_us);
    decode_int(d, &out->net_tick_s);
    decode_atom(d, &out->code_mode);
    decode_binary(d, &out->elixir);
    decode_int(d, &out->cpus);
    if (!cursor_failed(c) && out->word_bytes != 4 && out->word_bytes != 8)
        cursor_fail(&d->c, "a word size of 4 or 8");
    const int64_t counts[] = {out->schedulers, out->schedulers_online, out->dirty_cpu,
                              out->dirty_cpu_online, out->dirty_io};
    for (size_t i = 0; i < ARRAY_LEN(counts) && !cursor_failed(c); i++)
        if (counts[i] < 0 || counts[i] > LIMIT_SCHEDULERS)
            cursor_fail(&d->c, "a possible number of schedulers");
}

/* ---- system */

static void decode_memory(struct decoder *d, struct system_sample *s)
{
    for (int i = 0; i < MEMORY_TYPES; i++)
        s->memory_bytes[i] = NAN;
    if (decode_undefined(d))
        return;
    cursor_tuple_of(&d->c, MEMORY_ASKED);
    for (int i = 0; i < MEMORY_ASKED; i++)
        cursor_number(&d->c, &s->memory_bytes[i]);
    const double *m = s->memory_bytes;
    s->memory_bytes[MEMORY_OTHER] =
        m[MEMORY_SYSTEM] - m[MEMORY_ATOM] - m[MEMORY_BINARY] - m[MEMORY_CODE] - m[MEMORY_ETS];
}

struct queues {
    int64_t *len;
    size_t n; /* normal ones, then dirty CPU, dirty I/O */
};

static void decode_queues(struct decoder *d, struct system_sample *s, struct queues *q)
{
    struct cursor_list list;
    cursor_tuple_of(&d->c, 2);
    cursor_int64(&d->c, &s->run_queue);
    if (!cursor_list(&d->c, &list))
        return;
    if (list.count > LIMIT_SCHEDULERS) {
        cursor_fail(&d->c, "fewer run queues");
        return;
    }
    q->n = list.count;
    q->len = arena_alloc(d->arena, (q->n + 1) * sizeof q->len[0]);
    for (size_t i = 0; i < q->n; i++)
        cursor_list_int64(&d->c, &list, &q->len[i]);
    cursor_list_end(&d->c, &list);
    s->run_queue_highest = s->run_queue_dirty_cpu = s->run_queue_dirty_io = -1;
    if (q->n < 3)
        return;
    for (size_t i = 0; i < q->n - 2; i++)
        if (q->len[i] > s->run_queue_highest)
            s->run_queue_highest = q->len[i];
    s->run_queue_dirty_cpu = q->len[q->n - 2];
    s->run_queue_dirty_io = q->len[q->n - 1];
}

/* The last one is missing in older recordings. */
static void decode_work(struct decoder *d, struct system_sample *s)
{
    int64_t *const counters[] = {&s->reductions,    &s->context_switches, &s->gcs,
                                 &s->gc_words,      &s->in_bytes,         &s->out_bytes,
                                 &s->own_reductions};
    size_t n = 0;
    if (cursor_tuple(&d->c, &n) && n != ARRAY_LEN(counters) && n != ARRAY_LEN(counters) - 1)
        cursor_fail(&d->c, "6 or 7 counters");
    for (size_t i = 0; i < n && !cursor_failed(&d->c); i++)
        decode_int(d, counters[i]);
}

/* Without the VM's counters the threads are still there: as many as the node says it has. */
static void list_schedulers(struct decoder *d, struct system_sample *s,
                            const struct node_info *node)
{
    int64_t n = node ? node->schedulers + node->dirty_cpu + node->dirty_io : 0;
    if (n <= 0 || n > LIMIT_SCHEDULERS)
        return;
    s->n_schedulers = (size_t)n;
    s->schedulers = arena_alloc(d->arena, s->n_schedulers * sizeof s->schedulers[0]);
    for (size_t i = 0; i < s->n_schedulers; i++)
        s->schedulers[i] = (struct scheduler){.id = (int64_t)i + 1, .active = -1, .total = -1};
}

static void decode_wall_time(struct decoder *d, struct system_sample *s,
                             const struct node_info *node)
{
    if (decode_undefined(d)) {
        list_schedulers(d, s, node);
        return;
    }
    struct cursor_list list;
    if (!decode_list(d, &list, LIMIT_SCHEDULERS, sizeof s->schedulers[0], &s->schedulers))
        return;
    s->n_schedulers = list.count;
    for (size_t i = 0; i < list.count && !cursor_failed(&d->c); i++) {
        cursor_tuple_of(&d->c, 3);
        cursor_int64(&d->c, &s->schedulers[i].id);
        cursor_int64(&d->c, &s->schedulers[i].active);
        cursor_int64(&d->c, &s->schedulers[i].total);
    }
    cursor_list_end(&d->c, &list);
}

static void name_schedulers(struct system_sample *s, const struct queues *q,
                            const struct node_info *node)
{
    int64_t normal = node ? node->schedulers : (q->n >= 3 ? (int64_t)q->n - 2 : 0);
    int64_t dirty_cpu = node ? node->dirty_cpu : normal;
    for (size_t i = 0; i < s->n_schedulers; i++) {
        struct scheduler *t = &s->schedulers[i];
        t->use = NAN;
        if (t->id <= normal) {
            t->kind = SCHEDULER_NORMAL;
            bool has_queue = t->id >= 1 && q->n >= 3 && t->id <= (int64_t)q->n - 2;
            t->queue_len = has_queue ? q->len[t->id - 1] : -1;
        } else if (t->id <= normal + dirty_cpu) {
            t->kind = SCHEDULER_DIRTY_CPU;
            t->queue_len = s->run_queue_dirty_cpu;
        } else {
            t->kind = SCHEDULER_DIRTY_IO;
            t->queue_len = s->run_queue_dirty_io;
        }
    }
}

/* Missing in recordings of before 0.2.0. */
static void decode_late(struct decoder *d, struct system_sample *s)
{
    struct cursor_list list;
    int64_t id = -1;
    cursor_tuple_of(&d->c, 2);
    cursor_int64(&d->c, &s->late_ms);
    if (!cursor_list(&d->c, &list))
        return;
    if (list.count > LIMIT_SCHEDULERS) {
        cursor_fail(&d->c, "fewer schedulers");
        return;
    }
    for (size_t i = 0; i < list.count && !cursor_failed(&d->c); i++) {
        cursor_list_int64(&d->c, &list, &id);
        if (i == 0)
            s->late_scheduler = id;
    }
    cursor_list_end(&d->c, &list);
}

void decode_system(struct decoder *d, void *to)
{
    struct system_sample *out = to;
    struct cursor *c = &d->c;
    struct queues queues = {0};
    *out = (struct system_sample){.rss_bytes = NAN,
                                  .virtual_bytes = NAN,
                                  .interval_s = NAN,
                                  .own_reductions = -1,
                                  .late_ms = -1,
                                  .late_scheduler = -1};
    size_t arity = 0;
    if (cursor_tuple(c, &arity) && arity != 10 && arity != 11)
        cursor_fail(&d->c, "a tuple of 10 or 11");
    cursor_atom_is(c, "system");
    decode_mono(d, &out->mono_ns);
    cursor_int64(c, &out->wall_us);
    cursor_int64(c, &out->uptime_ms);
    decode_memory(d, out);
    cursor_tuple_of(c, 4);
    decode_int(d, &out->processes);
    decode_int(d, &out->ports);
    decode_int(d, &out->atoms);
    decode_int(d, &out->ets_tables);
    decode_queues(d, out, &queues);
    decode_work(d, out);
    decode_wall_time(d, out, d->node);
    if (!decode_undefined(d)) {
        cursor_tuple_of(c, 2);
        cursor_number(c, &out->rss_bytes);
        cursor_number(c, &out->virtual_bytes);
    }
    if (arity == 11)
        decode_late(d, out);
    if (!cursor_failed(c))
        name_schedulers(out, &queues, d->node);
}

/* ---- scan */

/* How the value of an item travels. */
enum form { FORM_ID, FORM_INT, FORM_ATOM, FORM_MFA, FORM_PAIR, FORM_PID, FORM_BOOL };

#define AT(field, ...) offsetof(struct proc_row, field)
#define AT_SECOND(first, second, ...) AT(second, )
#define ITEM_SPEC(id, name, form, ...)                                                             \
    [ITEM_##id] = {#name, FORM_##form, AT(__VA_ARGS__, ), AT_SECOND(__VA_ARGS__, pid, )},

static const struct item_spec {
    const char *name;
    enum form form;
    size_t at, second; /* a second field is there in FORM_PAIR and FORM_PID */
} item_specs[] = {PROC_ITEM_LIST(ITEM_SPEC)};

void proc_row_clear(struct proc_row *row)
{
    const struct slice none = {"", 0};
#define UNKNOWN(type, field, unknown) .field = unknown,
#define UNKNOWN_ITEM(id, name, form, ...) PROC_FORM_##form(UNKNOWN, __VA_ARGS__)
    *row = (struct proc_row){.label = none,
                             .initial_call = none,
                             .application = none,
                             .word_bytes = -1,
                             .reductions_per_s = NAN,
                             .reductions_share = NAN,
                             .message_queue_per_s = NAN,
                             .memory_per_s = NAN,
                             .minor_gcs_per_s = NAN,
                             .age_s = NAN,
                             .older_s = NAN,
                             PROC_ITEM_LIST(UNKNOWN_ITEM)};
}

bool decode_identity(struct decoder *d, struct proc_row *row)
{
    struct slice mfa;
    return cursor_tuple_of(&d->c, 5) && decode_atom(d, &row->name) &&
           decode_mfa(d, &row->initial_call) && decode_binary(d, &row->label) &&
           decode_atom(d, &row->application) && decode_mfa(d, &mfa);
}

const char *proc_item_name(enum proc_item item)
{
    assert(item >= 0 && item < PROC_ITEMS);
    return item_specs[item].name;
}

enum proc_item proc_item_find(const char *name)
{
    int i = 0;
    while (i < PROC_ITEMS && strcmp(item_specs[i].name, name) != 0)
        i++;
    return (enum proc_item)i;
}

static bool decode_number(struct decoder *d, const struct item_spec *spec, struct proc_row *row)
{
    void *to = (char *)row + spec->at;
    bool older;
    double age_s;
    if (!decode_older(d, to, &older, &age_s))
        return false;
    if (older) {
        row->older |= UINT32_C(1) << (spec - item_specs);
        row->older_s = age_s;
    }
    return true;
}

static bool decode_form(struct decoder *d, const struct item_spec *spec, struct proc_row *row)
{
    void *to = (char *)row + spec->at, *second = (char *)row + spec->second;
    switch (spec->form) {
    case FORM_ID:
        return decode_identity(d, row);
    case FORM_INT:
        return decode_number(d, spec, row);
    case FORM_ATOM:
        return decode_atom(d, to);
    case FORM_MFA:
        return decode_mfa(d, to);
    case FORM_PAIR:
        return cursor_tuple_of(&d->c, 2) && decode_int(d, to) && decode_int(d, second);
    case FORM_PID:
        *(bool *)second = true;
        return cursor_pid(&d->c, to, NULL);
    case FORM_BOOL:
        return decode_bool(d, to);
    }
    return false;
}

bool decode_item(struct decoder *d, enum proc_item item, struct proc_row *row)
{
    if (decode_undefined(d))
        return true;
    row->items |= UINT32_C(1) << item;
    return decode_form(d, &item_specs[item], row);
}

static bool decode_change(struct decoder *d, int64_t *out, bool *known)
{
    *known = false;
    if (decode_undefined(d))
        return true;
    return *known = cursor_int64(&d->c, out);
}

static void decode_values(struct decoder *d, struct proc_row *row)
{
    size_t n_items = 0;
    for (int i = 0; i < PROC_ITEMS; i++)
        n_items += (d->items >> i) & 1;
    cursor_tuple_of(&d->c, n_items);
    for (int i = 0; i < PROC_ITEMS && !cursor_failed(&d->c); i++)
        if ((d->items >> i) & 1)
            decode_item(d, (enum proc_item)i, row);
}

static void decode_row(struct decoder *d, struct proc_row *row, struct scan_value *value)
{
    proc_row_clear(row);
    cursor_tuple_of(&d->c, 4);
    cursor_pid(&d->c, &row->pid, NULL);
    decode_change(d, &value->value, &value->has_value);
    decode_change(d, &value->delta, &value->has_delta);
    decode_values(d, row);
}

static void decode_ranked(struct decoder *d, struct proc_row **rows, size_t *n_rows,
                          struct scan_value **values)
{
    struct cursor_list list;
    if (!decode_list(d, &list, LIMIT_ROWS + WANT_PIDS, sizeof **rows, rows))
        return;
    *n_rows = list.count;
    *values = arena_alloc(d->arena, (list.count + 1) * sizeof **values);
    for (size_t i = 0; i < list.count && !cursor_failed(&d->c); i++)
        decode_row(d, &(*rows)[i], &(*values)[i]);
    cursor_list_end(&d->c, &list);
}

void decode_scan(struct decoder *d, void *to)
{
    struct proc_scan *out = to;
    struct cursor_list labels;
    int64_t interval_ns = 0;
    size_t arity = 0;
    struct cursor *c = &d->c;
    *out = (struct proc_scan){.interval_s = NAN, .own_share = NAN};
    if (cursor_tuple(c, &arity) && arity != 9 && arity != 10)
        cursor_fail(&d->c, "a tuple of 9 or 10");
    cursor_atom_is(c, "scan");
    decode_mono(d, &out->mono_ns);
    cursor_int64(c, &interval_ns);
    cursor_number(c, &out->sweep_us);
    cursor_int64(c, &out->total);
    cursor_int64(c, &out->matching);
    cursor_int64(c, &out->own);
    decode_ranked(d, &out->rows, &out->n_rows, &d->values.rows);
    /* The filter reads the labels (filter.c); here they only have to be a list. */
    if (cursor_list(c, &labels)) {
        if (labels.string)
            cursor_fail(&d->c, "a list of labels");
        for (size_t i = 0; i < labels.count && cursor_skip(c); i++)
            ;
        cursor_list_end(c, &labels);
    }
    if (arity == 10)
        decode_ranked(d, &out->watched, &out->n_watched, &d->values.watched);
    if (interval_ns > 0)
        out->interval_s = (double)interval_ns / 1e9;
}

void decode_rows(struct decoder *d, void *to)
{
    struct proc_rows *out = to;
    struct cursor_list list;
    struct cursor *c = &d->c;
    *out = (struct proc_rows){0};
    d->items &= PROC_ITEMS_AGAIN;
    cursor_tuple_of(c, 3);
    cursor_atom_is(c, "rows");
    decode_mono(d, &out->mono_ns);
    if (!decode_list(d, &list, LIMIT_ROWS + WANT_PIDS, sizeof *out->rows, &out->rows))
        return;
    out->n_rows = list.count;
    for (size_t i = 0; i < list.count && !cursor_failed(c); i++) {
        struct proc_row *row = &out->rows[i];
        proc_row_clear(row);
        cursor_tuple_of(c, 2);
        cursor_pid(c, &row->pid, NULL);
        row->gone = cursor_peek_atom(c, "gone");
        if (row->gone)
            cursor_skip(c);
        else
            decode_values(d, row);
    }
    cursor_list_end(c, &list);
}

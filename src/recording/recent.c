/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/hash.h"
#include "beamtop/model/fields.h"
#include "beamtop/model/kind.h"
#include "beamtop/output/fields.h"

#define MOST_REAL 1e19 /* what is more, a file would not give back either */

struct recent_text {
    UT_hash_handle hh;
    uint32_t id;
    size_t len;
    char text[];
};

struct recent_fact {
    struct recent_fact *next;
    int64_t tick;
    uint32_t key;
    size_t len;
    char json[];
};

struct recent *recent_new(void)
{
    struct recent *r = alloc_zero(1, sizeof *r);
    r->first = 1;
    r->last_fact = &r->facts;
    return r;
}

static void free_facts(struct recent_fact *f)
{
    while (f) {
        struct recent_fact *next = f->next;
        free(f);
        f = next;
    }
}

void recent_free(struct recent *r)
{
    if (!r)
        return;
    HASH_CLEAR(hh, r->texts);
    for (size_t i = 0; i < r->n_texts; i++)
        free(r->by_id[i]);
    free(r->by_id);
    free_facts(r->facts);
    buf_clear(&r->ticks);
    buf_clear(&r->systems);
    buf_clear(&r->processes);
    buf_clear(&r->owners);
    free(r);
}

/* ---- rows */

static struct recent_text *find_text(const struct recent *r, struct slice text)
{
    struct recent_text *t = NULL;
    HASH_FIND(hh, r->texts, text.s, text.len, t);
    return t;
}

static uint32_t text_id(struct recent *r, struct slice text)
{
    if (text.len == 0)
        return 0;
    struct recent_text *t = find_text(r, text);
    if (!t) {
        t = alloc_zero(1, sizeof *t + text.len + 1);
        memcpy(t->text, text.s, text.len);
        t->len = text.len;
        r->by_id = alloc_grow(r->by_id, r->n_texts, sizeof(struct recent_text *));
        r->by_id[r->n_texts++] = t;
        t->id = (uint32_t)r->n_texts;
        r->text_bytes += sizeof *t + text.len;
        HASH_ADD_KEYPTR(hh, r->texts, t->text, t->len, t);
    }
    return t->id;
}

static double count_of(int64_t v)
{
    return v < 0 ? (double)NAN : (double)v;
}

static double real_of(double v)
{
    return fabs(v) <= MOST_REAL ? v : (double)NAN;
}

static double number_of(const struct field *f, const void *base)
{
    const struct value v = field_value(f, base);
    double number = v.kind == VALUE_BOOL ? v.boolean : (double)NAN;
    if (v.kind == VALUE_NUMBER)
        number = v.is_integer ? (double)v.integer : v.number;
    return real_of(number);
}

void recent_add_tick(struct recent *r, const struct tick_row *row,
                     const struct system_sample *sample)
{
    const struct recent_tick tick = {
        .here_us = row->here_us,
        .wall_us = row->wall_us,
        .mono_ns = row->mono_ns,
        .interval_us = row->interval_us,
        .processes_end = r->processes_gone + r->processes.len / sizeof(struct recent_process),
        .owners_end = r->owners_gone + r->owners.len / sizeof(struct recent_owner)};
    buf_put(&r->ticks, &tick, sizeof tick);
    for (size_t i = 0; i < system_fields.n; i++) {
        const double v = sample ? number_of(&system_fields.fields[i], sample) : (double)NAN;
        buf_put(&r->systems, &v, sizeof v);
    }
}

static struct recent_tick *last_tick(struct recent *r)
{
    return (struct recent_tick *)(void *)r->ticks.data + r->ticks.len / sizeof(struct recent_tick) -
           1;
}

/* Behaviours of OTP 29 hibernate in a loop of their own, which hibernate/0 leaves as it is. */
static bool is_hibernating(struct slice function)
{
    const char loop[] = ":loop_hibernate/";
    const size_t tail = sizeof loop; /* a digit behind it */
    return slice_is(function, "erlang:hibernate/3") || slice_is(function, "erlang:hibernate/0") ||
           (slice_begins(function, "gen_") && function.len >= tail + strlen("gen_") &&
            memcmp(function.s + function.len - tail, loop, tail - 1) == 0 &&
            function.s[function.len - 1] >= '0' && function.s[function.len - 1] <= '9');
}

void recent_add_process(struct recent *r, const struct proc_row *row)
{
    const struct recent_process p = {.pid = row->pid,
                                     .name = text_id(r, row->name),
                                     .application = text_id(r, row->application),
                                     .initial_call = text_id(r, row->initial_call),
                                     .label = text_id(r, row->label),
                                     .current_function = text_id(r, row->current_function),
                                     .share = (float)real_of(row->reductions_share),
                                     .reductions_per_s = (float)real_of(row->reductions_per_s),
                                     .message_queue_len = (float)count_of(row->message_queue_len),
                                     .memory_bytes = count_of(row->memory_bytes),
                                     .kind = (uint8_t)proc_kind(row),
                                     .hibernates = is_hibernating(row->current_function)};
    buf_put(&r->processes, &p, sizeof p);
    last_tick(r)->processes_end++;
}

void recent_add_owner(struct recent *r, enum owner_by by, const struct owner *row)
{
    const struct recent_owner o = {.name = text_id(r, row->name),
                                   .by = (uint8_t)by,
                                   .kind = (uint8_t)row->kind,
                                   .share = (float)real_of(row->share),
                                   .reductions_per_s = (float)real_of(row->reductions_per_s),
                                   .memory_bytes = (float)real_of(row->memory_bytes),
                                   .message_queue_len = (float)real_of(row->message_queue_len),
                                   .processes = (float)count_of(row->processes)};
    buf_put(&r->owners, &o, sizeof o);
    last_tick(r)->owners_end++;
}

void recent_add_fact(struct recent *r, struct slice key, struct slice json)
{
    struct recent_fact *f = alloc_zero(1, sizeof *f + json.len + 1);
    f->tick = recent_last(r);
    f->key = text_id(r, key);
    f->len = json.len;
    memcpy(f->json, json.s, json.len);
    r->fact_bytes += sizeof *f + json.len;
    *r->last_fact = f;
    r->last_fact = &f->next;
}

/* ---- the ring */

static bool is_followed(const struct recent_fact *f, int64_t upto)
{
    for (const struct recent_fact *next = f->next; next && next->tick <= upto + 1;
         next = next->next)
        if (next->key == f->key)
            return true;
    return false;
}

static void drop_facts(struct recent *r, int64_t upto)
{
    struct recent_fact **at = &r->facts;
    while (*at) {
        struct recent_fact *f = *at;
        if (f->tick > upto || !is_followed(f, upto)) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        r->fact_bytes -= sizeof *f + f->len;
        free(f);
    }
    r->last_fact = at;
}

void recent_drop(struct recent *r, int64_t upto)
{
    const struct recent_tick *last = recent_tick(r, upto);
    if (!last)
        return;
    const size_t n = (size_t)(upto - r->first + 1), processes = last->processes_end,
                 owners = last->owners_end;
    buf_drop_front(&r->processes, (processes - r->processes_gone) * sizeof(struct recent_process));
    buf_drop_front(&r->owners, (owners - r->owners_gone) * sizeof(struct recent_owner));
    buf_drop_front(&r->systems, n * system_fields.n * sizeof(double));
    buf_drop_front(&r->ticks, n * sizeof(struct recent_tick));
    r->processes_gone = processes;
    r->owners_gone = owners;
    r->first = upto + 1;
    drop_facts(r, upto);
}

/* ---- reading */

int64_t recent_last(const struct recent *r)
{
    return r->first - 1 + (int64_t)(r->ticks.len / sizeof(struct recent_tick));
}

size_t recent_bytes(const struct recent *r)
{
    return r->ticks.cap + r->systems.cap + r->processes.cap + r->owners.cap + r->text_bytes +
           r->fact_bytes;
}

const struct recent_tick *recent_tick(const struct recent *r, int64_t tick)
{
    bool there = tick >= r->first && tick <= recent_last(r);
    return there ? (const struct recent_tick *)(const void *)r->ticks.data + (tick - r->first)
                 : NULL;
}

double recent_system(const struct recent *r, int64_t tick, size_t field)
{
    const double *values = (const double *)(const void *)r->systems.data;
    return values[(size_t)(tick - r->first) * system_fields.n + field];
}

const struct recent_process *recent_processes(const struct recent *r, int64_t tick, size_t *n)
{
    const struct recent_tick *at = recent_tick(r, tick), *before = recent_tick(r, tick - 1);
    const size_t begin = before ? before->processes_end : r->processes_gone;
    *n = at ? at->processes_end - begin : 0;
    return *n > 0 ? (const struct recent_process *)(const void *)r->processes.data + begin -
                        r->processes_gone
                  : NULL;
}

const struct recent_owner *recent_owners(const struct recent *r, int64_t tick, size_t *n)
{
    const struct recent_tick *at = recent_tick(r, tick), *before = recent_tick(r, tick - 1);
    const size_t begin = before ? before->owners_end : r->owners_gone;
    *n = at ? at->owners_end - begin : 0;
    return *n > 0
               ? (const struct recent_owner *)(const void *)r->owners.data + begin - r->owners_gone
               : NULL;
}

struct slice recent_text(const struct recent *r, int64_t id)
{
    if (id < 1 || (size_t)id > r->n_texts)
        return (struct slice){"", 0};
    const struct recent_text *t = r->by_id[id - 1];
    return (struct slice){t->text, t->len};
}

const char *recent_fact(const struct recent *r, const char *key, int64_t tick)
{
    const struct recent_text *text = find_text(r, slice_of(key));
    const char *json = NULL;
    for (const struct recent_fact *f = r->facts; text && f && f->tick <= tick; f = f->next)
        json = f->key == text->id ? f->json : json;
    return json;
}

double recent_period_s(const struct recent *r, int64_t from, int64_t to, int64_t *restarts)
{
    double seconds = 0;
    *restarts = 0;
    const struct recent_tick *ticks = (const struct recent_tick *)(const void *)r->ticks.data;
    from = from < r->first ? r->first : from;
    to = to > recent_last(r) ? recent_last(r) : to;
    for (int64_t i = from + 1; i <= to; i++) {
        const struct recent_tick *b = &ticks[i - r->first], *a = b - 1;
        const bool both = a->mono_ns != 0 && b->mono_ns != 0;
        *restarts += both && b->mono_ns < a->mono_ns;
        seconds += both && b->mono_ns > a->mono_ns
                       ? (double)(b->mono_ns - a->mono_ns) / 1e9
                       : fmax(0, (double)(b->here_us - a->here_us)) / 1e6;
    }
    return seconds;
}

int64_t recent_tick_at(const struct recent *r, int64_t wall_us)
{
    int64_t found = 0, most = -1;
    for (int64_t i = r->first; i <= recent_last(r); i++) {
        const int64_t at = recent_tick(r, i)->wall_us;
        if (at <= wall_us && at > most) {
            most = at;
            found = i;
        }
    }
    return found;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer to `facts` as JSON: what is a map, list, name, text, number there is one here. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/print.h"
#include "beamtop/recording/recording.h"
#include "beamtop/output/json.h"
#include "beamtop/model/waits.h"
#include "recorder_internal.h"

#define WAITED_FOR_MOST 10                  /* processes, and deadlocks */
#define CLOSED_MOST 10                      /* owners */
#define CLOSED_LEAST 10                     /* sockets of one: fewer than a finding is made of */
#define CLOSED_S 50                         /* two looks, about, for which a socket has been so */
#define OLD_NS (UINT64_C(900) * 1000000000) /* on the largest nodes they are asked so seldom */

/* Deeper than any fact is. */
#define FACT_DEPTH 8

static json_t *json_term(struct cursor *c, int depth);

static json_t *json_atom(struct cursor *c)
{
    struct slice name = {0};
    if (cursor_peek_atom(c, "true") || cursor_peek_atom(c, "false")) {
        bool v = false;
        return cursor_bool(c, &v) ? json_boolean(v) : NULL;
    }
    if (!cursor_atom(c, &name))
        return NULL;
    return slice_is(name, "undefined") ? json_null() : json_slice(name);
}

static json_t *json_list(struct cursor *c, int depth)
{
    struct cursor_list list;
    json_t *array = json_array();
    if (!cursor_list(c, &list)) {
        json_decref(array);
        return NULL;
    }
    for (size_t i = 0; i < list.count; i++) {
        int64_t byte = 0;
        json_t *item = NULL;
        if (!list.string)
            item = json_term(c, depth + 1);
        else if (cursor_list_int64(c, &list, &byte))
            item = json_integer(byte);
        if (!item || json_array_append_new(array, item) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    if (cursor_list_end(c, &list))
        return array;
    json_decref(array);
    return NULL;
}

static json_t *json_map(struct cursor *c, int depth)
{
    size_t pairs = 0;
    json_t *object = json_object();
    bool ok = cursor_map(c, &pairs);
    for (size_t i = 0; ok && i < pairs; i++) {
        struct slice key = {0};
        char text[256];
        ok = cursor_atom(c, &key) && key.len < sizeof text;
        json_t *value = ok ? json_term(c, depth + 1) : NULL;
        if (!value) {
            ok = false;
            break;
        }
        memcpy(text, key.s, key.len);
        text[key.len] = '\0';
        ok = json_object_set_new(object, text, value) == 0;
    }
    if (ok)
        return object;
    json_decref(object);
    return NULL;
}

/* As everywhere: "<0.1.2>". */
static json_t *json_pid(struct cursor *c)
{
    struct etf_pid pid;
    struct buf text;
    if (!cursor_pid(c, &pid, NULL))
        return NULL;
    buf_init(&text, 0);
    print_pid(&text, &pid);
    json_t *json = json_slice((struct slice){(const char *)text.data, text.len});
    buf_clear(&text);
    return json;
}

/* A function, {M, F, A}; there are no other tuples in it. */
static json_t *json_function(struct cursor *c)
{
    struct slice module, function;
    int64_t arity;
    struct buf text;
    if (!cursor_tuple_of(c, 3) || !cursor_atom(c, &module) || !cursor_atom(c, &function) ||
        !cursor_int64(c, &arity))
        return NULL;
    buf_init(&text, 0);
    print_mfa(&text, module, function, arity);
    json_t *json = json_slice((struct slice){(const char *)text.data, text.len});
    buf_clear(&text);
    return json;
}

static json_t *json_term(struct cursor *c, int depth)
{
    int64_t integer = 0;
    double number = 0;
    struct slice bytes = {0};
    if (depth > FACT_DEPTH)
        return NULL;
    switch (cursor_kind(c)) {
    case ETF_KIND_INTEGER:
        return cursor_int64(c, &integer) ? json_integer(integer) : NULL;
    case ETF_KIND_FLOAT:
        return cursor_number(c, &number) ? json_real(number) : NULL;
    case ETF_KIND_ATOM:
        return json_atom(c);
    case ETF_KIND_BINARY:
        return cursor_binary(c, &bytes) ? json_slice(bytes) : NULL;
    case ETF_KIND_NIL:
    case ETF_KIND_LIST:
    case ETF_KIND_STRING:
        return json_list(c, depth);
    case ETF_KIND_MAP:
        return json_map(c, depth);
    case ETF_KIND_PID:
        return json_pid(c);
    case ETF_KIND_TUPLE:
        return json_function(c);
    case ETF_KIND_NONE:
    case ETF_KIND_PORT:
    case ETF_KIND_REF:
    case ETF_KIND_FUN:
    case ETF_KIND_RECORD:
        break;
    }
    return NULL;
}

/* Sorted keys: the same facts are the same text, whatever the order of the node's maps. */
static void put_fact(struct recorder *r, const char *key, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    if (text && !json_is_null(value))
        recorder_fact(r, key, text);
    free(text);
}

static void put_facts(struct recorder *r, json_t *facts)
{
    const char *key;
    json_t *value;
    json_object_foreach (facts, key, value)
        put_fact(r, key, value);
}

/* Of what changes at every tick: each answer of the first minute, for short recordings;
 * then few. */
#define OFTEN_NS 60000000000u
#define NUMBERS_EVERY_NS 60000000000u

static bool is_kept(struct fact_times *t, uint64_t now_ns, uint64_t every_ns)
{
    if (t->first_ns == 0)
        t->first_ns = now_ns;
    if (now_ns - t->first_ns >= OFTEN_NS && now_ns - t->last_ns < every_ns)
        return false;
    t->last_ns = now_ns;
    return true;
}

/* Small, and of use only when each answer's is there: counts that rise, and names. */
static void put_counts(struct recorder *r, const json_t *facts)
{
    static const char *const keys[] = {"waits", "kin", "senders"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        put_fact(r, keys[i], json_object_get(facts, keys[i]));
}

/* Names of atoms may be made of what users send: kept where values are. */
static void drop_examples(const struct recorder *r, json_t *facts)
{
    json_t *atoms = json_object_get(json_object_get(facts, "growth"), "atoms");
    if (!r->options.values)
        (void)json_object_del(atoms, "examples");
}

/* {Question, MonoNs, Facts}; of leaders with their pids behind it. */
int recorder_facts(struct recorder *r, enum question q, const uint8_t *term, size_t len,
                   struct error *err)
{
    struct cursor c;
    int64_t mono_ns = 0;
    json_t *facts = NULL;
    const struct question_row *row = &question_rows[q];
    cursor_init(&c, term, len);
    if (cursor_tuple_of(&c, q == QUESTION_LEADERS ? 4 : 3) && cursor_atom_is(&c, row->name) &&
        cursor_int64(&c, &mono_ns) && cursor_kind(&c) == ETF_KIND_MAP)
        facts = json_term(&c, 0);
    if (!facts)
        return error_set(err, ERR_FORMAT, "the answer to “%s” has an unknown form", row->name);
    if (row->kept_every_s == 0 ||
        is_kept(&r->facts_kept[q], (uint64_t)mono_ns, (uint64_t)row->kept_every_s * 1000000000)) {
        drop_examples(r, facts);
        put_facts(r, facts);
    }
    put_counts(r, facts);
    json_decref(facts);
    return 0;
}

/* ---- from the model */

static void note_fact(struct recorder *r, const char *key, json_t *o)
{
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    if (!text)
        alloc_fail();
    recorder_fact(r, key, text);
    free(text);
    json_decref(o);
}

static json_t *node_fact(const struct node_info *n)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "otp", json_slice(n->otp), "erts",
                     json_slice(n->erts), "schedulers_online", json_known(n->schedulers_online),
                     "dirty_io_schedulers", json_known(n->dirty_io), "process_limit",
                     json_known(n->process_limit), "port_limit", json_known(n->port_limit),
                     "atom_limit", json_known(n->atom_limit), "ets_limit", json_known(n->ets_limit),
                     "word_bytes", json_known(n->word_bytes), "code_mode",
                     json_slice(n->code_mode));
}

static json_t *allocators_fact(const struct alloc_detail *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct allocator_row *row = &a->rows[i];
        int64_t blocks = row->mbcs.block_bytes + row->sbcs.block_bytes + row->pool_block_bytes;
        int64_t carriers =
            row->mbcs.carrier_bytes + row->sbcs.carrier_bytes + row->pool_carrier_bytes;
        json_array_append_new(list, json_pack("{s:o,s:I,s:I}", "name", json_slice(row->name),
                                              "blocks_bytes", (json_int_t)blocks, "carriers_bytes",
                                              (json_int_t)carriers));
    }
    json_t *instances = json_array();
    for (size_t i = 0; i < a->n_instances; i++) {
        const struct allocator_instance *in = &a->instances[i];
        json_array_append_new(instances,
                              json_pack("{s:o,s:I,s:I,s:I}", "name", json_slice(in->name),
                                        "instance", (json_int_t)in->instance, "blocks_bytes",
                                        (json_int_t)in->block_bytes, "carriers_bytes",
                                        (json_int_t)in->carrier_bytes));
    }
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "allocators", list, "instances", instances,
                     "rss_bytes", json_known(a->rss_bytes), "anonymous_bytes",
                     json_known(a->anon_bytes), "fragmented_bytes", json_known(a->fragmented_bytes),
                     "outside_bytes", json_known(a->outside_bytes), "untouched_bytes",
                     json_known(a->untouched_bytes));
}

/* ---- waits */

static json_t *deadlock_fact(const struct waits_graph *g, struct arena *arena, size_t first)
{
    const struct waits_row *row = &g->rows[first];
    const struct waits_cycle cycle = waits_cycle_of(g, arena, first);
    char pid[40];
    snprintf(pid, sizeof pid, PID_FORMAT, PID_NUMBERS(&row->pid));
    return json_pack("{s:s,s:o,s:I,s:I,s:f}", "pid", pid, "cycle", json_slice(cycle.words),
                     "processes", (json_int_t)cycle.n, "behind",
                     (json_int_t)(row->behind + 1 - (int64_t)cycle.n), "for_s", cycle.seen_s);
}

static json_t *crowd_fact(const struct waits_row *row)
{
    const struct slice does = row->caller.len > 0 ? row->caller : row->function;
    char pid[40];
    snprintf(pid, sizeof pid, PID_FORMAT, PID_NUMBERS(&row->pid));
    return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:o,s:f}", "pid", pid, "name",
                     json_slice(row->name), "label", json_slice(row->label), "initial_call",
                     json_slice(row->initial_call), "kind", json_slice(row->kind), "function",
                     json_slice(does), "waiters", (json_int_t)row->waiters, "behind",
                     (json_int_t)row->behind, "message_queue_len",
                     json_known(row->message_queue_len), "for_s", row->crowded_s);
}

/* Rows come deadlocks first, then who holds most. */
static json_t *waited_for_fact(const struct table_detail *t)
{
    const struct waits_row *rows = t->rows;
    json_t *deadlocks = json_array(), *processes = json_array();
    struct waits_graph g;
    struct arena arena;
    arena_init(&arena);
    waits_graph_make(&g, &arena, rows, t->n_rows);
    for (size_t i = 0; i < t->n_rows; i++) {
        const bool is_next =
            rows[i].deadlock > 0 && (i == 0 || rows[i].deadlock != rows[i - 1].deadlock);
        if (is_next && json_array_size(deadlocks) < WAITED_FOR_MOST)
            json_array_append_new(deadlocks, deadlock_fact(&g, &arena, i));
        if (rows[i].waiters > WAITS_CROWD && json_array_size(processes) < WAITED_FOR_MOST)
            json_array_append_new(processes, crowd_fact(&rows[i]));
    }
    arena_clear(&arena);
    return json_pack("{s:o,s:o,s:I,s:I,s:b}", "deadlocks", deadlocks, "processes", processes,
                     "waiting", (json_int_t)t->sums->waiting, "for_unknown",
                     (json_int_t)t->sums->unknown, "partial", t->partial);
}

/* ---- sockets that the other end has closed */

static int compare_owners(const void *a, const void *b)
{
    const struct ports_row *x = *(const struct ports_row *const *)a;
    const struct ports_row *y = *(const struct ports_row *const *)b;
    const int order = slice_order(x->owner_name, y->owner_name);
    return order ? order : slice_order(x->application, y->application);
}

/* Those of one name and application. */
struct closed_sockets {
    const struct ports_row *row; /* of the first */
    size_t n;
    double for_s; /* the least */
    bool one_owner, one_host;
};

static void count_closed(struct closed_sockets *c, const struct ports_row *row)
{
    if (c->n++ == 0)
        *c = (struct closed_sockets){row, 1, row->state_s, row->has_owner, true};
    c->for_s = row->state_s < c->for_s ? row->state_s : c->for_s;
    c->one_owner = c->one_owner && memcmp(&c->row->owner, &row->owner, sizeof row->owner) == 0;
    c->one_host = c->one_host && slice_equal(c->row->remote_host, row->remote_host);
}

static json_t *closed_fact(const struct closed_sockets *c)
{
    char pid[40] = "";
    if (c->one_owner)
        snprintf(pid, sizeof pid, PID_FORMAT, PID_NUMBERS(&c->row->owner));
    return json_pack("{s:s,s:o,s:o,s:o,s:I,s:f}", "pid", pid, "owner",
                     json_slice(c->row->owner_name), "application", json_slice(c->row->application),
                     "remote_host", c->one_host ? json_slice(c->row->remote_host) : json_null(),
                     "sockets", (json_int_t)c->n, "for_s", c->for_s);
}

static int compare_closed(const void *a, const void *b)
{
    const struct closed_sockets *x = a, *y = b;
    const int order = (y->n > x->n) - (y->n < x->n);
    return order ? order : compare_owners(&x->row, &y->row);
}

/* Of those that have a row, which are the first in close_wait: each was so at every look. */
static json_t *closed_sockets_fact(const struct table_detail *t)
{
    const struct ports_row *rows = t->rows, **closed = alloc_zero(t->n_rows + 1, sizeof *closed);
    struct closed_sockets *owners = alloc_zero(t->n_rows + 1, sizeof *owners);
    json_t *list = json_array();
    size_t n = 0, n_owners = 0;
    for (size_t i = 0; i < t->n_rows; i++)
        if (slice_is(rows[i].state, "close_wait") && rows[i].ports == 1 &&
            rows[i].state_s >= CLOSED_S)
            closed[n++] = &rows[i];
    qsort(closed, n, sizeof *closed, compare_owners);
    for (size_t i = 0; i < n; i++) {
        n_owners += i == 0 || compare_owners(&closed[i - 1], &closed[i]) != 0;
        count_closed(&owners[n_owners - 1], closed[i]);
    }
    qsort(owners, n_owners, sizeof *owners, compare_closed);
    for (size_t i = 0; i < n_owners && i < CLOSED_MOST && owners[i].n >= CLOSED_LEAST; i++)
        json_array_append_new(list, closed_fact(&owners[i]));
    free(owners);
    free(closed);
    return json_pack("{s:o,s:b}", "owners", list, "partial", t->partial);
}

static json_t *mnesia_fact(const struct table_detail *t)
{
    const struct mnesia_row *row = t->n_rows > 0 ? t->rows : NULL;
    json_t *o = json_object();
    json_object_set_new(o, "cut_nodes", row ? json_slice(row->cut_nodes) : json_null());
    if (row && row->cut_nodes.len > 0) {
        json_object_set_new(o, "running_nodes", json_integer((json_int_t)row->running_nodes));
        json_object_set_new(o, "schema_nodes", json_integer((json_int_t)row->schema_nodes));
        json_object_set_new(o, "for_s", json_number(row->cut_s));
    }
    return o;
}

/* ---- answers that findings read (base/question.h) */

static const struct {
    enum question question;
    const char *key;
    json_t *(*make)(const struct table_detail *t);
} judged[JUDGED_FACTS] = {
    {QUESTION_WAITS, "waited_for", waited_for_fact},
    {QUESTION_PORTS, "closed_sockets", closed_sockets_fact},
    {QUESTION_MNESIA, "mnesia", mnesia_fact},
};

/* Of each answer; of one that is old, that nothing is known. */
static void note_judged(struct recorder *r, const struct model *m)
{
    const struct system_sample *now = model_system(m);
    for (size_t i = 0; i < JUDGED_FACTS && now; i++) {
        const struct table_detail *t = model_answer(m, judged[i].question);
        if (!t)
            continue;
        if (now->mono_ns > t->mono_ns && now->mono_ns - t->mono_ns > OLD_NS)
            note_fact(r, judged[i].key, json_object());
        else if (r->judged_mono_ns[i] != t->mono_ns)
            note_fact(r, judged[i].key, judged[i].make(t));
        r->judged_mono_ns[i] = t->mono_ns;
    }
}

void recorder_note(struct recorder *r, const struct model *m)
{
    const struct alloc_detail *alloc = model_alloc(m);
    const struct system_sample *now = model_system(m);
    note_judged(r, m);
    if (model_node(m))
        note_fact(r, "node", node_fact(model_node(m)));
    if (!alloc || !now ||
        (r->alloc_mono_ns != 0 && now->mono_ns - r->alloc_mono_ns < NUMBERS_EVERY_NS))
        return;
    r->alloc_mono_ns = now->mono_ns;
    note_fact(r, "allocators", allocators_fact(alloc));
}

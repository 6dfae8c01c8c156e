/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables_one.h"

#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/print.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who.h"
#include "query/who/who_terms.h"

#define SPREAD_MS 1000
#define TEXT_BYTES 1000 /* of a list of nodes, or of indexes */
#define WORD_BYTES_MOST 8

/* ---- which table */

bool table_take_text(struct table_id *id, struct slice text)
{
    const bool fits = text.len > 0 && text.len <= TABLE_TEXT_BYTES && !memchr(text.s, 0, text.len);
    if (fits)
        memcpy(id->text, text.s, text.len);
    id->text[fits ? text.len : 0] = '\0';
    buf_reset(&id->term);
    return fits;
}

/* list_to_ref/1 refuses numbers that the node would take for a corrupt term. */
void table_ask_id(const struct table_id *id, struct run_calls *calls)
{
    const bool is_ref = slice_begins(slice_of(id->text), "#Ref<");
    struct builder *b = builder_new();
    build_list(b, is_ref ? 1 : 2);
    if (is_ref) {
        build_string(b, id->text, strlen(id->text));
    } else {
        build_binary(b, id->text, strlen(id->text));
        build_atom(b, "utf8");
    }
    build_nil(b);
    run_add(calls, "erlang", is_ref ? "list_to_ref" : "binary_to_existing_atom", b);
}

void table_take_id(struct table_id *id, const struct slice *values, size_t n)
{
    buf_reset(&id->term);
    if (values && n == 1)
        buf_put(&id->term, values[0].s, values[0].len);
}

struct slice table_term(const struct table_id *id)
{
    return (struct slice){(const char *)id->term.data, id->term.len};
}

void table_add_info(const struct table_id *id, struct run_calls *calls, const char *item)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_raw(b, id->term.data, id->term.len);
    build_atom(b, item);
    build_nil(b);
    run_add(calls, "ets", "info", b);
}

/* ---- what is read of it */

/* clang-format off */
enum item {
    ID, NAME, TYPE, PROTECTION, WRITE, READ, SPREAD, COMPRESSED, FIXED, KEY_POSITION, OWNER, HEIR,
    ITEMS
};
static const char *const items[ITEMS] = {
    "id", "name", "type", "protection", "write_concurrency", "read_concurrency",
    "decentralized_counters", "compressed", "fixed", "keypos", "owner", "heir"
};
enum copy { STORAGE, RAM, DISC, DISC_ONLY, ACTIVE, INDEXES, COPY_ITEMS };
static const char *const copy_items[COPY_ITEMS] = {
    "storage_type", "ram_copies", "disc_copies", "disc_only_copies", "active_replicas",
    "index_info"
};
/* clang-format on */

struct table_read {
    struct who_node node;
    struct table_id id;
    struct arena arena; /* of what follows, of this question */
    struct slice item[ITEMS], copy[COPY_ITEMS];
    bool exists, has_mnesia, is_late;
    int64_t word_bytes, words, objects, now_ns, fixed_ns, fixers;
    bool has_fixer;
    struct etf_pid fixer;
};

static bool is_true(const struct table_read *t, enum item item)
{
    return who_term_is(t->item[item], "true");
}

static bool ask_id(void *own, struct run_calls *calls)
{
    const struct table_read *t = own;
    table_ask_id(&t->id, calls);
    return true;
}

static void take_id(void *own, const struct slice *values, size_t n)
{
    struct table_read *t = own;
    table_take_id(&t->id, values, n);
}

static bool ask_items(void *own, struct run_calls *calls)
{
    const struct table_read *t = own;
    if (t->id.term.len == 0)
        return false;
    for (size_t i = 0; i < ITEMS; i++)
        table_add_info(&t->id, calls, items[i]);
    run_add_text(calls, "erlang", "system_info", "[wordsize]");
    run_add_text(calls, "erlang", "whereis", "[mnesia_sup]");
    return true;
}

static void take_items(void *own, const struct slice *values, size_t n)
{
    struct table_read *t = own;
    if (!values || n != ITEMS + 2 || !values_read_integer(values[ITEMS], &t->word_bytes) ||
        t->word_bytes < 1 || t->word_bytes > WORD_BYTES_MOST)
        return;
    for (size_t i = 0; i < ITEMS; i++)
        t->item[i] = slice_keep(&t->arena, values[i]);
    t->exists = who_atom_of(t->item[NAME]).len > 0 && !who_term_is(t->item[TYPE], "undefined");
    t->has_mnesia = !who_term_is(values[ITEMS + 1], "undefined");
}

static void add_sizes(const struct table_read *t, struct run_calls *calls)
{
    table_add_info(&t->id, calls, "memory");
    table_add_info(&t->id, calls, "size");
}

static bool ask_sizes(void *own, struct run_calls *calls)
{
    const struct table_read *t = own;
    add_sizes(t, calls);
    return t->exists && !is_true(t, SPREAD);
}

/* Waits for all schedulers. */
static bool ask_spread(void *own, struct run_calls *calls)
{
    const struct table_read *t = own;
    add_sizes(t, calls);
    calls->waits = 2;
    return t->exists && is_true(t, SPREAD);
}

static void take_sizes(void *own, const struct slice *values, size_t n)
{
    struct table_read *t = own;
    t->is_late = !values || n != 2;
    t->words = t->is_late ? -1 : values_count(values[0]);
    t->objects = t->is_late ? -1 : values_count(values[1]);
}

/* Who has fixed it, since when. */
static bool ask_fixed(void *own, struct run_calls *calls)
{
    const struct table_read *t = own;
    table_add_info(&t->id, calls, "safe_fixed_monotonic_time");
    run_add_text(calls, "erlang", "monotonic_time", "[]");
    run_add_text(calls, "erlang", "convert_time_unit", "[1000000000,nanosecond,native]");
    return t->exists && is_true(t, FIXED);
}

static void take_fixed(void *own, const struct slice *values, size_t n)
{
    struct table_read *t = own;
    struct slice parts[2], fixer[2];
    struct cursor c;
    int64_t since, now, per_s;
    size_t fixers;
    if (!values || n != 3 || !values_read_tuple(values[0], 2, parts, 2) ||
        !values_read_integer(parts[0], &since) || !values_read_integer(values[1], &now) ||
        !values_read_integer(values[2], &per_s) || !values_enter_list(parts[1], &c, &fixers))
        return;
    if (per_s > 0 && since <= now)
        t->fixed_ns = (int64_t)(((double)now - (double)since) / (double)per_s * 1e9);
    t->fixers = (int64_t)fixers;
    struct slice first;
    if (fixers > 0 && cursor_raw(&c, &first) && values_read_tuple(first, 2, fixer, 2))
        t->has_fixer = who_read_pid(fixer[0], &t->node, &t->fixer);
}

/* ets:lookup(mnesia_gvar, {Table, Item}): plain reads. */
static bool ask_copies(void *own, struct run_calls *calls)
{
    const struct table_read *t = own;
    for (size_t i = 0; i < COPY_ITEMS; i++) {
        struct builder *b = builder_new();
        build_list(b, 2);
        build_atom(b, "mnesia_gvar");
        build_tuple(b, 2);
        build_raw(b, t->id.term.data, t->id.term.len);
        build_atom(b, copy_items[i]);
        build_nil(b);
        run_add(calls, "ets", "lookup", b);
    }
    return t->exists && t->has_mnesia && who_atom_of(table_term(&t->id)).len > 0;
}

static void take_copies(void *own, const struct slice *values, size_t n)
{
    struct table_read *t = own;
    struct slice found[1], pair[2];
    for (size_t i = 0; values && i < n && i < COPY_ITEMS; i++)
        if (values_read_list(values[i], found, 1) && values_read_tuple(found[0], 2, pair, 2))
            t->copy[i] = slice_keep(&t->arena, pair[1]);
}

/* ---- the row, in the order of one_table_fields */

#define COLUMNS 28

static void build_printed(struct builder *b, struct slice term)
{
    static const struct print_limits limits = {.bytes = TEXT_BYTES, .items = 40};
    if (term.len > 0)
        values_build_printed(b, term, &limits);
    else
        build_atom(b, "undefined");
}

/* Appends the names of a list of nodes. */
static void put_nodes(struct buf *to, struct slice list)
{
    struct cursor c;
    struct slice node;
    size_t n;
    if (!values_enter_list(list, &c, &n))
        return;
    for (size_t i = 0; i < n && to->len < TEXT_BYTES && cursor_raw(&c, &node); i++) {
        const struct slice name = who_atom_of(node);
        buf_printf(to, "%s%.*s", to->len > 0 ? " " : "", (int)name.len, name.s);
    }
}

static void build_nodes(struct builder *b, const struct slice *lists, size_t n)
{
    struct buf text;
    buf_init(&text, 0);
    for (size_t i = 0; i < n; i++)
        put_nodes(&text, lists[i]);
    build_known_text(b, (struct slice){(const char *)text.data, text.len});
    buf_clear(&text);
}

static void build_person(struct builder *b, const struct table_read *t, bool known,
                         const struct etf_pid *pid, const struct stepped_who *who)
{
    const struct who_entry *entry = known ? who->find(who->arg, pid) : NULL;
    values_build_pid(b, t->node.name, known, pid);
    who_build_shown(b, entry);
}

static bool read_person(const struct table_read *t, enum item item, struct etf_pid *pid)
{
    return t->exists && who_read_pid(t->item[item], &t->node, pid);
}

static void build_people(struct builder *b, const struct table_read *t,
                         const struct stepped_who *who)
{
    struct etf_pid owner = {0}, heir = {0};
    const bool has_owner = read_person(t, OWNER, &owner), has_heir = read_person(t, HEIR, &heir);
    const struct who_entry *entry = has_owner ? who->find(who->arg, &owner) : NULL;
    build_person(b, t, has_owner, &owner, who);
    values_build_known(b, entry ? entry->application : (struct slice){0});
    build_person(b, t, has_heir, &heir, who);
}

static void build_flag(struct builder *b, const struct table_read *t, enum item item)
{
    build_known_bool(b, t->exists, is_true(t, item));
}

static void build_one_table(struct builder *b, const struct table_read *t,
                            const struct stepped_who *who)
{
    const bool is_known = t->words >= 0;
    build_tuple(b, COLUMNS);
    build_binary(b, t->id.text, strlen(t->id.text));
    build_bool(b, t->exists);
    values_build_known(b, t->exists ? t->item[NAME] : (struct slice){0});
    build_printed(b, t->item[ID]);
    build_printed(b, t->item[TYPE]);
    build_printed(b, t->item[PROTECTION]);
    build_people(b, t, who);
    build_known_int(b, is_known ? t->words * t->word_bytes : -1);
    build_known_int(b, t->objects);
    build_printed(b, t->item[WRITE]);
    build_flag(b, t, READ);
    build_flag(b, t, SPREAD);
    build_flag(b, t, COMPRESSED);
    build_known_int(b, t->exists ? values_count(t->item[KEY_POSITION]) : -1);
    build_flag(b, t, FIXED);
    build_known_int(b, t->fixed_ns < 0 ? -1 : t->fixed_ns / 1000000);
    build_known_int(b, t->fixers);
    build_person(b, t, t->has_fixer, &t->fixer, who);
    build_printed(b, t->copy[STORAGE]);
    build_nodes(b, &t->copy[RAM], 3);
    build_nodes(b, &t->copy[ACTIVE], 1);
    build_printed(b, t->copy[INDEXES]);
    build_known_int(b, is_known && t->objects > 0 ? t->words / t->objects : -1);
}

static void build_table(struct builder *b, void *read, int64_t mono_ns,
                        const struct stepped_who *who)
{
    struct table_read *t = read;
    build_tuple(b, 4);
    build_atom(b, "one_table");
    build_int(b, mono_ns);
    build_list(b, 1);
    build_one_table(b, t, who);
    build_nil(b);
    build_bool(b, t->is_late);
}

/* ---- the question */

static const struct run_step steps[] = {
    {ask_id, take_id, 0, false},       {ask_items, take_items, 0, false},
    {ask_sizes, take_sizes, 0, false}, {ask_spread, take_sizes, SPREAD_MS, false},
    {ask_fixed, take_fixed, 0, false}, {ask_copies, take_copies, 0, false},
};

static void init_table(void *read)
{
    struct table_read *t = read;
    arena_init(&t->arena);
    buf_init(&t->id.term, 0);
}

static bool take_argument(void *read, const uint8_t *arg, size_t len)
{
    struct table_read *t = read;
    struct cursor c;
    struct slice text = {0};
    cursor_init(&c, arg, len);
    (void)cursor_binary(&c, &text);
    (void)table_take_text(&t->id, text);
    return true;
}

static void begin_table(void *read, const struct stepped_now *now)
{
    struct table_read *t = read;
    arena_reset(&t->arena);
    t->node = (struct who_node){.name = now->node, .creation = now->creation};
    memset(t->item, 0, sizeof t->item);
    memset(t->copy, 0, sizeof t->copy);
    t->exists = t->has_mnesia = t->is_late = t->has_fixer = false;
    t->words = t->objects = t->fixed_ns = t->fixers = -1;
}

static size_t find_people(void *read, struct etf_pid *out)
{
    const struct table_read *t = read;
    size_t n = 0;
    n += read_person(t, OWNER, &out[n]);
    n += read_person(t, HEIR, &out[n]);
    if (t->has_fixer)
        out[n++] = t->fixer;
    return n;
}

static void clear_table(void *read)
{
    struct table_read *t = read;
    arena_clear(&t->arena);
    buf_clear(&t->id.term);
}

const struct stepped one_table_question = {
    .question = QUESTION_ONE_TABLE,
    .bytes = sizeof(struct table_read),
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_table,
    .takes = take_argument,
    .begin = begin_table,
    .whom = find_people,
    .build = build_table,
    .clear = clear_table,
};

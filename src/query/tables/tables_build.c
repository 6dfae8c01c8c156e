/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/print.h"
#include "query/native/values.h"
#include "query/scan/scan_table.h"
#include "query/who/who.h"
#include "tables_internal.h"

/* Tables of one owner and name that are added up; or one. */
struct sum {
    int64_t tables, words, objects; /* -1: not known of any */
    uint64_t oldest_ms;             /* when the one that was read longest ago was */
    bool is_least;                  /* that of one is not known */
};

static void add_table(struct sum *sum, const struct ets_table *table)
{
    sum->tables++;
    if (table->words < 0) {
        sum->is_least = true;
        return;
    }
    if (sum->words < 0 || table->read_ms < sum->oldest_ms)
        sum->oldest_ms = table->read_ms;
    sum->words = values_add(sum->words, table->words);
    sum->objects = values_add(sum->objects, table->objects);
}

/* ---- parts of a row */

/* N, or {older, N, AgeMs} where it was not read now; AgeMs `undefined`: that of one never was. */
static void build_bytes(struct builder *b, const struct tables_read *t, const struct sum *sum)
{
    const bool is_older = sum->words >= 0 && (sum->is_least || sum->oldest_ms < t->now_ms);
    if (is_older) {
        build_tuple(b, 3);
        build_atom(b, "older");
    }
    build_known_int(b, sum->words < 0 ? -1 : sum->words * t->word_bytes);
    if (is_older)
        build_known_int(b, sum->is_least ? -1 : (int64_t)(t->now_ms - sum->oldest_ms));
}

/* "#Ref<0.1.2.3>", or a name as Erlang writes it. */
static void build_id(struct builder *b, struct slice id)
{
    static const struct print_limits limits = {.bytes = 300};
    values_build_printed(b, id, &limits);
}

/* That of one without a name is its id. */
static void build_tid(struct builder *b, const struct tables_read *t, const struct ets_table *table)
{
    size_t len;
    struct builder *ref = builder_new();
    build_ref(ref, t->node.name, &table->tid);
    const uint8_t *bytes = builder_bytes(ref, &len);
    if (who_atom_of(table->id).len == 0)
        build_id(b, table->id);
    else if (table->tid.n > 0)
        build_id(b, (struct slice){(const char *)bytes + 1, len - 1});
    else
        build_atom(b, "undefined");
    builder_free(ref);
}

static void build_rest_id(struct builder *b, const struct ets_table *of)
{
    struct buf text;
    buf_init(&text, 0);
    buf_puts(&text, "rest of ");
    if (of->has_owner)
        print_pid(&text, &of->owner);
    const struct slice name = who_atom_of(of->name);
    buf_printf(&text, " %.*s", (int)name.len, name.s);
    build_binary(b, text.data, text.len);
    buf_clear(&text);
}

/* Who it is, and its application. */
static void build_owner(struct builder *b, const struct tables_read *t,
                        const struct ets_table *table, const struct stepped_who *who)
{
    const struct who_entry *entry = table->has_owner ? who->find(who->arg, &table->owner) : NULL;
    values_build_pid(b, t->node.name, table->has_owner, &table->owner);
    who_build_shown(b, entry);
    values_build_known(b, entry ? entry->application : (struct slice){0});
}

/* ---- rows, in the order of tables_fields */

static void build_sizes(struct builder *b, const struct tables_read *t, const struct sum *sum)
{
    build_int(b, sum->tables);
    build_known_int(b, sum->objects);
    build_bytes(b, t, sum);
}

static void build_one(struct builder *b, const struct tables_read *t, const struct ets_table *table,
                      const struct stepped_who *who)
{
    const bool has_copies = t->has_mnesia && table->is_mnesia && table->copies.len > 0;
    struct sum sum = {.words = -1, .objects = -1};
    add_table(&sum, table);
    build_tuple(b, TABLES_COLUMNS);
    build_id(b, table->id);
    values_build_known(b, table->name);
    build_owner(b, t, table, who);
    build_sizes(b, t, &sum);
    build_known_text(b, table->type);
    build_known_text(b, table->protection);
    build_known_text(b, table->write);
    build_known_bool(b, table->detail_ms > 0, table->read_concurrency);
    build_known_bool(b, table->is_base_known, table->is_spread);
    build_known_bool(b, table->detail_ms > 0, table->compressed);
    build_known_bool(b, table->detail_ms > 0, table->fixed);
    build_known_int(b, table->key_position);
    values_build_pid(b, t->node.name, table->has_heir, &table->heir);
    build_tid(b, t, table);
    build_known_text(b, has_copies ? table->copies : (struct slice){0});
    build_known_int(b, has_copies ? table->copy_nodes : -1);
    build_known_int(b, has_copies ? table->active_nodes : -1);
}

static void build_rest(struct builder *b, const struct tables_read *t, const struct ets_table *of,
                       const struct sum *sum, const struct stepped_who *who)
{
    build_tuple(b, TABLES_COLUMNS);
    build_rest_id(b, of);
    values_build_known(b, of->name);
    build_owner(b, t, of, who);
    build_sizes(b, t, sum);
    build_unknown(b, 13);
}

/* A dets table or a disk log: sizes are known to its process only. */
static void build_file(struct builder *b, const struct tables_read *t,
                       const struct kept_table *file, const struct stepped_who *who)
{
    const struct ets_table of = {.has_owner = file->has_pid, .owner = file->pid};
    build_tuple(b, TABLES_COLUMNS);
    build_id(b, file->name);
    values_build_known(b, who_atom_of(file->name).len > 0 ? file->name : (struct slice){0});
    build_owner(b, t, &of, who);
    build_unknown(b, 3);
    build_known_text(b, slice_of(file->type));
    build_unknown(b, 12);
}

/* ---- the rest, by owner and name */

static int compare_kin(const void *a, const void *b)
{
    const struct ets_table *x = *(struct ets_table *const *)a, *y = *(struct ets_table *const *)b;
    const int order = (x->has_owner > y->has_owner) - (x->has_owner < y->has_owner);
    const int by_owner = order ? order : scan_compare_pids(&x->owner, &y->owner);
    return by_owner ? by_owner : slice_order(x->name, y->name);
}

/* Appends the sums of n tables that are in the order of their kin, `most` at most. */
static void build_rests(struct builder *b, const struct tables_read *t,
                        struct ets_table *const *tables, size_t n, const struct stepped_who *who,
                        size_t most)
{
    size_t rows = 0;
    struct sum sum = {.words = -1, .objects = -1};
    for (size_t i = 0; i < n && rows < most; i++) {
        add_table(&sum, tables[i]);
        if (i + 1 < n && compare_kin(&tables[i], &tables[i + 1]) == 0)
            continue;
        build_rest(b, t, tables[i], &sum, who);
        sum = (struct sum){.words = -1, .objects = -1};
        rows++;
    }
}

static size_t count_kin(struct ets_table *const *tables, size_t n)
{
    size_t kin = n > 0;
    for (size_t i = 1; i < n; i++)
        kin += compare_kin(&tables[i - 1], &tables[i]) != 0;
    return kin;
}

/* Those of which something is known: others have gone, or were not asked yet. */
static size_t keep_known(struct tables_read *t, bool *partial)
{
    size_t n = 0;
    for (size_t i = 0; i < t->list.n; i++) {
        struct ets_table *table = t->ranked[i];
        *partial = *partial || !table->is_base_known || table->read_ms == 0;
        if (table->has_owner)
            t->ranked[n++] = table;
    }
    t->is_ranked = false;
    return n;
}

void tables_build(struct builder *b, void *read, int64_t mono_ns, const struct stepped_who *who)
{
    struct tables_read *t = read;
    bool partial = t->left_out || t->listed_ms == 0 || t->listed_count != t->count;
    const size_t n = keep_known(t, &partial), ones = n < TABLES_ROWS ? n : TABLES_ROWS;
    struct ets_table **rest = t->ranked + ones;
    qsort(rest, n - ones, sizeof(struct ets_table *), compare_kin);
    const size_t kin = count_kin(rest, n - ones), most = LIMIT_TABLE_ROWS - ones - t->n_files;
    build_tuple(b, 4);
    build_atom(b, "tables");
    build_int(b, mono_ns);
    build_list(b, ones + (kin < most ? kin : most) + t->n_files);
    for (size_t i = 0; i < ones; i++)
        build_one(b, t, t->ranked[i], who);
    build_rests(b, t, rest, n - ones, who, most);
    for (size_t i = 0; i < t->n_files; i++)
        build_file(b, t, &t->files[i], who);
    build_nil(b);
    build_bool(b, partial || kin > most || t->files_left_out);
}

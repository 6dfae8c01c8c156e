/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What other modules say of tables: dets and disk_log have registries, Mnesia says where copies
 * are. All are ETS tables that anybody may read; none of the processes is asked. */
#include "beamtop/base/attr.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "tables_internal.h"

#define COPIES_BATCH 100
#define COPY_US 2.0
#define LIST_WORDS (UINT64_C(1) << 20)

/* ---- who keeps tables here */

static bool is_due(const struct tables_read *t)
{
    return t->kept_ms == 0 || t->now_ms - t->kept_ms >= TABLES_DETAIL_MS;
}

bool tables_ask_keepers(void *own, struct run_calls *calls)
{
    struct tables_read *t = own;
    run_add_text(calls, "ets", "info", "[dets_registry,size]");
    run_add_text(calls, "ets", "info", "[disk_log_names,size]");
    run_add_text(calls, "erlang", "whereis", "[mnesia_sup]");
    return is_due(t);
}

void tables_take_keepers(void *own, const struct slice *values, size_t n)
{
    struct tables_read *t = own;
    t->kept_ms = t->now_ms;
    t->n_dets = t->n_logs = -1;
    t->has_mnesia = false;
    if (!values || n != 3)
        return;
    t->n_dets = values_count(values[0]);
    t->n_logs = values_count(values[1]);
    t->has_mnesia = !who_term_is(values[2], "undefined");
}

/* ---- dets tables and disk logs */

static bool has_some(int64_t n)
{
    return n > 0 && n <= TABLES_FILES;
}

bool tables_ask_files(void *own, struct run_calls *calls)
{
    struct tables_read *t = own;
    if (t->kept_ms != t->now_ms)
        return false;
    t->n_files = 0;
    t->files_left_out = t->n_dets > TABLES_FILES || t->n_logs > TABLES_FILES;
    arena_reset(&t->kept);
    if (has_some(t->n_dets))
        run_add_text(calls, "ets", "tab2list", "[dets_registry]");
    if (has_some(t->n_logs))
        run_add_text(calls, "ets", "tab2list", "[disk_log_names]");
    calls->most_us = COPY_US * (double)(2 * TABLES_FILES);
    calls->heap_words = LIST_WORDS;
    return calls->n > 0;
}

/* {Name, Users, Pid} of dets; {Name, Pid} of disk_log, before OTP 24 {Name, Pid, Where}. */
static void read_files(struct tables_read *t, struct slice list, const char *type, size_t pid_at)
{
    struct cursor c;
    struct slice entry, parts[3];
    size_t n;
    if (!values_enter_list(list, &c, &n))
        return;
    for (size_t i = 0; i < n && cursor_raw(&c, &entry); i++) {
        if (t->n_files == TABLES_FILES) {
            t->files_left_out = true;
            return;
        }
        if (!values_read_tuple(entry, 3, parts, 3) &&
            (pid_at == 2 || !values_read_tuple(entry, 2, parts, 2)))
            continue;
        struct kept_table *file = &t->files[t->n_files++];
        *file = (struct kept_table){.type = type, .name = slice_keep(&t->kept, parts[0])};
        file->has_pid = who_read_pid(parts[pid_at], &t->node, &file->pid);
    }
}

void tables_take_files(void *own, const struct slice *values, size_t n)
{
    struct tables_read *t = own;
    size_t at = 0;
    t->files_left_out |= !values;
    if (!values)
        return;
    if (has_some(t->n_dets) && at < n)
        read_files(t, values[at++], "dets", 2);
    if (has_some(t->n_logs) && at < n)
        read_files(t, values[at], "disk_log", 1);
}

/* ---- copies of Mnesia's tables */

bool tables_ask_mnesia(void *own, struct run_calls *calls)
{
    struct tables_read *t = own;
    run_add_text(calls, "ets", "lookup", "[mnesia_gvar,{schema,tables}]");
    calls->heap_words = LIST_WORDS;
    return t->kept_ms == t->now_ms && t->has_mnesia;
}

static void mark_tables(struct tables_read *t, struct slice names)
{
    struct cursor c;
    struct slice name;
    size_t n;
    for (size_t i = 0; i < t->list.n; i++)
        t->list.all[i].is_mnesia = false;
    if (!values_enter_list(names, &c, &n))
        return;
    for (size_t i = 0; i < n && cursor_raw(&c, &name); i++) {
        struct ets_table *table = ets_list_find(&t->list, name);
        if (table)
            table->is_mnesia = true;
    }
}

void tables_take_mnesia(void *own, const struct slice *values, size_t n)
{
    struct tables_read *t = own;
    struct slice found[1], pair[2];
    if (values && n == 1 && values_read_list(values[0], found, 1) &&
        values_read_tuple(found[0], 2, pair, 2))
        mark_tables(t, pair[1]);
}

enum copy { STORAGE, RAM, DISC, DISC_ONLY, ACTIVE, COPY_ITEMS };
static const char *const copy_items[COPY_ITEMS] = {"storage_type", "ram_copies", "disc_copies",
                                                   "disc_only_copies", "active_replicas"};

/* lists:zipwith(fun ets:lookup/2, [mnesia_gvar, …], [{Table, Item}, …]) */
static void add_lookups(const struct tables_read *t, struct run_calls *calls, const char *item)
{
    struct builder *b = builder_new();
    build_list(b, 3);
    build_export(b, "ets", "lookup", 2);
    build_list(b, t->n_asked);
    for (size_t i = 0; i < t->n_asked; i++)
        build_atom(b, "mnesia_gvar");
    build_nil(b);
    build_list(b, t->n_asked);
    for (size_t i = 0; i < t->n_asked; i++) {
        build_tuple(b, 2);
        build_raw(b, (const uint8_t *)t->asked[i]->id.s, t->asked[i]->id.len);
        build_atom(b, item);
    }
    build_nil(b);
    build_nil(b);
    run_add(calls, "lists", "zipwith", b);
    calls->most_us += COPY_US * (double)t->n_asked;
}

static bool wants_copies(const struct tables_read *t, const struct ets_table *table)
{
    return t->at < TABLES_ROWS && table->is_mnesia &&
           (table->copies_ms == 0 || t->now_ms - table->copies_ms >= TABLES_DETAIL_MS);
}

bool tables_ask_copies(void *own, struct run_calls *calls)
{
    struct tables_read *t = own;
    if (!t->has_mnesia || !tables_choose(t, wants_copies, COPIES_BATCH))
        return false;
    for (size_t i = 0; i < COPY_ITEMS; i++)
        add_lookups(t, calls, copy_items[i]);
    return true;
}

static struct slice read_copies(struct slice term)
{
    static const char *const words[] = {"ram_copies", "disc_copies", "disc_only_copies"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (who_term_is(term, words[i]))
            return slice_of(words[i]);
    return (struct slice){0};
}

static int64_t count_nodes(struct slice list)
{
    struct cursor c;
    size_t n;
    return list.len > 0 && values_enter_list(list, &c, &n) ? (int64_t)n : 0;
}

/* The next value of [[{{Table, Item}, Value}], …]; empty: there is none. */
static struct slice next_value(struct cursor *c)
{
    struct slice found, entry[1], pair[2];
    if (!cursor_raw(c, &found) || !values_read_list(found, entry, 1) ||
        !values_read_tuple(entry[0], 2, pair, 2))
        return (struct slice){0};
    return pair[1];
}

void tables_take_copies(void *own, const struct slice *values, size_t n)
{
    struct tables_read *t = own;
    struct cursor c[COPY_ITEMS];
    size_t count;
    for (size_t i = 0; i < t->n_asked; i++)
        t->asked[i]->copies_ms = t->now_ms;
    if (!values || n != COPY_ITEMS)
        return;
    for (size_t k = 0; k < COPY_ITEMS; k++)
        if (!values_enter_list(values[k], &c[k], &count) || count != t->n_asked)
            return;
    for (size_t i = 0; i < t->n_asked; i++) {
        struct ets_table *table = t->asked[i];
        table->copies = read_copies(next_value(&c[STORAGE]));
        table->copy_nodes = count_nodes(next_value(&c[RAM])) + count_nodes(next_value(&c[DISC])) +
                            count_nodes(next_value(&c[DISC_ONLY]));
        table->active_nodes = count_nodes(next_value(&c[ACTIVE]));
    }
}

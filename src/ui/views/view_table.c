/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One ETS table: what it is, who has it, how it grows; its keys on request. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "views.h"

#define LABEL 20 /* columns of the names of values */
#define SPARK_WINDOW 300
#define KEYS 20 /* read on request */

enum keys { KEYS_NOT_ASKED, KEYS_ASKED, KEYS_READ };

struct table_page {
    struct view_link link;
    struct ring memory, objects; /* of each answer since it was opened */
    char tid[100];               /* of the table that these are of */
    uint64_t round, keys_round;  /* of the answers that were seen */
    enum keys keys;
    bool exists, is_private, is_fixed; /* fixed: no key is read then (docs/queries.md) */
};

static void table_init(void *state)
{
    struct table_page *t = state;
    ring_init(&t->memory, LIMIT_HISTORY);
    ring_init(&t->objects, LIMIT_HISTORY);
}

static void table_clear(void *state)
{
    struct table_page *t = state;
    ring_clear(&t->memory);
    ring_clear(&t->objects);
}

static int table_open(void *state, const struct view_link *link, struct error *err)
{
    struct table_page *t = state;
    (void)err;
    table_clear(t);
    *t = (struct table_page){.link = *link};
    t->link.kind = TARGET_TABLE;
    table_init(t);
    return 0;
}

static bool may_read_keys(const struct table_page *t)
{
    return t->exists && !t->is_private && !t->is_fixed;
}

static void table_want(const void *state, int rows, struct want *want)
{
    const struct table_page *t = state;
    struct want mine = {.needs = NEED(ONE_TABLE), .keys = KEYS};
    (void)rows;
    if (!*t->link.name)
        return;
    if (t->keys == KEYS_ASKED && may_read_keys(t))
        mine.needs |= NEED(TABLE_KEYS);
    snprintf(mine.table, sizeof mine.table, "%s", t->link.name);
    want_merge(want, &mine);
}

/* ---- its keys */

static bool table_asks_keys(const void *state, char *text, size_t size)
{
    const struct table_page *t = state;
    snprintf(text, size,
             "Reading the first %d keys of %.60s takes about 1 ms of the node, of an emptied table "
             "up to 0.6 s. Read them? (y/n) ",
             KEYS, t->link.name);
    return may_read_keys(t);
}

static int table_read_keys(void *state, const struct view_call *call)
{
    struct table_page *t = state;
    if (!t->exists)
        return error_set(call->err, ERR_NOT_FOUND, "there is no such table: open another");
    if (t->is_private)
        return error_set(call->err, ERR_REFUSED,
                         "the table is private: the node lets only its owner read it");
    if (t->is_fixed)
        return error_set(call->err, ERR_REFUSED,
                         "the table is fixed: a key is found only past all that was deleted");
    t->keys = KEYS_ASKED;
    return 0;
}

static void put_keys(struct view_page *page, const struct table_page *t, const struct model *m)
{
    const struct table_detail *keys = model_table_keys(m);
    const struct table_keys_row *rows = keys ? keys->rows : NULL;
    char key[32];
    page_heading(page, "Keys");
    if (t->is_private)
        page_text(page, STYLE_DIM, "  not read: the table is private to its owner");
    else if (t->is_fixed)
        page_text(page, STYLE_DIM,
                  "  not read: the table is fixed, a key is found only past all that was deleted");
    else if (t->keys == KEYS_NOT_ASKED)
        page_printf((page_line(page), page), STYLE_DIM, "  not read; %s reads the first %d",
                    page_key(page, CONTEXT_DOC, ACTION_KEYS, key, sizeof key), KEYS);
    else if (t->keys == KEYS_ASKED || !keys)
        page_text(page, STYLE_DIM, "  asked; waiting for the answer");
    else if (keys->n_rows == 0)
        page_text(page, STYLE_DIM, "  none: the table is empty");
    for (size_t i = 0; keys && t->keys == KEYS_READ && i < keys->n_rows; i++) {
        page_line(page);
        page_puts(page, STYLE_NORMAL, "  ");
        page_slice(page, STYLE_VALUE, rows[i].key);
    }
    if (keys && t->keys == KEYS_READ && keys->partial)
        page_text(page, STYLE_WARN, "  the rest is unknown: a key was deleted, or is too large");
}

/* ---- what it is */

static void put_known(struct view_page *page, const char *label, struct slice text)
{
    if (text.len == 0)
        return;
    page_label(page, label, LABEL);
    page_slice(page, STYLE_NORMAL, text);
}

static void put_process(struct view_page *page, const char *label, bool known,
                        const struct etf_pid *pid, struct slice name)
{
    char text[40];
    if (!known)
        return;
    page_label(page, label, LABEL);
    link_process(&page->lines[page->n_lines - 1].link, pid, name);
    page_puts(page, STYLE_PID, pid_text(text, sizeof text, pid));
    page_tab(page, LABEL + 14);
    page_slice(page, STYLE_NAME, page_name(page, name));
}

static void put_identity(struct view_page *page, const struct table_page *t,
                         const struct one_table_row *row)
{
    struct view_line *line = page_line(page);
    line->link = t->link;
    line->link.pid = row->owner;
    page_slice(page, STYLE_NAME, page_name(page, row->name));
    page_tab(page, LABEL);
    page_slice(page, STYLE_PID, row->tid);
    page_label(page, "type", LABEL);
    page_slice(page, STYLE_NORMAL, row->type);
    page_puts(page, STYLE_DIM, ", ");
    page_slice(page, STYLE_NORMAL, row->protection);
    if (row->key_position > 0)
        page_printf(page, STYLE_DIM, ", key at position %lld", (long long)row->key_position);
    page_puts(page, STYLE_DIM, row->compressed > 0 ? ", compressed" : "");
    page_label(page, "concurrency", LABEL);
    page_puts(page, STYLE_DIM, "write ");
    page_slice(page, STYLE_NORMAL, row->write);
    page_puts(page, STYLE_DIM, ", read ");
    page_puts(page, STYLE_NORMAL, row->read > 0 ? "true" : "false");
    page_puts(page, STYLE_DIM, row->is_spread > 0 ? ", counters by scheduler" : "");
    put_process(page, "owner", row->has_owner, &row->owner, row->owner_name);
    put_known(page, "application", row->application);
    put_process(page, "heir", row->has_heir, &row->heir, row->heir_name);
}

static void put_fixed(struct view_page *page, const struct table_page *t,
                      const struct one_table_row *row)
{
    char since[32], n[32];
    if (row->fixed <= 0)
        return;
    page_label(page, "fixed", LABEL);
    page_printf(page, STYLE_WARN, "by %s process%s for %s%s",
                text_integer(n, sizeof n, row->fixers), row->fixers == 1 ? "" : "es",
                page_duration(page, since, sizeof since,
                              row->fixed_ms < 0 ? (double)NAN : (double)row->fixed_ms / 1000),
                t->is_fixed ? ": what is deleted keeps its memory" : "");
    put_process(page, row->fixers == 1 ? "by" : "one of them", row->has_fixer, &row->fixer,
                row->fixer_name);
}

static void put_copies(struct view_page *page, const struct one_table_row *row)
{
    if (row->copies.len == 0)
        return;
    page_heading(page, "Mnesia");
    put_known(page, "here", row->copies);
    put_known(page, "copies on", row->copy_nodes);
    put_known(page, "loaded on", row->active_nodes);
    put_known(page, "indexes", row->indexes);
}

/* ---- how large */

static void put_growth(struct view_page *page, const char *label, const char *now,
                       const char *per_s, const struct ring *history)
{
    int spark = page->pane_columns - LABEL - 34;
    spark = spark > 60 ? 60 : spark < 0 ? 0 : spark;
    page_label(page, label, LABEL);
    page_right(page, STYLE_VALUE, 14, now);
    page_right(page, STYLE_NORMAL, 16, per_s);
    page_puts(page, STYLE_NORMAL, "  ");
    page_spark(page, history, spark, SPARK_WINDOW, NAN);
}

static void put_sizes(struct view_page *page, const struct table_page *t,
                      const struct one_table_row *row)
{
    char now[32], text[32], per_s[48] = "–";
    page_heading(page, "Size");
    if (!isnan(row->memory_per_s))
        snprintf(per_s, sizeof per_s, "%s%s/s", row->memory_per_s > 0 ? "+" : "",
                 text_bytes(text, sizeof text, row->memory_per_s));
    put_growth(page, "memory", text_bytes(now, sizeof now, known_or_nan(row->memory_bytes)), per_s,
               &t->memory);
    snprintf(per_s, sizeof per_s, "–");
    if (!isnan(row->objects_per_s))
        snprintf(per_s, sizeof per_s, "%s%s/s", row->objects_per_s > 0 ? "+" : "",
                 text_count(text, sizeof text, row->objects_per_s));
    put_growth(page, "objects", text_integer(now, sizeof now, row->objects), per_s, &t->objects);
    page_label(page, "words per object", LABEL);
    page_right(page, STYLE_VALUE, 14, text_integer(now, sizeof now, row->words_per_object));
}

/* One answer more; of a table that was made again, history begins again. */
static void follow(struct table_page *t, const struct model *m, const struct one_table_row *row)
{
    char tid[sizeof t->tid];
    const uint64_t round = model_round(m, QUESTION_ONE_TABLE);
    if (round == t->round)
        return;
    t->round = round;
    t->exists = row->exists;
    t->is_private = slice_is(row->protection, "private");
    t->is_fixed = row->fixed > 0 && !slice_is(row->type, "ordered_set");
    snprintf(tid, sizeof tid, "%.*s", (int)row->tid.len, row->tid.s);
    if (strcmp(tid, t->tid) != 0) {
        table_clear(t);
        table_init(t);
        t->keys = KEYS_NOT_ASKED;
    }
    memcpy(t->tid, tid, sizeof tid);
    ring_push(&t->memory, known_or_nan(row->memory_bytes));
    ring_push(&t->objects, known_or_nan(row->objects));
}

/* is_shown: this table is the one that is read. */
static void follow_keys(struct table_page *t, const struct model *m, bool is_shown)
{
    const uint64_t round = model_round(m, QUESTION_TABLE_KEYS);
    if (t->keys == KEYS_ASKED && round > t->keys_round && is_shown)
        t->keys = KEYS_READ;
    else if (t->keys == KEYS_READ && round > t->keys_round)
        t->keys = KEYS_NOT_ASKED; /* another page has read another table's */
    t->keys_round = round;
}

static const struct one_table_row *find_shown(const struct table_page *t, const struct model *m)
{
    const struct table_detail *answer = model_one_table(m);
    const struct one_table_row *row = answer && answer->n_rows > 0 ? answer->rows : NULL;
    return row && slice_is(row->id, t->link.name) ? row : NULL;
}

static void table_draw(void *state, const struct model *m, struct view_page *page)
{
    struct table_page *t = state;
    const struct one_table_row *row = find_shown(t, m);
    snprintf(page->summary, sizeof page->summary, "%s", t->link.name);
    if (!*t->link.name) {
        snprintf(page->empty, sizeof page->empty,
                 "No table chosen: Enter on a row of Tables opens "
                 "it.");
        return;
    }
    if (!row) {
        follow_keys(t, m, false);
        page_missing_one(page, m, "an ETS table", "table", model_one_table(m));
        return;
    }
    follow(t, m, row);
    follow_keys(t, m, true);
    if (!row->exists) {
        snprintf(page->empty, sizeof page->empty, "The node has no ETS table %.200s.",
                 t->link.name);
        return;
    }
    put_identity(page, t, row);
    put_fixed(page, t, row);
    put_sizes(page, t, row);
    put_copies(page, row);
    put_keys(page, t, m);
}

static const struct view_act table_acts[] = {
    {.action = ACTION_KEYS, .run = table_read_keys, .asks = table_asks_keys}, {.run = NULL}};
static const struct view_hint table_hints[] = {{ACTION_ENTER, "open"},
                                               {ACTION_BACK, "back"},
                                               {ACTION_TRACE_ROW, "who writes"},
                                               {ACTION_KEYS, "keys"},
                                               {.does = NULL}};

const struct view_ops view_table = {
    .name = "table",
    .title = "Table",
    .help = "One ETS table: owner, memory, growth, who has fixed it; its first keys on request.",
    .kind = VIEW_DOC,
    .opens = 1u << TARGET_TABLE,
    .state_bytes = sizeof(struct table_page),
    .init = table_init,
    .clear = table_clear,
    .want = table_want,
    .page = table_draw,
    .open = table_open,
    .acts = table_acts,
    .hints = table_hints,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer: what processes that are the same hold together. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/print.h"
#include "holders_table.h"
#include "query/native/values.h"
#include "query/scan/scan_walks.h"
#include "query/who/who_terms.h"

#define COLUMNS 24 /* of a row: as `holders_fields` of the model has them */
#define KEY_TEXTS OF_NAME
#define WITHOUT_LABELS 1 /* of rows_keys */

/* What the processes of a row have in common, less where there would be too many rows. */
struct rows_key {
    bool with[KEY_TEXTS];
};
static const struct rows_key rows_keys[] = {
    {{[OF_CALL] = true, true, true, true, true}},
    {{[OF_CALL] = true, true, true, false, true}}, /* WITHOUT_LABELS */
    {{[OF_CALL] = true, true, true, false, false}},
};

struct keyed_holder {
    uint32_t key[KEY_TEXTS];
    const struct holder *of;
};

struct holders_sum {
    int64_t processes, uncounted, processes_growth;
    int64_t now[HOLDER_NUMBERS], growth[HOLDER_GROWTHS];
    double per_s; /* NaN: of none of them it is known */
    int64_t age_ms;
    const struct holder *largest;
};

/* ---- sums */

static int order_keys(const void *a, const void *b)
{
    const struct keyed_holder *x = a, *y = b;
    for (size_t i = 0; i < KEY_TEXTS; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

static bool counts_holder(const struct holder *h)
{
    return h->listed ? h->known : h->has_base && h->is_first;
}

static size_t sort_holders(const struct holders_table *t, const struct rows_key *by,
                           struct keyed_holder *out)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (!counts_holder(&t->all[i]))
            continue;
        out[n].of = &t->all[i];
        for (size_t k = 0; k < KEY_TEXTS; k++)
            out[n].key[k] = by->with[k] ? t->all[i].text[k] : 0;
        n++;
    }
    qsort(out, n, sizeof *out, order_keys);
    return n;
}

static size_t count_rows(const struct keyed_holder *all, size_t n)
{
    size_t rows = n > 0;
    for (size_t i = 1; i < n; i++)
        rows += order_keys(&all[i - 1], &all[i]) != 0;
    return rows;
}

static int64_t held_bytes(const struct holder *h)
{
    return values_add(h->now[HOLDS_MEMORY], h->now[HOLDS_BINARY_BYTES]);
}

static void add_age(struct holders_sum *sum, const struct holder *h, uint64_t now_ms)
{
    const int64_t age_ms = !h->is_walked ? SCAN_AGE_NONE
                           : !h->is_read ? SCAN_AGE_NEVER
                                         : (int64_t)(now_ms - h->walked_ms);
    if (sum->age_ms != SCAN_AGE_NEVER && (age_ms == SCAN_AGE_NEVER || age_ms > sum->age_ms))
        sum->age_ms = age_ms;
}

static int64_t add_growth(int64_t sum, int64_t n)
{
    const int64_t all = sum + n;
    return all > VALUES_MOST ? VALUES_MOST : all < -VALUES_MOST ? -VALUES_MOST : all;
}

static void add_holder(struct holders_sum *sum, const struct holder *h, uint64_t now_ms)
{
    sum->processes += h->listed;
    sum->uncounted += h->uncounted;
    sum->processes_growth += h->listed - h->is_first;
    for (size_t i = 0; i < HOLDER_NUMBERS; i++)
        sum->now[i] = values_add(sum->now[i], h->now[i]);
    for (size_t i = 0; h->has_base && i < HOLDER_GROWTHS; i++)
        sum->growth[i] = add_growth(sum->growth[i], h->now[i] - h->base[i]);
    if (h->listed && !isnan(h->per_s))
        sum->per_s = isnan(sum->per_s) ? h->per_s : sum->per_s + h->per_s;
    add_age(sum, h, now_ms);
    if (h->listed && (!sum->largest || held_bytes(h) > held_bytes(sum->largest)))
        sum->largest = h;
}

/* ---- a row */

static struct slice text_term(const struct holders_table *t, uint32_t number)
{
    return t->by_number[number];
}

static void put_text(struct buf *to, const char *before, struct slice term)
{
    static const struct print_limits limits = {.bytes = 100};
    struct cursor c = values_cursor(term);
    struct who_mfa mfa;
    struct slice bytes;
    if (term.len == 0)
        return;
    buf_puts(to, to->len > 0 ? before : "");
    if (who_read_mfa(term, &mfa))
        print_mfa(to, mfa.module, mfa.function, mfa.arity);
    else if (cursor_kind(&c) == ETF_KIND_BINARY && cursor_binary(&c, &bytes))
        buf_put(to, bytes.s, bytes.len);
    else
        print_term(to, (const uint8_t *)term.s, term.len, &limits);
}

/* "cowboy_http:init/3 upload in gen_server:loop/7 under conns_sup of ranch". */
static void build_row_id(struct builder *b, const struct holders_table *t, const uint32_t *key)
{
    static const struct {
        const char *before;
        enum holder_text text;
    } parts[] = {{"", OF_CALL},
                 {" ", OF_LABEL},
                 {" in ", OF_FUNCTION},
                 {" under ", OF_SUPERVISOR},
                 {" of ", OF_APPLICATION}};
    struct buf text;
    buf_init(&text, 0);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        put_text(&text, parts[i].before, text_term(t, key[parts[i].text]));
    build_binary(b, text.data, text.len);
    buf_clear(&text);
}

static void build_largest(struct builder *b, const struct holders_table *t, const struct holder *h,
                          const char *node)
{
    const struct slice name = h ? text_term(t, h->text[OF_NAME]) : (struct slice){0};
    build_known_int(b, h ? held_bytes(h) : -1);
    values_build_pid(b, node, h != NULL, h ? &h->pid : NULL);
    values_build_known(b, name.len > 0 || !h ? name : text_term(t, h->text[OF_LABEL]));
}

static void build_sum(struct builder *b, const struct holders_table *t, const uint32_t *key,
                      const struct holders_sum *sum, const struct holders_moment *at)
{
    build_tuple(b, COLUMNS);
    build_row_id(b, t, key);
    for (size_t i = 0; i < KEY_TEXTS; i++)
        values_build_known(b, text_term(t, key[i]));
    build_int(b, sum->processes);
    scan_age_build(b, sum->now[HOLDS_MEMORY], sum->age_ms);
    for (size_t i = HOLDS_MEMORY + 1; i < HOLDER_NUMBERS; i++)
        build_int(b, sum->now[i]);
    build_known_int(b, isnan(sum->per_s) ? -1 : (int64_t)fmin(sum->per_s, (double)VALUES_MOST));
    build_int(b, sum->processes_growth);
    for (size_t i = 0; i < HOLDER_GROWTHS; i++)
        build_int(b, sum->growth[i]);
    build_int(b, sum->uncounted);
    build_largest(b, t, sum->largest, at->node);
    build_int(b, (int64_t)(at->now_ms - at->since_ms) / 1000);
}

void holders_build(struct builder *b, const struct holders_table *t,
                   const struct holders_moment *at)
{
    struct keyed_holder *all = alloc_zero(t->n + 1, sizeof *all);
    size_t n = 0, rows = LIMIT_TABLE_ROWS + 1, i = 0;
    for (size_t k = 0; k < ARRAY_LEN(rows_keys) && rows > LIMIT_TABLE_ROWS; k++) {
        n = sort_holders(t, &rows_keys[k], all);
        rows = count_rows(all, n);
    }
    const bool is_cut = rows > LIMIT_TABLE_ROWS;
    rows = is_cut ? LIMIT_TABLE_ROWS : rows;
    build_tuple(b, 4);
    build_atom(b, "holders");
    build_int(b, at->mono_ns);
    build_list(b, rows);
    for (size_t row = 0; row < rows; row++) {
        struct holders_sum sum = {.per_s = NAN, .age_ms = SCAN_AGE_NONE};
        const struct keyed_holder *first = &all[i];
        for (; i < n && order_keys(first, &all[i]) == 0; i++)
            add_holder(&sum, all[i].of, at->now_ms);
        build_sum(b, t, first->key, &sum, at);
    }
    build_nil(b);
    build_bool(b, at->partial || is_cut);
    free(all);
}

/* ---- as facts */

#define FACTS_MOST 3
#define FACT_PAIRS 9

struct held_kind {
    const uint32_t *key;
    struct holders_sum sum;
};

/* In order, the one with most first. */
static void keep_best(struct held_kind *best, size_t *n, const struct held_kind *kind,
                      enum holder_number by)
{
    size_t at = *n;
    while (at > 0 && best[at - 1].sum.now[by] < kind->sum.now[by])
        at--;
    if (at == FACTS_MOST)
        return;
    *n += *n < FACTS_MOST;
    for (size_t i = *n - 1; i > at; i--)
        best[i] = best[i - 1];
    best[at] = *kind;
}

static void build_kind(struct builder *b, const struct holders_table *t,
                       const struct held_kind *kind, const struct holders_moment *at)
{
    static const struct {
        const char *key;
        enum holder_text text;
    } texts[] = {
        {"initial_call", OF_CALL}, {"supervisor", OF_SUPERVISOR}, {"function", OF_FUNCTION}};
    static const struct {
        const char *key;
        enum holder_number number;
    } numbers[] = {{"memory_bytes", HOLDS_MEMORY},
                   {"binary_bytes", HOLDS_BINARY_BYTES},
                   {"binaries", HOLDS_BINARIES}};
    const struct holder *largest = kind->sum.largest;
    build_map(b, FACT_PAIRS);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        build_atom(b, texts[i].key);
        values_build_known(b, text_term(t, kind->key[texts[i].text]));
    }
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        build_atom(b, numbers[i].key);
        build_int(b, kind->sum.now[numbers[i].number]);
    }
    build_atom(b, "processes");
    build_int(b, kind->sum.processes);
    build_atom(b, "pid");
    values_build_pid(b, at->node, largest != NULL, largest ? &largest->pid : NULL);
    build_atom(b, "name");
    values_build_known(b, largest ? text_term(t, largest->text[OF_NAME]) : (struct slice){0});
}

static void build_kinds(struct builder *b, const struct holders_table *t,
                        const struct keyed_holder *all, size_t n, enum holder_number by,
                        const struct holders_moment *at)
{
    struct held_kind best[FACTS_MOST];
    size_t n_best = 0;
    for (size_t i = 0; i < n;) {
        struct held_kind kind = {all[i].key, {.per_s = NAN, .age_ms = SCAN_AGE_NONE}};
        for (const struct keyed_holder *first = &all[i]; i < n && order_keys(first, &all[i]) == 0;
             i++)
            add_holder(&kind.sum, all[i].of, at->now_ms);
        keep_best(best, &n_best, &kind, by);
    }
    build_list(b, n_best);
    for (size_t i = 0; i < n_best; i++)
        build_kind(b, t, &best[i], at);
    build_nil(b);
}

void holders_build_facts(struct builder *b, const struct holders_table *t,
                         const struct holders_moment *at)
{
    struct keyed_holder *all = alloc_zero(t->n + 1, sizeof *all);
    const size_t n = sort_holders(t, &rows_keys[WITHOUT_LABELS], all);
    int64_t looked_at = 0;
    for (size_t i = 0; i < n; i++)
        looked_at += all[i].of->listed;
    build_tuple(b, 3);
    build_atom(b, "held");
    build_int(b, at->mono_ns);
    build_map(b, 1);
    build_atom(b, "held");
    build_map(b, 4);
    build_atom(b, "looked_at");
    build_int(b, looked_at);
    build_atom(b, "partial");
    build_bool(b, at->partial);
    build_atom(b, "memory");
    build_kinds(b, t, all, n, HOLDS_MEMORY, at);
    build_atom(b, "binaries");
    build_kinds(b, t, all, n, HOLDS_BINARY_BYTES, at);
    free(all);
}

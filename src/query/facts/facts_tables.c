/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The largest ETS tables. */
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "facts_terms.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define TABLES_MOST 5000
#define SPREAD_MOST 100
#define ROWS 10
#define TABLES_US 25000 /* an item of all */
#define WORD_BYTES_MOST 8

static const struct slice nothing = {0};

struct table {
    struct slice term;
    bool is_spread; /* its counters, over the schedulers, which a look at them asks */
    int64_t words;  /* -1: not known */
};

/* The sizes of those that are so. */
static void read_words(const struct facts_read *f, enum facts_term term, struct table *tables,
                       size_t n, bool spread)
{
    struct cursor c;
    struct slice words;
    size_t known;
    if (!values_enter_list(facts_kept(f, term), &c, &known)) /* no table is as small as a byte */
        return;
    for (size_t i = 0, k = 0; i < n && k < known; i++)
        if (tables[i].is_spread == spread) {
            k++;
            if (!cursor_raw(&c, &words) || !values_read_integer(words, &tables[i].words) ||
                tables[i].words > VALUES_MOST)
                tables[i].words = -1;
        }
}

/* All that are listed, as far as they are known; the array is the caller's. */
static struct table *read_tables(const struct facts_read *f, size_t *n)
{
    struct slice *terms = alloc_zero(TABLES_MOST, sizeof *terms);
    struct table *tables = alloc_zero(TABLES_MOST, sizeof *tables);
    *n = facts_list(f, FACTS_TABLES, terms, TABLES_MOST);
    for (size_t i = 0; i < *n; i++)
        tables[i] = (struct table){.term = terms[i], .words = -1};
    if (facts_list(f, FACTS_SPREAD, terms, TABLES_MOST) == *n) {
        for (size_t i = 0; i < *n; i++)
            tables[i].is_spread = who_term_is(terms[i], "true");
        read_words(f, FACTS_SIZES, tables, *n, false);
        read_words(f, FACTS_SPREAD_SIZES, tables, *n, true);
    }
    free(terms);
    return tables;
}

/* ---- asks */

/* lists:sublist(ets:all(), TABLES_MOST); abs/1 hands the number on. */
bool facts_ask_tables(void *own, struct run_calls *calls)
{
    static const struct args_call inner[] = {{"ets", "all", 0, "[]", NULL},
                                             {"erlang", "abs", 1, "[5000]", NULL}};
    _Static_assert(TABLES_MOST == 5000, "as the text says");
    facts_expect(own, FACTS_TABLES);
    run_add(calls, "lists", "foldl", args_of_calls("lists", "sublist", 2, inner, 2));
    return true;
}

/* An item of those that are so. */
static bool ask_item(struct facts_read *f, struct run_calls *calls, enum facts_term term,
                     const char *item, bool spread, size_t most)
{
    size_t all, n = 0;
    struct table *tables = read_tables(f, &all);
    struct slice *terms = alloc_zero(TABLES_MOST, sizeof *terms);
    for (size_t i = 0; i < all && n < most; i++)
        if (tables[i].is_spread == spread)
            terms[n++] = tables[i].term;
    facts_expect(f, term);
    run_add(calls, "lists", "zipwith", args_of_zip("ets", "info", terms, n, item));
    calls->most_us = TABLES_US;
    free(terms);
    free(tables);
    return n > 0;
}

bool facts_ask_spread(void *own, struct run_calls *calls)
{
    return ask_item(own, calls, FACTS_SPREAD, "decentralized_counters", false, TABLES_MOST);
}

static bool is_spread_known(const struct facts_read *f)
{
    return f->kept[FACTS_SPREAD].len > 0;
}

bool facts_ask_sizes(void *own, struct run_calls *calls)
{
    return is_spread_known(own) && ask_item(own, calls, FACTS_SIZES, "memory", false, TABLES_MOST);
}

bool facts_ask_spread_sizes(void *own, struct run_calls *calls)
{
    return is_spread_known(own) &&
           ask_item(own, calls, FACTS_SPREAD_SIZES, "memory", true, SPREAD_MOST);
}

/* ---- the largest */

static int order_tables(const void *a, const void *b)
{
    const struct table *x = a, *y = b;
    const int order = (y->words > x->words) - (y->words < x->words);
    return order ? order : (x->term.s > y->term.s) - (x->term.s < y->term.s);
}

static size_t read_largest(const struct facts_read *f, struct table out[ROWS])
{
    size_t all, n = 0;
    struct table *tables = read_tables(f, &all);
    qsort(tables, all, sizeof *tables, order_tables);
    for (; n < ROWS && n < all && tables[n].words >= 0; n++)
        out[n] = tables[n];
    free(tables);
    return n;
}

bool facts_ask_rows(void *own, struct run_calls *calls)
{
    struct table largest[ROWS];
    struct slice terms[ROWS];
    const size_t n = read_largest(own, largest);
    facts_expect(own, FACTS_NAMES);
    for (size_t i = 0; i < n; i++)
        terms[i] = largest[i].term;
    run_add(calls, "lists", "zipwith", args_of_zip("ets", "info", terms, n, "name"));
    run_add(calls, "lists", "zipwith", args_of_zip("ets", "info", terms, n, "owner"));
    return n > 0;
}

/* Fails where one of the tables is gone by now: then they are shown as processes. */
bool facts_ask_owners(void *own, struct run_calls *calls)
{
    struct slice owners[ROWS];
    const size_t n = facts_list(own, FACTS_OWNERS, owners, ROWS);
    facts_expect(own, FACTS_REGISTERED);
    run_add(calls, "lists", "zipwith",
            args_of_zip("erlang", "process_info", owners, n, "registered_name"));
    return n > 0;
}

void facts_build_tables(struct builder *b, const struct facts_read *f)
{
    struct table largest[ROWS];
    struct slice names[ROWS], owners[ROWS], registered[ROWS] = {{0}};
    const size_t n = read_largest(f, largest);
    int64_t word_bytes;
    (void)facts_list(f, FACTS_REGISTERED, registered, ROWS);
    if (n == 0 || facts_list(f, FACTS_NAMES, names, ROWS) != n ||
        facts_list(f, FACTS_OWNERS, owners, ROWS) != n ||
        !values_read_integer(facts_kept(f, FACTS_WORD_BYTES), &word_bytes) || word_bytes < 1 ||
        word_bytes > WORD_BYTES_MOST) {
        build_atom(b, "undefined");
        return;
    }
    build_map(b, 1);
    build_atom(b, "tables");
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        const struct slice name = values_of_pair(registered[i], "registered_name");
        const struct slice owner = facts_is(name, ETF_KIND_ATOM) ? name : owners[i];
        build_map(b, 3);
        facts_build_pair(b, "name", facts_is(names[i], ETF_KIND_ATOM) ? names[i] : nothing);
        facts_build_pair(b, "owner",
                         facts_is(owner, ETF_KIND_ATOM) || facts_is(owner, ETF_KIND_PID) ? owner
                                                                                         : nothing);
        build_atom(b, "memory_bytes");
        build_int(b, largest[i].words * word_bytes);
    }
    build_nil(b);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A value of the asks of `growth`, taken for each of them, and the answer made of it. */
#include "one_term.h"
#include "query/growth/growth_terms.h"

#define SOME 3

static const struct who_node node = {.name = "n@h"};

static bool skip_none(const void *arg, const struct etf_pid *pid)
{
    (void)arg;
    (void)pid;
    return false;
}

static const struct who_entry *know_none(const void *arg, const struct etf_pid *pid)
{
    (void)arg;
    (void)pid;
    return NULL;
}

static void read_processes(struct slice value, struct growth_fact *f)
{
    struct etf_pid pids[SOME] = {{.id = 1}, {.id = 2}, {.id = 3}}, out[SOME];
    struct growth_row row = {.times = 1};
    struct growth_rows rows, brief;
    struct slice looks[GROWTH_WATCHES];
    growth_rows_init(&rows, SOME);
    growth_rows_init(&brief, SOME);
    if (growth_read_row(value, &node, &row))
        growth_rows_add(&rows, &row);
    growth_read_looks(value, pids, SOME, &node, skip_none, NULL, &rows);
    growth_add_brief(&rows, 5, &brief);
    f->brief = growth_group_of(&brief);
    FUZZ_REQUIRE(f->brief.seen <= f->brief.sampled && f->brief.spawned <= f->brief.seen);
    f->brief = (struct growth_group){0};
    FUZZ_REQUIRE(growth_read_youngest(value, &node, skip_none, NULL, out, SOME) <= SOME);
    FUZZ_REQUIRE(growth_read_children(value, &node, out, SOME) <= SOME);
    FUZZ_REQUIRE(growth_read_suspects(value, pids, SOME) <= SOME);
    for (size_t i = 0; i < GROWTH_WATCHES; i++)
        looks[i] = value;
    FUZZ_REQUIRE(!growth_read_restarts(looks, 1, &node, &f->restarts));
    growth_read_ends(value, &f->restarts);
    (void)growth_is_supervisor(value, false);
    growth_rows_clear(&rows);
    growth_rows_clear(&brief);
}

static void read_value(struct slice value)
{
    struct growth_counts counts = {0};
    struct growth_tables tables = {0}, none = {0};
    struct growth_fact f = {.node = &node, .who = know_none, .word_bytes = 8};
    struct builder *b = builder_new();
    arena_init(&tables.arena);
    const struct slice values[GROWTH_COUNTS] = {value, value, value, value,
                                                value, value, value, value};
    (void)growth_read_counts(values, GROWTH_COUNTS, &node, &counts);
    f.kept = growth_read_kept(value, 1);
    read_processes(value, &f);
    if (growth_read_tables(value, &tables) && growth_take_words(&tables, value)) {
        growth_take_tids(&tables, value);
        growth_compare_tables(&tables, &none, &f.ets);
    }
    f.ets.known = true;
    growth_read_most(value, value, &f.ports);
    f.has_atoms = growth_read_texts(value, &f.atoms);
    growth_build(b, &f);
    builder_free(b);
    arena_clear(&tables.arena);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A native scan of three processes: its argument, then the values of a list, a sweep, of what rows
 * show (first byte odd: without what walks) and of walks. The answer is a term again. */
#include <stdlib.h>

#include "beamtop/etf/check.h"
#include "fuzz.h"
#include "query/scan/scan_terms.h"
#include "query/scan/scan_walks.h"

#define NODE "n@h"
enum { TERM_ASK, TERM_LIST, TERM_SWEEP, TERM_INFO, TERM_WALKS, TERMS };

/* One after the other; those that are not there are empty. Without their version bytes. */
static void read_terms(const uint8_t *data, size_t size, struct slice *out)
{
    struct error err = {0};
    size_t used = 0, at = 0;
    for (size_t i = 0; i < TERMS; i++, at += used) {
        out[i] = (struct slice){0};
        if (at >= size || etf_check(data + at, size - at, &used, &err) != 0)
            used = 0;
        else
            out[i] = (struct slice){(const char *)data + at + 1, used - 1};
    }
    error_clear(&err);
}

static void list_processes(struct scan_table *t, struct slice value)
{
    struct etf_pid three[] = {{.id = 1}, {.id = 2}, {.id = 3}}, *pids = NULL;
    struct scan_clock clock;
    size_t n = 0;
    if (scan_read_list(value, &clock, &pids, &n))
        scan_table_list(t, pids, n);
    free(pids);
    scan_table_list(t, three, ARRAY_LEN(three));
    scan_table_drop(t);
}

static struct who_entry find_who(const void *arg, const struct scan_proc *p)
{
    (void)arg;
    (void)p;
    return (struct who_entry){0};
}

static void require_answer(const struct scan_answer *answer)
{
    struct error err = {0};
    struct builder *b = builder_new();
    size_t len = 0, used = 0;
    scan_build(b, answer);
    const uint8_t *bytes = builder_bytes(b, &len);
    FUZZ_REQUIRE(etf_check(bytes, len, &used, &err) == 0 && used == len);
    builder_free(b);
    error_clear(&err);
}

static void scan_once(const struct scan_ask *ask, const struct slice *terms, bool spared)
{
    struct scan_table t = {0};
    struct scan_proc *procs[3], *ranked[3];
    struct scan_rank rank = ask->rank;
    struct scan_clock clock;
    uint64_t paid_ms = 0;
    double us;
    list_processes(&t, terms[TERM_LIST]);
    for (size_t i = 0; i < 3; i++)
        procs[i] = &t.procs[i];
    for (uint64_t turn = 1; turn < 3; turn++) {
        scan_table_begin(&t);
        scan_read_sweep(terms[TERM_SWEEP], &clock, procs, 3, 500, turn * 1000);
        if (scan_read_info(terms[TERM_INFO], &clock, spared, procs, 3, turn * 1000) && !spared)
            for (size_t i = 0; i < 3; i++)
                scan_walk_suspect(procs[i]);
        for (size_t i = 0; i < 3; i++)
            if (scan_walk_is_slow(procs[i], NULL))
                (void)scan_walk_has_turn(procs[i], &paid_ms, turn * 1000);
        scan_walk_read(terms[TERM_WALKS], procs, 3, turn * 1000, &us);
        rank.first = turn == 1;
        const size_t n = scan_table_rank(&t, &rank, ask->own, ranked, 3);
        require_answer(&(struct scan_answer){.ask = ask,
                                             .node = NODE,
                                             .rank = rank,
                                             .now_ms = turn * 1000,
                                             .rows = ranked,
                                             .n_rows = n,
                                             .who = find_who});
    }
    scan_table_clear(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice terms[TERMS];
    struct scan_ask ask;
    struct scan_filter filter;
    if (size < 2)
        return 0;
    scan_filter_init(&filter);
    read_terms(data + 1, size - 1, terms);
    if (terms[TERM_ASK].len > 0 &&
        scan_read_ask((const uint8_t *)terms[TERM_ASK].s, terms[TERM_ASK].len, &ask, &filter))
        scan_once(&ask, terms, data[0] & 1);
    scan_filter_clear(&filter);
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from which process waits for which. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/alloc.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/parse.h"
#include "beamtop/model/model.h"
#include "beamtop/model/waits.h"

/* Processes a, b, … of one letter: "ab" is that a waits for b, "a" that it waits for nobody; "a?"
 * for one that is not known. Steady, but for capitals. */
static size_t read_rows(const char *text, struct waits_row *rows)
{
    static char names[64][2];
    size_t n = 0;
    for (; *text; n++) {
        const unsigned char who = (unsigned char)(*text++ | 0x20);
        names[n][0] = (char)who;
        rows[n] = (struct waits_row){.pid = {.id = who, .creation = 1},
                                     .name = {names[n], 1},
                                     .steady = text[-1] >= 'a',
                                     .deadlock = -1};
        if (*text && *text != ' ') {
            rows[n].kind = slice_of("call");
            rows[n].has_for = *text != '?';
            rows[n].among = rows[n].has_for ? 1 : 3;
            rows[n].for_pid = (struct etf_pid){.id = (unsigned char)*text++ | 0x20u, .creation = 1};
        }
        text += *text == ' ';
    }
    return n;
}

/* Of each: its name, who waits, who waits behind, and its deadlock. */
static const struct {
    const char *rows, *said, *deadlock, *chain;
} cases[] = {
    {"", "", "", ""},
    {"a", "a:0:0", "", ""},
    {"ab b", "b:1:1 a:0:0", "", ""},
    {"ab bc c", "c:1:2 b:1:1 a:0:0", "", "a -> b -> c"},
    {"ac bc c", "c:2:2 a:0:0 b:0:0", "", ""},
    {"ab ba", "a:1:1#1 b:1:1#1", "a -> b -> a", ""},
    {"ab ba ca dc", "a:2:3#1 b:1:3#1 c:1:1 d:0:0", "a -> b -> a", "d -> c -> a"},
    {"aB Ba ca", "a:2:2 b:1:2 c:0:0", "", ""},
    {"aa", "a:1:0#1", "a -> a", ""},
    {"ab ba cd de ec", "a:1:1#1 b:1:1#1 c:1:2#2 d:1:2#2 e:1:2#2", "a -> b -> a", ""},
    {"az b? c", "a:0:0 b:0:0 c:0:0", "", ""},
    {"ab bc cd d eb fe", "d:1:5 c:1:4 b:2:3 e:1:1 a:0:0 f:0:0", "", "f -> e -> b -> c -> d"},
};

static void say_rows(char *out, size_t size, const struct table_detail *t)
{
    const struct waits_row *rows = t->rows;
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < t->n_rows; i++) {
        used +=
            (size_t)snprintf(out + used, size - used, "%s%.1s:%lld:%lld", i > 0 ? " " : "",
                             rows[i].name.s, (long long)rows[i].waiters, (long long)rows[i].behind);
        if (rows[i].deadlock > 0)
            used += (size_t)snprintf(out + used, size - used, "#%lld", (long long)rows[i].deadlock);
    }
}

static bool check_case(size_t i)
{
    struct waits_row rows[64];
    struct arena arena;
    struct table_detail t = {.rows = rows, .n_rows = read_rows(cases[i].rows, rows)};
    char said[500];
    arena_init(&arena);
    waits_follow(&t, NULL, &arena);
    say_rows(said, sizeof said, &t);
    const bool ok = strcmp(said, cases[i].said) == 0 &&
                    slice_is(t.sums->deadlock, cases[i].deadlock) &&
                    slice_is(t.sums->chain, cases[i].chain);
    if (!ok)
        print_message("%s: %s; %.*s; %.*s\n", cases[i].rows, said, (int)t.sums->deadlock.len,
                      t.sums->deadlock.s, (int)t.sums->chain.len, t.sums->chain.s);
    arena_clear(&arena);
    return ok;
}

TEST(test_waiters_chains_and_cycles)
{
    size_t bad = 0;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        bad += !check_case(i);
    assert_int_equal(bad, 0);
}

TEST(test_a_long_chain_is_shortened_in_words)
{
    enum { N = 4096 };
    struct waits_row *rows = alloc_zero(N, sizeof *rows);
    struct table_detail t = {.rows = rows, .n_rows = N};
    struct arena arena;
    arena_init(&arena);
    for (uint32_t i = 0; i < N; i++)
        rows[i] = (struct waits_row){.pid = {.id = i},
                                     .kind = slice_of("call"),
                                     .has_for = i + 1 < N,
                                     .among = 1,
                                     .for_pid = {.id = i + 1}};
    waits_follow(&t, NULL, &arena);
    assert_int_equal(rows[0].behind, N - 1);
    assert_true(slice_begins(t.sums->chain, "<0.0.0> -> <0.1.0> -> "));
    assert_non_null(strstr(t.sums->chain.s, "<0.9.0> -> (4076 more) -> <0.4086.0>"));
    arena_clear(&arena);
    free(rows);
}

/* ---- of two answers */

static void give_waits(struct model *m, const char *text)
{
    struct builder *b = builder_new();
    struct error err = {0};
    size_t len;
    assert_int_equal(etf_parse(b, text, strlen(text), "n@h", &err), 0);
    const uint8_t *bytes = builder_bytes(b, &len);
    if (model_take(m, QUESTION_WAITS, bytes + 1, len - 1, NULL, 0, &err) < 0)
        fail_msg("%s", err.text);
    builder_free(b);
}

#define ANSWER(mono, for, reductions)                                                              \
    "{waits, " mono ", [{<0.1.0>, a, undefined, {a,init,1}, call, " for                            \
    ", 1, {gen,do_call,4}, {a,run,0}, waiting, 2, " reductions ", false, false},"                  \
    "{<0.2.0>, undefined, <<\"bee\">>, undefined, undefined, undefined, undefined, undefined, "    \
    "0, {b,loop,0}, undefined, running, 0, 7, false, true}], false}"
#define FOR_BEE "<0.2.0>, undefined, undefined"

/* A name that was monitored stays where the process has none. */
TEST(test_a_monitored_name_stays)
{
    struct model *m = model_new();
    give_waits(m, "{waits, 1, [{<0.1.0>, undefined, undefined, undefined, call, <0.2.0>, store, "
                  "undefined, 1, {gen,do_call,4}, undefined, waiting, 0, 1, false, false},"
                  "{<0.2.0>, undefined, undefined, undefined, undefined, undefined, undefined, "
                  "undefined, 0, {b,loop,0}, undefined, running, 0, 7, false, false}], false}");
    const struct table_detail *t = model_answer(m, QUESTION_WAITS);
    const struct waits_row *rows = t->rows;
    assert_true(slice_is(rows[0].pid.id == 1 ? rows[0].for_name : rows[1].for_name, "store"));
    model_free(m);
}

static const struct waits_row *row_of(const struct model *m, uint32_t id)
{
    const struct table_detail *t = model_answer(m, QUESTION_WAITS);
    const struct waits_row *rows = t->rows;
    for (size_t i = 0; i < t->n_rows; i++)
        if (rows[i].pid.id == id)
            return &rows[i];
    fail_msg("no row of %u", id);
    return NULL;
}

/* Looks at it are work, so that it is not told by reductions. */
TEST(test_a_deadlock_stands)
{
#define LOCKED(pid, for, reductions)                                                               \
    "{" pid ", undefined, undefined, undefined, call, " for                                        \
    ", undefined, undefined, 1, {gen,do_call,4}, undefined, waiting, 0, " reductions               \
    ", true, false}"
    struct model *m = model_new();
    give_waits(m, "{waits, 1000000000, [" LOCKED("<0.1.0>", "<0.2.0>", "10") "," LOCKED(
                      "<0.2.0>", "<0.1.0>", "10") "], false}");
    assert_true(row_of(m, 1)->locked_s == 0);
    give_waits(m, "{waits, 8000000000, [" LOCKED("<0.1.0>", "<0.2.0>", "90") "," LOCKED(
                      "<0.2.0>", "<0.1.0>", "10") "], false}");
    assert_true(row_of(m, 1)->locked_s == 7 && row_of(m, 1)->seen_s == 0);
    give_waits(m, "{waits, 9000000000, [" LOCKED("<0.1.0>", "<0.2.0>", "90") "," LOCKED(
                      "<0.2.0>", "<0.3.0>", "10") "], false}");
    assert_true(row_of(m, 1)->locked_s == 0);
    model_free(m);
}

TEST(test_a_crowd_stays)
{
    struct waits_row rows[2][16];
    struct table_detail t[2];
    struct arena arena;
    arena_init(&arena);
    for (size_t k = 0; k < 2; k++) {
        const size_t n =
            read_rows(k ? "az bz cz dz ez fz gz hz iz z" : "az bz cz dz ez fz gz hz z", rows[k]);
        t[k] = (struct table_detail){.rows = rows[k], .n_rows = n, .mono_ns = 1};
        waits_follow(&t[k], NULL, &arena);
    }
    struct table_detail later = {.rows = rows[0], .n_rows = t[1].n_rows, .mono_ns = 5000000001};
    memcpy(rows[0], rows[1], sizeof rows[0]);
    waits_follow(&later, &t[1], &arena);
    assert_true(rows[0][0].waiters == WAITS_CROWD + 1 && rows[0][0].crowded_s == 5);
    assert_true(rows[1][0].crowded_s == 0);
    arena_clear(&arena);
}

TEST(test_a_wait_is_seen_for_as_long_as_it_stands)
{
    struct model *m = model_new();
    give_waits(m, ANSWER("1000000000", FOR_BEE, "100"));
    assert_true(slice_is(row_of(m, 1)->for_name, "bee") && row_of(m, 2)->suspended);
    assert_true(row_of(m, 1)->seen_s == 0 && isnan(row_of(m, 2)->seen_s));
    give_waits(m, ANSWER("3000000000", FOR_BEE, "110"));
    assert_true(row_of(m, 1)->seen_s == 2);
    give_waits(m, ANSWER("6000000000", FOR_BEE, "120"));
    assert_true(row_of(m, 1)->seen_s == 5);
    give_waits(m, ANSWER("7000000000", FOR_BEE, "160")); /* it has called again */
    assert_true(row_of(m, 1)->seen_s == 0);
    give_waits(m, ANSWER("8000000000", FOR_BEE, "165"));
    assert_true(row_of(m, 1)->seen_s == 1);
    give_waits(m, ANSWER("68000000000", FOR_BEE, "210")); /* and so it has a minute later */
    assert_true(row_of(m, 1)->seen_s == 0);
    give_waits(m, ANSWER("69000000000", "undefined, store, b@h", "211"));
    assert_true(row_of(m, 1)->seen_s == 0 && slice_is(row_of(m, 1)->for_name, "store"));
    const struct table_detail *t = model_answer(m, QUESTION_WAITS);
    assert_int_equal(t->sums->elsewhere, 1);
    assert_int_equal(t->sums->waiting, 1);
    model_free(m);
}

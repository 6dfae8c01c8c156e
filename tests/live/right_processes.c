/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes: ranked by every column, by change, reversed, filtered; our own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "right.h"

#define MOVING_MAX 6 /* rows of 20 that may have moved between the two looks of the node */

/* Every process that the node has both times and that is not shown is not better than the last. */
static void expect_none_missing(json_t *rows, size_t column, json_t *before, json_t *after)
{
    const char *pid;
    json_t *ignored;
    char path[80];
    snprintf(path, sizeof path, "%zu.%s", json_array_size(rows) - 1, fact_columns[column].key);
    double last = number_at(rows, path);
    unsigned missing = 0;
    json_object_foreach (at(before, "procs"), pid, ignored) {
        double b, a;
        bool shown = false;
        if (!fact_of(before, pid, fact_columns[column].fact, fact_columns[column].factor, &b) ||
            !fact_of(after, pid, fact_columns[column].fact, fact_columns[column].factor, &a))
            continue;
        for (size_t i = 0; i < json_array_size(rows); i++)
            shown |= strcmp(text_at(json_array_get(rows, i), "pid"), pid) == 0;
        /* One that moves may have been lower between the looks. */
        if (!shown && a > last && b > last && ++missing > 1)
            fail_msg("by %s: %s with %.0f … %.0f is not among the best, last is %.0f",
                     fact_columns[column].key, pid, b, a, last);
    }
}

/* What the program printed, between two looks of the node. */
static void expect_ranked(json_t *top, size_t column, json_t *before, json_t *after)
{
    const struct fact_column *c = &fact_columns[column];
    unsigned moved = 0, workers = 0;
    json_t *rows = at(top, "rows");
    double above = (double)INFINITY;
    assert_int_equal(json_array_size(rows), TOP_ROWS);
    for (size_t i = 0; i < TOP_ROWS; i++) {
        json_t *row = json_array_get(rows, i);
        const char *pid = text_at(row, "pid"), *name = text_at(row, "name");
        double v = number_at(row, c->key), b, a;
        bool worker = name && strncmp(name, "r_", 2) == 0;
        /* Ranked by the sweep, read again for the row: what moves may be out of order. */
        if (worker && v > above)
            fail_msg("by %s: row %zu with %.0f stands under %.0f", c->key, i, v, above);
        if (worker)
            above = v;
        workers += worker;
        bool known = fact_of(before, pid, c->fact, c->factor, &b) &&
                     fact_of(after, pid, c->fact, c->factor, &a);
        if (known && is_near(v, a, b, 0))
            continue;
        if (worker)
            fail_msg("by %s: %s has %.0f, the node says %.0f and %.0f", c->key, name, v, b, a);
        moved++;
    }
    if (moved > MOVING_MAX)
        fail_msg("by %s: %u rows are not between what the node says", c->key, moved);
    expect_none_missing(rows, column, before, after);
    /* What the workload was made for: it fills the list, with room for the node's own. */
    if (strcmp(c->key, "reductions") != 0 && strcmp(c->key, "minor_gcs") != 0 &&
        workers < TOP_ROWS / 2)
        fail_msg("by %s: only %u of the workload", c->key, workers);
}

void test_top_by_every_column(void **state)
{
    struct target *t = target_of(state);
    json_t *before = facts(t);
    for (size_t i = 0; i < FACT_COLUMNS; i++) {
        const char *key = fact_columns[i].key;
        char args[200];
        snprintf(args, sizeof args, QUICK "-s %s -c pid,name,%s", key, key);
        json_t *top = json_on(t, "top", args);
        json_t *after = facts(t);
        expect_ranked(top, i, before, after);
        json_decref(top);
        json_decref(before);
        before = after;
    }
    json_decref(before);
}

/* ---- rates */

struct rate_case {
    const char *rate, *fact, *process;
    double least; /* change between the first tick and the last */
};

/* What one process has now, and when, by the node's own clock. */
static double value_on_node(struct target *t, const struct rate_case *c, double *at_s)
{
    char expression[200], value[64];
    long long n = 0, us = 0;
    snprintf(expression, sizeof expression,
             "{element(2, process_info(whereis(%s), %s)), erlang:monotonic_time(microsecond)}.",
             c->process, c->fact);
    assert_int_equal(node_eval(&t->node, expression, value, sizeof value), 0);
    assert_int_equal(sscanf(value, "{%lld,%lld}", &n, &us), 2);
    *at_s = (double)us / 1e6;
    return (double)n;
}

/* What the ticks say it did, each its rate times its interval, is no more than it did by the
   node's own account from before the first look to after the last; and as much as the values of
   these ticks say: but for the moment between the two looks of a tick. */
static void expect_rate(struct target *t, const struct rate_case *c)
{
    char args[200];
    struct run r;
    double before_s, after_s, said = 0, seconds = 0;
    snprintf(args, sizeof args, QUICK "-n 5 -s %s -c pid,name,%s,%s -f ^%s$", c->rate, c->rate,
             c->fact, c->process);
    double before = value_on_node(t, c, &before_s);
    run_on(t, &r, "top", args);
    double after = value_on_node(t, c, &after_s);
    assert_int_equal(run_lines(&r), 5);
    for (int line = 1; line < 5; line++) {
        json_t *tick = run_json(&r, line);
        double s = number_at(tick, "interval_us") / 1e6;
        said += number_at(row_named(tick, c->process), c->rate) * s;
        seconds += s;
        json_decref(tick);
    }
    json_t *one = run_json(&r, 0), *last = run_json(&r, -1);
    double first = number_at(row_named(one, c->process), c->fact);
    double shown = number_at(row_named(last, c->process), c->fact) - first;
    if (said > (after - before) * 1.02 || fabs(said - shown) > 0.2 * shown + c->least ||
        shown < c->least || seconds > after_s - before_s)
        fail_msg("%s of %s: %.0f in %.3f s, shown %.0f, the node says %.0f in %.3f s", c->rate,
                 c->process, said, seconds, shown, after - before, after_s - before_s);
    json_decref(one);
    json_decref(last);
    run_clear(&r);
}

void test_rates(void **state)
{
    static const struct rate_case rates[] = {
        {"reductions_per_s", "reductions", "work", 20000},
        {"message_queue_len_per_s", "message_queue_len", "grow", 10},
    };
    struct target *t = target_of(state);
    for (size_t i = 0; i < ARRAY_LEN(rates); i++)
        expect_rate(t, &rates[i]);
}

void test_reversed(void **state)
{
    struct target *t = target_of(state);
    json_t *top = json_on(t, "top", QUICK "-r -s message_queue_len -f ^r_ -R 26");
    json_t *rows = at(top, "rows");
    assert_int_equal(json_array_size(rows), WORKERS);
    for (size_t i = 0; i < WORKERS; i++) {
        double len = number_at(json_array_get(rows, i), "message_queue_len");
        if (len != 100.0 * (double)(i + 1))
            fail_msg("row %zu has %.0f messages", i, len);
    }
    json_decref(top);
}

/* ---- filters */

void test_filters(void **state)
{
    static const struct {
        const char *filter;
        const char *count;        /* of the node, as an expression */
        const char *key, *prefix; /* what every row then has */
    } filters[] = {
        {"^r_1", "11.", "name", "r_1"},
        {"name=^r_2$", "1.", "name", "r_2"},
        {"R_26", "0.", NULL, NULL},
        {"^r_(3|4|5)$|^grow$", "4.", NULL, NULL},
        {"app=^kernel$",
         "length([P || P <- processes(), application:get_application(P) =:= {ok, kernel}]).",
         "application", "kernel"},
        {"init=^timer:tc/2$", "5.", "initial_call", "timer:tc/2"},
        {"^timer:tc/2$", "5.", "initial_call", "timer:tc/2"},
        {"fn=^timer:sleep/1$",
         "length([P || P <- processes(), "
         "process_info(P, current_function) =:= {current_function, {timer, sleep, 1}}]).",
         "current_function", "timer:sleep/1"},
        {"pid=^<0.0.0>$", "1.", "name", "init"},
        {"no such thing", "0.", NULL, NULL},
    };
    struct target *t = target_of(state);
    struct run runs[ARRAY_LEN(filters)];
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        for (size_t k = i; i % AT_ONCE == 0 && k < i + AT_ONCE && k < ARRAY_LEN(filters); k++) {
            char args[200];
            snprintf(args, sizeof args,
                     QUICK "-R 200 -c pid,name,application,initial_call,current_function -f '%s'",
                     filters[k].filter);
            start_on(t, &runs[k], "top", args);
        }
        wait_on(&runs[i]);
        json_t *top = run_json(&runs[i], -1);
        run_clear(&runs[i]);
        double expected = node_number(t, filters[i].count);
        json_t *rows = at(top, "rows");
        /* The node has processes for each of our connections, while we look and when it counts. */
        double more = (double)json_array_size(rows) - expected;
        bool moves = strstr(filters[i].filter, "kernel") != NULL;
        double gone = number_at(top, "scan.matching") - (double)json_array_size(rows);
        double slack = moves ? 2 * AT_ONCE : 0;
        if (gone < 0 || gone > slack || fabs(more) > slack)
            fail_msg("%s: %.0f match, %zu rows, the node says %.0f", filters[i].filter,
                     number_at(top, "scan.matching"), json_array_size(rows), expected);
        for (size_t k = 0; filters[i].key && k < json_array_size(rows); k++) {
            const char *text = text_at(json_array_get(rows, k), filters[i].key);
            if (!text || strncmp(text, filters[i].prefix, strlen(filters[i].prefix)) != 0)
                fail_msg("%s: a row with %s %s", filters[i].filter, filters[i].key,
                         text ? text : "null");
        }
        json_decref(top);
    }
}

void test_own(void **state)
{
    struct target *t = target_of(state);
    await_quiet(t);
    json_t *without = json_on(t, "top", QUICK "-R 1000");
    await_quiet(t);
    json_t *with = json_on(t, "top", QUICK "-R 1000 --own");
    double own = number_at(with, "scan.own");
    assert_true(own >= 2);
    assert_true(number_at(without, "scan.own") >= 2);
    /* One or two of the node's own may end between sweep and row. */
    double listed = (double)json_array_size(at(without, "rows"));
    expect_near("listed", listed, number_at(without, "scan.total"),
                number_at(without, "scan.total"), 2);
    double shown = (double)json_array_size(at(with, "rows")) - number_at(with, "scan.total");
    /* One that answers another question of the same tick may have ended meanwhile. */
    if (shown > own || shown < own - 2)
        fail_msg("%.0f more rows, but %.0f own processes", shown, own);
    /* Nothing else comes or goes: with ours it is the VM's own count. */
    double vm = number_at(without, "system.processes");
    double seen = number_at(without, "scan.total") + number_at(without, "scan.own");
    if (fabs(vm - seen) > 4)
        fail_msg("the VM counts %.0f, we see %.0f", vm, seen);
    json_decref(without);
    json_decref(with);
}

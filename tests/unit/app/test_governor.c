/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "../../test.h"
#include "app/live/governor.h"

#define SYSTEM (1u << QUESTION_SYSTEM)
#define SCAN (1u << QUESTION_SCAN)
#define ARMED (1u << QUESTION_ARMED)
#define APPS (1u << QUESTION_APPS)

static const struct {
    const char *name;
    double interval_s, budget;
    double system_us, scan_us;
    question_mask questions;
    double header_s, others_s;
} rows[] = {
    {"unknown costs ask at the interval", 1, 0.02, 0, 0, SYSTEM | SCAN, 1, 1},
    {"cheap", 1, 0.02, 100, 3000, SYSTEM | SCAN, 1, 1},
    {"an expensive scan is stretched, the header is not", 1, 0.02, 1000, 95000, SYSTEM | SCAN, 1,
     5},
    {"a stretch that is not worth saying", 1, 0.02, 1000, 22800, SYSTEM | SCAN, 1, 1.2},
    {"header alone", 0.25, 0.02, 1000, 95000, SYSTEM, 0.25, 0.25},
    {"an expensive header is stretched too", 1, 0.02, 24000, 5000, SYSTEM | SCAN, 1.6, 1.6},
    {"but not beyond 2 s", 1, 0.02, 45000, 20000, SYSTEM | SCAN, 2, 4},
    {"nor beyond a longer interval", 5, 0.02, 450000, 10000, SYSTEM | SCAN, 5, 5},
    {"a larger budget", 1, 0.5, 1000, 95000, SYSTEM | SCAN, 1, 1},
    {"never beyond an hour", 1, 0.0001, 0, 1e9, SYSTEM | SCAN, 1, 3600},
};

/* As a target answers: the first answer has the parsing of its expression in it. */
static void note(struct governor *g, enum question q, double target_us)
{
    if (!(g->begun & (1u << q)))
        governor_note(g, q, target_us + 40000);
    governor_note(g, q, target_us);
}

TEST(test_plan)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct governor g;
        struct governor_plan plan;
        governor_init(&g, rows[i].interval_s, rows[i].budget);
        note(&g, QUESTION_SYSTEM, rows[i].system_us);
        note(&g, QUESTION_SCAN, rows[i].scan_us);
        governor_plan(&g, rows[i].questions, &plan);
        if (fabs(plan.header_s - rows[i].header_s) > 1e-6 ||
            fabs(plan.others_s - rows[i].others_s) > 1e-6)
            fail_msg("%s: header %g s, others %g s", rows[i].name, plan.header_s, plan.others_s);
        /* Says why exactly when something is stretched by more than a little. */
        assert_int_equal(plan.why[0] != '\0', plan.others_s > 1.25 * rows[i].interval_s);
    }
}

/* Whatever the rest of a division is, ticks are never closer than the header's. */
TEST(test_apart_alone)
{
    for (int header_us = 0; header_us < 15000; header_us += 17)
        for (int armed_us = 0; armed_us < 400000; armed_us += 1009) {
            struct governor g;
            struct governor_plan plan;
            governor_init(&g, 1, 0.02);
            g.cost_us[QUESTION_SYSTEM] = header_us;
            g.cost_us[QUESTION_ARMED] = armed_us;
            governor_plan(&g, SYSTEM | ARMED, &plan);
            if (plan.others_s < plan.header_s || plan.apart_s < plan.header_s)
                fail_msg("%d us, %d us: others %g s, apart %g s", header_us, armed_us,
                         plan.others_s, plan.apart_s);
        }
}

/* A recording of a large node: scans are not held up by the sums of its applications, and both keep
 * within the budget. */
TEST(test_applications_apart)
{
    struct governor g;
    struct governor_plan plan;
    governor_init(&g, 5, 0.02);
    note(&g, QUESTION_SYSTEM, 1000);
    note(&g, QUESTION_SCAN, 80000);
    note(&g, QUESTION_APPS, 900000);
    governor_plan(&g, SYSTEM | SCAN | APPS, &plan);
    assert_true(plan.others_s > 45);
    g.apart |= APPS;
    governor_plan(&g, SYSTEM | SCAN | APPS, &plan);
    assert_true(plan.others_s < 10 && plan.apart_s < 100);
    assert_true(80000 / plan.others_s + 900000 / plan.apart_s <= 20000);
    assert_non_null(strstr(plan.why, "scan every"));
}

/* Questions beside ticks are paid for by the same budget; a quarter of it is left for ticks. */
TEST(test_beside)
{
    static const struct {
        double beside_us;
        bool together;
        double others_s;
    } cases[] = {{0, false, 5}, {9500, false, 10}, {30000, false, 19}, {8000, true, 8}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct governor g;
        struct governor_plan plan;
        governor_init(&g, 1, 0.02);
        note(&g, QUESTION_SYSTEM, 1000);
        note(&g, QUESTION_SCAN, 95000);
        g.beside_us = cases[i].beside_us;
        g.together = cases[i].together;
        governor_plan(&g, SYSTEM | SCAN, &plan);
        if (fabs(plan.others_s - cases[i].others_s) > 1e-6 ||
            fabs(plan.why_s - plan.others_s) > 1e-6)
            fail_msg("%g beside: %g s, logged %g s", cases[i].beside_us, plan.others_s, plan.why_s);
    }
}

/* Before the first sweep its cost is known by the number of processes; a large node's second one
   comes after the first is paid for. */
TEST(test_opening)
{
    static const struct {
        long long processes;
        double least_s, most_s;
    } cases[] = {{50, 0.3, 0.3}, {20000, 0.3, 0.3}, {100000, 3, 5}, {1000000, 20, 60}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct governor g;
        struct governor_plan plan;
        governor_init(&g, 1, 0.02);
        governor_plan(&g, SYSTEM | SCAN, &plan);
        assert_true(fabs(plan.second_s - 0.3) < 1e-6);
        governor_expect(&g, cases[i].processes);
        governor_plan(&g, SYSTEM | SCAN, &plan);
        if (plan.second_s < cases[i].least_s - 1e-6 || plan.second_s > cases[i].most_s + 1e-6)
            fail_msg("%lld processes: %g s", cases[i].processes, plan.second_s);
        /* An answer is worth more than the estimate, which replaces none. */
        governor_note(&g, QUESTION_SCAN, 90000);
        double expected_us = g.cost_us[QUESTION_SCAN];
        governor_note(&g, QUESTION_SCAN, 0);
        assert_true(g.cost_us[QUESTION_SCAN] < expected_us);
        double noted_us = g.cost_us[QUESTION_SCAN];
        governor_expect(&g, 2 * cases[i].processes);
        assert_true(fabs(g.cost_us[QUESTION_SCAN] - noted_us) < 1e-6);
    }
}

/* What is asked apart has its own pace: it neither stretches the list nor breaks the budget. */
TEST(test_apart)
{
    static const struct {
        const char *name;
        double scan_us, armed_us;
        question_mask questions;
        double others_s, apart_s;
        const char *why;
        double system_us;
    } cases[] = {
        {"cheap", 3000, 3000, SYSTEM | SCAN | ARMED, 1, 1, "", 0},
        {"expensive beside a cheap list", 3000, 40000, SYSTEM | SCAN | ARMED, 1, 40 / 17.0,
         "armed every 2.4", 0},
        {"expensive alone", 0, 40000, SYSTEM | ARMED, 1, 2, "armed every 2", 0},
        {"expensive beside an expensive list", 40000, 40000, SYSTEM | SCAN | ARMED, 4, 4,
         "scan every 4", 0},
        {"not asked, whatever it did cost", 3000, 40000, SYSTEM | SCAN, 1, 1, "", 0},
        {"beside a header that takes the budget", 10000, 0, SYSTEM | SCAN, 2, 1,
         "scan every 2.0 s: costs the node 10 ms, the header 15 ms, cost limit 2%", 15000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct governor g;
        struct governor_plan plan;
        governor_init(&g, 1, 0.02);
        note(&g, QUESTION_SYSTEM, cases[i].system_us);
        note(&g, QUESTION_SCAN, cases[i].scan_us);
        note(&g, QUESTION_ARMED, cases[i].armed_us);
        governor_plan(&g, cases[i].questions, &plan);
        if (fabs(plan.others_s - cases[i].others_s) > 1e-6 ||
            fabs(plan.apart_s - cases[i].apart_s) > 1e-6)
            fail_msg("%s: others %g s, apart %g s", cases[i].name, plan.others_s, plan.apart_s);
        if (strncmp(plan.why, cases[i].why, strlen(cases[i].why)) != 0 ||
            (*cases[i].why == '\0') != (*plan.why == '\0'))
            fail_msg("%s: %s", cases[i].name, plan.why);
        double share = (cases[i].scan_us / plan.others_s) / 1e6;
        if (cases[i].questions & ARMED)
            share += (cases[i].armed_us / plan.apart_s) / 1e6;
        if (share > 0.02 * 1.0001)
            fail_msg("%s: share %g", cases[i].name, share);
    }
}

#define ROWS (1u << QUESTION_ROWS)

/* While scans are more than 2 s apart the rows shown are asked every 2 s, or as often as the user
   asks for the header; the scans pay for it, with half of what they had at most. */
TEST(test_rows_between)
{
    static const struct {
        const char *name;
        double interval_s, scan_us, rows_us;
        question_mask questions;
        double rows_s, others_s;
    } cases[] = {
        {"a cheap scan", 1, 3000, 1000, SYSTEM | SCAN | ROWS, 0, 1},
        {"no more than 2 s apart", 1, 40000, 1000, SYSTEM | SCAN | ROWS, 0, 2},
        {"an expensive scan", 1, 195000, 1000, SYSTEM | SCAN | ROWS, 2, 10},
        {"a long interval", 5, 198000, 1000, SYSTEM | SCAN | ROWS, 5, 10},
        {"a short interval", 0.25, 195000, 1000, SYSTEM | SCAN | ROWS, 2, 10},
        {"a cost that is not known yet", 1, 200000, 0, SYSTEM | SCAN | ROWS, 2, 10},
        {"rows that cost all there is", 1, 200000, 1e6, SYSTEM | SCAN | ROWS, 2, 20},
        {"nobody wants them", 1, 200000, 1000, SYSTEM | SCAN, 0, 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct governor g;
        struct governor_plan plan;
        governor_init(&g, cases[i].interval_s, 0.02);
        note(&g, QUESTION_SCAN, cases[i].scan_us);
        note(&g, QUESTION_ROWS, cases[i].rows_us);
        governor_plan(&g, cases[i].questions, &plan);
        if (fabs(plan.rows_s - cases[i].rows_s) > 1e-6 ||
            fabs(plan.others_s - cases[i].others_s) > 1e-6)
            fail_msg("%s: rows %g s, others %g s", cases[i].name, plan.rows_s, plan.others_s);
        g.together = true;
        governor_plan(&g, cases[i].questions, &plan);
        assert_true(plan.rows_s == 0);
    }
}

/* Whatever it plans, the work stays within the budget; beside a header that the budget does not pay
   for every 2 s, the others stay within a quarter of it. */
TEST(test_budget_is_kept)
{
    for (double scan_us = 1; scan_us < 1e7; scan_us *= 3) {
        for (double system_us = 1; system_us < 1e5; system_us *= 3) {
            struct governor g;
            struct governor_plan plan;
            governor_init(&g, 0.25, 0.02);
            note(&g, QUESTION_SYSTEM, system_us);
            note(&g, QUESTION_SCAN, scan_us);
            governor_plan(&g, SYSTEM | SCAN, &plan);
            double share = (system_us / plan.header_s + scan_us / plan.others_s) / 1e6;
            double others = scan_us / plan.others_s / 1e6;
            assert_true(plan.header_s <= 2);
            if (share > 0.02 * 1.0001 && (plan.header_s < 2 || others > 0.005 * 1.0001))
                fail_msg("scan %g µs, system %g µs: share %g", scan_us, system_us, share);
        }
    }
}

/*
 * The first answer says nothing of the cost, the second is taken whole; later ones count half: one
 * outlier is half forgotten a
 * tick later. */
TEST(test_costs_are_smoothed)
{
    struct governor g;
    governor_init(&g, 1, 0.02);
    governor_note(&g, QUESTION_SCAN, 90000);
    assert_true(g.cost_us[QUESTION_SCAN] == 0);
    governor_note(&g, QUESTION_SCAN, 1000);
    assert_true(fabs(g.cost_us[QUESTION_SCAN] - 1000) < 0.1);
    governor_note(&g, QUESTION_SCAN, 51000);
    assert_true(fabs(g.cost_us[QUESTION_SCAN] - 26000) < 0.1);
    governor_note(&g, QUESTION_SCAN, 1000);
    assert_true(fabs(g.cost_us[QUESTION_SCAN] - 13500) < 0.1);
    governor_begin(
        &g); /* of a new link: what was known stays, and is not spoilt by parsing again */
    governor_note(&g, QUESTION_SCAN, 90000);
    assert_true(fabs(g.cost_us[QUESTION_SCAN] - 13500) < 0.1);
}

/* A batch run asks everything at once: what the header costs counts once a tick. */
TEST(test_together)
{
    static const struct {
        const char *name;
        double system_us, scan_us, armed_us, every_s;
        const char *why;
        double most_s;
    } cases[] = {
        {"a run without an end", 1000, 4299000, 0, 215, "scan every 00:03:35", 0},
        {"one that ends", 1000, 4299000, 0, 20,
         "scan every 20 s: costs the node 4.3 s, cost limit 2% (`budget`); the limit itself "
         "asks for every "
         "00:03:35",
         20},
        {"one that ends, and costs less", 1000, 99000, 0, 5, "scan every 5", 20},
        {"unknown", 0, 0, 0, 0.25, "", 0},
        {"cheap", 2000, 2900, 0, 0.25, "", 0},
        {"an expensive header", 4000, 9000, 0, 0.65, "scan and others every 650 ms", 0},
        {"an expensive list", 1000, 99000, 0, 5, "scan every 5", 0},
        {"what is asked apart is asked with the rest", 1000, 3000, 36000, 2, "armed every 2", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct governor g;
        struct governor_plan plan;
        governor_init(&g, 0.25, 0.02);
        g.together = true;
        g.most_s = cases[i].most_s;
        note(&g, QUESTION_SYSTEM, cases[i].system_us);
        note(&g, QUESTION_SCAN, cases[i].scan_us);
        note(&g, QUESTION_ARMED, cases[i].armed_us);
        governor_plan(&g, SYSTEM | SCAN | ARMED, &plan);
        if (fabs(plan.others_s - cases[i].every_s) > 1e-6 || plan.header_s != plan.others_s ||
            plan.apart_s != plan.others_s)
            fail_msg("%s: every %g s", cases[i].name, plan.others_s);
        if (strncmp(plan.why, cases[i].why, strlen(cases[i].why)) != 0 ||
            (*cases[i].why == '\0') != (*plan.why == '\0'))
            fail_msg("%s: %s", cases[i].name, plan.why);
    }
}

/* Half as often, never further apart than the header may be; costs stretch it as they do else. */
static const struct {
    const char *name;
    double interval_s, scan_us, header_s, others_s;
    bool idle, says_why;
} idle_rows[] = {
    {"twice the interval", 1, 3000, 2, 2, true, false},
    {"also of a short one", 0.25, 3000, 0.5, 0.5, true, false},
    {"to 2 s", 1.5, 3000, 2, 2, true, false},
    {"not of a longer one", 5, 3000, 5, 5, false, false},
    {"by its cost it is further apart", 1, 95000, 2, 5, false, true},
    {"a little further", 1, 41800, 2, 2.2, false, true},
    {"by its cost less far apart, which is said as before", 1, 28500, 2, 2, true, true},
};

TEST(test_idle)
{
    for (size_t i = 0; i < ARRAY_LEN(idle_rows); i++) {
        struct governor g;
        struct governor_plan plan;
        governor_init(&g, idle_rows[i].interval_s, 0.02);
        note(&g, QUESTION_SYSTEM, 1000);
        note(&g, QUESTION_SCAN, idle_rows[i].scan_us);
        g.idle = true;
        governor_plan(&g, SYSTEM | SCAN, &plan);
        if (fabs(plan.header_s - idle_rows[i].header_s) > 1e-6 ||
            fabs(plan.others_s - idle_rows[i].others_s) > 1e-6 || plan.idle != idle_rows[i].idle ||
            (plan.why[0] != '\0') != idle_rows[i].says_why)
            fail_msg("%s: header %g s, others %g s, %s", idle_rows[i].name, plan.header_s,
                     plan.others_s, plan.why);
        g.together = true;
        governor_plan(&g, SYSTEM | SCAN, &plan);
        assert_false(plan.idle);
    }
}

/* After twenty quiet answers a node is idle; one that is not quiet ends it. */
static const struct {
    const char *name;
    double interval_s;
    int64_t late_ms;
    double use, own_use, others_per_s;
    bool steady, idle;
} answers[] = {
    {"quiet", 1, 0, 0.01, 0.004, 20000, false, true},
    {"what we use does not count", 1, 0, 0.2, 0.18, 20000, false, true},
    {"a scheduler works: native code", 1, 0, 0.5, 0.01, 20000, false, false},
    {"how much one works is not known", 1, 0, NAN, 0.01, 20000, false, false},
    {"others work, a little on each", 1, 0, 0.01, 0.01, 3e6, false, false},
    {"a scheduler is stuck: nothing counts what it does", 1, 250, 0.01, 0.01, 20000, false, false},
    {"the first after a gap", NAN, 0, 0.01, NAN, 20000, false, false},
    {"a trigger waits for what may be short", 1, 0, 0.01, 0.01, 20000, true, false},
};

static void look_for_work(struct governor *g, size_t row)
{
    struct scheduler schedulers[] = {{.use = 0.001}, {.use = answers[row].use}};
    const struct system_sample sample = {
        .interval_s = answers[row].interval_s,
        .late_ms = answers[row].late_ms,
        .reductions_per_s = answers[row].others_per_s + 5e6,
        .own_reductions_per_s = 5e6,
        .schedulers = schedulers,
        .n_schedulers = ARRAY_LEN(schedulers),
    };
    governor_look_for_work(g, &sample, answers[row].own_use, answers[row].steady);
}

TEST(test_looks_for_work)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct governor g;
        governor_init(&g, 1, 0.02);
        for (int n = 0; n < 20; n++) {
            assert_false(g.idle);
            look_for_work(&g, i);
        }
        if (g.idle != answers[i].idle)
            fail_msg("%s: %s", answers[i].name, g.idle ? "idle" : "not idle");
        for (int n = 0; n < 20; n++)
            look_for_work(&g, 0);
        assert_true(g.idle);
        look_for_work(&g, i);
        assert_int_equal(g.idle, answers[i].idle);
    }
}

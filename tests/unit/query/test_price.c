/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/parse.h"
#include "query/native/price.h"

/* Native time is in ns; 1,000 plain reductions take 10 us. */
#define PER_SECOND 1e9
#define PLAIN 10000
#define ANSWER 800.0 /* us that each answer has beside its work */

static bool read_text(const char *text, struct work_report *report)
{
    struct builder *b = builder_new();
    struct error err = {0};
    if (etf_parse(b, text, strlen(text), NULL, &err) != 0)
        fail_msg("%s: %s", text, err.text);
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(b, &len);
    struct cursor c;
    cursor_init(&c, bytes, len);
    const bool ok = price_read(&c, report);
    builder_free(b);
    return ok;
}

/* us of the work, without what each answer has. */
static double priced(struct price *p, enum question question, const char *text)
{
    struct work_report report;
    if (!read_text(text, &report))
        fail_msg("not read: %s", text);
    return price_of(p, question, &report) - ANSWER;
}

static void near(double is, double wanted)
{
    if (!(fabs(is - wanted) < 1e-6))
        fail_msg("%.9g is not %.9g", is, wanted);
}

TEST(test_learns)
{
    struct price p;
    price_init(&p, PER_SECOND, PLAIN);
    /* 20,000 ns for 1,000: the first price. */
    near(priced(&p, QUESTION_ALLOC, "{{20000,1000,0,{0,0}},0,{0,0}}"), 20);
    /* What is higher pulls by a 16th, of at most the price itself. */
    near(priced(&p, QUESTION_ALLOC, "{{36000,1000,0,{0,0}},0,{0,0}}"), 21);
    near(priced(&p, QUESTION_ALLOC, "{{900000000,1000,0,{0,0}},0,{0,0}}"), 21 + 21 / 16.0);
    /* What is lower pulls by a quarter. */
    near(p.answers[QUESTION_ALLOC], 22312.5);
    near(priced(&p, QUESTION_ALLOC, "{{2187.5,1000,0,{0,0}},0,{0,0}}"), 17.28125);
    /* Another question has a price of its own, whatever this one is. */
    near(priced(&p, QUESTION_SCAN, "{{5000,1000,0,{0,0}},0,{0,0}}"), 5);
}

TEST(test_is_bounded)
{
    static const struct {
        enum question question;
        double times;
    } rows[] = {{QUESTION_SCAN, 4}, {QUESTION_ROWS, 5.5}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct price p;
        price_init(&p, PER_SECOND, PLAIN);
        near(priced(&p, rows[i].question, "{{999000000,1000,0,{0,0}},0,{0,0}}"),
             rows[i].times * 10);
        /* A node that is always busy: later prices rise, to twice that. */
        for (int k = 0; k < 500; k++)
            (void)priced(&p, rows[i].question, "{{999000000,1000,0,{0,0}},0,{0,0}}");
        const double later = priced(&p, rows[i].question, "{{999000000,1000,0,{0,0}},0,{0,0}}");
        assert_true(later > rows[i].times * 19.9 && later <= rows[i].times * 20);
    }
    struct price p;
    price_init(&p, PER_SECOND, 0); /* a clock too coarse for a plain price */
    near(priced(&p, QUESTION_ALLOC, "{{999000000,1000,0,{0,0}},0,{0,0}}"), 999000);
}

/* Wall times have the waits for a scheduler in them where processes of the node never wait: what is
 * reported stays within 0.8 to 1.5 of the reductions at the price of a quiet node. */
TEST(test_busy)
{
    static const struct {
        enum question question;
        double quiet; /* measured, in plain prices */
    } rows[] = {{QUESTION_SCAN, 3}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (int known = 0; known < 2; known++) {
            struct price p;
            char text[80];
            const double quiet_us = rows[i].quiet * 10;
            price_init(&p, PER_SECOND, PLAIN);
            snprintf(text, sizeof text, "{{%.0f,1000,0,{0,0}},0,{0,0}}", quiet_us * 1000);
            if (known)
                near(priced(&p, rows[i].question, text), quiet_us);
            p.busy = true;
            snprintf(text, sizeof text, "{{%.0f,1000,0,{0,0}},0,{0,0}}", quiet_us * 12000);
            for (int k = 0; k < 200; k++) {
                const double us = priced(&p, rows[i].question, text);
                if (us < 0.8 * quiet_us || us > 1.5 * quiet_us)
                    fail_msg("row %zu, known %d: %g us, quiet %g", i, known, us, quiet_us);
            }
            /* When it is quiet again, the price follows. */
            p.busy = false;
            assert_true(priced(&p, rows[i].question, text) > quiet_us);
        }
}

/* The same of scans of more than 1,000 processes, which have helpers. */
TEST(test_busy_helpers)
{
    static const struct {
        const char *name;
        double plain, known_us, answer, answer_price, helpers, helpers_price; /* prices: plain */
    } rows[] = {
        {"OTP 25, 2,000", 3300, 500, 100254, 3.3, 101654, 3.3},
        {"OTP 29, 2,000", 2540, 470, 91242, 3.7, 123971, 5},
        {"OTP 25, 10,000", 3235, 1690, 119300, 2.6, 258000, 4.7},
        {"OTP 29, 10,000", 2480, 1690, 105900, 3.6, 251183, 6.4},
        {"OTP 25, 100,000", 3400, 15200, 210758, 3, 1354000, 5},
        {"OTP 29, 100,000", 2570, 15180, 198000, 3.8, 1348000, 6.7},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct price p;
        char text[120];
        const double answer_ns = rows[i].answer / 1000 * rows[i].answer_price * rows[i].plain;
        const double helpers_ns = rows[i].helpers / 1000 * rows[i].helpers_price * rows[i].plain;
        const double quiet_us = (answer_ns + helpers_ns) / 1000 + rows[i].known_us + ANSWER;
        price_init(&p, PER_SECOND, rows[i].plain);
        p.busy = true;
        snprintf(text, sizeof text, "{{%.0f,%.0f,%.0f,{%.0f,%.0f}},0,{0,0}}", answer_ns * 12,
                 rows[i].answer, rows[i].known_us * 1000, helpers_ns * 12, rows[i].helpers);
        for (int k = 0; k < 20; k++) {
            const double us = priced(&p, QUESTION_SCAN, text) + ANSWER;
            if (us < 0.8 * quiet_us || us > 1.5 * quiet_us)
                fail_msg("%s: %g us, quiet %g", rows[i].name, us, quiet_us);
        }
    }
}

/* A node cannot do more than all of its schedulers have time for, whatever it says. */
TEST(test_bound_by_time)
{
    struct price p;
    price_init(&p, PER_SECOND, PLAIN);
    near(price_bound(&p, 1000, 50), 1000);
    p.schedulers = 4;
    near(price_bound(&p, 200000, 50), 200000);
    near(price_bound(&p, 1e15, 50), 4 * 60 * 1000.0);
    p.schedulers = 1e12;
    assert_true(price_bound(&p, 1e15, 50) <= 3072 * 60 * 1000.0);
    p.schedulers = 0;
    assert_true(price_bound(&p, 1e15, 0) <= 3072 * 10 * 1000.0);
}

TEST(test_parts_add_up)
{
    struct price p;
    price_init(&p, PER_SECOND, PLAIN);
    /* Answer 10 us, known 7, helpers 30, keeper 500 at the answer's price, loading 100. */
    near(priced(&p, QUESTION_SCAN, "{{10000,1000,7000,{30000,1000}},500,{100000,2000}}"),
         10 + 7 + 30 + 5 + 100);
    /* Loading has no price: its wall time, at most ten plain ones. */
    near(priced(&p, QUESTION_SCAN, "{{0,0,0,{0,0}},0,{30000,1000}}"), 30);
    near(priced(&p, QUESTION_SCAN, "{{0,0,0,{0,0}},0,{300000,1000}}"), 100);
    /* Without a price of any kind the keeper's reductions cost nothing. */
    price_init(&p, PER_SECOND, PLAIN);
    near(priced(&p, QUESTION_MAILBOX, "{{10000,1000,0,{0,0}},500,{0,0}}"), 10);
    near(p.answers[QUESTION_MAILBOX], 0);
    /* A query that is a process, and an answer that failed. */
    near(priced(&p, QUESTION_TRACE, "{{123000,9000},0,{0,0}}"), 123);
    near(priced(&p, QUESTION_ALLOC, "{{5000000,0},0,{0,0}}"), 5000);
    /* One that was stopped at its deadline of 10 s, which teaches no price. */
    near(priced(&p, QUESTION_FACTS, "{{10000000000,1000000,at_most},0,{0,0}}"), 55000);
    near(p.answers[QUESTION_FACTS], 0);
    near(priced(&p, QUESTION_FACTS, "{{5000000,1000000,at_most},0,{0,0}}"), 5000);
    /* A clock in us. */
    price_init(&p, 1e6, 10);
    near(priced(&p, QUESTION_ALLOC, "{{20,1000,0,{0,0}},0,{0,0}}"), 20);
}

TEST(test_hostile)
{
    static const char *const refused[] = {
        "a",
        "{}",
        "{{},0,{0,0}}",
        "{{1,2,3},0,{0,0}}",
        "{{1,at_most,2},0,{0,0}}",
        "{{1,2,3,{4}},0,{0,0}}",
        "{{1,2,3,{4,5}},a,{0,0}}",
        "{{1,2,3,{4,5}},0,0}",
        "{{1,2,3,{4,5}},0}",
        "{{1,<<\"2\">>,3,{4,5}},0,{0,0}}",
        "{{1,a},0,{0,0}}",
    };
    struct work_report report;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (read_text(refused[i], &report))
            fail_msg("read: %s", refused[i]);
    /* What cannot be is nothing. */
    struct price p;
    price_init(&p, PER_SECOND, PLAIN);
    near(priced(&p, QUESTION_ALLOC, "{{-5,-7,-1,{-2,-3}},-9,{-1,-1}}"), 0);
    static const char *const huge[] = {
        "{{1.0e308,1.0e308,1.0e308,{1.0e308,1.0e-308}},1.0e308,{1.0e308,1.0e-308}}",
        "{{1.0e308,1.0e-308,0,{0,0}},1.0e308,{0,0}}",
        "{{1.0e308,1},0,{0,0}}",
    };
    for (int coarse = 0; coarse < 2; coarse++) {
        price_init(&p, coarse ? 1.0e-308 : PER_SECOND, coarse ? 0 : 1.0e308);
        for (int i = 0; i < 20; i++) {
            const double us = priced(&p, QUESTION_ALLOC, huge[i % 3]);
            if (!(us >= 0 && us <= 1e15))
                fail_msg("%g of %s", us, huge[i % 3]);
        }
    }
    price_init(&p, -1, -1);
    near(priced(&p, QUESTION_ALLOC, "{{20000,1000,0,{0,0}},0,{0,0}}"), 0);
}

/* What is asked natively, in times of the plain price: the way, and the calls where they do not
 * wait; and what each scheduler does, less where it is awake anyway. */
TEST(test_native)
{
    struct price p;
    price_init(&p, PER_SECOND, PLAIN);
    near(price_of_ask(&p, 50), price_of_ask(&p, 0) + 50);
    near(price_of_ask(&p, 1e9), price_of_ask(&p, 1e6));
    const double few = price_of_waits(&p);
    p.schedulers = 40;
    const double asleep = price_of_waits(&p);
    p.use = 1;
    assert_true(price_of_waits(&p) < asleep / 2 && asleep > few);
    /* A clock too coarse for a plain price. */
    price_init(&p, PER_SECOND, 0);
    assert_true(price_of_ask(&p, 0) > 100 && price_of_ask(&p, 0) < 1000);
}

/* The least of the bursts counts, each of 565 reductions; evaluated code takes 1.56 times that
 * where the JIT sorts. */
TEST(test_asked)
{
    static const struct {
        const char *value;
        double us; /* 0: refused */
    } cases[] = {
        {"[1000000000,\"[jit:ns]\",0,x,9000,x,14650,x,22000,x,30000,x,40000,x,50000,x,60000,x,"
         "70000]",
         1.56 * 5.65},
        {"[1000000,\"[smp]\",0,x,9,x,14,x,22,x,30,x,40,x,50,x,60,x,70]", 0.6 * 1.05 * 5},
        {"[1000000000,\"[jit]\",0,x,0,x,0,x,0,x,0,x,0,x,0,x,0,x,0]", -1}, /* too coarse */
        {"[1000000000,\"[jit]\",0,x,y,x,2,x,3,x,4,x,5,x,6,x,7,x,8]", 0},
        {"[x,\"[jit]\",0,x,1,x,2,x,3,x,4,x,5,x,6,x,7,x,8]", 0},
        {"[1,2,3]", 0},
        {"x", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct price p, same;
        struct error err = {0};
        size_t len = 0;
        struct builder *b = builder_new();
        assert_int_equal(etf_parse(b, cases[i].value, strlen(cases[i].value), NULL, &err), 0);
        const uint8_t *bytes = builder_bytes(b, &len);
        const bool ok = price_take(&p, (struct slice){(const char *)bytes, len});
        assert_int_equal(ok, cases[i].us != 0);
        price_init(&same, 1e9, fmax(cases[i].us, 0) * 1000 * 1000 / 565);
        if (ok)
            near(price_of_ask(&p, 0), price_of_ask(&same, 0));
        builder_free(b);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "price.h"

#include <math.h>

#include "beamtop/etf/cursor.h"
#include "values.h"

/* The first price is at most so many times the plain one, a quarter more than was measured for that
 * work: on a busy host it may be any number of times too high. Each question has its own. */
#define TIMES_HELPERS 12 /* values of processes are spread over memory */
#define TIMES_LOAD 10

/* While processes of the node wait for a scheduler nobody knows by how much the wall is above that:
 * then it is at most what was measured, and of helpers what a scan of thousands has, 2.8 to 6.7. */
#define TIMES_HELPERS_BUSY 5
#define BUSY_MOST 0.8

/* No later price is above twice that. Where processes of the node wait for a scheduler ours do,
 * too, and no price rises. */
#define LATER_TIMES 2

/* Costs of an answer that no helper sees: its way to the link, schedulers that wake for it. */
#define ANSWER_US 800

/* A mean that moves a quarter of the way to a lower value, and a 16th to a higher one, which
 * other work may have raised. */
#define LOWER_WEIGHT 0.25
#define HIGHER_WEIGHT (1.0 / 16)

/* Days of any clock: a larger value was never measured. */
#define AMOUNT_MOST 1e15

void price_init(struct price *p, double per_second, double plain)
{
    *p = (struct price){.us = per_second >= 1 ? 1e6 / per_second : 0,
                        .plain = plain > 0 ? fmin(plain, AMOUNT_MOST) : AMOUNT_MOST};
}

/* ---- the plain price: what the least of a few bursts takes, each so short that a busy host hardly
 * takes the core away in it */

#define BURSTS 8
#define BURST_BYTES 100
#define BURST_REDUCTIONS 565 /* of lists:sort/1 of these, on OTP 23 to 29 */

/* What evaluated code takes for 1,000 reductions, in times of that: measured, docs/performance.md.
 * The JIT makes sorting faster than the rest. */
#define EVALUATED_JIT 1.56
#define EVALUATED_EMU 1.05

/* Their places in the value; then there is a clock before and after each burst. */
enum { START_SECOND, START_VERSION, START_CLOCK, STARTS = START_CLOCK + 1 + 2 * BURSTS };

static struct builder *burst_arguments(void)
{
    char bytes[BURST_BYTES];
    struct builder *b = builder_new();
    for (int i = 0; i < BURST_BYTES; i++)
        bytes[i] = (char)((i + 1) * 7919 % 251);
    build_list(b, 1);
    build_string(b, bytes, sizeof bytes);
    build_nil(b);
    return b;
}

void price_call_init(struct native_call *call)
{
    static const struct native_step clock = {"erlang", "monotonic_time", "[]", NULL};
    struct builder *args = burst_arguments();
    struct native_step steps[STARTS] = {
        [START_SECOND] = {"erlang", "convert_time_unit", "[1,second,native]", NULL},
        [START_VERSION] = {"erlang", "system_info", "[system_version]", NULL},
        [START_CLOCK] = clock,
    };
    for (size_t i = START_CLOCK + 1; i < STARTS; i += 2) {
        steps[i] = (struct native_step){"lists", "sort", NULL, args};
        steps[i + 1] = clock;
    }
    native_batch_init(call, steps, STARTS, true);
    call->priority = "high"; /* on a busy node there would be waits for a turn */
    builder_free(args);
}

/* Native time; false: a reading is not an integer. */
static bool read_least_burst(const struct slice *clocks, double *least)
{
    int64_t before, after;
    *least = AMOUNT_MOST;
    for (size_t i = 0; i < BURSTS; i++) {
        if (!values_read_integer(clocks[2 * i], &before) ||
            !values_read_integer(clocks[2 * i + 2], &after))
            return false;
        *least = fmin(*least, (double)after - (double)before);
    }
    return true;
}

bool price_take(struct price *p, struct slice value)
{
    struct slice all[STARTS];
    int64_t second;
    double burst;
    if (!values_read_list(value, all, STARTS) || !values_read_integer(all[START_SECOND], &second) ||
        !read_least_burst(&all[START_CLOCK], &burst))
        return false;
    const bool jit = values_is_jit(all[START_VERSION]);
    const double times = jit ? EVALUATED_JIT : EVALUATED_EMU;
    price_init(p, (double)second, times * burst * 1000 / BURST_REDUCTIONS);
    p->without_jit = !jit;
    return true;
}

void price_lower(struct price *p, struct slice value)
{
    struct price later;
    if (price_take(&later, value))
        p->plain = fmin(p->plain, later.plain);
}

/* ---- what an answer cost */

static bool read_amount(struct cursor *c, double *out)
{
    if (!cursor_number(c, out))
        return false;
    *out = *out > 0 ? fmin(*out, AMOUNT_MOST) : 0;
    return true;
}

static bool read_work(struct cursor *c, struct work *out)
{
    return cursor_tuple_of(c, 2) && read_amount(c, &out->wall) && read_amount(c, &out->reductions);
}

/* {Wall, Reductions, Helped, Helpers}, {Worked, Waited} of a query that is a process, or {Wall,
 * Reductions, at_most} of one that was stopped. */
static bool read_cost(struct cursor *c, struct work_report *out)
{
    size_t arity = 0;
    double waited;
    if (!cursor_tuple(c, &arity) || !read_amount(c, &out->answer.wall))
        return false;
    if (arity == 2)
        return read_amount(c, &waited);
    out->stopped = arity == 3;
    if (!read_amount(c, &out->answer.reductions))
        return false;
    if (out->stopped)
        return cursor_atom_is(c, "at_most");
    return arity == 4 && read_amount(c, &out->known) && read_work(c, &out->helpers);
}

bool price_read(struct cursor *c, struct work_report *out)
{
    *out = (struct work_report){0};
    return cursor_tuple_of(c, 3) && read_cost(c, out) && read_amount(c, &out->keeper_reductions) &&
           read_work(c, &out->loaded);
}

/* Native time of that work. most, first_most: bounds of a price, in plain prices. */
static double charge(struct price *p, double *rate, const struct work *work, double first_most,
                     double most)
{
    if (!(work->reductions > 0))
        return work->wall;
    const double seen = fmin(work->wall * 1000 / work->reductions, most * p->plain);
    if (!(*rate > 0))
        *rate = fmin(seen, first_most * p->plain);
    else if (seen > *rate)
        *rate += p->busy ? 0 : fmin(seen - *rate, *rate) * HIGHER_WEIGHT;
    else
        *rate -= (*rate - seen) * LOWER_WEIGHT;
    p->last = *rate;
    return work->reductions * *rate / 1000;
}

/* Native time of work that is done once, without a price: its wall time, within the bound. */
static double charge_once(const struct price *p, const struct work *work, double times)
{
    const double most = work->reductions * times * p->plain / 1000;
    return work->reductions > 0 ? fmin(work->wall, most) : work->wall;
}

/* Native time of a query that was stopped: its wall time is only a bound and teaches no price. */
static double charge_stopped(const struct price *p, double rate, const struct work *work,
                             double most)
{
    const double price = rate > 0 ? rate : most * p->plain;
    return fmin(work->wall, work->reductions * price / 1000);
}

double price_of(struct price *p, enum question question, const struct work_report *report)
{
    const struct question_row *row = &question_rows[question];
    const double most = row->price_most > 0 ? row->price_most : QUESTION_PRICE_MOST;
    const double first_most = p->busy ? most * BUSY_MOST : most;
    double native = report->known;
    native += charge_once(p, &report->loaded, TIMES_LOAD);
    native += charge(p, &p->helpers[question], &report->helpers,
                     p->busy ? TIMES_HELPERS_BUSY : TIMES_HELPERS, TIMES_HELPERS * LATER_TIMES);
    double *rate = &p->answers[question];
    if (report->stopped)
        native += charge_stopped(p, *rate, &report->answer, first_most);
    else if (row->once)
        native += report->answer.wall;
    else
        native += charge(p, rate, &report->answer, first_most, most * LATER_TIMES);
    native += report->keeper_reductions * p->last / 1000;
    return fmin(native * p->us, AMOUNT_MOST) + ANSWER_US;
}

/* Measured in times of the plain price, which is that of the machine: spawning, its end, the way of
 * both, and the schedulers that wake up for them; what memory, collections, I/O and scheduler times
 * take of the schedulers that each node has, and of each further one, when it sleeps, and when it
 * is awake. docs/performance.md, "The number in the header". */
#define ASK_TIMES 30
#define WAITS_TIMES 19
#define WAITS_FEW 12 /* of a VM with one normal scheduler */
#define WAITS_ASLEEP_TIMES 34
#define WAITS_AWAKE_TIMES 5
#define VM_TIMES_EMU 0.6 /* of plain Erlang code without the JIT */
#define PLAIN_US 5       /* where the node's clock is too coarse to measure it */

static double plain_us(const struct price *p)
{
    const double times = p->without_jit ? VM_TIMES_EMU : 1;
    return p->plain < AMOUNT_MOST && p->us > 0 ? p->plain * p->us * times : PLAIN_US;
}

double price_of_ask(const struct price *p, double wall_us)
{
    return price_of_calls(p, wall_us, PRICE_BATCH_US);
}

double price_of_calls(const struct price *p, double wall_us, double most_us)
{
    return ASK_TIMES * plain_us(p) + fmin(wall_us, most_us);
}

double price_of_waits(const struct price *p)
{
    const double more = fmax(p->schedulers - WAITS_FEW, 0);
    const double each = WAITS_ASLEEP_TIMES * (1 - p->use) + WAITS_AWAKE_TIMES * p->use;
    return (ASK_TIMES + WAITS_TIMES + more * each) * plain_us(p);
}

/* uv_now() stands still while the loop works, and the node's schedulers are not known at once. */
#define CLOCK_MS 10
#define SCHEDULERS_MOST (3 * 1024.0)

double price_bound(const struct price *p, double us, double took_ms)
{
    const double n = p->schedulers > 0 ? fmin(p->schedulers, SCHEDULERS_MOST) : SCHEDULERS_MOST;
    return fmin(us, n * (took_ms + CLOCK_MS) * 1000);
}

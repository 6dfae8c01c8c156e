/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan_internal.h"

#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "query/native/values.h"
#include "beamtop/link/conn.h"
#include "query/native/price.h"

/* The list of processes costs by the size of the VM's table: so it is asked when there are more or
 * fewer than before, and so often. */
#define LIST_EVERY_MS 5000

/* Its age, where a list that was due is not there: what it says is old. */
#define SEEN_MS 15000

/* Reductions of the node that those which were asked have not done: more, and all are asked. Our
 * own asks, and what has ended, are in it. */
#define UNEXPLAINED 20000 /* of a second or more */
#define UNEXPLAINED_LEAST 5000
#define UNEXPLAINED_SHARE 0.05

/* The most that each process takes on a slow machine: more was waiting. */
#define SWEPT_US 3

static int ask_list(struct scan *s, struct error *err);
static int ask_sweep(struct scan *s, struct error *err);

/* ---- ends */

static void drop_set(struct scan_set *set)
{
    free(set->procs);
    *set = (struct scan_set){0};
}

void scan_set_make(struct scan_set *set, size_t most)
{
    drop_set(set);
    set->procs = alloc_zero(most + 1, sizeof(struct scan_proc *));
}

void scan_forget_rows(struct scan *s)
{
    free(s->rows);
    free(s->watched);
    s->rows = s->watched = NULL;
    s->n_rows = s->n_watched = 0;
    drop_set(&s->out);
    drop_set(&s->spared);
    drop_set(&s->walked);
}

void scan_send(struct scan *s, const struct builder *value, const struct error *err)
{
    const double us = s->us + own_take_us(s->own) + who_take_us(s->who);
    s->asking = false;
    s->us = 0;
    query_reply(s->query, QUESTION_SCAN, value, us, err);
}

/* The next one knows nothing. */
static void forget_all(struct scan *s)
{
    scan_forget_rows(s);
    scan_table_forget(&s->table);
    s->had_sweep = false;
    scan_filter_clear(&s->filter);
    s->listed_ms = 0;
    s->listed = 0;
}

void scan_give_up(struct scan *s, const struct error *err)
{
    if (!s->asking)
        return;
    forget_all(s);
    scan_send(s, NULL, err);
}

void scan_fail_answer(struct scan *s, const struct native_answer *answer)
{
    struct error err = {0};
    native_explain(answer, question_name(QUESTION_SCAN), &err);
    scan_give_up(s, &err);
}

bool scan_go_on(struct scan *s, int rc, const struct error *err)
{
    if (rc != 0)
        scan_give_up(s, err);
    return rc == 0;
}

int64_t scan_count_ended(const struct scan *s)
{
    int64_t n = 0;
    for (size_t i = 0; i < s->table.n; i++)
        n += !s->table.procs[i].listed;
    return n;
}

/* ---- asks */

int scan_ask_call(struct scan *s, unsigned place, struct native_call *call, native_fn *fn,
                  struct error *err)
{
    const uint64_t now = uv_now(s->loop);
    const int rc =
        native_ask(s->native, place, call, now, native_left_ms(s->due_ms, now), fn, s, err);
    native_call_clear(call);
    query_arm(s->query);
    return rc;
}

void scan_add_price(struct scan *s, const struct scan_clock *clock, size_t n, double each_us)
{
    const double us = values_between_us(clock->began_ns, clock->ended_ns);
    s->us += price_of_calls(s->price, us, PRICE_BATCH_US + each_us * (double)n);
}

/* ---- the sweep */

/* Of those that were asked, since the scan before. */
static int64_t sum_work(const struct scan *s, bool own)
{
    int64_t did = 0;
    for (size_t i = 0; i < s->table.n; i++) {
        const struct scan_proc *p = &s->table.procs[i];
        if (p->swept && p->own == own)
            did += p->reductions - p->reductions_before;
    }
    return did;
}

void scan_count_work(struct scan *s)
{
    if (!s->had_sweep)
        return;
    const int64_t all = s->reductions - s->reductions_before - sum_work(s, true);
    const int64_t ended = all - sum_work(s, false);
    s->all_work += all > 0 ? all : 0;
    s->ended_work += ended > 0 ? ended : 0;
}

/* What the node did less what those that were asked did. */
static bool is_unexplained(const struct scan *s)
{
    const int64_t all = s->reductions - s->reductions_before;
    const int64_t did = sum_work(s, true) + sum_work(s, false);
    const double interval_s = (double)(s->swept_ns - s->before_ns) / 1e9;
    const double most = fmin(fmax(UNEXPLAINED * interval_s, UNEXPLAINED_LEAST), UNEXPLAINED);
    return (double)(all - did) > fmax(most, UNEXPLAINED_SHARE * (double)all);
}

/* What is wrong: a list, the rest of them, or nothing. */
static int ask_more(struct scan *s, int64_t processes, bool *done, struct error *err)
{
    *done = false;
    if (!s->has_listed && (processes != s->listed - scan_count_ended(s) ||
                           uv_now(s->loop) - s->listed_ms >= LIST_EVERY_MS))
        return ask_list(s, err);
    if (!s->has_swept_all && is_unexplained(s)) {
        s->has_swept_all = true;
        return ask_sweep(s, err);
    }
    *done = true;
    return 0;
}

/* There are too many. */
static void pass_on(struct scan *s)
{
    s->large = true;
    s->asking = false;
    forget_all(s);
    query_pass(s->query, QUESTION_SCAN);
}

static void on_sweep(void *arg, const struct native_answer *answer)
{
    struct scan *s = arg;
    struct scan_clock clock;
    struct error err = {0};
    bool done;
    if (!s->asking)
        return;
    if (answer->end != NATIVE_RETURNED ||
        !scan_read_sweep(answer->value, &clock, s->out.procs, s->out.n, s->before_ns,
                         uv_now(s->loop))) {
        scan_fail_answer(s, answer);
        return;
    }
    scan_add_price(s, &clock, s->out.n, SWEPT_US);
    if (clock.processes > SCAN_SMALL_MOST) {
        pass_on(s);
        return;
    }
    if (s->swept_ns == s->before_ns)
        s->swept_ns = clock.began_ns;
    s->sweep_us += (clock.ended_ns - clock.began_ns) / 1000;
    s->reductions = clock.reductions;
    if (scan_go_on(s, ask_more(s, clock.processes, &done, &err), &err) && done)
        scan_ask_rows(s);
}

/* Those that are due, or all; but for those that were asked in this scan. */
static int ask_sweep(struct scan *s, struct error *err)
{
    struct native_call call;
    const uint64_t now = uv_now(s->loop);
    scan_set_make(&s->out, s->table.n);
    for (size_t i = 0; i < s->table.n; i++) {
        struct scan_proc *p = &s->table.procs[i];
        if (p->listed && !p->swept && (s->has_swept_all || !p->known || p->due_ms <= now))
            s->out.procs[s->out.n++] = p;
    }
    scan_call_sweep(&call, conn_peer_node(s->conn), s->out.procs, s->out.n,
                    !native_has_erpc(s->native));
    return scan_ask_call(s, NATIVE_SWEEP, &call, on_sweep, err);
}

/* ---- the list */

static bool is_news(const struct scan_proc *p)
{
    return p->listed && !p->known;
}

static void on_own(void *arg, bool ok)
{
    struct scan *s = arg;
    struct error err = {0};
    if (!s->asking)
        return;
    for (size_t i = 0, k = 0; i < s->table.n; i++) {
        struct scan_proc *p = &s->table.procs[i];
        if (is_news(p))
            p->asked = ok && own_is_asked(s->own, k++);
        p->own = p->asked || own_has(s->own, &p->pid);
    }
    (void)scan_go_on(s, ask_sweep(s, &err), &err);
}

/* Processes of asks end as soon as they have answered, but one. */
static bool stays(const struct scan *s, const struct etf_pid *pid)
{
    const struct etf_pid *flag = native_pid(s->native, NATIVE_FLAG);
    return (flag && pid_same(flag, pid)) || !native_is_own(s->native, pid);
}

static void take_list(struct scan *s, const struct scan_clock *clock, struct etf_pid *pids,
                      size_t n)
{
    struct error err = {0};
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (stays(s, &pids[i]))
            pids[kept++] = pids[i];
    s->has_listed = true;
    s->listed_ms = uv_now(s->loop);
    scan_table_list(&s->table, pids, kept);
    s->listed = clock->processes + scan_count_ended(s);
    kept = 0;
    for (size_t i = 0; i < s->table.n; i++)
        if (is_news(&s->table.procs[i]))
            pids[kept++] = s->table.procs[i].pid;
    (void)scan_go_on(s, own_learn(s->own, pids, kept, s->due_ms, on_own, s, &err), &err);
}

static void on_list(void *arg, const struct native_answer *answer)
{
    struct scan *s = arg;
    struct scan_clock clock;
    struct etf_pid *pids = NULL;
    size_t n = 0;
    if (!s->asking)
        return;
    if (answer->end != NATIVE_RETURNED || !scan_read_list(answer->value, &clock, &pids, &n)) {
        scan_fail_answer(s, answer);
    } else {
        scan_add_price(s, &clock, 0, 0);
        if (n > SCAN_SMALL_MOST)
            pass_on(s);
        else
            take_list(s, &clock, pids, n);
    }
    free(pids);
}

static int ask_list(struct scan *s, struct error *err)
{
    struct native_call call;
    scan_call_list(&call, !native_has_erpc(s->native));
    return scan_ask_call(s, NATIVE_LIST, &call, on_list, err);
}

/* ---- interface */

static void forget_infos(struct scan_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        buf_reset(&t->procs[i].info);
}

bool scan_is_small(int64_t processes, bool *large)
{
    *large = processes > (*large ? SCAN_SMALL_MOST / 2 : SCAN_SMALL_MOST);
    return !*large;
}

static bool take_scan_argument(void *own, const uint8_t *arg, size_t len)
{
    struct scan *s = own;
    const bool small = scan_is_small(query_processes(s->query), &s->large);
    s->is_counted = query_processes(s->query) >= 0;
    const struct scan_ask before = s->ask;
    if (small && scan_read_ask(arg, len, &s->ask, &s->filter)) {
        if (!scan_same_items(&before, &s->ask))
            forget_infos(&s->table);
        return true;
    }
    forget_all(s);
    return false;
}

/* An ask of one before, whose deadline has passed, ends before its place is free. */
static bool is_out(const struct scan *s)
{
    for (unsigned place = NATIVE_LIST; place <= NATIVE_OWN; place++)
        if (native_is_out(s->native, place))
            return true;
    return false;
}

static int ask_scan(void *own, unsigned deadline_ms, struct error *err)
{
    struct scan *s = own;
    if (is_out(s))
        return error_set(err, ERR_LIMIT, "the scan before has not ended on the node");
    s->asking = true;
    s->waits_for_who = false;
    s->due_ms = uv_now(s->loop) + deadline_ms;
    s->us = 0;
    s->has_listed = false;
    s->has_swept_all = !s->had_sweep || s->by_queue != s->ask.rank.by_queue;
    s->before_ns = s->swept_ns;
    s->reductions_before = s->reductions;
    s->sweep_us = 0;
    scan_table_begin(&s->table);
    /* Where it is not known how many there are, a sweep of none says it. */
    const bool lists = s->listed_ms == 0 && s->is_counted;
    const int rc = lists ? ask_list(s, err) : ask_sweep(s, err);
    s->asking = rc == 0;
    return rc;
}

bool scan_has_seen(struct scan *s, struct scan_seen *out)
{
    *out = (struct scan_seen){&s->table, s->all_work, s->ended_work};
    return s->had_sweep && uv_now(s->loop) < s->listed_ms + SEEN_MS;
}

uint64_t *scan_paid_ms(struct scan *s)
{
    return &s->paid_ms;
}

void scan_count_signal(struct scan *s, const struct etf_pid *pid)
{
    struct scan_proc *p = scan_table_find(&s->table, pid);
    if (p)
        p->signals++;
}

static void cancel_scan(void *own)
{
    struct scan *s = own;
    s->asking = false;
    forget_all(s);
}

static void free_scan(void *own)
{
    struct scan *s = own;
    scan_forget_rows(s);
    scan_table_clear(&s->table);
    scan_filter_clear(&s->filter);
    who_free(s->who);
    own_free(s->own);
    free(s);
}

struct native_way scan_way(const struct way_setup *setup)
{
    struct scan *s = alloc_zero(1, sizeof *s);
    scan_filter_init(&s->filter);
    s->query = setup->query;
    s->price = setup->price;
    s->native = setup->native;
    s->who = who_new(setup, NATIVE_WHO);
    s->own = own_new(setup, NATIVE_OWN);
    s->conn = setup->conn;
    s->loop = setup->loop;
    return (struct native_way){s, take_scan_argument, ask_scan, cancel_scan, free_scan};
}

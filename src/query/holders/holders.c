/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "holders.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/link/conn.h"
#include "holders_internal.h"
#include "query/scan/own.h"
#include "query/scan/scan_table.h"
#include "query/who/who.h"
#include "query/scan/scan.h"

/* No slice begins in an answer that has cost that; of facts it is their part of the limit. */
#define ANSWER_US 100000
#define FACTS_US 15000
#define CLOSED_MS 120000 /* not asked for so long: growth counts from then on */
/* Labels come late, and names change. */
#define NAMED_AGAIN_MS 15000
#define NAMED_OLD_MS 300000

struct holders {
    struct holders_read read; /* the run's own: the first */
    enum question question;
    struct query *query;
    struct native *native;
    unsigned place; /* of the run, and of what is ours, which comes before it */
    struct run *run;
    struct who *who;
    struct own *own;
    struct scan *scan;
    uv_loop_t *loop;
    bool asking, who_is_out, own_is_out;
    bool in_round;  /* some have not been looked at since they were listed */
    bool has_round; /* all have been, once */
    double us;      /* of this answer */
    uint64_t due_ms, slices_due_ms, asked_ms, since_ms;
};

/* ---- ends */

static void count_cost(struct holders *h)
{
    h->us += run_take_us(h->run) + who_take_us(h->who) + own_take_us(h->own);
}

static void fail_holders(struct holders *h, const struct error *err)
{
    count_cost(h);
    h->asking = false;
    query_reply(h->query, h->question, NULL, h->us, err);
}

static void send_holders(struct holders *h)
{
    struct builder *b = builder_new();
    const struct holders_moment at = {.node = h->read.node.name,
                                      .mono_ns = run_clock_ns(h->run),
                                      .now_ms = h->read.now_ms,
                                      .since_ms = h->since_ms,
                                      .partial = !h->has_round || h->read.is_cut ||
                                                 h->read.table.n >= HOLDERS_MOST};
    if (h->question == QUESTION_HELD)
        holders_build_facts(b, &h->read.table, &at);
    else
        holders_build(b, &h->read.table, &at);
    h->asking = false;
    query_reply(h->query, h->question, b, h->us, &(struct error){0}); /* which may free h */
    builder_free(b);
}

/* ---- a slice, and who they are */

static void read_slice(struct holders *h);

static bool needs_name(const struct holders *h, const struct holder *p)
{
    const uint64_t age_ms = h->read.now_ms - p->named_ms;
    return p->listed &&
           (p->named == 0 || (p->named == 1 && age_ms >= NAMED_AGAIN_MS) || age_ms >= NAMED_OLD_MS);
}

static void end_slice(struct holders *h)
{
    h->read.next = h->read.end;
    count_cost(h);
    read_slice(h);
}

static void on_named(void *arg)
{
    struct holders *h = arg;
    struct holders_read *r = &h->read;
    h->who_is_out = false;
    if (!h->asking)
        return;
    for (size_t i = r->next; i < r->end; i++)
        if (needs_name(h, &r->table.all[i]))
            holders_table_name(&r->table, &r->table.all[i], who_find(h->who, &r->table.all[i].pid),
                               r->now_ms);
    end_slice(h);
}

static void on_slice(void *own, const struct error *err)
{
    struct holders *h = own;
    struct holders_read *r = &h->read;
    struct error ignored = {0}; /* then they have no names yet */
    size_t n = 0;
    if (err) {
        fail_holders(h, err);
        return;
    }
    for (size_t i = r->next; i < r->end && n < HOLDERS_SLICE; i++)
        if (needs_name(h, &r->table.all[i]))
            r->pids[n++] = r->table.all[i].pid;
    h->who_is_out = n > 0 && who_learn(h->who, r->pids, n, on_named, h, &ignored) == 0;
    if (!h->who_is_out)
        end_slice(h);
}

static void read_slice(struct holders *h)
{
    struct error err = {0};
    const double most_us = h->question == QUESTION_HELD ? FACTS_US : ANSWER_US;
    const bool is_late = h->us >= most_us || uv_now(h->loop) >= h->slices_due_ms;
    const bool has_more = holders_next_slice(&h->read);
    h->in_round = has_more;
    h->has_round |= !has_more;
    if (!has_more || (is_late && h->read.next > 0))
        send_holders(h);
    else if (run_begin(h->run, holders_slice_steps, holders_slice_count, h->due_ms, on_slice, h,
                       &err) != 0)
        fail_holders(h, &err);
}

/* ---- the list */

static void list_holders(struct holders *h, struct etf_pid *pids, size_t n)
{
    h->read.next = h->read.end = 0;
    holders_table_list(&h->read.table, pids, n, !h->has_round && h->read.table.n == 0);
}

static void on_list(void *own, const struct error *err)
{
    struct holders *h = own;
    struct holders_read *r = &h->read;
    struct error failed = {0};
    size_t n = 0;
    if (err || r->has_failed) {
        error_set(&failed, ERR_TARGET, "“%s” failed on the node: its processes could not be listed",
                  question_name(h->question));
        fail_holders(h, err ? err : &failed);
        return;
    }
    for (size_t i = 0; i < r->n_list; i++)
        if (!own_has(h->own, &r->list[i]))
            r->list[n++] = r->list[i];
    list_holders(h, r->list, n);
    read_slice(h);
}

static void on_own(void *arg, bool ok)
{
    struct holders *h = arg;
    struct error err = {0};
    (void)ok; /* then those are left out that were known before */
    h->own_is_out = false;
    if (!h->asking)
        return;
    holders_begin_list(&h->read);
    if (run_begin(h->run, holders_list_steps, holders_list_count, h->due_ms, on_list, h, &err) != 0)
        fail_holders(h, &err);
}

/* What scans have listed is not listed again. */
static bool take_seen(struct holders *h)
{
    struct scan_seen seen;
    if (!scan_has_seen(h->scan, &seen))
        return false;
    struct etf_pid *pids = alloc_zero(seen.table->n + 1, sizeof *pids);
    size_t n = 0;
    for (size_t i = 0; i < seen.table->n; i++) {
        const struct scan_proc *p = &seen.table->procs[i];
        if (p->listed && !p->own && !p->asked)
            pids[n++] = p->pid;
    }
    h->read.is_cut = false;
    list_holders(h, pids, n);
    free(pids);
    return true;
}

/* ---- interface */

static void begin_holders(struct holders *h, unsigned deadline_ms)
{
    struct holders_read *r = &h->read;
    const uint64_t now_ms = uv_now(h->loop);
    if (h->since_ms != 0 && now_ms - h->asked_ms > CLOSED_MS) {
        holders_table_clear(&r->table);
        holders_table_init(&r->table);
        h->in_round = h->has_round = false;
        h->since_ms = 0;
    }
    if (h->since_ms == 0)
        h->since_ms = now_ms;
    h->asked_ms = r->now_ms = now_ms;
    h->due_ms = now_ms + deadline_ms;
    h->slices_due_ms = now_ms + deadline_ms / 2;
    h->us = 0;
    r->node.creation = native_creation(h->native);
}

static int ask_holders(void *own, unsigned deadline_ms, struct error *err)
{
    static const struct etf_pid nobody = {0};
    struct holders *h = own;
    int rc;
    if (h->own_is_out || h->who_is_out || native_is_out(h->native, h->place))
        return error_set(err, ERR_LIMIT, "the question before has not ended on the node");
    begin_holders(h, deadline_ms);
    if ((h->in_round || take_seen(h)) && holders_next_slice(&h->read)) {
        rc = run_begin(h->run, holders_slice_steps, holders_slice_count, h->due_ms, on_slice, h,
                       err);
    } else {
        rc = own_learn(h->own, &nobody, 0, h->due_ms, on_own, h, err);
        h->own_is_out = rc == 0;
    }
    h->asking = rc == 0;
    return rc;
}

static void cancel_holders(void *own)
{
    struct holders *h = own;
    h->asking = false;
    run_cancel(h->run);
}

static void free_holders(void *own)
{
    struct holders *h = own;
    who_free(h->who);
    own_free(h->own);
    run_free(h->run);
    holders_table_clear(&h->read.table);
    free(h->read.list);
    free(h);
}

struct native_way holders_way(const struct way_setup *setup)
{
    struct holders *h = alloc_zero(1, sizeof *h);
    h->question = setup->question;
    h->query = setup->query;
    h->native = setup->native;
    h->place = NATIVE_QUESTION + 4 * (unsigned)setup->question;
    h->scan = setup->scan;
    h->loop = setup->loop;
    h->run = run_new(setup, h->place);
    h->own = own_new(setup, h->place);
    h->who = who_new(setup, h->place + 2);
    h->read.node.name = conn_peer_node(setup->conn);
    h->read.paid_ms = scan_paid_ms(setup->scan);
    holders_table_init(&h->read.table);
    return (struct native_way){h, NULL, ask_holders, cancel_holders, free_holders};
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "who.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/hash.h"
#include "beamtop/link/conn.h"
#include "query/native/internal.h"
#include "query/native/native.h"
#include "query/native/price.h"
#include "who_above.h"
#include "who_known.h"
#include "who_leaders.h"
#include "who_terms.h"

/* For an ask: a process that does not yield keeps it waiting. Then its part is cut, and so many
 * times in all the next one waits until it has ended. */
#define ASK_MS 1000
#define LATE_MOST 6
#define ENDING_MS 20
#define ENDING_MOST 50
/* Names, labels and leaders are read again, and what is known of supervisors is forgotten. */
#define AGE_MS 15000

/* In this order. PHASE_DONE is nobody's. */
enum phase {
    PHASE_RELEASE,
    PHASE_READ,
    PHASE_APPLICATIONS,
    PHASE_LABEL_SIZES,
    PHASE_LABEL_TERMS,
    PHASE_ABOVE,
    PHASE_DONE
};

struct who {
    struct query *query;
    const struct price *price;
    struct native *native;
    unsigned place; /* that of applications is behind it */
    struct conn *conn;
    uv_loop_t *loop;
    uv_timer_t *timer; /* owned by the loop once closing */
    struct who_node node;
    bool has_release, without_key;
    struct who_known *known;
    struct who_above *above;
    uint64_t above_ms;
    struct who_leaders leaders;
    double us;

    bool busy, failed, awaits_applications;
    unsigned late, ending; /* asks in this learn; times that the end of one was awaited */
    enum phase phase;
    struct who_known **read; /* what this learn reads */
    size_t n_read;
    struct who_span span; /* of these */
    struct who_part parts[WHO_PARTS];
    size_t n_parts;
    struct native_call call;
    who_fn *fn;
    void *arg;
};

static void go_on(struct who *w);
static void on_ending(uv_timer_t *timer);

/* ---- what is kept */

static struct who_known *find_known(const struct who *w, const struct etf_pid *pid)
{
    struct who_known *k;
    HASH_FIND(hh, w->known, pid, sizeof *pid, k);
    return k;
}

static bool is_fresh(const struct who *w, const struct who_known *k)
{
    return k && (k->complete || k->is_late) && uv_now(w->loop) - k->read_ms <= AGE_MS;
}

/* ---- asking natively */

/* Sends w->call. false: it could not be sent. */
static bool send_call(struct who *w, unsigned place, native_fn *fn)
{
    struct error ignored = {0}; /* of a lost connection */
    const bool ok =
        !native_is_out(w->native, place) &&
        native_ask(w->native, place, &w->call, uv_now(w->loop), ASK_MS, fn, w, &ignored) == 0;
    native_call_clear(&w->call);
    query_arm(w->query);
    return ok;
}

/* The same, for what others wait for: then nothing more is asked. */
static bool ask_call(struct who *w, native_fn *fn)
{
    w->failed = !send_call(w, w->place, fn);
    return !w->failed;
}

/* true: one that was late has not ended yet, and is waited for. */
static bool await_end(struct who *w)
{
    if (!native_is_out(w->native, w->place) || ++w->ending > ENDING_MOST)
        return false;
    uv_timer_start(w->timer, on_ending, ENDING_MS, 0);
    return true;
}

/* One that was refused says that the next one would be as well. */
static bool may_go_on(struct who *w, const struct native_answer *answer)
{
    w->late += answer->end == NATIVE_LATE;
    w->failed = answer->end == NATIVE_REFUSED || w->late > LATE_MOST;
    return !w->failed;
}

static void add_price(struct who *w, double us)
{
    w->us += price_of_ask(w->price, us);
}

/* ---- the release */

static void on_release(void *arg, const struct native_answer *answer)
{
    struct who *w = arg;
    double us = 0;
    if (may_go_on(w, answer)) {
        w->has_release = answer->end == NATIVE_RETURNED &&
                         who_read_release(answer->value, !w->without_key, &w->node, &us);
        w->failed = !w->has_release && (w->without_key || answer->end != NATIVE_RAISED);
        w->without_key = !w->has_release && !w->failed;
        add_price(w, us);
    }
    go_on(w);
}

static bool ask_release(struct who *w)
{
    if (w->has_release)
        return false;
    who_call_release(&w->call, w->node.name, &w->read[0]->entry.pid, !w->without_key);
    return ask_call(w, on_release);
}

/* ---- applications, beside the reading */

static void on_applications(void *arg, const struct native_answer *answer)
{
    struct who *w = arg;
    double us = 0;
    w->awaits_applications = false;
    if (answer->end == NATIVE_RETURNED)
        who_leaders_take(&w->leaders, answer->value, &w->node, &us);
    else if (answer->end == NATIVE_RAISED)
        who_leaders_clear(&w->leaders); /* there are none */
    add_price(w, us);
    if (w->busy && w->phase == PHASE_APPLICATIONS)
        go_on(w);
}

static void ask_applications(struct who *w)
{
    if (w->awaits_applications)
        return;
    who_call_applications(&w->call);
    w->awaits_applications = send_call(w, w->place + 1, on_applications);
}

static bool await_applications(struct who *w)
{
    if (w->awaits_applications)
        return true;
    for (size_t i = 0; i < w->n_read; i++) {
        struct who_known *k = w->read[i];
        if (k->was_read)
            who_known_keep(k, KEPT_APPLICATION,
                           k->has_leader ? who_leaders_find(&w->leaders, &k->leader)
                                         : (struct slice){0});
    }
    return false;
}

/* ---- what is read of each */

static bool take_parts(struct who *w, struct slice value)
{
    struct cursor c[WHO_PARTS];
    double us = 0;
    if (!who_read_parts(value, w->parts, w->n_parts, c, &us))
        return false;
    add_price(w, us);
    for (size_t p = 0; p < w->n_parts; p++)
        for (size_t i = 0; i < w->span.len; i++) {
            struct who_known *k = w->read[w->span.at + i];
            const enum who_column column = w->parts[p].column;
            if (who_known_needs(k, &w->node, column) && !who_known_take(k, &w->node, column, &c[p]))
                return false;
        }
    return true;
}

/* ---- asking for a part of them */

static void fail_part(struct who *w, bool late)
{
    struct who_known *k = w->read[w->span.at];
    if (who_span_cut(&w->span))
        return;
    if (w->phase == PHASE_READ && !late && !k->is_heavy) {
        k->is_heavy = true; /* the rest of it once more */
        return;
    }
    k->is_heavy |= late && k->is_late; /* the second time */
    k->is_late = late;
    k->label = LABEL_DONE;
    (void)who_span_pass(&w->span);
}

static void on_part(void *arg, const struct native_answer *answer)
{
    struct who *w = arg;
    if (may_go_on(w, answer)) {
        if (answer->end != NATIVE_RETURNED)
            fail_part(w, answer->end == NATIVE_LATE);
        else if (take_parts(w, answer->value))
            (void)who_span_pass(&w->span);
        else
            w->failed = true;
    }
    go_on(w);
}

/* pids: room for the span. */
static void add_part(struct who *w, enum who_column column, struct etf_pid *pids)
{
    size_t n = 0;
    for (size_t i = 0; i < w->span.len; i++) {
        const struct who_known *k = w->read[w->span.at + i];
        if (who_known_needs(k, &w->node, column))
            pids[n++] = k->entry.pid;
    }
    if (n > 0)
        w->parts[w->n_parts++] = (struct who_part){column, pids, n};
}

static const struct {
    enum who_column columns[WHO_PARTS + 1];
    size_t n;
} phases[PHASE_DONE] = {
    [PHASE_READ] = {{WHO_BASE, WHO_LABEL, WHO_CALL, WHO_ANCESTORS, WHO_STACK}, 5},
    [PHASE_LABEL_SIZES] = {{WHO_LABEL_SIZE}, 1},
    [PHASE_LABEL_TERMS] = {{WHO_LABEL_TERM}, 1},
};

/* What was late before is asked by itself. */
static void leave_late(struct who *w)
{
    size_t n = 1;
    while (n < w->span.len && !w->read[w->span.at]->is_late && !w->read[w->span.at + n]->is_late)
        n++;
    w->span.len = n;
}

static bool ask_part(struct who *w)
{
    struct etf_pid *pids = alloc_zero(w->n_read * (WHO_PARTS + 1), sizeof *pids);
    w->n_parts = 0;
    while (w->n_parts == 0 && w->span.at < w->n_read) {
        leave_late(w);
        for (size_t i = 0; i < phases[w->phase].n; i++)
            add_part(w, phases[w->phase].columns[i], pids + i * w->n_read);
        if (w->n_parts == 0)
            (void)who_span_pass(&w->span);
    }
    if (w->n_parts > 0)
        who_call_parts(&w->call, w->node.name, w->parts, w->n_parts);
    free(pids);
    return w->n_parts > 0 && ask_call(w, on_part);
}

static bool ask_read(struct who *w)
{
    if (w->span.at == 0)
        ask_applications(w);
    return ask_part(w);
}

/* ---- supervisors */

static void on_above(void *arg, const struct native_answer *answer)
{
    struct who *w = arg;
    double us = 0;
    if (may_go_on(w, answer)) {
        if (answer->end != NATIVE_RETURNED)
            who_above_fail(w->above);
        else
            w->failed = !who_above_take(w->above, answer->value, &us);
        add_price(w, us);
    }
    go_on(w);
}

static bool ask_above(struct who *w)
{
    struct slice name = {0};
    if (!who_above_call(w->above, &w->call)) {
        for (size_t i = 0; i < w->n_read; i++) {
            struct who_known *k = w->read[i];
            if (!k->needs_supervisor)
                continue;
            const enum who_found found =
                who_above_find(w->above, &k->entry.pid, who_known_term(k, KEPT_ANCESTORS), &name);
            k->needs_supervisor = found == WHO_TO_ASK;
            if (found == WHO_FOUND)
                who_known_keep(k, KEPT_SUPERVISOR, name);
        }
        if (!who_above_call(w->above, &w->call))
            return false;
    }
    return ask_call(w, on_above);
}

/* ---- one learn */

static void finish_learn(struct who *w)
{
    for (size_t i = 0; i < w->n_read; i++)
        who_known_end(w->read[i], uv_now(w->loop), !w->failed);
    free(w->read);
    w->read = NULL;
    w->n_read = 0;
    w->busy = false;
    w->fn(w->arg);
}

/* true: an answer is awaited. */
static bool ask_phase(struct who *w)
{
    switch (w->phase) {
    case PHASE_RELEASE:
        return ask_release(w);
    case PHASE_READ:
        return ask_read(w);
    case PHASE_LABEL_SIZES:
    case PHASE_LABEL_TERMS:
        return ask_part(w);
    case PHASE_APPLICATIONS:
        return await_applications(w);
    case PHASE_ABOVE:
        return ask_above(w);
    case PHASE_DONE:
        break;
    }
    return false;
}

static void go_on(struct who *w)
{
    while (w->n_read > 0 && !w->failed && w->phase != PHASE_DONE) {
        if (await_end(w) || ask_phase(w))
            return;
        if (!w->failed) {
            w->phase++;
            who_span_start(&w->span, w->n_read);
        }
    }
    finish_learn(w);
}

static void on_ending(uv_timer_t *timer)
{
    go_on(timer->data);
}

static void on_start(uv_timer_t *timer)
{
    struct who *w = timer->data;
    if (uv_now(w->loop) - w->above_ms > AGE_MS) {
        who_above_forget(w->above);
        w->above_ms = uv_now(w->loop);
    }
    go_on(w);
}

static struct who_known *add_known(struct who *w, const struct etf_pid *pid)
{
    struct who_known *k = who_known_new(pid);
    HASH_ADD(hh, w->known, entry.pid, sizeof k->entry.pid, k);
    return k;
}

static void forget_known(struct who *w, struct who_known *k)
{
    HASH_DEL(w->known, k);
    who_known_free(k);
}

int who_learn(struct who *w, const struct etf_pid *pids, size_t n, who_fn *fn, void *arg,
              struct error *err)
{
    struct who_known *k, *next;
    if (w->busy)
        return error_set(err, ERR_LIMIT, "the processes before are not known yet");
    w->read = alloc_zero(WHO_MOST, sizeof *w->read);
    for (k = w->known; k; k = k->hh.next)
        k->listed = false;
    for (size_t i = 0; i < n && i < WHO_MOST; i++) {
        k = find_known(w, &pids[i]);
        if (!k)
            k = add_known(w, &pids[i]);
        if (!k->listed && !is_fresh(w, k)) {
            who_known_begin(k);
            w->read[w->n_read++] = k;
        }
        k->listed = true;
    }
    HASH_ITER (hh, w->known, k, next) {
        if (!k->listed)
            forget_known(w, k);
    }
    w->busy = true;
    w->failed = false;
    w->late = w->ending = 0;
    w->phase = PHASE_RELEASE;
    w->fn = fn;
    w->arg = arg;
    if (n > 0)
        w->node.creation = pids[0].creation;
    uv_timer_start(w->timer, on_start, 0, 0);
    return 0;
}

bool who_is_known(const struct who *w, const struct etf_pid *pids, size_t n)
{
    for (size_t i = 0; i < n && i < WHO_MOST; i++)
        if (!is_fresh(w, find_known(w, &pids[i])))
            return false;
    return true;
}

const struct who_entry *who_find(const struct who *w, const struct etf_pid *pid)
{
    struct who_known *k = find_known(w, pid);
    return k && k->has_base && !k->gone ? who_known_entry(k) : NULL;
}

const struct who_node *who_learned_node(const struct who *w)
{
    return w->has_release ? &w->node : NULL;
}

double who_take_us(struct who *w)
{
    const double us = w->us;
    w->us = 0;
    return us;
}

/* ---- life */

struct who *who_new(const struct way_setup *setup, unsigned place)
{
    struct who *w = alloc_zero(1, sizeof *w);
    *w = (struct who){
        .query = setup->query,
        .price = setup->price,
        .native = setup->native,
        .conn = setup->conn,
        .loop = setup->loop,
        .place = place,
    };
    w->node.name = conn_peer_node(setup->conn);
    who_leaders_init(&w->leaders);
    w->above = who_above_new(&w->node);
    w->timer = alloc_zero(1, sizeof *w->timer);
    uv_timer_init(setup->loop, w->timer);
    w->timer->data = w;
    return w;
}

static void free_timer(uv_handle_t *timer)
{
    free(timer);
}

void who_free(struct who *w)
{
    struct who_known *k, *next;
    if (!w)
        return;
    uv_timer_stop(w->timer);
    uv_close((uv_handle_t *)w->timer, free_timer);
    HASH_ITER (hh, w->known, k, next) {
        forget_known(w, k);
    }
    who_above_free(w->above);
    who_leaders_clear(&w->leaders);
    native_call_clear(&w->call);
    free(w->read);
    free(w);
}

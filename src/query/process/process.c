/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process.h"

#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "process_terms.h"
#include "query/who/who.h"
#include "query/native/values.h"
#include "beamtop/link/conn.h"
#include "query/native/price.h"

/* In this order; the pid is known already, or its name is looked up. */
enum step { STEP_PID, STEP_WHO, STEP_QUEUE, STEP_ITEMS, STEP_LISTS, STEP_KIN, STEP_NAMES };

struct process_ask {
    struct query *query;
    const struct price *price;
    struct native *native;
    struct who *who;
    struct who *kin; /* of those that it is linked to, and so on */
    struct conn *conn;
    uv_loop_t *loop;
    bool asking, who_is_out, kin_is_out;
    struct etf_pid kin_of; /* the process whose kin was asked for last */
    uint64_t due_ms;       /* of this question */
    double us;
    struct process_question question; /* borrowed from its argument */
    char alias[300];                  /* its name with "Elixir.", once that was tried; else "" */
    enum step step;
    struct etf_pid pid;
    bool has_large; /* the last one that was too large … */
    struct etf_pid large;
    int64_t mono_ns;
    struct buf items, lists; /* values of these steps */
    struct etf_pid *named;
    size_t n_named;
};

static void go_on(struct process_ask *p);

/* ---- ends */

static void send_answer(struct process_ask *p, const struct builder *value, const struct error *err)
{
    const double us = p->us + who_take_us(p->who) + who_take_us(p->kin);
    p->asking = false;
    query_reply(p->query, QUESTION_PROCESS, value, us, err); /* which may free p */
}

static void send_gone(struct process_ask *p)
{
    struct builder *b = builder_new();
    build_atom(b, "gone");
    send_answer(p, b, &(struct error){0});
    builder_free(b);
}

static void fail_answer(struct process_ask *p, const struct native_answer *answer)
{
    struct error err = {0};
    native_explain(answer, question_name(QUESTION_PROCESS), &err);
    send_answer(p, NULL, &err);
}

static void pass_large(struct process_ask *p)
{
    p->has_large = true;
    p->large = p->pid;
    p->asking = false;
    query_pass(p->query, QUESTION_PROCESS);
}

static struct slice kept_value(const struct buf *value)
{
    return (struct slice){(const char *)value->data, value->len};
}

static void finish_answer(struct process_ask *p, struct cursor names)
{
    const struct process_values v = {
        .question = &p->question,
        .node = who_learned_node(p->who),
        .pid = &p->pid,
        .who = who_find(p->who, &p->pid),
        .mono_ns = p->mono_ns,
        .items = kept_value(&p->items),
        .lists = kept_value(&p->lists),
        .names = names,
        .kin = p->kin,
    };
    struct builder *b = builder_new();
    if (!v.who)
        fail_answer(p, &(struct native_answer){.end = NATIVE_LATE}); /* it lives, as was seen */
    else if (process_build(b, &v))
        send_answer(p, b, &(struct error){0});
    else
        fail_answer(p, &(struct native_answer){.end = NATIVE_RETURNED});
    builder_free(b);
}

/* ---- what came */

/* MyApp.Repo is the module of Elixir, unless a process has that very name. */
static bool try_alias(struct process_ask *p)
{
    const struct slice name = p->question.name;
    if (*p->alias || name.len == 0 || !text_is_capital(name.s[0]) ||
        name.len + sizeof "Elixir." > sizeof p->alias)
        return false;
    snprintf(p->alias, sizeof p->alias, "Elixir.%.*s", (int)name.len, name.s);
    p->question.name = slice_of(p->alias);
    return true;
}

static enum process_found take_pid(struct process_ask *p, struct slice value)
{
    struct cursor c = values_cursor(value);
    struct slice node;
    if (cursor_kind(&c) != ETF_KIND_PID || !cursor_pid(&c, &p->pid, &node) ||
        !slice_is(node, conn_peer_node(p->conn)))
        return PROCESS_GONE;
    return PROCESS_FOUND;
}

static enum process_found take_names(struct process_ask *p, struct slice value)
{
    const struct who_part part = {WHO_REGISTERED, p->named, p->n_named};
    struct cursor names;
    double us;
    if (!who_read_parts(value, &part, 1, &names, &us))
        return PROCESS_ODD;
    p->us += price_of_ask(p->price, us);
    finish_answer(p, names);
    return PROCESS_FOUND;
}

static void keep_value(struct buf *to, struct slice value)
{
    buf_reset(to);
    buf_put(to, value.s, value.len);
}

static enum process_found take_value(struct process_ask *p, struct slice answer)
{
    struct slice value;
    double us;
    if (p->step == STEP_PID) {
        p->us += price_of_ask(p->price, 0);
        return take_pid(p, answer);
    }
    if (!process_read_value(answer, &value, &p->mono_ns, &us))
        return PROCESS_ODD;
    p->us += price_of_ask(p->price, us);
    if (p->step == STEP_QUEUE)
        return process_check_queue(value);
    if (p->step == STEP_ITEMS) {
        keep_value(&p->items, value);
        return process_check_items(value);
    }
    keep_value(&p->lists, value);
    return process_check_lists(value);
}

static void take_found(struct process_ask *p, const struct native_answer *answer,
                       enum process_found found)
{
    switch (found) {
    case PROCESS_FOUND:
        p->step++;
        go_on(p);
        return;
    case PROCESS_GONE:
        if (p->step == STEP_PID && try_alias(p))
            go_on(p);
        else
            send_gone(p);
        return;
    case PROCESS_LARGE:
        pass_large(p);
        return;
    case PROCESS_ODD:
        fail_answer(p, answer);
        return;
    }
}

static void on_answer(void *arg, const struct native_answer *answer)
{
    struct process_ask *p = arg;
    if (!p->asking)
        return;
    if (p->step == STEP_PID && answer->end == NATIVE_RAISED && try_alias(p)) {
        go_on(p); /* there is no such atom */
        return;
    }
    if (answer->end == NATIVE_RETURNED && p->step == STEP_NAMES) {
        if (take_names(p, answer->value) == PROCESS_ODD)
            fail_answer(p, answer);
    } else if (answer->end == NATIVE_RETURNED) {
        take_found(p, answer, take_value(p, answer->value));
    } else if (answer->end == NATIVE_RAISED && (p->step == STEP_PID || p->step == STEP_LISTS)) {
        send_gone(p);
    } else if (answer->end == NATIVE_KILLED && p->step == STEP_LISTS) {
        pass_large(p);
    } else {
        fail_answer(p, answer);
    }
}

static void on_who(void *arg)
{
    struct process_ask *p = arg;
    p->who_is_out = false;
    if (p->asking)
        take_found(p, &(struct native_answer){.end = NATIVE_LATE},
                   who_learned_node(p->who) ? PROCESS_FOUND : PROCESS_ODD);
}

static void on_kin(void *arg)
{
    struct process_ask *p = arg;
    p->kin_is_out = false;
    if (p->asking && p->step == STEP_KIN)
        take_found(p, &(struct native_answer){.end = NATIVE_LATE}, PROCESS_FOUND);
}

/* ---- asks */

static bool find_named(struct process_ask *p, size_t links)
{
    free(p->named);
    p->named = alloc_zero(process_named_most(links) + 1, sizeof *p->named);
    p->n_named = process_read_named(kept_value(&p->items), kept_value(&p->lists),
                                    who_learned_node(p->who), links, p->named);
    return p->n_named > 0;
}

/* Whether the answer waits for it: only the first one about a process does, since one of these may
 * not yield. */
static bool waits_for_kin(struct process_ask *p)
{
    struct error ignored = {0}; /* then nothing is said of them */
    const bool is_first = !pid_same(&p->kin_of, &p->pid);
    const size_t links =
        p->question.links < PROCESS_KIN_SHOWN ? p->question.links : PROCESS_KIN_SHOWN;
    if (p->kin_is_out || !find_named(p, links) || who_is_known(p->kin, p->named, p->n_named))
        return false;
    p->kin_of = p->pid;
    p->kin_is_out = who_learn(p->kin, p->named, p->n_named, on_kin, p, &ignored) == 0;
    return p->kin_is_out && is_first;
}

static void make_call(struct process_ask *p, struct native_call *call)
{
    const struct who_node *node = who_learned_node(p->who);
    if (p->step == STEP_PID)
        process_call_pid(call, p->question.name);
    else if (p->step == STEP_QUEUE)
        process_call_queue(call, node->name, &p->pid);
    else if (p->step == STEP_ITEMS)
        process_call_items(call, node, &p->pid);
    else if (p->step == STEP_LISTS)
        process_call_lists(call, node, &p->pid);
    else
        who_call_parts(call, node->name, &(struct who_part){WHO_REGISTERED, p->named, p->n_named},
                       1);
}

static int ask_step(struct process_ask *p, struct error *err)
{
    struct native_call call = {0};
    make_call(p, &call);
    const uint64_t now = uv_now(p->loop);
    const int rc = native_ask(p->native, NATIVE_PROCESS, &call, now, native_left_ms(p->due_ms, now),
                              on_answer, p, err);
    native_call_clear(&call);
    query_arm(p->query);
    return rc;
}

static bool is_large(const struct process_ask *p)
{
    return p->has_large && pid_same(&p->large, &p->pid);
}

static int start_step(struct process_ask *p, struct error *err)
{
    int rc;
    if (p->step == STEP_WHO && !(who_learned_node(p->who) && who_is_known(p->who, &p->pid, 1))) {
        rc = who_learn(p->who, &p->pid, 1, on_who, p, err);
        p->who_is_out = rc == 0;
        return rc;
    }
    if (p->step == STEP_WHO)
        p->step++;
    return ask_step(p, err);
}

static void go_on(struct process_ask *p)
{
    struct error err = {0};
    if (p->step == STEP_WHO && is_large(p))
        pass_large(p);
    else if (p->step == STEP_KIN && waits_for_kin(p))
        return;
    else if (p->step == STEP_KIN)
        take_found(p, NULL, PROCESS_FOUND);
    else if (p->step == STEP_NAMES && !find_named(p, p->question.links))
        finish_answer(p, (struct cursor){0});
    else if (start_step(p, &err) != 0)
        send_answer(p, NULL, &err);
}

/* ---- interface */

static bool take_process_argument(void *own, const uint8_t *arg, size_t len)
{
    struct process_ask *p = own;
    struct process_question *q = &p->question;
    if (!process_read_question(arg, len, q))
        return false;
    p->pid = q->pid;
    if (q->name.len > 0)
        return true;
    if (!slice_is(q->node, conn_peer_node(p->conn)) ||
        q->pid.creation != native_creation(p->native))
        q->name = slice_of("<>"); /* none of its processes */
    return q->name.len > 0 || !is_large(p);
}

static int ask_process(void *own, unsigned deadline_ms, struct error *err)
{
    struct process_ask *p = own;
    if (native_is_out(p->native, NATIVE_PROCESS) || p->who_is_out)
        return error_set(err, ERR_LIMIT, "the question before has not ended on the node");
    p->due_ms = uv_now(p->loop) + deadline_ms;
    p->us = 0;
    p->alias[0] = '\0';
    p->step = p->question.name.len > 0 ? STEP_PID : STEP_WHO;
    const int rc = start_step(p, err);
    p->asking = rc == 0;
    return rc;
}

static void cancel_process(void *own)
{
    struct process_ask *p = own;
    p->asking = false;
}

static void free_process(void *own)
{
    struct process_ask *p = own;
    who_free(p->who);
    who_free(p->kin);
    buf_clear(&p->items);
    buf_clear(&p->lists);
    free(p->named);
    free(p);
}

struct native_way process_way(const struct way_setup *setup)
{
    struct process_ask *p = alloc_zero(1, sizeof *p);
    *p = (struct process_ask){
        .query = setup->query,
        .price = setup->price,
        .native = setup->native,
        .conn = setup->conn,
        .loop = setup->loop,
    };
    p->who = who_new(setup, NATIVE_PROCESS_WHO);
    p->kin = who_new(setup, NATIVE_PROCESS_KIN);
    buf_init(&p->items, 0);
    buf_init(&p->lists, 0);
    return (struct native_way){p, take_process_argument, ask_process, cancel_process, free_process};
}

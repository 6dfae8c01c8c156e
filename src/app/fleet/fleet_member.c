/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One of several connections: what it is asked for, what it says, its loss and its next try. */
#include "fleet_internal.h"

#include <stdio.h>

#include "beamtop/base/limits.h"

#define RETRY_FIRST_MS 10000u
#define RETRY_LOST_MS 500u /* it may be there again at once: its first tries are soon */
#define RETRY_LAST_MS 60000u
#define LINKS_MS 10000u
#define MNESIA_MS 10000u
#define RAFT_MS 10000u

/* What nodes are compared by. */
#define COMPARED                                                                                   \
    (QUESTION_BIT(QUESTION_LINKS) | QUESTION_BIT(QUESTION_MNESIA) | QUESTION_BIT(QUESTION_RAFT))

static void on_member_trouble(void *arg, enum question question, const struct error *err)
{
    struct member *m = arg;
    if ((QUESTION_BIT(question) & COMPARED) == 0)
        return;
    m->unread |= QUESTION_BIT(question);
    snprintf(m->unread_why, sizeof m->unread_why, "%.199s", err->text);
}

/* ---- what a connection says */

static void on_member_change(void *arg, question_mask questions)
{
    struct member *m = arg;
    m->heard_ms = uv_now(m->fleet->setup.loop);
    m->unread &= ~questions;
    if (questions & QUESTION_BIT(QUESTION_SYSTEM) && m->ticks < 2)
        m->ticks++;
    if (questions & QUESTION_BIT(QUESTION_LINKS)) {
        m->links_ms = m->heard_ms;
        fleet_take_queues(m, model_links(m->model));
        fleet_take_cluster(m);
    }
    if (questions & QUESTION_BIT(QUESTION_MNESIA)) {
        m->mnesia_ms = m->heard_ms;
        m->mnesia_since_ms = !mesh_mnesia_of(m)        ? 0
                             : m->mnesia_since_ms == 0 ? m->heard_ms
                                                       : m->mnesia_since_ms;
    }
    if (questions & QUESTION_BIT(QUESTION_RAFT))
        m->raft_ms = m->heard_ms;
    m->fleet->changed = true;
}

/* It waits for no process of Mnesia, and asks for one name where there is none. */
static bool is_mnesia_due(const struct member *m)
{
    const struct fleet_setup *setup = &m->fleet->setup;
    return setup->links && (m->mnesia_ms == 0 || uv_now(setup->loop) >= m->mnesia_ms + MNESIA_MS);
}

static bool is_raft_due(const struct member *m)
{
    const struct fleet_setup *setup = &m->fleet->setup;
    return setup->links && (m->raft_ms == 0 || uv_now(setup->loop) >= m->raft_ms + RAFT_MS);
}

static bool are_links_due(const struct member *m)
{
    const struct fleet_setup *setup = &m->fleet->setup;
    return setup->links &&
           (m->links_ms == 0 ||
            uv_now(setup->loop) >= m->links_ms + (m->is_odd ? FLEET_ODD_LINKS_MS : LINKS_MS));
}

/* Of a node with few processes no helper is needed to look at all of them. */
void fleet_choose_want(struct member *m)
{
    const struct system_sample *s = model_system(m->model);
    struct want want = {.needs = NEED(SYSTEM)};
    if (s && s->processes >= 0 && s->processes <= LIMIT_FILTER_CALLS) {
        want.needs |= NEED(SCAN);
        want.scan = (struct want_scan){.sort_key = "message_queue_len",
                                       .rows = 1,
                                       .items = ITEM_BIT(ID) | ITEM_BIT(MESSAGE_QUEUE_LEN),
                                       .seldom = true};
    }
    if (are_links_due(m) || fleet_asks_cluster(m))
        want.needs |= NEED(LINKS);
    if (is_mnesia_due(m))
        want.needs |= NEED(MNESIA);
    if (is_raft_due(m))
        want.needs |= NEED(RAFT);
    want.steady = m->fleet->steady;
    live_set_want(m->live, &want);
}

static void on_member_tick(void *arg)
{
    struct member *m = arg;
    fleet_choose_want(m);
    m->fleet->changed = true;
}

void fleet_tell_loss(const struct member *m, const struct error *why)
{
    const struct fleet *f = m->fleet;
    for (size_t i = 0; f->setup.lost && i < f->n; i++)
        if (f->members[i] == m)
            f->setup.lost(f->setup.arg, i, why);
}

static unsigned retry_after_ms(const struct member *m)
{
    unsigned ms = m->was_up ? RETRY_LOST_MS : RETRY_FIRST_MS;
    for (unsigned i = 1; i < m->tries && ms < RETRY_LAST_MS; i++)
        ms *= 2;
    return ms < RETRY_LAST_MS ? ms : RETRY_LAST_MS;
}

void fleet_fail_member(struct member *m, const struct error *why)
{
    m->state = MEMBER_FAILED;
    m->why = *why;
    m->tries++;
    m->due_ms = uv_now(m->fleet->setup.loop) + retry_after_ms(m);
    m->fleet->changed = true;
}

/* What it says later is of a connection that is closed. */
static void end_member(struct member *m, const struct error *why)
{
    m->ended = true;
    fleet_fail_member(m, why);
}

static void on_member_link(void *arg, bool up)
{
    struct member *m = arg;
    struct error why = {0};
    m->ticks = 0;
    m->links_ms = m->mnesia_ms = m->mnesia_since_ms = m->raft_ms = 0;
    m->unread = 0;
    fleet_forget_facts(m);
    if (!up || m->ended)
        return; /* the end follows, with its reason */
    m->is_twin = fleet_is_twin(m, &why);
    if (m->is_twin) {
        end_member(m, &why);
        return;
    }
    m->state = MEMBER_UP;
    m->life = live_peer_creation(m->live);
    m->was_up = true;
    m->tries = 0;
    m->fleet->changed = true;
}

static void on_member_end(void *arg, enum conn_failure why, const struct error *err)
{
    struct member *m = arg;
    (void)why;
    if (m->ended)
        return;
    end_member(m, err);
    if (m->left)
        fleet_forget_twins(m->fleet);
    fleet_tell_loss(m, err);
}

/* ---- opening */

void fleet_close_member(struct member *m)
{
    live_close(m->live, NULL, NULL);
    m->live = NULL;
    m->ended = false;
    fleet_forget_facts(m);
    target_clear(&m->target);
}

void fleet_open_member(struct member *m)
{
    static const struct live_handlers handlers = {.on_change = on_member_change,
                                                  .on_trouble = on_member_trouble,
                                                  .on_tick = on_member_tick,
                                                  .on_link = on_member_link,
                                                  .on_end = on_member_end};
    const struct fleet_setup *setup = &m->fleet->setup;
    struct error err = {0};
    m->state = MEMBER_OPENING;
    if (m->resolves) {
        fleet_look_up(m);
        return;
    }
    int rc = target_init(&m->target, m->name, setup->cli, setup->env, setup->vms, 0, &err);
    if (rc == 0) {
        target_lend(&m->target, &m->lent);
        if (m->origin == MEMBER_OF_CLUSTER)
            target_go_to_its_host(&m->target);
        const struct live_options options = {
            .conn = m->target.conn, .interval_s = setup->interval_s, .budget = setup->budget};
        rc = live_open(&m->live, setup->loop, &options, m->model, &handlers, m, &err);
    }
    if (rc == 0)
        return;
    target_clear(&m->target);
    fleet_fail_member(m, &err);
}

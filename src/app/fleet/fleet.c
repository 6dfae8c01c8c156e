/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The connections to several nodes: opened a few at a time, lost, tried again. */
#include "fleet_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/build.h"

#define TURN_MS 50u
#define RETRY_FIRST_MS 10000u
#define RETRY_LAST_MS 60000u
#define WORKERS "32" /* threads in which hands are shaken: a node that hangs holds one */

static void note_change(struct fleet *f)
{
    f->changed = true;
}

/* ---- what a connection says */

static void on_member_change(void *arg, question_mask questions)
{
    struct member *m = arg;
    if (questions & QUESTION_BIT(QUESTION_SYSTEM) && m->ticks < 2)
        m->ticks++;
    note_change(m->fleet);
}

/* Of a node with few processes no helper is needed to look at all of them. */
static void choose_want(struct member *m)
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
    live_set_want(m->live, &want);
}

static void on_member_tick(void *arg)
{
    struct member *m = arg;
    choose_want(m);
    note_change(m->fleet);
}

static void tell_loss(const struct member *m, const struct error *why)
{
    const struct fleet *f = m->fleet;
    for (size_t i = 0; f->setup.lost && i < f->n; i++)
        if (f->members[i] == m)
            f->setup.lost(f->setup.arg, i, why);
}

static void on_member_link(void *arg, bool up)
{
    struct member *m = arg;
    m->state = up ? MEMBER_UP : MEMBER_LOST;
    m->was_up = m->was_up || up;
    m->ticks = 0;
    if (up) {
        m->tries = 0;
    } else {
        (void)error_set(&m->why, ERR_LOST, "connection lost");
        tell_loss(m, &m->why);
    }
    note_change(m->fleet);
}

static unsigned retry_after_ms(const struct member *m)
{
    unsigned ms = RETRY_FIRST_MS;
    for (unsigned i = 1; i < m->tries && ms < RETRY_LAST_MS; i++)
        ms *= 2;
    return ms < RETRY_LAST_MS ? ms : RETRY_LAST_MS;
}

static void fail_member(struct member *m, const struct error *err)
{
    m->state = MEMBER_FAILED;
    m->why = *err;
    m->tries++;
    m->due_ms = uv_now(m->fleet->setup.loop) + retry_after_ms(m);
    note_change(m->fleet);
}

static void on_member_end(void *arg, enum conn_failure why, const struct error *err)
{
    struct member *m = arg;
    (void)why;
    m->ended = true;
    fail_member(m, err);
    tell_loss(m, err);
}

/* ---- opening */

static void close_member(struct member *m)
{
    live_close(m->live, NULL, NULL);
    m->live = NULL;
    m->ended = false;
    target_clear(&m->target);
}

static void open_member(struct member *m)
{
    static const struct live_handlers handlers = {.on_change = on_member_change,
                                                  .on_tick = on_member_tick,
                                                  .on_link = on_member_link,
                                                  .on_end = on_member_end};
    const struct fleet_setup *setup = &m->fleet->setup;
    struct error err = {0};
    m->state = MEMBER_OPENING;
    int rc = target_init(&m->target, m->name, setup->cli, setup->env, setup->vms, 0, &err);
    if (rc == 0) {
        const struct live_options options = {.conn = m->target.conn,
                                             .interval_s = setup->interval_s,
                                             .budget = setup->budget,
                                             .reconnect = true};
        rc = live_open(&m->live, setup->loop, &options, m->model, &handlers, m, &err);
    }
    if (rc == 0)
        return;
    target_clear(&m->target);
    fail_member(m, &err);
}

static bool is_due(const struct member *m, uint64_t now_ms)
{
    return m->state == MEMBER_WAITING || (m->state == MEMBER_FAILED && m->due_ms <= now_ms);
}

static size_t count_in_state(const struct fleet *f, enum member_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->members[i]->state == state;
    return n;
}

static void on_fleet_turn(uv_timer_t *timer)
{
    struct fleet *f = timer->data;
    size_t opening = count_in_state(f, MEMBER_OPENING);
    for (size_t i = 0; i < f->n; i++) {
        struct member *m = f->members[i];
        if (m->ended)
            close_member(m);
        if (opening < FLEET_OPENING && is_due(m, uv_now(f->setup.loop))) {
            open_member(m);
            opening += m->state == MEMBER_OPENING;
        }
    }
    if (f->changed && f->setup.changed)
        f->setup.changed(f->setup.arg);
    f->changed = false;
}

/* ---- life */

static void add_member(struct fleet *f, const char *name)
{
    struct member *m = alloc_zero(1, sizeof *m);
    m->fleet = f;
    m->model = model_new_sized(1, 1);
    snprintf(m->name, sizeof m->name, "%s", name);
    f->members[f->n++] = m;
}

void fleet_prepare(void)
{
    (void)setenv("UV_THREADPOOL_SIZE", WORKERS,
                 0); /* libuv has 4, and reads it at its first work */
}

int fleet_open(struct fleet **out, const char *target, const struct fleet_setup *setup,
               struct error *err)
{
    struct fleet_names names;
    const int rc = fleet_names_take(&names, target, err);
    if (rc == 0) {
        struct fleet *f = alloc_zero(1, sizeof *f);
        f->setup = *setup;
        f->members = alloc_zero(names.n, sizeof(struct member *));
        for (size_t i = 0; i < names.n; i++)
            add_member(f, names.names[i]);
        f->timer = alloc_zero(1, sizeof *f->timer);
        uv_timer_init(setup->loop, f->timer);
        f->timer->data = f;
        uv_timer_start(f->timer, on_fleet_turn, 0, TURN_MS);
        *out = f;
    }
    fleet_names_clear(&names);
    return rc;
}

static void free_fleet_timer(uv_handle_t *timer)
{
    free(timer);
}

void fleet_close(struct fleet *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n; i++) {
        close_member(f->members[i]);
        model_free(f->members[i]->model);
        free(f->members[i]);
    }
    free(f->members);
    uv_timer_stop(f->timer);
    uv_close((uv_handle_t *)f->timer, free_fleet_timer);
    free(f);
}

/* ---- what is known */

size_t fleet_size(const struct fleet *f)
{
    return f->n;
}

size_t fleet_up(const struct fleet *f)
{
    return count_in_state(f, MEMBER_UP);
}

size_t fleet_settled(const struct fleet *f)
{
    size_t n = count_in_state(f, MEMBER_FAILED) + count_in_state(f, MEMBER_LOST);
    for (size_t i = 0; i < f->n; i++)
        n += f->members[i]->state == MEMBER_UP && f->members[i]->ticks >= 2;
    return n;
}

bool fleet_has_failed(const struct fleet *f, struct error *err)
{
    if (f->n == 0 || count_in_state(f, MEMBER_FAILED) < f->n)
        return false;
    *err = f->members[0]->why;
    return true;
}

const char *fleet_name(const struct fleet *f, size_t node)
{
    return f->members[node]->name;
}

struct live *fleet_live(const struct fleet *f, size_t node)
{
    const struct member *m = f->members[node];
    return m->state == MEMBER_UP ? m->live : NULL;
}

const struct error *fleet_why(const struct fleet *f, size_t node)
{
    const struct member *m = f->members[node];
    return m->state == MEMBER_FAILED || m->state == MEMBER_LOST ? &m->why : NULL;
}

int fleet_take(const struct fleet *f, struct model *m, struct error *err)
{
    size_t len;
    struct builder *b = fleet_build(f);
    const uint8_t *bytes = builder_bytes(b, &len);
    const int rc = model_take(m, QUESTION_FLEET, bytes + 1, len - 1, NULL, clock_mono_ns(), err);
    builder_free(b);
    return rc;
}

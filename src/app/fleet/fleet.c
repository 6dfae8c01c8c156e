/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The connections to several nodes: opened a few at a time, lost, tried again. */
#include "fleet_internal.h"
#include "mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/etf/build.h"

#define TURN_MS 50u
#define CONNECT_MS 15000.0 /* who waits for all nodes gives them so much, at least */
#define WORKERS "32"       /* threads in which hands are shaken: a node that hangs holds one */

void fleet_set_steady(struct fleet *f, bool steady)
{
    f->steady = steady;
    for (size_t i = 0; i < f->n; i++)
        if (f->members[i]->state == MEMBER_UP)
            fleet_choose_want(f->members[i]);
}

void fleet_forget_twins(struct fleet *f)
{
    for (size_t i = 0; i < f->n; i++) {
        struct member *m = f->members[i];
        m->due_ms = m->is_twin ? 0 : m->due_ms;
        m->is_twin = false;
    }
}

static size_t count_in_state(const struct fleet *f, enum member_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->members[i]->state == state;
    return n;
}

/* Who wants names only needs the node that names its cluster. */
static bool is_needed(const struct member *m)
{
    const struct fleet *f = m->fleet;
    return !f->names_only || m->resolves || (f->follows && fleet_up(f) == 0);
}

static bool is_due(const struct member *m)
{
    const bool rests = m->state == MEMBER_FAILED || (m->resolves && m->state == MEMBER_UP);
    if (m->removed || m->live || m->is_twin || m->left || !is_needed(m))
        return false;
    return m->state == MEMBER_WAITING || (rests && m->due_ms <= uv_now(m->fleet->setup.loop));
}

static void on_fleet_turn(uv_timer_t *timer)
{
    struct fleet *f = timer->data;
    size_t opening = count_in_state(f, MEMBER_OPENING);
    for (size_t k = 0, from = f->next; k < f->n; k++) {
        const size_t i = (from + k) % f->n;
        struct member *m = f->members[i];
        if (m->ended)
            fleet_close_member(m);
        if (opening < FLEET_OPENING && is_due(m)) {
            f->next = i + 1;
            fleet_open_member(m);
            opening += m->state == MEMBER_OPENING;
        }
    }
    fleet_ask_facts(f);
    fleet_compare_versions(f);
    if (f->changed && f->setup.changed)
        f->setup.changed(f->setup.arg);
    f->changed = false;
}

/* ---- life */

/* The place of one that was removed, where there is no other; parts of sessions are by places. */
static struct member *make_member(struct fleet *f)
{
    for (size_t i = 0; f->n == FLEET_MOST && !f->steady && i < f->n; i++)
        if (f->members[i]->removed && !f->members[i]->resolves)
            return f->members[i];
    if (f->n == FLEET_MOST)
        return NULL;
    struct member *m = alloc_zero(1, sizeof *m);
    m->model = model_new_small();
    f->members = alloc_grow(f->members, f->n, sizeof(struct member *));
    f->members[f->n++] = m;
    return m;
}

int fleet_new_member(struct member **out, struct fleet *f, const char *name, struct error *err)
{
    struct member *m = make_member(f);
    if (!m)
        return error_set(err, ERR_LIMIT, "more than %d nodes%s", FLEET_MOST,
                         f->steady ? ", with those that were removed, until what runs on all ends"
                                   : "");
    struct model *model = m->model;
    cookie_wipe(&m->lent);
    *m = (struct member){.fleet = f, .model = model, .number = ++f->made};
    m->resolves = fleet_name_resolves(name);
    fleet_forget_facts(m);
    snprintf(m->name, sizeof m->name, "%s", name);
    f->changed = true;
    *out = m;
    return 0;
}

/* As it was given, before the full name of one that was given without its host. */
struct member *fleet_find(const struct fleet *f, const char *name)
{
    struct member *full = NULL;
    for (size_t i = 0; i < f->n; i++) {
        if (strcmp(f->members[i]->name, name) == 0)
            return f->members[i];
        if (!full && strcmp(f->members[i]->target.name, name) == 0)
            full = f->members[i];
    }
    return full;
}

struct fleet_setup fleet_setup_of(const struct cli_options *cli, const struct app_env *env,
                                  const struct discover_list *vms, uv_loop_t *loop)
{
    return (struct fleet_setup){.cli = cli,
                                .env = env,
                                .vms = vms,
                                .loop = loop,
                                .interval_s = cli->interval_s,
                                .budget = cli->budget};
}

void fleet_prepare(void)
{
    (void)setenv("UV_THREADPOOL_SIZE", WORKERS,
                 0); /* libuv has 4, and reads it at its first work */
}

static int add_all(struct fleet *f, const struct fleet_names *names, struct error *err)
{
    struct member *m;
    for (size_t i = 0; i < names->n; i++) {
        const struct cookie *lent = fleet_lent(names, i);
        const int rc = fleet_new_member(&m, f, names->names[i], err);
        if (rc != 0)
            return rc;
        if (lent) {
            m->origin = MEMBER_OF_CLUSTER;
            m->lent = *lent;
        }
    }
    return 0;
}

int fleet_open(struct fleet **out, const char *target, const struct fleet_setup *setup,
               struct error *err)
{
    struct fleet_names names = {0};
    struct fleet *f = alloc_zero(1, sizeof *f);
    f->setup = *setup;
    f->follows = setup->cli->cluster && !setup->fixed;
    f->timer = alloc_zero(1, sizeof *f->timer);
    uv_timer_init(setup->loop, f->timer);
    f->timer->data = f;
    uv_timer_start(f->timer, on_fleet_turn, 0, TURN_MS);
    int rc = setup->fixed ? fleet_resolve(&names, setup->cli, setup->env, setup->vms, err)
                          : fleet_names_take(&names, target, err);
    if (rc == 0)
        rc = add_all(f, &names, err);
    fleet_names_clear(&names);
    if (rc == 0)
        *out = f;
    else
        fleet_close(f);
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
        fleet_close_member(f->members[i]);
        lookup_cancel(f->members[i]->lookup);
        cookie_wipe(&f->members[i]->lent);
        model_free(f->members[i]->model);
        free(f->members[i]);
    }
    free(f->members);
    mesh_seen_free(f->seen);
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
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->members[i]->state == MEMBER_UP && !f->members[i]->resolves;
    return n;
}

bool fleet_has_why(const struct member *m)
{
    return m->state == MEMBER_FAILED || (m->state == MEMBER_OPENING && m->tries > 0);
}

static bool is_settled(const struct member *m)
{
    const bool is_told = m->facts.is_told || !m->fleet->setup.facts;
    const bool is_known = m->resolves || (m->ticks >= 2 && is_told);
    return m->removed || m->left || fleet_has_why(m) || (m->state == MEMBER_UP && is_known);
}

size_t fleet_settled(const struct fleet *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += is_settled(f->members[i]);
    const bool is_cluster_open = f->follows && !f->cluster_known && fleet_up(f) > 0;
    return n > 0 && (is_cluster_open || f->versions_changed) ? n - 1 : n;
}

bool fleet_has_failed(const struct fleet *f, struct error *err)
{
    const struct member *first = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const struct member *m = f->members[i];
        const bool is_none = m->removed || (m->resolves && m->state == MEMBER_UP);
        if (!is_none && !fleet_has_why(m))
            return false;
        first = first || is_none ? first : m;
    }
    if (first)
        *err = first->why;
    return first != NULL;
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

bool fleet_answers(const struct fleet *f, size_t node)
{
    const struct member *m = f->members[node];
    const char *text;
    return m->state == MEMBER_UP && model_link(m->model, &text) != LINK_STALE;
}

bool fleet_are_one(const struct fleet *f, size_t a, size_t b)
{
    const struct live *x = fleet_live(f, a), *y = fleet_live(f, b);
    return x && y && live_peer_node(x) && live_peer_node(y) &&
           strcmp(live_peer_node(x), live_peer_node(y)) == 0;
}

const struct error *fleet_why(const struct fleet *f, size_t node)
{
    static const struct error removed = {.code = ERR_LOST, .text = "the node was removed"};
    const struct member *m = f->members[node];
    if (m->removed)
        return &removed;
    return fleet_has_why(m) ? &m->why : NULL;
}

bool fleet_port(const struct fleet *f, size_t node, struct session_port *out)
{
    struct error ignored = {0};
    struct live *live = fleet_live(f, node);
    return live && live_port(live, out, &ignored) == 0;
}

const struct error *fleet_why_unready(const struct fleet *f, size_t node, uint64_t waited_ms)
{
    static const struct error late = {.code = ERR_TIMEOUT, .text = "no answer yet"};
    const double most_ms = fmax(f->setup.cli->timeout_s * 1000, CONNECT_MS);
    struct session_port port;
    if (fleet_port(f, node, &port))
        return NULL;
    const struct error *why = fleet_why(f, node);
    return why || (double)waited_ms <= most_ms ? why : &late;
}

const struct cookie *fleet_cookie(const struct fleet *f, const char *name)
{
    const struct member *m = fleet_find(f, name);
    return m && m->live ? &m->target.cookie : NULL;
}

/* ---- what you add and remove */

static int add_name(void *arg, const char *name, struct error *err)
{
    struct fleet *f = arg;
    struct member *m = fleet_find(f, name);
    if (!m)
        return fleet_new_member(&m, f, name, err);
    m->origin = MEMBER_GIVEN;
    m->left = NULL;
    m->removed = m->is_twin = false;
    m->due_ms = 0;
    f->changed = true;
    return 0;
}

int fleet_add(struct fleet *f, const char *names, struct error *err)
{
    return fleet_read_names(names, add_name, f, err);
}

void fleet_retry(struct fleet *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->members[i]->state == MEMBER_FAILED)
            f->members[i]->due_ms = 0;
}

bool fleet_remove(struct fleet *f, const char *name)
{
    struct member *m = fleet_find(f, name);
    const struct error removed = {.code = ERR_LOST, .text = "the node was removed"};
    if (!m || m->removed)
        return false;
    const bool was_told = !m->live || m->ended;
    m->state = MEMBER_WAITING;
    if (!was_told)
        fleet_tell_loss(m, &removed);
    fleet_close_member(m);
    lookup_cancel(m->lookup);
    m->lookup = NULL;
    m->removed = true;
    m->tries = 0;
    fleet_forget_twins(f);
    f->changed = true;
    return true;
}

size_t fleet_linked(const struct fleet *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->members[i]->state == MEMBER_UP && f->members[i]->links_ms > 0 &&
             f->members[i]->mnesia_ms > 0 && f->members[i]->raft_ms > 0;
    return n;
}

static int take_answer(struct model *m, enum question question, struct builder *b,
                       struct error *err)
{
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    const int rc = model_take(m, question, bytes + 1, len - 1, NULL, clock_mono_ns(), err);
    builder_free(b);
    return rc;
}

int fleet_take(const struct fleet *f, struct model *m, struct error *err)
{
    return take_answer(m, QUESTION_FLEET, fleet_build(f), err);
}

int fleet_take_mesh(struct fleet *f, struct model *m, struct error *err)
{
    struct builder *matrix, *mesh = mesh_build(f, &matrix);
    const int rc = take_answer(m, QUESTION_MESH, mesh, err),
              of_matrix = take_answer(m, QUESTION_MATRIX, matrix, err);
    return rc != 0 ? rc : of_matrix;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that come and go: named by DNS, or by their cluster; and which two names are one node. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/source/runtime.h"
#include "app/way/way_url.h"
#include "beamtop/link/name.h"
#include "beamtop/model/detail.h"
#include "fleet_internal.h"

#define LOOK_AGAIN_MS 30000u
#define RESOLVE_TURN_MS 20u

/* ---- two names of one */

bool fleet_is_twin(const struct member *m, struct error *why)
{
    const struct fleet *f = m->fleet;
    for (size_t i = 0; i < f->n; i++) {
        const struct member *o = f->members[i];
        if (o == m || o->state != MEMBER_UP || !o->live || !live_is_up(o->live) ||
            live_peer_creation(o->live) != live_peer_creation(m->live) ||
            strcmp(live_peer_node(o->live), live_peer_node(m->live)) != 0)
            continue;
        (void)error_set(why, ERR_USAGE, "the same node as %.255s", o->name);
        return true;
    }
    return false;
}

/* ---- an answer that has all names */

struct naming {
    struct fleet *fleet;
    enum member_origin origin;
    const struct member *source;
};

static bool is_named_so(const struct naming *n, const struct member *m)
{
    return m->origin == n->origin && m->source == n->source;
}

static void begin_naming(const struct naming *n)
{
    for (size_t i = 0; i < n->fleet->n; i++)
        n->fleet->members[i]->seen = false;
}

/* lent: may be NULL. One that comes back is as new, also after you have removed it. */
static int name_member(const struct naming *n, const char *name, const struct cookie *lent,
                       struct error *err)
{
    struct member *m = fleet_find(n->fleet, name);
    if (!m) {
        const int rc = fleet_new_member(&m, n->fleet, name, err);
        if (rc != 0)
            return rc;
        m->origin = n->origin;
        m->source = n->source;
        if (lent)
            m->lent = *lent;
    }
    if (m->left) {
        m->left = NULL;
        m->removed = false;
        m->due_ms = 0;
        m->origin = n->origin; /* two may name it: the other has lost it */
        m->source = n->source;
    }
    m->seen = true;
    return 0;
}

static void end_naming(const struct naming *n, const char *left)
{
    for (size_t i = 0; i < n->fleet->n; i++) {
        struct member *m = n->fleet->members[i];
        if (!is_named_so(n, m) || m->seen || m->left)
            continue;
        m->left = left;
        if (m->state != MEMBER_UP)
            fleet_forget_twins(n->fleet);
    }
    n->fleet->changed = true;
}

/* ---- DNS */

static int name_address(const struct naming *n, const struct address *address, struct error *err)
{
    char text[LIMIT_NODE_NAME_BYTES + 1], name[LIMIT_NODE_NAME_BYTES + 1];
    const char *resolves = n->source->name;
    lookup_text(text, sizeof text, address);
    const int len =
        snprintf(name, sizeof name, "%.*s@%s", (int)strcspn(resolves, "@"), resolves, text);
    return *text && len < (int)sizeof name ? name_member(n, name, NULL, err) : 0;
}

static void on_looked_up(void *arg, const struct address *addresses, size_t count,
                         const struct error *err)
{
    struct member *m = arg;
    const struct naming naming = {m->fleet, MEMBER_OF_DNS, m};
    struct error many = {0};
    m->lookup = NULL;
    if (count == 0) {
        fleet_fail_member(m, err); /* the name server may be away: its nodes stay */
        return;
    }
    begin_naming(&naming);
    for (size_t i = 0; i < count; i++)
        (void)name_address(&naming, &addresses[i], &many);
    if (count < LOOKUP_MOST) /* else those that are missing may be among the others */
        end_naming(&naming, "gone from DNS");
    m->found = count;
    m->state = MEMBER_UP;
    m->tries = 0;
    if (many.code != ERR_NONE)
        fleet_fail_member(m, &many);
    m->due_ms = uv_now(m->fleet->setup.loop) + LOOK_AGAIN_MS;
}

void fleet_look_up(struct member *m)
{
    struct error err = {0};
    const char *host = strchr(m->name, ':') + 1;
    const unsigned timeout_ms = cli_timeout_ms(m->fleet->setup.cli);
    const bool is_service = fleet_name_is_service(m->name);
    if ((is_service ? lookup_service : lookup_start)(&m->lookup, m->fleet->setup.loop, host,
                                                     timeout_ms, on_looked_up, m, &err) != 0)
        fleet_fail_member(m, &err);
}

/* ---- the cluster */

/* The first that is up; one that the cluster has named only where there is no other. */
static const struct member *find_seed(const struct fleet *f)
{
    const struct member *seed = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const struct member *m = f->members[i];
        const bool is_first =
            !seed || (seed->origin == MEMBER_OF_CLUSTER && m->origin != MEMBER_OF_CLUSTER);
        if (m->state == MEMBER_UP && !m->resolves && is_first)
            seed = m;
    }
    return seed;
}

bool fleet_asks_cluster(const struct member *m)
{
    const struct fleet *f = m->fleet;
    return f->follows && find_seed(f) == m && f->cluster_due_ms <= uv_now(f->setup.loop);
}

/* A node at the host of a URL's node needs no host where that has none: so it has one name. */
static int host_len(const struct way_url *seed, const char *seed_node, const char *name)
{
    const char *at = strchr(name, '@'), *of_seed = seed_node ? strchr(seed_node, '@') : NULL;
    const bool beside = !strchr(seed->node, '@') && at && of_seed && strcmp(at, of_seed) == 0;
    return (int)(beside ? (size_t)(at - name) : strlen(name));
}

/* Behind the same way as the node that has named it. */
static int name_behind(const struct naming *n, const struct member *seed, const char *name,
                       struct error *err)
{
    char node[LIMIT_NODE_NAME_BYTES + 1];
    struct way_url url;
    struct buf behind;
    int rc = way_url_parse(&url, seed->name, err);
    buf_init(&behind, 0);
    snprintf(node, sizeof node, "%.*s", host_len(&url, live_peer_node(seed->live), name), name);
    way_url_put(&behind, &url, node);
    if (rc == 0 && behind.len <= LIMIT_NODE_NAME_BYTES)
        rc = name_member(n, buf_cstr(&behind), &seed->target.cookie, err);
    buf_clear(&behind);
    return rc;
}

/* The text is the node's: a name with a meaning here is none there. */
static int name_peer(const struct naming *n, const struct member *seed, struct slice peer,
                     struct error *err)
{
    char name[LIMIT_NODE_NAME_BYTES + 1];
    struct name parsed;
    struct error ignored = {0};
    if (peer.len >= sizeof name || memchr(peer.s, '\0', peer.len))
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)peer.len, peer.s);
    if (name_parse(&parsed, name, "", &ignored) != 0 || !parsed.host_given || fleet_is_meant(name))
        return 0;
    if (way_is_url(seed->name))
        return name_behind(n, seed, name, err);
    return name_member(n, name, &seed->target.cookie, err);
}

void fleet_take_cluster(struct member *seed)
{
    struct fleet *f = seed->fleet;
    const struct naming naming = {f, MEMBER_OF_CLUSTER, NULL};
    const struct table_detail *table = model_answer(seed->model, QUESTION_LINKS);
    struct error many = {0};
    if (!table || !fleet_asks_cluster(seed))
        return;
    begin_naming(&naming);
    seed->seen = true;
    for (size_t i = 0; i < table->n_rows && many.code == ERR_NONE; i++) {
        const struct links_row *row = (const struct links_row *)table->rows + i;
        if (slice_is(row->how, "visible") && slice_is(row->state, "up"))
            (void)name_peer(&naming, seed, row->node, &many);
    }
    if (!table->partial && many.code == ERR_NONE)
        end_naming(&naming, "left the cluster");
    seed->note = many.code != ERR_NONE ? "its cluster has more nodes than have a row" : NULL;
    f->cluster_known = true;
    f->cluster_due_ms = uv_now(f->setup.loop) + FLEET_CLUSTER_MS;
}

/* ---- all names, once */

struct resolving {
    struct runtime rt;
    uv_timer_t timer;
    struct fleet *fleet;
    uint64_t most_ms;
    int signal; /* that has ended it */
};

bool fleet_is_resolved(const struct fleet *f)
{
    bool has_failed = true;
    for (size_t i = 0; i < f->n; i++) {
        const struct member *m = f->members[i];
        if (m->resolves && m->state != MEMBER_UP && m->state != MEMBER_FAILED)
            return false;
        has_failed = has_failed && (m->resolves || fleet_has_why(m));
    }
    return !f->follows || f->cluster_known || has_failed;
}

static void on_resolve_turn(uv_timer_t *timer)
{
    struct resolving *r = timer->data;
    if (fleet_is_resolved(r->fleet) || uv_now(&r->rt.loop) - r->rt.started_ms > r->most_ms)
        runtime_end(&r->rt, 0, NULL);
}

static void on_resolve_signal(uv_signal_t *handle, int number)
{
    struct resolving *r = handle->data;
    r->signal = number;
    runtime_end(&r->rt, 128 + number, NULL);
}

int fleet_why_unnamed(const struct fleet *f, struct error *err)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct member *m = f->members[i];
        if (m->resolves && m->state != MEMBER_UP && m->why.code == ERR_NONE)
            (void)error_set(err, ERR_TIMEOUT, "%.255s was not looked up in time", m->name);
        else if (m->resolves && m->state != MEMBER_UP)
            *err = m->why;
    }
    if (f->follows && !f->cluster_known && err->code == ERR_NONE && !fleet_has_failed(f, err))
        (void)error_set(err, ERR_TIMEOUT, "the nodes of the cluster were not named in time");
    return err->code;
}

/* Those that the cluster has named come last. */
static int take_resolved(struct fleet_names *out, const struct fleet *f, struct error *err)
{
    *out = (struct fleet_names){0};
    (void)fleet_why_unnamed(f, err);
    for (size_t i = 0; i < f->n; i++)
        if (!f->members[i]->resolves && f->members[i]->origin != MEMBER_OF_CLUSTER)
            fleet_names_put(out, f->members[i]->name);
    out->lent_from = out->n;
    for (size_t i = 0; i < f->n; i++) {
        const struct member *m = f->members[i];
        if (m->origin != MEMBER_OF_CLUSTER)
            continue;
        out->lent = m->lent;
        fleet_names_put(out, m->name);
    }
    return err->code;
}

static int resolve_all(struct fleet_names *out, const char *target, const struct fleet_setup *given,
                       struct error *err)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct resolving r = {.most_ms = (uint64_t)(given->cli->timeout_s * 1000) + 500};
    struct fleet_setup setup = *given;
    setup.loop = &r.rt.loop;
    runtime_init(&r.rt);
    runtime_timer(&r.rt, &r.timer, &r);
    runtime_catch(&r.rt, signals, ARRAY_LEN(signals), on_resolve_signal, &r);
    int rc = fleet_open(&r.fleet, target, &setup, err);
    if (rc == 0) {
        r.fleet->names_only = true;
        uv_timer_start(&r.timer, on_resolve_turn, RESOLVE_TURN_MS, RESOLVE_TURN_MS);
        uv_run(&r.rt.loop, UV_RUN_DEFAULT);
        rc = take_resolved(out, r.fleet, err);
    }
    fleet_close(r.fleet);
    runtime_close(&r.rt);
    if (r.signal != 0) { /* nothing is set anywhere yet, and the caller's loop does not run */
        signal(r.signal, SIG_DFL);
        raise(r.signal);
    }
    return rc;
}

int fleet_resolve(struct fleet_names *out, const struct cli_options *cli, const struct app_env *env,
                  const struct discover_list *vms, struct error *err)
{
    const struct fleet_setup setup = fleet_setup_of(cli, env, vms, NULL);
    bool resolves = cli->cluster;
    int rc = fleet_names_take(out, cli->target, err);
    for (size_t i = 0; rc == 0 && i < out->n; i++)
        resolves = resolves || fleet_name_resolves(out->names[i]);
    if (rc != 0 || !resolves)
        return rc;
    fleet_names_clear(out);
    return resolve_all(out, cli->target, &setup, err);
}

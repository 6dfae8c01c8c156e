/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "leaders_answer.h"

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "query/who/who_terms.h"

static void build_count(struct builder *b, const char *key, int64_t n)
{
    build_atom(b, key);
    build_known_int(b, n);
}

#define NAMED_PAIRS 3

/* One that has ended, or could not be read yet, has no name and no call. */
static void build_named(struct builder *b, const struct leaders_answer *a,
                        const struct etf_pid *pid)
{
    const struct who_entry *who = who_find(a->who, pid);
    const struct slice none = {0};
    build_atom(b, "pid");
    build_pid(b, a->node, pid);
    build_atom(b, "name");
    values_build_known(b, who_shown_name(who));
    build_atom(b, "initial_call");
    values_build_known(b, who ? who->call : none);
}

static void build_holders(struct builder *b, const struct leaders_answer *a)
{
    build_map(b, 4);
    build_count(b, "bytes", a->binary_bytes);
    build_count(b, "processes", (int64_t)a->table->n);
    build_count(b, "looked_at", (int64_t)a->looked_at);
    build_atom(b, "holders");
    build_list(b, a->holders.n);
    for (size_t i = 0; i < a->holders.n; i++) {
        const struct leader *l = a->holders.of[i];
        build_map(b, NAMED_PAIRS + 2);
        build_named(b, a, &l->pid);
        build_count(b, "bytes", l->binaries >= 0 ? l->distinct_bytes : l->binary_bytes);
        build_count(b, "binaries", l->binaries);
    }
    build_nil(b);
}

static void build_tied(struct builder *b, const struct leaders_answer *a)
{
    static const char *const keys[] = {"monitors", "monitored_by", "links"};
    build_map(b, 1);
    build_atom(b, "processes");
    build_list(b, a->tied.n);
    for (size_t i = 0; i < a->tied.n; i++) {
        const struct leader *l = a->tied.of[i];
        build_map(b, NAMED_PAIRS + 2 + TIES);
        build_named(b, a, &l->pid);
        build_count(b, "bytes", l->beside_bytes);
        for (int tie = 0; tie < TIES; tie++)
            build_count(b, keys[tie], l->ties[tie]);
        build_atom(b, "mostly");
        build_atom(b, l->mostly < TIES ? keys[l->mostly] : "undefined");
    }
    build_nil(b);
}

static void build_gcs(struct builder *b, const struct leaders_answer *a)
{
    struct leader_list of = {0};
    for (size_t i = 0; i < a->busy.n && of.n < LEADERS_HOLDERS; i++)
        if (a->busy.of[i]->minor_gcs_per_s > 0)
            of.of[of.n++] = a->busy.of[i];
    build_map(b, 1);
    build_atom(b, "processes");
    build_list(b, of.n);
    for (size_t i = 0; i < of.n; i++) {
        build_map(b, NAMED_PAIRS + 1);
        build_named(b, a, &of.of[i]->pid);
        build_atom(b, "minor_gcs_per_s");
        build_double(b, of.of[i]->minor_gcs_per_s);
    }
    build_nil(b);
}

static void build_waits(struct builder *b, const struct leaders_answer *a)
{
    build_map(b, 4);
    build_count(b, "moments", a->waits.moments);
    build_count(b, "logger", a->waits.logger);
    build_count(b, "calls", a->waits.calls);
    build_count(b, "running", a->waits.running);
}

static void build_ended(struct builder *b, const struct leaders_answer *a)
{
    build_map(b, 2);
    build_count(b, "reductions", a->reductions);
    build_count(b, "of_ended", a->of_ended);
}

static void build_senders(struct builder *b, const struct leaders_answer *a)
{
    build_map(b, 5);
    build_count(b, "looks", a->looks);
    build_count(b, "suspended_looks", a->suspended_looks);
    build_count(b, "suspended", a->suspended);
    build_atom(b, "nodes");
    if (a->sender_nodes.len > 0)
        values_build(b, a->sender_nodes);
    else
        build_nil(b);
    build_atom(b, "processes");
    build_list(b, a->n_senders);
    for (size_t i = 0; i < a->n_senders; i++) {
        build_map(b, NAMED_PAIRS);
        build_named(b, a, &a->senders[i]);
    }
    build_nil(b);
}

/* ---- kin */

/* Its initial call says nothing. */
static bool is_generic(const struct who_entry *who)
{
    static const char *const modules[] = {"erlang",     "proc_lib",   "gen",
                                          "gen_server", "gen_statem", "gen_event"};
    struct who_mfa mfa;
    if (!who || !who_term_is(who->name, "undefined") || !who_term_is(who->label, "undefined") ||
        !who_read_mfa(who->call, &mfa))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(modules); i++)
        if (slice_is(mfa.module, modules[i]))
            return true;
    return false;
}

/* "started by NAME", "linked to NAME"; empty: nothing is known. */
static struct buf near_text(const struct leaders_answer *a, const struct leader *l)
{
    struct buf text;
    buf_init(&text, 0);
    const struct who_entry *near = l->has_near ? who_find(a->who, &l->near) : NULL;
    const struct slice name = near ? who_atom_of(near->name) : (struct slice){0};
    if (name.len == 0 || slice_is(name, "undefined") || !is_generic(who_find(a->who, &l->pid)))
        return text;
    const struct slice how = slice_of(l->is_spawned ? "started by " : "linked to ");
    buf_put(&text, how.s, how.len);
    buf_put(&text, name.s, name.len);
    return text;
}

static size_t build_near(struct builder *b, const struct leaders_answer *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->shown.n; i++) {
        struct buf text = near_text(a, a->shown.of[i]);
        if (text.len > 0 && b) {
            build_map(b, 2);
            build_atom(b, "pid");
            build_pid(b, a->node, &a->shown.of[i]->pid);
            build_atom(b, "near");
            build_binary(b, text.data, text.len);
        }
        n += text.len > 0;
        buf_clear(&text);
    }
    return n;
}

/* A label names nobody: the pid stands beside it. */
static void build_called(struct builder *b, const struct leaders_answer *a,
                         const struct leader_call *call)
{
    const bool is_here = slice_is(call->node, a->node);
    const struct who_entry *who = is_here && !call->is_named ? who_find(a->who, &call->pid) : NULL;
    const bool has_name = who && !who_term_is(who->name, "undefined");
    const bool has_label = who && !has_name && !who_term_is(who->label, "undefined");
    build_map(b, (size_t)2 + (is_here ? 0 : 1) + (has_label ? 1 : 0));
    build_atom(b, "pid");
    build_pid(b, a->node, &call->caller->pid);
    build_atom(b, "waits_for");
    if (call->is_named)
        build_atom_n(b, call->name.s, call->name.len);
    else if (has_name || has_label)
        values_build(b, has_name ? who->name : who->label);
    else
        build_pid(b, a->node, &call->pid);
    if (has_label) {
        build_atom(b, "called");
        build_pid(b, a->node, &call->pid);
    }
    if (!is_here) {
        build_atom(b, "node");
        build_atom_n(b, call->node.s, call->node.len);
    }
}

static void build_kin(struct builder *b, const struct leaders_answer *a)
{
    build_map(b, 2);
    build_atom(b, "processes");
    build_list(b, build_near(NULL, a));
    build_near(b, a);
    build_nil(b);
    build_atom(b, "callers");
    build_list(b, a->n_calls);
    for (size_t i = 0; i < a->n_calls; i++)
        build_called(b, a, &a->calls[i]);
    build_nil(b);
}

/* ---- all of it */

static void build_sort(struct builder *b, const struct leaders_answer *a, const char *key,
                       const struct leader_list *list)
{
    const size_t n = list->n < a->most ? list->n : a->most;
    build_atom(b, key);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_pid(b, a->node, &list->of[i]->pid);
    build_nil(b);
}

void leaders_build(struct builder *b, const struct leaders_answer *a)
{
    static const struct {
        const char *key;
        void (*build)(struct builder *b, const struct leaders_answer *a);
    } facts[] = {
        {"binaries", build_holders}, {"monitors", build_tied}, {"gc", build_gcs},
        {"waits", build_waits},      {"ended", build_ended},   {"senders", build_senders},
        {"kin", build_kin},
    };
    build_tuple(b, 4);
    build_atom(b, "leaders");
    build_int(b, a->mono_ns);
    build_map(b, ARRAY_LEN(facts));
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        build_atom(b, facts[i].key);
        facts[i].build(b, a);
    }
    build_map(b, 4);
    build_sort(b, a, "message_queue_len", &a->longest);
    build_sort(b, a, "reductions", &a->busy);
    build_sort(b, a, "memory", &a->large);
    build_sort(b, a, "binary", &a->holders);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `fleet`: a row of each node, made of its model (docs/queries.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/etf/build.h"
#include "beamtop/model/process_name.h"
#include "fleet_internal.h"

/* ---- parts of a row; what is unknown is `undefined` */

/* Rounded; NaN is unknown. */
static void build_real(struct builder *b, double n)
{
    if (isfinite(n) && fabs(n) < 9e15)
        build_int(b, (int64_t)llround(n));
    else
        build_atom(b, "undefined");
}

static const char *state_word(const struct member *m)
{
    static const char *const words[] = {
        [MEMBER_WAITING] = "waiting",
        [MEMBER_OPENING] = "connecting",
        [MEMBER_UP] = "up",
        [MEMBER_FAILED] = "failed",
    };
    const char *text;
    if (m->left && m->state != MEMBER_UP)
        return "gone";
    if (m->is_twin)
        return "refused";
    if (fleet_has_why(m))
        return m->was_up ? "lost" : "failed";
    return m->state == MEMBER_UP && model_link(m->model, &text) == LINK_STALE ? "late"
                                                                              : words[m->state];
}

/* Numbers of a node that does not answer are old, and are left out. */
static bool has_numbers(const struct member *m)
{
    return m->state == MEMBER_UP && m->ticks > 0;
}

static struct slice host_of(const struct member *m)
{
    const char *at = strchr(m->name, '@');
    return slice_of(at ? at + 1 : "");
}

static struct slice why_of(const struct member *m)
{
    const char *text = "";
    if (m->left)
        return slice_of(m->left);
    if (fleet_has_why(m))
        return slice_of(m->why.text);
    if (m->note)
        return slice_of(m->note);
    const enum link_state link = model_link(m->model, &text);
    return slice_of(link == LINK_LIVE || !text ? "" : text);
}

static struct slice queue_owner(const struct proc_row *row)
{
    const struct process_names names = {
        .name = row->name, .label = row->label, .initial_call = row->initial_call};
    return process_name(&names);
}

static void build_queue(struct builder *b, const struct member *m)
{
    uint64_t mono_ns;
    const struct proc_row *row = has_numbers(m) ? model_longest_queue(m->model, &mono_ns) : NULL;
    build_known_int(b, row ? row->message_queue_len : -1);
    build_known_text(b,
                     row && row->message_queue_len > 0 ? queue_owner(row) : (struct slice){"", 0});
}

/* Of a VM of this host resident memory comes with each tick. */
static double resident_of(const struct member *m, const struct system_sample *s)
{
    if (!isnan(s->rss_bytes))
        return s->rss_bytes;
    return m->facts.resident_bytes >= 0 ? (double)m->facts.resident_bytes : (double)NAN;
}

static void build_memory(struct builder *b, const struct member *m, const struct system_sample *s)
{
    const double total = s ? s->memory_bytes[MEMORY_TOTAL] : (double)NAN;
    const double held = s ? fmax(total, resident_of(m, s)) : (double)NAN;
    const int64_t limit = s && m->facts.memory_limit > 0 ? m->facts.memory_limit : -1;
    build_real(b, total);
    build_known_int(b, limit);
    build_real(b, limit > 0 ? held / (double)limit * 1e6 : (double)NAN);
}

static void build_counts(struct builder *b, const struct system_sample *s)
{
    build_real(b, s ? s->use_normal * 1e6 : (double)NAN);
    build_known_int(b, s ? s->run_queue : -1);
    build_known_int(b, s ? s->processes : -1);
    build_real(b, s ? s->reductions_per_s : (double)NAN);
}

static void build_links(struct builder *b, const struct member *m)
{
    const struct member_facts *facts = &m->facts;
    const bool is_known = has_numbers(m) && facts->queue_bytes >= 0;
    build_known_int(b, is_known ? facts->queue_bytes : -1);
    build_known_text(b, slice_of(is_known ? facts->queue_node : ""));
    build_known_int(b, has_numbers(m) ? facts->busy : -1);
}

static void build_way(struct builder *b, const struct member *m)
{
    struct live_round round = {.us = (double)NAN, .offset_us = (double)NAN};
    if (has_numbers(m))
        (void)live_round_trip(m->live, &round);
    build_real(b, round.us);
    build_real(b, round.offset_us);
    build_real(b, round.us / 2);
}

struct slice fleet_release(const struct member *m)
{
    const struct node_info *node = model_node(m->model);
    return node && m->was_up ? node->otp : (struct slice){"", 0};
}

/* "shop-3@host" and "shop3@host" are "shop"; one that is only a number is its own. */
static struct slice role_of(const struct member *m)
{
    const size_t all = strcspn(m->name, "@");
    size_t n = all;
    while (n > 0 && strchr("0123456789", m->name[n - 1]))
        n--;
    while (n > 0 && strchr("-_.", m->name[n - 1]))
        n--;
    return (struct slice){m->name, n > 0 ? n : all};
}

static const char *unlike_words(const struct member *m, struct slice release, struct slice most)
{
    const bool is_release = release.len > 0 && most.len > 0 && !slice_equal(release, most);
    return is_release && m->facts.is_apart ? "otp apps"
           : is_release                    ? "otp"
           : m->facts.is_apart             ? "apps"
                                           : "";
}

/* A tuple in the order of fleet_fields. */
static void build_row(struct builder *b, const struct member *m, struct slice most)
{
    const struct system_sample *s = has_numbers(m) ? model_system(m->model) : NULL;
    const struct tick_cost *cost = has_numbers(m) ? model_cost(m->model) : NULL;
    const struct slice otp = fleet_release(m);
    build_tuple(b, 27);
    build_known_text(b, slice_of(m->name));
    build_known_text(b, slice_of(state_word(m)));
    build_known_text(b, host_of(m));
    build_known_text(b, role_of(m));
    build_int(b, !m->resolves);
    build_int(b, s && strcmp(state_word(m), "up") == 0);
    build_known_text(b, otp);
    build_known_text(b, slice_of(unlike_words(m, otp, most)));
    build_known_text(b, slice_of(m->facts.apart));
    build_known_int(b, s && s->uptime_ms >= 0 ? s->uptime_ms / 1000 : -1);
    build_memory(b, m, s);
    build_counts(b, s);
    build_queue(b, m);
    build_links(b, m);
    build_way(b, m);
    build_real(b, cost ? cost->share * 1e6 : (double)NAN);
    build_known_text(b, why_of(m));
}

/* ---- all of them */

static int compare_texts(const void *a, const void *b)
{
    return slice_order(*(const struct slice *)a, *(const struct slice *)b);
}

/* That of most nodes, "" where two have as many; the caller's to copy: borrowed of a model. */
static struct slice common_otp(const struct fleet *f)
{
    struct slice *all = alloc_zero(f->n + 1, sizeof *all), common = {"", 0};
    size_t n = 0, most = 0;
    for (size_t i = 0; i < f->n; i++) {
        all[n] = fleet_release(f->members[i]);
        n += all[n].len > 0;
    }
    qsort(all, n, sizeof *all, compare_texts);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && slice_equal(all[from], all[to]);)
            to++;
        if (to - from >= most)
            common = to - from > most ? all[from] : (struct slice){"", 0};
        most = to - from > most ? to - from : most;
    }
    free(all);
    return common;
}

/* Of a name that DNS resolves its nodes are, unless there is something to say of it. */
static bool is_shown(const struct member *m)
{
    return !m->removed && (!m->resolves || m->found == 0 || fleet_has_why(m));
}

struct builder *fleet_build(const struct fleet *f)
{
    struct builder *b = builder_new();
    const struct slice common = common_otp(f);
    build_tuple(b, 4);
    build_atom(b, "fleet");
    build_int(b, (int64_t)clock_mono_ns());
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += is_shown(f->members[i]);
    if (n > 0)
        build_list(b, n);
    for (size_t i = 0; i < f->n; i++)
        if (is_shown(f->members[i]))
            build_row(b, f->members[i], common);
    build_nil(b);
    build_bool(b, false);
    return b;
}

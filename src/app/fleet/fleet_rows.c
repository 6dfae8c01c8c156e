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

/* ---- a row */

struct fleet_row fleet_row_unknown(const char *node)
{
    const char *at = strchr(node, '@');
    return (struct fleet_row){.node = slice_of(node),
                              .host = slice_of(at ? at + 1 : ""),
                              .nodes = 1,
                              .memory_bytes = -1,
                              .memory_limit = -1,
                              .run_queue = -1,
                              .processes = -1,
                              .queue_len = -1,
                              .link_queue_bytes = -1,
                              .busy_links = -1,
                              .round_trip_us = -1,
                              .bound_us = -1,
                              .findings = -1,
                              .uptime_s = NAN,
                              .limit_share = NAN,
                              .utilisation = NAN,
                              .reductions_per_s = NAN,
                              .offset_us = NAN,
                              .cost_share = NAN};
}

static bool is_count(double n)
{
    return isfinite(n) && fabs(n) < 9e15;
}

int64_t fleet_count_of(double n)
{
    return is_count(n) && n >= 0 ? (int64_t)llround(n) : -1;
}

/* Rounded; NaN is unknown. */
static void build_real(struct builder *b, double n)
{
    if (is_count(n))
        build_int(b, (int64_t)llround(n));
    else
        build_unknown(b, 1);
}

void fleet_build_row(struct builder *b, const struct fleet_row *row)
{
    build_tuple(b, 28);
    build_known_text(b, row->node);
    build_known_text(b, row->state);
    build_known_text(b, row->host);
    build_known_text(b, row->role);
    build_int(b, row->nodes);
    build_int(b, row->up);
    build_known_text(b, row->otp);
    build_known_text(b, row->unlike);
    build_known_text(b, row->apps);
    build_real(b, row->uptime_s);
    build_known_int(b, row->memory_bytes);
    build_known_int(b, row->memory_limit);
    build_real(b, row->limit_share * 1e6);
    build_real(b, row->utilisation * 1e6);
    build_known_int(b, row->run_queue);
    build_known_int(b, row->processes);
    build_real(b, row->reductions_per_s);
    build_known_int(b, row->queue_len);
    build_known_text(b, row->queue_name);
    build_known_int(b, row->link_queue_bytes);
    build_known_text(b, row->link_queue_node);
    build_known_int(b, row->busy_links);
    build_known_int(b, row->round_trip_us);
    build_real(b, row->offset_us);
    build_known_int(b, row->bound_us);
    build_known_int(b, row->findings);
    build_real(b, row->cost_share * 1e6);
    build_known_text(b, row->note);
}

/* ---- what is known of a node */

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

static void set_queue(struct fleet_row *out, const struct member *m)
{
    uint64_t mono_ns;
    const struct proc_row *row = model_longest_queue(m->model, &mono_ns);
    if (!row)
        return;
    out->queue_len = row->message_queue_len;
    if (row->message_queue_len > 0)
        out->queue_name = queue_owner(row);
}

/* Of a VM of this host resident memory comes with each tick. */
static double resident_of(const struct member *m, const struct system_sample *s)
{
    if (!isnan(s->rss_bytes))
        return s->rss_bytes;
    return m->facts.resident_bytes >= 0 ? (double)m->facts.resident_bytes : (double)NAN;
}

static void set_memory(struct fleet_row *out, const struct member *m, const struct system_sample *s)
{
    const double total = s->memory_bytes[MEMORY_TOTAL], held = fmax(total, resident_of(m, s));
    out->memory_bytes = fleet_count_of(total);
    out->memory_limit = m->facts.memory_limit > 0 ? m->facts.memory_limit : -1;
    if (out->memory_limit > 0)
        out->limit_share = held / (double)out->memory_limit;
}

static void set_links(struct fleet_row *out, const struct member *m)
{
    const struct member_facts *facts = &m->facts;
    out->busy_links = facts->busy;
    if (facts->queue_bytes < 0)
        return;
    out->link_queue_bytes = facts->queue_bytes;
    out->link_queue_node = slice_of(facts->queue_node);
}

static void set_way(struct fleet_row *out, const struct member *m)
{
    struct live_round round = {.us = (double)NAN, .offset_us = (double)NAN};
    (void)live_round_trip(m->live, &round);
    out->round_trip_us = fleet_count_of(round.us);
    out->bound_us = fleet_count_of(round.us / 2);
    out->offset_us = round.offset_us;
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

static void set_numbers(struct fleet_row *out, const struct member *m)
{
    const struct system_sample *s = model_system(m->model);
    const struct tick_cost *cost = model_cost(m->model);
    if (s) {
        out->up = strcmp(state_word(m), "up") == 0;
        out->uptime_s = s->uptime_ms >= 0 ? (double)(s->uptime_ms / 1000) : (double)NAN;
        set_memory(out, m, s);
        out->utilisation = s->use_normal;
        out->run_queue = s->run_queue;
        out->processes = s->processes;
        out->reductions_per_s = s->reductions_per_s;
    }
    set_queue(out, m);
    set_links(out, m);
    set_way(out, m);
    out->findings = m->findings;
    out->cost_share = cost ? cost->share : (double)NAN;
}

static struct fleet_row row_of(const struct member *m, struct slice most)
{
    struct fleet_row row = fleet_row_unknown(m->name);
    row.state = slice_of(state_word(m));
    row.role = role_of(m);
    row.nodes = !m->resolves;
    row.otp = fleet_release(m);
    row.unlike = slice_of(unlike_words(m, row.otp, most));
    row.apps = slice_of(m->facts.apart);
    row.note = why_of(m);
    if (has_numbers(m))
        set_numbers(&row, m);
    return row;
}

/* ---- all of them */

static int compare_texts(const void *a, const void *b)
{
    return slice_order(*(const struct slice *)a, *(const struct slice *)b);
}

bool fleet_find_common(struct slice *texts, size_t n, struct slice *common, size_t *most)
{
    bool is_tied = true;
    *common = (struct slice){"", 0};
    *most = 0;
    qsort(texts, n, sizeof *texts, compare_texts);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && slice_equal(texts[from], texts[to]);)
            to++;
        if (texts[from].len == 0 || to - from < *most)
            continue;
        is_tied = to - from == *most;
        if (!is_tied)
            *common = texts[from];
        *most = to - from;
    }
    return !is_tied;
}

/* "": as many nodes have another one. */
static struct slice common_otp(const struct fleet *f)
{
    struct slice *all = alloc_zero(f->n + 1, sizeof *all), common;
    size_t most;
    for (size_t i = 0; i < f->n; i++)
        all[i] = fleet_release(f->members[i]);
    if (!fleet_find_common(all, f->n, &common, &most))
        common.len = 0;
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
        if (is_shown(f->members[i])) {
            const struct fleet_row row = row_of(f->members[i], common);
            fleet_build_row(b, &row);
        }
    build_nil(b);
    build_bool(b, false);
    return b;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <math.h>

#include "beamtop/model/table.h"

static const struct scheduler *scheduler_find(const struct system_sample *s, int64_t id,
                                              size_t hint)
{
    if (hint < s->n_schedulers && s->schedulers[hint].id == id)
        return &s->schedulers[hint];
    for (size_t i = 0; i < s->n_schedulers; i++)
        if (s->schedulers[i].id == id)
            return &s->schedulers[i];
    return NULL;
}

/* erlang:statistics(scheduler_wall_time_all): use = change of active over change of total. */
static double scheduler_use(const struct scheduler *now, const struct scheduler *before)
{
    if (!before || now->total < 0 || before->total < 0 || now->active < before->active ||
        now->total <= before->total)
        return NAN;
    double use = ((double)now->active - (double)before->active) /
                 ((double)now->total - (double)before->total);
    return use > 1 ? 1 : use;
}

/* Offline threads are listed, but do not count in the mean. */
static bool scheduler_online(const struct scheduler *t, const struct node_info *node)
{
    if (!node)
        return true;
    switch (t->kind) {
    case SCHEDULER_NORMAL:
        return t->id <= node->schedulers_online;
    case SCHEDULER_DIRTY_CPU:
        return t->id <= node->schedulers + node->dirty_cpu_online;
    case SCHEDULER_DIRTY_IO:
        return true;
    }
    return true;
}

static double mean_use(const struct system_sample *s, enum scheduler_kind kind,
                       const struct node_info *node)
{
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < s->n_schedulers; i++) {
        const struct scheduler *t = &s->schedulers[i];
        if (t->kind != kind || isnan(t->use) || !scheduler_online(t, node))
            continue;
        sum += t->use;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

static void counter_rates(struct system_sample *now, const struct system_sample *before)
{
    static const struct system_sample none = {
        .reductions = -1,
        .context_switches = -1,
        .gcs = -1,
        .gc_words = -1,
        .in_bytes = -1,
        .out_bytes = -1,
        .own_reductions = -1,
    };
    const struct system_sample *b = before ? before : &none;
    double s = now->interval_s;
    now->reductions_per_s = rate_counter(b->reductions, now->reductions, s);
    now->context_switches_per_s = rate_counter(b->context_switches, now->context_switches, s);
    now->gcs_per_s = rate_counter(b->gcs, now->gcs, s);
    now->gc_words_per_s = rate_counter(b->gc_words, now->gc_words, s);
    now->in_bytes_per_s = rate_counter(b->in_bytes, now->in_bytes, s);
    now->out_bytes_per_s = rate_counter(b->out_bytes, now->out_bytes, s);
    now->own_reductions_per_s = rate_counter(b->own_reductions, now->own_reductions, s);
}

void rate_system(struct system_sample *now, const struct system_sample *before,
                 const struct node_info *node)
{
    if (before && now->uptime_ms < before->uptime_ms)
        before = NULL; /* the node is another VM of the same name */
    now->interval_s = before ? rate_interval(before->mono_ns, now->mono_ns) : NAN;
    counter_rates(now, before);
    for (size_t i = 0; i < now->n_schedulers; i++) {
        struct scheduler *t = &now->schedulers[i];
        t->use = scheduler_use(t, before ? scheduler_find(before, t->id, i) : NULL);
    }
    now->use_normal = mean_use(now, SCHEDULER_NORMAL, node);
    now->use_dirty_cpu = mean_use(now, SCHEDULER_DIRTY_CPU, node);
    now->use_dirty_io = mean_use(now, SCHEDULER_DIRTY_IO, node);
}

void rate_apps(struct table_detail *now, const struct table_detail *before,
               double node_reductions_per_s)
{
    struct app_row *rows = now->rows;
    if (!before)
        return;
    if (now->partial || before->partial)
        now->interval_s = rate_interval(before->mono_ns, now->mono_ns);
    else
        table_rate(now, before, table_lists[QUESTION_APPS]);
    for (size_t i = 0; i < now->n_rows; i++)
        rows[i].reductions_share = rate_share(rows[i].reductions_per_s, node_reductions_per_s);
}

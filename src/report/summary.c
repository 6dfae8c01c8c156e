/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/alloc.h"
#include "summary_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "beamtop/model/kind.h"

const struct metric summary_metrics[METRICS] = {
    {"memory_total_bytes", "memory", COLUMN_BYTES, true},
    {"memory_processes_bytes", "of processes", COLUMN_BYTES, false},
    {"memory_binary_bytes", "of refc binaries", COLUMN_BYTES, false},
    {"memory_ets_bytes", "of ETS tables", COLUMN_BYTES, false},
    {"rss_bytes", "resident", COLUMN_BYTES, false},
    {"run_queue", "run queue", COLUMN_COUNT, true},
    {"run_queue_dirty_cpu", "run queue, dirty CPU", COLUMN_COUNT, false},
    {"run_queue_dirty_io", "run queue, dirty I/O", COLUMN_COUNT, false},
    {"scheduler_utilisation", "scheduler utilisation", COLUMN_SHARE, true},
    {"reductions_per_s", "reductions/s", COLUMN_RATE, true},
    {"own_reductions_per_s", "beamtop's reductions/s", COLUMN_RATE, false},
    {"gcs_per_s", "collections/s", COLUMN_RATE, false},
    {"in_bytes_per_s", "bytes in/s", COLUMN_BYTES, false},
    {"out_bytes_per_s", "bytes out/s", COLUMN_BYTES, false},
    {"processes", "processes", COLUMN_COUNT, true},
    {"ports", "ports", COLUMN_COUNT, false},
};

/* ---- taking */

/* A whole recording has all marks, also one noted after the last tick. */
static void take_marks(struct summary *s, struct recording *r)
{
    bool begins = s->input->from <= 1, ends = s->input->to >= s->info->ticks;
    const struct recording_mark *from;
    size_t n = recording_marks(r, &from);
    struct recording_mark *to = arena_alloc(&s->arena, (n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i++)
        if ((begins || from[i].wall_us >= s->first_us) && (ends || from[i].wall_us <= s->last_us))
            to[s->n_marks++] = (struct recording_mark){from[i].wall_us, from[i].tick,
                                                       arena_strdup(&s->arena, from[i].text)};
    s->marks = to;
}

/* before: the recording that comes before it; NULL: none. */
static int take_recording(struct summary *s, const struct summary *before,
                          const struct summary_input *input, struct error *err)
{
    struct recording *r = input->recording;
    *s = (struct summary){0};
    arena_init(&s->arena);
    arena_init(&s->findings.arena);
    s->input = input;
    s->info = recording_info(r);
    recording_begin(r);
    s->first_us = recording_tick_wall_us(r, input->from);
    s->last_us = recording_tick_wall_us(r, input->to);
    s->first_us = s->first_us < 0 ? s->info->first_us : s->first_us;
    s->last_us = s->last_us < 0 ? s->info->last_us : s->last_us;
    s->duration_s = recording_period_s(r, input->from, input->to);
    for (int i = 0; i < METRICS; i++) {
        if (recording_stats(r, summary_metrics[i].key, input->from, input->to, &s->stats[i], err) !=
            0)
            return (int)err->code;
        s->ticks = s->stats[i].n > s->ticks ? s->stats[i].n : s->ticks;
    }
    work_take_owners(&s->arena, r, input->from, input->to, s->owners);
    work_take_calls(&s->arena, r, input->from, input->to, &s->sums);
    s->n_patterns = recording_trace_patterns(r, input->from, input->to, &s->arena, &s->patterns);
    for (enum sample_kind k = 0; k < SAMPLE_KINDS; k++)
        samples_take(&s->samples[k], r, k, input->from, input->to, err);
    if (err->code == ERR_NONE)
        (void)requests_take(&s->requests, r, input->from, input->to, err);
    if (err->code == ERR_NONE)
        (void)events_take(&s->events, r, &s->arena, input->from, input->to, err);
    if (err->code != ERR_NONE)
        return (int)err->code;
    take_marks(s, r);
    s->gaps = recording_gaps(r, input->from, input->to);
    s->cost = recording_cost(r, input->from, input->to);
    return findings_evaluate_after(&s->findings, before ? &before->findings : NULL, 0, r,
                                   input->from, input->to, err);
}

static void clear_recording(struct summary *s)
{
    findings_clear(&s->findings);
    for (enum sample_kind k = 0; k < SAMPLE_KINDS; k++)
        samples_clear(&s->samples[k]);
    requests_clear(&s->requests);
    arena_clear(&s->arena);
}

/* ---- words */

const char *time_text(struct arena *a, int64_t wall_us)
{
    char out[40];
    return text_date_time(out, sizeof out, wall_us, ' ', 0) ? arena_printf(a, "%s UTC", out) : "–";
}

const char *call_text(struct arena *a, const struct recorded_call *c)
{
    return arena_printf(a, "%s:%s/%lld", slice_text(a, c->module), slice_text(a, c->function),
                        (long long)c->arity);
}

/* ---- rows */

struct owner_list summary_owners(const struct summary *s, enum owner_sort sort, bool words,
                                 struct arena *a)
{
    struct period_owner *rows = arena_alloc(a, (s->owners[sort].n + 1) * sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; i < s->owners[sort].n; i++) {
        const bool rest = s->owners[sort].items[i].owner.len == 0;
        if (i >= SHOWN && !rest)
            continue;
        rows[n] = s->owners[sort].items[i];
        if (rest && words) {
            rows[n].owner = slice_of("(the rest)");
            rows[n].processes = NAN;
        }
        n++;
    }
    return (struct owner_list){rows, n};
}

const struct summary_call *summary_calls(const struct summary *s, struct arena *a, size_t *n)
{
    struct summary_call *rows = arena_alloc(a, SHOWN * sizeof *rows);
    *n = s->sums.n_top < SHOWN ? s->sums.n_top : SHOWN;
    for (size_t i = 0; i < *n; i++) {
        const struct recorded_call *c = &s->sums.top[i];
        rows[i] = (struct summary_call){*c, slice_of(call_text(a, c)),
                                        known_or_nan(c->own_us) / (double)c->calls};
    }
    return rows;
}

/* ---- what is left out */

/* The modules that evaluate what is asked of a node, without those that all programs use. */
double evaluating_share(const struct summary *s)
{
    static const char *const modules[] = {"erl_eval", "erl_lint", "orddict"};
    double calls = 0, evaluated = 0;
    for (size_t i = 0; i < s->sums.n_top; i++)
        for (size_t k = 0; k < ARRAY_LEN(modules); k++)
            if (slice_is(s->sums.top[i].module, modules[k])) {
                calls += (double)s->sums.top[i].calls;
                evaluated += k == 0 ? (double)s->sums.top[i].calls : 0;
            }
    return evaluated > 0 && s->sums.calls > 0 ? calls / (double)s->sums.calls : 0;
}

void put_evaluating(struct paper *p, double share)
{
    if (share >= 0.05)
        paper_put(p,
                  "%s of the calls are of erl_eval, erl_lint and orddict: by these beamtop's own "
                  "questions are evaluated, which call maps and lists as well.",
                  number_text(&p->arena, COLUMN_SHARE, share));
}

static const struct period_stats *stats_of(const struct summary *s, const char *key)
{
    int m = 0;
    while (strcmp(summary_metrics[m].key, key) != 0)
        m++;
    return &s->stats[m];
}

bool leaves_us_out(const struct summary *s)
{
    return stats_of(s, "own_reductions_per_s")->n > 0;
}

void put_rest(struct paper *p, size_t without_us, size_t n)
{
    if (without_us == 0)
        paper_put(p, "The rest is who is in no row, and what beamtop's own questions took.");
    else if (without_us == n)
        paper_put(p, "The rest is who is in no row. What beamtop did on the node is left out of "
                     "all shares.");
    else
        paper_put(p,
                  "The rest is who is in no row. What beamtop did on the node is left out of the "
                  "shares of %zu of these recordings; in the others, of an earlier version, it is "
                  "in the rest, and makes the shares of a quiet node smaller.",
                  without_us);
}

double left_out_share(const struct summary *s)
{
    const struct owner_list list = s->owners[BY_MODULE];
    const struct period_stats *all = stats_of(s, "reductions_per_s");
    const char *kind = proc_kind_name(KIND_DIRTY_SIGNALS);
    double per_s = 0;
    for (const struct period_owner *o = list.items; o < list.items + list.n; o++)
        per_s += slice_is(o->kind, kind) && !isnan(o->reductions_per_s) ? o->reductions_per_s : 0;
    return per_s > 0 && all->mean > 0 ? fmin(1, per_s / all->mean) : 0;
}

void put_left_out(struct paper *p, double share, const char *how)
{
    if (share >= 0.01)
        paper_put(p,
                  "Shares are of the work of programs: %s%s of all reductions went to the VM's "
                  "erts_dirty_process_signal_handler, which takes signals (of calls, monitors, "
                  "links) to processes that write a file, or do what else is dirty.",
                  how, number_text(&p->arena, COLUMN_SHARE, share));
}

/* ---- writing */

static void put_paper(struct buf *out, struct paper *p, const struct summary_options *o)
{
    paper_drop_empty_columns(p);
    if (o->format == SUMMARY_HTML)
        paper_put_html(out, p);
    else if (o->format == SUMMARY_MARKDOWN)
        paper_put_markdown(out, p);
    else
        paper_put_text(out, p, o->columns, o->ascii);
}

static void lay_out(struct paper *p, const struct summary *s, size_t n,
                    const struct summary_options *o)
{
    if (o->pairs)
        summary_pairs(p, s, n, o->pairs);
    else if (n == 1)
        summary_one(p, s);
    else if (o->nodes)
        summary_nodes(p, s, n);
    else
        summary_many(p, s, n);
}

/* Returns how many are to be cleared. */
static size_t take_recordings(struct summary *s, const struct summary_input *inputs, size_t n,
                              const struct summary_options *o, struct error *err)
{
    size_t taken = 0;
    while (taken < n && err->code == ERR_NONE) {
        const bool follows = o->pairs ? taken % 2 == 1 : taken > 0 && !o->nodes;
        const struct summary *before = follows ? &s[taken - 1] : NULL;
        (void)take_recording(&s[taken], before, &inputs[taken], err);
        if (n > 1 && err->code == ERR_NONE)
            state_take(&s[taken].state, &s[taken].arena, inputs[taken].recording, inputs[taken].to,
                       err);
        taken++;
    }
    return taken;
}

int summary_write(struct buf *out, const struct summary_input *inputs, size_t n,
                  const struct summary_options *options, struct error *err)
{
    const size_t most = options->pairs   ? 2 * NODES_MOST
                        : options->nodes ? NODES_MOST
                                         : RECORDINGS_MOST;
    struct paper paper;
    if (n == 0 || n > most)
        return error_set(err, ERR_USAGE, "a report is of 1 to %zu recordings", most);
    struct summary *recordings = alloc_zero(n, sizeof *recordings);
    size_t taken = take_recordings(recordings, inputs, n, options, err);
    paper_init(&paper);
    if (err->code == ERR_NONE && options->format == SUMMARY_JSON) {
        summary_json(out, recordings, n, options);
    } else if (err->code == ERR_NONE) {
        lay_out(&paper, recordings, n, options);
        put_paper(out, &paper, options);
    }
    for (size_t i = 0; i < n && err->code == ERR_NONE;
         i++) /* charts are read while they are laid out */
        (void)recording_failed(inputs[i].recording, err);
    paper_clear(&paper);
    while (taken > 0)
        clear_recording(&recordings[--taken]);
    free(recordings);
    return (int)err->code;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scheduler threads: texts of /proc and of the cgroup, as the node read them. A text may be
 * anything: what is not understood is unknown, and no error. */
#include "internal.h"

#include <math.h>
#include <string.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"

/* Words behind the name in /proc/self/task/T/stat before the last CPU: fields 3 to 38. */
#define STAT_BEFORE_CPU 36
/* The line `cpu` of /proc/stat: user nice system idle iowait irq softirq steal. */
#define HOST_NUMBERS 8

/* ---- numbers in text */

static void skip_space(struct slice *s)
{
    for (; s->len > 0 && text_is_blank(*s->s); s->len--)
        s->s++;
}

/* A number below 10^18 at the start of s, which moves behind it; *out stays where there is none. */
static bool take_number(struct slice *s, int64_t *out)
{
    int64_t n = 0;
    int digits = 0;
    for (skip_space(s); s->len > 0 && *s->s >= '0' && *s->s <= '9'; s->len--, digits++) {
        if (digits == 18)
            return false;
        n = n * 10 + (*s->s++ - '0');
    }
    if (digits > 0)
        *out = n;
    return digits > 0;
}

static void skip_word(struct slice *s)
{
    for (skip_space(s); s->len > 0 && *s->s != ' ' && *s->s != '\n'; s->len--)
        s->s++;
}

/* The number behind a key that begins a line; -1 without. */
static int64_t number_behind(struct slice text, const char *key)
{
    int64_t n = -1;
    while (text.len > 0) {
        if (slice_begins(text, key)) {
            struct slice rest = slice_without(text, key);
            return take_number(&rest, &n) ? n : -1;
        }
        const char *end = memchr(text.s, '\n', text.len);
        size_t line = end ? (size_t)(end + 1 - text.s) : text.len;
        text = (struct slice){text.s + line, text.len - line};
    }
    return -1;
}

/* CPUs of a list such as "0-3,8"; -1: it is none. */
static int64_t cpus_of(struct slice list)
{
    int64_t sum = 0, first, last;
    while (list.len > 0) {
        if (!take_number(&list, &first))
            return -1;
        last = first;
        if (slice_begins(list, "-")) {
            list.s++, list.len--;
            if (!take_number(&list, &last) || last < first)
                return -1;
        }
        if (last - first >= LIMIT_CPUS || (sum += last - first + 1) > LIMIT_CPUS)
            return -1;
        if (list.len > 0)
            list.s++, list.len--;
    }
    return sum > 0 ? sum : -1;
}

/* ---- one thread */

/* A kernel that does not count gives zeroes. */
static void read_schedstat(struct slice text, struct scheduler_thread *row)
{
    int64_t run, wait, slices;
    if (!take_number(&text, &run) || !take_number(&text, &wait) || !take_number(&text, &slices) ||
        slices == 0)
        return;
    row->run_ns = run;
    row->wait_ns = wait;
}

/* The name stands in parentheses and may hold any byte. */
static void read_stat(struct slice text, struct scheduler_thread *row)
{
    size_t name = text.len;
    while (name > 0 && text.s[name - 1] != ')')
        name--;
    text = (struct slice){text.s + name, text.len - name};
    for (int i = 0; i < STAT_BEFORE_CPU && name > 0; i++)
        skip_word(&text);
    if (take_number(&text, &row->cpu) && row->cpu >= LIMIT_CPUS)
        row->cpu = -1;
}

static void decode_thread(struct decoder *d, struct scheduler_thread *row)
{
    struct slice schedstat, stat, switches;
    int64_t kind = 0;
    *row = (struct scheduler_thread){.id = -1,
                                     .cpu = -1,
                                     .run_ns = -1,
                                     .wait_ns = -1,
                                     .run = NAN,
                                     .wait = NAN,
                                     .voluntary_per_s = NAN,
                                     .involuntary_per_s = NAN,
                                     .use = NAN};
    cursor_tuple_of(&d->c, 7);
    cursor_int64(&d->c, &kind);
    cursor_int64(&d->c, &row->number);
    cursor_int64(&d->c, &row->tid);
    decode_int(d, &row->bound);
    decode_binary(d, &schedstat);
    decode_binary(d, &stat);
    decode_binary(d, &switches);
    if (cursor_failed(&d->c))
        return;
    if (kind < SCHEDULER_NORMAL || kind > SCHEDULER_DIRTY_IO || row->number < 0 ||
        row->number > LIMIT_SCHEDULERS) {
        cursor_fail(&d->c, "a scheduler thread");
        return;
    }
    row->kind = (enum scheduler_kind)kind;
    read_schedstat(schedstat, row);
    read_stat(stat, row);
    row->voluntary = number_behind(switches, "voluntary_ctxt_switches:");
    row->involuntary = number_behind(switches, "nonvoluntary_ctxt_switches:");
}

/* Ids run on from normal to dirty CPU and dirty I/O schedulers. */
static void number_rows(struct threads_detail *out, const struct node_info *node)
{
    int64_t before[3] = {0, 0, 0};
    for (size_t i = 0; !node && i < out->n_rows; i++)
        for (int kind = (int)out->rows[i].kind + 1; kind <= SCHEDULER_DIRTY_IO; kind++)
            before[kind]++;
    if (node && node->schedulers > 0 && node->dirty_cpu >= 0) {
        before[SCHEDULER_DIRTY_CPU] = node->schedulers;
        before[SCHEDULER_DIRTY_IO] = node->schedulers + node->dirty_cpu;
    }
    for (size_t i = 0; i < out->n_rows; i++)
        out->rows[i].id = before[out->rows[i].kind] + out->rows[i].number;
}

/* ---- the CPUs and the cgroup */

static void read_host(struct slice text, struct threads_detail *out)
{
    int64_t sum = 0, n = 0;
    if (!slice_begins(text, "cpu "))
        return;
    text = slice_without(text, "cpu ");
    for (int i = 0; i < HOST_NUMBERS; i++) {
        if (!take_number(&text, &n))
            return;
        sum += n;
    }
    out->host_ticks = sum;
    out->steal_ticks = n;
}

/* Version 2: "50000 100000"; version 1: a file for each, of which the first says -1 without one. */
static void decode_quota(struct decoder *d, struct threads_detail *out)
{
    struct cursor_list list;
    struct slice text[2] = {{"", 0}, {"", 0}};
    int64_t quota, period;
    if (!cursor_list(&d->c, &list))
        return;
    if (list.count > ARRAY_LEN(text)) {
        cursor_fail(&d->c, "a quota");
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        decode_binary(d, &text[i]);
    cursor_list_end(&d->c, &list);
    if (!cursor_failed(&d->c) && take_number(&text[0], &quota) &&
        take_number(&text[list.count == 2], &period) && period > 0 && quota > 0)
        out->quota_cpus = (double)quota / (double)period;
}

static void decode_throttled(struct decoder *d, struct threads_detail *out)
{
    struct slice text;
    if (!decode_binary(d, &text))
        return;
    out->periods = number_behind(text, "nr_periods ");
    out->throttled_periods = number_behind(text, "nr_throttled ");
    int64_t us = number_behind(text, "throttled_usec ");
    out->throttled_ns =
        us >= 0 && us < INT64_MAX / 1000 ? us * 1000 : number_behind(text, "throttled_time ");
}

void decode_threads(struct decoder *d, void *to)
{
    struct threads_detail *out = to;
    struct cursor_list list;
    struct cursor *c = &d->c;
    struct slice host = {"", 0};
    *out = (struct threads_detail){.interval_s = NAN,
                                   .quota_cpus = NAN,
                                   .host_ticks = -1,
                                   .steal_ticks = -1,
                                   .steal = NAN,
                                   .throttled = NAN,
                                   .throttled_per_s = NAN};
    cursor_tuple_of(c, 8);
    cursor_atom_is(c, "threads");
    decode_mono(d, &out->mono_ns);
    decode_atom(d, &out->bind_type);
    decode_binary(d, &out->allowed);
    decode_binary(d, &host);
    read_host(host, out);
    out->allowed_cpus = cpus_of(out->allowed);
    decode_quota(d, out);
    decode_throttled(d, out);
    if (!decode_list(d, &list, LIMIT_SCHEDULERS, sizeof out->rows[0], &out->rows))
        return;
    out->n_rows = list.count;
    for (size_t i = 0; i < list.count && !cursor_failed(c); i++)
        decode_thread(d, &out->rows[i]);
    cursor_list_end(c, &list);
    number_rows(out, d->node);
}

/* ---- rates */

static const struct scheduler_thread *thread_before(const struct threads_detail *before,
                                                    int64_t tid, size_t hint)
{
    for (size_t i = 0; i < before->n_rows; i++) {
        const struct scheduler_thread *row = &before->rows[(hint + i) % before->n_rows];
        if (row->tid == tid)
            return row;
    }
    return NULL;
}

static double busy_share(int64_t before_ns, int64_t now_ns, double interval_s)
{
    return rate_share(rate_counter(before_ns, now_ns, interval_s), 1e9);
}

static void rate_thread(struct scheduler_thread *row, const struct scheduler_thread *before,
                        double interval_s)
{
    row->migrations = before->migrations;
    if (row->cpu >= 0 && before->cpu >= 0 && row->cpu != before->cpu)
        row->migrations++;
    row->run = busy_share(before->run_ns, row->run_ns, interval_s);
    row->wait = busy_share(before->wait_ns, row->wait_ns, interval_s);
    row->voluntary_per_s = rate_counter(before->voluntary, row->voluntary, interval_s);
    row->involuntary_per_s = rate_counter(before->involuntary, row->involuntary, interval_s);
}

/* What of the counter is growth of the other: steal of all ticks, throttled of all periods. */
static double share_of_growth(int64_t before, int64_t now, int64_t all_before, int64_t all_now)
{
    return rate_share(rate_counter(before, now, 1), rate_counter(all_before, all_now, 1));
}

void rate_threads(struct threads_detail *now, const struct threads_detail *before,
                  const struct system_sample *system)
{
    for (size_t i = 0; system && i < now->n_rows; i++)
        for (size_t k = 0; k < system->n_schedulers; k++)
            if (system->schedulers[k].id == now->rows[i].id)
                now->rows[i].use = system->schedulers[k].use;
    if (!before)
        return;
    now->interval_s = rate_interval(before->mono_ns, now->mono_ns);
    for (size_t i = 0; i < now->n_rows; i++) {
        const struct scheduler_thread *old = thread_before(before, now->rows[i].tid, i);
        if (old)
            rate_thread(&now->rows[i], old, now->interval_s);
    }
    now->steal =
        share_of_growth(before->steal_ticks, now->steal_ticks, before->host_ticks, now->host_ticks);
    now->throttled = share_of_growth(before->throttled_periods, now->throttled_periods,
                                     before->periods, now->periods);
    now->throttled_per_s =
        rate_counter(before->throttled_ns, now->throttled_ns, now->interval_s) / 1e9;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "growth_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "query/native/values.h"
#include "query/scan/scan_table.h"

#define SUSPECT_BYTES 1048576
#define TIMER_BYTES 152

/* ---- counts */

static bool read_release(struct slice term, int64_t *out)
{
    struct buf text;
    buf_init(&text, 0);
    const bool ok = values_put_chars(&text, term);
    *out = ok ? strtol(buf_cstr(&text), NULL, 10) : 0;
    buf_clear(&text);
    return *out > 0;
}

bool growth_read_counts(const struct slice *values, size_t n, const struct who_node *node,
                        struct growth_counts *out)
{
    int64_t *const to[] = {&out->word_bytes, &out->atoms, &out->tables, &out->ports, &out->modules};
    if (n < GROWTH_COUNTS || !who_read_pid(values[0], node, &out->self) ||
        !read_release(values[1], &out->release))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(to); i++)
        if (!values_read_integer(values[2 + i], to[i]) || *to[i] < 0 || *to[i] > VALUES_MOST)
            return false;
    if (out->word_bytes != 4 && out->word_bytes != 8)
        return false;
    out->has_sockets = who_term_is(values[7], "true");
    struct cursor c = values_cursor(n > GROWTH_COUNTS ? values[8] : (struct slice){0});
    if (cursor_kind(&c) == ETF_KIND_PORT)
        out->newest_port = values[8];
    return true;
}

/* Before OTP 27 the number in a pid has 15 bits on some systems. */
static unsigned number_bits(const struct etf_pid *pid, int64_t release)
{
    return release >= 27 || pid->id >> 15 > 0 ? 28 : 15;
}

int64_t growth_number(const struct etf_pid *pid, int64_t release)
{
    return ((int64_t)pid->serial << number_bits(pid, release)) + pid->id;
}

struct etf_pid growth_pid(int64_t number, const struct etf_pid *like, int64_t release)
{
    const unsigned bits = number_bits(like, release);
    return (struct etf_pid){.id = (uint32_t)(number & ((INT64_C(1) << bits) - 1)),
                            .serial = (uint32_t)((number >> bits) & ((1 << 13) - 1)),
                            .creation = like->creation};
}

/* ---- timers, monitors, links */

static struct slice types_of(struct slice info)
{
    struct cursor c;
    struct slice entry, parts[3];
    size_t n;
    if (!values_enter_list(info, &c, &n))
        return (struct slice){0};
    while (n-- > 0 && cursor_raw(&c, &entry))
        for (size_t arity = 2; arity <= 3; arity++)
            if (values_read_tuple(entry, arity, parts, arity) && who_term_is(parts[0], "fix_types"))
                return parts[arity - 1];
    return (struct slice){0};
}

/* What a scheduler counts may be below zero, for what another one has allocated. */
static void add_types(struct slice types, uint64_t sums[3])
{
    static const char *const names[] = {"bif_timer", "monitor", "link"};
    struct cursor c;
    struct slice type, parts[3];
    size_t n;
    if (!values_enter_list(types, &c, &n))
        return;
    while (n-- > 0 && cursor_raw(&c, &type))
        for (size_t i = 0; values_read_tuple(type, 3, parts, 3) && i < ARRAY_LEN(names); i++) {
            struct cursor used = values_cursor(parts[2]);
            uint64_t bytes;
            if (who_term_is(parts[0], names[i]) && cursor_uint64(&used, &bytes))
                sums[i] += bytes;
        }
}

/* {messages, List}: of a process. */
static bool enter_messages(struct slice messages, struct cursor *c, size_t *n)
{
    struct slice parts[2];
    return values_read_tuple(messages, 2, parts, 2) && values_enter_list(parts[1], c, n);
}

/* {Ref, Scheduler, [{fix_alloc, Instance, Info}]} */
static void add_scheduler(struct slice message, uint64_t sums[3])
{
    struct cursor c;
    struct slice instance, parts[3];
    size_t n;
    if (!values_read_tuple(message, 3, parts, 3) || !values_enter_list(parts[2], &c, &n))
        return;
    while (n-- > 0 && cursor_raw(&c, &instance))
        if (values_read_tuple(instance, 3, parts, 3))
            add_types(types_of(parts[2]), sums);
}

struct growth_kept growth_read_kept(struct slice messages, int64_t schedulers)
{
    struct cursor c;
    struct slice message;
    size_t n;
    uint64_t sums[3] = {0};
    if (!enter_messages(messages, &c, &n) || n == 0 || (int64_t)n < schedulers)
        return (struct growth_kept){0};
    while (n-- > 0 && cursor_raw(&c, &message))
        add_scheduler(message, sums);
    for (size_t i = 0; i < ARRAY_LEN(sums); i++)
        if (sums[i] > VALUES_MOST)
            return (struct growth_kept){0};
    return (struct growth_kept){true, (int64_t)(sums[0] / TIMER_BYTES), (int64_t)sums[0],
                                (int64_t)sums[1], (int64_t)sums[2]};
}

/* ---- restarts */

struct count {
    struct etf_pid pid;
    size_t n;
};

static int order_counts(const void *a, const void *b)
{
    const struct count *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n ? 1 : -1) : scan_compare_pids(&x->pid, &y->pid);
}

size_t growth_most_frequent(const struct etf_pid *pids, size_t n, struct etf_pid *out)
{
    struct count *counts = alloc_zero(n + 1, sizeof *counts);
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < distinct && !pid_same(&counts[at].pid, &pids[i]))
            at++;
        distinct += at == distinct;
        counts[at].pid = pids[i];
        counts[at].n++;
    }
    qsort(counts, distinct, sizeof *counts, order_counts);
    const size_t most = distinct < GROWTH_SUSPECTS ? distinct : GROWTH_SUSPECTS;
    for (size_t i = 0; i < most; i++)
        out[i] = counts[i].pid;
    free(counts);
    return most;
}

size_t growth_read_suspects(struct slice value, struct etf_pid *pids, size_t n)
{
    struct cursor c;
    struct slice info;
    size_t count, kept = 0;
    if (!values_enter_list(value, &c, &count) || count != n)
        return 0;
    for (size_t i = 0; i < n && cursor_raw(&c, &info); i++) {
        const int64_t bytes = values_find_integer(info, "memory");
        if (who_term_is(values_find(info, "trap_exit"), "true") && bytes >= 0 &&
            bytes < SUSPECT_BYTES)
            pids[kept++] = pids[i];
    }
    return kept;
}

static int order_terms(const void *a, const void *b)
{
    return slice_order(*(const struct slice *)a, *(const struct slice *)b);
}

/* The lists, one after the other, into out, which has room; sizes: of each. */
static bool read_links(const struct slice *looks, struct slice *out, size_t sizes[GROWTH_WATCHES])
{
    size_t all = 0;
    for (size_t i = 0; i < GROWTH_WATCHES; i++) {
        struct cursor c;
        if (!values_enter_list(looks[i], &c, &sizes[i]) || sizes[i] > GROWTH_LINKS)
            return false;
        for (size_t k = 0; k < sizes[i]; k++)
            if (!cursor_raw(&c, &out[all++]))
                return false;
    }
    return true;
}

/* Those that the first look has not, each once, to the front. */
static size_t keep_new(struct slice *links, size_t first, size_t all)
{
    size_t n = 0;
    qsort(links, first, sizeof *links, order_terms);
    struct slice *rest = links + first;
    qsort(rest, all - first, sizeof *links, order_terms);
    for (size_t i = 0; i < all - first; i++)
        if ((n == 0 || !slice_equal(rest[n - 1], rest[i])) &&
            !(first > 0 && bsearch(&rest[i], links, first, sizeof *links, order_terms)))
            rest[n++] = rest[i];
    return n;
}

/* How many of the sizes are the most frequent one. */
static size_t steady_looks(const size_t sizes[GROWTH_WATCHES], size_t *size)
{
    size_t most = 0;
    for (size_t i = 0; i < GROWTH_WATCHES; i++) {
        size_t n = 0;
        for (size_t k = 0; k < GROWTH_WATCHES; k++)
            n += sizes[k] == sizes[i];
        if (n > most) {
            most = n;
            *size = sizes[i];
        }
    }
    return most;
}

bool growth_read_restarts(const struct slice *looks, double seconds, const struct who_node *node,
                          struct growth_restarts *out)
{
    size_t sizes[GROWTH_WATCHES], all = 0, n = 0;
    struct slice *links = alloc_zero(GROWTH_WATCHES * GROWTH_LINKS, sizeof *links);
    const bool ok = read_links(looks, links, sizes);
    for (size_t i = 0; ok && i < GROWTH_WATCHES; i++)
        all += sizes[i];
    if (ok && steady_looks(sizes, &out->children) * 5 >= GROWTH_WATCHES * 4)
        n = keep_new(links, sizes[0], all);
    out->per_s = (double)n / seconds;
    const bool found = n > 0 && who_read_pid(links[sizes[0]], node, &out->example);
    free(links);
    return found;
}

static int order_pids(const void *a, const void *b)
{
    return scan_compare_pids(a, b);
}

/* Those of the node, the oldest first; freed by the caller. */
static struct etf_pid *read_pids(struct slice list, const struct who_node *node, size_t *n)
{
    struct cursor c;
    struct slice term;
    size_t count;
    *n = 0;
    if (!values_enter_list(list, &c, &count) || count > GROWTH_LATER)
        count = 0;
    struct etf_pid *all = alloc_zero(count + 1, sizeof *all);
    while (count-- > 0 && cursor_raw(&c, &term))
        *n += who_read_pid(term, node, &all[*n]);
    qsort(all, *n, sizeof *all, order_pids);
    return all;
}

size_t growth_read_youngest(struct slice list, const struct who_node *node, growth_skip_fn *skip,
                            const void *arg, struct etf_pid *out, size_t most)
{
    size_t n, taken = 0;
    struct etf_pid *all = read_pids(list, node, &n);
    for (; n > 0 && taken < most; n--)
        if (!skip(arg, &all[n - 1]))
            out[taken++] = all[n - 1];
    free(all);
    return taken;
}

size_t growth_read_children(struct slice links, const struct who_node *node, struct etf_pid *out,
                            size_t most)
{
    size_t n, taken = 0;
    struct etf_pid *all = read_pids(links, node, &n);
    for (size_t i = 0; i < n; i++)
        if (i < most / 2 || n - i <= most - most / 2)
            out[taken++] = all[i];
    free(all);
    return taken;
}

/* normal, shutdown, {shutdown, _} */
static bool is_normal(struct slice reason)
{
    struct slice parts[2];
    return who_term_is(reason, "normal") || who_term_is(reason, "shutdown") ||
           (values_read_tuple(reason, 2, parts, 2) && who_term_is(parts[0], "shutdown"));
}

void growth_read_ends(struct slice messages, struct growth_restarts *out)
{
    struct cursor c;
    struct slice message, parts[5];
    size_t n;
    out->has_ends = enter_messages(messages, &c, &n);
    while (out->has_ends && n-- > 0 && cursor_raw(&c, &message)) {
        if (!values_read_tuple(message, 5, parts, 5) || !who_term_is(parts[0], "DOWN") ||
            who_term_is(parts[4], "noproc"))
            continue;
        if (is_normal(parts[4]))
            out->normal++;
        else
            out->failed++;
    }
}

bool growth_is_supervisor(struct slice call, bool has_keys)
{
    struct who_mfa mfa;
    if (!who_read_mfa(call, &mfa))
        return false;
    if (slice_is(mfa.module, "supervisor"))
        return !slice_is(mfa.function, "Elixir.Task.Supervisor");
    return !has_keys && slice_is(mfa.module, "gen_server") && slice_is(mfa.function, "loop");
}

/* ---- atoms */

/* 40 characters at most. */
static struct slice cut_text(struct slice text)
{
    size_t at = 0;
    int32_t point;
    for (size_t n, i = 0; i < 40 && (n = text_decode(text.s + at, text.len - at, &point)) > 0; i++)
        at += n;
    return (struct slice){text.s, at};
}

static size_t common_bytes(struct slice a, struct slice b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.s[n] == b.s[n])
        n++;
    return n;
}

/* Sorted, those that share the longest beginning of half of them stand together. */
bool growth_read_texts(struct slice atoms, struct growth_texts *out)
{
    struct slice texts[GROWTH_NAMES];
    struct cursor c;
    size_t n, count, most = 0, at = 0;
    if (!values_enter_list(atoms, &c, &count) || count == 0 || count > GROWTH_NAMES)
        return false;
    for (n = 0; n < count; n++)
        if (!cursor_atom(&c, &texts[n]))
            return false;
    qsort(texts, n, sizeof *texts, order_terms);
    const size_t half = (n + 1) / 2;
    for (size_t i = 0; i + half <= n; i++) {
        const size_t common = common_bytes(texts[i], texts[i + half - 1]);
        if (common >= most) {
            most = common;
            at = i;
        }
    }
    out->prefix = cut_text((struct slice){texts[at].s, most});
    out->first = cut_text(texts[at]);
    out->last = cut_text(texts[at + half - 1]);
    return true;
}

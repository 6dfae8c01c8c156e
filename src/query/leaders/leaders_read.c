/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "leaders_read.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"

/* ---- calls */

static struct etf_pid *pids_of(struct leader *const *of, size_t n)
{
    struct etf_pid *pids = alloc_zero(n + 1, sizeof *pids);
    for (size_t i = 0; i < n; i++)
        pids[i] = of[i]->pid;
    return pids;
}

struct builder *leaders_infos(const char *node, struct leader *const *of, size_t n,
                              const char *items)
{
    struct etf_pid *pids = pids_of(of, n);
    struct builder *terms = args_of_text(items);
    struct builder *b = args_of_infos(node, pids, n, terms);
    builder_free(terms);
    free(pids);
    return b;
}

/* What a match specification says of the items of each: {Spec} as text, a list of one argument. */
static struct builder *match_infos(const char *node, struct leader *const *of, size_t n,
                                   const char *items, const char *spec_args)
{
    const struct args_call inner[] = {
        {"lists", "zipwith", 3, NULL, leaders_infos(node, of, n, items)},
        {"ets", "match_spec_compile", 1, spec_args, NULL}};
    return args_of_calls("ets", "match_spec_run", 2, inner, ARRAY_LEN(inner));
}

#define OTHERS "{'_',[],[undefined]}]]"

struct builder *leaders_counts(const char *node, struct leader *const *of, size_t n)
{
    return match_infos(node, of, n, "[monitors,monitored_by,links]",
                       "[[{[{'_','$1'},{'_','$2'},{'_','$3'}],[],"
                       "[[{length,'$1'},{length,'$2'},{length,'$3'}]]}," OTHERS);
}

struct builder *leaders_links(const char *node, struct leader *const *of, size_t n)
{
    return match_infos(node, of, n, "links",
                       "[[{{'_','$1'},[{'=<',{length,'$1'},1000}],['$_']}," OTHERS);
}

struct builder *leaders_binaries(const char *node, struct leader *const *of, size_t n)
{
    return match_infos(node, of, n, "binary",
                       "[[{{'_','$1'},[{'=<',{length,'$1'},2000}],['$_']}," OTHERS);
}

/* A handler is called by the process that logs, through logger_backend: who waits below that waits
 * for the log. The VM keeps 8 frames. */
#define WAITS_BELOW(...)                                                                           \
    "{[{status,waiting},{current_stacktrace,[" __VA_ARGS__                                         \
    "{logger_backend,'_','_','_'}|'_']}],[],[2]},"
#define MOMENT                                                                                     \
    "[[{[{status,running},'_'],[],[1]},{[{status,runnable},'_'],[],[1]},"                          \
    "{[{status,garbage_collecting},'_'],[],[1]}," WAITS_BELOW() WAITS_BELOW("'_',") WAITS_BELOW(   \
        "'_','_',") WAITS_BELOW("'_','_','_',") WAITS_BELOW("'_','_','_','_',")                    \
        WAITS_BELOW("'_','_','_','_','_',") WAITS_BELOW("'_','_','_','_','_','_',")                \
            WAITS_BELOW("'_','_','_','_','_','_','_',") "{[{status,waiting},{current_stacktrace,[" \
                                                        "{gen,do_call,'_','_'}|'_']}],[],[3]}"     \
                                                        "]]"

struct builder *leaders_moment(const char *node, struct leader *const *of, size_t n)
{
    return match_infos(node, of, n, "[status,current_stacktrace]", MOMENT);
}

/* ---- values */

void leaders_take_moment(struct leaders_waits *sums, struct slice value)
{
    struct cursor c = values_cursor(value);
    struct cursor_list list;
    int64_t is;
    sums->moments++;
    if (value.len == 0 || !cursor_list(&c, &list))
        return;
    for (size_t i = 0; i < list.count && cursor_list_int64(&c, &list, &is); i++) {
        sums->running += is == 1;
        sums->logger += is == 2;
        sums->calls += is == 3;
    }
}

bool leaders_is_in(struct slice mfa, const char *module, const char *function)
{
    struct cursor c = values_cursor(mfa);
    struct slice m, f;
    return mfa.len > 0 && cursor_tuple_of(&c, 3) && cursor_atom(&c, &m) && cursor_atom(&c, &f) &&
           (!module || slice_is(m, module)) && (!function || slice_is(f, function));
}

bool leaders_is_asleep(struct slice mfa)
{
    return leaders_is_in(mfa, "erlang", "hibernate") ||
           leaders_is_in(mfa, NULL, "loop_hibernate") || leaders_is_in(mfa, "sys", "suspend_loop");
}

bool leaders_is_sending(struct slice mfa)
{
    return leaders_is_in(mfa, NULL, "dsend_continue_trap") ||
           leaders_is_in(mfa, NULL, "bif_return_trap") ||
           leaders_is_in(mfa, NULL, "flush_monitor_messages") ||
           leaders_is_in(mfa, NULL, "spawn_request_yield");
}

static int64_t sum_keys(struct slice info, const char *const *keys, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t words = values_find_integer(info, keys[i]);
        sum += words > 0 ? words : 0;
    }
    return sum;
}

/* The number of words that are held in binaries stands in the state of the collector: it needs no
 * list of them. What is no longer used, and not collected yet, is in it: it is held as well. What a
 * process has beside its heaps: links, monitors, those of others on it, its dictionary's places. */
void leaders_take_look(struct leader *l, struct slice infos)
{
    static const char *const vheaps[] = {"bin_vheap_size", "bin_old_vheap_size"};
    static const char *const heaps[] = {"heap_block_size", "old_heap_block_size", "mbuf_size"};
    const int64_t memory = values_find_integer(infos, "memory");
    const struct slice info = values_find(infos, "garbage_collection_info");
    if (memory < 0 || info.len == 0)
        return;
    l->looked_reductions = l->reductions;
    l->memory = memory;
    l->binary_bytes = LEADER_WORD_BYTES * sum_keys(info, vheaps, ARRAY_LEN(vheaps));
    l->beside_bytes = memory - LEADER_WORD_BYTES * sum_keys(info, heaps, ARRAY_LEN(heaps));
}

int64_t leaders_minor_gcs(struct slice pair)
{
    return values_find_integer(values_of_pair(pair, "garbage_collection"), "minor_gcs");
}

bool leaders_take_counts(struct leader *l, struct slice counts, bool all)
{
    struct slice terms[TIES];
    int64_t n[TIES];
    bool ok = values_read_list(counts, terms, TIES);
    for (int tie = 0; ok && tie < TIES; tie++)
        ok = values_read_integer(terms[tie], &n[tie]) && n[tie] >= 0;
    if (!ok)
        return false;
    l->mostly = 0;
    for (int tie = 0; tie < TIES; tie++) {
        l->mostly = n[tie] > n[l->mostly] ? tie : l->mostly;
        l->ties[tie] = all ? n[tie] : -1;
    }
    return true;
}

struct held {
    struct slice id;
    int64_t bytes;
};

static int order_held(const void *a, const void *b)
{
    return slice_order(((const struct held *)a)->id, ((const struct held *)b)->id);
}

static size_t read_held(struct slice list, struct held **out)
{
    struct cursor c;
    size_t n = 0, count;
    *out = NULL;
    if (!values_enter_list(list, &c, &count))
        return 0;
    *out = alloc_zero(count + 1, sizeof **out);
    for (; n < count; n++)
        if (!cursor_tuple_of(&c, 3) || !cursor_raw(&c, &(*out)[n].id) ||
            !cursor_int64(&c, &(*out)[n].bytes) || (*out)[n].bytes < 0 ||
            (*out)[n].bytes > VALUES_MOST || !cursor_skip(&c))
            break;
    return n;
}

void leaders_take_binaries(struct leader *l, struct slice pair)
{
    struct held *held;
    const struct slice list = values_of_pair(pair, "binary");
    const size_t n = read_held(list, &held);
    if (list.len == 0)
        return; /* it is long, or the process has ended */
    if (n > 0)
        qsort(held, n, sizeof *held, order_held);
    l->binaries = l->distinct_bytes = 0;
    for (size_t i = 0; i < n; i++)
        if ((i == 0 || order_held(&held[i - 1], &held[i]) != 0) &&
            l->distinct_bytes <= VALUES_MOST) {
            l->binaries++;
            l->distinct_bytes += held[i].bytes;
        }
    free(held);
}

size_t leaders_read_pids(struct slice list, const char *node, struct etf_pid *out, size_t most)
{
    struct cursor c;
    struct slice of;
    size_t n = 0, count;
    if (!values_enter_list(list, &c, &count))
        return 0;
    for (size_t i = 0; i < count && n < most && !cursor_failed(&c); i++)
        if (cursor_kind(&c) != ETF_KIND_PID)
            cursor_skip(&c);
        else if (cursor_pid(&c, &out[n], &of) && slice_is(of, node))
            n++;
    return n;
}

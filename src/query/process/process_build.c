/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "process_terms.h"
#include "query/native/values.h"

#define BINARIES_SHOWN 20

static const struct slice nothing = {0};

static void build_key(struct builder *b, const char *key)
{
    build_tuple(b, 2);
    build_atom(b, key);
}

/* As many are shown. */
#define ANCESTORS_MOST 20

/* ---- related processes and their names */

struct names {
    struct cursor c;
    const struct who_node *node;
    const struct who *kin;
};

/* What process_info/2 said of those of the node: {registered_name, Name}, [] or `undefined`; of one
 * without a name, what it was started with where that is asked. */
static void build_name(struct builder *b, struct names *names, struct slice of, bool with_call)
{
    struct slice name, parts[2] = {nothing, nothing};
    struct etf_pid pid;
    if (who_read_pid(of, names->node, &pid) && cursor_raw(&names->c, &name) &&
        !values_read_tuple(name, 2, parts, 2) && with_call && names->kin)
        parts[1] = who_shown_call(who_find(names->kin, &pid));
    values_build_known(b, parts[1]);
}

/* {Who, Name}, or with the kind of a monitor before them. */
static bool build_related(struct builder *b, struct names *names, struct slice term, bool with_kind,
                          bool with_call)
{
    struct slice parts[2] = {nothing, term};
    if (with_kind && !values_read_tuple(term, 2, parts, 2))
        return false;
    build_tuple(b, with_kind ? 3 : 2);
    if (with_kind)
        values_build(b, parts[0]);
    values_build(b, parts[1]);
    build_name(b, names, parts[1], with_call);
    return true;
}

static bool build_list_item(struct builder *b, struct names *names, struct slice list, size_t most,
                            bool with_kind)
{
    size_t count;
    struct cursor c;
    struct slice term;
    if (!process_enter_list(list, &count, &c))
        return false;
    const size_t n = count < most ? count : most;
    build_tuple(b, 2);
    build_int(b, (int64_t)count);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        if (!cursor_raw(&c, &term) ||
            !build_related(b, names, term, with_kind, i < PROCESS_KIN_SHOWN))
            return false;
    build_nil(b);
    return true;
}

static bool is_ancestor(struct slice term)
{
    const struct cursor c = values_cursor(term);
    return cursor_kind(&c) == ETF_KIND_PID || cursor_kind(&c) == ETF_KIND_ATOM;
}

/* Its user may have put anything there. */
static void build_ancestors(struct builder *b, struct slice list)
{
    struct slice terms[ANCESTORS_MOST];
    size_t count = 0, kept = 0;
    struct cursor c;
    if (process_enter_list(list, &count, &c))
        for (size_t i = 0; i < count && i < ANCESTORS_MOST && cursor_raw(&c, &terms[kept]); i++)
            kept += is_ancestor(terms[kept]);
    build_list(b, kept);
    for (size_t i = 0; i < kept; i++)
        values_build(b, terms[i]);
    build_nil(b);
}

/* ---- binaries */

struct binary {
    struct slice id;
    int64_t bytes, references;
};

static int order_ids(const void *a, const void *b)
{
    const struct binary *x = a, *y = b;
    return slice_order(x->id, y->id);
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* The largest first. */
static int order_sizes(const void *a, const void *b)
{
    const struct binary *x = a, *y = b;
    const int order = compare_numbers(y->bytes, x->bytes);
    return order ? order : compare_numbers(y->references, x->references);
}

/* Distinct ones, in order of their size; false: another form. */
static bool read_binaries(struct slice list, struct binary *all, size_t *n)
{
    struct slice term, parts[3];
    struct cursor c;
    size_t count;
    if (!process_enter_list(list, &count, &c))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!cursor_raw(&c, &term) || !values_read_tuple(term, 3, parts, 3) ||
            !values_read_integer(parts[1], &all[i].bytes) ||
            !values_read_integer(parts[2], &all[i].references))
            return false;
        all[i].id = parts[0];
    }
    qsort(all, count, sizeof *all, order_ids);
    *n = 0;
    for (size_t i = 0; i < count; i++)
        if (*n == 0 || !slice_equal(all[*n - 1].id, all[i].id))
            all[(*n)++] = all[i];
    qsort(all, *n, sizeof *all, order_sizes);
    return true;
}

/* {Count, Bytes, [{Bytes, References}]} */
static bool build_binaries(struct builder *b, struct slice list)
{
    struct binary *all = alloc_zero(PROCESS_LIST_MOST, sizeof *all);
    size_t n = 0;
    int64_t sum = 0;
    bool ok = read_binaries(list, all, &n);
    for (size_t i = 0; ok && i < n; i++)
        ok = all[i].bytes >= 0 && !__builtin_add_overflow(sum, all[i].bytes, &sum);
    if (ok) {
        const size_t shown = n < BINARIES_SHOWN ? n : BINARIES_SHOWN;
        build_tuple(b, 3);
        build_int(b, (int64_t)n);
        build_int(b, sum);
        build_list(b, shown);
        for (size_t i = 0; i < shown; i++) {
            build_tuple(b, 2);
            build_int(b, all[i].bytes);
            build_int(b, all[i].references);
        }
        build_nil(b);
    }
    free(all);
    return ok;
}

/* ---- the stack */

/* An arity, or the arguments. */
static bool build_arity(struct builder *b, struct slice term)
{
    struct cursor c = values_cursor(term);
    struct cursor_list list;
    int64_t arity;
    if (cursor_kind(&c) == ETF_KIND_INTEGER && cursor_int64(&c, &arity))
        build_int(b, arity);
    else if (cursor_list(&c, &list))
        build_int(b, (int64_t)list.count);
    else
        return false;
    return true;
}

/* {M, F, A, Place} to {M, F, Arity, File, Line} */
static bool build_location(struct builder *b, struct slice frame)
{
    struct slice parts[4];
    struct buf file;
    if (!values_read_tuple(frame, 4, parts, 4))
        return false;
    build_tuple(b, 5);
    values_build(b, parts[0]);
    values_build(b, parts[1]);
    if (!build_arity(b, parts[2]))
        return false;
    buf_init(&file, 0);
    if (!values_put_chars(&file, values_find(parts[3], "file")))
        buf_reset(&file);
    build_binary(b, buf_cstr(&file), file.len);
    buf_clear(&file);
    const int64_t line = values_find_integer(parts[3], "line");
    build_int(b, line > 0 ? line : 0);
    return true;
}

/* {current_location, …} and {stack, …} */
static bool build_stack(struct builder *b, struct slice stack, size_t most)
{
    struct cursor c = values_cursor(stack), first;
    struct cursor_list list;
    struct slice frame;
    if (!cursor_list(&c, &list) || list.string)
        return false;
    const size_t n = list.count < most ? list.count : most;
    first = c;
    build_key(b, "current_location");
    if (n == 0)
        values_build_known(b, nothing);
    else if (!cursor_raw(&first, &frame) || !build_location(b, frame))
        return false;
    build_key(b, "stack");
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        if (!cursor_raw(&c, &frame) || !build_location(b, frame))
            return false;
    build_nil(b);
    return true;
}

/* ---- collections */

/* The next {Key, Integer}; false: none is left. */
static bool next_setting(struct cursor *c, size_t *left, struct slice *key, int64_t *value)
{
    struct slice term, parts[2];
    while (*left > 0 && cursor_raw(c, &term)) {
        --*left;
        if (values_read_tuple(term, 2, parts, 2) && who_atom_of(parts[0]).len > 0 &&
            values_read_integer(parts[1], value)) {
            *key = parts[0];
            return true;
        }
    }
    return false;
}

static bool build_collections(struct builder *b, struct slice settings)
{
    struct cursor c = values_cursor(settings);
    struct cursor_list list;
    struct slice key;
    int64_t value;
    size_t n = 0;
    if (!cursor_list(&c, &list) || list.string)
        return false;
    struct cursor counted = c;
    for (size_t left = list.count; next_setting(&counted, &left, &key, &value); n++)
        ;
    build_key(b, "garbage_collection");
    build_list(b, n);
    for (size_t left = list.count; next_setting(&c, &left, &key, &value);) {
        build_tuple(b, 2);
        values_build(b, key);
        build_int(b, value);
    }
    build_nil(b);
    return true;
}

/* ---- the answer */

#define ITEMS_SHOWN (ITEM_PLAIN_END + 13)

static bool build_lists(struct builder *b, struct names *names, const struct slice *list,
                        size_t most)
{
    for (size_t i = LIST_LINKS; i <= LIST_MONITORED_BY; i++) {
        build_key(b, process_list_name((enum process_list)i));
        if (!build_list_item(b, names, list[i], most, i == LIST_MONITORS))
            return false;
    }
    build_key(b, process_list_name(LIST_BINARY));
    return build_binaries(b, list[LIST_BINARY]);
}

static void build_kin(struct builder *b, struct names *names, const struct slice *item,
                      struct slice ancestors)
{
    build_key(b, "group_leader");
    build_tuple(b, 2);
    values_build(b, item[ITEM_LEADER]);
    build_name(b, names, item[ITEM_LEADER], false);
    build_key(b, "ancestors");
    build_ancestors(b, ancestors);
    build_key(b, "parent");
    values_build_known(b, item[ITEM_PARENT]);
}

static bool build_rest(struct builder *b, const struct slice *item, struct slice suspending,
                       size_t stack)
{
    size_t suspended;
    struct cursor c;
    const int64_t fragments = values_find_integer(item[ITEM_COLLECTOR], "mbuf_size");
    build_key(b, "heap_fragments");
    build_int(b, fragments > 0 ? fragments : 0);
    if (!build_collections(b, item[ITEM_COLLECTIONS]) || !build_stack(b, item[ITEM_STACK], stack) ||
        !process_enter_list(suspending, &suspended, &c))
        return false;
    build_key(b, "dictionary");
    values_build_known(b, nothing);
    build_key(b, "suspending");
    build_int(b, (int64_t)suspended);
    return true;
}

bool process_build(struct builder *b, const struct process_values *v)
{
    struct slice item[ITEM_PROCESS_TERMS], list[LISTS];
    struct names names = {v->names, v->node, v->kin};
    if (!process_read_items(v->items, item) || !process_read_lists(v->lists, list))
        return false;
    build_tuple(b, 5);
    build_atom(b, "process");
    build_int(b, v->mono_ns);
    build_pid(b, v->node->name, v->pid);
    who_build_id(b, v->who);
    build_list(b, ITEMS_SHOWN);
    for (size_t i = ITEM_PLAIN; i < ITEM_PLAIN_END; i++) {
        build_key(b, process_item_name((enum process_item)i));
        values_build(b, item[i]);
    }
    if (!build_lists(b, &names, list, v->question->links))
        return false;
    build_kin(b, &names, item, list[LIST_ANCESTORS]);
    if (!build_rest(b, item, list[LIST_SUSPENDING], v->question->stack))
        return false;
    build_nil(b);
    return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process_terms.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "query/native/args.h"
#include "query/native/values.h"

/* ---- the argument */

/* #{stack => N, links => N}, in any order. */
static bool read_limits(struct cursor *c, struct process_question *out)
{
    size_t pairs = 0;
    bool ok = cursor_map(c, &pairs) && pairs == 2;
    for (size_t i = 0; ok && i < pairs; i++) {
        const bool links = cursor_peek_atom(c, "links");
        int64_t most = 0;
        ok = cursor_atom_is(c, links ? "links" : "stack") && cursor_int64(c, &most) && most >= 0 &&
             most <= PROCESS_LIST_MOST;
        *(links ? &out->links : &out->stack) = (size_t)most;
    }
    return ok;
}

bool process_read_question(const uint8_t *arg, size_t len, struct process_question *out)
{
    struct cursor c;
    *out = (struct process_question){0};
    cursor_init(&c, arg, len);
    if (!cursor_tuple_of(&c, 2))
        return false;
    const bool ok = cursor_kind(&c) == ETF_KIND_PID
                        ? cursor_pid(&c, &out->pid, &out->node)
                        : cursor_binary(&c, &out->name) && out->name.len > 0;
    return ok && read_limits(&c, out);
}

/* ---- asks */

static const char *const item_names[ITEM_PROCESS_TERMS] = {
    "status",
    "priority",
    "trap_exit",
    "reductions",
    "message_queue_len",
    "message_queue_data",
    [ITEM_MEMORY] = "memory",
    [ITEM_WORDS] = "total_heap_size",
    "heap_size",
    "stack_size",
    "current_function",
    [ITEM_LEADER] = "group_leader",
    [ITEM_STACK] = "current_stacktrace",
    [ITEM_COLLECTIONS] = "garbage_collection",
    [ITEM_COLLECTOR] = "garbage_collection_info",
    [ITEM_PARENT] = "parent",
};
static const char *const list_names[LISTS] = {
    [LIST_LINKS] = "links",
    [LIST_MONITORS] = "monitors",
    [LIST_MONITORED_BY] = "monitored_by",
    [LIST_BINARY] = "binary",
    [LIST_SUSPENDING] = "suspending",
};

const char *process_item_name(enum process_item item)
{
    return item_names[item];
}

const char *process_list_name(enum process_list list)
{
    return list_names[list];
}

/* `parent` is an error before OTP 25, a key of the dictionary before 26.2. */
static size_t count_items(const struct who_node *node)
{
    return node->way == WHO_BY_LINKS ? ITEM_PARENT : ITEM_PROCESS_TERMS;
}

static size_t count_lists(const struct who_node *node)
{
    return node->way == WHO_BY_KEYS ? LISTS : LIST_ANCESTORS;
}

static void make_batch(struct native_call *call, const char *module, const char *function,
                       const struct builder *args)
{
    const struct native_step steps[] = {NATIVE_CLOCK, {module, function, NULL, args}, NATIVE_CLOCK};
    native_batch_init(call, steps, ARRAY_LEN(steps), false);
}

/* whereis(binary_to_existing_atom(Name, utf8)): an atom in what is sent would be made there. */
static void make_whereis(struct native_call *call, struct slice name)
{
    struct builder *args = builder_new();
    build_list(args, 2);
    build_binary(args, name.s, name.len);
    build_atom(args, "utf8");
    build_nil(args);
    const struct args_call atom = {"erlang", "binary_to_existing_atom", 2, NULL, args};
    struct builder *b = args_of_calls("erlang", "whereis", 1, &atom, 1);
    native_call_init(call, "lists", "foldl", b);
    builder_free(b);
}

void process_call_pid(struct native_call *call, struct slice name)
{
    if (!slice_begins(name, "<")) {
        make_whereis(call, name);
        return;
    }
    struct builder *b = builder_new();
    build_list(b, 1);
    build_string(b, name.s, name.len);
    build_nil(b);
    native_call_init(call, "erlang", "list_to_pid", b);
    builder_free(b);
}

void process_call_queue(struct native_call *call, const char *node, const struct etf_pid *pid)
{
    struct builder *b = args_of_info(node, pid, "message_queue_len");
    make_batch(call, "erlang", "process_info", b);
    builder_free(b);
}

void process_call_items(struct native_call *call, const struct who_node *node,
                        const struct etf_pid *pid)
{
    const size_t n = count_items(node);
    struct builder *b = builder_new();
    build_list(b, 2);
    build_pid(b, node->name, pid);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_atom(b, item_names[i]);
    build_nil(b);
    build_nil(b);
    make_batch(call, "erlang", "process_info", b);
    builder_free(b);
}

/* [Pid, [Item, …]] */
static struct builder *make_reads(const struct who_node *node, const struct etf_pid *pid)
{
    const size_t n = count_lists(node);
    struct builder *b = builder_new();
    build_list(b, 2);
    build_pid(b, node->name, pid);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        if (list_names[i])
            build_atom(b, list_names[i]);
        else
            args_build_text(b, "{dictionary,'$ancestors'}");
    build_nil(b);
    build_nil(b);
    return b;
}

/* [MatchSpecification]: of each item the list, or how many are in one that is too long. */
#define FILTER                                                                                     \
    "[[{{'_','$1'},[{'=<',{length,'$1'},1000}],['$1']},{{'_','$1'},[],[{length,'$1'}]},"           \
    "{'_',[],[[]]}]]"
_Static_assert(PROCESS_LIST_MOST == 1000, "as the match specification has it");

void process_call_lists(struct native_call *call, const struct who_node *node,
                        const struct etf_pid *pid)
{
    const struct args_call inner[] = {{"erlang", "process_info", 2, NULL, make_reads(node, pid)},
                                      {"ets", "match_spec_compile", 1, FILTER, NULL}};
    struct builder *b = args_of_calls("ets", "match_spec_run", 2, inner, ARRAY_LEN(inner));
    make_batch(call, "lists", "foldl", b);
    builder_free(b);
}

/* ---- values */

#define WORD_BYTES 8

/* Five lists of up to 1,000, those of other nodes with long names among them. */
#define VALUE_BYTES_MOST (1 << 20)

bool process_read_value(struct slice answer, struct slice *value, int64_t *mono_ns, double *us)
{
    struct slice terms[3];
    int64_t began;
    if (answer.len > VALUE_BYTES_MOST || !values_read_list(answer, terms, 3) ||
        !values_read_integer(terms[0], &began) || !values_read_integer(terms[2], mono_ns))
        return false;
    *value = terms[1];
    *us = values_between_us(began, *mono_ns);
    return true;
}

bool process_read_items(struct slice items, struct slice out[ITEM_PROCESS_TERMS])
{
    out[ITEM_PARENT] = (struct slice){0};
    return who_read_items(items, out, ITEM_PROCESS_TERMS) ||
           who_read_items(items, out, ITEM_PARENT);
}

bool process_read_lists(struct slice lists, struct slice out[LISTS])
{
    out[LIST_ANCESTORS] = (struct slice){0};
    return values_read_list(lists, out, LISTS) || values_read_list(lists, out, LIST_ANCESTORS);
}

enum process_found process_check_queue(struct slice value)
{
    struct slice parts[2];
    int64_t messages;
    if (who_term_is(value, "undefined"))
        return PROCESS_GONE;
    if (!values_read_tuple(value, 2, parts, 2) || !values_read_integer(parts[1], &messages))
        return PROCESS_ODD;
    return messages > PROCESS_MESSAGES_MOST ? PROCESS_LARGE : PROCESS_FOUND;
}

enum process_found process_check_items(struct slice value)
{
    struct slice items[ITEM_PROCESS_TERMS];
    int64_t bytes, words;
    if (who_term_is(value, "undefined"))
        return PROCESS_GONE;
    if (!process_read_items(value, items) || !values_read_integer(items[ITEM_MEMORY], &bytes) ||
        !values_read_integer(items[ITEM_WORDS], &words) || bytes < 0 || words < 0)
        return PROCESS_ODD;
    const bool has_links = bytes / WORD_BYTES - words >= PROCESS_LINKS_BYTES_MOST / WORD_BYTES;
    return bytes >= PROCESS_MEMORY_MOST || has_links ? PROCESS_LARGE : PROCESS_FOUND;
}

enum process_found process_check_lists(struct slice value)
{
    struct slice lists[LISTS];
    int64_t count;
    if (!process_read_lists(value, lists))
        return PROCESS_ODD;
    for (size_t i = 0; i < LISTS; i++)
        if (lists[i].len > 0 && values_read_integer(lists[i], &count))
            return PROCESS_LARGE;
    return PROCESS_FOUND;
}

bool process_enter_list(struct slice list, size_t *count, struct cursor *c)
{
    return values_enter_list(list, c, count) && *count <= PROCESS_LIST_MOST;
}

/* ---- names */

size_t process_named_most(size_t links)
{
    return 1 + 3 * links;
}

static size_t add_named(struct etf_pid *out, size_t n, struct slice term,
                        const struct who_node *node)
{
    return n + who_read_pid(term, node, &out[n]);
}

size_t process_read_named(struct slice items, struct slice lists, const struct who_node *node,
                          size_t links, struct etf_pid *out)
{
    struct slice item[ITEM_PROCESS_TERMS], list[LISTS], parts[2];
    size_t named = 0, count;
    struct cursor c;
    if (!process_read_items(items, item) || !process_read_lists(lists, list))
        return 0;
    for (size_t i = LIST_LINKS; i <= LIST_MONITORED_BY; i++) {
        if (!process_enter_list(list[i], &count, &c))
            continue;
        for (size_t k = 0; k < count && k < links && cursor_raw(&c, &parts[1]); k++)
            if (i != LIST_MONITORS || values_read_tuple(parts[1], 2, parts, 2))
                named = add_named(out, named, parts[1], node);
    }
    return add_named(out, named, item[ITEM_LEADER], node);
}

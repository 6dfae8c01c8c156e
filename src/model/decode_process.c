/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include "beamtop/base/limits.h"

/* A pid of the target, or anything else as it prints. */
static bool decode_related(struct decoder *d, struct slice node, struct related *out)
{
    out->text = out->name = (struct slice){"", 0};
    if (cursor_kind(&d->c) == ETF_KIND_PID) {
        struct cursor ahead = d->c;
        struct slice home;
        if (cursor_pid(&ahead, &out->pid, &home) && slice_equal(home, node)) {
            out->is_pid = true;
            return cursor_skip(&d->c);
        }
    }
    if (decode_undefined(d))
        return true;
    return cursor_kind(&d->c) == ETF_KIND_ATOM ? decode_atom(d, &out->text)
                                               : decode_printed(d, &out->text);
}

struct process_decoder {
    struct decoder *d;
    struct slice node; /* of the pid asked about: pids of other nodes are not ours to open */
    struct process_detail *out;
};

static bool take_group_leader(struct process_decoder *p)
{
    struct related *leader = &p->out->group_leader;
    if (!cursor_tuple_of(&p->d->c, 2) || !decode_related(p->d, p->node, leader) ||
        !decode_name(p->d, &leader->name))
        return false;
    p->out->row.has_group_leader = leader->is_pid;
    p->out->row.group_leader = leader->pid;
    return true;
}

static bool take_parent(struct process_decoder *p)
{
    return decode_related(p->d, p->node, &p->out->parent);
}

static bool take_ancestors(struct process_decoder *p)
{
    struct related_list *to = &p->out->ancestors;
    struct cursor_list list;
    if (!decode_list(p->d, &list, LIMIT_DETAIL_ITEMS, sizeof to->items[0], &to->items))
        return false;
    to->n = list.count;
    to->count = (int64_t)list.count;
    for (size_t i = 0; i < to->n; i++)
        if (!decode_related(p->d, p->node, &to->items[i]))
            return false;
    return cursor_list_end(&p->d->c, &list);
}

/* A name, or what it was started with. */
static bool decode_called(struct decoder *d, struct related *out)
{
    out->is_call = cursor_kind(&d->c) == ETF_KIND_TUPLE;
    return decode_name(d, &out->name);
}

/* {Count, [{Who, Name}]}, or with a kind before Who (monitors). */
static bool take_related(struct process_decoder *p, struct related_list *to, bool with_kind)
{
    struct cursor *c = &p->d->c;
    struct cursor_list list;
    struct slice kind;
    if (!cursor_tuple_of(c, 2) || !cursor_int64(c, &to->count) ||
        !decode_list(p->d, &list, LIMIT_DETAIL_ITEMS, sizeof to->items[0], &to->items))
        return false;
    to->n = list.count;
    for (size_t i = 0; i < to->n; i++)
        if (!cursor_tuple_of(c, with_kind ? 3 : 2) || (with_kind && !cursor_atom(c, &kind)) ||
            !decode_related(p->d, p->node, &to->items[i]) || !decode_called(p->d, &to->items[i]))
            return false;
    return cursor_list_end(c, &list);
}

static bool take_links(struct process_decoder *p)
{
    struct related_list *to = &p->out->links;
    return take_related(p, to, false) && (p->out->row.links = to->count, true);
}

static bool take_monitors(struct process_decoder *p)
{
    struct related_list *to = &p->out->monitors;
    return take_related(p, to, true) && (p->out->row.monitors = to->count, true);
}

static bool take_monitored_by(struct process_decoder *p)
{
    struct related_list *to = &p->out->monitored_by;
    return take_related(p, to, false) && (p->out->row.monitored_by = to->count, true);
}

static bool take_location(struct process_decoder *p, struct frame_location *to)
{
    struct cursor *c = &p->d->c;
    struct slice mod, fun;
    int64_t arity;
    if (!cursor_tuple_of(c, 5) || !cursor_atom(c, &mod) || !cursor_atom(c, &fun) ||
        !cursor_int64(c, &arity))
        return false;
    to->function = decode_keep_mfa(p->d, mod, fun, arity);
    return decode_binary(p->d, &to->file) && decode_int(p->d, &to->line);
}

static bool take_current_location(struct process_decoder *p)
{
    return take_location(p, &p->out->location);
}

static bool take_stack(struct process_decoder *p)
{
    struct cursor_list list;
    if (!decode_list(p->d, &list, LIMIT_DETAIL_ITEMS, sizeof p->out->stack[0], &p->out->stack))
        return false;
    p->out->n_stack = list.count;
    for (size_t i = 0; i < list.count; i++)
        if (!take_location(p, &p->out->stack[i]))
            return false;
    return cursor_list_end(&p->d->c, &list);
}

static bool take_gc(struct process_decoder *p)
{
    struct cursor *c = &p->d->c;
    struct cursor_list list;
    if (!decode_list(p->d, &list, LIMIT_DETAIL_ITEMS, sizeof p->out->gc[0], &p->out->gc))
        return false;
    p->out->n_gc = list.count;
    for (size_t i = 0; i < list.count; i++) {
        struct slice *key = &p->out->gc[i].key;
        int64_t *value = &p->out->gc[i].value;
        if (!cursor_tuple_of(c, 2) || !decode_atom(p->d, key) || !decode_int(p->d, value))
            return false;
        if (slice_is(*key, "minor_gcs"))
            p->out->row.minor_gcs = *value;
        else if (slice_is(*key, "fullsweep_after"))
            p->out->row.fullsweep_after = *value;
    }
    return cursor_list_end(c, &list);
}

static bool take_dictionary(struct process_decoder *p)
{
    struct process_detail *o = p->out;
    struct cursor *c = &p->d->c;
    struct cursor_list list;
    if (!cursor_tuple_of(c, 2) || !cursor_int64(c, &o->dictionary_count) ||
        !decode_list(p->d, &list, LIMIT_DETAIL_ITEMS, sizeof o->dictionary[0], &o->dictionary))
        return false;
    o->n_dictionary = list.count;
    o->row.dictionary_len = o->dictionary_count;
    for (size_t i = 0; i < list.count; i++)
        if (!cursor_tuple_of(c, 2) || !decode_binary(p->d, &o->dictionary[i].key) ||
            !decode_int(p->d, &o->dictionary[i].value_bytes))
            return false;
    return cursor_list_end(c, &list);
}

static bool take_binaries(struct process_decoder *p)
{
    struct process_detail *o = p->out;
    struct cursor *c = &p->d->c;
    struct cursor_list list;
    if (!cursor_tuple_of(c, 3) || !cursor_int64(c, &o->binary_count) ||
        !cursor_int64(c, &o->binary_bytes) ||
        !decode_list(p->d, &list, LIMIT_DETAIL_ITEMS, sizeof o->binaries[0], &o->binaries))
        return false;
    o->n_binaries = list.count;
    o->row.binaries = o->binary_count;
    o->row.binary_bytes = o->binary_bytes;
    for (size_t i = 0; i < list.count; i++)
        if (!cursor_tuple_of(c, 2) || !cursor_int64(c, &o->binaries[i].bytes) ||
            !cursor_int64(c, &o->binaries[i].refs))
            return false;
    return cursor_list_end(c, &list);
}

static bool take_heap_fragments(struct process_decoder *p)
{
    return decode_int(p->d, &p->out->heap_fragment_words);
}

/* Items whose value differs from the one of a scan; the others are read by decode_item. */
static const struct detail_item {
    const char *name;
    bool (*take)(struct process_decoder *p);
    int item; /* the scan's item that it makes known, -1 none */
} detail_items[] = {
    {"ancestors", take_ancestors, -1},
    {"binary", take_binaries, ITEM_BINARY},
    {"current_location", take_current_location, -1},
    {"dictionary", take_dictionary, ITEM_DICTIONARY},
    {"garbage_collection", take_gc, ITEM_GARBAGE_COLLECTION},
    {"group_leader", take_group_leader, ITEM_GROUP_LEADER},
    {"heap_fragments", take_heap_fragments, -1},
    {"links", take_links, ITEM_LINKS},
    {"monitored_by", take_monitored_by, ITEM_MONITORED_BY},
    {"monitors", take_monitors, ITEM_MONITORS},
    {"parent", take_parent, -1},
    {"stack", take_stack, -1},
};

static bool take_item(struct process_decoder *p)
{
    struct slice name;
    if (!cursor_tuple_of(&p->d->c, 2) || !cursor_atom(&p->d->c, &name))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(detail_items); i++) {
        if (!slice_is(name, detail_items[i].name))
            continue;
        if (decode_undefined(p->d))
            return true;
        if (detail_items[i].item >= 0)
            p->out->row.items |= UINT32_C(1) << detail_items[i].item;
        return detail_items[i].take(p);
    }
    for (int i = ITEM_REDUCTIONS; i < PROC_ITEMS; i++)
        if (slice_is(name, proc_item_name((enum proc_item)i)))
            return decode_item(p->d, (enum proc_item)i, &p->out->row);
    return cursor_fail(&p->d->c, "a known item of a process");
}

static void process_clear(struct process_detail *out)
{
    const struct slice none = {"", 0};
    *out = (struct process_detail){
        .group_leader = {.text = none, .name = none},
        .parent = {.text = none, .name = none},
        .ancestors = {.count = -1},
        .links = {.count = -1},
        .monitors = {.count = -1},
        .monitored_by = {.count = -1},
        .location = {.function = none, .file = none, .line = -1},
        .heap_fragment_words = -1,
        .dictionary_count = -1,
        .binary_count = -1,
        .binary_bytes = -1,
    };
    proc_row_clear(&out->row);
}

void decode_process(struct decoder *d, void *to)
{
    struct process_detail *out = to;
    struct process_decoder p = {.d = d, .out = out};
    struct cursor_list list;
    struct cursor *c = &d->c;
    process_clear(out);
    if (cursor_peek_atom(c, "gone")) {
        out->gone = true;
        cursor_skip(c);
        return;
    }
    cursor_tuple_of(c, 5);
    cursor_atom_is(c, "process");
    decode_mono(d, &out->mono_ns);
    cursor_pid(c, &out->row.pid, &p.node);
    decode_identity(d, &out->row);
    out->row.items |= ITEM_BIT(ID);
    if (cursor_kind(c) == ETF_KIND_STRING)
        cursor_fail(&d->c, "a list of items");
    if (cursor_list(c, &list)) {
        for (size_t i = 0; i < list.count && take_item(&p); i++)
            ;
        cursor_list_end(c, &list);
    }
}

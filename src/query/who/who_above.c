/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "who_above.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/hash.h"
#include "query/native/values.h"

/* What is known of all, in bytes, and of how many. */
#define KNOWN_MOST 8192
#define KNOWN_BYTES ((size_t)8 << 20)

/* Steps from parent to parent, and from a process to the only one that it is linked to. */
#define PARENTS_MOST 20
#define LINKED_MOST 5

/* Where reading links is cheap. */
#define QUEUE_MOST 50000
#define MEMORY_MOST (1 << 20)

/* What is asked of one, in this order. */
enum stage { STAGE_REGISTERED, STAGE_NAME, STAGE_MEMORY, STAGE_LINKS, STAGES };
#define STAGE_BIT(stage) (1u << (stage))

/* A process, or a registered name, for which only STAGE_REGISTERED is asked. */
struct relative {
    UT_hash_handle hh;
    struct slice key;        /* behind it: a pid, or a name as term */
    struct etf_pid pid;      /* of a name, when it is there */
    unsigned done, to_ask;   /* STAGE_BIT */
    struct slice name;       /* a term; len 0: none */
    struct slice supervisor; /* a term; len 0: it is none */
    bool there;
    bool behind; /* proc_lib has started it */
    bool has_parent;
    bool is_short, is_small; /* its queue; its memory */
    struct etf_pid parent;
    struct etf_pid *links; /* local processes */
    size_t n_links;
};

struct wanted {
    struct relative **all;
    size_t n;
};

struct who_above {
    const struct who_node *node;
    struct relative *known;
    struct arena arena;
    struct wanted wanted[STAGES];
    enum stage stage; /* of what is asked now */
    bool asking;
    struct who_span span;
};

/* ---- what is known */

struct who_above *who_above_new(const struct who_node *node)
{
    struct who_above *a = alloc_zero(1, sizeof *a);
    a->node = node;
    arena_init(&a->arena);
    return a;
}

void who_above_forget(struct who_above *a)
{
    HASH_CLEAR(hh, a->known);
    arena_reset(&a->arena);
    for (size_t i = 0; i < ARRAY_LEN(a->wanted); i++)
        a->wanted[i].n = 0;
    a->asking = false;
}

void who_above_free(struct who_above *a)
{
    who_above_forget(a);
    arena_clear(&a->arena);
    for (size_t i = 0; i < ARRAY_LEN(a->wanted); i++)
        free(a->wanted[i].all);
    free(a);
}

/* NULL: there is no room. */
static struct relative *find_relative(struct who_above *a, struct slice key)
{
    struct relative *r;
    HASH_FIND(hh, a->known, key.s, key.len, r);
    if (r || HASH_COUNT(a->known) >= KNOWN_MOST || a->arena.used_bytes >= KNOWN_BYTES)
        return r;
    r = arena_alloc(&a->arena, sizeof *r);
    r->key = slice_keep(&a->arena, key);
    HASH_ADD_KEYPTR(hh, a->known, r->key.s, r->key.len, r);
    return r;
}

static struct relative *find_process(struct who_above *a, const struct etf_pid *pid)
{
    struct relative *r = find_relative(a, (struct slice){(const char *)pid, sizeof *pid});
    if (r)
        r->pid = *pid;
    return r;
}

/* Else it is asked next. */
static bool knows(struct who_above *a, struct relative *r, enum stage stage)
{
    struct wanted *w = &a->wanted[stage];
    if (r->done & STAGE_BIT(stage))
        return true;
    if (!(r->to_ask & STAGE_BIT(stage))) {
        w->all = alloc_grow(w->all, w->n, sizeof *w->all);
        w->all[w->n++] = r;
        r->to_ask |= STAGE_BIT(stage);
    }
    return false;
}

/* ---- the three ways up */

/* An ancestor is a name or a pid; one of another node is passed over. */
static enum who_found find_ancestor(struct who_above *a, struct slice ancestor,
                                    struct relative **out)
{
    struct relative *r;
    struct etf_pid pid;
    *out = NULL;
    if (who_atom_of(ancestor).len > 0) {
        r = find_relative(a, ancestor);
        if (r && !knows(a, r, STAGE_REGISTERED))
            return WHO_TO_ASK;
        if (!r || !r->there)
            return WHO_NONE;
        pid = r->pid;
    } else if (!who_read_pid(ancestor, a->node, &pid)) {
        return WHO_NONE;
    }
    *out = find_process(a, &pid);
    return *out && !knows(a, *out, STAGE_NAME) ? WHO_TO_ASK : WHO_NONE;
}

static enum who_found find_by_keys(struct who_above *a, struct slice ancestors, struct slice *name)
{
    struct cursor c;
    struct cursor_list list;
    struct slice ancestor;
    struct relative *r;
    c = values_cursor(ancestors);
    if (!cursor_list(&c, &list) || list.string)
        return WHO_NONE;
    for (size_t i = 0; i < list.count && i < WHO_ANCESTORS_MOST && cursor_raw(&c, &ancestor); i++) {
        if (find_ancestor(a, ancestor, &r) == WHO_TO_ASK)
            return WHO_TO_ASK;
        if (r && r->supervisor.len > 0) {
            *name = r->supervisor;
            return WHO_FOUND;
        }
    }
    return WHO_NONE;
}

static enum who_found find_by_parents(struct who_above *a, struct relative *from,
                                      struct slice *name)
{
    struct relative *r = from;
    for (unsigned step = 0; step <= PARENTS_MOST; step++) {
        if (!r)
            return WHO_NONE;
        if (!knows(a, r, STAGE_NAME))
            return WHO_TO_ASK;
        if (step > 0 && r->supervisor.len > 0) {
            *name = r->supervisor;
            return WHO_FOUND;
        }
        if (!r->behind || !r->has_parent)
            return WHO_NONE;
        r = find_process(a, &r->parent);
    }
    return WHO_NONE;
}

/* Its links are known, unless it has none that count. */
static enum who_found find_links(struct who_above *a, struct relative *r)
{
    if (!knows(a, r, STAGE_NAME))
        return WHO_TO_ASK;
    /* One that is a supervisor itself is linked to those below it as well. */
    if (!r->behind || who_is_supervisor(who_atom_of(r->name)))
        return WHO_NONE;
    if (!r->is_short)
        return WHO_NONE;
    if (!knows(a, r, STAGE_MEMORY))
        return WHO_TO_ASK;
    if (!r->is_small)
        return WHO_NONE;
    return knows(a, r, STAGE_LINKS) ? WHO_FOUND : WHO_TO_ASK;
}

/* *sole: the only one that has the name of a supervisor. */
static enum who_found find_named(struct who_above *a, const struct relative *r, size_t *named,
                                 struct relative **sole)
{
    enum who_found found = WHO_NONE;
    *named = 0;
    for (size_t i = 0; i < r->n_links; i++) {
        struct relative *link = find_process(a, &r->links[i]);
        if (!link) {
            *named = SIZE_MAX;
            return WHO_NONE;
        }
        if (!knows(a, link, STAGE_NAME)) {
            found = WHO_TO_ASK;
        } else if (who_is_supervisor(who_atom_of(link->name))) {
            *sole = link;
            ++*named;
        }
    }
    return found;
}

static enum who_found find_by_links(struct who_above *a, struct relative *from, struct slice *name)
{
    struct relative *r = from, *sole = NULL;
    for (unsigned step = 0; r && step <= LINKED_MOST; step++) {
        enum who_found found = find_links(a, r);
        size_t named = 0;
        if (found != WHO_FOUND)
            return found;
        if (find_named(a, r, &named, &sole) == WHO_TO_ASK)
            return WHO_TO_ASK;
        if (named == 1) {
            *name = sole->name;
            return WHO_FOUND;
        }
        if (named > 0 || r->n_links != 1)
            return WHO_NONE;
        r = find_process(a, &r->links[0]);
    }
    return WHO_NONE;
}

enum who_found who_above_find(struct who_above *a, const struct etf_pid *pid,
                              struct slice ancestors, struct slice *name)
{
    if (a->node->way == WHO_BY_KEYS)
        return find_by_keys(a, ancestors, name);
    struct relative *from = find_process(a, pid);
    return a->node->way == WHO_BY_PARENTS ? find_by_parents(a, from, name)
                                          : find_by_links(a, from, name);
}

/* ---- asking */

static const enum who_column columns[STAGES] = {
    [STAGE_MEMORY] = WHO_MEMORY, [STAGE_LINKS] = WHO_LINKS};
static const enum who_column name_columns[] = {[WHO_BY_KEYS] = WHO_NAME,
                                               [WHO_BY_PARENTS] = WHO_NAME_PARENT,
                                               [WHO_BY_LINKS] = WHO_NAME_WAITING};

static size_t list_parts(const struct who_above *a, const struct etf_pid *pids,
                         struct who_part *parts)
{
    const bool of_names = a->stage == STAGE_NAME;
    parts[0] = (struct who_part){of_names ? name_columns[a->node->way] : columns[a->stage], pids,
                                 a->span.len};
    parts[1] = (struct who_part){WHO_CALL, pids, a->span.len};
    return of_names && a->node->way == WHO_BY_KEYS ? 2 : 1;
}

static void build_call(const struct who_above *a, struct native_call *call)
{
    struct relative *const *asked = a->wanted[a->stage].all + a->span.at;
    struct who_part parts[2];
    if (a->stage == STAGE_REGISTERED) {
        struct slice *names = alloc_zero(a->span.len, sizeof *names);
        for (size_t i = 0; i < a->span.len; i++)
            names[i] = asked[i]->key;
        who_call_registered(call, names, a->span.len);
        free(names);
        return;
    }
    struct etf_pid *pids = alloc_zero(a->span.len, sizeof *pids);
    for (size_t i = 0; i < a->span.len; i++)
        pids[i] = asked[i]->pid;
    who_call_parts(call, a->node->name, parts, list_parts(a, pids, parts));
    free(pids);
}

bool who_above_call(struct who_above *a, struct native_call *call)
{
    for (unsigned s = 0; !a->asking && s < STAGES; s++)
        if (a->wanted[s].n > 0) {
            a->stage = (enum stage)s;
            a->asking = true;
            who_span_start(&a->span, a->wanted[s].n);
        }
    if (a->asking)
        build_call(a, call);
    return a->asking;
}

/* ---- what came */

static void keep_links(struct who_above *a, struct relative *r, struct slice links)
{
    struct cursor c;
    struct cursor_list list;
    struct slice link;
    c = values_cursor(links);
    if (!cursor_list(&c, &list) || list.string || list.count == 0 || list.count > WHO_LINKS_MOST ||
        a->arena.used_bytes >= KNOWN_BYTES)
        return;
    r->links = arena_alloc(&a->arena, list.count * sizeof *r->links);
    for (size_t i = 0; i < list.count && cursor_raw(&c, &link); i++)
        r->n_links += who_read_pid(link, a->node, &r->links[r->n_links]);
}

static void keep_supervisor(struct who_above *a, struct relative *r, struct slice call)
{
    struct slice supervisor;
    if (who_read_supervisor(r->name, call, a->node->way, &supervisor))
        r->supervisor = slice_keep(&a->arena, supervisor);
}

/* `call`: the element of WHO_CALL, if it was asked for. */
static void keep_name(struct who_above *a, struct relative *r, struct slice items,
                      struct slice call)
{
    static const size_t counts[] = {[WHO_BY_KEYS] = 2, [WHO_BY_PARENTS] = 4, [WHO_BY_LINKS] = 3};
    struct slice v[4];
    struct who_mfa mfa, found;
    int64_t waiting;
    if (!who_read_items(items, v, counts[a->node->way]) || !who_read_mfa(v[1], &mfa))
        return; /* it is gone */
    r->there = true;
    r->behind = slice_is(mfa.module, "proc_lib");
    if (who_atom_of(v[0]).len > 0)
        r->name = slice_keep(&a->arena, v[0]);
    if (a->node->way == WHO_BY_KEYS) {
        keep_supervisor(a, r, who_read_mfa(call, &found) ? call : v[1]);
    } else if (a->node->way == WHO_BY_PARENTS) {
        struct builder *b = builder_new();
        const bool told = r->behind && who_call_of_stack(b, v[2]);
        size_t len = 0;
        const uint8_t *bytes = builder_bytes(b, &len);
        keep_supervisor(a, r, told ? (struct slice){(const char *)bytes, len} : v[1]);
        builder_free(b);
        r->has_parent = who_read_pid(v[3], a->node, &r->parent);
    } else {
        r->is_short = values_read_integer(v[2], &waiting) && waiting <= QUEUE_MOST;
    }
}

static void keep_memory(struct relative *r, struct slice item)
{
    struct cursor c;
    int64_t bytes;
    c = values_cursor(item);
    r->is_small = cursor_tuple_of(&c, 2) && cursor_skip(&c) && cursor_int64(&c, &bytes) &&
                  bytes < MEMORY_MOST;
}

static void pass_part(struct who_above *a)
{
    for (size_t i = 0; i < a->span.len; i++)
        a->wanted[a->stage].all[a->span.at + i]->done |= STAGE_BIT(a->stage);
    if (!who_span_pass(&a->span)) {
        a->wanted[a->stage].n = 0;
        a->asking = false;
    }
}

static bool take_registered(struct who_above *a, struct slice value, double *us)
{
    struct relative *const *asked = a->wanted[a->stage].all + a->span.at;
    struct slice pids, pid;
    struct cursor c;
    struct cursor_list list;
    if (!who_read_values(value, &pids, 1, us))
        return false;
    c = values_cursor(pids);
    if (!cursor_list(&c, &list) || list.count != a->span.len)
        return false;
    for (size_t i = 0; i < list.count && cursor_raw(&c, &pid); i++)
        asked[i]->there = who_read_pid(pid, a->node, &asked[i]->pid);
    return true;
}

static bool take_processes(struct who_above *a, struct slice value, double *us)
{
    struct relative *const *asked = a->wanted[a->stage].all + a->span.at;
    struct who_part parts[2];
    struct cursor c[2];
    const size_t n = list_parts(a, NULL, parts);
    if (!who_read_parts(value, parts, n, c, us))
        return false;
    for (size_t i = 0; i < a->span.len; i++) {
        struct slice term, call = {0};
        if (!cursor_raw(&c[0], &term) || (n > 1 && !cursor_raw(&c[1], &call)))
            return false;
        if (a->stage == STAGE_NAME)
            keep_name(a, asked[i], term, call);
        else if (a->stage == STAGE_MEMORY)
            keep_memory(asked[i], term);
        else
            keep_links(a, asked[i], term);
    }
    return true;
}

bool who_above_take(struct who_above *a, struct slice value, double *us)
{
    const bool ok =
        a->stage == STAGE_REGISTERED ? take_registered(a, value, us) : take_processes(a, value, us);
    if (ok)
        pass_part(a);
    return ok;
}

void who_above_fail(struct who_above *a)
{
    if (!who_span_cut(&a->span))
        pass_part(a);
}

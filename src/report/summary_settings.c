/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of several nodes that are not the same on all of them. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/output/json.h"
#include "summary_internal.h"

#define SETTINGS_SHOWN 40
#define SETTINGS_LISTED 1000 /* in JSON */

static int compare_name(const void *name, const void *item)
{
    return strcmp(name, ((const struct state_item *)item)->name);
}

/* Of one name, by which they are in order; NULL: the node has none. */
static const struct state_item *find_item(const struct summary *s, size_t kind, const char *name)
{
    const struct state_items *of = &s->state.kinds[kind];
    return of->n > 0 ? bsearch(name, of->items, of->n, sizeof *of->items, compare_name) : NULL;
}

/* What people read of it; "" where it is not known. */
static const char *setting_text(const struct summary *s, size_t kind, const char *name,
                                struct arena *a)
{
    const struct state_item *item = find_item(s, kind, name);
    if (!s->state.kinds[kind].recorded || (!item && s->state.kinds[kind].partial))
        return "";
    if (!item || (item->values[0].unknown && item->values[0].text.len == 0))
        return item ? "" : "none";
    return item->values[0].text.len > 0 ? slice_text(a, item->values[0].text) : "none";
}

struct odd_setting {
    const char *name, *most;        /* what most of the nodes have */
    const char *values[NODES_MOST]; /* of each */
    size_t alike;                   /* nodes that have it */
    bool differs;
};

/* Its name is each node's own. */
static bool is_own_name(const struct odd_setting *odd, const struct summary *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (*odd->values[i] && strcmp(odd->values[i], s[i].info->node) != 0)
            return false;
    return true;
}

static void judge_setting(struct odd_setting *out, const struct summary *s, size_t n, size_t kind,
                          const char *name, struct arena *a)
{
    *out = (struct odd_setting){.name = name, .most = ""};
    for (size_t i = 0; i < n; i++)
        out->values[i] = setting_text(&s[i], kind, name, a);
    for (size_t i = 0; i < n; i++) {
        size_t alike = 0;
        for (size_t k = 0; k < n; k++) {
            alike += strcmp(out->values[i], out->values[k]) == 0;
            out->differs = out->differs || (*out->values[i] && *out->values[k] &&
                                            strcmp(out->values[i], out->values[k]) != 0);
        }
        if (*out->values[i] && alike > out->alike) {
            out->most = out->values[i];
            out->alike = alike;
        }
    }
    out->differs = out->differs && !is_own_name(out, s, n);
    if (out->alike <= 1) /* there is no most */
        out->most = "";
}

/* Those that only this node has said, of the nodes before. */
static bool is_new(const struct summary *s, size_t at, size_t kind, const char *name)
{
    for (size_t i = 0; i < at; i++)
        if (find_item(&s[i], kind, name))
            return false;
    return true;
}

static void each_odd_setting(const struct summary *s, size_t n, struct arena *a,
                             void (*put)(void *arg, const struct summary *s, size_t n,
                                         const struct odd_setting *odd),
                             void *arg)
{
    struct odd_setting odd;
    for (size_t kind = 0; kind < STATE_KINDS && state_is_setting(kind); kind++)
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < s[i].state.kinds[kind].n; k++) {
                const char *name = s[i].state.kinds[kind].items[k].name;
                if (!is_new(s, i, kind, name))
                    continue;
                judge_setting(&odd, s, n, kind, name, a);
                if (odd.differs)
                    put(arg, s, n, &odd);
            }
}

struct odd_table {
    struct paper *paper;
    struct block *table;
    size_t n;
};

static void put_odd(void *arg, const struct summary *s, size_t n, const struct odd_setting *odd)
{
    static const char *const titles[] = {"", "most", "others"};
    struct odd_table *t = arg;
    const char *others = "";
    if (++t->n > SETTINGS_SHOWN)
        return;
    for (size_t i = 0; i < n; i++)
        if (*odd->values[i] && strcmp(odd->values[i], odd->most) != 0)
            others = arena_printf(&t->paper->arena, "%s%s%s on %s", others, *others ? "; " : "",
                                  odd->values[i], s[i].input->name);
    t->table = t->table ? t->table : paper_table(t->paper, titles, ARRAY_LEN(titles), "lll");
    const char *cells[] = {
        odd->name,
        *odd->most ? arena_printf(&t->paper->arena, "%s (%zu)", odd->most, odd->alike) : "–",
        others};
    paper_row(t->paper, t->table, cells);
}

void state_nodes(struct paper *p, const struct summary *s, size_t n)
{
    struct odd_table t = {.paper = p};
    paper_heading(p, 2, "Settings that differ");
    each_odd_setting(s, n, &p->arena, put_odd, &t);
    if (t.n == 0)
        paper_put(p, "Versions, flags, limits, arguments and applications are the same on all "
                     "nodes that have them recorded.");
    else if (t.n > SETTINGS_SHOWN)
        paper_put(p, "Not shown: %zu more.", t.n - SETTINGS_SHOWN);
}

static void add_odd(void *arg, const struct summary *s, size_t n, const struct odd_setting *odd)
{
    json_t *list = arg, *o = json_object(), *nodes = json_array();
    if (json_array_size(list) == SETTINGS_LISTED) {
        json_decref(o);
        json_decref(nodes);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (*odd->values[i] && strcmp(odd->values[i], odd->most) != 0)
            json_array_append_new(nodes,
                                  json_pack("{s:o,s:o}", "node", json_chars(s[i].input->name),
                                            "value", json_chars(odd->values[i])));
    json_set(o, "what", json_chars(odd->name));
    json_set(o, "most", json_chars(odd->most));
    json_set(o, "nodes_alike", json_integer((json_int_t)odd->alike));
    json_set(o, "others", nodes);
    json_array_append_new(list, o);
}

json_t *state_nodes_json(const struct summary *s, size_t n)
{
    json_t *list = json_array();
    struct arena arena;
    arena_init(&arena);
    each_odd_setting(s, n, &arena, add_odd, list);
    arena_clear(&arena);
    return list;
}

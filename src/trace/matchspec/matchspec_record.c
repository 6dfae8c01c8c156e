/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records and structs, by the node's definitions. */
#include <stdio.h>

#include "matchspec_internal.h"

/* NULL without a failure: a struct that the target knows nothing of. */
const struct record_def *record_find(struct scope *s, const struct node *n)
{
    bool is_struct = n->kind == NODE_STRUCT;
    struct slice module = is_struct ? n->text : n->module;
    struct slice name = is_struct ? (struct slice){0} : n->text;
    if (module.len == 0 && s->pattern->module.kind == NAME_EXACT)
        module = s->pattern->module.text;
    if (module.len == 0)
        return scope_fail(s, n, "say whose record this is: module#%.*s{…}", (int)name.len, name.s);
    for (size_t i = 0; i < s->options->n_records; i++) {
        const struct record_def *def = &s->options->records[i];
        if (!slice_equal(def->module, module) || !slice_equal(def->name, name))
            continue;
        if (def->missing.len == 0)
            return def;
        if (is_struct)
            return NULL;
        return scope_fail(s, n, "no definition of the record %.*s in %.*s: %.*s", (int)name.len,
                          name.s, (int)module.len, module.s, (int)def->missing.len, def->missing.s);
    }
    if (is_struct)
        return NULL;
    return scope_fail(s, n, "no definition of the record %.*s in %.*s", (int)name.len, name.s,
                      (int)module.len, module.s);
}

static int field_place(const struct record_def *def, struct slice field)
{
    for (size_t i = 0; i < def->n_fields; i++) {
        if (slice_equal(def->fields[i], field))
            return (int)i;
    }
    return -1;
}

/* The name as the user writes it: an Elixir module without its prefix. */
static struct slice spelled_name(const struct node *n)
{
    return n->kind == NODE_STRUCT ? slice_without(n->text, "Elixir.") : n->text;
}

/* Lists the existing ones in the error. */
static void no_such_field(struct scope *s, const struct node *n, const struct node *field,
                          const struct record_def *def)
{
    char names[160] = "";
    const struct slice whose = spelled_name(n);
    if (def->n_fields == 0 && n->kind == NODE_STRUCT) {
        scope_fail(s, n,
                   "the node has no struct %.*s with fields; aliases are not known here: write "
                   "its whole name, as in %%MyApp.Cart.Item{…}",
                   (int)whose.len, whose.s);
        return;
    }
    for (size_t i = 0, len = 0; i < def->n_fields && len < sizeof names; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%.*s", i > 0 ? ", " : "",
                                (int)def->fields[i].len, def->fields[i].s);
    scope_fail(s, field, "%.*s has no field %.*s; it has %s", (int)whose.len, whose.s,
               (int)field->text.len, field->text.s, names);
}

/* `_ = Value` is every field that is not named. */
static void fill_others(const struct node **fields, size_t count, const struct node *value)
{
    for (size_t i = 0; i < count; i++) {
        if (!fields[i])
            fields[i] = value;
    }
}

const struct node **record_fields(struct scope *s, const struct node *n, size_t *count)
{
    const struct record_def *def = record_find(s, n);
    if (s->err->code != ERR_NONE)
        return NULL;
    *count = def ? def->n_fields : 0;
    const struct node **fields = arena_alloc(&s->arena, (*count + 1) * sizeof(*fields));
    const struct node *others = NULL;
    for (size_t i = 0; def && i + 1 < n->n_items; i += 2) {
        const struct node *field = n->items[i];
        bool any = field->kind == NODE_ANY ||
                   (field->kind == NODE_ATOM && field->text.len == 1 && field->text.s[0] == '_');
        int place = field_place(def, field->text);
        if (any && n->kind == NODE_RECORD) {
            others = n->items[i + 1];
        } else if (place < 0) {
            no_such_field(s, n, field, def);
            return NULL;
        } else if (fields[place]) {
            return scope_fail(s, field, "the field %.*s is there twice", (int)field->text.len,
                              field->text.s);
        } else {
            fields[place] = n->items[i + 1];
        }
    }
    if (others)
        fill_others(fields, *count, others);
    return fields;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a head has bound, and the making of terms. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "matchspec_internal.h"

#define NEWEST_RELEASE 29

void *scope_fail(struct scope *s, const struct node *at, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (s->err->code == ERR_NONE && s->offset)
        *s->offset = at->from;
    error_set(s->err, ERR_USAGE, "%s", text);
    return NULL;
}

bool scope_lacks(const struct scope *s, int release)
{
    int otp = s->options->otp > 0 ? s->options->otp : NEWEST_RELEASE;
    return otp < release;
}

struct spec_variable *scope_find(struct scope *s, struct slice name)
{
    for (size_t i = 0; i < s->n_variables; i++) {
        if (slice_equal(s->variables[i].name, name))
            return &s->variables[i];
    }
    return NULL;
}

/* Room for one more in an array of the arena. */
static void *grow_array(struct scope *s, void *old, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return old;
    size_t more = *cap ? *cap * 2 : 8;
    void *room = arena_alloc(&s->arena, more * size);
    if (n > 0)
        memcpy(room, old, n * size);
    *cap = more;
    return room;
}

void scope_bind(struct scope *s, struct slice name, struct spec *value, const char *why)
{
    s->variables =
        grow_array(s, s->variables, s->n_variables, &s->cap_variables, sizeof(*s->variables));
    s->variables[s->n_variables++] = (struct spec_variable){name, value, why};
}

void spec_add(struct scope *s, struct spec_list *list, struct spec *item)
{
    list->items = grow_array(s, list->items, list->n, &list->cap, sizeof(*list->items));
    list->items[list->n++] = item;
}

void scope_guard(struct scope *s, struct spec *guard)
{
    s->narrow = true;
    spec_add(s, &s->guards, guard);
}

struct spec *scope_fresh(struct scope *s)
{
    return spec_atom(s, arena_printf(&s->arena, "$%u", ++s->last));
}

static void keep_name(struct scope *s, struct slice name)
{
    struct matchspec *out = s->out;
    for (size_t i = 0; i < out->n_atoms; i++) {
        if (slice_equal(out->atoms[i], name))
            return;
    }
    out->atoms = alloc_resize(out->atoms, out->n_atoms + 1, sizeof(*out->atoms));
    out->atoms[out->n_atoms++] =
        (struct slice){arena_strndup(&out->names, name.s, name.len), name.len};
}

struct spec *spec_new(struct scope *s, enum spec_kind kind)
{
    struct spec *spec = arena_alloc(&s->arena, sizeof(*spec));
    spec->kind = kind;
    return spec;
}

struct spec *spec_atom(struct scope *s, const char *name)
{
    struct spec *spec = spec_new(s, SPEC_ATOM);
    spec->text = slice_of(name);
    return spec;
}

struct spec *spec_name(struct scope *s, struct slice name)
{
    struct spec *spec = spec_new(s, SPEC_ATOM);
    keep_name(s, name);
    spec->text = name;
    return spec;
}

struct spec *spec_integer(struct scope *s, int64_t v)
{
    struct spec *spec = spec_new(s, SPEC_INTEGER);
    spec->number = v;
    return spec;
}

struct spec *spec_bits(struct scope *s, const char *bytes, size_t bits)
{
    struct spec *spec = spec_new(s, SPEC_BITS);
    spec->text = (struct slice){bytes, (bits + 7) / 8};
    spec->number = (int64_t)bits;
    return spec;
}

struct spec *spec_items(struct scope *s, enum spec_kind kind, struct spec **items, size_t n)
{
    struct spec *spec = spec_new(s, kind);
    spec->items = arena_alloc(&s->arena, (n + 1) * sizeof(*items));
    spec->n_items = n;
    if (n > 0)
        memcpy(spec->items, items, n * sizeof(*items));
    return spec;
}

struct spec *spec_compound(struct scope *s, enum spec_kind kind, const struct node *n,
                           struct spec *(*make)(struct scope *s, const struct node *n))
{
    struct spec_list items = {0};
    for (size_t i = 0; i < n->n_items; i++) {
        struct spec *item = make(s, n->items[i]);
        if (!item)
            return NULL;
        spec_add(s, &items, item);
    }
    struct spec *spec = spec_items(s, kind, items.items, items.n);
    if (n->tail && !(spec->tail = make(s, n->tail)))
        return NULL;
    return spec;
}

struct spec *spec_tuple(struct scope *s, struct spec **items, size_t n)
{
    return spec_items(s, SPEC_TUPLE, items, n);
}

struct spec *spec_call(struct scope *s, const char *name, ...)
{
    struct spec *items[12] = {spec_atom(s, name)};
    size_t n = 1;
    va_list args;
    va_start(args, name);
    for (struct spec *arg; (arg = va_arg(args, struct spec *)); n++) {
        assert(n < sizeof(items) / sizeof(items[0]));
        items[n] = arg;
    }
    va_end(args);
    return spec_tuple(s, items, n);
}

bool spec_is_special(struct slice atom)
{
    if (atom.len == 1 && atom.s[0] == '_')
        return true;
    if (atom.len < 2 || atom.s[0] != '$')
        return false;
    if (atom.len == 2 && (atom.s[1] == '_' || atom.s[1] == '$'))
        return true;
    for (size_t i = 1; i < atom.len; i++) {
        if (atom.s[i] < '0' || atom.s[i] > '9')
            return false;
    }
    return true;
}

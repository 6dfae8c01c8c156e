/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prepare.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"

/* ---- definitions of records and structs */

void record_store_init(struct record_store *s)
{
    *s = (struct record_store){0};
    arena_init(&s->arena);
}

void record_store_clear(struct record_store *s)
{
    free(s->defs);
    arena_clear(&s->arena);
}

/* {Module, Name, [Field]}, or {missing, Why} in place of the fields. */
static bool read_record(struct cursor *c, struct record_store *s)
{
    struct record_def def = {0};
    struct slice fields[LIMIT_TRACE_FIELDS];
    struct cursor_list list = {0};
    if (!cursor_tuple_of(c, 3) || !cursor_binary(c, &def.module) || !cursor_binary(c, &def.name))
        return false;
    if (cursor_kind(c) == ETF_KIND_TUPLE) {
        if (!cursor_tuple_of(c, 2) || !cursor_atom_is(c, "missing") ||
            !cursor_binary(c, &def.missing))
            return false;
    } else {
        if (!answer_list(c, &list, SIZE_MAX))
            return false;
        if (list.count > LIMIT_TRACE_FIELDS)
            return cursor_fail(c, "fewer fields");
        for (size_t i = 0; i < list.count; i++)
            if (!cursor_binary(c, &fields[i]))
                return false;
        if (!cursor_list_end(c, &list))
            return false;
    }
    struct slice *kept = arena_alloc(&s->arena, (list.count + 1) * sizeof *kept);
    for (size_t i = 0; i < list.count; i++)
        kept[i] = slice_keep(&s->arena, fields[i]);
    s->defs = alloc_resize(s->defs, s->n + 1, sizeof *s->defs);
    s->defs[s->n++] = (struct record_def){
        .module = slice_keep(&s->arena, def.module),
        .name = slice_keep(&s->arena, def.name),
        .fields = kept,
        .n_fields = list.count,
        .missing = slice_keep(&s->arena, def.missing),
    };
    return true;
}

int record_store_take(struct record_store *s, const uint8_t *term, size_t len, struct error *err)
{
    struct cursor c;
    struct cursor_list list;
    cursor_init(&c, term, len);
    bool ok =
        cursor_tuple_of(&c, 2) && cursor_atom_is(&c, "records") && answer_list(&c, &list, SIZE_MAX);
    for (size_t i = 0; ok && i < list.count; i++)
        ok = read_record(&c, s);
    return cursor_end(&c, ok && cursor_list_end(&c, &list), "records", err);
}

const struct record_def *record_store_find(const struct record_store *s, struct slice module,
                                           struct slice name)
{
    for (size_t i = 0; i < s->n; i++)
        if (slice_equal(s->defs[i].module, module) && slice_equal(s->defs[i].name, name))
            return &s->defs[i];
    return NULL;
}

size_t prepare_records(struct pattern *const *patterns, size_t n_patterns, struct record_name *out,
                       size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < n_patterns; i++) {
        size_t room = n < most ? most - n : 0;
        size_t found = pattern_records(patterns[i], out + n, room);
        size_t stored = found < room ? found : room;
        for (size_t k = n; k < n + stored; k++)
            if (out[k].module.len == 0 && patterns[i]->module.kind == NAME_EXACT)
                out[k].module = patterns[i]->module.text;
        n += stored;
    }
    return n;
}

struct builder *prepare_records_arg(const struct record_name *names, size_t n)
{
    struct builder *b = builder_new();
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        build_tuple(b, 2);
        build_binary(b, names[i].module.s, names[i].module.len);
        build_binary(b, names[i].name.s, names[i].name.len);
    }
    build_nil(b);
    return b;
}

/* ---- the preflight */

static const char *const kind_atoms[] = {
    [PATTERN_CALL] = "call",
    [PATTERN_SEND] = "send",
    [PATTERN_RECEIVE] = "receive",
};

const char *prepare_kind_atom(enum pattern_kind kind)
{
    return kind_atoms[kind];
}

static void build_name(struct builder *b, const struct pattern_name *name, const char *exact)
{
    if (name->kind == NAME_ANY) {
        build_atom(b, "any");
        return;
    }
    build_tuple(b, 2);
    build_atom(b, name->kind == NAME_EXACT ? exact : "re");
    build_binary(b, name->text.s, name->text.len);
}

void prepare_functions(struct builder *b, const struct pattern *p)
{
    if (p->own)
        build_atom(b, "own");
    else if (p->application)
        build_name(b, &p->function, "app");
    else
        build_name(b, &p->module, "name");
    if (p->application)
        build_atom(b, "any");
    else
        build_name(b, &p->function, "name");
    if (p->arity < 0)
        build_atom(b, "any");
    else
        build_int(b, p->arity);
}

void prepare_number(struct builder *b, const char *key, uint64_t value)
{
    build_atom(b, key);
    build_int(b, (int64_t)value);
}

void prepare_mfa(struct builder *b, const struct mfa *m)
{
    build_tuple(b, 3);
    build_atom_n(b, m->module.s, m->module.len);
    build_atom_n(b, m->function.s, m->function.len);
    build_int(b, m->arity);
}

static void build_binaries(struct builder *b, const struct slice *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        build_binary(b, texts[i].s, texts[i].len);
}

static void build_atoms(struct builder *b, const struct matchspec *specs, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += specs[i].n_atoms;
    build_list(b, total);
    for (size_t i = 0; i < n; i++)
        build_binaries(b, specs[i].atoms, specs[i].n_atoms);
    build_nil(b);
}

void prepare_spec(struct builder *b, const struct matchspec *m, const struct builder *term)
{
    build_tuple(b, 2);
    build_list(b, m->n_atoms);
    build_binaries(b, m->atoms, m->n_atoms);
    build_nil(b);
    size_t len;
    const uint8_t *bytes = builder_bytes(term, &len);
    build_binary(b, bytes, len);
}

struct builder *prepare_preflight_arg(struct pattern *const *patterns,
                                      const struct matchspec *specs, size_t n,
                                      const struct procs *procs, const struct caps *caps, bool near)
{
    struct builder *b = builder_new();
    build_map(b, 6);
    build_atom(b, "atoms");
    build_atoms(b, specs, n);
    build_atom(b, "near");
    build_bool(b, near);
    build_atom(b, "patterns");
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        const struct pattern *p = patterns[i];
        build_tuple(b, 5);
        build_int(b, (int64_t)i);
        build_atom(b, kind_atoms[p->kind]);
        prepare_functions(b, p);
    }
    build_nil(b);
    build_atom(b, "procs");
    procs_build(b, procs);
    prepare_number(b, "most_functions", caps->value[CAP_FUNCTIONS]);
    prepare_number(b, "most_processes", caps->value[CAP_PROCESSES]);
    return b;
}

int prepare_procs_fit(const struct preflight *found, uint64_t most, struct error *err)
{
    if (found->procs != PREFLIGHT_PIDS || found->n_procs <= most)
        return 0;
    return error_set(err, ERR_LIMIT,
                     "%llu processes fit, and %llu are taken one by one: narrow them",
                     (unsigned long long)found->n_procs, (unsigned long long)most);
}

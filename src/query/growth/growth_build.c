/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `growth`: docs/recording.md. */
#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "growth_terms.h"
#include "query/native/values.h"

static const struct slice nothing = {0};

/* ---- parts of maps */

static void put_int(struct builder *b, const char *key, int64_t value)
{
    build_atom(b, key);
    build_int(b, value);
}

static void put_size(struct builder *b, const char *key, size_t value)
{
    put_int(b, key, (int64_t)value);
}

static void put_number(struct builder *b, const char *key, double value)
{
    build_atom(b, key);
    if (isnan(value))
        build_atom(b, "undefined");
    else
        build_double(b, value);
}

static void put_term(struct builder *b, const char *key, struct slice term)
{
    build_atom(b, key);
    values_build_known(b, term);
}

static void put_text(struct builder *b, const char *key, struct slice text)
{
    build_atom(b, key);
    build_binary(b, text.s, text.len);
}

static bool put_unknown(struct builder *b, const char *key, bool known)
{
    build_atom(b, key);
    if (!known)
        build_atom(b, "undefined");
    return !known;
}

static void put_process(struct builder *b, const char *key, const struct growth_fact *f,
                        const struct etf_pid *pid)
{
    if (put_unknown(b, key, pid != NULL))
        return;
    const struct who_entry *who = f->who(f->who_arg, pid);
    const struct who_entry entry = who ? *who : (struct who_entry){0};
    build_map(b, 4);
    build_atom(b, "pid");
    build_pid(b, f->node->name, pid);
    put_term(b, "name", who_shown_name(who));
    put_term(b, "initial_call", entry.call);
    put_term(b, "application", entry.application);
}

static void put_owner(struct builder *b, const char *key, const struct growth_fact *f,
                      struct slice owner)
{
    struct etf_pid pid;
    put_process(b, key, f, owner.len > 0 && who_read_pid(owner, f->node, &pid) ? &pid : NULL);
}

/* All of it but the name. */
static void put_most(struct builder *b, const struct growth_fact *f, const struct growth_most *most)
{
    put_size(b, "sampled", most->sampled);
    put_size(b, "seen", most->seen);
    put_owner(b, "owner", f, most->owner);
    put_size(b, "owned", most->owned);
}

/* ---- processes */

static void put_group(struct builder *b, const char *key, const struct growth_fact *f,
                      const struct growth_group *group, bool alive)
{
    build_atom(b, key);
    build_map(b, alive ? 7 : 6);
    put_size(b, "sampled", group->sampled);
    put_size(b, "seen", group->seen);
    put_term(b, "function", group->function);
    put_process(b, "example", f, group->example);
    put_process(b, "spawner", f, group->spawner);
    put_size(b, "spawned", group->spawned);
    if (alive)
        put_size(b, "alive", group->alive);
}

static void put_restarts(struct builder *b, const struct growth_fact *f)
{
    const struct growth_restarts *r = &f->restarts;
    if (put_unknown(b, "restarts", r->supervisor != NULL))
        return;
    build_map(b, r->has_ends ? 6 : 4);
    put_number(b, "per_s", r->per_s);
    put_size(b, "children", r->children);
    build_atom(b, "example");
    build_pid(b, f->node->name, &r->example);
    put_process(b, "supervisor", f, r->supervisor);
    if (!r->has_ends)
        return;
    put_int(b, "normal", r->normal);
    put_int(b, "failed", r->failed);
}

/* ---- the rest */

static void put_atoms(struct builder *b, const struct growth_fact *f)
{
    if (put_unknown(b, "atoms", f->has_atoms))
        return;
    const struct growth_texts *t = &f->atoms;
    const bool one = slice_equal(t->first, t->last);
    build_map(b, 2);
    put_text(b, "prefix", t->prefix);
    build_atom(b, "examples");
    build_list(b, one ? 1 : 2);
    build_binary(b, t->first.s, t->first.len);
    if (!one)
        build_binary(b, t->last.s, t->last.len);
    build_nil(b);
}

static void build_grown(struct builder *b, const struct growth_fact *f,
                        const struct growth_grown *g)
{
    struct buf id;
    buf_init(&id, 0);
    build_map(b, 6);
    put_term(b, "name", g->name);
    put_owner(b, "owner", f, g->owner);
    if (g->id.len > 0 && values_put_chars(&id, g->id))
        put_text(b, "id", (struct slice){(const char *)id.data, id.len});
    else
        put_term(b, "id", nothing);
    put_term(b, "objects", g->objects);
    put_int(b, "memory_bytes", g->table->words * f->word_bytes);
    put_int(b, "grown_bytes", g->words * f->word_bytes);
    buf_clear(&id);
}

static void put_tables(struct builder *b, const struct growth_fact *f)
{
    const struct growth_ets *e = &f->ets;
    size_t n = 0;
    if (put_unknown(b, "ets", e->known))
        return;
    build_map(b, 5);
    put_int(b, "tables", e->tables);
    put_int(b, "measured", e->measured);
    put_size(b, "new", e->n_new);
    build_atom(b, "most_new");
    build_map(b, 5);
    put_term(b, "name", e->made.name);
    put_most(b, f, &e->made);
    build_atom(b, "growing");
    for (size_t i = 0; i < e->n_growing; i++)
        n += e->growing[i].owner.len > 0;
    build_list(b, n);
    for (size_t i = 0; i < e->n_growing; i++)
        if (e->growing[i].owner.len > 0)
            build_grown(b, f, &e->growing[i]);
    build_nil(b);
}

static void put_kept(struct builder *b, const struct growth_kept *kept)
{
    if (put_unknown(b, "kept", kept->known))
        return;
    build_map(b, 4);
    put_int(b, "timers", kept->timers);
    put_int(b, "timer_bytes", kept->timer_bytes);
    put_int(b, "monitor_bytes", kept->monitor_bytes);
    put_int(b, "link_bytes", kept->link_bytes);
}

static void put_sockets(struct builder *b, const struct growth_fact *f)
{
    const bool sampled = f->owners.sampled > 0;
    if (put_unknown(b, "sockets", f->sockets >= 0))
        return;
    build_map(b, sampled ? 5 : 2);
    put_int(b, "count", f->sockets);
    put_int(b, "grown", f->sockets_grown);
    if (!sampled)
        return;
    put_size(b, "sampled", f->owners.sampled);
    put_size(b, "seen", f->owners.seen);
    put_owner(b, "owner", f, f->owners.owner);
}

/* Of a command its name: what follows may be anything. */
#define PORT_NAME_BYTES 60

static void put_port_name(struct builder *b, struct slice name)
{
    struct buf text;
    buf_init(&text, 0);
    if (name.len > 0 && values_put_chars(&text, name)) {
        const char *s = buf_cstr(&text);
        size_t at = 0;
        int32_t point;
        for (size_t n; s[at] != ' ' && (n = text_decode(s + at, text.len - at, &point)) > 0 &&
                       at + n <= PORT_NAME_BYTES;)
            at += n;
        put_text(b, "name", (struct slice){s, at});
    } else {
        put_term(b, "name", nothing);
    }
    buf_clear(&text);
}

static void put_ports(struct builder *b, const struct growth_fact *f)
{
    build_atom(b, "ports");
    build_map(b, 6);
    put_int(b, "new", f->new_ports);
    put_port_name(b, f->ports.name);
    put_most(b, f, &f->ports);
}

static void put_code(struct builder *b, const struct growth_fact *f)
{
    build_atom(b, "code");
    build_map(b, 3);
    put_int(b, "modules", f->modules);
    put_int(b, "new", f->new_modules);
    build_atom(b, "examples");
    build_list(b, f->n_new_names);
    for (size_t i = 0; i < f->n_new_names; i++)
        values_build(b, f->new_names[i]);
    build_nil(b);
}

void growth_build(struct builder *b, const struct growth_fact *f)
{
    build_tuple(b, 3);
    build_atom(b, "growth");
    build_int(b, f->mono_ns);
    build_map(b, 1);
    build_atom(b, "growth");
    build_map(b, 12);
    put_number(b, "over_s", f->over_s);
    put_number(b, "spawned_per_s", f->spawned_per_s);
    put_number(b, "spawned_lately_per_s", f->lately_per_s);
    put_group(b, "processes", f, &f->processes, true);
    put_group(b, "short_lived", f, &f->brief, false);
    put_restarts(b, f);
    put_atoms(b, f);
    put_tables(b, f);
    put_kept(b, &f->kept);
    put_sockets(b, f);
    put_ports(b, f);
    put_code(b, f);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a question `terms` has read. Pure: no clock, no connection. */
#ifndef BEAMTOP_QUERY_TERMS_INTERNAL_H
#define BEAMTOP_QUERY_TERMS_INTERNAL_H

#include "beamtop/base/arena.h"
#include "query/growth/growth_terms.h"
#include "terms.h"

#define TERMS_KEYS 1000    /* of persistent terms that are listed */
#define TERMS_ATOMS 50     /* the newest */
#define TERMS_MODULES 1000 /* with a row each: the largest */
#define TERMS_COLUMNS 10   /* of a row: as `terms_fields` of the model has them */

struct terms_key {
    struct slice text;   /* as Erlang writes it, cut where it is long */
    struct slice module; /* its first atom, a name; len 0: it has none */
    int64_t bytes;       /* of its value, unshared; -1: not known */
    uint64_t late_ms;    /* when it was too large to be measured; 0: never */
    bool is_external;    /* in the external term format */
};
struct terms_keys {
    struct arena arena;
    struct terms_key *all; /* in the order of the node's table */
    size_t n;
};

struct terms_module {
    struct slice name;
    int64_t bytes, old_bytes;
};
struct terms_modules {
    struct arena arena;
    struct terms_module *all; /* the largest first */
    size_t n;
    int64_t bytes, old_bytes; /* of all on the node */
};

/* Whose module it is, by name of module. */
struct terms_owner {
    struct slice module, application;
};
struct terms_owners {
    struct arena arena;
    struct terms_owner *all;
    size_t n;
};

struct terms_read {
    struct who_node node;
    uint64_t now_ms;
    int64_t word_bytes, persistent, persistent_bytes; /* -1: not known */
    int64_t atoms, atom_limit, atom_bytes;            /* likewise */
    bool is_external; /* erts_debug is not loaded, so sizes are those of the external format */
    struct terms_keys keys;
    uint64_t keys_ms, keys_tried_ms; /* 0: never */
    int64_t keys_count;              /* of all, when they were listed */
    size_t size_at, size_n;          /* the next to be measured, so many in one ask */
    size_t bad_end;                  /* before it there is one that takes too long */
    size_t sizes_left;               /* asks of this question */
    struct arena atom_arena;
    struct slice newest[TERMS_ATOMS]; /* bare atoms, the newest first */
    size_t n_newest;
    struct terms_modules modules;
    uint64_t modules_ms, owners_ms; /* 0: never */
    struct terms_owners owners;
    struct growth_kept timers;
};

/* ---- terms_keys.c */

/* Of lists:foldl/3: the first TERMS_KEYS keys, without a look at values. */
struct builder *terms_keys_args(void);
/* Keys of n from `at` on, with the words of their values, or bytes of the external format, after a
 * walk through these that the node can end. */
struct builder *terms_sizes_args(size_t at, size_t n, bool is_external);
/* false: another form, and nothing has changed. Sizes of a key that was there stay. */
bool terms_take_keys(struct terms_keys *keys, struct slice list);
/* word_bytes 0: sizes are of the external format. false: these are not the keys from `at` on. */
bool terms_take_sizes(struct terms_keys *keys, size_t at, size_t n, struct slice list,
                      int64_t word_bytes);
void terms_keys_clear(struct terms_keys *keys);

/* ---- terms_modules.c */

/* text: of system_info(loaded). false: another form, and nothing has changed. */
bool terms_take_modules(struct terms_modules *modules, struct slice text);
void terms_modules_clear(struct terms_modules *modules);
/* list: [{Application, [Module]}] */
bool terms_take_owners(struct terms_owners *owners, struct slice list);
void terms_owners_clear(struct terms_owners *owners);
/* Empty: not known. */
struct slice terms_find_owner(const struct terms_owners *owners, struct slice module);

/* {terms, MonoNs, Rows, Partial} */
void terms_build(struct builder *b, void *read, int64_t mono_ns, const struct stepped_who *who);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of `facts` share. Pure: no clock, no connection. */
#ifndef BEAMTOP_QUERY_FACTS_TERMS_H
#define BEAMTOP_QUERY_FACTS_TERMS_H

#include "beamtop/base/buf.h"
#include "beamtop/etf/cursor.h"
#include "query/native/run.h"

/* Values, as the node sent them; those of one ask in the order of its calls. */
enum facts_term {
    FACTS_BUSY_LIMIT,
    FACTS_CONTROLLERS,
    FACTS_WORD_BYTES,
    FACTS_HANDLERS,
    FACTS_ELIXIR,
    FACTS_QUEUES,
    FACTS_PROCESSES,
    FACTS_SYNC,
    FACTS_DISCARD,
    FACTS_MODES,
    FACTS_ADAPTER, /* empty: no module can be a repository */
    FACTS_LOADED,
    FACTS_MODULES,
    FACTS_ATTRIBUTES,
    FACTS_TABLES,
    FACTS_SPREAD,
    FACTS_SIZES,
    FACTS_SPREAD_SIZES,
    FACTS_NAMES,
    FACTS_OWNERS,
    FACTS_REGISTERED,
    FACTS_RUN_QUEUES,
    FACTS_FILES,
    FACTS_THREADS, /* from here on kept: they are so as long as the VM lives */
    FACTS_GROUP,
    FACTS_KINDS,
    FACTS_TERMS
};

struct facts_read {
    struct buf kept[FACTS_TERMS]; /* empty: not asked, or it failed */
    enum facts_term out;          /* the first of the last ask */
    int64_t mono_ns;
    unsigned looks; /* for a dirty I/O scheduler without work */
};

/* The values of the next ask are these, from the first on. */
void facts_expect(struct facts_read *f, enum facts_term first);
struct slice facts_kept(const struct facts_read *f, enum facts_term term);
/* Elements of a list, `most` at most; 0: it is empty, of single bytes, or something else. */
size_t facts_list(const struct facts_read *f, enum facts_term term, struct slice *out, size_t most);
bool facts_is(struct slice term, enum etf_kind kind);
void facts_build_pair(struct builder *b, const char *key, struct slice term);

/* ---- facts_tables.c, facts_cpus.c */

bool facts_ask_tables(void *own, struct run_calls *calls);
bool facts_ask_spread(void *own, struct run_calls *calls);
bool facts_ask_sizes(void *own, struct run_calls *calls);
bool facts_ask_spread_sizes(void *own, struct run_calls *calls);
bool facts_ask_rows(void *own, struct run_calls *calls);
bool facts_ask_owners(void *own, struct run_calls *calls);
void facts_build_tables(struct builder *b, const struct facts_read *f);

bool facts_ask_idle(void *own, struct run_calls *calls);
bool facts_ask_threads(void *own, struct run_calls *calls);
bool facts_ask_kinds(void *own, struct run_calls *calls);
bool facts_ask_files(void *own, struct run_calls *calls);
void facts_build_cpus(struct builder *b, const struct facts_read *f);

#endif

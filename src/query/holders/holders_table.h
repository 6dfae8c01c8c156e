/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of each process from one answer of `holders` to the next. Pure: no clock, no
 * connection. */
#ifndef BEAMTOP_QUERY_HOLDERS_TABLE_H
#define BEAMTOP_QUERY_HOLDERS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/term.h"

struct who_entry;

/* Processes that are known; others are left out. */
#define HOLDERS_MOST 400000
/* Different names, calls, labels and functions; others are unknown. */
#define HOLDERS_TEXTS 100000

/* What a process is, as a term: its number among the texts; 0: unknown. */
enum holder_text {
    OF_CALL,
    OF_APPLICATION,
    OF_SUPERVISOR,
    OF_LABEL,
    OF_FUNCTION,
    OF_NAME, /* rows may have several */
    HOLDER_TEXTS
};

/* What it holds, 0 to VALUES_MOST each. */
enum holder_number {
    HOLDS_MEMORY,       /* bytes: of heaps, message queue, links and monitors */
    HOLDS_BINARY_BYTES, /* of refc binaries, as the collector counts them */
    HOLDS_QUEUE,
    HOLDS_HEAP, /* bytes */
    HOLDS_BINARIES,
    HOLDS_LINKS,
    HOLDS_MONITORS,
    HOLDER_NUMBERS,
};
/* The first are those of which growth is said. */
#define HOLDER_GROWTHS 3

/* How far the slice is with it; holders_steps.c. */
enum holder_state {
    HOLDER_NEW,
    HOLDER_MOVES, /* it runs, or is ready to */
    HOLDER_STILL, /* a read waits for nobody */
    HOLDER_SHORT, /* its memory may be read */
    HOLDER_LONG,  /* a read of its memory walks what is long */
    HOLDER_TURN,  /* … and is paid for now */
    HOLDER_LISTS, /* its lists may be counted */
    HOLDER_DONE,
};

struct holder {
    struct etf_pid pid;
    enum holder_state state;
    bool listed;    /* else it has ended: only its `base` counts */
    bool known;     /* it has been looked at */
    bool is_first;  /* it was there at the first look */
    bool has_base;  /* base: of the first look, 0 of one that came later */
    bool is_read;   /* its memory is, ever */
    bool is_walked; /* its memory was read at walked_ms, not at this look */
    bool uncounted; /* some of its numbers are unknown */
    uint8_t named;  /* times */
    uint64_t named_ms, walked_ms;
    unsigned reads;   /* since its reductions were read: each is a reduction of its */
    int64_t links_ns; /* what its links and monitors cost a read of its memory at most */
    uint32_t text[HOLDER_TEXTS];
    int64_t now[HOLDER_NUMBERS], base[HOLDER_GROWTHS];
    int64_t reductions, reductions_ns; /* by the node's clock; ns 0: not read yet */
    double per_s;                      /* NaN: read once */
};

struct holders_text;
struct holders_table {
    struct holder *all; /* by pid */
    size_t n;
    struct arena arena;
    struct holders_text *texts; /* by what they are */
    struct slice *by_number;
    uint32_t n_texts; /* with that of 0 */
};

void holders_table_init(struct holders_table *t);
void holders_table_clear(struct holders_table *t); /* as new: init comes again */
/* These are all that there are; pids is put in order. first: growth counts from now on. */
void holders_table_list(struct holders_table *t, struct etf_pid *pids, size_t n, bool first);
/* The number of a term; 0: it is empty, too long, or there are too many. */
uint32_t holders_text_of(struct holders_table *t, struct slice term);
void holders_table_name(struct holders_table *t, struct holder *h, const struct who_entry *who,
                        uint64_t now_ms);
/* It has ended. */
void holder_end(struct holder *h);
/* Its numbers of this look are read. */
void holder_look(struct holder *h);
void holder_work(struct holder *h, int64_t reductions, int64_t mono_ns);

/* ---- holders_build.c */

struct holders_moment {
    const char *node;
    int64_t mono_ns;
    uint64_t now_ms, since_ms; /* growth counts from then */
    bool partial;
};
/* {holders, MonoNs, Rows, Partial} of docs/queries.md. */
void holders_build(struct builder *b, const struct holders_table *t,
                   const struct holders_moment *at);
/* {held, MonoNs, #{held => #{…}}}: the same, of those that hold most memory, and most binaries. */
void holders_build_facts(struct builder *b, const struct holders_table *t,
                         const struct holders_moment *at);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this layer share. */
#ifndef BEAMTOP_MODEL_INTERNAL_H
#define BEAMTOP_MODEL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/rate.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/base/ring.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/model/column.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/field.h"
#include "beamtop/model/model.h"
#include "beamtop/model/snapshot.h"
#include "beamtop/model/want.h"

/* ---- decode_read.c: reads that every decoder uses. All follow the cursor's sticky error. */

/* What came with a row besides its items: one for each row, and for each that is watched. */
struct scan_value {
    int64_t value, delta;
    bool has_value, has_delta;
};

struct decoder {
    struct cursor c;
    struct arena *arena;          /* where strings and lists of the answer go */
    struct buf scratch;           /* terms printed on their way into the arena */
    const struct node_info *node; /* NULL: not known yet */
    uint32_t items;               /* of a scan: what was asked for */
    struct slice kept[16];        /* texts in the arena: rows of a table have many alike */
    struct {
        struct scan_value *rows, *watched;
    } values; /* of a scan, in the arena */
};

void decoder_init(struct decoder *d, struct arena *arena, const uint8_t *term, size_t len);
/* Ends the decoding: 0, or the sticky error with `what` before it. Bytes left over are an error. */
int decoder_end(struct decoder *d, const char *what, struct error *err);

bool decode_undefined(struct decoder *d);         /* reads the atom if it is next */
bool decode_int(struct decoder *d, int64_t *out); /* or undefined: -1 */
/* The same, or {older, N, Ms}: age_s is NaN where N was never read, and is the least that it can
 * be. */
bool decode_older(struct decoder *d, int64_t *out, bool *older, double *age_s);
bool decode_age(struct decoder *d, double *age_s);        /* Ms | undefined */
bool decode_mono(struct decoder *d, uint64_t *out);       /* monotonic ns, ordered as unsigned */
bool decode_binary(struct decoder *d, struct slice *out); /* or undefined: empty */
bool decode_atom(struct decoder *d, struct slice *out);   /* or undefined: empty */
bool decode_mfa(struct decoder *d, struct slice *out);    /* {M,F,A} or undefined: empty */
struct slice decode_keep_mfa(struct decoder *d, struct slice mod, struct slice fun, int64_t arity);
bool decode_name(struct decoder *d, struct slice *out);    /* atom, binary, {M,F,A} or undefined */
bool decode_printed(struct decoder *d, struct slice *out); /* any term, as text */
bool decode_bool(struct decoder *d, bool *out);
struct slice decode_keep_pid(struct decoder *d, const struct etf_pid *pid);
/* Enters a list of terms (not of bytes) of at most cap elements; zeroed room for them in *items. */
bool decode_list(struct decoder *d, struct cursor_list *list, size_t cap, size_t size, void *items);

/* ---- decode*.c: one for each answer, into the zeroed or earlier struct of its row. Errors stay
   with the decoder. */

#define DECODE(id, name, type, ...) void decode_##name(struct decoder *d, void *to);
QUESTION_DETAILS(DECODE)
#undef DECODE
/* Of QUESTION_LISTS; of the others NULL. */
extern const struct field_list *const table_lists[QUESTIONS];
void decode_table(struct decoder *d, const char *name, const struct field_list *fields,
                  struct table_detail *out);

void proc_row_clear(struct proc_row *row); /* everything unknown */

/* The identity tuple of docs/queries.md (item `id`). */
bool decode_identity(struct decoder *d, struct proc_row *row);
/* The value of one item as a scan gives it. */
bool decode_item(struct decoder *d, enum proc_item item, struct proc_row *row);

/* ---- rate.c */

/* Rates, scheduler use and means of a sample; before is NULL at the first and after a gap. */
void rate_system(struct system_sample *now, const struct system_sample *before,
                 const struct node_info *node);
void rate_apps(struct table_detail *now, const struct table_detail *before,
               double node_reductions_per_s);

/* Rates, shares and changes of CPU; before is NULL at the first and after a gap. The utilisation of
 * the schedulers is system's, NULL: unknown. */
void rate_threads(struct threads_detail *now, const struct threads_detail *before,
                  const struct system_sample *system);

/* Shares of the states; before is NULL at the first and after a gap. */
void rate_msacc(struct msacc_detail *now, const struct msacc_detail *before);

/* ---- seen.c: processes across scans */

struct seen;
struct seen *seen_new(size_t max_pids);
void seen_free(struct seen *s);
void seen_forget(struct seen *s);      /* the VM is another one */
void seen_gap(struct seen *s);         /* the next sights give no rates */
size_t seen_len(const struct seen *s); /* for tests */

/* Sorts the rows by a column that the target does not rank by, and keeps those asked
 * for (order.c). */
void order_rows(struct proc_scan *scan, const struct field *column, const struct want_scan *asked);

/* Where a row's change within this scan is known better than from two sights. */
struct sweep_delta {
    const char *attr;  /* swept attribute, NULL: none */
    double interval_s; /* since its last sweep */
    int64_t delta;
    bool known;
};

/* Works out what follows from the earlier sights of this process, and remembers this one. */
void seen_row(struct seen *s, struct proc_row *row, uint64_t mono_ns, uint64_t now_ns,
              const struct sweep_delta *sweep);
/* Before OTP 26.2 a server that waits does not say its module, only the loop it waits in: one that
   was once seen at work keeps its initial call (mod:init/1), whatever answer it comes in. */
void seen_call(struct seen *s, const struct etf_pid *pid, struct slice *call, struct arena *arena);
/* Ends a scan. complete: it listed every process there is, so what appears next is new. */
void seen_scan_end(struct seen *s, bool complete);

/* ---- history.c */

/* A value a second of the target's clock, whatever the interval: the last one stands until the
   next, but through a gap. */
struct history {
    struct ring lines[HISTORY_LINES];
    uint64_t second; /* of the newest value; 0: none yet */
    bool gap;        /* since then */
};
void history_init(struct history *h, size_t most); /* samples of each line, at least 1 */
void history_clear(struct history *h);
void history_gap(struct history *h);
/* alloc: NULL, or too old: its lines have a gap. */
void history_push(struct history *h, const struct system_sample *s,
                  const struct alloc_detail *alloc);
/* Says in the rows of `vm` when resident memory reaches the cgroup's limit, or why that is unknown.
 * Texts: in the arena. */
void history_tell_limit(const struct history *h, struct table_detail *vm, struct arena *arena);

/* ---- journal.c */

struct journal {
    struct journal_entry *entries; /* a ring */
    size_t most, len, next;
};
void journal_init(struct journal *j, size_t most);
void journal_clear(struct journal *j);
struct journal_entry *journal_add(struct journal *j); /* zeroed; the oldest goes when it is full */
const struct journal_entry *journal_at(const struct journal *j, size_t age);

#endif

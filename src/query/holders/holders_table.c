/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "holders_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/hash.h"
#include "query/native/values.h"
#include "query/scan/scan_table.h"
#include "query/who/who.h"
#include "query/who/who_terms.h"

#define NAMED_READS 8   /* at most */
#define TERM_BYTES 1100 /* an atom of 255 characters is shorter */

struct holders_text {
    UT_hash_handle hh;
    struct slice term;
    uint32_t number;
};

void holders_table_init(struct holders_table *t)
{
    *t = (struct holders_table){.n_texts = 1};
    arena_init(&t->arena);
    t->by_number = alloc_zero(HOLDERS_TEXTS, sizeof *t->by_number);
}

static void clear_texts(struct holders_table *t)
{
    HASH_CLEAR(hh, t->texts);
    arena_clear(&t->arena);
    t->n_texts = 1;
}

void holders_table_clear(struct holders_table *t)
{
    clear_texts(t);
    free(t->by_number);
    free(t->all);
}

/* ---- texts */

uint32_t holders_text_of(struct holders_table *t, struct slice term)
{
    struct holders_text *text;
    if (term.len == 0 || term.len > TERM_BYTES || who_term_is(term, "undefined"))
        return 0;
    HASH_FIND(hh, t->texts, term.s, term.len, text);
    if (text)
        return text->number;
    if (t->n_texts == HOLDERS_TEXTS)
        return 0;
    text = arena_alloc(&t->arena, sizeof *text);
    text->term = slice_keep(&t->arena, term);
    text->number = t->n_texts++;
    t->by_number[text->number] = text->term;
    HASH_ADD_KEYPTR(hh, t->texts, text->term.s, text->term.len, text);
    return text->number;
}

/* Labels and functions come and go: those that nobody has any more leave. */
static void drop_texts(struct holders_table *t)
{
    struct holders_table old = *t;
    t->texts = NULL;
    arena_init(&t->arena);
    t->by_number = alloc_zero(HOLDERS_TEXTS, sizeof *t->by_number);
    t->n_texts = 1;
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < HOLDER_TEXTS; k++)
            t->all[i].text[k] = holders_text_of(t, old.by_number[t->all[i].text[k]]);
    clear_texts(&old);
    free(old.by_number);
}

void holders_table_name(struct holders_table *t, struct holder *h, const struct who_entry *who,
                        uint64_t now_ms)
{
    h->named = h->named == 0 ? 1 : 2;
    h->named_ms = now_ms;
    h->reads += NAMED_READS;
    if (!who)
        return;
    h->text[OF_CALL] = holders_text_of(t, who_shown_call(who));
    h->text[OF_APPLICATION] = holders_text_of(t, who->application);
    h->text[OF_SUPERVISOR] = holders_text_of(t, who->supervisor);
    h->text[OF_LABEL] = holders_text_of(t, who->label);
    h->text[OF_NAME] = holders_text_of(t, who->name);
}

/* ---- the list */

static int order_listed(const void *a, const void *b)
{
    return scan_compare_pids(a, b);
}

/* Of one that has ended what it held at the first look is kept. */
static bool keeps_ended(const struct holder *h)
{
    return h->has_base && h->is_first;
}

void holder_end(struct holder *h)
{
    h->listed = false;
    memset(h->now, 0, sizeof h->now);
    h->per_s = 0;
    h->is_walked = h->uncounted = false;
    h->state = HOLDER_DONE;
}

void holders_table_list(struct holders_table *t, struct etf_pid *pids, size_t n, bool first)
{
    struct holder *all = alloc_zero(t->n + n + 1, sizeof *all);
    size_t at = 0, kept = 0, old = 0;
    qsort(pids, n, sizeof *pids, order_listed);
    while (at < n || old < t->n) {
        const int order = at == n       ? 1
                          : old == t->n ? -1
                                        : scan_compare_pids(&pids[at], &t->all[old].pid);
        if (order > 0) {
            if (kept < HOLDERS_MOST && keeps_ended(&t->all[old])) {
                all[kept] = t->all[old];
                holder_end(&all[kept++]);
            }
            old++;
            continue;
        }
        if (order == 0)
            all[kept] = t->all[old++];
        else
            all[kept] = (struct holder){.pid = pids[at], .is_first = first, .per_s = NAN};
        all[kept].listed = true;
        all[kept].state = HOLDER_NEW;
        kept += kept < HOLDERS_MOST;
        at++;
    }
    free(t->all);
    t->all = all;
    t->n = kept;
    if (t->n_texts > HOLDERS_TEXTS / 2)
        drop_texts(t);
}

/* ---- numbers */

void holder_look(struct holder *h)
{
    h->known = true;
    h->state = HOLDER_DONE;
    if (h->has_base || !h->is_read)
        return;
    h->has_base = true;
    for (size_t i = 0; i < HOLDER_GROWTHS; i++)
        h->base[i] = h->is_first ? h->now[i] : 0;
}

void holder_work(struct holder *h, int64_t reductions, int64_t mono_ns)
{
    const double us = values_between_us(h->reductions_ns, mono_ns);
    const double did = (double)reductions - (double)h->reductions - h->reads;
    if (h->reductions_ns != 0 && us > 0)
        h->per_s = did > 0 ? did * 1e6 / us : 0;
    h->reads = 0;
    h->reductions = reductions;
    h->reductions_ns = mono_ns;
}

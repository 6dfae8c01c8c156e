/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_state.h"

#include <math.h>
#include <string.h>

/* As keeper.erl signs our processes: by label, and for older releases by initial call. */
static bool is_ours(const struct proc_row *row)
{
    return slice_is(row->label, "beamtop") || slice_is(row->initial_call, "beamtop:keeper/0");
}

double node_reductions_per_s(const struct model *m)
{
    const struct system_sample *s = model_system(m);
    return s && !m->is_silent ? s->reductions_per_s : (double)NAN;
}

/* Where `system` was not answered, rates of other answers span a time that its own do not. */
void work_since(const struct model *m, struct node_work *before, double *all_per_s,
                double *own_per_s)
{
    const struct system_sample *s = model_system(m);
    const bool was_stale = before->stale;
    before->stale = m->is_silent;
    *all_per_s = *own_per_s = NAN;
    if (!s || before->stale)
        return;
    if (was_stale) {
        *before = (struct node_work){s->mono_ns, false, s->reductions, s->own_reductions};
        return;
    }
    *all_per_s = s->reductions_per_s;
    *own_per_s = s->own_reductions_per_s;
    double interval_s = before->mono_ns ? rate_interval(before->mono_ns, s->mono_ns) : NAN;
    if (!isnan(interval_s)) {
        *all_per_s = rate_counter(before->reductions, s->reductions, interval_s);
        *own_per_s = rate_counter(before->own_reductions, s->own_reductions, interval_s);
    }
    *before = (struct node_work){s->mono_ns, false, s->reductions, s->own_reductions};
}

void finish_row(const struct model *m, struct proc_row *row, double reductions_per_s)
{
    const struct node_info *node = model_node(m);
    row->word_bytes = node ? node->word_bytes : -1;
    row->own = is_ours(row);
    row->reductions_share = rate_share(row->reductions_per_s, reductions_per_s);
}

/* The swept value is known also when its item was not asked for. */
static void take_value(struct proc_row *row, const char *attr, const struct scan_value *v)
{
    const struct {
        const char *attr;
        int64_t *to;
    } fields[] = {
        {"reductions", &row->reductions},
        {"message_queue_len", &row->message_queue_len},
        {"memory", &row->memory_bytes},
        {"total_heap_size", &row->total_heap_words},
        {"heap_size", &row->heap_words},
        {"stack_size", &row->stack_words},
        {"links", &row->links},
        {"monitors", &row->monitors},
        {"dictionary", &row->dictionary_len},
        {"binary", &row->binary_bytes},
        {"garbage_collection", &row->minor_gcs},
    };
    for (size_t i = 0; i < ARRAY_LEN(fields) && v->has_value && attr; i++)
        if (strcmp(fields[i].attr, attr) == 0 && *fields[i].to < 0)
            *fields[i].to = v->value;
}

/* A live node gives no more than it was asked for; a recording may have more than are
 * wanted now. */
static void cut_rows(struct proc_scan *scan, const struct want_scan *asked)
{
    size_t most = (size_t)(asked->rows + asked->n_pids);
    if (asked->rows > 0 && scan->n_rows > most)
        scan->n_rows = most;
}

/* Rates of rows: from this scan where it has them, else since they were seen before. */
static void take_rows(struct model *m, const struct proc_scan *scan, const char *attr,
                      const struct taking *t, double reductions_per_s, struct proc_row *rows,
                      size_t n, const struct scan_value *values)
{
    for (size_t i = 0; i < n; i++) {
        struct sweep_delta sweep = {
            .attr = attr,
            .interval_s = scan->interval_s,
            .delta = values[i].delta,
            .known = values[i].has_delta && !isnan(scan->interval_s),
        };
        take_value(&rows[i], attr, &values[i]);
        seen_row(m->seen, &rows[i], scan->mono_ns, t->now_ns, &sweep);
        seen_call(m->seen, &rows[i].pid, &rows[i].initial_call, t->d->arena);
        finish_row(m, &rows[i], reductions_per_s);
    }
}

const struct proc_row *model_longest_queue(const struct model *m, uint64_t *mono_ns)
{
    const struct proc_scan *scan = model_scan(m);
    const struct proc_rows *newer = model_newer_rows(m);
    const struct proc_row *shown = newer ? newer->rows : scan ? scan->rows : NULL;
    const struct proc_row *longest = NULL;
    for (size_t i = 0; scan && i < scan->n_rows + scan->n_watched; i++) {
        bool is_shown = i < scan->n_rows;
        const struct proc_row *row = is_shown ? &shown[i] : &scan->watched[i - scan->n_rows];
        if (row->message_queue_len < 0 ||
            (longest && row->message_queue_len <= longest->message_queue_len))
            continue;
        longest = row;
        *mono_ns = is_shown && newer ? newer->mono_ns : scan->mono_ns;
    }
    return longest;
}

static const struct proc_row *row_in(const struct proc_row *rows, size_t n,
                                     const struct etf_pid *pid)
{
    for (size_t i = 0; i < n; i++)
        if (pid_same(&rows[i].pid, pid))
            return &rows[i];
    return NULL;
}

/* A watched process has one row: the node leaves it out of those beside the ranked ones where it is
 * among these. Where it is not among them any more, it is put there again. */
static void order_watched(struct proc_scan *scan, const struct want_scan *asked,
                          const struct field *sort, struct arena *arena)
{
    struct proc_row *watched =
        arena_alloc(arena, (scan->n_watched + WANT_WATCHED + 1) * sizeof *watched);
    size_t n = scan->n_watched, kept = n;
    if (n > 0)
        memcpy(watched, scan->watched, n * sizeof *watched);
    for (int i = 0; i < asked->n_watched; i++) {
        const struct proc_row *row = row_in(scan->rows, scan->n_rows, &asked->watched[i]);
        if (row)
            watched[n++] = *row;
    }
    order_rows(scan, sort, asked);
    for (size_t i = kept; i < n; i++)
        if (!row_in(scan->rows, scan->n_rows, &watched[i].pid))
            watched[kept++] = watched[i];
    scan->watched = watched;
    scan->n_watched = kept;
}

void take_scan(struct model *m, void *next, const struct taking *t)
{
    struct proc_scan *scan = next;
    const struct want_scan *asked = t->asked;
    const struct field *sort = asked->sort_key ? proc_column_find(asked->sort_key) : NULL;
    const char *attr = !sort || !sort->sweep ? "reductions" : sort->sweep;
    double all_per_s, own_per_s;
    m->to_sweep = 0;
    work_since(m, &m->until_scan, &all_per_s, &own_per_s);
    scan->own_share = rate_share(own_per_s, all_per_s);
    scan->watches = asked->watches;
    scan->sort_key = sort ? sort->key : "";
    scan->by_delta = asked->by_delta && !isnan(scan->interval_s);
    scan->ascending = asked->ascending;
    scan->filtered = asked->filtered || scan->matching < scan->total;
    take_rows(m, scan, attr, t, all_per_s, scan->rows, scan->n_rows, t->d->values.rows);
    take_rows(m, scan, attr, t, all_per_s, scan->watched, scan->n_watched, t->d->values.watched);
    scan->sorted_among = scan->recorded = -1;
    scan->recorded_items = 0;
    m->taken.rows = NULL;
    m->slots[QUESTION_ROWS].known = false;
    if (sort && !sort->sweep)
        order_watched(scan, asked, sort, t->d->arena);
    cut_rows(scan, asked);
    seen_scan_end(m->seen, !scan->filtered && (int64_t)scan->n_rows >= scan->total);
}

/* ---- rows of the last scan, again */

static bool is_of_scan(const struct proc_rows *rows, const struct proc_scan *scan)
{
    if (!scan || rows->n_rows != scan->n_rows || rows->mono_ns < scan->mono_ns)
        return false;
    for (size_t i = 0; i < rows->n_rows; i++)
        if (memcmp(&rows->rows[i].pid, &scan->rows[i].pid, sizeof rows->rows[i].pid) != 0)
            return false;
    return true;
}

static struct proc_row row_gone(const struct proc_row *of_scan)
{
    struct proc_row row;
    proc_row_clear(&row);
    row.pid = of_scan->pid;
    row.name = of_scan->name;
    row.label = of_scan->label;
    row.initial_call = of_scan->initial_call;
    row.application = of_scan->application;
    row.gone = true;
    return row;
}

/* The row of the scan with the values read again, and their rates since `before`. */
static struct proc_row row_again(const struct proc_row *of_scan, const struct proc_row *read,
                                 const struct proc_row *before, uint32_t items, double interval_s)
{
    struct proc_row row = *of_scan;
#define COPY(type, field, unknown) row.field = read->field;
#define COPY_ITEM(id, name, form, ...)                                                             \
    if ((items >> ITEM_##id) & 1) {                                                                \
        PROC_FORM_##form(COPY, __VA_ARGS__)                                                        \
    }
    PROC_ITEM_LIST(COPY_ITEM)
#undef COPY_ITEM
#undef COPY
    row.older = (of_scan->older & ~items) | (read->older & items);
    row.older_s = read->older & items ? read->older_s : of_scan->older_s;
    if ((items >> ITEM_REDUCTIONS) & 1)
        row.reductions_per_s = rate_counter(before->reductions, row.reductions, interval_s);
    if ((items >> ITEM_MESSAGE_QUEUE_LEN) & 1)
        row.message_queue_per_s =
            rate_gauge(before->message_queue_len, row.message_queue_len, interval_s);
    if ((items >> ITEM_MEMORY) & 1)
        row.memory_per_s = ((row.older | before->older) >> ITEM_MEMORY) & 1
                               ? (double)NAN
                               : rate_gauge(before->memory_bytes, row.memory_bytes, interval_s);
    if ((items >> ITEM_GARBAGE_COLLECTION) & 1)
        row.minor_gcs_per_s = rate_counter(before->minor_gcs, row.minor_gcs, interval_s);
    return row;
}

void take_rows_again(struct model *m, void *next, const struct taking *t)
{
    struct proc_rows *rows = next;
    const struct proc_rows *last = model_rows(m);
    const struct proc_scan *scan = model_scan(m);
    if (!is_of_scan(rows, scan)) {
        rows->n_rows = 0;
        return;
    }
    bool again = last && last->n_rows == rows->n_rows;
    /* The node reads the rows of a scan after the sweep. */
    uint64_t scan_ns = scan->mono_ns + (uint64_t)(scan->sweep_us > 0 ? scan->sweep_us * 1000 : 0);
    double interval_s = rate_interval(again ? last->mono_ns : scan_ns, rows->mono_ns);
    double since_s = rate_interval(scan_ns, rows->mono_ns);
    for (size_t i = 0; i < rows->n_rows; i++) {
        const struct proc_row *of_scan = &scan->rows[i];
        if (rows->rows[i].gone) {
            rows->rows[i] = row_gone(of_scan);
            continue;
        }
        rows->rows[i] = row_again(of_scan, &rows->rows[i], again ? &last->rows[i] : of_scan,
                                  t->d->items, interval_s);
        if (!isnan(since_s))
            rows->rows[i].age_s += since_s;
        finish_row(m, &rows->rows[i], node_reductions_per_s(m));
    }
}

const struct proc_rows *model_newer_rows(const struct model *m)
{
    const struct proc_rows *rows = model_rows(m);
    const struct proc_scan *scan = model_scan(m);
    return rows && scan && rows->n_rows == scan->n_rows ? rows : NULL;
}

/* ---- recorded scans */

/* The order in which the target gave them is the one wanted. */
static bool is_as_taken(const struct model *m, const struct want_scan *shown)
{
    const struct want_scan *as = &m->taken_as;
    return !shown->sort_key ||
           (as->sort_key && strcmp(as->sort_key, shown->sort_key) == 0 &&
            as->by_delta == shown->by_delta && as->ascending == shown->ascending);
}

static struct proc_scan *scan_of(struct model *m)
{
    struct slot *slot = &m->slots[QUESTION_SCAN];
    return slot->values[slot->current];
}

static void keep_taken(struct model *m, const struct want_scan *asked)
{
    struct slot *slot = &m->slots[QUESTION_SCAN];
    struct proc_scan *scan = scan_of(m);
    size_t bytes = (scan->n_rows + 1) * sizeof scan->rows[0];
    scan->recorded = (int64_t)scan->n_rows;
    scan->recorded_items = asked->items;
    m->taken = *scan;
    m->taken_as = *asked;
    m->taken.rows = arena_alloc(&slot->arenas[slot->current], bytes);
    if (scan->n_rows > 0)
        memcpy(m->taken.rows, scan->rows, bytes - sizeof scan->rows[0]);
}

int model_take_recorded(struct model *m, enum question question, const uint8_t *term, size_t len,
                        const struct want_scan *asked, uint64_t now_ns, struct error *err)
{
    int rc = model_take(m, question, term, len, asked, now_ns, err);
    if (rc == 0 && question == QUESTION_SCAN)
        keep_taken(m, asked);
    return rc;
}

void model_show_recorded(struct model *m, const struct want_scan *shown, model_row_fn *match,
                         void *arg)
{
    struct proc_scan *scan = scan_of(m);
    struct proc_row *rows = scan->rows;
    if (!m->taken.rows)
        return;
    *scan = m->taken;
    scan->rows = rows;
    scan->n_rows = 0;
    for (size_t i = 0; i < m->taken.n_rows; i++)
        if (!match || match(arg, &m->taken.rows[i]))
            rows[scan->n_rows++] = m->taken.rows[i];
    if (match) {
        scan->filtered = true;
        scan->matching = (int64_t)scan->n_rows;
    }
    const struct field *sort = proc_column_find(shown->sort_key ? shown->sort_key : "");
    if (sort && !is_as_taken(m, shown)) {
        const struct field *ranked = proc_column_ranked(sort, shown->by_delta);
        order_rows(scan, ranked ? ranked : sort, shown);
        scan->sort_key = sort->key;
        scan->by_delta = ranked && shown->by_delta && !isnan(scan->interval_s);
        scan->ascending = shown->ascending;
        scan->sorted_among = scan->recorded < scan->total ? scan->recorded : -1;
    }
    cut_rows(scan, shown);
}

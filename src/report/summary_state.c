/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node had at the end of a recording, by the last answers that it keeps, and what two
 * recordings differ by there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/model/fields.h"
#include "beamtop/model/model.h"
#include "beamtop/model/table.h"
#include "beamtop/model/waits.h"
#include "beamtop/output/json.h"
#include "summary_internal.h"

#define KIB 1024.0
#define MIB (1024 * KIB)
#define PART 0.1         /* of the larger number, at least */
#define TEXT_BYTES 200   /* of values that have one name, together */
#define SHOWN_MOST 12    /* of a kind, for people */
#define LISTED_MOST 1000 /* in JSON */

/* The list of what is compared, in the order in which it is shown. Numbers of rows that have one
 * name are added up. */
struct state_kind {
    enum question question;
    const char *heading;
    const struct field_list *list;
    const char *only;  /* rows whose id begins so; NULL: all */
    const char *names; /* keys of the texts that name a row; NULL: the answer has sums */
    struct state_column {
        const char *key, *title; /* title NULL: the name says it */
        double least;            /* difference of numbers */
        enum {
            AS_IT_IS,
            ROWS_ABOVE_0, /* the number of rows in which it is */
            OR_NONE,      /* a text that says so by being empty; of others that is not known */
        } how;
    } columns[STATE_COLUMNS];
};
/* clang-format off */
#define SETTINGS(only, key, how)                                                                   \
    {QUESTION_VM, "settings", &vm_fields, only, "section item", {TEXT(key, NULL, how)}}
#define NUMBER(key, title, least) {key, title, least, AS_IT_IS}
#define ROWS(key, title, least) {key, title, least, ROWS_ABOVE_0}
#define TEXT(key, title, how) {key, title, 0, how}

static const struct state_kind kinds[] = {
    SETTINGS("versions.OTP", "value", AS_IT_IS),
    SETTINGS("versions.ERTS", "value", AS_IT_IS),
    SETTINGS("versions.Elixir", "value", AS_IT_IS),
    SETTINGS("flags.", "value", AS_IT_IS),
    SETTINGS("limits.", "limit", OR_NONE),
    SETTINGS("cgroup.memory", "limit", OR_NONE),
    SETTINGS("cgroup.CPU quota", "value", AS_IT_IS),
    SETTINGS("emulator.", "value", AS_IT_IS),
    SETTINGS("time.", "value", AS_IT_IS),
    SETTINGS("applications.", "value", AS_IT_IS),
    SETTINGS("arguments.", "value", AS_IT_IS),
    {QUESTION_TABLES, "ETS tables and their owners", &tables_fields, NULL, "name owner_name",
     {NUMBER("memory_bytes", "memory", MIB), NUMBER("objects", "objects", 1000),
      NUMBER("tables", "tables", 10)}},
    {QUESTION_HOLDERS, "processes", &holders_fields, NULL, "initial_call application",
     {NUMBER("memory_bytes", "memory", MIB), NUMBER("binary_bytes", "refc binaries", MIB),
      NUMBER("message_queue_len", "queued messages", 100), NUMBER("processes", "processes", 10)}},
    {QUESTION_PORTS, "ports and sockets", &ports_fields, NULL, "kind state",
     {NUMBER("ports", "number", 10), NUMBER("queue_bytes", "queued", 64 * KIB)}},
    {QUESTION_WAITS, "waits", &waits_sums_fields, NULL, NULL,
     {TEXT("deadlock", "deadlock", OR_NONE), TEXT("longest_chain", "longest chain", OR_NONE),
      NUMBER("waiting", "processes that wait", 10),
      NUMBER("for_other_nodes", "processes that wait for another node", 10)}},
    {QUESTION_WAITS, "waits", &waits_fields, NULL, "name label initial_call",
     {NUMBER("waiters", "processes that wait for it", 5)}},
    {QUESTION_TERMS, "terms", &terms_fields, NULL, "kind",
     {NUMBER("count", "number", 50), NUMBER("memory_bytes", "memory", 64 * KIB),
      ROWS("old_bytes", "with old code", 1), NUMBER("old_bytes", "old code", 1)}},
    {QUESTION_MNESIA, "Mnesia", &mnesia_fields, NULL, "",
     {TEXT("down_nodes", "does not run on", OR_NONE),
      NUMBER("running_nodes", "nodes that it runs on", 1)}},
};
/* clang-format on */
_Static_assert(ARRAY_LEN(kinds) == STATE_KINDS, "a summary has room for each");

/* ---- taking */

static const struct field *column_field(const struct state_kind *k, size_t at)
{
    return k->columns[at].key ? field_find(k->list, slice_of(k->columns[at].key)) : NULL;
}

static const char *name_row(const struct state_kind *k, const void *row, struct arena *a)
{
    const struct field *fields[STATE_COLUMNS];
    const size_t n =
        k->names && *k->names ? field_columns(k->list, k->names, fields, STATE_COLUMNS) : 0;
    const char *name = "";
    for (size_t i = 0; i < n; i++) {
        const struct slice text = field_text(fields[i], row);
        if (text.len > 0)
            name = arena_printf(a, "%s%s%s", name, *name ? ", " : "", slice_text(a, text));
    }
    return *name || n == 0 ? name : "–";
}

static void add_number(double *sum, const struct state_column *c, double n)
{
    if (c->how == ROWS_ABOVE_0 && !isnan(n))
        n = n > 0;
    *sum = isnan(*sum) ? n : isnan(n) ? *sum : *sum + n;
}

static void add_text(struct slice *to, struct slice text, struct arena *a)
{
    if (to->len == 0)
        *to = slice_keep(a, text);
    else if (text.len > 0 && to->len < TEXT_BYTES)
        *to = slice_of(arena_printf(a, "%s %s", slice_text(a, *to), slice_text(a, text)));
}

static int compare_names(const struct state_item *x, const struct state_item *y)
{
    return strcmp(x->name, y->name);
}

static int compare_items(const void *a, const void *b)
{
    const struct state_item *x = a, *y = b;
    const int order = compare_names(x, y);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* A limit of what was not read either: it may have one. */
static bool is_unread(const struct state_kind *k, const struct field *f, const void *row)
{
    const struct field *value = field_find(k->list, slice_of("value"));
    return k->question == QUESTION_VM && value && !field_is_number(f) &&
           field_text(f, row).len == 0 && field_text(value, row).len == 0;
}

static void take_row(struct state_items *to, const struct state_kind *k, const void *row,
                     struct arena *a)
{
    struct state_item *item = &to->items[to->n];
    item->at = to->n++;
    item->name = name_row(k, row, a);
    for (size_t i = 0; i < STATE_COLUMNS; i++) {
        const struct field *f = column_field(k, i);
        item->values[i].number = NAN;
        if (f && field_is_number(f))
            add_number(&item->values[i].number, &k->columns[i], field_number(f, row));
        else if (f)
            add_text(&item->values[i].text, field_text(f, row), a);
        item->values[i].unknown = f && is_unread(k, f, row);
    }
}

/* By name, those of one name as one. */
static void join_items(struct state_items *of, struct arena *a)
{
    static const struct state_column sum = NUMBER(NULL, NULL, 0);
    size_t n = 0;
    qsort(of->items, of->n, sizeof *of->items, compare_items);
    for (size_t i = 0; i < of->n; i++) {
        const struct state_item *item = &of->items[i];
        if (n == 0 || strcmp(of->items[n - 1].name, item->name) != 0) {
            of->items[n++] = *item;
            continue;
        }
        for (size_t c = 0; c < STATE_COLUMNS; c++) {
            add_number(&of->items[n - 1].values[c].number, &sum, item->values[c].number);
            add_text(&of->items[n - 1].values[c].text, item->values[c].text, a);
        }
    }
    of->n = n;
}

static void take_kind(struct state_items *to, const struct state_kind *k,
                      const struct table_detail *t, struct arena *a)
{
    const size_t n = k->names ? t->n_rows : 1;
    to->recorded = true;
    to->partial = t->partial;
    to->items = arena_alloc(a, (n + 1) * sizeof *to->items);
    for (size_t i = 0; i < n; i++) {
        const void *row =
            k->names ? (const char *)t->rows + i * k->list->row_bytes : (const void *)t->sums;
        if (row && (!k->only || slice_begins(table_key(k->list, row), k->only)))
            take_row(to, k, row, a);
    }
    join_items(to, a);
}

struct answer_taking {
    struct model *model;
    enum question question;
};

/* One that another version wrote in another form is not there. */
static int take_answer(void *arg, const char *question, const uint8_t *term, size_t len,
                       const struct want_scan *asked, struct error *err)
{
    const struct answer_taking *t = arg;
    struct error unread = {0};
    (void)asked;
    (void)err;
    if (question_find(question) == t->question)
        (void)model_take(t->model, t->question, term, len, NULL, 0, &unread);
    return 0;
}

void state_take(struct state *out, struct arena *a, struct recording *r, int64_t to,
                struct error *err)
{
    struct answer_taking taking = {.model = model_new()};
    for (size_t i = 0; i < STATE_KINDS && err->code == ERR_NONE; i++) {
        const enum question q = taking.question = kinds[i].question;
        const int64_t tick = i > 0 && kinds[i - 1].question == q
                                 ? 0
                                 : recording_last_answer(r, question_name(q), to);
        if (tick > 0)
            (void)recording_answers(r, tick, take_answer, &taking, err);
        const struct table_detail *t = model_answer(taking.model, q);
        if (t)
            take_kind(&out->kinds[i], &kinds[i], t, a);
    }
    model_free(taking.model);
}

/* ---- comparing */

static bool value_is_known(const struct state_column *c, const struct field *f,
                           const struct state_value *v)
{
    return field_is_number(f)  ? !isnan(v->number)
           : c->how == OR_NONE ? !v->unknown
                               : v->text.len > 0;
}

/* How many times the least that is shown; 0: it is not. NULL: it has no such item. */
static double weigh_values(const struct state_column *c, const struct field *f,
                           const struct state_value *before, const struct state_value *after)
{
    if (!field_is_number(f) && !(before && after))
        return INFINITY;
    if ((before && !value_is_known(c, f, before)) || (after && !value_is_known(c, f, after)))
        return 0;
    if (!field_is_number(f))
        return slice_equal(before->text, after->text) ? 0 : INFINITY;
    const double x = before ? before->number : 0, y = after ? after->number : 0;
    const double differ = fabs(y - x);
    return differ >= c->least && differ >= PART * fmax(x, y) && differ > 0 ? differ / c->least : 0;
}

static int compare_differences(const void *a, const void *b)
{
    const struct difference *x = a, *y = b;
    const int order = (y->weight > x->weight) - (y->weight < x->weight);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static void add_differences(struct differences *out, const struct state_kind *k,
                            const struct state_item *before, const struct state_item *after,
                            struct arena *a)
{
    const char *name = before ? before->name : after->name;
    for (size_t i = 0; i < STATE_COLUMNS; i++) {
        const struct field *f = column_field(k, i);
        const char *title = k->columns[i].title;
        struct difference d = {.field = f, .name = name, .at = out->n};
        d.before = before ? &before->values[i] : NULL;
        d.after = after ? &after->values[i] : NULL;
        d.weight = f ? weigh_values(&k->columns[i], f, d.before, d.after) : 0;
        if (d.weight <= 0)
            continue;
        d.key = k->columns[i].how == ROWS_ABOVE_0 ? "rows" : f->key;
        d.title = !title ? name : *name ? arena_printf(a, "%s: %s", name, title) : title;
        d.or_none = k->columns[i].how == OR_NONE;
        d.type = k->columns[i].how == ROWS_ABOVE_0 ? COLUMN_COUNT : f->type;
        out->items[out->n++] = d;
    }
}

struct differences state_differences(size_t kind, const struct state *x, const struct state *y,
                                     struct arena *a)
{
    const struct state_items *before = &x->kinds[kind], *after = &y->kinds[kind];
    struct differences out = {0};
    size_t i = 0, j = 0;
    if (!before->recorded || !after->recorded)
        return out;
    out.items = arena_alloc(a, (before->n + after->n + 1) * STATE_COLUMNS * sizeof *out.items);
    while (i < before->n || j < after->n) {
        const int order = i == before->n  ? 1
                          : j == after->n ? -1
                                          : compare_names(&before->items[i], &after->items[j]);
        const struct state_item *one = order <= 0 ? &before->items[i++] : NULL;
        const struct state_item *other = order >= 0 ? &after->items[j++] : NULL;
        if ((one || !before->partial) && (other || !after->partial))
            add_differences(&out, &kinds[kind], one, other, a);
    }
    qsort(out.items, out.n, sizeof *out.items, compare_differences);
    return out;
}

/* ---- for people */

const char *state_value_text(struct arena *a, const struct difference *d,
                             const struct state_value *v)
{
    if (field_is_number(d->field))
        return number_text(a, d->type, v ? v->number : 0);
    if (v && v->text.len > 0)
        return slice_text(a, v->text);
    return v && !d->or_none ? "set" : "none";
}

const char *state_change_text(struct arena *a, const struct difference *d)
{
    if (!d->before || !d->after)
        return d->before ? "gone" : "new";
    if (!field_is_number(d->field) || !(d->before->number > 0))
        return "";
    return arena_printf(a, "%+.0f%%", 100 * (d->after->number / d->before->number - 1));
}

static struct block *begin_differences(struct paper *p, const char *before, const char *after,
                                       const char *heading)
{
    const char **titles = arena_alloc(&p->arena, 4 * sizeof *titles);
    titles[0] = "";
    titles[1] = before;
    titles[2] = after;
    titles[3] = "change";
    paper_heading(p, 3, "%s, after %s: %s", after, before, heading);
    return paper_table(p, titles, 4, "lrrr");
}

/* Returns how many differences are left out. */
static size_t put_differences(struct paper *p, const struct summary *x, const struct summary *y)
{
    const char *heading = NULL;
    struct block *t = NULL;
    size_t left = 0;
    for (size_t i = 0; i < STATE_KINDS; i++) {
        const struct differences found = state_differences(i, &x->state, &y->state, &p->arena);
        if (found.n > 0 && (!heading || strcmp(heading, kinds[i].heading) != 0)) {
            heading = kinds[i].heading;
            t = begin_differences(p, x->input->name, y->input->name, heading);
        }
        for (size_t k = 0; k < found.n && k < SHOWN_MOST; k++) {
            const struct difference *d = &found.items[k];
            const char *cells[] = {d->title, state_value_text(&p->arena, d, d->before),
                                   state_value_text(&p->arena, d, d->after),
                                   state_change_text(&p->arena, d)};
            paper_row(p, t, cells);
        }
        left += found.n > SHOWN_MOST ? found.n - SHOWN_MOST : 0;
    }
    if (!t)
        paper_heading(p, 3, "%s, after %s: no noticeable difference", y->input->name,
                      x->input->name);
    return left;
}

/* What only one of two has, or neither. */
static void put_not_compared(struct paper *p, const struct summary *x, const struct summary *y)
{
    const char *none = "", *one = "", *other = "";
    for (size_t i = 0; i < STATE_KINDS; i++) {
        const bool before = x->state.kinds[i].recorded, after = y->state.kinds[i].recorded;
        const char **to = before ? &one : after ? &other : &none;
        if ((!before || !after) && (i == 0 || kinds[i - 1].question != kinds[i].question))
            *to = arena_printf(&p->arena, "%s%s%s", *to, **to ? ", " : "",
                               question_rows[kinds[i].question].what);
    }
    if (*one)
        paper_put(p, "Recorded only in %s: %s.", x->input->name, one);
    if (*other)
        paper_put(p, "Recorded only in %s: %s.", y->input->name, other);
    if (*none)
        paper_put(p, "Recorded in neither: %s.", none);
}

static bool is_recorded(const struct summary *s)
{
    bool any = false;
    for (size_t i = 0; i < STATE_KINDS; i++)
        any = any || s->state.kinds[i].recorded;
    return any;
}

void state_many(struct paper *p, const struct summary *s, size_t n)
{
    bool any = false;
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        any = any || is_recorded(&s[i]);
    if (!any)
        return;
    paper_heading(p, 2, "What the node had at the end");
    for (size_t at = 1; at < n; at++) {
        left += put_differences(p, &s[at - 1], &s[at]);
        put_not_compared(p, &s[at - 1], &s[at]);
    }
    paper_put(p,
              "The last answers of each recording are compared. A number is listed when it differs "
              "by a tenth or more, and not by little, such as 1 MiB of memory or 10 processes. "
              "The largest difference comes first.");
    if (left > 0)
        paper_put(p, "Not shown: %zu more.", left);
}

/* ---- JSON */

json_t *state_value_json(const struct difference *d, const struct state_value *v)
{
    if (!v || (d->or_none && v->text.len == 0))
        return json_null();
    if (field_is_number(d->field))
        return json_number(v->number);
    return v->text.len > 0 ? json_slice(v->text) : json_string("");
}

static void add_pair(json_t *list, const struct summary *x, const struct summary *y)
{
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < STATE_KINDS; i++) {
        const struct differences found = state_differences(i, &x->state, &y->state, &arena);
        for (size_t k = 0; k < found.n && k < LISTED_MOST; k++) {
            const struct difference *d = &found.items[k];
            json_t *o = json_object();
            json_set(o, "question", json_chars(question_name(kinds[i].question)));
            json_set(o, "what", json_chars(d->name));
            json_set(o, "key", json_chars(d->key));
            json_set(o, "from", json_chars(x->input->name));
            json_set(o, "to", json_chars(y->input->name));
            json_set(o, "before", state_value_json(d, d->before));
            json_set(o, "after", state_value_json(d, d->after));
            json_array_append_new(list, o);
        }
    }
    arena_clear(&arena);
}

json_t *state_json(const struct summary *s, size_t n)
{
    json_t *list = json_array();
    for (size_t at = 1; at < n; at++)
        add_pair(list, &s[at - 1], &s[at]);
    return list;
}

/* The questions that a recording has no answer of: nothing of them is compared. */
json_t *state_missing_json(const struct summary *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < STATE_KINDS; i++)
        if (!s->state.kinds[i].recorded && (i == 0 || kinds[i - 1].question != kinds[i].question))
            json_array_append_new(list, json_chars(question_name(kinds[i].question)));
    return list;
}

const char *state_heading(size_t kind)
{
    return kinds[kind].heading;
}

enum question state_question(size_t kind)
{
    return kinds[kind].question;
}

bool state_is_setting(size_t kind)
{
    return kinds[kind].question == QUESTION_VM;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/filter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/hash.h"
#include "beamtop/base/text.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/regex.h"
#include "beamtop/etf/print.h"
#include "internal.h"

#define BIT(field) (UINT32_C(1) << (field))

static const struct {
    const char *name, *prefix;
} field_names[FILTER_FIELDS] = {
    [FILTER_NAME] = {"name", "name="},
    [FILTER_LABEL] = {"label", "label="},
    [FILTER_INITIAL_CALL] = {"initial_call", "init="},
    [FILTER_APPLICATION] = {"application", "app="},
    [FILTER_CURRENT_FUNCTION] = {"current_function", "fn="},
    [FILTER_PID] = {"pid", "pid="},
};

/* A name that some process bears. The key is its field and its term: ids end with their holder. */
struct label {
    enum filter_field field;
    bool matches;
    size_t text_len, key_len;
    const char *text; /* behind the key */
    UT_hash_handle hh;
    char key[]; /* a byte for the field, then the term, then the text */
};

struct filter {
    struct label *labels;
    struct regex *regex; /* NULL: off */
    char *expression;
    bool gave_up, reported;
    bool full, full_reported; /* names were left out */
    bool calls;               /* current functions are looked at without being asked for */
    struct filter_maps maps;
};

const char *filter_field_name(enum filter_field field)
{
    return field_names[field].name;
}

const char *filter_field_prefix(enum filter_field field)
{
    return field_names[field].prefix;
}

struct filter *filter_new(void)
{
    struct filter *f = alloc_zero(1, sizeof *f);
    f->expression = alloc_strdup("");
    return f;
}

static void clear_sets(struct filter *f)
{
    for (int i = 0; i < FILTER_FIELDS; i++) {
        free(f->maps.sets[i].terms);
        f->maps.sets[i] = (struct filter_set){0};
    }
}

void filter_forget(struct filter *f)
{
    struct label *l, *next;
    HASH_ITER (hh, f->labels, l, next) {
        HASH_DEL(f->labels, l);
        free(l);
    }
    clear_sets(f);
    f->maps.revision++;
    f->gave_up = f->reported = f->full = f->full_reported = false;
}

void filter_free(struct filter *f)
{
    if (!f)
        return;
    filter_forget(f);
    regex_free(f->regex);
    free(f->expression);
    free(f);
}

void filter_pass(struct filter *f)
{
    if (f->regex)
        regex_allow(f->regex, LIMIT_REGEX_PASS_STEPS);
}

static bool has_match(struct filter *f, const char *text, size_t len)
{
    bool yes = regex_match(f->regex, text, len);
    f->gave_up = f->gave_up || regex_gave_up(f->regex);
    return yes;
}

static void judge_label(struct filter *f, struct label *l)
{
    l->matches =
        f->regex && (f->maps.fields & BIT(l->field)) != 0 && has_match(f, l->text, l->text_len);
}

/* Fills the sets again with what matches now. */
static void collect_sets(struct filter *f)
{
    struct label *l, *next;
    clear_sets(f);
    f->maps.revision++;
    HASH_ITER (hh, f->labels, l, next) {
        f->maps.sets[l->field].n += l->matches;
    }
    for (int i = 0; i < FILTER_FIELDS; i++) {
        f->maps.sets[i].terms = alloc_zero(f->maps.sets[i].n + 1, sizeof(struct slice));
        f->maps.sets[i].n = 0;
    }
    HASH_ITER (hh, f->labels, l, next) {
        struct filter_set *set = &f->maps.sets[l->field];
        if (l->matches)
            set->terms[set->n++] = (struct slice){l->key + 1, l->key_len - 1};
    }
}

static void judge_all(struct filter *f)
{
    struct label *l, *next;
    filter_pass(f);
    HASH_ITER (hh, f->labels, l, next) {
        judge_label(f, l);
    }
    collect_sets(f);
}

/* "0.41", "<0.8812.3>", "^<0\.4": nothing but what a pid is written with. */
static bool looks_like_pid(const char *pattern)
{
    return pattern[strspn(pattern, "<>0123456789.\\^$")] == '\0' && strpbrk(pattern, "0123456789");
}

static uint32_t fields_of(const struct filter *f, const char *expression, size_t *prefix_len)
{
    *prefix_len = 0;
    for (int i = 0; i < FILTER_FIELDS; i++) {
        size_t len = strlen(field_names[i].prefix);
        if (strncmp(expression, field_names[i].prefix, len) != 0)
            continue;
        *prefix_len = len;
        return BIT(i);
    }
    uint32_t fields = BIT(FILTER_NAME) | BIT(FILTER_LABEL) | BIT(FILTER_INITIAL_CALL) |
                      BIT(FILTER_APPLICATION) | (f->calls ? BIT(FILTER_CURRENT_FUNCTION) : 0);
    return looks_like_pid(expression) ? fields | BIT(FILTER_PID) : fields;
}

/* Another expression, and the names it matches. */
static void change_regex(struct filter *f, struct regex *regex, uint32_t fields)
{
    f->regex = regex;
    f->gave_up = f->reported = f->full_reported = false;
    f->maps.fields = fields;
    judge_all(f);
}

int filter_set(struct filter *f, const char *expression, size_t *error_offset, struct error *err)
{
    struct regex *regex = NULL;
    struct error reason = {0};
    size_t prefix;
    uint32_t fields = fields_of(f, expression, &prefix);
    *error_offset = 0;
    if (strcmp(expression, f->expression) == 0)
        return 0;
    if (expression[prefix] != '\0' &&
        regex_new(&regex, expression + prefix, error_offset, &reason) < 0) {
        *error_offset += prefix;
        const char *why = strstr(reason.text, ": ");
        return error_set(err, reason.code, "invalid regex at column %zu%s",
                         text_width(expression, *error_offset) + 1, why ? why : "");
    }
    struct regex *before = f->regex;
    uint32_t fields_before = f->maps.fields;
    change_regex(f, regex, fields);
    if (regex && regex_is_spent(regex)) {
        change_regex(f, before, fields_before);
        regex_free(regex);
        return error_set(err, ERR_LIMIT, "filter too expensive for these names: " REGEX_SPENT_WHY);
    }
    regex_free(before);
    free(f->expression);
    f->expression = alloc_strdup(expression);
    f->maps.seq++;
    f->maps.pid_pattern = regex && (fields & BIT(FILTER_PID)) != 0 ? f->expression + prefix : NULL;
    return 0;
}

void filter_set_calls(struct filter *f, bool yes)
{
    size_t prefix;
    if (f->calls == yes)
        return;
    f->calls = yes;
    f->maps.fields = fields_of(f, f->expression, &prefix);
    judge_all(f);
}

bool filter_is_on(const struct filter *f)
{
    return f->regex != NULL;
}

struct regex *filter_regex(const struct filter *f)
{
    return f->regex;
}

/* ---- labels */

static void add_label(struct filter *f, enum filter_field field, struct slice term,
                      struct slice text)
{
    if (term.len > LIMIT_FILTER_LABEL_BYTES || text.len > LIMIT_FILTER_LABEL_BYTES) {
        f->full = true;
        return;
    }
    struct label *l = alloc_zero(1, sizeof *l + 1 + term.len + text.len), *old;
    l->field = field;
    l->key_len = 1 + term.len;
    l->key[0] = (char)field;
    memcpy(l->key + 1, term.s, term.len);
    memcpy(l->key + l->key_len, text.s, text.len);
    l->text = l->key + l->key_len;
    l->text_len = text.len;
    HASH_FIND(hh, f->labels, l->key, l->key_len, old);
    if (old || HASH_COUNT(f->labels) >= LIMIT_FILTER_LABELS) {
        f->full = f->full || !old;
        free(l);
        return;
    }
    judge_label(f, l);
    HASH_ADD_KEYPTR(hh, f->labels, l->key, l->key_len, l);
}

static bool decode_field(struct decoder *d, enum filter_field *field)
{
    for (int i = 0; i < FILTER_PID; i++)
        if (cursor_peek_atom(&d->c, field_names[i].name)) {
            *field = (enum filter_field)i;
            return cursor_skip(&d->c);
        }
    return cursor_fail(&d->c, "a field of a label");
}

static bool decode_label_text(struct decoder *d, enum filter_field field, struct slice *text)
{
    switch (field) {
    case FILTER_NAME:
    case FILTER_APPLICATION:
        return decode_atom(d, text);
    case FILTER_INITIAL_CALL:
    case FILTER_CURRENT_FUNCTION:
        return decode_mfa(d, text);
    case FILTER_LABEL:
        return cursor_kind(&d->c) == ETF_KIND_BINARY ? decode_binary(d, text)
                                                     : decode_printed(d, text);
    case FILTER_PID:
    case FILTER_FIELDS:
        break;
    }
    return false;
}

struct taken {
    enum filter_field field;
    struct slice term, text;
};

/* {LabelId, {Field, Term}} */
static bool decode_label(struct decoder *d, struct taken *out)
{
    int64_t id;
    if (!cursor_tuple_of(&d->c, 2) || !cursor_int64(&d->c, &id) || !cursor_tuple_of(&d->c, 2) ||
        !decode_field(d, &out->field))
        return false;
    struct cursor ahead = d->c;
    return cursor_raw(&ahead, &out->term) && decode_label_text(d, out->field, &out->text);
}

int filter_take(struct filter *f, const uint8_t *scan, size_t len, struct error *err)
{
    struct arena arena;
    struct decoder d;
    struct cursor_list list = {0};
    struct taken *taken = NULL;
    size_t arity = 0;
    arena_init(&arena);
    decoder_init(&d, &arena, scan, len);
    if (cursor_tuple(&d.c, &arity) && arity != 9 && arity != 10)
        cursor_fail(&d.c, "a tuple of 9 or 10");
    cursor_atom_is(&d.c, "scan");
    for (int i = 0; i < 7; i++)
        cursor_skip(&d.c);
    if (decode_list(&d, &list, LIMIT_FILTER_LABELS, sizeof taken[0], &taken)) {
        for (size_t i = 0; i < list.count && decode_label(&d, &taken[i]); i++)
            ;
        cursor_list_end(&d.c, &list);
    }
    if (arity == 10)
        cursor_skip(&d.c); /* rows that are watched */
    int rc = decoder_end(&d, "scan", err);
    if (rc == 0 && list.count > 0) {
        filter_pass(f);
        for (size_t i = 0; i < list.count; i++)
            add_label(f, taken[i].field, taken[i].term, taken[i].text);
        collect_sets(f);
    }
    arena_clear(&arena);
    return rc;
}

const struct filter_maps *filter_maps(const struct filter *f)
{
    return f->regex ? &f->maps : NULL;
}

size_t filter_labels(const struct filter *f)
{
    return HASH_COUNT(f->labels);
}

static_assert(LIMIT_FILTER_LABELS == 20000, "filter_trouble() names it");

const char *filter_trouble(struct filter *f)
{
    bool spent = f->regex && regex_is_spent(f->regex);
    if (!f->reported && (f->gave_up || spent)) {
        f->reported = true;
        return "filter too expensive: some of it counts as not matching. Avoid nested repeats such "
               "as (a+)+";
    }
    if (f->full && !f->full_reported) {
        f->full_reported = true;
        return "filter: more than 20,000 names, or very long ones: a process that only one of the "
               "rest matches is missing";
    }
    return NULL;
}

static bool match_pid(struct filter *f, const struct etf_pid *pid)
{
    struct buf text;
    buf_init(&text, 0);
    print_pid(&text, pid);
    bool yes = has_match(f, (const char *)text.data, text.len);
    buf_clear(&text);
    return yes;
}

bool filter_match_row(struct filter *f, const struct proc_row *row)
{
    const struct slice texts[FILTER_PID] = {
        [FILTER_NAME] = row->name,
        [FILTER_LABEL] = row->label,
        [FILTER_INITIAL_CALL] = row->initial_call,
        [FILTER_APPLICATION] = row->application,
        [FILTER_CURRENT_FUNCTION] = row->current_function,
    };
    if (!f->regex)
        return true;
    for (int i = 0; i < FILTER_PID; i++)
        if ((f->maps.fields & BIT(i)) && texts[i].len > 0 && has_match(f, texts[i].s, texts[i].len))
            return true;
    return (f->maps.fields & BIT(FILTER_PID)) && match_pid(f, &row->pid);
}

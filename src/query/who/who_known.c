/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "who_known.h"

#include <inttypes.h>

#include "beamtop/base/attr.h"
#include "beamtop/etf/print.h"
#include "query/native/values.h"

#define TERM_BYTES 2048
#define ANCESTORS_BYTES 8192

/* ---- terms */

struct who_known *who_known_new(const struct etf_pid *pid)
{
    struct who_known *k = alloc_zero(1, sizeof *k);
    k->entry.pid = *pid;
    for (size_t i = 0; i < KEPT_TERMS; i++)
        buf_init(&k->terms[i], 0);
    return k;
}

void who_known_free(struct who_known *k)
{
    for (size_t i = 0; i < KEPT_TERMS; i++)
        buf_clear(&k->terms[i]);
    free(k);
}

struct slice who_known_term(const struct who_known *k, enum who_kept kept)
{
    return (struct slice){(const char *)k->terms[kept].data, k->terms[kept].len};
}

void who_known_keep(struct who_known *k, enum who_kept kept, struct slice term)
{
    static const char undefined[] = "\x77\x09undefined"; /* ETF_SMALL_ATOM_UTF8 */
    const bool is_value = kept <= KEPT_SUPERVISOR;
    const size_t most = kept == KEPT_ANCESTORS ? ANCESTORS_BYTES : TERM_BYTES;
    struct buf *to = &k->terms[kept];
    if (term.len > most)
        term.len = 0;
    if (term.len == 0 && is_value)
        term = slice_of(undefined);
    buf_reset(to);
    if (term.len > 0)
        buf_put(to, term.s, term.len);
}

static void keep_none(struct who_known *k, enum who_kept kept)
{
    who_known_keep(k, kept, (struct slice){0});
}

/* What was built, without its version byte. */
static void keep_built(struct who_known *k, enum who_kept kept, const struct builder *b)
{
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(b, &len);
    who_known_keep(k, kept, (struct slice){(const char *)bytes + 1, len - 1});
}

/* ---- one learn */

void who_known_begin(struct who_known *k)
{
    k->is_new = !k->complete;
    k->needs_call = k->is_new || !(k->gone || who_is_settled(who_known_term(k, KEPT_CALL)));
    k->was_read = k->has_leader = k->needs_supervisor = false;
    k->label = LABEL_DONE;
}

void who_known_end(struct who_known *k, uint64_t now_ms, bool complete)
{
    buf_clear(&k->terms[KEPT_ANCESTORS]);
    if (complete && (k->was_read || k->is_late)) {
        k->complete |= k->was_read;
        k->read_ms = now_ms;
    }
}

const struct who_entry *who_known_entry(struct who_known *k)
{
    struct slice *const slices[] = {&k->entry.name,        &k->entry.call, &k->entry.label,
                                    &k->entry.application, &k->entry.mfa,  &k->entry.supervisor};
    for (size_t i = 0; i < ARRAY_LEN(slices); i++)
        *slices[i] = who_known_term(k, (enum who_kept)i);
    return &k->entry;
}

bool who_known_needs(const struct who_known *k, const struct who_node *node, enum who_column column)
{
    const bool keys = node->way == WHO_BY_KEYS;
    if (column == WHO_BASE)
        return true;
    if (column == WHO_CALL || column == WHO_ANCESTORS)
        return keys && k->is_new && !k->is_heavy;
    if (column == WHO_LABEL)
        return node->has_labels && !k->is_heavy;
    if (column == WHO_STACK)
        return !keys && k->needs_call && !k->is_heavy;
    if (column == WHO_LABEL_SIZE)
        return k->label == LABEL_ODD;
    return column == WHO_LABEL_TERM && k->label == LABEL_SMALL;
}

/* ---- what came */

static void take_base(struct who_known *k, const struct who_node *node, struct slice items)
{
    struct slice v[3];
    struct who_mfa mfa;
    k->was_read = true;
    k->is_late = false;
    k->gone = !who_read_items(items, v, ARRAY_LEN(v)) || !who_read_mfa(v[2], &mfa);
    k->needs_supervisor = k->is_new && !k->gone;
    if (k->gone)
        return;
    k->has_base = true;
    k->has_leader = who_read_pid(v[1], node, &k->leader);
    who_known_keep(k, KEPT_NAME, who_atom_of(v[0]).len > 0 ? v[0] : (struct slice){0});
    if (!k->is_new)
        return;
    who_known_keep(k, KEPT_MFA, v[2]);
    who_known_keep(k, KEPT_CALL, v[2]);
    keep_none(k, KEPT_LABEL);
    keep_none(k, KEPT_SUPERVISOR);
}

static void take_no_label(struct who_known *k)
{
    keep_none(k, KEPT_LABEL);
}

static void keep_text(struct who_known *k, const struct buf *text)
{
    struct builder *b = builder_new();
    build_binary(b, text->data, text->len);
    keep_built(k, KEPT_LABEL, b);
    builder_free(b);
}

/* false: another term than text. */
static bool take_text(struct who_known *k, struct slice label)
{
    struct buf text;
    buf_init(&text, 0);
    const bool ok = who_put_label(&text, label);
    if (ok)
        keep_text(k, &text);
    buf_clear(&text);
    return ok;
}

static void take_printed(struct who_known *k, struct slice label)
{
    static const struct print_limits limits = {.depth = 12, .bytes = WHO_LABEL_TEXT_BYTES};
    struct buf text;
    buf_init(&text, 0);
    print_term(&text, (const uint8_t *)label.s, label.len, &limits);
    keep_text(k, &text);
    buf_clear(&text);
}

static void take_size(struct who_known *k, int64_t size)
{
    struct buf text;
    k->label = size >= 0 && size <= WHO_LABEL_SIZE_MOST ? LABEL_SMALL : LABEL_DONE;
    if (k->label == LABEL_SMALL)
        return;
    buf_init(&text, 0);
    buf_printf(&text, "(a label of %" PRId64 " bytes)", size);
    keep_text(k, &text);
    buf_clear(&text);
}

static void take_label(struct who_known *k, struct slice label)
{
    if (who_term_is(label, "undefined"))
        take_no_label(k);
    else if (!take_text(k, label))
        k->label = LABEL_ODD;
}

static void take_label_term(struct who_known *k, struct slice item)
{
    struct cursor c;
    struct slice label;
    c = values_cursor(item);
    k->label = LABEL_DONE;
    if (!cursor_tuple_of(&c, 2) || !cursor_skip(&c) || !cursor_raw(&c, &label) ||
        who_term_is(label, "undefined")) {
        take_no_label(k);
    } else if (!take_text(k, label)) {
        take_printed(k, label);
    }
}

/* It shows no more than before. */
static bool is_still(const struct who_known *k, struct slice function)
{
    struct who_mfa f;
    return slice_equal(function, who_known_term(k, KEPT_CALL)) ||
           (who_read_mfa(function, &f) && slice_is(f.module, "erlang") &&
            slice_is(f.function, "hibernate") && f.arity == 3);
}

static void take_stack(struct who_known *k, struct slice both)
{
    struct slice stack, function;
    struct cursor c;
    c = values_cursor(both);
    const bool behind =
        cursor_tuple_of(&c, 2) && cursor_raw(&c, &stack) && cursor_raw(&c, &function);
    if (behind && !k->is_new && is_still(k, function))
        return;
    struct builder *b = builder_new();
    if (behind && who_call_of_stack(b, stack))
        keep_built(k, KEPT_CALL, b);
    else
        who_known_keep(k, KEPT_CALL, who_known_term(k, KEPT_MFA));
    builder_free(b);
}

static void take_term(struct who_known *k, const struct who_node *node, enum who_column column,
                      struct slice term)
{
    struct who_mfa mfa;
    if (column == WHO_BASE)
        take_base(k, node, term);
    else if (k->gone)
        return;
    else if (column == WHO_CALL && who_read_mfa(term, &mfa))
        who_known_keep(k, KEPT_CALL, term);
    else if (column == WHO_ANCESTORS)
        who_known_keep(k, KEPT_ANCESTORS, term);
    else if (column == WHO_LABEL)
        take_label(k, term);
    else if (column == WHO_LABEL_TERM)
        take_label_term(k, term);
    else if (column == WHO_STACK)
        take_stack(k, term);
}

bool who_known_take(struct who_known *k, const struct who_node *node, enum who_column column,
                    struct cursor *c)
{
    struct slice term;
    int64_t size;
    if (column == WHO_LABEL_SIZE) {
        if (!cursor_int64(c, &size))
            return false;
        take_size(k, size);
        return true;
    }
    if (!cursor_raw(c, &term))
        return false;
    take_term(k, node, column, term);
    return true;
}

void who_build_id(struct builder *b, const struct who_entry *who)
{
    const struct slice terms[] = {who->name, who->call, who->label, who->application, who->mfa};
    build_tuple(b, ARRAY_LEN(terms));
    for (size_t i = 0; i < ARRAY_LEN(terms); i++)
        values_build_known(b, terms[i]);
}

static bool is_defined(struct slice term)
{
    return term.len > 0 && !who_term_is(term, "undefined");
}

struct slice who_shown_name(const struct who_entry *who)
{
    if (!who)
        return (struct slice){0};
    return is_defined(who->name) ? who->name : who->label;
}

struct slice who_shown_call(const struct who_entry *who)
{
    if (!who)
        return (struct slice){0};
    return is_defined(who->call) ? who->call : who->mfa;
}

void who_build_shown(struct builder *b, const struct who_entry *who)
{
    const struct slice name = who_shown_name(who);
    values_build_known(b, is_defined(name) ? name : who_shown_call(who));
}

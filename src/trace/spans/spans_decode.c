/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the node says of captured events (docs/spans.md). */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "spans_internal.h"

#define MOST_EVENTS 20000

#define SPANS_KEY(name, key) key,
static const char *const kinds[] = {SPAN_EVENT_LIST(SPANS_KEY)};
static const char *const tags[] = {SPAN_TAG_LIST(SPANS_KEY)};
static const char *const classes[] = {SPAN_CLASS_LIST(SPANS_KEY)};
#define SPANS_END_KEY(name, key, text) key,
static const char *const ends[] = {SPANS_END_LIST(SPANS_END_KEY)};
#undef SPANS_END_KEY
#undef SPANS_KEY

/* The place of the atom that is next, n when it is none of them. */
static bool read_key(struct cursor *c, const char *const *keys, size_t n, size_t *out)
{
    struct slice word;
    if (!cursor_atom(c, &word))
        return false;
    for (*out = 0; *out < n && !slice_is(word, keys[*out]);)
        ++*out;
    return true;
}

/* A pid, a name, {Name, Node}, or `none`. */
static bool read_span_process(struct cursor *c, const char *node, struct span_process *out)
{
    const bool pid = cursor_kind(c) == ETF_KIND_PID;
    if (pid || cursor_kind(c) == ETF_KIND_TUPLE) {
        bool ok =
            pid ? cursor_pid(c, &out->pid, &out->node)
                : cursor_tuple_of(c, 2) && cursor_atom(c, &out->name) && cursor_atom(c, &out->node);
        if (ok && slice_is(out->node, node))
            out->node = (struct slice){NULL, 0};
        return ok;
    }
    if (!cursor_atom(c, &out->name))
        return false;
    if (slice_is(out->name, "none"))
        out->name = (struct slice){NULL, 0};
    return true;
}

static bool read_label(struct cursor *c, const char *node, struct span_event *e)
{
    if (cursor_kind(c) != ETF_KIND_PID)
        return cursor_atom_is(c, "none");
    if (!cursor_pid(c, &e->label, &e->label_node))
        return false;
    if (slice_is(e->label_node, node))
        e->label_node = (struct slice){0};
    return true;
}

/* A tag of a message, the class of an exception, or `none`. */
static bool read_tag(struct cursor *c, struct span_event *e)
{
    size_t tag = 0, class = 0;
    struct cursor again = *c;
    if (!read_key(c, tags, SPAN_TAGS, &tag) || !read_key(&again, classes, SPAN_CLASSES, &class))
        return false;
    if (e->kind == SPAN_EVENT_RETURN || e->kind == SPAN_EVENT_LEAVE)
        e->class = class < SPAN_CLASSES ? (enum span_class) class : SPAN_CLASS_NONE;
    else if (tag < SPAN_TAGS)
        e->tag = (enum span_tag)tag;
    return true;
}

static bool read_span_ref(struct cursor *c, struct span_ref *out)
{
    struct etf_ref ref;
    if (cursor_kind(c) != ETF_KIND_REF)
        return cursor_atom_is(c, "none");
    if (!cursor_ref(c, &ref))
        return false;
    out->creation = ref.creation;
    out->n = ref.n;
    memcpy(out->words, ref.words, sizeof out->words);
    return true;
}

/* An atom, {M, F, A}, where there may be ids a binary, or `none`. */
static bool read_span_text(struct cursor *c, bool ids, char *out, size_t size, struct slice *text)
{
    struct slice module, function;
    uint64_t arity;
    if (cursor_kind(c) == ETF_KIND_TUPLE) {
        if (!cursor_tuple_of(c, 3) || !cursor_atom(c, &module) || !cursor_atom(c, &function) ||
            !cursor_uint64(c, &arity))
            return false;
        snprintf(out, size, "%.*s:%.*s/%llu", (int)module.len, module.s, (int)function.len,
                 function.s, (unsigned long long)arity);
        *text = slice_of(out);
        return true;
    }
    if (ids && cursor_kind(c) == ETF_KIND_BINARY)
        return cursor_binary(c, text);
    if (!cursor_atom(c, text))
        return false;
    if (slice_is(*text, "none"))
        *text = (struct slice){NULL, 0};
    return true;
}

/* Signed, and wraps: it only has to be the same where a message is sent and received. */
static bool read_serial(struct cursor *c, uint64_t *out)
{
    int64_t serial = 0;
    if (!cursor_int64(c, &serial))
        return false;
    *out = (uint64_t)serial;
    return true;
}

/* {{Mono, Order}, Kind, Process, Peer, Label, Serial, Tag, Ref, Words, Text} */
static bool read_span_event(struct cursor *c, const char *node, spans_event_fn *fn, void *arg)
{
    struct span_event e = {0};
    char text[LIMIT_SPAN_NAME_BYTES + 64];
    size_t kind = 0;
    int64_t order = 0, words = 0;
    bool ok = cursor_tuple_of(c, 10) && cursor_tuple_of(c, 2) && cursor_int64(c, &e.at_ns) &&
              cursor_int64(c, &order) && read_key(c, kinds, SPAN_EVENTS, &kind);
    if (!ok || (kind == SPAN_EVENTS && !cursor_fail(c, "a kind of event")))
        return false;
    e.kind = (enum span_event_kind)kind;
    /* Unique integers begin below zero. */
    e.order = (uint64_t)order - (uint64_t)INT64_MIN;
    ok = read_span_process(c, node, &e.process) && read_span_process(c, node, &e.peer) &&
         read_label(c, node, &e) && read_serial(c, &e.serial) && read_tag(c, &e) &&
         read_span_ref(c, &e.ref) && cursor_int64(c, &words) &&
         read_span_text(c, e.kind == SPAN_EVENT_CONTEXT, text, sizeof text, &e.text);
    e.words = words;
    if (ok)
        fn(arg, &e);
    return ok;
}

/* One that cannot be read is dropped: the others count without it. */
static bool read_span_events(struct cursor *c, const char *node, spans_event_fn *fn, void *arg,
                             struct spans_taken *out)
{
    struct cursor_list list;
    struct cursor event;
    if (!answer_list(c, &list, MOST_EVENTS))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!cursor_apart(c, &event))
            return false;
        if (!read_span_event(&event, node, fn, arg))
            out->unread++;
    }
    out->n = list.count;
    return cursor_list_end(c, &list);
}

static bool read_span_counts(struct cursor *c, struct spans_taken *out)
{
    if (cursor_kind(c) == ETF_KIND_ATOM)
        return cursor_atom_is(c, "none");
    out->counted = true;
    struct spans_skipped *by = &out->by;
    bool ok = cursor_tuple_of(c, 9) && cursor_uint64(c, &out->roots) &&
              cursor_uint64(c, &out->open) && cursor_uint64(c, &out->events) &&
              cursor_uint64(c, &out->skipped) && cursor_uint64(c, &by->participants) &&
              cursor_uint64(c, &by->fanout) && cursor_uint64(c, &by->depth) &&
              cursor_uint64(c, &by->stale) && cursor_uint64(c, &by->clearings);
    out->skipped += by->participants + by->fanout + by->depth;
    return ok;
}

int decode_spans(struct spans_taken *out, const char *node, spans_event_fn *fn, void *arg,
                 const uint8_t *term, size_t len, struct error *err)
{
    struct cursor c;
    size_t end = 0;
    *out = (struct spans_taken){0};
    cursor_init(&c, term, len);
    size_t arity = 0;
    struct cursor peek = c;
    if (cursor_tuple(&peek, &arity) && arity == 2 && cursor_atom_is(&peek, "refused"))
        return error_set(err, ERR_TARGET,
                         "a helper process on the node ended, and what it had "
                         "captured is lost");
    bool ok = cursor_tuple_of(&c, 6) && cursor_atom_is(&c, "took") &&
              read_key(&c, ends, SPANS_ENDS, &end) && read_span_counts(&c, out) &&
              cursor_int64(&c, &out->mono) && cursor_number(&c, &out->disarm_us) &&
              read_span_events(&c, node, fn, arg, out);
    out->end = end < SPANS_ENDS ? (enum spans_end)end : SPANS_END_NONE; /* running */
    return cursor_end(&c, ok, "spans", err);
}

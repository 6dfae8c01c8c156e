/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/spans.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/model/stacks.h"
#include "internal.h"

/* The id of a key; UINT32_MAX: it is new, and there is no room. */
static uint32_t id_of(struct spans *s, struct interned *in, const void *key, size_t len, bool room)
{
    struct intern *e;
    HASH_FIND(hh, in->by_key, key, len, e);
    if (e)
        return e->id;
    if (!room)
        return UINT32_MAX;
    e = arena_alloc(&s->arena, sizeof *e);
    e->key = arena_strndup(&s->arena, key, len);
    e->id = in->n;
    in->at = alloc_grow(in->at, in->n, sizeof *in->at);
    in->at[in->n++] = e;
    HASH_ADD_KEYPTR(hh, in->by_key, e->key, len, e);
    return e->id;
}

static uint32_t intern_text(struct spans *s, struct slice text)
{
    size_t len = text.len < LIMIT_SPAN_NAME_BYTES ? text.len : LIMIT_SPAN_NAME_BYTES;
    if (len == 0)
        return 0;
    uint32_t before = s->texts.n;
    uint32_t id = id_of(s, &s->texts, text.s, len, s->text_bytes + len <= LIMIT_SPAN_TEXT_BYTES);
    if (s->texts.n != before)
        s->text_bytes += len;
    return id;
}

static uint32_t intern_process(struct spans *s, const struct span_process *p)
{
    struct process_key key = {.id = p->pid.id, .serial = p->pid.serial};
    key.node = intern_text(s, p->node);
    key.name = intern_text(s, p->name);
    key.creation = p->pid.creation;
    if (key.node == UINT32_MAX || key.name == UINT32_MAX)
        return UINT32_MAX;
    if (key.name == 0 && key.id == 0 && key.serial == 0)
        return 0;
    uint32_t before = s->processes.n;
    uint32_t id = id_of(s, &s->processes, &key, sizeof key, before <= LIMIT_SPAN_PROCESSES);
    if (s->processes.n != before) {
        s->names = alloc_resize(s->names, s->processes.n, sizeof *s->names);
        s->names[id] = (struct slice){0};
    }
    return id;
}

struct spans *spans_new(const struct spans_options *options)
{
    static const struct process_key nobody;
    static const struct span_ref no_ref;
    struct spans *s = alloc_zero(1, sizeof *s);
    s->options = *options;
    arena_init(&s->arena);
    s->options.node = slice_keep(&s->arena, options->node);
    id_of(s, &s->texts, "", 0, true);
    id_of(s, &s->processes, &nobody, sizeof nobody, true);
    id_of(s, &s->refs, &no_ref, sizeof no_ref, true);
    s->names = alloc_zero(1, sizeof *s->names);
    return s;
}

static void interned_free(struct interned *in)
{
    HASH_CLEAR(hh, in->by_key);
    free(in->at);
}

void spans_free(struct spans *s)
{
    if (!s)
        return;
    interned_free(&s->texts);
    interned_free(&s->processes);
    interned_free(&s->refs);
    free(s->names);
    free(s->events);
    free(s->spans);
    free(s->waits);
    free(s->ends);
    free(s->sampled);
    stacks_free(s->stacks);
    arena_clear(&s->arena);
    free(s);
}

struct slice spans_text(const struct spans *s, uint32_t id)
{
    const struct intern *e = s->texts.at[id];
    return (struct slice){e->key, e->hh.keylen};
}

static struct process_key process_key(const struct spans *s, uint32_t id)
{
    struct process_key key;
    memcpy(&key, s->processes.at[id]->key, sizeof key);
    return key;
}

struct span_process spans_process_at(const struct spans *s, uint32_t id, struct slice *given)
{
    struct process_key key = process_key(s, id);
    struct span_process p = {.node = spans_text(s, key.node), .name = spans_text(s, key.name)};
    p.pid = (struct etf_pid){key.id, key.serial, key.creation};
    *given = s->names[id];
    return p;
}

struct span_process spans_process(const struct spans *s, uint32_t id)
{
    struct slice given;
    struct span_process p = spans_process_at(s, id, &given);
    if (given.len > 0)
        p.name = given;
    return p;
}

void spans_name(struct spans *s, const struct span_process *process, struct slice name)
{
    const struct span_process p = {.node = process->node, .pid = process->pid};
    uint32_t id = intern_process(s, &p), text = intern_text(s, name);
    if (id != UINT32_MAX && id != 0 && text != UINT32_MAX)
        s->names[id] = spans_text(s, text);
}

static bool is_valid_event(const struct span_event *e)
{
    const int64_t most = INT64_C(1) << 61;
    return (unsigned)e->kind < SPAN_EVENTS && (unsigned)e->tag < SPAN_TAGS &&
           (unsigned)e->class < SPAN_CLASSES && e->at_ns >= -most && e->at_ns <= most &&
           e->ref.n <= 5 && (e->process.pid.id != 0 || e->process.pid.serial != 0);
}

bool spans_feed(struct spans *s, const struct span_event *event)
{
    if (!is_valid_event(event)) {
        s->fed.invalid++;
        return false;
    }
    struct span_ref ref = {.creation = event->ref.creation, .n = event->ref.n};
    memcpy(ref.words, event->ref.words, event->ref.n * sizeof *ref.words);
    struct event e = {.at = event->at_ns, .words = event->words < 0 ? -1 : event->words};
    e.order = event->order;
    e.serial = event->serial;
    e.label[0] = event->label.id;
    e.label[1] = event->label.serial;
    e.label[2] = event->label.creation;
    e.kind = (uint8_t)event->kind;
    e.tag = (uint8_t)event->tag;
    e.class = (uint8_t)event->class;
    if (s->n_events < LIMIT_SPAN_EVENTS) {
        e.process = intern_process(s, &event->process);
        e.peer = intern_process(s, &event->peer);
        e.text = intern_text(s, event->text);
        e.label[3] = intern_text(s, event->label_node);
        e.ref = ref.n == 0 ? 0 : id_of(s, &s->refs, &ref, sizeof ref, true);
    }
    if (s->n_events >= LIMIT_SPAN_EVENTS || e.process == UINT32_MAX || e.peer == UINT32_MAX ||
        e.text == UINT32_MAX || e.label[3] == UINT32_MAX) {
        s->fed.beyond++;
        return false;
    }
    s->events = alloc_grow(s->events, s->n_events, sizeof *s->events);
    s->events[s->n_events++] = e;
    return true;
}

/* ---- what was fed */

const struct spans_options *spans_about(const struct spans *s)
{
    return &s->options;
}

size_t spans_events(const struct spans *s)
{
    return s->n_events;
}

size_t spans_processes(const struct spans *s)
{
    return s->processes.n;
}

size_t spans_texts(const struct spans *s)
{
    return s->texts.n;
}

struct span_event_ids spans_event_ids(const struct spans *s, size_t i)
{
    assert(i < s->n_events);
    const struct event *e = &s->events[i];
    return (struct span_event_ids){e->process, e->peer, e->text};
}

void spans_event_at(const struct spans *s, size_t i, struct span_event *out)
{
    assert(i < s->n_events);
    const struct event *e = &s->events[i];
    struct slice given;
    *out = (struct span_event){.kind = e->kind,
                               .at_ns = e->at,
                               .order = e->order,
                               .process = spans_process_at(s, e->process, &given),
                               .peer = spans_process_at(s, e->peer, &given),
                               .label = {e->label[0], e->label[1], e->label[2]},
                               .label_node = spans_text(s, e->label[3]),
                               .serial = e->serial,
                               .tag = e->tag,
                               .class = e->class,
                               .words = e->words,
                               .text = spans_text(s, e->text)};
    memcpy(&out->ref, s->refs.at[e->ref]->key, sizeof out->ref);
}

void spans_add_dropped(struct spans *s, const struct spans_dropped *more)
{
    s->fed.invalid += more->invalid;
    s->fed.beyond += more->beyond;
    s->fed.duplicate += more->duplicate;
}

/* ---- building */

/* By time and order; the rest only makes the same events neighbours. */
static int events_by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    int order = ORDER(x->at, y->at);
    order = order ? order : ORDER(x->order, y->order);
    order = order ? order : ORDER(x->kind, y->kind);
    order = order ? order : ORDER(x->process, y->process);
    return order ? order : ORDER(x->serial, y->serial);
}

void spans_build(struct spans *s)
{
    size_t kept = 0;
    if (s->n_events > 0)
        qsort(s->events, s->n_events, sizeof *s->events, events_by_time);
    for (size_t i = 0; i < s->n_events; i++)
        if (kept > 0 && events_by_time(&s->events[kept - 1], &s->events[i]) == 0)
            s->fed.duplicate++;
        else
            s->events[kept++] = s->events[i];
    s->n_events = kept;
    s->n_spans = s->n_waits = s->n_roots = 0;
    s->built = (struct spans_dropped){0};
    spans_walk(s);
    spans_measure(s);
    spans_sort_ends(s);
}

size_t spans_count(const struct spans *s)
{
    return s->n_spans;
}

const struct span *spans_at(const struct spans *s, uint32_t index)
{
    assert(index < s->n_spans);
    return &s->spans[index];
}

uint32_t span_after(const struct spans *s, uint32_t at)
{
    const struct span *span = spans_at(s, at);
    if (span->child != SPAN_NONE)
        return span->child;
    for (; span->parent != SPAN_NONE; span = spans_at(s, span->parent))
        if (span->next != SPAN_NONE)
            return span->next;
    return SPAN_NONE;
}

const struct span_wait *spans_wait(const struct spans *s, uint32_t index)
{
    assert(index < s->n_waits);
    return &s->waits[index];
}

struct span_process spans_caller(const struct spans *s, const struct span *span, size_t i)
{
    assert(i < span->n_callers);
    return spans_process(s, span->caller_ids[i]);
}

struct spans_dropped spans_dropped(const struct spans *s)
{
    struct spans_dropped d = s->fed;
    d.leaked += s->built.leaked;
    d.deep += s->built.deep;
    return d;
}

#define SPAN_KEY(name, key) [name] = (key),
#define SPAN_KEY_OF(function, type, list, count)                                                   \
    const char *function(enum type value)                                                          \
    {                                                                                              \
        static const char *const keys[count] = {list(SPAN_KEY)};                                   \
        assert((unsigned)value < (count));                                                         \
        return keys[value];                                                                        \
    }
SPAN_KEY_OF(span_event_key, span_event_kind, SPAN_EVENT_LIST, SPAN_EVENTS)
SPAN_KEY_OF(span_tag_key, span_tag, SPAN_TAG_LIST, SPAN_TAGS)
SPAN_KEY_OF(span_class_key, span_class, SPAN_CLASS_LIST, SPAN_CLASSES)
SPAN_KEY_OF(span_kind_key, span_kind, SPAN_KIND_LIST, SPAN_KINDS)
SPAN_KEY_OF(span_outcome_key, span_outcome, SPAN_OUTCOME_LIST, SPAN_OUTCOMES)
SPAN_KEY_OF(span_wait_key, span_wait_kind, SPAN_WAIT_LIST, SPAN_WAITS)
SPAN_KEY_OF(span_step_key, span_step_kind, SPAN_STEP_LIST, SPAN_STEPS)

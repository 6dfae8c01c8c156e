/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is armed on the node, as one list of rows. */
#include "internal.h"

#include <string.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/model/process_name.h"

#define ITEMS_MAX 16  /* of one breakpoint: the VM has six kinds */
#define FLAGS_MAX 100 /* of one process: the VM has some twenty */

/* Our processes are signed with a function of this module; a tracer's text is its pid and that. */
static const char signature[] = " beamtop:";

static const struct {
    const char *s;
    size_t len;
} kind_words[] = {
#define WORD(kind, word) [kind] = {word, sizeof word - 1}
    WORD(ARMED_SESSION, "session"),
    WORD(ARMED_BREAKPOINT, "breakpoint"),
    WORD(ARMED_FLAGS, "flags"),
    WORD(ARMED_MONITOR, "monitor"),
    WORD(ARMED_CONTROL_WORD, "control_word"),
    WORD(ARMED_SYSTEM_TRACER, "system_tracer"),
    WORD(ARMED_TOKENS, "tokens"),
    WORD(ARMED_CONNECTION, "connection"),
#undef WORD
};

static struct armed_row armed_row_of(enum armed_kind kind)
{
    const struct slice none = {"", 0};
    return (struct armed_row){
        .kind = kind,
        .what = {kind_words[kind].s, kind_words[kind].len},
        .where = none,
        .pid_text = none,
        .session = none,
        .tracer = none,
        .traced = none,
        .text = none,
        .value = -1,
        .call_count = -1,
        .call_time_us = -1,
        .call_memory_words = -1,
        .breakpoints = -1,
        .processes = -1,
        .details = none,
        .owner = none,
    };
}

/* ---- parts of the answer, each in a separate array */

struct part {
    struct armed_row *rows;
    size_t n;
    int64_t total;
};

/* A list whose elements are rows of one kind; with a total: `{Total, List}`, which is at least the
 * length of the list. */
static void decode_part(struct decoder *d, struct part *part, enum armed_kind kind, bool with_total,
                        void (*decode)(struct decoder *d, struct armed_row *row))
{
    struct cursor_list list;
    int64_t total = 0;
    if (with_total && (!cursor_tuple_of(&d->c, 2) || !cursor_int64(&d->c, &total)))
        return;
    if (!decode_list(d, &list, LIMIT_ARMED, sizeof part->rows[0], &part->rows))
        return;
    part->n = list.count;
    part->total = with_total ? total : (int64_t)list.count;
    if (part->total < (int64_t)list.count)
        cursor_fail(&d->c, "a total of the list behind it");
    for (size_t i = 0; i < list.count && !cursor_failed(&d->c); i++) {
        part->rows[i] = armed_row_of(kind);
        decode(d, &part->rows[i]);
    }
    cursor_list_end(&d->c, &list);
}

static void decode_session(struct decoder *d, struct armed_row *row)
{
    cursor_tuple_of(&d->c, 2);
    decode_binary(d, &row->where);
    decode_bool(d, &row->beamtop);
    row->session = row->where;
}

static bool decode_counter(struct decoder *d, int64_t *counter)
{
    if (!cursor_int64(&d->c, counter))
        return false;
    return *counter >= 0 || cursor_fail(&d->c, "a count");
}

static bool decode_trait(struct decoder *d, struct armed_row *row)
{
    struct slice key;
    if (!cursor_tuple_of(&d->c, 2) || !decode_atom(d, &key))
        return false;
    const struct {
        const char *key;
        int64_t *counter;
    } counters[] = {{"call_count", &row->call_count},
                    {"call_time", &row->call_time_us},
                    {"call_memory", &row->call_memory_words}};
    for (size_t i = 0; i < ARRAY_LEN(counters); i++)
        if (strcmp(key.s, counters[i].key) == 0)
            return decode_counter(d, counters[i].counter);
    if (strcmp(key.s, "meta") == 0) {
        if (row->traced.len == 0)
            row->traced = key;
        return decode_binary(d, &row->tracer);
    }
    if (strcmp(key.s, "local") != 0 && strcmp(key.s, "global") != 0)
        return cursor_fail(&d->c, "an item of a breakpoint");
    row->traced = key;
    return decode_binary(d, &row->text);
}

/* Message patterns and what is loaded next have only a name. */
static bool decode_place(struct decoder *d, struct armed_row *row)
{
    struct slice mod, fun;
    int64_t arity;
    if (!decode_atom(d, &mod))
        return false;
    if (cursor_kind(&d->c) == ETF_KIND_INTEGER) {
        row->where = mod;
        return cursor_int64(&d->c, &arity) && cursor_int64(&d->c, &arity);
    }
    if (!decode_atom(d, &fun) || !cursor_int64(&d->c, &arity))
        return false;
    row->where = decode_keep_mfa(d, mod, fun, arity);
    return true;
}

static void decode_breakpoint(struct decoder *d, struct armed_row *row)
{
    struct cursor_list items;
    void *room;
    cursor_tuple_of(&d->c, 5);
    decode_binary(d, &row->session);
    decode_place(d, row);
    if (!decode_list(d, &items, ITEMS_MAX, 1, &room))
        return;
    for (size_t k = 0; k < items.count && !cursor_failed(&d->c); k++)
        decode_trait(d, row);
    cursor_list_end(&d->c, &items);
}

/* Flags as one text, with commas. */
static void decode_flag_names(struct decoder *d, struct slice *out)
{
    struct cursor_list list;
    void *room;
    struct buf text;
    if (!decode_list(d, &list, FLAGS_MAX, 1, &room))
        return;
    buf_init(&text, LIMIT_TERM_TEXT_BYTES);
    for (size_t i = 0; i < list.count && !cursor_failed(&d->c); i++) {
        struct slice flag = {"", 0};
        decode_printed(d, &flag);
        buf_printf(&text, "%s%.*s", i > 0 ? ", " : "", (int)flag.len, flag.s);
    }
    cursor_list_end(&d->c, &list);
    if (text.len > 0)
        *out = slice_take(d->arena, &text);
    buf_clear(&text);
}

static void decode_row_pid(struct decoder *d, struct armed_row *row)
{
    row->has_pid = cursor_pid(&d->c, &row->pid, NULL);
    if (row->has_pid)
        row->pid_text = decode_keep_pid(d, &row->pid);
}

static void decode_flags(struct decoder *d, struct armed_row *row)
{
    struct slice name = {"", 0};
    cursor_tuple_of(&d->c, 5);
    decode_binary(d, &row->session);
    if (cursor_kind(&d->c) == ETF_KIND_ATOM) {
        decode_atom(d, &row->where);
        decode_binary(d, &name);
    } else {
        decode_row_pid(d, row);
        decode_binary(d, &name);
        row->where = name.len > 0 ? process_call_name(name) : row->pid_text;
    }
    decode_flag_names(d, &row->text);
    decode_binary(d, &row->tracer);
}

/* "system_monitor <0.5.0> name [{long_gc,100}]": what, its receiver, which events. */
static void split_monitor(struct armed_row *row, struct slice all)
{
    const char *end = all.s + all.len;
    const char *who = memchr(all.s, ' ', all.len);
    row->where = all;
    if (!who)
        return;
    row->where.len = (size_t)(who++ - all.s);
    const char *events = who;
    while (events < end && *events != '[')
        events++;
    row->tracer = (struct slice){who, (size_t)(events - who)};
    while (row->tracer.len > 0 && row->tracer.s[row->tracer.len - 1] == ' ')
        row->tracer.len--;
    row->text = (struct slice){events, (size_t)(end - events)};
}

/* The receiver of one of a session is the session. */
static void decode_monitor(struct decoder *d, struct armed_row *row)
{
    struct slice all;
    if (!decode_binary(d, &all))
        return;
    split_monitor(row, all);
    row->beamtop = armed_is_beamtop(row->tracer) || slice_is(row->tracer, "beamtop_events");
}

static void decode_connection(struct decoder *d, struct armed_row *row)
{
    size_t arity = 0;
    row->beamtop = true;
    if (cursor_tuple(&d->c, &arity) && arity != 3 && arity != 4)
        cursor_fail(&d->c, "a tuple of 3 or 4");
    decode_binary(d, &row->where);
    decode_row_pid(d, row);
    decode_counter(d, &row->processes);
    if (arity == 4)
        decode_binary(d, &row->text);
}

/* ---- what follows from all of it together */

bool armed_is_beamtop(struct slice tracer)
{
    const size_t len = sizeof signature - 1;
    const char *name = tracer.len > 0 ? memchr(tracer.s, ' ', tracer.len) : NULL;
    return name && (size_t)(tracer.s + tracer.len - name) > len &&
           memcmp(name, signature, len) == 0;
}

/*
 * A session says itself whose it is. In the single space there are only flags with their tracers:
 * where each that is set there reports to a beamtop, its breakpoints are that beamtop's too, since
 * a beamtop traces there only when no other tool does. */
static void mark_beamtop(const struct part *sessions, struct part *points, struct part *flags)
{
    bool single = false, foreign = false;
    for (size_t i = 0; i < flags->n; i++) {
        struct armed_row *row = &flags->rows[i];
        row->beamtop = armed_is_beamtop(row->tracer);
        if (row->session.len == 0)
            *(row->beamtop ? &single : &foreign) = true;
    }
    for (size_t i = 0; i < points->n; i++) {
        struct armed_row *row = &points->rows[i];
        row->beamtop = row->session.len == 0 && single && !foreign;
        for (size_t k = 0; k < sessions->n && !row->beamtop; k++)
            row->beamtop =
                sessions->rows[k].beamtop && slice_equal(row->session, sessions->rows[k].where);
    }
}

static void count_of_sessions(struct part *sessions, const struct part *points,
                              const struct part *flags)
{
    for (size_t i = 0; i < sessions->n; i++) {
        struct armed_row *row = &sessions->rows[i];
        int64_t n_points = 0, n_flags = 0;
        for (size_t k = 0; k < points->n; k++)
            n_points += slice_equal(points->rows[k].session, row->where);
        for (size_t k = 0; k < flags->n; k++)
            n_flags += flags->rows[k].has_pid && slice_equal(flags->rows[k].session, row->where);
        row->breakpoints = points->total > (int64_t)points->n ? -1 : n_points;
        row->processes = flags->total > (int64_t)flags->n ? -1 : n_flags;
    }
}

static void put_option_count(struct buf *out, int64_t n, const char *one, const char *many)
{
    char text[32];
    if (n >= 0)
        buf_printf(out, "%s%s %s", out->len > 0 ? ", " : "", text_integer(text, sizeof text, n),
                   n == 1 ? one : many);
}

static void put_word(struct buf *out, struct slice word)
{
    buf_printf(out, "%s%.*s", out->len > 0 && word.len > 0 ? " " : "", (int)word.len, word.s);
}

static void put_option_time(struct buf *out, int64_t us)
{
    char text[32];
    if (us >= 0)
        buf_printf(out, "%s%s", out->len > 0 ? ", " : "",
                   text_duration(text, sizeof text, (double)us / 1e6));
}

/* In words, what the row's numbers and texts say. */
static void add_details(struct arena *arena, struct armed_row *row)
{
    struct buf text;
    char number[32];
    buf_init(&text, LIMIT_TERM_TEXT_BYTES);
    put_word(&text, row->traced);
    put_word(&text, row->text);
    if (row->value >= 0)
        buf_puts(&text, text_integer(number, sizeof number, row->value));
    put_option_count(&text, row->call_count, "call", "calls");
    put_option_time(&text, row->call_time_us);
    put_option_count(&text, row->call_memory_words, "word", "words");
    put_option_count(&text, row->breakpoints, "breakpoint", "breakpoints");
    put_option_count(&text, row->processes, "process", "processes");
    if (text.len > 0)
        row->details = slice_take(arena, &text);
    buf_clear(&text);
}

static void add_part(struct armed_detail *out, const struct part *part)
{
    if (part->n > 0)
        memcpy(&out->rows[out->n_rows], part->rows, part->n * sizeof part->rows[0]);
    out->n_rows += part->n;
}

/* A control word that is not zero belongs to a trace that reads it: a beamtop's when it has one. */
static struct part control_word(struct decoder *d, const struct armed_detail *out,
                                const struct part *sessions, const struct part *flags)
{
    struct part part = {.n = out->control_word != 0, .total = out->control_word != 0};
    part.rows = arena_alloc(d->arena, sizeof part.rows[0]);
    *part.rows = armed_row_of(ARMED_CONTROL_WORD);
    part.rows->where = slice_of("trace_control_word");
    part.rows->value = out->control_word;
    for (size_t i = 0; i < sessions->n; i++)
        part.rows->beamtop = part.rows->beamtop || sessions->rows[i].beamtop;
    for (size_t i = 0; i < flags->n; i++)
        part.rows->beamtop = part.rows->beamtop || flags->rows[i].beamtop;
    return part;
}

/*
 * The system tracer and how many processes have a token, where there are any. A beamtop captures
 * only where no system tracer is, so the tokens are a beamtop's when the tracer is. */
static struct part sequential_part(struct decoder *d, const struct armed_detail *out)
{
    struct part part = {.rows = arena_alloc(d->arena, 2 * sizeof part.rows[0])};
    const bool beamtop = armed_is_beamtop(out->system_tracer);
    if (out->system_tracer.len > 0) {
        struct armed_row *row = &part.rows[part.n++];
        *row = armed_row_of(ARMED_SYSTEM_TRACER);
        row->where = slice_of("seq_trace");
        row->tracer = out->system_tracer;
        row->beamtop = beamtop;
    }
    if (out->tokens > 0) {
        struct armed_row *row = &part.rows[part.n++];
        *row = armed_row_of(ARMED_TOKENS);
        row->where = slice_of("seq_trace");
        row->processes = out->tokens;
        row->beamtop = beamtop;
    }
    return part;
}

static void take_totals(struct armed_detail *out, const struct part *sessions,
                        const struct part *monitors, const struct part *points,
                        const struct part *flags)
{
    out->sessions = sessions->total;
    out->monitors = monitors->total;
    out->breakpoints = points->total;
    out->breakpoints_shown = (int64_t)points->n;
    out->flags = out->processes = flags->total;
    out->flags_shown = (int64_t)flags->n;
    for (size_t i = 0; i < flags->n; i++)
        out->processes -= !flags->rows[i].has_pid;
}

void decode_armed(struct decoder *d, void *to)
{
    struct armed_detail *out = to;
    struct part sessions = {0}, points = {0}, flags = {0}, monitors = {0};
    struct part connections = {.total = -1};
    size_t arity = 0;
    *out = (struct armed_detail){0};
    if (cursor_tuple(&d->c, &arity) && arity != 10 && arity != 12)
        cursor_fail(&d->c, "a tuple of 10 or 12");
    cursor_atom_is(&d->c, "armed");
    decode_mono(d, &out->mono_ns);
    cursor_int64(&d->c, &out->control_word);
    decode_part(d, &sessions, ARMED_SESSION, false, decode_session);
    decode_part(d, &points, ARMED_BREAKPOINT, true, decode_breakpoint);
    decode_part(d, &flags, ARMED_FLAGS, true, decode_flags);
    decode_part(d, &monitors, ARMED_MONITOR, false, decode_monitor);
    decode_counter(d, &out->ours);
    decode_binary(d, &out->system_tracer);
    decode_counter(d, &out->tokens);
    if (arity == 12) {
        decode_part(d, &connections, ARMED_CONNECTION, false, decode_connection);
        decode_bool(d, &out->own_counts);
    }
    if (cursor_failed(&d->c))
        return;
    mark_beamtop(&sessions, &points, &flags);
    count_of_sessions(&sessions, &points, &flags);
    struct part word = control_word(d, out, &sessions, &flags);
    struct part seq = sequential_part(d, out);
    size_t n = connections.n + sessions.n + word.n + seq.n + monitors.n + points.n + flags.n;
    out->rows = arena_alloc(d->arena, (n + 1) * sizeof out->rows[0]);
    const struct part *const parts[] = {&connections, &sessions, &word, &seq,
                                        &monitors,    &points,   &flags};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        add_part(out, parts[i]);
    for (size_t i = 0; i < out->n_rows; i++) {
        add_details(d->arena, &out->rows[i]);
        if (out->rows[i].beamtop)
            out->rows[i].owner = slice_of("beamtop");
    }
    out->beamtops = connections.total;
    take_totals(out, &sessions, &monitors, &points, &flags);
}

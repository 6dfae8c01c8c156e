/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of the sampler: its rows, their keys and columns. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"
#include "beamtop/model/samples_fields.h"

#define ROW struct samples_row
#define NAME(KEY, TITLE, WIDTH, HELP)                                                              \
    FIELD(KEY, TEXT, name, HELP, .title = (TITLE), .look = LOOK_NAME, .width = (WIDTH))
#define ABOUT(KEY, TITLE, WIDTH, GROWS, HELP)                                                      \
    FIELD(KEY, TEXT, about, HELP, .title = (TITLE), .look = LOOK_ASIDE, .width = (WIDTH),          \
          .grows = (GROWS))
#define SUM                                                                                        \
    FIELD("samples", COUNT, samples, "its samples", .width = 8),                                   \
        FIELD("share", SHARE, share, "of all samples", .width = 7)
#define MOVES(PLACE)                                                                               \
    FIELD("moves", COUNT, moves, "samples that were on another " PLACE " than the one before",     \
          .width = 6)
#define ERROR                                                                                      \
    FIELD("error", SHARE, error, "half of the 95% interval of `share`", .title = "95% +-",         \
          .look = LOOK_ERROR, .width = 6)
#define PLACES(TITLE)                                                                              \
    FIELD("places", TEXT, places, "where it ran, the most first", .title = (TITLE), .width = 24,   \
          .grows = true)

static const struct field class_table[] = {
    NAME("class", "CLASS", 12,
         "`erlang`, `bif`, `gc`, `runtime`, `nif`, `scheduler` (no process) or `other`"),
    SUM,
    ERROR,
    ABOUT("about", "SAMPLED", 30, true, "what was running"),
};
FIELD_COLUMNS(samples_class_fields, "classes", class_table, 2, "class samples error share about");

static const struct field code_table[] = {
    NAME("code", "CODE", 24,
         "what the innermost frame is: `erlang`, `jit`, `bif`, `runtime`, `nif`, `libc` or "
         "`unknown`"),
    SUM,
    ERROR,
};
FIELD_COLUMNS(samples_code_fields, "codes", code_table, 1, "code samples error share");

static const struct field kind_table[] = {
    NAME("kind", "KIND OF THREAD", 24, "of threads: `scheduler`, `dirty_cpu`, …"),
    SUM,
    ERROR,
};
FIELD_COLUMNS(samples_kind_fields, "thread_kinds", kind_table, 1, "kind samples error share");

static const struct field process_table[] = {
    NAME("pid", "PROCESS", 16, "the Erlang process"),
    ABOUT("name", "NAME", 30, true, "its registered name or label"),
    SUM,
    MOVES("thread"),
    ERROR,
    PLACES("ON SCHEDULER"),
};
FIELD_COLUMNS(samples_process_fields, "processes", process_table, 2,
              "pid samples error share name moves places");

static const struct field thread_table[] = {
    NAME("thread", "THREAD", 24, "a thread of the VM"),
    ABOUT("kind", "KIND", 20, false, "its kind"),
    SUM,
    MOVES("CPU"),
    ERROR,
    PLACES("ON CPU"),
};
FIELD_COLUMNS(samples_thread_fields, "threads", thread_table, 2,
              "thread samples error share kind moves places");
#undef ROW
#undef ERROR

const struct field_list *const samples_fields_by[SAMPLES_BY] = {
    [SAMPLES_BY_CLASS] = &samples_class_fields,   [SAMPLES_BY_CODE] = &samples_code_fields,
    [SAMPLES_BY_KIND] = &samples_kind_fields,     [SAMPLES_BY_PROCESS] = &samples_process_fields,
    [SAMPLES_BY_THREAD] = &samples_thread_fields,
};

#define ROW struct samples_held
static const struct field held_table[] = {
    FIELD("call", TEXT, call,
          "the BIF, the function of the NIF library, or `global::garbage_collect`",
          .title = "NATIVE CALL", .look = LOOK_NAME, .width = 24, .grows = true),
    FIELD("object", TEXT, object, "of a NIF: its library", .title = "LIBRARY"),
    FIELD("caller", TEXT, caller, "the Erlang function that called it", .title = "CALLED BY",
          .look = LOOK_FUNCTION, .width = 20, .grows = true),
    FIELD("pid", TEXT, process, "the Erlang process"),
    FIELD("name", TEXT, name, "its registered name or label", .title = "PROCESS", .width = 16),
    FIELD("thread", TEXT, thread, "the normal scheduler that it held", .title = "HELD SCHEDULER",
          .width = 14),
    FIELD("seconds", SECONDS, seconds, "from its first sample to its last: it lasted longer",
          .title = "HELD", .look = LOOK_ABOVE, .width = 9),
    FIELD("samples", COUNT, samples, "of that one call, 2 or more", .width = 8),
};
FIELD_COLUMNS(samples_held_fields, "held", held_table, 0,
              "call seconds samples thread name caller");
#undef ROW

#define ROW struct samples_function
#define FRAME(TITLE, WIDTH)                                                                        \
    FIELD("function", TEXT, name,                                                                  \
          "`module:function/arity`, `global::fragment` or a native symbol", .title = (TITLE),      \
          .look = LOOK_FUNCTION, .width = (WIDTH), .grows = true),                                 \
        FIELD("kind", TEXT, kind, "`erlang`, `jit`, `bif`, `runtime`, `nif`, `libc` or `unknown`", \
              .look = LOOK_ASIDE, .width = 7),                                                     \
        FIELD("object", TEXT, object, "of native code: its file"),                                 \
        FIELD("file", TEXT, file, "of Erlang code, where it is known"),                            \
        FIELD("line", COUNT, line, "the line there")
#define SELF                                                                                       \
    FIELD("self_share", SHARE, self_share, "`self` over all samples", .title = "SELF", .width = 7)
#define TOTAL(TITLE)                                                                               \
    FIELD("total_share", SHARE, total_share, "`total` over all samples", .title = (TITLE),         \
          .width = 7)
#define PLACE                                                                                      \
    FIELD("place", TEXT, place, "source file and line, or the library", .title = "AT",             \
          .look = LOOK_ASIDE, .width = 20)
static const struct field function_table[] = {
    FRAME("FUNCTION", 24),
    FIELD("self", COUNT, self, "samples in it", .title = "SAMPLES"),
    FIELD("total", COUNT, total, "samples in it or in what it called"),
    SELF,
    FIELD("self_error", SHARE, self_error, "half of the 95% interval of `self_share`",
          .title = "95% +-", .look = LOOK_ERROR, .width = 6),
    TOTAL("TOTAL"),
    PLACE,
};
FIELD_COLUMNS(samples_function_fields, "functions", function_table, 1,
              "function self_share self_error total_share kind place");
static const struct field frame_table[] = {FRAME("FUNCTION", 24)};
FIELD_LIST(stack_frame_fields, "frames", frame_table);
static const struct field branch_table[] = {FRAME("FUNCTION AND WHAT IT CALLS", 30), SELF,
                                            TOTAL("TOTAL"), PLACE};
FIELD_COLUMNS(samples_branch_fields, "tree", branch_table, 0,
              "function self_share total_share kind place");
static const struct field callers_table[] = {FRAME("FUNCTION AND ITS CALLERS", 30), TOTAL("SHARE"),
                                             PLACE};
FIELD_COLUMNS(samples_callers_fields, "callers", callers_table, 0,
              "function total_share kind place");
#undef ROW

/* ---- sums */

struct sums {
    const struct samples_summary *run;
    struct arena *arena;
    bool words;
    struct samples_row *rows;
    size_t n;
};

/* "scheduler 1 60.0%, scheduler 2 40.0%" */
static struct slice places_text(struct arena *arena, const struct samples_source *of)
{
    struct buf out;
    char share[32];
    buf_init(&out, 0);
    for (size_t i = 0; i < of->n_places; i++) {
        const struct samples_place *place = &of->places[i];
        const double part = samples_share((double)place->samples, (double)of->samples);
        buf_printf(&out, "%s%.*s %s", i > 0 ? ", " : "", (int)place->name.len, place->name.s,
                   text_percent(share, sizeof share, part));
    }
    return slice_take(arena, &out);
}

/* share: of all. */
static struct samples_row *add_sum(struct sums *s, const char *key, const char *name,
                                   double samples, double whole)
{
    struct samples_row *row = &s->rows[s->n++];
    row->name = slice_of(s->words ? name : key);
    row->samples = llround(samples);
    row->share = samples_share(samples, whole);
    row->moves = -1;
    return row;
}

static void add_classes(struct sums *s)
{
    static const char *const meanings[SAMPLE_CLASSES] = {
        [SAMPLE_ERLANG] = "compiled Erlang code",
        [SAMPLE_BIF] = "native functions that Erlang code called",
        [SAMPLE_GC] = "garbage collection",
        [SAMPLE_RUNTIME] = "the VM, for a process",
        [SAMPLE_NIF] = "NIF libraries, and what they called",
        [SAMPLE_SCHEDULER] = "no process: scheduling, polling, busy waiting",
        [SAMPLE_OTHER] = "other threads, and what could not be resolved",
    };
    for (enum sample_class in = 0; in < SAMPLE_CLASSES; in++)
        add_sum(s, sample_class_key(in), sample_class_name(in), (double)s->run->classes[in],
                (double)s->run->samples)
            ->about = slice_of(meanings[in]);
}

/* By the code that ran: what kind of frame their stacks end in. Of no frame, or of functions that
 * were left out of a recording: unknown. */
static void add_codes(struct sums *s)
{
    const struct stacks *stacks = s->run->stacks;
    double sums[FRAME_KINDS] = {0};
    for (uint32_t i = 0; i < stacks_nodes(stacks); i++) {
        const struct stacks_node *node = stacks_node(stacks, i);
        const struct sample_frame *f = stacks_frame_at(stacks, node->frame);
        sums[f ? f->kind : FRAME_UNKNOWN] += node->self;
    }
    for (enum frame_kind kind = 0; kind < FRAME_KINDS; kind++)
        add_sum(s, frame_kind_key(kind), frame_kind_name(kind), sums[kind], stacks_total(stacks));
}

static void add_sources(struct sums *s, const struct samples_source *sources, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct samples_source *of = &sources[i];
        struct samples_row *row = add_sum(s, "", "", (double)of->samples, (double)s->run->samples);
        row->name = of->name;
        row->about = of->about;
        row->moves = of->n_places > 0 ? of->moves : -1;
        row->of = of;
        if (s->words)
            row->places = places_text(s->arena, of);
    }
}

static int by_most(const void *a, const void *b)
{
    const struct samples_source *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples < y->samples ? 1 : -1;
    return slice_order(x->name, y->name);
}

/* Threads by kind, the most samples first. */
static void add_kinds(struct sums *s)
{
    const struct samples_summary *run = s->run;
    struct samples_source *kinds = arena_alloc(s->arena, (run->n_threads + 1) * sizeof *kinds);
    size_t n = 0;
    for (size_t i = 0; i < run->n_threads; i++) {
        size_t at = 0;
        while (at < n && !slice_equal(kinds[at].name, run->threads[i].about))
            at++;
        kinds[at].name = run->threads[i].about;
        kinds[at].samples += run->threads[i].samples;
        n += at == n;
    }
    qsort(kinds, n, sizeof *kinds, by_most);
    add_sources(s, kinds, n);
}

const struct samples_row *samples_rows(const struct samples_summary *run, enum samples_by by,
                                       bool words, struct arena *arena, size_t *n)
{
    const size_t most = run->n_processes + run->n_threads + SAMPLE_CLASSES + FRAME_KINDS;
    struct sums s = {run, arena, words, arena_alloc(arena, most * sizeof *s.rows), 0};
    if (by == SAMPLES_BY_CLASS && !run->at_yields)
        add_classes(&s);
    else if (by == SAMPLES_BY_CODE && !run->at_yields)
        add_codes(&s);
    else if (by == SAMPLES_BY_KIND)
        add_kinds(&s);
    else if (by == SAMPLES_BY_PROCESS)
        add_sources(&s, run->processes, run->n_processes);
    else if (by == SAMPLES_BY_THREAD)
        add_sources(&s, run->threads, run->n_threads);
    for (size_t i = 0; i < s.n; i++)
        s.rows[i].error = samples_error(run, s.rows[i].share);
    *n = s.n;
    return s.rows;
}

/* ---- functions */

struct samples_function samples_function_of(const struct sample_frame *f)
{
    return (struct samples_function){.name = f->name,
                                     .kind = slice_of(frame_kind_key(f->kind)),
                                     .object = f->object,
                                     .file = f->file,
                                     .line = f->line > 0 ? (int64_t)f->line : -1,
                                     .at = f};
}

static struct samples_function function_at(struct arena *arena, const struct stacks *stacks,
                                           uint32_t frame)
{
    char place[FRAME_PLACE_BYTES];
    const struct sample_frame *f = stacks_frame_at(stacks, frame);
    struct samples_function out = samples_function_of(f);
    out.frame = frame;
    out.place = slice_keep(arena, slice_of(frame_place(place, sizeof place, f)));
    return out;
}

struct samples_function *samples_functions(const struct samples_summary *run,
                                           const struct stacks *stacks, double whole,
                                           struct arena *arena, size_t *n)
{
    struct stacks_sum *sums = stacks_sums(stacks, n);
    struct samples_function *rows = arena_alloc(arena, (*n + 1) * sizeof *rows);
    for (size_t i = 0; i < *n; i++) {
        rows[i] = function_at(arena, stacks, sums[i].frame);
        rows[i].self = llround(sums[i].self);
        rows[i].total = llround(sums[i].total);
        rows[i].self_share = samples_share(sums[i].self, whole);
        rows[i].self_error = samples_error(run, rows[i].self_share);
        rows[i].total_share = samples_share(sums[i].total, whole);
    }
    free(sums);
    return rows;
}

/* ---- trees */

struct tree {
    const struct stacks *stacks;
    struct arena *arena;
    size_t depth, n;
    bool ascii;
    struct samples_function *rows; /* NULL: they are only counted */
};

static void add_branch(void *arg, const struct stacks_branch *b)
{
    struct tree *t = arg;
    const double whole = stacks_total(t->stacks);
    struct samples_function row = {.self_share = NAN};
    if (t->rows && b->index != 0) {
        row = function_at(t->arena, t->stacks, stacks_node(t->stacks, b->index)->frame);
        row.self_share = samples_share(b->self, whole);
    } else if (t->rows) {
        row.name = slice_of(arena_printf(t->arena, "%s %s", t->ascii ? "..." : "…",
                                         b->depth >= t->depth ? "deeper" : "below 1% each"));
    }
    row.depth = b->depth;
    row.total_share = samples_share(b->total, whole);
    if (t->rows)
        t->rows[t->n] = row;
    t->n++;
}

struct samples_function *samples_tree(const struct stacks *stacks, size_t depth, bool ascii,
                                      struct arena *arena, size_t *n)
{
    struct tree t = {stacks, arena, depth, 0, ascii, NULL};
    const double whole = stacks_total(stacks);
    const double none = samples_share(stacks_node(stacks, 0)->self, whole);
    stacks_walk(stacks, SAMPLES_TREE_SHARE * whole, depth, add_branch, &t);
    t.rows = arena_alloc(arena, (t.n + 1) * sizeof *t.rows);
    t.n = 0;
    stacks_walk(stacks, SAMPLES_TREE_SHARE * whole, depth, add_branch, &t);
    if (none > 0)
        t.rows[t.n++] = (struct samples_function){
            .name = slice_of(SAMPLES_NO_STACK), .self_share = none, .total_share = none};
    *n = t.n;
    return t.rows;
}

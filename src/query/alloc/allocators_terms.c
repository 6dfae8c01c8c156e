/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "allocators_terms.h"

#include "allocators.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "query/native/args.h"
#include "query/native/files.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

/* Every scheduler answers for its own instances. */
#define SIZES_MS 1000
#define FILE_MS 1000
#define SIZES_WAITS 2.8 /* measured, with 2 and 64 schedulers */
#define LOOKS 5
#define FEATURES_MOST 100
#define SEGMENTS "mseg_alloc"
/* 64 MiB: what one allocator says before it is cut is 3 MiB with 1,024 schedulers. */
#define SIZES_WORDS (UINT64_C(1) << 23)
#define WORST 100
#define BILLION 1000000000

/* What is not read stays there: options, versions, calls, and the largest sizes so far. An instance
 * of another form is sent as it is. */
#define CARRIERS(kind, blocks, carriers, bytes)                                                    \
    "{" kind ",[{blocks,'$" blocks "'},{carriers,'$" carriers                                      \
    "','_','_'},'_','_',{carriers_size,'$" bytes "','_','_'}|'_']}"
#define POOL "{mbcs_pool,[{blocks,'$5'},{carriers,'$6'},{carriers_size,'$7'}|'_']}"
#define CUT(kind, blocks, carriers, bytes)                                                         \
    "{{" kind ",[{{blocks,'$" blocks "'}},{{carriers,'$" carriers "'}},{{carriers_size,'$" bytes   \
    "'}}]}}"
#define MULTIBLOCK "mbcs", "2", "3", "4"
#define POOLED "mbcs_pool", "5", "6", "7"
#define SINGLE "sbcs", "8", "9", "10"
#define APPLY(macro, arguments) macro(arguments)
#define INSTANCE(head, body)                                                                       \
    "{{instance,'$1',['_','_'," head "|'_']},[],[{{instance,'$1',[" body "]}}]},"
#define AS_IT_IS "{'_',[],['$_']}"

static const char sizes_spec[] =
    "[[" INSTANCE(APPLY(CARRIERS, MULTIBLOCK) "," POOL "," APPLY(CARRIERS, SINGLE),
                  APPLY(CUT, MULTIBLOCK) "," APPLY(CUT, POOLED) "," APPLY(CUT, SINGLE))
        INSTANCE(APPLY(CARRIERS, MULTIBLOCK) "," APPLY(CARRIERS, SINGLE),
                 APPLY(CUT, MULTIBLOCK) "," APPLY(CUT, SINGLE)) AS_IT_IS "]]";

static const char segments_spec[] =
    "[[{{instance,'$1',['_','_',{memkind,['_',{status,['_',{cache_hits,'$2'}|'_']},"
    "{calls,[{mseg_alloc,'$3','$4'}|'_']}]}]},[],[{{instance,'$1',[{{memkind,["
    "{{status,[{{cache_hits,'$2'}}]}},{{calls,[{{mseg_alloc,'$3','$4'}}]}}]}}]}}]}," AS_IT_IS "]]";

/* ---- terms such as [{Key, Value, …}] */

/* Enters the first tuple with that key, behind it: *n elements follow. */
static bool find_tuple(struct slice list, const char *key, struct cursor *out, size_t *n)
{
    struct cursor c;
    size_t count, arity;
    if (!values_enter_list(list, &c, &count))
        return false;
    for (size_t i = 0; i < count && cursor_apart(&c, out); i++)
        if (cursor_kind(out) == ETF_KIND_TUPLE && cursor_tuple(out, &arity) && arity > 1 &&
            cursor_peek_atom(out, key)) {
            *n = arity - 1;
            return cursor_skip(out);
        }
    return false;
}

static struct slice find_term(struct slice list, const char *key)
{
    struct cursor c;
    struct slice term;
    size_t n;
    return find_tuple(list, key, &c, &n) && cursor_raw(&c, &term) ? term : (struct slice){0};
}

static int64_t read_count(struct cursor *c)
{
    int64_t n;
    return cursor_int64(c, &n) && n >= 0 && n <= VALUES_MOST ? n : 0;
}

/* {Key, N}, {Key, N, Most, Most}, or {Key, Billions, N}; 0: it is not there. */
static int64_t find_count(struct slice list, const char *key)
{
    struct cursor c;
    size_t n;
    if (!find_tuple(list, key, &c, &n))
        return 0;
    const int64_t first = read_count(&c);
    return n == 2 ? first % BILLION * BILLION + read_count(&c) : first;
}

static void add_count(int64_t *sum, int64_t n)
{
    if (__builtin_add_overflow(*sum, n, sum))
        *sum = INT64_MAX;
}

static void add_sizes(struct allocators_sizes *sum, const struct allocators_sizes *one)
{
    add_count(&sum->blocks, one->blocks);
    add_count(&sum->block_bytes, one->block_bytes);
    add_count(&sum->carriers, one->carriers);
    add_count(&sum->carrier_bytes, one->carrier_bytes);
}

/* {blocks, [{Type, [{count, …}, {size, …}]}]}: a pool has those of other allocators, too. */
static struct allocators_sizes read_sizes(struct slice carriers)
{
    struct allocators_sizes sizes = {.carriers = find_count(carriers, "carriers"),
                                     .carrier_bytes = find_count(carriers, "carriers_size")};
    struct slice type[2];
    struct cursor c;
    struct slice each;
    size_t n;
    if (!values_enter_list(find_term(carriers, "blocks"), &c, &n))
        return sizes;
    for (size_t i = 0; i < n && cursor_raw(&c, &each); i++) {
        if (!values_read_tuple(each, 2, type, 2))
            continue;
        add_count(&sizes.blocks, find_count(type[1], "count"));
        add_count(&sizes.block_bytes, find_count(type[1], "size"));
    }
    return sizes;
}

/* ---- which there are, once */

static struct slice bytes_of(const struct buf *b)
{
    return (struct slice){(const char *)b->data, b->len};
}

/* In use: of another one the VM has no sizes. */
static bool has_feature(const struct allocators_read *a, struct slice name)
{
    struct cursor c;
    struct slice feature;
    size_t count;
    if (name.len == 0 || !values_enter_list(bytes_of(&a->features), &c, &count))
        return false;
    for (size_t i = 0; i < count && i < FEATURES_MOST && cursor_raw(&c, &feature); i++)
        if (slice_equal(who_atom_of(feature), name))
            return true;
    return false;
}

static size_t read_names(const struct allocators_read *a, struct slice out[ALLOCATORS_MOST])
{
    struct cursor c;
    size_t n = 0, count;
    if (!values_enter_list(bytes_of(&a->names), &c, &count))
        return 0;
    for (size_t i = 0; i < count && i < ALLOCATORS_MOST && cursor_raw(&c, &out[n]); i++)
        n += has_feature(a, who_atom_of(out[n]));
    return n;
}

/* A question that could ask for nothing else asks for these, and has no sizes.
 * alloc_util_allocators, and of {Allocator, Version, Features, Settings} the features. */
static bool ask_allocators(void *own, struct run_calls *calls)
{
    static const struct args_call inner[] = {{"erlang", "hd", 1, "[[3]]", NULL},
                                             {"erlang", "system_info", 1, "[allocator]", NULL}};
    const struct allocators_read *a = own;
    struct slice names[ALLOCATORS_MOST];
    run_add_text(calls, "erlang", "system_info", "[alloc_util_allocators]");
    run_add(calls, "lists", "foldl", args_of_calls("erlang", "element", 2, inner, 2));
    return a->is_late || read_names(a, names) == 0;
}

static void take_allocators(void *own, const struct slice *values, size_t n)
{
    struct allocators_read *a = own;
    (void)n;
    if (!values)
        return;
    buf_reset(&a->names);
    buf_put(&a->names, values[0].s, values[0].len);
    buf_reset(&a->features);
    buf_put(&a->features, values[1].s, values[1].len);
}

/* ---- what they hold */

/* ets:match_spec_run(erlang:system_info({allocator, Name}), ets:match_spec_compile(Spec)) */
static struct builder *sizes_args(const struct builder *name, const char *spec)
{
    struct builder *asked = builder_new();
    build_list(asked, 1);
    build_tuple(asked, 2);
    build_atom(asked, "allocator");
    build_term(asked, name);
    build_nil(asked);
    const struct args_call inner[] = {{"erlang", "system_info", 1, NULL, asked},
                                      {"ets", "match_spec_compile", 1, spec, NULL}};
    return args_of_calls("ets", "match_spec_run", 2, inner, 2);
}

static bool ask_sizes(void *own, struct run_calls *calls)
{
    const struct allocators_read *a = own;
    struct slice names[ALLOCATORS_MOST];
    const size_t n = read_names(a, names);
    for (size_t i = 0; i < n; i++) {
        struct builder *name = builder_new();
        values_build(name, names[i]);
        run_add(calls, "lists", "foldl", sizes_args(name, sizes_spec));
        builder_free(name);
    }
    if (has_feature(a, slice_of(SEGMENTS))) {
        struct builder *name = args_of_text(SEGMENTS);
        run_add(calls, "lists", "foldl", sizes_args(name, segments_spec));
        builder_free(name);
    }
    calls->heap_words = SIZES_WORDS;
    calls->waits = SIZES_WAITS;
    return n > 0;
}

/* {instance, Number, Properties} */
static void take_part(struct allocators_read *a, struct allocators_sum *sum, struct slice instance)
{
    static const char *const kinds[ALLOCATORS_KINDS] = {
        [ALLOCATORS_MBCS] = "mbcs", [ALLOCATORS_SBCS] = "sbcs", [ALLOCATORS_POOL] = "mbcs_pool"};
    struct slice e[3];
    struct allocators_part part = {.name = sum->name};
    if (a->n_parts == ALLOCATORS_PARTS_MOST || !values_read_tuple(instance, 3, e, 3) ||
        !who_term_is(e[0], "instance") || !values_read_integer(e[1], &part.number))
        return;
    for (size_t kind = 0; kind < ALLOCATORS_KINDS; kind++) {
        const struct allocators_sizes sizes = read_sizes(find_term(e[2], kinds[kind]));
        add_sizes(&part.sizes, &sizes);
        add_sizes(&sum->of[kind], &sizes);
    }
    sum->instances++;
    a->parts = alloc_grow(a->parts, a->n_parts, sizeof *a->parts);
    a->parts[a->n_parts++] = part;
}

static void take_allocator(struct allocators_read *a, struct slice name, struct slice instances)
{
    struct allocators_sum *sum = &a->sums[a->n];
    struct cursor c;
    struct slice instance;
    size_t n;
    *sum = (struct allocators_sum){.name = name};
    if (!values_enter_list(instances, &c, &n))
        return;
    for (size_t i = 0; i < n && cursor_raw(&c, &instance); i++)
        take_part(a, sum, instance);
    a->n++;
}

/* Of each {memkind, […]} of an instance, and of all. */
static void add_segments(struct allocators_read *a, struct slice instance)
{
    struct slice e[3], kind;
    struct cursor c;
    size_t n;
    if (!values_read_tuple(instance, 3, e, 3) || !values_enter_list(e[2], &c, &n))
        return;
    for (size_t i = 0; i < n && cursor_raw(&c, &kind); i++) {
        const struct slice memory = values_of_pair(kind, "memkind");
        add_count(&a->segment_hits, find_count(find_term(memory, "status"), "cache_hits"));
        add_count(&a->segment_calls, find_count(find_term(memory, "calls"), "mseg_alloc"));
    }
}

static void take_sizes(void *own, const struct slice *values, size_t n)
{
    struct allocators_read *a = own;
    struct slice names[ALLOCATORS_MOST], instance;
    struct cursor c;
    size_t count;
    const size_t known = read_names(a, names);
    a->is_late = !values;
    if (!values || n < known)
        return;
    for (size_t i = 0; i < known; i++)
        take_allocator(a, names[i], values[i]);
    a->segments_known = n > known && values_enter_list(values[known], &c, &count);
    for (size_t i = 0; a->segments_known && i < count && cursor_raw(&c, &instance); i++)
        add_segments(a, instance);
}

/* ---- the resident memory of a VM on another host */

static bool ask_queues(void *own, struct run_calls *calls)
{
    struct allocators_read *a = own;
    if (a->local || a->is_free || a->looks == LOOKS)
        return false;
    a->looks++;
    run_add_text(calls, "erlang", "statistics", "[run_queue_lengths_all]");
    return true;
}

static void take_queues(void *own, const struct slice *values, size_t n)
{
    struct allocators_read *a = own;
    (void)n;
    a->is_free = values && files_count_waiting(values[0]) == 0;
}

static bool ask_status(void *own, struct run_calls *calls)
{
    const struct allocators_read *a = own;
    run_add_text(calls, "prim_file", "read_file", "[<<\"/proc/self/status\">>]");
    return a->is_free;
}

static void take_status(void *own, const struct slice *values, size_t n)
{
    struct allocators_read *a = own;
    (void)n;
    if (values)
        buf_put(&a->status, values[0].s, values[0].len);
}

static const struct run_step steps[] = {
    {ask_allocators, take_allocators, 0, false},
    {ask_sizes, take_sizes, SIZES_MS, false},
    {ask_queues, take_queues, 0, true},
    {ask_status, take_status, FILE_MS, false},
};

/* ---- the answer */

static int64_t unused_bytes(const struct allocators_part *p)
{
    return p->sizes.carrier_bytes - p->sizes.block_bytes;
}

static int order_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Most unused first, and what is the same there as the VM orders such tuples. */
static int order_parts(const void *a, const void *b)
{
    const struct allocators_part *x = b, *y = a;
    int order = order_numbers(unused_bytes(x), unused_bytes(y));
    if (order == 0)
        order = slice_order(who_atom_of(x->name), who_atom_of(y->name));
    return order ? order : order_numbers(x->number, y->number);
}

static void build_sizes(struct builder *b, const struct allocators_sizes *s)
{
    build_int(b, s->blocks);
    build_int(b, s->block_bytes);
    build_int(b, s->carriers);
    build_int(b, s->carrier_bytes);
}

static void build_sum(struct builder *b, const struct allocators_sum *sum)
{
    const struct allocators_sizes *pool = &sum->of[ALLOCATORS_POOL];
    build_tuple(b, 5);
    values_build(b, sum->name);
    build_int(b, sum->instances);
    build_tuple(b, 4);
    build_sizes(b, &sum->of[ALLOCATORS_MBCS]);
    build_tuple(b, 4);
    build_sizes(b, &sum->of[ALLOCATORS_SBCS]);
    build_tuple(b, 3);
    build_int(b, pool->carriers);
    build_int(b, pool->carrier_bytes);
    build_int(b, pool->block_bytes);
}

static void build_parts(struct builder *b, struct allocators_read *a)
{
    size_t n = 0;
    if (a->n_parts > 0)
        qsort(a->parts, a->n_parts, sizeof *a->parts, order_parts);
    for (size_t i = 0; i < a->n_parts && i < WORST; i++)
        if (a->parts[i].sizes.carrier_bytes > 0)
            a->parts[n++] = a->parts[i];
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        build_tuple(b, 6);
        values_build(b, a->parts[i].name);
        build_int(b, a->parts[i].number);
        build_sizes(b, &a->parts[i].sizes);
    }
    build_nil(b);
}

static void build_resident(struct builder *b, const struct allocators_read *a)
{
    static const char *const counters[] = {"\nVmRSS:", "\nRssAnon:", "\nVmSwap:", "\nVmHWM:"};
    const struct slice text = files_text_of(bytes_of(&a->status));
    if (text.len == 0) {
        build_atom(b, "undefined");
        return;
    }
    build_tuple(b, ARRAY_LEN(counters));
    for (size_t i = 0; i < ARRAY_LEN(counters); i++) {
        const int64_t bytes = files_find_kib(text, counters[i]);
        build_known_int(b, bytes);
    }
}

static void build_answer(struct builder *b, void *read, int64_t mono_ns,
                         const struct stepped_who *who)
{
    struct allocators_read *a = read;
    (void)who;
    build_tuple(b, 6);
    build_atom(b, "alloc");
    build_int(b, mono_ns);
    build_list(b, a->n);
    for (size_t i = 0; i < a->n; i++)
        build_sum(b, &a->sums[i]);
    build_nil(b);
    if (a->segments_known) {
        build_tuple(b, 2);
        build_int(b, a->segment_hits);
        build_int(b, a->segment_calls);
    } else {
        build_atom(b, "undefined");
    }
    build_parts(b, a);
    build_resident(b, a);
}

/* ---- life */

static void init_read(void *read)
{
    struct allocators_read *a = read;
    buf_init(&a->names, 0);
    buf_init(&a->features, 0);
    buf_init(&a->status, 0);
    a->sums = alloc_zero(ALLOCATORS_MOST, sizeof *a->sums);
}

/* `local`: the program reads the resident memory of a VM of its host itself. */
static bool take_place(void *read, const uint8_t *arg, size_t len)
{
    struct allocators_read *a = read;
    struct cursor c;
    cursor_init(&c, arg, len);
    a->local = cursor_peek_atom(&c, "local");
    return true;
}

static void begin_read(void *read, const struct stepped_now *now)
{
    struct allocators_read *a = read;
    (void)now;
    free(a->parts);
    a->parts = NULL;
    a->n = a->n_parts = a->looks = 0;
    a->segments_known = a->is_free = false;
    a->segment_hits = a->segment_calls = 0;
    buf_reset(&a->status);
}

static void clear_read(void *read)
{
    struct allocators_read *a = read;
    begin_read(a, NULL);
    free(a->sums);
    buf_clear(&a->names);
    buf_clear(&a->features);
    buf_clear(&a->status);
}

const struct stepped allocators_question = {
    .question = QUESTION_ALLOC,
    .bytes = sizeof(struct allocators_read),
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_read,
    .takes = take_place,
    .begin = begin_read,
    .build = build_answer,
    .clear = clear_read,
};

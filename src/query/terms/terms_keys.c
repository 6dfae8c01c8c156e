/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/etf/print.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "terms_internal.h"

#define TUPLE_MOST 4 /* keys of so many elements come whole */
#define SPEC_BYTES 8192

/* ---- what is asked */

/* Terms that are short. */
static void put_guard(struct buf *out, const char *term)
{
    buf_printf(out,
               "{'orelse',{is_atom,%s},{is_pid,%s},"
               "{'andalso',{is_integer,%s},{'<',{abs,%s},1000000000000000}},"
               "{'andalso',{is_binary,%s},{'<',{size,%s},100}}}",
               term, term, term, term, term, term);
}

/* A tuple of short terms: {whole, Key, Words}. */
static void put_tuple_clause(struct buf *out, unsigned arity, const char *words, const char *said)
{
    char names[64] = "", name[16];
    for (unsigned i = 1; i <= arity; i++) {
        const size_t len = strlen(names);
        snprintf(names + len, sizeof names - len, "%s'$%u'", i > 1 ? "," : "", i);
    }
    buf_printf(out, "{{{%s},%s},[", names, words);
    for (unsigned i = 1; i <= arity; i++) {
        snprintf(name, sizeof name, "'$%u'", i);
        buf_puts(out, i > 1 ? "," : "");
        put_guard(out, name);
    }
    buf_printf(out, "],[{{whole,{{%s}},%s}}]},", names, said);
}

/* Of {Key, Words}, or {Key, Value} where words is '_'. A key of another form may be of any size:
 * {part, First, Elements, Words}, or {other, Words}. */
static struct builder *build_spec(bool has_words)
{
    const char *words = has_words ? "'$9'" : "'_'", *said = has_words ? "'$9'" : "undefined";
    struct buf out;
    buf_init(&out, SPEC_BYTES);
    buf_printf(&out, "[{{'$1',%s},[", words);
    put_guard(&out, "'$1'");
    buf_printf(&out, "],[{{whole,'$1',%s}}]},", said);
    for (unsigned arity = 1; arity <= TUPLE_MOST; arity++)
        put_tuple_clause(&out, arity, words, said);
    buf_printf(&out, "{{'$1',%s},[{is_tuple,'$1'},{'>',{size,'$1'},0},", words);
    put_guard(&out, "{element,1,'$1'}");
    buf_printf(&out, "],[{{part,{element,1,'$1'},{size,'$1'},%s}}]},", said);
    buf_printf(&out, "{{'_',%s},[],[{{other,%s}}]}]", words, said);
    struct builder *spec = args_of_text(buf_cstr(&out));
    buf_clear(&out);
    return spec;
}

static struct args_call call_number(size_t n)
{
    char text[32];
    snprintf(text, sizeof text, "[[%zu]]", n);
    return (struct args_call){"erlang", "hd", 1, NULL, args_of_text(text)};
}

/* lists:sublist(persistent_term:get(), At + 1, N): values stay where they are. */
static struct args_call call_pairs(size_t at, size_t n)
{
    const struct args_call inner[] = {args_plain_call("persistent_term", "get"),
                                      call_number(at + 1), call_number(n)};
    return args_composed_call(args_of_calls("lists", "sublist", 3, inner, ARRAY_LEN(inner)));
}

struct builder *terms_keys_args(void)
{
    return args_of_filter(call_pairs(0, TERMS_KEYS), build_spec(false));
}

/* [fun erlang:phash2/1, Size] */
static struct args_call call_functions(bool is_external)
{
    struct builder *b = builder_new();
    build_list(b, 1);
    build_list(b, 1);
    build_list(b, 2);
    build_export(b, "erlang", "phash2", 1);
    build_export(b, is_external ? "erlang" : "erts_debug",
                 is_external ? "external_size" : "flat_size", 1);
    build_nil(b);
    build_nil(b);
    build_nil(b);
    return (struct args_call){"erlang", "hd", 1, NULL, b};
}

/* phash2/1 walks through what size functions do, and more slowly; but it yields, so it can be
 * ended. It goes first: lists:last(lists:zipwith3(fun lists:keymap/3, [fun erlang:phash2/1, Size],
 * [2, 2], lists:duplicate(2, Pairs))). */
struct builder *terms_sizes_args(size_t at, size_t n, bool is_external)
{
    const struct args_call twice[] = {call_number(2), call_pairs(at, n)};
    const struct args_call inner[] = {
        args_fun_call("lists", "keymap", 3), call_functions(is_external),
        args_constant_call("[[[2,2]]]"),
        args_composed_call(args_of_calls("lists", "duplicate", 2, twice, ARRAY_LEN(twice)))};
    const struct args_call both[] = {
        args_composed_call(args_of_calls("lists", "zipwith3", 4, inner, ARRAY_LEN(inner)))};
    const struct args_call last = args_composed_call(args_of_calls("lists", "last", 1, both, 1));
    return args_of_filter(last, build_spec(true));
}

/* ---- what is said */

static void print_key_term(struct buf *out, struct slice term)
{
    static const struct print_limits limits = {.bytes = 300};
    print_term(out, (const uint8_t *)term.s, term.len, &limits);
}

static struct slice read_first(struct slice key)
{
    struct cursor c = values_cursor(key);
    struct slice first;
    size_t arity;
    if (cursor_kind(&c) != ETF_KIND_TUPLE)
        return who_atom_of(key);
    return cursor_tuple(&c, &arity) && arity > 0 && cursor_raw(&c, &first) ? who_atom_of(first)
                                                                           : (struct slice){0};
}

static struct slice keep_name(struct arena *arena, struct slice name)
{
    return name.len > 0 ? slice_keep(arena, name) : name;
}

static bool read_key(struct slice term, struct arena *arena, struct terms_key *out)
{
    struct slice parts[4], words;
    struct buf text;
    int64_t elements;
    buf_init(&text, 0);
    if (values_read_tuple(term, 3, parts, 3) && who_term_is(parts[0], "whole")) {
        print_key_term(&text, parts[1]);
        out->module = keep_name(arena, read_first(parts[1]));
        words = parts[2];
    } else if (values_read_tuple(term, 4, parts, 4) && who_term_is(parts[0], "part") &&
               values_read_integer(parts[2], &elements)) {
        buf_puts(&text, "{");
        print_key_term(&text, parts[1]);
        buf_printf(&text, ", ...} of %" PRId64 " elements", elements);
        out->module = keep_name(arena, read_first(parts[1]));
        words = parts[3];
    } else if (values_read_tuple(term, 2, parts, 2) && who_term_is(parts[0], "other")) {
        buf_puts(&text, "(a long key)");
        words = parts[1];
    } else {
        return false;
    }
    if (!values_read_integer(words, &out->bytes) || out->bytes < 0 || out->bytes > VALUES_MOST)
        out->bytes = -1;
    out->text = slice_take(arena, &text);
    return true;
}

/* NULL: another form. */
static struct terms_key *read_keys(struct slice list, struct arena *arena, size_t *n)
{
    struct cursor c;
    struct slice term;
    if (!values_enter_list(list, &c, n) || *n > TERMS_KEYS)
        return NULL;
    struct terms_key *all = alloc_zero(*n + 1, sizeof *all);
    for (size_t i = 0; i < *n; i++)
        if (!cursor_raw(&c, &term) || !read_key(term, arena, &all[i])) {
            free(all);
            return NULL;
        }
    return all;
}

void terms_keys_clear(struct terms_keys *keys)
{
    arena_clear(&keys->arena);
    free(keys->all);
    *keys = (struct terms_keys){0};
    arena_init(&keys->arena);
}

static int compare_keys(const void *a, const void *b)
{
    const struct terms_key *x = *(struct terms_key *const *)a, *y = *(struct terms_key *const *)b;
    return slice_order(x->text, y->text);
}

static void keep_sizes(struct terms_keys *now, const struct terms_keys *before)
{
    struct terms_key **sorted = alloc_zero(before->n + 1, sizeof(struct terms_key *));
    for (size_t i = 0; i < before->n; i++)
        sorted[i] = &before->all[i];
    qsort(sorted, before->n, sizeof(struct terms_key *), compare_keys);
    for (size_t i = 0; i < now->n && before->n > 0; i++) {
        const struct terms_key *key = &now->all[i], *same = NULL;
        struct terms_key **found;
        if (i < before->n && slice_equal(before->all[i].text, key->text))
            same = &before->all[i]; /* several may have that text */
        else if ((found =
                      bsearch(&key, sorted, before->n, sizeof(struct terms_key *), compare_keys)))
            same = *found;
        if (same) {
            now->all[i].bytes = same->bytes;
            now->all[i].late_ms = same->late_ms;
            now->all[i].is_external = same->is_external;
        }
    }
    free(sorted);
}

bool terms_take_keys(struct terms_keys *keys, struct slice list)
{
    struct terms_keys now = {0};
    arena_init(&now.arena);
    now.all = read_keys(list, &now.arena, &now.n);
    if (!now.all) {
        arena_clear(&now.arena);
        return false;
    }
    keep_sizes(&now, keys);
    terms_keys_clear(keys);
    *keys = now;
    return true;
}

bool terms_take_sizes(struct terms_keys *keys, size_t at, size_t n, struct slice list,
                      int64_t word_bytes)
{
    struct arena arena;
    size_t count = 0;
    arena_init(&arena);
    struct terms_key *all = read_keys(list, &arena, &count);
    bool same = all && count == n && at + n <= keys->n;
    for (size_t i = 0; same && i < n; i++) {
        same = slice_equal(all[i].text, keys->all[at + i].text);
        if (same) {
            keys->all[at + i].bytes =
                word_bytes > 0 && all[i].bytes > 0 ? all[i].bytes * word_bytes : all[i].bytes;
            keys->all[at + i].is_external = word_bytes == 0;
        }
    }
    free(all);
    arena_clear(&arena);
    return same;
}

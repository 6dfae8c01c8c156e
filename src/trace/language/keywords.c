/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keywords of the language: actions and guard BIFs, with their help. */
#include <string.h>

#include "parse.h"

const struct pattern_word pattern_actions[] = {
    {"return", "show the result, or the exception", .bits = TRACE_RETURN},
    {"stack", "show the stack of callers", .bits = TRACE_STACK},
    {"caller", "show which function called", .bits = TRACE_CALLER},
    {"time", "count calls and their time in the VM; no single calls are shown", .bits = TRACE_TIME},
    {"count", "count calls in the VM; no single calls are shown", .bits = TRACE_COUNT},
    {"show", "show(X, Y): only these values travel, not the arguments", .bits = TRACE_SHOW},
    {"slower", "slower 5ms: only calls that took longer", .bits = TRACE_SLOWER | TRACE_RETURN},
    {"returns", "returns {error, _}: only calls whose result matches; may have a guard",
     .bits = TRACE_RETURNS | TRACE_RETURN},
    {"raises", "raises, raises badarg: only calls that raise (what matches)",
     .bits = TRACE_RAISES | TRACE_RETURN},
    {.word = NULL},
};

const struct pattern_word pattern_guards[] = {
    {"abs", "abs(Number)", 1, 1, 0},
    {"binary_part", "binary_part(Binary, From, Length)", 2, 3, 0},
    {"bit_size", "bit_size(Bits)", 1, 1, 0},
    {"byte_size", "byte_size(Bits)", 1, 1, 0},
    {"ceil", "ceil(Number)", 1, 1, 0},
    {"element", "element(N, Tuple), from 1", 2, 2, 0},
    {"float", "float(Number)", 1, 1, 0},
    {"floor", "floor(Number)", 1, 1, 0},
    {"hd", "hd(List): its first element", 1, 1, 0},
    {"is_atom", "is_atom(X)", 1, 1, 0},
    {"is_binary", "is_binary(X)", 1, 1, 0},
    {"is_bitstring", "is_bitstring(X)", 1, 1, 0},
    {"is_boolean", "is_boolean(X)", 1, 1, 0},
    {"is_float", "is_float(X)", 1, 1, 0},
    {"is_function", "is_function(X), is_function(X, Arity)", 1, 2, 0},
    {"is_integer", "is_integer(X)", 1, 1, 0},
    {"is_list", "is_list(X)", 1, 1, 0},
    {"is_map", "is_map(X)", 1, 1, 0},
    {"is_map_key", "is_map_key(Key, Map)", 2, 2, 0},
    {"is_number", "is_number(X)", 1, 1, 0},
    {"is_pid", "is_pid(X)", 1, 1, 0},
    {"is_port", "is_port(X)", 1, 1, 0},
    {"is_record", "is_record(#name, X), is_record(module#name, X)", 2, 3, 0},
    {"is_reference", "is_reference(X)", 1, 1, 0},
    {"is_tuple", "is_tuple(X)", 1, 1, 0},
    {"length", "length(List)", 1, 1, 0},
    {"map_get", "map_get(Key, Map)", 2, 2, 0},
    {"map_size", "map_size(Map)", 1, 1, 0},
    {"max", "max(A, B)", 2, 2, 0},
    {"min", "min(A, B)", 2, 2, 0},
    {"node", "node(), node(Pid)", 0, 1, 0},
    {"round", "round(Number)", 1, 1, 0},
    {"self", "self(): the process that calls", 0, 0, 0},
    {"size", "size(TupleOrBinary)", 1, 1, 0},
    {"tl", "tl(List): without its first element", 1, 1, 0},
    {"trunc", "trunc(Number)", 1, 1, 0},
    {"tuple_size", "tuple_size(Tuple)", 1, 1, 0},
    {.word = NULL},
};

const struct pattern_word *guard_bif_find(struct slice name)
{
    for (const struct pattern_word *w = pattern_guards; w->word; w++)
        if (slice_is(name, w->word))
            return w;
    return NULL;
}

/* Levenshtein's distance; words are short. */
static unsigned word_distance(struct slice a, const char *b)
{
    enum { MOST = 24 };
    size_t n = strlen(b);
    if (a.len > MOST || n > MOST)
        return MOST;
    unsigned row[MOST + 1];
    for (size_t j = 0; j <= n; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a.len; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned best = corner + (a.s[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

const char *words_nearest(const struct pattern_word *words, struct slice word)
{
    const char *found = NULL;
    unsigned least = word.len < 5 ? 2 : 3;
    for (; words->word; words++) {
        unsigned d = word_distance(word, words->word);
        if (d < least) {
            least = d;
            found = words->word;
        }
    }
    return found;
}

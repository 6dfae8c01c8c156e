/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keywords of the language: actions and guard BIFs, with their help. */
#include <string.h>

#include "parse.h"

const struct pattern_word pattern_actions[] = {
    {"return", "show the result, or the exception"},
    {"stack", "show the stack of callers"},
    {"caller", "show which function called"},
    {"time", "count calls and their time in the VM; no single calls are shown"},
    {"count", "count calls in the VM; no single calls are shown"},
    {"show", "show(X, Y): only these values travel, not the arguments"},
    {"slower", "slower 5ms: only calls that took longer"},
    {"returns", "returns {error, _}: only calls whose result matches; may have a guard"},
    {"raises", "raises, raises badarg: only calls that raise (what matches)"},
    {NULL, NULL},
};

const struct pattern_word pattern_guards[] = {
    {"abs", "abs(Number)"},
    {"binary_part", "binary_part(Binary, From, Length)"},
    {"bit_size", "bit_size(Bits)"},
    {"byte_size", "byte_size(Bits)"},
    {"ceil", "ceil(Number)"},
    {"element", "element(N, Tuple), from 1"},
    {"float", "float(Number)"},
    {"floor", "floor(Number)"},
    {"hd", "hd(List): its first element"},
    {"is_atom", "is_atom(X)"},
    {"is_binary", "is_binary(X)"},
    {"is_bitstring", "is_bitstring(X)"},
    {"is_boolean", "is_boolean(X)"},
    {"is_float", "is_float(X)"},
    {"is_function", "is_function(X), is_function(X, Arity)"},
    {"is_integer", "is_integer(X)"},
    {"is_list", "is_list(X)"},
    {"is_map", "is_map(X)"},
    {"is_map_key", "is_map_key(Key, Map)"},
    {"is_number", "is_number(X)"},
    {"is_pid", "is_pid(X)"},
    {"is_port", "is_port(X)"},
    {"is_record", "is_record(#name, X), is_record(module#name, X)"},
    {"is_reference", "is_reference(X)"},
    {"is_tuple", "is_tuple(X)"},
    {"length", "length(List)"},
    {"map_get", "map_get(Key, Map)"},
    {"map_size", "map_size(Map)"},
    {"max", "max(A, B)"},
    {"min", "min(A, B)"},
    {"node", "node(), node(Pid)"},
    {"round", "round(Number)"},
    {"self", "self(): the process that calls"},
    {"size", "size(TupleOrBinary)"},
    {"tl", "tl(List): without its first element"},
    {"trunc", "trunc(Number)"},
    {"tuple_size", "tuple_size(Tuple)"},
    {NULL, NULL},
};

static const struct guard_bif bifs[] = {
    {"abs", 1, 1},        {"binary_part", 2, 3}, {"bit_size", 1, 1},    {"byte_size", 1, 1},
    {"ceil", 1, 1},       {"element", 2, 2},     {"float", 1, 1},       {"floor", 1, 1},
    {"hd", 1, 1},         {"is_atom", 1, 1},     {"is_binary", 1, 1},   {"is_bitstring", 1, 1},
    {"is_boolean", 1, 1}, {"is_float", 1, 1},    {"is_function", 1, 2}, {"is_integer", 1, 1},
    {"is_list", 1, 1},    {"is_map", 1, 1},      {"is_map_key", 2, 2},  {"is_number", 1, 1},
    {"is_pid", 1, 1},     {"is_port", 1, 1},     {"is_record", 2, 3},   {"is_reference", 1, 1},
    {"is_tuple", 1, 1},   {"length", 1, 1},      {"map_get", 2, 2},     {"map_size", 1, 1},
    {"max", 2, 2},        {"min", 2, 2},         {"node", 0, 1},        {"round", 1, 1},
    {"self", 0, 0},       {"size", 1, 1},        {"tl", 1, 1},          {"trunc", 1, 1},
    {"tuple_size", 1, 1},
};

const struct guard_bif *guard_bif_find(struct slice name)
{
    for (size_t i = 0; i < sizeof(bifs) / sizeof(bifs[0]); i++)
        if (slice_is(name, bifs[i].name))
            return &bifs[i];
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Near misses: existing names that resemble one that does not exist. */
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/trace/names.h"
#include "lex.h"

enum { NAME_CHARACTERS = 255 }; /* of an atom, at most */

struct characters {
    int32_t at[NAME_CHARACTERS];
    unsigned len;
};

/* One of the best so far: the distance and the place in the sorted list that was searched. */
struct near {
    unsigned distance, rank;
    size_t index;
};

struct search {
    struct characters word, name;
    struct near *best; /* sorted */
    size_t n, most;
};

/* False when it is longer than any name; bytes that are no UTF-8 count as characters. */
static bool read_characters(struct characters *out, struct slice text)
{
    out->len = 0;
    for (size_t at = 0; at < text.len;) {
        if (out->len == NAME_CHARACTERS)
            return false;
        at += lex_codepoint(text, at, &out->at[out->len++]);
    }
    return true;
}

static unsigned min_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Optimal string alignment, in the band of cells that can stay within `most`; more than `most`
 * when the distance is larger. */
static unsigned name_distance(const struct characters *a, const struct characters *b, unsigned most)
{
    unsigned rows[3][NAME_CHARACTERS + 1];
    unsigned *last = rows[0], *now = rows[1], *before = rows[2];
    for (unsigned j = 0; j <= b->len; j++)
        last[j] = j;
    for (unsigned i = 1; i <= a->len; i++) {
        unsigned from = i > most ? i - most : 1, until = min_of(b->len, i + most);
        unsigned smallest = now[from - 1] = from == 1 ? i : most + 1;
        for (unsigned j = from; j <= until; j++) {
            bool same = a->at[i - 1] == b->at[j - 1];
            unsigned above = j == i + most ? most + 1 : last[j] + 1;
            unsigned v = min_of(min_of(above, now[j - 1] + 1), last[j - 1] + !same);
            if (i > 1 && j > 1 && a->at[i - 1] == b->at[j - 2] && a->at[i - 2] == b->at[j - 1])
                v = min_of(v, before[j - 2] + 1);
            now[j] = v;
            smallest = min_of(smallest, v);
        }
        if (smallest > most)
            return most + 1;
        unsigned *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[b->len];
}

static bool is_better(const struct near *a, const struct near *b)
{
    return a->distance != b->distance ? a->distance < b->distance : a->rank < b->rank;
}

/* Compares the next name of the list, in order: the first of equals stays first. */
static void look_at_name(struct search *s, struct slice name, size_t index, unsigned rank)
{
    if (!read_characters(&s->name, name))
        return;
    unsigned shorter = min_of(s->word.len, s->name.len);
    unsigned longer = s->word.len + s->name.len - shorter;
    unsigned most = longer / 3;
    if (s->n == s->most)
        most = min_of(most, s->best[s->n - 1].distance);
    if (longer - shorter > most)
        return;
    struct near found = {.rank = rank, .index = index};
    found.distance = name_distance(&s->word, &s->name, most);
    if (found.distance > most || (s->n == s->most && !is_better(&found, &s->best[s->n - 1])))
        return;
    size_t at = s->n < s->most ? s->n++ : s->n - 1;
    for (; at > 0 && is_better(&found, &s->best[at - 1]); at--)
        s->best[at] = s->best[at - 1];
    s->best[at] = found;
}

static bool start_search(struct search *s, struct slice word, size_t most)
{
    s->n = 0;
    s->most = most;
    s->best = NULL;
    if (most == 0 || !read_characters(&s->word, word))
        return false;
    s->best = alloc_zero(most, sizeof(*s->best));
    return true;
}

size_t names_near(const struct slice *sorted, size_t n, struct slice word, struct slice *out,
                  size_t most)
{
    struct search s;
    if (!start_search(&s, slice_without(word, "Elixir."), most))
        return 0;
    for (size_t i = 0; i < n; i++)
        look_at_name(&s, slice_without(sorted[i], "Elixir."), i, 0);
    for (size_t i = 0; i < s.n; i++)
        out[i] = sorted[s.best[i].index];
    free(s.best);
    return s.n;
}

const char *names_suggest(char *out, size_t size, const struct slice *sorted, size_t n,
                          struct slice word)
{
    struct slice near;
    out[0] = '\0';
    if (names_near(sorted, n, word, &near, 1) > 0)
        snprintf(out, size, "; did you mean %.*s?", (int)near.len, near.s);
    return out;
}

size_t names_near_modules(const struct names *n, struct slice word, struct slice *out, size_t most)
{
    const struct slice *modules;
    size_t len = names_modules(n, &modules);
    return names_near(modules, len, word, out, most);
}

size_t names_near_functions(const struct names *n, struct slice module, struct slice word,
                            struct names_function *out, size_t most)
{
    const struct names_function *functions;
    size_t len;
    struct search s;
    if (!names_functions(n, module, &functions, &len) || !start_search(&s, word, most))
        return 0;
    for (size_t i = 0; i < len; i++)
        look_at_name(&s, functions[i].name, i, functions[i].exported ? 0 : 1);
    for (size_t i = 0; i < s.n; i++)
        out[i] = functions[s.best[i].index];
    free(s.best);
    return s.n;
}

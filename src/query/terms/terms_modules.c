/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "query/native/values.h"
#include "terms_internal.h"

#define MODULES_MOST 100000 /* more are not read */
#define DIGITS_MOST 15

/* ---- the text: "Current code: N\nOld code: N\n", then "Module N\n" or "Module N (M old)\n" */

static struct slice next_line(struct slice *text)
{
    const char *end = text->len > 0 ? memchr(text->s, '\n', text->len) : NULL;
    const struct slice line = {text->s, end ? (size_t)(end - text->s) : text->len};
    const size_t used = line.len + (end ? 1 : 0);
    *text = (struct slice){text->s + used, text->len - used};
    return line;
}

/* Takes a number off the end of a line, and the mark before it. */
static bool take_number(struct slice *line, const char *mark, int64_t *out)
{
    const size_t len = strlen(mark);
    size_t at = line->len;
    while (at > 0 && line->s[at - 1] >= '0' && line->s[at - 1] <= '9')
        at--;
    if (at < len || at == line->len || line->len - at > DIGITS_MOST ||
        memcmp(line->s + at - len, mark, len) != 0)
        return false;
    *out = 0;
    for (size_t i = at; i < line->len; i++)
        *out = *out * 10 + (line->s[i] - '0');
    line->len = at - len;
    return true;
}

static bool take_end(struct slice *line, const char *end)
{
    const size_t len = strlen(end);
    if (line->len < len || memcmp(line->s + line->len - len, end, len) != 0)
        return false;
    line->len -= len;
    return true;
}

/* As an atom is called: 'Elixir.Enum' without its quotes; what is escaped in them stays. */
static struct slice read_name(struct slice written)
{
    const bool is_quoted = written.len > 2 && written.s[0] == '\'' &&
                           written.s[written.len - 1] == '\'' &&
                           !memchr(written.s, '\\', written.len);
    return is_quoted ? (struct slice){written.s + 1, written.len - 2} : written;
}

static bool read_module(struct slice line, struct terms_module *out)
{
    *out = (struct terms_module){0};
    if (take_end(&line, " old)") && !take_number(&line, " (", &out->old_bytes))
        return false;
    if (!take_number(&line, " ", &out->bytes))
        return false;
    out->name = read_name(line);
    return line.len > 0;
}

/* ---- modules */

static int compare_modules(const void *a, const void *b)
{
    const struct terms_module *x = a, *y = b;
    const int64_t n = x->bytes + x->old_bytes, m = y->bytes + y->old_bytes;
    return n != m ? (n < m ? 1 : -1) : slice_order(x->name, y->name);
}

void terms_modules_clear(struct terms_modules *modules)
{
    arena_clear(&modules->arena);
    free(modules->all);
    *modules = (struct terms_modules){0};
    arena_init(&modules->arena);
}

static size_t count_lines(struct slice text)
{
    size_t n = 0;
    while (text.len > 0 && n < MODULES_MOST) {
        (void)next_line(&text);
        n++;
    }
    return n;
}

static void read_modules(struct terms_modules *out, struct slice text, size_t most)
{
    out->all = alloc_zero(most + 1, sizeof *out->all);
    while (text.len > 0 && out->n < most)
        if (read_module(next_line(&text), &out->all[out->n]))
            out->n++;
    qsort(out->all, out->n, sizeof *out->all, compare_modules);
    for (size_t i = 0; i < out->n; i++)
        out->all[i].name = slice_keep(&out->arena, out->all[i].name);
}

bool terms_take_modules(struct terms_modules *modules, struct slice value)
{
    struct cursor c = values_cursor(value);
    struct slice text, first, second;
    struct terms_modules now = {0};
    arena_init(&now.arena);
    if (cursor_kind(&c) != ETF_KIND_BINARY || !cursor_binary(&c, &text))
        return false;
    first = next_line(&text);
    second = next_line(&text);
    if (!take_number(&first, "Current code: ", &now.bytes) ||
        !take_number(&second, "Old code: ", &now.old_bytes))
        return false;
    read_modules(&now, text, count_lines(text));
    terms_modules_clear(modules);
    *modules = now;
    return true;
}

/* ---- whose they are */

static int compare_owners(const void *a, const void *b)
{
    const struct terms_owner *x = a, *y = b;
    return slice_order(x->module, y->module);
}

void terms_owners_clear(struct terms_owners *owners)
{
    arena_clear(&owners->arena);
    free(owners->all);
    *owners = (struct terms_owners){0};
    arena_init(&owners->arena);
}

/* The modules of one application, while there is room. Other terms are left out. */
static void read_owned(struct slice pair, struct terms_owners *out)
{
    struct slice parts[2], module;
    struct cursor c;
    size_t n;
    if (!values_read_tuple(pair, 2, parts, 2) || !values_enter_list(parts[1], &c, &n))
        return;
    const struct slice application = who_atom_of(parts[0]);
    while (n-- > 0 && out->n < MODULES_MOST && cursor_raw(&c, &module))
        if (application.len > 0 && who_atom_of(module).len > 0) {
            out->all = alloc_grow(out->all, out->n, sizeof *out->all);
            out->all[out->n++] = (struct terms_owner){slice_keep(&out->arena, who_atom_of(module)),
                                                      slice_keep(&out->arena, application)};
        }
}

bool terms_take_owners(struct terms_owners *owners, struct slice list)
{
    struct cursor c;
    struct slice pair;
    size_t n;
    struct terms_owners now = {0};
    if (!values_enter_list(list, &c, &n))
        return false;
    arena_init(&now.arena);
    while (n-- > 0 && cursor_raw(&c, &pair))
        read_owned(pair, &now);
    if (now.n > 0)
        qsort(now.all, now.n, sizeof *now.all, compare_owners);
    terms_owners_clear(owners);
    *owners = now;
    return true;
}

struct slice terms_find_owner(const struct terms_owners *owners, struct slice module)
{
    const struct terms_owner key = {.module = module};
    const struct terms_owner *found =
        owners->n > 0 && module.len > 0
            ? bsearch(&key, owners->all, owners->n, sizeof *owners->all, compare_owners)
            : NULL;
    return found ? found->application : (struct slice){0};
}

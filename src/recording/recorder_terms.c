/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer `terms` for a recording without values: names of atoms may be made of what users send,
 * so a place takes the place of each. Those that stand for several have no name of an atom. */
#include <stdio.h>
#include <string.h>

#include "beamtop/etf/cursor.h"
#include "recorder_internal.h"

enum { ROW_ID, ROW_KIND, ROW_NAME, ROW_LIMIT = 5, ROW_COLUMNS = 10 };

/* One atom: it has no limit. */
static bool is_atom_row(const struct slice columns[ROW_COLUMNS])
{
    struct cursor kind, limit;
    struct slice text;
    cursor_init(&kind, (const uint8_t *)columns[ROW_KIND].s, columns[ROW_KIND].len);
    cursor_init(&limit, (const uint8_t *)columns[ROW_LIMIT].s, columns[ROW_LIMIT].len);
    return cursor_binary(&kind, &text) && slice_is(text, "atoms") &&
           cursor_kind(&limit) != ETF_KIND_INTEGER;
}

static bool copy_row(struct cursor *c, struct builder *b, size_t place)
{
    struct slice columns[ROW_COLUMNS];
    char id[32];
    if (!cursor_tuple_of(c, ROW_COLUMNS))
        return false;
    for (size_t i = 0; i < ROW_COLUMNS; i++)
        if (!cursor_raw(c, &columns[i]))
            return false;
    const bool hides = is_atom_row(columns);
    snprintf(id, sizeof id, "atoms %zu", place);
    build_tuple(b, ROW_COLUMNS);
    for (size_t i = 0; i < ROW_COLUMNS; i++)
        if (hides && i == ROW_ID)
            build_binary(b, id, strlen(id));
        else if (hides && i == ROW_NAME)
            build_atom(b, "undefined");
        else
            build_raw(b, (const uint8_t *)columns[i].s, columns[i].len);
    return true;
}

struct builder *recorder_hide_atoms(const uint8_t *term, size_t len)
{
    struct cursor c;
    struct cursor_list list;
    struct slice name, mono, partial;
    struct builder *b = builder_new();
    cursor_init(&c, term, len);
    bool ok = cursor_tuple_of(&c, 4) && cursor_raw(&c, &name) && cursor_raw(&c, &mono) &&
              cursor_list(&c, &list) && !list.string;
    if (ok) {
        build_tuple(b, 4);
        build_raw(b, (const uint8_t *)name.s, name.len);
        build_raw(b, (const uint8_t *)mono.s, mono.len);
        build_list(b, list.count);
    }
    for (size_t i = 0; ok && i < list.count; i++)
        ok = copy_row(&c, b, i);
    ok = ok && cursor_list_end(&c, &list) && cursor_raw(&c, &partial);
    if (!ok) {
        builder_free(b);
        return NULL;
    }
    build_nil(b);
    build_raw(b, (const uint8_t *)partial.s, partial.len);
    return b;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A specification as text: each guard and action on a separate line. */
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/print.h"
#include "beamtop/trace/matchspec.h"

static const struct print_limits whole = {0};

/* The term at the cursor, which moves past it. */
static void print_next(struct buf *out, struct cursor *c)
{
    const uint8_t *from = c->at;
    if (cursor_skip(c))
        print_term(out, from, (size_t)(c->at - from), &whole);
}

static void print_lines(struct buf *out, struct cursor *c, const char *before)
{
    struct cursor_list list;
    if (!cursor_list(c, &list))
        return;
    buf_puts(out, "[");
    for (size_t i = 0; i < list.count; i++) {
        if (i > 0)
            buf_printf(out, ",\n%s", before);
        print_next(out, c);
    }
    buf_puts(out, "]");
    cursor_list_end(c, &list);
}

static void print_clauses(struct buf *out, const struct builder *b)
{
    struct cursor c;
    struct cursor_list list;
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    cursor_init(&c, bytes, len);
    if (!cursor_list(&c, &list))
        return;
    buf_puts(out, "[");
    for (size_t i = 0; i < list.count && cursor_tuple_of(&c, 3); i++) {
        buf_puts(out, i > 0 ? ",\n {" : "{");
        print_next(out, &c);
        buf_puts(out, ",\n  ");
        print_lines(out, &c, "   ");
        buf_puts(out, ",\n  ");
        print_lines(out, &c, "   ");
        buf_puts(out, "}");
    }
    buf_puts(out, "]\n");
}

void matchspec_print(struct buf *out, const struct matchspec *m)
{
    if (m->counted) {
        buf_puts(out, "no match specification: the VM counts all calls of the functions\n");
        return;
    }
    print_clauses(out, m->clauses);
    if (m->results) {
        buf_puts(out, "of results:\n");
        print_clauses(out, m->results);
    }
    if (m->raises) {
        buf_puts(out, "of exceptions:\n");
        print_clauses(out, m->raises);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pretty.h"

#include <stdbool.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"

#define STEP 2
#define HANGING 2     /* bytes of a bracket that its elements line up behind */
#define LEAST_ROOM 16 /* columns of text, however deep it stands */
#define FILL_BYTES 16 /* elements up to so long share lines */
#define WIDE_BYTES 8  /* text with more bytes per column does not fit, and is not measured */

struct layout {
    const struct pretty *setup;
    const char *s;
    unsigned deepest;
    size_t head; /* the outermost bracket that begins on the line to come */
};

struct group {
    size_t open, inside, close; /* of the bracket, behind it, of its counterpart */
};

/* Behind the quoted text that begins at `at`. */
static size_t skip_quoted(const char *s, size_t at, size_t end)
{
    char quote = s[at++];
    while (at < end && s[at] != quote)
        at += s[at] == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : end;
}

/* Behind the next piece: a quoted text, a bracket (*turn is +1 or -1), or one byte. */
static size_t skip_piece(const char *s, size_t at, size_t end, int *turn)
{
    *turn = 0;
    if (s[at] == '\0')
        return at + 1;
    if (s[at] == '"' || s[at] == '\'')
        return skip_quoted(s, at, end);
    if (strchr("([{", s[at]) || strchr(")]}", s[at])) {
        *turn = strchr("([{", s[at]) ? 1 : -1;
        return at + 1;
    }
    bool twice = at + 1 < end && s[at + 1] == s[at];
    if (twice && (s[at] == '<' || s[at] == '>')) {
        *turn = s[at] == '<' ? 1 : -1;
        return at + 2;
    }
    return at + 1;
}

static bool find_group(const char *s, size_t from, size_t to, struct group *out)
{
    int depth = 0, turn;
    bool found = false;
    for (size_t at = from, next; at < to; at = next) {
        next = skip_piece(s, at, to, &turn);
        if (turn == 0)
            continue;
        depth += turn;
        if (turn > 0 && !found) {
            found = true;
            *out = (struct group){.open = at, .inside = next, .close = to};
        } else if (depth == 0 && found) {
            out->close = at;
            return out->close > out->inside;
        }
    }
    return false;
}

/* The end of the element that begins at `at`: its comma, or `to`. */
static size_t element_end(const char *s, size_t at, size_t to)
{
    int depth = 0, turn;
    while (at < to && !(depth == 0 && s[at] == ',')) {
        at = skip_piece(s, at, to, &turn);
        depth += turn;
    }
    return at;
}

static int room_at(const struct layout *l, int indent)
{
    int room = l->setup->columns - indent;
    return room < LEAST_ROOM ? LEAST_ROOM : room;
}

static bool fits_line(const struct layout *l, int indent, size_t from, size_t to)
{
    size_t room = (size_t)room_at(l, indent);
    return to - from <= room * WIDE_BYTES && text_width(l->s + from, to - from) <= room;
}

static void put_piece(struct layout *l, int indent, size_t from, size_t to)
{
    const struct pretty_line line = {indent, l->s + from, to - from, l->head, false};
    l->head = PRETTY_NONE;
    l->setup->line(l->setup->arg, &line);
}

/* In as many lines as it takes. */
static void wrap_value(struct layout *l, int indent, size_t from, size_t to)
{
    int at_indent = indent;
    while (from < to) {
        size_t width,
            part = text_prefix(l->s + from, to - from, (size_t)room_at(l, at_indent), &width);
        part = part > 0 ? part : to - from;
        put_piece(l, at_indent, from, from + part);
        from += part;
        at_indent = indent + STEP;
    }
}

/* One line of what is not opened: its beginning and its last bracket. */
static void fold_value(struct layout *l, int indent, size_t from, size_t to, const struct group *g)
{
    struct buf b;
    size_t width, tail = to - g->close <= 4 ? to - g->close : 4;
    size_t room = (size_t)room_at(l, indent) - 1 - tail;
    size_t part = text_prefix(l->s + from, to - from, room, &width);
    buf_init(&b, 0);
    buf_put(&b, l->s + from, part);
    buf_puts(&b, "…");
    buf_put(&b, l->s + g->close, tail);
    const struct pretty_line line = {indent, (const char *)b.data, b.len, g->open, true};
    l->head = PRETTY_NONE; /* what is folded is opened first */
    l->setup->line(l->setup->arg, &line);
    buf_clear(&b);
}

static size_t skip_blanks(const char *s, size_t at, size_t to)
{
    while (at < to && s[at] == ' ')
        at++;
    return at;
}

/* Short elements of lists, tuples and binaries stand side by side; pairs do not. */
static bool is_filled(const struct layout *l, size_t from, const struct group *g)
{
    for (size_t at = from; at < g->open; at++)
        if (l->s[at] == '#' || l->s[at] == '%')
            return false;
    for (size_t at = g->inside; at < g->close;) {
        size_t end = element_end(l->s, at, g->close);
        if (end - at > FILL_BYTES)
            return false;
        at = end + 1;
    }
    return true;
}

/* A group's elements in as few lines as they need, with what stands before and behind them. */
static void fill_group(struct layout *l, int indent, int inner, size_t from, size_t to,
                       const struct group *g)
{
    size_t line = from, end = g->inside;
    for (size_t at = g->inside; at < g->close;) {
        size_t next = element_end(l->s, at, g->close);
        next = next < g->close ? next + 1 : to;
        if (end > g->inside && !fits_line(l, line == from ? indent : inner, line, next)) {
            put_piece(l, line == from ? indent : inner, line, end);
            line = skip_blanks(l->s, end, g->close);
        }
        end = next;
        at = skip_blanks(l->s, next, g->close);
    }
    wrap_value(l, line == from ? indent : inner, line, to);
}

static bool is_bracket_open(const struct layout *l, unsigned level, size_t bracket)
{
    bool turned = l->setup->turned && l->setup->turned(l->setup->arg, bracket);
    return (level < l->setup->levels) != turned;
}

/*
 * The value at `at`, with what stands before it on its line (from `from` on) and with the brackets
 * that close behind it (up to `to`). Elements line up behind a short bracket, else below it. */
static void lay_out(struct layout *l, int indent, unsigned level, size_t from, size_t at, size_t to)
{
    struct group g = {0};
    if (fits_line(l, indent, from, to)) {
        put_piece(l, indent, from, to);
        return;
    }
    if (!find_group(l->s, at, to, &g) || l->setup->columns - indent < LEAST_ROOM) {
        wrap_value(l, indent, from, to);
        return;
    }
    l->deepest = level + 1 > l->deepest ? level + 1 : l->deepest;
    if (!is_bracket_open(l, level, g.open)) {
        fold_value(l, indent, from, to, &g);
        return;
    }
    l->head = l->head == PRETTY_NONE ? g.open : l->head;
    bool hangs = g.inside - at <= HANGING;
    int inner = indent + (int)text_width(l->s + from, (hangs ? g.inside : at) - from);
    inner += hangs ? 0 : STEP;
    if (is_filled(l, at, &g)) {
        fill_group(l, indent, inner, from, to, &g);
        return;
    }
    if (!hangs)
        wrap_value(l, indent, from, g.inside);
    size_t end = g.inside;
    for (size_t next = g.inside; next < g.close;) {
        size_t begin = next;
        end = element_end(l->s, begin, g.close);
        bool joins = hangs && begin == g.inside;
        end = end < g.close ? end + 1 : to; /* with its comma, or with what closes */
        lay_out(l, joins ? indent : inner, level + 1, joins ? from : begin, begin, end);
        next = end < g.close ? skip_blanks(l->s, end, g.close) : g.close;
    }
    if (end < to) /* a comma stood before the last bracket: no term has that */
        wrap_value(l, inner, end, to);
}

unsigned pretty_print(const struct pretty *setup, const char *s, size_t len)
{
    struct layout l = {.setup = setup, .s = s, .head = PRETTY_NONE};
    lay_out(&l, 0, 0, 0, 0, len);
    return l.deepest;
}

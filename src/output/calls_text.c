/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of counted calls as tables for people. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/output/calls_fields.h"

#define SUMS_SHOWN 10 /* modules and applications of a window */
#define CELL_BYTES 32

/* What a row of any of the tables has. */
struct line {
    uint64_t calls, functions;
    double calls_per_s, share, change;
    double own_s, call_s, words;
    const char *name, *application;
    bool lost;
};

struct table {
    struct buf *out;
    struct arena arena;
    bool ascii;
    const struct calls_window *window;
};

static const char *unknown(const struct table *t)
{
    return t->ascii ? "-" : "–";
}

static char *put_change(const struct table *t, double change, char *to, size_t size)
{
    if (isnan(change))
        snprintf(to, size, "%s", unknown(t));
    else if (change >= 9.995)
        snprintf(to, size, "x%.0f", change + 1);
    else if (fabs(change) < 0.005)
        snprintf(to, size, "0%%");
    else
        snprintf(to, size, "%+.0f%%", change * 100);
    return to;
}

static char *put_duration(const struct table *t, const struct line *l, double s, char *to,
                          size_t size)
{
    if (l->lost)
        snprintf(to, size, "lost");
    else
        text_duration_as(to, size, s, t->ascii);
    return to;
}

enum column { CALLS, RATE, SHARE, CHANGE, OWN, EACH, WORDS, FUNCTIONS, COLUMNS };

static const char *const titles[COLUMNS] = {
    [CALLS] = "calls",  [RATE] = "calls/s", [SHARE] = "share", [CHANGE] = "change",
    [OWN] = "own time", [EACH] = "a call",  [WORDS] = "words", [FUNCTIONS] = "functions",
};

static double number(const struct line *l, enum column column)
{
    switch (column) {
    case RATE:
        return l->calls_per_s;
    case SHARE:
        return l->share;
    case WORDS:
        return l->words;
    default:
        return 0;
    }
}

static const char *cell(const struct table *t, const struct line *l, enum column column, char *to)
{
    if (isnan(number(l, column)))
        return unknown(t);
    switch (column) {
    case CALLS:
        return text_integer(to, CELL_BYTES, (int64_t)l->calls);
    case RATE:
        return text_count(to, CELL_BYTES, l->calls_per_s);
    case SHARE:
        return text_percent(to, CELL_BYTES, l->share);
    case CHANGE:
        return put_change(t, l->change, to, CELL_BYTES);
    case OWN:
        return put_duration(t, l, l->own_s, to, CELL_BYTES);
    case EACH:
        return put_duration(t, l, l->call_s, to, CELL_BYTES);
    case WORDS:
        return text_count(to, CELL_BYTES, l->words);
    case FUNCTIONS:
        return text_integer(to, CELL_BYTES, (int64_t)l->functions);
    case COLUMNS:
        break;
    }
    return "";
}

static size_t width_of(const char *text)
{
    return text_width(text, strlen(text));
}

static void put_right(struct buf *out, const char *text, size_t width)
{
    for (size_t w = width_of(text); w < width; w++)
        buf_put_u8(out, ' ');
    buf_puts(out, text);
    buf_puts(out, "  ");
}

static void put_left(struct buf *out, const char *text, size_t width)
{
    buf_puts(out, text);
    for (size_t w = width_of(text); w < width; w++)
        buf_put_u8(out, ' ');
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Columns: a bit for each; the name and the application are behind them, to the left. */
static void put_table(struct table *t, unsigned columns, const char *title,
                      const struct line *lines, size_t n)
{
    size_t widths[COLUMNS], name_width = width_of(title);
    char text[CELL_BYTES];
    bool applications = false;
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        name_width = max_size(name_width, width_of(lines[i].name));
        applications = applications || lines[i].application[0] != '\0';
    }
    for (enum column c = 0; c < COLUMNS; c++) {
        widths[c] = width_of(titles[c]);
        for (size_t i = 0; i < n; i++)
            widths[c] = max_size(widths[c], width_of(cell(t, &lines[i], c, text)));
    }
    buf_put_u8(t->out, '\n');
    for (enum column c = 0; c < COLUMNS; c++)
        if (columns & 1u << c)
            put_right(t->out, titles[c], widths[c]);
    put_left(t->out, title, applications ? name_width + 2 : 0);
    buf_puts(t->out, applications ? "application\n" : "\n");
    for (size_t i = 0; i < n; i++) {
        for (enum column c = 0; c < COLUMNS; c++)
            if (columns & 1u << c)
                put_right(t->out, cell(t, &lines[i], c, text), widths[c]);
        bool more = lines[i].application[0] != '\0';
        put_left(t->out, lines[i].name, more ? name_width + 2 : 0);
        buf_printf(t->out, "%s\n", lines[i].application);
    }
}

static const char *safe(struct table *t, struct slice text)
{
    return slice_keep_safe(&t->arena, text, t->ascii).s;
}

static const char *safe_mfa(struct table *t, const struct calls_function *f,
                            enum print_syntax syntax)
{
    struct buf out;
    buf_init(&out, 0);
    print_mfa_as(&out, syntax, f->module, f->function, (int64_t)f->arity);
    const char *kept = safe(t, (struct slice){(const char *)out.data, out.len});
    buf_clear(&out);
    return kept;
}

static const char *safe_module(struct table *t, struct slice module, enum print_syntax syntax)
{
    return safe(t, syntax == PRINT_ELIXIR ? slice_without(module, "Elixir.") : module);
}

static void put_functions(struct table *t, enum print_syntax syntax)
{
    const struct calls_window *w = t->window;
    struct line *lines = arena_alloc(&t->arena, (w->n_rows + 1) * sizeof *lines);
    for (size_t i = 0; i < w->n_rows; i++) {
        const struct calls_function *f = &w->rows[i];
        lines[i] = (struct line){.calls = f->calls,
                                 .calls_per_s = f->calls_per_s,
                                 .share = f->share,
                                 .change = f->change,
                                 .own_s = calls_or_nan(f->own_us) * 1e-6,
                                 .call_s = f->us_per_call / 1e6,
                                 .words = calls_or_nan(f->words),
                                 .lost = f->lost,
                                 .name = safe_mfa(t, f, syntax),
                                 .application = safe(t, f->application)};
    }
    unsigned columns = 1u << CALLS | 1u << RATE | 1u << SHARE;
    if (w->number > 1)
        columns |= 1u << CHANGE;
    if (w->has_time)
        columns |= 1u << OWN | 1u << EACH;
    if (w->has_memory)
        columns |= 1u << WORDS;
    put_table(t, columns, "function", lines, w->n_rows);
}

static void put_sums(struct table *t, const char *title, const struct calls_sum *sums, size_t n,
                     bool modules, enum print_syntax syntax)
{
    struct line *lines = arena_alloc(&t->arena, (n + 1) * sizeof *lines);
    size_t shown = n < SUMS_SHOWN ? n : SUMS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const struct calls_sum *s = &sums[i];
        const char *application = safe(t, s->application);
        lines[i] = (struct line){.calls = s->calls,
                                 .calls_per_s = s->calls_per_s,
                                 .share = s->share,
                                 .change = s->change,
                                 .functions = s->functions,
                                 .name = modules        ? safe_module(t, s->module, syntax)
                                         : *application ? application
                                                        : unknown(t),
                                 .application = modules ? application : ""};
    }
    unsigned columns = 1u << CALLS | 1u << RATE | 1u << SHARE | 1u << FUNCTIONS;
    if (t->window->number > 1)
        columns |= 1u << CHANGE;
    put_table(t, columns, title, lines, shown);
}

static const char *wall_text(int64_t wall_us, char *to, size_t size)
{
    char text[16];
    if (text_time(text, sizeof text, wall_us, 0, 0))
        snprintf(to, size, "%sZ", text);
    else
        snprintf(to, size, "-");
    return to;
}

static void put_names(struct table *t, const char *before, const struct slice *names, size_t n)
{
    buf_puts(t->out, before);
    for (size_t i = 0; i < n; i++)
        buf_printf(t->out, "%s %s", i > 0 ? "," : "", safe(t, names[i]));
    buf_put_u8(t->out, '\n');
}

static void put_head(struct table *t)
{
    const struct calls_window *w = t->window;
    char time[20], interval[32], called[32], counted[32], calls[32], rate[32], load[32];
    buf_printf(t->out,
               "%swindow %" PRIu64 ", %s: %s%s, %s calls (%s/s) of %s of %s functions; "
               "counting cost about %s of the node\n",
               w->number > 1 ? "\n" : "", w->number, wall_text(w->wall_us, time, sizeof time),
               text_duration_as(interval, sizeof interval, (double)w->interval_us / 1e6, true),
               w->cut ? " (stopped early)" : "",
               text_integer(calls, sizeof calls, (int64_t)w->calls),
               text_count(rate, sizeof rate, w->calls_per_s),
               text_integer(called, sizeof called, (int64_t)w->called),
               text_integer(counted, sizeof counted, (int64_t)w->functions),
               text_percent(load, sizeof load, w->load));
    if (w->asked_us != CALLS_UNKNOWN)
        buf_printf(t->out, "shortened from %s: counting may cost 10%% of the node over that time\n",
                   text_duration_as(interval, sizeof interval, (double)w->asked_us / 1e6, true));
    if (w->n_excluded > 0)
        put_names(t, "not counted, since they are called too often:", w->excluded, w->n_excluded);
    if (w->lost > 0) {
        buf_printf(t->out,
                   "lost: counts of %" PRIu64 " functions, reloaded in the window or not readable:",
                   w->lost);
        put_names(t, "", w->lost_modules, w->n_lost_modules);
    }
    if (w->timed)
        buf_printf(
            t->out,
            "times of %" PRIu64 " processes, in a second window of %s; own time is "
            "without that in other functions of this table\n",
            w->processes,
            text_duration_as(interval, sizeof interval, (double)w->timed_interval_us / 1e6, true));
    if (w->timed_why[0] != '\0')
        buf_printf(t->out, "no times: %s\n", safe(t, slice_of(w->timed_why)));
}

void calls_text_put(struct buf *out, const struct calls_window *w, enum print_syntax syntax,
                    bool ascii)
{
    struct table t = {.out = out, .ascii = ascii, .window = w};
    arena_init(&t.arena);
    put_head(&t);
    if (w->n_rows > 0) {
        put_functions(&t, syntax);
        put_sums(&t, "module", w->modules, w->n_modules, true, syntax);
        put_sums(&t, "application", w->applications, w->n_applications, false, syntax);
    }
    arena_clear(&t.arena);
}

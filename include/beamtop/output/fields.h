/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the sinks share: one tick of the model, laid out, in no format yet. */
#ifndef BEAMTOP_OUTPUT_FIELDS_H
#define BEAMTOP_OUTPUT_FIELDS_H

#include "beamtop/base/arena.h"
#include "beamtop/model/fields.h"
#include "beamtop/output/sink.h"

/* One value on its way out. */
struct value {
    enum { VALUE_NONE, VALUE_TEXT, VALUE_NUMBER, VALUE_BOOL, VALUE_PID } kind;
    enum column_type type;
    enum field_form form;
    struct slice text;
    double number;
    int64_t integer; /* exact, when is_integer */
    bool is_integer, boolean;
    struct etf_pid pid;
};

struct section {
    const struct field_list *list;
    const char *name;
    const void *base;
};

/* Rows of one kind. */
struct grid {
    const struct field_list *list;
    const struct field *const *columns; /* those chosen; NULL: all of the list */
    size_t n_columns;
    const void *rows;
    size_t n_rows, row_bytes;
    bool present;
};

#define SINK_SECTIONS 4
#define SINK_GROUP_COLUMNS 24
struct sink_tick {
    const struct sink_kind *kind;
    struct slice node;                  /* empty: of no node */
    int64_t wall_us, interval_us;       /* -1 unknown */
    const struct tick_cost *cost;       /* NULL: none */
    const struct system_sample *system; /* NULL: none */
    struct section sections[SINK_SECTIONS];
    size_t n_sections;
    struct grid grid, more;                  /* more: a second list, under the name of its fields */
    const struct process_detail *process;    /* its lists, NULL: none */
    const struct suspenders_row *suspenders; /* of that process; NULL: it is not suspended … */
    size_t n_suspenders;
    const struct recorded_position *recorded; /* NULL: of a live node */
    const struct field *group_columns[SINK_GROUP_COLUMNS];
    struct arena arena; /* of a table's rows in another order */
};

/* What a kind shows of the answer to its question. */
struct sink_kind {
    const char *name;                        /* "top": the command, and "beamtop.top/1" */
    enum question question;                  /* QUESTIONS: none, it is of no node */
    bool rates;                              /* its numbers are: the first tick has none */
    bool system;                             /* people see the numbers of the header, too */
    const struct field_list *section, *grid; /* of the answer itself, and of its rows; NULL: none */
    const char *text_empty;                  /* what they read in place of no rows */
    size_t rows_at, n_rows_at, row_bytes;    /* a pointer and a size_t in the answer */
    const struct field_list *more;           /* of another list in the answer; NULL: none */
    size_t more_at, n_more_at, more_bytes;
    size_t interval_at; /* a double in the answer; 0: the tick's own interval */
    /* What the rest does not say; false: there is nothing to show. NULL: it says all. */
    bool (*fill)(struct sink_tick *r, const void *answer, const struct sink_options *o);
};
extern const struct sink_kind sink_kinds[]; /* ended by a NULL name */
/* Of the object for its section, which it has; of one table, what the rows are. */
const char *sink_section_name(const struct sink_kind *kind);
bool sink_fill_top(struct sink_tick *r, const void *answer, const struct sink_options *o);
bool sink_fill_table(struct sink_tick *r, const void *answer, const struct sink_options *o);
bool sink_fill_heaps(struct sink_tick *r, const void *answer, const struct sink_options *o);
bool sink_fill_process(struct sink_tick *r, const void *answer, const struct sink_options *o);

/* The key that recordings of 0.1.0 have for it; NULL: the same. */
const char *field_old_key(const char *key);

struct value field_value(const struct field *f, const void *base);
struct value pid_value(const struct etf_pid *pid);
struct value text_value(struct slice text);

bool sink_tick_of_node(const struct sink_tick *r);
/* Whether that column of the grid's processes was not recorded: its values are unknown. */
bool sink_tick_lacks(const struct sink_tick *r, size_t column);

const struct field *grid_field(const struct grid *g, size_t column);
const void *grid_row(const struct grid *g, size_t row);

/* ERR_NOT_FOUND when the model lacks what this kind shows. */
int sink_tick_make(struct sink_tick *out, const struct sink_kind *kind, const struct model *m,
                   const struct sink_options *options, struct error *err);
void sink_tick_clear(struct sink_tick *r);
void sink_tick_rows(struct sink_tick *out, const char *kind, const void *rows, size_t n,
                    size_t row_bytes, int64_t wall_us);

/* Each appends the tick to out. csv: the header goes before the first rows. */
void json_put(struct buf *out, const struct sink_tick *r);
void csv_put(struct buf *out, const struct sink_tick *r, bool header, bool spreadsheet);
/* spreadsheet: a text that such a program would take for a formula gets an apostrophe before it. */
void csv_put_value(struct buf *out, const struct value *v, bool spreadsheet);
void text_put(struct buf *out, const struct sink_tick *r, bool ascii);

#endif

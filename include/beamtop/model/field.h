/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A field of a kind of row: its key, where its value is, its unit, and how people read it. JSON,
 * CSV, SQL, text and the views read the same tables. Keys are stable (docs/json.md). All is
 * constant. */
#ifndef BEAMTOP_MODEL_FIELD_H
#define BEAMTOP_MODEL_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/term.h"
#include "beamtop/model/snapshot.h"

/* clang-format off */
enum column_type {
    COLUMN_TEXT, COLUMN_PID, COLUMN_COUNT, COLUMN_BYTES, COLUMN_RATE, COLUMN_BYTE_RATE,
    COLUMN_SHARE, COLUMN_SECONDS, COLUMN_BOOL
};

/* How a field is kept in its struct. */
enum field_form {
    FIELD_SLICE, FIELD_INT, FIELD_REAL, FIELD_BOOL, FIELD_SCHEDULER_KIND,
    FIELD_CHARS,   /* an array of them, up to its NUL */
    FIELD_UNSIGNED, /* unsigned int: by FIELD_AS(), since enumerations are, too */
    FIELD_MS,      /* an integer; people read a duration */
    FIELD_WALL_US, /* an integer; people read a time */
    FIELD_CPUS,    /* a real number; people read it with two decimals: a quota of 0.25 */
    FIELD_SIGNED,  /* an integer that may be below zero, and is never unknown */
    FIELD_PID,     /* a struct etf_pid */
    FIELD_MADE,    /* a number that `number` makes of the row */
    FIELD_NONE,    /* not at all: a text that the view makes */
};

/* How people read it, beyond its type. */
enum field_look {
    LOOK_PLAIN,
    LOOK_NAME, LOOK_FUNCTION, LOOK_PID, LOOK_MARK, LOOK_ASIDE, /* of texts; aside: dim */
    LOOK_SHORT,  /* of counts: "48.2k" */
    LOOK_CHANGE, /* of numbers: with its sign, growth stands out */
    LOOK_MICROSECONDS, /* people read a duration */
    LOOK_OFFSET,       /* the same, from a start on: "+5.0 ms" */
    LOOK_ABOVE, /* of durations: it is longer than that */
    LOOK_ERROR, /* of shares: half an interval, in percent; dim */
};
/* clang-format on */

/* What a number is less or more than, where it is not exact. */
enum field_bound { BOUND_NONE, BOUND_AT_LEAST, BOUND_AT_MOST };

struct field {
    const char *key, *title; /* title NULL: the key in words, field_title() */
    enum field_form form;
    enum column_type type;
    enum field_look look;
    bool aged;             /* {older, N, Ms} is read into this and the two fields behind it */
    bool counts;           /* how many things the row stands for */
    bool adds;             /* rows of a table are added up by it (model/table.h) */
    bool tells_apart;      /* rows of one key are of two things where it differs */
    uint8_t leads;         /* where rows are added up, that of the largest stands for all; it is
                              in so many fields behind this one, too */
    const char *read_with; /* the key of an aged one that was read at the same time */
    const char *rate_of;   /* the key that it is the change of, per second: LOOK_CHANGE either way,
                              else of a counter, which never falls */
    const char *lasts; /* the key of a text: for how long that has been the same, at each answer */
    bool later;        /* on the wire: rows of an earlier version's recording lack it */
    int width;         /* columns of the screen that it prefers */
    bool grows;        /* takes the room that is left */
    size_t offset;
    size_t bound; /* where the row has the enum field_bound of it; 0: nowhere */
    size_t known; /* of pids: where a bool says if it is known; 0: it always is */
    double (*number)(const void *row); /* of FIELD_MADE; NaN: unknown */
    const char *help;
    /* Of columns of a process list (model/column.h). */
    uint32_t items;      /* what must be asked for */
    const char *sweep;   /* attribute swept when sorted by it (docs/queries.md); NULL: sorted here,
                            among the busiest */
    bool sweep_by_delta; /* ranked by change: a rate */
    bool expensive;      /* a signal to every process when sorted by it */
    bool is_default;     /* among the columns of a first start */
};

struct field_list {
    const char *name; /* of the JSON object */
    const struct field *fields;
    size_t n;            /* in data: JSON, CSV, SQL */
    size_t n_more;       /* behind these, only for people */
    const char *columns; /* what people see: keys with a space between, in order; NULL: all */
    const char *wire;    /* of a table: keys in the order of the tuple; NULL: all, in theirs */
    const char *by;      /* of a table: the key by which a command adds it up; NULL: by none */
    size_t row_bytes;    /* of a table */
};

/* FIELD("memory_bytes", BYTES, memory_bytes, "its memory", .title = "MEMORY"), of a struct that the
   macro ROW names. */
#define FIELD_AS(FORM, KEY, TYPE, MEMBER, ...)                                                     \
    {                                                                                              \
        .key = (KEY), .form = (FORM), .type = COLUMN_##TYPE, .offset = offsetof(ROW, MEMBER),      \
        .help = __VA_ARGS__                                                                        \
    }
#define FIELD_MADE(KEY, TYPE, NUMBER, ...)                                                         \
    {                                                                                              \
        .key = (KEY), .form = FIELD_MADE, .type = COLUMN_##TYPE, .number = (NUMBER),               \
        .help = __VA_ARGS__                                                                        \
    }
#define FIELD_DRAWN(KEY, ...)                                                                      \
    {                                                                                              \
        .key = (KEY), .form = FIELD_NONE, .type = COLUMN_TEXT, .help = __VA_ARGS__                 \
    }
#define FIELD(KEY, TYPE, MEMBER, ...)                                                              \
    FIELD_AS(FIELD_FORM(((ROW *)NULL)->MEMBER), KEY, TYPE, MEMBER, __VA_ARGS__)
/* clang-format off */
#define FIELD_FORM(member)                                                                         \
    _Generic((member), struct slice: FIELD_SLICE, char *: FIELD_CHARS, int64_t: FIELD_INT,         \
             uint64_t: FIELD_INT, double: FIELD_REAL, bool: FIELD_BOOL,                            \
             enum scheduler_kind: FIELD_SCHEDULER_KIND, struct etf_pid: FIELD_PID)
/* clang-format on */
/* more: so many of the last fields are not in data; keys: the columns that people see, NULL: all.
 */
#define FIELD_COLUMNS(list_name, object, array, more, keys)                                        \
    const struct field_list list_name = {.name = object,                                           \
                                         .fields = array,                                          \
                                         .n = ARRAY_LEN(array) - (more),                           \
                                         .n_more = more,                                           \
                                         .columns = keys}
/* Of QUESTION_LISTS, where ROW is the row: order: the keys on the wire, NULL: all. */
#define FIELD_TABLE(list_name, array, keys, order)                                                 \
    const struct field_list list_name = {.name = "rows",                                           \
                                         .fields = array,                                          \
                                         .n = ARRAY_LEN(array),                                    \
                                         .columns = keys,                                          \
                                         .wire = order,                                            \
                                         .row_bytes = sizeof(ROW)}
#define FIELD_LIST(list_name, object, array) FIELD_COLUMNS(list_name, object, array, 0, NULL)

/* What people read above it: "PROCESSES" in a table (upper), "process limit" else. */
#define FIELD_TITLE_BYTES 40
const char *field_title(const struct field *f, bool upper, char out[FIELD_TITLE_BYTES]);

/* NULL: the list has no such key. */
const struct field *field_find(const struct field_list *list, struct slice key);
/* The fields of `columns` (keys with a space between; NULL: those of the list), at most `most`.
 * Returns how many. */
size_t field_columns(const struct field_list *list, const char *columns, const struct field *out[],
                     size_t most);

bool field_is_number(const struct field *f); /* else a text or a pid */
/* NaN: unknown, or not a number. */
double field_number(const struct field *f, const void *row);
/* Of texts; empty: unknown. */
struct slice field_text(const struct field *f, const void *row);
/* NULL: unknown, or not a pid. */
const struct etf_pid *field_pid(const struct field *f, const void *row);
/* A known number as people read it, without its unit where the title has it. */
const char *field_number_text(const struct field *f, double n, bool ascii, char *out, size_t size);
/* "≥", "≤", or nothing before it. */
const char *field_bound_text(const struct field *f, const void *row, bool ascii);

#endif

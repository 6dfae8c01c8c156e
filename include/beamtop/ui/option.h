/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every setting, one row each: `set` in beamtop.conf and at the prompt, command-line options, the
 * manual and completion. Values are kept parsed; changes are counted so that who uses an option
 * can look
 * again cheaply. */
#ifndef BEAMTOP_UI_OPTION_H
#define BEAMTOP_UI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/trace/caps.h"
#include "beamtop/ui/word.h"

struct buf;

enum option {
    OPTION_INTERVAL,         /* duration */
    OPTION_BUDGET,           /* double: per cent of one scheduler */
    OPTION_TIMEOUT,          /* duration */
    OPTION_RECONNECT,        /* bool */
    OPTION_VIEW,             /* string: view to start with */
    OPTION_COLUMNS,          /* columns; "default" for the table's own */
    OPTION_SORT,             /* column */
    OPTION_SORT_REVERSE,     /* bool */
    OPTION_SORT_DELTA,       /* bool */
    OPTION_ROWS,             /* int: 0 as many as there is room for */
    OPTION_FILTER,           /* string */
    OPTION_OWN,              /* bool: own processes are shown */
    OPTION_MAILBOX_MESSAGES, /* int */
    OPTION_MAILBOX_BYTES,    /* bytes of each message */
    OPTION_STATE_TIMEOUT,    /* duration */
    OPTION_STATE_BYTES,      /* bytes */
    OPTION_THEME,            /* string */
    OPTION_COLORS,           /* enum option_colors */
    OPTION_ASCII,            /* enum option_auto */
    OPTION_MOUSE,            /* bool */
    OPTION_CAPTURE_DIR,      /* string */
    OPTION_CAPTURE_FORMAT,   /* enum capture_format (capture.h) */
    OPTION_CAPTURE_EVERY,    /* duration, 0 never */
    OPTION_CAPTURE_WHEN,     /* string: `run_queue > 8`, empty never */
    OPTION_PROMPT_HISTORY,   /* int: lines kept on disk for each kind of prompt */
    OPTION_TRACE_TIME,       /* cap, as those that follow */
    OPTION_TRACE_EVENTS,
    OPTION_TRACE_BATCH_EVENTS,
    OPTION_TRACE_RATE,
    OPTION_TRACE_WINDOW,
    OPTION_TRACE_WINDOW_BYTES,
    OPTION_TRACE_TERM_SIZE,
    OPTION_TRACE_BYTES,
    OPTION_TRACE_HEAP,
    OPTION_TRACE_FUNCTIONS,
    OPTION_TRACE_PROCESSES,
    OPTION_TRACE_ON_RATE,   /* enum option_on_rate */
    OPTION_TRACE_SYNTAX,    /* enum syntax (trace/pattern.h) */
    OPTION_CALLS_WINDOW,    /* double, seconds */
    OPTION_CALLS_EVERY,     /* double, seconds; 0: at once again */
    OPTION_CALLS_ROWS,      /* int */
    OPTION_CALLS_TIME,      /* bool */
    OPTION_CALLS_MEMORY,    /* bool */
    OPTION_CALLS_PROCS,     /* string */
    OPTION_SAMPLE_TIME,     /* duration, 0: until it is stopped */
    OPTION_SAMPLE_HZ,       /* int */
    OPTION_RECORD_DIR,      /* string */
    OPTION_RECORD_INTERVAL, /* duration */
    OPTION_RECORD_CALLS,    /* string: a pattern, "all", or empty: none */
    OPTION_RECORD_MAX_SIZE, /* bytes */
    OPTIONS,
};

enum option_type {
    OPTION_TYPE_BOOL, /* yes/no, on/off, true/false, 1/0; printed yes, no */
    OPTION_TYPE_INT,
    OPTION_TYPE_DOUBLE,
    OPTION_TYPE_DURATION, /* seconds as a double; text_parse_duration's forms */
    OPTION_TYPE_BYTES,    /* text_parse_bytes's forms */
    OPTION_TYPE_ENUM,     /* one of `choices`; its index */
    OPTION_TYPE_STRING,
    OPTION_TYPE_COLUMNS, /* column keys with commas between */
    OPTION_TYPE_CAP,     /* of a trace: caps_parse's forms, the range and the unit of `cap` */
};

/* Where a setting has an effect. Bits. */
enum option_scope { SCOPE_SCREEN = 1, SCOPE_BATCH = 2, SCOPE_BOTH = 3 };

enum option_auto { AUTO_AUTO, AUTO_YES, AUTO_NO };
/* AUTO: a trace of the screen sheds, one in batch stops. */
enum option_on_rate { ON_RATE_AUTO, ON_RATE_SHED, ON_RATE_STOP };
enum option_colors { COLORS_AUTO, COLORS_256, COLORS_16, COLORS_8, COLORS_NONE };

struct option_row {
    const char *name;  /* "capture-dir" */
    const char *alias; /* taken for it, too; NULL: none */
    enum option_type type;
    const char *initial;        /* the default, as `set` would take it */
    double low, high;           /* inclusive; numbers, durations, bytes */
    enum cap cap;               /* CAP */
    const char *const *choices; /* ENUM: NULL-terminated */
    enum word_kind words;       /* what completes the value */
    unsigned scope;
    const char *unit; /* of a plain number: "% of a scheduler"; NULL: none */
    const char *help; /* NULL, of CAP: the cap's */
};

extern const struct option_row option_table[OPTIONS]; /* indexed by enum option */

struct option_value {
    double number; /* BOOL 0 or 1, ENUM its index, INT, DOUBLE, DURATION (s), BYTES, CAP */
    char *text;    /* STRING, COLUMNS: owned, never NULL */
};

struct options {
    struct option_value values[OPTIONS];
    uint32_t changes[OPTIONS]; /* grows with each set that changes the value */
    uint32_t generation;       /* grows with any of them */
};

void options_init(struct options *o); /* the defaults */
void options_clear(struct options *o);

int option_find(const char *name, size_t len); /* enum option, or -1 */
/* Says that there is none of that name, and which is the nearest. Returns ERR_USAGE. */
int option_unknown(const char *name, struct error *err);
const char *option_type_name(enum option_type type);
const char *option_help(enum option option); /* never NULL */
/* "a duration from 1 ms to 600 s", of a CAP */
void option_cap_range(const struct option_row *row, struct buf *out);

/* Parses, checks the range and sets. ERR_USAGE says what is allowed; the value is
 * unchanged then. */
int option_set(struct options *o, enum option option, const char *text, struct error *err);
void option_reset(struct options *o, enum option option);
/* Toggles a BOOL, takes the next of an ENUM. ERR_USAGE for the others. */
int option_toggle(struct options *o, enum option option, struct error *err);
/* As `set` would take it, without quotes. */
void option_print(const struct options *o, enum option option, struct buf *out);

/* Each asserts the type. */
bool option_bool(const struct options *o, enum option option);
int option_int(const struct options *o, enum option option);       /* INT, ENUM, BYTES */
double option_double(const struct options *o, enum option option); /* DOUBLE, DURATION, BYTES */
uint64_t option_cap(const struct options *o, enum option option);  /* CAP, in its unit */
const char *option_text(const struct options *o,
                        enum option option); /* STRING, COLUMNS; borrowed */

#endif

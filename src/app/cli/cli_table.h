/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options (cli_table.c), for the parser (cli.c) and the texts made from them (cli_text.c). */
#ifndef BEAMTOP_APP_CLI_CLI_TABLE_H
#define BEAMTOP_APP_CLI_CLI_TABLE_H

#include "cli.h"

/* Groups of options: a command names those it takes. */
enum {
    FOR_ALL = 1 << 0,     /* help and version */
    FOR_CONNECT = 1 << 1, /* everything that reaches a node */
    FOR_TICKS = 1 << 2,
    FOR_TOP = 1 << 3,
    FOR_FORMAT = 1 << 4,
    FOR_SCREEN = 1 << 5,
    FOR_CAPTURE = 1 << 6,
    FOR_PATTERN = 1 << 7, /* trace patterns */
    FOR_TRACE = 1 << 8,
    FOR_CALLS = 1 << 9,
    FOR_RECORD = 1 << 10,
    FOR_REPORT = 1 << 11, /* what reads recordings */
    FOR_DIFF = 1 << 12,
    FOR_LOCAL = 1 << 13,  /* what looks at a VM of this host from outside */
    FOR_SAMPLE = 1 << 14, /* … and samples it */
    FOR_BLAME = 1 << 15,
    FOR_PSTACK = 1 << 16,
    FOR_PERF_MAP = 1 << 17,
    FOR_HEAPS = 1 << 18,
    FOR_INTERVAL = 1 << 19, /* one interval of a node */
    FOR_SPANS = 1 << 20,    /* causal spans */
    FOR_STACKS = 1 << 21,   /* one process in time */
    FOR_TERMS = 1 << 24,    /* kinds of terms */
    FOR_TABLE = 1 << 23,    /* an answer that is one table */
    FOR_ETS = 1 << 25,      /* one ETS table */
    FOR_EVENTS = 1 << 26,   /* system events */
    FOR_SEVERAL = 1 << 27,  /* what takes several nodes */
    FOR_CSV = 1 << 22,      /* no command names it: those that have the format take it */
};

/* clang-format off */
enum value_type {
    TYPE_FLAG, TYPE_TEXT, TYPE_BYTES, TYPE_SECONDS, TYPE_SHARE, TYPE_INTEGER, TYPE_FORMAT,
    TYPE_REQUEST, /* the row of its name in the table of trace/request.h has the rest */
    TYPE_FAIL_ON, /* may be given many times */
};
/* clang-format on */

struct cli_option {
    const char *name;
    char letter; /* 0: none */
    unsigned groups;
    enum value_type type;
    size_t offset;       /* of the value in struct cli_options */
    size_t given_offset; /* of a bool that says it was given; 0: none */
    double min, max;
    const char *arg;  /* NULL: it takes no value */
    const char *help; /* NULL, of TYPE_REQUEST: that row's */
};

const char *cli_option_help(const struct cli_option *option); /* never NULL */
/* False: it is not a TYPE_REQUEST. */
bool cli_option_request(struct request_option *out, const struct cli_option *option);
bool cli_takes(const struct cli_command *command, const struct cli_option *option);

extern const char *const cli_format_names[FORMATS];

/* "text, json, csv": the names of a mask's formats; returns out. */
const char *cli_formats(char *out, size_t size, unsigned formats);

/* The tables of commands, options and formats for the manual and for completion. */
void cli_mdoc_commands(struct buf *out);
void cli_mdoc_options(struct buf *out);
void cli_words_commands(struct buf *out);
void cli_words_options(struct buf *out);
void cli_words_formats(struct buf *out);

#define CLI_OPTIONS_MAX 200
#define CLI_COMMANDS_MAX 64
extern const struct cli_option cli_option_table[]; /* up to CLI_OPTIONS_MAX */
extern const size_t cli_option_table_len;

#endif

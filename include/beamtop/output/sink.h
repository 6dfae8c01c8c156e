/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Batch output: what the model knows, as text for people, JSON for programs (one object a line) or
 * CSV for tables. Keys have their units in their names and are described in docs/json.md. Unknown
 * is null in JSON, empty in CSV and a dash in text. */
#ifndef BEAMTOP_OUTPUT_SINK_H
#define BEAMTOP_OUTPUT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/model/column.h"
#include "beamtop/model/model.h"
#include "beamtop/output/writer.h"

enum sink_format { SINK_TEXT, SINK_JSON, SINK_CSV };

/* What a command prints: a row of sink_kinds (output/fields.c). */
struct sink_kind;
const struct sink_kind *sink_kind_find(const char *command); /* "top": one of them */
/* What it shows the answer to. *rates: its numbers are, so that the first tick has none. */
/* Of the rows of one that is a table. */
const struct field_list *sink_table(const struct sink_kind *kind);
enum question sink_question(const struct sink_kind *kind, bool *rates);

/* A VM of this host, as `beamtop nodes` lists them. Unknown numbers are -1, NaN. Borrowed. */
struct sink_node {
    struct slice name; /* alive@host; empty: not a node */
    struct slice form; /* "short", "long" or empty */
    struct slice user, otp, command;
    struct slice cookie; /* where one was found ("argument", "owner_home"); never the cookie */
    int64_t os_pid, port;
    double uptime_s, rss_bytes;
    bool in_epmd;
};

/* A line of `beamtop doctor`. Borrowed. */
struct sink_check {
    struct slice node, check;
    struct slice state; /* "ok", "note", "fail" */
    struct slice text, fix;
    int64_t os_pid; /* -1: not on this host */
};

struct sink_options {
    enum sink_format format;
    const struct field *const *columns; /* of `top`; NULL: those of a first start */
    int n_columns;
    int by; /* of `heapsample`: rows by an enum owner_by; -1: by process */
    /* Of a table: rows are added up by `group`, and come by `sort`; NULL: as they came. */
    const struct field *group, *sort;
    const struct field *where; /* only rows with the text `only` in it; NULL: all */
    struct slice only;
    size_t most;      /* rows of it; 0: all */
    bool ascii;       /* text: nothing beyond ASCII */
    bool spreadsheet; /* csv: texts that begin with = + - @ get an apostrophe before them */
};

struct sink;

struct sink *sink_open(const struct sink_writer *writer, const struct sink_options *options);
/* As above on a stream, which stays the caller's. Every line is flushed. */
struct sink *sink_open_file(FILE *file, const struct sink_options *options);
void sink_close(struct sink *s); /* NULL is fine */

/*
 * Writes what the model knows at this moment: one object, one table. The columns of `top` are
 * copied pointers: they must live as long as the sink. ERR_SYSTEM when the bytes could not be
 * written; from then on every call fails in the same way. ERR_NOT_FOUND when the model has not been
 * given what this kind shows. */
int sink_put(struct sink *s, const struct sink_kind *kind, const struct model *m,
             struct error *err);
int sink_put_nodes(struct sink *s, const struct sink_node *nodes, size_t n, int64_t wall_us,
                   struct error *err);
int sink_put_checks(struct sink *s, const struct sink_check *checks, size_t n, int64_t wall_us,
                    struct error *err);
/* The rows of several nodes, `fleet` or `mesh`; wall_us: now. */
int sink_put_fleet(struct sink *s, const struct sink_kind *kind, const struct model *m,
                   int64_t wall_us, struct error *err);
/* The errno of the write that failed, 0 else: EPIPE is how `| head` ends a run. */
int sink_write_errno(const struct sink *s);

#endif

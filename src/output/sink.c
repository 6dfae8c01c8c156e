/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/output/fields.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

struct sink {
    struct sink_output output;
    struct sink_options options;
    const struct field *columns[COLUMNS_MAX];
    const struct sink_kind *header_of; /* csv: the last header is of this kind */
};

const struct sink_kind *sink_kind_find(const char *command)
{
    const struct sink_kind *kind = sink_kinds;
    while (kind->name && strcmp(kind->name, command) != 0)
        kind++;
    assert(kind->name);
    return kind;
}

const struct field_list *sink_table(const struct sink_kind *kind)
{
    return kind->grid;
}

enum question sink_question(const struct sink_kind *kind, bool *rates)
{
    *rates = kind->rates;
    return kind->question;
}

struct sink *sink_open(const struct sink_writer *writer, const struct sink_options *options)
{
    struct sink *s = alloc_zero(1, sizeof *s);
    s->output.writer = *writer;
    s->options = *options;
    if (!options->columns) {
        s->options.n_columns = proc_columns_default(s->columns);
    } else {
        assert(options->n_columns <= COLUMNS_MAX);
        memcpy(s->columns, options->columns, (size_t)options->n_columns * sizeof s->columns[0]);
    }
    s->options.columns = s->columns;
    return s;
}

struct sink *sink_open_file(FILE *file, const struct sink_options *options)
{
    const struct sink_writer writer = sink_writer_of(file);
    return sink_open(&writer, options);
}

void sink_close(struct sink *s)
{
    free(s);
}

int sink_write_errno(const struct sink *s)
{
    return s->output.write_errno;
}

/* A text table goes out as a whole; data goes out line by line. */
static int write_tick(struct sink *s, const struct buf *out, struct error *err)
{
    const char *at = (const char *)out->data, *end = at + out->len;
    int rc = 0;
    do {
        const char *line = s->options.format == SINK_TEXT || at == end
                               ? NULL
                               : memchr(at, '\n', (size_t)(end - at));
        size_t len = line ? (size_t)(line - at) + 1 : (size_t)(end - at);
        rc = sink_output_put(&s->output, at, len, err);
        at += len;
    } while (at < end && rc == 0);
    return rc;
}

static int put_tick(struct sink *s, const struct sink_tick *r, struct error *err)
{
    struct buf out;
    buf_init(&out, 0);
    switch (s->options.format) {
    case SINK_TEXT:
        text_put(&out, r, s->options.ascii);
        break;
    case SINK_JSON:
        json_put(&out, r);
        break;
    case SINK_CSV:
        csv_put(&out, r, s->header_of != r->kind, s->options.spreadsheet);
        break;
    }
    s->header_of = r->kind;
    int rc = write_tick(s, &out, err);
    buf_clear(&out);
    return rc;
}

int sink_put(struct sink *s, const struct sink_kind *kind, const struct model *m, struct error *err)
{
    struct sink_tick r;
    int rc = sink_tick_make(&r, kind, m, &s->options, err);
    rc = rc < 0 ? rc : put_tick(s, &r, err);
    sink_tick_clear(&r);
    return rc;
}

int sink_put_fleet(struct sink *s, const struct sink_kind *kind, const struct model *m,
                   int64_t wall_us, struct error *err)
{
    struct sink_tick r;
    int rc = sink_tick_make(&r, kind, m, &s->options, err);
    r.wall_us = wall_us;
    rc = rc < 0 ? rc : put_tick(s, &r, err);
    sink_tick_clear(&r);
    return rc;
}

int sink_put_nodes(struct sink *s, const struct sink_node *nodes, size_t n, int64_t wall_us,
                   struct error *err)
{
    struct sink_tick r;
    sink_tick_rows(&r, "nodes", nodes, n, sizeof nodes[0], wall_us);
    return put_tick(s, &r, err);
}

int sink_put_checks(struct sink *s, const struct sink_check *checks, size_t n, int64_t wall_us,
                    struct error *err)
{
    struct sink_tick r;
    sink_tick_rows(&r, "doctor", checks, n, sizeof checks[0], wall_us);
    return put_tick(s, &r, err);
}

#include "beamtop/store/trace_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "trace_line.h"

struct trace_sink {
    struct sink_writer writer;
    struct trace_sink_options options;
    int write_errno;
};

struct trace_sink *trace_sink_open(const struct sink_writer *writer,
                                   const struct trace_sink_options *options)
{
    struct trace_sink *s = alloc_zero(1, sizeof *s);
    s->writer = *writer;
    s->options = *options;
    return s;
}

static int write_file(void *ctx, const char *bytes, size_t len)
{
    FILE *file = ctx;
    errno = 0;
    if (fwrite(bytes, 1, len, file) == len && fflush(file) == 0)
        return 0;
    return errno != 0 ? errno : EIO;
}

struct trace_sink *trace_sink_open_file(FILE *file, const struct trace_sink_options *options)
{
    const struct sink_writer writer = {.write = write_file, .ctx = file};
    return trace_sink_open(&writer, options);
}

void trace_sink_close(struct trace_sink *s)
{
    free(s);
}

int trace_sink_write_errno(const struct trace_sink *s)
{
    return s->write_errno;
}

static int write_out(struct trace_sink *s, struct buf *out, struct error *err)
{
    if (s->write_errno == 0)
        s->write_errno = s->writer.write(s->writer.ctx, (const char *)out->data, out->len);
    buf_clear(out);
    if (s->write_errno != 0)
        return error_set_errno(err, s->write_errno, "the output cannot be written");
    return 0;
}

static struct slice node_of(const struct trace_sink *s)
{
    const char *node = s->options.node != NULL ? s->options.node : "";
    return (struct slice){node, strlen(node)};
}

int trace_sink_put_line(struct trace_sink *s, const struct trace_line *line, struct error *err)
{
    struct buf out;
    buf_init(&out, 0);
    if (s->options.format == SINK_JSON)
        trace_json_put(&out, line, node_of(s));
    else
        trace_text_put(&out, line, s->options.ascii);
    return write_out(s, &out, err);
}

int trace_sink_put_end(struct trace_sink *s, const struct trace_ending *e, struct error *err)
{
    struct buf out;
    buf_init(&out, 0);
    if (s->options.format == SINK_JSON)
        trace_json_end(&out, e, node_of(s));
    else
        trace_text_end(&out, e, s->options.ascii);
    return write_out(s, &out, err);
}

int trace_sink_event(struct trace_sink *s, const struct trace_log *log,
                     const struct trace_event *event, bool finished, struct error *err)
{
    struct trace_line line;
    struct arena arena;
    arena_init(&arena);
    trace_line_make(&line, &(struct trace_layout){&arena, s->options.syntax, VALUES_WHOLE}, log, event,
                    finished);
    int rc = trace_sink_put_line(s, &line, err);
    arena_clear(&arena);
    return rc;
}

int trace_sink_end(struct trace_sink *s, const struct trace_log *log, struct error *err)
{
    struct trace_ending e;
    struct arena arena;
    arena_init(&arena);
    trace_ending_make(&e, &(struct trace_layout){&arena, s->options.syntax, VALUES_WHOLE}, log);
    int rc = trace_sink_put_end(s, &e, err);
    arena_clear(&arena);
    return rc;
}

int trace_sink_log(struct trace_sink *s, const struct trace_log *log, struct error *err)
{
    for (size_t i = 0; i < trace_log_len(log); i++) {
        const struct trace_event *event = trace_log_at(log, i);
        int rc = trace_sink_event(s, log, event, false, err);
        bool back = event->outcome == OUTCOME_RETURN || event->outcome == OUTCOME_EXCEPTION;
        if (rc == 0 && event->kind == EVENT_CALL && back)
            rc = trace_sink_event(s, log, event, true, err);
        if (rc != 0)
            return rc;
    }
    return trace_sink_end(s, log, err);
}

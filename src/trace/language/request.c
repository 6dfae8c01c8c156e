/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/request.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/names.h"

#define BLANKS " \t"

/* The end of a quoted text whose opening quote is at `at`, or of the line. */
static size_t skip_quoted(const char *s, size_t at)
{
    char quote = s[at++];
    while (s[at] && s[at] != quote)
        at += s[at] == '\\' && s[at + 1] ? 2 : 1;
    return s[at] ? at + 1 : at;
}

/* An option begins with a blank, two dashes and a small letter, outside quotes and brackets. */
static size_t first_option(const char *s)
{
    int depth = 0;
    size_t at = 0;
    while (s[at]) {
        bool after_blank = at == 0 || text_is_blank(s[at - 1]);
        if (depth <= 0 && after_blank && s[at] == '-' && s[at + 1] == '-' && s[at + 2] >= 'a' &&
            s[at + 2] <= 'z')
            return at;
        if (s[at] == '\'' || s[at] == '"') {
            at = skip_quoted(s, at);
            continue;
        }
        if (s[at] == '(' || s[at] == '[' || s[at] == '{')
            depth++;
        else if (s[at] == ')' || s[at] == ']' || s[at] == '}')
            depth--;
        at++;
    }
    return at;
}

size_t trace_request_pattern_end(const char *line)
{
    size_t end = first_option(line);
    while (end > 0 && text_is_blank(line[end - 1]))
        end--;
    return end;
}

/* ---- options */

#define AT(field) offsetof(struct trace_request, field)

static const struct request_option options[] = {
    {"roots", REQUEST_SPANS, REQUEST_NUMBER, AT(roots), 1, LIMIT_SPAN_ROOTS,
     "calls of the root functions to follow, 1 to 1000 (20)"},
    {"every", REQUEST_SPANS, REQUEST_NUMBER, AT(every), 1, SPANS_MOST_EVERY,
     "follow one of so many calls, 1 to 100000 (1)"},
    {"time", REQUEST_SPANS, REQUEST_MS, AT(for_ms), 0.1, SPANS_MOST_MS / 1000.0,
     "stop after this time, 0.1s to 10min (10s)"},
    {"events", REQUEST_SPANS, REQUEST_NUMBER, AT(events), 1, SPANS_MOST_EVENTS,
     "stop after so many events, 1 to 20000 (20000)"},
    {"procs", REQUEST_TRACE | REQUEST_SPANS, REQUEST_TEXT, AT(procs), 0, 0,
     "processes: all, new, running, <0.1.2>, NAME, app:NAME, label:/RE/, call:/RE/, 1/N, and "
     "+children (all)"},
    {"calls", REQUEST_SPANS, REQUEST_TEXT, AT(calls), 0, 0,
     "also calls of these functions that are made for a root, as spans within its spans"},
    {"process", REQUEST_SPANS, REQUEST_TEXT, AT(process), 0, 0,
     "requests that this process makes, such as '<0.123.0>' or a registered name, in place of "
     "PATTERN"},
    {"full", REQUEST_SPANS, REQUEST_FLAG, AT(full), 0, 0,
     "also when each process runs, waits and ends; costs twice as much, and a sender may wait for "
     "a receiver that is in a long BIF or NIF"},
    {"context", REQUEST_SPANS, REQUEST_FLAG, AT(context), 0, 0,
     "also read of each root's process who called it ($callers) and its OpenTelemetry span"},
    {"no-payloads", REQUEST_SPANS, REQUEST_FLAG, AT(no_payloads), 0, 0,
     "copy no message, value or reason on the node: only calls, by breakpoints"},
    {"first", REQUEST_TRACE, REQUEST_NUMBER, AT(first), 1, 10000,
     "of several nodes: end on all of them after the first N events anywhere"},
    {"slower", REQUEST_TRACE, REQUEST_US, AT(slower_us), 0, 600,
     "only calls that took at least this long"},
    {"on-rate", REQUEST_TRACE, REQUEST_ON_RATE, AT(on_rate_stop), 0, 0,
     "above the rate: stop, or shed: skip calls and say how many (stop)"},
    {"syntax", REQUEST_TRACE, REQUEST_SYNTAX, AT(syntax), 0, 0,
     "syntax of patterns: auto, erlang or elixir (auto)"},
    {"force", REQUEST_TRACE | REQUEST_SPANS, REQUEST_FLAG, AT(force), 0, 0,
     "do not ask first when it is expensive"},
};

void trace_request_init(struct trace_request *r)
{
    *r = (struct trace_request){.for_ms = 10000,
                                .roots = 20,
                                .every = 1,
                                .events = SPANS_MOST_EVENTS,
                                .on_rate_stop = true};
    caps_init(&r->caps);
}

void trace_request_clear(struct trace_request *r)
{
    free(r->line);
    r->line = NULL;
    r->pattern = r->procs = r->calls = r->process = NULL;
}

/* Caps come behind the others. */
bool trace_request_option(struct request_option *out, enum request_kind kind, size_t index)
{
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        if (options[i].kinds & kind && index-- == 0) {
            *out = options[i];
            return true;
        }
    }
    if (kind != REQUEST_TRACE || index >= CAPS)
        return false;
    *out = (struct request_option){.name = cap_table[index].key,
                                   .kinds = REQUEST_TRACE,
                                   .type = REQUEST_CAP,
                                   .offset = index,
                                   .help = cap_table[index].help};
    return true;
}

bool trace_request_find(struct request_option *out, enum request_kind kind, const char *name)
{
    for (size_t i = 0; trace_request_option(out, kind, i); i++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}

static int set_number(void *field, const struct request_option *o, const char *value,
                      struct error *err)
{
    double v;
    const bool is_number = o->type == REQUEST_NUMBER;
    if ((is_number ? text_parse_count(value, "", &v) : text_parse_duration(value, &v)) != 0 ||
        !(v >= o->least && v <= o->most) || (is_number && v != floor(v)))
        return error_set(err, ERR_USAGE, "%s: “%s” is not between %g and %g", o->name, value,
                         o->least, o->most);
    if (o->type == REQUEST_US)
        *(uint64_t *)field = (uint64_t)llround(v * 1e6);
    else
        *(unsigned *)field = (unsigned)lround(is_number ? v : v * 1000);
    return 0;
}

static int set_on_rate(bool *stop, const char *value, struct error *err)
{
    *stop = strcmp(value, "stop") == 0;
    return *stop || strcmp(value, "shed") == 0
               ? 0
               : error_set(err, ERR_USAGE, "on-rate: “%s” is not stop or shed", value);
}

int trace_request_set(struct trace_request *r, const struct request_option *option,
                      const char *value, struct error *err)
{
    void *field = (char *)r + option->offset;
    switch (option->type) {
    case REQUEST_FLAG:
        *(bool *)field = true;
        return 0;
    case REQUEST_TEXT:
        *(const char **)field = value;
        return 0;
    case REQUEST_NUMBER:
    case REQUEST_MS:
    case REQUEST_US:
        return set_number(field, option, value, err);
    case REQUEST_SYNTAX:
        if (syntax_parse(value, field) == 0)
            return 0;
        return error_set(err, ERR_USAGE, "syntax: “%s” is not auto, erlang or elixir", value);
    case REQUEST_ON_RATE:
        return set_on_rate(field, value, err);
    case REQUEST_CAP:
        return caps_parse(&r->caps, (enum cap)option->offset, value, err);
    }
    return 0;
}

/* ---- a line */

#define NEAREST_OF 32 /* options of a line, at most */

/* The nearest, else all of them. */
static int no_option(enum request_kind kind, const char *name, struct error *err)
{
    struct slice names[NEAREST_OF], near;
    struct request_option option;
    const char *what = kind == REQUEST_TRACE ? "a trace" : "a capture";
    const size_t len = strcspn(name, BLANKS);
    const int shown = len < 40 ? (int)len : 40;
    size_t n = 0;
    for (; n < NEAREST_OF && trace_request_option(&option, kind, n); n++)
        names[n] = slice_of(option.name);
    if (names_near(names, n, (struct slice){name, len}, &near, 1) > 0)
        return error_set(err, ERR_USAGE, "%s has no option “--%.*s”; did you mean --%.*s?", what,
                         shown, name, (int)near.len, near.s);
    struct buf all;
    buf_init(&all, 0);
    for (size_t i = 0; i < n; i++)
        buf_printf(&all, "%s--%.*s", i > 0 ? ", " : "", (int)names[i].len, names[i].s);
    int rc = error_set(err, ERR_USAGE, "%s has no option “--%.*s”: use one of %s", what, shown,
                       name, buf_cstr(&all));
    buf_clear(&all);
    return rc;
}

/* Ends the word at *at and goes past it and the blanks behind it. */
static char *take_word(char *line, size_t *at)
{
    char *word = line + *at;
    *at += strcspn(word, BLANKS);
    while (text_is_blank(line[*at]))
        line[(*at)++] = '\0';
    return word;
}

/* `line` is what was typed, out->line its copy, which is cut into words. */
static int read_option(struct trace_request *out, enum request_kind kind, const char *line,
                       size_t *at, struct error *err)
{
    struct request_option option;
    const char *value = NULL;
    size_t next = *at;
    if (strncmp(line + next, "--", 2) != 0)
        return error_set(err, ERR_USAGE, "an option is expected here, such as %s",
                         kind == REQUEST_TRACE ? "--events 50" : "--roots 20");
    if (!trace_request_find(&option, kind, take_word(out->line, &next) + 2))
        return no_option(kind, line + *at + 2, err);
    if (option.type != REQUEST_FLAG) {
        *at = next;
        value = take_word(out->line, &next);
        if (!*value)
            return error_set(err, ERR_USAGE, "--%s needs a value", option.name);
        if (strcmp(option.name, "procs") == 0)
            out->procs_at = *at;
    }
    const int rc = trace_request_set(out, &option, value, err);
    *at = rc == 0 ? next : *at;
    return rc;
}

static int check_root(const struct trace_request *r, enum request_kind kind, struct error *err)
{
    if (kind == REQUEST_TRACE && !r->pattern)
        return error_set(err, ERR_USAGE, "a pattern is needed, such as lists:map(_, _) -> return");
    if (kind == REQUEST_SPANS && !r->pattern == !r->process)
        return error_set(err, ERR_USAGE,
                         "a call that begins a request is needed, such as shop_api:checkout(_), or "
                         "--process with the process that makes it");
    return 0;
}

int trace_request_parse(struct trace_request *out, enum request_kind kind, const char *line,
                        size_t *offset, struct error *err)
{
    const size_t end = trace_request_pattern_end(line);
    size_t at = end + strspn(line + end, BLANKS);
    int rc = 0;
    out->pattern_at = strspn(line, BLANKS);
    out->line = alloc_strdup(line);
    if (end > out->pattern_at) {
        out->line[end] = '\0';
        out->pattern = out->line + out->pattern_at;
    }
    while (rc == 0 && line[at]) {
        rc = read_option(out, kind, line, &at, err);
        *offset = at;
    }
    if (rc == 0) {
        *offset = 0;
        rc = check_root(out, kind, err);
    }
    if (rc != 0)
        trace_request_clear(out);
    return rc;
}

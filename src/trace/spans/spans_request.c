/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/spans_request.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/request.h"
#include "beamtop/trace/spans.h"

#define BLANKS " \t"

static int set_number(unsigned *out, const char *value, unsigned most, struct error *err)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end != '\0' || errno != 0 || n < 1 || n > most)
        return error_set(err, ERR_USAGE, "“%.40s” is not a number from 1 to %u", value, most);
    *out = (unsigned)n;
    return 0;
}

static int set_roots(struct spans_request *r, const char *value, struct error *err)
{
    return set_number(&r->roots, value, LIMIT_SPAN_ROOTS, err);
}

static int set_every(struct spans_request *r, const char *value, struct error *err)
{
    return set_number(&r->every, value, SPANS_MOST_EVERY, err);
}

static int set_events(struct spans_request *r, const char *value, struct error *err)
{
    return set_number(&r->events, value, SPANS_MOST_EVENTS, err);
}

static int set_time(struct spans_request *r, const char *value, struct error *err)
{
    double seconds;
    if (text_parse_duration(value, &seconds) != 0 || !(seconds >= 0.1) ||
        seconds * 1000 > SPANS_MOST_MS)
        return error_set(err, ERR_USAGE, "time: “%.40s” is not a time from 0.1s to 10m", value);
    r->for_ms = (unsigned)(seconds * 1000 + 0.5);
    return 0;
}

static int set_text(char *out, size_t size, const char *name, const char *value, struct error *err)
{
    if (strlen(value) >= size)
        return error_set(err, ERR_USAGE, "%s: at most %zu bytes", name, size - 1);
    snprintf(out, size, "%s", value);
    return 0;
}

static int set_procs(struct spans_request *r, const char *value, struct error *err)
{
    return set_text(r->procs, sizeof r->procs, "procs", value, err);
}

static int set_calls(struct spans_request *r, const char *value, struct error *err)
{
    return set_text(r->calls, sizeof r->calls, "calls", value, err);
}

static int set_process(struct spans_request *r, const char *value, struct error *err)
{
    return set_text(r->process, sizeof r->process, "process", value, err);
}

#define FLAG(member) offsetof(struct spans_request, member)
static const struct {
    const char *name;
    int (*set)(struct spans_request *r, const char *value, struct error *err);
    size_t flag; /* without a setter: the member that it sets */
    const char *help;
} options[] = {
    {"roots", set_roots, 0, "requests to capture (20)"},
    {"every", set_every, 0, "capture one of so many calls (1)"},
    {"time", set_time, 0, "stop after this time (10s)"},
    {"events", set_events, 0, "stop after so many events (20000)"},
    {"procs", set_procs, 0, "who may begin a request: all, new, a pid, a name, app:NAME …"},
    {"calls", set_calls, 0, "also calls of these functions within a request: shop_db:_"},
    {"process", set_process, 0, "requests of this process, in place of calls: a pid, a name"},
    {"full", NULL, FLAG(full), "also CPU, preemption and all waits of those that take part"},
    {"context", NULL, FLAG(context), "also who called, and the OpenTelemetry span of a request"},
    {"no-payloads", NULL, FLAG(no_payloads),
     "copy no message or value: only calls, by breakpoints"},
    {"force", NULL, FLAG(force), "do not ask first"},
};
#undef FLAG

bool spans_request_option(size_t index, struct pattern_word *out)
{
    if (index >= ARRAY_LEN(options))
        return false;
    *out = (struct pattern_word){options[index].name, options[index].help};
    return true;
}

/* The word at *at, with the blanks behind it; false: there is none, or it is too long. */
static bool take_word(const char *line, size_t *at, char *word, size_t size)
{
    size_t len = strcspn(line + *at, BLANKS);
    if (len == 0 || len >= size)
        return false;
    memcpy(word, line + *at, len);
    word[len] = '\0';
    *at += len;
    *at += strspn(line + *at, BLANKS);
    return true;
}

static int read_option(struct spans_request *r, const char *line, size_t *at, struct error *err)
{
    char name[32], value[256] = "";
    size_t next = *at, i = 0;
    if (!take_word(line, &next, name, sizeof name) || strncmp(name, "--", 2) != 0)
        return error_set(err, ERR_USAGE, "an option is expected here, such as --roots 20");
    while (i < ARRAY_LEN(options) && strcmp(options[i].name, name + 2) != 0)
        i++;
    if (i == ARRAY_LEN(options))
        return trace_request_no_option("a capture", spans_request_option, name + 2, err);
    *at = next;
    if (!options[i].set) {
        *(bool *)((char *)r + options[i].flag) = true;
        *at = next;
        return 0;
    }
    if (!take_word(line, &next, value, sizeof value))
        return error_set(err, ERR_USAGE, "%s needs a value", name);
    int rc = options[i].set(r, value, err);
    *at = rc == 0 ? next : *at;
    return rc;
}

int spans_request_parse(struct spans_request *out, const char *line, size_t *offset,
                        struct error *err)
{
    size_t end = trace_request_pattern_end(line), at = end + strspn(line + end, BLANKS);
    *out = (struct spans_request){.pattern_at = strspn(line, BLANKS),
                                  .for_ms = 10000,
                                  .roots = 20,
                                  .every = 1,
                                  .events = SPANS_MOST_EVENTS};
    *offset = 0;
    size_t len = end > out->pattern_at ? end - out->pattern_at : 0;
    at = len > 0 ? at : out->pattern_at;
    if (len >= sizeof out->pattern)
        return error_set(err, ERR_USAGE, "at most %zu bytes of patterns", sizeof out->pattern - 1);
    memcpy(out->pattern, line + out->pattern_at, len);
    while (line[at]) {
        int rc = read_option(out, line, &at, err);
        *offset = at;
        if (rc != 0)
            return rc;
    }
    if ((len == 0) == (*out->process == '\0')) {
        *offset = 0;
        return error_set(err, ERR_USAGE,
                         "a call that begins a request is needed, such as shop_api:checkout(_), or "
                         "--process with the process that makes it");
    }
    return 0;
}

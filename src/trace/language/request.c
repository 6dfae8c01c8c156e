/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/names.h"

#define BLANKS " \t"
#define WORD_BYTES 1024 /* of an option's name or value; PROCS_ITEMS names fit */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

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
        bool after_blank = at == 0 || is_blank(s[at - 1]);
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
    while (end > 0 && is_blank(line[end - 1]))
        end--;
    return end;
}

/* Copies the word at *at and goes past it; false when it is too long. */
static bool take_word(const char *line, size_t *at, char word[WORD_BYTES])
{
    size_t len = strcspn(line + *at, BLANKS);
    if (len >= WORD_BYTES)
        return false;
    memcpy(word, line + *at, len);
    word[len] = '\0';
    *at += len;
    return true;
}

static int set_slower(struct trace_request *r, const char *value, struct error *err)
{
    double seconds;
    if (text_parse_duration(value, &seconds) != 0 || !(seconds >= 0) || seconds > 600)
        return error_set(err, ERR_USAGE, "slower: “%s” is not a time such as 5ms, up to 10 min",
                         value);
    r->slower_us = (uint64_t)llround(seconds * 1e6);
    return 0;
}

static int set_on_rate(struct trace_request *r, const char *value, struct error *err)
{
    r->on_rate_stop = strcmp(value, "stop") == 0;
    if (!r->on_rate_stop && strcmp(value, "shed") != 0)
        return error_set(err, ERR_USAGE, "on-rate is stop or shed, not “%s”", value);
    return 0;
}

static int set_syntax(struct trace_request *r, const char *value, struct error *err)
{
    static const char *const names[] = {
        [SYNTAX_AUTO] = "auto", [SYNTAX_ERLANG] = "erlang", [SYNTAX_ELIXIR] = "elixir"};
    for (int i = SYNTAX_AUTO; i <= SYNTAX_ELIXIR; i++) {
        if (strcmp(value, names[i]) == 0) {
            r->syntax = (enum syntax)i;
            return 0;
        }
    }
    return error_set(err, ERR_USAGE, "syntax is auto, erlang or elixir, not “%s”", value);
}

static int set_procs(struct trace_request *r, const char *value, struct error *err)
{
    (void)err;
    free(r->procs);
    r->procs = alloc_strdup(value);
    return 0;
}

static const struct {
    const char *name;
    int (*set)(struct trace_request *r, const char *value, struct error *err);
    const char *help;
} own_options[] = {
    {"procs", set_procs, "who is traced: all, new, running, a pid, a name, app:NAME, 1/N …"},
    {"slower", set_slower, "show only calls that took longer, such as 5ms"},
    {"on-rate", set_on_rate, "above the rate: skip and count calls, or stop"},
    {"syntax", set_syntax, "how the pattern is spelled: auto, erlang or elixir"},
};
#define OWN_OPTIONS (sizeof own_options / sizeof own_options[0])

bool trace_request_option(size_t index, struct pattern_word *out)
{
    static const struct pattern_word force = {"force", "do not ask first when it is expensive"};
    if (index < OWN_OPTIONS)
        *out = (struct pattern_word){own_options[index].name, own_options[index].help};
    else if (index == OWN_OPTIONS)
        *out = force;
    else if (index - OWN_OPTIONS - 1 < CAPS)
        *out = (struct pattern_word){cap_table[index - OWN_OPTIONS - 1].key,
                                     cap_table[index - OWN_OPTIONS - 1].help};
    else
        return false;
    return true;
}

static int set_option(struct trace_request *r, const char *name, const char *value,
                      struct error *err)
{
    enum cap cap;
    for (size_t i = 0; i < OWN_OPTIONS; i++)
        if (strcmp(own_options[i].name, name) == 0)
            return own_options[i].set(r, value, err);
    if (cap_find(name, &cap) == 0)
        return caps_parse(&r->caps, cap, value, err);
    return 1;
}

#define NEAREST_OF 32 /* options of a line, at most */

/* The nearest, else all of them. */
int trace_request_no_option(const char *what, bool (*option)(size_t, struct pattern_word *),
                            const char *name, struct error *err)
{
    struct slice names[NEAREST_OF], near;
    struct pattern_word word;
    const size_t len = strcspn(name, BLANKS);
    const int shown = len < 40 ? (int)len : 40;
    size_t n = 0;
    for (; n < NEAREST_OF && option(n, &word); n++)
        names[n] = slice_of(word.word);
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

static bool is_option(const char *name)
{
    enum cap cap;
    for (size_t i = 0; i < OWN_OPTIONS; i++)
        if (strcmp(own_options[i].name, name) == 0)
            return true;
    return cap_find(name, &cap) == 0;
}

static int read_option(struct trace_request *r, const char *line, size_t *at, struct error *err)
{
    char name[WORD_BYTES], value[WORD_BYTES];
    size_t next = *at;
    if (strncmp(line + next, "--", 2) != 0)
        return error_set(err, ERR_USAGE, "an option is expected here, such as --events 50");
    next += 2;
    if (!take_word(line, &next, name) || (!is_option(name) && strcmp(name, "force") != 0))
        return trace_request_no_option("a trace", trace_request_option, line + *at + 2, err);
    if (strcmp(name, "force") == 0) {
        r->force = true;
        *at = next;
        return 0;
    }
    *at = next + strspn(line + next, BLANKS);
    next = *at;
    if (!line[next] || !take_word(line, &next, value))
        return error_set(err, ERR_USAGE, "--%s needs a value of at most %d bytes", name,
                         WORD_BYTES - 1);
    int rc = set_option(r, name, value, err);
    if (rc == 0 && strcmp(name, "procs") == 0)
        r->procs_at = *at;
    if (rc == 0)
        *at = next;
    return rc;
}

int trace_request_parse(struct trace_request *out, const char *line, size_t *offset,
                        struct error *err)
{
    size_t at = first_option(line), end = trace_request_pattern_end(line);
    out->pattern_at = strspn(line, BLANKS);
    *offset = 0;
    if (end <= out->pattern_at)
        return error_set(err, ERR_USAGE, "a pattern is needed, such as lists:map(_, _) -> return");
    while (line[at]) {
        int rc = read_option(out, line, &at, err);
        *offset = at;
        if (rc != 0) {
            trace_request_clear(out);
            return rc;
        }
        at += strspn(line + at, BLANKS);
    }
    size_t len = end - out->pattern_at;
    out->pattern = alloc_zero(len + 1, 1);
    memcpy(out->pattern, line + out->pattern_at, len);
    return 0;
}

void trace_request_clear(struct trace_request *r)
{
    free(r->pattern);
    free(r->procs);
    r->pattern = r->procs = NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decode.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "beamtop/model/detail.h"

/* Adds to a text of words, with a separator; what does not fit is left out. */
static ATTR_PRINTF(3, 4) void add_words(char *out, size_t size, const char *fmt, ...)
{
    size_t len = strlen(out);
    if (len > 0 && len + 3 < size) {
        memcpy(out + len, "; ", 3);
        len += 2;
    }
    va_list args;
    va_start(args, fmt);
    vsnprintf(out + len, size - len, fmt, args);
    va_end(args);
}

/* ---- preflight */

static bool read_why(struct cursor *c, struct preflight_pattern *p)
{
    struct slice word;
    if (cursor_kind(c) != ETF_KIND_TUPLE) {
        if (!cursor_atom(c, &word))
            return false;
        answer_copy(word, p->why, sizeof p->why);
        return true;
    }
    struct cursor_list list;
    if (!cursor_tuple_of(c, 2))
        return false;
    if (cursor_peek_atom(c, "bad_expression")) {
        snprintf(p->why, sizeof p->why, "bad_expression");
        return cursor_skip(c) && cursor_skip(c);
    }
    if (!cursor_atom_is(c, "arities") || !cursor_list(c, &list))
        return false;
    snprintf(p->why, sizeof p->why, "arities");
    for (size_t i = 0; i < list.count; i++) {
        int64_t arity;
        if (!cursor_list_int64(c, &list, &arity))
            return false;
        size_t len = strlen(p->arities);
        snprintf(p->arities + len, sizeof p->arities - len, "%s%lld", i > 0 ? ", " : "",
                 (long long)arity);
    }
    return cursor_list_end(c, &list);
}

static bool read_matched_functions(struct cursor *c, struct preflight *out,
                                   struct preflight_pattern *p)
{
    struct cursor start = *c;
    if (!cursor_raw(&start, &p->mfas))
        return false;
    struct cursor_list list;
    if (!answer_list(c, &list, 100000))
        return false;
    p->first = out->n_functions;
    out->functions =
        alloc_resize(out->functions, out->n_functions + list.count + 1, sizeof *out->functions);
    for (size_t i = 0; i < list.count; i++) {
        struct preflight_function *f = &out->functions[out->n_functions];
        struct cursor raw = *c;
        if (!cursor_raw(&raw, &f->raw) || !trace_read_mfa(c, &f->mfa))
            return false;
        out->n_functions++;
    }
    p->n = list.count;
    return cursor_list_end(c, &list);
}

static bool read_patterns(struct cursor *c, struct preflight *out, size_t n_patterns)
{
    struct cursor_list list;
    if (!answer_list(c, &list, SIZE_MAX))
        return false;
    if (list.count != n_patterns)
        return cursor_fail(c, "an entry for each pattern");
    for (size_t i = 0; i < list.count; i++) {
        struct preflight_pattern *p = &out->patterns[i];
        uint64_t index = 0;
        if (!cursor_tuple_of(c, 4) || !cursor_uint64(c, &index))
            return false;
        if (index != i)
            return cursor_fail(c, "the patterns in their order");
        if (!read_matched_functions(c, out, p) || !cursor_uint64(c, &p->total) || !read_why(c, p))
            return false;
    }
    out->n_patterns = list.count;
    return cursor_list_end(c, &list);
}

static bool read_procs(struct cursor *c, struct preflight *out)
{
    struct slice why;
    size_t arity = 0;
    if (!cursor_tuple(c, &arity))
        return false;
    if (arity == 3) {
        out->procs = PREFLIGHT_PIDS;
        return cursor_atom_is(c, "pids") &&
               (cursor_kind(c) == ETF_KIND_LIST || cursor_fail(c, "processes")) &&
               cursor_raw(c, &out->procs_raw) && cursor_uint64(c, &out->n_procs);
    }
    if (arity != 2)
        return cursor_fail(c, "processes");
    if (cursor_peek_atom(c, "none")) {
        out->procs = PREFLIGHT_NONE;
        if (!cursor_skip(c) || !cursor_binary(c, &why))
            return false;
        answer_copy(why, out->procs_why, sizeof out->procs_why);
        return true;
    }
    out->procs = PREFLIGHT_WHOLE;
    if (!cursor_peek_atom(c, "all") && !cursor_peek_atom(c, "new") &&
        !cursor_peek_atom(c, "running"))
        return cursor_fail(c, "all, new or running");
    return cursor_raw(c, &out->procs_raw) && cursor_uint64(c, &out->n_procs);
}

static bool is_beamtop(struct slice name)
{
    return slice_is(name, "beamtop");
}

/* The number of `and 12 more`; 0: another text. */
static uint64_t and_more(struct slice word)
{
    char text[40], rest = '\0';
    unsigned long long more = 0;
    answer_copy(word, text, sizeof text);
    return sscanf(text, "and %llu mor%c", &more, &rest) == 2 && rest == 'e' ? more : 0;
}

/* Joins the texts of a list of binaries: those that fit whole, and the number of the others. */
static bool read_words(struct cursor *c, const char *prefix, char *out, size_t size)
{
    struct cursor_list list;
    struct slice word;
    uint64_t left = 0;
    if (!answer_list(c, &list, SIZE_MAX))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!cursor_binary(c, &word))
            return false;
        uint64_t more = and_more(word);
        bool fits = strlen(out) + strlen(prefix) + word.len + sizeof "; and 100000 more; " < size;
        if (more > 0)
            left += more;
        else if (left > 0 || !fits)
            left++;
        else if (*prefix && is_beamtop(word))
            add_words(out, size, "another beamtop");
        else
            add_words(out, size, "%s%.*s", prefix, (int)word.len, word.s);
    }
    if (left > 0)
        add_words(out, size, "%s%llu more", *out ? "and " : "", (unsigned long long)left);
    return cursor_list_end(c, &list);
}

/* Whether the list of names that comes next has one of ours. */
static bool has_beamtop(struct cursor c)
{
    struct cursor_list list;
    struct slice name;
    bool found = false;
    if (!answer_list(&c, &list, SIZE_MAX))
        return false;
    for (size_t i = 0; i < list.count && cursor_binary(&c, &name); i++)
        found = found || is_beamtop(name);
    return found;
}

static bool read_others(struct cursor *c, struct preflight *out)
{
    char texts[sizeof out->others] = "";
    bool ok = cursor_tuple_of(c, 3) && cursor_tuple_of(c, 3) &&
              cursor_uint64(c, &out->breakpoints) && cursor_uint64(c, &out->flags) &&
              read_words(c, "", texts, sizeof texts);
    if (!ok)
        return false;
    if (out->breakpoints > 0)
        add_words(out->others, sizeof out->others, "%llu breakpoint%s",
                  (unsigned long long)out->breakpoints, out->breakpoints == 1 ? "" : "s");
    if (out->flags > 0)
        add_words(out->others, sizeof out->others, "%llu traced process%s",
                  (unsigned long long)out->flags, out->flags == 1 ? "" : "es");
    if (texts[0] != '\0')
        add_words(out->others, sizeof out->others, "%s", texts);
    out->beamtop = has_beamtop(*c);
    if (!read_words(c, "session ", out->others, sizeof out->others) ||
        !cursor_uint64(c, &out->control_word))
        return false;
    if (out->control_word > 0)
        add_words(out->others, sizeof out->others, "trace control word %llu",
                  (unsigned long long)out->control_word);
    return true;
}

/* [] or [{Name, [Near]}] */
static bool read_unknown(struct cursor *c, struct preflight *out)
{
    struct cursor_list list, near;
    struct slice word;
    if (!answer_list(c, &list, SIZE_MAX) || (list.count > 1 && !cursor_fail(c, "one name")))
        return false;
    if (list.count == 1) {
        if (!cursor_tuple_of(c, 2) || !cursor_binary(c, &out->unknown) ||
            !answer_list(c, &near, SIZE_MAX))
            return false;
        for (size_t i = 0; i < near.count; i++) {
            if (!cursor_binary(c, &word))
                return false;
            if (out->n_near < PREFLIGHT_NEAR)
                out->near[out->n_near++] = word;
        }
        if (!cursor_list_end(c, &near))
            return false;
    }
    return cursor_list_end(c, &list);
}

int decode_preflight(struct preflight *out, size_t n_patterns, const uint8_t *term, size_t len,
                     struct error *err)
{
    *out = (struct preflight){0};
    struct cursor c;
    cursor_init(&c, term, len);
    bool ok = cursor_tuple_of(&c, 5) && cursor_atom_is(&c, "preflight") &&
              read_patterns(&c, out, n_patterns) && read_procs(&c, out) && read_others(&c, out) &&
              read_unknown(&c, out);
    int rc = cursor_end(&c, ok, "preflight", err);
    if (rc)
        preflight_clear(out);
    return rc;
}

void preflight_clear(struct preflight *p)
{
    free(p->functions);
    *p = (struct preflight){0};
}

/* ---- armed */

#define SESSIONS 64

struct our_sessions {
    struct slice names[SESSIONS];
    size_t n;
};

static bool is_ours(const struct our_sessions *ours, struct slice session)
{
    if (session.len == 0)
        return true;
    for (size_t i = 0; i < ours->n; i++)
        if (slice_equal(ours->names[i], session))
            return true;
    return false;
}

static bool read_sessions(struct cursor *c, struct our_sessions *ours)
{
    struct cursor_list list;
    if (!answer_list(c, &list, SIZE_MAX))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        struct slice name;
        bool is_ours = false;
        if (!cursor_tuple_of(c, 2) || !cursor_binary(c, &name) || !cursor_bool(c, &is_ours))
            return false;
        if (is_ours && ours->n < SESSIONS)
            ours->names[ours->n++] = name;
    }
    return cursor_list_end(c, &list);
}

/* Reads {Total, [{Session, …}]}, entries of `arity` elements. *out: those of beamtop, at most. */
static bool read_entries(struct cursor *c, size_t arity, const struct our_sessions *ours,
                         uint64_t *out)
{
    uint64_t total = 0;
    struct cursor_list list;
    if (!cursor_tuple_of(c, 2) || !cursor_uint64(c, &total) || !answer_list(c, &list, SIZE_MAX))
        return false;
    uint64_t others = 0;
    for (size_t i = 0; i < list.count; i++) {
        struct slice session;
        if (!cursor_tuple_of(c, arity) || !cursor_binary(c, &session))
            return false;
        others += is_ours(ours, session) ? 0 : 1;
        for (size_t field = 1; field < arity; field++)
            if (!cursor_skip(c))
                return false;
    }
    /* Entries beyond the list count as beamtop's: the check must miss none. */
    *out = total > others ? total - others : 0;
    return cursor_list_end(c, &list);
}

/* [Text], of which "system_monitor <0.5.0> NAME [Option]" may be a beamtop's. */
static bool read_monitors(struct cursor *c, struct armed *out)
{
    static const char monitor[] = "system_monitor ";
    const size_t skipped = sizeof monitor - 1;
    struct cursor_list list;
    struct slice text;
    if (!answer_list(c, &list, SIZE_MAX))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!cursor_binary(c, &text))
            return false;
        if (text.len > skipped && memcmp(text.s, monitor, skipped) == 0)
            out->system_monitor |=
                armed_is_beamtop((struct slice){text.s + skipped, text.len - skipped});
    }
    return cursor_list_end(c, &list);
}

int armed_decode(struct armed *out, const uint8_t *term, size_t len, struct error *err)
{
    *out = (struct armed){0};
    struct cursor c;
    struct our_sessions ours = {0};
    struct slice tracer = {"", 0};
    int64_t mono;
    cursor_init(&c, term, len);
    size_t arity = 0;
    bool ok = cursor_tuple(&c, &arity) && arity >= 10 && cursor_atom_is(&c, "armed") &&
              cursor_int64(&c, &mono) && cursor_uint64(&c, &out->control_word) &&
              read_sessions(&c, &ours) && read_entries(&c, 5, &ours, &out->breakpoints) &&
              read_entries(&c, 5, &ours, &out->flags) && read_monitors(&c, out) &&
              cursor_uint64(&c, &out->processes) && cursor_binary(&c, &tracer) &&
              cursor_uint64(&c, &out->tokens);
    for (size_t i = 10; ok && i < arity; i++)
        ok = cursor_skip(&c);
    out->system_tracer = armed_is_beamtop(tracer);
    out->sessions = ours.n;
    return cursor_end(&c, ok, "armed", err);
}

/* ---- count, arm */

static void print_reason(const uint8_t *bytes, size_t len, char *out, size_t size)
{
    struct buf text;
    buf_init(&text, size);
    print_term(&text, bytes, len, &(struct print_limits){.depth = 6, .items = 8, .bytes = size});
    snprintf(out, size, "%s", buf_cstr(&text));
    buf_clear(&text);
}

static void put_binary_reason(struct cursor *c, const char *before, const char *after, char *out,
                              size_t size)
{
    struct slice s;
    if (cursor_binary(c, &s))
        snprintf(out, size, "%s%.*s%s", before, (int)(s.len < 200 ? s.len : 200), s.s, after);
}

/* A dry run reports this too, before it asks for consent. */
#define WORD_IN_USE                                                                                \
    "the trace control word is %llu, so another tool uses it. If none does: "                      \
    "erlang:system_flag(trace_control_word, 0)"
#define REFUSED_IN_USE                                                                             \
    "another tool is tracing this node (%s). Before OTP 27 only one tool can trace: stop it first"
#define BEAMTOP_THERE "another beamtop traces this node: stop that trace first"

bool preflight_refuses(const struct preflight *p, bool shared, struct error *err)
{
    if (p->beamtop)
        error_set(err, ERR_REFUSED, BEAMTOP_THERE);
    else if (p->control_word > 0)
        error_set(err, ERR_REFUSED, WORD_IN_USE, (unsigned long long)p->control_word);
    else if (shared && p->others[0] != '\0')
        error_set(err, ERR_REFUSED, REFUSED_IN_USE, p->others);
    return err->code != ERR_NONE;
}

static const struct refusal refusals[] = {
    {"busy", "this connection has a trace already"},
    {"no_processes", "none of the chosen processes is alive any more"},
    {"no_functions", "none of the functions is there any more"},
    {"too_many", "too many functions match for roots of spans: narrow the pattern"},
    {"no_keys", NO_DICTIONARY_KEYS},
    {"killed", "a helper process on the node ended before the trace was set: try again"},
    {"session", BEAMTOP_THERE},
    {NULL, NULL},
};

/* The rest of {late, Scheduler, Ms}: flags of all processes would stop the node. */
static void put_late(struct cursor *c, char *out, size_t size)
{
    int64_t scheduler = 0, ms = 0;
    if (!cursor_int64(c, &scheduler) || !cursor_int64(c, &ms))
        return;
    char which[24] = "";
    if (scheduler > 0)
        snprintf(which, sizeof which, " %" PRId64, scheduler);
    snprintf(out, size,
             "%s%s did not answer for %" PRId64 " ms: a NIF or BIF does not yield, and "
             "trace flags for all processes would stop the whole node until it does. Try again "
             "later, or name processes (--procs)",
             scheduler > 0 ? "scheduler" : "a scheduler", which, ms);
}

static const char *refusal_text(const struct refusal *of, struct slice word)
{
    while (of && of->word && !slice_is(word, of->word))
        of++;
    return of ? of->text : NULL;
}

/* {in_use, [Text]}, {control_word, V} and such; the cursor is behind the word. */
static void explain_refusal(struct cursor *c, struct slice word, const struct refusal *own,
                            char *out, size_t size)
{
    const char *text = refusal_text(own, word);
    char texts[280] = "";
    uint64_t n;
    text = text ? text : refusal_text(refusals, word);
    if (text)
        snprintf(out, size, "%s", text);
    else if (slice_is(word, "in_use") && read_words(c, "", texts, sizeof texts))
        snprintf(out, size, REFUSED_IN_USE, texts);
    else if (slice_is(word, "control_word") && cursor_uint64(c, &n))
        snprintf(out, size, WORD_IN_USE, (unsigned long long)n);
    else if (slice_is(word, "late"))
        put_late(c, out, size);
    else if (slice_is(word, "system_tracer"))
        put_binary_reason(c, "another tool is tracing sequentially (system tracer ",
                          "): stop it first", out, size);
    else if (slice_is(word, "tokens") && cursor_uint64(c, &n))
        snprintf(out, size,
                 "%llu processes have a sequential trace token of an application or of another "
                 "tool, which would be cleared at the end. --force captures all the same",
                 (unsigned long long)n);
    else if (slice_is(word, "unknown_atom"))
        put_binary_reason(c, "the node does not know the atom ",
                          ", so nothing there can match it: look at its spelling", out, size);
    else if (slice_is(word, "bad_spec"))
        put_binary_reason(c, "the VM does not take the match specification: ", "", out, size);
}

bool decode_refusal(struct cursor *c, const struct refusal *own, char *out, size_t size,
                    enum err *code)
{
    static const char *const missing[] = {"unknown_atom", "no_processes", "no_functions"};
    struct slice raw, word;
    struct cursor why;
    size_t arity;
    *code = ERR_REFUSED;
    if (!cursor_atom_is(c, "refused") || !cursor_raw(c, &raw))
        return false;
    cursor_init(&why, (const uint8_t *)raw.s, raw.len);
    const bool entered = cursor_kind(&why) != ETF_KIND_TUPLE || cursor_tuple(&why, &arity);
    if (entered && cursor_atom(&why, &word)) {
        explain_refusal(&why, word, own, out, size);
        for (size_t i = 0; i < ARRAY_LEN(missing); i++)
            if (slice_is(word, missing[i]))
                *code = ERR_NOT_FOUND;
    }
    if (out[0] == '\0')
        print_reason((const uint8_t *)raw.s, raw.len, out, size);
    return true;
}

int decode_counted(struct counted *out, const uint8_t *term, size_t len, struct error *err)
{
    *out = (struct counted){0};
    struct cursor c;
    size_t arity = 0;
    struct cursor_list list;
    cursor_init(&c, term, len);
    bool ok = cursor_tuple(&c, &arity);
    if (ok && arity == 2)
        return cursor_end(&c,
                          decode_refusal(&c, NULL, out->refused, sizeof out->refused, &out->code),
                          "count", err);
    ok = ok && (arity == 3 || cursor_fail(&c, "three elements")) && cursor_atom_is(&c, "count") &&
         cursor_uint64(&c, &out->interval_ns) && cursor_list(&c, &list);
    for (size_t i = 0; ok && i < list.count; i++) {
        int64_t n = 0;
        ok = cursor_list_int64(&c, &list, &n);
        out->calls += n > 0 ? (uint64_t)n : 0;
    }
    return cursor_end(&c, ok && cursor_list_end(&c, &list), "count", err);
}

static bool read_clock(struct cursor *c, struct armed_answer *out)
{
    size_t pairs = 0;
    if (!cursor_map(c, &pairs))
        return false;
    for (size_t i = 0; i < pairs; i++) {
        struct slice key;
        bool ok = cursor_atom(c, &key);
        if (ok && slice_is(key, "mono"))
            ok = cursor_int64(c, &out->mono);
        else if (ok && slice_is(key, "wall_us"))
            ok = cursor_int64(c, &out->wall_us);
        else if (ok && slice_is(key, "per_second"))
            ok = cursor_uint64(c, &out->per_second);
        else if (ok && slice_is(key, "session"))
            ok = cursor_bool(c, &out->isolated);
        else if (ok && slice_is(key, "arm_us"))
            ok = cursor_number(c, &out->arm_us);
        else if (ok)
            ok = cursor_skip(c);
        if (!ok)
            return false;
    }
    return out->per_second > 0 || cursor_fail(c, "the clock's unit");
}

int decode_arm(struct armed_answer *out, uint64_t trace_id, const uint8_t *term, size_t len,
               struct error *err)
{
    *out = (struct armed_answer){0};
    struct cursor c;
    size_t arity = 0;
    uint64_t id = 0;
    cursor_init(&c, term, len);
    bool ok = cursor_tuple(&c, &arity);
    if (ok && arity == 2)
        return cursor_end(&c,
                          decode_refusal(&c, NULL, out->refused, sizeof out->refused, &out->code),
                          "arm", err);
    ok = ok && (arity == 3 || cursor_fail(&c, "three elements")) && cursor_atom_is(&c, "armed") &&
         cursor_uint64(&c, &id) && (id == trace_id || cursor_fail(&c, "this trace's number")) &&
         read_clock(&c, out);
    return cursor_end(&c, ok, "arm", err);
}

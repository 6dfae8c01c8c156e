/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events made by hand, as text and as JSON. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/parse.h"
#include "beamtop/output/trace_line.h"
#include "beamtop/output/trace_sink.h"

struct kept {
    struct buf bytes;
    int calls, error;
};

static int keep(void *ctx, const char *bytes, size_t len)
{
    struct kept *k = ctx;
    k->calls++;
    if (k->error != 0)
        return k->error;
    buf_put(&k->bytes, bytes, len);
    return 0;
}

static struct slice slice(const char *s)
{
    return (struct slice){s, strlen(s)};
}

/* A term's bytes without version byte, of the builder that the caller frees. */
static struct kept_term term(struct builder **b, const char *text)
{
    struct error err = {0};
    size_t len;
    *b = builder_new();
    if (etf_parse(*b, text, strlen(text), "a@b", &err) < 0)
        fail_msg("%s: %s", text, err.text);
    const uint8_t *bytes = builder_bytes(*b, &len);
    return (struct kept_term){.bytes = {(const char *)bytes + 1, len - 1}};
}

static struct pattern *new_pattern(const char *source, unsigned actions)
{
    struct pattern *p = calloc(1, sizeof *p);
    p->typed = slice(source);
    p->actions = actions;
    return p;
}

static const struct mfa lookup = {{"ets", 3}, {"lookup", 6}, 2};
static const struct mfa loop = {{"shop cart", 9}, {"loop", 4}, 1};

static struct trace_event an_event(enum event_kind kind)
{
    return (struct trace_event){.kind = kind,
                                .pid = {188, 0, 1},
                                .name = {"cart", 4},
                                .wall_us = 1700000000123456,
                                .mono_ns = -576460000000000000};
}

/* How the event differs from the plain call of ets:lookup/2, and what is written. */
struct row {
    const char *name;
    enum event_kind kind;
    unsigned actions;
    const char *args, *message, *to, *class, *result;
    uint64_t full_bytes, latency_ns;
    bool shown_only, no_receiver, caller, stack;
    unsigned depth;
    const char *text;        /* after the time */
    const char *key, *value; /* of the JSON object, as JSON */
};

/* clang-format off */
static const struct row rows[] = {
    {.name = "call", .args = "[tab, <<\"k\">>]",
     .text = " <0.188.0>(cart)\n% ets:lookup(tab, <<\"k\">>)\n",
     .key = "args", .value = "[\"tab\",\"<<\\\"k\\\">>\"]"},
    {.name = "arguments that travel as a string", .args = "[1,2]",
     .text = " <0.188.0>(cart)\n% ets:lookup(1, 2)\n", .key = "args", .value = "[\"1\",\"2\"]"},
    {.name = "no arguments asked for", .args = "[]",
     .text = " <0.188.0>(cart)\n% ets:lookup/2\n", .key = "args", .value = "null"},
    {.name = "shown values only", .args = "[7]", .shown_only = true,
     .text = " <0.188.0>(cart)\n% ets:lookup/2 show(7)\n", .key = "shown_only", .value = "true"},
    {.name = "a cut list of arguments", .args = "[tab|'...']", .full_bytes = 102400,
     .text = " <0.188.0>(cart)\n% ets:lookup(tab, ...)\n%   truncated: full size 100 KiB\n",
     .key = "full_bytes", .value = "102400"},
    {.name = "arguments that are no list any more", .args = "'...'", .full_bytes = 4096,
     .text = " <0.188.0>(cart)\n% ets:lookup(...)\n%   truncated: full size 4.00 KiB\n",
     .key = "truncated", .value = "true"},
    {.name = "an atom of the program is no mark of a cut", .args = "[tab, '...']",
     .text = " <0.188.0>(cart)\n% ets:lookup(tab, '...')\n",
     .key = "truncated", .value = "false"},
    {.name = "caller unasked", .args = "[1,2]", .caller = true,
     .text = " <0.188.0>(cart)\n% ets:lookup(1, 2)\n",
     .key = "caller", .value = "\"'shop cart':loop/1\""},
    {.name = "caller, stack and recursion", .args = "[1,2]", .caller = true, .stack = true,
     .actions = TRACE_CALLER | TRACE_STACK, .depth = 1,
     .text = " <0.188.0>(cart)\n% ets:lookup(1, 2)\n%   within 1 call not returned yet\n"
             "%   from 'shop cart':loop/1\n%   'shop cart':loop/1\n%   ets:lookup/2\n",
     .key = "stack", .value = "[\"'shop cart':loop/1\",\"ets:lookup/2\"]"},
    {.name = "return", .result = "{ok, 7}", .latency_ns = 1500000,
     .text = " <0.188.0>(cart) after 1.5 ms\n% ets:lookup/2 -> {ok,7}\n",
     .key = "latency_us", .value = "1500.0"},
    {.name = "exception", .result = "badarg", .class = "error", .latency_ns = 41000,
     .text = " <0.188.0>(cart) after 41 us\n% ets:lookup/2 !! error:badarg\n",
     .key = "kind", .value = "\"exception\""},
    {.name = "an error that was returned is no exception", .result = "{error, badarg}",
     .latency_ns = 41000,
     .text = " <0.188.0>(cart) after 41 us\n% ets:lookup/2 -> {error,badarg}\n",
     .key = "kind", .value = "\"return\""},
    {.name = "send", .kind = EVENT_SEND, .message = "{add, 1}", .to = "shop_cart",
     .text = " <0.188.0>(cart)\n% shop_cart <<< {add,1}\n", .key = "to",
     .value = "\"shop_cart\""},
    {.name = "send to nobody", .kind = EVENT_SEND, .message = "hi", .to = "<0.9.0>",
     .no_receiver = true,
     .text = " <0.188.0>(cart)\n% <0.9.0> <<< hi\n%   no receiver\n",
     .key = "no_receiver", .value = "true"},
    {.name = "receive", .kind = EVENT_RECEIVE, .message = "{'$gen_call', x}",
     .text = " <0.188.0>(cart)\n% <<< {'$gen_call',x}\n", .key = "message",
     .value = "\"{'$gen_call',x}\""},
    {.name = "what could steer a terminal", .kind = EVENT_RECEIVE, .message = "'\\e[2J'",
     .text = " <0.188.0>(cart)\n% <<< '\\e[2J'\n", .key = "message", .value = "\"'\\\\e[2J'\""},
};
/* clang-format on */

static void fill(struct trace_event *e, const struct row *row, struct builder *b[4])
{
    static const struct mfa stack[2] = {{{"shop cart", 9}, {"loop", 4}, 1},
                                        {{"ets", 3}, {"lookup", 6}, 2}};
    *e = an_event(row->kind);
    e->mfa = lookup;
    if (row->args)
        e->args = term(&b[0], row->args);
    if (row->message)
        e->message = term(&b[1], row->message);
    if (row->to)
        e->to = term(&b[2], row->to);
    e->args.full_bytes = row->full_bytes;
    e->shown_only = row->shown_only;
    e->no_receiver = row->no_receiver;
    e->depth = row->depth;
    if (row->caller)
        e->caller = loop;
    if (row->stack) {
        e->stack = stack;
        e->n_stack = ARRAY_LEN(stack);
    }
    if (row->result)
        e->outcome = OUTCOME_OPEN;
}

/* A log with the row's event as its only one, finished when the row has a result. */
static struct trace_log *log_of(const struct row *row, const struct pattern *p)
{
    struct builder *b[4] = {0};
    struct trace_event e;
    struct trace_log *log = trace_log_new(100, 1000000);
    trace_log_add_pattern(log, p);
    fill(&e, row, b);
    e.id = 1;
    trace_log_add(log, &e);
    if (row->result) {
        struct kept_term result = term(&b[3], row->result);
        trace_log_finish(log, 1, row->class ? OUTCOME_EXCEPTION : OUTCOME_RETURN,
                         slice(row->class ? row->class : ""), &result,
                         e.mono_ns + (int64_t)row->latency_ns);
    }
    for (size_t i = 0; i < ARRAY_LEN(b); i++)
        builder_free(b[i]);
    return log;
}

static struct trace_sink sink_on(struct kept *k, enum sink_format format)
{
    const struct sink_writer writer = {keep, k};
    const struct trace_sink_options options = {.format = format, .node = "mq1@host", .ascii = true};
    buf_init(&k->bytes, 0);
    return (struct trace_sink){.output.writer = writer, .options = options};
}

static void written(struct kept *k, enum sink_format format, const struct trace_log *log,
                    const struct row *row)
{
    struct error err = {0};
    struct trace_sink on = sink_on(k, format), *s = &on;
    if (trace_sink_event(s, log, trace_log_at(log, 0), row->result != NULL, &err) != 0)
        fail_msg("%s: %s", row->name, err.text);
    assert_int_equal(k->calls, 1);
}

TEST(test_events_as_text)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kept k = {0};
        struct pattern *p = new_pattern("ets:lookup/2", rows[i].actions);
        struct trace_log *log = log_of(&rows[i], p);
        written(&k, SINK_TEXT, log, &rows[i]);
        const char *text = buf_cstr(&k.bytes), *at = strstr(text, rows[i].text);
        if (strncmp(text, "\n% 22:13:20.", 12) != 0 || !at || strcmp(at, rows[i].text) != 0)
            fail_msg("%s: “%s” where “%s” should end it", rows[i].name, text, rows[i].text);
        buf_clear(&k.bytes);
        trace_log_free(log);
        free(p);
    }
}

static json_t *parsed(struct buf *b, const char *name)
{
    json_error_t error;
    const char *text = buf_cstr(b);
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!j || strchr(text, '\n') != text + b->len - 1)
        fail_msg("%s: %s: %s", name, error.text, text);
    return j;
}

TEST(test_events_as_json)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kept k = {0};
        struct pattern *p = new_pattern("ets:lookup/2", rows[i].actions);
        struct trace_log *log = log_of(&rows[i], p);
        written(&k, SINK_JSON, log, &rows[i]);
        json_t *j = parsed(&k.bytes, rows[i].name), *value = json_object_get(j, rows[i].key);
        char *found = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        if (!found || strcmp(found, rows[i].value) != 0)
            fail_msg("%s: %s is %s, not %s", rows[i].name, rows[i].key, found, rows[i].value);
        free(found);
        assert_string_equal(json_string_value(json_object_get(j, "schema")), "beamtop.trace/2");
        assert_string_equal(json_string_value(json_object_get(j, "node")), "mq1@host");
        assert_string_equal(json_string_value(json_object_get(j, "pid")), "<0.188.0>");
        assert_string_equal(json_string_value(json_object_get(j, "pattern")), "ets:lookup/2");
        assert_int_equal(json_integer_value(json_object_get(j, "mono_ns")),
                         -576460000000000000 + (int64_t)rows[i].latency_ns);
        json_decref(j);
        buf_clear(&k.bytes);
        trace_log_free(log);
        free(p);
    }
}

/* What a reader with doubles for numbers can tell apart: 1 µs at the clock of a node. */
TEST(test_times_in_doubles)
{
    struct error err = {0};
    struct kept k = {0};
    const struct sink_writer writer = {keep, &k};
    const struct trace_sink_options options = {.format = SINK_JSON, .node = "mq1@host"};
    struct trace_sink on = {.output.writer = writer, .options = options}, *s = &on;
    for (int i = 0; i < 2; i++) {
        struct trace_line line = {.kind = LINE_SEND, .mono_ns = -576460751234567891 + i * 1001};
        buf_clear(&k.bytes);
        buf_init(&k.bytes, 0);
        assert_int_equal(trace_sink_put_line(s, &line, &err), 0);
        json_t *j = parsed(&k.bytes, "times");
        const json_t *since = json_object_get(j, "since_us");
        assert_true(json_is_number(since));
        assert_true(fabs(json_number_value(since) - i * 1.001) < 1e-9);
        json_decref(j);
    }
    buf_clear(&k.bytes);
}

/* The end of a trace as 0.1.0 wrote it. */
TEST(test_old_keys)
{
    static const char old[] = "{\"reason\":\"not_armed\",\"counters\":{\"cut\":3,\"open\":2},"
                              "\"preflight\":{\"functions_cut\":true,\"dear\":true}}";
    struct trace_ending e;
    struct arena arena;
    struct error err = {0};
    arena_init(&arena);
    assert_int_equal(trace_ending_read(&e, &arena, old, strlen(old), &err), 0);
    assert_true(slice_is(e.reason, "not_started") && !trace_ending_armed(&e));
    assert_true(e.total.counts.cut == 3 && e.total.counts.open == 2);
    assert_true(e.preflight.functions_cut && e.preflight.expensive);
    arena_clear(&arena);
}

/* A whole log: a call with its result, a loss, and the end. */
static struct trace_log *whole(const struct pattern *p)
{
    static const struct row call = {.args = "[1,2]", .result = "[]", .latency_ns = 2000000};
    struct trace_log *log = log_of(&call, p);
    struct trace_event lost = an_event(EVENT_LOST);
    lost.lost = 12;
    lost.at_most = true;
    lost.until_ns = lost.mono_ns + 3000000;
    snprintf(lost.why, sizeof lost.why, "rate");
    trace_log_add(log, &lost);
    const struct trace_function f = {.mfa = lookup, .calls = 1234, .time_us = 5678};
    trace_log_set_functions(log, &f, 1);
    struct trace_state *state = trace_log_state_edit(log);
    state->status.phase = SESSION_ENDED;
    state->end = END_EVENTS;
    snprintf(state->end_text, sizeof state->end_text, "events: 1 of 1");
    caps_init(&state->caps);
    state->total = (struct trace_counts){.calls = 1234,
                                         .calls_known = true,
                                         .seen = 3,
                                         .shown = 1,
                                         .over = 2,
                                         .missed = 12,
                                         .missed_at_most = true};
    state->preflight.calls_per_s = NAN;
    state->status.check = (struct session_check){.done = true, .clean = true, .after_us = 3100};
    return log;
}

TEST(test_a_whole_trace_as_text)
{
    struct kept k = {0};
    struct error err = {0};
    struct pattern *p = new_pattern("ets:lookup/2 -> return;time", TRACE_TIME | TRACE_RETURN);
    struct trace_log *log = whole(p);
    struct trace_sink on = sink_on(&k, SINK_TEXT), *s = &on;
    assert_int_equal(trace_sink_log(s, log, &err), 0);
    assert_string_equal(buf_cstr(&k.bytes),
                        "\n% 22:13:20.123456 <0.188.0>(cart)\n% ets:lookup(1, 2)\n"
                        "\n% 22:13:20.125456 <0.188.0>(cart) after 2.0 ms\n% ets:lookup/2 -> []\n"
                        "\n% 22:13:20.123456 lost: at most 12 not shown (rate, for 3.0 ms)\n"
                        "\n% done, events: 1 of 1\n"
                        "% 1,234 calls, 3 seen, 1 shown, 2 beyond the cap, at most 12 missed\n"
                        "%   p50 2.0 ms, p90 2.0 ms, p99 2.0 ms, max 2.0 ms\n"
                        "%        1,234 :     0.005678 :  0.000005 : ets:lookup/2\n"
                        "% verified after 3.1 ms: nothing left on the node\n");
    buf_clear(&k.bytes);
    trace_log_free(log);
    free(p);
}

static const char *word_at(json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));
    return word ? word : "";
}

TEST(test_the_end_as_json)
{
    struct kept k = {0};
    struct error err = {0};
    struct pattern *p = new_pattern("ets:lookup/2", 0);
    struct trace_log *log = whole(p);
    struct trace_sink on = sink_on(&k, SINK_JSON), *s = &on;
    assert_int_equal(trace_sink_end(s, log, &err), 0);
    json_t *j = parsed(&k.bytes, "end"), *counters = json_object_get(j, "counters");
    json_t *function = json_array_get(json_object_get(j, "functions"), 0);
    json_t *pattern = json_array_get(json_object_get(j, "patterns"), 0);
    assert_string_equal(word_at(j, "kind"), "end");
    assert_string_equal(word_at(j, "reason"), "events");
    assert_string_equal(word_at(j, "reason_text"), "events: 1 of 1");
    assert_true(json_is_null(json_object_get(j, "note")));
    assert_int_equal(json_integer_value(json_object_get(counters, "calls")), 1234);
    assert_true(json_is_true(json_object_get(counters, "missed_at_most")));
    assert_string_equal(word_at(function, "mfa"), "ets:lookup/2");
    assert_int_equal(json_integer_value(json_object_get(function, "time_us")), 5678);
    assert_true(json_real_value(json_object_get(pattern, "max_us")) == 2000.0);
    assert_true(json_is_null(json_object_get(pattern, "calls")));
    assert_true(json_is_null(json_object_get(json_object_get(j, "preflight"), "calls_per_s")));
    assert_true(json_is_true(json_object_get(json_object_get(j, "verification"), "clean")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "caps"), "events")),
                     100);
    json_decref(j);
    buf_clear(&k.bytes);
    trace_log_free(log);
    free(p);
}

/* What the last lines say when it did not end well. */
TEST(test_ends_that_are_not_clean)
{
    static const struct {
        const char *name, *error, *text, *last;
        enum session_phase phase;
        enum trace_end end;
        bool done, unarmed;
    } ends[] = {
        {"refused", "the control word is in use", "", "% done, the control word is in use\n",
         SESSION_FAILED, END_NONE, false, false},
        {"not armed", "", "", "% done, nothing was set\n", SESSION_ASKING, END_NONE, false, false},
        {"stopped before", "", "stopped before it was set", "% done, stopped before it was set\n",
         SESSION_ENDED, END_STOPPED, false, true},
        {"link", "", "link: closed", "% not verified: the node is not there\n", SESSION_ENDED,
         END_LINK, false, false},
        {"left", "", "time: 15 s of 15 s",
         "% LEFT ON THE NODE: 2 breakpoints, 0 flags, "
         "0 processes, 0 sessions, control word 0\n",
         SESSION_ENDED, END_TIME, true, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct kept k = {0};
        struct error err = {0};
        struct trace_log *log = trace_log_new(10, 1000);
        struct trace_state *s = trace_log_state_edit(log);
        s->status.phase = ends[i].phase;
        s->end = ends[i].end;
        snprintf(s->end_text, sizeof s->end_text, "%s", ends[i].text);
        snprintf(s->status.error.text, sizeof s->status.error.text, "%s", ends[i].error);
        s->status.check = (struct session_check){
            .done = ends[i].done, .unarmed = ends[i].unarmed, .breakpoints = 2};
        if (!ends[i].done)
            snprintf(s->status.check.text, sizeof s->status.check.text, "the node is not there");
        struct trace_sink on = sink_on(&k, SINK_TEXT), *sink = &on;
        assert_int_equal(trace_sink_end(sink, log, &err), 0);
        const char *text = buf_cstr(&k.bytes);
        size_t wanted = strlen(ends[i].last);
        if (k.bytes.len < wanted || strcmp(text + k.bytes.len - wanted, ends[i].last) != 0)
            fail_msg("%s: %s", ends[i].name, text);
        buf_clear(&k.bytes);
        trace_log_free(log);
    }
}

TEST(test_a_failed_write_stays)
{
    struct kept k = {.error = EPIPE};
    struct error err = {0};
    struct pattern *p = new_pattern("ets:lookup/2", 0);
    struct trace_log *log = whole(p);
    struct trace_sink on = sink_on(&k, SINK_JSON), *s = &on;
    assert_int_equal(trace_sink_log(s, log, &err), ERR_SYSTEM);
    assert_int_equal(s->output.write_errno, EPIPE);
    assert_int_equal(trace_sink_end(s, log, &err), ERR_SYSTEM);
    assert_int_equal(k.calls, 1);
    trace_log_free(log);
    free(p);
}

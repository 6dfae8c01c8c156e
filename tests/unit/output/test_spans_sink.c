/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Causal spans in each form: captured ones, hostile ones, large ones. Text is compared with the
 * files in tests/unit/output/spans; BEAMTOP_GOLDEN=update writes them. */
#include <errno.h>

#include <jansson.h>

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/model/stacks.h"
#include "beamtop/output/spans_sink.h"
#include "spans_runs.h"

struct kept {
    struct buf bytes;
    int error, writes;
    size_t largest;
};

static int keep(void *ctx, const char *bytes, size_t len)
{
    struct kept *k = ctx;
    k->writes++;
    k->largest = len > k->largest ? len : k->largest;
    if (k->error == 0)
        buf_put(&k->bytes, bytes, len);
    return k->error;
}

static void put(struct kept *k, const struct spans_run *run,
                const struct spans_sink_options *options)
{
    struct sink_output output = {.writer = {keep, k}};
    struct error err = {0};
    *k = (struct kept){0};
    buf_init(&k->bytes, 0);
    if (spans_put(&output, run, options, &err) != 0)
        fail_msg("%s", err.text);
}

/* ---- text */

static void compare(const char *name, struct kept *k)
{
    const char *top = getenv("BEAMTOP_SRCDIR"), *update = getenv("BEAMTOP_GOLDEN");
    bool write = update && strcmp(update, "update") == 0;
    char path[4096], *golden = alloc_zero(1, 1 << 18);
    snprintf(path, sizeof path, "%s/tests/unit/output/spans/%s.txt", top ? top : ".", name);
    FILE *file = fopen(path, write ? "w" : "r");
    if (!file)
        fail_msg("%s: %s", path, strerror(errno));
    if (write)
        assert_int_equal(fwrite(k->bytes.data, 1, k->bytes.len, file), k->bytes.len);
    else if (fread(golden, 1, (1 << 18) - 1, file) == 0 || strcmp(golden, buf_cstr(&k->bytes)) != 0)
        fail_msg("%s differs from:\n%s", path, buf_cstr(&k->bytes));
    fclose(file);
    free(golden);
}

/* No line is wider, and nothing steers a terminal. */
static void check_lines(struct kept *k, size_t columns, bool ascii)
{
    const char *text = buf_cstr(&k->bytes);
    assert_int_equal(strlen(text), k->bytes.len);
    assert_true(text_is_utf8(text, k->bytes.len));
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        if (text_width(text, len) > columns)
            fail_msg("%zu columns: %.*s", text_width(text, len), (int)len, text);
        for (size_t i = 0; i < len; i++)
            assert_true((unsigned char)text[i] >= 0x20 && text[i] != 0x7f &&
                        (!ascii || (unsigned char)text[i] < 0x80));
        text += len + 1;
    }
    assert_null(strstr(buf_cstr(&k->bytes), "\xe2\x80\xae"));
}

TEST(test_text)
{
    static const struct {
        const char *name, *file, *of;
    } rows[] = {
        {"full-chain", "otp27", "full chain"},     {"light-chain", "otp27", "light chain"},
        {"full-task", "otp25", "full task"},       {"full-crash", "otp29", "full crash"},
        {"light-pool", "otp27", "light pool"},     {"full-pool", "otp27", "full pool"},
        {"full-raise", "otp23", "full raise"},     {"light-remote", "otp27", "light remote"},
        {"full-stream", "elixir", "full exstream"}};
    static const size_t widths[] = {80, 120};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t w = 0; w < ARRAY_LEN(widths); w++) {
            bool full = strncmp(rows[i].of, "full", 4) == 0;
            struct spans_run *run = run_read(rows[i].file, rows[i].of, full);
            const struct spans_sink_options options = {.columns = widths[w]};
            struct kept k;
            char name[64];
            put(&k, run, &options);
            check_lines(&k, widths[w], false);
            snprintf(name, sizeof name, "%s-%zu", rows[i].name, widths[w]);
            compare(name, &k);
            buf_clear(&k.bytes);
            spans_run_free(run);
        }
}

/* All captures, narrow and in ASCII. */
TEST(test_text_ascii)
{
    static const char *const of[] = {"full chain", "light cast", "full event", "light remote"};
    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        struct spans_run *run = run_read("otp29", of[i], of[i][0] == 'f');
        struct kept k;
        for (size_t columns = 60; columns < 200; columns += 7) {
            put(&k, run, &(struct spans_sink_options){.columns = columns, .ascii = true});
            check_lines(&k, columns, true);
            buf_clear(&k.bytes);
        }
        spans_run_free(run);
    }
}

static void expect_in(struct kept *k, const char *text)
{
    if (!strstr(buf_cstr(&k->bytes), text))
        fail_msg("no '%s' in:\n%s", text, buf_cstr(&k->bytes));
}

TEST(test_text_of_little_and_much)
{
    struct kept k;
    struct spans_run *run = run_new(false);
    put(&k, run, &(struct spans_sink_options){0});
    expect_in(&k, "no roots: no call of the patterns was captured\n");
    buf_clear(&k.bytes);
    spans_run_free(run);
    run = run_large(60, 3);
    run->skipped = 1234;
    put(&k, run, &(struct spans_sink_options){.slower_ns = INT64_C(3000000000)});
    expect_in(&k, "no root took 3.0 s or more\n");
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.rows = 3});
    check_lines(&k, 100, false);
    expect_in(&k, "1,234 skipped");
    expect_in(&k, "\n10 more\n");
    expect_in(&k, "\n3. m:f/1, ");
    assert_null(strstr(buf_cstr(&k.bytes), "\n4. m:f/1"));
    expect_in(&k, "critical paths of 60 roots: median 305 µs, p99 305 µs\n");
    buf_clear(&k.bytes);
    spans_run_free(run);
    run = run_large(1, 400);
    put(&k, run, &(struct spans_sink_options){0});
    expect_in(&k, "\n  … 201 more spans\n");
    buf_clear(&k.bytes);
    spans_run_free(run);
}

/* ---- forms for programs */

static json_t *parsed(const char *text)
{
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    if (!root)
        fail_msg("%s", error.text);
    return root;
}

static void check_bytes(struct kept *k)
{
    assert_true(text_is_utf8((const char *)k->bytes.data, k->bytes.len));
    for (size_t i = 0; i < k->bytes.len; i++)
        assert_true(k->bytes.data[i] >= 0x20 || k->bytes.data[i] == '\n');
    assert_null(strstr(buf_cstr(&k->bytes), "\xe2\x80\xae"));
}

static void expect_key(const json_t *object, const char *key, const char *value)
{
    char *found = json_dumps(json_object_get(object, key), JSON_COMPACT | JSON_ENCODE_ANY);
    if (!found || strcmp(found, value) != 0)
        fail_msg("%s: %s", key, found ? found : "none");
    free(found);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("%s is not a number", key);
    return json_number_value(value);
}

/* The parts of each span add up to its duration; children begin in the tree of their root. */
static size_t check_span(const json_t *span, const json_t *parent, bool full)
{
    const json_t *children = json_object_get(span, "children");
    size_t i, n = 1;
    json_t *child;
    assert_int_equal(json_string_length(json_object_get(span, "trace_id")), 32);
    assert_int_equal(json_string_length(json_object_get(span, "span_id")), 16);
    if (!parent)
        expect_key(span, "parent_span_id", "null");
    else
        assert_true(json_equal(json_object_get(span, "parent_span_id"),
                               json_object_get(parent, "span_id")));
    assert_int_equal(json_string_length(json_object_get(span, "started_at")), 27);
    if (json_is_true(json_object_get(span, "leaf"))) {
        expect_key(span, "self_us", "null");
    } else {
        double sum = number(span, "self_us") + number(span, "wait_us");
        if (full)
            sum += number(span, "unattributed_us") + number(span, "off_cpu_us");
        else
            expect_key(span, "unattributed_us", "null");
        assert_true(sum - number(span, "duration_us") < 0.01 &&
                    number(span, "duration_us") - sum < 0.01);
    }
    json_array_foreach (children, i, child)
        n += check_span(child, span, full);
    return n;
}

TEST(test_json)
{
    for (unsigned full = 0; full < 2; full++) {
        struct spans_run *run = run_read("otp27", full ? "full chain" : "light chain", full);
        struct kept k;
        put(&k, run, &(struct spans_sink_options){.format = SPANS_JSON});
        check_bytes(&k);
        json_t *root = parsed(buf_cstr(&k.bytes));
        const json_t *first = json_array_get(json_object_get(root, "roots"), 0), *step;
        expect_key(root, "schema", "\"beamtop.spans/2\"");
        expect_key(root, "node", "\"shop@host\"");
        expect_key(root, "full", full ? "true" : "false");
        expect_key(root, "ended_by", "\"time\"");
        expect_key(root, "calls_per_s", "null");
        expect_key(first, "kind", "\"root\"");
        expect_key(first, "operation", "\"wl:root/1\"");
        expect_key(first, "waiting_on_name", "\"b\"");
        expect_key(first, "started_at", "\"2023-11-14T22:13:20.123456Z\"");
        assert_int_equal(check_span(first, NULL, full), 3);
        double sum = 0;
        size_t i;
        json_array_foreach (json_object_get(first, "critical_path"), i, step) {
            assert_true(number(step, "offset_us") > sum - 0.01);
            sum += number(step, "duration_us");
        }
        assert_true(sum - number(first, "duration_us") < 0.1 &&
                    number(first, "duration_us") - sum < 0.1);
        assert_true(number(root, "p99_us") == number(first, "duration_us"));
        json_decref(root);
        buf_clear(&k.bytes);
        spans_run_free(run);
    }
}

TEST(test_slower)
{
    struct spans_run *run = run_large(3, 2);
    struct kept k;
    run_root(run->spans, 200, INT64_C(90000000), 5, slice_of("m:slow/0"));
    run_build(run);
    const struct spans_sink_options options = {.format = SPANS_JSON, .slower_ns = 400000};
    put(&k, run, &options);
    json_t *root = parsed(buf_cstr(&k.bytes));
    expect_key(root, "slower_us", "400.0");
    expect_key(root, "roots_written", "1");
    expect_key(json_array_get(json_object_get(root, "roots"), 0), "operation", "\"m:slow/0\"");
    assert_int_equal(json_array_size(json_object_get(root, "roots")), 1);
    json_decref(root);
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.slower_ns = 400000});
    expect_in(&k, "1 shown: open, or 400 µs and more\n");
    expect_in(&k, "critical paths of 1 root: ");
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_FOLDED, .slower_ns = 400000});
    expect_in(&k, "m:slow/0;call <0.10.0> ");
    assert_null(strstr(buf_cstr(&k.bytes), "m:f/1"));
    buf_clear(&k.bytes);
    spans_run_free(run);
}

TEST(test_folded)
{
    struct spans_run *run = run_read("otp27", "full chain", true);
    struct kept k;
    put(&k, run, &(struct spans_sink_options){.format = SPANS_FOLDED});
    expect_in(&k, "wl:root/1;call b;call c;WAITING(timer:sleep/1) 15");
    buf_clear(&k.bytes);
    spans_run_free(run);
}

/* Events in time order, each close that of the last open. */
static void check_evented(const json_t *profile, size_t n_frames)
{
    const json_t *events = json_object_get(profile, "events"), *event;
    size_t i, depth = 0;
    double last = 0;
    json_int_t open[LIMIT_SPAN_DEPTH * 4];
    expect_key(profile, "unit", "\"microseconds\"");
    json_array_foreach (events, i, event) {
        json_int_t frame = json_integer_value(json_object_get(event, "frame"));
        const char *type = json_string_value(json_object_get(event, "type"));
        assert_true(frame >= 0 && (size_t)frame < n_frames);
        assert_true(number(event, "at") >= last);
        last = number(event, "at");
        if (strcmp(type, "O") == 0) {
            assert_true(depth < ARRAY_LEN(open));
            open[depth++] = frame;
        } else {
            assert_true(depth > 0 && open[--depth] == frame);
        }
    }
    assert_int_equal(depth, 0);
    assert_true(number(profile, "endValue") >= last);
}

/* Also waits that a span explains, with the function where full mode knows it. */
TEST(test_raw_waits)
{
    static const char *const waits[] = {"WAITING for b", "WAITING(gen:do_call/4) for b"};
    static const enum spans_format forms[] = {SPANS_TEXT, SPANS_FOLDED, SPANS_SPEEDSCOPE,
                                              SPANS_TRACE_EVENT, SPANS_OTLP};
    for (unsigned full = 0; full < 2; full++) {
        struct spans_run *run = run_read("otp27", full ? "full chain" : "light chain", full);
        for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
            struct spans_sink_options options = {.format = forms[i]};
            struct kept k;
            put(&k, run, &options);
            assert_null(strstr(buf_cstr(&k.bytes), waits[full]));
            buf_clear(&k.bytes);
            options.raw_waits = true;
            put(&k, run, &options);
            expect_in(&k, waits[full]);
            buf_clear(&k.bytes);
        }
        spans_run_free(run);
    }
}

TEST(test_speedscope)
{
    static const char *const of[] = {"full chain", "full task", "light remote", "full event"};
    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        struct spans_run *run = run_read("otp27", of[i], of[i][0] == 'f');
        struct kept k;
        put(&k, run, &(struct spans_sink_options){.format = SPANS_SPEEDSCOPE});
        check_bytes(&k);
        json_t *root = parsed(buf_cstr(&k.bytes));
        const json_t *profiles = json_object_get(root, "profiles"), *profile;
        size_t n = json_array_size(json_object_get(json_object_get(root, "shared"), "frames")), p;
        json_array_foreach (profiles, p, profile)
            if (p + 1 < json_array_size(profiles))
                check_evented(profile, n);
            else
                expect_key(profile, "type", "\"sampled\"");
        if (i == 0)
            assert_int_equal(json_array_size(profiles), 4);
        json_decref(root);
        buf_clear(&k.bytes);
        spans_run_free(run);
    }
}

static size_t events_of(const json_t *root, const char *ph)
{
    const json_t *events = json_object_get(root, "traceEvents"), *event;
    size_t i, n = 0;
    json_array_foreach (events, i, event)
        n += strcmp(json_string_value(json_object_get(event, "ph")), ph) == 0;
    return n;
}

TEST(test_trace_event)
{
    struct spans_run *run = run_read("otp27", "full chain", true);
    struct kept k;
    put(&k, run, &(struct spans_sink_options){.format = SPANS_TRACE_EVENT});
    check_bytes(&k);
    json_t *root = parsed(buf_cstr(&k.bytes));
    assert_int_equal(events_of(root, "M"), 4); /* a node, three processes */
    assert_int_equal(events_of(root, "s"), 2);
    assert_int_equal(events_of(root, "f"), 2);
    assert_true(events_of(root, "X") >= 6); /* spans, waits for b, c, sleep */
    expect_in(&k, "\"name\":\"call c\"");
    expect_in(&k, "\"name\":\"WAITING(timer:sleep/1)\"");
    expect_in(&k, "\"name\":\"waiting for b\"");
    json_decref(root);
    buf_clear(&k.bytes);
    spans_run_free(run);
}

static struct system_event large_heap(struct etf_pid pid, int64_t wall_us)
{
    struct system_event e = system_event_unknown;
    e.kind = EVENT_LARGE_HEAP;
    snprintf(e.event, sizeof e.event, "large_heap");
    snprintf(e.who, sizeof e.who, PID_FORMAT, PID_NUMBERS(&pid));
    e.has_pid = true;
    e.pid = pid;
    e.wall_us = wall_us;
    e.words = 300000;
    system_event_complete(&e);
    return e;
}

/* On the row of its process; of a process without a span on a row of others; of another time on
 * none. */
TEST(test_trace_event_with_system_events)
{
    struct spans_run *run = run_read("otp27", "full chain", true);
    const struct span *first = spans_at(run->spans, 0);
    struct kept k;
    size_t i;
    const json_t *event;
    run->wall_us = 1700000000000000;
    const int64_t at_us = spans_run_wall_ns(run, first->started_ns) / 1000;
    const struct etf_pid other = {.id = 99999, .serial = 1, .creation = 1};
    const struct system_event events[] = {
        large_heap(first->process.pid, at_us + 2), large_heap(other, at_us + 3),
        large_heap(first->process.pid, at_us - 10), large_heap(other, at_us + 3600000000),
        large_heap(other, -1)};
    put(&k, run,
        &(struct spans_sink_options){
            .format = SPANS_TRACE_EVENT, .events = events, .n_events = ARRAY_LEN(events)});
    check_bytes(&k);
    json_t *root = parsed(buf_cstr(&k.bytes));
    assert_int_equal(events_of(root, "i"), 2);
    assert_int_equal(events_of(root, "M"), 5); /* and the row of others */
    json_int_t row = 0;
    bool is_first = true;
    json_array_foreach (json_object_get(root, "traceEvents"), i, event) {
        const json_t *cat = json_object_get(event, "cat");
        if (cat && strcmp(json_string_value(cat), "root") == 0)
            row = json_integer_value(json_object_get(event, "tid"));
        if (strcmp(json_string_value(json_object_get(event, "ph")), "i") != 0)
            continue;
        assert_int_equal(json_integer_value(json_object_get(event, "pid")), 1);
        assert_int_equal(json_integer_value(json_object_get(event, "tid")), is_first ? row : 4);
        expect_key(json_object_get(event, "args"), "value", "\"300,000 words\"");
        is_first = false;
    }
    json_decref(root);
    buf_clear(&k.bytes);
    spans_run_free(run);
}

static const json_t *otlp_spans(const json_t *line)
{
    const json_t *resource = json_array_get(json_object_get(line, "resourceSpans"), 0);
    const json_t *scope = json_array_get(json_object_get(resource, "scopeSpans"), 0);
    return json_object_get(scope, "spans");
}

TEST(test_otlp)
{
    struct spans_run *run = run_read("otp27", "full crash", true);
    struct kept k;
    put(&k, run, &(struct spans_sink_options){.format = SPANS_OTLP});
    check_bytes(&k);
    json_t *line = parsed(buf_cstr(&k.bytes));
    const json_t *spans = otlp_spans(line), *root = json_array_get(spans, 0);
    const json_t *crash = json_array_get(spans, 2);
    assert_int_equal(json_array_size(spans), 3);
    assert_null(json_object_get(root, "parentSpanId"));
    assert_null(json_object_get(root, "status"));
    expect_key(root, "name", "\"wl:root/1\"");
    expect_key(root, "kind", "1");
    expect_key(root, "startTimeUnixNano", "\"1700000000123456000\"");
    expect_key(crash, "kind", "2");
    expect_key(crash, "status", "{\"message\":\"exit: boom\",\"code\":2}");
    assert_true(
        json_equal(json_object_get(crash, "parentSpanId"), json_object_get(root, "spanId")));
    json_decref(line);
    buf_clear(&k.bytes);
    /* no wall clock: times are from the first root on */
    run->wall_us = 0;
    put(&k, run, &(struct spans_sink_options){.format = SPANS_OTLP});
    expect_in(&k, "\"startTimeUnixNano\":\"0\"");
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_JSON});
    expect_in(&k, "\"started_at\":null");
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_TEXT, .columns = 80});
    expect_in(&k, ", –\n");
    buf_clear(&k.bytes);
    spans_run_free(run);
}

/* ---- functions within a span */

TEST(test_functions)
{
    struct spans_run *run = run_functions();
    struct kept k;
    put(&k, run, &(struct spans_sink_options){.format = SPANS_TEXT, .columns = 80});
    compare("functions", &k);
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_FOLDED});
    expect_in(&k, "m:f/1;m:outer/1;m:inner/2;call");
    expect_in(&k, ";server:answer/1 70");
    buf_clear(&k.bytes);
    spans_run_free(run);
}

/* ---- samples of the same time */

static uint32_t sampled_stack(struct stacks *stacks, const char *const *names)
{
    uint32_t at = 0;
    for (; *names; names++) {
        const bool native = strncmp(*names, "copy", 4) == 0;
        const struct sample_frame f = {.kind = native ? FRAME_RUNTIME : FRAME_ERLANG,
                                       .name = slice_of(*names)};
        at = stacks_step(stacks, at, stacks_frame(stacks, &f));
    }
    return at;
}

TEST(test_samples)
{
    static const char *const inner[] = {"proc_lib:init/3", "m:inner/2", "l:map/2", NULL};
    static const char *const native[] = {"m:inner/2", "l:\033[1m/2", "copy_struct", NULL};
    static const char *const itself[] = {"m:inner/2", NULL};
    struct spans_run *run = run_functions();
    struct stacks *stacks = stacks_new();
    const struct span *span = spans_at(run->spans, 2);
    const uint64_t id = span->process.pid.id, serial = span->process.pid.serial;
    assert_true(slice_is(span->operation, "m:inner/2"));
    const struct span_sample samples[] = {
        {id, serial, span->started_ns, sampled_stack(stacks, inner)},
        {id, serial, span->started_ns + 1000, sampled_stack(stacks, inner)},
        {id, serial, span->started_ns + 2000, sampled_stack(stacks, native)},
        {id, serial, span->started_ns + 3000, sampled_stack(stacks, itself)},
    };
    assert_int_equal(spans_take_samples(run->spans, stacks, samples, ARRAY_LEN(samples)), 4);
    struct kept k;
    put(&k, run, &(struct spans_sink_options){.format = SPANS_TEXT, .columns = 80});
    check_lines(&k, 80, false);
    expect_in(&k, "on a CPU 4 times: l:map/2 50.0%, in itself 25.0%, l:\uFFFD[1m/2 25.0%\n");
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_FOLDED});
    expect_in(&k, "m:f/1;m:outer/1;m:inner/2;l:map/2 8\n");
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_JSON});
    json_t *line = parsed(buf_cstr(&k.bytes));
    const json_t *root = json_array_get(json_object_get(line, "roots"), 0);
    const json_t *outer = json_array_get(json_object_get(root, "children"), 0);
    expect_key(root, "samples", "[]");
    expect_key(json_array_get(json_object_get(outer, "children"), 0), "samples",
               "[{\"samples\":2,\"stack\":[\"l:map/2\"]},"
               "{\"samples\":1,\"stack\":[]},"
               "{\"samples\":1,\"stack\":[\"l:\\u001B[1m/2\",\"copy_struct\"]}]");
    json_decref(line);
    buf_clear(&k.bytes);
    spans_run_free(run);
}

/* ---- who called a root */

TEST(test_called)
{
    struct spans_run *run = run_called();
    struct kept k;
    put(&k, run, &(struct spans_sink_options){.format = SPANS_TEXT, .columns = 80});
    compare("called", &k);
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_JSON});
    json_t *line = parsed(buf_cstr(&k.bytes));
    const json_t *root = json_array_get(json_object_get(line, "roots"), 0);
    expect_key(root, "callers",
               "[{\"node\":\"shop@host\",\"pid\":\"<0.51.0>\",\"name\":\"Shop.Page\"},"
               "{\"node\":\"shop@host\",\"pid\":\"<0.52.0>\",\"name\":null}]");
    expect_key(root, "opentelemetry",
               "{\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\","
               "\"span_id\":\"00f067aa0ba902b7\"}");
    json_decref(line);
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_OTLP});
    line = parsed(buf_cstr(&k.bytes));
    expect_key(json_array_get(otlp_spans(line), 0), "links",
               "[{\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4736\","
               "\"spanId\":\"00f067aa0ba902b7\"}]");
    expect_in(&k, "{\"key\":\"beam.callers\",\"value\":{\"arrayValue\":{\"values\":["
                  "{\"stringValue\":\"<0.51.0>\"},{\"stringValue\":\"<0.52.0>\"}]}}}");
    json_decref(line);
    buf_clear(&k.bytes);
    spans_run_free(run);
}

/* ---- two nodes */

TEST(test_far)
{
    struct spans_run *run = run_far(true);
    struct kept k;
    put(&k, run, &(struct spans_sink_options){.format = SPANS_TEXT, .columns = 80});
    compare("far", &k);
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_JSON});
    json_t *line = parsed(buf_cstr(&k.bytes));
    const json_t *side = json_array_get(json_object_get(line, "sides"), 0);
    expect_key(side, "node", "\"stock@host\"");
    expect_key(side, "ended_by", "\"stopped\"");
    expect_key(side, "clock_ahead_us", "5000000.0");
    expect_key(side, "clock_within_us", "100.0");
    expect_key(side, "clock_messages_there", "1");
    expect_key(side, "clock_messages_back", "1");
    assert_true(json_is_object(json_object_get(side, "verification")));
    const json_t *child = json_array_get(
        json_object_get(json_array_get(json_object_get(line, "roots"), 0), "children"), 0);
    expect_key(child, "node", "\"stock@host\"");
    expect_key(child, "leaf", "false");
    expect_key(child, "queued_us", "100.0");
    json_decref(line);
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_OTLP});
    line = parsed(buf_cstr(&k.bytes));
    assert_int_equal(json_array_size(json_object_get(line, "resourceSpans")), 2);
    expect_in(&k, "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"stock@host\"}}");
    json_decref(line);
    buf_clear(&k.bytes);
    spans_run_free(run);
    run = run_far(false);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_JSON});
    line = parsed(buf_cstr(&k.bytes));
    expect_key(line, "sides", "[]");
    json_decref(line);
    buf_clear(&k.bytes);
    spans_run_free(run);
}

/* Roots of both nodes: a tree begins on its node, in each form. */
TEST(test_roots_elsewhere)
{
    static const char *const more[] = {
        "5020000000 7 root <0.60.0> - <0.60.0> 0 0 - - 0 m:g/0",
        "5021000000 8 return <0.60.0> - - 0 0 - - 0 -",
    };
    struct spans_run *run = run_new(false), *other = run_new(false);
    spans_free(other->spans);
    other->spans = spans_new(&(struct spans_options){.node = slice_of("stock@host")});
    snprintf(other->node, sizeof other->node, "stock@host");
    other->here.least_ns = other->here.most_ns = INT64_C(5000000000);
    other->roots = 1;
    run_root(run->spans, 100, 1000000, 1, slice_of("m:f/1"));
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        event_feed(other->spans, more[i]);
    run->roots = 1;
    spans_run_join(run, &(const struct spans_run *){other}, 1);
    assert_int_equal(run->roots, 2);
    struct kept k;
    put(&k, run, &(struct spans_sink_options){.format = SPANS_TEXT, .columns = 80});
    expect_in(&k, "with stock@host, OTP 27.3.4, 1 root,");
    expect_in(&k, "m:g/0 on stock@host, 1.0 ms");
    buf_clear(&k.bytes);
    put(&k, run, &(struct spans_sink_options){.format = SPANS_OTLP});
    char *rest, *text = buf_take(&k.bytes);
    size_t lines = 0;
    for (char *at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest), lines++) {
        json_t *line = parsed(at);
        assert_int_equal(json_array_size(json_object_get(line, "resourceSpans")), 1);
        json_decref(line);
    }
    assert_int_equal(lines, 2);
    free(text);
    spans_run_free(other);
    spans_run_free(run);
}

/* ---- hostile names, large runs, failing writes */

TEST(test_hostile)
{
    struct spans_run *run = run_hostile();
    for (enum spans_format format = SPANS_TEXT; format <= SPANS_OTLP; format++) {
        struct kept k;
        put(&k, run, &(struct spans_sink_options){.format = format, .columns = 80});
        check_bytes(&k);
        if (format == SPANS_TEXT) {
            check_lines(&k, 80, false);
        } else if (format == SPANS_FOLDED) {
            expect_in(&k, "<script>a,b\"\\");
        } else {
            char *rest, *text = buf_take(&k.bytes);
            if (format == SPANS_TRACE_EVENT)
                json_decref(parsed(text));
            else
                for (char *at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest))
                    json_decref(parsed(at));
            free(text);
        }
        buf_clear(&k.bytes);
    }
    spans_run_free(run);
}

/* Never more than some pieces at once, however large the whole is. */
TEST(test_pieces)
{
    struct spans_run *run = run_large(140, 39);
    assert_int_equal(spans_count(run->spans), 140 * 40);
    for (enum spans_format format = SPANS_JSON; format <= SPANS_OTLP; format++) {
        struct kept k;
        put(&k, run, &(struct spans_sink_options){.format = format});
        assert_true(k.largest < 3 * SINK_PIECE_BYTES);
        assert_true(format == SPANS_FOLDED || k.writes > 10);
        buf_clear(&k.bytes);
    }
    spans_run_free(run);
}

/* Roots as long as times can be: sums stay in their range. */
TEST(test_extreme)
{
    static const int64_t starts[] = {-(INT64_C(1) << 61), -(INT64_C(1) << 61) + 1, 0};
    struct spans_run *run = run_new(false);
    for (unsigned i = 0; i < ARRAY_LEN(starts); i++) {
        struct span_event e = {.kind = SPAN_EVENT_ROOT,
                               .at_ns = starts[i],
                               .process.pid = run_pid(100 + i),
                               .label = run_pid(100 + i),
                               .text = slice_of("m:f/1")};
        assert_true(spans_feed(run->spans, &e));
        e.kind = SPAN_EVENT_RETURN;
        e.at_ns = INT64_C(1) << 61;
        e.order = 9;
        assert_true(spans_feed(run->spans, &e));
    }
    run_build(run);
    assert_int_equal(run->roots, ARRAY_LEN(starts));
    run->mono_ns = -(INT64_C(1) << 61);
    for (enum spans_format format = SPANS_TEXT; format <= SPANS_OTLP; format++) {
        struct kept k;
        put(&k, run, &(struct spans_sink_options){.format = format});
        check_bytes(&k);
        buf_clear(&k.bytes);
    }
    spans_run_free(run);
}

TEST(test_closed)
{
    struct spans_run *run = run_large(20, 39);
    for (enum spans_format format = SPANS_TEXT; format <= SPANS_OTLP; format++) {
        struct kept k = {.error = EPIPE};
        struct sink_output output = {.writer = {keep, &k}};
        struct error err = {0};
        const struct spans_sink_options options = {.format = format};
        assert_int_equal(spans_put(&output, run, &options, &err), ERR_SYSTEM);
        assert_int_equal(output.write_errno, EPIPE);
        assert_int_equal(k.writes, 1);
    }
    spans_run_free(run);
}

/* Reports: the numbers they tell, what they call a change, hostile text in each format, limits, exports. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "beamtop/base/attr.h"
#include "beamtop/store/export.h"
#include "beamtop/store/summary.h"
#include "made.h"

struct opened {
    struct summary_source sources[8];
    size_t n;
    struct buf text;
};

static void add(struct opened *o, const struct made *w)
{
    struct recording *r = made_open(w);
    o->sources[o->n++] = (struct summary_source){
        .recording = r, .name = recording_info(r)->label, .from = 1, .to = recording_info(r)->ticks};
}

static const char *report_at(struct opened *o, enum summary_format format, bool ascii, int columns)
{
    const struct summary_options options = {.format = format, .columns = columns, .ascii = ascii};
    struct error err = {.code = ERR_NONE};
    buf_reset(&o->text);
    if (summary_write(&o->text, o->sources, o->n, &options, &err) != 0)
        fail_msg("%s", err.text);
    return buf_cstr(&o->text);
}

static const char *report(struct opened *o, enum summary_format format, bool ascii)
{
    return report_at(o, format, ascii, 100);
}

static void done(struct opened *o)
{
    while (o->n > 0)
        recording_close(o->sources[--o->n].recording);
    buf_clear(&o->text);
}

static void assert_says(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("“%s” is not in:\n%s", what, text);
}

static void assert_not(const char *text, const char *what)
{
    if (strstr(text, what))
        fail_msg("“%s” is in:\n%s", what, text);
}

/* ---- one */

static void test_text(void **state)
{
    (void)state;
    struct opened o = {.n = 0};
    add(&o, &made_healthy);
    const char *text = report(&o, SUMMARY_TEXT, false);
    static const char *const lines[] = {
        "mq1@host, OTP 25", "12 s, 13 ticks", "Watching took 0.5 %", "run queue", "gateway_registry", "60.0 %",
        "Elixir.Gateway.Stage:call/2", "██", "[note] 1.38 calls of pipeline stages", "87.0 %"};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_says(text, lines[i]);
    assert_not(text, "[act]");
    text = report(&o, SUMMARY_TEXT, true);
    for (const char *s = text; *s; s++)
        if ((unsigned char)*s >= 0x80)
            fail_msg("beyond ASCII: %.20s", s);
    for (const char *s = text; *s;) {
        size_t len = strcspn(s, "\n");
        if (len > 100)
            fail_msg("a line of %zu: %.*s", len, (int)len, s);
        s += len + (s[len] == '\n');
    }
    done(&o);
}

/* What our own questions call is told as that, where it is much. */
static void test_own_calls(void **state)
{
    (void)state;
    struct opened o = {.n = 0};
    struct made w = made_healthy;
    for (int i = 0; i < 2; i++) {
        add(&o, &w);
        assert_not(report(&o, SUMMARY_TEXT, false), "of the calls are of erl_eval");
    }
    done(&o);
    w.calls[w.n_calls++] = (struct made_call){"orddict", "find", 2, 90000};
    for (int i = 0; i < 2; i++) {
        add(&o, &w);
        assert_not(report(&o, SUMMARY_TEXT, false), "of the calls are of erl_eval");
    }
    done(&o);
    w.calls[w.n_calls++] = (struct made_call){"erl_eval", "expr", 6, 90000};
    for (int i = 0; i < 2; i++) {
        add(&o, &w);
        assert_says(report(&o, SUMMARY_TEXT, false), "of the calls are of erl_eval");
    }
    done(&o);
}

static json_t *parse(struct opened *o)
{
    json_error_t why;
    json_t *root = json_loads(report(o, SUMMARY_JSON, false), 0, &why);
    if (!root)
        fail_msg("%s", why.text);
    return root;
}

/* Half of all reductions are the VM's, for processes that write a file: shares are of the other half. */
static void test_dirty_signals(void **state)
{
    (void)state;
    struct opened o = {.n = 0};
    struct made w = made_healthy;
    w.noise = 0;
    w.busy[0].share = w.busy[1].share = 0.1;
    w.busy[2].share = 0.2;
    w.busy[w.n_busy++] = (struct made_process){
        "<0.2.0>", "undefined", "erts_dirty_process_signal_handler,start,0", "undefined",
        "erts_dirty_process_signal_handler,msg_loop,0", 0.5, 0, 0, 3000, 0};
    add(&o, &w);
    const char *text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "Shares are of the work of programs: 50.0 % of all reductions went to");
    assert_says(text, "logger_std_h_default  40.0 %");
    assert_says(text, "The rest is who is in no row, and what beamtop's own questions took.");
    json_t *root = parse(&o), *row;
    size_t i, seen = 0;
    json_array_foreach(json_object_get(json_object_get(root, "owners"), "module"), i, row) {
        const char *kind = json_string_value(json_object_get(row, "kind"));
        if (!kind || strcmp(kind, "dirty_signals") != 0)
            continue;
        seen++;
        assert_true(json_is_null(json_object_get(row, "share")));
        assert_true(fabs(json_number_value(json_object_get(row, "reductions_per_s")) - 10e6) < 1);
    }
    assert_int_equal(seen, 1);
    json_decref(root);
    add(&o, &made_healthy);
    text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "Shares are of the work of programs: up to 50.0 % of all");
    assert_not(text, "share of module erts_dirty");
    done(&o);
    add(&o, &made_healthy);
    assert_not(report(&o, SUMMARY_TEXT, false), "Shares are of the work of programs");
    done(&o);
}

static double number_at(const json_t *o, const char *a, const char *b)
{
    return json_number_value(json_object_get(json_object_get(o, a), b));
}

/* The same numbers as the recording's own sums, which replay and live output are held against. */
static void test_json(void **state)
{
    (void)state;
    struct opened o = {.n = 0};
    struct span_stats s;
    struct error err = {.code = ERR_NONE};
    const struct span_owner *owners;
    add(&o, &made_healthy);
    json_t *root = parse(&o), *system = json_object_get(root, "system"), *owner, *row;
    assert_string_equal(json_string_value(json_object_get(root, "schema")), "beamtop.report/1");
    assert_int_equal(recording_stats(o.sources[0].recording, "scheduler_use", 1, 13, &s, &err), 0);
    assert_true(fabs(number_at(system, "scheduler_use", "mean") - s.mean) < 1e-6);
    assert_true(fabs(number_at(system, "scheduler_use", "stddev") - s.stddev) < 1e-6);
    assert_true(number_at(system, "memory_total_bytes", "max") == 200e6);
    assert_true(recording_owners(o.sources[0].recording, "module", 1, 13, &owners) > 1);
    assert_true(fabs(number_at(root, "cost", "share") - 0.005) < 1e-6);
    assert_true(number_at(root, "cost", "bytes") == 4096);
    owner = json_array_get(json_object_get(json_object_get(root, "owners"), "module"), 0);
    assert_true(fabs(json_number_value(json_object_get(owner, "share")) - owners[0].share) < 1e-6);
    row = json_array_get(json_object_get(json_object_get(root, "calls"), "functions"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "module")), "Elixir.Gateway.Stage");
    assert_int_equal(json_integer_value(json_object_get(row, "calls")), 12 * 1380);
    assert_true(json_number_value(json_object_get(row, "calls_per_s")) == 1380);
    assert_true(json_array_size(json_object_get(root, "findings")) >= 2);
    assert_int_equal(json_array_size(json_object_get(root, "not_known")), 0);
    json_decref(root);
    done(&o);
}

/* ---- hostile text */

static const struct made *hostile(void)
{
    static struct made w;
    w = made_healthy;
    w.label = "<script>alert(1)</script>\x1b[31m\"'&|`*";
    w.busy[0].name = "'</td><img src=x onerror=y>\\e]0;x\\a|[a](javascript:b)`'";
    w.busy[0].queue_step = 500;
    w.calls[0].module = "<iframe src=\"x\">\x9b\x07";
    w.calls[0].calls = 90000;
    return &w;
}

static void assert_no_control(const char *text)
{
    for (const unsigned char *s = (const unsigned char *)text; *s; s++)
        if ((*s < 0x20 && *s != '\n') || *s == 0x7f || (*s == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0))
            fail_msg("control byte 0x%02x before: %.40s", *s, s + 1);
}

/* Elements are closed in their order, and attributes are only ours. */
static void assert_balanced(const char *html)
{
    char stack[64][16];
    size_t depth = 0;
    const char *s = strstr(html, "<html");
    for (s = s ? s : html; (s = strchr(s, '<')) != NULL; s++) {
        bool closes = s[1] == '/';
        const char *name = s + 1 + closes, *end = strchr(s, '>');
        size_t len = strcspn(name, " />");
        assert_non_null(end);
        if (closes) {
            if (depth == 0 || strncmp(stack[depth - 1], name, len) != 0 || stack[depth - 1][len])
                fail_msg("</%.*s> closes %s", (int)len, name, depth ? stack[depth - 1] : "nothing");
            depth--;
        } else if (end[-1] != '/') {
            assert_true(depth < 64 && len < 16);
            snprintf(stack[depth++], 16, "%.*s", (int)len, name);
        }
    }
    assert_int_equal(depth, 0);
}

static void test_hostile(void **state)
{
    (void)state;
    static const enum summary_format formats[] = {SUMMARY_TEXT, SUMMARY_MARKDOWN, SUMMARY_HTML, SUMMARY_JSON};
    struct opened o = {.n = 0};
    add(&o, hostile());
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < ARRAY_LEN(formats); i++)
            assert_no_control(report(&o, formats[i], false));
        const char *html = report(&o, SUMMARY_HTML, false);
        static const char *const bad[] = {"<script", "<img", "<iframe", "http:", "https:", "url(", "@import"};
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
            assert_not(html, bad[i]);
        assert_says(html, "&lt;script&gt;");
        assert_balanced(html);
        const char *markdown = report(&o, SUMMARY_MARKDOWN, false);
        assert_not(markdown, "[a](javascript");
        for (const char *at = markdown; (at = strchr(at, '<')) != NULL; at++)
            assert_true(at > markdown && at[-1] == '\\');
        json_t *root = parse(&o);
        json_decref(root);
        add(&o, &made_healthy);
    }
    done(&o);
}

/* ---- several */

static const json_t *change(const json_t *root, const char *what)
{
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(root, "changes"), i, c) {
        if (strcmp(json_string_value(json_object_get(c, "what")), what) == 0)
            return c;
    }
    fail_msg("no change of %s", what);
    return NULL;
}

static bool real(const json_t *root, const char *what)
{
    return json_is_true(json_object_get(change(root, what), "more_than_noise"));
}

static struct made sync_logger(void)
{
    struct made w = made_healthy;
    w.label = "sync";
    w.busy[2].share = 0.31;
    w.facts[0].json = "{\"handlers\":[{\"id\":\"default\",\"module\":\"logger_std_h\",\"mode\":\"sync\","
                      "\"sync_mode_qlen\":0,\"drop_mode_qlen\":200,\"flush_qlen\":1000}]}";
    return w;
}

/* What sessions have in common is told once, with the most that it was. */
static void test_found_in_several(void **state)
{
    (void)state;
    struct opened o = {.n = 0};
    struct made sync = sync_logger(), loud = sync_logger();
    loud.label = "a-label.that_is/much:too-long-for-a-column-of-this-table-of-numbers-and-words-and-more";
    loud.busy[2].share = 0.45;
    add(&o, &sync);
    add(&o, &made_healthy);
    add(&o, &loud);
    const char *text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "sync_logger (act: sync,");
    assert_says(text, "45.0 %");
    assert_null(strstr(strstr(text, "sync_logger (act") + 1, "sync_logger (act"));
    /* A name that is too long goes on in the lines below. */
    assert_says(text, "and-more\n");
    text = report(&o, SUMMARY_MARKDOWN, false);
    assert_null(strstr(text, "\n\n\n"));
    done(&o);
}

static const char seven_at_80[] =
    "     session      begun (UTC)\n"
    "  A  sync-1       22:13:21\n"
    "  B  sync-2       22:13:21\n"
    "  C  debug        22:13:21\n"
    "  D  async-1      22:13:21\n"
    "  E  async-2      22:13:21\n"
    "  F  async-calls  22:13:21\n"
    "  G  healthy      22:13:21\n"
    "\n"
    "                             A       B       C       D       E       F       G\n"
    "  duration                 12s     12s     12s     12s     12s     12s     12s\n"
    "  ticks                     13      13      13      13      13      13      13\n"
    "  memory                191MiB  191MiB  191MiB  191MiB  191MiB  191MiB  191MiB\n"
    "  of processes         57.2MiB 57.2MiB 57.2MiB 57.2MiB 57.2MiB 57.2MiB 57.2MiB\n"
    "  of shared binaries   38.1MiB 38.1MiB 38.1MiB 38.1MiB 38.1MiB 38.1MiB 38.1MiB\n";

/* Seven sessions do not fit into 80 columns by their names. */
static void test_seven_at_80_columns(void **state)
{
    (void)state;
    static const char *const labels[] = {"sync-1", "sync-2", "debug", "async-1", "async-2",
                                         "async-calls", "healthy"};
    struct opened o = {.n = 0};
    struct made w = sync_logger();
    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        w = i < 3 ? w : made_healthy;
        w.label = labels[i];
        add(&o, &w);
    }
    const char *text = report_at(&o, SUMMARY_TEXT, true, 80);
    assert_says(text, seven_at_80);
    assert_says(text, "\n  logger_olp (logger)  31.0 %  31.0 %  31.0 %   2.0 %   2.0 %   2.0 %   2.0 %\n");
    for (const char *s = text; *s;) {
        size_t len = strcspn(s, "\n");
        if (len > 80)
            fail_msg("a line of %zu: %.*s", len, (int)len, s);
        s += len + (s[len] == '\n');
    }
    assert_not(report_at(&o, SUMMARY_TEXT, true, 120), "  A  sync-1");
    assert_not(report_at(&o, SUMMARY_MARKDOWN, true, 80), "A  sync-1");
    while (o.n > 2)
        recording_close(o.sources[--o.n].recording);
    text = report_at(&o, SUMMARY_TEXT, true, 80);
    assert_not(text, "  A  sync-1");
    assert_says(text, "  begun (UTC)");
    done(&o);
}

static void test_compared(void **state)
{
    (void)state;
    struct opened o = {.n = 0};
    struct made sync = sync_logger(), other = made_healthy;
    other.label = "again";
    other.use = 0.605; /* less than it varies */
    other.total = 201e6; /* half a percent */
    add(&o, &sync);
    add(&o, &made_healthy);
    add(&o, &other);
    const char *text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "3 recordings compared");
    assert_says(text, "share of module logger_olp");
    assert_says(text, "again, after healthy\nNothing by more than noise.\n");
    assert_says(text, "act 31.0 %");
    assert_says(text, "sync_logger (act: sync): The logger is synchronous");
    json_t *root = parse(&o);
    assert_string_equal(json_string_value(json_object_get(root, "schema")), "beamtop.diff/1");
    assert_int_equal(json_array_size(json_object_get(root, "sessions")), 3);
    assert_true(real(root, "logger_olp"));
    assert_false(real(root, "gateway"));
    json_decref(root);

    recording_close(o.sources[0].recording);
    o.sources[0] = o.sources[1];
    o.sources[1] = o.sources[2];
    o.n = 2;
    root = parse(&o);
    assert_false(real(root, "scheduler_use"));
    assert_false(real(root, "memory_total_bytes"));
    json_decref(root);
    done(&o);
}

static const json_t *call_change(const json_t *root, const char *what, const char *by)
{
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(root, "changes"), i, c) {
        const char *of = json_string_value(json_object_get(c, "by"));
        if (of && strcmp(of, by) == 0 && strcmp(json_string_value(json_object_get(c, "what")), what) == 0)
            return c;
    }
    fail_msg("no change of %s of %s", by, what);
    return NULL;
}

static const struct {
    const char *label;
    double noise;      /* of both sessions */
    int64_t gets, all; /* calls of gateway_registry:get/1 and Elixir.Gateway.Repo:all/2 in the second */
    int windows;
    const char *get, *get_share, *repo; /* "more", "noise", "not known" */
} call_rows[] = {
    {"doubled", 0.1, 1740, 870, 12, "more", "more", "noise"},
    {"within what all calls vary together", 0.1, 920, 870, 12, "noise", "more", "noise"},
    {"the same change, and hardly any noise", 0.001, 920, 870, 12, "more", "more", "noise"},
    {"gone, or not counted", 0.1, 870, 0, 12, "noise", "more", "not known"},
    {"three windows", 0, 1740, 870, 3, "more", "more", "noise"},
    {"two windows", 0, 1740, 870, 2, "not known", "not known", "not known"},
};

static void expect_judged(const char *label, const json_t *c, const char *expected)
{
    const json_t *real = json_object_get(c, "more_than_noise");
    const char *judged = json_is_null(real) ? "not known" : json_is_true(real) ? "more" : "noise";
    if (strcmp(judged, expected) != 0 ||
        json_is_null(json_object_get(c, "noise")) != json_is_null(real))
        fail_msg("%s: %s of %s is judged as %s, not %s", label,
                 json_string_value(json_object_get(c, "by")),
                 json_string_value(json_object_get(c, "what")), judged, expected);
}

static void expect_told(const char *label, const char *text, const char *what, bool told)
{
    if ((strstr(text, what) != NULL) != told)
        fail_msg("%s: “%s” %s in:\n%s", label, what, told ? "is not" : "is", text);
}

/* Functions are compared by how their calls vary between windows. */
static void test_calls_compared(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(call_rows); i++) {
        static const enum summary_format formats[] = {SUMMARY_TEXT, SUMMARY_MARKDOWN, SUMMARY_HTML};
        struct opened o = {.n = 0};
        struct made before = made_healthy, after = made_healthy;
        before.calls_noise = after.calls_noise = call_rows[i].noise;
        after.label = "after";
        after.windows = call_rows[i].windows;
        after.calls[2].calls = call_rows[i].gets;
        after.calls[3].calls = call_rows[i].all;
        if (call_rows[i].all == 0)
            after.calls[3] = after.calls[--after.n_calls];
        add(&o, &before);
        add(&o, &after);
        json_t *root = parse(&o);
        const char *label = call_rows[i].label;
        const json_t *get = call_change(root, "gateway_registry:get/1", "calls_per_s");
        expect_judged(label, get, call_rows[i].get);
        assert_true(fabs(json_number_value(json_object_get(get, "after")) - (double)call_rows[i].gets) < 1);
        if (i == 0) /* 870 ± 87 and 1740 ± 174, six windows each */
            assert_true(fabs(json_number_value(json_object_get(get, "noise")) -
                             3 * sqrt((87 * 87 + 174 * 174) / 11.0)) < 0.01);
        expect_judged(label, call_change(root, "gateway_registry:get/1", "call_share"),
                      call_rows[i].get_share);
        expect_judged(label, call_change(root, "Elixir.Gateway.Repo:all/2", "calls_per_s"),
                      call_rows[i].repo);
        json_decref(root);
        for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
            const char *text = report(&o, formats[f], false);
            if (formats[f] != SUMMARY_MARKDOWN) /* there marks are escaped */
                expect_told(label, text, "calls/s of gateway_registry:get/1",
                            strcmp(call_rows[i].get, "more") == 0);
            if (formats[f] != SUMMARY_TEXT) /* there lines are wrapped */
                expect_told(label, text, " of calls of functions ",
                            strcmp(call_rows[i].repo, "not known") == 0);
        }
        done(&o);
    }
}

/* Each tick of what grows is like the one before, so their number says little of the mean. */
static void test_what_drifts_is_less_certain(void **state)
{
    (void)state;
    struct opened o = {.n = 0};
    struct made one = made_healthy, other = made_healthy;
    one.total_step = other.total_step = 1e6;
    other.label = "again";
    other.total = one.total + 6e6;
    add(&o, &one);
    add(&o, &other);
    json_t *root = parse(&o);
    assert_false(real(root, "memory_total_bytes")); /* by 13 independent ticks it would be */
    json_decref(root);
    done(&o);
}

static const struct {
    const char *text;
    int fails; /* of the sync logger, compared with the healthy; -1: no limit */
    bool nobody; /* of an owner that neither has */
} limits[] = {
    {"run_queue>16", 0, false},
    {"run_queue>0.5", 1, false},
    {"run_queue.max>=1", -1, false},
    {"run_queue.max>0", 1, false},
    {"run_queue.median>0", -1, false},
    {"memory_total_bytes>100MiB", 1, false},
    {"memory_total_bytes>1GiB", 0, false},
    {"memory_total_bytes+10%", 0, false},
    {"memory_total_bytes+10", -1, false},
    {"scheduler_use>50%", 1, false},
    {"scheduler_use<50%", 0, false},
    {"name:logger_std_h_default>30%", 1, false},
    {"name:logger_std_h_default+100%", 1, false},
    {"name:gateway-not-there>1%", 0, true},
    {"name:gateway-not-there<1%", 1, true},
    {"module:gatewa>20%", 0, true},
    {"module:gateway-1%", 0, false},
    {"module:>20%", -1, false},
    {"name:Elixir.Shop.Cart>1%", 1, false},
    {"name:Shop.Cart>1%", 1, false},
    {"name:Cart>1%", 0, true},
    {"finding:act", 1, false},
    {"finding:look", 1, false},
    {"finding:sync_logger", 1, false},
    {"finding:near_limit", 0, false},
    {"finding:none_such", -1, false},
    {"rss_bytes>1", 1, false},
    {"dirty_cpu_use+5%", 0, false},
    {"", -1, false},
    {">", -1, false},
    {"memory", -1, false},
    {"memory_total_bytes>", -1, false},
    {"memory_total_bytes>much", -1, false},
    {"memory_total_bytes>nan", -1, false},
};

static void test_limits(void **state)
{
    (void)state;
    struct opened o = {.n = 0};
    struct made sync = sync_logger();
    sync.busy[1].name = "'Elixir.Shop.Cart'";
    add(&o, &made_healthy);
    add(&o, &sync);
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct summary_limit *l = NULL;
        struct error err = {.code = ERR_NONE};
        struct buf why;
        int rc = summary_limit_parse(&l, limits[i].text, &err);
        if ((rc != 0) != (limits[i].fails < 0))
            fail_msg("“%s”: %d %s", limits[i].text, rc, err.text);
        if (rc != 0)
            continue;
        buf_init(&why, 0);
        bool fails = summary_limit_fails(l, &o.sources[0], &o.sources[1], &why);
        if (fails != (limits[i].fails == 1) || fails != (why.len > 0))
            fail_msg("“%s”: %d, %s", limits[i].text, fails, buf_cstr(&why));
        buf_reset(&why);
        bool nobody = summary_limit_is_of_nobody(l, &o.sources[0], &o.sources[1], &why);
        if (nobody != limits[i].nobody || nobody != (why.len > 0))
            fail_msg("“%s”: %d, %s", limits[i].text, nobody, buf_cstr(&why));
        buf_reset(&why);
        if (summary_limit_is_of_nobody(l, &o.sources[1], &o.sources[1], &why) != limits[i].nobody)
            fail_msg("“%s” in the second alone", limits[i].text);
        buf_clear(&why);
        summary_limit_free(l);
    }
    done(&o);
}

/* ---- exports */

static char *export(struct recording *r, enum export_format format, const char *table)
{
    struct error err = {.code = ERR_NONE};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (recording_export(r, format, table, out, &err) != 0)
        fail_msg("%s", err.text);
    fclose(out);
    return text;
}

/* Shares beside a session with counted calls are smaller for that: it is said where it is so. */
static void test_counted_beside_not(void **state)
{
    (void)state;
    struct opened o = {.n = 0};
    struct made plain = made_healthy;
    plain.n_calls = 0;
    add(&o, &made_healthy);
    add(&o, &made_healthy);
    assert_not(report(&o, SUMMARY_HTML, false), "Calls were counted in");
    add(&o, &plain);
    assert_says(report(&o, SUMMARY_HTML, false), "Calls were counted in 2 of these sessions");
    done(&o);
}

/* A mark before the first tick or behind the last one is in the report of the whole, and in no part's. */
static void test_marks(void **state)
{
    (void)state;
    static const struct {
        int64_t from, to;
        bool first, middle, last;
    } spans[] = {{1, 3, true, true, true}, {1, 1, true, false, false}, {2, 2, false, true, false},
                 {3, 3, false, false, true}};
    const struct recorder_options options = {.node = "mq1@host", .label = "marks", .interval_s = 1};
    struct error err = {.code = ERR_NONE};
    struct recorder *r = NULL;
    struct recording *f = NULL;
    struct model *m = model_new();
    char dir[64], path[80];
    assert_true(temporary_dir(dir, sizeof dir, "marks"));
    snprintf(path, sizeof path, "%s/a.btr", dir);
    assert_int_equal(recorder_open(&r, path, &options, &err), 0);
    recorder_mark(r, 1700000000000000, 1700000000000000, "before");
    for (int i = 1; i <= 3; i++) {
        made_tick(r, m, &made_healthy, i);
        if (i == 2)
            recorder_mark(r, 1700000002000000, 1700000002000000, "between");
    }
    recorder_mark(r, 1700000009000000, 1700000009000000, "behind");
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    assert_int_equal(recording_open(&f, path, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(spans); i++) {
        struct opened o = {.n = 1};
        o.sources[0] = (struct summary_source){.recording = f, .name = "marks", .from = spans[i].from,
                                               .to = spans[i].to};
        const char *text = report(&o, SUMMARY_TEXT, false);
        if (!strstr(text, "UTC: before") == spans[i].first || !strstr(text, "UTC: between") == spans[i].middle ||
            !strstr(text, "UTC: behind") == spans[i].last)
            fail_msg("%lld to %lld: %s", (long long)spans[i].from, (long long)spans[i].to, text);
        buf_clear(&o.text);
    }
    recording_close(f);
    model_free(m);
    made_unlink(path);
    rmdir(dir);
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void test_export(void **state)
{
    (void)state;
    static const struct {
        const char *table;
        size_t lines;
        const char *says;
    } tables[] = {
        {NULL, 14, "1700000001000000,mq1@host,1000,200000000,"},
        {"system", 14, "wall_us,node,uptime_ms,memory_total_bytes"},
        {"processes", 1 + 13 * 4, ",<0.43.0>,logger_std_h_default,kernel,logger_olp:init/1"},
        {"calls", 1 + 12 * 7, ",ets,lookup,2,900,"},
        {"events", 1, "wall_us,node,trace,kind,number,pattern"},
        {"marks", 1, "wall_us,node,text"},
    };
    struct opened o = {.n = 0};
    struct error err = {.code = ERR_NONE};
    add(&o, &made_healthy);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char *text = export(o.sources[0].recording, EXPORT_CSV, tables[i].table);
        assert_int_equal(lines_of(text), tables[i].lines);
        assert_says(text, tables[i].says);
        free(text);
    }
    char *text = export(o.sources[0].recording, EXPORT_OPENMETRICS, NULL);
    assert_says(text, "# TYPE beamtop_run_queue gauge\n");
    assert_says(text, "beamtop_run_queue{node=\"mq1@host\"} 1 1700000001.000000\n");
    assert_says(text, "beamtop_owner_share{node=\"mq1@host\",by=\"module\",owner=\"gateway\"}");
    assert_says(text, "function=\"lookup\",arity=\"2\"} 900 ");
    assert_string_equal(text + strlen(text) - 6, "# EOF\n");
    free(text);
    assert_int_equal(recording_export(o.sources[0].recording, EXPORT_CSV, "none", stdout, &err), ERR_USAGE);
    done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text), cmocka_unit_test(test_own_calls), cmocka_unit_test(test_dirty_signals),
        cmocka_unit_test(test_json), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_what_drifts_is_less_certain),
        cmocka_unit_test(test_compared), cmocka_unit_test(test_calls_compared), cmocka_unit_test(test_seven_at_80_columns), cmocka_unit_test(test_found_in_several),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_marks), cmocka_unit_test(test_counted_beside_not),
        cmocka_unit_test(test_export),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

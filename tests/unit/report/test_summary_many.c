/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of several recordings: what they call a change, how they fit, what limits say. */

#include "../../test.h"
#include "../recording/opened.h"

static const json_t *change(const json_t *root, const char *what, const char *by)
{
    const json_t *c = change_in(root, what, by);
    if (!c)
        fail_msg("no change of %s by %s", what, by ? by : "any measure");
    return c;
}

static bool real(const json_t *root, const char *what)
{
    return json_is_true(json_object_get(change(root, what, NULL), "significant"));
}

static struct made sync_logger(void)
{
    struct made w = made_healthy;
    w.label = "sync";
    w.busy[2].share = 0.31;
    w.facts[0].json =
        "{\"handlers\":[{\"id\":\"default\",\"module\":\"logger_std_h\",\"mode\":\"sync\","
        "\"sync_mode_qlen\":0,\"drop_mode_qlen\":200,\"flush_qlen\":1000}]}";
    return w;
}

/* What recordings have in common is told once, with the most that it was. */
TEST(test_found_in_several)
{
    struct opened o = {0};
    struct made sync = sync_logger(), loud = sync_logger();
    loud.label =
        "a-label.that_is/much:too-long-for-a-column-of-this-table-of-numbers-and-words-and-more";
    loud.busy[2].share = 0.45;
    add(&o, &sync);
    add(&o, &made_healthy);
    add(&o, &loud);
    const char *text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "sync_logger (fix: sync,");
    assert_says(text, "45.0%");
    assert_null(strstr(strstr(text, "sync_logger (fix") + 1, "sync_logger (fix"));
    /* A name that is too long goes on in the lines below. */
    assert_says(text, "and-more\n");
    text = report(&o, SUMMARY_MARKDOWN, false);
    assert_null(strstr(text, "\n\n\n"));
    done(&o);
}

static const char seven_at_80[] = "     recording    begun (UTC)\n"
                                  "  A  sync-1       22:13:21\n"
                                  "  B  sync-2       22:13:21\n"
                                  "  C  debug        22:13:21\n"
                                  "  D  async-1      22:13:21\n"
                                  "  E  async-2      22:13:21\n"
                                  "  F  async-calls  22:13:21\n"
                                  "  G  healthy      22:13:21\n"
                                  "\n"
                                  "               A     B     C     D     E     F     G\n"
                                  "  duration  12 s  12 s  12 s  12 s  12 s  12 s  12 s\n"
                                  "  ticks       13    13    13    13    13    13    13\n";
static const char numbers_at_80[] =
    "\n"
    "The node (means, unless stated)\n"
    "-------------------------------\n"
    "                              A       B       C       D       E       F       G\n"
    "  memory                 191MiB  191MiB  191MiB  191MiB  191MiB  191MiB  191MiB\n"
    "  of processes          57.2MiB 57.2MiB 57.2MiB 57.2MiB 57.2MiB 57.2MiB 57.2MiB\n"
    "  of refc binaries      38.1MiB 38.1MiB 38.1MiB 38.1MiB 38.1MiB 38.1MiB 38.1MiB\n";

/* Seven recordings do not fit into 80 columns by their names. */
TEST(test_seven_at_80_columns)
{
    static const char *const labels[] = {"sync-1",  "sync-2",      "debug",  "async-1",
                                         "async-2", "async-calls", "healthy"};
    struct opened o = {0};
    struct made w = sync_logger();
    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        w = i < 3 ? w : made_healthy;
        w.label = labels[i];
        add(&o, &w);
    }
    const char *text = report_at(&o, SUMMARY_TEXT, true, 80);
    assert_says(text, seven_at_80);
    assert_says(text, numbers_at_80);
    assert_says(text, "\n  logger_olp (logger)  31.0%  31.0%  31.0%   2.0%   2.0%   2.0%   2.0%\n");
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

/* ---- what the node had at the end */

/* clang-format off */
#define NOTHING ", undefined"
#define SETTING(section, item, value, limit)                                                       \
    "{<<\"" section "." item "\">>, <<\"" section "\">>, <<\"" item "\">>, " value ", " limit      \
    NOTHING NOTHING NOTHING NOTHING "}"
#define ETS(name, owner, objects, bytes)                                                           \
    "{<<\"" name "\">>, " name ", <0.41.0>, " owner ", shop, 1, " objects ", " bytes               \
    NOTHING NOTHING NOTHING NOTHING NOTHING NOTHING NOTHING NOTHING NOTHING NOTHING NOTHING        \
    NOTHING NOTHING "}"
#define SOCKETS(state, n)                                                                          \
    "{<<\"rest\">>, <<\"port\">>, <<\"tcp\">>, undefined, <0.41.0>, shop, shop" NOTHING NOTHING    \
    NOTHING NOTHING ", <<\"" state "\">>, " n ", 0, false" NOTHING NOTHING NOTHING NOTHING ", 0, 0"\
    NOTHING NOTHING NOTHING NOTHING "}"
#define TABLE(name, rows, partial) "{" name ", 1000000000, [" rows "], " partial "}"

static const char settings_before[] = TABLE("vm",
    SETTING("versions", "OTP", "<<\"25\">>", "undefined") ","
    SETTING("flags", "+sbwt", "undefined", "undefined") ","
    SETTING("limits", "processes", "<<\"900\">>", "<<\"262,144\">>") ","
    SETTING("limits", "file descriptors", "undefined", "undefined") ","
    SETTING("cgroup", "memory", "<<\"1 GiB\">>", "undefined") ","
    SETTING("cgroup", "CPU quota", "undefined", "undefined") ","
    SETTING("applications", "shop", "<<\"1.0\">>", "undefined"), "false");
static const char settings_after[] = TABLE("vm",
    SETTING("versions", "OTP", "<<\"27\">>", "undefined") ","
    SETTING("limits", "processes", "<<\"900000\">>", "<<\"1,048,576\">>") ","
    SETTING("limits", "file descriptors", "<<\"20\">>", "<<\"1,024\">>") ","
    SETTING("cgroup", "memory", "<<\"1 GiB\">>", "<<\"2.00 GiB\">>") ","
    SETTING("cgroup", "CPU quota", "<<\"none\">>", "undefined") ","
    SETTING("applications", "shop", "<<\"1.0\">>", "undefined") ","
    SETTING("applications", "cowboy", "<<\"2.9\">>", "undefined"), "false");
static const char tables_before[] = TABLE("tables",
    ETS("sessions", "cart", "9000", "10485760") ","
    ETS("names", "cart", "9000", "1000000") ","
    ETS("old", "cart", "2000", "7000"), "false");
static const char tables_after[] = TABLE("tables",
    ETS("sessions", "cart", "9100", "20971520") ","
    ETS("sessions", "cart", "100", "20971520") ","
    ETS("names", "cart", "9000", "2000000"), "false");
/* clang-format on */

static struct made keeps_answers(const char *label, const char *vm, const char *tables)
{
    struct made w = made_healthy;
    w.label = label;
    w.answers[0].kind = ANSWER_VM;
    w.answers[0].term = vm;
    w.answers[1].kind = ANSWER_TABLES;
    w.answers[1].term = tables;
    return w;
}

TEST(test_state_differs)
{
    struct opened o = {0};
    struct made before = keeps_answers("before", settings_before, tables_before);
    struct made after = keeps_answers("after", settings_after, tables_after);
    before.answers[2].kind = after.answers[2].kind = ANSWER_PORTS;
    before.answers[2].term = TABLE("ports", SOCKETS("established", "30"), "false");
    after.answers[2].term =
        TABLE("ports", SOCKETS("established", "31") "," SOCKETS("close_wait", "40"), "false");
    after.answers[3].kind = ANSWER_WAITS;
    after.answers[3].term = TABLE("waits", "", "false");
    add(&o, &before);
    add(&o, &after);
    assert_says(report(&o, SUMMARY_TEXT, true),
                "after, after before: settings\n"
                "                         before      after  change\n"
                "  versions, OTP              25         27\n"
                "  flags, +sbwt              set       none    gone\n"
                "  limits, processes     262,144  1,048,576\n"
                "  cgroup, memory           none   2.00 GiB\n"
                "  applications, cowboy     none        2.9     new\n");
    assert_says(buf_cstr(&o.text), "after, after before: ETS tables and their owners\n"
                                   "                            before     after  change\n"
                                   "  sessions, cart: memory  10.0 MiB  40.0 MiB   +300%\n"
                                   "  old, cart: objects         2.00k         0    gone\n");
    assert_says(buf_cstr(&o.text), "after, after before: ports and sockets\n"
                                   "                           before  after  change\n"
                                   "  tcp, close_wait: number       0     40     new\n");
    assert_says(buf_cstr(&o.text), "Recorded only in after: waits.\n"
                                   "Recorded in neither: holders, terms, Mnesia.\n");
    assert_says(report(&o, SUMMARY_MARKDOWN, true), "| versions, OTP | 25 | 27 |");
    assert_says(report(&o, SUMMARY_HTML, true), "<td>sessions, cart: memory</td>");

    json_t *root = parse(&o), *list = json_object_get(root, "differences");
    assert_int_equal(json_array_size(list), 8);
    const char *of, *what, *key, *was, *is;
    assert_int_equal(json_unpack(json_array_get(list, 0), "{s:s,s:s,s:s,s:s,s:s}", "question", &of,
                                 "what", &what, "key", &key, "before", &was, "after", &is),
                     0);
    assert_string_equal(of, "vm");
    assert_string_equal(what, "versions, OTP");
    assert_string_equal(key, "value");
    assert_string_equal(was, "25");
    assert_string_equal(is, "27");
    assert_int_equal(json_array_size(json_object_get(
                         json_array_get(json_object_get(root, "recordings"), 1), "not_recorded")),
                     3);
    json_decref(root);
    done(&o);
}

/* What is not in a list that is cut short may be there; of an answer in another form nothing is
 * known. */
TEST(test_state_is_unknown)
{
    struct opened o = {0};
    struct made before = keeps_answers("before", settings_before, tables_before);
    struct made after =
        keeps_answers("after", "{vm, 1, [{later}], false}",
                      TABLE("tables", ETS("names", "cart", "9000", "1000000"), "true"));
    add(&o, &before);
    after.answers[0].other = true;
    add(&o, &after);
    const char *text = report(&o, SUMMARY_TEXT, true);
    assert_not(text, "sessions, cart");
    assert_says(text, "after, after before: no noticeable difference\n"
                      "Recorded only in before: settings.\n");
    done(&o);
    add(&o, &made_healthy);
    add(&o, &made_healthy);
    assert_not(report(&o, SUMMARY_TEXT, true), "What the node had at the end");
    done(&o);
}

TEST(test_compared)
{
    struct opened o = {0};
    struct made sync = sync_logger(), other = made_healthy;
    other.label = "again";
    other.use = 0.605;   /* less than it varies */
    other.total = 201e6; /* half a percent */
    add(&o, &sync);
    add(&o, &made_healthy);
    add(&o, &other);
    const char *text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "3 recordings compared");
    assert_says(text, "share of module logger_olp");
    assert_says(text, "again, after healthy\nNo significant change.\n");
    assert_says(text, "fix 31.0%");
    assert_says(text, "sync_logger (fix: sync): Logger logger_std_h_default is");
    json_t *root = parse(&o);
    assert_string_equal(json_string_value(json_object_get(root, "schema")), "beamtop.diff/2");
    assert_int_equal(json_array_size(json_object_get(root, "recordings")), 3);
    assert_true(real(root, "logger_olp"));
    assert_false(real(root, "gateway"));
    json_decref(root);

    recording_close(o.sources[0].recording);
    o.sources[0] = o.sources[1];
    o.sources[1] = o.sources[2];
    o.n = 2;
    root = parse(&o);
    assert_false(real(root, "scheduler_utilisation"));
    assert_false(real(root, "memory_total_bytes"));
    json_decref(root);
    done(&o);
}

static const struct {
    const char *label;
    double noise; /* of both recordings */
    int64_t gets,
        all; /* calls of gateway_registry:get/1 and Elixir.Gateway.Repo:all/2 in the second */
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
    const json_t *real = json_object_get(c, "significant");
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
TEST(test_calls_compared)
{
    for (size_t i = 0; i < ARRAY_LEN(call_rows); i++) {
        static const enum summary_format formats[] = {SUMMARY_TEXT, SUMMARY_MARKDOWN, SUMMARY_HTML};
        struct opened o = {0};
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
        const json_t *get = change(root, "gateway_registry:get/1", "calls_per_s");
        expect_judged(label, get, call_rows[i].get);
        assert_true(
            fabs(json_number_value(json_object_get(get, "after")) - (double)call_rows[i].gets) < 1);
        if (i == 0) /* 870 ± 87 and 1740 ± 174, six windows each */
            assert_true(fabs(json_number_value(json_object_get(get, "noise")) -
                             3 * sqrt((87 * 87 + 174 * 174) / 11.0)) < 0.01);
        expect_judged(label, change(root, "gateway_registry:get/1", "call_share"),
                      call_rows[i].get_share);
        expect_judged(label, change(root, "Elixir.Gateway.Repo:all/2", "calls_per_s"),
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
TEST(test_what_drifts_is_less_certain)
{
    struct opened o = {0};
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

/* Shares beside a recording with counted calls are smaller for that: it is said where it is so. */
TEST(test_counted_beside_not)
{
    struct opened o = {0};
    struct made plain = made_healthy;
    plain.n_calls = 0;
    add(&o, &made_healthy);
    add(&o, &made_healthy);
    assert_not(report(&o, SUMMARY_HTML, false), "Calls were counted in");
    add(&o, &plain);
    assert_says(report(&o, SUMMARY_HTML, false), "Calls were counted in 2 of these recordings");
    done(&o);
    struct made counted = made_healthy; /* what was ours is left out of both */
    plain.own_per_s = counted.own_per_s = 1e6;
    add(&o, &counted);
    add(&o, &plain);
    assert_not(report(&o, SUMMARY_HTML, false), "Calls were counted in");
    assert_says(report(&o, SUMMARY_HTML, false),
                "What beamtop did on the node is left out of all shares");
    add(&o, &made_healthy); /* of an earlier version */
    assert_says(report(&o, SUMMARY_HTML, false),
                "is left out of the shares of 2 of these recordings");
    done(&o);
}

static const struct {
    const char *text;
    int fails;   /* of the sync logger, compared with the healthy; -1: no limit */
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
    {"scheduler_utilisation>50%", 1, false},
    {"scheduler_utilisation<50%", 0, false},
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
    {"finding:fix", 1, false},
    {"finding:look", 1, false},
    {"finding:sync_logger", 1, false},
    {"finding:near_limit", 0, false},
    {"finding:none_such", -1, false},
    {"rss_bytes>1", 1, false},
    {"dirty_cpu_utilisation+5%", 0, false},
    {"", -1, false},
    {">", -1, false},
    {"memory", -1, false},
    {"memory_total_bytes>", -1, false},
    {"memory_total_bytes>much", -1, false},
    {"memory_total_bytes>nan", -1, false},
    {"memory_total_bytes>1e999", -1, false},
    {"memory_total_bytes+inf%", -1, false},
};

TEST(test_limits)
{
    struct opened o = {0};
    struct made sync = sync_logger();
    sync.busy[1].name = "'Elixir.Shop.Cart'";
    add(&o, &made_healthy);
    add(&o, &sync);
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct summary_limit *l = NULL;
        struct error err = {0};
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

/* ---- nodes that were recorded together */

static const char *report_nodes(struct opened *o, enum summary_format format)
{
    const struct summary_options options = {.format = format, .columns = 120, .nodes = true};
    struct error err = {0};
    buf_reset(&o->text);
    if (summary_write(&o->text, o->sources, o->n, &options, &err) != 0)
        fail_msg("%s", err.text);
    return buf_cstr(&o->text);
}

/* Findings of all nodes are one list, with the nodes that have each; who differs is named. */
TEST(test_nodes)
{
    struct opened o = {0};
    struct made one = sync_logger(), two = sync_logger(), busy = made_healthy;
    one.label = "a@h";
    two.label = "b@h";
    two.busy[2].share = 0.45;
    busy.label = "c@h";
    add(&o, &one);
    add(&o, &two);
    add(&o, &busy);
    o.sources[1].clock_begin = "+1.5 ms ± 0.2";
    const char *text = report_nodes(&o, SUMMARY_TEXT);
    assert_says(text, "3 nodes compared");
    assert_says(text, "on 2 of 3 nodes: sync_logger (fix: a@h, b@h)");
    assert_says(text, "in b@h");
    assert_says(text, "+1.5 ms ± 0.2");
    assert_says(text, "What differs");
    assert_null(strstr(strstr(text, "sync_logger (fix") + 1, "sync_logger (fix"));
    assert_null(strstr(text, "after a@h"));
    (void)report_nodes(&o, SUMMARY_JSON);
    json_t *root = json_loads(buf_cstr(&o.text), 0, NULL);
    const json_t *found = json_array_get(json_object_get(root, "findings"), 0);
    assert_string_equal(json_string_value(json_object_get(root, "schema")),
                        "beamtop.nodes_report/1");
    assert_string_equal(json_string_value(json_object_get(found, "rule")), "sync_logger");
    assert_string_equal(json_string_value(json_object_get(found, "of")), "b@h");
    assert_int_equal(json_array_size(json_object_get(found, "nodes")), 2);
    assert_true(json_is_array(json_object_get(root, "spread")));
    json_decref(root);
    done(&o);
}

/* ---- nodes that were recorded twice */

static void summarise_pairs(struct opened *o, enum summary_format format)
{
    static const struct summary_unpaired unpaired[] = {{"d@h", NULL, "not recorded there"},
                                                       {"e@h", "no answer", "is not a recording"}};
    const struct summary_pairs pairs = {"monday", "tuesday", unpaired, ARRAY_LEN(unpaired)};
    const struct summary_options options = {.format = format, .columns = 120, .pairs = &pairs};
    struct error err = {0};
    buf_reset(&o->text);
    if (summary_write(&o->text, o->sources, o->n, &options, &err) != 0)
        fail_msg("%s", err.text);
}

static void add_pair(struct opened *o, const char *node, const struct made *before,
                     const struct made *after)
{
    add(o, before);
    add(o, after);
    o->sources[o->n - 2].name = o->sources[o->n - 1].name = node;
}

static size_t count_nodes(const json_t *list, const char *key, const char *value)
{
    size_t i;
    const json_t *o;
    json_array_foreach (list, i, o)
        if (strcmp(json_string_value(json_object_get(o, key)), value) == 0)
            return json_array_size(json_object_get(o, "nodes"));
    return 0;
}

/* What is new on two nodes is one line, as what is gone on the third; who was recorded once is
 * named. */
TEST(test_pairs)
{
    struct opened o = {0};
    const struct made sync = sync_logger();
    struct made worse = sync_logger();
    worse.busy[2].share = 0.45;
    add_pair(&o, "a@h", &made_healthy, &sync);
    add_pair(&o, "b@h", &made_healthy, &worse);
    add_pair(&o, "c@h", &sync, &made_healthy);
    summarise_pairs(&o, SUMMARY_TEXT);
    const char *text = buf_cstr(&o.text);
    assert_says(text, "3 nodes: tuesday, after monday");
    assert_says(text, "d@h is not compared: not in tuesday: not recorded there");
    assert_says(text, "e@h is not compared: not in monday: no answer; not in tuesday: is not a");
    assert_says(text, "on 2 of 3 nodes: sync_logger (fix: a@h, b@h)");
    assert_says(strstr(text, "Findings that are gone"), "on 1 of 3 nodes: sync_logger (fix: c@h)");
    assert_says(strstr(text, "What changed"), "2 of 3: b@h, a@h");
    assert_says(strstr(text, "What changed"), "1 of 3: c@h");
    summarise_pairs(&o, SUMMARY_JSON);
    json_t *root = json_loads(buf_cstr(&o.text), 0, NULL);
    assert_string_equal(json_string_value(json_object_get(root, "schema")), "beamtop.nodes_diff/1");
    assert_int_equal(json_array_size(json_object_get(root, "nodes")), 3);
    assert_int_equal(json_array_size(json_object_get(root, "not_compared")), 2);
    assert_int_equal(count_nodes(json_object_get(root, "findings"), "change", "new"), 2);
    assert_int_equal(count_nodes(json_object_get(root, "findings"), "change", "gone"), 1);
    assert_int_equal(count_nodes(json_object_get(root, "changes"), "what", "logger_olp"), 2);
    json_decref(root);
    done(&o);
}

/* The same change of a setting on two nodes is one row; a number has the largest change. */
TEST(test_pairs_at_the_end)
{
    struct opened o = {0};
    const struct made before = keeps_answers("before", settings_before, tables_before);
    const struct made after = keeps_answers("after", settings_after, tables_after);
    const struct made other =
        keeps_answers("other", settings_after,
                      TABLE("tables", ETS("sessions", "cart", "9000", "99999999"), "true"));
    add_pair(&o, "a@h", &before, &after);
    add_pair(&o, "b@h", &before, &other);
    add_pair(&o, "c@h", &before, &before);
    summarise_pairs(&o, SUMMARY_TEXT);
    const char *text = strstr(buf_cstr(&o.text), "What the nodes had at the end");
    assert_says(text, "versions, OTP         2 of 3: a@h, b@h       25         27");
    assert_says(text, "sessions, cart: memory  2 of 3: b@h, a@h  10.0 MiB  95.4 MiB   +854%");
    assert_says(text, "old, cart: objects      1 of 3: a@h          2.00k         0    gone");
    assert_says(text, "Not compared, since one of the recordings has no answer: ");
    summarise_pairs(&o, SUMMARY_JSON);
    json_t *root = json_loads(buf_cstr(&o.text), 0, NULL);
    const json_t *differences = json_object_get(root, "differences");
    assert_int_equal(count_nodes(differences, "what", "versions, OTP"), 2);
    assert_int_equal(count_nodes(differences, "what", "old, cart"), 1);
    json_decref(root);
    done(&o);
}

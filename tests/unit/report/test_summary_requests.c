/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captured causal spans in reports, findings and exports. */

#include "../../test.h"
#include "beamtop/recording/export.h"
#include "../recording/opened.h"

static const struct made_requests some = {
    .n = 20, .own = 4, .queued = 2, .served = 10, .slept = 4, .open = 2};

static struct made captured(const struct made_requests *of)
{
    struct made w = made_healthy;
    w.requests = *of;
    return w;
}

TEST(test_one)
{
    static const char *const lines[] = {
        "Where requests wait",
        "20 requests in 1 capture of causal spans, ",
        "events; skipped 3.",
        "request            roots  median    p99    max  outcomes",
        "shop_web:handle/2     20   20 ms  20 ms  20 ms  18 ok, 2 open",
        "Critical path of shop_web:handle/2, mean of 18",
        "process             operation          what                share  a request",
        "shop_db             get                self                50.0%      10 ms",
        "the request itself  shop_web:handle/2  self                20.0%     4.0 ms",
        "the request itself  shop_web:handle/2  wait timer:sleep/1  20.0%     4.0 ms",
        "shop_db             get                queued              10.0%     2.0 ms",
    };
    struct opened o = {0};
    struct made w = captured(&some);
    add(&o, &w);
    const char *text = report(&o, SUMMARY_TEXT, false);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_says(text, lines[i]);
    assert_not(text, "light");
    assert_says(report(&o, SUMMARY_HTML, false), "<td>shop_db</td>");
    assert_says(report(&o, SUMMARY_MARKDOWN, false), "## Where requests wait");
    done(&o);
    w = captured(&(struct made_requests){0});
    add(&o, &w);
    assert_not(report(&o, SUMMARY_TEXT, false), "requests wait");
    done(&o);
}

/* Light mode says what it cannot know. */
TEST(test_light)
{
    struct opened o = {0};
    struct made w = captured(&(struct made_requests){.n = 1, .own = 4, .served = 6, .light = true});
    add(&o, &w);
    const char *text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "1 request in 1 capture");
    assert_says(text, "1 of the captures is light: CPU time, preemption and waits that are not");
    assert_says(text, "request_wait");
    done(&o);
}

/* Captures that there are not, and those that say less than was asked for. */
TEST(test_lost)
{
    struct opened o = {0};
    struct made w = captured(&some);
    w.facts[w.n_facts].key = "spans_lost";
    w.facts[w.n_facts++].json = "{\"captures\":3,\"why\":\"another tool is tracing this node\"}";
    w.requests.end = SPANS_END_QUEUE;
    add(&o, &w);
    const char *text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "3 of 4 captures failed: another tool is tracing this node.");
    assert_says(text, "1 capture ended early: 1 queue.");
    json_t *root = parse(&o);
    const json_t *spans = json_object_get(root, "spans");
    assert_int_equal(json_integer_value(json_object_get(spans, "lost")), 3);
    assert_int_equal(json_integer_value(json_object_get(spans, "ended_early")), 1);
    json_decref(root);
    done(&o);
    w.requests = (struct made_requests){0};
    add(&o, &w);
    assert_says(report(&o, SUMMARY_TEXT, false), "3 of 3 captures failed: another tool");
    done(&o);
    w = captured(&some);
    add(&o, &w);
    text = report(&o, SUMMARY_TEXT, false);
    assert_not(text, "captures failed");
    assert_not(text, "ended early");
    done(&o);
}

TEST(test_json)
{
    struct opened o = {0};
    struct made w = captured(&some);
    add(&o, &w);
    json_t *root = parse(&o);
    const json_t *spans = json_object_get(root, "spans");
    assert_int_equal(json_integer_value(json_object_get(spans, "captures")), 1);
    assert_int_equal(json_integer_value(json_object_get(spans, "light")), 0);
    const json_t *list = json_object_get(spans, "requests");
    assert_int_equal(json_array_size(list), 1);
    const json_t *of = json_array_get(list, 0), *path = json_object_get(of, "path");
    assert_string_equal(json_string_value(json_object_get(of, "operation")), "shop_web:handle/2");
    assert_int_equal(json_integer_value(json_object_get(of, "roots")), 20);
    assert_true(json_real_value(json_object_get(of, "median_us")) == 20000);
    const json_t *outcomes = json_object_get(of, "outcomes");
    assert_int_equal(json_integer_value(json_object_get(outcomes, "open")), 2);
    const json_t *first = json_array_get(path, 0), *second = json_array_get(path, 1);
    assert_string_equal(json_string_value(json_object_get(first, "process")), "shop_db");
    assert_string_equal(json_string_value(json_object_get(first, "kind")), "self");
    assert_true(json_real_value(json_object_get(first, "share")) == 0.5);
    assert_true(json_real_value(json_object_get(first, "mean_us")) == 10000);
    assert_true(json_is_null(json_object_get(second, "process")));
    double sum = 0;
    for (size_t i = 0; i < json_array_size(path); i++)
        sum += json_real_value(json_object_get(json_array_get(path, i), "share"));
    assert_true(fabs(sum - 1) < 1e-9);
    json_decref(root);
    done(&o);
    w = captured(&(struct made_requests){0});
    add(&o, &w);
    root = parse(&o);
    assert_true(json_is_null(json_object_get(root, "spans")));
    json_decref(root);
    done(&o);
}

TEST(test_export)
{
    static const char head[] = "wall_us,node,run,ns,kind,process,name,process_node,peer,peer_name,"
                               "peer_node,root,serial,tag,class,words,text\n";
    static const char *const lines[] = {
        ",root,<0.102.0>,",
        ",send,<0.102.0>,,,<0.7.0>,shop_db,,<0.102.0>,1,call,,5,get\n",
    };
    struct opened o = {0};
    struct error err = {0};
    struct made w = captured(&some);
    char *text = NULL;
    size_t len = 0;
    add(&o, &w);
    FILE *out = open_memstream(&text, &len);
    assert_int_equal(recording_export(o.sources[0].recording, EXPORT_CSV, "span_events", out, &err),
                     0);
    fclose(out);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_says(text, lines[i]);
    assert_int_equal(strncmp(text, head, sizeof head - 1), 0);
    free(text);
    done(&o);
}

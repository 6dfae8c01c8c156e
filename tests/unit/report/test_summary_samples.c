/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of the sampler in reports, comparisons and exports. */

#include "../../test.h"
#include "beamtop/recording/export.h"
#include "../recording/opened.h"

static const struct made_samples of_1000 = {
    .stacks = {{"plm", 600}, {"plhc", 300}, {"pg", 70}, {"n", 20}, {"", 10}},
    .classes = {[SAMPLE_ERLANG] = 600, [SAMPLE_BIF] = 300, [SAMPLE_GC] = 70, [SAMPLE_NIF] = 20}};
static const struct made_samples at_yields = {
    .tick = 4, .at_yields = true, .stacks = {{"plm", 30}, {"pl", 10}}};

static struct made sampled(void)
{
    struct made w = made_healthy;
    w.runs[0] = of_1000;
    return w;
}

static struct made not_sampled(void)
{
    struct made w = made_healthy;
    w.n_runs = 0;
    return w;
}

TEST(test_one)
{
    static const char *const lines[] = {
        "Where the CPU goes",
        "1,000 samples in 1 run of 10 s together at 99 Hz. Lost 2, moved on 0.3%, truncated 0.1%,",
        "Sampling took 20 ms of CPU time, 0.2% of one CPU.",
        "GC          7.0%  ±1.6       70",
        "lists:map/2                                erlang   60.0%  ±3.0  60.0%",
        "copy_struct_x from beam.smp                runtime  30.0%  ±2.8  30.0%",
        "proc_lib:init_p_do_apply/3                 erlang   97.0%  ±1.1   0.0%",
        "<0.123.0>  shop_cart       90   9.0%",
    };
    struct opened o = {0};
    struct made w = sampled();
    add(&o, &w);
    const char *text = report(&o, SUMMARY_TEXT, false);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_says(text, lines[i]);
    assert_not(text, "yields");
    assert_says(report(&o, SUMMARY_HTML, false), "<td>lists:map/2</td>");
    assert_says(report(&o, SUMMARY_MARKDOWN, false), "## Where the CPU goes");
    done(&o);
    w = sampled();
    w.runs[0].took_no_time = true;
    add(&o, &w);
    assert_says(report(&o, SUMMARY_TEXT, false), "Sampling took 20 ms of CPU time.");
    done(&o);
    w = not_sampled();
    add(&o, &w);
    assert_not(report(&o, SUMMARY_TEXT, false), "CPU goes");
    done(&o);
}

/* Of reductions: labelled, and never in a sum with the others. */
TEST(test_at_yields)
{
    struct opened o = {0};
    struct made w = sampled();
    w.runs[w.n_runs++] = at_yields;
    add(&o, &w);
    const char *text = report(&o, SUMMARY_TEXT, false);
    assert_says(text, "1,000 samples in 1 run");
    assert_says(text, "Where reductions go (samples at yields)");
    assert_says(text, "40 samples in 1 run");
    assert_says(text, "shares are of reductions");
    json_t *root = parse(&o);
    const json_t *cpu = json_object_get(root, "samples"),
                 *other = json_object_get(root, "samples_at_yields");
    assert_int_equal(json_integer_value(json_object_get(cpu, "samples")), 1000);
    assert_int_equal(json_integer_value(json_object_get(other, "samples")), 40);
    assert_int_equal(json_array_size(json_object_get(cpu, "classes")), SAMPLE_CLASSES);
    assert_int_equal(json_array_size(json_object_get(other, "classes")), 0);
    const json_t *f = json_array_get(json_object_get(other, "functions"), 0);
    assert_string_equal(json_string_value(json_object_get(f, "function")), "lists:map/2");
    assert_true(json_real_value(json_object_get(f, "self_share")) == 0.75);
    assert_true(fabs(json_real_value(json_object_get(f, "self_error")) - 0.1342) < 0.0001);
    json_decref(root);
    done(&o);
}

/* A share changed when the difference is above three standard errors of two proportions. */
TEST(test_compared)
{
    static const struct {
        double maps, copies; /* of 1000 samples after 600 and 300 of 1000 */
        bool maps_changed, copies_changed;
    } rows[] = {
        {600, 300, false, false}, {650, 250, false, false}, /* 3 · √(0.625 · 0.375 · 2 / 1000) =
                                                               0.065 */
        {530, 370, true, true},   {670, 230, true, true},   {0, 900, true, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct opened o = {0};
        struct made before = sampled(), after = sampled();
        after.label = "after";
        after.runs[0].stacks[0].samples = rows[i].maps;
        after.runs[0].stacks[1].samples = rows[i].copies;
        after.runs[0].classes[SAMPLE_ERLANG] = (int64_t)rows[i].maps;
        after.runs[0].classes[SAMPLE_BIF] = (int64_t)rows[i].copies;
        add(&o, &before);
        add(&o, &after);
        json_t *root = parse(&o);
        const json_t *maps = change_in(root, "lists:map/2", "cpu_self"),
                     *class = change_in(root, "bif", "cpu_class"),
                     *total = change_in(root, "erlang:phash2/1", "cpu_total"),
                     *all = change_in(root, "proc_lib:init_p_do_apply/3", "cpu_total");
        assert_true(json_is_true(json_object_get(maps, "significant")) == rows[i].maps_changed);
        assert_true(json_is_true(json_object_get(class, "significant")) == rows[i].copies_changed);
        assert_true(json_is_true(json_object_get(total, "significant")) == rows[i].copies_changed);
        assert_true(json_is_false(json_object_get(all, "significant")));
        assert_true(fabs(json_number_value(json_object_get(maps, "after")) - rows[i].maps / 1000) <
                    1e-9);
        if (i == 1)
            assert_true(fabs(json_number_value(json_object_get(maps, "noise")) -
                             3 * sqrt(0.625 * 0.375 * 2 / 1000)) < 1e-5);
        json_decref(root);
        const char *text = report(&o, SUMMARY_TEXT, false);
        assert_says(text, "Where the CPU goes");
        (rows[i].maps_changed ? assert_says : assert_not)(text, "CPU time in lists:map/2 (self)");
        (rows[i].copies_changed ? assert_says : assert_not)(text, "CPU time in BIF");
        done(&o);
    }
}

/* Where one has none, or only those at yields, nothing is compared. */
TEST(test_not_compared)
{
    for (int way = 0; way < 2; way++) {
        struct opened o = {0};
        struct made before = sampled(), after = not_sampled();
        after.label = "after";
        if (way == 1)
            after.runs[after.n_runs++] = at_yields;
        add(&o, &before);
        add(&o, &after);
        json_t *root = parse(&o);
        assert_null(change_in(root, "lists:map/2", "cpu_self"));
        assert_null(change_in(root, "lists:map/2", "yields_self"));
        json_decref(root);
        const char *text = report(&o, SUMMARY_TEXT, false);
        assert_says(text, "60.0%");
        assert_not(text, "CPU time in");
        done(&o);
    }
}

TEST(test_export)
{
    static const char head[] =
        "wall_us,node,run,at_yields,id,parent,function,kind,object,file,line,"
        "samples\n"
        "1700000001500000,mq1@host,1,0,0,0,,,,,,10\n";
    struct opened o = {0};
    struct error err = {0};
    struct made w = sampled();
    char *text = NULL;
    size_t len = 0;
    add(&o, &w);
    FILE *out = open_memstream(&text, &len);
    assert_int_equal(recording_export(o.sources[0].recording, EXPORT_CSV, "samples", out, &err), 0);
    fclose(out);
    assert_int_equal(strncmp(text, head, sizeof head - 1), 0);
    assert_says(text, ",1,0,2,1,shop:loop/1,erlang,,shop.erl,42,0\n");
    assert_says(text, ",copy_struct_x,runtime,beam.smp,,,300\n");
    free(text);
    done(&o);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "../../test.h"
#include "answers.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/regex.h"
#include "beamtop/etf/print.h"
#include "beamtop/model/filter.h"
#include "model/internal.h"

static void take(struct filter *f, const char *text, int wanted)
{
    struct term t = term_of(text);
    struct error err = {0};
    int rc = filter_take(f, t.bytes, t.len, &err);
    if (rc != wanted)
        fail_msg("%s: %d %s", text, rc, err.text);
    term_free(&t);
}

static void set(struct filter *f, const char *expression)
{
    struct error err = {0};
    size_t offset;
    if (filter_set(f, expression, &offset, &err) < 0)
        fail_msg("%s: %s", expression, err.text);
}

/* The matching keys of all sets as one text, "name:shop_cart kernel_sup; …". */
static const char *matching(const struct filter *f, char *out, size_t size)
{
    struct buf b;
    const struct filter_maps *maps = filter_maps(f);
    buf_init(&b, 0);
    for (int i = 0; maps && i < FILTER_FIELDS; i++) {
        if (maps->sets[i].n == 0)
            continue;
        buf_printf(&b, "%s:", filter_field_name((enum filter_field)i));
        for (size_t k = 0; k < maps->sets[i].n; k++) {
            buf_puts(&b, " ");
            print_term(&b, (const uint8_t *)maps->sets[i].terms[k].s, maps->sets[i].terms[k].len,
                       &(struct print_limits){0});
        }
        buf_puts(&b, "; ");
    }
    snprintf(out, size, "%s", buf_cstr(&b));
    buf_clear(&b);
    return out;
}

#define LABELS                                                                                     \
    "{scan, 1, 0, 0, 0, 0, 0, [], [{1,{name,shop_cart}},{2,{initial_call,{shop_api,init,1}}},"     \
    "{3,{label,<<\"shop 7\">>}},{4,{application,shop}},{5,{label,{worker,7}}},"                    \
    "{6,{name,kernel_sup}},{7,{current_function,{shop_db,wait,2}}}]}"

TEST(test_what_matches)
{
    static const struct {
        const char *expression, *matching;
        bool pids;
    } rows[] = {
        {"^shop",
         "name: shop_cart; label: <<\"shop 7\">>; initial_call: {shop_api,init,1}; "
         "application: shop; ",
         false},
        {"SHOP", "", false}, /* upper case is meant */
        {"init/1$", "initial_call: {shop_api,init,1}; ", false},
        {"name=shop", "name: shop_cart; ", false},
        {"app=.", "application: shop; ", false},
        {"init=shop", "initial_call: {shop_api,init,1}; ", false},
        {"fn=shop", "current_function: {shop_db,wait,2}; ", false},
        {"label=worker", "label: {worker,7}; ", false},
        {"pid=0.4", "", true},
        {"<0.41", "", true},
        {"7", "label: <<\"shop 7\">> {worker,7}; ", true},
        {"nothing like it", "", false},
    };
    struct filter *f = filter_new();
    char text[512];
    take(f, LABELS, 0);
    assert_int_equal(filter_labels(f), 7);
    assert_null(filter_maps(f));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        print_message("%s\n", rows[i].expression);
        set(f, rows[i].expression);
        assert_string_equal(matching(f, text, sizeof text), rows[i].matching);
        assert_int_equal(filter_maps(f)->pid_pattern != NULL, rows[i].pids);
        assert_int_equal(filter_maps(f)->seq, (int64_t)i + 1);
    }
    set(f, "");
    assert_false(filter_is_on(f));
    set(f, "name=");
    assert_false(filter_is_on(f));
    filter_free(f);
}

TEST(test_current_functions_unasked)
{
    struct filter *f = filter_new();
    char text[512];
    take(f, LABELS, 0);
    filter_set_calls(f, true);
    set(f, "shop_db");
    assert_string_equal(matching(f, text, sizeof text), "current_function: {shop_db,wait,2}; ");
    uint64_t revision = filter_maps(f)->revision;
    filter_set_calls(f, false); /* the node has grown */
    assert_string_equal(matching(f, text, sizeof text), "");
    assert_true(filter_maps(f)->revision > revision);
    set(f, "name=shop");
    filter_set_calls(f, true);
    assert_string_equal(matching(f, text, sizeof text), "name: shop_cart; ");
    filter_free(f);
}

/* The expression stays for another node, as does what marks its matches. */
TEST(test_another_node)
{
    struct filter *f = filter_new();
    size_t from = 0, to = 0;
    char text[512];
    assert_null(filter_regex(f));
    set(f, "name=shop");
    take(f, LABELS, 0);
    uint64_t revision = filter_maps(f)->revision;
    filter_forget(f);
    assert_int_equal(filter_labels(f), 0);
    assert_true(filter_maps(f)->revision > revision);
    assert_string_equal(matching(f, text, sizeof text), "");
    assert_true(regex_find(filter_regex(f), "my shop", 7, &from, &to));
    assert_int_equal(from, 3);
    take(f, LABELS, 0);
    assert_string_equal(matching(f, text, sizeof text), "name: shop_cart; ");
    filter_free(f);
}

/* Too many steps of who marks matches are said as those of names are, once. */
TEST(test_too_expensive_to_mark)
{
    struct filter *f = filter_new();
    set(f, "(a+)+$");
    regex_allow(filter_regex(f), 1);
    assert_false(regex_match(filter_regex(f), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", 32));
    assert_non_null(filter_trouble(f));
    assert_null(filter_trouble(f));
    filter_free(f);
}

TEST(test_labels_come_later_and_again)
{
    struct filter *f = filter_new();
    char text[512];
    set(f, "name=shop");
    uint64_t revision = filter_maps(f)->revision;
    take(f, LABELS, 0);
    assert_string_equal(matching(f, text, sizeof text), "name: shop_cart; ");
    assert_true(filter_maps(f)->revision > revision);
    take(f, LABELS, 0); /* another holder sends them anew */
    assert_int_equal(filter_labels(f), 7);
    revision = filter_maps(f)->revision;
    take(f, "{scan, 1, 0, 0, 0, 0, 0, [], []}", 0);
    assert_true(filter_maps(f)->revision == revision);
    filter_free(f);
}

TEST(test_a_bad_expression_leaves_the_last_one)
{
    struct filter *f = filter_new();
    struct error err = {0};
    size_t offset;
    char text[512];
    take(f, LABELS, 0);
    set(f, "name=shop");
    assert_int_equal(filter_set(f, "name=shop(", &offset, &err), ERR_USAGE);
    assert_int_equal(offset, 10);
    assert_string_equal(matching(f, text, sizeof text), "name: shop_cart; ");
    assert_int_equal(filter_maps(f)->seq, 1);
    filter_free(f);
}

TEST(test_bad_labels_are_refused)
{
    static const char *const bad[] = {
        "{scan, 1, 0, 0, 0, 0, 0, [], [{1,{colour,red}}]}",
        "{scan, 1, 0, 0, 0, 0, 0, [], [{1,{name,red}},{2,{name,7}}]}",
        "{scan, 1, 0, 0, 0, 0, 0, [], [{1,{initial_call,{a,b}}}]}",
        "{scan, 1, 0, 0, 0, 0, 0, [], \"abc\"}",
        "{scan, 1, 0, 0, 0, 0, 0, []}",
        "{scan, 1, 0, 0, 0, 0, 0, [], [{1,{name,red}}|{}]}",
    };
    struct filter *f = filter_new();
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        take(f, bad[i], ERR_FORMAT);
    struct term t = term_of(LABELS);
    for (size_t len = 0; len < t.len; len++) {
        struct error err = {0};
        assert_true(filter_take(f, t.bytes, len, &err) < 0);
    }
    term_free(&t);
    assert_int_equal(filter_labels(f), 0);
    filter_free(f);
}

TEST(test_labels_are_bounded)
{
    struct filter *f = filter_new();
    for (int round = 0; round < 5; round++) {
        struct builder *b = builder_new();
        struct error err = {0};
        size_t len;
        build_tuple(b, 9);
        build_atom(b, "scan");
        for (int i = 0; i < 6; i++)
            build_int(b, 0);
        build_nil(b);
        build_list(b, 5000);
        for (int i = 0; i < 5000; i++) {
            char name[32];
            snprintf(name, sizeof name, "n%d_%d", round, i);
            build_tuple(b, 2);
            build_int(b, i);
            build_tuple(b, 2);
            build_atom(b, "name");
            build_atom(b, name);
        }
        build_nil(b);
        const uint8_t *bytes = builder_bytes(b, &len);
        assert_int_equal(filter_take(f, bytes, len, &err), 0);
        builder_free(b);
        assert_int_equal(filter_trouble(f) != NULL, round == 4);
    }
    assert_null(filter_trouble(f)); /* once for an expression */
    assert_int_equal(filter_labels(f), LIMIT_FILTER_LABELS);
    filter_free(f);
}

TEST(test_rows_that_are_here)
{
    struct filter *f = filter_new();
    struct proc_row row;
    proc_row_clear(&row);
    row.pid.id = 41;
    row.name = (struct slice){"shop_cart", 9};
    row.current_function = (struct slice){"m:f/1", 5};
    static const struct {
        const char *expression;
        bool matches;
    } rows[] = {{"", true},       {"cart", true},     {"m:f", false},   {"fn=m:f", true},
                {"app=.", false}, {"^<0\\.41", true}, {"pid=41", true}, {"name=41", false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        set(f, rows[i].expression);
        if (filter_match_row(f, &row) != rows[i].matches)
            fail_msg("%s", rows[i].expression);
    }
    filter_free(f);
}

#define NAMES_OF_A_SCAN 200

static uint64_t steps(const struct filter *f)
{
    const struct regex *re = filter_regex(f);
    return re ? regex_steps(re) : 0;
}

/* Scans with names of 200 bytes, on which nested repeats try every split. */
static void take_long_names(struct filter *f, int scans)
{
    struct buf scan;
    char as[91], xs[91];
    memset(as, 'a', 90);
    memset(xs, 'x', 90);
    as[90] = xs[90] = '\0';
    buf_init(&scan, 0);
    for (int i = 0; i < scans; i++) {
        uint64_t before = steps(f);
        buf_reset(&scan);
        buf_puts(&scan, "{scan, 1, 0, 0, 0, 0, 0, [], [");
        for (int n = 0; n < NAMES_OF_A_SCAN; n++)
            buf_printf(&scan, "%s{%d,{label,<<\"%s%07d%s%07dzy!\">>}}", n > 0 ? "," : "", n + 1, as,
                       i * NAMES_OF_A_SCAN + n, xs, n);
        buf_puts(&scan, "]}");
        take(f, buf_cstr(&scan), 0);
        assert_true(steps(f) - before <= LIMIT_REGEX_PASS_STEPS);
    }
    buf_clear(&scan);
    assert_int_equal(filter_labels(f), scans * NAMES_OF_A_SCAN);
}

static const char *const too_expensive[] = {
    "(a+)+$",
    "(x+x+)+y",
    "label=^(a|aa)+$",
    "(.*)*q!|(a+)+!",
};

TEST(test_too_expensive_is_refused)
{
    struct filter *f = filter_new();
    char before[512], text[512];
    take_long_names(f, LIMIT_FILTER_LABELS / NAMES_OF_A_SCAN);
    set(f, "0000017.*zy");
    matching(f, before, sizeof before);
    assert_non_null(strstr(before, "0000017"));
    for (size_t i = 0; i < ARRAY_LEN(too_expensive); i++) {
        struct error err = {0};
        size_t offset = 99;
        assert_int_equal(filter_set(f, too_expensive[i], &offset, &err), ERR_LIMIT);
        assert_non_null(strstr(err.text, "filter too expensive"));
        assert_int_equal(offset, 0);
        assert_string_equal(matching(f, text, sizeof text), before); /* the last good one stays */
        assert_null(filter_trouble(f));
    }
    filter_free(f);
}

/* Names that come later cost no more, and it is said once. */
TEST(test_too_expensive_later)
{
    for (size_t i = 0; i < ARRAY_LEN(too_expensive); i++) {
        struct filter *f = filter_new();
        set(f, too_expensive[i]);
        assert_null(filter_trouble(f));
        take_long_names(f, 2);
        assert_non_null(filter_trouble(f));
        assert_null(filter_trouble(f));
        filter_free(f);
    }
}

TEST(test_usual_is_not_too_expensive)
{
    static const char *const usual[] = {"shop",       "^a+0",     "x.*y",     "[0-9]{7}zy",
                                        "foo|bar|zy", "\\d+zy!$", ".*000017", "label=^a.*x.*!$"};
    struct filter *f = filter_new();
    take_long_names(f, LIMIT_FILTER_LABELS / NAMES_OF_A_SCAN);
    for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
        print_message("%s\n", usual[i]);
        set(f, usual[i]);
        assert_null(filter_trouble(f));
    }
    filter_free(f);
}

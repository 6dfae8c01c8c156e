/* Each rule has a workload that triggers it and one, close to it, that must not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rule_cases.h"

/* ---- looking */

static const struct finding *of_rule(const struct findings *f, const char *rule)
{
    for (size_t i = 0; i < f->len; i++)
        if (strcmp(f->items[i].rule, rule) == 0)
            return &f->items[i];
    return NULL;
}

static bool says(const struct finding *f, const char *text)
{
    bool found = strstr(f->title, text) || strstr(f->action, text);
    for (size_t i = 0; i < f->n_evidence; i++)
        found = found || strstr(f->evidence[i].text, text);
    return found;
}

static void dump(const struct findings *f)
{
    for (size_t i = 0; i < f->len; i++) {
        const struct finding *x = &f->items[i];
        print_message("%s %d %.2f %s | %s\n", x->rule, (int)x->severity, x->sure, x->title, x->action);
        for (size_t k = 0; k < x->n_evidence; k++)
            print_message("    %s\n", x->evidence[k].text);
    }
    for (size_t i = 0; i < f->n_not_known; i++)
        print_message("? %s\n", f->not_known[i]);
}

static void judge(struct findings *out, const struct made *w)
{
    struct error err = {.code = ERR_NONE};
    struct recording *r = made_open(w);
    if (findings_find(out, r, 1, recording_info(r)->ticks, &err) != 0)
        fail_msg("%s", err.text);
    recording_close(r);
}

static void check_complete(const struct finding *f)
{
    if (!*f->title || !*f->action || !*f->refute || f->n_evidence == 0)
        fail_msg("%s lacks its title, action, evidence or what would refute it", f->rule);
    if (!(f->sure > 0 && f->sure <= 1))
        fail_msg("%s is %f sure", f->rule, f->sure);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct made bad = made_healthy, good = made_healthy;
        struct findings f;
        rows[i].bad(&bad);
        rows[i].good(&good);
        judge(&f, &bad);
        const struct finding *x = of_rule(&f, rows[i].rule);
        if (!x || x->severity != rows[i].severity || !says(x, rows[i].says)) {
            dump(&f);
            fail_msg("row %zu: %s is not found, or not so: %s", i, rows[i].rule, rows[i].says);
        }
        check_complete(x);
        findings_clear(&f);
        if (rows[i].good == rows[i].bad)
            continue;
        judge(&f, &good);
        if (of_rule(&f, rows[i].rule)) {
            dump(&f);
            fail_msg("row %zu: %s is found where it is not", i, rows[i].rule);
        }
        for (size_t k = 0; k < f.len; k++)
            if (f.items[k].severity == FINDING_ACT)
                fail_msg("row %zu: what must not be found by %s has one to act on by %s", i, rows[i].rule,
                         f.items[k].rule);
        findings_clear(&f);
    }
}

/* Every rule has a row in this test, with a workload that it must not find. */
static void test_all_rules(void **state)
{
    (void)state;
    for (size_t r = 0; rule_list[r]; r++) {
        bool tested = false;
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
            tested = tested || (strcmp(rows[i].rule, rule_list[r]->key) == 0 && rows[i].good != rows[i].bad);
        if (!tested)
            fail_msg("%s has no workload", rule_list[r]->key);
        assert_true(*rule_list[r]->title && *rule_list[r]->help && *rule_list[r]->needs);
    }
}

static void test_healthy(void **state)
{
    (void)state;
    struct findings f;
    judge(&f, &made_healthy);
    for (size_t i = 0; i < f.len; i++)
        if (f.items[i].severity != FINDING_NOTE) {
            dump(&f);
            fail_msg("%s is found in a healthy node", f.items[i].rule);
        }
    if (f.n_not_known > 0)
        fail_msg("%s", f.not_known[0]);
    findings_clear(&f);
}

static bool is_unknown(const struct findings *f, const char *begins)
{
    for (size_t k = 0; k < f->n_not_known; k++)
        if (strncmp(f->not_known[k], begins, strlen(begins)) == 0)
            return true;
    return false;
}

/* The writes are among what was left out, or may be: no ratio is told. */
static void test_ratio_of_the_rest(void **state)
{
    (void)state;
    struct made cut = made_healthy;
    struct findings f;
    cut.n_calls = 0;
    set_call(&cut, "ets", "lookup", 2, 5000);
    set_call(&cut, "lists", "last", 1, 900);
    judge(&f, &cut);
    assert_non_null(of_rule(&f, "read_write"));
    findings_clear(&f);
    cut.other_calls = 4000;
    judge(&f, &cut);
    if (of_rule(&f, "read_write") || !is_unknown(&f, "read_write: functions of fewer than 900 calls")) {
        dump(&f);
        fail_msg("a ratio is told of what was recorded in part");
    }
    findings_clear(&f);
}

/* Windows that were filled by hotter functions do not clear those below. */
static void test_few_functions(void **state)
{
    (void)state;
    struct made few = made_healthy;
    struct findings f;
    few.n_calls = 0;
    set_call(&few, "lists", "foldl", 3, 5000);
    few.other_calls = 40000;
    judge(&f, &few);
    if (!is_unknown(&f, "repository_lookup: functions of fewer than 5000 calls") ||
        !is_unknown(&f, "hot_reads: ") || !is_unknown(&f, "dynamic_repo: ")) {
        dump(&f);
        fail_msg("what may be among the functions that were not recorded is not told");
    }
    findings_clear(&f);
    set_call(&few, "lists", "last", 1, 90);
    judge(&f, &few);
    if (is_unknown(&f, "repository_lookup: ")) {
        dump(&f);
        fail_msg("the functions below are too cold to matter");
    }
    findings_clear(&f);
}

/* What was not recorded is said, rule by rule, and nothing is found in its place. */
static void test_not_recorded(void **state)
{
    (void)state;
    static const char *const unknown[] = {
        "sync_logger: no owners", "mailbox_growth: no processes", "binary_holders: the fact `binaries`",
        "repository_lookup: no calls", "busy_distribution: the fact `distribution`", "churn: no processes",
    };
    struct made bare = made_healthy;
    struct findings f;
    bare.n_busy = bare.n_calls = bare.n_facts = 0;
    judge(&f, &bare);
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        if (!is_unknown(&f, unknown[i])) {
            dump(&f);
            fail_msg("not said: %s", unknown[i]);
        }
    }
    findings_clear(&f);
    bare.ticks = 2;
    judge(&f, &bare);
    size_t rules = 0;
    while (rule_list[rules])
        rules++;
    assert_int_equal(f.len, 0);
    assert_int_equal(f.n_not_known, rules);
    findings_clear(&f);
}

/* Without the handler's settings the share alone is no reason to act. */
static void test_mode_not_recorded(void **state)
{
    (void)state;
    struct made w = made_healthy;
    struct findings f;
    logger_sync(&w);
    w.n_facts = 0;
    judge(&f, &w);
    const struct finding *x = of_rule(&f, "sync_logger");
    if (!x)
        fail_msg("no finding of sync_logger");
    else
        assert_true(x->severity == FINDING_LOOK && fabs(x->impact - 0.31) < 0.02);
    findings_clear(&f);
}

static void test_damaged_facts(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "[", "[]", "null", "{\"handlers\":7,\"nodes\":{},\"allocators\":\"x\",\"holders\":[1,null,\"a\"]}",
        "{\"handlers\":[{\"id\":[],\"mode\":3}],\"nodes\":[3],\"allocators\":[{\"blocks_bytes\":1}]}"};
    static const char *const keys[] = {"logger", "distribution", "allocators", "binaries", "ets", "gc"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct made w = made_healthy;
        struct findings f;
        logger_sync(&w);
        ets_grows(&w);
        much_garbage(&w);
        for (size_t k = 0; k < ARRAY_LEN(keys); k++)
            set_fact(&w, keys[k], bad[i]);
        judge(&f, &w);
        assert_non_null(of_rule(&f, "sync_logger"));
        findings_clear(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_all_rules),
        cmocka_unit_test(test_healthy),      cmocka_unit_test(test_few_functions),
        cmocka_unit_test(test_ratio_of_the_rest),
        cmocka_unit_test(test_not_recorded),
        cmocka_unit_test(test_mode_not_recorded), cmocka_unit_test(test_damaged_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

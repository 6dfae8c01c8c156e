/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each rule has a workload that triggers it and one, close to it, that must not. */

#include "../../test.h"
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
        print_message("%s %d %.2f %s | %s\n", x->rule, (int)x->severity, x->confidence, x->title,
                      x->action);
        for (size_t k = 0; k < x->n_evidence; k++)
            print_message("    %s\n", x->evidence[k].text);
    }
    for (size_t i = 0; i < f->n_not_evaluated; i++)
        print_message("? %s\n", f->not_evaluated[i]);
}

static void expect_same_finding(const struct finding *a, const struct finding *b)
{
    assert_string_equal(a->rule, b->rule);
    assert_string_equal(a->title, b->title);
    assert_string_equal(a->action, b->action);
    assert_int_equal(a->severity, b->severity);
    assert_float_equal(a->confidence, b->confidence, 1e-5);
    assert_int_equal(a->n_evidence, b->n_evidence);
    for (size_t k = 0; k < a->n_evidence; k++)
        assert_string_equal(a->evidence[k].text, b->evidence[k].text);
}

/* The ticks in memory, without a file. */
static void expect_same_in_memory(const struct findings *of_file, const struct made *w)
{
    struct error err = {0};
    struct findings found;
    struct recorder *in = made_recorder(":memory:", w);
    struct recording *r = NULL;
    assert_int_equal(recording_of_recorder(&r, in, &err), 0);
    assert_int_equal(findings_evaluate(&found, r, 1, recording_info(r)->ticks, &err), 0);
    assert_int_equal(found.len, of_file->len);
    for (size_t i = 0; i < found.len; i++)
        expect_same_finding(&of_file->items[i], &found.items[i]);
    assert_int_equal(found.n_not_evaluated, of_file->n_not_evaluated);
    for (size_t i = 0; i < found.n_not_evaluated; i++)
        assert_string_equal(of_file->not_evaluated[i], found.not_evaluated[i]);
    findings_clear(&found);
    recording_close(r);
    assert_int_equal(recorder_close(in, NULL, &err), 0);
}

static void judge_file(struct findings *out, const struct made *w)
{
    struct error err = {0};
    struct recording *r = made_open(w);
    if (findings_evaluate(out, r, 1, recording_info(r)->ticks, &err) != 0)
        fail_msg("%s", err.text);
    recording_close(r);
}

static void judge(struct findings *out, const struct made *w)
{
    judge_file(out, w);
    expect_same_in_memory(out, w);
}

/* What is found in loads as they stand: each is made and judged once. */
static struct {
    void (*load)(struct made *);
    struct findings findings;
} judged[ARRAY_LEN(rows) * 2];

static const struct findings *judged_of(void (*load)(struct made *))
{
    size_t i = 0;
    while (i < ARRAY_LEN(judged) && judged[i].load && judged[i].load != load)
        i++;
    assert_true(i < ARRAY_LEN(judged));
    if (!judged[i].load) {
        struct made w = made_healthy;
        judged[i].load = load;
        load(&w);
        judge(&judged[i].findings, &w);
    }
    return &judged[i].findings;
}

static int forget_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(judged) && judged[i].load; i++)
        findings_clear(&judged[i].findings);
    return 0;
}

/* What is not known is left out, or "-". */
static bool has_no_number(const char *text)
{
    return strstr(text, "nan") || strstr(text, "inf ") || strstr(text, "inf%");
}

static void check_complete(const struct finding *f)
{
    bool unknown = has_no_number(f->title);
    for (size_t i = 0; i < f->n_evidence; i++)
        unknown = unknown || has_no_number(f->evidence[i].text);
    if (unknown)
        fail_msg("%s (%s) prints what is not a number", f->rule, f->title);
    if (!*f->title || !*f->action || !*f->ruled_out_if || f->n_evidence == 0)
        fail_msg("%s lacks its title, action, evidence or what would rule it out", f->rule);
    if (!(f->confidence > 0 && f->confidence <= 1))
        fail_msg("%s is %f sure", f->rule, f->confidence);
}

TEST(test_rows)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct findings *f = judged_of(rows[i].bad);
        const struct finding *x = of_rule(f, rows[i].rule);
        if (!x || x->severity != rows[i].severity || !says(x, rows[i].says)) {
            dump(f);
            fail_msg("row %zu: %s is not found, or not so: %s", i, rows[i].rule, rows[i].says);
        }
        check_complete(x);
        if (rows[i].good == rows[i].bad)
            continue;
        f = judged_of(rows[i].good);
        if (of_rule(f, rows[i].rule)) {
            dump(f);
            fail_msg("row %zu: %s is found where it is not", i, rows[i].rule);
        }
        for (size_t k = 0; k < f->len; k++)
            if (f->items[k].severity == FINDING_ACT)
                fail_msg("row %zu: what must not be found by %s has one to act on by %s", i,
                         rows[i].rule, f->items[k].rule);
    }
}

/* Every rule has a row in this test, with a workload that it must not find. */
TEST(test_all_rules)
{
    for (size_t r = 0; rule_list[r]; r++) {
        bool tested = false;
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
            tested = tested ||
                     (strcmp(rows[i].rule, rule_list[r]->key) == 0 && rows[i].good != rows[i].bad);
        if (!tested)
            fail_msg("%s has no workload", rule_list[r]->key);
        assert_true(*rule_list[r]->title && *rule_list[r]->help && *rule_list[r]->needs);
    }
}

TEST(test_healthy)
{
    const struct findings *f = judged_of(same);
    for (size_t i = 0; i < f->len; i++)
        if (f->items[i].severity != FINDING_NOTE) {
            dump(f);
            fail_msg("%s is found in a healthy node", f->items[i].rule);
        }
    if (f->n_not_evaluated > 0)
        fail_msg("%s", f->not_evaluated[0]);
}

static bool is_unknown(const struct findings *f, const char *begins)
{
    for (size_t k = 0; k < f->n_not_evaluated; k++)
        if (strncmp(f->not_evaluated[k], begins, strlen(begins)) == 0)
            return true;
    return false;
}

/* The writes are among what was left out, or may be: no ratio is told. */
TEST(test_ratio_of_the_rest)
{
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
    if (of_rule(&f, "read_write") || !is_unknown(&f, "read_write: functions below 900 calls")) {
        dump(&f);
        fail_msg("a ratio is told of what was recorded in part");
    }
    findings_clear(&f);
}

/* Windows that were filled by hotter functions do not clear those below. */
TEST(test_few_functions)
{
    struct made few = made_healthy;
    struct findings f;
    few.n_calls = 0;
    set_call(&few, "lists", "foldl", 3, 5000);
    few.other_calls = 40000;
    judge(&f, &few);
    if (!is_unknown(&f, "repository_lookup: functions below 5000 calls") ||
        !is_unknown(&f, "hot_reads: ") || !is_unknown(&f, "dynamic_repo: ")) {
        dump(&f);
        fail_msg("what may be among the functions that were not recorded is not told");
    }
    findings_clear(&f);
    set_call(&few, "lists", "last", 1, 40);
    judge(&f, &few);
    if (is_unknown(&f, "repository_lookup: ")) {
        dump(&f);
        fail_msg("the functions below are too cold to matter");
    }
    findings_clear(&f);
}

/* Few samples, those of reductions, none, and none of the VM's own functions, or few of them; no
 * classes. */
TEST(test_samples_not_judged)
{
    static const struct {
        struct made_samples run;
        const char *unknown;
    } runs[] = {
        {{.stacks = {{"plg", 399}}, .classes = {[SAMPLE_GC] = 399}},
         "gc_cpu: only 399 samples were recorded, 400 are needed"},
        {{.at_yields = true, .stacks = {{"plc", 9000}}},
         "copy_cpu: no samples of CPU time were recorded; those at yields are of reductions"},
        {{.stacks = {{"pl", 9000}}},
         "copy_cpu: the VM's own functions have no names in the samples"},
        {{.stacks = {{"pl", 6000}, {"plse", 1000}, {"plsv", 1001}}},
         "copy_cpu: the VM's own functions have no names in the samples"},
        {{.stacks = {{"pl", 6000}, {"plv", 3000}},
          .classes = {[SAMPLE_ERLANG] = 6000, [SAMPLE_GC] = 1000, [SAMPLE_RUNTIME] = 2000}},
         "gc_cpu: the VM's own functions have no names in the samples, and work of dirty"},
        {{.stacks = {{"plg", 9000}}, .classes = {[SAMPLE_ERLANG] = 9000, [SAMPLE_GC] = -1}},
         "gc_cpu: the class of the samples was not recorded"},
        {{.tick = 99}, "nif_cpu: no samples were recorded"},
    };
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        struct made w = made_healthy;
        struct findings f;
        w.runs[0] = runs[i].run;
        judge(&f, &w);
        if (!is_unknown(&f, runs[i].unknown) || of_rule(&f, "gc_cpu") || of_rule(&f, "copy_cpu")) {
            dump(&f);
            fail_msg("not said: %s", runs[i].unknown);
        }
        findings_clear(&f);
    }
}

/* What was not recorded is said, rule by rule, and nothing is found in its place. */
TEST(test_not_recorded)
{
    static const char *const unknown[] = {
        "sync_logger: no owners",
        "mailbox_growth: no processes",
        "binary_holders: the fact `binaries`",
        "repository_lookup: no calls",
        "busy_distribution: the fact `distribution`",
        "churn: no processes",
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
    assert_int_equal(f.n_not_evaluated, rules);
    findings_clear(&f);
}

/* Of two VMs, counters have no difference; of a moment, they say little. */
TEST(test_cpus_not_compared)
{
    static const struct {
        void (*load)(struct made *);
        int restarts_at;
        const char *unknown;
    } loads[] = {
        {starved_by_others, 8, "starved: the node restarted"},
        {starved_for_a_moment, 0,
         "starved: CPU time of the schedulers was recorded for less than 50 s"},
    };
    for (size_t i = 0; i < ARRAY_LEN(loads); i++) {
        struct made w = made_healthy;
        struct findings f;
        loads[i].load(&w);
        w.restarts_at = loads[i].restarts_at;
        judge(&f, &w);
        if (!is_unknown(&f, loads[i].unknown) || of_rule(&f, "starved")) {
            dump(&f);
            fail_msg("not said: %s", loads[i].unknown);
        }
        findings_clear(&f);
    }
}

/* The library that Erlang code calls is meant, and who calls that one. */
TEST(test_library_that_is_called)
{
    struct made w = made_healthy;
    struct findings f;
    w.runs[0] =
        (struct made_samples){.stacks = {{"pm", 600}, {"pln", 50}, {"plno", 300}, {"pmo", 50}},
                              .classes = {[SAMPLE_ERLANG] = 600, [SAMPLE_NIF] = 400}};
    judge(&f, &w);
    const struct finding *x = of_rule(&f, "nif_cpu");
    if (!x || !says(x, "jose_nif.so is busy: 35%") || !says(x, "called by shop:loop/1: 35%") ||
        says(x, "lists:map/2")) {
        dump(&f);
        fail_msg("not of the library that is called");
    }
    findings_clear(&f);
}

/* Of more rows than are said, the largest. */
TEST(test_most_unused_first)
{
    static const char *const said[] = {"c_alloc: 400", "f_alloc: 300", "b_alloc: 200",
                                       "e_alloc: 195", "d_alloc: 190"};
    struct made w = made_healthy;
    struct findings f;
    size_t n = 0;
    w.rss = 1200 * MIB;
    set_fact(&w, "allocators",
             "{\"allocators\":["
             "{\"name\":\"a_alloc\",\"blocks_bytes\":0,\"carriers_bytes\":41943040},"
             "{\"name\":\"b_alloc\",\"blocks_bytes\":0,\"carriers_bytes\":209715200},"
             "{\"name\":\"c_alloc\",\"blocks_bytes\":0,\"carriers_bytes\":419430400},"
             "{\"name\":\"d_alloc\",\"blocks_bytes\":0,\"carriers_bytes\":199229440},"
             "{\"name\":\"e_alloc\",\"blocks_bytes\":0,\"carriers_bytes\":204472320},"
             "{\"name\":\"f_alloc\",\"blocks_bytes\":0,\"carriers_bytes\":314572800}],"
             "\"rss_bytes\":1258291200}");
    judge(&f, &w);
    const struct finding *x = of_rule(&f, "carriers");
    for (size_t i = 0; x && i < x->n_evidence; i++) {
        const struct evidence *e = &x->evidence[i];
        bool is_row = strcmp(e->key, "allocator") == 0;
        if (is_row && n < ARRAY_LEN(said) && strncmp(e->text, said[n], strlen(said[n])) == 0)
            n++;
        else if (is_row)
            fail_msg("“%s” in place of “%s”", e->text, n < ARRAY_LEN(said) ? said[n] : "nothing");
    }
    assert_int_equal(n, ARRAY_LEN(said));
    findings_clear(&f);
}

/* Without the handler's settings the share alone is no reason to act. */
TEST(test_mode_not_recorded)
{
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

/* What a finding of a process says of its share is what the process has of all reductions: findings
 * are ordered by it. */
TEST(test_share_of_a_process)
{
    struct made w = made_healthy;
    struct findings f;
    mailbox_grows(&w);
    w.busy[0].share = 0.30;
    judge(&f, &w);
    const struct finding *x = of_rule(&f, "mailbox_growth");
    assert_non_null(x);
    assert_true(fabs(x->impact - 0.30) < 0.01);
    const struct evidence *share = NULL;
    for (size_t i = 0; i < x->n_evidence; i++)
        if (strcmp(x->evidence[i].key, "process") == 0)
            share = &x->evidence[i];
    assert_non_null(share);
    assert_true(fabs(share->value - 0.30) < 0.01 && strstr(share->text, "30% of all reductions"));
    findings_clear(&f);
}

TEST(test_damaged_facts)
{
    static const char *const bad[] = {
        "[", "[]", "null",
        "{\"handlers\":7,\"nodes\":{},\"allocators\":\"x\",\"holders\":[1,null,\"a\"]}",
        ("{\"handlers\":[{\"id\":[],\"mode\":3}],\"nodes\":[3],"
         "\"allocators\":[{\"blocks_bytes\":1}]}")};
    static const char *const keys[] = {"logger",   "distribution", "allocators",
                                       "binaries", "ets",          "gc"};
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

/* ---- two recordings of the same load */

/* Rules and subjects, in order. */
static void list_findings(char *out, size_t size, const struct findings *f)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t r = 0; rule_list[r]; r++)
        for (size_t i = 0; i < f->len; i++)
            if (strcmp(f->items[i].rule, rule_list[r]->key) == 0 && len < size)
                len += (size_t)snprintf(out + len, size - len, "%s %d %s; ", f->items[i].rule,
                                        (int)f->items[i].severity, f->items[i].subject);
}

/* The same is found with each seed of the jitter; 0 is without jitter. */
static void check_same(const char *what, void (*load)(struct made *), unsigned from, unsigned to,
                       double jitter)
{
    char first[2000], other[2000];
    for (unsigned seed = from; seed <= to; seed++) {
        struct made w = made_healthy;
        struct findings f;
        load(&w);
        w.seed = seed;
        w.jitter = jitter;
        if (seed > 0)
            judge_file(&f, &w); /* file and memory do not differ in values */
        list_findings(seed == from ? first : other, sizeof first, seed > 0 ? &f : judged_of(load));
        if (seed > 0)
            findings_clear(&f);
        if (seed > from && strcmp(first, other) != 0)
            fail_msg("%s: with seed %u “%s”, with seed %u “%s”", what, from, first, seed, other);
    }
}

/* A queue that is short, and now and then empty, of a process that many ask. */
static void queue_of_a_bottleneck(struct made *w)
{
    w->ticks = 40;
    w->busy[0].queue = 9;
}
/* Its mean is now above the limit and now below it. */
static void queue_on_the_limit(struct made *w)
{
    w->ticks = 40;
    w->busy[0].queue = 5;
}
static void registry_at_a_high_rate(struct made *w)
{
    registry_in_front(w);
    w->ticks = 30;
}

TEST(test_same_load)
{
    static const struct {
        const char *what;
        void (*load)(struct made *);
        double jitter;
    } loads[] = {
        {"healthy", same, 0.2},
        {"a bottleneck", queue_of_a_bottleneck, 0.95},
        {"a queue on the limit", queue_on_the_limit, 0.95},
        {"a registry", registry_at_a_high_rate, 0.3},
        {"a get that calls one", registry_gets_one, 0.08},
        {"a registry at a low rate", registry_at_a_low_rate, 0.2},
        {"a switch for each operation", switched_for_each, 0.2},
        {"a sync logger", logger_sync, 0.3},
        {"a growing queue", mailbox_grows, 0.3},
        {"an overload", queue_long, 0.3},
    };
    const char *check = getenv("BEAMTOP_CHECK");
    const unsigned seeds = check && strcmp(check, "all") == 0 ? 8 : 3;
    for (size_t i = 0; i < ARRAY_LEN(loads); i++)
        check_same(loads[i].what, loads[i].load, 1, seeds, loads[i].jitter);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t first = 0;
        while (rows[first].bad != rows[i].bad)
            first++;
        if (first == i)
            check_same(rows[i].rule, rows[i].bad, 0, 1, 0.05);
    }
}

/* What was judged before, and then: after that, and by itself. */
static void judge_in_turn(const struct made *first, const struct made *then,
                          struct findings *before, struct findings *after, struct findings *alone)
{
    struct error err = {0};
    struct recording *r = made_open(first);
    assert_int_equal(findings_evaluate(before, r, 1, 13, &err), 0);
    recording_close(r);
    r = made_open(then);
    assert_int_equal(findings_evaluate_after(after, before, 0, r, 1, 13, &err), 0);
    assert_int_equal(findings_evaluate(alone, r, 1, 13, &err), 0);
    recording_close(r);
}

/* What lies on a limit stays when it was found before, and is not found when it was not. */
TEST(test_on_the_limit)
{
    struct made clear = made_healthy, on = made_healthy;
    struct findings before, after, alone;
    serialised(&clear);
    on.busy[0].queue = 4; /* of 5 */
    judge_in_turn(&clear, &on, &before, &after, &alone);
    assert_non_null(of_rule(&before, "serialised"));
    assert_non_null(of_rule(&after, "serialised"));
    assert_null(of_rule(&alone, "serialised"));
    findings_clear(&before);
    findings_clear(&after);
    findings_clear(&alone);
}

/* Why calls were not counted is known to who reads the findings. */
TEST(test_refused_calls)
{
    struct made w = made_healthy;
    struct findings f;
    w.n_calls = 0;
    set_fact(&w, "calls_refused", "{\"why\":\"another tool is tracing this node\"}");
    judge(&f, &w);
    assert_string_equal(f.calls_refused, "another tool is tracing this node");
    assert_true(is_unknown(&f, "repository_lookup: counting calls was refused"));
    findings_clear(&f);
}

/* What a damaged file says of growth: the trends are found, the owners are not known. */
TEST(test_damaged_growth)
{
    static const char *const bad[] = {
        "[",
        "[]",
        "7",
        "{}",
        "{\"processes\":7,\"atoms\":[],\"ets\":\"x\",\"ports\":null,\"code\":1}",
        "{\"processes\":{\"seen\":1e308,\"sampled\":-1e308,\"function\":7,\"spawner\":[]},"
        "\"atoms\":{\"prefix\":1,\"examples\":{}},\"ets\":{\"growing\":[7],\"most_new\":[]},"
        "\"ports\":{\"seen\":1e308},\"code\":{\"examples\":[1]},\"spawned_per_s\":1e308,"
        "\"spawned_lately_per_s\":1e308}"};
    static const char *const found[] = {"process_growth", "atom_growth", "ets_growth",
                                        "port_growth", "code_growth"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct made w = made_healthy;
        struct findings f;
        of_a_minute(&w);
        w.processes_step = w.atoms_step = w.ports_step = w.tables_step = 1e4;
        w.ets_step = w.code_step = 1e6;
        set_fact(&w, "growth", bad[i]);
        judge(&f, &w);
        for (size_t k = 0; k < ARRAY_LEN(found); k++)
            assert_non_null(of_rule(&f, found[k]));
        findings_clear(&f);
    }
}

static void holder_of_unknown_number(struct made *w)
{
    w->binary = 200 * MIB;
    set_fact(w, "binaries",
             "{\"bytes\":209715200,\"holders\":[{\"pid\":\"<0.41.0>\",\"name\":\"cache\","
             "\"initial_call\":\"cache:init/1\",\"bytes\":180000000}]}");
}

TEST(test_unknown_number_of_binaries)
{
    struct made w = made_healthy;
    struct findings f;
    holder_of_unknown_number(&w);
    judge(&f, &w);
    const struct finding *x = of_rule(&f, "binary_holders");
    assert_non_null(x);
    assert_true(says(x, "cache (cache:init/1): 172 MiB"));
    assert_false(says(x, "172 MiB in"));
    findings_clear(&f);
}

/* What rises and then stays, or falls, or comes in steps that end, is no leak. */
TEST(test_levels)
{
    struct made w = made_healthy;
    struct findings f;
    of_a_minute(&w);
    w.ticks = 10; /* too short to tell */
    w.processes_step = w.atoms_step = w.ports_step = 1000;
    judge(&f, &w);
    assert_null(of_rule(&f, "process_growth"));
    assert_null(of_rule(&f, "atom_growth"));
    assert_null(of_rule(&f, "port_growth"));
    findings_clear(&f);
    w.ticks = 60;
    w.level_from = 40;
    judge(&f, &w);
    assert_null(of_rule(&f, "process_growth"));
    assert_null(of_rule(&f, "atom_growth"));
    assert_null(of_rule(&f, "port_growth"));
    findings_clear(&f);
}

/* ---- one cause, one finding */

static void queue_heap_and_load(struct made *w)
{
    mailbox_grows(w);
    processes_grow(w);
    one_queue(w);
    w->busy[0].memory_step = 4 * MIB;
    w->busy[1].memory_step = 0;
}
static void binaries_of_one_grow(struct made *w)
{
    binaries_grow(w);
    set_fact(w, "binaries",
             "{\"bytes\":90000000,\"holders\":[{\"pid\":\"<0.41.0>\",\"name\":\"cache\","
             "\"initial_call\":\"cache:init/1\",\"bytes\":80000000,\"binaries\":9}]}");
}
static void atoms_near_the_limit(struct made *w)
{
    atoms_leak(w);
    w->atoms = 900000;
}
static void carts_and_memory(struct made *w)
{
    table_leaks(w);
    w->ets_step = w->total_step = 2 * MIB;
}
static void queues_of_two(struct made *w)
{
    mailbox_grows(w);
    w->busy[1].queue = 10;
    w->busy[1].queue_step = 500;
}

static bool tells(const struct finding *f, const char *rule)
{
    for (size_t e = 0; e < f->n_evidence; e++)
        if (strcmp(f->evidence[e].key, rule) == 0)
            return true;
    return false;
}

static size_t of_cause(const struct findings *f, const char *cause)
{
    size_t n = 0;
    for (size_t i = 0; i < f->len; i++)
        n += strcmp(f->items[i].cause, cause) == 0;
    return n;
}

/* The rules that fit are one finding, with the title of the first and the rest as evidence. */
TEST(test_one_cause)
{
    static const struct {
        void (*load)(struct made *);
        const char *cause, *rules[3], *evidence;
    } causes[] = {
        {queue_heap_and_load,
         "<0.41.0>",
         {"mailbox_growth", "memory_growth", "one_scheduler"},
         "process memory: from"},
        {binaries_of_one_grow, "<0.41.0>", {"binary_holders", "memory_growth"}, "refc binaries: "},
        {atoms_near_the_limit, "atoms", {"atom_growth", "near_limit"}, "Atom table: "},
        {carts_and_memory, "ets_memory", {"ets_growth", "memory_growth"}, "ETS memory: from"},
        {queues_of_two, "<0.41.0>", {"mailbox_growth"}, "message queue: "},
        {queues_of_two, "<0.42.0>", {"mailbox_growth"}, "message queue: "},
    };
    for (size_t i = 0; i < ARRAY_LEN(causes); i++) {
        struct made w = made_healthy;
        struct findings f;
        causes[i].load(&w);
        judge(&f, &w);
        const struct finding *x = NULL;
        for (size_t k = 0; k < f.len; k++)
            x = strcmp(f.items[k].cause, causes[i].cause) == 0 ? &f.items[k] : x;
        if (!x || of_cause(&f, causes[i].cause) != 1 || strcmp(x->rule, causes[i].rules[0]) != 0 ||
            !says(x, causes[i].evidence)) {
            dump(&f);
            fail_msg("row %zu: %s is not one finding of %s", i, causes[i].cause,
                     causes[i].rules[0]);
        }
        for (size_t r = 1; r < 3 && causes[i].rules[r]; r++) {
            if (!tells(x, causes[i].rules[r])) {
                dump(&f);
                fail_msg("row %zu: %s is no evidence", i, causes[i].rules[r]);
            }
        }
        findings_clear(&f);
    }
}

/* What has become evidence of another finding stays below its limit as well. */
TEST(test_evidence_stays)
{
    struct made clear = made_healthy, on = made_healthy;
    struct findings before, after, alone;
    queue_heap_and_load(&clear);
    queue_heap_and_load(&on);
    on.of_processes_step = on.total_step = on.busy[0].memory_step = 0.7 * MIB; /* of 0.8 */
    judge_in_turn(&clear, &on, &before, &after, &alone);
    const struct finding *stays = of_rule(&after, "mailbox_growth");
    const struct finding *goes = of_rule(&alone, "mailbox_growth");
    assert_true(stays && goes && tells(stays, "memory_growth") && !tells(goes, "memory_growth"));
    findings_clear(&before);
    findings_clear(&after);
    findings_clear(&alone);
}

/* ---- trends on the screen */

/* In the first so many ticks. Trends shorter than trend_s are left out. */
static bool is_trend(struct recording *r, int ticks, double trend_s, const char *rule)
{
    struct error err = {0};
    struct findings f;
    assert_int_equal(findings_evaluate_after(&f, NULL, trend_s, r, 1, ticks, &err), 0);
    bool found = of_rule(&f, rule) != NULL;
    findings_clear(&f);
    return found;
}

TEST(test_trends_wait)
{
    static const struct {
        void (*load)(struct made *);
        const char *rule;
        bool named;
    } trends[] = {
        {mailbox_grows, "mailbox_growth", true},  {processes_grow, "memory_growth", true},
        {processes_leak, "process_growth", true}, {processes_leak_unseen, "process_growth", false},
        {atoms_leak, "atom_growth", true},        {table_leaks, "ets_growth", true},
        {tables_leak, "ets_growth", true},        {ports_leak, "port_growth", true},
        {code_leaks, "code_growth", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(trends); i++) {
        struct made w = made_healthy;
        const char *rule = trends[i].rule;
        trends[i].load(&w);
        w.ticks = 70;
        struct recording *r = made_open(&w);
        /* Of 100 processes it says nothing so early. */
        if (!is_trend(r, 28, 0, rule) && strcmp(rule, "process_growth") != 0)
            fail_msg("row %zu: a report waits with %s", i, rule);
        if (is_trend(r, 28, 30, rule))
            fail_msg("row %zu: %s does not wait", i, rule);
        if (is_trend(r, 40, 30, rule) != trends[i].named)
            fail_msg("row %zu: %s of 40 s", i, rule);
        if (!is_trend(r, 50, 30, rule))
            fail_msg("row %zu: %s of 50 s is not found", i, rule);
        recording_close(r);
    }
}

TESTS_WITH(NULL, forget_judged);

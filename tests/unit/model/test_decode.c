/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "../../test.h"
#include "answers.h"
#include "beamtop/etf/check.h"
#include "beamtop/model/detail.h"

static void assert_slice(struct slice is, const char *text)
{
    assert_int_equal(is.len, strlen(text));
    assert_memory_equal(is.s, text, is.len);
    assert_int_equal(is.s[is.len], 0);
}

/* What a bad answer must leave as it was. */
struct kept {
    const void *all[13];
    int64_t sums[13];
};

static struct kept keep(const struct model *m)
{
    struct kept k = {.all = {model_node(m), model_system(m), model_scan(m), model_process(m),
                             model_mailbox(m), model_state(m), model_alloc(m), model_apps(m),
                             model_tree(m), model_armed(m), model_rows(m), model_threads(m),
                             model_msacc(m)}};
    k.sums[0] = model_node(m)->schedulers + (int64_t)model_node(m)->name.len;
    k.sums[1] = model_system(m)->reductions + model_system(m)->schedulers[0].total;
    k.sums[2] = model_scan(m)->total + model_scan(m)->rows[0].reductions;
    k.sums[3] = model_process(m)->row.memory_bytes + model_process(m)->stack[0].line;
    k.sums[4] = model_mailbox(m)->len + model_mailbox(m)->messages[0].bytes;
    k.sums[5] = model_state(m)->bytes + (int64_t)model_state(m)->text.len;
    k.sums[6] = model_alloc(m)->block_bytes + model_alloc(m)->rows[0].instances;
    k.sums[7] = app_rows(m)[0].reductions;
    k.sums[8] = model_tree(m)->nodes[1].memory_bytes;
    k.sums[9] = model_armed(m)->control_word + (int64_t)model_armed(m)->rows[0].where.len;
    k.sums[10] = model_rows(m)->rows[0].message_queue_len;
    k.sums[11] = model_threads(m)->rows[0].run_ns;
    k.sums[12] = (int64_t)model_msacc(m)->n_rows;
    return k;
}

static struct model *full_model(void)
{
    static const char *const first[] = {"node",    "system", "scan",    "rows", "process",
                                        "mailbox", "state",  "alloc",   "apps", "tables",
                                        "tree",    "armed",  "threads", "msacc"};
    struct model *m = model_new();
    struct error err = {0};
    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        for (size_t a = 0; a < ARRAY_LEN(answers); a++)
            if (strcmp(answers[a].name, first[i]) == 0 &&
                give(m, answers[a].kind, answers[a].text, &err) < 0)
                fail_msg("%s: %s", answers[a].name, err.text);
    return m;
}

TEST(test_good_answers_are_taken)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct model *m = model_new();
        struct error err = {0};
        if (give(m, answers[i].kind, answers[i].text, &err) < 0)
            fail_msg("%s: %s", answers[i].name, err.text);
        model_free(m);
    }
}

TEST(test_every_prefix_is_refused)
{
    struct model *m = full_model();
    struct kept before = keep(m);
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct term t = term_of(answers[i].text);
        for (size_t len = 0; len < t.len; len++) {
            uint8_t *bytes = malloc(len + 1); /* its own block: reading on is seen */
            memcpy(bytes, t.bytes, len);
            bytes = realloc(bytes, len > 0 ? len : 1);
            struct error err = {0};
            if (give_bytes(m, answers[i].kind, bytes, len, &scan_want, 0, &err) == 0)
                fail_msg("%s: %zu of %zu bytes were taken", answers[i].name, len, t.len);
            assert_true(err.text[0] != '\0');
            free(bytes);
        }
        term_free(&t);
    }
    struct kept after = keep(m);
    assert_memory_equal(&before, &after, sizeof before);
    model_free(m);
}

TEST(test_every_changed_byte_is_survived)
{
    static const uint8_t values[] = {0, 1, 97, 98, 104, 106, 107, 108, 109, 110, 119, 255};
    struct model *m = full_model();
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct term t = term_of(answers[i].text);
        uint8_t *bytes = malloc(t.len);
        for (size_t at = 0; at < t.len; at++) {
            for (size_t v = 0; v < ARRAY_LEN(values); v++) {
                struct error err = {0};
                size_t used;
                memcpy(bytes, t.bytes, t.len);
                bytes[at] = values[v];
                if (etf_check(bytes, t.len, &used, &err) == 0 && used == t.len)
                    give_bytes(m, answers[i].kind, bytes, t.len, &scan_want, 0, &err);
            }
        }
        free(bytes);
        term_free(&t);
    }
    model_free(m);
}

TEST(test_bytes_after_the_term_are_refused)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct model *m = model_new();
        struct error err = {0};
        struct term t = term_of(answers[i].text);
        uint8_t *bytes = malloc(t.len + 1);
        memcpy(bytes, t.bytes, t.len);
        bytes[t.len] = 106;
        if (give_bytes(m, answers[i].kind, bytes, t.len + 1, &scan_want, 0, &err) == 0)
            fail_msg("%s: a byte too many was taken", answers[i].name);
        free(bytes);
        term_free(&t);
        model_free(m);
    }
}

static const struct {
    const char *name;
    enum answer_kind kind;
    const char *text;
} bad_answers[] = {
    {"node: no tuple", ANSWER_NODE, "node"},
    {"node: other tag", ANSWER_NODE,
     "{nodes, n, <<>>, <<>>, <<>>, 8, 2, 2, 2, 1, 2, {1,2,3,4}, <<>>, <<>>, 1, 60, i, <<>>, 2}"},
    {"node: a number as text", ANSWER_NODE,
     "{node, n, 25, <<>>, <<>>, 8, 2, 2, 2, 1, 2, {1,2,3,4}, <<>>, <<>>, 1, 60, i, <<>>, 2}"},
    {"node: three limits", ANSWER_NODE,
     "{node, n, <<>>, <<>>, <<>>, 8, 2, 2, 2, 1, 2, {1,2,3}, <<>>, <<>>, 1, 60, i, <<>>, 2}"},
    {"node: words of 7 bytes", ANSWER_NODE,
     "{node, n, <<>>, <<>>, <<>>, 7, 2, 2, 2, 1, 2, {1,2,3,4}, <<>>, <<>>, 1, 60, i, <<>>, 2}"},
    {"system: memory of two", ANSWER_SYSTEM,
     "{system, 5, 6, 7, {1,2}, {1,2,3,4}, {0,[0,0,0]}, {1,2,3,4,5,6}, undefined, undefined}"},
    {"system: queues are no integers", ANSWER_SYSTEM,
     "{system, 5, 6, 7, undefined, {1,2,3,4}, {0,[a]}, {1,2,3,4,5,6}, undefined, undefined}"},
    {"system: improper list", ANSWER_SYSTEM,
     "{system, 5, 6, 7, undefined, {1,2,3,4}, {0,[0|1]}, {1,2,3,4,5,6}, undefined, undefined}"},
    {"system: wall time of bytes", ANSWER_SYSTEM,
     "{system, 5, 6, 7, undefined, {1,2,3,4}, {0,[0]}, {1,2,3,4,5,6}, \"abc\", undefined}"},
    {"system: five counters", ANSWER_SYSTEM,
     "{system, 5, 6, 7, undefined, {1,2,3,4}, {0,[0]}, {1,2,3,4,5}, undefined, undefined}"},
    {"system: eight counters", ANSWER_SYSTEM,
     "{system, 5, 6, 7, undefined, {1,2,3,4}, {0,[0]}, {1,2,3,4,5,6,7,8}, undefined, undefined}"},
    {"system: lateness of bytes", ANSWER_SYSTEM,
     "{system, 5, 6, 7, undefined, {1,2,3,4}, {0,[0]}, {1,2,3,4,5,6}, undefined, undefined, {1, "
     "\"abc\", 2}}"},
    {"system: twelve", ANSWER_SYSTEM,
     "{system, 5, 6, 7, undefined, {1,2,3,4}, {0,[0]}, {1,2,3,4,5,6}, undefined, undefined, {1, "
     "[]}, 2}"},
    {"scan: rows are bytes", ANSWER_SCAN, "{scan, 1, 0, 0, 0, 0, 0, \"abc\", []}"},
    {"scan: watched rows are bytes", ANSWER_SCAN, "{scan, 1, 0, 0, 0, 0, 0, [], [], \"abc\"}"},
    {"scan: eleven", ANSWER_SCAN, "{scan, 1, 0, 0, 0, 0, 0, [], [], [], []}"},
    {"scan: labels are bytes", ANSWER_SCAN, "{scan, 1, 0, 0, 0, 0, 0, [], \"abc\"}"},
    {"scan: row without values", ANSWER_SCAN, "{scan, 1, 0, 0, 1, 1, 0, [{<0.1.0>,1,2}], []}"},
    {"scan: an item too few", ANSWER_SCAN,
     "{scan, 1, 0, 0, 1, 1, 0, [{<0.1.0>,1,2,{undefined,1,2,3}}], []}"},
    {"scan: an item too many", ANSWER_SCAN,
     "{scan, 1, 0, 0, 1, 1, 0, [{<0.1.0>,1,2,{undefined,1,2,3,undefined,5}}], []}"},
    {"scan: a pid that is none", ANSWER_SCAN,
     "{scan, 1, 0, 0, 1, 1, 0, [{x,1,2,{undefined,1,2,3,undefined}}], []}"},
    {"scan: memory as an atom", ANSWER_SCAN,
     "{scan, 1, 0, 0, 1, 1, 0, [{<0.1.0>,1,2,{undefined,1,2,much,undefined}}], []}"},
    {"rows: bytes", ANSWER_ROWS, "{rows, 1, \"abc\"}"},
    {"rows: a size that is newer", ANSWER_ROWS,
     "{rows, 1, [{<0.1.0>, {1, 2, {newer, 3}, undefined}}]}"},
    {"rows: neither values nor gone", ANSWER_ROWS, "{rows, 1, [{<0.1.0>, dead}]}"},
    {"rows: an item too many", ANSWER_ROWS, "{rows, 1, [{<0.1.0>, {1,2,3,undefined,5}}]}"},
    {"scan: identity of four", ANSWER_SCAN,
     "{scan, 1, 0, 0, 1, 1, 0, [{<0.1.0>,1,2,{{a,b,c,d},1,2,3,undefined}}], []}"},
    {"process: unknown item", ANSWER_PROCESS,
     "{process, 1, <0.1.0>, {undefined,undefined,undefined,undefined,undefined}, [{colour,1}]}"},
    {"process: no pid", ANSWER_PROCESS,
     "{process, 1, x, {undefined,undefined,undefined,undefined,undefined}, []}"},
    {"process: links without a count", ANSWER_PROCESS,
     "{process, 1, <0.1.0>, {undefined,undefined,undefined,undefined,undefined}, [{links,[]}]}"},
    {"process: a frame of three", ANSWER_PROCESS,
     "{process, 1, <0.1.0>, {undefined,undefined,undefined,undefined,undefined}, "
     "[{stack,[{a,b,1}]}]}"},
    {"process: other atom", ANSWER_PROCESS, "went"},
    {"mailbox: other tag", ANSWER_MAILBOX, "{postbox, 1, 2, []}"},
    {"mailbox: messages missing", ANSWER_MAILBOX, "{mailbox, 1, 2}"},
    {"mailbox: message is no binary", ANSWER_MAILBOX, "{mailbox, 1, 2, [{1, a}]}"},
    {"state: arity", ANSWER_STATE, "{state, 1, <<>>, 2}"},
    {"state: swapped", ANSWER_STATE, "{state, <<>>, 2}"},
    {"alloc: carriers of three", ANSWER_ALLOC,
     "{alloc, 5, [{a, 3, {10, 600, 2}, {1, 300, 1, 400}, {1, 600, 100}}], undefined}"},
    {"armed: seven", ANSWER_ARMED, "{armed, 5, 0, [], {0, []}, {0, []}, []}"},
    {"armed: other tag", ANSWER_ARMED, "{harmed, 5, 0, [], {0, []}, {0, []}, [], 0, <<>>, 0}"},
    {"armed: sessions are bytes", ANSWER_ARMED,
     "{armed, 5, 0, \"ab\", {0, []}, {0, []}, [], 0, <<>>, 0}"},
    {"armed: session without whose", ANSWER_ARMED,
     "{armed, 5, 0, [{<<>>, maybe}], {0, []}, {0, []}, [], 0, <<>>, 0}"},
    {"armed: a total below the list", ANSWER_ARMED,
     "{armed, 5, 0, [], {0, [{<<>>, a, b, 1, []}]}, {0, []}, [], 0, <<>>, 0}"},
    {"armed: a total below zero", ANSWER_ARMED,
     "{armed, 5, 0, [], {-1, []}, {0, []}, [], 0, <<>>, 0}"},
    {"armed: unknown item", ANSWER_ARMED,
     "{armed, 5, 0, [], {1, [{<<>>, a, b, 1, [{colour, 1}]}]}, {0, []}, [], 0, <<>>, 0}"},
    {"armed: a count below zero", ANSWER_ARMED,
     "{armed, 5, 0, [], {1, [{<<>>, a, b, 1, [{call_count, -1}]}]}, {0, []}, [], 0, <<>>, 0}"},
    {"armed: a count of text", ANSWER_ARMED,
     "{armed, 5, 0, [], {1, [{<<>>, a, b, 1, [{call_time, <<>>}]}]}, {0, []}, [], 0, <<>>, 0}"},
    {"armed: a place of numbers", ANSWER_ARMED,
     "{armed, 5, 0, [], {1, [{<<>>, 1, 2, 3, []}]}, {0, []}, [], 0, <<>>, 0}"},
    {"armed: flags of a number", ANSWER_ARMED,
     "{armed, 5, 0, [], {0, []}, {1, [{<<>>, 7, <<>>, [call], <<>>}]}, [], 0, <<>>, 0}"},
    {"armed: flags are bytes", ANSWER_ARMED,
     "{armed, 5, 0, [], {0, []}, {1, [{<<>>, <0.1.0>, <<>>, \"ab\", <<>>}]}, [], 0, <<>>, 0}"},
    {"armed: monitor is an atom", ANSWER_ARMED,
     "{armed, 5, 0, [], {0, []}, {0, []}, [x], 0, <<>>, 0}"},
    {"armed: ours is no number", ANSWER_ARMED,
     "{armed, 5, 0, [], {0, []}, {0, []}, [], true, <<>>, 0}"},
    {"armed: system tracer is an atom", ANSWER_ARMED,
     "{armed, 5, 0, [], {0, []}, {0, []}, [], 0, none, 0}"},
    {"armed: tokens below zero", ANSWER_ARMED,
     "{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<>>, -1}"},
    {"armed: no tokens", ANSWER_ARMED, "{armed, 5, 0, [], {0, []}, {0, []}, [], 0, <<>>}"},
    {"alloc: mseg missing", ANSWER_ALLOC, "{alloc, 5, []}"},
    {"apps: row of six", ANSWER_APPS, "{apps, 1, [{shop, <<>>, <<>>, 5, 4096, 1000}], false}"},
    {"apps: partial is no boolean", ANSWER_APPS, "{apps, 1, [], maybe}"},
    {"waits: a row of 15", ANSWER_WAITS,
     "{waits, 1, [{<0.41.0>, a, a, a, call, undefined, a, undefined, 1, a, a, waiting, 0, 0, "
     "true}], false}"},
    {"waits: a process that is a name", ANSWER_WAITS,
     "{waits, 1, [{<0.41.0>, a, a, a, call, b, a, undefined, 1, a, a, waiting, 0, 0, true, "
     "false}], false}"},
    {"waits: of nobody", ANSWER_WAITS,
     "{waits, 1, [{undefined, a, a, a, call, undefined, a, undefined, 1, a, a, waiting, 0, 0, "
     "true, false}], false}"},
    {"tree: negative depth", ANSWER_TREE,
     "{tree, shop, [{-1, undefined, <<>>, worker, undefined}], false}"},
    {"tree: depth beyond all", ANSWER_TREE,
     "{tree, shop, [{4000000000, undefined, <<>>, worker, undefined}], false}"},
    {"tree: info of three", ANSWER_TREE,
     "{tree, shop, [{0, undefined, <<>>, worker, {a, b, 1}}], false}"},
};

TEST(test_bad_answers_are_refused)
{
    struct model *m = full_model();
    struct kept before = keep(m);
    for (size_t i = 0; i < ARRAY_LEN(bad_answers); i++) {
        struct error err = {0};
        int rc = give(m, bad_answers[i].kind, bad_answers[i].text, &err);
        if (rc != ERR_FORMAT)
            fail_msg("%s: %d %s", bad_answers[i].name, rc, err.text);
    }
    struct kept after = keep(m);
    assert_memory_equal(&before, &after, sizeof before);
    model_free(m);
}

TEST(test_too_many_rows_are_refused)
{
    struct builder *b = builder_new();
    struct model *m = model_new();
    struct error err = {0};
    size_t len, n = LIMIT_ROWS + WANT_PIDS + 1;
    build_tuple(b, 9);
    build_atom(b, "scan");
    for (int i = 0; i < 6; i++)
        build_int(b, 1);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_nil(b);
    build_nil(b);
    build_nil(b);
    const uint8_t *bytes = builder_bytes(b, &len);
    assert_int_equal(model_take(m, QUESTION_SCAN, bytes, len, &scan_want, 0, &err), ERR_LIMIT);
    assert_null(model_scan(m));
    builder_free(b);
    model_free(m);
}

TEST(test_node)
{
    struct model *m = full_model();
    const struct node_info *n = model_node(m);
    assert_slice(n->name, "mq1@host");
    assert_slice(n->otp, "25");
    assert_slice(n->erts, "13.1.5");
    assert_slice(n->emulator, "jit");
    assert_slice(n->os, "unix/linux 6.1.0");
    assert_slice(n->os_pid, "4711");
    assert_slice(n->code_mode, "interactive");
    assert_int_equal(n->elixir.len, 0);
    assert_int_equal(n->word_bytes, 8);
    assert_int_equal(n->schedulers, 2);
    assert_int_equal(n->dirty_cpu_online, 1);
    assert_int_equal(n->dirty_io, 2);
    assert_int_equal(n->atom_limit, 1048576);
    assert_int_equal(n->net_tick_s, 60);
    assert_int_equal(n->cpus, 2);
    model_free(m);
}

TEST(test_system)
{
    struct model *m = full_model();
    const struct system_sample *s = model_system(m);
    assert_int_equal(s->uptime_ms, 5000);
    assert_true(s->memory_bytes[MEMORY_TOTAL] == 1000 && s->memory_bytes[MEMORY_ETS] == 10);
    assert_int_equal(s->ets_tables, 12);
    assert_int_equal(s->run_queue, 3);
    assert_int_equal(s->run_queue_highest, 2);
    assert_int_equal(s->run_queue_dirty_cpu, 4);
    assert_int_equal(s->run_queue_dirty_io, 5);
    assert_int_equal(s->out_bytes, 50);
    assert_int_equal(s->own_reductions, -1); /* as in recordings of before it was told */
    assert_true(isnan(s->interval_s) && isnan(s->reductions_per_s) && isnan(s->use_normal));
    static const enum scheduler_kind kinds[] = {SCHEDULER_NORMAL,    SCHEDULER_NORMAL,
                                                SCHEDULER_DIRTY_CPU, SCHEDULER_DIRTY_CPU,
                                                SCHEDULER_DIRTY_IO,  SCHEDULER_DIRTY_IO};
    static const int queues[] = {2, 1, 4, 4, 5, 5};
    assert_int_equal(s->n_schedulers, ARRAY_LEN(kinds));
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        assert_int_equal(s->schedulers[i].kind, kinds[i]);
        assert_int_equal(s->schedulers[i].queue_len, queues[i]);
    }
    model_free(m);
}

TEST(test_system_with_gaps)
{
    struct model *m = model_new();
    struct error err = {0};
    assert_int_equal(give(m, answers[0].kind, answers[0].text, &err), 0);
    assert_int_equal(give(m, answers[2].kind, answers[2].text, &err), 0);
    const struct system_sample *s = model_system(m);
    assert_true(isnan(s->memory_bytes[MEMORY_TOTAL]) && isnan(s->rss_bytes));
    assert_int_equal(s->ets_tables, -1);
    assert_int_equal(s->n_schedulers, 6); /* listed all the same */
    assert_true(isnan(s->schedulers[0].use));
    assert_int_equal(s->schedulers[0].total, -1);
    model_free(m);
}

TEST(test_scan)
{
    struct model *m = full_model();
    const struct proc_scan *s = model_scan(m);
    assert_int_equal(s->n_rows, 2);
    assert_true(s->interval_s == 1 && s->sweep_us == 1234 && s->by_delta);
    assert_string_equal(s->sort_key, "reductions_per_s");
    const struct proc_row *r = &s->rows[0];
    assert_int_equal(r->pid.id, 41);
    assert_slice(r->name, "shop_cart");
    assert_slice(r->initial_call, "shop_cart:init/1");
    assert_slice(r->label, "cart");
    assert_slice(r->application, "shop");
    assert_slice(r->current_function, "gen_server:loop/7");
    assert_int_equal(r->reductions, 9000);
    assert_int_equal(r->memory_bytes, 4096);
    assert_int_equal(r->word_bytes, 8);
    assert_true(r->reductions_per_s == 500); /* the sweep's own change */
    assert_true(isnan(r->message_queue_per_s) && isnan(r->memory_per_s));
    r = &s->rows[1];
    assert_int_equal(r->pid.serial, 1);
    assert_int_equal(r->name.len, 0);
    assert_slice(r->initial_call, "shop_api:'handle-it'/2");
    assert_slice(proc_row_display_name(r), "shop_api:'handle-it'/2");
    assert_int_equal(r->current_function.len, 0);
    assert_int_equal(r->links, -1);
    assert_true(isnan(r->reductions_per_s));
    model_free(m);
}

TEST(test_process)
{
    struct model *m = full_model();
    const struct process_detail *p = model_process(m);
    assert_false(p->gone);
    assert_slice(p->row.name, "shop_cart");
    assert_slice(p->row.status, "waiting");
    assert_true(p->row.trap_exit && p->row.has_group_leader);
    assert_int_equal(p->row.group_leader.id, 30);
    assert_int_equal(p->row.minor_gcs, 3);
    assert_int_equal(p->row.fullsweep_after, 65535);
    assert_int_equal(p->ancestors.n, 2);
    assert_slice(p->ancestors.items[0].text, "shop_sup");
    assert_true(p->ancestors.items[1].is_pid && p->parent.is_pid);
    assert_int_equal(p->links.count, 2);
    assert_int_equal(p->links.n, 1);
    assert_slice(p->links.items[0].name, "shop_sup");
    assert_false(p->monitors.items[0].is_pid);
    assert_slice(p->monitors.items[0].text, "{db,db@host}");
    assert_int_equal(p->n_stack, 2);
    assert_slice(p->stack[0].function, "gen_server:loop/7");
    assert_slice(p->stack[0].file, "gen_server.erl");
    assert_int_equal(p->stack[0].line, 437);
    assert_int_equal(p->stack[1].file.len, 0);
    assert_slice(p->location.function, "gen_server:loop/7");
    assert_slice(p->dictionary[0].key, "'$ancestors'");
    assert_int_equal(p->dictionary[0].value_bytes, 48);
    assert_int_equal(p->binary_bytes, 700);
    assert_int_equal(p->row.binary_bytes, 700);
    assert_int_equal(p->binaries[1].refs, 4);
    assert_int_equal(p->n_gc, 3);
    assert_true(ring_at(p->memory_history, 0) == 4096);
    assert_true(ring_at(p->message_queue_history, 0) == 3);
    assert_true(isnan(ring_at(p->reductions_history, 0)));
    model_free(m);
}

TEST(test_pids_of_other_nodes_are_text)
{
    struct model *m = model_new();
    struct builder *b = builder_new();
    struct error err = {0};
    const struct etf_pid here = {.id = 1}, there = {.id = 2};
    size_t len;
    build_tuple(b, 5);
    build_atom(b, "process");
    build_int(b, 1);
    build_pid(b, "mq1@host", &here);
    build_tuple(b, 5);
    for (int i = 0; i < 5; i++)
        build_atom(b, "undefined");
    build_list(b, 1);
    build_tuple(b, 2);
    build_atom(b, "ancestors");
    build_list(b, 2);
    build_pid(b, "other@host", &there);
    build_pid(b, "mq1@host", &there);
    build_nil(b);
    build_nil(b);
    const uint8_t *bytes = builder_bytes(b, &len);
    if (model_take(m, QUESTION_PROCESS, bytes, len, NULL, 0, &err) < 0)
        fail_msg("%s", err.text);
    const struct process_detail *p = model_process(m);
    assert_false(p->ancestors.items[0].is_pid);
    assert_true(p->ancestors.items[0].text.len > 0);
    assert_true(p->ancestors.items[1].is_pid);
    builder_free(b);
    model_free(m);
}

TEST(test_small_details)
{
    struct model *m = full_model();
    const struct mailbox_detail *box = model_mailbox(m);
    assert_int_equal(box->status, MAILBOX_OK);
    assert_int_equal(box->n_messages, 2);
    assert_slice(box->messages[0].text, "{a,1}");
    assert_int_equal(box->messages[1].bytes, 9000);
    assert_int_equal(model_state(m)->status, STATE_OK);
    assert_slice(model_state(m)->text, "{state,[]}");
    const struct alloc_detail *a = model_alloc(m);
    assert_int_equal(a->n_rows, 2);
    assert_true(a->rows[0].utilisation == 0.5);
    assert_true(isnan(a->rows[1].utilisation));
    assert_int_equal(a->block_bytes, 1000);
    assert_int_equal(a->carrier_bytes, 2000);
    assert_int_equal(a->mseg_calls, 100);
    const struct tree_detail *t = model_tree(m);
    assert_slice(t->root, "shop");
    assert_int_equal(t->n_nodes, 4);
    assert_true(t->partial && t->nodes[3].busy && !t->nodes[2].busy);
    assert_false(t->nodes[2].has_pid);
    assert_slice(t->nodes[1].name, "shop_sup");
    assert_slice(t->nodes[0].initial_call, "application_master:init/4");
    assert_int_equal(t->nodes[2].memory_bytes, -1);
    assert_slice(app_rows(m)[0].description, "A shop");
    assert_int_equal(app_rows(m)[1].name.len, 0);
    struct error err = {0};
    assert_int_equal(give(m, ANSWER_MAILBOX, "{ask, 20000, 99999}", &err), 0);
    assert_int_equal(model_mailbox(m)->status, MAILBOX_ASK);
    assert_int_equal(model_mailbox(m)->len, 20000);
    assert_int_equal(give(m, ANSWER_STATE, "{ask, 2720}", &err), 0);
    assert_int_equal(model_state(m)->status, STATE_ASK);
    assert_int_equal(model_state(m)->bytes, 2720);
    assert_int_equal(give(m, ANSWER_STATE, "{no_state, <<\"timeout\">>}", &err), 0);
    assert_int_equal(model_state(m)->status, STATE_NONE);
    assert_int_equal(give(m, ANSWER_PROCESS, "gone", &err), 0);
    assert_true(model_process(m)->gone && model_process(m)->kept);
    assert_true(model_process(m)->row.initial_call.len > 0); /* as it was before */
    model_asked(m, QUESTION_PROCESS, &(struct process_ref){.name = "another"});
    assert_int_equal(give(m, ANSWER_PROCESS, "gone", &err), 0);
    assert_true(model_process(m)->gone && !model_process(m)->kept);
    model_free(m);
}

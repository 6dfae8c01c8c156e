/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What native asks say of growth, and the answer made of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/etf/print.h"
#include "query/growth/growth_calls.h"
#include "query/native/args.h"
#include "query/growth/growth_terms.h"
#include "query/native/values.h"
#include "terms.h"

static const struct who_node node = {.name = NODE};

static bool skip_none(const void *arg, const struct etf_pid *pid)
{
    (void)arg;
    (void)pid;
    return false;
}

/* ---- counts */

static bool read_counts(const char *list, struct growth_counts *out)
{
    struct slice term, values[GROWTH_COUNTS + 1];
    struct builder *b = term_of(list, &term);
    *out = (struct growth_counts){0};
    assert_true(values_read_list(term, values, GROWTH_COUNTS));
    const bool ok = growth_read_counts(values, GROWTH_COUNTS, &node, out);
    builder_free(b);
    return ok;
}

TEST(test_counts)
{
    static const char *const odd[] = {"[a,\"25\",8,1,2,3,4,true]", "[<0.9.1>,25,8,1,2,3,4,true]",
                                      "[<0.9.1>,\"x\",8,1,2,3,4,true]",
                                      "[<0.9.1>,\"25\",8,-1,2,3,4,true]",
                                      "[<0.9.1>,\"25\",8,1,2,a,4,true]"};
    struct growth_counts c;
    assert_true(read_counts("[<0.9.1>,\"25\",8,1000,20,7,110,true]", &c));
    assert_int_equal(c.release, 25);
    assert_int_equal(c.atoms, 1000);
    assert_int_equal(c.modules, 110);
    assert_true(c.has_sockets);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        if (read_counts(odd[i], &c))
            fail_msg("%s is read", odd[i]);
}

TEST(test_numbers)
{
    static const struct {
        struct etf_pid pid;
        int64_t release, number;
    } cases[] = {
        {{.id = 9, .serial = 1}, 25, 32768 + 9},
        {{.id = 9, .serial = 1}, 27, (INT64_C(1) << 28) + 9},
        {{.id = 40000, .serial = 0}, 25, 40000},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct etf_pid back = growth_pid(cases[i].number, &cases[i].pid, cases[i].release);
        assert_int_equal(growth_number(&cases[i].pid, cases[i].release), cases[i].number);
        assert_true(pid_same(&back, &cases[i].pid));
    }
}

static struct growth_kept read_kept(const char *messages, int64_t schedulers)
{
    struct slice value;
    struct builder *b = term_of(messages, &value);
    const struct growth_kept kept = growth_read_kept(value, schedulers);
    builder_free(b);
    return kept;
}

#define TYPES(timers, monitors)                                                                    \
    "[{proc,9,9},{bif_timer,304," timers "},{monitor,640," monitors "},{link,96,96}]"

TEST(test_kept)
{
    static const char *const odd[] = {"{messages,[]}", "undefined", "{messages,[a]}", "[]"};
    const struct growth_kept k =
        read_kept("{messages,[{r,1,[{fix_alloc,1,[{fix_types,5," TYPES(
                      "304", "640") "},{mbcs,[]}]},"
                                    "{fix_alloc,0,[{fix_types," TYPES(
                                        "0", "0") "}]}]},"
                                                  "{r,2,[{fix_alloc,2,[{mbcs,[]}]}]}]}",
                  2);
    assert_true(k.known);
    assert_int_equal(k.timers, 2);
    assert_int_equal(k.timer_bytes, 304);
    assert_int_equal(k.monitor_bytes, 640);
    assert_int_equal(k.link_bytes, 192);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        if (read_kept(odd[i], 2).known)
            fail_msg("%s is known", odd[i]);
}

/* ---- processes */

#define ROW(call, at, parent)                                                                      \
    "[{initial_call," call "},{current_function," at "},{parent," parent "}]"

static bool read_row(struct growth_rows *rows, uint32_t id, const char *info)
{
    struct slice value;
    struct builder *b = term_of(info, &value);
    struct growth_row row = {.pid = {.id = id}, .times = 1};
    const bool ok = growth_read_row(value, &node, &row);
    if (ok)
        growth_rows_add(rows, &row);
    builder_free(b);
    return ok;
}

TEST(test_groups)
{
    static const char *const odd[] = {"undefined", "[]", ROW("a", "{a,b,0}", "<0.1.0>"),
                                      ROW("{erlang,apply,2}", "undefined", "<0.1.0>"),
                                      ROW("{erlang,hibernate,3}", "{a,b,0}", "<0.1.0>")};
    struct growth_rows rows;
    growth_rows_init(&rows, 10);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        if (read_row(&rows, 1, odd[i]))
            fail_msg("%s is a row", odd[i]);
    assert_true(read_row(&rows, 11, ROW("{erlang,apply,2}", "{m,f,0}", "<0.1.0>")));
    assert_true(read_row(&rows, 12, ROW("{m,f,0}", "{x,y,1}", "<0.2.0>")));
    assert_true(read_row(&rows, 13, ROW("{proc_lib,init_p,5}", "{m,f,0}", "<0.2.0>")));
    assert_true(read_row(&rows, 14, ROW("{m,g,0}", "{m,f,0}", "undefined")));
    const struct growth_group group = growth_group_of(&rows);
    assert_int_equal(group.sampled, 4);
    assert_int_equal(group.seen, 3);
    assert_int_equal(group.spawned, 2);
    assert_int_equal(group.example->id, 13);
    assert_int_equal(group.spawner->id, 2);
    growth_rows_clear(&rows);
}

/* Of a kind that lasts, and of short ones. */
TEST(test_brief)
{
    static const struct {
        double spawned;
        size_t lasting; /* of 6 are kept */
    } cases[] = {{12, 6}, {20, 1}, {13, 2}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct growth_rows seen, out;
        size_t lasting = 0;
        growth_rows_init(&seen, 20);
        growth_rows_init(&out, 20);
        for (uint32_t id = 0; id < 8; id++) {
            read_row(&seen, id,
                     id < 6 ? ROW("{m,f,0}", "{m,f,0}", "<0.1.0>")
                            : ROW("{m,g,0}", "{m,g,0}", "<0.1.0>"));
            seen.all[id].times = id < 6 ? 20 : 2;
        }
        growth_add_brief(&seen, cases[i].spawned, &out);
        for (size_t k = 0; k < out.n; k++)
            lasting += out.all[k].pid.id < 6;
        assert_int_equal(lasting, cases[i].lasting);
        assert_int_equal(out.n - lasting, 2);
        growth_rows_clear(&seen);
        growth_rows_clear(&out);
    }
}

TEST(test_looks)
{
    const struct etf_pid pids[] = {{.id = 5}, {.id = 6}};
    struct buf text;
    struct slice value;
    struct growth_rows seen;
    buf_init(&text, 0);
    for (int i = 0; i < GROWTH_TIMES; i++)
        buf_printf(&text, "%s[true,[undefined,%s],true,[undefined,undefined],true,[a,undefined]]",
                   i ? "," : "[", i < 2 ? ROW("{m,f,0}", "{m,f,0}", "<0.1.0>") : "undefined");
    buf_puts(&text, "]");
    struct builder *b = term_of(buf_cstr(&text), &value);
    growth_rows_init(&seen, 4);
    growth_read_looks(value, pids, 2, &node, skip_none, NULL, &seen);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.all[0].pid.id, 6);
    assert_int_equal(seen.all[0].times, 2);
    growth_read_looks((struct slice){"j", 1}, pids, 2, &node, skip_none, NULL, &seen);
    assert_int_equal(seen.n, 1);
    growth_rows_clear(&seen);
    builder_free(b);
    buf_clear(&text);
}

/* ---- restarts */

/* One of four children is another at each look, or one comes at each. */
static bool read_restarts(bool grows, struct growth_restarts *out)
{
    struct slice looks[GROWTH_WATCHES];
    struct builder *kept[GROWTH_WATCHES];
    for (int i = 0; i < GROWTH_WATCHES; i++) {
        char *text = alloc_printf("[<0.1.0>,<0.2.0>,<0.%d.0>%s]", 10 + i,
                                  grows && i % 2 ? ",<0.90.0>,a" : "");
        kept[i] = term_of(text, &looks[i]);
        free(text);
    }
    *out = (struct growth_restarts){0};
    const bool found = growth_read_restarts(looks, 0.5, &node, out);
    for (int i = 0; i < GROWTH_WATCHES; i++)
        builder_free(kept[i]);
    return found;
}

TEST(test_restarts)
{
    struct growth_restarts r;
    assert_true(read_restarts(false, &r));
    assert_int_equal(r.children, 3);
    assert_int_equal(lround(r.per_s), 22);
    assert_int_equal(r.example.id, 11);
    assert_false(read_restarts(true, &r));
}

TEST(test_ends)
{
    struct growth_restarts r = {0};
    struct slice value;
    struct builder *b = term_of("{messages,[{'DOWN',r,process,<0.1.0>,normal},a,"
                                "{'DOWN',r,process,<0.2.0>,{shutdown,x}},"
                                "{'DOWN',r,process,<0.3.0>,noproc},"
                                "{'DOWN',r,process,<0.4.0>,{badmatch,1}}]}",
                                &value);
    growth_read_ends(value, &r);
    assert_true(r.has_ends);
    assert_int_equal(r.normal, 2);
    assert_int_equal(r.failed, 1);
    builder_free(b);
}

TEST(test_supervisors)
{
    static const struct {
        const char *call;
        bool has_keys, is_one;
    } cases[] = {{"{supervisor,kernel,1}", true, true},
                 {"{supervisor,'Elixir.Task.Supervisor',1}", true, false},
                 {"{gen_server,loop,7}", false, true},
                 {"{gen_server,loop,7}", true, false},
                 {"undefined", false, false}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct slice call;
        struct builder *b = term_of(cases[i].call, &call);
        if (growth_is_supervisor(call, cases[i].has_keys) != cases[i].is_one)
            fail_msg("%s", cases[i].call);
        builder_free(b);
    }
}

TEST(test_frequent)
{
    const struct etf_pid pids[] = {{.id = 1}, {.id = 2}, {.id = 2}, {.id = 3},
                                   {.id = 4}, {.id = 4}, {.id = 4}, {.id = 1}};
    struct etf_pid out[GROWTH_SUSPECTS];
    struct slice links;
    struct builder *b = term_of("[<0.7.0>,<0.3.0>,a,<0.5.0>,<0.4.0>,<0.6.0>]", &links);
    struct etf_pid ends[2];
    assert_int_equal(growth_most_frequent(pids, ARRAY_LEN(pids), out), 3);
    assert_int_equal(out[0].id, 4);
    assert_int_equal(growth_most_frequent(pids, 0, out), 0);
    assert_int_equal(growth_read_children(links, &node, ends, 2), 2);
    assert_int_equal(ends[0].id, 3);
    assert_int_equal(ends[1].id, 7);
    assert_int_equal(growth_read_youngest(links, &node, skip_none, NULL, ends, 2), 2);
    assert_int_equal(ends[0].id, 7);
    assert_int_equal(ends[1].id, 6);
    builder_free(b);
}

/* ---- tables */

static void read_tables(const char *ids, const char *words, struct growth_tables *out)
{
    struct slice list, values;
    struct builder *a = term_of(ids, &list), *b = term_of(words, &values);
    arena_init(&out->arena);
    assert_true(growth_read_tables(list, out));
    assert_true(growth_take_words(out, values));
    builder_free(a);
    builder_free(b);
}

TEST(test_tables)
{
    struct growth_tables old = {0}, now = {0};
    struct growth_ets ets = {0};
    struct slice odd;
    read_tables("[aa,bb,cc]", "[100,200,300]", &old);
    read_tables("[aa,bb,cc,dd,ee]", "[150,undefined,290,40,5]", &now);
    growth_compare_tables(&now, &old, &ets);
    assert_int_equal(ets.measured, 4);
    assert_int_equal(ets.n_new, 2);
    assert_int_equal(ets.n_growing, 3);
    assert_int_equal(ets.growing[0].words, 50);
    assert_int_equal(ets.growing[1].words, 40);
    assert_int_equal(ets.growing[2].words, 5);
    arena_clear(&old.arena);
    arena_clear(&now.arena);
    struct builder *b = term_of("[aa,1]", &odd);
    assert_false(growth_read_tables(odd, &now));
    arena_clear(&now.arena);
    builder_free(b);
}

/* The only one of `t` that is known by a name has this number. */
static void give_tid(struct growth_tables *t, uint32_t number)
{
    const struct etf_ref ref = {.creation = 1, .words = {number, 2, 3}, .n = 3};
    struct builder *b = builder_new();
    size_t len;
    build_list(b, 1);
    build_ref(b, NODE, &ref);
    build_nil(b);
    const uint8_t *bytes = builder_bytes(b, &len);
    growth_take_tids(t, (struct slice){(const char *)bytes + 1, len - 1});
    builder_free(b);
}

/* What has a name now has not grown from what had it before. */
TEST(test_table_made_again)
{
    for (uint32_t number = 7; number <= 8; number++) {
        struct growth_tables old = {0}, now = {0};
        struct growth_ets ets = {0};
        read_tables("[aa]", "[1000]", &old);
        read_tables("[aa]", "[1500]", &now);
        give_tid(&old, 7);
        give_tid(&now, number);
        growth_compare_tables(&now, &old, &ets);
        assert_int_equal(ets.n_new, number == 8);
        assert_int_equal(ets.growing[0].words, number == 8 ? 1500 : 500);
        arena_clear(&old.arena);
        arena_clear(&now.arena);
    }
}

static void expect_text_of(struct slice term, const char *expected)
{
    static const struct print_limits limits = {.bytes = 100};
    struct buf text;
    buf_init(&text, 0);
    print_term(&text, (const uint8_t *)term.s, term.len, &limits);
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
}

static void expect_most(const char *names, const char *owners, struct growth_most expected)
{
    struct growth_most most;
    struct slice a, b;
    struct builder *first = term_of(names, &a), *second = term_of(owners, &b);
    growth_read_most(a, b, &most);
    assert_int_equal(most.sampled, expected.sampled);
    assert_int_equal(most.seen, expected.seen);
    assert_int_equal(most.owned, expected.owned);
    if (expected.seen > 0)
        expect_text_of(most.owner, "<0.1.0>");
    builder_free(first);
    builder_free(second);
}

#define CATS "[{name,\"cat\"},{name,\"ls\"},undefined,{name,\"cat\"}]"
TEST(test_most)
{
    expect_most(CATS,
                "[{connected,<0.1.0>},{connected,<0.1.0>},undefined,"
                "{connected,<0.1.0>}]",
                (struct growth_most){.sampled = 3, .seen = 2, .owned = 2});
    expect_most(CATS, "[{connected,<0.1.0>},{connected,<0.2.0>},undefined,{connected,<0.3.0>}]",
                (struct growth_most){.sampled = 3, .seen = 2, .owned = 1});
    expect_most("[]", "[]", (struct growth_most){0});
}

/* ---- atoms */

TEST(test_atoms)
{
    struct growth_texts t;
    struct slice atoms;
    struct builder *b = term_of("[user_3,zz,user_1,aa,user_2]", &atoms);
    assert_true(growth_read_texts(atoms, &t));
    assert_true(slice_is(t.prefix, "user_"));
    assert_true(slice_is(t.first, "user_1"));
    assert_true(slice_is(t.last, "user_3"));
    builder_free(b);
    b = term_of("[a,1]", &atoms);
    assert_false(growth_read_texts(atoms, &t));
    builder_free(b);
}

/* ---- the answer */

static const struct who_entry *know_all(const void *arg, const struct etf_pid *pid)
{
    (void)pid;
    return arg;
}

TEST(test_answer)
{
    static const struct print_limits limits = {.depth = 20, .items = 100, .bytes = 4000};
    static const struct who_entry who = {.name = {"\x77\x01n", 3}};
    static const struct etf_pid pid = {.id = 7};
    struct builder *b = builder_new();
    struct buf text;
    size_t len;
    const struct growth_fact fact = {.node = &node,
                                     .who = know_all,
                                     .who_arg = &who,
                                     .mono_ns = 5,
                                     .over_s = 2,
                                     .spawned_per_s = NAN,
                                     .lately_per_s = NAN,
                                     .processes = {.sampled = 1, .seen = 1, .example = &pid},
                                     .sockets = -1};
    buf_init(&text, 0);
    growth_build(b, &fact);
    const uint8_t *bytes = builder_bytes(b, &len);
    print_term(&text, bytes, len, &limits);
    static const char *const parts[] = {"{growth,5,#{growth => #{",
                                        "spawned_per_s => undefined",
                                        "restarts => undefined",
                                        "ets => undefined",
                                        "kept => undefined",
                                        "sockets => undefined",
                                        "example => #{pid => <0.7.0>,name => n"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (!strstr(buf_cstr(&text), parts[i]))
            fail_msg("no %s in %s", parts[i], buf_cstr(&text));
    buf_clear(&text);
    builder_free(b);
}

/* What is asked parses, whatever there is to ask about. */
TEST(test_calls)
{
    const struct etf_pid pids[] = {{.id = 5}, {.id = 6}};
    struct builder *than = builder_new();
    build_pid(than, NODE, &pids[0]);
    struct builder *all[] = {growth_modules_args(),
                             growth_newest_modules_args(),
                             growth_newest_port_args(),
                             growth_tables_args(),
                             args_of_messages(),
                             growth_later_args("processes", than),
                             growth_socket_owners_args(),
                             growth_links_args(NODE, pids, 2),
                             growth_looks_args(NODE, pids, 2, GROWTH_ITEMS_PARENT),
                             growth_fixed_args(NODE, 1),
                             args_of_zip("ets", "info", NULL, 0, "name"),
                             growth_monitor_args(NODE, pids)};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        size_t len;
        struct cursor c;
        const uint8_t *bytes = builder_bytes(all[i], &len);
        cursor_init(&c, bytes, len);
        assert_true(cursor_skip(&c));
        assert_true(cursor_at_end(&c));
        builder_free(all[i]);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is kept of answers that are asked seldom, and which versions differ; nothing is connected
 * to. */
#include <string.h>

#include "../../test.h"
#include "app/fleet/fleet_internal.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/parse.h"

#define MOST 600
#define TEXT(s) ((struct slice){(s), sizeof(s) - 1})

struct world {
    uv_loop_t loop;
    struct cli_options cli;
    struct app_env env;
    struct fleet *fleet;
    struct vm_row rows[MOST];
    size_t n;
};

static void open_world(struct world *w, const char *target)
{
    struct error err = {0};
    *w = (struct world){.cli = {.timeout_s = 5}};
    uv_loop_init(&w->loop);
    const struct fleet_setup setup = {
        .cli = &w->cli, .env = &w->env, .loop = &w->loop, .facts = true};
    assert_int_equal(fleet_open(&w->fleet, target, &setup, &err), 0);
}

static void close_world(struct world *w)
{
    fleet_close(w->fleet);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
}

static void add_row(struct world *w, const char *section, struct slice item, struct slice value)
{
    w->rows[w->n++] = (struct vm_row){.id = item,
                                      .section = slice_of(section),
                                      .item = item,
                                      .value = value,
                                      .number = -1,
                                      .limit_number = -1};
}

static void add_version(struct world *w, const char *app, const char *version)
{
    add_row(w, "applications", slice_of(app), slice_of(version));
}

static struct member *tell(struct world *w, size_t node)
{
    const struct table_detail table = {.rows = w->rows, .n_rows = w->n};
    struct member *m = w->fleet->members[node];
    fleet_take_vm(m, &table);
    w->n = 0;
    return m;
}

static const char *apart(struct world *w, size_t node)
{
    fleet_compare_versions(w->fleet);
    assert_false(w->fleet->versions_changed);
    return w->fleet->members[node]->facts.apart;
}

TEST(test_what_differs_from_most)
{
    struct world w;
    open_world(&w, "a@h,b@h,c@h,d@h");
    for (size_t i = 0; i < 3; i++) {
        add_version(&w, "shop", i == 1 ? "1.3" : "1.2");
        add_version(&w, "kernel", "8.5");
        (void)tell(&w, i);
    }
    assert_string_equal(apart(&w, 0), "same");
    assert_string_equal(apart(&w, 1), "shop 1.3 (most: 1.2)");
    assert_string_equal(apart(&w, 3), ""); /* not asked yet */
    assert_true(w.fleet->members[1]->facts.is_apart);
    assert_false(w.fleet->members[0]->facts.is_apart);
    fleet_forget_facts(w.fleet->members[2]); /* now one each */
    assert_string_equal(apart(&w, 0), "shop 1.2");
    assert_string_equal(apart(&w, 1), "shop 1.3");
    assert_false(w.fleet->members[1]->facts.is_apart);
    fleet_forget_facts(w.fleet->members[1]); /* nothing to compare it with */
    assert_string_equal(apart(&w, 0), "");
    close_world(&w);
}

#define NODE(release)                                                                              \
    "{node, 'a@h', <<\"" release "\">>, <<\"13.1.5\">>, <<\"jit\">>, 8, 2, 2, 2, 1, 2, {262144, "  \
    "65536, 1048576, 8192}, <<\"unix/linux\">>, <<\"4711\">>, 1700000000000000, 60, interactive, " \
    "<<>>, 2}"

static void set_release(struct member *m, const char *text)
{
    struct error err = {0};
    struct builder *b = builder_new();
    size_t len;
    assert_int_equal(etf_parse(b, text, strlen(text), "a@h", &err), 0);
    const uint8_t *bytes = builder_bytes(b, &len);
    if (model_take(m->model, QUESTION_NODE, bytes, len, NULL, 0, &err) != 0)
        fail_msg("%s", err.text);
    builder_free(b);
    m->was_up = true;
}

/* Another release has other applications; those that are yours are compared. */
TEST(test_a_release_brings_its_own)
{
    static const char *const kernels[] = {"8.5", "8.5", "8.5.4", "10.0"};
    struct world w;
    open_world(&w, "a@h,b@h,c@h,d@h");
    for (size_t i = 0; i < 4; i++) {
        add_version(&w, "kernel", kernels[i]);
        add_version(&w, "elixir", "1.17");
        set_release(tell(&w, i), i == 3 ? NODE("27") : NODE("25"));
    }
    assert_string_equal(apart(&w, 0), "same");
    assert_string_equal(apart(&w, 2), "kernel 8.5.4 (most: 8.5)");
    assert_string_equal(apart(&w, 3), "same");
    close_world(&w);
}

TEST(test_texts_of_a_hostile_node)
{
    static char longer[300];
    struct world w;
    memset(longer, 'x', sizeof longer);
    open_world(&w, "a@h,b@h");
    add_row(&w, "applications", TEXT("a\0b"), TEXT("1"));
    add_row(&w, "applications", TEXT("c"), TEXT("1\0"));
    add_row(&w, "applications", TEXT(""), TEXT("1"));
    add_row(&w, "applications", TEXT("d"), TEXT(""));
    add_row(&w, "applications", (struct slice){longer, 101}, TEXT("1"));
    add_row(&w, "applications", TEXT("e"), (struct slice){longer, 81});
    assert_int_equal(tell(&w, 0)->facts.apps.len, 0);
    for (size_t i = 0; i < MOST; i++)
        add_row(&w, "applications", (struct slice){longer, 100}, (struct slice){longer, 80});
    assert_in_range(tell(&w, 0)->facts.apps.len, 30000, 32768);
    for (size_t node = 0; node < 2; node++) {
        for (size_t i = 0; i < 10; i++)
            add_row(&w, "applications", (struct slice){longer, 91 + i},
                    (struct slice){longer, 79 + node});
        (void)tell(&w, node);
    }
    const char *text = apart(&w, 0);
    assert_true(strlen(text) < sizeof w.fleet->members[0]->facts.apart);
    assert_non_null(strstr(text, ", …"));
    close_world(&w);
}

TEST(test_limit_of_memory)
{
    struct world w;
    open_world(&w, "a@h");
    assert_int_equal(w.fleet->members[0]->facts.memory_limit, -1);
    add_row(&w, "cgroup", TEXT("cgroup.memory"), TEXT("1 B"));
    w.rows[0].limit_number = 1000;
    add_row(&w, "os", TEXT("os.resident memory"), TEXT("1 B"));
    w.rows[1].number = 700;
    struct member *m = tell(&w, 0);
    assert_int_equal(m->facts.memory_limit, 1000);
    assert_int_equal(m->facts.resident_bytes, 700);
    assert_int_equal(tell(&w, 0)->facts.memory_limit, -1); /* it was not read this time */
    close_world(&w);
}

TEST(test_the_fullest_link)
{
    struct links_row rows[] = {
        {.node = TEXT("a@h"), .how = TEXT("self"), .queue_bytes = -1},
        {.node = TEXT("b@h"), .how = TEXT("visible"), .queue_bytes = 9000, .busy = true},
        {.node = TEXT("c@h"), .how = TEXT("visible"), .queue_bytes = 0},
        {.node = TEXT("d@h"), .how = TEXT("visible"), .queue_bytes = -1}};
    struct world w;
    open_world(&w, "a@h");
    struct member *m = w.fleet->members[0];
    assert_int_equal(m->facts.busy, -1);
    fleet_take_queues(m, &(struct table_detail){.rows = rows, .n_rows = 4});
    assert_int_equal(m->facts.queue_bytes, 9000);
    assert_string_equal(m->facts.queue_node, "b@h");
    assert_int_equal(m->facts.busy, 1);
    fleet_take_queues(m, &(struct table_detail){.rows = rows, .n_rows = 1});
    assert_int_equal(m->facts.queue_bytes, -1); /* nobody to send to */
    assert_int_equal(m->facts.busy, 0);
    close_world(&w);
}

TEST(test_what_a_row_says)
{
    static const struct {
        const char *name, *role;
    } roles[] = {{"shop-12@h", "shop"},
                 {"shop3@h", "shop"},
                 {"web_1.2@h", "web_1"},
                 {"42@h", "42"},
                 {"-7@h", "-7"}};
    struct world w;
    struct error err = {0};
    struct model *m = model_new();
    open_world(&w, "shop-12@h,shop3@h,web_1.2@h,42@h,-7@h");
    for (size_t i = 0; i < 3; i++) {
        add_version(&w, "shop", i == 1 ? "1.3" : "1.2");
        (void)tell(&w, i);
    }
    (void)apart(&w, 0);
    assert_int_equal(fleet_take(w.fleet, m, &err), 0);
    const struct table_detail *table = model_fleet(m);
    const struct fleet_row *rows = table->rows;
    assert_int_equal(table->n_rows, ARRAY_LEN(roles));
    for (size_t i = 0; i < table->n_rows; i++) {
        assert_true(slice_is(rows[i].role, roles[i].role));
        assert_int_equal(rows[i].memory_limit, -1);
        assert_int_equal(rows[i].link_queue_bytes, -1);
        assert_int_equal(rows[i].busy_links, -1);
    }
    assert_true(slice_is(rows[1].unlike, "apps"));
    assert_true(slice_is(rows[1].apps, "shop 1.3 (most: 1.2)"));
    assert_true(rows[0].unlike.len == 0 && slice_is(rows[0].apps, "same"));
    assert_true(rows[3].apps.len == 0);
    model_free(m);
    close_world(&w);
}

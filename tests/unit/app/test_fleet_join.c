/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who joins by the cluster, and what a node may not name; nothing is connected to. */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "app/fleet/fleet_internal.h"
#include "beamtop/etf/build.h"

struct world {
    uv_loop_t loop;
    struct cli_options cli;
    struct app_env env;
    struct fleet *fleet;
};

/* The first of the target is up, with that cookie. */
static void open_world(struct world *w, const char *target)
{
    struct error err = {0};
    *w = (struct world){.cli = {.cluster = true, .timeout_s = 5}};
    uv_loop_init(&w->loop);
    const struct fleet_setup setup = {.cli = &w->cli, .env = &w->env, .loop = &w->loop};
    assert_int_equal(fleet_open(&w->fleet, target, &setup, &err), 0);
    w->fleet->members[0]->state = MEMBER_UP;
    assert_int_equal(
        cookie_set(&w->fleet->members[0]->target.cookie, "SECRET", 6, COOKIE_HOME, &err), 0);
}

static void close_world(struct world *w)
{
    fleet_close(w->fleet);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
}

struct peer {
    const char *name, *how, *state;
};

static void build_peer(struct builder *b, const struct peer *peer)
{
    build_tuple(b, 15);
    build_binary(b, peer->name, strlen(peer->name));
    build_binary(b, peer->how, strlen(peer->how));
    build_binary(b, peer->state, strlen(peer->state));
    for (int i = 0; i < 6; i++)
        build_atom(b, "undefined");
    build_bool(b, false);
    for (int i = 0; i < 5; i++)
        build_atom(b, "undefined");
}

static void hear_links(struct world *w, const struct peer *peers, size_t n)
{
    struct member *seed = w->fleet->members[0];
    struct builder *b = builder_new();
    struct error err = {0};
    size_t len;
    build_tuple(b, 4);
    build_atom(b, "links");
    build_int(b, 1000);
    if (n > 0)
        build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_peer(b, &peers[i]);
    build_nil(b);
    build_bool(b, false);
    const uint8_t *bytes = builder_bytes(b, &len);
    assert_int_equal(model_take(seed->model, QUESTION_LINKS, bytes + 1, len - 1, NULL, 1000, &err),
                     0);
    builder_free(b);
    w->fleet->cluster_due_ms = 0;
    fleet_take_cluster(seed);
}

TEST(test_visible_ones_join)
{
    struct world w;
    const struct peer peers[] = {{"a@one", "self", ""},
                                 {"b@two", "visible", "up"},
                                 {"h@two", "hidden", "up"},
                                 {"p@two", "visible", "pending"},
                                 {"k@two", "known", "not connected"}};
    open_world(&w, "a@one");
    hear_links(&w, peers, ARRAY_LEN(peers));
    assert_int_equal(fleet_size(w.fleet), 2);
    const struct member *b = w.fleet->members[1];
    assert_string_equal(b->name, "b@two");
    assert_int_equal(b->origin, MEMBER_OF_CLUSTER);
    assert_string_equal(b->lent.text, "SECRET");
    assert_int_equal(b->lent.origin, COOKIE_HOME);
    assert_true(w.fleet->cluster_known);
    close_world(&w);
}

/* Texts with another meaning than a node's name, and what is none. */
TEST(test_what_no_node_may_name)
{
    char longer[300];
    struct world w;
    struct peer peers[] = {{"x@dns:evil", "visible", "up"},   {"x@srv:evil", "visible", "up"},
                           {"a@two,b@two", "visible", "up"},  {"@/etc/passwd", "visible", "up"},
                           {"alone", "visible", "up"},        {"", "visible", "up"},
                           {"a\x1b[1m@two", "visible", "up"}, {"a b@two", "visible", "up"},
                           {longer, "visible", "up"}};
    memset(longer, 'x', sizeof longer - 1);
    longer[10] = '@';
    longer[sizeof longer - 1] = '\0';
    open_world(&w, "a@one");
    hear_links(&w, peers, ARRAY_LEN(peers));
    assert_int_equal(fleet_size(w.fleet), 1);
    close_world(&w);
}

TEST(test_those_that_leave_and_come_back)
{
    struct world w;
    const struct peer b = {"b@two", "visible", "up"};
    open_world(&w, "a@one,c@three");
    hear_links(&w, &b, 1);
    const struct member *m = w.fleet->members[2];
    hear_links(&w, NULL, 0);
    assert_string_equal(m->left, "left the cluster");
    assert_null(w.fleet->members[1]->left); /* you have named it */
    hear_links(&w, &b, 1);
    assert_null(m->left);
    assert_true(fleet_remove(w.fleet, "b@two"));
    assert_false(fleet_remove(w.fleet, "b@two"));
    hear_links(&w, &b, 1);
    assert_true(m->removed);
    hear_links(&w, NULL, 0);
    hear_links(&w, &b, 1);
    assert_false(m->removed);
    assert_int_equal(fleet_size(w.fleet), 3);
    close_world(&w);
}

TEST(test_more_than_have_a_row)
{
    static char names[FLEET_MOST][32];
    static struct peer peers[FLEET_MOST];
    struct world w;
    struct error err = {0};
    for (size_t i = 0; i < FLEET_MOST; i++) {
        snprintf(names[i], sizeof names[i], "n%zu@two", i);
        peers[i] = (struct peer){names[i], "visible", "up"};
    }
    open_world(&w, "a@one");
    hear_links(&w, peers, FLEET_MOST);
    assert_int_equal(fleet_size(w.fleet), FLEET_MOST);
    assert_non_null(w.fleet->members[0]->note);
    assert_int_equal(fleet_add(w.fleet, "new@three", &err), ERR_LIMIT);
    assert_true(fleet_remove(w.fleet, "n5@two"));
    w.fleet->steady = true; /* a session may have a part by that place */
    assert_int_equal(fleet_add(w.fleet, "new@three", &err), ERR_LIMIT);
    assert_null(fleet_find(w.fleet, "new@three"));
    w.fleet->steady = false;
    assert_int_equal(fleet_add(w.fleet, "new@three", &err), 0);
    const struct member *new = fleet_find(w.fleet, "new@three");
    assert_int_equal(new->lent.origin, COOKIE_NONE); /* that of the one in whose place it is */
    assert_string_equal(new->lent.text, "");
    close_world(&w);
}

/* A pattern's stands above the one that is lent. */
TEST(test_which_cookie)
{
    static const enum cookie_origin origins[] = {COOKIE_NONE, COOKIE_HOME, COOKIE_PATTERNS};
    struct cookie lent = {.text = "LENT", .origin = COOKIE_DISCOVERED, .uid = 7};
    for (size_t i = 0; i < ARRAY_LEN(origins); i++) {
        struct target t = {.cookie = {.text = "OWN", .origin = origins[i]}};
        t.conn.cookie = t.cookie.text;
        target_lend(&t, NULL);
        target_lend(&t, &(struct cookie){.origin = COOKIE_NONE});
        assert_string_equal(t.conn.cookie, "OWN");
        target_lend(&t, &lent);
        const bool is_own = origins[i] == COOKIE_PATTERNS;
        assert_string_equal(t.conn.cookie, is_own ? "OWN" : "LENT");
        if (!is_own)
            assert_true(t.conn.cookie_uid == 7 && t.conn.cookie_origin == COOKIE_DISCOVERED);
    }
}

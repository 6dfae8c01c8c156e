/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes see each other, of what several nodes say. */
#include <stdlib.h>
#include <string.h>

#include "../query/terms.h"
#include "app/fleet/mesh.h"
#include "beamtop/base/alloc.h"
#include "beamtop/etf/print.h"

#define NODES 4
#define SELF(name, tick)                                                                           \
    "{" name                                                                                       \
    ",self,undefined,undefined,undefined,undefined,undefined,undefined,undefined,false," #tick     \
    ",<<\"true\">>,1048576,3,undefined,undefined}"
#define LINK_BY(name, how, state, queued, busy, connection)                                        \
    ",{" name "," how "," state ",tcp,<<\"h\">>,700,900," #queued ",undefined," busy               \
    ",undefined,undefined,undefined,undefined,undefined," connection "}"
#define LINK(name, how, state, queued, busy) LINK_BY(name, how, state, queued, busy, "undefined")
#define UP_BY(name, connection) LINK_BY(name, "visible", "up", 0, "false", connection)
#define UP(name) LINK(name, "visible", "up", 0, "false")
#define KNOWN(name) LINK(name, "known", "<<\"not connected\">>", undefined, "false")
#define LINKS(rows) "{links,1000,[" rows "],false}"

static struct member members[NODES];
static struct member *all[NODES];

static void take_text(struct model *m, enum question question, const char *text)
{
    struct slice bytes;
    struct error err = {0};
    struct builder *b = term_of(text, &bytes);
    if (model_take(m, question, (const uint8_t *)bytes.s + 1, bytes.len - 1, NULL, 1, &err) != 0)
        fail_msg("%s", err.text);
    builder_free(b);
}

/* NULL: the node does not answer. */
static uint64_t links_ms[NODES] = {1, 1, 1, 1};
static uint64_t heard_ms[NODES];
static uint32_t lives[NODES];
static struct mesh_seen *seen;
static char signs[NODES * (NODES + 1) + 1]; /* of the last matrix: rows, each ends with '|' */

static void read_matrix(struct model *m, struct builder *b)
{
    size_t len;
    struct error err = {0};
    const uint8_t *bytes = builder_bytes(b, &len);
    assert_int_equal(model_take(m, QUESTION_MATRIX, bytes + 1, len - 1, NULL, 1, &err), 0);
    const struct table_detail *t = model_matrix(m);
    const struct matrix_row *rows = t->rows;
    signs[0] = '\0';
    for (size_t i = 0; i < t->n_rows; i++) {
        assert_int_equal(rows[i].number, i + 1);
        strncat(signs, rows[i].signs.s, rows[i].signs.len);
        strcat(signs, "|");
    }
    builder_free(b);
}

static struct fleet open_fleet(const char *const links[], size_t n)
{
    static const char *const names[] = {"a@h", "b@h", "c@h", "d@h"};
    for (size_t i = 0; i < n; i++) {
        members[i] = (struct member){
            .model = model_new(), .heard_ms = heard_ms[i], .life = lives[i], .number = 1};
        snprintf(members[i].name, sizeof members[i].name, "%s", names[i]);
        all[i] = &members[i];
        if (!links[i])
            continue;
        take_text(members[i].model, QUESTION_LINKS, links[i]);
        model_set_link(members[i].model, LINK_LIVE, "");
        members[i].state = MEMBER_UP;
        members[i].links_ms = links_ms[i];
    }
    return (struct fleet){.members = all, .n = n, .seen = seen};
}

static int64_t last_reconnects; /* of the last row */

/* A line for each row: level kind node peer says peer_says note. */
static void expect_mesh(const char *const links[], size_t n, const char *expected)
{
    struct fleet f = open_fleet(links, n);
    struct model *m = model_new();
    struct builder *matrix, *b = mesh_build(&f, &matrix);
    seen = f.seen;
    struct buf text;
    struct error err = {0};
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    assert_int_equal(model_take(m, QUESTION_MESH, bytes + 1, len - 1, NULL, 1, &err), 0);
    const struct table_detail *t = model_mesh(m);
    const struct mesh_row *r = t->rows;
    buf_init(&text, 0);
#define PUT(slice) (int)(slice).len, (slice).s
    for (size_t i = 0; i < t->n_rows; i++, r++)
        buf_printf(&text, "%.*s %.*s %.*s %.*s %.*s %.*s %.*s|", PUT(r->level), PUT(r->kind),
                   PUT(r->node), PUT(r->peer), PUT(r->says), PUT(r->peer_says), PUT(r->note));
    last_reconnects = t->n_rows > 0 ? r[-1].reconnects : -1;
#undef PUT
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
    builder_free(b);
    read_matrix(m, matrix);
    model_free(m);
    for (size_t i = 0; i < n; i++)
        model_free(members[i].model);
}

TEST(test_all_see_each_other)
{
    const char *const links[] = {LINKS(SELF("'a@h'", 60) UP("'b@h'")),
                                 LINKS(SELF("'b@h'", 60) UP("'a@h'"))};
    expect_mesh(links, 2, " link a@h b@h visible visible |");
    assert_false(members[0].is_odd);
}

TEST(test_partition)
{
    const char *const links[] = {LINKS(SELF("'a@h'", 60) UP("'b@h'") KNOWN("'c@h'")),
                                 LINKS(SELF("'b@h'", 60) UP("'a@h'")), LINKS(SELF("'c@h'", 60))};
    const char *const strange[] = {LINKS(SELF("'a@h'", 60) UP("'b@h'")),
                                   LINKS(SELF("'b@h'", 60) UP("'a@h'")), LINKS(SELF("'c@h'", 60))};
    const char *const alone[] = {LINKS(SELF("'a@h'", 60)), LINKS(SELF("'b@h'", 60))};
    expect_mesh(links, 3,
                "fix partition a@h c@h   2 groups apart: a@h, b@h | c@h|"
                "info missing a@h c@h known none |info missing b@h c@h none none |"
                " link a@h b@h visible visible |");
    expect_mesh(strange, 3,
                "info partition a@h c@h   2 groups apart, unknown to each other: "
                "a@h, b@h | c@h|"
                "info missing a@h c@h none none |info missing b@h c@h none none |"
                " link a@h b@h visible visible |");
    expect_mesh(alone, 2, "info missing a@h b@h none none |");
}

/* By way of one that was not named, or does not answer. */
TEST(test_others_are_between)
{
    const char *const links[] = {LINKS(SELF("'a@h'", 60) UP("'x@h'") KNOWN("'b@h'")),
                                 LINKS(SELF("'b@h'", 60) UP("'c@h'") UP("'x@h'")), NULL,
                                 LINKS(SELF("'d@h'", 60) UP("'c@h'"))};
    expect_mesh(links, 4,
                "check missing a@h b@h known none a@h knows b@h and is not connected to it; by way "
                "of others both are connected|"
                "info missing a@h d@h none none |info missing b@h d@h none none |"
                "info unknown c@h    does not answer; 2 of the 3 that do are connected to it|"
                "info outside x@h    not named; connected to 2 of 3|");
    assert_string_equal(signs, ".-?-|-.?-|??.?|--?.|");
    /* what a row has of it: one that does not answer is unknown */
    assert_int_equal(members[0].findings, 1);
    assert_int_equal(members[1].findings, 1);
    assert_int_equal(members[2].findings, -1);
    assert_int_equal(members[3].findings, 0);
}

TEST(test_odd_pairs)
{
    const char *const links[] = {
        LINKS(SELF("'a@h'", 60) UP("'b@h'") UP("'c@h'")),
        LINKS(SELF("'b@h'", 60) KNOWN("'a@h'") KNOWN("'c@h'")),
        LINKS(SELF("'c@h'", 60) LINK("'a@h'", "visible", "up", 19080, "true"))};
    expect_mesh(links, 3,
                "check one-sided a@h b@h visible known a@h is connected to b@h, which is not "
                "connected to it|"
                "check busy a@h c@h visible visible a@h does not take what c@h sends: 18.6 KiB "
                "queued; senders wait from 1.00 MiB on|"
                "check missing b@h c@h known none b@h knows c@h and is not connected to it; by way "
                "of others both are connected|");
    assert_true(members[0].is_odd && members[1].is_odd && members[2].is_odd);
    assert_string_equal(signs, ".>o|<.-|#-.|");
}

TEST(test_hidden_is_not_missing)
{
    const char *const links[] = {
        LINKS(SELF("'a@h'", 60) UP("'b@h'") LINK("'c@h'", "hidden", "up", 0, "false")),
        LINKS(SELF("'b@h'", 60) UP("'a@h'") KNOWN("'c@h'")),
        LINKS(SELF("'c@h'", 60) LINK("'a@h'", "hidden", "up", 0, "false"))};
    expect_mesh(links, 3,
                "info missing b@h c@h known none |info hidden a@h c@h hidden hidden |"
                " link a@h b@h visible visible |");
    assert_string_equal(signs, ".oh|o.-|h-.|");
}

TEST(test_one_side_pending)
{
    const char *const links[] = {
        LINKS(SELF("'a@h'", 60) UP("'b@h'")),
        LINKS(SELF("'b@h'", 60) LINK("'a@h'", "visible", "pending", 0, "false"))};
    expect_mesh(links, 2,
                "check one-sided a@h b@h visible pending a@h is connected to b@h, which is not "
                "connected to it|");
}

/* As of one that has been started again since the other was asked. */
TEST(test_one_answer_is_old)
{
    const char *const links[] = {LINKS(SELF("'a@h'", 60) UP("'b@h'")), LINKS(SELF("'b@h'", 60))};
    links_ms[1] = 9000;
    expect_mesh(links, 2,
                "info one-sided a@h b@h visible none a@h is connected to b@h, which is not "
                "connected to it|");
    assert_true(members[0].is_odd);
    assert_string_equal(signs, ".?|?.|");
    links_ms[1] = 1;
}

TEST(test_silent_hidden_outside)
{
    const char *const links[] = {
        LINKS(SELF("'a@h'", 60) LINK("'b@h'", "hidden", "up", 0, "false") UP("'x@h'") UP("'z@h'")),
        LINKS(SELF("'b@h'", 60) LINK("'a@h'", "hidden", "up", 0, "false") UP("'x@h'")), NULL};
    expect_mesh(links, 3,
                "info unknown c@h    does not answer; 0 of the 2 that do are connected to it|"
                "info hidden a@h b@h hidden hidden |"
                "info outside x@h    not named; connected to 2 of 2|"
                "info outside z@h    not named; connected to 1 of 2|");
}

/* Two names of one node are no pair; a setting that differs is of the fewest. */
TEST(test_settings)
{
    const char *const links[] = {LINKS(SELF("'a@h'", 60) UP("'b@h'")),
                                 LINKS(SELF("'b@h'", 15) UP("'a@h'")),
                                 LINKS(SELF("'a@h'", 60) UP("'b@h'"))};
    expect_mesh(links, 3,
                "check setting b@h    net tick 15 s; 60 s on 2 of 3 nodes|"
                " link a@h b@h visible visible | link b@h a@h visible visible |");
}

/* Rows of a level: "level kind node peer: note|". */
static void take_mesh(struct builder *b, char *out, size_t size)
{
    struct model *m = model_new();
    struct error err = {0};
    size_t len, used = 0;
    const uint8_t *bytes = builder_bytes(b, &len);
    assert_int_equal(model_take(m, QUESTION_MESH, bytes + 1, len - 1, NULL, 1, &err), 0);
    const struct table_detail *t = model_mesh(m);
    const struct mesh_row *r = t->rows;
#define PUT(slice) (int)(slice).len, (slice).s
    for (size_t i = 0; i < t->n_rows; i++, r++)
        if (r->level.len > 0)
            used += (size_t)snprintf(out + used, size - used, "%.*s %.*s %.*s %.*s: %.*s|",
                                     PUT(r->level), PUT(r->kind), PUT(r->node), PUT(r->peer),
                                     PUT(r->note));
#undef PUT
    model_free(m);
}

/* ---- what was before */

/* At so many seconds both answer: a is connected to b, and the other way, by these connections. */
static void look(uint64_t at_s, const char *a_by, const char *b_by, const char *expected)
{
    char a[400], b[400];
    const char *const links[] = {a, b};
    snprintf(a, sizeof a, LINKS(SELF("'a@h'", 60) UP_BY("'b@h'", "%s")), a_by);
    snprintf(b, sizeof b, LINKS(SELF("'b@h'", 60) UP_BY("'a@h'", "%s")), b_by);
    links_ms[0] = links_ms[1] = at_s * 1000;
    heard_ms[0] = heard_ms[1] = at_s * 1000 + 900;
    expect_mesh(links, 2, expected);
}

static void forget(void)
{
    mesh_seen_free(seen);
    seen = NULL;
    for (size_t i = 0; i < NODES; i++) {
        links_ms[i] = 1;
        heard_ms[i] = lives[i] = 0;
    }
}

#define CALM " link a@h b@h visible visible |"
#define AGAIN(times, who)                                                                          \
    "check flapping a@h b@h visible visible connected again at least " times                       \
    " times in 10 min, as " who " says; restarts are not counted|" CALM

TEST(test_link_flaps)
{
    lives[0] = 7;
    lives[1] = 8;
    look(10, "4", "9", CALM);
    look(20, "4", "9", CALM);
    assert_false(members[0].is_odd);
    assert_int_equal(last_reconnects, -1);
    look(30, "5", "10", CALM);
    assert_int_equal(last_reconnects, 1);
    assert_true(members[0].is_odd && members[1].is_odd);
    look(40, "7", "12", CALM);
    look(41, "undefined", "13", AGAIN("3", "b@h"));
    assert_int_equal(last_reconnects, 3);
    look(50, "8", "13", AGAIN("3", "a@h"));
    assert_string_equal(signs, ".~|~.|");
    look(60, "9", "13", AGAIN("4", "a@h"));
    look(645, "9", "13", CALM);
    assert_true(members[0].is_odd);
    look(700, "9", "13", CALM);
    assert_false(members[0].is_odd);
    forget();
}

/* A connection that is another one since one side was started again is none that flaps. */
TEST(test_restart_is_no_flap)
{
    lives[0] = 7;
    for (uint32_t i = 0; i < 3; i++) {
        char a_by[8];
        snprintf(a_by, sizeof a_by, "%u", 4 + i);
        lives[1] = 8 + i;
        look(10 + 10 * i, a_by, "1", CALM);
        assert_false(members[0].is_odd || members[1].is_odd);
    }
    lives[1] = 20;
    look(50, "7", "1",
         "check restarts b@h    started again at least 3 times in 10 min, or its distribution "
         "was|" CALM);
    forget();
}

/* Before the other has answered again, that it was started again may not be known yet. */
TEST(test_other_has_not_answered_since)
{
    lives[0] = lives[1] = 7;
    look(10, "4", "9", CALM);
    for (uint32_t i = 0; i < 4; i++) {
        const char *const links[] = {LINKS(SELF("'a@h'", 60) UP_BY("'b@h'", "5")),
                                     LINKS(SELF("'b@h'", 60) UP_BY("'a@h'", "9"))};
        links_ms[0] = heard_ms[0] = 20000 + 1000 * i;
        expect_mesh(links, 2, CALM);
        assert_false(members[0].is_odd);
    }
    lives[1] = 8;
    look(30, "5", "9", CALM);
    assert_false(members[0].is_odd);
    forget();
}

/* ---- Mnesia */

#define MNESIA(status, down)                                                                       \
    "{mnesia,1000,[{<<\"4.23\">>," status ",1,2," down ",undefined,0,0,0,1,0,0,0,100}],false}"

/* Rows of Mnesia of a and b, which see each other; at_s: when each has answered. */
static void expect_mnesia(const char *const said[2], const unsigned at_s[2],
                          const unsigned since_s[2], const char *expected)
{
    const char *const links[] = {LINKS(SELF("'a@h'", 60) UP("'b@h'")),
                                 LINKS(SELF("'b@h'", 60) UP("'a@h'"))};
    struct fleet f = open_fleet(links, 2);
    struct builder *matrix, *b;
    char rows[600] = "";
    for (size_t i = 0; i < 2; i++) {
        take_text(members[i].model, QUESTION_MNESIA, said[i]);
        members[i].mnesia_ms = at_s[i] * 1000;
        members[i].mnesia_since_ms = since_s[i] * 1000;
    }
    b = mesh_build(&f, &matrix);
    take_mesh(b, rows, sizeof rows);
    assert_string_equal(rows, expected);
    builder_free(b);
    builder_free(matrix);
    for (size_t i = 0; i < 2; i++)
        model_free(members[i].model);
    seen = f.seen;
    forget();
}

TEST(test_mnesia_is_cut)
{
    const char *const each[] = {MNESIA("running", "<<\"c@h b@h\">>"),
                                MNESIA("running", "<<\"a@h\">>")};
    const char *const one[] = {MNESIA("running", "<<\"b@h\">>"),
                               MNESIA("running", "<<\"xa@h a@hh\">>")};
    const char *const starts[] = {MNESIA("running", "<<\"b@h\">>"),
                                  MNESIA("starting", "<<\"a@h\">>")};
    const char *const none[] = {MNESIA("running", "<<\"b@h\">>"), "{mnesia,1000,[],false}"};
    const unsigned at[] = {30, 30}, since[] = {10, 10}, late[] = {10, 31}, never[] = {10, 0};
    expect_mnesia(each, at, since,
                  "fix mnesia a@h b@h: Mnesia runs on both, and each counts the other as down|");
    expect_mnesia(one, at, since,
                  "fix mnesia a@h b@h: Mnesia runs on both; a@h counts b@h as down, which does not "
                  "count it so|");
    expect_mnesia(each, since, at, "");
    expect_mnesia(each, at, late,
                  "fix mnesia a@h b@h: Mnesia runs on both, and each counts the other as down|");
    expect_mnesia(one, at, late, "");
    expect_mnesia(starts, at, never, "");
    expect_mnesia(none, at, never, "");
}

/* ---- Raft */

#define RAFT(at, leader)                                                                           \
    "{raft," at ",[{<<\"orders\">>,<<\"" leader "\">>,orders,follower,undefined,3,"                \
    "<<\"a@h b@h c@h\">>}],false}"
#define OTHER(at, leader, nodes)                                                                   \
    "{raft," at ",[{<<\"orders\">>,<<\"" leader "\">>,orders,follower,undefined,2,"                \
    "<<\"" nodes "\">>}],false}"
#define LOOK(leader) RAFT("1000000000", leader)
#define ASKED_AGAIN(leader) RAFT("11000000000", leader)

/* a and b are connected to each other, and to c, which was not named, where `to_c`. */
static void expect_raft(const char *const said[2], const char *const again[2], bool to_c,
                        const char *expected)
{
    const char *const without[] = {LINKS(SELF("'a@h'", 60) UP("'b@h'")),
                                   LINKS(SELF("'b@h'", 60) UP("'a@h'"))};
    const char *const with[] = {LINKS(SELF("'a@h'", 60) UP("'b@h'") UP("'c@h'")),
                                LINKS(SELF("'b@h'", 60) UP("'a@h'") UP("'c@h'"))};
    struct fleet f = open_fleet(to_c ? with : without, 2);
    struct builder *matrix, *b;
    char rows[900] = "", all_rows[900];
    for (size_t i = 0; i < 2; i++) {
        take_text(members[i].model, QUESTION_RAFT, said[i]);
        if (again[i])
            take_text(members[i].model, QUESTION_RAFT, again[i]);
        members[i].raft_ms = 1000;
    }
    b = mesh_build(&f, &matrix);
    take_mesh(b, rows, sizeof rows);
    snprintf(all_rows, sizeof all_rows, "%s%s", expected,
             to_c ? "info outside c@h : not named; connected to 2 of 2|" : "");
    assert_string_equal(rows, all_rows);
    builder_free(b);
    builder_free(matrix);
    for (size_t i = 0; i < 2; i++)
        model_free(members[i].model);
    seen = f.seen;
    forget();
}

TEST(test_raft_groups)
{
    const char *const none[] = {LOOK("none"), LOOK("none")};
    const char *const none_again[] = {ASKED_AGAIN("none"), ASKED_AGAIN("none")};
    const char *const one_again[] = {ASKED_AGAIN("none"), NULL};
    const char *const led[] = {LOOK("a@h"), LOOK("a@h")};
    const char *const led_again[] = {ASKED_AGAIN("a@h"), ASKED_AGAIN("a@h")};
    const char *const two[] = {LOOK("a@h"), LOOK("c@h")};
    const char *const two_again[] = {ASKED_AGAIN("a@h"), ASKED_AGAIN("c@h")};
    const char *const changes[] = {ASKED_AGAIN("c@h"), ASKED_AGAIN("c@h")};
    /* Of one name, and none is a member of the other. */
    const char *const apart[] = {OTHER("1000000000", "none", "a@h c@h"),
                                 OTHER("1000000000", "c@h", "b@h c@h")};
    const char *const apart_again[] = {OTHER("11000000000", "none", "a@h c@h"),
                                       OTHER("11000000000", "c@h", "b@h c@h")};
    expect_raft(none, none_again, true,
                "fix no-leader a@h : Raft group orders has no leader, as 2 of its 3 nodes say: "
                "a@h, b@h|");
    expect_raft(none, one_again, true, ""); /* b has not said it again */
    expect_raft(led, led_again, true, "");
    expect_raft(two, two_again, true,
                "check leaders a@h : nodes of Raft group orders name different leaders: a@h says "
                "a@h, b@h says c@h|");
    expect_raft(two, changes, true, ""); /* a has just learnt it */
    expect_raft(led, led_again, false,
                "check members a@h c@h: Raft group orders has a member on c@h, to which a@h is not "
                "connected; so have 1 more, as this and other nodes say|");
    expect_raft(apart, apart_again, true,
                "fix no-leader a@h : Raft group orders has no leader, as 1 of its 2 nodes say: "
                "a@h|");
    expect_raft(apart, apart_again, false,
                "fix no-majority a@h : Raft group orders has no majority: a@h reaches 1 of its 2 "
                "members|"
                "fix no-majority b@h : Raft group orders has no majority: b@h reaches 1 of its 2 "
                "members|"
                "fix no-leader a@h : Raft group orders has no leader, as 1 of its 2 nodes say: "
                "a@h|"
                "check members a@h c@h: Raft group orders has a member on c@h, to which a@h is not "
                "connected; so have 1 more, as this and other nodes say|");
}

static void give_memory(struct model *m, long mib)
{
    char text[300];
    snprintf(text, sizeof text,
             "{system,5,1700000100000000,5000,{%ld,600,500,400,50,40,30,20,10},{41,2,9000,12},"
             "{3,[2,1,4,5]},{1000,10,20,30,40,50},undefined,undefined}",
             mib * 1024 * 1024);
    take_text(m, QUESTION_SYSTEM, text);
}

static void expect_unlike(const long mib[NODES], const char *expected)
{
    static const char *const links[NODES] = {LINKS(SELF("'a@h'", 60) UP("'b@h'")),
                                             LINKS(SELF("'b@h'", 60) UP("'a@h'")),
                                             LINKS(SELF("'c@h'", 60)), LINKS(SELF("'d@h'", 60))};
    struct fleet f = open_fleet(links, NODES);
    struct mesh x = {.n = NODES, .nodes = alloc_zero(NODES, sizeof *x.nodes)};
    struct buf text;
    buf_init(&text, 0);
    arena_init(&x.arena);
    for (size_t i = 0; i < NODES; i++) {
        const struct table_detail *t = model_links(members[i].model);
        give_memory(members[i].model, mib[i]);
        x.nodes[i] = (struct mesh_node){
            .member = f.members[i], .name = slice_of(members[i].name), .self = t->rows};
    }
    mesh_compare_nodes(&x);
    for (size_t i = 0; i < x.n_rows; i++)
        buf_printf(&text, "%.*s: %.*s|", (int)x.rows[i].node.len, x.rows[i].node.s,
                   (int)x.rows[i].note.len, x.rows[i].note.s);
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
    arena_clear(&x.arena);
    free(x.nodes);
    free(x.rows);
    for (size_t i = 0; i < NODES; i++)
        model_free(members[i].model);
}

TEST(test_one_is_unlike_the_others)
{
    expect_unlike((const long[NODES]){100, 110, 900, 105},
                  "c@h: memory 900 MiB; median of the others 105 MiB|");
    expect_unlike((const long[NODES]){100, 900, 900, 105}, "");
    expect_unlike((const long[NODES]){10, 11, 50, 12}, "");
    expect_unlike((const long[NODES]){100, 110, 1, 105}, "");
}

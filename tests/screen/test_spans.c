/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What keys do in the view of causal spans, and what stays while more of a run comes. */
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "beamtop/ui/screen.h"
#include "world.h"
#include "world_spans.h"

struct fixture {
    struct model *m;
    struct screen *s;
    struct canvas c;
    struct spans_run *run;
};

static void draw(struct fixture *f)
{
    struct tty_cursor cursor;
    screen_draw(f->s, f->m, &f->c, &cursor);
}

static void act(struct fixture *f, enum action action, const char *arg)
{
    struct error err = {0};
    if (screen_act(f->s, f->m, action, arg, &err) != 1)
        fail_msg("%s %s: %s", action_table[action].name, arg, err.text);
    draw(f);
}

static int refused(struct fixture *f, enum action action, const char *arg)
{
    struct error err = {0};
    return screen_act(f->s, f->m, action, arg, &err);
}

static struct want wanted(const struct fixture *f)
{
    struct want want;
    want = (struct want){0};
    screen_want(f->s, &want);
    return want;
}

static bool shows(const struct fixture *f, const char *text)
{
    for (int row = 0; row < f->c.rows; row++)
        if (strstr(world_row(&f->c, row), text))
            return true;
    return false;
}

static struct fixture start(enum spanned_world world)
{
    struct error err = {0};
    struct fixture f = {.m = world_new(WORLD_BUSY), .s = screen_new("top", &err)};
    canvas_init(&f.c, 24, 160, false);
    f.run = world_spans(world);
    model_set_spans(f.m, f.run);
    act(&f, ACTION_VIEW, "spans");
    return f;
}

static void end(struct fixture *f)
{
    canvas_clear(&f->c);
    screen_free(f->s);
    model_free(f->m);
    spans_run_free(f->run);
}

static void down(struct fixture *f, int rows)
{
    for (int i = 0; i < rows; i++)
        act(f, ACTION_DOWN, "");
}

TEST(test_a_request_opens_its_tree)
{
    struct fixture f = start(SPANNED_MANY);
    assert_int_equal(wanted(&f).needs, NEED(SYSTEM));
    down(&f, 4);
    struct view_link link = screen_link(f.s);
    assert_int_equal(link.kind, TARGET_REQUEST);
    assert_int_equal(link.pid.id, 498);
    assert_string_equal(link.name, "wl:root/1");
    act(&f, ACTION_ENTER, "");
    assert_string_equal(screen_view(f.s), "spans");
    assert_int_equal(screen_link(f.s).kind, TARGET_SPAN);
    assert_int_equal(screen_link(f.s).pid.id, 498);
    assert_true(shows(&f, "timeout"));
    act(&f, ACTION_BACK, "");
    assert_int_equal(screen_link(f.s).id, link.id); /* the place is kept */
    act(&f, ACTION_BY, "");
    act(&f, ACTION_FIRST, "");
    assert_int_equal(screen_link(f.s).pid.id, 498);
    assert_int_equal(screen_link(f.s).kind, TARGET_SPAN);
    end(&f);
}

TEST(test_a_span_opens_its_process)
{
    struct fixture f = start(SPANNED_CHAIN);
    act(&f, ACTION_ENTER, "");
    down(&f, 1);
    assert_string_equal(screen_link(f.s).name, ""); /* of a message, no function is known */
    struct etf_pid pid = screen_link(f.s).pid;
    act(&f, ACTION_ENTER, "");
    assert_string_equal(screen_view(f.s), "process");
    const struct etf_pid asked = wanted(&f).process.pid;
    assert_true(pid.id != 0 && pid_same(&asked, &pid));
    act(&f, ACTION_BACK, "");
    act(&f, ACTION_LAST, ""); /* the wait that nobody explains: its function can be traced */
    assert_string_equal(screen_link(f.s).name, "timer:sleep/1");
    end(&f);
}

TEST(test_callers_stand_below_their_request)
{
    struct fixture f = start(SPANNED_CALLED);
    act(&f, ACTION_ENTER, "");
    assert_true(shows(&f, "OpenTelemetry 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7"));
    down(&f, 1);
    assert_true(shows(&f, "Shop.Page"));
    assert_int_equal(screen_link(f.s).pid.id, 91);
    act(&f, ACTION_ENTER, ""); /* it can be looked at */
    assert_string_equal(screen_view(f.s), "process");
    assert_int_equal(wanted(&f).process.pid.id, 91);
    act(&f, ACTION_BACK, "");
    down(&f, 1);
    assert_int_equal(screen_link(f.s).pid.id, 92);
    end(&f);
}

TEST(test_a_flame_graph_names_functions)
{
    struct fixture f = start(SPANNED_CHAIN);
    act(&f, ACTION_BY, "flame");
    down(&f, 1);
    assert_string_equal(screen_link(f.s).name, "wl:root/1");
    down(&f, 1);
    assert_true(shows(&f, "call b"));
    assert_int_equal(screen_link(f.s).kind, TARGET_NONE);
    end(&f);
}

/* From the list of requests, the key opens the tree of one. */
TEST(test_raw_waits)
{
    static const char *const wait = "WAITING(gen:do_call/4)", *const explained = " for b";
    struct fixture f = start(SPANNED_CHAIN);
    act(&f, ACTION_RAW_WAITS, "");
    assert_true(shows(&f, wait));
    down(&f, 1);
    assert_string_equal(screen_link(f.s).name, "gen:do_call/4");
    act(&f, ACTION_RAW_WAITS, "");
    assert_false(shows(&f, wait));
    assert_true(shows(&f, "WAITING(timer:sleep/1)"));
    act(&f, ACTION_BY, "flame");
    assert_false(shows(&f, explained));
    act(&f, ACTION_RAW_WAITS, "");
    assert_true(shows(&f, explained));
    end(&f);
}

/* Requests that come later may stand before it in the run: indexes are others then. */
TEST(test_a_tree_stays_while_requests_come)
{
    struct fixture f = start(SPANNED_HOSTILE);
    act(&f, ACTION_ENTER, "");
    assert_int_equal(screen_link(f.s).pid.id, 90);
    assert_int_equal(spans_at(f.run->spans, 0)->process.pid.id, 90);
    world_spans_earlier(f.run);
    assert_int_equal(spans_at(f.run->spans, 0)->process.pid.id, 70);
    screen_update(f.s);
    draw(&f);
    assert_int_equal(screen_link(f.s).pid.id, 90);
    act(&f, ACTION_BY, "path");
    assert_int_equal(screen_link(f.s).pid.id, 90);
    act(&f, ACTION_BY, "parts");
    assert_true(shows(&f, "early:root/0"));
    act(&f, ACTION_BY, "flame");
    assert_true(shows(&f, "early:root/0"));
    end(&f);
}

TEST(test_what_is_made_of_a_run_is_made_again)
{
    static const char *const modes[] = {"parts", "flame"};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct fixture f = start(SPANNED_HOSTILE);
        act(&f, ACTION_BY, modes[i]);
        assert_false(shows(&f, "early:root/0"));
        world_spans_earlier(f.run);
        screen_update(f.s);
        draw(&f);
        assert_true(shows(&f, "early:root/0"));
        end(&f);
    }
}

/* The tree that was open is of a run that is gone. */
TEST(test_another_run)
{
    struct fixture f = start(SPANNED_CHAIN);
    act(&f, ACTION_ENTER, "");
    spans_run_free(f.run);
    f.run = world_spans(SPANNED_WAITS);
    model_set_spans(f.m, f.run);
    screen_update(f.s);
    draw(&f);
    assert_true(shows(&f, "No call of wl:root(_) yet."));
    f.run->status.phase = SESSION_ARMING; /* a call is not counted as missing before it is set */
    f.run->version++;
    screen_update(f.s);
    draw(&f);
    assert_true(shows(&f, "The capture is being set on the node."));
    spans_run_free(f.run);
    f.run = NULL;
    model_set_spans(f.m, NULL);
    screen_update(f.s);
    draw(&f);
    assert_true(shows(&f, "No requests were captured yet."));
    end(&f);
}

TEST(test_order)
{
    struct fixture f = start(SPANNED_MANY);
    act(&f, ACTION_SORT, "wait");
    act(&f, ACTION_FIRST, "");
    assert_int_equal(screen_link(f.s).pid.id, 222); /* 51 ms, for b */
    act(&f, ACTION_SORT_REVERSE, "");
    assert_int_equal(screen_link(f.s).pid.id, 324);
    assert_int_equal(refused(&f, ACTION_SORT, "queued"), ERR_USAGE);
    assert_int_equal(refused(&f, ACTION_BY, "shop"), ERR_USAGE);
    assert_int_equal(refused(&f, ACTION_VIEW, "spans shop"), ERR_USAGE);
    act(&f, ACTION_BY, "parts");
    act(&f, ACTION_SORT, "slow_share");
    act(&f, ACTION_FIRST, "");
    assert_true(shows(&f, "60.7%"));
    end(&f);
}

TEST(test_any_size)
{
    static const char *const modes[] = {"roots", "tree", "path", "parts", "flame"};
    struct fixture f = start(SPANNED_MANY);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        act(&f, ACTION_BY, modes[i]);
        for (int rows = 1; rows < 40; rows += 3)
            for (int columns = 1; columns < 200; columns += 13) {
                canvas_resize(&f.c, rows, columns);
                screen_update(f.s);
                draw(&f);
                act(&f, ACTION_PAGE_DOWN, "");
                act(&f, ACTION_RIGHT, "");
                screen_click(f.s, f.m, rows / 2, columns / 2, true);
                if (strcmp(screen_view(f.s), "spans") != 0)
                    act(&f, ACTION_BACK, "");
            }
        act(&f, ACTION_BY, modes[i]);
    }
    end(&f);
}

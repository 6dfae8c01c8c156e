/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work on a thread that may be left behind. */

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

#include "../../test.h"
#include "beamtop/link/aside.h"

struct job {
    sem_t go, released;
    int runs, done, late;
    bool leaves; /* `done` closes it */
    struct aside *aside;
};

static void run_job(void *work)
{
    struct job *j = work;
    sem_wait(&j->go);
    j->runs++;
}

static void on_done(void *arg)
{
    struct job *j = arg;
    j->done++;
    if (j->leaves)
        aside_close(j->aside);
    else
        assert_int_equal(aside_run(j->aside), 0);
    j->leaves = true;
}

static void on_late(void *arg)
{
    struct job *j = arg;
    assert_true(aside_runs(j->aside));
    j->late++;
    if (j->leaves)
        aside_close(j->aside);
    sem_post(&j->go); /* the thread ends after its limit only */
    j->leaves = true;
}

static void release_job(void *work)
{
    sem_post(&((struct job *)work)->released);
}

static const struct aside_kind kind = {
    .run = run_job, .done = on_done, .late = on_late, .release = release_job};

static void open_job(struct job *j, uv_loop_t *loop)
{
    *j = (struct job){0};
    sem_init(&j->go, 0, 0);
    sem_init(&j->released, 0, 0);
    assert_int_equal(uv_loop_init(loop), 0);
    assert_int_equal(aside_open(&j->aside, loop, &kind, j, j), 0);
}

static void expect_released(struct job *j, uv_loop_t *loop)
{
    int left;
    uv_run(loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(loop), 0);
    sem_wait(&j->released);
    sem_getvalue(&j->released, &left);
    assert_int_equal(left, 0); /* once */
    sem_destroy(&j->go);
    sem_destroy(&j->released);
}

TEST(test_two_runs)
{
    struct job j;
    uv_loop_t loop;
    open_job(&j, &loop);
    assert_false(aside_runs(j.aside));
    assert_int_equal(aside_run(j.aside), 0);
    assert_true(aside_runs(j.aside));
    assert_int_equal(aside_run(j.aside), EBUSY);
    sem_post(&j.go);
    sem_post(&j.go);
    expect_released(&j, &loop);
    assert_int_equal(j.runs, 2);
    assert_int_equal(j.done, 2);
}

/* The loop ends while the thread is blocked, which releases the work later. */
TEST(test_left_behind)
{
    struct job j;
    uv_loop_t loop;
    int value;
    open_job(&j, &loop);
    assert_int_equal(aside_run(j.aside), 0);
    aside_close(j.aside);
    uv_run(&loop, UV_RUN_DEFAULT);
    sem_getvalue(&j.released, &value);
    assert_int_equal(value, 0);
    sem_post(&j.go);
    expect_released(&j, &loop);
    assert_int_equal(j.runs, 1);
    assert_int_equal(j.done, 0);
}

TEST(test_closed_before_a_run)
{
    struct job j;
    uv_loop_t loop;
    open_job(&j, &loop);
    aside_close(j.aside);
    aside_close(NULL);
    expect_released(&j, &loop);
    assert_int_equal(j.done, 0);
}

/* What is late is said once; the owner closes it then, or waits on for `done`. */
TEST(test_limit)
{
    for (int leaves = 0; leaves < 2; leaves++) {
        struct job j;
        uv_loop_t loop;
        open_job(&j, &loop);
        j.leaves = leaves;
        assert_int_equal(aside_run_within(j.aside, 1), 0);
        expect_released(&j, &loop);
        assert_int_equal(j.runs, 1);
        assert_int_equal(j.late, 1);
        assert_int_equal(j.done, leaves ? 0 : 1);
    }
}

/* One that ends within its limit leaves none to the next run, and the loop does not wait for it. */
TEST(test_within_the_limit)
{
    struct job j;
    uv_loop_t loop;
    open_job(&j, &loop);
    sem_post(&j.go);
    sem_post(&j.go);
    assert_int_equal(aside_run_within(j.aside, 3600000), 0);
    expect_released(&j, &loop);
    assert_int_equal(j.done, 2);
    assert_int_equal(j.late, 0);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work that blocks: each is done once, and as many as may be are in it at a time. */
#include <uv.h>

#include "../../test.h"
#include "app/job/together.h"

#define WORKS 40
#define MEET_NS 120000000000ull

struct meeting {
    uv_mutex_t lock;
    uv_cond_t arrived;
    unsigned done[WORKS], inside, most, wanted;
};

/* Goes on once as many as wanted were inside at one time. */
static void meet(void *arg, size_t i)
{
    struct meeting *m = arg;
    uv_mutex_lock(&m->lock);
    m->done[i]++;
    if (++m->inside > m->most)
        m->most = m->inside;
    uv_cond_broadcast(&m->arrived);
    while (m->most < m->wanted && uv_cond_timedwait(&m->arrived, &m->lock, MEET_NS) == 0)
        ;
    m->inside--;
    uv_mutex_unlock(&m->lock);
}

static void check(size_t n, unsigned at_once)
{
    struct meeting m = {.wanted = at_once};
    assert_int_equal(uv_mutex_init(&m.lock), 0);
    assert_int_equal(uv_cond_init(&m.arrived), 0);
    together(n, meet, &m);
    assert_int_equal(m.most, at_once);
    for (size_t i = 0; i < WORKS; i++)
        assert_int_equal(m.done[i], i < n);
    uv_cond_destroy(&m.arrived);
    uv_mutex_destroy(&m.lock);
}

TEST(test_none)
{
    check(0, 0);
}

TEST(test_one)
{
    check(1, 1);
}

TEST(test_few)
{
    check(3, 3);
}

TEST(test_more_than_at_a_time)
{
    check(WORKS, TOGETHER_MOST);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "together.h"

#include <stdatomic.h>
#include <uv.h>

struct shared {
    void (*work)(void *arg, size_t i);
    void *arg;
    size_t n;
    atomic_size_t next;
};

static void take_turns(void *arg)
{
    struct shared *s = arg;
    size_t i;
    while ((i = atomic_fetch_add(&s->next, 1)) < s->n)
        s->work(s->arg, i);
}

void together(size_t n, void (*work)(void *arg, size_t i), void *arg)
{
    struct shared s = {.work = work, .arg = arg, .n = n};
    uv_thread_t others[TOGETHER_MOST - 1];
    size_t begun = 0;
    while (begun < TOGETHER_MOST - 1 && begun + 1 < n &&
           uv_thread_create(&others[begun], take_turns, &s) == 0)
        begun++;
    take_turns(&s);
    while (begun > 0)
        uv_thread_join(&others[--begun]);
}

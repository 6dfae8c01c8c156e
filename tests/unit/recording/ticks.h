/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings of a node with known numbers, tick by tick: its reductions grow by 1000 a second. */
#ifndef TESTS_STORE_TICKS_H
#define TESTS_STORE_TICKS_H

#include <stdlib.h>
#include <unistd.h>

#include "../../temporary.h"
#include "take.h"

static inline void system_text(char *out, size_t size, int second)
{
    snprintf(out, size,
             "{system, %lld, %lld, %d, {%d, 600, 500, 400, 50, 40, 30, 20, 10}, {41, 2, 9000, 12}, "
             "{%d, [2,1,4,5]}, {%d, 10, 20, 30, 40, 50}, [{1,%d,%d},{2,0,%d},{3,0,%d},{4,0,%d},"
             "{5,0,%d},{6,0,%d}], {2048, 4096}}",
             -576460000000000000LL + second * 1000000000LL, 1700000000000000LL + second * 1000000LL,
             second * 1000, 1000 + second, second % 7, 1000 * second, second * 10, second * 100,
             second * 100, second * 100, second * 100, second * 100, second * 100);
}

static inline void scan_text(char *out, size_t size, int second)
{
    snprintf(out, size,
             "{scan, %lld, 1000000000, 1234, 50, 50, 2, "
             "[{<0.41.0>, %d, 500, {{shop_cart, {shop_cart,init,1}, <<\"cart\">>, shop, "
             "{proc_lib,init_p,5}}, %d, 3, 4096, {gen_server,loop,7}}}, "
             "{<0.42.1>, %d, 300, {{undefined, {logger_olp,init,1}, undefined, undefined, "
             "{erlang,apply,2}}, %d, 0, 2048, undefined}}], []}",
             -576460000000000000LL + second * 1000000000LL, second * 500, second * 500,
             second * 300, second * 300);
}

static inline int tick(struct recorder *r, struct model *m, int second, struct error *err)
{
    char text[1200];
    if (second == 1)
        take(r, m, ANSWER_NODE, NODE_ANSWER);
    system_text(text, sizeof text, second);
    take(r, m, ANSWER_SYSTEM, text);
    scan_text(text, sizeof text, second);
    take(r, m, ANSWER_SCAN, text);
    return recorder_tick(r, m, 1700000000000000LL + second * 1000000LL, err);
}

struct place {
    char dir[64], path[96];
};

static inline void place_make(struct place *p)
{
    assert_true(temporary_dir(p->dir, sizeof p->dir, "recording"));
    snprintf(p->path, sizeof p->path, "%s/a.btr", p->dir);
}

static inline void place_clear(const struct place *p)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char path[128];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", p->path, ends[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(p->dir), 0);
}

static inline struct recorder *begin(const char *path, uint64_t max_bytes, bool thin)
{
    const struct recorder_options options = {.node = "mq1@host",
                                             .label = "before",
                                             .interval_s = 1,
                                             .max_bytes = max_bytes,
                                             .thin = thin};
    struct error err = {0};
    struct recorder *r = NULL;
    if (recorder_open(&r, path, &options, &err) != 0)
        fail_msg("%s", err.text);
    return r;
}

static inline struct recording *reopen(const char *path)
{
    struct error err = {0};
    struct recording *r = NULL;
    if (recording_open(&r, path, &err) != 0)
        fail_msg("%s", err.text);
    return r;
}

static inline void write_ticks(struct recorder *r, int n)
{
    struct error err = {0};
    struct model *m = model_new();
    for (int i = 1; i <= n; i++)
        if (tick(r, m, i, &err) != 0)
            fail_msg("tick %d: %s", i, err.text);
    model_free(m);
}

#endif

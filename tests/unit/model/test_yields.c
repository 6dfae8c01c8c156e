/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks that a node has of its processes, and who these are: answers as they should be, and
 * others. */
#include <string.h>

#include "../../test.h"
#include "answers.h"
#include "beamtop/base/arena.h"
#include "beamtop/model/samples.h"

static int decode_stacks_of(struct arena *arena, const char *text, struct yield_stacks *out)
{
    struct error err = {0};
    struct term t = term_of(text);
    int rc = yield_stacks_decode(out, arena, t.bytes, t.len, &err);
    term_free(&t);
    return rc;
}

TEST(test_stacks)
{
    struct arena arena;
    struct yield_stacks s;
    arena_init(&arena);
    assert_int_equal(decode_stacks_of(&arena,
                                      "{stacks,-5,1000000000,25,20,[{<0.85.0>,3,4000,"
                                      "[{lists,map,2},{'my mod','f g',0}]},{<0.9.1>,1,1,[]}]}",
                                      &s),
                     0);
    assert_true(s.seconds > 0.999 && s.seconds < 1.001);
    assert_int_equal(s.looks, 25);
    assert_int_equal(s.processes, 20);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.stacks[0].pid.id, 85);
    assert_int_equal(s.stacks[0].samples, 3);
    assert_int_equal(s.stacks[0].reductions, 4000);
    assert_int_equal(s.stacks[0].n, 2);
    assert_true(slice_is(s.stacks[0].functions[0], "lists:map/2"));
    assert_true(slice_is(s.stacks[0].functions[1], "'my mod':'f g'/0"));
    assert_int_equal(s.stacks[1].n, 0);
    arena_clear(&arena);
}

/* Nothing is negative, and what did nothing has no stack. */
TEST(test_bad_stacks)
{
    static const char *const bad[] = {
        "{stacks,0,1,1,1,[{<0.1.0>,0,5,[]}]}",
        "{stacks,0,1,1,1,[{<0.1.0>,1,-5,[]}]}",
        "{stacks,0,1,1,1,[{<0.1.0>,1,5}]}",
        "{stacks,0,1,1,1,[{nobody,1,5,[]}]}",
        "{stacks,0,1,1,1,[{<0.1.0>,1,5,[{lists,map}]}]}",
        "{stacks,0,1,1,1,[{<0.1.0>,1,5,\"abc\"}]}",
        "{stacks,0,1,1,[]}",
        "{who,[]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct arena arena;
        struct yield_stacks s;
        arena_init(&arena);
        if (decode_stacks_of(&arena, bad[i], &s) >= 0)
            fail_msg("taken: %s", bad[i]);
        arena_clear(&arena);
    }
}

TEST(test_who)
{
    static const char text[] =
        "{who,[{<0.4.0>,{shop,{shop_srv,init,1},undefined,shop,{proc_lib,init_p,5}}},"
        "{<0.5.0>,{undefined,{shop_srv,init,1},undefined,shop,{proc_lib,init_p,5}}},{<0.6.0>,gone}]"
        "}";
    struct error err = {0};
    struct arena arena;
    const struct process_who *who = NULL;
    size_t n = 0;
    struct term t = term_of(text), bad = term_of("{who,[{<0.4.0>,{shop}}]}");
    arena_init(&arena);
    assert_int_equal(process_who_decode(&who, &n, &arena, t.bytes, t.len, &err), 0);
    assert_int_equal(n, 3);
    assert_true(slice_is(who[0].name, "shop"));
    assert_true(slice_is(who[1].name, "shop_srv:init/1"));
    assert_int_equal(who[2].name.len, 0);
    assert_true(process_who_decode(&who, &n, &arena, bad.bytes, bad.len, &err) < 0);
    arena_clear(&arena);
    term_free(&t);
    term_free(&bad);
}

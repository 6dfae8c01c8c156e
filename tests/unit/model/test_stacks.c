/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weighted stacks: rows of "a b c weight", and the tree and the sums that they make. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/frame_group.h"
#include "beamtop/model/stacks.h"

static uint32_t frame(struct stacks *s, const char *name)
{
    const struct sample_frame f = {.kind = FRAME_ERLANG, .name = slice_of(name)};
    return stacks_frame(s, &f);
}

static const char *name_of(const struct stacks *s, uint32_t id)
{
    static char name[64];
    const struct sample_frame *f = stacks_frame_at(s, id);
    snprintf(name, sizeof name, "%.*s", (int)f->name.len, f->name.s);
    return name;
}

/* "a b c": each letter a frame, the root first. */
static void add(struct stacks *s, const char *letters, double weight)
{
    uint32_t frames[64];
    size_t n = 0;
    for (const char *at = letters; *at != '\0'; at++)
        if (*at != ' ')
            frames[n++] = frame(s, (char[]){*at, '\0'});
    stacks_add(s, frames, n, weight);
}

/* "a 1/4 (b 2/3 (c 1/1))": self and total of each node, the heaviest child first. */
static void put_tree(struct buf *out, const struct stacks *s, uint32_t index)
{
    size_t n;
    struct stacks_rest rest;
    struct stacks_child *children = stacks_heavy_children(s, index, 0, &n, &rest);
    for (size_t i = 0; i < n; i++) {
        const struct stacks_node *node = children[i].node;
        assert_int_equal(node->parent, index);
        assert_true(children[i].index > index);
        buf_printf(out, "%s%s %g/%g", i > 0 ? " " : "", name_of(s, node->frame), node->self,
                   node->total);
        if (node->child != 0) {
            buf_puts(out, " (");
            put_tree(out, s, children[i].index);
            buf_puts(out, ")");
        }
    }
    free(children);
}

static void put_sums(struct buf *out, const struct stacks *s)
{
    size_t n;
    struct stacks_sum *sums = stacks_sums(s, &n);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(sums[i].at, stacks_frame_at(s, sums[i].frame));
        buf_printf(out, "%s%s %g/%g", i > 0 ? " " : "", name_of(s, sums[i].frame), sums[i].self,
                   sums[i].total);
    }
    free(sums);
}

static void expect(void (*put)(struct buf *, const struct stacks *), const struct stacks *s,
                   const char *wanted)
{
    struct buf text;
    buf_init(&text, 0);
    put(&text, s);
    assert_string_equal(buf_cstr(&text), wanted);
    buf_clear(&text);
}

static void put_all(struct buf *out, const struct stacks *s)
{
    put_tree(out, s, 0);
}

TEST(test_trees)
{
    static const struct {
        const char *stacks[4];
        double weights[4];
        const char *tree, *sums, *inverted;
    } rows[] = {
        {{""}, {0}, "", "", ""},
        {{"a"}, {2}, "a 2/2", "a 2/2", "a 2/2"},
        {{"a b", "a c", "a", "a b"},
         {3, 4, 1, 2},
         "a 1/10 (b 5/5 c 4/4)",
         "b 5/5 c 4/4 a 1/10",
         "b 0/5 (a 5/5) c 0/4 (a 4/4) a 1/1"},
        /* recursion: a stands three times in one stack and once in the other */
        {{"a b a a", "b a"},
         {1, 2},
         "b 0/2 (a 2/2) a 0/1 (b 0/1 (a 0/1 (a 1/1)))",
         "a 3/3 b 0/3",
         "a 0/3 (b 2/2 a 0/1 (b 0/1 (a 1/1)))"},
        /* equal weights: by name; what is in one branch is not open in the next */
        {{"r c", "r b c", "r b"},
         {1, 1, 2},
         "r 0/4 (b 2/3 (c 1/1) c 1/1)",
         "b 2/3 c 2/2 r 0/4",
         NULL},
        {{"x", "y"}, {1, 1}, "x 1/1 y 1/1", "x 1/1 y 1/1", "x 1/1 y 1/1"},
        {{"y", "x"}, {1, 1}, "y 1/1 x 1/1", "x 1/1 y 1/1", NULL},
        {{"a", "a b"}, {-1, 2}, "a 0/2 (b 2/2)", "b 2/2 a 0/2", NULL},
        {{"a", "a"}, {(double)NAN, (double)INFINITY}, "", "", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stacks *s = stacks_new();
        double total = 0;
        for (size_t k = 0; k < 4 && rows[i].stacks[k]; k++) {
            add(s, rows[i].stacks[k], rows[i].weights[k]);
            if (rows[i].weights[k] > 0 && isfinite(rows[i].weights[k]))
                total += rows[i].weights[k];
        }
        expect(put_all, s, rows[i].tree);
        expect(put_sums, s, rows[i].sums);
        assert_true(stacks_total(s) == total);
        assert_true(stacks_shortened(s) == 0);
        struct stacks *inverted = stacks_inverted(s);
        if (rows[i].inverted)
            expect(put_all, inverted, rows[i].inverted);
        assert_true(stacks_total(inverted) == total);
        assert_int_equal(stacks_frames(inverted), stacks_frames(s));
        stacks_free(inverted);
        stacks_free(s);
    }
    stacks_free(NULL);
}

TEST(test_no_frames)
{
    struct stacks *s = stacks_new();
    struct stacks_rest rest;
    size_t n;
    stacks_add(s, NULL, 0, 3);
    assert_int_equal(stacks_nodes(s), 1);
    assert_true(stacks_node(s, 0)->self == 3 && stacks_node(s, 0)->total == 3);
    assert_int_equal(stacks_node(s, 0)->frame, STACKS_NO_FRAME);
    assert_null(stacks_frame_at(s, STACKS_NO_FRAME));
    assert_null(stacks_heavy_children(s, 0, 0, &n, &rest));
    assert_int_equal(n, 0);
    struct stacks *inverted = stacks_inverted(s);
    assert_true(stacks_node(inverted, 0)->self == 3);
    stacks_free(inverted);
    stacks_free(s);
}

/* "a 5/8 -b 3/3 ": self and total of each, behind a sign for each level. */
static void put_branch(void *arg, const struct stacks_branch *b)
{
    void **args = arg;
    struct buf *out = args[0];
    const struct stacks *s = args[1];
    for (size_t i = 0; i < b->depth; i++)
        buf_puts(out, "-");
    buf_printf(out, "%s %g/%g ", b->index ? name_of(s, stacks_node(s, b->index)->frame) : "rest",
               b->self, b->total);
}

TEST(test_walk)
{
    static const struct {
        double least;
        size_t depth;
        const char *wanted;
    } rows[] = {
        {0, 9, "a 2/12 -b 0/7 --c 4/4 --d 3/3 -e 3/3 f 5/5 g 1/1 "},
        {4, 9, "a 2/12 -b 0/7 --c 4/4 --rest 0/3 -rest 0/3 f 5/5 rest 0/1 "},
        {0, 1, "a 2/12 -rest 0/10 f 5/5 g 1/1 "},
        {99, 9, "rest 0/18 "},
    };
    struct stacks *s = stacks_new();
    add(s, "a", 2);
    add(s, "abc", 4);
    add(s, "abd", 3);
    add(s, "ae", 3);
    add(s, "g", 1);
    add(s, "f", 5);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out;
        buf_init(&out, 0);
        void *args[] = {&out, s};
        stacks_walk(s, rows[i].least, rows[i].depth, put_branch, args);
        assert_string_equal(buf_cstr(&out), rows[i].wanted);
        buf_clear(&out);
    }
    stacks_free(s);
}

TEST(test_identities)
{
    struct stacks *s = stacks_new(), *others = stacks_new();
    add(s, "ab", 1);
    add(others, "ba", 1);
    assert_true(stacks_frame_identity(s, 0) == stacks_frame_identity(others, 1));
    assert_true(stacks_frame_identity(s, 0) != stacks_frame_identity(s, 1));
    stacks_free(s);
    stacks_free(others);
}

#define S(text)                                                                                    \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }

TEST(test_ids)
{
    /* Each differs from the others in one thing; texts that run together are not the same. */
    static const struct sample_frame rows[] = {
        {FRAME_ERLANG, S("a:b/1"), S(""), S(""), 0},
        {FRAME_BIF, S("a:b/1"), S(""), S(""), 0},
        {FRAME_ERLANG, S("a:b/2"), S(""), S(""), 0},
        {FRAME_ERLANG, S("a:b/1"), S("x"), S(""), 0},
        {FRAME_ERLANG, S("a:b/1"), S(""), S("x"), 0},
        {FRAME_ERLANG, S("a:b/1"), S(""), S("x"), 7},
        {FRAME_ERLANG, S("a:b/1x"), S(""), S(""), 0},
        {FRAME_ERLANG, S("a\0b"), S(""), S(""), 0},
        {FRAME_UNKNOWN, S("\xff\n;"), S(""), S(""), 0},
    };
    struct stacks *s = stacks_new();
    for (int again = 0; again < 2; again++)
        for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
            char name[16] = {0};
            struct sample_frame copy = rows[i];
            memcpy(name, rows[i].name.s, rows[i].name.len);
            copy.name.s = name; /* it is copied, not kept */
            assert_int_equal(stacks_frame(s, &copy), i);
            memset(name, '!', sizeof name);
            const struct sample_frame *kept = stacks_frame_at(s, i);
            assert_true(kept->kind == rows[i].kind && kept->line == rows[i].line);
            assert_true(slice_equal(kept->name, rows[i].name));
            assert_true(slice_equal(kept->object, rows[i].object));
            assert_true(slice_equal(kept->file, rows[i].file));
        }
    assert_int_equal(stacks_frames(s), ARRAY_LEN(rows));
    const struct sample_frame nameless = {.kind = FRAME_UNKNOWN};
    assert_string_equal(name_of(s, stacks_frame(s, &nameless)), "[unknown]");
    stacks_free(s);
}

TEST(test_long_names)
{
    enum { LONG = LIMIT_STACK_NAME_BYTES + 10 };
    struct stacks *s = stacks_new();
    char *text = alloc_zero(1, LONG);
    memset(text, 'x', LONG);
    const struct slice all = {text, LONG};
    const struct sample_frame f = {FRAME_LIBC, all, all, all, 1};
    uint32_t id = stacks_frame(s, &f);
    assert_int_equal(stacks_frame_at(s, id)->name.len, LIMIT_STACK_NAME_BYTES);
    assert_int_equal(stacks_frame_at(s, id)->file.len, LIMIT_STACK_NAME_BYTES);
    /* texts reach their cap before frames do; what is known is found all the same */
    uint32_t first = id, last = id;
    for (uint32_t line = 2; line < LIMIT_STACK_FRAMES && id == last; line++) {
        struct sample_frame next = f;
        next.line = line;
        id = stacks_frame(s, &next);
        last = (uint32_t)stacks_frames(s) - 1;
        if (strcmp(name_of(s, id), "…") == 0)
            break;
    }
    assert_string_equal(name_of(s, id), "…");
    assert_true(stacks_frames(s) < LIMIT_STACK_FRAMES);
    assert_int_equal(stacks_frame(s, &f), first);
    free(text);
    stacks_free(s);
}

TEST(test_many_frames)
{
    struct stacks *s = stacks_new();
    char name[32];
    for (unsigned i = 0; i < LIMIT_STACK_FRAMES + 10; i++) {
        snprintf(name, sizeof name, "f%u", i);
        uint32_t id = frame(s, name);
        assert_int_equal(id, i < LIMIT_STACK_FRAMES ? i : LIMIT_STACK_FRAMES);
    }
    assert_int_equal(stacks_frames(s), LIMIT_STACK_FRAMES + 1);
    assert_string_equal(name_of(s, LIMIT_STACK_FRAMES), "…");
    assert_int_equal(frame(s, "f7"), 7);
    stacks_free(s);
}

/* Of a deep stack root and leaf stay, so that the function that ran keeps its weight. */
TEST(test_deep)
{
    static const struct {
        size_t frames, kept;
        double shortened;
    } rows[] = {
        {LIMIT_STACK_DEPTH, LIMIT_STACK_DEPTH, 0},
        {LIMIT_STACK_DEPTH + 1, LIMIT_STACK_DEPTH, 2},
        {5000, LIMIT_STACK_DEPTH, 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t frames[5000], path[LIMIT_STACK_DEPTH];
        struct stacks *s = stacks_new();
        char name[32];
        for (size_t k = 0; k < rows[i].frames; k++) {
            snprintf(name, sizeof name, "f%zu", k);
            frames[k] = frame(s, name);
        }
        stacks_add(s, frames, rows[i].frames, 2);
        assert_true(stacks_shortened(s) == rows[i].shortened);
        uint32_t deepest = (uint32_t)stacks_nodes(s) - 1;
        assert_int_equal(stacks_path(s, deepest, path), rows[i].kept);
        assert_true(stacks_node(s, deepest)->self == 2);
        assert_int_equal(path[0], frames[0]);
        assert_int_equal(path[LIMIT_STACK_DEPTH / 2 - 1], frames[LIMIT_STACK_DEPTH / 2 - 1]);
        assert_int_equal(strcmp(name_of(s, path[LIMIT_STACK_DEPTH / 2]), "…") == 0,
                         rows[i].shortened > 0);
        for (size_t k = 1; k < LIMIT_STACK_DEPTH / 2; k++)
            assert_int_equal(path[rows[i].kept - k], frames[rows[i].frames - k]);
        struct stacks *inverted = stacks_inverted(s);
        assert_true(stacks_shortened(inverted) == rows[i].shortened);
        stacks_free(inverted);
        stacks_free(s);
    }
}

TEST(test_many_nodes)
{
    struct stacks *s = stacks_new();
    uint32_t frames[4];
    char name[32];
    for (unsigned i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "f%u", i);
        frame(s, name);
    }
    for (uint32_t i = 0; i < LIMIT_STACK_NODES; i++) {
        frames[0] = i % 400;
        frames[1] = i / 400;
        stacks_add(s, frames, 2, 1);
    }
    assert_int_equal(stacks_nodes(s), LIMIT_STACK_NODES);
    assert_true(stacks_total(s) == LIMIT_STACK_NODES);
    assert_true(stacks_shortened(s) == 401); /* the root and 400 nodes below it took their room */
    size_t n;
    struct stacks_sum *sums = stacks_sums(s, &n);
    double self = 0;
    for (size_t i = 0; i < n; i++)
        self += sums[i].self;
    assert_true(self == LIMIT_STACK_NODES); /* nothing is lost */
    free(sums);
    stacks_free(s);
}

/* The heaviest nodes stay; what ends below one of the others ends in "…" there. */
TEST(test_pruned)
{
    static const struct {
        size_t most;
        double least, left_out;
        const char *tree;
    } rows[] = {
        {100, 0, 0, "a 1/10 (b 2/9 (c 4/4 d 3/3))"},
        {3, 0, 3, "a 1/10 (b 2/9 (c 4/4 … 3/3))"},
        {100, 4, 3, "a 1/10 (b 2/9 (c 4/4 … 3/3))"},
        {1, 0, 9, "a 1/10 (… 9/9)"},
        {0, 0, 10, "… 10/10"},
        {100, 1e9, 10, "… 10/10"},
    };
    struct stacks *s = stacks_new();
    add(s, "a", 1);
    add(s, "ab", 2);
    add(s, "abc", 4);
    add(s, "abd", 3);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double left_out;
        struct buf out;
        struct stacks *pruned = stacks_pruned(s, rows[i].most, rows[i].least, &left_out);
        buf_init(&out, 0);
        put_tree(&out, pruned, 0);
        assert_string_equal(buf_cstr(&out), rows[i].tree);
        assert_true(left_out == rows[i].left_out && stacks_total(pruned) == 10);
        buf_clear(&out);
        stacks_free(pruned);
    }
    stacks_free(s);
}

/* Names of the VM and of code that the JIT shares, and the group of each. */
TEST(test_groups)
{
    static const struct {
        const char *name, *group;
        enum frame_kind kind;
    } rows[] = {
        {"erts_garbage_collect_nobump", "gc", FRAME_RUNTIME},
        {"erts_gc_after_bif_call_lhf", "gc", FRAME_RUNTIME},
        {"global::garbage_collect", "gc", FRAME_SHARED},
        {"erts_gc_update_map_assoc", NULL, FRAME_RUNTIME},
        {"erts_gc_update_map_exact", NULL, FRAME_RUNTIME},
        {"erts_gc_new_map", NULL, FRAME_RUNTIME},
        {"erts_gc_length_1", NULL, FRAME_RUNTIME},
        {"copy_struct_x", "copies", FRAME_RUNTIME},
        {"copy_shallow_x", "copies", FRAME_RUNTIME},
        {"copy_shallow_obj_x", "copies", FRAME_RUNTIME},
        {"copy_shared_perform_x", "copies", FRAME_RUNTIME},
        {"erts_copy_one_frag", "copies", FRAME_RUNTIME},
        {"erts_copy_literals_gc", "copies", FRAME_RUNTIME},
        {"db_copy_element_from_ets", "copies", FRAME_RUNTIME},
        {"erts_copy_bits", NULL, FRAME_RUNTIME},
        {"erts_copy_utf8_to_utf16_little", NULL, FRAME_RUNTIME},
        {"copy_shallow_x", "nifs", FRAME_NIF},
    };
    static const char *const groups[] = {"gc", "copies", "nifs"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct sample_frame f = {.kind = rows[i].kind, .name = slice_of(rows[i].name)};
        for (size_t k = 0; k < ARRAY_LEN(groups); k++) {
            const bool is = rows[i].group && strcmp(rows[i].group, groups[k]) == 0;
            if (frame_group_has(frame_group_find(groups[k]), &f) != is)
                fail_msg("%s in %s", rows[i].name, groups[k]);
        }
    }
}

/* Half of the interval, in points: exact at the ends, of few samples by Wilson, else normal. */
TEST(test_errors)
{
    static const struct {
        double share, n, points;
    } rows[] = {
        {0.3, 1000, 2.84}, {0.5, 4, 35.0}, {0.2, 5, 42.4}, {0.01, 100, 4.45},
        {0.99, 100, 4.45}, {0, 100, 2.95}, {1, 5, 45.1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const double points = 100 * sample_error(rows[i].share, rows[i].n);
        if (!(fabs(points - rows[i].points) < 0.06))
            fail_msg("%g of %g: %g, not %g", rows[i].share, rows[i].n, points, rows[i].points);
    }
    assert_true(isnan(sample_error(0.5, 0)));
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks of aarch64, of emulated VMs that ran functions with known callers. */
#include "recorded.h"

#include "beamtop/base/buf.h"
#include "beamtop/local/jit.h"

static const char *const files[] = {"aarch64-25.bin", "aarch64-27.bin", "aarch64-29.bin"};

/* What of each moment follows from the program that ran (its source is in docs/testing.md), from
 * the leaf on: compiled frames, BIFs marked by `=`, one that repeats once. Behind `…` only the last
 * frames count. */
static const struct known {
    const char *name, *frames;
    enum sample_class in;
    unsigned flags;
} known[] = {
    {"leaf", "known:leaf/2 known:f3/1 known:f2/1 known:f1/1 known:main/1", SAMPLE_ERLANG,
     SAMPLE_COMPLETE},
    {"bif", "global::call_light_bif_shared =BIF known:nat/1 known:main/1", SAMPLE_BIF,
     SAMPLE_COMPLETE},
    {"collector", "global::garbage_collect known:collect/1", SAMPLE_GC, 0},
    {"send", "global::call_light_bif_shared known:ask/2", SAMPLE_BIF, SAMPLE_COMPLETE},
    {"schedule", "global::process_main", SAMPLE_SCHEDULER, SAMPLE_COMPLETE},
    {"receive", "global::i_loop_rec_shared known:", SAMPLE_RUNTIME, SAMPLE_COMPLETE},
};

struct fixture {
    struct recorded *r;
    struct memory memory;
    struct jit *jit;
    struct stack stack;
};

static void fixture_open(struct fixture *f, const char *file)
{
    struct error err = {0};
    f->r = recorded_open(file);
    f->memory = (struct memory){recorded_read, f->r};
    f->r->now = 1; /* has the code of the fragments that are searched */
    if (jit_read(&f->jit, &machine_aarch64, &f->memory, RECORDED_LIST, &err) != 0)
        fail_msg("%s: %s", file, err.text);
}

static void fixture_close(struct fixture *f)
{
    jit_free(f->jit);
    recorded_close(f->r);
}

static void take(struct fixture *f, int moment)
{
    const struct stack_world w = {&machine_aarch64, f->jit, &f->r->images, &f->memory};
    f->r->now = moment;
    stack_of(&f->stack, &w, &f->r->samples[moment], true, false);
}

static int moment_of(const struct fixture *f, const char *name)
{
    for (int i = 1; i <= f->r->moments; i++)
        if (slice_is(f->r->names[i], name))
            return i;
    fail_msg("no moment %s", name);
    return 0;
}

/* Compiled frames, each once in a row. */
static void print_frames(const struct fixture *f, struct buf *out)
{
    const struct jit_function *last = NULL;
    for (size_t i = 0; i < f->stack.n; i++) {
        const struct stack_frame *frame = &f->stack.frames[i];
        const struct jit_function *at =
            frame->is == IS_NATIVE ? NULL : jit_at(f->jit, frame->address - !frame->leaf);
        if (at && frame->is == IS_BIF)
            buf_printf(out, " =BIF");
        else if (at && at != last)
            buf_printf(out, "%s%.*s", out->len > 0 ? " " : "", (int)at->name.len, at->name.s);
        last = at;
    }
}

static const struct known *known_of(struct slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (slice_is(name, known[i].name))
            return &known[i];
    fail_msg("no frames are known of %.*s", (int)name.len, name.s);
    return NULL;
}

TEST(test_known_functions)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct fixture f;
        fixture_open(&f, files[i]);
        assert_true(f.r->moments >= 5);
        for (int k = 1; k <= f.r->moments; k++) {
            const struct known *want = known_of(f.r->names[k]);
            struct buf frames;
            buf_init(&frames, 0);
            take(&f, k);
            print_frames(&f, &frames);
            if (strncmp(buf_cstr(&frames), want->frames, strlen(want->frames)) != 0 ||
                f.stack.in != want->in || (f.stack.flags & want->flags) != want->flags ||
                (f.stack.flags & (SAMPLE_MOVED_ON | SAMPLE_UNRESOLVED)) ||
                (want->in != SAMPLE_SCHEDULER && (f.stack.first_word & 15) != 3))
                fail_msg("%s, %s: class %d, flags %x, %s", files[i], want->name, (int)f.stack.in,
                         f.stack.flags, buf_cstr(&frames));
            buf_clear(&frames);
        }
        fixture_close(&f);
    }
}

/* In native code the frames below it, whose CFI was recorded too, lead to compiled code. */
TEST(test_native_frames)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct fixture f;
        fixture_open(&f, files[i]);
        take(&f, moment_of(&f, "schedule"));
        assert_true(f.stack.n >= 4);
        for (size_t k = 0; k + 1 < f.stack.n; k++)
            assert_int_equal(f.stack.frames[k].is, IS_NATIVE);
        assert_int_equal(f.stack.frames[f.stack.n - 1].is, IS_COMPILED);
        fixture_close(&f);
    }
}

TEST(test_offsets)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct fixture f;
        fixture_open(&f, files[i]);
        assert_int_equal(jit_htop_offset(f.jit), 80);
        assert_true(jit_resume_offset(f.jit) > 80);
        assert_int_equal(jit_layout(f.jit), JIT_RETURN_ADDRESSES);
        fixture_close(&f);
    }
}

static void change_word(struct recorded *r, uint64_t at, uint64_t word)
{
    for (size_t i = 0; i < r->n; i++) {
        struct recorded_block *b = &r->blocks[i];
        if (b->moment == r->now && at >= b->at && at + 8 <= b->at + b->len)
            memcpy(r->bytes + (b->bytes - r->bytes) + (at - b->at), &word, sizeof word);
    }
}

/* The Erlang stack is no longer that of the sample: the link register says so in compiled code, the
 * last native frame elsewhere. The leaf stays, and what is above it goes. */
TEST(test_moved_on)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct fixture f;
        fixture_open(&f, files[i]);
        const int moment = moment_of(&f, "leaf");
        f.r->now = moment;
        const struct perf_sample *s = &f.r->samples[moment];
        /* As if f3 had returned: the word that its call has pushed is gone. */
        const uint64_t top = s->registers.value[machine_aarch64.stack];
        change_word(f.r, top, 0x0b); /* a small number's tag */
        take(&f, moment);
        assert_true(f.stack.flags & SAMPLE_MOVED_ON);
        assert_false(f.stack.flags & SAMPLE_COMPLETE);
        assert_int_equal(f.stack.n, 1);
        fixture_close(&f);

        fixture_open(&f, files[i]);
        const int bif = moment_of(&f, "send");
        take(&f, bif);
        const size_t whole = f.stack.n;
        assert_false(f.stack.flags & SAMPLE_MOVED_ON);
        const uint64_t sp = f.r->samples[bif].registers.value[machine_aarch64.sp];
        for (size_t k = 0; k < f.r->samples[bif].stack_len; k += 8)
            change_word(f.r, sp + k, 0x0b);
        take(&f, bif);
        assert_true(f.stack.flags & SAMPLE_MOVED_ON);
        assert_true(f.stack.n < whole);
        fixture_close(&f);
    }
}

/* Whatever registers have, a stack ends within its limits. */
TEST(test_any_registers)
{
    struct fixture f;
    fixture_open(&f, files[0]);
    uint64_t seed = 1;
    for (int k = 0; k < 3000; k++) {
        struct perf_sample *s = &f.r->samples[1 + k % f.r->moments];
        const struct perf_sample before = *s;
        for (int n = 0; n < 3; n++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const size_t number = (seed >> 33) % machine_aarch64.n_registers;
            if (k % 2 == 0)
                s->registers.value[number] = seed;
            else if (k % 3 == 0)
                s->registers.known &= ~(UINT64_C(1) << number);
            else
                s->registers.value[number] += (seed >> 40) % 64;
        }
        take(&f, 1 + k % f.r->moments);
        assert_true(f.stack.n <= LIMIT_SAMPLE_FRAMES);
        *s = before;
    }
    fixture_close(&f);
}

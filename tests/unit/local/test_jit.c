/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "beamtop/local/jit.h"
#include "made_jit.h"

#define HEAD (MADE_BASE + MADE_DESCRIPTOR)

static uint64_t scan(struct made *made)
{
    const struct memory m = made_memory(made);
    const struct jit_range ranges[] = {{1, 2}, {MADE_BASE, made_here(made)}};
    return jit_scan(&m, ranges, ARRAY_LEN(ranges));
}

/* Reads what was made, with the result that is given, and forgets it. */
static void expect(struct made *made, int expected)
{
    struct jit *j = NULL;
    struct error err = {0};
    const struct memory m = made_memory(made);
    assert_int_equal(jit_read(&j, &machine_x86_64, &m, HEAD, &err), expected);
    assert_int_equal(err.code, expected);
    assert_int_equal(j != NULL, expected == 0);
    jit_free(j);
    buf_clear(&made->bytes);
}

static struct jit *read_good(struct made *made)
{
    struct jit *j = NULL;
    struct error err = {0};
    const struct memory m = made_memory(made);
    assert_int_equal(jit_read(&j, &machine_x86_64, &m, HEAD, &err), 0);
    return j;
}

static void assert_function(const struct jit_function *f, uint64_t start, uint64_t end,
                            const char *name)
{
    assert_non_null(f);
    assert_int_equal(f->start, start);
    assert_int_equal(f->end, end);
    assert_string_equal(f->name.s, name);
    assert_int_equal(f->name.len, strlen(name));
}

TEST(test_functions)
{
    struct made made;
    uint64_t code = made_good(&made, 0);
    assert_int_equal(scan(&made), HEAD);
    struct jit *j = read_good(&made);
    assert_int_equal(jit_count(j), 7);
    assert_function(jit_function(j, 0), code, code + 8, "global::apply_fun_shared");
    assert_true(jit_function(j, 0)->global);
    assert_function(jit_function(j, 2), 0x7f0000001010, 0x7f0000001100, "a:f/1");
    assert_false(jit_function(j, 2)->global || jit_function(j, 2)->prologue);
    assert_function(jit_at(j, 0x7f0000002010), 0x7f0000002010, 0x7f0000002020, "b:f/1");
    assert_true(jit_at(j, 0x7f000000201f)->prologue);
    assert_false(jit_at(j, 0x7f0000002020)->prologue);
    assert_null(jit_at(j, 0));
    assert_null(jit_at(j, 0x7f000000100f));
    assert_null(jit_at(j, 0x7f0000001200));
    assert_null(jit_at(j, UINT64_MAX));
    assert_int_equal(jit_normal_exit(j), 0x7f0000000030);
    jit_free(j);
    buf_clear(&made.bytes);
}

TEST(test_lines)
{
    struct made made;
    struct slice file;
    uint32_t line = 0;
    made_good(&made, 0);
    struct jit *j = read_good(&made);
    const struct jit_function *f = jit_at(j, 0x7f0000001010), *g = jit_at(j, 0x7f0000001100);
    assert_int_equal(f->lines, 2); /* one was of the next function */
    assert_true(jit_line(j, f, 0x7f0000001010, &file, &line));
    assert_int_equal(line, 3);
    assert_true(jit_line(j, f, 0x7f00000010ff, &file, &line));
    assert_int_equal(line, 5);
    assert_string_equal(file.s, "src/a.erl");
    assert_false(jit_line(j, g, 0x7f000000111f, &file, &line));
    assert_true(jit_line(j, g, 0x7f0000001120, &file, &line));
    assert_int_equal(line, 11);
    assert_string_equal(file.s, "a.hrl");
    assert_false(jit_line(j, jit_function(j, 0), UINT64_MAX, &file, &line));
    jit_free(j);
    buf_clear(&made.bytes);
}

/* The header of the module `global` is named like a fragment. */
TEST(test_global)
{
    struct made made;
    made_good(&made, 0);
    made_module(&made, 0x7f0000003000, 2, 64);
    made_range(&made, 0, 32, 0, "global::codeHeader");
    made_range(&made, 32, 64, 0, "global:start/0");
    made_end(&made);
    struct jit *j = read_good(&made);
    assert_false(jit_at(j, 0x7f0000003000)->global);
    assert_false(jit_at(j, 0x7f0000003020)->global);
    jit_free(j);
    buf_clear(&made.bytes);
}

TEST(test_code)
{
    struct made made;
    uint8_t bytes[16];
    uint64_t code = made_good(&made, 0);
    const struct memory m = made_memory(&made);
    struct jit *j = read_good(&made);
    assert_true(jit_code(j, &m, code + 1, bytes, 15)); /* of two fragments */
    assert_int_equal(bytes[8], 0x41);
    assert_false(jit_code(j, &m, code + 1, bytes, 16));
    assert_false(jit_code(j, &m, code - 1, bytes, 1));
    assert_false(jit_code(j, &m, 0x7f0000001010, bytes, 1)); /* in the list, but unreadable */
    jit_free(j);
    buf_clear(&made.bytes);
}

/* In SSE, with frame pointers, in AVX; then what is not such an instruction. */
TEST(test_htop)
{
    static const uint8_t avx[] = {0xc4, 0xc1, 0x7a, 0x7f, 0x45, 88, 0xc3, 0x90};
    static const uint8_t none[] = {0xc4, 0xc1, 0x7a, 0x7f, 0x90, 0x90, 0x90, 0x45};
    static const uint8_t odd[] = {0xc4, 0xc1, 0x7a, 0x7f, 0x45, 81, 0x90, 0x90};
    static const uint8_t cut[] = {0x90, 0x90, 0x90, 0x90, 0x41, 0x0f, 0x11, 0x45};
    const struct {
        const uint8_t *code;
        uint32_t layout, offset;
    } rows[] = {{NULL, 0, 80}, {NULL, 1, 72}, {avx, 0, 88}, {none, 0, 0}, {odd, 0, 0}, {cut, 0, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct made made;
        uint64_t code = made_good(&made, rows[i].layout);
        if (rows[i].code)
            made_set(&made, code + 8, rows[i].code, 8);
        struct jit *j = read_good(&made);
        assert_int_equal(jit_layout(j), rows[i].layout);
        assert_int_equal(jit_htop_offset(j), rows[i].offset);
        jit_free(j);
        buf_clear(&made.bytes);
    }
}

/* Twice the same is fine; two offsets, an odd one, one beyond a process, and none are not. */
TEST(test_resume)
{
    const struct {
        uint32_t first, second, offset;
    } rows[] = {{0x100, 0, 0x100}, {0xf8, 0xf8, 0xf8}, {0xf8, 0x100, 0},
                {0xf9, 0, 0},      {0x800, 0, 0},      {0, 0, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct made made;
        made_good(&made, 0);
        uint64_t code = made_here(&made);
        for (int k = 0; k < 2; k++) {
            uint32_t offset = k == 0 ? rows[i].first : rows[i].second;
            buf_put(&made.bytes, offset ? "\x49\x89\x95" : "\x49\x89\x96", 3);
            made_u32(&made.bytes, offset);
        }
        made_module(&made, code, 1, 14);
        made_range(&made, 0, 14, 0, "global::process_main");
        made_end(&made);
        struct jit *j = read_good(&made);
        assert_int_equal(jit_resume_offset(j), rows[i].offset);
        jit_free(j);
        buf_clear(&made.bytes);
    }
}

/* OTP 25 keeps old code on its list when its memory is another's. */
TEST(test_reload)
{
    struct made made;
    made_begin(&made);
    made_module(&made, 0x7f0000001000, 2, 0x100);
    made_range(&made, 0x20, 0x60, 0, "new:f/0");
    made_range(&made, 0x60, 0x80, 0, "new:g/0");
    made_end(&made);
    made_module(&made, 0x7f0000001000, 5, 0x100);
    made_range(&made, 0, 0x20, 0, "old:a/0");
    made_range(&made, 0x10, 0x30, 0, "old:b/0"); /* before and in new:f/0 */
    made_range(&made, 0x20, 0x60, 0, "old:c/0");
    made_range(&made, 0x70, 0x90, 0, "old:d/0");
    made_range(&made, 0x90, 0x100, 0, "old:e/0");
    made_end(&made);
    made_module(&made, 0x7f0000001000, 1, 0x100);
    made_range(&made, 0, 0x100, 0, "oldest:a/0");
    made_end(&made);
    made_emulator(&made, 0, 1);
    struct jit *j = read_good(&made);
    assert_int_equal(jit_count(j), 4);
    assert_function(jit_function(j, 0), 0x7f0000001000, 0x7f0000001020, "old:a/0");
    assert_function(jit_function(j, 1), 0x7f0000001020, 0x7f0000001060, "new:f/0");
    assert_function(jit_function(j, 2), 0x7f0000001060, 0x7f0000001080, "new:g/0");
    assert_function(jit_function(j, 3), 0x7f0000001090, 0x7f0000001100, "old:e/0");
    jit_free(j);
    buf_clear(&made.bytes);
}

TEST(test_changed)
{
    struct made made;
    made_good(&made, 0);
    const struct memory m = made_memory(&made);
    struct jit *j = read_good(&made);
    uint64_t first;
    memcpy(&first, made.bytes.data + MADE_DESCRIPTOR + 16, sizeof first);
    assert_false(jit_changed(j, &m));
    made_set_u64(&made, HEAD + 16, made.last);
    assert_true(jit_changed(j, &m));
    made_set_u64(&made, HEAD + 16, first);
    assert_false(jit_changed(j, &m));
    made_set_u64(&made, first + 24, 77); /* freed, and its memory taken for another */
    assert_true(jit_changed(j, &m));
    jit_free(j);
    buf_clear(&made.bytes);
}

/* ---- what does not fit */

TEST(test_no_list)
{
    struct made made;
    struct jit *j = NULL;
    struct error err = {0};
    made_begin(&made);
    const struct memory m = made_memory(&made);
    assert_int_equal(scan(&made), 0);
    assert_int_equal(jit_read(&j, &machine_x86_64, &m, 0, &err), ERR_NOT_FOUND);
    expect(&made, ERR_NOT_FOUND); /* a descriptor of an empty list */
}

TEST(test_scan)
{
    struct made made;
    made_good(&made, 0);
    uint64_t first;
    memcpy(&first, made.bytes.data + MADE_DESCRIPTOR + 16, sizeof first);
    const struct {
        uint64_t address, value;
    } rows[] = {{HEAD, 2},                     /* version */
                {HEAD, 1 | UINT64_C(3) << 32}, /* action */
                {HEAD + 16, first + 4},        /* not aligned */
                {HEAD + 16, 8},
                {HEAD + 16, UINT64_MAX - 7},
                {first, 0},
                {first, first},
                {first + 16, 0},
                {first + 24, 15},
                {first + 24, LIMIT_JIT_ENTRY_BYTES},
                {first + 32, 2}}; /* a kind that is not known */
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t before;
        memcpy(&before, made.bytes.data + (rows[i].address - MADE_BASE), sizeof before);
        made_set_u64(&made, rows[i].address, rows[i].value);
        assert_int_equal(scan(&made), 0);
        made_set_u64(&made, rows[i].address, before);
        assert_int_equal(scan(&made), HEAD);
    }
    made_set_u64(&made, first + 8, 0x1234567); /* garbage, as OTP 25 has it */
    assert_int_equal(scan(&made), HEAD);
    buf_clear(&made.bytes);
}

/* Wherever the descriptor is in a range that takes several reads; holes are passed over. */
TEST(test_scan_of_much)
{
    static const uint8_t zero[8];
    for (size_t before = 65536 - 48; before <= 65536 + 48; before += 8) {
        struct made made;
        made_good(&made, 0);
        while (made.bytes.len < before)
            buf_put(&made.bytes, zero, sizeof zero);
        uint64_t at = made_here(&made);
        uint8_t head[24];
        memcpy(head, made.bytes.data + MADE_DESCRIPTOR, sizeof head);
        buf_put(&made.bytes, head, sizeof head);
        made_set_u64(&made, HEAD, 0);
        assert_int_equal(scan(&made), at);
        buf_clear(&made.bytes);
    }
}

/* A range that is larger than all memory, and one full of what looks like a descriptor. */
TEST(test_scan_is_bounded)
{
    struct made made;
    made_begin(&made);
    const struct memory m = made_memory(&made);
    const struct jit_range all = {0, UINT64_MAX};
    assert_int_equal(jit_scan(&m, &all, 1), 0);
    assert_true(made.reads <= 2 * LIMIT_JIT_SCAN_BYTES / 65536);
    for (int i = 0; i < 100000; i++) {
        made_u64(&made.bytes, 1);
        made_u64(&made.bytes, 0);
        made_u64(&made.bytes, HEAD);
    }
    made.reads = 0;
    assert_int_equal(scan(&made), 0);
    assert_true(made.reads > LIMIT_JIT_CANDIDATES && made.reads < 4 * LIMIT_JIT_CANDIDATES);
    buf_clear(&made.bytes);
}

/* Cut at every byte: nothing beyond the end is read, and no part of a list is taken for all. */
TEST(test_truncated)
{
    struct made made;
    made_good(&made, 0);
    for (size_t len = made.bytes.len - 1; len > 0; len--) {
        struct made cut = {0};
        buf_init(&cut.bytes, 0);
        buf_put(&cut.bytes, made.bytes.data, len);
        expect(&cut, ERR_FORMAT);
    }
    buf_clear(&made.bytes);
}

/* Sizes of the last module that cut it at every byte. */
TEST(test_truncated_module)
{
    for (uint64_t size = 0;; size++) {
        struct made made;
        made_begin(&made);
        uint64_t module = made_module(&made, 0x7f0000001000, 1, 0x100);
        made_range(&made, 0, 0x10, 1, "a:f/1");
        made_line(&made, 0, 1, "a.erl");
        made_end(&made);
        uint64_t whole = made_here(&made) - module - 32;
        made_set_u64(&made, module + 24, size);
        expect(&made, size < whole ? ERR_FORMAT : 0);
        if (size == whole)
            break;
    }
}

static void set_u32(struct made *made, uint64_t at, uint32_t v)
{
    made_set(made, at, &v, sizeof v);
}

TEST(test_numbers_beyond)
{
    enum { SYMFILE = 32, RANGE = SYMFILE + 34 };
    const struct {
        unsigned at;
        uint32_t value;
    } rows[] = {{SYMFILE, 2},
                {SYMFILE, UINT32_MAX},
                {SYMFILE + 12, 0x10000}, /* base above user space */
                {SYMFILE + 12, UINT32_MAX},
                {SYMFILE + 16, 2}, /* ranges */
                {SYMFILE + 16, UINT32_MAX},
                {SYMFILE + 20, 15}, /* less code than the range has */
                {SYMFILE + 24, UINT32_MAX},
                {RANGE, 16}, /* from its end on */
                {RANGE, UINT32_MAX},
                {RANGE + 4, 0x101},
                {RANGE + 4, UINT32_MAX},
                {RANGE + 8, 2}, /* lines */
                {RANGE + 8, UINT32_MAX},
                {RANGE + 12, UINT32_MAX},
                {RANGE + 12, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct made made;
        made_begin(&made);
        uint64_t module = made_module(&made, 0x7f0000001000, 1, 0x100);
        made_range(&made, 0, 0x10, 1, "a:f/1");
        made_line(&made, 0, 1, "a.erl");
        made_end(&made);
        set_u32(&made, module + rows[i].at, rows[i].value);
        expect(&made, ERR_FORMAT);
    }
}

TEST(test_emulator)
{
    struct made made;
    made_begin(&made);
    made_emulator(&made, 2, 0); /* a layout that is not known */
    expect(&made, ERR_FORMAT);
    made_begin(&made);
    made_emulator(&made, 0, 0);
    made_set_u64(&made, made.last + 24, 23);
    expect(&made, ERR_FORMAT);
}

TEST(test_too_large)
{
    struct made made;
    made_good(&made, 0);
    made_set_u64(&made, made.last + 24, LIMIT_JIT_ENTRY_BYTES);
    expect(&made, ERR_FORMAT);
    made_good(&made, 0);
    made_set_u64(&made, made.last + 24, UINT64_MAX);
    expect(&made, ERR_FORMAT);
}

TEST(test_cycles)
{
    struct made made;
    made_good(&made, 0);
    made_set_u64(&made, made.last, made.last); /* to itself */
    expect(&made, ERR_FORMAT);
    made_good(&made, 0);
    uint64_t first;
    memcpy(&first, made.bytes.data + MADE_DESCRIPTOR + 16, sizeof first);
    made_set_u64(&made, made.last, first); /* a true ring */
    made_set_u64(&made, first + 8, made.last);
    expect(&made, ERR_FORMAT);
    made_good(&made, 0);
    made_set_u64(&made, made.last + 8, first); /* prev is not where it came from */
    expect(&made, ERR_FORMAT);
}

/* A ring behind the begin of the list, which the checks of neighbours do not see. */
static void turn(struct made *made, uint64_t at)
{
    uint64_t first = MADE_BASE + MADE_DESCRIPTOR + 24;
    if (at == made->last) /* is read from either neighbour: prev follows */
        made_set_u64(made, made->last + 8, made->reads <= 5 ? first : made->last);
}

TEST(test_ring_is_bounded)
{
    struct made made;
    made_begin(&made);
    made_emulator(&made, 0, 0);
    made_emulator(&made, 0, 0);
    made_set_u64(&made, made.last, made.last);
    made.before = turn;
    expect(&made, ERR_LIMIT);
    assert_true(made.reads < 3 * LIMIT_JIT_ENTRIES);
}

TEST(test_a_million_entries)
{
    struct made made;
    made_begin(&made);
    for (int i = 0; i < 1000000; i++)
        made_emulator(&made, 0, 0);
    expect(&made, ERR_LIMIT);
}

/* The whole of the entries' bytes is bounded, although each may be as large as it is. */
TEST(test_too_many_bytes)
{
    struct made made;
    static const uint8_t zero[4096];
    uint64_t size = LIMIT_JIT_ENTRY_BYTES - 1, entries = LIMIT_JIT_BYTES / size + 1;
    made_begin(&made);
    uint64_t symfile = made_here(&made);
    made_u64(&made.bytes, 0);
    made_u64(&made.bytes, 0);
    made_u64(&made.bytes, 0);
    for (uint64_t i = 0; i < entries; i++) {
        made_entry(&made, size);
        made_set_u64(&made, made.last + 16, symfile);
    }
    while (made.bytes.len < size + 1024)
        buf_put(&made.bytes, zero, sizeof zero);
    expect(&made, ERR_LIMIT);
}

TEST(test_too_many_functions)
{
    struct made made;
    made_begin(&made);
    for (int module = 0; module < 3; module++) {
        uint32_t n = LIMIT_JIT_FUNCTIONS / 2;
        made_module(&made, 0x7f0000001000, n, 16);
        for (uint32_t i = 0; i < n; i++)
            made_range(&made, 0, 1, 0, "a");
        made_end(&made);
    }
    expect(&made, ERR_LIMIT);
}

/* ---- what changes while it is read */

static unsigned torn_walks;

static void mend(struct made *made, uint64_t at)
{
    static uint64_t prev;
    if (made->reads == 1)
        memcpy(&prev, made->bytes.data + (made->last + 8 - MADE_BASE), sizeof prev);
    if (at == HEAD && torn_walks > 0) {
        torn_walks--;
        made_set_u64(made, made->last + 8, 8);
    } else if (at == HEAD) {
        made_set_u64(made, made->last + 8, prev);
    }
}

TEST(test_torn)
{
    struct made made;
    made_good(&made, 0);
    made.before = mend;
    torn_walks = LIMIT_JIT_WALKS - 1;
    struct jit *j = read_good(&made);
    assert_int_equal(jit_count(j), 7);
    jit_free(j);
    torn_walks = LIMIT_JIT_WALKS;
    expect(&made, ERR_FORMAT);
}

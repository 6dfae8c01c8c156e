/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of the sampler: what is written is read back, in pieces of any size; whatever else comes
 * is refused for good. And what threads of a VM are called. */
#include <string.h>

#include "../../test.h"
#include "beamtop/local/records.h"

static const uint32_t frames[] = {0, 1, 0};
static const uint64_t addresses[] = {0x1000, 0x2000, UINT64_MAX};

static const struct sample a_sample = {
    .mono_ns = UINT64_C(1) << 60,
    .tid = 12,
    .cpu = 3,
    .thread = 0,
    .in = SAMPLE_NIF,
    .flags = SAMPLE_COMPLETE | SAMPLE_UNRESOLVED,
    .pid_number = 80,
    .pid_serial = 2,
    .call = UINT64_MAX - 7,
    .frames = frames,
    .n_frames = ARRAY_LEN(frames),
    .addresses = addresses,
};

static void put_stream(struct buf *out)
{
    const struct record_begin begin = {
        .functions = 15759, .by_symbol = true, .pinned = true, .cpus = 2, .threads = 1};
    const struct thread thread = {12, THREAD_DIRTY_CPU, 7, "erts_dcpus_7"};
    const struct sample_frame erlang = {.kind = FRAME_ERLANG,
                                        .name = slice_of("shop:get/1"),
                                        .file = slice_of("shop.erl"),
                                        .line = 7};
    const struct sample_frame native = {
        .kind = FRAME_NIF, .name = slice_of("spin"), .object = slice_of("a.so")};
    const struct record_end end = {1, 2, 3, 4, 5};
    buf_init(out, 0);
    record_put_begin(out, &begin);
    record_put_thread(out, &thread);
    record_put_frame(out, &erlang);
    record_put_frame(out, &native);
    record_put_sample(out, &a_sample);
    record_put_note(out, "a note");
    record_put_end(out, &end);
}

static void check_record(const struct record *r, int n)
{
    static const enum record_type types[] = {RECORD_BEGIN, RECORD_THREAD, RECORD_FRAME,
                                             RECORD_FRAME, RECORD_SAMPLE, RECORD_NOTE,
                                             RECORD_END};
    assert_int_equal(r->type, types[n]);
    if (n == 0)
        assert_true(r->u.begin.functions == 15759 && r->u.begin.by_symbol && r->u.begin.pinned &&
                    !r->u.begin.real_time);
    if (n == 1)
        assert_true(r->u.thread.kind == THREAD_DIRTY_CPU && r->u.thread.number == 7 &&
                    strcmp(r->u.thread.name, "erts_dcpus_7") == 0);
    if (n == 2)
        assert_true(slice_is(r->u.frame.name, "shop:get/1") && r->u.frame.line == 7);
    if (n == 4) {
        assert_memory_equal(r->u.sample.frames, frames, sizeof frames);
        assert_memory_equal(r->u.sample.addresses, addresses, sizeof addresses);
        assert_true(r->u.sample.in == SAMPLE_NIF && r->u.sample.pid_serial == 2 &&
                    r->u.sample.call == UINT64_MAX - 7 && r->u.sample.mono_ns == UINT64_C(1) << 60);
    }
    if (n == 6)
        assert_true(r->u.end.lost == 1 && r->u.end.kernel_us == 5);
}

/* The records that come out of bytes in pieces of that size; below 0: refused. */
static int read_all(const uint8_t *bytes, size_t len, size_t piece, bool check)
{
    struct records *r = records_new();
    struct error err = {0};
    struct record record;
    int n = 0, rc = 0;
    for (size_t at = 0; at < len && rc >= 0; at += piece) {
        records_feed(r, bytes + at, len - at < piece ? len - at : piece);
        while ((rc = records_next(r, &record, &err)) > 0) {
            if (check)
                check_record(&record, n);
            n++;
        }
    }
    if (rc < 0) {
        records_feed(r, bytes, len);
        assert_true(records_next(r, &record, &err) < 0);
        n = -1;
    }
    records_free(r);
    return n;
}

TEST(test_pieces)
{
    struct buf out;
    put_stream(&out);
    for (size_t piece = 1; piece <= out.len; piece++)
        assert_int_equal(read_all(out.data, out.len, piece, true), 7);
    buf_clear(&out);
}

/* Each byte with other values: read or refused, never more records, and none beyond its bounds. */
TEST(test_damage)
{
    struct buf out;
    put_stream(&out);
    for (size_t i = 0; i < out.len; i++)
        for (unsigned v = 0; v < 256; v += 17) {
            const uint8_t before = out.data[i];
            out.data[i] = (uint8_t)v;
            assert_true(read_all(out.data, out.len, 64, false) <= 7);
            out.data[i] = before;
        }
    buf_clear(&out);
}

TEST(test_refused)
{
    struct buf out;
    struct sample sample = a_sample;
    const struct record_end end = {0};
    const struct record_begin begin = {.functions = 1};
    buf_init(&out, 0);
    record_put_sample(&out, &sample); /* before anything else */
    assert_int_equal(read_all(out.data, out.len, out.len, false), -1);
    buf_reset(&out);
    record_put_begin(&out, &begin);
    record_put_begin(&out, &begin);
    record_put_end(&out, &end);
    record_put_note(&out, "behind the end");
    assert_int_equal(read_all(out.data, out.len, out.len, false), -1);
    static const uint8_t no_failure[] = {RECORD_FAILED, 0, 0, 0, 5, 0, 0, 2, 'n', 'o'};
    assert_int_equal(read_all(no_failure, sizeof no_failure, 5, false), -1);
    static const uint8_t long_one[] = {RECORD_NOTE, 0x7f, 0xff, 0xff, 0xff};
    assert_int_equal(read_all(long_one, sizeof long_one, 5, false), -1);
    buf_clear(&out);
}

/* A sample that cannot be read is dropped, and lost at the end; what follows it is read. */
TEST(test_unread_samples)
{
    struct buf out;
    struct error err = {0};
    struct record record;
    struct records *r = records_new();
    struct sample sample = a_sample;
    buf_init(&out, 0);
    record_put_begin(&out, &(struct record_begin){.functions = 1});
    record_put_sample(&out, &sample); /* neither its thread nor its frames are known */
    record_put_sample(&out, &sample);
    record_put_note(&out, "between");
    record_put_end(&out, &(struct record_end){.lost = 3});
    for (size_t piece = 1; piece <= out.len; piece++)
        assert_int_equal(read_all(out.data, out.len, piece, false), 3);
    records_feed(r, out.data, out.len);
    for (int i = 0; i < 3; i++)
        assert_int_equal(records_next(r, &record, &err), 1);
    assert_int_equal(record.type, RECORD_END);
    assert_int_equal(record.u.end.lost, 5);
    records_free(r);
    buf_clear(&out);
}

static struct slice other_name(void *arg, struct slice name)
{
    ++*(int *)arg;
    assert_true(slice_is(name, "spin"));
    return slice_of("another, longer name");
}

/* Only native frames have other names; all else is as it was. */
TEST(test_renamed)
{
    struct buf out, renamed;
    struct error err = {0};
    struct record record;
    struct records *r = records_new();
    int calls = 0;
    put_stream(&out);
    buf_init(&renamed, 0);
    record_put_renamed(&renamed, &out, other_name, &calls);
    assert_int_equal(calls, 1);
    assert_int_equal(read_all(renamed.data, renamed.len, 7, true), 7);
    records_feed(r, renamed.data, renamed.len);
    for (int i = 0; i < 4; i++)
        assert_int_equal(records_next(r, &record, &err), 1);
    assert_true(slice_is(record.u.frame.name, "another, longer name"));
    assert_true(record.u.frame.kind == FRAME_NIF && slice_is(record.u.frame.object, "a.so"));
    records_free(r);
    buf_clear(&renamed);
    buf_clear(&out);
}

TEST(test_failure)
{
    struct buf out;
    struct error err = {0};
    struct record record;
    struct records *r = records_new();
    error_set(&err, ERR_REFUSED, "not allowed");
    buf_init(&out, 0);
    record_put_failed(&out, &err);
    records_feed(r, out.data, out.len);
    error_clear(&err);
    assert_int_equal(records_next(r, &record, &err), 1);
    assert_int_equal(record.type, RECORD_FAILED);
    assert_int_equal(record.u.failed.code, ERR_REFUSED);
    assert_string_equal(record.u.failed.text, "not allowed");
    records_free(r);
    buf_clear(&out);
}

TEST(test_thread_names)
{
    static const struct {
        const char *name;
        enum thread_kind kind;
        unsigned number;
    } rows[] = {
        {"1_scheduler", THREAD_SCHEDULER, 1},
        {"12_scheduler", THREAD_SCHEDULER, 12},
        {"2_dirty_cpu_sch", THREAD_DIRTY_CPU, 2},
        {"10_dirty_io_sch", THREAD_DIRTY_IO, 10},
        {"1_aux", THREAD_AUX, 1},
        {"0_poller", THREAD_POLL, 0},
        {"async_1", THREAD_ASYNC, 1},
        {"erts_sched_24", THREAD_SCHEDULER, 24},
        {"erts_dcpus_3", THREAD_DIRTY_CPU, 3},
        {"erts_dios_4", THREAD_DIRTY_IO, 4},
        {"erts_poll_0", THREAD_POLL, 0},
        {"erts_async_1", THREAD_ASYNC, 1},
        {"beam.smp", THREAD_OTHER, 0},
        {"", THREAD_OTHER, 0},
        {"7", THREAD_OTHER, 0},
        {"sys_sig_dispatc", THREAD_OTHER, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct thread t;
        thread_name_parse(&t, rows[i].name);
        if (t.kind != rows[i].kind || t.number != rows[i].number)
            fail_msg("“%s” is %s %u", rows[i].name, thread_kind_key(t.kind), t.number);
    }
}

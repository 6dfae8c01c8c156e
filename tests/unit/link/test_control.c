/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "link/control.h"
#include "link/frame.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/parse.h"

#define LIMIT_TEST_FRAME 65536
#define NODE "a@b"

static int decode(struct control *out, const char *text, struct builder **keep, struct error *err)
{
    size_t len = 0;
    *keep = builder_new();
    if (etf_parse(*keep, text, strlen(text), NODE, err) != 0) {
        fail_msg("%s: %s", text, err->text);
    }
    const uint8_t *bytes = builder_bytes(*keep, &len);
    return control_decode(out, bytes, len, err);
}

TEST(test_decode)
{
    static const struct {
        const char *text;
        enum control_op op;
        uint32_t from;
        uint32_t to;
        const char *name;
        bool takes_payload;
    } cases[] = {
        {"{1,<0.5.0>,<0.6.0>}", CONTROL_LINK, 5, 6, "", false},
        {"{2,'',<0.6.0>}", CONTROL_SEND, 0, 6, "", true},
        {"{3,<0.5.0>,<0.6.0>,normal}", CONTROL_EXIT, 5, 6, "", false},
        {"{4,<0.5.0>,<0.6.0>}", CONTROL_UNLINK, 5, 6, "", false},
        {"{6,<0.5.0>,'',rex}", CONTROL_REG_SEND, 5, 0, "rex", true},
        {"{8,<0.5.0>,<0.6.0>,kill}", CONTROL_EXIT2, 5, 6, "", false},
        {"{12,'',<0.6.0>,[]}", CONTROL_SEND, 0, 6, "", true},
        {"{13,<0.5.0>,<0.6.0>,[],normal}", CONTROL_EXIT, 5, 6, "", false},
        {"{16,<0.5.0>,'',rex,[]}", CONTROL_REG_SEND, 5, 0, "rex", true},
        {"{22,<0.5.0>,<0.6.0>}", CONTROL_SEND_SENDER, 5, 6, "", true},
        {"{23,<0.5.0>,<0.6.0>,[]}", CONTROL_SEND_SENDER, 5, 6, "", true},
        {"{24,<0.5.0>,<0.6.0>}", CONTROL_PAYLOAD_EXIT, 5, 6, "", true},
        {"{26,<0.5.0>,<0.6.0>}", CONTROL_PAYLOAD_EXIT2, 5, 6, "", true},
        {"{35,77,<0.5.0>,<0.6.0>}", CONTROL_UNLINK_ID, 5, 6, "", false},
        {"{36,77,<0.5.0>,<0.6.0>}", CONTROL_UNLINK_ID_ACK, 5, 6, "", false},
        {"{7,whatever}", CONTROL_OTHER, 0, 0, "", false},
        {"{99}", CONTROL_OTHER, 0, 0, "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct control m;
        struct error err = {0};
        struct builder *b = NULL;
        print_message("# %s\n", cases[i].text);
        assert_int_equal(decode(&m, cases[i].text, &b, &err), 0);
        assert_int_equal(m.op, cases[i].op);
        assert_int_equal(m.from.id, cases[i].from);
        assert_int_equal(m.to.id, cases[i].to);
        assert_int_equal(m.name.len, strlen(cases[i].name));
        assert_memory_equal(m.name.s ? m.name.s : "", cases[i].name, m.name.len);
        assert_int_equal(m.takes_payload, cases[i].takes_payload);
        if (m.op == CONTROL_UNLINK_ID) {
            assert_int_equal(m.unlink_id, 77);
        }
        builder_free(b);
    }
}

TEST(test_decode_refuses)
{
    static const char *const cases[] = {
        "{}",
        "[]",
        "hello",
        "{hello}",
        "{2,'',x}",
        "{2,<0.5.0>}",
        "{1,<0.5.0>}",
        "{1,<0.5.0>,<0.6.0>,more}",
        "{6,x,'',rex}",
        "{6,<0.5.0>,'',7}",
        "{35,x,<0.5.0>,<0.6.0>}",
        "{19,<0.5.0>,x,noref}",
        "{35,-1,<0.5.0>,<0.6.0>}",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct control m;
        struct error err = {0};
        struct builder *b = NULL;
        print_message("# %s\n", cases[i]);
        assert_int_equal(decode(&m, cases[i], &b, &err), ERR_FORMAT);
        assert_true(err.text[0] != '\0');
        builder_free(b);
    }
}

static const struct etf_pid from_pid = {.id = 5, .serial = 2, .creation = 1234567};
static const struct etf_pid to_pid = {.id = 6, .serial = 0, .creation = 3};
static const struct control_end from = {.node = "beamtop@vm", .pid = &from_pid};
static const struct control_end to = {.node = "shop@vm", .pid = &to_pid};

/* Reads one frame back. */
static void read_back(struct buf *bytes, struct control *m, struct slice *payload)
{
    static struct frame_reader r; /* the slices live in it */
    struct frame f;
    struct error err = {0};
    frame_reader_clear(&r);
    frame_reader_init(&r, LIMIT_TEST_FRAME);
    frame_feed(&r, bytes->data, bytes->len);
    assert_int_equal(frame_next(&r, &f), FRAME_MESSAGE);
    assert_int_equal(f.bytes, bytes->len);
    assert_int_equal(control_decode(m, (const uint8_t *)f.control.s, f.control.len, &err), 0);
    *payload = f.payload;
    buf_clear(bytes);
}

static void expect_ends(const struct control *m)
{
    assert_memory_equal(&m->from, &from_pid, sizeof from_pid);
    assert_memory_equal(&m->to, &to_pid, sizeof to_pid);
    assert_int_equal(m->from_node.len, strlen(from.node));
    assert_memory_equal(m->from_node.s, from.node, m->from_node.len);
    assert_memory_equal(m->to_node.s, to.node, m->to_node.len);
}

TEST(test_round_trips)
{
    static const uint8_t payload[] = {131, 97, 1};
    static const uint8_t ref[] = {90, 0, 1, 119, 3, 'a', '@', 'b', 0, 0, 0, 9, 0, 0, 0, 8};
    struct buf b;
    struct control m;
    struct slice p;
    buf_init(&b, 0);

    control_put_send(&b, to, payload, sizeof payload);
    read_back(&b, &m, &p);
    assert_int_equal(m.op, CONTROL_SEND);
    assert_memory_equal(&m.to, &to_pid, sizeof to_pid);
    assert_int_equal(p.len, sizeof payload);
    assert_memory_equal(p.s, payload, sizeof payload);

    control_put_reg_send(&b, from, "rex", payload, sizeof payload);
    read_back(&b, &m, &p);
    assert_int_equal(m.op, CONTROL_REG_SEND);
    assert_memory_equal(m.name.s, "rex", 3);

    control_put_exit(&b, from, to, "noproc");
    read_back(&b, &m, &p);
    assert_int_equal(m.op, CONTROL_EXIT);
    expect_ends(&m);
    assert_int_equal(p.len, 0);

    control_put_unlink_id_ack(&b, UINT64_MAX, from, to);
    read_back(&b, &m, &p);
    assert_int_equal(m.op, CONTROL_UNLINK_ID_ACK);
    assert_true(m.unlink_id == UINT64_MAX);
    expect_ends(&m);

    control_put_monitor_exit(&b, from, to, (struct slice){(const char *)ref, sizeof ref}, "noproc");
    read_back(&b, &m, &p);
    assert_int_equal(m.op, CONTROL_MONITOR_EXIT);
    expect_ends(&m);
    assert_int_equal(m.ref.len, sizeof ref);
    assert_memory_equal(m.ref.s, ref, sizeof ref);

    control_put_monitor_exit(&b, (struct control_end){.term = {"w\nnet_kernel", 12}}, to,
                             (struct slice){(const char *)ref, sizeof ref}, "noproc");
    read_back(&b, &m, &p);
    assert_int_equal(m.name.len, 10);
    assert_memory_equal(m.name.s, "net_kernel", m.name.len);
    buf_clear(&b);
}

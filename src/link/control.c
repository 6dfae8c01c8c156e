/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control.h"

#include <string.h>

#include "beamtop/etf/build.h"
#include "beamtop/etf/cursor.h"

#define PASS_THROUGH 112

/*
 * The elements after the operation: f from (a pid), F from (a pid or a name), t to (a pid), T to (a
 * pid or a name), n to (a name), R reference, r reason, u unlink id, _ of no use to us. Operations
 * that also carry a trace token are the same to us as those without. */
struct shape {
    int64_t number;
    enum control_op op;
    const char *elements;
    bool takes_payload;
};

static const struct shape shapes[] = {
    {1, CONTROL_LINK, "ft", false},
    {2, CONTROL_SEND, "_t", true},
    {3, CONTROL_EXIT, "ftr", false},
    {4, CONTROL_UNLINK, "ft", false},
    {6, CONTROL_REG_SEND, "f_n", true},
    {8, CONTROL_EXIT2, "ftr", false},
    {12, CONTROL_SEND, "_t_", true},
    {13, CONTROL_EXIT, "ft_r", false},
    {16, CONTROL_REG_SEND, "f_n_", true},
    {18, CONTROL_EXIT2, "ft_r", false},
    {19, CONTROL_MONITOR, "fTR", false},
    {20, CONTROL_DEMONITOR, "fTR", false},
    {21, CONTROL_MONITOR_EXIT, "FtRr", false},
    {22, CONTROL_SEND_SENDER, "ft", true},
    {23, CONTROL_SEND_SENDER, "ft_", true},
    {24, CONTROL_PAYLOAD_EXIT, "ft", true},
    {25, CONTROL_PAYLOAD_EXIT, "ft_", true},
    {26, CONTROL_PAYLOAD_EXIT2, "ft", true},
    {27, CONTROL_PAYLOAD_EXIT2, "ft_", true},
    {28, CONTROL_PAYLOAD_MONITOR_EXIT, "FtR", true},
    {31, CONTROL_SPAWN_REPLY, "Rt_F", false},
    {32, CONTROL_SPAWN_REPLY, "Rt_F_", false},
    {35, CONTROL_UNLINK_ID, "uft", false},
    {36, CONTROL_UNLINK_ID_ACK, "uft", false},
};

static const struct shape *find_shape(int64_t number)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (shapes[i].number == number)
            return &shapes[i];
    return NULL;
}

static bool read_process(struct cursor *c, struct etf_pid *pid, struct slice *node,
                         struct slice *name)
{
    if (cursor_kind(c) == ETF_KIND_ATOM)
        return cursor_atom(c, name);
    return cursor_pid(c, pid, node);
}

/* The bytes that were read since `from`. */
static bool keep_term(const struct cursor *c, const uint8_t *from, struct slice *out)
{
    *out = (struct slice){(const char *)from, (size_t)(c->at - from)};
    return true;
}

static bool read_element(struct cursor *c, char kind, struct control *out)
{
    const uint8_t *from = c->at;
    switch (kind) {
    case 'f':
        return cursor_pid(c, &out->from, &out->from_node) && keep_term(c, from, &out->from_term);
    case 'F':
        return read_process(c, &out->from, &out->from_node, &out->name) &&
               keep_term(c, from, &out->from_term);
    case 't':
        return cursor_pid(c, &out->to, &out->to_node) && keep_term(c, from, &out->to_term);
    case 'T':
        return read_process(c, &out->to, &out->to_node, &out->name) &&
               keep_term(c, from, &out->to_term);
    case 'n':
        return cursor_atom(c, &out->name);
    case 'R':
        return cursor_kind(c) == ETF_KIND_REF && cursor_raw(c, &out->ref);
    case 'r':
        return cursor_raw(c, &out->reason);
    case 'u':
        return cursor_uint64(c, &out->unlink_id);
    default:
        return cursor_skip(c);
    }
}

int control_decode(struct control *out, const uint8_t *bytes, size_t len, struct error *err)
{
    struct cursor c;
    size_t arity = 0;

    *out = (struct control){0};
    cursor_init(&c, bytes, len);
    if (!cursor_tuple(&c, &arity) || arity == 0 || !cursor_int64(&c, &out->number))
        return error_set(err, ERR_FORMAT,
                         "a control message is not a tuple with a number in front");
    const struct shape *shape = find_shape(out->number);
    if (!shape)
        return 0;
    if (arity != 1 + strlen(shape->elements)) {
        return error_set(err, ERR_FORMAT, "control message %d has %zu elements in place of %zu",
                         (int)out->number, arity, 1 + strlen(shape->elements));
    }
    out->op = shape->op;
    out->takes_payload = shape->takes_payload;
    for (const char *kind = shape->elements; *kind != '\0'; kind++) {
        if (!read_element(&c, *kind, out)) {
            return error_set(err, ERR_FORMAT, "element %d of control message %d is of another type",
                             (int)(kind - shape->elements) + 2, (int)out->number);
        }
    }
    return 0;
}

void control_put_tick(struct buf *out)
{
    buf_put_u32be(out, 0);
}

/* Appends the frame and gives the builder back. */
static void put_control(struct buf *out, struct builder *control, const uint8_t *payload,
                        size_t len)
{
    size_t control_len = 0;
    const uint8_t *bytes = builder_bytes(control, &control_len);
    buf_put_u32be(out, (uint32_t)(1 + control_len + len));
    buf_put_u8(out, PASS_THROUGH);
    buf_put(out, bytes, control_len);
    if (len > 0)
        buf_put(out, payload, len);
    builder_free(control);
}

static struct builder *start_control(size_t arity, enum control_op op)
{
    struct builder *b = builder_new();
    build_tuple(b, arity);
    build_int(b, op);
    return b;
}

static void build_end(struct builder *b, struct control_end end)
{
    if (end.term.len > 0)
        build_raw(b, (const uint8_t *)end.term.s, end.term.len);
    else
        build_pid(b, end.node, end.pid);
}

void control_put_send(struct buf *out, struct control_end to, const uint8_t *payload, size_t len)
{
    struct builder *b = start_control(3, CONTROL_SEND);
    build_atom(b, "");
    build_end(b, to);
    put_control(out, b, payload, len);
}

void control_put_reg_send(struct buf *out, struct control_end from, const char *to_name,
                          const uint8_t *payload, size_t len)
{
    struct builder *b = start_control(4, CONTROL_REG_SEND);
    build_end(b, from);
    build_atom(b, "");
    build_atom(b, to_name);
    put_control(out, b, payload, len);
}

/* Unlink ids use all 64 bits; build_int has 63 of them. */
static void build_u64(struct builder *b, uint64_t v)
{
    uint8_t big[11] = {ETF_SMALL_BIG, 8, 0};
    if (v <= INT64_MAX) {
        build_int(b, (int64_t)v);
        return;
    }
    for (size_t i = 0; i < 8; i++)
        big[3 + i] = (uint8_t)(v >> (8 * i));
    build_raw(b, big, sizeof big);
}

void control_put_unlink_id_ack(struct buf *out, uint64_t id, struct control_end from,
                               struct control_end to)
{
    struct builder *b = start_control(4, CONTROL_UNLINK_ID_ACK);
    build_u64(b, id);
    build_end(b, from);
    build_end(b, to);
    put_control(out, b, NULL, 0);
}

void control_put_exit(struct buf *out, struct control_end from, struct control_end to,
                      const char *reason)
{
    struct builder *b = start_control(4, CONTROL_EXIT);
    build_end(b, from);
    build_end(b, to);
    build_atom(b, reason);
    put_control(out, b, NULL, 0);
}

void control_put_monitor_exit(struct buf *out, struct control_end from, struct control_end to,
                              struct slice ref, const char *reason)
{
    struct builder *b = start_control(5, CONTROL_MONITOR_EXIT);
    build_end(b, from);
    build_end(b, to);
    build_raw(b, (const uint8_t *)ref.s, ref.len);
    build_atom(b, reason);
    put_control(out, b, NULL, 0);
}

void control_put_kill(struct buf *out, struct control_end from, struct control_end to)
{
    struct builder *b = start_control(4, CONTROL_EXIT2);
    build_end(b, from);
    build_end(b, to);
    build_atom(b, "kill");
    put_control(out, b, NULL, 0);
}

/* ---- spawning */

/* Of the first word of a reference older releases take 18 bits. */
#define REF_FIRST_BITS 18
#define REF_WORDS 3

static struct etf_ref spawn_ref(uint64_t id, uint32_t creation)
{
    return (struct etf_ref){
        .creation = creation,
        .words = {(uint32_t)(id & ((1u << REF_FIRST_BITS) - 1)), (uint32_t)(id >> REF_FIRST_BITS)},
        .n = REF_WORDS};
}

uint64_t control_spawn_id(const struct etf_ref *ref)
{
    return (uint64_t)ref->words[1] << REF_FIRST_BITS | ref->words[0];
}

static void build_pair(struct builder *b, const char *key, const char *value)
{
    build_tuple(b, 2);
    build_atom(b, key);
    build_atom(b, value);
}

/* As spawn_opt/5 takes them. `reply` is not among them: the VM of who asks handles that one. */
static void build_spawn_options(struct builder *b, const struct conn_spawn *s)
{
    build_list(b, 4);
    build_atom(b, "link");
    build_pair(b, "priority", s->priority);
    build_pair(b, "message_queue_data", "off_heap");
    build_tuple(b, 2);
    build_atom(b, "max_heap_size");
    build_map(b, 3);
    build_atom(b, "size");
    build_int(b, (int64_t)s->max_heap_words);
    build_atom(b, "kill");
    build_bool(b, true);
    build_atom(b, "error_logger");
    build_bool(b, false);
    build_nil(b);
}

void control_put_spawn(struct buf *out, struct control_end from, const struct conn_spawn *s)
{
    const struct etf_ref ref = spawn_ref(s->id, from.pid->creation);
    struct builder *b = start_control(6, CONTROL_SPAWN_REQUEST);
    build_ref(b, from.node, &ref);
    build_end(b, from);
    build_end(b, from);
    build_tuple(b, 3);
    build_atom(b, s->module);
    build_atom(b, s->function);
    build_int(b, s->arity);
    build_spawn_options(b, s);
    put_control(out, b, s->args, s->len);
}

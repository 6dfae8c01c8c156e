/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conn_internal.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/etf/cursor.h"

static bool is_self(const struct conn *c, const struct etf_pid *pid)
{
    return pid->id == c->self.id && pid->serial == c->self.serial &&
           pid->creation == c->self.creation;
}

static void take_message(struct conn *c, const struct control *m, struct slice payload)
{
    if (m->name.len == 0 && !is_self(c, &m->to)) {
        c->stats.ignored++;
        return;
    }
    if (c->handlers.on_message) {
        struct conn_message message = {
            .to = m->to,
            .to_name = m->name,
            .term = (const uint8_t *)payload.s,
            .len = payload.len,
        };
        c->handlers.on_message(c, c->receiver, &message);
    }
}

static void take_exit(struct conn *c, const struct control *m, struct slice reason)
{
    if (is_self(c, &m->to) && c->handlers.on_link_exit)
        c->handlers.on_link_exit(c, c->receiver, &m->from, reason);
}

static void take_spawned(struct conn *c, const struct control *m)
{
    struct cursor ref;
    struct etf_ref id;
    cursor_init(&ref, (const uint8_t *)m->ref.s, m->ref.len);
    if (!is_self(c, &m->to) || !c->handlers.on_spawned || !cursor_ref(&ref, &id)) {
        c->stats.ignored++;
        return;
    }
    c->handlers.on_spawned(c, c->receiver, control_spawn_id(&id), m->name.len > 0 ? NULL : &m->from,
                           m->name);
}

static void ack_unlink(struct conn *c, const struct control *m)
{
    struct buf frame;
    buf_init(&frame, 0);
    control_put_unlink_id_ack(&frame, m->unlink_id, (struct control_end){.term = m->to_term},
                              (struct control_end){.term = m->from_term});
    conn_send_quietly(c, &frame);
}

/* Answers "noproc" to a link or a monitor on a process that we do not have. Both ends as sent. */
static void answer_no_process(struct conn *c, const struct control *m)
{
    struct buf frame;
    const struct control_end us = {.term = m->to_term}, them = {.term = m->from_term};
    if (m->name.len == 0 && is_self(c, &m->to))
        return;
    buf_init(&frame, 0);
    if (m->op == CONTROL_LINK)
        control_put_exit(&frame, us, them, "noproc");
    else
        control_put_monitor_exit(&frame, us, them, m->ref, "noproc");
    conn_send_quietly(c, &frame);
}

static void dispatch_control(struct conn *c, const struct control *m, struct slice payload)
{
    switch (m->op) {
    case CONTROL_SEND:
    case CONTROL_SEND_SENDER:
    case CONTROL_REG_SEND:
        take_message(c, m, payload);
        break;
    case CONTROL_EXIT:
        take_exit(c, m, m->reason);
        break;
    case CONTROL_PAYLOAD_EXIT:
        take_exit(c, m, payload);
        break;
    case CONTROL_SPAWN_REPLY:
        take_spawned(c, m);
        break;
    case CONTROL_UNLINK_ID:
        ack_unlink(c, m);
        break;
    case CONTROL_LINK:
    case CONTROL_MONITOR:
        answer_no_process(c, m);
        break;
    case CONTROL_UNLINK:
    case CONTROL_UNLINK_ID_ACK:
    case CONTROL_DEMONITOR:
    case CONTROL_EXIT2:
    case CONTROL_PAYLOAD_EXIT2:
    case CONTROL_MONITOR_EXIT:
    case CONTROL_PAYLOAD_MONITOR_EXIT:
    case CONTROL_SPAWN_REQUEST:
    case CONTROL_OTHER:
        c->stats.ignored++;
        break;
    }
}

static void take_event(struct conn *c, const struct frame *f)
{
    struct control m;
    struct error err = {0};
    int rc = control_decode(&m, (const uint8_t *)f->control.s, f->control.len, &err);
    if (rc == 0 && m.takes_payload && f->payload.len == 0) {
        rc = error_set(&err, ERR_FORMAT, "control message %d came without its message",
                       (int)m.number);
    }
    if (rc != 0)
        conn_lost_garbage(c, &err);
    else
        dispatch_control(c, &m, f->payload);
}

static void take_skipped(struct conn *c, uint64_t bytes)
{
    c->stats.skipped++;
    if (c->handlers.on_skipped)
        c->handlers.on_skipped(c, c->arg, bytes);
}

static void take_all(struct conn *c)
{
    struct frame f;
    while (c->state == STATE_UP) {
        switch (frame_next(&c->reader, &f)) {
        case FRAME_MORE:
            return;
        case FRAME_TICK:
            c->stats.ticks_in++;
            conn_send_tick(c);
            break;
        case FRAME_MESSAGE:
            take_event(c, &f);
            break;
        case FRAME_SKIPPED:
            take_skipped(c, f.bytes);
            break;
        case FRAME_BROKEN:
            conn_lost_garbage(c, &c->reader.err);
            return;
        }
    }
}

static void lose_tls(struct conn *c)
{
    struct error err = {0};
    enum tls_fault ignored;
    const char *text = tls_explain(c->tls, &ignored);
    if (tls_alert(c->tls) != 0) {
        conn_lost_alert(c, text);
        return;
    }
    error_set(&err, ERR_FORMAT, "the node %s", text);
    conn_lost_garbage(c, &err);
}

/* False: there is no more now. */
static bool take_tls(struct conn *c, uint8_t *plain)
{
    size_t n = 0;
    switch (tls_read(c->tls, plain, READ_BYTES, &n)) {
    case TLS_DONE:
        frame_feed(&c->reader, plain, n);
        take_all(c);
        return true;
    case TLS_MORE: /* a new key, say */
        if (conn_flush_tls(c) != 0)
            conn_lost(c, UV_EPIPE);
        break;
    case TLS_ENDED:
        conn_lost(c, UV_EOF);
        break;
    case TLS_BROKEN:
        lose_tls(c);
        break;
    }
    return false;
}

void conn_take_tls(struct conn *c)
{
    uint8_t *plain = alloc_resize(NULL, READ_BYTES, 1);
    while (c->state == STATE_UP && take_tls(c, plain)) {
    }
    free(plain);
}

void conn_on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *out)
{
    (void)h;
    (void)suggested;
    *out = uv_buf_init(alloc_resize(NULL, READ_BYTES, 1), READ_BYTES);
}

void conn_on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *bytes)
{
    struct conn *c = s->data;
    if (n > 0 && c->tls)
        tls_feed(c->tls, (const uint8_t *)bytes->base, (size_t)n);
    else if (n > 0)
        frame_feed(&c->reader, (const uint8_t *)bytes->base, (size_t)n);
    free(bytes->base);
    if (n < 0) {
        conn_lost(c, (int)n);
    } else if (n > 0) {
        c->stats.bytes_in += (uint64_t)n;
        c->stats.last_in_mono_ns = clock_mono_ns();
        if (c->tls)
            conn_take_tls(c);
        else
            take_all(c);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the node says of one port or socket. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "ports_internal.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define NAME_BYTES 200

void ports_take_each(struct ports_read *r, struct slice list,
                     void (*take)(struct ports_read *r, struct port *p, struct slice value))
{
    struct cursor c;
    struct slice value;
    size_t n;
    if (!values_enter_list(list, &c, &n) || n != r->n_out)
        return;
    for (size_t i = 0; i < n && cursor_raw(&c, &value); i++)
        if (r->out[i])
            take(r, r->out[i], value);
}

static void keep_text(char **to, const void *text, size_t len)
{
    free(*to);
    *to = alloc_strndup(text, len < NAME_BYTES ? len : NAME_BYTES);
}

static bool read_count(struct slice value, int64_t *out)
{
    int64_t n;
    const bool ok = values_read_integer(value, &n) && n >= 0 && n <= VALUES_MOST;
    if (ok)
        *out = n;
    return ok;
}

/* ---- ports */

static bool is_descriptor(struct slice name)
{
    size_t digits = 0, slashes = 0;
    for (size_t i = 0; i < name.len; i++) {
        digits += name.s[i] >= '0' && name.s[i] <= '9';
        slashes += name.s[i] == '/';
    }
    return digits > 0 && slashes == 1 && digits + slashes == name.len;
}

static enum port_kind kind_of_name(struct slice name)
{
    return slice_is(name, "tcp_inet")    ? PORT_TCP
           : slice_is(name, "udp_inet")  ? PORT_UDP
           : slice_is(name, "sctp_inet") ? PORT_SCTP
           : is_descriptor(name)         ? PORT_DESCRIPTOR
                                         : PORT_DRIVER;
}

/* {name, Name}; `undefined`: it is closed. */
void ports_take_name(struct ports_read *r, struct port *p, struct slice value)
{
    struct buf text;
    (void)r;
    buf_init(&text, 0);
    p->is_gone = who_term_is(value, "undefined");
    p->kind = PORT_DRIVER;
    if (values_put_chars(&text, values_of_pair(value, "name"))) {
        p->kind = kind_of_name((struct slice){(const char *)text.data, text.len});
        keep_text(&p->name, buf_cstr(&text), text.len);
    }
    buf_clear(&text);
}

void ports_take_owner(struct ports_read *r, struct port *p, struct slice value)
{
    struct cursor c = values_cursor(values_of_pair(value, "connected"));
    (void)r;
    p->is_gone = p->is_gone || who_term_is(value, "undefined");
    p->has_owner = cursor_kind(&c) == ETF_KIND_PID && cursor_pid(&c, &p->owner, NULL);
}

/* A program may be called as a driver is. */
void ports_take_os_pid(struct ports_read *r, struct port *p, struct slice value)
{
    (void)r;
    if (read_count(values_of_pair(value, "os_pid"), &p->os_pid))
        p->kind = PORT_PROGRAM;
}

void ports_begin_look(struct ports_read *r, struct port *p)
{
    const struct port_numbers *n = &p->numbers;
    p->bytes_before = p->look > 0 && n->received_bytes >= 0 && n->sent_bytes >= 0
                          ? n->received_bytes + n->sent_bytes
                          : -1;
    p->before_ms = p->looked_ms;
    p->looked_ms = r->now_ms;
    p->look = r->look;
    p->numbers = (struct port_numbers){-1, -1, -1, -1, -1};
    p->numbers.queue_bytes = p->queue_bytes;
    p->is_busy = p->is_socket && p->is_busy;
    if (!p->is_socket && !ports_is_inet(p))
        p->numbers.sent_bytes = p->output;
}

void ports_take_queue(struct ports_read *r, struct port *p, struct slice value)
{
    (void)r;
    p->queue_bytes = -1;
    p->is_gone = !read_count(values_of_pair(value, "queue_size"), &p->queue_bytes);
}

void ports_take_output(struct ports_read *r, struct port *p, struct slice value)
{
    p->output_before = p->output;
    p->swept_before_ms = p->swept_ms;
    p->swept_ms = r->now_ms;
    p->output = -1;
    read_count(values_of_pair(value, "output"), &p->output);
}

void ports_take_input(struct ports_read *r, struct port *p, struct slice value)
{
    (void)r;
    read_count(values_of_pair(value, "input"), &p->numbers.received_bytes);
}

/* {ok, [{recv_oct, N}, …]} of prim_inet:getstat/2; {error, _}: it is closed, or not open yet. */
void ports_take_counts(struct ports_read *r, struct port *p, struct slice value)
{
    const struct slice list = values_of_pair(value, "ok");
    (void)r;
    p->numbers.received_bytes = values_find_integer(list, "recv_oct");
    p->numbers.sent_bytes = values_find_integer(list, "send_oct");
    p->numbers.received_packets = values_find_integer(list, "recv_cnt");
    p->numbers.sent_packets = values_find_integer(list, "send_cnt");
}

/* ---- sockets */

static enum port_kind kind_of_socket(struct slice type, struct slice protocol)
{
    const bool stream = who_term_is(type, "stream");
    return who_term_is(protocol, "tcp")    ? PORT_TCP
           : who_term_is(protocol, "udp")  ? PORT_UDP
           : who_term_is(protocol, "sctp") ? PORT_SCTP
           : stream                        ? PORT_TCP
           : who_term_is(type, "dgram")    ? PORT_UDP
                                           : PORT_RAW;
}

/* {Owner, Domain, Type, Protocol, Writers, Acceptors, ReadBytes, WrittenBytes, Reads, Writes} */
void ports_take_socket(struct ports_read *r, struct port *p, struct slice value)
{
    struct slice v[10];
    int64_t acceptors = 0;
    p->is_gone = !values_read_tuple(value, ARRAY_LEN(v), v, ARRAY_LEN(v));
    if (p->is_gone)
        return;
    struct cursor owner = values_cursor(v[0]);
    p->has_owner = cursor_kind(&owner) == ETF_KIND_PID && cursor_pid(&owner, &p->owner, NULL);
    p->is_gone = !p->has_owner; /* a closed one has none */
    p->is_local = who_term_is(v[1], "local");
    p->kind = kind_of_socket(v[2], v[3]);
    read_count(v[4], &p->writers);
    p->is_busy = p->writers > 0;
    read_count(v[5], &acceptors);
    p->state = acceptors > 0 ? "listening" : NULL;
    read_count(v[6], &p->numbers.received_bytes);
    read_count(v[7], &p->numbers.sent_bytes);
    read_count(v[8], &p->numbers.received_packets);
    read_count(v[9], &p->numbers.sent_packets);
    (void)r;
}

/* ---- states */

/* Of struct tcp_info of Linux. */
static const char *const tcp_states[] = {
    NULL,        "established", "syn_sent",   "syn_recv", "fin_wait1", "fin_wait2",
    "time_wait", "closed",      "close_wait", "last_ack", "listening", "closing",
};
#define TCP_LAST_SENT 44 /* ms since data was sent, and received */
#define TCP_LAST_RECEIVED 52

static int64_t read_native(const char *at)
{
    uint32_t n;
    memcpy(&n, at, sizeof n);
    return n;
}

/* {ok, [{raw, 6, 11, Bytes}]} of prim_inet:getopts/2, or {ok, Bytes} of socket:getopt_native/3. */
void ports_take_tcp(struct ports_read *r, struct port *p, struct slice value)
{
    struct slice info, options[1], raw[4];
    struct slice term = values_of_pair(value, "ok");
    (void)r;
    p->kernel = NULL;
    p->idle_ms = -1;
    if (values_read_list(term, options, 1) && values_read_tuple(options[0], 4, raw, 4))
        term = raw[3];
    struct cursor c = values_cursor(term);
    if (cursor_kind(&c) != ETF_KIND_BINARY || !cursor_binary(&c, &info) ||
        info.len < TCP_LAST_RECEIVED + 4)
        return;
    const uint8_t state = (uint8_t)info.s[0];
    p->kernel = state < ARRAY_LEN(tcp_states) ? tcp_states[state] : NULL;
    const int64_t sent = read_native(info.s + TCP_LAST_SENT);
    const int64_t received = read_native(info.s + TCP_LAST_RECEIVED);
    if (p->kernel && state != 10)
        p->idle_ms = sent < received ? sent : received;
}

/* {ok, [Flag]} of prim_inet:getstatus/1. */
void ports_take_flags(struct ports_read *r, struct port *p, struct slice value)
{
    static const struct {
        const char *flag, *state;
    } states[] = {{"listen", "listening"},    {"accepting", "listening"},
                  {"connecting", "syn_sent"}, {"connected", "established"},
                  {"bound", "bound"},         {"open", "open"}};
    struct cursor c;
    struct slice flag;
    size_t n, best = ARRAY_LEN(states);
    (void)r;
    p->is_busy = false;
    if (!values_enter_list(values_of_pair(value, "ok"), &c, &n))
        return;
    for (size_t i = 0; i < n && cursor_raw(&c, &flag); i++) {
        p->is_busy = p->is_busy || who_term_is(flag, "busy");
        for (size_t k = 0; k < best; k++)
            if (who_term_is(flag, states[k].flag))
                best = k;
    }
    p->state = best < ARRAY_LEN(states) ? states[best].state : NULL;
}

/* ---- addresses */

/* {A,B,C,D}, {A,…,H}, or `any`. */
static bool put_host(struct buf *out, struct slice term)
{
    struct cursor c = values_cursor(term);
    size_t arity;
    int64_t part;
    unsigned char bytes[16];
    char text[INET6_ADDRSTRLEN];
    if (cursor_kind(&c) != ETF_KIND_TUPLE || !cursor_tuple(&c, &arity) ||
        (arity != 4 && arity != 8))
        return false;
    for (size_t i = 0; i < arity; i++) {
        if (!cursor_int64(&c, &part) || part < 0 || part > (arity == 4 ? 255 : 65535))
            return false;
        if (arity == 4) {
            bytes[i] = (unsigned char)part;
        } else {
            bytes[2 * i] = (unsigned char)(part >> 8);
            bytes[2 * i + 1] = (unsigned char)part;
        }
    }
    if (!inet_ntop(arity == 4 ? AF_INET : AF_INET6, bytes, text, sizeof text))
        return false;
    buf_printf(out, arity == 4 ? "%s" : "[%s]", text);
    return true;
}

static bool put_address(struct buf *out, struct slice host, struct slice port)
{
    int64_t n;
    if (!put_host(out, host) || !values_read_integer(port, &n) || n < 0 || n > 65535)
        return false;
    buf_printf(out, ":%d", (int)n);
    return true;
}

static bool put_path(struct buf *out, struct slice path)
{
    struct cursor c = values_cursor(path);
    struct slice bytes;
    if (cursor_kind(&c) != ETF_KIND_BINARY || !cursor_binary(&c, &bytes))
        return false;
    buf_put(out, bytes.s, bytes.len);
    return true;
}

/* {ok, {Address, Port}}, {ok, {local, Path}}, or {ok, #{addr => …, port => …}} of `socket`. */
static void take_address(struct port *p, char **to, struct slice value)
{
    struct slice pair[2], term = values_of_pair(value, "ok");
    const struct slice path = values_of_pair(term, "local");
    struct cursor c = values_cursor(term);
    struct buf text;
    bool ok;
    buf_init(&text, 0);
    if (path.len > 0) {
        p->is_local = true;
        ok = put_path(&text, path);
    } else if (cursor_kind(&c) == ETF_KIND_MAP) {
        const struct slice local = values_find_in_map(term, "path");
        ok = local.len > 0 ? put_path(&text, local)
                           : put_address(&text, values_find_in_map(term, "addr"),
                                         values_find_in_map(term, "port"));
    } else {
        ok = values_read_tuple(term, 2, pair, 2) && put_address(&text, pair[0], pair[1]);
    }
    if (ok)
        keep_text(to, buf_cstr(&text), text.len);
    buf_clear(&text);
}

void ports_take_local(struct ports_read *r, struct port *p, struct slice value)
{
    p->has_names = true;
    (void)r;
    take_address(p, &p->local, value);
}

void ports_take_remote(struct ports_read *r, struct port *p, struct slice value)
{
    p->has_names = true;
    (void)r;
    take_address(p, &p->remote, value);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ports_table.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "query/native/values.h"

void port_table_init(struct port_table *t)
{
    *t = (struct port_table){0};
    buf_init(&t->list, 0);
}

static void clear_port(struct port *p)
{
    free(p->name);
    free(p->local);
    free(p->remote);
}

void port_table_clear(struct port_table *t)
{
    for (size_t i = 0; i < t->n_ports; i++)
        clear_port(&t->ports[i]);
    for (size_t i = 0; i < t->n_sockets; i++)
        clear_port(&t->sockets[i]);
    free(t->ports);
    free(t->sockets);
    buf_clear(&t->list);
    port_table_init(t);
}

/* ---- identity */

static int order_ports(const void *a, const void *b)
{
    const struct port *x = a, *y = b;
    if (x->is_socket != y->is_socket)
        return x->is_socket ? 1 : -1;
    for (size_t i = 0; i < PORT_KEY; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] > y->key[i] ? 1 : -1;
    return 0;
}

static uint32_t read_big_endian(const char *at)
{
    const unsigned char *u = (const unsigned char *)at;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* The number stands before the creation, which is the last. */
static bool read_port(struct slice term, struct port *out)
{
    const size_t creation = (uint8_t)term.s[0] == ETF_PORT ? 1 : 4;
    const size_t number = (uint8_t)term.s[0] == ETF_V4_PORT ? 8 : 4;
    if (term.len < 1 + number + creation)
        return false;
    const char *end = term.s + term.len - creation;
    out->key[0] = number == 8 ? read_big_endian(end - 8) : 0;
    out->key[1] = read_big_endian(end - 4);
    return true;
}

/* ['$socket', Ref]; the last word is the highest of its number. */
static bool read_socket(struct slice term, struct port *out)
{
    struct slice parts[2];
    if (!values_read_list(term, parts, 2))
        return false;
    struct cursor c = values_cursor(parts[1]);
    if (cursor_kind(&c) != ETF_KIND_REF || !cursor_ref(&c, &out->ref))
        return false;
    for (uint32_t i = 0; i < out->ref.n; i++)
        out->key[PORT_KEY - 1 - i] = out->ref.words[i];
    return true;
}
_Static_assert(PORT_KEY == sizeof((struct etf_ref *)NULL)->words / sizeof(uint32_t), "all of it");

static bool read_term(struct slice term, bool socket, struct port *out)
{
    const struct cursor c = values_cursor(term);
    *out = (struct port){.is_socket = socket,
                         .os_pid = -1,
                         .idle_ms = -1,
                         .writers = -1,
                         .bytes_before = -1,
                         .queue_bytes = -1,
                         .output = -1,
                         .output_before = -1,
                         .numbers = {-1, -1, -1, -1, -1}};
    if (socket)
        return read_socket(term, out);
    out->term = term;
    return cursor_kind(&c) == ETF_KIND_PORT && read_port(term, out);
}

static struct port *find_in(struct port *all, size_t n, const struct port *key)
{
    return n == 0 ? NULL : bsearch(key, all, n, sizeof *all, order_ports);
}

struct port *port_table_find(const struct port_table *t, struct slice term)
{
    struct port key;
    return term.len > 0 && read_term(term, false, &key) ? find_in(t->ports, t->n_ports, &key)
                                                        : NULL;
}

/* ---- lists */

static size_t order_once(struct port *all, size_t n)
{
    size_t kept = 0;
    qsort(all, n, sizeof *all, order_ports);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || order_ports(&all[kept - 1], &all[i]) != 0)
            all[kept++] = all[i];
    return kept;
}

/* What was known of those that are listed again stays. */
static void take_known(struct port_table *t, struct port *all, size_t n)
{
    for (size_t i = 0; i < t->n_ports; i++) {
        struct port *old = &t->ports[i], *now = find_in(all, n, old);
        if (!now) {
            clear_port(old);
            continue;
        }
        const struct slice term = now->term;
        *now = *old;
        now->term = term;
        now->is_gone = false;
    }
}

bool port_table_list(struct port_table *t, struct slice list, size_t most)
{
    struct buf kept;
    struct cursor c;
    struct slice term;
    size_t n = 0, count;
    if (!values_enter_list(list, &c, &count))
        return false;
    buf_init(&kept, 0);
    buf_put(&kept, list.s, list.len);
    values_enter_list((struct slice){(const char *)kept.data, kept.len}, &c, &count);
    struct port *all = alloc_zero((count < most ? count : most) + 1, sizeof *all);
    for (size_t i = 0; i < count && n < most && cursor_raw(&c, &term); i++)
        n += read_term(term, false, &all[n]);
    n = order_once(all, n);
    take_known(t, all, n);
    free(t->ports);
    buf_clear(&t->list);
    t->list = kept;
    t->ports = all;
    t->n_ports = n;
    return true;
}

void port_table_add_sockets(struct port_table *t, const struct slice *terms, size_t n,
                            struct port **out)
{
    const size_t known = t->n_sockets;
    struct port key;
    t->sockets = alloc_resize(t->sockets, known + n + 1, sizeof *t->sockets);
    for (size_t i = 0; i < n; i++)
        if (read_term(terms[i], true, &key) && !find_in(t->sockets, known, &key))
            t->sockets[t->n_sockets++] = key;
    if (t->n_sockets > known)
        t->n_sockets = order_once(t->sockets, t->n_sockets);
    for (size_t i = 0; i < n; i++)
        out[i] = read_term(terms[i], true, &key) ? find_in(t->sockets, t->n_sockets, &key) : NULL;
}

void port_table_drop_sockets(struct port_table *t, unsigned since)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n_sockets; i++)
        if (t->sockets[i].look >= since)
            t->sockets[kept++] = t->sockets[i];
        else
            clear_port(&t->sockets[i]);
    t->n_sockets = kept;
}

/* ---- ranks */

static double rate_between(int64_t from, int64_t to, uint64_t from_ms, uint64_t to_ms)
{
    return from < 0 || to < from || to_ms <= from_ms
               ? -1
               : (double)(to - from) * 1000 / (double)(to_ms - from_ms);
}

double port_rate(const struct port *p)
{
    const struct port_numbers *n = &p->numbers;
    const int64_t bytes =
        n->received_bytes < 0 || n->sent_bytes < 0 ? -1 : n->received_bytes + n->sent_bytes;
    const double both = rate_between(p->bytes_before, bytes, p->before_ms, p->looked_ms);
    const double out = rate_between(p->output_before, p->output, p->swept_before_ms, p->swept_ms);
    return both > out ? both : out;
}

static bool is_left(const struct port *p)
{
    return p->kernel && strcmp(p->kernel, "close_wait") == 0;
}

static int order_ranks(const void *a, const void *b)
{
    const struct port *x = *(struct port *const *)a, *y = *(struct port *const *)b;
    const int64_t p = x->queue_bytes, q = y->queue_bytes;
    const double r = port_rate(x), s = port_rate(y);
    const bool waits = x->is_socket && x->is_busy, waits_too = y->is_socket && y->is_busy;
    if (waits != waits_too)
        return waits ? -1 : 1;
    if (p != q && (p > 0 || q > 0))
        return p > q ? -1 : 1;
    if (r != s && (r > 0 || s > 0))
        return r > s ? -1 : 1;
    if (is_left(x) != is_left(y))
        return is_left(x) ? -1 : 1;
    return order_ports(x, y);
}

static size_t add_known(struct port **to, size_t n, struct port *all, size_t n_all, unsigned look)
{
    for (size_t i = 0; i < n_all; i++)
        if (!all[i].is_gone && (look == 0 || all[i].look == look))
            to[n++] = &all[i];
    return n;
}

size_t port_table_rank(const struct port_table *t, unsigned look, struct port **out, size_t most)
{
    struct port **ranked = alloc_zero(t->n_ports + t->n_sockets + 1, sizeof(struct port *));
    size_t n = add_known(ranked, 0, t->ports, t->n_ports, look);
    n = add_known(ranked, n, t->sockets, t->n_sockets, look);
    qsort(ranked, n, sizeof(struct port *), order_ranks);
    n = n < most ? n : most;
    memcpy(out, ranked, n * sizeof(struct port *));
    free(ranked);
    return n;
}

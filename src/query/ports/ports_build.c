/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/print.h"
#include "ports_internal.h"
#include "query/native/values.h"
#include "query/who/who.h"
#include "query/who/who_terms.h"

/* The node at the other end; empty: it connects no nodes. */
static struct slice find_peer(const struct ports_read *r, const struct port *p)
{
    return p->link > 0 ? who_atom_of(r->nodes[p->link - 1]) : (struct slice){0};
}

static void build_id(struct builder *b, const struct port *p)
{
    struct buf text;
    buf_init(&text, 0);
    if (p->is_socket) {
        buf_puts(&text, "#Socket<0");
        for (uint32_t i = p->ref.n; i > 0; i--)
            buf_printf(&text, ".%" PRIu32, p->ref.words[i - 1]);
        buf_puts(&text, ">");
    } else {
        print_term(&text, (const uint8_t *)p->term.s, p->term.len, &(struct print_limits){0});
    }
    build_binary(b, text.data, text.len);
    buf_clear(&text);
}

static const char *word_of_kind(const struct port *p)
{
    static const char *const words[] = {
        [PORT_UNREAD] = NULL,       [PORT_TCP] = "tcp",       [PORT_UDP] = "udp",
        [PORT_SCTP] = "sctp",       [PORT_DRIVER] = "driver", [PORT_DESCRIPTOR] = "fd",
        [PORT_PROGRAM] = "program", [PORT_RAW] = "raw",
    };
    return p->is_local ? "local" : words[p->kind];
}

static void build_name(struct builder *b, const struct port *p, struct slice peer)
{
    const bool is_inet = p->kind == PORT_TCP || p->kind == PORT_UDP || p->kind == PORT_SCTP;
    if (peer.len > 0)
        build_binary(b, peer.s, peer.len);
    else
        values_build_words(b, is_inet ? NULL : p->name);
}

static const struct who_entry *find_entry(const struct stepped_who *who, bool known,
                                          const struct etf_pid *pid)
{
    return known ? who->find(who->arg, pid) : NULL;
}

/* The end of an address; a path has none. */
static void build_remote_host(struct builder *b, const struct port *p)
{
    const char *colon = p->remote && !p->is_local ? strrchr(p->remote, ':') : NULL;
    if (colon)
        build_binary(b, p->remote, (size_t)(colon - p->remote));
    else
        build_atom(b, "undefined");
}

static void build_local_port(struct builder *b, const struct port *p)
{
    const char *colon = p->local && !p->is_local ? strrchr(p->local, ':') : NULL;
    values_build_words(b, colon ? colon + 1 : NULL);
}

static bool is_left(const char *state)
{
    return state && strcmp(state, "close_wait") == 0;
}

/* ---- rows, in the order of ports_fields */

#define PORTS_COLUMNS 25

static void build_numbers(struct builder *b, const struct port *p)
{
    build_known_int(b, p->numbers.received_bytes);
    build_known_int(b, p->numbers.sent_bytes);
    build_known_int(b, p->numbers.received_packets);
    build_known_int(b, p->numbers.sent_packets);
    build_known_int(b, p->numbers.queue_bytes);
}

static void build_row(struct builder *b, const struct ports_read *r, const struct port *p,
                      const struct stepped_who *who)
{
    const struct slice peer = find_peer(r, p);
    const struct who_entry *owner = find_entry(who, p->has_owner, &p->owner);
    const char *state = ports_state(p);
    build_tuple(b, PORTS_COLUMNS);
    build_id(b, p);
    values_build_words(b, p->is_socket ? "socket" : "port");
    values_build_words(b, peer.len > 0 ? "distribution" : word_of_kind(p));
    build_name(b, p, peer);
    values_build_pid(b, r->node, p->has_owner, &p->owner);
    who_build_shown(b, owner);
    values_build_known(b, owner ? owner->application : (struct slice){0});
    values_build_words(b, p->local);
    values_build_words(b, p->remote);
    build_local_port(b, p);
    build_remote_host(b, p);
    values_build_words(b, state);
    build_int(b, 1);
    build_int(b, is_left(state));
    build_bool(b, p->is_busy);
    build_numbers(b, p);
    build_known_int(b, p->writers);
    values_build_pid(b, r->node, p->has_sender, &p->sender);
    who_build_shown(b, find_entry(who, p->has_sender, &p->sender));
    build_known_int(b, p->idle_ms < 0 ? -1 : p->idle_ms * 1000);
    build_known_int(b, p->os_pid);
}

/* ---- the rest, by owner, kind and state */

#define KINDS_MOST 300 /* of kinds and states, without owners */

static void build_rest_id(struct builder *b, const struct port *of, bool owned, const char *kind)
{
    struct buf text;
    const char *state = ports_state(of);
    buf_init(&text, 0);
    buf_puts(&text, "rest of");
    if (owned) {
        buf_puts(&text, " ");
        print_pid(&text, &of->owner);
    }
    buf_printf(&text, " %s%s%s%s", of->is_socket ? "socket " : "", kind ? kind : "unread",
               state ? " " : "", state ? state : "");
    build_binary(b, text.data, text.len);
    buf_clear(&text);
}

static void build_rest(struct builder *b, const struct ports_read *r, struct port *const *all,
                       size_t n, bool owned, const struct stepped_who *who)
{
    const struct port *of = all[0];
    const char *state = ports_state(of), *kind = of->link > 0 ? "distribution" : word_of_kind(of);
    const bool known = owned && of->has_owner;
    const struct who_entry *owner = find_entry(who, known, &of->owner);
    int64_t queue_bytes = -1;
    for (size_t i = 0; i < n; i++)
        if (all[i]->queue_bytes >= 0)
            queue_bytes = values_add(queue_bytes, all[i]->queue_bytes);
    build_tuple(b, PORTS_COLUMNS);
    build_rest_id(b, of, known, kind);
    values_build_words(b, of->is_socket ? "socket" : "port");
    values_build_words(b, kind);
    build_unknown(b, 1);
    values_build_pid(b, r->node, known, &of->owner);
    who_build_shown(b, owner);
    values_build_known(b, owner ? owner->application : (struct slice){0});
    build_unknown(b, 4);
    values_build_words(b, state);
    build_int(b, (int64_t)n);
    build_int(b, is_left(state) ? (int64_t)n : 0);
    build_bool(b, false);
    build_unknown(b, 4);
    build_known_int(b, queue_bytes);
    build_unknown(b, 5);
}

/* How many of them are the first `most` kin; kin: how many these are. */
static size_t count_kin(struct port *const *all, size_t n, size_t most,
                        int (*compare)(const void *, const void *), size_t *kin)
{
    size_t i = 0;
    for (*kin = 0; i < n; i++)
        if (i == 0 || compare(&all[i - 1], &all[i]) != 0) {
            if (*kin == most)
                break;
            ++*kin;
        }
    return i;
}

static void build_kin(struct builder *b, const struct ports_read *r, struct port *const *all,
                      size_t n, bool owned, const struct stepped_who *who)
{
    size_t kin;
    for (size_t at = 0, same; at < n; at += same) {
        same =
            count_kin(all + at, n - at, 1, owned ? ports_compare_kin : ports_compare_kinds, &kin);
        build_rest(b, r, all + at, same, owned, who);
    }
}

static size_t count_shown(const struct ports_read *r)
{
    size_t shown = 0;
    for (size_t i = 0; i < r->n_rows; i++)
        shown += !r->rows[i]->is_gone;
    return shown;
}

static bool is_unread(struct port *const *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (all[i]->look == 0)
            return true;
    return false;
}

void ports_build(struct builder *b, void *read, int64_t mono_ns, const struct stepped_who *who)
{
    struct ports_read *r = read;
    const size_t shown = count_shown(r), most = LIMIT_TABLE_ROWS - shown;
    size_t n, kin, kinds;
    struct port **rest = ports_list_rest(r, &n);
    const size_t own = count_kin(rest, n, most - KINDS_MOST, ports_compare_kin, &kin);
    qsort(rest + own, n - own, sizeof(struct port *), ports_compare_kinds);
    const size_t others = count_kin(rest + own, n - own, KINDS_MOST, ports_compare_kinds, &kinds);
    build_tuple(b, 4);
    build_atom(b, "ports");
    build_int(b, mono_ns);
    build_list(b, shown + kin + kinds);
    for (size_t i = 0; i < r->n_rows; i++)
        if (!r->rows[i]->is_gone)
            build_row(b, r, r->rows[i], who);
    build_kin(b, r, rest, own, true, who);
    build_kin(b, r, rest + own, others, false, who);
    build_nil(b);
    build_bool(b, r->is_cut || !r->has_round || is_unread(rest, n));
    free(rest);
}

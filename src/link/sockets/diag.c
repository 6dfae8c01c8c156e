/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"

#define DATAGRAM_BYTES 32768u /* what the kernel fills at most of a buffer of this size */
#define ANY_STATE 0xfffu
#define LISTENING (1u << SOCKET_LISTENS)

struct asker {
    int fd;
    uint32_t number; /* of the last question */
    uint64_t end_ns;
    size_t rows;
    socket_row_fn *take;
    void *arg;
};

struct request {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

/* ---- answers */

static void take_end(struct socket_end *out, bool six, const void *address, uint16_t port)
{
    *out = (struct socket_end){.port = ntohs(port)};
    if (six)
        memcpy(&out->address, address, sizeof out->address);
    else
        socket_map_four(&out->address, address);
}

static bool take_message(const char *body, size_t len, socket_row_fn *take, void *arg)
{
    struct inet_diag_msg m;
    struct socket_row row = {0};
    if (len < sizeof m)
        return false;
    memcpy(&m, body, sizeof m);
    if (m.idiag_family != AF_INET && m.idiag_family != AF_INET6)
        return false;
    row.six = m.idiag_family == AF_INET6;
    row.state = m.idiag_state;
    row.uid = m.idiag_uid;
    row.inode = m.idiag_inode;
    take_end(&row.own, row.six, m.id.idiag_src, m.id.idiag_sport);
    take_end(&row.far, row.six, m.id.idiag_dst, m.id.idiag_dport);
    socket_set_any(&row);
    take(arg, &row);
    return true;
}

static enum diag_said read_end(const struct nlmsghdr *head, const char *body, size_t len)
{
    int code = 0;
    if (len >= sizeof code)
        memcpy(&code, body, sizeof code);
    else if (head->nlmsg_type == NLMSG_ERROR)
        return DIAG_REFUSED;
    return code == -ENOENT                         ? DIAG_NONE
           : code != 0                             ? DIAG_REFUSED
           : (head->nlmsg_flags & NLM_F_DUMP_INTR) ? DIAG_REFUSED
           : head->nlmsg_type == NLMSG_DONE        ? DIAG_DONE
                                                   : DIAG_MORE;
}

enum diag_said diag_read(const void *bytes, size_t len, uint32_t number, socket_row_fn *take,
                         void *arg)
{
    const char *at = bytes;
    struct nlmsghdr head;
    for (size_t step; len >= sizeof head; at += step, len -= step) {
        memcpy(&head, at, sizeof head);
        if (head.nlmsg_len < sizeof head || head.nlmsg_len > len)
            return DIAG_REFUSED;
        const size_t padded = ((size_t)head.nlmsg_len + 3) & ~(size_t)3;
        step = padded < len ? padded : len;
        const char *body = at + sizeof head;
        const size_t n = head.nlmsg_len - sizeof head;
        if (head.nlmsg_seq != number)
            continue; /* of an earlier question */
        if (head.nlmsg_type == NLMSG_DONE || head.nlmsg_type == NLMSG_ERROR) {
            const enum diag_said said = read_end(&head, body, n);
            if (said != DIAG_MORE)
                return said;
        } else if (head.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
                   ((head.nlmsg_flags & NLM_F_DUMP_INTR) || !take_message(body, n, take, arg))) {
            return DIAG_REFUSED;
        }
    }
    return len == 0 ? DIAG_MORE : DIAG_REFUSED;
}

/* ---- questions */

static bool asker_open(struct asker *a, socket_row_fn *take, void *arg)
{
    *a = (struct asker){
        .take = take, .arg = arg, .end_ns = clock_mono_ns() + LIMIT_DIAG_MS * UINT64_C(1000000)};
    a->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    return a->fd >= 0;
}

static bool asker_send(struct asker *a, struct request *r)
{
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    r->head.nlmsg_len = sizeof *r;
    r->head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    r->head.nlmsg_seq = ++a->number;
    r->body.sdiag_protocol = IPPROTO_TCP;
    r->body.id.idiag_cookie[0] = r->body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    return sendto(a->fd, r, sizeof *r, 0, (const struct sockaddr *)&kernel, sizeof kernel) ==
           (ssize_t)sizeof *r;
}

static void count_row(void *arg, const struct socket_row *row)
{
    struct asker *a = arg;
    if (++a->rows <= LIMIT_DIAG_ROWS)
        a->take(a->arg, row);
}

/* One datagram of the kernel: its bytes, 0 of another sender, -1 if there is none in time. */
static ssize_t asker_receive(struct asker *a, char *bytes, size_t size)
{
    const uint64_t now = clock_mono_ns();
    if (now >= a->end_ns)
        return -1;
    const uint64_t left_us = (a->end_ns - now) / 1000 + 1;
    const struct timeval wait = {.tv_sec = (time_t)(left_us / 1000000),
                                 .tv_usec = (suseconds_t)(left_us % 1000000)};
    struct sockaddr_nl from = {0};
    socklen_t from_len = sizeof from;
    if (setsockopt(a->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0)
        return -1;
    const ssize_t n = recvfrom(a->fd, bytes, size, MSG_TRUNC, (struct sockaddr *)&from, &from_len);
    if (n < 0)
        return errno == EINTR ? 0 : -1;
    if (from_len != sizeof from || from.nl_pid != 0)
        return 0;
    return (size_t)n <= size ? n : -1;
}

/* Of a question for one socket (no dump), the answer is its row. */
static enum diag_said ask(struct asker *a, struct request *r)
{
    char bytes[DATAGRAM_BYTES];
    enum diag_said said = DIAG_MORE;
    a->rows = 0;
    if (!asker_send(a, r))
        return DIAG_REFUSED;
    while (said == DIAG_MORE) {
        const ssize_t n = asker_receive(a, bytes, sizeof bytes);
        if (n < 0)
            return DIAG_REFUSED;
        said = diag_read(bytes, (size_t)n, a->number, count_row, a);
        if (said == DIAG_MORE && a->rows > 0 && !(r->head.nlmsg_flags & NLM_F_DUMP))
            said = DIAG_DONE;
    }
    return a->rows > LIMIT_DIAG_ROWS ? DIAG_REFUSED : said;
}

/* Both families: a socket of IPv6 may take IPv4. A kernel without IPv6 says that there are none. */
static bool dump(struct asker *a, uint32_t states, unsigned own_port, unsigned far_port)
{
    static const uint8_t families[] = {AF_INET, AF_INET6};
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        struct request r = {.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                            .body = {.sdiag_family = families[i],
                                     .idiag_states = states,
                                     .id = {.idiag_sport = htons((uint16_t)own_port),
                                            .idiag_dport = htons((uint16_t)far_port)}}};
        if (ask(a, &r) != DIAG_DONE)
            return false;
    }
    return true;
}

bool diag_listening(unsigned port, socket_row_fn *take, void *arg)
{
    struct asker a;
    if (!asker_open(&a, take, arg))
        return false;
    const bool said = dump(&a, LISTENING, port, 0);
    close(a.fd);
    return said;
}

/* ---- one connection */

struct pair {
    const struct socket_end *own, *far;
    bool found;
};

static void take_pair(void *arg, const struct socket_row *r)
{
    struct pair *p = arg;
    if (r->state != SOCKET_LISTENS && socket_same_end(&r->own, p->own) &&
        socket_same_end(&r->far, p->far))
        p->found = true;
}

static void put_address(__be32 out[4], bool six, const struct in6_addr *address)
{
    memcpy(out, six ? address->s6_addr : address->s6_addr + 12, six ? 16 : 4);
}

/* The kernel looks it up by both ends; where it has none, it answers with one that listens. */
static void ask_pair(struct asker *a, const struct pair *p)
{
    const bool six = !IN6_IS_ADDR_V4MAPPED(&p->own->address);
    struct request r = {.head.nlmsg_flags = NLM_F_REQUEST,
                        .body = {.sdiag_family = six ? AF_INET6 : AF_INET,
                                 .idiag_states = ANY_STATE,
                                 .id = {.idiag_sport = htons((uint16_t)p->own->port),
                                        .idiag_dport = htons((uint16_t)p->far->port),
                                        .idiag_if = p->own->scope}}};
    put_address(r.body.id.idiag_src, six, &p->own->address);
    put_address(r.body.id.idiag_dst, six, &p->far->address);
    (void)ask(a, &r);
}

/* The dump looks at all connections, within the kernel: it finds also one that is bound to an
 * interface. */
bool diag_is_connected(bool *out, const struct socket_end *own, const struct socket_end *far)
{
    struct pair p = {.own = own, .far = far};
    struct asker a;
    if (!asker_open(&a, take_pair, &p))
        return false;
    ask_pair(&a, &p);
    const bool said = p.found || dump(&a, ANY_STATE & ~LISTENING, own->port, far->port);
    close(a.fd);
    *out = p.found;
    return said || p.found;
}

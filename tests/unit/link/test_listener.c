/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose socket is at an address: of real sockets the kernel's answer and its tables say the same,
 * and of bytes that are no answer nothing is taken. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../test.h"
#include "link/sockets/diag.h"
#include "link/sockets/listener.h"

/* "/proc/self" has tables, and is not the tree of which the kernel is asked. */
static const char *const trees[] = {"/proc", "/proc/self"};

struct way {
    const char *name, *listens, *reached;
    bool six_only;
};

struct sockets {
    int listens, client;
    struct sockaddr_storage to, from;
};

static bool make_address(struct sockaddr_storage *out, const char *text, uint16_t port)
{
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
    *out = (struct sockaddr_storage){0};
    if (strchr(text, ':')) {
        *six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
        return inet_pton(AF_INET6, text, &six->sin6_addr) == 1;
    }
    *four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    return inet_pton(AF_INET, text, &four->sin_addr) == 1;
}

static socklen_t length_of(const struct sockaddr_storage *sa)
{
    return sa->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static uint16_t port_of(const struct sockaddr_storage *sa)
{
    return ntohs(sa->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)sa)->sin6_port
                                           : ((const struct sockaddr_in *)sa)->sin_port);
}

static uint64_t inode_of(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return st.st_ino;
}

static void name_of(int fd, struct sockaddr_storage *out)
{
    socklen_t len = sizeof *out;
    *out = (struct sockaddr_storage){0};
    assert_int_equal(getsockname(fd, (struct sockaddr *)out, &len), 0);
}

/* False: this host has no such address. */
static bool open_listener(const struct way *w, int *fd, struct sockaddr_storage *at)
{
    const int only = w->six_only;
    assert_true(make_address(at, w->listens, 0));
    *fd = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return false;
    if (at->ss_family == AF_INET6)
        assert_int_equal(setsockopt(*fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only), 0);
    if (bind(*fd, (struct sockaddr *)at, length_of(at)) != 0 || listen(*fd, 5) != 0) {
        close(*fd);
        return false;
    }
    name_of(*fd, at);
    return true;
}

static bool open_sockets(struct sockets *s, const struct way *w)
{
    struct sockaddr_storage at;
    if (!open_listener(w, &s->listens, &at))
        return false;
    assert_true(make_address(&s->to, w->reached, port_of(&at)));
    s->client = socket(s->to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(s->client, (struct sockaddr *)&s->to, length_of(&s->to)), 0);
    name_of(s->client, &s->from);
    return true;
}

static void close_sockets(struct sockets *s)
{
    close(s->client);
    close(s->listens);
}

static const struct way ways[] = {
    {"one of IPv4", "127.0.0.1", "127.0.0.1", false},
    {"another of the loopback", "127.0.0.2", "127.0.0.2", false},
    {"all of IPv4", "0.0.0.0", "127.0.0.1", false},
    {"one of IPv6", "::1", "::1", true},
    {"all of IPv6", "::", "::1", true},
    {"all of both, by IPv4", "::", "127.0.0.1", false},
    {"all of both, by IPv6", "::", "::1", false},
};

TEST(a_connection_within_this_host)
{
    size_t shown = 0;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct sockets s;
        if (!open_sockets(&s, &ways[i])) {
            print_message("%s: not on this host\n", ways[i].name);
            continue;
        }
        for (size_t t = 0; t < ARRAY_LEN(trees); t++) {
            struct listener l;
            print_message("%s, %s\n", ways[i].name, trees[t]);
            assert_true(listener_look(&l, trees[t], &s.to, &s.from));
            assert_true(l.here && l.found);
            assert_int_equal(l.uid, geteuid());
            assert_int_equal(l.inode, inode_of(s.listens));
            assert_true(listener_look(&l, trees[t], &s.to, NULL));
            assert_true(l.found && !l.here);
            /* The ends in the other order are those of the client. */
            assert_true(listener_look(&l, trees[t], &s.from, &s.to));
            assert_true(l.here && !l.found);
        }
        shown++;
        close_sockets(&s);
    }
    assert_true(shown >= 3);
}

TEST(what_is_not_there_is_not_found)
{
    struct sockets s;
    struct sockaddr_storage other;
    assert_true(open_sockets(&s, &ways[0]));
    for (size_t t = 0; t < ARRAY_LEN(trees); t++) {
        struct listener l;
        /* It listens there, and that connection is none of this host. */
        assert_true(make_address(&other, "192.0.2.1", 4369));
        assert_true(listener_look(&l, trees[t], &s.to, &other));
        assert_true(l.found && !l.here);
        /* The port at another address. */
        assert_true(make_address(&other, "127.0.0.9", port_of(&s.to)));
        assert_true(listener_look(&l, trees[t], &other, &s.from));
        assert_true(!l.found && !l.here);
    }
    close_sockets(&s);
}

TEST(the_closest_of_those_that_listen)
{
    static const struct way all = {"", "0.0.0.0", "127.0.0.1", false};
    struct sockaddr_storage at, one;
    int any = -1, fd;
    const int yes = 1;
    assert_true(open_listener(&all, &any, &at));
    assert_true(make_address(&one, "127.0.0.1", port_of(&at)));
    close(any);
    for (size_t i = 0; i < 2; i++) {
        const struct sockaddr_storage *to = i == 0 ? &one : &at;
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes), 0);
        assert_int_equal(bind(fd, (const struct sockaddr *)to, length_of(to)), 0);
        assert_int_equal(listen(fd, 5), 0);
        if (i == 0)
            any = fd;
    }
    for (size_t t = 0; t < ARRAY_LEN(trees); t++) {
        struct listener l;
        assert_true(listener_look(&l, trees[t], &one, NULL));
        assert_int_equal(l.inode, inode_of(any));
    }
    close(any);
    close(fd);
}

TEST(all_of_a_user)
{
    struct sockets s;
    assert_true(open_sockets(&s, &ways[0]));
    for (size_t t = 0; t < ARRAY_LEN(trees); t++) {
        static struct listening all[1024];
        const size_t n = listener_list(all, ARRAY_LEN(all), trees[t], geteuid());
        size_t found = 0;
        for (size_t i = 0; i < n; i++)
            found += all[i].inode == inode_of(s.listens) && all[i].port == port_of(&s.to) &&
                     strcmp(all[i].address, "127.0.0.1") == 0;
        assert_int_equal(found, 1);
        assert_int_equal(listener_list(all, 0, trees[t], geteuid()), 0);
        assert_int_equal(listener_list(all, ARRAY_LEN(all), trees[t], (uid_t)54321), 0);
    }
    close_sockets(&s);
}

static void count_row(void *arg, const struct socket_row *r)
{
    size_t *n = arg;
    (void)r;
    ++*n;
}

static struct socket_end end_of(const struct sockaddr_storage *sa)
{
    struct socket_end end = {.port = port_of(sa)};
    socket_map_four(&end.address, &((const struct sockaddr_in *)sa)->sin_addr);
    return end;
}

/* Else the other tests compare the tables with themselves. */
TEST(the_kernel_is_asked)
{
    struct sockets s;
    size_t n = 0, all = 0;
    bool connected = false;
    assert_true(open_sockets(&s, &ways[0]));
    if (!diag_listening(port_of(&s.to), count_row, &n)) {
        close_sockets(&s);
        print_message("this kernel says nothing about sockets\n");
        skip();
    }
    assert_int_equal(n, 1);
    assert_true(diag_listening(0, count_row, &all));
    assert_true(all >= n);
    const struct socket_end to = end_of(&s.to), from = end_of(&s.from);
    assert_true(diag_is_connected(&connected, &to, &from));
    assert_true(connected);
    assert_true(diag_is_connected(&connected, &to, &to));
    assert_false(connected);
    close_sockets(&s);
}

/* ---- bytes */

struct message {
    struct nlmsghdr head;
    union {
        struct inet_diag_msg row;
        int code;
    } body;
};

static struct message row_message(void)
{
    struct message m = {.head = {.nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_seq = 7}};
    m.head.nlmsg_len = sizeof m.head + sizeof m.body.row;
    m.body.row.idiag_family = AF_INET;
    m.body.row.idiag_state = SOCKET_LISTENS;
    return m;
}

static struct message end_message(uint16_t type, int code)
{
    struct message m = {.head = {.nlmsg_type = type, .nlmsg_seq = 7}, .body.code = code};
    m.head.nlmsg_len = sizeof m.head + sizeof code;
    return m;
}

static enum diag_said read_one(const struct message *m, size_t len, size_t *rows)
{
    *rows = 0;
    return diag_read(m, len, 7, count_row, rows);
}

TEST(answers_that_end)
{
    static const struct {
        uint16_t type;
        int code;
        enum diag_said said;
    } ends[] = {
        {NLMSG_DONE, 0, DIAG_DONE},          {NLMSG_ERROR, 0, DIAG_MORE},
        {NLMSG_ERROR, -ENOENT, DIAG_NONE},   {NLMSG_DONE, -ENOENT, DIAG_NONE},
        {NLMSG_ERROR, -EPERM, DIAG_REFUSED}, {NLMSG_DONE, -EINTR, DIAG_REFUSED},
        {NLMSG_ERROR, 5, DIAG_REFUSED},
    };
    size_t rows;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const struct message m = end_message(ends[i].type, ends[i].code);
        print_message("%u, %d\n", ends[i].type, ends[i].code);
        assert_int_equal(read_one(&m, m.head.nlmsg_len, &rows), ends[i].said);
    }
    struct message short_error = end_message(NLMSG_ERROR, 0);
    short_error.head.nlmsg_len = sizeof short_error.head;
    assert_int_equal(read_one(&short_error, short_error.head.nlmsg_len, &rows), DIAG_REFUSED);
    struct message torn = end_message(NLMSG_DONE, 0);
    torn.head.nlmsg_flags = NLM_F_DUMP_INTR;
    assert_int_equal(read_one(&torn, torn.head.nlmsg_len, &rows), DIAG_REFUSED);
}

TEST(rows_that_are_none)
{
    size_t rows;
    struct message m = row_message();
    assert_int_equal(read_one(&m, m.head.nlmsg_len, &rows), DIAG_MORE);
    assert_int_equal(rows, 1);
    m.head.nlmsg_seq = 6; /* of another question */
    assert_int_equal(read_one(&m, m.head.nlmsg_len, &rows), DIAG_MORE);
    assert_int_equal(rows, 0);
    m = row_message();
    for (size_t len = 1; len < m.head.nlmsg_len; len++)
        assert_int_equal(read_one(&m, len, &rows), DIAG_REFUSED);
    static const uint32_t lengths[] = {0, 15, 16, 20, 87, sizeof m + 1, UINT32_MAX};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        m.head.nlmsg_len = lengths[i];
        assert_int_equal(read_one(&m, sizeof m, &rows), DIAG_REFUSED);
        assert_int_equal(rows, 0);
    }
    m = row_message();
    m.body.row.idiag_family = AF_UNIX;
    assert_int_equal(read_one(&m, m.head.nlmsg_len, &rows), DIAG_REFUSED);
}

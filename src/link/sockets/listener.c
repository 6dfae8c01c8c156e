/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listener.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "diag.h"

struct look {
    struct listener *out;
    struct socket_end to, from;
    bool has_from;
    int best; /* how closely `out` listens there: 0 nothing yet */
};

void socket_map_four(struct in6_addr *out, const void *four)
{
    *out = (struct in6_addr){0};
    out->s6_addr[10] = out->s6_addr[11] = 0xff;
    memcpy(out->s6_addr + 12, four, 4);
}

void socket_set_any(struct socket_row *r)
{
    struct in6_addr none = {0};
    if (!r->six)
        socket_map_four(&none, &(struct in_addr){0});
    r->any = IN6_ARE_ADDR_EQUAL(&r->own.address, &none);
}

static struct socket_end end_of_socket(const struct sockaddr_storage *sa)
{
    struct socket_end end = {0};
    if (sa->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)sa;
        end.address = six->sin6_addr;
        end.port = ntohs(six->sin6_port);
        end.scope = six->sin6_scope_id;
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)sa;
        socket_map_four(&end.address, &four->sin_addr);
        end.port = ntohs(four->sin_port);
    }
    return end;
}

/* "0100007F:1113", or four such words: each is bytes of the address as this machine's integer. */
static bool parse_end(const char *text, bool six, struct socket_end *out)
{
    uint32_t words[4] = {0};
    if (six) {
        if (sscanf(text, "%8" SCNx32 "%8" SCNx32 "%8" SCNx32 "%8" SCNx32 ":%4x", &words[0],
                   &words[1], &words[2], &words[3], &out->port) != 5)
            return false;
        memcpy(&out->address, words, sizeof out->address);
        return true;
    }
    if (sscanf(text, "%8" SCNx32 ":%4x", &words[0], &out->port) != 2)
        return false;
    socket_map_four(&out->address, words);
    return true;
}

static bool parse_row(const char *line, bool six, struct socket_row *out)
{
    char own[64], far[64];
    unsigned long uid = 0;
    *out = (struct socket_row){0};
    if (sscanf(line, " %*u: %63s %63s %2x %*s %*s %*s %lu %*s %" SCNu64, own, far, &out->state,
               &uid, &out->inode) != 5 ||
        !parse_end(own, six, &out->own) || !parse_end(far, six, &out->far))
        return false;
    out->six = six;
    socket_set_any(out);
    out->uid = (uid_t)uid;
    return true;
}

/* As the kernel chooses: the very address, then any of the same family, then any of both. */
static int row_closeness(const struct look *l, const struct socket_row *r)
{
    bool to_six = !IN6_IS_ADDR_V4MAPPED(&l->to.address);
    if (r->state != SOCKET_LISTENS || r->own.port != l->to.port)
        return 0;
    if (socket_same_end(&r->own, &l->to))
        return 3;
    if (!r->any || (to_six && !r->six))
        return 0;
    return r->six == to_six ? 2 : 1;
}

static void take_row(void *arg, const struct socket_row *r)
{
    struct look *l = arg;
    int close = row_closeness(l, r);
    if (close > l->best) {
        l->best = close;
        l->out->found = true;
        l->out->uid = r->uid;
        l->out->inode = r->inode;
    }
    if (l->has_from && r->state != SOCKET_LISTENS && socket_same_end(&r->own, &l->to) &&
        socket_same_end(&r->far, &l->from))
        l->out->here = true;
}

static bool read_table(const char *tree, const char *name, bool six, socket_row_fn *take, void *arg)
{
    char path[4200], line[512];
    struct socket_row row;
    snprintf(path, sizeof path, "%.4096s/net/%s", tree, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    while (fgets(line, sizeof line, f))
        if (parse_row(line, six, &row))
            take(arg, &row);
    fclose(f);
    return true;
}

/* That of its network namespace is the one that the kernel is asked about. */
static bool is_this_host(const char *tree)
{
    return strcmp(tree, "/proc") == 0;
}

static bool look_by_diag(struct look *l)
{
    return diag_listening(l->to.port, take_row, l) &&
           (!l->has_from || diag_is_connected(&l->out->here, &l->to, &l->from));
}

static bool look_by_tables(struct look *l, const char *tree)
{
    bool four = read_table(tree, "tcp", false, take_row, l);
    return read_table(tree, "tcp6", true, take_row, l) || four;
}

bool listener_look(struct listener *out, const char *tree, const struct sockaddr_storage *to,
                   const struct sockaddr_storage *from)
{
    struct look l = {.out = out, .to = end_of_socket(to), .has_from = from != NULL};
    *out = (struct listener){0};
    if (from)
        l.from = end_of_socket(from);
    if (is_this_host(tree) && look_by_diag(&l))
        return true;
    *out = (struct listener){0};
    l.best = 0;
    return look_by_tables(&l, tree);
}

/* ---- all of one user */

struct listing {
    struct listening *out;
    size_t count, max;
    uid_t uid;
};

/* Where to connect to reach it: one that listens at any address is reached by the loopback. */
static void connect_text(const struct socket_row *r, char *out, socklen_t size)
{
    if (r->any)
        snprintf(out, size, "%s", r->six ? "::1" : "127.0.0.1");
    else if (r->six)
        inet_ntop(AF_INET6, &r->own.address, out, size);
    else
        inet_ntop(AF_INET, r->own.address.s6_addr + 12, out, size);
}

static void take_listening(void *arg, const struct socket_row *r)
{
    struct listing *l = arg;
    if (r->state != SOCKET_LISTENS || r->uid != l->uid || l->count == l->max)
        return;
    struct listening *to = &l->out[l->count++];
    *to = (struct listening){.inode = r->inode, .port = (uint16_t)r->own.port, .any = r->any};
    connect_text(r, to->address, sizeof to->address);
}

size_t listener_list(struct listening *out, size_t max, const char *tree, uid_t uid)
{
    struct listing l = {.out = out, .max = max, .uid = uid};
    if (is_this_host(tree) && diag_listening(0, take_listening, &l))
        return l.count;
    l.count = 0;
    (void)read_table(tree, "tcp", false, take_listening, &l);
    (void)read_table(tree, "tcp6", true, take_listening, &l);
    return l.count;
}

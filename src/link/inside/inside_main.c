/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The helper: one thread, one connection, then it ends. Its standard input is the socket to the
 * program that started it; when that one closes it, it ends at once. */
#include "beamtop/link/inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/nsfs.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "beamtop/link/discover.h"
#include "inside_reply.h"

enum { WORDS = 7 }; /* the program, INSIDE_WORD, PID, STARTED, ADDRESS, PORT, HOST */

/* ---- the namespaces */

/* The user namespace that the network namespace belongs to; -1 with errno. */
static int open_owner(int process, int network)
{
    const int owner = ioctl(network, NS_GET_USERNS);
    return owner >= 0 ? owner : openat(process, "ns/user", O_RDONLY | O_CLOEXEC);
}

/* That of this process: nothing is to be entered, nor allowed. */
static bool is_here(int network)
{
    struct stat there, here;
    return fstat(network, &there) == 0 && stat("/proc/self/ns/net", &here) == 0 &&
           there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

/* Who may not enter it as it is may be the one that has made its user namespace. 0 or errno. */
static int enter(int process, int network)
{
    if (is_here(network) || setns(network, CLONE_NEWNET) == 0)
        return 0;
    const int why = errno;
    const int owner = why == EPERM ? open_owner(process, network) : -1;
    if (owner < 0 || setns(owner, CLONE_NEWUSER) != 0)
        return why;
    return setns(network, CLONE_NEWNET) == 0 ? 0 : errno;
}

/* The stage that failed, or INSIDE_ENTERED. */
static struct inside_reply enter_process(pid_t pid, uint64_t started)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    const int process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process < 0 || !discover_is_vm(pid, started))
        return (struct inside_reply){.stage = INSIDE_NO_PROCESS};
    const int network = openat(process, "ns/net", O_RDONLY | O_CLOEXEC);
    if (network < 0)
        return (struct inside_reply){.stage = INSIDE_NOT_OPENED, .error = errno};
    const int rc = enter(process, network);
    return (struct inside_reply){.stage = rc == 0 ? INSIDE_ENTERED : INSIDE_NOT_ENTERED,
                                 .error = rc};
}

/* ---- the connection */

static int wait_connected(int fd)
{
    struct pollfd fds[] = {{.fd = fd, .events = POLLOUT}, {.fd = STDIN_FILENO, .events = POLLIN}};
    int error = 0;
    socklen_t size = sizeof error;
    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR)
            return errno;
    if (fds[1].revents != 0)
        _exit(0); /* nobody waits for it any more */
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/* 0 and *out, or an errno value. */
static int connect_to(const struct sockaddr *sa, socklen_t len, int *out)
{
    const int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int rc = connect(fd, sa, len) == 0 ? 0 : errno;
    if (rc == EINPROGRESS)
        rc = wait_connected(fd);
    if (rc == 0)
        *out = fd;
    else
        close(fd);
    return rc;
}

static int connect_text(const char *address, uint16_t port, int *out)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET6, address, &six.sin6_addr) == 1)
        return connect_to((const struct sockaddr *)&six, sizeof six, out);
    if (inet_pton(AF_INET, address, &four.sin_addr) == 1)
        return connect_to((const struct sockaddr *)&four, sizeof four, out);
    return EADDRNOTAVAIL;
}

static int connect_there(const char *address, uint16_t port, int *out)
{
    if (strcmp(address, INSIDE_NONE) != 0)
        return connect_text(address, port, out);
    const int rc = connect_text("127.0.0.1", port, out);
    return rc == ECONNREFUSED && connect_text("::1", port, out) == 0 ? 0 : rc;
}

/* By HOST where the namespace may not be entered. */
static void connect_to_node(struct inside_reply *reply, const char *address, const char *host,
                            uint16_t port, int *out)
{
    const bool refused = reply->error == EACCES || reply->error == EPERM;
    if (reply->stage == INSIDE_ENTERED)
        reply->error = connect_there(address, port, out);
    else if (refused && strcmp(host, INSIDE_NONE) != 0)
        reply->error = connect_text(host, port, out);
    else
        return;
    reply->stage = reply->error == 0 ? INSIDE_CONNECTED : INSIDE_NOT_CONNECTED;
}

/* ---- its life */

static bool read_helper_word(const char *word, long most, long *out)
{
    char *end = NULL;
    *out = strtol(word, &end, 10);
    return end != word && *end == '\0' && *out >= 0 && *out <= most;
}

bool inside_is_meant(int argc, char *const *argv)
{
    return argc == WORDS && strcmp(argv[1], INSIDE_WORD) == 0;
}

int inside_main(int argc, char *const *argv)
{
    long pid = 0, started = 0, port = 0;
    int fd = -1;
    if (!inside_is_meant(argc, argv) || !read_helper_word(argv[2], INT_MAX, &pid) || pid == 0 ||
        !read_helper_word(argv[3], LONG_MAX, &started) ||
        !read_helper_word(argv[5], UINT16_MAX, &port))
        return 2;
    /* What is in that namespace has rights over it: nobody there reads this process. */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)syscall(SYS_close_range, 3U, ~0U, 0U);
    struct inside_reply reply = enter_process((pid_t)pid, (uint64_t)started);
    if (port != 0)
        connect_to_node(&reply, argv[4], argv[6], (uint16_t)port, &fd);
    _exit(inside_reply_send(STDIN_FILENO, &reply, fd) == 0 ? 0 : 1);
}

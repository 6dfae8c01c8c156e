/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fake_peer.h"

#include <arpa/inet.h>
#include <ei.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int listen_any(uint16_t *port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    socklen_t len = sizeof sa;
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bind(fd, (struct sockaddr *)&sa, sizeof sa);
    listen(fd, 16);
    getsockname(fd, (struct sockaddr *)&sa, &len);
    *port = ntohs(sa.sin_port);
    return fd;
}

pid_t fake_tcp_start(uint16_t *port, void (*serve)(int fd))
{
    int listener = listen_any(port);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGPIPE, SIG_IGN);
        for (;;) {
            int fd = accept(listener, NULL, NULL);
            if (fd >= 0) {
                serve(fd);
                close(fd);
            }
        }
    }
    close(listener);
    return pid;
}

pid_t fake_node_start(uint16_t *port, void (*serve)(int fd))
{
    return fake_named_start(port, "fake@127.0.0.1", serve);
}

pid_t fake_named_start(uint16_t *port, const char *full, void (*serve)(int fd))
{
    int listener = listen_any(port);
    pid_t pid = fork();
    if (pid == 0) {
        ei_cnode ec;
        struct in_addr here = {.s_addr = htonl(INADDR_LOOPBACK)};
        char host[] = "127.0.0.1";
        char alive[] = "fake";
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGPIPE, SIG_IGN);
        ei_connect_xinit(&ec, host, alive, (char *)(uintptr_t)full, &here, "secret", 1);
        for (;;) {
            ErlConnect peer;
            int fd = ei_accept(&ec, listener, &peer);
            if (fd >= 0) {
                serve(fd);
                ei_close_connection(fd);
            }
        }
    }
    close(listener);
    return pid;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hidden command of an image in a pod (way_methods.h), where there is no shell:
 *   relay               is there for those that follow, and ends when none has come for a while
 *   relay PORT ADDRESS  a stream between standard input and output and that port
 *   relay cookie NODE   prints the cookie of a node whose processes are visible */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <dirent.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/tell.h"
#include "app/way/way_methods.h"
#include "beamtop/link/discover.h"
#include "pod_cookie.h"

#define PIECE_BYTES 65536

/* ---- a stream */

static int dial(const char *port, const char *address)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    int fd = -1;
    if (getaddrinfo(address, port, &hints, &all) != 0)
        return -1;
    for (const struct addrinfo *a = all; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd < 0 || connect(fd, a->ai_addr, a->ai_addrlen) == 0)
            continue;
        const int why = errno;
        close(fd);
        errno = why;
        fd = -1;
    }
    freeaddrinfo(all);
    return fd;
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        const ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno != EINTR)
            return false;
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

/* False: one of the two has ended. */
static bool carry(int from, int to)
{
    static char bytes[PIECE_BYTES];
    const ssize_t n = read(from, bytes, sizeof bytes);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    return write_all(to, bytes, (size_t)n);
}

static int relay(const char *port, const char *address)
{
    const int fd = dial(port, address);
    if (fd < 0) {
        tell_line("port %s of %s: %s", port, address, strerror(errno));
        return EXIT_CONNECT;
    }
    fputs(WAY_OPEN_LINE "\n", stderr);
    struct pollfd ends[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    for (;;) {
        if (poll(ends, 2, -1) < 0 && errno != EINTR)
            break;
        if (ends[0].revents != 0 && !carry(STDIN_FILENO, fd))
            break;
        if (ends[1].revents != 0 && !carry(fd, STDOUT_FILENO))
            break;
    }
    close(fd);
    return EXIT_DONE;
}

/* ---- waiting for streams */

static bool has_file(const char *name, const struct stat *file)
{
    char path[300];
    struct stat of;
    snprintf(path, sizeof path, "/proc/%.255s/exe", name);
    return stat(path, &of) == 0 && of.st_dev == file->st_dev && of.st_ino == file->st_ino;
}

/* Another process runs this program. */
static bool is_used(const struct stat *file)
{
    DIR *all = opendir("/proc");
    bool found = false;
    for (const struct dirent *e; all && !found && (e = readdir(all));)
        found = e->d_name[0] >= '1' && e->d_name[0] <= '9' && atol(e->d_name) != getpid() &&
                has_file(e->d_name, file);
    if (all)
        closedir(all);
    return found;
}

static int wait_for_streams(void)
{
    struct stat file;
    signal(SIGTERM, SIG_DFL);
    if (stat("/proc/self/exe", &file) != 0)
        return EXIT_FAILED;
    for (unsigned idle_s = 0; idle_s < WAY_DEBUG_IDLE_S; idle_s += WAY_DEBUG_LOOK_S) {
        sleep(WAY_DEBUG_LOOK_S);
        if (is_used(&file))
            idle_s = 0;
    }
    return EXIT_DONE;
}

/* ---- the cookie */

static int print_cookie(const char *node)
{
    struct discover_options options = {0};
    struct discover_list list = {0};
    struct error err = {0};
    int code = EXIT_FAILED;
    if (discover_scan(&list, &options, &err) != 0)
        return tell_error(&err);
    for (size_t i = 0; code != EXIT_DONE && i < list.count; i++) {
        const struct discover_vm *vm = &list.vms[i];
        if (vm->cookie_from == DISCOVER_COOKIE_NONE || !discover_is_called(vm, node))
            continue;
        printf(POD_COOKIE_LINE "%s\n", vm->cookie.text);
        code = EXIT_DONE;
    }
    discover_clear(&list);
    return code;
}

int command_relay(const struct cli_options *o, const struct app_env *env)
{
    (void)env;
    if (!o->target)
        return wait_for_streams();
    if (!o->second)
        return EXIT_USAGE;
    return strcmp(o->target, "cookie") == 0 ? print_cookie(o->second) : relay(o->target, o->second);
}
